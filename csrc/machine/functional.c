/* functional.c: launches without time: what the cores access is read and written in memory at once, past all caches.
 *
 * Such a launch begins with memory as the host would read it and with empty caches, and leaves them empty. The cores
 * run as they do with time, with the least latencies, and no part of the protocol takes part: orders of accesses wait
 * for the warp's own ones alone. Observers do not see the launch, and its cycles, events and instructions are not
 * counted; first touches of pages are. */
#include <stdlib.h>
#include <string.h>

#include "cache/rmw.h"
#include "machine/parts.h"

/* The hook `offer` of the cores: the access is performed, and complete in the next cycle. */
static int
perform(void *world, uint32_t core, gpc_index_t message)
{
    gpc_gpu_t *gpu = world;
    const gpc_msg_t *msg = gpc_msg_at(&gpu->messages, message);
    uint32_t words[GPC_MAX_LINE_WORDS];
    gpc_mask_t written = 0;

    GPC_TRY(gpc_gpu_touch_page(gpu, core, msg->line));
    if (msg->type == GPC_MSG_STORE) {
        GPC_TRY(gpc_memory_write_masked(gpu->memory, msg->line, msg->mask, msg->data));
    } else {
        gpc_memory_read(gpu->memory, msg->line, gpu->machine.line_bytes / 4, words);
    }
    if (msg->type == GPC_MSG_ATOMIC) {
        written = gpc_rmw_perform(gpc_lane_list_at(&gpu->lane_lists, msg->lanes), words);
        GPC_TRY(gpc_memory_write_masked(gpu->memory, msg->line, written, words));
    }
    GPC_TRY(GPC_OBSERVE(&gpu->stream.tap, COMPLETED, completed, gpu->l1s[core], msg, words, true));
    return gpc_cores_complete(&gpu->cores, core, message, words, gpc_gpu_cycle(gpu), 1);
}

static gpc_machine_t
machine_without_latencies(const gpc_machine_t *of)
{
    gpc_machine_t m = *of;
    m.launch_latency = m.start_skew = m.block_start_cycles = 0;
    m.alu_latency = m.sfu_latency = m.division_latency = m.scratchpad_latency = m.issue_cycles = 1;
    m.sfu_cycles = m.division_cycles = m.f64_cycles = m.l1_bytes_per_cycle = 0;
    return m;
}

int
gpc_gpu_begin_functional(gpc_gpu_t *gpu)
{
    static const gpc_order_traits_t none = {0};
    gpc_functional_t *self = &gpu->functional;
    size_t bytes = gpu->machine.cores * sizeof(*self->kept);

    self->kept = self->kept ? self->kept : malloc(bytes);
    if (!self->kept) {
        return GPC_ERROR_MEMORY;
    }
    if (!gpu->state->caches_are_empty) {
        GPC_TRY(gpc_gpu_empty_caches(gpu));
        gpu->state->caches_are_empty = true;
    }
    gpc_gpu_checks_lost_memory(gpu); /* monitors learn it from memory before the next launch with time */
    memcpy(self->kept, gpu->cores.statistics, bytes);
    self->cycles = gpu->state->cycles;
    self->rollovers = gpu->state->rollovers;
    self->events = gpu->state->events;
    self->trips = gpu->order.trips;
    self->machine = machine_without_latencies(&gpu->machine);
    self->on = true;
    gpu->order.trips = NULL;
    gpu->order.traits = &none;
    gpu->cores.machine = &self->machine;
    gpu->cores.hooks.offer = perform;
    gpc_stream_set_aside(&gpu->stream);
    return GPC_OK;
}

void
gpc_gpu_end_functional(gpc_gpu_t *gpu)
{
    gpc_functional_t *self = &gpu->functional;

    if (!self->on) {
        return;
    }
    self->on = false;
    gpc_gpu_hang_end(gpu);
    gpc_stream_resume(&gpu->stream);
    gpu->cores.hooks.offer = gpc_gpu_offer;
    gpu->cores.machine = &gpu->machine;
    gpu->order.traits = &gpu->protocol->order;
    gpu->order.trips = self->trips;
    gpu->state->cycles = self->cycles;
    gpu->state->rollovers = self->rollovers;
    gpu->state->events = self->events;
    memcpy(gpu->cores.statistics, self->kept, gpu->machine.cores * sizeof(*self->kept));
}

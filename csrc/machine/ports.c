/* ports.c: the machine's implementation of the ports that controllers call, and the timers that they set. */
#include <string.h>

#include "controller/host.h"
#include "machine/parts.h"

static gpc_tick_t
tick_now(const gpc_gpu_t *gpu)
{
    return gpc_wheel_now(&gpu->wheel);
}

/* One copy per destination, in order of node, linked as a multicast if the virtual network is one. */
static int
make_copies(gpc_gpu_t *gpu, gpc_index_t message, const gpc_nodeset_t *to, gpc_list_t *copies)
{
    const gpc_msg_t *pattern = gpc_msg_at(&gpu->messages, message);
    bool multicast = gpu->protocol->networks[pattern->network].multicast;
    gpc_index_t first[GPC_CROSSING_KINDS]; /* those at the link together */
    memset(first, 0xff, sizeof(first));    /* GPC_NONE */

    for (uint32_t i = 0; i < GPC_NODESET_WORDS; i++) {
        for (uint64_t left = to->bits[i]; left; left &= left - 1) {
            gpc_index_t copy = gpc_pool_take(&gpu->messages);
            if (copy == GPC_NONE) {
                return gpc_fail(&gpu->failure, GPC_ERROR_CAPACITY, "no free message for a broadcast");
            }
            *gpc_msg_at(&gpu->messages, copy) = *pattern;
            gpc_msg_at(&gpu->messages, copy)->destination = (gpc_node_t) (i * 64 + (uint32_t) __builtin_ctzll(left));
            uint32_t kind = gpu->crosses ? gpc_gpu_crossing_kind(gpu, gpc_msg_at(&gpu->messages, copy)) : 0;
            if (multicast && first[kind] != GPC_NONE) {
                gpc_network_add_copy(&gpu->messages, first[kind], copy);
            }
            first[kind] = first[kind] == GPC_NONE ? copy : first[kind];
            gpc_list_push(copies, &gpu->messages, copy);
        }
    }
    return GPC_OK;
}

static int
port_broadcast(void *world, gpc_controller_t *from, gpc_index_t message, const gpc_nodeset_t *to)
{
    gpc_gpu_t *gpu = world;
    gpc_list_t copies;
    gpc_list_clear(&copies);
    int status = make_copies(gpu, message, to, &copies);

    while (status == GPC_OK && copies.count) {
        status = gpc_gpu_send(world, from, gpc_list_pop(&copies, &gpu->messages));
    }
    if (status == GPC_OK) {
        gpc_free_message(from, message);
    }
    return status;
}

static int
port_send_probed(void *world, gpc_controller_t *from, gpc_index_t message)
{
    gpc_gpu_t *gpu = world;
    gpc_tick_t at = gpc_cpu_cache_exists(&gpu->cpu) ? gpu->cpu.state->answered : 0;
    return at >= tick_now(gpu) /* those that have waited for this tick leave first */
               ? gpc_wheel_schedule(&gpu->wheel, at, GPC_EVENT_SEND, GPC_PRIORITY_OUTBOX, from->node, message)
               : gpc_gpu_send(world, from, message);
}

static gpc_cycle_t
port_now(const void *world)
{
    return gpc_gpu_cycle(world);
}

gpc_cycle_t
gpc_gpu_hook_now(void *world)
{
    return port_now(world);
}

int
gpc_gpu_schedule_core(void *world, uint32_t core, gpc_cycle_t at, gpc_cycle_t *scheduled)
{
    gpc_gpu_t *gpu = world;
    if (at * gpu->core_clock.period < tick_now(gpu)) { /* between two edges, for the cycle whose edge has passed */
        at = gpc_clock_cycles(gpu->core_clock, gpc_clock_edge(gpu->core_clock, tick_now(gpu)));
    }
    if (*scheduled <= at) {
        return GPC_OK;
    }
    *scheduled = at;
    return gpc_gpu_schedule_cycle(gpu, core, at);
}

/* Whether the L1 has a way or an MSHR entry for the line. */
static bool
has_line(const gpc_controller_t *l1, gpc_address_t line)
{
    for (uint32_t i = 0; i < GPC_MAX_ARRAYS && l1->type->arrays[i].name; i++) {
        if (gpc_tags_find(&l1->arrays[i], line) != GPC_NONE) {
            return true;
        }
    }
    for (uint8_t i = 0; i < GPC_MAX_TABLES && l1->type->tables[i]; i++) {
        if (gpc_mshr_find_for(&l1->mshrs, line, i) != GPC_NONE) {
            return true;
        }
    }
    return false;
}

static int
instant_at(gpc_gpu_t *gpu, gpc_node_t node, gpc_address_t line, uint8_t cause)
{
    if (!has_line(&gpu->controllers[node], line)) {
        return GPC_OK;
    }
    int status = gpc_controller_cause(&gpu->controllers[node], cause, line);
    if (status == GPC_OK && (gpu->controllers[node].replay->count || gpu->queues[node].offer_held)) {
        status = gpc_gpu_schedule_controller(gpu, node, tick_now(gpu));
    }
    return status;
}

static int
port_instant(void *world, gpc_controller_t *from, gpc_address_t line, const gpc_nodeset_t *to, gpc_node_t except,
             uint8_t cause)
{
    gpc_gpu_t *gpu = world;
    gpc_nodeset_t all = {{0}};
    (void) from;
    if (to == NULL && gpu->protocol->instant_filter) {
        gpu->protocol->instant_filter->candidates(gpu->instant_filter, gpu->l1s, gpu->machine.cores, line, &all);
    }
    for (uint32_t node = 0; to == NULL && !gpu->protocol->instant_filter && node < gpu->machine.cores; node++) {
        gpc_nodeset_add(&all, (gpc_node_t) node);
    }
    to = to ? to : &all;
    for (uint32_t i = 0; i * 64 < gpu->machine.cores; i++) {
        for (uint64_t left = to->bits[i]; left; left &= left - 1) {
            gpc_node_t node = (gpc_node_t) (i * 64 + (uint32_t) __builtin_ctzll(left));
            GPC_TRY(node == except ? GPC_OK : instant_at(gpu, node, line, cause));
        }
    }
    return GPC_OK;
}

static int
port_wake_at(void *world, gpc_controller_t *unit, gpc_cycle_t at, gpc_address_t line, uint32_t tag, gpc_timer_t kind)
{
    gpc_gpu_t *gpu = world;
    gpc_index_t message = gpc_gpu_inner_message(gpu, unit, GPC_MSG_TIMER, line);
    gpc_tick_t tick = at * gpu->core_clock.period;

    if (message == GPC_NONE) {
        return gpc_fail(&gpu->failure, GPC_ERROR_CAPACITY, "no free message for a timer");
    }
    gpc_msg_at(&gpu->messages, message)->fields[0] = tag;
    gpc_msg_at(&gpu->messages, message)->fields[1] = kind;
    if (kind != GPC_TIMER_NEEDED) {
        gpc_list_push(&gpu->state->background, &gpu->messages, message);
        gpu->state->serving += kind == GPC_TIMER_SERVING;
    }
    return gpc_wheel_schedule(&gpu->wheel, tick > tick_now(gpu) ? tick : tick_now(gpu), GPC_EVENT_TIMER,
                              GPC_PRIORITY_ARRIVE, unit->node, message);
}

static int
port_schedule(void *world, gpc_controller_t *unit)
{
    gpc_gpu_t *gpu = world;
    return gpc_gpu_schedule_controller(gpu, unit->node, tick_now(gpu));
}

static int
port_wake_warp(void *world, gpc_controller_t *l1, uint16_t warp, gpc_cycle_t at)
{
    gpc_gpu_t *gpu = world;
    gpc_cycle_t now = port_now(world);
    return gpc_cores_wake_warp(&gpu->cores, l1->index, warp, at > now ? at : now);
}

static int
port_complete(void *world, gpc_controller_t *l1, gpc_index_t message, const uint32_t *words, bool hit, uint32_t extra)
{
    gpc_gpu_t *gpu = world;
    gpc_cycle_t now = port_now(gpu);
    gpc_cycle_t late = now * gpu->core_clock.period != tick_now(gpu); /* between core clock edges: the next edge */

    if (gpu->words.sectors) {
        gpc_mask_t lacking = gpc_gpu_words_lacking(gpu, l1, gpc_msg_at(&gpu->messages, message));
        if (lacking) {
            return gpc_gpu_words_wait(gpu, l1, message, words, lacking);
        }
    }
    if (gpc_translation_exists(&gpu->translation)) {
        late += gpc_msg_at(&gpu->messages, message)->late;
    }
    return gpc_cores_complete(&gpu->cores, l1->index, message, words, now,
                              (hit ? gpu->machine.l1_latency : gpu->fill_cycles) + late + extra);
}

/* Fetches what the step's request needs: sectors, or nothing for a store. Out of line: few machines have masks. */
__attribute__((noinline)) static int
fetch_words(gpc_gpu_t *gpu, const gpc_controller_t *unit, gpc_index_t message, uint32_t channel)
{
    gpc_msg_t *msg = gpc_msg_at(&gpu->messages, message);
    msg->here = gpc_gpu_words_to_fetch(gpu, unit, msg->line);
    if (msg->here) {
        return gpc_dram_read_part(&gpu->dram, channel, message, gpc_gpu_words_bytes(gpu, msg->here));
    }
    gpc_tick_t at = tick_now(gpu) + msg->ready;
    msg->ready = 0;
    gpc_memory_read(gpu->memory, msg->line, gpu->machine.line_bytes / 4, msg->data);
    return gpc_wheel_schedule(&gpu->wheel, at, GPC_EVENT_TIMER, GPC_PRIORITY_ARRIVE, unit->node, message);
}

static int
port_fetch(void *world, gpc_controller_t *unit, gpc_address_t line, uint32_t late)
{
    gpc_gpu_t *gpu = world;
    uint32_t channel = gpc_home_channel(&gpu->homes, line);
    gpc_tick_t way = gpc_gpu_ticks_to_channel(gpu, unit, channel);
    gpc_index_t message = gpc_gpu_inner_message(gpu, unit, GPC_MSG_FILL, line);
    if (message == GPC_NONE) {
        return gpc_fail(&gpu->failure, GPC_ERROR_CAPACITY, "no free message for a fetch");
    }
    gpc_msg_at(&gpu->messages, message)->mask = gpc_all_words(unit);
    gpc_tick_t probe = gpc_cpu_cache_exists(&gpu->cpu) ? gpc_cpu_cache_read(&gpu->cpu, line, tick_now(gpu)) : 0;
    gpc_msg_at(&gpu->messages, message)->ready = way + probe + late * gpc_gpu_service(gpu, unit->node)->clock.period;
    int status =
        gpu->words.banks ? fetch_words(gpu, unit, message, channel) : gpc_dram_read(&gpu->dram, channel, message);
    if (status == GPC_OK && probe) { /* the CPU's dirty line, whose words memory has */
        status = gpc_dram_write(&gpu->dram, channel, line, 0, NULL, GPC_NONE);
    }
    return status;
}

static bool
port_memory_room(const void *world, gpc_address_t line)
{
    const gpc_gpu_t *gpu = world;
    return gpc_dram_room(&gpu->dram, gpc_home_channel(&gpu->homes, line)) > 0;
}

static int
port_write_memory(void *world, gpc_controller_t *unit, gpc_address_t line, gpc_mask_t mask, const uint32_t *words,
                  const uint64_t *note)
{
    gpc_gpu_t *gpu = world;
    gpc_index_t answer = GPC_NONE;
    gpc_tick_t late = gpc_cpu_cache_exists(&gpu->cpu) ? gpc_cpu_cache_written(&gpu->cpu, line, tick_now(gpu)) : 0;

    if (note) {
        answer = gpc_gpu_inner_message(gpu, unit, GPC_MSG_WRITTEN, line);
        if (answer == GPC_NONE) {
            return gpc_fail(&gpu->failure, GPC_ERROR_CAPACITY, "no free message for a write to memory");
        }
        gpc_msg_at(&gpu->messages, answer)->fields[0] = *note;
        gpc_msg_at(&gpu->messages, answer)->mask = mask;
        gpc_msg_at(&gpu->messages, answer)->ready = late;
    }
    uint32_t channel = gpc_home_channel(&gpu->homes, line);
    return gpu->words.on ? gpc_dram_write_part(&gpu->dram, channel, line, mask, words, answer,
                                               gpc_gpu_words_written_bytes(gpu, unit, line, mask))
                         : gpc_dram_write(&gpu->dram, channel, line, mask, words, answer);
}

static int
port_visit(void *world, int (*what)(gpc_controller_t *unit, void *context), void *context)
{
    gpc_gpu_t *gpu = world;
    int status = GPC_OK;
    for (uint32_t node = 0; node < gpc_gpu_nodes(gpu) && status == GPC_OK; node++) {
        status = what(&gpu->controllers[node], context);
    }
    return status;
}

static int
port_newest(void *world, gpc_address_t line, uint32_t *words)
{
    gpc_gpu_t *gpu = world;
    gpc_units_t units = gpc_gpu_units(gpu, line);

    gpc_memory_read(gpu->memory, line, gpu->machine.line_bytes / 4, words);
    return gpc_host_newest(gpu->protocol, &units, line, words);
}

/* ---- timers ------------------------------------------------------------------------------------------------------ */

static void
forget_background_timer(gpc_gpu_t *gpu, gpc_index_t message)
{
    gpc_index_t previous = GPC_NONE, i = gpu->state->background.head;
    for (; i != message; i = gpc_msg_at(&gpu->messages, i)->next) {
        previous = i;
    }
    gpc_list_remove_after(&gpu->state->background, &gpu->messages, previous, i);
}

void
gpc_gpu_drop_background_timers(gpc_gpu_t *gpu)
{
    gpc_index_t message;

    gpc_wheel_clear(&gpu->wheel);
    while ((message = gpc_list_pop(&gpu->state->background, &gpu->messages)) != GPC_NONE) {
        gpc_pool_give(&gpu->messages, message);
    }
    gpu->state->serving = 0;
}

__attribute__((noinline)) int /* the loop of events stays short */
gpc_gpu_timer(gpc_gpu_t *gpu, gpc_node_t node, gpc_index_t message)
{
    if (gpc_msg_at(&gpu->messages, message)->type == GPC_MSG_WORDS) {
        return gpc_gpu_words_read(gpu, node, message);
    }
    uint64_t kind = gpc_msg_at(&gpu->messages, message)->fields[1];
    if (gpc_msg_at(&gpu->messages, message)->type == GPC_MSG_TIMER && kind != GPC_TIMER_NEEDED) {
        forget_background_timer(gpu, message);
        gpu->state->serving -= kind == GPC_TIMER_SERVING;
    }
    gpc_list_push(&gpu->queues[node].inbox, &gpu->messages, message);
    return gpc_gpu_schedule_controller(gpu, node, tick_now(gpu));
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

const gpc_ports_t gpc_gpu_ports = {
    .now = port_now,
    .send = gpc_gpu_send,
    .send_probed = port_send_probed,
    .broadcast = port_broadcast,
    .instant = port_instant,
    .wake_at = port_wake_at,
    .schedule = port_schedule,
    .room = gpc_gpu_has_room,
    .wake_warp = port_wake_warp,
    .complete = port_complete,
    .fetch = port_fetch,
    .memory_room = port_memory_room,
    .write_memory = port_write_memory,
    .visit = port_visit,
    .newest = port_newest,
    .trip = gpc_gpu_trip,
};

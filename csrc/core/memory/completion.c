/* completion.c: the L1's answers are written to registers, and accesses complete. */
#include <inttypes.h>

#include "core/memory/load_store.h"
#include "core/memory/narrow.h"
#include "core/memory/order.h"
#include "core/memory/together.h"
#include "core/memory/writers.h"
#include "core/registers.h"

gpc_index_t
gpc_cores_access_of(const gpc_cores_t *self, uint32_t core, const gpc_msg_t *request)
{
    return gpc_request_at(self->parts, core, request->access)->access;
}

gpc_access_kind_t
gpc_cores_kind_of(const gpc_cores_t *self, uint32_t core, const gpc_msg_t *request)
{
    gpc_index_t access = gpc_cores_access_of(self, core, request);
    return gpc_access_at(self->parts, core, access)->access.kind;
}

static inline __attribute__((always_inline)) void
deliver_load(const gpc_issue_t *x, const gpc_core_access_t *access, gpc_lanes_t lanes, const uint32_t *words)
{
    const gpc_operand_t *to = &access->destination;
    if (to->kind == GPC_VECTOR && access->straight) {
        gpc_write_lanes(x, to, gpc_all_lanes(x), words + access->word[0]);
        return;
    }
    if (to->kind == GPC_VECTOR && access->one_word) {
        gpc_write_word(x, to, gpc_all_lanes(x), words[access->word[0]]);
        return;
    }
    for (uint32_t i = 0; i < access->width; i++) {
        if (to->kind == GPC_UNIFORM) {
            gpc_uniforms(x)[to->number + i] = words[access->word[0] + i];
            continue;
        }
        gpc_operand_t part = gpc_operand_next(x, *to, i);
        uint32_t *registers = gpc_vector_for_write(x, &part, lanes);
        if (lanes == gpc_all_lanes(x)) {
            for (uint32_t l = 0; l < x->launch->lanes; l++) {
                registers[l] = words[access->word[l] + i];
            }
            continue;
        }
        for (gpc_lanes_t left = lanes; left != 0; left &= left - 1) {
            uint32_t l = gpc_lowest_bit(left);
            registers[l] = words[access->word[l] + i];
        }
    }
}

static inline __attribute__((always_inline)) void
deliver_atomic(const gpc_issue_t *x, const gpc_core_access_t *access, const gpc_lane_list_t *list)
{
    const gpc_operand_t *to = &access->destination;
    if (to->kind == GPC_NO_OPERAND) {
        return;
    }
    if (list->width == 2) {
        gpc_core_deliver_wide_atomic(x->base->cores, x->base->index, access, list);
        return;
    }
    if (to->kind == GPC_UNIFORM) {
        gpc_uniforms(x)[to->number] = list->count ? list->old[list->count - 1] : gpc_uniforms(x)[to->number];
        return;
    }
    uint32_t *registers = gpc_vector_for_write(x, to, 0);
    for (uint32_t n = 0; n < list->count; n++) {
        registers[list->lane[n]] = list->old[n];
    }
}

/* Wakes the core's warps whose order a completion of another warp may have changed. */
static void
wake_order_waiters(gpc_cores_t *self, uint32_t core_index, gpc_cycle_t now)
{
    for (uint32_t w = 0; w < self->machine->warps_per_core; w++) {
        if (gpc_core_warp(self, core_index, w)->state == GPC_WARP_WAITS_ORDER) {
            gpc_core_wake(self, core_index, w, now, now);
        }
    }
}

/* The access is complete now. */
static int
retire(gpc_cores_t *self, uint32_t core_index, gpc_index_t i, gpc_cycle_t now)
{
    gpc_core_access_t *access = gpc_access_at(self->parts, core_index, i);
    gpc_core_statistics_t *statistics = &self->statistics[core_index];
    uint32_t w = access->warp;
    gpc_warp_t *warp = gpc_core_warp(self, core_index, w);
    gpc_access_t completed = access->access;
    uint64_t latency = access->done_at - access->issued;
    if (completed.kind == GPC_ACCESS_LOAD) {
        statistics->load_latency_cycles += latency;
        gpc_histogram_add(&statistics->load_latency, latency);
    } else if (completed.kind == GPC_ACCESS_STORE) {
        statistics->store_latency_cycles += latency;
        gpc_histogram_add(&statistics->store_latency, latency);
    } else {
        statistics->atomic_latency_cycles += latency;
        gpc_histogram_add(&statistics->atomic_latency, latency);
    }
    warp->outstanding--;
    access->live = false;
    gpc_pool_give(&self->parts->accesses[core_index], i);
    GPC_TRY(GPC_OBSERVE(&self->tap, FINISHED, finished, core_index, w, i, access->issued, access->done_at, &completed));
    GPC_TRY(gpc_order_completed(self->order, core_index, w, &completed));
    if (warp->state == GPC_WARP_WAITS_ORDER) {
        gpc_core_wake(self, core_index, w, now, now);
    }
    if (self->order->across_warps) {
        wake_order_waiters(self, core_index, now);
    }
    return gpc_core_wake_queue_waiters(self, core_index);
}

/* Inserts into the list of due accesses, sorted by time. Latencies differ little: nearly all entries go to the end. */
static inline __attribute__((always_inline)) void
add_due(gpc_cores_t *self, uint32_t core_index, gpc_index_t i)
{
    gpc_core_t *core = &self->parts->cores[core_index];
    gpc_core_access_t *access = gpc_access_at(self->parts, core_index, i);
    access->next = GPC_NONE;
    if (core->due_head == GPC_NONE) {
        core->due_head = core->due_tail = i;
        return;
    }
    gpc_core_access_t *tail = gpc_access_at(self->parts, core_index, core->due_tail);
    if (tail->done_at <= access->done_at) {
        tail->next = i;
        core->due_tail = i;
        return;
    }
    gpc_index_t *link = &core->due_head;
    gpc_core_access_t *at = gpc_access_at(self->parts, core_index, *link);
    while (at->done_at <= access->done_at) {
        link = &at->next;
        at = gpc_access_at(self->parts, core_index, *link);
    }
    access->next = *link;
    *link = i;
}

int
gpc_core_retire_due(gpc_cores_t *self, uint32_t core_index, gpc_cycle_t now)
{
    gpc_core_t *core = &self->parts->cores[core_index];
    while (core->due_head != GPC_NONE) {
        gpc_index_t i = core->due_head;
        const gpc_core_access_t *access = gpc_access_at(self->parts, core_index, i);
        if (access->done_at > now) {
            return GPC_OK;
        }
        core->due_head = access->next;
        GPC_TRY(retire(self, core_index, i, now));
    }
    return GPC_OK;
}

/* All words of the access have arrived: its registers are ready at done_at. */
static inline __attribute__((always_inline)) int
finish_access(gpc_issue_t *x, gpc_index_t i)
{
    gpc_core_access_t *access = gpc_access_at(x->base->cores->parts, x->base->index, i);
    if (access->destination.kind != GPC_NO_OPERAND) {
        gpc_core_set_destination(x, &access->destination, access->width, access->done_at);
        if (x->warp->state == GPC_WARP_WAITS_REGISTER) {
            gpc_core_settle(x);
        }
    }
    if (access->done_at <= x->now) {
        return retire(x->base->cores, x->base->index, i, x->now);
    }
    add_due(x->base->cores, x->base->index, i);
    return gpc_core_schedule(x->base->cores, x->base->index, access->done_at);
}

static int
fail_twice(const gpc_cores_t *self, uint32_t core_index, const gpc_msg_t *msg)
{
    return gpc_fail(self->failure, GPC_ERROR_CONSERVATION,
                    "core %u: a request for line 0x%" PRIx64 " was completed twice", core_index, msg->line);
}

/* Writes the message's words to registers. Returns whether they were the last ones of the request. */
static inline __attribute__((always_inline)) bool
deliver(const gpc_issue_t *x, const gpc_core_access_t *access, gpc_core_request_t *request, const gpc_msg_t *msg,
        const uint32_t *words)
{
    request->missing &= ~msg->mask;
    if (access->access.kind == GPC_ACCESS_LOAD && access->narrow.bytes != 0) {
        gpc_narrow_deliver(x, access, request->lanes, msg->mask, words);
    } else if (access->access.kind == GPC_ACCESS_LOAD && request->words == msg->mask) {
        deliver_load(x, access, request->lanes, words);
    } else if (access->access.kind == GPC_ACCESS_LOAD) {
        gpc_core_deliver_words(x->base->cores, x->base->index, access, request->lanes, msg->mask, words);
    } else if (access->access.kind == GPC_ACCESS_ATOMIC) {
        deliver_atomic(x, access, gpc_lane_list_at(x->base->cores->lane_lists, msg->lanes));
    }
    if (access->access.kind != GPC_ACCESS_LOAD) {
        gpc_writers_note(x, access, request->lanes, msg);
    }
    return request->missing == 0;
}

static inline __attribute__((always_inline)) void
count_served(gpc_core_statistics_t *statistics, gpc_access_kind_t kind, gpc_cycle_t received, gpc_cycle_t done_at)
{
    if (received == GPC_NEVER) {
        return;
    }
    if (kind == GPC_ACCESS_LOAD) {
        statistics->served_loads++;
        statistics->served_load_cycles += done_at - received;
    } else if (kind == GPC_ACCESS_STORE) {
        statistics->served_stores++;
        statistics->served_store_cycles += done_at - received;
    } else {
        statistics->served_atomics++;
        statistics->served_atomic_cycles += done_at - received;
    }
}

/* The message's words are missing to its request. In two places, of which one is rare: every part is inlined. */
static inline __attribute__((always_inline)) int
complete(gpc_cores_t *self, uint32_t core_index, gpc_index_t message, const uint32_t *words, gpc_cycle_t now,
         gpc_cycle_t delay)
{
    const gpc_msg_t *msg = gpc_msg_at(self->messages, message);
    gpc_index_t request_index = msg->access;
    gpc_core_request_t *request = gpc_request_at(self->parts, core_index, request_index);
    gpc_index_t access_index = request->access;
    gpc_core_access_t *access = gpc_access_at(self->parts, core_index, access_index);
    gpc_issue_t x;
    gpc_issue_init(&x, self, core_index, access->warp, now);
    bool done = deliver(&x, access, request, msg, words);
    if (msg->lanes != GPC_NONE) {
        gpc_pool_give(self->lane_lists, msg->lanes);
    }
    if (access->done_at < now + delay) {
        access->done_at = now + delay;
    }
    if (!done && request->name == message) {
        request->parked = message; /* its index identifies the request: not reusable before all words have arrived */
        gpc_msg_at(self->messages, message)->lanes = GPC_NONE;
        return GPC_OK;
    }
    gpc_address_t line = msg->line;
    if (done) {
        count_served(x.base->statistics, access->access.kind, msg->received, now + delay);
    }
    gpc_pool_give(self->messages, message);
    if (!done) {
        return GPC_OK;
    }
    if (self->order->touched) {
        gpc_order_let_go(self->order, core_index, access->warp, line, request->words);
    }
    if (request->parked != GPC_NONE) {
        gpc_pool_give(self->messages, request->parked);
    }
    gpc_pool_give(&self->parts->requests[core_index], request_index);
    x.core->in_flight--;
    if (--access->remaining == 0) {
        GPC_TRY(finish_access(&x, access_index));
    }
    return x.core->waits_queue == 0 ? GPC_OK : gpc_core_wake_queue_waiters(self, core_index);
}

/* None of its words is missing, as of the requests of together.h. */
__attribute__((noinline)) static int
complete_unusual(gpc_cores_t *self, uint32_t core_index, gpc_index_t message, const uint32_t *words, gpc_cycle_t now,
                 gpc_cycle_t delay)
{
    const gpc_msg_t *msg = gpc_msg_at(self->messages, message);
    const gpc_core_request_t *request = gpc_request_at(self->parts, core_index, msg->access);
    bool completes = false;
    if (!gpc_access_at(self->parts, core_index, request->access)->live || request->held == GPC_NONE) {
        return fail_twice(self, core_index, msg);
    }
    GPC_TRY(gpc_together_answered(self, core_index, message, words, now + delay, &completes));
    return completes ? complete(self, core_index, message, words, now, delay) : GPC_OK;
}

GPC_INLINED_BY_LINKER int
gpc_cores_complete(gpc_cores_t *self, uint32_t core_index, gpc_index_t message, const uint32_t *words, gpc_cycle_t now,
                   gpc_cycle_t delay)
{
    const gpc_msg_t *msg = gpc_msg_at(self->messages, message);
    const gpc_core_request_t *request = gpc_request_at(self->parts, core_index, msg->access);
    const gpc_core_access_t *access = gpc_access_at(self->parts, core_index, request->access);
    if (!access->live || access->remaining == 0 || (msg->mask & ~request->missing) != 0) {
        return complete_unusual(self, core_index, message, words, now, delay);
    }
    return complete(self, core_index, message, words, now, delay);
}

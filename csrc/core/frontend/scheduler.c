/* scheduler.c: a core's cycle: warp selection, issue of one instruction (control flow here, other instructions in their
 * units), cycle accounting, and scheduling of the next cycle.
 *
 * A core in which no warp can issue sleeps; when it wakes, the cycles are counted under the reason for which it
 * slept.
 *
 * Cores' cycles are most events of a run: what each of them executes is forced into the loop over events
 * (always_inline), up to the arithmetic of a warp. */
#include "core/execute/execute.h"
#include "core/frontend/frontend.h"
#include "core/lanes.h"
#include "core/memory/load_store.h"
#include "core/registers.h"
#include "core/waking.h"

/* ---- choosing ---------------------------------------------------------------------------------------------------- */

static uint32_t
oldest_of(const gpc_cores_t *self, uint32_t core_index, uint64_t warps)
{
    uint32_t best = gpc_lowest_bit(warps);
    const uint64_t *ages = &self->parts->ages[core_index * self->machine->warps_per_core];
    for (uint64_t left = warps & (warps - 1); left != 0; left &= left - 1) {
        uint32_t w = gpc_lowest_bit(left);
        if (ages[w] < ages[best]) {
            best = w;
        }
    }
    return best;
}

/* The first of `warps` in scheduler order. */
static inline __attribute__((always_inline)) uint32_t
first_in_order(const gpc_cores_t *self, uint32_t core_index, const gpc_core_t *core, uint64_t warps)
{
    uint32_t last = core->last_warp;
    if ((warps & (warps - 1)) == 0) {
        return gpc_lowest_bit(warps);
    }
    if (self->machine->scheduler == 0) { /* loose round robin: the next after the last */
        uint64_t after = warps & (UINT64_MAX << last << 1);
        return gpc_lowest_bit(after != 0 ? after : warps);
    }
    if ((warps >> last & 1u) != 0) { /* greedy, then oldest */
        return last;
    }
    return oldest_of(self, core_index, warps);
}

/* ---- counting ---------------------------------------------------------------------------------------------------- */

/* A core whose blocks have not started is not active. */
static inline void
add_idle(const gpc_core_t *core, gpc_core_statistics_t *statistics, uint64_t cycles)
{
    statistics->stalls[core->idle_reason] += cycles;
    statistics->active_cycles += core->idle_reason != GPC_STALL_launch ? cycles : 0;
    statistics->order_blocked_cycles += core->idle_ordered ? cycles : 0;
    statistics->barrier_blocked_cycles += core->idle_barrier ? cycles : 0;
}

/* Of the cycles from the last counted one to `to`, those in which an instruction occupies an issue port. */
static uint64_t
issuing_before(const gpc_core_t *core, gpc_cycle_t to)
{
    gpc_cycle_t from = core->accounted, busy = core->ports_free_at;
    return busy <= from ? 0 : (busy < to ? busy : to) - from;
}

/* Counts the cycles from the last counted one to `to`, in which nothing changed. While an instruction occupies its
 * issue port, the core counts as issuing. */
static inline __attribute__((always_inline)) void
account(const gpc_core_base_t *base, gpc_cycle_t to)
{
    gpc_core_t *core = base->core;
    gpc_core_statistics_t *statistics = base->statistics;
    gpc_cycle_t from = core->accounted;
    if (to <= from) {
        return;
    }
    if (core->resident != 0) {
        uint64_t issuing = issuing_before(core, to), idle = to - from - issuing;
        statistics->active_cycles += issuing;
        statistics->issue_cycles += issuing;
        if (idle != 0) {
            add_idle(core, statistics, idle);
        }
    }
    core->accounted = to;
}

/* Reports `issuing` and then `idle` cycles. */
static int
observe_counted(gpc_cores_t *self, uint32_t core_index, uint64_t issuing, uint64_t idle)
{
    const gpc_core_t *core = self->parts->bases[core_index].core;
    int status = GPC_OK;
    if (issuing != 0) {
        status = gpc_core_observe_counted(self, core_index, core->last_warp, GPC_NUM_STALLS, issuing);
    }
    if (idle != 0 && status == GPC_OK) {
        status = gpc_core_observe_counted(self, core_index, core->idle_warp, core->idle_reason, idle);
    }
    return status;
}

/* Reports what account() is about to count, to subscribers. */
static int
observe_account(gpc_cores_t *self, uint32_t core_index, gpc_cycle_t to)
{
    const gpc_core_t *core = self->parts->bases[core_index].core;
    if (to <= core->accounted || core->resident == 0) {
        return GPC_OK;
    }
    uint64_t issuing = issuing_before(core, to);
    return observe_counted(self, core_index, issuing, to - core->accounted - issuing);
}

int
gpc_cores_count_until(gpc_cores_t *self, gpc_cycle_t to)
{
    int status = GPC_OK;
    for (uint32_t i = 0; i < self->machine->cores && status == GPC_OK; i++) {
        gpc_core_t *core = &self->parts->cores[i];
        status = gpc_is_observed(&self->tap, GPC_ON_COUNTED) ? observe_account(self, i, to) : GPC_OK;
        account(&self->parts->bases[i], to);
        if (status == GPC_OK && core->blocks_resident == 0 && to > core->empty_since) {
            status = gpc_core_count_empty(self, i, to);
            core->empty_since = to;
        }
    }
    return status;
}

/* ---- one instruction --------------------------------------------------------------------------------------------- */

static void
issue_sleep(gpc_issue_t *x, const gpc_decoded_t *d)
{
    uint32_t room[GPC_MAX_LANES], most = 0;
    const uint32_t *a = gpc_operand_lanes(x, &d->a, room);
    for (gpc_lanes_t left = x->warp->top.lanes; left != 0; left &= left - 1) {
        uint32_t cycles = a[gpc_lowest_bit(left)];
        if (d->type == GPC_I32 && cycles >> 31 != 0) {
            continue; /* negative: none */
        }
        most = cycles > most ? cycles : most;
    }
    x->warp->not_before = x->now + most;
}

static void
issue_branch(gpc_issue_t *x, const gpc_decoded_t *d)
{
    gpc_lanes_t not_zero = gpc_core_lanes_not_zero(x, &d->a);
    gpc_warp_branch(x, d, (d->flags & GPC_FLAG_IF_ZERO) != 0 ? x->warp->top.lanes & ~not_zero : not_zero);
}

static int
issue_exit(gpc_issue_t *x, const gpc_decoded_t *d)
{
    gpc_warp_t *warp = x->warp;
    if (warp->top.lanes == warp->live) {
        GPC_TRY(x->core->waits_barrier ? gpc_core_leave_barriers(x, d) : GPC_ISSUED);
        GPC_TRY(gpc_core_query_order(x, d));
    }
    gpc_warp_end_lanes(x);
    if (warp->live != 0) {
        if (x->launch->splits != NULL) {
            gpc_lanes_ended(x);
        }
        return GPC_ISSUED;
    }
    uint32_t slot = warp->block;
    int status = gpc_core_warp_ended(x);
    if (status == GPC_OK && gpc_core_block(x->base->cores, x->base->index, slot)->resident &&
        gpc_core_block_stuck(x->base->cores, x->base->index, slot)) {
        return gpc_core_fail_barrier(x->base->cores, x->base->index, slot);
    }
    return status;
}

/* The instruction's destination may be read after its latency. */
static inline __attribute__((always_inline)) int
set_latency(const gpc_issue_t *x, const gpc_decoded_t *d)
{
    if (d->entry != GPC_NO_ENTRY) {
        gpc_set_entry_ready(x, d->entry, x->now + d->latency);
    }
    return GPC_ISSUED;
}

/* *next: whether the next instruction follows; not after a branch, a jump or an exit, which set the program counter. */
static inline int
execute(gpc_issue_t *x, const gpc_decoded_t *d, bool *next)
{
    int status;
    switch ((gpc_group_t) d->group) {
        case GPC_GROUP_NOP:
            return GPC_ISSUED;
        case GPC_GROUP_BRANCH:
            *next = false;
            issue_branch(x, d);
            return GPC_ISSUED;
        case GPC_GROUP_JUMP:
            *next = false;
            gpc_warp_go_to(x, d->target);
            return GPC_ISSUED;
        case GPC_GROUP_EXIT:
            *next = false;
            return issue_exit(x, d);
        case GPC_GROUP_DIVISION:
            status = gpc_core_check_division(x, d);
            GPC_TRY(status);
            __attribute__((fallthrough));
        case GPC_GROUP_ALU:
            gpc_core_issue_alu(x, d); /* its only call, so that it is inlined */
            return set_latency(x, d);
        case GPC_GROUP_WIDE_DIVISION:
            status = gpc_core_check_division(x, d);
            GPC_TRY(status);
            __attribute__((fallthrough));
        case GPC_GROUP_MOVEMENT:
            gpc_core_issue_movement(x, d);
            return set_latency(x, d);
        case GPC_GROUP_LOCAL:
            status = gpc_core_issue_local(x, d);
            GPC_TRY(status);
            return set_latency(x, d);
        case GPC_GROUP_MEMORY:
            return gpc_core_issue_memory(x, d); /* sets its destination's readiness */
        case GPC_GROUP_SHARED:
            return gpc_core_issue_shared(x, d);
        case GPC_GROUP_FENCE:
            return gpc_core_issue_fence(x, d);
        case GPC_GROUP_BARRIER:
            return gpc_core_issue_barrier(x, d);
        case GPC_GROUP_WARP_SYNC:
        case GPC_GROUP_SPIN:
            *next = false;
            return gpc_lanes_issue(x, d);
        case GPC_GROUP_REPORT:
            return gpc_core_issue_report(x, d);
        case GPC_GROUP_SLEEP:
            issue_sleep(x, d);
            return GPC_ISSUED;
    }
    GPC_UNREACHABLE;
}

/* Executes the warp's next instruction: GPC_ISSUED, GPC_BLOCKED or an error. */
static inline __attribute__((always_inline)) int
issue_next(gpc_issue_t *x)
{
    gpc_core_t *core = x->core;
    gpc_warp_t *warp = x->warp;
    gpc_cycle_t now = x->now;
    const gpc_decoded_t *d = &x->launch->code[warp->top.pc];
    int status = gpc_is_observed(&x->base->cores->tap, GPC_ON_SELECTED) ? gpc_core_observe_selected(x, d) : GPC_OK;
    GPC_TRY(status);
    if (d->unit != GPC_UNIT_NONE && core->unit_free[d->unit] > now) {
        return gpc_core_block_warp(x, GPC_WARP_WAITS_TIME, GPC_STALL_unit, core->unit_free[d->unit]);
    }
    uint32_t active = warp->active; /* a branch changes it */
    bool next = true;
    status = execute(x, d, &next);
    GPC_TRY(status);
    if (next) {
        gpc_warp_go_to(x, warp->top.pc + 1);
    }
    if (d->unit != GPC_UNIT_NONE) {
        gpc_cycle_t free_at = now + d->unit_holds;
        if (free_at > core->unit_free[d->unit]) { /* bank conflicts may have set a later cycle */
            core->unit_free[d->unit] = free_at;
        }
    }
    x->base->statistics->instructions++;
    x->base->statistics->thread_instructions += active;
    return GPC_ISSUED;
}

/* ---- the cycle --------------------------------------------------------------------------------------------------- */

/* While the load-store queue is full, sets the ready warps aside whose next instruction needs it. Out of line: GCC
 * would compute its addresses in every cycle. */
__attribute__((noinline)) static int
set_aside(gpc_cores_t *self, uint32_t core_index)
{
    gpc_core_t *core = self->parts->bases[core_index].core;
    uint64_t warps = core->ready & core->memory_next;
    int status = GPC_OK;
    if (!gpc_core_has_room(self, core_index)) {
        core->ready &= ~warps;
        core->waits_queue |= warps;
        for (; gpc_is_observed(&self->tap, GPC_ON_WAITS) && warps != 0 && status == GPC_OK; warps &= warps - 1) {
            status = GPC_OBSERVE(&self->tap, WAITS, waits, core_index, gpc_lowest_bit(warps),
                                 (uint8_t) GPC_STALL_load_store_queue);
        }
    }
    return status;
}

/* Issues one warp instruction on one port: GPC_ISSUED, GPC_BLOCKED if no warp could, or an error. */
static inline int
issue_one(gpc_cores_t *self, gpc_core_t *core, uint32_t core_index, gpc_cycle_t now)
{
    int status = (core->ready & core->memory_next) != 0 ? set_aside(self, core_index) : GPC_OK;
    GPC_TRY(status);
    while (core->ready != 0) {
        uint32_t w = first_in_order(self, core_index, core, core->ready);
        gpc_issue_t x;
        gpc_issue_init(&x, self, core_index, w, now);
        core->ready &= ~(UINT64_C(1) << w);
        status = issue_next(&x);
        if (status == GPC_BLOCKED) {
            continue;
        }
        GPC_TRY(status);
        core->last_warp = w;
        if (x.warp->state == GPC_WARP_READY) { /* neither ended nor at a barrier */
            gpc_core_settle_issued(&x);
        }
        return GPC_ISSUED;
    }
    return GPC_BLOCKED;
}

/* Issues on every free port. *any is set if a warp could. */
static inline __attribute__((always_inline)) int
issue(gpc_cores_t *self, gpc_core_t *core, uint32_t core_index, gpc_cycle_t now, bool *any)
{
    uint32_t p = 0, width = self->machine->issue_width;
    do {
        if (core->port_free[p] > now) {
            continue;
        }
        int status = issue_one(self, core, core_index, now);
        if (status < 0) {
            return status;
        }
        if (status == GPC_ISSUED) {
            core->port_free[p] = core->ports_free_at = now + self->machine->issue_cycles;
            *any = true;
        }
    } while (++p < width && core->ready != 0);
    return GPC_OK;
}

static gpc_cycle_t
next_cycle(const gpc_cores_t *self, const gpc_core_t *core, uint32_t core_index, gpc_cycle_t now)
{
    gpc_cycle_t at = gpc_core_next_in_calendar(core);
    if (core->ready != 0) {
        gpc_cycle_t port = GPC_NEVER;
        for (uint32_t p = 0; p < self->machine->issue_width; p++) {
            port = core->port_free[p] < port ? core->port_free[p] : port;
        }
        at = port < at ? port : at;
    }
    if (core->due_head != GPC_NONE) {
        const gpc_core_access_t *due = gpc_access_at(self->parts, core_index, core->due_head);
        at = due->done_at < at ? due->done_at : at;
    }
    if (core->queue.count != 0 && !core->held) {
        at = core->port_next < at ? core->port_next : at;
    }
    return at <= now ? now + 1 : at;
}

/* Records the stall reason of the first warp in scheduler order. A barrier is held up by a warp that has not arrived:
 * there is one, else the barrier could never complete. */
static inline void
note_idle_reason(const gpc_cores_t *self, gpc_core_t *core, uint32_t core_index)
{
    uint32_t first = first_in_order(self, core_index, core, core->resident);
    core->idle_barrier = (core->waits_barrier >> first & 1u) != 0;
    if (core->idle_barrier) {
        uint16_t slot = gpc_core_warp(self, core_index, first)->block;
        uint64_t others = gpc_core_block(self, core_index, slot)->warps & ~core->waits_barrier;
        first = first_in_order(self, core_index, core, others != 0 ? others : core->resident);
    }
    core->idle_warp = (uint8_t) first;
    core->idle_reason =
        (core->waits_queue >> first & 1u) != 0 ? (uint8_t) GPC_STALL_load_store_queue : core->reasons[first];
    core->idle_ordered = core->order_stalls != 0;
}

/* Counts this cycle. */
static inline void
count_cycle(const gpc_core_base_t *base, bool issuing)
{
    if (issuing) {
        base->statistics->active_cycles++;
        base->statistics->issue_cycles++;
    } else {
        add_idle(base->core, base->statistics, 1);
    }
}

GPC_INLINED_BY_LINKER int
gpc_cores_cycle(gpc_cores_t *self, uint32_t core_index, gpc_cycle_t now, gpc_cycle_result_t *out)
{
    const gpc_core_base_t *base = &self->parts->bases[core_index];
    gpc_core_t *core = base->core;
    *out = (gpc_cycle_result_t){GPC_NEVER, true};
    if (core->cycle_scheduled != now) {
        return GPC_OK; /* an earlier event took its place */
    }
    core->cycle_scheduled = GPC_NEVER;
    bool observed = gpc_is_observed(&self->tap, GPC_ON_COUNTED);
    int status = observed ? observe_account(self, core_index, now) : GPC_OK;
    GPC_TRY(status);
    core->in_cycle = true;
    account(base, now);
    gpc_core_empty_calendar(base, now);
    bool any = false, active = core->resident != 0;
    if (core->due_head != GPC_NONE) {
        status = gpc_core_retire_due(self, core_index, now);
    }
    if (status == GPC_OK && core->ready != 0) {
        status = issue(self, core, core_index, now, &any);
    }
    if (status == GPC_OK && core->queue.count != 0) {
        status = gpc_core_offer(self, core_index, now);
    }
    core->in_cycle = false;
    core->cycle_allowed = now + 1;
    GPC_TRY(status);
    gpc_cycle_t at = next_cycle(self, core, core_index, now);
    bool issuing = any || core->ports_free_at > now;
    if (core->resident != 0 && at > core->ports_free_at) { /* else this cycle and those until the next event issue */
        note_idle_reason(self, core, core_index);
    }
    if (active) {
        count_cycle(base, issuing);
        status = observed ? observe_counted(self, core_index, issuing, !issuing) : GPC_OK;
    }
    core->accounted = now + 1;
    if (at < core->cycle_scheduled) {
        core->cycle_scheduled = out->next = at;
    }
    out->has_warps = core->resident != 0;
    return status;
}

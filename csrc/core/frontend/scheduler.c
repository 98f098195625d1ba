/* scheduler.c: a core's cycle: who is ready, who issues, how cycles are counted, and when the core wants its next turn.
 *
 * A warp's next instruction is known as soon as the one before has issued, and with it the cycle in which its registers are
 * ready: the warp goes into a calendar for that cycle, or waits for an event. Nobody is polled, and a core in which nobody can
 * issue sleeps; the cycles it slept are counted when it wakes, under the reason that held all the while. */
#include "core/execute/registers.h"

void
gpc_issue_init(gpc_issue_t *x, gpc_cores_t *self, uint32_t core, uint32_t warp, gpc_cycle_t now)
{
    gpc_core_parts_t *parts = self->parts;
    const gpc_machine_t *machine = self->machine;
    const gpc_core_launch_t *launch = parts->launch;
    uint32_t lanes = machine->lanes_per_warp;
    x->cores = self;
    x->parts = parts;
    x->launch = launch;
    x->core = &parts->cores[core];
    x->statistics = &self->statistics[core];
    x->warp = gpc_core_warp(self, core, warp);
    x->vectors = parts->vectors + (size_t) core * machine->registers_per_core +
                 (size_t) warp * launch->launch.program.vector_registers * lanes;
    x->scoreboard = parts->fronts + (size_t) core * parts->front_words + (size_t) warp * launch->front.stride;
    x->evens = x->scoreboard + launch->front.scoreboard;
    x->uniforms = x->evens + launch->front.evens;
    x->now = now;
    x->core_index = core;
    x->warp_index = warp;
    x->lanes = lanes;
}

/* ---- waking ---------------------------------------------------------------------------------------------------------------- */

int
gpc_core_ask_turn(gpc_cores_t *self, uint32_t core_index, gpc_cycle_t at)
{
    gpc_core_t *core = &self->parts->cores[core_index];
    if (core->in_turn) {
        return 0; /* its end asks for the next one */
    }
    if (at < core->turn_allowed) {
        at = core->turn_allowed;
    }
    if (at >= core->turn_asked) {
        return 0;
    }
    core->turn_asked = at;
    return self->hooks.schedule(self->hooks.world, core_index, at);
}

static void
put_in_calendar(gpc_core_t *core, uint32_t warp, gpc_cycle_t at)
{
    uint64_t bit = UINT64_C(1) << warp;
    if (at - core->calendar_next >= GPC_CALENDAR_SLOTS) {
        core->far |= bit;
        core->far_at = at < core->far_at ? at : core->far_at;
        return;
    }
    uint32_t slot = (uint32_t) (at % GPC_CALENDAR_SLOTS);
    core->calendar[slot] |= bit;
    core->calendar_used |= UINT64_C(1) << slot;
}

static void
make_ready(gpc_core_t *core, gpc_warp_t *warp, uint32_t w)
{
    warp->state = GPC_WARP_READY;
    warp->wake_at = GPC_NEVER;
    core->ready |= UINT64_C(1) << w;
}

void
gpc_core_wake(gpc_cores_t *self, uint32_t core_index, uint32_t w, gpc_cycle_t now, gpc_cycle_t at)
{
    gpc_core_t *core = &self->parts->cores[core_index];
    gpc_warp_t *warp = gpc_core_warp(self, core_index, w);
    if (core->calendar_used == 0 && core->far == 0 && core->calendar_next < now) {
        core->calendar_next = now; /* it was asleep: its calendar starts afresh */
    }
    if (at <= now || at < core->calendar_next) {
        make_ready(core, warp, w);
    } else {
        warp->wake_at = at;
        put_in_calendar(core, w, at);
    }
    /* A failure to schedule is the engine's; it says so itself at its next step. */
    if (gpc_core_ask_turn(self, core_index, at) != 0) {
        return;
    }
}

void
gpc_core_rebase_scoreboards(gpc_cores_t *self, uint32_t core_index, gpc_cycle_t now)
{
    gpc_core_t *core = &self->parts->cores[core_index];
    const gpc_front_t *front = &self->parts->launch->front;
    uint32_t *fronts = self->parts->fronts + (size_t) core_index * self->parts->front_words;
    uint64_t passed = now - core->scoreboard_base;
    for (uint64_t left = core->resident; left != 0; left &= left - 1) {
        uint32_t *entries = fronts + (size_t) gpc_lowest_bit(left) * front->stride;
        for (uint32_t i = 0; i < front->scoreboard; i++) {
            if (entries[i] != GPC_SCOREBOARD_NEVER) {
                entries[i] = entries[i] > passed ? (uint32_t) (entries[i] - passed) : 0;
            }
        }
    }
    core->scoreboard_base = now;
}

void
gpc_core_settle(gpc_issue_t *x)
{
    gpc_warp_t *warp = x->warp;
    const gpc_decoded_t *d = &x->launch->code[warp->top.pc];
    uint64_t bit = UINT64_C(1) << x->warp_index;
    gpc_cycle_t at = warp->not_before;
    bool sleeps = at > x->now + 1;
    for (uint32_t i = 0; i < d->num_waits; i++) {
        gpc_cycle_t ready = gpc_ready_at(x, d->waits[i]);
        if (ready > at) {
            at = ready;
            sleeps = false;
        }
    }
    warp->reason = (uint8_t) (sleeps ? GPC_STALL_sleep : GPC_STALL_scoreboard);
    x->core->memory_next = (x->core->memory_next & ~bit) | (d->group == GPC_GROUP_MEMORY ? bit : 0);
    if (at == GPC_NEVER) {
        warp->state = GPC_WARP_WAITS_REGISTER;
        warp->wake_at = GPC_NEVER;
        return;
    }
    warp->state = GPC_WARP_WAITS_TIME;
    gpc_core_wake(x->cores, x->core_index, x->warp_index, x->now, at);
}

int
gpc_core_block_warp(gpc_issue_t *x, gpc_warp_state_t state, gpc_stall_t reason, gpc_cycle_t until)
{
    gpc_warp_t *warp = x->warp;
    warp->state = (uint8_t) state;
    warp->reason = (uint8_t) reason;
    warp->wake_at = until;
    if (until != GPC_NEVER) {
        put_in_calendar(x->core, x->warp_index, until);
    }
    return GPC_BLOCKED;
}

int
gpc_cores_wake_warp(gpc_cores_t *self, uint32_t core_index, uint32_t w, gpc_cycle_t at)
{
    gpc_cycle_t now = self->hooks.now(self->hooks.world);
    if (self->parts->launch == NULL || gpc_core_warp(self, core_index, w)->state != GPC_WARP_WAITS_ORDER) {
        return 0;
    }
    at = at < now ? now : at;
    gpc_core_wake(self, core_index, w, now, at);
    return 0;
}

/* Warps whose cycle has come. */
static void
empty_calendar(gpc_cores_t *self, uint32_t core_index, gpc_cycle_t now)
{
    gpc_core_t *core = &self->parts->cores[core_index];
    uint64_t due = 0;
    if (core->calendar_used != 0) {
        /* The slots of the cycles from calendar_next to now. */
        uint64_t span = now + 1 - core->calendar_next;
        uint64_t slots = UINT64_MAX;
        if (span < GPC_CALENDAR_SLOTS) {
            uint32_t first = (uint32_t) (core->calendar_next % GPC_CALENDAR_SLOTS);
            slots = (UINT64_C(1) << span) - 1;
            slots = slots << first | (first == 0 ? 0 : slots >> (64 - first));
        }
        uint64_t used = core->calendar_used & slots;
        core->calendar_used &= ~used;
        for (; used != 0; used &= used - 1) {
            uint32_t slot = gpc_lowest_bit(used);
            due |= core->calendar[slot];
            core->calendar[slot] = 0;
        }
    }
    if (now >= core->far_at) {
        gpc_cycle_t next = GPC_NEVER;
        for (uint64_t left = core->far; left != 0; left &= left - 1) {
            uint32_t w = gpc_lowest_bit(left);
            gpc_cycle_t at = gpc_core_warp(self, core_index, w)->wake_at;
            if (at == GPC_NEVER || at <= now) {
                core->far &= ~(UINT64_C(1) << w);
                due |= UINT64_C(1) << w;
            } else {
                next = at < next ? at : next;
            }
        }
        core->far_at = next;
    }
    core->calendar_next = now + 1;
    for (; due != 0; due &= due - 1) {
        uint32_t w = gpc_lowest_bit(due);
        gpc_warp_t *warp = gpc_core_warp(self, core_index, w);
        if (warp->wake_at <= now) { /* else it was woken before by something else */
            make_ready(core, warp, w);
        }
    }
}

static gpc_cycle_t
next_in_calendar(const gpc_core_t *core)
{
    gpc_cycle_t at = core->far_at;
    if (core->calendar_used != 0) {
        uint32_t first = (uint32_t) (core->calendar_next % GPC_CALENDAR_SLOTS);
        uint64_t turned = core->calendar_used >> first;
        if (first != 0) {
            turned |= core->calendar_used << (64 - first);
        }
        gpc_cycle_t near = core->calendar_next + gpc_lowest_bit(turned);
        at = near < at ? near : at;
    }
    return at;
}

/* ---- choosing -------------------------------------------------------------------------------------------------------------- */

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

/* The first of the warps in scheduler order. */
static uint32_t
first_in_order(const gpc_cores_t *self, uint32_t core_index, uint64_t warps)
{
    uint32_t last = self->parts->cores[core_index].last_warp;
    if (self->machine->scheduler == 0) { /* loose round robin: the next after the last */
        uint64_t after = last == 63 ? 0 : warps & (UINT64_MAX << (last + 1));
        return gpc_lowest_bit(after != 0 ? after : warps);
    }
    if ((warps >> last & 1u) != 0) { /* greedy, then oldest */
        return last;
    }
    return oldest_of(self, core_index, warps);
}

/* ---- counting -------------------------------------------------------------------------------------------------------------- */

static gpc_cycle_t
last_port_free(const gpc_cores_t *self, const gpc_core_t *core)
{
    gpc_cycle_t latest = 0;
    for (uint32_t p = 0; p < self->machine->issue_width; p++) {
        latest = core->port_free[p] > latest ? core->port_free[p] : latest;
    }
    return latest;
}

static void
add_stall(gpc_core_statistics_t *statistics, uint8_t reason, uint64_t cycles)
{
    switch (reason) {
#define X(name, text)                                                                                                  \
    case GPC_STALL_##name:                                                                                             \
        statistics->stall_##name += cycles;                                                                            \
        break;
        GPC_STALLS(X)
#undef X
        default:
            break;
    }
}

/* The cycles from the last counted one up to `to`: nothing changed in them. An instruction that holds its issue port longer
 * than a cycle counts as issuing all the while. */
static void
account(gpc_cores_t *self, uint32_t core_index, gpc_cycle_t to)
{
    gpc_core_t *core = &self->parts->cores[core_index];
    gpc_core_statistics_t *statistics = &self->statistics[core_index];
    gpc_cycle_t from = core->accounted;
    if (to <= from) {
        return;
    }
    core->accounted = to;
    if (core->resident == 0) {
        return;
    }
    gpc_cycle_t busy = last_port_free(self, core);
    gpc_cycle_t issuing = busy <= from ? 0 : (busy < to ? busy : to) - from;
    statistics->active_cycles += to - from;
    statistics->issue_cycles += issuing;
    add_stall(statistics, core->idle_reason, to - from - issuing);
}

/* ---- the turn -------------------------------------------------------------------------------------------------------------- */

/* Those whose turn it is only to find the load-store queue full step aside, all at once. */
static void
set_aside(gpc_cores_t *self, uint32_t core_index)
{
    gpc_core_t *core = &self->parts->cores[core_index];
    uint64_t warps = core->ready & core->memory_next;
    if (warps != 0 && !gpc_core_has_room(self, core_index)) {
        core->ready &= ~warps;
        core->waits_queue |= warps;
    }
}

/* One warp instruction on one port; false when nobody could. */
static int
issue_one(gpc_cores_t *self, uint32_t core_index, gpc_cycle_t now, bool *issued)
{
    gpc_core_t *core = &self->parts->cores[core_index];
    *issued = false;
    set_aside(self, core_index);
    while (core->ready != 0 && !*issued) {
        uint32_t w = first_in_order(self, core_index, core->ready);
        gpc_issue_t x;
        gpc_issue_init(&x, self, core_index, w, now);
        core->ready &= ~(UINT64_C(1) << w);
        int status = gpc_core_issue(&x);
        if (status < 0) {
            return status;
        }
        if (status == GPC_BLOCKED) {
            continue;
        }
        *issued = true;
        core->last_warp = w;
        if (x.warp->state == GPC_WARP_READY) { /* neither ended nor at a barrier */
            if (x.warp->not_before <= now) {
                x.warp->not_before = now + 1;
            }
            gpc_core_settle(&x);
        }
    }
    return 0;
}

static int
issue(gpc_cores_t *self, uint32_t core_index, gpc_cycle_t now, bool *any)
{
    gpc_core_t *core = &self->parts->cores[core_index];
    for (uint32_t p = 0; p < self->machine->issue_width && core->ready != 0; p++) {
        if (core->port_free[p] > now) {
            continue;
        }
        bool issued;
        int status = issue_one(self, core_index, now, &issued);
        if (status != 0) {
            return status;
        }
        if (issued) {
            core->port_free[p] = now + self->machine->issue_cycles;
            *any = true;
        }
    }
    return 0;
}

static gpc_cycle_t
next_turn(const gpc_cores_t *self, uint32_t core_index, gpc_cycle_t now)
{
    const gpc_core_t *core = &self->parts->cores[core_index];
    gpc_cycle_t at = next_in_calendar(core);
    if (core->ready != 0) {
        gpc_cycle_t port = GPC_NEVER;
        for (uint32_t p = 0; p < self->machine->issue_width; p++) {
            port = core->port_free[p] < port ? core->port_free[p] : port;
        }
        at = port < at ? port : at;
    }
    if (core->due_head != GPC_NONE) {
        const gpc_core_access_t *due = gpc_pool_at(&self->parts->accesses[core_index], core->due_head);
        at = due->done_at < at ? due->done_at : at;
    }
    if (core->queue.count != 0 && !core->held) {
        at = now + 1;
    }
    return at <= now ? now + 1 : at;
}

void
gpc_cores_fetch(const gpc_cores_t *self, uint32_t core_index)
{
    const gpc_core_t *core = &self->parts->cores[core_index];
    __builtin_prefetch(core);
    __builtin_prefetch((const char *) core + 64);
    __builtin_prefetch((const char *) core + 128);
    __builtin_prefetch(&self->statistics[core_index]);
}

/* What the first warp in scheduler order waits for. */
static void
note_idle_reason(gpc_cores_t *self, uint32_t core_index)
{
    gpc_core_t *core = &self->parts->cores[core_index];
    uint32_t first = first_in_order(self, core_index, core->resident);
    core->idle_reason = (core->waits_queue >> first & 1u) != 0 ? (uint8_t) GPC_STALL_load_store_queue
                                                               : gpc_core_warp(self, core_index, first)->reason;
}

int
gpc_cores_turn(gpc_cores_t *self, uint32_t core_index)
{
    gpc_core_t *core = &self->parts->cores[core_index];
    gpc_cycle_t now = self->hooks.now(self->hooks.world);
    if (self->parts->launch == NULL) {
        return 0;
    }
    if (core->turn_asked <= now) {
        core->turn_asked = GPC_NEVER;
    }
    if (now < core->turn_allowed) {
        return gpc_core_ask_turn(self, core_index, core->turn_allowed);
    }
    core->in_turn = true;
    account(self, core_index, now);
    empty_calendar(self, core_index, now);
    bool any = false, active = core->resident != 0;
    int status = gpc_core_retire_due(self, core_index, now);
    if (status == 0) {
        status = issue(self, core_index, now, &any);
    }
    if (status == 0) {
        status = gpc_core_offer(self, core_index, now);
    }
    core->in_turn = false;
    core->turn_allowed = now + 1;
    if (status != 0) {
        return status;
    }
    gpc_cycle_t next = next_turn(self, core_index, now);
    bool issuing = any || last_port_free(self, core) > now;
    if (core->resident != 0 && !(issuing && next == now + 1)) { /* else no cycle is idle before the next turn */
        note_idle_reason(self, core_index);
    }
    if (active) {
        gpc_core_statistics_t *statistics = &self->statistics[core_index];
        statistics->active_cycles++;
        if (issuing) {
            statistics->issue_cycles++;
        } else {
            add_stall(statistics, core->idle_reason, 1);
        }
    }
    core->accounted = now + 1;
    return next == GPC_NEVER ? 0 : gpc_core_ask_turn(self, core_index, next);
}

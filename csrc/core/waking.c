/* waking.c: which warps are ready, and when the others will be.
 *
 * When a warp has issued an instruction, its next one and the cycle in which its registers are ready are known: the
 * warp enters a calendar for that cycle, or waits for an event. Warps are not polled. Every event that ends a wait (a
 * completed access, a barrier, a time, the L1) is handled here, and schedules a cycle of the core through the hook
 * `schedule`. */
#include "core/registers.h"

/* To the right: one instruction of the host. */
static inline uint64_t
rotate(uint64_t bits, uint64_t by)
{
    return bits >> by % 64 | bits << (0 - by) % 64;
}

_Static_assert(GPC_CALENDAR_SLOTS == 64, "a calendar's slots are the bits of a word");

static inline __attribute__((always_inline)) void
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
    core->calendar_first = at < core->calendar_first ? at : core->calendar_first;
}

static void
make_ready(gpc_core_t *core, gpc_warp_t *warp, uint32_t w)
{
    warp->state = GPC_WARP_READY;
    warp->wake_at = GPC_NEVER;
    core->ready |= UINT64_C(1) << w;
}

static inline void
wake(gpc_cores_t *self, uint32_t core_index, gpc_warp_t *warp, uint32_t w, gpc_cycle_t now, gpc_cycle_t at)
{
    gpc_core_t *core = self->parts->bases[core_index].core;
    if (core->calendar_used == 0 && core->far == 0 && core->calendar_next < now) {
        core->calendar_next = now; /* the core slept: restart the empty calendar */
    }
    if (at <= now || at < core->calendar_next) {
        make_ready(core, warp, w);
    } else {
        warp->wake_at = at;
        put_in_calendar(core, w, at);
    }
    /* The engine reports a failure to schedule at its next step. */
    if (gpc_core_schedule(self, core_index, at) != 0) {
        return;
    }
}

void
gpc_core_wake(gpc_cores_t *self, uint32_t core_index, uint32_t w, gpc_cycle_t now, gpc_cycle_t at)
{
    wake(self, core_index, gpc_core_warp(self, core_index, w), w, now, at);
}

void
gpc_core_rebase_scoreboards(gpc_cores_t *self, uint32_t core_index, gpc_cycle_t now)
{
    gpc_core_t *core = &self->parts->cores[core_index];
    const gpc_front_t *front = &self->parts->bases[core_index].launch->front;
    uint32_t *fronts = self->parts->bases[core_index].fronts;
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

/* When all registers of the instruction are ready: the maximum of its entries, of which GPC_SCOREBOARD_NEVER is the
 * largest. */
static inline gpc_cycle_t
last_ready_at(const gpc_issue_t *x, const gpc_decoded_t *d)
{
    uint32_t latest = 0;
    for (uint32_t i = 0; i < d->num_waits; i++) {
        uint32_t at = x->scoreboard[d->waits[i]];
        latest = at > latest ? at : latest;
    }
    return latest == GPC_SCOREBOARD_NEVER ? GPC_NEVER : x->core->scoreboard_base + latest;
}

/* The cycle from which on the warp can issue its next instruction; notes what it waits for until then. */
static inline __attribute__((always_inline)) gpc_cycle_t
next_issue(const gpc_issue_t *x)
{
    gpc_warp_t *warp = x->warp;
    const gpc_decoded_t *d = &x->launch->code[warp->top.pc];
    gpc_cycle_t at = warp->not_before;
    bool sleeps = at > x->now + 1;
    if (d->num_waits != 0) {
        gpc_cycle_t ready = last_ready_at(x, d);
        if (ready > at) {
            at = ready;
            sleeps = false;
        }
    }
    x->core->reasons[x->warp_index] = sleeps ? (uint8_t) GPC_STALL_sleep : d->waits_as;
    if ((x->core->memory_next >> x->warp_index & 1u) != (d->group == GPC_GROUP_MEMORY)) {
        x->core->memory_next ^= UINT64_C(1) << x->warp_index;
    }
    warp->state = at == GPC_NEVER ? GPC_WARP_WAITS_REGISTER : GPC_WARP_WAITS_TIME;
    warp->wake_at = at;
    return at;
}

void
gpc_core_settle(gpc_issue_t *x)
{
    gpc_cycle_t at = next_issue(x);
    if (at != GPC_NEVER) {
        wake(x->base->cores, x->base->index, x->warp, x->warp_index, x->now, at);
    }
}

void
gpc_core_settle_issued(gpc_issue_t *x)
{
    if (x->warp->not_before <= x->now) {
        x->warp->not_before = x->now + 1;
    }
    gpc_cycle_t at = next_issue(x);
    if (at != GPC_NEVER) {
        put_in_calendar(x->core, x->warp_index, at);
    }
}

int
gpc_core_block_warp(gpc_issue_t *x, gpc_warp_state_t state, gpc_stall_t reason, gpc_cycle_t until)
{
    gpc_warp_t *warp = x->warp;
    warp->state = (uint8_t) state;
    x->core->reasons[x->warp_index] = (uint8_t) reason;
    warp->wake_at = until;
    if (until != GPC_NEVER) {
        put_in_calendar(x->core, x->warp_index, until);
    }
    GPC_TRY(GPC_OBSERVE(&x->base->cores->tap, WAITS, waits, x->base->index, x->warp_index, (uint8_t) reason));
    return GPC_BLOCKED;
}

int
gpc_cores_wake_warp(gpc_cores_t *self, uint32_t core_index, uint32_t w, gpc_cycle_t at)
{
    gpc_cycle_t now = self->hooks.now(self->hooks.world);
    if (self->parts->launch == NULL || gpc_core_warp(self, core_index, w)->state != GPC_WARP_WAITS_ORDER) {
        return GPC_OK;
    }
    at = at < now ? now : at;
    gpc_core_wake(self, core_index, w, now, at);
    return GPC_OK;
}

/* Takes the warps of the calendar's first cycle. */
static inline uint64_t
take_first(gpc_core_t *core)
{
    gpc_cycle_t at = core->calendar_first;
    uint32_t slot = (uint32_t) (at % GPC_CALENDAR_SLOTS);
    uint64_t warps = core->calendar[slot], left = core->calendar_used & ~(UINT64_C(1) << slot);
    core->calendar[slot] = 0;
    core->calendar_used = left;
    core->calendar_first = left == 0 ? GPC_NEVER : at + gpc_lowest_bit(rotate(left, at));
    return warps;
}

/* Takes the warps from `far` that are due. Out of line: rare. */
__attribute__((noinline)) static uint64_t
take_far(const gpc_core_base_t *base, gpc_cycle_t now)
{
    gpc_core_t *core = base->core;
    gpc_cycle_t next = GPC_NEVER;
    uint64_t due = 0;
    for (uint64_t left = core->far; left != 0; left &= left - 1) {
        gpc_cycle_t at = base->warps[gpc_lowest_bit(left)].wake_at;
        if (at == GPC_NEVER || at <= now) {
            due |= left & -left;
        } else {
            next = at < next ? at : next;
        }
    }
    core->far &= ~due;
    core->far_at = next;
    return due;
}

void
gpc_core_empty_calendar(const gpc_core_base_t *base, gpc_cycle_t now)
{
    gpc_core_t *core = base->core;
    uint64_t due = now >= core->far_at ? take_far(base, now) : 0;
    while (core->calendar_first <= now) {
        due |= take_first(core);
    }
    core->calendar_next = now + 1;
    for (; due != 0; due &= due - 1) {
        uint32_t w = gpc_lowest_bit(due);
        gpc_warp_t *warp = base->warps + w;
        if (warp->wake_at <= now) { /* else another event has woken it earlier */
            make_ready(core, warp, w);
        }
    }
}

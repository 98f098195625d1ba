/* waking.h: when warps can issue their next instructions, and scheduling of cores' cycles. */
#ifndef GPC_CORE_WAKING_H
#define GPC_CORE_WAKING_H

#include "core/state.h"

/* Rebases the core's scoreboards to `now`; registers that are ready stay ready. */
void gpc_core_rebase_scoreboards(gpc_cores_t *self, uint32_t core, gpc_cycle_t now);
/* The warp has a new next instruction, or a register of it is ready: determines when the warp can issue. */
void gpc_core_settle(gpc_issue_t *x);
/* The same of the warp that has issued in this cycle of its core, whose end schedules the next one. */
void gpc_core_settle_issued(gpc_issue_t *x);
/* The warp may issue from cycle `at` on; it becomes ready immediately if at <= now. */
void gpc_core_wake(gpc_cores_t *self, uint32_t core, uint32_t warp, gpc_cycle_t now, gpc_cycle_t at);

/* Schedules the core at `at`, or at the first cycle allowed after it, unless an earlier one is scheduled. */
GPC_MUST_CHECK static inline int
gpc_core_schedule(gpc_cores_t *self, uint32_t core_index, gpc_cycle_t at)
{
    gpc_core_t *core = self->parts->bases[core_index].core;
    if (core->in_cycle) {
        return GPC_OK; /* its end schedules the next one */
    }
    if (at < core->cycle_allowed) {
        at = core->cycle_allowed;
    }
    if (at >= core->cycle_scheduled) {
        return GPC_OK;
    }
    return self->hooks.schedule(self->hooks.world, core_index, at, &core->cycle_scheduled);
}

/* In the load-store queue, for one more instruction. */
static inline bool
gpc_core_has_room(const gpc_cores_t *self, uint32_t core_index)
{
    const gpc_core_t *core = &self->parts->cores[core_index];
    const gpc_pool_t *accesses = &self->parts->accesses[core_index];
    return core->queued < self->machine->load_store_queue &&
           core->in_flight + self->machine->lanes_per_warp <= self->machine->requests_per_core &&
           accesses->state->in_use < accesses->capacity;
}
/* Makes warps that wait for room in the queue ready if there is room. */
GPC_MUST_CHECK static inline int
gpc_core_wake_queue_waiters(gpc_cores_t *self, uint32_t core_index)
{
    gpc_core_t *core = &self->parts->cores[core_index];
    if (core->waits_queue == 0 || !gpc_core_has_room(self, core_index)) {
        return GPC_OK;
    }
    core->ready |= core->waits_queue;
    core->waits_queue = 0;
    return gpc_core_schedule(self, core_index, self->hooks.now(self->hooks.world));
}

/* Puts the warp into a waiting state; returns GPC_BLOCKED. */
int gpc_core_block_warp(gpc_issue_t *x, gpc_warp_state_t state, gpc_stall_t reason, gpc_cycle_t until);

/* Makes the warps of a core ready whose wake-up cycle has come. */
void gpc_core_empty_calendar(const gpc_core_base_t *base, gpc_cycle_t now);
/* The next wake-up cycle in the calendar, or GPC_NEVER. */
static inline gpc_cycle_t
gpc_core_next_in_calendar(const gpc_core_t *core)
{
    return core->calendar_first < core->far_at ? core->calendar_first : core->far_at;
}

#endif

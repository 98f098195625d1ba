/* issue.c: executes one instruction of one warp: control flow here, other instructions in their units. */
#include "core/execute/execute.h"
#include "core/frontend/frontend.h"
#include "core/memory/load_store.h"
#include "core/registers.h"

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
        int status = gpc_core_leave_barriers(x, d);
        status = status == GPC_ISSUED ? gpc_core_query_order(x, d) : status;
        if (status != GPC_ISSUED) {
            return status;
        }
    }
    gpc_warp_end_lanes(x);
    if (warp->live != 0) {
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
            if (status != GPC_ISSUED) {
                return status;
            }
            __attribute__((fallthrough));
        case GPC_GROUP_ALU:
            gpc_core_issue_alu(x, d); /* its only call, so that it is inlined */
            return set_latency(x, d);
        case GPC_GROUP_MOVEMENT:
            gpc_core_issue_movement(x, d);
            return set_latency(x, d);
        case GPC_GROUP_LOCAL:
            status = gpc_core_issue_local(x, d);
            return status != GPC_ISSUED ? status : set_latency(x, d);
        case GPC_GROUP_MEMORY:
            return gpc_core_issue_memory(x, d); /* sets its destination's readiness */
        case GPC_GROUP_SHARED:
            return gpc_core_issue_shared(x, d);
        case GPC_GROUP_FENCE:
            return gpc_core_issue_fence(x, d);
        case GPC_GROUP_BARRIER:
            return gpc_core_issue_barrier(x, d);
        case GPC_GROUP_REPORT:
            return gpc_core_issue_report(x, d);
        case GPC_GROUP_SLEEP:
            issue_sleep(x, d);
            return GPC_ISSUED;
    }
    GPC_UNREACHABLE;
}

GPC_INLINED_BY_LINKER int
gpc_core_issue(gpc_issue_t *x)
{
    gpc_core_t *core = x->core;
    gpc_warp_t *warp = x->warp;
    gpc_cycle_t now = x->now;
    const gpc_decoded_t *d = &x->launch->code[warp->top.pc];
    int status = gpc_is_observed(&x->base->cores->tap, GPC_ON_SELECTED) ? gpc_core_observe_selected(x, d) : 0;
    GPC_TRY(status);
    if (d->unit != GPC_UNIT_NONE && core->unit_free[d->unit] > now) {
        return gpc_core_block_warp(x, GPC_WARP_WAITS_TIME, GPC_STALL_unit, core->unit_free[d->unit]);
    }
    uint32_t active = warp->active; /* a branch changes it */
    bool next = true;
    status = execute(x, d, &next);
    if (status != GPC_ISSUED) {
        return status;
    }
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

/* lanes.h: progress of lanes of one warp that wait for each other, in programs with independent_lanes.
 *
 * A reconvergence stack starves lanes: those that have left a loop wait at its join for those that poll in it. Here a
 * loop that polls yields at its end to the warp's other lanes, one after the other; lanes may wait for others at a
 * WARP_SYNC, and some lanes of a warp may arrive at a barrier before the others, which then run. Lanes that a yield
 * takes away from a join no longer reconverge there, but where the enclosing branch joins, or at the next WARP_SYNC or
 * barrier. */
#ifndef GPC_CORE_LANES_H
#define GPC_CORE_LANES_H

#include "core/state.h"

struct gpc_split {                       /* of a warp */
    gpc_lanes_t waiting;                 /* lanes at a WARP_SYNC that lanes of their masks have not reached */
    gpc_lanes_t arrived;                 /* lanes at a barrier that other lanes of the warp have not reached */
    gpc_lanes_t spinning;                /* the active lanes at the last end of a loop that polls */
    uint32_t rounds;                     /* such ends since these lanes became fewer */
    uint32_t all_rounds;                 /* since other lanes ran */
    uint32_t last;                       /* the lane for which an entry was chosen last */
    uint32_t barrier_pc, barrier, count; /* of the lanes that have arrived */
    gpc_lanes_t masks[GPC_MAX_LANES];    /* of the lanes that wait */
};

static inline gpc_split_t *
gpc_split_of(const gpc_issue_t *x)
{
    return x->launch->splits + (size_t) x->base->index * x->base->cores->machine->warps_per_core + x->warp_index;
}

/* Whether all lanes of the warp that have not ended are active, and none of them has waited for the others. */
static inline bool
gpc_lanes_are_together(const gpc_issue_t *x)
{
    const gpc_split_t *split = gpc_split_of(x);
    return x->warp->top.lanes == x->warp->live && (split->waiting | split->arrived) == 0;
}

/* A WARP_SYNC, or a branch or jump at the end of a loop that polls, which may yield. Sets the program counter. */
GPC_MUST_CHECK int gpc_lanes_issue(gpc_issue_t *x, const gpc_decoded_t *d);
/* After the end of some lanes of the warp, for which others may have waited. */
void gpc_lanes_ended(gpc_issue_t *x);
/* Some lanes are at barrier `id` with a count (0: none). GPC_ISSUED: with them all lanes of the warp are, and
 * gpc_lanes_arrived follows when the warp has arrived. GPC_BLOCKED: other lanes run first. */
GPC_MUST_CHECK int gpc_lanes_arrive(gpc_issue_t *x, const gpc_decoded_t *d, uint32_t id, uint32_t count);
void gpc_lanes_arrived(gpc_issue_t *x);

#endif

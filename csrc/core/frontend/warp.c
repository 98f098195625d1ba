/* warp.c: the reconvergence stack. Only the top entry runs. When it reaches its reconvergence point, the entry below
 * continues there with the lanes of both.
 *
 * An entry has fewer lanes than the one below it, or shares those lanes with one sibling: 2 * lanes entries suffice.
 * lanes.c reorders the entries of independent lanes. */
#include "core/frontend/frontend.h"

gpc_stack_entry_t *
gpc_warp_stack(const gpc_issue_t *x)
{
    return x->base->cores->parts->stacks +
           (size_t) (x->base->index * x->base->cores->machine->warps_per_core + x->warp_index) *
               x->base->cores->parts->stack_entries;
}

void
gpc_warp_pop_finished(gpc_issue_t *x)
{
    gpc_warp_t *warp = x->warp;
    while (warp->depth > 0 && (warp->top.pc == warp->top.reconverge || warp->top.lanes == 0)) {
        warp->top = gpc_warp_stack(x)[--warp->depth];
    }
    warp->active = (uint8_t) gpc_count_bits(warp->top.lanes);
}

void
gpc_warp_branch(gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t taken)
{
    gpc_warp_t *warp = x->warp;
    gpc_lanes_t stay = warp->top.lanes & ~taken;
    if (taken == 0) {
        gpc_warp_go_to(x, warp->top.pc + 1);
        return;
    }
    if (stay == 0) {
        gpc_warp_go_to(x, d->target);
        return;
    }
    x->base->statistics->divergent_branches++;
    gpc_stack_entry_t *stack = gpc_warp_stack(x);
    uint32_t next = warp->top.pc + 1;
    /* No entry for the join if this one ends there: a loop would grow the stack otherwise. */
    if (d->reconverge != warp->top.reconverge || warp->depth == 0) {
        stack[warp->depth] = warp->top;
        stack[warp->depth++].pc = d->reconverge;
    }
    if (next != d->reconverge && d->target != d->reconverge) {
        stack[warp->depth++] = (gpc_stack_entry_t){next, d->reconverge, stay};
    }
    if (d->target != d->reconverge) {
        warp->top = (gpc_stack_entry_t){d->target, d->reconverge, taken};
    } else {
        warp->top = (gpc_stack_entry_t){next, d->reconverge, stay};
    }
    gpc_warp_pop_finished(x);
}

void
gpc_warp_end_lanes(gpc_issue_t *x)
{
    gpc_warp_t *warp = x->warp;
    gpc_lanes_t ended = warp->top.lanes;
    gpc_stack_entry_t *stack = gpc_warp_stack(x);
    for (uint32_t i = 0; i < warp->depth; i++) {
        stack[i].lanes &= ~ended;
    }
    warp->live &= ~ended;
    warp->top.lanes = 0;
    gpc_warp_pop_finished(x);
}

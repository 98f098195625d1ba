/* frontend.h: decoding of a launch, block dispatch and the reconvergence stack. */
#ifndef GPC_CORE_FRONTEND_FRONTEND_H
#define GPC_CORE_FRONTEND_FRONTEND_H

#include "core/state.h"

/* decode.c */
GPC_MUST_CHECK int gpc_core_launch_new(const gpc_cores_t *self, const gpc_launch_t *launch, gpc_core_launch_t **out);
void gpc_core_launch_free(gpc_core_launch_t *self); /* NULL is allowed */

/* ranges.c: finds the arrays of a program with accesses by address. */
GPC_MUST_CHECK int gpc_core_find_ranges(gpc_memory_t *memory, gpc_core_launch_t *launch);

/* polling.c: sets `waits_as` of the instructions that wait for a poll or for an attempt to take a lock. */
GPC_MUST_CHECK int gpc_core_mark_polls(gpc_core_launch_t *launch);

/* observed.c: the observations SELECTED and COUNTED, for a subscriber. */
GPC_MUST_CHECK int gpc_core_observe_selected(const gpc_issue_t *x, const gpc_decoded_t *d);
GPC_MUST_CHECK int gpc_core_observe_counted(gpc_cores_t *self, uint32_t core, uint32_t warp, uint8_t cause,
                                            gpc_cycle_t cycles);

/* warp.c: the reconvergence stack. */
gpc_stack_entry_t *gpc_warp_stack(const gpc_issue_t *x); /* the entries below the top, the lowest one first */
void gpc_warp_branch(gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t taken);
/* Removes entries that have reached their reconvergence point or have no lane left, and counts the active lanes:
 * follows every change of the top's lanes. */
void gpc_warp_pop_finished(gpc_issue_t *x);
void gpc_warp_end_lanes(gpc_issue_t *x); /* the active lanes; the warp continues with other lanes if there are any */

static inline void
gpc_warp_go_to(gpc_issue_t *x, uint32_t pc)
{
    x->warp->top.pc = pc;
    if (pc == x->warp->top.reconverge) {
        gpc_warp_pop_finished(x);
    }
}

/* dispatch.c */
GPC_MUST_CHECK int gpc_core_warp_ended(gpc_issue_t *x);
/* Counts the cycles to `to` in which the core had no block. */
GPC_MUST_CHECK int gpc_core_count_empty(gpc_cores_t *self, uint32_t core_index, gpc_cycle_t to);

/* Blocks of a kernel belong to its dies in contiguous shares: the first one of a die; of the die behind the last, the
 * number of all. */
static inline uint32_t
gpc_first_block_of(const gpc_core_launch_t *launch, uint32_t die)
{
    return launch->dies > 1 ? (uint32_t) (((uint64_t) die * launch->blocks + launch->dies - 1) / launch->dies)
                            : die * launch->blocks;
}

/* kernels.c: adds a kernel, which it owns, to those that have not begun. */
GPC_MUST_CHECK int gpc_core_kernels_add(gpc_cores_t *self, gpc_core_launch_t *kernel);
void gpc_core_kernels_free(gpc_cores_t *self); /* those of the launch */
/* Joins several kernels for observers. */
GPC_MUST_CHECK int gpc_core_kernels_join(gpc_cores_t *self);
uint32_t gpc_core_most_warps(const gpc_cores_t *self); /* of a block */
/* Whether it has not begun, and all that it follows have ended. */
bool gpc_core_may_begin(const gpc_cores_t *self, const gpc_core_launch_t *kernel);

#endif

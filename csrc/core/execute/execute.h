/* execute.h: execution of one instruction of one warp in its unit: GPC_ISSUED, GPC_BLOCKED or an error. */
#ifndef GPC_CORE_EXECUTE_EXECUTE_H
#define GPC_CORE_EXECUTE_EXECUTE_H

#include "core/state.h"

/* arithmetic.c */
void gpc_core_issue_alu(const gpc_issue_t *x, const gpc_decoded_t *d);
/* GPC_ISSUED, or the failure of a lane that divides by 0; the division itself is gpc_core_issue_alu's. */
GPC_MUST_CHECK int gpc_core_check_division(const gpc_issue_t *x, const gpc_decoded_t *d);

/* extended.c: sets its destination's readiness. */
void gpc_core_issue_extended(const gpc_issue_t *x, const gpc_decoded_t *d);

/* movement.c */
void gpc_core_issue_movement(const gpc_issue_t *x, const gpc_decoded_t *d);
GPC_MUST_CHECK int gpc_core_issue_local(gpc_issue_t *x, const gpc_decoded_t *d);
/* Bit l: lane l is active and its operand is not zero. */
gpc_lanes_t gpc_core_lanes_not_zero(const gpc_issue_t *x, const gpc_operand_t *operand);

/* scratchpad.c */
GPC_MUST_CHECK int gpc_core_issue_shared(gpc_issue_t *x, const gpc_decoded_t *d);
/* A subscriber (check=True) to ACCESSED: reports a read of a word that the block has not written. */
GPC_MUST_CHECK int gpc_core_check_written(void *cores, const gpc_observation_t *event);

/* scratchpad_bytes.c: an access by byte offset; *cycles: beyond the first, for bank conflicts. */
GPC_MUST_CHECK int gpc_core_access_scratchpad(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes,
                                              uint32_t *cycles);

/* generic.c */
GPC_MUST_CHECK int gpc_core_issue_generic(gpc_issue_t *x, const gpc_decoded_t *d);

/* sync.c */
GPC_MUST_CHECK int gpc_core_issue_fence(gpc_issue_t *x, const gpc_decoded_t *d);
GPC_MUST_CHECK int gpc_core_issue_barrier(gpc_issue_t *x, const gpc_decoded_t *d);
/* Before the warp's end: completes the barriers that wait for it alone, and have no count; or waits, as a last arrival
 * does. */
GPC_MUST_CHECK int gpc_core_leave_barriers(gpc_issue_t *x, const gpc_decoded_t *d);
/* Whether every warp of the block that has not ended waits at a barrier. */
bool gpc_core_block_stuck(const gpc_cores_t *self, uint32_t core, uint32_t block);
/* Reports the barrier of such a block. */
int gpc_core_fail_barrier(const gpc_cores_t *self, uint32_t core, uint32_t block);

/* reports.c */
GPC_MUST_CHECK int gpc_core_issue_report(const gpc_issue_t *x, const gpc_decoded_t *d);

#endif

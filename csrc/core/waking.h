/* waking.h: when a warp may issue its next instruction, and when its core needs a turn for that. */
#ifndef GPC_CORE_WAKING_H
#define GPC_CORE_WAKING_H

#include "core/state.h"

void gpc_issue_init(gpc_issue_t *x, gpc_cores_t *self, uint32_t core, uint32_t warp, gpc_cycle_t now);
/* The core's scoreboards count from `now` on: what was ready before stays so. */
void gpc_core_rebase_scoreboards(gpc_cores_t *self, uint32_t core, gpc_cycle_t now);
/* The warp has a new next instruction, or a register of it has come: says when it can issue. */
void gpc_core_settle(gpc_issue_t *x);
/* The warp may issue from cycle `at` on, which may be now (then it is ready at once). */
void gpc_core_wake(gpc_cores_t *self, uint32_t core, uint32_t warp, gpc_cycle_t now, gpc_cycle_t at);
GPC_MUST_CHECK int gpc_core_ask_turn(gpc_cores_t *self, uint32_t core, gpc_cycle_t at);
/* The warp waits: an issue that did not happen. */
int gpc_core_block_warp(gpc_issue_t *x, gpc_warp_state_t state, gpc_stall_t reason, gpc_cycle_t until);

/* Makes the warps ready whose cycle has come. */
void gpc_core_empty_calendar(gpc_cores_t *self, uint32_t core, gpc_cycle_t now);
/* The next cycle in which a warp wakes by time; GPC_NEVER: none. */
gpc_cycle_t gpc_core_next_in_calendar(const gpc_core_t *core);

#endif

/* exploration.h: what the explorer adds to its result at the end. */
#ifndef GPC_CHECK_EXPLORATION_H
#define GPC_CHECK_EXPLORATION_H

#include "check/explore/world.h"

/* The cells that controllers of the world have entered, and the roles of its cores. 0 or GPC_ERROR_MEMORY. */
GPC_MUST_CHECK int gpc_exploration_note(gpc_exploration_t *self, const gpc_world_t *world);

#endif

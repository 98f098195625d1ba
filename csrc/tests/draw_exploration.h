/* draw_exploration.h: draws an exploration on standard error, by tools/draw_exploration.py. */
#ifndef GPC_TESTS_DRAW_EXPLORATION_H
#define GPC_TESTS_DRAW_EXPLORATION_H

#include "check/explore/explore.h"

/* Protocol, program, setting, and what was found, in at most `lines` lines; false: the script did not run. */
bool draw_exploration(const gpc_explore_t *what, const gpc_exploration_t *found, uint32_t lines);

#endif

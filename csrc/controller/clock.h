/* clock.h: a core's logical clock: a table over the L1's unit, for clocks that do not wrap around, and its actions.
 *
 *     .tables = {&l1, &gpc_clock_table},
 *     .lease = {.line = .., .clock = GPC_PLACE(td_l1, unit, pts), .tick = GPC_OPTION(OPTION_TICK)},
 *
 * A launch is ordered after those before it: at its begin the clock is the latest of all cores', at least 1 (0 means
 * none). A clock that advances only by what the core reads and writes would let a loop that polls a leased copy spin
 * for ever: it also advances by 1 after each `tick` core cycles.
 */
#ifndef GPC_CONTROLLER_CLOCK_H
#define GPC_CONTROLLER_CLOCK_H

#include "controller/lease.h"

#define GPC_TICK_OPTION(standard, least, most)                                                                         \
    GPC_NUMBER("tick", standard, 0, 1000000000,                                                                        \
               "core cycles after which a core's clock advances by 1, so that spins end; 0: never", 0, least, most)

/* A table over the unit for a core's logical clock: a launch begins at the latest one, and ticks advance it. */
GPC_API extern const gpc_table_t gpc_clock_table;
/* The unit's clock, which its type names in .lease. */
GPC_API uint64_t *gpc_clock_of(const gpc_controller_t *unit);

GPC_API_ACTION(act_await_tick);

#endif

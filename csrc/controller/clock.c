/* clock.c: the table over the L1's unit that advances a logical clock. */
#include "controller/clock.h"

#include "controller/logical.h"

uint64_t *
gpc_clock_of(const gpc_controller_t *unit)
{
    return (uint64_t *) (void *) ((uint8_t *) unit->unit_fields + unit->type->lease.clock - 1);
}

#define CLOCK_STATES(X) X(CLOCK_RUNS, STABLE, "the clock advances by what the core reads and writes")
#define CLOCK_EVENTS(X)                                                                                                \
    X(CLOCK_BEGIN, "a launch begins")                                                                                  \
    X(CLOCK_TICK, "`tick` core cycles have passed")
GPC_FSM(CLOCK, CLOCK_STATES, CLOCK_EVENTS)

GPC_ACTION(act_join_clocks, "clock = the latest one of all cores, at least 1")
{
    uint64_t latest;
    int status = gpc_latest_clock_of_cores(x, &latest);
    gpc_raise_time(gpc_clock_of(x->unit), gpc_later_of(latest, 1));
    return status;
}

GPC_ACTION(act_tick, "clock = clock + 1")
{
    ++*gpc_clock_of(x->unit);
    return GPC_OK;
}

GPC_SHARED_ACTION(act_await_tick, "set a background timer `tick` core cycles ahead")
{
    uint8_t tick = x->unit->type->lease.tick;
    gpc_cycle_t period = tick ? (gpc_cycle_t) x->unit->options[tick - 1] : 0;
    return period ? x->unit->ports->wake_at(x->unit->world, x->unit, gpc_now(x) + period, GPC_NEVER, 0,
                                            GPC_TIMER_BACKGROUND)
                  : GPC_OK;
}

static const gpc_cell_t clock_table[CLOCK_NUM_STATES][CLOCK_NUM_EVENTS] = {
    [CLOCK_RUNS] = {[CLOCK_BEGIN] = GO(CLOCK_RUNS, act_join_clocks, act_await_tick),
                    [CLOCK_TICK] = GO(CLOCK_RUNS, act_tick, act_await_tick)},
};

const gpc_table_t gpc_clock_table = {GPC_TABLE("L1.clock", OVER_UNIT, CLOCK, clock_table, NULL),
                                     .causes = {ON(GPC_MSG_KERNEL_BEGIN, CLOCK_BEGIN), ON(GPC_MSG_TIMER, CLOCK_TICK)}};

/* logical.c: rollover of logical timestamps, and the latest clock. */
#include "controller/logical.h"

typedef struct {
    uint8_t core_table, bank_table;
} rollover_t;

static int
roll_over(gpc_controller_t *unit, void *context)
{
    const rollover_t *tables = context;
    bool core = unit->type->position == GPC_AT_CORE;
    return gpc_controller_unit(unit, core ? tables->core_table : tables->bank_table, GPC_MSG_INSTANT, GPC_NONE);
}

int
gpc_roll_over(gpc_step_t *x, uint8_t core_table, uint8_t bank_table)
{
    rollover_t tables = {core_table, bank_table};
    return x->unit->ports->visit(x->unit->world, roll_over, &tables);
}

uint64_t
gpc_latest_clock(const gpc_controller_t *unit)
{
    const gpc_described_t *described = unit->type->unit();
    uint64_t latest = 0;
    for (uint16_t i = 0; i < described->count; i++) {
        const uint8_t *at = (const uint8_t *) unit->unit_fields + described->fields[i].offset;
        if (described->fields[i].kind == GPC_FIELD_LOGICAL) {
            latest = gpc_later_of(latest, *(const uint64_t *) (const void *) at);
        }
    }
    return latest;
}

static int
find_latest(gpc_controller_t *unit, void *latest)
{
    uint64_t *found = latest;
    if (unit->type->position == GPC_AT_CORE) {
        *found = gpc_later_of(*found, gpc_latest_clock(unit));
    }
    return GPC_OK;
}

int
gpc_latest_clock_of_cores(gpc_step_t *x, uint64_t *latest)
{
    *latest = 0;
    return x->unit->ports->visit(x->unit->world, find_latest, latest);
}

/* ---- the table of a bank ---------------------------------------------------------------------------------------- */

#define ROLL_STATES(X)                                                                                                 \
    X(ROLL_RUNS, STABLE, "requests are taken")                                                                         \
    X(ROLL_STALLS, TRANSIENT_COHERENCE, "a rollover: requests wait until RESUME")
#define ROLL_EVENTS(X)                                                                                                 \
    X(ROLL_BEGIN, "a rollover begins")                                                                                 \
    X(ROLL_BEGIN_SHORT, "a rollover that stalls for no cycle")                                                         \
    X(ROLL_RESUME, "RESUME: the L1s have been flushed")
GPC_FSM(ROLL, ROLL_STATES, ROLL_EVENTS)

static gpc_cycle_t
stall_of(const gpc_step_t *x)
{
    uint8_t option = x->unit->type->lease.stall;
    return option ? (gpc_cycle_t) x->unit->options[option - 1] : 0;
}

static gpc_event_id_t
roll_classify(const gpc_step_t *x)
{
    return x->cause != GPC_MSG_INSTANT ? GPC_NO_EVENT : stall_of(x) ? ROLL_BEGIN : ROLL_BEGIN_SHORT;
}

GPC_ACTION(act_begin_epoch, "all timestamps of the partition are 0 of the next epoch")
{
    gpc_epoch_unit(x->unit)->epoch = gpc_next_epoch(x->unit, gpc_epoch_unit(x->unit)->epoch);
    return GPC_OK;
}

GPC_ACTION(act_await_resume, "set a timer for RESUME")
{
    gpc_cycle_t at = gpc_now(x) + stall_of(x);
    return x->unit->ports->wake_at(x->unit->world, x->unit, at, GPC_NEVER, 0, GPC_TIMER_NEEDED);
}

static const gpc_cell_t roll_table[ROLL_NUM_STATES][ROLL_NUM_EVENTS] = {
    [ROLL_RUNS] = {[ROLL_BEGIN] = GO(ROLL_STALLS, act_begin_epoch, act_await_resume),
                   [ROLL_BEGIN_SHORT] = GO(ROLL_RUNS, act_begin_epoch)},
    /* no request advances a timestamp, and a fill's lease fits into the new epoch: no second rollover begins */
    [ROLL_STALLS] = {[ROLL_RESUME] = GO(ROLL_RUNS)},
};

const gpc_table_t gpc_rollover_table = {GPC_TABLE("L2.rollover", OVER_UNIT, ROLL, roll_table, roll_classify),
                                        .causes = {ON(GPC_MSG_TIMER, ROLL_RESUME)}};

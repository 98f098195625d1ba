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

GPC_SHARED_ACTION(act_begin_epoch, "all timestamps of the partition are 0 of the next epoch")
{
    gpc_epoch_unit(x->unit)->epoch = gpc_next_epoch(x->unit, gpc_epoch_unit(x->unit)->epoch);
    return GPC_OK;
}

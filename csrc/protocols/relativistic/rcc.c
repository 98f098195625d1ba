/* rcc.c: options and monitors of RCC-SC and RCC-WO. */
#include "protocols/relativistic/rcc.h"

#include <string.h>

/* ---- options ----------------------------------------------------------------------------------------------------- */

void
rcc_derive(const gpc_machine_t *machine, int64_t *options)
{
    options[RCC_OPTION_ROLLOVER_STALL] = gpc_rollover_cycles(machine);
}

int
rcc_check(const gpc_machine_t *machine, const int64_t *options, gpc_failure_t *failure)
{
    int64_t tick = options[RCC_OPTION_TICK];
    (void) machine;
    if (tick == 0 || tick >= RCC_SHORTEST_TICK) {
        return GPC_OK;
    }
    return gpc_fail(failure, GPC_ERROR_OPTION, "rcc: tick %lld is too short: set it to 0 (never), or to %d or more",
                    (long long) tick, RCC_SHORTEST_TICK);
}

/* ---- monitors ---------------------------------------------------------------------------------------------------- */

/* The way of a line that the bank has; a reserved way has no times yet. */
static gpc_index_t
present_at(const gpc_controller_t *bank, gpc_address_t line)
{
    gpc_index_t way = gpc_tags_find(&bank->arrays[0], line);
    return way == GPC_NONE || bank->arrays[0].tags[way].mshr != GPC_NONE ? GPC_NONE : way;
}

uint64_t
rcc_leased(const gpc_controller_t *bank, gpc_address_t line)
{
    gpc_index_t way = present_at(bank, line);
    uint64_t mnow = rcc_l2_unit(bank)->mnow;
    return way != GPC_NONE ? rcc_l2_line_at(bank, 0, way)->exp : mnow ? mnow - 1 : 0;
}

/* A write raises ver beyond every lease: a copy that any lease of the line's version covers has the line's words.
 * Renewals rely on it. */
int
rcc_monitor(const gpc_units_t *units, gpc_address_t line)
{
    if (line == GPC_NEVER) {
        return GPC_OK;
    }
    const gpc_tags_t *tags = &units->bank->arrays[0];
    gpc_index_t way = present_at(units->bank, line), copy;

    for (uint32_t i = 0; i < units->num_cores && way != GPC_NONE; i++) {
        gpc_controller_t *core = units->cores[i];
        copy = gpc_tags_find(&core->arrays[0], line);
        if (copy != GPC_NONE && gpc_lease_at(core, copy) > rcc_l2_line_at(units->bank, 0, way)->ver &&
            memcmp(gpc_tags_words(&core->arrays[0], copy), gpc_tags_words(tags, way), 4 * tags->line_words) != 0) {
            return gpc_violated(core, line, "a copy whose lease exceeds the line's version has the line's words",
                                "L1 %u has others", i);
        }
    }
    return GPC_OK;
}

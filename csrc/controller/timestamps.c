/* timestamps.c: leases given, and timers for their end. */
#include "controller/timestamps.h"

void
gpc_extend_lease_from(gpc_step_t *x, uint64_t *timestamp, uint64_t reader, uint64_t lifetime)
{
    uint64_t end = gpc_later(x->unit, reader, lifetime);
    gpc_count(x, leases);
    x->unit->statistics->lease_cycles += lifetime;
    x->unit->statistics->leases_cut += end < reader + lifetime;
    gpc_raise_time(timestamp, end);
}

int
gpc_wake_line_at(gpc_step_t *x, gpc_cycle_t at)
{
    return x->unit->ports->wake_at(x->unit->world, x->unit, at, x->line, 0, GPC_TIMER_NEEDED);
}

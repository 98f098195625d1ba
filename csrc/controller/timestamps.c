/* timestamps.c: leases given, and timers for their end. */
#include "controller/timestamps.h"

void
gpc_extend_lease(gpc_step_t *x, gpc_cycle_t *timestamp, uint64_t lifetime)
{
    gpc_cycle_t end = gpc_later(x->unit, gpc_now(x), lifetime);
    gpc_count(x, leases);
    x->unit->statistics->lease_cycles += lifetime;
    x->unit->statistics->leases_cut += end < gpc_now(x) + lifetime;
    gpc_raise_time(timestamp, end);
}

int
gpc_wake_line_at(gpc_step_t *x, gpc_cycle_t at)
{
    return x->unit->ports->wake_at(x->unit->world, x->unit, at, x->line, 0, GPC_TIMER_NEEDED);
}

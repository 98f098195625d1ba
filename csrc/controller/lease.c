/* lease.c: declared leases, for replacement and for monitors. */
#include "controller/lease.h"

uint64_t
gpc_lease_at(const gpc_controller_t *unit, gpc_index_t way)
{
    return gpc_at_place(gpc_tags_fields(&unit->arrays[0], way), unit->type->lease.line);
}

bool
gpc_awaits_data(const gpc_controller_t *unit, gpc_index_t way)
{
    gpc_index_t mshr = unit->arrays[0].tags[way].mshr;
    if (mshr == GPC_NONE) {
        return false;
    }
    const gpc_mshr_t *entry = gpc_mshr_at(&unit->mshrs, mshr);
    return unit->type->tables[entry->table]->states[entry->state].kind == GPC_TRANSIENT_CACHE;
}

static uint64_t
larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

uint64_t
gpc_leased_at(const gpc_controller_t *bank, gpc_address_t line)
{
    const gpc_lease_info_t *info = &bank->type->lease;
    gpc_index_t way = gpc_tags_find(&bank->arrays[0], line), mshr = gpc_mshr_find(&bank->mshrs, line);
    bool present = way != GPC_NONE && !gpc_awaits_data(bank, way);
    uint64_t latest = present ? gpc_lease_at(bank, way) : 0;

    if (info->mshr && mshr != GPC_NONE) {
        latest = larger(latest, gpc_at_place(gpc_mshr_fields(&bank->mshrs, mshr), info->mshr));
    }
    return info->unit && !present ? larger(latest, gpc_at_place(bank->unit_fields, info->unit)) : latest;
}

uint32_t
gpc_ended_first(const gpc_controller_t *unit, uint8_t array, gpc_index_t way)
{
    (void) array;
    return gpc_lease_at(unit, way) < gpc_lease_clock(unit) ? 0 : 1;
}

GPC_SHARED_ACTION(act_remember_lease, "remember the line's lease as one of all lines evicted")
{
    uint64_t *latest = (uint64_t *) (void *) ((uint8_t *) x->unit->unit_fields + x->unit->type->lease.unit - 1);
    *latest = larger(*latest, gpc_lease(x));
    return GPC_OK;
}

gpc_watched_t
gpc_watched_of(const gpc_protocol_t *protocol)
{
    gpc_watched_t watched = protocol->watched ? *protocol->watched : (gpc_watched_t){0};

    for (uint32_t i = 0; protocol->watched && i < gpc_num_controllers(protocol); i++) {
        const gpc_controller_type_t *type = protocol->controllers[i];
        if (type->position == GPC_AT_CORE && type->lease.line && !watched.lease) {
            watched.lease = gpc_lease_at;
            watched.clock = type->lease.clock ? gpc_lease_clock : NULL;
        }
        if (type->position == GPC_AT_BANK && type->lease.line && !watched.leased) {
            watched.leased = gpc_leased_at;
        }
    }
    return watched;
}

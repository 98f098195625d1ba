/* lease.h: the lease beside a copy, as a declared field. A copy may be read while its reader's time is not past the
 * lease; L1s, L2s and monitors use this one test.
 *
 * A controller type declares where its uint64_t fields are:
 *     .lease = {.line = GPC_PLACE(tc_l2, line, timestamp), .mshr = GPC_PLACE(tc_l2, mshr, timestamp)}
 * The reader's time is the core cycle (fields of kind TIME), or the declared logical clock of the unit (LOGICAL).
 *
 * A table with `.expiry = {.states = 1u << L1_V, .event = L1_EXPIRED_LOAD, .instead = 1u << GPC_MSG_LOAD}` takes a load
 * of a line in state V whose lease has ended as EXPIRED_LOAD. With
 * `.expiry = {.states = 1u << L1_V, .event = L1_EXPIRE}` it takes the event EXPIRE first, before any other event of
 * such a line. Begin and end of a launch, instant causes, EXPIRE itself and the causes that the table excepts come
 * without it.
 */
#ifndef GPC_CONTROLLER_LEASE_H
#define GPC_CONTROLLER_LEASE_H

#include "controller/protocol.h"

static inline uint64_t
gpc_at_place(const void *object, gpc_place_t place)
{
    return *(const uint64_t *) (const void *) ((const uint8_t *) object + place - 1);
}
/* The unit's time: its logical clock if it declares one, else the core cycle. */
static inline uint64_t
gpc_lease_clock(const gpc_controller_t *unit)
{
    gpc_place_t clock = unit->type->lease.clock;
    return clock ? gpc_at_place(unit->unit_fields, clock) : unit->ports->now(unit->world);
}
/* The lease beside the line, or that of the evicted line in x's transaction. */
static inline uint64_t
gpc_lease(const gpc_step_t *x)
{
    const gpc_lease_info_t *info = &x->unit->type->lease;
    return x->way != GPC_NONE ? gpc_at_place(gpc_line_fields(x), info->line)
                              : gpc_at_place(gpc_step_mshr_fields(x), info->mshr);
}
static inline bool
gpc_lease_ended(const gpc_step_t *x)
{
    return gpc_lease(x) < gpc_lease_clock(x->unit);
}
/* Whether the way of array 0 is reserved for data that have not arrived. */
bool gpc_awaits_data(const gpc_controller_t *unit, gpc_index_t way);
/* The lease of the way of array 0. */
GPC_API uint64_t gpc_lease_at(const gpc_controller_t *unit, gpc_index_t way);
/* The latest lease of the line that the bank knows: beside the line, in its transaction, else the latest of all lines
 * evicted. */
GPC_API uint64_t gpc_leased_at(const gpc_controller_t *bank, gpc_address_t line);
/* A type's victim_rank: lines whose lease has ended are replaced first. */
GPC_API uint32_t gpc_ended_first(const gpc_controller_t *unit, uint8_t array, gpc_index_t way);
/* The bank remembers the line's lease: `.unit` is at least `.line`. */
GPC_API_ACTION(act_remember_lease);
/* The protocol's promises, with the functions that follow from declared leases where it names none. */
gpc_watched_t gpc_watched_of(const gpc_protocol_t *protocol);

#endif

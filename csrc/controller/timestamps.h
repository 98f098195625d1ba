/* timestamps.h: leases and other times of the machine's timestamp_bits bits, for protocols that keep_time.
 *
 * A timestamp is kept as the core cycle at which it ends: its low timestamp_bits bits are what hardware stores, the
 * bits above them say how often the counter has begun again (the epoch). No timestamp lies beyond its epoch's last
 * cycle, so all leases end when the counter begins again, and an older epoch's timestamp is smaller than now whatever
 * its low bits are.
 */
#ifndef GPC_CONTROLLER_TIMESTAMPS_H
#define GPC_CONTROLLER_TIMESTAMPS_H

#include "controller/protocol.h"

static inline gpc_cycle_t
gpc_now_at(const gpc_controller_t *unit)
{
    return unit->ports->now(unit->world);
}
/* L1s, L2s and fences use the same test: a copy may be read in the cycle of its timestamp. */
static inline bool
gpc_expired(const gpc_step_t *x, gpc_cycle_t timestamp)
{
    return timestamp < gpc_now(x);
}
/* The largest value of the counter and of timestamps. */
static inline gpc_cycle_t
gpc_longest_time(const gpc_machine_t *machine)
{
    return (UINT64_C(1) << machine->timestamp_bits) - 1;
}
/* The last one of the timestamp's epoch. */
static inline gpc_cycle_t
gpc_last_time(const gpc_controller_t *unit, gpc_cycle_t timestamp)
{
    return timestamp | gpc_longest_time(unit->machine);
}
/* The timestamp plus `cycles`, at most the last one of its epoch. */
static inline gpc_cycle_t
gpc_later(const gpc_controller_t *unit, gpc_cycle_t timestamp, uint64_t cycles)
{
    gpc_cycle_t last = gpc_last_time(unit, timestamp);
    return cycles < last - timestamp ? timestamp + cycles : last;
}
/* It is at least this late. */
static inline void
gpc_raise_time(gpc_cycle_t *time, gpc_cycle_t least)
{
    *time = *time > least ? *time : least;
}
/* The lease lasts at least `lifetime` from the reader's time (now, or logical), in its epoch; counted as given to a
 * load. */
GPC_API void gpc_extend_lease_from(gpc_step_t *x, uint64_t *timestamp, uint64_t reader, uint64_t lifetime);
static inline void
gpc_extend_lease(gpc_step_t *x, gpc_cycle_t *timestamp, uint64_t lifetime)
{
    gpc_extend_lease_from(x, timestamp, gpc_now(x), lifetime);
}
/* A TIMER for x's line at the core cycle. */
GPC_API GPC_MUST_CHECK int gpc_wake_line_at(gpc_step_t *x, gpc_cycle_t at);

#endif

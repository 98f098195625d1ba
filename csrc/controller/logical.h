/* logical.h: logical timestamps of the machine's timestamp_bits bits, for protocols with `.logical_time`: epochs,
 * wrap-around, rollover.
 *
 * A time has 64 bits: its low timestamp_bits bits are what hardware stores, those above them the epoch. The fields of a
 * bank's unit begin with GPC_EPOCH_UNIT (asserted by GPC_KEEPS_EPOCH). A step that would set a time beyond the epoch
 * (gpc_wraps) first causes a rollover (gpc_roll_over): every controller takes INSTANT, at which a bank begins the next
 * epoch (gpc_rollover_table) and a core raises its clocks to it (gpc_next_epoch), which ends all of its leases. At a
 * bank, times of an older epoch are the epoch's first: hardware has 0.
 */
#ifndef GPC_CONTROLLER_LOGICAL_H
#define GPC_CONTROLLER_LOGICAL_H

#include "controller/metadata.h"
#include "controller/timestamps.h"

#define GPC_EPOCH_UNIT(FIELD) FIELD(LOGICAL, uint64_t, epoch) /* its first time, which is 0 in hardware */
GPC_METADATA(gpc_epoch, unit, GPC_EPOCH_UNIT)
#define GPC_KEEPS_EPOCH(owner) GPC_SAME_PLACE(owner##_unit_t, gpc_epoch_unit_t, epoch)

static inline uint64_t
gpc_later_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}
/* The time, or the first one of the bank's epoch. */
static inline uint64_t
gpc_in_epoch(const gpc_controller_t *bank, uint64_t time)
{
    return gpc_later_of(time, gpc_epoch_unit(bank)->epoch);
}
/* Whether the time exceeds the bank's epoch. */
static inline bool
gpc_wraps(const gpc_step_t *x, uint64_t time)
{
    return time > gpc_last_time(x->unit, gpc_epoch_unit(x->unit)->epoch);
}
/* The first time of the epoch after that of `time`. */
static inline uint64_t
gpc_next_epoch(const gpc_controller_t *unit, uint64_t time)
{
    return gpc_last_time(unit, time) + 1;
}
/* The lease, at most half the range of timestamps: a longer one would begin an epoch with every second write. */
static inline uint64_t
gpc_fitting_lease(const gpc_controller_t *unit, uint64_t lease)
{
    uint64_t longest = (gpc_longest_time(unit->machine) + 1) / 2;
    return lease < longest ? lease : longest;
}
/* A bank's table for rollovers, over its unit. It begins an epoch at INSTANT, and then leaves its first state for as
 * many core cycles as the option `.lease.stall` says:
 *
 *     .tables = {&l2, &gpc_rollover_table},
 *     .lease = {.., .stall = GPC_OPTION(OPTION_ROLLOVER_STALL)},
 *
 * Meanwhile the protocol serves no request: gpc_is_rolling_over(x->unit, 1). */
GPC_API extern const gpc_table_t gpc_rollover_table;
static inline bool
gpc_is_rolling_over(const gpc_controller_t *bank, uint8_t table)
{
    return bank->unit_states[table] != 0;
}
/* The stall if a message passes a ring of all partitions twice, and the L1s answer one. */
static inline int64_t
gpc_rollover_cycles(const gpc_machine_t *machine)
{
    return (int64_t) 2 * machine->partitions + machine->l2_round_trip;
}
/* Gives INSTANT to these tables, over the unit, of every core and of every other controller. */
GPC_API GPC_MUST_CHECK int gpc_roll_over(gpc_step_t *x, uint8_t core_table, uint8_t bank_table);
/* The latest LOGICAL field of the unit; of all cores: a launch begins at that time. */
GPC_API uint64_t gpc_latest_clock(const gpc_controller_t *unit);
GPC_API GPC_MUST_CHECK int gpc_latest_clock_of_cores(gpc_step_t *x, uint64_t *latest);

#endif

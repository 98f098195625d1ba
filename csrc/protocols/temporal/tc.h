/* tc.h: shared by TC-Strong and TC-Weak: leases beside lines, and the actions of their L1s and L2s.
 *
 * Paper    Singh et al., HPCA 2013, section 6: a copy is readable until its timestamp; the L2 keeps the latest
 *          timestamp that it has given out for a line; leases self-invalidate, without messages.
 * Time     core cycles of one counter that all controllers share. A timestamp below it has expired, for L1, L2 and
 *          fences alike.
 * Rollover section 6.5: counter and timestamps have timestamp_bits bits (table 4: 32; 4 bytes in messages whatever the
 *          width). When the counter wraps around, L1s flash-invalidate. Inferred: all leases end then, at L1s, L2s and
 *          in GWCTs, since no timestamp exceeds the counter's last value; data in flight counts as expired.
 *          timestamps.h keeps the epoch (how often the counter has wrapped around) above a timestamp's bits: the
 *          generation number that makes a flash invalidation take no time.
 */
#ifndef GPC_PROTOCOLS_TEMPORAL_TC_H
#define GPC_PROTOCOLS_TEMPORAL_TC_H

#include "protocols/baseline/baseline.h"
#include "protocols/public_sizes.h"

/* Both protocols' lists begin with baseline.h's messages, so its actions apply. */
#define TC_NETWORKS BASELINE_NETWORKS

#define TC_MESSAGE(FIELD)                                                                    \
    FIELD(TIME, uint64_t, timestamp) /* of the sender's copy, or the end of the new lease */ \
    FIELD(TIME, uint64_t, gwct)      /* when the write is globally visible */
GPC_METADATA(tc, message, TC_MESSAGE)

/* GPC_ERROR_OPTION if the lifetime does not fit into the machine's timestamps. */
GPC_MUST_CHECK int tc_check_lifetime(const char *id, const gpc_machine_t *machine, int64_t lifetime,
                                     gpc_failure_t *failure);

/* ---- L1 ---------------------------------------------------------------------------------------------------------- */

/* First states and events of both tables: one classifier serves both. The meaning of VM differs. */
#define TC_L1_STATES(X, vm)                                                                \
    X(L1_I, STABLE, "not present, or expired")                                             \
    X(L1_V, STABLE, "present, readable until its timestamp")                               \
    X(L1_IV, TRANSIENT_CACHE, "read miss outstanding; later loads merge")                  \
    X(L1_II, TRANSIENT_CACHE, "requests outstanding; no copy is readable or will be kept") \
    X(L1_VM, TRANSIENT_COHERENCE, vm)
#define TC_L1_EVENTS(X)                                                                 \
    X(L1_LOAD, "coalesced load of a warp")                                              \
    X(L1_STORE, "coalesced store of a warp, with its word mask")                        \
    X(L1_ATOMIC, "atomic read-modify-writes with their lane list, performed at the L2") \
    X(L1_BEHIND, "access that would overtake a merged load of its warp")                \
    X(L1_EVICT, "way chosen for replacement")                                           \
    X(L1_EXPIRE, "lease expired (precedes any other event)")                            \
    X(L1_READ, "data of a load; other requests outstanding")                            \
    X(L1_LAST_READ, "data of a load; last request outstanding")                         \
    X(L1_READ_EXPIRED, "data expired in flight; no load issued after its timestamp")                      \
    X(L1_READ_AGAIN, "data expired in flight; merged loads issued after its timestamp")

/* The numbers that tc.c uses, as in baseline.h. */
#define TC_NUMBER_(name, ...) tc_##name,
#define TC_SAME(name, ...) GPC_SAME_NUMBER(name, tc_##name);
enum { TC_L1_STATES(TC_NUMBER_, "") };
enum { TC_L1_EVENTS(TC_NUMBER_) };

/* One of these events; GPC_NO_EVENT for any other cause: answers to stores and atomics. */
gpc_event_id_t tc_l1_classify(const gpc_step_t *x);
/* An ended lease changes no eviction: in VM the way remains reserved for the outstanding stores. */
#define TC_L1_EXPIRY \
    .causes = {ON(GPC_MSG_EVICT, L1_EVICT)}, .expiry = {.states = 1u << L1_V | 1u << L1_VM, .event = L1_EXPIRE, .except = 1u << GPC_MSG_EVICT}

#define TC_L1_LINE(FIELD) FIELD(TIME, gpc_cycle_t, timestamp)
GPC_METADATA(tc_l1, line, TC_L1_LINE)
#define TC_L1_LEASE .lease = {.line = GPC_PLACE(tc_l1, line, timestamp)}, .victim_rank = gpc_ended_first

/* For gpc_protocol_t: the data of an answer serves a load that issued no later than its timestamp, as a copy would
 * have. */
bool tc_serves(const gpc_msg_t *answer, const gpc_msg_t *load);
/* Whether a load of the same warp has merged with another warp's. If that read's data arrives expired, the load is
 * requested again and must not return the value of this store or atomic, nor a newer value than a later load that was
 * requested separately (litmus test CoRR+merged). Such accesses wait until the line's outstanding requests are complete
 * (coherence; found by the random tester). */
bool tc_is_behind_merged(const gpc_step_t *x);
/* Sends `type` for the current request, with a timestamp; the request becomes pending. */
GPC_MUST_CHECK int tc_send_timed(gpc_step_t *x, uint8_t type, gpc_cycle_t timestamp);

GPC_DECLARE_ACTION(act_note_expired_miss);
GPC_DECLARE_ACTION(tc_act_request_line);
GPC_DECLARE_ACTION(tc_act_fill);
GPC_DECLARE_ACTION(act_request_again);

/* ---- L2 ---------------------------------------------------------------------------------------------------------- */

/* First states and events of both tables. */
#define TC_L2_STATES(X)                                                            \
    X(L2_I, STABLE, "not present")                                                 \
    X(L2_P, STABLE, "at most one unexpired copy: the one with the L2's timestamp") \
    X(L2_S, STABLE, "unexpired copies may exist")                                  \
    X(L2_E, STABLE, "present, every lease expired")                                \
    X(L2_IS, TRANSIENT_CACHE, "fetch for loads outstanding; later loads merge")    \
    X(L2_IM, TRANSIENT_CACHE, "fetch for one store or atomic outstanding")         \
    X(L2_MI, TRANSIENT_COHERENCE, "evicted, lease unexpired")
#define TC_L2_EVENTS(X)                                                                  \
    X(L2_GETS, "read request")                                                           \
    X(L2_GETX, "store")                                                                  \
    X(L2_ATOMIC, "atomic")                                                               \
    X(L2_EVICT_CLEAN, "way chosen for replacement; memory is up to date")                \
    X(L2_EVICT_DIRTY, "way chosen for replacement; memory is stale")                     \
    X(L2_EXPIRE, "lease expired (precedes any other event)")                             \
    X(L2_FILL, "fill from memory, for one load; no unexpired lease")                     \
    X(L2_FILL_SHARED, "fill from memory, for several loads or under an unexpired lease") \
    X(L2_FILL_STORE, "fill from memory, for a store; no unexpired lease")                \
    X(L2_FILL_ATOMIC, "fill from memory, for an atomic; no unexpired lease")

enum { TC_L2_STATES(TC_NUMBER_) };
enum { TC_L2_EVENTS(TC_NUMBER_) };

#define TC_L2_LINE(FIELD) GPC_WRITER_LINE(FIELD) FIELD(TIME, gpc_cycle_t, timestamp) /* end of the latest lease */
#define TC_L2_MSHR(FIELD) FIELD(TIME, gpc_cycle_t, timestamp)                         /* of the evicted line */
GPC_METADATA(tc_l2, line, TC_L2_LINE)
GPC_METADATA(tc_l2, mshr, TC_L2_MSHR)

GPC_KEEPS_DIRTY(tc_l2);
#define TC_L2_LEASE                                                                                                    \
    .lease = {.line = GPC_PLACE(tc_l2, line, timestamp), .mshr = GPC_PLACE(tc_l2, mshr, timestamp)},                   \
    .victim_rank = gpc_ended_first
#define TC_L2_EXPIRY .expiry = {.states = 1u << L2_P | 1u << L2_S | 1u << L2_MI, .event = L2_EXPIRE}

/* Notes that the store or atomic is performed, and answers it with `type` and a GWCT. */
GPC_MUST_CHECK int tc_answer_writer(gpc_step_t *x, uint8_t type, gpc_cycle_t gwct);

GPC_DECLARE_ACTION(tc_act_fill_line);
GPC_DECLARE_ACTION(tc_act_answer);
GPC_DECLARE_ACTION(tc_act_answer_all);
GPC_DECLARE_ACTION(act_keep_lease);

/* For gpc_controller_type_t: when an evicted lease expires. */
gpc_cycle_t tc_lease_end(const gpc_controller_t *unit, gpc_index_t mshr);

/* For monitors: a private line has no second unexpired copy. */
GPC_MUST_CHECK int tc_check_private(gpc_controller_t *const *cores, uint32_t num_cores, gpc_controller_t *bank,
                                    gpc_address_t line, uint8_t private_state);

/* A host write drops all copies and ends the line's lease. */
int tc_host_write(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, const uint32_t *words);

#endif

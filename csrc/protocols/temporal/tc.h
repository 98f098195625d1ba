/* tc.h: what TC-Strong and TC-Weak share: leases beside lines, and the actions of an L1 and an L2 that keep them.
 *
 * Paper    Singh et al., HPCA 2013, section 6: a copy is readable until its timestamp, the L2 keeps the largest timestamp that it
 *          has given out for a line, nobody is told when a copy ends.
 * Time     core cycles of one counter that all see alike. A timestamp below it has expired; L1, L2 and fences use the same test.
 * Rollover section 6.5: counter and timestamps have timestamp_bits bits (table 4: 32; 4 bytes in messages whatever the width). When
 *          the counter begins again, L1s flash-invalidate. Inferred: all leases end then, at L1s, L2s and in GWCTs, since no
 *          timestamp lies beyond the counter's last value; data on its way counts as expired. The epoch that
 *          timestamps.h keeps above a timestamp's bits is the generation by which a flash invalidation takes no time.
 */
#ifndef GPC_PROTOCOLS_TEMPORAL_TC_H
#define GPC_PROTOCOLS_TEMPORAL_TC_H

#include "protocols/baseline/baseline.h"

/* Both protocols' lists begin with baseline.h's messages: its actions serve here too. */
#define TC_NETWORKS BASELINE_NETWORKS

#define TC_MESSAGE(FIELD)                                                                                              \
    FIELD(TIME, uint64_t, timestamp) /* of the sender's copy, or the end of the lease that is given */                 \
    FIELD(TIME, uint64_t, gwct)      /* when the write is visible everywhere */
GPC_METADATA(tc, message, TC_MESSAGE)

/* GPC_ERROR_OPTION when leases so long do not fit into the machine's timestamps. */
GPC_MUST_CHECK int tc_check_lifetime(const char *id, const gpc_machine_t *machine, int64_t lifetime,
                                     gpc_failure_t *failure);

/* ---- L1 -------------------------------------------------------------------------------------------------------------- */

/* What both tables begin with, so that one classifier serves them. VM: what it means differs. */
#define TC_L1_STATES(X, vm)                                                                                            \
    X(L1_I, STABLE, "not present, or expired")                                                                         \
    X(L1_V, STABLE, "readable until its timestamp")                                                                    \
    X(L1_IV, TRANSIENT_CACHE, "read miss outstanding; later loads merge into it")                                      \
    X(L1_II, TRANSIENT_CACHE, "requests outstanding, nothing readable, nothing will be kept")                          \
    X(L1_VM, TRANSIENT_COHERENCE, vm)
#define TC_L1_EVENTS(X)                                                                                                \
    X(L1_LOAD, "a warp's coalesced load")                                                                              \
    X(L1_STORE, "a warp's coalesced store, with its word mask")                                                        \
    X(L1_ATOMIC, "read-modify-writes with their lane list, performed at the L2")                                       \
    X(L1_BEHIND, "an access that would overtake its warp's load, merged with another's")                               \
    X(L1_EVICT, "the replacement policy wants this way")                                                               \
    X(L1_EXPIRE, "the timestamp has passed (looked at before any other event)")                                        \
    X(L1_READ, "data of a load, other requests outstanding")                                                           \
    X(L1_LAST_READ, "data of a load, the last request outstanding")                                                    \
    X(L1_READ_EXPIRED, "data that has expired on its way, for the one load of a read miss")                            \
    X(L1_READ_AGAIN, "data that has expired on its way, and later loads have merged")

/* What tc.c takes their numbers for, as in baseline.h. */
#define TC_NUMBER_(name, ...) tc_##name,
#define TC_SAME(name, ...) GPC_SAME_NUMBER(name, tc_##name);
enum { TC_L1_STATES(TC_NUMBER_, "") };
enum { TC_L1_EVENTS(TC_NUMBER_) };

/* One of these events; GPC_NO_EVENT for a cause that is none of theirs: the answers to stores and atomics. */
gpc_event_id_t tc_l1_classify(const gpc_step_t *x);

#define TC_L1_LINE(FIELD) FIELD(TIME, gpc_cycle_t, timestamp)
GPC_METADATA(tc_l1, line, TC_L1_LINE)

/* Pending requests that the answer in hand serves: a load and those merged with it, or one. */
uint32_t tc_served(const gpc_step_t *x);
/* A load of the same warp has merged with another's. If that read's data comes expired it asks again, and must not find this store
 * or atomic then, nor more than a later load that has asked by itself (litmus test CoRR+merged): so these wait until the line's
 * open requests are over (coherence; found by the random tester). */
bool tc_is_behind_merged(const gpc_step_t *x);
/* `type` for the request in hand, with a timestamp; the request is then pending. */
GPC_MUST_CHECK int tc_send_timed(gpc_step_t *x, uint8_t type, gpc_cycle_t timestamp);

GPC_DECLARE_ACTION(act_note_expired_miss); /* the load in hand misses because the copy has expired */
GPC_DECLARE_ACTION(tc_act_request_line);
GPC_DECLARE_ACTION(tc_act_fill);       /* the answer's line and lease */
GPC_DECLARE_ACTION(act_request_again); /* the merged loads ask again, together */

/* ---- L2 -------------------------------------------------------------------------------------------------------------- */

/* What both tables begin with, as above. */
#define TC_L2_STATES(X)                                                                                                \
    X(L2_I, STABLE, "not present")                                                                                     \
    X(L2_P, STABLE, "at most one unexpired copy: the one with our timestamp")                                          \
    X(L2_S, STABLE, "unexpired copies")                                                                                \
    X(L2_E, STABLE, "present, every lease over")                                                                       \
    X(L2_IS, TRANSIENT_CACHE, "fetching for loads; later loads join")                                                  \
    X(L2_IM, TRANSIENT_CACHE, "fetching for one store or atomic")                                                      \
    X(L2_MI, TRANSIENT_COHERENCE, "evicted, its timestamp still alive")
#define TC_L2_EVENTS(X)                                                                                                \
    X(L2_GETS, "a load's request")                                                                                     \
    X(L2_GETX, "a store")                                                                                              \
    X(L2_ATOMIC, "an atomic")                                                                                          \
    X(L2_EVICT_CLEAN, "the replacement wants the way; memory has the data")                                            \
    X(L2_EVICT_DIRTY, "the replacement wants the way; memory is behind")                                               \
    X(L2_EXPIRE, "the timestamp has passed (looked at before any other event)")                                        \
    X(L2_FILL, "memory's answer for one load, no old lease alive")                                                     \
    X(L2_FILL_SHARED, "memory's answer for several loads, or beside an old lease")                                     \
    X(L2_FILL_STORE, "memory's answer for a store, no old lease alive")                                                \
    X(L2_FILL_ATOMIC, "memory's answer for an atomic, no old lease alive")

enum { TC_L2_STATES(TC_NUMBER_) };
enum { TC_L2_EVENTS(TC_NUMBER_) };

/* EXPIRE and evictions; GPC_NO_EVENT for requests and memory's answers. */
gpc_event_id_t tc_l2_classify(const gpc_step_t *x);

#define TC_L2_LINE(FIELD) GPC_WRITER_LINE(FIELD) FIELD(TIME, gpc_cycle_t, timestamp) /* the latest lease given out */
#define TC_L2_MSHR(FIELD) FIELD(TIME, gpc_cycle_t, timestamp)                         /* of the line that was evicted */
GPC_METADATA(tc_l2, line, TC_L2_LINE)
GPC_METADATA(tc_l2, mshr, TC_L2_MSHR)

GPC_KEEPS_DIRTY(tc_l2);

/* The writer is performed, and answered with `type` and a GWCT. */
GPC_MUST_CHECK int tc_answer_writer(gpc_step_t *x, uint8_t type, gpc_cycle_t gwct);

GPC_DECLARE_ACTION(tc_act_fill_line); /* memory's line, with the timestamp that the transaction has kept */
GPC_DECLARE_ACTION(tc_act_answer);    /* DATA with the timestamp, to the load in hand */
GPC_DECLARE_ACTION(tc_act_answer_all);
GPC_DECLARE_ACTION(act_keep_lease); /* the way goes, the timestamp stays in the transaction */

/* For gpc_controller_type_t: when an evicted lease may be forgotten; expired lines leave before others. */
gpc_cycle_t tc_lease_end(const gpc_controller_t *unit, gpc_index_t mshr);
uint32_t tc_l2_victim_rank(const gpc_controller_t *unit, uint8_t array, gpc_index_t way);
uint32_t tc_l1_victim_rank(const gpc_controller_t *unit, uint8_t array, gpc_index_t way);

/* For monitors: the ends of leases, and that a line of which one unexpired copy may be has no second one. */
gpc_cycle_t tc_lease(const gpc_controller_t *l1, gpc_index_t way);
gpc_cycle_t tc_leased(const gpc_controller_t *bank, gpc_address_t line);
GPC_MUST_CHECK int tc_check_private(gpc_controller_t *const *cores, uint32_t num_cores, gpc_controller_t *bank,
                                    gpc_address_t line, uint8_t private_state);

/* The host's write waives leases: copies go, and the line's lease is over. */
int tc_host_write(gpc_controller_t *const *cores, uint32_t num_cores, gpc_controller_t *bank, gpc_address_t line,
                  gpc_mask_t mask, const uint32_t *words);

#endif

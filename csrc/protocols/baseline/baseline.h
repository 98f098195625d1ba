/* baseline.h: what the write-through baselines share: their messages, and the actions of an L1 over an L2 that owns the data.
 *
 * Paper    Singh et al., HPCA 2013, section 3.1; message sizes are inferred (the paper gives none): 8-byte header, 4-byte word
 *          mask, 4 bytes a word, 128-byte lines.
 */
#ifndef GPC_PROTOCOLS_BASELINE_BASELINE_H
#define GPC_PROTOCOLS_BASELINE_BASELINE_H

#include "controller/toolkit.h"

#define BASELINE_MESSAGES(X, P)                                                                                       \
    X(P, GETS, REQ, 0, 8, 0, false, "a load wants the line")                                                          \
    X(P, GETX, ST, 0, 12, 4, false, "a store: word mask and words")                                                   \
    X(P, ATOMIC, ATO, 0, 12, 0, false, "read-modify-writes with their operands, performed at the L2")                 \
    X(P, DATA, LD, 1, 8, 0, true, "the line")                                                                         \
    X(P, ACK, ST, 1, 8, 0, false, "the store has been performed")                                                     \
    X(P, ATOMIC_DATA, ATO, 1, 12, 0, false, "the old values; the L1 keeps no line")

GPC_MESSAGES(MSG, BASELINE_MESSAGES)

/* Of a list that begins with those: shared code takes its types for them. */
#define BASELINE_SAME_MESSAGES(prefix)                                                                                \
    GPC_SAME_NUMBER(prefix##_GETS, MSG_GETS);                                                                         \
    GPC_SAME_NUMBER(prefix##_GETX, MSG_GETX);                                                                         \
    GPC_SAME_NUMBER(prefix##_ATOMIC, MSG_ATOMIC);                                                                     \
    GPC_SAME_NUMBER(prefix##_DATA, MSG_DATA);                                                                         \
    GPC_SAME_NUMBER(prefix##_ACK, MSG_ACK);                                                                           \
    GPC_SAME_NUMBER(prefix##_ATOMIC_DATA, MSG_ATOMIC_DATA)

#define BASELINE_NETWORKS                                                                                             \
    {                                                                                                                 \
        {.name = "request", .ordered = true, .requests = true}, {.name = "response", .ordered = true},                \
    }

/* ---- L1 actions ----------------------------------------------------------------------------------------------------------------- */

/* What tables of L1s over lines begin with, so that one classifier serves them. */
#define BASELINE_L1_STATES(X)                                                                                          \
    X(L1_I, STABLE, "not present")                                                                                     \
    X(L1_V, STABLE, "present and readable")                                                                            \
    X(L1_IV, TRANSIENT_CACHE, "read miss outstanding; later loads merge into it")                                      \
    X(L1_II, TRANSIENT_CACHE, "requests outstanding, nothing readable, nothing will be kept")
#define BASELINE_L1_EVENTS(X)                                                                                          \
    X(L1_LOAD, "a warp's coalesced load")                                                                              \
    X(L1_STORE, "a warp's coalesced store, with its word mask")                                                        \
    X(L1_ATOMIC, "read-modify-writes with their lane list, performed at the L2")                                       \
    X(L1_EVICT, "the replacement policy wants this way")                                                               \
    X(L1_DATA, "answer to a read or atomic, other requests outstanding")                                               \
    X(L1_LAST_DATA, "answer to a read or atomic, the last one outstanding")                                            \
    X(L1_ACK, "a write completed at the L2, other requests outstanding")                                               \
    X(L1_LAST_ACK, "a write completed at the L2, the last request outstanding")

/* What baseline.c takes their numbers for: a file whose list begins with one of those lists says LIST(BASELINE_SAME). */
#define BASELINE_NUMBER_(name, ...) baseline_##name,
#define BASELINE_SAME(name, ...) GPC_SAME_NUMBER(name, baseline_##name);
enum { BASELINE_L1_EVENTS(BASELINE_NUMBER_) };

/* One of these events; GPC_NO_EVENT for a cause that is none of theirs. */
gpc_event_id_t baseline_l1_classify(const gpc_step_t *x);

#define BASELINE_L1_LINE(FIELD) /* nothing outlives a transaction here */
GPC_METADATA(baseline_l1, line, BASELINE_L1_LINE)

GPC_DECLARE_ACTION(act_request_line);
GPC_DECLARE_ACTION(act_write_through);
GPC_DECLARE_ACTION(act_send_atomic);

/* ---- the L2 of no-l1 and no-coh ---------------------------------------------------------------------------------------------- */

extern const gpc_controller_type_t baseline_l2;

#define BASELINE_L2_STATES(X)                                                                                          \
    X(L2_I, STABLE, "not present")                                                                                     \
    X(L2_V, STABLE, "present")                                                                                         \
    X(L2_IS, TRANSIENT_CACHE, "fetching for loads; later loads join")                                                  \
    X(L2_IM, TRANSIENT_CACHE, "fetching for one store or atomic")
/* What the tables of L2s begin with, as above. */
#define BASELINE_L2_EVENTS(X)                                                                                          \
    X(L2_GETS, "a load's request")                                                                                     \
    X(L2_GETX, "a store")                                                                                              \
    X(L2_ATOMIC, "an atomic")                                                                                          \
    X(L2_EVICT_CLEAN, "the replacement wants the way; memory has the data")                                            \
    X(L2_EVICT_DIRTY, "the replacement wants the way; memory is behind")                                               \
    X(L2_FILL, "memory's answer to a load's fetch")                                                                    \
    X(L2_FILL_STORE, "memory's answer to a store's fetch")                                                             \
    X(L2_FILL_ATOMIC, "memory's answer to an atomic's fetch")

enum { BASELINE_L2_EVENTS(BASELINE_NUMBER_) };

/* One of these events; GPC_NO_EVENT for a cause that is none of theirs. */
gpc_event_id_t baseline_l2_classify(const gpc_step_t *x);

GPC_DECLARE_ACTION(act_fetch);
GPC_DECLARE_ACTION(act_answer);
GPC_DECLARE_ACTION(act_write);
GPC_DECLARE_ACTION(act_perform);
GPC_DECLARE_ACTION(act_fill_line);
GPC_DECLARE_ACTION(act_answer_all);

#endif

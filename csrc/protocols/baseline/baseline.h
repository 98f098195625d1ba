/* baseline.h: shared by the write-through baselines: messages, and the actions of an L1 over an L2 that owns the data.
 *
 * Paper    Singh et al., HPCA 2013, section 3.1. Message sizes are inferred (the paper gives none): 8-byte header,
 *          4-byte word mask, 4 bytes per word, 128-byte lines.
 */
#ifndef GPC_PROTOCOLS_BASELINE_BASELINE_H
#define GPC_PROTOCOLS_BASELINE_BASELINE_H

#include "controller/toolkit.h"

#define BASELINE_MESSAGES(X, P)                                                                        \
    X(P, GETS, REQ, 0, 8, 0, false, "read request for a line")                                         \
    X(P, GETX, ST, 0, 12, 4, false, "write-through store: word mask and words")                        \
    X(P, ATOMIC, ATO, 0, 12, 0, false, "atomic read-modify-writes with operands, performed at the L2") \
    X(P, DATA, LD, 1, 8, 0, true, "line to read")                                                      \
    X(P, ACK, ST, 1, 8, 0, false, "store performed at the L2")                                         \
    X(P, ATOMIC_DATA, ATO, 1, 12, 0, false, "old values of atomics; no line is cached")

GPC_MESSAGES(MSG, BASELINE_MESSAGES)

/* For a list that begins with BASELINE_MESSAGES: shared code uses the MSG_ numbers for its types. */
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

/* ---- L1 actions -------------------------------------------------------------------------------------------------- */

/* First states and events of every L1 table over lines: one classifier serves all of them. */
#define BASELINE_L1_STATES(X)                                             \
    X(L1_I, STABLE, "not present")                                        \
    X(L1_V, STABLE, "present, readable")                                  \
    X(L1_IV, TRANSIENT_CACHE, "read miss outstanding; later loads merge") \
    X(L1_II, TRANSIENT_CACHE, "requests outstanding; no copy is readable or will be kept")
#define BASELINE_L1_EVENTS(X)                                                           \
    X(L1_LOAD, "coalesced load of a warp")                                              \
    X(L1_STORE, "coalesced store of a warp, with its word mask")                        \
    X(L1_ATOMIC, "atomic read-modify-writes with their lane list, performed at the L2") \
    X(L1_EVICT, "way chosen for replacement")                                           \
    X(L1_DATA, "answer to a read or atomic; other requests outstanding")                \
    X(L1_LAST_DATA, "answer to a read or atomic; last request outstanding")             \
    X(L1_ACK, "write-through store acknowledged; other requests outstanding")           \
    X(L1_LAST_ACK, "write-through store acknowledged; last request outstanding")

/* The numbers that baseline.c uses. A file whose list begins with one of these lists asserts that they are equal:
 * LIST(BASELINE_SAME). */
#define BASELINE_NUMBER_(name, ...) baseline_##name,
#define BASELINE_SAME(name, ...) GPC_SAME_NUMBER(name, baseline_##name);
enum { BASELINE_L1_EVENTS(BASELINE_NUMBER_) };

/* One of these events; GPC_NO_EVENT for any other cause. */
gpc_event_id_t baseline_l1_classify(const gpc_step_t *x);

#define BASELINE_L1_LINE(FIELD) /* no metadata beside the tags */
GPC_METADATA(baseline_l1, line, BASELINE_L1_LINE)
#define BASELINE_L1_TYPE(lines)                                                                                        \
    .name = "L1", .position = GPC_AT_CORE, .tables = {&(lines)},                                                       \
    .arrays = {{.name = "tags", .line = baseline_l1_line_described, .has_data = true}},                                \
    .mshr = gpc_requests_mshr_described

GPC_DECLARE_ACTION(act_request_line);
GPC_DECLARE_ACTION(act_write_through);
GPC_DECLARE_ACTION(act_send_atomic);
GPC_DECLARE_ACTION(act_count_dropped);

/* ---- the L2 of no-l1 and no-coh ---------------------------------------------------------------------------------- */

extern const gpc_controller_type_t baseline_l2;
extern const gpc_table_t baseline_l2_lines; /* its table */

#define BASELINE_L2_STATES(X)                                                   \
    X(L2_I, STABLE, "not present")                                              \
    X(L2_V, STABLE, "present")                                                  \
    X(L2_IS, TRANSIENT_CACHE, "fetch for loads outstanding; later loads merge") \
    X(L2_IM, TRANSIENT_CACHE, "fetch for one store or atomic outstanding")
/* First events of every L2 table over lines. */
#define BASELINE_L2_EVENTS(X)                                             \
    X(L2_GETS, "read request")                                            \
    X(L2_GETX, "store")                                                   \
    X(L2_ATOMIC, "atomic")                                                \
    X(L2_EVICT_CLEAN, "way chosen for replacement; memory is up to date") \
    X(L2_EVICT_DIRTY, "way chosen for replacement; memory is stale")      \
    X(L2_FILL, "fill from memory, for loads")                             \
    X(L2_FILL_STORE, "fill from memory, for a store")                     \
    X(L2_FILL_ATOMIC, "fill from memory, for an atomic")

enum { BASELINE_L2_EVENTS(BASELINE_NUMBER_) };

/* Cells of a state in which a line waits for memory or for L1s. */
#define BASELINE_HOLD_WRITES [L2_GETX] = HOLD_LINE, [L2_ATOMIC] = HOLD_LINE
#define BASELINE_HOLD_REQUESTS [L2_GETS] = HOLD_LINE, BASELINE_HOLD_WRITES
#define BASELINE_NOT_VICTIMS [L2_EVICT_CLEAN] = NOT_A_VICTIM, [L2_EVICT_DIRTY] = NOT_A_VICTIM

/* One of these events; GPC_NO_EVENT for any other cause. */
gpc_event_id_t baseline_l2_classify(const gpc_step_t *x);

/* The words of all 32-byte sectors that have a word of the mask. */
gpc_mask_t baseline_sectors_of(const gpc_controller_t *unit, gpc_mask_t mask);

GPC_DECLARE_ACTION(act_fetch);
GPC_DECLARE_ACTION(act_answer);
GPC_DECLARE_ACTION(act_write);
GPC_DECLARE_ACTION(act_perform);
GPC_DECLARE_ACTION(act_fill_line);
GPC_DECLARE_ACTION(act_answer_all);

#endif

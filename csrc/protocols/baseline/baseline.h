/* baseline.h: what the write-through baselines share: their messages, and the actions of an L1 over an L2 that owns the data.
 *
 * Paper    Singh et al., HPCA 2013, section 3.1; message sizes are inferred (the paper gives none): 8-byte header, 4-byte word
 *          mask, 4 bytes a word, 128-byte lines.
 */
#ifndef GPC_PROTOCOLS_BASELINE_BASELINE_H
#define GPC_PROTOCOLS_BASELINE_BASELINE_H

#include "controller/actions.h"

#define BASELINE_MESSAGES(X, P)                                                                                       \
    X(P, GETS, REQ, 0, 8, 0, false, "a load wants the line")                                                          \
    X(P, GETX, ST, 0, 12, 4, false, "a store: word mask and words")                                                   \
    X(P, ATOMIC, ATO, 0, 12, 0, false, "read-modify-writes with their operands, performed at the L2")                 \
    X(P, DATA, LD, 1, 8, 0, true, "the line")                                                                         \
    X(P, ACK, ST, 1, 8, 0, false, "the store has been performed")                                                     \
    X(P, ATOMIC_DATA, ATO, 1, 12, 0, false, "the old values; the L1 keeps no line")

GPC_MESSAGES(MSG, BASELINE_MESSAGES)

#define BASELINE_NETWORKS {{.name = "request", .ordered = true}, {.name = "response", .ordered = true}}

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

/* One of these events; GPC_NO_EVENT for a cause that is none of theirs. */
gpc_event_id_t baseline_l1_classify(const gpc_step_t *x);

#define BASELINE_L1_LINE(FIELD) /* nothing outlives a transaction here */
#define BASELINE_L1_MSHR(FIELD) FIELD(PLAIN, uint16_t, outstanding) /* requests sent to the L2 for this line, not yet answered */
GPC_DESCRIBE(baseline_l1, line, BASELINE_L1_LINE)
GPC_DESCRIBE(baseline_l1, mshr, BASELINE_L1_MSHR)

GPC_DECLARE_ACTION(act_request_line);  /* a GETS for x's load, which is then pending */
GPC_DECLARE_ACTION(act_merge_load);    /* joins the one GETS that is open */
GPC_DECLARE_ACTION(act_write_through); /* a GETX with the store's words; the store is then pending */
GPC_DECLARE_ACTION(act_send_atomic);
GPC_DECLARE_ACTION(act_write_line); /* the store's words into the own copy */
GPC_DECLARE_ACTION(act_fill);       /* the answer's line into the reserved way */
GPC_DECLARE_ACTION(act_complete);   /* whoever waits for this answer: the primary and all merged with it */

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

gpc_event_id_t baseline_l2_classify(const gpc_step_t *x);

GPC_DECLARE_ACTION(act_fetch);     /* asks memory; the request is then pending */
GPC_DECLARE_ACTION(act_answer);    /* DATA to who asked */
GPC_DECLARE_ACTION(act_merge);     /* a further GETS joins the fetch */
GPC_DECLARE_ACTION(act_write);     /* the store in hand (or the one that waited for the fill), and its ACK */
GPC_DECLARE_ACTION(act_perform);   /* the atomic, and its old values */
GPC_DECLARE_ACTION(act_fill_line); /* memory's line into the way */
GPC_DECLARE_ACTION(act_answer_all);

#define BASELINE_L2_LINE(FIELD) FIELD(PLAIN, uint8_t, dirty) /* differs from memory */
GPC_DESCRIBE(baseline_l2, line, BASELINE_L2_LINE)

/* The message whose write or atomic is being performed: the one in hand, or the one that waited for the fill. */
gpc_index_t baseline_l2_writer(const gpc_step_t *x);

/* Memory side: the L2's copy, where it has one, is the newest. */
int baseline_host_read(gpc_controller_t *const *cores, uint32_t num_cores, gpc_controller_t *bank, gpc_address_t line,
                       gpc_mask_t mask, uint32_t *words);
/* All copies that L1s have of the line at rest. */
void baseline_drop_copies(gpc_controller_t *const *cores, uint32_t num_cores, gpc_address_t line);
int baseline_host_write(gpc_controller_t *const *cores, uint32_t num_cores, gpc_controller_t *bank, gpc_address_t line,
                        gpc_mask_t mask, const uint32_t *words);

#endif

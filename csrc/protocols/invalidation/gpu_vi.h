/* gpu_vi.h: shared by GPU-VI and GPU-VIni: messages, the L1, and the actions of an L2 with a sharer list. */
#ifndef GPC_PROTOCOLS_INVALIDATION_GPU_VI_H
#define GPC_PROTOCOLS_INVALIDATION_GPU_VI_H

#include "protocols/baseline/baseline.h"
#include "protocols/public_sizes.h"

#define VI_MESSAGES(X, P)                                                                                     \
    BASELINE_MESSAGES(X, P)                                                                                   \
    X(P, INV, INV, 2, 8, 0, false, "invalidate the line for another core's write, and acknowledge")           \
    X(P, RECALL, RCL, 2, 8, 0, false, "invalidate the line that the L2 or directory evicts, and acknowledge") \
    X(P, INV_ACK, INV, 3, 8, 0, false, "invalidation acknowledged")                                           \
    X(P, RECALL_ACK, RCL, 3, 8, 0, false, "recall acknowledged")

GPC_MESSAGES(VI, VI_MESSAGES)
BASELINE_SAME_MESSAGES(VI);

#define VI_NETWORKS                                                                                                    \
    {                                                                                                                  \
        {.name = "request", .ordered = true, .requests = true}, {.name = "response", .ordered = true},                                   \
            {.name = "invalidation", .ordered = true}, {.name = "acknowledgement", .ordered = true}                    \
    }

extern const gpc_controller_type_t vi_l1;

/* ---- the L2 side ------------------------------------------------------------------------------------------------- */

/* L1s that may hold the line: a superset, since L1 evictions are silent */
#define VI_SHARERS(FIELD) FIELD(NODESET, gpc_nodeset_t, sharers)

/* An L2 that has the list beside the line: those of gpu-vi, sc-ideal and mesi-wt, where it is the owner in MT. */
#define VI_L2_LINE(FIELD) GPC_WRITER_LINE(FIELD) VI_SHARERS(FIELD)
GPC_METADATA(vi_l2, line, VI_L2_LINE)
GPC_KEEPS_DIRTY(vi_l2);
/* The states of gpu-vi's, with which mesi-wt's begin. */
#define VI_L2_STATES(X)                                                             \
    X(L2_I, STABLE, "not present")                                                  \
    X(L2_V, STABLE, "present, no sharers")                                          \
    X(L2_S, STABLE, "present, shared")                                              \
    X(L2_IS, TRANSIENT_CACHE, "fetch for loads outstanding; later loads merge")     \
    X(L2_IM, TRANSIENT_CACHE, "fetch for one store or atomic outstanding")          \
    X(L2_SW, TRANSIENT_COHERENCE, "store waits for invalidation acknowledgements")  \
    X(L2_SA, TRANSIENT_COHERENCE, "atomic waits for invalidation acknowledgements") \
    X(L2_SI, TRANSIENT_COHERENCE, "evicted without a way; recall of its sharers outstanding")
#define VI_L2_TYPE                                                                                                     \
    .name = "L2", .position = GPC_AT_BANK,                                                                             \
    .arrays = {{.name = "tags", .line = vi_l2_line_described, .has_data = true}},                                      \
    .sharers = GPC_SHARERS(0, vi_l2, line, sharers), .mshr = gpc_sharers_mshr_described

bool vi_writer_shares(const gpc_step_t *x); /* the L1 whose store or atomic waits is a sharer */

GPC_DECLARE_ACTION(act_keep_only_writer);
GPC_DECLARE_ACTION(act_invalidate_others);
GPC_DECLARE_ACTION(act_recall);

/* For monitors: while the bank has no transaction for the line, every L1 with a copy is in its sharer list (NULL: there
 * is none); in that beside the line. */
extern const gpc_watched_t vi_watched;
GPC_MUST_CHECK int vi_check_listed(const gpc_units_t *units, gpc_address_t line, const gpc_nodeset_t *sharers);
GPC_MUST_CHECK int vi_monitor(const gpc_units_t *units, gpc_address_t line);

#endif

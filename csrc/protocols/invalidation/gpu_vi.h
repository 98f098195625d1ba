/* gpu_vi.h: what GPU-VI and GPU-VIni share: their messages, the L1, and the actions of an L2 side that knows its sharers. */
#ifndef GPC_PROTOCOLS_INVALIDATION_GPU_VI_H
#define GPC_PROTOCOLS_INVALIDATION_GPU_VI_H

#include "protocols/baseline/baseline.h"

#define VI_MESSAGES(X, P)                                                                                              \
    BASELINE_MESSAGES(X, P)                                                                                            \
    X(P, INV, INV, 2, 8, 0, false, "another core writes the line: drop it and acknowledge")                            \
    X(P, RECALL, RCL, 2, 8, 0, false, "the L2 (or directory) gives the line up: drop it and acknowledge")              \
    X(P, INV_ACK, INV, 3, 8, 0, false, "nothing of the line is readable here")                                         \
    X(P, RECALL_ACK, RCL, 3, 8, 0, false, "nothing of the line is readable here")

GPC_MESSAGES(VI, VI_MESSAGES)

#define VI_NETWORKS                                                                                                    \
    {                                                                                                                  \
        {.name = "request", .ordered = true}, {.name = "response", .ordered = true},                                   \
            {.name = "invalidation", .ordered = true}, {.name = "acknowledgement", .ordered = true}                    \
    }

extern const gpc_controller_type_t vi_l1;

/* ---- the L2 side ---------------------------------------------------------------------------------------------------- */

/* Beside a line: baseline.c's field first, since its actions look at it through their own struct. */
#define VI_L2_LINE(FIELD)                                                                                              \
    BASELINE_L2_LINE(FIELD)                                                                                            \
    FIELD(NODESET, gpc_nodeset_t, sharers) /* L1s that may hold the line: a superset, since they evict silently */
GPC_DESCRIBE(vi_l2, line, VI_L2_LINE)

#define VI_L2_MSHR(FIELD) FIELD(PLAIN, uint16_t, acknowledgements) /* still to come */
GPC_DESCRIBE(vi_l2, mshr, VI_L2_MSHR)

/* A directory's entry, where the L2 has one: the line's list is there then, and not beside the line. */
enum { VI_DIRECTORY = 1 }; /* its array */
#define VI_ENTRY(FIELD) FIELD(NODESET, gpc_nodeset_t, sharers) /* a superset, since L1s evict silently */
GPC_DESCRIBE(vi, entry, VI_ENTRY)

gpc_nodeset_t *vi_sharers(const gpc_step_t *x);
bool vi_others_share(const gpc_step_t *x);    /* anyone but the sender of the message in hand */
gpc_node_t vi_writer_of(const gpc_step_t *x); /* whose store or atomic waits */
bool vi_writer_shares(const gpc_step_t *x);

GPC_DECLARE_ACTION(act_add_sharer);
GPC_DECLARE_ACTION(act_add_readers); /* all who wait */
GPC_DECLARE_ACTION(act_clear_sharers);
GPC_DECLARE_ACTION(act_keep_only_writer);
GPC_DECLARE_ACTION(act_invalidate_others); /* as many acknowledgements are then awaited */
GPC_DECLARE_ACTION(act_recall);            /* the same, from everyone */
GPC_DECLARE_ACTION(act_count);             /* one of them */

/* For monitors: while the bank is in no transaction of the line, whoever has a copy is in its list (NULL: there is none). */
extern const gpc_watched_t vi_watched;
GPC_MUST_CHECK int vi_check_listed(gpc_controller_t *const *cores, uint32_t num_cores, const gpc_controller_t *bank,
                                   gpc_address_t line, const gpc_nodeset_t *sharers);

/* All copies at L1s go; the L2's, if it has one, is written. */
int vi_host_write(gpc_controller_t *const *cores, uint32_t num_cores, gpc_controller_t *bank, gpc_address_t line,
                  gpc_mask_t mask, const uint32_t *words);

#endif

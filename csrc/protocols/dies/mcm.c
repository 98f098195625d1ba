/* mcm.c: MCM, software coherence of several dies: an acquire drops the L1 and what the die's L2 has of other dies.
 *
 * Paper    Ren et al., HPCA 2020, section VI: the flat software protocol that HMG is compared with.
 * Inferred what mcm_l1.c and mcm_l2.c say; a kernel begins with both dropped, in no time of its own.
 * Options  merge=on: the atomic merge unit of LRM-GPU (merge.c).
 * Differs  the home's L2 writes back; the paper's L2s write through in its evaluation (table II). */
#include "protocols/dies/merge.h"

enum { MCM_L1_STATES(GPC_FSM_STATE_ENUM_) };
enum { MCM_L2_STATES(GPC_FSM_STATE_ENUM_) };

static const gpc_watched_t watched = {.promise = GPC_PROMISE_ACQUIRED,
                                      .readable = 1u << L1_V,
                                      .copies = 1u << L1_V | 1u << L1_IV,
                                      .bank_is_whole = true,
                                      .near = 1u << L2_N | 1u << L2_NP};

#define MCM_PROTOCOL                                                                                                   \
    .id = "mcm", .name = "MCM", .paper = "Ren et al., HPCA 2020", .family = "coherence of dies",                       \
    .text = "write-through L1s; a die's L2 keeps other dies' lines; acquires drop both",                               \
    .model = {[GPC_RULE_RC] = "RCc"}, .standard_rule = GPC_RULE_RC,                                                    \
    .order = {.before = mcm_before,                                                                                    \
              .acquire = mcm_acquire,                                                                                  \
              .barrier = mcm_barrier,                                                                                  \
              .keeps_own = true,                                                                                       \
              .barrier_releases = true},                                                                               \
    .declared = {.weak_outcomes = "SB MP", .variations = "merge=on"}, .explored = {.dies = 2},                         \
    .host_write = gpc_host_write, /* memory and the home: other copies are dropped when the next kernel begins */      \
    .watched = &watched

static const gpc_protocol_t merging = {
    MCM_PROTOCOL,
    MERGE_PROTOCOL,
    .controllers = {&mcm_l1, &merge_mcm_l2},
};

const gpc_protocol_t gpc_protocol_mcm = {
    MCM_PROTOCOL,
    .controllers = {&mcm_l1, &mcm_l2},
    GPC_MESSAGES_OF(MCM),
    .networks = MCM_NETWORKS,
    .options = {MERGE_OPTIONS},
    .instead = {.option = MERGE_UNIT, .value = MERGE_ON, .by = &merging},
};

/* lrm.c: LRM, lazy release consistency of dies: acquires drop what the die's L2 has of other dies where their variable
 * comes from another die.
 *
 * Paper    LRM-GPU, HPCA 2026, section III-B and table I; its L2s beside the home write through (table III).
 * Inferred what lrm_l2.c and lrm_directory.c say. A fence names no variable: it drops, as under MCM. A kernel begins
 *          with near lines dropped, as under MCM; owners remain, since their dies have then nothing old.
 * Options  merge=on: the atomic merge unit, section III-C (merge.c). */
#include "protocols/dies/lrm.h"

enum { MCM_L1_STATES(GPC_FSM_STATE_ENUM_) };
enum { MCM_L2_STATES(GPC_FSM_STATE_ENUM_) };

static const gpc_watched_t watched = {.promise = GPC_PROMISE_ACQUIRED,
                                      .by_variable = true,
                                      .readable = 1u << L1_V,
                                      .copies = 1u << L1_V | 1u << L1_IV,
                                      .bank_is_whole = true,
                                      .near = 1u << L2_N | 1u << L2_NP};

#define LRM_PROTOCOL                                                                                                   \
    .id = "lrm", .name = "LRM", .paper = "LRM-GPU, HPCA 2026", .family = "coherence of dies",                          \
    .text = "mcm whose acquires drop near lines only where their variable comes from another die",                     \
    .model = {[GPC_RULE_RC] = "RCc"}, .standard_rule = GPC_RULE_RC,                                                    \
    .order = {.before = lrm_before,                                                                                    \
              .acquire = lrm_acquire,                                                                                  \
              .barrier = mcm_barrier,                                                                                  \
              .keeps_own = true,                                                                                       \
              .barrier_releases = true},                                                                               \
    .declared = {.weak_outcomes = "SB MP", .variations = "merge=on"}, .explored = {.dies = 2},                         \
    .host_write = gpc_host_write, /* as MCM */                                                                         \
    .watched = &watched

static const gpc_protocol_t merging = {
    LRM_PROTOCOL,
    MERGE_PROTOCOL,
    .controllers = {&lrm_l1, &merge_lrm_l2},
};

/* clang-format off */
const gpc_protocol_t gpc_protocol_lrm = {
    LRM_PROTOCOL,
    .controllers = {&lrm_l1, &lrm_l2},
    GPC_MESSAGES_OF(MCM),
    .message = lrm_message_described,
    .networks = MCM_NETWORKS,
    .options = LRM_OPTIONS,
    .instead = {.option = MERGE_UNIT, .value = MERGE_ON, .by = &merging},
};
/* clang-format on */

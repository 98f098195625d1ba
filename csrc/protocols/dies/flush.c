/* flush.c: FLUSH, L2s that cache and write the lines of other dies, and write them back and drop them at boundaries.
 *
 * Paper    Dalmia et al., MICRO 2024: the baseline of CPElide, by its artifact's code (--default-acq-rel).
 * Inferred what flush_l2.c and mcm_l1.c say of acquires and releases within a kernel. A kernel is over when the homes
 *          have taken all dirty words of other dies, whose lines are then dropped; the L1s drop theirs when one begins.
 * Differs  a home's L2 keeps its lines at a boundary, as the place where memory is for the other dies. */
#include "protocols/dies/mcm.h"

enum { MCM_L1_STATES(GPC_FSM_STATE_ENUM_) };
enum { FLUSH_L2_STATES(GPC_FSM_STATE_ENUM_) };

static const gpc_watched_t watched = {.promise = GPC_PROMISE_ACQUIRED,
                                      .readable = 1u << L1_V,
                                      .copies = 1u << L1_V | 1u << L1_IV,
                                      .bank_is_whole = true,
                                      .near = 1u << L2_N | 1u << L2_NP | 1u << L2_M | 1u << L2_W,
                                      .near_accepts = true};

const gpc_protocol_t gpc_protocol_flush = {
    .id = "flush",
    .name = "FLUSH",
    .paper = "Dalmia et al., MICRO 2024",
    .family = "coherence of dies",
    .text = "write-through L1s; a die's L2 keeps and writes other dies' lines; releases and kernels' ends write back",
    .model = {[GPC_RULE_RC] = "RCc"},
    .standard_rule = GPC_RULE_RC,
    .controllers = {&flush_l1, &flush_l2},
    GPC_MESSAGES_OF(FLUSH),
    .message = flush_message_described,
    .networks = MCM_NETWORKS,
    .order = {.before = mcm_before,
              .release = flush_release,
              .exit = gpc_sb_exit, /* KERNEL_END has the banks write back */
              .acquire = mcm_acquire,
              .barrier = mcm_barrier,
              .keeps_own = true,
              .barrier_releases = true},
    .declared = {.weak_outcomes = "SB MP"},
    .explored = {.dies = 2},
    .host_write = gpc_host_write, /* memory and the home: others have none between kernels but L1s, which drop theirs */
    .watched = &watched,
};

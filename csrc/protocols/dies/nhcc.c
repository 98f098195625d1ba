/* nhcc.c: NHCC, hardware coherence of dies: a line's home knows the dies that have read it, and invalidates their
 * copies; and HMG, in which each other GPU has a home for the line, too.
 *
 * Paper    Ren et al., HPCA 2020, sections IV and V.
 * Inferred what hmg_l2.c and hmg_directory.c say. An acquire drops the L1, in no time of its own, and no L2. A kernel
 *          is over when all INVs have been taken.
 * Differs  the home's L2 writes back; the paper's L2s write through in its evaluation (table II). */
#include "protocols/dies/hmg.h"

enum { MCM_L1_STATES(GPC_FSM_STATE_ENUM_) };
enum { HMG_L2_STATES(GPC_FSM_STATE_ENUM_) };

static const gpc_watched_t watched = {.promise = GPC_PROMISE_ACQUIRED,
                                      .released = true,
                                      .readable = 1u << L1_V,
                                      .copies = 1u << L1_V | 1u << L1_IV,
                                      .bank_is_whole = true,
                                      .near = 1u << L2_N | 1u << L2_NP};

#define HMG_PROTOCOL                                                                                                   \
    .paper = "Ren et al., HPCA 2020", .family = "coherence of dies", .model = {[GPC_RULE_RC] = "RCc"},                 \
    .standard_rule = GPC_RULE_RC, .controllers = {&hmg_l1, &hmg_l2}, GPC_MESSAGES_OF(HMG), .networks = HMG_NETWORKS,   \
    .options = HMG_OPTIONS, .check = hmg_check, .host_write = hmg_host_write, .watched = &watched, .monitor = hmg_monitor
#define HMG_ORDER                                                                                                      \
    .release = flush_release, .exit = gpc_sb_exit /* the kernel's end waits for INVs */, .acquire = mcm_drop_l1,       \
    .keeps_own = true

const gpc_protocol_t gpc_protocol_nhcc = {
    .id = "nhcc",
    .name = "NHCC",
    .text = "write-through L1s; a die's L2 keeps other dies' lines, which their homes invalidate; releases wait for it",
    .order = {HMG_ORDER},
    .declared = {.weak_outcomes = "SB MP",
                 .uncovered = {{"L2.releases", "ON", "REL_SYS FOLLOW_SYS FOLLOWED_SYS", NULL, "NHCC has no GPU homes"},
                               {"L2.directory", "V", "INV", NULL, "NHCC has no GPU homes"}}},
    .explored = {.dies = 2, .one_bank = true},
    HMG_PROTOCOL,
};

const gpc_protocol_t gpc_protocol_hmg = {
    .id = "hmg",
    .name = "HMG",
    .gpus_model = "PTX",
    .text = "nhcc whose other GPUs have a home for a line, too: for their dies' reads, and for scope gpu",
    .order = {HMG_ORDER, .reads_scopes = true},
    .declared = {.weak_outcomes = "SB MP"},
    .explored = {.dies = 4, .gpus = 2, .one_bank = true},
    HMG_PROTOCOL,
};

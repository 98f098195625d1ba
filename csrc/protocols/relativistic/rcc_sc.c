/* rcc_sc.c: RCC-SC, relativistic cache coherence with sequential consistency: stores wait for no lease, because their
 * logical time is later than every lease of the line.
 *
 * Paper    Ren and Lis, HPCA 2017, sections III.A to III.E: one logical clock per core, one global access per warp at a
 *          time.
 * Hardened see rcc_l1.c (H2, H5) and rcc_l2.c (H1, H3, H4). A load whose data expire in flight, because the core's
 *          clock has advanced meanwhile, completes at its own time, and the copy is not readable.
 * Inferred a read reserves its way when it is sent, also in II (the paper's figure 5 fills it there). After a store or
 *          atomic of its core, a copy is stale and its way free.
 */
#include "protocols/relativistic/rcc.h"

const gpc_protocol_t gpc_protocol_rcc_sc = {
    .id = "rcc-sc",
    .name = "RCC-SC",
    .text = "leases in logical time; a store waits for no lease: its core's clock jumps past it",
    .model = {[GPC_RULE_SC] = "SC"},
    .standard_rule = GPC_RULE_SC,
    RCC_PROTOCOL,
    .declared = {.variations = "predict=off renew=off predict_up=any tick=100 polls=0"},
    .watched = &rcc_sc_watched,
};

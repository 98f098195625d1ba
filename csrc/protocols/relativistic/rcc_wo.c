/* rcc_wo.c: RCC-WO, relativistic cache coherence under weak ordering: a core has a clock for its reads and one for its
 * writes, and fences join them.
 *
 * Paper    Ren and Lis, HPCA 2017, section III.F. Neither stores nor fences wait for time.
 * Inferred a read request carries the clock of reads, a store that of writes, an atomic the later one. Data raise the
 *          clock of reads, an acknowledgement that of writes, an atomic's answer both: a store expires no other copy of
 *          its core before a fence. The L2 is RCC-SC's. A release or acquire raises the clock of writes to that of
 *          reads; a fence joins both, of the whole core. So does a barrier: otherwise a load behind it could read an
 *          old copy beside an older store of its warp (litmus test SB+bars-apart). A store that depends on a value read
 *          carries the clock of writes all the same, which the paper's stores "consult": weak ordering knows no
 *          dependencies between processors (litmus test WRC+data+early).
 * Hardened a fence waits until its warp has nothing outstanding: the version of a store that is not acknowledged is
 *          unknown. A warp does not access a line to which it has an access outstanding: its load would hit the old
 *          copy beside its own store.
 */
#include "protocols/relativistic/rcc.h"

/* ---- order ------------------------------------------------------------------------------------------------------- */

/* Before a release's store, and after an acquire: no later store is older than what the core has read. */
static void
order_stores_after_reads(gpc_controller_t *unit)
{
    rcc_l1_unit_t *core = rcc_l1_unit(unit);
    rcc_raise(unit, &core->writes, core->now);
}

static int
stores_after_acquire(gpc_controller_t *unit, uint16_t warp, uint8_t scope)
{
    (void) warp, (void) scope; /* the whole core's clocks */
    order_stores_after_reads(unit);
    return GPC_OK;
}

static int
release_after_reads(gpc_controller_t *unit, uint16_t warp, uint8_t scope, gpc_cycle_t *until)
{
    rcc_l1_unit_t *core = rcc_l1_unit(unit);
    (void) warp, (void) until; /* it never waits */
    order_stores_after_reads(unit);
    if (scope == GPC_SCOPE_CTA) { /* the scope of a barrier */
        rcc_raise(unit, &core->now, core->writes);
    }
    return GPC_OK;
}

static int
join_at_fence(gpc_controller_t *unit, uint16_t warp, uint8_t scope)
{
    rcc_l1_unit_t *core = rcc_l1_unit(unit);
    (void) warp, (void) scope;
    rcc_raise(unit, &core->now, core->writes);
    return GPC_OK;
}

const gpc_protocol_t gpc_protocol_rcc_wo = {
    .id = "rcc-wo",
    .name = "RCC-WO",
    .text = "RCC with a clock for reads and one for writes, joined by fences",
    .model = {[GPC_RULE_RC] = "WO"},
    .standard_rule = GPC_RULE_RC,
    RCC_PROTOCOL,
    .order = {.release = release_after_reads,
              .acquire = stores_after_acquire,
              .fence = join_at_fence,
              .same_line = true,
              .barrier_releases = true,
              .reads_scopes = true},
    .declared = {.weak_outcomes = "SB MP", .variations = "predict=off renew=off predict_up=any tick=100 polls=0"},
    .watched = &rcc_wo_watched,
};

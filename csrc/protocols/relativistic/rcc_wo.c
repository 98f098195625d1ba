/* rcc_wo.c: RCC-WO, relativistic cache coherence under weak ordering: a core has a clock for its reads and one for its writes, and
 * fences join them.
 *
 * Paper    Ren and Lis, HPCA 2017, section III.F. Neither stores nor fences wait for time.
 * Inferred a read request carries the clock of reads, a store that of writes, an atomic the later one. Data raise the clock of reads, an
 *          acknowledgement that of writes, an atomic's answer both: a store expires no other copy of its core before a fence. The L2 is
 *          RCC-SC's. A release raises the clock of writes to that of reads; a fence joins both, of the whole core. So does a barrier:
 *          otherwise a load behind it could read an old copy beside an older store of its warp (litmus test SB+bars-apart).
 * Hardened a fence waits until its warp has nothing outstanding: the version of a store that is not acknowledged is unknown. A warp does
 *          not access a line to which it has an access outstanding: its load would hit the old copy beside its own store.
 */
#include "protocols/relativistic/rcc.h"

/* ---- order -------------------------------------------------------------------------------------------------------------------- */

static int
release_after_reads(gpc_controller_t *unit, uint16_t warp, uint8_t scope, gpc_cycle_t *until)
{
    rcc_l1_unit_t *core = rcc_l1_unit(unit);
    (void) warp, (void) until; /* the whole core's clocks; it never waits */
    rcc_raise(unit, &core->writes, core->now);
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
    .model = {[GPC_RULE_RC] = "RC-MCA"},
    .standard_rule = GPC_RULE_RC,
    RCC_PROTOCOL,
    .order = {.release = release_after_reads, .fence = join_at_fence, .same_line = true, .barrier_releases = true},
    .declared = {.weak_outcomes = "SB MP", .variations = "predict=off renew=off predict_up=any tick=100 polls=0"},
    .watched = &rcc_wo_watched,
};

/* rcc_wo.c: RCC-WO, relativistic cache coherence under weak ordering: a core has a clock for its reads and one for its writes, and
 * fences join them.
 *
 * Paper    Ren and Lis, HPCA 2017, section III.F. Neither stores nor fences wait for time.
 * Counts   as RCC-SC.
 * Inferred a read request carries the clock of reads, a store that of writes, an atomic the later one. Data raise the clock of reads, an
 *          acknowledgement that of writes, an atomic's answer both: a store expires no other copy of its core before a fence. The L2 is
 *          RCC-SC's. A release raises the clock of writes to that of reads; a fence joins both, of the whole core. So does a barrier:
 *          otherwise a load behind it could read an old copy beside an older store of its warp (litmus test SB+bars-apart).
 * Hardened a fence waits until its warp has nothing outstanding: the version of a store that is not acknowledged is unknown. A warp does
 *          not access a line to which it has an access outstanding: its load would hit the old copy beside its own store.
 */
#include "protocols/relativistic/rcc.h"

GPC_FSM(L1, RCC_L1_STATES, RCC_L1_EVENTS)
RCC_L1_STATES(RCC_SAME)
RCC_L1_EVENTS(RCC_SAME)

#define CORE(FIELD) RCC_CORE(FIELD) FIELD(LOGICAL, uint64_t, writes)
GPC_METADATA(rcc_wo_l1, unit, CORE)
GPC_SAME_PLACE(rcc_wo_l1_unit_t, rcc_l1_unit_t, now);

GPC_ACTION(act_write_through, "send WRITE with the clock of writes; the store becomes pending")
{
    return rcc_send_write(x, rcc_wo_l1_unit(x->unit)->writes);
}

GPC_ACTION(act_send_atomic, "send ATOMIC with the later clock; the atomic becomes pending")
{
    const rcc_wo_l1_unit_t *core = rcc_wo_l1_unit(x->unit);
    return rcc_send_write(x, rcc_later(core->now, core->writes));
}

GPC_ACTION(act_raise_writes, "writes = max(writes, ver)")
{
    rcc_raise(x->unit, &rcc_wo_l1_unit(x->unit)->writes, rcc_message(x->msg)->ver);
    return GPC_OK;
}

GPC_ACTION(act_raise_both, "now = max(now, ver); writes = max(writes, ver)")
{
    (void) gpc_act(rcc_act_raise_now, x);
    return gpc_act(act_raise_writes, x);
}

/* clang-format off */
static const gpc_cell_t l1_table[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_I] = {
        [L1_LOAD] = GO(L1_IV, act_reserve_way, rcc_act_request_line),
        [L1_STORE] = GO(L1_II, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_send_atomic),
        [L1_EVICT] = GO_HARDENED(L1_I, act_release_way), /* an expired copy */
    },
    [L1_V] = {
        [L1_LOAD] = GO(L1_V, rcc_act_hit),
        [L1_STORE] = GO(L1_VI, act_write_through),
        [L1_ATOMIC] = GO(L1_VI, act_send_atomic),
        [L1_EVICT] = GO(L1_I, act_release_way),
        [L1_EXPIRE] = GO(L1_I),
    },
    [L1_IV] = {
        [L1_LOAD] = GO(L1_IV, rcc_act_merge_timed),
        [L1_STORE] = GO(L1_II, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_send_atomic),
        [L1_EVICT] = NOT_A_VICTIM, /* the way is reserved for the fill */
        [L1_LAST_DATA] = GO(L1_V, rcc_act_raise_now, rcc_act_fill_copy, act_complete),
        [L1_LAST_DATA_EXPIRED] = GO_HARDENED(L1_I, rcc_act_raise_now, rcc_act_fill_copy, act_complete),
        [L1_DATA_AGAIN] = GO_HARDENED(L1_IV, rcc_act_raise_now, rcc_act_fill_copy, rcc_act_request_again, act_complete),
        [L1_LAST_RENEW] = GO(L1_V, rcc_act_renew_copy, rcc_act_complete_from_copy),
        [L1_LAST_RENEW_EXPIRED] = GO_HARDENED(L1_I, rcc_act_renew_copy, rcc_act_complete_from_copy),
        [L1_RENEW_AGAIN] = GO_HARDENED(L1_IV, rcc_act_renew_copy, rcc_act_request_again, rcc_act_complete_from_copy),
    },
    [L1_II] = {
        [L1_LOAD] = GO(L1_II, act_reserve_way, rcc_act_request_line), /* no merging: an outstanding read may precede this core's store */
        [L1_STORE] = GO(L1_II, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_send_atomic),
        [L1_EVICT] = NOT_A_VICTIM,
        [L1_DATA] = GO(L1_VI, rcc_act_raise_now, rcc_act_fill_copy, act_complete),
        [L1_LAST_DATA] = GO(L1_V, rcc_act_raise_now, rcc_act_fill_copy, act_complete),
        [L1_DATA_EXPIRED] = GO_HARDENED(L1_II, rcc_act_raise_now, rcc_act_fill_copy, act_complete),
        [L1_LAST_DATA_EXPIRED] = GO_HARDENED(L1_I, rcc_act_raise_now, rcc_act_fill_copy, act_complete),
        [L1_DATA_AGAIN] = GO_HARDENED(L1_II, rcc_act_raise_now, rcc_act_fill_copy, rcc_act_request_again, act_complete),
        [L1_RENEW] = GO(L1_VI, rcc_act_renew_copy, rcc_act_complete_from_copy),
        [L1_LAST_RENEW] = GO_HARDENED(L1_V, rcc_act_renew_copy, rcc_act_complete_from_copy), /* of a read that followed the last ACK */
        [L1_RENEW_EXPIRED] = GO_HARDENED(L1_II, rcc_act_renew_copy, rcc_act_complete_from_copy),
        [L1_LAST_RENEW_EXPIRED] = GO_HARDENED(L1_I, rcc_act_renew_copy, rcc_act_complete_from_copy),
        [L1_RENEW_AGAIN] = GO_HARDENED(L1_II, rcc_act_renew_copy, rcc_act_request_again, rcc_act_complete_from_copy),
        [L1_OLD] = GO(L1_II, act_raise_both, act_complete),
        [L1_LAST_OLD] = GO(L1_I, act_raise_both, act_complete, act_release_way),
        [L1_ACK] = GO(L1_II, act_raise_writes, act_complete),
        [L1_LAST_ACK] = GO(L1_I, act_raise_writes, act_complete, act_release_way),
    },
    [L1_VI] = { /* leases of one line arrive in order: none that arrives here has expired */
        [L1_LOAD] = GO(L1_VI, rcc_act_hit), /* the old value: the store's version exceeds the lease */
        [L1_STORE] = GO(L1_VI, act_write_through),
        [L1_ATOMIC] = GO(L1_VI, act_send_atomic),
        [L1_EVICT] = NOT_A_VICTIM,
        [L1_EXPIRE] = GO(L1_II),
        [L1_DATA] = GO(L1_VI, rcc_act_raise_now, rcc_act_fill_copy, act_complete),
        [L1_LAST_DATA] = GO(L1_V, rcc_act_raise_now, rcc_act_fill_copy, act_complete),
        [L1_RENEW] = GO_HARDENED(L1_VI, rcc_act_renew_copy, rcc_act_complete_from_copy), /* as in II */
        [L1_LAST_RENEW] = GO_HARDENED(L1_V, rcc_act_renew_copy, rcc_act_complete_from_copy),
        [L1_OLD] = GO(L1_II, act_raise_both, act_complete),
        [L1_LAST_OLD] = GO(L1_I, act_raise_both, act_complete, act_release_way),
        [L1_ACK] = GO(L1_II, act_raise_writes, act_complete),
        [L1_LAST_ACK] = GO(L1_I, act_raise_writes, act_complete, act_release_way),
    },
};
/* clang-format on */

static const gpc_table_t l1 = {GPC_TABLE("L1", OVER_LINES, L1, l1_table, rcc_l1_classify), .keeps_initial = true};
static const gpc_controller_type_t rcc_wo_l1 = RCC_L1(l1, rcc_wo_l1_unit_described);

/* ---- order -------------------------------------------------------------------------------------------------------------------- */

static int
release_after_reads(gpc_controller_t *unit, uint16_t warp, uint8_t scope, gpc_cycle_t *until)
{
    rcc_wo_l1_unit_t *core = rcc_wo_l1_unit(unit);
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
    rcc_wo_l1_unit_t *core = rcc_wo_l1_unit(unit);
    (void) warp, (void) scope;
    rcc_raise(unit, &core->now, core->writes);
    return GPC_OK;
}

static const gpc_watched_t watched = {.promise = GPC_PROMISE_LOGICAL,
                                      .readable = 1u << L1_V | 1u << L1_VI,
                                      .copies = 1u << L1_V | 1u << L1_VI,
                                      .bank_is_whole = true,
                                      .lease = rcc_lease,
                                      .leased = rcc_leased,
                                      .clock = rcc_clock,
                                      .two_views = true};

const gpc_protocol_t gpc_protocol_rcc_wo = {
    .id = "rcc-wo",
    .name = "RCC-WO",
    .paper = "Ren and Lis, HPCA 2017",
    .family = "relativistic coherence",
    .text = "RCC with a clock for reads and one for writes, joined by fences",
    .model = {[GPC_RULE_RC] = "RC-MCA"},
    .standard_rule = GPC_RULE_RC,
    .controllers = {&rcc_wo_l1, &rcc_l2},
    .messages = RCC_info,
    .num_messages = GPC_COUNT_OF(RCC_info),
    .message = rcc_message_described,
    .networks = RCC_NETWORKS,
    .order = {.release = release_after_reads, .fence = join_at_fence, .same_line = true, .barrier_releases = true},
    .options = RCC_OPTIONS,
    .public_sizes = {.given = true, .option = RCC_OPTION_BYTES},
    .derive = rcc_derive,
    .check = rcc_check,
    .declared = {.figure_slot = 15,
                 .weak_outcomes = "SB MP",
                 .variations = "predict=off renew=off predict_up=any tick=100 polls=0"},
    .keeps_time = true,
    .logical_time = true,
    .host_read = gpc_host_read,
    .host_write = gpc_host_write_alone,
    .watched = &watched,
    .monitor = rcc_monitor,
};

/* rcc_sc.c: RCC-SC, relativistic cache coherence with sequential consistency: stores wait for no lease, because their logical time
 * is later than every lease of the line.
 *
 * Paper    Ren and Lis, HPCA 2017, sections III.A to III.E: one logical clock per core, one global access per warp at a time.
 * Counts   L1 2 stable + 3 transient states, 33 transitions; L2 2 + 2, 14 (table V).
 * Hardened see rcc_l1.c (H2, H5) and rcc_l2.c (H1, H3, H4). A load whose data expire in flight, because the core's clock has advanced
 *          meanwhile, completes at its own time, and the copy is not readable.
 * Inferred a read reserves its way when it is sent, also in II (the paper's figure 5 fills it there). After a store or atomic of its core,
 *          a copy is stale and its way free.
 */
#include "protocols/relativistic/rcc.h"

GPC_FSM(L1, RCC_L1_STATES, RCC_L1_EVENTS)
RCC_L1_STATES(RCC_SAME)
RCC_L1_EVENTS(RCC_SAME)

GPC_ACTION(act_write_through, "send WRITE with now; the store becomes pending")
{
    return rcc_send_write(x, rcc_l1_unit(x->unit)->now);
}

GPC_ACTION(act_send_atomic, "send ATOMIC with now; the atomic becomes pending")
{
    return rcc_send_write(x, rcc_l1_unit(x->unit)->now);
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
        [L1_OLD] = GO(L1_II, rcc_act_raise_now, act_complete),
        [L1_LAST_OLD] = GO(L1_I, rcc_act_raise_now, act_complete, act_release_way),
        [L1_ACK] = GO(L1_II, rcc_act_raise_now, act_complete),
        [L1_LAST_ACK] = GO(L1_I, rcc_act_raise_now, act_complete, act_release_way),
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
        [L1_OLD] = GO(L1_II, rcc_act_raise_now, act_complete),
        [L1_LAST_OLD] = GO(L1_I, rcc_act_raise_now, act_complete, act_release_way),
        [L1_ACK] = GO(L1_II, rcc_act_raise_now, act_complete),
        [L1_LAST_ACK] = GO(L1_I, rcc_act_raise_now, act_complete, act_release_way),
    },
};
/* clang-format on */

static const gpc_table_t l1 = {GPC_TABLE("L1", OVER_LINES, L1, l1_table, rcc_l1_classify), .keeps_initial = true};
static const gpc_controller_type_t rcc_sc_l1 = RCC_L1(l1, rcc_l1_unit_described);

static const gpc_watched_t watched = {.promise = GPC_PROMISE_LOGICAL,
                                      .readable = 1u << L1_V | 1u << L1_VI,
                                      .copies = 1u << L1_V | 1u << L1_VI,
                                      .bank_is_whole = true,
                                      .lease = rcc_lease,
                                      .leased = rcc_leased,
                                      .clock = rcc_clock};

const gpc_protocol_t gpc_protocol_rcc_sc = {
    .id = "rcc-sc",
    .name = "RCC-SC",
    .paper = "Ren and Lis, HPCA 2017",
    .family = "relativistic coherence",
    .text = "leases in logical time; a store waits for no lease: its core's clock jumps past it",
    .model = {[GPC_RULE_SC] = "SC"},
    .standard_rule = GPC_RULE_SC,
    .controllers = {&rcc_sc_l1, &rcc_l2},
    .messages = RCC_info,
    .num_messages = GPC_COUNT_OF(RCC_info),
    .message = rcc_message_described,
    .networks = RCC_NETWORKS,
    .options = RCC_OPTIONS,
    .public_sizes = {.given = true, .option = RCC_OPTION_BYTES},
    .derive = rcc_derive,
    .check = rcc_check,
    .declared = {.figure_slot = 17, .variations = "predict=off renew=off predict_up=any tick=100 polls=0"},
    .keeps_time = true,
    .logical_time = true,
    .host_read = gpc_host_read,
    .host_write = gpc_host_write_alone,
    .watched = &watched,
    .monitor = rcc_monitor,
};

/* tc_weak_l1.c: TC-Weak's L1 and its fences; TC-Weak as a whole.
 *
 * Paper    Singh et al., HPCA 2013, section 6.3 and table 2 (left half): stores never wait at the L2; their answers tell when they
 *          are visible everywhere (GWCT), and a fence waits for the largest one of its warp.
 * Counts   2 stable + 2 transient cache + 1 transient coherent (table 1).
 * Inferred a store that hits writes the copy at once; a fence waits for loads and atomics too, and a warp's end is a fence; a barrier's
 *          leaving gives every warp the largest GWCT.
 * Hardened merged loads of a read that arrives expired ask again; the copy's timestamp follows the own stores (the L2 adds one a
 *          store), at the answer, never at issue, so that a row of private stores stays private; a returned line leaves the
 *          words of unanswered stores alone, and no others.
 * Options  private=literal: table 2 as printed, without the L1's increments; then no timestamp matches after any store, and
 *          only the first store after each read may be private.
 */
#include "protocols/temporal/tc_weak.h"

#define L1_STATES(X) TC_L1_STATES(X, "readable, own stores outstanding")

#define L1_EVENTS(X)                                                                          \
    TC_L1_EVENTS(X)                                                                           \
    X(L1_ACK, "a store visible everywhere, other requests outstanding")                       \
    X(L1_LAST_ACK, "a store visible everywhere, the last request outstanding")                \
    X(L1_ACK_G, "a store or atomic performed, with its GWCT, other requests outstanding")     \
    X(L1_LAST_ACK_G, "a store or atomic performed, with its GWCT, the last request outstanding") \
    X(L1_DATA_G, "a store performed, with its GWCT and the line, other requests outstanding") \
    X(L1_LAST_DATA_G, "a store performed, with its GWCT and the line, the last request outstanding")

GPC_FSM(L1, L1_STATES, L1_EVENTS)
TC_L1_STATES(TC_SAME, "")
TC_L1_EVENTS(TC_SAME)

#define L1_MSHR(FIELD) GPC_REQUESTS_MSHR(FIELD) FIELD(PLAIN, uint16_t, upgrades) /* UPGRs not answered: one tick of the L2's each */
#define L1_WARP(FIELD) FIELD(TIME, gpc_cycle_t, gwct) /* its stores are visible everywhere once this has passed */
GPC_METADATA(tcw_l1, mshr, L1_MSHR)
GPC_COUNTS_REQUESTS(tcw_l1);
GPC_METADATA(tcw_l1, warp, L1_WARP)

/* ---- classification -------------------------------------------------------------------------------------------------- */

static gpc_event_id_t
l1_classify(const gpc_step_t *x)
{
    gpc_event_id_t event = tc_l1_classify(x);
    if (event != GPC_NO_EVENT || x->mshr == GPC_NONE) {
        return event;
    }
    switch (x->cause) {
        case TCW_ACK:
            return gpc_is_last_answer(x) ? L1_LAST_ACK : L1_ACK;
        case TCW_ACK_G:
        case TCW_ATOMIC_DATA:
            return gpc_is_last_answer(x) ? L1_LAST_ACK_G : L1_ACK_G;
        case TCW_DATA_G:
            return gpc_is_last_answer(x) ? L1_LAST_DATA_G : L1_DATA_G;
        default:
            return GPC_NO_EVENT;
    }
}

/* ---- actions --------------------------------------------------------------------------------------------------------- */

GPC_ACTION(act_upgrade, "UPGR with the timestamp that the copy will have when the L2 gets to this store")
{
    uint32_t before = tcw_bumps(x->unit) ? tcw_l1_mshr(x)->upgrades : 0u;
    gpc_cycle_t expected = gpc_later(x->unit, tc_l1_line(x)->timestamp, before);
    tcw_l1_mshr(x)->upgrades++;
    return tc_send_timed(x, TCW_UPGR, expected);
}

GPC_ACTION(act_upgraded, "the copy's timestamp follows the L2's increment for the store")
{
    tcw_l1_mshr(x)->upgrades--;
    tc_l1_line(x)->timestamp = gpc_later(x->unit, tc_l1_line(x)->timestamp, tcw_bumps(x->unit) ? 1 : 0);
    return GPC_OK;
}

/* The words that no unanswered store covers; the answered one's are in the line. */
GPC_ACTION(act_fill_around_stores, "the line but for the words of unanswered stores, and its timestamp")
{
    gpc_mask_t words = gpc_all_words(x->unit);
    GPC_FOR_PENDING(x, waiting)
    {
        if (waiting->type == GPC_MSG_STORE && waiting->request != x->msg->request) {
            words &= ~waiting->mask;
        }
    }
    gpc_merge_words(gpc_line_words(x), x->msg->data, words);
    tc_l1_line(x)->timestamp = gpc_later(x->unit, tc_message(x->msg)->gwct, tcw_bumps(x->unit) ? 1 : 0);
    tcw_l1_mshr(x)->upgrades--;
    return GPC_OK;
}

GPC_ACTION(act_raise_gwct, "the warp's GWCT is at least the answer's")
{
    gpc_raise_time(&tcw_l1_warp(x->unit, x->msg->warp)->gwct, tc_message(x->msg)->gwct);
    return GPC_OK;
}

/* ---- the table ------------------------------------------------------------------------------------------------------- */

/* clang-format off */
static const gpc_cell_t l1_table[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_I] = {
        [L1_LOAD] = GO(L1_IV, act_reserve_way, tc_act_request_line),
        [L1_STORE] = GO(L1_II, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_send_atomic),
    },
    [L1_V] = {
        [L1_LOAD] = GO(L1_V, act_hit),
        [L1_STORE] = GO(L1_VM, act_write_line, act_upgrade),
        [L1_ATOMIC] = GO(L1_II, act_release_way, act_send_atomic),
        [L1_EVICT] = GO(L1_I),
        [L1_EXPIRE] = GO(L1_I, act_note_expired_miss),
    },
    [L1_VM] = {
        [L1_LOAD] = GO(L1_VM, act_hit), /* stores are not atomic here: its own core may see one first */
        [L1_STORE] = GO(L1_VM, act_write_line, act_upgrade),
        [L1_ATOMIC] = GO(L1_II, act_release_way, act_send_atomic),
        [L1_EVICT] = NOT_A_VICTIM,
        [L1_EXPIRE] = GO(L1_II, act_note_expired_miss, act_release_way),
        [L1_ACK] = GO_HARDENED(L1_VM, act_upgraded, act_complete),
        [L1_LAST_ACK] = GO_HARDENED(L1_V, act_upgraded, act_complete),
        [L1_ACK_G] = GO_HARDENED(L1_VM, act_upgraded, act_raise_gwct, act_complete),
        [L1_LAST_ACK_G] = GO_HARDENED(L1_V, act_upgraded, act_raise_gwct, act_complete),
        [L1_DATA_G] = GO_HARDENED(L1_VM, act_fill_around_stores, act_raise_gwct, act_complete),
        [L1_LAST_DATA_G] = GO_HARDENED(L1_V, act_fill_around_stores, act_raise_gwct, act_complete),
    },
    [L1_IV] = {
        [L1_LOAD] = GO(L1_IV, act_merge_load),
        [L1_STORE] = GO(L1_II, act_release_way, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_release_way, act_send_atomic),
        [L1_BEHIND] = HOLD_LINE, /* the merged load may have to ask again: data comes, whatever else waits */
        [L1_EVICT] = NOT_A_VICTIM, /* the way is promised to the fill */
        [L1_LAST_READ] = GO(L1_V, tc_act_fill, act_complete),
        [L1_READ_EXPIRED] = GO(L1_I, act_complete, act_release_way),
        [L1_READ_AGAIN] = GO_HARDENED(L1_IV, act_complete_first, act_request_again),
    },
    [L1_II] = { /* holds no way, so nothing evicts it */
        [L1_LOAD] = GO(L1_II, tc_act_request_line), /* a read of its own: an open one may be older than our store */
        [L1_STORE] = GO(L1_II, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_send_atomic),
        [L1_BEHIND] = HOLD_LINE, /* later requests of the core wait behind it, so that the open ones end */
        [L1_READ] = GO(L1_II, act_complete),
        [L1_LAST_READ] = GO(L1_I, act_complete),
        [L1_READ_AGAIN] = GO_HARDENED(L1_II, act_complete_first, act_request_again),
        [L1_ACK] = GO(L1_II, act_complete),
        [L1_LAST_ACK] = GO(L1_I, act_complete),
        [L1_ACK_G] = GO(L1_II, act_raise_gwct, act_complete),
        [L1_LAST_ACK_G] = GO(L1_I, act_raise_gwct, act_complete),
        [L1_DATA_G] = GO(L1_II, act_raise_gwct, act_complete),
        [L1_LAST_DATA_G] = GO(L1_I, act_raise_gwct, act_complete),
    },
};
/* clang-format on */

static const gpc_table_t l1 = {GPC_TABLE("L1", OVER_LINES, L1, l1_table, l1_classify)};

const gpc_controller_type_t tcw_l1 = {
    .name = "L1",
    .position = GPC_AT_CORE,
    .tables = {&l1},
    .arrays = {{.name = "tags", .line = tc_l1_line_described, .has_data = true}},
    .mshr = tcw_l1_mshr_described,
    .warp = tcw_l1_warp_described,
    .victim_rank = tc_l1_victim_rank,
};

/* ---- memory order ---------------------------------------------------------------------------------------------------- */

/* Fences wait until every older store of the warp is visible everywhere. */
static int
release_waits_for_gwct(gpc_controller_t *unit, uint16_t warp, uint8_t scope, gpc_cycle_t *until)
{
    gpc_cycle_t gwct = tcw_l1_warp(unit, warp)->gwct;

    (void) scope; /* all alike */
    if (gwct < gpc_now_at(unit)) {
        return GPC_OK;
    }
    *until = gwct + 1;
    return GPC_HOLD;
}

static void
join_gwct(gpc_controller_t *unit, void *into, const void *from)
{
    (void) unit;
    gpc_raise_time(&((tcw_l1_warp_t *) into)->gwct, ((const tcw_l1_warp_t *) from)->gwct);
}

static int
check_options(const gpc_machine_t *machine, const int64_t *options, gpc_failure_t *failure)
{
    return tc_check_lifetime("tc-weak", machine, options[TCW_OPTION_LIFETIME], failure);
}

/* ---- monitors -------------------------------------------------------------------------------------------------------- */

static const gpc_watched_t watched = {.promise = GPC_PROMISE_LEASED,
                                      .readable = 1u << L1_V | 1u << L1_VM,
                                      .copies = 1u << L1_V | 1u << L1_VM,
                                      .bank_is_whole = true,
                                      .lease = tc_lease,
                                      .leased = tc_leased};

const gpc_protocol_t gpc_protocol_tc_weak = {
    .id = "tc-weak",
    .name = "TC-Weak",
    .paper = "Singh et al., HPCA 2013",
    .family = "temporal coherence",
    .text = "copies end by themselves; stores never wait, fences do, until the stores are visible everywhere",
    .model = {[GPC_RULE_RC] = "RCpc"},
    .standard_rule = GPC_RULE_RC,
    .controllers = {&tcw_l1, &tcw_l2},
    .messages = TCW_info,
    .num_messages = GPC_COUNT_OF(TCW_info),
    .message = tc_message_described,
    .networks = TC_NETWORKS,
    .order = {.release = release_waits_for_gwct, .join = join_gwct},
    .options = {[TCW_OPTION_LIFETIME] = {.name = "lifetime",
                                         .standard = TCW_LIFETIME_PREDICTED,
                                         .smallest = TCW_LIFETIME_PREDICTED,
                                         .largest = 65535,
                                         .choices = "predicted",
                                         .text = "cycles that a lease lasts, or predicted by each bank",
                                         .small = {true, 2},
                                         .fuzz_least = TCW_LIFETIME_PREDICTED,
                                         .fuzz_most = 8000},
                [TCW_OPTION_PRIVATE] = {.name = "private",
                                        .standard = TCW_PRIVATE_BUMP,
                                        .smallest = TCW_PRIVATE_LITERAL,
                                        .largest = TCW_PRIVATE_BUMP,
                                        .choices = "literal bump",
                                        .text = "private stores as table 2 prints them, or followed by the L1",
                                        .fuzz_least = TCW_PRIVATE_LITERAL,
                                        .fuzz_most = TCW_PRIVATE_BUMP}},
    .check = check_options,
    .keeps_time = true,
    .declared = {.figure_slot =
                     7, /* a store reaches threads one by one; fences wait for their own thread's stores only */
                 .weak_outcomes = "SB MP R SB+rel+acq WRC+fences IRIW+fences RWC+fences",
                 .variations = "private=literal lifetime=0 lifetime=300"},
    .host_read = gpc_host_read,
    .host_write = tc_host_write,
    .watched = &watched,
    .monitor = tcw_monitor,
};

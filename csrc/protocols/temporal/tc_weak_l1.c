/* tc_weak_l1.c: TC-Weak's L1 and fences, and the protocol's declaration.
 *
 * Paper    Singh et al., HPCA 2013, section 6.3 and table 2 (left half): stores never stall at the L2; their answers
 *          carry the time at which they are globally visible (GWCT), and a fence waits for the largest GWCT of its
 *          warp.
 * Inferred a store that hits writes the copy at once; a fence waits for loads and atomics too; a warp that leaves a
 *          barrier has the largest GWCT of all warps at the barrier; the end of a launch waits for acknowledgements,
 *          not for leases, and L1s drop their copies when the next begins. (Section 6.4: long leases delay fences only,
 *          so a program without fences needs no shorter ones; GPUs drop copies between launches.)
 * Hardened loads merged into a read after its data's timestamp are requested again; the copy's timestamp follows the
 *          L1's own stores (the L2 adds one per store), at the answer, never at issue, so that a sequence of private
 *          stores stays private; a returned line keeps the words of unacknowledged stores, and no others.
 * Options  private=literal: table 2 as printed, without the L1's increments; then no timestamp matches after a store,
 *          and only the first store after each read can be private.
 *          simulator=authors: for analysis only, two differences of the authors' public simulator
 *          (cachelease3-L1cache.sm) from the paper. It executes loads at issue and only times them in the caches: here
 *          a load takes the value that the L2 or memory has at its issue, overlaid with the core's unacknowledged
 *          stores, and no load sees a stale copy (one behind an own store or atomic that missed takes its value at the
 *          L2). It sets a warp's GWCT to that of the latest answer instead of keeping the largest. Not emulated: stores
 *          take effect at their issue there, and fences wait for registers only. launch=wait: the end of a warp is a
 *          fence, and copies outlive a launch.
 */
#include "protocols/temporal/tc_weak.h"

#define L1_STATES(X) TC_L1_STATES(X, "present, readable, own stores outstanding")

#define L1_EVENTS(X)                                                                        \
    TC_L1_EVENTS(X)                                                                         \
    X(L1_ACK, "store globally visible; other requests outstanding")                         \
    X(L1_LAST_ACK, "store globally visible; last request outstanding")                      \
    X(L1_ACK_G, "store or atomic performed, with its GWCT; other requests outstanding")     \
    X(L1_LAST_ACK_G, "store or atomic performed, with its GWCT; last request outstanding")  \
    X(L1_DATA_G, "store performed, with its GWCT and the line; other requests outstanding") \
    X(L1_LAST_DATA_G, "store performed, with its GWCT and the line; last request outstanding") \
    X(L1_KERNEL_BEGIN, "kernel begins: every copy is dropped")                              \
    X(L1_KERNEL_FOLLOWS, "kernel begins, after the stores of the previous one are globally visible")

GPC_FSM(L1, L1_STATES, L1_EVENTS)
TC_L1_STATES(TC_SAME, "")
TC_L1_EVENTS(TC_SAME)

/* UPGRs not answered: the L2 adds one for each */
#define L1_MSHR(FIELD) GPC_REQUESTS_MSHR(FIELD) FIELD(PLAIN, uint16_t, upgrades)
#define L1_WARP(FIELD) FIELD(TIME, gpc_cycle_t, gwct) /* its stores are globally visible after this cycle */
GPC_METADATA(tcw_l1, mshr, L1_MSHR)
GPC_COUNTS_REQUESTS(tcw_l1);
GPC_METADATA(tcw_l1, warp, L1_WARP)

static bool
waits_at_exit(const gpc_controller_t *unit)
{
    return unit->options[TCW_OPTION_LAUNCH] == TCW_LAUNCH_WAIT;
}

/* ---- classification ---------------------------------------------------------------------------------------------- */

static gpc_event_id_t
l1_classify(const gpc_step_t *x)
{
    if (x->cause == GPC_MSG_KERNEL_BEGIN) {
        return waits_at_exit(x->unit) ? L1_KERNEL_FOLLOWS : L1_KERNEL_BEGIN;
    }
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

/* ---- actions ----------------------------------------------------------------------------------------------------- */

GPC_ACTION(act_upgrade, "send UPGR with the timestamp that the copy will have when the L2 performs the store")
{
    uint32_t before = tcw_bumps(x->unit) ? tcw_l1_mshr(x)->upgrades : 0u;
    gpc_cycle_t expected = gpc_later(x->unit, tc_l1_line(x)->timestamp, before);
    tcw_l1_mshr(x)->upgrades++;
    return tc_send_timed(x, TCW_UPGR, expected);
}

GPC_ACTION(act_upgraded, "increment the copy's timestamp as the L2 did")
{
    tcw_l1_mshr(x)->upgrades--;
    tc_l1_line(x)->timestamp = gpc_later(x->unit, tc_l1_line(x)->timestamp, tcw_bumps(x->unit) ? 1 : 0);
    return GPC_OK;
}

/* Fills the words that no unanswered store covers; the line contains those of the answered store. */
GPC_ACTION(act_fill_around_stores, "fill all words but those of unanswered stores, and the timestamp")
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

GPC_ACTION(act_raise_gwct, "raise the warp's GWCT to the answer's")
{
    gpc_raise_time(&tcw_l1_warp(x->unit, x->msg->warp)->gwct, tc_message(x->msg)->gwct);
    return GPC_OK;
}

/* ---- simulator=authors ------------------------------------------------------------------------------------------- */

enum { HAS_VALUE = GPC_MSG_FLAG_OWN }; /* a load that took its value at issue */

GPC_ACTION(act_take_value, "take the load's present value at the L2 or in memory, overlaid with unacknowledged stores")
{
    int status = x->unit->ports->newest(x->unit->world, x->line, x->msg->data);

    GPC_FOR_PENDING(x, waiting)
    {
        if (waiting->type == GPC_MSG_STORE) {
            gpc_merge_words(x->msg->data, waiting->data, waiting->mask);
        }
    }
    x->msg->flags |= HAS_VALUE;
    return status;
}

GPC_ACTION(act_hit_value, "complete the load with its value of now")
{
    int status = gpc_act(act_take_value, x);
    gpc_count(x, load_hits);
    GPC_TRY(status);
    return gpc_complete(x, x->message, x->msg->data, true);
}

GPC_ACTION(act_complete_value,
           "complete the loads that this answer serves, with their values of issue if they have one")
{
    gpc_index_t request = x->msg->request, i;

    gpc_requests_mshr(x)->outstanding--;
    while ((i = gpc_take_pending(x, request)) != GPC_NONE) {
        const gpc_msg_t *load = gpc_msg_at(x->unit->messages, i);
        GPC_TRY(gpc_complete(x, i, load->flags & HAS_VALUE ? load->data : x->msg->data, false));
    }
    return GPC_OK;
}

GPC_ACTION(act_set_gwct, "set the warp's GWCT to the answer's")
{
    tcw_l1_warp(x->unit, x->msg->warp)->gwct = tc_message(x->msg)->gwct;
    return GPC_OK;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

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
        /* the other states are impossible: warps wait for their requests */
        [L1_KERNEL_BEGIN] = GO(L1_I, act_count_dropped),
        [L1_KERNEL_FOLLOWS] = GO(L1_V),
    },
    [L1_VM] = {
        [L1_LOAD] = GO(L1_VM, act_hit), /* stores are not multi-copy atomic: a core may read its own first */
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
        [L1_BEHIND] = HOLD_LINE, /* the merged load may be requested again; data arrives whatever else waits */
        [L1_EVICT] = NOT_A_VICTIM, /* the way is reserved for the fill */
        [L1_LAST_READ] = GO(L1_V, tc_act_fill, act_complete),
        [L1_READ_EXPIRED] = GO(L1_I, act_complete, act_release_way),
        [L1_READ_AGAIN] = GO_HARDENED(L1_IV, act_request_again, act_complete),
    },
    [L1_II] = { /* no way: never a victim */
        [L1_LOAD] = GO(L1_II, tc_act_request_line), /* no merging: the outstanding read may predate this core's store */
        [L1_STORE] = GO(L1_II, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_send_atomic),
        [L1_BEHIND] = HOLD_LINE, /* later requests of the core wait behind it, so the outstanding ones complete */
        [L1_READ] = GO(L1_II, act_complete),
        [L1_LAST_READ] = GO(L1_I, act_complete),
        [L1_READ_AGAIN] = GO_HARDENED(L1_II, act_request_again, act_complete),
        [L1_ACK] = GO(L1_II, act_complete),
        [L1_LAST_ACK] = GO(L1_I, act_complete),
        [L1_ACK_G] = GO(L1_II, act_raise_gwct, act_complete),
        [L1_LAST_ACK_G] = GO(L1_I, act_raise_gwct, act_complete),
        [L1_DATA_G] = GO(L1_II, act_raise_gwct, act_complete),
        [L1_LAST_DATA_G] = GO(L1_I, act_raise_gwct, act_complete),
    },
};

static const gpc_patch_t authors_patches[] = {
    {L1_I, L1_LOAD, GO(L1_IV, act_reserve_way, act_take_value, tc_act_request_line),
     "the authors' simulator executes a load at its issue: it takes its value there, a hit too"},
    {L1_V, L1_LOAD, GO(L1_V, act_hit_value), NULL},
    {L1_VM, L1_LOAD, GO(L1_VM, act_hit_value), NULL},
    {L1_IV, L1_LOAD, GO(L1_IV, act_take_value, act_merge_load), NULL},
    {L1_IV, L1_LAST_READ, GO(L1_V, tc_act_fill, act_complete_value), "the answer only times a load that has its value"},
    {L1_IV, L1_READ_EXPIRED, GO(L1_I, act_complete_value, act_release_way), NULL},
    {L1_IV, L1_READ_AGAIN, GO_HARDENED(L1_IV, act_request_again, act_complete_value), NULL},
    {L1_II, L1_READ, GO(L1_II, act_complete_value), NULL},
    {L1_II, L1_LAST_READ, GO(L1_I, act_complete_value), NULL},
    {L1_II, L1_READ_AGAIN, GO_HARDENED(L1_II, act_request_again, act_complete_value), NULL},
    {L1_VM, L1_ACK_G, GO_HARDENED(L1_VM, act_upgraded, act_set_gwct, act_complete),
     "the authors' simulator keeps the latest answer's GWCT, not the largest one"},
    {L1_VM, L1_LAST_ACK_G, GO_HARDENED(L1_V, act_upgraded, act_set_gwct, act_complete), NULL},
    {L1_VM, L1_DATA_G, GO_HARDENED(L1_VM, act_fill_around_stores, act_set_gwct, act_complete), NULL},
    {L1_VM, L1_LAST_DATA_G, GO_HARDENED(L1_V, act_fill_around_stores, act_set_gwct, act_complete), NULL},
    {L1_II, L1_ACK_G, GO(L1_II, act_set_gwct, act_complete), NULL},
    {L1_II, L1_LAST_ACK_G, GO(L1_I, act_set_gwct, act_complete), NULL},
    {L1_II, L1_DATA_G, GO(L1_II, act_set_gwct, act_complete), NULL},
    {L1_II, L1_LAST_DATA_G, GO(L1_I, act_set_gwct, act_complete), NULL},
};
/* clang-format on */

/* No copy is left that a store of the previous kernel could make stale. */
static void
forget_visible_stores(gpc_controller_t *unit, uint8_t cause)
{
    for (uint16_t warp = 0; cause == GPC_MSG_KERNEL_BEGIN && warp < unit->machine->warps_per_core; warp++) {
        tcw_l1_warp(unit, warp)->gwct = 0;
    }
}

static const gpc_table_t l1 = {GPC_TABLE("L1", OVER_LINES, L1, l1_table, l1_classify), TC_L1_EXPIRY};
static const gpc_table_t authors = {
    GPC_PATCHED_TABLE("L1", OVER_LINES, L1, "tc-weak", l1, authors_patches, l1_classify)};

const gpc_controller_type_t tcw_l1 = {
    .name = "L1",
    .position = GPC_AT_CORE,
    .tables = {&l1},
    .variants = {{.table = 0, .option = TCW_OPTION_SIMULATOR, .value = TCW_SIMULATOR_AUTHORS, .by = &authors}},
    .arrays = {{.name = "tags", .line = tc_l1_line_described, .has_data = true}},
    .mshr = tcw_l1_mshr_described,
    .warp = tcw_l1_warp_described,
    .begins = 1u << 0,
    .launch = forget_visible_stores,
    TC_L1_LEASE,
};

/* ---- memory order ------------------------------------------------------------------------------------------------ */

/* A fence waits until every older store of the warp is globally visible. */
static int
release_waits_for_gwct(gpc_controller_t *unit, uint16_t warp, uint8_t scope, gpc_cycle_t *until)
{
    gpc_cycle_t gwct = tcw_l1_warp(unit, warp)->gwct;

    (void) scope; /* every scope waits */
    if (gwct < gpc_now_at(unit)) {
        return GPC_OK;
    }
    *until = gwct + 1;
    return GPC_HOLD;
}

/* The end of a warp: a fence if copies outlive the launch. */
static int
exit_waits_for_gwct(gpc_controller_t *unit, uint16_t warp, gpc_cycle_t *until)
{
    return waits_at_exit(unit) ? release_waits_for_gwct(unit, warp, GPC_SCOPE_SYS, until) : GPC_OK;
}

static int
check_options(const gpc_machine_t *machine, const int64_t *options, gpc_failure_t *failure)
{
    return tc_check_lifetime("tc-weak", machine, options[TCW_OPTION_LIFETIME], failure);
}

/* ---- monitors ---------------------------------------------------------------------------------------------------- */

static const gpc_watched_t watched = {.promise = GPC_PROMISE_LEASED,
                                      .readable = 1u << L1_V | 1u << L1_VM,
                                      .copies = 1u << L1_V | 1u << L1_VM,
                                      .bank_is_whole = true};

const gpc_protocol_t gpc_protocol_tc_weak = {
    .id = "tc-weak",
    .name = "TC-Weak",
    .paper = "Singh et al., HPCA 2013",
    .family = "temporal coherence",
    .text = "leases self-invalidate; stores never stall, fences wait until stores are globally visible (GWCT)",
    .model = {[GPC_RULE_RC] = "RCpc"},
    .standard_rule = GPC_RULE_RC,
    .controllers = {&tcw_l1, &tcw_l2},
    GPC_MESSAGES_OF(TCW),
    .message = tc_message_described,
    .networks = TC_NETWORKS,
    .order = {.release = release_waits_for_gwct, .exit = exit_waits_for_gwct},
    .options = {[TCW_OPTION_LIFETIME] = {.name = "lifetime",
                                         .standard = TCW_LIFETIME_PREDICTED,
                                         .smallest = TCW_LIFETIME_PREDICTED,
                                         .largest = 65535,
                                         .choices = "predicted",
                                         .text = "lease lifetime in core cycles, or predicted by each bank",
                                         .small = {true, 2},
                                         .fuzz_least = TCW_LIFETIME_PREDICTED,
                                         .fuzz_most = 8000},
                [TCW_OPTION_PRIVATE] =
                    GPC_CHOICE("private", TCW_PRIVATE_BUMP, TCW_PRIVATE_BUMP, "literal bump",
                               "timestamp of private copies: as table 2 prints it, or incremented with the L2's"),
                [TCW_OPTION_PREDICTOR] =
                    GPC_CHOICE("predictor", TCW_PREDICTOR_PAPER, TCW_PREDICTOR_REFERENCE, "paper reference",
                               "by how much the predictor changes: table 4's numbers, or those of the authors' "
                               "public simulator"),
                [TCW_OPTION_PREDICTOR_BOUNDS] =
                    GPC_CHOICE("predictor_bounds", TCW_BOUNDS_REFERENCE, TCW_BOUNDS_WIDTH, "reference width",
                               "where predictions begin and end: as in the authors' public simulator, at 800 cycles, "
                               "and stores shorten only longer ones; or at 1,024, within 0 to 65,535"),
                [TCW_OPTION_PREDICT_DOWN] =
                    GPC_CHOICE("predict_down", TCW_PREDICT_DOWN_STORE, TCW_PREDICT_DOWN_WRITE, "store write",
                               "what predicts shorter at a leased line: stores that others' leases delay, "
                               "or also private stores and atomics"),
                [TCW_OPTION_SIMULATOR] =
                    {.name = "simulator",
                     .standard = TCW_SIMULATOR_OFF,
                     .smallest = TCW_SIMULATOR_OFF,
                     .largest = TCW_SIMULATOR_AUTHORS,
                     .choices = "off authors",
                     .text = "emulate the authors' public simulator: loads take their values at issue, and an "
                             "answer replaces its warp's GWCT",
                     .analysis = "fences may end before their stores are visible"},
                [TCW_OPTION_LAUNCH] =
                    GPC_CHOICE("launch", TCW_LAUNCH_DROP, TCW_LAUNCH_WAIT, "drop wait",
                               "between launches: L1s drop their copies, or warps end as fences do and copies stay"),
                [TCW_OPTION_BYTES] = PUBLIC_BYTES_OPTION},
    .other_sizes = PUBLIC_SIZES(TCW_OPTION_BYTES, public_bytes),
    .check = check_options,
    .keeps_time = true,
    .declared =
        {/* stores are not multi-copy atomic; fences wait for their own thread's stores only */
         .weak_outcomes = "SB MP R SB+rel+acq WRC+fences IRIW+fences RWC+fences",
         .variations = "private=literal lifetime=0 lifetime=300 launch=wait predictor_bounds=width"},
    .host_write = tc_host_write,
    .watched = &watched,
    .monitor = tcw_monitor,
    .explored.serves = tc_serves,
};

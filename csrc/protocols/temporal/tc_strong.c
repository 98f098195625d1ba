/* tc_strong.c: TC-Strong, temporal coherence with write atomicity: a store waits at the L2 until every lease of its line is over.
 *
 * Paper    Singh et al., HPCA 2013, section 6.2. Two optimisations over LCC: the timestamps of evicted lines live on in the L2's MSHRs
 *          (MI), and the store of the only reader since the last expiry, told by its timestamp, does not wait (P).
 * Counts   L1 2 stable + 2 transient cache + 1 transient coherent; L2 4 + 2 + 2 (table V of Singh et al., HPCA 2017, has them; the
 *          paper's own table 1 leaves TC-Strong out).
 * Inferred every cell (the paper prints no table). The state E (every lease over) is TC-Weak's. Stores and atomics carry the
 *          L1's timestamp when it has a copy. A load to a line with a pending store is a miss, as in GPU-VI: the store is not to be
 *          seen before it is performed. The lifetime of 800 cycles (section 8.3) is asked for by the L1: 4 bytes of each GETS.
 * Hardened a line that is fetched again while an old lease is alive is shared, never private: the next matching store would complete
 *          beside a live stale copy.
 * Options  stall=bank: a waiting store stops the bank's requests (the paper's cost of TC-Strong, sections 6.2.2 and 6.3);
 *          stall=line: only later requests to its line wait.
 */
#include "protocols/temporal/tc.h"

enum { OPTION_LIFETIME, OPTION_STALL };
enum { STALL_LINE, STALL_BANK };

/* clang-format off */
/*     name          class network bytes word line   */
#define TCS_MESSAGES(X, P)                                                                                             \
    X(P, GETS,         REQ, 0, 12, 0, false, "a load wants the line, with the lifetime it asks for")                   \
    X(P, GETX,         ST,  0, 12, 4, false, "a store: word mask and words")                                           \
    X(P, ATOMIC,       ATO, 0, 12, 0, false, "read-modify-writes with their operands, performed at the L2")            \
    X(P, DATA,         LD,  1, 12, 0, true,  "the line and its timestamp")                                             \
    X(P, ACK,          ST,  1,  8, 0, false, "the store has been performed")                                           \
    X(P, ATOMIC_DATA,  ATO, 1, 12, 0, false, "the old values; the L1 keeps no line")                                   \
    X(P, GETX_TIMED,   ST,  0, 16, 4, false, "a store by an L1 that has a copy, with its timestamp")                   \
    X(P, ATOMIC_TIMED, ATO, 0, 16, 0, false, "an atomic by an L1 that had a copy, with its timestamp")
/* clang-format on */
GPC_MESSAGES(TCS, TCS_MESSAGES)
BASELINE_SAME_MESSAGES(TCS);

/* ---- L1 -------------------------------------------------------------------------------------------------------------- */

#define L1_STATES(X) TC_L1_STATES(X, "present, own stores outstanding: not readable until they are performed")

#define L1_EVENTS(X)                                                                          \
    TC_L1_EVENTS(X)                                                                           \
    X(L1_DONE, "a store or atomic is performed, other requests outstanding")                  \
    X(L1_LAST_DONE, "a store or atomic is performed, the last request outstanding")

GPC_FSM(L1, L1_STATES, L1_EVENTS)
TC_L1_STATES(TC_SAME, "")
TC_L1_EVENTS(TC_SAME)

static gpc_event_id_t
l1_classify(const gpc_step_t *x)
{
    gpc_event_id_t event = tc_l1_classify(x);
    if (event != GPC_NO_EVENT || x->cause < GPC_MSG_OWN || x->mshr == GPC_NONE) {
        return event;
    }
    return gpc_is_last_answer(x) ? L1_LAST_DONE : L1_DONE;
}

GPC_ACTION(act_write_through_timed, "GETX_TIMED with the copy's timestamp; the store is then pending")
{
    return tc_send_timed(x, TCS_GETX_TIMED, tc_l1_line(x)->timestamp);
}

GPC_ACTION(act_send_atomic_timed, "ATOMIC_TIMED with the copy's timestamp; the atomic is then pending")
{
    return tc_send_timed(x, TCS_ATOMIC_TIMED, tc_l1_line(x)->timestamp);
}

/* clang-format off */
static const gpc_cell_t l1_table[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_I] = {
        [L1_LOAD] = GO(L1_IV, act_reserve_way, tc_act_request_line),
        [L1_STORE] = GO(L1_II, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_send_atomic),
    },
    [L1_V] = {
        [L1_LOAD] = GO(L1_V, act_hit),
        [L1_STORE] = GO(L1_VM, act_write_line, act_write_through_timed),
        [L1_ATOMIC] = GO(L1_II, act_send_atomic_timed, act_release_way),
        [L1_EVICT] = GO(L1_I),
        [L1_EXPIRE] = GO(L1_I, act_note_expired_miss),
    },
    [L1_VM] = {
        [L1_LOAD] = GO(L1_VM, tc_act_request_line), /* a miss: others must not read the value before the L2 has it */
        [L1_STORE] = GO(L1_VM, act_write_line, act_write_through_timed),
        [L1_ATOMIC] = GO(L1_II, act_send_atomic_timed, act_release_way),
        [L1_EVICT] = NOT_A_VICTIM,
        [L1_EXPIRE] = GO(L1_II, act_note_expired_miss, act_release_way),
        [L1_READ] = GO(L1_VM, act_complete),
        [L1_LAST_READ] = GO(L1_V, act_complete),
        [L1_DONE] = GO(L1_VM, act_complete),
        [L1_LAST_DONE] = GO(L1_V, act_complete), /* it was private: else the L2 had waited until this copy was over */
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
        [L1_DONE] = GO(L1_II, act_complete),
        [L1_LAST_DONE] = GO(L1_I, act_complete),
    },
};
/* clang-format on */

static const gpc_table_t l1 = {GPC_TABLE("L1", OVER_LINES, L1, l1_table, l1_classify)};

static const gpc_controller_type_t tcs_l1 = {
    .name = "L1",
    .position = GPC_AT_CORE,
    .tables = {&l1},
    .arrays = {{.name = "tags", .line = tc_l1_line_described, .has_data = true}},
    .mshr = gpc_requests_mshr_described,
    .victim_rank = tc_l1_victim_rank,
};

/* ---- L2 -------------------------------------------------------------------------------------------------------------- */

#define L2_STATES(X)                                                                       \
    TC_L2_STATES(X)                                                                        \
    X(L2_WS, TRANSIENT_COHERENCE, "a store or atomic waits for the last lease")

#define L2_EVENTS(X)                                                                       \
    TC_L2_EVENTS(X)                                                                        \
    X(L2_GETX_PRIVATE, "a store by the only one who may have a copy")                      \
    X(L2_ATOMIC_PRIVATE, "an atomic by the only one who may have had a copy")              \
    X(L2_BLOCKED, "any request while a store waits at this bank (stall=bank)")             \
    X(L2_TIME_STORE, "the last lease is over; a store has waited for it")                  \
    X(L2_TIME_ATOMIC, "the last lease is over; an atomic has waited for it")               \
    X(L2_FILL_LIVE, "memory's answer for a store or atomic beside an old lease")

GPC_FSM(L2, L2_STATES, L2_EVENTS)
TC_L2_STATES(TC_SAME)
TC_L2_EVENTS(TC_SAME)

#define L2_UNIT(FIELD) FIELD(PLAIN, uint32_t, waiting) /* stores and atomics that wait for leases */
GPC_METADATA(tcs_l2, unit, L2_UNIT)

static bool
is_store(const gpc_step_t *x, gpc_index_t writer)
{
    uint8_t type = gpc_msg_at(x->unit->messages, writer)->type;
    return type == TCS_GETX || type == TCS_GETX_TIMED;
}

static gpc_event_id_t
classify_fill(const gpc_step_t *x)
{
    const gpc_list_t *pending = gpc_step_pending(x);
    bool live = !gpc_expired(x, tc_l2_mshr(x)->timestamp);

    if (x->state == L2_IS) {
        return live || pending->count > 1 ? L2_FILL_SHARED : L2_FILL;
    }
    if (live) {
        return L2_FILL_LIVE;
    }
    return is_store(x, pending->head) ? L2_FILL_STORE : L2_FILL_ATOMIC;
}

static gpc_event_id_t
classify_request(const gpc_step_t *x)
{
    if (tcs_l2_unit(x->unit)->waiting && x->unit->options[OPTION_STALL] == STALL_BANK) {
        return L2_BLOCKED;
    }
    if (x->cause == TCS_GETS) {
        return L2_GETS;
    }
    bool timed = x->cause == TCS_GETX_TIMED || x->cause == TCS_ATOMIC_TIMED;
    bool match = timed && x->state == L2_P && tc_message(x->msg)->timestamp == tc_l2_line(x)->timestamp;
    if (is_store(x, x->message)) {
        return match ? L2_GETX_PRIVATE : L2_GETX;
    }
    return match ? L2_ATOMIC_PRIVATE : L2_ATOMIC;
}

static gpc_event_id_t
l2_classify(const gpc_step_t *x)
{
    gpc_event_id_t event = tc_l2_classify(x);
    if (event != GPC_NO_EVENT) {
        return event;
    }
    switch (x->cause) {
        case GPC_MSG_FILL:
            return classify_fill(x);
        case GPC_MSG_TIMER:
            return is_store(x, gpc_step_pending(x)->head) ? L2_TIME_STORE : L2_TIME_ATOMIC;
        default:
            return x->cause >= GPC_MSG_OWN ? classify_request(x) : GPC_NO_EVENT;
    }
}

GPC_ACTION(act_extend, "the line's lease lasts a lifetime from now")
{
    gpc_extend_lease(x, &tc_l2_line(x)->timestamp, (gpc_cycle_t) x->unit->options[OPTION_LIFETIME]);
    return GPC_OK;
}

GPC_ACTION(act_await_leases, "a timer for the end of the last lease")
{
    tcs_l2_unit(x->unit)->waiting++;
    return gpc_wake_line_at(x, tc_l2_line(x)->timestamp + 1);
}

GPC_ACTION(act_waited, "one less that waits for leases")
{
    tcs_l2_unit(x->unit)->waiting--;
    return GPC_OK;
}

GPC_ACTION(act_send_ack, "ACK to the writer")
{
    return tc_answer_writer(x, TCS_ACK, 0);
}

GPC_ACTION(act_send_old, "the old values to who sent the atomic")
{
    return tc_answer_writer(x, TCS_ATOMIC_DATA, 0);
}

/* What ends a waiting store's wait is time, which nothing stops; what ends a fetch is memory. */
/* clang-format off */
static const gpc_cell_t l2_table[L2_NUM_STATES][L2_NUM_EVENTS] = {
    [L2_I] = {
        [L2_GETS] = GO(L2_IS, act_reserve_way, act_fetch),
        [L2_GETX] = GO(L2_IM, act_reserve_way, act_fetch),
        [L2_ATOMIC] = GO(L2_IM, act_reserve_way, act_fetch),
        [L2_BLOCKED] = HOLD_QUEUE,
    },
    [L2_P] = {
        [L2_GETS] = GO(L2_S, act_extend, tc_act_answer),
        [L2_GETX] = GO(L2_WS, act_await_leases, act_wait),
        [L2_GETX_PRIVATE] = GO(L2_P, writer_act_write, act_send_ack),
        [L2_ATOMIC] = GO(L2_WS, act_await_leases, act_wait),
        [L2_ATOMIC_PRIVATE] = GO(L2_P, writer_act_perform, act_send_old),
        [L2_BLOCKED] = HOLD_QUEUE,
        [L2_EVICT_CLEAN] = GO(L2_MI, act_keep_lease),
        [L2_EVICT_DIRTY] = GO(L2_MI, act_write_back, act_keep_lease),
        [L2_EXPIRE] = GO(L2_E),
    },
    [L2_S] = {
        [L2_GETS] = GO(L2_S, act_extend, tc_act_answer),
        [L2_GETX] = GO(L2_WS, act_await_leases, act_wait),
        [L2_ATOMIC] = GO(L2_WS, act_await_leases, act_wait),
        [L2_BLOCKED] = HOLD_QUEUE,
        [L2_EVICT_CLEAN] = GO(L2_MI, act_keep_lease),
        [L2_EVICT_DIRTY] = GO(L2_MI, act_write_back, act_keep_lease),
        [L2_EXPIRE] = GO(L2_E),
    },
    [L2_E] = {
        [L2_GETS] = GO(L2_P, act_extend, tc_act_answer),
        [L2_GETX] = GO(L2_E, writer_act_write, act_send_ack),
        [L2_ATOMIC] = GO(L2_E, writer_act_perform, act_send_old),
        [L2_BLOCKED] = HOLD_QUEUE,
        [L2_EVICT_CLEAN] = GO(L2_I),
        [L2_EVICT_DIRTY] = GO(L2_I, act_write_back),
    },
    [L2_IS] = {
        [L2_GETS] = GO(L2_IS, act_merge),
        [L2_GETX] = HOLD_LINE,
        [L2_ATOMIC] = HOLD_LINE,
        [L2_BLOCKED] = HOLD_QUEUE,
        [L2_EVICT_CLEAN] = NOT_A_VICTIM,
        [L2_FILL] = GO(L2_P, tc_act_fill_line, act_extend, tc_act_answer_all),
        [L2_FILL_SHARED] = GO_HARDENED(L2_S, tc_act_fill_line, act_extend, tc_act_answer_all),
    },
    [L2_IM] = {
        [L2_GETS] = HOLD_LINE,
        [L2_GETX] = HOLD_LINE,
        [L2_ATOMIC] = HOLD_LINE,
        [L2_BLOCKED] = HOLD_QUEUE,
        [L2_EVICT_CLEAN] = NOT_A_VICTIM,
        [L2_FILL_STORE] = GO(L2_E, tc_act_fill_line, writer_act_write, act_send_ack),
        [L2_FILL_ATOMIC] = GO(L2_E, tc_act_fill_line, writer_act_perform, act_send_old),
        [L2_FILL_LIVE] = GO(L2_WS, tc_act_fill_line, act_await_leases),
    },
    [L2_MI] = { /* the transaction goes on with its timestamp */
        [L2_GETS] = GO(L2_IS, act_reserve_way, act_fetch),
        [L2_GETX] = GO(L2_IM, act_reserve_way, act_fetch),
        [L2_ATOMIC] = GO(L2_IM, act_reserve_way, act_fetch),
        [L2_BLOCKED] = HOLD_QUEUE,
        [L2_EXPIRE] = GO(L2_I),
    },
    [L2_WS] = {
        [L2_GETS] = HOLD_LINE, /* a reader must not extend the lease: the store would starve */
        [L2_GETX] = HOLD_LINE,
        [L2_ATOMIC] = HOLD_LINE,
        [L2_BLOCKED] = HOLD_QUEUE,
        [L2_EVICT_CLEAN] = NOT_A_VICTIM,
        [L2_EVICT_DIRTY] = NOT_A_VICTIM,
        [L2_TIME_STORE] = GO(L2_E, act_waited, writer_act_write, act_send_ack),
        [L2_TIME_ATOMIC] = GO(L2_E, act_waited, writer_act_perform, act_send_old),
    },
};
/* clang-format on */

static const gpc_table_t l2 = {GPC_TABLE("L2", OVER_LINES, L2, l2_table, l2_classify)};

static const gpc_controller_type_t tcs_l2 = {
    .name = "L2",
    .position = GPC_AT_BANK,
    .tables = {&l2},
    .arrays = {{.name = "tags", .line = tc_l2_line_described, .has_data = true}},
    .mshr = tc_l2_mshr_described,
    .unit = tcs_l2_unit_described,
    .victim_rank = tc_l2_victim_rank,
    .may_idle_in_transaction = true,
    .idle_until = tc_lease_end,
};

static int
check_options(const gpc_machine_t *machine, const int64_t *options, gpc_failure_t *failure)
{
    return tc_check_lifetime("tc-strong", machine, options[OPTION_LIFETIME], failure);
}

/* ---- monitors -------------------------------------------------------------------------------------------------------- */

static const gpc_watched_t watched = {.promise = GPC_PROMISE_FRESH,
                                      .readable = 1u << L1_V,
                                      .copies = 1u << L1_V | 1u << L1_VM,
                                      .bank_is_whole = true,
                                      .lease = tc_lease,
                                      .leased = tc_leased};

static int
monitor(const gpc_units_t *units, gpc_address_t line)
{
    return tc_check_private(units->cores, units->num_cores, units->bank, line, L2_P);
}

const gpc_protocol_t gpc_protocol_tc_strong = {
    .id = "tc-strong",
    .name = "TC-Strong",
    .paper = "Singh et al., HPCA 2013",
    .family = "temporal coherence",
    .text = "copies end by themselves; a store waits at the L2 until every lease of its line is over",
    .model = {[GPC_RULE_SC] = "SC", [GPC_RULE_RC] = "RC-MCA"},
    .standard_rule = GPC_RULE_RC,
    .controllers = {&tcs_l1, &tcs_l2},
    .messages = TCS_info,
    .num_messages = GPC_COUNT_OF(TCS_info),
    .message = tc_message_described,
    .networks = TC_NETWORKS,
    .options = {[OPTION_LIFETIME] = {.name = "lifetime",
                                     .standard = 800,
                                     .smallest = 1,
                                     .largest = 65535,
                                     .text = "cycles that a lease lasts",
                                     .small = {true, 2},
                                     .fuzz_least = 1,
                                     .fuzz_most = 8000},
                [OPTION_STALL] = {.name = "stall",
                                  .standard = STALL_BANK,
                                  .smallest = STALL_LINE,
                                  .largest = STALL_BANK,
                                  .choices = "line bank",
                                  .text = "what waits behind a waiting store: requests to its line, or to its bank",
                                  .fuzz_least = STALL_LINE,
                                  .fuzz_most = STALL_BANK}},
    .check = check_options,
    .keeps_time = true,
    .declared = {.figure_slot = 6,
                 .weak_outcomes = "SB MP R 2+2W SB+rel+acq",
                 .variations = "stall=line lifetime=100",
                 .uncovered = {{.table = "L1",
                                .states = "IV II",
                                .events = "BEHIND",
                                .rules = "sc",
                                .reason = "a warp has one access outstanding: no load of its own can have merged when "
                                          "it stores"}}},
    .host_read = gpc_host_read,
    .host_write = tc_host_write,
    .watched = &watched,
    .monitor = monitor,
};

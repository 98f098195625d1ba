/* tc_strong.c: TC-Strong, temporal coherence with write atomicity: a store waits at the L2 until every lease of its
 * line has expired.
 *
 * Paper    Singh et al., HPCA 2013, section 6.2. Two optimisations over LCC: the L2's MSHRs keep the timestamps of
 *          evicted lines (MI), and the store of the only reader since the last expiry, identified by its timestamp,
 *          does not wait (P).
 * Inferred every cell (the paper prints no table). The state E (every lease expired) is TC-Weak's. Stores and atomics
 *          carry the L1's timestamp when it has a copy. A load to a line with a pending store is a miss, as in GPU-VI:
 *          the store is not readable before it is performed. The L1 requests the lifetime of 800 cycles (section 8.3):
 *          4 bytes of each GETS.
 * Hardened a line that is fetched again under a live old lease is shared, never private: otherwise the next matching
 *          store would complete beside a live stale copy.
 * Options  stall=line, the default: a waiting store stalls later requests to its line but reads, which it lets pass
 *          until its wait is over. A number: waiting stores and atomics, and all requests behind them to their lines,
 *          wait in a queue of N places at the bank, beside that of its requests; while it is full the bank
 *          stalls. stall=bank is a queue of one place: a waiting store stalls all requests of its bank. The paper says
 *          that the L2 stalls the store (6.2), and that stalling the in-order L2 controllers affects all cores (6.2.2,
 *          6.3), but not which requests wait, or where; a miss leaves the request queue for one of 128 MSHRs (3.1,
 *          table 4), which would be 128 places. The authors' public simulator does say it: it retries the store and
 *          lets the requests behind it pass (cachelease2oo-L2cache.sm, stores in S and SS; the line that would block
 *          the queue is commented out), and answers reads of the line with its old timestamp, which does not starve the
 *          store. Two conditions are ours: the lease has not ended, and the reader is not the writer's warp, which must
 *          read its own store (CoWR).
 */
#include "protocols/temporal/tc.h"

enum { OPTION_LIFETIME, OPTION_STALL, OPTION_BYTES };
enum { STALL_LINE, STALL_BANK }; /* or the queue's places */

/* clang-format off */
/*     name          class network bytes word line   */
#define TCS_MESSAGES(X, P)                                                                                   \
    X(P, GETS,         REQ, 0, 12, 0, false, "read request for a line, with the requested lifetime")         \
    X(P, GETX,         ST,  0, 12, 4, false, "write-through store: word mask and words")                     \
    X(P, ATOMIC,       ATO, 0, 12, 0, false, "atomic read-modify-writes with operands, performed at the L2") \
    X(P, DATA,         LD,  1, 12, 0, true,  "line to read, with its timestamp")                             \
    X(P, ACK,          ST,  1,  8, 0, false, "store performed at the L2")                                    \
    X(P, ATOMIC_DATA,  ATO, 1, 12, 0, false, "old values of atomics; no line is cached")                     \
    X(P, GETX_TIMED,   ST,  0, 16, 4, false, "store by an L1 with a copy, with the copy's timestamp")        \
    X(P, ATOMIC_TIMED, ATO, 0, 16, 0, false, "atomic by an L1 that had a copy, with the copy's timestamp")
/* clang-format on */
GPC_MESSAGES(TCS, TCS_MESSAGES)
BASELINE_SAME_MESSAGES(TCS);

/* ---- L1 ---------------------------------------------------------------------------------------------------------- */

#define L1_STATES(X) TC_L1_STATES(X, "present, own stores outstanding; readable once they are performed")

#define L1_EVENTS(X)                                                    \
    TC_L1_EVENTS(X)                                                     \
    X(L1_DONE, "store or atomic performed; other requests outstanding") \
    X(L1_LAST_DONE, "store or atomic performed; last request outstanding")

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

GPC_ACTION(act_write_through_timed, "send GETX_TIMED with the copy's timestamp; the store becomes pending")
{
    return tc_send_timed(x, TCS_GETX_TIMED, tc_l1_line(x)->timestamp);
}

GPC_ACTION(act_send_atomic_timed, "send ATOMIC_TIMED with the copy's timestamp; the atomic becomes pending")
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
        /* a miss: the value is not readable before the L2 performs the store */
        [L1_LOAD] = GO(L1_VM, tc_act_request_line),
        [L1_STORE] = GO(L1_VM, act_write_line, act_write_through_timed),
        [L1_ATOMIC] = GO(L1_II, act_send_atomic_timed, act_release_way),
        [L1_EVICT] = NOT_A_VICTIM,
        [L1_EXPIRE] = GO(L1_II, act_note_expired_miss, act_release_way),
        [L1_READ] = GO(L1_VM, act_complete),
        [L1_LAST_READ] = GO(L1_V, act_complete),
        [L1_DONE] = GO(L1_VM, act_complete),
        /* it was private: otherwise the L2 would have waited for this copy to expire */
        [L1_LAST_DONE] = GO(L1_V, act_complete),
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
        [L1_DONE] = GO(L1_II, act_complete),
        [L1_LAST_DONE] = GO(L1_I, act_complete),
    },
};
/* clang-format on */

static const gpc_table_t l1 = {GPC_TABLE("L1", OVER_LINES, L1, l1_table, l1_classify), TC_L1_EXPIRY};

static const gpc_controller_type_t tcs_l1 = {
    .name = "L1",
    .position = GPC_AT_CORE,
    .tables = {&l1},
    .arrays = {{.name = "tags", .line = tc_l1_line_described, .has_data = true}},
    .mshr = gpc_requests_mshr_described,
    TC_L1_LEASE,
};

/* ---- L2 ---------------------------------------------------------------------------------------------------------- */

#define L2_STATES(X)                                                                       \
    TC_L2_STATES(X)                                                                        \
    X(L2_WS, TRANSIENT_COHERENCE, "store or atomic waits for the last lease to expire")

#define L2_EVENTS(X)                                           \
    TC_L2_EVENTS(X)                                            \
    X(L2_GETX_PRIVATE, "store by the only possible sharer")    \
    X(L2_ATOMIC_PRIVATE, "atomic by the only possible sharer") \
    X(L2_TIME_STORE, "last lease expired; a store waits")      \
    X(L2_TIME_ATOMIC, "last lease expired; an atomic waits")   \
    X(L2_FILL_LIVE, "fill from memory, for a store or atomic; unexpired lease")  \
    X(L2_GETS_OLD, "read request under an unexpired lease, of another warp than the one whose write waits") \
    X(L2_QUEUE_FULL, "request while the queue of those that wait for leases is full; stall=bank or a number")

GPC_FSM(L2, L2_STATES, L2_EVENTS)
TC_L2_STATES(TC_SAME)
TC_L2_EVENTS(TC_SAME)

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

/* Whether the writer has the line's latest lease. */
static bool
is_only_sharer(const gpc_step_t *x)
{
    return x->state == L2_P && tc_message(x->msg)->timestamp == tc_l2_line(x)->timestamp;
}

/* Whether the queue of stores and atomics that wait for leases, and of requests behind them, has no place. A store that
 * was fetched under an unexpired lease enters it even then. */
static bool
is_queue_full(const gpc_step_t *x)
{
    const gpc_mshr_table_t *mshrs = &x->unit->mshrs;
    int64_t places = x->unit->options[OPTION_STALL], taken = 0;

    if (places == STALL_LINE) {
        return false; /* no queue */
    }
    for (gpc_index_t i = 0; i < *mshrs->high && taken < places; i++) {
        const gpc_mshr_t *entry = gpc_mshr_at(mshrs, i);
        taken += entry->live && entry->state == L2_WS ? 1 + (int64_t) entry->waiters.count : 0;
    }
    return taken >= places;
}

/* Whether the old value may still be read: no queue keeps the order of requests, the lease lasts, and the write that
 * waits is not the reader's own. */
static bool
reads_old_value(const gpc_step_t *x)
{
    if (x->unit->options[OPTION_STALL] != STALL_LINE || x->state != L2_WS || gpc_expired(x, tc_l2_line(x)->timestamp)) {
        return false;
    }
    const gpc_msg_t *write = gpc_first_pending(x);
    return write->source != x->msg->source || write->warp != x->msg->warp;
}

static gpc_event_id_t
classify_request(const gpc_step_t *x)
{
    switch (x->cause) {
        case TCS_GETS:
            return reads_old_value(x) ? L2_GETS_OLD : L2_GETS;
        case TCS_GETX:
            return L2_GETX;
        case TCS_ATOMIC:
            return L2_ATOMIC;
        case TCS_GETX_TIMED:
            return is_only_sharer(x) ? L2_GETX_PRIVATE : L2_GETX;
        case TCS_ATOMIC_TIMED:
            return is_only_sharer(x) ? L2_ATOMIC_PRIVATE : L2_ATOMIC;
        default:
            return GPC_NO_EVENT;
    }
}

static gpc_event_id_t
l2_classify(const gpc_step_t *x)
{
    switch (x->cause) {
        case GPC_MSG_EVICT:
            return gpc_is_dirty(x) ? L2_EVICT_DIRTY : L2_EVICT_CLEAN;
        case GPC_MSG_FILL:
            return classify_fill(x);
        case GPC_MSG_TIMER:
            return is_store(x, gpc_step_pending(x)->head) ? L2_TIME_STORE : L2_TIME_ATOMIC;
        default:
            return is_queue_full(x) ? L2_QUEUE_FULL : classify_request(x);
    }
}

GPC_ACTION(act_extend, "extend the lease to the requested lifetime from now")
{
    gpc_extend_lease(x, &tc_l2_line(x)->timestamp, (gpc_cycle_t) x->unit->options[OPTION_LIFETIME]);
    return GPC_OK;
}

GPC_ACTION(act_await_leases, "set a timer for the end of the last lease")
{
    return gpc_wake_line_at(x, tc_l2_line(x)->timestamp + 1);
}

GPC_ACTION(act_send_ack, "send ACK to the writer")
{
    return tc_answer_writer(x, TCS_ACK, 0);
}

GPC_ACTION(act_send_old, "send the atomic's old values")
{
    return tc_answer_writer(x, TCS_ATOMIC_DATA, 0);
}

/* The passing of time ends every wait for leases, and so frees a place of a full queue; memory ends every fetch. */
/* clang-format off */
static const gpc_cell_t l2_table[L2_NUM_STATES][L2_NUM_EVENTS] = {
    [L2_I] = {
        [L2_GETS] = GO(L2_IS, act_reserve_way, act_fetch),
        [L2_GETX] = GO(L2_IM, act_reserve_way, act_fetch),
        [L2_ATOMIC] = GO(L2_IM, act_reserve_way, act_fetch),
        [L2_QUEUE_FULL] = HOLD_QUEUE,
    },
    [L2_P] = {
        [L2_GETS] = GO(L2_S, act_extend, tc_act_answer),
        [L2_GETX] = GO(L2_WS, act_await_leases, act_wait),
        [L2_GETX_PRIVATE] = GO(L2_P, writer_act_write, act_send_ack),
        [L2_ATOMIC] = GO(L2_WS, act_await_leases, act_wait),
        [L2_ATOMIC_PRIVATE] = GO(L2_P, writer_act_perform, act_send_old),
        [L2_EVICT_CLEAN] = GO(L2_MI, act_keep_lease),
        [L2_EVICT_DIRTY] = GO(L2_MI, act_write_back, act_keep_lease),
        [L2_EXPIRE] = GO(L2_E),
        [L2_QUEUE_FULL] = HOLD_QUEUE,
    },
    [L2_S] = {
        [L2_GETS] = GO(L2_S, act_extend, tc_act_answer),
        [L2_GETX] = GO(L2_WS, act_await_leases, act_wait),
        [L2_ATOMIC] = GO(L2_WS, act_await_leases, act_wait),
        [L2_EVICT_CLEAN] = GO(L2_MI, act_keep_lease),
        [L2_EVICT_DIRTY] = GO(L2_MI, act_write_back, act_keep_lease),
        [L2_EXPIRE] = GO(L2_E),
        [L2_QUEUE_FULL] = HOLD_QUEUE,
    },
    [L2_E] = {
        [L2_GETS] = GO(L2_P, act_extend, tc_act_answer),
        [L2_GETX] = GO(L2_E, writer_act_write, act_send_ack),
        [L2_ATOMIC] = GO(L2_E, writer_act_perform, act_send_old),
        [L2_EVICT_CLEAN] = GO(L2_I),
        [L2_EVICT_DIRTY] = GO(L2_I, act_write_back),
        [L2_QUEUE_FULL] = HOLD_QUEUE,
    },
    [L2_IS] = {
        [L2_GETS] = GO(L2_IS, act_merge),
        BASELINE_HOLD_WRITES,
        [L2_EVICT_CLEAN] = NOT_A_VICTIM,
        [L2_FILL] = GO(L2_P, tc_act_fill_line, act_extend, tc_act_answer_all),
        [L2_FILL_SHARED] = GO_HARDENED(L2_S, tc_act_fill_line, act_extend, tc_act_answer_all),
        [L2_QUEUE_FULL] = HOLD_QUEUE,
    },
    [L2_IM] = {
        BASELINE_HOLD_REQUESTS,
        [L2_EVICT_CLEAN] = NOT_A_VICTIM,
        [L2_FILL_STORE] = GO(L2_E, tc_act_fill_line, writer_act_write, act_send_ack),
        [L2_FILL_ATOMIC] = GO(L2_E, tc_act_fill_line, writer_act_perform, act_send_old),
        [L2_FILL_LIVE] = GO(L2_WS, tc_act_fill_line, act_await_leases),
        [L2_QUEUE_FULL] = HOLD_QUEUE,
    },
    [L2_MI] = { /* the transaction continues, with its timestamp */
        [L2_GETS] = GO(L2_IS, act_reserve_way, act_fetch),
        [L2_GETX] = GO(L2_IM, act_reserve_way, act_fetch),
        [L2_ATOMIC] = GO(L2_IM, act_reserve_way, act_fetch),
        [L2_EXPIRE] = GO(L2_I),
        [L2_QUEUE_FULL] = HOLD_QUEUE,
    },
    [L2_WS] = {
        [L2_GETS] = HOLD_LINE, /* a read must not extend the lease: the store would starve */
        [L2_GETS_OLD] = GO(L2_WS, tc_act_answer),
        BASELINE_HOLD_WRITES,
        BASELINE_NOT_VICTIMS,
        [L2_TIME_STORE] = GO(L2_E, writer_act_write, act_send_ack),
        [L2_TIME_ATOMIC] = GO(L2_E, writer_act_perform, act_send_old),
        [L2_QUEUE_FULL] = HOLD_QUEUE,
    },
};
/* clang-format on */

static const gpc_table_t l2 = {GPC_TABLE("L2", OVER_LINES, L2, l2_table, l2_classify),
                               .causes = {ON(GPC_MSG_EXPIRE, L2_EXPIRE)}, TC_L2_EXPIRY};

static const gpc_controller_type_t tcs_l2 = {
    .name = "L2",
    .position = GPC_AT_BANK,
    .tables = {&l2},
    .arrays = {{.name = "tags", .line = tc_l2_line_described, .has_data = true}},
    .mshr = tc_l2_mshr_described,
    TC_L2_LEASE,
    .may_idle_in_transaction = true,
    .idle_until = tc_lease_end,
};

static int
check_options(const gpc_machine_t *machine, const int64_t *options, gpc_failure_t *failure)
{
    return tc_check_lifetime("tc-strong", machine, options[OPTION_LIFETIME], failure);
}

/* ---- monitors ---------------------------------------------------------------------------------------------------- */

static const gpc_watched_t watched = {
    .promise = GPC_PROMISE_FRESH, .readable = 1u << L1_V, .copies = 1u << L1_V | 1u << L1_VM, .bank_is_whole = true};

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
    .text = "leases self-invalidate; a store waits at the L2 until every lease of its line has expired",
    .model = {[GPC_RULE_SC] = "SC", [GPC_RULE_RC] = "RC-MCA"},
    .standard_rule = GPC_RULE_RC,
    .controllers = {&tcs_l1, &tcs_l2},
    GPC_MESSAGES_OF(TCS),
    .message = tc_message_described,
    .networks = TC_NETWORKS,
    .options = {[OPTION_LIFETIME] = GPC_NUMBER("lifetime", 800, 1, 65535, "lease lifetime in core cycles", 2, 1, 8000),
                [OPTION_STALL] = {.name = "stall",
                                  .standard = STALL_LINE,
                                  .smallest = STALL_LINE,
                                  .largest = 65536,
                                  .choices = "line bank",
                                  .text = "requests that stall behind a waiting store: to its line (not reads under "
                                          "its lease), or all of its bank; or places of a queue at the bank for both, "
                                          "which stalls the bank while it is full",
                                  .fuzz_least = STALL_LINE,
                                  .fuzz_most = 4},
                [OPTION_BYTES] = PUBLIC_BYTES_OPTION},
    .other_sizes = PUBLIC_SIZES(OPTION_BYTES, public_bytes),
    .check = check_options,
    .keeps_time = true,
    .declared = {.weak_outcomes = "SB MP R 2+2W SB+rel+acq",
                 .variations = "stall=bank stall=4 lifetime=100",
                 .uncovered = {{.table = "L1",
                                .states = "IV II",
                                .events = "BEHIND",
                                .rules = "sc",
                                .reason = "a warp has one access outstanding, so no load of its own has merged when it "
                                          "stores"}}},
    .host_write = tc_host_write,
    .watched = &watched,
    .monitor = monitor,
    .explored.serves = tc_serves,
};

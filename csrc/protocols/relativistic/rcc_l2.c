/* rcc_l2.c: the L2 of RCC-SC and RCC-WO, and rollover.
 *
 * Paper    Ren and Lis, HPCA 2017, sections III.C to III.E, figure 5.
 * Inferred an atomic counts as a write for the predictor; a lease is granted before it is doubled; a line that is
 *          fetched is predicted the longest lease, or the shortest if the fill applies a store; predictions do not
 *          survive evictions. With timestamps too narrow for 2048, leases are at most half of their range.
 * Hardened H1: a line that leaves the L2 raises mnow to exp + 1 (figure 5: exp). A store to the line that returns would
 *          otherwise have a version that equals an old lease, and a core at that time would still read the old copy.
 *          H3: the store that misses is acknowledged at once too (figure 5 prints ACK in IV only; section III.D
 *          requires it). H4: stores that wait for memory apply in order of arrival, whatever their times (as in state
 *          V, footnote 2).
 * Rollover a request, fill or eviction that would set a timestamp beyond the epoch's last first causes a rollover
 *          (WRAP): all partitions' timestamps are 0 and all L1s are flushed at that instant; then the L2 takes no
 *          request for `rollover_stall` cycles, in which STALL, FLUSH, its answers and RESUME pass a network of their
 *          own, which is not modelled.
 */
#include "protocols/relativistic/rcc.h"

#define L2_STATES(X)                                                                             \
    X(L2_I, STABLE, "not present")                                                               \
    X(L2_V, STABLE, "present")                                                                   \
    X(L2_IV, TRANSIENT_CACHE, "fetch outstanding; loads wait, stores are acknowledged and wait") \
    X(L2_IAV, TRANSIENT_CACHE, "fetch for an atomic outstanding")

#define L2_EVENTS(X)                                                         \
    X(L2_GETS, "read request")                                               \
    X(L2_GETS_RENEW, "read request of a core with an unchanged copy")        \
    X(L2_WRITE, "store")                                                     \
    X(L2_ATOMIC, "atomic")                                                   \
    X(L2_EVICT_CLEAN, "way chosen for replacement; memory is up to date")    \
    X(L2_EVICT_DIRTY, "way chosen for replacement; memory is stale")         \
    X(L2_FILL, "fill from memory; loads or an atomic wait")                  \
    X(L2_FILL_WRITTEN, "fill from memory; stores wait, and perhaps loads")   \
    X(L2_WRAP, "a timestamp would exceed the epoch (precedes the event)")    \
    X(L2_STALLED, "request during a rollover")

GPC_FSM(L2, L2_STATES, L2_EVENTS)

enum { TABLE_LINES, TABLE_ROLL };

#define L2_COUNTERS(X, P)                                                                        \
    X(P, renewals, "leases renewed without data")                                                \
    X(P, expired_unchanged, "read requests for an expired copy whose line has not been written") \
    X(P, rollovers, "rollovers of timestamps")
GPC_COUNTS(L2_COUNT, L2_COUNTERS)

/* ---- times: those of older epochs are 0 of this one -------------------------------------------------------------- */

static uint64_t
asked_at(const gpc_step_t *x)
{
    return gpc_in_epoch(x->unit, rcc_message(x->msg)->now);
}
static uint64_t
mnow_of(const gpc_step_t *x)
{
    return gpc_in_epoch(x->unit, rcc_l2_unit(x->unit)->mnow);
}
static uint64_t
ver_of(const gpc_step_t *x)
{
    return gpc_in_epoch(x->unit, rcc_l2_line(x)->ver);
}
static uint64_t
exp_of(const gpc_step_t *x)
{
    return gpc_in_epoch(x->unit, rcc_l2_line(x)->exp);
}

static uint64_t
lease_of(const gpc_step_t *x, uint64_t predicted)
{
    const int64_t *options = x->unit->options;
    return gpc_fitting_lease(x->unit, options[RCC_OPTION_PREDICT] ? predicted : (uint64_t) options[RCC_OPTION_LEASE]);
}

/* Rule 1 for the reader's clock: the lease that a load of this time gets. */
static uint64_t
lease_for(const gpc_step_t *x, uint64_t predicted, uint64_t now)
{
    return gpc_later_of(ver_of(x), now) + lease_of(x, predicted);
}
static uint64_t
next_exp(const gpc_step_t *x)
{
    return gpc_later_of(exp_of(x), lease_for(x, rcc_l2_line(x)->lease, asked_at(x)));
}
/* Rules 2 and 3: a write is no earlier than its core and the line's last write, and later than every lease. */
static uint64_t
next_ver(const gpc_step_t *x)
{
    return gpc_later_of(gpc_later_of(asked_at(x), ver_of(x)), exp_of(x) + 1);
}
static uint64_t
next_mnow(const gpc_step_t *x)
{
    return gpc_later_of(mnow_of(x), gpc_later_of(exp_of(x) + 1, ver_of(x)));
}
/* Of a store, or of all stores together, that wait for memory. */
static uint64_t
waiting_ver(const gpc_step_t *x)
{
    return gpc_later_of(gpc_in_epoch(x->unit, rcc_l2_mshr(x)->lastwr), mnow_of(x));
}
/* The lease after a fill; ver_of(x) does not count yet. */
static uint64_t
filled_exp(const gpc_step_t *x)
{
    const rcc_l2_mshr_t *mshr = rcc_l2_mshr(x);
    uint64_t ver = mshr->haswrite ? waiting_ver(x) : mnow_of(x);
    uint64_t lease = lease_of(x, mshr->haswrite ? RCC_SHORTEST_LEASE : RCC_LONGEST_LEASE);
    return gpc_later_of(ver, gpc_in_epoch(x->unit, mshr->lastrd)) + lease;
}

/* ---- classification ---------------------------------------------------------------------------------------------- */

static bool
is_unchanged(const gpc_step_t *x)
{
    return gpc_in_epoch(x->unit, rcc_message(x->msg)->exp) > ver_of(x);
}

/* Whether the reader's copy, if it has one, has expired: loads that poll renew those that have not. */
static bool
has_expired(const gpc_step_t *x)
{
    return gpc_in_epoch(x->unit, rcc_message(x->msg)->exp) < asked_at(x);
}

static gpc_event_id_t
classify_request(const gpc_step_t *x)
{
    bool reads = x->cause == RCC_GETS;

    if (gpc_is_rolling_over(x->unit, TABLE_ROLL)) {
        return L2_STALLED;
    }
    if (x->state == L2_V && gpc_wraps(x, reads ? next_exp(x) : next_ver(x))) {
        return GPC_PRE_EVENT(L2_WRAP);
    }
    if (reads) {
        return x->state == L2_V && x->unit->options[RCC_OPTION_RENEW] && is_unchanged(x) ? L2_GETS_RENEW : L2_GETS;
    }
    return x->cause == RCC_WRITE ? L2_WRITE : L2_ATOMIC;
}

static gpc_event_id_t
l2_classify(const gpc_step_t *x)
{
    switch (x->cause) {
        case RCC_GETS:
        case RCC_WRITE:
        case RCC_ATOMIC:
            return classify_request(x);
        case GPC_MSG_EVICT:
            if (gpc_wraps(x, next_mnow(x))) {
                return GPC_PRE_EVENT(L2_WRAP);
            }
            return gpc_is_dirty(x) ? L2_EVICT_DIRTY : L2_EVICT_CLEAN;
        case GPC_MSG_FILL:
            if (x->state == L2_IV && gpc_wraps(x, filled_exp(x))) {
                return GPC_PRE_EVENT(L2_WRAP);
            }
            return rcc_l2_mshr(x)->haswrite ? L2_FILL_WRITTEN : L2_FILL;
        default:
            return GPC_NO_EVENT;
    }
}

/* ---- actions: reads ---------------------------------------------------------------------------------------------- */

static void
predict(gpc_step_t *x, uint64_t lease)
{
    rcc_l2_line(x)->lease = (uint16_t) (lease < RCC_LONGEST_LEASE ? lease : RCC_LONGEST_LEASE);
}

static int
grant(gpc_step_t *x, gpc_index_t load, uint8_t type)
{
    gpc_msg_t *answer = gpc_new_answer(x, load, type);
    rcc_message(answer)->exp = rcc_l2_line(x)->exp;
    rcc_message(answer)->ver = ver_of(x);
    gpc_count(x, leases);
    return gpc_send(x, answer);
}

GPC_ACTION(act_extend, "exp = max(exp, ver + lease, M.now + lease)")
{
    x->unit->statistics->lease_cycles += lease_of(x, rcc_l2_line(x)->lease);
    gpc_count(x, load_hits);
    rcc_l2_line(x)->exp = next_exp(x);
    return GPC_OK;
}

GPC_ACTION(act_note_unchanged, "count an expired copy whose line is unchanged")
{
    x->unit->own_counters[L2_COUNT_expired_unchanged] += is_unchanged(x) && has_expired(x);
    return GPC_OK;
}

GPC_ACTION(act_predict_longer, "double the predicted lease if the copy has expired; with predict_up=any always")
{
    if (has_expired(x) || x->unit->options[RCC_OPTION_PREDICT_UP] == RCC_PREDICT_UP_ANY) {
        predict(x, 2 * (uint64_t) rcc_l2_line(x)->lease);
    }
    return GPC_OK;
}

GPC_ACTION(act_predict_longer_at_any, "with predict_up=any, double the predicted lease")
{
    bool any = x->unit->options[RCC_OPTION_PREDICT_UP] == RCC_PREDICT_UP_ANY;
    return any ? gpc_act(act_predict_longer, x) : GPC_OK;
}

GPC_ACTION(act_send_data, "send DATA with exp and ver")
{
    return grant(x, x->message, RCC_DATA);
}

GPC_ACTION(act_send_renewal, "send RENEW with exp")
{
    gpc_count_own(x, L2_COUNT_renewals);
    return grant(x, x->message, RCC_RENEW);
}

/* ---- actions: writes --------------------------------------------------------------------------------------------- */

/* The write is performed at that version. */
static int
answer_writer(gpc_step_t *x, uint64_t ver, uint64_t exp)
{
    bool store = gpc_writer_message(x)->lanes == GPC_NONE;
    gpc_msg_t *answer = gpc_new_writer_answer(x, store ? RCC_ACK : RCC_ATOMIC_DATA, ver);
    rcc_message(answer)->ver = ver;
    rcc_message(answer)->exp = exp;
    return gpc_answer_writer(x, answer);
}

GPC_ACTION(act_advance, "ver = max(M.now, ver, exp + 1); predict the shortest lease")
{
    rcc_l2_line(x)->ver = next_ver(x);
    predict(x, RCC_SHORTEST_LEASE);
    return GPC_OK;
}

GPC_ACTION(act_send_ack, "send ACK with ver")
{
    return answer_writer(x, ver_of(x), 0);
}

GPC_ACTION(act_send_old, "send the atomic's old values with ver")
{
    return answer_writer(x, ver_of(x), exp_of(x));
}

/* ---- actions: misses --------------------------------------------------------------------------------------------- */

GPC_ACTION(act_wait_to_read, "lastrd = max(lastrd, M.now); the load becomes pending")
{
    rcc_l2_mshr(x)->lastrd = gpc_later_of(rcc_l2_mshr(x)->lastrd, asked_at(x));
    gpc_count(x, load_misses);
    return gpc_keep_pending(x);
}

GPC_ACTION(act_wait_to_perform, "lastwr = M.now; the atomic becomes pending")
{
    rcc_l2_mshr(x)->lastwr = asked_at(x);
    return gpc_keep_pending(x);
}

GPC_ACTION(act_buffer_write, "lastwr = max(lastwr, M.now); send ACK with max(lastwr, mnow); the store becomes pending")
{
    rcc_l2_mshr(x)->lastwr = gpc_later_of(rcc_l2_mshr(x)->lastwr, asked_at(x));
    rcc_l2_mshr(x)->haswrite = 1;
    int status = answer_writer(x, waiting_ver(x), 0);
    x->msg->request = GPC_NONE; /* the core's request is complete when the ACK arrives */
    GPC_TRY(status);
    return gpc_keep_pending(x);
}

GPC_ACTION(act_fill_line, "fill the way from memory; exp = ver = mnow; predict the longest lease")
{
    rcc_l2_line(x)->exp = rcc_l2_line(x)->ver = mnow_of(x);
    predict(x, RCC_LONGEST_LEASE);
    return gpc_act(act_fill, x);
}

GPC_ACTION(act_apply_writes,
           "write the pending stores in order of arrival; ver = max(lastwr, mnow); predict the shortest lease")
{
    GPC_FOR_PENDING(x, waiting)
    {
        if (waiting->type == RCC_WRITE) {
            gpc_merge_words(gpc_line_words(x), waiting->data, waiting->mask);
        }
    }
    rcc_l2_line(x)->dirty = 1;
    rcc_l2_line(x)->ver = waiting_ver(x);
    predict(x, RCC_SHORTEST_LEASE);
    return GPC_OK;
}

static int
answer_read(gpc_step_t *x, gpc_index_t waiting, uint8_t type)
{
    if (gpc_msg_at(x->unit->messages, waiting)->type == RCC_WRITE) {
        return GPC_OK; /* acknowledged */
    }
    rcc_l2_line(x)->exp = filled_exp(x);
    x->unit->statistics->lease_cycles += lease_of(x, rcc_l2_line(x)->lease);
    return grant(x, waiting, type);
}

GPC_ACTION(act_answer_all, "exp = max(ver, lastrd) + lease; send DATA to all pending loads, if any")
{
    return gpc_answer_pending(x, RCC_DATA, answer_read);
}

GPC_ACTION(act_perform_waiting, "ver = max(lastwr, mnow); perform the pending atomic; send its old values")
{
    rcc_l2_line(x)->ver = waiting_ver(x);
    predict(x, RCC_SHORTEST_LEASE);
    (void) gpc_act(writer_act_perform, x);
    return answer_writer(x, ver_of(x), ver_of(x));
}

GPC_ACTION(act_keep_times, "mnow = max(mnow, exp + 1, ver)")
{
    rcc_l2_unit(x->unit)->mnow = next_mnow(x);
    return GPC_OK;
}

/* ---- rollover ---------------------------------------------------------------------------------------------------- */

GPC_ACTION(act_roll_over, "rollover: STALL to all partitions, FLUSH to all L1s")
{
    gpc_count_own(x, L2_COUNT_rollovers);
    return gpc_roll_over(x, RCC_TABLE_CLOCK, TABLE_ROLL);
}

/* clang-format off */
/* ---- the table of lines. Requests that stall wait for memory or for RESUME, which both come. --------------------- */

static const gpc_cell_t l2_table[L2_NUM_STATES][L2_NUM_EVENTS] = {
    [L2_I] = {
        [L2_GETS] = GO(L2_IV, act_reserve_way, act_fetch_line, act_wait_to_read),
        [L2_WRITE] = GO(L2_IV, act_reserve_way, act_fetch_line, act_buffer_write), /* H3 */
        [L2_ATOMIC] = GO(L2_IAV, act_reserve_way, act_fetch_line, act_wait_to_perform),
        [L2_STALLED] = HOLD_QUEUE,
    },
    [L2_V] = {
        [L2_GETS] = GO(L2_V, act_note_unchanged, act_extend, act_predict_longer_at_any, act_send_data),
        [L2_GETS_RENEW] = GO(L2_V, act_note_unchanged, act_extend, act_predict_longer, act_send_renewal),
        [L2_WRITE] = GO(L2_V, act_advance, writer_act_write, act_send_ack),
        [L2_ATOMIC] = GO(L2_V, act_advance, writer_act_perform, act_send_old),
        [L2_EVICT_CLEAN] = GO(L2_I, act_keep_times), /* H1 */
        [L2_EVICT_DIRTY] = GO(L2_I, act_keep_times, act_write_back),
        [L2_WRAP] = GO_HARDENED(L2_V, act_roll_over),
        [L2_STALLED] = HOLD_QUEUE,
    },
    [L2_IV] = {
        [L2_GETS] = GO(L2_IV, act_wait_to_read),
        [L2_WRITE] = GO(L2_IV, act_buffer_write),
        [L2_ATOMIC] = HOLD_LINE,
        [L2_EVICT_CLEAN] = NOT_A_VICTIM,
        [L2_FILL] = GO(L2_V, act_fill_line, act_answer_all),
        [L2_FILL_WRITTEN] = GO(L2_V, act_fill_line, act_apply_writes, act_answer_all), /* H4 */
        [L2_WRAP] = GO_HARDENED(L2_IV, act_roll_over),
        [L2_STALLED] = HOLD_QUEUE,
    },
    [L2_IAV] = {
        [L2_GETS] = HOLD_LINE,
        [L2_WRITE] = HOLD_LINE,
        [L2_ATOMIC] = HOLD_LINE,
        [L2_EVICT_CLEAN] = NOT_A_VICTIM,
        [L2_FILL] = GO(L2_V, act_fill_line, act_perform_waiting),
        [L2_STALLED] = HOLD_QUEUE,
    },
};
/* clang-format on */

static const gpc_table_t l2 = {GPC_TABLE("L2", OVER_LINES, L2, l2_table, l2_classify)};

const gpc_controller_type_t rcc_l2 = {
    .name = "L2",
    .position = GPC_AT_BANK,
    .tables = {&l2, &gpc_rollover_table},
    .arrays = {{.name = "tags", .line = rcc_l2_line_described, .has_data = true}},
    .mshr = rcc_l2_mshr_described,
    .unit = rcc_l2_unit_described,
    .counters = L2_COUNT_info,
    .rollovers = &L2_COUNT_info[L2_COUNT_rollovers],
    .lease = {.stall = GPC_OPTION(RCC_OPTION_ROLLOVER_STALL)},
};

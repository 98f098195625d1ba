/* rcc_l1.c: the L1 of RCC-SC and RCC-WO: the tables of lines and of the core's clocks. The run's rule, sc or rc,
 * chooses one clock or two.
 *
 * Paper    Ren and Lis, HPCA 2017, sections III.C to III.E, figure 5.
 * Hardened H2: a load that merged with an older read request compares the time of its own issue with the lease that
 *          arrives. If it issued after the lease, it is requested again: its warp may have read a value that is newer
 *          than the lease (figure 5 completes it).
 *          H5: the lease sent in GETS is 0 unless the way still has the data, because RENEW brings none.
 * Option   polls=16, the default: after 16 loads other than weak ones (or 64 weak ones), the next one renews its copy
 *          at the L2. A loop that polls a copy would otherwise read it until its lease ends by ticks, 2048 times 10,000
 *          cycles after a miss. The paper calls such loops rare in GPU programs; the authors' simulator performs loads
 *          at issue, so that they end at once there. polls=off is figure 5.
 * Inferred a launch is ordered after those before it: at its begin every core's clock is the latest of all cores'
 *          clocks.
 */
#include "protocols/relativistic/rcc.h"

#define L1_STATES(X)                                                                                    \
    X(L1_I, STABLE, "not present, or expired: the data and their lease may remain, for a renewal")          \
    X(L1_V, STABLE, "present, readable until its lease ends")                                               \
    X(L1_IV, TRANSIENT_CACHE, "read request outstanding; later loads merge")                                \
    X(L1_II, TRANSIENT_CACHE, "stores or atomics outstanding, and perhaps reads; no copy is readable")      \
    X(L1_VI, TRANSIENT_COHERENCE, "stores or atomics outstanding; other warps may read the old copy")
#define L1_EVENTS(X)                                                                      \
    X(L1_LOAD, "coalesced load of a warp")                                                    \
    X(L1_STORE, "coalesced store of a warp, with its word mask")                              \
    X(L1_ATOMIC, "atomic read-modify-writes with their lane list, performed at the L2")       \
    X(L1_EVICT, "way chosen for replacement")                                                 \
    X(L1_EXPIRE, "the lease ended: now > exp (precedes any other event)")                     \
    X(L1_DATA, "data of a load; other requests outstanding")                                  \
    X(L1_LAST_DATA, "data of a load; last request outstanding")                               \
    X(L1_DATA_EXPIRED, "data that expired in flight; other requests outstanding")             \
    X(L1_LAST_DATA_EXPIRED, "data that expired in flight; last request outstanding")          \
    X(L1_DATA_AGAIN, "data that expired in flight, for merged loads issued after their lease too") \
    X(L1_RENEW, "a new lease for the copy; other requests outstanding")                       \
    X(L1_LAST_RENEW, "a new lease for the copy; last request outstanding")                    \
    X(L1_RENEW_EXPIRED, "a lease that expired in flight; other requests outstanding")         \
    X(L1_LAST_RENEW_EXPIRED, "a lease that expired in flight; last request outstanding")      \
    X(L1_RENEW_AGAIN, "a lease that expired in flight, for merged loads issued after it too") \
    X(L1_OLD, "an atomic's old values; other requests outstanding")                           \
    X(L1_LAST_OLD, "an atomic's old values; last request outstanding")                        \
    X(L1_ACK, "a store's version; other requests outstanding")                                \
    X(L1_LAST_ACK, "a store's version; last request outstanding")

GPC_FSM(L1, L1_STATES, L1_EVENTS)

#define COUNTERS(X, P)                                                              \
    X(P, expired_loads, "read requests for a line that the L1 has a copy of, expired")     \
    X(P, now_advances, "advances of a core's clock")                                       \
    X(P, logical_time, "logical time by which the cores' clocks advanced, summed")         \
    X(P, ticks, "advances by 1 after `tick` core cycles, which end spins on a leased copy")
GPC_COUNTS(COUNT, COUNTERS)

/* ---- clocks ------------------------------------------------------------------------------------------------------ */

void
rcc_raise(const gpc_controller_t *l1, uint64_t *clock, uint64_t least)
{
    if (least > *clock) {
        l1->own_counters[COUNT_now_advances]++;
        l1->own_counters[COUNT_logical_time] += least - *clock;
        *clock = least;
    }
}

/* All clocks of the core: every field of the unit is one; under sc the first. */
static uint64_t *
clocks_of(const gpc_controller_t *unit, uint32_t *count)
{
    *count = unit->rule == GPC_RULE_SC ? 1 : unit->type->unit()->count;
    return unit->unit_fields;
}

static uint64_t *
clock_of_writes(const gpc_controller_t *unit)
{
    rcc_l1_unit_t *core = rcc_l1_unit(unit);
    return unit->rule == GPC_RULE_SC ? &core->now : &core->writes;
}

static void
raise_all(const gpc_controller_t *l1, uint64_t least)
{
    uint32_t count;
    uint64_t *clock = clocks_of(l1, &count);
    for (uint32_t i = 0; i < count; i++) {
        rcc_raise(l1, &clock[i], least);
    }
}

/* ---- classification of lines ------------------------------------------------------------------------------------- */

static bool
serves(const gpc_msg_t *answer, const gpc_msg_t *load)
{
    return rcc_message(load)->now <= rcc_message(answer)->exp;
}

static gpc_event_id_t
classify_read(const gpc_step_t *x)
{
    static const gpc_event_id_t events[2][2][2] = {
        {{L1_DATA, L1_LAST_DATA}, {L1_DATA_EXPIRED, L1_LAST_DATA_EXPIRED}},
        {{L1_RENEW, L1_LAST_RENEW}, {L1_RENEW_EXPIRED, L1_LAST_RENEW_EXPIRED}},
    };
    bool expired = rcc_message(x->msg)->exp < rcc_l1_unit(x->unit)->now; /* ver <= exp: the version expires no data */

    if (expired && gpc_leaves_loads(x, serves)) {
        return x->cause == RCC_DATA ? L1_DATA_AGAIN : L1_RENEW_AGAIN;
    }
    return events[x->cause == RCC_RENEW][expired][gpc_is_last_answer(x)];
}

/* A copy may be treated as expired at any time. */
static bool
has_polled_enough(const gpc_step_t *x)
{
    int64_t polls = x->unit->options[RCC_OPTION_POLLS];
    if (polls == RCC_POLLS_OFF) {
        return false;
    }
    return x->msg->order == GPC_ORDER_WEAK ? rcc_l1_line(x)->weak_polls >= RCC_WEAK_POLLS
                                           : rcc_l1_line(x)->polls >= polls;
}

static gpc_event_id_t
l1_classify(const gpc_step_t *x)
{
    bool last = gpc_is_last_answer(x);

    switch (x->cause) {
        case GPC_MSG_LOAD:
            return (x->state == L1_V || x->state == L1_VI) && has_polled_enough(x) ? GPC_PRE_EVENT(L1_EXPIRE) : L1_LOAD;
        case RCC_DATA:
        case RCC_RENEW:
            return x->mshr == GPC_NONE ? GPC_NO_EVENT : classify_read(x);
        case RCC_ATOMIC_DATA:
            return last ? L1_LAST_OLD : L1_OLD;
        case RCC_ACK:
            return last ? L1_LAST_ACK : L1_ACK;
        default:
            return GPC_NO_EVENT;
    }
}

/* ---- actions of lines -------------------------------------------------------------------------------------------- */

static gpc_msg_t *
stamp_read(const gpc_step_t *x, gpc_msg_t *msg)
{
    uint64_t now = rcc_l1_unit(x->unit)->now, exp = rcc_l1_line(x)->exp;
    rcc_message(msg)->now = now;
    rcc_message(msg)->exp = exp;
    if (exp != 0 && exp < now) {
        gpc_count_own(x, COUNT_expired_loads);
        gpc_count(x, expired);
    }
    gpc_count(x, load_misses);
    return msg;
}

GPC_ACTION(act_hit_counted, "complete the load from the copy; count it")
{
    uint8_t *polls = &rcc_l1_line(x)->polls;
    bool counts = x->msg->order != GPC_ORDER_WEAK && x->unit->options[RCC_OPTION_POLLS] != RCC_POLLS_OFF;
    *polls = (uint8_t) (*polls + (counts && *polls < RCC_MOST_POLLS));
    uint16_t *weak = &rcc_l1_line(x)->weak_polls;
    *weak = (uint16_t) (*weak + (x->msg->order == GPC_ORDER_WEAK && *weak < RCC_WEAK_POLLS &&
                                 x->unit->options[RCC_OPTION_POLLS] != RCC_POLLS_OFF));
    return gpc_act(act_hit, x);
}

GPC_ACTION(act_request_line,
           "send GETS with now and the lease of the copy, if its data remain; the load becomes pending")
{
    rcc_message(x->msg)->now = rcc_l1_unit(x->unit)->now;
    return gpc_send_and_wait(x, stamp_read(x, gpc_new_request(x, RCC_GETS)));
}

GPC_ACTION(act_merge_timed, "merge the load into the outstanding read, with the time of its issue")
{
    rcc_message(x->msg)->now = rcc_l1_unit(x->unit)->now;
    return gpc_act(act_merge_load, x);
}

static int
send_write(gpc_step_t *x, uint64_t now)
{
    gpc_msg_t *msg = gpc_new_request(x, x->cause == GPC_MSG_STORE ? RCC_WRITE : RCC_ATOMIC);
    rcc_message(msg)->now = now;
    return gpc_send_and_wait(x, msg);
}

GPC_ACTION(act_write_through, "send WRITE with the clock of writes; the store becomes pending")
{
    return send_write(x, *clock_of_writes(x->unit));
}

GPC_ACTION(act_send_atomic, "send ATOMIC with the later clock; the atomic becomes pending")
{
    return send_write(x, gpc_later_of(rcc_l1_unit(x->unit)->now, *clock_of_writes(x->unit)));
}

GPC_ACTION(act_raise_now, "now = max(now, ver)")
{
    rcc_raise(x->unit, &rcc_l1_unit(x->unit)->now, rcc_message(x->msg)->ver);
    return GPC_OK;
}

GPC_ACTION(act_raise_writes, "clock of writes = max(itself, ver)")
{
    rcc_raise(x->unit, clock_of_writes(x->unit), rcc_message(x->msg)->ver);
    return GPC_OK;
}

GPC_ACTION(act_raise_both, "now and the clock of writes = max(themselves, ver)")
{
    (void) gpc_act(act_raise_now, x);
    return gpc_act(act_raise_writes, x);
}

GPC_ACTION(act_fill_copy, "fill the reserved way and its lease from the answer")
{
    rcc_l1_line(x)->exp = rcc_message(x->msg)->exp;
    rcc_l1_line(x)->polls = 0;
    rcc_l1_line(x)->weak_polls = 0;
    return gpc_act(act_fill, x);
}

GPC_ACTION(act_renew_copy, "the copy has the answer's lease")
{
    rcc_l1_line(x)->exp = rcc_message(x->msg)->exp;
    rcc_l1_line(x)->polls = 0;
    rcc_l1_line(x)->weak_polls = 0;
    return GPC_OK;
}

GPC_ACTION(act_request_again, "send GETS again, for the loads issued after the answer's lease together")
{
    gpc_msg_t *again = gpc_request_again(x, RCC_GETS, serves);
    return gpc_send_outstanding(x, stamp_read(x, again));
}

/* ---- the table of lines ------------------------------------------------------------------------------------------ */

/* clang-format off */
static const gpc_cell_t l1_table[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_I] = {
        [L1_LOAD] = GO(L1_IV, act_reserve_way, act_request_line),
        [L1_STORE] = GO(L1_II, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_send_atomic),
        [L1_EVICT] = GO_HARDENED(L1_I, act_release_way), /* an expired copy */
    },
    [L1_V] = {
        [L1_LOAD] = GO(L1_V, act_hit_counted),
        [L1_STORE] = GO(L1_VI, act_write_through),
        [L1_ATOMIC] = GO(L1_VI, act_send_atomic),
        [L1_EVICT] = GO(L1_I, act_release_way),
        [L1_EXPIRE] = GO(L1_I),
    },
    [L1_IV] = {
        [L1_LOAD] = GO(L1_IV, act_merge_timed),
        [L1_STORE] = GO(L1_II, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_send_atomic),
        [L1_EVICT] = NOT_A_VICTIM, /* the way is reserved for the fill */
        [L1_LAST_DATA] = GO(L1_V, act_raise_now, act_fill_copy, act_complete),
        [L1_LAST_DATA_EXPIRED] = GO_HARDENED(L1_I, act_raise_now, act_fill_copy, act_complete),
        [L1_DATA_AGAIN] = GO_HARDENED(L1_IV, act_raise_now, act_fill_copy, act_request_again, act_complete),
        [L1_LAST_RENEW] = GO(L1_V, act_renew_copy, act_complete_from_copy),
        [L1_LAST_RENEW_EXPIRED] = GO_HARDENED(L1_I, act_renew_copy, act_complete_from_copy),
        [L1_RENEW_AGAIN] = GO_HARDENED(L1_IV, act_renew_copy, act_request_again, act_complete_from_copy),
    },
    [L1_II] = {
        /* no merging: an outstanding read may precede this core's store */
        [L1_LOAD] = GO(L1_II, act_reserve_way, act_request_line),
        [L1_STORE] = GO(L1_II, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_send_atomic),
        [L1_EVICT] = NOT_A_VICTIM,
        [L1_DATA] = GO(L1_VI, act_raise_now, act_fill_copy, act_complete),
        [L1_LAST_DATA] = GO(L1_V, act_raise_now, act_fill_copy, act_complete),
        [L1_DATA_EXPIRED] = GO_HARDENED(L1_II, act_raise_now, act_fill_copy, act_complete),
        [L1_LAST_DATA_EXPIRED] = GO_HARDENED(L1_I, act_raise_now, act_fill_copy, act_complete),
        [L1_DATA_AGAIN] = GO_HARDENED(L1_II, act_raise_now, act_fill_copy, act_request_again, act_complete),
        [L1_RENEW] = GO(L1_VI, act_renew_copy, act_complete_from_copy),
        /* of a read that followed the last ACK */
        [L1_LAST_RENEW] = GO_HARDENED(L1_V, act_renew_copy, act_complete_from_copy),
        [L1_RENEW_EXPIRED] = GO_HARDENED(L1_II, act_renew_copy, act_complete_from_copy),
        [L1_LAST_RENEW_EXPIRED] = GO_HARDENED(L1_I, act_renew_copy, act_complete_from_copy),
        [L1_RENEW_AGAIN] = GO_HARDENED(L1_II, act_renew_copy, act_request_again, act_complete_from_copy),
        [L1_OLD] = GO(L1_II, act_raise_both, act_complete),
        [L1_LAST_OLD] = GO(L1_I, act_raise_both, act_complete, act_release_way),
        [L1_ACK] = GO(L1_II, act_raise_writes, act_complete),
        [L1_LAST_ACK] = GO(L1_I, act_raise_writes, act_complete, act_release_way),
    },
    [L1_VI] = { /* leases of one line arrive in order: none that arrives here has expired */
        [L1_LOAD] = GO(L1_VI, act_hit_counted), /* the old value: the store's version exceeds the lease */
        [L1_STORE] = GO(L1_VI, act_write_through),
        [L1_ATOMIC] = GO(L1_VI, act_send_atomic),
        [L1_EVICT] = NOT_A_VICTIM,
        [L1_EXPIRE] = GO(L1_II),
        [L1_DATA] = GO(L1_VI, act_raise_now, act_fill_copy, act_complete),
        [L1_LAST_DATA] = GO(L1_V, act_raise_now, act_fill_copy, act_complete),
        [L1_RENEW] = GO_HARDENED(L1_VI, act_renew_copy, act_complete_from_copy), /* as in II */
        [L1_LAST_RENEW] = GO_HARDENED(L1_V, act_renew_copy, act_complete_from_copy),
        [L1_OLD] = GO(L1_II, act_raise_both, act_complete),
        [L1_LAST_OLD] = GO(L1_I, act_raise_both, act_complete, act_release_way),
        [L1_ACK] = GO(L1_II, act_raise_writes, act_complete),
        [L1_LAST_ACK] = GO(L1_I, act_raise_writes, act_complete, act_release_way),
    },
};
/* clang-format on */

/* ---- over the unit ----------------------------------------------------------------------------------------------- */

#define CLOCK_STATES(X) X(CLOCK_RUNS, STABLE, "the clock advances by versions that arrive")
#define CLOCK_EVENTS(X)                             \
    X(CLOCK_BEGIN, "a launch begins")               \
    X(CLOCK_TICK, "`tick` core cycles have passed") \
    X(CLOCK_FLUSH, "FLUSH of a rollover")
GPC_FSM(CLOCK, CLOCK_STATES, CLOCK_EVENTS)

GPC_ACTION(act_join_clocks, "now = the latest clock of all cores")
{
    uint64_t latest;
    int status = gpc_latest_clock_of_cores(x, &latest);
    raise_all(x->unit, latest);
    return status;
}

/* At the epoch's last time no copy outlives the next write: its version begins an epoch. */
GPC_ACTION(act_tick, "now = now + 1")
{
    uint32_t count;
    uint64_t *clock = clocks_of(x->unit, &count);
    for (uint32_t i = 0; i < count; i++) {
        rcc_raise(x->unit, &clock[i], gpc_later(x->unit, clock[i], 1));
    }
    gpc_count_own(x, COUNT_ticks);
    return GPC_OK;
}

GPC_ACTION(act_flush, "now = 0 of the next epoch: every copy has expired")
{
    raise_all(x->unit, gpc_next_epoch(x->unit, gpc_latest_clock(x->unit)));
    return GPC_OK;
}

/* clang-format off */
static const gpc_cell_t clock_table[CLOCK_NUM_STATES][CLOCK_NUM_EVENTS] = {
    [CLOCK_RUNS] = {
        [CLOCK_BEGIN] = GO(CLOCK_RUNS, act_join_clocks, act_await_tick),
        [CLOCK_TICK] = GO(CLOCK_RUNS, act_tick, act_await_tick),
        [CLOCK_FLUSH] = GO(CLOCK_RUNS, act_flush),
    },
};
/* clang-format on */

static const gpc_table_t clock = {
    GPC_TABLE("L1.clock", OVER_UNIT, CLOCK, clock_table, NULL),
    .causes = {ON(GPC_MSG_KERNEL_BEGIN, CLOCK_BEGIN), ON(GPC_MSG_TIMER, CLOCK_TICK), ON(GPC_MSG_INSTANT, CLOCK_FLUSH)}};

static const gpc_table_t lines = {
    GPC_TABLE("L1", OVER_LINES, L1, l1_table, l1_classify),
    .causes = {ON(GPC_MSG_STORE, L1_STORE), ON(GPC_MSG_ATOMIC, L1_ATOMIC), ON(GPC_MSG_EVICT, L1_EVICT)},
    .expiry = {.states = 1u << L1_V | 1u << L1_VI, .event = L1_EXPIRE}, .keeps_initial = true};

const gpc_controller_type_t rcc_l1 = {
    .name = "L1",
    .position = GPC_AT_CORE,
    .tables = {&lines, &clock},
    .arrays = {{.name = "tags", .line = rcc_l1_line_described, .has_data = true}},
    .mshr = gpc_requests_mshr_described,
    .unit = rcc_l1_unit_described,
    .counters = COUNT_info,
    .lease = {.line = GPC_PLACE(rcc_l1, line, exp),
              .clock = GPC_PLACE(rcc_l1, unit, now),
              .tick = GPC_OPTION(RCC_OPTION_TICK)},
    .victim_rank = gpc_ended_first,
};

#define WATCHED                                                                                                        \
    .promise = GPC_PROMISE_LOGICAL, .readable = 1u << L1_V | 1u << L1_VI, .copies = 1u << L1_V | 1u << L1_VI,          \
    .bank_is_whole = true, .leased = rcc_leased
const gpc_watched_t rcc_sc_watched = {WATCHED};
const gpc_watched_t rcc_wo_watched = {WATCHED, .two_views = true};

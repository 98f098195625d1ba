/* rcc_l1.c: the L1 of RCC-SC and RCC-WO: classification, shared actions, clocks.
 *
 * Paper    Ren and Lis, HPCA 2017, sections III.C to III.E, figure 5.
 * Hardened H2: a load that merged with an older read request compares the time of its own issue with the lease that arrives. If it
 *          issued after the lease, it is requested again: its warp may have read a value that is newer than the lease (figure 5 completes
 *          it).
 *          H5: the lease sent in GETS is 0 unless the way still has the data, because RENEW brings none.
 * Option   polls=16, the default: after 16 loads other than weak ones (or 64 weak ones), the next one renews its copy at the L2. A loop
 *          that polls a copy would otherwise read it until its lease ends by ticks, 2048 times 10,000 cycles after a miss. The paper
 *          calls such loops rare in GPU programs; the authors' simulator performs loads at issue, so that they end at once there.
 *          polls=off is figure 5.
 * Inferred a launch is ordered after those before it: at its begin every core's clock is the latest of all cores' clocks.
 */
#include "protocols/relativistic/rcc.h"

enum { RCC_L1_STATES(GPC_FSM_STATE_ENUM_) };
enum { RCC_L1_EVENTS(GPC_FSM_EVENT_ENUM_) };

/* ---- clocks ------------------------------------------------------------------------------------------------------------------ */

void
rcc_raise(const gpc_controller_t *l1, uint64_t *clock, uint64_t least)
{
    if (least > *clock) {
        l1->own_counters[RCC_L1_COUNT_now_advances]++;
        l1->own_counters[RCC_L1_COUNT_logical_time] += least - *clock;
        *clock = least;
    }
}

/* All clocks of the core: every field of the unit is one. */
static uint64_t *
clocks_of(const gpc_controller_t *unit, uint32_t *count)
{
    *count = unit->type->unit()->count;
    return unit->unit_fields;
}

static uint64_t
latest_of(const gpc_controller_t *unit)
{
    uint32_t count;
    const uint64_t *clock = clocks_of(unit, &count);
    uint64_t latest = 0;
    for (uint32_t i = 0; i < count; i++) {
        latest = rcc_later(latest, clock[i]);
    }
    return latest;
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

uint64_t
rcc_clock(const gpc_controller_t *l1)
{
    return rcc_l1_unit(l1)->now;
}

/* ---- classification of lines --------------------------------------------------------------------------------------------------- */

static bool
serves(const gpc_msg_t *answer, const gpc_msg_t *load)
{
    return rcc_message(load)->now <= rcc_message(answer)->exp;
}

/* Whether a load that merged with the answered one issued after the answer's lease. */
static bool
has_younger(const gpc_step_t *x)
{
    GPC_FOR_PENDING(x, waiting)
    {
        if (waiting->request == x->msg->request && !serves(x->msg, waiting)) {
            return true;
        }
    }
    return false;
}

static gpc_event_id_t
classify_read(const gpc_step_t *x)
{
    static const gpc_event_id_t events[2][2][2] = {
        {{L1_DATA, L1_LAST_DATA}, {L1_DATA_EXPIRED, L1_LAST_DATA_EXPIRED}},
        {{L1_RENEW, L1_LAST_RENEW}, {L1_RENEW_EXPIRED, L1_LAST_RENEW_EXPIRED}},
    };
    bool expired = rcc_message(x->msg)->exp < rcc_l1_unit(x->unit)->now; /* ver <= exp: the version expires no data */

    if (expired && has_younger(x)) {
        return x->cause == RCC_DATA ? L1_DATA_AGAIN : L1_RENEW_AGAIN;
    }
    return events[x->cause == RCC_RENEW][expired][gpc_is_last_answer(x)];
}

/* A copy may be treated as expired at any time. */
static bool
has_polled_enough(const gpc_step_t *x)
{
    int64_t polls = x->unit->options[RCC_OPTION_POLLS];
    if (x->cause != GPC_MSG_LOAD || polls == RCC_POLLS_OFF) {
        return false;
    }
    return x->msg->order == GPC_ORDER_WEAK ? rcc_l1_line(x)->weak_polls >= RCC_WEAK_POLLS
                                           : rcc_l1_line(x)->polls >= polls;
}

gpc_event_id_t
rcc_l1_classify(const gpc_step_t *x)
{
    bool last = gpc_is_last_answer(x), has_copy = x->state == L1_V || x->state == L1_VI;

    if (has_copy && (rcc_l1_line(x)->exp < rcc_l1_unit(x->unit)->now || has_polled_enough(x))) {
        return GPC_PRE_EVENT(L1_EXPIRE);
    }
    switch (x->cause) {
        case GPC_MSG_LOAD:
            return L1_LOAD;
        case GPC_MSG_STORE:
            return L1_STORE;
        case GPC_MSG_ATOMIC:
            return L1_ATOMIC;
        case GPC_MSG_EVICT:
            return L1_EVICT;
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

uint32_t
rcc_l1_victim_rank(const gpc_controller_t *unit, uint8_t array, gpc_index_t way)
{
    return rcc_l1_line_at(unit, array, way)->exp < rcc_l1_unit(unit)->now ? 0 : 1;
}

/* ---- actions of lines ------------------------------------------------------------------------------------------------------------ */

static gpc_msg_t *
stamp_read(const gpc_step_t *x, gpc_msg_t *msg)
{
    rcc_message(msg)->now = rcc_l1_unit(x->unit)->now;
    rcc_message(msg)->exp = rcc_l1_line(x)->exp;
    gpc_count(x, load_misses);
    return msg;
}

GPC_SHARED_ACTION(rcc_act_hit, "complete the load from the copy; count it")
{
    uint8_t *polls = &rcc_l1_line(x)->polls;
    bool counts = x->msg->order != GPC_ORDER_WEAK && x->unit->options[RCC_OPTION_POLLS] != RCC_POLLS_OFF;
    *polls = (uint8_t) (*polls + (counts && *polls < RCC_MOST_POLLS));
    uint16_t *weak = &rcc_l1_line(x)->weak_polls;
    *weak = (uint16_t) (*weak + (x->msg->order == GPC_ORDER_WEAK && *weak < RCC_WEAK_POLLS &&
                                 x->unit->options[RCC_OPTION_POLLS] != RCC_POLLS_OFF));
    return gpc_act(act_hit, x);
}

GPC_SHARED_ACTION(rcc_act_request_line,
                  "send GETS with now and the lease of the copy, if its data remain; the load becomes pending")
{
    rcc_message(x->msg)->now = rcc_l1_unit(x->unit)->now;
    if (x->state == L1_I && rcc_l1_line(x)->exp && rcc_l1_line(x)->exp < rcc_l1_unit(x->unit)->now) {
        gpc_count_own(x, RCC_L1_COUNT_expired_loads);
        gpc_count(x, expired);
    }
    return gpc_send_and_wait(x, stamp_read(x, gpc_new_request(x, RCC_GETS)));
}

GPC_SHARED_ACTION(rcc_act_merge_timed, "merge the load into the outstanding read, with the time of its issue")
{
    rcc_message(x->msg)->now = rcc_l1_unit(x->unit)->now;
    return gpc_act(act_merge_load, x);
}

int
rcc_send_write(gpc_step_t *x, uint64_t now)
{
    gpc_msg_t *msg = gpc_new_request(x, x->cause == GPC_MSG_STORE ? RCC_WRITE : RCC_ATOMIC);
    rcc_message(msg)->now = now;
    return gpc_send_and_wait(x, msg);
}

GPC_SHARED_ACTION(rcc_act_raise_now, "now = max(now, ver)")
{
    rcc_raise(x->unit, &rcc_l1_unit(x->unit)->now, rcc_message(x->msg)->ver);
    return GPC_OK;
}

GPC_SHARED_ACTION(rcc_act_fill_copy, "fill the reserved way and its lease from the answer")
{
    rcc_l1_line(x)->exp = rcc_message(x->msg)->exp;
    rcc_l1_line(x)->polls = 0;
    rcc_l1_line(x)->weak_polls = 0;
    return gpc_act(act_fill, x);
}

GPC_SHARED_ACTION(rcc_act_renew_copy, "the copy has the answer's lease")
{
    rcc_l1_line(x)->exp = rcc_message(x->msg)->exp;
    rcc_l1_line(x)->polls = 0;
    rcc_l1_line(x)->weak_polls = 0;
    return GPC_OK;
}

GPC_SHARED_ACTION(rcc_act_request_again, "send GETS again, for the loads issued after the answer's lease together")
{
    const gpc_msg_t *first = NULL;
    GPC_FOR_PENDING(x, waiting)
    {
        if (waiting->request == x->msg->request && !serves(x->msg, waiting)) {
            first = first ? first : waiting;
            waiting->request = gpc_msg_index(x->unit->messages, first);
        }
    }
    gpc_msg_t *again = gpc_new_message(x, RCC_GETS, gpc_home_of(x->unit, x->line));
    again->request = first->request;
    again->warp = first->warp;
    again->mask = first->mask;
    return gpc_send_outstanding(x, stamp_read(x, again));
}

GPC_SHARED_ACTION(rcc_act_complete_from_copy, "complete the loads that this answer serves, from the copy")
{
    gpc_merge_words(x->msg->data, gpc_line_words(x), gpc_all_words(x->unit));
    return gpc_act(act_complete, x);
}

/* ---- over the unit --------------------------------------------------------------------------------------------------------------- */

#define CLOCK_STATES(X) X(CLOCK_RUNS, STABLE, "the clock advances by versions that arrive")
#define CLOCK_EVENTS(X)                             \
    X(CLOCK_BEGIN, "a launch begins")               \
    X(CLOCK_TICK, "`tick` core cycles have passed") \
    X(CLOCK_FLUSH, "FLUSH of a rollover")
GPC_FSM(CLOCK, CLOCK_STATES, CLOCK_EVENTS)

static gpc_event_id_t
clock_classify(const gpc_step_t *x)
{
    switch (x->cause) {
        case GPC_MSG_KERNEL_BEGIN:
            return CLOCK_BEGIN;
        case GPC_MSG_TIMER:
            return CLOCK_TICK;
        case GPC_MSG_INSTANT:
            return CLOCK_FLUSH;
        default:
            return GPC_NO_EVENT;
    }
}

static int
find_latest(gpc_controller_t *unit, void *latest)
{
    uint64_t *found = latest;
    if (unit->type->position == GPC_AT_CORE) {
        *found = rcc_later(*found, latest_of(unit));
    }
    return GPC_OK;
}

GPC_ACTION(act_join_clocks, "now = the latest clock of all cores")
{
    uint64_t latest = 0;
    int status = x->unit->ports->visit(x->unit->world, find_latest, &latest);
    raise_all(x->unit, latest);
    return status;
}

GPC_ACTION(act_await_tick, "set a background timer `tick` core cycles ahead")
{
    int64_t period = x->unit->options[RCC_OPTION_TICK];
    return period
               ? x->unit->ports->wake_at(x->unit->world, x->unit, gpc_now(x) + (gpc_cycle_t) period, GPC_NEVER, 0, true)
               : GPC_OK;
}

/* At the epoch's last time no copy outlives the next write: its version begins an epoch. */
GPC_ACTION(act_tick, "now = now + 1")
{
    uint32_t count;
    uint64_t *clock = clocks_of(x->unit, &count);
    for (uint32_t i = 0; i < count; i++) {
        rcc_raise(x->unit, &clock[i], gpc_later(x->unit, clock[i], 1));
    }
    gpc_count_own(x, RCC_L1_COUNT_ticks);
    return GPC_OK;
}

GPC_ACTION(act_flush, "now = 0 of the next epoch: every copy has expired")
{
    raise_all(x->unit, gpc_last_time(x->unit, latest_of(x->unit)) + 1);
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

const gpc_table_t rcc_l1_clock = {GPC_TABLE("L1.clock", OVER_UNIT, CLOCK, clock_table, clock_classify)};

uint8_t
rcc_l1_route(const gpc_controller_t *unit, const gpc_msg_t *msg)
{
    (void) unit;
    return msg->type == GPC_MSG_TIMER ? RCC_TABLE_CLOCK : RCC_TABLE_LINES;
}

/* gtsc.c: G-TSC, timestamp coherence in logical time, with a clock for each warp.
 *
 * Paper    Tabbakh, Qian and Annavaram, G-TSC: Timestamp Based Coherence for GPUs, HPCA 2018. Only its abstract was at
 *          hand: what follows is from memory, but for the idea itself, timestamps in logical time. gtsc.md says what is
 *          from where.
 * Rules    Each warp has a clock, each line a version [wts, rts]: written at wts, readable until rts. A warp may read a
 *          copy while its clock <= rts; the clock is then at least wts. A store or atomic is performed at the L2 at
 *          max(rts + 1, clock), after all leases and without waiting for them. A warp whose clock has passed its copy's
 *          rts renews it by naming its wts: the L2 answers without data if that is the line's version. A core's own
 *          copy takes the words of its stores at once, and is locked until they have their versions. Under sc the warp
 *          then has that time; under rc a fence, release or barrier gives it the latest time of its stores (gts). Lines
 *          leave the L2 freely: a bank has one time for all of them (mem_ts).
 * Hardened H1: a store's answer names the version that it replaced. The core's copy survives only if that was its
 *          version: other words of the copy would be older than its new version.
 *          H2: a copy serves 16 loads other than weak ones, or 64 weak ones; the next one renews it (option polls). A
 *          loop that polls a copy would otherwise spin for ever, because hits do not advance a clock.
 * Inferred loads merge into a read that is outstanding, and ask again if their warp's time at issue is not in the lease
 *          that comes. A locked copy takes further stores. Other accesses to a line in a transaction wait. The L2
 *          fetches lines that are written. A barrier gives its warps the latest clock of them. A launch begins at the
 *          latest clock of all warps.
 * Rollover as RCC's (controller/logical.h): before a version would exceed the epoch, the times of every bank become the
 *          epoch's first one, and so do all clocks, which ends all leases; then the L2 serves no request for
 *          `rollover_stall` cycles.
 * Differs  a lease ends at the latest with its epoch, so that only stores and atomics cause a rollover. After it a line
 *          is readable until the epoch's first time (the paper, from memory: for a lease), since no L1 has a copy that
 *          may be read.
 */
#include <string.h>

#include "controller/outside.h"

enum { OPTION_LEASE, OPTION_CLOCK, OPTION_BEGIN, OPTION_RENEW, OPTION_POLLS, OPTION_ROLLOVER_STALL };
enum { CLOCK_OF_WARP, CLOCK_OF_CORE };
enum { BEGIN_KEEP, BEGIN_FLUSH };
enum { POLLS_OFF = -1, WEAK_POLLS = 4 /* weak loads that count as one other load */ };

/* clang-format off */
/*     name      class network bytes word line   */
#define GT_MESSAGES(X, P)                                                                                              \
    X(P, BUSRD,    REQ, 0, 12, 0, false, "read request: the warp's time, and the version of the copy (0: none)")       \
    X(P, BUSWR,    ST,  0, 14, 4, false, "store: the warp's time, word mask and words")                                \
    X(P, ATOMIC,   ATO, 0, 14, 0, false, "atomics with operands: the warp's time")                                     \
    X(P, BUSFILL,  LD,  1, 12, 0, true,  "line with its version and lease")                                            \
    X(P, BUSRNW,   LD,  1, 10, 0, false, "new lease for the copy, whose version is the line's")                        \
    X(P, BUSWRACK, ST,  1, 14, 0, false, "the store's version and lease, and the version before it")                   \
    X(P, OLD,      ATO, 1, 14, 0, false, "old values of atomics, with their version")
/* clang-format on */
GPC_MESSAGES(GT, GT_MESSAGES)

#define GT_VERSION(FIELD)                                                                                              \
    FIELD(LOGICAL, uint64_t, wts) /* of the last write, or later; 0: none */                                           \
    FIELD(LOGICAL, uint64_t, rts) /* last time at which the line may be read; at the L2, of the latest lease */
#define GT_MESSAGE(FIELD)                                                                                              \
    GT_VERSION(FIELD)                                                                                                  \
    FIELD(LOGICAL, uint64_t, ts)     /* the warp's at issue, also of a pending load */                                 \
    FIELD(LOGICAL, uint64_t, before) /* the version that a store replaced */
GPC_METADATA(gt, message, GT_MESSAGE)

static uint64_t
lease_of(const gpc_step_t *x)
{
    return (uint64_t) x->unit->options[OPTION_LEASE];
}

/* ---- L1: states, events, metadata -------------------------------------------------------------------------------- */

#define L1_STATES(X)                                                                                                   \
    X(L1_I, STABLE, "not present")                                                                                     \
    X(L1_V, STABLE, "present, readable by warps whose clock is not past rts")                                          \
    X(L1_IV, TRANSIENT_CACHE, "BUSRD outstanding, no copy")                                                            \
    X(L1_VV, TRANSIENT_COHERENCE, "BUSRD outstanding for an expired copy, which other warps may read")                 \
    X(L1_VW, TRANSIENT_COHERENCE, "locked: stores outstanding, the copy has their words and no version yet")           \
    X(L1_II, TRANSIENT_CACHE, "stores or atomics outstanding, no copy")
#define L1_EVENTS(X)                                                                                                   \
    X(L1_LOAD, "a warp's coalesced load")                                                                              \
    X(L1_EXPIRED_LOAD, "a load of a warp whose clock is past the copy's rts")                                          \
    X(L1_STORE, "a warp's coalesced store, with its word mask")                                                        \
    X(L1_ATOMIC, "a warp's atomics on a line")                                                                         \
    X(L1_EVICT, "way chosen for replacement")                                                                          \
    X(L1_DROP, "a launch begins, with begin=flush")                                                                    \
    X(L1_POLLED, "the copy has served enough loads (precedes the load)")                                               \
    X(L1_FILL, "the line")                                                                                             \
    X(L1_FILL_AGAIN, "the line; warps with merged loads are past its lease")                                           \
    X(L1_RENEW, "a lease for the copy")                                                                                \
    X(L1_RENEW_AGAIN, "a lease for the copy; warps with merged loads are past it")                                     \
    X(L1_DONE, "the version of a store or atomics; others are outstanding")                                            \
    X(L1_LAST_DONE, "the version of a store or atomics, the last ones outstanding")                                    \
    X(L1_LOST, "the same of a store that did not replace the locked copy's version; others are outstanding")           \
    X(L1_LAST_LOST, "the same of the last store outstanding")
GPC_FSM(L1, L1_STATES, L1_EVENTS)

#define GT_COPY(FIELD) GT_VERSION(FIELD) FIELD(PLAIN, uint16_t, polls) /* loads since the lease began; in quarters */
#define GT_WARP(FIELD)                                                                                                 \
    FIELD(LOGICAL, uint64_t, ts)  /* its clock */                                                                      \
    FIELD(LOGICAL, uint64_t, gts) /* under rc, the latest version of its stores */
#define GT_CORE(FIELD) FIELD(LOGICAL, uint64_t, latest) /* clock of its warps */
GPC_METADATA(gt_l1, line, GT_COPY)
GPC_METADATA(gt_l1, warp, GT_WARP)
GPC_METADATA(gt_l1, unit, GT_CORE)

#define L1_COUNTERS(X, P)                                                                                              \
    X(P, polled, "leases that ended because the copy had served enough loads")                                         \
    X(P, asked_again, "read requests for merged loads whose warp was past the lease that came")                        \
    X(P, lost, "copies dropped because a store found another version of its line at the L2")
GPC_COUNTS(L1_COUNT, L1_COUNTERS)

/* ---- L1: clocks and classification ------------------------------------------------------------------------------- */

static uint64_t
clock_of(const gpc_controller_t *l1, uint16_t warp)
{
    return l1->options[OPTION_CLOCK] == CLOCK_OF_CORE ? gt_l1_unit(l1)->latest : gt_l1_warp(l1, warp)->ts;
}

static void
raise(const gpc_controller_t *l1, uint16_t warp, uint64_t least)
{
    gpc_raise_time(&gt_l1_warp(l1, warp)->ts, least);
    gpc_raise_time(&gt_l1_unit(l1)->latest, least);
}

static void
raise_all(const gpc_controller_t *l1, uint64_t least)
{
    for (uint16_t warp = 0; warp < l1->machine->warps_per_core; warp++) {
        raise(l1, warp, least);
    }
}

static uint16_t
polls_of(const gpc_msg_t *load)
{
    return load->order == GPC_ORDER_WEAK ? 1 : WEAK_POLLS;
}

static bool
has_served_enough(const gpc_step_t *x)
{
    int64_t polls = x->unit->options[OPTION_POLLS];
    return polls != POLLS_OFF && gt_l1_line(x)->polls + polls_of(x->msg) > WEAK_POLLS * polls;
}

static gpc_event_id_t
classify_load(const gpc_step_t *x)
{
    if (x->state != L1_V && x->state != L1_VV) {
        return L1_LOAD;
    }
    if (gt_l1_line(x)->rts < clock_of(x->unit, x->msg->warp)) {
        return L1_EXPIRED_LOAD;
    }
    return has_served_enough(x) ? GPC_PRE_EVENT(L1_POLLED) : L1_LOAD;
}

/* Whether the load issued when its warp's clock was past the lease that comes. The one that asked did not. */
static bool
is_past(const gpc_step_t *x, const gpc_msg_t *load)
{
    return gt_message(load)->ts > gt_message(x->msg)->rts;
}

static bool
some_are_past(const gpc_step_t *x)
{
    GPC_FOR_PENDING(x, load)
    {
        if (is_past(x, load)) {
            return true;
        }
    }
    return false;
}

static gpc_event_id_t
l1_classify(const gpc_step_t *x)
{
    switch (x->cause) {
        case GPC_MSG_LOAD:
            return classify_load(x);
        case GT_BUSFILL:
            return some_are_past(x) ? L1_FILL_AGAIN : L1_FILL;
        case GT_BUSRNW:
            return some_are_past(x) ? L1_RENEW_AGAIN : L1_RENEW;
        case GT_BUSWRACK:
            if (x->state == L1_VW && gt_message(x->msg)->before != gt_l1_line(x)->wts) {
                return gpc_is_last_answer(x) ? L1_LAST_LOST : L1_LOST;
            }
            return gpc_is_last_answer(x) ? L1_LAST_DONE : L1_DONE;
        case GT_OLD:
            return gpc_is_last_answer(x) ? L1_LAST_DONE : L1_DONE;
        default:
            return GPC_NO_EVENT;
    }
}

/* ---- L1: actions ------------------------------------------------------------------------------------------------- */

GPC_ACTION(act_read, "the warp's clock = max(itself, wts); complete the load from the copy; count it")
{
    raise(x->unit, x->msg->warp, gt_l1_line(x)->wts);
    if (x->unit->options[OPTION_POLLS] != POLLS_OFF) {
        gt_l1_line(x)->polls = (uint16_t) (gt_l1_line(x)->polls + polls_of(x->msg));
    }
    return gpc_act(act_hit, x);
}

GPC_ACTION(act_end_lease, "rts = 0: no warp may read the copy")
{
    gt_l1_line(x)->rts = 0;
    gpc_count_own(x, L1_COUNT_polled);
    return GPC_OK;
}

/* A read request at its warp's clock, with the version of the copy. */
static gpc_msg_t *
stamp(const gpc_step_t *x, gpc_msg_t *msg)
{
    gt_message(msg)->ts = clock_of(x->unit, msg->warp);
    gt_message(msg)->wts = gt_l1_line(x)->wts;
    gpc_count(x, load_misses);
    return msg;
}

GPC_ACTION(act_request_line, "BUSRD with the warp's clock and the copy's wts; the load is then pending")
{
    gt_message(x->msg)->ts = clock_of(x->unit, x->msg->warp);
    x->unit->statistics->expired += x->state == L1_V;
    return gpc_send_and_wait(x, stamp(x, gpc_new_request(x, GT_BUSRD)));
}

GPC_ACTION(act_merge_timed, "merge the load into the outstanding read, with its warp's clock")
{
    gt_message(x->msg)->ts = clock_of(x->unit, x->msg->warp);
    return gpc_act(act_merge_load, x);
}

GPC_ACTION(act_write_through, "BUSWR or ATOMIC with the warp's clock; it is then pending")
{
    gpc_msg_t *msg = gpc_new_request(x, x->cause == GPC_MSG_STORE ? GT_BUSWR : GT_ATOMIC);
    gt_message(msg)->ts = clock_of(x->unit, msg->warp);
    return gpc_send_and_wait(x, msg);
}

GPC_ACTION(act_take_version, "the copy has the answer's wts and rts")
{
    gt_l1_line(x)->wts = gt_message(x->msg)->wts;
    gt_l1_line(x)->rts = gt_message(x->msg)->rts;
    gt_l1_line(x)->polls = 0;
    return GPC_OK;
}

GPC_ACTION(act_ask_again, "BUSRD again, for the merged loads whose warps are past the lease")
{
    gpc_msg_t *first = NULL;
    GPC_FOR_PENDING(x, load)
    {
        if (is_past(x, load)) {
            first = first ? first : load;
            load->request = gpc_msg_index(x->unit->messages, first);
        }
    }
    gpc_msg_t *again = gpc_new_message(x, GT_BUSRD, gpc_home_of(x->unit, x->line));
    again->request = first->request;
    again->warp = first->warp;
    again->mask = first->mask;
    gpc_count_own(x, L1_COUNT_asked_again);
    return gpc_send_outstanding(x, stamp(x, again));
}

GPC_ACTION(act_raise_readers, "the clock of each warp that is answered = max(itself, wts)")
{
    GPC_FOR_PENDING(x, load)
    {
        if (load->request == x->msg->request) {
            raise(x->unit, load->warp, gt_l1_line(x)->wts);
        }
    }
    return GPC_OK;
}

GPC_ACTION(act_note_write, "the warp's clock, or under rc its gts if it stored, = max(itself, the answer's wts)")
{
    uint16_t warp = x->msg->warp;
    if (x->cause == GT_OLD || x->unit->rule == GPC_RULE_SC) {
        raise(x->unit, warp, gt_message(x->msg)->wts);
    } else {
        gpc_raise_time(&gt_l1_warp(x->unit, warp)->gts, gt_message(x->msg)->wts);
    }
    return GPC_OK;
}

GPC_ACTION(act_count_lost, "count a copy that has another version than its store")
{
    gpc_count_own(x, L1_COUNT_lost);
    return GPC_OK;
}

/* ---- L1: the tables. A held request waits for an answer, and answers are never held. ----------------------------- */

/* clang-format off */
static const gpc_cell_t l1_table[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_I] = {
        [L1_LOAD] = GO(L1_IV, act_reserve_way, act_request_line),
        [L1_STORE] = GO(L1_II, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_write_through),
    },
    [L1_V] = {
        [L1_LOAD] = GO(L1_V, act_read),
        [L1_EXPIRED_LOAD] = GO(L1_VV, act_request_line),
        [L1_POLLED] = GO_HARDENED(L1_V, act_end_lease), /* H2 */
        [L1_STORE] = GO(L1_VW, act_write_line, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_release_way, act_write_through),
        [L1_EVICT] = GO(L1_I),
        [L1_DROP] = GO(L1_I),
    },
    [L1_IV] = {
        [L1_LOAD] = GO(L1_IV, act_merge_timed),
        [L1_STORE] = HOLD_LINE,
        [L1_ATOMIC] = HOLD_LINE,
        [L1_FILL] = GO(L1_V, act_take_version, act_fill, act_raise_readers, act_complete),
        [L1_FILL_AGAIN] = GO(L1_VV, act_take_version, act_fill, act_ask_again, act_raise_readers, act_complete),
    },
    [L1_VV] = {
        [L1_LOAD] = GO(L1_VV, act_read),
        [L1_EXPIRED_LOAD] = GO(L1_VV, act_merge_timed),
        [L1_POLLED] = GO_HARDENED(L1_VV, act_end_lease), /* H2 */
        [L1_STORE] = HOLD_LINE,
        [L1_ATOMIC] = HOLD_LINE,
        [L1_FILL] = GO(L1_V, act_take_version, act_fill, act_raise_readers, act_complete),
        [L1_FILL_AGAIN] = GO(L1_VV, act_take_version, act_fill, act_ask_again, act_raise_readers, act_complete),
        [L1_RENEW] = GO(L1_V, act_take_version, act_raise_readers, act_complete_from_copy),
        [L1_RENEW_AGAIN] = GO(L1_VV, act_take_version, act_ask_again, act_raise_readers, act_complete_from_copy),
    },
    [L1_VW] = {
        [L1_LOAD] = HOLD_LINE, /* no load reads a store without a version; later stores wait behind the load: it does not
                                  starve */
        [L1_STORE] = GO(L1_VW, act_write_line, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_release_way, act_write_through),
        [L1_DONE] = GO(L1_VW, act_take_version, act_note_write, act_complete),
        [L1_LAST_DONE] = GO(L1_V, act_take_version, act_note_write, act_complete),
        [L1_LOST] = GO_HARDENED(L1_II, act_count_lost, act_release_way, act_note_write, act_complete), /* H1 */
        [L1_LAST_LOST] = GO_HARDENED(L1_I, act_count_lost, act_note_write, act_complete),
    },
    [L1_II] = {
        [L1_LOAD] = HOLD_LINE,
        [L1_STORE] = GO(L1_II, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_write_through),
        [L1_DONE] = GO(L1_II, act_note_write, act_complete),
        [L1_LAST_DONE] = GO(L1_I, act_note_write, act_complete),
    },
};
/* clang-format on */

static const gpc_table_t l1_lines = {GPC_TABLE("L1", OVER_LINES, L1, l1_table, l1_classify),
                                     .causes = {ON_SAME(GPC_MSG, L1, STORE, ATOMIC, EVICT)}};

#define CLOCK_STATES(X) X(CLOCK_RUNS, STABLE, "clocks advance by versions that warps read and write")
#define CLOCK_EVENTS(X)                                                                                                \
    X(CLOCK_BEGIN, "a launch begins")                                                                                  \
    X(CLOCK_ROLLOVER, "a rollover")
GPC_FSM(CLOCK, CLOCK_STATES, CLOCK_EVENTS)
enum { TABLE_LINES, TABLE_CLOCK };

GPC_ACTION(act_join_clocks, "every clock = the latest one of all cores, at least 1; with begin=flush, drop all copies")
{
    uint64_t latest;
    GPC_TRY(gpc_latest_clock_of_cores(x, &latest));
    raise_all(x->unit, gpc_later_of(latest, 1)); /* 0 is no time */
    bool flushes = x->unit->options[OPTION_BEGIN] == BEGIN_FLUSH;
    return flushes ? gpc_controller_flash(x->unit, TABLE_LINES, GPC_MSG_KERNEL_BEGIN, L1_DROP) : GPC_OK;
}

GPC_ACTION(act_roll_clocks, "every clock = 1 of the next epoch: every copy is expired")
{
    raise_all(x->unit, gpc_next_epoch(x->unit, gt_l1_unit(x->unit)->latest) + 1);
    return GPC_OK;
}

static const gpc_cell_t clock_table[CLOCK_NUM_STATES][CLOCK_NUM_EVENTS] = {
    [CLOCK_RUNS] = {[CLOCK_BEGIN] = GO(CLOCK_RUNS, act_join_clocks),
                    [CLOCK_ROLLOVER] = GO(CLOCK_RUNS, act_roll_clocks)},
};
static const gpc_table_t clocks = {
    GPC_TABLE("L1.clock", OVER_UNIT, CLOCK, clock_table, NULL),
    .causes = {ON(GPC_MSG_KERNEL_BEGIN, CLOCK_BEGIN), ON(GPC_MSG_INSTANT, CLOCK_ROLLOVER)}};

static const gpc_controller_type_t gt_l1 = {
    .name = "L1",
    .position = GPC_AT_CORE,
    .tables = {&l1_lines, &clocks},
    .arrays = {{.name = "tags", .line = gt_l1_line_described, .has_data = true}},
    .mshr = gpc_requests_mshr_described,
    .unit = gt_l1_unit_described,
    .warp = gt_l1_warp_described,
    .counters = L1_COUNT_info,
    .lease = {.line = GPC_PLACE(gt_l1, line, rts)},
};

/* Under rc, a fence, a release and a barrier: the warp's later accesses follow its stores. */
static int
release(gpc_controller_t *l1, uint16_t warp, uint8_t scope, gpc_cycle_t *until)
{
    (void) scope, (void) until; /* it never waits for time */
    raise(l1, warp, gt_l1_warp(l1, warp)->gts);
    return GPC_OK;
}

/* ---- L2: states, events, metadata -------------------------------------------------------------------------------- */

#define L2_STATES(X)                                                                                                   \
    X(L2_I, STABLE, "not present")                                                                                     \
    X(L2_V, STABLE, "present")                                                                                         \
    X(L2_IV, TRANSIENT_CACHE, "fetching; every request waits for memory's answer")
#define L2_EVENTS(X)                                                                                                   \
    X(L2_READ, "a load wants the line")                                                                                \
    X(L2_RENEW, "a load wants a lease for a copy of the line's version")                                               \
    X(L2_WRITE, "a store or atomics")                                                                                  \
    X(L2_CLEAN, "way chosen for replacement; memory is up to date")                                                    \
    X(L2_DIRTY, "way chosen for replacement; memory is stale")                                                         \
    X(L2_FILL, "memory's answer")                                                                                      \
    X(L2_WRAP, "a version would exceed the epoch (precedes the store or atomics)")                                     \
    X(L2_STALLED, "a request for the line during a rollover")
GPC_FSM(L2, L2_STATES, L2_EVENTS)

#define GT_LINE(FIELD) GPC_WRITER_LINE(FIELD) GT_VERSION(FIELD)
#define GT_BANK(FIELD)                                                                                                 \
    GPC_EPOCH_UNIT(FIELD)                                                                                              \
    FIELD(LOGICAL, uint64_t, mem_ts) /* the latest rts of all lines evicted */
GPC_METADATA(gt_l2, line, GT_LINE)
GPC_METADATA(gt_l2, unit, GT_BANK)
GPC_KEEPS_DIRTY(gt_l2);
GPC_KEEPS_EPOCH(gt_l2);

#define L2_COUNTERS(X, P)                                                                                              \
    X(P, renewals, "leases given without data")                                                                        \
    X(P, rollovers, "rollovers of timestamps")
GPC_COUNTS(L2_COUNT, L2_COUNTERS)

enum { TABLE_ROLL = TABLE_CLOCK };

/* ---- L2: times, of which those of older epochs are 1 of this one; classification --------------------------------- */

static uint64_t
in_epoch(const gpc_step_t *x, uint64_t time)
{
    return gpc_later_of(time, gpc_epoch_unit(x->unit)->epoch + 1);
}
static uint64_t
asked_at(const gpc_step_t *x)
{
    return in_epoch(x, gt_message(x->msg)->ts);
}
/* A write is later than every lease, and no earlier than its warp. */
static uint64_t
next_version(const gpc_step_t *x)
{
    return gpc_later_of(in_epoch(x, gt_l2_line(x)->rts) + 1, asked_at(x));
}
/* Whether the reader's copy has the line's version, which no copy of an older epoch has. */
static bool
is_unchanged(const gpc_step_t *x)
{
    return gt_message(x->msg)->wts == in_epoch(x, gt_l2_line(x)->wts);
}

static gpc_event_id_t
classify_request(const gpc_step_t *x)
{
    bool reads = x->cause == GT_BUSRD;
    if (x->state != L2_V) {
        return reads ? L2_READ : L2_WRITE;
    }
    if (gpc_is_rolling_over(x->unit, TABLE_ROLL)) {
        return L2_STALLED;
    }
    if (reads) {
        return x->unit->options[OPTION_RENEW] && is_unchanged(x) ? L2_RENEW : L2_READ;
    }
    return gpc_wraps(x, next_version(x)) ? GPC_PRE_EVENT(L2_WRAP) : L2_WRITE;
}

static gpc_event_id_t
l2_classify(const gpc_step_t *x)
{
    switch (x->cause) {
        case GT_BUSRD:
        case GT_BUSWR:
        case GT_ATOMIC:
            return classify_request(x);
        case GPC_MSG_EVICT:
            return gpc_is_dirty(x) ? L2_DIRTY : L2_CLEAN;
        default:
            return GPC_NO_EVENT;
    }
}

/* ---- L2: actions ------------------------------------------------------------------------------------------------- */

GPC_ACTION(act_fill_line, "memory's line; wts = rts = mem_ts")
{
    gt_l2_line(x)->wts = gt_l2_line(x)->rts = in_epoch(x, gt_l2_unit(x->unit)->mem_ts);
    return gpc_act(act_fill, x);
}

GPC_ACTION(act_extend, "rts = max(rts, the warp's time + lease)")
{
    gpc_count_hit(x);
    gt_l2_line(x)->wts = in_epoch(x, gt_l2_line(x)->wts);
    gpc_extend_lease_from(x, &gt_l2_line(x)->rts, asked_at(x), lease_of(x));
    return GPC_OK;
}

GPC_ACTION(act_count_renewal, "count a lease given without data")
{
    gpc_count_own(x, L2_COUNT_renewals);
    return GPC_OK;
}

GPC_ANSWER(act_send_fill, "BUSFILL with wts and rts", GT_BUSFILL, gt_message, gt_l2_line, wts, rts)
GPC_ANSWER(act_send_renewal, "BUSRNW with rts", GT_BUSRNW, gt_message, gt_l2_line, wts, rts)

GPC_ACTION(act_perform, "the store or atomics at wts = max(rts + 1, the warp's time); rts = wts + lease; the answer")
{
    gt_l2_line_t *line = gt_l2_line(x);
    uint64_t before = in_epoch(x, line->wts);
    line->wts = next_version(x);
    line->rts = gpc_later(x->unit, line->wts, lease_of(x));
    (void) gpc_act(writer_act_access, x);
    gpc_msg_t *answer = gpc_new_writer_answer(x, gpc_writer_stores(x) ? GT_BUSWRACK : GT_OLD, line->wts);
    gt_message(answer)->wts = line->wts;
    gt_message(answer)->rts = line->rts;
    gt_message(answer)->before = before; /* H1 */
    return gpc_answer_writer(x, answer);
}

GPC_ACTION(act_roll_over, "a rollover of all banks and cores")
{
    gpc_count_own(x, L2_COUNT_rollovers);
    return gpc_roll_over(x, TABLE_CLOCK, TABLE_ROLL);
}

/* ---- L2: the table. A held request waits for memory, or for time. ------------------------------------------------ */

/* clang-format off */
static const gpc_cell_t l2_table[L2_NUM_STATES][L2_NUM_EVENTS] = {
    [L2_I] = {
        [L2_READ] = GO(L2_IV, act_reserve_way, act_miss),
        [L2_WRITE] = GO(L2_IV, act_reserve_way, act_miss),
    },
    [L2_V] = {
        [L2_READ] = GO(L2_V, act_extend, act_send_fill),
        [L2_RENEW] = GO(L2_V, act_extend, act_count_renewal, act_send_renewal),
        [L2_WRITE] = GO(L2_V, act_perform),
        [L2_CLEAN] = GO(L2_I, act_remember_lease),
        [L2_DIRTY] = GO(L2_I, act_remember_lease, act_write_back),
        [L2_WRAP] = GO(L2_V, act_roll_over),
        [L2_STALLED] = HOLD_QUEUE,
    },
    [L2_IV] = {
        [L2_READ] = HOLD_LINE,
        [L2_WRITE] = HOLD_LINE,
        [L2_FILL] = GO(L2_V, act_fill_line, act_replay),
    },
};
/* clang-format on */

static const gpc_table_t l2_lines = {GPC_TABLE("L2", OVER_LINES, L2, l2_table, l2_classify),
                                     .causes = {ON(GPC_MSG_FILL, L2_FILL)}};
static const gpc_controller_type_t gt_l2 = {
    .name = "L2",
    .position = GPC_AT_BANK,
    .tables = {&l2_lines, &gpc_rollover_table},
    .arrays = {{.name = "tags", .line = gt_l2_line_described, .has_data = true}},
    .unit = gt_l2_unit_described,
    .counters = L2_COUNT_info,
    .rollovers = &L2_COUNT_info[L2_COUNT_rollovers],
    .lease = {.line = GPC_PLACE(gt_l2, line, rts),
              .unit = GPC_PLACE(gt_l2, unit, mem_ts),
              .stall = GPC_OPTION(OPTION_ROLLOVER_STALL)},
};

/* ---- monitors and the declaration -------------------------------------------------------------------------------- */

static uint64_t
earliest_clock(const gpc_controller_t *l1)
{
    uint64_t earliest = clock_of(l1, 0);
    for (uint16_t warp = 1; warp < l1->machine->warps_per_core; warp++) {
        earliest = clock_of(l1, warp) < earliest ? clock_of(l1, warp) : earliest;
    }
    return earliest;
}

/* Versions of a line do not overlap: a copy has the line's words if its lease reaches the line's version, or if it has
 * that version, on which renewals rely. And the bank knows of every lease. */
static int
check_copy(gpc_controller_t *l1, gpc_index_t copy, const gpc_controller_t *bank, gpc_address_t line)
{
    const gt_l1_line_t *its = gt_l1_line_at(l1, 0, copy);
    const gpc_tags_t *tags = &bank->arrays[0];
    gpc_index_t way = gpc_tags_find(tags, line);
    uint64_t leased = gpc_leased_at(bank, line);

    if (its->rts > leased) {
        return gpc_violated(l1, line, "the bank knows every lease", "L1 %u: until %llu, the bank: until %llu",
                            l1->index, (unsigned long long) its->rts, (unsigned long long) leased);
    }
    if (way == GPC_NONE || tags->tags[way].mshr != GPC_NONE) {
        return GPC_OK;
    }
    uint64_t wts = gt_l2_line_at(bank, 0, way)->wts;
    bool reaches = its->rts >= wts || its->wts == wts;
    if (reaches && memcmp(gpc_tags_words(&l1->arrays[0], copy), gpc_tags_words(tags, way), 4 * tags->line_words) != 0) {
        return gpc_violated(l1, line, "a copy whose lease reaches the line's version has the line's words",
                            "L1 %u has others", l1->index);
    }
    return GPC_OK;
}

static const gpc_watched_t watched = {.promise = GPC_PROMISE_LOGICAL,
                                      .readable = 1u << L1_V | 1u << L1_VV,
                                      .copies = 1u << L1_V | 1u << L1_VV,
                                      .bank_is_whole = true,
                                      .lease = gpc_lease_at,
                                      .clock = earliest_clock,
                                      .warp_clock = clock_of,
                                      .two_views = true};

static int
monitor(const gpc_units_t *units, gpc_address_t line)
{
    for (uint32_t i = 0; i < units->num_cores && line != GPC_NEVER; i++) {
        gpc_index_t way;
        gpc_controller_t *l1 = units->cores[i];
        if (gpc_is_among(watched.copies, gpc_state_at(l1, line, 0, &way))) {
            GPC_TRY(check_copy(l1, way, units->bank, line));
        }
    }
    return GPC_OK;
}

static void
derive(const gpc_machine_t *machine, int64_t *options)
{
    options[OPTION_ROLLOVER_STALL] = gpc_rollover_cycles(machine);
}

static const gpc_protocol_t gtsc = {
    .id = "gtsc",
    .name = "G-TSC",
    .paper = "Tabbakh, Qian and Annavaram, HPCA 2018",
    .family = "timestamp coherence",
    .text = "leases in logical time, with a clock for each warp",
    .model = {[GPC_RULE_SC] = "SC", [GPC_RULE_RC] = "RC-MCA"},
    .standard_rule = GPC_RULE_RC,
    .controllers = {&gt_l1, &gt_l2},
    GPC_MESSAGES_OF(GT),
    .message = gt_message_described,
    .networks = {{.name = "request", .ordered = true, .requests = true}, {.name = "response", .ordered = true}},
    .order = {.release = release, .barrier_releases = true},
    .options =
        {[OPTION_LEASE] = GPC_NUMBER("lease", 10, 1, 65535, "logical time for which a line is leased", 2, 1, 100),
         [OPTION_CLOCK] = GPC_CHOICE("clock", CLOCK_OF_WARP, CLOCK_OF_CORE, "warp core",
                                     "whose clock a warp has: its own, or the latest of its core's warps"),
         [OPTION_BEGIN] = GPC_CHOICE("begin", BEGIN_FLUSH, BEGIN_FLUSH, "keep flush",
                                     "copies when a launch begins: kept, or dropped"),
         [OPTION_RENEW] = GPC_CHOICE("renew", 1, 1, "off on", "renew a copy of the line's version without data"),
         [OPTION_POLLS] = {.name = "polls",
                           .standard = 16,
                           .smallest = POLLS_OFF,
                           .largest = 1000,
                           .choices = "off",
                           .text = "loads other than weak ones that a lease serves (of weak ones: four times as many); "
                                   "off: any number",
                           .small = {true, POLLS_OFF},
                           .fuzz_least = 0,
                           .fuzz_most = 32},
         [OPTION_ROLLOVER_STALL] =
             GPC_NUMBER("rollover_stall", 0, 0, 1000000, "core cycles for which the L2 serves no request in a rollover",
                        0, 0, 400)},
    .derive = derive,
    .keeps_time = true,
    .logical_time = true,
    .declared = {.variations = "lease=1 lease=64 clock=core begin=keep renew=off polls=0"},
    .watched = &watched,
    .monitor = monitor,
};
GPC_EXPORT_PROTOCOLS(&gtsc);

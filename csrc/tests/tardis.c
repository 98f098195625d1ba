/* tardis.c: Tardis, timestamp coherence with exclusive owners: leases in logical time, no invalidations of readers.
 *
 * Paper    Yu and Devadas, Tardis: Time Traveling Coherence Algorithm for Distributed Shared Memory, PACT 2015,
 *          sections III and IV: a program timestamp (pts) per core; a write and a read timestamp (wts, rts) beside each
 *          line; a line is leased to readers or owned by one L1; the L2 is the timestamp manager and keeps the memory
 *          timestamp (mts) of the lines that it has evicted; renewal of an unchanged version without data; pts
 *          increases by itself now and then, so that spins end.
 * Rules    A copy in S may be read while pts <= rts. A load has the time max(pts, wts). A store or atomic is performed
 *          by the owner at max(pts, rts + 1), which becomes pts, wts and rts. The L2 grants ownership at once, whatever
 *          leases are alive, because the owner writes later than all of them. Accesses are ordered by their times, at
 *          equal times as they happen.
 * Inferred the tables: the paper has no transient states. One pts for all warps of a core, latest of all cores when a
 *          launch begins. The L1 performs atomics. A stale recall, which has crossed the owner's write-back, is
 *          dropped: recalls and grants share an ordered network, so that it arrives before the next grant.
 * Differs  Timestamps have 64 bits (4 bytes in messages): they do not wrap within a run, and their compression is
 *          absent. An owner that is asked for a shared copy keeps its own as expired (the paper extends its lease). No
 *          speculation on expired copies, no E state, no private-write optimisation.
 */
#include "controller/toolkit.h"

enum { OPTION_LEASE, OPTION_TICK };

/* clang-format off */
/*     name         class network bytes word line   */
#define TD_MESSAGES(X, P)                                                                                              \
    X(P, GETS,      REQ, 0, 16, 0, false, "a load wants the line: pts, and the copy's version (0: none)")              \
    X(P, GETX,      ST,  0, 12, 0, false, "a store or atomic wants to own the line: the copy's version")               \
    X(P, WB,        WB,  1, 16, 0, true,  "the owner gives the line back, with wts and rts")                           \
    X(P, DATA,      LD,  1, 16, 0, true,  "the line, leased")                                                          \
    X(P, RENEWED,   LD,  1, 12, 0, false, "a lease for the unchanged copy")                                            \
    X(P, DATA_X,    ST,  1, 16, 0, true,  "the line, owned")                                                           \
    X(P, UPGRADED,  ST,  1, 12, 0, false, "ownership of the unchanged copy")                                           \
    X(P, DOWNGRADE, RCL, 1,  8, 0, false, "to the owner: give the line back, keep an expired copy")                    \
    X(P, FLUSH,     RCL, 1,  8, 0, false, "to the owner: give the line back")
/* clang-format on */
GPC_MESSAGES(TD, TD_MESSAGES)

#define TD_TIMES(FIELD)                                                                                                \
    FIELD(LOGICAL, uint64_t, wts) /* of the line's last write: its version; 0: no data */                              \
    FIELD(LOGICAL, uint64_t, rts) /* last time at which it may be read */
#define TD_MESSAGE(FIELD) TD_TIMES(FIELD) FIELD(LOGICAL, uint64_t, pts)
GPC_METADATA(td, message, TD_MESSAGE)

/* ---- L1: states, events, metadata, classification ---------------------------------------------------------------- */

#define L1_STATES(X)                                                                                                   \
    X(L1_I, STABLE, "not present")                                                                                     \
    X(L1_S, STABLE, "present, readable until its lease ends")                                                          \
    X(L1_M, STABLE, "owned: may be read and written")                                                                  \
    X(L1_IS, TRANSIENT_CACHE, "GETS outstanding, perhaps for an expired copy")                                         \
    X(L1_IM, TRANSIENT_CACHE, "GETX outstanding, perhaps with a copy")

#define L1_EVENTS(X)                                                                                                   \
    X(L1_LOAD, "a warp's coalesced load")                                                                              \
    X(L1_EXPIRED_LOAD, "a load that finds its copy expired")                                                           \
    X(L1_WRITE, "a warp's coalesced store, or its atomics on a line")                                                  \
    X(L1_EVICT, "the replacement policy wants this way")                                                               \
    X(L1_DATA, "the line, leased")                                                                                     \
    X(L1_RENEWED, "a lease for the unchanged copy")                                                                    \
    X(L1_DATA_X, "the line, owned")                                                                                    \
    X(L1_UPGRADED, "ownership of the unchanged copy")                                                                  \
    X(L1_DOWNGRADE, "the L2 wants the line for a reader")                                                              \
    X(L1_FLUSH, "the L2 wants the line for another owner, or its way")

GPC_FSM(L1, L1_STATES, L1_EVENTS)

#define TD_COPY(FIELD) GPC_WRITER_LINE(FIELD) TD_TIMES(FIELD)
#define TD_CORE(FIELD) FIELD(LOGICAL, uint64_t, pts)
GPC_METADATA(td_l1, line, TD_COPY)
GPC_METADATA(td_l1, unit, TD_CORE)
GPC_KEEPS_DIRTY(td_l1);

/* ---- L1: actions ------------------------------------------------------------------------------------------------- */

static uint64_t *
pts_of(const gpc_step_t *x)
{
    return &td_l1_unit(x->unit)->pts;
}

GPC_ACTION(act_request_line, "GETS with pts and the copy's version; the load is then pending")
{
    gpc_msg_t *msg = gpc_new_message(x, TD_GETS, gpc_home_of(x->unit, x->line));
    gpc_count(x, load_misses);
    x->unit->statistics->expired += x->state == L1_S;
    td_message(msg)->pts = *pts_of(x);
    td_message(msg)->wts = td_l1_line(x)->wts;
    return gpc_send_and_wait(x, msg);
}

GPC_REQUEST_HOME(act_request_ownership, "GETX with the copy's version; the store or atomic is then pending", TD_GETX,
                 td_message, td_l1_line, wts)
GPC_TAKE(act_take_times, "the answer's wts and rts", td_message, td_l1_line, wts, rts)

GPC_ACTION(act_raise_pts, "pts = max(pts, wts)")
{
    gpc_raise_time(pts_of(x), td_l1_line(x)->wts);
    return GPC_OK;
}

GPC_ACTION(act_read_own, "rts = max(rts, pts)")
{
    gpc_raise_time(&td_l1_line(x)->rts, *pts_of(x));
    return GPC_OK;
}

GPC_ACTION(act_perform, "pts = wts = rts = max(pts, rts + 1); the store or atomic on the line")
{
    td_l1_line_t *line = td_l1_line(x);
    gpc_raise_time(pts_of(x), line->rts + 1);
    line->wts = line->rts = *pts_of(x);
    return gpc_perform_here(x, line->wts);
}

GPC_GIVE_BACK(act_give_back, "WB with the line, wts and rts", TD_WB, td_message, td_l1_line, wts, rts)

GPC_ACTION(act_expire, "the copy is expired; its version remains")
{
    td_l1_line(x)->rts = 0;
    return GPC_OK;
}

/* ---- L1: the table. A held request waits for an answer, and answers are never held. ------------------------------ */

/* clang-format off */
static const gpc_cell_t l1_table[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_I] = {
        [L1_LOAD] = GO(L1_IS, act_reserve_way, act_request_line),
        [L1_WRITE] = GO(L1_IM, act_reserve_way, act_request_ownership),
        [L1_DOWNGRADE] = GO(L1_I), /* it has crossed the WB */
        [L1_FLUSH] = GO(L1_I),
    },
    [L1_S] = {
        [L1_LOAD] = GO(L1_S, act_hit),
        [L1_EXPIRED_LOAD] = GO(L1_IS, act_request_line),
        [L1_WRITE] = GO(L1_IM, act_request_ownership),
        [L1_EVICT] = GO(L1_I),
    },
    [L1_M] = {
        [L1_LOAD] = GO(L1_M, act_read_own, act_hit),
        [L1_WRITE] = GO(L1_M, act_perform, act_complete_here),
        [L1_EVICT] = GO(L1_I, act_give_back),
        [L1_DOWNGRADE] = GO(L1_S, act_give_back, act_expire),
        [L1_FLUSH] = GO(L1_I, act_give_back, act_count_invalidation),
    },
    [L1_IS] = {
        [L1_LOAD] = HOLD_LINE, /* no merging: data that expire in flight serve the one load that asked for them */
        [L1_WRITE] = HOLD_LINE,
        [L1_DATA] = GO(L1_S, act_take_times, act_raise_pts, act_fill, act_complete),
        [L1_RENEWED] = GO(L1_S, act_take_times, act_raise_pts, act_complete_from_copy),
        [L1_DOWNGRADE] = GO(L1_IS),
        [L1_FLUSH] = GO(L1_IS),
    },
    [L1_IM] = {
        [L1_LOAD] = HOLD_LINE,
        [L1_WRITE] = HOLD_LINE,
        [L1_DATA_X] = GO(L1_M, act_take_times, act_fill, act_perform, act_complete),
        [L1_UPGRADED] = GO(L1_M, act_take_times, act_perform, act_complete),
        [L1_DOWNGRADE] = GO(L1_IM),
        [L1_FLUSH] = GO(L1_IM),
    },
};
/* clang-format on */

static const gpc_table_t l1 = {
    GPC_TABLE("L1", OVER_LINES, L1, l1_table, NULL),
    .causes = {ON(GPC_MSG_STORE, L1_WRITE), ON(GPC_MSG_ATOMIC, L1_WRITE), ON_SAME(GPC_MSG, L1, LOAD, EVICT),
               ON_SAME(TD, L1, DATA, RENEWED, DATA_X, UPGRADED, DOWNGRADE, FLUSH)},
    .expiry = {.states = 1u << L1_S, .event = L1_EXPIRED_LOAD, .instead = 1u << GPC_MSG_LOAD}};

static const gpc_controller_type_t td_l1 = {
    .name = "L1",
    .position = GPC_AT_CORE,
    .tables = {&l1, &gpc_clock_table},
    .arrays = {{.name = "tags", .line = td_l1_line_described, .has_data = true}},
    .mshr = gpc_requests_mshr_described,
    .unit = td_l1_unit_described,
    .lease = {.line = GPC_PLACE(td_l1, line, rts),
              .clock = GPC_PLACE(td_l1, unit, pts),
              .tick = GPC_OPTION(OPTION_TICK)},
    .owned = 1u << L1_M,
    .version = GPC_PLACE(td_l1, line, wts),
};

/* ---- L2: states, events, metadata, classification ---------------------------------------------------------------- */

#define L2_STATES(X)                                                                                                   \
    X(L2_I, STABLE, "not present")                                                                                     \
    X(L2_S, STABLE, "present, leased or not")                                                                          \
    X(L2_E, STABLE, "owned by an L1; this copy is old")                                                                \
    X(L2_IF, TRANSIENT_CACHE, "fetching; every request waits for memory's answer")                                     \
    X(L2_ER, TRANSIENT_COHERENCE, "owned; a request waits for the owner's WB")                                         \
    X(L2_EV, TRANSIENT_COHERENCE, "owned; to be evicted after the owner's WB")

#define L2_EVENTS(X)                                                                                                   \
    X(L2_GETS, "a load wants the line")                                                                                \
    X(L2_RENEW, "a load wants a lease for a copy of the line's version")                                               \
    X(L2_GETX, "a store or atomic wants to own the line")                                                              \
    X(L2_UPGRADE, "a store or atomic wants to own its copy of the line's version")                                     \
    X(L2_EARLY, "a request of the owner, which has overtaken its WB")                                                  \
    X(L2_WB, "the owner's line")                                                                                       \
    X(L2_EVICT_CLEAN, "the replacement policy wants the way; memory has the data")                                     \
    X(L2_EVICT_DIRTY, "the replacement policy wants the way; memory is behind")                                        \
    X(L2_FILL, "memory's answer")

GPC_FSM(L2, L2_STATES, L2_EVENTS)

#define TD_LINE(FIELD)                                                                                                 \
    GPC_WRITER_LINE(FIELD)                                                                                             \
    TD_TIMES(FIELD)                                                                                                    \
    FIELD(NODESET, gpc_nodeset_t, owner) /* the L1 that owns the line, or none */
#define TD_BANK(FIELD) FIELD(LOGICAL, uint64_t, mts) /* the latest rts of all lines evicted */
GPC_METADATA(td_l2, line, TD_LINE)
GPC_METADATA(td_l2, unit, TD_BANK)
GPC_KEEPS_DIRTY(td_l2);

static gpc_event_id_t
classify_request(const gpc_step_t *x, gpc_event_id_t plain, gpc_event_id_t unchanged)
{
    if (x->state == L2_E && gpc_nodeset_has(gpc_sharers(x), x->msg->source)) {
        return L2_EARLY;
    }
    return x->state == L2_S && td_message(x->msg)->wts == td_l2_line(x)->wts ? unchanged : plain;
}

static gpc_event_id_t
l2_classify(const gpc_step_t *x)
{
    switch (x->cause) {
        case TD_GETS:
            return classify_request(x, L2_GETS, L2_RENEW);
        case TD_GETX:
            return classify_request(x, L2_GETX, L2_UPGRADE);
        case GPC_MSG_EVICT:
            return gpc_is_dirty(x) ? L2_EVICT_DIRTY : L2_EVICT_CLEAN;
        default:
            return GPC_NO_EVENT;
    }
}

/* ---- L2: actions ------------------------------------------------------------------------------------------------- */

GPC_ACTION(act_fill_line, "memory's line; wts = rts = mts")
{
    gpc_raise_time(&td_l2_unit(x->unit)->mts, 1); /* 0 is no version */
    td_l2_line(x)->wts = td_l2_line(x)->rts = td_l2_unit(x->unit)->mts;
    return gpc_act(act_fill, x);
}

GPC_ACTION(act_extend, "rts = max(rts, max(wts, pts of the reader) + lease)")
{
    td_l2_line_t *line = td_l2_line(x);
    gpc_count_hit(x);
    gpc_extend_lease_from(x, &line->rts, gpc_later_of(line->wts, td_message(x->msg)->pts),
                          (uint64_t) x->unit->options[OPTION_LEASE]);
    return GPC_OK;
}

GPC_ANSWER(act_send_data, "DATA with wts and rts", TD_DATA, td_message, td_l2_line, wts, rts)
GPC_ANSWER(act_send_renewed, "RENEWED with wts and rts", TD_RENEWED, td_message, td_l2_line, wts, rts)
GPC_ANSWER(act_send_data_x, "DATA_X with wts and rts", TD_DATA_X, td_message, td_l2_line, wts, rts)
GPC_ANSWER(act_send_upgraded, "UPGRADED with wts and rts", TD_UPGRADED, td_message, td_l2_line, wts, rts)

GPC_CALL_IN(act_downgrade, "DOWNGRADE to the owner", TD_DOWNGRADE)
GPC_CALL_IN(act_flush, "FLUSH to the owner", TD_FLUSH)

GPC_TAKE(act_take_back_times, "the owner's wts and rts", td_message, td_l2_line, wts, rts)

/* ---- L2: the table. A held request waits for memory or for the owner's WB, which is in flight or requested. ------ */

/* clang-format off */
static const gpc_cell_t l2_table[L2_NUM_STATES][L2_NUM_EVENTS] = {
    [L2_I] = {
        [L2_GETS] = GO(L2_IF, act_reserve_way, act_miss),
        [L2_GETX] = GO(L2_IF, act_reserve_way, act_miss),
    },
    [L2_S] = {
        [L2_GETS] = GO(L2_S, act_extend, act_send_data),
        [L2_RENEW] = GO(L2_S, act_extend, act_send_renewed),
        [L2_GETX] = GO(L2_E, act_set_owner, act_send_data_x),
        [L2_UPGRADE] = GO(L2_E, act_set_owner, act_send_upgraded),
        [L2_EVICT_CLEAN] = GO(L2_I, act_remember_lease),
        [L2_EVICT_DIRTY] = GO(L2_I, act_remember_lease, act_write_back),
    },
    [L2_E] = {
        [L2_GETS] = GO(L2_ER, act_downgrade, act_wait),
        [L2_GETX] = GO(L2_ER, act_flush, act_wait),
        [L2_EARLY] = GO(L2_ER, act_wait),
        [L2_WB] = GO(L2_S, act_take_back, act_take_back_times, act_clear_sharers),
        [L2_EVICT_CLEAN] = GO(L2_EV, act_flush),
        [L2_EVICT_DIRTY] = GO(L2_EV, act_flush),
    },
    [L2_IF] = {
        [L2_GETS] = HOLD_LINE,
        [L2_GETX] = HOLD_LINE,
        [L2_FILL] = GO(L2_S, act_fill_line, act_replay),
    },
    [L2_ER] = {
        [L2_GETS] = HOLD_LINE,
        [L2_GETX] = HOLD_LINE,
        [L2_WB] = GO(L2_S, act_take_back, act_take_back_times, act_clear_sharers, act_replay),
    },
    [L2_EV] = {
        [L2_GETS] = HOLD_LINE,
        [L2_GETX] = HOLD_LINE,
        [L2_WB] = GO(L2_I, act_take_back, act_take_back_times, act_remember_lease, act_write_back),
    },
};
/* clang-format on */

static const gpc_table_t l2 = {GPC_TABLE("L2", OVER_LINES, L2, l2_table, l2_classify),
                               .causes = {ON(GPC_MSG_FILL, L2_FILL), ON(TD_WB, L2_WB)}};

static const gpc_controller_type_t td_l2 = {
    .name = "L2",
    .position = GPC_AT_BANK,
    .tables = {&l2},
    .arrays = {{.name = "tags", .line = td_l2_line_described, .has_data = true}},
    .unit = td_l2_unit_described,
    .sharers = GPC_SHARERS(0, td_l2, line, owner),
    .returned = L2_S,
    .lease = {.line = GPC_PLACE(td_l2, line, rts), .unit = GPC_PLACE(td_l2, unit, mts)},
    .version = GPC_PLACE(td_l2, line, wts),
};

/* ---- monitors and the declaration -------------------------------------------------------------------------------- */

/* An owner is no copy: its rts passes the bank's, which learns it by WB. */
static const gpc_watched_t watched = {.promise = GPC_PROMISE_LOGICAL,
                                      .readable = 1u << L1_S,
                                      .copies = 1u << L1_S | 1u << L1_IS | 1u << L1_IM,
                                      .bank_words = 1u << L2_S};

const gpc_protocol_t gpc_protocol_tardis = {
    .id = "tardis",
    .name = "Tardis",
    .paper = "Yu and Devadas, PACT 2015",
    .family = "timestamp coherence",
    .text = "leases in logical time and exclusive owners: an owner writes later than every lease, so no reader is "
            "invalidated",
    .model = {[GPC_RULE_SC] = "SC", [GPC_RULE_RC] = "RC-MCA"},
    .standard_rule = GPC_RULE_SC,
    .controllers = {&td_l1, &td_l2},
    GPC_MESSAGES_OF(TD),
    .message = td_message_described,
    .networks = {{.name = "request", .ordered = true, .requests = true}, {.name = "response", .ordered = true}},
    .options = {[OPTION_LEASE] =
                    GPC_NUMBER("lease", 10, 1, 65535, "logical time for which a line is leased", 2, 1, 100),
                [OPTION_TICK] = GPC_TICK_OPTION(100, 4, 400)},
    .keeps_time = true,
    .declared = {.variations = "lease=1 lease=1000 tick=20",
                 .uncovered = {{"L2", "EV", "GETS GETX", NULL, "the bank's queue waits for the way that EV frees"}}},
    .watched = &watched,
    .monitor = gpc_equal_versions, /* what renewals and upgrades rely on */
};

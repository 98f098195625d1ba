/* example_protocol.c: self-inval, the example of docs/how-to/add-a-protocol.md: leases that self-invalidate and can be
 * renewed.
 *
 * Paper    none. Leases and write-through L1s are those of Singh et al., HPCA 2013, section 6; renewal of an unchanged
 *          copy by its version resembles Tardis (Yu and Devadas, PACT 2015).
 * Rules    A copy is readable until its lease ends. A store or atomic waits at the L2 until every lease of its line is
 *          over, so no copy is readable when it is performed. A load that finds its copy expired sends the copy's
 *          version; if the line still has that version, the L2 answers without data. The L2 predicts a lifetime for
 *          each line: a renewal doubles it, a store that has to wait halves it. Leases outlive evictions: the bank
 *          keeps the latest lease of all lines that it has evicted, and a line that is fetched begins with that lease.
 * Differs  versions are 64 bits wide here and 4 bytes in messages: they do not wrap within a run.
 */
#include "controller/toolkit.h"

enum { OPTION_LIFETIME };
enum { LONGEST_LIFETIME = 4096 };

/* clang-format off */
/*     name         class network bytes word line   */
#define SI_MESSAGES(X, P)                                                                                              \
    X(P, GETS,        REQ, 0, 12, 0, false, "a load wants the line, or a lease for its copy, whose version it names")   \
    X(P, GETX,        ST,  0, 12, 4, false, "a store: word mask and words")                                            \
    X(P, ATOMIC,      ATO, 0, 12, 0, false, "read-modify-writes with their operands, performed at the L2")             \
    X(P, DATA,        LD,  1, 16, 0, true,  "the line, its lease and its version")                                     \
    X(P, RENEWED,     LD,  1, 12, 0, false, "the copy is unchanged: its new lease")                                    \
    X(P, ACK,         ST,  1,  8, 0, false, "the store has been performed")                                            \
    X(P, ATOMIC_DATA, ATO, 1, 12, 0, false, "the old values; the L1 keeps no line")
/* clang-format on */
GPC_MESSAGES(SI, SI_MESSAGES)

#define SI_LEASE(FIELD)                                                                                                \
    FIELD(TIME, gpc_cycle_t, lease)   /* last cycle in which the line may be read */                                   \
    FIELD(LOGICAL, uint64_t, version) /* of the line's words */
GPC_METADATA(si, message, SI_LEASE)

/* ---- L1: states, events, metadata, classification ---------------------------------------------------------------- */

#define L1_STATES(X)                                                                                                   \
    X(L1_I, STABLE, "not present")                                                                                     \
    X(L1_V, STABLE, "present, readable until its lease ends")                                                          \
    X(L1_R, TRANSIENT_COHERENCE, "present and expired, renewal outstanding")                                           \
    X(L1_IV, TRANSIENT_CACHE, "read miss outstanding")                                                                 \
    X(L1_II, TRANSIENT_CACHE, "stores and atomics outstanding, nothing will be kept")

#define L1_EVENTS(X)                                                                                                   \
    X(L1_LOAD, "a warp's coalesced load")                                                                              \
    X(L1_EXPIRED_LOAD, "a load that finds its copy expired")                                                           \
    X(L1_WRITE, "a warp's coalesced store, or its atomics on a line")   \
    X(L1_EVICT, "the replacement policy wants this way")                                                               \
    X(L1_DATA, "the line, with a lease")                                                                               \
    X(L1_RENEWED, "a lease for the unchanged copy")                                                                    \
    X(L1_DONE, "a store or atomic is performed, others outstanding")                                                   \
    X(L1_LAST_DONE, "a store or atomic is performed, the last one outstanding")

GPC_FSM(L1, L1_STATES, L1_EVENTS)

GPC_METADATA(si_l1, line, SI_LEASE)

static gpc_event_id_t
l1_classify(const gpc_step_t *x)
{
    bool done = x->cause == SI_ACK || x->cause == SI_ATOMIC_DATA;
    return !done ? GPC_NO_EVENT : gpc_is_last_answer(x) ? L1_LAST_DONE : L1_DONE;
}

/* ---- L1: actions ------------------------------------------------------------------------------------------------- */

GPC_ACTION(act_request_line, "GETS for the load, with the version of the copy (0: none); the load is then pending")
{
    gpc_msg_t *msg = gpc_new_request(x, SI_GETS);
    si_message(msg)->version = si_l1_line(x)->version;
    gpc_count(x, load_misses);
    x->unit->statistics->expired += x->state == L1_V;
    return gpc_send_and_wait(x, msg);
}

GPC_ACTION(act_write_through, "GETX or ATOMIC; the store or atomic is then pending")
{
    return gpc_send_and_wait(x, gpc_new_request(x, x->cause == GPC_MSG_STORE ? SI_GETX : SI_ATOMIC));
}

GPC_TAKE(act_take_lease, "the answer's lease and version", si_message, si_l1_line, lease, version)

/* ---- L1: the table. A held request waits for an answer, and answers are never held. A line in a transaction is no
 * victim. */

/* clang-format off */
static const gpc_cell_t l1_table[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_I] = {
        [L1_LOAD] = GO(L1_IV, act_reserve_way, act_request_line),
        [L1_WRITE] = GO(L1_II, act_write_through),
    },
    [L1_V] = {
        [L1_LOAD] = GO(L1_V, act_hit),
        [L1_EXPIRED_LOAD] = GO(L1_R, act_request_line),
        [L1_WRITE] = GO(L1_II, act_release_way, act_write_through), /* write-evict */
        [L1_EVICT] = GO(L1_I),
    },
    [L1_R] = {
        [L1_LOAD] = HOLD_LINE,
        [L1_WRITE] = HOLD_LINE,
        [L1_DATA] = GO(L1_V, act_take_lease, act_fill, act_complete),
        [L1_RENEWED] = GO(L1_V, act_take_lease, act_complete_from_copy),
    },
    [L1_IV] = {
        [L1_LOAD] = HOLD_LINE, /* no merging: data that expires in flight serves the one load that asked for it */
        [L1_WRITE] = HOLD_LINE,
        [L1_DATA] = GO(L1_V, act_take_lease, act_fill, act_complete),
    },
    [L1_II] = { /* has no way, so nothing evicts it */
        [L1_LOAD] = HOLD_LINE, /* later stores wait behind the load: it does not starve */
        [L1_WRITE] = GO(L1_II, act_write_through),
        [L1_DONE] = GO(L1_II, act_complete),
        [L1_LAST_DONE] = GO(L1_I, act_complete),
    },
};
/* clang-format on */

static const gpc_table_t l1 = {
    GPC_TABLE("L1", OVER_LINES, L1, l1_table, l1_classify),
    .causes = {ON(GPC_MSG_STORE, L1_WRITE), ON(GPC_MSG_ATOMIC, L1_WRITE), ON_SAME(GPC_MSG, L1, LOAD, EVICT),
               ON_SAME(SI, L1, DATA, RENEWED)},
    .expiry = {.states = 1u << L1_V, .event = L1_EXPIRED_LOAD, .instead = 1u << GPC_MSG_LOAD}};

static const gpc_controller_type_t si_l1 = {
    .name = "L1",
    .position = GPC_AT_CORE,
    .tables = {&l1},
    .arrays = {{.name = "tags", .line = si_l1_line_described, .has_data = true}},
    .mshr = gpc_requests_mshr_described,
    .lease = {.line = GPC_PLACE(si_l1, line, lease)},
    .version = GPC_PLACE(si_l1, line, version),
};

/* ---- L2: states, events, metadata, classification ---------------------------------------------------------------- */

#define L2_STATES(X)                                                                                                   \
    X(L2_I, STABLE, "not present")                                                                                     \
    X(L2_V, STABLE, "present, leased or not")                                                                          \
    X(L2_IF, TRANSIENT_CACHE, "fetching; every request waits for memory's answer") \
    X(L2_WL, TRANSIENT_COHERENCE, "a store or atomic waits for the line's last lease")

#define L2_EVENTS(X)                                                                                                   \
    X(L2_GETS, "a load wants the line")                                                   \
    X(L2_RENEW, "a load wants a lease for a copy of the line's version")                                                                 \
    X(L2_WRITE, "a store or atomic, no lease alive")                                                                   \
    X(L2_WRITE_LEASED, "a store or atomic, a lease alive")                                                             \
    X(L2_EVICT_CLEAN, "the replacement policy wants the way; memory has the data")                                     \
    X(L2_EVICT_DIRTY, "the replacement policy wants the way; memory is behind")                                        \
    X(L2_FILL, "memory's answer") \
    X(L2_TIME, "the last lease is over")

GPC_FSM(L2, L2_STATES, L2_EVENTS)

#define SI_LINE(FIELD)                                                                                                 \
    GPC_WRITER_LINE(FIELD)                                                                                             \
    SI_LEASE(FIELD)                   /* the latest lease given out, the version of the words */                       \
    FIELD(PLAIN, uint32_t, lifetime)  /* of the next lease: the predictor */
#define SI_BANK(FIELD)                                                                                                 \
    FIELD(TIME, gpc_cycle_t, evicted) /* the latest lease of all lines evicted */                                      \
    FIELD(LOGICAL, uint64_t, version) /* the latest one given to a line */
GPC_METADATA(si_l2, line, SI_LINE)
GPC_METADATA(si_l2, unit, SI_BANK)
GPC_KEEPS_DIRTY(si_l2);

#define SI_COUNTERS(X, P) X(P, renewals, "leases given without data")
GPC_COUNTS(SI_COUNT, SI_COUNTERS)

static gpc_event_id_t
l2_classify(const gpc_step_t *x)
{
    switch (x->cause) {
        case SI_GETS:
            return x->state == L2_V && si_message(x->msg)->version == si_l2_line(x)->version ? L2_RENEW : L2_GETS;
        case SI_GETX:
        case SI_ATOMIC:
            return x->state == L2_V && !gpc_lease_ended(x) ? L2_WRITE_LEASED : L2_WRITE;
        case GPC_MSG_EVICT:
            return gpc_is_dirty(x) ? L2_EVICT_DIRTY : L2_EVICT_CLEAN;
        default:
            return GPC_NO_EVENT;
    }
}

/* ---- L2: actions ------------------------------------------------------------------------------------------------- */

GPC_ACTION(act_fill_line, "memory's line, with a new version and the lease of all lines evicted")
{
    si_l2_line(x)->lease = si_l2_unit(x->unit)->evicted;
    si_l2_line(x)->version = ++si_l2_unit(x->unit)->version;
    si_l2_line(x)->lifetime = (uint32_t) x->unit->options[OPTION_LIFETIME];
    return gpc_act(act_fill, x);
}

GPC_ACTION(act_extend, "the lease lasts at least the predicted lifetime from now")
{
    gpc_count_hit(x);
    gpc_extend_lease(x, &si_l2_line(x)->lease, si_l2_line(x)->lifetime);
    return GPC_OK;
}

GPC_ACTION(act_count_renewal, "count a lease given without data")
{
    gpc_count_own(x, SI_COUNT_renewals);
    return GPC_OK;
}

GPC_ANSWER(act_send_data, "DATA with lease and version", SI_DATA, si_message, si_l2_line, lease, version)
GPC_ANSWER(act_send_renewed, "RENEWED with lease and version", SI_RENEWED, si_message, si_l2_line, lease, version)

GPC_ACTION(act_predict_longer, "the copy has outlived its lease: the next ones last twice as long")
{
    si_l2_line(x)->lifetime *= si_l2_line(x)->lifetime < LONGEST_LIFETIME ? 2 : 1;
    return GPC_OK;
}

GPC_ACTION(act_predict_shorter, "a store has to wait: the next leases last half as long")
{
    si_l2_line(x)->lifetime = (si_l2_line(x)->lifetime + 1) / 2;
    return GPC_OK;
}

GPC_ACTION(act_await_lease, "a timer for the cycle after the line's last lease")
{
    return gpc_wake_line_at(x, si_l2_line(x)->lease + 1);
}

GPC_ACTION(act_perform, "the store or atomic on the line, which has a new version, and its answer")
{
    (void) gpc_act(writer_act_access, x);
    si_l2_line(x)->version = ++si_l2_unit(x->unit)->version;
    return gpc_answer_writer(x, gpc_new_writer_answer(x, gpc_writer_stores(x) ? SI_ACK : SI_ATOMIC_DATA, 0));
}

/* ---- L2: the table. A held request waits for memory, which always answers, or for time, which nothing stops. ----- */

/* clang-format off */
static const gpc_cell_t l2_table[L2_NUM_STATES][L2_NUM_EVENTS] = {
    [L2_I] = {
        [L2_GETS] = GO(L2_IF, act_reserve_way, act_miss),
        [L2_WRITE] = GO(L2_IF, act_reserve_way, act_miss),
    },
    [L2_V] = {
        [L2_GETS] = GO(L2_V, act_extend, act_send_data),
        [L2_RENEW] = GO(L2_V, act_predict_longer, act_extend, act_count_renewal, act_send_renewed),
        [L2_WRITE] = GO(L2_V, act_perform),
        [L2_WRITE_LEASED] = GO(L2_WL, act_predict_shorter, act_await_lease, act_wait),
        [L2_EVICT_CLEAN] = GO(L2_I, act_remember_lease),
        [L2_EVICT_DIRTY] = GO(L2_I, act_remember_lease, act_write_back),
    },
    [L2_IF] = {
        [L2_GETS] = HOLD_LINE,
        [L2_WRITE] = HOLD_LINE,
        [L2_FILL] = GO(L2_V, act_fill_line, act_replay), /* the request is taken again, then those that are held */
    },
    [L2_WL] = {
        [L2_GETS] = HOLD_LINE, /* a reader must not extend the lease: the store would starve */
        [L2_WRITE] = HOLD_LINE,
        [L2_TIME] = GO(L2_V, act_perform),
    },
};
/* clang-format on */

static const gpc_table_t l2 = {GPC_TABLE("L2", OVER_LINES, L2, l2_table, l2_classify),
                               .causes = {ON(GPC_MSG_FILL, L2_FILL), ON(GPC_MSG_TIMER, L2_TIME)}};

static const gpc_controller_type_t si_l2 = {
    .name = "L2",
    .position = GPC_AT_BANK,
    .tables = {&l2},
    .arrays = {{.name = "tags", .line = si_l2_line_described, .has_data = true}},
    .unit = si_l2_unit_described,
    .counters = SI_COUNT_info,
    .lease = {.line = GPC_PLACE(si_l2, line, lease), .unit = GPC_PLACE(si_l2, unit, evicted)},
    .version = GPC_PLACE(si_l2, line, version),
};

/* ---- monitors ---------------------------------------------------------------------------------------------------- */

static const gpc_watched_t watched = {
    .promise = GPC_PROMISE_FRESH, .readable = 1u << L1_V, .copies = 1u << L1_V | 1u << L1_R, .bank_is_whole = true};

const gpc_protocol_t gpc_protocol_self_inval = {
    .id = "self-inval",
    .name = "self-invalidation with renewal",
    .paper = "none: the example of docs/how-to/add-a-protocol.md",
    .family = "example",
    .text = "leases self-invalidate and are renewed without data; a store waits at the L2 until every lease is over",
    .model = {[GPC_RULE_SC] = "SC", [GPC_RULE_RC] = "RC-MCA"},
    .standard_rule = GPC_RULE_RC,
    .controllers = {&si_l1, &si_l2},
    GPC_MESSAGES_OF(SI),
    .message = si_message_described,
    .networks = {{.name = "request", .ordered = true, .requests = true}, {.name = "response", .ordered = true}},
    .options = {[OPTION_LIFETIME] = GPC_NUMBER("lifetime", 256, 1, LONGEST_LIFETIME, "cycles of a line's first lease",
                                               2, 1, LONGEST_LIFETIME)},
    .keeps_time = true,
    .declared = {.weak_outcomes = "SB MP R S WRC SB+rel+acq", .variations = "lifetime=1 lifetime=4096"},
    .watched = &watched,
    .monitor = gpc_equal_versions, /* what a renewal relies on */
};

/* NAME.c: NAME, a coherence protocol for gpucoh, made by `gpucoh new-protocol NAME --leases`. L1s keep what they load
 * for a lease; a store or atomics wait at the L2 until every lease of their line is over, as in TC-Strong (Singh et
 * al., HPCA 2013). All controllers read the same cycle counter.
 *
 * Paper    Where do the rules come from? What is inferred, what differs?
 * Try it   gpucoh run stn -p ./NAME.c --scale tiny --check    right values, under monitors
 *          gpucoh verify -p ./NAME.c --states 200000          every interleaving of small programs
 *          gpucoh fuzz -p ./NAME.c --ops 60000                random programs; every cell entered
 *          gpucoh compare -p no-l1,tc-strong,./NAME.c         a table and figures
 * Go on    docs/how-to/add-a-protocol.md; csrc/protocols of the sources has others. */
#include "controller/outside.h"

/*     name    class network bytes word line */
#define MY_MESSAGES(X, P)                                           \
    X(P, GETS,   REQ, 0,  8, 0, false, "a load wants the line")     \
    X(P, PUT,    ST,  0, 12, 4, false, "a store: mask and words")   \
    X(P, ATOMIC, ATO, 0, 12, 0, false, "atomics with operands")     \
    X(P, DATA,   LD,  1,  8, 0, true,  "the line")                  \
    X(P, ACK,    ST,  1,  8, 0, false, "the store is performed")    \
    X(P, OLD,    ATO, 1, 12, 0, false, "the atomics are performed: the old values")
GPC_MESSAGES(MY, MY_MESSAGES)

enum { OPTION_LIFETIME };
#define MY_LEASE(FIELD) FIELD(TIME, gpc_cycle_t, lease) /* its last cycle */
GPC_METADATA(my, message, MY_LEASE)
GPC_METADATA(my_l1, line, MY_LEASE)
#define MY_L2_LINE(FIELD) GPC_WRITER_LINE(FIELD) MY_LEASE(FIELD)
GPC_METADATA(my_l2, line, MY_L2_LINE)
GPC_METADATA(my_l2, unit, MY_LEASE) /* the latest of all lines that have left */
GPC_KEEPS_DIRTY(my_l2);

/* ---- L1 */

#define L1_STATES(X)           \
    X(L1_I, STABLE, "no copy") \
    X(L1_V, STABLE, "a copy")  \
    X(L1_F, TRANSIENT_CACHE, "a load is outstanding") \
    X(L1_B, TRANSIENT_CACHE, "a store or atomics are outstanding")
#define L1_EVENTS(X)                                      \
    X(L1_LOAD, "a load of a warp, coalesced to the line") \
    X(L1_WRITE, "a store or atomics of a warp")           \
    X(L1_EVICT, "the way is wanted")                      \
    X(L1_EXPIRED, "a load finds that the lease is over")  \
    X(L1_ANSWER, "the L2's answer")
GPC_FSM(L1, L1_STATES, L1_EVENTS)

GPC_ACTION(act_request_line, "GETS; the load is then pending")
{
    gpc_count(x, load_misses);
    return gpc_send_and_wait(x, gpc_new_request(x, MY_GETS));
}

GPC_ACTION(act_write_through, "PUT or ATOMIC; the store or atomics are then pending")
{
    return gpc_send_and_wait(x, gpc_new_request(x, x->cause == GPC_MSG_STORE ? MY_PUT : MY_ATOMIC));
}

GPC_ACTION(act_take_lease, "the copy has the answer's lease")
{
    my_l1_line(x)->lease = my_message(x->msg)->lease;
    return GPC_OK;
}

static const gpc_cell_t l1_table[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_I] = {
        [L1_LOAD] = GO(L1_F, act_reserve_way, act_request_line),
        [L1_WRITE] = GO(L1_B, act_write_through),
    },
    [L1_V] = {
        [L1_LOAD] = GO(L1_V, act_hit),
        [L1_WRITE] = GO(L1_B, act_release_way, act_write_through),
        [L1_EVICT] = GO(L1_I),
        [L1_EXPIRED] = GO(L1_F, act_request_line),
    },
    [L1_F] = {
        [L1_LOAD] = HOLD_LINE,
        [L1_WRITE] = HOLD_LINE,
        [L1_ANSWER] = GO(L1_V, act_take_lease, act_fill, act_complete),
    },
    [L1_B] = { /* what is held waits for an answer, and answers are never held */
        [L1_LOAD] = HOLD_LINE,
        [L1_WRITE] = HOLD_LINE,
        [L1_ANSWER] = GO(L1_I, act_complete),
    },
};
static const gpc_table_t l1 = {GPC_TABLE("L1", OVER_LINES, L1, l1_table, NULL),
    .expiry = {.states = 1u << L1_V, .event = L1_EXPIRED, .instead = 1u << GPC_MSG_LOAD},
    .causes = {ON(GPC_MSG_LOAD, L1_LOAD), ON(GPC_MSG_STORE, L1_WRITE), ON(GPC_MSG_ATOMIC, L1_WRITE),
               ON(GPC_MSG_EVICT, L1_EVICT), ON(MY_DATA, L1_ANSWER), ON(MY_ACK, L1_ANSWER), ON(MY_OLD, L1_ANSWER)}};
static const gpc_controller_type_t my_l1 = {.name = "L1", .position = GPC_AT_CORE, .tables = {&l1},
    .arrays = {{.name = "tags", .line = my_l1_line_described, .has_data = true}}, .mshr = gpc_requests_mshr_described,
    .lease = {.line = GPC_PLACE(my_l1, line, lease)}};

/* ---- L2: it has the only copy */

#define L2_STATES(X)           \
    X(L2_I, STABLE, "no copy") \
    X(L2_V, STABLE, "present") \
    X(L2_F, TRANSIENT_CACHE, "fetching from memory") \
    X(L2_W, TRANSIENT_COHERENCE, "a store or atomics wait for the lease")
#define L2_EVENTS(X)                                      \
    X(L2_GETS, "a load")                                  \
    X(L2_WRITE, "a store or atomics")                     \
    X(L2_CLEAN, "the way is wanted, memory has the line") \
    X(L2_DIRTY, "the way is wanted, memory is behind")    \
    X(L2_FILL, "memory's answer")                         \
    X(L2_LEASED, "a store or atomics before the lease is over") \
    X(L2_TIME, "the lease is over")
GPC_FSM(L2, L2_STATES, L2_EVENTS)

static gpc_event_id_t
l2_classify(const gpc_step_t *x) /* the events that depend on more than the cause */
{
    if (x->cause == MY_PUT || x->cause == MY_ATOMIC) {
        return x->state == L2_V && !gpc_lease_ended(x) ? L2_LEASED : L2_WRITE;
    }
    return x->cause != GPC_MSG_EVICT ? GPC_NO_EVENT : gpc_is_dirty(x) ? L2_DIRTY : L2_CLEAN;
}

GPC_ACTION(act_fill_line, "memory's line, with the latest lease of all lines that have left")
{
    my_l2_line(x)->lease = my_l2_unit(x->unit)->lease;
    return gpc_act(act_fill, x);
}

GPC_ACTION(act_extend, "the lease lasts `lifetime` cycles from now")
{
    gpc_count_hit(x);
    gpc_extend_lease(x, &my_l2_line(x)->lease, (uint64_t) x->unit->options[OPTION_LIFETIME]);
    return GPC_OK;
}

GPC_ACTION(act_await_lease, "a timer for the cycle after the lease")
{
    return gpc_wake_line_at(x, my_l2_line(x)->lease + 1);
}

GPC_ANSWER(act_send_data, "DATA with the lease", MY_DATA, my_message, my_l2_line, lease)

GPC_ACTION(act_perform, "the store or atomics on the line, and the answer")
{
    (void) gpc_act(writer_act_access, x);
    return gpc_answer_writer(x, gpc_new_writer_answer(x, gpc_writer_stores(x) ? MY_ACK : MY_OLD, 0));
}

static const gpc_cell_t l2_table[L2_NUM_STATES][L2_NUM_EVENTS] = {
    [L2_I] = {[L2_GETS] = GO(L2_F, act_reserve_way, act_miss), [L2_WRITE] = GO(L2_F, act_reserve_way, act_miss)},
    [L2_V] = {[L2_GETS] = GO(L2_V, act_extend, act_send_data), [L2_WRITE] = GO(L2_V, act_perform),
              [L2_LEASED] = GO(L2_W, act_await_lease, act_wait), [L2_CLEAN] = GO(L2_I, act_remember_lease),
              [L2_DIRTY] = GO(L2_I, act_remember_lease, act_write_back)},
    [L2_W] = {[L2_GETS] = HOLD_LINE, [L2_WRITE] = HOLD_LINE, [L2_TIME] = GO(L2_V, act_perform)},
    [L2_F] = {[L2_GETS] = HOLD_LINE, [L2_WRITE] = HOLD_LINE, [L2_FILL] = GO(L2_V, act_fill_line, act_replay)},
};
static const gpc_table_t l2 = {GPC_TABLE("L2", OVER_LINES, L2, l2_table, l2_classify),
    .causes = {ON(MY_GETS, L2_GETS), ON(GPC_MSG_FILL, L2_FILL), ON(GPC_MSG_TIMER, L2_TIME)}};
static const gpc_controller_type_t my_l2 = {.name = "L2", .position = GPC_AT_BANK, .tables = {&l2},
    .arrays = {{.name = "tags", .line = my_l2_line_described, .has_data = true}}, .unit = my_l2_unit_described,
    .lease = {.line = GPC_PLACE(my_l2, line, lease), .unit = GPC_PLACE(my_l2, unit, lease)}};

/* ---- the protocol */

static const gpc_watched_t watched = {.promise = GPC_PROMISE_FRESH, .bank_is_whole = true,
    .readable = 1u << L1_V, .copies = 1u << L1_V};
static const gpc_protocol_t protocol = {
    .id = "NAME", .paper = "none yet", .family = "mine",
    .text = "copies have leases; a store waits at the L2 until those of its line are over",
    .model = {[GPC_RULE_SC] = "SC", [GPC_RULE_RC] = "RC-MCA"}, .standard_rule = GPC_RULE_RC, .watched = &watched,
    .controllers = {&my_l1, &my_l2}, GPC_MESSAGES_OF(MY), .message = my_message_described,
    .options = {[OPTION_LIFETIME] = GPC_NUMBER("lifetime", 1024, 1, 4096, "cycles of a lease", 2, 1, 4096)},
    .keeps_time = true,
    .networks = {{.name = "request", .ordered = true, .requests = true}, {.name = "answer", .ordered = true}},
};
GPC_EXPORT_PROTOCOLS(&protocol);

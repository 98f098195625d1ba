/* NAME.c: NAME, a coherence protocol for gpucoh, made by `gpucoh new-protocol NAME`. It begins without copies in the
 * L1s: every access is performed at the L2, one of a core and line at a time.
 *
 * Paper    Where do the rules come from? What is inferred, what differs?
 * Try it   gpucoh run stn -p ./NAME.c --scale tiny --check    right values, under monitors
 *          gpucoh verify -p ./NAME.c --states 200000          every interleaving of small programs
 *          gpucoh litmus MP SB -p ./NAME.c                    the memory model
 *          gpucoh fuzz -p ./NAME.c --ops 60000                random programs; every cell entered
 *          gpucoh protocols ./NAME.c                          these tables, as they are printed
 * Go on    Give the L1 copies: a state L1_V with [L1_LOAD] = GO(L1_V, act_hit), an event L1_EVICT (GPC_MSG_EVICT) that
 *          leads from it to L1_I, and a state of loads alone that begins with act_reserve_way and ends with act_fill,
 *          act_complete. When does a copy go? Until the tables say it, `gpucoh verify` shows what is wrong.
 *          `gpucoh new-protocol OTHER --leases` writes one in which leases end copies. */
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

/* ---- L1 */

#define L1_STATES(X)           \
    X(L1_I, STABLE, "no copy") \
    X(L1_B, TRANSIENT_CACHE, "busy: a request is outstanding")
#define L1_EVENTS(X)                                      \
    X(L1_LOAD, "a load of a warp, coalesced to the line") \
    X(L1_WRITE, "a store or atomics of a warp")           \
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

static const gpc_cell_t l1_table[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_I] = {
        [L1_LOAD] = GO(L1_B, act_request_line),
        [L1_WRITE] = GO(L1_B, act_write_through),
    },
    [L1_B] = { /* what is held waits for an answer, and answers are never held */
        [L1_LOAD] = HOLD_LINE,
        [L1_WRITE] = HOLD_LINE,
        [L1_ANSWER] = GO(L1_I, act_complete),
    },
};
static const gpc_table_t l1 = {GPC_TABLE("L1", OVER_LINES, L1, l1_table, NULL),
    .causes = {ON(GPC_MSG_LOAD, L1_LOAD), ON(GPC_MSG_STORE, L1_WRITE), ON(GPC_MSG_ATOMIC, L1_WRITE),
               ON(MY_DATA, L1_ANSWER), ON(MY_ACK, L1_ANSWER), ON(MY_OLD, L1_ANSWER)}};
static const gpc_controller_type_t my_l1 = {.name = "L1", .position = GPC_AT_CORE, .tables = {&l1},
    .arrays = {{.name = "tags", .has_data = true}}, .mshr = gpc_requests_mshr_described};

/* ---- L2: it has the only copy */

#define L2_STATES(X)           \
    X(L2_I, STABLE, "no copy") \
    X(L2_V, STABLE, "present") \
    X(L2_F, TRANSIENT_CACHE, "fetching from memory")
#define L2_EVENTS(X)                                      \
    X(L2_GETS, "a load")                                  \
    X(L2_WRITE, "a store or atomics")                     \
    X(L2_CLEAN, "the way is wanted, memory has the line") \
    X(L2_DIRTY, "the way is wanted, memory is behind")    \
    X(L2_FILL, "memory's answer")
GPC_FSM(L2, L2_STATES, L2_EVENTS)

static gpc_event_id_t
l2_classify(const gpc_step_t *x) /* the events that depend on more than the cause */
{
    return x->cause != GPC_MSG_EVICT ? GPC_NO_EVENT : gpc_is_dirty(x) ? L2_DIRTY : L2_CLEAN;
}

GPC_ACTION(act_send_data, "DATA to the requester")
{
    gpc_count_hit(x);
    return gpc_send(x, gpc_new_answer(x, x->message, MY_DATA));
}

GPC_ACTION(act_perform, "the store or atomics on the line, and the answer")
{
    (void) gpc_act(writer_act_access, x);
    return gpc_answer_writer(x, gpc_new_writer_answer(x, gpc_writer_stores(x) ? MY_ACK : MY_OLD, 0));
}

static const gpc_cell_t l2_table[L2_NUM_STATES][L2_NUM_EVENTS] = {
    [L2_I] = {[L2_GETS] = GO(L2_F, act_reserve_way, act_miss), [L2_WRITE] = GO(L2_F, act_reserve_way, act_miss)},
    [L2_V] = {[L2_GETS] = GO(L2_V, act_send_data), [L2_WRITE] = GO(L2_V, act_perform),
              [L2_CLEAN] = GO(L2_I), [L2_DIRTY] = GO(L2_I, act_write_back)},
    [L2_F] = {[L2_GETS] = HOLD_LINE, [L2_WRITE] = HOLD_LINE, [L2_FILL] = GO(L2_V, act_fill, act_replay)},
};
static const gpc_table_t l2 = {GPC_TABLE("L2", OVER_LINES, L2, l2_table, l2_classify),
    .causes = {ON(MY_GETS, L2_GETS), ON(MY_PUT, L2_WRITE), ON(MY_ATOMIC, L2_WRITE), ON(GPC_MSG_FILL, L2_FILL)}};
static const gpc_controller_type_t my_l2 = {.name = "L2", .position = GPC_AT_BANK, .tables = {&l2},
    .arrays = {{.name = "tags", .line = gpc_writer_line_described, .has_data = true}}};

/* ---- the protocol */

static const gpc_watched_t watched = {.promise = GPC_PROMISE_FRESH, .bank_is_whole = true};
static const gpc_protocol_t protocol = {
    .id = "NAME", .paper = "none yet", .family = "mine", .text = "every access is performed at the L2",
    .model = {[GPC_RULE_SC] = "SC", [GPC_RULE_RC] = "RC-MCA"}, .standard_rule = GPC_RULE_RC, .watched = &watched,
    .controllers = {&my_l1, &my_l2}, GPC_MESSAGES_OF(MY),
    .networks = {{.name = "request", .ordered = true, .requests = true}, {.name = "answer", .ordered = true}},
};
GPC_EXPORT_PROTOCOLS(&protocol);

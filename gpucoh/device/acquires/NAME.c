/* NAME.c: NAME, a coherence protocol for gpucoh, made by `gpucoh new-protocol NAME --acquires`. L1s keep what weak
 * loads fetch until their core's next acquire or kernel begin, which drops all copies (self-invalidation);
 * synchronisation loads, stores and atomics are performed at the L2, as GPUs do. Programs without data races see
 * sequential consistency.
 *
 * Paper    Where do the rules come from? What is inferred, what differs?
 * Order    A release waits until the warp's stores are performed at the L2. An acquire drops copies, and a fill that it
 *          overtakes serves the loads that asked for it, and no later one.
 * Deadlock What is held waits for an answer, and answers are never held.
 * Try it   gpucoh run stn -p ./NAME.c --scale tiny --check    right values, under monitors
 *          gpucoh verify -p ./NAME.c --lines 1                every interleaving of small programs
 *          gpucoh fuzz -p ./NAME.c --ops 60000                random programs; every cell entered
 * Go on    docs/how-to/add-a-protocol.md; `gpucoh protocols wt` prints the tables of a published one. */
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
    X(L1_V, STABLE, "a copy, until the next acquire") \
    X(L1_F, TRANSIENT_CACHE, "a load is outstanding") \
    X(L1_FI, TRANSIENT_CACHE, "the same; an acquire has passed") \
    X(L1_B, TRANSIENT_CACHE, "a request that leaves no copy is outstanding")
#define L1_EVENTS(X)                                                         \
    X(L1_LOAD, "a weak load of a warp, coalesced to the line")               \
    X(L1_OTHER, "a synchronisation load, a store or atomics: for the L2")    \
    X(L1_ACQUIRE, "an acquire of the core, or a kernel begins")              \
    X(L1_EVICT, "the way is wanted")                                         \
    X(L1_ANSWER, "the L2's answer")
GPC_FSM(L1, L1_STATES, L1_EVENTS)

static gpc_event_id_t
l1_classify(const gpc_step_t *x) /* the event that depends on more than the cause */
{
    return x->cause != GPC_MSG_LOAD ? GPC_NO_EVENT : x->msg->order == GPC_ORDER_WEAK ? L1_LOAD : L1_OTHER;
}

GPC_ACTION(act_request, "GETS, PUT or ATOMIC; the request of the core is then pending")
{
    static const uint8_t messages[] = {[GPC_MSG_LOAD] = MY_GETS, [GPC_MSG_STORE] = MY_PUT, [GPC_MSG_ATOMIC] = MY_ATOMIC};
    gpc_count(x, load_misses);
    return gpc_send_and_wait(x, gpc_new_request(x, messages[x->cause]));
}

static const gpc_cell_t l1_table[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_I] = {
        [L1_LOAD] = GO(L1_F, act_reserve_way, act_request),
        [L1_OTHER] = GO(L1_B, act_request),
        [L1_ACQUIRE] = GO(L1_I), /* of the synchronisation load or atomic that has just completed */
    },
    [L1_V] = {
        [L1_LOAD] = GO(L1_V, act_hit),
        [L1_OTHER] = GO(L1_B, act_release_way, act_request),
        [L1_ACQUIRE] = GO(L1_I),
        [L1_EVICT] = GO(L1_I),
    },
    [L1_F] = {
        [L1_LOAD] = GO(L1_F, act_merge_load),
        [L1_OTHER] = HOLD_LINE,
        [L1_ACQUIRE] = GO(L1_FI),
        [L1_ANSWER] = GO(L1_V, act_fill, act_complete),
    },
    [L1_FI] = {
        [L1_LOAD] = HOLD_LINE,
        [L1_OTHER] = HOLD_LINE,
        [L1_ACQUIRE] = GO(L1_FI),
        [L1_ANSWER] = GO(L1_I, act_complete),
    },
    [L1_B] = {
        [L1_LOAD] = HOLD_LINE,
        [L1_OTHER] = HOLD_LINE,
        [L1_ACQUIRE] = GO(L1_B),
        [L1_ANSWER] = GO(L1_I, act_complete),
    },
};
static const gpc_table_t l1 = {GPC_TABLE("L1", OVER_LINES, L1, l1_table, l1_classify),
    .causes = {ON(GPC_MSG_STORE, L1_OTHER), ON(GPC_MSG_ATOMIC, L1_OTHER), ON(GPC_MSG_EVICT, L1_EVICT),
               ON(GPC_MSG_ACQUIRE, L1_ACQUIRE), ON(GPC_MSG_KERNEL_BEGIN, L1_ACQUIRE),
               ON(MY_DATA, L1_ANSWER), ON(MY_ACK, L1_ANSWER), ON(MY_OLD, L1_ANSWER)}};
static const gpc_controller_type_t my_l1 = {.name = "L1", .position = GPC_AT_CORE, .tables = {&l1},
    .arrays = {{.name = "tags", .has_data = true}}, .mshr = gpc_requests_mshr_described};

static int
acquire(gpc_controller_t *l1_unit, uint16_t warp, uint8_t scope)
{
    (void) warp, (void) scope; /* of any warp, at any scope */
    return gpc_controller_flash(l1_unit, 0, GPC_MSG_ACQUIRE, L1_ACQUIRE);
}

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

static const gpc_watched_t watched = {.promise = GPC_PROMISE_ACQUIRED, .bank_is_whole = true,
    .readable = 1u << L1_V, .copies = 1u << L1_V};
static const gpc_protocol_t protocol = {
    .id = "NAME", .paper = "none yet", .family = "mine", .text = "copies live until the next acquire; all else is performed at the L2",
    .model = {[GPC_RULE_DRF] = "DRF-SC"}, .standard_rule = GPC_RULE_DRF, .watched = &watched,
    .controllers = {&my_l1, &my_l2}, GPC_MESSAGES_OF(MY), .order = {.acquire = acquire},
    .networks = {{.name = "request", .ordered = true, .requests = true}, {.name = "answer", .ordered = true}},
};
GPC_EXPORT_PROTOCOLS(&protocol);

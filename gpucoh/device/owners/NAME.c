/* NAME.c: NAME, a coherence protocol for gpucoh, made by `gpucoh new-protocol NAME --owners`. An L1 owns the line that
 * it writes (MSI): stores and atomics that hit are performed there. The L2 is inclusive and lists readers or the owner;
 * it invalidates readers before it grants a line, and calls an owner's line home before it answers anyone else.
 *
 * Paper    Where do the rules come from? What is inferred, what differs?
 * Order    The L2 serves one request for a line at a time. RECALL, INV and PUT_ACK are on one ordered network, so an
 *          eviction that a RECALL crosses has seen it when its PUT_ACK comes; a RECALL may overtake the grant.
 * Deadlock Requests wait for forwards, forwards for responses, which never wait. An INV is never held: it may be for an
 *          older copy, and the L2 may wait for its answer before it takes this L1's own request.
 * Try it   gpucoh run stn -p ./NAME.c --scale tiny --check    right values, under monitors
 *          gpucoh verify -p ./NAME.c --cores 2 --lines 1      every interleaving of small programs
 *          gpucoh fuzz -p ./NAME.c --ops 60000                random programs; every cell entered
 * Go on    docs/how-to/add-a-protocol.md; `gpucoh protocols mesi` prints MESI's tables, whose owners answer readers. */
#include "controller/outside.h"

/*     name      class network bytes word line */
#define MY_MESSAGES(X, P)                                                        \
    X(P, GETS,        REQ, 0, 8, 0, false, "a load wants the line")              \
    X(P, GETX,        ST,  0, 8, 0, false, "a store or atomics want to own it")  \
    X(P, INV,         INV, 1, 8, 0, false, "drop the copy")                      \
    X(P, RECALL,      RCL, 1, 8, 0, false, "to the owner: the line goes home")   \
    X(P, PUT_ACK,     WB,  1, 8, 0, false, "the evicted line is home")           \
    X(P, DATA,        LD,  2, 8, 0, true,  "the line, to read")                  \
    X(P, DATA_X,      ST,  2, 8, 0, true,  "the line, to own")                   \
    X(P, INV_ACK,     INV, 2, 8, 0, false, "the copy is gone")                   \
    X(P, RECALL_DATA, RCL, 2, 8, 0, true,  "the owner's line")                   \
    X(P, PUT,         WB,  2, 8, 0, true,  "the owner's line: it evicts it")
GPC_MESSAGES(MY, MY_MESSAGES)

GPC_METADATA(my_l1, line, GPC_WRITER_LINE)
GPC_KEEPS_DIRTY(my_l1);
#define MY_L2_LINE(FIELD) GPC_WRITER_LINE(FIELD) FIELD(NODESET, gpc_nodeset_t, listed) /* readers, or in M the owner */
GPC_METADATA(my_l2, line, MY_L2_LINE)
GPC_KEEPS_DIRTY(my_l2);

/* ---- L1 */

#define L1_STATES(X)                            \
    X(L1_I, STABLE, "no copy")                  \
    X(L1_S, STABLE, "a copy, as the L2 has it") \
    X(L1_M, STABLE, "the only copy, newer than the L2's") \
    X(L1_IS, TRANSIENT_CACHE, "a load is outstanding") \
    X(L1_ISI, TRANSIENT_CACHE, "the same; invalidated, so the line serves these loads only") \
    X(L1_IM, TRANSIENT_CACHE, "stores or atomics are outstanding") \
    X(L1_MI, TRANSIENT_CACHE, "evicting: the line is on its way home")
#define L1_EVENTS(X)                                      \
    X(L1_LOAD, "a load of a warp, coalesced to the line") \
    X(L1_WRITE, "a store or atomics of a warp")           \
    X(L1_EVICT, "the way is wanted")                      \
    X(L1_INV, "another L1 writes, or the L2 evicts")      \
    X(L1_RECALL, "the L2 wants the line of this owner")   \
    X(L1_DATA, "the line, to read")                       \
    X(L1_DATA_X, "the line, to own")                      \
    X(L1_PUT_ACK, "the evicted line is home")
GPC_FSM(L1, L1_STATES, L1_EVENTS)

GPC_ACTION(act_gets, "GETS; the load is then pending")
{
    gpc_count(x, load_misses);
    return gpc_send_and_wait(x, gpc_new_request(x, MY_GETS));
}

GPC_ACTION(act_getx, "GETX, without the words, which are written here")
{
    return gpc_send(x, gpc_new_message(x, MY_GETX, gpc_home_of(x->unit, x->line)));
}

GPC_ACTION(act_inv_ack, "INV_ACK to the L2")
{
    return gpc_send(x, gpc_new_message(x, MY_INV_ACK, gpc_home_of(x->unit, x->line)));
}

GPC_ACTION(act_recall_data, "RECALL_DATA with the line")
{
    return gpc_send(x, gpc_new_write_back(x, MY_RECALL_DATA));
}

GPC_ACTION(act_put, "PUT with the line")
{
    return gpc_send(x, gpc_new_write_back(x, MY_PUT));
}

GPC_ACTION(act_perform_hit, "perform and complete the store or atomics")
{
    return gpc_perform_and_complete(x, x->message, true);
}

GPC_ACTION(act_perform_all, "perform and complete the pending stores and atomics, in order")
{
    for (gpc_index_t request = gpc_pop_pending(x); request != GPC_NONE; request = gpc_pop_pending(x)) {
        GPC_TRY(gpc_perform_and_complete(x, request, false));
    }
    return GPC_OK;
}

/* Held loads and stores wait for answers. A held RECALL has overtaken the grant, which nothing holds up. */
static const gpc_cell_t l1_table[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_I] = {
        [L1_LOAD] = GO(L1_IS, act_reserve_way, act_gets),
        [L1_WRITE] = GO(L1_IM, act_reserve_way, act_getx, act_wait),
        [L1_INV] = GO(L1_I, act_inv_ack), /* of a copy that has been evicted */
    },
    [L1_S] = {
        [L1_LOAD] = GO(L1_S, act_hit),
        [L1_WRITE] = GO(L1_IM, act_getx, act_wait),
        [L1_EVICT] = GO(L1_I),
        [L1_INV] = GO(L1_I, act_count_invalidation, act_inv_ack),
    },
    [L1_M] = {
        [L1_LOAD] = GO(L1_M, act_hit),
        [L1_WRITE] = GO(L1_M, act_perform_hit),
        [L1_EVICT] = GO(L1_MI, act_put, act_release_way),
        [L1_RECALL] = GO(L1_I, act_count_invalidation, act_recall_data),
    },
    [L1_IS] = {
        [L1_LOAD] = GO(L1_IS, act_merge_load),
        [L1_WRITE] = HOLD_LINE,
        [L1_INV] = GO(L1_ISI, act_inv_ack),
        [L1_DATA] = GO(L1_S, act_fill, act_complete),
    },
    [L1_ISI] = {
        [L1_LOAD] = HOLD_LINE,
        [L1_WRITE] = HOLD_LINE,
        [L1_INV] = GO(L1_ISI, act_inv_ack),
        [L1_DATA] = GO(L1_I, act_complete),
    },
    [L1_IM] = {
        [L1_LOAD] = HOLD_LINE,
        [L1_WRITE] = GO(L1_IM, act_wait),
        [L1_INV] = GO(L1_IM, act_inv_ack),
        [L1_RECALL] = HOLD_LINE,
        [L1_DATA_X] = GO(L1_M, act_fill, act_perform_all),
    },
    [L1_MI] = {
        [L1_LOAD] = HOLD_LINE,
        [L1_WRITE] = HOLD_LINE,
        [L1_RECALL] = GO(L1_MI), /* the PUT answers it */
        [L1_PUT_ACK] = GO(L1_I),
    },
};
static const gpc_table_t l1 = {GPC_TABLE("L1", OVER_LINES, L1, l1_table, NULL),
    .causes = {ON(GPC_MSG_LOAD, L1_LOAD), ON(GPC_MSG_STORE, L1_WRITE), ON(GPC_MSG_ATOMIC, L1_WRITE),
               ON(GPC_MSG_EVICT, L1_EVICT), ON(MY_INV, L1_INV), ON(MY_RECALL, L1_RECALL), ON(MY_DATA, L1_DATA),
               ON(MY_DATA_X, L1_DATA_X), ON(MY_PUT_ACK, L1_PUT_ACK)}};
static const gpc_controller_type_t my_l1 = {.name = "L1", .position = GPC_AT_CORE, .tables = {&l1},
    .arrays = {{.name = "tags", .line = my_l1_line_described, .has_data = true}}, .mshr = gpc_requests_mshr_described,
    .owned = 1u << L1_M};

/* ---- L2 */

#define L2_STATES(X)                               \
    X(L2_I, STABLE, "no copy")                     \
    X(L2_V, STABLE, "present; L1s may have copies") \
    X(L2_M, STABLE, "an L1 owns the line")         \
    X(L2_F, TRANSIENT_CACHE, "fetching from memory") \
    X(L2_B, TRANSIENT_COHERENCE, "a writer waits for invalidations") \
    X(L2_R, TRANSIENT_COHERENCE, "a request waits for the owner's line") \
    X(L2_VI, TRANSIENT_COHERENCE, "evicting; invalidations are outstanding") \
    X(L2_MI, TRANSIENT_COHERENCE, "evicting; the owner's line is outstanding")
#define L2_EVENTS(X)                           \
    X(L2_GETS, "a load")                       \
    X(L2_GETX, "a store or atomics")           \
    X(L2_GETX_SHARED, "the same; other L1s are listed") \
    X(L2_EVICT, "the way is wanted")           \
    X(L2_EVICT_SHARED, "the same; L1s are listed") \
    X(L2_FILL, "memory's answer")              \
    X(L2_ACK, "a copy is gone")                \
    X(L2_LAST_ACK, "the last copy is gone")    \
    X(L2_HOME, "the owner's line, recalled")   \
    X(L2_PUT, "the owner's line, evicted")
GPC_FSM(L2, L2_STATES, L2_EVENTS)

static gpc_event_id_t
l2_classify(const gpc_step_t *x) /* the events that depend on more than the cause */
{
    switch (x->cause) {
    case MY_GETX:
        return x->state == L2_V && gpc_others_share(x) ? L2_GETX_SHARED : L2_GETX;
    case GPC_MSG_EVICT:
        return x->state == L2_V && gpc_nodeset_count(gpc_sharers(x)) ? L2_EVICT_SHARED : L2_EVICT;
    case MY_INV_ACK:
        return gpc_sharers_mshr(x)->acknowledgements == 1 ? L2_LAST_ACK : L2_ACK;
    default:
        return GPC_NO_EVENT;
    }
}

GPC_ACTION(act_data, "DATA to the reader")
{
    gpc_count_hit(x);
    return gpc_send(x, gpc_new_answer(x, x->message, MY_DATA));
}

GPC_ACTION(act_data_x, "DATA_X to the writer")
{
    return gpc_send(x, gpc_new_answer(x, x->message, MY_DATA_X));
}

GPC_ACTION(act_invalidate_others, "INV to all readers but the writer; their INV_ACKs are expected")
{
    gpc_nodeset_t others = gpc_other_sharers(x);
    return gpc_call_in_and_wait(x, MY_INV, &others);
}

GPC_ACTION(act_invalidate, "INV to all readers; their INV_ACKs are expected")
{
    return gpc_call_in_and_wait(x, MY_INV, gpc_sharers(x));
}

GPC_CALL_IN(act_recall, "RECALL to the owner", MY_RECALL)

GPC_ACTION(act_put_ack, "PUT_ACK to the evicting L1")
{
    return gpc_send(x, gpc_new_message(x, MY_PUT_ACK, x->msg->source));
}

GPC_ACTION(act_save, "write the line to memory if memory is behind")
{
    return gpc_is_dirty(x) ? gpc_act(act_write_back, x) : GPC_OK;
}

/* What is held waits for memory, INV_ACKs or the owner's line: responses, or a RECALL held for one. */
static const gpc_cell_t l2_table[L2_NUM_STATES][L2_NUM_EVENTS] = {
    [L2_I] = {[L2_GETS] = GO(L2_F, act_reserve_way, act_miss), [L2_GETX] = GO(L2_F, act_reserve_way, act_miss)},
    [L2_V] = {[L2_GETS] = GO(L2_V, act_add_sharer, act_data), [L2_GETX] = GO(L2_M, act_set_owner, act_data_x),
              [L2_GETX_SHARED] = GO(L2_B, act_invalidate_others, act_wait), [L2_EVICT] = GO(L2_I, act_save),
              [L2_EVICT_SHARED] = GO(L2_VI, act_invalidate)},
    [L2_M] = {[L2_GETS] = GO(L2_R, act_recall, act_wait), [L2_GETX] = GO(L2_R, act_recall, act_wait),
              [L2_EVICT] = GO(L2_MI, act_recall), [L2_PUT] = GO(L2_V, act_take_back, act_clear_sharers, act_put_ack)},
    [L2_F] = {[L2_GETS] = HOLD_LINE, [L2_GETX] = HOLD_LINE, [L2_FILL] = GO(L2_V, act_fill, act_replay)},
    [L2_B] = {[L2_GETS] = HOLD_LINE, [L2_GETX] = HOLD_LINE, [L2_ACK] = GO(L2_B, act_count),
              [L2_LAST_ACK] = GO(L2_V, act_count, act_clear_sharers, act_replay)},
    [L2_R] = {[L2_GETS] = HOLD_LINE, [L2_GETX] = HOLD_LINE,
              [L2_HOME] = GO(L2_V, act_take_back, act_clear_sharers, act_replay),
              [L2_PUT] = GO(L2_V, act_take_back, act_clear_sharers, act_put_ack, act_replay)},
    [L2_VI] = {[L2_GETS] = HOLD_LINE, [L2_GETX] = HOLD_LINE, [L2_ACK] = GO(L2_VI, act_count),
               [L2_LAST_ACK] = GO(L2_I, act_count, act_save)},
    [L2_MI] = {[L2_GETS] = HOLD_LINE, [L2_GETX] = HOLD_LINE, [L2_HOME] = GO(L2_I, act_take_back, act_save),
               [L2_PUT] = GO(L2_I, act_take_back, act_save, act_put_ack)},
};
static const gpc_table_t l2 = {GPC_TABLE("L2", OVER_LINES, L2, l2_table, l2_classify),
    .causes = {ON(MY_GETS, L2_GETS), ON(GPC_MSG_FILL, L2_FILL), ON(MY_RECALL_DATA, L2_HOME), ON(MY_PUT, L2_PUT)}};
static const gpc_controller_type_t my_l2 = {.name = "L2", .position = GPC_AT_BANK, .tables = {&l2},
    .arrays = {{.name = "tags", .line = my_l2_line_described, .has_data = true}}, .mshr = gpc_sharers_mshr_described,
    .sharers = GPC_SHARERS(0, my_l2, line, listed), .returned = L2_V};

/* ---- the protocol */

static const gpc_watched_t watched = {.promise = GPC_PROMISE_FRESH, .bank_words = 1u << L2_V,
    .readable = 1u << L1_S | 1u << L1_M, .copies = 1u << L1_S | 1u << L1_M, .owners = 1u << L1_M};
static const gpc_protocol_t protocol = {
    .id = "NAME", .paper = "none yet", .family = "mine",
    .text = "an L1 owns the line that it writes; the L2 lists readers or the owner, and calls the line home",
    .model = {[GPC_RULE_SC] = "SC", [GPC_RULE_RC] = "RC-MCA"}, .standard_rule = GPC_RULE_RC, .watched = &watched,
    .controllers = {&my_l1, &my_l2}, GPC_MESSAGES_OF(MY),
    .declared = {.uncovered = {{"L2", "VI MI", "GETS GETX", NULL, "the bank's queue waits for the way"}}},
    .networks = {{.name = "request", .ordered = true, .requests = true},
                 {.name = "forward", .ordered = true, .requests = true}, {.name = "response"}},
};
GPC_EXPORT_PROTOCOLS(&protocol);

/* mesi_l2.c: MESI's inclusive L2 and directory. mesi.c describes the protocol.
 *
 * An exclusive grant blocks the line until the new owner's EX_UNBLOCK; a read that is forwarded to the owner blocks it
 * until the owner's data and the reader's UNBLOCK have arrived. The L2 keeps its dirty bit while an L1 owns the line:
 * an owner that returns it clean leaves the L2's copy as the newest. A recalled line leaves its way at once, as in
 * gem5, and waits in its MSHR entry, which has no room for the line: a dirty copy is written to memory first, and an
 * owner's newer one after it.
 */
#include "protocols/invalidation/mesi.h"

/* ---- messages ---------------------------------------------------------------------------------------------------- */

int
mesi_send(gpc_step_t *x, uint8_t type, gpc_node_t destination, const uint32_t *words, mesi_message_t fields)
{
    gpc_msg_t *msg = gpc_new_message(x, type, destination);
    msg->request = GPC_NONE; /* answers name the line, not a request */
    *mesi_message(msg) = fields;
    if (words) {
        gpc_carry(x, msg, gpc_all_words(x->unit), words);
    }
    return gpc_send(x, msg);
}

/* ---- states and events ------------------------------------------------------------------------------------------- */

#define L2_STATES(X)                                                                                                        \
    X(L2_NP, STABLE, "not present")                                                                                         \
    X(L2_SS, STABLE, "present, shared by readers")                                                                          \
    X(L2_M, STABLE, "present, no L1 has a copy")                                                                            \
    X(L2_MT, STABLE, "owned by an L1; this copy may be stale")                                                              \
    X(L2_ISS, TRANSIENT_CACHE, "fetch for one reader outstanding; it becomes the owner")                                    \
    X(L2_IS, TRANSIENT_CACHE, "fetch for several readers outstanding")                                                      \
    X(L2_IM, TRANSIENT_CACHE, "fetch for a writer outstanding")                                                             \
    X(L2_SS_MB, TRANSIENT_COHERENCE, "readers invalidated for a writer; EX_UNBLOCK outstanding")                            \
    X(L2_MT_MB, TRANSIENT_COHERENCE, "granted exclusively; EX_UNBLOCK outstanding")                                         \
    X(L2_MT_IIB, TRANSIENT_COHERENCE, "read forwarded; owner's data and UNBLOCK outstanding")                               \
    X(L2_MT_IB, TRANSIENT_COHERENCE, "read forwarded; owner's data outstanding")                                            \
    X(L2_MT_SB, TRANSIENT_COHERENCE, "read forwarded; UNBLOCK outstanding")                                                 \
    X(L2_MT_I, TRANSIENT_COHERENCE, "evicted without a way; recall of its owner outstanding, dirty copy written to memory") \
    X(L2_MCT_I, TRANSIENT_COHERENCE, "evicted without a way; recall of its owner outstanding, copy was clean")              \
    X(L2_I_I, TRANSIENT_COHERENCE, "evicted without a way; recall of its readers outstanding, line was clean")              \
    X(L2_S_I, TRANSIENT_COHERENCE, "evicted without a way; recall of its readers outstanding, line written to memory")

#define L2_EVENTS(X)                                                      \
    X(L2_GETS, "read request")                                            \
    X(L2_GETX, "write request from an L1 that is not listed")             \
    X(L2_UPG, "upgrade request from a listed reader")                     \
    X(L2_PUTX_DIRTY, "owner's eviction of a dirty line")                  \
    X(L2_PUTX_CLEAN, "owner's eviction of a clean line")                  \
    X(L2_PUTX_OLD, "former owner's eviction")                             \
    X(L2_EVICT_CLEAN, "way chosen for replacement; memory is up to date") \
    X(L2_EVICT_DIRTY, "way chosen for replacement; memory is stale")      \
    X(L2_FILL, "fill from memory")                                        \
    X(L2_WB_DIRTY, "owner's line, dirty")                                 \
    X(L2_WB_CLEAN, "owner's line, clean")                                 \
    X(L2_RECALL_ACK, "recall acknowledged; others outstanding")           \
    X(L2_LAST_RECALL_ACK, "last recall acknowledged")                     \
    X(L2_UNBLOCK, "reader has received the owner's line")                 \
    X(L2_EX_UNBLOCK, "new owner has received the line")

GPC_FSM(L2, L2_STATES, L2_EVENTS)

GPC_KEEPS_DIRTY(mesi_l2);

/* ---- sharers ----------------------------------------------------------------------------------------------------- */

static bool
is_listed(const gpc_step_t *x, gpc_node_t node)
{
    return x->way != GPC_NONE && gpc_nodeset_has(gpc_sharers(x), node);
}

static gpc_node_t
owner_of(const gpc_step_t *x)
{
    gpc_node_t node = 0;
    while (!is_listed(x, node)) {
        node++;
    }
    return node;
}

const gpc_nodeset_t *
mesi_l2_list(const gpc_controller_t *bank, gpc_address_t line, bool *owned)
{
    gpc_index_t way = gpc_tags_find(&bank->arrays[0], line);
    if (way == GPC_NONE || bank->arrays[0].tags[way].mshr != GPC_NONE) {
        return NULL;
    }
    *owned = bank->arrays[0].tags[way].state == L2_MT;
    return &mesi_l2_line_at(bank, 0, way)->sharers;
}

/* ---- classification ---------------------------------------------------------------------------------------------- */

static bool
carries_dirty(const gpc_step_t *x)
{
    return mesi_message(x->msg)->dirty != 0;
}

static gpc_event_id_t
classify_request(const gpc_step_t *x)
{
    bool listed = is_listed(x, x->msg->source);

    if (x->cause == MESI_PUTX || x->cause == MESI_PUTE) {
        bool owner = x->state == L2_MT && listed;
        return !owner ? L2_PUTX_OLD : carries_dirty(x) ? L2_PUTX_DIRTY : L2_PUTX_CLEAN;
    }
    if (x->state == L2_MT && listed) {
        return GPC_NO_EVENT; /* an owner has every permission, and its evictions are never silent */
    }
    if (x->cause == MESI_GETS) {
        return L2_GETS;
    }
    return x->cause == MESI_UPG && x->state == L2_SS && listed ? L2_UPG : L2_GETX;
}

static gpc_event_id_t
l2_classify(const gpc_step_t *x)
{
    switch (x->cause) {
        case MESI_GETS:
        case MESI_GETX:
        case MESI_UPG:
        case MESI_PUTX:
        case MESI_PUTE:
            return classify_request(x);
        case GPC_MSG_EVICT:
            return gpc_is_dirty(x) ? L2_EVICT_DIRTY : L2_EVICT_CLEAN;
        case MESI_WB_DATA:
        case MESI_RECALL_DATA:
            return carries_dirty(x) ? L2_WB_DIRTY : L2_WB_CLEAN;
        case MESI_RECALL_ACK: {
            bool more = x->mshr != GPC_NONE && gpc_sharers_mshr(x)->acknowledgements > 1;
            return more ? L2_RECALL_ACK : L2_LAST_RECALL_ACK;
        }
        default:
            return GPC_NO_EVENT;
    }
}

/* ---- actions: messages ------------------------------------------------------------------------------------------- */

static const mesi_message_t nothing;

GPC_ACTION(act_data, "send DATA to the reader")
{
    gpc_count(x, load_hits);
    return mesi_send(x, MESI_DATA, x->msg->source, gpc_line_words(x), nothing);
}

GPC_ACTION(act_data_e, "send DATA_E to the reader")
{
    gpc_count(x, load_hits);
    return mesi_send(x, MESI_DATA_E, x->msg->source, gpc_line_words(x), nothing);
}

GPC_ACTION(act_data_x, "send DATA_X to the writer, with the number of acknowledgements")
{
    gpc_nodeset_t set = gpc_other_sharers(x);
    return mesi_send(x, MESI_DATA_X, x->msg->source, gpc_line_words(x),
                     (mesi_message_t){.need = gpc_nodeset_count(&set)});
}

GPC_ACTION(act_upg_ack, "send UPG_ACK to the writer, with the number of acknowledgements")
{
    gpc_nodeset_t set = gpc_other_sharers(x);
    return mesi_send(x, MESI_UPG_ACK, x->msg->source, NULL, (mesi_message_t){.need = gpc_nodeset_count(&set)});
}

GPC_ACTION(act_wb_ack, "send WB_ACK to the evicting L1")
{
    return mesi_send(x, MESI_WB_ACK, x->msg->source, NULL, nothing);
}

GPC_ACTION(act_forward_gets, "send FWD_GETS to the owner")
{
    return mesi_send(x, MESI_FWD_GETS, owner_of(x), NULL, nothing);
}

GPC_ACTION(act_forward_getx, "send FWD_GETX to the owner")
{
    return mesi_send(x, MESI_FWD_GETX, owner_of(x), NULL, nothing);
}

GPC_ACTION(act_invalidate_others, "send INV to all other sharers, which acknowledge to the writer")
{
    gpc_nodeset_t set = gpc_other_sharers(x);
    return gpc_call_in(x, MESI_INV, &set);
}

GPC_ACTION(act_recall, "send RECALL to all sharers; expect their acknowledgements")
{
    return gpc_call_in_and_wait(x, MESI_RECALL, gpc_sharers(x));
}

/* ---- actions: the fill and its pending requests ------------------------------------------------------------------ */

GPC_ACTION(act_fetch, "fetch the line from memory; the request becomes pending")
{
    x->unit->statistics->load_misses += x->cause == MESI_GETS;
    GPC_TRY(gpc_fetch(x));
    return gpc_keep_pending(x);
}

/* Sends the line as `type` to every pending requester; readers of a shared line are listed. */
static int
answer_all(gpc_step_t *x, uint8_t type)
{
    gpc_index_t i;
    while ((i = gpc_pop_pending(x)) != GPC_NONE) {
        gpc_node_t to = gpc_msg_at(x->unit->messages, i)->source;
        gpc_free_message(x->unit, i);
        if (type == MESI_DATA) {
            gpc_nodeset_add(gpc_sharers(x), to);
        }
        GPC_TRY(mesi_send(x, type, to, gpc_line_words(x), nothing));
    }
    return GPC_OK;
}

GPC_ACTION(act_answer_readers, "send DATA to all pending readers and list them")
{
    return answer_all(x, MESI_DATA);
}

GPC_ACTION(act_answer_reader_alone, "send DATA_E to the pending reader")
{
    return answer_all(x, MESI_DATA_E);
}

GPC_ACTION(act_answer_writer, "send DATA_X to the pending writer")
{
    return answer_all(x, MESI_DATA_X);
}

/* ---- actions: the line and its sharer list ----------------------------------------------------------------------- */

GPC_ACTION(act_pass_on, "write the owner's line to memory")
{
    return gpc_write_memory(x, gpc_all_words(x->unit), x->msg->data);
}

/* ---- the table. Only requests are held; they wait for answers on networks that are never blocked. ---------------- */

/* A blocked line holds all requests, and a PUTX where it can have overtaken its sender's own EX_UNBLOCK. */
#define HOLD_REQUESTS [L2_GETS] = HOLD_LINE, [L2_GETX] = HOLD_LINE
#define NOT_VICTIMS [L2_EVICT_CLEAN] = NOT_A_VICTIM, [L2_EVICT_DIRTY] = NOT_A_VICTIM

/* clang-format off */
static const gpc_cell_t l2_table[L2_NUM_STATES][L2_NUM_EVENTS] = {
    [L2_NP] = {
        [L2_GETS] = GO(L2_ISS, act_reserve_way, act_fetch),
        [L2_GETX] = GO(L2_IM, act_reserve_way, act_fetch),
        [L2_PUTX_OLD] = GO(L2_NP, act_wb_ack),
    },
    [L2_SS] = {
        [L2_GETS] = GO(L2_SS, act_add_sharer, act_data),
        [L2_GETX] = GO(L2_SS_MB, act_data_x, act_invalidate_others),
        [L2_UPG] = GO(L2_SS_MB, act_upg_ack, act_invalidate_others),
        [L2_PUTX_OLD] = GO(L2_SS, act_wb_ack),
        [L2_EVICT_CLEAN] = GO(L2_I_I, act_recall, act_release_way),
        [L2_EVICT_DIRTY] = GO(L2_S_I, act_recall, act_write_back, act_release_way),
    },
    [L2_M] = {
        [L2_GETS] = GO(L2_MT_MB, act_data_e),
        [L2_GETX] = GO(L2_MT_MB, act_data_x),
        [L2_PUTX_OLD] = GO(L2_M, act_wb_ack),
        [L2_EVICT_CLEAN] = GO(L2_NP),
        [L2_EVICT_DIRTY] = GO(L2_NP, act_write_back),
    },
    [L2_MT] = {
        [L2_GETS] = GO(L2_MT_IIB, act_forward_gets),
        [L2_GETX] = GO(L2_MT_MB, act_forward_getx),
        [L2_PUTX_DIRTY] = GO(L2_M, act_take_back, act_clear_sharers, act_wb_ack),
        [L2_PUTX_CLEAN] = GO(L2_M, act_clear_sharers, act_wb_ack),
        [L2_PUTX_OLD] = GO(L2_MT, act_wb_ack),
        [L2_EVICT_CLEAN] = GO(L2_MCT_I, act_recall, act_release_way),
        [L2_EVICT_DIRTY] = GO(L2_MT_I, act_recall, act_write_back, act_release_way),
    },
    [L2_ISS] = {
        [L2_GETS] = GO(L2_IS, act_merge),
        [L2_GETX] = HOLD_LINE,
        [L2_PUTX_OLD] = GO(L2_ISS, act_wb_ack),
        NOT_VICTIMS,
        [L2_FILL] = GO(L2_MT_MB, act_fill, act_answer_reader_alone),
    },
    [L2_IS] = {
        [L2_GETS] = GO(L2_IS, act_merge),
        [L2_GETX] = HOLD_LINE,
        [L2_PUTX_OLD] = GO(L2_IS, act_wb_ack),
        NOT_VICTIMS,
        [L2_FILL] = GO(L2_SS, act_fill, act_answer_readers),
    },
    [L2_IM] = {
        HOLD_REQUESTS,
        [L2_PUTX_OLD] = GO(L2_IM, act_wb_ack),
        NOT_VICTIMS,
        [L2_FILL] = GO(L2_MT_MB, act_fill, act_answer_writer),
    },
    [L2_SS_MB] = {
        HOLD_REQUESTS,
        [L2_PUTX_OLD] = HOLD_LINE,
        NOT_VICTIMS,
        [L2_EX_UNBLOCK] = GO(L2_MT, act_set_owner),
    },
    [L2_MT_MB] = {
        HOLD_REQUESTS,
        [L2_PUTX_OLD] = HOLD_LINE,
        NOT_VICTIMS,
        [L2_EX_UNBLOCK] = GO(L2_MT, act_set_owner),
    },
    [L2_MT_IIB] = {
        HOLD_REQUESTS,
        [L2_PUTX_OLD] = HOLD_LINE,
        NOT_VICTIMS,
        [L2_WB_DIRTY] = GO(L2_MT_SB, act_take_back),
        [L2_WB_CLEAN] = GO(L2_MT_SB),
        [L2_UNBLOCK] = GO(L2_MT_IB, act_add_sharer),
    },
    [L2_MT_IB] = {
        HOLD_REQUESTS,
        [L2_PUTX_OLD] = GO(L2_MT_IB, act_wb_ack), /* its line also arrives as WB_DATA */
        NOT_VICTIMS,
        [L2_WB_DIRTY] = GO(L2_SS, act_take_back),
        [L2_WB_CLEAN] = GO(L2_SS),
    },
    [L2_MT_SB] = {
        HOLD_REQUESTS,
        [L2_PUTX_OLD] = GO(L2_MT_SB, act_wb_ack),
        NOT_VICTIMS,
        [L2_UNBLOCK] = GO(L2_SS, act_add_sharer),
    },
    [L2_MT_I] = { /* these four states have no way: never victims */
        HOLD_REQUESTS,
        [L2_PUTX_OLD] = HOLD_LINE,
        [L2_WB_DIRTY] = GO(L2_NP, act_pass_on),
        [L2_WB_CLEAN] = GO(L2_NP),
        [L2_LAST_RECALL_ACK] = GO(L2_NP),
    },
    [L2_MCT_I] = {
        HOLD_REQUESTS,
        [L2_PUTX_OLD] = HOLD_LINE,
        [L2_WB_DIRTY] = GO(L2_NP, act_pass_on),
        [L2_WB_CLEAN] = GO(L2_NP),
        [L2_LAST_RECALL_ACK] = GO(L2_NP),
    },
    [L2_I_I] = {
        HOLD_REQUESTS,
        [L2_PUTX_OLD] = GO(L2_I_I, act_wb_ack),
        [L2_RECALL_ACK] = GO(L2_I_I, act_count),
        [L2_LAST_RECALL_ACK] = GO(L2_NP),
    },
    [L2_S_I] = {
        HOLD_REQUESTS,
        [L2_PUTX_OLD] = GO(L2_S_I, act_wb_ack),
        [L2_RECALL_ACK] = GO(L2_S_I, act_count),
        [L2_LAST_RECALL_ACK] = GO(L2_NP),
    },
};
/* clang-format on */

static const gpc_table_t l2 = {GPC_TABLE("L2", OVER_LINES, L2, l2_table, l2_classify),
                               .causes = {ON(GPC_MSG_FILL, L2_FILL), ON_SAME(MESI, L2, UNBLOCK, EX_UNBLOCK)}};

const gpc_controller_type_t mesi_l2 = {
    .name = "L2",
    .position = GPC_AT_BANK,
    .tables = {&l2},
    .arrays = {{.name = "tags", .line = mesi_l2_line_described, .has_data = true}},
    .sharers = GPC_SHARERS(0, mesi_l2, line, sharers),
    .returned = L2_M,
    .mshr = gpc_sharers_mshr_described,
};

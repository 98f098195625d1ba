/* mesi_l1.c: MESI's L1: write-back; buffers stores and atomics until the line is writable. mesi.c describes the
 * protocol. */
#include "protocols/invalidation/mesi.h"

/* ---- states and events ------------------------------------------------------------------------------------------- */

#define L1_STATES(X)                                                                                 \
    X(L1_I, STABLE, "not present")                                                                   \
    X(L1_S, STABLE, "present, readable; other copies may exist")                                     \
    X(L1_E, STABLE, "only copy, equal to the L2's")                                                  \
    X(L1_M, STABLE, "only copy, newer than the L2's")                                                \
    X(L1_IS, TRANSIENT_CACHE, "read miss outstanding; later loads merge")                            \
    X(L1_IM, TRANSIENT_CACHE, "write miss outstanding")                                              \
    X(L1_SM, TRANSIENT_COHERENCE, "upgrade outstanding")                                             \
    X(L1_IS_I, TRANSIENT_COHERENCE, "read miss invalidated; its data serves the pending loads only") \
    X(L1_M_I, TRANSIENT_COHERENCE, "write-back outstanding; owner until the L2 acknowledges")        \
    X(L1_SINK, TRANSIENT_COHERENCE, "write-back outstanding; ownership lost")

#define L1_EVENTS(X)                                                                  \
    X(L1_LOAD, "coalesced load of a warp")                                            \
    X(L1_STORE, "coalesced store or atomic of a warp")                                \
    X(L1_EVICT, "way chosen for replacement")                                         \
    X(L1_INV, "invalidation by another L1's write")                                   \
    X(L1_RECALL, "recall by the L2")                                                  \
    X(L1_FWD_GETS, "read forwarded to this owner")                                    \
    X(L1_FWD_GETX, "write forwarded to this owner")                                   \
    X(L1_DATA, "line to read, from the L2")                                           \
    X(L1_DATA_E, "line to read, exclusive")                                           \
    X(L1_DATA_L1, "line to read, from its owner")                                     \
    X(L1_DATA_X, "line or permission to write; acknowledgements outstanding")         \
    X(L1_LAST_DATA_X, "line or permission to write; no acknowledgements outstanding") \
    X(L1_INV_ACK, "invalidation acknowledged; data or others outstanding")            \
    X(L1_LAST_INV_ACK, "last invalidation acknowledged")                              \
    X(L1_WB_ACK, "write-back acknowledged")

GPC_FSM(L1, L1_STATES, L1_EVENTS)

#define L1_LINE(FIELD) /* no metadata beside the tags */
GPC_METADATA(mesi_l1, line, L1_LINE)

typedef struct {
    uint32_t word[GPC_MAX_LINE_WORDS];
} words_t;

#define L1_MSHR(FIELD)                                                            \
    FIELD(PLAIN, uint16_t, acknowledgements) /* received */                       \
    FIELD(PLAIN, uint16_t, needed)           /* expected, */                      \
    FIELD(PLAIN, uint8_t, knows)             /* if this is nonzero */             \
    FIELD(PLAIN, uint8_t, dirty)             /* the line written back is dirty */ \
    FIELD(DATA, words_t, words)              /* of the line written back, which has no way */
GPC_METADATA(mesi_l1, mshr, L1_MSHR)

/* ---- classification ---------------------------------------------------------------------------------------------- */

static gpc_event_id_t
classify_permission(const gpc_step_t *x)
{
    return x->mshr != GPC_NONE && mesi_message(x->msg)->need > mesi_l1_mshr(x)->acknowledgements ? L1_DATA_X
                                                                                                 : L1_LAST_DATA_X;
}

static gpc_event_id_t
classify_acknowledgement(const gpc_step_t *x)
{
    bool last = x->mshr != GPC_NONE && mesi_l1_mshr(x)->knows &&
                mesi_l1_mshr(x)->acknowledgements + 1 == mesi_l1_mshr(x)->needed;
    return last ? L1_LAST_INV_ACK : L1_INV_ACK;
}

static gpc_event_id_t
l1_classify(const gpc_step_t *x)
{
    switch (x->cause) {
        case MESI_DATA_X:
        case MESI_UPG_ACK:
            return classify_permission(x);
        case MESI_INV_ACK:
            return classify_acknowledgement(x);
        default:
            return GPC_NO_EVENT;
    }
}

/* ---- actions: messages ------------------------------------------------------------------------------------------- */

static const mesi_message_t nothing;

static int
send_home(gpc_step_t *x, uint8_t type)
{
    return mesi_send(x, type, gpc_home_of(x->unit, x->line), NULL, nothing);
}

GPC_ACTION(act_gets, "send GETS; the load becomes pending")
{
    gpc_count(x, load_misses);
    GPC_TRY(send_home(x, MESI_GETS));
    return gpc_keep_pending(x);
}

GPC_ACTION(act_getx, "send GETX; the store becomes pending")
{
    GPC_TRY(send_home(x, MESI_GETX));
    return gpc_keep_pending(x);
}

GPC_ACTION(act_upg, "send UPG; the store becomes pending")
{
    GPC_TRY(send_home(x, MESI_UPG));
    return gpc_keep_pending(x);
}

GPC_ACTION(act_unblock, "send UNBLOCK to the L2")
{
    return send_home(x, MESI_UNBLOCK);
}

GPC_ACTION(act_ex_unblock, "send EX_UNBLOCK to the L2")
{
    return send_home(x, MESI_EX_UNBLOCK);
}

GPC_ACTION(act_inv_ack, "send INV_ACK to the writer")
{
    return mesi_send(x, MESI_INV_ACK, x->msg->requester, NULL, nothing);
}

GPC_ACTION(act_recall_ack, "send RECALL_ACK to the L2")
{
    return send_home(x, MESI_RECALL_ACK);
}

/* The line that this L1 owns: in its way, or being written back. */
static const uint32_t *
owned_words(const gpc_step_t *x)
{
    return x->way != GPC_NONE ? gpc_line_words(x) : mesi_l1_mshr(x)->words.word;
}

static mesi_message_t
owned_fields(const gpc_step_t *x)
{
    return (mesi_message_t){.dirty = x->way != GPC_NONE ? x->state == L1_M : mesi_l1_mshr(x)->dirty};
}

GPC_ACTION(act_data_to_reader, "send the line to the reader")
{
    return mesi_send(x, MESI_DATA_L1, x->msg->requester, owned_words(x), nothing);
}

GPC_ACTION(act_data_to_writer, "send the line to the writer")
{
    gpc_count(x, invalidations);
    return mesi_send(x, MESI_DATA_X, x->msg->requester, owned_words(x), nothing);
}

GPC_ACTION(act_data_to_l2, "send the line to the L2")
{
    return mesi_send(x, MESI_WB_DATA, gpc_home_of(x->unit, x->line), owned_words(x), owned_fields(x));
}

GPC_ACTION(act_recall_data, "send the recalled line to the L2")
{
    return mesi_send(x, MESI_RECALL_DATA, gpc_home_of(x->unit, x->line), owned_words(x), owned_fields(x));
}

GPC_ACTION(act_put, "move the line to its MSHR entry, send a copy to the L2")
{
    mesi_l1_mshr_t *mshr = mesi_l1_mshr(x);
    mshr->dirty = x->state == L1_M;
    gpc_merge_words(mshr->words.word, gpc_line_words(x), gpc_all_words(x->unit));
    x->unit->statistics->writebacks += mshr->dirty;
    if (!mshr->dirty && x->unit->options[MESI_OPTION_CLEAN_PUT] == MESI_CLEAN_PUT_HEADER) {
        return send_home(x, MESI_PUTE);
    }
    return mesi_send(x, MESI_PUTX, gpc_home_of(x->unit, x->line), gpc_line_words(x), owned_fields(x));
}

/* ---- actions: the line and its pending requests ------------------------------------------------------------------ */

GPC_ACTION(act_perform, "perform the store or atomic")
{
    return gpc_perform_and_complete(x, x->message, true);
}

GPC_ACTION(act_perform_all, "perform the pending stores and atomics, in order of arrival")
{
    gpc_index_t i;
    while ((i = gpc_pop_pending(x)) != GPC_NONE) {
        GPC_TRY(gpc_perform_and_complete(x, i, false));
    }
    return GPC_OK;
}

GPC_ACTION(mesi_act_merge_load, "merge the load into the outstanding read")
{
    return gpc_act(act_merge, x);
}

GPC_ACTION(mesi_act_fill, "fill from the answer; after UPG_ACK the own copy is current")
{
    if (x->cause != MESI_UPG_ACK) {
        gpc_merge_words(gpc_line_words(x), x->msg->data, gpc_all_words(x->unit));
    }
    return GPC_OK;
}

GPC_ACTION(act_serve_loads, "complete the pending loads from the answer")
{
    return gpc_complete_pending(x, x->msg->data);
}

GPC_ACTION(act_learn_need, "record the number of acknowledgements to collect")
{
    mesi_l1_mshr(x)->needed = (uint16_t) mesi_message(x->msg)->need;
    mesi_l1_mshr(x)->knows = 1;
    return GPC_OK;
}

GPC_ACTION(mesi_act_count, "count an acknowledgement")
{
    mesi_l1_mshr(x)->acknowledgements++;
    return GPC_OK;
}

/* ---- the table. A held request waits for this L1's transaction, whose answers arrive on networks that are never
 * blocked; forwards and invalidations are never held.
 * --------------------------------------------------------------------------------------------- */

/* clang-format off */
static const gpc_cell_t l1_table[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_I] = {
        [L1_LOAD] = GO(L1_IS, act_reserve_way, act_gets),
        [L1_STORE] = GO(L1_IM, act_reserve_way, act_getx),
        [L1_INV] = GO(L1_I, act_inv_ack), /* silently evicted: the L2's sharer list is a superset */
        [L1_RECALL] = GO(L1_I, act_recall_ack),
    },
    [L1_S] = {
        [L1_LOAD] = GO(L1_S, act_hit),
        [L1_STORE] = GO(L1_SM, act_upg),
        [L1_EVICT] = GO(L1_I),
        [L1_INV] = GO(L1_I, act_count_invalidation, act_inv_ack),
        [L1_RECALL] = GO(L1_I, act_count_invalidation, act_recall_ack),
    },
    [L1_E] = {
        [L1_LOAD] = GO(L1_E, act_hit),
        [L1_STORE] = GO(L1_M, act_perform),
        [L1_EVICT] = GO(L1_M_I, act_put, act_release_way),
        [L1_RECALL] = GO(L1_I, act_count_invalidation, act_recall_ack),
        [L1_FWD_GETS] = GO(L1_S, act_data_to_reader, act_data_to_l2),
        [L1_FWD_GETX] = GO(L1_I, act_data_to_writer),
    },
    [L1_M] = {
        [L1_LOAD] = GO(L1_M, act_hit),
        [L1_STORE] = GO(L1_M, act_perform),
        [L1_EVICT] = GO(L1_M_I, act_put, act_release_way),
        [L1_RECALL] = GO(L1_I, act_count_invalidation, act_recall_data),
        [L1_FWD_GETS] = GO(L1_S, act_data_to_reader, act_data_to_l2),
        [L1_FWD_GETX] = GO(L1_I, act_data_to_writer),
    },
    [L1_IS] = {
        [L1_LOAD] = GO(L1_IS, mesi_act_merge_load),
        [L1_STORE] = HOLD_LINE,
        [L1_EVICT] = NOT_A_VICTIM, /* the way is reserved for the fill */
        [L1_INV] = GO(L1_IS_I, act_inv_ack),
        [L1_RECALL] = GO(L1_IS_I, act_recall_ack),
        [L1_DATA] = GO(L1_S, mesi_act_fill, act_serve_loads),
        [L1_DATA_E] = GO(L1_E, mesi_act_fill, act_serve_loads, act_ex_unblock),
        [L1_DATA_L1] = GO(L1_S, mesi_act_fill, act_serve_loads, act_unblock),
    },
    [L1_IS_I] = { /* its loads precede the write and may use the data; later loads may not */
        [L1_LOAD] = HOLD_LINE,
        [L1_STORE] = HOLD_LINE,
        [L1_EVICT] = NOT_A_VICTIM,
        [L1_INV] = GO(L1_IS_I, act_inv_ack),
        [L1_RECALL] = GO(L1_IS_I, act_recall_ack),
        [L1_DATA] = GO(L1_I, act_serve_loads),
        [L1_DATA_E] = GO(L1_E, mesi_act_fill, act_serve_loads, act_ex_unblock), /* that write precedes this grant */
        [L1_DATA_L1] = GO(L1_I, act_serve_loads, act_unblock),
    },
    [L1_IM] = {
        [L1_LOAD] = HOLD_LINE,
        [L1_STORE] = GO(L1_IM, act_wait),
        [L1_EVICT] = NOT_A_VICTIM,
        [L1_INV] = GO(L1_IM, act_inv_ack),
        [L1_RECALL] = GO(L1_IM, act_recall_ack),
        [L1_DATA_X] = GO(L1_SM, mesi_act_fill, act_learn_need),
        [L1_LAST_DATA_X] = GO(L1_M, mesi_act_fill, act_perform_all, act_ex_unblock),
        [L1_INV_ACK] = GO(L1_IM, mesi_act_count),
    },
    [L1_SM] = {
        [L1_LOAD] = HOLD_LINE,
        [L1_STORE] = GO(L1_SM, act_wait),
        [L1_EVICT] = NOT_A_VICTIM,
        [L1_INV] = GO(L1_IM, act_count_invalidation, act_inv_ack), /* by an earlier write: the L2 will send the line */
        [L1_RECALL] = GO(L1_IM, act_count_invalidation, act_recall_ack),
        [L1_DATA_X] = GO(L1_SM, act_learn_need),
        [L1_LAST_DATA_X] = GO(L1_M, act_perform_all, act_ex_unblock),
        [L1_INV_ACK] = GO(L1_SM, mesi_act_count),
        [L1_LAST_INV_ACK] = GO(L1_M, act_perform_all, act_ex_unblock),
    },
    [L1_M_I] = { /* no way: never a victim */
        [L1_LOAD] = HOLD_LINE,
        [L1_STORE] = HOLD_LINE,
        [L1_RECALL] = GO(L1_SINK, act_recall_data),
        [L1_FWD_GETS] = GO(L1_SINK, act_data_to_reader, act_data_to_l2),
        [L1_FWD_GETX] = GO(L1_SINK, act_data_to_writer),
        [L1_WB_ACK] = GO(L1_I),
    },
    [L1_SINK] = {
        [L1_LOAD] = HOLD_LINE,
        [L1_STORE] = HOLD_LINE,
        [L1_INV] = GO(L1_SINK, act_inv_ack),
        [L1_RECALL] = GO(L1_SINK, act_recall_ack),
        [L1_WB_ACK] = GO(L1_I),
    },
};
/* clang-format on */

static const gpc_table_t l1 = {GPC_TABLE("L1", OVER_LINES, L1, l1_table, l1_classify),
                               .causes = {ON(GPC_MSG_LOAD, L1_LOAD), ON(GPC_MSG_STORE, L1_STORE),
                                          ON(GPC_MSG_ATOMIC, L1_STORE), ON(GPC_MSG_EVICT, L1_EVICT),
                                          ON_SAME(MESI, L1, INV, RECALL, FWD_GETS, FWD_GETX, WB_ACK),
                                          ON_SAME(MESI, L1, DATA, DATA_E, DATA_L1)}};

const gpc_controller_type_t mesi_l1 = {
    .name = "L1",
    .position = GPC_AT_CORE,
    .tables = {&l1},
    .arrays = {{.name = "tags", .line = mesi_l1_line_described, .has_data = true}},
    .mshr = mesi_l1_mshr_described,
    .owned = 1u << L1_M, /* E has the L2's words */
};

/* ---- for the host ------------------------------------------------------------------------------------------------ */

const uint32_t *
mesi_l1_written_back(const gpc_controller_t *core, gpc_address_t line)
{
    gpc_index_t entry = gpc_mshr_find(&core->mshrs, line);
    bool leaving = entry != GPC_NONE && gpc_mshr_at(&core->mshrs, entry)->state == L1_M_I;
    return leaving ? mesi_l1_mshr_at(core, entry)->words.word : NULL;
}

/* ---- monitors ---------------------------------------------------------------------------------------------------- */

const gpc_watched_t mesi_watched = {.promise = GPC_PROMISE_FRESH,
                                    .readable = 1u << L1_S | 1u << L1_E | 1u << L1_M,
                                    .copies = 1u << L1_S | 1u << L1_E | 1u << L1_M | 1u << L1_SM,
                                    .owners = 1u << L1_E | 1u << L1_M};

int
mesi_monitor(const gpc_units_t *units, gpc_address_t line)
{
    gpc_controller_t *bank = units->bank;
    bool owned, at_work = gpc_mshr_find(&bank->mshrs, line) != GPC_NONE;
    const gpc_nodeset_t *list = mesi_l2_list(bank, line, &owned);

    for (uint32_t i = 0; i < units->num_cores && !at_work; i++) {
        gpc_controller_t *core = units->cores[i];
        gpc_index_t way;
        uint8_t state = gpc_state_at(core, line, 0, &way);
        bool listed = list && (list->bits[i / 64] >> (i % 64) & 1);
        if (gpc_is_among(mesi_watched.copies, state) && !listed) {
            return gpc_violated(core, line, "every copy is listed", "L1 %u has a copy, and bank %u does not list it", i,
                                bank->index);
        }
        if (listed && owned && !gpc_is_among(mesi_watched.owners | 1u << L1_M_I, state)) {
            return gpc_violated(core, line, "the listed owner owns the line", "bank %u lists L1 %u", bank->index, i);
        }
    }
    return GPC_OK;
}

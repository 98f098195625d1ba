/* mesi_l1.c: MESI's L1s: write-back, stores and atomics buffered until the line may be written. The protocol is told in mesi.c. */
#include "protocols/invalidation/mesi.h"

/* ---- states and events --------------------------------------------------------------------------------------------------- */

#define L1_STATES(X)                                                                          \
    X(L1_I, STABLE, "not present")                                                            \
    X(L1_S, STABLE, "present and readable; others may have it too")                           \
    X(L1_E, STABLE, "the only copy, as the L2 has it")                                        \
    X(L1_M, STABLE, "the only copy, newer than the L2's")                                     \
    X(L1_IS, TRANSIENT_CACHE, "read miss outstanding; later loads merge into it")             \
    X(L1_IM, TRANSIENT_CACHE, "waits for the line, to write it")                              \
    X(L1_SM, TRANSIENT_COHERENCE, "has the line, waits for permission to write it")           \
    X(L1_IS_I, TRANSIENT_COHERENCE, "invalidated with the read miss outstanding: its data serves these loads only") \
    X(L1_M_I, TRANSIENT_COHERENCE, "written back; still the owner until the L2 says otherwise") \
    X(L1_SINK, TRANSIENT_COHERENCE, "written back, and no owner any more: only the L2's word is awaited")

#define L1_EVENTS(X)                                                                          \
    X(L1_LOAD, "a warp's coalesced load")                                                     \
    X(L1_STORE, "a warp's coalesced store or atomic")                                         \
    X(L1_EVICT, "the replacement policy wants this way")                                      \
    X(L1_INV, "another L1 will write")                                                        \
    X(L1_RECALL, "the L2 gives the line up")                                                  \
    X(L1_FWD_GETS, "another L1 reads what this one owns")                                     \
    X(L1_FWD_GETX, "another L1 writes what this one owns")                                    \
    X(L1_DATA, "the line to read, from the L2")                                               \
    X(L1_DATA_E, "the line, and nobody else has it")                                          \
    X(L1_DATA_L1, "the line to read, from its owner")                                         \
    X(L1_DATA_X, "the line or the permission to write it; acknowledgements are still to come") \
    X(L1_LAST_DATA_X, "the line or the permission to write it, and nothing else is to come")  \
    X(L1_INV_ACK, "another L1 has dropped its copy; more is to come")                         \
    X(L1_LAST_INV_ACK, "the last of the others has dropped its copy")                         \
    X(L1_WB_ACK, "the L2 has dealt with the line written back")

GPC_FSM(L1, L1_STATES, L1_EVENTS)

#define L1_LINE(FIELD) /* nothing outlives a transaction here */
GPC_METADATA(mesi_l1, line, L1_LINE)

typedef struct {
    uint32_t word[GPC_MAX_LINE_WORDS];
} words_t;

#define L1_MSHR(FIELD)                                                                                        \
    FIELD(PLAIN, uint16_t, acknowledgements) /* that have come */                                             \
    FIELD(PLAIN, uint16_t, needed)           /* that must come, */                                            \
    FIELD(PLAIN, uint8_t, knows)             /* once this is known */                                         \
    FIELD(PLAIN, uint8_t, dirty)             /* of the line written back */                                   \
    FIELD(DATA, words_t, words)              /* the line written back, which has left its way */
GPC_METADATA(mesi_l1, mshr, L1_MSHR)

/* ---- classification --------------------------------------------------------------------------------------------------------- */

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
        case GPC_MSG_LOAD:
            return L1_LOAD;
        case GPC_MSG_STORE:
        case GPC_MSG_ATOMIC:
            return L1_STORE;
        case GPC_MSG_EVICT:
            return L1_EVICT;
        case MESI_INV:
            return L1_INV;
        case MESI_RECALL:
            return L1_RECALL;
        case MESI_FWD_GETS:
            return L1_FWD_GETS;
        case MESI_FWD_GETX:
            return L1_FWD_GETX;
        case MESI_DATA:
            return L1_DATA;
        case MESI_DATA_E:
            return L1_DATA_E;
        case MESI_DATA_L1:
            return L1_DATA_L1;
        case MESI_DATA_X:
        case MESI_UPG_ACK:
            return classify_permission(x);
        case MESI_INV_ACK:
            return classify_acknowledgement(x);
        case MESI_WB_ACK:
            return L1_WB_ACK;
        default:
            return GPC_NO_EVENT;
    }
}

/* ---- actions: messages -------------------------------------------------------------------------------------------------------- */

static const mesi_message_t nothing;

static int
send_home(gpc_step_t *x, uint8_t type)
{
    return mesi_send(x, type, gpc_home_of(x->unit, x->line), NULL, nothing);
}

/* For a load that misses, which is pending from now on. */
GPC_ACTION(act_gets, "GETS for the load, which is then pending")
{
    gpc_count(x, load_misses);
    int status = send_home(x, MESI_GETS);
    return status ? status : gpc_keep_pending(x);
}

GPC_ACTION(act_getx, "GETX for the store, which is then pending")
{
    int status = send_home(x, MESI_GETX);
    return status ? status : gpc_keep_pending(x);
}

GPC_ACTION(act_upg, "UPG for the store, which is then pending")
{
    int status = send_home(x, MESI_UPG);
    return status ? status : gpc_keep_pending(x);
}

GPC_ACTION(act_unblock, "UNBLOCK to the L2")
{
    return send_home(x, MESI_UNBLOCK);
}

GPC_ACTION(act_ex_unblock, "EX_UNBLOCK to the L2")
{
    return send_home(x, MESI_EX_UNBLOCK);
}

GPC_ACTION(act_inv_ack, "INV_ACK to the writer")
{
    return mesi_send(x, MESI_INV_ACK, x->msg->requester, NULL, nothing);
}

GPC_ACTION(act_recall_ack, "RECALL_ACK to the L2")
{
    return send_home(x, MESI_RECALL_ACK);
}

/* The line that this L1 owns: in its way, or on its way out. */
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

GPC_ACTION(act_data_to_reader, "the owned line to the reader")
{
    return mesi_send(x, MESI_DATA_L1, x->msg->requester, owned_words(x), nothing);
}

GPC_ACTION(act_data_to_writer, "the owned line to the writer")
{
    gpc_count(x, invalidations);
    return mesi_send(x, MESI_DATA_X, x->msg->requester, owned_words(x), nothing);
}

GPC_ACTION(act_data_to_l2, "the owned line to the L2")
{
    return mesi_send(x, MESI_WB_DATA, gpc_home_of(x->unit, x->line), owned_words(x), owned_fields(x));
}

GPC_ACTION(act_recall_data, "the owned line to the L2, which recalls it")
{
    return mesi_send(x, MESI_RECALL_DATA, gpc_home_of(x->unit, x->line), owned_words(x), owned_fields(x));
}

/* The line moves to the transaction's entry, and a copy of it to the L2. */
GPC_ACTION(act_put, "the line moves to the transaction's entry, and a copy of it to the L2")
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

/* ---- actions: the line and who waits for it -------------------------------------------------------------------------------------- */

/* The store or atomic `message`, carried out on the own line. */
static int
perform(gpc_step_t *x, gpc_index_t message, bool hit)
{
    const gpc_msg_t *msg = gpc_msg_at(x->unit->messages, message);
    if (msg->type == GPC_MSG_ATOMIC) {
        (void) gpc_rmw_perform(gpc_lane_list_at(x->unit->lane_lists, msg->lanes), gpc_line_words(x));
    } else {
        gpc_merge_words(gpc_line_words(x), msg->data, msg->mask);
    }
    int status = gpc_note_performed(x, message, 0);
    return status ? status : gpc_complete(x, message, gpc_line_words(x), hit);
}

GPC_ACTION(act_perform, "the store or atomic on the own line")
{
    return perform(x, x->message, true);
}

GPC_ACTION(act_perform_all, "the pending stores and atomics on the own line, in the order in which they came")
{
    gpc_index_t i;
    while ((i = gpc_pop_pending(x)) != GPC_NONE) {
        int status = perform(x, i, false);
        if (status) {
            return status;
        }
    }
    return GPC_OK;
}

GPC_ACTION(mesi_act_merge_load, "the load joins the open read")
{
    return gpc_act(act_merge, x);
}

GPC_ACTION(mesi_act_fill, "the answer's line, if it brings one: of an UPG_ACK the own copy is current")
{
    if (x->cause != MESI_UPG_ACK) {
        gpc_merge_words(gpc_line_words(x), x->msg->data, gpc_all_words(x->unit));
    }
    return GPC_OK;
}

GPC_ACTION(act_serve_loads, "the pending loads complete from the answer")
{
    gpc_index_t i;
    while ((i = gpc_pop_pending(x)) != GPC_NONE) {
        int status = gpc_complete(x, i, x->msg->data, false);
        if (status) {
            return status;
        }
    }
    return GPC_OK;
}

GPC_ACTION(act_learn_need, "how many acknowledgements must come")
{
    mesi_l1_mshr(x)->needed = (uint16_t) mesi_message(x->msg)->need;
    mesi_l1_mshr(x)->knows = 1;
    return GPC_OK;
}

GPC_ACTION(mesi_act_count, "one acknowledgement more has come")
{
    mesi_l1_mshr(x)->acknowledgements++;
    return GPC_OK;
}

/* ---- the table. What is held waits for this L1's own transaction, whose answers come on networks that nothing blocks; a forward
 * or invalidation is never held. ------------------------------------------------------------------------------------------------ */

/* clang-format off */
static const gpc_cell_t l1_table[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_I] = {
        [L1_LOAD] = GO(L1_IS, act_reserve_way, act_gets),
        [L1_STORE] = GO(L1_IM, act_reserve_way, act_getx),
        [L1_INV] = GO(L1_I, act_inv_ack), /* evicted silently: the list at the L2 is a superset */
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
        [L1_EVICT] = NOT_A_VICTIM, /* the way is promised to the fill */
        [L1_INV] = GO(L1_IS_I, act_inv_ack),
        [L1_RECALL] = GO(L1_IS_I, act_recall_ack),
        [L1_DATA] = GO(L1_S, mesi_act_fill, act_serve_loads),
        [L1_DATA_E] = GO(L1_E, mesi_act_fill, act_serve_loads, act_ex_unblock),
        [L1_DATA_L1] = GO(L1_S, mesi_act_fill, act_serve_loads, act_unblock),
    },
    [L1_IS_I] = { /* its loads are older than the write: they may have the data; later ones may not */
        [L1_LOAD] = HOLD_LINE,
        [L1_STORE] = HOLD_LINE,
        [L1_EVICT] = NOT_A_VICTIM,
        [L1_INV] = GO(L1_IS_I, act_inv_ack),
        [L1_RECALL] = GO(L1_IS_I, act_recall_ack),
        [L1_DATA] = GO(L1_I, act_serve_loads),
        [L1_DATA_E] = GO(L1_E, mesi_act_fill, act_serve_loads, act_ex_unblock), /* that write was before this grant */
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
        [L1_INV] = GO(L1_IM, act_count_invalidation, act_inv_ack), /* of a write before ours: the L2 will send the line */
        [L1_RECALL] = GO(L1_IM, act_count_invalidation, act_recall_ack),
        [L1_DATA_X] = GO(L1_SM, act_learn_need),
        [L1_LAST_DATA_X] = GO(L1_M, act_perform_all, act_ex_unblock),
        [L1_INV_ACK] = GO(L1_SM, mesi_act_count),
        [L1_LAST_INV_ACK] = GO(L1_M, act_perform_all, act_ex_unblock),
    },
    [L1_M_I] = { /* holds no way, so nothing evicts it */
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

static const gpc_table_t l1 = {GPC_TABLE("L1", OVER_LINES, L1, l1_table, l1_classify)};

const gpc_controller_type_t mesi_l1 = {
    .name = "L1",
    .position = GPC_AT_CORE,
    .tables = {&l1},
    .arrays = {{.name = "tags", .line = mesi_l1_line_described, .has_data = true}},
    .mshr = mesi_l1_mshr_described,
};

/* ---- for the host ------------------------------------------------------------------------------------------------------------------ */

const uint32_t *
mesi_l1_owned_words(const gpc_controller_t *core, gpc_address_t line)
{
    gpc_index_t way = gpc_tags_find(&core->arrays[0], line);
    if (way != GPC_NONE && core->arrays[0].tags[way].mshr == GPC_NONE) {
        uint8_t state = core->arrays[0].tags[way].state;
        return state == L1_E || state == L1_M ? gpc_tags_words(&core->arrays[0], way) : NULL;
    }
    gpc_index_t entry = gpc_mshr_find(&core->mshrs, line);
    if (entry == GPC_NONE || gpc_mshr_at(&core->mshrs, entry)->state != L1_M_I) {
        return NULL;
    }
    return mesi_l1_mshr_at(core, entry)->words.word;
}

bool
mesi_l1_is_newest(const gpc_controller_t *core, gpc_index_t way)
{
    return core->arrays[0].tags[way].state == L1_M;
}

/* ---- monitors ------------------------------------------------------------------------------------------------------------------- */

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
            return gpc_violated(core, line, "the listed owner owns", "bank %u lists L1 %u", bank->index, i);
        }
    }
    return GPC_OK;
}

/* rfo_l1.c: rfo's L1: MOESI, stores and atomics in M. rfo.c describes the protocol. */
#include "protocols/quickrelease/rfo.h"

#define L1_STATES(X)                                                                                                   \
    X(L1_I, STABLE, "not present")                                                                                     \
    X(L1_S, STABLE, "readable; other copies may exist")                                                                \
    X(L1_E, STABLE, "only copy, not written here")                                                                     \
    X(L1_O, STABLE, "owner; others may read the line")                                                                 \
    X(L1_M, STABLE, "only copy, written here")                                                                         \
    X(L1_IS, TRANSIENT_CACHE, "read miss outstanding; later loads merge")                                              \
    X(L1_IM, TRANSIENT_CACHE, "write miss outstanding")                                                                \
    X(L1_SM, TRANSIENT_COHERENCE, "upgrade of a sharer outstanding")                                                   \
    X(L1_OM, TRANSIENT_COHERENCE, "upgrade of the owner outstanding")                                                  \
    X(L1_MI, TRANSIENT_COHERENCE, "eviction outstanding, only copy")                                                   \
    X(L1_OI, TRANSIENT_COHERENCE, "eviction outstanding, owner")                                                       \
    X(L1_II, TRANSIENT_COHERENCE, "eviction outstanding, line lost")                                                   \
    X(L1_SI, TRANSIENT_COHERENCE, "eviction of a sharer's copy outstanding; l2=victim")
#define L1_EVENTS(X)                                                                                                   \
    X(L1_LOAD, "coalesced load of a warp")                                                                             \
    X(L1_STORE, "coalesced store or atomic of a warp")                                                                 \
    X(L1_EVICT, "way chosen for replacement")                                                                          \
    X(L1_DATA_S, "line to read")                                                                                       \
    X(L1_DATA_E, "line to read, exclusive")                                                                            \
    X(L1_DATA_M, "line to write; acknowledgements outstanding")                                                        \
    X(L1_COUNT, "permission to write; acknowledgements outstanding")                                                   \
    X(L1_INV_ACK, "invalidation acknowledged; data or others outstanding")                                             \
    X(L1_LAST_DATA_M, "line to write; no acknowledgements outstanding")                                                \
    X(L1_LAST, "permission or acknowledgement; nothing else outstanding")                                              \
    X(L1_INV, "invalidation by another L1's write")                                                                    \
    X(L1_FWD_GETS, "read forwarded to this owner")                                                                     \
    X(L1_FWD_GETX, "write forwarded to this owner")                                                                    \
    X(L1_RECALL, "recall by the directory")                                                                            \
    X(L1_PUT_ACK, "eviction acknowledged")
GPC_FSM(L1, L1_STATES, L1_EVENTS)

typedef struct {
    uint32_t word[GPC_MAX_LINE_WORDS];
} words_t;

GPC_METADATA(rfo_l1, line, GPC_WRITER_LINE)
GPC_KEEPS_DIRTY(rfo_l1);
#define L1_MSHR(FIELD)                                                                                                 \
    FIELD(PLAIN, uint16_t, acknowledgements) /* received */                                                            \
    FIELD(PLAIN, uint16_t, needed)           /* expected, */                                                           \
    FIELD(PLAIN, uint8_t, knows)             /* if this is nonzero */                                                  \
    FIELD(PLAIN, uint8_t, dirty)             /* the line that leaves is newer than memory */                           \
    FIELD(DATA, words_t, words)              /* of the line that leaves, which has no way */
GPC_METADATA(rfo_l1, mshr, L1_MSHR)
#define L1_COUNTERS(X, P) X(P, hits_written, "hits on lines written here since they came (figure 3)")
GPC_COUNTS(RFO_L1, L1_COUNTERS)

/* ---- classification ---------------------------------------------------------------------------------------------- */

static bool
has_all(const gpc_step_t *x)
{
    return x->mshr != GPC_NONE && rfo_l1_mshr(x)->acknowledgements >= rfo_message(x->msg)->need;
}

static gpc_event_id_t
classify_acknowledgement(const gpc_step_t *x)
{
    bool last =
        x->mshr != GPC_NONE && rfo_l1_mshr(x)->knows && rfo_l1_mshr(x)->acknowledgements + 1 == rfo_l1_mshr(x)->needed;
    return last ? L1_LAST : L1_INV_ACK;
}

static gpc_event_id_t
l1_classify(const gpc_step_t *x)
{
    switch (x->cause) {
        case RFO_DATA_M:
            return has_all(x) ? L1_LAST_DATA_M : L1_DATA_M;
        case RFO_ACK_COUNT:
            return has_all(x) ? L1_LAST : L1_COUNT;
        case RFO_INV_ACK:
            return classify_acknowledgement(x);
        default:
            return GPC_NO_EVENT;
    }
}

/* ---- actions: messages ------------------------------------------------------------------------------------------- */

static const rfo_message_t nothing;

static int
send_home(gpc_step_t *x, uint8_t type)
{
    return rfo_send(x, type, gpc_home_of(x->unit, x->line), NULL, nothing);
}

GPC_ACTION(act_gets, "send GETS; the load is pending")
{
    gpc_count(x, load_misses);
    GPC_TRY(send_home(x, RFO_GETS));
    return gpc_keep_pending(x);
}

GPC_ACTION(act_getx, "send GETX; the store is pending")
{
    GPC_TRY(send_home(x, RFO_GETX));
    return gpc_keep_pending(x);
}

GPC_ACTION(act_upg, "send UPG; the store is pending")
{
    GPC_TRY(send_home(x, RFO_UPG));
    return gpc_keep_pending(x);
}

GPC_ACTION(act_unblock, "send UNBLOCK to the directory")
{
    return send_home(x, RFO_UNBLOCK);
}

GPC_ACTION(act_inv_ack, "send INV_ACK to the requester")
{
    return rfo_send(x, RFO_INV_ACK, x->msg->requester, NULL, nothing);
}

GPC_ACTION(act_recall_ack, "send RECALL_ACK to the directory")
{
    return send_home(x, RFO_RECALL_ACK);
}

/* The line that this L1 owns: in its way, or leaving. */
static const uint32_t *
owned_words(const gpc_step_t *x)
{
    return x->way != GPC_NONE ? gpc_line_words(x) : rfo_l1_mshr(x)->words.word;
}

GPC_ACTION(act_data_to_reader, "send the line to the requester, a reader")
{
    return rfo_send(x, RFO_DATA_S, x->msg->requester, owned_words(x), nothing);
}

GPC_ACTION(act_data_to_writer, "pass the line to the requester, a writer")
{
    gpc_count(x, invalidations);
    return rfo_send(x, RFO_DATA_M, x->msg->requester, owned_words(x), *rfo_message(x->msg));
}

GPC_ACTION(act_recall_data, "send the recalled line to the directory")
{
    bool dirty = x->way != GPC_NONE ? rfo_l1_line(x)->dirty : rfo_l1_mshr(x)->dirty;
    gpc_count(x, invalidations);
    return rfo_send(x, RFO_RECALL_DATA, gpc_home_of(x->unit, x->line), owned_words(x), (rfo_message_t){.dirty = dirty});
}

/* Until the eviction is acknowledged, the MSHR entry has the line. */
static rfo_l1_mshr_t *
keep_leaving(const gpc_step_t *x)
{
    rfo_l1_mshr_t *mshr = rfo_l1_mshr(x);
    mshr->dirty = rfo_l1_line(x)->dirty;
    gpc_merge_words(mshr->words.word, gpc_line_words(x), gpc_all_words(x->unit));
    return mshr;
}

GPC_ACTION(act_put, "move the line to its MSHR entry, send a copy to the directory")
{
    const rfo_l1_mshr_t *mshr = keep_leaving(x);
    x->unit->statistics->writebacks += mshr->dirty;
    return rfo_send(x, RFO_PUT, gpc_home_of(x->unit, x->line), gpc_line_words(x),
                    (rfo_message_t){.dirty = mshr->dirty});
}

GPC_ACTION(act_put_s, "move the line to its MSHR entry, send PUT_S to the directory")
{
    (void) keep_leaving(x);
    return send_home(x, RFO_VICTIM_PUT_S);
}

/* ---- actions: the line and its pending requests ------------------------------------------------------------------ */

GPC_ACTION(act_perform, "perform the store or atomic")
{
    rfo_l1_line(x)->dirty = 1;
    return gpc_perform_and_complete(x, x->message, true);
}

GPC_ACTION(act_perform_pending, "perform the pending store or atomic")
{
    rfo_l1_line(x)->dirty = 1;
    return gpc_perform_and_complete(x, gpc_pop_pending(x), false);
}

GPC_ACTION(rfo_act_fill, "fill from the answer")
{
    gpc_merge_words(gpc_line_words(x), x->msg->data, gpc_all_words(x->unit));
    rfo_l1_line(x)->dirty = 0;
    return GPC_OK;
}

GPC_ACTION(act_hit_owned, "complete the load from the line, which may have been written here")
{
    x->unit->own_counters[RFO_L1_hits_written] += rfo_l1_line(x)->dirty;
    return gpc_act(act_hit, x);
}

GPC_ACTION(act_serve_loads, "complete the pending loads from the line")
{
    return gpc_complete_pending(x, gpc_line_words(x));
}

GPC_ACTION(act_learn_need, "record the number of acknowledgements to collect")
{
    rfo_l1_mshr(x)->needed = (uint16_t) rfo_message(x->msg)->need;
    rfo_l1_mshr(x)->knows = 1;
    return GPC_OK;
}

GPC_ACTION(rfo_act_count, "count an acknowledgement")
{
    rfo_l1_mshr(x)->acknowledgements++;
    return GPC_OK;
}

/* ---- the table, with the directory as the requester of forwards and invalidations; with l2=store an L1 is. A held
 * request waits for this L1's transaction, whose answers arrive on networks that are never blocked; forwards,
 * invalidations and recalls are never held.
 * ------------------------------------------------------------------------------------- */

#define STALL [L1_LOAD] = HOLD_LINE, [L1_STORE] = HOLD_LINE
#define OWNER(next_s, next_x) [L1_FWD_GETS] = GO(next_s, act_data_to_reader), [L1_FWD_GETX] = GO(next_x, act_data_to_writer)

/* clang-format off */
static const gpc_cell_t l1_table[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_I] = {
        [L1_LOAD] = GO(L1_IS, act_reserve_way, act_gets),
        [L1_STORE] = GO(L1_IM, act_reserve_way, act_getx),
    },
    [L1_S] = {
        [L1_LOAD] = GO(L1_S, act_hit),
        [L1_STORE] = GO(L1_SM, act_upg),
        [L1_EVICT] = GO(L1_SI, act_put_s, act_release_way), /* the L2 takes clean victims too */
        OWNER(L1_S, L1_I), /* sharers have what the L2 lacks */
        [L1_INV] = GO(L1_I, act_count_invalidation, act_inv_ack),
        [L1_RECALL] = GO(L1_I, act_count_invalidation, act_recall_ack),
    },
    [L1_E] = {
        [L1_LOAD] = GO(L1_E, act_hit),
        [L1_STORE] = GO(L1_M, act_perform),
        [L1_EVICT] = GO(L1_MI, act_put, act_release_way),
        OWNER(L1_O, L1_I),
        [L1_RECALL] = GO(L1_I, act_recall_data),
    },
    [L1_O] = {
        [L1_LOAD] = GO(L1_O, act_hit_owned),
        [L1_STORE] = GO(L1_OM, act_upg),
        [L1_EVICT] = GO(L1_OI, act_put, act_release_way),
        OWNER(L1_O, L1_I),
        [L1_RECALL] = GO(L1_I, act_recall_data),
    },
    [L1_M] = {
        [L1_LOAD] = GO(L1_M, act_hit_owned),
        [L1_STORE] = GO(L1_M, act_perform),
        [L1_EVICT] = GO(L1_MI, act_put, act_release_way),
        OWNER(L1_O, L1_I),
        [L1_RECALL] = GO(L1_I, act_recall_data),
    },
    [L1_IS] = {
        [L1_LOAD] = GO(L1_IS, act_merge),
        [L1_STORE] = HOLD_LINE,
        [L1_EVICT] = NOT_A_VICTIM, /* the way is reserved for the fill */
        [L1_DATA_S] = GO(L1_S, rfo_act_fill, act_serve_loads, act_unblock),
        [L1_DATA_E] = GO(L1_E, rfo_act_fill, act_serve_loads, act_unblock),
    },
    [L1_IM] = {
        STALL,
        [L1_EVICT] = NOT_A_VICTIM,
        [L1_LAST_DATA_M] = GO(L1_M, rfo_act_fill, act_perform_pending, act_unblock),
    },
    [L1_SM] = {
        [L1_LOAD] = GO(L1_SM, act_hit),
        [L1_STORE] = HOLD_LINE,
        [L1_EVICT] = NOT_A_VICTIM,
        [L1_LAST_DATA_M] = GO(L1_M, rfo_act_fill, act_perform_pending, act_unblock),
        OWNER(L1_SM, L1_IM),
        [L1_LAST] = GO(L1_M, act_perform_pending, act_unblock),
        /* an earlier write: the line will come with the permission */
        [L1_INV] = GO(L1_IM, act_count_invalidation, act_inv_ack),
        [L1_RECALL] = GO(L1_IM, act_count_invalidation, act_recall_ack),
    },
    [L1_OM] = {
        [L1_LOAD] = GO(L1_OM, act_hit_owned),
        [L1_STORE] = HOLD_LINE,
        [L1_EVICT] = NOT_A_VICTIM,
        [L1_LAST] = GO(L1_M, act_perform_pending, act_unblock),
        OWNER(L1_OM, L1_IM),
        [L1_RECALL] = GO(L1_IM, act_recall_data),
    },
    [L1_MI] = { /* these three have no way: never victims */
        STALL,
        OWNER(L1_OI, L1_II),
        [L1_RECALL] = GO(L1_II, act_recall_data),
        [L1_PUT_ACK] = GO(L1_I),
    },
    [L1_OI] = {
        STALL,
        OWNER(L1_OI, L1_II),
        [L1_RECALL] = GO(L1_II, act_recall_data),
        [L1_PUT_ACK] = GO(L1_I),
    },
    [L1_II] = { /* not listed: no recall comes */
        STALL,
        [L1_PUT_ACK] = GO(L1_I),
    },
    [L1_SI] = {
        STALL,
        OWNER(L1_SI, L1_II), /* a write forwarded, or the L2 wants the last sharer's victim */
        [L1_INV] = GO(L1_II, act_inv_ack),
        [L1_RECALL] = GO(L1_II, act_recall_ack),
        [L1_PUT_ACK] = GO(L1_I),
    },
};

static const gpc_patch_t store_patches[] = {
    {L1_S, L1_EVICT, GO(L1_I), "silent: no victim fills the L2, and the list of sharers is a superset"},
    {L1_SI, L1_LOAD, IMPOSSIBLE, NULL},
    {L1_SI, L1_STORE, IMPOSSIBLE, NULL},
    {L1_SI, L1_FWD_GETS, IMPOSSIBLE, NULL},
    {L1_SI, L1_FWD_GETX, IMPOSSIBLE, NULL},
    {L1_SI, L1_INV, IMPOSSIBLE, NULL},
    {L1_SI, L1_RECALL, IMPOSSIBLE, NULL},
    {L1_SI, L1_PUT_ACK, IMPOSSIBLE, NULL},
    {L1_S, L1_FWD_GETS, IMPOSSIBLE, "the L2 has what L1s share, or fetches it"},
    {L1_S, L1_FWD_GETX, IMPOSSIBLE, NULL},
    {L1_SM, L1_FWD_GETS, IMPOSSIBLE, NULL},
    {L1_SM, L1_FWD_GETX, IMPOSSIBLE, NULL},
    {L1_I, L1_INV, GO(L1_I, act_inv_ack), "silently evicted"},
    {L1_I, L1_RECALL, GO(L1_I, act_recall_ack), NULL},
    /* of a write before this read: the directory serves one request at a time */
    {L1_IS, L1_INV, GO(L1_IS, act_inv_ack), NULL},
    {L1_IS, L1_RECALL, GO(L1_IS, act_recall_ack), NULL},
    {L1_IM, L1_INV, GO(L1_IM, act_inv_ack), NULL},
    {L1_IM, L1_RECALL, GO(L1_IM, act_recall_ack), NULL},
    {L1_IM, L1_DATA_M, GO(L1_IM, rfo_act_fill, act_learn_need), "the writer collects acknowledgements"},
    {L1_IM, L1_INV_ACK, GO(L1_IM, rfo_act_count), NULL},
    {L1_IM, L1_LAST, GO(L1_M, act_perform_pending, act_unblock), NULL},
    /* from the owner: the line has one, and this is another sharer */
    {L1_SM, L1_DATA_M, GO(L1_SM, rfo_act_fill, act_learn_need), NULL},
    {L1_SM, L1_COUNT, GO(L1_SM, act_learn_need), NULL},
    {L1_SM, L1_INV_ACK, GO(L1_SM, rfo_act_count), NULL},
    {L1_OM, L1_COUNT, GO(L1_OM, act_learn_need), NULL},
    {L1_OM, L1_INV_ACK, GO(L1_OM, rfo_act_count), NULL},
    {L1_II, L1_RECALL, GO(L1_II, act_recall_ack), NULL},
};
/* clang-format on */

static const gpc_table_t l1 = {GPC_TABLE("L1", OVER_LINES, L1, l1_table, l1_classify),
                               .causes = {ON(GPC_MSG_LOAD, L1_LOAD), ON(GPC_MSG_STORE, L1_STORE),
                                          ON(GPC_MSG_ATOMIC, L1_STORE), ON(GPC_MSG_EVICT, L1_EVICT),
                                          ON_SAME(RFO, L1, DATA_S, DATA_E, INV, FWD_GETS, FWD_GETX, RECALL),
                                          ON_SAME(RFO, L1, PUT_ACK)}};
static const gpc_table_t store = {GPC_PATCHED_TABLE("L1", OVER_LINES, L1, "rfo", l1, store_patches, l1_classify)};

const gpc_controller_type_t rfo_l1 = {
    .name = "L1",
    .position = GPC_AT_CORE,
    .tables = {&l1},
    .variants = {{.table = 0, .option = RFO_OPTION_L2, .value = RFO_L2_STORE, .by = &store}},
    .arrays = {{.name = "tags", .line = rfo_l1_line_described, .has_data = true}},
    .mshr = rfo_l1_mshr_described,
    .counters = RFO_L1_info,
};

const gpc_watched_t rfo_watched = {
    .promise = GPC_PROMISE_FRESH,
    .readable = 1u << L1_S | 1u << L1_E | 1u << L1_O | 1u << L1_M | 1u << L1_SM | 1u << L1_OM,
    .copies = 1u << L1_S | 1u << L1_E | 1u << L1_O | 1u << L1_M | 1u << L1_SM | 1u << L1_OM,
    .owners = 1u << L1_E | 1u << L1_M};

uint32_t *
rfo_l1_owned(const gpc_controller_t *core, gpc_address_t line)
{
    gpc_index_t way, entry = gpc_mshr_find(&core->mshrs, line);
    uint8_t state = gpc_state_at(core, line, 0, &way);

    if (state == L1_E || state == L1_O || state == L1_M || state == L1_OM) {
        return gpc_tags_words(&core->arrays[0], way);
    }
    return state == L1_MI || state == L1_OI ? rfo_l1_mshr_at(core, entry)->words.word : NULL;
}

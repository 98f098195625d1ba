/* denovo_l2.c: the L2 bank of denovo-*, whose data array is the registry: a word's slot has its data or its owner.
 *
 * Paper    Sinclair et al., MICRO 2015, sections 3 and 4.2: the registry forwards reads and registrations of a
 *          registered word to its owner, in order of arrival, and does not wait for them.
 * Inferred write-backs and the eviction of lines with registered words (recall), of which the paper says nothing. The
 *          bank names the new owner when it forwards a registration; the old owner grants it. A read is answered with
 *          every word of the line that the bank has. A write-back that crosses a recall is answered after the recall,
 *          so that the owner does not register again under it. Lines without registered words are evicted first.
 */
#include "protocols/denovo/denovo.h"

/* ---- states, events, metadata ------------------------------------------------------------------------------------ */

#define L2_STATES(X)                                                                                                   \
    X(L2_NP, STABLE, "the line is not present")                                                                        \
    X(L2_V, STABLE, "the bank has the word")                                                                           \
    X(L2_R, STABLE, "registered at an L1")                                                                             \
    X(L2_MF, TRANSIENT_CACHE, "fetched from memory; requests wait")                                                    \
    X(L2_RC, TRANSIENT_COHERENCE, "recalled from its owner")                                                           \
    X(L2_RCD, TRANSIENT_COHERENCE, "the owner's write-back has crossed the recall; its answer waits")                  \
    X(L2_RCN, TRANSIENT_COHERENCE, "the owner has nothing: its write-back is in flight")

#define L2_EVENTS(X)                                                                                                   \
    X(L2_READ, "read")                                                                                                 \
    X(L2_REGISTER, "registration for data writes")                                                                     \
    X(L2_REGISTER_SYNC, "registration for synchronisation")                                                            \
    X(L2_WRITE_BACK, "write-back from the owner")                                                                      \
    X(L2_WRITE_BACK_STALE, "write-back from an L1 that is not the owner any more")                                     \
    X(L2_RECALLED, "the owner's words")                                                                                \
    X(L2_RECALLED_NONE, "the owner has written the words back")                                                        \
    X(L2_FILL, "line from memory")                                                                                     \
    X(L2_EVICT_CLEAN, "way chosen for replacement; no word is registered, memory is up to date")                       \
    X(L2_EVICT_DIRTY, "way chosen for replacement; no word is registered, memory is stale")                            \
    X(L2_EVICT_REGISTERED, "way chosen for replacement; some words are registered")

GPC_FSM(L2, L2_STATES, L2_EVENTS)
_Static_assert(DENOVO_BANK_WORDS == 1u << L2_V, "the monitors expect L2_V");

typedef struct {
    gpc_node_t node[GPC_MAX_LINE_WORDS];
} owners_t;

#define L2_LINE(FIELD)                                                                                                 \
    FIELD(PLAIN, gpc_mask_t, dirty) /* words that memory does not have */                                              \
    FIELD(NODES, owners_t, owner)   /* of registered words; in the paper, in the word's slot */
GPC_METADATA(l2, line, L2_LINE)

#define L2_MSHR(FIELD) FIELD(PLAIN, uint8_t, fetches) /* memory's answer is outstanding */
GPC_METADATA(l2, mshr, L2_MSHR)

#define L2_COUNTERS(X, P)                                                                                              \
    X(P, forwarded_reads, "reads of words at an owner")                                                                \
    X(P, forwarded_takes, "registrations of words at an owner")                                                        \
    X(P, recalls, "lines recalled from their owners")
GPC_COUNTS(L2_COUNT, L2_COUNTERS)

/* ---- classification: of x->word ---------------------------------------------------------------------------------- */

/* Owners are set in these states only. */
static bool
is_from_owner(const gpc_step_t *x)
{
    bool owned = x->state == L2_R || x->state == L2_RC || x->state == L2_RCN;
    return owned && l2_line(x)->owner.node[x->word] == x->msg->requester;
}

static bool
has_registered(const gpc_controller_t *unit, uint8_t array, gpc_index_t way)
{
    return gpc_tags_words_in(&unit->arrays[array], way, L2_R) != GPC_NO_WORDS;
}

static gpc_event_id_t
classify_eviction(const gpc_step_t *x)
{
    if (has_registered(x->unit, x->array, x->way)) {
        return L2_EVICT_REGISTERED;
    }
    return l2_line(x)->dirty ? L2_EVICT_DIRTY : L2_EVICT_CLEAN;
}

/* The owner hits, or waits for its write-back: it does not ask. */
static gpc_event_id_t
unless_from_owner(const gpc_step_t *x, gpc_event_id_t event)
{
    return x->state == L2_R && is_from_owner(x) ? GPC_NO_EVENT : event;
}

static gpc_event_id_t
l2_classify(const gpc_step_t *x)
{
    switch (x->cause) {
        case DENOVO_READ:
            return unless_from_owner(x, L2_READ);
        case DENOVO_REGISTER:
            return unless_from_owner(x, L2_REGISTER);
        case DENOVO_REGISTER_SYNC:
            return unless_from_owner(x, L2_REGISTER_SYNC);
        case DENOVO_WRITE_BACK:
            return is_from_owner(x) ? L2_WRITE_BACK : L2_WRITE_BACK_STALE;
        case DENOVO_RECALLED:
            return L2_RECALLED;
        case DENOVO_RECALLED_NONE:
            return L2_RECALLED_NONE;
        case GPC_MSG_FILL:
            return L2_FILL;
        case GPC_MSG_EVICT:
            return classify_eviction(x);
        default:
            return GPC_NO_EVENT;
    }
}

/* Words that classification tells apart have different owners. */
static gpc_mask_t
l2_alike(const gpc_step_t *x)
{
    bool owned = x->state == L2_R || x->state == L2_RC || x->state == L2_RCN;
    return owned && x->cause >= GPC_MSG_OWN ? x->mask : UINT32_MAX;
}

/* ---- actions ----------------------------------------------------------------------------------------------------- */

GPC_ACTION(act_fetch, "fetch the line, once; the request is pending until memory answers")
{
    int status = GPC_OK;
    gpc_count_miss(x);
    if (!l2_mshr(x)->fetches) {
        l2_mshr(x)->fetches = 1;
        status = gpc_fetch(x);
    }
    GPC_TRY(status);
    return gpc_keep_pending(x);
}

GPC_ACTION(act_fill_words, "write memory's words into the line")
{
    gpc_merge_words(gpc_line_words(x), x->msg->data, x->mask);
    return GPC_OK;
}

/* Words of x's line that the bank has: beside the tag and not in a transaction. */
static gpc_mask_t
words_in_bank(const gpc_controller_t *bank, gpc_index_t way)
{
    const gpc_tags_t *tags = &bank->arrays[0];
    gpc_index_t mshr = tags->tags[way].mshr;
    gpc_mask_t here = gpc_tags_words_in(tags, way, L2_V);

    return mshr == GPC_NONE ? here : here & gpc_mshr_words_in(&bank->mshrs, mshr, 0);
}

GPC_ACTION(act_send_data, "send DATA: the demanded words and the line's others that are here")
{
    gpc_msg_t *msg = gpc_new_message(x, DENOVO_DATA, x->msg->requester);
    gpc_carry(x, msg, x->mask | words_in_bank(x->unit, x->way), gpc_line_words(x));
    denovo_message(msg)->demanded = x->mask;
    gpc_count_hit(x);
    return gpc_send(x, msg);
}

/* Sends one message to each owner of x's words, one a word, which the step combines. */
static int
to_owners(gpc_step_t *x, uint8_t type)
{
    int status = GPC_OK;
    for (gpc_mask_t left = x->mask; left && status == GPC_OK; left &= left - 1) {
        gpc_msg_t *msg = gpc_new_message(x, type, l2_line(x)->owner.node[__builtin_ctz(left)]);
        msg->mask = left & -left;
        status = gpc_send(x, msg);
    }
    return status;
}

GPC_ACTION(act_forward_read, "send FORWARD_READ to the owners")
{
    gpc_count_own(x, L2_COUNT_forwarded_reads);
    return to_owners(x, DENOVO_FORWARD_READ);
}

GPC_ACTION(act_forward_take, "send FORWARD_TAKE, or FORWARD_TAKE_SYNC, to the old owners")
{
    gpc_count_own(x, L2_COUNT_forwarded_takes);
    return to_owners(x, x->cause == DENOVO_REGISTER ? DENOVO_FORWARD_TAKE : DENOVO_FORWARD_TAKE_SYNC);
}

GPC_ACTION(act_recall, "send RECALL to the owners")
{
    gpc_count_own(x, L2_COUNT_recalls);
    return to_owners(x, DENOVO_RECALL);
}

GPC_ACTION(act_grant, "send REGISTERED, or REGISTERED_SYNC with the words")
{
    uint8_t type = x->cause == DENOVO_REGISTER ? DENOVO_REGISTERED : DENOVO_REGISTERED_SYNC;
    gpc_msg_t *msg = gpc_new_message(x, type, x->msg->requester);
    gpc_carry(x, msg, x->mask, gpc_line_words(x));
    return gpc_send(x, msg);
}

static int
set_owner(gpc_step_t *x, gpc_node_t node)
{
    for (gpc_mask_t left = x->mask; left; left &= left - 1) {
        l2_line(x)->owner.node[__builtin_ctz(left)] = node;
    }
    return GPC_OK;
}

GPC_ACTION(act_name_owner, "the requester is the words' owner")
{
    l2_line(x)->dirty &= ~x->mask; /* until they return */
    return set_owner(x, x->msg->requester);
}

GPC_ACTION(act_store_words, "write the words into the line; they have no owner, and memory is stale")
{
    gpc_merge_words(gpc_line_words(x), x->msg->data, x->mask);
    l2_line(x)->dirty |= x->mask;
    return set_owner(x, 0); /* equal lines are encoded alike */
}

GPC_ACTION(act_hold_words, "write the words into the line; WRITE_BACK_OK waits")
{
    gpc_merge_words(gpc_line_words(x), x->msg->data, x->mask);
    l2_line(x)->dirty |= x->mask;
    return GPC_OK;
}

static int
acknowledge(gpc_step_t *x, uint8_t type, gpc_node_t to)
{
    gpc_msg_t *msg = gpc_new_message(x, type, to);
    msg->mask = x->mask;
    return gpc_send(x, msg);
}

GPC_ACTION(act_answer_ok, "send WRITE_BACK_OK")
{
    return acknowledge(x, DENOVO_WRITE_BACK_OK, x->msg->source);
}

GPC_ACTION(act_answer_held, "send the WRITE_BACK_OK that waits; the words have no owner")
{
    GPC_TRY(acknowledge(x, DENOVO_WRITE_BACK_OK, x->msg->source));
    return set_owner(x, 0);
}

GPC_ACTION(act_answer_stale, "send WRITE_BACK_STALE")
{
    return acknowledge(x, DENOVO_WRITE_BACK_STALE, x->msg->source);
}

GPC_ACTION(act_write_memory, "write the dirty words to memory")
{
    gpc_mask_t dirty = l2_line(x)->dirty;
    l2_line(x)->dirty = GPC_NO_WORDS;
    return gpc_write_memory(x, dirty, gpc_line_words(x));
}

/* ---- the table. Held requests wait for memory, or for an owner that answers a recall: both always come. ---------- */

/* clang-format off */
#define L2_WAITS [L2_READ] = HOLD_LINE, [L2_REGISTER] = HOLD_LINE, [L2_REGISTER_SYNC] = HOLD_LINE

static const gpc_cell_t l2_table[L2_NUM_STATES][L2_NUM_EVENTS] = {
    [L2_NP] = {
        [L2_READ] = GO(L2_MF, act_reserve_way, act_fetch),
        [L2_REGISTER] = GO(L2_MF, act_reserve_way, act_fetch),
        [L2_REGISTER_SYNC] = GO(L2_MF, act_reserve_way, act_fetch),
        [L2_WRITE_BACK_STALE] = GO(L2_NP, act_answer_stale),
        [L2_FILL] = GO(L2_V, act_fill_words), /* a word that no request has named */
    },
    [L2_V] = {
        [L2_READ] = GO(L2_V, act_send_data),
        [L2_REGISTER] = GO(L2_R, act_name_owner, act_grant),
        [L2_REGISTER_SYNC] = GO(L2_R, act_name_owner, act_grant),
        [L2_WRITE_BACK_STALE] = GO(L2_V, act_answer_stale),
        [L2_EVICT_CLEAN] = GO(L2_NP),
        [L2_EVICT_DIRTY] = GO(L2_NP, act_write_memory),
        [L2_EVICT_REGISTERED] = GO(L2_V), /* leaves with the recalled words */
    },
    [L2_R] = {
        [L2_READ] = GO(L2_R, act_forward_read),
        [L2_REGISTER] = GO(L2_R, act_forward_take, act_name_owner),
        [L2_REGISTER_SYNC] = GO(L2_R, act_forward_take, act_name_owner),
        [L2_WRITE_BACK] = GO(L2_V, act_store_words, act_answer_ok),
        [L2_WRITE_BACK_STALE] = GO(L2_R, act_answer_stale),
        [L2_EVICT_REGISTERED] = GO(L2_RC, act_recall),
    },
    [L2_MF] = {
        L2_WAITS,
        [L2_WRITE_BACK_STALE] = GO(L2_MF, act_answer_stale),
        [L2_FILL] = GO(L2_V, act_fill_words, act_replay),
    },
    [L2_RC] = {
        L2_WAITS,
        [L2_WRITE_BACK] = GO(L2_RCD, act_hold_words),
        [L2_WRITE_BACK_STALE] = GO(L2_RC, act_answer_stale),
        [L2_RECALLED] = GO(L2_V, act_store_words),
        [L2_RECALLED_NONE] = GO(L2_RCN),
    },
    [L2_RCD] = {
        L2_WAITS,
        [L2_WRITE_BACK_STALE] = GO(L2_RCD, act_answer_stale),
        [L2_RECALLED_NONE] = GO(L2_V, act_answer_held),
    },
    [L2_RCN] = {
        L2_WAITS,
        [L2_WRITE_BACK] = GO(L2_V, act_store_words, act_answer_ok),
        [L2_WRITE_BACK_STALE] = GO(L2_RCN, act_answer_stale),
    },
};
/* clang-format on */

static const gpc_table_t l2 = {GPC_TABLE("L2", OVER_WORDS, L2, l2_table, l2_classify), .alike = l2_alike,
                               .data_states = 1u << L2_V | 1u << L2_RCD};

static uint32_t
rank(const gpc_controller_t *unit, uint8_t array, gpc_index_t way)
{
    return has_registered(unit, array, way);
}

const gpc_controller_type_t denovo_l2 = {
    .name = "L2",
    .position = GPC_AT_BANK,
    .tables = {&l2},
    .arrays = {{.name = "tags", .line = l2_line_described, .has_data = true}},
    .mshr = l2_mshr_described,
    .counters = L2_COUNT_info,
    .victim_rank = rank,
};

/* ---- for the host and the monitor -------------------------------------------------------------------------------- */

gpc_mask_t
denovo_l2_has(const gpc_controller_t *bank, gpc_address_t line)
{
    gpc_index_t way = gpc_tags_find(&bank->arrays[0], line);
    return way == GPC_NONE ? GPC_NO_WORDS : words_in_bank(bank, way);
}

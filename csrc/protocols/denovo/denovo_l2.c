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
GPC_REGISTRY_STATES(L2_NP, L2_V, L2_R);

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
    return owned && gpc_registry_line(x)->owner.node[x->word] == x->msg->requester;
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
            return gpc_event_of_eviction(x, L2_EVICT_CLEAN);
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

/* Its words are named in one step (denovo.h). */
static bool
l2_whole(const gpc_step_t *x)
{
    return x->cause == DENOVO_REGISTER_SYNC && (x->msg->flags & DENOVO_FLAG_WHOLE) != 0;
}

/* ---- actions ----------------------------------------------------------------------------------------------------- */

GPC_ACTION(act_send_data, "send DATA: the demanded words and the line's others that are here")
{
    return gpc_send_demanded(x, DENOVO_DATA);
}

GPC_ACTION(act_forward_read, "send FORWARD_READ to the owners")
{
    gpc_count_own(x, L2_COUNT_forwarded_reads);
    return gpc_send_to_owners(x, DENOVO_FORWARD_READ);
}

GPC_ACTION(act_forward_take, "send FORWARD_TAKE, or FORWARD_TAKE_SYNC, to the old owners")
{
    gpc_count_own(x, L2_COUNT_forwarded_takes);
    return gpc_send_to_owners(x, x->cause == DENOVO_REGISTER ? DENOVO_FORWARD_TAKE : DENOVO_FORWARD_TAKE_SYNC);
}

GPC_ACTION(act_recall, "send RECALL to the owners")
{
    gpc_count_own(x, L2_COUNT_recalls);
    return gpc_send_to_owners(x, DENOVO_RECALL);
}

GPC_ACTION(act_grant, "send REGISTERED, or REGISTERED_SYNC with the words")
{
    bool data = x->cause == DENOVO_REGISTER;
    return gpc_send_words(x, data ? DENOVO_REGISTERED : DENOVO_REGISTERED_SYNC, x->msg->requester);
}

GPC_ACTION(act_answer_ok, "send WRITE_BACK_OK")
{
    return gpc_send_mask(x, DENOVO_WRITE_BACK_OK, x->msg->source);
}

GPC_ACTION(act_answer_stale, "send WRITE_BACK_STALE")
{
    return gpc_send_mask(x, DENOVO_WRITE_BACK_STALE, x->msg->source);
}

/* ---- the table. Held requests wait for memory, or for an owner that answers a recall: both always come. ---------- */

/* clang-format off */
#define L2_WAITS [L2_READ] = HOLD_LINE, [L2_REGISTER] = HOLD_LINE, [L2_REGISTER_SYNC] = HOLD_LINE

static const gpc_cell_t l2_table[L2_NUM_STATES][L2_NUM_EVENTS] = {
    [L2_NP] = {
        [L2_READ] = GO(L2_MF, act_reserve_way, registry_act_fetch),
        [L2_REGISTER] = GO(L2_MF, act_reserve_way, registry_act_fetch),
        [L2_REGISTER_SYNC] = GO(L2_MF, act_reserve_way, registry_act_fetch),
        [L2_WRITE_BACK_STALE] = GO(L2_NP, act_answer_stale),
        [L2_FILL] = GO(L2_V, words_act_install), /* a word that no request has named */
    },
    [L2_V] = {
        [L2_READ] = GO(L2_V, act_send_data),
        [L2_REGISTER] = GO(L2_R, registry_act_name_owner, act_grant),
        [L2_REGISTER_SYNC] = GO(L2_R, registry_act_name_owner, act_grant),
        [L2_WRITE_BACK_STALE] = GO(L2_V, act_answer_stale),
        [L2_EVICT_CLEAN] = GO(L2_NP),
        [L2_EVICT_DIRTY] = GO(L2_NP, registry_act_write_memory),
        [L2_EVICT_REGISTERED] = GO(L2_V), /* leaves with the recalled words */
    },
    [L2_R] = {
        [L2_READ] = GO(L2_R, act_forward_read),
        [L2_REGISTER] = GO(L2_R, act_forward_take, registry_act_name_owner),
        [L2_REGISTER_SYNC] = GO(L2_R, act_forward_take, registry_act_name_owner),
        [L2_WRITE_BACK] = GO(L2_V, registry_act_take, registry_act_name_none, act_answer_ok),
        [L2_WRITE_BACK_STALE] = GO(L2_R, act_answer_stale),
        [L2_EVICT_REGISTERED] = GO(L2_RC, act_recall),
    },
    [L2_MF] = {
        L2_WAITS,
        [L2_WRITE_BACK_STALE] = GO(L2_MF, act_answer_stale),
        [L2_FILL] = GO(L2_V, words_act_install, act_replay),
    },
    [L2_RC] = {
        L2_WAITS,
        [L2_WRITE_BACK] = GO(L2_RCD, registry_act_take),
        [L2_WRITE_BACK_STALE] = GO(L2_RC, act_answer_stale),
        [L2_RECALLED] = GO(L2_V, registry_act_take, registry_act_name_none),
        [L2_RECALLED_NONE] = GO(L2_RCN),
    },
    [L2_RCD] = {
        L2_WAITS,
        [L2_WRITE_BACK_STALE] = GO(L2_RCD, act_answer_stale),
        [L2_RECALLED_NONE] = GO(L2_V, act_answer_ok, registry_act_name_none),
    },
    [L2_RCN] = {
        L2_WAITS,
        [L2_WRITE_BACK] = GO(L2_V, registry_act_take, registry_act_name_none, act_answer_ok),
        [L2_WRITE_BACK_STALE] = GO(L2_RCN, act_answer_stale),
    },
};
/* clang-format on */

static const gpc_table_t l2 = {GPC_TABLE("L2", OVER_WORDS, L2, l2_table, l2_classify), .alike = l2_alike,
                               .whole = l2_whole, .data_states = 1u << L2_V | 1u << L2_RCD};

const gpc_controller_type_t denovo_l2 = {GPC_REGISTRY_TYPE(l2), .counters = L2_COUNT_info};

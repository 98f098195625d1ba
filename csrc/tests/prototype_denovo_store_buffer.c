/* prototype_denovo_store_buffer.c: an entry of a coalescing store buffer.
 *
 * Paper    Sinclair et al., MICRO 2015, sections 3 and 5.3 (256 coalescing entries an L1); the states are inferred.
 * Fits     a table over entries of a part; the entry is found by line and drained by the release part of order, one step per
 *          entry.
 */
#include "tests/prototype_denovo.h"

/* ---- states and events ------------------------------------------------------------------------------------------- */

#define SB_STATES(X)                                                                                                   \
    X(SB_FREE, STABLE, "no line")                                                                                      \
    X(SB_OPEN, STABLE, "holds stores, nothing sent")                                                                   \
    X(SB_SENT, TRANSIENT_COHERENCE, "sent, the answer outstanding; loads still look here")                             \
    X(SB_SENT_MORE, TRANSIENT_COHERENCE, "sent, and stored to since")

#define SB_EVENTS(X)                                                                                                   \
    X(SB_STORE, "a store to the line (or to a line without an entry)")                                                 \
    X(SB_DRAIN, "a release, a full buffer, an own synchronisation on the word")                                        \
    X(SB_LOOKUP, "a load finds words of its line here")                                                                \
    X(SB_ANSWER, "what was sent is performed")                                                                         \
    X(SB_ANSWER_DRAINING, "the same, and a drain came in between")

GPC_FSM(SB, SB_STATES, SB_EVENTS)

/* ---- classification ---------------------------------------------------------------------------------------------- */

static const sb_entry_t *
entry_of(const gpc_step_t *x)
{
    return gpc_part_fields(&x->unit->parts[DENOVO_PART_STORE_BUFFER], x->entry);
}

static gpc_event_id_t
sb_classify(const gpc_step_t *x)
{
    switch (x->cause) {
        case GPC_MSG_STORE:
            return SB_STORE;
        case GPC_MSG_LOAD:
            return SB_LOOKUP;
        case GPC_MSG_RELEASE:
        case GPC_MSG_EVICT:
        case GPC_MSG_REPLAY:
            return SB_DRAIN;
        case DENOVO_REGISTERED:
        case DENOVO_REGISTERED_SYNC:
            return entry_of(x)->drain_wanted ? SB_ANSWER_DRAINING : SB_ANSWER;
        default:
            return GPC_NO_EVENT;
    }
}

/* ---- actions ----------------------------------------------------------------------------------------------------- */

STUB_ACTION(act_allocate, "the line, its words and their mask")
STUB_ACTION(act_send, "the fresh words leave (or their registration does) and count as sent")
STUB_ACTION(act_supply, "the load gets the newest words")

static sb_entry_t *
entry_to_change(const gpc_step_t *x)
{
    return gpc_part_fields(&x->unit->parts[DENOVO_PART_STORE_BUFFER], x->entry);
}

GPC_ACTION(act_merge, "the words into the entry")
{
    sb_entry_t *entry = entry_to_change(x);
    entry->fresh |= x->mask;
    gpc_merge_words(entry->words.word, x->msg->data, x->mask);
    return GPC_OK;
}

GPC_ACTION(act_remember_drain, "the fresh words follow at the answer")
{
    entry_to_change(x)->drain_wanted = true;
    return GPC_OK;
}

GPC_ACTION(act_answered, "the sent words are performed")
{
    entry_to_change(x)->sent = GPC_NO_WORDS;
    entry_to_change(x)->drain_wanted = false;
    return GPC_OK;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

/* clang-format off */
static const gpc_cell_t sb_table[SB_NUM_STATES][SB_NUM_EVENTS] = {
    [SB_FREE] = {
        [SB_STORE]           = GO(SB_OPEN, act_allocate),
        [SB_DRAIN]           = GO(SB_FREE),
    },
    [SB_OPEN] = {
        [SB_STORE]           = GO(SB_OPEN, act_merge),
        [SB_DRAIN]           = GO(SB_SENT, act_send),
        [SB_LOOKUP]          = GO(SB_OPEN, act_supply),
    },
    [SB_SENT] = {
        [SB_STORE]           = GO(SB_SENT_MORE, act_merge),
        [SB_DRAIN]           = GO(SB_SENT),
        [SB_LOOKUP]          = GO(SB_SENT, act_supply),
        [SB_ANSWER]          = GO(SB_FREE, act_answered),
    },
    [SB_SENT_MORE] = {
        [SB_STORE]           = GO(SB_SENT_MORE, act_merge),
        [SB_DRAIN]           = GO(SB_SENT_MORE, act_remember_drain),
        [SB_LOOKUP]          = GO(SB_SENT_MORE, act_supply),
        [SB_ANSWER]          = GO(SB_OPEN, act_answered),
        [SB_ANSWER_DRAINING] = GO(SB_SENT, act_answered, act_send),
    },
};
/* clang-format on */

const gpc_table_t prototype_denovo_store_buffer = {
    GPC_TABLE("L1.store_buffer", OVER_ENTRIES, SB, sb_table, sb_classify)};

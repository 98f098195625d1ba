/* prototype_denovo_words.c: DeNovo's L1, a table over words.
 *
 * Paper    Sinclair et al., MICRO 2015, sections 3 and 4; three stable states, two bits a word. The transient states
 *          are inferred: the paper leaves them to MSHR, store buffer and write-back buffer.
 * Inferred a fill never overwrites own stores (skip mask) and is not kept when an acquire came after its request (RDX);
 *          forwards to words whose registration is outstanding queue here; the old owner grants; stale write-backs.
 * Fits     word states beside the tag and in the transaction; the write-back buffer is the transaction's DATA field;
 *          its queues are described lists of requests.
 */
#include "tests/prototype_denovo.h"

/* ---- states and events ------------------------------------------------------------------------------------------- */

#define WORD_STATES(X)                                                                                                 \
    X(WORD_I, STABLE, "invalid")                                                                                       \
    X(WORD_V, STABLE, "valid until the next acquire")                                                                  \
    X(WORD_R, STABLE, "registered: this L1 has the only up-to-date copy")                                              \
    X(WORD_RDP, TRANSIENT_CACHE, "data read outstanding")                                                              \
    X(WORD_RDX, TRANSIENT_COHERENCE, "data read outstanding, not to be kept: an acquire came in between")              \
    X(WORD_WRP, TRANSIENT_COHERENCE, "registration for a data write outstanding; the data is in the store buffer")     \
    X(WORD_SYP, TRANSIENT_COHERENCE, "registration for synchronisation outstanding")                                   \
    X(WORD_WBP, TRANSIENT_COHERENCE, "evicted, written back, not yet answered")                                        \
    X(WORD_WBS, TRANSIENT_COHERENCE, "evicted, the L2 says stale: a forward is still to come")                         \
    X(WORD_WBF, TRANSIENT_COHERENCE, "evicted, the forward is served: the stale answer is still to come")

#define WORD_EVENTS(X)                                                                                                 \
    X(WORD_LOAD, "a warp's data load")                                                                                 \
    X(WORD_LOAD_BUFFERED, "a warp's data load of a word that the store buffer has")                                    \
    X(WORD_STORE, "a warp's data store")                                                                               \
    X(WORD_SYNC, "a warp's synchronisation access (any order but weak, and atomics)")                                  \
    X(WORD_SYNC_BUFFERED, "the same, while the store buffer has the word")                                             \
    X(WORD_DRAIN, "the store buffer's entry has its turn")                                                             \
    X(WORD_ACQUIRE, "the acquire part is done (walks lines and transactions), or a kernel begins")                     \
    X(WORD_EVICT, "the replacement wants the way")                                                                     \
    X(WORD_DATA, "the answer that this word waits for")                                                                \
    X(WORD_DATA_SKIPPED, "the same, and the word was stored to since")                                                 \
    X(WORD_EXTRA, "another word's answer brings this one too")                                                         \
    X(WORD_EXTRA_BARRED, "the same, of a read before an acquire or own store: not to be kept")                         \
    X(WORD_REGISTERED, "the registration is granted")                                                                  \
    X(WORD_REGISTERED_TAKEN, "the same, and a forward that takes the word away waits here")                            \
    X(WORD_FORWARD_READ, "another core's read")                                                                        \
    X(WORD_FORWARD_TAKE, "another core's registration")                                                                \
    X(WORD_RECALL, "the L2 wants the word back")                                                                       \
    X(WORD_WRITTEN_BACK, "the L2 has the write-back")                                                                  \
    X(WORD_STALE, "the L2 has passed ownership on before the write-back came")

GPC_FSM(WORD, WORD_STATES, WORD_EVENTS)

/* ---- metadata ---------------------------------------------------------------------------------------------------- */

#define L1_LINE(FIELD) /* word states only */

#define L1_MSHR(FIELD)                                                                                                 \
    FIELD(PLAIN, gpc_mask_t, skip)           /* words that the fill must not overwrite */                                \
    FIELD(PLAIN, uint8_t, poisoned)          /* an acquire came while a read was out */                                \
    FIELD(DATA, prototype_words_t, leaving)     /* the write-back buffer */                                               \
    FIELD(REQUEST, gpc_list_t, syncs)        /* own synchronisation accesses, in order of arrival */               \
    FIELD(REQUEST, gpc_list_t, reads)        /* forwarded reads: served before forwarded registrations */             \
    FIELD(REQUEST, gpc_list_t, taking)       /* forwarded registrations and recalls, at most one a word */

GPC_DESCRIBE(l1, line, L1_LINE)
GPC_DESCRIBE(l1, mshr, L1_MSHR)

/* ---- classification: of x->word ---------------------------------------------------------------------------------- */

static bool
has_word(gpc_mask_t mask, const gpc_step_t *x)
{
    return (mask >> x->word & 1) != 0;
}

static gpc_event_id_t
classify_request(const gpc_step_t *x)
{
    bool buffered = has_word(denovo_buffered(x), x);

    if (x->cause == GPC_MSG_ATOMIC || x->msg->order != GPC_ORDER_WEAK) {
        return buffered ? WORD_SYNC_BUFFERED : WORD_SYNC;
    }
    if (x->cause == GPC_MSG_STORE) {
        return WORD_STORE;
    }
    return buffered ? WORD_LOAD_BUFFERED : WORD_LOAD;
}

static gpc_event_id_t
classify_data(const gpc_step_t *x)
{
    const l1_mshr_t *mshr = x->mshr == GPC_NONE ? NULL : gpc_step_mshr_fields(x);
    bool skipped = mshr && has_word(mshr->skip, x);

    if (has_word((gpc_mask_t) denovo_fields(x->msg)->demanded, x)) {
        return skipped ? WORD_DATA_SKIPPED : WORD_DATA;
    }
    return !mshr || skipped || mshr->poisoned ? WORD_EXTRA_BARRED : WORD_EXTRA;
}

static gpc_event_id_t
classify_registered(const gpc_step_t *x)
{
    const gpc_list_t *taking = x->mshr == GPC_NONE ? NULL : &((l1_mshr_t *) gpc_step_mshr_fields(x))->taking;
    gpc_index_t i = taking && taking->count ? taking->head : GPC_NONE;

    for (; i != GPC_NONE; i = gpc_msg_at(x->unit->messages, i)->next) {
        if (has_word(gpc_msg_at(x->unit->messages, i)->mask, x)) {
            return WORD_REGISTERED_TAKEN;
        }
    }
    return WORD_REGISTERED;
}

static gpc_event_id_t
word_classify(const gpc_step_t *x)
{
    switch (x->cause) {
        case GPC_MSG_LOAD:
        case GPC_MSG_STORE:
        case GPC_MSG_ATOMIC:
            return classify_request(x);
        case GPC_MSG_REPLAY:
            return WORD_DRAIN;
        case GPC_MSG_ACQUIRE:
        case GPC_MSG_KERNEL_BEGIN:
            return WORD_ACQUIRE;
        case GPC_MSG_EVICT:
            return WORD_EVICT;
        case DENOVO_DATA:
            return classify_data(x);
        case DENOVO_REGISTERED:
        case DENOVO_REGISTERED_SYNC:
            return classify_registered(x);
        case DENOVO_FORWARD_READ:
            return WORD_FORWARD_READ;
        case DENOVO_FORWARD_TAKE:
        case DENOVO_FORWARD_TAKE_SYNC:
            return WORD_FORWARD_TAKE;
        case DENOVO_RECALL:
            return WORD_RECALL;
        case DENOVO_WRITE_BACK_OK:
            return WORD_WRITTEN_BACK;
        case DENOVO_WRITE_BACK_STALE:
            return WORD_STALE;
        default:
            return GPC_NO_EVENT;
    }
}

/* ---- actions ----------------------------------------------------------------------------------------------------- */

STUB_ACTION(act_reserve_way, "a way for the words, or hold")
STUB_ACTION(act_hit, "the load's words from the line")
STUB_ACTION(act_serve_buffer, "the load's words from the store buffer")
STUB_ACTION(act_read, "READ of the masked words; own buffered words are skipped")
STUB_ACTION(act_join, "the load waits for the answer too")
STUB_ACTION(act_buffer_store, "into the store buffer's entry, or hold when it is full")
STUB_ACTION(act_write, "the words, in the line")
STUB_ACTION(act_register, "REGISTER of the masked words; the entry counts as sent")
STUB_ACTION(act_register_sync, "REGISTER_SYNC of the masked words; the access queues")
STUB_ACTION(act_drain_word, "the entry's turn comes now; the access waits")
STUB_ACTION(act_join_syncs, "the access queues behind the others of this core")
STUB_ACTION(act_perform, "the synchronisation access, on the line")
STUB_ACTION(act_write_back, "the words into the write-back buffer; WRITE_BACK")
STUB_ACTION(act_install, "the words into the line")
STUB_ACTION(act_wake, "loads that wait for these words")
STUB_ACTION(act_take_buffered, "the store buffer's words into the line; its entry loses them")
STUB_ACTION(act_run_syncs, "the queued synchronisation accesses in order, each with its acquire part")
STUB_ACTION(act_serve_queued_reads, "DATA for the queued forwarded reads")
STUB_ACTION(act_serve_taking, "REGISTERED, or RECALLED, for the queued forward that takes the words")
STUB_ACTION(act_bounce, "READ back to the L2 on behalf of the reader: we are not the owner any more")
STUB_ACTION(act_serve_read, "DATA: registered words that are wanted or adjacent, never valid ones")
STUB_ACTION(act_grant, "REGISTERED to the new owner, with values if for synchronisation")
STUB_ACTION(act_give_back, "RECALLED with the words")
STUB_ACTION(act_serve_leaving, "DATA from the write-back buffer")
STUB_ACTION(act_grant_leaving, "REGISTERED from the write-back buffer")
STUB_ACTION(act_give_back_none, "RECALLED_NONE: the write-back is on its way")

GPC_ACTION(act_skip, "the fill leaves these words alone")
{
    ((l1_mshr_t *) gpc_step_mshr_fields(x))->skip |= x->mask;
    return GPC_OK;
}

GPC_ACTION(act_poison, "the fill serves loads and is not kept")
{
    ((l1_mshr_t *) gpc_step_mshr_fields(x))->poisoned = true;
    return GPC_OK;
}

static int
queue_forward(gpc_step_t *x, gpc_list_t *list)
{
    gpc_list_push(list, x->unit->messages, x->message);
    x->kept = true;
    return GPC_OK;
}

GPC_ACTION(act_queue_read, "the reader waits for the words")
{
    return queue_forward(x, &((l1_mshr_t *) gpc_step_mshr_fields(x))->reads);
}

GPC_ACTION(act_queue_taking, "the taker waits for the words")
{
    return queue_forward(x, &((l1_mshr_t *) gpc_step_mshr_fields(x))->taking);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

/* clang-format off */
/* A core's request for a word that is being written back waits for the acknowledgement, which always arrives. */
#define WORD_LEAVING_WAITS                                                                                           \
    [WORD_LOAD] = HOLD_LINE, [WORD_LOAD_BUFFERED] = HOLD_LINE, [WORD_SYNC] = HOLD_LINE, [WORD_SYNC_BUFFERED] = HOLD_LINE, \
    [WORD_DRAIN] = HOLD_LINE, [WORD_EVICT] = NOT_A_VICTIM

/* clang-format off */
static const gpc_cell_t word_table[WORD_NUM_STATES][WORD_NUM_EVENTS] = {
    [WORD_I] = {
        [WORD_LOAD]             = GO(WORD_RDP, act_reserve_way, act_read),
        [WORD_LOAD_BUFFERED]    = GO(WORD_I, act_serve_buffer),
        [WORD_STORE]            = GO(WORD_I, act_buffer_store),
        [WORD_SYNC]             = GO(WORD_SYP, act_reserve_way, act_register_sync),
        [WORD_SYNC_BUFFERED]    = REDO(WORD_WRP, act_reserve_way, act_drain_word),
        [WORD_DRAIN]            = GO(WORD_WRP, act_reserve_way, act_register),
        [WORD_ACQUIRE]          = GO(WORD_I),
        [WORD_EVICT]            = GO(WORD_I),
        [WORD_EXTRA]            = GO(WORD_V, act_install),
        [WORD_EXTRA_BARRED]     = GO(WORD_I),
        [WORD_FORWARD_READ]     = GO(WORD_I, act_bounce),
    },
    [WORD_V] = {
        [WORD_LOAD]             = GO(WORD_V, act_hit),
        [WORD_LOAD_BUFFERED]    = GO(WORD_V, act_serve_buffer),
        [WORD_STORE]            = GO(WORD_V, act_buffer_store, act_write),
        [WORD_SYNC]             = GO(WORD_SYP, act_register_sync),
        [WORD_SYNC_BUFFERED]    = REDO(WORD_WRP, act_drain_word),
        [WORD_DRAIN]            = GO(WORD_WRP, act_register),
        [WORD_ACQUIRE]          = GO(WORD_I),
        [WORD_EVICT]            = GO(WORD_I),
        [WORD_EXTRA]            = GO(WORD_V),
        [WORD_EXTRA_BARRED]     = GO(WORD_V),
        [WORD_FORWARD_READ]     = GO(WORD_V, act_bounce),
    },
    [WORD_R] = { /* the store buffer never holds a registered word */
        [WORD_LOAD]             = GO(WORD_R, act_hit),
        [WORD_STORE]            = GO(WORD_R, act_write),
        [WORD_SYNC]             = GO(WORD_R, act_perform),
        [WORD_ACQUIRE]          = GO(WORD_R),
        [WORD_EVICT]            = GO(WORD_WBP, act_write_back),
        [WORD_EXTRA]            = GO(WORD_R),
        [WORD_EXTRA_BARRED]     = GO(WORD_R),
        [WORD_FORWARD_READ]     = GO(WORD_R, act_serve_read),
        [WORD_FORWARD_TAKE]     = GO(WORD_I, act_grant),
        [WORD_RECALL]           = GO(WORD_I, act_give_back),
    },
    [WORD_RDP] = {
        [WORD_LOAD]             = GO(WORD_RDP, act_join),
        [WORD_LOAD_BUFFERED]    = GO(WORD_RDP, act_serve_buffer),
        [WORD_STORE]            = GO(WORD_RDP, act_buffer_store, act_skip),
        [WORD_SYNC]             = HOLD_LINE, /* the fill ends it */
        [WORD_SYNC_BUFFERED]    = HOLD_LINE,
        [WORD_DRAIN]            = HOLD_LINE,
        [WORD_ACQUIRE]          = GO(WORD_RDX, act_poison),
        [WORD_EVICT]            = NOT_A_VICTIM,
        [WORD_DATA]             = GO(WORD_V, act_install, act_wake),
        [WORD_DATA_SKIPPED]     = GO(WORD_I, act_wake),
        [WORD_EXTRA]            = GO(WORD_RDP), /* its own answer is in flight */
        [WORD_EXTRA_BARRED]     = GO(WORD_RDP),
        [WORD_FORWARD_READ]     = GO(WORD_RDP, act_bounce),
    },
    [WORD_RDX] = {
        [WORD_LOAD]             = HOLD_LINE, /* must not read values older than the acquire; the fill ends the wait */
        [WORD_LOAD_BUFFERED]    = HOLD_LINE,
        [WORD_STORE]            = GO(WORD_RDX, act_buffer_store, act_skip),
        [WORD_SYNC]             = HOLD_LINE,
        [WORD_SYNC_BUFFERED]    = HOLD_LINE,
        [WORD_DRAIN]            = HOLD_LINE,
        [WORD_ACQUIRE]          = GO(WORD_RDX),
        [WORD_EVICT]            = NOT_A_VICTIM,
        [WORD_DATA]             = GO(WORD_I, act_wake),
        [WORD_DATA_SKIPPED]     = GO(WORD_I, act_wake),
        [WORD_EXTRA_BARRED]     = GO(WORD_RDX),
        [WORD_FORWARD_READ]     = GO(WORD_RDX, act_bounce),
    },
    [WORD_WRP] = {
        [WORD_LOAD_BUFFERED]    = GO(WORD_WRP, act_serve_buffer),
        [WORD_STORE]            = GO(WORD_WRP, act_buffer_store),
        [WORD_SYNC_BUFFERED]    = HOLD_LINE, /* hits after the grant */
        [WORD_DRAIN]            = GO(WORD_WRP),
        [WORD_ACQUIRE]          = GO(WORD_WRP),
        [WORD_EVICT]            = NOT_A_VICTIM,
        [WORD_EXTRA]            = GO(WORD_WRP),
        [WORD_EXTRA_BARRED]     = GO(WORD_WRP),
        [WORD_REGISTERED]       = GO(WORD_R, act_take_buffered, act_serve_queued_reads),
        [WORD_REGISTERED_TAKEN] = GO(WORD_I, act_take_buffered, act_serve_queued_reads, act_serve_taking),
        [WORD_FORWARD_READ]     = GO(WORD_WRP, act_queue_read),
        [WORD_FORWARD_TAKE]     = GO(WORD_WRP, act_queue_taking),
        [WORD_RECALL]           = GO(WORD_WRP, act_queue_taking),
    },
    [WORD_SYP] = {
        [WORD_LOAD]             = HOLD_LINE,
        [WORD_STORE]            = HOLD_LINE,
        [WORD_SYNC]             = GO(WORD_SYP, act_join_syncs),
        [WORD_ACQUIRE]          = GO(WORD_SYP),
        [WORD_EVICT]            = NOT_A_VICTIM,
        [WORD_EXTRA]            = GO(WORD_SYP),
        [WORD_EXTRA_BARRED]     = GO(WORD_SYP),
        [WORD_REGISTERED]       = GO(WORD_R, act_install, act_run_syncs, act_serve_queued_reads),
        [WORD_REGISTERED_TAKEN] = GO(WORD_I, act_install, act_run_syncs, act_serve_queued_reads, act_serve_taking),
        [WORD_FORWARD_READ]     = GO(WORD_SYP, act_queue_read),
        [WORD_FORWARD_TAKE]     = GO(WORD_SYP, act_queue_taking),
        [WORD_RECALL]           = GO(WORD_SYP, act_queue_taking),
    },
    [WORD_WBP] = {
        WORD_LEAVING_WAITS,
        [WORD_STORE]            = GO(WORD_WBP, act_buffer_store),
        [WORD_ACQUIRE]          = GO(WORD_WBP),
        [WORD_EXTRA]            = GO(WORD_WBP),
        [WORD_EXTRA_BARRED]     = GO(WORD_WBP),
        [WORD_FORWARD_READ]     = GO(WORD_WBP, act_serve_leaving),
        [WORD_FORWARD_TAKE]     = GO(WORD_WBF, act_grant_leaving),
        [WORD_RECALL]           = GO(WORD_WBP, act_give_back_none),
        [WORD_WRITTEN_BACK]     = GO(WORD_I),
        [WORD_STALE]            = GO(WORD_WBS),
    },
    [WORD_WBS] = {
        WORD_LEAVING_WAITS,
        [WORD_STORE]            = GO(WORD_WBS, act_buffer_store),
        [WORD_ACQUIRE]          = GO(WORD_WBS),
        [WORD_EXTRA]            = GO(WORD_WBS),
        [WORD_EXTRA_BARRED]     = GO(WORD_WBS),
        [WORD_FORWARD_READ]     = GO(WORD_WBS, act_serve_leaving),
        [WORD_FORWARD_TAKE]     = GO(WORD_I, act_grant_leaving),
    },
    [WORD_WBF] = {
        WORD_LEAVING_WAITS,
        [WORD_STORE]            = GO(WORD_WBF, act_buffer_store),
        [WORD_ACQUIRE]          = GO(WORD_WBF),
        [WORD_EXTRA]            = GO(WORD_WBF),
        [WORD_EXTRA_BARRED]     = GO(WORD_WBF),
        [WORD_FORWARD_READ]     = GO(WORD_WBF, act_bounce),
        [WORD_STALE]            = GO(WORD_I),
    },
};
/* clang-format on */
/* clang-format on */

static const gpc_table_t word = {GPC_TABLE("L1", OVER_WORDS, WORD, word_table, word_classify)};

static uint32_t
store_buffer_entries(const gpc_machine_t *machine, const int64_t *options)
{
    (void) machine;
    (void) options;
    return 256;
}

const gpc_controller_type_t prototype_denovo_l1 = {
    .name = "L1",
    .position = GPC_AT_CORE,
    .tables = {&word, &prototype_denovo_store_buffer},
    .arrays = {{.name = "tags", .line = l1_line_described, .has_data = true}},
    .parts = {{.name = "store buffer", .entry = sb_entry_described, .capacity = store_buffer_entries}},
    .object_of = {0, DENOVO_PART_STORE_BUFFER},
    .mshr = l1_mshr_described,
    .begins = 1u << 0,
};

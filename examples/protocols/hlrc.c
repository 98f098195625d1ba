/* hlrc.c: hLRC, lazy release consistency whose L1s own synchronisation variables, and nothing else.
 *
 * Paper    Alsop, Orr, Beckmann and Wood, Lazy Release Consistency for GPUs, MICRO 2016: abstract and first page, and
 *          the description of hLRC in LRM-GPU (HPCA 2026). Neither has a table.
 * Rules    Weak accesses are those of gpu-drf: an L1 keeps valid lines, and a store buffer that coalesces and writes
 *          through. A synchronisation access needs its words owned by the L1, where it is performed. If they are, it has
 *          no other effect: nothing is flushed or dropped. If not, the L2, which is the registry, recalls them from
 *          their owner, which first flushes its store buffer, and then returns them; the requester drops its valid words
 *          when it becomes the owner. Other requests for the words wait meanwhile. An evicted variable is flushed for,
 *          and given back. Scopes have no meaning.
 * Inferred all states but Invalid, Valid, Owned; ownership by words, as in DeNovo; the words return by way of the L2.
 *          The owner returns a word once the stores that were in its buffer when the recall came are performed; until
 *          then its own synchronisation accesses to the word wait, and then ask for it again. A weak load of a word that
 *          another core owns recalls it like synchronisation. A weak store that is written through takes it from its
 *          owner at once, without a flush: it does not race, so the owner has synchronised, and flushed, since its last
 *          access; and flushes that wait for each other's write-throughs would be a deadlock. Of an owned line, the L1
 *          evicts only words for which nothing is left to be flushed; a request that finds no other victim drains the
 *          buffer.
 * Differs  relaxed atomics own their words too: LRM-GPU's hLRC performs them at the L2. Every order between cores is
 *          then the transfer of a variable, so fences have no parts of their own.
 * Options  sb_drain, sb_full, sb_entry, sb_entries: of the store buffer (controller/store_buffer.h).
 * Sizes    inferred: an 8-byte header, 8 bytes for a word mask, 4 bytes a word.
 */
#include "controller/outside.h"

/* clang-format off */
/*     name       class network bytes word line   */
#define HLRC_MESSAGES(X, P)                                                                                            \
    X(P, READ,      REQ, 0, 16, 0, false, "a load wants the masked words")                                             \
    X(P, WRITE,     WB,  1, 16, 4, false, "write-through of a store-buffer entry")                                     \
    X(P, OWN,       ATO, 0, 16, 0, false, "ownership of words for synchronisation")                                    \
    X(P, DATA,      LD,  2, 16, 4, false, "demanded words, and others of the line")                                    \
    X(P, WRITE_ACK, WB,  2, 16, 0, false, "the masked words of a write-through are performed")                         \
    X(P, OWNED,     ATO, 2, 16, 4, false, "ownership, with the words' values")                                         \
    X(P, RECALL,    ATO, 2, 16, 0, false, "the owner flushes its store buffer and returns the words")                  \
    X(P, TAKE,      WB,  2, 16, 0, false, "the owner returns the words at once, for a write-through")                  \
    X(P, RETURN,    ATO, 3, 16, 4, false, "owned words, which their core owns no more")
/* clang-format on */
GPC_MESSAGES(HLRC, HLRC_MESSAGES)

#define HLRC_FIELDS(FIELD) FIELD(PLAIN, uint64_t, demanded) /* DATA: demanded words of its mask */
GPC_METADATA(hlrc, message, HLRC_FIELDS)

/* ---- L1: a table over words, one over store-buffer entries ------------------------------------------------------- */

#define L1_STATES(X)                                                                                                   \
    X(L1_I, STABLE, "invalid")                                                                                         \
    X(L1_V, STABLE, "valid until ownership of any word is granted; has the words of the store buffer too")             \
    X(L1_O, STABLE, "owned: the only up-to-date copy of a synchronisation variable")                                   \
    X(L1_RD, TRANSIENT_CACHE, "read outstanding")                                                                      \
    X(L1_RX, TRANSIENT_COHERENCE, "read outstanding, and a drop came later: the word will not be kept")                \
    X(L1_OP, TRANSIENT_COHERENCE, "ownership outstanding")                                                             \
    X(L1_OW, TRANSIENT_COHERENCE, "owned and recalled; own synchronisation waits for the flush, to ask again")

#define L1_EVENTS(X)                                                                                                   \
    X(L1_LOAD, "load of a warp")                                                                                       \
    X(L1_LOAD_COMING, "load of a word that the answer to an outstanding read may bring")                               \
    X(L1_LOAD_BUFFERED, "load of a word in the store buffer")                                                          \
    X(L1_STORE, "store of a warp")                                                                                     \
    X(L1_SYNC, "synchronisation access (any order but weak; read-modify-writes)")                                      \
    X(L1_SYNC_BUFFERED, "the same, the word in the store buffer")                                                      \
    X(L1_SYNC_RECALLED, "the same, to an owned word whose recall waits for the flush")                                 \
    X(L1_ACQUIRE, "ownership of some word is granted, or a kernel begins")                                             \
    X(L1_EVICT, "way chosen for replacement")                                                                          \
    X(L1_EVICT_DIRTY, "the same, of an owned word, while the store buffer has words")                                  \
    X(L1_DATA, "answer that this word waits for")                                                                      \
    X(L1_EXTRA, "word of an answer for other words")                                                                   \
    X(L1_EXTRA_BARRED, "the same, not to be kept")                                                                     \
    X(L1_OWNED, "ownership granted")                                                                                   \
    X(L1_RECALL, "the L2 recalls the word, and the store buffer has words")                                            \
    X(L1_TAKE, "the L2 recalls the word, and nothing is to be flushed for it")                                         \
    X(L1_FLUSHED, "the words that were to be flushed are performed")

GPC_FSM(L1, L1_STATES, L1_EVENTS)

#define L1_MSHR(FIELD) FIELD(PLAIN, uint8_t, poisoned) /* a drop came while the read was outstanding */
GPC_METADATA(hlrc_l1, mshr, L1_MSHR)
#define L1_LINE(FIELD) /* words' states only */
GPC_METADATA(hlrc_l1, line, L1_LINE)
#define L1_RECALLED(FIELD) FIELD(PLAIN, gpc_mask_t, words) /* owned words whose recall waits for the flush */
GPC_METADATA(hlrc_recalled, entry, L1_RECALLED)

enum { RECALLED_PART = GPC_SB_PART + 1 };

#define L1_COUNTERS(X, P)                                                                                              \
    X(P, sync_hits, "synchronisation accesses to owned words")                                                         \
    X(P, sync_misses, "synchronisation accesses that wait for ownership")                                              \
    X(P, drops, "grants of ownership, at which valid words are dropped")                                               \
    X(P, flushes, "recalls that waited for a flush")                                                                   \
    X(P, returns, "owned words given back")
GPC_COUNTS(L1_COUNT, L1_COUNTERS)

/* ---- L1: classification of x->word ------------------------------------------------------------------------------- */

static bool
has_word(gpc_mask_t mask, const gpc_step_t *x)
{
    return (mask >> x->word & 1) != 0;
}

static gpc_part_t *
recalled_part(const gpc_controller_t *unit)
{
    return (gpc_part_t *) &unit->parts[RECALLED_PART];
}

/* Words of the line whose recall waits for the flush; NULL: none. */
static gpc_mask_t *
recalled_words(const gpc_controller_t *unit, gpc_address_t line)
{
    gpc_index_t entry = gpc_part_find(recalled_part(unit), line);
    return entry == GPC_NONE ? NULL : &((hlrc_recalled_entry_t *) gpc_part_fields(recalled_part(unit), entry))->words;
}

/* Whether a read of other words of the line is outstanding. */
static bool
is_coming(const gpc_step_t *x)
{
    const gpc_mshr_table_t *mshrs = &x->unit->mshrs;
    return x->mshr != GPC_NONE &&
           (gpc_mshr_words_in(mshrs, x->mshr, L1_RD + 1) | gpc_mshr_words_in(mshrs, x->mshr, L1_RX + 1));
}

static gpc_event_id_t
classify_request(const gpc_step_t *x)
{
    bool buffered = has_word(gpc_sb_held(x->unit, x->line), x);

    if (x->cause == GPC_MSG_ATOMIC || x->msg->order != GPC_ORDER_WEAK) {
        const gpc_mask_t *recalled = recalled_words(x->unit, x->line);
        return buffered ? L1_SYNC_BUFFERED : recalled && has_word(*recalled, x) ? L1_SYNC_RECALLED : L1_SYNC;
    }
    if (x->cause == GPC_MSG_STORE) {
        return L1_STORE;
    }
    if (buffered && x->state != L1_V) {
        return L1_LOAD_BUFFERED; /* a store updates the valid word */
    }
    return x->state == L1_I && is_coming(x) ? L1_LOAD_COMING : L1_LOAD;
}

static gpc_event_id_t
l1_classify(const gpc_step_t *x)
{
    bool flushed = gpc_sb_unit(x->unit)->held == 0;

    switch (x->cause) {
        case GPC_MSG_LOAD:
        case GPC_MSG_STORE:
        case GPC_MSG_ATOMIC:
            return classify_request(x);
        case GPC_MSG_EVICT:
            return x->state == L1_O && !flushed ? L1_EVICT_DIRTY : L1_EVICT;
        case HLRC_DATA:
            if (has_word((gpc_mask_t) hlrc_message(x->msg)->demanded, x)) {
                return L1_DATA;
            }
            return x->state == L1_I && x->mshr != GPC_NONE && !hlrc_l1_mshr(x)->poisoned ? L1_EXTRA : L1_EXTRA_BARRED;
        case HLRC_RECALL:
            return x->state == L1_O && flushed ? L1_TAKE : L1_RECALL;
        default:
            return GPC_NO_EVENT;
    }
}

/* ---- L1: actions ------------------------------------------------------------------------------------------------- */

/* A line with owned words is no victim while the store buffer has words. */
GPC_ACTION(act_make_way, "reserve a way, or hold; without a victim the store buffer drains")
{
    int status = gpc_reserve_way(x);
    if (status == GPC_HOLD) {
        GPC_TRY(gpc_sb_flush(x->unit));
    }
    return status;
}

static int
ask(gpc_step_t *x, uint8_t type)
{
    gpc_msg_t *msg = gpc_new_message(x, type, gpc_home_of(x->unit, x->line));
    msg->mask = x->mask;
    return gpc_send(x, msg);
}

GPC_ACTION(act_read, "send READ; the load becomes pending")
{
    hlrc_l1_mshr(x)->poisoned = 0;
    gpc_count(x, load_misses);
    GPC_TRY(ask(x, HLRC_READ));
    return gpc_keep_pending(x);
}

GPC_ACTION(act_poison, "other words of the answer are not to be kept either")
{
    hlrc_l1_mshr(x)->poisoned = 1;
    return GPC_OK;
}

/* The words of the store buffer are newer than those of an answer: an older write-through that the answer has not seen
 * is acknowledged after it. */
GPC_ACTION(act_overlay, "overlay the store buffer's words on the answer")
{
    const gpc_sb_entry_t *entry = gpc_sb_find(x->unit, x->line);
    if (entry) {
        gpc_merge_words(x->msg->data, entry->words.word, x->mask & (entry->fresh | entry->sent));
    }
    return GPC_OK;
}

GPC_ACTION(act_complete_reads, "complete the pending loads of these words")
{
    gpc_index_t request;
    while ((request = gpc_take_words(x->unit, gpc_step_pending(x), x->mask)) != GPC_NONE) {
        GPC_TRY(gpc_complete(x, request, x->msg->data, false));
    }
    return GPC_OK;
}

GPC_ACTION(act_install, "write the answer's words into the line")
{
    gpc_merge_words(gpc_line_words(x), x->msg->data, x->mask);
    return GPC_OK;
}

GPC_ACTION(act_write, "write the owned words; the store is performed and complete")
{
    gpc_merge_words(gpc_line_words(x), x->msg->data, x->mask);
    GPC_TRY(gpc_note_performed(x, x->message, 0));
    return gpc_complete(x, x->message, NULL, true);
}

GPC_ACTION(act_perform, "perform the synchronisation access on the owned words")
{
    gpc_count_own(x, L1_COUNT_sync_hits);
    return gpc_perform_and_complete(x, x->message, true);
}

GPC_ACTION(act_await_ownership, "the synchronisation access becomes pending")
{
    gpc_count_own(x, L1_COUNT_sync_misses);
    return gpc_keep_pending(x);
}

GPC_ACTION(act_own, "send OWN")
{
    return ask(x, HLRC_OWN);
}

GPC_ACTION(act_drop, "drop every valid word of the core")
{
    gpc_count_own(x, L1_COUNT_drops);
    return gpc_controller_flash(x->unit, 0, GPC_MSG_ACQUIRE, L1_ACQUIRE);
}

GPC_ACTION(act_run_syncs, "perform the pending synchronisation accesses in order")
{
    gpc_index_t request;
    while ((request = gpc_take_words(x->unit, gpc_step_pending(x), x->mask)) != GPC_NONE) {
        GPC_TRY(gpc_perform_and_complete(x, request, false));
    }
    return GPC_OK;
}

GPC_ACTION(act_flush, "flush the store buffer; the recall waits")
{
    gpc_part_t *part = recalled_part(x->unit);

    gpc_count_own(x, L1_COUNT_flushes);
    if (!recalled_words(x->unit, x->line)) {
        hlrc_recalled_entry_t *entry = gpc_part_fields(part, gpc_part_take(part, x->line));
        entry->words = GPC_NO_WORDS;
    }
    *recalled_words(x->unit, x->line) |= x->mask;
    return gpc_sb_flush(x->unit);
}

GPC_ACTION(act_give_back, "send RETURN with the words; no recall of theirs waits")
{
    gpc_msg_t *msg = gpc_new_message(x, HLRC_RETURN, gpc_home_of(x->unit, x->line));
    gpc_mask_t *recalled = recalled_words(x->unit, x->line);

    gpc_count_own(x, L1_COUNT_returns);
    gpc_carry(x, msg, x->mask, gpc_line_words(x));
    if (recalled && (*recalled &= ~x->mask) == GPC_NO_WORDS) {
        gpc_part_give(recalled_part(x->unit), gpc_part_find(recalled_part(x->unit), x->line));
    }
    return gpc_send(x, msg);
}

/* The end of a flush: every recall that waits is answered. */
static int
flushed(gpc_controller_t *l1)
{
    const gpc_part_t *part = recalled_part(l1);
    gpc_index_t entry;
    int status = GPC_OK;

    while (status == GPC_OK && (entry = gpc_part_first(part)) != GPC_NONE) {
        gpc_address_t line = gpc_part_line(part, entry);
        status = gpc_controller_line(l1, 0, GPC_MSG_RELEASE, line, *recalled_words(l1, line), GPC_NONE);
    }
    return status;
}

/* ---- L1: the tables. Held requests wait for an answer, which the L2 always sends, for a recall that waits for a flush,
 * or for the store buffer; write-throughs wait for recalls that need no flush. --------------------------------------- */

/* clang-format off */
static const gpc_cell_t l1_table[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_I] = {
        [L1_LOAD] = GO(L1_RD, act_make_way, act_read),
        [L1_LOAD_COMING] = HOLD_LINE,
        [L1_LOAD_BUFFERED] = GO(L1_I, sb_act_serve),
        [L1_STORE] = GO(L1_I, sb_act_put, sb_act_complete), /* no way is allocated */
        [L1_SYNC] = GO(L1_OP, act_make_way, act_own, act_await_ownership),
        [L1_SYNC_BUFFERED] = HOLD_QUEUE_AFTER(sb_act_drain),
        [L1_ACQUIRE] = GO(L1_I),
        [L1_EVICT] = GO(L1_I),
        [L1_EXTRA] = GO(L1_V, act_overlay, act_install),
        [L1_EXTRA_BARRED] = GO(L1_I),
        [L1_RECALL] = GO(L1_I), /* it has crossed the return */
        [L1_TAKE] = GO(L1_I),
    },
    [L1_V] = {
        [L1_LOAD] = GO(L1_V, act_hit),
        [L1_STORE] = GO(L1_V, sb_act_put, act_write_line, sb_act_complete),
        [L1_SYNC] = GO(L1_OP, act_make_way, act_own, act_await_ownership),
        [L1_SYNC_BUFFERED] = HOLD_QUEUE_AFTER(sb_act_drain),
        [L1_ACQUIRE] = GO(L1_I),
        [L1_EVICT] = GO(L1_I),
        [L1_EXTRA_BARRED] = GO(L1_V),
    },
    [L1_O] = { /* the store buffer has no owned words */
        [L1_LOAD] = GO(L1_O, act_hit),
        [L1_STORE] = GO(L1_O, act_write),
        [L1_SYNC] = GO(L1_O, act_perform),
        [L1_SYNC_RECALLED] = GO(L1_OW, act_make_way, act_await_ownership),
        [L1_ACQUIRE] = GO(L1_O),
        [L1_EVICT] = GO(L1_I, act_give_back),
        [L1_EVICT_DIRTY] = NOT_A_VICTIM,
        [L1_RECALL] = GO(L1_O, act_flush),
        [L1_TAKE] = GO(L1_I, act_give_back),
        [L1_FLUSHED] = GO(L1_I, act_give_back),
    },
    [L1_RD] = {
        [L1_LOAD] = GO(L1_RD, act_merge),
        [L1_LOAD_BUFFERED] = GO(L1_RD, sb_act_serve),
        [L1_STORE] = GO(L1_RD, sb_act_put, sb_act_complete),
        [L1_SYNC] = HOLD_LINE,
        [L1_SYNC_BUFFERED] = HOLD_LINE,
        [L1_ACQUIRE] = GO(L1_RX, act_poison),
        [L1_DATA] = GO(L1_V, act_overlay, act_complete_reads, act_install),
        [L1_EXTRA_BARRED] = GO(L1_RD), /* its own answer is coming */
        [L1_RECALL] = GO(L1_RD),
        [L1_TAKE] = GO(L1_RD),
    },
    [L1_RX] = {
        [L1_LOAD] = HOLD_LINE, /* must not read what the drop has made stale */
        [L1_LOAD_BUFFERED] = GO(L1_RX, sb_act_serve),
        [L1_STORE] = GO(L1_RX, sb_act_put, sb_act_complete),
        [L1_SYNC] = HOLD_LINE,
        [L1_SYNC_BUFFERED] = HOLD_LINE,
        [L1_ACQUIRE] = GO(L1_RX),
        [L1_DATA] = GO(L1_I, act_overlay, act_complete_reads),
        [L1_EXTRA_BARRED] = GO(L1_RX),
        [L1_RECALL] = GO(L1_RX),
        [L1_TAKE] = GO(L1_RX),
    },
    [L1_OP] = {
        [L1_LOAD] = HOLD_LINE,
        [L1_STORE] = HOLD_LINE,
        [L1_SYNC] = GO(L1_OP, act_await_ownership),
        [L1_ACQUIRE] = GO(L1_OP),
        [L1_EXTRA_BARRED] = GO(L1_OP),
        [L1_OWNED] = GO(L1_O, act_drop, act_install, act_run_syncs),
        [L1_RECALL] = GO(L1_OP),
        [L1_TAKE] = GO(L1_OP),
    },
    [L1_OW] = {
        [L1_LOAD] = HOLD_LINE,
        [L1_STORE] = HOLD_LINE,
        [L1_SYNC_RECALLED] = GO(L1_OW, act_await_ownership),
        [L1_ACQUIRE] = GO(L1_OW),
        [L1_TAKE] = GO(L1_OP, act_give_back, act_own),
        [L1_FLUSHED] = GO(L1_OP, act_give_back, act_own),
    },
};
/* clang-format on */

static const gpc_table_t l1 = {GPC_TABLE("L1", OVER_WORDS, L1, l1_table, l1_classify),
                               .causes = {ON(GPC_MSG_ACQUIRE, L1_ACQUIRE), ON(GPC_MSG_KERNEL_BEGIN, L1_ACQUIRE),
                                          ON(GPC_MSG_RELEASE, L1_FLUSHED), ON_SAME(HLRC, L1, OWNED, TAKE)},
                               .data_states = 1u << L1_V | 1u << L1_O | 1u << L1_OW};

/* The L2 acknowledges the words of a write-through apart if other cores own some of them. */
#define SB_EVENTS(X)                                                                                                   \
    GPC_SB_EVENTS(X)                                                                                                   \
    X(SB_ACK_PART, "some words of the write-through performed, others not yet")
GPC_FSM(SB, GPC_SB_STATES, SB_EVENTS)

static gpc_event_id_t
sb_classify(const gpc_step_t *x)
{
    bool part = x->cause == HLRC_WRITE_ACK && gpc_sb_entry(x, GPC_SB_PART)->sent & ~x->msg->mask;
    return part ? SB_ACK_PART : gpc_sb_classify(x);
}

GPC_ACTION(act_part_performed, "the acknowledged words are at the L2")
{
    return gpc_sb_performed(x, gpc_sb_entry(x, GPC_SB_PART), x->msg->mask);
}

static const gpc_patch_t sb_patches[] = {
    {SB_SENT, SB_ACK_PART, GO(SB_SENT, act_part_performed), "the other words wait for their owner"},
    {SB_MORE, SB_ACK_PART, GO(SB_MORE, act_part_performed), NULL},
};
static const gpc_table_t store_buffer = {
    GPC_PATCHED_TABLE("L1.store_buffer", OVER_ENTRIES, SB, "gpu-drf", gpc_sb_write_through, sb_patches, sb_classify)};

/* Of every line of the L1 at most one recall waits. */
static uint32_t
recalled_capacity(const gpc_machine_t *machine, const int64_t *options)
{
    (void) options;
    return machine->l1_bytes / machine->line_bytes;
}

static const gpc_controller_type_t hlrc_l1 = {
    .name = "L1",
    .position = GPC_AT_CORE,
    .tables = {&l1, &store_buffer},
    .arrays = {{.name = "tags", .line = hlrc_l1_line_described, .has_data = true}},
    .parts = {{GPC_SB_PART_INFO, .writes = HLRC_WRITE, .written = HLRC_WRITE_ACK, .flushed = flushed},
              {.name = "recalled", .entry = hlrc_recalled_entry_described, .capacity = recalled_capacity}},
    .mshr = hlrc_l1_mshr_described,
    .unit = gpc_sb_unit_described,
    .warp = gpc_sb_warp_described,
    .counters = L1_COUNT_info,
    .route = gpc_sb_route,
    .begins = 1u << 0,
    .ends = 1u << GPC_SB_TABLE,
};

/* ---- L2: the registry, over words -------------------------------------------------------------------------------- */

#define L2_STATES(X)                                                                                                   \
    X(L2_NP, STABLE, "the line is not present")                                                                        \
    X(L2_V, STABLE, "the bank has the word")                                                                           \
    X(L2_O, STABLE, "owned by an L1")                                                                                  \
    X(L2_MF, TRANSIENT_CACHE, "fetched from memory; requests wait")                                                    \
    X(L2_OR, TRANSIENT_COHERENCE, "recalled; the owner flushes first")                                                 \
    X(L2_OT, TRANSIENT_COHERENCE, "recalled for a write-through; the owner answers at once")

#define L2_EVENTS(X)                                                                                                   \
    X(L2_READ, "read")                                                                                                 \
    X(L2_WRITE, "write-through")                                                                                       \
    X(L2_WRITE_PAST, "write-through to a line for which no way is free without a recall, or no MSHR")                  \
    X(L2_OWN, "request for ownership")                                                                                 \
    X(L2_RETURN, "words from their owner")                                                                             \
    X(L2_FILL, "line from memory")                                                                                     \
    X(L2_EVICT_CLEAN, "way chosen for replacement; no word is owned, memory is up to date")                            \
    X(L2_EVICT_DIRTY, "way chosen for replacement; no word is owned, memory is stale")                                 \
    X(L2_EVICT_OWNED, "way chosen for replacement; some words are owned")

GPC_FSM(L2, L2_STATES, L2_EVENTS)

typedef struct {
    gpc_node_t node[GPC_MAX_LINE_WORDS];
} hlrc_owners_t;

#define L2_LINE(FIELD)                                                                                                 \
    FIELD(PLAIN, gpc_mask_t, dirty)      /* words that memory does not have */                                         \
    FIELD(NODES, hlrc_owners_t, owner)   /* of owned words */
GPC_METADATA(hlrc_l2, line, L2_LINE)
#define L2_MSHR(FIELD) FIELD(PLAIN, uint8_t, fetches) /* memory's answer is outstanding */
GPC_METADATA(hlrc_l2, mshr, L2_MSHR)

#define L2_COUNTERS(X, P)                                                                                              \
    X(P, recalls, "words recalled from their owners, which flush first")                                               \
    X(P, takes, "words recalled from their owners for write-throughs")
GPC_COUNTS(L2_COUNT, L2_COUNTERS)

/* Words of the line in one of the states; *way: of the line. */
static gpc_mask_t
words_in(const gpc_controller_t *unit, gpc_address_t line, uint32_t states, gpc_index_t *way)
{
    uint8_t state[GPC_MAX_LINE_WORDS];
    gpc_mask_t words = GPC_NO_WORDS;

    if (gpc_word_states_at(unit, line, state, way)) {
        for (gpc_mask_t left = gpc_all_words(unit); left; left &= left - 1) {
            words |= gpc_is_among(states, state[__builtin_ctz(left)]) ? left & -left : GPC_NO_WORDS;
        }
    }
    return words;
}

static bool
has_owned(const gpc_controller_t *unit, uint8_t array, gpc_index_t way)
{
    return gpc_tags_words_in(&unit->arrays[array], way, L2_O) != GPC_NO_WORDS;
}

/* Whether a write-through may allocate its line without waiting for other requests, or for a recall: these may wait for
 * a flush, which may wait for the write-through. Words that are owned leave last. */
static bool
may_allocate(const gpc_step_t *x)
{
    const gpc_tags_t *tags = &x->unit->arrays[0];
    gpc_index_t first = (gpc_index_t) (gpc_tags_set_of(tags, x->line) * tags->ways);

    for (gpc_index_t way = first; way < first + tags->ways; way++) {
        if (!gpc_tags_present(tags, way) || (tags->tags[way].mshr == GPC_NONE && !has_owned(x->unit, 0, way))) {
            return gpc_mshr_room(&x->unit->mshrs) > 1 && gpc_can_reserve_way(x);
        }
    }
    return false;
}

static gpc_event_id_t
l2_classify(const gpc_step_t *x)
{
    if (x->cause == HLRC_WRITE) {
        bool past = x->state == L2_NP && x->mshr == GPC_NONE && !may_allocate(x);
        return past ? L2_WRITE_PAST : L2_WRITE;
    }
    if (x->cause != GPC_MSG_EVICT) {
        return GPC_NO_EVENT;
    }
    return has_owned(x->unit, x->array, x->way) ? L2_EVICT_OWNED
           : hlrc_l2_line(x)->dirty             ? L2_EVICT_DIRTY
                                                : L2_EVICT_CLEAN;
}

/* Nothing that is classified differs between words of a state. */
static gpc_mask_t
l2_alike(const gpc_step_t *x)
{
    (void) x;
    return UINT32_MAX;
}

/* Of the transactions that a bank has beyond the machine's MSHRs, a victim's recall takes one; the last one is left to
 * write-throughs, for which flushes wait. */
static uint32_t
l2_mshrs(const gpc_machine_t *machine, const int64_t *options)
{
    (void) options;
    return machine->l2_mshrs + 2;
}

/* ---- L2: actions ------------------------------------------------------------------------------------------------- */

GPC_ACTION(act_leave_room, "hold if this takes the last MSHR")
{
    return x->fresh && gpc_mshr_room(&x->unit->mshrs) == 0 ? GPC_HOLD : GPC_OK;
}

GPC_ACTION(act_allocate, "reserve a way, or hold; hold if this takes the last MSHR")
{
    int status = gpc_act(act_leave_room, x);
    return status ? status : gpc_reserve_way(x);
}

GPC_ACTION(act_fetch_once, "fetch the line, once; the request is pending until memory answers")
{
    int status = GPC_OK;
    gpc_count_miss(x);
    if (!hlrc_l2_mshr(x)->fetches) {
        hlrc_l2_mshr(x)->fetches = 1;
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

GPC_ACTION(act_send_data, "send DATA: the demanded words and the line's others that no core owns")
{
    gpc_index_t way;
    gpc_msg_t *msg = gpc_new_message(x, HLRC_DATA, x->msg->source);
    gpc_carry(x, msg, x->mask | words_in(x->unit, x->line, 1u << L2_V, &way), gpc_line_words(x));
    hlrc_message(msg)->demanded = x->mask;
    gpc_count_hit(x);
    return gpc_send(x, msg);
}

GPC_ACTION(act_take_words, "write the words into the line")
{
    gpc_merge_words(gpc_line_words(x), x->msg->data, x->mask);
    hlrc_l2_line(x)->dirty |= x->mask;
    return GPC_OK;
}

GPC_ACTION(act_write_past, "write the words to memory")
{
    return gpc_write_memory(x, x->mask, x->msg->data);
}

GPC_ACTION(act_acknowledge, "the stores are performed: send WRITE_ACK")
{
    GPC_TRY(gpc_note_performed(x, x->message, 0));
    gpc_msg_t *msg = gpc_new_message(x, HLRC_WRITE_ACK, x->msg->source);
    msg->mask = x->mask;
    return gpc_send(x, msg);
}

static void
set_owner(gpc_step_t *x, gpc_node_t node)
{
    for (gpc_mask_t left = x->mask; left; left &= left - 1) {
        hlrc_l2_line(x)->owner.node[__builtin_ctz(left)] = node;
    }
}

GPC_ACTION(act_name_owner, "the requester is the words' owner")
{
    hlrc_l2_line(x)->dirty &= ~x->mask; /* until they return */
    set_owner(x, x->msg->source);
    return GPC_OK;
}

GPC_ACTION(act_name_none, "the words have no owner")
{
    set_owner(x, 0); /* equal lines are encoded alike */
    return GPC_OK;
}

GPC_ACTION(act_grant, "send OWNED with the words")
{
    gpc_msg_t *msg = gpc_new_message(x, HLRC_OWNED, x->msg->source);
    gpc_carry(x, msg, x->mask, gpc_line_words(x));
    return gpc_send(x, msg);
}

/* One message a word, which the step combines. */
static int
to_owners(gpc_step_t *x, uint8_t type)
{
    int status = GPC_OK;
    for (gpc_mask_t left = x->mask; left && status == GPC_OK; left &= left - 1) {
        gpc_msg_t *msg = gpc_new_message(x, type, hlrc_l2_line(x)->owner.node[__builtin_ctz(left)]);
        msg->mask = left & -left;
        status = gpc_send(x, msg);
    }
    return status;
}

GPC_ACTION(act_recall, "send RECALL to the owners")
{
    gpc_count_own(x, L2_COUNT_recalls);
    return to_owners(x, HLRC_RECALL);
}

GPC_ACTION(act_take, "send TAKE to the owners")
{
    gpc_count_own(x, L2_COUNT_takes);
    return to_owners(x, HLRC_TAKE);
}

GPC_ACTION(act_write_memory, "write the dirty words to memory")
{
    gpc_mask_t dirty = hlrc_l2_line(x)->dirty;
    hlrc_l2_line(x)->dirty = GPC_NO_WORDS;
    return gpc_write_memory(x, dirty, gpc_line_words(x));
}

/* ---- L2: the table. Held and pending requests wait for memory, or for an owner: both always answer. -------------- */

/* clang-format off */
static const gpc_cell_t l2_table[L2_NUM_STATES][L2_NUM_EVENTS] = {
    [L2_NP] = {
        [L2_READ] = GO(L2_MF, act_allocate, act_fetch_once),
        [L2_WRITE] = GO(L2_MF, act_reserve_way, act_fetch_once),
        [L2_WRITE_PAST] = GO(L2_NP, act_write_past, act_acknowledge),
        [L2_OWN] = GO(L2_MF, act_allocate, act_fetch_once),
        [L2_FILL] = GO(L2_V, act_fill_words), /* a word that no request has named */
    },
    [L2_V] = {
        [L2_READ] = GO(L2_V, act_send_data),
        [L2_WRITE] = GO(L2_V, act_take_words, act_acknowledge),
        [L2_OWN] = GO(L2_O, act_name_owner, act_grant),
        [L2_EVICT_CLEAN] = GO(L2_NP),
        [L2_EVICT_DIRTY] = GO(L2_NP, act_write_memory),
        [L2_EVICT_OWNED] = GO(L2_V), /* leaves with the recalled words */
    },
    [L2_O] = {
        [L2_READ] = GO(L2_OR, act_leave_room, act_recall, act_wait),
        [L2_WRITE] = GO(L2_OT, act_take, act_wait),
        [L2_OWN] = GO(L2_OR, act_leave_room, act_recall, act_wait), /* its owner's too: RETURN is in flight, and it ignores the recall */
        [L2_RETURN] = GO(L2_V, act_take_words, act_name_none),
        [L2_EVICT_OWNED] = GO(L2_OR, act_leave_room, act_recall),
    },
    [L2_MF] = {
        [L2_READ] = HOLD_LINE,
        [L2_WRITE] = HOLD_LINE,
        [L2_OWN] = HOLD_LINE,
        [L2_FILL] = GO(L2_V, act_fill_words, act_replay),
    },
    [L2_OR] = {
        [L2_READ] = HOLD_LINE,
        [L2_WRITE] = GO(L2_OT, act_take, act_wait), /* the owner's flush may wait for it */
        [L2_OWN] = HOLD_LINE,
        [L2_RETURN] = GO(L2_V, act_take_words, act_name_none, act_replay),
    },
    [L2_OT] = {
        [L2_READ] = HOLD_LINE,
        [L2_WRITE] = HOLD_LINE,
        [L2_OWN] = HOLD_LINE,
        [L2_RETURN] = GO(L2_V, act_take_words, act_name_none, act_replay),
    },
};
/* clang-format on */

static const gpc_table_t l2 = {GPC_TABLE("L2", OVER_WORDS, L2, l2_table, l2_classify),
                               .causes = {ON_SAME(HLRC, L2, READ, OWN, RETURN), ON(GPC_MSG_FILL, L2_FILL)},
                               .alike = l2_alike, .data_states = 1u << L2_V};

static uint32_t
rank(const gpc_controller_t *unit, uint8_t array, gpc_index_t way)
{
    return has_owned(unit, array, way); /* evicted last */
}

static const gpc_controller_type_t hlrc_l2 = {
    .name = "L2",
    .position = GPC_AT_BANK,
    .tables = {&l2},
    .arrays = {{.name = "tags", .line = hlrc_l2_line_described, .has_data = true}},
    .mshr = hlrc_l2_mshr_described,
    .mshrs = l2_mshrs,
    .counters = L2_COUNT_info,
    .victim_rank = rank,
};

/* ---- the host, and monitors: a word's newest value is at its owner, else in a store buffer, else at the bank ----- */

enum { L1_OWNED_STATES = 1u << L1_O | 1u << L1_OW, L2_OWN_STATES = 1u << L2_V };

static int
host_read(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, uint32_t *words)
{
    gpc_index_t way;
    gpc_mask_t here = mask & words_in(units->bank, line, L2_OWN_STATES, &way);

    if (here) {
        gpc_merge_words(words, gpc_tags_words(&units->bank->arrays[0], way), here);
    }
    for (uint32_t i = 0; i < units->num_cores; i++) {
        const gpc_controller_t *core = units->cores[i];
        const gpc_sb_entry_t *entry = gpc_sb_find(core, line);
        gpc_mask_t owned = mask & words_in(core, line, L1_OWNED_STATES, &way);
        if (owned) {
            gpc_merge_words(words, gpc_tags_words(&core->arrays[0], way), owned);
        }
        if (entry) { /* of an aborted launch */
            gpc_merge_words(words, entry->words.word, mask & (entry->fresh | entry->sent));
        }
    }
    return GPC_OK;
}

/* Valid copies are dropped when the next kernel begins. */
static int
host_write(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, const uint32_t *words)
{
    for (uint32_t i = 0; i < units->num_cores; i++) {
        gpc_controller_t *core = units->cores[i];
        gpc_index_t way;
        gpc_mask_t owned = mask & words_in(core, line, L1_OWNED_STATES, &way);
        if (owned) {
            gpc_merge_words(gpc_tags_words(&core->arrays[0], way), words, owned);
        }
    }
    return gpc_host_write(units, line, mask, words);
}

static const gpc_watched_t watched = {.promise = GPC_PROMISE_ACQUIRED,
                                      .readable = 1u << L1_V | 1u << L1_O,
                                      .copies = 1u << L1_V | L1_OWNED_STATES,
                                      .owners = L1_OWNED_STATES,
                                      .bank_words = L2_OWN_STATES};

static int
monitor(const gpc_units_t *units, gpc_address_t line)
{
    gpc_index_t way;
    gpc_mask_t there = words_in(units->bank, line, L2_OWN_STATES, &way), others = GPC_NO_WORDS;

    for (uint32_t i = 0; i < units->num_cores; i++) {
        gpc_controller_t *core = units->cores[i];
        const gpc_mask_t *recalled = recalled_words(core, line);
        gpc_mask_t owned = words_in(core, line, L1_OWNED_STATES, &way);
        if (owned & others) {
            return gpc_violated(core, line, "a synchronisation variable has at most one owner",
                                "L1 %u and another one own words 0x%x", i, owned & others);
        }
        if (owned & there) {
            return gpc_violated(core, line, "a word is at the L2 or at its owner", "L1 %u owns words 0x%x of the bank",
                                i, owned & there);
        }
        if (owned & gpc_sb_held(core, line)) {
            return gpc_violated(core, line, "no owned word is in the store buffer", "L1 %u owns words 0x%x in it", i,
                                owned & gpc_sb_held(core, line));
        }
        if (recalled && (*recalled & ~owned || !gpc_sb_flushes(core))) {
            return gpc_violated(core, line, "a recall waits at the owner, for a flush",
                                "of the recalled words 0x%x L1 %u owns 0x%x; it flushes: %d", *recalled, i, owned,
                                gpc_sb_flushes(core));
        }
        others |= owned;
    }
    return GPC_OK;
}

/* Cells that the random tester, whose programs have no races, does not enter; the explorer does. */
#define RACES(table_, states_, events_)                                                                                \
    {                                                                                                                  \
        .table = (table_), .states = (states_), .events = (events_),                                                   \
        .reason = "two warps race for the word, and programs of the tester have no races"                              \
    }

static const gpc_protocol_t hlrc = {
    .id = "hlrc",
    .name = "hLRC",
    .paper = "Alsop et al., MICRO 2016",
    .family = "scoped synchronisation",
    .text = "lazy release consistency: L1s own synchronisation variables, whose transfer flushes and drops",
    .model = {[GPC_RULE_DRF] = "DRF-SC"},
    .standard_rule = GPC_RULE_DRF,
    .controllers = {&hlrc_l1, &hlrc_l2},
    GPC_MESSAGES_OF(HLRC),
    .message = hlrc_message_described,
    /* A grant does not pass an older recall, nor an acknowledgement an older answer. Requests wait for returns, returns
     * for write-throughs, write-throughs for words that their owner returns at once. */
    .networks = {{.name = "request", .requests = true},
                 {.name = "write", .requests = true},
                 {.name = "response", .ordered = true},
                 {.name = "return"}},
    .order = {.same_word = true, .keeps_own = true},
    .options = {GPC_SB_OPTIONS},
    .check = gpc_sb_check,
    .declared = {.weak_outcomes = "SB MP LB",
                 .variations = "sb_drain=eager sb_full=flush,sb_entries=2",
                 .uncovered = {RACES("L1", "RD RX", "LOAD_BUFFERED STORE SYNC_BUFFERED TAKE"),
                               RACES("L1", "OP OW", "STORE TAKE"),
                               RACES("L2", "MF", "WRITE"),
                               RACES("L2", "OT", "READ OWN"),
                               {.table = "L2",
                                .states = "OR",
                                .events = "WRITE",
                                .reason = "a race, or the L2 evicts the line of an owned word while another core's "
                                          "write-through to the word is in flight, which is rare"}}},
    .host_read = host_read,
    .host_write = host_write,
    .watched = &watched,
    .monitor = monitor,
};

GPC_EXPORT_PROTOCOLS(&hlrc);

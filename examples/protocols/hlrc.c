/* hlrc.c: hLRC, lazy release consistency whose L1s own synchronisation variables, and nothing else.
 *
 * Paper    Alsop, Orr, Beckmann and Wood, Lazy Release Consistency for GPUs, MICRO 2016: abstract and first page, and
 *          the description of hLRC in LRM-GPU (HPCA 2026). Neither has a table.
 * Rules    Weak accesses are those of gpu-drf: an L1 keeps valid lines, and a store buffer that coalesces and writes
 *          through. A synchronisation access needs its words owned by the L1, where it is performed. If they are, it
 *          has no other effect: nothing is flushed or dropped. If not, the L2, which is the registry, recalls them from
 *          their owner, which first flushes its store buffer, and then returns them; the requester drops its valid
 *          words when it becomes the owner. Other requests for the words wait meanwhile. An evicted variable is flushed
 *          for, and given back. Relaxed accesses are performed at the L2. Scopes have no meaning.
 * Inferred all states but Invalid, Valid, Owned; ownership by words, as in DeNovo; the words return by way of the L2.
 *          The owner returns a word once the stores that were in its buffer when the recall came are performed; until
 *          then its own synchronisation accesses to the word wait, and then ask for it again. A weak load, or a relaxed
 *          access, of a word that another core owns recalls it like synchronisation; a relaxed access of its owner is
 *          performed there. A weak store that is written through takes it from its owner at once, without a flush: it
 *          does not race, so the owner has synchronised, and flushed, since its last access; and flushes that wait for
 *          each other's write-throughs would be a deadlock. Of an owned line, the L1 evicts only words for which
 *          nothing is left to be flushed; a request that finds no other victim drains the buffer. As relaxed accesses
 *          move no variable, a fence, and the one that an sc access implies, flushes the buffer and drops valid words.
 *          A release passes requests that wait for its word: a core that tests a lock with relaxed loads, and then asks
 *          for it, would come before the release each time.
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
    X(P, RELAXED_LOAD, ATO, 0, 16, 0, false, "relaxed load, performed at the L2")                                      \
    X(P, RELAXED_STORE, ATO, 0, 16, 4, false, "relaxed store, performed at the L2")                                    \
    X(P, RELAXED_RMW, ATO, 0, 16, 0, false, "relaxed read-modify-writes with operands, performed at the L2")           \
    X(P, DATA,      LD,  2, 16, 4, false, "demanded words, and others of the line")                                    \
    X(P, RELAXED_DATA, ATO, 2, 16, 4, false, "words of a relaxed load")                                                \
    X(P, RELAXED_DONE, ATO, 2, 16, 0, false, "the relaxed store or read-modify-writes are performed; old values")      \
    X(P, WRITE_ACK, WB,  2, 16, 0, false, "the masked words of a write-through are performed")                         \
    X(P, OWNED,     ATO, 2, 16, 4, false, "ownership, with the words' values")                                         \
    X(P, RECALL,    ATO, 2, 16, 0, false, "the owner flushes its store buffer and returns the words")                  \
    X(P, TAKE,      WB,  2, 16, 0, false, "the owner returns the words at once, for a write-through")                  \
    X(P, RETURN,    ATO, 3, 16, 4, false, "owned words, which their core owns no more")
/* clang-format on */
GPC_MESSAGES(HLRC, HLRC_MESSAGES)

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
    X(L1_SYNC, "synchronisation access; relaxed access to a word that is owned, or will be")                           \
    X(L1_SYNC_BUFFERED, "the same, the word in the store buffer")                                                      \
    X(L1_SYNC_RECALLED, "the same, to an owned word whose recall waits for the flush")                                 \
    X(L1_RELAXED, "relaxed access to another word")                                                                    \
    X(L1_RELAXED_DONE, "relaxed access performed at the L2")                                                           \
    X(L1_ACQUIRE, "ownership of some word is granted, a fence ends, or a kernel begins")                               \
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
#define L1_LINE(FIELD) FIELD(PLAIN, gpc_mask_t, recalled) /* owned words whose recall waits for the flush */
GPC_METADATA(hlrc_l1, line, L1_LINE)

#define L1_COUNTERS(X, P)                                                                                              \
    X(P, sync_hits, "synchronisation and relaxed accesses to owned words")                                             \
    X(P, sync_misses, "synchronisation accesses that wait for ownership")                                              \
    X(P, relaxed, "relaxed accesses sent to the L2")                                                                   \
    X(P, drops, "drops of all valid words: at a grant of ownership, or a fence")                                       \
    X(P, flushes, "recalls that waited for a flush")                                                                   \
    X(P, returns, "owned words given back")
GPC_COUNTS(L1_COUNT, L1_COUNTERS)

/* ---- L1: classification of x->word ------------------------------------------------------------------------------- */

/* Whether a read of other words of the line is outstanding. */
static bool
is_coming(const gpc_step_t *x)
{
    const gpc_mshr_table_t *mshrs = &x->unit->mshrs;
    return x->mshr != GPC_NONE &&
           (gpc_mshr_words_in(mshrs, x->mshr, L1_RD + 1) | gpc_mshr_words_in(mshrs, x->mshr, L1_RX + 1));
}

/* What the core owns, or has asked to own, it accesses there, whatever the order. */
static gpc_event_id_t
classify_sync(const gpc_step_t *x)
{
    bool owned = x->state == L1_O || x->state == L1_OP || x->state == L1_OW;

    if (x->way != GPC_NONE && gpc_has_word(x, hlrc_l1_line(x)->recalled)) {
        return L1_SYNC_RECALLED;
    }
    return owned || x->msg->order > GPC_ORDER_RELAXED ? L1_SYNC : L1_RELAXED;
}

static gpc_event_id_t
classify_request(const gpc_step_t *x)
{
    bool buffered = gpc_has_word(x, gpc_sb_held(x->unit, x->line));

    if (x->cause == GPC_MSG_ATOMIC || x->msg->order != GPC_ORDER_WEAK) {
        return buffered ? L1_SYNC_BUFFERED : classify_sync(x);
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
            if (gpc_has_word(x, (gpc_mask_t) gpc_demanded_message(x->msg)->demanded)) {
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
    msg->requester = x->unit->node; /* the step may be that of another core's TAKE */
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

GPC_ACTION(act_overlay, "overlay the store buffer's words on the answer")
{
    gpc_sb_overlay(x->unit, x->line, x->mask, x->msg->data);
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

GPC_ACTION(act_send_relaxed, "send RELAXED_LOAD, _STORE or _RMW; the access is kept until the answer")
{
    uint8_t type = x->cause == GPC_MSG_LOAD    ? HLRC_RELAXED_LOAD
                   : x->cause == GPC_MSG_STORE ? HLRC_RELAXED_STORE
                                               : HLRC_RELAXED_RMW;
    gpc_count_own(x, L1_COUNT_relaxed);
    x->msg->request = x->message; /* other words of the access may be in another state, and complete before */
    x->kept = true;
    return gpc_send(x, gpc_new_request(x, type));
}

GPC_ACTION(act_complete_relaxed, "complete the words of the access that the answer names")
{
    gpc_list_t access;
    gpc_list_clear(&access);
    gpc_list_push(&access, x->unit->messages, x->msg->request);
    gpc_index_t part = gpc_take_words(x->unit, &access, x->mask);
    if (part == GPC_NONE) {
        return x->unit->failure->code;
    }
    gpc_msg_at(x->unit->messages, part)->lanes = x->msg->lanes;
    x->msg->lanes = GPC_NONE;
    return gpc_complete(x, part, x->msg->data, false);
}

GPC_ACTION(act_own, "send OWN")
{
    return ask(x, HLRC_OWN);
}

/* The acquire part of a fence, too. */
static int
drop(gpc_controller_t *l1, uint16_t warp, uint8_t scope)
{
    (void) warp, (void) scope;
    l1->own_counters[L1_COUNT_drops]++;
    return gpc_controller_flash(l1, 0, GPC_MSG_ACQUIRE, L1_ACQUIRE);
}

GPC_ACTION(act_drop, "drop every valid word of the core")
{
    return drop(x->unit, x->warp, x->scope);
}

GPC_ACTION(act_flush, "flush the store buffer; the recall waits")
{
    gpc_count_own(x, L1_COUNT_flushes);
    hlrc_l1_line(x)->recalled |= x->mask;
    return gpc_sb_flush(x->unit);
}

GPC_ACTION(act_give_back, "send RETURN with the words; no recall of theirs waits")
{
    gpc_count_own(x, L1_COUNT_returns);
    hlrc_l1_line(x)->recalled &= ~x->mask;
    return gpc_send_words(x, HLRC_RETURN, gpc_home_of(x->unit, x->line));
}

/* The end of a flush: every recall that waits is answered. */
static int
flushed(gpc_controller_t *l1)
{
    const gpc_tags_t *tags = &l1->arrays[0];
    int status = GPC_OK;

    for (gpc_index_t way = 0; way < tags->sets * tags->ways && status == GPC_OK; way++) {
        gpc_mask_t recalled = gpc_tags_present(tags, way) ? hlrc_l1_line_at(l1, 0, way)->recalled : GPC_NO_WORDS;
        if (recalled) {
            status = gpc_controller_line(l1, 0, GPC_MSG_RELEASE, gpc_tags_line(tags, way), recalled, GPC_NONE);
        }
    }
    return status;
}

/* ---- L1: the tables. Held requests wait for an answer, which the L2 always sends, for a recall that waits for a
 * flush, or for the store buffer; write-throughs wait for recalls that need no flush.
 * --------------------------------------- */

/* clang-format off */
static const gpc_cell_t l1_table[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_I] = {
        [L1_LOAD] = GO(L1_RD, act_make_way, act_read),
        [L1_LOAD_COMING] = HOLD_LINE,
        [L1_LOAD_BUFFERED] = GO(L1_I, sb_act_serve),
        [L1_STORE] = GO(L1_I, sb_act_put, sb_act_complete), /* no way is allocated */
        [L1_SYNC] = GO(L1_OP, act_make_way, act_own, act_await_ownership),
        [L1_SYNC_BUFFERED] = HOLD_QUEUE_AFTER(sb_act_drain),
        [L1_RELAXED] = GO(L1_I, act_send_relaxed),
        [L1_RELAXED_DONE] = GO(L1_I, act_complete_relaxed),
        [L1_ACQUIRE] = GO(L1_I),
        [L1_EVICT] = GO(L1_I),
        [L1_EXTRA] = GO(L1_V, act_overlay, words_act_install),
        [L1_EXTRA_BARRED] = GO(L1_I),
        [L1_RECALL] = GO(L1_I), /* it has crossed the return */
        [L1_TAKE] = GO(L1_I),
    },
    [L1_V] = {
        [L1_LOAD] = GO(L1_V, act_hit),
        [L1_STORE] = GO(L1_V, sb_act_put, act_write_line, sb_act_complete),
        [L1_SYNC] = GO(L1_OP, act_make_way, act_own, act_await_ownership),
        [L1_SYNC_BUFFERED] = HOLD_QUEUE_AFTER(sb_act_drain),
        [L1_RELAXED] = GO(L1_V, act_send_relaxed),
        [L1_RELAXED_DONE] = GO(L1_I, act_complete_relaxed), /* the L2's word is newer */
        [L1_ACQUIRE] = GO(L1_I),
        [L1_EVICT] = GO(L1_I),
        [L1_EXTRA_BARRED] = GO(L1_V),
    },
    [L1_O] = { /* the store buffer has no owned words */
        [L1_LOAD] = GO(L1_O, act_hit),
        [L1_STORE] = GO(L1_O, words_act_write),
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
        [L1_RELAXED] = GO(L1_RD, act_send_relaxed),
        [L1_RELAXED_DONE] = GO(L1_RD, act_complete_relaxed),
        [L1_ACQUIRE] = GO(L1_RX, act_poison),
        [L1_DATA] = GO(L1_V, act_overlay, act_complete_reads, words_act_install),
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
        [L1_RELAXED] = GO(L1_RX, act_send_relaxed),
        [L1_RELAXED_DONE] = GO(L1_RX, act_complete_relaxed),
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
        [L1_RELAXED_DONE] = GO(L1_OP, act_complete_relaxed),
        [L1_ACQUIRE] = GO(L1_OP),
        [L1_EXTRA_BARRED] = GO(L1_OP),
        [L1_OWNED] = GO(L1_O, act_drop, words_act_install, words_act_perform_pending),
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
                                          ON(GPC_MSG_RELEASE, L1_FLUSHED), ON_SAME(HLRC, L1, OWNED, TAKE, RELAXED_DONE),
                                          ON(HLRC_RELAXED_DATA, L1_RELAXED_DONE)},
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

static const gpc_controller_type_t hlrc_l1 = {
    .name = "L1",
    .position = GPC_AT_CORE,
    .tables = {&l1, &store_buffer},
    .arrays = {{.name = "tags", .line = hlrc_l1_line_described, .has_data = true}},
    .parts = {{GPC_SB_PART_INFO, .writes = HLRC_WRITE, .written = HLRC_WRITE_ACK, .flushed = flushed}},
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
    X(L2_OWN_RELEASE, "the same, for a release that passes what waits for the word")                                  \
    X(L2_RELAXED, "relaxed access")                                                                                    \
    X(L2_RETURN, "words from their owner")                                                                             \
    X(L2_FILL, "line from memory")                                                                                     \
    X(L2_EVICT_CLEAN, "way chosen for replacement; no word is owned, memory is up to date")                            \
    X(L2_EVICT_DIRTY, "way chosen for replacement; no word is owned, memory is stale")                                 \
    X(L2_EVICT_OWNED, "way chosen for replacement; some words are owned")

GPC_FSM(L2, L2_STATES, L2_EVENTS)

GPC_REGISTRY_STATES(L2_NP, L2_V, L2_O);

#define L2_COUNTERS(X, P)                                                                                              \
    X(P, recalls, "words recalled from their owners, which flush first")                                               \
    X(P, takes, "words recalled from their owners for write-throughs")
GPC_COUNTS(L2_COUNT, L2_COUNTERS)

/* Whether a write-through may allocate its line without waiting for other requests, or for a recall: these may wait for
 * a flush, which may wait for the write-through. Words that are owned leave last. */
static bool
may_allocate(const gpc_step_t *x)
{
    const gpc_tags_t *tags = &x->unit->arrays[0];
    gpc_index_t first = (gpc_index_t) (gpc_tags_set_of(tags, x->line) * tags->ways);

    for (gpc_index_t way = first; way < first + tags->ways; way++) {
        if (!gpc_tags_present(tags, way) ||
            (tags->tags[way].mshr == GPC_NONE && !gpc_has_owned_words(x->unit, 0, way))) {
            return gpc_mshr_room(&x->unit->mshrs) > 1 && gpc_can_reserve_way(x);
        }
    }
    return false;
}

/* A release passes the requests that wait for the word, but for the one that recalls it, and not if that is a release:
 * requests and releases alternate. */
static bool
may_pass(const gpc_step_t *x)
{
    uint32_t before = 0;
    GPC_FOR_PENDING(x, pending)
    {
        before += (pending->mask >> x->word & 1) ? 1 + (pending->order == GPC_ORDER_RELEASE) : 0;
    }
    return before < 2;
}

static gpc_event_id_t
l2_classify(const gpc_step_t *x)
{
    if (x->cause == HLRC_OWN) {
        bool passes = x->state == L2_OR && x->msg->order == GPC_ORDER_RELEASE && may_pass(x);
        return passes ? L2_OWN_RELEASE : L2_OWN;
    }
    if (x->cause == HLRC_WRITE) {
        bool past = x->state == L2_NP && x->mshr == GPC_NONE && !may_allocate(x);
        return past ? L2_WRITE_PAST : L2_WRITE;
    }
    return x->cause == GPC_MSG_EVICT ? gpc_event_of_eviction(x, L2_EVICT_CLEAN) : GPC_NO_EVENT;
}

/* Of words of a state only requests that wait for them differ. */
static gpc_mask_t
l2_alike(const gpc_step_t *x)
{
    return x->state == L2_OR && x->cause == HLRC_OWN ? x->mask : UINT32_MAX;
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

GPC_ACTION(act_send_data, "send DATA: the demanded words and the line's others that no core owns")
{
    return gpc_send_demanded(x, HLRC_DATA);
}

GPC_ACTION(act_write_past, "write the words to memory")
{
    return gpc_write_memory(x, x->mask, x->msg->data);
}

GPC_ACTION(act_acknowledge, "the stores are performed: send WRITE_ACK")
{
    GPC_TRY(gpc_note_performed(x, x->message, 0));
    return gpc_send_mask(x, HLRC_WRITE_ACK, x->msg->source);
}

GPC_ACTION(act_perform_relaxed, "perform the relaxed access, send RELAXED_DATA or RELAXED_DONE")
{
    bool loads = x->cause == HLRC_RELAXED_LOAD;

    if (x->cause == HLRC_RELAXED_RMW) {
        gpc_lane_list_t *lanes = gpc_lane_list_at(x->unit->lane_lists, x->msg->lanes);
        gpc_registry_line(x)->dirty |= gpc_rmw_perform(lanes, gpc_line_words(x));
    } else if (!loads) {
        (void) gpc_act(registry_act_take, x);
    }
    GPC_TRY(loads ? GPC_OK : gpc_note_performed(x, x->message, 0));
    gpc_msg_t *msg = gpc_new_answer(x, x->message, loads ? HLRC_RELAXED_DATA : HLRC_RELAXED_DONE);
    msg->mask = x->mask;
    return gpc_send(x, msg);
}

GPC_ACTION(act_grant, "send OWNED with the words")
{
    return gpc_send_words(x, HLRC_OWNED, x->msg->source);
}

GPC_ACTION(act_recall, "send RECALL to the owners")
{
    gpc_count_own(x, L2_COUNT_recalls);
    return gpc_send_to_owners(x, HLRC_RECALL);
}

GPC_ACTION(act_take, "send TAKE to the owners")
{
    gpc_count_own(x, L2_COUNT_takes);
    return gpc_send_to_owners(x, HLRC_TAKE);
}

/* ---- L2: the table. Held and pending requests wait for memory, or for an owner: both always answer. -------------- */

/* clang-format off */
static const gpc_cell_t l2_table[L2_NUM_STATES][L2_NUM_EVENTS] = {
    [L2_NP] = {
        [L2_READ] = GO(L2_MF, act_allocate, registry_act_fetch),
        [L2_WRITE] = GO(L2_MF, act_reserve_way, registry_act_fetch),
        [L2_WRITE_PAST] = GO(L2_NP, act_write_past, act_acknowledge),
        [L2_OWN] = GO(L2_MF, act_allocate, registry_act_fetch),
        [L2_RELAXED] = GO(L2_MF, act_allocate, registry_act_fetch),
        [L2_FILL] = GO(L2_V, words_act_install), /* a word that no request has named */
    },
    [L2_V] = {
        [L2_READ] = GO(L2_V, act_send_data),
        [L2_WRITE] = GO(L2_V, registry_act_take, act_acknowledge),
        [L2_OWN] = GO(L2_O, registry_act_name_owner, act_grant),
        [L2_RELAXED] = GO(L2_V, act_perform_relaxed),
        [L2_EVICT_CLEAN] = GO(L2_NP),
        [L2_EVICT_DIRTY] = GO(L2_NP, registry_act_write_memory),
        [L2_EVICT_OWNED] = GO(L2_V), /* leaves with the recalled words */
    },
    [L2_O] = {
        [L2_READ] = GO(L2_OR, act_leave_room, act_recall, act_wait),
        [L2_WRITE] = GO(L2_OT, act_take, act_wait),
        /* its owner's too: RETURN is in flight, and it ignores the recall */
        [L2_OWN] = GO(L2_OR, act_leave_room, act_recall, act_wait),
        [L2_RELAXED] = GO(L2_OR, act_leave_room, act_recall, act_wait),
        [L2_RETURN] = GO(L2_V, registry_act_take, registry_act_name_none),
        [L2_EVICT_OWNED] = GO(L2_OR, act_leave_room, act_recall),
    },
    [L2_MF] = {
        [L2_READ] = HOLD_LINE,
        [L2_WRITE] = HOLD_LINE,
        [L2_OWN] = HOLD_LINE,
        [L2_RELAXED] = HOLD_LINE,
        [L2_FILL] = GO(L2_V, words_act_install, act_replay),
    },
    [L2_OR] = {
        [L2_READ] = HOLD_LINE,
        [L2_WRITE] = GO(L2_OT, act_take, act_wait), /* the owner's flush may wait for it */
        [L2_OWN] = HOLD_LINE,
        [L2_OWN_RELEASE] = GO(L2_OR, act_wait),
        [L2_RELAXED] = HOLD_LINE,
        [L2_RETURN] = GO(L2_V, registry_act_take, registry_act_name_none, act_replay),
    },
    [L2_OT] = {
        [L2_READ] = HOLD_LINE,
        [L2_WRITE] = HOLD_LINE,
        [L2_OWN] = HOLD_LINE,
        [L2_RELAXED] = HOLD_LINE,
        [L2_RETURN] = GO(L2_V, registry_act_take, registry_act_name_none, act_replay),
    },
};
/* clang-format on */

static const gpc_table_t l2 = {GPC_TABLE("L2", OVER_WORDS, L2, l2_table, l2_classify),
                               .causes = {ON_SAME(HLRC, L2, READ, RETURN), ON(HLRC_RELAXED_LOAD, L2_RELAXED),
                                          ON(HLRC_RELAXED_STORE, L2_RELAXED), ON(HLRC_RELAXED_RMW, L2_RELAXED),
                                          ON(GPC_MSG_FILL, L2_FILL)},
                               .alike = l2_alike, .data_states = 1u << L2_V};

static const gpc_controller_type_t hlrc_l2 = {GPC_REGISTRY_TYPE(l2), .mshrs = l2_mshrs, .counters = L2_COUNT_info};

/* ---- what monitors check ----------------------------------------------------------------------------------------- */

enum { L1_OWNED_STATES = 1u << L1_O | 1u << L1_OW, L2_OWN_STATES = 1u << L2_V };

static const gpc_watched_t watched = {.promise = GPC_PROMISE_ACQUIRED,
                                      .readable = 1u << L1_V | 1u << L1_O,
                                      .copies = 1u << L1_V | L1_OWNED_STATES,
                                      .owners = L1_OWNED_STATES,
                                      .bank_words = L2_OWN_STATES};

/* Whether the bank names the core as the owner of these words. */
static bool
is_named(const gpc_controller_t *bank, gpc_address_t line, const gpc_controller_t *core, gpc_mask_t words)
{
    gpc_index_t way = words ? gpc_tags_find(&bank->arrays[0], line) : GPC_NONE;
    bool named = way != GPC_NONE || !words;

    for (; words && named; words &= words - 1) {
        named = gpc_registry_line_at(bank, 0, way)->owner.node[__builtin_ctz(words)] == core->node;
    }
    return named;
}

static int
monitor(const gpc_units_t *units, gpc_address_t line)
{
    gpc_index_t way;
    int status = gpc_monitor_words(units, line);

    for (uint32_t i = 0; i < units->num_cores && status == GPC_OK; i++) {
        gpc_controller_t *core = units->cores[i];
        gpc_mask_t owned = gpc_words_at(core, line, L1_OWNED_STATES, &way);
        gpc_mask_t recalled = way == GPC_NONE ? GPC_NO_WORDS : hlrc_l1_line_at(core, 0, way)->recalled;
        if (!is_named(units->bank, line, core, owned)) {
            return gpc_violated(core, line, "the registry names the owner", "L1 %u owns words 0x%x", i, owned);
        }
        if (recalled && (recalled & ~owned || !gpc_sb_flushes(core))) {
            status = gpc_violated(core, line, "a recall waits at the owner, for a flush",
                                  "of the recalled words 0x%x L1 %u owns 0x%x; it flushes: %d", recalled, i, owned,
                                  gpc_sb_flushes(core));
        }
    }
    return status;
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
    .message = gpc_demanded_message_described,
    /* A grant does not pass an older recall, nor an acknowledgement an older answer. Requests wait for returns, returns
     * for write-throughs, write-throughs for words that their owner returns at once. */
    .networks = {{.name = "request", .requests = true},
                 {.name = "write", .requests = true},
                 {.name = "response", .ordered = true},
                 {.name = "return"}},
    .order = {.release = gpc_sb_release,
              .exit = gpc_sb_exit,
              .acquire = drop,
              .fences_only = true,
              .same_word = true,
              .keeps_own = true},
    .options = {GPC_SB_OPTIONS},
    .check = gpc_sb_check,
    .declared = {.weak_outcomes = "SB MP LB",
                 .variations = "sb_drain=eager sb_full=flush,sb_entries=2",
                 .uncovered = {RACES("L1", "RD RX", "LOAD_BUFFERED STORE SYNC_BUFFERED TAKE"),
                               RACES("L1", "OP OW", "STORE TAKE"), RACES("L2", "MF", "WRITE"),
                               RACES("L2", "OT", "READ OWN RELAXED")}},
    .host_read = gpc_host_read_words,
    .host_write = gpc_host_write_words,
    .watched = &watched,
    .monitor = monitor,
};

GPC_EXPORT_PROTOCOLS(&hlrc);

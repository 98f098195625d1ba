/* denovo.h: shared by denovo-drf, denovo-ro and denovo-hrf: messages, the L1's states, events and actions, the
 * registry.
 *
 * Paper    Sinclair et al., MICRO 2015, sections 3 ("Hybrid Protocols") and 4: DeNovoSync0 without regions: Invalid,
 *          Valid, Registered per word; the L2's data banks are the registry.
 * Inferred synchronisation of 64 bits (below). The paper has no transient states in the caches; those below are what
 *          MSHRs, store buffer and write-back buffer hold. Networks are unordered.
 * Sizes    inferred: an 8-byte header, 8 bytes for a word mask, 4 bytes a word.
 */
#ifndef GPC_PROTOCOLS_DENOVO_DENOVO_H
#define GPC_PROTOCOLS_DENOVO_DENOVO_H

#include "controller/toolkit.h"

#define DENOVO_MESSAGES(X, P)                                                                                          \
    X(P, READ, REQ, 0, 16, 0, false, "read of the masked words")                                                       \
    X(P, REGISTER, REG, 0, 16, 0, false, "ownership of words for data writes")                                         \
    X(P, REGISTER_SYNC, ATO, 0, 16, 0, false, "ownership of words for synchronisation")                                \
    X(P, FORWARD_READ, REQ, 1, 16, 0, false, "read, to the words' owner")                                              \
    X(P, FORWARD_TAKE, REG, 1, 16, 0, false, "registration, to the words' old owner")                                  \
    X(P, FORWARD_TAKE_SYNC, ATO, 1, 16, 0, false, "registration for synchronisation, to the old owner")                \
    X(P, RECALL, WB, 1, 16, 0, false, "recall of words whose line the L2 evicts")                                      \
    X(P, DATA, LD, 2, 16, 4, false, "demanded words, and others of the line")                                          \
    X(P, REGISTERED, REG, 2, 16, 0, false, "ownership, from the L2 or the old owner")                                  \
    X(P, REGISTERED_SYNC, ATO, 2, 16, 4, false, "ownership, with the words' values")                                   \
    X(P, WRITE_BACK_OK, WB, 2, 16, 0, false, "write-back taken")                                                       \
    X(P, WRITE_BACK_STALE, WB, 2, 16, 0, false, "write-back not taken: the words have another owner")                  \
    X(P, WRITE_BACK, WB, 3, 16, 4, false, "registered words of an evicted line")                                       \
    X(P, RECALLED, WB, 3, 16, 4, false, "recalled words")                                                              \
    X(P, RECALLED_NONE, WB, 3, 16, 0, false, "recalled words that a write-back carries already")
GPC_MESSAGES(DENOVO, DENOVO_MESSAGES)

#define DENOVO_NETWORKS                                                                                                \
    {                                                                                                                  \
        {.name = "request", .requests = true}, {.name = "forward"}, {.name = "response"}, {.name = "write-back"},      \
    }

/* ---- L1: a table over words, one over store-buffer entries ------------------------------------------------------- */

#define DENOVO_L1_STATES(X)                                                                                            \
    X(L1_I, STABLE, "invalid")                                                                                         \
    X(L1_V, STABLE, "valid until the next acquire")                                                                    \
    X(L1_R, STABLE, "registered: the only up-to-date copy")                                                            \
    X(L1_RDP, TRANSIENT_CACHE, "read outstanding")                                                                     \
    X(L1_RDX, TRANSIENT_COHERENCE, "read outstanding, and an acquire came later: the word will not be kept")           \
    X(L1_WRP, TRANSIENT_COHERENCE, "registration for data outstanding; the word is in the store buffer")               \
    X(L1_SYP, TRANSIENT_COHERENCE, "registration for synchronisation outstanding")                                     \
    X(L1_WBP, TRANSIENT_COHERENCE, "evicted and written back, not answered")                                           \
    X(L1_WBS, TRANSIENT_COHERENCE, "evicted, the write-back was stale: a forward is still to come")                    \
    X(L1_WBF, TRANSIENT_COHERENCE, "evicted, the forward is served: the answer is still to come")

#define DENOVO_L1_EVENTS(X)                                                                                            \
    X(L1_LOAD, "load of a warp")                                                                                       \
    X(L1_LOAD_COMING, "load of a word that the answer to an outstanding read may bring")                               \
    X(L1_LOAD_BUFFERED, "load of a word in the store buffer")                                                          \
    X(L1_STORE, "store of a warp")                                                                                     \
    X(L1_SYNC, "synchronisation access (any order but weak; read-modify-writes)")                                      \
    X(L1_SYNC_BUFFERED, "the same, the word in the store buffer; or of 64 bits, the other word not here or asked for")   \
    X(L1_DRAIN, "registration of the store buffer's entry")                                                            \
    X(L1_ACQUIRE, "acquire part of an access or fence; begin of a kernel")                                             \
    X(L1_EVICT, "way chosen for replacement")                                                                          \
    X(L1_DATA, "answer that this word waits for")                                                                      \
    X(L1_DATA_SKIPPED, "the same, and the word was stored to since")                                                   \
    X(L1_EXTRA, "word of an answer for other words")                                                                   \
    X(L1_EXTRA_BARRED, "the same, not to be kept: an acquire or own store came after the read")                        \
    X(L1_REGISTERED, "registration granted")                                                                           \
    X(L1_REGISTERED_TAKEN, "the same, and a forward that takes the word waits here")                                   \
    X(L1_FORWARD_READ, "another core's read")                                                                          \
    X(L1_FORWARD_TAKE, "another core's registration")                                                                  \
    X(L1_RECALL, "the L2 evicts the line")                                                                             \
    X(L1_WRITTEN_BACK, "write-back taken")                                                                             \
    X(L1_STALE, "write-back not taken: the word has another owner")

#define DENOVO_L1_MSHR(FIELD)                                                                                          \
    FIELD(PLAIN, gpc_mask_t, skip)      /* words that an answer must not overwrite */                                  \
    FIELD(PLAIN, gpc_mask_t, read_only) /* words that a load of a read-only buffer wants (denovo-ro) */                \
    FIELD(PLAIN, gpc_mask_t, leaving)   /* words in the write-back buffer */                                           \
    FIELD(PLAIN, uint8_t, poisoned)     /* an acquire came while a read was outstanding */                             \
    FIELD(REQUEST, gpc_list_t, reads)   /* forwarded reads that wait for a registration */                             \
    FIELD(REQUEST, gpc_list_t, taking)  /* forwarded registrations and recalls that wait, at most one a word */        \
    FIELD(REQUEST, gpc_list_t, granted) /* grants of some words of an access of 64 bits, which wait for the others */  \
    FIELD(DATA, gpc_sb_words_t, words)      /* the write-back buffer's */
GPC_METADATA(denovo_l1, mshr, DENOVO_L1_MSHR)

#define DENOVO_L1_UNIT(FIELD)                                                                                          \
    GPC_SB_UNIT(FIELD)                                                                                                     \
    FIELD(PLAIN, uint32_t, leaving) /* lines in the write-back buffer */
GPC_METADATA(denovo_l1, unit, DENOVO_L1_UNIT)
GPC_SAME_PLACE(denovo_l1_unit_t, gpc_sb_unit_t, held);

#define DENOVO_L1_LINE(FIELD) /* words' states only */
GPC_METADATA(denovo_l1, line, DENOVO_L1_LINE)

#define DENOVO_L1_COUNTERS(X, P)                                                                                       \
    X(P, remote_reads, "reads served for other cores")                                                                 \
    X(P, remote_takes, "registrations passed on to other cores")                                                       \
    X(P, bounced_reads, "reads for other cores sent back to the L2, since the words had left")                         \
    X(P, sync_hits, "synchronisation accesses to registered words")                                                    \
    X(P, sync_misses, "synchronisation accesses that wait for a registration")
GPC_COUNTS(DENOVO_COUNT, DENOVO_L1_COUNTERS)

/* One of these events; GPC_NO_EVENT for any other cause. */
gpc_event_id_t denovo_l1_classify(const gpc_step_t *x);
gpc_mask_t denovo_l1_alike(const gpc_step_t *x);
/* A synchronisation access of 64 bits is not split, nor is the registration of its words, which the L2 names in one
 * step: for all words of a line, such registrations have one order, in which the L1s keep and pass on the words. A
 * cycle of L1s that wait for each other's words would have no first one. The L1 keeps a granted word until all are,
 * and asks for words only if it has none of them: it gives up what is registered otherwise. */
enum { DENOVO_FLAG_WHOLE = GPC_MSG_FLAG_OWN };
bool denovo_l1_whole(const gpc_step_t *x);
int denovo_l1_gather(gpc_step_t *x);
#define DENOVO_L1_WHOLE .whole = denovo_l1_whole, .gather = denovo_l1_gather
/* The words of the mask, or those that are not in it: of which x->word is one. */
static inline gpc_mask_t
denovo_same_side(const gpc_step_t *x, gpc_mask_t mask)
{
    return gpc_has_word(x, mask) ? mask : ~mask;
}
extern const gpc_table_t denovo_store_buffer;
uint32_t denovo_l1_mshrs(const gpc_machine_t *machine, const int64_t *options);

GPC_DECLARE_ACTION(dn_act_reserve);
GPC_DECLARE_ACTION(dn_act_read);
GPC_DECLARE_ACTION(dn_act_skip);
GPC_DECLARE_ACTION(dn_act_register);
GPC_DECLARE_ACTION(dn_act_register_sync);
GPC_DECLARE_ACTION(dn_act_join_syncs);
GPC_DECLARE_ACTION(dn_act_perform);
GPC_DECLARE_ACTION(dn_act_give_up);
GPC_DECLARE_ACTION(dn_act_write_back);
GPC_DECLARE_ACTION(dn_act_poison);
GPC_DECLARE_ACTION(dn_act_complete_reads);
GPC_DECLARE_ACTION(dn_act_take_buffered);
GPC_DECLARE_ACTION(dn_act_run_syncs);
GPC_DECLARE_ACTION(dn_act_serve_queued_reads);
GPC_DECLARE_ACTION(dn_act_serve_taking);
GPC_DECLARE_ACTION(dn_act_queue_read);
GPC_DECLARE_ACTION(dn_act_queue_taking);
GPC_DECLARE_ACTION(dn_act_bounce);
GPC_DECLARE_ACTION(dn_act_serve_read);
GPC_DECLARE_ACTION(dn_act_grant);
GPC_DECLARE_ACTION(dn_act_give_back);
GPC_DECLARE_ACTION(dn_act_serve_leaving);
GPC_DECLARE_ACTION(dn_act_grant_leaving);
GPC_DECLARE_ACTION(dn_act_give_back_none);
GPC_DECLARE_ACTION(dn_act_left);

/* The table of denovo-drf, the base of the others'. */
extern const gpc_table_t denovo_drf_words;

#define DENOVO_L1_TYPE(words)                                                                                          \
    .name = "L1", .position = GPC_AT_CORE, .tables = {&(words), &denovo_store_buffer},                                 \
    .arrays = {{.name = "tags", .line = denovo_l1_line_described, .has_data = true}}, .parts = GPC_SB_PARTS,               \
    .mshr = denovo_l1_mshr_described, .unit = denovo_l1_unit_described, .warp = gpc_sb_warp_described,                     \
    .mshrs = denovo_l1_mshrs, .counters = DENOVO_COUNT_info, .begins = 1u << 0, .ends = 1u << GPC_SB_TABLE

/* Words of the line that are registered at the L1. */
gpc_mask_t denovo_registered(const gpc_controller_t *l1, gpc_address_t line);

/* ---- the registry, and what all protocols declare ---------------------------------------------------------------- */

extern const gpc_controller_type_t denovo_l2;

/* The acquire part: drops every valid word, keeps registered ones. */
GPC_MUST_CHECK int denovo_acquire(gpc_controller_t *l1, uint16_t warp, uint8_t scope);
extern const gpc_watched_t denovo_watched;
#define DENOVO_BANK_WORDS (1u << GPC_REGISTRY_HERE)
int denovo_host_read(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, uint32_t *words);

#define DENOVO_ORDER                                                                                                   \
    .release = gpc_sb_release, .exit = gpc_sb_exit, .acquire = denovo_acquire, .same_word = true, .keeps_own = true
#define DENOVO_PROTOCOL                                                                                                \
    GPC_MESSAGES_OF(DENOVO), .message = gpc_demanded_message_described, .networks = DENOVO_NETWORKS,                   \
    .check = gpc_sb_check, .host_read = denovo_host_read, .host_write = gpc_host_write_words,                          \
    .monitor = gpc_monitor_words
#define DENOVO_DECLARED                                                                                                \
    .weak_outcomes = "SB MP LB", .variations = "sb_drain=eager sb_full=flush,sb_entries=32 sb_entry=line,sb_entries=2"

/* Cells that the random tester does not enter; tools/cells.py explores programs that do. `races`: events of a word that
 * is read, of another warp of the core. */
#define DENOVO_UNCOVERED(races)                                                                      \
    {.table = "L1",                                                                                  \
     .states = "RDP RDX",                                                                            \
     .events = (races),                                                                              \
     .reason = "two warps of the core race for the word, and programs of the tester have no races"}, \
    {.table = "L1",                                                                                  \
     .states = "WRP",                                                                                \
     .events = "FORWARD_READ FORWARD_TAKE",                                                          \
     .reason = "two cores race for the word, and programs of the tester have no races"},             \
    {.table = "L1",                                                                                  \
     .states = "R SYP",                                                                              \
     .events = "SYNC_BUFFERED",                                                                      \
     .reason = "programs of the tester have no accesses of 64 bits"},                                \
    {.table = "L2",                                                                                  \
     .states = "MF",                                                                                 \
     .events = "REGISTER",                                                                           \
     .reason = "two cores race for the word, and programs of the tester have no races"},             \
    {.table = "L1",                                                                                  \
     .states = "WBP",                                                                                \
     .events = "EXTRA EXTRA_BARRED",                                                                 \
     .reason = "answers of a bank to a core arrive in order, the acknowledgement first"},            \
    {.table = "L2",                                                                                  \
     .states = "RC RCD RCN",                                                                         \
     .events = "READ REGISTER REGISTER_SYNC",                                                        \
     .reason = "the request that evicts the line holds later ones until the words are back"},        \
    {.table = "L2",                                                                                  \
     .states = "RC",                                                                                 \
     .events = "RECALLED_NONE",                                                                      \
     .reason = "a write-back arrives before the later answer to a recall"},                          \
    {.table = "L2",                                                                                  \
     .states = "RCN",                                                                                \
     .events = "WRITE_BACK WRITE_BACK_STALE",                                                        \
     .reason = "a write-back arrives before the later answer to a recall"}

#endif

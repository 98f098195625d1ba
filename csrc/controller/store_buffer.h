/* store_buffer.h: a coalescing store buffer beside an L1, as gpu-* and denovo-* have: its entries, room for stores,
 * releases, flushes, and the table of a buffer whose entries are written through.
 *
 * Paper    Sinclair et al., MICRO 2015, sections 3 and 5.3: 256 entries that coalesce, beside every L1. An entry counts
 *          a word (sb_entry=word): "LavaMD overflows the store buffer" (6.2.1), and the tree barriers do (6.2.3), which
 *          256 lines of theirs do not. "Each dirty cache line only needs to send an ownership request" (6.2.3): the
 *          words of a line are in one part and leave together.
 * Inferred what a full buffer does, and when entries are sent, are options. A release waits for the words that were in
 *          the buffer when it began.
 * Place    part 0 of the L1, whose table 1 is over its entries. A protocol declares .parts = GPC_SB_PARTS, or, if
 *          entries are written through, GPC_SB_WRITTEN_THROUGH with .tables = {.., &gpc_sb_write_through} and .route =
 *          gpc_sb_route; .warp = gpc_sb_warp_described; unit fields that begin with GPC_SB_UNIT; .ends = 1u <<
 *          GPC_SB_TABLE; GPC_SB_OPTIONS first and .check = gpc_sb_check; .order.release = gpc_sb_release if releases
 *          wait for the buffer.
 */
#ifndef GPC_CONTROLLER_STORE_BUFFER_H
#define GPC_CONTROLLER_STORE_BUFFER_H

#include "controller/metadata.h"

enum { GPC_SB_PART = 0, GPC_SB_TABLE = 1 };

typedef struct {
    uint32_t word[GPC_MAX_LINE_WORDS];
} gpc_sb_words_t;

enum {
    GPC_SB_DRAINS = 1,      /* a drain was wanted while words were sent: the fresh ones follow */
    GPC_SB_FLUSH_SENT = 2,  /* a flush waits for the sent words */
    GPC_SB_FLUSH_FRESH = 4, /* a flush waits for the fresh words too */
};

#define GPC_SB_ENTRY(FIELD)                                                                                                \
    FIELD(PLAIN, gpc_mask_t, fresh) /* words stored and not sent */                                                    \
    FIELD(PLAIN, gpc_mask_t, sent)  /* words sent and not acknowledged */                                              \
    FIELD(PLAIN, uint64_t, early)   /* warps whose release waits for the sent words */                                 \
    FIELD(PLAIN, uint64_t, late)    /* warps whose release waits for the fresh words too */                            \
    FIELD(PLAIN, uint8_t, drains)   /* bits GPC_SB_DRAINS etc. */                                                      \
    FIELD(DATA, gpc_sb_words_t, words)
GPC_METADATA(gpc_sb, entry, GPC_SB_ENTRY)

#define GPC_SB_WARP(FIELD)                                                                                                 \
    FIELD(PLAIN, uint8_t, releases) /* a release is in progress */                                                     \
    FIELD(PLAIN, uint16_t, entries) /* that it waits for */
GPC_METADATA(gpc_sb, warp, GPC_SB_WARP)

#define GPC_SB_UNIT(FIELD) FIELD(PLAIN, uint32_t, held) /* words in the buffer */
GPC_METADATA(gpc_sb, unit, GPC_SB_UNIT)

/* ---- options: the first ones of every protocol with a store buffer ----------------------------------------------- */

enum { GPC_SB_OPTION_ENTRIES, GPC_SB_OPTION_DRAIN, GPC_SB_OPTION_FULL, GPC_SB_OPTION_ENTRY, GPC_SB_NUM_OPTIONS };
enum { GPC_SB_LAZY, GPC_SB_EAGER };
enum { GPC_SB_OLDEST, GPC_SB_FLUSH };
enum { GPC_SB_LINE, GPC_SB_WORD };

/* The explorer's buffer is small and eager: an entry may be sent at any time, as with sb_drain=lazy at some times
 * only. The random tester's has room for the words of one line of 128 bytes, or of two. */
#define GPC_SB_OPTIONS                                                                                                     \
    [GPC_SB_OPTION_ENTRIES] = GPC_NUMBER("sb_entries", 256, 1, 65536, "entries of a store buffer", 2, 32, 64),             \
    [GPC_SB_OPTION_DRAIN] = GPC_CHOICE("sb_drain", GPC_SB_LAZY, GPC_SB_EAGER, "lazy eager",                                        \
            "when an entry is sent: at a release, a full buffer or the end of the kernel, or at once", .small = {true, GPC_SB_EAGER}), \
    [GPC_SB_OPTION_FULL] = GPC_CHOICE("sb_full", GPC_SB_OLDEST, GPC_SB_FLUSH, "oldest flush",                                      \
            "what a full buffer sends: its oldest entry, or all"),                                                     \
    [GPC_SB_OPTION_ENTRY] = {.name = "sb_entry",                                                                           \
                         .standard = GPC_SB_WORD,                                                                          \
                         .smallest = GPC_SB_LINE,                                                                          \
                         .largest = GPC_SB_WORD,                                                                           \
                         .choices = "line word",                                                                       \
                         .text = "what an entry holds: a line's words, or one word (the words of a line are sent together)"}

/* With sb_entry=word, a line's words must fit in the buffer. */
GPC_API GPC_MUST_CHECK int gpc_sb_check(const gpc_machine_t *machine, const int64_t *options, gpc_failure_t *failure);

/* The part's capacity: sb_entries, and a slot for each MSHR. */
GPC_API uint32_t gpc_sb_capacity(const gpc_machine_t *machine, const int64_t *options);
#define GPC_SB_PART_INFO .name = "store buffer", .entry = gpc_sb_entry_described, .capacity = gpc_sb_capacity
#define GPC_SB_PARTS {{GPC_SB_PART_INFO}}
/* Of entries that are written through by messages of type `write`, which answers of type `ack` acknowledge. */
#define GPC_SB_WRITTEN_THROUGH(write, ack) {GPC_SB_PART_INFO, .writes = (write), .written = (ack)}

/* ---- for steps about a line -------------------------------------------------------------------------------------- */

static inline gpc_part_t *
gpc_sb_part(const gpc_controller_t *unit)
{
    return (gpc_part_t *) &unit->parts[GPC_SB_PART];
}
static inline gpc_sb_entry_t *
gpc_sb_entry_at(const gpc_controller_t *unit, gpc_index_t entry)
{
    return gpc_part_fields(gpc_sb_part(unit), entry);
}
/* The line's entry, or NULL. */
GPC_API gpc_sb_entry_t *gpc_sb_find(const gpc_controller_t *unit, gpc_address_t line);
/* Words of the line that are in the buffer. */
GPC_API gpc_mask_t gpc_sb_held(const gpc_controller_t *unit, gpc_address_t line);
/* Copies those of the masked words that are in the buffer to `words`, which are older: an answer to a read, or
 * memory's. A write-through that an answer has not seen is acknowledged after it. */
GPC_API void gpc_sb_overlay(const gpc_controller_t *unit, gpc_address_t line, gpc_mask_t mask, uint32_t *words);
/* Stores the masked words: a step STORE of the line's entry, new if it had none. `again`: words that were sent and not
 * acknowledged are fresh again. First in an action: GPC_HOLD when the buffer is full, which makes it drain. */
GPC_API GPC_MUST_CHECK int gpc_sb_put(gpc_step_t *x, gpc_mask_t mask, const uint32_t *words, bool again);
/* Performs the read-modify-writes of local scope x->msg on the line's words and completes them: the words written,
 * there and in the store buffer, count as accepted. GPC_HOLD as gpc_sb_put. */
GPC_API GPC_MUST_CHECK int gpc_sb_perform(gpc_step_t *x, uint32_t *words, bool again);
/* Completes a pending load, or read-modify-write of local scope, from the answer x->msg; one that finds the store
 * buffer full is taken again, with the list. */
GPC_API GPC_MUST_CHECK int gpc_sb_complete(gpc_step_t *x, gpc_index_t request, gpc_list_t *again);
/* The entry's masked fresh words are sent; its masked sent words are performed, which may end releases. */
GPC_API void gpc_sb_sent(gpc_sb_entry_t *entry, gpc_mask_t mask);
GPC_API GPC_MUST_CHECK int gpc_sb_performed(gpc_step_t *x, gpc_sb_entry_t *entry, gpc_mask_t mask);

/* Sends every entry's words; the part's `flushed` is called when those that are in the buffer now are performed. A
 * flush that begins while another one is in progress extends it. Of a buffer that is not empty. */
GPC_API GPC_MUST_CHECK int gpc_sb_flush(gpc_controller_t *unit);
/* Whether a flush is in progress. */
GPC_API bool gpc_sb_flushes(const gpc_controller_t *unit);

/* For a warp's store in a table over lines or words. */
GPC_API_ACTION(sb_act_put);
GPC_API_ACTION(sb_act_merge);
GPC_API_ACTION(sb_act_complete);
GPC_API_ACTION(sb_act_serve);
GPC_API_ACTION(sb_act_drain);
/* For read-modify-writes with local scope. */
GPC_API_ACTION(sb_act_perform_on_copy);
GPC_API_ACTION(sb_act_perform);
GPC_API_ACTION(sb_act_perform_sent);
/* For an entry. */
GPC_API_ACTION(sb_act_drain_if_eager); /* after STORE */
GPC_API_ACTION(sb_act_make_ready);
GPC_API_ACTION(sb_act_remember_drain);

/* ---- the table of entries that are written through --------------------------------------------------------------- */

#define GPC_SB_STATES(X)                                                                           \
    X(SB_FREE, STABLE, "no entry")                                                                 \
    X(SB_OPEN, STABLE, "holds stores, nothing sent")                                               \
    X(SB_SENT, TRANSIENT_COHERENCE, "written through, not acknowledged; loads still look here")    \
    X(SB_MORE, TRANSIENT_COHERENCE, "the same, and stored to since")

#define GPC_SB_EVENTS(X)                                                                           \
    X(SB_STORE, "store to the line")                                                               \
    X(SB_RELEASE, "a release, a full buffer, own synchronisation on a word, or the end of the kernel") \
    X(SB_DRAIN, "ready entry served")                                                                \
    X(SB_ACK, "write-through performed")                                                           \
    X(SB_ACK_DRAINS, "write-through performed, and a drain is wanted since")

/* The entries' table of a buffer whose words are written through. */
GPC_API extern const gpc_table_t gpc_sb_write_through;
/* Its classifier. */
GPC_API gpc_event_id_t gpc_sb_classify(const gpc_step_t *x);
/* Acknowledgements to the entries' table, all else to table 0. */
GPC_API uint8_t gpc_sb_route(const gpc_controller_t *unit, const gpc_msg_t *msg);

/* ---- releases ---------------------------------------------------------------------------------------------------- */

/* The order trait `release`. */
GPC_API GPC_MUST_CHECK int gpc_sb_release(gpc_controller_t *l1, uint16_t warp, uint8_t scope, gpc_cycle_t *until);
/* The trait `exit`: a warp ends without waiting, as KERNEL_END drains the buffer. */
GPC_API GPC_MUST_CHECK int gpc_sb_exit(gpc_controller_t *l1, uint16_t warp, gpc_cycle_t *until);

#endif

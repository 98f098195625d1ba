/* store_buffer.h: the coalescing store buffer beside an L1, shared by gpu-* and denovo-*: its entries, room for stores,
 * releases.
 *
 * Paper    Sinclair et al., MICRO 2015, sections 3 and 5.3: 256 entries that coalesce, beside every L1.
 * Inferred an entry is a line with a word mask and the words (section 6.2.3: a line needs one ownership request); what
 *          a full buffer does, and when entries are sent, are options. A release waits for the words that were in the
 *          buffer when it began.
 * Place    part 0 of the L1, whose table 1 is over its entries.
 */
#ifndef GPC_PROTOCOLS_DENOVO_STORE_BUFFER_H
#define GPC_PROTOCOLS_DENOVO_STORE_BUFFER_H

#include "controller/toolkit.h"

enum { SB_PART = 0, SB_TABLE = 1 };

typedef struct {
    uint32_t word[GPC_MAX_LINE_WORDS];
} sb_words_t;

#define SB_ENTRY(FIELD)                                                                                                \
    FIELD(PLAIN, gpc_mask_t, fresh) /* words stored and not sent */                                                    \
    FIELD(PLAIN, gpc_mask_t, sent)  /* words sent and not acknowledged */                                              \
    FIELD(PLAIN, uint64_t, early)   /* warps whose release waits for the sent words */                                 \
    FIELD(PLAIN, uint64_t, late)    /* warps whose release waits for the fresh words too */                            \
    FIELD(PLAIN, uint8_t, drains)   /* a drain was wanted while words were sent: the fresh ones follow */              \
    FIELD(DATA, sb_words_t, words)
GPC_METADATA(sb, entry, SB_ENTRY)

#define SB_WARP(FIELD)                                                                                                 \
    FIELD(PLAIN, uint8_t, releases) /* a release is in progress */                                                     \
    FIELD(PLAIN, uint16_t, entries) /* that it waits for */
GPC_METADATA(sb, warp, SB_WARP)

#define SB_UNIT(FIELD) FIELD(PLAIN, uint32_t, held) /* words in the buffer */
GPC_METADATA(sb, unit, SB_UNIT)

/* ---- options: the first ones of every protocol with a store buffer ----------------------------------------------- */

enum { SB_OPTION_ENTRIES, SB_OPTION_DRAIN, SB_OPTION_FULL, SB_OPTION_ENTRY, SB_NUM_OPTIONS };
enum { SB_LAZY, SB_EAGER };
enum { SB_OLDEST, SB_FLUSH };
enum { SB_LINE, SB_WORD };

/* The explorer's buffer is small and eager: an entry may be sent at any time, as with sb_drain=lazy at some times
 * only. */
#define SB_OPTIONS                                                                                                     \
    [SB_OPTION_ENTRIES] = GPC_NUMBER("sb_entries", 256, 1, 65536, "entries of a store buffer", 2, 1, 4),               \
    [SB_OPTION_DRAIN] = GPC_CHOICE("sb_drain", SB_LAZY, SB_EAGER, "lazy eager",                                        \
            "when an entry is sent: at a release, a full buffer or the end of the kernel, or at once", .small = {true, SB_EAGER}), \
    [SB_OPTION_FULL] = GPC_CHOICE("sb_full", SB_OLDEST, SB_FLUSH, "oldest flush",                                      \
            "what a full buffer sends: its oldest entry, or all"),                                                     \
    [SB_OPTION_ENTRY] = {.name = "sb_entry",                                                                           \
                         .standard = SB_LINE,                                                                          \
                         .smallest = SB_LINE,                                                                          \
                         .largest = SB_WORD,                                                                           \
                         .choices = "line word",                                                                       \
                         .text = "what an entry holds: a line's words, or one word (the words of a line are sent together)"}

/* With sb_entry=word, a line's words must fit in the buffer. */
GPC_MUST_CHECK int sb_check(const gpc_machine_t *machine, const int64_t *options, gpc_failure_t *failure);

uint32_t sb_capacity(const gpc_machine_t *machine, const int64_t *options);
#define SB_PARTS {{.name = "store buffer", .entry = sb_entry_described, .capacity = sb_capacity}}

/* ---- for steps about a line -------------------------------------------------------------------------------------- */

static inline gpc_part_t *
sb_part(const gpc_controller_t *unit)
{
    return (gpc_part_t *) &unit->parts[SB_PART];
}
static inline sb_entry_t *
sb_entry_at(const gpc_controller_t *unit, gpc_index_t entry)
{
    return gpc_part_fields(sb_part(unit), entry);
}
/* The line's entry, or NULL. */
sb_entry_t *sb_find(const gpc_controller_t *unit, gpc_address_t line);
/* Words of the line that are in the buffer. */
gpc_mask_t sb_held(const gpc_controller_t *unit, gpc_address_t line);
/* Stores the masked words: a step STORE of the line's entry, new if it had none. `again`: words that were sent and not
 * acknowledged are fresh again. First in an action: GPC_HOLD when the buffer is full, which makes it drain. */
GPC_MUST_CHECK int sb_put(gpc_step_t *x, gpc_mask_t mask, const uint32_t *words, bool again);
/* Performs the read-modify-writes of local scope x->msg on the line's words and completes them: the words written,
 * there and in the store buffer, count as accepted. GPC_HOLD as sb_put. */
GPC_MUST_CHECK int sb_perform(gpc_step_t *x, uint32_t *words, bool again);
/* The entry's masked fresh words are sent; its masked sent words are performed, which may end releases. */
void sb_sent(sb_entry_t *entry, gpc_mask_t mask);
GPC_MUST_CHECK int sb_performed(gpc_step_t *x, sb_entry_t *entry, gpc_mask_t mask);

/* For a warp's store in a table over lines or words. */
GPC_DECLARE_ACTION(sb_act_put);
GPC_DECLARE_ACTION(sb_act_merge);
GPC_DECLARE_ACTION(sb_act_complete);
GPC_DECLARE_ACTION(sb_act_serve);
GPC_DECLARE_ACTION(sb_act_drain);
/* For read-modify-writes with local scope. */
GPC_DECLARE_ACTION(sb_act_perform_on_copy);
GPC_DECLARE_ACTION(sb_act_perform);
GPC_DECLARE_ACTION(sb_act_perform_sent);
/* For an entry. */
GPC_DECLARE_ACTION(sb_act_drain_if_eager); /* after STORE */
GPC_DECLARE_ACTION(sb_act_make_ready);
GPC_DECLARE_ACTION(sb_act_remember_drain);

/* The order trait `release`. */
GPC_MUST_CHECK int sb_release(gpc_controller_t *l1, uint16_t warp, uint8_t scope, gpc_cycle_t *until);
/* The trait `exit`: a warp ends without waiting, as KERNEL_END drains the buffer. */
GPC_MUST_CHECK int sb_exit(gpc_controller_t *l1, uint16_t warp, gpc_cycle_t *until);

#endif

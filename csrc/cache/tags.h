/* tags.h: a set-associative array of lines with their data, word states and the protocol's line metadata.
 *
 * A tag holds only state that outlives a transaction. A line is present only if its generation is the array's, so that
 * a flash invalidation is one increment. */
#ifndef GPC_CACHE_TAGS_H
#define GPC_CACHE_TAGS_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/divide.h"
#include "cache/replacement.h"

/* Maps a line to its set. A bank holds only every banks-th piece of interleave_bytes and skips the other pieces'
 * indices. */
typedef struct {
    uint32_t line_bytes, interleave_bytes, banks; /* banks = 1: an L1 */
    uint32_t page_bytes, dies;                    /* pages over dies, `banks` of each; dies < 2: of all lines */
} gpc_index_map_t;

typedef struct {
    uint64_t order;   /* among the ways of its set, by the replacement policy: the least is the first victim */
    gpc_index_t mshr; /* the transaction that holds this way, or GPC_NONE */
    uint8_t state;
} gpc_tag_t;

/* A look-up compares one key per way, so that a set is one or two lines of the host's cache: the line's address, with
 * the array's generation in the highest bits, which no address uses. Free ways have generation 0, which no array has,
 * so that a new array is all zeros: memory that nothing writes takes no page of the host. */
typedef uint64_t gpc_tag_key_t;
#define GPC_TAG_GENERATIONS 31u /* 1 to 31 */
#define GPC_TAG_GENERATION_SHIFT 59u
#define GPC_TAG_FREE UINT64_C(0)
/* Who examines every way passes pieces of this many in which no way has had a line: most of a large cache. */
#define GPC_TAG_PIECE 64u
/* No program of the explorer writes it: who reads it has read what nothing has filled. */
#define GPC_UNFILLED_WORD 0x0BADDA7Au

/* Words of a line by time and traffic: the data are always whole. */
typedef struct {
    gpc_mask_t here, stored; /* fetched or stored; stored */
} gpc_tag_words_t;

typedef struct {
    uint64_t clock; /* of the replacement policy */
    uint64_t generation;
} gpc_tags_state_t;

struct gpc_tags { /* what most steps read comes first: one line of the host's cache */
    uint32_t sets, ways, line_words, fields_size;
    bool powers;   /* the four divisors are powers of two: a set's number is two pieces of the address */
    bool unfilled; /* a line begins with GPC_UNFILLED_WORD, not with the words of the line that had its way before */
    /* With `powers`: which bits of a set's number are those of the piece, and of the line in it. */
    uint8_t piece_shift, line_shift;
    uint32_t piece_bits, line_bits;
    gpc_tags_state_t *state;
    gpc_tag_key_t *keys; /* [sets * ways] */
    gpc_tag_t *tags;     /* [sets * ways]: of a way that is not present nothing is read */
    uint32_t *data;      /* [sets * ways * line_words] */

    uint8_t *fields;      /* [sets * ways * fields_size] */
    uint8_t *word_states; /* [sets * ways * line_words], over words only */
    uint8_t *marks;       /* [sets * ways], in large sets: a byte of a hash of the line that the way had last */
    bool *had_lines;      /* [sets * ways / GPC_TAG_PIECE, rounded up]: since the array was cleared */
    gpc_divider_t by_line, by_piece, by_banks, by_sets;
    gpc_pages_over_dies_t pages;
    gpc_tag_words_t *words; /* [sets * ways]; NULL: lines are whole */
    const gpc_replacement_t *replacement;
};
_Static_assert(offsetof(gpc_tags_t, fields) == 64, "a look-up reads one line of the array's description");

GPC_MUST_CHECK int gpc_tags_init(gpc_tags_t *self, gpc_arena_t *arena, uint32_t sets, uint32_t ways,
                                 gpc_index_map_t map, uint32_t fields_size, bool has_words);
void gpc_tags_clear(gpc_tags_t *self);
/* Invalidates every line; no way may be held by a transaction. O(1) except every 31st time. */
void gpc_tags_flash(gpc_tags_t *self);
/* Copies that gpc_tags_flash_state would drop in the way: words of an array over words, else 0 or 1. */
uint32_t gpc_tags_in_state(const gpc_tags_t *self, gpc_index_t way, uint8_t state);
/* Gives lines (over words: words) in `state` the state `initial`, except lines in a transaction; drops lines that are
 * then, or whose words are then all, in that state. Returns the number of lines or words. */
uint32_t gpc_tags_flash_state(gpc_tags_t *self, uint8_t state, uint8_t initial);

/* The index of a line among its bank's lines: whole pieces before its own, then lines of its piece. */
static inline uint32_t
gpc_tags_set_of(const gpc_tags_t *self, gpc_address_t line)
{
    if (self->powers) {
        return ((uint32_t) (line >> self->piece_shift) & self->piece_bits) |
               ((uint32_t) (line >> self->line_shift) & self->line_bits);
    }
    line = self->pages.dies.divisor > 1 ? gpc_within_die(&self->pages, line) : line;
    uint64_t pieces = gpc_quotient(self->by_banks, gpc_quotient(self->by_piece, line));
    uint64_t bytes = pieces * self->by_piece.divisor + gpc_remainder(self->by_piece, line);
    return (uint32_t) gpc_remainder(self->by_sets, gpc_quotient(self->by_line, bytes));
}

static inline gpc_tag_key_t
gpc_tags_key(const gpc_tags_t *self, gpc_address_t line)
{
    return line | self->state->generation << GPC_TAG_GENERATION_SHIFT;
}

GPC_API gpc_index_t gpc_tags_find(const gpc_tags_t *self, gpc_address_t line); /* a way, or GPC_NONE */

static inline bool
gpc_tags_present(const gpc_tags_t *self, gpc_index_t way)
{
    return self->keys[way] >> GPC_TAG_GENERATION_SHIFT == self->state->generation;
}
static inline gpc_address_t
gpc_tags_line(const gpc_tags_t *self, gpc_index_t way) /* way must be present */
{
    return self->keys[way] & ((UINT64_C(1) << GPC_TAG_GENERATION_SHIFT) - 1);
}
static inline void
gpc_tags_touch(gpc_tags_t *self, gpc_index_t way)
{
    self->replacement->touched(self, way);
}
/* Gives the way to `line` in state `state`; metadata and word states are zeroed, data are not (but see `unfilled`). */
void gpc_tags_place(gpc_tags_t *self, gpc_index_t way, gpc_address_t line, uint8_t state);
static inline void
gpc_tags_drop(gpc_tags_t *self, gpc_index_t way)
{
    self->keys[way] = GPC_TAG_FREE;
    self->tags[way].mshr = GPC_NONE;
}
/* The line's way, if it has one. */
static inline void
gpc_tags_drop_line(gpc_tags_t *self, gpc_address_t line)
{
    gpc_index_t way = gpc_tags_find(self, line);
    if (way != GPC_NONE) {
        gpc_tags_drop(self, way);
    }
}
static inline void *
gpc_tags_fields(const gpc_tags_t *self, gpc_index_t way)
{
    return self->fields + (size_t) way * self->fields_size;
}
static inline uint32_t *
gpc_tags_words(const gpc_tags_t *self, gpc_index_t way)
{
    return self->data + (size_t) way * self->line_words;
}
static inline uint8_t *
gpc_tags_word_states(const gpc_tags_t *self, gpc_index_t way)
{
    return self->word_states + (size_t) way * self->line_words;
}
/* Words whose state beside the tag is this one. */
static inline gpc_mask_t
gpc_tags_words_in(const gpc_tags_t *self, gpc_index_t way, uint8_t state)
{
    return gpc_equal_bytes(gpc_tags_word_states(self, way), self->line_words, state);
}

#endif

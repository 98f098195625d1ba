/* tags.c: places and finds lines, and changes the states of many lines at once. */
#include "cache/tags.h"

#include <string.h>

#include "base/errors.h"

/* In sets of at least this many ways a look-up compares marks first, a byte per way: MARKS of them at a time. */
#define MARKED_WAYS 16u
#ifdef __SSE2__
#define MARKS 16u
#define MARK_BITS 1u /* of equal_marks, for each */
#else
#define MARKS 8u
#define MARK_BITS 8u
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a set's marks are bytes of a word, the first the lowest");
#endif

/* A byte of a hash. Lines of a set differ in their high bits. */
static inline uint8_t
mark_of(gpc_address_t line)
{
    return (uint8_t) (line * UINT64_C(0x9E3779B97F4A7C15) >> 56);
}

int
gpc_tags_init(gpc_tags_t *self, gpc_arena_t *arena, uint32_t sets, uint32_t ways, gpc_index_map_t map,
              uint32_t fields_size, bool has_words)
{
    size_t lines = (size_t) sets * ways;

    *self = (gpc_tags_t){.sets = sets,
                         .ways = ways,
                         .line_words = map.line_bytes / 4,
                         .fields_size = (fields_size + 7u) / 8u * 8u,
                         .by_line = gpc_divider(map.line_bytes),
                         .by_piece = gpc_divider(map.banks <= 1 ? map.line_bytes : map.interleave_bytes),
                         .by_banks = gpc_divider(map.banks <= 1 ? 1 : map.banks),
                         .by_sets = gpc_divider(sets),
                         .pages = gpc_pages_over_dies(map.dies > 1 ? map.page_bytes : 1, map.dies > 1 ? map.dies : 1),
                         .replacement = &gpc_replacement_lru};
    self->powers = map.dies < 2 && self->by_line.is_power && self->by_piece.is_power && self->by_banks.is_power &&
                   self->by_sets.is_power;
    self->line_shift = self->by_line.shift;
    self->piece_shift = (uint8_t) (self->by_line.shift + self->by_banks.shift);
    self->line_bits = (uint32_t) (self->by_piece.divisor / map.line_bytes - 1) & (sets - 1);
    self->piece_bits = (sets - 1) & ~self->line_bits;
    self->state = GPC_ARENA_TAKE(arena, 1, gpc_tags_state_t);
    self->keys = GPC_ARENA_TAKE(arena, lines, gpc_tag_key_t);
    self->marks = GPC_ARENA_TAKE(arena, lines + MARKS, uint8_t);
    self->tags = GPC_ARENA_TAKE(arena, lines, gpc_tag_t);
    self->had_lines = GPC_ARENA_TAKE(arena, lines / GPC_TAG_PIECE + 1, bool);
    self->fields = gpc_arena_take(arena, lines, self->fields_size);
    self->data = gpc_arena_take(arena, lines * self->line_words, sizeof(uint32_t));
    self->word_states = has_words ? gpc_arena_take(arena, lines, self->line_words) : NULL;
    if (!self->state || !self->keys || !self->marks || !self->tags || !self->had_lines || !self->fields ||
        !self->data || (has_words && !self->word_states)) {
        return GPC_ERROR_MEMORY;
    }
    self->state->generation = 1;
    return GPC_OK;
}

void
gpc_tags_clear(gpc_tags_t *self)
{
    size_t lines = (size_t) self->sets * self->ways;
    memset(self->keys, 0, lines * sizeof *self->keys);
    memset(self->had_lines, 0, lines / GPC_TAG_PIECE + 1);
    *self->state = (gpc_tags_state_t){.generation = 1};
}

/* Which of MARKS marks equal this one: the highest of MARK_BITS bits for each, the first mark's the lowest. */
static inline uint64_t
equal_marks(const uint8_t *marks, uint8_t mark)
{
#ifdef __SSE2__
    return gpc_equal_of_16(marks, mark);
#else
    const uint64_t ones = UINT64_C(0x0101010101010101), most = 0x7F * ones;
    uint64_t differ;
    memcpy(&differ, marks, sizeof differ);
    differ ^= mark * ones;
    return ~(((differ & most) + most) | differ | most); /* the highest bit of each byte that is 0 */
#endif
}

/* The way of a set that has the key, among those whose marks equal the line's. */
static inline gpc_index_t
gpc_tags_find_marked(const gpc_tags_t *self, gpc_index_t way, gpc_index_t end, uint8_t mark, gpc_tag_key_t key)
{
    for (; way < end; way += MARKS) {
        uint64_t equal = equal_marks(&self->marks[way], mark);
        for (; equal != 0; equal &= equal - 1) {
            gpc_index_t at = way + (uint32_t) __builtin_ctzll(equal) / MARK_BITS;
            if (at < end && self->keys[at] == key) {
                return at;
            }
        }
    }
    return GPC_NONE;
}

gpc_index_t
gpc_tags_find(const gpc_tags_t *self, gpc_address_t line)
{
    gpc_index_t way = gpc_tags_set_of(self, line) * self->ways, end = way + self->ways;
    gpc_tag_key_t key = gpc_tags_key(self, line);

    if (self->ways >= MARKED_WAYS) {
        return gpc_tags_find_marked(self, way, end, mark_of(line), key);
    }
    for (; way + 4 <= end; way += 4) { /* most sets have a multiple of 4 */
        const gpc_tag_key_t *keys = &self->keys[way];
        if (keys[0] == key || keys[1] == key || keys[2] == key || keys[3] == key) {
            return way + (keys[0] == key ? 0 : keys[1] == key ? 1 : keys[2] == key ? 2 : 3);
        }
    }
    for (; way < end; way++) {
        if (self->keys[way] == key) {
            return way;
        }
    }
    return GPC_NONE;
}

void
gpc_tags_flash(gpc_tags_t *self)
{
    if (self->state->generation++ == GPC_TAG_GENERATIONS) { /* generations wrap around: drop every old key */
        memset(self->keys, 0, (size_t) self->sets * self->ways * sizeof *self->keys);
        self->state->generation = 1;
    }
}

static uint32_t
flash_words(gpc_tags_t *self, gpc_index_t way, uint8_t state, uint8_t initial)
{
    uint8_t *states = gpc_tags_word_states(self, way);
    uint32_t changed = 0, kept = 0;

    for (uint32_t word = 0; word < self->line_words; word++) {
        bool flashed = states[word] == state;
        states[word] = flashed ? initial : states[word];
        changed += flashed;
        kept += states[word] != initial;
    }
    if (kept == 0) {
        gpc_tags_drop(self, way);
    }
    return changed;
}

uint32_t
gpc_tags_in_state(const gpc_tags_t *self, gpc_index_t way, uint8_t state)
{
    if (!gpc_tags_present(self, way) || self->tags[way].mshr != GPC_NONE) {
        return 0;
    }
    if (!self->word_states) {
        return self->tags[way].state == state;
    }
    return (uint32_t) __builtin_popcount(gpc_tags_words_in(self, way, state));
}

uint32_t
gpc_tags_flash_state(gpc_tags_t *self, uint8_t state, uint8_t initial)
{
    gpc_index_t count = self->sets * self->ways;
    uint32_t changed = 0;

    for (gpc_index_t way = 0; way < count; way++) {
        if (way % GPC_TAG_PIECE == 0 && !self->had_lines[way / GPC_TAG_PIECE]) {
            way += GPC_TAG_PIECE - 1;
            continue;
        }
        if (!gpc_tags_present(self, way) || self->tags[way].mshr != GPC_NONE) {
            continue;
        }
        if (self->word_states) {
            changed += flash_words(self, way, state, initial);
        } else if (self->tags[way].state == state) {
            gpc_tags_drop(self, way);
            changed++;
        }
    }
    return changed;
}

void
gpc_tags_place(gpc_tags_t *self, gpc_index_t way, gpc_address_t line, uint8_t state)
{
    self->keys[way] = gpc_tags_key(self, line);
    if (self->ways >= MARKED_WAYS) {
        self->marks[way] = mark_of(line);
    }
    self->had_lines[way / GPC_TAG_PIECE] = true;
    self->tags[way] = (gpc_tag_t){.mshr = GPC_NONE, .state = state};
    if (self->words) {
        self->words[way] = (gpc_tag_words_t){0, 0};
    }
    gpc_zero(gpc_tags_fields(self, way), self->fields_size);
    if (self->word_states) {
        memset(gpc_tags_word_states(self, way), 0, self->line_words);
    }
    for (uint32_t word = 0; self->unfilled && word < self->line_words; word++) {
        gpc_tags_words(self, way)[word] = GPC_UNFILLED_WORD;
    }
    self->replacement->placed(self, way);
}

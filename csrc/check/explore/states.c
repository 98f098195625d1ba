/* states.c: stores explored states, as differences to others, and finds those that never reach an end. */
#include "check/explore/states.h"

#include <stdlib.h>
#include <string.h>

#include "base/errors.h"

enum { BLOCK_BYTES = 1 << 20, FIRST_CAPACITY = 1024 };

struct gpc_state_block {
    gpc_state_block_t *next;
    size_t read, written, capacity;
    size_t last; /* place of the image that was read last */
    uint8_t bytes[];
};

void
gpc_states_init(gpc_states_t *self, const uint8_t *base, size_t image_bytes)
{
    *self = (gpc_states_t){.base = base, .image_bytes = image_bytes};
}

void
gpc_states_free(gpc_states_t *self)
{
    while (self->oldest) {
        gpc_state_block_t *next = self->oldest->next;
        free(self->oldest);
        self->oldest = next;
    }
    free(self->table);
    free(self->seen);
    free(self->first_edge);
    free(self->edges);
    gpc_states_init(self, NULL, 0);
}

/* ---- hashing ----------------------------------------------------------------------------------------------------- */

static uint64_t
mix(uint64_t x)
{
    x ^= x >> 32;
    x *= UINT64_C(0xD6E8FEB86659FD93);
    x ^= x >> 32;
    x *= UINT64_C(0xD6E8FEB86659FD93);
    return x ^ (x >> 32);
}

static uint64_t
rotate(uint64_t x, unsigned by)
{
    return x << by | x >> (64 - by);
}

gpc_state_hash_t
gpc_states_hash(const uint8_t *bytes, size_t length)
{
    uint64_t one = UINT64_C(0x9E3779B97F4A7C15) + length, other = UINT64_C(0xC2B2AE3D27D4EB4F);
    for (size_t i = 0; i < length; i += 8) {
        uint64_t word = 0;
        memcpy(&word, bytes + i, length - i < 8 ? length - i : 8);
        one = rotate(one ^ word * UINT64_C(0x9FB21C651E98DF25), 27) * UINT64_C(0x9E3779B185EBCA87);
        other = rotate(other + word * UINT64_C(0xC2B2AE3D27D4EB4F), 31) * UINT64_C(0x165667B19E3779F9);
    }
    return (gpc_state_hash_t){mix(one ^ rotate(other, 17)), (uint32_t) mix(other + one)};
}

static gpc_state_slot_t *
find(gpc_state_slot_t *table, uint64_t slots, gpc_state_hash_t hash)
{
    uint64_t slot = hash.high & (slots - 1);
    while (table[slot].state != GPC_NONE && (table[slot].high != hash.high || table[slot].low != hash.low)) {
        slot = (slot + 1) & (slots - 1);
    }
    return &table[slot];
}

/* ---- growing ----------------------------------------------------------------------------------------------------- */

static int
grow_table(gpc_states_t *self, uint64_t slots)
{
    gpc_state_slot_t *table = malloc(slots * sizeof(*table));
    if (!table) {
        return GPC_ERROR_MEMORY;
    }
    memset(table, 0xFF, slots * sizeof(*table)); /* all free */
    for (uint64_t i = 0; i < self->slots; i++) {
        const gpc_state_slot_t *old = &self->table[i];
        if (old->state != GPC_NONE) {
            *find(table, slots, (gpc_state_hash_t){old->high, old->low}) = *old;
        }
    }
    free(self->table);
    self->table = table;
    self->slots = slots;
    return GPC_OK;
}

static int
grow(gpc_states_t *self)
{
    if (self->count < self->capacity) {
        return GPC_OK;
    }
    uint32_t capacity = self->capacity ? 2 * self->capacity : FIRST_CAPACITY;
    gpc_state_seen_t *seen = realloc(self->seen, capacity * sizeof(*seen));
    if (!seen) {
        return GPC_ERROR_MEMORY;
    }
    self->seen = seen;
    uint32_t *first_edge = realloc(self->first_edge, (capacity + (size_t) 1) * sizeof(*first_edge));
    if (!first_edge) {
        return GPC_ERROR_MEMORY;
    }
    self->first_edge = first_edge;
    self->first_edge[0] = 0;
    self->capacity = capacity;
    return grow_table(self, 2 * (uint64_t) capacity);
}

int
gpc_states_note(gpc_states_t *self, gpc_state_hash_t hash, const gpc_state_seen_t *how, uint32_t *state, bool *is_new)
{
    GPC_TRY(grow(self));
    gpc_state_slot_t *slot = find(self->table, self->slots, hash);
    *is_new = slot->state == GPC_NONE;
    if (*is_new) {
        *slot = (gpc_state_slot_t){hash.high, hash.low, self->count};
        self->seen[self->count++] = *how;
    }
    *state = slot->state;
    return GPC_OK;
}

int
gpc_states_add_edge(gpc_states_t *self, uint32_t to)
{
    if (self->num_edges == self->edge_capacity) {
        uint32_t capacity = self->edge_capacity ? 2 * self->edge_capacity : 4 * FIRST_CAPACITY;
        uint32_t *edges = realloc(self->edges, capacity * sizeof(*edges));
        if (!edges) {
            return GPC_ERROR_MEMORY;
        }
        self->edges = edges;
        self->edge_capacity = capacity;
    }
    self->edges[self->num_edges++] = to;
    return GPC_OK;
}

void
gpc_states_expanded(gpc_states_t *self)
{
    self->first_edge[++self->expanded] = self->num_edges;
}

uint32_t
gpc_states_path(const gpc_states_t *self, uint32_t state, uint16_t *moves)
{
    uint32_t depth = self->seen[state].depth;
    for (uint32_t i = depth; i > 0; i--) {
        moves[i - 1] = self->seen[state].move;
        state = self->seen[state].parent;
    }
    return depth;
}

/* ---- the queue of images: pieces (place, count, words) that differ from the first state's, ended by count 0 ------ */

typedef struct {
    uint32_t place, count; /* in words of eight bytes */
} piece_t;

static gpc_state_block_t *
block_with_room(gpc_states_t *self, size_t bytes)
{
    gpc_state_block_t *block = self->newest;
    if (block && block->capacity - block->written >= bytes) {
        return block;
    }
    size_t capacity = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
    block = malloc(sizeof(*block) + capacity);
    if (!block) {
        return NULL;
    }
    *block = (gpc_state_block_t){.capacity = capacity};
    if (self->newest) {
        self->newest->next = block;
    } else {
        self->oldest = block;
    }
    self->newest = block;
    return block;
}

static void
put(gpc_state_block_t *block, const void *bytes, size_t length)
{
    memcpy(block->bytes + block->written, bytes, length);
    block->written += length;
}

static bool
differs(const uint8_t *one, const uint8_t *other)
{
    uint64_t a, b;
    memcpy(&a, one, sizeof(a));
    memcpy(&b, other, sizeof(b));
    return a != b;
}

/* Whether two groups of eight words differ: without a branch per word, for most of an image equals the first
 * state's. */
static bool
group_differs(const uint8_t *one, const uint8_t *other)
{
    uint64_t a[8], b[8], found = 0;
    memcpy(a, one, sizeof(a));
    memcpy(b, other, sizeof(b));
    for (uint32_t i = 0; i < 8; i++) {
        found |= a[i] ^ b[i];
    }
    return found != 0;
}

/* The first word from `at` on that differs, or `words`. */
static size_t
next_difference(const uint8_t *image, const uint8_t *base, size_t at, size_t words)
{
    while (at + 8 <= words && !group_differs(image + 8 * at, base + 8 * at)) {
        at += 8;
    }
    while (at < words && !differs(image + 8 * at, base + 8 * at)) {
        at++;
    }
    return at;
}

int
gpc_states_queue(gpc_states_t *self, const uint8_t *image)
{
    const uint8_t *base = self->base;
    size_t words = self->image_bytes / 8, at = 0;
    gpc_state_block_t *block = block_with_room(self, 2 * self->image_bytes + sizeof(piece_t));
    if (!block) {
        return GPC_ERROR_MEMORY;
    }
    while ((at = next_difference(image, base, at, words)) < words) {
        piece_t piece = {(uint32_t) at, 0};
        while (at < words && differs(image + 8 * at, base + 8 * at)) {
            at++;
            piece.count++;
        }
        put(block, &piece, sizeof(piece));
        put(block, image + 8 * (size_t) piece.place, 8 * (size_t) piece.count);
    }
    put(block, &(piece_t){0, 0}, sizeof(piece_t));
    return GPC_OK;
}

/* The pieces of an image, from the block's place `at`: overwritten with the first state's words, or with their own.
 * Returns the place behind them. */
static size_t
take_pieces(const gpc_states_t *self, const gpc_state_block_t *block, size_t at, bool undo, uint8_t *image)
{
    for (;;) {
        piece_t piece;
        memcpy(&piece, block->bytes + at, sizeof(piece));
        at += sizeof(piece);
        if (piece.count == 0) {
            return at;
        }
        size_t place = 8 * (size_t) piece.place, bytes = 8 * (size_t) piece.count;
        memcpy(image + place, undo ? self->base + place : block->bytes + at, bytes);
        at += bytes;
    }
}

void
gpc_states_dequeue(gpc_states_t *self, uint8_t *image)
{
    gpc_state_block_t *block = self->oldest;
    if (self->dequeued) {
        take_pieces(self, block, block->last, true, image);
    } else {
        memcpy(image, self->base, self->image_bytes);
        self->dequeued = true;
    }
    if (block->read == block->written) {
        self->oldest = block->next;
        free(block);
        block = self->oldest;
    }
    block->last = block->read;
    block->read = take_pieces(self, block, block->read, false, image);
}

/* ---- traps: backward search from states at rest ------------------------------------------------------------------ */

typedef struct {
    uint32_t *first, *from; /* owned: edges by their end */
    uint64_t *well;         /* owned: one bit per state that can reach a state at rest */
    uint32_t *stack;        /* owned: states whose predecessors are not visited yet */
} backwards_t;

static bool
is_set(const uint64_t *bits, uint32_t i)
{
    return bits[i / 64] >> (i % 64) & 1;
}

/* Number of edges of the completely expanded states. */
static uint32_t
whole_edges(const gpc_states_t *self)
{
    return self->first_edge[self->expanded];
}

static void
reverse_edges(const gpc_states_t *self, backwards_t *back)
{
    for (uint32_t i = 0; i < whole_edges(self); i++) {
        back->first[self->edges[i] + 1]++;
    }
    for (uint32_t state = 0; state < self->count; state++) {
        back->first[state + 1] += back->first[state];
    }
    for (uint32_t state = self->expanded; state-- > 0;) {
        for (uint32_t i = self->first_edge[state]; i < self->first_edge[state + 1]; i++) {
            back->from[--back->first[self->edges[i] + 1]] = state;
        }
    }
    /* first[s + 1] is now the begin of s */
}

static void
spread(const gpc_states_t *self, backwards_t *back)
{
    uint32_t waiting = 0;
    for (uint32_t state = 0; state < self->count; state++) {
        if (state >= self->expanded || self->seen[state].rests) {
            back->well[state / 64] |= UINT64_C(1) << (state % 64);
            back->stack[waiting++] = state;
        }
    }
    while (waiting) {
        uint32_t state = back->stack[--waiting];
        uint32_t end = state + 1 < self->count ? back->first[state + 2] : whole_edges(self);
        for (uint32_t i = back->first[state + 1]; i < end; i++) {
            uint32_t before = back->from[i];
            if (!is_set(back->well, before)) {
                back->well[before / 64] |= UINT64_C(1) << (before % 64);
                back->stack[waiting++] = before;
            }
        }
    }
}

int
gpc_states_find_trap(const gpc_states_t *self, uint32_t *state)
{
    backwards_t back = {.first = calloc((size_t) self->count + 2, sizeof(uint32_t)),
                        .from = malloc((self->num_edges + (size_t) 1) * sizeof(uint32_t)),
                        .well = calloc((size_t) self->count / 64 + 1, sizeof(uint64_t)),
                        .stack = malloc((self->count + (size_t) 1) * sizeof(uint32_t))};
    int status = back.first && back.from && back.well && back.stack ? GPC_OK : GPC_ERROR_MEMORY;

    *state = GPC_NONE;
    if (status == GPC_OK) {
        reverse_edges(self, &back);
        spread(self, &back);
        for (uint32_t i = 0; i < self->count && *state == GPC_NONE; i++) {
            *state = is_set(back.well, i) ? GPC_NONE : i;
        }
    }
    free(back.first);
    free(back.from);
    free(back.well);
    free(back.stack);
    return status;
}

/* arena.h: where all simulated state lives, so that a snapshot is a memory copy; and pools of equal items in it.
 *
 * Pointers into an arena are wiring: they stand in objects outside of it and stay valid for the arena's life. State inside
 * refers to state by index only. */
#ifndef GPC_BASE_ARENA_H
#define GPC_BASE_ARENA_H

#include "base/types.h"

typedef struct {
    uint8_t *bytes; /* owned */
    size_t used, capacity;
} gpc_arena_chunk_t;

typedef struct {
    gpc_arena_chunk_t *chunks; /* owned */
    size_t num_chunks;
    size_t chunk_size; /* of ordinary chunks; a larger piece gets one of its own */
    uint8_t *small;    /* where the next small piece goes, inside a chunk */
    size_t small_left;
    bool failed; /* a piece could not be had: checked once, after building */
} gpc_arena_t;

void gpc_arena_init(gpc_arena_t *self, size_t chunk_size);
void gpc_arena_free(gpc_arena_t *self);
/* Zeroed, aligned to 64 bytes, or to 16 when it is smaller than that: small pieces taken one after another, a controller's
 * counters and lists for instance, share cache lines. NULL (and `failed`) when memory ran out or count * size overflows. */
void *gpc_arena_take(gpc_arena_t *self, size_t count, size_t size);
#define GPC_ARENA_TAKE(arena, count, type) ((type *) gpc_arena_take((arena), (count), sizeof(type)))

size_t gpc_arena_bytes(const gpc_arena_t *self);
void gpc_arena_save(const gpc_arena_t *self, uint8_t *out);   /* gpc_arena_bytes long */
void gpc_arena_load(gpc_arena_t *self, const uint8_t *bytes); /* of an arena built in the same way */

/* ---- pools: items of one size, taken and given back by index. An item's first four bytes are its link while free. ---- */

typedef struct {
    gpc_index_t free; /* first free item that was in use before */
    uint32_t high;    /* items from here on were never used */
    uint32_t in_use;
    uint32_t most; /* largest in_use seen */
} gpc_pool_state_t;

typedef struct {
    uint8_t *items; /* borrowed from the arena */
    gpc_pool_state_t *state;
    uint32_t item_size, capacity;
} gpc_pool_t;

GPC_MUST_CHECK int gpc_pool_init(gpc_pool_t *self, gpc_arena_t *arena, uint32_t capacity, uint32_t item_size);

static inline void *
gpc_pool_at(const gpc_pool_t *self, gpc_index_t i)
{
    return self->items + (size_t) i * self->item_size;
}

/* One item behind the last, which nobody ever has: what a writer without room writes into. */
static inline void *
gpc_pool_spare(const gpc_pool_t *self)
{
    return gpc_pool_at(self, self->capacity);
}

/* An item as it was left (not zeroed), or GPC_NONE when all are in use. */
static inline gpc_index_t
gpc_pool_take(const gpc_pool_t *self)
{
    gpc_pool_state_t *state = self->state;
    gpc_index_t i = state->free;
    if (i != GPC_NONE) {
        state->free = *(const gpc_index_t *) gpc_pool_at(self, i);
    } else if (state->high < self->capacity) {
        i = state->high++;
    } else {
        return GPC_NONE;
    }
    if (++state->in_use > state->most) {
        state->most = state->in_use;
    }
    return i;
}

static inline void
gpc_pool_give(const gpc_pool_t *self, gpc_index_t i)
{
    gpc_pool_state_t *state = self->state;
    *(gpc_index_t *) gpc_pool_at(self, i) = state->free;
    state->free = i;
    state->in_use--;
}

#endif

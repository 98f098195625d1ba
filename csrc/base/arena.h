/* arena.h: the arena holds all simulated state, so that a snapshot is a memory copy; pools of equal items in it.
 *
 * Objects outside the arena hold pointers into it, which are valid for the arena's lifetime. State in the arena refers
 * to other state by index only. */
#ifndef GPC_BASE_ARENA_H
#define GPC_BASE_ARENA_H

#include "base/stock.h"
#include "base/types.h"

typedef struct {
    uint8_t *bytes; /* owned */
    size_t used, capacity;
} gpc_arena_chunk_t;

typedef struct {
    gpc_arena_chunk_t *chunks; /* owned */
    size_t num_chunks;
    size_t chunk_size; /* of ordinary chunks; a larger piece gets a chunk of its own */
    uint8_t *small;    /* address of the next small piece */
    size_t small_left;
    gpc_stock_t *stock; /* borrowed, set after gpc_arena_init: of the chunks; may be NULL */
    bool failed;        /* an allocation failed; checked once, after building */
} gpc_arena_t;

void gpc_arena_init(gpc_arena_t *self, size_t chunk_size);
void gpc_arena_free(gpc_arena_t *self);
/* Zeroed memory, aligned to 64 bytes; pieces below 64 bytes are aligned to 16, so that consecutive small pieces, such
 * as a controller's counters and lists, share cache lines. NULL (and `failed`) when out of memory or when count * size
 * overflows. */
void *gpc_arena_take(gpc_arena_t *self, size_t count, size_t size);
#define GPC_ARENA_TAKE(arena, count, type) ((type *) gpc_arena_take((arena), (count), sizeof(type)))

size_t gpc_arena_bytes(const gpc_arena_t *self);
void gpc_arena_save(const gpc_arena_t *self, uint8_t *out); /* gpc_arena_bytes long */
/* The same bytes where they are; NULL if the arena has several chunks. */
static inline const uint8_t *
gpc_arena_whole(const gpc_arena_t *self)
{
    return self->num_chunks == 1 ? self->chunks[0].bytes : NULL;
}
void gpc_arena_load(gpc_arena_t *self, const uint8_t *bytes); /* into an arena of the same layout */

/* A copy of an arena without its blocks of zeros, which most of a large machine's state is. */
typedef struct gpc_arena_image gpc_arena_image_t;
GPC_MUST_CHECK int gpc_arena_image_save(const gpc_arena_t *self, gpc_arena_image_t **out);
void gpc_arena_image_load(gpc_arena_t *self, const gpc_arena_image_t *image); /* into an arena of the same layout */
size_t gpc_arena_image_bytes(const gpc_arena_image_t *image);                 /* gpc_arena_bytes of the saved arena */
void gpc_arena_image_free(gpc_arena_image_t *image);

/* ---- pools: items of one size, taken and returned by index. Their order is beside them: an item that is taken has
 * mostly left the host's cache. ---- */

typedef struct {
    uint32_t in_use;
} gpc_pool_state_t;

typedef struct {
    uint8_t *items; /* borrowed from the arena, as the next two */
    gpc_pool_state_t *state;
    /* [capacity]: from place `in_use` on the free items, the one returned last first; each less its place, so that
     * items never in use are zero, which snapshots leave out. */
    gpc_index_t *order;
    uint32_t item_size, capacity;
} gpc_pool_t;

GPC_MUST_CHECK int gpc_pool_init(gpc_pool_t *self, gpc_arena_t *arena, uint32_t capacity, uint32_t item_size);
void gpc_pool_clear(const gpc_pool_t *self); /* all items are free */

static inline void *
gpc_pool_at(const gpc_pool_t *self, gpc_index_t i)
{
    return self->items + (size_t) i * self->item_size;
}

/* An extra item behind the last one, never taken: a scratch target for writers without room. */
static inline void *
gpc_pool_spare(const gpc_pool_t *self)
{
    return gpc_pool_at(self, self->capacity);
}

/* An item, not zeroed, or GPC_NONE when all are in use. */
static inline gpc_index_t
gpc_pool_take(const gpc_pool_t *self)
{
    uint32_t place = self->state->in_use;
    if (place >= self->capacity) {
        return GPC_NONE;
    }
    self->state->in_use = place + 1;
    return self->order[place] + place;
}

static inline void
gpc_pool_give(const gpc_pool_t *self, gpc_index_t i)
{
    uint32_t place = --self->state->in_use;
    self->order[place] = i - place;
}

#endif

/* arena.c: takes storage from chunks, saves and restores all of it, in place or as an image; lays out pools. */
#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

#include "base/blocks.h"
#include "base/errors.h"

enum { ALIGNMENT = 64, SMALL_ALIGNMENT = 16, SMALL_BLOCK = 512 };

#define IMAGE_BLOCK ((size_t) 4096)

void
gpc_arena_init(gpc_arena_t *self, size_t chunk_size)
{
    *self = (gpc_arena_t){.chunk_size = chunk_size};
}

void
gpc_arena_free(gpc_arena_t *self)
{
    /* Backwards: of equal blocks a stock gives the last one first, so each chunk is used as it was before. */
    for (size_t i = self->num_chunks; i-- > 0;) {
        gpc_stock_give(self->stock, self->chunks[i].bytes, self->chunks[i].capacity);
    }
    free(self->chunks);
    gpc_arena_init(self, self->chunk_size);
}

static gpc_arena_chunk_t *
add_chunk(gpc_arena_t *self, size_t capacity)
{
    gpc_arena_chunk_t *chunks = realloc(self->chunks, (self->num_chunks + 1) * sizeof(*chunks));
    if (!chunks) {
        return NULL;
    }
    self->chunks = chunks;
    uint8_t *bytes = gpc_stock_take(self->stock, capacity);
    if (!bytes) {
        return NULL;
    }
    chunks[self->num_chunks] = (gpc_arena_chunk_t){.bytes = bytes, .capacity = capacity};
    return &chunks[self->num_chunks++];
}

static void *
take_aligned(gpc_arena_t *self, size_t bytes)
{
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    gpc_arena_chunk_t *chunk = self->num_chunks ? &self->chunks[self->num_chunks - 1] : NULL;

    if (!chunk || chunk->capacity - chunk->used < bytes) {
        chunk = add_chunk(self, bytes > self->chunk_size ? bytes : self->chunk_size);
        if (!chunk) {
            self->failed = true;
            return NULL;
        }
    }
    void *piece = chunk->bytes + chunk->used;
    chunk->used += bytes;
    return piece;
}

static void *
take_small(gpc_arena_t *self, size_t bytes)
{
    bytes = (bytes + SMALL_ALIGNMENT - 1) / SMALL_ALIGNMENT * SMALL_ALIGNMENT;
    if (self->small_left < bytes) {
        self->small = take_aligned(self, SMALL_BLOCK);
        self->small_left = self->small ? SMALL_BLOCK : 0;
        if (!self->small) {
            return NULL;
        }
    }
    uint8_t *piece = self->small;
    self->small += bytes;
    self->small_left -= bytes;
    return piece;
}

void *
gpc_arena_take(gpc_arena_t *self, size_t count, size_t size)
{
    if (size && count > (SIZE_MAX / 2) / size) {
        self->failed = true;
        return NULL;
    }
    size_t bytes = count * size;
    return bytes > 0 && bytes < ALIGNMENT ? take_small(self, bytes) : take_aligned(self, bytes);
}

size_t
gpc_arena_bytes(const gpc_arena_t *self)
{
    size_t bytes = 0;
    for (size_t i = 0; i < self->num_chunks; i++) {
        bytes += self->chunks[i].used;
    }
    return bytes;
}

void
gpc_arena_save(const gpc_arena_t *self, uint8_t *out)
{
    for (size_t i = 0; i < self->num_chunks; i++) {
        memcpy(out, self->chunks[i].bytes, self->chunks[i].used);
        out += self->chunks[i].used;
    }
}

void
gpc_arena_load(gpc_arena_t *self, const uint8_t *bytes)
{
    for (size_t i = 0; i < self->num_chunks; i++) {
        memcpy(self->chunks[i].bytes, bytes, self->chunks[i].used);
        bytes += self->chunks[i].used;
    }
}

/* ---- images ------------------------------------------------------------------------------------------------------ */

struct gpc_arena_image {
    size_t arena_bytes; /* of the saved arena */
    size_t count;
    uint64_t *numbers; /* owned; [count]: of the blocks that are not zero, over all chunks, ascending */
    uint8_t *blocks;   /* owned; [count][IMAGE_BLOCK] */
};

static bool
is_zero(const uint8_t *bytes, size_t size)
{
    return size == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0);
}

/* Calls `visit` for each block of the arena, the last one of a chunk may be shorter. */
typedef void (*visit_block_t)(void *context, uint64_t number, uint8_t *bytes, size_t size);

static void
visit_blocks(const gpc_arena_t *self, visit_block_t visit, void *context)
{
    uint64_t number = 0;
    for (size_t i = 0; i < self->num_chunks; i++) {
        const gpc_arena_chunk_t *chunk = &self->chunks[i];
        for (size_t at = 0; at < chunk->used; at += IMAGE_BLOCK) {
            size_t left = chunk->used - at;
            visit(context, number++, chunk->bytes + at, left < IMAGE_BLOCK ? left : IMAGE_BLOCK);
        }
    }
}

static void
count_block(void *context, uint64_t number, uint8_t *bytes, size_t size)
{
    (void) number;
    *(size_t *) context += !is_zero(bytes, size);
}

static void
save_block(void *context, uint64_t number, uint8_t *bytes, size_t size)
{
    gpc_arena_image_t *image = context;
    if (!is_zero(bytes, size)) {
        image->numbers[image->count] = number;
        memcpy(image->blocks + image->count++ * IMAGE_BLOCK, bytes, size);
    }
}

int
gpc_arena_image_save(const gpc_arena_t *self, gpc_arena_image_t **out)
{
    size_t count = 0;
    gpc_arena_image_t *image = *out = calloc(1, sizeof(*image));
    if (!image) {
        return GPC_ERROR_MEMORY;
    }
    visit_blocks(self, count_block, &count);
    image->arena_bytes = gpc_arena_bytes(self);
    image->numbers = malloc((count + 1) * sizeof(*image->numbers));
    image->blocks = gpc_block_take((count + 1) * IMAGE_BLOCK);
    if (!image->numbers || !image->blocks) {
        gpc_block_give(image->blocks, (count + 1) * IMAGE_BLOCK);
        free(image->numbers);
        free(image);
        *out = NULL;
        return GPC_ERROR_MEMORY;
    }
    visit_blocks(self, save_block, image);
    return GPC_OK;
}

typedef struct {
    const gpc_arena_image_t *image;
    size_t next;
} loading_t;

static void
load_block(void *context, uint64_t number, uint8_t *bytes, size_t size)
{
    loading_t *loading = context;
    const gpc_arena_image_t *image = loading->image;
    if (loading->next < image->count && image->numbers[loading->next] == number) {
        memcpy(bytes, image->blocks + loading->next++ * IMAGE_BLOCK, size);
    } else if (!is_zero(bytes, size)) { /* a write would take memory for a page of zeros */
        memset(bytes, 0, size);
    }
}

void
gpc_arena_image_load(gpc_arena_t *self, const gpc_arena_image_t *image)
{
    loading_t loading = {image, 0};
    visit_blocks(self, load_block, &loading);
}

size_t
gpc_arena_image_bytes(const gpc_arena_image_t *image)
{
    return image->arena_bytes;
}

void
gpc_arena_image_free(gpc_arena_image_t *image)
{
    if (image) {
        gpc_block_give(image->blocks, (image->count + 1) * IMAGE_BLOCK);
        free(image->numbers);
        free(image);
    }
}

/* ---- pools ------------------------------------------------------------------------------------------------------- */

int
gpc_pool_init(gpc_pool_t *self, gpc_arena_t *arena, uint32_t capacity, uint32_t item_size)
{
    self->item_size = (item_size + 7u) / 8u * 8u;
    self->capacity = capacity;
    self->items = gpc_arena_take(arena, capacity + 1u, self->item_size);
    self->state = GPC_ARENA_TAKE(arena, 1, gpc_pool_state_t);
    self->order = GPC_ARENA_TAKE(arena, capacity, gpc_index_t);
    return self->items && self->state && self->order ? GPC_OK : GPC_ERROR_MEMORY;
}

void
gpc_pool_clear(const gpc_pool_t *self)
{
    self->state->in_use = 0;
    memset(self->order, 0, self->capacity * sizeof(*self->order));
}

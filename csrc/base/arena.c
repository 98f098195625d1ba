#define _DEFAULT_SOURCE /* madvise */
#include "base/arena.h"

#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#include "base/errors.h"

enum { ALIGNMENT = 64, SMALL_ALIGNMENT = 16, SMALL_BLOCK = 512 };

#define HUGE_PAGE ((size_t) 2 << 20)

void
gpc_arena_init(gpc_arena_t *self, size_t chunk_size)
{
    *self = (gpc_arena_t){.chunk_size = chunk_size};
}

void
gpc_arena_free(gpc_arena_t *self)
{
    for (size_t i = 0; i < self->num_chunks; i++) {
        free(self->chunks[i].bytes);
    }
    free(self->chunks);
    gpc_arena_init(self, self->chunk_size);
}

/* Aligned inside a calloc block: calloc does not touch pages, aligned_alloc with memset would. */
static uint8_t *
aligned(uint8_t *bytes)
{
    uintptr_t misaligned = (uintptr_t) bytes % ALIGNMENT;
    return misaligned ? bytes + (ALIGNMENT - misaligned) : bytes;
}

/* The state of large machines exceeds the reach of the host's TLB. A failure only costs speed. */
static void
advise_huge_pages(uint8_t *bytes, size_t size)
{
#ifdef MADV_HUGEPAGE
    uintptr_t first = ((uintptr_t) bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    uintptr_t last = ((uintptr_t) bytes + size) / HUGE_PAGE * HUGE_PAGE;
    if (first < last) {
        (void) madvise((void *) first, last - first, MADV_HUGEPAGE);
    }
#else
    (void) bytes;
    (void) size;
#endif
}

static gpc_arena_chunk_t *
add_chunk(gpc_arena_t *self, size_t capacity)
{
    gpc_arena_chunk_t *chunks = realloc(self->chunks, (self->num_chunks + 1) * sizeof(*chunks));
    if (!chunks) {
        return NULL;
    }
    self->chunks = chunks;
    uint8_t *bytes = calloc(1, capacity + ALIGNMENT);
    if (!bytes) {
        return NULL;
    }
    advise_huge_pages(bytes, capacity);
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
    void *piece = aligned(chunk->bytes) + chunk->used;
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
        memcpy(out, aligned(self->chunks[i].bytes), self->chunks[i].used);
        out += self->chunks[i].used;
    }
}

void
gpc_arena_load(gpc_arena_t *self, const uint8_t *bytes)
{
    for (size_t i = 0; i < self->num_chunks; i++) {
        memcpy(aligned(self->chunks[i].bytes), bytes, self->chunks[i].used);
        bytes += self->chunks[i].used;
    }
}

int
gpc_pool_init(gpc_pool_t *self, gpc_arena_t *arena, uint32_t capacity, uint32_t item_size)
{
    self->item_size = (item_size + 7u) / 8u * 8u;
    self->capacity = capacity;
    self->items = gpc_arena_take(arena, capacity + 1u, self->item_size);
    self->state = GPC_ARENA_TAKE(arena, 1, gpc_pool_state_t);
    if (!self->items || !self->state) {
        return GPC_ERROR_MEMORY;
    }
    self->state->free = GPC_NONE;
    return 0;
}

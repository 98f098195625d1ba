/* stock.c: keeps the blocks of closed GPUs, and gives the oldest back to the system when there are too many. */
#include "base/stock.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/blocks.h"

enum { BLOCKS = 256 };

typedef struct {
    void *block; /* owned; zero */
    size_t bytes;
    size_t memory; /* that it takes */
} kept_t;

struct gpc_stock {
    atomic_flag busy; /* a thread changes what follows */
    uint32_t count;
    size_t memory;       /* of all kept blocks */
    kept_t kept[BLOCKS]; /* [count]; the one given first comes first */
};

gpc_stock_t *
gpc_stock_create(void)
{
    gpc_stock_t *self = calloc(1, sizeof(*self));
    if (self) {
        atomic_flag_clear(&self->busy);
    }
    return self;
}

/* False if another thread is inside: waiting could take longer than the system's allocation. */
static bool
enter(gpc_stock_t *self)
{
    return self && !atomic_flag_test_and_set_explicit(&self->busy, memory_order_acquire);
}

static void
leave(gpc_stock_t *self)
{
    atomic_flag_clear_explicit(&self->busy, memory_order_release);
}

static kept_t
remove_kept(gpc_stock_t *self, uint32_t i)
{
    kept_t it = self->kept[i];
    self->count--;
    self->memory -= it.memory;
    memmove(&self->kept[i], &self->kept[i + 1], (self->count - i) * sizeof(*self->kept));
    return it;
}

static void
give_back_oldest(gpc_stock_t *self)
{
    kept_t oldest = remove_kept(self, 0);
    gpc_block_give(oldest.block, oldest.bytes);
}

void
gpc_stock_free(gpc_stock_t *self)
{
    while (self && self->count) {
        give_back_oldest(self);
    }
    free(self);
}

size_t
gpc_stock_bytes(const gpc_stock_t *self)
{
    return self->memory;
}

void *
gpc_stock_take(gpc_stock_t *self, size_t bytes)
{
    void *block = NULL;
    if (enter(self)) {
        /* The block given last is the likeliest to be in the host's caches. */
        for (uint32_t i = self->count; i-- > 0 && !block;) {
            block = self->kept[i].bytes == bytes ? remove_kept(self, i).block : NULL;
        }
        leave(self);
    }
    return block ? block : gpc_block_take(bytes);
}

/* Whether the block, which is zero and takes `memory`, is kept. */
static bool
keep(gpc_stock_t *self, void *block, size_t bytes, size_t memory)
{
    if (!enter(self)) {
        return false;
    }
    while (self->count == BLOCKS || self->memory + memory > GPC_STOCK_BYTES) {
        give_back_oldest(self);
    }
    self->kept[self->count++] = (kept_t){block, bytes, memory};
    self->memory += memory;
    leave(self);
    return true;
}

void
gpc_stock_give(gpc_stock_t *self, void *block, size_t bytes)
{
    size_t memory = 0;
    if (!block || !self || !gpc_block_clear(block, bytes, GPC_STOCK_BYTES / 4, &memory) ||
        !keep(self, block, bytes, memory)) {
        gpc_block_give(block, bytes);
    }
}

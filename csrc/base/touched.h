/* touched.h: the die of each page that a core has accessed, of machines whose pages are in the die of their first
 * access. An open hash table in the arena, which pages never leave. */
#ifndef GPC_BASE_TOUCHED_H
#define GPC_BASE_TOUCHED_H

#include "base/arena.h"

#define GPC_TOUCHED_ENTRIES (1u << 18) /* a power of two; half of them are used at most */

typedef struct {
    uint64_t page; /* + 1; 0: free */
    uint32_t die;
} gpc_touched_page_t;

typedef struct {
    gpc_touched_page_t *entries; /* [GPC_TOUCHED_ENTRIES], borrowed from the arena; NULL: there is no table */
    uint32_t *used;
} gpc_touched_t;

/* The entry of the page, or the free one that it takes. */
static inline gpc_touched_page_t *
gpc_touched_entry(const gpc_touched_t *self, uint64_t page)
{
    uint32_t i = (uint32_t) (page * UINT64_C(0x9e3779b97f4a7c15) >> 46);
    while (self->entries[i].page && self->entries[i].page != page + 1) {
        i = (i + 1) % GPC_TOUCHED_ENTRIES;
    }
    return &self->entries[i];
}

/* GPC_NONE: no access yet. */
static inline uint32_t
gpc_touched_die(const gpc_touched_t *self, uint64_t page)
{
    const gpc_touched_page_t *entry = gpc_touched_entry(self, page);
    return entry->page ? entry->die : GPC_NONE;
}

/* A core of the die accesses the page; false: the table has no place for another page. */
static inline bool
gpc_touched_add(const gpc_touched_t *self, uint64_t page, uint32_t die)
{
    gpc_touched_page_t *entry = gpc_touched_entry(self, page);
    if (entry->page) {
        return true;
    }
    if (*self->used == GPC_TOUCHED_ENTRIES / 2) {
        return false;
    }
    *entry = (gpc_touched_page_t) {.page = page + 1, .die = die};
    ++*self->used;
    return true;
}

#endif

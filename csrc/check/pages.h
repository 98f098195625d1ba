/* pages.h: a growing hash table of equally sized pages, by number: shadow memory of the monitors and the race detector. */
#ifndef GPC_CHECK_PAGES_H
#define GPC_CHECK_PAGES_H

#include "base/types.h"

typedef struct {
    uint64_t number;
    void *page; /* owned; NULL: the slot is free */
} gpc_page_place_t;

typedef struct {
    gpc_page_place_t *places; /* owned; [capacity], a power of two, at most half full */
    uint32_t capacity, count;
    size_t page_size;
} gpc_pages_t;

void gpc_pages_init(gpc_pages_t *self, size_t page_size);
void gpc_pages_free(gpc_pages_t *self); /* and every page; the table is then empty */
void *gpc_pages_find(const gpc_pages_t *self, uint64_t number);
void *gpc_pages_make(gpc_pages_t *self, uint64_t number); /* zeroed when new; NULL: out of memory */

#endif

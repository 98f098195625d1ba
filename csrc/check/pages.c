/* pages.c: finds and makes pages by number. */
#include "check/pages.h"

#include <stdlib.h>

enum { FIRST_CAPACITY = 64 };

void
gpc_pages_init(gpc_pages_t *self, size_t page_size)
{
    *self = (gpc_pages_t){.page_size = page_size};
}

void
gpc_pages_free(gpc_pages_t *self)
{
    for (uint32_t i = 0; i < self->capacity; i++) {
        free(self->places[i].page);
    }
    free(self->places);
    gpc_pages_init(self, self->page_size);
}

static uint32_t
place_of(const gpc_pages_t *self, uint64_t number)
{
    uint32_t mask = self->capacity - 1;
    uint32_t place = (uint32_t) (number * UINT64_C(0x9E3779B97F4A7C15) >> 32) & mask;
    while (self->places[place].page && self->places[place].number != number) {
        place = (place + 1) & mask;
    }
    return place;
}

void *
gpc_pages_find(const gpc_pages_t *self, uint64_t number)
{
    return self->capacity ? self->places[place_of(self, number)].page : NULL;
}

static bool
grow(gpc_pages_t *self)
{
    gpc_pages_t grown = *self;
    grown.capacity = self->capacity ? 2 * self->capacity : FIRST_CAPACITY;
    grown.places = calloc(grown.capacity, sizeof(*grown.places));
    if (!grown.places) {
        return false;
    }
    for (uint32_t i = 0; i < self->capacity; i++) {
        if (self->places[i].page) {
            grown.places[place_of(&grown, self->places[i].number)] = self->places[i];
        }
    }
    free(self->places);
    *self = grown;
    return true;
}

void *
gpc_pages_make(gpc_pages_t *self, uint64_t number)
{
    void *page = gpc_pages_find(self, number);
    if (page) {
        return page;
    }
    if (self->count * 2 >= self->capacity && !grow(self)) {
        return NULL;
    }
    page = calloc(1, self->page_size);
    if (page) {
        self->places[place_of(self, number)] = (gpc_page_place_t){number, page};
        self->count++;
    }
    return page;
}

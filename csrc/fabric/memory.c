/* memory.c: pages of 64 KiB in an open hash table by page number, allocated when first written; and the allocations, a
 * table sorted by address because addresses only grow. An image shares its pages with the memory, and a memory copies a
 * shared page before it writes it. */
#include "fabric/memory.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/errors.h"

#define PAGE_BYTES (UINT64_C(1) << 16)
#define PAGE_WORDS (PAGE_BYTES / 4)
#define ALLOCATION_ALIGNMENT UINT64_C(4096)
#define FIRST_ADDRESS UINT64_C(65536)
#define FIRST_CAPACITY 64u

typedef struct {
    uint64_t number;    /* address / PAGE_BYTES */
    uint32_t *words;    /* owned together with the other users; NULL: the place is free */
    atomic_uint *users; /* owned likewise: memories and images with this page, in any thread */
} page_t;

typedef struct {
    page_t *places;    /* owned; [capacity], a power of two, at most half of them occupied */
    uint32_t capacity; /* 0 before the first page */
    uint32_t count;
    gpc_stock_t *stock; /* borrowed; may be NULL */
} page_table_t;

typedef struct {
    gpc_address_t address;
    uint64_t words;
} allocation_t;

struct gpc_memory {
    page_table_t pages;
    allocation_t *allocations; /* owned; by address; words 0: released */
    size_t num_allocations, capacity, num_released;
    uint64_t live_words;
    gpc_address_t next_address;
};

struct gpc_memory_image {
    gpc_memory_t copy;
};

/* ---- pages ------------------------------------------------------------------------------------------------------- */

static inline uint32_t
place_of(const page_table_t *table, uint64_t number)
{
    uint32_t mask = table->capacity - 1;
    uint32_t place = (uint32_t) (number * UINT64_C(0x9E3779B97F4A7C15) >> 32) & mask;
    while (table->places[place].words && table->places[place].number != number) {
        place = (place + 1) & mask;
    }
    return place;
}

static inline uint32_t *
page_find(const page_table_t *table, uint64_t number)
{
    return table->capacity ? table->places[place_of(table, number)].words : NULL;
}

static int
table_grow(page_table_t *table)
{
    page_table_t grown = {.capacity = table->capacity ? table->capacity * 2 : FIRST_CAPACITY,
                          .count = table->count,
                          .stock = table->stock};
    grown.places = calloc(grown.capacity, sizeof(page_t));
    if (!grown.places) {
        return GPC_ERROR_MEMORY;
    }
    for (uint32_t i = 0; i < table->capacity; i++) {
        if (table->places[i].words) {
            grown.places[place_of(&grown, table->places[i].number)] = table->places[i];
        }
    }
    free(table->places);
    *table = grown;
    return GPC_OK;
}

static void
page_give(gpc_stock_t *stock, page_t page)
{
    if (page.words && atomic_fetch_sub_explicit(page.users, 1, memory_order_acq_rel) == 1) {
        gpc_stock_give(stock, page.words, PAGE_BYTES);
        free(page.users);
    }
}

/* A new page of zeros; words is NULL when out of memory. */
static page_t
page_new(gpc_stock_t *stock, uint64_t number)
{
    page_t page = {number, gpc_stock_take(stock, PAGE_BYTES), malloc(sizeof(atomic_uint))};
    if (!page.words || !page.users) {
        gpc_stock_give(stock, page.words, PAGE_BYTES);
        free(page.users);
        return (page_t){0};
    }
    atomic_init(page.users, 1);
    return page;
}

/* The page's words for writing, its own copy if others use it; NULL when out of memory. */
static uint32_t *
page_unshare(gpc_stock_t *stock, page_t *page)
{
    if (atomic_load_explicit(page->users, memory_order_acquire) > 1) {
        page_t own = page_new(stock, page->number);
        if (!own.words) {
            return NULL;
        }
        memcpy(own.words, page->words, PAGE_BYTES);
        page_give(stock, *page);
        *page = own;
    }
    return page->words;
}

/* The page's words for writing, allocated if missing; NULL when out of memory. */
static uint32_t *
page_make(page_table_t *table, uint64_t number)
{
    if (table->capacity) {
        page_t *page = &table->places[place_of(table, number)];
        if (page->words) {
            return page_unshare(table->stock, page);
        }
    }
    if (table->count * 2 >= table->capacity && table_grow(table)) {
        return NULL;
    }
    page_t page = page_new(table->stock, number);
    if (page.words) {
        table->places[place_of(table, number)] = page;
        table->count++;
    }
    return page.words;
}

/* Removes the page and closes the gap, so that no search ends too early. */
static void
page_drop(page_table_t *table, uint64_t number)
{
    if (!page_find(table, number)) {
        return;
    }
    uint32_t mask = table->capacity - 1, gap = place_of(table, number);
    page_give(table->stock, table->places[gap]);
    table->places[gap].words = NULL;
    table->count--;
    for (uint32_t i = (gap + 1) & mask; table->places[i].words; i = (i + 1) & mask) {
        page_t page = table->places[i];
        table->places[i].words = NULL;
        table->places[place_of(table, page.number)] = page;
    }
}

static void
table_free(page_table_t *table)
{
    for (uint32_t i = 0; i < table->capacity; i++) {
        page_give(table->stock, table->places[i]);
    }
    free(table->places);
    *table = (page_table_t){.stock = table->stock};
}

/* ---- the memory -------------------------------------------------------------------------------------------------- */

int
gpc_memory_create(gpc_memory_t **out, gpc_stock_t *stock)
{
    gpc_memory_t *self = calloc(1, sizeof(*self));
    *out = self;
    if (!self) {
        return GPC_ERROR_MEMORY;
    }
    self->pages.stock = stock;
    self->next_address = FIRST_ADDRESS;
    return GPC_OK;
}

static void
contents_free(gpc_memory_t *self)
{
    table_free(&self->pages);
    free(self->allocations);
    self->allocations = NULL;
}

void
gpc_memory_free(gpc_memory_t *self)
{
    if (self) {
        contents_free(self);
        free(self);
    }
}

int
gpc_memory_allocate(gpc_memory_t *self, uint64_t words, gpc_address_t *address)
{
    if (words == 0) {
        return GPC_ERROR_ARGUMENT;
    }
    if (words > GPC_MEMORY_MAX_WORDS - self->live_words || self->next_address > UINT64_MAX / 2) {
        return GPC_ERROR_MEMORY;
    }
    if (self->num_allocations == self->capacity) {
        size_t capacity = self->capacity ? self->capacity * 2 : 16;
        allocation_t *grown = realloc(self->allocations, capacity * sizeof(*grown));
        if (!grown) {
            return GPC_ERROR_MEMORY;
        }
        self->allocations = grown;
        self->capacity = capacity;
    }
    *address = self->next_address;
    self->allocations[self->num_allocations++] = (allocation_t){self->next_address, words};
    self->live_words += words;
    self->next_address += (words * 4 + ALLOCATION_ALIGNMENT - 1) / ALLOCATION_ALIGNMENT * ALLOCATION_ALIGNMENT;
    return GPC_OK;
}

void
gpc_memory_align(gpc_memory_t *self, uint64_t bytes)
{
    self->next_address += (bytes - self->next_address % bytes) % bytes;
}

int
gpc_memory_allocate_from(gpc_memory_t *self, gpc_address_t address)
{
    if (address < self->next_address || address > UINT64_MAX / 2) {
        return GPC_ERROR_ADDRESS;
    }
    self->next_address = (address + ALLOCATION_ALIGNMENT - 1) / ALLOCATION_ALIGNMENT * ALLOCATION_ALIGNMENT;
    return GPC_OK;
}

/* When half of the entries are released, or they are listed: a release takes constant time on average. */
static void
drop_released(gpc_memory_t *self)
{
    size_t live = 0;
    for (size_t i = 0; i < self->num_allocations; i++) {
        if (self->allocations[i].words) {
            self->allocations[live++] = self->allocations[i];
        }
    }
    self->num_allocations = live;
    self->num_released = 0;
}

bool
gpc_memory_allocation(gpc_memory_t *self, size_t i, gpc_address_t *address, uint64_t *words)
{
    if (self->num_released) {
        drop_released(self);
    }
    if (i >= self->num_allocations) {
        return false;
    }
    *address = self->allocations[i].address;
    *words = self->allocations[i].words;
    return true;
}

/* Number of allocations that start at or below address. */
static size_t
allocations_up_to(const gpc_memory_t *self, gpc_address_t address)
{
    size_t low = 0, high = self->num_allocations;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (self->allocations[middle].address <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

int
gpc_memory_release(gpc_memory_t *self, gpc_address_t address)
{
    size_t i = allocations_up_to(self, address);
    if (i == 0 || self->allocations[i - 1].address != address || self->allocations[i - 1].words == 0) {
        return GPC_ERROR_ADDRESS;
    }
    allocation_t gone = self->allocations[--i];
    self->allocations[i].words = 0;
    self->live_words -= gone.words;
    if (++self->num_released > self->num_allocations / 2) {
        drop_released(self);
    }

    /* Pages wholly inside are freed; a read of a stale address returns 0 or faults. */
    uint64_t first = (gone.address + PAGE_BYTES - 1) / PAGE_BYTES, end = (gone.address + gone.words * 4) / PAGE_BYTES;
    for (uint64_t number = first; number < end && self->pages.count; number++) {
        page_drop(&self->pages, number);
    }
    return GPC_OK;
}

bool
gpc_memory_covers(const gpc_memory_t *self, gpc_address_t address, uint64_t words)
{
    size_t i = allocations_up_to(self, address);
    if (i == 0) {
        return false;
    }
    const allocation_t *allocation = &self->allocations[i - 1];
    if (allocation->words == 0) {
        return false;
    }
    gpc_address_t offset = address - allocation->address, bytes = allocation->words * 4;
    return offset <= bytes && words <= (bytes - offset) / 4;
}

bool
gpc_memory_around(const gpc_memory_t *self, gpc_address_t address, gpc_address_t *begin, uint64_t *words)
{
    size_t i = allocations_up_to(self, address);
    if (i == 0 || !gpc_memory_covers(self, address, 1)) {
        return false;
    }
    *begin = self->allocations[i - 1].address;
    *words = self->allocations[i - 1].words;
    return true;
}

/* ---- reading and writing ----------------------------------------------------------------------------------------- */

void
gpc_memory_read(const gpc_memory_t *self, gpc_address_t address, uint64_t words, uint32_t *out)
{
    while (words) {
        uint64_t offset = address % PAGE_BYTES / 4;
        uint64_t count = words < PAGE_WORDS - offset ? words : PAGE_WORDS - offset;
        const uint32_t *page = page_find(&self->pages, address / PAGE_BYTES);
        if (page) {
            memcpy(out, page + offset, (size_t) count * 4);
        } else {
            memset(out, 0, (size_t) count * 4);
        }
        address += count * 4;
        out += count;
        words -= count;
    }
}

int
gpc_memory_write(gpc_memory_t *self, gpc_address_t address, uint64_t words, const uint32_t *in)
{
    while (words) {
        uint64_t offset = address % PAGE_BYTES / 4;
        uint64_t count = words < PAGE_WORDS - offset ? words : PAGE_WORDS - offset;
        uint32_t *page = page_make(&self->pages, address / PAGE_BYTES);
        if (!page) {
            return GPC_ERROR_MEMORY;
        }
        memcpy(page + offset, in, (size_t) count * 4);
        address += count * 4;
        in += count;
        words -= count;
    }
    return GPC_OK;
}

int
gpc_memory_write_masked(gpc_memory_t *self, gpc_address_t line, gpc_mask_t mask, const uint32_t *in)
{
    assert(line % 4 == 0);
    if (!mask) {
        return GPC_OK;
    }
    uint32_t *page = page_make(&self->pages, line / PAGE_BYTES);
    if (!page) {
        return GPC_ERROR_MEMORY;
    }
    uint32_t *words = page + line % PAGE_BYTES / 4;
    for (; mask; mask &= mask - 1) {
        uint32_t i = (uint32_t) __builtin_ctz(mask);
        words[i] = in[i];
    }
    return GPC_OK;
}

/* ---- images ------------------------------------------------------------------------------------------------------ */

/* A copy that shares the pages. */
static int
copy_into(gpc_memory_t *to, const gpc_memory_t *from)
{
    *to = (gpc_memory_t){.live_words = from->live_words, .next_address = from->next_address};
    to->pages.places = calloc(from->pages.capacity ? from->pages.capacity : 1, sizeof(page_t));
    to->allocations = malloc((from->num_allocations ? from->num_allocations : 1) * sizeof(allocation_t));
    if (!to->pages.places || !to->allocations) {
        free(to->pages.places);
        free(to->allocations);
        *to = (gpc_memory_t){0};
        return GPC_ERROR_MEMORY;
    }
    to->pages.capacity = from->pages.capacity;
    to->pages.count = from->pages.count;
    to->pages.stock = from->pages.stock;
    for (uint32_t i = 0; i < from->pages.capacity; i++) {
        to->pages.places[i] = from->pages.places[i];
        if (to->pages.places[i].words) {
            atomic_fetch_add_explicit(to->pages.places[i].users, 1, memory_order_relaxed);
        }
    }
    if (from->num_allocations) {
        memcpy(to->allocations, from->allocations, from->num_allocations * sizeof(allocation_t));
    }
    to->num_allocations = to->capacity = from->num_allocations;
    to->num_released = from->num_released;
    return GPC_OK;
}

int
gpc_memory_save(const gpc_memory_t *self, gpc_memory_image_t **out)
{
    *out = calloc(1, sizeof(**out));
    if (!*out) {
        return GPC_ERROR_MEMORY;
    }
    int status = copy_into(&(*out)->copy, self);
    if (status) {
        free(*out);
        *out = NULL;
    }
    return status;
}

int
gpc_memory_load(gpc_memory_t *self, const gpc_memory_image_t *image)
{
    gpc_memory_t copy;
    GPC_TRY(copy_into(&copy, &image->copy)); /* else the old content is kept */
    contents_free(self);
    *self = copy;
    return GPC_OK;
}

void
gpc_memory_image_free(gpc_memory_image_t *image)
{
    if (image) {
        contents_free(&image->copy);
        free(image);
    }
}

uint32_t
gpc_memory_shared_pages(const gpc_memory_t *self)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < self->pages.capacity; i++) {
        const page_t *page = &self->pages.places[i];
        count += page->words && atomic_load_explicit(page->users, memory_order_relaxed) > 1;
    }
    return count;
}

/* memory.h: the backing store: sparse memory of words, and the allocations. Memory that was never written reads 0. */
#ifndef GPC_FABRIC_MEMORY_H
#define GPC_FABRIC_MEMORY_H

#include "base/arena.h"

typedef struct gpc_memory gpc_memory_t; /* owns pages outside the arena, because they are allocated when written */

/* Pages come from a stock, which must outlive the memory and its images, or without one (NULL) from the system. */
GPC_MUST_CHECK int gpc_memory_create(gpc_memory_t **out, gpc_stock_t *stock);
void gpc_memory_free(gpc_memory_t *self);

#define GPC_MEMORY_MAX_WORDS (UINT64_C(1) << 32) /* limit of all allocations together: 16 GiB */

/* Aligned to 4 KiB, so that two allocations share no line. Addresses are never reused in a GPU's lifetime (a stale
 * address faults), are above 0, and depend only on the order of calls. GPC_ERROR_MEMORY beyond the limit;
 * GPC_ERROR_ARGUMENT for 0 words. */
GPC_MUST_CHECK int gpc_memory_allocate(gpc_memory_t *self, uint64_t words, gpc_address_t *address);
/* Later allocations begin at this address or behind it, rounded up to the alignment of allocations; GPC_ERROR_ADDRESS
 * if there are some beyond it. */
/* The next allocation begins at a multiple of `bytes`. */
void gpc_memory_align(gpc_memory_t *self, uint64_t bytes);
GPC_MUST_CHECK int gpc_memory_allocate_from(gpc_memory_t *self, gpc_address_t address);
GPC_MUST_CHECK int gpc_memory_release(gpc_memory_t *self,
                                      gpc_address_t address); /* GPC_ERROR_ADDRESS if not allocated */
/* Whether [address, address + 4 * words) is inside one live allocation. */
bool gpc_memory_covers(const gpc_memory_t *self, gpc_address_t address, uint64_t words);

/* The live allocation that the address is in; false: there is none. */
bool gpc_memory_around(const gpc_memory_t *self, gpc_address_t address, gpc_address_t *begin, uint64_t *words);

/* The i-th live allocation by address; false if there are fewer. */
bool gpc_memory_allocation(gpc_memory_t *self, size_t i, gpc_address_t *address, uint64_t *words);

/* Any word-aligned range. Unallocated memory reads 0 and may be written (traces). */
void gpc_memory_read(const gpc_memory_t *self, gpc_address_t address, uint64_t words, uint32_t *out);
GPC_MUST_CHECK int gpc_memory_write(gpc_memory_t *self, gpc_address_t address, uint64_t words, const uint32_t *in);
/* Writes the words of a line that are in mask. */
GPC_MUST_CHECK int gpc_memory_write_masked(gpc_memory_t *self, gpc_address_t line, gpc_mask_t mask, const uint32_t *in);

/* Copies of all pages and allocations; pages are shared until the memory writes them. */
typedef struct gpc_memory_image gpc_memory_image_t;
GPC_MUST_CHECK int gpc_memory_save(const gpc_memory_t *self, gpc_memory_image_t **out);
GPC_MUST_CHECK int gpc_memory_load(gpc_memory_t *self, const gpc_memory_image_t *image);
void gpc_memory_image_free(gpc_memory_image_t *image);
uint32_t gpc_memory_shared_pages(const gpc_memory_t *self); /* pages that images or other memories use too */

#endif

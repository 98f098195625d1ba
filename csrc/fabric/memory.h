/* memory.h: the backing store: sparse, in words, with the allocations that give addresses a meaning. Fresh memory reads 0. */
#ifndef GPC_FABRIC_MEMORY_H
#define GPC_FABRIC_MEMORY_H

#include "base/arena.h"

typedef struct gpc_memory gpc_memory_t; /* owns pages outside the arena, since they come as they are touched */

GPC_MUST_CHECK int gpc_memory_create(gpc_memory_t **out);
void gpc_memory_free(gpc_memory_t *self);

#define GPC_MEMORY_MAX_WORDS (UINT64_C(1) << 32) /* 16 GiB of simulated memory at most, all allocations together */

/* Aligned to 4 KiB, so that no line is shared by two allocations. Addresses are never given out twice in one GPU's life
 * (a stale address faults), start above 0, and depend only on the order of calls. GPC_ERROR_MEMORY past the limit or when
 * words is so large that it cannot be; GPC_ERROR_ARGUMENT for 0 words. */
GPC_MUST_CHECK int gpc_memory_allocate(gpc_memory_t *self, uint64_t words, gpc_address_t *address);
GPC_MUST_CHECK int gpc_memory_release(gpc_memory_t *self,
                                      gpc_address_t address); /* GPC_ERROR_ADDRESS when it is none */
/* Whether [address, address + 4 * words) lies inside one live allocation. */
bool gpc_memory_covers(const gpc_memory_t *self, gpc_address_t address, uint64_t words);

/* The i-th live allocation by address; false: there are no more. */
bool gpc_memory_allocation(const gpc_memory_t *self, size_t i, gpc_address_t *address, uint64_t *words);

/* Any word-aligned range, allocated or not (unallocated memory reads 0 and may be written: traces). */
void gpc_memory_read(const gpc_memory_t *self, gpc_address_t address, uint64_t words, uint32_t *out);
GPC_MUST_CHECK int gpc_memory_write(gpc_memory_t *self, gpc_address_t address, uint64_t words, const uint32_t *in);
/* The words of mask, of the line at address. */
GPC_MUST_CHECK int gpc_memory_write_masked(gpc_memory_t *self, gpc_address_t line, gpc_mask_t mask, const uint32_t *in);

/* Copies of all pages and allocations. */
typedef struct gpc_memory_image gpc_memory_image_t;
GPC_MUST_CHECK int gpc_memory_save(const gpc_memory_t *self, gpc_memory_image_t **out);
GPC_MUST_CHECK int gpc_memory_load(gpc_memory_t *self, const gpc_memory_image_t *image);
void gpc_memory_image_free(gpc_memory_image_t *image);

#endif

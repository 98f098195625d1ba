/* stock.h: large zeroed blocks of closed GPUs, kept for the next ones.
 *
 * A new page of the system costs the host ten times what it costs to set a used one to zero (docs/performance.md), and
 * short runs, of a sweep or a test, use hundreds.
 *
 * A stock holds no state of a simulation: its blocks are zero. Several threads may use one at a time. */
#ifndef GPC_BASE_STOCK_H
#define GPC_BASE_STOCK_H

#include "base/types.h"

typedef struct gpc_stock gpc_stock_t;

/* The most memory that all kept blocks take together. */
#define GPC_STOCK_BYTES ((size_t) 16 << 20)

gpc_stock_t *gpc_stock_create(void); /* NULL when out of memory */
void gpc_stock_free(gpc_stock_t *self);
size_t gpc_stock_bytes(const gpc_stock_t *self); /* memory that the kept blocks take; for tests */

/* As gpc_block_take and gpc_block_give; without a stock (NULL) the same. A block is used again for one of the same
 * size. */
void *gpc_stock_take(gpc_stock_t *self, size_t bytes);
void gpc_stock_give(gpc_stock_t *self, void *block, size_t bytes); /* block may be NULL */

#endif

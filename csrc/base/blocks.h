/* blocks.h: large zeroed blocks, taken from the system and given back to it.
 *
 * malloc keeps freed blocks of this size for later calls, and calloc writes zeros into a block that it reuses: a
 * process that makes many GPUs would keep the memory of all pages that any of them could have used. */
#ifndef GPC_BASE_BLOCKS_H
#define GPC_BASE_BLOCKS_H

#include "base/types.h"

/* Zeroed, aligned to 64 bytes; a page that is never written takes no memory. NULL when out of memory. */
void *gpc_block_take(size_t bytes);
void gpc_block_give(void *block, size_t bytes); /* block may be NULL */

/* Makes a block zero that keeps the memory it takes, which *memory says, in bytes; for a block that is used again.
 * False if that is more than `largest`, or if the system cannot say: then the block may only be given back. */
bool gpc_block_clear(void *block, size_t bytes, size_t largest, size_t *memory);

#endif

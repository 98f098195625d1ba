/* rmw.h: the read-modify-write unit. A protocol performs atomics with it at any level. */
#ifndef GPC_CACHE_RMW_H
#define GPC_CACHE_RMW_H

#include "base/message.h"

/* Performs every lane's operation on the words of a line, in lane order, and stores the old values in the list. Returns
 * the written words (a failing compare-and-swap writes none). */
GPC_API gpc_mask_t gpc_rmw_perform(gpc_lane_list_t *lanes, uint32_t *words);
/* One operation on one word; used by the scratchpad too. */
uint32_t gpc_rmw_apply(uint8_t operation, uint8_t type, uint32_t old, uint32_t operand, uint32_t replacement);

#endif

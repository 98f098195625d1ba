/* rmw.h: the read-modify-write unit. A protocol performs atomics with it at any level. */
#ifndef GPC_CACHE_RMW_H
#define GPC_CACHE_RMW_H

#include "base/message.h"

/* Performs every lane's operation on the words of a line, in lane order, and stores the old values in the list. Returns
 * the written words (a failing compare-and-swap writes none). */
GPC_API gpc_mask_t gpc_rmw_perform(gpc_lane_list_t *lanes, uint32_t *words);
/* The operation on one operand of one or two words, the lower one first: replaces words. Used by the scratchpad too. */
void gpc_rmw_apply_words(uint8_t operation, uint8_t type, uint32_t width, uint32_t *words, const uint32_t *operand,
                         const uint32_t *replacement);
/* Whether the operation of entry n of a performed list has replaced the entry's word. */
bool gpc_rmw_changes(const gpc_lane_list_t *lanes, uint32_t n);
/* Of one word: the new one. */
GPC_API uint32_t gpc_rmw_apply(uint8_t operation, uint8_t type, uint32_t old, uint32_t operand, uint32_t replacement);

#endif

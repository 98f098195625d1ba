/* narrow.h: accesses to elements of 1 and 2 bytes, of global memory and of the scratchpad. */
#ifndef GPC_CORE_MEMORY_NARROW_H
#define GPC_CORE_MEMORY_NARROW_H

#include "core/registers.h"

/* The element at a byte offset, extended to a word. */
uint32_t gpc_narrow_element(uint32_t word, uint32_t offset, const gpc_narrow_t *narrow);
/* The bits of the element in its word. */
uint32_t gpc_narrow_mask(uint32_t offset, const gpc_narrow_t *narrow);
/* Adds a lane's element, at a byte offset in the line, to a store's list. */
void gpc_narrow_add(gpc_lane_list_t *list, uint32_t lane, uint32_t offset, const gpc_narrow_t *narrow, uint32_t value);
/* Called when a store's request has all of its lanes. */
void gpc_narrow_finish_store(const gpc_cores_t *self, gpc_msg_t *msg);
/* Writes the elements of a load that are in the masked words of the line. */
void gpc_narrow_deliver(const gpc_issue_t *x, const gpc_core_access_t *access, gpc_lanes_t lanes, gpc_mask_t mask,
                        const uint32_t *words);

#endif

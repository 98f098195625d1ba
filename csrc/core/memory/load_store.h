/* load_store.h: a warp's way to global memory, and the question to order.c that synchronisation asks too. */
#ifndef GPC_CORE_MEMORY_LOAD_STORE_H
#define GPC_CORE_MEMORY_LOAD_STORE_H

#include "core/state.h"

/* access.c */
/* Asks order.c; GPC_ISSUED: go on. */
GPC_MUST_CHECK int gpc_core_ask_order(gpc_issue_t *x, const gpc_decoded_t *d);
/* The warp asks order.c again when something of it has completed, or at `until`. */
int gpc_core_block_for_order(gpc_issue_t *x, const gpc_decoded_t *d, int verdict, gpc_cycle_t until);
/* Tells who watches: addresses, or words of the scratchpad. */
GPC_MUST_CHECK int gpc_core_tell(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes, gpc_index_t name,
                                 const gpc_address_t *addresses, const uint32_t *words);

/* coalescer.c: byte addresses of the lanes, checked against the buffer. */
GPC_MUST_CHECK int gpc_core_find_addresses(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes,
                                           gpc_address_t *addresses);
/* The same in one go for the lanes of one line: 1 done, 0 not of that kind, negative an error. */
GPC_MUST_CHECK int gpc_core_coalesce_line(gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes,
                                          gpc_index_t access);
/* One request a distinct line, at the end of the core's queue; the access learns how many and the first one's line. */
GPC_MUST_CHECK int gpc_core_coalesce(gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes,
                                     const gpc_address_t *addresses, gpc_index_t access);

/* load_store.c */
GPC_MUST_CHECK int gpc_core_issue_memory(gpc_issue_t *x, const gpc_decoded_t *d);

/* queue.c */
bool gpc_core_has_room(const gpc_cores_t *self, uint32_t core); /* in the load-store queue, for one more instruction */
/* The warps that waited for room in the queue are ready again if there is some. */
GPC_MUST_CHECK int gpc_core_wake_queue_waiters(gpc_cores_t *self, uint32_t core);
/* The load-store stage's cycle, unless the L1 port was used in it already. */
GPC_MUST_CHECK int gpc_core_offer(gpc_cores_t *self, uint32_t core, gpc_cycle_t now);

/* completion.c */
GPC_MUST_CHECK int gpc_core_retire_due(gpc_cores_t *self, uint32_t core, gpc_cycle_t now);

#endif

/* load_store.h: a warp's accesses to global memory, and queries of order.c, which synchronisation uses too. */
#ifndef GPC_CORE_MEMORY_LOAD_STORE_H
#define GPC_CORE_MEMORY_LOAD_STORE_H

#include "core/state.h"

/* access.c */
/* Queries order.c; GPC_ISSUED: the instruction may issue. */
GPC_MUST_CHECK int gpc_core_query_order(gpc_issue_t *x, const gpc_decoded_t *d);
/* The same for a scratchpad access of a machine whose scratchpad_order is set. */
GPC_MUST_CHECK int gpc_core_query_scratchpad_order(gpc_issue_t *x, const gpc_decoded_t *d);
/* Blocks the warp, which retries when one of its accesses completes, or at `until`. */
int gpc_core_block_for_order(gpc_issue_t *x, const gpc_decoded_t *d, int verdict, gpc_cycle_t until);
/* Reports an access to the monitor: addresses, or words of the scratchpad. */
GPC_MUST_CHECK int gpc_core_publish(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes, gpc_index_t name,
                                    const gpc_address_t *addresses, const uint32_t *words);

/* coalescer.c: byte addresses of the lanes, checked against the buffer. */
GPC_MUST_CHECK int gpc_core_find_addresses(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes,
                                           gpc_address_t *addresses);
/* Checks and coalesces lanes that access one line: 1 done, 0 not such an access, negative an error. */
GPC_MUST_CHECK int gpc_core_coalesce_line(gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes,
                                          gpc_index_t access);
/* Appends one request per distinct line to the core's queue; sets the access's number of requests and first line. */
GPC_MUST_CHECK int gpc_core_coalesce(gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes,
                                     const gpc_address_t *addresses, gpc_index_t access);

/* load_store.c */
GPC_MUST_CHECK int gpc_core_issue_memory(gpc_issue_t *x, const gpc_decoded_t *d);

/* queue.c */
bool gpc_core_has_room(const gpc_cores_t *self, uint32_t core); /* in the load-store queue, for one more instruction */
/* Makes warps that wait for room in the queue ready if there is room. */
GPC_MUST_CHECK int gpc_core_wake_queue_waiters(gpc_cores_t *self, uint32_t core);
/* Offers a request to the L1 port, unless the port was used in this cycle already. */
GPC_MUST_CHECK int gpc_core_offer(gpc_cores_t *self, uint32_t core, gpc_cycle_t now);

/* completion.c */
GPC_MUST_CHECK int gpc_core_retire_due(gpc_cores_t *self, uint32_t core, gpc_cycle_t now);

#endif

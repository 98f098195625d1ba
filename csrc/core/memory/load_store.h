/* load_store.h: a warp's accesses to global memory, and queries of order.c, which synchronisation uses too. */
#ifndef GPC_CORE_MEMORY_LOAD_STORE_H
#define GPC_CORE_MEMORY_LOAD_STORE_H

#include "core/state.h"

/* access.c */
/* Queries order.c; GPC_ISSUED: the instruction may issue. */
GPC_MUST_CHECK int gpc_core_query_order(gpc_issue_t *x, const gpc_decoded_t *d);
/* The same for a scratchpad access of a machine whose scratchpad_order is set. */
GPC_MUST_CHECK int gpc_core_query_scratchpad_order(gpc_issue_t *x, const gpc_decoded_t *d);
/* Queries order.c for the words of every lane, before any request is made: a verdict, or an error. */
GPC_MUST_CHECK int gpc_core_query_lines(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes);
/* Blocks the warp, which retries when one of its accesses completes, or at `until`. */
int gpc_core_block_for_order(gpc_issue_t *x, const gpc_decoded_t *d, int verdict, gpc_cycle_t until);
/* Reports an access to the monitor: addresses, or words of the scratchpad. */
GPC_MUST_CHECK int gpc_core_publish(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes, gpc_index_t name,
                                    const gpc_address_t *addresses, const uint32_t *words);

/* addresses.c: byte addresses of the lanes, checked against the buffer. */
GPC_MUST_CHECK int gpc_core_find_addresses(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes,
                                           gpc_address_t *addresses);
/* The line that all lanes of an access to words access. */
typedef struct {
    gpc_address_t line;
    const uint32_t *index; /* of each lane: in the buffer */
    uint32_t word_mask;    /* of an index: the word in its line */
    uint32_t first;        /* the first lane's word in the line */
    gpc_mask_t words;      /* of all lanes */
    bool straight;         /* all lanes are active and access consecutive words */
    bool one_word;         /* all lanes are active and access the same word */
} gpc_one_line_t;

/* Whether the lanes access words of one line that is entirely inside the buffer: most accesses. room: of the
 * indices. */
bool gpc_core_find_line(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes, uint32_t *room,
                        gpc_one_line_t *out);
/* load_store.c */
GPC_MUST_CHECK int gpc_core_issue_memory(gpc_issue_t *x, const gpc_decoded_t *d);
/* Offers a request to the L1 port, unless the port was used in this cycle already. */
GPC_MUST_CHECK int gpc_core_offer(gpc_cores_t *self, uint32_t core, gpc_cycle_t now);

/* words.c: the masked words of a load only; the old values of atomics of two words. */
void gpc_core_deliver_words(gpc_cores_t *self, uint32_t core, const gpc_core_access_t *access, gpc_lanes_t lanes,
                            gpc_mask_t mask, const uint32_t *words);
void gpc_core_deliver_wide_atomic(gpc_cores_t *self, uint32_t core, const gpc_core_access_t *access,
                                  const gpc_lane_list_t *list);

/* completion.c */
GPC_MUST_CHECK int gpc_core_retire_due(gpc_cores_t *self, uint32_t core, gpc_cycle_t now);

#endif

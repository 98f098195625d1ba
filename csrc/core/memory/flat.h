/* flat.h: accesses by address (GPC_FLAG_FLAT): addresses of lanes, checked against the arrays. */
#ifndef GPC_CORE_MEMORY_FLAT_H
#define GPC_CORE_MEMORY_FLAT_H

#include "core/state.h"

/* Byte addresses of the lanes. */
GPC_MUST_CHECK int gpc_flat_addresses(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes,
                                      gpc_address_t *addresses);
/* Number of the words of each lane within 4 GiB, which begin at *base; *even: all have one. false: gpc_flat_addresses
 * must find the addresses, because they are not so, or a fault. */
bool gpc_flat_words(const gpc_issue_t *x, const gpc_decoded_t *d, uint32_t *words, gpc_address_t *base, bool *even);
/* Whether [begin, end) is inside one array. */
bool gpc_flat_inside(const gpc_issue_t *x, gpc_address_t begin, gpc_address_t end);

#endif

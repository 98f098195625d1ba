/* pairs.h: accesses to several words that are more than words. */
#ifndef GPC_CORE_MEMORY_PAIRS_H
#define GPC_CORE_MEMORY_PAIRS_H

#include "core/state.h"

/* Completes the last requests of the core's queue, which are the instruction's and have all of its lanes. */
GPC_MUST_CHECK int gpc_pairs_finish(const gpc_issue_t *x, const gpc_decoded_t *d, uint32_t requests);

#endif

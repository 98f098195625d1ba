/* together.h: synchronising accesses of several words under L1s that own and answer words one by one (gpc_cores_t.
 * words_apart: protocols over words whose tables do not declare `whole`). One such access at a time is between the L1
 * and its completion on a line, of all cores, so that each is performed at once to all others of its width; an atomic
 * is a synchronising load and then a store of the new words. Beside accesses to the single words it is not at once,
 * which no model that we know of promises.
 *
 * It cannot deadlock: what has begun waits for no other one, because its second part goes before the queue. */
#ifndef GPC_CORE_MEMORY_TOGETHER_H
#define GPC_CORE_MEMORY_TOGETHER_H

#include "core/state.h"

/* Whether the instruction's requests are such ones. */
static inline bool
gpc_is_together(const gpc_issue_t *x, const gpc_decoded_t *d)
{
    bool synchronises = d->access.kind == GPC_ACCESS_ATOMIC || d->access.order != GPC_ORDER_WEAK;
    return d->width > 1 && synchronises && x->base->cores->words_apart;
}

/* Makes a request that has all of its lanes one of them. */
GPC_MUST_CHECK int gpc_together_begin(const gpc_issue_t *x, gpc_core_request_t *request, gpc_msg_t *msg);
/* Whether the core may offer the request; false: gpc_cores_retry follows. */
bool gpc_together_may_offer(gpc_cores_t *self, uint32_t core, const gpc_core_request_t *request, const gpc_msg_t *msg);
/* The L1 has not taken what the core was allowed to offer, and will be offered again. */
void gpc_together_not_taken(gpc_cores_t *self, uint32_t core, const gpc_core_request_t *request, const gpc_msg_t *msg);
/* The L1 has answered words of the request, none of which is missing to gpc_cores_complete, at core cycle `at`.
 * *completes: they are its last ones, and are missing now; an atomic's message has its lane list. Else the message is
 * not the caller's any more. */
GPC_MUST_CHECK int gpc_together_answered(gpc_cores_t *self, uint32_t core, gpc_index_t message, const uint32_t *words,
                                         gpc_cycle_t at, bool *completes);

#endif

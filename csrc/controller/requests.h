/* requests.h: outstanding requests of an L1 over lines: the answers that a line's transaction expects, and the pending requests.
 *
 * A protocol's MSHR fields begin with GPC_REQUESTS_MSHR (asserted by GPC_COUNTS_REQUESTS). */
#ifndef GPC_CONTROLLER_REQUESTS_H
#define GPC_CONTROLLER_REQUESTS_H

#include "controller/metadata.h"

#define GPC_REQUESTS_MSHR(FIELD) FIELD(PLAIN, uint16_t, outstanding) /* requests sent to the L2 for this line, not yet answered */
GPC_METADATA(gpc_requests, mshr, GPC_REQUESTS_MSHR)
#define GPC_COUNTS_REQUESTS(owner) GPC_SAME_PLACE(owner##_mshr_t, gpc_requests_mshr_t, outstanding)

/* Whether exactly one answer is expected. */
static inline bool
gpc_is_last_answer(const gpc_step_t *x)
{
    return x->mshr != GPC_NONE && gpc_requests_mshr(x)->outstanding == 1;
}
/* Sends one more outstanding request; x's own request is pending until the answer that names it. */
GPC_MUST_CHECK int gpc_send_outstanding(gpc_step_t *x, gpc_msg_t *msg);
GPC_MUST_CHECK int gpc_send_and_wait(gpc_step_t *x, gpc_msg_t *msg);

GPC_DECLARE_ACTION(act_merge_load);
GPC_DECLARE_ACTION(act_write_line);
GPC_DECLARE_ACTION(act_fill);
GPC_DECLARE_ACTION(act_complete);
GPC_DECLARE_ACTION(act_complete_from_copy);

#endif

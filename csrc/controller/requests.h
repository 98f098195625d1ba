/* requests.h: what an L1 over lines has asked for: how many answers a line's transaction awaits, who waits for which.
 *
 * A protocol's transaction fields begin with GPC_REQUESTS_MSHR (asserted by GPC_COUNTS_REQUESTS). */
#ifndef GPC_CONTROLLER_REQUESTS_H
#define GPC_CONTROLLER_REQUESTS_H

#include "controller/metadata.h"

#define GPC_REQUESTS_MSHR(FIELD) FIELD(PLAIN, uint16_t, outstanding) /* requests sent to the L2 for this line, not yet answered */
GPC_METADATA(gpc_requests, mshr, GPC_REQUESTS_MSHR)
#define GPC_COUNTS_REQUESTS(owner) GPC_SAME_PLACE(owner##_mshr_t, gpc_requests_mshr_t, outstanding)

/* Whether one answer is awaited. */
static inline bool
gpc_is_last_answer(const gpc_step_t *x)
{
    return x->mshr != GPC_NONE && gpc_requests_mshr(x)->outstanding == 1;
}
/* One more request is outstanding, and leaves; x's own is then pending until the answer that names it. */
GPC_MUST_CHECK int gpc_send_outstanding(gpc_step_t *x, gpc_msg_t *msg);
GPC_MUST_CHECK int gpc_send_and_wait(gpc_step_t *x, gpc_msg_t *msg);

GPC_DECLARE_ACTION(act_merge_load);
GPC_DECLARE_ACTION(act_write_line);
GPC_DECLARE_ACTION(act_fill);
GPC_DECLARE_ACTION(act_complete);
GPC_DECLARE_ACTION(act_complete_first);

#endif

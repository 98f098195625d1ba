/* requests.h: outstanding requests of an L1 over lines: the answers that a line's transaction expects, and the pending
 * requests.
 *
 * A protocol's MSHR fields begin with GPC_REQUESTS_MSHR (asserted by GPC_COUNTS_REQUESTS). */
#ifndef GPC_CONTROLLER_REQUESTS_H
#define GPC_CONTROLLER_REQUESTS_H

#include "controller/metadata.h"

/* requests sent to the L2 for this line, not yet answered */
#define GPC_REQUESTS_MSHR(FIELD) FIELD(PLAIN, uint16_t, outstanding)
GPC_METADATA(gpc_requests, mshr, GPC_REQUESTS_MSHR)
#define GPC_COUNTS_REQUESTS(owner) GPC_SAME_PLACE(owner##_mshr_t, gpc_requests_mshr_t, outstanding)

/* Of an L1 whose loads join a read that is outstanding for another load: its MSHR fields begin with GPC_JOINED_MSHR,
 * its `order_point` is gpc_note_order_point, and its classifier lets a load merge (act_merge_load) if gpc_may_join. A
 * transaction has one read. */
#define GPC_JOINED_MSHR(FIELD)                                                                                         \
    GPC_REQUESTS_MSHR(FIELD)                                                                                           \
    FIELD(PLAIN, uint64_t, passed) /* bit w: warp w has passed an order point since the read was sent */
GPC_METADATA(gpc_joined, mshr, GPC_JOINED_MSHR)
_Static_assert(GPC_MAX_WARPS <= 64, "a warp is a bit");
/* For gpc_order_traits_t.order_point. */
GPC_API void gpc_note_order_point(gpc_controller_t *l1, uint16_t warp);
/* Whether the read of the load's line is outstanding and was sent after the last order point of its warp. */
static inline bool
gpc_may_join(const gpc_step_t *x)
{
    return x->mshr != GPC_NONE && !(gpc_joined_mshr(x)->passed >> x->msg->warp & 1);
}

/* Whether exactly one answer is expected. */
static inline bool
gpc_is_last_answer(const gpc_step_t *x)
{
    return x->mshr != GPC_NONE && gpc_requests_mshr(x)->outstanding == 1;
}
/* Sends a request whose answer the line's transaction then expects too. */
GPC_API GPC_MUST_CHECK int gpc_send_outstanding(gpc_step_t *x, gpc_msg_t *msg);
/* The same, and x's own request is pending. */
GPC_API GPC_MUST_CHECK int gpc_send_and_wait(gpc_step_t *x, gpc_msg_t *msg);

/* Whether the answer serves a load that merged with the one that it answers. */
typedef bool gpc_serves_t(const gpc_msg_t *answer, const gpc_msg_t *load);
/* Whether it leaves such a load, and a new request of the type for all of these together, which the caller sends by
 * gpc_send_outstanding. */
GPC_API bool gpc_leaves_loads(const gpc_step_t *x, gpc_serves_t *serves);
GPC_API gpc_msg_t *gpc_request_again(gpc_step_t *x, uint8_t type, gpc_serves_t *serves);

GPC_API_ACTION(act_merge_load);
GPC_API_ACTION(act_write_line);
GPC_API_ACTION(act_fill);
GPC_API_ACTION(act_complete);
GPC_API_ACTION(act_complete_from_copy);

#endif

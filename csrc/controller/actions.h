/* actions.h: actions for the cells of any protocol. */
#ifndef GPC_CONTROLLER_ACTIONS_H
#define GPC_CONTROLLER_ACTIONS_H

#include "controller/protocol.h"

/* Counts a load that misses here and will be replayed: once, as a miss; gpc_count_hit does not count it again. */
static inline void
gpc_count_miss(const gpc_step_t *x)
{
    bool load = x->cause >= GPC_MSG_OWN && gpc_message_info(x->unit, x->cause)->traffic_class == GPC_CLASS_REQ;
    x->unit->statistics->load_misses += load;
    x->msg->flags |= load ? GPC_MSG_FLAG_MISSED : 0;
}

/* Counts a load that is answered here, unless it has been counted as a miss. */
static inline void
gpc_count_hit(const gpc_step_t *x)
{
    x->unit->statistics->load_hits += !(x->msg->flags & GPC_MSG_FLAG_MISSED);
}

GPC_API_ACTION(act_reserve_way); /* first action of a cell; it may hold */
GPC_API_ACTION(act_release_way);
GPC_API_ACTION(act_wait);
GPC_API_ACTION(act_merge);
GPC_API_ACTION(act_miss);
GPC_API_ACTION(act_replay);
GPC_API_ACTION(act_hit);
GPC_API_ACTION(act_fetch_line);
GPC_API_ACTION(act_write_back);
GPC_API_ACTION(act_count_invalidation);

#endif

/* sharers.c: reads sharer lists, and sends invalidations or recalls to all L1s of a list. */
#include "controller/sharers.h"

gpc_nodeset_t *
gpc_sharers(const gpc_step_t *x)
{
    const gpc_sharers_info_t *info = &x->unit->type->sharers;
    uint8_t *fields = gpc_tags_fields(&x->unit->arrays[info->array], gpc_way_in(x, info->array));
    return (gpc_nodeset_t *) (void *) (fields + info->offset);
}

int
gpc_call_in(gpc_step_t *x, uint8_t type, const gpc_nodeset_t *set)
{
    gpc_msg_t *msg = gpc_new_message(x, type, GPC_NO_NODE);
    msg->request = GPC_NONE;
    return gpc_broadcast(x, msg, set);
}

int
gpc_call_in_and_wait(gpc_step_t *x, uint8_t type, const gpc_nodeset_t *set)
{
    gpc_sharers_mshr(x)->acknowledgements = gpc_nodeset_count(set);
    return gpc_call_in(x, type, set);
}

GPC_SHARED_ACTION(act_add_sharer, "add the sender to the sharer list")
{
    gpc_nodeset_add(gpc_sharers(x), x->msg->source);
    return GPC_OK;
}

GPC_SHARED_ACTION(act_add_readers, "add all pending requesters to the sharer list")
{
    gpc_nodeset_t *sharers = gpc_sharers(x);
    GPC_FOR_PENDING(x, waiting)
    {
        gpc_nodeset_add(sharers, waiting->source);
    }
    return GPC_OK;
}

GPC_SHARED_ACTION(act_clear_sharers, "empty the sharer list")
{
    *gpc_sharers(x) = (gpc_nodeset_t){{0}};
    return GPC_OK;
}

GPC_SHARED_ACTION(act_set_owner, "reduce the sharer list to the sender")
{
    *gpc_sharers(x) = (gpc_nodeset_t){{0}};
    gpc_nodeset_add(gpc_sharers(x), x->msg->source);
    return GPC_OK;
}

GPC_SHARED_ACTION(act_count, "count an acknowledgement")
{
    gpc_sharers_mshr(x)->acknowledgements--;
    return GPC_OK;
}

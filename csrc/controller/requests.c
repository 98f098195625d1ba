/* requests.c: actions of an L1 on its outstanding requests: join, merge, fill, complete. */
#include "controller/requests.h"

GPC_SAME_PLACE(gpc_joined_mshr_t, gpc_requests_mshr_t, outstanding);

void
gpc_note_order_point(gpc_controller_t *l1, uint16_t warp)
{
    uint32_t end = l1->mshrs.entries.state->in_use ? *l1->mshrs.high : 0;
    for (gpc_index_t i = 0; i < end; i++) {
        if (gpc_mshr_at(&l1->mshrs, i)->live) {
            gpc_joined_mshr_at(l1, i)->passed |= UINT64_C(1) << warp;
        }
    }
}

bool
gpc_leaves_loads(const gpc_step_t *x, gpc_serves_t *serves)
{
    GPC_FOR_PENDING(x, waiting)
    {
        if (waiting->request == x->msg->request && !serves(x->msg, waiting)) {
            return true;
        }
    }
    return false;
}

gpc_msg_t *
gpc_request_again(gpc_step_t *x, uint8_t type, gpc_serves_t *serves)
{
    const gpc_msg_t *first = NULL;
    GPC_FOR_PENDING(x, waiting)
    {
        if (waiting->request == x->msg->request && !serves(x->msg, waiting)) {
            first = first ? first : waiting;
            waiting->request = gpc_msg_index(x->unit->messages, first);
        }
    }
    gpc_msg_t *again = gpc_new_message(x, type, gpc_home_of(x->unit, x->line));
    again->request = first->request;
    again->warp = first->warp;
    again->mask = first->mask;
    return again;
}

GPC_SHARED_ACTION(act_merge_load, "merge the load into the outstanding read")
{
    const gpc_msg_t *first = gpc_first_pending(x);
    if (!first) {
        return gpc_fail(x->unit->failure, GPC_ERROR_PROTOCOL, "%s %u, line 0x%llx: a load merges where none is pending",
                        x->unit->type->name, x->unit->index, (unsigned long long) x->line);
    }
    gpc_count(x, load_merges);
    x->msg->request = first->request;
    return gpc_join_pending(x);
}

GPC_SHARED_ACTION(act_write_line, "write the store's words into the own copy")
{
    gpc_merge_words(gpc_line_words(x), x->msg->data, x->msg->mask);
    return GPC_OK;
}

GPC_SHARED_ACTION(act_fill, "fill the reserved way from the answer")
{
    GPC_NEEDS(x, way, "way");
    gpc_merge_words(gpc_line_words(x), x->msg->data, gpc_all_words(x->unit));
    return GPC_OK;
}

GPC_SHARED_ACTION(act_complete, "complete the request that this answer names, and all merged with it")
{
    gpc_index_t request = x->msg->request, i;

    gpc_requests_mshr(x)->outstanding--;
    while ((i = gpc_take_pending(x, request)) != GPC_NONE) {
        if (x->msg->lanes != GPC_NONE) {
            gpc_msg_at(x->unit->messages, i)->lanes = x->msg->lanes;
            x->msg->lanes = GPC_NONE;
        }
        GPC_TRY(gpc_complete(x, i, x->msg->data, false));
    }
    return GPC_OK;
}

GPC_SHARED_ACTION(act_complete_from_copy, "complete the request from the own copy, as if the answer had brought it")
{
    gpc_merge_words(x->msg->data, gpc_line_words(x), gpc_all_words(x->unit));
    return gpc_act(act_complete, x);
}

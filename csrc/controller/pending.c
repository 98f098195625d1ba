/* pending.c: requests that a transaction serves: kept, found by the request that an answer names, removed in order,
 * replayed. */
#include "controller/controller.h"

gpc_index_t
gpc_pop_pending(gpc_step_t *x)
{
    return gpc_list_pop(gpc_step_pending(x), x->unit->messages);
}

int
gpc_answer_pending(gpc_step_t *x, uint8_t type, int (*answer)(gpc_step_t *x, gpc_index_t to, uint8_t type))
{
    gpc_index_t to;
    while ((to = gpc_pop_pending(x)) != GPC_NONE) {
        int status = answer(x, to, type);
        gpc_free_message(x->unit, to);
        GPC_TRY(status);
    }
    return GPC_OK;
}

int
gpc_keep_pending(gpc_step_t *x)
{
    if (x->message == GPC_NONE) {
        return gpc_lacks_message(x, "keep");
    }
    gpc_list_push(gpc_step_pending(x), x->unit->messages, x->message);
    x->kept = true;
    return GPC_OK;
}

int
gpc_join_pending(gpc_step_t *x)
{
    x->msg->received = GPC_NEVER;
    return gpc_keep_pending(x);
}

gpc_index_t
gpc_take_pending(gpc_step_t *x, gpc_index_t request)
{
    return gpc_take_pending_words(x, request, UINT32_MAX);
}

/* The message at i, behind `previous`, or its masked words alone. */
static gpc_index_t
take_part(gpc_controller_t *unit, gpc_list_t *list, gpc_index_t previous, gpc_index_t i, gpc_mask_t mask)
{
    const gpc_msg_t *msg = gpc_msg_at(unit->messages, i);

    if (msg->mask & ~mask) {
        return gpc_split_message(unit, i, msg->mask & mask);
    }
    gpc_list_remove_after(list, unit->messages, previous, i);
    return i;
}

gpc_index_t
gpc_take_pending_words(gpc_step_t *x, gpc_index_t request, gpc_mask_t mask)
{
    const gpc_pool_t *messages = x->unit->messages;
    gpc_index_t previous = GPC_NONE;

    if (x->mshr == GPC_NONE) {
        return GPC_NONE;
    }
    gpc_list_t *pending = gpc_step_pending(x);
    gpc_index_t i = pending->head;
    for (uint32_t n = pending->count; n; n--) {
        const gpc_msg_t *msg = gpc_msg_at(messages, i);
        if (msg->request == request && (msg->mask & mask)) {
            return take_part(x->unit, pending, previous, i, mask);
        }
        previous = i;
        i = msg->next;
    }
    return GPC_NONE;
}

gpc_index_t
gpc_take_words(gpc_controller_t *unit, gpc_list_t *list, gpc_mask_t mask)
{
    gpc_index_t previous = GPC_NONE, i = list->head;

    for (uint32_t n = list->count; n; n--) {
        if (gpc_msg_at(unit->messages, i)->mask & mask) {
            return take_part(unit, list, previous, i, mask);
        }
        previous = i;
        i = gpc_msg_at(unit->messages, i)->next;
    }
    return GPC_NONE;
}

int
gpc_replay_pending(gpc_step_t *x)
{
    gpc_mshr_t *entry = gpc_mshr_at(&x->unit->mshrs, x->mshr);
    gpc_list_prepend(&entry->waiters, x->unit->messages,
                     &entry->pending); /* waiting requests arrived later, and remain behind */
    gpc_list_prepend(x->unit->replay, x->unit->messages, &entry->waiters);
    return GPC_OK;
}

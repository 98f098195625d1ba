/* holding.c: a step's message waits: for the line, or in its queue. */
#include "controller/step.h"

int
gpc_step_without_transaction(const gpc_step_t *x)
{
    return gpc_fail(x->unit->failure, GPC_ERROR_PROTOCOL,
                    "%s %u: a request waits for line 0x%llx, which has no transaction", x->unit->type->name,
                    x->unit->index, (unsigned long long) x->line);
}

int
gpc_step_hold_line(gpc_step_t *x)
{
    gpc_controller_t *self = x->unit;
    if (x->message == GPC_NONE) {
        return gpc_entry_waits(x, x->mshr) ? GPC_OK : gpc_step_without_transaction(x);
    }
    if (x->mshr == GPC_NONE) {
        return gpc_step_without_transaction(x);
    }
    self->statistics->held_line++;
    x->msg->received = 0;
    gpc_list_push(&gpc_mshr_at(&self->mshrs, x->mshr)->waiters, self->messages, x->message);
    return GPC_OK;
}

int
gpc_step_finish_part(gpc_step_t *x, int status)
{
    if (status == GPC_HELD_QUEUE) { /* its fellows have been taken, so it cannot go back to where it came from */
        x->unit->statistics->held_queue++;
        gpc_list_push_front(x->unit->replay, x->unit->messages, x->message);
        return GPC_OK;
    }
    return gpc_step_finish(x, status);
}

/* step.c: the begin of a step, and the error of an action without a message. */
#include "controller/step.h"

void
gpc_step_about_line(gpc_controller_t *self, gpc_step_t *x, uint8_t table, uint8_t cause, gpc_address_t line,
                    gpc_index_t message)
{
    gpc_step_begin(self, x, table, cause, line, message);
}

int
gpc_lacks_message(const gpc_step_t *x, const char *needed_to)
{
    return gpc_fail(x->unit->failure, GPC_ERROR_PROTOCOL,
                    "%s %u of %s, table %s, line 0x%llx, state %s: an action has no message to %s (cause %u)",
                    x->unit->type->name, x->unit->index, x->unit->protocol->id, x->table->name,
                    (unsigned long long) x->line, x->table->states[x->state].name, needed_to, x->cause);
}

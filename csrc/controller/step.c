/* step.c: the begin of a step, and the errors of actions that access what it lacks. */
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

static const char *
name_of_cause(const gpc_step_t *x)
{
    static const char *const names[] = {
#define X(name, text) #name,
        GPC_COMMON_MESSAGES(X)
#undef X
    };
    return x->cause < GPC_MSG_OWN ? names[x->cause] : gpc_message_info(x->unit, x->cause)->name;
}

void
gpc_lacks(const gpc_step_t *x, const char *what)
{
    uint8_t declared = x->table->causes[x->cause];
    x->unit->failure->line = x->line;
    (void) gpc_fail(x->unit->failure, GPC_ERROR_PROTOCOL,
                    "%s %u of %s, table %s, line 0x%llx, state %s, %s %s: the line has no %s, which an action or the "
                    "classifier accesses",
                    x->unit->type->name, x->unit->index, x->unit->protocol->id, x->table->name,
                    (unsigned long long) x->line, x->table->states[x->state].name, declared ? "event" : "cause",
                    declared ? x->table->events[declared - 1].name : name_of_cause(x), what);
    gpc_give_up(x->unit->failure);
}

/* mutants_step.c: queries for the classifiers and actions of planted bugs, by name (mutants.h). */
#include <string.h>

#include "controller/controller.h"
#include "tests/mutants_parts.h"

static const gpc_table_t *
base_table(const gpc_step_t *x)
{
    const gpc_protocol_t *base =
        mutant_of(x->unit->protocol->id)->base; /* the copy that a world runs has the same text */
    uint32_t i = 0;
    while (base->controllers[i]->position != x->unit->type->position) {
        i++;
    }
    return base->controllers[i]->tables[x->table_number];
}

/* ---- states, events and actions ---------------------------------------------------------------------------------- */

gpc_event_id_t
mutant_base_event(const gpc_step_t *x)
{
    gpc_step_t base = *x;
    base.table = base_table(x);
    return gpc_fsm_event(&base);
}

bool
mutant_event_is(const gpc_step_t *x, gpc_event_id_t event, const char *name)
{
    uint8_t number = gpc_event_of(event);
    return number < x->table->num_events && mutant_is_named(x->table->events[number].name, name);
}

gpc_event_id_t
mutant_event(const gpc_step_t *x, const char *name)
{
    for (uint8_t i = 0; i < x->table->num_events; i++) {
        if (mutant_is_named(x->table->events[i].name, name)) {
            return i;
        }
    }
    mutant_stop(x->unit->protocol->id, "table %s has no event %s", x->table->name, name);
}

bool
mutant_state_is(const gpc_step_t *x, const char *name)
{
    return mutant_is_named(x->table->states[x->state].name, name);
}

int
mutant_base_act(gpc_step_t *x, const char *name)
{
    const gpc_table_t *table = base_table(x);
    for (uint32_t i = 0; i < table->num_states; i++) {
        uint8_t state = (uint8_t) ((x->state + i) % table->num_states); /* the step's state has most of them */
        for (uint8_t event = 0; event < table->num_events; event++) {
            const gpc_cell_t *cell = gpc_fsm_declared_cell(table, state, event);
            for (const gpc_action_t *const *action = cell->actions; *action; action++) {
                if (mutant_is_action(*action, name)) {
                    return gpc_act(*action, x);
                }
            }
        }
    }
    mutant_stop(x->unit->protocol->id, "table %s has no action %s", table->name, name);
}

/* ---- messages and fields ----------------------------------------------------------------------------------------- */

uint8_t
mutant_type(const gpc_step_t *x, const char *message)
{
    const gpc_protocol_t *protocol = x->unit->protocol;
    for (uint32_t i = 0; i < protocol->num_messages; i++) {
        if (strcmp(protocol->messages[i].name, message) == 0) {
            return (uint8_t) (GPC_MSG_OWN + i);
        }
    }
    mutant_stop(protocol->id, "no message %s", message);
}

bool
mutant_cause_is(const gpc_step_t *x, const char *message)
{
    return x->cause == mutant_type(x, message);
}

static const gpc_field_t *
field_named(const gpc_step_t *x, const gpc_described_t *described, const char *name)
{
    for (uint16_t i = 0; i < described->count; i++) {
        if (strcmp(described->fields[i].name, name) == 0 && described->fields[i].size <= sizeof(uint64_t)) {
            return &described->fields[i];
        }
    }
    mutant_stop(x->unit->protocol->id, "no field %s that is a number", name);
}

void *
mutant_field(const gpc_step_t *x, gpc_describe_t describe, void *object, const char *field)
{
    return (uint8_t *) object + field_named(x, describe(), field)->offset;
}

static uint64_t
read_field(const gpc_step_t *x, const gpc_described_t *described, const void *object, const char *name)
{
    const gpc_field_t *field = field_named(x, described, name);
    uint64_t value = 0; /* little-endian, as snapshots are */
    memcpy(&value, (const uint8_t *) object + field->offset, field->size);
    return value;
}

uint64_t
mutant_line_field(const gpc_step_t *x, const char *field)
{
    return read_field(x, x->unit->type->arrays[x->array].line(), gpc_line_fields(x), field);
}

uint64_t
mutant_mshr_field(const gpc_step_t *x, const char *field)
{
    return read_field(x, x->unit->type->mshr(), gpc_step_mshr_fields(x), field);
}

uint64_t
mutant_message_field(const gpc_step_t *x, const gpc_msg_t *msg, const char *field)
{
    return read_field(x, x->unit->protocol->message(), msg->fields, field);
}

void
mutant_set_message_field(const gpc_step_t *x, gpc_msg_t *msg, const char *field, uint64_t value)
{
    const gpc_field_t *at = field_named(x, x->unit->protocol->message(), field);
    memcpy((uint8_t *) msg->fields + at->offset, &value, at->size);
}

/* exploration.c: the result of an exploration, and its JSON. */
#include <stdlib.h>

#include "check/explore/exploration.h"
#include "check/explore/outcomes.h"
#include "controller/resolve.h"

void
gpc_exploration_free(gpc_exploration_t *self)
{
    gpc_outcomes_free(&self->outcomes);
    gpc_text_free(&self->what);
    gpc_text_free(&self->trace);
    gpc_text_free(&self->limit);
    free(self->cells);
    *self = (gpc_exploration_t){0};
}

static bool
was_entered(const gpc_world_t *world, const gpc_table_t *table, uint32_t cell)
{
    for (uint32_t node = 0; node < world->nodes.count; node++) {
        const gpc_controller_t *unit = &world->controllers[node];
        uint32_t number = gpc_type_table(unit->type, table->name);
        if (number != GPC_MAX_TABLES && unit->counts[number][cell]) {
            return true;
        }
    }
    return false;
}

static uint32_t
cells_of(const gpc_table_t *table)
{
    return (uint32_t) table->num_states * table->num_events;
}

int
gpc_exploration_note(gpc_exploration_t *self, const gpc_world_t *world)
{
    const gpc_table_t *table;
    uint32_t room = 0, used = 0;

    self->num_cores = world->machine.cores;
    for (uint32_t core = 0; core < self->num_cores; core++) {
        self->roles[core] = gpc_world_role(world, core);
    }

    for (uint32_t n = 0; (table = gpc_protocol_table(world->protocol, n)) != NULL; n++) {
        room += cells_of(table);
    }
    self->cells = calloc(room, sizeof(*self->cells));
    if (!self->cells) {
        return GPC_ERROR_MEMORY;
    }
    for (uint32_t n = 0; (table = gpc_protocol_table(world->protocol, n)) != NULL; n++) {
        gpc_exploration_table_t *found = &self->tables[self->num_tables++];
        *found = (gpc_exploration_table_t){.name = table->name, .cells = self->cells + used};
        for (uint32_t cell = 0; cell < cells_of(table); cell++) {
            if (was_entered(world, table, cell)) {
                self->cells[used++] = cell;
                found->count++;
            }
        }
    }
    return GPC_OK;
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void
print_cells(const gpc_exploration_table_t *self, gpc_text_t *out)
{
    gpc_text_open(out, self->name, "[");
    for (uint32_t i = 0; i < self->count; i++) {
        gpc_text_add(out, i ? ", %u" : "%u", self->cells[i]);
    }
    gpc_text_add(out, "]");
}

static void
print_violation(const gpc_exploration_t *self, gpc_text_t *out)
{
    gpc_text_add(out, "{");
    gpc_text_add_text(out, "kind", self->violation);
    gpc_text_add_text(out, "what", self->what.bytes);
    gpc_text_add(out, ", %s}", self->trace.bytes);
}

void
gpc_exploration_print(const gpc_exploration_t *self, gpc_text_t *out)
{
    gpc_text_add(out, "{\"states\": %u, \"transitions\": %llu, \"depth\": %u, \"complete\": %s, \"outcomes\": ",
                 self->states, (unsigned long long) self->transitions, self->depth, self->complete ? "true" : "false");
    gpc_outcomes_print(&self->outcomes, out);
    gpc_text_add(out, ", \"cells\": {");
    for (uint32_t i = 0; i < self->num_tables; i++) {
        print_cells(&self->tables[i], out);
    }
    gpc_text_add(out, "}, \"roles\": [");
    for (uint32_t core = 0; core < self->num_cores; core++) {
        gpc_text_add(out, core ? ", %u" : "%u", self->roles[core]);
    }
    gpc_text_add(out, "], \"violations\": [");
    if (self->violation) {
        print_violation(self, out);
    }
    gpc_text_add(out, "], \"limits\": [");
    if (self->limit.length) {
        gpc_text_add_string(out, self->limit.bytes);
    }
    gpc_text_add(out, "]}");
}

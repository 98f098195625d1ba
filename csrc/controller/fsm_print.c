/* fsm_print.c: prints tables as JSON, and counts their transitions. */
#include <string.h>

#include "controller/fsm.h"

/* "L1_V" prints as "V": without the table's prefix, which ends with the first underscore. */
static const char *
short_name(const char *name)
{
    const char *underscore = strchr(name, '_');
    return underscore && underscore[1] ? underscore + 1 : name;
}

static uint32_t
num_cells(const gpc_table_t *table)
{
    return (uint32_t) table->num_states * table->num_events;
}

static const gpc_cell_t *
cell_at(const gpc_table_t *table, uint32_t number)
{
    return gpc_fsm_declared_cell(table, (uint8_t) (number / table->num_events), (uint8_t) (number % table->num_events));
}

uint32_t
gpc_fsm_transitions(const gpc_table_t *table, bool hardened)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < num_cells(table); i++) {
        const gpc_cell_t *cell = cell_at(table, i);
        bool moves = cell->kind == GPC_CELL_GO || cell->kind == GPC_CELL_REDO;
        count += moves && cell->hardened == hardened;
    }
    return count;
}

/* The number of states without those at the end that have no cell. */
static uint8_t
states_with_cells(const gpc_table_t *table)
{
    uint32_t cell = num_cells(table);
    while (cell && cell_at(table, cell - 1)->kind == GPC_CELL_IMPOSSIBLE) {
        cell--;
    }
    return (uint8_t) ((cell + table->num_events - 1) / table->num_events);
}

static void
print_states(gpc_text_t *out, const gpc_table_t *table)
{
    static const char *const kinds[] = {"stable", "transient_cache", "transient_coherence"};
    uint8_t states = states_with_cells(table);

    gpc_text_open(out, "states", "[");
    for (uint8_t s = 0; s < states; s++) {
        gpc_text_open(out, NULL, "{");
        gpc_text_add_text(out, "name", short_name(table->states[s].name));
        gpc_text_add_text(out, "kind", kinds[table->states[s].kind]);
        gpc_text_add_text(out, "text", table->states[s].text);
        gpc_text_add(out, "}");
    }
    gpc_text_add(out, "]");
    gpc_text_open(out, "stable", "[");
    for (uint8_t s = 0; s < states; s++) {
        if (table->states[s].kind == GPC_STABLE) {
            gpc_text_add_comma(out);
            gpc_text_add_string(out, short_name(table->states[s].name));
        }
    }
    gpc_text_add(out, "]");
}

static void
print_events(gpc_text_t *out, const gpc_table_t *table)
{
    gpc_text_open(out, "events", "[");
    for (uint8_t e = 0; e < table->num_events; e++) {
        gpc_text_open(out, NULL, "{");
        gpc_text_add_text(out, "name", short_name(table->events[e].name));
        gpc_text_add_text(out, "text", table->events[e].text);
        gpc_text_add(out, "}");
    }
    gpc_text_add(out, "]");
}

/* The printed name of an action: "hit" for "act_hit", and for a family's "tc_act_hit". */
static const char *
action_name(const gpc_action_t *action)
{
    const char *at = strstr(action->name, "act_");
    return at ? at + 4 : action->name;
}

static void
add_actions(gpc_text_t *out, const gpc_cell_t *cell, const char *before)
{
    for (const gpc_action_t *const *action = cell->actions; *action; action++) {
        gpc_text_add(out, "%s%s%s", action == cell->actions ? "" : ", ", before, action_name(*action));
    }
}

void
gpc_fsm_print_actions(gpc_text_t *out, const gpc_cell_t *cell)
{
    add_actions(out, cell, "act_");
}

static void
print_cell(gpc_text_t *out, const gpc_table_t *table, uint8_t state, uint8_t event)
{
    const gpc_cell_t *cell = gpc_fsm_declared_cell(table, state, event);

    gpc_text_open(out, NULL, "[");
    gpc_text_add_string(out, short_name(table->states[state].name));
    gpc_text_add_comma(out);
    gpc_text_add_string(out, short_name(table->events[event].name));
    gpc_text_add_comma(out);
    switch ((gpc_cell_kind_t) cell->kind) {
        case GPC_CELL_HOLD_LINE:
            gpc_text_add(out, "\"HOLD_LINE\", null");
            break;
        case GPC_CELL_HOLD_QUEUE:
            gpc_text_add(out, "\"");
            add_actions(out, cell, "");
            gpc_text_add(out, "%sHOLD_QUEUE\", null", *cell->actions ? ", " : "");
            break;
        case GPC_CELL_NOT_A_VICTIM:
            gpc_text_add(out, "\"NOT_A_VICTIM\", null");
            break;
        case GPC_CELL_GO:
        case GPC_CELL_REDO:
        case GPC_CELL_IMPOSSIBLE:
            gpc_text_add(out, "\"");
            add_actions(out, cell, "");
            gpc_text_add(out, "\"");
            gpc_text_add_comma(out);
            gpc_text_add_string(out, short_name(table->states[cell->next].name));
            break;
    }
    gpc_text_add(out, "]");
}

/* Whether the action occurs earlier in the cell or in an earlier cell of the table. */
static bool
is_printed(const gpc_table_t *table, uint32_t number, const gpc_action_t *const *which)
{
    for (uint32_t i = 0; i <= number; i++) {
        for (const gpc_action_t *const *action = cell_at(table, i)->actions; *action && action != which; action++) {
            if (*action == *which) {
                return true;
            }
        }
    }
    return false;
}

static void
print_actions(gpc_text_t *out, const gpc_table_t *table)
{
    gpc_text_open(out, "actions", "[");
    for (uint32_t i = 0; i < num_cells(table); i++) {
        for (const gpc_action_t *const *action = cell_at(table, i)->actions; *action; action++) {
            if (!is_printed(table, i, action)) {
                gpc_text_open(out, NULL, "{");
                gpc_text_add_text(out, "name", action_name(*action));
                gpc_text_add_text(out, "text", (*action)->text);
                gpc_text_add(out, "}");
            }
        }
    }
    gpc_text_add(out, "]");
}

static void
print_hardened_cells(gpc_text_t *out, const gpc_table_t *table)
{
    gpc_text_open(out, "hardened_cells", "[");
    for (uint8_t s = 0; s < table->num_states; s++) {
        for (uint8_t e = 0; e < table->num_events; e++) {
            if (gpc_fsm_declared_cell(table, s, e)->hardened) {
                gpc_text_add_comma(out);
                gpc_text_add(out, "[\"%s\", \"%s\"]", short_name(table->states[s].name),
                             short_name(table->events[e].name));
            }
        }
    }
    gpc_text_add(out, "]");
}

static void
print_patches(gpc_text_t *out, const gpc_table_t *table)
{
    gpc_text_add_text(out, "base", table->base ? table->base_protocol : "");
    gpc_text_open(out, "patches", "[");
    for (uint16_t i = 0; i < table->num_patches; i++) {
        const gpc_patch_t *patch = &table->patches[i];
        gpc_text_add_comma(out);
        gpc_text_add(out, "[\"%s\", \"%s\"", short_name(table->states[patch->state].name),
                     short_name(table->events[patch->event].name));
        gpc_text_add_comma(out);
        gpc_text_add_string(out, gpc_fsm_reason(table, i));
        gpc_text_add(out, "]");
    }
    gpc_text_add(out, "]");
}

void
gpc_fsm_print(gpc_text_t *out, const gpc_table_t *table)
{
    static const char *const objects[] = {"line", "word", "entry", "unit"};

    gpc_text_add(out, "{");
    gpc_text_add_text(out, "name", table->name);
    gpc_text_add_text(out, "object", objects[table->object]);
    print_states(out, table);
    print_events(out, table);
    gpc_text_add_count(out, "transitions", gpc_fsm_transitions(table, false));
    gpc_text_add_count(out, "hardened", gpc_fsm_transitions(table, true));
    gpc_text_open(out, "table", "[");
    for (uint8_t s = 0; s < table->num_states; s++) {
        for (uint8_t e = 0; e < table->num_events; e++) {
            if (gpc_fsm_declared_cell(table, s, e)->kind != GPC_CELL_IMPOSSIBLE) {
                print_cell(out, table, s, e);
            }
        }
    }
    gpc_text_add(out, "]");
    print_hardened_cells(out, table);
    print_patches(out, table);
    print_actions(out, table);
    gpc_text_add(out, "}");
}

/* fsm_check.c: checks tables as they are declared. */
#include <string.h>

#include "base/errors.h"
#include "controller/fsm.h"

static bool
moves_to(const gpc_cell_t *cell, uint8_t state)
{
    return (cell->kind == GPC_CELL_GO || cell->kind == GPC_CELL_REDO) && cell->next == state;
}

static bool
leaves(const gpc_table_t *table, uint8_t state)
{
    for (uint8_t e = 0; e < table->num_events; e++) {
        const gpc_cell_t *cell = gpc_fsm_declared_cell(table, state, e);
        if ((cell->kind == GPC_CELL_GO || cell->kind == GPC_CELL_REDO) && cell->next != state) {
            return true;
        }
    }
    return false;
}

/* States at the end of the list may be those of another table of the controller only. */
static bool
is_entered(const gpc_table_t *table, uint8_t state)
{
    for (uint8_t s = 0; s < table->num_states; s++) {
        for (uint8_t e = 0; e < table->num_events; e++) {
            if (moves_to(gpc_fsm_declared_cell(table, s, e), state)) {
                return true;
            }
        }
    }
    return false;
}

static bool
check_state(const gpc_table_t *table, uint8_t s, gpc_text_t *out)
{
    bool whole = true;

    for (uint8_t e = 0; e < table->num_events; e++) {
        const gpc_cell_t *cell = gpc_fsm_declared_cell(table, s, e);
        bool moves = cell->kind == GPC_CELL_GO || cell->kind == GPC_CELL_REDO;
        if (moves && cell->next >= table->num_states) {
            gpc_text_add(out, "%s: cell [%s][%s] has no valid next state\n", table->name, table->states[s].name,
                         table->events[e].name);
            whole = false;
        }
    }
    if (table->states[s].kind != GPC_STABLE && is_entered(table, s) && !leaves(table, s)) {
        gpc_text_add(out, "%s: no transition leaves state %s\n", table->name, table->states[s].name);
        whole = false;
    }
    for (uint8_t other = 0; other < s; other++) {
        if (strcmp(table->states[s].name, table->states[other].name) == 0) {
            gpc_text_add(out, "%s: state %s is named twice\n", table->name, table->states[s].name);
            whole = false;
        }
    }
    return whole;
}

/* ---- patches ----------------------------------------------------------------------------------------------------- */

static bool
are_equal(const gpc_cell_t *a, const gpc_cell_t *b)
{
    if (a->kind != b->kind || a->next != b->next || a->hardened != b->hardened) {
        return false;
    }
    for (uint32_t i = 0; i <= GPC_MAX_ACTIONS && (a->actions[i] || b->actions[i]); i++) {
        if (a->actions[i] != b->actions[i]) {
            return false;
        }
    }
    return true;
}

/* The table's lists begin with its base's, and it stores states where the base does. */
static bool
extends_base(const gpc_table_t *table, gpc_text_t *out)
{
    const gpc_table_t *base = table->base;
    bool extends = base->object == table->object && base->arrays == table->arrays && base->initial == table->initial &&
                   base->keeps_initial == table->keeps_initial && base->num_states <= table->num_states &&
                   base->num_events <= table->num_events;

    for (uint8_t s = 0; extends && s < base->num_states; s++) {
        extends =
            strcmp(base->states[s].name, table->states[s].name) == 0 && base->states[s].kind == table->states[s].kind;
    }
    for (uint8_t e = 0; extends && e < base->num_events; e++) {
        extends = strcmp(base->events[e].name, table->events[e].name) == 0;
    }
    if (!extends) {
        gpc_text_add(out, "%s: its states or events do not begin with those of its base\n", table->name);
    }
    return extends;
}

static const char *
error_of(const gpc_table_t *table, uint16_t number)
{
    static const gpc_cell_t impossible = {.kind = GPC_CELL_IMPOSSIBLE};
    const gpc_patch_t *patch = &table->patches[number];
    bool in_base = patch->state < table->base->num_states && patch->event < table->base->num_events;

    for (uint16_t other = 0; other < number; other++) {
        if (table->patches[other].state == patch->state && table->patches[other].event == patch->event) {
            return "is patched twice";
        }
    }
    if (!gpc_fsm_reason(table, number)) {
        return "is patched for no reason";
    }
    const gpc_cell_t *before = in_base ? gpc_fsm_declared_cell(table->base, patch->state, patch->event) : &impossible;
    return are_equal(before, &patch->cell) ? "is patched with the cell that the base has" : NULL;
}

static bool
check_patches(const gpc_table_t *table, gpc_text_t *out)
{
    bool whole = true;

    for (uint16_t i = 0; i < table->num_patches; i++) {
        const gpc_patch_t *patch = &table->patches[i];
        if (patch->state >= table->num_states || patch->event >= table->num_events) {
            gpc_text_add(out, "%s: patch %u is of no cell\n", table->name, i);
            whole = false;
            continue;
        }
        const char *error = error_of(table, i);
        if (error) {
            gpc_text_add(out, "%s: cell [%s][%s] %s\n", table->name, table->states[patch->state].name,
                         table->events[patch->event].name, error);
            whole = false;
        }
    }
    return whole;
}

/* ---- causes ------------------------------------------------------------------------------------------------------ */

/* Whether declared causes name events that have a cell and, without a classifier, are all of them. */
static bool
check_causes(const gpc_table_t *table, gpc_text_t *out)
{
    bool whole = true;
    uint64_t named = table->expiry.states ? UINT64_C(1) << table->expiry.event : 0;

    for (uint32_t cause = 0; cause < GPC_MAX_CAUSES; cause++) {
        uint8_t declared = gpc_fsm_declared_cause(table, cause), event = (uint8_t) (declared - 1);
        if (declared == 0) {
            continue;
        }
        if (!gpc_fsm_takes(table, event)) {
            gpc_text_add(out, "%s: cause %u is declared for an event without a cell\n", table->name, cause);
            whole = false;
        } else {
            named |= UINT64_C(1) << event;
        }
    }
    for (uint8_t event = 0; event < table->num_events && !table->classify; event++) {
        if (!(named >> event & 1)) {
            gpc_text_add(out, "%s: event %s has no cause, and there is no classify\n", table->name,
                         table->events[event].name);
            whole = false;
        }
    }
    return whole;
}

int
gpc_fsm_check(const gpc_table_t *table, gpc_text_t *out)
{
    bool whole = true;

    if (!table->cells == !table->base) {
        gpc_text_add(out, "%s: a table has either cells or a base\n", table->name);
        return GPC_ERROR_ARGUMENT;
    }
    if (table->base && !extends_base(table, out)) {
        return GPC_ERROR_ARGUMENT;
    }
    if (table->base) {
        whole = check_patches(table, out);
    }
    for (uint8_t s = 0; s < table->num_states; s++) {
        whole &= check_state(table, s, out);
    }
    whole &= check_causes(table, out);
    return whole ? GPC_OK : GPC_ERROR_ARGUMENT;
}

#include "protocol/fsm.h"

#include <string.h>

#include "protocol/protocol.h"

/* ---- where a state lives ------------------------------------------------------------------------------------------------ */

static uint8_t
word_state(const gpc_step_t *x, uint8_t word)
{
    const gpc_controller_t *unit = x->unit;
    if (x->mshr != GPC_NONE) {
        uint8_t held = gpc_mshr_word_states(&unit->mshrs, x->mshr)[word];
        if (held) {
            return (uint8_t) (held - 1); /* 0: this word is not part of the transaction */
        }
    }
    return x->way != GPC_NONE ? gpc_tags_word_states(&unit->arrays[x->array], x->way)[word] : x->table->initial;
}

static uint8_t
line_state(const gpc_step_t *x)
{
    if (x->mshr != GPC_NONE) {
        return gpc_mshr_at(&x->unit->mshrs, x->mshr)->state;
    }
    return x->way != GPC_NONE ? x->unit->arrays[x->array].tags[x->way].state : x->table->initial;
}

static int
lost(gpc_step_t *x, uint8_t next, const char *what)
{
    return gpc_fail(x->unit->failure, GPC_ERROR_PROTOCOL, "%s of %s %u, line 0x%llx: %s on the way from %s to %s",
                    x->table->name, x->unit->type->name, x->unit->index, (unsigned long long) x->line, what,
                    x->table->states[x->state].name, x->table->states[next].name);
}

/* The transaction is over: who waited for it is replayed, its way is the line's own again. */
static int
end_transaction(gpc_step_t *x, uint8_t next)
{
    gpc_controller_t *unit = x->unit;
    gpc_mshr_t *entry = gpc_mshr_at(&unit->mshrs, x->mshr);

    if (entry->pending.count) {
        return lost(x, next, "requests of the transaction are not answered");
    }
    gpc_list_append(unit->replay, unit->messages, &entry->waiters);
    if (x->way != GPC_NONE) {
        unit->arrays[x->array].tags[x->way].mshr = GPC_NONE;
    }
    gpc_mshr_give(&unit->mshrs, x->mshr);
    x->mshr = GPC_NONE;
    return GPC_OK;
}

static int
set_line_state(gpc_step_t *x, uint8_t next)
{
    gpc_controller_t *unit = x->unit;

    if (x->table->states[next].kind != GPC_STABLE) {
        gpc_mshr_t *entry = gpc_mshr_at(&unit->mshrs, x->mshr);
        if (entry->state != next) {
            gpc_list_append(unit->replay, unit->messages, &entry->waiters);
            entry->state = next;
        }
        return GPC_OK;
    }
    if (x->mshr != GPC_NONE) {
        int status = end_transaction(x, next);
        if (status) {
            return status;
        }
    }
    if (x->way == GPC_NONE) {
        return next == x->table->initial ? GPC_OK : lost(x, next, "no way holds the line");
    }
    if (next == x->table->initial && !x->table->keeps_initial) {
        gpc_tags_drop(&unit->arrays[x->array], x->way);
        x->way = GPC_NONE;
    } else {
        unit->arrays[x->array].tags[x->way].state = next;
    }
    return GPC_OK;
}

static int
set_word_states(gpc_step_t *x, uint8_t next)
{
    gpc_controller_t *unit = x->unit;
    bool stable = x->table->states[next].kind == GPC_STABLE;

    for (gpc_mask_t left = x->mask; left; left &= left - 1) {
        uint32_t word = (uint32_t) __builtin_ctz(left);
        if (x->mshr != GPC_NONE) {
            gpc_mshr_word_states(&unit->mshrs, x->mshr)[word] = stable ? 0 : (uint8_t) (next + 1);
        }
        if (stable && x->way != GPC_NONE) {
            gpc_tags_word_states(&unit->arrays[x->array], x->way)[word] = next;
        } else if (stable && next != x->table->initial) {
            return lost(x, next, "no way holds the word");
        }
    }
    if (x->mshr == GPC_NONE) {
        return GPC_OK;
    }
    gpc_mshr_t *entry = gpc_mshr_at(&unit->mshrs, x->mshr);
    gpc_list_append(unit->replay, unit->messages, &entry->waiters);
    for (uint32_t word = 0; word < unit->mshrs.line_words; word++) {
        if (gpc_mshr_word_states(&unit->mshrs, x->mshr)[word]) {
            return GPC_OK;
        }
    }
    return entry->pending.count ? GPC_OK : end_transaction(x, next);
}

static uint8_t
state_of(const gpc_step_t *x)
{
    switch (x->table->object) {
        case GPC_OVER_LINES:
            return line_state(x);
        case GPC_OVER_WORDS:
            return word_state(x, x->word);
        case GPC_OVER_ENTRIES:
        case GPC_OVER_UNIT:
            break;
    }
    return *x->slot;
}

static int
set_state(gpc_step_t *x, uint8_t next)
{
    switch (x->table->object) {
        case GPC_OVER_LINES:
            return set_line_state(x, next);
        case GPC_OVER_WORDS:
            return set_word_states(x, next);
        case GPC_OVER_ENTRIES:
        case GPC_OVER_UNIT:
            break;
    }
    *x->slot = next;
    return GPC_OK;
}

/* ---- one cell ------------------------------------------------------------------------------------------------------------- */

static int
impossible(gpc_step_t *x, uint8_t event)
{
    const char *name = event < x->table->num_events ? x->table->events[event].name : "no event";
    x->unit->failure->line = x->line;
    return gpc_fail(x->unit->failure, GPC_ERROR_PROTOCOL,
                    "impossible transition: %s %u of %s, table %s, line 0x%llx in state %s, event %s (cause %u, from node %d)",
                    x->unit->type->name, x->unit->index, x->unit->protocol->id, x->table->name,
                    (unsigned long long) x->line, x->table->states[x->state].name, name, x->cause,
                    x->msg ? (int) x->msg->source : -1);
}

/* Lines and words need a transaction entry before they can be in a transient state. */
static bool
needs_entry(const gpc_step_t *x, const gpc_cell_t *cell)
{
    return x->table->object <= GPC_OVER_WORDS && x->mshr == GPC_NONE &&
           x->table->states[cell->next].kind != GPC_STABLE;
}

static int
carry_out(gpc_step_t *x, const gpc_cell_t *cell)
{
    gpc_controller_t *unit = x->unit;
    bool fresh = needs_entry(x, cell);

    if (fresh) {
        x->mshr = gpc_mshr_take(&unit->mshrs, x->line, cell->next);
        if (x->mshr == GPC_NONE) {
            return GPC_HELD_QUEUE;
        }
        if (x->way != GPC_NONE) {
            gpc_mshr_at(&unit->mshrs, x->mshr)->way = x->way;
            unit->arrays[x->array].tags[x->way].mshr = x->mshr;
        }
    }
    for (const gpc_action_t *action = cell->actions; *action; action++) {
        int status = (*action)(x);
        if (status == GPC_HOLD && action == cell->actions) {
            if (fresh) {
                if (x->way != GPC_NONE) {
                    unit->arrays[x->array].tags[x->way].mshr = GPC_NONE;
                }
                gpc_mshr_give(&unit->mshrs, x->mshr);
                x->mshr = GPC_NONE;
            }
            return GPC_HELD_QUEUE;
        }
        if (status < 0) {
            return status;
        }
    }
    return set_state(x, cell->next);
}

/* One look-up for what x->state and x->mask say: classify, then the cell; again after a pre-event or REDO. */
static int
look_up(gpc_step_t *x)
{
    for (uint32_t turn = 0; turn < 16; turn++) {
        x->state = state_of(x);
        gpc_event_id_t named = x->table->classify(x);
        gpc_event_id_t event = named & 0x7F;
        if (event >= x->table->num_events) {
            return impossible(x, event);
        }
        const gpc_cell_t *cell = gpc_fsm_cell(x->table, x->state, event);
        int status;
        switch ((gpc_cell_kind_t) cell->kind) {
            case GPC_CELL_GO:
            case GPC_CELL_REDO:
                status = carry_out(x, cell);
                if (status != GPC_OK) {
                    return status;
                }
                x->unit->counts[x->table_number][(size_t) x->state * x->table->num_events + event]++;
                if (cell->kind == GPC_CELL_GO && !(named & 0x80)) {
                    return GPC_OK;
                }
                break;
            case GPC_CELL_HOLD_LINE:
                return GPC_HELD_LINE;
            case GPC_CELL_HOLD_QUEUE:
                return GPC_HELD_QUEUE;
            case GPC_CELL_NOT_A_VICTIM:
                return GPC_UNFIT_VICTIM;
            case GPC_CELL_IMPOSSIBLE:
                return impossible(x, event);
        }
    }
    return lost(x, x->state, "the same cause is classified again and again");
}

/* Over words: one look-up for each distinct (state, event) among the masked words, with the sub-mask. */
static int
step_over_words(gpc_step_t *x)
{
    gpc_mask_t all = x->mask, left = all;
    int held = GPC_OK;

    while (left) {
        x->word = (uint8_t) __builtin_ctz(left);
        x->mask = UINT32_C(1) << x->word;
        x->state = state_of(x);
        uint8_t state = x->state;
        gpc_event_id_t event = x->table->classify(x);
        gpc_mask_t same = 0;
        for (gpc_mask_t look = left; look; look &= look - 1) {
            x->word = (uint8_t) __builtin_ctz(look);
            x->mask = UINT32_C(1) << x->word;
            x->state = state_of(x);
            if (x->state == state && x->table->classify(x) == event) {
                same |= x->mask;
            }
        }
        x->word = (uint8_t) __builtin_ctz(same);
        x->mask = same;
        int status = look_up(x);
        if (status < 0) {
            return status;
        }
        if (status != GPC_OK) {
            held = status;
        }
        left &= ~same;
    }
    x->mask = all;
    return held;
}

int
gpc_fsm_step(gpc_step_t *x)
{
    return x->table->object == GPC_OVER_WORDS ? step_over_words(x) : look_up(x);
}

/* ---- printing and checking -------------------------------------------------------------------------------------------------- */

/* "L1_V" of table prefix "L1_" prints as "V": the prefix is what ends with the first underscore after a capital word. */
static const char *
short_name(const char *name)
{
    const char *underscore = strchr(name, '_');
    return underscore && underscore[1] ? underscore + 1 : name;
}

uint32_t
gpc_fsm_transitions(const gpc_table_t *table, bool hardened)
{
    uint32_t count = 0;
    for (size_t i = 0; i < (size_t) table->num_states * table->num_events; i++) {
        const gpc_cell_t *cell = &table->cells[i];
        bool moves = cell->kind == GPC_CELL_GO || cell->kind == GPC_CELL_REDO;
        count += moves && cell->hardened == hardened;
    }
    return count;
}

static void
print_states(gpc_text_t *out, const gpc_table_t *table)
{
    static const char *const kinds[] = {"stable", "transient_cache", "transient_coherence"};

    gpc_text_add_key(out, "states");
    gpc_text_add(out, "[");
    for (uint8_t s = 0; s < table->num_states; s++) {
        gpc_text_add_comma(out);
        gpc_text_add(out, "{");
        gpc_text_add_key(out, "name");
        gpc_text_add_string(out, short_name(table->states[s].name));
        gpc_text_add_key(out, "kind");
        gpc_text_add_string(out, kinds[table->states[s].kind]);
        gpc_text_add_key(out, "text");
        gpc_text_add_string(out, table->states[s].text);
        gpc_text_add(out, "}");
    }
    gpc_text_add(out, "]");
    gpc_text_add_key(out, "stable");
    gpc_text_add(out, "[");
    for (uint8_t s = 0; s < table->num_states; s++) {
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
    gpc_text_add_key(out, "events");
    gpc_text_add(out, "[");
    for (uint8_t e = 0; e < table->num_events; e++) {
        gpc_text_add_comma(out);
        gpc_text_add(out, "{");
        gpc_text_add_key(out, "name");
        gpc_text_add_string(out, short_name(table->events[e].name));
        gpc_text_add_key(out, "text");
        gpc_text_add_string(out, table->events[e].text);
        gpc_text_add(out, "}");
    }
    gpc_text_add(out, "]");
}

/* The cell's text is "L1_IV, act_reserve_way, act_request_line": its actions without "act_" and the next state. */
static void
print_actions(gpc_text_t *out, const char *text)
{
    const char *at = strchr(text, ',');
    char actions[256];
    size_t length = 0;

    while (at && *at && length + 1 < sizeof(actions)) {
        if (strncmp(at, "act_", 4) == 0) {
            at += 4;
        } else if (length == 0 && (*at == ',' || *at == ' ')) {
            at++;
        } else {
            actions[length++] = *at++;
        }
    }
    actions[length] = 0;
    gpc_text_add_string(out, actions);
}

static void
print_cell(gpc_text_t *out, const gpc_table_t *table, uint8_t state, uint8_t event)
{
    const gpc_cell_t *cell = gpc_fsm_cell(table, state, event);

    gpc_text_add_comma(out);
    gpc_text_add(out, "[");
    gpc_text_add_string(out, short_name(table->states[state].name));
    gpc_text_add_comma(out);
    gpc_text_add_string(out, short_name(table->events[event].name));
    gpc_text_add_comma(out);
    switch ((gpc_cell_kind_t) cell->kind) {
        case GPC_CELL_HOLD_LINE:
            gpc_text_add(out, "\"HOLD_LINE\", null");
            break;
        case GPC_CELL_HOLD_QUEUE:
            gpc_text_add(out, "\"HOLD_QUEUE\", null");
            break;
        case GPC_CELL_NOT_A_VICTIM:
            gpc_text_add(out, "\"NOT_A_VICTIM\", null");
            break;
        case GPC_CELL_GO:
        case GPC_CELL_REDO:
        case GPC_CELL_IMPOSSIBLE:
            print_actions(out, cell->text);
            gpc_text_add_comma(out);
            gpc_text_add_string(out, short_name(table->states[cell->next].name));
            break;
    }
    gpc_text_add(out, "]");
}

static void
print_hardened_cells(gpc_text_t *out, const gpc_table_t *table)
{
    gpc_text_add_key(out, "hardened_cells");
    gpc_text_add(out, "[");
    for (uint8_t s = 0; s < table->num_states; s++) {
        for (uint8_t e = 0; e < table->num_events; e++) {
            if (gpc_fsm_cell(table, s, e)->hardened) {
                gpc_text_add_comma(out);
                gpc_text_add(out, "[\"%s\", \"%s\"]", short_name(table->states[s].name),
                             short_name(table->events[e].name));
            }
        }
    }
    gpc_text_add(out, "]");
}

void
gpc_fsm_print(gpc_text_t *out, const gpc_table_t *table)
{
    static const char *const objects[] = {"line", "word", "entry", "unit"};

    gpc_text_add(out, "{");
    gpc_text_add_key(out, "name");
    gpc_text_add_string(out, table->name);
    gpc_text_add_key(out, "object");
    gpc_text_add_string(out, objects[table->object]);
    print_states(out, table);
    print_events(out, table);
    gpc_text_add_key(out, "transitions");
    gpc_text_add(out, "%u", gpc_fsm_transitions(table, false));
    gpc_text_add_key(out, "hardened");
    gpc_text_add(out, "%u", gpc_fsm_transitions(table, true));
    gpc_text_add_key(out, "table");
    gpc_text_add(out, "[");
    for (uint8_t s = 0; s < table->num_states; s++) {
        for (uint8_t e = 0; e < table->num_events; e++) {
            if (gpc_fsm_cell(table, s, e)->kind != GPC_CELL_IMPOSSIBLE) {
                print_cell(out, table, s, e);
            }
        }
    }
    gpc_text_add(out, "]");
    print_hardened_cells(out, table);
    gpc_text_add(out, "}");
}

static bool
leaves(const gpc_table_t *table, uint8_t state)
{
    for (uint8_t e = 0; e < table->num_events; e++) {
        const gpc_cell_t *cell = gpc_fsm_cell(table, state, e);
        if ((cell->kind == GPC_CELL_GO || cell->kind == GPC_CELL_REDO) && cell->next != state) {
            return true;
        }
    }
    return false;
}

int
gpc_fsm_check(const gpc_table_t *table, gpc_text_t *out)
{
    bool whole = true;
    for (uint8_t s = 0; s < table->num_states; s++) {
        for (uint8_t e = 0; e < table->num_events; e++) {
            const gpc_cell_t *cell = gpc_fsm_cell(table, s, e);
            bool moves = cell->kind == GPC_CELL_GO || cell->kind == GPC_CELL_REDO;
            if (moves && cell->next >= table->num_states) {
                gpc_text_add(out, "%s: cell [%s][%s] leads to no state\n", table->name, table->states[s].name,
                             table->events[e].name);
                whole = false;
            }
        }
        if (table->states[s].kind != GPC_STABLE && !leaves(table, s)) {
            gpc_text_add(out, "%s: nothing leaves %s\n", table->name, table->states[s].name);
            whole = false;
        }
        for (uint8_t other = 0; other < s; other++) {
            if (strcmp(table->states[s].name, table->states[other].name) == 0) {
                gpc_text_add(out, "%s: state %s stands twice\n", table->name, table->states[s].name);
                whole = false;
            }
        }
    }
    if (!table->classify) {
        gpc_text_add(out, "%s: no classify\n", table->name);
        whole = false;
    }
    return whole ? 0 : GPC_ERROR_ARGUMENT;
}

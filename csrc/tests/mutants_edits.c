/* mutants_edits.c: applies the edits of planted bugs (mutants.h). Every name is looked up, and one that the protocol
 * lacks ends the process. */
#include <string.h>

#include "tests/mutants_parts.h"

bool
mutant_is_named(const char *full, const char *name)
{
    const char *at = strchr(full, '_');
    return strcmp(at ? at + 1 : full, name) == 0;
}

bool
mutant_is_action(const gpc_action_t *action, const char *name)
{
    const char *at = strstr(action->name, "act_");
    return strcmp(at ? at + strlen("act_") : action->name, name) == 0;
}

enum { LONGEST_NAME = 63 };

/* The next word of a list separated by spaces; of a longer one, its first letters; false: there is none. */
static bool
next_word(const char **list, char word[static LONGEST_NAME + 1])
{
    const char *begin = *list + strspn(*list, " ");
    size_t length = strcspn(begin, " "), kept = length < LONGEST_NAME ? length : LONGEST_NAME;

    memcpy(word, begin, kept);
    word[kept] = 0;
    *list = begin + length;
    return length > 0;
}

/* ---- looking up by name ------------------------------------------------------------------------------------------ */

static uint8_t
state_number(const mutant_t *self, const gpc_table_t *table, const char *name)
{
    for (uint8_t i = 0; i < table->num_states; i++) {
        if (mutant_is_named(table->states[i].name, name)) {
            return i;
        }
    }
    mutant_stop(self->info->id, "table %s has no state %s", table->name, name);
}

static uint8_t
event_number(const mutant_t *self, const gpc_table_t *table, const char *name)
{
    for (uint8_t i = 0; i < table->num_events; i++) {
        if (mutant_is_named(table->events[i].name, name)) {
            return i;
        }
    }
    mutant_stop(self->info->id, "table %s has no event %s", table->name, name);
}

static gpc_table_t *
table_named(mutant_t *self, const char *name, gpc_patch_t **patches)
{
    for (uint32_t i = 0; i < GPC_NUM_POSITIONS; i++) {
        for (uint32_t t = 0; t < GPC_MAX_TABLES && self->tables[i][t].name; t++) {
            if (strcmp(self->tables[i][t].name, name) == 0) {
                *patches = self->patches[i][t];
                return &self->tables[i][t];
            }
        }
    }
    mutant_stop(self->info->id, "no table %s", name);
}

static uint8_t
option_number(const mutant_t *self, const char *name)
{
    for (uint8_t i = 0; i < GPC_MAX_OPTIONS && self->protocol.options[i].name; i++) {
        if (strcmp(self->protocol.options[i].name, name) == 0) {
            return i;
        }
    }
    mutant_stop(self->info->id, "no option %s", name);
}

/* The number of one of the option's named values. */
static int64_t
option_value(const mutant_t *self, const gpc_option_info_t *option, const char *name)
{
    const char *choices = option->choices ? option->choices : "";
    char word[LONGEST_NAME + 1];

    for (int64_t value = option->smallest; next_word(&choices, word); value++) {
        if (strcmp(word, name) == 0) {
            return value;
        }
    }
    mutant_stop(self->info->id, "option %s has no value %s", option->name, name);
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

/* One cell that an edit changes: the mutant's patch of it. */
typedef struct {
    mutant_t *self;
    const gpc_table_t *table;
    uint8_t state;
    const char *state_name, *event_name; /* for messages */
    gpc_cell_t *cell;
} edited_t;

static gpc_cell_t *
patched_cell(mutant_t *self, gpc_table_t *table, gpc_patch_t *patches, uint8_t state, uint8_t event)
{
    for (uint16_t i = 0; i < table->num_patches; i++) {
        if (patches[i].state == state && patches[i].event == event) {
            return &patches[i].cell;
        }
    }
    if (table->num_patches == MOST_PATCHES) {
        mutant_stop(self->info->id, "more than %d edited cells in table %s", MOST_PATCHES, table->name);
    }
    gpc_patch_t *patch = &patches[table->num_patches];
    *patch = (gpc_patch_t){state, event, *gpc_fsm_declared_cell(table, state, event), self->info->what};
    table->num_patches++;
    return &patch->cell;
}

static const gpc_action_t **
action_in(const edited_t *it, const char *name)
{
    const gpc_action_t **action = it->cell->actions;
    while (*action && !mutant_is_action(*action, name)) {
        action++;
    }
    if (!*action) {
        mutant_stop(it->self->info->id, "table %s, state %s, event %s: no action %s", it->table->name, it->state_name,
                    it->event_name, name);
    }
    return action;
}

static void
drop(const edited_t *it, const mutant_edit_t *edit)
{
    for (const gpc_action_t **action = action_in(it, edit->name); *action; action++) {
        action[0] = action[1];
    }
}

static void
replace(const edited_t *it, const mutant_edit_t *edit)
{
    *action_in(it, edit->name) = edit->action;
}

static void
add(const edited_t *it, const mutant_edit_t *edit)
{
    unsigned i = 0;
    while (it->cell->actions[i]) {
        i++;
    }
    if (i == GPC_MAX_ACTIONS) {
        mutant_stop(it->self->info->id, "table %s, state %s, event %s: more than %d actions", it->table->name,
                    it->state_name, it->event_name, GPC_MAX_ACTIONS);
    }
    it->cell->actions[i] = edit->action;
}

static void
swap(const edited_t *it, const mutant_edit_t *edit)
{
    const gpc_action_t **one = action_in(it, edit->name), **other = action_in(it, edit->other), *first = *one;
    *one = *other;
    *other = first;
}

static void
copy(const edited_t *it, const mutant_edit_t *edit)
{
    uint8_t state = state_number(it->self, it->table, edit->name);
    *it->cell = *gpc_fsm_declared_cell(it->table, state, event_number(it->self, it->table, edit->other));
}

static void
next(const edited_t *it, const mutant_edit_t *edit)
{
    it->cell->kind = GPC_CELL_GO;
    it->cell->next = edit->name ? state_number(it->self, it->table, edit->name) : it->state;
}

static void
hold(const edited_t *it, const mutant_edit_t *edit)
{
    (void) edit;
    *it->cell = (gpc_cell_t) HOLD_LINE;
}

static void
edit_cells(mutant_t *self, const mutant_edit_t *edit, void (*change)(const edited_t *it, const mutant_edit_t *edit))
{
    gpc_patch_t *patches;
    gpc_table_t *table = table_named(self, edit->table, &patches);
    char state[LONGEST_NAME + 1], event[LONGEST_NAME + 1];
    bool is_edit = false;

    for (const char *states = edit->states; next_word(&states, state);) {
        for (const char *events = edit->events; next_word(&events, event);) {
            uint8_t from = state_number(self, table, state);
            gpc_cell_t *cell = patched_cell(self, table, patches, from, event_number(self, table, event));
            change(&(edited_t){self, table, from, state, event, cell}, edit);
            is_edit = true;
        }
    }
    if (!is_edit) {
        mutant_stop(self->info->id, "table %s: no states or no events", table->name);
    }
}

/* ---- tables and protocols ---------------------------------------------------------------------------------------- */

static void
classify(mutant_t *self, const mutant_edit_t *edit)
{
    gpc_patch_t *patches;
    gpc_table_t *table = table_named(self, edit->table, &patches);
    table->classify = edit->classify; /* of every cause */
    memset(table->causes, GPC_NO_CAUSE, sizeof(table->causes));
    table->expiry.states = GPC_NO_STATES;
}

/* The mutant becomes a copy of the protocol that option and value choose instead, with its own texts and options. */
static void
choose_instead(mutant_t *self, uint8_t option, int64_t value)
{
    const gpc_protocol_t declared = self->protocol;

    if (!declared.instead.by || declared.instead.option != option || declared.instead.value != value) {
        return;
    }
    mutant_copy_base(self, declared.instead.by);
    self->protocol.id = declared.id;
    self->protocol.text = declared.text;
    self->protocol.paper = declared.paper;
    self->protocol.family = declared.family;
    self->protocol.declared = declared.declared;
    memcpy(self->protocol.options, declared.options, sizeof(declared.options));
}

static void
choose(mutant_t *self, const mutant_edit_t *edit)
{
    uint8_t number = option_number(self, edit->name);
    gpc_option_info_t *option = &self->protocol.options[number];
    int64_t value = option_value(self, option, edit->other);

    option->standard = value;
    choose_instead(self, number, value);
    for (uint32_t i = 0; i < gpc_num_controllers(self->base); i++) {
        for (uint32_t v = 0; v < GPC_MAX_VARIANTS && self->types[i].variants[v].by; v++) {
            gpc_variant_t *variant = &self->types[i].variants[v];
            if (variant->option == number && variant->value == value) {
                mutant_derive_table(self, i, variant->table, variant->by);
                variant->by = &self->tables[i][variant->table];
            }
        }
    }
}

static void
set_small(mutant_t *self, const mutant_edit_t *edit)
{
    gpc_option_info_t *option = &self->protocol.options[option_number(self, edit->name)];
    option->small.given = true;
    option->small.value = edit->value;
}

static void
unorder(mutant_t *self, const mutant_edit_t *edit)
{
    for (uint32_t i = 0; i < GPC_MAX_NETWORKS && self->protocol.networks[i].name; i++) {
        gpc_network_info_t *network = &self->protocol.networks[i];
        if (strcmp(network->name, edit->name) == 0) {
            if (!network->ordered) {
                mutant_stop(self->info->id, "network %s is unordered anyway", edit->name);
            }
            network->ordered = false;
            return;
        }
    }
    mutant_stop(self->info->id, "no network %s", edit->name);
}

static void
set_member(mutant_t *self, const mutant_edit_t *edit)
{
    uint8_t *member = (uint8_t *) &self->protocol + edit->offset;
    const uint8_t *value = (const uint8_t *) edit->with + edit->offset;

    if (memcmp(member, value, edit->size) == 0) {
        mutant_stop(self->info->id, "%s has that value anyway", edit->name);
    }
    memcpy(member, value, edit->size);
}

static void (*const edits_of_cells[])(const edited_t *it, const mutant_edit_t *edit) = {
    [MUTANT_DROP] = drop, [MUTANT_REPLACE] = replace, [MUTANT_ADD] = add,   [MUTANT_SWAP] = swap,
    [MUTANT_COPY] = copy, [MUTANT_NEXT] = next,       [MUTANT_STAY] = next, [MUTANT_HOLD] = hold,
};

static void (*const edits_of_protocols[])(mutant_t *self, const mutant_edit_t *edit) = {
    [MUTANT_CLASSIFY] = classify, [MUTANT_CHOOSE] = choose,   [MUTANT_SMALL] = set_small,
    [MUTANT_UNORDERED] = unorder, [MUTANT_WITH] = set_member,
};

void
mutant_edit(mutant_t *self)
{
    for (const mutant_edit_t *edit = self->info->edits; edit->kind != MUTANT_END; edit++) {
        if (edit->kind < MUTANT_CLASSIFY) {
            edit_cells(self, edit, edits_of_cells[edit->kind]);
        } else {
            edits_of_protocols[edit->kind](self, edit);
        }
    }
}

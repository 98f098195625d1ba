/* mutants.c: the protocols of the test library, planted bugs included (mutants.h); it replaces protocols/registry.c. */
#include "tests/mutants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "controller/controller.h"
#include "protocols/registry.h"
#include "tests/skeletons.h"

enum { MOST_CONTROLLERS = 5, MOST_PATCHES = 32 };

struct mutant {
    gpc_protocol_t protocol;
    const gpc_protocol_t *base;
    const mutant_info_t *info;
    gpc_controller_type_t types[MOST_CONTROLLERS];
    gpc_table_t tables[MOST_CONTROLLERS][GPC_MAX_TABLES];
    gpc_patch_t patches[MOST_CONTROLLERS][GPC_MAX_TABLES][MOST_PATCHES];
};

static const gpc_protocol_t *const products[] = {
#define GPC_SHARED(file)
#define GPC_PROTOCOL(name, file) &gpc_protocol_##name,
#include "protocols/registry.def"
#undef GPC_PROTOCOL
#undef GPC_SHARED
    &gpc_protocol_self_inval,        &gpc_protocol_skel_epochs, &gpc_protocol_skel_src,
    &gpc_protocol_skel_three_levels, &gpc_protocol_tardis,
};

/* The lists of the mutants_*.c files, which register them when the library is loaded. */
static mutant_list_t *families;

/* Made when the library is loaded, then constant. */
static mutant_t **mutants;
static uint32_t num_mutants;

static _Noreturn void
stop(const char *what, const char *which)
{
    fprintf(stderr, "mutants: %s: %s\n", what, which);
    abort();
}

static void *
take(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory) {
        stop("no memory", "");
    }
    return memory;
}

/* Ordered by the first id, so that the order of linking does not matter. */
void
mutants_register(mutant_list_t *list)
{
    mutant_list_t **at = &families;
    while (*at && strcmp((*at)->first->id, list->first->id) < 0) {
        at = &(*at)->next;
    }
    list->next = *at;
    *at = list;
}

/* ---- copies ---------------------------------------------------------------------------------------------------------------- */

/* The mutant's table, with no patches yet. */
static void
derive_table(mutant_t *self, uint32_t controller, uint32_t table, const gpc_table_t *base)
{
    gpc_table_t *own = &self->tables[controller][table];
    *own = *base;
    own->cells = NULL;
    own->base = base;
    own->base_protocol = self->base->id;
    own->patches = self->patches[controller][table];
    own->num_patches = 0;
}

static void
copy_base(mutant_t *self)
{
    self->protocol = *self->base;
    for (uint32_t i = 0; self->base->controllers[i]; i++) {
        self->types[i] = *self->base->controllers[i];
        self->protocol.controllers[i] = &self->types[i];
        for (uint32_t t = 0; t < GPC_MAX_TABLES && self->types[i].tables[t]; t++) {
            derive_table(self, i, t, self->types[i].tables[t]);
            self->types[i].tables[t] = &self->tables[i][t];
        }
    }
}

/* A copy of the product protocol whose id is the first `length` letters of `id`; its controllers and tables are its own. */
static mutant_t *
copy_product(const char *id, size_t length)
{
    mutant_t *self = take(1, sizeof(*self));

    for (uint32_t i = 0; i < GPC_COUNT_OF(products); i++) {
        if (strlen(products[i]->id) == length && strncmp(products[i]->id, id, length) == 0) {
            self->base = products[i];
        }
    }
    if (!self->base) {
        stop("no such base protocol", id);
    }
    copy_base(self);
    return self;
}

static mutant_t *
make(const mutant_info_t *info)
{
    size_t length = strcspn(info->id, "!");
    mutant_t *self = copy_product(info->id, length);

    if (!info->id[length]) {
        stop("no name after the base protocol's", info->id);
    }
    self->info = info;
    self->protocol.id = info->id;
    self->protocol.text = info->what;
    self->protocol.paper = info->reading ? info->reading : "an ordinary mistake";
    self->protocol.family = "planted bug";
    info->plant(self);
    return self;
}

/* The protocol `added`: a product protocol under another id. */
static mutant_t *
make_added(const char *base)
{
    mutant_t *self = copy_product(base, strlen(base));

    self->protocol.id = "added";
    return self;
}

__attribute__((constructor)) static void
make_all(void)
{
    const char *base = getenv("GPUCOH_ADDED");
    uint32_t count = 0;

    if (base) {
        mutants = take(1, sizeof(mutant_t *));
        mutants[num_mutants++] = make_added(base);
        return;
    }
    for (const mutant_list_t *list = families; list; list = list->next) {
        for (const mutant_info_t *info = list->first; info->id; info++) {
            count++;
        }
    }
    mutants = take(count + 1, sizeof(mutant_t *));
    for (const mutant_list_t *list = families; list; list = list->next) {
        for (const mutant_info_t *info = list->first; info->id; info++) {
            mutants[num_mutants++] = make(info);
        }
    }
}

/* ---- the registry ------------------------------------------------------------------------------------------------------------ */

const gpc_protocol_t *
gpc_protocol_find(const char *id)
{
    for (uint32_t i = 0; i < GPC_COUNT_OF(products); i++) {
        if (strcmp(products[i]->id, id) == 0) {
            return products[i];
        }
    }
    for (uint32_t i = 0; i < num_mutants; i++) {
        if (strcmp(mutants[i]->protocol.id, id) == 0) {
            return &mutants[i]->protocol;
        }
    }
    return NULL;
}

uint32_t
gpc_protocol_count(void)
{
    return (uint32_t) GPC_COUNT_OF(products) + num_mutants;
}

const char *
gpc_protocol_id(uint32_t i)
{
    return i < GPC_COUNT_OF(products) ? products[i]->id : mutants[i - GPC_COUNT_OF(products)]->protocol.id;
}

/* ---- looking up by name -------------------------------------------------------------------------------------------------------- */

static bool
is_named(const char *full, const char *name)
{
    const char *at = strchr(full, '_');
    return strcmp(at ? at + 1 : full, name) == 0;
}

static uint8_t
state_number(const gpc_table_t *table, const char *name)
{
    for (uint8_t i = 0; i < table->num_states; i++) {
        if (is_named(table->states[i].name, name)) {
            return i;
        }
    }
    stop(table->name, name);
}

static uint8_t
event_number(const gpc_table_t *table, const char *name)
{
    for (uint8_t i = 0; i < table->num_events; i++) {
        if (is_named(table->events[i].name, name)) {
            return i;
        }
    }
    stop(table->name, name);
}

static gpc_table_t *
table_of(mutant_t *self, const char *name, gpc_patch_t **patches)
{
    for (uint32_t i = 0; i < MOST_CONTROLLERS; i++) {
        for (uint32_t t = 0; t < GPC_MAX_TABLES && self->tables[i][t].name; t++) {
            if (strcmp(self->tables[i][t].name, name) == 0) {
                *patches = self->patches[i][t];
                return &self->tables[i][t];
            }
        }
    }
    stop(self->protocol.id, name);
}

/* ---- planting ------------------------------------------------------------------------------------------------------------------ */

gpc_protocol_t *
mutant_protocol(mutant_t *self)
{
    return &self->protocol;
}

/* The mutant becomes a copy of the protocol that this option and value choose instead, with its own texts and options. */
static void
choose_instead(mutant_t *self, uint8_t option, int64_t value)
{
    const gpc_protocol_t declared = self->protocol;

    if (!declared.instead.by || declared.instead.option != option || declared.instead.value != value) {
        return;
    }
    self->base = declared.instead.by;
    copy_base(self);
    self->protocol.id = declared.id;
    self->protocol.text = declared.text;
    self->protocol.paper = declared.paper;
    self->protocol.family = declared.family;
    self->protocol.declared = declared.declared;
    memcpy(self->protocol.options, declared.options, sizeof(declared.options));
}

void
mutant_choose(mutant_t *self, const char *option, int64_t value)
{
    uint8_t number = 0;
    while (strcmp(self->protocol.options[number].name, option) != 0) {
        number++;
    }
    self->protocol.options[number].standard = value;
    choose_instead(self, number, value);
    for (uint32_t i = 0; self->base->controllers[i]; i++) {
        for (uint32_t v = 0; v < GPC_MAX_VARIANTS && self->types[i].variants[v].by; v++) {
            gpc_variant_t *variant = &self->types[i].variants[v];
            if (variant->option == number && variant->value == value) {
                derive_table(self, i, variant->table, variant->by);
                variant->by = &self->tables[i][variant->table];
            }
        }
    }
}

gpc_cell_t *
mutant_cell(mutant_t *self, const char *table_name, const char *state_name, const char *event_name)
{
    gpc_patch_t *patches;
    gpc_table_t *table = table_of(self, table_name, &patches);
    uint8_t state = state_number(table, state_name), event = event_number(table, event_name);

    for (uint16_t i = 0; i < table->num_patches; i++) {
        if (patches[i].state == state && patches[i].event == event) {
            return &patches[i].cell;
        }
    }
    if (table->num_patches == MOST_PATCHES) {
        stop(self->protocol.id, "too many patches");
    }
    gpc_patch_t *patch = &patches[table->num_patches];
    *patch = (gpc_patch_t){state, event, *gpc_fsm_declared_cell(table, state, event), self->info->what};
    table->num_patches++;
    return &patch->cell;
}

void
mutant_next(mutant_t *self, const char *table, const char *state, const char *event, const char *next)
{
    gpc_cell_t *cell = mutant_cell(self, table, state, event);
    gpc_patch_t *patches;
    cell->kind = GPC_CELL_GO;
    cell->next = state_number(table_of(self, table, &patches), next);
}

void
mutant_drop(mutant_t *self, const char *table, const char *state, const char *event, unsigned action)
{
    gpc_cell_t *cell = mutant_cell(self, table, state, event);
    if (!cell->actions[action]) {
        stop(self->protocol.id, "no such action");
    }
    for (unsigned i = action; cell->actions[i]; i++) {
        cell->actions[i] = cell->actions[i + 1];
    }
}

void
mutant_replace(mutant_t *self, const char *table, const char *state, const char *event, unsigned action,
               const gpc_action_t *by)
{
    gpc_cell_t *cell = mutant_cell(self, table, state, event);
    if (!cell->actions[action]) {
        stop(self->protocol.id, "no such action");
    }
    cell->actions[action] = by;
}

void
mutant_add(mutant_t *self, const char *table, const char *state, const char *event, const gpc_action_t *action)
{
    gpc_cell_t *cell = mutant_cell(self, table, state, event);
    unsigned i = 0;
    while (cell->actions[i]) {
        i++;
    }
    if (i == GPC_MAX_ACTIONS) {
        stop(self->protocol.id, "too many actions");
    }
    cell->actions[i] = action;
}

void
mutant_swap(mutant_t *self, const char *table, const char *state, const char *event, unsigned first, unsigned second)
{
    gpc_cell_t *cell = mutant_cell(self, table, state, event);
    const gpc_action_t *one = cell->actions[first];
    cell->actions[first] = cell->actions[second];
    cell->actions[second] = one;
}

void
mutant_copy(mutant_t *self, const char *table, const char *state, const char *event, const char *from_state,
            const char *from_event)
{
    gpc_patch_t *patches;
    const gpc_table_t *its = table_of(self, table, &patches);
    *mutant_cell(self, table, state, event) =
        *gpc_fsm_declared_cell(its, state_number(its, from_state), event_number(its, from_event));
}

void
mutant_classify(mutant_t *self, const char *table, gpc_event_id_t (*classify)(const gpc_step_t *x))
{
    gpc_patch_t *patches;
    gpc_table_t *of = table_of(self, table, &patches);
    of->classify = classify; /* of every cause */
    memset(of->causes, GPC_NO_CAUSE, sizeof(of->causes));
    of->expiry.states = GPC_NO_STATES;
}

/* ---- classifiers and actions of mutants ------------------------------------------------------------------------------------------ */

static const gpc_table_t *
base_table(const gpc_step_t *x)
{
    uint32_t mutant = 0, i = 0;
    while (mutants[mutant]->protocol.id != x->unit->protocol->id) { /* the copy that a world runs has the same text */
        mutant++;
    }
    while (mutants[mutant]->base->controllers[i]->position != x->unit->type->position) {
        i++;
    }
    return mutants[mutant]->base->controllers[i]->tables[x->table_number];
}

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
    return (event & 0x7F) < x->table->num_events && is_named(x->table->events[event & 0x7F].name, name);
}

gpc_event_id_t
mutant_event(const gpc_step_t *x, const char *name)
{
    return event_number(x->table, name);
}

bool
mutant_state_is(const gpc_step_t *x, const char *name)
{
    return is_named(x->table->states[x->state].name, name);
}

const gpc_action_t *
mutant_base_action(const gpc_step_t *x, const char *state, const char *event, unsigned action)
{
    const gpc_table_t *table = base_table(x);
    return gpc_fsm_declared_cell(table, state_number(table, state), event_number(table, event))->actions[action];
}

/* ---- messages and fields by name --------------------------------------------------------------------------------------------------- */

uint8_t
mutant_type(const gpc_step_t *x, const char *message)
{
    const gpc_protocol_t *protocol = x->unit->protocol;
    for (uint32_t i = 0; i < protocol->num_messages; i++) {
        if (strcmp(protocol->messages[i].name, message) == 0) {
            return (uint8_t) (GPC_MSG_OWN + i);
        }
    }
    stop(protocol->id, message);
}

bool
mutant_cause_is(const gpc_step_t *x, const char *message)
{
    return x->cause == mutant_type(x, message);
}

static const gpc_field_t *
field_named(const gpc_described_t *described, const char *name)
{
    for (uint16_t i = 0; i < described->count; i++) {
        if (strcmp(described->fields[i].name, name) == 0 && described->fields[i].size <= sizeof(uint64_t)) {
            return &described->fields[i];
        }
    }
    stop("no such field of a number", name);
}

static uint64_t
read_field(const gpc_described_t *described, const void *object, const char *name)
{
    const gpc_field_t *field = field_named(described, name);
    uint64_t value = 0; /* little-endian, as snapshots are */
    memcpy(&value, (const uint8_t *) object + field->offset, field->size);
    return value;
}

uint64_t
mutant_line_field(const gpc_step_t *x, const char *field)
{
    return read_field(x->unit->type->arrays[x->array].line(), gpc_line_fields(x), field);
}

uint64_t
mutant_mshr_field(const gpc_step_t *x, const char *field)
{
    return read_field(x->unit->type->mshr(), gpc_step_mshr_fields(x), field);
}

uint64_t
mutant_message_field(const gpc_step_t *x, const gpc_msg_t *msg, const char *field)
{
    return read_field(x->unit->protocol->message(), msg->fields, field);
}

void
mutant_set_message_field(const gpc_step_t *x, gpc_msg_t *msg, const char *field, uint64_t value)
{
    const gpc_field_t *at = field_named(x->unit->protocol->message(), field);
    memcpy((uint8_t *) msg->fields + at->offset, &value, at->size);
}

/* resolve.c: the protocol that a world runs: tables and message sizes that options select, each table with its base's
 * cells and its patches. */
#include <string.h>

#include "controller/controller.h"
#include "controller/host.h"
#include "controller/resolve.h"

const char *
gpc_fsm_reason(const gpc_table_t *table, uint16_t patch)
{
    while (patch && !table->patches[patch].reason) {
        patch--;
    }
    return table->patches[patch].reason;
}

const gpc_cell_t *
gpc_fsm_declared_cell(const gpc_table_t *table, uint8_t state, uint8_t event)
{
    static const gpc_cell_t impossible = {.kind = GPC_CELL_IMPOSSIBLE};

    for (; table->base; table = table->base) {
        for (uint16_t i = table->num_patches; i; i--) {
            const gpc_patch_t *patch = &table->patches[i - 1];
            if (patch->state == state && patch->event == event) {
                return &patch->cell;
            }
        }
        if (state >= table->base->num_states || event >= table->base->num_events) {
            return &impossible;
        }
    }
    return gpc_fsm_cell(table, state, event);
}

bool
gpc_fsm_takes(const gpc_table_t *table, gpc_event_id_t event)
{
    for (uint8_t state = 0; event < table->num_events && state < table->num_states; state++) {
        if (gpc_fsm_declared_cell(table, state, event)->kind != GPC_CELL_IMPOSSIBLE) {
            return true;
        }
    }
    return false;
}

uint8_t
gpc_fsm_declared_cause(const gpc_table_t *table, uint32_t cause)
{
    while (table->base && table->causes[cause] == 0) {
        table = table->base;
    }
    return table->causes[cause] == GPC_NO_CAUSE ? 0 : table->causes[cause];
}

/* The cells of a table with a base and patches, in the arena; NULL: no memory. */
static const gpc_cell_t *
own_cells(const gpc_table_t *table, gpc_arena_t *arena)
{
    size_t count = (size_t) table->num_states * table->num_events;
    gpc_cell_t *cells = GPC_ARENA_TAKE(arena, count, gpc_cell_t);

    for (size_t i = 0; cells && i < count; i++) {
        cells[i] = *gpc_fsm_declared_cell(table, (uint8_t) (i / table->num_events), (uint8_t) (i % table->num_events));
    }
    return cells;
}

/* What steps read of the table's cells, in the arena; NULL: no memory. */
static const gpc_plan_t *
make_plans(const gpc_table_t *table, gpc_arena_t *arena)
{
    size_t count = (size_t) table->num_states * table->num_events;
    gpc_plan_t *plans = GPC_ARENA_TAKE(arena, count, gpc_plan_t);

    for (size_t i = 0; plans && i < count; i++) {
        const gpc_cell_t *cell = &table->cells[i];
        plans[i] =
            (gpc_plan_t){.kind = cell->kind, .next = cell->next, .opens = table->states[cell->next].kind != GPC_STABLE};
        for (uint32_t k = 0; k < GPC_MAX_ACTIONS && cell->actions[k]; k++) {
            plans[i].run[k] = cell->actions[k]->run;
        }
    }
    return plans;
}

/* A whole copy in the arena; NULL: no memory. */
static const gpc_table_t *
whole(const gpc_table_t *table, gpc_arena_t *arena)
{
    gpc_table_t *copy = GPC_ARENA_TAKE(arena, 1, gpc_table_t);

    if (!copy) {
        return NULL;
    }
    *copy = *table;
    for (uint32_t cause = 0; cause < GPC_MAX_CAUSES; cause++) {
        copy->causes[cause] = gpc_fsm_declared_cause(table, cause);
    }
    for (const gpc_table_t *base = table; base && copy->expiry.states == 0; base = base->base) {
        copy->expiry = base->expiry;
    }
    copy->cells = table->base ? own_cells(table, arena) : table->cells;
    copy->base = NULL;
    copy->patches = NULL;
    copy->num_patches = 0;
    copy->plans = copy->cells ? make_plans(copy, arena) : NULL;
    return copy->plans ? copy : NULL;
}

static int
resolve_tables(gpc_controller_type_t *type, const int64_t *options, gpc_arena_t *arena)
{
    for (uint32_t i = 0; i < GPC_MAX_VARIANTS && type->variants[i].by; i++) {
        const gpc_variant_t *variant = &type->variants[i];
        if (options[variant->option] == variant->value) {
            type->tables[variant->table] = variant->by;
        }
    }
    for (uint32_t i = 0; i < GPC_MAX_TABLES && type->tables[i]; i++) {
        type->tables[i] = whole(type->tables[i], arena);
        if (!type->tables[i]) {
            return GPC_ERROR_MEMORY;
        }
    }
    return GPC_OK;
}

const gpc_protocol_t *
gpc_protocol_resolve(const gpc_protocol_t *protocol, const int64_t *options, gpc_arena_t *arena)
{
    gpc_protocol_t *resolved = GPC_ARENA_TAKE(arena, 1, gpc_protocol_t);

    if (!resolved) {
        return NULL;
    }
    if (protocol->instead.by && options[protocol->instead.option] == protocol->instead.value) {
        protocol = protocol->instead.by;
    }
    *resolved = *protocol;
    resolved->host_read = protocol->host_read ? protocol->host_read : gpc_host_read;
    resolved->host_write = protocol->host_write ? protocol->host_write : gpc_host_write_alone;
    if (options[protocol->other_sizes.option] != protocol->other_sizes.value) {
        resolved->other_sizes.bytes = NULL;
    }
    if (options[protocol->prompt.option] != protocol->prompt.value) {
        resolved->prompt.messages = 0;
    }
    if (protocol->order.barrier_option && options[protocol->order.barrier_option - 1]) {
        resolved->order.barrier_releases = false;
    }
    if (protocol->order.store_option && options[protocol->order.store_option - 1]) {
        resolved->order.stores_block = true;
    }
    for (uint32_t i = 0; i < gpc_num_controllers(protocol); i++) {
        gpc_controller_type_t *type = GPC_ARENA_TAKE(arena, 1, gpc_controller_type_t);
        if (!type) {
            return NULL;
        }
        *type = *protocol->controllers[i];
        if (resolve_tables(type, options, arena)) {
            return NULL;
        }
        resolved->controllers[i] = type;
    }
    return resolved;
}

uint32_t
gpc_type_table(const gpc_controller_type_t *type, const char *name)
{
    uint32_t t = 0;
    while (t < GPC_MAX_TABLES && type->tables[t] && strcmp(type->tables[t]->name, name) != 0) {
        t++;
    }
    return t < GPC_MAX_TABLES && type->tables[t] ? t : GPC_MAX_TABLES;
}

/* Whether a controller before the one at `controller` has a table of this name. */
static bool
is_listed_before(const gpc_protocol_t *protocol, uint32_t controller, const char *name)
{
    for (uint32_t i = 0; i < controller; i++) {
        if (gpc_type_table(protocol->controllers[i], name) != GPC_MAX_TABLES) {
            return true;
        }
    }
    return false;
}

const gpc_table_t *
gpc_protocol_table(const gpc_protocol_t *protocol, uint32_t number)
{
    for (uint32_t i = 0; i < gpc_num_controllers(protocol); i++) {
        for (uint32_t t = 0; t < GPC_MAX_TABLES && protocol->controllers[i]->tables[t]; t++) {
            const gpc_table_t *table = protocol->controllers[i]->tables[t];
            if (!is_listed_before(protocol, i, table->name) && number-- == 0) {
                return table;
            }
        }
    }
    return NULL;
}

bool
gpc_protocol_splits_requests(const gpc_protocol_t *protocol)
{
    const gpc_table_t *table;
    for (uint32_t n = 0; (table = gpc_protocol_table(protocol, n)) != NULL; n++) {
        if (table->object == GPC_OVER_WORDS) {
            return true;
        }
    }
    return false;
}

bool
gpc_protocol_keeps_whole(const gpc_protocol_t *protocol)
{
    const gpc_controller_type_t *l1 = protocol->controllers[0];
    return l1 && l1->tables[0]->object == GPC_OVER_WORDS && l1->tables[0]->whole != NULL;
}

bool
gpc_protocol_splits_pairs(const gpc_protocol_t *protocol)
{
    return gpc_protocol_splits_requests(protocol) && !gpc_protocol_keeps_whole(protocol);
}

/* causes.c: does something bring the causes that a protocol's tables name events for? */
#include "base/blocks.h"
#include "check/explore/world.h"
#include "controller/step.h"

/* What classify says of the cause in the state; of a stable one for a line whose fields are zero. */
static gpc_event_id_t
classified(gpc_controller_t *unit, uint8_t table, uint8_t cause, uint8_t state)
{
    gpc_step_t x;
    jmp_buf escape;

    gpc_step_init(unit, &x, table, cause, 0, GPC_NONE);
    x.state = state;
    x.way = state == x.table->initial || !unit->arrays[x.array].sets ? GPC_NONE : 0;
    x.mask = gpc_all_words(unit);
    unit->failure->escape = &escape;
    gpc_event_id_t event = setjmp(escape) == 0 ? x.table->classify(&x) : GPC_NO_EVENT;
    unit->failure->escape = NULL;
    gpc_failure_clear(unit->failure);
    return gpc_event_of(event);
}

/* Whether the table names an event for the cause. What classify says of causes that no line's table has is its
 * default. */
static bool
names_event(gpc_controller_t *unit, uint8_t number, uint8_t cause)
{
    const gpc_table_t *table = unit->type->tables[number];
    bool knows = table->classify && table->object <= GPC_OVER_WORDS;

    for (uint8_t state = 0; knows && state < table->num_states; state++) {
        if (table->states[state].kind == GPC_STABLE) {
            gpc_event_id_t event = classified(unit, number, cause, state);
            if (event != classified(unit, number, GPC_MSG_WORDS, state) && gpc_fsm_takes(table, event)) {
                return true;
            }
        }
    }
    return table->causes[cause] != 0;
}

static bool
has_acquires(const gpc_order_traits_t *order)
{
    return order->acquire || order->fence || order->order_point || order->release || order->before || order->exit ||
           order->barrier;
}

static int
check_table(gpc_controller_t *unit, uint8_t table)
{
    const gpc_controller_type_t *type = unit->type;
    const struct {
        uint8_t cause;
        bool comes;
        const char *name, *member;
    } causes[] = {
        {GPC_MSG_KERNEL_BEGIN, (type->begins >> table & 1) || type->tables[table]->causes[GPC_MSG_KERNEL_BEGIN],
         "KERNEL_BEGIN", "its bit in .begins"},
        {GPC_MSG_KERNEL_END, type->ends >> table & 1, "KERNEL_END", "its bit in .ends"},
        {GPC_MSG_ACQUIRE, has_acquires(&unit->protocol->order), "ACQUIRE", ".order.acquire"},
    };
    for (uint32_t i = 0; i < GPC_COUNT_OF(causes); i++) {
        if (!causes[i].comes && names_event(unit, table, causes[i].cause)) {
            return gpc_fail(unit->failure, GPC_ERROR_PROTOCOL,
                            "%s: table %s has an event for GPC_MSG_%s, which never comes: the type lacks %s",
                            unit->protocol->id, type->tables[table]->name, causes[i].name, causes[i].member);
        }
    }
    return GPC_OK;
}

static int
check_units(gpc_world_t *world)
{
    for (uint32_t node = 0; node < world->nodes.count; node++) {
        gpc_controller_t *unit = &world->controllers[node];
        for (uint8_t table = 0; table < GPC_MAX_TABLES && unit->type->tables[table]; table++) {
            GPC_TRY(check_table(unit, table));
        }
    }
    return GPC_OK;
}

int
gpc_explore_check_causes(const gpc_protocol_t *protocol, gpc_failure_t *failure)
{
    static const gpc_explore_thread_t none = {0};
    const gpc_explore_t what = {
        .protocol = protocol, .rule = GPC_RULE_DEFAULT, .cores = 1, .variables = 1, .num_threads = 1, .threads = &none};
    gpc_world_t *world = gpc_block_take(sizeof(*world));
    if (!world) {
        return gpc_fail(failure, GPC_ERROR_MEMORY, "%s", gpc_error_message(GPC_ERROR_MEMORY));
    }
    int status = gpc_world_init(world, &what, 1);
    if (status == GPC_OK && check_units(world)) {
        status = gpc_fail(failure, world->failure.code, "%s", world->failure.text);
    } else {
        status = GPC_OK; /* a protocol that needs another machine is refused by what explores it */
    }
    gpc_world_free(world);
    gpc_block_give(world, sizeof(*world));
    return status;
}

/* test_compiled_cells.c: does the code of every cell, of each compiled table, take the actions that the cell declares? In this
 * executable alone an action is noted instead of taken (GPC_RECORDED_ACTIONS), so that a cell needs no line in its state. */
#include <string.h>

#include "controller/protocol.h"
#include "protocols/registry.h"
#include "tests/harness.h"

static gpc_text_t taken;

int
gpc_record_action(const char *id)
{
    gpc_text_add(&taken, "%s ", id);
    return GPC_OK;
}

static void
expect_cell(const gpc_table_t *table, uint8_t state, uint8_t event)
{
    const gpc_cell_t *cell = gpc_fsm_declared_cell(table, state, event);
    gpc_step_t x = {.fresh = true};
    gpc_text_t declared;

    gpc_text_init(&declared);
    gpc_text_init(&taken);
    gpc_text_add(&declared, "%s %s: ", table->states[state].name, table->events[event].name);
    gpc_text_add(&taken, "%s %s: ", table->states[state].name, table->events[event].name);
    for (uint32_t i = 0; cell->actions[i]; i++) {
        gpc_text_add(&declared, "%s ", cell->actions[i]->name);
    }
    CHECK_EQUAL_I64(table->compiled->act(&x, gpc_fsm_code(table, state, event)), GPC_OK);
    CHECK_EQUAL_TEXT(taken.bytes, declared.bytes);
    CHECK(x.fresh == (cell->actions[0] == NULL));
    gpc_text_free(&declared);
    gpc_text_free(&taken);
}

/* Returns the number of cells with a transition. */
static uint64_t
expect_cells(const gpc_table_t *table)
{
    uint64_t count = 0;
    CHECK(table->compiled && table->compiled->classify == table->classify);
    for (uint32_t i = 0; table->compiled && i < (uint32_t) table->num_states * table->num_events; i++) {
        uint8_t state = (uint8_t) (i / table->num_events), event = (uint8_t) (i % table->num_events);
        uint8_t kind = gpc_fsm_declared_cell(table, state, event)->kind;
        if (kind == GPC_CELL_GO || kind == GPC_CELL_REDO) {
            expect_cell(table, state, event);
            count++;
        }
    }
    return count;
}

static uint64_t
expect_tables(const gpc_protocol_t *protocol)
{
    uint64_t count = 0;
    for (uint32_t c = 0; protocol->controllers[c]; c++) {
        const gpc_controller_type_t *type = protocol->controllers[c];
        for (uint32_t t = 0; t < GPC_MAX_TABLES && type->tables[t]; t++) {
            count += expect_cells(type->tables[t]);
        }
        for (uint32_t v = 0; v < GPC_MAX_VARIANTS && type->variants[v].by; v++) {
            count += expect_cells(type->variants[v].by);
        }
    }
    return count;
}

static void
the_code_of_every_cell_takes_its_actions(void)
{
    uint64_t count = 0;
    for (uint32_t p = 0; p < gpc_protocol_count(); p++) {
        const gpc_protocol_t *protocol = gpc_protocol_find(gpc_protocol_id(p));
        count += expect_tables(protocol);
        if (protocol->instead.by) {
            count += expect_tables(protocol->instead.by);
        }
    }
    printf("# %llu cells\n", (unsigned long long) count);
    CHECK(count > 2000);
}

int
main(void)
{
    RUN(the_code_of_every_cell_takes_its_actions);
    return harness_end();
}

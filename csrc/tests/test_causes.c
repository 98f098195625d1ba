/* test_causes.c: does one rule name the event of each cause? A cause that a table declares is not classified as well,
 * every declared event has a cell, and a declared lease takes part in what a controller does. */
#include "controller/controller.h"
#include "controller/resolve.h"
#include "controller_bench.h"
#include "machines.h"
#include "protocols/registry.h"
#include "tests/mutants.h"

/* Every declared cause, in every state, is given to the table's classifier, which must not know it. */
static void
check_table(uint8_t number)
{
    const gpc_table_t *table = bench.unit.type->tables[number];
    gpc_msg_t none = {.request = GPC_NONE, .lanes = GPC_NONE};
    gpc_step_t x = {.unit = &bench.unit, .table = table, .table_number = number, .msg = &none, .mask = 1};

    x.array = table->object <= GPC_OVER_WORDS ? bench.unit.type->object_of[number] : 0;
    for (uint32_t cause = 0; cause < GPC_MAX_CAUSES && table->classify; cause++) {
        for (uint8_t state = 0; table->causes[cause] && state < table->num_states; state++) {
            x.cause = (uint8_t) cause;
            x.state = state;
            CHECK_EQUAL_I64(table->classify(&x), GPC_NO_EVENT);
        }
    }
}

/* As bench_begin, with the options' defaults. */
static void
begin(const gpc_protocol_t *protocol, uint32_t controller)
{
    around_tests();
    bench.machine = test_fermi;
    gpc_arena_init(&bench.arena, 1 << 16);
    CHECK_EQUAL_I64(gpc_pool_init(&bench.messages, &bench.arena, BENCH_MESSAGES, sizeof(gpc_msg_t)), 0);
    CHECK_EQUAL_I64(gpc_protocol_options(protocol, &bench.machine, NULL, 0, bench.options, &bench.failure), 0);
    bench.unit = (gpc_controller_t){.protocol = gpc_protocol_resolve(protocol, bench.options, &bench.arena),
                                    .options = bench.options,
                                    .machine = &bench.machine,
                                    .ports = &bench_ports,
                                    .world = &bench.world,
                                    .messages = &bench.messages,
                                    .lane_lists = &bench.lane_lists,
                                    .failure = &bench.failure};
    CHECK_EQUAL_I64(gpc_controller_init(&bench.unit, bench.unit.protocol->controllers[controller], &bench.arena), 0);
}

static void
check_protocol(const gpc_protocol_t *protocol)
{
    CHECK(protocol->num_messages + GPC_MSG_OWN <= GPC_MAX_CAUSES);
    for (uint32_t i = 0; i < gpc_num_controllers(protocol); i++) {
        begin(protocol, i);
        for (uint8_t t = 0; t < GPC_MAX_TABLES && bench.unit.type->tables[t]; t++) {
            gpc_text_t wrong;
            gpc_text_init(&wrong);
            CHECK_EQUAL_I64(gpc_fsm_check(protocol->controllers[i]->tables[t], &wrong), 0);
            gpc_text_free(&wrong);
            check_table(t);
        }
    }
}

TEST(no_declared_cause_is_classified)
{
    for (uint32_t i = 0; i < gpc_protocol_count(); i++) {
        check_protocol(gpc_protocol_at(i));
    }
    check_protocol(&gpc_protocol_self_inval);
}

#define S_STATES(X) X(S_I, STABLE, "") X(S_V, STABLE, "")
#define S_EVENTS(X) X(S_LOAD, "") X(S_DROP, "")
GPC_FSM(S, S_STATES, S_EVENTS)
static const gpc_cell_t one_event[S_NUM_STATES][S_NUM_EVENTS] = {[S_I] = {[S_LOAD] = GO(S_V)}};

/* The first line of what gpc_fsm_check reports. */
static void
check_reported(const gpc_table_t *table, const char *expected)
{
    gpc_text_t wrong;
    gpc_text_init(&wrong);
    CHECK_EQUAL_I64(gpc_fsm_check(table, &wrong), GPC_ERROR_ARGUMENT);
    CHECK_EQUAL_TEXT(wrong.bytes, expected);
    gpc_text_free(&wrong);
}

TEST(a_declared_event_needs_a_cell_and_every_event_a_cause)
{
    gpc_table_t both = {GPC_TABLE("S", OVER_LINES, S, one_event, NULL),
                        .causes = {ON(GPC_MSG_LOAD, S_LOAD), ON(GPC_MSG_EVICT, S_DROP)}};
    char expected[128];
    (void) snprintf(expected, sizeof(expected),
                    "S: cause %u is declared for an event without a cell\n"
                    "S: event S_DROP has no cause, and there is no classify\n",
                    GPC_MSG_EVICT);
    check_reported(&both, expected);
    gpc_table_t one = {GPC_TABLE("S", OVER_LINES, S, one_event, NULL), .causes = {ON(GPC_MSG_LOAD, S_LOAD)}};
    check_reported(&one, "S: event S_DROP has no cause, and there is no classify\n");
}

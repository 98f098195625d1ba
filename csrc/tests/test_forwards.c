/* test_forwards.c: messages of a request network whose destination is an L1: does an L1 that holds some take them all
 * in the end, and wait neither for the core's requests nor for their room? */
#include "controller/toolkit.h"
#include "gpu_bench.h"

/* ---- a prototype: the bank answers each load and calls its reader, which holds the call until it has the answer -- */

#define CALLS(X, P)                            \
    X(P, GET, REQ, 0, 8, 0, false, "")         \
    X(P, CALL, RCL, 1, 8, 0, false, "forward") \
    X(P, DATA, LD, 2, 8, 0, true, "")          \
    X(P, DONE, RCL, 2, 8, 0, false, "")
GPC_MESSAGES(MSG, CALLS)

#define L1_STATES(X) X(L1_I, STABLE, "") X(L1_F, TRANSIENT_CACHE, "")
#define L1_EVENTS(X) X(L1_LOAD, "") X(L1_CALL, "") X(L1_DATA, "")
GPC_FSM(L1, L1_STATES, L1_EVENTS)

GPC_ACTION(act_get, "")
{
    return gpc_send_and_wait(x, gpc_new_request(x, MSG_GET));
}

GPC_ACTION(act_done, "")
{
    return gpc_send(x, gpc_new_message(x, MSG_DONE, gpc_home_of(x->unit, x->line)));
}

static const gpc_cell_t l1_cells[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_I] = {[L1_LOAD] = GO(L1_F, act_get), [L1_CALL] = GO(L1_I, act_done)},
    [L1_F] = {[L1_LOAD] = HOLD_LINE, [L1_CALL] = HOLD_LINE, [L1_DATA] = GO(L1_I, act_complete)},
};
static const gpc_table_t l1_table = {
    GPC_TABLE("L1", OVER_LINES, L1, l1_cells, NULL),
    .causes = {ON(GPC_MSG_LOAD, L1_LOAD), ON(MSG_CALL, L1_CALL), ON(MSG_DATA, L1_DATA)}};
static const gpc_controller_type_t l1 = {.name = "L1",
                                         .position = GPC_AT_CORE,
                                         .tables = {&l1_table},
                                         .arrays = {{.name = "tags", .has_data = true}},
                                         .mshr = gpc_requests_mshr_described,
                                         .outbox = 1}; /* a second message waits for room */

#define L2_STATES(X) X(L2_I, STABLE, "") X(L2_V, STABLE, "") X(L2_F, TRANSIENT_CACHE, "")
#define L2_EVENTS(X) X(L2_GET, "") X(L2_DONE, "") X(L2_EVICT, "") X(L2_FILL, "")
GPC_FSM(L2, L2_STATES, L2_EVENTS)

GPC_ACTION(act_answer, "")
{
    return gpc_send(x, gpc_new_answer(x, x->message, MSG_DATA));
}

GPC_ACTION(act_call, "")
{
    return gpc_send(x, gpc_new_message(x, MSG_CALL, x->msg->source));
}

static const gpc_cell_t l2_cells[L2_NUM_STATES][L2_NUM_EVENTS] = {
    [L2_I] = {[L2_GET] = GO(L2_F, act_reserve_way, act_miss), [L2_DONE] = GO(L2_I)},
    [L2_V] = {[L2_GET] = GO(L2_V, act_answer, act_call), [L2_DONE] = GO(L2_V), [L2_EVICT] = GO(L2_I)},
    [L2_F] = {[L2_GET] = HOLD_LINE, [L2_DONE] = GO(L2_F), [L2_FILL] = GO(L2_V, act_fill, act_replay)},
};
static const gpc_table_t l2_table = {
    GPC_TABLE("L2", OVER_LINES, L2, l2_cells, NULL),
    .causes = {ON(MSG_GET, L2_GET), ON(MSG_DONE, L2_DONE), ON(GPC_MSG_EVICT, L2_EVICT), ON(GPC_MSG_FILL, L2_FILL)}};
static const gpc_controller_type_t l2 = {.name = "L2",
                                         .position = GPC_AT_BANK,
                                         .tables = {&l2_table},
                                         .arrays = {{.name = "tags", .has_data = true}},
                                         .mshr = gpc_requests_mshr_described};

static const gpc_protocol_t protocol = {
    .id = "calls",
    .model = {[GPC_RULE_RC] = "RCpc"},
    .standard_rule = GPC_RULE_RC,
    .controllers = {&l1, &l2},
    GPC_MESSAGES_OF(MSG),
    .networks = {{.name = "request", .requests = true}, {.name = "forward", .requests = true}, {.name = "response"}}};

/* ---- the machine ------------------------------------------------------------------------------------------------- */

enum { WORDS = 1 << 16 };

/* Every thread loads eight words in lines of their own, without waiting in between. */
static const gpc_instruction_t loads[] = {READ(R0, THREAD_X),
                                          READ(R1, BLOCK_X),
                                          OP(MUL, R1, R1, CONSTANT(11)),
                                          OP(ADD, R0, R0, R1),
                                          LOAD(R1, R0),
                                          OP(ADD, R0, R0, CONSTANT(8)),
                                          LOAD(R2, R0),
                                          OP(ADD, R0, R0, CONSTANT(8)),
                                          LOAD(R3, R0),
                                          OP(ADD, R0, R0, CONSTANT(8)),
                                          LOAD(R4, R0),
                                          EXIT};

static void
check_loads(const gpc_machine_t *machine)
{
    bench_t it = BENCH_WITH(WORDS, .machine = machine, .protocol = &protocol, .check = GPC_CHECK_PROTOCOL);
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, loads, WORDS, 64, 256), GPC_RUN_DONE);
    if (gpc_gpu_error_text(it.gpu)[0]) {
        harness_note("%s", gpc_gpu_error_text(it.gpu));
    }
}

TEST(an_l1_takes_forwards_that_arrived_while_it_had_no_room)
{
    gpc_machine_t machine = test_fermi;
    machine.partitions = 2; /* requests queue up at the banks and in the L1s */
    machine.vc_flits = 5;
    machine.noc_mhz = 350;
    check_loads(&machine);
}

TEST(an_l1_with_two_mshrs_takes_all_forwards)
{
    gpc_machine_t machine = test_fermi;
    machine.l1_mshrs = 2;
    check_loads(&machine);
}

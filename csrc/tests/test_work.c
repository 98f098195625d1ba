/* test_work.c: does the monitor "whoever has work has an event" report a unit that sleeps on its work, while the others
 * go on, and nothing else? Each test disturbs the state of a running machine after every event, as an error in that
 * unit would. */
#include <string.h>

#include "core/state.h"
#include "fabric/dram_channel.h"
#include "fabric/network_parts.h"
#include "gpu_bench.h"
#include "machine/parts.h"
#include "protocols/registry.h"

enum { WORDS = 1 << 19, FIRST = 20000, MOST = 200000 }; /* events before the first disturbance, and after it */

/* Every thread loads and stores words of all channels for ever; memory is larger than the L2. */
static const gpc_instruction_t traffic[] = {
    READ(R0, THREAD_X),
    READ(R1, BLOCK_X),
    OP(MUL, R1, R1, CONSTANT(0)),
    OP(ADD, R0, R0, R1),
    LOAD(R2, R0),
    STORE(R0, R2),
    OP(ADD, R0, R0, CONSTANT(1)),
    OP(AND, R0, R0, CONSTANT(2)),
    TO(4),
    EXIT,
};

static gpc_gpu_t *
begin(const char *protocol)
{
    static const uint32_t constants[] = {10016, 4192, WORDS - 1};
    gpc_machine_t machine = test_fermi;
    machine.dram_model = 1;
    machine.l1_mshrs = 4; /* L1s refuse offers */
    bench_t it =
        BENCH_WITH(WORDS, .machine = &machine, .protocol = gpc_protocol_find(protocol), .check = GPC_CHECK_PROTOCOL);
    gpc_gpu_t *gpu = it.gpu;
    gpc_buffer_t buffer = {it.address, WORDS, false, "x", 0};
    gpc_launch_t launch = {.program = {.instructions = traffic,
                                       .count = GPC_COUNT_OF(traffic),
                                       .vector_registers = 8,
                                       .uniform_registers = 1,
                                       .constants = GPC_COUNT_OF(constants),
                                       .buffers = 1},
                           .kernel = "traffic",
                           .grid = {32, 1, 1},
                           .block = {64, 1, 1},
                           .constants = constants,
                           .buffers = &buffer,
                           .num_constants = GPC_COUNT_OF(constants),
                           .num_buffers = 1};
    CHECK_EQUAL_I64(gpc_gpu_launch(gpu, &launch), 0);
    CHECK_EQUAL_I64(gpc_gpu_run(gpu, FIRST), GPC_RUN_MORE);
    return gpu;
}

/* Runs with a disturbance after each event; it returns whether it has changed anything. The report names the unit
 * within 1,024 core cycles of the last disturbance that mattered, and meanwhile other cores have issued
 * instructions. */
static void
check_report(const char *protocol, bool (*disturb)(gpc_gpu_t *gpu), const char *unit)
{
    gpc_gpu_t *gpu = begin(protocol);
    gpc_cycle_t since = GPC_NEVER;
    uint64_t instructions = 0;
    int status = GPC_RUN_MORE;

    while (gpu->state->looks_at < gpc_wheel_now(&gpu->wheel) + 240 * gpu->core_clock.period) { /* soon after a look */
        status = gpc_gpu_run(gpu, 1);
    }
    for (uint32_t i = 0; i < MOST && status == GPC_RUN_MORE; i++) {
        if (disturb(gpu) && since == GPC_NEVER) {
            since = gpc_gpu_clock(gpu);
            instructions = gpc_gpu_instructions(gpu);
        }
        status = gpc_gpu_run(gpu, 1);
    }
    CHECK_EQUAL_I64(status, GPC_ERROR_INVARIANT);
    CHECK(strstr(gpc_gpu_error_text(gpu), "whoever has work has an event: at core cycle ") != NULL);
    CHECK(strstr(gpc_gpu_error_text(gpu), unit) != NULL);
    CHECK(gpc_gpu_clock(gpu) <= since + 1024);
    CHECK(gpc_gpu_instructions(gpu) > instructions);
    printf("# after %llu core cycles and %llu instructions: %s\n", (unsigned long long) (gpc_gpu_clock(gpu) - since),
           (unsigned long long) (gpc_gpu_instructions(gpu) - instructions), gpc_gpu_error_text(gpu));
}

/* ---- units that forget their work -------------------------------------------------------------------------------- */

#ifndef GPC_COSTLY_ASSERTS /* whose comparison of the stored choice ends the program first */
/* As if choose() left `forced` when the queue is empty. */
static bool
keep_forced(gpc_gpu_t *gpu)
{
    gpc_dram_channel_t *state = &gpu->dram.state[3];
    bool changes = state->waiting == 0 && !state->choice.forced;
    state->choice.forced |= state->waiting == 0;
    return changes;
}

TEST(a_channel_that_waits_for_a_forced_command_is_reported)
{
    check_report("mesi", keep_forced, "DRAM channel 3 holds ");
}
#endif

static bool
lose_answer(gpc_gpu_t *gpu)
{
    if (gpu->dram.state[2].answers == 0 || gpu->dram.state[2].answers > 1000) {
        return false;
    }
    gpu->dram.state[2].answers += 2000; /* an answer that has no event */
    return true;
}

TEST(an_answer_of_memory_without_an_event_is_reported)
{
    check_report("mesi", lose_answer, "DRAM channels hold ");
}

/* As if returned credits scheduled no grant at an output port. */
static bool
forget_grant(gpc_gpu_t *gpu)
{
    gpc_output_state_t *state = &gpu->links[0].parts->output_states[1];
    bool changes = state->waiting && state->wake != GPC_NEVER;
    if (changes) {
        state->wake = GPC_NEVER;
        state->blocked = 0;
    }
    return changes;
}

TEST(a_port_without_a_grant_is_reported)
{
    check_report("gpu-vi", forget_grant, "whose output port 1 has no grant");
}

static bool
lose_arrival(gpc_gpu_t *gpu)
{
    uint32_t *in_flight = &gpu->links[0].parts->state->in_flight;
    *in_flight += *in_flight < 100000 ? 100000 : 0; /* messages that have no event */
    return true;
}

TEST(a_message_that_never_arrives_is_reported)
{
    check_report("gpu-vi", lose_arrival, "network 0 holds ");
}

/* As if the controller of bank 5 were not scheduled again. */
static bool
forget_event(gpc_gpu_t *gpu)
{
    gpc_node_queues_t *queues = &gpu->queues[gpc_nodes_at(&gpu->nodes, GPC_AT_BANK)->first + 5];
    bool changes = queues->wake != GPC_NEVER;
    queues->wake = GPC_NEVER;
    return changes;
}

TEST(a_bank_without_an_event_is_reported)
{
    check_report("tc-weak", forget_event, "L2 5 holds ");
}

/* As if the event had been dropped. */
static bool
drop_cycle(gpc_gpu_t *gpu)
{
    gpc_node_queues_t *queues = &gpu->queues[gpc_nodes_at(&gpu->nodes, GPC_AT_BANK)->first + 4];
    bool changes = queues->wake != GPC_NEVER && queues->wake % 2 == 0;
    queues->wake += changes;
    return changes;
}

TEST(a_cycle_that_has_no_event_is_reported)
{
    check_report("mesi", drop_cycle, "L2 4 holds work for a cycle that has no event");
}

static bool
forget_pipeline(gpc_gpu_t *gpu)
{
    gpc_node_queues_t *queues = &gpu->queues[gpc_nodes_at(&gpu->nodes, GPC_AT_BANK)->first + 1];
    bool changes = queues->outbox_wake != GPC_NEVER;
    queues->outbox_wake = GPC_NEVER;
    return changes;
}

TEST(a_pipeline_that_no_event_empties_is_reported)
{
    check_report("mesi", forget_pipeline, "L2 1 holds messages in its pipeline");
}

static bool
forget_core(gpc_gpu_t *gpu)
{
    gpc_core_t *core = &gpu->cores.parts->cores[7];
    bool changes = core->cycle_scheduled != GPC_NEVER;
    core->cycle_scheduled = GPC_NEVER;
    return changes;
}

TEST(a_core_without_an_event_is_reported)
{
    check_report("ideal", forget_core, "core 7 holds ");
}

/* As if the L1 did not offer again what it has refused. */
static bool
forget_offer(gpc_gpu_t *gpu)
{
    bool changes = gpu->queues[6].offer_held;
    gpu->queues[6].offer_held = false;
    return changes;
}

TEST(an_offer_without_a_repetition_is_reported)
{
    check_report("mesi", forget_offer, "L1 6 holds an offer of its core");
}

/* ---- no false reports -------------------------------------------------------------------------------------------- */

TEST(a_machine_in_order_is_not_reported)
{
    static const char *const protocols[] = {"mesi", "tc-weak", "denovo-drf", "no-l1", "gpu-vini"};
    for (uint32_t i = 0; i < GPC_COUNT_OF(protocols); i++) {
        gpc_gpu_t *gpu = begin(protocols[i]);
        CHECK_EQUAL_I64(gpc_gpu_run(gpu, 60000), GPC_RUN_MORE);
    }
}

TEST(without_checks_nothing_looks)
{
    bench_t it = bench(&test_fermi, &gpc_protocol_mesi, 4096);
    CHECK_EQUAL_I64(launch_program(&it, add_and_store, GPC_COUNT_OF(add_and_store), 4096, 4, 64), 0);
    CHECK_EQUAL_U64(it.gpu->state->looks_at, GPC_NEVER);
    gpc_gpu_abort(it.gpu);
}

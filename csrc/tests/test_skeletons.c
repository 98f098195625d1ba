/* test_skeletons.c: do controllers at the memory side and for the whole machine work in the machine and in the
 * explorer? By the skeletons (skeletons.h), each with the smallest change that breaks it. */
#include "controller/admit.h"
#include "controller/describe.h"
#include "explorations.h"
#include "gpu_bench.h"
#include "machine/parts.h"
#include "own_protocols.h"
#include "skeletons.h"
#include "small_programs.h"

enum { WORDS = 1024 };

static gpc_protocol_t forgets_l3, at_host, everywhere;
static gpc_controller_type_t host_l3, global_l3;

static void
one_way(const gpc_machine_t *machine, const int64_t *options, uint32_t *sets, uint32_t *ways)
{
    (void) machine, (void) options;
    *sets = *ways = 1;
}

static void
register_skeletons(void)
{
    register_own(&gpc_protocol_skel_src);
    register_own(&gpc_protocol_skel_epochs);
    register_own(&gpc_protocol_skel_three_levels);
    forgets_l3 = at_host = gpc_protocol_skel_three_levels;
    forgets_l3.id = "forgets-l3";
    forgets_l3.host_write = gpc_host_write_alone;
    register_own(&forgets_l3);
    at_host.id = "at-host";
    host_l3 = *at_host.controllers[2];
    host_l3.position = GPC_AT_HOST;
    at_host.controllers[2] = &host_l3;
    register_own(&at_host);
    everywhere = gpc_protocol_skel_three_levels;
    everywhere.id = "everywhere"; /* a controller at each position, and so no NULL behind them */
    global_l3 = *everywhere.controllers[2];
    global_l3.position = GPC_AT_GLOBAL;
    global_l3.name = "L3 of all";
    global_l3.arrays[0].geometry = host_l3.arrays[0].geometry = one_way;
    host_l3.name = "L3 of the host";
    everywhere.controllers[3] = &global_l3;
    everywhere.controllers[4] = &host_l3;
    register_own(&everywhere);
}

static gpc_machine_t
small_machine(void)
{
    gpc_machine_t machine = test_fermi;
    machine.cores = 2;
    machine.partitions = 2;
    return machine;
}

/* ---- the machine ------------------------------------------------------------------------------------------------- */

/* Stores, a fence, and the cycles that the fence took as the first word after. */
static const gpc_instruction_t store_and_fence[] = {
    OP(STORE, NONE, CONSTANT(0), CONSTANT(3)),
    SPECIAL(R0, CLOCK),
    {.opcode = GPC_OP_FENCE,
     .order = GPC_ORDER_SC,
     .scope = GPC_SCOPE_GPU,
     .destination = NONE,
     .a = NONE,
     .b = NONE,
     .c = NONE},
    SPECIAL(R1, CLOCK),
    OP(SUB, R1, R1, R0),
    OP(STORE, NONE, CONSTANT(9), R1),
    EXIT,
};
static const gpc_instruction_t copy_word[] = {OP(LOAD, R0, CONSTANT(0), NONE), OP(STORE, NONE, CONSTANT(9), R0), EXIT};

static uint32_t
word_at(bench_t *it, uint32_t index)
{
    uint32_t word = 0;
    CHECK_EQUAL_I64(gpc_gpu_host_read(it->gpu, it->address + 4 * index, 1, &word), 0);
    return word;
}

static uint32_t
fence_cycles(const char *protocol)
{
    gpc_machine_t machine = small_machine();
    bench_t it = bench(&machine, named(protocol), WORDS);
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, store_and_fence, WORDS, 1, 1), GPC_RUN_DONE);
    CHECK_EQUAL_U64(word_at(&it, 0), 3);
    uint32_t cycles = word_at(&it, 896);
    gpc_gpu_free(it.gpu);
    return cycles;
}

static void
a_store_completes_at_memory_where_the_protocol_waits_for_its_answer(void)
{
    uint32_t at_l2 = fence_cycles("skel-src"), at_memory = fence_cycles("skel-three-levels");
    CHECK(at_l2 > test_fermi.dram_round_trip - 100); /* the store misses the L2, which fetches its line first */
    CHECK(at_memory > test_fermi.l2_round_trip + 50);
}

static gpc_machine_t
machine_with_star(uint32_t model, uint32_t star_latency)
{
    gpc_machine_t machine = small_machine();
    machine.dram_model = model;
    machine.star_latency = star_latency;
    machine.l2_round_trip = 24; /* all of it in the network */
    machine.dram_round_trip = 200;
    machine.l2_ports = machine.star_ports = 2; /* a fill and the request that waited for it in one cycle */
    return machine;
}

static void
the_round_trip_to_memory_includes_the_star(void)
{
    static const char *const protocols[] = {"skel-src", "skel-three-levels"};
    static const uint32_t latencies[] = {5, 15};
    for (uint32_t i = 0; i < 8; i++) {
        gpc_machine_t machine = machine_with_star(i / 4, latencies[i / 2 % 2]);
        bench_t it = bench(&machine, named(protocols[i % 2]), WORDS);
        CHECK_EQUAL_U64(load_to_use(&it, WORDS, 1), 200);
        gpc_gpu_free(it.gpu);
        machine.l3_latency = 7;
        machine.l2_round_trip = 60; /* an L2 with a pipeline, which requests to the memory side do not pay */
        it = bench(&machine, named(protocols[i % 2]), WORDS);
        CHECK(it.gpu->services[GPC_AT_BANK].pipeline_ticks > 0);
        CHECK_EQUAL_U64(load_to_use(&it, WORDS, 1), 200);
        gpc_gpu_free(it.gpu);
    }
}

static void
a_round_trip_that_is_too_short_for_the_star_is_an_error(void)
{
    gpc_machine_t machine = machine_with_star(0, 50);
    gpc_setup_t setup = {
        .machine = &machine, .protocol = named("skel-three-levels"), .rule = GPC_RULE_DEFAULT, .budget = 1000};
    gpc_gpu_t *gpu;
    CHECK_EQUAL_I64(gpc_gpu_create(&setup, &gpu), GPC_ERROR_MACHINE);
    CHECK(strstr(gpc_gpu_error_text(gpu),
                 "dram_round_trip = 200 core cycles: must be at least 233 (l2_round_trip 24 and one "
                 "cycle, and the star to the memory side)") != NULL);
    gpc_gpu_free(gpu);
    machine.dram_round_trip = 233;
    CHECK_EQUAL_I64(gpc_gpu_create(&setup, &gpu), 0);
    gpc_gpu_free(gpu);
}

static void
host_writes_reach_the_copy_at_the_memory_side(void)
{
    static const struct {
        const char *protocol;
        uint32_t read;
    } cases[] = {{"skel-three-levels", 7}, {"forgets-l3", 5}};
    for (uint32_t i = 0; i < GPC_COUNT_OF(cases); i++) {
        gpc_machine_t machine = small_machine();
        machine.l2_bytes = 2 * machine.line_bytes; /* so that the line leaves the L2, and only the memory side has it */
        machine.l2_ways = 1;
        bench_t it = bench(&machine, named(cases[i].protocol), WORDS * 16);
        uint32_t five = 5, seven = 7;
        CHECK_EQUAL_I64(gpc_gpu_host_write(it.gpu, it.address, 1, &five), 0);
        CHECK_EQUAL_I64(RUN_PROGRAM(&it, copy_word, WORDS * 16, 1, 1), GPC_RUN_DONE);
        CHECK_EQUAL_U64(word_at(&it, 896), 5);
        gpc_tags_clear(&it.gpu->controllers[gpc_nodes_at(&it.gpu->nodes, GPC_AT_BANK)->first].arrays[0]);
        gpc_tags_clear(&it.gpu->controllers[gpc_nodes_at(&it.gpu->nodes, GPC_AT_BANK)->first + 1].arrays[0]);
        CHECK_EQUAL_I64(gpc_gpu_host_write(it.gpu, it.address, 1, &seven), 0);
        CHECK_EQUAL_I64(RUN_PROGRAM(&it, copy_word, WORDS * 16, 1, 1), GPC_RUN_DONE);
        CHECK_EQUAL_U64(word_at(&it, 896), cases[i].read);
        gpc_gpu_free(it.gpu);
    }
}

/* Every list of controllers and tables ends where the array does. */
static void
a_protocol_at_every_position_runs_and_is_described(void)
{
    gpc_machine_t machine = small_machine();
    gpc_failure_t failure;
    gpc_text_t text;

    machine.host_units = 1;
    CHECK_EQUAL_U64(gpc_num_controllers(&everywhere), GPC_NUM_POSITIONS);
    CHECK_EQUAL_I64(gpc_protocol_admit(&everywhere, &failure), 0);
    bench_t it = bench(&machine, named("everywhere"), WORDS);
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, store_and_fence, WORDS, 1, 1), GPC_RUN_DONE);
    CHECK_EQUAL_U64(word_at(&it, 0), 3);
    gpc_text_init(&text);
    gpc_describe_whole_protocol(&text, &everywhere);
    CHECK_EQUAL_I64(gpc_gpu_statistics(it.gpu, &text), 0);
    CHECK_EQUAL_I64(gpc_gpu_trace_names(it.gpu, &text), 0);
    CHECK(strstr(text.bytes, "L3 of the host") != NULL);
    gpc_text_free(&text);
    gpc_gpu_free(it.gpu);
}

static bench_t
epochs_bench(const gpc_machine_t *machine, const gpc_option_value_t *option)
{
    bench_t it = {0};
    gpc_setup_t setup = {.machine = machine,
                         .protocol = named("skel-epochs"),
                         .rule = GPC_RULE_DEFAULT,
                         .options = option,
                         .num_options = option ? 1 : 0,
                         .budget = UINT64_C(1000000000)};
    CHECK_EQUAL_I64(gpc_gpu_create(&setup, &it.gpu), 0);
    CHECK_EQUAL_I64(gpc_gpu_allocate(it.gpu, WORDS, &it.address), 0);
    return it;
}

/* The machine reports a deadlock at once: only the timer is left. */
static void
a_serving_timer_is_progress_and_a_background_timer_is_not(void)
{
    const gpc_option_value_t background = {"timer", GPC_TIMER_BACKGROUND};
    gpc_machine_t machine = small_machine();
    bench_t serving = epochs_bench(&machine, NULL), other = epochs_bench(&machine, &background);
    CHECK_EQUAL_I64(RUN_PROGRAM(&serving, store_and_fence, WORDS, 1, 1), GPC_RUN_DONE);
    CHECK_EQUAL_I64(RUN_PROGRAM(&other, store_and_fence, WORDS, 1, 1), GPC_ERROR_DEADLOCK);
    gpc_gpu_free(serving.gpu);
    gpc_gpu_free(other.gpu);
}

static void
a_serving_timer_keeps_no_finished_launch_running_and_ticks_in_the_next(void)
{
    gpc_machine_t machine = small_machine();
    bench_t it = epochs_bench(&machine, NULL);
    for (uint32_t launch = 0; launch < 3; launch++) {
        CHECK_EQUAL_I64(RUN_PROGRAM(&it, store_and_fence, WORDS, 1, 1), GPC_RUN_DONE);
        CHECK(word_at(&it, 896) > 200); /* an epoch lasts 200 cycles at least */
        CHECK_EQUAL_U64(it.gpu->state->serving, 0);
    }
    gpc_gpu_free(it.gpu);
}

static uint32_t
cycles_with_clock(uint32_t mhz)
{
    gpc_machine_t machine = small_machine();
    machine.global_mhz = mhz;
    bench_t it = epochs_bench(&machine, NULL);
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, store_and_fence, WORDS, 1, 1), GPC_RUN_DONE);
    uint32_t cycles = word_at(&it, 896);
    gpc_gpu_free(it.gpu);
    return cycles;
}

/* The unit takes one input per cycle of its clock: a tick, and an answer of each core. */
static void
the_unit_runs_by_its_own_clock(void)
{
    uint32_t standard = cycles_with_clock(0), fast = cycles_with_clock(2800), slow = cycles_with_clock(7);
    CHECK(fast <= standard);
    CHECK(slow > standard + 2 * 200); /* a cycle of 7 MHz is 200 of the cores' */
}

static void
a_position_that_the_machine_lacks_is_an_error(void)
{
    gpc_machine_t machine = small_machine();
    gpc_gpu_t *gpu;
    machine.global_units = 0;
    gpc_setup_t setup = {
        .machine = &machine, .protocol = named("skel-epochs"), .rule = GPC_RULE_DEFAULT, .budget = 1000};
    CHECK_EQUAL_I64(gpc_gpu_create(&setup, &gpu), GPC_ERROR_MACHINE);
    CHECK(strstr(gpc_gpu_error_text(gpu), "global_units = 0: protocol skel-epochs needs a controller") != NULL);
    gpc_gpu_free(gpu);
    setup.protocol = named("at-host");
    CHECK_EQUAL_I64(gpc_gpu_create(&setup, &gpu), GPC_ERROR_MACHINE);
    CHECK(strstr(gpc_gpu_error_text(gpu), "host_units = 0") != NULL);
    gpc_gpu_free(gpu);
}

/* ---- the explorer ------------------------------------------------------------------------------------------------ */

enum { WARM_READER = 1u << 2 }; /* core 1 begins with a copy of X */

static const gpc_explore_thread_t mp_warm[] = {THREAD(0, ST(X, 1), F, ST(Y, 1)),
                                               THREAD(1, LD(X), LD_ACQUIRE(Y), LD(X))};

static gpc_explore_t
asked(const char *protocol, const gpc_explore_thread_t *threads, const gpc_option_value_t *option)
{
    return (gpc_explore_t){.protocol = named(protocol),
                           .rule = GPC_RULE_DEFAULT,
                           .options = option,
                           .num_options = option ? 1 : 0,
                           .cores = 2,
                           .variables = 2,
                           .num_threads = 2,
                           .threads = threads,
                           .warm = WARM_READER,
                           .max_states = 1000000};
}

static void
the_explorer_has_every_position(void)
{
    static const char *const protocols[] = {"skel-src", "skel-epochs", "skel-three-levels", "everywhere"};
    gpc_explore_t what;
    for (uint32_t i = 0; i < GPC_COUNT_OF(protocols); i++) {
        what = asked(protocols[i], mp_fences, NULL);
        EXPLORE(&what, .never = "1 0 1 1"); /* the flag, not the data */
        what = asked(protocols[i], mp, NULL);
        EXPLORE(&what, .seen = "1 0 1 1"); /* stale copies without fences */
    }
    what = asked("skel-epochs", mp_warm, NULL);
    EXPLORE(&what, .never = "0 1 0 1 1");
}

/* The epoch that is about to end may have dropped the reader's copy before the store. */
static void
the_explorer_finds_a_release_that_waits_for_too_few_epochs(void)
{
    const gpc_option_value_t one = {"epochs", 1};
    gpc_explore_t what = asked("skel-epochs", mp_warm, &one);
    EXPLORE(&what, .seen = "0 1 0 1 1");
}

static void
the_explorer_counts_on_serving_timers_only(void)
{
    const gpc_option_value_t background = {"timer", GPC_TIMER_BACKGROUND};
    gpc_explore_t what = asked("skel-epochs", mp_fences, &background);
    what.warm = 0;
    EXPLORE(&what, .violation = "deadlock");
}

int
main(void)
{
    register_skeletons();
    RUN(a_store_completes_at_memory_where_the_protocol_waits_for_its_answer);
    RUN(the_round_trip_to_memory_includes_the_star);
    RUN(a_round_trip_that_is_too_short_for_the_star_is_an_error);
    RUN(host_writes_reach_the_copy_at_the_memory_side);
    RUN(a_protocol_at_every_position_runs_and_is_described);
    RUN(a_serving_timer_is_progress_and_a_background_timer_is_not);
    RUN(a_serving_timer_keeps_no_finished_launch_running_and_ticks_in_the_next);
    RUN(the_unit_runs_by_its_own_clock);
    RUN(a_position_that_the_machine_lacks_is_an_error);
    RUN(the_explorer_has_every_position);
    RUN(the_explorer_finds_a_release_that_waits_for_too_few_epochs);
    RUN(the_explorer_counts_on_serving_timers_only);
    return harness_end();
}

/* test_gpu.c: latencies, data and conservation of messages of the whole machine; bad input. */
#include "controller/controller.h"
#include "gpu_bench.h"
#include "machine/parts.h"
#include "protocols/registry.h"

/* ---- times ------------------------------------------------------------------------------------------------------- */

TEST(latency_without_load_is_the_machines)
{
    static const char *const protocols[] = {"no-l1", "no-coh", "ideal"};
    for (int i = 0; i < 3; i++) {
        bench_t it = bench(&test_fermi, gpc_protocol_find(protocols[i]), 1024);
        /* issued on a common edge: clock at an odd cycle, the load at the next, an even one */
        CHECK_EQUAL_U64(load_to_use(&it, 1024, 1), 460); /* DRAM, row closed */
        gpc_gpu_free(it.gpu);
        it = bench(&test_fermi, &gpc_protocol_no_l1, 1024);
        (void) load_to_use(&it, 1024, 1);
        CHECK_EQUAL_U64(load_to_use(&it, 1024, 1), 340); /* L2 hit */
        CHECK_EQUAL_U64(load_to_use(&it, 1024, 0), 341); /* half a network cycle late */
        gpc_gpu_free(it.gpu);
    }
}

TEST(l1_copies_survive_a_launch_where_coherent_and_go_where_not)
{
    bench_t it = bench(&test_fermi, &gpc_protocol_no_coherence, 1024);
    (void) load_to_use(&it, 1024, 1);
    CHECK_EQUAL_U64(load_to_use(&it, 1024, 1), 340);
    gpc_gpu_free(it.gpu);
}

/* ---- data and conservation --------------------------------------------------------------------------------------- */

TEST(atomics_count_every_thread_once)
{
    static const char *const protocols[] = {"no-l1", "no-coh", "ideal"};
    enum { GRID = 40, BLOCK = 96, THREADS = GRID * BLOCK };
    static uint32_t words[THREADS + 32];
    for (int i = 0; i < 3; i++) {
        bench_t it = bench(&test_fermi, gpc_protocol_find(protocols[i]), THREADS + 32);
        CHECK_EQUAL_I64(RUN_PROGRAM(&it, add_and_store, THREADS + 32, GRID, BLOCK), 0);
        CHECK_EQUAL_I64(gpc_gpu_verify(it.gpu), 0);
        CHECK_EQUAL_I64(gpc_gpu_host_read(it.gpu, it.address, THREADS + 32, words), 0);
        CHECK_EQUAL_U64(words[0], THREADS);
        static bool seen[THREADS];
        memset(seen, 0, sizeof(seen));
        bool once = true;
        for (uint32_t t = 0; t < THREADS; t++) {
            uint32_t old = words[32 + t];
            once = once && old < THREADS && !seen[old < THREADS ? old : 0];
            seen[old < THREADS ? old : 0] = true;
        }
        CHECK(once);
        gpc_gpu_free(it.gpu);
    }
}

static char *
statistics_of(const char *protocol)
{
    bench_t it = bench(&test_fermi, gpc_protocol_find(protocol), 4096);
    gpc_text_t text;
    gpc_text_init(&text);
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, add_and_store, 4096, 40, 96), 0);
    CHECK_EQUAL_I64(gpc_gpu_statistics(it.gpu, &text), 0);
    gpc_gpu_free(it.gpu);
    return text.bytes;
}

TEST(the_same_run_gives_the_same_statistics)
{
    char *once = statistics_of("ideal"), *again = statistics_of("ideal");
    CHECK_EQUAL_TEXT(once, again);
    free(once);
    free(again);
}

TEST(a_snapshot_brings_everything_back)
{
    bench_t it = bench(&test_fermi, &gpc_protocol_ideal, 4096);
    gpc_snapshot_t *snapshot;
    gpc_text_t first, second;
    uint32_t word = 0;
    gpc_text_init(&first);
    gpc_text_init(&second);
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, add_and_store, 4096, 4, 64), 0);
    CHECK_EQUAL_I64(gpc_gpu_snapshot(it.gpu, &snapshot), 0);
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, add_and_store, 4096, 40, 96), 0);
    CHECK_EQUAL_I64(gpc_gpu_statistics(it.gpu, &first), 0);
    CHECK_EQUAL_I64(gpc_gpu_restore(it.gpu, snapshot), 0);
    CHECK_EQUAL_I64(gpc_gpu_host_read(it.gpu, it.address, 1, &word), 0);
    CHECK_EQUAL_U64(word, 256);
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, add_and_store, 4096, 40, 96), 0);
    CHECK_EQUAL_I64(gpc_gpu_statistics(it.gpu, &second), 0);
    CHECK_EQUAL_TEXT(first.bytes, second.bytes);
    gpc_text_free(&first);
    gpc_text_free(&second);
    gpc_snapshot_free(snapshot);
    gpc_gpu_free(it.gpu);
}

TEST(an_aborted_launch_leaves_a_usable_gpu)
{
    static const gpc_instruction_t forever[] = {
        OP(LOAD, R1, CONSTANT(0), NONE),
        {.opcode = GPC_OP_JUMP, .width = 1, .destination = NONE, .a = NONE, .b = NONE, .c = NONE, .target = 0},
        EXIT};
    bench_t it = bench(&test_fermi, &gpc_protocol_ideal, 4096);
    uint32_t word = 0;
    gpc_buffer_t buffer = {it.address, 4096, false, "x", 0};
    uint32_t constant = 0;
    gpc_launch_t launch = {.program = {forever, 3, 8, 1, 0, 1, 1, false},
                           .kernel = "forever",
                           .grid = {4, 1, 1},
                           .block = {64, 1, 1},
                           .constants = &constant,
                           .buffers = &buffer,
                           .num_constants = 1,
                           .num_buffers = 1};
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, add_and_store, 4096, 4, 64), 0);
    CHECK_EQUAL_I64(gpc_gpu_launch(it.gpu, &launch), 0);
    CHECK_EQUAL_I64(gpc_gpu_run(it.gpu, 5000), GPC_RUN_MORE);
    gpc_gpu_abort(it.gpu);
    CHECK_EQUAL_I64(gpc_gpu_verify(it.gpu), 0);
    CHECK_EQUAL_I64(gpc_gpu_host_read(it.gpu, it.address, 1, &word), 0);
    CHECK_EQUAL_U64(word, 256); /* memory has the words of dirty L2 lines */
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, add_and_store, 4096, 4, 64), 0);
    CHECK_EQUAL_I64(gpc_gpu_host_read(it.gpu, it.address, 1, &word), 0);
    CHECK_EQUAL_U64(word, 512);
    gpc_gpu_free(it.gpu);
}

/* ---- bad input --------------------------------------------------------------------------------------------------- */

TEST(bad_machines_are_refused_by_name)
{
    gpc_machine_t machine = test_fermi;
    gpc_gpu_t *gpu;
    machine.cores = 0;
    gpc_setup_t setup = {
        .machine = &machine, .protocol = &gpc_protocol_ideal, .rule = GPC_RULE_DEFAULT, .budget = 1000};
    CHECK_EQUAL_I64(gpc_gpu_create(&setup, &gpu), GPC_ERROR_MACHINE);
    CHECK(strstr(gpc_gpu_error_text(gpu), "cores = 0") != NULL);
    gpc_gpu_free(gpu);
    machine = test_fermi;
    machine.l2_round_trip = 10;
    CHECK_EQUAL_I64(gpc_gpu_create(&setup, &gpu), GPC_ERROR_MACHINE);
    CHECK(strstr(gpc_gpu_error_text(gpu), "l2_round_trip = 10") != NULL);
    gpc_gpu_free(gpu);
}

TEST(an_index_out_of_bounds_is_reported_and_the_gpu_stays_usable)
{
    static const gpc_instruction_t far[] = {OP(LOAD, R1, CONSTANT(7), NONE), EXIT};
    bench_t it = bench(&test_fermi, &gpc_protocol_ideal, 64);
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, far, 64, 1, 1), GPC_ERROR_BOUNDS);
    CHECK(strstr(gpc_gpu_error_text(it.gpu), "128") != NULL && strstr(gpc_gpu_error_text(it.gpu), "'x'") != NULL);
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, add_and_store, 64, 1, 32), 0);
    gpc_gpu_free(it.gpu);
}

TEST(an_exhausted_budget_is_reported)
{
    static const gpc_instruction_t forever[] = {
        {.opcode = GPC_OP_JUMP, .width = 1, .destination = NONE, .a = NONE, .b = NONE, .c = NONE, .target = 0}, EXIT};
    gpc_setup_t setup = {
        .machine = &test_fermi, .protocol = &gpc_protocol_ideal, .rule = GPC_RULE_DEFAULT, .budget = 10000};
    bench_t it = {0};
    CHECK_EQUAL_I64(gpc_gpu_create(&setup, &it.gpu), 0);
    CHECK_EQUAL_I64(gpc_gpu_allocate(it.gpu, 64, &it.address), 0);
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, forever, 64, 1, 32), GPC_ERROR_BUDGET);
    gpc_gpu_free(it.gpu);
}

/* ---- tables over words ------------------------------------------------------------------------------------------- */

static const gpc_instruction_t mixed_words[] = {
    SPECIAL(R0, THREAD_X),
    SPECIAL(R1, BLOCK_X),
    OP(ADD, R2, R0, R1),
    OP(STORE, NONE, R2, R0),
    OP(LOAD, R3, R0, NONE),
    {.opcode = GPC_OP_ATOMIC,
     .type = GPC_U32,
     .order = GPC_ORDER_RELAXED,
     .scope = GPC_SCOPE_GPU,
     .width = 1,
     .destination = R4,
     .a = R1,
     .b = CONSTANT(1),
     .c = NONE,
     .flags = GPC_ATOMIC_ADD << GPC_FLAG_ATOMIC_SHIFT},
    OP(ADD, R5, R0, R0),
    OP(STORE, NONE, R5, R3),
    OP(LOAD, R3, R2, NONE),
    EXIT,
};

/* Looks at each word of a cell alone: it has the cell's state and event. */
static int
look_at_words(void *self, const gpc_observation_t *observed)
{
    gpc_step_t x = *observed->cell.step;
    if (x.table->object != GPC_OVER_WORDS) {
        return GPC_OK;
    }
    for (gpc_mask_t left = x.mask; left; left &= left - 1) {
        x.word = (uint8_t) __builtin_ctz(left);
        x.mask = left & -left;
        CHECK_EQUAL_U64(gpc_fsm_state(&x), x.state);
        CHECK_EQUAL_U64(gpc_fsm_event(&x) & 0x7F, observed->cell.event);
        ++*(uint64_t *) self;
    }
    return GPC_OK;
}

TEST(the_words_of_a_cell_are_alike)
{
    static const char *const protocols[] = {"denovo-drf", "denovo-ro", "denovo-hrf"};
    for (uint32_t i = 0; i < GPC_COUNT_OF(protocols); i++) {
        bench_t it = bench(&test_fermi, gpc_protocol_find(protocols[i]), 1024);
        uint64_t words = 0;
        gpc_subscriber_t subscriber = {.observe = look_at_words, .self = &words};
        gpc_subscribe(&it.gpu->stream, &subscriber, GPC_KIND(CELL));
        CHECK_EQUAL_I64(RUN_PROGRAM(&it, mixed_words, 1024, 24, 32), GPC_RUN_DONE);
        CHECK(words > 1000);
        gpc_unsubscribe(&subscriber);
        gpc_gpu_free(it.gpu);
    }
}

/* gpu_bench.h: a GPU and hand-written programs, for tests of the whole machine. */
#ifndef GPC_TESTS_GPU_BENCH_H
#define GPC_TESTS_GPU_BENCH_H

#include <string.h>

#include "controller/declare.h"
#include "harness.h"
#include "machine/gpu.h"
#include "machines.h"
#include "programs.h"

/* ---- programs by hand -------------------------------------------------------------------------------------------- */

enum { R0, R1, R2, R3, R4, R5 }; /* vector registers */
#define CONSTANT(n) (GPC_OPERAND_CONSTANT | (n))
#define OP(...) ROW(__VA_ARGS__)

typedef struct {
    gpc_gpu_t *gpu;
    gpc_address_t address;
} bench_t;

/* The GPUs of the running test, which end with it; one that makes more loses the oldest. */
static struct {
    gpc_gpu_t *at[8];
    uint32_t made;
} bench_gpus;

AROUND_TESTS
{
    for (uint32_t i = 0; i < GPC_COUNT_OF(bench_gpus.at); i++) {
        gpc_gpu_free(bench_gpus.at[i]);
        bench_gpus.at[i] = NULL;
    }
}

/* A GPU, with an allocation. */
static inline bench_t
bench_made(const gpc_setup_t *setup, uint64_t words)
{
    bench_t it = {0};
    gpc_gpu_t **place = &bench_gpus.at[bench_gpus.made++ % GPC_COUNT_OF(bench_gpus.at)];
    gpc_gpu_free(*place);
    int status = gpc_gpu_create(setup, &it.gpu);
    *place = it.gpu;
    if (status || gpc_gpu_allocate(it.gpu, words, &it.address)) {
        harness_note("%s", gpc_gpu_error_text(it.gpu));
        CHECK(false);
    }
    return it;
}
/* BENCH_WITH(words, .machine = .., .protocol = ..) */
#define BENCH_WITH(words, ...)                                                                                         \
    bench_made(&(gpc_setup_t) {.rule = GPC_RULE_DEFAULT, .budget = UINT64_C(1000000000), __VA_ARGS__}, words)

/* The machine's round trips are those of answers with a line, which no-l1 gives with fill=line. */
static inline bench_t
bench(const gpc_machine_t *machine, const gpc_protocol_t *protocol, uint64_t words)
{
    static const gpc_option_value_t line = {"fill", 0};
    return BENCH_WITH(words, .machine = machine, .protocol = protocol, .options = &line,
                      .num_options = strcmp(protocol->id, "no-l1") == 0);
}

static inline void
expect_no_gpu(const gpc_machine_t *machine, const gpc_protocol_t *protocol, const char *says)
{
    gpc_setup_t setup = {.machine = machine, .protocol = protocol, .rule = GPC_RULE_DEFAULT, .budget = 1000};
    gpc_gpu_t *gpu;
    CHECK_EQUAL_I64(gpc_gpu_create(&setup, &gpu), GPC_ERROR_MACHINE);
    CHECK(strstr(gpc_gpu_error_text(gpu), says) != NULL);
    gpc_gpu_free(gpu);
}

/* Of all programs; a test may set the last one. */
static uint32_t bench_constants[] = {0, 1, 2, 3, 4, 32, 64, 128, 512, 896, 960, 256, 0};
enum { OWN_CONSTANT = GPC_COUNT_OF(bench_constants) - 1 };

static inline int
launch_program(bench_t *it, const gpc_instruction_t *program, uint32_t count, uint64_t words, uint32_t grid,
               uint32_t block)
{
    gpc_buffer_t buffer = {it->address, words, false, "x", 0};
    gpc_launch_t launch = {.program = {.instructions = program,
                                       .count = count,
                                       .vector_registers = 8,
                                       .uniform_registers = 1,
                                       .constants = GPC_COUNT_OF(bench_constants),
                                       .buffers = 1},
                           .kernel = "by_hand",
                           .grid = {grid, 1, 1},
                           .block = {block, 1, 1},
                           .constants = bench_constants,
                           .buffers = &buffer,
                           .num_constants = GPC_COUNT_OF(bench_constants),
                           .num_buffers = 1};
    return gpc_gpu_launch(it->gpu, &launch);
}

static inline int
run(bench_t *it, const gpc_instruction_t *program, uint32_t count, uint64_t words, uint32_t grid, uint32_t block)
{
    int status = launch_program(it, program, count, words, grid, block);
    while (status == GPC_OK && (status = gpc_gpu_run(it->gpu, 1000)) == GPC_RUN_MORE) {
        status = 0;
    }
    return status;
}
#define RUN_PROGRAM(it, program, words, grid, block) run((it), (program), GPC_COUNT_OF(program), (words), (grid), (block))

static inline uint32_t
word_at(const bench_t *it, uint64_t index)
{
    uint32_t word = 0;
    CHECK_EQUAL_I64(gpc_gpu_host_read(it->gpu, it->address + 4 * index, 1, &word), 0);
    return word;
}

/* A program keeps two clocks, in words 896 and 960: the cycles between them. */
#define KEEP_CLOCKS(first, second) STORE(CONSTANT(9), first), STORE(CONSTANT(10), second)
static inline uint32_t
cycles_kept(const bench_t *it)
{
    return word_at(it, 960) - word_at(it, 896);
}

/* Core cycles from the issue of a load of word constants[constant] to the issue of its first use: `padding` NOPs shift
 * the issue against the clocks' edges. */
static inline uint32_t
load_of(bench_t *it, uint32_t constant, uint64_t words, uint32_t padding)
{
    gpc_instruction_t program[16];
    uint32_t n = 0;
    gpc_instruction_t head[] = {READ(R0, CLOCK), LOAD(R1, CONSTANT(constant)), MOVE(R2, R1),
                                READ(R3, CLOCK), KEEP_CLOCKS(R0, R3),          EXIT};
    gpc_instruction_t nop = NOP;

    while (padding--) {
        program[n++] = nop;
    }
    for (uint32_t i = 0; i < GPC_COUNT_OF(head); i++) {
        program[n++] = head[i];
    }
    CHECK_EQUAL_I64(run(it, program, n, words, 1, 1), 0);
    return cycles_kept(it) - 2; /* the load issues one cycle after the first clock, the move one before the second */
}

static inline uint32_t
load_to_use(bench_t *it, uint64_t words, uint32_t padding)
{
    return load_of(it, 0, words, padding);
}

/* Every thread adds 1 to word 0 and stores its number + word to its own word. */
static const gpc_instruction_t add_and_store[] = {
    READ(R0, THREAD_X),           READ(R1, BLOCK_X),   READ(R2, BLOCK_DIM_X),
    OP(MUL, R1, R1, R2),          OP(ADD, R0, R0, R1), ATOMIC_ADD(R3, CONSTANT(0), CONSTANT(1)),
    OP(ADD, R4, R0, CONSTANT(5)), STORE(R4, R3),       EXIT,
};

/* Atomics, stores and their acknowledgements of all cores at once, with the checks of the end of a run. Protocols that
 * promise nothing are left out. */
static inline void
check_add_and_store(const gpc_machine_t *machine, const gpc_protocol_t *protocol)
{
    enum { GRID = 40, BLOCK = 96, THREADS = GRID * BLOCK };
    if (strcmp(protocol->model[protocol->standard_rule], "none") == 0) {
        return;
    }
    bench_t it = bench(machine, protocol, THREADS + 32);
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, add_and_store, THREADS + 32, GRID, BLOCK), 0);
    CHECK_EQUAL_I64(gpc_gpu_verify(it.gpu), 0);
    CHECK_EQUAL_U64(word_at(&it, 0), THREADS);
}

#endif

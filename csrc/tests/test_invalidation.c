/* test_invalidation.c: do the invalidation protocols (MESI, GPU-VI, GPU-VIni, MESI-WT) neither deadlock nor lose a word
 * with minimal resources? protocols/invalidation/explored.toml has their interleavings. */
#include "controller/protocol.h"
#include "gpu_bench.h"
#include "machine/gpu.h"
#include "protocols/registry.h"
#include "small_programs.h"

static const char *const protocols[] = {"mesi", "gpu-vi", "gpu-vini"};

static const gpc_option_value_t clean_put_header = {"clean_put", 0};
static const gpc_option_value_t mesi_wt_options[] = {{"mshr", 0}, {"mshr", 1}, {"mshr", 2}, {"exclusive", 1}};

/* ---- the directory ----------------------------------------------------------------------------------------------- */

static void
expect_directory(int64_t ways, int64_t ratio, uint32_t sets)
{
    const gpc_array_info_t *directory = &gpc_protocol_find("gpu-vini")->controllers[1]->arrays[1];
    int64_t options[GPC_MAX_OPTIONS] = {ways, ratio};
    uint32_t got_sets = 0, got_ways = 0;
    directory->geometry(&test_fermi, options, &got_sets, &got_ways);
    CHECK_EQUAL_U64(got_ways, (uint64_t) ways);
    CHECK_EQUAL_U64(got_sets, sets);
}

/* The factor gives directory entries per line of the L1s: 16 cores x 256 lines, over 8 partitions. */
TEST(directories_have_the_papers_sizes)
{
    expect_directory(8, 2, 128);
    expect_directory(8, 4, 256);
    expect_directory(16, 8, 256);
    expect_directory(32, 16, 256);
}

/* ---- scarce resources -------------------------------------------------------------------------------------------- */

enum { R6 = R5 + 1 };
#define ADD_ONE_AT(d, at)                                                                                                \
    {                                                                                                                    \
        .opcode = GPC_OP_ATOMIC, .type = GPC_U32, .order = GPC_ORDER_RELAXED, .scope = GPC_SCOPE_GPU, .width = 1,        \
        .destination = (d), .a = (at), .b = CONSTANT(1), .c = NONE, .flags = GPC_ATOMIC_ADD << GPC_FLAG_ATOMIC_SHIFT     \
    }

enum {
    THREADS = 256,
    BLOCK = 32,
    BLOCKS = THREADS / BLOCK,
    COUNTERS = 1024,
    ROUNDS = 5,
    WORDS = COUNTERS + 4 * THREADS
};

/* Every thread, ROUNDS times: adds one to a counter, a different one each round, reads its own word back and stores the
 * new round number there. Threads of all blocks share every line of those words. */
static const gpc_instruction_t contend[] = {
    SPECIAL(R0, THREAD_X),
    SPECIAL(R1, BLOCK_X),
    OP(MUL, R2, R0, CONSTANT(2)), /* own word: COUNTERS + thread * blocks + block */
    OP(ADD, R2, R2, R1),
    OP(ADD, R2, R2, CONSTANT(3)),
    OP(MOVE, R3, CONSTANT(0), NONE), /* round */
    OP(ADD, R0, R0, R1),             /* from here: 6 */
    OP(MUL, R4, R0, CONSTANT(4)),
    OP(AND, R4, R4, CONSTANT(5)),
    ADD_ONE_AT(R5, R4),
    OP(LOAD, R5, R2, NONE), /* 10: the value of the previous round, plus one */
    OP(ADD, R5, R5, CONSTANT(1)),
    OP(STORE, NONE, R2, R5),
    OP(ADD, R6, R2, CONSTANT(6)),
    OP(LOAD, R6, R6, NONE), /* others' words, for sharers to invalidate */
    OP(LOAD, R6, R4, NONE),
    OP(ADD, R0, R0, R6),
    OP(ADD, R3, R3, CONSTANT(1)),
    OP(LT, R6, R3, CONSTANT(7)),
    {.opcode = GPC_OP_BRANCH,
     .width = 1,
     .destination = NONE,
     .a = R6,
     .b = NONE,
     .c = NONE,
     .target = 6,
     .reconverge = 20},
    OP(EXIT, NONE, NONE, NONE),
};

static int
launch(gpc_gpu_t *gpu, gpc_address_t address)
{
    static const uint32_t constants[] = {0, 1, BLOCKS, COUNTERS, 61, COUNTERS - 1, 16, ROUNDS};
    gpc_buffer_t buffer = {address, WORDS, false, "x", 0};
    gpc_launch_t what = {.program = {.instructions = contend,
                                     .count = GPC_COUNT_OF(contend),
                                     .vector_registers = 8,
                                     .uniform_registers = 1,
                                     .constants = GPC_COUNT_OF(constants),
                                     .buffers = 1},
                         .kernel = "contend",
                         .grid = {BLOCKS, 1, 1},
                         .block = {BLOCK, 1, 1},
                         .constants = constants,
                         .buffers = &buffer,
                         .num_constants = GPC_COUNT_OF(constants),
                         .num_buffers = 1};
    int status = gpc_gpu_launch(gpu, &what);
    while (status == GPC_OK && (status = gpc_gpu_run(gpu, 100000)) == GPC_RUN_MORE) {
        status = 0;
    }
    return status;
}

/* The expected memory after `launches` launches, with `added` stored to counter 0 by the host. */
static bool
words_are_right(gpc_gpu_t *gpu, gpc_address_t address, uint32_t launches, uint32_t added)
{
    static uint32_t words[WORDS];
    uint64_t sum = 0;
    bool right = gpc_gpu_host_read(gpu, address, WORDS, words) == 0;
    for (uint32_t i = 0; i < COUNTERS; i++) {
        sum += words[i];
    }
    right = right && sum == (uint64_t) THREADS * ROUNDS * launches + added;
    for (uint32_t thread = 0; thread < BLOCK; thread++) {
        for (uint32_t block = 0; block < BLOCKS; block++) {
            right = right && words[COUNTERS + thread * BLOCKS + block] == ROUNDS * launches;
        }
    }
    return right;
}

static gpc_machine_t
small(void)
{
    gpc_machine_t machine = test_fermi;
    machine.cores = 4;
    machine.partitions = 2;
    return machine;
}

static void
survive(const char *protocol, const gpc_machine_t *machine, const gpc_option_value_t *options, uint32_t num_options,
        const char *what)
{
    gpc_setup_t setup = {.machine = machine,
                         .protocol = gpc_protocol_find(protocol),
                         .rule = GPC_RULE_DEFAULT,
                         .options = options,
                         .num_options = num_options,
                         .budget = 20000000,
                         .check = true};
    gpc_gpu_t *gpu = NULL;
    gpc_address_t address = 0;
    uint32_t added = 0;
    bool right = gpc_gpu_create(&setup, &gpu) == 0 && gpc_gpu_allocate(gpu, WORDS, &address) == 0;

    for (uint32_t launches = 1; launches <= 3 && right; launches++) {
        uint32_t word = 0;
        right = launch(gpu, address) == 0 && gpc_gpu_verify(gpu) == 0 && words_are_right(gpu, address, launches, added);
        /* the host writes one word of a line whose other words may be newest in an L1 */
        right = right && gpc_gpu_host_read(gpu, address, 1, &word) == 0;
        word += 1000;
        added += 1000;
        right =
            right && gpc_gpu_host_write(gpu, address, 1, &word) == 0 && words_are_right(gpu, address, launches, added);
    }
    if (!right) {
        harness_note("%s, %s: %s", protocol, what, gpc_gpu_error_text(gpu));
    }
    CHECK(right);
    gpc_gpu_free(gpu);
}

static void
survive_all(const gpc_machine_t *machine, const char *what)
{
    static const gpc_option_value_t tiny_directory[] = {{"dir_ways", 1}, {"dir_ratio", 1}};
    for (int i = 0; i < 3; i++) {
        survive(protocols[i], machine, NULL, 0, what);
    }
    survive("gpu-vini", machine, tiny_directory, 2, what);
    survive("mesi", machine, &clean_put_header, 1, what);
    for (size_t i = 0; i < GPC_COUNT_OF(mesi_wt_options); i++) {
        survive("mesi-wt", machine, &mesi_wt_options[i], 1, what);
    }
    survive("sc-ideal", machine, NULL, 0, what);
}

TEST(the_standard_machine_loses_no_word)
{
    gpc_machine_t machine = small();
    survive_all(&machine, "4 cores, 2 partitions");
}

TEST(caches_of_two_sets_lose_no_word)
{
    gpc_machine_t machine = small();
    machine.l1_bytes = 2 * 2 * 128;
    machine.l1_ways = 2;
    machine.l2_bytes = 2 * 2 * 128;
    machine.l2_ways = 2;
    survive_all(&machine, "caches of 2 sets of 2 ways");
    machine.l1_bytes = machine.l2_bytes = 2 * 128;
    machine.l1_ways = machine.l2_ways = 1;
    survive_all(&machine, "caches of 2 sets of 1 way");
}

TEST(single_mshrs_do_not_deadlock)
{
    gpc_machine_t machine = small();
    machine.l1_mshrs = 1;
    survive_all(&machine, "1 MSHR an L1");
    machine.l2_mshrs = 1;
    survive_all(&machine, "1 MSHR an L1 and bank");
}

TEST(single_flit_buffers_do_not_deadlock)
{
    gpc_machine_t machine = small();
    machine.vc_flits = 1;
    survive_all(&machine, "buffers of 1 flit");
}

TEST(everything_scarce_at_once_does_not_deadlock)
{
    gpc_machine_t machine = small();
    machine.l1_bytes = machine.l2_bytes = 2 * 128;
    machine.l1_ways = machine.l2_ways = 1;
    machine.l1_mshrs = machine.l2_mshrs = 1;
    machine.vc_flits = 1;
    machine.load_store_queue = 1;
    machine.dram_queue = 2;
    survive_all(&machine, "everything scarce");
    machine.l1_bytes = 2 * 128 * 2;
    machine.l1_mshrs = machine.l2_mshrs = 2;
    survive_all(&machine, "everything scarce, 2 MSHRs");
}

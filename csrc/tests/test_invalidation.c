/* test_invalidation.c: are the invalidation protocols (MESI, GPU-VI, GPU-VIni, MESI-WT) coherent over every interleaving, and do they neither
 * deadlock nor lose a word with minimal resources? */
#include "controller/protocol.h"
#include "gpu_bench.h"
#include "machine/gpu.h"
#include "protocols/registry.h"
#include "small_programs.h"

static const char *const protocols[] = {"mesi", "gpu-vi", "gpu-vini"};

/* ---- every interleaving --------------------------------------------------------------------------------------------------- */

/* one line, three cores: a reader whose loads merge, two writers */
static const gpc_explore_thread_t crowd[] = {THREAD(0, ST(X, 1)), THREAD(1, INC(X)), THREAD(2, LD(X), LD(X))};

enum { WARM_NONE = 0, WARM_ALL = 15 };

typedef struct {
    const char *protocol;
    gpc_rule_t rule;
    const gpc_explore_thread_t *threads;
    uint32_t num_threads, cores, variables, warm;
    bool evictions;
    const gpc_option_value_t *option; /* one, or NULL */
} world_t;

/* The exploration is complete and without violations; the outcome is observed or not, as expected. */
static void
expect(const world_t *world, const char *outcome, bool seen)
{
    gpc_explore_t what = {.protocol = world->protocol,
                          .rule = world->rule,
                          .cores = world->cores,
                          .variables = world->variables,
                          .num_threads = world->num_threads,
                          .threads = world->threads,
                          .warm = world->warm,
                          .evictions = world->evictions ? UINT32_MAX : 0,
                          .options = world->option,
                          .num_options = world->option != NULL,
                          .max_states = 3000000};
    gpc_text_t text;
    gpc_text_init(&text);
    int status = gpc_explore(&what, &text);
    bool right = status == 0 && strstr(text.bytes, "\"complete\": true") && strstr(text.bytes, "\"violations\": []") &&
                 (strstr(text.bytes, outcome) != NULL) == seen;
    if (!right) {
        printf("# %s rule %d warm %u evictions %d, outcome %s should %sbe seen:\n# %.6000s\n", world->protocol,
               (int) world->rule, world->warm, world->evictions, outcome, seen ? "" : "not ", text.bytes);
    }
    CHECK(right);
    gpc_text_free(&text);
}

/* Two lines with evictions, also of directory entries: half a million states; with GPC_LONG_TESTS set only. */
static bool
is_long(const char *protocol, bool evictions)
{
    return evictions && strcmp(protocol, "gpu-vi") != 0 && !getenv("GPC_LONG_TESTS");
}

static void
expect_two(const char *protocol, gpc_rule_t rule, const gpc_explore_thread_t *threads, uint32_t warm, bool evictions,
           const char *outcome, bool seen)
{
    expect(&(world_t){protocol, rule, threads, 2, 2, 2, warm, evictions && !is_long(protocol, evictions), NULL},
           outcome, seen);
}

static void
messages_are_passed_with_fences(void)
{
    for (int i = 0; i < 3; i++) {
        expect_two(protocols[i], GPC_RULE_RC, mp_fences, WARM_NONE, false, "[1, 0, ", false);
        expect_two(protocols[i], GPC_RULE_RC, mp_fences, WARM_ALL, false, "[1, 1, ", true);
        expect_two(protocols[i], GPC_RULE_RC, mp_fences, WARM_ALL, true, "[1, 0, ", false);
        expect_two(protocols[i], GPC_RULE_RC, mp, WARM_NONE, false, "[1, 0, ", true); /* only with evictions */
    }
}

static void
stores_do_not_pass_each_other_with_fences(void)
{
    for (int i = 0; i < 3; i++) {
        expect_two(protocols[i], GPC_RULE_RC, sb_fences, WARM_NONE, false, "[0, 0, ", false);
        expect_two(protocols[i], GPC_RULE_RC, sb_fences, WARM_ALL, true, "[0, 0, ", false);
        expect_two(protocols[i], GPC_RULE_RC, sb, WARM_NONE, false, "[0, 0, ", true);
    }
}

static void
one_access_at_a_time_is_sequentially_consistent(void)
{
    for (int i = 0; i < 3; i++) {
        expect_two(protocols[i], GPC_RULE_SC, mp, WARM_ALL, true, "[1, 0, ", false);
        expect_two(protocols[i], GPC_RULE_SC, sb, WARM_ALL, true, "[0, 0, ", false);
    }
}

static void
no_reader_sees_new_then_old(void)
{
    for (int i = 0; i < 3; i++) {
        expect(&(world_t){protocols[i], GPC_RULE_RC, corr, 2, 2, 1, 0, true, NULL}, "[1, 0, ", false);
        expect(&(world_t){protocols[i], GPC_RULE_RC, corr, 2, 2, 1, 3, true, NULL}, "[0, 1, ", true);
    }
}

static void
no_increment_is_lost(void)
{
    for (int i = 0; i < 3; i++) {
        for (uint32_t warm = 0; warm < 4; warm += 3) {
            expect(&(world_t){protocols[i], GPC_RULE_RC, increments, 2, 2, 1, warm, true, NULL}, ", 3]", false);
            expect(&(world_t){protocols[i], GPC_RULE_RC, increments, 2, 2, 1, warm, true, NULL}, ", 4]", true);
        }
    }
}

static void
three_cores_fight_for_a_line(void)
{
    for (int i = 0; i < 3; i++) {
        expect(&(world_t){protocols[i], GPC_RULE_RC, crowd, 3, 3, 1, 7, true, NULL}, "[0, 2, 1, ", false);
        expect(&(world_t){protocols[i], GPC_RULE_RC, crowd, 3, 3, 1, 0, false, NULL}, "[1, 1, 2, 2]", true);
    }
}

static const gpc_option_value_t clean_put_header = {"clean_put", 0};

static void
a_clean_line_may_be_given_up_without_its_words(void)
{
    const gpc_option_value_t *option = &clean_put_header;
    expect(&(world_t){"mesi", GPC_RULE_RC, corr, 2, 2, 1, 3, true, option}, "[1, 0, ", false);
    expect(&(world_t){"mesi", GPC_RULE_RC, increments, 2, 2, 1, 0, true, option}, ", 3]", false);
}

/* Two warps of a core, whose second write merges with the first one; and an atomic of another core. */
static const gpc_explore_thread_t own_writers[] = {THREAD(0, ST(X, 10)), THREAD(0, INC(X)), THREAD(1, INC(X), LD(X))};
static const gpc_option_value_t mesi_wt_options[] = {{"mshr", 0}, {"mshr", 1}, {"mshr", 2}, {"exclusive", 1}};

static void
merged_writes_are_performed_once_and_in_a_row(void)
{
    for (size_t i = 0; i < GPC_COUNT_OF(mesi_wt_options); i++) {
        for (uint32_t warm = 0; warm < 4; warm += 3) {
            world_t world = {"mesi-wt", GPC_RULE_SC, own_writers, 3, 2, 1, warm, true, &mesi_wt_options[i]};
            expect(&world, ", 1]", false);
            expect(&world, ", 2]", false);
            expect(&world, ", 12]", true);
        }
    }
}

/* ---- the directory ----------------------------------------------------------------------------------------------------------- */

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
static void
directories_have_the_papers_sizes(void)
{
    expect_directory(8, 2, 128);
    expect_directory(8, 4, 256);
    expect_directory(16, 8, 256);
    expect_directory(32, 16, 256);
}

/* ---- scarce resources ------------------------------------------------------------------------------------------------------ */

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
    TURNS = 12,
    WORDS = COUNTERS + 4 * THREADS
};

/* Every thread, TURNS times: adds one to a counter, a different one each turn, reads its own word back and stores the new
 * turn number there. Threads of all blocks share every line of those words. */
static const gpc_instruction_t contend[] = {
    SPECIAL(R0, THREAD_X),
    SPECIAL(R1, BLOCK_X),
    OP(MUL, R2, R0, CONSTANT(2)), /* own word: COUNTERS + thread * blocks + block */
    OP(ADD, R2, R2, R1),
    OP(ADD, R2, R2, CONSTANT(3)),
    OP(MOVE, R3, CONSTANT(0), NONE), /* turn */
    OP(ADD, R0, R0, R1),             /* from here: 6 */
    OP(MUL, R4, R0, CONSTANT(4)),
    OP(AND, R4, R4, CONSTANT(5)),
    ADD_ONE_AT(R5, R4),
    OP(LOAD, R5, R2, NONE), /* 10: the value of the previous turn, plus one */
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
    static const uint32_t constants[] = {0, 1, BLOCKS, COUNTERS, 61, COUNTERS - 1, 16, TURNS};
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
    while (status == 0 && (status = gpc_gpu_run(gpu, 100000)) == GPC_RUN_MORE) {
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
    right = right && sum == (uint64_t) THREADS * TURNS * launches + added;
    for (uint32_t thread = 0; thread < BLOCK; thread++) {
        for (uint32_t block = 0; block < BLOCKS; block++) {
            right = right && words[COUNTERS + thread * BLOCKS + block] == TURNS * launches;
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
                         .protocol = protocol,
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
        printf("# %s, %s: %s\n", protocol, what, gpc_gpu_error_text(gpu));
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

static void
the_standard_machine_loses_no_word(void)
{
    gpc_machine_t machine = small();
    survive_all(&machine, "4 cores, 2 partitions");
}

static void
caches_of_two_sets_lose_no_word(void)
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

static void
single_mshrs_do_not_deadlock(void)
{
    gpc_machine_t machine = small();
    machine.l1_mshrs = 1;
    survive_all(&machine, "1 MSHR an L1");
    machine.l2_mshrs = 1;
    survive_all(&machine, "1 MSHR an L1 and bank");
}

static void
single_flit_buffers_do_not_deadlock(void)
{
    gpc_machine_t machine = small();
    machine.vc_flits = 1;
    survive_all(&machine, "buffers of 1 flit");
}

static void
everything_scarce_at_once_does_not_deadlock(void)
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

int
main(void)
{
    RUN(messages_are_passed_with_fences);
    RUN(stores_do_not_pass_each_other_with_fences);
    RUN(one_access_at_a_time_is_sequentially_consistent);
    RUN(no_reader_sees_new_then_old);
    RUN(no_increment_is_lost);
    RUN(three_cores_fight_for_a_line);
    RUN(a_clean_line_may_be_given_up_without_its_words);
    RUN(merged_writes_are_performed_once_and_in_a_row);
    RUN(directories_have_the_papers_sizes);
    RUN(the_standard_machine_loses_no_word);
    RUN(caches_of_two_sets_lose_no_word);
    RUN(single_mshrs_do_not_deadlock);
    RUN(single_flit_buffers_do_not_deadlock);
    RUN(everything_scarce_at_once_does_not_deadlock);
    return harness_end();
}

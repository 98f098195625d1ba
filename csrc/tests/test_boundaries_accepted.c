/* test_boundaries_accepted.c: may a store complete when the L1 accepts it, and be performed later? Monitors and
 * explorer follow it until then: the core's own loads read it early, and a lost store is reported. By gpu-drf, whose
 * store buffer sends a store at once. */
#include "controller/store_buffer.h"
#include "explorations.h"
#include "gpu_bench.h"
#include "machine/parts.h"
#include "protocols/registry.h"
#include "small_programs.h"
#include "tests/mutants_parts.h"

static const gpc_option_value_t eager = {"sb_drain", GPC_SB_EAGER};

GPC_ACTION(act_lose, "the words leave the store buffer without being sent")
{
    gpc_sb_entry_t *entry = gpc_sb_entry(x, GPC_SB_PART);
    gpc_sb_sent(entry, entry->fresh);
    return gpc_sb_performed(x, entry, entry->sent);
}

/* The caller frees it. */
static mutant_t *
losing(void)
{
    const mutant_info_t info = {
        "gpu-drf!lost", "a bug", NULL,
        (const mutant_edit_t[]){REPLACE("L1.store_buffer", "OPEN", "DRAIN", "write_through", act_lose),
                                NEXT("L1.store_buffer", "OPEN", "DRAIN", "FREE"),
                                {0}}};
    return mutant_make(&info, &gpc_protocol_gpu_drf);
}

/* ---- the machine ------------------------------------------------------------------------------------------------- */

/* Each thread stores its number twice, loads it after the first store, and stores the loaded value beside it. */
static const gpc_instruction_t store_and_load[] = {
    READ(R0, THREAD_X),
    READ(R1, BLOCK_X),
    READ(R2, BLOCK_DIM_X),
    OP(MUL, R1, R1, R2),
    OP(ADD, R0, R0, R1),
    STORE(R0, R0),
    LOAD(R3, R0),
    STORE(R0, R0),
    OP(ADD, R4, R0, CONSTANT(8)),
    STORE(R4, R3),
    EXIT,
};

static const gpc_instruction_t store_alone[] = {READ(R0, BLOCK_X), STORE(R0, CONSTANT(3)), EXIT};

static bench_t
checked(const gpc_protocol_t *protocol)
{
    return BENCH_WITH(4096, .machine = &test_fermi, .protocol = protocol, .options = &eager, .num_options = 1,
                      .check = GPC_CHECK_PROTOCOL | GPC_CHECK_RACES);
}

TEST(stores_that_are_accepted_early_are_right)
{
    bench_t it = checked(&gpc_protocol_gpu_drf);
    uint32_t words[1024];
    int status = RUN_PROGRAM(&it, store_and_load, 4096, 8, 64);
    if (status) {
        harness_note("%s", gpc_gpu_error_text(it.gpu));
    }
    CHECK_EQUAL_I64(status, 0);
    CHECK_EQUAL_I64(gpc_gpu_host_read(it.gpu, it.address, 1024, words), 0);
    for (uint32_t i = 0; i < 512; i++) {
        CHECK_EQUAL_U64(words[i], i);
        CHECK_EQUAL_U64(words[512 + i], i);
    }
    gpc_gpu_check_counts_t counts = gpc_gpu_check_counts(it.gpu);
    CHECK_EQUAL_U64(counts.monitor.accepted, 3 * 512);
    CHECK(counts.monitor.loads > 0 && counts.monitor.writes > 0);
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, add_and_store, 4096, 8, 64), 0); /* and with atomics */
}

TEST(a_lost_store_is_reported)
{
    mutant_t *lost = losing();
    bench_t it = checked(&lost->protocol);
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, store_alone, 4096, 8, 1), GPC_ERROR_INVARIANT);
    CHECK(strstr(gpc_gpu_error_text(it.gpu), "an accepted store is performed before the end: core ") != NULL);
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, store_and_load, 4096, 8, 64), GPC_ERROR_INVARIANT);
    CHECK(strstr(gpc_gpu_error_text(it.gpu), "a warp reads its own accepted store: core ") != NULL);
    free(lost);
}

/* ---- the explorer ------------------------------------------------------------------------------------------------ */

static const gpc_explore_thread_t own_read[] = {THREAD(0, ST(X, 1), LD(X), ST(X, 2), LD(X)),
                                                THREAD(1, ST(X, 3), LD(X))};
static const gpc_explore_thread_t equal_values[] = {THREAD(0, ST(X, 1), ST(X, 1), LD(X)), THREAD(1, LD(X), LD(X))};

static gpc_explore_t
asked(const gpc_protocol_t *protocol, const gpc_explore_thread_t *threads)
{
    return ASK(threads, .protocol = protocol, .rule = GPC_RULE_DEFAULT, .options = &eager, .num_options = 1);
}

TEST(the_explorer_follows_accepted_stores)
{
    gpc_explore_t what = asked(&gpc_protocol_gpu_drf, sb);
    EXPLORE(&what, .seen = "0 0 _ _");
    what.threads = sb_fences;
    EXPLORE(&what, .never = "0 0 _ _");
    what.threads = mp_fences;
    EXPLORE(&what, .never = "1 0 _ _");
    what.threads = own_read;
    EXPLORE(&what);
    what.threads = equal_values;
    EXPLORE(&what);
}

TEST(the_explorer_finds_lost_stores)
{
    mutant_t *lost = losing();
    gpc_explore_t what = asked(&lost->protocol, own_read);
    EXPLORE(&what, .violation = "invariant", .says = "a warp reads its own accepted store: core ");
    what.threads = sb_fences;
    EXPLORE(&what, .violation = "invariant", .says = "an accepted store is performed before the end: core ");
    free(lost);
}

/* test_explorer.c: do the baselines have exactly their allowed outcomes over every interleaving? */
#include "controller/describe.h"
#include "explorations.h"
#include "harness.h"
#include "machine/gpu.h"
#include "protocols/registry.h"
#include "small_programs.h"

/* An exploration of threads on two cores. */
static gpc_explore_t
asked(const char *protocol, gpc_rule_t rule, const gpc_explore_thread_t *threads, uint32_t warm, bool evictions)
{
    return (gpc_explore_t){.protocol = gpc_protocol_find(protocol),
                           .rule = rule,
                           .cores = 2,
                           .variables = 2,
                           .num_threads = 2,
                           .threads = threads,
                           .warm = warm,
                           .evictions = evictions ? UINT32_MAX : 0,
                           .max_states = 2000000};
}

/* The exploration is complete and without violations; checks whether the outcome is observed. */
static void
expect(const char *protocol, gpc_rule_t rule, const gpc_explore_thread_t *threads, uint32_t warm, bool evictions,
       const char *outcome, bool seen)
{
    if (harness.failures) { /* one fault a test is enough */
        return;
    }
    gpc_explore_t what = asked(protocol, rule, threads, warm, evictions);
    EXPLORE(&what, .seen = seen ? outcome : NULL, .never = seen ? NULL : outcome);
}

/* It has this outcome and no other. */
static void
expect_only(const char *protocol, gpc_rule_t rule, const gpc_explore_thread_t *threads, uint32_t warm, bool evictions,
            const char *outcome)
{
    gpc_explore_t what = asked(protocol, rule, threads, warm, evictions);
    EXPLORE(&what, .only = outcome);
}

enum { WARM_NONE = 0, WARM_READER = 4 | 8 /* both variables at core 1 */, WARM_ALL = 15 };

static const gpc_explore_thread_t far[] = {THREAD(7, LD(X))};

static const char *const coherent[] = {"no-l1", "ideal", "gpu-vi"};
enum { COHERENT = sizeof(coherent) / sizeof(coherent[0]) };

TEST(coherent_baselines_forbid_stale_data_after_a_flag_with_fences)
{
    for (int i = 0; i < COHERENT; i++) {
        for (uint32_t warm = 0; warm < 16; warm += 15) {
            expect(coherent[i], GPC_RULE_RC, mp_fences, warm, false, "1 0 _ _", false);
            expect(coherent[i], GPC_RULE_RC, mp_fences, warm, true, "1 0 _ _", false);
            expect(coherent[i], GPC_RULE_RC, mp_fences, warm, false, "1 1 _ _", true);
            expect(coherent[i], GPC_RULE_RC, mp_fences, warm, false, "0 0 _ _", true);
        }
    }
}

TEST(coherent_baselines_are_sequentially_consistent_one_access_at_a_time)
{
    for (int i = 0; i < COHERENT; i++) {
        for (uint32_t warm = 0; warm < 16; warm += 15) {
            expect(coherent[i], GPC_RULE_SC, mp, warm, true, "1 0 _ _", false);
            expect(coherent[i], GPC_RULE_SC, sb, warm, true, "0 0 _ _", false);
        }
    }
}

TEST(release_consistency_without_fences_reorders)
{
    for (int i = 0; i < COHERENT; i++) {
        expect(coherent[i], GPC_RULE_RC, mp, WARM_NONE, false, "1 0 _ _",
               true); /* two L2 misses answered in any order */
        expect(coherent[i], GPC_RULE_RC, sb, WARM_NONE, false, "0 0 _ _", true);
    }
}

TEST(coherent_baselines_forbid_both_old_with_fences)
{
    for (int i = 0; i < COHERENT; i++) {
        for (uint32_t warm = 0; warm < 16; warm += 15) {
            expect(coherent[i], GPC_RULE_RC, sb_fences, warm, true, "0 0 _ _", false);
            expect(coherent[i], GPC_RULE_RC, sb_fences, warm, true, "0 1 _ _", true);
        }
    }
}

TEST(coherent_baselines_never_read_new_then_old)
{
    for (int i = 0; i < COHERENT; i++) {
        for (uint32_t warm = 0; warm < 16; warm += 15) {
            expect(coherent[i], GPC_RULE_RC, corr, warm, true, "1 0 _ _", false);
            expect(coherent[i], GPC_RULE_RC, corr, warm, true, "0 1 _ _", true);
        }
    }
}

TEST(no_coherence_reads_a_warm_stale_copy_in_spite_of_fences)
{
    expect("no-coh", GPC_RULE_RC, mp_fences, WARM_READER, false, "1 0 _ _", false); /* the flag's copy is stale too */
    expect("no-coh", GPC_RULE_RC, mp_fences, WARM_READER, true, "1 0 _ _", true);
    expect("no-coh", GPC_RULE_RC, mp_fences, 4 /* only x */, false, "1 0 _ _", true);
    expect("no-coh", GPC_RULE_SC, mp, 4, false, "1 0 _ _", true);
    expect("no-coh", GPC_RULE_RC, sb_fences, WARM_ALL, false, "0 0 _ _", true);
    expect("no-coh", GPC_RULE_RC, mp_fences, WARM_NONE, false, "1 0 _ _", false);
}

TEST(no_increment_is_lost)
{
    static const char *const all[] = {"no-l1", "no-coh", "ideal", "gpu-vi"};
    for (int i = 0; i < 4; i++) {
        gpc_explore_t what = asked(all[i], GPC_RULE_RC, increments, WARM_ALL, true);
        EXPLORE(&what, .only = "_ _ _ _ 4 0");
    }
}

/* ---- orders, barriers, kernels ----------------------------------------------------------------------------------- */

TEST(a_release_and_an_acquire_order_a_message_as_fences_do)
{
    const gpc_explore_thread_t mp_orders[] = {THREAD(0, ST(X, 1), ST_RELEASE(Y, 1)), THREAD(1, LD_ACQUIRE(Y), LD(X))};
    const gpc_explore_thread_t mp_half[] = {THREAD(0, ST(X, 1), ST(Y, 1)), THREAD(1, LD_ACQUIRE(Y), LD(X))};
    for (int i = 0; i < COHERENT; i++) {
        expect(coherent[i], GPC_RULE_RC, mp_orders, WARM_NONE, true, "1 0 _ _", false);
        expect(coherent[i], GPC_RULE_RC, mp_orders, WARM_NONE, true, "1 1 _ _", true);
        expect(coherent[i], GPC_RULE_RC, mp_half, WARM_NONE, true, "1 0 _ _", true);
    }
}

TEST(a_barrier_orders_the_threads_of_a_core)
{
    const gpc_explore_thread_t with[] = {THREAD(0, ST(X, 1), BLOCK_BARRIER), THREAD(0, BLOCK_BARRIER, LD(X))};
    const gpc_explore_thread_t without[] = {THREAD(0, ST(X, 1)), THREAD(0, LD(X))};
    static const char *const all[] = {"no-l1", "ideal", "gpu-vi", "gpu-vini", "mesi", "no-coh"};
    for (size_t i = 0; i < GPC_COUNT_OF(all); i++) {
        for (uint32_t warm = 0; warm < 2; warm++) {
            expect_only(all[i], GPC_RULE_RC, with, warm, true, "1 1 0");
            expect(all[i], GPC_RULE_RC, without, warm, true, "0 1 0", true);
        }
    }
}

TEST(a_second_barrier_is_another_one)
{
    const gpc_explore_thread_t threads[] = {THREAD(0, ST(X, 1), BLOCK_BARRIER, BLOCK_BARRIER, LD(Y)),
                                            THREAD(0, BLOCK_BARRIER, ST(Y, 1), BLOCK_BARRIER, LD(X))};
    expect_only("gpu-vi", GPC_RULE_RC, threads, WARM_NONE, true, "1 1 1 1");
}

TEST(a_kernels_begin_drops_copies_that_are_stale)
{
    const gpc_explore_thread_t with[] = {THREAD(0, ST(X, 1), NEXT_KERNEL), THREAD(1, LD(Y), NEXT_KERNEL, LD(X))};
    const gpc_explore_thread_t without[] = {THREAD(0, ST(X, 1)), THREAD(1, LD(Y), LD(X))};
    expect_only("no-coh", GPC_RULE_RC, with, WARM_ALL, false, "0 1 1 0");
    expect_only("no-coh", GPC_RULE_RC, without, WARM_ALL, false, "0 0 1 0");
    expect_only("gpu-vi", GPC_RULE_RC, with, WARM_ALL, true, "0 1 1 0");
}

static void
refuse(const gpc_explore_t *what, int error, const char *why)
{
    gpc_exploration_t found;
    CHECK_EQUAL_I64(gpc_explore_search(what, &found), error);
    CHECK(strstr(found.failure.text, why) != NULL);
    gpc_exploration_free(&found);
}

static void
refuse_threads(const gpc_explore_thread_t *threads, const char *why)
{
    gpc_explore_t what = asked("ideal", GPC_RULE_RC, threads, 0, false);
    refuse(&what, GPC_ERROR_ARGUMENT, why);
}

TEST(threads_that_could_never_meet_are_refused)
{
    const gpc_explore_thread_t barriers[] = {THREAD(0, BLOCK_BARRIER), THREAD(0, LD(X))};
    const gpc_explore_thread_t launches[] = {THREAD(0, BLOCK_BARRIER, NEXT_KERNEL),
                                             THREAD(0, NEXT_KERNEL, BLOCK_BARRIER)};
    const gpc_explore_thread_t kernels[] = {THREAD(0, NEXT_KERNEL), THREAD(1, LD(X))};
    const gpc_explore_thread_t ended[] = {THREAD(0, THREAD_END, LD(X)), THREAD(1, LD(X))};
    refuse_threads(barriers, "different numbers of barriers in launch 0");
    refuse_threads(launches, "different numbers of barriers in launch 0");
    refuse_threads(kernels, "different numbers of kernels");
    refuse_threads(ended, "operation 1 follows its EXIT");
}

TEST(bad_input_is_reported)
{
    gpc_explore_t what = asked("ideal", GPC_RULE_RC, far, 0, false);
    what.num_threads = 1;
    refuse(&what, GPC_ERROR_ARGUMENT, "core 7 of 2");
    what = asked("ideal", GPC_RULE_HRF, mp, 0, false);
    refuse(&what, GPC_ERROR_RULE, "protocol ideal does not support consistency hrf");
}

TEST(values_of_64_bits_need_a_whole_variable_of_64_bits)
{
    static const char *const why = "operation 0: a value or addition of 64 bits needs a whole variable of 64 bits";
    const uint64_t more = UINT64_C(1) << 32;
    gpc_explore_op_t store = ST(X, more), swap = INC(X), f64 = INC(X), upper = ST(X, more);
    swap.replacement = more;
    f64.atomic = GPC_ATOMIC_ADD | GPC_EXPLORE_F64;
    upper.word = 2;
    const gpc_explore_op_t cases[] = {store, swap, f64, upper};
    for (uint32_t i = 0; i < GPC_COUNT_OF(cases); i++) {
        const gpc_explore_thread_t threads[] = {{0, 1, &cases[i]}, THREAD(1, LD(Y))};
        gpc_explore_t what = asked("ideal", GPC_RULE_RC, threads, 0, false);
        gpc_exploration_t found;
        what.wide = cases[i].word ? 1u << X : 0;
        refuse(&what, GPC_ERROR_ARGUMENT, why);
        what.wide = 1u << X;
        CHECK_EQUAL_I64(gpc_explore_search(&what, &found), cases[i].word ? GPC_ERROR_ARGUMENT : GPC_OK);
        gpc_exploration_free(&found);
    }
}

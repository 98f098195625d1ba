/* test_explorer.c: does the explorer refuse what it cannot explore? Outcomes: csrc/protocols/FAMILY/explored.toml. */
#include "controller/describe.h"
#include "explorations.h"
#include "harness.h"
#include "machine/gpu.h"
#include "protocols/registry.h"
#include "small_programs.h"

static const gpc_explore_thread_t far[] = {THREAD(7, LD(X))};

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
    gpc_explore_t what = ASK(threads, .protocol = &gpc_protocol_ideal, .rule = GPC_RULE_RC);
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
    gpc_explore_t what = ASK(far, .protocol = &gpc_protocol_ideal, .rule = GPC_RULE_RC);
    what.num_threads = 1;
    refuse(&what, GPC_ERROR_ARGUMENT, "core 7 of 2");
    what = ASK(mp, .protocol = &gpc_protocol_ideal, .rule = GPC_RULE_HRF);
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
        gpc_explore_t what = ASK(threads, .protocol = &gpc_protocol_ideal, .rule = GPC_RULE_RC);
        gpc_exploration_t found;
        what.wide = cases[i].word ? 1u << X : 0;
        refuse(&what, GPC_ERROR_ARGUMENT, why);
        what.wide = 1u << X;
        CHECK_EQUAL_I64(gpc_explore_search(&what, &found), cases[i].word ? GPC_ERROR_ARGUMENT : GPC_OK);
        gpc_exploration_free(&found);
    }
}

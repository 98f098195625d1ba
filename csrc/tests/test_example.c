/* test_example.c: self-inval, the example of docs/how-to/add-a-protocol.md, over every interleaving: are its tables
 * well formed, and is it coherent? */
#include "explorations.h"
#include "harness.h"
#include "machine/gpu.h"
#include "own_protocols.h"
#include "small_programs.h"
#include "tests/mutants.h"

/* The exploration is complete and without violations; the outcome is observed or not, as expected. */
static void
expect(const gpc_explore_thread_t *threads, uint32_t num_threads, gpc_rule_t rule, const char *outcome, bool seen)
{
    gpc_option_value_t shortest = {"lifetime", 1};
    gpc_explore_t what = {.protocol = named("self-inval"),
                          .rule = rule,
                          .options = &shortest,
                          .num_options = 1,
                          .cores = 2,
                          .variables = 2,
                          .num_threads = num_threads,
                          .threads = threads,
                          .max_states = 1000000};
    EXPLORE(&what, .seen = seen ? outcome : NULL, .never = seen ? NULL : outcome);
}

TEST(the_tables_are_well_formed)
{
    for (uint32_t i = 0; i < gpc_num_controllers(&gpc_protocol_self_inval); i++) {
        gpc_text_t wrong;
        gpc_text_init(&wrong);
        CHECK_EQUAL_I64(gpc_fsm_check(gpc_protocol_self_inval.controllers[i]->tables[0], &wrong), 0);
        gpc_text_free(&wrong);
    }
}

TEST(new_then_old_is_forbidden)
{
    expect(corr, 2, GPC_RULE_RC, "1 0 _ _", false);
    expect(corr, 2, GPC_RULE_RC, "0 1 _ _", true);
}

TEST(stale_data_after_a_flag_is_forbidden_with_fences_and_under_sc)
{
    expect(mp, 2, GPC_RULE_RC, "1 0 _ _", true);
    expect(mp_fences, 2, GPC_RULE_RC, "1 0 _ _", false);
    expect(mp, 2, GPC_RULE_SC, "1 0 _ _", false);
}

TEST(no_increment_is_lost)
{
    expect(increments, 2, GPC_RULE_RC, "_ _ _ _ 3 0", false);
    expect(increments, 2, GPC_RULE_RC, "_ _ _ _ 4 0", true);
}

BEFORE_TESTS
{
    register_own(&gpc_protocol_self_inval);
}

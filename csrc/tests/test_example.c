/* test_example.c: self-inval, the example of docs/how-to/add-a-protocol.md, over every interleaving: are its tables
 * well formed, and is it coherent? */
#include "harness.h"
#include "machine/gpu.h"
#include "own_protocols.h"
#include "small_programs.h"
#include "tests/mutants.h"

/* The exploration is complete and without violations; the outcome is observed or not, as expected. */
static void
expect(const gpc_explore_thread_t *threads, uint32_t num_threads, gpc_rule_t rule, const char *text, bool seen)
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
    gpc_text_t out;
    gpc_text_init(&out);
    int status = gpc_explore(&what, &out);
    bool right = status == 0 && strstr(out.bytes, "\"complete\": true") && strstr(out.bytes, "\"violations\": []") &&
                 (strstr(out.bytes, text) != NULL) == seen;
    if (!right) {
        harness_note("%s should %sbe seen:", text, seen ? "" : "not ");
        harness_note_explored(out.bytes);
    }
    CHECK(right);
    gpc_text_free(&out);
}

static void
the_tables_are_well_formed(void)
{
    for (uint32_t i = 0; gpc_protocol_self_inval.controllers[i]; i++) {
        gpc_text_t wrong;
        gpc_text_init(&wrong);
        CHECK_EQUAL_I64(gpc_fsm_check(gpc_protocol_self_inval.controllers[i]->tables[0], &wrong), 0);
        gpc_text_free(&wrong);
    }
}

static void
new_then_old_is_forbidden(void)
{
    expect(corr, 2, GPC_RULE_RC, "[1, 0, ", false);
    expect(corr, 2, GPC_RULE_RC, "[0, 1, ", true);
}

static void
stale_data_after_a_flag_is_forbidden_with_fences_and_under_sc(void)
{
    expect(mp, 2, GPC_RULE_RC, "[1, 0, ", true);
    expect(mp_fences, 2, GPC_RULE_RC, "[1, 0, ", false);
    expect(mp, 2, GPC_RULE_SC, "[1, 0, ", false);
}

static void
no_increment_is_lost(void)
{
    expect(increments, 2, GPC_RULE_RC, ", 3, 0]", false);
    expect(increments, 2, GPC_RULE_RC, ", 4, 0]", true);
}

int
main(void)
{
    register_own(&gpc_protocol_self_inval);
    RUN(the_tables_are_well_formed);
    RUN(new_then_old_is_forbidden);
    RUN(stale_data_after_a_flag_is_forbidden_with_fences_and_under_sc);
    RUN(no_increment_is_lost);
    return harness_end();
}

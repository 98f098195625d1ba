/* test_commutes.c: are messages that STC declares to commute none whose order matters? The explorer lets them arrive at
 * once; programs that are explored with every order of theirs, too, have the same outcomes and violate nothing. */
#include "explorations.h"
#include "harness.h"
#include "protocols/registry.h"
#include "small_programs.h"

static void
explore(const char *protocol, const gpc_explore_thread_t *threads, uint32_t num_threads, bool every_order,
        gpc_exploration_t *found)
{
    static const gpc_option_value_t options[] = {{"epochs", 4}, {"seb", 3}};
    gpc_explore_t what = {.protocol = gpc_protocol_find(protocol),
                          .rule = GPC_RULE_DEFAULT,
                          .options = options,
                          .num_options = GPC_COUNT_OF(options),
                          .cores = 2,
                          .variables = 2,
                          .num_threads = num_threads,
                          .threads = threads,
                          .every_order = every_order,
                          .max_states = 3000000};
    EXPLORE_TO(found, &what);
}

static void
compare(const char *protocol, const gpc_explore_thread_t *threads, uint32_t num_threads)
{
    gpc_exploration_t fewer, all;

    explore(protocol, threads, num_threads, false, &fewer);
    explore(protocol, threads, num_threads, true, &all);
    CHECK(fewer.states < all.states);
    CHECK(exploration_has_outcomes_of(&fewer, &all));
    CHECK(memcmp(fewer.outcomes.rows, all.outcomes.rows, /* in the same order */
                 sizeof(uint32_t) * all.outcomes.count * all.outcomes.width) == 0);
    gpc_exploration_free(&fewer);
    gpc_exploration_free(&all);
}

static const gpc_explore_thread_t reads[] = {THREAD(0, ST(X, 1)), THREAD(1, LD(X))};
static const gpc_explore_thread_t writes[] = {THREAD(0, ST(X, 1)), THREAD(1, ST(X, 2), LD(X))};

TEST(outcomes_are_those_of_every_order)
{
    compare("stc-es", reads, GPC_COUNT_OF(reads));
    compare("stc-es", writes, GPC_COUNT_OF(writes));
    compare("stc-ab", reads, GPC_COUNT_OF(reads));
}

static uint32_t
carry_nothing(const int64_t *options, gpc_position_t from, gpc_position_t to)
{
    (void) options, (void) from, (void) to;
    return 0;
}

TEST(a_message_on_a_network_that_is_not_declared_is_an_error)
{
    gpc_protocol_t silent = gpc_protocol_qr;
    gpc_explore_t what = {.protocol = &silent,
                          .rule = GPC_RULE_DEFAULT,
                          .cores = 2,
                          .variables = 1,
                          .num_threads = GPC_COUNT_OF(reads),
                          .threads = reads,
                          .max_states = 1000};

    silent.explored.carries = carry_nothing;
    EXPLORE(&what, .violation = "protocol error",
            .says = "L1 1 sends to node 2 on network 'up', which the protocol does not declare");
}

/* test_symmetry.c: do equal cores count once without a loss? With every state by its own name the outcomes are the same
 * and nothing else is violated; there are more states, at most one for each order of the equal cores. */
#include "explorations.h"
#include "harness.h"
#include "protocols/registry.h"
#include "small_programs.h"

static const gpc_explore_thread_t stores[] = {THREAD(0, ST(X, 1)), THREAD(1, ST(X, 1)), THREAD(2, ST(X, 1))};
static const gpc_explore_thread_t readers[] = {THREAD(0, ST(X, 1)), THREAD(1, LD(X), LD(X)), THREAD(2, LD(X), LD(X))};

static void
explore(const char *protocol, const gpc_explore_thread_t *threads, bool named, gpc_exploration_t *found)
{
    static const gpc_option_value_t options[] = {{"sb_entries", 2}, {"sb_drain", 1}};
    gpc_explore_t what = {.protocol = gpc_protocol_find(protocol),
                          .rule = GPC_RULE_DEFAULT,
                          .options = options,
                          .num_options = strncmp(protocol, "denovo", 6) ? 0 : GPC_COUNT_OF(options),
                          .cores = 3,
                          .variables = 1,
                          .num_threads = 3,
                          .threads = threads,
                          .named = named,
                          .max_states = 1000000};
    EXPLORE_TO(found, &what);
}

static void
compare(const char *protocol, const gpc_explore_thread_t *threads, uint32_t orders)
{
    gpc_exploration_t once, each;

    explore(protocol, threads, false, &once);
    explore(protocol, threads, true, &each);
    CHECK(once.states < each.states && each.states <= orders * once.states);
    CHECK(exploration_has_outcomes_of(&once, &each));
    gpc_exploration_free(&once);
    gpc_exploration_free(&each);
}

static void
three_equal_cores(void)
{
    compare("mesi", stores, 6);
    compare("gpu-vi", stores, 6);
    compare("denovo-drf", stores, 6);
}

static void
two_equal_readers(void)
{
    compare("mesi", readers, 2);
    compare("gpu-vi", readers, 2);
}

int
main(void)
{
    RUN(three_equal_cores);
    RUN(two_equal_readers);
    return harness_end();
}

/* test_symmetry.c: do equal cores count once without a loss? With every state by its own name the outcomes are the same
 * and nothing else is violated; there are more states, at most one for each order of the equal cores. */
#include "explorations.h"
#include "harness.h"
#include "protocols/registry.h"
#include "small_programs.h"

static const gpc_explore_thread_t stores[] = {THREAD(0, ST(X, 1)), THREAD(1, ST(X, 1)), THREAD(2, ST(X, 1))};
static const gpc_explore_thread_t readers[] = {THREAD(0, ST(X, 1)), THREAD(1, LD(X), LD(X)), THREAD(2, LD(X), LD(X))};

static void
explore(const gpc_protocol_t *protocol, const gpc_explore_thread_t *threads, bool named, gpc_exploration_t *found)
{
    static const gpc_option_value_t options[] = {{"sb_entries", 2}, {"sb_drain", 1}};
    gpc_explore_t what = {.protocol = protocol,
                          .rule = GPC_RULE_DEFAULT,
                          .options = options,
                          .num_options = strncmp(protocol->id, "denovo", 6) ? 0 : GPC_COUNT_OF(options),
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

    explore(gpc_protocol_find(protocol), threads, false, &once);
    explore(gpc_protocol_find(protocol), threads, true, &each);
    CHECK(once.states < each.states && each.states <= orders * once.states);
    CHECK(exploration_has_outcomes_of(&once, &each));
    gpc_exploration_free(&once);
    gpc_exploration_free(&each);
}

TEST(three_equal_cores)
{
    compare("mesi", stores, 6);
    compare("gpu-vi", stores, 6);
    compare("denovo-drf", stores, 6);
}

TEST(two_equal_readers)
{
    compare("mesi", readers, 2);
    compare("gpu-vi", readers, 2);
}

/* Role 1: the last core. */
static uint32_t
last_differs(const gpc_controller_t *unit)
{
    return unit->index + 1 == unit->machine->cores;
}

/* Of three cores with equal programs, the two of one role are interchangeable. */
TEST(cores_of_two_roles)
{
    gpc_controller_type_t l1 = *gpc_protocol_find("gpu-vi")->controllers[0];
    gpc_protocol_t protocol = *gpc_protocol_find("gpu-vi");
    gpc_exploration_t alike, roles, each;

    l1.role = last_differs;
    protocol.controllers[0] = &l1;
    explore(gpc_protocol_find("gpu-vi"), stores, false, &alike);
    explore(&protocol, stores, false, &roles);
    explore(&protocol, stores, true, &each);
    CHECK_EQUAL_U64(roles.roles[0] + 2 * roles.roles[1] + 4 * roles.roles[2], 4);
    CHECK_EQUAL_U64(alike.roles[0] + alike.roles[1] + alike.roles[2], 0);
    CHECK(alike.states < roles.states && 2 * roles.states >= each.states && roles.states < each.states);
    CHECK(exploration_has_outcomes_of(&alike, &roles));
    gpc_exploration_free(&alike);
    gpc_exploration_free(&roles);
    gpc_exploration_free(&each);
}

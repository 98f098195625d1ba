/* test_commutes.c: are messages that STC declares to commute none whose order matters? The explorer lets them arrive at
 * once; programs that are explored with every order of theirs, too, have the same outcomes and violate nothing. */
#include "harness.h"
#include "protocols/registry.h"
#include "small_programs.h"

/* What follows "key": in an exploration's JSON, up to the key `until`. */
static size_t
part_of(const gpc_text_t *found, const char *key, const char *until, const char **part)
{
    *part = strstr(found->bytes, key);
    const char *end = *part ? strstr(*part, until) : NULL;
    CHECK(end != NULL);
    return end ? (size_t) (end - *part) : 0;
}

static unsigned long
states_of(const gpc_text_t *found)
{
    const char *states = strstr(found->bytes, "\"states\": ");
    return states ? strtoul(states + strlen("\"states\": "), NULL, 10) : 0;
}

static void
explore(const char *protocol, const gpc_explore_thread_t *threads, uint32_t num_threads, bool every_order,
        gpc_text_t *found)
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
    gpc_text_init(found);
    CHECK_EQUAL_I64(gpc_explore(&what, found), 0);
}

static void
compare(const char *protocol, const gpc_explore_thread_t *threads, uint32_t num_threads)
{
    static const char *const parts[][2] = {{"\"outcomes\"", "\"cells\""}, {"\"violations\"", "\"limits\""}};
    gpc_text_t fewer, all;

    explore(protocol, threads, num_threads, false, &fewer);
    explore(protocol, threads, num_threads, true, &all);
    CHECK(strstr(fewer.bytes, "\"complete\": true") != NULL && strstr(all.bytes, "\"complete\": true") != NULL);
    CHECK(states_of(&fewer) < states_of(&all));
    for (uint32_t i = 0; i < GPC_COUNT_OF(parts); i++) {
        const char *of_fewer, *of_all;
        size_t size = part_of(&fewer, parts[i][0], parts[i][1], &of_fewer);
        CHECK_EQUAL_U64(part_of(&all, parts[i][0], parts[i][1], &of_all), size);
        CHECK(memcmp(of_fewer, of_all, size) == 0);
    }
    gpc_text_free(&fewer);
    gpc_text_free(&all);
}

static const gpc_explore_thread_t reads[] = {THREAD(0, ST(X, 1)), THREAD(1, LD(X))};
static const gpc_explore_thread_t writes[] = {THREAD(0, ST(X, 1)), THREAD(1, ST(X, 2), LD(X))};

static void
outcomes_are_those_of_every_order(void)
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

static void
a_message_on_a_network_that_is_not_declared_is_an_error(void)
{
    gpc_protocol_t silent = gpc_protocol_qr;
    gpc_explore_t what = {.protocol = &silent,
                          .rule = GPC_RULE_DEFAULT,
                          .cores = 2,
                          .variables = 1,
                          .num_threads = GPC_COUNT_OF(reads),
                          .threads = reads,
                          .max_states = 1000};
    gpc_text_t found;

    silent.explored.carries = carry_nothing;
    gpc_text_init(&found);
    CHECK_EQUAL_I64(gpc_explore(&what, &found), 0);
    CHECK(strstr(found.bytes, "L1 1 sends to node 2 on network 'up', which the protocol does not declare") != NULL);
    gpc_text_free(&found);
}

int
main(void)
{
    RUN(outcomes_are_those_of_every_order);
    RUN(a_message_on_a_network_that_is_not_declared_is_an_error);
    return harness_end();
}

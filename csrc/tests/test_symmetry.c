/* test_symmetry.c: do equal cores count once without a loss? With every state by its own name the outcomes are the same
 * and nothing else is violated; there are more states, at most one for each order of the equal cores. */
#include "harness.h"
#include "protocols/registry.h"
#include "small_programs.h"

static const gpc_explore_thread_t stores[] = {THREAD(0, ST(X, 1)), THREAD(1, ST(X, 1)), THREAD(2, ST(X, 1))};
static const gpc_explore_thread_t readers[] = {THREAD(0, ST(X, 1)), THREAD(1, LD(X), LD(X)), THREAD(2, LD(X), LD(X))};

typedef struct {
    unsigned long states;
    gpc_text_t text;
    const char *outcomes;
    size_t outcomes_size;
} found_t;

static void
explore(const char *protocol, const gpc_explore_thread_t *threads, bool named, found_t *found)
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
    gpc_text_init(&found->text);
    CHECK_EQUAL_I64(gpc_explore(&what, &found->text), 0);
    REQUIRE(found->text.bytes != NULL && strstr(found->text.bytes, "\"complete\": true") != NULL);
    found->states = strtoul(strstr(found->text.bytes, "\"states\": ") + strlen("\"states\": "), NULL, 10);
    found->outcomes = strstr(found->text.bytes, "\"outcomes\": ");
    found->outcomes_size = (size_t) (strstr(found->text.bytes, "\"cells\": ") - found->outcomes);
}

/* The rows of outcomes, each of them without the order in which they were found. */
static bool
has_all(const found_t *these, const found_t *those)
{
    for (const char *row = strchr(these->outcomes, '['); row && row < these->outcomes + these->outcomes_size;) {
        char text[128];
        const char *begin = strpbrk(row + 1, "[]"), *end = begin ? strchr(begin, ']') : NULL;
        if (!begin || *begin == ']' || begin >= these->outcomes + these->outcomes_size) {
            return true;
        }
        (void) snprintf(text, sizeof(text), "%.*s", (int) (end - begin + 1), begin);
        const char *there = strstr(those->outcomes, text);
        if (!there || there >= those->outcomes + those->outcomes_size) {
            return false;
        }
        row = end;
    }
    return true;
}

static void
compare(const char *protocol, const gpc_explore_thread_t *threads, unsigned long orders)
{
    found_t once, each;

    explore(protocol, threads, false, &once);
    explore(protocol, threads, true, &each);
    CHECK(once.states < each.states && each.states <= orders * once.states);
    CHECK_EQUAL_U64(each.outcomes_size, once.outcomes_size);
    CHECK(has_all(&once, &each) && has_all(&each, &once));
    gpc_text_free(&once.text);
    gpc_text_free(&each.text);
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

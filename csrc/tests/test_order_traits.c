/* test_order_traits.c: do core rules and order traits hold in both worlds, the explorer and the machine? Prototypes are copies of
 * `ideal` with another rule or other traits; this file's registry is linked in place of protocols/registry.c. */
#include "gpu_bench.h"
#include "protocols/registry.h"
#include "small_programs.h"

/* ---- prototypes ------------------------------------------------------------------------------------------------------- */

enum { RC, DRF, HRF, SAME_LINE, SAME_WORD, NUM_PROTOTYPES };
static gpc_protocol_t prototypes[NUM_PROTOTYPES];

static void
make_prototype(uint32_t number, const char *id, gpc_rule_t rule, gpc_order_traits_t traits)
{
    prototypes[number] = gpc_protocol_ideal;
    prototypes[number].id = id;
    prototypes[number].model[rule] = "prototype";
    prototypes[number].standard_rule = rule;
    prototypes[number].order = traits;
}

static void
make_prototypes(void)
{
    make_prototype(RC, "rc", GPC_RULE_RC, (gpc_order_traits_t){0});
    make_prototype(SAME_LINE, "same-line", GPC_RULE_RC, (gpc_order_traits_t){.same_line = true});
    make_prototype(SAME_WORD, "same-word", GPC_RULE_RC, (gpc_order_traits_t){.same_word = true});
    make_prototype(DRF, "drf", GPC_RULE_DRF, (gpc_order_traits_t){0});
    make_prototype(HRF, "hrf", GPC_RULE_HRF, (gpc_order_traits_t){.local_scopes = true});
}

const gpc_protocol_t *
gpc_protocol_find(const char *id)
{
    for (uint32_t i = 0; i < NUM_PROTOTYPES; i++) {
        if (strcmp(prototypes[i].id, id) == 0) {
            return &prototypes[i];
        }
    }
    return NULL;
}

uint32_t
gpc_protocol_count(void)
{
    return NUM_PROTOTYPES;
}

const char *
gpc_protocol_id(uint32_t i)
{
    return prototypes[i].id;
}

/* ---- the explorer ------------------------------------------------------------------------------------------------------ */

#define LD_(order, variable) {LOAD, GPC_ORDER_##order, GPC_SCOPE_GPU, (variable), 0}
#define ST_(order, variable, value) {STORE, GPC_ORDER_##order, GPC_SCOPE_GPU, (variable), (value)}

/* Explores two threads, both L1s with copies of both variables at the start; the exploration has to be whole and without violations. */
static gpc_text_t
explored(const char *protocol, const gpc_explore_thread_t *threads, bool packed)
{
    gpc_explore_t what = {.protocol = protocol,
                          .rule = GPC_RULE_DEFAULT,
                          .cores = 2,
                          .variables = 2,
                          .num_threads = 2,
                          .threads = threads,
                          .warm = 15,
                          .packed = packed,
                          .max_states = 2000000};
    gpc_text_t text;
    gpc_text_init(&text);
    CHECK_EQUAL_I64(gpc_explore(&what, &text), 0);
    bool whole = strstr(text.bytes, "\"complete\": true") && strstr(text.bytes, "\"violations\": []");
    if (!whole) {
        printf("# %s\n", text.bytes);
    }
    CHECK(whole);
    return text;
}

/* Whether the outcome of the loads is seen. */
static bool
seen(const char *protocol, const gpc_explore_thread_t *threads, bool packed, const char *outcome)
{
    gpc_text_t text = explored(protocol, threads, packed);
    bool found = strstr(text.bytes, outcome) != NULL;
    gpc_text_free(&text);
    return found;
}

static const gpc_explore_thread_t sb_rel_acq[] = {THREAD(0, ST_(RELEASE, X, 1), LD_(ACQUIRE, Y)),
                                                  THREAD(1, ST_(RELEASE, Y, 1), LD_(ACQUIRE, X))};
static const gpc_explore_thread_t sb_relaxed[] = {THREAD(0, ST_(RELAXED, X, 1), LD_(RELAXED, Y)),
                                                  THREAD(1, ST_(RELAXED, Y, 1), LD_(RELAXED, X))};

static void
no_synchronisation_access_passes_an_older_one_under_drf_and_hrf(void)
{
    static const char *const ids[] = {"drf", "hrf"};
    for (size_t i = 0; i < GPC_COUNT_OF(ids); i++) {
        CHECK(!seen(ids[i], sb_rel_acq, false, "[0, 0, "));
        CHECK(seen(ids[i], sb_rel_acq, false, "[0, 1, "));
        CHECK(!seen(ids[i], sb_relaxed, false, "[0, 0, "));
        CHECK(seen(ids[i], sb, false, "[0, 0, ")); /* data accesses overlap: the shape can show */
    }
}

static long
states(const char *protocol, const gpc_explore_thread_t *threads)
{
    gpc_text_t text = explored(protocol, threads, true); /* both variables lie on one line */
    const char *found = strstr(text.bytes, "\"states\": ");
    long count = found ? strtol(found + strlen("\"states\": "), NULL, 10) : 0;
    gpc_text_free(&text);
    return count;
}

/* Fewer states: the second store of a thread is not on its way together with the first. */
static void
accesses_to_one_line_or_word_are_outstanding_one_at_a_time(void)
{
    const gpc_explore_thread_t one_word[] = {THREAD(0, ST(X, 1), ST(X, 2)), THREAD(1, ST(Y, 1), ST(Y, 2))};
    const gpc_explore_thread_t two_words[] = {THREAD(0, ST(X, 1), ST(Y, 2)), THREAD(1, ST(Y, 1), ST(X, 2))};
    CHECK(states("same-word", one_word) < states("rc", one_word));
    CHECK(states("same-word", two_words) == states("rc", two_words));
    CHECK(states("same-line", two_words) < states("rc", two_words));
}

/* ---- the machine -------------------------------------------------------------------------------------------------------- */

/* A store of the order, then a load, by one thread: cycles from the store's issue to the load's. */
static uint32_t
load_after_store(const char *protocol, gpc_memory_order_t order)
{
    uint32_t times[2];
    gpc_instruction_t program[] = {SPECIAL(R0, CLOCK),
                                   OP(STORE, NONE, CONSTANT(0), CONSTANT(1)),
                                   OP(LOAD, R1, CONSTANT(7), NONE),
                                   SPECIAL(R2, CLOCK),
                                   OP(STORE, NONE, CONSTANT(9), R0),
                                   OP(STORE, NONE, CONSTANT(10), R2),
                                   EXIT};
    program[1].order = order;
    bench_t it = bench(&test_fermi, protocol, 1024);
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, program, 1024, 1, 1), 0);
    CHECK_EQUAL_I64(gpc_gpu_host_read(it.gpu, it.address + 4 * 896, 1, &times[0]), 0);
    CHECK_EQUAL_I64(gpc_gpu_host_read(it.gpu, it.address + 4 * 960, 1, &times[1]), 0);
    gpc_gpu_free(it.gpu);
    return times[1] - times[0];
}

static void
a_warp_waits_for_its_synchronisation_store(void)
{
    CHECK(load_after_store("drf", GPC_ORDER_WEAK) < 10);
    CHECK(load_after_store("drf", GPC_ORDER_RELAXED) > 100);
    CHECK(load_after_store("drf", GPC_ORDER_RELEASE) > 100);
    CHECK(load_after_store("hrf", GPC_ORDER_RELEASE) > 100);
}

int
main(void)
{
    make_prototypes();
    RUN(no_synchronisation_access_passes_an_older_one_under_drf_and_hrf);
    RUN(accesses_to_one_line_or_word_are_outstanding_one_at_a_time);
    RUN(a_warp_waits_for_its_synchronisation_store);
    return harness_end();
}

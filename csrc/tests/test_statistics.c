/* test_statistics.c: are stalls reported by cause, latencies as histograms, and a protocol's own counters by name? The
 * prototype counts in an order hook. */
#include "fresh.h"
#include "gpu_bench.h"
#include "json.h"
#include "protocols/registry.h"

#define OWN_COUNTERS(X, P) X(P, fences, "fences seen") X(P, nothing, "never counted")
#define OWN_HISTOGRAMS(X, P) X(P, sizes, "40 at every fence")
GPC_COUNTS(OWN, OWN_COUNTERS)
GPC_COUNTS(OWN_H, OWN_HISTOGRAMS)

static gpc_controller_type_t l1;
static gpc_protocol_t prototype;

static int
count_fence(gpc_controller_t *unit, uint16_t warp, uint8_t scope)
{
    gpc_step_t x = {.unit = unit};
    (void) warp, (void) scope;
    gpc_count_own(&x, OWN_fences);
    gpc_record_own(&x, OWN_H_sizes, 40);
    return GPC_OK;
}

static const gpc_protocol_t *
counts_fences(void)
{
    l1 = *gpc_protocol_ideal.controllers[0];
    l1.counters = OWN_info;
    l1.histograms = OWN_H_info;
    prototype = gpc_protocol_ideal;
    prototype.controllers[0] = &l1;
    prototype.order.fence = count_fence;
    return &prototype;
}

static const char *
statistics(const bench_t *it)
{
    gpc_text_t *text = fresh_text();
    CHECK_EQUAL_I64(gpc_gpu_statistics(it->gpu, text), 0);
    return text->bytes;
}

/* Runs a program of one thread under the rule. */
static bench_t
ran_under(const gpc_protocol_t *protocol, gpc_rule_t rule, const gpc_instruction_t *program, uint32_t count)
{
    gpc_setup_t setup = {.machine = &test_fermi, .protocol = protocol, .rule = rule, .budget = UINT64_C(1000000000)};
    bench_t it = bench_made(&setup, 1024);
    CHECK_EQUAL_I64(run(&it, program, count, 1024, 1, 1), 0);
    return it;
}

static bench_t
ran(gpc_rule_t rule, const gpc_instruction_t *program, uint32_t count)
{
    return ran_under(counts_fences(), rule, program, count);
}

static const gpc_instruction_t fenced[] = {STORE(CONSTANT(0), CONSTANT(1)), FENCE_SC, LOAD(R1, CONSTANT(7)),
                                           STORE(CONSTANT(8), R1), EXIT};

TEST(stalls_are_reported_by_cause)
{
    bench_t it = ran(GPC_RULE_SC, fenced, GPC_COUNT_OF(fenced));
    const char *text = statistics(&it);
    CHECK(json_number(text, "stalls/fence_store") > 100);
    CHECK_EQUAL_U64(json_number(text, "stalls/fence"), json_number(text, "stalls/fence_store"));

    static const gpc_instruction_t older[] = {STORE(CONSTANT(0), CONSTANT(1)), LOAD(R1, CONSTANT(7)),
                                              LOAD(R2, CONSTANT(8)), EXIT};
    it = ran(GPC_RULE_SC, older, GPC_COUNT_OF(older));
    text = statistics(&it);
    uint64_t store = json_number(text, "stalls/memory_order_store"),
             load = json_number(text, "stalls/memory_order_load");
    CHECK(store > 100 && load > 100);
    CHECK_EQUAL_U64(json_number(text, "stalls/memory_order"), store + load);
    CHECK_EQUAL_U64(json_number(text, "stalls/fence"), 0);
}

static void
expect_order_stalls(gpc_rule_t rule, const gpc_instruction_t *program, uint32_t count, uint64_t loads, uint64_t stores)
{
    bench_t it = ran(rule, program, count);
    const char *text = statistics(&it);
    uint64_t load_cycles = json_number(text, "core/order_stall_load_cycles"),
             store_cycles = json_number(text, "core/order_stall_store_cycles");
    CHECK_EQUAL_U64(json_number(text, "core/order_stalls_load"), loads);
    CHECK_EQUAL_U64(json_number(text, "core/order_stalls_store"), stores);
    CHECK_EQUAL_U64(json_number(text, "core/order_stalls_atomic"), 0);
    CHECK(loads ? load_cycles > 100 : load_cycles == 0);
    CHECK(stores ? store_cycles > 100 : store_cycles == 0);
    /* one warp: whenever it has an order stall, nothing issues */
    CHECK_EQUAL_U64(json_number(text, "core/order_blocked_cycles"), load_cycles + store_cycles);
    CHECK((json_count(text, "histograms/core/order_stall") == 0) == (loads + stores == 0));
}

TEST(order_stalls_last_from_the_first_refusal_to_the_issue)
{
    static const gpc_instruction_t older[] = {STORE(CONSTANT(0), CONSTANT(1)), LOAD(R1, CONSTANT(7)),
                                              LOAD(R2, CONSTANT(8)), EXIT};
    expect_order_stalls(GPC_RULE_SC, older, GPC_COUNT_OF(older), 1, 1);
    expect_order_stalls(GPC_RULE_RC, older, GPC_COUNT_OF(older), 0, 0);
    expect_order_stalls(GPC_RULE_SC, fenced, GPC_COUNT_OF(fenced), 0,
                        1); /* the fence; the last store needs a register */
    expect_order_stalls(GPC_RULE_RC, fenced, GPC_COUNT_OF(fenced), 0, 1);
}

static uint64_t
bucket(const char *text, const char *histogram, uint32_t number)
{
    char path[80];
    (void) snprintf(path, sizeof(path), "%s/%" PRIu32, histogram, number);
    return json_number(text, path);
}

/* The first bucket that is not 0. */
static uint32_t
first_bucket(const char *text, const char *histogram)
{
    uint32_t number = 0, count = json_count(text, histogram);
    while (number < count && bucket(text, histogram, number) == 0) {
        number++;
    }
    return number;
}

TEST(latencies_fall_into_buckets_by_powers_of_two)
{
    gpc_histogram_t histogram = {{0}};
    static const uint64_t values[] = {0, 1, 2, 3, 4, 1023, 1024, UINT64_MAX};
    static const uint32_t buckets[] = {0, 1, 2, 2, 3, 10, 11, GPC_HISTOGRAM_BUCKETS - 1};
    for (size_t i = 0; i < GPC_COUNT_OF(values); i++) {
        uint64_t before = histogram.buckets[buckets[i]];
        gpc_histogram_add(&histogram, values[i]);
        CHECK_EQUAL_U64(histogram.buckets[buckets[i]], before + 1);
    }
    bench_t it = ran(GPC_RULE_RC, fenced, GPC_COUNT_OF(fenced));
    const char *text = statistics(&it);
    /* one load of 460 or more cycles, two stores of 340 or more */
    uint32_t first = first_bucket(text, "histograms/core/load_latency");
    CHECK(first == 9 || first == 10);
    CHECK_EQUAL_U64(json_count(text, "histograms/core/load_latency"), first + 1);
    CHECK_EQUAL_U64(bucket(text, "histograms/core/load_latency", first), 1);
    CHECK(first_bucket(text, "histograms/core/store_latency") >= 9);
    CHECK(json_count(text, "histograms/core/store_latency") > 9);
}

static void
expect_own_fences(const char *text, uint64_t fences)
{
    CHECK_EQUAL_U64(json_number(text, "counters/L1/fences"), fences);
    CHECK_EQUAL_U64(json_number(text, "counters/L1/nothing"), 0);
    CHECK_EQUAL_U64(json_count(text, "counters/L1"), 2);
    CHECK_EQUAL_U64(json_count(text, "counters/L2"), 0);
    CHECK_EQUAL_U64(json_count(text, "counters"), 2);
    CHECK_EQUAL_U64(json_count(text, "histograms/L1"), 1);
}

TEST(a_protocols_own_counts_are_reported_and_reset)
{
    bench_t it = ran(GPC_RULE_RC, fenced, GPC_COUNT_OF(fenced));
    const char *text = statistics(&it);
    expect_own_fences(text, 1);
    CHECK_EQUAL_U64(first_bucket(text, "histograms/L1/sizes"), 6);
    CHECK_EQUAL_U64(json_count(text, "histograms/L1/sizes"), 7);
    CHECK_EQUAL_U64(bucket(text, "histograms/L1/sizes", 6), 1);
    gpc_gpu_reset_statistics(it.gpu);
    text = statistics(&it);
    expect_own_fences(text, 0);
    CHECK_EQUAL_U64(json_count(text, "histograms/L1/sizes"), 0);
    CHECK_EQUAL_U64(json_count(text, "histograms/core/load_latency"), 0);
}

TEST(arrays_beside_the_cache_are_reported_with_their_size_and_look_ups)
{
    bench_t it = ran_under(&gpc_protocol_gpu_vini, GPC_RULE_RC, fenced, GPC_COUNT_OF(fenced));
    const char *text = statistics(&it);
    CHECK_EQUAL_U64(json_count(text, "storage/L1"), 0);
    CHECK(json_number(text, "storage/L2/directory/accesses") >=
          6); /* three requests and their memory's or sharers' answers */
    CHECK_EQUAL_U64(json_number(text, "storage/L2/directory/units"), test_fermi.partitions);
    CHECK(json_number(text, "storage/L2/directory/entries") > 0);
    uint64_t bits = json_number(text, "storage/L2/directory/bits");
    CHECK(bits > test_fermi.cores && bits < 64); /* tag, state and one bit per core */
}

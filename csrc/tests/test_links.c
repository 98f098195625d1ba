/* test_links.c: what protocols and machines declare of networks, in the whole machine: a star beside the interconnect,
 * multicasts, eight virtual networks, partitions with several ports. */
#include "explorations.h"
#include "gpu_bench.h"
#include "machine/parts.h"
#include "own_protocols.h"
#include "small_programs.h"

enum { WORDS = 1u << 14 };

/* ---- protocols of the package with other networks ---------------------------------------------------------------- */

#define GPC_PROTOCOL(name, file) extern const gpc_protocol_t gpc_protocol_##name;
GPC_PROTOCOL(no_l1, )
GPC_PROTOCOL(mesi, )
#undef GPC_PROTOCOL

static gpc_protocol_t on_star, wide, multicast, single;
static gpc_message_info_t wide_messages[32];

/* The protocol's networks become the last ones of eight. */
static gpc_protocol_t
widened(const gpc_protocol_t *protocol)
{
    gpc_protocol_t it = *protocol;
    uint32_t used = 0;
    while (used < GPC_MAX_NETWORKS && protocol->networks[used].name) {
        used++;
    }
    for (uint32_t i = 0; i < GPC_MAX_NETWORKS; i++) {
        it.networks[i] = (gpc_network_info_t){.name = "unused", .ordered = true};
    }
    memcpy(&it.networks[GPC_MAX_NETWORKS - used], protocol->networks, used * sizeof(*protocol->networks));
    memcpy(wide_messages, protocol->messages, protocol->num_messages * sizeof(*protocol->messages));
    for (uint32_t i = 0; i < protocol->num_messages; i++) {
        wide_messages[i].network = (uint8_t) (wide_messages[i].network + GPC_MAX_NETWORKS - used);
    }
    it.messages = wide_messages;
    return it;
}

static void
register_variants(void)
{
    register_own(&gpc_protocol_no_l1);
    on_star = gpc_protocol_no_l1;
    on_star.id = "on-star";
    on_star.options[0].standard = 0; /* fill=line: answers of 5 flits */
    multicast = single = gpc_protocol_mesi;
    multicast.id = "multicast";
    single.id = "single";
    for (uint32_t i = 0; i < GPC_MAX_NETWORKS && on_star.networks[i].name; i++) {
        on_star.networks[i].star = true;
    }
    for (uint32_t i = 0; i < GPC_MAX_NETWORKS && multicast.networks[i].name; i++) {
        multicast.networks[i].multicast = true;
    }
    wide = widened(&gpc_protocol_mesi);
    wide.id = "wide";
    register_own(&on_star);
    register_own(&multicast);
    register_own(&single);
    register_own(&wide);
}

static uint32_t
sum_of(const gpc_gpu_t *gpu, gpc_links_t links)
{
    uint32_t sum = 0;
    for (uint32_t type = 0; type < 256 && links < gpu->num_links; type++) {
        sum += (uint32_t) gpu->links[links].traffic[type].flit_hops;
    }
    return sum;
}

static const gpc_instruction_t store_word_0[] = {
    STORE(CONSTANT(0), CONSTANT(3)),
    EXIT,
};

/* ---- the star ---------------------------------------------------------------------------------------------------- */

TEST(messages_of_a_star_take_its_latency_and_clock)
{
    gpc_machine_t machine = test_fermi;
    machine.dram_model = 0;
    for (uint32_t latency = 4; latency <= 8; latency += 2) {
        machine.star_latency = latency;
        bench_t it = bench(&machine, named("on-star"), 1024);
        (void) load_to_use(&it, 1024, 1);
        /* there and back, in cycles of 700 MHz, beyond the interconnect's 4 that the round trip includes */
        CHECK_EQUAL_U64(load_to_use(&it, 1024, 1), 340 + 2 * 2 * (latency - 4));
        CHECK_EQUAL_U64(sum_of(it.gpu, GPC_INTERCONNECT), 0);
        CHECK(sum_of(it.gpu, GPC_STAR) > 0);
    }
    machine.star_latency = 8;
    machine.star_mhz = 1400; /* 8 cycles are 4 of the interconnect's; the answer of 5 flits ends earlier, too */
    bench_t it = bench(&machine, named("on-star"), 1024);
    (void) load_to_use(&it, 1024, 1);
    CHECK_EQUAL_U64(load_to_use(&it, 1024, 1), 340 - 4);
}

TEST(a_machine_without_star_networks_has_no_star)
{
    bench_t it = bench(&test_fermi, named("no-l1"), 1024);
    CHECK_EQUAL_U64(it.gpu->num_links, 1);
}

/* The crossbar pair has no link from bank to bank. */
TEST(a_message_that_no_link_carries_is_an_error)
{
    bench_t it = bench(&test_fermi, named("no-l1"), 1024);
    gpc_pool_t *messages = &it.gpu->messages;
    CHECK_EQUAL_I64(launch_program(&it, store_word_0, GPC_COUNT_OF(store_word_0), 1024, 1, 1), 0);
    gpc_index_t message = gpc_pool_take(messages);
    *gpc_msg_at(messages, message) = (gpc_msg_t){.type = GPC_MSG_OWN,
                                                 .source = 16,
                                                 .destination = 17,
                                                 .flits = 1,
                                                 .request = GPC_NONE,
                                                 .lanes = GPC_NONE,
                                                 .access = GPC_NONE};
    CHECK_EQUAL_I64(gpc_gpu_send(it.gpu, &it.gpu->controllers[16], message), GPC_ERROR_PROTOCOL);
    CHECK(strstr(gpc_gpu_error_text(it.gpu), "on network 'request': no link joins them") != NULL);
}

/* ---- eight virtual networks -------------------------------------------------------------------------------------- */

/* All threads add to one word, and each stores to its own: the end of the run checks that nothing is lost. */
static gpc_tick_t
ticks_of_atomics(const char *protocol)
{
    enum { GRID = 40, BLOCK = 96 };
    bench_t it = bench(&test_fermi, named(protocol), WORDS);
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, add_and_store, WORDS, GRID, BLOCK), 0);
    CHECK_EQUAL_I64(gpc_gpu_verify(it.gpu), 0);
    CHECK_EQUAL_U64(word_at(&it, 0), GRID * BLOCK);
    return gpc_wheel_now(&it.gpu->wheel);
}

TEST(eight_virtual_networks_run_as_fewer_do)
{
    CHECK_EQUAL_U64(ticks_of_atomics("wide"), ticks_of_atomics("single"));
}

static uint32_t
states_of_mp(const char *protocol)
{
    gpc_explore_t what = ASK(mp, .protocol = named(protocol), .rule = GPC_RULE_DEFAULT);
    return EXPLORE(&what);
}

TEST(the_explorer_takes_eight_virtual_networks)
{
    uint32_t states = states_of_mp("single");
    CHECK(states > 100);
    CHECK_EQUAL_U64(states_of_mp("wide"), states);
}

/* ---- multicasts -------------------------------------------------------------------------------------------------- */

static const gpc_instruction_t load_word_0[] = {
    READ(R1, BLOCK_X),
    LOAD(R0, CONSTANT(0)),
    OP(ADD, R0, R0, R0),
    EXIT,
};
/* Ticks of a launch that stores to a line that every L1 holds; the invalidations' traffic. */
static gpc_tick_t
ticks_of_invalidation(const char *protocol, gpc_traffic_t *invalidations)
{
    bench_t it = bench(&test_fermi, named(protocol), WORDS);
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, load_word_0, WORDS, 16, 32), 0);
    gpc_tick_t start = gpc_wheel_now(&it.gpu->wheel);
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, store_word_0, WORDS, 1, 1), 0);
    gpc_tick_t ticks = gpc_wheel_now(&it.gpu->wheel) - start;
    CHECK_EQUAL_U64(word_at(&it, 0), 3);
    for (uint32_t i = 0; i < it.gpu->protocol->num_messages; i++) {
        if (strcmp(it.gpu->protocol->messages[i].name, "INV") == 0) {
            *invalidations = *gpc_gpu_traffic(it.gpu, i);
        }
    }
    return ticks;
}

TEST(a_broadcast_on_a_multicast_network_injects_once)
{
    gpc_traffic_t one = {0}, all = {0};
    gpc_tick_t apart = ticks_of_invalidation("single", &all), together = ticks_of_invalidation("multicast", &one);
    CHECK(all.messages >= 15);
    CHECK_EQUAL_U64(all.flits, all.messages);
    CHECK_EQUAL_U64(one.messages, 1);
    CHECK_EQUAL_U64(one.flits, 1);
    CHECK_EQUAL_U64(one.flit_hops, all.flit_hops);
    CHECK(together < apart);
    CHECK(ticks_of_atomics("multicast") > 0);
}

/* ---- several ports ----------------------------------------------------------------------------------------------- */

/* Every thread loads eight lines' worth of words; the second launch finds all of them in the L2. */
static uint64_t
cycles_of_l2_hits(uint32_t partitions, uint32_t ports)
{
    static const gpc_instruction_t loads[] = {
        READ(R0, THREAD_X),           READ(R1, BLOCK_X),   READ(R2, BLOCK_DIM_X),        OP(MUL, R1, R1, R2),
        OP(ADD, R0, R0, R1),          LOAD(R1, R0),        OP(ADD, R0, R0, CONSTANT(8)), LOAD(R2, R0),
        OP(ADD, R0, R0, CONSTANT(8)), LOAD(R3, R0),        OP(ADD, R0, R0, CONSTANT(8)), LOAD(R4, R0),
        OP(ADD, R1, R1, R2),          OP(ADD, R1, R1, R3), OP(ADD, R1, R1, R4),          EXIT,
    };
    gpc_machine_t machine = test_fermi;
    machine.partitions = partitions;
    machine.l2_ports = ports;
    machine.l2_bytes = test_fermi.l2_bytes * 4 / partitions;
    machine.l2_mshrs = 512;
    machine.dram_channels = 4;
    bench_t it = bench(&machine, named("no-l1"), WORDS);
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, loads, WORDS, 32, 256), 0);
    uint64_t before = gpc_gpu_cycles(it.gpu);
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, loads, WORDS, 32, 256), 0);
    return gpc_gpu_cycles(it.gpu) - before;
}

TEST(one_partition_with_four_ports_has_the_bandwidth_of_four)
{
    uint64_t four = cycles_of_l2_hits(4, 1), narrow = cycles_of_l2_hits(1, 1), one = cycles_of_l2_hits(1, 4);
    printf("# cycles: 4 partitions %llu, 1 partition %llu, with 4 ports %llu\n", (unsigned long long) four,
           (unsigned long long) narrow, (unsigned long long) one);
    CHECK(narrow > 2 * four);
    CHECK(one < four + four / 10);
}

TEST(ports_out_of_range_are_refused)
{
    gpc_machine_t machine = test_fermi;
    machine.l2_ports = 17;
    expect_no_gpu(&machine, named("no-l1"), "l2_ports = 17: must be from 1 to 16");
    machine.l2_ports = 1;
    machine.star_latency = 0;
    expect_no_gpu(&machine, named("no-l1"), "star_latency = 0: must be from 1 to 1000");
}

BEFORE_TESTS
{
    register_variants();
}

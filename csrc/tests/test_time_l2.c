/* test_time_l2.c: how many requests does an L2 bank take a cycle, and how long are hits and answers on their way? The
 * clocks of cores, network and L2 are multiples of each other, so that every time is a whole number of core cycles. */
#include "gpu_bench.h"
#include "machine/parts.h"
#include "protocols/registry.h"

enum { WORDS = 1 << 12, WARPS = 24 };

/* One flit holds a line with its header: the network passes a message to the bank, and one from it, every core
 * cycle. */
static gpc_machine_t
machine_of(uint32_t l2_mhz, uint32_t ports)
{
    gpc_machine_t machine = test_fermi;
    machine.noc_mhz = machine.core_mhz;
    machine.l2_mhz = l2_mhz;
    machine.l2_ports = ports;
    machine.flit_bytes = 256;
    return machine;
}

static const gpc_instruction_t loads[] = {LOAD(R1, CONSTANT(0)), EXIT};

/* Core cycles in which the warps of a core load a word of a line that the L2 has: without L1s, a request each. */
static uint64_t
hits_of(const gpc_machine_t *machine, uint32_t warps)
{
    bench_t it = bench(machine, &gpc_protocol_no_l1, WORDS);
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, loads, WORDS, 1, 32), 0); /* the line is in the L2 now */
    uint64_t begin = gpc_gpu_cycles(it.gpu);
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, loads, WORDS, 1, 32 * warps), 0);
    return gpc_gpu_cycles(it.gpu) - begin;
}

/* The core issues a load a cycle, and the network delivers it as fast. A bank of p ports whose cycle is c core cycles
 * takes p requests in c: n more requests take n * c / p cycles more, and no less than n. */
TEST(ports_take_a_request_each_a_cycle)
{
    static const struct {
        uint32_t l2_mhz, ports, more;
    } cases[] = {{1400, 1, 1}, {1400, 2, 1}, {700, 1, 2}, {700, 2, 1}, {350, 1, 4}, {350, 2, 2}, {350, 4, 1}};
    for (uint32_t i = 0; i < GPC_COUNT_OF(cases); i++) {
        gpc_machine_t machine = machine_of(cases[i].l2_mhz, cases[i].ports);
        CHECK_EQUAL_U64(hits_of(&machine, 32) - hits_of(&machine, 16), 16 * cases[i].more);
    }
}

/* The bank is a pipeline: a longer one delays every answer by the difference, and the rate is the same. */
TEST(pipeline_delays_and_does_not_occupy)
{
    gpc_machine_t machine = machine_of(700, 1), longer = machine;
    longer.l2_round_trip += 64;
    longer.dram_round_trip += 64;
    for (uint32_t warps = 1; warps <= 32; warps *= 2) {
        CHECK_EQUAL_U64(hits_of(&longer, warps) - hits_of(&machine, warps), 64);
    }
}

/* A load that hits in the L2 is used after exactly `l2_round_trip` core cycles, where the clocks allow this number:
 * with an L2 cycle of two core cycles the next even one is met. */
TEST(pipeline_keeps_the_round_trip)
{
    static const uint32_t trips[] = {240, 242, 300, 340};
    for (uint32_t i = 0; i < GPC_COUNT_OF(trips); i++) {
        gpc_machine_t machine = test_fermi;
        machine.l2_round_trip = trips[i];
        bench_t it = bench(&machine, &gpc_protocol_no_l1, WORDS);
        CHECK_EQUAL_U64(load_to_use(&it, WORDS, 1), machine.dram_round_trip);
        CHECK_EQUAL_U64(load_to_use(&it, WORDS, 1), trips[i]);
        CHECK_EQUAL_U64(load_to_use(&it, WORDS, 0), trips[i] + 1); /* issued between two edges of the network */
    }
}

/* The L2's pipeline has whole cycles of its clock, and the fill takes what is left of the round trip: it is whole for
 * every network and L2 clock that has an edge where the load is issued. */
TEST(pipeline_keeps_the_round_trip_for_every_clock)
{
    static const uint32_t mhz[] = {700, 1400, 2100, 2800};
    for (uint32_t i = 0; i < 48; i++) {
        gpc_machine_t machine = test_fermi;
        machine.noc_mhz = mhz[i % 4];
        machine.l2_mhz = mhz[i / 4 % 4];
        machine.noc_latency = 4 + i / 16; /* the answer arrives at other fractions of a core cycle */
        bench_t it = bench(&machine, &gpc_protocol_no_l1, WORDS);
        (void) load_to_use(&it, WORDS, 1);
        CHECK_EQUAL_U64(load_to_use(&it, WORDS, 1), machine.l2_round_trip);
    }
}

/* A load that hits in the L1 is used after `l1_latency` core cycles. */
TEST(hit_takes_the_l1s_latency)
{
    static const uint32_t latencies[] = {1, 2, 30, 100};
    for (uint32_t i = 0; i < GPC_COUNT_OF(latencies); i++) {
        gpc_machine_t machine = test_fermi;
        machine.l1_latency = latencies[i];
        bench_t it = bench(&machine, &gpc_protocol_ideal, WORDS);
        (void) load_to_use(&it, WORDS, 1);
        CHECK_EQUAL_U64(load_to_use(&it, WORDS, 1), latencies[i]);
        CHECK_EQUAL_U64(load_to_use(&it, WORDS, 0), latencies[i]);
    }
}

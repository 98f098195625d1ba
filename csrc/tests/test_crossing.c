/* test_crossing.c: two halves of an L2 (l2_crossing): round trips of both halves, order, and every protocol's
 * results. */
#include "gpu_bench.h"
#include "machine/parts.h"
#include "protocols/registry.h"

/* Words and the constants that hold their numbers: of partition 0, in core 0's half, and of partition 4. */
enum { WORDS = 4096, NEAR = 0, FAR = 11, L2_HIT = 340 };

static gpc_machine_t
machine_with(uint32_t crossing)
{
    gpc_machine_t machine = test_fermi;
    machine.dram_model = 0;
    machine.l2_crossing = crossing;
    return machine;
}

static void
check_round_trips(uint32_t crossing, uint32_t topology)
{
    gpc_machine_t machine = machine_with(crossing);
    machine.topology = topology;
    bench_t it = bench(&machine, gpc_protocol_find("no-l1"), WORDS);
    uint32_t cold = machine.dram_round_trip;
    CHECK_EQUAL_U64(load_of(&it, NEAR, WORDS, 1), cold);
    CHECK_EQUAL_U64(load_of(&it, FAR, WORDS, 1), cold + crossing);
    CHECK_EQUAL_U64(load_of(&it, NEAR, WORDS, 1), L2_HIT);
    CHECK_EQUAL_U64(load_of(&it, FAR, WORDS, 1), L2_HIT + crossing);
    gpc_gpu_free(it.gpu);
}

TEST(crossing_makes_hits_and_misses_of_the_far_half_later)
{
    for (uint32_t crossing = 0; crossing <= 400; crossing += 100) {
        check_round_trips(crossing, GPC_TOPOLOGY_CROSSBAR);
        check_round_trips(crossing, GPC_TOPOLOGY_STAR);
    }
}

static gpc_msg_t
message_between(uint32_t from, uint32_t to, gpc_address_t line)
{
    return (gpc_msg_t){.source = (gpc_node_t) from, .destination = (gpc_node_t) to, .line = line};
}

static uint64_t
cycles_between(const gpc_gpu_t *gpu, uint32_t from, uint32_t to, gpc_address_t line)
{
    gpc_msg_t msg = message_between(from, to, line);
    return gpc_gpu_crossing_ticks(gpu, &msg) / gpu->core_clock.period;
}

/* An odd number of cycles is divided, and nothing is lost. */
TEST(crossing_is_shared_by_requests_and_answers)
{
    gpc_machine_t machine = machine_with(101);
    bench_t it = bench(&machine, gpc_protocol_find("mesi"), WORDS);
    const gpc_gpu_t *gpu = it.gpu;
    uint32_t first_bank = machine.cores, last_bank = machine.cores + machine.partitions - 1;
    CHECK_EQUAL_U64(cycles_between(gpu, 0, first_bank, 0), 0);
    CHECK_EQUAL_U64(cycles_between(gpu, 7, first_bank + 3, 0), 0);
    CHECK_EQUAL_U64(cycles_between(gpu, 8, first_bank + 3, 0), 51);
    CHECK_EQUAL_U64(cycles_between(gpu, 7, first_bank + 4, 0), 51);
    CHECK_EQUAL_U64(cycles_between(gpu, first_bank + 4, 7, 0), 50);
    CHECK_EQUAL_U64(cycles_between(gpu, first_bank, 8, 0), 50);
    CHECK_EQUAL_U64(cycles_between(gpu, 15, last_bank, 0), 0);
    /* from core to core by the home of the line: partition 0 */
    CHECK_EQUAL_U64(cycles_between(gpu, 0, 7, 0), 0);
    CHECK_EQUAL_U64(cycles_between(gpu, 0, 15, 0), 50);
    CHECK_EQUAL_U64(cycles_between(gpu, 15, 0, 0), 51);
    CHECK_EQUAL_U64(cycles_between(gpu, 15, 8, 0), 101);
    gpc_gpu_free(it.gpu);
}

TEST(every_protocol_stays_right_and_no_message_is_lost)
{
    gpc_machine_t machine = machine_with(220);
    for (uint32_t i = 0; i < gpc_protocol_count(); i++) {
        check_add_and_store(&machine, gpc_protocol_at(i));
    }
}

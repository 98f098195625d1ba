/* test_fence_trip.c: what does a release pay for its trip to the L2 (fence_trip)? */
#include "gpu_bench.h"
#include "machine/parts.h"
#include "protocols/registry.h"

enum { WORDS = 1 << 12 };

/* One clock, so that times are equal to the cycle. */
static gpc_machine_t
one_clock(uint32_t fence_trip)
{
    gpc_machine_t machine = test_fermi;
    machine.l2_mhz = machine.noc_mhz = machine.core_mhz;
    machine.fence_trip = fence_trip;
    return machine;
}

/* The L2's round trip, but for the cycles in which the line of a load's answer passes: a trip is one header. */
static uint32_t
trip_cycles(const gpc_machine_t *machine)
{
    uint32_t line_flits = (8 + machine->line_bytes + machine->flit_bytes - 1) / machine->flit_bytes;
    return machine->l2_round_trip - (line_flits - 1);
}

static gpc_instruction_t
fence_of(uint8_t scope)
{
    gpc_instruction_t fence = OP(FENCE, NONE, NONE, NONE);
    fence.order = GPC_ORDER_SC;
    fence.scope = scope;
    return fence;
}

/* Core cycles from one clock to the next, with the instruction between them; `stores` before it. */
static uint32_t
cycles_of(const gpc_machine_t *machine, const gpc_protocol_t *protocol, bool stores, gpc_instruction_t timed)
{
    gpc_instruction_t before = stores ? (gpc_instruction_t) STORE(CONSTANT(0), CONSTANT(1)) : (gpc_instruction_t) NOP;
    const gpc_instruction_t program[] = {
        STORE(CONSTANT(0), CONSTANT(1)), /* the L2 has the line */
        fence_of(GPC_SCOPE_CTA),         /* which makes no trip */
        READ(R0, CLOCK),
        before,
        timed,
        READ(R3, CLOCK),
        KEEP_CLOCKS(R0, R3),
        EXIT,
    };
    bench_t it = bench(machine, protocol, WORDS);
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, program, WORDS, 1, 1), 0);
    CHECK_EQUAL_I64(gpc_gpu_verify(it.gpu), 0);
    return cycles_kept(&it);
}

/* How much longer it takes with the trip. */
static uint32_t
trip_of(const gpc_protocol_t *protocol, bool stores, gpc_instruction_t timed)
{
    gpc_machine_t with = one_clock(1), without = one_clock(0);
    return cycles_of(&with, protocol, stores, timed) - cycles_of(&without, protocol, stores, timed);
}

TEST(trip_makes_a_wide_fence_one_round_trip_longer_under_every_protocol)
{
    gpc_machine_t machine = one_clock(1);
    uint32_t travel = 0;
    for (uint32_t i = 0; i < gpc_protocol_count(); i++) {
        const gpc_protocol_t *protocol = gpc_protocol_at(i);
        uint32_t expected = protocol->order.release_travels ? 0 : trip_cycles(&machine);
        travel += protocol->order.release_travels;
        CHECK_EQUAL_U64(trip_of(protocol, false, fence_of(GPC_SCOPE_GPU)), expected);
        CHECK_EQUAL_U64(trip_of(protocol, false, fence_of(GPC_SCOPE_CTA)), 0);
        uint32_t after_a_store = trip_of(protocol, true, fence_of(GPC_SCOPE_SYS));
        CHECK(after_a_store - expected <= 1); /* the store's last message may take the link before the trip */
        CHECK_EQUAL_U64(trip_of(protocol, true, fence_of(GPC_SCOPE_CTA)), 0);
    }
    CHECK_EQUAL_U64(travel, 2);
}

TEST(trip_is_made_by_releases_and_no_other_accesses)
{
    gpc_machine_t machine = one_clock(1);
    const gpc_protocol_t *protocol = &gpc_protocol_gpu_hrf;
    gpc_instruction_t store = STORE(CONSTANT(1), CONSTANT(1)), load = LOAD(R1, CONSTANT(1));
    gpc_instruction_t barrier = OP(BARRIER, NONE, CONSTANT(0), NONE);

    CHECK_EQUAL_U64(trip_of(protocol, true, store), 0);
    store.order = GPC_ORDER_RELEASE;
    CHECK_EQUAL_U64(trip_of(protocol, true, store), trip_cycles(&machine));
    load.order = GPC_ORDER_ACQUIRE;
    CHECK_EQUAL_U64(trip_of(protocol, true, load), 0);
    load.order = GPC_ORDER_SC;
    CHECK_EQUAL_U64(trip_of(protocol, true, load), trip_cycles(&machine));
    CHECK_EQUAL_U64(trip_of(protocol, true, barrier), 0);
    barrier.order = GPC_ORDER_ACQ_REL;
    CHECK_EQUAL_U64(trip_of(protocol, true, barrier), trip_cycles(&machine));
}

static uint32_t arrivals[GPC_MAX_BANKS];

static int
count_arrival(void *world, gpc_node_t node, uint32_t network)
{
    const gpc_gpu_t *gpu = world;
    if (node >= gpu->machine.cores) {
        arrivals[node - gpu->machine.cores]++;
    }
    return gpc_gpu_arrived(world, node, network);
}

/* Of two cores, each with a fence for each partition. */
TEST(trip_goes_to_all_partitions_one_after_another)
{
    gpc_machine_t machine = one_clock(1);
    gpc_instruction_t program[9];
    for (uint32_t i = 0; i < 8; i++) {
        program[i] = fence_of(GPC_SCOPE_GPU);
    }
    program[8] = (gpc_instruction_t) EXIT;
    bench_t it = bench(&machine, &gpc_protocol_gpu_hrf, WORDS);
    CHECK_EQUAL_U64(machine.partitions, 8);
    memset(arrivals, 0, sizeof(arrivals));
    it.gpu->links[GPC_INTERCONNECT].hooks.arrived = count_arrival;
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, program, WORDS, 2, 1), 0);
    for (uint32_t bank = 0; bank < machine.partitions; bank++) {
        CHECK_EQUAL_U64(arrivals[bank], 2);
    }
    CHECK_EQUAL_U64(gpc_gpu_trip_traffic(it.gpu).messages, 2 * 2 * 8);
    CHECK_EQUAL_U64(gpc_gpu_trip_traffic(it.gpu).flits, 2 * 2 * 8);
    CHECK_EQUAL_U64(gpc_gpu_trip_traffic(it.gpu).bytes, 2 * 2 * 8 * 8);
    for (uint32_t core = 0; core < 2; core++) {
        CHECK_EQUAL_U64(it.gpu->queues[core].trips, 8);
    }
}

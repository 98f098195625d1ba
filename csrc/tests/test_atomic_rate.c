/* test_atomic_rate.c: how many operations are the lanes of an atomic request, and how long do they occupy the L2
 * (atomic_lanes, atomic_cycles)? */
#include "gpu_bench.h"
#include "machine/parts.h"
#include "protocols/registry.h"

enum { WORDS = 1 << 12, WARPS = 24, LANES = 32 };

static const gpc_instruction_t adds[] = {ATOMIC_ADD(NONE, CONSTANT(0), CONSTANT(1)), EXIT};

typedef struct {
    uint64_t cycles, operations;
} found_t;

/* Every warp of one block adds 1 to word 0 in `lanes` lanes. */
static found_t
add_once(const gpc_protocol_t *protocol, uint32_t lanes, uint32_t merged, uint32_t cycles, uint32_t ports)
{
    gpc_machine_t machine = test_fermi;
    found_t found = {0, 0};

    machine.l2_mhz = machine.noc_mhz = machine.core_mhz;
    machine.flit_bytes = 256;
    machine.atomic_lanes = merged;
    machine.atomic_cycles = cycles;
    machine.l2_ports = ports;
    bench_t it = bench(&machine, protocol, WORDS);
    for (uint32_t launch = 0; launch < 2; launch++) { /* the first one fills the L2 */
        found.cycles = gpc_gpu_cycles(it.gpu) - found.cycles;
        CHECK_EQUAL_I64(
            RUN_PROGRAM(&it, adds, WORDS, lanes == LANES ? 1 : WARPS, lanes == LANES ? WARPS * LANES : lanes), 0);
    }
    CHECK_EQUAL_I64(gpc_gpu_verify(it.gpu), 0);
    CHECK_EQUAL_U64(word_at(&it, 0), 2 * WARPS * lanes);
    found.cycles = gpc_gpu_cycles(it.gpu) - found.cycles;
    for (uint32_t bank = 0; bank < machine.partitions; bank++) {
        found.operations += it.gpu->queues[machine.cores + bank].atomics;
    }
    found.operations /= 2;
    return found;
}

TEST(atomics_merge_lanes_into_operations)
{
    const gpc_protocol_t *protocol = &gpc_protocol_gpu_hrf;
    CHECK_EQUAL_U64(add_once(protocol, LANES, 16, 0, 1).operations, WARPS * 2);
    CHECK_EQUAL_U64(add_once(protocol, LANES, 5, 0, 1).operations, WARPS * 7);
    CHECK_EQUAL_U64(add_once(protocol, LANES, 0, 1, 1).operations, WARPS);
    CHECK_EQUAL_U64(add_once(protocol, 17, 16, 0, 1).operations, WARPS * 2);
    CHECK_EQUAL_U64(add_once(protocol, 16, 16, 0, 1).operations, WARPS);
    CHECK_EQUAL_U64(add_once(protocol, LANES, 16, 0, 1).cycles, add_once(protocol, LANES, 0, 0, 1).cycles);
    CHECK_EQUAL_U64(add_once(&gpc_protocol_mesi, LANES, 16, 1, 1).operations, 0); /* its L1 performs them */
}

/* The first request is taken at once, and each one behind it when those before it have occupied the bank. */
TEST(atomics_occupy_the_bank)
{
    static const struct {
        uint32_t merged, operations;
    } cases[] = {{0, 1}, {16, 2}, {8, 4}};
    for (uint32_t i = 0; i < GPC_COUNT_OF(cases); i++) {
        uint64_t ten = add_once(&gpc_protocol_gpu_hrf, LANES, cases[i].merged, 10, 1).cycles,
                 forty = add_once(&gpc_protocol_gpu_hrf, LANES, cases[i].merged, 40, 1).cycles,
                 ports = add_once(&gpc_protocol_gpu_hrf, LANES, cases[i].merged, 80, 2).cycles;
        CHECK_EQUAL_U64(forty - ten, (WARPS - 1) * cases[i].operations * 30);
        CHECK(ports - forty <= 1); /* of two ports each performs its share */
    }
}

/* Requests that arrive one per cycle, of two operations each: two ports perform them as they arrive. */
TEST(atomics_use_ports_without_an_input)
{
    const gpc_protocol_t *protocol = &gpc_protocol_gpu_hrf;
    CHECK_EQUAL_U64(add_once(protocol, LANES, 16, 1, 2).cycles, add_once(protocol, LANES, 0, 1, 2).cycles);
}

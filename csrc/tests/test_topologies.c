/* test_topologies.c: the whole machine on every network and with both memory models: data, messages, latencies. */
#include "fabric/network_parts.h"
#include "gpu_bench.h"
#include "machine/parts.h"
#include "protocols/registry.h"

enum { CROSSBAR, MESH, STAR, FIXED = 0, BANKS = 1 };

static gpc_machine_t
machine_with(uint32_t topology, uint32_t dram_model)
{
    gpc_machine_t machine = test_fermi;
    machine.topology = topology;
    machine.dram_model = dram_model;
    return machine;
}

static void
check_atomics(const gpc_machine_t *machine, const char *protocol)
{
    enum { GRID = 40, BLOCK = 96, THREADS = GRID * BLOCK };
    static uint32_t words[THREADS + 32];
    static bool seen[THREADS];
    bench_t it = bench(machine, gpc_protocol_find(protocol), THREADS + 32);
    bool once = true;

    /* the end of the run checks that every message, buffer and credit is free */
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, add_and_store, THREADS + 32, GRID, BLOCK), 0);
    CHECK_EQUAL_I64(gpc_gpu_verify(it.gpu), 0);
    CHECK_EQUAL_I64(gpc_gpu_host_read(it.gpu, it.address, THREADS + 32, words), 0);
    CHECK_EQUAL_U64(words[0], THREADS);
    memset(seen, 0, sizeof(seen));
    for (uint32_t t = 0; t < THREADS; t++) {
        uint32_t old = words[32 + t];
        once = once && old < THREADS && !seen[old];
        seen[old < THREADS ? old : 0] = true;
    }
    CHECK(once);
}

TEST(every_topology_and_memory_counts_every_thread_once)
{
    static const char *const protocols[] = {"no-l1", "no-coh", "ideal"};
    for (uint32_t topology = CROSSBAR; topology <= STAR; topology++) {
        for (uint32_t model = FIXED; model <= BANKS; model++) {
            gpc_machine_t machine = machine_with(topology, model);
            for (uint32_t i = 0; i < GPC_COUNT_OF(protocols); i++) {
                check_atomics(&machine, protocols[i]);
            }
        }
    }
}

TEST(tiny_buffers_and_queues_lose_nothing)
{
    for (uint32_t topology = CROSSBAR; topology <= STAR; topology++) {
        gpc_machine_t machine = machine_with(topology, BANKS);
        machine.vc_flits = 1;
        machine.dram_queue = 1;
        machine.l2_bytes = 8192;
        machine.l2_mshrs = 1;
        check_atomics(&machine, "ideal");
    }
}

TEST(round_trips_are_the_machines_over_every_topology)
{
    static const char *const protocols[] = {"no-l1", "no-coh", "ideal"};
    for (uint32_t i = 0; i < 9; i++) {
        gpc_machine_t machine = machine_with(CROSSBAR + i / 3, FIXED);
        bench_t it = bench(&machine, gpc_protocol_find(protocols[i % 3]), 1024);
        CHECK_EQUAL_U64(load_to_use(&it, 1024, 1), 460);
        if (i % 3 == 0) {
            CHECK_EQUAL_U64(load_to_use(&it, 1024, 1), 340);
            CHECK_EQUAL_U64(load_to_use(&it, 1024, 0), 341); /* half a network cycle late */
        }
    }
}

TEST(a_mesh_adds_its_links_in_both_directions)
{
    enum { WORD_64 = 6, LINKS = 2, CORE_CYCLES_A_NETWORK_CYCLE = 2 };
    gpc_machine_t machine = machine_with(MESH, FIXED);
    bench_t it = bench(&machine, &gpc_protocol_no_l1, 1024);
    /* word 64 is bank 1's, one link to the east */
    CHECK_EQUAL_U64(load_of(&it, WORD_64, 1024, 1), 460 + LINKS * machine.noc_latency * CORE_CYCLES_A_NETWORK_CYCLE);
}

TEST(a_row_hit_is_shorter_by_the_activation_alone)
{
    enum { WORD_512 = 8 };
    gpc_machine_t machine = machine_with(CROSSBAR, BANKS);
    bench_t it = bench(&machine, &gpc_protocol_no_l1, 1024);
    CHECK_EQUAL_U64(load_to_use(&it, 1024, 1), 460);                            /* row closed */
    CHECK_EQUAL_U64(load_to_use(&it, 1024, 1), 340);                            /* L2 hit */
    CHECK_EQUAL_U64(load_of(&it, WORD_512, 1024, 1), 460 - machine.dram_t_rcd); /* two lines later in channel 0 */
}

TEST(a_round_trip_shorter_than_the_timings_is_refused)
{
    enum { CLOSED_ROW = 12 + 3 * 2 + 12 + 2 }; /* DRAM cycles, here core cycles */
    gpc_machine_t machine = machine_with(CROSSBAR, BANKS);
    machine.dram_round_trip = 340 + CLOSED_ROW - 1;
    expect_no_gpu(&machine, &gpc_protocol_ideal, "dram_round_trip = 371 core cycles: must be at least 372");
    machine.dram_round_trip = 340 + CLOSED_ROW;
    bench_t it = bench(&machine, &gpc_protocol_no_l1, 1024);
    CHECK_EQUAL_U64(load_to_use(&it, 1024, 1), 372);
}

static void
check_loss(bench_t *it, const char *text)
{
    CHECK_EQUAL_I64(gpc_gpu_verify(it->gpu), GPC_ERROR_CONSERVATION);
    CHECK(strstr(gpc_gpu_error_text(it->gpu), text) != NULL);
}

/* What a network counts twice and what no one receives. */
TEST(conservation_names_the_network_that_lost_messages_or_flits)
{
    for (uint32_t topology = CROSSBAR; topology <= STAR; topology++) {
        gpc_machine_t machine = machine_with(topology, FIXED);
        bench_t it = bench(&machine, &gpc_protocol_no_l1, 1024);
        gpc_network_t *network = &it.gpu->links[GPC_INTERCONNECT];
        (void) load_of(&it, 6, 1024, 1);
        CHECK_EQUAL_I64(gpc_gpu_verify(it.gpu), 0);
        CHECK(gpc_network_link_flits(network) > 0);
        network->traffic[GPC_MSG_OWN].flit_hops++;
        check_loss(&it, "flits on the links of network 0 after the launch: ");
        network->traffic[GPC_MSG_OWN].flit_hops--;
        network->parts->state->in_flight++;
        check_loss(&it, "messages sent and not received on network 0 after the launch: 1");
        gpc_network_clear(network);
        CHECK_EQUAL_I64(gpc_gpu_verify(it.gpu), 0); /* the links' flits remain counted */
    }
}

/* Partitions and sets that are no power of two, more partitions than a word has bits, and the most. */
TEST(any_number_of_partitions_and_sets_counts_every_thread_once)
{
    static const char *const protocols[] = {"mesi", "tc-weak", "gpu-hrf"};
    static const uint32_t partitions[] = {3, 80, 96, 128};
    for (uint32_t i = 0; i < 12; i++) {
        gpc_machine_t machine = machine_with(CROSSBAR, BANKS);
        machine.partitions = partitions[i / 3];
        machine.l1_bytes = 3 * 4 * 128;
        machine.l2_bytes = 5 * 8 * 128;
        machine.vc_flits = 8;
        check_atomics(&machine, protocols[i % 3]);
    }
}

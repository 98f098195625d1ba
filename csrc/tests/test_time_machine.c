/* test_time_machine.c: how many cycles do launches, controllers' queues and the machine's units take? Computed by hand,
 * on machines of one clock unless a test says otherwise. The name of each test begins with that of its unit. */
#include "fresh.h"
#include "gpu_bench.h"
#include "json.h"
#include "machine/parts.h"
#include "protocols/registry.h"

enum { WORDS = 1 << 12 };

/* All clocks are the cores': times are equal to the cycle. A message is one flit. */
static gpc_machine_t
one_clock(void)
{
    gpc_machine_t machine = test_fermi;
    machine.dram_model = 0;
    machine.l2_mhz = machine.noc_mhz = machine.dram_mhz = machine.core_mhz;
    machine.flit_bytes = 256;
    return machine;
}

static const gpc_instruction_t nops[] = {NOP, NOP, NOP, NOP, NOP, EXIT};
static const gpc_instruction_t loads[] = {LOAD(R1, CONSTANT(0)), MOVE(R2, R1), EXIT};

static uint64_t
cycles_of(bench_t *it, const gpc_instruction_t *program, uint32_t count, uint32_t grid, uint32_t block)
{
    uint64_t before = gpc_gpu_cycles(it->gpu);
    CHECK_EQUAL_I64(run(it, program, count, WORDS, grid, block), 0);
    return gpc_gpu_cycles(it->gpu) - before;
}

static uint64_t
statistic(const gpc_gpu_t *gpu, const char *path)
{
    gpc_text_t *text = fresh_text();
    CHECK_EQUAL_I64(gpc_gpu_statistics(gpu, text), 0);
    uint64_t value = json_number(text->bytes, path);
    return value;
}

/* ---- launch ------------------------------------------------------------------------------------------------------ */

/* The first instruction issues after the latency, the sixth five cycles later. */
TEST(launch_takes_its_latency)
{
    for (uint32_t latency = 0; latency < 300; latency += 100) {
        gpc_machine_t machine = one_clock();
        machine.launch_latency = latency;
        bench_t it = bench(&machine, &gpc_protocol_no_l1, WORDS);
        CHECK_EQUAL_U64(cycles_of(&it, nops, GPC_COUNT_OF(nops), 1, 32), latency + 5);
        CHECK_EQUAL_U64(cycles_of(&it, nops, GPC_COUNT_OF(nops), 1, 32), latency + 5);
        CHECK_EQUAL_U64(statistic(it.gpu, "stalls/launch"), 2 * (latency + 16 * 6 - 6 + 15 * latency));
    }
}

/* Core cycles of 1/1400 us, those of L2 and network of 1/1000 us: common edges are each 7 core cycles. A launch lasts 5
 * cycles. */
TEST(launch_begins_at_an_edge_of_all_clocks)
{
    gpc_machine_t machine = one_clock();
    machine.l2_mhz = machine.noc_mhz = 1000;
    bench_t it = bench(&machine, &gpc_protocol_no_l1, WORDS);
    for (uint32_t i = 0; i < 4; i++) {
        CHECK_EQUAL_U64(cycles_of(&it, nops, GPC_COUNT_OF(nops), 1, 32), 5);
        CHECK_EQUAL_U64(it.gpu->state->launched, i * 7 * it.gpu->core_clock.period);
    }
}

static const gpc_instruction_t forever[] = {TO(0), EXIT};

TEST(launch_ends_when_its_budget_is_exceeded)
{
    for (uint64_t budget = 4; budget <= 6; budget++) {
        gpc_machine_t machine = one_clock();
        gpc_setup_t setup = {
            .machine = &machine, .protocol = &gpc_protocol_no_l1, .rule = GPC_RULE_DEFAULT, .budget = budget};
        bench_t it = bench_made(&setup, WORDS);
        CHECK_EQUAL_I64(RUN_PROGRAM(&it, nops, WORDS, 1, 32), budget < 5 ? GPC_ERROR_BUDGET : 0);
        CHECK_EQUAL_U64(gpc_gpu_cycles(it.gpu), 5);
    }
}

/* A pause at cycle n leaves n cycles counted, and n instructions issued, in cycles 0 to n - 1. */
TEST(launch_pauses_before_its_cycle)
{
    gpc_machine_t machine = one_clock();
    bench_t it = bench(&machine, &gpc_protocol_no_l1, WORDS);
    CHECK_EQUAL_I64(launch_program(&it, forever, GPC_COUNT_OF(forever), WORDS, 1, 32), 0);
    for (uint64_t at = 10; at < 13; at++) {
        CHECK_EQUAL_I64(gpc_gpu_pause_at(it.gpu, at), 0);
        CHECK_EQUAL_I64(gpc_gpu_run(it.gpu, 1000), GPC_RUN_MORE);
        CHECK(gpc_gpu_is_paused(it.gpu));
        CHECK_EQUAL_U64(gpc_gpu_cycles(it.gpu), at);
        CHECK_EQUAL_U64(gpc_gpu_instructions(it.gpu), at);
        CHECK_EQUAL_U64(it.gpu->cores.statistics[0].active_cycles, at);
        CHECK_EQUAL_U64(it.gpu->cores.statistics[1].stall_launch, at);
    }
}

/* ---- latency ----------------------------------------------------------------------------------------------------- */

/* A load of the L2 or of a closed row of memory takes its round trip whatever the clocks and the model of memory, if it
 * issues at an edge of all clocks. 347 cycles are no whole number of cycles of a slow L2. An L2 of 1000 MHz takes a
 * fill at its next edge, here 3/5 of a core cycle later: instead of in cycle 345.8 + 124 its answer is back in 470.4,
 * which counts as 471, and there is a cycle of fill. */
TEST(latency_is_the_round_trip_at_every_clock)
{
    static const struct {
        uint32_t l2, noc, dram, edge, memory;
    } mhz[] = {{1400, 1400, 1400, 4, 471},
               {700, 700, 1400, 4, 471},
               {350, 1400, 700, 4, 471},
               {1400, 350, 1400, 4, 471},
               {1000, 1000, 1400, 7, 472}};
    for (uint32_t i = 0; i < GPC_COUNT_OF(mhz); i++) {
        for (uint32_t model = 0; model < 3; model++) {
            gpc_machine_t machine = one_clock();
            machine.l2_round_trip = 347;
            machine.dram_round_trip = 471;
            machine.dram_model = model;
            machine.l2_mhz = mhz[i].l2;
            machine.noc_mhz = mhz[i].noc;
            machine.dram_mhz = mhz[i].dram;
            bench_t it = bench(&machine, &gpc_protocol_no_l1, WORDS);
            CHECK_EQUAL_U64(load_to_use(&it, WORDS, mhz[i].edge - 1), mhz[i].memory);
            CHECK_EQUAL_U64(load_to_use(&it, WORDS, mhz[i].edge - 1), 347);
        }
    }
}

/* ---- trip -------------------------------------------------------------------------------------------------------- */

/* A fence in cycle 4, with nothing to wait for but its trip to the L2 and back, which takes as long as a load's. */
TEST(trip_takes_the_round_trip_of_a_load)
{
    gpc_instruction_t fence = OP(FENCE, NONE, NONE, NONE);
    fence.order = GPC_ORDER_SC;
    for (uint32_t trips = 0; trips < 2; trips++) {
        gpc_instruction_t program[] = {NOP, NOP, NOP, NOP, fence, EXIT};
        gpc_machine_t machine = one_clock();
        machine.l2_mhz = 350;
        machine.l2_round_trip = 343;
        machine.fence_trip = trips;
        bench_t it = bench(&machine, &gpc_protocol_no_l1, WORDS);
        CHECK_EQUAL_U64(cycles_of(&it, program, GPC_COUNT_OF(program), 1, 32), 4 + (trips ? 343 : 0) + 1);
    }
}

/* ---- bank -------------------------------------------------------------------------------------------------------- */

/* Cycles of `warps` loads per core by two cores, of words that one bank has. */
static uint64_t
cycles_of_hits(uint32_t ports, uint32_t warps)
{
    gpc_machine_t machine = one_clock();
    machine.l2_mhz = 175; /* the network brings more than the bank takes */
    machine.l2_ports = ports;
    bench_t it = bench(&machine, &gpc_protocol_no_l1, WORDS);
    (void) cycles_of(&it, loads, GPC_COUNT_OF(loads), 2, 32);
    uint64_t cycles = cycles_of(&it, loads, GPC_COUNT_OF(loads), 2, 32 * warps);
    CHECK_EQUAL_U64(it.gpu->queues[machine.cores].used, 2 + 1 + 2 * warps); /* and the fill */
    return cycles;
}

/* A bank takes an input per port and cycle of its clock, which lasts 8 core cycles: 16 more loads of two cores. */
TEST(bank_takes_as_many_inputs_as_it_has_ports)
{
    CHECK_EQUAL_U64(cycles_of_hits(1, 24) - cycles_of_hits(1, 16), 16 * 8);
    CHECK_EQUAL_U64(cycles_of_hits(2, 24) - cycles_of_hits(2, 16), 16 / 2 * 8);
    CHECK_EQUAL_U64(cycles_of_hits(4, 24) - cycles_of_hits(4, 16), 16 / 4 * 8);
}

/* Block 0 loads a line from memory, block 1 one that the same bank has, `delay` cycles later; the cycles of each. */
static void
load_beside_a_fill(uint32_t delay, uint32_t *cycles)
{
    const gpc_instruction_t program[] = {READ(R0, BLOCK_X),
                                         OP(MUL, R1, R0, CONSTANT(OWN_CONSTANT)),
                                         OP(SUB, R2, CONSTANT(1), R0),
                                         OP(MUL, R2, R2, CONSTANT(8)),       /* word 512 or 0 */
                                         OP(SLEEP, NONE, CONSTANT(6), NONE), /* the registers are ready */
                                         OP(SLEEP, NONE, R1, NONE),
                                         READ(R3, CLOCK),
                                         LOAD(R1, R2),
                                         MOVE(R5, R1),
                                         READ(R4, CLOCK),
                                         OP(SUB, R4, R4, R3),
                                         OP(MUL, R2, R0, CONSTANT(6)),
                                         OP(ADD, R2, R2, CONSTANT(9)), /* word 896 or 960 */
                                         STORE(R2, R4),
                                         EXIT};
    gpc_machine_t machine = one_clock();
    bench_t it = bench(&machine, &gpc_protocol_no_l1, WORDS);
    (void) cycles_of(&it, loads, GPC_COUNT_OF(loads), 1, 1);
    bench_constants[OWN_CONSTANT] = delay;
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, program, WORDS, 2, 1), 0);
    for (uint32_t block = 0; block < 2; block++) {
        CHECK_EQUAL_I64(gpc_gpu_host_read(it.gpu, it.address + 4 * (896 + 64 * block), 1, &cycles[block]), 0);
        cycles[block] -= 2; /* from load to use */
    }
}

/* Memory's line arrives at the bank 460 - 340 cycles after the request that missed. The fill goes before the request
 * that arrives in the same cycle, which waits for a cycle; no other does. Block 0's second sleep takes a cycle, too. */
TEST(bank_takes_a_fill_before_a_request)
{
    for (uint32_t delay = 110; delay < 130; delay++) {
        uint32_t cycles[2] = {0, 0};
        load_beside_a_fill(delay, cycles);
        CHECK_EQUAL_U64(cycles[0], test_fermi.dram_round_trip);
        CHECK_EQUAL_U64(cycles[1], test_fermi.l2_round_trip + (delay == 121));
    }
}

/* ---- outbox ------------------------------------------------------------------------------------------------------ */

/* Messages that a controller may send before an outbox is full: 8, and one per port and stage of its pipeline and of
 * the crossing. */
static uint32_t
places_of(uint32_t ports, uint32_t crossing, bool of_bank)
{
    gpc_machine_t machine = one_clock();
    machine.l2_ports = ports;
    machine.l2_crossing = crossing;
    machine.l2_mhz = 700;
    bench_t it = bench(&machine, &gpc_protocol_no_l1, WORDS);
    gpc_controller_t *unit = &it.gpu->controllers[of_bank ? machine.cores : 0];
    uint8_t network = gpc_gpu_network_for(it.gpu, !of_bank);
    uint32_t sent = 0;
    while (gpc_gpu_has_room(it.gpu, unit, network)) {
        gpc_index_t message = gpc_gpu_inner_message(it.gpu, unit, GPC_MSG_TRIP, 0);
        gpc_msg_at(&it.gpu->messages, message)->network = network;
        gpc_msg_at(&it.gpu->messages, message)->destination = (gpc_node_t) (of_bank ? 0 : machine.cores);
        gpc_msg_at(&it.gpu->messages, message)->ready = 1000; /* stays in the outbox */
        CHECK_EQUAL_I64(gpc_gpu_send(it.gpu, unit, message), 0);
        sent++;
    }
    uint32_t stages = gpc_gpu_service(it.gpu, unit->node)->pipeline_stages;
    gpc_gpu_abort(it.gpu);
    return of_bank ? sent - ports * stages : sent;
}

TEST(outbox_is_full_when_pipeline_and_limit_are)
{
    CHECK_EQUAL_U64(places_of(1, 0, false), 8);
    CHECK_EQUAL_U64(places_of(1, 0, true), 8);
    CHECK_EQUAL_U64(places_of(2, 0, true), 8);
    CHECK_EQUAL_U64(places_of(1, 100, true), 8 + 50);
    CHECK_EQUAL_U64(places_of(2, 101, true), 8 + 2 * 51);
    CHECK_EQUAL_U64(places_of(2, 101, false), 8 + 101); /* at the cores' clock; an L1 counts as one port */
}

/* ---- busy -------------------------------------------------------------------------------------------------------- */

/* Numbers of a list of the group "busy", and their sum. */
static void
check_list(const gpc_gpu_t *gpu, const char *name, uint32_t count, uint64_t sum)
{
    gpc_text_t *text = fresh_text();
    gpc_gpu_add_busy(gpu, text);
    const char *at = strstr(text->bytes, name);
    REQUIRE(at != NULL);
    uint64_t found = 0;
    uint32_t numbers = 0;
    for (at = strchr(at, '[') + 1; *at != ']'; numbers++) {
        char *end;
        found += strtoull(at, &end, 10);
        at = end + strspn(end, ", ");
    }
    CHECK_EQUAL_U64(numbers, count);
    CHECK_EQUAL_U64(found, sum);
}

/* 12 warps of 3 instructions on core 0 load word 0: one miss and 11 more requests of bank 0, one line of memory. */
TEST(busy_counts_the_cycles_of_each_unit)
{
    gpc_machine_t machine = one_clock();
    machine.l2_mhz = 700;
    machine.issue_cycles = 2;
    bench_t it = bench(&machine, &gpc_protocol_no_l1, WORDS);
    (void) cycles_of(&it, loads, GPC_COUNT_OF(loads), 1, 12 * 32);
    CHECK_EQUAL_U64(statistic(it.gpu, "busy/issue/0"), 12 * 3 * 2);
    CHECK_EQUAL_U64(statistic(it.gpu, "busy/issue/1"), 0);
    CHECK_EQUAL_U64(statistic(it.gpu, "busy/l1/0"), 12);
    CHECK_EQUAL_U64(statistic(it.gpu, "busy/l2/0"), (12 + 1) * 2); /* requests, and the fill, of 2 core cycles each */
    CHECK_EQUAL_U64(statistic(it.gpu, "busy/l2/1"), 0);
    CHECK_EQUAL_U64(statistic(it.gpu, "busy/dram/0"), 128 / 16); /* bytes, at 16 per cycle */
    check_list(it.gpu, "issue", 16, 12 * 3 * 2);
    check_list(it.gpu, "l1", 16, 12);
    check_list(it.gpu, "l2", 8, (12 + 1) * 2);
    check_list(it.gpu, "network", 16 + 8, 2 * 12); /* requests and answers of a flit each */
    check_list(it.gpu, "dram", 8, 8);
    gpc_gpu_reset_statistics(it.gpu);
    check_list(it.gpu, "l2", 8, 0);
    check_list(it.gpu, "network", 16 + 8, 0);
    check_list(it.gpu, "dram", 8, 0);

    machine.issue_width = 2;
    machine.l2_ports = 4;
    machine.l1_bytes_per_cycle = 64;
    it = bench(&machine, &gpc_protocol_no_l1, WORDS);
    (void) cycles_of(&it, loads, GPC_COUNT_OF(loads), 1, 12 * 32);
    CHECK_EQUAL_U64(statistic(it.gpu, "busy/issue/0"), 12 * 3 * 2 / 2);
    CHECK_EQUAL_U64(statistic(it.gpu, "busy/l1/0"), 12);         /* of a word each: 64 bytes pass */
    CHECK_EQUAL_U64(statistic(it.gpu, "busy/l2/0"), 13 * 2 / 4); /* ports */

    /* a request occupies one of 2 banks for bank_cycles, or t_rc from row to row, if that is longer than its
     * transfer */
    for (uint32_t model = 1; model <= 2; model++) {
        machine.dram_model = model;
        machine.dram_banks = 2;
        machine.dram_bank_cycles = 60;
        it = bench(&machine, &gpc_protocol_no_l1, WORDS);
        (void) cycles_of(&it, loads, GPC_COUNT_OF(loads), 1, 32);
        check_list(it.gpu, "dram", 8, (model == 2 ? 60u : 40u) / 2);
    }
}

/* ---- Little's law ------------------------------------------------------------------------------------------------ */

/* Under every protocol, with every model of memory and clocks of all relations, with statistics from the begin or reset
 * between launches: littles_law.c compares occupancies and waits at the end of each launch. */
TEST(law_of_little_holds_in_every_queue)
{
    static const uint32_t mhz[][3] = {{1400, 1400, 1400}, {700, 700, 1400}, {1000, 1000, 900}};
    enum { GRID = 24, BLOCK = 96, ALL = GRID * BLOCK + 32 };
    for (uint32_t i = 0; i < gpc_protocol_count(); i++) {
        gpc_machine_t machine = test_fermi;
        machine.dram_model = i % 3;
        machine.l2_mhz = mhz[i / 3 % 3][0];
        machine.noc_mhz = mhz[i / 3 % 3][1];
        machine.dram_mhz = mhz[i / 3 % 3][2];
        bench_t it = BENCH_WITH(ALL, .machine = &machine, .protocol = gpc_protocol_at(i), .check = GPC_CHECK_PROTOCOL);
        for (uint32_t launch = 0; launch < 3; launch++) {
            CHECK_EQUAL_I64(RUN_PROGRAM(&it, add_and_store, ALL, GRID, BLOCK), 0);
            CHECK_EQUAL_I64(RUN_PROGRAM(&it, loads, ALL, GRID, BLOCK), 0);
            if (gpc_gpu_error_text(it.gpu)[0]) {
                harness_note("%s: %s", gpc_protocol_at(i)->id, gpc_gpu_error_text(it.gpu));
            }
            if (launch == 1) {
                gpc_gpu_reset_statistics(it.gpu);
            }
        }
        CHECK(statistic(it.gpu, "core/load_latency_cycles") > 0 && statistic(it.gpu, "core/store_latency_cycles") > 0);
    }
}

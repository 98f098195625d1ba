/* test_scheduler.c: latencies of instructions; barriers; blocks. test_time_core.c has tables of cycles. */
#include "core/execute/extended.h"
#include "core/state.h"
#include "core_world.h"
#include "tests/fresh.h"

#define CLOCK(n) READ(U | (n), CLOCK)
#define KEEP(index, n) STORE((index), U | (n))

/* Cycles between two clocks around one instruction that must wait for `before`. */
static uint32_t
cycles_until_used(gpc_instruction_t before, gpc_instruction_t use)
{
    RUNS(32, MOVE(V | 1, C0), MOVE(V | 3, C1), SLEEP(C100), CLOCK(0), before, use, CLOCK(1), KEEP(C0, 0), KEEP(C1, 1),
         EXIT);
    return world.memory[1] - world.memory[0] - 2; /* from `before` to `use` */
}

TEST(scoreboard_holds_a_dependent_for_exactly_the_alu_latency)
{
    CHECK_EQUAL_U64(cycles_until_used(OP(ADD, V | 2, V | 1, C1), OP(ADD, V | 4, V | 2, C1)), world.machine.alu_latency);
}

TEST(scoreboard_knows_the_latency_of_divisions_and_special_functions)
{
    CHECK_EQUAL_U64(cycles_until_used(OP(DIV, V | 2, V | 1, V | 3), OP(ADD, V | 4, V | 2, C1)),
                    world.machine.division_latency);
    world_reset();
    CHECK_EQUAL_U64(cycles_until_used(OP(SQRT, V | 2, V | 1, NONE, .type = GPC_F32), OP(ADD, V | 4, V | 2, C1)),
                    world.machine.sfu_latency);
}

/* v[d]:v[d + 1] = v[a]:v[a + 1] * the constants 1 and 2. */
static gpc_instruction_t
product(uint16_t d, uint16_t a)
{
    gpc_instruction_t in = OP(EXTENDED, d, a, C1);
    while (strcmp(gpc_extended[in.immediate].name, "MUL_F64") != 0) {
        in.immediate++;
    }
    in.width = 2;
    return in;
}

TEST(scoreboard_holds_the_unit_of_f64_and_its_last_lanes)
{
    for (uint32_t cycles = 0; cycles < 17; cycles += 8) {
        world_reset();
        world.machine.f64_cycles = cycles;
        CHECK_EQUAL_U64(cycles_until_used(product(V | 4, V | 0), product(V | 6, V | 4)),
                        world.machine.alu_latency + (cycles ? cycles - 1 : 0));
        world_reset();
        world.machine.f64_cycles = cycles;
        CHECK_EQUAL_U64(cycles_until_used(product(V | 4, V | 0), product(V | 6, V | 0)), cycles ? cycles : 1);
        world_reset();
        world.machine.f64_cycles = cycles;
        CHECK_EQUAL_U64(cycles_until_used(product(V | 4, V | 0), OP(ADD, V | 6, V | 1, C1)), 1);
    }
}

TEST(scoreboard_lets_a_load_be_used_exactly_when_it_completes)
{
    for (uint32_t latency = 0; latency < 3; latency++) {
        world_reset();
        world.latency = latency * 40;
        world.hit_delay = 30;
        CHECK_EQUAL_U64(cycles_until_used(LOAD(V | 2, V | 1), OP(ADD, V | 4, V | 2, C1)), latency * 40 + 30);
        CHECK_EQUAL_U64(world.cores.statistics[0].load_latency_cycles, latency * 40 + 30);
    }
}

TEST(scratchpad_has_its_latency_and_bank_conflicts)
{
    CHECK_EQUAL_U64(cycles_until_used(SHARED_LOAD(V | 2, V | 1), OP(ADD, V | 4, V | 2, C1)),
                    world.machine.scratchpad_latency);
    world_reset();
    world.machine.scratchpad_banks = 32;
    world.machine.scratchpad_bytes = 49152;
    gpc_launch_t launch = world_launch(CODE(THREAD, OP(MUL, V | 1, V | 0, C2), SHARED_STORE(V | 1, V | 0),
                                            SHARED_STORE(C3, V | 0), SHARED_STORE(V | 0, V | 0), EXIT),
                                       1, 32);
    world_begin();
    CHECK_EQUAL_I64(world_run(&launch), 0);
    CHECK_EQUAL_U64(world.cores.statistics[0].shared_conflict_cycles,
                    1); /* stride 2: two a bank; one word, stride 1: none */
}

/* A load of global memory, then a scratchpad access, which waits for it under sc when the machine says so. */
static uint64_t
scratchpad_waits(gpc_rule_t rule, uint32_t scratchpad_order)
{
    world_reset();
    world.machine.scratchpad_order = scratchpad_order;
    gpc_launch_t launch = world_launch(CODE(THREAD, LOAD(V | 1, V | 0), SHARED_STORE(V | 0, V | 0), EXIT), 1, 32);
    world_begin();
    world.order.rule = rule;
    CHECK_EQUAL_I64(world_run(&launch), 0);
    return world.cores.statistics[0].order_stalls_load;
}

TEST(order_holds_scratchpad_accesses_under_sc_if_the_machine_says_so)
{
    CHECK_EQUAL_U64(scratchpad_waits(GPC_RULE_SC, 1), 1);
    CHECK_EQUAL_U64(scratchpad_waits(GPC_RULE_SC, 0), 0);
    CHECK_EQUAL_U64(scratchpad_waits(GPC_RULE_RC, 1), 0);
}

TEST(scoreboard_lets_a_warp_sleep_for_its_longest_active_lane)
{
    CHECK_EQUAL_U64(cycles_until_used(SLEEP(C1000), NOP), 1000);
    CHECK(world.cores.statistics[0].stall_sleep >= 990);
    world_reset();
    CHECK_EQUAL_U64(cycles_until_used(OP(SLEEP, NONE, C_MINUS1, NONE, .type = GPC_I32), NOP),
                    1); /* a negative value: none */
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* Block 0 runs longest: other cores have room long before core 0. */
TEST(dispatch_keeps_static_blocks_for_their_core)
{
    world.machine.cores = 3;
    world.machine.blocks_per_core = 1;
    gpc_launch_t launch =
        world_launch(CODE(READ(U | 0, CORE), READ(U | 1, BLOCK_X), OP(EQ, U | 2, U | 0, C0, .type = GPC_I32),
                          OP(MUL, U | 2, U | 2, C64, .type = GPC_I32), OP(SLEEP, NONE, U | 2, NONE, .type = GPC_I32),
                          KEEP(U | 1, 0), EXIT),
                     8, 32);
    launch.placement = GPC_PLACE_STATIC;
    world_begin();
    for (uint32_t time = 0; time < 2; time++) { /* a second launch begins at core 0 again */
        memset(world.memory, 0xFF, 8 * sizeof world.memory[0]);
        CHECK_EQUAL_I64(world_run(&launch), 0);
        for (uint32_t block = 0; block < 8; block++) {
            CHECK_EQUAL_U64(world.memory[block], block % 3);
        }
    }
}

/* Cores whose registers have fixed distances of a power of two share the same few sets of the host's caches. */
TEST(registers_in_use_are_adjacent_and_fit)
{
    gpc_launch_t launch = world_launch(CODE(EXIT), WORLD_CORES, 1024);
    world_reset();
    world.machine.cores = WORLD_CORES;
    launch.program.vector_registers = (uint16_t) (world.machine.registers_per_core / 1024); /* as many as a core has */
    launch.program.uniform_registers = 0;
    world_begin();
    REQUIRE(gpc_cores_launch(&world.cores, &launch, 0) == 0);
    const gpc_core_parts_t *parts = world.cores.parts;
    for (uint32_t core = 0; core < WORLD_CORES; core++) {
        for (uint32_t warp = 0; warp < 32; warp++) {
            size_t before = (size_t) warp * WORLD_CORES + core;
            gpc_issue_t x;
            gpc_issue_init(&x, &world.cores, core, warp, 0);
            CHECK(x.vectors == parts->vectors + before * parts->launch->vector_words);
            CHECK(x.scoreboard == parts->fronts + before * parts->launch->front.words);
        }
    }
    CHECK_EQUAL_U64(32 * WORLD_CORES * parts->launch->vector_words, WORLD_CORES * world.machine.registers_per_core);
}

TEST(every_block_of_a_large_grid_runs_with_its_own_coordinates)
{
    world.machine.cores = 3;
    gpc_launch_t launch =
        world_launch(CODE(READ(U | 0, BLOCK_X), READ(U | 1, BLOCK_Y), READ(U | 2, BLOCK_Z), OP(MUL, U | 1, U | 1, C16),
                          OP(MUL, U | 2, U | 2, C64), OP(ADD, U | 0, U | 0, U | 1), OP(ADD, U | 0, U | 0, U | 2),
                          OP(ATOMIC, U | 3, U | 0, C1, .flags = GPC_ATOMIC_ADD << GPC_FLAG_ATOMIC_SHIFT), EXIT),
                     16, 32);
    launch.grid[1] = 4;
    launch.grid[2] = 3;
    world_begin();
    CHECK_EQUAL_I64(world_run(&launch), 0);
    for (uint32_t i = 0; i < 16 * 4 * 3; i++) {
        CHECK_EQUAL_U64(world.memory[i], 1);
    }
    uint32_t done, blocks;
    gpc_cores_progress(&world.cores, &done, &blocks);
    CHECK_EQUAL_U64(done, 192);
    CHECK_EQUAL_U64(blocks, 192);
}

TEST(a_block_that_no_core_has_room_for_is_refused)
{
    uint32_t blocks;
    const char *limit;
    world_begin();
    gpc_launch_t launch = world_launch(CODE(EXIT), 1, 2048);
    CHECK_EQUAL_I64(gpc_cores_occupancy(&world.cores, &launch, &blocks, &limit), GPC_ERROR_LAUNCH);
    CHECK_EQUAL_TEXT(world.failure.text,
                     "kernel 'f': a block of 2048 threads; a core has room for 1536 (48 warps of 32 lanes)");
}

/* ---- barriers ---------------------------------------------------------------------------------------------------- */

TEST(a_barrier_orders_the_block)
{
    /* each thread writes its own word of the scratchpad and reads the word 32 later, modulo 64 */
    RUNS(64, THREAD, SHARED_STORE(V | 0, V | 0), BLOCK_BARRIER, OP(XOR, V | 1, V | 0, C32), SHARED_LOAD(V | 2, V | 1),
         STORE(V | 0, V | 2), EXIT);
    CHECK_EQUAL_U64(world.memory[0], 32);
    CHECK_EQUAL_U64(world.memory[63], 31);
    CHECK_EQUAL_U64(world.cores.statistics[0].barriers, 2);
}

TEST(arriving_counts_and_does_not_wait)
{
    /* warp 0 arrives, sleeps long and stores; warp 1 waits for both */
    RUNS(64, READ(U | 0, WARP), IF(U | 0, 5, 8), OP(BARRIER_ARRIVE, NONE, C3, C64), SLEEP(C1000), TO(8),
         OP(BARRIER, NONE, C3, C64), CLOCK(1), KEEP(C1, 1), EXIT);
    CHECK(world.memory[1] > 0 && world.memory[1] < 200);
}

TEST(an_incomplete_barrier_is_reported)
{
    CHECK_EQUAL_I64(
        world_try(CODE(READ(U | 0, WARP), IF(U | 0, 3, 3), OP(BARRIER, NONE, C2, C64, .line = 6), EXIT), 96),
        GPC_ERROR_BARRIER);
    CHECK_EQUAL_TEXT(world.failure.text,
                     "kernel 'f': barrier 2 of block (0,0,0) can never complete: 32 of 64 threads have arrived, warp 0 "
                     "waits, and every other warp of the block has ended or waits at a barrier (a barrier with a count "
                     "waits for threads that have ended, too)");
    CHECK(fails_at(0, 6));
}

TEST(a_barrier_in_divergent_code_is_reported)
{
    CHECK_EQUAL_I64(world_try(CODE(THREAD, IF_NOT(V | 0, 3, 3), OP(BARRIER, NONE, C0, NONE, .line = 2), EXIT), 32),
                    GPC_ERROR_BARRIER);
    CHECK(strstr(world.failure.text, "kernel 'f': barrier in divergent code") != NULL);
    CHECK(fails_at(0, 2));
}

TEST(wrong_counts_of_barriers_are_reported)
{
    CHECK_EQUAL_I64(world_try(CODE(OP(BARRIER, NONE, C0, C7), EXIT), 32), GPC_ERROR_BARRIER);
    world_reset();
    CHECK_EQUAL_I64(world_try(CODE(OP(BARRIER, NONE, C0, C64), EXIT), 32), GPC_ERROR_BARRIER);
    world_reset();
    CHECK_EQUAL_I64(world_try(CODE(OP(BARRIER, NONE, C16, NONE), EXIT), 32), GPC_ERROR_BARRIER);
}

TEST(waiting_warps_are_explained)
{
    world.latency = 1u << 30; /* never answered within the test's time */
    gpc_launch_t launch = world_launch(CODE(LOAD(V | 1, C0), OP(STORE, NONE, V | 1, C0, .line = 3), EXIT), 1, 32);
    world_begin();
    CHECK_EQUAL_I64(world_run(&launch), GPC_ERROR_DEADLOCK);
    gpc_text_t *text = fresh_text();
    CHECK_EQUAL_I64(gpc_cores_explain_wait(&world.cores, text, 4), GPC_ERROR_DEADLOCK);
    CHECK_EQUAL_TEXT(
        text->bytes,
        "core 0 warp 0 (block 0,0,0) in kernel 'f' at line 3 waits for a register of an outstanding load or "
        "instruction (oldest outstanding access: a load of line 0x0, issued at cycle 0)");
}

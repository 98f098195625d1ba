/* test_time_core.c: in which cycle does a core issue, and begin and end blocks? Tables of cycles that were computed by
 * hand, of launches that begin at cycle 0. The name of each test begins with that of its unit. */
#include "core/waking.h"
#include "issue_trace.h"

/* ---- accounting -------------------------------------------------------------------------------------------------- */

static uint64_t counted[2][GPC_NUM_STALLS + 1]; /* cycles by cause; last: those that issue */

static int
note_counted(void *self, const gpc_observation_t *event)
{
    (void) self;
    counted[event->counted.core][event->counted.cause] += event->counted.cycles;
    return GPC_OK;
}

/* Counts every core's cycles at each multiple of `every`; 0: never. */
static void
run_counted(const gpc_launch_t *launch, gpc_cycle_t every)
{
    gpc_stream_t stream;
    gpc_subscriber_t subscriber = {.observe = note_counted};
    world_begin();
    memset(counted, 0, sizeof counted);
    gpc_stream_init(&stream);
    gpc_stream_connect(&stream, &world.cores.tap);
    gpc_subscribe(&stream, &subscriber, GPC_KIND(COUNTED));
    CHECK_EQUAL_I64(gpc_cores_launch(&world.cores, launch, 0), 0);
    for (gpc_cycle_t at = every; !gpc_cores_finished(&world.cores);) {
        world.now = world_next();
        for (; every != 0 && at <= world.now; at += every) {
            CHECK_EQUAL_I64(gpc_cores_count_until(&world.cores, at), 0);
            for (uint32_t core = 0; core < 2; core++) {
                const gpc_core_statistics_t *s = &world.cores.statistics[core];
                CHECK_EQUAL_U64(s->active_cycles + s->stall_launch, at);
            }
        }
        CHECK_EQUAL_I64(world_step(), 0);
    }
}

/* Whether a run is counted in pieces or whole, every cycle of a core has one cause, which subscribers learn. */
TEST(accounting_gives_every_cycle_one_cause)
{
    static gpc_core_statistics_t whole[2];
    const gpc_launch_t launch =
        world_launch(CODE(THREAD, OF_WARP(0), OP(AND, U | 0, U | 0, C1), OP(MUL, U | 0, U | 0, C100),
                          LOAD(V | 1, V | 0), OP(DIV, V | 2, V | 1, C3), SLEEP(U | 0), BLOCK_BARRIER,
                          STORE(V | 0, V | 2), OP(FENCE, NONE, NONE, NONE, .order = GPC_ORDER_SC), EXIT),
                     3, 96);
    for (gpc_cycle_t every = 0; every < 3; every++) {
        world_reset();
        world.machine.cores = 2;
        world.machine.issue_cycles = 3;
        world.machine.blocks_per_core = 1;
        run_counted(&launch, every);
        for (uint32_t core = 0; core < 2; core++) {
            const gpc_core_statistics_t *s = &world.cores.statistics[core];
            if (every == 0) {
                whole[core] = *s;
                CHECK(s->barrier_blocked_cycles > 10 && s->order_blocked_cycles > 40);
            }
            uint64_t cycles = counted[core][GPC_NUM_STALLS];
            CHECK(memcmp(s, &whole[core], sizeof *s) == 0);
            CHECK_EQUAL_U64(counted[core][GPC_NUM_STALLS], s->issue_cycles);
            for (uint32_t i = 0; i < GPC_NUM_STALLS; i++) {
                CHECK_EQUAL_U64(counted[core][i], s->stalls[i]);
                cycles += s->stalls[i];
            }
            CHECK_EQUAL_U64(cycles, s->active_cycles + s->stall_launch);
            CHECK_EQUAL_U64(cycles, world.now + 1); /* the launch's length on each core */
        }
    }
}

/* Warps 0 and 2 arrive at a barrier in cycles 12 and 13, warp 1 sleeps from cycle 10 to 110: it holds up the others. */
TEST(accounting_finds_who_holds_up_a_barrier)
{
    world_reset();
    world.machine.alu_latency = 1;
    RUNS(96, OF_WARP(0), OP(AND, U | 0, U | 0, C1), OP(MUL, U | 0, U | 0, C100), SLEEP(U | 0), BLOCK_BARRIER, EXIT);
    const gpc_core_statistics_t *s = &world.cores.statistics[0];
    CHECK_EQUAL_U64(s->issue_cycles, 3 * 6);
    CHECK_EQUAL_U64(s->stall_sleep, 110 - 14);
    CHECK_EQUAL_U64(s->barrier_blocked_cycles, 110 - 14);
    CHECK_EQUAL_U64(s->stall_barrier, 0);
    CHECK_EQUAL_U64(s->active_cycles, 110 + 4);
}

/* ---- scheduler --------------------------------------------------------------------------------------------------- */

TEST(scheduler_chooses_by_its_policy)
{
    small_core(ROUND_ROBIN, 1);
    CHECK_EQUAL_TEXT(issues(CODE(NOP, NOP, EXIT), 1, 96), "0 1 2 0 1 2 0 1 2");
    small_core(GREEDY, 1);
    CHECK_EQUAL_TEXT(issues(CODE(NOP, NOP, EXIT), 1, 96), "0 0 0 1 1 1 2 2 2");
}

/* The second instruction waits until cycle 4 or 5. In cycle 5 both warps could issue: the next one, or the same. */
TEST(scheduler_passes_a_warp_that_waits)
{
    const gpc_instruction_t code[] = {MOVE(V | 1, C1), OP(ADD, V | 2, V | 1, C1), EXIT};
    small_core(ROUND_ROBIN, 4);
    CHECK_EQUAL_TEXT(issues(code, 3, 1, 64), "0 1 . . 0 1 0 1");
    small_core(GREEDY, 4);
    CHECK_EQUAL_TEXT(issues(code, 3, 1, 64), "0 1 . . 0 0 1 1");
}

/* Block 0 ends in cycle 4, and block 3 takes its warp 0. When warp 1 has ended in cycle 9, warps 0 and 2 are ready, and
 * warp 2 is older. */
TEST(scheduler_prefers_the_oldest_warp_not_the_lowest)
{
    const gpc_instruction_t code[] = {OF_BLOCK(0), IF_NOT(U | 0, 4, 4), NOP, NOP, EXIT};
    small_core(GREEDY, 3);
    world.machine.blocks_per_core = 3;
    CHECK_EQUAL_TEXT(issues(code, 5, 4, 32), "0 1 2 0 0 0 1 1 1 1 2 2 2 2 0 0 0 0");
}

TEST(scheduler_issues_on_every_free_port)
{
    const gpc_instruction_t code[] = {NOP, NOP, NOP, NOP, EXIT};
    small_core(ROUND_ROBIN, 1);
    world.machine.issue_width = 2;
    CHECK_EQUAL_TEXT(issues(code + 2, 3, 1, 96), "01 20 12 01 2");
    small_core(ROUND_ROBIN, 1);
    world.machine.issue_width = 4;
    CHECK_EQUAL_TEXT(issues(code + 2, 3, 1, 96), "012 012 012");
    small_core(ROUND_ROBIN, 1);
    world.machine.issue_cycles = 3;
    CHECK_EQUAL_TEXT(issues(code + 2, 3, 1, 32), "0 . . 0 . . 0");
    /* one warp finds the second port when the first is busy; both are free again 3 cycles after they issued */
    small_core(ROUND_ROBIN, 1);
    world.machine.issue_width = 2;
    world.machine.issue_cycles = 3;
    CHECK_EQUAL_TEXT(issues(code, 5, 1, 32), "0 0 . 0 0 . 0");
}

TEST(scheduler_begins_each_launch_with_warp_0)
{
    gpc_launch_t launch = world_launch(CODE(NOP, EXIT), 1, 96);
    small_core(ROUND_ROBIN, 1);
    run_launch(&launch, GPC_RULE_RC);
    world.now = 100;
    trace.count = 0;
    CHECK_EQUAL_I64(world_run(&launch), 0);
    CHECK_EQUAL_U64(trace.issues[0].at, 100);
    CHECK_EQUAL_U64(trace.issues[0].warp, 0);
    CHECK_EQUAL_U64(trace.issues[5].at, 105);
}

/* ---- scoreboard: waits by time ----------------------------------------------------------------------------------- */

/* Cycle in which warp 0 ends, which sleeps; warp 1, if there is one, issues in every cycle in which it may. */
static gpc_cycle_t
end_of_sleeper(uint32_t sleeps, uint32_t warps, uint32_t width)
{
    gpc_instruction_t code[256] = {OF_WARP(0), IF(U | 0, 4, 255), SLEEP(C_FIRST), TO(255)};
    for (uint32_t i = 4; i < 255; i++) {
        code[i] = NOP;
    }
    code[255] = EXIT;
    gpc_launch_t launch = launch_with(code, 256, 32 * warps, sleeps, 0);
    small_core(ROUND_ROBIN, 1);
    world.machine.issue_width = width;
    run_launch(&launch, GPC_RULE_RC);
    return end_of(0, 0);
}

/* A warp that sleeps n cycles issues n cycles later, within the calendar of 64 cycles and beyond it: alone, beside a
 * warp that has issued in the cycle before, so that the other one is next, and beside one that issues in the same
 * cycles. SPECIAL, BRANCH and SLEEP are its first instructions, JUMP and EXIT its last ones. */
TEST(scoreboard_wakes_a_warp_in_its_cycle)
{
    for (uint32_t sleeps = 1; sleeps < 200; sleeps++) {
        CHECK_EQUAL_U64(end_of_sleeper(sleeps, 1, 1), 2 + sleeps + 1);
        CHECK_EQUAL_U64(end_of_sleeper(sleeps, 2, 1), 4 + sleeps + (sleeps == 1) + 2);
        CHECK_EQUAL_U64(end_of_sleeper(sleeps, 2, 2), 2 + sleeps + 1);
    }
}

/* A division that issues in cycle 0 is ready in cycle 40, a sum of cycle 1 in cycle 5: what needs both, in any order,
 * or overwrites one, waits for the later one. */
TEST(scoreboard_waits_for_the_latest_register)
{
    static const struct {
        uint16_t a, b, to;
        gpc_cycle_t at;
    } cases[] = {{V | 2, V | 3, V | 4, 40}, {V | 3, V | 2, V | 4, 40}, {V | 3, V | 3, V | 4, 5},
                 {V | 1, V | 1, V | 3, 5},  {V | 3, V | 1, V | 2, 40}, {V | 1, V | 1, V | 4, 2}};
    for (uint32_t i = 0; i < GPC_COUNT_OF(cases); i++) {
        small_core(ROUND_ROBIN, 4);
        (void) issues(CODE(OP(DIV, V | 2, V | 1, C1), OP(ADD, V | 3, V | 1, C1),
                           OP(ADD, cases[i].to, cases[i].a, cases[i].b), EXIT),
                      1, 32);
        CHECK_EQUAL_U64(trace.issues[2].at, cases[i].at);
    }
}

/* Times of registers count from a base, which moves in long launches: here in every cycle, with a sum, a division and a
 * load under way. */
TEST(scoreboard_keeps_its_times_when_its_base_moves)
{
    const gpc_launch_t launch =
        world_launch(CODE(LOAD(V | 2, C0), OP(DIV, V | 3, V | 1, C1), OP(ADD, V | 4, V | 1, C1),
                          OP(ADD, V | 5, V | 4, C1), OP(ADD, V | 5, V | 3, C1), OP(ADD, V | 5, V | 2, C1), EXIT),
                     1, 64);
    char expected[sizeof trace.text];
    world_reset();
    run_launch(&launch, GPC_RULE_RC);
    memcpy(expected, issues_of(0), sizeof expected);
    world_reset();
    begin_traced();
    CHECK_EQUAL_I64(gpc_cores_launch(&world.cores, &launch, 0), 0);
    for (; !gpc_cores_finished(&world.cores) && world.now < 200; world.now++) {
        gpc_core_rebase_scoreboards(&world.cores, 0, world.now);
        CHECK_EQUAL_I64(world_step(), 0);
    }
    CHECK_EQUAL_TEXT(issues_of(0), expected);
}

/* One division unit: warp 1 waits for it, not for its registers. */
TEST(scoreboard_holds_a_unit_for_its_cycles)
{
    const gpc_instruction_t code[] = {OP(DIV, V | 2, V | 1, C1), EXIT};
    small_core(ROUND_ROBIN, 1);
    world.machine.division_cycles = 3;
    world.machine.division_latency = 9;
    CHECK_EQUAL_TEXT(issues(code, 2, 1, 64), "0 0 . 1 1");
    CHECK_EQUAL_U64(world.cores.statistics[0].stall_unit, 1); /* cycle 2; in cycle 1 warp 0 issues */
}

/* ---- barrier ----------------------------------------------------------------------------------------------------- */

/* The last warp arrives in cycle 2 and goes on; the others may issue from cycle 3 on. */
TEST(barrier_releases_in_the_cycle_after_the_last_arrival)
{
    const gpc_instruction_t code[] = {BLOCK_BARRIER, NOP, EXIT};
    small_core(GREEDY, 1);
    CHECK_EQUAL_TEXT(issues(code, 3, 1, 96), "0 1 2 2 2 0 0 1 1");
    small_core(ROUND_ROBIN, 1);
    world.machine.issue_width = 3;
    CHECK_EQUAL_TEXT(issues(code, 3, 1, 96), "012 012 012");
    small_core(ROUND_ROBIN, 1);
    CHECK_EQUAL_TEXT(issues(CODE(OF_WARP(0), OP(MUL, U | 0, U | 0, C3), SLEEP(U | 0), BLOCK_BARRIER, EXIT), 1, 96),
                     "0 1 2 0 1 2 0 1 2 0 1 . . . 2 0 1 2"); /* warp 2 sleeps from 8 to 14 */
}

/* Warp 1 ends in cycle 4, which completes the barrier of warp 0. */
TEST(barrier_is_completed_by_the_end_of_a_warp)
{
    small_core(ROUND_ROBIN, 1);
    CHECK_EQUAL_TEXT(issues(CODE(OF_WARP(0), IF(U | 0, 3, 3), BLOCK_BARRIER, EXIT), 1, 64), "0 1 0 1 0 1 0");
}

/* A store that issues in cycle 0 is offered in cycle 0 and complete 50 + 7 cycles later; only then may the warp
 * arrive. */
TEST(barrier_waits_for_older_accesses)
{
    world_reset();
    world.hit_delay = 7;
    (void) issues(CODE(STORE(C0, C1), BLOCK_BARRIER, EXIT), 1, 32);
    CHECK_EQUAL_U64(end_of(0, 0), 50 + 7 + 1);
}

/* ---- dispatch ---------------------------------------------------------------------------------------------------- */

/* Two cores of one block each; block 1 sleeps 7 cycles. Block 0 ends in cycle 4, and block 2 begins in cycle 5. */
TEST(dispatch_begins_a_block_in_the_cycle_after_the_last_one_s_end)
{
    small_core(ROUND_ROBIN, 1);
    world.machine.cores = 2;
    world.machine.blocks_per_core = 1;
    world.machine.issue_width = 2; /* a port is free when a block ends */
    (void) issues(
        CODE(OF_BLOCK(0), OP(EQ, U | 0, U | 0, C1, .type = GPC_I32), OP(MUL, U | 0, U | 0, C7), SLEEP(U | 0), EXIT), 3,
        32);
    CHECK_EQUAL_TEXT(issues_of(0), "0 0 0 0 0 0 0 0 0 0");
    CHECK_EQUAL_TEXT(issues_of(1), "0 0 0 0 . . . . . . 0");
    CHECK_EQUAL_U64(world.cores.statistics[0].stall_launch, 11 - 10); /* after its last block; the launch ends at 11 */
    CHECK_EQUAL_U64(world.cores.statistics[1].stall_launch, 0);
    CHECK_EQUAL_U64(world.cores.statistics[1].stall_sleep, 6);
    CHECK_EQUAL_U64(world.cores.statistics[1].active_cycles, 11);
}

/* Four blocks of two instructions on three cores of two blocks: one after another, or core by core. A second launch
 * begins at core 0, or behind the core that has got the last block. */
TEST(dispatch_fills_the_cores_in_the_order_of_the_placement)
{
    static const struct {
        gpc_placement_t placement;
        const char *first[3], *second[3];
    } cases[] = {{GPC_PLACE_ROUND_ROBIN, {"0 1 0 1", "0 0", "0 0"}, {"0 1 0 1", "0 0", "0 0"}},
                 {GPC_PLACE_FIRST_FREE, {"0 1 0 1", "0 1 0 1", ""}, {"0 1 0 1", "0 1 0 1", ""}},
                 {GPC_PLACE_STATIC, {"0 1 0 1", "0 0", "0 0"}, {"0 1 0 1", "0 0", "0 0"}},
                 {GPC_PLACE_ROTATING, {"0 1 0 1", "0 0", "0 0"}, {"0 0", "0 1 0 1", "0 0"}}};
    for (uint32_t i = 0; i < GPC_COUNT_OF(cases); i++) {
        gpc_launch_t launch = world_launch(CODE(NOP, EXIT), 4, 32);
        launch.placement = cases[i].placement;
        small_core(ROUND_ROBIN, 1);
        world.machine.cores = 3;
        world.machine.blocks_per_core = 2;
        run_launch(&launch, GPC_RULE_RC);
        for (uint32_t core = 0; core < 3; core++) {
            CHECK_EQUAL_TEXT(issues_of(core), cases[i].first[core]);
        }
        world.now = trace.count = 0;
        CHECK_EQUAL_I64(world_run(&launch), 0);
        for (uint32_t core = 0; core < 3; core++) {
            CHECK_EQUAL_TEXT(issues_of(core), cases[i].second[core]);
        }
    }
}

/* The largest number of blocks that fit, and the resource one unit of which is missing for another block. */
TEST(dispatch_occupancy_is_limited_to_the_unit)
{
    static const struct {
        uint32_t warps, registers, scratchpad, threads, blocks;
        const char *limit;
    } cases[] = {
        {48, 32768, 49152, 32, 8, "blocks"},      {6, 32768, 49152, 32, 6, "warps"},
        {7, 32768, 49152, 64, 3, "warps"},        {8, 32768, 49152, 64, 4, "warps"},
        {48, 3 * 264, 49152, 32, 3, "registers"}, {48, 3 * 264 - 1, 49152, 32, 2, "registers"},
        {48, 32768, 1024, 32, 4, "scratchpad"},   {48, 32768, 1023, 32, 3, "scratchpad"},
        {8, 32768, 49152, 33, 4, "warps"},
    }; /* a warp has 8 * 32 + 8 registers, a block 64 words of scratchpad */
    for (uint32_t i = 0; i < GPC_COUNT_OF(cases); i++) {
        uint32_t blocks = 0;
        const char *limit = "";
        gpc_launch_t launch = world_launch(CODE(EXIT), 1, cases[i].threads);
        world_reset();
        world.machine.warps_per_core = cases[i].warps;
        world.machine.registers_per_core = cases[i].registers;
        world.machine.scratchpad_bytes = cases[i].scratchpad;
        world_begin();
        CHECK_EQUAL_I64(gpc_cores_occupancy(&world.cores, &launch, &blocks, &limit), 0);
        CHECK_EQUAL_U64(blocks, cases[i].blocks);
        CHECK_EQUAL_TEXT(limit, cases[i].limit);
    }
}

/* With a skew of 9 cycles the first blocks begin in cycles 0 to 9, and not all in one; a later block is not delayed. */
TEST(dispatch_skews_the_first_blocks_only)
{
    uint64_t seen = 0;
    small_core(ROUND_ROBIN, 1);
    world.machine.cores = 4;
    world.machine.start_skew = 9;
    world.machine.blocks_per_core = 1;
    (void) issues(CODE(NOP, EXIT), 8, 32);
    for (uint32_t core = 0; core < 4; core++) {
        gpc_cycle_t first = GPC_NEVER;
        uint32_t of_core = 0;
        for (uint32_t i = 0; i < trace.count; i++) {
            if (trace.issues[i].core == core) {
                first = first == GPC_NEVER ? trace.issues[i].at : first;
                CHECK_EQUAL_U64(trace.issues[i].at, first + of_core);
                of_core++;
            }
        }
        CHECK(first <= 9);
        CHECK_EQUAL_U64(world.cores.statistics[core].stall_launch, first + world.now - (first + of_core - 1));
        seen |= UINT64_C(1) << first;
    }
    CHECK((seen & (seen - 1)) != 0);
}

/* A block takes a place of the core in cycle 0 or after its predecessor's end, and issues 3 cycles later. Two places
 * overlap: each waits for its own block. */
TEST(dispatch_starts_each_block_after_its_cycles)
{
    const gpc_instruction_t code[] = {NOP, EXIT};
    small_core(ROUND_ROBIN, 1);
    world.machine.blocks_per_core = 1;
    world.machine.block_start_cycles = 3;
    CHECK_EQUAL_TEXT(issues(code, 2, 3, 32), ". . . 0 0 . . . 0 0 . . . 0 0");
    CHECK_EQUAL_U64(world.cores.statistics[0].stall_launch, 3 * 3);
    CHECK_EQUAL_U64(world.cores.statistics[0].active_cycles, 3 * 2);

    small_core(ROUND_ROBIN, 1);
    world.machine.blocks_per_core = 2;
    world.machine.block_start_cycles = 3;
    CHECK_EQUAL_TEXT(issues(code, 2, 4, 32), ". . . 0 1 0 1 . . 0 1 0 1");
    CHECK_EQUAL_U64(world.cores.statistics[0].stall_launch, 3 + 2);
}

/* test_lanes.c: independent lanes: lanes of one warp that wait for each other, WARP_SYNC, barriers that a part of a
 * warp's lanes reaches first, and the list of entries after every step. */
#include "core/lanes.h"
#include "core_world.h"

#define RELAXED .order = GPC_ORDER_RELAXED
#define ATOMIC_OF(operation) RELAXED, .flags = GPC_ATOMIC_##operation << GPC_FLAG_ATOMIC_SHIFT
/* v(d) = x[a], x[a] = b where it was 0 */
#define CAS(d, at) OP(ATOMIC, V | (d), (at), C0, .c = C1, ATOMIC_OF(CAS))
#define EXCH(at, with) OP(ATOMIC, NONE, (at), (with), ATOMIC_OF(EXCH))
#define NEXT(register) OP(ADD, V | (register), V | (register), C1)
#define ALL C_MINUS1

/* ---- the list of entries ----------------------------------------------------------------------------------------- */

static uint32_t most_entries;

/* Every live lane is in an entry; the entry below that has the lane reconverges it there; of two entries with common
 * lanes the lower one has all of the higher one's; there are fewer than 2 * lanes. */
static void
check_entries(uint32_t w)
{
    const gpc_core_parts_t *parts = world.cores.parts;
    const gpc_warp_t *warp = gpc_core_warp(&world.cores, 0, w);
    gpc_stack_entry_t at[2 * GPC_MAX_LANES + 2];
    uint32_t count = warp->depth + 1u;
    gpc_lanes_t all = 0;
    REQUIRE(count < 2 * world.machine.lanes_per_warp);
    memcpy(at, parts->stacks + (size_t) w * parts->stack_entries, warp->depth * sizeof *at);
    at[warp->depth] = warp->top;
    most_entries = count > most_entries ? count : most_entries;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t parent = i;
        CHECK(at[i].pc < world.cores.parts->launch->launch.program.count);
        all |= at[i].lanes;
        for (uint32_t j = 0; j < i; j++) {
            gpc_lanes_t common = at[i].lanes & at[j].lanes;
            CHECK(common == 0 || common == at[i].lanes);
            parent = common != 0 ? j : parent;
        }
        CHECK(at[i].lanes == 0 || at[i].reconverge == (parent == i ? GPC_NONE : at[parent].pc));
    }
    CHECK((warp->live & ~all) == 0);
    CHECK(warp->active == gpc_count_bits(warp->top.lanes));
}

/* Runs a program of independent lanes on one block. */
static int
run(const gpc_instruction_t *code, uint32_t count, uint32_t threads)
{
    gpc_launch_t launch = world_launch(code, count, 1, threads);
    launch.program.independent_lanes = true;
    launch.program.uniform_registers = 0;
    world_begin();
    int status = gpc_cores_launch(&world.cores, &launch, world.now);
    while (status == GPC_OK && !gpc_cores_finished(&world.cores)) {
        world.now = world_next();
        if (world.now > 1000000) { /* GPC_NEVER, too */
            return GPC_ERROR_DEADLOCK;
        }
        status = world_step();
        for (uint64_t left = status == GPC_OK ? world.cores.parts->cores[0].resident : 0; left != 0; left &= left - 1) {
            check_entries(gpc_lowest_bit(left));
        }
    }
    return status;
}

#define ENDS(threads, ...) CHECK_EQUAL_I64(run(CODE(__VA_ARGS__), threads), GPC_OK)

/* ---- lanes that poll --------------------------------------------------------------------------------------------- */

TEST(a_lock_in_a_branch_in_a_loop_ends)
{
    /* odd lanes, three times: take, count, release; all lanes then count */
    ENDS(32, THREAD, OP(AND, V | 1, V | 0, C1), MOVE(V | 2, C0), IF_NOT(V | 1, 10, 10),         /* to 3 */
         CAS(3, C0), IF(V | 3, 4, 6), LOAD(V | 3, C1), NEXT(3), STORE(C1, V | 3), EXCH(C0, C0), /* to 9 */
         NEXT(2), OP(LT, V | 3, V | 2, C3), IF(V | 3, 3, 13), ATOMIC_ADD(V | 3, C2, C1), EXIT);
    CHECK_EQUAL_U64(world.memory[1], 48);
    CHECK_EQUAL_U64(world.memory[2], 32);
}

/* Lane 0 polls, the others set the flag; the lanes that poll take the branch, or those that set the flag do. */
TEST(a_flag_reaches_a_lane_in_either_order)
{
    static const uint8_t orders[] = {GPC_ORDER_WEAK, GPC_ORDER_ACQUIRE};
    for (uint32_t i = 0; i < 2; i++) {
        gpc_instruction_t poll = OP(LOAD, V | 1, C1, NONE, .order = orders[i]);
        world_reset();
        ENDS(32, THREAD, IF(V | 0, 5, 6), poll, IF_NOT(V | 1, 2, 4), TO(6), EXCH(C1, C1), ATOMIC_ADD(V | 2, C2, C1),
             EXIT);
        CHECK_EQUAL_U64(world.memory[2], 32);
        world_reset();
        ENDS(32, THREAD, IF_NOT(V | 0, 4, 6), EXCH(C1, C1), TO(6), poll, IF_NOT(V | 1, 4, 6), ATOMIC_ADD(V | 2, C2, C1),
             EXIT);
        CHECK_EQUAL_U64(world.memory[2], 32);
    }
}

TEST(a_flag_in_the_scratchpad_reaches_a_lane)
{
    ENDS(32, THREAD, IF_NOT(V | 0, 4, 7), SHARED_STORE(C1, C1), TO(7), SHARED_LOAD(V | 1, C1), IF_NOT(V | 1, 4, 6),
         TO(7), EXIT);
}

/* The lock is a word of the scratchpad. */
TEST(a_lock_in_the_scratchpad_ends)
{
    ENDS(64, OP(SHARED_ATOMIC, V | 1, C0, C0, .c = C1, ATOMIC_OF(CAS)), IF(V | 1, 0, 2), LOAD(V | 2, C1), NEXT(2),
         STORE(C1, V | 2), SHARED_STORE(C0, C0), EXIT);
    CHECK_EQUAL_U64(world.memory[1], 64);
}

/* By address: x[0] is the lock, x[1] the counter; an addition of 0 polls x[2]. */
TEST(loops_that_poll_by_address_yield_and_are_known_as_polls)
{
    ENDS(64, MOVE(V | 4, C0), MOVE(V | 5, C0),
         OP(ATOMIC, V | 1, V | 4, C0, .c = C1, RELAXED,
            .flags = GPC_FLAG_FLAT | GPC_ATOMIC_CAS << GPC_FLAG_ATOMIC_SHIFT),
         IF(V | 1, 2, 4), LOAD(V | 2, C1), NEXT(2), STORE(C1, V | 2),
         OP(STORE, NONE, V | 4, C0, .flags = GPC_FLAG_FLAT, .order = GPC_ORDER_RELEASE), READ(V | 0, LANE),
         IF(V | 0, 12, 14), EXCH(C2, C1), TO(14), OP(ATOMIC, V | 1, C2, C0, ATOMIC_OF(ADD)), IF_NOT(V | 1, 12, 14),
         EXIT);
    CHECK_EQUAL_U64(world.memory[1], 64);
    const gpc_decoded_t *code = world.cores.parts->launch->code;
    CHECK_EQUAL_U64(code[3].group, GPC_GROUP_SPIN);
    CHECK_EQUAL_U64(code[3].waits_as, GPC_STALL_lock);
    CHECK_EQUAL_U64(code[13].group, GPC_GROUP_SPIN);
    CHECK_EQUAL_U64(code[13].waits_as, GPC_STALL_poll);
}

TEST(a_loop_that_ends_its_lanes_yields)
{
    /* a lane that has the lock releases it and ends within the loop; the others run first */
    ENDS(32, CAS(1, C0), IF(V | 1, 5, 6), ATOMIC_ADD(V | 2, C1, C1), EXCH(C0, C0), EXIT, TO(0), EXIT);
    CHECK_EQUAL_U64(world.memory[1], 32);
}

TEST(lanes_that_compute_do_not_yield)
{
    /* v1 = 0; while v1 < 4 * thread: v1 += 1; all reconverge once */
    ENDS(32, THREAD, OP(MUL, V | 2, V | 0, C64), MOVE(V | 1, C0), OP(LT, V | 3, V | 1, V | 2), IF_NOT(V | 3, 7, 7),
         NEXT(1), TO(3), STORE(V | 0, V | 1), EXIT);
    CHECK_EQUAL_U64(world.memory[31], 31 * 64);
    CHECK_EQUAL_U64(world.cores.statistics[0].stores, 1);
}

TEST(waiting_for_what_never_comes_does_not_end)
{
    CHECK_EQUAL_I64(run(CODE(THREAD, IF(V | 0, 3, 3), NOP, LOAD(V | 1, C1), IF_NOT(V | 1, 3, 5), EXIT), 32),
                    GPC_ERROR_DEADLOCK);
}

/* ---- WARP_SYNC --------------------------------------------------------------------------------------------------- */

TEST(a_warp_sync_of_all_lanes_is_one_instruction)
{
    ENDS(32, WARP_SYNC(ALL), WARP_SYNC(C3), EXIT);
    CHECK_EQUAL_U64(world.cores.statistics[0].instructions, 3);
    CHECK_EQUAL_U64(world.cores.statistics[0].issue_cycles, 3);
}

TEST(lanes_that_a_lock_parted_meet_at_a_warp_sync)
{
    ENDS(32, THREAD, CAS(1, C0), IF(V | 1, 1, 3), EXCH(C0, C0), WARP_SYNC(ALL), OP(BALLOT, V | 2, C1, NONE),
         OP(ADD, V | 3, V | 0, C64), STORE(V | 3, V | 2), EXIT);
    for (uint32_t i = 0; i < 32; i++) {
        CHECK_EQUAL_U64(world.memory[64 + i], UINT32_MAX);
    }
    CHECK_EQUAL_U64(world.cores.statistics[0].stores, 1);
}

TEST(lanes_in_different_branches_continue_each_at_its_own_place)
{
    /* lanes 0 to 15 store behind the first, lanes 16 to 31 read behind the second one */
    ENDS(32, THREAD, OP(LT, V | 1, V | 0, C16), IF(V | 1, 7, 11), WARP_SYNC(ALL), LOAD(V | 2, C1), STORE(V | 0, V | 2),
         TO(11), STORE(C1, C7), OP(FENCE, NONE, NONE, NONE, .order = GPC_ORDER_SC), WARP_SYNC(ALL), STORE(C2, C7),
         OP(BALLOT, V | 3, C1, NONE), ATOMIC_ADD(V | 4, C0, V | 3), EXIT);
    CHECK_EQUAL_U64(world.memory[20], 7);
    CHECK_EQUAL_U64(world.memory[2], 7);
    CHECK_EQUAL_U64(world.memory[0], UINT32_MAX * 32u); /* they have reconverged: each has all lanes' bits */
}

TEST(lanes_that_end_are_not_awaited)
{
    /* lanes 16 to 31 end, before and after the others wait */
    for (uint32_t taken = 0; taken < 2; taken++) {
        gpc_instruction_t branch = taken != 0 ? IF(V | 1, 4, 4) : IF_NOT(V | 1, 4, 4);
        world_reset();
        ENDS(32, THREAD, OP(LT, V | 1, V | 0, C16), branch, EXIT, WARP_SYNC(ALL), STORE(V | 0, C7), EXIT);
        CHECK_EQUAL_U64(world.memory[taken != 0 ? 3 : 20], 7);
    }
    world_reset();
    ENDS(32, THREAD, OP(LT, V | 1, V | 0, C16), IF(V | 1, 5, 8), SLEEP(C100), EXIT, WARP_SYNC(ALL), STORE(V | 0, C7),
         TO(8), EXIT);
    CHECK_EQUAL_U64(world.memory[3], 7);
}

TEST(parts_of_a_warp_synchronise_by_themselves)
{
    /* lane 0 takes a flag of lane 1 (mask 3), which lane 2 sets after both have met; lanes 2 and up do not wait */
    ENDS(32, THREAD, OP(LT, V | 1, V | 0, C2), IF(V | 1, 4, 8), TO(6), WARP_SYNC(C3), TO(8), NOP, NOP,
         ATOMIC_ADD(V | 2, C1, C1), EXIT);
    CHECK_EQUAL_U64(world.memory[1], 32);
    /* the masks differ by lane: v2 = 3 in lanes 0 and 1, else -4 */
    world_reset();
    ENDS(32, THREAD, OP(LT, V | 1, V | 0, C2), OP(XOR, V | 3, C3, C_MINUS1), OP(SELECT, V | 2, V | 1, C3, .c = V | 3),
         IF(V | 0, 7, 8), CAS(4, C1), NOP, WARP_SYNC(V | 2), ATOMIC_ADD(V | 5, C2, C1), EXIT);
    CHECK_EQUAL_U64(world.memory[2], 32);
}

/* Lanes 0 and 1 synchronise, lane 1 ends instead; the others poll a flag that lane 0 sets behind the WARP_SYNC. */
TEST(the_end_of_a_lane_lets_others_run)
{
    ENDS(32, THREAD, IF_NOT(V | 0, 9, 11), OP(NE, V | 1, V | 0, C1), IF(V | 1, 6, 6), SLEEP(C1000), EXIT,
         LOAD(V | 2, C1), IF_NOT(V | 2, 6, 8), TO(11), WARP_SYNC(C3), EXCH(C1, C1), EXIT);
    CHECK_EQUAL_U64(world.memory[1], 1);
}

/* Lanes that a lock has parted poll a flag, which warp 1 sets late: as one entry. */
TEST(lanes_that_poll_at_one_place_poll_together)
{
    ENDS(64, READ(V | 1, WARP), IF(V | 1, 8, 11), CAS(1, C0), IF(V | 1, 2, 4), EXCH(C0, C0), LOAD(V | 1, C1),
         IF_NOT(V | 1, 5, 7), TO(11), OP(MUL, V | 1, C4096, C16), SLEEP(V | 1), EXCH(C1, C1), EXIT);
    CHECK(world.cores.statistics[0].thread_instructions > 20 * world.cores.statistics[0].instructions);
}

/* In each of 100 nested regions the odd lanes skip a part of what the even ones do, and all lanes meet before the join
 * of the region's branch. */
TEST(regions_in_which_lanes_meet_leave_no_joins)
{
    enum { LEVELS = 100, JOINS = 2 + 3 * LEVELS };
    static gpc_instruction_t code[JOINS + LEVELS + 1];
    uint32_t count = 0;
    code[count++] = THREAD;
    code[count++] = OP(AND, V | 1, V | 0, C1);
    for (uint32_t i = 0; i < LEVELS; i++) {
        code[count] = IF(V | 1, count + 2, JOINS + LEVELS - 1 - i);
        code[count + 1] = NOP;
        code[count + 2] = WARP_SYNC(ALL);
        count += 3;
    }
    for (; count < JOINS + LEVELS; count++) {
        code[count] = NOP;
    }
    code[count++] = EXIT;
    world_reset();
    CHECK_EQUAL_I64(run(code, count, 32), 0);
    CHECK_EQUAL_U64(world.cores.statistics[0].divergent_branches, LEVELS);
}

TEST(masks_that_never_match_are_reported)
{
    CHECK_EQUAL_I64(
        run(CODE(THREAD, OP(LT, V | 1, V | 0, C16), OP(XOR, V | 2, C2, ALL), IF(V | 1, 6, 7),
                 OP(WARP_SYNC, NONE, ALL, NONE, .line = 3), TO(7), OP(WARP_SYNC, NONE, V | 2, NONE, .line = 5), EXIT),
            64),
        GPC_ERROR_BARRIER);
    CHECK_EQUAL_TEXT(world.failure.text,
                     "kernel 'f': warp 0 of block (0,0,0): lanes 1, 16 to 31 wait at a warp synchronisation of mask "
                     "0xffffffff in kernel 'f' at line 3 for lanes 0, 2 to 15; lanes 0, 2 to 15 wait at a warp "
                     "synchronisation of mask 0xfffffffd in kernel 'f' at line 5 for lanes 16 to 31");
    CHECK(fails_at(0, 3));
}

/* Two places of one mask: the result of an operation would be of a part of its lanes. */
TEST(lanes_of_an_operation_meet_at_one_place)
{
    for (uint32_t first = 0; first < 2; first++) {
        for (uint32_t second = 0; second < 2; second++) {
            world_reset();
            CHECK_EQUAL_I64(run(CODE(THREAD, OP(LT, V | 1, V | 0, C16), IF(V | 1, 5, 6),
                                     OP(WARP_SYNC, NONE, ALL, NONE, .immediate = first, .line = 3), TO(6),
                                     OP(WARP_SYNC, NONE, ALL, NONE, .immediate = second, .line = 5), EXIT),
                                32),
                            first + second == 0 ? 0 : GPC_ERROR_BARRIER);
            if (first + second != 0) {
                CHECK(strstr(world.failure.text,
                             "have one mask: lanes of one vote, shuffle, match or reduction must meet at one place") !=
                      NULL);
            }
        }
    }
}

TEST(a_warp_sync_needs_independent_lanes)
{
    CHECK_EQUAL_I64(world_try(CODE(OP(WARP_SYNC, NONE, ALL, NONE, .immediate = 2), EXIT), 32), GPC_ERROR_PROGRAM);
    CHECK_EQUAL_TEXT(world.failure.text, "instruction 0 (WARP_SYNC): the immediate of a WARP_SYNC must be 0 or 1");
    world_reset();
    CHECK_EQUAL_I64(world_try(CODE(WARP_SYNC(ALL), EXIT), 32), GPC_ERROR_PROGRAM);
    CHECK_EQUAL_TEXT(world.failure.text, "instruction 0 (WARP_SYNC): the program's lanes are not independent");
    gpc_launch_t launch = world_launch(CODE(EXIT), 1, 32);
    launch.program.independent_lanes = true;
    world_reset();
    world_begin();
    CHECK_EQUAL_I64(world_run(&launch), GPC_ERROR_PROGRAM);
    CHECK_EQUAL_TEXT(world.failure.text, "8 uniform registers: a program of independent lanes has none");
}

/* ---- barriers ---------------------------------------------------------------------------------------------------- */

/* The odd lanes' barrier in another place than the even ones', of two warps; each lane then reads what another
 * stored. */
TEST(lanes_arrive_at_a_barrier_from_several_places)
{
    ENDS(64, THREAD, OP(AND, V | 1, V | 0, C1), SHARED_STORE(V | 0, V | 0), IF(V | 1, 6, 7), BLOCK_BARRIER, TO(7),
         BLOCK_BARRIER, OP(XOR, V | 2, V | 0, C32), SHARED_LOAD(V | 3, V | 2), STORE(V | 0, V | 3), EXIT);
    for (uint32_t i = 0; i < 64; i++) {
        CHECK_EQUAL_U64(world.memory[i], i ^ 32u);
    }
    CHECK_EQUAL_U64(world.cores.statistics[0].barriers, 2);
    CHECK_EQUAL_U64(world.cores.statistics[0].stores, 2); /* the lanes have reconverged */
}

/* One lane of each warp skips the barrier and ends, before or after the others arrive. */
TEST(a_barrier_counts_lanes_that_have_not_ended)
{
    for (uint32_t taken = 0; taken < 2; taken++) {
        gpc_instruction_t branch = taken != 0 ? IF(V | 1, 6, 9) : IF_NOT(V | 1, 4, 9);
        world_reset();
        ENDS(64, THREAD, OP(AND, V | 1, V | 0, C7), branch, (taken != 0 ? TO(4) : TO(6)), SLEEP(C100), EXIT,
             OP(BARRIER, NONE, C0, C64), BLOCK_BARRIER, STORE(V | 0, C7), EXIT);
        CHECK_EQUAL_U64(world.memory[8], 0);
        CHECK_EQUAL_U64(world.memory[9], 7);
        CHECK_EQUAL_U64(world.memory[63], 7);
    }
}

/* Half of the warp waits for the other half, which waits for a lock that lane 0 of the first half holds until then. */
TEST(lanes_at_a_barrier_let_others_run)
{
    ENDS(96, THREAD, CAS(1, C0), IF(V | 1, 1, 3), SLEEP(C100), EXCH(C0, C0), BLOCK_BARRIER, ATOMIC_ADD(V | 2, C1, C1),
         EXIT);
    CHECK_EQUAL_U64(world.memory[1], 96);
    CHECK_EQUAL_U64(world.cores.statistics[0].barriers, 3);
}

TEST(lanes_arrive_without_waiting_for_other_warps)
{
    /* warp 0 arrives at barrier 3 from two places, sleeps and stores; warp 1 waits for both */
    ENDS(64, THREAD, READ(V | 1, WARP), IF(V | 1, 10, 13), IF(V | 0, 6, 7), OP(BARRIER_ARRIVE, NONE, C3, C64), TO(7),
         OP(BARRIER_ARRIVE, NONE, C3, C64), SLEEP(C1000), TO(13), NOP, OP(BARRIER, NONE, C3, C64), READ(V | 2, CLOCK),
         STORE(C1, V | 2), EXIT);
    CHECK(world.memory[1] > 0 && world.memory[1] < 300);
}

TEST(a_barrier_number_may_be_in_a_register_if_all_lanes_agree)
{
    ENDS(32, THREAD, OP(AND, V | 1, V | 0, C0), OP(BARRIER, NONE, V | 1, NONE), EXIT);
    world_reset();
    CHECK_EQUAL_I64(run(CODE(THREAD, OP(BARRIER, NONE, V | 0, NONE), EXIT), 16), GPC_ERROR_BARRIER);
    CHECK(strstr(world.failure.text, "lanes of one warp give different barrier numbers or thread counts") != NULL);
}

TEST(lanes_of_one_warp_at_two_barriers_are_reported)
{
    CHECK_EQUAL_I64(run(CODE(THREAD, IF_NOT(V | 0, 4, 5), OP(BARRIER, NONE, C1, NONE, .line = 3), TO(5),
                             OP(BARRIER, NONE, C2, NONE, .line = 4), EXIT),
                        32),
                    GPC_ERROR_BARRIER);
    CHECK_EQUAL_TEXT(
        world.failure.text,
        "kernel 'f': warp 0 of block (0,0,0): lanes 1 to 31 at barrier 1, lane 0 at barrier 2 in kernel 'f' at "
        "line 4: lanes of one warp must meet at one barrier, with one count");
    CHECK(fails_at(0, 3));
}

TEST(lanes_at_a_barrier_and_at_a_warp_sync_are_reported)
{
    CHECK_EQUAL_I64(run(CODE(THREAD, IF_NOT(V | 0, 4, 5), OP(WARP_SYNC, NONE, ALL, NONE, .line = 3), TO(5),
                             OP(BARRIER, NONE, C0, NONE, .line = 4), EXIT),
                        32),
                    GPC_ERROR_BARRIER);
    CHECK_EQUAL_TEXT(
        world.failure.text,
        "kernel 'f': warp 0 of block (0,0,0): lanes 1 to 31 wait at a warp synchronisation of mask 0xffffffff "
        "in kernel 'f' at line 3 for lane 0; lane 0 waits at barrier 0 in kernel 'f' at line 4 for lanes 1 "
        "to 31");
}

/* ---- random programs --------------------------------------------------------------------------------------------- */

typedef struct {
    gpc_instruction_t code[1200];
    uint32_t count, loops;
    uint64_t seed;
    uint8_t meets; /* WARP_SYNC or BARRIER */
} program_t;

static program_t program;

static uint32_t
draw(uint32_t below)
{
    program.seed = program.seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t) (program.seed >> 33) % below;
}

static uint32_t
emit(gpc_instruction_t instruction)
{
    program.code[program.count] = instruction;
    return program.count++;
}

static void emit_block(uint32_t depth);

/* x[2] += 1 by an atomic, x[1] += 1 within the lock x[0]. */
static void
emit_critical(void)
{
    uint32_t at = program.count;
    emit(CAS(1, C0));
    emit(IF(V | 1, at, at + 2));
    emit(LOAD(V | 1, C1));
    emit(NEXT(1));
    emit(STORE(C1, V | 1));
    emit(ATOMIC_ADD(NONE, C2, C1));
    emit(EXCH(C0, C0));
}

static uint16_t
some_constant(void)
{
    static const uint16_t constants[] = {C1, C2, C3, C7, C16, C32};
    return constants[draw(GPC_COUNT_OF(constants))];
}

static void
emit_if(uint32_t depth)
{
    emit(OP(AND, V | 1, V | 0, some_constant()));
    uint32_t branch = emit(draw(2) != 0 ? IF(V | 1, 0, 0) : IF_NOT(V | 1, 0, 0));
    emit_block(depth - 1);
    uint32_t jump = emit(TO(0));
    program.code[branch].target = program.count;
    if (draw(3) != 0) {
        emit_block(depth - 1);
    }
    program.code[branch].reconverge = program.code[jump].target = program.count;
}

static void
emit_loop(uint32_t depth)
{
    uint16_t counter = (uint16_t) (V | (2 + program.loops++));
    emit(OP(AND, counter, V | 0, C3));
    uint32_t head = emit(OP(BRANCH, NONE, counter, NONE, .flags = GPC_FLAG_IF_ZERO));
    emit_block(depth - 1);
    emit(OP(SUB, counter, counter, C1));
    emit(TO(head));
    program.code[head].target = program.code[head].reconverge = program.count;
    program.loops--;
}

static void
emit_block(uint32_t depth)
{
    for (uint32_t left = 1 + draw(3); left != 0; left--) {
        switch (draw(depth != 0 ? 8 : 4)) {
            case 0:
            case 1:
                emit_critical();
                break;
            case 2:
                emit(program.meets == GPC_OP_BARRIER ? BLOCK_BARRIER : WARP_SYNC(ALL));
                break;
            case 3:
                if (draw(6) == 0) { /* a lane ends */
                    emit(OP(EQ, V | 1, V | 0, some_constant()));
                    uint32_t branch = emit(IF_NOT(V | 1, 0, 0));
                    emit(EXIT);
                    program.code[branch].target = program.code[branch].reconverge = program.count;
                }
                break;
            case 4:
            case 5:
                emit_loop(depth);
                break;
            default:
                emit_if(depth);
                break;
        }
    }
}

/* Locks in random control flow, with meetings of all lanes that have not ended in random places: whatever the lanes do,
 * each of them ends, and no increment within the lock is lost. */
TEST(random_programs_end)
{
    for (uint64_t seed = 1; seed <= 120; seed++) {
        memset(&program, 0, sizeof program);
        program.seed = seed;
        program.meets = seed % 2 != 0 ? GPC_OP_BARRIER : GPC_OP_WARP_SYNC;
        emit(THREAD);
        emit_block(3);
        emit(EXIT);
        world_reset();
        world.latency = 5 + (gpc_cycle_t) seed % 30;
        world.machine.lanes_per_warp = program.meets == GPC_OP_BARRIER && seed % 4 == 1 ? 64 : 32;
        int status = run(program.code, program.count, 32 + 32 * draw(3));
        if (status != 0) {
            printf("# seed %u, %u instructions: %d %s\n", (unsigned) seed, program.count, status, world.failure.text);
        }
        CHECK_EQUAL_I64(status, 0);
        CHECK_EQUAL_U64(world.memory[1], world.memory[2]);
        CHECK_EQUAL_U64(world.memory[0], 0);
    }
}

AFTER_TESTS
{
    printf("# most entries: %u\n", most_entries);
}

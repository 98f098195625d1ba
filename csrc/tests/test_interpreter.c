/* test_interpreter.c: results of instructions, divergence, and invalid programs. */
#include "core/execute/alu.h"
#include "core_world.h"
#include "harness.h"

static uint32_t
bits(float value)
{
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

static uint32_t
one(gpc_opcode_t opcode, gpc_type_t type, uint32_t a, uint32_t b)
{
    return gpc_alu_find((uint8_t) opcode, (uint8_t) type, 0, false).one(a, b, 0);
}

static uint32_t
convert(gpc_type_t from, gpc_type_t to, uint32_t a)
{
    return gpc_alu_find(GPC_OP_CONVERT, (uint8_t) from, (uint16_t) to, false).one(a, 0, 0);
}

#define INT_MIN_WORD UINT32_C(0x80000000)
#define QUIET UINT32_C(0x7FC00000)

TEST(integer_division_is_defined_at_its_edges)
{
    CHECK_EQUAL_U64(one(GPC_OP_DIV, GPC_I32, 5, 0), 0);
    CHECK_EQUAL_U64(one(GPC_OP_DIV, GPC_I32, INT_MIN_WORD, UINT32_MAX), INT_MIN_WORD);
    CHECK_EQUAL_U64(one(GPC_OP_DIV, GPC_U32, UINT32_MAX, 2), INT32_MAX);
    CHECK_EQUAL_U64(one(GPC_OP_MOD, GPC_I32, INT_MIN_WORD, UINT32_MAX), 0);
    CHECK_EQUAL_U64(one(GPC_OP_MOD, GPC_U32, 7, 0), 0);
}

TEST(shifts_past_the_word_are_defined)
{
    CHECK_EQUAL_U64(one(GPC_OP_SHL, GPC_I32, 1, 31), INT_MIN_WORD);
    CHECK_EQUAL_U64(one(GPC_OP_SHL, GPC_I32, 1, 32), 0);
    CHECK_EQUAL_U64(one(GPC_OP_SHR, GPC_I32, (uint32_t) -8, 1), (uint32_t) -4);
    CHECK_EQUAL_U64(one(GPC_OP_SHR, GPC_I32, (uint32_t) -8, 0), (uint32_t) -8);
    CHECK_EQUAL_U64(one(GPC_OP_SHR, GPC_I32, (uint32_t) -8, 99), UINT32_MAX);
    CHECK_EQUAL_U64(one(GPC_OP_SHR, GPC_I32, 8, 32), 0);
    CHECK_EQUAL_U64(one(GPC_OP_SHR, GPC_U32, UINT32_MAX, 32), 0);
}

TEST(conversions_truncate_and_saturate)
{
    CHECK_EQUAL_U64(convert(GPC_F32, GPC_I32, bits(-1.9f)), (uint32_t) -1);
    CHECK_EQUAL_U64(convert(GPC_F32, GPC_I32, bits(3e9f)), INT32_MAX);
    CHECK_EQUAL_U64(convert(GPC_F32, GPC_I32, bits(-3e9f)), INT_MIN_WORD);
    CHECK_EQUAL_U64(convert(GPC_F32, GPC_I32, QUIET), 0);
    CHECK_EQUAL_U64(convert(GPC_F32, GPC_U32, bits(3e9f)), 3000000000u);
    CHECK_EQUAL_U64(convert(GPC_F32, GPC_U32, bits(5e9f)), UINT32_MAX);
    CHECK_EQUAL_U64(convert(GPC_F32, GPC_U32, bits(-5.0f)), 0);
    CHECK_EQUAL_U64(convert(GPC_F32, GPC_U32, QUIET), 0);
    CHECK_EQUAL_U64(convert(GPC_I32, GPC_F32, (uint32_t) -2), bits(-2.0f));
    CHECK_EQUAL_U64(convert(GPC_U32, GPC_F32, UINT32_MAX), bits(4294967296.0f));
}

TEST(f32_follows_ieee_and_nans_are_of_one_kind)
{
    CHECK_EQUAL_U64(one(GPC_OP_ADD, GPC_F32, bits(0.1f), bits(0.2f)), bits(0.1f + 0.2f));
    CHECK_EQUAL_U64(one(GPC_OP_DIV, GPC_F32, bits(1.0f), bits(0.0f)), UINT32_C(0x7F800000));
    CHECK_EQUAL_U64(one(GPC_OP_DIV, GPC_F32, 0, 0), QUIET);
    CHECK_EQUAL_U64(one(GPC_OP_ADD, GPC_F32, UINT32_C(0xFFC12345), bits(1.0f)), QUIET);
    CHECK_EQUAL_U64(one(GPC_OP_SQRT, GPC_F32, bits(-1.0f), 0), QUIET);
    CHECK_EQUAL_U64(one(GPC_OP_SQRT, GPC_F32, bits(2.0f), 0), UINT32_C(0x3FB504F3));
    CHECK_EQUAL_U64(one(GPC_OP_MIN, GPC_F32, QUIET, bits(3.0f)), bits(3.0f));
    CHECK_EQUAL_U64(one(GPC_OP_MAX, GPC_F32, bits(3.0f), QUIET), bits(3.0f));
    CHECK_EQUAL_U64(one(GPC_OP_FLOOR, GPC_F32, bits(-0.5f), 0), bits(-1.0f));
    CHECK_EQUAL_U64(one(GPC_OP_FLOOR, GPC_F32, bits(-0.0f), 0), bits(-0.0f));
    CHECK_EQUAL_U64(one(GPC_OP_MOD, GPC_F32, bits(-1.0f), bits(3.0f)), bits(2.0f));
    CHECK_EQUAL_U64(one(GPC_OP_FLOORDIV, GPC_F32, bits(1.0f), bits(0.1f)), bits(9.0f)); /* 0.1f is above a tenth */
    CHECK_EQUAL_U64(one(GPC_OP_MOD, GPC_F32, bits(1e20f), bits(3.0f)), bits(2.0f));
    CHECK_EQUAL_U64(one(GPC_OP_MOD, GPC_F32, bits(5.0f), UINT32_C(0x7F800000)), bits(5.0f)); /* infinity */
    CHECK_EQUAL_U64(one(GPC_OP_FLOORDIV, GPC_F32, bits(-5.0f), UINT32_C(0x7F800000)), bits(-1.0f));
    CHECK_EQUAL_U64(one(GPC_OP_MOD, GPC_F32, UINT32_C(5), UINT32_C(3)), 2); /* of the smallest subnormal numbers */
    CHECK_EQUAL_U64(one(GPC_OP_MOD, GPC_F32, bits(6.0f), bits(-3.0f)), bits(-0.0f));
    CHECK_EQUAL_U64(one(GPC_OP_MOD, GPC_F32, bits(1.0f), 0), QUIET);
    CHECK_EQUAL_U64(one(GPC_OP_NE, GPC_F32, QUIET, QUIET), 1);
    CHECK_EQUAL_U64(one(GPC_OP_LE, GPC_F32, QUIET, QUIET), 0);
    CHECK_EQUAL_U64(one(GPC_OP_LT, GPC_I32, (uint32_t) -1, 0), 1);
    CHECK_EQUAL_U64(one(GPC_OP_LT, GPC_U32, (uint32_t) -1, 0), 0);
}

/* ---- programs: v0 = thread --------------------------------------------------------------------------------------- */

#define RESULT(register) STORE(V | 0, V | (register))

TEST(branches_join_again)
{
    /* v2 = thread < 16 ? 1 : 2; then v2 += 1 for all */
    RUNS(32, THREAD, OP(LT, V | 1, V | 0, C16), IF_NOT(V | 1, 5, 6), MOVE(V | 2, C1), TO(6), MOVE(V | 2, C2),
         OP(ADD, V | 2, V | 2, C1), RESULT(2), EXIT);
    CHECK_EQUAL_U64(world.memory[3], 2);
    CHECK_EQUAL_U64(world.memory[20], 3);
    CHECK_EQUAL_U64(world.cores.statistics[0].divergent_branches, 1);
    CHECK_EQUAL_U64(world.cores.statistics[0].instructions, 9);
    CHECK_EQUAL_U64(world.cores.statistics[0].thread_instructions, 6 * 32 + 3 * 16);
}

TEST(a_loop_runs_as_often_as_each_lane_wants)
{
    /* v1 = 0; while v1 < thread: v1 += 1 */
    RUNS(32, THREAD, MOVE(V | 1, C0), OP(LT, V | 2, V | 1, V | 0), IF_NOT(V | 2, 6, 6), OP(ADD, V | 1, V | 1, C1),
         TO(2), RESULT(1), EXIT);
    for (uint32_t i = 0; i < 32; i++) {
        CHECK_EQUAL_U64(world.memory[i], i);
    }
    /* the loop's four instructions: its test by 32, 31, ... lanes, its body by 31, 30, ... */
    CHECK_EQUAL_U64(world.cores.statistics[0].thread_instructions, 4 * 32 + 2 * (32 * 33 / 2) + 2 * (31 * 32 / 2));
}

TEST(lanes_that_ended_stay_ended)
{
    RUNS(32, THREAD, OP(AND, V | 1, V | 0, C1), IF_NOT(V | 1, 4, 4), EXIT, MOVE(V | 1, C7), RESULT(1), EXIT);
    CHECK_EQUAL_U64(world.memory[4], 7);
    CHECK_EQUAL_U64(world.memory[5], 0);
    CHECK_EQUAL_U64(world.cores.statistics[0].thread_instructions, 3 * 32 + 4 * 16);
}

TEST(the_last_warp_has_only_the_threads_there_are)
{
    RUNS(40, THREAD, MOVE(V | 1, C7), RESULT(1), EXIT);
    CHECK_EQUAL_U64(world.memory[39], 7);
    CHECK_EQUAL_U64(world.memory[40], 0);
    CHECK_EQUAL_U64(world.cores.statistics[0].thread_instructions, 4 * 40);
}

TEST(sixty_four_lanes)
{
    world.machine.lanes_per_warp = 64;
    RUNS(64, THREAD, OP(LT, V | 1, V | 0, C32), IF(V | 1, 4, 4), OP(ADD, V | 1, V | 0, C100),
         OP(BALLOT, U | 0, V | 1, NONE, .flags = GPC_FLAG_HIGH), OP(BALLOT, U | 1, V | 0, NONE), RESULT(1),
         STORE(C100, U | 0), STORE(C64, U | 1), EXIT);
    CHECK_EQUAL_U64(world.memory[31], 1);
    CHECK_EQUAL_U64(world.memory[63], 163);
    CHECK_EQUAL_U64(world.memory[100], UINT32_MAX);
    CHECK_EQUAL_U64(world.memory[64], UINT32_MAX - 1);
}

TEST(votes_and_shuffles)
{
    RUNS(32, THREAD, OP(LT, V | 1, V | 0, C3), OP(ANY, U | 0, V | 1, NONE), OP(ALL, U | 1, V | 1, NONE),
         OP(BALLOT, U | 2, V | 1, NONE), OP(ADD, V | 2, V | 0, C1), OP(SHUFFLE, V | 3, V | 0, V | 2), RESULT(3),
         STORE(C100, U | 0), STORE(C32, U | 1), STORE(C64, U | 2), EXIT);
    CHECK_EQUAL_U64(world.memory[0], 1);
    CHECK_EQUAL_U64(world.memory[31], 0);
    CHECK_EQUAL_U64(world.memory[100], 1);
    CHECK_EQUAL_U64(world.memory[32], 0);
    CHECK_EQUAL_U64(world.memory[64], 7);
}

TEST(local_arrays_are_registers_by_index)
{
    RUNS(32, THREAD, OP(AND, V | 1, V | 0, C1), OP(LOCAL_STORE, NONE, V | 1, V | 0, .c = C2, .immediate = 4),
         OP(LOCAL_LOAD, V | 2, V | 1, C2, .immediate = 4), RESULT(2), EXIT);
    CHECK_EQUAL_U64(world.memory[5], 5);
    world_reset();
    CHECK_EQUAL_I64(
        world_try(CODE(THREAD, OP(LOCAL_STORE, NONE, V | 0, V | 0, .c = C2, .immediate = 4, .line = 3), EXIT), 32),
        GPC_ERROR_BOUNDS);
    CHECK_EQUAL_TEXT(world.failure.text, "kernel 'f': index 2 is out of bounds of a local array of 2 words: "
                                         "thread (2,0,0) of block (0,0,0)");
    CHECK(fails_at(0, 3));
}

TEST(scratchpad_loads_stores_and_atomics)
{
    RUNS(32, THREAD, OP(SHARED_ATOMIC, V | 1, C0, C1, .flags = GPC_ATOMIC_ADD << GPC_FLAG_ATOMIC_SHIFT),
         OP(SHARED_STORE, NONE, V | 0, V | 0, .c = C32, .immediate = 8), OP(SUB, V | 2, C32, V | 0),
         OP(SUB, V | 2, V | 2, C1), OP(SHARED_LOAD, V | 3, V | 2, C32, .immediate = 8), OP(ADD, V | 3, V | 3, V | 1),
         RESULT(3), EXIT);
    for (uint32_t i = 0; i < 32; i++) { /* the lane's trip count plus the mirrored lane */
        CHECK_EQUAL_U64(world.memory[i], 31);
    }
    CHECK_EQUAL_U64(world.cores.statistics[0].shared_accesses, 3);
}

TEST(an_offset_is_added_to_a_scratchpad_index)
{
    RUNS(32, THREAD, OP(SHARED_STORE, NONE, V | 0, V | 0, .c = C32), OP(SUB, V | 1, V | 0, C32),
         OP(SHARED_LOAD, V | 2, V | 1, C32, .target = 32), RESULT(2), EXIT);
    for (uint32_t i = 0; i < 32; i++) {
        CHECK_EQUAL_U64(world.memory[i], i);
    }
    world_reset();
    CHECK_EQUAL_I64(world_try(CODE(THREAD, OP(SHARED_STORE, NONE, V | 0, V | 0, .c = C32, .target = 1), EXIT), 32),
                    GPC_ERROR_BOUNDS);
    CHECK_EQUAL_TEXT(world.failure.text, "kernel 'f': index 32 is out of bounds of a shared array of 32 words: "
                                         "thread (31,0,0) of block (0,0,0)");
}

TEST(a_scratchpad_index_outside_is_reported)
{
    CHECK_EQUAL_I64(world_try(CODE(THREAD, OP(SHARED_STORE, NONE, V | 0, V | 0, .c = C16, .line = 9), EXIT), 32),
                    GPC_ERROR_BOUNDS);
    CHECK_EQUAL_TEXT(world.failure.text, "kernel 'f': index 16 is out of bounds of a shared array of 16 words: "
                                         "thread (16,0,0) of block (0,0,0)");
    CHECK(fails_at(0, 9));
}

/* ---- invalid programs -------------------------------------------------------------------------------------------- */

TEST(programs_are_validated)
{
    CHECK_EQUAL_TEXT(world_refusal(CODE(NOP, EXIT)), "accepted");
    CHECK_EQUAL_TEXT(world_refusal(CODE((gpc_instruction_t) ROW_(NOP, NONE, NONE, NONE, .line = 4))),
                     "instruction 0 (NOP): control runs off the end of the program");
    CHECK_EQUAL_TEXT(world_refusal(CODE(OP(ADD, V | 8, V, V), EXIT)),
                     "instruction 0 (ADD): operand d is vector register 8: must be below 8");
    CHECK_EQUAL_TEXT(world_refusal(CODE(MOVE(U, V), EXIT)),
                     "instruction 0 (MOVE): the destination is uniform and a source is a vector register");
    CHECK_EQUAL_TEXT(world_refusal(CODE(MOVE(C, V), EXIT)),
                     "instruction 0 (MOVE): a constant cannot be the destination");
    CHECK_EQUAL_TEXT(world_refusal(CODE(TO(9))),
                     "instruction 0 (JUMP): branch target or reconvergence point outside the program");
    CHECK_EQUAL_TEXT(world_refusal(CODE(OP(LOAD, V, V, NONE, .immediate = 2), EXIT)),
                     "instruction 0 (LOAD): unknown buffer");
    CHECK_EQUAL_TEXT(world_refusal(CODE(OP(AND, V, V, V, .type = GPC_F32), EXIT)),
                     "instruction 0 (AND): operation not defined for this type");
    gpc_instruction_t narrow = OP(ATOMIC, V, V, V);
    narrow.bytes = 1;
    CHECK_EQUAL_TEXT(world_refusal(CODE(narrow, EXIT)),
                     "instruction 0 (ATOMIC): elements of 1 or 2 bytes need a load or store of one i32 or u32");
    CHECK_EQUAL_TEXT(world_refusal(CODE((gpc_instruction_t){.opcode = 200}, EXIT)),
                     "instruction 0: unknown opcode 200");
}

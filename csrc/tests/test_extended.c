/* test_extended.c: extended operations on pairs of registers, even and uneven; what a program may say of them; accesses
 * by address and by byte; atomics of two words. Values of every row: tests/unit/lang/test_extended.py. */
#include "core/execute/extended.h"

#include "cache/rmw.h"
#include "core/execute/float.h"

#include "core_world.h"
#include "harness.h"

static uint32_t
row_of(const char *name)
{
    for (uint32_t i = 0; i < gpc_num_extended; i++) {
        if (strcmp(gpc_extended[i].name, name) == 0) {
            return i;
        }
    }
    return UINT32_MAX;
}

static gpc_instruction_t
extended(const char *name, uint16_t d, uint16_t a, uint16_t b, uint16_t c)
{
    uint32_t row = row_of(name);
    gpc_instruction_t in = OP(EXTENDED, d, a, b, .c = c, .immediate = row);
    in.width = row == UINT32_MAX ? 1 : gpc_extended[row].d;
    return in;
}

TEST(pairs_carry_in_even_registers_in_others_and_in_some_lanes)
{
    /* v2:v3 = 2^32 - 1 in all lanes; v4:v5 = v2:v3 + (1, 0): the same for all; v6:v7 = v2:v3 + thread */
    RUNS(7, THREAD, MOVE(V | 2, C_MINUS1), MOVE(V | 3, C0), MOVE(V | 1, C0),
         extended("ADD_B64", V | 6, V | 2, V | 0, 0), STORE(V | 0, V | 7), MOVE(V | 0, C1),
         extended("ADD_B64", V | 4, V | 2, V | 0, 0), STORE(C100, V | 4), OP(ADD, V | 1, C100, C1), STORE(V | 1, V | 5),
         EXIT);
    CHECK_EQUAL_U64(world.memory[0], 0);
    CHECK_EQUAL_U64(world.memory[1], 1);
    CHECK_EQUAL_U64(world.memory[6], 1);
    CHECK_EQUAL_U64(world.memory[100], 0);
    CHECK_EQUAL_U64(world.memory[101], 1);
}

TEST(a_pair_may_overlap_its_operands_and_a_result_may_be_uniform)
{
    /* constants 1 and 2 are a pair; v1:v2 = (1, 2) + (1, 2); then v2:v3 = v1:v2 + v1:v2 */
    RUNS(32, extended("ADD_B64", V | 1, C1, C1, 0), extended("ADD_B64", V | 2, V | 1, V | 1, 0),
         extended("EQ_B64", U | 0, C1, C1, 0), STORE(C0, V | 2), STORE(C1, V | 3), STORE(C2, U | 0), EXIT);
    CHECK_EQUAL_U64(world.memory[0], 4);
    CHECK_EQUAL_U64(world.memory[1], 8);
    CHECK_EQUAL_U64(world.memory[2], 1);
}

static const char *
refused_with(gpc_instruction_t in, uint16_t flags, uint8_t width)
{
    in.flags = flags;
    in.width = width;
    return world_refusal(CODE(in, EXIT));
}

TEST(extended_instructions_are_validated)
{
    gpc_instruction_t add = extended("ADD_B64", V | 0, V | 2, C1, 0);
    CHECK_EQUAL_TEXT(refused_with(add, 0, 2), "accepted");
    CHECK_EQUAL_TEXT(refused_with(add, 0, 1), "instruction 0 (EXTENDED): the destination must be as many registers as "
                                              "the extended operation's result has words");
    CHECK_EQUAL_TEXT(refused_with(add, GPC_FLAG_FTZ, 2),
                     "instruction 0 (EXTENDED): the extended operation does not take these flags");
    CHECK_EQUAL_TEXT(refused_with(extended("ADD_F32", V | 0, V | 2, C1, 0), GPC_FLAG_FTZ | GPC_ROUND_UP, 1),
                     "accepted");
    CHECK_EQUAL_TEXT(refused_with(extended("ADD_B64", V | 7, V | 2, C1, 0), 0, 2),
                     "instruction 0 (EXTENDED): operand d is vector register 8: must be below 8");
    CHECK_EQUAL_TEXT(refused_with(extended("ADD_B64", V | 0, V | 2, C_MINUS1, 0), 0, 2),
                     "instruction 0 (EXTENDED): operand b is constant 12: must be below 12");
    CHECK_EQUAL_TEXT(refused_with(extended("EQ_B64", U | 0, V | 2, C1, 0), 0, 1),
                     "instruction 0 (EXTENDED): the destination is uniform and a source is a vector register");
    CHECK_EQUAL_TEXT(refused_with(extended("none", V | 0, V | 2, C1, 0), 0, 1),
                     "instruction 0 (EXTENDED): unknown extended operation");
}

TEST(widths_and_modes_are_validated)
{
    gpc_instruction_t load = SHARED_LOAD(V | 0, V | 4);
    CHECK_EQUAL_TEXT(refused_with(load, GPC_FLAG_BYTES, 4), "accepted");
    CHECK_EQUAL_TEXT(refused_with(load, GPC_FLAG_BYTES, 3),
                     "instruction 0 (SHARED_LOAD): width must be 1, 2 or 4 words");
    CHECK_EQUAL_TEXT(refused_with(load, 0, 2),
                     "instruction 0 (SHARED_LOAD): accesses of several words need GPC_FLAG_BYTES");
    CHECK_EQUAL_TEXT(refused_with(load, GPC_FLAG_FLAT, 1),
                     "instruction 0 (SHARED_LOAD): an access by address is a LOAD, STORE or ATOMIC");
    CHECK_EQUAL_TEXT(refused_with(LOAD(U | 0, C1), GPC_FLAG_FLAT, 1),
                     "instruction 0 (LOAD): an access by address needs a vector register");
    gpc_instruction_t shuffle = OP(SHUFFLE, V | 0, V | 4, C1, .c = C2);
    CHECK_EQUAL_TEXT(refused_with(shuffle, GPC_SHUFFLE_IDX << GPC_FLAG_SHUFFLE_SHIFT, 2), "accepted");
    CHECK_EQUAL_TEXT(refused_with(shuffle, 7u << GPC_FLAG_SHUFFLE_SHIFT, 1),
                     "instruction 0 (SHUFFLE): unknown mode, or a width other than 1 and 2");
    CHECK_EQUAL_TEXT(refused_with(shuffle, 0, 2), "instruction 0 (SHUFFLE): a shuffle of any lane has no predicate");
    gpc_instruction_t atomic = OP(ATOMIC, V | 0, V | 2, V | 4, .c = V | 6);
    CHECK_EQUAL_TEXT(refused_with(atomic, GPC_FLAG_FLAT | GPC_ATOMIC_CAS << GPC_FLAG_ATOMIC_SHIFT, 2), "accepted");
    CHECK_EQUAL_TEXT(refused_with(atomic, GPC_FLAG_FLAT | GPC_ATOMIC_INC << GPC_FLAG_ATOMIC_SHIFT, 2),
                     "instruction 0 (ATOMIC): atomics of two words are no increment or decrement, and of f64 add and "
                     "exchange only");
    CHECK_EQUAL_TEXT(refused_with(atomic, GPC_FLAG_FLAT, 4), "instruction 0 (ATOMIC): atomics have one word or two");
}

/* Buffer x is [0, 4 * WORLD_WORDS). */
TEST(an_address_outside_of_every_array_is_reported)
{
    gpc_instruction_t load = OP(LOAD, V | 2, V | 0, NONE, .flags = GPC_FLAG_FLAT, .line = 5);
    load.immediate = 4 * WORLD_WORDS - 4;
    world_reset();
    RUNS(32, MOVE(V | 1, C0), load, EXIT);
    load.immediate += 4;
    world_reset();
    CHECK_EQUAL_I64(world_try(CODE(MOVE(V | 1, C0), load, EXIT), 32), GPC_ERROR_BOUNDS);
    CHECK_EQUAL_TEXT(
        world.failure.text,
        "kernel 'f': load of 4 bytes at address 0x40000, which is in no array; nearest: 'x' of 262144 bytes "
        "at 0x0, 0 bytes behind its end: thread (0,0,0) of block (0,0,0)");
    CHECK(fails_at(0, 5));
}

/* A base at either end of 4 GiB, and an offset that leaves them: the sum has all 64 bits. */
TEST(an_offset_carries_to_the_upper_word)
{
    gpc_instruction_t load = OP(LOAD, V | 2, V | 0, NONE, .flags = GPC_FLAG_FLAT);
    load.immediate = 101;
    world_reset();
    world.memory[25] = 77;
    RUNS(32, MOVE(V | 0, C_MINUS1), MOVE(V | 1, C_MINUS1), load, STORE(C0, V | 2), EXIT);
    CHECK_EQUAL_U64(world.memory[0], 77); /* -1 + 101 is byte 100 */
    world_reset();
    CHECK_EQUAL_I64(world_try(CODE(MOVE(V | 0, C_MINUS1), MOVE(V | 1, C0), load, EXIT), 32), GPC_ERROR_BOUNDS);
    CHECK(strstr(world.failure.text, "address 0x100000064") != NULL);
}

TEST(words_of_an_atomic_are_performed_together)
{
    uint32_t words[32] = {UINT32_MAX, 1, 5, 6};
    gpc_lane_list_t lanes = {.operation = GPC_ATOMIC_ADD, .type = GPC_U32, .width = 2, .count = 4};
    for (uint32_t n = 0; n < 4; n++) { /* two lanes add (1, 1) to words 0 and 1 */
        lanes.word[n] = (uint8_t) (n % 2);
        lanes.operand[n] = 1;
    }
    CHECK_EQUAL_U64(gpc_rmw_perform(&lanes, words), 3);
    CHECK_EQUAL_U64(words[0], 1);
    CHECK_EQUAL_U64(words[1], 4); /* 1 + carry + 1 + 1 */
    CHECK_EQUAL_U64(lanes.old[2], 0);
    CHECK_EQUAL_U64(lanes.old[3], 3);
    CHECK(gpc_rmw_changes(&lanes, 1) && gpc_rmw_changes(&lanes, 2));
    gpc_lane_list_t swap = {
        .operation = GPC_ATOMIC_CAS, .width = 2, .count = 2, .word = {2, 3}, .operand = {5, 7}, .replacement = {8, 9}};
    CHECK_EQUAL_U64(gpc_rmw_perform(&swap, words), 0); /* the upper word differs */
    CHECK_EQUAL_U64(words[2], 5);
    CHECK(!gpc_rmw_changes(&swap, 0));
    swap.operand[1] = 6;
    CHECK_EQUAL_U64(gpc_rmw_perform(&swap, words), 0xC);
    CHECK_EQUAL_U64(words[2], 8);
    CHECK_EQUAL_U64(words[3], 9);
}

static uint64_t
value_at(const uint32_t (*words)[GPC_ALU_LANES], uint32_t l, uint32_t count)
{
    return count == 0 ? 0 : words[0][l] | (count == 2 ? (uint64_t) words[1][l] << 32 : 0);
}

/* Lanes of which those loops differ from one lane's function; the wide ones only where the host has them. */
static uint32_t
count_different(const gpc_extended_t *row, gpc_extended_all_t all, const uint32_t (*words)[2][GPC_ALU_LANES],
                uint32_t flags)
{
    const gpc_extended_lanes_t from = {{words[0][0], words[1][0], words[2][0]},
                                       {words[0][1], words[1][1], words[2][1]}};
    uint32_t found[2][GPC_ALU_LANES] = {{0}, {0}}, different = 0;
    all(found[0], found[1], &from, flags);
    for (uint32_t l = 0; l < GPC_ALU_LANES; l++) {
        uint64_t one = row->one(value_at(words[0], l, row->a), value_at(words[1], l, row->b),
                                value_at(words[2], l, row->c), flags);
        different += one != value_at((const uint32_t (*)[GPC_ALU_LANES]) found, l, row->d);
    }
    return different;
}

/* For every word, too: the sanitizer build sees what is not defined. */
TEST(every_row_gives_all_lanes_what_it_gives_one)
{
    static const uint32_t edges[8] = {0, 1, 31, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x7FF00000, 0x7F800000};
    uint32_t words[3][2][GPC_ALU_LANES], seed = 1;
    for (uint32_t i = 0; i < gpc_num_extended; i++) {
        const gpc_extended_t *row = &gpc_extended[i];
        uint32_t different = 0;
        for (uint32_t flags = 0; flags < (row->takes_flags ? 16u : 1u); flags++) {
            for (uint32_t k = 0; k < 6 * GPC_ALU_LANES; k++) {
                seed = seed * 1664525u + 1013904223u;
                words[k / 64][k / 32 % 2][k % 32] = seed >> 30 == 0 ? edges[seed >> 27 & 7] : seed * 2654435761u;
            }
            different += count_different(row, row->all, (const uint32_t (*)[2][GPC_ALU_LANES]) words, flags);
            if (gpc_extended_host_is_wide()) {
                different += count_different(row, row->wide, (const uint32_t (*)[2][GPC_ALU_LANES]) words, flags);
            }
        }
        if (different != 0) {
            harness_note("%s: %u lanes differ", row->name, different);
        }
        CHECK_EQUAL_U64(different, 0);
    }
}

/* The host's arithmetic is to the nearest: float.c gives the same. */
TEST(rounding_to_the_nearest_is_the_hosts)
{
    uint64_t a = 1, b = 7, wrong = 0;
    for (uint32_t i = 0; i < 100000; i++) {
        a = a * UINT64_C(6364136223846793005) + 1442695040888963407;
        b = b * UINT64_C(2862933555777941757) + 3037000493;
        uint64_t y = i % 2 == 0 ? b : (a & ~UINT64_C(0x3FFFFFFFFFFFF)) ^ (b >> 14); /* of like size */
        double p, q;
        memcpy(&p, &a, 8);
        memcpy(&q, &y, 8);
        const double results[] = {p + q, p - q, p * q, p / q};
        const uint64_t ours[] = {gpc_float_add(&gpc_format_f64, a, y, 0), gpc_float_subtract(&gpc_format_f64, a, y, 0),
                                 gpc_float_multiply(&gpc_format_f64, a, y, 0),
                                 gpc_float_divide(&gpc_format_f64, a, y, 0)};
        for (uint32_t k = 0; k < 4; k++) {
            uint64_t bits;
            memcpy(&bits, &results[k], 8);
            wrong += results[k] == results[k] ? bits != ours[k] : ours[k] != gpc_format_f64.nan;
        }
    }
    CHECK_EQUAL_U64(wrong, 0);
}

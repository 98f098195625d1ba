/* test_coalescer.c: from lanes to line requests and back: lane lists, wide accesses, parts of words, refused accesses.
 * test_time_access.c has the requests of a line and their cycles. */
#include "core_world.h"

#define ADDS (GPC_ATOMIC_ADD << GPC_FLAG_ATOMIC_SHIFT)

static gpc_instruction_t
wide(gpc_instruction_t instruction)
{
    instruction.width = 2;
    return instruction;
}

static void
fill_memory(void)
{
    for (uint32_t i = 0; i < WORLD_WORDS; i++) {
        world.memory[i] = i * 10;
    }
}

/* The cycles, after the first one's, in which the L1 takes requests that follow one another, scattered ones of a
 * word each, or whole lines of lanes with 4 words each. */
static void
check_port(uint32_t width, bool wide_ones, const gpc_cycle_t *cycles)
{
    world_reset();
    world.machine.l1_bytes_per_cycle = width;
    gpc_instruction_t load = LOAD(V | 2, V | 1);
    load.width = wide_ones ? 4 : 1;
    RUNS(32, THREAD, OP(MUL, V | 1, V | 0, wide_ones ? C2 : C100), OP(MUL, V | 1, V | 1, wide_ones ? C2 : C1), load,
         EXIT);
    for (uint32_t i = 0; i < 4; i++) {
        CHECK_EQUAL_U64(world.seen[i].at - world.seen[0].at, cycles[i]);
    }
}

TEST(port_passes_its_bytes_in_a_cycle)
{
    check_port(0, true, (const gpc_cycle_t[]){0, 1, 2, 3});
    check_port(128, true, (const gpc_cycle_t[]){0, 1, 2, 3});
    check_port(64, true, (const gpc_cycle_t[]){0, 2, 4, 6});
    check_port(48, true, (const gpc_cycle_t[]){0, 2, 5, 8}); /* 128 k / 48 */
    check_port(256, true, (const gpc_cycle_t[]){0, 0, 1, 1});
    check_port(64, false, (const gpc_cycle_t[]){0, 1, 2, 3}); /* a word each */
    check_port(256, false, (const gpc_cycle_t[]){0, 0, 1, 1});
}

TEST(of_lanes_that_store_to_one_word_the_highest_wins)
{
    RUNS(32, THREAD, STORE(C7, V | 0), EXIT);
    CHECK_EQUAL_U64(world.memory[7], 31);
    CHECK_EQUAL_U64(world.seen[0].mask, 1u << 7);
}

TEST(atomics_go_in_lane_order_and_each_gets_its_old_value)
{
    RUNS(32, THREAD, OP(ATOMIC, V | 1, C7, C2, .flags = ADDS), OP(ADD, V | 0, V | 0, C64), STORE(V | 0, V | 1), EXIT);
    CHECK_EQUAL_U64(world.memory[7], 64);
    CHECK_EQUAL_U64(world.seen[0].lanes, 32);
    CHECK_EQUAL_U64(world.memory[64], 0);
    CHECK_EQUAL_U64(world.memory[64 + 31], 62);
}

TEST(an_atomic_without_a_destination_is_performed)
{
    RUNS(32, OP(ATOMIC, NONE, C7, C2, .flags = ADDS), EXIT);
    CHECK_EQUAL_U64(world.memory[7], 64);
}

TEST(a_uniform_destination_means_once_a_warp)
{
    RUNS(32, OP(ATOMIC, U | 0, C7, C2, .flags = ADDS), OP(LOAD, U | 1, C7, NONE, .order = GPC_ORDER_ACQUIRE),
         STORE(C1, U | 1), EXIT);
    CHECK_EQUAL_U64(world.memory[7], 2);
    CHECK_EQUAL_U64(world.seen[0].lanes, 1);
}

TEST(wide_accesses_carry_words_side_by_side)
{
    fill_memory();
    RUNS(32, THREAD, OP(MUL, V | 0, V | 0, C2), wide(LOAD(V | 2, V | 0)), OP(ADD, V | 0, V | 0, C64),
         wide(STORE(V | 0, V | 2)), EXIT);
    CHECK_EQUAL_U64(world.cores.statistics[0].loads, 2);
    CHECK_EQUAL_U64(world.memory[64 + 63], 630);
    world_reset();
    CHECK_EQUAL_I64(world_try(CODE(wide(LOAD(V | 2, C1)), EXIT), 32), GPC_ERROR_ADDRESS);
}

static gpc_instruction_t
narrow(gpc_instruction_t instruction, uint8_t bytes)
{
    instruction.bytes = bytes;
    instruction.flags |= GPC_FLAG_FLAT;
    return instruction;
}

/* Stores the lanes' numbers to consecutive elements from an address on. */
static void
store_elements(uint16_t first, uint8_t bytes)
{
    world_reset();
    memset(world.memory, 0xEE, sizeof world.memory);
    RUNS(32, THREAD, OP(MUL, V | 2, V | 0, bytes == 1 ? C1 : C2), OP(ADD, V | 2, V | 2, first), MOVE(V | 3, C0),
         narrow(STORE(V | 2, V | 0), bytes), EXIT);
    CHECK_EQUAL_U64(world.cores.statistics[0].stores, 1);
    CHECK_EQUAL_U64(world.num_seen, 1);
    CHECK_EQUAL_U64(world.lane_lists.state->in_use, 0);
}

TEST(parts_of_words_are_merged_where_atomics_are_performed)
{
    store_elements(C3, 1);
    CHECK_EQUAL_U64(world.seen[0].type, GPC_MSG_ATOMIC);
    CHECK_EQUAL_U64(world.seen[0].mask, 0x1FF);
    CHECK_EQUAL_U64(world.seen[0].lanes, 9); /* one entry per word */
    CHECK_EQUAL_U64(world.memory[0], 0x00EEEEEE);
    CHECK_EQUAL_U64(world.memory[1], 0x04030201);
    CHECK_EQUAL_U64(world.memory[8], 0xEE1F1E1D);
    store_elements(C2, 2);
    CHECK_EQUAL_U64(world.seen[0].type, GPC_MSG_ATOMIC);
    CHECK_EQUAL_U64(world.memory[0], 0x0000EEEE);
    CHECK_EQUAL_U64(world.memory[16], 0xEEEE001F);
}

TEST(elements_that_cover_their_words_are_a_plain_store)
{
    store_elements(C32, 1);
    CHECK_EQUAL_U64(world.seen[0].type, GPC_MSG_STORE);
    CHECK_EQUAL_U64(world.seen[0].mask, 0xFF00);
    CHECK_EQUAL_U64(world.memory[8], 0x03020100);
    CHECK_EQUAL_U64(world.memory[16], 0xEEEEEEEE);
}

static void
load_elements(uint8_t type, bool in_parts)
{
    world_reset();
    world.in_parts = in_parts;
    for (uint32_t i = 0; i < 64; i++) {
        world.memory[i] = 0x80017FFF + i * 0x00010000;
    }
    RUNS(32, THREAD, OP(MUL, V | 2, V | 0, C2), MOVE(V | 3, C0), narrow(OP(LOAD, V | 4, V | 2, NONE, .type = type), 2),
         OP(ADD, V | 0, V | 0, C64), STORE(V | 0, V | 4), EXIT);
    CHECK_EQUAL_U64(world.seen[0].mask, 0xFFFF);
}

TEST(loads_extend_elements)
{
    for (int in_parts = 0; in_parts < 2; in_parts++) {
        load_elements(GPC_I32, in_parts != 0);
        CHECK_EQUAL_U64(world.memory[64], 0x7FFF);
        CHECK_EQUAL_U64(world.memory[65], 0xFFFF8001);
        load_elements(GPC_U32, in_parts != 0);
        CHECK_EQUAL_U64(world.memory[64 + 31], 0x8010);
    }
}

TEST(an_element_of_another_size_than_the_buffers_is_refused)
{
    gpc_instruction_t load = LOAD(V | 2, C1);
    load.bytes = 2;
    world_reset();
    CHECK_EQUAL_I64(world_try(CODE(load, EXIT), 32), GPC_ERROR_PROGRAM);
    CHECK_EQUAL_TEXT(world.failure.text, "instruction 0: an access of 2 bytes to buffer 'x' of 4-byte elements");
}

TEST(flat_addresses_need_no_buffer)
{
    fill_memory();
    RUNS(32, MOVE(V | 2, C100), MOVE(V | 3, C0), OP(LOAD, V | 4, V | 2, NONE, .flags = GPC_FLAG_FLAT), STORE(C0, V | 4),
         EXIT);
    CHECK_EQUAL_U64(world.memory[0], 250); /* byte 100 is word 25 */
}

TEST(an_index_outside_is_reported_with_thread_and_line)
{
    CHECK_EQUAL_I64(
        world_try(CODE(THREAD, OP(MUL, V | 1, V | 0, C4096), OP(LOAD, V | 2, V | 1, NONE, .line = 7), EXIT), 32),
        GPC_ERROR_BOUNDS);
    CHECK_EQUAL_TEXT(world.failure.text, "kernel 'f': index 65536 is out of bounds of buffer 'x' of 65536 words: "
                                         "thread (16,0,0) of block (0,0,0)");
    CHECK(fails_at(0, 7));
    world_reset();
    CHECK_EQUAL_I64(world_try(CODE(OP(STORE, NONE, C_MINUS1, C0, .line = 2, .file = 1), EXIT), 1), GPC_ERROR_BOUNDS);
    CHECK_EQUAL_TEXT(world.failure.text, "kernel 'f': index -1 is out of bounds of buffer 'x' of 65536 words: "
                                         "thread (0,0,0) of block (0,0,0)");
    CHECK(fails_at(1, 2));
}

TEST(inactive_lanes_may_name_anything)
{
    RUNS(32, THREAD, OP(MUL, V | 1, V | 0, C4096), OP(LT, V | 2, V | 0, C16), IF_NOT(V | 2, 5, 5), LOAD(V | 3, V | 1),
         EXIT);
}

TEST(a_read_only_buffer_is_not_written)
{
    CHECK_EQUAL_I64(world_try(CODE(OP(STORE, NONE, C3, C0, .immediate = 1, .line = 5), EXIT), 1), GPC_ERROR_READ_ONLY);
    CHECK_EQUAL_TEXT(world.failure.text,
                     "kernel 'f': write to index 3 of read-only buffer 'tables': thread (0,0,0) of block (0,0,0)");
    CHECK(fails_at(0, 5));
}

TEST(queue_that_is_full_stalls_the_next_access)
{
    world.machine.load_store_queue = 1;
    world.held_until = 500;
    RUNS(32, STORE(C0, C0), STORE(C0, C7), EXIT);
    CHECK(world.cores.statistics[0].stall_load_store_queue > 490);
}

TEST(a_request_that_is_completed_in_parts_is_done_with_its_last_word)
{
    static uint32_t whole[64];
    for (uint32_t in_parts = 0; in_parts < 2; in_parts++) {
        world_reset();
        fill_memory();
        world.in_parts = in_parts;
        RUNS(32, THREAD, LOAD(V | 1, V | 0), OP(ATOMIC, V | 2, V | 0, V | 1, .flags = ADDS),
             OP(ADD, V | 2, V | 2, V | 1), OP(ADD, V | 3, V | 0, C32), STORE(V | 3, V | 2), wide(LOAD(V | 4, C2)),
             STORE(C7, V | 5), EXIT);
        CHECK_EQUAL_U64(world.messages.state->in_use, 0);
        CHECK_EQUAL_U64(world.lane_lists.state->in_use, 0);
        CHECK_EQUAL_U64(world.memory[32 + 5], 100);
        if (in_parts) {
            CHECK(memcmp(whole, world.memory, sizeof(whole)) == 0);
        }
        memcpy(whole, world.memory, sizeof(whole));
    }
}

/* Cycles from the first request's offer to the last one's: word 0 is stored, then the word is loaded. */
static gpc_cycle_t
load_after_store(gpc_order_traits_t traits, uint32_t word)
{
    world_reset();
    world.traits = traits;
    RUNS(1, STORE(C0, C7), LOAD(V | 1, (uint16_t) word), EXIT);
    CHECK_EQUAL_U64(world.num_seen, 2);
    CHECK_EQUAL_U64(world.messages.state->in_use, 0);
    return world.seen[1].at - world.seen[0].at;
}

TEST(an_access_waits_for_the_warps_older_one_to_its_line_or_word)
{
    gpc_order_traits_t same_line = {.same_line = true}, same_word = {.same_word = true};
    CHECK(load_after_store((gpc_order_traits_t){0}, C0) < 5);
    CHECK(load_after_store(same_line, C0) >= world.latency);
    CHECK(load_after_store(same_line, C1) >= world.latency);
    CHECK_EQUAL_U64(world.cores.statistics[0].stall_memory_order_same_line + world.cores.statistics[0].stall_drain,
                    world.cores.statistics[0].active_cycles - world.cores.statistics[0].issue_cycles);
    CHECK(load_after_store(same_line, C64) < 5); /* another line */
    CHECK(load_after_store(same_word, C0) >= world.latency);
    CHECK(load_after_store(same_word, C1) < 5); /* another word */
}

/* Whether 32 lanes that load the element in V1 wait for their warp's store to this element. */
static bool
waits_for_store_to(uint16_t element, gpc_instruction_t index)
{
    world_reset();
    world.traits.same_word = true;
    RUNS(32, THREAD, index, STORE(element, C7), LOAD(V | 2, V | 1), EXIT);
    CHECK_EQUAL_U64(world.num_seen, 2);
    return world.seen[1].at - world.seen[0].at >= world.latency;
}

TEST(lanes_of_one_line_wait_for_a_store_to_one_of_their_words)
{
    const gpc_instruction_t each = MOVE(V | 1, V | 0), later = OP(ADD, V | 1, V | 0, C32), same = MOVE(V | 1, C2),
                            first_four = OP(AND, V | 1, V | 0, C3);
    CHECK(waits_for_store_to(C0, each) && waits_for_store_to(C16, each));
    CHECK(!waits_for_store_to(C32, each));
    CHECK(waits_for_store_to(C32, later) && !waits_for_store_to(C16, later));
    CHECK(waits_for_store_to(C2, same) && !waits_for_store_to(C1, same) && !waits_for_store_to(C3, same));
    CHECK(waits_for_store_to(C0, first_four) && waits_for_store_to(C3, first_four));
    CHECK(!waits_for_store_to(C7, first_four) && !waits_for_store_to(C16, first_four));
}

/* Each lane accesses its own word, twice: the second instruction waits for the first one's 32 lines, in whatever order
 * lanes complete. */
TEST(accesses_of_many_lines_wait_for_each_line)
{
    fill_memory();
    world.traits.same_line = true;
    world.in_parts = true;
    RUNS(32, THREAD, OP(MUL, V | 1, V | 0, C100), STORE(V | 1, V | 0), LOAD(V | 2, V | 1), STORE(V | 0, V | 2), EXIT);
    for (uint32_t i = 0; i < 32; i++) {
        CHECK_EQUAL_U64(world.memory[i], i);
    }
    CHECK_EQUAL_U64(world.order.touches.state->in_use, 0);
}

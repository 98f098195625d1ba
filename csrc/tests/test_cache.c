/* test_cache.c: tag arrays, MSHRs, the read-modify-write unit. */
#include "base/homes.h"
#include "cache/mshr.h"
#include "cache/rmw.h"
#include "cache/tags.h"
#include "core/isa.h"
#include "fresh.h"
#include "harness.h"
#include "random.h"

/* Against the plain arithmetic: pieces over banks, and what is left over the channels that are apart from them. */
TEST(a_line_has_one_bank_and_one_channel)
{
    static const uint32_t banks[] = {1, 2, 5, 8, 80}, channels[] = {0, 1, 3, 16};
    for (uint32_t i = 0; i < 5 * 4; i++) { /* of one die */
        gpc_machine_t m = {
            .cores = 7, .partitions = banks[i / 4], .dram_channels = channels[i % 4], .interleave_bytes = 256};
        gpc_homes_t homes = gpc_homes(&m);
        uint32_t wrong = 0;
        for (gpc_address_t line = 0; line < 1u << 20; line += 128) {
            uint64_t piece = line / m.interleave_bytes, bank = piece % m.partitions;
            wrong += gpc_home(&homes, line, (gpc_node_t) (piece % 7)) != m.cores + bank;
            wrong +=
                gpc_home_channel(&homes, line) != (m.dram_channels ? piece / m.partitions % m.dram_channels : bank);
        }
        CHECK_EQUAL_U64(wrong, 0);
    }
}

/* Page by page: the dies one after another; in a die its banks likewise, whatever the pages' size; then the
 * channels. */
TEST(pages_are_dealt_to_dies_and_their_pieces_to_the_banks_of_the_die)
{
    for (uint32_t i = 0; i < 3 * 3 * 2; i++) {
        gpc_machine_t m = {
            .cores = 4 * 12, .dies = 2 + i % 3, .interleave_bytes = 256, .page_bytes = 256u << i / 3 % 3};
        m.partitions = 3 * m.dies;
        m.dram_channels = i / 9 * 2 * m.dies;
        gpc_homes_t homes = gpc_homes(&m);
        uint32_t next[4] = {0}, wrong = 0;
        for (gpc_address_t piece = 0; piece < 1u << 20; piece += 256) {
            uint32_t die = (uint32_t) (piece / m.page_bytes % m.dies), number = next[die]++;
            uint32_t bank = die * 3 + number % 3, channel = die * 2 + number / 3 % 2;
            wrong += gpc_home(&homes, piece + 128, 0) != m.cores + bank;
            wrong += gpc_home_channel(&homes, piece) != (m.dram_channels ? channel : bank);
        }
        CHECK_EQUAL_U64(wrong, 0);
    }
}

TEST(consecutive_lines_fill_the_banks_of_two_dies_evenly)
{
    enum { SETS = 16, WAYS = 4, PIECE = 256, BANKS = 4, PAGE = 1024 };
    gpc_homes_t homes =
        gpc_homes(&(gpc_machine_t){.dies = 2, .partitions = 2 * BANKS, .interleave_bytes = PIECE, .page_bytes = PAGE});
    uint32_t lines[SETS] = {0};
    gpc_tags_t tags;
    REQUIRE(gpc_tags_init(&tags, fresh_arena(), SETS, WAYS, (gpc_index_map_t){128, PIECE, BANKS, PAGE, 2}, 0, false) ==
            0);
    for (gpc_address_t line = 0; line < 128u * 2 * BANKS * SETS * WAYS; line += 128) {
        lines[gpc_home_bank(&homes, line) == 2 * BANKS - 1 ? gpc_tags_set_of(&tags, line) : 0] +=
            gpc_home_bank(&homes, line) == 2 * BANKS - 1;
    }
    for (uint32_t set = 0; set < SETS; set++) {
        CHECK_EQUAL_U64(lines[set], WAYS);
    }
}

TEST(banks_index_with_what_the_interleaving_leaves)
{
    gpc_tags_t tags;
    REQUIRE(gpc_tags_init(&tags, fresh_arena(), 4, 2, (gpc_index_map_t){128, 256, 8, 0, 1}, 0, false) == 0);
    /* bank 0 holds bytes 0..255, 2048..2303, ..: its lines are 0, 128, 2048, 2176, 4096 in order */
    CHECK_EQUAL_U64(gpc_tags_set_of(&tags, 0), 0);
    CHECK_EQUAL_U64(gpc_tags_set_of(&tags, 128), 1);
    CHECK_EQUAL_U64(gpc_tags_set_of(&tags, 2048), 2);
    CHECK_EQUAL_U64(gpc_tags_set_of(&tags, 2176), 3);
    CHECK_EQUAL_U64(gpc_tags_set_of(&tags, 4096), 0);
}

/* Whatever the number of sets, banks and lines a piece: as many consecutive lines as the banks have ways, from any line
 * of a bank's whole pieces on, take every way once. */
TEST(consecutive_lines_fill_any_number_of_banks_and_sets_evenly)
{
    static const uint32_t banks[] = {1, 2, 3, 5, 80, 96, 128}, sets[] = {1, 3, 16, 48, 320};
    for (uint32_t i = 0; i < 7 * 5 * 2; i++) {
        enum { WAYS = 4 };
        uint32_t piece = i % 2 ? 128 : 256, b = banks[i / 2 % 7], s = sets[i / 14], wrong = 0;
        uint32_t lines[320] = {0};
        gpc_arena_t arena;
        gpc_tags_t tags;
        gpc_arena_init(&arena, 1u << 16);
        REQUIRE(gpc_tags_init(&tags, &arena, s, WAYS, (gpc_index_map_t){128, piece, b, 0, 1}, 0, false) == 0);
        gpc_homes_t homes = gpc_homes(&(gpc_machine_t){.partitions = b, .interleave_bytes = piece});
        for (gpc_address_t line = 0; line < UINT64_C(128) * b * s * WAYS; line += 128) {
            if (gpc_home_bank(&homes, line) == b - 1) {
                uint32_t set = gpc_tags_set_of(&tags, line);
                wrong += set >= s;
                lines[set < s ? set : 0]++;
            }
        }
        bool whole = piece == 128 || s * WAYS % 2 == 0; /* a bank's lines are whole pieces */
        for (uint32_t set = 0; set < s && whole; set++) {
            wrong += lines[set] != WAYS;
        }
        CHECK_EQUAL_U64(wrong, 0);
        gpc_arena_free(&arena);
    }
}

TEST(a_flash_invalidation_empties_the_array_and_only_it)
{
    gpc_tags_t tags;
    REQUIRE(gpc_tags_init(&tags, fresh_arena(), 4, 2, (gpc_index_map_t){128, 128, 1, 0, 1}, 8, false) == 0);
    gpc_tags_place(&tags, 0, 0, 1);
    CHECK_EQUAL_U64(gpc_tags_find(&tags, 0), 0);
    gpc_tags_flash(&tags);
    CHECK_EQUAL_U64(gpc_tags_find(&tags, 0), GPC_NONE);
    CHECK(!gpc_tags_present(&tags, 0));
    gpc_tags_place(&tags, 1, 512, 1);
    CHECK_EQUAL_U64(gpc_tags_find(&tags, 512), 1);
}

static gpc_index_t
way_by_comparison(const gpc_tags_t *tags, gpc_address_t line)
{
    for (gpc_index_t way = 0; way < tags->sets * tags->ways; way++) {
        if (gpc_tags_present(tags, way) && gpc_tags_line(tags, way) == line) {
            return way;
        }
    }
    return GPC_NONE;
}

/* Few ways are compared by key, many by mark; the last set's marks end between two words of marks. */
TEST(lines_are_found_in_sets_of_every_number_of_ways)
{
    static const uint32_t ways[] = {1, 3, 4, 6, 15, 16, 20, 31, 64};
    for (uint32_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        gpc_arena_t arena;
        gpc_tags_t tags;
        uint32_t wrong = 0, found = 0;
        gpc_arena_init(&arena, 1u << 16);
        REQUIRE(gpc_tags_init(&tags, &arena, 4, ways[i], (gpc_index_map_t){128, 128, 1, 0, 1}, 0, false) == 0);
        for (uint32_t step = 0; step < 20000; step++) {
            gpc_address_t line = 128 * random_below(16 * ways[i]);
            gpc_index_t way = gpc_tags_find(&tags, line);
            wrong += way != way_by_comparison(&tags, line);
            found += way != GPC_NONE;
            if (random_below(500) == 0) {
                gpc_tags_flash(&tags);
            } else if (way != GPC_NONE && random_below(4) == 0) {
                gpc_tags_drop(&tags, way);
            } else if (way == GPC_NONE) {
                gpc_tags_place(&tags, gpc_tags_set_of(&tags, line) * ways[i] + (uint32_t) random_below(ways[i]), line,
                               1);
            }
        }
        CHECK_EQUAL_U64(wrong, 0);
        CHECK(found > 500);
        gpc_arena_free(&arena);
    }
}

/* A new array of lines of 32 words, with word states. */
static gpc_tags_t
new_array(gpc_arena_t *arena, uint32_t sets, uint32_t ways)
{
    gpc_tags_t tags;
    gpc_arena_init(arena, 1u << 16);
    CHECK(gpc_tags_init(&tags, arena, sets, ways, (gpc_index_map_t){128, 128, 1, 0, 1}, 8, true) == 0);
    return tags;
}

/* Line 0 is the one whose key could be that of a free way. */
TEST(a_flashed_line_stays_lost_when_generations_wrap_around)
{
    gpc_arena_t arena;
    gpc_tags_t tags = new_array(&arena, 2, 2);
    uint32_t found = 0;
    CHECK_EQUAL_U64(gpc_tags_find(&tags, 0), GPC_NONE);
    gpc_tags_place(&tags, 1, 0, 1);
    CHECK_EQUAL_U64(gpc_tags_find(&tags, 0), 1);
    for (uint32_t i = 0; i < 2 * GPC_TAG_GENERATIONS + 2; i++) {
        gpc_tags_flash(&tags);
        found += gpc_tags_find(&tags, 0) != GPC_NONE || gpc_tags_present(&tags, 0) || gpc_tags_present(&tags, 1);
    }
    CHECK_EQUAL_U64(found, 0);
    gpc_arena_free(&arena);
}

/* What nothing writes takes no page of the host: half of a GPU's memory at its begin were keys of free ways. */
TEST(a_new_array_is_all_zeros)
{
    gpc_arena_t arena;
    gpc_tags_t tags = new_array(&arena, 4, 4);
    uint32_t written = 0;
    for (gpc_index_t way = 0; way < 16; way++) {
        written += tags.keys[way] != 0 || tags.tags[way].mshr != 0 || gpc_tags_present(&tags, way);
    }
    CHECK_EQUAL_U64(written, 0);
    gpc_arena_free(&arena);
}

TEST(a_line_of_an_unfilled_array_begins_without_the_words_of_the_line_before)
{
    gpc_arena_t arena;
    gpc_tags_t tags = new_array(&arena, 1, 1);
    tags.unfilled = true;
    gpc_tags_place(&tags, 0, 0, 1);
    gpc_tags_words(&tags, 0)[1] = 7;
    gpc_tags_drop(&tags, 0);
    gpc_tags_place(&tags, 0, 128, 1);
    CHECK_EQUAL_U64(gpc_tags_words(&tags, 0)[0], GPC_UNFILLED_WORD);
    CHECK_EQUAL_U64(gpc_tags_words(&tags, 0)[1], GPC_UNFILLED_WORD);
    gpc_arena_free(&arena);
}

TEST(transactions_are_found_by_line_until_given_back)
{
    gpc_mshr_table_t table;
    REQUIRE(gpc_mshr_init(&table, fresh_arena(), 3, 4, 32, 128, true) == 0);
    gpc_index_t a = gpc_mshr_take(&table, 128, 2), b = gpc_mshr_take(&table, 256, 2),
                c = gpc_mshr_take(&table, 4096, 1);
    CHECK_EQUAL_U64(gpc_mshr_take(&table, 8192, 1), GPC_NONE);
    CHECK_EQUAL_U64(gpc_mshr_find(&table, 128), a);
    CHECK_EQUAL_U64(gpc_mshr_find(&table, 4096), c);
    *(uint32_t *) gpc_mshr_fields(&table, b) = 99;
    gpc_mshr_word_states(&table, b)[31] = 7;
    gpc_mshr_give(&table, b);
    CHECK_EQUAL_U64(gpc_mshr_find(&table, 256), GPC_NONE);
    gpc_index_t d = gpc_mshr_take(&table, 384, 1);
    CHECK_EQUAL_U64(*(uint32_t *) gpc_mshr_fields(&table, d), 0); /* fresh */
    CHECK_EQUAL_U64(gpc_mshr_word_states(&table, d)[31], 0);
    CHECK_EQUAL_U64(gpc_mshr_room(&table), 0);
}

TEST(atomics_perform_in_lane_order_each_with_its_old_value)
{
    uint32_t words[32] = {5, 100};
    gpc_lane_list_t lanes = {
        .operation = GPC_ATOMIC_ADD, .type = GPC_U32, .count = 3, .word = {0, 0, 1}, .operand = {1, 2, 3}};
    CHECK_EQUAL_U64(gpc_rmw_perform(&lanes, words), 3);
    CHECK_EQUAL_U64(lanes.old[0], 5);
    CHECK_EQUAL_U64(lanes.old[1], 6);
    CHECK_EQUAL_U64(lanes.old[2], 100);
    CHECK_EQUAL_U64(words[0], 8);
    CHECK_EQUAL_U64(words[1], 103);
}

TEST(a_failing_compare_and_swap_writes_nothing)
{
    uint32_t words[32] = {5};
    gpc_lane_list_t lanes = {
        .operation = GPC_ATOMIC_CAS, .type = GPC_U32, .count = 1, .operand = {4}, .replacement = {9}};
    CHECK_EQUAL_U64(gpc_rmw_perform(&lanes, words), 0);
    CHECK_EQUAL_U64(words[0], 5);
    lanes.operand[0] = 5;
    CHECK_EQUAL_U64(gpc_rmw_perform(&lanes, words), 1);
    CHECK_EQUAL_U64(words[0], 9);
}

TEST(minimum_and_maximum_know_signs)
{
    uint32_t minus_one = UINT32_MAX;
    CHECK_EQUAL_U64(gpc_rmw_apply(GPC_ATOMIC_MIN, GPC_I32, 3, minus_one, 0), minus_one);
    CHECK_EQUAL_U64(gpc_rmw_apply(GPC_ATOMIC_MIN, GPC_U32, 3, minus_one, 0), 3);
    CHECK_EQUAL_U64(gpc_rmw_apply(GPC_ATOMIC_MAX, GPC_I32, 3, minus_one, 0), 3);
    CHECK_EQUAL_U64(gpc_rmw_apply(GPC_ATOMIC_MAX, GPC_U32, 3, minus_one, 0), minus_one);
}

TEST(minimum_and_maximum_of_f32_order_zeros_and_skip_nan)
{
    const uint32_t one = 0x3F800000, minus_one = 0xBF800000, minus_two = 0xC0000000, zero = 0, minus_zero = 0x80000000,
                   nan = 0xFFC00001;
    CHECK_EQUAL_U64(gpc_rmw_apply(GPC_ATOMIC_MIN, GPC_F32, one, minus_one, 0), minus_one);
    CHECK_EQUAL_U64(gpc_rmw_apply(GPC_ATOMIC_MIN, GPC_F32, minus_one, minus_two, 0), minus_two);
    CHECK_EQUAL_U64(gpc_rmw_apply(GPC_ATOMIC_MAX, GPC_F32, minus_two, minus_one, 0), minus_one);
    CHECK_EQUAL_U64(gpc_rmw_apply(GPC_ATOMIC_MIN, GPC_F32, zero, minus_zero, 0), minus_zero);
    CHECK_EQUAL_U64(gpc_rmw_apply(GPC_ATOMIC_MAX, GPC_F32, minus_zero, zero, 0), zero);
    CHECK_EQUAL_U64(gpc_rmw_apply(GPC_ATOMIC_MIN, GPC_F32, one, nan, 0), one);
    CHECK_EQUAL_U64(gpc_rmw_apply(GPC_ATOMIC_MAX, GPC_F32, nan, minus_one, 0), minus_one);
    CHECK_EQUAL_U64(gpc_rmw_apply(GPC_ATOMIC_MAX, GPC_F32, one, nan, 0), one);
}

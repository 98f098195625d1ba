/* test_translation.c: translation of addresses by a core (tlb_reach_bytes, tlb_miss_cycles). */
#include "fresh.h"
#include "gpu_bench.h"
#include "machine/parts.h"
#include "protocols/registry.h"

enum { MISS = 75, PAGES = 4, L2_HIT = 340, WORDS = 1024, PAGE_WORDS = GPC_PAGE_BYTES / 4 };

static gpc_machine_t
machine_with(uint32_t pages, uint32_t miss_cycles)
{
    gpc_machine_t machine = test_fermi;
    machine.dram_model = 0;
    machine.tlb_reach_bytes = pages * GPC_PAGE_BYTES;
    machine.tlb_miss_cycles = miss_cycles;
    return machine;
}

/* Over `used` pages, round after round: those of the reach are held, one more and none is (the least recently used one
 * goes). */
TEST(translation_stays_for_pages_within_the_reach_only)
{
    for (uint32_t used = 1; used <= 2 * PAGES; used++) {
        gpc_machine_t machine = machine_with(PAGES, MISS);
        gpc_arena_t arena;
        gpc_translation_t it;
        gpc_arena_init(&arena, 1u << 16);
        CHECK_EQUAL_I64(gpc_translation_init(&it, &machine, &arena), 0);
        gpc_cycle_t now = 1000;
        for (uint32_t round = 0; round < 3; round++) {
            for (uint64_t page = 0; page < used; page++, now += 1000) {
                uint32_t late = round == 0 || used > PAGES ? MISS : 0;
                CHECK_EQUAL_U64(gpc_translation_late(&it, 3, page * GPC_PAGE_BYTES + 4 * round, now), late);
            }
        }
        CHECK_EQUAL_U64(it.misses[3], used > PAGES ? 3 * used : used);
        CHECK_EQUAL_U64(it.misses[2], 0);
        gpc_arena_free(&arena);
    }
}

/* Of two pages, the one used last stays. */
TEST(translation_replaces_the_page_used_least_recently)
{
    static const struct {
        uint64_t page;
        uint32_t late;
    } uses[] = {{0, MISS}, {1, MISS}, {0, 0}, {2, MISS}, {0, 0}, {1, MISS}, {0, 0}, {2, MISS}, {1, MISS}};
    gpc_machine_t machine = machine_with(2, MISS);
    gpc_translation_t it;
    CHECK_EQUAL_I64(gpc_translation_init(&it, &machine, fresh_arena()), 0);
    for (uint32_t i = 0; i < GPC_COUNT_OF(uses); i++) {
        CHECK_EQUAL_U64(gpc_translation_late(&it, 0, uses[i].page * GPC_PAGE_BYTES, 1000 * (i + 1)), uses[i].late);
    }
}

TEST(translation_makes_later_requests_wait_for_the_rest_of_it)
{
    gpc_machine_t machine = machine_with(PAGES, MISS);
    gpc_translation_t it;
    CHECK_EQUAL_I64(gpc_translation_init(&it, &machine, fresh_arena()), 0);
    CHECK_EQUAL_U64(gpc_translation_late(&it, 0, 0, 100), MISS);
    CHECK_EQUAL_U64(gpc_translation_late(&it, 0, 128, 110), MISS - 10);
    CHECK_EQUAL_U64(gpc_translation_late(&it, 0, 128, 100 + MISS), 0);
    CHECK_EQUAL_U64(gpc_translation_late(&it, 1, 128, 200), MISS); /* another core's */
}

TEST(translation_that_misses_makes_a_load_later)
{
    gpc_machine_t machine = machine_with(1, MISS);
    bench_t it = bench(&machine, gpc_protocol_find("no-l1"), WORDS);
    CHECK_EQUAL_U64(load_of(&it, 0, WORDS, 1), machine.dram_round_trip + MISS);
    CHECK_EQUAL_U64(load_of(&it, 0, WORDS, 1), L2_HIT);
}

TEST(translation_needs_a_reach_and_a_cost)
{
    for (uint32_t pages = 0; pages < 2; pages++) {
        gpc_machine_t machine = machine_with(pages, pages ? 0 : MISS);
        bench_t it = bench(&machine, gpc_protocol_find("no-l1"), WORDS);
        CHECK(!gpc_translation_exists(&it.gpu->translation));
        CHECK_EQUAL_U64(load_of(&it, 0, WORDS, 1), machine.dram_round_trip);
    }
}

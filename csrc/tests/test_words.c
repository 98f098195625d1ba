/* test_words.c: byte masks at the L2 (l2_byte_masks) and sectors (sector_bytes): what misses fetch, what answers carry,
 * and that every protocol stays right. */
#include "gpu_bench.h"
#include "machine/parts.h"
#include "protocols/registry.h"

/* Sectors of two words; words 0, 1 and 2 by the constants that hold them. An answer with a sector has 1 flit, with a
 * line of 128 bytes 5, each of 2 core cycles. */
enum { WORDS = 4096, SECTOR = 8, L2_HIT = 340, MEMORY = 460 - 340, SHORTER = (5 - 1) * 2, EDGE = 2, PINS = 16 };

static gpc_machine_t
machine_with(uint32_t masks, uint32_t sector)
{
    gpc_machine_t machine = test_fermi;
    machine.dram_model = 0;
    machine.l2_byte_masks = masks;
    machine.sector_bytes = sector;
    return machine;
}

static bench_t
bench_of(uint32_t masks, uint32_t sector, const char *protocol)
{
    gpc_machine_t machine = machine_with(masks, sector);
    return bench(&machine, gpc_protocol_find(protocol), WORDS);
}

static gpc_dram_statistics_t
memory_of(const gpc_gpu_t *gpu)
{
    gpc_dram_statistics_t sum = {0};
    for (uint32_t channel = 0; channel < gpc_gpu_channels(gpu); channel++) {
        sum.reads += gpu->dram.statistics[channel].reads;
        sum.busy_cycles += gpu->dram.statistics[channel].busy_cycles;
    }
    return sum;
}

/* A load's latency, at an even clock edge; what memory brought goes through the bank at its next edge. */
static void
check_load(bench_t *it, uint32_t word, uint32_t latency)
{
    uint32_t measured = load_of(it, word, WORDS, 1);
    if (measured < latency || measured > latency + EDGE) {
        harness_note("word %u: %u cycles, not %u", word, measured, latency);
    }
    CHECK(measured >= latency && measured <= latency + EDGE);
}

static const gpc_instruction_t load_word_2[] = {LOAD(R1, CONSTANT(2)), MOVE(R2, R1), EXIT};
static const gpc_instruction_t store_word_0[] = {STORE(CONSTANT(0), CONSTANT(3)), EXIT};

/* After a store to word 0: lines that memory reads for the store, and by the ends of a load of word 0 and one of word
 * 1. */
static void
check_after_store(uint32_t masks, uint32_t sector, const uint32_t *reads, const uint32_t *latencies)
{
    bench_t it = bench_of(masks, sector, "no-l1");
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, store_word_0, WORDS, 1, 1), 0);
    CHECK_EQUAL_U64(memory_of(it.gpu).reads, reads[0]);
    for (uint32_t word = 0; word < 2; word++) {
        check_load(&it, word, latencies[word]);
        CHECK_EQUAL_U64(memory_of(it.gpu).reads, reads[1 + word]);
    }
}

/* An answer with the line needs all of its words. */
TEST(a_store_that_misses_fetches_nothing_and_a_later_read_does)
{
    check_after_store(1, 0, (const uint32_t[]){0, 1, 1}, (const uint32_t[]){L2_HIT + MEMORY, L2_HIT});
}

/* A sector that has been stored whole is there. */
TEST(a_read_of_stored_sectors_fetches_nothing)
{
    check_after_store(1, 4, (const uint32_t[]){0, 0, 1},
                      (const uint32_t[]){L2_HIT - SHORTER, L2_HIT + MEMORY - SHORTER});
}

/* The first load's program also fetches the lines of the times that it stores. */
TEST(without_byte_masks_a_store_that_misses_fetches_its_line)
{
    check_after_store(0, 0, (const uint32_t[]){1, 1 + 2, 1 + 2}, (const uint32_t[]){L2_HIT, L2_HIT});
}

TEST(a_miss_fetches_and_brings_the_sector_that_it_needs)
{
    bench_t it = bench_of(0, SECTOR, "no-l1");
    check_load(&it, 0, L2_HIT + MEMORY - SHORTER);
    uint64_t busy = memory_of(it.gpu).busy_cycles; /* of the sector, and of the sectors of two stored times */
    CHECK_EQUAL_U64(memory_of(it.gpu).reads, 3);
    CHECK_EQUAL_U64(busy, 3 * ((SECTOR + PINS - 1) / PINS));
    check_load(&it, 1, L2_HIT - SHORTER);
    CHECK_EQUAL_U64(memory_of(it.gpu).reads, 3);
    check_load(&it, 2, L2_HIT + MEMORY - SHORTER);
    check_load(&it, 2, L2_HIT - SHORTER);
    CHECK_EQUAL_U64(memory_of(it.gpu).reads, 4);
}

/* Banks and rows: a column access for each burst of the sectors. */
TEST(banks_of_memory_access_the_columns_of_a_sector)
{
    for (uint32_t sector = 0; sector <= 64; sector += 32) {
        gpc_machine_t machine = machine_with(0, sector);
        machine.dram_model = 1;
        bench_t it = bench(&machine, gpc_protocol_find("no-l1"), WORDS);
        CHECK_EQUAL_I64(RUN_PROGRAM(&it, load_word_2, WORDS, 1, 1), 0);
        CHECK_EQUAL_U64(memory_of(it.gpu).busy_cycles, (sector ? sector : 128) / PINS);
    }
}

TEST(an_l1_that_lacks_a_sector_asks_the_l2_for_it)
{
    bench_t it = bench_of(0, SECTOR, "ideal");
    uint32_t hit = it.gpu->machine.l1_latency;
    check_load(&it, 0, L2_HIT + MEMORY - SHORTER);
    check_load(&it, 1, hit);
    CHECK_EQUAL_U64(gpc_gpu_words_traffic(it.gpu).messages, 0);
    check_load(&it, 2, L2_HIT + MEMORY - SHORTER);
    CHECK_EQUAL_U64(gpc_gpu_words_traffic(it.gpu).messages, 2);
    CHECK_EQUAL_U64(gpc_gpu_words_traffic(it.gpu).bytes, 8 + 8 + SECTOR);
    check_load(&it, 2, hit);
    check_load(&it, 3, hit);
    CHECK_EQUAL_U64(gpc_gpu_words_traffic(it.gpu).messages, 2);
}

/* Every core asks for a sector that the L2 lacks: it is read once. */
TEST(requests_join_a_read_that_is_under_way)
{
    bench_t it = bench_of(0, SECTOR, "no-l1");
    check_load(&it, 0, L2_HIT + MEMORY - SHORTER);
    uint64_t before = memory_of(it.gpu).reads;
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, load_word_2, WORDS, 16, 32), 0);
    CHECK_EQUAL_U64(memory_of(it.gpu).reads, before + 1);
}

/* With a memory queue of one place. */
TEST(every_protocol_stays_right_and_nothing_waits_for_ever)
{
    for (uint32_t i = 0; i < 3 * gpc_protocol_count(); i++) {
        gpc_machine_t machine = machine_with(i % 3 != 1, i % 3 ? 32 : 0);
        machine.dram_model = 1;
        machine.dram_queue = 1;
        machine.l2_bytes = 2 * machine.l2_ways * machine.line_bytes;
        machine.l2_crossing = i % 3 == 2 ? 100 : 0;
        check_add_and_store(&machine, gpc_protocol_at(i / 3));
    }
}

TEST(sectors_are_the_words_of_whole_ones)
{
    CHECK_EQUAL_U64(gpc_sectors_of(32, 0), 0);
    CHECK_EQUAL_U64(gpc_sectors_of(32, 1u << 31 | 1), 0xFF0000FF);
    CHECK_EQUAL_U64(gpc_sectors_of(4, 0x80000005), 0x80000005);
    CHECK_EQUAL_U64(gpc_sectors_of(64, 0x00010000), 0xFFFF0000);
    CHECK_EQUAL_U64(gpc_sectors_of(128, 2), 0xFFFFFFFF);
    gpc_machine_t machine = machine_with(0, 24);
    gpc_failure_t failure;
    gpc_failure_clear(&failure);
    CHECK_EQUAL_I64(gpc_machine_check(&machine, &failure), GPC_ERROR_MACHINE);
}

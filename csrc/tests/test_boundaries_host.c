/* test_boundaries_host.c: do the host's accesses, and an aborted launch, reach lines that only a second array of an L1
 * holds? */
#include "controller/host.h"
#include "gpu_bench.h"
#include "machine/parts.h"
#include "own_protocols.h"
#include "protocols/baseline/baseline.h"
#include "tests/places.h"

/* no-coh with a write cache in each L1, which holds the newest words of its lines. */
enum { WRITE_CACHE = 1 };

SETS_AND_WAYS(sets_of_four, 4, 2)

/* The line's words in a write cache; NULL: no write cache holds it. */
static uint32_t *
written(const gpc_units_t *units, gpc_address_t line)
{
    for (uint32_t i = 0; i < units->num_cores; i++) {
        const gpc_tags_t *tags = &units->cores[i]->arrays[WRITE_CACHE];
        gpc_index_t way = gpc_tags_find(tags, line);
        if (way != GPC_NONE) {
            return gpc_tags_words(tags, way);
        }
    }
    return NULL;
}

static int
host_read(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, uint32_t *words)
{
    const uint32_t *newest = written(units, line);
    if (newest) {
        gpc_merge_words(words, newest, mask);
        return GPC_OK;
    }
    return gpc_host_read(units, line, mask, words);
}

static int
host_write(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, const uint32_t *words)
{
    uint32_t *newest = written(units, line);
    if (newest) {
        gpc_merge_words(newest, words, mask);
    }
    return gpc_host_write(units, line, mask, words);
}

static gpc_protocol_t protocol;
static gpc_controller_type_t l1;
static gpc_table_t table;

static void
register_write_cache(void)
{
    protocol = gpc_protocol_no_coherence;
    l1 = *protocol.controllers[0];
    table = *l1.tables[0];
    l1.arrays[WRITE_CACHE] = (gpc_array_info_t){
        .name = "write cache", .line = baseline_l1_line_described, .geometry = sets_of_four, .has_data = true};
    l1.tables[1] = &table;
    l1.object_of[1] = WRITE_CACHE;
    protocol.id = "write-cache";
    protocol.controllers[0] = &l1;
    protocol.host_read = host_read;
    protocol.host_write = host_write;
    register_own(&protocol);
}

enum { WORDS = 1 << 18 };

/* Words 32 to 63 are 100, 101, .. in the write cache of core 5, as if stored by an earlier launch; memory has zeros. */
static void
write_line(const bench_t *it)
{
    gpc_tags_t *tags = &it->gpu->l1s[5]->arrays[WRITE_CACHE];
    gpc_address_t line = it->address + test_fermi.line_bytes;
    gpc_index_t way = gpc_tags_set_of(tags, line) * tags->ways;

    gpc_tags_place(tags, way, line, 1); /* V */
    for (uint32_t word = 0; word < 32; word++) {
        gpc_tags_words(tags, way)[word] = 100 + word;
    }
}

static bench_t
with_a_written_line(void)
{
    bench_t it = bench(&test_fermi, named("write-cache"), WORDS);
    write_line(&it);
    return it;
}

static uint32_t
read_word(const bench_t *it, uint64_t word, uint64_t range)
{
    static uint32_t words[WORDS];
    uint64_t first = range == 1 ? word : 0;
    CHECK_EQUAL_I64(gpc_gpu_host_read(it->gpu, it->address + 4 * first, range, words), 0);
    return words[word - first];
}

TEST(the_host_sees_a_second_array)
{
    bench_t it = with_a_written_line();
    uint32_t seven = 7;
    CHECK_EQUAL_U64(read_word(&it, 40, 1), 108);     /* line by line */
    CHECK_EQUAL_U64(read_word(&it, 40, WORDS), 108); /* by what caches hold */
    CHECK_EQUAL_I64(gpc_gpu_host_write(it.gpu, it.address + 4 * 40, 1, &seven), 0);
    CHECK_EQUAL_U64(read_word(&it, 40, WORDS), 7);
    CHECK_EQUAL_U64(read_word(&it, 41, 1), 109);
    CHECK_EQUAL_I64(gpc_gpu_verify(it.gpu), 0);
}

TEST(an_abort_saves_a_second_array)
{
    bench_t it = with_a_written_line();
    CHECK_EQUAL_I64(launch_program(&it, add_and_store, GPC_COUNT_OF(add_and_store), WORDS, 4, 64), 0);
    CHECK_EQUAL_I64(gpc_gpu_run(it.gpu, 10), GPC_RUN_MORE);
    gpc_gpu_abort(it.gpu);
    CHECK(written(&(gpc_units_t){.cores = it.gpu->l1s, .num_cores = test_fermi.cores},
                  it.address + test_fermi.line_bytes) == NULL);
    CHECK_EQUAL_U64(read_word(&it, 40, 1), 108);
    CHECK_EQUAL_U64(read_word(&it, 40, WORDS), 108);
}

TEST(a_snapshot_keeps_a_second_array)
{
    bench_t it = with_a_written_line();
    gpc_snapshot_t *snapshot;
    uint32_t seven = 7;
    REQUIRE(gpc_gpu_snapshot(it.gpu, &snapshot) == 0);
    CHECK_EQUAL_I64(gpc_gpu_host_write(it.gpu, it.address + 4 * 40, 1, &seven), 0);
    CHECK_EQUAL_I64(gpc_gpu_restore(it.gpu, snapshot), 0);
    CHECK_EQUAL_U64(read_word(&it, 40, 1), 108);
    gpc_snapshot_free(snapshot);
}

/* Of a protocol that promises it. */
TEST(under_check_the_host_reads_no_cache)
{
    gpc_watched_t watched = {.ends_in_memory = true};
    gpc_protocol_t promising = protocol;
    uint32_t word;

    promising.watched = &watched;
    bench_t it = BENCH_WITH(WORDS, .machine = &test_fermi, .protocol = &promising, .check = GPC_CHECK_PROTOCOL);
    CHECK_EQUAL_I64(gpc_gpu_host_read(it.gpu, it.address + 4 * 40, 1, &word), 0);
    write_line(&it);
    CHECK_EQUAL_I64(gpc_gpu_host_read(it.gpu, it.address + 4 * 40, 1, &word), GPC_ERROR_INVARIANT);
    CHECK(strstr(gpc_gpu_error_text(it.gpu), "a launch leaves its words in memory") != NULL);
}

BEFORE_TESTS
{
    register_write_cache();
}

/* test_instant_filter.c: does ideal's sharer filter include every L1 that may hold a line, and few others? */
#include "gpu_bench.h"
#include "machine/parts.h"
#include "protocols/registry.h"

enum { WORDS = 32768, LINES = WORDS / 32, GRID = 64, BLOCK = 128 };

/* Every thread loads a word, four times, of lines that many L1s share and that do not all fit into one, and stores
 * it. */
static const gpc_instruction_t read_and_write[] = {READ(R0, THREAD_X),
                                                   READ(R1, BLOCK_X),
                                                   OP(MUL, R2, R1, CONSTANT(7)),
                                                   OP(ADD, R0, R0, R2),
                                                   LOAD(R3, R0),
                                                   OP(MUL, R2, R1, CONSTANT(11)),
                                                   OP(ADD, R0, R0, R2),
                                                   LOAD(R4, R0),
                                                   OP(ADD, R3, R3, R4),
                                                   STORE(R0, R3),
                                                   OP(MUL, R2, R1, CONSTANT(6)),
                                                   OP(ADD, R0, R0, R2),
                                                   LOAD(R4, R0),
                                                   STORE(R0, R4),
                                                   EXIT};

typedef struct {
    uint64_t copies, missing, others;
} count_t;

/* Over all lines and L1s: L1s that hold the line, those missing from its sharer set, and members of the set that do not
 * hold it. */
static void
compare(gpc_gpu_t *gpu, gpc_address_t address, count_t *count)
{
    for (uint32_t i = 0; i < LINES; i++) {
        gpc_address_t line = address + UINT64_C(128) * i;
        gpc_nodeset_t set;
        gpu->protocol->instant_filter->candidates(gpu->instant_filter, gpu->l1s, gpu->machine.cores, line, &set);
        for (uint32_t core = 0; core < gpu->machine.cores; core++) {
            bool is_one = gpc_tags_find(&gpu->l1s[core]->arrays[0], line) != GPC_NONE,
                 named = set.bits[core / 64] >> (core % 64) & 1u;
            count->copies += is_one;
            count->missing += is_one && !named;
            count->others += named && !is_one;
        }
    }
}

static count_t
watched_run(bench_t *it, uint64_t events)
{
    count_t count = {0, 0, 0};
    int status = launch_program(it, read_and_write, GPC_COUNT_OF(read_and_write), WORDS, GRID, BLOCK);
    CHECK_EQUAL_I64(status, 0);
    do {
        status = gpc_gpu_run(it->gpu, events);
        compare(it->gpu, it->address, &count);
    } while (status == GPC_RUN_MORE);
    CHECK_EQUAL_I64(status, GPC_RUN_DONE);
    return count;
}

TEST(every_copy_is_named)
{
    bench_t it = bench(&test_fermi, &gpc_protocol_ideal, WORDS);
    count_t count = watched_run(&it, 997);
    CHECK(count.copies > 1000);
    CHECK_EQUAL_U64(count.missing, 0);
    CHECK(count.others < count.copies); /* most queried L1s hold the line */
}

TEST(after_a_restore_too)
{
    bench_t it = bench(&test_fermi, &gpc_protocol_ideal, WORDS);
    gpc_snapshot_t *fresh = NULL;
    CHECK_EQUAL_I64(gpc_gpu_snapshot(it.gpu, &fresh), 0);
    (void) watched_run(&it, 4999);
    gpc_snapshot_t *used = NULL;
    CHECK_EQUAL_I64(gpc_gpu_snapshot(it.gpu, &used), 0);
    CHECK_EQUAL_I64(gpc_gpu_restore(it.gpu, fresh), 0);
    count_t count = {0, 0, 0};
    compare(it.gpu, it.address, &count);
    CHECK_EQUAL_U64(count.copies + count.missing + count.others, 0);
    CHECK_EQUAL_I64(gpc_gpu_restore(it.gpu, used), 0);
    compare(it.gpu, it.address, &count);
    CHECK(count.copies > 100);
    CHECK_EQUAL_U64(count.missing, 0);
    gpc_snapshot_free(fresh);
    gpc_snapshot_free(used);
}

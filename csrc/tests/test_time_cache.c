/* test_time_cache.c: which line does a cache replace? A lost touch changes no value, only what is found later. */
#include "controller/controller.h"
#include "protocols/registry.h"
#include "tests/controller_bench.h"

enum { WAYS = 4, LINE = 64 };

/* An L1 of one set, whose ways hold lines 0, 1, 2 and 3, filled in this order. */
static void
begin(bench_t *bench)
{
    gpc_machine_t machine = bench_small_machine;
    machine.l1_bytes = WAYS * LINE;
    machine.l1_ways = WAYS;
    machine.l1_mshrs = 4;
    bench_begin(bench, &gpc_protocol_no_coherence, 0, &machine);
    for (gpc_address_t line = 0; line < WAYS; line++) {
        (void) bench_place(bench, 0, 0, line * LINE, "L1_V");
    }
}

static void
load(bench_t *bench, gpc_address_t line)
{
    gpc_index_t message = bench_message(bench, GPC_MSG_LOAD, line * LINE, 1);
    CHECK_EQUAL_I64(gpc_controller_take(&bench->unit, message), GPC_OK);
}

/* The one of the lines below `lines` that a load of another line replaces. */
static gpc_address_t
replaced_by(bench_t *bench, gpc_address_t line, gpc_address_t lines)
{
    bool present[16];
    gpc_address_t gone = GPC_NEVER;

    for (gpc_address_t i = 0; i < lines; i++) {
        present[i] = gpc_tags_find(&bench->unit.arrays[0], i * LINE) != GPC_NONE;
    }
    load(bench, line);
    for (gpc_address_t i = 0; i < lines; i++) {
        if (present[i] && gpc_tags_find(&bench->unit.arrays[0], i * LINE) == GPC_NONE) {
            gone = i;
        }
    }
    return gone;
}

/* A hit makes the line the last to leave: after hits of 0, 2 and 0 the order is 1, 3, 2, 0. FIFO would replace 0. */
static void
replacement_follows_hits(void)
{
    static const gpc_address_t order[] = {1, 3, 2, 0};
    bench_t bench;
    begin(&bench);
    load(&bench, 0);
    load(&bench, 2);
    load(&bench, 0);
    for (gpc_address_t i = 0; i < WAYS; i++) {
        CHECK_EQUAL_U64(replaced_by(&bench, WAYS + i, WAYS), order[i]);
    }
    bench_end(&bench);
}

int
main(void)
{
    RUN(replacement_follows_hits);
    return harness_end();
}

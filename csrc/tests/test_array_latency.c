/* test_array_latency.c: does a hit in an array take the extra cycles that the array declares, on a machine? */
#include "gpu_bench.h"
#include "own_protocols.h"
#include "protocols/baseline/baseline.h"
#include "tests/places.h"

/* no-coh whose hits complete from array 0, which declares `extra` cycles. */
static uint32_t extra;
static gpc_protocol_t protocol;
static gpc_controller_type_t l1;
static gpc_table_t table;
static gpc_cell_t cells[64];

PLACES(declared_extra, extra)

GPC_ACTION(act_hit_in_array_0, "complete the load with the array's latency")
{
    return gpc_complete_from(x, x->message, gpc_line_words(x), 0);
}

static uint8_t
number_of(const char *name, bool of_event)
{
    uint8_t n = 0;
    while (strcmp(of_event ? table.events[n].name : table.states[n].name, name) != 0) {
        n++;
    }
    return n;
}

static void
register_slow_array(void)
{
    protocol = gpc_protocol_no_coherence;
    l1 = *protocol.controllers[0];
    table = *l1.tables[0];
    REQUIRE((size_t) table.num_states * table.num_events <= GPC_COUNT_OF(cells));
    memcpy(cells, table.cells, (size_t) table.num_states * table.num_events * sizeof(*cells));
    uint8_t v = number_of("L1_V", false);
    cells[v * table.num_events + number_of("L1_LOAD", true)] =
        (gpc_cell_t){.kind = GPC_CELL_GO, .next = v, .actions = {act_hit_in_array_0}};
    table.cells = cells;
    l1.tables[0] = &table;
    l1.arrays[0].extra = declared_extra;
    protocol.id = "slow-array";
    protocol.controllers[0] = &l1;
    register_own(&protocol);
    register_own(&gpc_protocol_no_coherence);
}

/* Core cycles from the issue of a load that hits to the issue of its first use. */
static uint32_t
hit_to_use(const char *id)
{
    static const gpc_instruction_t program[] = {
        LOAD(R1, CONSTANT(0)), MOVE(R2, R1),    READ(R0, CLOCK),     LOAD(R1, CONSTANT(0)),
        MOVE(R2, R1),          READ(R3, CLOCK), KEEP_CLOCKS(R0, R3), EXIT,
    };
    bench_t it = bench(&test_fermi, named(id), 1024);
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, program, 1024, 1, 1), 0);
    return cycles_kept(&it);
}

TEST(latency_of_a_hit_has_the_extra_cycles_of_its_array)
{
    uint32_t plain = hit_to_use("no-coh");
    CHECK_EQUAL_U64(plain - 2, test_fermi.l1_latency);
    for (extra = 0; extra <= 15; extra += 5) {
        CHECK_EQUAL_U64(hit_to_use("slow-array"), plain + extra);
    }
}

BEFORE_TESTS
{
    register_slow_array();
}

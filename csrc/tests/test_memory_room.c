/* test_memory_room.c: do entries of a bank that write to memory by themselves wait until the memory's queue has
 * room, and does memory answer each write? */
#include "gpu_bench.h"
#include "own_protocols.h"
#include "protocols/baseline/baseline.h"
#include "tests/places.h"

/* no-l1 with a pool of entries in each L2 bank. At the begin of a launch an entry is made ready for each of the first
 * lines of the allocation that belong to the bank; its step writes the line to memory, whose answer ends it. Launches
 * do not access these lines. */
enum { LINES = 256, TABLE_ENTRIES = 1, TABLE_UNIT = 2, DRAINED = 1000 };

static gpc_address_t first_line;
static uint32_t refusals;

#define ENTRY_STATES(X)                                                                                                \
    X(ENTRY_READY, STABLE, "none, or one to be written") X(ENTRY_SENT, TRANSIENT_CACHE, "memory has not answered")
#define ENTRY_EVENTS(X) X(ENTRY_SERVED, "ready entry served") X(ENTRY_WRITTEN, "memory has the word")
GPC_FSM(ENTRY, ENTRY_STATES, ENTRY_EVENTS)
#define UNIT_STATES(X) X(UNIT_ON, STABLE, "on")
#define UNIT_EVENTS(X) X(UNIT_BEGIN, "kernel begin")
GPC_FSM(UNIT, UNIT_STATES, UNIT_EVENTS)

GPC_ACTION(act_need_memory_room, "holds while the memory's queue is full")
{
    int status = gpc_need_memory_room(x);
    refusals += status == GPC_HOLD;
    return status;
}

GPC_ACTION(act_drain_line, "the line's first word to memory")
{
    uint32_t words[GPC_MAX_LINE_WORDS] = {DRAINED + (uint32_t) ((x->line - first_line) / x->unit->machine->line_bytes)};
    return gpc_write_memory_answered(x, 1, words, 0);
}

GPC_ACTION(act_make_entries, "an entry for each of the bank's lines")
{
    for (uint32_t i = 0; i < LINES; i++) {
        gpc_address_t line = first_line + (gpc_address_t) i * x->unit->machine->line_bytes;
        if (gpc_home_of(x->unit, line) == x->unit->node) {
            gpc_part_t *part = &x->unit->parts[0];
            gpc_index_t entry = gpc_part_take(part, line);
            GPC_TRY(entry == GPC_NONE ? GPC_ERROR_CAPACITY : gpc_part_ready(part, entry));
        }
    }
    return GPC_OK;
}

static const gpc_cell_t entry_cells[ENTRY_NUM_STATES][ENTRY_NUM_EVENTS] = {
    [ENTRY_READY] = {[ENTRY_SERVED] = GO(ENTRY_SENT, act_need_memory_room, act_drain_line)},
    [ENTRY_SENT] = {[ENTRY_WRITTEN] = GO(ENTRY_READY)},
};
static const gpc_cell_t unit_cells[UNIT_NUM_STATES][UNIT_NUM_EVENTS] = {
    [UNIT_ON] = {[UNIT_BEGIN] = GO(UNIT_ON, act_make_entries)},
};
static const gpc_table_t entries = {GPC_TABLE("L2.entries", OVER_ENTRIES, ENTRY, entry_cells, NULL),
                                    .causes = {ON(GPC_MSG_REPLAY, ENTRY_SERVED), ON(GPC_MSG_WRITTEN, ENTRY_WRITTEN)}};
static const gpc_table_t unit = {GPC_TABLE("L2.unit", OVER_UNIT, UNIT, unit_cells, NULL),
                                 .causes = {ON(GPC_MSG_KERNEL_BEGIN, UNIT_BEGIN)}};

PLACES(a_place_for_each_line, LINES)

static gpc_protocol_t protocol;
static gpc_controller_type_t l2;

static void
register_draining_bank(void)
{
    protocol = gpc_protocol_no_l1;
    l2 = *protocol.controllers[1];
    l2.tables[TABLE_ENTRIES] = &entries;
    l2.tables[TABLE_UNIT] = &unit;
    l2.parts[0] = (gpc_part_info_t){.name = "drains", .capacity = a_place_for_each_line, .ordered = true};
    l2.begins = 1u << TABLE_UNIT;
    protocol.id = "draining-bank";
    protocol.controllers[1] = &l2;
    register_own(&protocol);
}

/* Every thread counts itself in the last word; entries drain meanwhile. */
static void
expect_all_drained(const gpc_machine_t *machine)
{
    enum { WORDS = 1 << 14 };
    static uint32_t words[WORDS];
    gpc_instruction_t program[] = {add_and_store[5], EXIT};
    bench_t it = bench(machine, named("draining-bank"), WORDS + 4096);
    uint32_t line_words = machine->line_bytes / 4;

    first_line = it.address + (gpc_address_t) 4096 * 4;
    refusals = 0;
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, program, 4096, 4, 64), 0);
    CHECK_EQUAL_I64(gpc_gpu_verify(it.gpu), 0);
    CHECK_EQUAL_I64(gpc_gpu_host_read(it.gpu, first_line, LINES * line_words, words), 0);
    for (uint32_t i = 0; i < LINES; i++) {
        CHECK_EQUAL_U64(words[(size_t) i * line_words], DRAINED + i);
    }
    CHECK_EQUAL_I64(gpc_gpu_host_read(it.gpu, it.address, 1, words), 0);
    CHECK_EQUAL_U64(words[0], 256);
    CHECK(refusals > 0);
}

static gpc_machine_t
with_short_queues(uint32_t model)
{
    gpc_machine_t machine = test_fermi;
    machine.dram_model = model;
    machine.dram_queue = 1;
    machine.l2_mshrs = 2; /* as many places as these take recalled lines */
    return machine;
}

TEST(entries_wait_for_a_queue_of_one_request)
{
    for (uint32_t model = 0; model < 2; model++) {
        gpc_machine_t machine = with_short_queues(model);
        expect_all_drained(&machine);
    }
}

TEST(entries_of_several_banks_wait_for_a_channel_that_they_share)
{
    gpc_machine_t machine = with_short_queues(0);
    machine.dram_channels = 4;
    expect_all_drained(&machine);
}

BEFORE_TESTS
{
    register_draining_bank();
}

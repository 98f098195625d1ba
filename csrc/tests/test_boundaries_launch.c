/* test_boundaries_launch.c: does a launch begin and end at every unit, table and array that declares it, and last until
 * the effects of its end are complete? Are read-only buffers visible to the L1 and to lower levels? */
#include "base/arena.h"
#include "controller/resolve.h"
#include "explorations.h"
#include "gpu_bench.h"
#include "machine/parts.h"
#include "own_protocols.h"
#include "protocols/baseline/baseline.h"
#include "small_programs.h"
#include "tests/fresh.h"
#include "tests/places.h"

/* ---- one controller: every object takes the event ---------------------------------------------------------------- */

#define OBJECT_STATES(X) X(OBJECT_I, STABLE, "") X(OBJECT_V, STABLE, "") X(OBJECT_T, TRANSIENT_CACHE, "")
#define OBJECT_EVENTS(X) X(OBJECT_LOAD, "") X(OBJECT_BEGIN, "") X(OBJECT_END, "")
GPC_FSM(OBJECT, OBJECT_STATES, OBJECT_EVENTS)

GPC_ACTION(act_keep, "")
{
    return gpc_keep_pending(x);
}

static const gpc_cell_t object_cells[OBJECT_NUM_STATES][OBJECT_NUM_EVENTS] = {
    [OBJECT_I] = {[OBJECT_LOAD] = GO(OBJECT_T, act_keep), [OBJECT_BEGIN] = GO(OBJECT_I), [OBJECT_END] = GO(OBJECT_I)},
    [OBJECT_V] = {[OBJECT_BEGIN] = GO(OBJECT_I), [OBJECT_END] = GO(OBJECT_V)},
    [OBJECT_T] = {[OBJECT_BEGIN] = GO(OBJECT_T), [OBJECT_END] = GO(OBJECT_T)},
};
#define OBJECT_TABLE(name, over)                                                                                       \
    {GPC_TABLE(name, over, OBJECT, object_cells, NULL),                                                                \
     .causes = {ON(GPC_MSG_LOAD, OBJECT_LOAD), ON(GPC_MSG_KERNEL_BEGIN, OBJECT_BEGIN), ON(GPC_MSG_KERNEL_END, OBJECT_END)}}
static const gpc_table_t read_lines = OBJECT_TABLE("read", OVER_LINES), whole_unit = OBJECT_TABLE("unit", OVER_UNIT),
                         written_lines = OBJECT_TABLE("written", OVER_LINES), fifo = OBJECT_TABLE("fifo", OVER_ENTRIES);

PLACES(four, 4)

static const gpc_controller_type_t objects = {.name = "L1",
                                              .position = GPC_AT_CORE,
                                              .tables = {&read_lines, &written_lines, &fifo, &whole_unit},
                                              .arrays = {{.name = "tags"}, {.name = "write cache"}},
                                              .object_of = {0, 1, 0, 0},
                                              .parts = {{.name = "fifo", .capacity = four}},
                                              .begins = 1u << 0 | 1u << 1 | 1u << 2 | 1u << 3,
                                              .ends = 1u << 1};
static const gpc_protocol_t objects_protocol = {.id = "objects", .controllers = {&objects}};

TEST(every_object_of_the_tables_that_take_part_gets_the_event)
{
    gpc_pool_t messages, lane_lists;
    gpc_failure_t failure = {0};
    int64_t options[GPC_MAX_OPTIONS] = {0};
    const gpc_machine_t machine = {.cores = 1,
                                   .warps_per_core = 2,
                                   .l1_bytes = 256,
                                   .l1_ways = 2,
                                   .l1_mshrs = 2,
                                   .line_bytes = 64,
                                   .partitions = 1,
                                   .interleave_bytes = 64};
    gpc_arena_t *arena = fresh_arena();
    REQUIRE(gpc_pool_init(&messages, arena, 8, sizeof(gpc_msg_t)) == 0 &&
            gpc_pool_init(&lane_lists, arena, 2, sizeof(gpc_lane_list_t)) == 0);
    const gpc_protocol_t *protocol = gpc_protocol_resolve(&objects_protocol, options, arena);
    REQUIRE(protocol != NULL);
    gpc_controller_t unit = {.protocol = protocol,
                             .options = options,
                             .machine = &machine,
                             .messages = &messages,
                             .lane_lists = &lane_lists,
                             .failure = &failure};
    REQUIRE(gpc_controller_init(&unit, protocol->controllers[0], arena) == 0);
    gpc_tags_place(&unit.arrays[0], 0, 0x1000, OBJECT_V);
    gpc_tags_place(&unit.arrays[1], 0, 0x1000, OBJECT_V);
    gpc_tags_place(&unit.arrays[1], 1, 0x2000, OBJECT_V);
    gpc_index_t load = gpc_pool_take(&messages); /* a transaction without a way */
    *gpc_msg_at(&messages, load) =
        (gpc_msg_t){.next = GPC_NONE, .type = GPC_MSG_LOAD, .mask = 1, .line = 0x3000, .lanes = GPC_NONE};
    CHECK_EQUAL_I64(gpc_controller_take(&unit, load), GPC_OK);
    (void) gpc_part_take(&unit.parts[0], 0x1000);
    (void) gpc_part_take(&unit.parts[0], 0x4000);

    CHECK_EQUAL_I64(gpc_controller_launch(&unit, GPC_MSG_KERNEL_END), GPC_OK);
    CHECK_EQUAL_U64(unit.counts[1][OBJECT_V * OBJECT_NUM_EVENTS + OBJECT_END], 2);
    CHECK_EQUAL_U64(unit.counts[0][OBJECT_V * OBJECT_NUM_EVENTS + OBJECT_END], 0);
    CHECK_EQUAL_I64(gpc_controller_launch(&unit, GPC_MSG_KERNEL_BEGIN), GPC_OK);
    CHECK_EQUAL_U64(unit.counts[0][OBJECT_V * OBJECT_NUM_EVENTS + OBJECT_BEGIN], 1);
    CHECK_EQUAL_U64(unit.counts[0][OBJECT_T * OBJECT_NUM_EVENTS + OBJECT_BEGIN], 1);
    CHECK_EQUAL_U64(unit.counts[1][OBJECT_V * OBJECT_NUM_EVENTS + OBJECT_BEGIN], 2);
    CHECK_EQUAL_U64(unit.counts[2][OBJECT_I * OBJECT_NUM_EVENTS + OBJECT_BEGIN], 2);
    CHECK_EQUAL_U64(unit.counts[3][OBJECT_I * OBJECT_NUM_EVENTS + OBJECT_BEGIN], 1);
    CHECK(!gpc_tags_present(&unit.arrays[0], 0) && !gpc_tags_present(&unit.arrays[1], 1));
}

/* ---- a machine: no-coh whose cores send a mark to a bank when a launch begins and when it ends ------------------- */

enum { MARK = MSG_END, MARK_ACK };

#define MARKS_STATES(X) X(MARKS_RUN, STABLE, "") X(MARKS_BUSY, STABLE, "") X(MARKS_ENDING, STABLE, "")
#define MARKS_EVENTS(X) X(MARKS_BEGIN, "") X(MARKS_END, "") X(MARKS_ACK, "") X(MARKS_MARK, "")
GPC_FSM(MARKS, MARKS_STATES, MARKS_EVENTS)

#define L1_WARP(FIELD) FIELD(PLAIN, uint32_t, launches)
GPC_DESCRIBE(l1, warp, L1_WARP)

static uint32_t bank_begins, bank_ends; /* events that the banks have taken */

GPC_ACTION(act_mark, "")
{
    return gpc_send(x, gpc_new_message(x, MARK, gpc_node_of(x->unit, GPC_AT_BANK)));
}

GPC_ACTION(act_answer_mark, "")
{
    return gpc_send(x, gpc_new_answer(x, x->message, MARK_ACK));
}

GPC_ACTION(act_count_begin, "")
{
    (void) x;
    bank_begins++;
    return GPC_OK;
}

GPC_ACTION(act_count_end, "")
{
    (void) x;
    bank_ends++;
    return GPC_OK;
}

static const gpc_cell_t core_marks[MARKS_NUM_STATES][MARKS_NUM_EVENTS] = {
    [MARKS_RUN] = {[MARKS_BEGIN] = GO(MARKS_BUSY, act_mark), [MARKS_END] = GO(MARKS_ENDING, act_mark)},
    [MARKS_BUSY] = {[MARKS_END] = HOLD_QUEUE, [MARKS_ACK] = GO(MARKS_RUN)},
    [MARKS_ENDING] = {[MARKS_ACK] = GO(MARKS_RUN)},
};
static const gpc_cell_t bank_marks[MARKS_NUM_STATES][MARKS_NUM_EVENTS] = {
    [MARKS_RUN] = {[MARKS_BEGIN] = GO(MARKS_RUN, act_count_begin),
                   [MARKS_END] = GO(MARKS_RUN, act_count_end),
                   [MARKS_MARK] = GO(MARKS_RUN, act_answer_mark)},
};
/* The mark at a launch's begin is never answered: the end remains held. */
static const gpc_cell_t deaf_marks[MARKS_NUM_STATES][MARKS_NUM_EVENTS] = {
    [MARKS_RUN] = {[MARKS_BEGIN] = GO(MARKS_RUN), [MARKS_END] = GO(MARKS_RUN), [MARKS_MARK] = GO(MARKS_RUN)},
};
#define MARKS_TABLE(cells)                                                                                             \
    {GPC_TABLE("marks", OVER_UNIT, MARKS, cells, NULL),                                                                \
     .causes = {ON(GPC_MSG_KERNEL_BEGIN, MARKS_BEGIN), ON(GPC_MSG_KERNEL_END, MARKS_END), ON(MARK, MARKS_MARK), ON(MARK_ACK, MARKS_ACK)}}
static const gpc_table_t core_table = MARKS_TABLE(core_marks), bank_table = MARKS_TABLE(bank_marks),
                         deaf_table = MARKS_TABLE(deaf_marks);

static void
count_launches(gpc_controller_t *unit, uint8_t cause)
{
    for (uint32_t warp = 0; warp < unit->machine->warps_per_core; warp++) {
        l1_warp_t *fields = (void *) (unit->warp_fields + (size_t) warp * unit->warp_fields_size);
        fields->launches = cause == GPC_MSG_KERNEL_BEGIN ? fields->launches + 1 : fields->launches | 0x100;
    }
}

/* Requests that carry the flag, and those that do not, as the tables of L1s and of banks see them. */
typedef struct {
    uint32_t flagged[2], plain[2], stores_flagged;
} flags_t;
static flags_t flags;

static void
note_flags(const gpc_step_t *x, uint32_t at, bool is_load, bool is_store)
{
    bool flagged = gpc_has_message(x) && x->msg->flags & GPC_MSG_FLAG_READ_ONLY;
    flags.flagged[at] += is_load && flagged;
    flags.plain[at] += is_load && !flagged;
    flags.stores_flagged += is_store && flagged;
}

static gpc_event_id_t
l1_classify(const gpc_step_t *x)
{
    note_flags(x, 0, x->cause == GPC_MSG_LOAD, x->cause == GPC_MSG_STORE);
    return gpc_protocol_no_coherence.controllers[0]->tables[0]->classify(x);
}

static gpc_event_id_t
l2_classify(const gpc_step_t *x)
{
    note_flags(x, 1, x->cause == MSG_GETS, x->cause == MSG_GETX);
    return baseline_l2_classify(x);
}

typedef struct {
    gpc_protocol_t protocol;
    gpc_controller_type_t types[2];
    gpc_table_t tables[2];
    gpc_message_info_t messages[MARK_ACK - GPC_MSG_OWN + 1];
} forged_t;
static forged_t marks, deaf;

static void
forge(forged_t *self, const char *id, const gpc_table_t *at_bank)
{
    const gpc_protocol_t *base = &gpc_protocol_no_coherence;
    self->protocol = *base;
    self->protocol.id = id;
    self->protocol.messages = self->messages;
    self->protocol.num_messages = base->num_messages + 2;
    memcpy(self->messages, base->messages, base->num_messages * sizeof(*self->messages));
    self->messages[MARK - GPC_MSG_OWN] = (gpc_message_info_t){"MARK", GPC_CLASS_REQ, 0, 8, 0, false, ""};
    self->messages[MARK_ACK - GPC_MSG_OWN] = (gpc_message_info_t){"MARK_ACK", GPC_CLASS_ST, 1, 8, 0, false, ""};
    for (uint32_t i = 0; i < 2; i++) {
        self->types[i] = *base->controllers[i];
        self->tables[i] = *base->controllers[i]->tables[0];
        self->tables[i].classify = i == 0 ? l1_classify : l2_classify;
        self->types[i].tables[0] = &self->tables[i];
        self->types[i].tables[1] = i == 0 ? &core_table : at_bank;
        self->types[i].begins |= 1u << 1;
        self->types[i].ends |= 1u << 1;
        self->protocol.controllers[i] = &self->types[i];
    }
    self->types[0].warp = l1_warp_described;
    self->protocol.order.keeps_own = true;
    self->types[0].launch = count_launches;
    register_own(&self->protocol);
}

static const gpc_instruction_t nothing[] = {EXIT};

TEST(a_launch_lasts_until_what_its_end_causes_is_over)
{
    bench_t it = bench(&test_fermi, named("marks"), 8192), plain = bench(&test_fermi, named("no-coh"), 4096);
    CHECK_EQUAL_I64(RUN_PROGRAM(&plain, nothing, 4096, 4, 32), 0);
    bank_begins = bank_ends = 0;
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, nothing, 4096, 4, 32), 0);
    CHECK_EQUAL_U64(bank_begins, test_fermi.partitions);
    CHECK_EQUAL_U64(bank_ends, test_fermi.partitions);
    for (uint32_t core = 0; core < test_fermi.cores; core++) { /* cores without a block too */
        const gpc_controller_t *l1 = it.gpu->l1s[core];
        CHECK_EQUAL_U64(l1->counts[1][MARKS_RUN * MARKS_NUM_EVENTS + MARKS_BEGIN], 1);
        CHECK_EQUAL_U64(l1->counts[1][MARKS_RUN * MARKS_NUM_EVENTS + MARKS_END], 1);
        CHECK_EQUAL_U64(l1->counts[1][MARKS_ENDING * MARKS_NUM_EVENTS + MARKS_ACK], 1);
        CHECK(l1->counts[1][MARKS_BUSY * MARKS_NUM_EVENTS + MARKS_END] > 0); /* held, then taken again */
        CHECK_EQUAL_U64(((const l1_warp_t *) (const void *) l1->warp_fields)->launches, 0x101);
    }
    /* two rounds over the network, one after the other */
    CHECK(gpc_gpu_cycles(it.gpu) > gpc_gpu_cycles(plain.gpu) + 100);
    for (uint32_t core = 0; core < test_fermi.cores; core++) {
        const gpc_core_statistics_t *s = &it.gpu->cores.statistics[core];
        CHECK_EQUAL_U64(s->active_cycles + s->stall_launch - gpc_gpu_cycles(it.gpu),
                        plain.gpu->cores.statistics[core].active_cycles +
                            plain.gpu->cores.statistics[core].stall_launch - gpc_gpu_cycles(plain.gpu));
    }
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, add_and_store, 8192, 64, 64), 0); /* and a second launch */
    CHECK_EQUAL_U64(it.gpu->l1s[3]->counts[1][MARKS_RUN * MARKS_NUM_EVENTS + MARKS_END], 2);
}

TEST(an_end_that_is_held_for_ever_is_a_deadlock)
{
    bench_t it = bench(&test_fermi, named("deaf"), 4096);
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, nothing, 4096, 4, 32), GPC_ERROR_DEADLOCK);
    CHECK(strstr(gpc_gpu_error_text(it.gpu), "L1 0 holds the end of the launch") != NULL);
}

TEST(a_launch_that_is_refused_has_not_begun)
{
    bench_t it = bench(&test_fermi, named("marks"), 4096);
    bank_begins = 0;
    CHECK(RUN_PROGRAM(&it, nothing, 4096, 4, 1 << 20) < 0);
    CHECK_EQUAL_U64(bank_begins, 0);
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, nothing, 4096, 4, 32), 0);
}

TEST(the_explorers_programs_begin_with_a_launch)
{
    gpc_explore_t what = ASK(mp, .protocol = named("marks"), .rule = GPC_RULE_SC);
    bank_begins = 0;
    EXPLORE(&what);
    CHECK_EQUAL_U64(bank_begins, 2);
}

/* ---- read-only buffers ------------------------------------------------------------------------------------------- */

/* Each thread loads its word of one buffer and stores it into another one. */
static const gpc_instruction_t copy[] = {
    READ(R0, THREAD_X),
    LOAD(R1, R0),
    OP(STORE, NONE, R0, R1, .immediate = 1),
    EXIT,
};

static flags_t
flags_of_a_copy(bool read_only, uint32_t check)
{
    bench_t it = BENCH_WITH(128, .machine = &test_fermi, .protocol = named("marks"), .check = check);
    gpc_buffer_t buffers[] = {{it.address, 64, read_only, "from", 0}, {it.address + 256, 64, false, "to", 0}};
    gpc_launch_t launch = {.program = {.instructions = copy,
                                       .count = GPC_COUNT_OF(copy),
                                       .vector_registers = 4,
                                       .uniform_registers = 1,
                                       .buffers = 2},
                           .kernel = "copy",
                           .grid = {1, 1, 1},
                           .block = {64, 1, 1},
                           .buffers = buffers,
                           .num_buffers = 2};
    flags = (flags_t){0};
    int status = gpc_gpu_launch(it.gpu, &launch);
    while (status == 0 && (status = gpc_gpu_run(it.gpu, 1000)) == GPC_RUN_MORE) {
        status = 0;
    }
    CHECK_EQUAL_I64(status, 0);
    return flags;
}

TEST(loads_of_read_only_buffers_are_marked)
{
    for (uint32_t check = 0; check < 2; check++) { /* monitors change the coalescing */
        flags_t seen = flags_of_a_copy(true, check * GPC_CHECK_PROTOCOL);
        CHECK(seen.flagged[0] > 0 && seen.flagged[1] > 0); /* at the L1, and in what it sends */
        CHECK_EQUAL_U64(seen.plain[0] + seen.plain[1], 0);
        CHECK_EQUAL_U64(seen.stores_flagged, 0);
        seen = flags_of_a_copy(false, check * GPC_CHECK_PROTOCOL);
        CHECK_EQUAL_U64(seen.flagged[0] + seen.flagged[1], 0);
        CHECK(seen.plain[0] > 0);
    }
}

BEFORE_TESTS
{
    forge(&marks, "marks", &bank_table);
    forge(&deaf, "deaf", &deaf_table);
    register_own(&gpc_protocol_no_coherence);
}

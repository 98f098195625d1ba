/* test_boundaries_monitor.c: do monitors check words with states of their own, steps of tables over the unit and over
 * entries, and stores that are accepted before they are performed? */
#include "base/arena.h"
#include "check/monitor/logical.h"
#include "check/monitor/monitor.h"
#include "controller/resolve.h"
#include "tests/harness.h"
#include "tests/places.h"

/* ---- a protocol whose L1s own words, with a unit and a part ------------------------------------------------------ */

#define WORD_STATES(X) X(WORD_I, STABLE, "") X(WORD_V, STABLE, "") X(WORD_O, STABLE, "")
#define UNIT_STATES(X) X(UNIT_RUN, STABLE, "")
#define ANY_EVENTS(X) X(ANY, "")
#define UNIT_EVENTS(X) X(UNIT_STEP, "")
GPC_FSM(WORD, WORD_STATES, ANY_EVENTS)
GPC_FSM(UNIT, UNIT_STATES, UNIT_EVENTS)

static gpc_event_id_t
only_event(const gpc_step_t *x)
{
    (void) x;
    return 0;
}

static const gpc_cell_t word_cells[WORD_NUM_STATES][WORD_NUM_EVENTS] = {
    [WORD_I] = {[ANY] = GO(WORD_I)}, [WORD_V] = {[ANY] = GO(WORD_V)}, [WORD_O] = {[ANY] = GO(WORD_O)}};
static const gpc_cell_t unit_cells[UNIT_NUM_STATES][UNIT_NUM_EVENTS] = {[UNIT_RUN] = {[UNIT_STEP] = GO(UNIT_RUN)}};
static const gpc_table_t words = {GPC_TABLE("words", OVER_WORDS, WORD, word_cells, only_event)};
static const gpc_table_t entries = {GPC_TABLE("entries", OVER_ENTRIES, UNIT, unit_cells, only_event)};
static const gpc_table_t unit = {GPC_TABLE("unit", OVER_UNIT, UNIT, unit_cells, only_event)};

PLACES(two, 2)

static const gpc_controller_type_t l1_type = {.name = "L1",
                                              .position = GPC_AT_CORE,
                                              .tables = {&words, &unit, &entries},
                                              .arrays = {{.name = "tags", .has_data = true}},
                                              .parts = {{.name = "buffer", .capacity = two}}};
static const gpc_controller_type_t bank_type = {
    .name = "L2", .position = GPC_AT_BANK, .tables = {&words}, .arrays = {{.name = "tags", .has_data = true}}};

/* The last call of the protocol's own monitor. */
typedef struct {
    uint32_t calls;
    gpc_address_t line;
    bool has_bank, has_global;
} last_call_t;

typedef struct {
    gpc_arena_t arena;
    gpc_pool_t messages, lane_lists;
    gpc_failure_t failure;
    gpc_machine_t machine;
    gpc_protocol_t protocol;
    gpc_watched_t watched;
    int64_t options[GPC_MAX_OPTIONS];
    gpc_nodes_t nodes;
    gpc_controller_t units[4]; /* two L1s and two banks */
    gpc_controller_t *l1s[2];
    gpc_monitor_t *monitor;
    gpc_stream_t stream;
    last_call_t last;
} bench_t;

static bench_t bench;

static gpc_cycle_t
now_port(const void *world)
{
    (void) world;
    return 10;
}

static const gpc_ports_t ports = {.now = now_port};

static int
own_monitor(const gpc_units_t *units, gpc_address_t line)
{
    bench.last = (last_call_t){bench.last.calls + 1, line, units->bank != NULL, units->global != NULL};
    return GPC_OK;
}

enum { LINE = 0x1000, WORDS = 4 };

/* What a controller tells. */
static int
stepped(uint32_t at)
{
    return GPC_OBSERVE(&bench.stream.tap, STEPPED, stepped, &bench.units[at], LINE);
}

static int
performed(const gpc_msg_t *write)
{
    return GPC_OBSERVE(&bench.stream.tap, PERFORMED, performed, bench.l1s[0], write, 0);
}

static int
ended(void)
{
    return GPC_OBSERVE(&bench.stream.tap, ENDED, moment, 0);
}

AROUND_TESTS
{
    gpc_monitor_free(bench.monitor);
    gpc_arena_free(&bench.arena);
    bench = (bench_t){0};
}

static void
begin(gpc_promise_t promise)
{
    around_tests();
    gpc_arena_init(&bench.arena, 1 << 16);
    bench.machine = (gpc_machine_t){.cores = 2,
                                    .warps_per_core = 2,
                                    .l1_bytes = 32,
                                    .l1_ways = 2,
                                    .l1_mshrs = 2,
                                    .l2_bytes = 32,
                                    .l2_ways = 2,
                                    .l2_mshrs = 2,
                                    .line_bytes = 4 * WORDS,
                                    .flit_bytes = 32,
                                    .partitions = 2,
                                    .interleave_bytes = 64};
    bench.watched = (gpc_watched_t){.promise = promise,
                                    .readable = 1u << WORD_V | 1u << WORD_O,
                                    .copies = 1u << WORD_V | 1u << WORD_O,
                                    .owners = 1u << WORD_O,
                                    .bank_words = 1u << WORD_V};
    bench.protocol = (gpc_protocol_t){
        .id = "words", .controllers = {&l1_type, &bank_type}, .watched = &bench.watched, .monitor = own_monitor};
    gpc_stream_init(&bench.stream);
    const gpc_protocol_t *protocol = gpc_protocol_resolve(&bench.protocol, bench.options, &bench.arena);
    REQUIRE(protocol != NULL);
    int status = gpc_nodes_list(&bench.nodes, protocol, &bench.machine, &bench.failure);
    status |= gpc_pool_init(&bench.messages, &bench.arena, 16, sizeof(gpc_msg_t));
    status |= gpc_pool_init(&bench.lane_lists, &bench.arena, 2, sizeof(gpc_lane_list_t));
    for (uint32_t i = 0; i < 4; i++) {
        bench.units[i] = (gpc_controller_t){.protocol = &bench.protocol,
                                            .options = bench.options,
                                            .machine = &bench.machine,
                                            .ports = &ports,
                                            .nodes = &bench.nodes,
                                            .messages = &bench.messages,
                                            .lane_lists = &bench.lane_lists,
                                            .failure = &bench.failure,
                                            .node = (gpc_node_t) i,
                                            .index = i % 2};
        gpc_stream_connect(&bench.stream, &bench.units[i].tap);
        status |= gpc_controller_init(&bench.units[i], protocol->controllers[i / 2], &bench.arena);
        bench.l1s[i % 2] = &bench.units[i % 2];
    }
    gpc_monitored_t about = {.stream = &bench.stream,
                             .protocol = &bench.protocol,
                             .machine = &bench.machine,
                             .nodes = &bench.nodes,
                             .controllers = bench.units,
                             .l1s = bench.l1s,
                             .messages = &bench.messages,
                             .lane_lists = &bench.lane_lists};
    status |= gpc_monitor_create(&about, &bench.monitor);
    CHECK_EQUAL_I64(status, 0);
}

/* The line in the unit's array, by a cell; each word in the state of its letter, with the value given. */
static void
place(uint32_t at, const char *states, const uint32_t *values)
{
    gpc_tags_t *tags = &bench.units[at].arrays[0];
    const gpc_step_t x = {.unit = &bench.units[at], .table = &words, .line = LINE, .message = GPC_NONE};
    CHECK_EQUAL_I64(GPC_OBSERVE(&bench.stream.tap, CELL, cell, &x, &(gpc_cell_t) GO(WORD_V), 0), GPC_OK);
    gpc_tags_place(tags, 0, LINE, 0);
    for (uint32_t word = 0; word < WORDS; word++) {
        gpc_tags_word_states(tags, 0)[word] = states[word] == 'O' ? WORD_O : states[word] == 'V' ? WORD_V : WORD_I;
        gpc_tags_words(tags, 0)[word] = values[word];
    }
}

static const uint32_t right[WORDS] = {7, 8, 9, 10}, wrong_at_2[WORDS] = {7, 8, 99, 10};

static void
know_memory(void)
{
    CHECK_EQUAL_I64(gpc_monitor_host_wrote(bench.monitor, LINE, WORDS, right), 0);
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

TEST(two_l1s_may_own_different_words_of_a_line)
{
    begin(GPC_PROMISE_FRESH);
    know_memory();
    place(0, "OI O", right);
    place(1, "IOII", right);
    CHECK_EQUAL_I64(stepped(0), GPC_OK);
}

TEST(two_owners_of_one_word_are_reported)
{
    begin(GPC_PROMISE_NOTHING); /* whatever value loads may return */
    know_memory();
    place(0, "OIIO", right);
    place(1, "IOIO", right);
    CHECK_EQUAL_I64(stepped(0), GPC_ERROR_INVARIANT);
    CHECK(strstr(bench.failure.text, "may write word 3, and 2 L1s have copies") != NULL);
}

TEST(words_that_may_not_be_read_are_not_compared)
{
    begin(GPC_PROMISE_FRESH);
    know_memory();
    place(0, "VVIV", wrong_at_2);
    CHECK_EQUAL_I64(stepped(0), GPC_OK);
    place(0, "VVVV", wrong_at_2);
    CHECK_EQUAL_I64(stepped(0), GPC_ERROR_INVARIANT);
    CHECK(strstr(bench.failure.text, "0x63 in word 2") != NULL);
}

TEST(what_an_owner_has_is_current_whatever_loads_may_return)
{
    begin(GPC_PROMISE_NOTHING);
    know_memory();
    place(0, "VVVO", wrong_at_2); /* a valid word may be old */
    CHECK_EQUAL_I64(stepped(0), GPC_OK);
    place(0, "VVOO", wrong_at_2);
    CHECK_EQUAL_I64(stepped(0), GPC_ERROR_INVARIANT);
}

TEST(a_bank_is_compared_in_the_words_that_it_has)
{
    begin(GPC_PROMISE_NOTHING);
    know_memory();
    place(2, "VVOV", wrong_at_2); /* word 2 is elsewhere */
    CHECK_EQUAL_I64(stepped(2), GPC_OK);
    place(2, "VVVV", wrong_at_2);
    CHECK_EQUAL_I64(stepped(2), GPC_ERROR_INVARIANT);
}

/* What it has of the line is right: no comparison of values would show it. */
TEST(a_line_in_another_bank_than_its_home_is_reported)
{
    begin(GPC_PROMISE_NOTHING);
    know_memory();
    place(3, "VVVV", right);
    CHECK_EQUAL_I64(stepped(3), GPC_ERROR_INVARIANT);
    CHECK(strstr(bench.failure.text, "L2 1 has it, its home is L2 0") != NULL);
}

static gpc_index_t
store(gpc_mask_t mask, uint32_t value)
{
    gpc_index_t i = gpc_pool_take(&bench.messages);
    gpc_msg_t *msg = gpc_msg_at(&bench.messages, i);
    *msg = (gpc_msg_t){
        .next = GPC_NONE, .type = GPC_MSG_STORE, .mask = mask, .line = LINE, .lanes = GPC_NONE, .request = i};
    for (uint32_t word = 0; word < WORDS; word++) {
        msg->data[word] = value;
    }
    return i;
}

TEST(a_write_beside_another_l1s_words_is_right)
{
    begin(GPC_PROMISE_FRESH);
    know_memory();
    place(1, "IIVI", right);
    gpc_index_t i = store(3, 5);
    CHECK_EQUAL_I64(performed(gpc_msg_at(&bench.messages, i)), GPC_OK);
    i = store(6, 6);
    CHECK_EQUAL_I64(performed(gpc_msg_at(&bench.messages, i)), GPC_ERROR_INVARIANT);
}

/* ---- stores accepted before they are performed ------------------------------------------------------------------- */

static gpc_msg_t
write_of(gpc_mask_t mask, uint32_t value)
{
    gpc_msg_t write = {.type = GPC_MSG_STORE, .mask = mask, .line = LINE, .lanes = GPC_NONE, .request = GPC_NONE};
    for (uint32_t word = 0; word < WORDS; word++) {
        write.data[word] = value;
    }
    return write;
}

/* Core 0 accepts a store to word 1, and completes it. */
static void
accept(uint32_t value, gpc_cycle_t issued)
{
    gpc_msg_t store = write_of(2, value);
    store.issued = issued;
    CHECK_EQUAL_I64(GPC_OBSERVE(&bench.stream.tap, ACCEPTED, accepted, bench.l1s[0], &store), GPC_OK);
    CHECK_EQUAL_I64(GPC_OBSERVE(&bench.stream.tap, COMPLETED, completed, bench.l1s[0], &store, NULL, true), GPC_OK);
}

static int
perform(uint32_t value)
{
    gpc_msg_t write = write_of(2, value);
    return performed(&write);
}

static int
load(uint32_t core, uint32_t value, gpc_cycle_t issued)
{
    uint32_t line[WORDS] = {[1] = value};
    gpc_msg_t one = {.type = GPC_MSG_LOAD, .mask = 2, .line = LINE, .lanes = GPC_NONE, .issued = issued};
    one.source = (gpc_node_t) core;
    return GPC_OBSERVE(&bench.stream.tap, COMPLETED, completed, bench.l1s[core], &one, line, true);
}

TEST(an_accepted_store_is_performed_once)
{
    begin(GPC_PROMISE_NOTHING);
    know_memory();
    accept(5, 1);
    accept(6, 2);
    CHECK_EQUAL_I64(perform(5), GPC_OK);
    CHECK_EQUAL_I64(ended(), GPC_ERROR_INVARIANT);
    CHECK_EQUAL_I64(perform(6), GPC_OK);
    CHECK_EQUAL_I64(ended(), GPC_OK);
    CHECK_EQUAL_I64(perform(6), GPC_ERROR_INVARIANT);
}

TEST(a_store_that_a_younger_one_replaced_is_performed_with_it)
{
    begin(GPC_PROMISE_NOTHING);
    accept(5, 1);
    accept(6, 2);
    accept(7, 3);
    CHECK_EQUAL_I64(perform(6), GPC_OK);
    CHECK_EQUAL_I64(perform(5), GPC_ERROR_INVARIANT);
    CHECK_EQUAL_I64(perform(7), GPC_OK);
    CHECK_EQUAL_I64(ended(), GPC_OK);
}

TEST(stores_of_one_value_may_be_performed_together_or_apart)
{
    for (uint32_t times = 1; times <= 2; times++) {
        begin(GPC_PROMISE_NOTHING);
        accept(5, 1);
        accept(5, 2);
        for (uint32_t i = 0; i < times; i++) {
            CHECK_EQUAL_I64(perform(5), GPC_OK);
        }
        CHECK_EQUAL_I64(ended(), GPC_OK);
    }
}

TEST(a_warp_reads_its_own_accepted_store_or_a_younger_one)
{
    begin(GPC_PROMISE_FRESH);
    know_memory();
    accept(5, 1);
    accept(6, 3);
    CHECK_EQUAL_I64(load(0, 6, 4), GPC_OK);
    CHECK_EQUAL_I64(load(0, 5, 2), GPC_OK);              /* made between the two */
    CHECK_EQUAL_I64(load(1, 8, 4), GPC_OK);              /* another core sees memory */
    CHECK_EQUAL_I64(load(1, 6, 4), GPC_ERROR_INVARIANT); /* and not the buffer */
    CHECK_EQUAL_I64(load(0, 5, 4), GPC_ERROR_INVARIANT); /* older than its own */
    CHECK_EQUAL_I64(load(0, 8, 4), GPC_ERROR_INVARIANT);
    CHECK_EQUAL_I64(perform(6), GPC_OK);
    CHECK_EQUAL_I64(load(1, 6, 4), GPC_OK);
}

TEST(an_entry_left_at_rest_is_reported)
{
    begin(GPC_PROMISE_NOTHING);
    CHECK_EQUAL_I64(gpc_controller_verify(bench.l1s[0], true), GPC_OK);
    (void) gpc_part_take(&bench.l1s[0]->parts[0], LINE);
    CHECK_EQUAL_I64(gpc_controller_verify(bench.l1s[0], false), GPC_OK);
    CHECK_EQUAL_I64(gpc_controller_verify(bench.l1s[0], true), GPC_ERROR_CONSERVATION);
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

TEST(steps_of_units_and_entries_are_watched)
{
    begin(GPC_PROMISE_NOTHING);
    gpc_controller_t *l1 = &bench.units[0];
    CHECK_EQUAL_I64(gpc_controller_unit(l1, 1, GPC_MSG_KERNEL_BEGIN, GPC_NONE), GPC_OK);
    CHECK_EQUAL_U64(bench.last.calls, 1);
    CHECK_EQUAL_U64(bench.last.line, GPC_NEVER);
    CHECK(!bench.last.has_bank && !bench.last.has_global);
    gpc_index_t entry = gpc_part_take(&l1->parts[0], LINE);
    CHECK_EQUAL_I64(gpc_controller_entry(l1, 2, 0, entry, GPC_MSG_STORE, store(1, 5)), GPC_OK);
    CHECK_EQUAL_U64(bench.last.calls, 2);
    CHECK_EQUAL_U64(bench.last.line, LINE);
    CHECK(bench.last.has_bank);
}

/* ---- logical clocks of warps ------------------------------------------------------------------------------------ */

static uint64_t warps_clocks[2];

static uint64_t
clock_of_warp(const gpc_controller_t *l1, uint16_t warp)
{
    (void) l1;
    return warps_clocks[warp];
}

TEST(a_warp_with_a_clock_of_its_own_is_compared_with_that)
{
    begin(GPC_PROMISE_LOGICAL);
    const gpc_watched_t watched = {.promise = GPC_PROMISE_LOGICAL, .warp_clock = clock_of_warp};
    const gpc_machine_t machine = {.cores = 1, .warps_per_core = 2};
    const gpc_msg_t one = {.type = GPC_MSG_LOAD, .warp = 0}, other = {.type = GPC_MSG_LOAD, .warp = 1};
    gpc_logical_t logical;

    CHECK(gpc_logical_init(&logical, &watched, &machine, 1) == 0);
    warps_clocks[0] = 7;
    CHECK(gpc_logical_loaded(&logical, bench.l1s[0], &one, 7) == GPC_OK);
    CHECK_EQUAL_I64(gpc_logical_time_of(&logical, &one, true), 7);
    CHECK_EQUAL_I64(gpc_logical_time_of(&logical, &other, true), 0);
    CHECK(gpc_logical_loaded(&logical, bench.l1s[0], &other, 5) < 0); /* its clock is 0 */
    gpc_logical_met(&logical, 0, 3);
    CHECK_EQUAL_I64(gpc_logical_time_of(&logical, &other, true), 7);
    gpc_logical_began(&logical, 0, 1);
    CHECK_EQUAL_I64(gpc_logical_time_of(&logical, &other, true), 0);
    gpc_logical_launched(&logical);
    CHECK_EQUAL_I64(gpc_logical_time_of(&logical, &other, true), 7);
    gpc_logical_free(&logical);
}

/* The status of a write at that version, behind a store of version 9 and an acquire that has read 5. */
static int
write_behind_an_acquire(const gpc_watched_t *watched, uint64_t version)
{
    const gpc_machine_t machine = {.cores = 1, .warps_per_core = 2};
    const gpc_access_t acquire = {.kind = GPC_ACCESS_LOAD, .order = GPC_ORDER_ACQUIRE};
    const gpc_access_t store = {.kind = GPC_ACCESS_STORE, .order = GPC_ORDER_WEAK};
    const gpc_msg_t stored = {.type = GPC_MSG_STORE, .request = 0}, read = {.type = GPC_MSG_LOAD};
    const gpc_msg_t write = {.type = GPC_MSG_STORE, .line = 64, .request = 1};
    gpc_logical_t logical;

    CHECK(gpc_logical_init(&logical, watched, &machine, 2) == 0);
    warps_clocks[0] = 5;
    CHECK(gpc_logical_performed(&logical, bench.l1s[0], &stored, 1, 9) == GPC_OK);
    CHECK(gpc_logical_answered(&logical, bench.l1s[0], &stored) == GPC_OK);
    gpc_logical_ordered(&logical, 0, 0, &acquire, 2);
    CHECK(gpc_logical_loaded(&logical, bench.l1s[0], &read, 5) == GPC_OK);
    gpc_logical_ordered(&logical, 0, 0, &store, 3);
    int status = gpc_logical_performed(&logical, bench.l1s[0], &write, 3, version);
    gpc_logical_free(&logical);
    return status;
}

static uint64_t
latest_clock(const gpc_controller_t *l1)
{
    return clock_of_warp(l1, 0);
}

TEST(a_write_behind_an_acquire_follows_what_was_read)
{
    const gpc_watched_t of_core = {.promise = GPC_PROMISE_LOGICAL, .clock = latest_clock, .two_views = true};
    const gpc_watched_t of_warp = {.promise = GPC_PROMISE_LOGICAL, .warp_clock = clock_of_warp, .two_views = true};

    begin(GPC_PROMISE_LOGICAL);
    CHECK(write_behind_an_acquire(&of_warp, 4) < 0);
    CHECK(write_behind_an_acquire(&of_warp, 5) == GPC_OK); /* its store does not raise its clock */
    CHECK(write_behind_an_acquire(&of_core, 8) < 0);
    CHECK(write_behind_an_acquire(&of_core, 9) == GPC_OK);
}

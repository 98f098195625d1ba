/* test_tc_steps.c: the controller executes steps of TC-Weak's tables: pre-events, hooks of the order, transactions
 * without a way; the predictor's arithmetic; TC-Strong's queue of waiting stores. */
#include "protocols/registry.h"
#include "protocols/temporal/tc_weak.h"
#include "tests/controller_bench.h"

enum { LINE = 0x1000 };

static const gpc_machine_t machine = {.cores = 4,
                                      .warps_per_core = 8,
                                      .l1_bytes = 8192,
                                      .l1_ways = 4,
                                      .l1_mshrs = 8,
                                      .line_bytes = 64,
                                      .partitions = 1,
                                      .interleave_bytes = 64,
                                      .l2_bytes = 8192,
                                      .l2_ways = 4,
                                      .l2_mshrs = 8,
                                      .flit_bytes = 32,
                                      .timestamp_bits = 32};

static void
begin(const gpc_protocol_t *protocol, uint32_t controller)
{
    bench_begin(protocol, controller, &machine);
}

static gpc_index_t
request(uint8_t type, gpc_mask_t mask)
{
    return bench_message(type, LINE, mask);
}

static gpc_index_t
place(uint8_t array, uint8_t table, const char *state)
{
    return bench_place(array, table, LINE, state);
}

static const gpc_protocol_t *
tc_weak(void)
{
    return gpc_protocol_find("tc-weak");
}

/* ---- steps by the real controller -------------------------------------------------------------------------------- */

TEST(an_expired_copy_is_dropped_before_the_load_is_looked_up)
{
    begin(tc_weak(), 0);
    gpc_index_t way = place(0, 0, "L1_V");
    gpc_cycle_t *timestamp = gpc_tags_fields(&bench.unit.arrays[0], way);

    *timestamp = bench.world.now = 50; /* a lease is valid in its last cycle */
    CHECK_EQUAL_I64(gpc_controller_take(&bench.unit, request(GPC_MSG_LOAD, 1)), GPC_OK);
    CHECK_EQUAL_U64(bench_entered(0, "L1_V", "L1_LOAD"), 1);
    bench.world.now = 51;
    CHECK_EQUAL_I64(gpc_controller_take(&bench.unit, request(GPC_MSG_LOAD, 1)), GPC_OK);
    CHECK_EQUAL_U64(bench_entered(0, "L1_V", "L1_EXPIRE"), 1);
    CHECK_EQUAL_U64(bench_entered(0, "L1_I", "L1_LOAD"), 1);
    CHECK_EQUAL_U64(bench_entered(0, "L1_V", "L1_LOAD"), 1);
}

TEST(an_expired_copy_is_evicted_like_any_other)
{
    begin(tc_weak(), 0);
    gpc_cycle_t *timestamp = gpc_tags_fields(&bench.unit.arrays[0], place(0, 0, "L1_V"));
    *timestamp = 50;
    bench.world.now = 51;
    CHECK_EQUAL_I64(gpc_controller_cause(&bench.unit, GPC_MSG_EVICT, LINE), GPC_OK);
    CHECK_EQUAL_U64(bench_entered(0, "L1_V", "L1_EXPIRE"), 0);
    CHECK_EQUAL_U64(bench_entered(0, "L1_V", "L1_EVICT"), 1);
    CHECK_EQUAL_U64(gpc_tags_find(&bench.unit.arrays[0], LINE), GPC_NONE);
}

TEST(an_expired_copy_with_outstanding_stores_is_no_victim)
{
    begin(tc_weak(), 0);
    gpc_cycle_t *timestamp = gpc_tags_fields(&bench.unit.arrays[0], place(0, 0, "L1_VM"));
    *timestamp = 50;
    bench.world.now = 51;
    CHECK_EQUAL_I64(gpc_controller_cause(&bench.unit, GPC_MSG_EVICT, LINE), GPC_UNFIT_VICTIM);
    CHECK(gpc_tags_find(&bench.unit.arrays[0], LINE) != GPC_NONE);
}

TEST(a_release_waits_until_the_gwct_has_passed)
{
    gpc_cycle_t until = 0;
    begin(tc_weak(), 0);
    gpc_cycle_t *gwct = (gpc_cycle_t *) (void *) (bench.unit.warp_fields + (size_t) 3 * bench.unit.warp_fields_size);
    *gwct = 70;
    bench.world.now = 70;
    CHECK_EQUAL_I64(tc_weak()->order.release(&bench.unit, 3, GPC_SCOPE_GPU, &until), GPC_HOLD);
    CHECK_EQUAL_U64(until, 71);
    bench.world.now = 71;
    CHECK_EQUAL_I64(tc_weak()->order.release(&bench.unit, 3, GPC_SCOPE_GPU, &until), GPC_OK);
    CHECK_EQUAL_I64(tc_weak()->order.release(&bench.unit, 2, GPC_SCOPE_GPU, &until), GPC_OK);
}

TEST(an_evicted_lease_lives_in_a_transaction_without_a_way)
{
    begin(tc_weak(), 1);
    tc_l2_line_t *line = gpc_tags_fields(&bench.unit.arrays[0], place(0, 0, "L2_P"));
    line->timestamp = 90;
    CHECK_EQUAL_I64(gpc_controller_cause(&bench.unit, GPC_MSG_EVICT, LINE), GPC_OK);
    CHECK_EQUAL_U64(gpc_tags_find(&bench.unit.arrays[0], LINE), GPC_NONE);
    gpc_index_t mshr = gpc_mshr_find(&bench.unit.mshrs, LINE);
    REQUIRE(mshr != GPC_NONE);
    CHECK_EQUAL_U64(gpc_mshr_at(&bench.unit.mshrs, mshr)->way, GPC_NONE);
    CHECK_EQUAL_U64(bench.unit.type->idle_until(&bench.unit, mshr), 91);
    bench.world.now = 91;
    CHECK_EQUAL_I64(gpc_controller_cause(&bench.unit, GPC_MSG_EXPIRE, LINE), GPC_OK);
    CHECK_EQUAL_U64(gpc_mshr_find(&bench.unit.mshrs, LINE), GPC_NONE);
}

TEST(an_impossible_event_is_a_protocol_error_that_names_both_sides)
{
    begin(tc_weak(), 1);
    CHECK_EQUAL_I64(gpc_controller_cause(&bench.unit, GPC_MSG_EXPIRE, LINE), GPC_ERROR_PROTOCOL);
    CHECK(strstr(bench.failure.text, "EXPIRE") != NULL);
}

/* ---- the predictor ----------------------------------------------------------------------------------------------- */

static void
begin_predictor(int64_t predictor, int64_t bounds)
{
    begin(tc_weak(), 1);
    bench.options[TCW_OPTION_LIFETIME] = TCW_LIFETIME_PREDICTED;
    bench.options[TCW_OPTION_PREDICTOR] = predictor;
    bench.options[TCW_OPTION_PREDICTOR_BOUNDS] = bounds;
    bench.unit.program_fences = true;
    bench.world.now = 1;
}

/* The message finds the line in the state, its lease in its last cycle; returns the timestamp that it leaves, less
 * now. */
static uint64_t
lease_left_by(const char *state, uint8_t message)
{
    tc_l2_line_t *line = gpc_tags_fields(&bench.unit.arrays[0], place(0, 0, state));
    line->timestamp = bench.world.now;
    CHECK_EQUAL_I64(gpc_controller_take(&bench.unit, request(message, 1)), GPC_OK);
    uint64_t left = line->timestamp - bench.world.now;
    gpc_tags_drop(&bench.unit.arrays[0], gpc_tags_find(&bench.unit.arrays[0], LINE));
    return left;
}

static uint64_t
prediction(void)
{
    return lease_left_by("L2_S", TCW_GETS);
}

static void
read_of_an_expired_line(void)
{
    (void) lease_left_by("L2_E", TCW_GETS);
}

static void
store_to_a_leased_line(void)
{
    (void) lease_left_by("L2_S", TCW_GETX);
}

static void
eviction_of_a_leased_line(void)
{
    tc_l2_line_t *line = gpc_tags_fields(&bench.unit.arrays[0], place(0, 0, "L2_S"));
    line->timestamp = bench.world.now;
    CHECK_EQUAL_I64(gpc_controller_cause(&bench.unit, GPC_MSG_EVICT, LINE), GPC_OK);
    bench.world.now++;
    CHECK_EQUAL_I64(gpc_controller_cause(&bench.unit, GPC_MSG_EXPIRE, LINE), GPC_OK);
}

/* Section 6.4 and table 4: a read adds 4, an eviction subtracts 8, a store 8. Where the text is silent the authors'
 * public simulator decides (TCpredictor.C): the first prediction is 800, and a store subtracts from more than 800
 * only. */
TEST(predictions_begin_at_800_and_stores_shorten_longer_ones_only)
{
    begin_predictor(TCW_PREDICTOR_PAPER, TCW_BOUNDS_REFERENCE);
    CHECK_EQUAL_U64(prediction(), 800);
    store_to_a_leased_line();
    CHECK_EQUAL_U64(prediction(), 800);
    read_of_an_expired_line();
    CHECK_EQUAL_U64(prediction(), 804);
    store_to_a_leased_line();
    CHECK_EQUAL_U64(prediction(), 796);
    store_to_a_leased_line();
    CHECK_EQUAL_U64(prediction(), 796);
    eviction_of_a_leased_line();
    CHECK_EQUAL_U64(prediction(), 788);
    bench.unit.program_fences = false;
    for (uint32_t i = 0; i < 4; i++) {
        read_of_an_expired_line();
    }
    store_to_a_leased_line();
    CHECK_EQUAL_U64(prediction(), 804);
}

TEST(predictions_bounded_by_their_width_begin_at_1024)
{
    begin_predictor(TCW_PREDICTOR_PAPER, TCW_BOUNDS_WIDTH);
    CHECK_EQUAL_U64(prediction(), 1024);
    store_to_a_leased_line();
    CHECK_EQUAL_U64(prediction(), 1016);
    read_of_an_expired_line();
    CHECK_EQUAL_U64(prediction(), 1020);
    eviction_of_a_leased_line();
    CHECK_EQUAL_U64(prediction(), 1012);
}

/* The simulator's own numbers: 1, 16 and 64. */
TEST(the_simulators_predictor_takes_its_steps_from_800)
{
    begin_predictor(TCW_PREDICTOR_REFERENCE, TCW_BOUNDS_REFERENCE);
    store_to_a_leased_line();
    read_of_an_expired_line();
    CHECK_EQUAL_U64(prediction(), 801);
    store_to_a_leased_line();
    CHECK_EQUAL_U64(prediction(), 737);
    eviction_of_a_leased_line();
    CHECK_EQUAL_U64(prediction(), 721);
}

TEST(predictions_end_at_0_and_at_the_width)
{
    static const uint64_t longest[] = {[TCW_BOUNDS_REFERENCE] = 800 + 4 * 20000, [TCW_BOUNDS_WIDTH] = 65535};
    for (uint32_t bounds = TCW_BOUNDS_REFERENCE; bounds <= TCW_BOUNDS_WIDTH; bounds++) {
        begin_predictor(TCW_PREDICTOR_PAPER, bounds);
        for (uint32_t i = 0; i < 20000; i++) {
            read_of_an_expired_line();
        }
        CHECK_EQUAL_U64(prediction(), longest[bounds]);
        for (uint32_t i = 0; i <= longest[bounds] / 8; i++) {
            eviction_of_a_leased_line();
        }
        CHECK_EQUAL_U64(prediction(), 0);
    }
}

/* ---- TC-Strong's queue of waiting stores ------------------------------------------------------------------------- */

enum { OPTION_STALL = 1, OTHER_LINE = 0x2000, THIRD_LINE = 0x3000 };

static gpc_index_t
strong_request(const char *type, gpc_address_t line)
{
    return bench_message(bench_message_type(bench.unit.protocol, type), line, 1);
}

/* Stores to two leased lines, and a read behind the first, wait; a read of a third line follows. */
static int
fourth_request(int64_t places)
{
    begin(gpc_protocol_find("tc-strong"), 1);
    bench.options[OPTION_STALL] = places;
    bench.world.now = 10;
    ((tc_l2_line_t *) gpc_tags_fields(&bench.unit.arrays[0], place(0, 0, "L2_S")))->timestamp = 20;
    gpc_index_t other = bench_place(0, 0, OTHER_LINE, "L2_S");
    ((tc_l2_line_t *) gpc_tags_fields(&bench.unit.arrays[0], other))->timestamp = 30;
    (void) bench_place(0, 0, THIRD_LINE, "L2_E");
    CHECK_EQUAL_I64(gpc_controller_take(&bench.unit, strong_request("GETX", LINE)), GPC_OK);
    CHECK_EQUAL_I64(gpc_controller_take(&bench.unit, strong_request("GETS", LINE)), GPC_OK); /* kept for the line */
    CHECK_EQUAL_I64(gpc_controller_take(&bench.unit, strong_request("GETX", OTHER_LINE)), GPC_OK);
    return gpc_controller_take(&bench.unit, strong_request("GETS", THIRD_LINE));
}

TEST(a_full_queue_of_waiting_stores_stalls_the_bank_until_one_is_performed)
{
    CHECK_EQUAL_I64(fourth_request(3), GPC_HELD_QUEUE);
    CHECK_EQUAL_U64(bench_entered(0, "L2_E", "L2_QUEUE_FULL"), 1);
    bench.world.now = 21;
    CHECK_EQUAL_I64(gpc_controller_cause(&bench.unit, GPC_MSG_TIMER, LINE), GPC_OK);
    CHECK_EQUAL_U64(bench_entered(0, "L2_WS", "L2_TIME_STORE"), 1);
    CHECK_EQUAL_I64(gpc_controller_replay(&bench.unit), GPC_OK); /* the read behind it */
    CHECK_EQUAL_I64(gpc_controller_take(&bench.unit, strong_request("GETS", THIRD_LINE)), GPC_OK);
}

TEST(a_queue_with_a_free_place_lets_other_lines_pass)
{
    for (int64_t places = 4; places <= 5; places++) {
        CHECK_EQUAL_I64(fourth_request(places), GPC_OK);
        CHECK_EQUAL_U64(bench_entered(0, "L2_E", "L2_GETS"), 1);
    }
}

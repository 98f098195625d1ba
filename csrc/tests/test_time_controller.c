/* test_time_controller.c: when does a store buffer send its words, when do leases, clocks and timers end, and in which
 * order do held requests go on? One controller alone: its world's clock is set by hand. */
#include "controller/clock.h"
#include "controller/controller.h"
#include "controller/lease.h"
#include "controller/store_buffer.h"
#include "protocols/denovo/gpu.h"
#include "protocols/registry.h"
#include "protocols/relativistic/rcc.h"
#include "protocols/temporal/tc.h"
#include "tests/limits_bench.h"

enum { LINE = 64, A = 0x1000, B = 0x2000 };

/* ---- store buffer ------------------------------------------------------------------------------------------------ */

/* The L1 of gpu-drf: a buffer of two lines, with a slot more for each of four MSHRs. */
static void
begin_buffer(const gpc_protocol_t *protocol)
{
    gpc_machine_t machine = bench_small_machine;
    machine.l1_mshrs = 6; /* the options are zero while the part is made */
    bench_begin(protocol, 0, &machine);
    bench.options[GPC_SB_OPTION_ENTRIES] = 2;
}

/* A store of the line's number to its word 0. */
static int
store(gpc_address_t line)
{
    gpc_index_t i = bench_message(GPC_MSG_STORE, line * LINE, 1);
    gpc_msg_at(&bench.messages, i)->data[0] = (uint32_t) line;
    int status = gpc_controller_take(&bench.unit, i);
    if (status == GPC_HELD_QUEUE) {
        gpc_free_message(&bench.unit, i);
    }
    return status;
}

/* The number of the line that the next step of the ready entries sends; 0: none. */
static uint32_t
sent_next(void)
{
    uint32_t sends = bench.world.sends;
    int status = gpc_controller_serve_ready(&bench.unit);
    CHECK(bench.world.sends - sends == (status == GPC_OK));
    return bench.world.sends == sends ? 0 : bench.world.sent_word[0];
}

static void
acknowledge(gpc_address_t line)
{
    gpc_index_t ack = bench_message(GPU_WRITE_ACK, line * LINE, 1);
    CHECK_EQUAL_I64(gpc_controller_take(&bench.unit, ack), GPC_OK);
}

/* The third line waits until the acknowledgement of the first: a sent entry keeps its place. Stores to lines in the
 * buffer merge. */
TEST(store_buffer_of_two_holds_the_third_line)
{
    begin_buffer(&gpc_protocol_gpu_drf);
    CHECK_EQUAL_I64(store(1), GPC_OK);
    CHECK_EQUAL_I64(store(2), GPC_OK);
    CHECK_EQUAL_I64(store(1), GPC_OK);
    CHECK_EQUAL_U64(sent_next(), 0); /* lazy: nothing is sent before the buffer is full */
    CHECK_EQUAL_I64(store(3), GPC_HELD_QUEUE);
    CHECK_EQUAL_U64(sent_next(), 1);
    CHECK_EQUAL_I64(store(3), GPC_HELD_QUEUE);
    acknowledge(1);
    CHECK_EQUAL_I64(store(3), GPC_OK);
}

/* A full buffer drains its oldest entry with fresh words: 1, and at the next store that it holds, 2. */
TEST(store_buffer_drains_the_oldest_first)
{
    begin_buffer(&gpc_protocol_gpu_drf);
    CHECK_EQUAL_I64(store(1), GPC_OK);
    CHECK_EQUAL_I64(store(2), GPC_OK);
    CHECK_EQUAL_I64(store(1), GPC_OK); /* no younger than it was */
    CHECK_EQUAL_I64(store(3), GPC_HELD_QUEUE);
    CHECK_EQUAL_U64(*bench.unit.ready, 1);
    CHECK_EQUAL_U64(bench.world.schedules, 1);
    CHECK_EQUAL_U64(sent_next(), 1);
    CHECK_EQUAL_U64(sent_next(), 0);
    CHECK_EQUAL_I64(store(3), GPC_HELD_QUEUE);
    CHECK_EQUAL_U64(sent_next(), 2);
}

/* With sb_full=flush all entries are ready, and act one a step, oldest first. */
TEST(store_buffer_flushes_all_one_a_step)
{
    begin_buffer(&gpc_protocol_gpu_drf);
    bench.options[GPC_SB_OPTION_FULL] = GPC_SB_FLUSH;
    CHECK_EQUAL_I64(store(2), GPC_OK);
    CHECK_EQUAL_I64(store(1), GPC_OK);
    CHECK_EQUAL_I64(store(3), GPC_HELD_QUEUE);
    CHECK_EQUAL_U64(*bench.unit.ready, 2);
    CHECK_EQUAL_U64(sent_next(), 2);
    CHECK_EQUAL_U64(*bench.unit.ready, 1);
    CHECK_EQUAL_U64(sent_next(), 1);
    CHECK_EQUAL_U64(sent_next(), 0);
}

/* With sb_drain=eager an entry is ready with its first store, and again with the first after its acknowledgement. */
TEST(store_buffer_that_is_eager_sends_at_once)
{
    begin_buffer(&gpc_protocol_gpu_drf);
    bench.options[GPC_SB_OPTION_DRAIN] = GPC_SB_EAGER;
    CHECK_EQUAL_I64(store(1), GPC_OK);
    CHECK_EQUAL_U64(bench.world.schedules, 1);
    CHECK_EQUAL_U64(sent_next(), 1);
    CHECK_EQUAL_I64(store(1), GPC_OK); /* follows the acknowledgement of the first */
    CHECK_EQUAL_U64(sent_next(), 0);
    acknowledge(1);
    CHECK_EQUAL_U64(sent_next(), 1);
}

/* An entry waits while the outbox is full, first in the order of the ready ones. */
TEST(store_buffer_waits_for_the_outbox)
{
    begin_buffer(&gpc_protocol_gpu_drf);
    bench.options[GPC_SB_OPTION_DRAIN] = GPC_SB_EAGER;
    CHECK_EQUAL_I64(store(1), GPC_OK);
    CHECK_EQUAL_I64(store(2), GPC_OK);
    bench.world.full = true;
    CHECK_EQUAL_U64(sent_next(), 0);
    bench.world.full = false;
    CHECK_EQUAL_U64(sent_next(), 1);
    CHECK_EQUAL_U64(sent_next(), 2);
}

/* How many entries each of three cycles serves. */
static void
check_served(const uint32_t *sends)
{
    for (uint32_t cycle = 0; cycle < 3; cycle++) {
        uint32_t before = bench.world.sends;
        CHECK_EQUAL_I64(gpc_controller_serve_ready(&bench.unit), sends[cycle] ? GPC_OK : GPC_HELD_QUEUE);
        CHECK_EQUAL_U64(bench.world.sends - before, sends[cycle]);
    }
}

/* A part with two banks and two steps a cycle: entries 0, 2 and 4, of lines 1, 3 and 5, share a bank. Of all five, four
 * act in the first cycle, and the last in the next; of the three of one bank, two and one. */
TEST(store_buffer_of_two_banks_takes_two_steps_in_each)
{
    static const uint32_t of_all[] = {4, 1, 0}, of_one_bank[] = {2, 1, 0};
    gpc_controller_type_t type = *gpc_protocol_gpu_drf.controllers[0];
    gpc_protocol_t protocol = gpc_protocol_gpu_drf;
    type.parts[0].banks = type.parts[0].steps = 2;
    protocol.controllers[0] = &type;
    begin_buffer(&protocol);
    bench.options[GPC_SB_OPTION_ENTRIES] = 6;
    bench.options[GPC_SB_OPTION_DRAIN] = GPC_SB_EAGER;
    for (gpc_address_t line = 1; line <= 5; line++) {
        CHECK_EQUAL_I64(store(line), GPC_OK);
    }
    check_served(of_all);
    for (gpc_address_t line = 1; line <= 5; line += 2) {
        CHECK_EQUAL_I64(store(line), GPC_OK);
        acknowledge(line);
    }
    check_served(of_one_bank);
    CHECK_EQUAL_U64(bench.world.sent_word[0], 5);
}

/* A release drains what is in the buffer, and waits for it: not for the line stored to after it began. */
TEST(store_buffer_release_waits_for_the_entries_of_its_begin)
{
    gpc_cycle_t until = 0;
    begin_buffer(&gpc_protocol_gpu_drf);
    bench.options[GPC_SB_OPTION_ENTRIES] = 4;
    CHECK_EQUAL_I64(gpc_sb_release(&bench.unit, 0, GPC_SCOPE_GPU, &until), GPC_OK); /* empty */
    CHECK_EQUAL_I64(store(1), GPC_OK);
    CHECK_EQUAL_I64(store(2), GPC_OK);
    CHECK_EQUAL_I64(gpc_sb_release(&bench.unit, 1, GPC_SCOPE_GPU, &until), GPC_HOLD);
    CHECK_EQUAL_I64(store(3), GPC_OK);
    CHECK_EQUAL_U64(sent_next(), 1);
    CHECK_EQUAL_U64(sent_next(), 2);
    CHECK_EQUAL_U64(sent_next(), 0);
    acknowledge(2);
    CHECK_EQUAL_U64(bench.world.warp_wakes, 0);
    CHECK_EQUAL_I64(gpc_sb_release(&bench.unit, 1, GPC_SCOPE_GPU, &until), GPC_HOLD);
    acknowledge(1);
    CHECK_EQUAL_U64(bench.world.warp_wakes, 1);
    CHECK_EQUAL_I64(gpc_sb_release(&bench.unit, 1, GPC_SCOPE_GPU, &until), GPC_OK);
}

/* With sb_entry=word, two words of one line fill a buffer of two; a third waits. */
TEST(store_buffer_of_words_counts_them)
{
    begin_buffer(&gpc_protocol_gpu_drf);
    bench.options[GPC_SB_OPTION_ENTRY] = GPC_SB_WORD;
    CHECK_EQUAL_I64(gpc_controller_take(&bench.unit, bench_message(GPC_MSG_STORE, A, 3)), GPC_OK);
    CHECK_EQUAL_I64(gpc_controller_take(&bench.unit, bench_message(GPC_MSG_STORE, A, 2)), GPC_OK);
    CHECK_EQUAL_I64(gpc_controller_take(&bench.unit, bench_message(GPC_MSG_STORE, A, 4)), GPC_HELD_QUEUE);
}

/* ---- leases and clocks ------------------------------------------------------------------------------------------- */

/* Without a logical clock, a reader's time is the core cycle: a copy is valid in its lease's last cycle. */
TEST(lease_is_valid_in_its_last_cycle)
{
    static const struct {
        gpc_cycle_t now;
        uint32_t loads; /* that miss */
    } cases[] = {{49, 0}, {50, 0}, {51, 1}};
    for (uint32_t i = 0; i < GPC_COUNT_OF(cases); i++) {
        gpc_machine_t machine = bench_small_machine;
        machine.timestamp_bits = 32;
        bench_begin(gpc_protocol_find("tc-weak"), 0, &machine);
        gpc_index_t way = bench_place(0, 0, A, "L1_V");
        ((tc_l1_line_t *) gpc_tags_fields(&bench.unit.arrays[0], way))->timestamp = 50;
        bench.world.now = cases[i].now;
        CHECK_EQUAL_I64(gpc_controller_take(&bench.unit, bench_message(GPC_MSG_LOAD, A, 1)), GPC_OK);
        CHECK_EQUAL_U64(bench.world.sends, cases[i].loads);
    }
}

/* The latest lease that a bank has given: beside the line; in the MSHR of an evicted one. */
TEST(lease_of_a_bank_outlives_its_way)
{
    gpc_machine_t machine = bench_small_machine;
    machine.l2_bytes = 2 * LINE;
    machine.l2_ways = 2;
    machine.l2_mshrs = 2;
    machine.timestamp_bits = 32;
    bench_begin(gpc_protocol_find("tc-weak"), 1, &machine);
    gpc_index_t way = bench_place(0, 0, A, "L2_P");
    ((tc_l2_line_t *) gpc_tags_fields(&bench.unit.arrays[0], way))->timestamp = 90;
    CHECK_EQUAL_U64(gpc_leased_at(&bench.unit, A), 90);
    CHECK_EQUAL_U64(gpc_leased_at(&bench.unit, B), 0);
    CHECK_EQUAL_I64(gpc_controller_cause(&bench.unit, GPC_MSG_EVICT, A), GPC_OK);
    CHECK_EQUAL_U64(gpc_tags_find(&bench.unit.arrays[0], A), GPC_NONE);
    CHECK_EQUAL_U64(gpc_leased_at(&bench.unit, A), 90);
}

/* RCC's clock advances by one, and its timer is set again, every `tick` core cycles. */
TEST(clock_ticks_every_period)
{
    enum { CLOCK_TABLE = 1 };
    gpc_machine_t machine = bench_small_machine;
    machine.timestamp_bits = 32;
    bench_begin(gpc_protocol_find("rcc-wo"), 0, &machine);
    bench.options[RCC_OPTION_TICK] = 100;
    *gpc_clock_of(&bench.unit) = 7;
    for (uint32_t i = 1; i <= 3; i++) {
        bench.world.now = 100 * i;
        CHECK_EQUAL_I64(gpc_controller_unit(&bench.unit, CLOCK_TABLE, GPC_MSG_TIMER, GPC_NONE), GPC_OK);
        CHECK_EQUAL_U64(bench.world.wakes, i);
        CHECK_EQUAL_U64(bench.world.woken_at, 100 * i + 100);
        CHECK_EQUAL_U64(*gpc_clock_of(&bench.unit), 7 + i);
    }
}

/* A rollover stalls the bank for `rollover_stall` core cycles. */
TEST(clock_rollover_stalls_its_cycles)
{
    enum { ROLLOVER_TABLE = 1 };
    gpc_machine_t machine = bench_small_machine;
    machine.l2_bytes = 2 * LINE;
    machine.l2_ways = machine.l2_mshrs = 2;
    machine.timestamp_bits = 32;
    bench_begin(gpc_protocol_find("rcc-wo"), 1, &machine);
    bench.world.now = 1000;
    CHECK_EQUAL_I64(gpc_controller_unit(&bench.unit, ROLLOVER_TABLE, GPC_MSG_INSTANT, GPC_NONE), GPC_OK);
    CHECK_EQUAL_U64(bench.world.wakes, 0); /* rollover_stall = 0 */
    bench.options[RCC_OPTION_ROLLOVER_STALL] = 400;
    CHECK_EQUAL_I64(gpc_controller_unit(&bench.unit, ROLLOVER_TABLE, GPC_MSG_INSTANT, GPC_NONE), GPC_OK);
    CHECK_EQUAL_U64(bench.world.woken_at, 1400);
}

/* ---- held requests ----------------------------------------------------------------------------------------------- */

static int
take(uint8_t type, gpc_address_t line, gpc_node_t source)
{
    gpc_index_t i = bench_message(type, line, 1);
    gpc_msg_at(&bench.messages, i)->source = source;
    int status = gpc_controller_take(&bench.unit, i);
    if (status == GPC_HELD_QUEUE) {
        gpc_free_message(&bench.unit, i);
    }
    return status;
}

/* A request waits behind an older one of its source that the line holds, and passes those of other sources. A store is
 * held by the outstanding line; the table has no cell for a load of it, which must not reach it. */
TEST(replay_keeps_the_order_of_a_source)
{
    limits_begin(LIMITS_LINES, 4);
    CHECK_EQUAL_I64(take(GPC_MSG_LOAD, A, 0), GPC_OK);
    CHECK_EQUAL_I64(take(GPC_MSG_STORE, A, 0), GPC_OK);
    CHECK_EQUAL_I64(take(GPC_MSG_LOAD, A, 0), GPC_OK); /* behind the store */
    const gpc_mshr_t *entry = gpc_mshr_at(&bench.unit.mshrs, gpc_mshr_find(&bench.unit.mshrs, A));
    CHECK_EQUAL_U64(entry->waiters.count, 2);
    CHECK_EQUAL_I64(take(GPC_MSG_LOAD, A, 1), GPC_ERROR_PROTOCOL); /* passes it */
}

/* While requests wait for their replay, a new one waits too. A replay takes one request; those that a line releases
 * precede those that wait already: of source 2 for B, then of 0 and 1 for A. */
TEST(replay_precedes_new_requests_one_a_step)
{
    static const gpc_node_t sources[] = {2, 0, 1};
    limits_begin(LIMITS_LINES, 4);
    CHECK_EQUAL_I64(take(GPC_MSG_LOAD, A, 0), GPC_OK);
    CHECK_EQUAL_I64(take(GPC_MSG_STORE, A, 0), GPC_OK);
    CHECK_EQUAL_I64(take(GPC_MSG_STORE, A, 1), GPC_OK);
    CHECK_EQUAL_I64(take(GPC_MSG_LOAD, B, 2), GPC_OK);
    CHECK_EQUAL_I64(take(GPC_MSG_STORE, B, 2), GPC_OK);
    CHECK_EQUAL_I64(gpc_controller_walk_transactions(&bench.unit, GPC_MSG_ACQUIRE), GPC_OK);
    CHECK_EQUAL_I64(take(GPC_MSG_LOAD, B, 0), GPC_HELD_QUEUE);
    for (uint32_t i = 0; i < GPC_COUNT_OF(sources); i++) {
        CHECK_EQUAL_U64(bench.unit.replay->count, 3 - i);
        CHECK_EQUAL_U64(gpc_msg_at(&bench.messages, bench.unit.replay->head)->source, sources[i]);
        CHECK_EQUAL_I64(gpc_controller_replay(&bench.unit), GPC_OK);
    }
    CHECK_EQUAL_I64(gpc_controller_replay(&bench.unit), GPC_OK); /* none is left */
}

/* Idle transactions end in their cycle, 91, not before; one timer is set for it. */
TEST(idle_transactions_end_in_their_cycle)
{
    static const gpc_cycle_t cycles[] = {90, 91};
    for (uint32_t i = 0; i < GPC_COUNT_OF(cycles); i++) {
        limits_begin(LIMITS_LINES, 1);
        (void) bench_place(0, 0, A, "LINE_V");
        CHECK_EQUAL_I64(gpc_controller_cause(&bench.unit, GPC_MSG_EVICT, A), GPC_OK);
        bench.world.now = cycles[i];
        CHECK_EQUAL_I64(take(GPC_MSG_LOAD, B, 0), i == 0 ? GPC_HELD_QUEUE : GPC_OK);
        CHECK_EQUAL_U64(bench.world.wakes, i == 0);
        CHECK(i == 1 || bench.world.woken_at == 91);
    }
}

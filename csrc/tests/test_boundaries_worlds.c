/* test_boundaries_worlds.c: do entries that act by themselves, outboxes with room for few messages and background
 * timers work in both the machine and the explorer, and do both find a lost drain? */
#include "check/explore/world.h"
#include "explorations.h"
#include "gpu_bench.h"
#include "machine/parts.h"
#include "protocols/registry.h"
#include "prototype_buffer.h"
#include "small_programs.h"

/* ---- the machine ------------------------------------------------------------------------------------------------- */

enum { WORDS = 2048, THREADS = 128 };

/* Every thread stores its number to four lines, one of them after a load of it, reads one back and stores the sum of
 * both loads. */
static const gpc_instruction_t stores[] = {
    SPECIAL(R0, THREAD_X),        SPECIAL(R1, BLOCK_X),    SPECIAL(R2, BLOCK_DIM_X),
    OP(MUL, R1, R1, R2),          OP(ADD, R0, R0, R1),     OP(ADD, R1, R0, CONSTANT(8)),
    OP(LOAD, R3, R1, NONE),       OP(STORE, NONE, R0, R0), OP(STORE, NONE, R1, R0),
    OP(ADD, R2, R0, CONSTANT(7)), OP(STORE, NONE, R2, R0), OP(ADD, R2, R0, CONSTANT(11)),
    OP(STORE, NONE, R2, R0),      OP(LOAD, R4, R1, NONE),  OP(ADD, R4, R4, R3),
    OP(ADD, R1, R0, CONSTANT(9)), OP(STORE, NONE, R1, R4), EXIT,
};

static const gpc_instruction_t one_store[] = {OP(STORE, NONE, CONSTANT(0), CONSTANT(1)), EXIT};

static uint64_t
ticks_of(const bench_t *it)
{
    return ((const buffer_l1_unit_t *) it->gpu->l1s[0]->unit_fields)->ticks;
}

static int
run_stores(bench_t *it)
{
    return RUN_PROGRAM(it, stores, WORDS, 2, THREADS / 2);
}

static bench_t
small_bench(const char *protocol)
{
    gpc_machine_t machine = test_fermi;
    machine.cores = 2;
    machine.partitions = 1;
    machine.vc_flits = 5; /* one store of a line */
    return bench(&machine, prototype_buffer_find(protocol), WORDS);
}

static void
check_words(const bench_t *it, uint64_t first)
{
    uint32_t words[THREADS];
    CHECK_EQUAL_I64(gpc_gpu_host_read(it->gpu, it->address + 4 * first, THREADS, words), 0);
    for (uint32_t i = 0; i < THREADS; i++) {
        CHECK_EQUAL_U64(words[i], i);
    }
}

TEST(a_store_buffer_drains_by_itself_through_an_outbox_of_one_message)
{
    bench_t it = small_bench("buffer");
    CHECK_EQUAL_I64(run_stores(&it), GPC_RUN_DONE);
    check_words(&it, 0);
    check_words(&it, 128);
    check_words(&it, 256);
    check_words(&it, 512);
    check_words(&it, 896);
    gpc_gpu_free(it.gpu);
}

/* One warp's stores to three whole lines, of which the network's buffer has room for one. */
static const gpc_instruction_t three_lines[] = {SPECIAL(R0, THREAD_X),
                                                OP(STORE, NONE, R0, R0),
                                                OP(ADD, R1, R0, CONSTANT(7)),
                                                OP(STORE, NONE, R1, R0),
                                                OP(ADD, R1, R0, CONSTANT(11)),
                                                OP(STORE, NONE, R1, R0),
                                                EXIT};

/* Most messages in the L1's request outbox while the three lines drain. A drain that is still refused when the first
 * line is performed would stop for ever. */
static uint32_t
most_queued(const char *protocol)
{
    bench_t it = small_bench(protocol);
    uint32_t most = 0;
    int status = launch_program(&it, three_lines, GPC_COUNT_OF(three_lines), WORDS, 1, 32);
    while (status == 0 && (status = gpc_gpu_run(it.gpu, 1)) == GPC_RUN_MORE) {
        uint32_t queued = it.gpu->queues[0].queued[0];
        most = queued > most ? queued : most;
        status = 0;
    }
    CHECK_EQUAL_I64(status, GPC_RUN_DONE);
    gpc_gpu_free(it.gpu);
    return most;
}

TEST(a_drain_waits_for_room_in_the_outbox_and_goes_on_when_there_is_some)
{
    CHECK_EQUAL_U64(most_queued("buffer+burst"), 1);
    CHECK_EQUAL_U64(most_queued("buffer+burst+wide"), 2);
}

TEST(entries_act_once_a_cycle_however_many_events_a_unit_has_in_it)
{
    bench_t it = small_bench("buffer+wide");
    gpc_part_t *part = &it.gpu->l1s[0]->parts[0];
    for (uint32_t i = 0; i < 3; i++) {
        gpc_index_t entry = gpc_part_take(part, it.address + i * 128);
        part->states[entry] = 1;
        CHECK_EQUAL_I64(gpc_part_ready(part, entry), GPC_OK);
    }
    CHECK_EQUAL_I64(gpc_gpu_arrived(it.gpu, 0, 1), GPC_OK);
    CHECK_EQUAL_I64(gpc_gpu_controller_event(it.gpu, 0), GPC_OK);
    CHECK_EQUAL_U64(part->ready->count, 2);
    CHECK_EQUAL_I64(gpc_gpu_arrived(it.gpu, 0, 1), GPC_OK);
    CHECK_EQUAL_U64(part->ready->count, 2);
    gpc_gpu_abort(it.gpu);
    gpc_gpu_free(it.gpu);
}

TEST(a_request_of_the_core_lets_a_refused_entry_try_again)
{
    static const gpc_instruction_t pair[] = {OP(STORE, NONE, CONSTANT(0), CONSTANT(1)),
                                             OP(STORE, NONE, CONSTANT(1), CONSTANT(2)), EXIT};
    bench_t it = small_bench("buffer+pairs");
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, pair, WORDS, 1, 1), GPC_RUN_DONE);
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, one_store, WORDS, 1, 1), GPC_ERROR_DEADLOCK);
    gpc_gpu_free(it.gpu);
}

TEST(a_machine_finds_drains_that_are_lost)
{
    bench_t lost = small_bench("buffer!lost"), forgotten = small_bench("buffer!forgotten");
    CHECK_EQUAL_I64(run_stores(&lost), GPC_ERROR_DEADLOCK);
    CHECK_EQUAL_I64(run_stores(&forgotten), GPC_ERROR_DEADLOCK);
    gpc_gpu_free(lost.gpu);
    gpc_gpu_free(forgotten.gpu);
}

TEST(a_machine_finds_entries_that_are_left_at_the_end)
{
    bench_t it = small_bench("buffer!early");
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, one_store, WORDS, 1, 1), GPC_ERROR_CONSERVATION);
    CHECK(strstr(gpc_gpu_error_text(it.gpu), "an entry of store buffer is left") != NULL);
    gpc_gpu_free(it.gpu);
}

TEST(background_timers_tick_in_every_launch_and_keep_none_running)
{
    bench_t it = small_bench("buffer+launched");
    CHECK_EQUAL_I64(run_stores(&it), GPC_RUN_DONE);
    uint64_t ticks = ticks_of(&it);
    CHECK(ticks > 0);
    CHECK_EQUAL_U64(it.gpu->messages.state->in_use, 0);
    CHECK_EQUAL_I64(run_stores(&it), GPC_RUN_DONE);
    CHECK(ticks_of(&it) > ticks);
    check_words(&it, 0);
    gpc_gpu_free(it.gpu);
}

TEST(background_timers_change_no_time)
{
    bench_t with = small_bench("buffer+launched"), without = small_bench("buffer");
    CHECK_EQUAL_I64(run_stores(&with), GPC_RUN_DONE);
    CHECK_EQUAL_I64(run_stores(&without), GPC_RUN_DONE);
    CHECK_EQUAL_U64(with.gpu->state->cycles, without.gpu->state->cycles);
    gpc_gpu_free(with.gpu);
    gpc_gpu_free(without.gpu);
}

TEST(a_deadlock_behind_a_background_timer_is_found)
{
    bench_t lost = small_bench("buffer!lost"), waiting = small_bench("buffer!waiting");
    CHECK_EQUAL_I64(run_stores(&lost), GPC_ERROR_DEADLOCK);
    CHECK_EQUAL_I64(RUN_PROGRAM(&waiting, one_store, WORDS, 1, 1),
                    GPC_ERROR_DEADLOCK); /* timers do not count as progress */
    gpc_gpu_free(lost.gpu);
    gpc_gpu_free(waiting.gpu);
}

/* An ordinary periodic timer would keep every launch running. */
TEST(an_ordinary_periodic_timer_keeps_a_launch_running)
{
    bench_t it = small_bench("buffer!foreground");
    CHECK_EQUAL_I64(launch_program(&it, stores, GPC_COUNT_OF(stores), WORDS, 2, THREADS / 2), 0);
    CHECK_EQUAL_I64(gpc_gpu_run(it.gpu, 1000000), GPC_RUN_MORE);
    gpc_gpu_abort(it.gpu);
    gpc_gpu_free(it.gpu);
}

/* ---- the explorer ------------------------------------------------------------------------------------------------ */

static const gpc_explore_thread_t store_then_load[] = {THREAD(0, ST(X, 1), ST(X, 2), LD(X)),
                                                       THREAD(1, LD(X), ST(X, 3))};
static const gpc_explore_thread_t three_stores[] = {THREAD(0, ST(X, 1), ST(Y, 1), ST(X, 2)), THREAD(1, LD(Y), LD(X))};
static const gpc_explore_thread_t load_then_store[] = {THREAD(0, LD(X)), THREAD(0, ST(X, 1))};

static const gpc_explore_thread_t only_stores[] = {THREAD(0, ST(X, 1)), THREAD(1, ST(Y, 1))};

static gpc_explore_t
asked(const char *protocol, const gpc_explore_thread_t *threads)
{
    return (gpc_explore_t){.protocol = prototype_buffer_find(protocol),
                           .rule = GPC_RULE_DEFAULT,
                           .cores = 2,
                           .variables = 2,
                           .num_threads = 2,
                           .threads = threads,
                           .max_states = 2000000};
}

TEST(the_explorer_lets_entries_act_in_every_order)
{
    gpc_explore_t what = asked("buffer", store_then_load);
    EXPLORE(&what);
    what.threads = load_then_store;
    EXPLORE(&what);
    what.threads = three_stores;
    EXPLORE(&what, .seen = "1 1 2 1"); /* a load between the drains of X */
}

/* Only with more than one store in flight may Y be performed before X, whose entry is the older one. */
TEST(the_explorer_keeps_to_the_room_of_an_outbox)
{
    gpc_explore_t what = asked("buffer", three_stores);
    EXPLORE(&what, .never = "1 0 2 1");
    what.protocol = prototype_buffer_find("buffer+wide");
    EXPLORE(&what, .seen = "1 0 2 1");
}

TEST(the_explorer_finds_drains_that_are_lost)
{
    gpc_explore_t what = asked("buffer!lost", three_stores);
    EXPLORE(&what, .violation = "deadlock");
    what = asked("buffer!forgotten", load_then_store);
    EXPLORE(&what, .violation = "deadlock", .moves = 1u << GPC_MOVE_ENTRY);
    what = asked("buffer!early", only_stores);
    EXPLORE(&what, .violation = "invariant", .says = "an entry of store buffer is left");
}

TEST(background_timers_may_come_at_any_time_in_the_explorer_and_are_no_progress)
{
    gpc_explore_t what = asked("buffer+ticks", three_stores);
    EXPLORE(&what);
    what = asked("buffer!untimely", only_stores);
    EXPLORE(&what, .violation = "protocol error", .moves = 1u << GPC_MOVE_BACKGROUND);
    what = asked("buffer!waiting", only_stores);
    EXPLORE(&what, .violation = "deadlock");
}

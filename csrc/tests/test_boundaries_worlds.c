/* test_boundaries_worlds.c: do entries that act by themselves, outboxes with room for few messages and background
 * timers work in both the machine and the explorer, and do both find a lost drain? By gpu-drf, whose store buffer
 * drains by itself, and rcc-wo, whose L1s tick, each with the smallest change that breaks it. */
#include "check/explore/world.h"
#include "controller/store_buffer.h"
#include "explorations.h"
#include "gpu_bench.h"
#include "machine/parts.h"
#include "protocols/registry.h"
#include "small_programs.h"
#include "tests/mutants_parts.h"

enum { WORDS = 2048, THREADS = 128, ONE = 1, WIDE = 0 /* messages in an L1's outbox; 0: the usual room */ };

static const gpc_option_value_t lazy = {"sb_drain", GPC_SB_LAZY}, eager = {"sb_drain", GPC_SB_EAGER};

/* gpu-drf with edits and an outbox. The caller frees it. */
static mutant_t *
buffer(uint32_t outbox, const mutant_edit_t *edits)
{
    const mutant_info_t info = {"gpu-drf!x", "a bug", NULL, edits};
    mutant_t *self = mutant_make(&info, &gpc_protocol_gpu_drf);
    self->types[0].outbox = (uint8_t) outbox;
    return self;
}
#define EDITS(...) ((const mutant_edit_t[]) {__VA_ARGS__, {0}})
#define AS_IT_IS EDITS({0})

#define LOST EDITS(DROP("L1.store_buffer", "OPEN", "RELEASE", "make_ready"))      /* an entry is never ready */
#define FORGOTTEN EDITS(COPY("L1.store_buffer", "OPEN", "DRAIN", "OPEN", "STORE")) /* a ready entry does nothing */
#define PAIRS EDITS(REPLACE("L1.store_buffer", "OPEN", "DRAIN", "need_room", act_need_pair))

GPC_ACTION(act_need_pair, "hold until the entry has two words")
{
    return gpc_count_bits(gpc_sb_entry(x, GPC_SB_PART)->fresh) >= 2 ? GPC_OK : GPC_HOLD;
}

/* An entry is left when the kernel ends. */
static mutant_t *
left_at_the_end(void)
{
    mutant_t *self = buffer(ONE, AS_IT_IS);
    self->types[0].ends = 0;
    return self;
}

/* ---- the machine ------------------------------------------------------------------------------------------------- */

/* Every thread stores its number to four lines, one of them after a load of it, reads one back and stores the sum of
 * both loads. */
static const gpc_instruction_t stores[] = {
    READ(R0, THREAD_X),    READ(R1, BLOCK_X),
    READ(R2, BLOCK_DIM_X), OP(MUL, R1, R1, R2),
    OP(ADD, R0, R0, R1),   OP(ADD, R1, R0, CONSTANT(8)),
    LOAD(R3, R1),          STORE(R0, R0),
    STORE(R1, R0),         OP(ADD, R2, R0, CONSTANT(7)),
    STORE(R2, R0),         OP(ADD, R2, R0, CONSTANT(11)),
    STORE(R2, R0),         LOAD(R4, R1),
    OP(ADD, R4, R4, R3),   OP(ADD, R1, R0, CONSTANT(9)),
    STORE(R1, R4),         EXIT,
};

/* A release waits for the store; without one, only the kernel's end does. */
static const gpc_instruction_t released[] = {STORE(CONSTANT(0), CONSTANT(1)), FENCE_SC, EXIT};
static const gpc_instruction_t one_store[] = {STORE(CONSTANT(0), CONSTANT(1)), EXIT};

static int
run_stores(bench_t *it)
{
    return RUN_PROGRAM(it, stores, WORDS, 2, THREADS / 2);
}

static bench_t
small_bench(const gpc_protocol_t *protocol, const gpc_option_value_t *options, uint32_t count)
{
    gpc_machine_t machine = test_fermi;
    machine.cores = 2;
    machine.partitions = 1;
    machine.vc_flits = 5; /* one store of a line */
    return BENCH_WITH(WORDS, .machine = &machine, .protocol = protocol, .options = options, .num_options = count);
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
    static const uint32_t arrays[] = {0, 128, 256, 512, 896};
    mutant_t *protocol = buffer(ONE, AS_IT_IS);
    bench_t it = small_bench(&protocol->protocol, &eager, 1);
    CHECK_EQUAL_I64(run_stores(&it), GPC_RUN_DONE);
    for (uint32_t i = 0; i < GPC_COUNT_OF(arrays); i++) {
        check_words(&it, arrays[i]);
    }
    free(protocol);
}

/* One warp's stores to three whole lines, of which the network's buffer has room for one. */
static const gpc_instruction_t three_lines[] = {
    READ(R0, THREAD_X), STORE(R0, R0), OP(ADD, R1, R0, CONSTANT(7)), STORE(R1, R0), OP(ADD, R1, R0, CONSTANT(11)),
    STORE(R1, R0),      EXIT};

/* Most messages in the L1's request outbox while the three lines drain, at the kernel's end. A drain that is still
 * refused when the first line is performed would stop for ever. */
static uint32_t
most_queued(uint32_t outbox)
{
    mutant_t *protocol = buffer(outbox, AS_IT_IS);
    bench_t it = small_bench(&protocol->protocol, &lazy, 1);
    uint32_t most = 0;
    int status = launch_program(&it, three_lines, GPC_COUNT_OF(three_lines), WORDS, 1, 32);
    while (status == 0 && (status = gpc_gpu_run(it.gpu, 1)) == GPC_RUN_MORE) {
        uint32_t queued = it.gpu->queues[0].queued[0];
        most = queued > most ? queued : most;
        status = 0;
    }
    CHECK_EQUAL_I64(status, GPC_RUN_DONE);
    free(protocol);
    return most;
}

TEST(a_drain_waits_for_room_in_the_outbox_and_goes_on_when_there_is_some)
{
    CHECK_EQUAL_U64(most_queued(ONE), 1);
    CHECK_EQUAL_U64(most_queued(WIDE), 2);
}

TEST(entries_act_once_a_cycle_however_many_events_a_unit_has_in_it)
{
    bench_t it = small_bench(&gpc_protocol_gpu_drf, &lazy, 1);
    gpc_part_t *part = &it.gpu->l1s[0]->parts[GPC_SB_PART];
    for (uint32_t i = 0; i < 3; i++) {
        gpc_index_t entry = gpc_part_take(part, it.address + i * 128);
        part->states[entry] = 1;
        CHECK_EQUAL_I64(gpc_part_ready(part, entry), GPC_OK);
    }
    for (uint32_t i = 0; i < 2; i++) {
        CHECK_EQUAL_I64(gpc_gpu_arrived(it.gpu, 0, 1), GPC_OK);
        CHECK_EQUAL_I64(i == 0 ? gpc_gpu_controller_event(it.gpu, 0) : GPC_OK, GPC_OK);
        CHECK_EQUAL_U64(part->ready->count, 2);
    }
    gpc_gpu_abort(it.gpu);
}

static void
check_deadlock(mutant_t *protocol, const gpc_option_value_t *option)
{
    bench_t it = small_bench(&protocol->protocol, option, 1);
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, released, WORDS, 1, 1), GPC_ERROR_DEADLOCK);
    free(protocol);
}

TEST(a_request_of_the_core_lets_a_refused_entry_try_again)
{
    static const gpc_instruction_t pair[] = {STORE(CONSTANT(0), CONSTANT(1)), STORE(CONSTANT(1), CONSTANT(2)), EXIT};
    mutant_t *pairs = buffer(WIDE, PAIRS);
    bench_t it = small_bench(&pairs->protocol, &eager, 1);
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, pair, WORDS, 1, 1), GPC_RUN_DONE);
    check_deadlock(pairs, &eager);
}

TEST(a_machine_finds_drains_that_are_lost)
{
    check_deadlock(buffer(ONE, LOST), &lazy);
    check_deadlock(buffer(ONE, FORGOTTEN), &lazy);
}

TEST(a_machine_finds_entries_that_are_left_at_the_end)
{
    mutant_t *left = left_at_the_end();
    bench_t it = small_bench(&left->protocol, &lazy, 1);
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, one_store, WORDS, 1, 1), GPC_ERROR_CONSERVATION);
    CHECK(strstr(gpc_gpu_error_text(it.gpu), "an entry of store buffer is left") != NULL);
    free(left);
}

/* ---- background timers: rcc-wo's L1s tick every `tick` cycles; leases outlast the launches ----------------------- */

static uint64_t
ticks_of(const bench_t *it)
{
    const gpc_controller_t *l1 = it->gpu->l1s[0];
    uint32_t i = 0;
    while (strcmp(l1->type->counters[i].name, "ticks") != 0) {
        i++;
    }
    return l1->own_counters[i];
}

TEST(background_timers_tick_in_every_launch_keep_none_running_and_change_no_time)
{
    uint64_t cycles[2];
    for (uint32_t ticks = 0; ticks < 2; ticks++) {
        const gpc_option_value_t options[] = {{"tick", 20 * (int64_t) ticks}, {"predict", 0}, {"lease", 30000}};
        bench_t it = small_bench(&gpc_protocol_rcc_wo, options, 3);
        CHECK_EQUAL_I64(run_stores(&it), GPC_RUN_DONE);
        uint64_t before = ticks_of(&it);
        CHECK_EQUAL_U64(before > 0, ticks);
        CHECK_EQUAL_U64(it.gpu->messages.state->in_use, 0);
        CHECK_EQUAL_I64(run_stores(&it), GPC_RUN_DONE);
        CHECK_EQUAL_U64(ticks_of(&it) > before, ticks);
        check_words(&it, 0);
        cycles[ticks] = it.gpu->state->cycles;
    }
    CHECK_EQUAL_U64(cycles[0], cycles[1]);
}

/* ---- the explorer ------------------------------------------------------------------------------------------------ */

static const gpc_explore_thread_t store_then_load[] = {THREAD(0, ST(X, 1), ST(X, 2), LD(X)),
                                                       THREAD(1, LD(X), ST(X, 3))};
static const gpc_explore_thread_t three_stores[] = {THREAD(0, ST(X, 1), ST(Y, 1), ST(X, 2)),
                                                    THREAD(1, LD_ACQUIRE(Y), LD(X))};
static const gpc_explore_thread_t load_then_store[] = {THREAD(0, LD(X)), THREAD(0, ST(X, 1))};
static const gpc_explore_thread_t load_then_release[] = {THREAD(0, LD(X)), THREAD(0, ST(X, 1), F)};
static const gpc_explore_thread_t only_stores[] = {THREAD(0, ST(X, 1)), THREAD(1, ST(Y, 1))};

static gpc_explore_t
asked(const gpc_protocol_t *protocol, const gpc_option_value_t *option, const gpc_explore_thread_t *threads)
{
    return ASK(threads, .protocol = protocol, .rule = GPC_RULE_DEFAULT, .options = option, .num_options = 1);
}

TEST(the_explorer_lets_entries_act_in_every_order)
{
    gpc_explore_t what = asked(&gpc_protocol_gpu_drf, &eager, store_then_load);
    EXPLORE(&what);
    what.threads = load_then_store;
    EXPLORE(&what);
    what.threads = three_stores;
    EXPLORE(&what, .seen = "1 1 2 1"); /* a load between the drains of X */
}

/* Only with more than one store in flight may Y be performed before X, whose entry is the older one. */
TEST(the_explorer_keeps_to_the_room_of_an_outbox)
{
    mutant_t *narrow = buffer(ONE, AS_IT_IS);
    gpc_explore_t what = asked(&narrow->protocol, &eager, three_stores);
    EXPLORE(&what, .never = "1 0 2 1");
    what.protocol = &gpc_protocol_gpu_drf;
    EXPLORE(&what, .seen = "1 0 2 1");
    free(narrow);
}

TEST(the_explorer_finds_drains_that_are_lost)
{
    mutant_t *lost = buffer(ONE, LOST), *forgotten = buffer(ONE, FORGOTTEN), *left = left_at_the_end();
    gpc_explore_t what = asked(&lost->protocol, &lazy, load_then_release);
    EXPLORE(&what, .violation = "deadlock");
    what = asked(&forgotten->protocol, &eager, load_then_release);
    EXPLORE(&what, .violation = "deadlock", .moves = 1u << GPC_MOVE_ENTRY);
    what = asked(&left->protocol, &lazy, only_stores);
    EXPLORE(&what, .violation = "invariant", .says = "an entry of store buffer is left");
    free(lost);
    free(forgotten);
    free(left);
}

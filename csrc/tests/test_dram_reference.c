/* test_dram_reference.c: do DRAM channels issue the commands and answer the requests that the plain models of
 * dram_reference.h do, in the same ticks, and does every request end?
 *
 * Random channels serve random requests: bursts, trickles, streams of row hits that starve another row until its
 * request precedes all others, idle gaps. The first difference ends a test, which prints after how many requests it
 * came. */
#include "base/errors.h"
#include "dram_reference.h"
#include "harness.h"
#include "random.h"

enum { REQUESTS = 20000, NAMES = 1 << 12 };

static gpc_arena_t arena;
static gpc_pool_t messages;
static gpc_wheel_t wheel;
static gpc_memory_t *memory;
static gpc_dram_t dram;
static reference_t reference;
static gpc_dram_config_t config;

static gpc_tick_t expected[NAMES]; /* tick of the answer, by name */
static uint32_t waited_for[NAMES]; /* the names that wait for it */
static uint32_t num_waited_for;
static uint32_t channel, requests, commands, forced;
static char difference[200]; /* the first one */

#define DIFFERS(...) (difference[0] ? 0 : snprintf(difference, sizeof difference, __VA_ARGS__))

/* ---- comparing --------------------------------------------------------------------------------------------------- */

static void
expect_answer(uint32_t name, gpc_tick_t tick)
{
    expected[name] = tick;
    waited_for[num_waited_for++] = name;
}

static int
answer(void *world, uint32_t from, gpc_index_t message)
{
    uint32_t name = gpc_msg_at(&messages, message)->request, i = 0;
    (void) world;
    (void) from;
    while (i < num_waited_for && waited_for[i] != name) {
        i++;
    }
    if (i == num_waited_for || expected[name] != gpc_wheel_now(&wheel)) {
        DIFFERS("request %u is answered at tick %llu", name, (unsigned long long) gpc_wheel_now(&wheel));
    } else {
        waited_for[i] = waited_for[--num_waited_for];
    }
    gpc_pool_give(&messages, message);
    return GPC_OK;
}

static void
compare_command(void *world, uint32_t from, gpc_dram_command_t command, uint32_t bank, uint64_t row, gpc_tick_t tick)
{
    const reference_command_t *its = &reference.commands[commands];
    (void) world;
    (void) from;
    if (commands++ >= reference.num_commands || its->command != command || its->bank != bank || its->row != row ||
        its->tick != tick) {
        DIFFERS("command %u: kind %d, bank %u, row %llu, tick %llu", commands - 1, (int) command, bank,
                (unsigned long long) row, (unsigned long long) tick);
    }
}

/* Both run up to and including a tick. */
static void
run_to(gpc_tick_t tick)
{
    gpc_event_t event; /* after all others of the tick */
    reference.run(&reference, tick);
    CHECK_EQUAL_I64(gpc_wheel_schedule(&wheel, tick, GPC_EVENT_LAUNCH, 3, UINT32_MAX, 0), 0);
    while (gpc_wheel_next(&wheel, &event) && event.kind != GPC_EVENT_LAUNCH) {
        CHECK_EQUAL_I64(gpc_dram_event(&dram, &event), 0);
    }
    if (commands != reference.num_commands) {
        DIFFERS("%u commands, the reference has issued %u", commands, reference.num_commands);
    }
    for (uint32_t i = 0; i < num_waited_for; i++) {
        if (expected[waited_for[i]] <= tick) {
            DIFFERS("request %u is not answered at tick %llu", waited_for[i],
                    (unsigned long long) expected[waited_for[i]]);
        }
    }
    uint32_t free = reference.waiting < config.queue ? config.queue - reference.waiting : 0;
    if (gpc_dram_room(&dram, channel) != free) {
        DIFFERS("%u free places, the reference has %u", gpc_dram_room(&dram, channel), free);
    }
}

static void
pass(uint32_t cycles)
{
    run_to(gpc_wheel_now(&wheel) + cycles * config.clock.period + random_below(config.clock.period));
}

/* Until nothing waits and every answer has come, and for `cycles` more. */
static void
run_dry(uint32_t cycles)
{
    for (uint32_t i = 0; (reference.waiting || num_waited_for) && !difference[0]; i++) {
        pass(50);
        if (i == 10000) {
            DIFFERS("a request waits for ever");
        }
    }
    if (!gpc_dram_idle(&dram)) {
        DIFFERS("the channel is not idle");
    }
    pass(cycles);
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

/* The address of a line of the channel, by its bank, row, and place in the row. */
static gpc_address_t
address_of(uint64_t bank, uint64_t row, uint64_t place)
{
    uint64_t bytes = (row * config.banks + bank) * reference_row_bytes(&config) + place * config.line_bytes;
    return (bytes / config.interleave_bytes * config.channels + channel) * config.interleave_bytes +
           bytes % config.interleave_bytes;
}

static void
request_line(uint64_t bank, uint64_t row, bool writes)
{
    gpc_address_t line = address_of(bank, row, random_below(reference_row_bytes(&config) / config.line_bytes));
    bool answered = !writes || random_below(4) == 0;
    const reference_request_t request = {.name = requests++ % NAMES, .writes = writes, .answered = answered};
    gpc_index_t message = GPC_NONE;

    if (answered) {
        message = gpc_pool_take(&messages);
        *gpc_msg_at(&messages, message) = (gpc_msg_t){.line = line, .request = request.name};
    }
    reference_accept(&reference, &request, line);
    if (writes) {
        CHECK_EQUAL_I64(gpc_dram_write(&dram, channel, line, 0, NULL, message), 0);
    } else {
        CHECK_EQUAL_I64(gpc_dram_read(&dram, channel, message), 0);
    }
}

static bool
has_place(void)
{
    return gpc_dram_room(&dram, channel) > 0 && reference.waiting < config.queue;
}

/* Bursts and idle gaps over some rows of some banks. */
static void
burst(void)
{
    uint64_t banks = 1 + random_below(config.banks), rows = 1 + random_below(4);
    uint32_t writes = (uint32_t) random_below(4), gap = 1 + (uint32_t) random_below(100);

    for (uint32_t bursts = 1 + (uint32_t) random_below(4); bursts > 0 && !difference[0]; bursts--) {
        for (uint32_t left = (uint32_t) random_below(40); left > 0 && has_place(); left--) {
            request_line(random_below(banks), random_below(rows), random_below(4) < writes);
        }
        if (reference.waiting == config.queue && random_below(4) == 0) {
            request_line(random_below(banks), random_below(rows), true); /* a write-back, in the additional place */
        }
        pass((uint32_t) random_below(gap));
    }
}

/* As many requests as the pins pass, mostly to one row. */
static void
stream(void)
{
    uint64_t bank = random_below(config.banks), row = random_below(8);

    for (uint32_t left = 20 + (uint32_t) random_below(60); left > 0 && !difference[0]; left--) {
        bool elsewhere = random_below(16) == 0;
        if (has_place()) {
            request_line(elsewhere ? random_below(config.banks) : bank, elsewhere ? random_below(8) : row,
                         random_below(8) == 0);
        }
        pass((uint32_t) random_below(10));
    }
}

static void
trickle(void)
{
    run_dry(0);
    for (uint32_t left = 1 + (uint32_t) random_below(4); left > 0 && !difference[0]; left--) {
        request_line(random_below(config.banks), random_below(2), random_below(2) == 0);
        run_dry((uint32_t) random_below(300));
    }
}

/* Row hits pass a request for another row of their bank until it precedes all others. Mostly none is left then: its
 * command empties the queue. */
static void
starve(void)
{
    uint64_t bank = random_below(config.banks);
    uint32_t ahead = 1 + (uint32_t) random_below(2), hits = 0;

    run_dry(0);
    request_line(bank, 0, false);
    run_dry(0);
    request_line(bank, 0, false);
    if (has_place()) {
        request_line(bank, 1, random_below(2) == 0);
    }
    while (hits < 200 && !difference[0] && reference.waiting > 0 && reference.queue[0].passed < REFERENCE_PASSES) {
        uint32_t more = reference.queue[0].passed + reference.waiting <= REFERENCE_PASSES;
        if (has_place() && reference.waiting <= ahead && more) {
            request_line(bank, 0, random_below(8) == 0);
            hits++;
        }
        pass(1);
    }
    forced += reference.waiting > 0 && reference.queue[0].passed >= REFERENCE_PASSES;
    if (random_below(3) == 0 && has_place()) {
        request_line(bank, random_below(2), false);
    }
    if (random_below(2) == 0) {
        run_dry((uint32_t) random_below(100));
    }
}

/* Reads of all banks keep the pins, so that they pass a write until it precedes all others. */
static void
starve_a_write(void)
{
    run_dry(0);
    request_line(random_below(config.banks), 0, false);
    request_line(random_below(config.banks), 0, true);
    for (uint32_t cycles = 0; cycles < 1000 && !difference[0]; cycles++) {
        while (has_place()) {
            request_line(random_below(config.banks), 0, false);
        }
        if (reference.queue[0].passed >= REFERENCE_PASSES || (cycles > 0 && !reference.queue[0].writes)) {
            break;
        }
        pass(1);
    }
    forced += reference.queue[0].passed >= REFERENCE_PASSES;
}

/* ---- channels ---------------------------------------------------------------------------------------------------- */

static uint32_t
one_of(const uint32_t *values, uint32_t count)
{
    return values[random_below(count)];
}
#define ONE_OF(...) one_of((const uint32_t[]){__VA_ARGS__}, GPC_COUNT_OF(((const uint32_t[]){__VA_ARGS__})))

static uint32_t
timing(uint32_t most)
{
    return 1 + (uint32_t) random_below(most);
}

static gpc_dram_config_t
random_channel(uint32_t model)
{
    uint32_t line = ONE_OF(64, 128);
    return (gpc_dram_config_t){.channels = ONE_OF(1, 2, 3),
                               .model = model,
                               .queue = 2 + (uint32_t) random_below(REFERENCE_QUEUE - 2),
                               .line_bytes = line,
                               .bytes_per_cycle = ONE_OF(4, 8, 16, 32, 64),
                               .banks = ONE_OF(1, 2, 3, 4, 8, 16, 64),
                               .row_bytes = line * ONE_OF(1, 2, 8, 16),
                               .burst_bytes = ONE_OF(32, 64, 128),
                               .interleave_bytes = line * ONE_OF(1, 2, 4),
                               .bank_cycles = ONE_OF(1, 2, 4, 11, 30),
                               .t_cl = timing(16),
                               .t_rp = timing(16),
                               .t_rc = timing(50),
                               .t_ras = timing(30),
                               .t_ccd = timing(4),
                               .t_wl = timing(8),
                               .t_rcd = timing(16),
                               .t_rrd = timing(8),
                               .t_cdlr = timing(8),
                               .t_wr = timing(16),
                               .t_rtpl = timing(4) - 1,
                               .clock = {ONE_OF(1, 2, 3, 7)},
                               .latency = random_below(300)};
}

static void
begin(uint32_t model)
{
    gpc_arena_free(&arena);
    gpc_arena_init(&arena, 1u << 16);
    config = random_channel(model);
    channel = (uint32_t) random_below(config.channels);
    commands = num_waited_for = 0;
    CHECK_EQUAL_I64(gpc_pool_init(&messages, &arena, NAMES, sizeof(gpc_msg_t)), 0);
    CHECK_EQUAL_I64(gpc_wheel_init(&wheel, &arena, 2 * NAMES), 0);
    CHECK_EQUAL_I64(gpc_dram_init(&dram, &config, &arena, &messages, memory, &wheel, answer, NULL), 0);
    dram.monitor = compare_command;
    reference_begin(&reference, &config, expect_answer);
}

static void
compare_statistics(void)
{
    const gpc_dram_statistics_t *its = &dram.statistics[channel];
#define X(name)                                                                                                        \
    if (its->name != reference.statistics.name) {                                                                      \
        DIFFERS(#name " %llu, of the reference %llu", (unsigned long long) its->name,                                  \
                (unsigned long long) reference.statistics.name);                                                       \
    }
    GPC_DRAM_STATISTICS(X)
#undef X
}

static void
compare_with_reference(uint32_t model, const char *name)
{
    static void (*const patterns[])(void) = {burst, stream, trickle, starve, starve, starve_a_write, starve_a_write};
    uint32_t count = model == GPC_DRAM_CLOSED ? GPC_COUNT_OF(patterns) : GPC_COUNT_OF(patterns) - 2;
    uint32_t channels = 0;

    requests = forced = 0;
    difference[0] = 0;
    for (; requests < REQUESTS && !difference[0]; channels++) {
        begin(model);
        for (uint32_t i = 0; i < 6 && !difference[0]; i++) {
            patterns[random_below(count)]();
        }
        run_dry(0);
        compare_statistics();
        if (reference.most_passed > REFERENCE_PASSES) {
            DIFFERS("a request is passed %u times", reference.most_passed);
        }
    }
    if (difference[0]) {
        printf("# %s: first difference after %u requests: %s\n", name, requests, difference);
    } else {
        printf("# %s: %u requests to %u channels; %u times the oldest precedes all others\n", name, requests, channels,
               forced);
    }
    CHECK(!difference[0]);
    CHECK(model == 0 || difference[0] || forced >= REQUESTS / 1000);
}

TEST(dram_fixed_is_its_reference)
{
    compare_with_reference(0, "fixed");
}

TEST(dram_banks_is_its_reference)
{
    compare_with_reference(1, "banks");
}

TEST(dram_closed_is_its_reference)
{
    compare_with_reference(2, "closed");
}

BEFORE_TESTS
{
    CHECK_EQUAL_I64(gpc_memory_create(&memory, NULL), 0);
}

AFTER_TESTS
{
    gpc_arena_free(&arena);
    gpc_memory_free(memory);
}

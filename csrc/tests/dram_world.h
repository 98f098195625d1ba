/* dram_world.h: DRAM channels on their own: requests by name, the ticks of their answers, the commands of channel 0. */
#ifndef GPC_TESTS_DRAM_WORLD_H
#define GPC_TESTS_DRAM_WORLD_H

#include "base/errors.h"
#include "fabric/dram.h"
#include "harness.h"

enum { PERIOD = 3, MESSAGES = 512, LOG = 1 << 17 };

typedef struct {
    gpc_dram_command_t command;
    uint32_t bank;
    uint64_t row;
    gpc_tick_t tick;
} command_t;

static gpc_arena_t arena;
static gpc_pool_t messages;
static gpc_wheel_t wheel;
static gpc_memory_t *memory;
static gpc_dram_t dram;
static gpc_tick_t answered[MESSAGES]; /* by the message's request, GPC_NEVER before */
static uint32_t order[MESSAGES], num_answers, num_rooms;
static command_t commands[LOG];
static uint32_t num_commands;
static uint32_t last_word; /* of the last answer */

/* The GDDR5 numbers of the paper's machine. */
static const gpc_dram_config_t gddr5 = {.channels = 2,
                                        .model = 1,
                                        .queue = 32,
                                        .line_bytes = 128,
                                        .bytes_per_cycle = 16,
                                        .banks = 16,
                                        .row_bytes = 2048,
                                        .burst_bytes = 32,
                                        .interleave_bytes = 256,
                                        .bank_cycles = 11,
                                        .t_cl = 12,
                                        .t_rp = 12,
                                        .t_rc = 40,
                                        .t_ras = 28,
                                        .t_ccd = 2,
                                        .t_wl = 4,
                                        .t_rcd = 12,
                                        .t_rrd = 6,
                                        .t_cdlr = 5,
                                        .t_wr = 12,
                                        .t_ccdl = 3,
                                        .t_rtpl = 2,
                                        .clock = {PERIOD},
                                        .latency = 10};

static inline int
answer(void *world, uint32_t channel, gpc_index_t message)
{
    gpc_msg_t *msg = gpc_msg_at(&messages, message);
    (void) world;
    (void) channel;
    answered[msg->request] = gpc_wheel_now(&wheel);
    order[num_answers++ % MESSAGES] = msg->request;
    last_word = msg->data[0];
    gpc_pool_give(&messages, message);
    return GPC_OK;
}

static inline int
room(void *world, uint32_t channel)
{
    (void) world;
    (void) channel;
    num_rooms++;
    return GPC_OK;
}

static inline void
watch(void *world, uint32_t channel, gpc_dram_command_t command, uint32_t bank, uint64_t row, gpc_tick_t tick)
{
    (void) world;
    if (channel == 0 && num_commands < LOG) {
        commands[num_commands++] = (command_t) {command, bank, row, tick};
    }
}

AROUND_TESTS
{
    gpc_arena_free(&arena);
    gpc_memory_free(memory);
    memory = NULL;
}

static inline void
begin(const gpc_dram_config_t *config)
{
    around_tests();
    gpc_arena_init(&arena, 1u << 16);
    num_answers = num_rooms = num_commands = 0;
    for (uint32_t i = 0; i < MESSAGES; i++) {
        answered[i] = GPC_NEVER;
    }
    CHECK_EQUAL_I64(gpc_memory_create(&memory, NULL), 0);
    CHECK_EQUAL_I64(gpc_pool_init(&messages, &arena, MESSAGES, sizeof(gpc_msg_t)), 0);
    CHECK_EQUAL_I64(gpc_wheel_init(&wheel, &arena, 4096), 0);
    CHECK_EQUAL_I64(gpc_dram_init(&dram, config, &arena, &messages, memory, &wheel, answer, NULL), 0);
    dram.room = room;
    dram.monitor = watch;
}

static inline int
by_tick(const void *a, const void *b)
{
    gpc_tick_t first = ((const command_t *) a)->tick, second = ((const command_t *) b)->tick;
    return first < second ? -1 : first > second;
}

/* Runs all events up to and including `tick`. */
static inline void
run_to(gpc_tick_t tick)
{
    gpc_event_t event; /* after all others of the tick */
    CHECK_EQUAL_I64(gpc_wheel_schedule(&wheel, tick, GPC_EVENT_LAUNCH, 3, UINT32_MAX, 0), 0);
    while (gpc_wheel_next(&wheel, &event) && event.kind != GPC_EVENT_LAUNCH) {
        CHECK_EQUAL_I64(gpc_dram_event(&dram, &event), 0);
    }
}

static inline void
run_dry(void)
{
    gpc_event_t event;
    while (gpc_wheel_next(&wheel, &event)) {
        CHECK_EQUAL_I64(gpc_dram_event(&dram, &event), 0);
    }
    CHECK(gpc_dram_idle(&dram));
    CHECK_EQUAL_U64(messages.state->in_use, 0);
}

static inline void
read_line(uint32_t channel, gpc_address_t line, uint32_t name)
{
    gpc_index_t i = gpc_pool_take(&messages);
    *gpc_msg_at(&messages, i) = (gpc_msg_t) {.line = line, .request = name};
    CHECK_EQUAL_I64(gpc_dram_read(&dram, channel, i), 0);
}

static inline void
write_word(uint32_t channel, gpc_address_t line, uint32_t value)
{
    CHECK_EQUAL_I64(gpc_dram_write(&dram, channel, line, 1, &value, GPC_NONE), 0);
}

/* The fixed model. */
static inline gpc_dram_config_t
fixed(void)
{
    gpc_dram_config_t config = gddr5;
    config.model = 0;
    config.latency = 100;
    return config;
}

/* Banks without rows. */
static inline gpc_dram_config_t
closed(void)
{
    gpc_dram_config_t config = gddr5;
    config.model = GPC_DRAM_CLOSED;
    config.bytes_per_cycle = 64; /* a line in two cycles */
    return config;
}

/* The address of a line of channel 0 by its number there. */
static inline gpc_address_t
line_of_channel(uint32_t number)
{
    return (gpc_address_t) (number / 2) * 512 + number % 2 * 128;
}

#endif

/* controller_bench.h: one controller on its own: ports that count calls and record the last ones, messages, lines and
 * states by name. */
#ifndef GPC_TESTS_CONTROLLER_BENCH_H
#define GPC_TESTS_CONTROLLER_BENCH_H

#include <string.h>

#include "base/arena.h"
#include "controller/protocol.h"
#include "controller/resolve.h"
#include "tests/bench_world.h"
#include "tests/harness.h"

enum { BENCH_MESSAGES = 64 };

typedef struct {
    gpc_arena_t arena;
    gpc_pool_t messages, lane_lists;
    gpc_failure_t failure;
    gpc_machine_t machine;
    gpc_controller_t unit;
    int64_t options[GPC_MAX_OPTIONS];
    bench_world_t world;
} bench_t;

/* Of one test. */
static bench_t bench;

AROUND_TESTS
{
    gpc_arena_free(&bench.arena);
    bench = (bench_t) {0};
}

/* Two cores; L1s of one set of two ways. */
static const gpc_machine_t bench_small_machine = {.cores = 2,
                                                  .warps_per_core = 2,
                                                  .l1_bytes = 128,
                                                  .l1_ways = 2,
                                                  .l1_mshrs = 2,
                                                  .line_bytes = 64,
                                                  .flit_bytes = 32,
                                                  .partitions = 1,
                                                  .interleave_bytes = 64};

/* ---- ports ------------------------------------------------------------------------------------------------------- */

static inline gpc_cycle_t
bench_now(const void *world)
{
    return ((const bench_world_t *) world)->now;
}

static inline int
bench_wake_at(void *world, gpc_controller_t *unit, gpc_cycle_t at, gpc_address_t line, uint32_t tag, gpc_timer_t kind)
{
    (void) unit, (void) line, (void) tag, (void) kind;
    ((bench_world_t *) world)->wakes++;
    ((bench_world_t *) world)->woken_at = at;
    return GPC_OK;
}

static inline int
bench_wake_warp(void *world, gpc_controller_t *l1, uint16_t warp, gpc_cycle_t at)
{
    (void) l1, (void) warp, (void) at;
    ((bench_world_t *) world)->warp_wakes++;
    return GPC_OK;
}

static inline int
bench_schedule(void *world, gpc_controller_t *unit)
{
    (void) unit;
    ((bench_world_t *) world)->schedules++;
    return GPC_OK;
}

static inline bool
bench_room(const void *world, const gpc_controller_t *unit, uint8_t network)
{
    (void) unit, (void) network;
    return !((const bench_world_t *) world)->full;
}

static inline int
bench_broadcast(void *world, gpc_controller_t *from, gpc_index_t message, const gpc_nodeset_t *to)
{
    ((bench_world_t *) world)->broadcasts++;
    ((bench_world_t *) world)->broadcast_to = *to;
    gpc_free_message(from, message);
    return GPC_OK;
}

static inline int
bench_send(void *world, gpc_controller_t *from, gpc_index_t message)
{
    bench_world_t *self = world;
    const gpc_msg_t *msg = gpc_msg_at(from->messages, message);
    self->sends++;
    self->sent_type = msg->type;
    self->sent_bytes = msg->bytes;
    self->sent_flits = msg->flits;
    self->sent_mask = msg->mask;
    self->sent_word[0] = msg->data[0];
    self->sent_word[1] = msg->data[1];
    gpc_free_message(from, message);
    return GPC_OK;
}

static inline int
bench_complete(void *world, gpc_controller_t *l1, gpc_index_t message, const uint32_t *words, bool hit, uint32_t extra)
{
    bench_world_t *self = world;
    const gpc_msg_t *msg = gpc_msg_at(l1->messages, message);
    (void) words, (void) hit, (void) extra;
    self->completions++;
    self->completed_twice |= self->completed_mask & msg->mask;
    self->completed_mask |= msg->mask;
    self->lanes_completed += msg->lanes == GPC_NONE ? 0 : gpc_lane_list_at(l1->lane_lists, msg->lanes)->count;
    gpc_free_message(l1, message);
    return GPC_OK;
}

static const gpc_ports_t bench_ports = {.now = bench_now,
                                        .wake_at = bench_wake_at,
                                        .wake_warp = bench_wake_warp,
                                        .schedule = bench_schedule,
                                        .room = bench_room,
                                        .broadcast = bench_broadcast,
                                        .send = bench_send,
                                        .complete = bench_complete};

/* ---- begin ------------------------------------------------------------------------------------------------------ */

static inline void
bench_begin(const gpc_protocol_t *protocol, uint32_t controller, const gpc_machine_t *machine)
{
    around_tests();
    gpc_failure_clear(&bench.failure);
    gpc_arena_init(&bench.arena, 1 << 16);
    bench.machine = *machine;
    int status = gpc_pool_init(&bench.messages, &bench.arena, BENCH_MESSAGES, sizeof(gpc_msg_t));
    status |= gpc_pool_init(&bench.lane_lists, &bench.arena, 8, sizeof(gpc_lane_list_t));
    bench.unit = (gpc_controller_t) {.protocol = protocol,
                                     .options = bench.options,
                                     .machine = &bench.machine,
                                     .ports = &bench_ports,
                                     .world = &bench.world,
                                     .messages = &bench.messages,
                                     .lane_lists = &bench.lane_lists,
                                     .failure = &bench.failure};
    bench.unit.protocol = gpc_protocol_resolve(protocol, bench.options, &bench.arena);
    status |= gpc_controller_init(&bench.unit, bench.unit.protocol->controllers[controller], &bench.arena);
    CHECK_EQUAL_I64(status, GPC_OK);
}

/* ---- by name ----------------------------------------------------------------------------------------------------- */

static inline uint8_t
bench_state(const gpc_table_t *table, const char *name)
{
    for (uint8_t s = 0; s < table->num_states; s++) {
        if (strcmp(table->states[s].name, name) == 0) {
            return s;
        }
    }
    harness_fail(__FILE__, __LINE__, "no such state");
    return 0;
}

static inline uint8_t
bench_message_type(const gpc_protocol_t *protocol, const char *name)
{
    for (uint32_t i = 0; i < protocol->num_messages; i++) {
        if (strcmp(protocol->messages[i].name, name) == 0) {
            return (uint8_t) (GPC_MSG_OWN + i);
        }
    }
    harness_fail(__FILE__, __LINE__, "no such message");
    return 0;
}

/* How often the cell was entered. */
static inline uint64_t
bench_entered(uint8_t table, const char *state, const char *event)
{
    const gpc_table_t *t = bench.unit.type->tables[table];
    for (uint8_t e = 0; e < t->num_events; e++) {
        if (strcmp(t->events[e].name, event) == 0) {
            return bench.unit.counts[table][(size_t) bench_state(t, state) * t->num_events + e];
        }
    }
    harness_fail(__FILE__, __LINE__, "no such event");
    return 0;
}

/* ---- messages and lines ------------------------------------------------------------------------------------------ */

static inline gpc_index_t
bench_message(uint8_t type, gpc_address_t line, gpc_mask_t mask)
{
    gpc_index_t i = gpc_pool_take(&bench.messages);
    uint8_t network = type < GPC_MSG_OWN ? GPC_MAX_NETWORKS : bench.unit.protocol->messages[type - GPC_MSG_OWN].network;
    *gpc_msg_at(&bench.messages, i) = (gpc_msg_t) {.next = GPC_NONE,
                                                   .type = type,
                                                   .network = network,
                                                   .mask = mask,
                                                   .line = line,
                                                   .lanes = GPC_NONE,
                                                   .request = i};
    return i;
}

/* The line gets the first free way of its set, in the state (NULL: number 0). */
static inline gpc_index_t
bench_place(uint8_t array, uint8_t table, gpc_address_t line, const char *state)
{
    gpc_tags_t *tags = &bench.unit.arrays[array];
    gpc_index_t way = gpc_tags_set_of(tags, line) * tags->ways;
    while (gpc_tags_present(tags, way)) {
        way++;
    }
    gpc_tags_place(tags, way, line, state ? bench_state(bench.unit.type->tables[table], state) : 0);
    return way;
}

#endif

/* network_world.h: a network on its own: nodes that send whenever there is room, or leave arrived messages in the
 * network, and its counters. */
#ifndef GPC_TESTS_NETWORK_WORLD_H
#define GPC_TESTS_NETWORK_WORLD_H

#include "base/errors.h"
#include "fabric/network.h"
#include "harness.h"

enum { PERIOD = 2, MESSAGES = 8192, CORES = 16, BANKS = 8 };

static gpc_arena_t arena;
static gpc_pool_t messages;
static gpc_wheel_t wheel;
static gpc_network_t network;
static bool holding;                    /* receivers leave arrived messages in the network */
static gpc_tick_t arrived_at[MESSAGES]; /* by the message's request */
static uint32_t num_heads;              /* reported arrivals of a new head of an ejection buffer */
static uint32_t num_arrived, num_rooms, num_sent, flits_sent;
static uint32_t arrivals_from[GPC_MAX_CORES + GPC_MAX_BANKS];
static uint32_t last_from[64][64][GPC_MAX_NETWORKS]; /* request by source, destination, network, plus 1 */
static uint32_t out_of_order;
static bool keep_sending; /* every node that has room sends again */
static bool spreading;    /* a bank that has room on a lane sends to that lane's core again */
static uint32_t num_events;
static uint32_t goal;

static gpc_homes_t homes; /* of the network that begin() has made */

static const gpc_network_config_t fermi = {.topology = GPC_TOPOLOGY_CROSSBAR,
                                           .cores = CORES,
                                           .banks = BANKS,
                                           .mesh_width = 4,
                                           .networks = 2,
                                           .vc_flits = 8,
                                           .latency = 4,
                                           .clock = {PERIOD},
                                           .homes = &homes};

/* Of the flits of 32 bytes the last one of each message has 11. */
static inline uint32_t
bytes_in(uint32_t flits, uint32_t sent)
{
    return 32 * flits - 21 * sent;
}

static inline void
send(uint32_t from, uint32_t to, uint32_t vn, uint32_t flits)
{
    gpc_index_t i = gpc_pool_take(&messages);
    *gpc_msg_at(&messages, i) = (gpc_msg_t) {.type = (uint8_t) (16 + flits % 8),
                                             .source = (gpc_node_t) from,
                                             .destination = (gpc_node_t) to,
                                             .network = (uint8_t) vn,
                                             .flits = (uint16_t) flits,
                                             .bytes = bytes_in(flits, 1),
                                             .line = (gpc_address_t) (from * 7 + to * 3) * 256,
                                             .request = num_sent++};
    flits_sent += flits;
    CHECK_EQUAL_I64(gpc_network_send(&network, i), 0);
}

static inline bool
has_room(uint32_t from, uint32_t to, uint32_t vn, uint32_t flits)
{
    gpc_msg_t msg = {.source = (gpc_node_t) from,
                     .destination = (gpc_node_t) to,
                     .network = (uint8_t) vn,
                     .flits = (uint16_t) flits,
                     .line = (gpc_address_t) (from * 7 + to * 3) * 256};
    return gpc_network_has_room(&network, &msg);
}

static inline void
take_all(gpc_node_t node, uint32_t vn)
{
    gpc_index_t i;
    while ((i = gpc_network_peek(&network, node, vn)) != GPC_NONE) {
        gpc_msg_t *msg = gpc_msg_at(&messages, i);
        CHECK_EQUAL_U64(msg->destination, node);
        CHECK_EQUAL_U64(msg->network, vn);
        arrived_at[msg->request % MESSAGES] = gpc_wheel_now(&wheel);
        arrivals_from[msg->source]++;
        num_arrived++;
        if (msg->source < 64 && node < 64) {
            uint32_t *last = &last_from[msg->source][node][vn];
            out_of_order += msg->request + 1 <= *last;
            *last = msg->request + 1;
        }
        gpc_index_t taken = GPC_NONE;
        CHECK_EQUAL_I64(gpc_network_take(&network, node, vn, &taken), 0);
        CHECK_EQUAL_U64(taken, i);
        gpc_pool_give(&messages, taken);
    }
}

static inline int
on_arrival(void *world, gpc_node_t node, uint32_t vn)
{
    (void) world;
    num_heads++;
    if (!holding) {
        take_all(node, vn);
    }
    return GPC_OK;
}

static inline int
on_room(void *world, gpc_node_t node, uint32_t vn, uint32_t lane)
{
    (void) world;
    num_rooms++;
    if (spreading && node >= network.config.cores && num_sent < goal && has_room(node, lane, vn, 5)) {
        send(node, lane, vn, 5);
    }
    if (keep_sending && num_sent < goal) {
        send(node, CORES, vn, 5); /* bank 0 */
    }
    return GPC_OK;
}

AROUND_TESTS
{
    gpc_network_free(&network);
    gpc_arena_free(&arena);
}

static inline void
begin(const gpc_network_config_t *config)
{
    const gpc_network_hooks_t hooks = {.arrived = on_arrival, .room = on_room};
    around_tests();
    gpc_arena_init(&arena, 1u << 16);
    holding = keep_sending = spreading = false;
    num_heads = num_events = num_arrived = num_rooms = num_sent = flits_sent = out_of_order = 0;
    memset(arrivals_from, 0, sizeof(arrivals_from));
    memset(last_from, 0, sizeof(last_from));
    for (uint32_t i = 0; i < MESSAGES; i++) {
        arrived_at[i] = GPC_NEVER;
    }
    CHECK_EQUAL_I64(gpc_pool_init(&messages, &arena, MESSAGES, sizeof(gpc_msg_t)), 0);
    CHECK_EQUAL_I64(gpc_wheel_init(&wheel, &arena, 2 * MESSAGES), 0);
    homes = gpc_homes(&(gpc_machine_t) {.cores = config->cores, .partitions = config->banks, .interleave_bytes = 256});
    CHECK_EQUAL_I64(gpc_network_init(&network, config, &arena, &messages, &wheel, &hooks), 0);
}

static inline void
run_to(gpc_tick_t tick)
{
    gpc_event_t event; /* behind all others of the tick */
    CHECK_EQUAL_I64(gpc_wheel_schedule(&wheel, tick, GPC_EVENT_LAUNCH, 3, UINT32_MAX, 0), 0);
    while (gpc_wheel_next(&wheel, &event) && event.kind != GPC_EVENT_LAUNCH) {
        CHECK_EQUAL_I64(gpc_network_event(&network, &event), 0);
    }
}

static inline uint64_t
total(uint64_t (*of)(const gpc_traffic_t *traffic))
{
    uint64_t sum = 0;
    for (uint32_t type = 0; type < 256; type++) {
        sum += of(&network.traffic[type]);
    }
    return sum;
}

static inline uint64_t
hops_of(const gpc_traffic_t *traffic)
{
    return traffic->flit_hops;
}

static inline uint64_t
flits_of(const gpc_traffic_t *traffic)
{
    return traffic->flits;
}

static inline uint64_t
bytes_of(const gpc_traffic_t *traffic)
{
    return traffic->bytes;
}

static inline uint64_t
messages_of(const gpc_traffic_t *traffic)
{
    return traffic->messages;
}

/* Every message arrives, in order, and is counted; every buffer is empty again. */
static inline void
run_dry(void)
{
    gpc_event_t event;
    while (gpc_wheel_next(&wheel, &event)) {
        num_events++;
        CHECK_EQUAL_I64(gpc_network_event(&network, &event), 0);
    }
    CHECK_EQUAL_U64(num_arrived, num_sent);
    CHECK_EQUAL_U64(out_of_order, 0);
    CHECK_EQUAL_U64(total(messages_of), num_sent);
    CHECK_EQUAL_U64(total(flits_of), flits_sent);
    CHECK_EQUAL_U64(total(bytes_of), bytes_in(flits_sent, num_sent));
    CHECK_EQUAL_U64(gpc_network_link_flits(&network), total(hops_of));
    CHECK_EQUAL_U64(messages.state->in_use, 0);
    CHECK(gpc_network_idle(&network));
}

static inline gpc_network_config_t
with_buffers(const gpc_network_config_t *config, uint32_t vc_flits)
{
    gpc_network_config_t changed = *config;
    changed.vc_flits = vc_flits;
    return changed;
}

static inline gpc_network_config_t
mesh(uint32_t cores, uint32_t banks, uint32_t width)
{
    gpc_network_config_t config = fermi;
    config.topology = GPC_TOPOLOGY_MESH;
    config.cores = cores;
    config.banks = banks;
    config.mesh_width = width;
    return config;
}

#endif

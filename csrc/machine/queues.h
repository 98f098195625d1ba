/* queues.h: a controller with its queues, and whether it can take an input now; only for
 * csrc/machine/{serving,waiting}.c. */
#ifndef GPC_MACHINE_QUEUES_H
#define GPC_MACHINE_QUEUES_H

#include "machine/parts.h"

static inline gpc_tick_t
tick_now(const gpc_gpu_t *gpu)
{
    return gpc_wheel_now(&gpu->wheel);
}

/* A controller with what belongs to it: looked up once, not at every use. */
typedef struct {
    gpc_gpu_t *gpu;
    gpc_controller_t *unit;
    gpc_node_queues_t *queues;
    const gpc_service_t *service;
    gpc_node_t node;
} place_t;

static inline place_t
place_of(gpc_gpu_t *gpu, gpc_node_t node)
{
    return (place_t) {gpu, &gpu->controllers[node], &gpu->queues[node], gpc_gpu_service(gpu, node), node};
}

/* serving.c: the message enters the network, which has room; or waits behind earlier messages of its lane. */
GPC_MUST_CHECK int gpc_gpu_enter_network(gpc_gpu_t *gpu, gpc_node_t node, const gpc_network_route_t *route,
                                         gpc_index_t message);
GPC_MUST_CHECK int gpc_gpu_offer_to_network(gpc_gpu_t *gpu, gpc_node_t node, gpc_index_t message);
GPC_MUST_CHECK int gpc_gpu_enter_pipeline(gpc_gpu_t *gpu, const gpc_controller_t *from, gpc_index_t message);
/* Whether an L1 could take a forward, to replay or from these networks. */
bool gpc_gpu_can_take_forward(gpc_gpu_t *gpu, gpc_node_t node, uint32_t networks);

static inline gpc_list_t *
waiting_at(const gpc_gpu_t *gpu, gpc_node_t node, uint32_t network, uint32_t lane)
{
    return &gpu->waiting[((size_t) node * gpu->num_networks + network) * gpu->lanes + lane];
}

static inline int
schedule_outbox(gpc_gpu_t *gpu, gpc_node_t node, gpc_tick_t tick)
{
    gpc_node_queues_t *queues = &gpu->queues[node];
    if (queues->outbox_wake <= tick) {
        return GPC_OK;
    }
    queues->outbox_wake = tick;
    return gpc_wheel_schedule(&gpu->wheel, tick, GPC_EVENT_OUTBOX, GPC_PRIORITY_OUTBOX, node, 0);
}

/* Whether an outbox that a request may add to is full. */
static inline bool
outbox_full(const place_t *at)
{
    return (at->queues->full & at->service->needs_room) != 0;
}

/* Whether each memory channel that the controller reaches has room. */
static inline bool
memory_has_room(const place_t *at)
{
    const gpc_gpu_t *gpu = at->gpu;
    if (at->service->own_channel) {
        return gpc_dram_room(&gpu->dram, at->unit->index) > 0;
    }
    for (uint32_t channel = 0; channel < gpc_gpu_channels(gpu); channel++) {
        if (gpc_gpu_reaches(gpu, at->node, channel) && gpc_dram_room(&gpu->dram, channel) == 0) {
            return false;
        }
    }
    return true;
}

/* Whether there is room for a request, whose step may add to any outbox and to the memory queue. */
static inline bool
may_take_request(const place_t *at)
{
    return !outbox_full(at) && (!at->service->fetches || memory_has_room(at));
}

/* The same for a request of the network. At an L1 it is a forward, whose step adds to later networks only: it must not
 * wait for room for the core's requests, which the bank may take only after what it has forwarded. */
static inline bool
may_take_from(const place_t *at, uint32_t network)
{
    return may_take_request(at) ||
           (at->service->has_core && !(at->queues->full & at->service->needs_room & ~((2u << network) - 1)));
}

/* Whether an input can be taken now. An input that waits for room is retried when room becomes available. */
static inline bool
can_take(const place_t *at)
{
    uint32_t requests = at->unit->request_networks;
    if (at->queues->inbox.count || at->queues->inputs & ~requests) {
        return true;
    }
    if (!(at->queues->inputs & requests || at->unit->replay->count)) {
        return false;
    }
    return may_take_request(at) ||
           (at->service->has_core && gpc_gpu_can_take_forward(at->gpu, at->node, at->queues->inputs & requests));
}

/* Lets the core offer a held request again. */
static inline int
retry_offer(gpc_gpu_t *gpu, gpc_node_t node)
{
    gpu->queues[node].offer_held = false;
    return gpc_cores_retry(&gpu->cores, node, gpc_clock_past(gpu->core_clock, tick_now(gpu)) == 0);
}

#endif

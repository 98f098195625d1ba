/* waiting.c: messages that did not leave at once (in their controller's pipeline, on their way to the other half of the
 * machine, or without room in their lane of the network), and controllers that waited for room there or in the memory
 * queue. */
#include "machine/queues.h"

/* Sends the messages that have left the controller's pipeline and schedules the next one. */
static int
drain_outbox(gpc_gpu_t *gpu, gpc_node_t node)
{
    gpc_node_queues_t *queues = &gpu->queues[node];
    gpc_tick_t now = tick_now(gpu);

    for (uint32_t network = 0; network < gpu->num_networks; network++) {
        gpc_list_t *outbox = &queues->outbox[network];
        while (outbox->count) {
            gpc_tick_t ready = gpc_msg_at(&gpu->messages, outbox->head)->ready;
            GPC_TRY(ready > now ? schedule_outbox(gpu, node, ready)
                                : gpc_gpu_offer_to_network(gpu, node, gpc_list_pop(outbox, &gpu->messages)));
            if (ready > now) {
                break;
            }
        }
    }
    return GPC_OK;
}

/* The outbox has room: retries entries, held offers and inputs that waited for it. */
static int
after_drain(gpc_gpu_t *gpu, gpc_node_t node)
{
    const place_t at = place_of(gpu, node);
    GPC_TRY(*at.unit->ready ? gpc_gpu_schedule_controller(gpu, node, tick_now(gpu)) : GPC_OK);
    if (at.service->has_core && at.unit->replay->count == 0) {
        GPC_TRY(at.queues->offer_held && !outbox_full(&at) ? retry_offer(gpu, node) : GPC_OK);
        if (!(at.queues->inputs & at.unit->request_networks)) {
            return GPC_OK;
        }
    }
    return can_take(&at) ? gpc_gpu_schedule_controller(gpu, node, tick_now(gpu)) : GPC_OK;
}

int
gpc_gpu_outbox_event(gpc_gpu_t *gpu, gpc_node_t node)
{
    if (gpu->queues[node].outbox_wake != tick_now(gpu)) {
        return GPC_OK; /* an earlier event took its place */
    }
    gpu->queues[node].outbox_wake = GPC_NEVER;
    GPC_TRY(drain_outbox(gpu, node));
    return after_drain(gpu, node);
}

/* Messages that waited for the network enter it. Out of line: mostly none wait. */
__attribute__((noinline)) static int
send_waiting(gpc_gpu_t *gpu, gpc_node_t node, uint32_t network, gpc_list_t *waiting)
{
    do {
        const gpc_msg_t *msg = gpc_msg_at(&gpu->messages, waiting->head);
        gpc_network_route_t route = gpc_network_route_of(gpu->carriers[network], msg);
        if (msg->late || !route.has_room) {
            break;
        }
        GPC_TRY(gpc_gpu_enter_network(gpu, node, &route, gpc_list_pop(waiting, &gpu->messages)));
    } while (waiting->count);
    return after_drain(gpu, node);
}

int
gpc_gpu_room(void *world, gpc_node_t node, uint32_t network, uint32_t lane)
{
    gpc_gpu_t *gpu = world;
    gpc_list_t *waiting = waiting_at(gpu, node, network, lane);
    return waiting->count ? send_waiting(gpu, node, network, waiting) : GPC_OK;
}

__attribute__((noinline)) int /* the loop of events stays short */
gpc_gpu_crossed(gpc_gpu_t *gpu, gpc_node_t node, gpc_index_t message)
{
    uint8_t full = gpu->queues[node].full;
    GPC_TRY(gpc_gpu_enter_pipeline(gpu, &gpu->controllers[node], message));
    return gpu->queues[node].full != full ? after_drain(gpu, node) : GPC_OK; /* it has left its place already */
}

int
gpc_gpu_dram_room(void *world, uint32_t channel)
{
    gpc_gpu_t *gpu = world;
    const gpc_service_t *service = gpu->services;
    const gpc_node_kind_t *kind = gpu->nodes.kinds;
    while (!service->fetches) {
        service++, kind++;
    }
    GPC_TRY(gpu->words.on ? gpc_gpu_words_room(gpu, channel) : GPC_OK);
    uint32_t first = kind->first + (service->own_channel ? channel : 0);
    uint32_t end = service->own_channel ? first + 1 : kind->first + kind->count;
    int status = GPC_OK;

    for (uint32_t node = first; node < end && status == GPC_OK; node++) {
        const place_t at = place_of(gpu, (gpc_node_t) node);
        if (gpc_gpu_reaches(gpu, at.node, channel) && (*at.unit->ready || can_take(&at))) { /* an entry may wait */
            status = gpc_gpu_schedule_controller(gpu, (gpc_node_t) node, tick_now(gpu));
        }
    }
    return status;
}

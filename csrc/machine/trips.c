/* trips.c: the trips of releases (fence_trip): a message of one header from an L1 to a partition, which sends it back
 * as an answer. It takes ports, buffers, links, an input of the bank and the bank's pipeline as a load's request and
 * answer do; no table takes it, and the bank accesses nothing.
 *
 * A core's trips go to all partitions one after another, beginning with one of its own: what a trip waits for is
 * acknowledged already, so that any partition serves; thus none is a hot spot, and near and far ones count alike.
 */
#include "machine/parts.h"

int
gpc_gpu_trip(void *world, gpc_controller_t *l1, uint16_t warp)
{
    gpc_gpu_t *gpu = world;
    const gpc_node_kind_t *banks = gpc_nodes_at(&gpu->nodes, GPC_AT_BANK);
    if (gpc_gpu_network_for(gpu, true) == GPC_MAX_NETWORKS) {
        return gpc_fail(&gpu->failure, GPC_ERROR_PROTOCOL, "fence_trip = 1: %s has no network but the star's",
                        gpu->protocol->id);
    }
    gpc_index_t message = gpc_gpu_inner_message(gpu, l1, GPC_MSG_TRIP, 0);
    if (message == GPC_NONE) {
        return gpc_fail(&gpu->failure, GPC_ERROR_CAPACITY, "no free message for a release's trip");
    }
    gpc_msg_at(&gpu->messages, message)->warp = warp;
    gpc_msg_at(&gpu->messages, message)->traffic_class = GPC_CLASS_REQ;
    uint32_t bank = (l1->index + gpu->queues[l1->node].trips++) % banks->count;
    return gpc_gpu_send_inner(gpu, l1->node, (gpc_node_t) (banks->first + bank), message, 0);
}

int
gpc_gpu_trip_arrived(gpc_gpu_t *gpu, gpc_node_t node, gpc_index_t message)
{
    const gpc_msg_t *msg = gpc_msg_at(&gpu->messages, message);
    if (!gpc_gpu_service(gpu, node)->has_core) {
        return gpc_gpu_send_inner(gpu, node, msg->requester, message, 0);
    }
    gpc_tick_t now = gpc_wheel_now(&gpu->wheel);
    gpc_cycle_t at = gpc_clock_cycles(gpu->core_clock, gpc_clock_edge(gpu->core_clock, now)) + gpu->fill_cycles;
    uint16_t warp = msg->warp;
    gpc_pool_give(&gpu->messages, message);
    gpc_order_trip_back(&gpu->order, gpu->controllers[node].index, warp, at);
    return gpc_cores_wake_warp(&gpu->cores, gpu->controllers[node].index, warp, at);
}

gpc_traffic_t
gpc_gpu_trip_traffic(const gpc_gpu_t *gpu)
{
    return gpu->links[GPC_INTERCONNECT].traffic[GPC_MSG_TRIP];
}

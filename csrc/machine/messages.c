/* messages.c: the machine's own messages, which no protocol declares. */
#include "machine/parts.h"

enum { HEADER_BYTES = 8 };

/* A new message outside the network: a fill, a timer, words of memory. */
gpc_index_t
gpc_gpu_inner_message(gpc_gpu_t *gpu, const gpc_controller_t *unit, uint8_t type, gpc_address_t line)
{
    gpc_index_t message = gpc_pool_take(&gpu->messages);
    if (message == GPC_NONE) {
        return GPC_NONE;
    }
    gpc_msg_t *msg = gpc_msg_at(&gpu->messages, message);
    gpc_msg_clear(msg);
    msg->next = msg->request = msg->lanes = msg->access = GPC_NONE;
    msg->type = type;
    msg->source = msg->destination = msg->requester = unit->node;
    msg->line = line;
    return message;
}

gpc_tick_t
gpc_gpu_ticks_to_channel(const gpc_gpu_t *gpu, const gpc_controller_t *unit, uint32_t channel)
{
    if (!gpu->machine.dram_channels || gpc_nodes_kind(&gpu->nodes, unit->node)->position != GPC_AT_BANK) {
        return 0;
    }
    return 2 * (gpc_tick_t) gpc_network_hops_to_corner(&gpu->links[GPC_INTERCONNECT], unit->node, channel) *
           gpu->machine.noc_latency * gpu->link_clocks[GPC_INTERCONNECT].period;
}

/* The first network of the interconnect with or without requests; if there is none, the first of the interconnect. */
uint8_t
gpc_gpu_network_for(const gpc_gpu_t *gpu, bool requests)
{
    const gpc_network_info_t *networks = gpu->protocol->networks;
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < gpu->num_networks; i++) {
            if (!networks[i].star && (networks[i].requests == requests || pass == 1)) {
                return (uint8_t) i;
            }
        }
    }
    return GPC_MAX_NETWORKS;
}

int
gpc_gpu_send_inner(gpc_gpu_t *gpu, gpc_node_t from, gpc_node_t to, gpc_index_t message, uint32_t payload_bytes)
{
    gpc_msg_t *msg = gpc_msg_at(&gpu->messages, message);
    gpc_controller_t *unit = &gpu->controllers[from];
    bool requests = gpc_gpu_service(gpu, from)->has_core;
    msg->source = from;
    msg->destination = to;
    msg->bytes = HEADER_BYTES + payload_bytes;
    msg->flits = (uint16_t) ((msg->bytes + gpu->machine.flit_bytes - 1) / gpu->machine.flit_bytes);
    msg->network = gpc_gpu_network_for(gpu, requests);
    msg->ready = 0;
    return unit->ports->send(unit->world, unit, message);
}

/* routes.c: the route of a message from its source into the network: ports, queue, and whether the home bank relays
 * it. */
#include "fabric/network_parts.h"

/* A crossbar relays messages from core to core through the line's home bank. */
static bool
is_relayed(const gpc_network_t *self, const gpc_msg_t *msg)
{
    return self->config.topology == GPC_TOPOLOGY_CROSSBAR && gpc_network_is_core(&self->config, msg->source) &&
           gpc_network_is_core(&self->config, msg->destination);
}

uint32_t
gpc_network_lanes(const gpc_network_t *self)
{
    uint32_t most = 1;
    for (uint32_t i = 0; i < self->parts->num_inputs; i++) {
        const gpc_input_wiring_t *input = &self->parts->inputs[i];
        most = input->by_output && input->num_outputs > most ? input->num_outputs : most;
    }
    for (uint32_t node = 0; node < self->parts->num_nodes; node++) {
        most = self->parts->ports[node] > most ? self->parts->ports[node] : most;
    }
    return most;
}

static inline bool
has_room(const gpc_network_t *self, uint32_t queue, const gpc_msg_t *msg)
{
    return self->parts->queues[queue].room >= gpc_network_credits_needed(self, msg) || msg->flags & GPC_MSG_FLAG_COPY;
}

/* A route between nodes of which one has several ports. Rare, hence out of line. */
__attribute__((noinline)) static gpc_network_route_t
route_over_ports(const gpc_network_t *self, const gpc_msg_t *msg, gpc_node_t target, bool relayed)
{
    const gpc_network_parts_t *parts = self->parts;
    uint32_t input = parts->injection[msg->source] + gpc_network_port(parts, msg->source, msg->destination);
    uint32_t output = gpc_network_output(parts, parts->inputs[input].router, target, msg->source);
    if (output == GPC_NONE) {
        return (gpc_network_route_t){.input = input, .output = GPC_NONE, .relayed = relayed};
    }
    uint32_t queue = gpc_network_queue_number(parts, input, msg->network, output);
    return (gpc_network_route_t){.input = input,
                                 .output = output,
                                 .lane = gpc_network_lane(parts, input, output),
                                 .queue = queue,
                                 .relayed = relayed,
                                 .has_room = has_room(self, queue, msg)};
}

gpc_network_route_t
gpc_network_route_of(const gpc_network_t *self, const gpc_msg_t *msg)
{
    const gpc_network_parts_t *parts = self->parts;
    bool relayed = is_relayed(self, msg);
    gpc_node_t target = gpc_network_target(self, msg, relayed);

    if (parts->several) {
        return route_over_ports(self, msg, target, relayed);
    }
    uint32_t input = parts->injection[msg->source];
    const gpc_input_wiring_t *wiring = &parts->inputs[input];
    uint32_t output = parts->routes[wiring->router * parts->num_nodes + target];
    uint32_t lane = wiring->by_output ? output - wiring->first_output : 0;
    uint32_t queue = wiring->first_queue + msg->network * wiring->network_queues + lane;

    return (gpc_network_route_t){.input = input,
                                 .output = output,
                                 .lane = lane,
                                 .queue = queue,
                                 .relayed = relayed,
                                 .has_room = output != GPC_NONE && has_room(self, queue, msg)};
}

gpc_network_route_t
gpc_network_relay_route(const gpc_network_t *self, gpc_node_t node, const gpc_msg_t *msg)
{
    const gpc_network_parts_t *parts = self->parts;
    uint32_t input = parts->injection[node] + gpc_network_port(parts, node, msg->destination);
    uint32_t output = gpc_network_output(parts, parts->inputs[input].router, msg->destination, msg->source);
    uint32_t queue = gpc_network_queue_number(parts, input, msg->network, output);
    return (gpc_network_route_t){
        .input = input, .output = output, .queue = queue, .has_room = has_room(self, queue, msg)};
}

bool
gpc_network_has_room(const gpc_network_t *self, const gpc_msg_t *msg)
{
    return gpc_network_route_of(self, msg).has_room;
}

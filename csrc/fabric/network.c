/* network.c: injection and ejection of messages at nodes, and the relays of a crossbar's banks from core to core. */
#include "fabric/network.h"

#include <assert.h>

#include "base/errors.h"
#include "fabric/network_parts.h"

/* ---- relays ------------------------------------------------------------------------------------------------------ */

/* The head of an ejection buffer if this node relays it, else GPC_NONE. */
static inline gpc_index_t
relay_at(const gpc_network_t *self, gpc_node_t node, uint32_t network)
{
    gpc_index_t head = self->parts->node_states[node].ejected[network].head;
    if (head == GPC_NONE || !(gpc_msg_at(self->messages, head)->flags & GPC_MSG_FLAG_RELAY)) {
        return GPC_NONE;
    }
    return head;
}

/* The output port that feeds a node's ejection buffers. */
static inline uint32_t
ejection_port(const gpc_network_t *self, gpc_node_t node)
{
    const gpc_network_parts_t *parts = self->parts;
    uint32_t router = parts->inputs[parts->injection[node]].router;
    if (self->config.topology == GPC_TOPOLOGY_CROSSBAR) {
        router = 1 - router;
    }
    return parts->routes[router * parts->num_nodes + node];
}

/* Takes the head of an ejection buffer and returns its credits. */
static int
eject(gpc_network_t *self, gpc_node_t node, uint32_t network, gpc_index_t *message)
{
    gpc_list_t *list = &self->parts->node_states[node].ejected[network];
    uint32_t output = ejection_port(self, node);

    *message = gpc_list_pop(list, self->messages);
    return gpc_network_return_credits(self, output, network,
                                      gpc_network_credits_needed(self, gpc_msg_at(self->messages, *message)),
                                      gpc_clock_edge(self->config.clock, gpc_wheel_now(self->wheel)));
}

static int
inject(gpc_network_t *self, uint32_t input, uint32_t output, gpc_index_t message)
{
    const gpc_msg_t *msg = gpc_msg_at(self->messages, message);
    gpc_queue_t *queue = gpc_network_queue(self, input, msg->network, output);
    uint32_t flits = gpc_network_credits_needed(self, msg);

    assert(queue->room >= flits);
    queue->room -= flits;
    return gpc_network_enter(self, input, output, message,
                             gpc_clock_edge(self->config.clock, gpc_wheel_now(self->wheel)));
}

/* The output that a relayed message takes from its bank. */
static inline uint32_t
relay_output(const gpc_network_t *self, gpc_node_t node, const gpc_msg_t *msg)
{
    uint32_t router = self->parts->inputs[self->parts->injection[node]].router;
    return self->parts->routes[router * self->parts->num_nodes + msg->destination];
}

/* Re-injects relayed messages from the head of the ejection buffer while there is room. */
static int
relay(gpc_network_t *self, gpc_node_t node, uint32_t network)
{
    uint32_t input = self->parts->injection[node];
    gpc_index_t message;

    while ((message = relay_at(self, node, network)) != GPC_NONE) {
        gpc_msg_t *msg = gpc_msg_at(self->messages, message);
        uint32_t output = relay_output(self, node, msg);
        if (gpc_network_queue(self, input, network, output)->room < gpc_network_credits_needed(self, msg)) {
            return 0;
        }
        int status = eject(self, node, network, &message);
        if (status == 0) {
            msg->flags &= (uint8_t) ~GPC_MSG_FLAG_RELAY;
            self->parts->node_states[node].own_turn[network] = true;
            status = inject(self, input, output, message);
        }
        if (status) {
            return status;
        }
    }
    return 0;
}

/* Notifies the node if the head of its ejection buffer is addressed to it. */
static int
notify_node(gpc_network_t *self, gpc_node_t node, uint32_t network)
{
    if (gpc_network_peek(self, node, network) == GPC_NONE) {
        return 0;
    }
    return self->hooks.arrived ? self->hooks.arrived(self->hooks.world, node, network) : 0;
}

/* A node's queue for an output has more room: relayed messages and the node's own alternate. */
static int
on_room(gpc_network_t *self, gpc_node_t node, uint32_t network, uint32_t output)
{
    gpc_node_state_t *state = &self->parts->node_states[node];
    gpc_index_t waiting = relay_at(self, node, network);
    bool relay_waits = waiting != GPC_NONE && relay_output(self, node, gpc_msg_at(self->messages, waiting)) == output;
    bool by_output = self->parts->inputs[self->parts->injection[node]].by_output;
    uint32_t lane = by_output ? self->parts->outputs[output].bit : 0;
    bool own_first = state->own_turn[network];
    int status = 0;

    state->own_turn[network] = false;
    if (relay_waits && !own_first) {
        status = relay(self, node, network);
        if (status == 0) {
            status = notify_node(self, node, network);
        }
    }
    if (status == 0 && self->hooks.room) {
        status = self->hooks.room(self->hooks.world, node, network, lane);
    }
    if (status == 0 && relay_waits && own_first) {
        status = relay(self, node, network);
        if (status == 0) {
            status = notify_node(self, node, network);
        }
    }
    return status;
}

/* Returns room to the node or output that feeds the queue. */
int
gpc_network_give_back(gpc_network_t *self, uint32_t input, gpc_queue_t *queue, uint32_t network, uint32_t output,
                      uint32_t flits, gpc_tick_t now)
{
    const gpc_input_wiring_t *wiring = &self->parts->inputs[input];

    if (wiring->upstream == GPC_NONE) {
        queue->room += flits;
        return on_room(self, wiring->node, network, output);
    }
    return gpc_network_return_credits(self, wiring->upstream, network, flits, now);
}

/* ---- the nodes' interface ---------------------------------------------------------------------------------------- */

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
    return most;
}

gpc_network_way_t
gpc_network_way(const gpc_network_t *self, const gpc_msg_t *msg)
{
    const gpc_network_parts_t *parts = self->parts;
    bool relayed = is_relayed(self, msg);
    gpc_node_t target = relayed ? gpc_network_home(self, msg->line) : msg->destination;
    uint32_t input = parts->injection[msg->source];
    const gpc_input_wiring_t *wiring = &parts->inputs[input];
    uint32_t output = parts->routes[wiring->router * parts->num_nodes + target];

    return (gpc_network_way_t){.input = input,
                               .output = output,
                               .lane = wiring->by_output ? output - wiring->first_output : 0,
                               .relayed = relayed};
}

bool
gpc_network_way_has_room(const gpc_network_t *self, const gpc_network_way_t *way, const gpc_msg_t *msg)
{
    return gpc_network_queue(self, way->input, msg->network, way->output)->room >=
           gpc_network_credits_needed(self, msg);
}

bool
gpc_network_has_room(const gpc_network_t *self, const gpc_msg_t *msg)
{
    gpc_network_way_t way = gpc_network_way(self, msg);
    return gpc_network_way_has_room(self, &way, msg);
}

int
gpc_network_send_by(gpc_network_t *self, const gpc_network_way_t *way, gpc_index_t message)
{
    gpc_msg_t *msg = gpc_msg_at(self->messages, message);
    gpc_traffic_t *traffic = &self->traffic[msg->type];

    assert(msg->flits > 0 && msg->network < self->config.networks);
    msg->flags &= (uint8_t) ~GPC_MSG_FLAG_RELAY;
    msg->flags |= way->relayed ? GPC_MSG_FLAG_RELAY : 0;
    traffic->messages++;
    traffic->flits += msg->flits;
    self->parts->state->in_flight++;
    return inject(self, way->input, way->output, message);
}

int
gpc_network_send(gpc_network_t *self, gpc_index_t message)
{
    const gpc_msg_t *msg = gpc_msg_at(self->messages, message);

    assert(msg->source < self->parts->num_nodes && msg->destination < self->parts->num_nodes);
    /* the crossbar pair has no route from bank to bank */
    assert(self->config.topology != GPC_TOPOLOGY_CROSSBAR || gpc_network_is_core(&self->config, msg->source) ||
           gpc_network_is_core(&self->config, msg->destination));
    gpc_network_way_t way = gpc_network_way(self, msg);
    return gpc_network_send_by(self, &way, message);
}

gpc_index_t
gpc_network_peek(const gpc_network_t *self, gpc_node_t node, uint32_t network)
{
    gpc_index_t head = self->parts->node_states[node].ejected[network].head;
    return head == GPC_NONE || gpc_msg_at(self->messages, head)->flags & GPC_MSG_FLAG_RELAY ? GPC_NONE : head;
}

int
gpc_network_take(gpc_network_t *self, gpc_node_t node, uint32_t network, gpc_index_t *message)
{
    assert(gpc_network_peek(self, node, network) != GPC_NONE);
    self->parts->state->in_flight--;
    int status = eject(self, node, network, message);
    return status ? status : relay(self, node, network);
}

int
gpc_network_arrive(gpc_network_t *self, gpc_node_t node, uint32_t network, gpc_index_t message)
{
    gpc_list_t *list = &self->parts->node_states[node].ejected[network];

    gpc_list_push(list, self->messages, message);
    if (list->count > 1) {
        return 0;
    }
    int status = relay(self, node, network);
    return status ? status : notify_node(self, node, network);
}

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

/* Takes the head of an ejection buffer and returns its credits. */
static inline int
eject(gpc_network_t *self, gpc_node_t node, uint32_t network, gpc_index_t *message)
{
    gpc_list_t *list = &self->parts->node_states[node].ejected[network];

    *message = gpc_list_pop(list, self->messages);
    const gpc_msg_t *msg = gpc_msg_at(self->messages, *message);
    uint32_t output = self->parts->ejection[node] + gpc_network_port(self->parts, node, msg->source);
    return gpc_network_return_credits(self, output, network, gpc_network_credits_needed(self, msg),
                                      gpc_clock_edge(self->config.clock, gpc_wheel_now(self->wheel)));
}

static inline int
inject(gpc_network_t *self, const gpc_network_way_t *way, gpc_index_t message)
{
    gpc_queue_t *queue = &self->parts->queues[way->queue];
    uint32_t flits = gpc_network_credits_needed(self, gpc_msg_at(self->messages, message));

    assert(queue->room >= flits);
    queue->room -= flits;
    return gpc_network_enter(self, way->input, way->output, way->queue, message,
                             gpc_clock_edge(self->config.clock, gpc_wheel_now(self->wheel)));
}

/* The way that a relayed message takes from its bank. */
static inline gpc_network_way_t
relay_way(const gpc_network_t *self, gpc_node_t node, const gpc_msg_t *msg)
{
    const gpc_network_parts_t *parts = self->parts;
    uint32_t input = parts->injection[node] + gpc_network_port(parts, node, msg->destination);
    uint32_t output = gpc_network_output(parts, parts->inputs[input].router, msg->destination, msg->source);
    return (gpc_network_way_t){
        .input = input, .output = output, .queue = gpc_network_queue_number(parts, input, msg->network, output)};
}

bool
gpc_network_relay_has_room(const gpc_network_t *self, gpc_node_t node, uint32_t network)
{
    gpc_index_t message = relay_at(self, node, network);
    if (message == GPC_NONE) {
        return false;
    }
    const gpc_msg_t *msg = gpc_msg_at(self->messages, message);
    gpc_network_way_t way = relay_way(self, node, msg);
    return gpc_network_way_has_room(self, &way, msg);
}

/* Re-injects relayed messages from the head of the ejection buffer while there is room. */
__attribute__((noinline)) static int /* rarely called: its callers stay short */
relay(gpc_network_t *self, gpc_node_t node, uint32_t network)
{
    gpc_index_t message;

    while ((message = relay_at(self, node, network)) != GPC_NONE) {
        gpc_msg_t *msg = gpc_msg_at(self->messages, message);
        gpc_network_way_t way = relay_way(self, node, msg);
        if (!gpc_network_way_has_room(self, &way, msg)) {
            return 0;
        }
        int status = eject(self, node, network, &message);
        if (status == 0) {
            msg->flags &= (uint8_t) ~GPC_MSG_FLAG_RELAY;
            self->parts->node_states[node].own_turn[network] = true;
            status = inject(self, &way, message);
        }
        GPC_TRY(status);
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

/* The lane of an input port's queue for an output. */
static inline uint32_t
lane_of(const gpc_network_parts_t *parts, uint32_t input, uint32_t output)
{
    const gpc_input_wiring_t *wiring = &parts->inputs[input];
    return wiring->by_output ? output - wiring->first_output : input - parts->injection[wiring->node];
}

/* The node's own messages may take the room. */
static inline int
offer_room(gpc_network_t *self, uint32_t input, uint32_t network, uint32_t output)
{
    return self->hooks.room ? self->hooks.room(self->hooks.world, self->parts->inputs[input].node, network,
                                               lane_of(self->parts, input, output))
                            : 0;
}

static int
relay_into_room(gpc_network_t *self, gpc_node_t node, uint32_t network)
{
    GPC_TRY(relay(self, node, network));
    return notify_node(self, node, network);
}

/* As on_room, while a message waits to be relayed: it and the node's own alternate. Out of line: rare. */
__attribute__((noinline)) static int
share_room(gpc_network_t *self, uint32_t input, uint32_t network, uint32_t output, gpc_index_t waiting, bool own_first)
{
    gpc_node_t node = self->parts->inputs[input].node;
    bool waits = relay_way(self, node, gpc_msg_at(self->messages, waiting)).output == output;

    GPC_TRY(waits && !own_first ? relay_into_room(self, node, network) : GPC_OK);
    GPC_TRY(offer_room(self, input, network, output));
    return waits && own_first ? relay_into_room(self, node, network) : GPC_OK;
}

/* A node's queue for an output has more room. */
static int
on_room(gpc_network_t *self, uint32_t input, uint32_t network, uint32_t output)
{
    gpc_node_t node = self->parts->inputs[input].node;
    bool *own_turn = &self->parts->node_states[node].own_turn[network], own_first = *own_turn;
    gpc_index_t waiting = relay_at(self, node, network);

    *own_turn = false;
    return waiting == GPC_NONE ? offer_room(self, input, network, output)
                               : share_room(self, input, network, output, waiting, own_first);
}

/* Returns room to the node or output that feeds the queue. */
int
gpc_network_give_back(gpc_network_t *self, uint32_t input, gpc_queue_t *queue, uint32_t network, uint32_t output,
                      uint32_t flits, gpc_tick_t now)
{
    const gpc_input_wiring_t *wiring = &self->parts->inputs[input];

    if (wiring->upstream == GPC_NONE) {
        queue->room += flits;
        return on_room(self, input, network, output);
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
    for (uint32_t node = 0; node < self->parts->num_nodes; node++) {
        most = self->parts->ports[node] > most ? self->parts->ports[node] : most;
    }
    return most;
}

/* The way between nodes of which one has several ports. Rare, hence out of line. */
__attribute__((noinline)) static gpc_network_way_t
way_over_ports(const gpc_network_parts_t *parts, const gpc_msg_t *msg, gpc_node_t target, bool relayed)
{
    uint32_t input = parts->injection[msg->source] + gpc_network_port(parts, msg->source, msg->destination);
    uint32_t output = gpc_network_output(parts, parts->inputs[input].router, target, msg->source);

    return (gpc_network_way_t){
        .input = input,
        .output = output,
        .lane = output == GPC_NONE ? 0 : lane_of(parts, input, output),
        .queue = output == GPC_NONE ? 0 : gpc_network_queue_number(parts, input, msg->network, output),
        .relayed = relayed};
}

gpc_network_way_t
gpc_network_way(const gpc_network_t *self, const gpc_msg_t *msg)
{
    const gpc_network_parts_t *parts = self->parts;
    bool relayed = is_relayed(self, msg);
    gpc_node_t target = relayed ? gpc_network_home(self, msg->line) : msg->destination;

    if (parts->several) {
        return way_over_ports(parts, msg, target, relayed);
    }
    uint32_t input = parts->injection[msg->source];
    const gpc_input_wiring_t *wiring = &parts->inputs[input];
    uint32_t output = parts->routes[wiring->router * parts->num_nodes + target];
    uint32_t lane = wiring->by_output ? output - wiring->first_output : 0;

    return (gpc_network_way_t){.input = input,
                               .output = output,
                               .lane = lane,
                               .queue = wiring->first_queue + msg->network * wiring->network_queues + lane,
                               .relayed = relayed};
}

bool
gpc_network_way_has_room(const gpc_network_t *self, const gpc_network_way_t *way, const gpc_msg_t *msg)
{
    return self->parts->queues[way->queue].room >= gpc_network_credits_needed(self, msg) ||
           msg->flags & GPC_MSG_FLAG_COPY;
}

bool
gpc_network_has_room(const gpc_network_t *self, const gpc_msg_t *msg)
{
    gpc_network_way_t way = gpc_network_way(self, msg);
    return gpc_network_way_has_room(self, &way, msg);
}

void
gpc_network_add_copy(gpc_pool_t *messages, gpc_index_t first, gpc_index_t copy)
{
    gpc_msg_t *head = gpc_msg_at(messages, first), *msg = gpc_msg_at(messages, copy);

    if (!(head->flags & GPC_MSG_FLAG_MULTICAST)) {
        assert(head->lanes == GPC_NONE);
        head->flags |= GPC_MSG_FLAG_MULTICAST;
        head->copies = first;
    }
    msg->flags |= GPC_MSG_FLAG_MULTICAST | GPC_MSG_FLAG_COPY;
    msg->copies = head->copies;
    head->copies = copy;
}

/* A copy of a multicast: the first is counted and takes room for all. */
__attribute__((noinline)) static int
send_copy(gpc_network_t *self, const gpc_network_way_t *way, gpc_index_t message)
{
    gpc_msg_t *msg = gpc_msg_at(self->messages, message);
    gpc_tick_t edge = gpc_clock_edge(self->config.clock, gpc_wheel_now(self->wheel));

    self->parts->input_states[way->input].multicasts++;
    if (!(msg->flags & GPC_MSG_FLAG_COPY)) {
        self->traffic[msg->type].messages++;
        self->traffic[msg->type].flits += msg->flits;
        return inject(self, way, message);
    }
    return gpc_network_enter(self, way->input, way->output, way->queue, message, edge);
}

int
gpc_network_send_by(gpc_network_t *self, const gpc_network_way_t *way, gpc_index_t message)
{
    gpc_msg_t *msg = gpc_msg_at(self->messages, message);
    gpc_traffic_t *traffic = &self->traffic[msg->type];

    assert(msg->flits > 0 && msg->network < self->config.networks);
    msg->flags &= (uint8_t) ~GPC_MSG_FLAG_RELAY;
    msg->flags |= way->relayed ? GPC_MSG_FLAG_RELAY : 0;
    self->parts->state->in_flight++;
    if (msg->flags & GPC_MSG_FLAG_MULTICAST) {
        return send_copy(self, way, message);
    }
    traffic->messages++;
    traffic->flits += msg->flits;
    return inject(self, way, message);
}

int
gpc_network_send(gpc_network_t *self, gpc_index_t message)
{
    const gpc_msg_t *msg = gpc_msg_at(self->messages, message);

    assert(msg->source < self->parts->num_nodes && msg->destination < self->parts->num_nodes);
    gpc_network_way_t way = gpc_network_way(self, msg);
    assert(way.output != GPC_NONE);
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
    return status || relay_at(self, node, network) == GPC_NONE ? status : relay(self, node, network);
}

int
gpc_network_arrive(gpc_network_t *self, gpc_node_t node, uint32_t network, gpc_index_t message)
{
    gpc_list_t *list = &self->parts->node_states[node].ejected[network];

    gpc_list_push(list, self->messages, message);
    if (list->count > 1) {
        return GPC_OK;
    }
    if (gpc_msg_at(self->messages, message)->flags & GPC_MSG_FLAG_RELAY) {
        GPC_TRY(relay(self, node, network));
        return notify_node(self, node, network);
    }
    return self->hooks.arrived ? self->hooks.arrived(self->hooks.world, node, network) : 0;
}

/* waits.c: whether a message in the network waits for something that will happen; for the monitor of work without an
 * event. */
#include "fabric/network_parts.h"

static bool
has_grant(const gpc_network_t *self, const gpc_schedule_t *schedule, uint32_t output)
{
    gpc_tick_t wake = self->parts->output_states[output].wake;
    return wake != GPC_NEVER && gpc_schedule_has(schedule, wake, self->parts->grant_kind, GPC_NETWORK_PRIORITY_GRANT,
                                                 gpc_network_place(self, output, wake));
}

/* Whether the input's first message requests the output on a virtual network. */
static bool
requests(const gpc_network_t *self, uint32_t input, uint32_t output, uint32_t network)
{
    uint32_t bit = self->parts->inputs[input].bit;
    return (gpc_network_requests(self, output, network)[bit / 64] >> bit % 64 & 1u) != 0;
}

/* Whether the output has claimed the input and waits for it; its own request is checked like every other. */
static bool
waits_for_claimed(const gpc_network_t *self, uint32_t output, uint32_t network, uint32_t input)
{
    const gpc_input_state_t *state = input == GPC_NONE ? NULL : &self->parts->input_states[input];
    return state && state->claimed_by == output && state->claimed_network == network &&
           requests(self, input, output, network);
}

/* A request is considered when the output's grant event comes, when credits return, when its input's stream ends, or
 * when another output, which precedes this one for the input or this input for the output, has been served. */
static bool
will_be_considered(const gpc_network_t *self, const gpc_schedule_t *schedule, uint32_t output, uint32_t network,
                   uint32_t input)
{
    const gpc_output_state_t *out = &self->parts->output_states[output];
    const gpc_input_state_t *in = &self->parts->input_states[input];

    if (has_grant(self, schedule, output)) {
        return true;
    }
    if (out->blocked >> network & 1u) {
        return out->credits[network] < self->config.vc_flits;
    }
    if (in->busy_until >= gpc_wheel_now(self->wheel) && has_grant(self, schedule, in->streams_to)) {
        return true;
    }
    bool is_kept = in->claimed_by != GPC_NONE && in->claimed_by != output &&
                   requests(self, input, in->claimed_by, in->claimed_network);
    return is_kept || (out->passed[network] != input && waits_for_claimed(self, output, network, out->passed[network]));
}

static void
add_message(const gpc_network_t *self, gpc_index_t message, gpc_text_t *out)
{
    const gpc_msg_t *msg = gpc_msg_at(self->messages, message);
    gpc_text_add(out, "network %u holds a message from node %u to node %u on virtual network %u, line 0x%llx, ",
                 self->config.number, (unsigned) msg->source, (unsigned) msg->destination, (unsigned) msg->network,
                 (unsigned long long) msg->line);
}

/* The first message of a queue of the input, which is not empty, requests an output and will be considered. */
static bool
is_queue_forgotten(const gpc_network_t *self, const gpc_schedule_t *schedule, uint32_t input, uint32_t network,
                   uint32_t number, gpc_text_t *out)
{
    const gpc_input_wiring_t *wiring = &self->parts->inputs[input];
    const gpc_queue_t *queue = &self->parts->queues[wiring->first_queue + network * wiring->network_queues + number];
    const gpc_msg_t *head = gpc_msg_at(self->messages, queue->list.head);
    uint32_t output =
        wiring->by_output ? wiring->first_output + number : gpc_network_next_output(self, wiring->router, head);
    bool requested = requests(self, input, output, network);
    if (requested && will_be_considered(self, schedule, output, network, input)) {
        return false;
    }
    add_message(self, queue->list.head, out);
    gpc_text_add(out,
                 requested ? "at router %u, whose output port %u has no grant"
                           : "at router %u, without a request of output port %u",
                 wiring->router, output - wiring->first_output);
    return true;
}

/* Messages in queues and ejection buffers. */
static uint32_t
count_held(const gpc_network_t *self)
{
    uint32_t held = 0;
    for (uint32_t i = 0; i < self->parts->num_queues; i++) {
        held += self->parts->queues[i].list.count;
    }
    for (uint32_t node = 0; node < self->parts->num_nodes; node++) {
        for (uint32_t network = 0; network < self->config.networks; network++) {
            held += self->parts->node_states[node].ejected[network].count;
        }
    }
    return held;
}

static bool
is_arrival_lost(const gpc_network_t *self, const gpc_schedule_t *schedule, gpc_text_t *out)
{
    uint32_t streaming = self->parts->state->in_flight - count_held(self);
    uint32_t arrivals = gpc_schedule_count(schedule, self->parts->arrive_kind);
    if (streaming != arrivals) {
        gpc_text_add(out, "network %u holds %u messages on their last links, of which %u have an event",
                     self->config.number, streaming, arrivals);
    }
    return streaming != arrivals;
}

/* Whether the head of the node's ejection buffer is to be relayed now: it has room. */
static bool
relay_has_room(const gpc_network_t *self, gpc_node_t node, uint32_t network)
{
    gpc_index_t message = gpc_network_relay_at(self, node, network);
    if (message == GPC_NONE) {
        return false;
    }
    const gpc_msg_t *msg = gpc_msg_at(self->messages, message);
    return gpc_network_relay_route(self, node, msg).has_room;
}

static bool
is_relay_forgotten(const gpc_network_t *self, gpc_node_t node, uint32_t network, gpc_text_t *out)
{
    bool forgotten = relay_has_room(self, node, network);
    if (forgotten) {
        add_message(self, self->parts->node_states[node].ejected[network].head, out);
        gpc_text_add(out, "which node %u does not relay, although there is room", (unsigned) node);
    }
    return forgotten;
}

bool
gpc_network_sleeps_on_work(const gpc_network_t *self, const gpc_schedule_t *schedule, gpc_text_t *out)
{
    bool forgotten = is_arrival_lost(self, schedule, out);

    for (uint32_t input = 0; input < self->parts->num_inputs; input++) {
        const gpc_input_wiring_t *wiring = &self->parts->inputs[input];
        const gpc_queue_t *queue = &self->parts->queues[wiring->first_queue];
        uint32_t queues = wiring->network_queues;
        for (uint32_t i = 0; i < self->config.networks * queues && !forgotten; i++) { /* most of many are empty */
            forgotten = queue[i].list.count && is_queue_forgotten(self, schedule, input, i / queues, i % queues, out);
        }
    }
    for (uint32_t node = 0; node < self->parts->num_nodes; node++) {
        for (uint32_t network = 0; network < self->config.networks && !forgotten; network++) {
            forgotten = is_relay_forgotten(self, (gpc_node_t) node, network, out);
        }
    }
    return forgotten;
}

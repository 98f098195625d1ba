/* network.c: messages through routers.
 *
 * A message that enters an input buffer at tick t may be granted from t' + (latency - 1) cycles on, t' being the edge at which
 * its head is there: the router's pipeline stands before its arbitration. A grant moves it on: the head is in the next
 * buffer one cycle later, the last flit in an ejection buffer `flits` cycles later. Unloaded that is latency cycles a router
 * and flits - 1 for the tail.
 *
 * Credits of a buffer are back in the tick of the grant that empties it, or in which the receiver takes the message: since
 * a flit leaves a cycle and new ones come at most as fast and no sooner, the buffer never holds more than it can. With a
 * receiver that takes at once, an output passes a message of n flits every n cycles, however small the buffer.
 *
 * An output is only looked at in a grant event, and one stands only when something may have become possible: a request is
 * new or ripe, the output or an input is free again, credits came back. */
#include "fabric/network.h"

#include <assert.h>

#include "base/errors.h"
#include "fabric/network_parts.h"

enum { PRIORITY_ARRIVE = 0, PRIORITY_GRANT = 3 };

static inline uint32_t
least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static inline gpc_list_t *
queue_at(const gpc_network_t *self, uint32_t input, uint32_t network)
{
    return &self->parts->queues[input * self->config.networks + network];
}

static inline uint32_t
credits_needed(const gpc_network_t *self, const gpc_msg_t *msg)
{
    return least(msg->flits, self->config.vc_flits);
}

/* ---- routes ------------------------------------------------------------------------------------------------------------- */

/* The output port of a router that the message takes next; a relayed one goes to its line's home bank first. */
static inline uint32_t
route(const gpc_network_t *self, uint32_t router, const gpc_msg_t *msg)
{
    gpc_node_t target = msg->flags & GPC_MSG_FLAG_RELAY ? gpc_network_home(&self->config, msg->line) : msg->destination;
    return self->parts->routes[router * self->parts->num_nodes + target];
}

/* ---- requests ----------------------------------------------------------------------------------------------------------- */

/* The output is to be looked at again, at tick or as soon as it is free. */
static int
look_at(gpc_network_t *self, uint32_t output, gpc_tick_t tick)
{
    gpc_output_state_t *state = &self->parts->output_states[output];

    tick = tick > state->busy_until ? tick : state->busy_until;
    if (state->wake <= tick) {
        return 0;
    }
    state->wake = tick;
    return gpc_wheel_schedule(self->wheel, tick, GPC_EVENT_NETWORK_GRANT, PRIORITY_GRANT, output, 0);
}

/* The first message of a queue is a new one: it asks for its output. */
static int
request(gpc_network_t *self, uint32_t input, uint32_t network)
{
    const gpc_input_wiring_t *wiring = &self->parts->inputs[input];
    const gpc_msg_t *msg = gpc_msg_at(self->messages, queue_at(self, input, network)->head);
    uint32_t output = route(self, wiring->router, msg);
    gpc_tick_t busy_until = self->parts->input_states[input].busy_until;

    gpc_network_requests(self, output, network)[wiring->bit / 64] |= UINT64_C(1) << (wiring->bit % 64);
    self->parts->output_states[output].waiting++;
    return look_at(self, output, msg->ready > busy_until ? msg->ready : busy_until);
}

/* A message's head is in an input buffer from tick on. */
static int
enter(gpc_network_t *self, uint32_t input, gpc_index_t message, gpc_tick_t tick)
{
    gpc_msg_t *msg = gpc_msg_at(self->messages, message);
    uint32_t network = msg->network;
    gpc_list_t *queue = queue_at(self, input, network);

    msg->ready = tick + (self->config.latency - 1) * self->config.clock.period;
    gpc_list_push(queue, self->messages, message);
    return queue->count == 1 ? request(self, input, network) : 0;
}

/* ---- grants ------------------------------------------------------------------------------------------------------------- */

/* The first set bit at or after `from`, going round, that passes: an input whose message is ripe and which is not streaming.
 * GPC_NONE when there is none; *later is then no more than the first tick at which there may be one. */
static uint32_t
ripe_input(const gpc_network_t *self, uint32_t output, uint32_t network, gpc_tick_t now, gpc_tick_t *later)
{
    const gpc_output_wiring_t *wiring = &self->parts->outputs[output];
    const uint64_t *requests = gpc_network_requests(self, output, network);
    uint32_t words = self->parts->request_words, from = self->parts->output_states[output].next_input[network];
    uint32_t word = from / 64;
    uint64_t bits = requests[word] & (UINT64_MAX << (from % 64));

    for (uint32_t turn = 0; turn <= words; turn++) {
        for (; bits; bits &= bits - 1) {
            uint32_t input = wiring->first_input + word * 64 + (uint32_t) __builtin_ctzll(bits);
            gpc_tick_t ripe = gpc_msg_at(self->messages, queue_at(self, input, network)->head)->ready;
            gpc_tick_t free = self->parts->input_states[input].busy_until;
            ripe = ripe > free ? ripe : free;
            if (ripe <= now) {
                return input;
            }
            *later = ripe < *later ? ripe : *later;
        }
        word = word + 1 < words ? word + 1 : 0;
        bits = requests[word];
        if (turn + 1 == words) {
            bits &= ~(UINT64_MAX << (from % 64)); /* the part before `from` of the word that we began with */
        }
    }
    return GPC_NONE;
}

/* The message moves on to what the output feeds. */
static int
pass_on(gpc_network_t *self, uint32_t output, gpc_index_t message, gpc_tick_t now)
{
    const gpc_output_wiring_t *wiring = &self->parts->outputs[output];
    const gpc_msg_t *msg = gpc_msg_at(self->messages, message);
    gpc_tick_t period = self->config.clock.period;

    if (wiring->counted) {
        self->traffic[msg->type].flit_hops += msg->flits;
    }
    if (wiring->downstream != GPC_NONE) {
        return enter(self, wiring->downstream, message, now + period);
    }
    uint32_t target = wiring->node * self->config.networks + msg->network;
    return gpc_wheel_schedule(self->wheel, now + msg->flits * period, GPC_EVENT_NETWORK_ARRIVE, PRIORITY_ARRIVE, target,
                              message);
}

static int room_came(gpc_network_t *self, gpc_node_t node, uint32_t network);

/* `flits` of the input's buffer are free again: whoever feeds it learns it. */
static int
give_back(gpc_network_t *self, uint32_t input, uint32_t network, uint32_t flits, gpc_tick_t now)
{
    const gpc_input_wiring_t *wiring = &self->parts->inputs[input];

    if (wiring->upstream == GPC_NONE) {
        self->parts->node_states[wiring->node].room[network] += flits;
        return room_came(self, wiring->node, network);
    }
    self->parts->output_states[wiring->upstream].credits[network] += flits;
    return look_at(self, wiring->upstream, now);
}

static int
grant(gpc_network_t *self, uint32_t output, uint32_t input, uint32_t network, gpc_tick_t now)
{
    gpc_network_parts_t *parts = self->parts;
    gpc_output_state_t *state = &parts->output_states[output];
    const gpc_output_wiring_t *wiring = &parts->outputs[output];
    gpc_list_t *queue = queue_at(self, input, network);
    gpc_index_t message = gpc_list_pop(queue, self->messages);
    const gpc_msg_t *msg = gpc_msg_at(self->messages, message);
    uint32_t bit = parts->inputs[input].bit, flits = credits_needed(self, msg);

    state->credits[network] -= flits;
    state->waiting--;
    state->busy_until = parts->input_states[input].busy_until = now + msg->flits * self->config.clock.period;
    state->turn = network + 1 < self->config.networks ? network + 1 : 0;
    state->next_input[network] = bit + 1 < wiring->num_inputs ? bit + 1 : 0;
    gpc_network_requests(self, output, network)[bit / 64] &= ~(UINT64_C(1) << (bit % 64));

    int status = pass_on(self, output, message, now);
    if (status == 0 && queue->count) {
        status = request(self, input, network);
    }
    return status ? status : give_back(self, input, network, flits, now);
}

/* Arbitration of one output. Virtual networks take turns. Within one the inputs do, and the input whose turn it is waits for
 * credits rather than be passed by a shorter message: nobody starves. */
static int
arbitrate(gpc_network_t *self, uint32_t output, gpc_tick_t now)
{
    gpc_output_state_t *state = &self->parts->output_states[output];
    gpc_tick_t later = GPC_NEVER;
    uint32_t networks = self->config.networks;

    for (uint32_t i = 0, network = state->turn; i < networks; i++, network = network + 1 < networks ? network + 1 : 0) {
        uint32_t input = ripe_input(self, output, network, now, &later);
        if (input == GPC_NONE) {
            continue;
        }
        const gpc_msg_t *msg = gpc_msg_at(self->messages, queue_at(self, input, network)->head);
        if (credits_needed(self, msg) <= state->credits[network]) {
            int status = grant(self, output, input, network, now);
            return status || state->waiting == 0 ? status : look_at(self, output, state->busy_until);
        }
    }
    return later == GPC_NEVER ? 0 : look_at(self, output, later);
}

/* ---- relays ------------------------------------------------------------------------------------------------------------- */

/* The head of an ejection buffer that is only passing through, or GPC_NONE. */
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

/* Takes the head of an ejection buffer; its credits go back. */
static int
eject(gpc_network_t *self, gpc_node_t node, uint32_t network, gpc_index_t *message)
{
    gpc_list_t *list = &self->parts->node_states[node].ejected[network];
    uint32_t output = ejection_port(self, node);

    *message = gpc_list_pop(list, self->messages);
    self->parts->output_states[output].credits[network] += credits_needed(self, gpc_msg_at(self->messages, *message));
    return look_at(self, output, gpc_clock_edge(self->config.clock, gpc_wheel_now(self->wheel)));
}

static int
inject(gpc_network_t *self, gpc_node_t node, gpc_index_t message)
{
    const gpc_msg_t *msg = gpc_msg_at(self->messages, message);
    gpc_node_state_t *state = &self->parts->node_states[node];

    assert(state->room[msg->network] >= credits_needed(self, msg));
    state->room[msg->network] -= credits_needed(self, msg);
    return enter(self, self->parts->injection[node], message,
                 gpc_clock_edge(self->config.clock, gpc_wheel_now(self->wheel)));
}

/* Re-injects relays at the head of the ejection buffer while there is room. */
static int
relay(gpc_network_t *self, gpc_node_t node, uint32_t network)
{
    gpc_node_state_t *state = &self->parts->node_states[node];
    gpc_index_t message;

    while ((message = relay_at(self, node, network)) != GPC_NONE) {
        gpc_msg_t *msg = gpc_msg_at(self->messages, message);
        if (state->room[network] < credits_needed(self, msg)) {
            return 0;
        }
        int status = eject(self, node, network, &message);
        if (status == 0) {
            msg->flags &= (uint8_t) ~GPC_MSG_FLAG_RELAY;
            state->own_turn[network] = true;
            status = inject(self, node, message);
        }
        if (status) {
            return status;
        }
    }
    return 0;
}

/* What stands at the head is for the node itself: it is told. */
static int
tell_head(gpc_network_t *self, gpc_node_t node, uint32_t network)
{
    if (gpc_network_peek(self, node, network) == GPC_NONE) {
        return 0;
    }
    return self->hooks.arrived ? self->hooks.arrived(self->hooks.world, node, network) : 0;
}

/* The injection buffer has more room: waiting relays and the node's own messages take turns. */
static int
room_came(gpc_network_t *self, gpc_node_t node, uint32_t network)
{
    gpc_node_state_t *state = &self->parts->node_states[node];
    bool relay_waits = relay_at(self, node, network) != GPC_NONE;
    bool own_first = state->own_turn[network];
    int status = 0;

    state->own_turn[network] = false;
    if (relay_waits && !own_first) {
        status = relay(self, node, network);
        if (status == 0) {
            status = tell_head(self, node, network);
        }
    }
    if (status == 0 && self->hooks.room) {
        status = self->hooks.room(self->hooks.world, node, network);
    }
    if (status == 0 && relay_waits && own_first) {
        status = relay(self, node, network);
        if (status == 0) {
            status = tell_head(self, node, network);
        }
    }
    return status;
}

/* ---- the nodes' side ---------------------------------------------------------------------------------------------------- */

bool
gpc_network_has_room(const gpc_network_t *self, gpc_node_t node, uint32_t network, uint32_t flits)
{
    return self->parts->node_states[node].room[network] >= least(flits, self->config.vc_flits);
}

int
gpc_network_send(gpc_network_t *self, gpc_index_t message)
{
    gpc_msg_t *msg = gpc_msg_at(self->messages, message);
    gpc_traffic_t *traffic = &self->traffic[msg->type];

    assert(msg->flits > 0 && msg->network < self->config.networks);
    assert(msg->source < self->parts->num_nodes && msg->destination < self->parts->num_nodes);
    msg->flags &= (uint8_t) ~GPC_MSG_FLAG_RELAY;
    if (self->config.topology == GPC_TOPOLOGY_CROSSBAR) {
        bool to_core = gpc_network_is_core(&self->config, msg->destination);
        if (gpc_network_is_core(&self->config, msg->source)) {
            msg->flags |= to_core ? GPC_MSG_FLAG_RELAY : 0;
        } else {
            assert(to_core); /* the pair has no way from bank to bank */
        }
    }
    traffic->messages++;
    traffic->flits += msg->flits;
    self->parts->state->standing++;
    return inject(self, msg->source, message);
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
    self->parts->state->standing--;
    int status = eject(self, node, network, message);
    return status ? status : relay(self, node, network);
}

/* ---- events ------------------------------------------------------------------------------------------------------------- */

int
gpc_network_event(gpc_network_t *self, const gpc_event_t *event)
{
    if (event->kind == GPC_EVENT_NETWORK_GRANT) {
        gpc_output_state_t *state = &self->parts->output_states[event->target];
        if (state->wake != event->tick) {
            return 0; /* an earlier event was asked for later and has done its work */
        }
        state->wake = GPC_NEVER;
        return arbitrate(self, event->target, event->tick);
    }
    gpc_node_t node = (gpc_node_t) (event->target / self->config.networks);
    uint32_t network = event->target % self->config.networks;
    gpc_list_t *list = &self->parts->node_states[node].ejected[network];

    gpc_list_push(list, self->messages, event->argument);
    if (list->count > 1) {
        return 0;
    }
    int status = relay(self, node, network);
    return status ? status : tell_head(self, node, network);
}

/* network.c: messages move through routers: a node injects it, it requests an output, is granted and advances, until
 * the target's node takes it or relays it (a crossbar's bank, from core to core).
 *
 * A message whose head enters an input buffer at edge t may be granted from t + (latency - 1) cycles on: the router's
 * pipeline precedes its arbitration. After a grant the message streams for `flits` cycles from its input port through
 * its output port. A copy of a multicast that has crossed its source's link streams through its output port only.
 *
 * After a grant, the message's head is in the next buffer one cycle later, its last flit in an ejection buffer `flits`
 * cycles later: an unloaded message takes latency cycles per router, and flits - 1 for its tail.
 *
 * Invariant: after the events of a tick no free output remains for which an idle input has a ready message and credits.
 * Three events at an output can violate it: a request becomes ready, credits return, a stream ends. At the end of a
 * stream the output serves the next idle input that waits for it, then the input serves the next free output that it
 * waits for, both round robin. Busy ports are not polled: they are considered when their stream ends. */
#include "fabric/network.h"

#include <assert.h>

#include "base/errors.h"
#include "base/random.h"
#include "fabric/arbiter.h"

/* ---- buffers ----------------------------------------------------------------------------------------------------- */

/* The next number from 0 to the jitter. */
static gpc_tick_t
draw(gpc_network_t *self)
{
    self->parts->state->random += UINT64_C(0x9E3779B97F4A7C15);
    return gpc_random_to(self->parts->state->random, self->config.jitter);
}

void
gpc_network_seed(gpc_network_t *self, uint64_t seed)
{
    self->parts->state->random = gpc_random_begin(seed);
}

/* A message's head enters a queue of the input at tick. */
static int
enter(gpc_network_t *self, uint32_t input, uint32_t output, uint32_t queue, gpc_index_t message, gpc_tick_t tick)
{
    gpc_msg_t *msg = gpc_msg_at(self->messages, message);
    gpc_list_t *list = &self->parts->queues[queue].list;

    msg->ready = tick + (self->config.latency - 1) * self->config.clock.period;
    if (self->config.jitter) {
        msg->ready += draw(self) * self->config.clock.period;
    }
    gpc_list_push(list, self->messages, message);
    return list->count == 1 ? gpc_network_request(self, input, output, msg) : GPC_OK;
}

static inline int
inject(gpc_network_t *self, const gpc_network_route_t *route, gpc_index_t message)
{
    gpc_queue_t *queue = &self->parts->queues[route->queue];
    uint32_t flits = gpc_network_credits_needed(self, gpc_msg_at(self->messages, message));

    assert(queue->room >= flits);
    queue->room -= flits;
    return enter(self, route->input, route->output, route->queue, message,
                 gpc_clock_edge(self->config.clock, gpc_wheel_now(self->wheel)));
}

/* Moves the message to the buffer that the output feeds. */
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
        uint32_t input = wiring->downstream,
                 next = gpc_network_next_output(self, self->parts->inputs[input].router, msg);
        uint32_t queue = gpc_network_queue_number(self->parts, input, msg->network, next);
        return enter(self, input, next, queue, message, now + period);
    }
    return gpc_wheel_schedule(self->wheel, now + (1 + gpc_network_tail(&self->config, msg->flits)) * period,
                              self->parts->arrive_kind, GPC_NETWORK_PRIORITY_ARRIVE, wiring->arrival + msg->network,
                              message);
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

/* ---- relays ------------------------------------------------------------------------------------------------------ */

/* Re-injects relayed messages from the head of the ejection buffer while there is room. */
__attribute__((noinline)) static int /* rarely called: its callers stay short */
relay(gpc_network_t *self, gpc_node_t node, uint32_t network)
{
    gpc_index_t message;

    while ((message = gpc_network_relay_at(self, node, network)) != GPC_NONE) {
        gpc_msg_t *msg = gpc_msg_at(self->messages, message);
        gpc_network_route_t route = gpc_network_relay_route(self, node, msg);
        if (!route.has_room) {
            return GPC_OK;
        }
        int status = eject(self, node, network, &message);
        if (status == GPC_OK) {
            msg->flags &= (uint8_t) ~GPC_MSG_FLAG_RELAY;
            self->parts->node_states[node].own_next[network] = true;
            status = inject(self, &route, message);
        }
        GPC_TRY(status);
    }
    return GPC_OK;
}

/* Notifies the node if the head of its ejection buffer is addressed to it. */
static int
notify_node(gpc_network_t *self, gpc_node_t node, uint32_t network)
{
    if (gpc_network_peek(self, node, network) == GPC_NONE) {
        return GPC_OK;
    }
    return self->hooks.arrived ? self->hooks.arrived(self->hooks.world, node, network) : GPC_OK;
}

static int
relay_into_room(gpc_network_t *self, gpc_node_t node, uint32_t network)
{
    GPC_TRY(relay(self, node, network));
    return notify_node(self, node, network);
}

/* ---- room -------------------------------------------------------------------------------------------------------- */

/* The node's own messages may take the room. */
static inline int
offer_room(gpc_network_t *self, uint32_t input, uint32_t network, uint32_t output)
{
    return self->hooks.room ? self->hooks.room(self->hooks.world, self->parts->inputs[input].node, network,
                                               gpc_network_lane(self->parts, input, output))
                            : GPC_OK;
}

/* As on_room, while a message waits to be relayed: it and the node's own alternate. Out of line: rare. */
__attribute__((noinline)) static int
share_room(gpc_network_t *self, uint32_t input, uint32_t network, uint32_t output, gpc_index_t waiting, bool own_first)
{
    gpc_node_t node = self->parts->inputs[input].node;
    bool waits = gpc_network_relay_route(self, node, gpc_msg_at(self->messages, waiting)).output == output;

    GPC_TRY(waits && !own_first ? relay_into_room(self, node, network) : GPC_OK);
    GPC_TRY(offer_room(self, input, network, output));
    return waits && own_first ? relay_into_room(self, node, network) : GPC_OK;
}

/* A node's queue for an output has more room. */
static int
on_room(gpc_network_t *self, uint32_t input, uint32_t network, uint32_t output)
{
    gpc_node_t node = self->parts->inputs[input].node;
    bool *own_next = &self->parts->node_states[node].own_next[network], own_first = *own_next;
    gpc_index_t waiting = gpc_network_relay_at(self, node, network);

    *own_next = false;
    return waiting == GPC_NONE ? offer_room(self, input, network, output)
                               : share_room(self, input, network, output, waiting, own_first);
}

/* Returns room to the node or output that feeds the queue. */
static int
give_back(gpc_network_t *self, uint32_t input, gpc_queue_t *queue, uint32_t network, uint32_t output, uint32_t flits,
          gpc_tick_t now)
{
    const gpc_input_wiring_t *wiring = &self->parts->inputs[input];

    if (wiring->upstream == GPC_NONE) {
        queue->room += flits;
        return on_room(self, input, network, output);
    }
    return gpc_network_return_credits(self, wiring->upstream, network, flits, now);
}

/* ---- grants ------------------------------------------------------------------------------------------------------ */

static inline void
forget_request(gpc_network_t *self, uint32_t input, uint32_t output, uint32_t network)
{
    const gpc_network_parts_t *parts = self->parts;
    gpc_output_state_t *state = &parts->output_states[output];
    uint32_t from = parts->inputs[input].bit, to = parts->outputs[output].bit;
    uint32_t words = gpc_network_words(parts->outputs[output].num_inputs);
    uint64_t *requests = gpc_network_requests(self, output, network), left = 0;

    requests[from / 64] &= ~(UINT64_C(1) << (from % 64));
    do { /* at least one word */
        left |= requests[--words];
    } while (words != 0);
    state->requested &= ~((uint32_t) (left == 0) << network);
    gpc_network_wants(self, input, network)[to / 64] &= ~(UINT64_C(1) << (to % 64));
    state->waiting--;
    parts->input_states[input].waiting--;
}

/* The input's port streams a message through the output. */
static inline void
occupy(const gpc_network_parts_t *parts, uint32_t input, uint32_t output, gpc_tick_t until)
{
    gpc_input_state_t *from = &parts->input_states[input];
    uint32_t bit = parts->outputs[output].bit;

    from->busy_until = until;
    from->streams_to = output;
    from->next_output = bit + 1 < parts->inputs[input].num_outputs ? bit + 1 : 0;
}

static int
grant(gpc_network_t *self, uint32_t output, const gpc_choice_t *choice, gpc_tick_t now)
{
    uint32_t input = choice->input, network = choice->network;
    gpc_queue_t *queue = choice->queue;
    gpc_network_parts_t *parts = self->parts;
    gpc_output_state_t *state = &parts->output_states[output];
    const gpc_input_state_t *from = &parts->input_states[input];
    const gpc_output_wiring_t *wiring = &parts->outputs[output];
    gpc_index_t message = gpc_list_pop(&queue->list, self->messages);
    const gpc_msg_t *msg = gpc_msg_at(self->messages, message);
    uint32_t bit = parts->inputs[input].bit, flits = gpc_network_credits_needed(self, msg), room = flits;
    bool occupies = true;
    int status = GPC_OK;

    state->credits[network] -= flits;
    state->busy_until = now + gpc_network_stream(self, msg);
    state->busy += state->busy_until - now;
    state->next_network = network + 1 < self->config.networks ? network + 1 : 0;
    state->next_input[network] = bit + 1 < wiring->num_inputs ? bit + 1 : 0;
    if (state->wake == now) {
        state->ended = state->streams_from; /* its stream ends at this tick and is not served yet */
    }
    state->streams_from = input;
    forget_request(self, input, output, network);
    if (from->multicasts && msg->flags & GPC_MSG_FLAG_MULTICAST) {
        status = gpc_network_leave_source(self, input, message, now, &occupies, &room);
    }
    if (occupies) {
        occupy(parts, input, output, state->busy_until);
    }
    GPC_TRY(status);
    GPC_TRY(pass_on(self, output, message, now));
    if (queue->list.count) {
        gpc_msg_t *next = gpc_msg_at(self->messages, queue->list.head);
        if ((from->multicasts || !occupies) && next->ready < now) {
            next->ready = now; /* a request that does not wait for the port is considered at once */
        }
        status = gpc_network_request(self, input, gpc_network_next_output(self, wiring->router, next), next);
    }
    if (status == GPC_OK && (state->waiting || from->waiting)) {
        status = gpc_network_schedule_grant(self, output, state->busy_until);
    }
    GPC_TRY(status);
    return give_back(self, input, queue, network, output, room, now);
}

/* Grants the output, to one of the virtual networks of `left`. Out of line: its callers stay short. */
__attribute__((noinline)) static int
arbitrate_among(gpc_network_t *self, uint32_t output, uint32_t left, gpc_tick_t now)
{
    gpc_choice_t choice;
    gpc_arbiter_choose(self, output, left, now, &choice);
    if (choice.input != GPC_NONE) {
        return grant(self, output, &choice, now);
    }
    return choice.later == GPC_NEVER ? GPC_OK : gpc_network_schedule_grant(self, output, choice.later);
}

static inline int
arbitrate(gpc_network_t *self, uint32_t output, gpc_tick_t now)
{
    const gpc_output_state_t *state = &self->parts->output_states[output];
    uint32_t left = state->requested & ~state->blocked; /* the others wait for credits */
    return left == 0 ? GPC_OK : arbitrate_among(self, output, left, now);
}

/* ---- ends of streams --------------------------------------------------------------------------------------------- */

/* One word of the set of outputs that an input waits for, all virtual networks together. */
static inline uint64_t
wanted(const gpc_network_t *self, uint32_t input, uint32_t word)
{
    uint64_t bits = 0;
    for (uint32_t network = 0; network < self->config.networks; network++) {
        bits |= gpc_network_wants(self, input, network)[word];
    }
    return bits;
}

/* Arbitrates an output that the input waits for, now or when the output is free. */
static inline __attribute__((always_inline)) int
offer_to_output(gpc_network_t *self, uint32_t output, gpc_tick_t now)
{
    gpc_tick_t free = self->parts->output_states[output].busy_until;
    return free <= now ? arbitrate(self, output, now) : gpc_network_schedule_grant(self, output, free);
}

/* Serves the output that claims the input, if any. */
static inline __attribute__((always_inline)) int
serve_claim(gpc_network_t *self, const gpc_input_state_t *state, gpc_tick_t now)
{
    bool free = state->claimed_by != GPC_NONE && self->parts->output_states[state->claimed_by].busy_until <= now;
    return free ? arbitrate(self, state->claimed_by, now) : GPC_OK;
}

/* As serve, where more than 64 outputs may be wanted, or a grant may leave the input's port free (a copy of a
 * multicast) and change what it waits for. Out of line: rare. */
__attribute__((noinline)) static int
serve_many_outputs(gpc_network_t *self, uint32_t input, gpc_tick_t now)
{
    const gpc_input_wiring_t *wiring = &self->parts->inputs[input];
    const gpc_input_state_t *state = &self->parts->input_states[input];
    uint32_t words = gpc_network_words(wiring->num_outputs), from = state->next_output, word = from / 64;
    uint64_t after = UINT64_MAX << (from % 64), bits = wanted(self, input, word) & after;
    int status = serve_claim(self, state, now);

    for (uint32_t seen = 0; seen <= words && status == GPC_OK; seen++) {
        for (; bits && status == GPC_OK; bits &= bits - 1) {
            if (state->busy_until > now) {
                return GPC_OK;
            }
            uint32_t output = wiring->first_output + word * 64 + (uint32_t) __builtin_ctzll(bits);
            status = offer_to_output(self, output, now);
        }
        if (state->busy_until > now) {
            return status;
        }
        word = word + 1 < words ? word + 1 : 0;
        bits = wanted(self, input, word);
        if (seen + 1 == words) {
            bits &= ~after;
        }
    }
    return status;
}

/* An input's stream has ended: serves the output that claims it, then the others that it waits for, round robin, until
 * it streams. */
static int
serve(gpc_network_t *self, uint32_t input, gpc_tick_t now)
{
    const gpc_input_state_t *state = &self->parts->input_states[input];
    if (self->parts->inputs[input].num_outputs > 64 || state->multicasts) {
        return serve_many_outputs(self, input, now);
    }
    int status = serve_claim(self, state, now);
    uint32_t first = self->parts->inputs[input].first_output, from = state->next_output;
    uint64_t bits = wanted(self, input, 0);

    bits = bits >> from | bits << (0 - from) % 64; /* first those from `from` on */
    for (; bits && status == GPC_OK && state->busy_until <= now; bits &= bits - 1) {
        status = offer_to_output(self, first + ((uint32_t) __builtin_ctzll(bits) + from) % 64, now);
    }
    return status;
}

/* Whether the input (or GPC_NONE) has requests and its stream ends now. */
static inline bool
has_ended(const gpc_network_t *self, uint32_t input, gpc_tick_t now)
{
    const gpc_input_state_t *inputs = self->parts->input_states;
    return input != GPC_NONE && inputs[input].waiting && inputs[input].busy_until == now;
}

/* ---- the nodes' interface ---------------------------------------------------------------------------------------- */

/* A copy of a multicast: the first is counted and takes room for all. */
__attribute__((noinline)) static int
send_copy(gpc_network_t *self, const gpc_network_route_t *route, gpc_index_t message)
{
    gpc_msg_t *msg = gpc_msg_at(self->messages, message);
    gpc_tick_t edge = gpc_clock_edge(self->config.clock, gpc_wheel_now(self->wheel));

    self->parts->input_states[route->input].multicasts++;
    if (!(msg->flags & GPC_MSG_FLAG_COPY)) {
        gpc_network_count(self, msg);
        return inject(self, route, message);
    }
    return enter(self, route->input, route->output, route->queue, message, edge);
}

int
gpc_network_send_by(gpc_network_t *self, const gpc_network_route_t *route, gpc_index_t message)
{
    gpc_msg_t *msg = gpc_msg_at(self->messages, message);

    assert(msg->flits > 0 && msg->network < self->config.networks);
    msg->flags &= (uint8_t) ~GPC_MSG_FLAG_RELAY;
    msg->flags |= route->relayed ? GPC_MSG_FLAG_RELAY : 0;
    self->parts->state->in_flight++;
    if (msg->flags & GPC_MSG_FLAG_MULTICAST) {
        return send_copy(self, route, message);
    }
    gpc_network_count(self, msg);
    return inject(self, route, message);
}

int
gpc_network_send(gpc_network_t *self, gpc_index_t message)
{
    const gpc_msg_t *msg = gpc_msg_at(self->messages, message);

    assert(msg->source < self->parts->num_nodes && msg->destination < self->parts->num_nodes);
    gpc_network_route_t route = gpc_network_route_of(self, msg);
    assert(route.output != GPC_NONE);
    return gpc_network_send_by(self, &route, message);
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
    GPC_TRY(eject(self, node, network, message));
    return gpc_network_relay_at(self, node, network) == GPC_NONE ? GPC_OK : relay(self, node, network);
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

/* The message's last flit has entered the node's ejection buffer. */
static int
arrive(gpc_network_t *self, gpc_node_t node, uint32_t network, gpc_index_t message)
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
    return self->hooks.arrived ? self->hooks.arrived(self->hooks.world, node, network) : GPC_OK;
}

/* A grant of this network. */
static int
grant_event(gpc_network_t *self, const gpc_event_t *event)
{
    uint32_t output = event->argument;
    gpc_output_state_t *state = &self->parts->output_states[output];
    gpc_tick_t now = event->tick;
    int status = GPC_OK;

    if (state->wake != now) {
        return GPC_OK; /* superseded by an earlier event */
    }
    state->wake = GPC_NEVER;
    uint32_t last = state->streams_from, earlier = state->ended;
    state->ended = GPC_NONE;
    if (has_ended(self, last, now)) {
        status = serve(self, last, now);
    }
    if (status == GPC_OK && has_ended(self, earlier, now)) {
        status = serve(self, earlier, now);
    }
    GPC_TRY(status);
    if (state->busy_until <= now) {
        return arbitrate(self, output, now);
    }
    bool wanted_later = state->waiting || self->parts->input_states[last].waiting;
    return wanted_later ? gpc_network_schedule_grant(self, output, state->busy_until) : GPC_OK;
}

int
gpc_network_event(gpc_network_t *self, const gpc_event_t *event)
{
    if (event->kind == GPC_EVENT_NETWORK_GRANT || event->kind == GPC_EVENT_OTHER_GRANT) {
        return grant_event(self, event);
    }
    uint32_t networks = self->config.networks, target = event->target - self->parts->first_target;
    return arrive(self, (gpc_node_t) (target / networks), target % networks, event->argument);
}

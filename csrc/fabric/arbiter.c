/* arbiter.c: arbitration: grants output ports to messages.
 *
 * A message whose head enters an input buffer at edge t may be granted from t + (latency - 1) cycles on: the router's
 * pipeline precedes its arbitration. After a grant the message streams for `flits` cycles from its input port through
 * its output port. A copy of a multicast that has crossed its source's link streams through its output port only.
 *
 * Invariant: after the events of a tick no free output remains for which an idle input has a ready message and credits.
 * Three events at an output can violate it: a request becomes ready, credits return, a stream ends. At the end of a
 * stream the output serves the next idle input that waits for it, then the input serves the next free output that it
 * waits for, both round robin. Busy ports are not polled: they are considered when their stream ends.
 *
 * Fairness: an input that is busy whenever an output that it waits for becomes free could starve. An output counts how
 * often it passes the first such input, and claims it after two rounds: for this virtual network it then waits for that
 * input, and the input, once idle and with credits, takes no other output. */
#include <assert.h>

#include "base/errors.h"
#include "fabric/network_parts.h"

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

/* ---- candidates for a grant -------------------------------------------------------------------------------------- */

/* Whether another output, which has claimed this input, has the credits. Out of line: claims are rare. */
__attribute__((noinline)) static bool
is_kept_for(const gpc_network_t *self, uint32_t input, uint32_t other)
{
    const gpc_input_state_t *state = &self->parts->input_states[input];
    gpc_index_t head = gpc_network_queue(self, input, state->claimed_network, other)->list.head;
    return gpc_network_credits_needed(self, gpc_msg_at(self->messages, head)) <=
           self->parts->output_states[other].credits[state->claimed_network];
}

static inline bool
is_kept_for_another(const gpc_network_t *self, uint32_t input, uint32_t output)
{
    uint32_t claimed_by = self->parts->input_states[input].claimed_by;
    return claimed_by != GPC_NONE && claimed_by != output && is_kept_for(self, input, claimed_by);
}

/* Whether the message is ready; if not, lowers *later to that tick. */
static inline bool
is_ready(const gpc_msg_t *msg, gpc_tick_t now, gpc_tick_t *later)
{
    if (msg->ready > now) {
        *later = msg->ready < *later ? msg->ready : *later;
        return false;
    }
    return true;
}

/* Whether the input can send now: its port is idle, or its message, a crossed copy of a multicast, needs no port. *queue: that of
 * the message. If it becomes ready later, lowers *later to that tick; the end of a stream is an event of its own. */
static inline bool
is_able(const gpc_network_t *self, uint32_t input, uint32_t output, uint32_t network, gpc_tick_t now, gpc_tick_t *later,
        gpc_queue_t **queue)
{
    const gpc_input_state_t *state = &self->parts->input_states[input];

    if (state->busy_until > now && state->multicasts == 0) {
        return false;
    }
    *queue = gpc_network_queue(self, input, network, output);
    const gpc_msg_t *head = gpc_msg_at(self->messages, (*queue)->list.head);
    if (state->multicasts && gpc_network_has_crossed(head)) {
        return is_ready(head, now, later);
    }
    return state->busy_until <= now && is_ready(head, now, later) && !is_kept_for_another(self, input, output);
}

/* The first of the inputs first + (bit + turn) mod 64 that can send, in order of the bits, or GPC_NONE. *busy: the first input passed
 * because it streams. */
static inline __attribute__((always_inline)) uint32_t
first_able(const gpc_network_t *self, uint32_t first, uint64_t bits, uint32_t turn, uint32_t output, uint32_t network,
           gpc_tick_t now, gpc_tick_t *later, gpc_queue_t **queue, uint32_t *busy)
{
    for (; bits; bits &= bits - 1) {
        uint32_t input = first + ((uint32_t) __builtin_ctzll(bits) + turn) % 64;
        if (is_able(self, input, output, network, now, later, queue)) {
            return input;
        }
        *busy = *busy == GPC_NONE && self->parts->input_states[input].busy_until > now ? input : *busy;
    }
    return GPC_NONE;
}

/* As able_input, of an output with more than 64 inputs. Out of line: of large machines alone. */
__attribute__((noinline)) static uint32_t
able_input_of_many(const gpc_network_t *self, uint32_t output, uint32_t network, gpc_tick_t now, gpc_tick_t *later,
                   gpc_queue_t **queue, uint32_t *busy)
{
    const gpc_output_wiring_t *wiring = &self->parts->outputs[output];
    const uint64_t *requests = gpc_network_requests(self, output, network);
    uint32_t words = gpc_network_words(wiring->num_inputs);
    uint32_t from = self->parts->output_states[output].next_input[network], word = from / 64, input = GPC_NONE;
    uint64_t after = UINT64_MAX << (from % 64), bits = requests[word] & after;

    for (uint32_t turn = 0; turn <= words && input == GPC_NONE; turn++) {
        input = first_able(self, wiring->first_input + word * 64, bits, 0, output, network, now, later, queue, busy);
        word = word + 1 < words ? word + 1 : 0;
        bits = turn + 1 < words ? requests[word] : requests[word] & ~after; /* at last the inputs before `from` */
    }
    return input;
}

/* The first input in round-robin order that can send, or GPC_NONE. */
static inline uint32_t
able_input(const gpc_network_t *self, uint32_t output, uint32_t network, gpc_tick_t now, gpc_tick_t *later,
           gpc_queue_t **queue, uint32_t *busy)
{
    if (self->parts->outputs[output].num_inputs > 64) {
        return able_input_of_many(self, output, network, now, later, queue, busy);
    }
    uint64_t bits = *gpc_network_requests(self, output, network);
    uint32_t from = self->parts->output_states[output].next_input[network];
    bits = bits >> from | bits << (0 - from) % 64; /* first those from `from` on */
    return first_able(self, self->parts->outputs[output].first_input, bits, from, output, network, now, later, queue,
                      busy);
}

/* The output takes a message of `input` and passes `busy` (or GPC_NONE). */
static inline void
count_pass(gpc_network_t *self, uint32_t output, uint32_t network, uint32_t input, uint32_t busy)
{
    gpc_output_state_t *state = &self->parts->output_states[output];
    gpc_input_state_t *passed;

    if (state->passed[network] == input) {
        state->passed[network] = GPC_NONE;
        passed = &self->parts->input_states[input];
        if (passed->claimed_by == output && passed->claimed_network == network) {
            passed->claimed_by = GPC_NONE;
        }
    } else if (state->passed[network] != GPC_NONE) {
        passed = &self->parts->input_states[state->passed[network]];
        state->passes[network]++;
        if (state->passes[network] >= 2 * self->parts->outputs[output].num_inputs && passed->claimed_by == GPC_NONE) {
            passed->claimed_by = output;
            passed->claimed_network = network;
        }
    } else if (busy != GPC_NONE) {
        state->passed[network] = busy;
        state->passes[network] = 1;
    }
}

/* The first copy of a multicast crosses its source's link: the others no longer need it. */
static int
note_crossing(gpc_network_t *self, gpc_msg_t *msg, gpc_index_t message, gpc_tick_t now)
{
    gpc_index_t next = msg->copies;
    int status = GPC_OK;

    msg->copies = GPC_NONE;
    while (next != message && status == GPC_OK) {
        gpc_msg_t *copy = gpc_msg_at(self->messages, next);
        gpc_network_way_t way = gpc_network_way(self, copy);
        if (self->parts->queues[way.queue].list.head == next) {
            status = gpc_network_schedule_grant(self, way.output, copy->ready > now ? copy->ready : now);
        }
        next = copy->copies;
        copy->copies = GPC_NONE;
    }
    return status;
}

/* A copy of a multicast leaves its source: sets whether it occupies the input port, and the room that it returns. Rare,
 * hence out of line. */
__attribute__((noinline)) static int
leave_source(gpc_network_t *self, uint32_t input, gpc_index_t message, gpc_tick_t now, bool *occupies, uint32_t *room)
{
    gpc_msg_t *msg = gpc_msg_at(self->messages, message);
    bool crossed = gpc_network_has_crossed(msg);
    int status = crossed ? 0 : note_crossing(self, msg, message, now);

    *occupies = !crossed;
    *room = msg->flags & GPC_MSG_FLAG_COPY ? 0 : *room;
    msg->flags &= (uint8_t) ~(GPC_MSG_FLAG_MULTICAST | GPC_MSG_FLAG_COPY);
    self->parts->input_states[input].multicasts--;
    return status;
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

static inline __attribute__((always_inline)) int /* called for a lone request, and for one among several */
grant(gpc_network_t *self, uint32_t output, uint32_t input, gpc_queue_t *queue, uint32_t network, gpc_tick_t now)
{
    gpc_network_parts_t *parts = self->parts;
    gpc_output_state_t *state = &parts->output_states[output];
    const gpc_input_state_t *from = &parts->input_states[input];
    const gpc_output_wiring_t *wiring = &parts->outputs[output];
    gpc_index_t message = gpc_list_pop(&queue->list, self->messages);
    const gpc_msg_t *msg = gpc_msg_at(self->messages, message);
    uint32_t bit = parts->inputs[input].bit, flits = gpc_network_credits_needed(self, msg), room = flits;
    bool occupies = true;
    int status = 0;

    state->credits[network] -= flits;
    state->busy_until = now + gpc_network_stream(self, msg);
    state->turn = network + 1 < self->config.networks ? network + 1 : 0;
    state->next_input[network] = bit + 1 < wiring->num_inputs ? bit + 1 : 0;
    if (state->wake == now) {
        state->ended = state->streams_from; /* its stream ends at this tick and is not served yet */
    }
    state->streams_from = input;
    forget_request(self, input, output, network);
    if (from->multicasts && msg->flags & GPC_MSG_FLAG_MULTICAST) {
        status = leave_source(self, input, message, now, &occupies, &room);
    }
    if (occupies) {
        occupy(parts, input, output, state->busy_until);
    }
    GPC_TRY(status);
    GPC_TRY(gpc_network_pass_on(self, output, message, now));
    if (queue->list.count) {
        gpc_msg_t *next = gpc_msg_at(self->messages, queue->list.head);
        if ((from->multicasts || !occupies) && next->ready < now) {
            next->ready = now; /* a request that does not wait for the port is considered at once */
        }
        status = gpc_network_request(self, input, gpc_network_route(self, wiring->router, next), next);
    }
    if (status == 0 && (state->waiting || from->waiting)) {
        status = gpc_network_schedule_grant(self, output, state->busy_until);
    }
    GPC_TRY(status);
    return gpc_network_give_back(self, input, queue, network, output, room, now);
}

/* ---- arbitration ------------------------------------------------------------------------------------------------- */

/* The input that a virtual network would send from: the claimed one, else the first in round-robin order. */
static inline uint32_t
candidate(const gpc_network_t *self, uint32_t output, uint32_t network, gpc_tick_t now, gpc_tick_t *later,
          gpc_queue_t **queue, uint32_t *busy)
{
    uint32_t passed = self->parts->output_states[output].passed[network];

    if (passed != GPC_NONE) {
        const gpc_input_state_t *state = &self->parts->input_states[passed];
        if (state->claimed_by == output && state->claimed_network == network) {
            return is_able(self, passed, output, network, now, later, queue) ? passed : GPC_NONE;
        }
    }
    return able_input(self, output, network, now, later, queue, busy);
}

/* As arbitrate_among, for an output with one request, on this virtual network: no other one competes. */
__attribute__((noinline)) static int
arbitrate_lone(gpc_network_t *self, uint32_t output, uint32_t network, gpc_tick_t now)
{
    gpc_output_state_t *state = &self->parts->output_states[output];
    const uint64_t *requests = gpc_network_requests(self, output, network);
    uint32_t first = self->parts->outputs[output].first_input;
    gpc_tick_t later = GPC_NEVER;
    gpc_queue_t *queue;

    for (; *requests == 0; requests++) {
        first += 64;
    }
    uint32_t input = first + (uint32_t) __builtin_ctzll(*requests);
    if (!is_able(self, input, output, network, now, &later, &queue)) {
        return later == GPC_NEVER ? 0 : gpc_network_schedule_grant(self, output, later);
    }
    if (gpc_network_credits_needed(self, gpc_msg_at(self->messages, queue->list.head)) > state->credits[network]) {
        state->blocked |= 1u << network;
        return 0;
    }
    count_pass(self, output, network, input, GPC_NONE);
    return grant(self, output, input, queue, network, now);
}

/* Arbitrates one output among the virtual networks of `left`: round robin among them and, within one, among inputs. The
 * selected input waits for credits and is not passed by a shorter message, so that no input starves. */
__attribute__((noinline)) static int
arbitrate_among(gpc_network_t *self, uint32_t output, uint32_t left, gpc_tick_t now)
{
    gpc_output_state_t *state = &self->parts->output_states[output];
    gpc_tick_t later = GPC_NEVER;

    while (left != 0) {
        uint32_t next = left & (UINT32_MAX << state->turn);
        uint32_t network = (uint32_t) __builtin_ctz(next != 0 ? next : left);
        left &= ~(1u << network);
        gpc_queue_t *queue = NULL;
        uint32_t busy = GPC_NONE, input = candidate(self, output, network, now, &later, &queue, &busy);
        if (input == GPC_NONE) {
            continue;
        }
        const gpc_msg_t *head = gpc_msg_at(self->messages, queue->list.head);
        if (gpc_network_credits_needed(self, head) <= state->credits[network]) {
            count_pass(self, output, network, input, busy);
            return grant(self, output, input, queue, network, now);
        }
        state->blocked |= 1u << network;
    }
    return later == GPC_NEVER ? 0 : gpc_network_schedule_grant(self, output, later);
}

static inline int
arbitrate(gpc_network_t *self, uint32_t output, gpc_tick_t now)
{
    const gpc_output_state_t *state = &self->parts->output_states[output];
    uint32_t left = state->requested & ~state->blocked; /* the others wait for credits */
    if (left == 0) {
        return 0;
    }
    return state->waiting == 1 ? arbitrate_lone(self, output, (uint32_t) __builtin_ctz(left), now)
                               : arbitrate_among(self, output, left, now);
}

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
    return free ? arbitrate(self, state->claimed_by, now) : 0;
}

/* As serve, where more than 64 outputs may be wanted, or a grant may leave the input's port free (a copy of a multicast) and change
 * what it waits for. Out of line: rare. */
__attribute__((noinline)) static int
serve_many_outputs(gpc_network_t *self, uint32_t input, gpc_tick_t now)
{
    const gpc_input_wiring_t *wiring = &self->parts->inputs[input];
    const gpc_input_state_t *state = &self->parts->input_states[input];
    uint32_t words = gpc_network_words(wiring->num_outputs), from = state->next_output, word = from / 64;
    uint64_t after = UINT64_MAX << (from % 64), bits = wanted(self, input, word) & after;
    int status = serve_claim(self, state, now);

    for (uint32_t turn = 0; turn <= words && status == GPC_OK; turn++) {
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
        if (turn + 1 == words) {
            bits &= ~after;
        }
    }
    return status;
}

/* An input's stream has ended: serves the output that claims it, then the others that it waits for, round robin, until it streams. */
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
    return wanted_later ? gpc_network_schedule_grant(self, output, state->busy_until) : 0;
}

int
gpc_network_event(gpc_network_t *self, const gpc_event_t *event)
{
    if (event->kind == GPC_EVENT_NETWORK_GRANT || event->kind == GPC_EVENT_OTHER_GRANT) {
        return grant_event(self, event);
    }
    uint32_t networks = self->config.networks, target = event->target - self->parts->first_target;
    return gpc_network_arrive(self, (gpc_node_t) (target / networks), target % networks, event->argument);
}

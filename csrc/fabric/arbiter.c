/* arbiter.c: arbitration: which input an output of a router takes its next message from; network.c moves it.
 *
 * Fairness: an input that is busy whenever an output that it waits for becomes free could starve. An output counts how
 * often it passes the first such input, and claims it after two rounds: for this virtual network it then waits for that
 * input, and the input, once idle and with credits, takes no other output. */
#include "fabric/arbiter.h"

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

/* Whether the input can send now: its port is idle, or its message, a crossed copy of a multicast, needs no port.
 * *queue: that of the message. If it becomes ready later, lowers *later to that tick; the end of a stream is an event
 * of its own. */
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

/* The first of the inputs first + (bit + shift) mod 64 that can send, in order of the bits, or GPC_NONE. *busy: the
 * first input passed because it streams. */
static inline __attribute__((always_inline)) uint32_t
first_able(const gpc_network_t *self, uint32_t first, uint64_t bits, uint32_t shift, uint32_t output, uint32_t network,
           gpc_tick_t now, gpc_tick_t *later, gpc_queue_t **queue, uint32_t *busy)
{
    for (; bits; bits &= bits - 1) {
        uint32_t input = first + ((uint32_t) __builtin_ctzll(bits) + shift) % 64;
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

    for (uint32_t seen = 0; seen <= words && input == GPC_NONE; seen++) {
        input = first_able(self, wiring->first_input + word * 64, bits, 0, output, network, now, later, queue, busy);
        word = word + 1 < words ? word + 1 : 0;
        bits = seen + 1 < words ? requests[word] : requests[word] & ~after; /* at last the inputs before `from` */
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

/* ---- the choice -------------------------------------------------------------------------------------------------- */

/* As choose_among, for an output with one request, on this virtual network: no other one competes. */
static inline void
choose_lone(gpc_network_t *self, uint32_t output, uint32_t network, gpc_tick_t now, gpc_choice_t *out)
{
    gpc_output_state_t *state = &self->parts->output_states[output];
    const uint64_t *requests = gpc_network_requests(self, output, network);
    uint32_t first = self->parts->outputs[output].first_input;

    for (; *requests == 0; requests++) {
        first += 64;
    }
    uint32_t input = first + (uint32_t) __builtin_ctzll(*requests);
    if (!is_able(self, input, output, network, now, &out->later, &out->queue)) {
        return;
    }
    if (gpc_network_credits_needed(self, gpc_msg_at(self->messages, out->queue->list.head)) > state->credits[network]) {
        state->blocked |= 1u << network;
        return;
    }
    count_pass(self, output, network, input, GPC_NONE);
    out->input = input;
    out->network = network;
}

/* Round robin among the virtual networks and, within one, among inputs. The selected input waits for credits and is not
 * passed by a shorter message, so that no input starves. */
__attribute__((noinline)) static void
choose_among(gpc_network_t *self, uint32_t output, uint32_t left, gpc_tick_t now, gpc_choice_t *out)
{
    gpc_output_state_t *state = &self->parts->output_states[output];

    while (left != 0) {
        uint32_t next = left & (UINT32_MAX << state->next_network);
        uint32_t network = (uint32_t) __builtin_ctz(next != 0 ? next : left);
        left &= ~(1u << network);
        uint32_t busy = GPC_NONE, input = candidate(self, output, network, now, &out->later, &out->queue, &busy);
        if (input == GPC_NONE) {
            continue;
        }
        const gpc_msg_t *head = gpc_msg_at(self->messages, out->queue->list.head);
        if (gpc_network_credits_needed(self, head) <= state->credits[network]) {
            count_pass(self, output, network, input, busy);
            out->input = input;
            out->network = network;
            return;
        }
        state->blocked |= 1u << network;
    }
}

GPC_INLINED_BY_LINKER void
gpc_arbiter_choose(gpc_network_t *self, uint32_t output, uint32_t left, gpc_tick_t now, gpc_choice_t *out)
{
    *out = (gpc_choice_t){.input = GPC_NONE, .later = GPC_NEVER};
    if (self->parts->output_states[output].waiting == 1) {
        choose_lone(self, output, (uint32_t) __builtin_ctz(left), now, out);
    } else {
        choose_among(self, output, left, now, out);
    }
}

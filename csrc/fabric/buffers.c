/* buffers.c: messages enter buffers, request outputs and advance; credits return. arbiter.c grants the requests.
 *
 * After a grant, the message's head is in the next buffer one cycle later, its last flit in an ejection buffer `flits`
 * cycles later. The router's pipeline precedes its arbitration: an unloaded message takes latency cycles per router,
 * and flits - 1 for its tail.
 *
 * The credits of a buffer return in the tick of the grant that empties it, or in which the receiver takes the message.
 * One flit leaves per cycle, and new flits arrive no faster and no earlier, so that a buffer never overflows. If the
 * receiver takes messages immediately, an output passes a message of n flits every n cycles whatever the size of the
 * buffer. */
#include "fabric/network_parts.h"

/* Schedules an arbitration of the output at tick, or when the output is free. */
int
gpc_network_schedule_grant(gpc_network_t *self, uint32_t output, gpc_tick_t tick)
{
    gpc_output_state_t *state = &self->parts->output_states[output];

    tick = tick > state->busy_until ? tick : state->busy_until;
    if (state->wake <= tick) {
        return 0;
    }
    state->wake = tick;
    return gpc_wheel_schedule(self->wheel, tick, self->parts->grant_kind, GPC_NETWORK_PRIORITY_GRANT,
                              gpc_network_place(self, output, tick), output);
}

static inline void
note_request(gpc_network_t *self, uint32_t input, uint32_t output, uint32_t network)
{
    const gpc_input_wiring_t *wiring = &self->parts->inputs[input];
    uint32_t bit = self->parts->outputs[output].bit;

    gpc_network_requests(self, output, network)[wiring->bit / 64] |= UINT64_C(1) << (wiring->bit % 64);
    gpc_network_wants(self, input, network)[bit / 64] |= UINT64_C(1) << (bit % 64);
    self->parts->output_states[output].waiting++;
    self->parts->output_states[output].requested |= 1u << network;
    self->parts->input_states[input].waiting++;
}

/* A queue of the input has a new first message, which requests the output. */
int
gpc_network_request(gpc_network_t *self, uint32_t input, uint32_t output, const gpc_msg_t *msg)
{
    const gpc_input_state_t *state = &self->parts->input_states[input];

    note_request(self, input, output, msg->network);
    if (state->busy_until > gpc_wheel_now(self->wheel) && !(state->multicasts && gpc_network_has_crossed(msg))) {
        return gpc_network_schedule_grant(self, state->streams_to, state->busy_until); /* considers the request */
    }
    return gpc_network_schedule_grant(self, output, msg->ready);
}

/* A message's head enters a queue of the input at tick. */
int
gpc_network_enter(gpc_network_t *self, uint32_t input, uint32_t output, uint32_t queue, gpc_index_t message,
                  gpc_tick_t tick)
{
    gpc_msg_t *msg = gpc_msg_at(self->messages, message);
    gpc_list_t *list = &self->parts->queues[queue].list;

    msg->ready = tick + (self->config.latency - 1) * self->config.clock.period;
    gpc_list_push(list, self->messages, message);
    return list->count == 1 ? gpc_network_request(self, input, output, msg) : 0;
}

int
gpc_network_pass_on(gpc_network_t *self, uint32_t output, gpc_index_t message, gpc_tick_t now)
{
    const gpc_output_wiring_t *wiring = &self->parts->outputs[output];
    const gpc_msg_t *msg = gpc_msg_at(self->messages, message);
    gpc_tick_t period = self->config.clock.period;

    if (wiring->counted) {
        self->traffic[msg->type].flit_hops += msg->flits;
    }
    if (wiring->downstream != GPC_NONE) {
        uint32_t input = wiring->downstream, next = gpc_network_route(self, self->parts->inputs[input].router, msg);
        uint32_t queue = gpc_network_queue_number(self->parts, input, msg->network, next);
        return gpc_network_enter(self, input, next, queue, message, now + period);
    }
    return gpc_wheel_schedule(self->wheel, now + (1 + gpc_network_tail(&self->config, msg->flits)) * period,
                              self->parts->arrive_kind, GPC_NETWORK_PRIORITY_ARRIVE, wiring->arrival + msg->network,
                              message);
}

/* Returns credits to an output and schedules its arbitration. */
int
gpc_network_return_credits(gpc_network_t *self, uint32_t output, uint32_t network, uint32_t flits, gpc_tick_t tick)
{
    gpc_output_state_t *state = &self->parts->output_states[output];
    state->credits[network] += flits;
    state->blocked &= ~(1u << network);
    return state->waiting ? gpc_network_schedule_grant(self, output, tick) : 0;
}

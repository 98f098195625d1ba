/* outputs.c: what a router's outputs wait for: requests of messages, credits, and the event of the next grant.
 *
 * The credits of a buffer return in the tick of the grant that empties it, or in which the receiver takes the message.
 * One flit leaves per cycle, and new flits arrive no faster and no earlier, so that a buffer never overflows. If the
 * receiver takes messages immediately, an output passes a message of n flits every n cycles whatever the size of the
 * buffer. */
#include "base/errors.h"
#include "fabric/network_parts.h"

int
gpc_network_schedule_grant(gpc_network_t *self, uint32_t output, gpc_tick_t tick)
{
    gpc_output_state_t *state = &self->parts->output_states[output];

    tick = tick > state->busy_until ? tick : state->busy_until;
    if (state->wake <= tick) {
        return GPC_OK;
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

uint32_t
gpc_network_num_outputs(const gpc_network_t *self)
{
    return self->parts->num_outputs;
}

gpc_node_t
gpc_network_node_of(const gpc_network_t *self, uint32_t output)
{
    return self->parts->outputs[output].node;
}

gpc_tick_t
gpc_network_busy(const gpc_network_t *self, uint32_t output)
{
    return self->parts->output_states[output].busy;
}

void
gpc_network_reset_busy(gpc_network_t *self)
{
    for (uint32_t output = 0; output < self->parts->num_outputs; output++) {
        self->parts->output_states[output].busy = 0;
    }
}

uint32_t
gpc_network_in_flight(const gpc_network_t *self)
{
    return self->parts->state->in_flight;
}

bool
gpc_network_idle(const gpc_network_t *self)
{
    const gpc_network_parts_t *parts = self->parts;

    if (parts->state->in_flight) {
        return false;
    }
    for (uint32_t network = 0; network < self->config.networks; network++) {
        for (uint32_t o = 0; o < parts->num_outputs; o++) {
            if (parts->output_states[o].credits[network] != self->config.vc_flits) {
                return false;
            }
        }
    }
    for (uint32_t i = 0; i < parts->num_inputs; i++) {
        if (parts->input_states[i].waiting) {
            return false;
        }
    }
    return true;
}

uint64_t
gpc_network_link_flits(const gpc_network_t *self)
{
    gpc_tick_t busy = 0;
    for (uint32_t output = 0; output < self->parts->num_outputs; output++) {
        busy += self->parts->outputs[output].counted ? self->parts->output_states[output].busy : 0;
    }
    return busy / ((1 + self->config.flit_gap) * self->config.clock.period);
}

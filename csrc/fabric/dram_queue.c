/* dram_queue.c: removal of requests from a channel's queue, scheduling of the channel's events, and model 0, which
 * needs no more: bandwidth of the pins and a fixed latency. */
#include "base/errors.h"
#include "fabric/dram_channel.h"

int
gpc_dram_wake(gpc_dram_t *self, uint32_t channel, gpc_tick_t tick)
{
    if (self->state[channel].wake <= tick) {
        return GPC_OK;
    }
    self->state[channel].wake = tick;
    return gpc_wheel_schedule(self->wheel, tick, GPC_EVENT_DRAM, GPC_DRAM_PRIORITY, channel, GPC_NONE);
}

int
gpc_dram_answer_at(gpc_dram_t *self, uint32_t channel, gpc_index_t message, gpc_tick_t tick)
{
    self->state[channel].answers++;
    return gpc_wheel_schedule(self->wheel, tick, GPC_EVENT_DRAM_ANSWER, GPC_DRAM_PRIORITY, channel, message);
}

int
gpc_dram_leave(gpc_dram_t *self, uint32_t channel, gpc_index_t i)
{
    gpc_dram_channel_t *state = &self->state[channel];
    gpc_dram_request_t *request = gpc_dram_request_at(self, channel, i);

    if (state->head == i) {
        state->head = request->next;
    } else {
        gpc_dram_request_at(self, channel, request->previous)->next = request->next;
    }
    if (state->tail == i) {
        state->tail = request->previous;
    } else {
        gpc_dram_request_at(self, channel, request->next)->previous = request->previous;
    }
    request->next = state->free;
    state->free = i;
    state->waiting--;
    self->statistics[channel].queue_cycles +=
        (gpc_wheel_now(self->wheel) - request->accepted) / self->config.clock.period;
    return GPC_OBSERVE(&self->tap, QUEUED, queued, channel, false, request->accepted);
}

/* Serves requests while the pins are free. A line occupies them for its transfer; its answer follows `latency` after
 * the begin of the transfer. */
int
gpc_dram_fixed_step(gpc_dram_t *self, uint32_t channel)
{
    const gpc_dram_config_t *config = &self->config;
    gpc_dram_channel_t *state = &self->state[channel];
    gpc_tick_t now = gpc_wheel_now(self->wheel);

    if (state->head == GPC_NONE) {
        return GPC_OK;
    }
    if (state->pins_free > now) {
        return gpc_dram_wake(self, channel, state->pins_free);
    }
    const gpc_dram_request_t *request = gpc_dram_request_at(self, channel, state->head);
    uint32_t cycles = (request->bytes + config->bytes_per_cycle - 1) / config->bytes_per_cycle;
    gpc_index_t message = request->message;
    GPC_TRY(gpc_dram_leave(self, channel, state->head));
    state->pins_free = now + cycles * config->clock.period;
    self->statistics[channel].busy_cycles += cycles;
    if (message != GPC_NONE) {
        GPC_TRY(gpc_dram_answer_at(self, channel, message, now + config->latency));
    }
    return state->head == GPC_NONE ? GPC_OK : gpc_dram_wake(self, channel, state->pins_free);
}

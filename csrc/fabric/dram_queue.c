/* dram_queue.c: removal of requests from a channel's queue, and scheduling of the channel's events. */
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

/* dram_fixed.c: model 0 of a DRAM channel: bandwidth of the pins and a fixed latency. */
#include "base/errors.h"
#include "fabric/dram_channel.h"

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

/* dram.c: a DRAM channel: requests enter its queue, and its model (dram_queue.c, dram_banks.c) serves them.
 *
 * Data are transferred at acceptance: a write updates memory and a read copies its words when the request enters the
 * queue. Every read therefore sees exactly the older writes, in whatever order the pins serve the requests. */
#include "fabric/dram.h"

#include <assert.h>

#include "base/errors.h"
#include "fabric/dram_channel.h"

int
gpc_dram_init(gpc_dram_t *self, const gpc_dram_config_t *config, gpc_arena_t *arena, gpc_pool_t *messages,
              gpc_memory_t *memory, gpc_wheel_t *wheel, gpc_dram_answer_t answer, void *world)
{
    *self = (gpc_dram_t){
        .config = *config, .messages = messages, .memory = memory, .wheel = wheel, .answer = answer, .world = world};
    if (config->channels == 0 || config->queue == 0 || config->bytes_per_cycle == 0 || config->clock.period == 0 ||
        config->interleave_bytes == 0) {
        return GPC_ERROR_MACHINE;
    }
    if (config->model != GPC_DRAM_FIXED && (config->banks == 0 || config->banks > GPC_DRAM_MAX_BANKS)) {
        return GPC_ERROR_MACHINE;
    }
    if (config->model == GPC_DRAM_FR_FCFS && (config->burst_bytes == 0 || config->row_bytes < config->line_bytes)) {
        return GPC_ERROR_MACHINE;
    }
    self->state = GPC_ARENA_TAKE(arena, config->channels, gpc_dram_channel_t);
    self->places = config->queue + 1 + config->answers;
    self->requests = GPC_ARENA_TAKE(arena, (size_t) config->channels * self->places, gpc_dram_request_t);
    self->statistics = GPC_ARENA_TAKE(arena, config->channels, gpc_dram_statistics_t);
    if (!self->state || !self->requests || !self->statistics) {
        return GPC_ERROR_MEMORY;
    }
    gpc_dram_banks_derive(self);
    gpc_dram_clear(self);
    return GPC_OK;
}

void
gpc_dram_clear(gpc_dram_t *self)
{
    for (uint32_t c = 0; c < self->config.channels; c++) {
        gpc_dram_channel_t *channel = &self->state[c];
        *channel = (gpc_dram_channel_t){.head = GPC_NONE,
                                        .tail = GPC_NONE,
                                        .free = 0,
                                        .wake = GPC_NEVER,
                                        .burst_first = GPC_NEVER,
                                        .choice.tick = GPC_NEVER};
        for (uint32_t i = 0; i < self->places; i++) {
            gpc_dram_request_at(self, c, i)->next = i + 1 < self->places ? i + 1 : GPC_NONE;
        }
        gpc_dram_banks_clear(self, c);
    }
}

uint32_t
gpc_dram_room(const gpc_dram_t *self, uint32_t channel)
{
    uint32_t waiting = self->state[channel].waiting;
    return waiting < self->config.queue ? self->config.queue - waiting : 0;
}

bool
gpc_dram_idle(const gpc_dram_t *self)
{
    for (uint32_t c = 0; c < self->config.channels; c++) {
        if (self->state[c].waiting || self->state[c].answers) {
            return false;
        }
    }
    return true;
}

bool
gpc_dram_sleeps_on_work(const gpc_dram_t *self, const gpc_schedule_t *schedule, gpc_text_t *out)
{
    uint32_t answers = 0;

    for (uint32_t c = 0; c < self->config.channels; c++) {
        const gpc_dram_channel_t *state = &self->state[c];
        bool wakes = gpc_schedule_has(schedule, state->wake, GPC_EVENT_DRAM, GPC_DRAM_PRIORITY, c);
        if (state->waiting > 0 && !wakes) {
            gpc_text_add(out, "DRAM channel %u holds %u requests", c, state->waiting);
            return true;
        }
        answers += state->answers;
    }
    uint32_t scheduled = gpc_schedule_count(schedule, GPC_EVENT_DRAM_ANSWER);
    if (answers != scheduled) {
        gpc_text_add(out, "DRAM channels hold %u answers, of which %u have an event", answers, scheduled);
    }
    return answers != scheduled;
}

/* ---- requests and events ----------------------------------------------------------------------------------------- */

static int
accept(gpc_dram_t *self, uint32_t channel, gpc_address_t line, gpc_index_t message, bool writes, uint32_t bytes)
{
    gpc_dram_channel_t *state = &self->state[channel];
    gpc_tick_t now = gpc_wheel_now(self->wheel);
    gpc_index_t i = state->free;
    assert(i != GPC_NONE);

    gpc_dram_request_t *request = gpc_dram_request_at(self, channel, i);
    state->free = request->next;
    *request = (gpc_dram_request_t){.next = GPC_NONE,
                                    .previous = state->tail,
                                    .message = message,
                                    .bytes = (uint16_t) bytes,
                                    .writes = writes,
                                    .accepted = now};
    if (state->head == GPC_NONE) {
        state->head = i;
    } else {
        gpc_dram_request_at(self, channel, state->tail)->next = i;
    }
    state->tail = i;
    state->waiting++;
    GPC_TRY(GPC_OBSERVE(&self->tap, QUEUED, queued, channel, true, now));
    if (self->config.model == GPC_DRAM_FIXED) {
        return state->head == i ? gpc_dram_fixed_step(self, channel) : GPC_OK;
    }
    return gpc_dram_banks_enter(self, channel, i, line);
}

int
gpc_dram_read_part(gpc_dram_t *self, uint32_t channel, gpc_index_t message, uint32_t bytes)
{
    gpc_msg_t *msg = gpc_msg_at(self->messages, message);
    self->statistics[channel].reads++;
    GPC_TRY(accept(self, channel, msg->line, message, false, bytes));
    gpc_memory_read(self->memory, msg->line, self->config.line_bytes / 4, msg->data);
    return GPC_OK;
}

int
gpc_dram_read(gpc_dram_t *self, uint32_t channel, gpc_index_t message)
{
    return gpc_dram_read_part(self, channel, message, self->config.line_bytes);
}

int
gpc_dram_write_part(gpc_dram_t *self, uint32_t channel, gpc_address_t line, gpc_mask_t mask, const uint32_t *words,
                    gpc_index_t answer, uint32_t bytes)
{
    GPC_TRY(gpc_memory_write_masked(self->memory, line, mask, words));
    self->statistics[channel].writes++;
    return accept(self, channel, line, answer, true, bytes);
}

int
gpc_dram_write(gpc_dram_t *self, uint32_t channel, gpc_address_t line, gpc_mask_t mask, const uint32_t *words,
               gpc_index_t answer)
{
    return gpc_dram_write_part(self, channel, line, mask, words, answer, self->config.line_bytes);
}

int
gpc_dram_event(gpc_dram_t *self, const gpc_event_t *event)
{
    uint32_t channel = event->target;
    gpc_dram_channel_t *state = &self->state[channel];

    if (event->kind == GPC_EVENT_DRAM_ANSWER) {
        state->answers--;
        return self->answer(self->world, channel, event->argument);
    }
    if (state->wake != event->tick) {
        return GPC_OK; /* superseded by an earlier event */
    }
    state->wake = GPC_NEVER;
    bool was_full = gpc_dram_room(self, channel) == 0;
    int status =
        self->config.model == GPC_DRAM_FIXED ? gpc_dram_fixed_step(self, channel) : gpc_dram_banks_step(self, channel);
    if (status == GPC_OK && was_full && gpc_dram_room(self, channel) > 0 && self->room) {
        status = self->room(self->world, channel);
    }
    return status;
}

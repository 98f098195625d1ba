/* schedule.c: looks for events in the wheel, without taking them. */
#include "engine/schedule.h"

#include "engine/wheel_parts.h"

static bool
is_near_edge(const gpc_wheel_t *wheel, gpc_tick_t tick, uint8_t kind, uint32_t target)
{
    const gpc_wheel_edges_t *edges = &wheel->edges;
    if (!edges->sets || kind != edges->kind || tick - wheel->state->now > edges->reach) {
        return false;
    }
    uint32_t at = (uint32_t) (tick / edges->period % EDGE_CYCLES) * edges->words + target / 64;
    return (edges->sets[at] >> target % 64 & 1u) != 0;
}

/* The first event of a near tick's list. */
static gpc_index_t
first_in(const gpc_wheel_t *wheel, gpc_tick_t tick, uint8_t priority)
{
    uint32_t slot = (uint32_t) (place_of(tick, priority) % NUM_SLOTS);
    bool used = (wheel->state->bits[slot / 64] >> slot % 64 & 1u) != 0;
    return used ? wheel->slots[(size_t) slot * 2] : GPC_NONE;
}

static bool
is_in_wheel(const gpc_wheel_t *wheel, gpc_tick_t tick, uint64_t key)
{
    if (tick - wheel->state->now < WINDOW) {
        gpc_index_t i = first_in(wheel, tick, (uint8_t) key);
        while (i != GPC_NONE && entry_at(wheel, i)->key != key) {
            i = entry_at(wheel, i)->next;
        }
        return i != GPC_NONE;
    }
    uint32_t i = 0;
    while (i < wheel->state->num_far &&
           (wheel->heap[i].tick != tick || entry_at(wheel, wheel->heap[i].event)->key != key)) {
        i++;
    }
    return i < wheel->state->num_far;
}

bool
gpc_schedule_has(const gpc_schedule_t *self, gpc_tick_t tick, uint8_t kind, uint8_t priority, uint32_t target)
{
    const gpc_event_t *taken = self->taken;
    if (tick == GPC_NEVER || tick < self->wheel->state->now) {
        return false;
    }
    if (taken && taken->tick == tick && taken->kind == kind && taken->target == target) {
        return true;
    }
    return is_near_edge(self->wheel, tick, kind, target) ||
           is_in_wheel(self->wheel, tick, make_key(kind, priority, target));
}

uint32_t
gpc_schedule_count(const gpc_schedule_t *self, uint8_t kind)
{
    const gpc_wheel_t *wheel = self->wheel;
    uint32_t count = self->taken && self->taken->kind == kind;

    for (uint32_t slot = 0; slot < NUM_SLOTS; slot++) {
        bool used = (wheel->state->bits[slot / 64] >> slot % 64 & 1u) != 0;
        for (gpc_index_t i = used ? wheel->slots[(size_t) slot * 2] : GPC_NONE; i != GPC_NONE;
             i = entry_at(wheel, i)->next) {
            count += kind_of(entry_at(wheel, i)) == kind;
        }
    }
    for (uint32_t i = 0; i < wheel->state->num_far; i++) {
        count += kind_of(entry_at(wheel, wheel->heap[i].event)) == kind;
    }
    return count;
}

/* schedule.h: what is scheduled, for the monitor of work without an event. */
#ifndef GPC_ENGINE_SCHEDULE_H
#define GPC_ENGINE_SCHEDULE_H

#include "engine/wheel.h"

/* The events of a wheel, and the one that has been taken and not yet run. */
typedef struct {
    const gpc_wheel_t *wheel;
    const gpc_event_t *taken; /* NULL: none */
} gpc_schedule_t;

/* Whether there is this event, or edge event. GPC_NEVER: never. */
bool gpc_schedule_has(const gpc_schedule_t *self, gpc_tick_t tick, uint8_t kind, uint8_t priority, uint32_t target);
/* The number of events of one kind, without near edge events. */
uint32_t gpc_schedule_count(const gpc_schedule_t *self, uint8_t kind);

#endif

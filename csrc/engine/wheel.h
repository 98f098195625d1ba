/* wheel.h: the event wheel. Events run in ascending order of (tick, priority, target, kind), so that a run does not
 * depend on which component schedules its event first. Events equal in all four, which one component schedules for
 * itself, run in order of scheduling. No event is scheduled before now. */
#ifndef GPC_ENGINE_WHEEL_H
#define GPC_ENGINE_WHEEL_H

#include "base/arena.h"

/* run.c dispatches an event by its kind. Priorities follow the data flow: at equal ticks, deliveries precede
 * controllers and cores. The target identifies one component of its kind. */
typedef enum {
    GPC_EVENT_DRAM_ANSWER,    /* target: channel; argument: message */
    GPC_EVENT_DRAM,           /* target: channel; next step of the channel */
    GPC_EVENT_NETWORK_ARRIVE, /* target: node and virtual network; argument: message */
    GPC_EVENT_CONTROLLER,     /* target: controller (node); cycle of an L1 or bank */
    GPC_EVENT_CORE,           /* target: core; cycle of a core */
    GPC_EVENT_OUTBOX,         /* target: controller; messages leave its pipeline for the network */
    GPC_EVENT_NETWORK_GRANT,  /* target: output port's place in this cycle's order; argument: output port */
    GPC_EVENT_TIMER,          /* target: controller; argument: timer message */
    GPC_EVENT_SEND,           /* target: controller; argument: message, which it sends */
    GPC_EVENT_CROSSED,        /* target: controller; argument: message to the other half of the L2, which leaves now */
    GPC_EVENT_LINK,           /* target: link between dies, which takes the next message */
    GPC_EVENT_LAUNCH,
    /* as NETWORK_ARRIVE and NETWORK_GRANT; the target's high bits: which of the other networks */
    GPC_EVENT_OTHER_ARRIVE,
    GPC_EVENT_OTHER_GRANT,
    GPC_NUM_EVENT_KINDS
} gpc_event_kind_t;

#define GPC_WHEEL_PRIORITIES 4u

typedef struct {
    gpc_tick_t tick;
    uint8_t kind; /* gpc_event_kind_t */
    uint8_t priority;
    uint16_t spare;
    uint32_t target, argument;
} gpc_event_t;

typedef struct gpc_wheel_state gpc_wheel_state_t;
typedef struct gpc_wheel_far gpc_wheel_far_t;

/* Edge events are most events of a run: of one kind and priority, without an argument, on the edges of one clock, and
 * at most one per target and tick. A near one is a bit of its cycle's set, which costs a third of a list's event. */
typedef struct {
    uint64_t *sets; /* in the arena; [64 cycles][words]; NULL: none have been declared */
    gpc_tick_t period, reach;
    uint32_t words;
    uint8_t kind, priority;
} gpc_wheel_edges_t;

typedef struct {
    gpc_wheel_state_t *state; /* in the arena */
    gpc_pool_t events;        /* all scheduled events, near and far, except near edge events */
    gpc_index_t *slots;       /* head and tail of the list of each near tick and priority */
    gpc_wheel_far_t *heap;    /* far events, ordered by (tick, sequence) */
    gpc_wheel_edges_t edges;
} gpc_wheel_t;

GPC_MUST_CHECK int gpc_wheel_init(gpc_wheel_t *self, gpc_arena_t *arena, uint32_t capacity);
/* Declares edge events, of targets below `targets`. */
GPC_MUST_CHECK int gpc_wheel_declare_edges(gpc_wheel_t *self, gpc_arena_t *arena, uint8_t kind, uint8_t priority,
                                           gpc_tick_t period, uint32_t targets);
/* Schedules an edge event, which is taken as an event of its kind. *joined: the target has one there
 * already. */
GPC_MUST_CHECK int gpc_wheel_schedule_edge(gpc_wheel_t *self, gpc_cycle_t cycle, uint32_t target, bool *joined);
void gpc_wheel_clear(gpc_wheel_t *self); /* drops all events, keeps now */
static inline gpc_tick_t
gpc_wheel_now(const gpc_wheel_t *self)
{
    return *(const gpc_tick_t *) self->state; /* its first member */
}
/* GPC_ERROR_CAPACITY when `capacity` events are scheduled already; tick >= now is asserted. */
GPC_MUST_CHECK int gpc_wheel_schedule(gpc_wheel_t *self, gpc_tick_t tick, uint8_t kind, uint8_t priority,
                                      uint32_t target, uint32_t argument);
/* Takes the next event and advances now to its tick; false when there is none. */
bool gpc_wheel_next(gpc_wheel_t *self, gpc_event_t *out);
/* The same in two steps, of which the first makes no event: takes the next event if it is a near edge event. */
bool gpc_wheel_take_edge(gpc_wheel_t *self, gpc_cycle_t *cycle, uint32_t *target);
/* Takes the next event, which is no near edge event; false when there is none. */
bool gpc_wheel_take_listed(gpc_wheel_t *self, gpc_event_t *out);
uint32_t gpc_wheel_count(const gpc_wheel_t *self);
bool gpc_wheel_holds_only(const gpc_wheel_t *self, uint32_t events); /* this number, and no near edge event */

/* ---- clocks ------------------------------------------------------------------------------------------------------ */

typedef struct {
    gpc_tick_t period; /* ticks per cycle */
} gpc_clock_t;

/* Ticks per second for clocks in whole MHz: their least common multiple; 0 when it exceeds 2^40 Hz. */
uint64_t gpc_clock_common_hz(const uint32_t *mhz, uint32_t count);

/* Ticks since the last edge. Most periods are powers of two, and a division costs as much as an event. */
static inline gpc_tick_t
gpc_clock_past(gpc_clock_t clock, gpc_tick_t tick)
{
    gpc_tick_t mask = clock.period - 1;
    return clock.period & mask ? tick % clock.period : tick & mask;
}

/* Whole cycles in a number of ticks. */
static inline uint64_t
gpc_clock_cycles(gpc_clock_t clock, gpc_tick_t ticks)
{
    return clock.period & (clock.period - 1) ? ticks / clock.period : ticks >> __builtin_ctzll(clock.period);
}

/* The first edge at or after tick; gpc_clock_next_edge: strictly after tick. */
static inline gpc_tick_t
gpc_clock_edge(gpc_clock_t clock, gpc_tick_t tick)
{
    gpc_tick_t past = gpc_clock_past(clock, tick);
    return past ? tick + (clock.period - past) : tick;
}

static inline gpc_tick_t
gpc_clock_next_edge(gpc_clock_t clock, gpc_tick_t tick)
{
    return tick - gpc_clock_past(clock, tick) + clock.period;
}

#endif

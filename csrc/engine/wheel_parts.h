/* wheel_parts.h: the state of the event wheel; only for csrc/engine/{wheel,schedule}.c. */
#ifndef GPC_ENGINE_WHEEL_PARTS_H
#define GPC_ENGINE_WHEEL_PARTS_H

#include "engine/wheel.h"

#define WINDOW 2048u /* ticks; a power of two. The lists take 64 KiB and fit the host's second-level cache */
#define NUM_SLOTS (WINDOW * GPC_WHEEL_PRIORITIES)
#define NUM_WORDS (NUM_SLOTS / 64u)
#define NUM_SUMMARIES (NUM_WORDS / 64u)
#define EDGE_CYCLES 64u /* bits of edges_used */

_Static_assert(NUM_SUMMARIES * 64u * 64u == NUM_SLOTS, "the bitmap has two whole levels");

struct gpc_wheel_state {
    gpc_tick_t now;
    uint64_t sequence;    /* of far events */
    gpc_tick_t first_far; /* tick of the earliest far event, GPC_NEVER when there is none */
    uint64_t next;        /* place in time (place_of) of the first list that is not empty; GPC_NEVER: none */
    uint64_t next_edge;   /* likewise of the first near edge event */
    uint64_t edges_cycle; /* its cycle; GPC_NEVER: none */
    uint64_t edges_used;  /* bit: a cycle, modulo 64, with edge events */
    uint32_t edges_word;  /* the first word of the first edges' set that is not 0 */
    uint32_t edges_at;    /* its place among the sets' words */
    uint32_t num_near;
    uint32_t num_far;
    uint64_t summary[NUM_SUMMARIES]; /* one bit per word of bits */
    uint64_t bits[NUM_WORDS];        /* one bit per list that is not empty */
};

_Static_assert(offsetof(struct gpc_wheel_state, now) == 0, "gpc_wheel_now reads the first member");

/* An event. The tick of a near event follows from its list. */
typedef struct {
    gpc_index_t next; /* in its list */
    uint32_t argument;
    uint64_t key; /* target, kind, priority, from the highest bits down; all events of a list have one priority */
} entry_t;

struct gpc_wheel_far {
    gpc_tick_t tick;
    uint64_t sequence;
    gpc_index_t event;
};

static inline uint64_t
make_key(uint8_t kind, uint8_t priority, uint32_t target)
{
    return (uint64_t) target << 32 | (uint64_t) kind << 8 | priority;
}

static inline uint8_t
priority_of(const entry_t *entry)
{
    return (uint8_t) entry->key;
}

static inline uint8_t
kind_of(const entry_t *entry)
{
    return (uint8_t) (entry->key >> 8);
}

static inline uint32_t
target_of(const entry_t *entry)
{
    return (uint32_t) (entry->key >> 32);
}

/* Lists and sets of edge events in the order in which they are taken; modulo NUM_SLOTS a list's slot. */
static inline uint64_t
place_of(gpc_tick_t tick, uint8_t priority)
{
    return tick * GPC_WHEEL_PRIORITIES + priority;
}

static inline entry_t *
entry_at(const gpc_wheel_t *self, gpc_index_t i)
{
    return (entry_t *) (void *) self->events.items + i; /* as gpc_pool_at, with a size that the compiler knows */
}

#endif

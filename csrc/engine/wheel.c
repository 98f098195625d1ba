/* wheel.c: near events are in a wheel with one list per tick and priority and a two-level bitmap of the lists that are
 * not empty; far events are in a heap.
 *
 * A list is sorted by key (target, kind), equal keys by order of scheduling. Insertion sort is cheapest: four events of
 * five go to the end of their list, and the others pass about one event (measured with 16 and with 256 cores under full
 * load).
 *
 * The window is [now, now + WINDOW). When now advances, far events inside the new window move to their lists, in order
 * of their sequence numbers, before any other event can be scheduled there. Near events need no sequence number. */
#include "engine/wheel.h"

#include <assert.h>
#include <string.h>

#include "base/errors.h"

#define WINDOW 2048u /* ticks; a power of two. The lists take 64 KiB and fit the host's second-level cache */
#define NUM_SLOTS (WINDOW * GPC_WHEEL_PRIORITIES)
#define NUM_WORDS (NUM_SLOTS / 64u)
#define NUM_SUMMARIES (NUM_WORDS / 64u)

_Static_assert(NUM_SUMMARIES * 64u * 64u == NUM_SLOTS, "the bitmap has two whole levels");

struct gpc_wheel_state {
    gpc_tick_t now;
    uint64_t sequence;    /* of far events */
    gpc_tick_t first_far; /* tick of the earliest far event, GPC_NEVER when there is none */
    uint32_t num_near;
    uint32_t num_far;
    uint32_t current;                /* the list that events are taken from; its bit may be set while it is empty */
    uint64_t summary[NUM_SUMMARIES]; /* one bit per word of bits */
    uint64_t bits[NUM_WORDS];        /* one bit per list that is not empty */
};

/* An event. The tick of a near event follows from its list. */
typedef struct {
    gpc_index_t next; /* in its list, or in the pool's free list */
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

static inline entry_t *
entry_at(const gpc_wheel_t *self, gpc_index_t i)
{
    return (entry_t *) (void *) self->events.items + i; /* as gpc_pool_at, with a size that the compiler knows */
}

int
gpc_wheel_init(gpc_wheel_t *self, gpc_arena_t *arena, uint32_t capacity)
{
    self->state = GPC_ARENA_TAKE(arena, 1, gpc_wheel_state_t);
    self->slots = GPC_ARENA_TAKE(arena, (size_t) NUM_SLOTS * 2, gpc_index_t);
    self->heap = GPC_ARENA_TAKE(arena, capacity, gpc_wheel_far_t);
    int status = gpc_pool_init(&self->events, arena, capacity, sizeof(entry_t));
    if (status || !self->state || !self->slots || !self->heap) {
        return GPC_ERROR_MEMORY;
    }
    self->state->first_far = GPC_NEVER;
    memset(self->slots, 0xFF, (size_t) NUM_SLOTS * 2 * sizeof *self->slots); /* GPC_NONE: empty */
    return 0;
}

void
gpc_wheel_clear(gpc_wheel_t *self)
{
    gpc_wheel_state_t *state = self->state;

    for (uint32_t slot = 0; slot < NUM_SLOTS; slot++) {
        if (!(state->bits[slot / 64] >> (slot % 64) & 1u)) {
            continue;
        }
        for (gpc_index_t i = self->slots[2 * slot]; i != GPC_NONE;) {
            gpc_index_t next = entry_at(self, i)->next;
            gpc_pool_give(&self->events, i);
            i = next;
        }
        self->slots[2 * slot] = GPC_NONE;
    }
    for (uint32_t i = 0; i < state->num_far; i++) {
        gpc_pool_give(&self->events, self->heap[i].event);
    }
    *state = (gpc_wheel_state_t){.now = state->now,
                                 .sequence = state->sequence,
                                 .first_far = GPC_NEVER,
                                 .current = (uint32_t) (state->now % WINDOW) * GPC_WHEEL_PRIORITIES};
}

gpc_tick_t
gpc_wheel_now(const gpc_wheel_t *self)
{
    return self->state->now;
}

uint32_t
gpc_wheel_count(const gpc_wheel_t *self)
{
    return self->state->num_near + self->state->num_far;
}

/* ---- near events ------------------------------------------------------------------------------------------------- */

/* Clears the bit of an empty list. */
static inline void
forget_if_empty(gpc_wheel_t *self, uint32_t slot)
{
    gpc_wheel_state_t *state = self->state;

    if (self->slots[(size_t) 2 * slot] == GPC_NONE) {
        state->bits[slot / 64] &= ~(UINT64_C(1) << (slot % 64));
        if (state->bits[slot / 64] == 0) {
            state->summary[slot / 4096] &= ~(UINT64_C(1) << (slot / 64 % 64));
        }
    }
}

/* Inserts an event into a list whose last event has a larger key. 0, so that its callers end with it. */
__attribute__((noinline)) static int
insert_in_order(gpc_wheel_t *self, gpc_index_t *head, gpc_index_t i, entry_t *entry)
{
    gpc_index_t *link = head;

    while (entry_at(self, *link)->key <= entry->key) {
        link = &entry_at(self, *link)->next;
    }
    entry->next = *link;
    *link = i;
    return 0;
}

/* Most events go to the end of their list. The bit of a list with events is set, and the list is not before the current one. */
static inline int
near_push(gpc_wheel_t *self, gpc_index_t i, entry_t *entry, gpc_tick_t tick)
{
    gpc_wheel_state_t *state = self->state;
    uint32_t slot = (uint32_t) (tick % WINDOW) * GPC_WHEEL_PRIORITIES + priority_of(entry);
    gpc_index_t *list = &self->slots[(size_t) slot * 2];

    state->num_near++;
    if (list[0] != GPC_NONE) {
        entry_t *last = entry_at(self, list[1]);
        if (last->key > entry->key) {
            return insert_in_order(self, list, i, entry);
        }
        last->next = list[1] = i;
        return 0;
    }
    list[0] = list[1] = i;
    state->bits[slot / 64] |= UINT64_C(1) << (slot % 64);
    state->summary[slot / 4096] |= UINT64_C(1) << (slot / 64 % 64);
    if (slot < state->current && tick == state->now) { /* it precedes the current list */
        forget_if_empty(self, state->current);
        state->current = slot;
    }
    return 0;
}

/* The first list whose bit is set at or after slot `from`, cyclically. At least one bit is set. */
static inline uint32_t
first_slot(const gpc_wheel_state_t *state, uint32_t from)
{
    uint32_t word = from / 64;
    uint64_t bits = state->bits[word] & (UINT64_MAX << (from % 64));
    if (bits) {
        return word * 64 + (uint32_t) __builtin_ctzll(bits);
    }
    /* Search the words after this one, cyclically, ending with this one: one summary is read twice at most. */
    word = (word + 1) % NUM_WORDS;
    uint32_t group = word / 64;
    uint64_t summary = state->summary[group] & (UINT64_MAX << (word % 64));
    while (!summary) {
        group = (group + 1) % NUM_SUMMARIES;
        summary = state->summary[group];
    }
    word = group * 64 + (uint32_t) __builtin_ctzll(summary);
    return word * 64 + (uint32_t) __builtin_ctzll(state->bits[word]);
}

/* ---- far events: a binary heap by (tick, sequence) --------------------------------------------------------------- */

static inline bool
before(const gpc_wheel_far_t *a, const gpc_wheel_far_t *b)
{
    return a->tick != b->tick ? a->tick < b->tick : a->sequence < b->sequence;
}

__attribute__((noinline)) static int
far_push(gpc_wheel_t *self, gpc_index_t event, gpc_tick_t tick)
{
    gpc_wheel_far_t far = {.tick = tick, .sequence = self->state->sequence++, .event = event};
    uint32_t at = self->state->num_far++;

    while (at > 0) {
        uint32_t parent = (at - 1) / 2;
        if (!before(&far, &self->heap[parent])) {
            break;
        }
        self->heap[at] = self->heap[parent];
        at = parent;
    }
    self->heap[at] = far;
    self->state->first_far = self->heap[0].tick;
    return 0;
}

static gpc_wheel_far_t
far_pop(gpc_wheel_t *self)
{
    gpc_wheel_far_t *heap = self->heap;
    gpc_wheel_far_t first = heap[0];
    uint32_t count = --self->state->num_far;
    gpc_wheel_far_t last = heap[count];
    uint32_t at = 0;

    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= count) {
            break;
        }
        if (child + 1 < count && before(&heap[child + 1], &heap[child])) {
            child++;
        }
        if (!before(&heap[child], &last)) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    self->state->first_far = count ? heap[0].tick : GPC_NEVER;
    return first;
}

/* Rare, hence out of line. */
__attribute__((noinline)) static void
bring_near(gpc_wheel_t *self)
{
    while (self->state->first_far - self->state->now < WINDOW) {
        gpc_wheel_far_t far = far_pop(self);
        (void) near_push(self, far.event, entry_at(self, far.event), far.tick);
    }
}

/* Moves the start of the window to now. GPC_NEVER is outside every window. */
static inline void
advance(gpc_wheel_t *self, gpc_tick_t now)
{
    self->state->now = now;
    if (self->state->first_far - now < WINDOW) {
        bring_near(self);
    }
}

/* ---- scheduling -------------------------------------------------------------------------------------------------- */

int
gpc_wheel_schedule(gpc_wheel_t *self, gpc_tick_t tick, uint8_t kind, uint8_t priority, uint32_t target,
                   uint32_t argument)
{
    gpc_wheel_state_t *state = self->state;
    assert(tick >= state->now && priority < GPC_WHEEL_PRIORITIES);

    gpc_index_t i = gpc_pool_take(&self->events);
    if (i == GPC_NONE) {
        return GPC_ERROR_CAPACITY;
    }
    entry_t *entry = entry_at(self, i);
    *entry = (entry_t){.next = GPC_NONE, .argument = argument, .key = make_key(kind, priority, target)};
    return tick - state->now < WINDOW ? near_push(self, i, entry, tick) : far_push(self, i, tick);
}

/* The current list is empty: advances now to the next event's tick and current to its list. */
__attribute__((noinline)) static bool
move_on(gpc_wheel_t *self)
{
    gpc_wheel_state_t *state = self->state;

    if (state->num_near == 0 && state->num_far == 0) {
        return false;
    }
    forget_if_empty(self, state->current);
    if (state->num_near == 0) {
        advance(self, state->first_far);
    }
    uint32_t slot = first_slot(state, (uint32_t) (state->now % WINDOW) * GPC_WHEEL_PRIORITIES);
    state->current = slot;
    advance(self, state->now + (slot / GPC_WHEEL_PRIORITIES - (uint32_t) state->now) % WINDOW);
    return true;
}

bool
gpc_wheel_next(gpc_wheel_t *self, gpc_event_t *out)
{
    gpc_wheel_state_t *state = self->state;

    if (self->slots[2 * state->current] == GPC_NONE && !move_on(self)) {
        return false;
    }
    gpc_index_t *list = &self->slots[(size_t) 2 * state->current];
    gpc_index_t i = list[0];
    const entry_t *entry = entry_at(self, i);

    *out = (gpc_event_t){.tick = state->now,
                         .kind = kind_of(entry),
                         .priority = priority_of(entry),
                         .target = target_of(entry),
                         .argument = entry->argument};
    list[0] = entry->next;
    state->num_near--;
    gpc_pool_give(&self->events, i);
    return true;
}

bool
gpc_wheel_ahead(const gpc_wheel_t *self, uint8_t *kind, uint32_t *target, uint32_t *argument)
{
    gpc_index_t i = self->slots[(size_t) 2 * self->state->current];
    if (i == GPC_NONE) {
        return false;
    }
    const entry_t *entry = entry_at(self, i);
    *kind = kind_of(entry);
    *target = target_of(entry);
    *argument = entry->argument;
    return true;
}

/* ---- clocks ------------------------------------------------------------------------------------------------------ */

uint64_t
gpc_clock_common_hz(const uint32_t *mhz, uint32_t count)
{
    const uint64_t million = 1000000, limit = (UINT64_C(1) << 40) / million; /* in MHz, rounded down */
    uint64_t common = 1;

    for (uint32_t i = 0; i < count; i++) {
        uint64_t a = common, b = mhz[i];
        if (b == 0) {
            return 0;
        }
        while (b) {
            uint64_t rest = a % b;
            a = b;
            b = rest;
        }
        common = common / a * mhz[i]; /* at most 2^21 * 2^32 */
        if (common > limit) {
            return 0;
        }
    }
    return common * million;
}

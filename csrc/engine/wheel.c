/* wheel.c: near events are in a wheel with one list per tick and priority and a two-level bitmap of the lists that are
 * not empty; far events are in a heap.
 *
 * A list is sorted by key (target, kind), equal keys by order of scheduling. Insertion sort is cheapest: four events of
 * five go to the end of their list, and the others pass about one event (measured with 16 and with 256 cores under full
 * load).
 *
 * The window is [now, now + WINDOW). When now advances, far events inside the new window move to their lists, in order
 * of their sequence numbers, before any other event can be scheduled there. Near events need no sequence number. */
#include <assert.h>
#include <string.h>

#include "base/errors.h"
#include "engine/wheel_parts.h"

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
    self->edges = (gpc_wheel_edges_t){.sets = NULL};
    self->state->first_far = self->state->next = self->state->next_edge = self->state->edges_cycle = GPC_NEVER;
    memset(self->slots, 0xFF, (size_t) NUM_SLOTS * 2 * sizeof *self->slots); /* GPC_NONE: empty */
    return GPC_OK;
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
                                 .next = GPC_NEVER,
                                 .next_edge = GPC_NEVER,
                                 .edges_cycle = GPC_NEVER};
    if (self->edges.sets) {
        memset(self->edges.sets, 0, EDGE_CYCLES * self->edges.words * sizeof *self->edges.sets);
    }
}

uint32_t
gpc_wheel_count(const gpc_wheel_t *self)
{
    uint32_t edges = 0;
    for (uint32_t i = 0; self->state->edges_used && i < EDGE_CYCLES * self->edges.words; i++) {
        edges += (uint32_t) __builtin_popcountll(self->edges.sets[i]);
    }
    return self->state->num_near + self->state->num_far + edges;
}

bool
gpc_wheel_holds_only(const gpc_wheel_t *self, uint32_t events)
{
    const gpc_wheel_state_t *state = self->state;
    return state->edges_used == 0 && state->num_near + state->num_far == events;
}

/* ---- near events ------------------------------------------------------------------------------------------------- */

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
    return GPC_OK;
}

/* Most events go to the end of their list. */
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
        return GPC_OK;
    }
    list[0] = list[1] = i;
    state->bits[slot / 64] |= UINT64_C(1) << (slot % 64);
    state->summary[slot / 4096] |= UINT64_C(1) << (slot / 64 % 64);
    uint64_t place = place_of(tick, priority_of(entry));
    state->next = place < state->next ? place : state->next;
    return GPC_OK;
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
    return GPC_OK;
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

/* ---- edge events ------------------------------------------------------------------------------------------------- */

int
gpc_wheel_declare_edges(gpc_wheel_t *self, gpc_arena_t *arena, uint8_t kind, uint8_t priority, gpc_tick_t period,
                        uint32_t targets)
{
    uint32_t words = (targets + 63) / 64;
    /* Less than the ring's cycles, because now may be between two edges; and inside the window, so that no far event
     * precedes a near edge. */
    gpc_tick_t ring = (EDGE_CYCLES - 1) * period;
    self->edges = (gpc_wheel_edges_t){GPC_ARENA_TAKE(arena, (size_t) EDGE_CYCLES * words, uint64_t),
                                      period,
                                      ring < WINDOW ? ring : WINDOW - 1,
                                      words,
                                      kind,
                                      priority};
    return self->edges.sets ? GPC_OK : GPC_ERROR_MEMORY;
}

/* Out of line: few edge events are far. */
__attribute__((noinline)) static int
schedule_far_edge(gpc_wheel_t *self, gpc_tick_t tick, uint32_t target)
{
    return gpc_wheel_schedule(self, tick, self->edges.kind, self->edges.priority, target, 0);
}

/* The cycle is the first with near edge events, and this word of its set the first one that is not 0. */
static inline void
set_first_edge(gpc_wheel_t *self, gpc_cycle_t cycle, uint32_t word)
{
    gpc_wheel_state_t *state = self->state;
    state->edges_cycle = cycle;
    state->next_edge = place_of(cycle * self->edges.period, self->edges.priority);
    state->edges_word = word;
    state->edges_at = (uint32_t) (cycle % EDGE_CYCLES) * self->edges.words + word;
}

GPC_INLINED_BY_LINKER int
gpc_wheel_schedule_edge(gpc_wheel_t *self, gpc_cycle_t cycle, uint32_t target, bool *joined)
{
    gpc_wheel_state_t *state = self->state;
    gpc_tick_t tick = cycle * self->edges.period;
    if (tick - state->now > self->edges.reach) {
        *joined = false;
        return schedule_far_edge(self, tick, target);
    }
    uint32_t at = (uint32_t) (cycle % EDGE_CYCLES) * self->edges.words + target / 64;
    uint64_t set = self->edges.sets[at];

    *joined = (set >> target % 64 & 1u) != 0;
    self->edges.sets[at] = set | UINT64_C(1) << target % 64;
    state->edges_used |= UINT64_C(1) << cycle % EDGE_CYCLES;
    if (cycle < state->edges_cycle || (cycle == state->edges_cycle && at < state->edges_at)) {
        set_first_edge(self, cycle, target / 64);
    }
    return GPC_OK;
}

static inline uint32_t
first_edge(const gpc_wheel_t *self)
{
    const gpc_wheel_state_t *state = self->state;
    return state->edges_word * 64 + (uint32_t) __builtin_ctzll(self->edges.sets[state->edges_at]);
}

/* The first word that was not 0 is: finds the next one, in this set or in a later one. */
static inline void
find_edges(gpc_wheel_t *self)
{
    gpc_wheel_state_t *state = self->state;
    uint32_t by = (uint32_t) (state->edges_cycle % EDGE_CYCLES), word = state->edges_word + 1;
    gpc_cycle_t cycle = state->edges_cycle;

    if (word == self->edges.words) {
        state->edges_used &= ~(UINT64_C(1) << by);
        if (state->edges_used == 0) {
            state->next_edge = state->edges_cycle = GPC_NEVER;
            return;
        }
        cycle += (uint32_t) __builtin_ctzll(state->edges_used >> by | state->edges_used << (0 - by) % EDGE_CYCLES);
        word = 0;
    }
    set_first_edge(self, cycle, word);
    if (self->edges.sets[state->edges_at] == 0) {
        find_edges(self);
    }
}

/* ---- taking ------------------------------------------------------------------------------------------------------ */

/* Finds the next list, in another word than the slot's or among the first slots of its word, where the window ends. */
__attribute__((noinline)) static void
find_list_beyond(gpc_wheel_state_t *state, uint32_t slot)
{
    if (state->bits[slot / 64] == 0) {
        state->summary[slot / 4096] &= ~(UINT64_C(1) << (slot / 64 % 64));
    }
    if (state->num_near == 0) {
        state->next = GPC_NEVER;
        return;
    }
    state->next += (first_slot(state, slot) - slot) % NUM_SLOTS;
}

/* The first list, of this slot, is empty: finds the next one, mostly in the same word. */
static inline void
find_list(gpc_wheel_state_t *state, uint32_t slot)
{
    uint64_t *word = &state->bits[slot / 64], left = *word & ~(UINT64_C(1) << slot % 64), later = left >> slot % 64;

    *word = left;
    if (later != 0) {
        state->next += (uint32_t) __builtin_ctzll(later);
    } else {
        find_list_beyond(state, slot);
    }
}

static inline gpc_index_t *
first_list(const gpc_wheel_t *self)
{
    return &self->slots[(size_t) 2 * (self->state->next % NUM_SLOTS)];
}

/* Their places are equal: the lower key is first. Both may be GPC_NEVER. */
static inline bool
edge_precedes_list(const gpc_wheel_t *self)
{
    if (self->state->next == GPC_NEVER) {
        return false;
    }
    uint64_t edge = make_key(self->edges.kind, self->edges.priority, first_edge(self));
    return edge <= entry_at(self, *first_list(self))->key;
}

bool
gpc_wheel_take_edge(gpc_wheel_t *self, gpc_cycle_t *cycle, uint32_t *target)
{
    gpc_wheel_state_t *state = self->state;
    if (state->next_edge > state->next || (state->next_edge == state->next && !edge_precedes_list(self))) {
        return false;
    }
    uint64_t *set = &self->edges.sets[state->edges_at], left = *set & (*set - 1);
    *cycle = state->edges_cycle;
    *target = first_edge(self);
    advance(self, state->next_edge / GPC_WHEEL_PRIORITIES);
    *set = left;
    if (left == 0) {
        find_edges(self);
    }
    return true;
}

bool
gpc_wheel_take_listed(gpc_wheel_t *self, gpc_event_t *out)
{
    gpc_wheel_state_t *state = self->state;

    if (state->num_near == 0) {
        if (state->num_far == 0) {
            return false;
        }
        advance(self, state->first_far); /* the wheel advances to the first far event */
    }
    uint32_t slot = (uint32_t) (state->next % NUM_SLOTS);
    gpc_index_t *list = first_list(self);
    gpc_index_t i = list[0];
    const entry_t *entry = entry_at(self, i);

    *out = (gpc_event_t){.tick = state->next / GPC_WHEEL_PRIORITIES,
                         .kind = kind_of(entry),
                         .priority = priority_of(entry),
                         .target = target_of(entry),
                         .argument = entry->argument};
    advance(self, out->tick);
    list[0] = entry->next;
    state->num_near--;
    gpc_pool_give(&self->events, i);
    if (list[0] == GPC_NONE) {
        find_list(state, slot);
    }
    return true;
}

bool
gpc_wheel_next(gpc_wheel_t *self, gpc_event_t *out)
{
    gpc_cycle_t cycle;
    uint32_t target;
    if (!gpc_wheel_take_edge(self, &cycle, &target)) {
        return gpc_wheel_take_listed(self, out);
    }
    *out = (gpc_event_t){.tick = cycle * self->edges.period,
                         .kind = self->edges.kind,
                         .priority = self->edges.priority,
                         .target = target};
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

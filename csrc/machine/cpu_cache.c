/* cpu_cache.c: tags of the lines that the host has left dirty in the CPU's cache. */
#include "machine/cpu_cache.h"

#include <string.h>

#include "base/errors.h"

#define NO_LINE UINT64_MAX

int
gpc_cpu_cache_init(gpc_cpu_cache_t *self, const gpc_machine_t *machine, gpc_clock_t core_clock, gpc_arena_t *arena)
{
    *self = (gpc_cpu_cache_t){.ways = machine->cpu_ways, .line_bytes = machine->line_bytes};
    if (machine->cpu_bytes == 0) {
        return GPC_OK;
    }
    self->sets = machine->cpu_bytes / (machine->line_bytes * machine->cpu_ways);
    self->probe = machine->cpu_probe_cycles * core_clock.period;
    self->transfer = machine->cpu_transfer_cycles * core_clock.period;
    size_t places = (size_t) self->sets * self->ways;
    self->lines = GPC_ARENA_TAKE(arena, places, gpc_address_t);
    self->state = GPC_ARENA_TAKE(arena, 1, gpc_cpu_cache_state_t);
    if (!self->lines || !self->state) {
        return GPC_ERROR_MEMORY;
    }
    for (size_t i = 0; i < places; i++) {
        self->lines[i] = NO_LINE;
    }
    return GPC_OK;
}

static gpc_address_t *
set_of(const gpc_cpu_cache_t *self, gpc_address_t line)
{
    return &self->lines[line / self->line_bytes % self->sets * self->ways];
}

/* The line's place in its set; `ways` if it has none. */
static uint32_t
find(const gpc_cpu_cache_t *self, const gpc_address_t *set, gpc_address_t line)
{
    uint32_t place = 0;
    while (place < self->ways && set[place] != line) {
        place++;
    }
    return place;
}

void
gpc_cpu_cache_host_wrote(gpc_cpu_cache_t *self, gpc_address_t line)
{
    gpc_address_t *set = set_of(self, line);
    uint32_t place = find(self, set, line);

    place = place < self->ways ? place : self->ways - 1;
    memmove(set + 1, set, place * sizeof(*set));
    set[0] = line;
}

/* Whether the cache had the line, which it drops. */
static bool
drop(gpc_cpu_cache_t *self, gpc_address_t line)
{
    gpc_address_t *set = set_of(self, line);
    uint32_t place = find(self, set, line);

    if (place == self->ways) {
        return false;
    }
    memmove(set + place, set + place + 1, (self->ways - 1 - place) * sizeof(*set));
    set[self->ways - 1] = NO_LINE;
    self->state->probes++;
    return true;
}

gpc_tick_t
gpc_cpu_cache_read(gpc_cpu_cache_t *self, gpc_address_t line, gpc_tick_t now)
{
    gpc_cpu_cache_state_t *state = self->state;
    gpc_tick_t found = now + self->probe;

    if (!drop(self, line)) {
        return 0;
    }
    state->transfers++;
    state->free = (state->free > found ? state->free : found) + self->transfer;
    return state->free - now;
}

gpc_tick_t
gpc_cpu_cache_written(gpc_cpu_cache_t *self, gpc_address_t line, gpc_tick_t now)
{
    if (!drop(self, line)) {
        return 0;
    }
    self->state->answered = now + self->probe;
    return self->probe;
}

void
gpc_cpu_cache_reset_statistics(gpc_cpu_cache_t *self)
{
    if (self->state) {
        *self->state = (gpc_cpu_cache_state_t){.free = self->state->free, .answered = self->state->answered};
    }
}

/* cpu_cache.h: the CPU's cache as the GPU meets it at the memory side: the tags of the lines that the host has written.
 *
 * Tags only: the host's words are in memory (and in the GPU's copies, by the protocol's host_write) at once, so that
 * data are right whatever this cache holds. Host accesses take no simulated time; what a launch pays is the latency of
 * a line that the host left dirty. A dirty line that the host's own writes displace is written back between launches,
 * in no time. */
#ifndef GPC_MACHINE_CPU_CACHE_H
#define GPC_MACHINE_CPU_CACHE_H

#include "base/arena.h"
#include "base/machine.h"
#include "engine/wheel.h"

#define GPC_CPU_CACHE_STATISTICS(X)                                                                                    \
    X(probes)    /* GPU accesses to memory that found their line dirty */                                              \
    X(transfers) /* of these, reads, for which the line was transferred and written to memory */

/* In the arena. */
typedef struct {
    gpc_tick_t free;     /* end of the last transfer */
    gpc_tick_t answered; /* the probe of the last write */
#define X(name) uint64_t name;
    GPC_CPU_CACHE_STATISTICS(X)
#undef X
} gpc_cpu_cache_state_t;

typedef struct {
    uint32_t sets, ways, line_bytes;
    gpc_tick_t probe, transfer;   /* duration */
    gpc_address_t *lines;         /* [sets][ways], of each set the newest first; in the arena; NULL: no cache */
    gpc_cpu_cache_state_t *state; /* NULL without a cache */
} gpc_cpu_cache_t;

GPC_MUST_CHECK int gpc_cpu_cache_init(gpc_cpu_cache_t *self, const gpc_machine_t *machine, gpc_clock_t core_clock,
                                      gpc_arena_t *arena);
static inline bool
gpc_cpu_cache_exists(const gpc_cpu_cache_t *self)
{
    return self->lines != NULL;
}

/* The rest needs a cache. The host has written to the line: it becomes the newest one of its set, without the
 * oldest. */
void gpc_cpu_cache_host_wrote(gpc_cpu_cache_t *self, gpc_address_t line);
/* The GPU reads or writes the line in memory, and the cache drops it. By how many ticks the access is late: 0 if the
 * cache has not got the line. A line that was read must be written to memory. */
gpc_tick_t gpc_cpu_cache_read(gpc_cpu_cache_t *self, gpc_address_t line, gpc_tick_t now);
gpc_tick_t gpc_cpu_cache_written(gpc_cpu_cache_t *self, gpc_address_t line, gpc_tick_t now);
void gpc_cpu_cache_reset_statistics(gpc_cpu_cache_t *self);

#endif

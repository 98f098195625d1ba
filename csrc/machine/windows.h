/* windows.h: with the build option die_windows, the events of each die in windows of the least latency between dies.
 *
 * Threads that simulate a die each could go on alone for such a window: no message that a die sends in it arrives at
 * another one before its end. A window then takes as long as the die with most events, `longest` in all; the quotient
 * of all events by it is a bound of what one thread a die could gain, if barriers and memory cost nothing. Events of
 * nodes on no die count for die 0. Without the option nothing is counted; a machine with one die prints nothing. */
#ifndef GPC_MACHINE_WINDOWS_H
#define GPC_MACHINE_WINDOWS_H

#include <string.h>

#include "machine/parts.h"

#ifdef GPC_DIE_WINDOWS
static inline gpc_tick_t
gpc_window_ticks(const gpc_gpu_t *gpu)
{
    const gpc_machine_t *m = &gpu->machine;
    bool of_dies = m->dies > m->gpus, of_gpus = m->gpus > 1;
    bool least = of_dies && (!of_gpus || m->die_latency < m->gpu_latency);
    gpc_cycle_t cycles = least ? m->die_latency : of_gpus ? m->gpu_latency : 0;
    return (cycles ? cycles : 1) * gpu->core_clock.period;
}

/* The node, or GPC_NO_NODE, at which the event acts. */
static inline uint32_t
gpc_node_of_event(const gpc_gpu_t *gpu, const gpc_event_t *event)
{
    switch ((gpc_event_kind_t) event->kind) {
        case GPC_EVENT_NETWORK_ARRIVE:
        case GPC_EVENT_OTHER_ARRIVE:
            return gpc_msg_at(&gpu->messages, event->argument)->destination;
        case GPC_EVENT_NETWORK_GRANT:
        case GPC_EVENT_OTHER_GRANT:
            return gpc_network_node_of(&gpu->links[gpc_network_of_event(event)], event->argument);
        default:
            return event->target;
    }
}

static inline uint32_t
gpc_die_of_event(const gpc_gpu_t *gpu, const gpc_event_t *event)
{
    if (event->kind == GPC_EVENT_DRAM || event->kind == GPC_EVENT_DRAM_ANSWER) {
        return event->target / gpu->homes.channels.divisor;
    }
    if (event->kind == GPC_EVENT_LINK) {
        uint32_t dies = gpu->machine.dies, gpus = gpu->machine.gpus, of_gpus = event->target - dies * dies;
        return event->target < dies * dies ? event->target / dies : of_gpus / gpus * (dies / gpus);
    }
    uint32_t node = gpc_node_of_event(gpu, event);
    uint32_t die = node < gpc_gpu_nodes(gpu) ? gpc_die_of(&gpu->nodes, (gpc_node_t) node) : GPC_NO_DIE;
    return die < GPC_MAX_DIES ? die : 0;
}

static inline uint64_t
gpc_most_of_window(const gpc_windows_t *self)
{
    uint64_t most = 0;
    for (uint32_t die = 0; die < GPC_MAX_DIES; die++) {
        most = self->events_of[die] > most ? self->events_of[die] : most;
    }
    return most;
}
#endif

static inline void
gpc_gpu_count_event(gpc_gpu_t *gpu, const gpc_event_t *event)
{
#ifdef GPC_DIE_WINDOWS
    gpc_windows_t *self = &gpu->windows;
    uint64_t number = event->tick / gpc_window_ticks(gpu);
    if (number != self->number) {
        self->longest += gpc_most_of_window(self);
        memset(self->events_of, 0, sizeof(self->events_of));
        self->number = number;
    }
    self->events++;
    self->events_of[gpc_die_of_event(gpu, event)]++;
#else
    (void) gpu;
    (void) event;
#endif
}

static inline void
gpc_gpu_reset_windows(gpc_gpu_t *gpu)
{
#ifdef GPC_DIE_WINDOWS
    gpu->windows = (gpc_windows_t) {0};
#else
    (void) gpu;
#endif
}

static inline void
gpc_gpu_add_windows(const gpc_gpu_t *gpu, gpc_text_t *out)
{
#ifdef GPC_DIE_WINDOWS
    if (gpu->machine.dies > 1) {
        gpc_text_open(out, "die_windows", "{");
        gpc_text_add_count(out, "events", gpu->windows.events);
        gpc_text_add_count(out, "longest", gpu->windows.longest + gpc_most_of_window(&gpu->windows));
        gpc_text_add(out, "}");
    }
#else
    (void) gpu;
    (void) out;
#endif
}

#endif

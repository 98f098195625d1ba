/* littles_law.c: with check=True, the monitor "the occupancy of a queue is the sum of its waits" (Little's law): over a
 * launch, which begins and ends with empty queues, the number of requests in a queue, summed over the cycles, equals
 * what the statistics say that the requests have waited, to the cycle.
 *
 * The queues are the accesses of a core (from issue to completion) and the requests of a memory channel (until they
 * leave for the pins). Occupancies follow from events alone, waits from the times that accesses and requests carry. */
#include <stdlib.h>

#include "machine/parts.h"

typedef struct {
    uint64_t inside, area; /* requests; summed over the ticks or cycles until `since` */
    uint64_t since;
} occupancy_t;

typedef struct {
    occupancy_t accesses;
    uint64_t before;
} core_t;

typedef struct {
    occupancy_t queue;
    uint64_t rest; /* ticks below a cycle, which the statistic omits */
    uint64_t before;
} channel_t;

/* The statistics when the launch began are `before`. */
struct gpc_littles_law {
    gpc_subscriber_t subscriber;
    core_t *cores;       /* owned; [cores] */
    channel_t *channels; /* owned; [channels] */
    bool on;             /* in a launch whose statistics have not been reset */
};

static void
change(occupancy_t *self, uint64_t now, bool enters)
{
    self->area += self->inside * (now - self->since);
    self->since = now;
    self->inside += enters ? 1 : UINT64_MAX;
}

static uint64_t
waits_of_accesses(const gpc_core_statistics_t *s)
{
    return s->load_latency_cycles + s->store_latency_cycles + s->atomic_latency_cycles;
}

static void
begin(gpc_gpu_t *gpu)
{
    gpc_littles_law_t *self = gpu->checks.law;
    for (uint32_t i = 0; i < gpu->machine.cores; i++) {
        self->cores[i] = (core_t){.before = waits_of_accesses(&gpu->cores.statistics[i])};
    }
    for (uint32_t i = 0; i < gpc_gpu_channels(gpu); i++) {
        self->channels[i] = (channel_t){.before = gpu->dram.statistics[i].queue_cycles};
    }
    self->on = true;
}

static int
compare(gpc_gpu_t *gpu, const char *queue, uint32_t number, uint64_t area, uint64_t waits)
{
    return area == waits ? GPC_OK
                         : gpc_fail(&gpu->failure, GPC_ERROR_INVARIANT,
                                    "an invariant does not hold, the occupancy of a queue is the sum of its waits: "
                                    "%s %u: requests were there for %llu cycles, and are said to have waited %llu",
                                    queue, number, (unsigned long long) area, (unsigned long long) waits);
}

static int
end(gpc_gpu_t *gpu)
{
    const gpc_littles_law_t *self = gpu->checks.law;
    uint64_t period = gpu->dram_clock.period;
    for (uint32_t i = 0; self->on && i < gpu->machine.cores; i++) {
        uint64_t waits = waits_of_accesses(&gpu->cores.statistics[i]) - self->cores[i].before;
        GPC_TRY(compare(gpu, "accesses of core", i, self->cores[i].accesses.area, waits));
    }
    for (uint32_t i = 0; self->on && i < gpc_gpu_channels(gpu); i++) {
        const channel_t *channel = &self->channels[i];
        uint64_t waits = gpu->dram.statistics[i].queue_cycles - channel->before;
        GPC_TRY(compare(gpu, "queue of DRAM channel", i, channel->queue.area, waits * period + channel->rest));
    }
    return GPC_OK;
}

static void
queued(const gpc_gpu_t *gpu, channel_t *channel, const gpc_observation_t *event)
{
    gpc_tick_t now = gpc_wheel_now(&gpu->wheel);
    change(&channel->queue, now, event->queued.enters);
    channel->rest += (now - event->queued.accepted) % gpu->dram_clock.period;
}

static int
on_event(void *machine, const gpc_observation_t *event)
{
    gpc_gpu_t *gpu = machine;
    gpc_littles_law_t *self = gpu->checks.law;
    gpc_cycle_t now = gpc_gpu_cycle(gpu);
    switch (event->kind) {
        case GPC_ON_LAUNCHED:
            begin(gpu);
            return GPC_OK;
        case GPC_ON_ENDED:
            return end(gpu);
        case GPC_ON_ORDERED: /* a load, store or atomic issues in this cycle */
            if (event->ordered.access->kind <= GPC_ACCESS_ATOMIC) {
                change(&self->cores[event->ordered.core].accesses, now, true);
            }
            return GPC_OK;
        case GPC_ON_FINISHED:
            change(&self->cores[event->finished.core].accesses, now, false);
            return GPC_OK;
        case GPC_ON_QUEUED:
            queued(gpu, &self->channels[event->queued.channel], event);
            return GPC_OK;
        default:
            return GPC_OK;
    }
}

int
gpc_gpu_make_law(gpc_gpu_t *gpu)
{
    gpc_littles_law_t *self = gpu->checks.law = calloc(1, sizeof(*self));
    if (!self) {
        return GPC_ERROR_MEMORY;
    }
    self->cores = calloc(gpu->machine.cores, sizeof(*self->cores));
    self->channels = calloc(gpc_gpu_channels(gpu), sizeof(*self->channels));
    self->subscriber = (gpc_subscriber_t){.observe = on_event, .self = gpu};
    gpc_subscribe(&gpu->stream, &self->subscriber,
                  GPC_KIND(LAUNCHED) | GPC_KIND(ENDED) | GPC_KIND(ORDERED) | GPC_KIND(FINISHED) | GPC_KIND(QUEUED));
    return self->cores && self->channels ? GPC_OK : GPC_ERROR_MEMORY;
}

void
gpc_gpu_forget_law(gpc_gpu_t *gpu)
{
    if (gpu->checks.law) {
        gpu->checks.law->on = false;
    }
}

void
gpc_gpu_free_law(gpc_gpu_t *gpu)
{
    gpc_littles_law_t *self = gpu->checks.law;
    if (self) {
        gpc_unsubscribe(&self->subscriber);
        free(self->cores);
        free(self->channels);
        free(self);
    }
}

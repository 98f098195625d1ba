/* queueing.h: waits before one server with a fixed service time: the closed form, and whether measured waits agree with
 * it. Requests come as in an M/D/1 queue, in discrete time: in each slot one with the same probability. */
#ifndef GPC_TESTS_QUEUEING_H
#define GPC_TESTS_QUEUEING_H

#include <math.h>

#include "harness.h"
#include "random.h"

enum { QUEUEING_BATCHES = 40, QUEUEING_BATCH = 1000, QUEUEING_REQUESTS = QUEUEING_BATCHES * QUEUEING_BATCH };

typedef struct {
    double sums[QUEUEING_BATCHES];
    uint32_t count;
} waits_t;

static inline void
note_wait(waits_t *self, uint64_t slots)
{
    self->sums[self->count++ / QUEUEING_BATCH] += (double) slots;
}

/* Slots to the next request, of which each slot has one with probability `load` / `service`. */
static inline uint32_t
slots_to_next_request(double load, uint32_t service)
{
    uint32_t slots = 1;
    while ((double) random_below(1 << 20) >= load / service * (1 << 20)) {
        slots++;
    }
    return slots;
}

/* The formula of Pollaczek and Khinchine; with short slots M/D/1's load x service / 2(1 - load). */
static inline double
mean_wait(double load, uint32_t service)
{
    return load * (service - 1) / (2 * (1 - load));
}

/* The mean wait is the formula's within three standard errors, which batch means estimate and which are small. */
static inline void
check_waits(const waits_t *self, double load, uint32_t service)
{
    double mean = 0, square = 0, formula = mean_wait(load, service);
    CHECK_EQUAL_U64(self->count, QUEUEING_REQUESTS);
    for (uint32_t i = 0; i < QUEUEING_BATCHES; i++) {
        mean += self->sums[i] / QUEUEING_BATCH / QUEUEING_BATCHES;
    }
    for (uint32_t i = 0; i < QUEUEING_BATCHES; i++) {
        square += pow(self->sums[i] / QUEUEING_BATCH - mean, 2);
    }
    double error = sqrt(square / (QUEUEING_BATCHES - 1) / QUEUEING_BATCHES);
    printf("# load %.2f, service %u: mean wait %.3f, M/D/1 %.3f, standard error %.3f\n", load, service, mean, formula,
           error);
    CHECK(error < 0.06 * formula);
    CHECK(fabs(mean - formula) < 3 * error);
}

#endif

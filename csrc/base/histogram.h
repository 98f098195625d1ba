/* histogram.h: histograms by powers of two. Bucket 0 counts the value 0, bucket i the values from 2^(i-1) to 2^i - 1;
 * the last bucket also counts all larger values. */
#ifndef GPC_BASE_HISTOGRAM_H
#define GPC_BASE_HISTOGRAM_H

#include <stdint.h>

#define GPC_HISTOGRAM_BUCKETS 32u

typedef struct {
    uint64_t buckets[GPC_HISTOGRAM_BUCKETS];
} gpc_histogram_t;

static inline void
gpc_histogram_add(gpc_histogram_t *self, uint64_t value)
{
    uint32_t bucket = value ? 64u - (uint32_t) __builtin_clzll(value) : 0;
    self->buckets[bucket < GPC_HISTOGRAM_BUCKETS ? bucket : GPC_HISTOGRAM_BUCKETS - 1]++;
}

static inline void
gpc_histogram_join(gpc_histogram_t *self, const gpc_histogram_t *other)
{
    for (uint32_t i = 0; i < GPC_HISTOGRAM_BUCKETS; i++) {
        self->buckets[i] += other->buckets[i];
    }
}

#endif

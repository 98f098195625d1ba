/* random.h: numbers that are the same in every run of a test. */
#ifndef GPC_TESTS_RANDOM_H
#define GPC_TESTS_RANDOM_H

#include <stdint.h>

static inline uint64_t
random_below(uint64_t limit)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % limit;
}

static inline uint32_t
any_below(uint32_t limit)
{
    return (uint32_t) random_below(limit);
}

#endif

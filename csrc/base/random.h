/* random.h: numbers drawn from a seed. */
#ifndef GPC_BASE_RANDOM_H
#define GPC_BASE_RANDOM_H

#include "base/types.h"

/* The state in which a generator with this seed begins. */
static inline uint64_t
gpc_random_begin(uint64_t seed)
{
    return seed * UINT64_C(0xD1342543DE82EF95);
}

/* The number from 0 to `largest` of a state (the output function of SplitMix64). */
static inline uint64_t
gpc_random_to(uint64_t state, uint64_t largest)
{
    state = (state ^ state >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    state = (state ^ state >> 27) * UINT64_C(0x94D049BB133111EB);
    return (state ^ state >> 31) % (largest + 1);
}

#endif

/* divide.h: division by a machine parameter; a shift when the parameter is a power of two, as most are. */
#ifndef GPC_BASE_DIVIDE_H
#define GPC_BASE_DIVIDE_H

#include "base/types.h"

typedef struct {
    uint32_t divisor;
    uint8_t shift;
    bool is_power; /* of two */
} gpc_divider_t;

static inline gpc_divider_t
gpc_divider(uint32_t divisor) /* not 0 */
{
    return (gpc_divider_t) {divisor, (uint8_t) __builtin_ctz(divisor), (divisor & (divisor - 1)) == 0};
}

static inline uint64_t
gpc_quotient(gpc_divider_t by, uint64_t number)
{
    return by.is_power ? number >> by.shift : number / by.divisor;
}

static inline uint64_t
gpc_remainder(gpc_divider_t by, uint64_t number)
{
    return by.is_power ? number & (by.divisor - 1) : number % by.divisor;
}

#endif

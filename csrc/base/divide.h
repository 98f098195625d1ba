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

/* Pages of memory belong to the dies one after another. */
typedef struct {
    gpc_divider_t page, dies;
} gpc_pages_over_dies_t;

static inline gpc_pages_over_dies_t
gpc_pages_over_dies(uint32_t page_bytes, uint32_t dies)
{
    return (gpc_pages_over_dies_t) {gpc_divider(page_bytes), gpc_divider(dies)};
}

/* The address among those of its die. */
static inline gpc_address_t
gpc_within_die(const gpc_pages_over_dies_t *self, gpc_address_t address)
{
    return gpc_quotient(self->dies, gpc_quotient(self->page, address)) * self->page.divisor +
           gpc_remainder(self->page, address);
}

#endif

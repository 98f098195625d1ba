/* math.h: the special functions, bit-identical on every host and with every compiler. Independent of libm. */
#ifndef GPC_CORE_EXECUTE_MATH_H
#define GPC_CORE_EXECUTE_MATH_H

#include <string.h>

#include "base/types.h"

/* A float and its bits. */
static inline float
gpc_f32(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t
gpc_f32_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Within 2 ulp of the true value over all of f32 (in fact within 0.51: computed in double and rounded once). NaN, log
 * of a negative number, and sin and cos of an infinity give NaN. */
float gpc_math_exp(float x);
float gpc_math_log(float x);
float gpc_math_sin(float x);
float gpc_math_cos(float x);

#endif

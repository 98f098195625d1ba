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

/* A double and its bits. */
static inline double
gpc_f64(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t
gpc_f64_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* a * b + c, rounded once. */
float gpc_math_fma(float a, float b, float c);

/* Within 2 ulp of the true value over all of f32 (in fact within 0.51: computed in double and rounded once). NaN, log,
 * log2 and rsqrt of a negative number, and sin, cos and tan of an infinity give NaN. Zeros, infinities, NaN and
 * negative bases of pow as in C (IEEE 754): pow(x, 0) and pow(1, y) are 1 for any x and y. */
float gpc_math_exp(float x);
float gpc_math_log(float x);
float gpc_math_exp2(float x);
float gpc_math_log2(float x);
float gpc_math_sin(float x);
float gpc_math_cos(float x);
float gpc_math_tan(float x);
float gpc_math_tanh(float x);
float gpc_math_rsqrt(float x);
float gpc_math_pow(float x, float y);

#endif

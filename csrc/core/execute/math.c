/* math.c: f32 exp, log, sin and cos by polynomials in double precision; see math.h. */
#include "core/execute/math.h"

static const double LN2_HIGH = 0x1.62e42fee00000p-1; /* 33 bits: k times it is exact for every exponent k */
static const double LN2_LOW = 0x1.a39ef35793c76p-33;
static const double LOG2_E = 0x1.71547652b82fep+0;
static const double TWO_OVER_PI = 0x1.45f306dc9c883p-1;
static const double HALF_PI_HIGH = 0x1.921fb54400000p+0; /* 33 bits */
static const double HALF_PI_LOW = 0x1.0b4611a626331p-34;

static inline double
double_of_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline float
nan_f32(void)
{
    return gpc_f32(UINT32_C(0x7FC00000));
}

static inline float
infinity_f32(void)
{
    return gpc_f32(UINT32_C(0x7F800000));
}

/* Rounds to the nearest integer; |x| < 2^31. */
static inline int32_t
nearest(double x)
{
    return (int32_t) (x >= 0 ? x + 0.5 : x - 0.5);
}

float
gpc_math_exp(float x)
{
    if (x != x) {
        return nan_f32();
    }
    if (x > 89.0f) {
        return infinity_f32();
    }
    if (x < -104.0f) {
        return 0.0f;
    }
    int32_t k = nearest((double) x * LOG2_E);
    double r = ((double) x - k * LN2_HIGH) - k * LN2_LOW;
    /* Taylor series to r^11, |r| <= ln 2 / 2: the remainder is below 2^-50. */
    double p = 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    double result = p * double_of_bits((uint64_t) (1023 + k) << 52);
    return result > (double) 0x1.fffffep127f + 0x1p102 ? infinity_f32() : (float) result;
}

float
gpc_math_log(float x)
{
    if (x != x || x < 0.0f) {
        return nan_f32();
    }
    if (x == 0.0f) {
        return -infinity_f32();
    }
    if (x == infinity_f32()) {
        return x;
    }
    double wide = (double) x; /* f32 subnormals are normal doubles */
    uint64_t bits;
    memcpy(&bits, &wide, sizeof bits);
    int32_t k = (int32_t) (bits >> 52) - 1023;
    double m = double_of_bits((bits & UINT64_C(0x000FFFFFFFFFFFFF)) | UINT64_C(0x3FF0000000000000));
    if (m > 0x1.6a09e667f3bcdp+0) { /* sqrt 2 */
        m *= 0.5;
        k++;
    }
    /* log m = 2 artanh s, |s| <= 0.1716 */
    double s = (m - 1.0) / (m + 1.0);
    double z = s * s;
    double p = 1.0 / 21.0;
    p = p * z + 1.0 / 19.0;
    p = p * z + 1.0 / 17.0;
    p = p * z + 1.0 / 15.0;
    p = p * z + 1.0 / 13.0;
    p = p * z + 1.0 / 11.0;
    p = p * z + 1.0 / 9.0;
    p = p * z + 1.0 / 7.0;
    p = p * z + 1.0 / 5.0;
    p = p * z + 1.0 / 3.0;
    return (float) (k * LN2_HIGH + (2.0 * s + (2.0 * s * z * p + k * LN2_LOW)));
}

/* x = quadrant * pi/2 + result, for finite |x| >= 2^20: x times 192 bits of 2/pi, which leave 64 fraction bits for the
 * largest x. */
static double
reduce_large(float x, uint32_t *quadrant)
{
    /* 2/pi, least significant word first. */
    static const uint32_t words[6] = {0x3c439041, 0xdb629599, 0xf534ddc0, 0xfc2757d1, 0x4e441529, 0xa2f9836e};
    uint32_t bits = gpc_f32_bits(x);
    uint32_t mantissa = ((bits & 0x007FFFFFu) | 0x00800000u) << 8;
    uint32_t exponent = ((bits >> 23) & 0xFFu) - 127; /* 20..127 */
    uint32_t product[7];
    uint64_t carry = 0;
    for (uint32_t i = 0; i < 6; i++) {
        carry += (uint64_t) mantissa * words[i];
        product[i] = (uint32_t) carry;
        carry >>= 32;
    }
    product[6] = (uint32_t) carry;
    /* The binary point is at bit 223 - exponent; extract two bits above and 62 bits below it. */
    uint32_t low = 223 - exponent - 62;
    uint32_t word = low / 32, shift = low % 32;
    uint64_t window = (uint64_t) product[word] | (uint64_t) product[word + 1] << 32;
    if (shift != 0) {
        uint64_t above = word + 2 < 7 ? product[word + 2] : 0;
        window = window >> shift | above << (64 - shift);
    }
    *quadrant = (uint32_t) (window >> 62);
    uint64_t fraction = window << 2; /* of a quadrant, scaled by 2^64 */
    double r;
    if (fraction >> 63 != 0) {
        *quadrant += 1;
        r = -(double) (UINT64_C(0) - fraction) * 0x1p-64;
    } else {
        r = (double) fraction * 0x1p-64;
    }
    r *= HALF_PI_HIGH + HALF_PI_LOW;
    if (bits >> 31 != 0) {
        *quadrant = 0u - *quadrant;
        r = -r;
    }
    return r;
}

static double
reduce(float x, uint32_t *quadrant)
{
    if (x > -0x1p20f && x < 0x1p20f) {
        int32_t k = nearest((double) x * TWO_OVER_PI);
        *quadrant = (uint32_t) k;
        return ((double) x - k * HALF_PI_HIGH) - k * HALF_PI_LOW;
    }
    return reduce_large(x, quadrant);
}

/* Taylor series, |r| <= pi/4 plus rounding errors. */
static double
sine(double r)
{
    double z = r * r;
    double p = -1.0 / 1307674368000.0;
    p = p * z + 1.0 / 6227020800.0;
    p = p * z - 1.0 / 39916800.0;
    p = p * z + 1.0 / 362880.0;
    p = p * z - 1.0 / 5040.0;
    p = p * z + 1.0 / 120.0;
    p = p * z - 1.0 / 6.0;
    return r + r * z * p;
}

static double
cosine(double r)
{
    double z = r * r;
    double p = 1.0 / 20922789888000.0;
    p = p * z - 1.0 / 87178291200.0;
    p = p * z + 1.0 / 479001600.0;
    p = p * z - 1.0 / 3628800.0;
    p = p * z + 1.0 / 40320.0;
    p = p * z - 1.0 / 720.0;
    p = p * z + 1.0 / 24.0;
    p = p * z - 0.5;
    return 1.0 + z * p;
}

/* sin(x + shift * pi/2) */
static float
shifted_sine(float x, uint32_t shift)
{
    if (x != x || x - x != 0.0f) {
        return nan_f32();
    }
    if (x == 0.0f && shift == 0) {
        return x; /* keeps the sign of zero */
    }
    uint32_t quadrant;
    double r = reduce(x, &quadrant);
    quadrant += shift;
    double value = (quadrant & 1u) != 0 ? cosine(r) : sine(r);
    return (float) ((quadrant & 2u) != 0 ? -value : value);
}

float
gpc_math_sin(float x)
{
    return shifted_sine(x, 0);
}

float
gpc_math_cos(float x)
{
    return shifted_sine(x, 1);
}

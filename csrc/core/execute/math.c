/* math.c: f32 functions by polynomials in double precision; see math.h. */
#include "core/execute/math.h"

static const double LN2_HIGH = 0x1.62e42fee00000p-1; /* 33 bits: k times it is exact for every exponent k */
static const double LN2_LOW = 0x1.a39ef35793c76p-33;
static const double LOG2_E = 0x1.71547652b82fep+0;
static const double TWO_OVER_PI = 0x1.45f306dc9c883p-1;
static const double HALF_PI_HIGH = 0x1.921fb54400000p+0; /* 33 bits */
static const double HALF_PI_LOW = 0x1.0b4611a626331p-34;

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

/* e to the r times 2 to the k, |r| <= ln 2 / 2: the Taylor series to r^11, whose remainder is below 2^-50. */
static inline double
scaled_exponential(double r, int32_t k)
{
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
    return p * gpc_f64((uint64_t) (1023 + k) << 52);
}

/* e to the x, |x| <= 104. */
static double
exponential(double x)
{
    int32_t k = nearest(x * LOG2_E);
    return scaled_exponential((x - k * LN2_HIGH) - k * LN2_LOW, k);
}

/* e to the x, rounded to f32; x is no NaN. */
static float
rounded_exponential(double x)
{
    if (x > 89.0) {
        return infinity_f32();
    }
    if (x < -104.0) {
        return 0.0f;
    }
    double result = exponential(x);
    return result > (double) 0x1.fffffep127f + 0x1p102 ? infinity_f32() : (float) result;
}

float
gpc_math_exp(float x)
{
    return x != x ? nan_f32() : rounded_exponential((double) x);
}

float
gpc_math_exp2(float x)
{
    if (x != x) {
        return nan_f32();
    }
    if (x >= 128.0f) {
        return infinity_f32();
    }
    if (x < -150.0f) {
        return 0.0f;
    }
    int32_t k = nearest((double) x);
    return (float) scaled_exponential(((double) x - k) * (LN2_HIGH + LN2_LOW), k);
}

/* Of a finite x > 0. */
static double
logarithm(float x)
{
    double wide = (double) x; /* f32 subnormals are normal doubles */
    uint64_t bits = gpc_f64_bits(wide);
    int32_t k = (int32_t) (bits >> 52) - 1023;
    double m = gpc_f64((bits & UINT64_C(0x000FFFFFFFFFFFFF)) | UINT64_C(0x3FF0000000000000));
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
    return k * LN2_HIGH + (2.0 * s + (2.0 * s * z * p + k * LN2_LOW));
}

static float
scaled_logarithm(float x, double scale)
{
    if (x != x || x < 0.0f) {
        return nan_f32();
    }
    if (x == 0.0f) {
        return -infinity_f32();
    }
    return x == infinity_f32() ? x : (float) (logarithm(x) * scale);
}

float
gpc_math_log(float x)
{
    return scaled_logarithm(x, 1.0);
}

float
gpc_math_log2(float x)
{
    return scaled_logarithm(x, LOG2_E);
}

/* Whether a finite y is a whole number, and whether it is odd. */
static bool
is_whole(float y, bool *odd)
{
    float size = y < 0.0f ? -y : y;
    if (size >= 0x1p24f) { /* even */
        *odd = false;
        return true;
    }
    bool whole = (float) (uint32_t) size == size;
    *odd = whole && ((uint32_t) size & 1) != 0;
    return whole;
}

/* |x| to the power y, neither of them NaN. */
static float
power_of_size(float size, float y)
{
    float infinity = infinity_f32();
    if (y == infinity || y == -infinity) {
        return size == 1.0f ? 1.0f : (size > 1.0f) == (y > 0.0f) ? infinity : 0.0f;
    }
    if (size == 0.0f || size == infinity) {
        return (size == 0.0f) == (y < 0.0f) ? infinity : 0.0f;
    }
    return rounded_exponential((double) y * logarithm(size));
}

float
gpc_math_pow(float x, float y)
{
    bool odd = false;
    if (y == 0.0f || x == 1.0f) {
        return 1.0f;
    }
    if (x != x || y != y) {
        return nan_f32();
    }
    bool whole = y - y == 0.0f && is_whole(y, &odd);
    bool negative = gpc_f32_bits(x) >> 31 != 0;
    if (negative && x != 0.0f && x - x == 0.0f && !whole && y - y == 0.0f) {
        return nan_f32();
    }
    float result = power_of_size(negative ? -x : x, y);
    return negative && odd ? -result : result;
}

float
gpc_math_tanh(float x)
{
    float size = x < 0.0f ? -x : x;
    if (x != x) {
        return nan_f32();
    }
    if (size > 10.0f) {
        return x < 0.0f ? -1.0f : 1.0f;
    }
    if (size < 0x1p-12f) { /* the next term of the series is below x * 2^-50 */
        double z = (double) x * (double) x;
        return (float) ((double) x * (1.0 - z * (1.0 / 3.0 - z * (2.0 / 15.0))));
    }
    double e = exponential(2.0 * (double) x);
    return (float) ((e - 1.0) / (e + 1.0));
}

/* One step of Newton's method doubles the digits of the rounded square root's inverse. */
float
gpc_math_rsqrt(float x)
{
    if (x == 0.0f) {
        return 1.0f / x;
    }
    if (!(x > 0.0f)) {
        return nan_f32();
    }
    if (x == infinity_f32()) {
        return 0.0f;
    }
    double y = 1.0 / (double) __builtin_sqrtf(x);
    return (float) (y * (1.5 - 0.5 * (double) x * y * y));
}

/* The product is exact in double; the sum is rounded to odd there, so that its rounding to f32 is that of the exact
 * sum. */
float
gpc_math_fma(float a, float b, float c)
{
    double product = (double) a * (double) b, wide = (double) c, sum = product + wide;
    if (sum - sum != 0.0) {
        return (float) sum; /* an infinity or NaN */
    }
    double of_product = sum - wide, of_wide = sum - of_product;
    double error = (product - of_product) + (wide - of_wide); /* exact */
    uint64_t bits = gpc_f64_bits(sum);
    if (error != 0.0 && (bits & 1) == 0) {
        bits = (error > 0.0) == (sum > 0.0) ? bits + 1 : bits - 1;
    }
    double odd = gpc_f64(bits), most = (double) 0x1.fffffep127f + 0x1p103;
    return odd >= most ? infinity_f32() : odd <= -most ? -infinity_f32() : (float) odd;
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

float
gpc_math_tan(float x)
{
    if (x != x || x - x != 0.0f) {
        return nan_f32();
    }
    if (x == 0.0f) {
        return x; /* keeps the sign of zero */
    }
    uint32_t quadrant;
    double r = reduce(x, &quadrant);
    return (float) ((quadrant & 1u) != 0 ? -cosine(r) / sine(r) : sine(r) / cosine(r));
}

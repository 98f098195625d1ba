/* extended_words.h: the functions that the expressions of extended.def call, inlined into the loops over lanes. */
#ifndef GPC_CORE_EXECUTE_EXTENDED_WORDS_H
#define GPC_CORE_EXECUTE_EXTENDED_WORDS_H

#include "core/execute/float.h"
#include "core/execute/math.h"

/* ---- integers ---------------------------------------------------------------------------------------------------- */

__extension__ typedef unsigned __int128 extended_u128_t;
__extension__ typedef __int128 extended_s128_t;

static inline int32_t
s32(uint32_t a)
{
    return (int32_t) a;
}

static inline int64_t
s64(uint64_t a)
{
    return (int64_t) a;
}

static inline uint64_t
high_s64(uint64_t a, uint64_t b)
{
    return (uint64_t) ((extended_s128_t) s64(a) * s64(b) >> 64);
}

static inline uint64_t
high_u64(uint64_t a, uint64_t b)
{
    return (uint64_t) ((extended_u128_t) a * b >> 64);
}

static inline uint32_t
high_s32(uint32_t a, uint32_t b)
{
    return (uint32_t) ((uint64_t) ((int64_t) s32(a) * s32(b)) >> 32);
}

static inline uint32_t
high_u32(uint32_t a, uint32_t b)
{
    return (uint32_t) ((uint64_t) a * b >> 32);
}

static inline uint64_t
floor_divide(uint64_t a, uint64_t b)
{
    if (b == 0 || b == UINT64_MAX) {
        return b == 0 ? 0 : 0 - a;
    }
    int64_t quotient = s64(a) / s64(b), rest = s64(a) % s64(b);
    return (uint64_t) (quotient - (rest != 0 && (rest < 0) != (s64(b) < 0)));
}

static inline uint64_t
pair(uint32_t low, uint32_t high)
{
    return (uint64_t) high << 32 | low;
}

static inline uint32_t
clamp_s32(int64_t a)
{
    return (uint32_t) (a > INT32_MAX ? INT32_MAX : a < INT32_MIN ? INT32_MIN : a);
}

static inline uint32_t
smaller_of(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static inline uint32_t
leading_zeros(uint64_t a, uint32_t bits)
{
    return a != 0 ? (uint32_t) __builtin_clzll(a) - (64 - bits) : bits;
}

static inline uint32_t
highest_bit(uint64_t a)
{
    return a != 0 ? 63 - (uint32_t) __builtin_clzll(a) : UINT32_MAX;
}

static inline uint64_t
reverse(uint64_t a, uint32_t bits)
{
    uint64_t b = __builtin_bswap64(a);
    b = (b >> 4 & UINT64_C(0x0F0F0F0F0F0F0F0F)) | (b & UINT64_C(0x0F0F0F0F0F0F0F0F)) << 4;
    b = (b >> 2 & UINT64_C(0x3333333333333333)) | (b & UINT64_C(0x3333333333333333)) << 2;
    b = (b >> 1 & UINT64_C(0x5555555555555555)) | (b & UINT64_C(0x5555555555555555)) << 1;
    return b >> (64 - bits);
}

static inline uint64_t
field_mask(uint32_t length)
{
    return length > 63 ? UINT64_MAX : (UINT64_C(1) << length) - 1;
}

/* Of positions and lengths the lower byte counts, as in PTX. */
static inline uint64_t
field_u(uint64_t a, uint64_t at, uint64_t length, uint32_t bits)
{
    uint32_t from = at & 0xFFu;
    return from >= bits ? 0 : a >> from & field_mask(length & 0xFFu);
}

/* Bits above the operand's are the sign of the field: its highest bit, of those that the operand has. */
static inline uint64_t
field_s(uint64_t a, uint64_t at, uint64_t length, uint32_t bits)
{
    uint32_t from = at & 0xFFu, count = length & 0xFFu, last = from + count - 1;
    if (count == 0) {
        return 0;
    }
    last = last >= bits ? bits - 1 : last;
    uint64_t sign = 0 - (a >> last & 1), taken = from >= bits ? 0 : field_mask(last - from + 1);
    return (from >= bits ? 0 : a >> from & taken) | (sign & ~taken);
}

/* a at the position c & 0xFF of b, c >> 8 & 0xFF bits of it. */
static inline uint64_t
insert(uint64_t a, uint64_t b, uint64_t c, uint32_t bits)
{
    uint32_t at = c & 0xFFu;
    uint64_t mask = at >= bits ? 0 : field_mask(c >> 8 & 0xFFu) << at;
    return (b & ~mask) | ((at >= bits ? 0 : a << at) & mask);
}

static inline uint32_t
byte_of(uint64_t bytes, uint32_t which)
{
    return (uint32_t) (bytes >> 8 * (which & 7)) & 0xFFu;
}

static inline uint32_t
permute(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t result = 0;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t which = c >> 4 * i, byte = byte_of(pair(a, b), which);
        result |= ((which & 8) != 0 ? ((byte & 0x80u) != 0 ? 0xFFu : 0) : byte) << 8 * i;
    }
    return result;
}

/* Four bytes of eight; the forms of prmt with a mode read two bits of c. */
static inline uint32_t
choose(uint32_t a, uint32_t b, uint32_t i, uint32_t j, uint32_t k, uint32_t l)
{
    uint64_t bytes = pair(a, b);
    return byte_of(bytes, i) | byte_of(bytes, j) << 8 | byte_of(bytes, k) << 16 | byte_of(bytes, l) << 24;
}

static inline uint32_t
larger(uint32_t c, uint32_t least)
{
    return (c & 3) > least ? c & 3 : least;
}

static inline uint32_t
smaller(uint32_t c, uint32_t most)
{
    return (c & 3) < most ? c & 3 : most;
}

static inline uint32_t
dot(uint32_t a, uint32_t b, uint32_t c, bool signed_a, bool signed_b)
{
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t x = a >> 8 * i & 0xFFu, y = b >> 8 * i & 0xFFu;
        x = signed_a ? (x ^ 0x80u) - 0x80u : x;
        y = signed_b ? (y ^ 0x80u) - 0x80u : y;
        c += x * y;
    }
    return c;
}

/* ---- f32 and f64: to the nearest by the host, else by float.c ---------------------------------------------------- */

#define SIGN_F32 UINT32_C(0x80000000)
#define SIGN_F64 (UINT64_C(1) << 63)
#define SIGN_F16 UINT32_C(0x8000)
#define SIGN_BF16 UINT32_C(0x8000)
#define INFINITY_F32 UINT32_C(0x7F800000)
#define INFINITY_F64 UINT64_C(0x7FF0000000000000)
#define INFINITY_F16 UINT32_C(0x7C00)
#define INFINITY_BF16 UINT32_C(0x7F80)
#define LEAST_F32 UINT32_C(0x00800000)
#define LEAST_F64 UINT64_C(0x0010000000000000)
#define LEAST_F16 UINT32_C(0x0400)
#define LEAST_BF16 UINT32_C(0x0080)
#define ONE_F32 UINT32_C(0x3F800000)
#define ONE_F64 UINT64_C(0x3FF0000000000000)

/* size_F: without the sign. in_F: an operand's bits, without a subnormal of GPC_FLAG_FTZ. */
#define DEFINE_SIZES(f, F, type)                                                                   \
    static inline type size_##f(type a)                                                            \
    {                                                                                              \
        return a & (SIGN_##F - 1);                                                                 \
    }                                                                                              \
    static inline type in_##f(type a, uint32_t flags)                                              \
    {                                                                                              \
        return (flags & GPC_FLAG_FTZ) != 0 && size_##f(a) < LEAST_##F ? a & SIGN_##F : a;          \
    }
DEFINE_SIZES(f32, F32, uint32_t)
DEFINE_SIZES(f64, F64, uint64_t)
DEFINE_SIZES(f16, F16, uint32_t)
DEFINE_SIZES(bf16, BF16, uint32_t)

/* x_F: an operand's value. */
static inline float
x_f32(uint32_t a, uint32_t flags)
{
    return gpc_f32(in_f32(a, flags));
}

static inline double
x_f64(uint64_t a, uint32_t flags)
{
    return gpc_f64(in_f64(a, flags));
}

static inline float
x_f16(uint32_t a, uint32_t flags)
{
    return gpc_f32((uint32_t) gpc_float_convert(&gpc_format_f32, &gpc_format_f16, in_f16(a & 0xFFFFu, flags), 0));
}

static inline float
x_bf16(uint32_t a, uint32_t flags)
{
    return gpc_f32(in_bf16(a & 0xFFFFu, flags) << 16);
}

/* out_F: the bits of a result. */
static inline uint32_t
out_f32(float value, uint32_t flags)
{
    uint32_t bits = value != value ? UINT32_C(0x7FFFFFFF) : gpc_f32_bits(value);
    return (flags & (GPC_FLAG_FTZ | GPC_FLAG_SAT)) == 0 ? bits
                                                        : (uint32_t) gpc_float_finish(&gpc_format_f32, bits, flags);
}

static inline uint64_t
out_f64(double value, uint32_t flags)
{
    uint64_t bits = value != value ? UINT64_C(0x7FF8000000000000) : gpc_f64_bits(value);
    return (flags & (GPC_FLAG_FTZ | GPC_FLAG_SAT)) == 0 ? bits : gpc_float_finish(&gpc_format_f64, bits, flags);
}

static inline bool
to_nearest(uint32_t flags)
{
    return (flags & GPC_FLAG_ROUND_MASK) == GPC_ROUND_NEAREST;
}

#define DEFINE_BINARY(name, f, type, operator, function)                                                 \
    static inline type name##_##f(type a, type b, uint32_t flags)                                        \
    {                                                                                                    \
        return to_nearest(flags) ? out_##f(x_##f(a, flags) operator x_##f(b, flags), flags)              \
                                 : (type) gpc_float_##function(&gpc_format_##f, a, b, flags);            \
    }
#define DEFINE_ARITHMETIC(f, type)             \
    DEFINE_BINARY(add, f, type, +, add)        \
    DEFINE_BINARY(sub, f, type, -, subtract)   \
    DEFINE_BINARY(mul, f, type, *, multiply)   \
    DEFINE_BINARY(div, f, type, /, divide)
DEFINE_ARITHMETIC(f32, uint32_t)
DEFINE_ARITHMETIC(f64, uint64_t)

static inline uint32_t
sqrt_f32(uint32_t a, uint32_t flags)
{
    return to_nearest(flags) ? out_f32(__builtin_sqrtf(x_f32(a, flags)), flags)
                             : (uint32_t) gpc_float_sqrt(&gpc_format_f32, a, flags);
}

static inline uint64_t
sqrt_f64(uint64_t a, uint32_t flags)
{
    return to_nearest(flags) ? out_f64(__builtin_sqrt(x_f64(a, flags)), flags)
                             : gpc_float_sqrt(&gpc_format_f64, a, flags);
}

/* The host's own instruction, where it has one, gives the same bits. */
static inline __attribute__((always_inline)) uint32_t
fma_f32(uint32_t a, uint32_t b, uint32_t c, uint32_t flags, bool by_host)
{
    if (!to_nearest(flags)) {
        return (uint32_t) gpc_float_fma(&gpc_format_f32, a, b, c, flags);
    }
    float x = x_f32(a, flags), y = x_f32(b, flags), z = x_f32(c, flags);
    return out_f32(by_host ? __builtin_fmaf(x, y, z) : gpc_math_fma(x, y, z), flags);
}

static inline __attribute__((always_inline)) uint64_t
fma_f64(uint64_t a, uint64_t b, uint64_t c, uint32_t flags, bool by_host)
{
    if (by_host && to_nearest(flags)) {
        return out_f64(__builtin_fma(x_f64(a, flags), x_f64(b, flags), x_f64(c, flags)), flags);
    }
    return gpc_float_fma(&gpc_format_f64, a, b, c, flags);
}

/* ---- conversions ------------------------------------------------------------------------------------------------- */

/* `value`: of the bits a. Most conversions are towards zero, of numbers in range. */
static inline bool
towards_zero(uint32_t flags)
{
    return (flags & GPC_FLAG_ROUND_MASK) == GPC_ROUND_ZERO;
}

static inline uint32_t
to_s32(uint64_t a, double value, const gpc_float_format_t *format, uint32_t flags)
{
    return towards_zero(flags) && value > -0x1p31 && value < 0x1p31
               ? (uint32_t) (int32_t) value
               : (uint32_t) gpc_float_to_integer(format, a, 32, true, flags);
}

static inline uint32_t
to_u32(uint64_t a, double value, const gpc_float_format_t *format, uint32_t flags)
{
    return towards_zero(flags) && value > -1.0 && value < 0x1p32
               ? (uint32_t) (int64_t) value
               : (uint32_t) gpc_float_to_integer(format, a, 32, false, flags);
}

static inline uint64_t
to_s64(uint64_t a, double value, const gpc_float_format_t *format, uint32_t flags)
{
    return towards_zero(flags) && value > -0x1p63 && value < 0x1p63 ? (uint64_t) (int64_t) value
                                                                    : gpc_float_to_integer(format, a, 64, true, flags);
}

static inline uint64_t
to_u64(uint64_t a, double value, const gpc_float_format_t *format, uint32_t flags)
{
    return towards_zero(flags) && value > -1.0 && value < 0x1p63 ? (uint64_t) (int64_t) value
                                                                 : gpc_float_to_integer(format, a, 64, false, flags);
}

static inline uint32_t
f32_from(int64_t a, uint32_t flags)
{
    return to_nearest(flags) ? out_f32((float) a, flags)
                             : (uint32_t) gpc_float_from_integer(&gpc_format_f32, (uint64_t) a, true, flags);
}

static inline uint64_t
f64_from(int64_t a, uint32_t flags)
{
    return to_nearest(flags) ? out_f64((double) a, flags)
                             : gpc_float_from_integer(&gpc_format_f64, (uint64_t) a, true, flags);
}

#endif

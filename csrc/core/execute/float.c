/* float.c: see float.h. A finite number is a whole one times a power of two; the lowest bit of a long one may stand for
 * all that were shifted out below it (it is "jammed"), which rounding to fewer bits cannot distinguish. */
#include "core/execute/float.h"

__extension__ typedef unsigned __int128 wide_t;

const gpc_float_format_t gpc_format_f16 = {10, 5, 0x7FFF}, gpc_format_bf16 = {7, 8, 0x7FFF},
                         gpc_format_f32 = {23, 8, 0x7FFFFFFF}, gpc_format_f64 = {52, 11, UINT64_C(0x7FF8000000000000)};

#define LONG 126u /* bits of numbers that are aligned: their sum has room */

typedef struct {
    bool sign;
    int32_t exponent; /* of the lowest bit */
    wide_t bits;
} number_t;

/* ---- formats ----------------------------------------------------------------------------------------------------- */

static uint64_t
sign_of(const gpc_float_format_t *format)
{
    return UINT64_C(1) << (format->fraction + format->exponent);
}

static uint64_t
infinity_of(const gpc_float_format_t *format)
{
    return ((UINT64_C(1) << format->exponent) - 1) << format->fraction;
}

static uint64_t
size_of(const gpc_float_format_t *format, uint64_t a)
{
    return a & (sign_of(format) - 1);
}

static bool
is_nan(const gpc_float_format_t *format, uint64_t a)
{
    return size_of(format, a) > infinity_of(format);
}

static bool
is_infinite(const gpc_float_format_t *format, uint64_t a)
{
    return size_of(format, a) == infinity_of(format);
}

static bool
is_negative(const gpc_float_format_t *format, uint64_t a)
{
    return (a & sign_of(format)) != 0;
}

/* The exponent of the lowest bit of subnormal numbers. */
static int32_t
least_exponent(const gpc_float_format_t *format)
{
    return 2 - (1 << (format->exponent - 1)) - format->fraction;
}

static uint64_t
flush(const gpc_float_format_t *format, uint64_t a, uint32_t flags)
{
    bool subnormal = size_of(format, a) >> format->fraction == 0;
    return (flags & GPC_FLAG_FTZ) != 0 && subnormal ? a & sign_of(format) : a;
}

uint64_t
gpc_float_finish(const gpc_float_format_t *format, uint64_t result, uint32_t flags)
{
    uint64_t one = ((UINT64_C(1) << (format->exponent - 1)) - 1) << format->fraction;
    result = flush(format, result, flags);
    if ((flags & GPC_FLAG_SAT) == 0) {
        return result;
    }
    if (is_nan(format, result) || is_negative(format, result)) {
        return 0;
    }
    return result > one ? one : result;
}

/* Of a finite number. */
static number_t
unpack(const gpc_float_format_t *format, uint64_t a)
{
    uint64_t exponent = size_of(format, a) >> format->fraction, hidden = UINT64_C(1) << format->fraction;
    number_t number = {is_negative(format, a), least_exponent(format), a & (hidden - 1)};
    if (exponent != 0) {
        number.bits |= hidden;
        number.exponent += (int32_t) exponent - 1;
    }
    return number;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static uint32_t
length_of(wide_t bits)
{
    uint64_t high = (uint64_t) (bits >> 64), low = (uint64_t) bits;
    if (high != 0) {
        return 128 - (uint32_t) __builtin_clzll(high);
    }
    return low != 0 ? 64 - (uint32_t) __builtin_clzll(low) : 0;
}

static wide_t
shift_right_jam(wide_t bits, uint32_t count)
{
    if (count == 0) {
        return bits;
    }
    if (count > 127) {
        return bits != 0;
    }
    return bits >> count | ((bits & (((wide_t) 1 << count) - 1)) != 0);
}

/* As long as `length`, which is not below its own; bits are not 0. */
static number_t
lengthen(number_t number, uint32_t length)
{
    uint32_t count = length - length_of(number.bits);
    number.bits <<= count;
    number.exponent -= (int32_t) count;
    return number;
}

/* The number's multiple of 2^lowest, rounded; lowest is at least its exponent. */
static uint64_t
round_at(const number_t *number, int32_t lowest, uint32_t flags)
{
    uint32_t count = (uint32_t) (lowest - number->exponent);
    if (count == 0) {
        return (uint64_t) number->bits;
    }
    wide_t whole = count < 128 ? number->bits >> count : 0, rest = number->bits;
    if (count < 128) {
        rest &= ((wide_t) 1 << count) - 1;
    }
    bool up = false;
    switch (flags & GPC_FLAG_ROUND_MASK) {
        case GPC_ROUND_NEAREST:
            if (count <= 128) {
                wide_t half = (wide_t) 1 << (count - 1);
                up = rest > half || (rest == half && (whole & 1) != 0);
            }
            break;
        case GPC_ROUND_DOWN:
            up = number->sign && rest != 0;
            break;
        case GPC_ROUND_UP:
            up = !number->sign && rest != 0;
            break;
        default:
            break;
    }
    return (uint64_t) whole + up;
}

static uint64_t
pack(const gpc_float_format_t *format, number_t number, uint32_t flags)
{
    uint64_t sign = number.sign ? sign_of(format) : 0, infinity = infinity_of(format), size = infinity;
    if (number.bits == 0) {
        return sign;
    }
    int32_t least = least_exponent(format);
    int32_t lowest = number.exponent + (int32_t) length_of(number.bits) - 1 - format->fraction;
    lowest = lowest < least ? least : lowest;
    if (lowest < number.exponent) {
        number.bits <<= number.exponent - lowest;
        number.exponent = lowest;
    }
    if (lowest - least < 1 << format->exponent) { /* a hidden bit adds 1 to the exponent's field */
        size = ((uint64_t) (lowest - least) << format->fraction) + round_at(&number, lowest, flags);
    }
    if (size >= infinity) {
        uint32_t mode = flags & GPC_FLAG_ROUND_MASK;
        bool outwards = mode == GPC_ROUND_NEAREST || mode == (number.sign ? GPC_ROUND_DOWN : GPC_ROUND_UP);
        size = outwards ? infinity : infinity - 1;
    }
    return sign | size;
}

static number_t
sum(number_t x, number_t y, uint32_t flags)
{
    bool down = (flags & GPC_FLAG_ROUND_MASK) == GPC_ROUND_DOWN;
    if (x.bits == 0 && y.bits == 0) {
        x.sign = x.sign == y.sign ? x.sign : down;
        return x;
    }
    if (x.bits == 0 || y.bits == 0) {
        return x.bits == 0 ? y : x;
    }
    x = lengthen(x, LONG);
    y = lengthen(y, LONG);
    if (x.exponent < y.exponent || (x.exponent == y.exponent && x.bits < y.bits)) {
        number_t smaller = x;
        x = y;
        y = smaller;
    }
    y.bits = shift_right_jam(y.bits, (uint32_t) (x.exponent - y.exponent));
    if (x.sign == y.sign) {
        x.bits += y.bits;
    } else {
        x.bits -= y.bits;
        x.sign = x.bits == 0 ? down : x.sign;
    }
    return x;
}

static number_t
product(number_t x, number_t y)
{
    return (number_t){x.sign != y.sign, x.exponent + y.exponent, x.bits * y.bits};
}

/* The whole root of at most 126 bits. */
static uint64_t
root_of(wide_t bits)
{
    uint64_t root = (uint64_t) (__builtin_sqrt((double) (uint64_t) (bits >> 64)) * 0x1p32);
    root = root == 0 ? 1 : root;
    root = (uint64_t) ((root + bits / root) / 2);
    while ((wide_t) root * root > bits) {
        root--;
    }
    while ((wide_t) (root + 1) * (root + 1) <= bits) {
        root++;
    }
    return root;
}

/* ---- operations -------------------------------------------------------------------------------------------------- */

uint64_t
gpc_float_add(const gpc_float_format_t *format, uint64_t a, uint64_t b, uint32_t flags)
{
    a = flush(format, a, flags);
    b = flush(format, b, flags);
    if (is_nan(format, a) || is_nan(format, b) || (is_infinite(format, a) && is_infinite(format, b) && a != b)) {
        return gpc_float_finish(format, format->nan, flags);
    }
    if (is_infinite(format, a) || is_infinite(format, b)) {
        return gpc_float_finish(format, is_infinite(format, a) ? a : b, flags);
    }
    return gpc_float_finish(format, pack(format, sum(unpack(format, a), unpack(format, b), flags), flags), flags);
}

uint64_t
gpc_float_subtract(const gpc_float_format_t *format, uint64_t a, uint64_t b, uint32_t flags)
{
    return gpc_float_add(format, a, b ^ sign_of(format), flags);
}

/* Of operands with an infinity or NaN among them. */
static uint64_t
special_product(const gpc_float_format_t *format, uint64_t a, uint64_t b)
{
    if (is_nan(format, a) || is_nan(format, b) || size_of(format, a) == 0 || size_of(format, b) == 0) {
        return format->nan;
    }
    return infinity_of(format) | ((a ^ b) & sign_of(format));
}

static bool
is_special(const gpc_float_format_t *format, uint64_t a)
{
    return size_of(format, a) >= infinity_of(format);
}

uint64_t
gpc_float_multiply(const gpc_float_format_t *format, uint64_t a, uint64_t b, uint32_t flags)
{
    a = flush(format, a, flags);
    b = flush(format, b, flags);
    uint64_t result = is_special(format, a) || is_special(format, b)
                          ? special_product(format, a, b)
                          : pack(format, product(unpack(format, a), unpack(format, b)), flags);
    return gpc_float_finish(format, result, flags);
}

uint64_t
gpc_float_fma(const gpc_float_format_t *format, uint64_t a, uint64_t b, uint64_t c, uint32_t flags)
{
    a = flush(format, a, flags);
    b = flush(format, b, flags);
    c = flush(format, c, flags);
    uint64_t result;
    if (is_special(format, a) || is_special(format, b)) {
        result = special_product(format, a, b);
        if (is_nan(format, c) || (is_infinite(format, c) && c != result)) {
            result = format->nan;
        }
    } else if (is_special(format, c)) {
        result = is_nan(format, c) ? format->nan : c;
    } else {
        result = pack(format, sum(product(unpack(format, a), unpack(format, b)), unpack(format, c), flags), flags);
    }
    return gpc_float_finish(format, result, flags);
}

uint64_t
gpc_float_divide(const gpc_float_format_t *format, uint64_t a, uint64_t b, uint32_t flags)
{
    a = flush(format, a, flags);
    b = flush(format, b, flags);
    uint64_t sign = (a ^ b) & sign_of(format), result;
    bool zero_a = size_of(format, a) == 0, zero_b = size_of(format, b) == 0;
    if (is_nan(format, a) || is_nan(format, b) || (zero_a && zero_b) ||
        (is_infinite(format, a) && is_infinite(format, b))) {
        result = format->nan;
    } else if (is_infinite(format, a) || zero_b) {
        result = sign | infinity_of(format);
    } else if (is_infinite(format, b) || zero_a) {
        result = sign;
    } else {
        number_t x = lengthen(unpack(format, a), LONG), y = lengthen(unpack(format, b), 63);
        wide_t quotient = x.bits / y.bits;
        bool rest = quotient * y.bits != x.bits;
        number_t number = {sign != 0, x.exponent - y.exponent - 1, quotient << 1 | rest};
        result = pack(format, number, flags);
    }
    return gpc_float_finish(format, result, flags);
}

uint64_t
gpc_float_sqrt(const gpc_float_format_t *format, uint64_t a, uint32_t flags)
{
    a = flush(format, a, flags);
    uint64_t result = a; /* of a zero or infinity */
    if (is_nan(format, a) || (is_negative(format, a) && size_of(format, a) != 0)) {
        result = format->nan;
    } else if (!is_special(format, a) && size_of(format, a) != 0) {
        number_t x = lengthen(unpack(format, a), LONG);
        if ((x.exponent & 1) != 0) {
            x.bits >>= 1; /* a zero */
            x.exponent++;
        }
        uint64_t root = root_of(x.bits);
        bool rest = (wide_t) root * root != x.bits;
        number_t number = {false, x.exponent / 2 - 1, (wide_t) root << 1 | rest};
        result = pack(format, number, flags);
    }
    return gpc_float_finish(format, result, flags);
}

/* Whether x * y^2 exceeds 1; x of at most 53 bits, y of at most 54. */
static bool
exceeds_one(const number_t *x, const number_t *y)
{
    wide_t square = y->bits * y->bits, low = (uint64_t) square * x->bits, high = (square >> 64) * x->bits + (low >> 64);
    int32_t exponent = x->exponent + 2 * y->exponent; /* of the lowest of three times 64 bits, high and the lower low */
    uint32_t length = high != 0 ? 64 + length_of(high) : length_of((uint64_t) low);
    int32_t top = exponent + (int32_t) length - 1;
    if (top != 0) {
        return top > 0;
    }
    bool power = high != 0 ? (high & (high - 1)) == 0 && (uint64_t) low == 0 : (low & (low - 1)) == 0;
    return !power;
}

uint64_t
gpc_float_rsqrt(uint64_t a, uint32_t flags)
{
    const gpc_float_format_t *format = &gpc_format_f64;
    uint64_t result;
    if (is_nan(format, a) || (is_negative(format, a) && size_of(format, a) != 0)) {
        result = format->nan;
    } else if (size_of(format, a) == 0) {
        result = a | infinity_of(format);
    } else if (is_infinite(format, a)) {
        result = 0;
    } else {
        /* Of the numbers next to the quotient of rounded numbers the nearest: halfway is never exact. */
        const uint64_t one = UINT64_C(0x3FF0000000000000);
        result = gpc_float_divide(format, one, gpc_float_sqrt(format, a, 0), 0) - 2;
        for (number_t x = unpack(format, a);; result++) {
            number_t halfway = unpack(format, result);
            halfway.bits = 2 * halfway.bits + 1;
            halfway.exponent--;
            if (exceeds_one(&x, &halfway)) {
                break;
            }
        }
    }
    return gpc_float_finish(format, result, flags);
}

/* a - b * trunc(a / b), exactly, of finite numbers; b is not 0. */
static uint64_t
truncated_modulo(const gpc_float_format_t *format, uint64_t a, uint64_t b)
{
    number_t x = unpack(format, a), y = unpack(format, b);
    if (size_of(format, a) < size_of(format, b)) {
        return a;
    }
    uint64_t divisor = (uint64_t) y.bits, rest = (uint64_t) x.bits % divisor;
    for (int32_t left = x.exponent - y.exponent; left > 0 && rest != 0;) {
        int32_t step = left < 64 ? left : 64;
        rest = (uint64_t) (((wide_t) rest << step) % divisor);
        left -= step;
    }
    return pack(format, (number_t){x.sign, y.exponent, rest}, 0);
}

static bool
cannot_divide(const gpc_float_format_t *format, uint64_t a, uint64_t b)
{
    return is_special(format, a) || is_nan(format, b) || size_of(format, b) == 0;
}

uint64_t
gpc_float_floor_modulo(const gpc_float_format_t *format, uint64_t a, uint64_t b)
{
    if (cannot_divide(format, a, b)) {
        return format->nan;
    }
    uint64_t rest = is_infinite(format, b) ? a : truncated_modulo(format, a, b), sign = b & sign_of(format);
    if (size_of(format, rest) == 0) {
        return sign;
    }
    return (rest & sign_of(format)) != sign ? gpc_float_add(format, rest, b, 0) : rest;
}

uint64_t
gpc_float_floor_divide(const gpc_float_format_t *format, uint64_t a, uint64_t b)
{
    const uint64_t unit = UINT64_C(1) << format->fraction, one = ((UINT64_C(1) << (format->exponent - 1)) - 1) * unit,
                   half = one - unit;
    if (size_of(format, b) == 0) {
        return gpc_float_divide(format, a, b, 0);
    }
    if (cannot_divide(format, a, b)) {
        return format->nan;
    }
    uint64_t rest = is_infinite(format, b) ? a : truncated_modulo(format, a, b);
    uint64_t quotient = gpc_float_divide(format, gpc_float_subtract(format, a, rest, 0), b, 0);
    if (size_of(format, rest) != 0 && is_negative(format, rest) != is_negative(format, b)) {
        quotient = gpc_float_subtract(format, quotient, one, 0);
    }
    if (size_of(format, quotient) == 0) {
        return (a ^ b) & sign_of(format);
    }
    uint64_t whole = gpc_float_round(format, quotient, GPC_ROUND_DOWN);
    uint64_t above = gpc_float_subtract(format, quotient, whole, 0);
    return !is_negative(format, above) && above > half ? gpc_float_add(format, whole, one, 0) : whole;
}

uint64_t
gpc_float_extreme(const gpc_float_format_t *format, uint64_t a, uint64_t b, bool smaller, uint32_t flags)
{
    a = flush(format, a, flags);
    b = flush(format, b, flags);
    uint64_t result;
    if (is_nan(format, a) || is_nan(format, b)) {
        result = !is_nan(format, a) ? a : is_nan(format, b) ? format->nan : b;
    } else if (is_negative(format, a) != is_negative(format, b)) {
        result = is_negative(format, a) == smaller ? a : b;
    } else {
        result = (a < b) == (smaller != is_negative(format, a)) ? a : b;
    }
    return gpc_float_finish(format, result, flags);
}

uint64_t
gpc_float_round(const gpc_float_format_t *format, uint64_t a, uint32_t flags)
{
    a = flush(format, a, flags);
    uint64_t result = is_nan(format, a) ? format->nan : a;
    number_t x = unpack(format, is_special(format, a) ? 0 : a);
    if (x.exponent < 0 && x.bits != 0) {
        number_t whole = {x.sign, 0, round_at(&x, 0, flags)};
        result = pack(format, whole, flags);
    }
    return gpc_float_finish(format, result, flags);
}

/* ---- conversions ------------------------------------------------------------------------------------------------- */

uint64_t
gpc_float_to_integer(const gpc_float_format_t *format, uint64_t a, uint32_t bits, bool is_signed, uint32_t flags)
{
    a = format == &gpc_format_f32 ? flush(format, a, flags) : a;
    uint64_t half = UINT64_C(1) << (bits - 1), all = half | (half - 1), size = UINT64_MAX;
    bool negative = is_negative(format, a), exceeds = is_infinite(format, a);
    if (is_nan(format, a)) {
        return format == &gpc_format_f64 || bits == 64 ? half : 0;
    }
    if (!exceeds) {
        number_t x = unpack(format, a);
        exceeds = x.bits != 0 && x.exponent + (int32_t) length_of(x.bits) > 64;
        if (!exceeds && x.exponent > 0) {
            size = (uint64_t) (x.bits << (x.bits != 0 ? x.exponent : 0));
        } else if (!exceeds) {
            size = round_at(&x, 0, flags);
        }
    }
    uint64_t most = !is_signed ? (negative ? 0 : all) : negative ? half : half - 1;
    size = exceeds || size > most ? most : size;
    return (negative ? 0 - size : size) & all;
}

uint64_t
gpc_float_from_integer(const gpc_float_format_t *format, uint64_t integer, bool is_signed, uint32_t flags)
{
    bool negative = is_signed && integer >> 63 != 0;
    number_t number = {negative, 0, negative ? 0 - integer : integer};
    return gpc_float_finish(format, pack(format, number, flags), flags);
}

uint64_t
gpc_float_convert(const gpc_float_format_t *to, const gpc_float_format_t *from, uint64_t a, uint32_t flags)
{
    uint64_t result;
    a = from == &gpc_format_f32 ? flush(from, a, flags) : a;
    if (is_special(from, a)) {
        result = is_nan(from, a) ? to->nan : infinity_of(to) | (is_negative(from, a) ? sign_of(to) : 0);
    } else {
        result = pack(to, unpack(from, a), flags);
    }
    return gpc_float_finish(to, result, to == &gpc_format_f32 ? flags : flags & ~GPC_FLAG_FTZ);
}

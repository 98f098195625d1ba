/* alu.c: every arithmetic operation is one expression a type; the functions for one lane and for a warp, and the table
 * of them, are generated from it. */
#include "core/execute/alu.h"

#include "core/execute/float.h"
#include "core/execute/math.h"

#define CANONICAL_NAN UINT32_C(0x7FC00000)
#define SIGN UINT32_C(0x80000000)

/* The word of an arithmetic result, with the canonical NaN. */
static inline uint32_t
word(float value)
{
    return value != value ? CANONICAL_NAN : gpc_f32_bits(value);
}

static inline int32_t
i32(uint32_t bits)
{
    return (int32_t) bits;
}

static inline bool
is_nan(uint32_t bits)
{
    return (bits & ~SIGN) > UINT32_C(0x7F800000);
}

static inline uint32_t
floor_divide(uint32_t a, uint32_t b)
{
    if (b == 0) {
        return 0;
    }
    if (b == UINT32_MAX) {
        return 0u - a; /* INT_MIN // -1 wraps to INT_MIN */
    }
    int32_t quotient = i32(a) / i32(b), rest = i32(a) % i32(b);
    return (uint32_t) (rest != 0 && (rest < 0) != (i32(b) < 0) ? quotient - 1 : quotient);
}

static inline uint32_t
floor_modulo(uint32_t a, uint32_t b)
{
    if (b == 0 || b == UINT32_MAX) {
        return 0;
    }
    int32_t rest = i32(a) % i32(b);
    return (uint32_t) (rest != 0 && (rest < 0) != (i32(b) < 0) ? rest + i32(b) : rest);
}

static inline float
floor_f32(float x)
{
    if (!(x > -8388608.0f && x < 8388608.0f)) {
        return x; /* integers, infinities, NaN */
    }
    float whole = (float) (int32_t) x;
    whole = whole > x ? whole - 1.0f : whole;
    return gpc_f32(gpc_f32_bits(whole) |
                   (gpc_f32_bits(x) & SIGN)); /* -0.0 stays -0.0; negative results have the sign already */
}

static inline float
truncate_f32(float x)
{
    return gpc_f32(gpc_f32_bits(floor_f32(gpc_f32(gpc_f32_bits(x) & ~SIGN))) | (gpc_f32_bits(x) & SIGN));
}

/* Halves to even: a sum with 2^23 has no digits behind the point. */
static inline float
round_f32(float x)
{
    float size = gpc_f32(gpc_f32_bits(x) & ~SIGN);
    if (!(size < 8388608.0f)) {
        return x;
    }
    return gpc_f32(gpc_f32_bits((size + 8388608.0f) - 8388608.0f) | (gpc_f32_bits(x) & SIGN));
}

/* The result of an operation of float.c. */
static inline uint32_t
word_of(uint64_t bits)
{
    return word(gpc_f32((uint32_t) bits));
}

static inline uint32_t
to_i32(float x)
{
    if (!(x >= -2147483648.0f)) {
        return x != x ? 0 : SIGN;
    }
    return x >= 2147483648.0f ? (uint32_t) INT32_MAX : (uint32_t) (int32_t) x;
}

static inline uint32_t
to_u32(float x)
{
    if (!(x > 0.0f)) {
        return 0;
    }
    return x >= 4294967296.0f ? UINT32_MAX : (uint32_t) x;
}

static inline uint32_t
smaller_f32(uint32_t a, uint32_t b)
{
    if (is_nan(a)) {
        return b;
    }
    return is_nan(b) || gpc_f32(a) < gpc_f32(b) ? a : b;
}

static inline uint32_t
larger_f32(uint32_t a, uint32_t b)
{
    if (is_nan(a)) {
        return b;
    }
    return is_nan(b) || gpc_f32(a) > gpc_f32(b) ? a : b;
}

static inline uint32_t
shift_right_arithmetic(uint32_t a, uint32_t b)
{
    return (uint32_t) (i32(a) >> (b > 31 ? 31 : b)); /* GCC and clang define it: the sign is repeated */
}

/* floor_divide() and floor_modulo() without branches and without a division of words, of which hosts have no vectors. A
 * quotient of doubles is exact enough: it differs from a whole number by 2^-31 of its size at least, or not at all. */
typedef struct {
    uint32_t special; /* all bits: the divisor is 0 or -1, and is replaced by 1 */
    uint32_t quotient, rest;
    uint32_t below; /* 1: the quotient's floor is one less */
} division_t;

static inline division_t
divide_truncated(uint32_t a, uint32_t b)
{
    uint32_t special = 0u - (uint32_t) ((b + 1) >> 1 == 0), by = (b & ~special) | (special & 1);
    uint32_t quotient = (uint32_t) (int32_t) ((double) i32(a) / (double) i32(by)), rest = a - quotient * by;
    return (division_t){special, quotient, rest, (uint32_t) (rest != 0) & (rest ^ by) >> 31};
}

static inline uint32_t
vector_floor_divide(uint32_t a, uint32_t b)
{
    division_t by = divide_truncated(a, b);
    return ((by.quotient - by.below) & ~by.special) | ((0u - a) & b & by.special);
}

static inline uint32_t
vector_floor_modulo(uint32_t a, uint32_t b)
{
    division_t by = divide_truncated(a, b);
    return by.rest + (b & (0u - by.below));
}

/* X(operation, letters of its types, expression of the words a, b, c) */
#define OPERATIONS(X) \
    X(MOVE, IUF, a) \
    X(SELECT, IUF, a != 0 ? b : c) \
    X(ADD, IU, a + b) \
    X(ADD, F, word(gpc_f32(a) + gpc_f32(b))) \
    X(SUB, IU, a - b) \
    X(SUB, F, word(gpc_f32(a) - gpc_f32(b))) \
    X(MUL, IU, a * b) \
    X(MUL, F, word(gpc_f32(a) * gpc_f32(b))) \
    X(MULHI, I, (uint32_t) ((uint64_t) ((int64_t) i32(a) * i32(b)) >> 32)) \
    X(MULHI, U, (uint32_t) ((uint64_t) a * b >> 32)) \
    X(FMA, F, word(gpc_math_fma(gpc_f32(a), gpc_f32(b), gpc_f32(c)))) \
    X(DIV, U, b == 0 ? 0 : a / b) \
    X(DIV, F, word(gpc_f32(a) / gpc_f32(b))) \
    X(FLOORDIV, F, word_of(gpc_float_floor_divide(&gpc_format_f32, a, b))) \
    X(MOD, U, b == 0 ? 0 : a % b) \
    X(MOD, F, word_of(gpc_float_floor_modulo(&gpc_format_f32, a, b))) \
    X(NEG, IU, 0u - a) \
    X(NEG, F, a ^ SIGN) \
    X(ABS, I, (a & SIGN) != 0 ? 0u - a : a) \
    X(ABS, U, a) \
    X(ABS, F, a & ~SIGN) \
    X(MIN, I, i32(a) < i32(b) ? a : b) \
    X(MIN, U, a < b ? a : b) \
    X(MIN, F, smaller_f32(a, b)) \
    X(MAX, I, i32(a) > i32(b) ? a : b) \
    X(MAX, U, a > b ? a : b) \
    X(MAX, F, larger_f32(a, b)) \
    X(AND, IU, a & b) \
    X(OR, IU, a | b) \
    X(XOR, IU, a ^ b) \
    X(NOT, IU, ~a) \
    X(SQRT, F, (a & ~SIGN) != 0 && (a & SIGN) != 0 ? CANONICAL_NAN : word(__builtin_sqrtf(gpc_f32(a)))) \
    X(RSQRT, F, word(gpc_math_rsqrt(gpc_f32(a)))) \
    X(EXP, F, word(gpc_math_exp(gpc_f32(a)))) \
    X(LOG, F, word(gpc_math_log(gpc_f32(a)))) \
    X(SIN, F, word(gpc_math_sin(gpc_f32(a)))) \
    X(COS, F, word(gpc_math_cos(gpc_f32(a)))) \
    X(TAN, F, word(gpc_math_tan(gpc_f32(a)))) \
    X(TANH, F, word(gpc_math_tanh(gpc_f32(a)))) \
    X(POW, F, word(gpc_math_pow(gpc_f32(a), gpc_f32(b)))) \
    X(FLOOR, F, word(floor_f32(gpc_f32(a)))) \
    X(CEIL, F, word(-floor_f32(-gpc_f32(a)))) \
    X(ROUND, F, word(round_f32(gpc_f32(a)))) \
    X(TRUNC, F, word(truncate_f32(gpc_f32(a)))) \
    X(EQ, IU, a == b) \
    X(EQ, F, gpc_f32(a) == gpc_f32(b)) \
    X(NE, IU, a != b) \
    X(NE, F, gpc_f32(a) != gpc_f32(b)) \
    X(LT, I, i32(a) < i32(b)) \
    X(LT, U, a < b) \
    X(LT, F, gpc_f32(a) < gpc_f32(b)) \
    X(LE, I, i32(a) <= i32(b)) \
    X(LE, U, a <= b) \
    X(LE, F, gpc_f32(a) <= gpc_f32(b)) \
    X(GT, I, i32(a) > i32(b)) \
    X(GT, U, a > b) \
    X(GT, F, gpc_f32(a) > gpc_f32(b)) \
    X(GE, I, i32(a) >= i32(b)) \
    X(GE, U, a >= b) \
    X(GE, F, gpc_f32(a) >= gpc_f32(b))

/* X(from, to, expression) */
#define CONVERSIONS(X) \
    X(I32, F32, gpc_f32_bits((float) i32(a))) \
    X(U32, F32, gpc_f32_bits((float) a)) \
    X(F32, I32, to_i32(gpc_f32(a))) \
    X(F32, U32, to_u32(gpc_f32(a)))

/* X(operation, type, expression, the same as the compiler vectorises it) */
#define DIVISIONS(X) \
    X(DIV, I, floor_divide(a, b), vector_floor_divide(a[l], b[l])) \
    X(MOD, I, floor_modulo(a, b), vector_floor_modulo(a[l], b[l]))

/* X(operation, types, expression): hosts shift the words of a vector by one number only, which most kernels do. */
#define SHIFTS(X) \
    X(SHL, IU, b > 31 ? 0 : a << b) \
    X(SHR, U, b > 31 ? 0 : a >> b) \
    X(SHR, I, shift_right_arithmetic(a, b))

#define DEFINE_ONE(name, expression)                                      \
    static inline uint32_t one_##name(uint32_t a, uint32_t b, uint32_t c) \
    {                                                                     \
        (void) a;                                                         \
        (void) b;                                                         \
        (void) c;                                                         \
        return expression;                                                \
    }
#define DEFINE_LANES(prefix, name, ...)                                                                               \
    static void prefix##_##name(uint32_t *restrict result, const uint32_t *a, const uint32_t *b, const uint32_t *c) \
    {                                                                                                               \
        (void) c;                                                                                                   \
        __VA_ARGS__                                                                                                 \
    }
/* The loops over lanes exist twice: for all hosts, and for those with vectors of eight words. The second ones compute
 * the same: no product is fused with a sum. */
#if defined(__x86_64__) && defined(__GNUC__)
#define HAS_WIDE 1
#define DEFINE_ALL(name, ...)            \
    DEFINE_LANES(all, name, __VA_ARGS__) \
    __attribute__((target("avx2"))) DEFINE_LANES(wide, name, __VA_ARGS__)
#define BOTH(name) {one_##name, all_##name, wide_##name}
#else
#define HAS_WIDE 0
#define DEFINE_ALL(name, ...) DEFINE_LANES(all, name, __VA_ARGS__)
#define BOTH(name) {one_##name, all_##name, all_##name}
#endif
#define EVERY(expression)                              \
    for (uint32_t l = 0; l < GPC_ALU_LANES; l++) {     \
        result[l] = expression;                        \
    }
#define DEFINE_EVERY(name, expression) \
    DEFINE_ONE(name, expression) DEFINE_ALL(name, EVERY(one_##name(a[l], b[l], c[l])))
#define DEFINE(op, types, expression) DEFINE_EVERY(op##_##types, expression)
#define DEFINE_DIVISION(op, types, expression, in_vectors) \
    DEFINE_ONE(op##_##types, expression) DEFINE_ALL(op##_##types, EVERY(in_vectors))
#define DEFINE_SHIFT_OF(name, expression)                                    \
    DEFINE_ONE(name, expression)                                             \
    DEFINE_ALL(name, uint32_t by = b[0], differ = 0;                         \
               for (uint32_t l = 0; l < GPC_ALU_LANES; l++) {                \
                   differ |= b[l] ^ by;                                      \
               }                                                             \
               if (differ != 0) {                                            \
                   EVERY(one_##name(a[l], b[l], 0))                          \
                   return;                                                   \
               } EVERY(one_##name(a[l], by, 0)))
#define DEFINE_SHIFT(op, types, expression) DEFINE_SHIFT_OF(op##_##types, expression)
OPERATIONS(DEFINE)
CONVERSIONS(DEFINE)
DIVISIONS(DEFINE_DIVISION)
SHIFTS(DEFINE_SHIFT)

typedef struct {
    gpc_alu_one_t one;
    gpc_alu_all_t all, wide;
} operation_t;

/* clang-format off */
#define ENTRY_I(op, types) [GPC_OP_##op][GPC_I32] = BOTH(op##_##types),
#define ENTRY_U(op, types) [GPC_OP_##op][GPC_U32] = BOTH(op##_##types),
#define ENTRY_F(op, types) [GPC_OP_##op][GPC_F32] = BOTH(op##_##types),
#define ENTRY_IU(op, types) ENTRY_I(op, types) ENTRY_U(op, types)
#define ENTRY_IUF(op, types) ENTRY_IU(op, types) ENTRY_F(op, types)
#define ENTRY(op, types, ...) ENTRY_##types(op, types)
static const operation_t operations[GPC_NUM_OPCODES][GPC_NUM_TYPES] = {
    OPERATIONS(ENTRY) DIVISIONS(ENTRY) SHIFTS(ENTRY)
    [GPC_OP_FLOORDIV][GPC_I32] = BOTH(DIV_I), [GPC_OP_FLOORDIV][GPC_U32] = BOTH(DIV_U),
};

/* [from][to] */
#define CONVERSION(from, to, ...) [GPC_##from][GPC_##to] = BOTH(from##_##to),
static const operation_t conversions[GPC_NUM_TYPES][GPC_NUM_TYPES] = {
    CONVERSIONS(CONVERSION)
    [GPC_I32][GPC_I32] = BOTH(MOVE_IUF), [GPC_I32][GPC_U32] = BOTH(MOVE_IUF), [GPC_U32][GPC_I32] = BOTH(MOVE_IUF),
    [GPC_U32][GPC_U32] = BOTH(MOVE_IUF), [GPC_F32][GPC_F32] = BOTH(MOVE_IUF),
};
/* clang-format on */

bool
gpc_alu_host_is_wide(void)
{
#if HAS_WIDE
    return __builtin_cpu_supports("avx2") != 0;
#else
    return false;
#endif
}

gpc_alu_t
gpc_alu_find(uint8_t opcode, uint8_t type, uint16_t flags, bool wide)
{
    uint16_t to = flags & GPC_FLAG_TO_MASK;
    const operation_t *found = NULL;
    if (opcode >= GPC_NUM_OPCODES || type >= GPC_NUM_TYPES) {
        return (gpc_alu_t){NULL, NULL};
    }
    if (opcode != GPC_OP_CONVERT) {
        found = &operations[opcode][type];
    } else if (to < GPC_NUM_TYPES) {
        found = &conversions[type][to];
    }
    return found ? (gpc_alu_t){found->one, wide ? found->wide : found->all} : (gpc_alu_t){NULL, NULL};
}

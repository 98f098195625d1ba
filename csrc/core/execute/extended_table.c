/* extended_table.c: the functions of the extended operations, for one lane and for a warp's, generated from
 * extended.def. */
#include "core/execute/extended.h"

#include "core/execute/extended_words.h"

/* An operand's type, and its words of a lane, by their number. */
#define TYPE_0 uint32_t
#define TYPE_1 uint32_t
#define TYPE_2 uint64_t
#define WORDS_0(k) 0
#define WORDS_1(k) from->low[k][l]
#define WORDS_2(k) ((uint64_t) from->high[k][l] << 32 | from->low[k][l])
#define KEEP_1
#define KEEP_2 high[l] = (uint32_t) (result >> 32);

#define DEFINE_ONE(name, d, a, b, c, expression)                                                             \
    static inline __attribute__((always_inline)) TYPE_##d compute_##name(TYPE_##a A, TYPE_##b B, TYPE_##c C, uint32_t R, bool H)                    \
    {                                                                                                        \
        (void) A;                                                                                            \
        (void) B;                                                                                            \
        (void) C;                                                                                            \
        (void) R;                                                                                            \
        (void) H;                                                                                            \
        return (TYPE_##d) (expression);                                                                      \
    }                                                                                                        \
    static uint64_t one_##name(uint64_t a_, uint64_t b_, uint64_t c_, uint32_t flags)                        \
    {                                                                                                        \
        return compute_##name((TYPE_##a) a_, (TYPE_##b) b_, (TYPE_##c) c_, flags, false);                           \
    }
#define EVERY(name, d, a, b, c, flags, fuses)                                                                       \
    for (uint32_t l = 0; l < GPC_ALU_LANES; l++) {                                                           \
        TYPE_##d result = compute_##name(WORDS_##a(0), WORDS_##b(1), WORDS_##c(2), flags, fuses);                   \
        low[l] = (uint32_t) result;                                                                          \
        KEEP_##d                                                                                             \
    }
#define LANES uint32_t *restrict low, uint32_t *restrict high, const gpc_extended_lanes_t *from, uint32_t flags
#define UNUSED    \
    (void) high;  \
    (void) flags;

/* The loops exist twice, as those of alu.c; the second ones with fused products and sums where a row says so. */
#define FUSES_all false
#define FUSES_wide true
#if defined(__x86_64__) && defined(__GNUC__)
#define FOR_WIDE __attribute__((target("avx2,fma")))
#define DEFINE_BOTH(define, ...) define(all, , __VA_ARGS__) define(wide, FOR_WIDE, __VA_ARGS__)
#define WIDE_OF(name) wide_##name
#else
#define DEFINE_BOTH(define, ...) define(all, , __VA_ARGS__)
#define WIDE_OF(name) all_##name
#endif

/* Without flags. */
#define DEFINE_PLAIN(host, attribute, name, d, a, b, c)                                                      \
    attribute static void host##_##name(LANES)                                                               \
    {                                                                                                        \
        UNUSED EVERY(name, d, a, b, c, 0, FUSES_##host)                                                                    \
    }
/* Most have none, for which the compiler makes a loop of its own. */
#define DEFINE_FLAGGED(host, attribute, name, d, a, b, c)                                                    \
    attribute static void host##_##name(LANES)                                                               \
    {                                                                                                        \
        UNUSED if (flags == 0)                                                                               \
        {                                                                                                    \
            EVERY(name, d, a, b, c, 0, FUSES_##host)                                                                       \
            return;                                                                                          \
        }                                                                                                    \
        EVERY(name, d, a, b, c, flags, FUSES_##host)                                                                       \
    }
#define DEFINE_ALU(host, attribute, name)                                                                    \
    attribute static void host##_alu_##name(uint32_t *restrict result, const uint32_t *a, const uint32_t *b, \
                                            const uint32_t *c)                                               \
    {                                                                                                        \
        for (uint32_t l = 0; l < GPC_ALU_LANES; l++) {                                                       \
            result[l] = compute_##name(a[l], b[l], c[l], 0, FUSES_##host);                                                 \
        }                                                                                                    \
    }
#define DEFINE_ALU_ONE(name)                                                                                 \
    static uint32_t one_alu_##name(uint32_t a, uint32_t b, uint32_t c)                                       \
    {                                                                                                        \
        return compute_##name(a, b, c, 0, false);                                                                   \
    }

#define WORD(name, d, a, b, c, unit, ...)                                                                    \
    DEFINE_ONE(name, d, a, b, c, (__VA_ARGS__))                                                              \
    DEFINE_BOTH(DEFINE_PLAIN, name, d, a, b, c) DEFINE_BOTH(DEFINE_ALU, name) DEFINE_ALU_ONE(name)
#define FLOAT(name, d, a, b, c, unit, ...)                                                                   \
    DEFINE_ONE(name, d, a, b, c, (__VA_ARGS__))                                                              \
    DEFINE_BOTH(DEFINE_FLAGGED, name, d, a, b, c) DEFINE_BOTH(DEFINE_ALU, name) DEFINE_ALU_ONE(name)
#define WIDE(name, d, a, b, c, unit, ...)                                                                    \
    DEFINE_ONE(name, d, a, b, c, (__VA_ARGS__)) DEFINE_BOTH(DEFINE_PLAIN, name, d, a, b, c)
#define WIDE_FLOAT(name, d, a, b, c, unit, ...)                                                              \
    DEFINE_ONE(name, d, a, b, c, (__VA_ARGS__)) DEFINE_BOTH(DEFINE_FLAGGED, name, d, a, b, c)
#include "lang/extended.def"
#undef WORD
#undef FLOAT
#undef WIDE
#undef WIDE_FLOAT

/* clang-format off */
#define ROW(name, d, a, b, c, unit, flags) \
    #name, d, a, b, c, GPC_UNIT_##unit, flags, one_##name, all_##name, WIDE_OF(name)
#define ALU(name) {one_alu_##name, all_alu_##name}, {one_alu_##name, WIDE_OF(alu_##name)}
#define NO_ALU {NULL, NULL}, {NULL, NULL}
#define WORD(name, d, a, b, c, unit, ...) {ROW(name, d, a, b, c, unit, false), ALU(name)},
#define FLOAT(name, d, a, b, c, unit, ...) {ROW(name, d, a, b, c, unit, true), ALU(name)},
#define WIDE(name, d, a, b, c, unit, ...) {ROW(name, d, a, b, c, unit, false), NO_ALU},
#define WIDE_FLOAT(name, d, a, b, c, unit, ...) {ROW(name, d, a, b, c, unit, true), NO_ALU},
const gpc_extended_t gpc_extended[] = {
#include "lang/extended.def"
};
/* clang-format on */

const uint32_t gpc_num_extended = GPC_COUNT_OF(gpc_extended);

bool
gpc_extended_host_is_wide(void)
{
#ifdef FOR_WIDE
    return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
#else
    return false;
#endif
}

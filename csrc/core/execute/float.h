/* float.h: floating-point arithmetic by integers, for every rounding mode and format: what the host's own arithmetic,
 * of f32 and f64 to the nearest, does not do. Correctly rounded, and with the same bits on every host.
 *
 * `flags`: GPC_FLAG_ROUND_MASK, GPC_FLAG_FTZ (subnormal operands and results become zeros of their sign), GPC_FLAG_SAT
 * (results are clamped to [0, 1], NaN to 0). A NaN is always the format's canonical one. A result is subnormal by its
 * size after rounding. */
#ifndef GPC_CORE_EXECUTE_FLOAT_H
#define GPC_CORE_EXECUTE_FLOAT_H

#include "core/isa.h"

typedef struct {
    uint8_t fraction, exponent; /* bits */
    uint64_t nan;               /* canonical */
} gpc_float_format_t;

extern const gpc_float_format_t gpc_format_f16, gpc_format_bf16, gpc_format_f32, gpc_format_f64;

uint64_t gpc_float_add(const gpc_float_format_t *format, uint64_t a, uint64_t b, uint32_t flags);
uint64_t gpc_float_subtract(const gpc_float_format_t *format, uint64_t a, uint64_t b, uint32_t flags);
uint64_t gpc_float_multiply(const gpc_float_format_t *format, uint64_t a, uint64_t b, uint32_t flags);
uint64_t gpc_float_divide(const gpc_float_format_t *format, uint64_t a, uint64_t b, uint32_t flags);
uint64_t gpc_float_sqrt(const gpc_float_format_t *format, uint64_t a, uint32_t flags);
uint64_t gpc_float_fma(const gpc_float_format_t *format, uint64_t a, uint64_t b, uint64_t c, uint32_t flags);
/* 1 / sqrt(a) of f64, to the nearest. */
uint64_t gpc_float_rsqrt(uint64_t a, uint32_t flags);
/* As Python's // and %: the floor of the exact quotient, not of the rounded one (1.0 // 0.1 is 9), and the rest, even a
 * zero, with the divisor's sign. */
uint64_t gpc_float_floor_divide(const gpc_float_format_t *format, uint64_t a, uint64_t b);
uint64_t gpc_float_floor_modulo(const gpc_float_format_t *format, uint64_t a, uint64_t b);
/* A number wins over NaN; -0 is below 0. */
uint64_t gpc_float_extreme(const gpc_float_format_t *format, uint64_t a, uint64_t b, bool smaller, uint32_t flags);
/* To a whole number. */
uint64_t gpc_float_round(const gpc_float_format_t *format, uint64_t a, uint32_t flags);
/* Saturates. NaN gives 0, and of f64 or for 64 bits 1 << (bits - 1), as PTX. */
uint64_t gpc_float_to_integer(const gpc_float_format_t *format, uint64_t a, uint32_t bits, bool is_signed,
                              uint32_t flags);
/* integer: 64 bits, extended by its sign if it has one. */
uint64_t gpc_float_from_integer(const gpc_float_format_t *format, uint64_t integer, bool is_signed, uint32_t flags);
/* GPC_FLAG_FTZ concerns f32 only. */
uint64_t gpc_float_convert(const gpc_float_format_t *to, const gpc_float_format_t *from, uint64_t a, uint32_t flags);
/* The result of an operation: without subnormals, clamped, as the flags say. */
uint64_t gpc_float_finish(const gpc_float_format_t *format, uint64_t result, uint32_t flags);

#endif

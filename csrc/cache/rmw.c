/* rmw.c: computes atomics, lane by lane in order. */
#include "cache/rmw.h"

#include <string.h>

#include "base/atomics.h"

#define SIGN UINT32_C(0x80000000)

static uint32_t
add_f32(uint32_t old, uint32_t operand, bool subtract)
{
    float a, b;
    uint32_t bits;
    memcpy(&a, &old, sizeof(a));
    memcpy(&b, &operand, sizeof(b));
    a = subtract ? a - b : a + b;
    memcpy(&bits, &a, sizeof(bits));
    return a != a ? UINT32_C(0x7FC00000) : bits; /* which operand's NaN payload survives depends on the compiler */
}

/* The order of f32 as the order of words: -0.0 precedes 0.0. */
static uint32_t
rank_f32(uint32_t bits)
{
    return bits ^ ((bits & SIGN) != 0 ? UINT32_MAX : SIGN);
}

static bool
is_nan(uint8_t type, uint32_t bits)
{
    return type == GPC_F32 && (bits & ~SIGN) > UINT32_C(0x7F800000);
}

static bool
less(uint8_t type, uint32_t a, uint32_t b)
{
    if (type == GPC_F32) {
        return rank_f32(a) < rank_f32(b);
    }
    return type == GPC_I32 ? (a ^ SIGN) < (b ^ SIGN) : a < b;
}

/* Of f32, a number replaces NaN: the order of operations does not matter. */
static uint32_t
extreme(uint8_t type, uint32_t old, uint32_t operand, bool smaller)
{
    if (is_nan(type, old) || is_nan(type, operand)) {
        return is_nan(type, operand) ? old : operand;
    }
    return less(type, smaller ? operand : old, smaller ? old : operand) ? operand : old;
}

uint32_t
gpc_rmw_apply(uint8_t operation, uint8_t type, uint32_t old, uint32_t operand, uint32_t replacement)
{
    switch ((gpc_atomic_t) operation) {
        case GPC_ATOMIC_ADD:
            return type == GPC_F32 ? add_f32(old, operand, false) : old + operand;
        case GPC_ATOMIC_SUB:
            return type == GPC_F32 ? add_f32(old, operand, true) : old - operand;
        case GPC_ATOMIC_MIN:
            return extreme(type, old, operand, true);
        case GPC_ATOMIC_MAX:
            return extreme(type, old, operand, false);
        case GPC_ATOMIC_AND:
            return old & operand;
        case GPC_ATOMIC_OR:
            return old | operand;
        case GPC_ATOMIC_XOR:
            return old ^ operand;
        case GPC_ATOMIC_EXCH:
            return operand;
        case GPC_ATOMIC_CAS:
            return old == operand ? replacement : old;
        case GPC_ATOMIC_INC:
            return old >= operand ? 0 : old + 1;
        case GPC_ATOMIC_DEC:
            return old == 0 || old > operand ? operand : old - 1;
        case GPC_ATOMIC_MERGE:
            return (old & ~replacement) | (operand & replacement);
    }
    return old;
}

/* ---- two words --------------------------------------------------------------------------------------------------- */

static uint64_t
pair_of(const uint32_t *words)
{
    return (uint64_t) words[1] << 32 | words[0];
}

static uint64_t
add_f64(uint64_t old, uint64_t operand)
{
    double a, b;
    uint64_t bits;
    memcpy(&a, &old, sizeof(a));
    memcpy(&b, &operand, sizeof(b));
    a += b;
    memcpy(&bits, &a, sizeof(bits));
    return a != a ? UINT64_C(0x7FF8000000000000) : bits;
}

/* Of the order of i64 or u64. */
static bool
less_wide(uint8_t type, uint64_t a, uint64_t b)
{
    return type == GPC_I32 ? (int64_t) a < (int64_t) b : a < b;
}

static uint64_t
apply_wide(uint8_t operation, uint8_t type, uint64_t old, uint64_t operand, uint64_t replacement)
{
    switch (operation) {
        case GPC_ATOMIC_ADD:
            return type == GPC_F32 ? add_f64(old, operand) : old + operand;
        case GPC_ATOMIC_SUB:
            return old - operand;
        case GPC_ATOMIC_MIN:
            return less_wide(type, operand, old) ? operand : old;
        case GPC_ATOMIC_MAX:
            return less_wide(type, old, operand) ? operand : old;
        case GPC_ATOMIC_AND:
            return old & operand;
        case GPC_ATOMIC_OR:
            return old | operand;
        case GPC_ATOMIC_XOR:
            return old ^ operand;
        case GPC_ATOMIC_EXCH:
            return operand;
        case GPC_ATOMIC_CAS:
            return old == operand ? replacement : old;
        default:
            return old;
    }
}

void
gpc_rmw_apply_words(uint8_t operation, uint8_t type, uint32_t width, uint32_t *words, const uint32_t *operand,
                    const uint32_t *replacement)
{
    if (width == 1) {
        words[0] = gpc_rmw_apply(operation, type, words[0], operand[0], replacement[0]);
        return;
    }
    uint64_t result = apply_wide(operation, type, pair_of(words), pair_of(operand), pair_of(replacement));
    words[0] = (uint32_t) result;
    words[1] = (uint32_t) (result >> 32);
}

bool
gpc_rmw_changes(const gpc_lane_list_t *lanes, uint32_t n)
{
    uint32_t old = lanes->old[n], first = n & ~1u, words[2];
    if (lanes->width != 2) {
        return gpc_rmw_apply(lanes->operation, lanes->type, old, lanes->operand[n], lanes->replacement[n]) != old;
    }
    memcpy(words, lanes->old + first, sizeof words);
    gpc_rmw_apply_words(lanes->operation, lanes->type, 2, words, lanes->operand + first, lanes->replacement + first);
    return words[n & 1] != old;
}

/* Of atomics of two words. */
static gpc_mask_t
perform_wide(gpc_lane_list_t *lanes, uint32_t *words)
{
    gpc_mask_t written = 0;

    for (uint16_t i = 0; i + 1 < lanes->count; i += 2) {
        uint32_t *pair = &words[lanes->word[i]];
        bool fails = lanes->operation == GPC_ATOMIC_CAS && pair_of(pair) != pair_of(lanes->operand + i);
        lanes->old[i] = pair[0];
        lanes->old[i + 1] = pair[1];
        gpc_rmw_apply_words(lanes->operation, lanes->type, 2, pair, lanes->operand + i, lanes->replacement + i);
        written |= fails ? 0 : UINT32_C(3) << lanes->word[i];
    }
    return written;
}

gpc_mask_t
gpc_rmw_perform(gpc_lane_list_t *lanes, uint32_t *words)
{
    gpc_mask_t written = 0;

    if (lanes->width == 2) {
        return perform_wide(lanes, words);
    }
    for (uint16_t i = 0; i < lanes->count; i++) {
        uint32_t *word = &words[lanes->word[i]];
        uint32_t old = *word;
        lanes->old[i] = old;
        *word = gpc_rmw_apply(lanes->operation, lanes->type, old, lanes->operand[i], lanes->replacement[i]);
        if (lanes->operation != GPC_ATOMIC_CAS || old == lanes->operand[i]) {
            written |= UINT32_C(1) << lanes->word[i];
        }
    }
    return written;
}

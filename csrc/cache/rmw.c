#include "cache/rmw.h"

#include <string.h>

#include "base/atomics.h"

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

static bool
less(uint8_t type, uint32_t a, uint32_t b)
{
    return type == GPC_I32 ? (a ^ UINT32_C(0x80000000)) < (b ^ UINT32_C(0x80000000)) : a < b;
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
            return less(type, operand, old) ? operand : old;
        case GPC_ATOMIC_MAX:
            return less(type, old, operand) ? operand : old;
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
        case GPC_NUM_ATOMICS:
            break;
    }
    return old;
}

gpc_mask_t
gpc_rmw_perform(gpc_lane_list_t *lanes, uint32_t *words)
{
    gpc_mask_t written = 0;

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

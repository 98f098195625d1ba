/* banks.h: cycles that lanes of one access to a scratchpad wait for each other. */
#ifndef GPC_CORE_EXECUTE_BANKS_H
#define GPC_CORE_EXECUTE_BANKS_H

#include "core/state.h"

/* Cycles beyond the first, of lanes that share banks. */
uint32_t gpc_count_conflicts(const gpc_issue_t *x, gpc_lanes_t lanes, const uint32_t *words, bool atomic);

/* Mostly no two lanes share a bank. `straight`: all lanes access consecutive words. */
static inline uint32_t
gpc_conflict_cycles(const gpc_issue_t *x, gpc_lanes_t lanes, const uint32_t *words, bool atomic, bool straight)
{
    uint32_t banks = x->base->cores->machine->scratchpad_banks; /* a power of two, at most 64 */
    uint64_t used = 0;
    if (banks == 0 || (straight && x->launch->lanes <= banks)) {
        return 0;
    }
    for (gpc_lanes_t left = lanes; left != 0; left &= left - 1) {
        uint64_t bank = UINT64_C(1) << (words[gpc_lowest_bit(left)] & (banks - 1));
        if ((used & bank) != 0) {
            return gpc_count_conflicts(x, lanes, words, atomic);
        }
        used |= bank;
    }
    return 0;
}

#endif

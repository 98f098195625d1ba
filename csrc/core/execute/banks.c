/* banks.c: conflicts between lanes in the banks of a scratchpad. */
#include "core/execute/banks.h"

/* Cycles beyond the first: lanes of one bank are serialised, except plain accesses to the same word. */
__attribute__((noinline)) uint32_t
gpc_count_conflicts(const gpc_issue_t *x, gpc_lanes_t lanes, const uint32_t *words, bool atomic)
{
    uint32_t banks = x->base->cores->machine->scratchpad_banks;
    uint8_t passes[64] = {0}, head[64], next[GPC_MAX_LANES];
    uint32_t most = 1;
    for (gpc_lanes_t left = lanes; left != 0; left &= left - 1) {
        uint32_t l = gpc_lowest_bit(left), bank = words[l] & (banks - 1), other = GPC_MAX_LANES;
        if (passes[bank] != 0 && !atomic) {
            for (other = head[bank]; other != GPC_MAX_LANES && words[other] != words[l]; other = next[other]) {
            }
        }
        if (other != GPC_MAX_LANES) {
            continue; /* an earlier lane accesses the same word */
        }
        next[l] = passes[bank] != 0 ? head[bank] : GPC_MAX_LANES;
        head[bank] = (uint8_t) l;
        most = ++passes[bank] > most ? passes[bank] : most;
    }
    return most - 1;
}

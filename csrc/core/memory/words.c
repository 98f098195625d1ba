/* words.c: rare answers to registers: parts of loads, which controllers over words complete apart, and old values of
 * two words. */
#include "core/memory/load_store.h"
#include "core/registers.h"

/* These make their own context of an issue: that of a caller is in no memory of the host but for a call. */
void
gpc_core_deliver_words(gpc_cores_t *self, uint32_t core, const gpc_core_access_t *access, gpc_lanes_t lanes,
                       gpc_mask_t mask, const uint32_t *words)
{
    gpc_issue_t issue, *x = &issue;
    gpc_issue_init(x, self, core, access->warp, 0);
    const gpc_operand_t *to = &access->destination;
    for (uint32_t i = 0; i < access->width; i++) {
        if (to->kind == GPC_UNIFORM && (mask >> (access->word[0] + i) & 1) != 0) {
            gpc_uniforms(x)[to->number + i] = words[access->word[0] + i];
        }
        if (to->kind != GPC_VECTOR) {
            continue;
        }
        gpc_operand_t part = gpc_operand_next(x, *to, i);
        uint32_t *registers = gpc_vector_for_write(x, &part, 0); /* the lanes are determined below */
        for (gpc_lanes_t left = lanes; left != 0; left &= left - 1) {
            uint32_t l = gpc_lowest_bit(left), word = i + (access->straight ? access->word[0] + l : access->word[l]);
            if ((mask >> word & 1) != 0) {
                registers[l] = words[word];
            }
        }
    }
}

void
gpc_core_deliver_wide_atomic(gpc_cores_t *self, uint32_t core, const gpc_core_access_t *access,
                             const gpc_lane_list_t *list)
{
    gpc_issue_t issue, *x = &issue;
    gpc_issue_init(x, self, core, access->warp, 0);
    for (uint32_t k = 0; k < 2; k++) {
        if (access->destination.kind == GPC_UNIFORM) { /* of one lane */
            gpc_uniforms(x)[access->destination.number + k] = list->old[k];
            continue;
        }
        gpc_operand_t part = gpc_operand_next(x, access->destination, k);
        uint32_t *registers = gpc_vector_for_write(x, &part, 0);
        for (uint32_t n = k; n < list->count; n += 2) {
            registers[list->lane[n]] = list->old[n];
        }
    }
}

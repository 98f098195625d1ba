/* narrow.c: accesses to elements of 1 and 2 bytes.
 *
 * A load requests the element's word; the element is extended when it is written to the register. A store cannot carry
 * a part of a word: caches, buffers and messages know words only. It is a read-modify-write, GPC_ATOMIC_MERGE, which a
 * protocol performs where it performs atomics, so that no byte beside it is lost under any protocol. Its list has one
 * entry per word. Lanes that together cover all bytes of all words of a request make a plain store of it.
 */
#include "core/memory/narrow.h"

uint32_t
gpc_narrow_element(uint32_t word, uint32_t offset, const gpc_narrow_t *narrow)
{
    uint32_t sign = UINT32_C(1) << (8u * narrow->bytes - 1u);
    uint32_t element = word >> 8u * (offset % 4) & (2 * sign - 1);
    return narrow->is_signed ? (element ^ sign) - sign : element;
}

uint32_t
gpc_narrow_mask(uint32_t offset, const gpc_narrow_t *narrow)
{
    return ((UINT32_C(1) << 8u * narrow->bytes) - 1u) << 8u * (offset % 4);
}

void
gpc_narrow_add(gpc_lane_list_t *list, uint32_t lane, uint32_t offset, const gpc_narrow_t *narrow, uint32_t value)
{
    uint32_t n = 0, mask = gpc_narrow_mask(offset, narrow);
    while (n < list->count && list->word[n] != offset / 4) {
        n++;
    }
    if (n == list->count) {
        list->count++;
        list->lane[n] = (uint8_t) lane;
        list->word[n] = (uint8_t) (offset / 4);
        list->operand[n] = list->replacement[n] = list->old[n] = 0;
    }
    list->operand[n] = (list->operand[n] & ~mask) | (value << 8u * (offset % 4) & mask);
    list->replacement[n] |= mask;
}

void
gpc_narrow_finish_store(const gpc_cores_t *self, gpc_msg_t *msg)
{
    const gpc_lane_list_t *list = gpc_lane_list_at(self->lane_lists, msg->lanes);
    for (uint32_t n = 0; n < list->count; n++) {
        if (list->replacement[n] != UINT32_MAX) {
            /* other cores may store to other bytes: an L1 must not merge alone, whatever the scope of this byte */
            msg->scope = msg->scope < GPC_SCOPE_GPU ? GPC_SCOPE_GPU : msg->scope;
            return;
        }
    }
    for (uint32_t n = 0; n < list->count; n++) {
        msg->data[list->word[n]] = list->operand[n];
    }
    gpc_pool_give(self->lane_lists, msg->lanes);
    msg->lanes = GPC_NONE;
    msg->type = GPC_MSG_STORE;
}

void
gpc_narrow_deliver(const gpc_issue_t *x, const gpc_core_access_t *access, gpc_lanes_t lanes, gpc_mask_t mask,
                   const uint32_t *words)
{
    const gpc_operand_t *to = &access->destination;
    uint32_t *registers = to->kind == GPC_VECTOR ? gpc_vector_for_write(x, to, 0) : gpc_uniforms(x) + to->number;
    for (; lanes != 0; lanes &= lanes - 1) {
        uint32_t l = gpc_lowest_bit(lanes), offset = access->word[l];
        if ((mask >> offset / 4 & 1u) != 0) {
            registers[to->kind == GPC_VECTOR ? l : 0] = gpc_narrow_element(words[offset / 4], offset, &access->narrow);
        }
    }
}

/* polls.c: the words that warps read again and again, for deadlock reports. */
#include "core/memory/narrow.h"
#include "core/stuck.h"

/* The entry of the word at pc; the least frequent one is replaced. */
static gpc_poll_t *
entry_of(gpc_poll_t *polls, gpc_address_t word, uint32_t pc)
{
    gpc_poll_t *least = polls;
    for (uint32_t i = 0; i < GPC_POLLS; i++) {
        if (polls[i].count != 0 && polls[i].word == word && polls[i].pc == pc) {
            return &polls[i];
        }
        least = polls[i].count < least->count ? &polls[i] : least;
    }
    *least = (gpc_poll_t){.word = word, .pc = pc};
    return least;
}

/* The offset in the line of the first lane's element among the masked words. */
static uint32_t
narrow_offset(const gpc_core_request_t *request, const gpc_core_access_t *access, gpc_mask_t mask)
{
    gpc_lanes_t lanes = request->lanes;
    while ((mask >> access->word[gpc_lowest_bit(lanes)] / 4 & 1u) == 0) {
        lanes &= lanes - 1;
    }
    return access->word[gpc_lowest_bit(lanes)];
}

void
gpc_cores_note_poll(const gpc_cores_t *self, gpc_poll_t *polls, uint32_t core, const gpc_msg_t *msg,
                    const uint32_t *words)
{
    const gpc_core_request_t *request = gpc_request_at(self->parts, core, msg->access);
    const gpc_core_access_t *access = gpc_access_at(self->parts, core, request->access);
    const gpc_lane_list_t *list = msg->lanes == GPC_NONE ? NULL : gpc_lane_list_at(self->lane_lists, msg->lanes);
    bool is_atomic = access->access.kind == GPC_ACCESS_ATOMIC && list != NULL && list->count != 0;
    if (!is_atomic && (access->access.kind != GPC_ACCESS_LOAD || msg->mask == 0)) {
        return;
    }
    bool narrow = access->narrow.bytes != 0;
    uint32_t offset = is_atomic ? 4u * list->word[0]
                      : narrow  ? narrow_offset(request, access, msg->mask)
                                : 4 * gpc_lowest_bit(msg->mask);
    gpc_poll_t *warp = polls + ((size_t) core * self->machine->warps_per_core + access->warp) * GPC_POLLS;
    gpc_poll_t *poll = entry_of(warp, msg->line + offset, access->pc);
    uint32_t value = is_atomic ? list->old[0] : words[offset / 4];
    poll->value = narrow ? gpc_narrow_element(value, offset, &access->narrow) : value;
    poll->count++;
}

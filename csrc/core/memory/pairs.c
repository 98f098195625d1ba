/* pairs.c: requests of accesses to several words that are more than words: atomics of two words, and what
 * together.h has. */
#include "core/memory/pairs.h"

#include "core/memory/together.h"
#include "core/registers.h"

/* The list has the lanes' lower words: gives each lane its upper word's entry, too. */
static void
add_upper_words(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_lane_list_t *list)
{
    uint32_t rooms[2][GPC_MAX_LANES];
    gpc_operand_t b = gpc_operand_next(x, d->b, 1),
                  c = d->c.kind == GPC_NO_OPERAND ? d->c : gpc_operand_next(x, d->c, 1);
    const uint32_t *operand = gpc_operand_lanes(x, &b, rooms[0]), *replacement = gpc_operand_lanes(x, &c, rooms[1]);
    list->width = 2;
    for (uint32_t n = list->count; n-- > 0;) {
        uint32_t low = 2 * n, high = low + 1, lane = list->lane[n];
        list->lane[high] = list->lane[low] = (uint8_t) lane;
        list->word[high] = (uint8_t) (list->word[n] + 1);
        list->word[low] = list->word[n];
        list->operand[low] = list->operand[n];
        list->operand[high] = operand[lane];
        list->replacement[low] = list->replacement[n];
        list->replacement[high] = replacement[lane];
        list->old[low] = list->old[high] = 0;
    }
    list->count = (uint16_t) (2 * list->count);
}

/* An empty list says that a load or store accesses its words at once. */
static int
mark(const gpc_issue_t *x, gpc_msg_t *msg)
{
    gpc_cores_t *self = x->base->cores;
    msg->lanes = gpc_pool_take(self->lane_lists);
    if (msg->lanes == GPC_NONE) {
        return gpc_fail(self->failure, GPC_ERROR_CAPACITY, "core %u: the pool of lane lists is empty", x->base->index);
    }
    gpc_lane_list_at(self->lane_lists, msg->lanes)->count = 0;
    gpc_lane_list_at(self->lane_lists, msg->lanes)->width = 2;
    return GPC_OK;
}

int
gpc_pairs_finish(const gpc_issue_t *x, const gpc_decoded_t *d, uint32_t requests)
{
    gpc_cores_t *self = x->base->cores;
    bool atomic = d->access.kind == GPC_ACCESS_ATOMIC, together = gpc_is_together(x, d);
    bool whole = !atomic && self->words_whole && d->access.order != GPC_ORDER_WEAK;
    if (!atomic && !together && !whole) {
        return GPC_OK;
    }
    gpc_index_t i = x->core->queue.head;
    for (uint32_t n = x->core->queue.count; n > requests; n--) {
        i = gpc_msg_at(self->messages, i)->next;
    }
    for (; requests > 0; requests--) {
        gpc_msg_t *msg = gpc_msg_at(self->messages, i);
        i = msg->next;
        if (atomic) {
            add_upper_words(x, d, gpc_lane_list_at(self->lane_lists, msg->lanes));
        }
        if (whole) {
            GPC_TRY(mark(x, msg));
        }
        if (together) {
            GPC_TRY(gpc_together_begin(x, gpc_request_at(self->parts, x->base->index, msg->access), msg));
        }
    }
    return GPC_OK;
}

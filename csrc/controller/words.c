/* words.c: messages over words: split into parts for each cell, and combined when equal messages are sent. */
#include <string.h>

#include "controller/controller.h"

static int
no_room(gpc_controller_t *unit, const char *what)
{
    return gpc_fail(unit->failure, GPC_ERROR_CAPACITY, "%s %u: no free %s to split a message over words",
                    unit->type->name, unit->index, what);
}

static void
put_lane(gpc_lane_list_t *to, uint16_t at, const gpc_lane_list_t *from, uint16_t n)
{
    to->lane[at] = from->lane[n];
    to->word[at] = from->word[n];
    to->operand[at] = from->operand[n];
    to->replacement[at] = from->replacement[n];
    to->old[at] = from->old[n];
}

/* Moves the lanes of the part's words to a new list; the order within a word is kept. */
static int
split_lanes(gpc_controller_t *unit, const gpc_msg_t *msg, gpc_msg_t *part)
{
    part->lanes = gpc_pool_take(unit->lane_lists);
    if (part->lanes == GPC_NONE) {
        return no_room(unit, "lane list");
    }
    gpc_lane_list_t *from = gpc_lane_list_at(unit->lane_lists, msg->lanes);
    gpc_lane_list_t *to = gpc_lane_list_at(unit->lane_lists, part->lanes);
    uint16_t rest = 0;
    to->next = GPC_NONE;
    to->operation = from->operation;
    to->type = from->type;
    to->width = from->width;
    to->count = 0;
    for (uint16_t n = 0; n < from->count; n++) {
        if (part->mask >> from->word[n] & 1) {
            put_lane(to, to->count++, from, n);
        } else {
            put_lane(from, rest++, from, n);
        }
    }
    from->count = rest;
    return GPC_OK;
}

gpc_index_t
gpc_split_message(gpc_controller_t *unit, gpc_index_t message, gpc_mask_t mask)
{
    gpc_msg_t *msg = gpc_msg_at(unit->messages, message);
    gpc_index_t i = gpc_pool_take(unit->messages);

    if (i == GPC_NONE) {
        (void) no_room(unit, "message");
        return GPC_NONE;
    }
    gpc_msg_t *part = gpc_msg_at(unit->messages, i);
    *part = *msg; /* of the same request: an answer's words identify its part */
    part->next = GPC_NONE;
    part->mask = mask;
    if (msg->lanes != GPC_NONE && split_lanes(unit, msg, part) != GPC_OK) {
        gpc_pool_give(unit->messages, i);
        return GPC_NONE;
    }
    msg->mask &= ~mask;
    return i;
}

/* Whether two messages of one step may be combined. */
static bool
sent_alike(const gpc_msg_t *a, const gpc_msg_t *b)
{
    return a->type == b->type && a->destination == b->destination && a->line == b->line && a->request == b->request &&
           a->requester == b->requester && a->flags == b->flags && a->order == b->order && a->scope == b->scope &&
           a->warp == b->warp && a->epoch == b->epoch && memcmp(a->fields, b->fields, sizeof(a->fields)) == 0;
}

static void
join_lanes(gpc_controller_t *unit, gpc_msg_t *into, gpc_msg_t *from)
{
    if (into->lanes == GPC_NONE) {
        into->lanes = from->lanes;
        from->lanes = GPC_NONE;
    } else if (from->lanes != GPC_NONE) {
        gpc_lane_list_t *to = gpc_lane_list_at(unit->lane_lists, into->lanes);
        const gpc_lane_list_t *more = gpc_lane_list_at(unit->lane_lists, from->lanes);
        for (uint16_t n = 0; n < more->count; n++) {
            put_lane(to, to->count++, more, n);
        }
    }
}

__attribute__((noinline)) void /* gpc_send, which calls it, is short without it */
gpc_collect(gpc_controller_t *unit, gpc_index_t message)
{
    gpc_msg_t *msg = gpc_msg_at(unit->messages, message);
    const gpc_message_info_t *info = &unit->protocol->messages[msg->type - GPC_MSG_OWN];
    gpc_index_t i = unit->sent.head;

    for (uint32_t n = unit->sent.count; n; n--) {
        gpc_msg_t *other = gpc_msg_at(unit->messages, i);
        if (sent_alike(other, msg)) {
            if (info->bytes_per_word) {
                gpc_merge_words(other->data, msg->data, msg->mask);
            }
            other->mask |= msg->mask;
            join_lanes(unit, other, msg);
            gpc_free_message(unit, message);
            return;
        }
        i = other->next;
    }
    gpc_list_push(&unit->sent, unit->messages, message);
}

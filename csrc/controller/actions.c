/* actions.c: what the actions of protocol files are made of. */
#include <string.h>

#include "controller/actions.h"
#include "controller/controller.h"

gpc_node_t
gpc_home_of(const gpc_controller_t *unit, gpc_address_t line)
{
    return (gpc_node_t) (unit->first_bank + gpc_bank_of(unit->interleaving, line));
}

gpc_node_t
gpc_node_of(const gpc_controller_t *unit, gpc_position_t position)
{
    switch (position) {
        case GPC_AT_CORE:
            return 0;
        case GPC_AT_BANK:
            return (gpc_node_t) unit->first_bank;
        case GPC_AT_GLOBAL:
        case GPC_AT_MEMORY:
        case GPC_AT_HOST:
        case GPC_NUM_POSITIONS:
            break;
    }
    return unit->places && position < GPC_NUM_POSITIONS ? unit->places[position] : GPC_NO_NODE;
}

/* ---- pending requests ---------------------------------------------------------------------------------------------------------- */

int
gpc_keep_pending(gpc_step_t *x)
{
    gpc_list_push(gpc_step_pending(x), x->unit->messages, x->message);
    x->kept = true;
    return GPC_OK;
}

gpc_index_t
gpc_take_pending(gpc_step_t *x, gpc_index_t request)
{
    gpc_index_t previous = GPC_NONE;

    if (x->mshr == GPC_NONE) {
        return GPC_NONE;
    }
    gpc_list_t *pending = gpc_step_pending(x);
    gpc_index_t i = pending->head;
    for (uint32_t n = pending->count; n; n--) {
        if (gpc_msg_at(x->unit->messages, i)->request == request) {
            gpc_list_remove_after(pending, x->unit->messages, previous, i);
            return i;
        }
        previous = i;
        i = gpc_msg_at(x->unit->messages, i)->next;
    }
    return GPC_NONE;
}

gpc_index_t
gpc_take_pending_words(gpc_step_t *x, gpc_index_t request, gpc_mask_t mask)
{
    const gpc_pool_t *messages = x->unit->messages;
    gpc_index_t previous = GPC_NONE;

    if (x->mshr == GPC_NONE) {
        return GPC_NONE;
    }
    gpc_list_t *pending = gpc_step_pending(x);
    gpc_index_t i = pending->head;
    for (uint32_t n = pending->count; n; n--) {
        const gpc_msg_t *msg = gpc_msg_at(messages, i);
        if (msg->request == request && (msg->mask & mask)) {
            if (msg->mask & ~mask) {
                return gpc_split_message(x->unit, i, msg->mask & mask);
            }
            gpc_list_remove_after(pending, messages, previous, i);
            return i;
        }
        previous = i;
        i = msg->next;
    }
    return GPC_NONE;
}

int
gpc_replay_pending(gpc_step_t *x)
{
    gpc_mshr_t *entry = gpc_mshr_at(&x->unit->mshrs, x->mshr);
    gpc_list_prepend(&entry->waiters, x->unit->messages,
                     &entry->pending); /* who waits came after them, and stays behind */
    gpc_list_prepend(x->unit->replay, x->unit->messages, &entry->waiters);
    return GPC_OK;
}

/* ---- messages -------------------------------------------------------------------------------------------------------------------- */

void
gpc_free_message(gpc_controller_t *unit, gpc_index_t message)
{
    gpc_msg_t *msg = gpc_msg_at(unit->messages, message);
    if (msg->lanes != GPC_NONE) {
        gpc_pool_give(unit->lane_lists, msg->lanes);
    }
    gpc_pool_give(unit->messages, message);
}

void
gpc_merge_words(uint32_t *to, const uint32_t *from, gpc_mask_t mask)
{
    if (mask == UINT32_MAX) {
        memcpy(to, from, 32 * sizeof(*to));
        return;
    }
    for (; mask; mask &= mask - 1) {
        uint32_t word = (uint32_t) __builtin_ctz(mask);
        to[word] = from[word];
    }
}

uint32_t
gpc_message_bytes(const gpc_controller_t *unit, const gpc_msg_t *msg)
{
    const gpc_message_info_t *info = &unit->protocol->messages[msg->type - GPC_MSG_OWN];
    uint32_t bytes = info->fixed_bytes;

    if (msg->lanes != GPC_NONE) { /* operands on the way up (two for a compare-and-swap), old values on the way down */
        const gpc_lane_list_t *lanes = gpc_lane_list_at(unit->lane_lists, msg->lanes);
        bool two = lanes->operation == GPC_ATOMIC_CAS && info->network == 0;
        return bytes + (two ? 8u : 4u) * lanes->count;
    }
    if (info->whole_line) {
        return bytes + unit->machine->line_bytes;
    }
    return bytes + info->bytes_per_word * (uint32_t) __builtin_popcount(msg->mask);
}

gpc_index_t
gpc_new_message(gpc_step_t *x, uint8_t type, gpc_node_t destination)
{
    gpc_controller_t *unit = x->unit;
    gpc_index_t i = gpc_pool_take(unit->messages);

    if (i == GPC_NONE) {
        (void) gpc_fail(unit->failure, GPC_ERROR_CAPACITY, "%s %u: no free message among %u", unit->type->name,
                        unit->index, unit->messages->capacity);
        return GPC_NONE;
    }
    gpc_msg_t *msg = gpc_msg_at(unit->messages, i);
    memset(msg, 0, offsetof(gpc_msg_t, data)); /* the words are written by who sends any */
    msg->next = msg->request = msg->lanes = msg->access = GPC_NONE;
    msg->type = type;
    msg->source = msg->requester = unit->node;
    msg->destination = destination;
    msg->line = x->line;
    if (x->msg) {
        msg->flags = x->msg->flags & GPC_MSG_FLAG_READ_ONLY;
        msg->requester = x->msg->requester;
        msg->request = x->msg->request;
        msg->warp = x->msg->warp;
        msg->order = x->msg->order;
        msg->scope = x->msg->scope;
    }
    return i;
}

/* What the protocol's list says of the type, and the size on the wire. */
static void
stamp(const gpc_controller_t *unit, gpc_index_t message)
{
    gpc_msg_t *msg = gpc_msg_at(unit->messages, message);
    const gpc_message_info_t *info = &unit->protocol->messages[msg->type - GPC_MSG_OWN];
    uint32_t flit = unit->machine->flit_bytes;

    msg->network = info->network;
    msg->traffic_class = (uint8_t) info->traffic_class;
    msg->flits = (uint16_t) ((gpc_message_bytes(unit, msg) + flit - 1) / flit);
}

int
gpc_send(gpc_step_t *x, gpc_index_t message)
{
    gpc_controller_t *unit = x->unit;
    if (unit->collects) {
        gpc_collect(unit, message);
        return GPC_OK;
    }
    stamp(unit, message);
    return unit->ports->send(unit->world, unit, message);
}

int
gpc_send_collected(gpc_controller_t *unit, bool forget)
{
    gpc_index_t message;

    if (forget) {
        gpc_list_clear(&unit->sent);
    }
    while ((message = gpc_list_pop(&unit->sent, unit->messages)) != GPC_NONE) {
        stamp(unit, message);
        int status = unit->ports->send(unit->world, unit, message);
        if (status) {
            return status;
        }
    }
    return GPC_OK;
}

int
gpc_broadcast(gpc_step_t *x, gpc_index_t message, const gpc_nodeset_t *to)
{
    gpc_controller_t *unit = x->unit;
    stamp(unit, message);
    return unit->ports->broadcast(unit->world, unit, message, to);
}

static void
carry_words(gpc_step_t *x, gpc_msg_t *msg, gpc_mask_t words, const uint32_t *line)
{
    const gpc_message_info_t *info = &x->unit->protocol->messages[msg->type - GPC_MSG_OWN];
    msg->mask = words;
    if (line && (info->whole_line || info->bytes_per_word)) {
        gpc_merge_words(msg->data, line, info->whole_line ? gpc_all_words(x->unit) : words);
    }
}

int
gpc_send_words(gpc_step_t *x, uint8_t type, gpc_mask_t words, const uint32_t *line)
{
    gpc_index_t i = gpc_new_message(x, type, gpc_home_of(x->unit, x->line));
    if (i == GPC_NONE) {
        return GPC_ERROR_CAPACITY;
    }
    carry_words(x, gpc_msg_at(x->unit->messages, i), words, line);
    return gpc_send(x, i);
}

int
gpc_send_request(gpc_step_t *x, uint8_t type, gpc_mask_t words)
{
    if (!x->msg) {
        return gpc_send_words(x, type, words, NULL);
    }
    gpc_index_t i = gpc_new_message(x, type, gpc_home_of(x->unit, x->line));
    if (i == GPC_NONE) {
        return GPC_ERROR_CAPACITY;
    }
    gpc_msg_t *msg = gpc_msg_at(x->unit->messages, i);
    carry_words(x, msg, words, x->msg->data);
    if (x->msg->type == GPC_MSG_ATOMIC) {
        msg->lanes = x->msg->lanes; /* they come back with the answer */
        x->msg->lanes = GPC_NONE;
    }
    return gpc_send(x, i);
}

int
gpc_send_answer(gpc_step_t *x, gpc_index_t to, uint8_t type, gpc_mask_t words, const uint32_t *line)
{
    gpc_msg_t *asked = gpc_msg_at(x->unit->messages, to);
    gpc_index_t i = gpc_new_message(x, type, asked->source);
    if (i == GPC_NONE) {
        return GPC_ERROR_CAPACITY;
    }
    gpc_msg_t *msg = gpc_msg_at(x->unit->messages, i);
    msg->flags = asked->flags & GPC_MSG_FLAG_READ_ONLY;
    msg->requester = asked->requester;
    msg->request = asked->request;
    msg->warp = asked->warp;
    msg->lanes = asked->lanes;
    asked->lanes = GPC_NONE;
    carry_words(x, msg, words, line);
    return gpc_send(x, i);
}

int
gpc_complete(gpc_step_t *x, gpc_index_t request, const uint32_t *words, bool hit)
{
    const gpc_watch_t *watch = x->unit->monitors;
    if (request == x->message) {
        x->kept = true;
    }
    if (watch) {
        const gpc_msg_t *msg = gpc_msg_at(x->unit->messages, request);
        int status = watch->completed(watch->watcher, x->unit, msg, words, hit);
        if (status) {
            return status;
        }
    }
    return x->unit->ports->complete(x->unit->world, x->unit, request, words, hit);
}

int
gpc_fetch(gpc_step_t *x)
{
    gpc_count(x, fetches);
    return x->unit->ports->fetch(x->unit->world, x->unit, x->line, 0);
}

int
gpc_write_memory(gpc_step_t *x, gpc_mask_t words)
{
    gpc_count(x, writebacks);
    return x->unit->ports->write_memory(x->unit->world, x->unit, x->line, words, gpc_line_words(x));
}

/* ---- actions of any protocol --------------------------------------------------------------------------------------------------- */

GPC_SHARED_ACTION(act_reserve_way, "a way for the line, its victim evicted, or hold")
{
    return gpc_reserve_way(x);
}

GPC_SHARED_ACTION(act_release_way, "the line's way, if it has one, is free")
{
    return gpc_release_way(x);
}

GPC_SHARED_ACTION(act_wait, "the request is pending")
{
    return gpc_keep_pending(x);
}

GPC_SHARED_ACTION(act_hit, "the load completes from the line")
{
    gpc_count(x, load_hits);
    return gpc_complete(x, x->message, gpc_line_words(x), true);
}

GPC_SHARED_ACTION(act_write_back, "the line to memory")
{
    return gpc_write_memory(x, gpc_all_words(x->unit));
}

GPC_SHARED_ACTION(act_count_invalidation, "counts a copy dropped at another's wish")
{
    gpc_count(x, invalidations);
    return GPC_OK;
}

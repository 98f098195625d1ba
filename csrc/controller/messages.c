/* messages.c: messages that actions build, stamp and send; completions, fetches and write-backs. */
#include <string.h>

#include "controller/controller.h"
#include "controller/requests.h"

/* ---- messages ---------------------------------------------------------------------------------------------------- */

/* Bytes of an atomic's lanes: operands in requests (two for a compare-and-swap), old values in answers. Out of line:
 * rare. */
__attribute__((noinline)) static uint32_t
lanes_bytes(const gpc_controller_t *unit, const gpc_msg_t *msg)
{
    const gpc_lane_list_t *lanes = gpc_lane_list_at(unit->lane_lists, msg->lanes);
    if (lanes->operation == GPC_ATOMIC_MERGE) { /* words and four bits of byte mask each; no old values */
        return gpc_is_request(unit, msg) ? 4u * lanes->count + (lanes->count + 1u) / 2u : 0u;
    }
    bool two = lanes->operation == GPC_ATOMIC_CAS && gpc_is_request(unit, msg);
    return (two ? 8u : 4u) * lanes->count;
}

/* Bytes of the words that the message carries. */
static uint32_t
payload_bytes(const gpc_controller_t *unit, const gpc_msg_t *msg)
{
    const gpc_message_info_t *info = gpc_message_info(unit, msg->type);

    if (msg->lanes != GPC_NONE) {
        return lanes_bytes(unit, msg);
    }
    if (info->whole_line) {
        return msg->here ? 4 * gpc_count_bits(msg->here) : unit->machine->line_bytes;
    }
    return info->bytes_per_word == 0 ? 0 : info->bytes_per_word * gpc_count_bits(msg->mask);
}

uint32_t
gpc_message_bytes(const gpc_controller_t *unit, const gpc_msg_t *msg)
{
    const gpc_message_info_t *info = gpc_message_info(unit, msg->type);
    const gpc_other_sizes_t *other = &unit->protocol->other_sizes; /* bytes: NULL unless the option selects them */
    uint32_t payload = payload_bytes(unit, msg);

    return other->bytes ? other->bytes(info->whole_line && msg->lanes == GPC_NONE, payload)
                        : info->fixed_bytes + payload;
}

/* The words that a request wants, or that a fetch was for; 0: unknown. A request without a mask has those of its core's
 * in `here`. */
__attribute__((noinline)) static gpc_mask_t /* only with sectors: its callers stay short */
wanted_by(const gpc_msg_t *asked)
{
    return asked->type == GPC_MSG_FILL || asked->mask == 0 ? asked->here : asked->mask;
}

gpc_msg_t *
gpc_new_message(gpc_step_t *x, uint8_t type, gpc_node_t destination)
{
    gpc_controller_t *unit = x->unit;
    gpc_index_t i = gpc_pool_take(unit->messages);

    if (i == GPC_NONE) {
        (void) gpc_fail(unit->failure, GPC_ERROR_CAPACITY, "%s %u: no free message among %u", unit->type->name,
                        unit->index, unit->messages->capacity);
    }
    gpc_msg_t *msg = i == GPC_NONE ? gpc_pool_spare(unit->messages) : gpc_msg_at(unit->messages, i);
    gpc_msg_clear(msg);
    msg->next = msg->request = msg->lanes = msg->access = GPC_NONE;
    msg->type = type;
    msg->source = msg->requester = unit->node;
    msg->destination = destination;
    msg->line = x->line;
    msg->warp = x->warp;
    msg->scope = x->scope;
    if (gpc_has_message(x)) {
        msg->flags = x->msg->flags & GPC_MSG_FLAG_READ_ONLY;
        msg->requester = x->msg->requester;
        msg->request = x->msg->request;
        msg->warp = x->msg->warp;
        msg->order = x->msg->order;
        msg->scope = x->msg->scope;
        if (unit->sectors) {
            msg->here = wanted_by(x->msg);
        }
    }
    return msg;
}

void
gpc_carry(const gpc_step_t *x, gpc_msg_t *msg, gpc_mask_t words, const uint32_t *line)
{
    const gpc_message_info_t *info = gpc_message_info(x->unit, msg->type);

    msg->mask = info->whole_line ? gpc_all_words(x->unit) : words;
    if (info->whole_line || info->bytes_per_word) {
        gpc_merge_words(msg->data, line, msg->mask);
    }
}

static void
move_lanes(gpc_msg_t *to, gpc_msg_t *from)
{
    to->lanes = from->lanes;
    from->lanes = GPC_NONE;
}

gpc_msg_t *
gpc_new_request(gpc_step_t *x, uint8_t type)
{
    gpc_msg_t *msg = gpc_new_message(x, type, gpc_home_of(x->unit, x->line));

    if (gpc_has_message(x)) {
        gpc_carry(x, msg, x->msg->mask, x->msg->data);
        move_lanes(msg, x->msg); /* the answer returns them */
    }
    return msg;
}

gpc_msg_t *
gpc_new_answer(gpc_step_t *x, gpc_index_t to, uint8_t type)
{
    const gpc_message_info_t *info = gpc_message_info(x->unit, type);
    if (to == GPC_NONE) {
        (void) gpc_lacks_message(x, "answer");
        return gpc_pool_spare(x->unit->messages); /* gpc_send refuses it */
    }
    gpc_msg_t *asked = gpc_msg_at(x->unit->messages, to);
    gpc_msg_t *msg = gpc_new_message(x, type, asked->source);

    msg->flags = asked->flags & GPC_MSG_FLAG_READ_ONLY;
    msg->requester = asked->requester;
    msg->request = asked->request;
    msg->warp = asked->warp;
    if (x->unit->sectors) {
        msg->here = wanted_by(asked);
    }
    move_lanes(msg, asked);
    if (info->whole_line || info->bytes_per_word) {
        gpc_carry(x, msg, asked->mask, gpc_line_words(x));
    } else if (msg->lanes != GPC_NONE) {
        msg->mask = asked->mask;
    }
    return msg;
}

/* What the message brings of a whole line: from a bank to a core the sectors of the words that were asked for. What a
 * core's message asks for stays. */
__attribute__((noinline)) static gpc_mask_t
sectors_brought(const gpc_controller_t *unit, const gpc_msg_t *msg)
{
    const gpc_message_info_t *info = gpc_message_info(unit, msg->type);
    bool down = unit->type->position == GPC_AT_BANK && msg->destination < unit->machine->cores;
    if (unit->type->position == GPC_AT_CORE && !info->whole_line) {
        return msg->here;
    }
    return down && info->whole_line && msg->lanes == GPC_NONE ? gpc_sectors_of(unit->machine->sector_bytes, msg->here)
                                                              : GPC_NO_WORDS;
}

/* Gives the message its type's place in the protocol's list and its size on the wire, and reports that it is sent. */
static int
stamp(const gpc_controller_t *unit, gpc_index_t message, const gpc_nodeset_t *to)
{
    gpc_msg_t *msg = gpc_msg_at(unit->messages, message);
    const gpc_message_info_t *info = gpc_message_info(unit, msg->type);

    msg->network = info->network;
    msg->traffic_class = (uint8_t) info->traffic_class;
    if (unit->sectors) {
        msg->here = sectors_brought(unit, msg);
    }
    msg->bytes = gpc_message_bytes(unit, msg);
    msg->flits = (uint16_t) gpc_quotient(unit->by_flit, msg->bytes + unit->by_flit.divisor - 1);
    return GPC_OBSERVE(&unit->tap, SENT, sent, unit, msg, to);
}

static int
no_room(const gpc_controller_t *unit)
{
    return unit->failure->code ? unit->failure->code : GPC_ERROR_CAPACITY;
}

static int
stamp_and_send(gpc_controller_t *unit, gpc_index_t message)
{
    GPC_TRY(stamp(unit, message, NULL));
    return unit->ports->send(unit->world, unit, message);
}

int
gpc_send_probed(gpc_step_t *x, gpc_msg_t *msg)
{
    gpc_controller_t *unit = x->unit;
    gpc_index_t message = gpc_msg_index(unit->messages, msg);

    if (message == unit->messages->capacity) {
        return no_room(unit);
    }
    GPC_TRY(stamp(unit, message, NULL));
    return unit->ports->send_probed(unit->world, unit, message);
}

int
gpc_send(gpc_step_t *x, gpc_msg_t *msg)
{
    gpc_controller_t *unit = x->unit;
    gpc_index_t message = gpc_msg_index(unit->messages, msg);

    if (message == unit->messages->capacity) {
        return no_room(unit);
    }
    if (unit->collects) {
        gpc_collect(unit, message);
        return GPC_OK;
    }
    return stamp_and_send(unit, message);
}

int
gpc_send_outstanding(gpc_step_t *x, gpc_msg_t *msg)
{
    gpc_requests_mshr(x)->outstanding++;
    return gpc_send(x, msg);
}

int
gpc_send_and_wait(gpc_step_t *x, gpc_msg_t *msg)
{
    GPC_TRY(gpc_send_outstanding(x, msg));
    return gpc_keep_pending(x);
}

int
gpc_send_collected(gpc_controller_t *unit, bool forget)
{
    gpc_index_t message;

    if (forget) {
        gpc_list_clear(&unit->sent);
    }
    while ((message = gpc_list_pop(&unit->sent, unit->messages)) != GPC_NONE) {
        GPC_TRY(stamp_and_send(unit, message));
    }
    return GPC_OK;
}

int
gpc_broadcast(gpc_step_t *x, gpc_msg_t *msg, const gpc_nodeset_t *to)
{
    gpc_controller_t *unit = x->unit;
    gpc_index_t message = gpc_msg_index(unit->messages, msg);

    if (message == unit->messages->capacity) {
        return no_room(unit);
    }
    GPC_TRY(stamp(unit, message, to));
    return unit->ports->broadcast(unit->world, unit, message, to);
}

int
gpc_note_accepted(gpc_step_t *x)
{
    if (x->message == GPC_NONE) {
        return gpc_lacks_message(x, "accept");
    }
    int status = GPC_OBSERVE(&x->unit->tap, ACCEPTED, accepted, x->unit, x->msg);
    x->msg->request = GPC_NONE;
    return status;
}

int
gpc_note_drained(gpc_step_t *x, gpc_mask_t mask, const uint32_t *words, gpc_cycle_t until)
{
    gpc_msg_t store;

    if (!gpc_is_observed(&x->unit->tap, GPC_ON_PERFORMED)) {
        return GPC_OK;
    }
    memset(&store, 0, sizeof(store));
    store.type = GPC_MSG_STORE;
    store.source = store.requester = x->unit->node;
    store.next = store.request = store.lanes = store.access = GPC_NONE;
    store.line = x->line;
    store.mask = mask;
    gpc_merge_words(store.data, words, mask);
    return GPC_OBSERVE(&x->unit->tap, PERFORMED, performed, x->unit, &store, until);
}

static int
complete(gpc_step_t *x, gpc_index_t request, const uint32_t *words, bool hit, uint32_t extra)
{
    gpc_controller_t *unit = x->unit;
    if (request == GPC_NONE) {
        return gpc_lacks_message(x, "complete");
    }
    if (request == x->message) {
        x->kept = true;
    }
    GPC_TRY(GPC_OBSERVE(&unit->tap, COMPLETED, completed, unit, gpc_msg_at(unit->messages, request), words, hit));
    return unit->ports->complete(unit->world, unit, request, words, hit, extra);
}

int
gpc_complete(gpc_step_t *x, gpc_index_t request, const uint32_t *words, bool hit)
{
    return complete(x, request, words, hit, 0);
}

int
gpc_complete_pending(gpc_step_t *x, const uint32_t *words)
{
    gpc_index_t request;
    while ((request = gpc_pop_pending(x)) != GPC_NONE) {
        GPC_TRY(gpc_complete(x, request, words, false));
    }
    return GPC_OK;
}

int
gpc_perform_and_complete(gpc_step_t *x, gpc_index_t request, bool hit)
{
    const gpc_msg_t *msg = gpc_msg_at(x->unit->messages, request);
    uint32_t *words = gpc_line_words(x);
    int status = GPC_OK;

    if (msg->type == GPC_MSG_ATOMIC) {
        (void) gpc_rmw_perform(gpc_lane_list_at(x->unit->lane_lists, msg->lanes), words);
    } else if (msg->type == GPC_MSG_STORE) {
        gpc_merge_words(words, msg->data, msg->mask);
    }
    if (msg->type != GPC_MSG_LOAD) {
        status = gpc_note_performed(x, request, 0);
    }
    GPC_TRY(status);
    return gpc_complete(x, request, words, hit);
}

int
gpc_complete_from(gpc_step_t *x, gpc_index_t request, const uint32_t *words, uint8_t array)
{
    const gpc_controller_t *unit = x->unit;
    const gpc_array_info_t *info = &unit->type->arrays[array];
    return complete(x, request, words, true, info->extra ? info->extra(unit->machine, unit->options) : 0);
}

int
gpc_fetch(gpc_step_t *x)
{
    return gpc_fetch_after(x, 0);
}

int
gpc_fetch_after(gpc_step_t *x, uint32_t cycles)
{
    gpc_count(x, fetches);
    GPC_TRY(GPC_OBSERVE(&x->unit->tap, MEMORY, memory, x->unit, x->line, GPC_NO_WORDS, NULL));
    return x->unit->ports->fetch(x->unit->world, x->unit, x->line, cycles);
}

int
gpc_need_memory_room(gpc_step_t *x)
{
    return x->unit->ports->memory_room(x->unit->world, x->line) ? GPC_OK : GPC_HOLD;
}

static int
write_memory(gpc_step_t *x, gpc_mask_t words, const uint32_t *line, const uint64_t *note)
{
    gpc_count(x, writebacks);
    GPC_TRY(GPC_OBSERVE(&x->unit->tap, MEMORY, memory, x->unit, x->line, words, line));
    return x->unit->ports->write_memory(x->unit->world, x->unit, x->line, words, line, note);
}

int
gpc_write_memory(gpc_step_t *x, gpc_mask_t words, const uint32_t *line)
{
    return write_memory(x, words, line, NULL);
}

int
gpc_write_memory_answered(gpc_step_t *x, gpc_mask_t words, const uint32_t *line, uint64_t note)
{
    return write_memory(x, words, line, &note);
}

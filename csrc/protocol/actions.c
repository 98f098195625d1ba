/* actions.c: what the actions of protocol files are made of. */
#include <string.h>

#include "protocol/controller.h"

gpc_node_t
gpc_home_of(const gpc_controller_t *unit, gpc_address_t line)
{
    return (gpc_node_t) (unit->first_bank + line / unit->machine->interleave_bytes % unit->machine->partitions);
}

/* ---- ways --------------------------------------------------------------------------------------------------------------------- */

static void
victim_step(const gpc_step_t *x, gpc_index_t way, gpc_step_t *victim)
{
    *victim = (gpc_step_t){.unit = x->unit,
                           .table = x->table,
                           .table_number = x->table_number,
                           .array = x->array,
                           .cause = GPC_MSG_EVICT,
                           .message = GPC_NONE,
                           .line = x->unit->arrays[x->array].tags[way].line,
                           .mask = gpc_all_words(x->unit),
                           .way = way,
                           .mshr = GPC_NONE,
                           .entry = GPC_NONE,
                           .kept = true};
    victim->state = x->unit->arrays[x->array].tags[way].state;
}

static bool
lets_go(const gpc_step_t *x, gpc_index_t way)
{
    if (x->unit->arrays[x->array].tags[way].mshr != GPC_NONE) {
        return false; /* promised to a transaction */
    }
    if (x->table->object != GPC_OVER_LINES) {
        return true;
    }
    gpc_step_t victim;
    victim_step(x, way, &victim);
    gpc_event_id_t event = x->table->classify(&victim);
    if (event & 0x80) {
        return true; /* a pre-event first: it will leave */
    }
    if (event >= x->table->num_events) {
        return false;
    }
    uint8_t kind = gpc_fsm_cell(x->table, victim.state, event)->kind;
    return kind == GPC_CELL_GO || kind == GPC_CELL_REDO;
}

/* The way to take: a free one, else the lowest rank, least recently used, among those that the table lets go. */
static gpc_index_t
choose_way(const gpc_step_t *x)
{
    const gpc_controller_t *unit = x->unit;
    const gpc_tags_t *tags = &unit->arrays[x->array];
    gpc_index_t first = gpc_tags_set_of(tags, x->line) * tags->ways, best = GPC_NONE;
    uint32_t best_rank = UINT32_MAX;

    for (gpc_index_t way = first; way < first + tags->ways; way++) {
        if (!gpc_tags_present(tags, way)) {
            return way;
        }
    }
    for (gpc_index_t way = first; way < first + tags->ways; way++) {
        if (!lets_go(x, way)) {
            continue;
        }
        uint32_t rank = unit->type->victim_rank ? unit->type->victim_rank(unit, x->array, way) : 0;
        if (best == GPC_NONE || rank < best_rank ||
            (rank == best_rank && tags->tags[way].used < tags->tags[best].used)) {
            best = way;
            best_rank = rank;
        }
    }
    return best;
}

bool
gpc_can_reserve_way(const gpc_step_t *x)
{
    return choose_way(x) != GPC_NONE;
}

int
gpc_reserve_way(gpc_step_t *x)
{
    gpc_tags_t *tags = &x->unit->arrays[x->array];

    if (x->way != GPC_NONE) {
        return GPC_OK;
    }
    gpc_index_t way = choose_way(x);
    if (way == GPC_NONE) {
        return GPC_HOLD;
    }
    if (gpc_tags_present(tags, way)) {
        gpc_step_t victim;
        victim_step(x, way, &victim);
        gpc_count(x, evictions);
        int status = gpc_fsm_step(&victim);
        if (status != GPC_OK) {
            return status < 0 ? status : GPC_HOLD;
        }
        if (gpc_tags_present(tags, way)) {
            gpc_tags_drop(tags, way);
        }
    }
    gpc_tags_place(tags, way, x->line, x->table->initial);
    tags->tags[way].mshr = x->mshr;
    x->way = way;
    if (x->mshr != GPC_NONE) {
        gpc_mshr_at(&x->unit->mshrs, x->mshr)->way = way;
    }
    return GPC_OK;
}

int
gpc_release_way(gpc_step_t *x)
{
    if (x->way != GPC_NONE) {
        gpc_tags_drop(&x->unit->arrays[x->array], x->way);
        x->way = GPC_NONE;
    }
    if (x->mshr != GPC_NONE) {
        gpc_mshr_at(&x->unit->mshrs, x->mshr)->way = GPC_NONE;
    }
    return GPC_OK;
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
        msg->requester = x->msg->requester;
        msg->request = x->msg->request;
        msg->warp = x->msg->warp;
        msg->order = x->msg->order;
        msg->scope = x->msg->scope;
    }
    return i;
}

int
gpc_send(gpc_step_t *x, gpc_index_t message)
{
    gpc_controller_t *unit = x->unit;
    gpc_msg_t *msg = gpc_msg_at(unit->messages, message);
    const gpc_message_info_t *info = &unit->protocol->messages[msg->type - GPC_MSG_OWN];
    uint32_t flit = unit->machine->flit_bytes;

    msg->network = info->network;
    msg->traffic_class = (uint8_t) info->traffic_class;
    msg->flits = (uint16_t) ((gpc_message_bytes(unit, msg) + flit - 1) / flit);
    return unit->ports->send(unit->world, unit, message);
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
gpc_send_request(gpc_step_t *x, uint8_t type, gpc_mask_t words)
{
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
    if (request == x->message) {
        x->kept = true;
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

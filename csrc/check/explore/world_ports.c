/* world_ports.c: the explorer's implementation of the controllers' ports, with channels instead of a fabric. */
#include <string.h>

#include "check/explore/world.h"
#include "controller/host.h"

static gpc_cycle_t
port_now(const void *world)
{
    return ((const gpc_world_t *) world)->state->now;
}

static int
port_send(void *world, gpc_controller_t *from, gpc_index_t message)
{
    gpc_world_t *self = world;
    gpc_msg_t *msg = gpc_msg_at(&self->messages, message);
    if (self->has_subsets && !(self->carries[from->node][msg->destination] >> msg->network & 1)) {
        return gpc_fail(&self->failure, GPC_ERROR_PROTOCOL,
                        "%s %u sends to node %u on network '%s', which the protocol does not declare", from->type->name,
                        from->index, msg->destination, self->protocol->networks[msg->network].name);
    }
    msg->ready = 0;
    gpc_list_push(gpc_world_channel(self, from->node, msg->destination, msg->network), &self->messages, message);
    return GPC_OK;
}

static int
port_broadcast(void *world, gpc_controller_t *from, gpc_index_t message, const gpc_nodeset_t *to)
{
    gpc_world_t *self = world;
    for (uint32_t node = 0; node < self->nodes.count; node++) {
        if (!(to->bits[node / 64] >> (node % 64) & 1)) {
            continue;
        }
        gpc_index_t copy = gpc_pool_take(&self->messages);
        if (copy == GPC_NONE) {
            return gpc_fail(&self->failure, GPC_ERROR_CAPACITY, "explorer: out of messages");
        }
        *gpc_msg_at(&self->messages, copy) = *gpc_msg_at(&self->messages, message);
        gpc_msg_at(&self->messages, copy)->destination = (gpc_node_t) node;
        GPC_TRY(port_send(world, from, copy));
    }
    gpc_free_message(from, message);
    return GPC_OK;
}

static int
port_instant(void *world, gpc_controller_t *from, gpc_address_t line, const gpc_nodeset_t *to, gpc_node_t except,
             uint8_t cause)
{
    gpc_world_t *self = world;
    (void) from;
    for (uint32_t core = 0; core < self->machine.cores; core++) {
        bool meant = core != except && (!to || (to->bits[core / 64] >> (core % 64) & 1));
        GPC_TRY(meant ? gpc_controller_cause(self->l1s[core], cause, line) : GPC_OK);
    }
    return GPC_OK;
}

/* A message that no channel carries: memory's answer, a timer. */
static gpc_index_t
inner_message(gpc_world_t *self, const gpc_controller_t *unit, uint8_t type, gpc_address_t line, uint64_t note)
{
    gpc_index_t message = gpc_pool_take(&self->messages);
    if (message == GPC_NONE) {
        (void) gpc_fail(&self->failure, GPC_ERROR_CAPACITY, "explorer: out of messages");
        return GPC_NONE;
    }
    gpc_msg_t *msg = gpc_msg_at(&self->messages, message);
    memset(msg, 0, sizeof(*msg));
    msg->request = msg->lanes = msg->access = GPC_NONE;
    msg->type = type;
    msg->source = msg->destination = msg->requester = unit->node;
    msg->line = line;
    msg->fields[0] = note;
    return message;
}

static int
port_wake_at(void *world, gpc_controller_t *unit, gpc_cycle_t at, gpc_address_t line, uint32_t tag, gpc_timer_t kind)
{
    gpc_world_t *self = world;
    gpc_index_t message = inner_message(self, unit, GPC_MSG_TIMER, line, tag);
    if (message == GPC_NONE) {
        return GPC_ERROR_CAPACITY;
    }
    gpc_msg_at(&self->messages, message)->ready = at;
    gpc_msg_at(&self->messages, message)->fields[1] = kind;
    gpc_list_push(kind == GPC_TIMER_NEEDED ? &self->state->timers : &self->state->background, &self->messages, message);
    return GPC_OK;
}

static int
port_schedule(void *world, gpc_controller_t *unit)
{
    (void) world, (void) unit;
    return GPC_OK; /* ready entries and replayed requests are moves of every state */
}

/* What is in flight counts: a declared outbox has room again when the messages have arrived. */
static bool
port_room(const void *world, const gpc_controller_t *unit, uint8_t network)
{
    const gpc_world_t *self = world;
    uint32_t sent = 0;
    for (uint32_t node = 0; node < self->nodes.count; node++) {
        sent += gpc_world_channel(self, unit->node, node, network)->count;
    }
    return unit->type->outbox == 0 || sent < unit->type->outbox;
}

static int
port_wake_warp(void *world, gpc_controller_t *l1, uint16_t warp, gpc_cycle_t at)
{
    (void) world, (void) l1, (void) warp, (void) at;
    return GPC_OK; /* every thread is asked at every state */
}

/* The words of a load's or atomic's value that have arrived with the message. */
static void
take_value(const gpc_world_t *self, gpc_world_thread_t *thread, uint32_t number, const gpc_explore_op_t *op,
           const gpc_msg_t *msg, const uint32_t *words)
{
    uint32_t first = gpc_world_first_word(self, op), old[GPC_WORLD_LINE_WORDS];
    if (msg->type == GPC_MSG_ATOMIC) {
        const gpc_lane_list_t *lanes = gpc_lane_list_at(&self->lane_lists, msg->lanes);
        for (uint32_t n = 0; n < lanes->count; n++) {
            old[lanes->word[n]] = lanes->old[n];
        }
        words = old;
    }
    for (gpc_mask_t left = msg->mask & gpc_world_mask_of(self, op); left; left &= left - 1) {
        uint32_t word = (uint32_t) __builtin_ctz(left);
        thread->read[number] |= (uint64_t) words[word] << 32 * (word - first);
    }
}

/* Notes that the words of the message have arrived: whether they are the last ones of its operation, which may have
 * two. */
static bool
note_part(const gpc_world_t *self, gpc_world_thread_t *thread, uint32_t number, const gpc_explore_op_t *op,
          const gpc_msg_t *msg)
{
    if (gpc_world_has_two(self, op) && (msg->mask & (msg->mask - 1)) == 0) {
        thread->begun ^= UINT32_C(1) << number;
        return (thread->begun >> number & 1) == 0;
    }
    return true;
}

/* The operation is complete. */
static int
end_access(gpc_world_t *self, const gpc_controller_t *l1, uint32_t number, uint32_t op, bool reads)
{
    gpc_world_thread_t *thread = &self->state->threads[number];
    const gpc_explore_op_t *asked = &self->what->threads[number].ops[op];
    gpc_access_t access = {asked->kind, asked->order, asked->scope};

    thread->complete |= reads ? UINT32_C(1) << op : 0;
    if (asked->kind == GPC_EXPLORE_LOAD && asked->value && thread->read[op] != asked->value) {
        thread->read[op] = 0; /* no younger operation has issued */
        thread->complete &= ~(UINT32_C(1) << op);
        thread->next_op = op;
    }
    thread->outstanding--;
    gpc_order_let_go(&self->order, l1->index, self->warp_of[number],
                     gpc_world_address(gpc_world_line_number(self, asked->variable)), gpc_world_mask_of(self, asked));
    return gpc_order_completed(&self->order, l1->index, self->warp_of[number], &access);
}

static int
port_complete(void *world, gpc_controller_t *l1, gpc_index_t message, const uint32_t *words, bool hit, uint32_t extra)
{
    gpc_world_t *self = world;
    const gpc_msg_t *msg = gpc_msg_at(&self->messages, message);
    (void) hit, (void) extra;

    if (msg->access != GPC_WORLD_NO_THREAD) {
        uint32_t number = msg->access / GPC_WORLD_MAX_OPS, op = msg->access % GPC_WORLD_MAX_OPS;
        gpc_world_thread_t *thread = &self->state->threads[number];
        const gpc_explore_op_t *asked = &self->what->threads[number].ops[op];
        bool reads = msg->type != GPC_MSG_STORE;

        if (reads) {
            take_value(self, thread, op, asked, msg, words);
        }
        if (note_part(self, thread, op, asked, msg)) {
            GPC_TRY(end_access(self, l1, number, op, reads));
        }
    }
    gpc_msg_at(&self->messages, message)->access = GPC_NONE; /* what still names it, names nothing */
    gpc_free_message(l1, message);
    return GPC_OK;
}

static int
port_fetch(void *world, gpc_controller_t *unit, gpc_address_t line, uint32_t late)
{
    gpc_world_t *self = world;
    gpc_index_t message = inner_message(self, unit, GPC_MSG_FILL, line, 0);
    (void) late;
    if (message == GPC_NONE) {
        return GPC_ERROR_CAPACITY;
    }
    gpc_msg_t *msg = gpc_msg_at(&self->messages, message);
    msg->mask = gpc_all_words(unit);
    memcpy(msg->data, self->state->memory[line / GPC_WORLD_LINE_BYTES], GPC_WORLD_LINE_BYTES);
    gpc_list_push(&self->state->answers, &self->messages, message);
    return GPC_OK;
}

/* A write takes effect at once, and an entry that is refused acts in a later state, which the explorer visits
 * anyway. */
static bool
port_memory_room(const void *world, gpc_address_t line)
{
    (void) world, (void) line;
    return true;
}

static int
port_write_memory(void *world, gpc_controller_t *unit, gpc_address_t line, gpc_mask_t mask, const uint32_t *words,
                  const uint64_t *note)
{
    gpc_world_t *self = world;
    gpc_merge_words(self->state->memory[line / GPC_WORLD_LINE_BYTES], words, mask);
    if (note) {
        gpc_index_t message = inner_message(self, unit, GPC_MSG_WRITTEN, line, *note);
        if (message == GPC_NONE) {
            return GPC_ERROR_CAPACITY;
        }
        gpc_msg_at(&self->messages, message)->mask = mask;
        gpc_list_push(&self->state->answers, &self->messages, message);
    }
    return GPC_OK;
}

static int
port_visit(void *world, int (*what)(gpc_controller_t *unit, void *context), void *context)
{
    gpc_world_t *self = world;
    int status = GPC_OK;
    for (uint32_t node = 0; node < self->nodes.count && status == GPC_OK; node++) {
        status = what(&self->controllers[node], context);
    }
    return status;
}

static int
port_newest(void *world, gpc_address_t line, uint32_t *words)
{
    gpc_world_t *self = world;
    gpc_units_t units = gpc_nodes_units(&self->nodes, self->controllers, self->l1s, line);

    memcpy(words, self->state->memory[line / GPC_WORLD_LINE_BYTES], GPC_WORLD_LINE_BYTES);
    return gpc_host_newest(self->protocol, &units, line, words);
}

const gpc_ports_t gpc_world_ports = {
    .now = port_now,
    .send = port_send,
    .send_probed = port_send,
    .broadcast = port_broadcast,
    .instant = port_instant,
    .wake_at = port_wake_at,
    .schedule = port_schedule,
    .room = port_room,
    .wake_warp = port_wake_warp,
    .complete = port_complete,
    .fetch = port_fetch,
    .memory_room = port_memory_room,
    .write_memory = port_write_memory,
    .visit = port_visit,
    .newest = port_newest,
};

/* world_moves.c: the possible moves of the explorer's world, and their execution. */
#include <stdlib.h>
#include <string.h>

#include "check/copies.h"
#include "check/explore/world.h"
#include "controller/controller.h"

/* ---- what might happen ------------------------------------------------------------------------------------------- */

static int
add_move(gpc_moves_t *moves, gpc_move_t move)
{
    if (moves->count == moves->capacity) {
        uint32_t capacity = moves->capacity ? 2 * moves->capacity : 64;
        gpc_move_t *list = realloc(moves->list, capacity * sizeof(*list));
        if (!list) {
            return GPC_ERROR_MEMORY;
        }
        moves->list = list;
        moves->capacity = capacity;
    }
    moves->list[moves->count++] = move;
    return GPC_OK;
}

void
gpc_moves_free(gpc_moves_t *self)
{
    free(self->list);
    *self = (gpc_moves_t){0};
}

/* From every array that the line has a way in: an L2's and its directory's. */
static int
add_evictions(const gpc_world_t *self, uint32_t node, gpc_moves_t *moves)
{
    int status = GPC_OK;

    for (uint32_t line = 0; self->state->evictions && line < self->lines; line++) {
        for (uint8_t array = 0; array < GPC_MAX_ARRAYS && status == GPC_OK; array++) {
            const gpc_tags_t *tags = &self->controllers[node].arrays[array];
            gpc_index_t way = tags->sets ? gpc_tags_find(tags, gpc_world_address(line)) : GPC_NONE;
            if (way != GPC_NONE && tags->tags[way].mshr == GPC_NONE) {
                status = add_move(moves, (gpc_move_t){GPC_MOVE_EVICT, (uint8_t) node, (uint8_t) line, array, 0});
            }
        }
    }
    return status;
}

static int
add_deliveries(const gpc_world_t *self, gpc_moves_t *moves)
{
    const gpc_list_t *channel = self->channels;
    int status = GPC_OK;

    for (uint32_t source = 0; source < self->nodes.count; source++) {
        for (uint32_t destination = 0; destination < self->nodes.count; destination++) {
            for (uint32_t network = 0; network < self->num_networks; network++, channel++) {
                uint32_t there = channel->count;
                uint32_t reach = self->protocol->networks[network].ordered && there ? 1 : there;
                for (uint32_t i = 0; i < reach && status == GPC_OK; i++) {
                    status = add_move(moves, (gpc_move_t){GPC_MOVE_DELIVER, (uint8_t) source, (uint8_t) destination,
                                                          (uint8_t) network, (uint16_t) i});
                }
            }
        }
    }
    return status;
}

static int
add_timers(const gpc_world_t *self, gpc_moves_t *moves)
{
    gpc_index_t timer = self->state->timers.head;
    int status = GPC_OK;

    for (uint32_t number = 0; number < self->state->timers.count && status == GPC_OK; number++) {
        if (gpc_msg_at(&self->messages, timer)->ready <= self->state->now) {
            status = add_move(moves, (gpc_move_t){.kind = GPC_MOVE_TIMER, .position = (uint16_t) number});
        }
        timer = gpc_msg_at(&self->messages, timer)->next;
    }
    return status;
}

static int
add_background(const gpc_world_t *self, gpc_moves_t *moves)
{
    gpc_index_t timer = self->state->background.head;
    int status = GPC_OK;
    for (uint32_t i = 0; i < self->state->background.count && status == GPC_OK; i++) {
        const gpc_msg_t *msg = gpc_msg_at(&self->messages, timer);
        bool serves = msg->fields[1] == GPC_TIMER_SERVING;
        status = add_move(moves, (gpc_move_t){.kind = GPC_MOVE_BACKGROUND, .a = serves, .position = (uint16_t) i});
        timer = msg->next;
    }
    return status;
}

static int
add_entries(const gpc_world_t *self, uint32_t node, gpc_moves_t *moves)
{
    const gpc_controller_t *unit = &self->controllers[node];
    int status = GPC_OK;
    for (uint8_t part = 0; *unit->ready && part < GPC_MAX_PARTS && status == GPC_OK; part++) {
        if (unit->type->parts[part].name && unit->parts[part].ready->count) {
            status = add_move(moves, (gpc_move_t){.kind = GPC_MOVE_ENTRY, .a = (uint8_t) node, .b = part});
        }
    }
    return status;
}

static int
add_moves_of_node(const gpc_world_t *self, uint32_t node, gpc_moves_t *moves)
{
    int status = GPC_OK;

    if (self->controllers[node].replay->count) {
        status = add_move(moves, (gpc_move_t){.kind = GPC_MOVE_REPLAY, .a = (uint8_t) node});
    }
    if (status == GPC_OK) {
        status = add_entries(self, node, moves);
    }
    if (status == GPC_OK && gpc_world_may_end(self, node)) {
        status = add_move(moves, (gpc_move_t){.kind = GPC_MOVE_END, .a = (uint8_t) node});
    }
    GPC_TRY(status);
    return add_evictions(self, node, moves);
}

/* Whether a thread's next operation comes after a load that has not yet read the value that it waits for. */
static bool
awaits(const gpc_world_t *self, uint32_t number)
{
    const gpc_world_thread_t *thread = &self->state->threads[number];
    if (thread->next_op == 0) {
        return false;
    }
    const gpc_explore_op_t *op = &self->what->threads[number].ops[thread->next_op - 1];
    return op->kind == GPC_EXPLORE_LOAD && op->value && !(thread->complete >> (thread->next_op - 1) & 1);
}

int
gpc_world_moves(const gpc_world_t *self, gpc_moves_t *moves)
{
    int status = GPC_OK;

    moves->count = 0;
    for (uint32_t t = 0; t < self->what->num_threads && status == GPC_OK; t++) {
        const gpc_world_thread_t *thread = &self->state->threads[t];
        if (thread->next_op < self->what->threads[t].num_ops && thread->waits == GPC_WORLD_RUNS && !awaits(self, t)) {
            status = add_move(moves, (gpc_move_t){.kind = GPC_MOVE_ISSUE, .a = (uint8_t) t});
        }
    }
    if (status == GPC_OK) {
        status = add_deliveries(self, moves);
    }
    for (uint32_t i = 0; i < self->state->answers.count && status == GPC_OK; i++) {
        status = add_move(moves, (gpc_move_t){.kind = GPC_MOVE_MEMORY, .position = (uint16_t) i});
    }
    for (uint32_t node = 0; node < self->nodes.count && status == GPC_OK; node++) {
        status = add_moves_of_node(self, node, moves);
    }
    if (status == GPC_OK && gpc_world_may_begin(self) && gpc_world_quiet(self)) {
        status = add_move(moves, (gpc_move_t){.kind = GPC_MOVE_KERNEL});
    }
    if (status == GPC_OK) {
        status = add_timers(self, moves);
    }
    if (status == GPC_OK) {
        status = add_background(self, moves);
    }
    if (status == GPC_OK && (self->has_times || self->state->timers.count)) {
        status = add_move(moves, (gpc_move_t){.kind = GPC_MOVE_TIME});
    }
    return status;
}

/* ---- execution of a move. A request that is not taken stays where it is; its effects (an eviction) remain. ------- */

static gpc_index_t
take_at(gpc_world_t *self, gpc_list_t *list, uint32_t position)
{
    gpc_index_t previous = GPC_NONE, i = list->head;
    for (; position; position--) {
        previous = i;
        i = gpc_msg_at(&self->messages, i)->next;
    }
    gpc_list_remove_after(list, &self->messages, previous, i);
    if (list->count == 0) {
        gpc_list_clear(list);
    }
    gpc_msg_at(&self->messages, i)->next = GPC_NONE;
    return i;
}

/* What a store or atomic writes or adds. */
static uint64_t
operand(const gpc_world_thread_t *thread, const gpc_explore_op_t *op)
{
    return op->adds ? thread->read[op->source - 1] + op->value : op->value;
}

static int
add_lanes(gpc_world_t *self, gpc_msg_t *msg, const gpc_explore_op_t *op)
{
    msg->lanes = gpc_pool_take(&self->lane_lists);
    if (msg->lanes == GPC_NONE) {
        return gpc_fail(&self->failure, GPC_ERROR_CAPACITY, "explorer: out of lane lists");
    }
    gpc_lane_list_t *lanes = gpc_lane_list_at(&self->lane_lists, msg->lanes);
    memset(lanes, 0, sizeof(*lanes));
    lanes->operation = op->atomic & (uint8_t) ~GPC_EXPLORE_F64;
    lanes->type = (op->atomic & GPC_EXPLORE_F64) != 0 ? GPC_F32 : GPC_I32; /* of two words: f64 */
    lanes->width = gpc_world_has_two(self, op) ? 2 : 1;
    lanes->count = op->kind == GPC_EXPLORE_ADD ? lanes->width : 0;
    for (uint32_t n = 0; n < lanes->count; n++) {
        lanes->word[n] = (uint8_t) (gpc_world_first_word(self, op) + n);
        lanes->operand[n] = msg->data[lanes->word[n]];
        lanes->replacement[n] = (uint32_t) (op->replacement >> 32 * n);
    }
    return GPC_OK;
}

static int
make_request(gpc_world_t *self, uint32_t number, gpc_index_t *message)
{
    static const uint8_t types[] = {GPC_MSG_LOAD, GPC_MSG_STORE, GPC_MSG_ATOMIC};
    const gpc_explore_thread_t *program = &self->what->threads[number];
    uint32_t next_op = self->state->threads[number].next_op;
    const gpc_explore_op_t *op = &program->ops[next_op];

    *message = gpc_pool_take(&self->messages);
    if (*message == GPC_NONE) {
        return gpc_fail(&self->failure, GPC_ERROR_CAPACITY, "explorer: out of messages");
    }
    gpc_msg_t *msg = gpc_msg_at(&self->messages, *message);
    memset(msg, 0, sizeof(*msg));
    msg->type = types[op->kind];
    msg->flags = op->read_only ? GPC_MSG_FLAG_READ_ONLY : 0;
    msg->network = GPC_MAX_NETWORKS;
    msg->order = op->order;
    msg->scope = op->scope;
    msg->source = msg->requester = (gpc_node_t) program->core;
    msg->warp = (uint16_t) self->warp_of[number];
    msg->request = *message;
    msg->lanes = GPC_NONE;
    msg->access = number * GPC_WORLD_MAX_OPS + next_op; /* thread and operation of the request */
    msg->line = gpc_world_address(gpc_world_line_number(self, op->variable));
    msg->issued = self->state->now;
    msg->mask = gpc_world_mask_of(self, op);
    gpc_world_put(self, op, operand(&self->state->threads[number], op), msg->data);
    bool whole = self->keeps_whole && gpc_world_has_two(self, op) && op->order != GPC_ORDER_WEAK;
    return op->kind == GPC_EXPLORE_ADD || whole ? add_lanes(self, msg, op) : GPC_OK;
}

static int
offer_request(gpc_world_t *self, uint32_t number, const gpc_access_t *access)
{
    uint32_t core = self->what->threads[number].core;
    gpc_world_thread_t *thread = &self->state->threads[number];
    gpc_order_warp_t *warp = &self->order.warp[core * GPC_WORLD_MAX_THREADS + self->warp_of[number]], before = *warp;
    gpc_index_t message;

    int status = make_request(self, number, &message);
    GPC_TRY(status);
    gpc_address_t line = gpc_msg_at(&self->messages, message)->line;
    gpc_mask_t mask = gpc_msg_at(&self->messages, message)->mask;
    /* issued before the L1 takes it, because it may complete inside the step */
    thread->next_op++;
    thread->outstanding++;
    gpc_order_issued(&self->order, core, self->warp_of[number], access);
    gpc_order_touch(&self->order, core, self->warp_of[number], access, line, mask);
    status = gpc_controller_take(self->l1s[core], message);
    if (status == GPC_HELD_QUEUE) {
        gpc_free_message(self->l1s[core], message);
        thread->next_op--;
        thread->outstanding--;
        gpc_order_let_go(&self->order, core, self->warp_of[number], line, mask);
        *warp = before;
        return GPC_OK;
    }
    return status;
}

/* Whether the value that the operation depends on has been read. */
static bool
has_source(const gpc_world_thread_t *thread, const gpc_explore_op_t *op)
{
    return op->source == 0 || (thread->complete >> (op->source - 1) & 1);
}

/* Whether older accesses to the line or word permit the operation to issue. */
static bool
may_touch(const gpc_world_t *self, uint32_t number, const gpc_explore_op_t *op, const gpc_access_t *access)
{
    return op->kind >= GPC_ACCESS_FENCE ||
           gpc_order_may_touch(&self->order, self->what->threads[number].core, self->warp_of[number], access,
                               gpc_world_address(gpc_world_line_number(self, op->variable)),
                               gpc_world_mask_of(self, op)) == GPC_ORDER_VERDICT_GO;
}

/* The result of a move for a verdict of order.c. The query itself makes a release part progress. */
static int
status_of(int verdict)
{
    bool waits = verdict > 0 && verdict != GPC_ORDER_VERDICT_RELEASE;
    return verdict < 0 ? verdict : waits ? (int) GPC_WORLD_WAITS : GPC_OK;
}

static int
issue(gpc_world_t *self, uint32_t number)
{
    static const uint8_t kinds[] = {GPC_ACCESS_LOAD,  GPC_ACCESS_STORE,   GPC_ACCESS_ATOMIC,
                                    GPC_ACCESS_FENCE, GPC_ACCESS_BARRIER, GPC_ACCESS_EXIT,
                                    GPC_ACCESS_EXIT,  GPC_ACCESS_EXIT,    GPC_ACCESS_EXIT};
    const gpc_explore_thread_t *program = &self->what->threads[number];
    gpc_world_thread_t *thread = &self->state->threads[number];
    const gpc_explore_op_t *op = &program->ops[thread->next_op];
    gpc_access_t access = {kinds[op->kind], op->order, op->scope};
    gpc_cycle_t until;

    if (!has_source(thread, op) || !may_touch(self, number, op, &access)) {
        return GPC_WORLD_WAITS;
    }
    int status = op->kind == GPC_EXPLORE_EXIT ? gpc_world_leave_barrier(self, number) : GPC_OK;
    if (status == GPC_ORDER_VERDICT_GO) {
        status = gpc_order_may_issue(&self->order, program->core, self->warp_of[number], &access, &until);
    }
    if (status != GPC_ORDER_VERDICT_GO) {
        return status_of(status);
    }
    switch ((gpc_explore_kind_t) op->kind) {
        case GPC_EXPLORE_BARRIER:
            return status_of(gpc_world_arrive(self, number, &access));
        case GPC_EXPLORE_KERNEL:
        case GPC_EXPLORE_HOST_LOAD:
        case GPC_EXPLORE_HOST_STORE:
            thread->waits = GPC_WORLD_AT_KERNEL;
            return GPC_OK;
        case GPC_EXPLORE_FENCE:
        case GPC_EXPLORE_EXIT:
            thread->next_op++;
            return GPC_OK;
        default:
            return offer_request(self, number, &access);
    }
}

static void
put_back(gpc_world_t *self, gpc_list_t *list, uint32_t position, gpc_index_t message)
{
    gpc_index_t previous = list->head;

    if (position == 0) {
        gpc_list_push_front(list, &self->messages, message);
        return;
    }
    for (; position > 1; position--) {
        previous = gpc_msg_at(&self->messages, previous)->next;
    }
    if (previous == list->tail) {
        gpc_list_push(list, &self->messages, message);
        return;
    }
    gpc_msg_at(&self->messages, message)->next = gpc_msg_at(&self->messages, previous)->next;
    gpc_msg_at(&self->messages, previous)->next = message;
    list->count++;
}

/* Offers the message at a position of the list to its destination. */
static int
take_from(gpc_world_t *self, gpc_list_t *list, uint32_t position)
{
    gpc_index_t message = take_at(self, list, position);
    int status = gpc_controller_take(&self->controllers[gpc_msg_at(&self->messages, message)->destination], message);

    if (status == GPC_HELD_QUEUE) {
        put_back(self, list, position, message);
        return GPC_OK;
    }
    return status;
}

static int
evict(gpc_controller_t *unit, uint8_t array, gpc_address_t line)
{
    gpc_step_t x;
    gpc_step_about_line(unit, &x, gpc_table_over(unit, array), GPC_MSG_EVICT, line, GPC_NONE);
    x.array = array; /* tells the table which way is wanted */
    x.way = gpc_tags_find(&unit->arrays[array], line);
    x.mask = gpc_all_words(unit);
    x.kept = true; /* there is no message */
    return gpc_fsm_step(&x);
}

static int
carry_out(gpc_world_t *self, const gpc_move_t *move)
{
    switch ((gpc_move_kind_t) move->kind) {
        case GPC_MOVE_ISSUE:
            return issue(self, move->a);
        case GPC_MOVE_DELIVER:
            return take_from(self, gpc_world_channel(self, move->a, move->b, move->c), move->position);
        case GPC_MOVE_MEMORY:
            return take_from(self, &self->state->answers, move->position);
        case GPC_MOVE_TIMER:
            return take_from(self, &self->state->timers, move->position);
        case GPC_MOVE_BACKGROUND:
            return take_from(self, &self->state->background, move->position);
        case GPC_MOVE_ENTRY: {
            int status = gpc_part_serve_ready(&self->controllers[move->a].parts[move->b]);
            return status == GPC_HELD_QUEUE ? GPC_OK : status;
        }
        case GPC_MOVE_TIME:
            self->state->now++;
            return GPC_OK;
        case GPC_MOVE_REPLAY: {
            int status = gpc_controller_replay(&self->controllers[move->a]);
            return status == GPC_HELD_QUEUE ? GPC_OK : status;
        }
        case GPC_MOVE_END:
            return gpc_world_end(self, move->a);
        case GPC_MOVE_KERNEL:
            return gpc_world_begin(self);
        case GPC_MOVE_EVICT: {
            self->state->evictions -= self->state->evictions == UINT32_MAX ? 0 : 1;
            int status = evict(&self->controllers[move->a], move->c, gpc_world_address(move->b));
            return status == GPC_HELD_QUEUE || status == GPC_UNFIT_VICTIM ? GPC_WORLD_CANNOT : status;
        }
    }
    return GPC_WORLD_CANNOT;
}

/* Steps have ended in the middle, with a failure. */
static int
forget_steps(gpc_world_t *self)
{
    for (uint32_t node = 0; node < self->nodes.count; node++) {
        gpc_controller_forget_steps(&self->controllers[node]);
    }
    return self->failure.code;
}

static int
carry_out_whole(gpc_world_t *self, const gpc_move_t *move)
{
    jmp_buf escape;
    int status;

    self->failure.escape = &escape;
    if (setjmp(escape) == 0) {
        status = carry_out(self, move);
    } else {
        status = forget_steps(self);
    }
    self->failure.escape = NULL;
    return status;
}

int
gpc_world_move(gpc_world_t *self, const gpc_move_t *move)
{
    int status = carry_out_whole(self, move);
    if (status == GPC_OK) {
        status = gpc_world_end_last(self);
    }
    if (status == GPC_OK) {
        status = gpc_world_settle(self);
    }
    if (status == GPC_OK) {
        gpc_world_scrub(self);
    }
    return status;
}

/* ---- queries of the state ---------------------------------------------------------------------------------------- */

static bool
has_unit_table(const gpc_protocol_t *protocol)
{
    for (uint32_t i = 0; i < gpc_num_controllers(protocol); i++) {
        const gpc_controller_type_t *type = protocol->controllers[i];
        for (uint32_t t = 0; t < GPC_MAX_TABLES && type->tables[t]; t++) {
            if (type->tables[t]->object == GPC_OVER_UNIT) {
                return true;
            }
        }
    }
    return false;
}

int
gpc_world_monitor(gpc_world_t *self)
{
    gpc_units_t units;
    int status = GPC_OK;

    bool watches = self->watched.owners || self->watched.lease;
    if ((!self->protocol->monitor && !watches) || self->what->unwatched) {
        return GPC_OK;
    }
    for (uint32_t line = 0; line < self->lines && status == GPC_OK; line++) {
        units = gpc_nodes_units(&self->nodes, self->controllers, self->l1s, gpc_world_address(line));
        status = self->protocol->monitor ? self->protocol->monitor(&units, gpc_world_address(line)) : GPC_OK;
        if (status == GPC_OK && watches) {
            status = gpc_check_copies(&self->watched, &units, gpc_world_address(line));
        }
    }
    if (status == GPC_OK && self->protocol->monitor && has_unit_table(self->protocol)) {
        units = gpc_nodes_units(&self->nodes, self->controllers, self->l1s, GPC_NEVER);
        status = self->protocol->monitor(&units, GPC_NEVER);
    }
    return status;
}

bool
gpc_world_programs_done(const gpc_world_t *self)
{
    for (uint32_t t = 0; t < self->what->num_threads; t++) {
        const gpc_world_thread_t *thread = &self->state->threads[t];
        if (thread->next_op < self->what->threads[t].num_ops || thread->outstanding) {
            return false;
        }
    }
    return true;
}

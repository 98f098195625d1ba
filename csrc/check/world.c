#include "check/world.h"

#include <string.h>

#include "protocol/controller.h"
#include "protocol/describe.h"

enum { NO_THREAD = 0xFFFF }; /* of a warming load: its value goes nowhere */

/* A core's request remembers whose it is. */
static gpc_index_t
access_of(uint32_t thread, uint32_t op)
{
    return thread * GPC_WORLD_MAX_OPS + op;
}

static gpc_list_t *
channel(const gpc_world_t *self, uint32_t source, uint32_t destination, uint32_t network)
{
    return &self->state->channels[(source * self->nodes + destination) * GPC_MAX_NETWORKS + network];
}

static gpc_address_t
line_of(uint32_t variable)
{
    return (gpc_address_t) variable * GPC_WORLD_LINE_BYTES;
}

/* ---- the ports ----------------------------------------------------------------------------------------------------------------- */

static gpc_cycle_t
port_now(const void *world)
{
    return ((const gpc_world_t *) world)->state->now;
}

static int
port_send(void *world, gpc_controller_t *from, gpc_index_t message)
{
    gpc_world_t *self = world;
    const gpc_msg_t *msg = gpc_msg_at(&self->messages, message);
    gpc_list_push(channel(self, from->node, msg->destination, msg->network), &self->messages, message);
    return GPC_OK;
}

static int
port_broadcast(void *world, gpc_controller_t *from, gpc_index_t message, const gpc_nodeset_t *to)
{
    gpc_world_t *self = world;
    for (uint32_t node = 0; node < self->nodes; node++) {
        if (!(to->bits[node / 64] >> (node % 64) & 1)) {
            continue;
        }
        gpc_index_t copy = gpc_pool_take(&self->messages);
        if (copy == GPC_NONE) {
            return gpc_fail(&self->failure, GPC_ERROR_CAPACITY, "the explorer has no free message");
        }
        *gpc_msg_at(&self->messages, copy) = *gpc_msg_at(&self->messages, message);
        gpc_msg_at(&self->messages, copy)->destination = (gpc_node_t) node;
        int status = port_send(world, from, copy);
        if (status) {
            return status;
        }
    }
    gpc_free_message(from, message);
    return GPC_OK;
}

static int
port_instant(void *world, gpc_controller_t *from, gpc_address_t line, const gpc_nodeset_t *to, gpc_node_t except)
{
    gpc_world_t *self = world;
    (void) from;
    for (uint32_t core = 0; core < self->machine.cores; core++) {
        bool meant = core != except && (!to || (to->bits[core / 64] >> (core % 64) & 1));
        int status = meant ? gpc_controller_cause(self->l1s[core], GPC_MSG_INSTANT, line) : GPC_OK;
        if (status) {
            return status;
        }
    }
    return GPC_OK;
}

/* A message that no channel carries: memory's answer, a timer. */
static gpc_index_t
inner_message(gpc_world_t *self, const gpc_controller_t *unit, uint8_t type, gpc_address_t line, uint64_t note)
{
    gpc_index_t message = gpc_pool_take(&self->messages);
    if (message == GPC_NONE) {
        (void) gpc_fail(&self->failure, GPC_ERROR_CAPACITY, "the explorer has no free message");
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
port_wake_at(void *world, gpc_controller_t *unit, gpc_cycle_t at, gpc_address_t line, uint32_t tag)
{
    gpc_world_t *self = world;
    gpc_index_t message = inner_message(self, unit, GPC_MSG_TIMER, line, tag);
    if (message == GPC_NONE) {
        return GPC_ERROR_CAPACITY;
    }
    gpc_msg_at(&self->messages, message)->ready = at;
    gpc_list_push(&self->state->timers, &self->messages, message);
    return GPC_OK;
}

static int
port_wake_warp(void *world, gpc_controller_t *l1, uint16_t warp, gpc_cycle_t at)
{
    (void) world, (void) l1, (void) warp, (void) at;
    return GPC_OK; /* every thread is asked at every state */
}

static int
port_complete(void *world, gpc_controller_t *l1, gpc_index_t message, const uint32_t *words, bool hit)
{
    gpc_world_t *self = world;
    const gpc_msg_t *msg = gpc_msg_at(&self->messages, message);
    (void) hit;

    if (msg->access != NO_THREAD) {
        uint32_t number = msg->access / GPC_WORLD_MAX_OPS, op = msg->access % GPC_WORLD_MAX_OPS;
        gpc_world_thread_t *thread = &self->state->threads[number];
        const gpc_explore_op_t *asked = &self->what->threads[number].ops[op];
        gpc_access_t access = {asked->kind, asked->order, asked->scope};

        if (msg->type == GPC_MSG_LOAD) {
            thread->read[op] = words[0];
        } else if (msg->type == GPC_MSG_ATOMIC) {
            thread->read[op] = gpc_lane_list_at(&self->lane_lists, msg->lanes)->old[0];
        }
        thread->outstanding--;
        int status = gpc_order_completed(&self->order, l1->index, self->warp_of[number], &access);
        if (status) {
            return status;
        }
    }
    gpc_free_message(l1, message);
    return GPC_OK;
}

static int
port_fetch(void *world, gpc_controller_t *unit, gpc_address_t line, uint64_t note)
{
    gpc_world_t *self = world;
    gpc_index_t message = inner_message(self, unit, GPC_MSG_FILL, line, note);
    if (message == GPC_NONE) {
        return GPC_ERROR_CAPACITY;
    }
    gpc_msg_t *msg = gpc_msg_at(&self->messages, message);
    memcpy(msg->data, self->state->memory[line / GPC_WORLD_LINE_BYTES], GPC_WORLD_LINE_BYTES);
    gpc_list_push(&self->state->answers, &self->messages, message);
    return GPC_OK;
}

static int
port_write_memory(void *world, gpc_controller_t *unit, gpc_address_t line, gpc_mask_t mask, const uint32_t *words)
{
    gpc_world_t *self = world;
    (void) unit;
    gpc_merge_words(self->state->memory[line / GPC_WORLD_LINE_BYTES], words, mask);
    return GPC_OK;
}

static const gpc_ports_t ports = {port_now,       port_send,     port_broadcast, port_instant,     port_wake_at,
                                  port_wake_warp, port_complete, port_fetch,     port_write_memory};

/* ---- building ------------------------------------------------------------------------------------------------------------------------ */

static void
make_machine(gpc_world_t *self)
{
    const gpc_explore_t *what = self->what;
    uint32_t lines = what->variables;

    self->machine = (gpc_machine_t){.cores = what->cores,
                                    .warps_per_core = GPC_WORLD_MAX_THREADS,
                                    .lanes_per_warp = 32,
                                    .blocks_per_core = 1,
                                    .requests_per_core = 64,
                                    .l1_bytes = lines * GPC_WORLD_LINE_BYTES,
                                    .l1_ways = lines,
                                    .l1_mshrs = 8,
                                    .l1_latency = 1,
                                    .line_bytes = GPC_WORLD_LINE_BYTES,
                                    .partitions = lines,
                                    .interleave_bytes = GPC_WORLD_LINE_BYTES,
                                    .l2_bytes = lines * GPC_WORLD_LINE_BYTES,
                                    .l2_ways = lines,
                                    .l2_mshrs = 8,
                                    .flit_bytes = 32,
                                    .timestamp_bits = what->timestamp_bits ? what->timestamp_bits : 32};
}

static bool
program_fences(const gpc_explore_t *what)
{
    for (uint32_t t = 0; t < what->num_threads; t++) {
        for (uint32_t i = 0; i < what->threads[t].num_ops; i++) {
            const gpc_explore_op_t *op = &what->threads[t].ops[i];
            if (op->kind == GPC_ACCESS_FENCE || op->order >= GPC_ORDER_ACQUIRE) {
                return true;
            }
        }
    }
    return false;
}

static int
make_controllers(gpc_world_t *self)
{
    for (uint32_t node = 0; node < self->nodes; node++) {
        gpc_controller_t *unit = &self->controllers[node];
        bool is_core = node < self->machine.cores;
        *unit = (gpc_controller_t){.protocol = self->protocol,
                                   .options = self->options,
                                   .machine = &self->machine,
                                   .ports = &ports,
                                   .world = self,
                                   .messages = &self->messages,
                                   .lane_lists = &self->lane_lists,
                                   .failure = &self->failure,
                                   .node = (gpc_node_t) node,
                                   .index = is_core ? node : node - self->machine.cores,
                                   .program_fences = program_fences(self->what)};
        const gpc_controller_type_t *type = NULL;
        for (uint32_t i = 0; self->protocol->controllers[i]; i++) {
            if (self->protocol->controllers[i]->position == (is_core ? GPC_AT_CORE : GPC_AT_BANK)) {
                type = self->protocol->controllers[i];
            }
        }
        int status = gpc_controller_init(unit, type, &self->arena);
        if (status) {
            return status;
        }
        if (is_core) {
            self->l1s[node] = unit;
        }
    }
    return GPC_OK;
}

static int
check_bounds(gpc_world_t *self)
{
    const gpc_explore_t *what = self->what;
    if (what->cores < 1 || what->cores > GPC_WORLD_MAX_CORES || what->variables < 1 ||
        what->variables > GPC_WORLD_MAX_VARIABLES || what->num_threads < 1 ||
        what->num_threads > GPC_WORLD_MAX_THREADS) {
        return gpc_fail(&self->failure, GPC_ERROR_ARGUMENT,
                        "%u cores, %u variables, %u threads: allowed are 1 to %u, 1 to %u, 1 to %u", what->cores,
                        what->variables, what->num_threads, GPC_WORLD_MAX_CORES, GPC_WORLD_MAX_VARIABLES,
                        GPC_WORLD_MAX_THREADS);
    }
    for (uint32_t t = 0; t < what->num_threads; t++) {
        const gpc_explore_thread_t *thread = &what->threads[t];
        if (thread->core >= what->cores || thread->num_ops > GPC_WORLD_MAX_OPS) {
            return gpc_fail(&self->failure, GPC_ERROR_ARGUMENT, "thread %u: core %u of %u, %u operations of at most %u",
                            t, thread->core, what->cores, thread->num_ops, GPC_WORLD_MAX_OPS);
        }
        for (uint32_t i = 0; i < thread->num_ops; i++) {
            const gpc_explore_op_t *op = &thread->ops[i];
            if (op->kind > GPC_ACCESS_FENCE || op->variable >= what->variables || op->order >= GPC_NUM_ORDERS ||
                op->scope >= GPC_NUM_SCOPES) {
                return gpc_fail(&self->failure, GPC_ERROR_ARGUMENT,
                                "thread %u, operation %u: kind %u, variable %u, order %u, scope %u", t, i, op->kind,
                                op->variable, op->order, op->scope);
            }
        }
        for (uint32_t other = 0; other < t; other++) {
            self->warp_of[t] += what->threads[other].core == thread->core;
        }
    }
    return GPC_OK;
}

static int
choose_protocol(gpc_world_t *self)
{
    const gpc_explore_t *what = self->what;
    self->protocol = gpc_protocol_find(what->protocol);
    if (!self->protocol) {
        return gpc_fail(&self->failure, GPC_ERROR_PROTOCOL_ID, "unknown protocol %s", what->protocol);
    }
    self->rule = what->rule == GPC_RULE_DEFAULT ? self->protocol->standard_rule : what->rule;
    if ((unsigned) self->rule >= GPC_NUM_RULES || !self->protocol->model[self->rule]) {
        return gpc_fail(&self->failure, GPC_ERROR_RULE, "protocol %s cannot keep consistency %s", what->protocol,
                        gpc_rule_name(self->rule));
    }
    while (self->num_networks < GPC_MAX_NETWORKS && self->protocol->networks[self->num_networks].name) {
        self->num_networks++;
    }
    return gpc_protocol_options(self->protocol, &self->machine, what->options, what->num_options, self->options,
                                &self->failure);
}

static bool
has_time(gpc_describe_t describe)
{
    const gpc_described_t *described = describe ? describe() : NULL;
    for (uint32_t i = 0; described && i < described->count; i++) {
        if (described->fields[i].kind == GPC_FIELD_TIME) {
            return true;
        }
    }
    return false;
}

static bool
tells_time(const gpc_protocol_t *protocol)
{
    bool tells = has_time(protocol->message);
    for (uint32_t i = 0; protocol->controllers[i]; i++) {
        const gpc_controller_type_t *type = protocol->controllers[i];
        for (uint32_t array = 0; array < GPC_MAX_ARRAYS && type->arrays[array].name; array++) {
            tells |= has_time(type->arrays[array].line);
        }
        for (uint32_t part = 0; part < GPC_MAX_PARTS && type->parts[part].name; part++) {
            tells |= has_time(type->parts[part].entry);
        }
        tells |= has_time(type->mshr) || has_time(type->unit) || has_time(type->warp) || has_time(type->core);
    }
    return tells;
}

static int
warm_copies(gpc_world_t *self)
{
    for (uint32_t core = 0; core < self->machine.cores; core++) {
        for (uint32_t variable = 0; variable < self->what->variables; variable++) {
            if (!(self->what->warm >> (core * self->what->variables + variable) & 1)) {
                continue;
            }
            gpc_index_t message = gpc_pool_take(&self->messages);
            gpc_msg_t *msg = gpc_msg_at(&self->messages, message);
            memset(msg, 0, sizeof(*msg));
            msg->type = GPC_MSG_LOAD;
            msg->network = GPC_MAX_NETWORKS;
            msg->source = msg->requester = (gpc_node_t) core;
            msg->request = message;
            msg->lanes = GPC_NONE;
            msg->access = NO_THREAD;
            msg->line = line_of(variable);
            msg->mask = 1;
            int status = gpc_controller_take(self->l1s[core], message);
            gpc_move_t moves[GPC_WORLD_MAX_MOVES];
            while (status == GPC_OK && !gpc_world_quiet(self)) {
                uint32_t count = gpc_world_moves(self, moves);
                for (uint32_t i = 0; i < count; i++) {
                    if (moves[i].kind == GPC_MOVE_DELIVER || moves[i].kind == GPC_MOVE_MEMORY) {
                        status = gpc_world_move(self, &moves[i]);
                        break;
                    }
                }
            }
            if (status) {
                return status;
            }
        }
    }
    return GPC_OK;
}

/* The state is copied at every move: pools are no larger than the programs need. */
static void
count_operations(const gpc_explore_t *what, uint32_t *operations, uint32_t *atomics)
{
    for (uint32_t t = 0; t < what->num_threads; t++) {
        *operations += what->threads[t].num_ops;
        for (uint32_t i = 0; i < what->threads[t].num_ops; i++) {
            *atomics += what->threads[t].ops[i].kind == GPC_ACCESS_ATOMIC;
        }
    }
}

int
gpc_world_init(gpc_world_t *self, const gpc_explore_t *what)
{
    uint32_t operations = 0, atomics = 0;

    memset(self, 0, sizeof(*self));
    gpc_failure_clear(&self->failure);
    gpc_arena_init(&self->arena, 64u << 10);
    self->what = what;
    int status = check_bounds(self);
    if (status == 0) {
        make_machine(self);
        self->nodes = what->cores + what->variables;
        status = choose_protocol(self);
    }
    if (status == 0) {
        count_operations(what, &operations, &atomics);
        status = gpc_pool_init(&self->messages, &self->arena, 24 + 6 * operations, sizeof(gpc_msg_t));
    }
    if (status == 0) {
        status = gpc_pool_init(&self->lane_lists, &self->arena, 1 + atomics, sizeof(gpc_lane_list_t));
    }
    if (status == 0) {
        status = make_controllers(self);
    }
    if (status == 0) {
        status = gpc_order_init(&self->order, self->rule, &self->protocol->order, self->l1s, what->cores,
                                GPC_WORLD_MAX_THREADS, 1, &self->arena);
    }
    self->state = GPC_ARENA_TAKE(&self->arena, 1, gpc_world_state_t);
    if (status || self->arena.failed) {
        return status ? status : GPC_ERROR_MEMORY;
    }
    for (uint32_t i = 0; i < GPC_COUNT_OF(self->state->channels); i++) {
        gpc_list_clear(&self->state->channels[i]);
    }
    gpc_list_clear(&self->state->answers);
    gpc_list_clear(&self->state->timers);
    self->state->now = 1;
    self->tells_time = tells_time(self->protocol);
    return warm_copies(self);
}

void
gpc_world_free(gpc_world_t *self)
{
    gpc_arena_free(&self->arena);
}

/* ---- moves ------------------------------------------------------------------------------------------------------------------------------ */

/* From every array that the line has a way in: an L2's and its directory's. */
static uint32_t
add_evictions(const gpc_world_t *self, uint32_t node, uint32_t variable, gpc_move_t *moves, uint32_t count)
{
    for (uint8_t array = 0; array < GPC_MAX_ARRAYS && count < GPC_WORLD_MAX_MOVES; array++) {
        const gpc_tags_t *tags = &self->controllers[node].arrays[array];
        gpc_index_t way = tags->sets ? gpc_tags_find(tags, line_of(variable)) : GPC_NONE;
        if (way != GPC_NONE && tags->tags[way].mshr == GPC_NONE) {
            moves[count++] = (gpc_move_t){GPC_MOVE_EVICT, (uint8_t) node, (uint8_t) variable, array, 0};
        }
    }
    return count;
}

uint32_t
gpc_world_moves(const gpc_world_t *self, gpc_move_t *moves)
{
    uint32_t count = 0;

    for (uint32_t t = 0; t < self->what->num_threads; t++) {
        if (self->state->threads[t].next_op < self->what->threads[t].num_ops) {
            moves[count++] = (gpc_move_t){.kind = GPC_MOVE_ISSUE, .a = (uint8_t) t};
        }
    }
    for (uint32_t source = 0; source < self->nodes; source++) {
        for (uint32_t destination = 0; destination < self->nodes; destination++) {
            for (uint32_t network = 0; network < self->num_networks; network++) {
                uint32_t there = channel(self, source, destination, network)->count;
                uint32_t reach = self->protocol->networks[network].ordered && there ? 1 : there;
                for (uint32_t i = 0; i < reach && count < GPC_WORLD_MAX_MOVES; i++) {
                    moves[count++] = (gpc_move_t){GPC_MOVE_DELIVER, (uint8_t) source, (uint8_t) destination,
                                                  (uint8_t) network, (uint8_t) i};
                }
            }
        }
    }
    for (uint32_t i = 0; i < self->state->answers.count && count < GPC_WORLD_MAX_MOVES; i++) {
        moves[count++] = (gpc_move_t){.kind = GPC_MOVE_MEMORY, .position = (uint8_t) i};
    }
    for (uint32_t node = 0; node < self->nodes && count < GPC_WORLD_MAX_MOVES; node++) {
        if (self->controllers[node].replay->count) {
            moves[count++] = (gpc_move_t){.kind = GPC_MOVE_REPLAY, .a = (uint8_t) node};
        }
        for (uint32_t v = 0; self->what->evictions && v < self->what->variables; v++) {
            count = add_evictions(self, node, v, moves, count);
        }
    }
    uint32_t number = 0;
    gpc_index_t timer = self->state->timers.head;
    for (uint32_t n = self->state->timers.count; n && count < GPC_WORLD_MAX_MOVES; n--, number++) {
        if (gpc_msg_at(&self->messages, timer)->ready <= self->state->now) {
            moves[count++] = (gpc_move_t){.kind = GPC_MOVE_TIMER, .position = (uint8_t) number};
        }
        timer = gpc_msg_at(&self->messages, timer)->next;
    }
    if ((self->tells_time || self->state->timers.count) && count < GPC_WORLD_MAX_MOVES) {
        moves[count++] = (gpc_move_t){.kind = GPC_MOVE_TIME};
    }
    return count;
}

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

static int
add_lanes(gpc_world_t *self, gpc_msg_t *msg, uint32_t operand)
{
    msg->lanes = gpc_pool_take(&self->lane_lists);
    if (msg->lanes == GPC_NONE) {
        return gpc_fail(&self->failure, GPC_ERROR_CAPACITY, "the explorer has no free lane list");
    }
    gpc_lane_list_t *lanes = gpc_lane_list_at(&self->lane_lists, msg->lanes);
    memset(lanes, 0, sizeof(*lanes));
    lanes->operation = GPC_ATOMIC_ADD;
    lanes->type = GPC_U32;
    lanes->count = 1;
    lanes->operand[0] = operand;
    return GPC_OK;
}

static int
issue(gpc_world_t *self, uint32_t number)
{
    const gpc_explore_thread_t *program = &self->what->threads[number];
    gpc_world_thread_t *thread = &self->state->threads[number];
    const gpc_explore_op_t *op = &program->ops[thread->next_op];
    gpc_access_t access = {op->kind, op->order, op->scope};
    gpc_cycle_t until;
    static const uint8_t types[] = {GPC_MSG_LOAD, GPC_MSG_STORE, GPC_MSG_ATOMIC};

    int status = gpc_order_may_issue(&self->order, program->core, self->warp_of[number], &access, &until);
    if (status != GPC_ORDER_VERDICT_GO) {
        return status < 0 ? status : GPC_HOLD;
    }
    if (op->kind == GPC_ACCESS_FENCE) {
        thread->next_op++;
        return GPC_OK;
    }
    gpc_index_t message = gpc_pool_take(&self->messages);
    if (message == GPC_NONE) {
        return gpc_fail(&self->failure, GPC_ERROR_CAPACITY, "the explorer has no free message");
    }
    gpc_msg_t *msg = gpc_msg_at(&self->messages, message);
    memset(msg, 0, sizeof(*msg));
    msg->type = types[op->kind];
    msg->network = GPC_MAX_NETWORKS;
    msg->order = op->order;
    msg->scope = op->scope;
    msg->source = msg->requester = (gpc_node_t) program->core;
    msg->warp = (uint16_t) self->warp_of[number];
    msg->request = message;
    msg->lanes = GPC_NONE;
    msg->access = access_of(number, thread->next_op);
    msg->line = line_of(op->variable);
    msg->mask = 1;
    msg->data[0] = op->value;
    if (op->kind == GPC_ACCESS_ATOMIC) {
        status = add_lanes(self, msg, op->value);
        if (status) {
            return status;
        }
    }
    /* as issued before the L1 takes it: it may complete inside the step */
    thread->next_op++;
    thread->outstanding++;
    gpc_order_issued(&self->order, program->core, self->warp_of[number], &access);
    status = gpc_controller_take(self->l1s[program->core], message);
    return status == GPC_HELD_QUEUE ? GPC_HOLD : status;
}

static int
taken(int status)
{
    return status == GPC_HELD_QUEUE || status == GPC_UNFIT_VICTIM ? GPC_HOLD : status;
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

int
gpc_world_move(gpc_world_t *self, const gpc_move_t *move)
{
    switch ((gpc_move_kind_t) move->kind) {
        case GPC_MOVE_ISSUE:
            return issue(self, move->a);
        case GPC_MOVE_DELIVER: {
            gpc_index_t message = take_at(self, channel(self, move->a, move->b, move->c), move->position);
            return taken(gpc_controller_take(&self->controllers[move->b], message));
        }
        case GPC_MOVE_MEMORY: {
            gpc_index_t message = take_at(self, &self->state->answers, move->position);
            return taken(
                gpc_controller_take(&self->controllers[gpc_msg_at(&self->messages, message)->destination], message));
        }
        case GPC_MOVE_TIMER: {
            gpc_index_t message = take_at(self, &self->state->timers, move->position);
            return taken(
                gpc_controller_take(&self->controllers[gpc_msg_at(&self->messages, message)->destination], message));
        }
        case GPC_MOVE_TIME:
            self->state->now++;
            return GPC_OK;
        case GPC_MOVE_REPLAY:
            return taken(gpc_controller_replay(&self->controllers[move->a]));
        case GPC_MOVE_EVICT:
            return taken(evict(&self->controllers[move->a], move->c, line_of(move->b)));
    }
    return GPC_HOLD;
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

bool
gpc_world_quiet(const gpc_world_t *self)
{
    if (self->state->answers.count) {
        return false;
    }
    for (uint32_t i = 0; i < self->nodes * self->nodes * GPC_MAX_NETWORKS; i++) {
        if (self->state->channels[i].count) {
            return false;
        }
    }
    for (uint32_t node = 0; node < self->nodes; node++) {
        if (self->controllers[node].replay->count) {
            return false;
        }
    }
    return true;
}

int
gpc_world_final(gpc_world_t *self, uint32_t variable, uint32_t *value)
{
    uint32_t words[GPC_WORLD_LINE_BYTES / 4];
    memcpy(words, self->state->memory[variable], sizeof(words));
    int status =
        self->protocol->host_read(self->l1s, self->machine.cores, &self->controllers[self->machine.cores + variable],
                                  line_of(variable), 1, words);
    *value = words[0];
    return status;
}

/* ---- encoding and print ----------------------------------------------------------------------------------------------------------------- */

static void
encode_message(void *context, void *encoder, gpc_index_t i)
{
    const gpc_world_t *self = context;
    gpc_encoder_t *out = encoder;
    const gpc_msg_t *msg = gpc_msg_at(&self->messages, i);
    const gpc_message_info_t *info =
        msg->type >= GPC_MSG_OWN ? &self->protocol->messages[msg->type - GPC_MSG_OWN] : NULL;
    /* an index says nothing by itself: what it names is told by whose request that is */
    gpc_index_t about = msg->request == GPC_NONE ? GPC_NONE : gpc_msg_at(&self->messages, msg->request)->access;

    gpc_encode_u64(out, msg->type);
    gpc_encode_u64(out, msg->flags);
    gpc_encode_u64(out, (uint64_t) msg->order * 8 + msg->scope);
    gpc_encode_node(out, msg->source);
    gpc_encode_node(out, msg->requester);
    gpc_encode_u64(out, msg->warp);
    gpc_encode_u64(out, (uint64_t) about + 1);
    gpc_encode_u64(out, (uint64_t) msg->access + 1);
    gpc_encode_u64(out, msg->line);
    gpc_encode_u64(out, msg->mask);
    if (self->protocol->message) {
        gpc_encode_described(out, self->protocol->message(), msg->fields);
    }
    bool all = (info && info->whole_line) || msg->type == GPC_MSG_FILL;
    gpc_mask_t words = all ? 0xFF : msg->type == GPC_MSG_STORE || (info && info->bytes_per_word) ? msg->mask : 0;
    for (; words; words &= words - 1) {
        gpc_encode_u64(out, msg->data[__builtin_ctz(words)]);
    }
    if (msg->lanes != GPC_NONE) {
        const gpc_lane_list_t *lanes = gpc_lane_list_at(&self->lane_lists, msg->lanes);
        gpc_encode_u64(out, lanes->operand[0]);
        gpc_encode_u64(out, lanes->old[0]);
    }
}

static void
encode_timers(const gpc_world_t *self, gpc_encoder_t *out)
{
    gpc_index_t i = self->state->timers.head;

    gpc_encode_u64(out, self->state->timers.count);
    for (uint32_t n = self->state->timers.count; n; n--) {
        const gpc_msg_t *msg = gpc_msg_at(&self->messages, i);
        gpc_encode_node(out, msg->destination);
        gpc_encode_u64(out, msg->line);
        gpc_encode_u64(out, msg->fields[0]);
        gpc_encode_u64(out, msg->ready > self->state->now ? msg->ready - self->state->now : 0);
        i = msg->next;
    }
}

void
gpc_world_encode(gpc_world_t *self, gpc_encoder_t *out)
{
    out->message = encode_message;
    out->context = self;
    out->messages = &self->messages;
    out->now = self->state->now;
    if (self->what->timestamp_bits) { /* where in its epoch now is says when timestamps begin again */
        gpc_encode_u64(out, self->state->now & ((UINT64_C(1) << self->what->timestamp_bits) - 1));
    }
    for (uint32_t t = 0; t < self->what->num_threads; t++) {
        const gpc_world_thread_t *thread = &self->state->threads[t];
        gpc_encode_u64(out, thread->next_op * 16 + thread->outstanding);
        for (uint32_t op = 0; op < thread->next_op; op++) {
            gpc_encode_u64(out, thread->read[op]);
        }
        gpc_encode_bytes(out, &self->order.warp[self->what->threads[t].core * GPC_WORLD_MAX_THREADS + self->warp_of[t]],
                         sizeof(gpc_order_warp_t));
    }
    for (uint32_t v = 0; v < self->what->variables; v++) {
        gpc_encode_u64(out, self->state->memory[v][0]);
    }
    for (uint32_t i = 0; i < self->nodes * self->nodes * GPC_MAX_NETWORKS; i++) {
        gpc_encode_list(out, &self->state->channels[i]);
    }
    gpc_encode_list(out, &self->state->answers);
    encode_timers(self, out);
    for (uint32_t node = 0; node < self->nodes; node++) {
        gpc_controller_encode(&self->controllers[node], out);
    }
}

static void
print_message(const gpc_world_t *self, gpc_index_t i, gpc_text_t *out)
{
    const gpc_msg_t *msg = gpc_msg_at(&self->messages, i);
    const char *name = msg->type >= GPC_MSG_OWN ? self->protocol->messages[msg->type - GPC_MSG_OWN].name : "FILL";
    gpc_text_add(out, "%s of variable %llu", name, (unsigned long long) (msg->line / GPC_WORLD_LINE_BYTES));
}

static void
print_node(const gpc_world_t *self, uint32_t node, gpc_text_t *out)
{
    gpc_text_add(out, "%s %u", self->controllers[node].type->name, self->controllers[node].index);
}

void
gpc_world_print_move(const gpc_world_t *self, const gpc_move_t *move, gpc_text_t *out)
{
    static const char *const kinds[] = {"load", "store", "atomic add", "fence"};
    gpc_index_t i;

    switch ((gpc_move_kind_t) move->kind) {
        case GPC_MOVE_ISSUE: {
            const gpc_explore_op_t *op = &self->what->threads[move->a].ops[self->state->threads[move->a].next_op];
            gpc_text_add(out, "thread %u on core %u issues %s of variable %u", move->a,
                         self->what->threads[move->a].core, kinds[op->kind], op->variable);
            return;
        }
        case GPC_MOVE_DELIVER:
            i = channel(self, move->a, move->b, move->c)->head;
            for (uint32_t n = move->position; n; n--) {
                i = gpc_msg_at(&self->messages, i)->next;
            }
            print_node(self, move->b, out);
            gpc_text_add(out, " takes ");
            print_message(self, i, out);
            gpc_text_add(out, " from ");
            print_node(self, move->a, out);
            return;
        case GPC_MOVE_MEMORY:
            gpc_text_add(out, "memory answers");
            return;
        case GPC_MOVE_REPLAY:
            print_node(self, move->a, out);
            gpc_text_add(out, " takes a held request");
            return;
        case GPC_MOVE_TIMER:
            gpc_text_add(out, "a timer is due");
            return;
        case GPC_MOVE_TIME:
            gpc_text_add(out, "a cycle passes");
            return;
        case GPC_MOVE_EVICT:
            print_node(self, move->a, out);
            gpc_text_add(out, " evicts variable %u", move->b);
            return;
    }
}

/* world.c: construction of the explorer's world: a small machine, its controllers, warm copies and symmetries. */
#include "check/explore/world.h"

#include <string.h>

#include "controller/describe.h"
#include "controller/lease.h"
#include "controller/resolve.h"

/* ---- controllers ------------------------------------------------------------------------------------------------- */

static bool
program_fences(const gpc_explore_t *what)
{
    for (uint32_t t = 0; t < what->num_threads; t++) {
        for (uint32_t i = 0; i < what->threads[t].num_ops; i++) {
            const gpc_explore_op_t *op = &what->threads[t].ops[i];
            if (op->kind == GPC_EXPLORE_FENCE || op->order >= GPC_ORDER_ACQUIRE) {
                return true;
            }
        }
    }
    return false;
}

static int
make_controllers(gpc_world_t *self)
{
    for (uint32_t node = 0; node < self->nodes.count; node++) {
        gpc_controller_t *unit = &self->controllers[node];
        const gpc_node_kind_t *kind = gpc_nodes_kind(&self->nodes, (gpc_node_t) node);
        *unit = (gpc_controller_t){.protocol = self->protocol,
                                   .options = self->options,
                                   .rule = self->rule,
                                   .machine = &self->machine,
                                   .ports = &gpc_world_ports,
                                   .world = self,
                                   .messages = &self->messages,
                                   .lane_lists = &self->lane_lists,
                                   .failure = &self->failure,
                                   .counts_arena = &self->apart,
                                   .nodes = &self->nodes,
                                   .node = (gpc_node_t) node,
                                   .index = node - kind->first,
                                   .program_fences = program_fences(self->what)};
        gpc_stream_connect(&self->stream, &unit->tap);
        GPC_TRY(gpc_controller_init(unit, kind->type, &self->arena));
        for (uint32_t array = 0; array < GPC_MAX_ARRAYS; array++) {
            unit->arrays[array].unfilled = true; /* words of free ways are in no encoding */
        }
        if (kind->position == GPC_AT_CORE) {
            self->l1s[unit->index] = unit;
        }
    }
    return GPC_OK;
}

/* ---- the protocol ------------------------------------------------------------------------------------------------ */

static int
choose_protocol(gpc_world_t *self)
{
    const gpc_explore_t *what = self->what;
    self->protocol = what->protocol;
    self->rule = what->rule == GPC_RULE_DEFAULT ? self->protocol->standard_rule : what->rule;
    if ((unsigned) self->rule >= GPC_NUM_RULES || !self->protocol->model[self->rule]) {
        return gpc_fail(&self->failure, GPC_ERROR_RULE, "protocol %s does not support consistency %s",
                        self->protocol->id, gpc_rule_name(self->rule));
    }
    GPC_TRY(gpc_world_make_machine(self));
    if (self->timestamp_bits) {
        GPC_TRY(gpc_protocol_check_time(self->protocol, &self->failure));
    }
    GPC_TRY(gpc_protocol_check_join(self->protocol, &self->failure));
    GPC_TRY(gpc_protocol_check_prompt(self->protocol, &self->failure));
    GPC_TRY(gpc_protocol_options(self->protocol, &self->machine, what->options, what->num_options, self->options,
                                 &self->failure));
    GPC_TRY(gpc_protocol_refuse_analysis(self->protocol, self->options, &self->failure));
    self->protocol = gpc_protocol_resolve(self->protocol, self->options, &self->apart);
    if (!self->protocol) {
        return GPC_ERROR_MEMORY;
    }
    while (self->num_networks < GPC_MAX_NETWORKS && self->protocol->networks[self->num_networks].name) {
        self->num_networks++;
    }
    return gpc_nodes_list(&self->nodes, self->protocol, &self->machine, &self->failure);
}

/* ---- kinds of the protocol's fields ------------------------------------------------------------------------------ */

static bool
has_kind(gpc_describe_t describe, gpc_field_kind_t kind)
{
    const gpc_described_t *described = describe ? describe() : NULL;
    for (uint32_t i = 0; described && i < described->count; i++) {
        if (described->fields[i].kind == kind) {
            return true;
        }
    }
    return false;
}

static bool
protocol_has_kind(const gpc_protocol_t *protocol, gpc_field_kind_t kind)
{
    bool has = has_kind(protocol->message, kind);
    for (uint32_t i = 0; i < gpc_num_controllers(protocol); i++) {
        const gpc_controller_type_t *type = protocol->controllers[i];
        for (uint32_t array = 0; array < GPC_MAX_ARRAYS && type->arrays[array].name; array++) {
            has |= has_kind(type->arrays[array].line, kind);
        }
        for (uint32_t part = 0; part < GPC_MAX_PARTS && type->parts[part].name; part++) {
            has |= has_kind(type->parts[part].entry, kind);
        }
        has |= has_kind(type->mshr, kind) || has_kind(type->unit, kind) || has_kind(type->warp, kind) ||
               has_kind(type->core, kind);
    }
    return has;
}

/* ---- warm copies ------------------------------------------------------------------------------------------------- */

static int
warm_copy(gpc_world_t *self, uint32_t core, uint32_t variable)
{
    gpc_moves_t moves = {0};
    gpc_index_t message = gpc_pool_take(&self->messages);
    gpc_msg_t *msg = gpc_msg_at(&self->messages, message);

    memset(msg, 0, sizeof(*msg));
    msg->type = GPC_MSG_LOAD;
    msg->network = GPC_MAX_NETWORKS;
    msg->source = msg->requester = (gpc_node_t) core;
    msg->request = message;
    msg->lanes = GPC_NONE;
    msg->access = GPC_WORLD_NO_THREAD;
    msg->line = gpc_world_address(gpc_world_line_number(self, variable));
    const gpc_explore_op_t whole = {.variable = (uint8_t) variable};
    msg->mask = gpc_world_mask_of(self, &whole);
    int status = gpc_controller_take(self->l1s[core], message);
    while (status == GPC_OK && !gpc_world_quiet(self)) {
        status = gpc_world_moves(self, &moves);
        for (uint32_t i = 0; i < moves.count && status == GPC_OK; i++) {
            const gpc_move_t *move = &moves.list[i];
            if (move->kind == GPC_MOVE_DELIVER || move->kind == GPC_MOVE_MEMORY || move->kind == GPC_MOVE_REPLAY ||
                move->kind == GPC_MOVE_ENTRY) {
                status = gpc_world_move(self, move);
                break;
            }
        }
    }
    gpc_moves_free(&moves);
    return status;
}

static int
warm_copies(gpc_world_t *self)
{
    for (uint32_t core = 0; core < self->machine.cores; core++) {
        for (uint32_t variable = 0; variable < self->what->variables; variable++) {
            bool warm = self->what->warm >> (core * self->what->variables + variable) & 1;
            int status = warm ? warm_copy(self, core, variable) : GPC_OK;
            if (status) {
                return status < 0 ? status
                                  : gpc_fail(&self->failure, GPC_ERROR_ARGUMENT,
                                             "core %u cannot begin with a copy of variable %u", core, variable);
            }
        }
    }
    return GPC_OK;
}

/* ---- symmetry: cores with equal roles, programs and warm copies are interchangeable -------------------------- */

static bool
same_operation(const gpc_explore_op_t *a, const gpc_explore_op_t *b)
{
    return a->kind == b->kind && a->order == b->order && a->scope == b->scope && a->variable == b->variable &&
           a->value == b->value && a->read_only == b->read_only && a->source == b->source && a->adds == b->adds &&
           a->atomic == b->atomic && a->word == b->word && a->replacement == b->replacement;
}

static bool
same_thread(const gpc_explore_thread_t *one, const gpc_explore_thread_t *other)
{
    for (uint32_t i = 0; i < one->num_ops && i < other->num_ops; i++) {
        if (!same_operation(&one->ops[i], &other->ops[i])) {
            return false;
        }
    }
    return one->num_ops == other->num_ops;
}

/* The thread of warp `warp` on a core, or GPC_NONE. */
static uint32_t
thread_on(const gpc_world_t *self, uint32_t core, uint32_t warp)
{
    for (uint32_t t = 0; t < self->what->num_threads; t++) {
        if (self->what->threads[t].core == core && self->warp_of[t] == warp) {
            return t;
        }
    }
    return GPC_NONE;
}

static bool
same_core(const gpc_world_t *self, uint32_t one, uint32_t other)
{
    const gpc_explore_t *what = self->what;
    uint32_t mask = (UINT32_C(1) << what->variables) - 1;

    if (gpc_world_role(self, one) != gpc_world_role(self, other) ||
        (what->warm >> (one * what->variables) & mask) != (what->warm >> (other * what->variables) & mask)) {
        return false;
    }
    for (uint32_t warp = 0; warp < GPC_WORLD_MAX_THREADS; warp++) {
        uint32_t a = thread_on(self, one, warp), b = thread_on(self, other, warp);
        if ((a == GPC_NONE) != (b == GPC_NONE) ||
            (a != GPC_NONE && !same_thread(&what->threads[a], &what->threads[b]))) {
            return false;
        }
    }
    return true;
}

static void
note_symmetry(gpc_world_t *self, const uint8_t *name_of_core)
{
    gpc_symmetry_t *symmetry = &self->symmetries[self->num_symmetries++];

    for (uint32_t node = 0; node < self->nodes.count; node++) {
        uint32_t name = node < self->machine.cores ? name_of_core[node] : node;
        symmetry->node[node] = (gpc_node_t) name;
        symmetry->node_at[name] = (uint8_t) node;
    }
    for (uint32_t t = 0; t < self->what->num_threads; t++) {
        uint32_t name = thread_on(self, name_of_core[self->what->threads[t].core], self->warp_of[t]);
        symmetry->thread[t] = (uint8_t) name;
        symmetry->thread_at[name] = (uint8_t) t;
    }
}

/* Adds every renaming that permutes equal cores, from `core` on. */
static void
find_symmetries(gpc_world_t *self, uint32_t core, uint8_t *name_of_core, uint32_t taken)
{
    if (core == self->machine.cores) {
        note_symmetry(self, name_of_core);
        return;
    }
    for (uint32_t n = 0; n < self->machine.cores; n++) {
        uint32_t name = (core + n) % self->machine.cores; /* the identity first */
        if (!(taken >> name & 1) && (name == core || (!self->what->named && same_core(self, core, name)))) {
            name_of_core[core] = (uint8_t) name;
            find_symmetries(self, core + 1, name_of_core, taken | 1u << name);
        }
    }
}

/* ---- construction ------------------------------------------------------------------------------------------------ */

/* Every move copies the state, so pools are only as large as the programs need; a protocol that broadcasts may need
 * more. */
static int
make_pools(gpc_world_t *self, uint32_t scale)
{
    const gpc_explore_t *what = self->what;
    uint32_t operations = 0, atomics = 0;

    for (uint32_t t = 0; t < what->num_threads; t++) {
        operations += what->threads[t].num_ops;
        for (uint32_t i = 0; i < what->threads[t].num_ops; i++) {
            atomics += what->threads[t].ops[i].kind == GPC_ACCESS_ATOMIC || what->wide;
        }
    }
    GPC_TRY(gpc_pool_init(&self->messages, &self->arena, scale * (12 + 4 * operations), sizeof(gpc_msg_t)));
    return gpc_pool_init(&self->lane_lists, &self->arena, scale * (atomics ? atomics : 1), sizeof(gpc_lane_list_t));
}

static bool
is_full(const gpc_pool_t *pool)
{
    return pool->state && pool->state->in_use == pool->capacity;
}

bool
gpc_world_is_full(const gpc_world_t *self)
{
    return is_full(&self->messages) || is_full(&self->lane_lists);
}

static int
make_state(gpc_world_t *self)
{
    size_t channels = (size_t) self->nodes.count * self->nodes.count * self->num_networks;

    self->state = GPC_ARENA_TAKE(&self->arena, 1, gpc_world_state_t);
    self->channels = GPC_ARENA_TAKE(&self->arena, channels, gpc_list_t);
    if (self->arena.failed || self->apart.failed) {
        return GPC_ERROR_MEMORY;
    }
    for (size_t i = 0; i < channels; i++) {
        gpc_list_clear(&self->channels[i]);
    }
    gpc_list_clear(&self->state->answers);
    gpc_list_clear(&self->state->timers);
    gpc_list_clear(&self->state->background);
    self->state->now = 1;
    self->state->evictions = self->what->evictions;
    self->watched = gpc_watched_of(self->protocol);
    if (self->what->wide && gpc_protocol_splits_pairs(self->protocol)) {
        return gpc_fail(&self->failure, GPC_ERROR_ARGUMENT,
                        "protocol %s: its L1s split an access of 64 bits, and the explorer has no core that joins it",
                        self->protocol->id);
    }
    self->keeps_whole = gpc_protocol_keeps_whole(self->protocol);
    self->has_times = protocol_has_kind(self->protocol, GPC_FIELD_TIME);
    self->has_logical_times = protocol_has_kind(self->protocol, GPC_FIELD_LOGICAL) && !self->protocol->logical_time;
    gpc_world_note_channels(self);
    return GPC_OK;
}

int
gpc_world_init(gpc_world_t *self, const gpc_explore_t *what, uint32_t scale)
{
    uint8_t name_of_core[GPC_EXPLORE_MAX_CORES];

    memset(self, 0, sizeof(*self));
    gpc_failure_clear(&self->failure);
    gpc_stream_init(&self->stream);
    gpc_arena_init(&self->arena, 256u << 10);
    gpc_arena_init(&self->apart, 16u << 10);
    self->what = what;
    int status = gpc_world_check_input(self);
    if (status == GPC_OK) {
        self->lines = gpc_world_line_number(self, what->variables - 1) + 1;
        status = choose_protocol(self);
    }
    if (status == GPC_OK) {
        status = make_pools(self, scale);
    }
    if (status == GPC_OK) {
        status = make_controllers(self);
    }
    if (status == GPC_OK) {
        gpc_order_sizes_t sizes = {what->cores, GPC_WORLD_MAX_THREADS, 1, GPC_WORLD_MAX_OPS * GPC_WORLD_MAX_THREADS};
        status = gpc_order_init(&self->order, self->rule, &self->protocol->order, self->l1s, &sizes,
                                gpc_order_options(&self->machine), &self->arena);
    }
    if (status == GPC_OK) {
        status = make_state(self);
    }
    if (status == GPC_OK) {
        status = gpc_world_watch_stores(self);
    }
    GPC_TRY(status);
    for (uint32_t node = 0; node < self->nodes.count && status == GPC_OK; node++) {
        status = gpc_controller_launch(&self->controllers[node], GPC_MSG_KERNEL_BEGIN);
    }
    status = status == GPC_OK ? gpc_world_cross_boundary(self) : status;
    GPC_TRY(status);
    find_symmetries(self, 0, name_of_core, 0);
    return warm_copies(self);
}

void
gpc_world_free(gpc_world_t *self)
{
    gpc_arena_free(&self->arena);
    gpc_arena_free(&self->apart);
}

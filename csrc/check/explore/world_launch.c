/* world_launch.c: barriers of blocks, ends of launches, and the host between them, in the explorer's world. */
#include "check/explore/world.h"

#include <string.h>

#include "controller/host.h"

/* ---- barriers ---------------------------------------------------------------------------------------------------- */

/* The core's warps that have not ended. */
static uint64_t
warps_on(const gpc_world_t *self, uint32_t core)
{
    uint64_t warps = 0;
    for (uint32_t t = 0; t < self->what->num_threads; t++) {
        const gpc_explore_thread_t *thread = &self->what->threads[t];
        bool ended = self->state->threads[t].next_op == thread->num_ops;
        warps |= thread->core == core && !ended ? UINT64_C(1) << self->warp_of[t] : 0;
    }
    return warps;
}

static int
meet(gpc_world_t *self, uint32_t core, const gpc_order_arrival_t *arrival)
{
    uint64_t released;
    gpc_cycle_t until;

    GPC_TRY(gpc_order_barrier(&self->order, core, arrival, &released, &until));
    for (uint32_t t = 0; t < self->what->num_threads; t++) {
        if (self->what->threads[t].core == core && (released >> self->warp_of[t] & 1)) {
            self->state->threads[t].waits = GPC_WORLD_RUNS;
            self->state->threads[t].next_op++;
        }
    }
    return GPC_OK;
}

int
gpc_world_arrive(gpc_world_t *self, uint32_t thread, const gpc_access_t *access)
{
    uint32_t core = self->what->threads[thread].core;
    const gpc_order_arrival_t arrival = {.warp = self->warp_of[thread],
                                         .threads = 1,
                                         .expected = self->what->num_threads,
                                         .access = *access,
                                         .waits = true,
                                         .awaited = warps_on(self, core)};
    gpc_world_wait_t before = self->state->threads[thread].waits;

    self->state->threads[thread].waits = GPC_WORLD_AT_BARRIER;
    int status = meet(self, core, &arrival);
    if (status) {
        self->state->threads[thread].waits = before;
    }
    return status;
}

int
gpc_world_leave_barrier(gpc_world_t *self, uint32_t thread)
{
    uint32_t core = self->what->threads[thread].core, warp = self->warp_of[thread];
    uint64_t others = warps_on(self, core) & ~(UINT64_C(1) << warp);
    gpc_order_arrival_t arrival = {.warp = warp, .awaited = others};
    gpc_cycle_t until;

    if (!gpc_order_barrier_is_complete_with(&self->order, core, 0, 0, others, &arrival.access)) {
        return GPC_OK;
    }
    GPC_TRY(gpc_order_may_issue(&self->order, core, warp, &arrival.access, &until));
    return meet(self, core, &arrival);
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

static bool
has_program_ended(const gpc_world_t *self, uint32_t t)
{
    return self->state->threads[t].next_op == self->what->threads[t].num_ops && !self->state->threads[t].outstanding;
}

/* Whether all threads, or those of a core, are at the end of a launch; with `last`, of the last one. */
static bool
are_at_end(const gpc_world_t *self, uint32_t core, bool last)
{
    bool any = false;
    for (uint32_t t = 0; t < self->what->num_threads; t++) {
        if (core == GPC_NONE || self->what->threads[t].core == core) {
            if (last ? !has_program_ended(self, t) : self->state->threads[t].waits != GPC_WORLD_AT_KERNEL) {
                return false;
            }
            any = true;
        }
    }
    return any;
}

static bool
has_launch_ended(const gpc_world_t *self, uint32_t node, bool last)
{
    return are_at_end(self, GPC_NONE, last) || (node < self->machine.cores && are_at_end(self, node, last));
}

static bool
minds_ends(const gpc_controller_t *unit)
{
    return unit->type->ends || unit->type->launch;
}

/* Whether KERNEL_END may be sent: to an L1 when its threads are done, to others when all are; again while a table holds
 * it. */
bool
gpc_world_may_end(const gpc_world_t *self, uint32_t node)
{
    const gpc_controller_t *unit = &self->controllers[node];

    if (self->state->ended >> node & 1) {
        return *unit->launch_pending != 0;
    }
    return minds_ends(unit) && has_launch_ended(self, node, false);
}

int
gpc_world_end(gpc_world_t *self, uint32_t node)
{
    self->state->ended |= 1u << node;
    int status = gpc_controller_launch(&self->controllers[node], GPC_MSG_KERNEL_END);
    return status == GPC_HELD_QUEUE ? GPC_OK : status;
}

int
gpc_world_end_last(gpc_world_t *self)
{
    int status = GPC_OK;

    for (uint32_t node = 0; node < self->nodes.count && status == GPC_OK; node++) {
        if (self->controllers[node].type->ends && !(self->state->ended >> node & 1) &&
            has_launch_ended(self, node, true)) {
            status = gpc_world_end(self, node);
        }
    }
    return status;
}

bool
gpc_world_quiet(const gpc_world_t *self)
{
    if (self->state->answers.count) {
        return false;
    }
    for (uint32_t i = 0; i < self->nodes.count * self->nodes.count * self->num_networks; i++) {
        if (self->channels[i].count) {
            return false;
        }
    }
    for (uint32_t node = 0; node < self->nodes.count; node++) {
        if (self->controllers[node].replay->count || *self->controllers[node].ready) {
            return false;
        }
    }
    return true;
}

bool
gpc_world_may_begin(const gpc_world_t *self)
{
    if (self->state->timers.count || !are_at_end(self, GPC_NONE, false)) {
        return false;
    }
    for (uint32_t node = 0; node < self->nodes.count; node++) {
        const gpc_controller_t *unit = &self->controllers[node];
        if (minds_ends(unit) && (!(self->state->ended >> node & 1) || *unit->launch_pending)) {
            return false;
        }
    }
    return true;
}

/* ---- the host ---------------------------------------------------------------------------------------------------- */

int
gpc_world_final(gpc_world_t *self, uint32_t variable, uint64_t *value)
{
    uint32_t words[GPC_WORLD_LINE_WORDS], line = gpc_world_line_number(self, variable);
    const gpc_explore_op_t whole = {.variable = (uint8_t) variable};
    uint32_t word = gpc_world_first_word(self, &whole);
    bool wide = gpc_world_is_wide(self, variable);

    gpc_units_t units = gpc_nodes_units(&self->nodes, self->controllers, self->l1s, gpc_world_address(line));
    memcpy(words, self->state->memory[line], sizeof(words));
    int status = self->protocol->host_read(&units, gpc_world_address(line), gpc_world_mask_of(self, &whole), words);
    *value = wide ? (uint64_t) words[1] << 32 | words[0] : words[word];
    return status;
}

int
gpc_world_check_memory(gpc_world_t *self)
{
    int status = GPC_OK;
    for (uint32_t line = 0; line < self->lines && !self->what->unwatched && status == GPC_OK; line++) {
        gpc_units_t units = gpc_nodes_units(&self->nodes, self->controllers, self->l1s, gpc_world_address(line));
        status = gpc_host_check_memory(self->protocol, &units, gpc_world_address(line), gpc_all_words(units.bank),
                                       self->state->memory[line]);
    }
    return status;
}

/* As the machine does it (machine/host.c). */
static int
host_store(gpc_world_t *self, const gpc_explore_op_t *op)
{
    uint32_t line = gpc_world_line_number(self, op->variable), words[GPC_WORLD_LINE_WORDS];
    gpc_mask_t mask = gpc_world_mask_of(self, op);
    gpc_units_t units = gpc_nodes_units(&self->nodes, self->controllers, self->l1s, gpc_world_address(line));
    gpc_mask_t others = gpc_all_words(units.bank) & ~mask;

    gpc_world_put(self, op, op->value, self->state->memory[line]);
    memcpy(words, self->state->memory[line], sizeof(words));
    if (self->protocol->host_takes_line) {
        GPC_TRY(self->protocol->host_read(&units, gpc_world_address(line), others, words));
        for (uint32_t word = 0; word < GPC_WORLD_LINE_WORDS; word++) {
            self->state->memory[line][word] = others >> word & 1 ? words[word] : self->state->memory[line][word];
        }
    }
    return self->protocol->host_write(&units, gpc_world_address(line), mask, words);
}

/* What the host does between two launches, if the thread's end of the first one says so. */
static int
act_as_host(gpc_world_t *self, uint32_t t)
{
    gpc_world_thread_t *thread = &self->state->threads[t];
    const gpc_explore_op_t *op = &self->what->threads[t].ops[thread->next_op];

    if (op->kind == GPC_EXPLORE_HOST_STORE) {
        return host_store(self, op);
    }
    if (op->kind == GPC_EXPLORE_HOST_LOAD) {
        thread->complete |= 1u << thread->next_op;
        return gpc_world_final(self, op->variable, &thread->read[thread->next_op]);
    }
    return GPC_OK;
}

/* ---- the next launch --------------------------------------------------------------------------------------------- */

/* As the machine does when a launch ends. */
static void
drop_background_timers(gpc_world_t *self)
{
    gpc_index_t timer;
    while ((timer = gpc_list_pop(&self->state->background, &self->messages)) != GPC_NONE) {
        gpc_pool_give(&self->messages, timer);
    }
}

/* The arrays are lines, which the threads' operations of the next launch access. */
int
gpc_world_cross_boundary(gpc_world_t *self)
{
    gpc_boundary_t boundary = {.all = self->controllers, .nodes = &self->nodes};

    if (!self->protocol->boundary) {
        return GPC_OK;
    }
    for (uint32_t t = 0; t < self->what->num_threads; t++) {
        const gpc_explore_thread_t *thread = &self->what->threads[t];
        uint32_t first = self->state->threads[t].next_op + (self->state->threads[t].waits == GPC_WORLD_AT_KERNEL);
        for (uint32_t i = first; i < thread->num_ops && !gpc_explore_ends_launch(thread->ops[i].kind); i++) {
            const gpc_explore_op_t *op = &thread->ops[i];
            gpc_address_t line = gpc_world_address(gpc_world_line_number(self, op->variable));
            bool loads = op->kind == GPC_EXPLORE_LOAD, stores = op->kind == GPC_EXPLORE_STORE;
            if (op->kind < GPC_EXPLORE_FENCE) {
                gpc_boundary_add(&boundary, line, line + GPC_WORLD_LINE_BYTES, !stores, !loads);
            }
            boundary.dies |= 1u << gpc_die_of(&self->nodes, (gpc_node_t) thread->core);
        }
    }
    return self->protocol->boundary(&boundary);
}

/* What the last launch leaves, and the host's accesses. */
static int
end_launch(gpc_world_t *self)
{
    int status = GPC_OK;

    drop_background_timers(self);
    for (uint32_t node = 0; node < self->nodes.count && status == GPC_OK; node++) {
        status = gpc_controller_verify(&self->controllers[node], true);
    }
    if (status == GPC_OK) {
        status = gpc_world_check_accepted(self);
    }
    if (status == GPC_OK) {
        status = gpc_world_check_memory(self);
    }
    for (uint32_t t = 0; t < self->what->num_threads && status == GPC_OK; t++) {
        status = act_as_host(self, t);
    }
    return status;
}

int
gpc_world_begin(gpc_world_t *self)
{
    int status = GPC_OK;

    if (!self->state->crosses) {
        status = end_launch(self);
        status = status == GPC_OK ? gpc_world_cross_boundary(self) : status;
        self->state->crosses = status == GPC_OK && !gpc_world_quiet(self);
        if (status || self->state->crosses) {
            return status;
        }
    }
    self->state->crosses = false;
    for (uint32_t node = 0; node < self->nodes.count && status == GPC_OK; node++) {
        status = gpc_controller_launch(&self->controllers[node], GPC_MSG_KERNEL_BEGIN);
    }
    for (uint32_t core = 0; core < self->machine.cores; core++) {
        gpc_order_block_begin(&self->order, core, 0, (UINT64_C(1) << GPC_WORLD_MAX_THREADS) - 1);
    }
    for (uint32_t t = 0; t < self->what->num_threads; t++) {
        self->state->threads[t].waits = GPC_WORLD_RUNS;
        self->state->threads[t].next_op++;
    }
    self->state->ended = 0;
    return status;
}

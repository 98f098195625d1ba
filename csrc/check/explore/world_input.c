/* world_input.c: checks of what is to be explored: bounds, operations, barriers and kernels of the threads. */
#include "check/explore/world.h"

static bool
reads(const gpc_explore_op_t *op)
{
    return op->kind == GPC_EXPLORE_LOAD || op->kind == GPC_EXPLORE_ADD;
}

static int
check_operation(gpc_world_t *self, uint32_t thread, uint32_t number)
{
    const gpc_explore_op_t *op = &self->what->threads[thread].ops[number];
    if (op->kind >= GPC_NUM_EXPLORE_OPERATIONS || op->variable >= self->what->variables ||
        op->order >= GPC_NUM_ORDERS || op->scope >= GPC_NUM_SCOPES) {
        return gpc_fail(&self->failure, GPC_ERROR_ARGUMENT,
                        "thread %u, operation %u: invalid kind %u, variable %u, order %u or scope %u", thread, number,
                        op->kind, op->variable, op->order, op->scope);
    }
    if (op->word > 2 || (op->word && !gpc_world_is_wide(self, op->variable)) ||
        (op->atomic != (GPC_ATOMIC_ADD | GPC_EXPLORE_F64) && op->atomic > GPC_ATOMIC_CAS)) {
        return gpc_fail(&self->failure, GPC_ERROR_ARGUMENT,
                        "thread %u, operation %u: invalid word %u or atomic operation %u", thread, number, op->word,
                        op->atomic);
    }
    if (!gpc_world_has_two(self, op) &&
        (op->value > UINT32_MAX || op->replacement > UINT32_MAX || (op->atomic & GPC_EXPLORE_F64) != 0)) {
        return gpc_fail(&self->failure, GPC_ERROR_ARGUMENT,
                        "thread %u, operation %u: a value or addition of 64 bits needs a whole variable of 64 bits",
                        thread, number);
    }
    if (op->source && (op->source > number || (op->kind != GPC_EXPLORE_STORE && op->kind != GPC_EXPLORE_ADD) ||
                       !reads(&self->what->threads[thread].ops[op->source - 1]))) {
        return gpc_fail(&self->failure, GPC_ERROR_ARGUMENT,
                        "thread %u, operation %u: only a store or atomic depends on an older load or atomic", thread,
                        number);
    }
    if (op->read_only && (op->kind != GPC_EXPLORE_LOAD || op->order != GPC_ORDER_WEAK)) {
        return gpc_fail(&self->failure, GPC_ERROR_ARGUMENT,
                        "thread %u, operation %u: only a weak load is of a read-only buffer", thread, number);
    }
    return GPC_OK;
}

/* Whether the thread writes the variable in the given launch. */
static bool
writes_in_launch(const gpc_explore_thread_t *thread, uint8_t variable, uint32_t launch)
{
    for (uint32_t i = 0; i < thread->num_ops; i++) {
        const gpc_explore_op_t *op = &thread->ops[i];
        bool writes = op->kind == GPC_EXPLORE_STORE || op->kind == GPC_EXPLORE_ADD;
        if (launch == 0 && writes && op->variable == variable) {
            return true;
        }
        launch -= gpc_explore_ends_launch(op->kind);
    }
    return false;
}

static int
check_read_only(gpc_world_t *self, uint32_t thread)
{
    const gpc_explore_t *what = self->what;
    uint32_t launch = 0;

    for (uint32_t i = 0; i < what->threads[thread].num_ops; i++) {
        const gpc_explore_op_t *op = &what->threads[thread].ops[i];
        for (uint32_t t = 0; op->read_only && t < what->num_threads; t++) {
            if (writes_in_launch(&what->threads[t], op->variable, launch)) {
                return gpc_fail(&self->failure, GPC_ERROR_READ_ONLY,
                                "thread %u, operation %u: thread %u writes the read-only variable %u", thread, i, t,
                                op->variable);
            }
        }
        launch += gpc_explore_ends_launch(op->kind);
    }
    return GPC_OK;
}

/* Number of barriers that the thread has in the given launch. */
static uint32_t
count_of_barriers(const gpc_explore_thread_t *thread, uint32_t launch)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < thread->num_ops; i++) {
        count += launch == 0 && thread->ops[i].kind == GPC_EXPLORE_BARRIER;
        launch -= gpc_explore_ends_launch(thread->ops[i].kind);
    }
    return count;
}

static uint32_t
count_of_kernels(const gpc_explore_thread_t *thread)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < thread->num_ops; i++) {
        count += gpc_explore_ends_launch(thread->ops[i].kind);
    }
    return count;
}

/* A barrier does not wait for threads that have ended. */
static bool
exits(const gpc_explore_thread_t *thread)
{
    return thread->num_ops && thread->ops[thread->num_ops - 1].kind == GPC_EXPLORE_EXIT;
}

/* Checks that threads have equal numbers of kernels, and of barriers but after their EXIT: they would deadlock
 * otherwise. */
static int
check_meetings(gpc_world_t *self, uint32_t thread, uint32_t other)
{
    const gpc_explore_thread_t *one = &self->what->threads[thread], *two = &self->what->threads[other];
    uint32_t last = count_of_kernels(one);

    if (count_of_kernels(two) != last) {
        return gpc_fail(&self->failure, GPC_ERROR_ARGUMENT, "threads %u and %u have different numbers of kernels",
                        other, thread);
    }
    for (uint32_t launch = 0; launch <= last; launch++) {
        uint32_t ones = count_of_barriers(one, launch), twos = count_of_barriers(two, launch);
        bool ended = launch == last && exits(ones < twos ? one : two);
        if (one->core == two->core && ones != twos && !ended) {
            return gpc_fail(&self->failure, GPC_ERROR_ARGUMENT,
                            "threads %u and %u of core %u have different numbers of barriers in launch %u: end the "
                            "one that has fewer with exit, in its last launch",
                            other, thread, one->core, launch);
        }
    }
    return GPC_OK;
}

static int
check_thread(gpc_world_t *self, uint32_t t)
{
    const gpc_explore_thread_t *thread = &self->what->threads[t];
    int status = GPC_OK;

    if (thread->core >= self->what->cores || thread->num_ops > GPC_WORLD_MAX_OPS) {
        return gpc_fail(&self->failure, GPC_ERROR_ARGUMENT, "thread %u: core %u of %u, %u operations of at most %u", t,
                        thread->core, self->what->cores, thread->num_ops, GPC_WORLD_MAX_OPS);
    }
    for (uint32_t i = 0; i < thread->num_ops && status == GPC_OK; i++) {
        status = check_operation(self, t, i);
        if (thread->ops[i].kind == GPC_EXPLORE_EXIT && i + 1 < thread->num_ops) {
            return gpc_fail(&self->failure, GPC_ERROR_ARGUMENT, "thread %u: operation %u follows its EXIT", t, i + 1);
        }
    }
    for (uint32_t other = 0; other < t && status == GPC_OK; other++) {
        self->warp_of[t] += self->what->threads[other].core == thread->core;
        status = check_meetings(self, t, other);
    }
    return status;
}

int
gpc_world_check_input(gpc_world_t *self)
{
    const gpc_explore_t *what = self->what;
    if (what->cores < 1 || what->cores > GPC_EXPLORE_MAX_CORES || what->variables < 1 ||
        what->variables > GPC_WORLD_MAX_VARIABLES || what->num_threads < 1 ||
        what->num_threads > GPC_WORLD_MAX_THREADS) {
        return gpc_fail(&self->failure, GPC_ERROR_ARGUMENT,
                        "%u cores, %u variables, %u threads: must be 1 to %u, 1 to %u, 1 to %u", what->cores,
                        what->variables, what->num_threads, GPC_EXPLORE_MAX_CORES, GPC_WORLD_MAX_VARIABLES,
                        GPC_WORLD_MAX_THREADS);
    }
    if (what->wide && what->packed) {
        return gpc_fail(&self->failure, GPC_ERROR_ARGUMENT, "a variable of 64 bits has a line of its own");
    }
    int status = GPC_OK;
    for (uint32_t t = 0; t < what->num_threads && status == GPC_OK; t++) {
        status = check_thread(self, t);
    }
    for (uint32_t t = 0; t < what->num_threads && status == GPC_OK; t++) {
        status = check_read_only(self, t);
    }
    return status;
}

/* kernels.c: the kernels of a launch, which run at the same time on several GPUs: their cores, their order, and what
 * observers see of them, one launch. */
#include <stdlib.h>
#include <string.h>

#include "core/frontend/frontend.h"
#include "core/memory/order.h"

/* ---- the list ---------------------------------------------------------------------------------------------------- */

static void
free_list(gpc_core_launch_t **list)
{
    while (*list != NULL) {
        gpc_core_launch_t *next = (*list)->next;
        gpc_core_launch_free(*list);
        *list = next;
    }
}

static void
free_joined(gpc_core_parts_t *parts)
{
    if (parts->joined != NULL) {
        free((void *) (uintptr_t) parts->joined->program.instructions);
        free((void *) (uintptr_t) parts->joined->buffers);
        free((void *) (uintptr_t) parts->joined->files);
        free(parts->joined);
        parts->joined = NULL;
    }
}

void
gpc_core_kernels_free(gpc_cores_t *self)
{
    free_joined(self->parts);
    free_list(&self->parts->launch);
    for (uint32_t i = 0; self->parts->bases != NULL && i < self->machine->cores; i++) {
        self->parts->bases[i].launch = NULL;
    }
}

void
gpc_cores_drop_added(gpc_cores_t *self)
{
    free_list(&self->parts->added);
}

int
gpc_core_kernels_add(gpc_cores_t *self, gpc_core_launch_t *kernel)
{
    const gpc_machine_t *machine = self->machine;
    gpc_core_launch_t **end = &self->parts->added;
    const gpc_launch_t *launch = &kernel->launch;
    uint32_t dies = machine->dies > 1 ? machine->dies : 1, gpus = machine->gpus > 1 ? machine->gpus : 1;

    if (launch->on_gpu > gpus) {
        (void) gpc_fail(self->failure, GPC_ERROR_LAUNCH, "kernel '%s': GPU %u of %u (from 0)", launch->kernel,
                        launch->on_gpu - 1, gpus);
        gpc_core_launch_free(kernel);
        return GPC_ERROR_LAUNCH;
    }
    kernel->dies = launch->on_gpu ? dies / gpus : dies;
    kernel->first_die = launch->on_gpu ? (launch->on_gpu - 1) * kernel->dies : 0;
    kernel->cores = machine->cores / dies * kernel->dies;
    kernel->first_core = machine->cores / dies * kernel->first_die;
    kernel->vector_stride = kernel->cores * kernel->vector_words;
    kernel->front.stride = kernel->cores * kernel->front.words;
    for (; *end != NULL; end = &(*end)->next) {
        const gpc_core_launch_t *before = *end;
        kernel->number = before->number + 1;
        kernel->first_pc = before->first_pc + before->launch.program.count;
        kernel->first_block = before->first_block + before->blocks;
        kernel->first_file = before->first_file + before->launch.num_files;
        kernel->first_report = before->first_report + before->launch.num_reports;
        kernel->first_register = before->first_register + before->front.scoreboard;
    }
    if (kernel->number == GPC_MOST_KERNELS || kernel->blocks >= UINT32_MAX - kernel->first_block) {
        (void) gpc_fail(self->failure, GPC_ERROR_LAUNCH,
                        "kernel '%s': more than %u kernels, or 2^32 - 2 blocks, at the same time", launch->kernel,
                        GPC_MOST_KERNELS);
        gpc_core_launch_free(kernel);
        return GPC_ERROR_LAUNCH;
    }
    *end = kernel;
    return GPC_OK;
}

bool
gpc_core_may_begin(const gpc_cores_t *self, const gpc_core_launch_t *kernel)
{
    const gpc_core_launch_t *other = self->parts->launch;
    for (; !kernel->has_begun && other != kernel; other = other->next) {
        if (gpc_kernel_follows(kernel, other) && other->blocks_done < other->blocks) {
            return false;
        }
    }
    return !kernel->has_begun;
}

gpc_cycle_t
gpc_cores_kernel_end(const gpc_cores_t *self, uint32_t number)
{
    const gpc_core_launch_t *kernel = self->parts->launch;
    while (kernel != NULL && kernel->number != number) {
        kernel = kernel->next;
    }
    return kernel == NULL ? 0 : kernel->end;
}

/* ---- for observers ----------------------------------------------------------------------------------------------- */

const gpc_launch_t *
gpc_cores_launched(const gpc_cores_t *self)
{
    return self->parts->joined != NULL ? self->parts->joined : &self->parts->launch->launch;
}

uint32_t
gpc_core_most_warps(const gpc_cores_t *self)
{
    uint32_t most = 0;
    for (const gpc_core_launch_t *kernel = self->parts->launch; kernel != NULL; kernel = kernel->next) {
        most = kernel->warps_per_block > most ? kernel->warps_per_block : most;
    }
    return most;
}

/* Adds a buffer, unless it is one already; its number. */
static uint32_t
join_buffer(gpc_launch_t *to, const gpc_buffer_t *buffer)
{
    gpc_buffer_t *buffers = (gpc_buffer_t *) (uintptr_t) to->buffers;
    uint32_t i = 0;
    while (i < to->num_buffers &&
           (buffers[i].address != buffer->address || strcmp(buffers[i].name, buffer->name) != 0)) {
        i++;
    }
    if (i == to->num_buffers) {
        buffers[to->num_buffers++] = *buffer;
    }
    return i;
}

/* Adds a kernel's instructions, which name files and buffers by numbers, and what they name. */
static void
join_kernel(gpc_launch_t *to, const gpc_core_launch_t *kernel)
{
    const gpc_launch_t *from = &kernel->launch;
    gpc_instruction_t *out = (gpc_instruction_t *) (uintptr_t) to->program.instructions + kernel->first_pc;
    memcpy((gpc_source_t *) (uintptr_t) to->files + kernel->first_file, from->files,
           from->num_files * sizeof *from->files);
    for (uint32_t i = 0; i < from->num_buffers; i++) {
        (void) join_buffer(to, &from->buffers[i]);
    }
    for (uint32_t pc = 0; pc < from->program.count; pc++) {
        out[pc] = from->program.instructions[pc];
        out[pc].file = (uint16_t) (out[pc].file + kernel->first_file);
        bool memory =
            out[pc].opcode == GPC_OP_LOAD || out[pc].opcode == GPC_OP_STORE || out[pc].opcode == GPC_OP_ATOMIC;
        if (memory && (out[pc].flags & GPC_FLAG_FLAT) == 0) {
            out[pc].immediate = join_buffer(to, &from->buffers[out[pc].immediate]);
        }
    }
    gpc_program_t *all = &to->program;
    const gpc_program_t *its = &from->program;
    all->vector_registers =
        its->vector_registers > all->vector_registers ? its->vector_registers : all->vector_registers;
    all->uniform_registers =
        its->uniform_registers > all->uniform_registers ? its->uniform_registers : all->uniform_registers;
    all->shared_words = its->shared_words > all->shared_words ? its->shared_words : all->shared_words;
    all->independent_lanes |= its->independent_lanes;
}

int
gpc_core_kernels_join(gpc_cores_t *self)
{
    gpc_core_parts_t *parts = self->parts;
    const gpc_core_launch_t *first = parts->launch, *last = first;
    size_t buffers = first->launch.num_buffers;
    self->order->exit_releases = false;
    if (first->next == NULL) {
        return GPC_OK;
    }
    while (last->next != NULL) {
        last = last->next;
        buffers += last->launch.num_buffers;
        self->order->exit_releases |= !gpc_core_may_begin(self, last);
    }
    gpc_launch_t *joined = parts->joined = calloc(1, sizeof *joined);
    if (joined == NULL) {
        return gpc_fail(self->failure, GPC_ERROR_MEMORY, "out of memory for a launch of several kernels");
    }
    joined->program.count = last->first_pc + last->launch.program.count;
    joined->num_files = last->first_file + last->launch.num_files;
    joined->program.instructions = calloc(joined->program.count, sizeof *joined->program.instructions);
    joined->files = calloc(joined->num_files + 1, sizeof *joined->files);
    joined->buffers = calloc(buffers + 1, sizeof *joined->buffers);
    if (joined->program.instructions == NULL || joined->files == NULL || joined->buffers == NULL) {
        return gpc_fail(self->failure, GPC_ERROR_MEMORY, "out of memory for a launch of several kernels");
    }
    joined->kernel = first->launch.kernel;
    joined->joined = first;
    for (uint32_t axis = 0; axis < 3; axis++) {
        joined->grid[axis] = joined->block[axis] = 1;
    }
    joined->grid[0] = last->first_block + last->blocks;
    joined->block[0] = gpc_core_most_warps(self) * self->machine->lanes_per_warp;
    for (const gpc_core_launch_t *kernel = first; kernel != NULL; kernel = kernel->next) {
        join_kernel(joined, kernel);
    }
    return GPC_OK;
}

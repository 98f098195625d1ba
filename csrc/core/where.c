/* where.c: text for source locations and threads. */
#include "core/where.h"

#include <stdio.h>

static const gpc_instruction_t *
instruction_at(const gpc_launch_t *launch, uint32_t pc)
{
    return &launch->program.instructions[pc < launch->program.count ? pc : 0];
}

const char *
gpc_core_fails_at(gpc_failure_t *failure, const gpc_core_launch_t *launch, uint32_t pc)
{
    const gpc_instruction_t *in = instruction_at(&launch->launch, pc);
    if (failure->code == 0) {
        failure->place = (gpc_code_place_t){true, (uint16_t) (launch->first_file + in->file), in->line};
    }
    return launch->launch.kernel;
}

static const gpc_core_launch_t *
kernel_of(const gpc_core_launch_t *kernels, uint32_t pc)
{
    while (kernels->next != NULL && pc >= kernels->next->first_pc) {
        kernels = kernels->next;
    }
    return kernels;
}

const char *
gpc_launch_where(const gpc_launch_t *launch, uint32_t pc, char *text, size_t size)
{
    const gpc_core_launch_t *kernel = launch->joined;
    if (kernel != NULL) {
        kernel = kernel_of(kernel, pc);
        return gpc_core_where(kernel, pc - kernel->first_pc, text, size);
    }
    const gpc_instruction_t *in = instruction_at(launch, pc);
    if (in->file < launch->num_files) {
        const gpc_source_t *file = &launch->files[in->file];
        snprintf(text, size, "kernel '%s' at %s:%u", launch->kernel, file->name, (unsigned) (file->first + in->line));
    } else {
        snprintf(text, size, "kernel '%s' at line %u", launch->kernel, (unsigned) in->line);
    }
    return text;
}

const gpc_core_launch_t *
gpc_launch_kernel_of(const gpc_launch_t *launch, uint32_t block)
{
    const gpc_core_launch_t *kernel = launch->joined;
    while (kernel != NULL && kernel->next != NULL && block >= kernel->next->first_block) {
        kernel = kernel->next;
    }
    return kernel;
}

const char *
gpc_core_where(const gpc_core_launch_t *launch, uint32_t pc, char *text, size_t size)
{
    return gpc_launch_where(&launch->launch, pc, text, size);
}

const char *
gpc_core_who(const gpc_issue_t *x, uint32_t lane, char *text, size_t size)
{
    const gpc_block_t *block = gpc_core_block(x->base->cores, x->base->index, x->warp->block);
    uint32_t thread = x->warp->index * x->launch->lanes + lane;
    snprintf(text, size, "thread (%u,%u,%u) of block (%u,%u,%u)", x->launch->thread_axis[0][thread],
             x->launch->thread_axis[1][thread], x->launch->thread_axis[2][thread], block->coordinates[0],
             block->coordinates[1], block->coordinates[2]);
    return text;
}

/* where.c: text for source locations and threads. */
#include "core/where.h"

#include <stdio.h>

const char *
gpc_core_where(const gpc_core_launch_t *launch, uint32_t pc, char *text, size_t size)
{
    const gpc_instruction_t *in = &launch->launch.program.instructions[pc < launch->launch.program.count ? pc : 0];
    int length = snprintf(text, size, "kernel '%s' at line %u", launch->launch.kernel, (unsigned) in->line);
    if (in->file != 0 && length > 0 && (size_t) length < size) {
        snprintf(text + length, size - (size_t) length, " of file %u", (unsigned) in->file);
    }
    return text;
}

const char *
gpc_core_who(const gpc_issue_t *x, uint32_t lane, char *text, size_t size)
{
    const gpc_block_t *block = gpc_core_block(x->cores, x->core_index, x->warp->block);
    uint32_t thread = x->warp->index * x->lanes + lane;
    snprintf(text, size, "thread (%u,%u,%u) of block (%u,%u,%u)", x->launch->thread_axis[0][thread],
             x->launch->thread_axis[1][thread], x->launch->thread_axis[2][thread], block->coordinates[0],
             block->coordinates[1], block->coordinates[2]);
    return text;
}

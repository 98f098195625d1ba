/* ranges.c: the arrays of a launch by address, for its accesses by address (core/memory/flat.h): those that the host
 * names, to the byte, and the other allocations. */
#include <stdlib.h>

#include "core/frontend/frontend.h"

static bool
has_flat(const gpc_program_t *program)
{
    for (uint32_t i = 0; i < program->count; i++) {
        const gpc_instruction_t *in = &program->instructions[i];
        bool memory = in->opcode == GPC_OP_LOAD || in->opcode == GPC_OP_STORE || in->opcode == GPC_OP_ATOMIC;
        if (memory && (in->flags & GPC_FLAG_FLAT) != 0) {
            return true;
        }
    }
    return false;
}

/* By their begin; of those that begin together first the one with a name. */
static int
compare(const void *a, const void *b)
{
    const gpc_range_t *x = a, *y = b;
    if (x->begin != y->begin) {
        return x->begin < y->begin ? -1 : 1;
    }
    return x->buffer < y->buffer ? -1 : x->buffer > y->buffer;
}

int
gpc_core_find_ranges(gpc_memory_t *memory, gpc_core_launch_t *launch)
{
    gpc_address_t address;
    uint64_t words;
    uint32_t allocations = 0, count = 0;
    if (!has_flat(&launch->launch.program)) {
        return GPC_OK;
    }
    while (memory != NULL && gpc_memory_allocation(memory, allocations, &address, &words)) {
        allocations++;
    }
    launch->ranges = calloc((size_t) launch->launch.num_buffers + allocations + 1, sizeof *launch->ranges);
    if (launch->ranges == NULL) {
        return GPC_ERROR_MEMORY;
    }
    for (uint32_t i = 0; i < launch->launch.num_buffers; i++) {
        const gpc_buffer_t *buffer = &launch->launch.buffers[i];
        gpc_address_t end = buffer->address + buffer->elements * gpc_element_bytes(buffer->bytes);
        launch->ranges[count++] = (gpc_range_t){buffer->address, end, i};
    }
    for (uint32_t i = 0; i < allocations && gpc_memory_allocation(memory, i, &address, &words); i++) {
        launch->ranges[count++] = (gpc_range_t){address, address + 4 * words, GPC_NONE};
    }
    qsort(launch->ranges, count, sizeof *launch->ranges, compare);
    for (uint32_t i = 0; i < count; i++) {
        if (launch->num_ranges == 0 || launch->ranges[launch->num_ranges - 1].begin != launch->ranges[i].begin) {
            launch->ranges[launch->num_ranges++] = launch->ranges[i];
        }
    }
    return GPC_OK;
}

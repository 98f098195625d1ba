/* uses.c: which arrays the kernels of a launch may read and write, and on which dies, for a command processor
 * (controller/boundary.h). */
#include "core/frontend/frontend.h"

static void
add_array(const gpc_cores_t *self, gpc_address_t address, bool reads, bool writes, gpc_boundary_t *out)
{
    gpc_address_t begin;
    uint64_t words;
    if (self->memory != NULL && gpc_memory_around(self->memory, address, &begin, &words)) {
        gpc_boundary_add(out, begin, begin + 4 * words, reads, writes);
    }
}

/* Those that the program's accesses name, in the order of the kernel's arguments. */
static void
add_named(const gpc_cores_t *self, const gpc_launch_t *launch, gpc_boundary_t *out)
{
    for (uint32_t buffer = 0; buffer < launch->num_buffers; buffer++) {
        bool reads = false, writes = false;
        for (uint32_t i = 0; i < launch->program.count; i++) {
            const gpc_instruction_t *in = &launch->program.instructions[i];
            bool loads = in->opcode == GPC_OP_LOAD, stores = in->opcode == GPC_OP_STORE;
            if ((loads || stores || in->opcode == GPC_OP_ATOMIC) && in->immediate == buffer) {
                reads |= !stores;
                writes |= !loads;
            }
        }
        if (reads || writes) {
            add_array(self, launch->buffers[buffer].address, reads, writes, out);
        }
    }
}

/* Accesses by address reach every allocation. */
static void
add_all(const gpc_cores_t *self, gpc_boundary_t *out)
{
    gpc_address_t begin;
    uint64_t words;
    for (size_t i = 0; !out->others && gpc_memory_allocation(self->memory, i, &begin, &words); i++) {
        gpc_boundary_add(out, begin, begin + 4 * words, true, true);
    }
}

static void
add_dies(const gpc_core_launch_t *kernel, gpc_boundary_t *out)
{
    uint32_t cores = kernel->cores / kernel->dies;
    for (uint32_t die = 0; die < kernel->dies; die++) {
        bool runs = kernel->launch.placement == GPC_PLACE_STATIC
                        ? die * cores < kernel->blocks
                        : gpc_first_block_of(kernel, die) < gpc_first_block_of(kernel, die + 1);
        out->dies |= (uint32_t) runs << (kernel->first_die + die);
    }
}

void
gpc_cores_add_uses(const gpc_cores_t *self, gpc_boundary_t *out)
{
    for (const gpc_core_launch_t *kernel = self->parts->added; kernel != NULL; kernel = kernel->next) {
        if (kernel->ranges != NULL) {
            add_all(self, out);
        } else {
            add_named(self, &kernel->launch, out);
        }
        add_dies(kernel, out);
    }
}

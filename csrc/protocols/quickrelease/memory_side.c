/* memory_side.c: what the memory sides of wt, rfo and qr share. */
#include "protocols/quickrelease/memory_side.h"

void
qr_geometry(const gpc_machine_t *machine, uint64_t bytes, uint32_t most_ways, uint32_t *sets, uint32_t *ways)
{
    uint64_t lines = bytes / machine->line_bytes;

    lines = lines ? lines : 1;
    *ways = lines < most_ways ? (uint32_t) lines : most_ways;
    *sets = (uint32_t) (lines / *ways);
}

uint32_t
l3_banks(const gpc_machine_t *machine)
{
    return machine->memory_units > 1 ? machine->partitions / machine->memory_units : machine->partitions;
}

void
l3_geometry(const gpc_machine_t *machine, const int64_t *options, uint32_t *sets, uint32_t *ways)
{
    (void) options;
    if (machine->l3_bytes == 0) {
        qr_geometry(machine, UINT64_C(16) * machine->l2_bytes * l3_banks(machine), 16, sets, ways);
    }
}

uint32_t
l3_mshrs(const gpc_machine_t *machine, const int64_t *options)
{
    (void) options;
    return machine->l3_mshrs ? machine->l3_mshrs : machine->l2_mshrs * l3_banks(machine);
}

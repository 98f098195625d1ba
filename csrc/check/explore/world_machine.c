/* world_machine.c: the machine of the explorer's world, and the changes that a caller may make to it. */
#include <stddef.h>
#include <string.h>

#include "check/explore/world.h"

/* Caches have room for every line, and evictions are moves; tight caches have room for one line and one MSHR entry. */
static void
make_machine(gpc_world_t *self)
{
    const gpc_explore_t *what = self->what;
    uint32_t lines = self->lines, held = what->tight ? 1 : lines;
    uint32_t banks = what->tight || self->protocol->explored.one_bank ? 1 : lines;
    uint32_t dies = self->protocol->explored.dies > 1 ? self->protocol->explored.dies : 1;

    self->machine = (gpc_machine_t){.cores = what->cores,
                                    .warps_per_core = GPC_WORLD_MAX_THREADS,
                                    .lanes_per_warp = 32,
                                    .blocks_per_core = 1,
                                    .requests_per_core = 64,
                                    .l1_bytes = held * GPC_WORLD_LINE_BYTES,
                                    .l1_ways = held,
                                    .l1_mshrs = what->tight ? 1 : lines + 1,
                                    .l1_latency = 1,
                                    .line_bytes = GPC_WORLD_LINE_BYTES,
                                    .partitions = (banks + dies - 1) / dies * dies,
                                    .interleave_bytes = GPC_WORLD_LINE_BYTES,
                                    .l2_bytes = held * GPC_WORLD_LINE_BYTES,
                                    .l2_ways = held,
                                    .l2_mshrs = what->tight ? 1 : lines + 1,
                                    .memory_units = 1,
                                    .l3_bytes = held * GPC_WORLD_LINE_BYTES,
                                    .l3_ways = held,
                                    .l3_mshrs = what->tight ? 1 : lines + 1,
                                    .dies = dies,
                                    .l2_near = 1,
                                    .page_bytes = dies > 1 ? GPC_WORLD_LINE_BYTES : 0,
                                    .gpus = self->protocol->explored.gpus > 1 ? self->protocol->explored.gpus : 1,
                                    .global_units = 1,
                                    .host_units = 1,
                                    .flit_bytes = 32,
                                    .timestamp_bits = what->timestamp_bits ? what->timestamp_bits : 32};
}

/* Fewer than a machine may have: programs of a few operations pass few timestamps. */
enum { FEWEST_TIMESTAMP_BITS = 2 };

/* Whether the programs and their settings determine the field, or the shape of a state does. */
static bool
is_own_field(const char *name)
{
    static const char *const own[] = {
        "cores",      "warps_per_core",   "lanes_per_warp", "blocks_per_core", "l1_bytes",  "l1_ways",
        "line_bytes", "interleave_bytes", "partitions",     "l2_bytes",        "l2_ways",   "l3_bytes",
        "l3_ways",    "memory_units",     "global_units",   "host_units",      "dies",      "gpus",
        "page_bytes", "die_latency",      "die_bytes",      "gpu_latency",     "gpu_bytes", "placement_of_pages",
        "links",      "l2_near"};
    for (size_t i = 0; i < GPC_COUNT_OF(own); i++) {
        if (strcmp(own[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static int
set_field(gpc_world_t *self, const gpc_option_value_t *given)
{
    const gpc_machine_field_t *field = gpc_machine_fields;
    while (field->name && strcmp(field->name, given->name) != 0) {
        field++;
    }
    if (!field->name || is_own_field(given->name)) {
        return gpc_fail(&self->failure, GPC_ERROR_MACHINE,
                        "%s: the explorer determines it (allowed: fields that neither its programs nor their settings "
                        "name, such as timestamp_bits, l1_mshrs, l2_mshrs)",
                        given->name);
    }
    bool is_timestamp = field->offset == offsetof(gpc_machine_t, timestamp_bits);
    uint32_t smallest = is_timestamp ? FEWEST_TIMESTAMP_BITS : field->smallest;
    if (given->value < smallest || given->value > field->largest) {
        return gpc_fail(&self->failure, GPC_ERROR_MACHINE, "%s = %lld: must be from %u to %u", field->name,
                        (long long) given->value, smallest, field->largest);
    }
    uint32_t value = (uint32_t) given->value;
    memcpy((uint8_t *) &self->machine + field->offset, &value, sizeof(value));
    if (is_timestamp) {
        self->timestamp_bits = value;
    }
    return GPC_OK;
}

int
gpc_world_make_machine(gpc_world_t *self)
{
    int status = GPC_OK;
    make_machine(self);
    self->timestamp_bits = self->what->timestamp_bits;
    for (uint32_t i = 0; i < self->what->num_fields && status == GPC_OK; i++) {
        status = set_field(self, &self->what->fields[i]);
    }
    return status;
}

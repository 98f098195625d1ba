/* machine.c: checks a machine's parameters against their ranges and against each other. */
#include "base/machine.h"

#include <string.h>

#include "base/errors.h"

enum {
#define X(name, text) REPLACEMENT_##name,
#include "machines/replacement.def"
#undef X
    NUM_REPLACEMENTS,
    LAST_REPLACEMENT = NUM_REPLACEMENTS - 1
};

const gpc_machine_field_t gpc_machine_fields[] = {
#define X(name, smallest, largest, unit, text) {#name, offsetof(gpc_machine_t, name), smallest, largest, text},
#include "machines/fields.def"
#undef X
    {NULL, 0, 0, 0, NULL},
};

static bool
power_of_two(uint32_t n)
{
    return n && (n & (n - 1)) == 0;
}

/* Whether each of the dies has an equal share, and each GPU of the dies. */
static int
check_shares(const gpc_machine_t *m, gpc_failure_t *failure)
{
    const uint32_t shares[] = {m->cores, m->partitions, m->dram_channels};
    static const char *const names[] = {"cores", "partitions", "dram_channels"};
    for (uint32_t i = 0; i < 3; i++) {
        if (shares[i] % m->dies) {
            return gpc_fail(failure, GPC_ERROR_MACHINE, "dies = %u: must divide %s = %u", m->dies, names[i], shares[i]);
        }
    }
    if (m->dies % m->gpus) {
        return gpc_fail(failure, GPC_ERROR_MACHINE, "gpus = %u: must divide dies = %u", m->gpus, m->dies);
    }
    if (m->memory_units > 1 && m->memory_units != m->dies) {
        return gpc_fail(failure, GPC_ERROR_MACHINE, "memory_units = %u: must be 0, 1 or dies = %u", m->memory_units,
                        m->dies);
    }
    return GPC_OK;
}

static int
check_dies(const gpc_machine_t *m, gpc_failure_t *failure)
{
    GPC_TRY(check_shares(m, failure));
    if (m->dies > 1 && (!power_of_two(m->page_bytes) || m->page_bytes < m->interleave_bytes)) {
        return gpc_fail(failure, GPC_ERROR_MACHINE,
                        "page_bytes = %u: must be a power of two of at least interleave_bytes = %u", m->page_bytes,
                        m->interleave_bytes);
    }
    if (m->dies > 1 && (m->topology == 1 || m->l2_crossing)) {
        return gpc_fail(failure, GPC_ERROR_MACHINE, "dies = %u: must be 1 with %s", m->dies,
                        m->l2_crossing ? "l2_crossing" : "a mesh");
    }
    return GPC_OK;
}

int
gpc_machine_check(const gpc_machine_t *m, gpc_failure_t *failure)
{
    for (const gpc_machine_field_t *field = gpc_machine_fields; field->name; field++) {
        uint32_t value;
        memcpy(&value, (const uint8_t *) m + field->offset, sizeof(value));
        if (value < field->smallest || value > field->largest) {
            return gpc_fail(failure, GPC_ERROR_MACHINE, "%s = %u: must be from %u to %u", field->name, value,
                            field->smallest, field->largest);
        }
    }
    if (m->lanes_per_warp != 32 && m->lanes_per_warp != 64) {
        return gpc_fail(failure, GPC_ERROR_MACHINE, "lanes_per_warp = %u: must be 32 or 64", m->lanes_per_warp);
    }
    if (!power_of_two(m->line_bytes) || !power_of_two(m->interleave_bytes) || m->interleave_bytes < m->line_bytes) {
        return gpc_fail(failure, GPC_ERROR_MACHINE,
                        "line_bytes = %u, interleave_bytes = %u: both must be powers of two, and interleave_bytes at "
                        "least line_bytes",
                        m->line_bytes, m->interleave_bytes);
    }
    if (m->sector_bytes && (!power_of_two(m->sector_bytes) || m->sector_bytes < 4 || m->sector_bytes > m->line_bytes)) {
        return gpc_fail(failure, GPC_ERROR_MACHINE,
                        "sector_bytes = %u: must be 0 or a power of two from 4 to line_bytes = %u", m->sector_bytes,
                        m->line_bytes);
    }
    GPC_TRY(check_dies(m, failure));
    if (m->scratchpad_banks != 0 && !power_of_two(m->scratchpad_banks)) {
        return gpc_fail(failure, GPC_ERROR_MACHINE, "scratchpad_banks = %u: must be 0 or a power of two",
                        m->scratchpad_banks);
    }
    if (m->l2_bytes % (m->line_bytes * m->l2_ways) || m->l2_bytes == 0 || m->l1_bytes % (m->line_bytes * m->l1_ways)) {
        return gpc_fail(failure, GPC_ERROR_MACHINE,
                        "l1_bytes = %u, l2_bytes = %u: must be whole sets of %u and %u ways of %u-byte lines",
                        m->l1_bytes, m->l2_bytes, m->l1_ways, m->l2_ways, m->line_bytes);
    }
    if (m->cpu_bytes && (m->cpu_ways == 0 || m->cpu_bytes % (m->line_bytes * m->cpu_ways))) {
        return gpc_fail(failure, GPC_ERROR_MACHINE, "cpu_bytes = %u: must be whole sets of %u ways of %u-byte lines",
                        m->cpu_bytes, m->cpu_ways, m->line_bytes);
    }
    if (m->dram_model == 1 && (m->dram_burst_bytes == 0 || m->line_bytes % m->dram_burst_bytes)) {
        return gpc_fail(failure, GPC_ERROR_MACHINE, "dram_burst_bytes = %u: must divide a line of %u bytes",
                        m->dram_burst_bytes, m->line_bytes);
    }
    return GPC_OK;
}

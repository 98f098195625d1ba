/* hmg_checks.c: what the monitors and the explorer check of NHCC and HMG beside loaded values, and the host's writes.
 *
 * A near copy is listed where its bank asks for the line, or was sent INV there which no release has followed yet. One
 * that is older than the home's line was sent INV there, or the GPU home was. So no copy that is older than what a
 * release covers is readable once the release is over. */
#include <inttypes.h>

#include "controller/nodes.h"
#include "protocols/dies/hmg.h"

enum { HMG_L2_STATES(GPC_FSM_STATE_ENUM_) };

/* Whether INV may be on its way from the bank to the die. */
static bool
is_exposed(const gpc_controller_t *from, const gpc_controller_t *to)
{
    const hmg_l2_unit_t *unit = hmg_l2_unit(from);
    return (unit->exposed | unit->awaited | unit->awaited_sys) >> gpc_die_of(from->nodes, to->node) & 1;
}

/* The line as the home has it, or NULL. */
static const uint32_t *
words_at(const gpc_controller_t *bank, gpc_address_t line, uint8_t state)
{
    gpc_index_t way;
    return gpc_state_at(bank, line, 0, &way) == state && way != GPC_NONE ? gpc_tags_words(&bank->arrays[0], way) : NULL;
}

static int
check_link(gpc_controller_t *near, const gpc_controller_t *asks, gpc_address_t line)
{
    uint32_t die = gpc_die_of(near->nodes, near->node);
    return hmg_listed(asks, line) >> die & 1 || is_exposed(asks, near)
               ? GPC_OK
               : gpc_violated(near, line, "a near line is listed, or INV is on its way to it",
                              "L2 %" PRIu32 " has it, L2 %" PRIu32 " neither lists die %" PRIu32
                              " nor has sent it INV since the last release",
                              near->index, asks->index, die);
}

static int
check_near(gpc_controller_t *all, gpc_controller_t *near, const gpc_controller_t *home, gpc_address_t line)
{
    const uint32_t *copy = words_at(near, line, L2_N), *words = words_at(home, line, L2_V);
    gpc_controller_t *gpu_home = &all[mcm_gpu_home(near, line)];
    bool through = gpu_home != home && gpu_home != near;
    if (!copy) {
        return GPC_OK;
    }
    GPC_TRY(through ? check_link(near, gpu_home, line) : GPC_OK);
    GPC_TRY(check_link(gpu_home == home || !through ? near : gpu_home, home, line));
    bool warned = through ? is_exposed(gpu_home, near) || is_exposed(home, gpu_home) : is_exposed(home, near);
    if (warned || !words || memcmp(copy, words, home->machine->line_bytes) == 0) {
        return GPC_OK;
    }
    return gpc_violated(near, line, "no near line is older than what releases cover",
                        "L2 %" PRIu32 " has other words than the home, L2 %" PRIu32
                        ", which has sent no INV since the last release",
                        near->index, home->index);
}

int
hmg_monitor(const gpc_units_t *units, gpc_address_t line)
{
    gpc_controller_t *home = units->bank;
    for (uint32_t die = 0; home && line != GPC_NEVER && die < home->machine->dies; die++) {
        gpc_controller_t *near = &units->all[mcm_bank_in(home, die)];
        GPC_TRY(near == home ? GPC_OK : check_near(units->all, near, home, line));
    }
    return GPC_OK;
}

int
hmg_host_write(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, const uint32_t *words)
{
    const gpc_controller_t *home = units->bank;
    for (uint32_t die = 0; die < home->machine->dies; die++) {
        gpc_tags_t *tags = &units->all[mcm_bank_in(home, die)].arrays[0];
        gpc_index_t way = tags == &home->arrays[0] ? GPC_NONE : gpc_tags_find(tags, line);
        if (way != GPC_NONE) {
            gpc_tags_drop(tags, way);
        }
    }
    return gpc_host_write(units, line, mask, words);
}

int
hmg_check(const gpc_machine_t *machine, const int64_t *options, gpc_failure_t *failure)
{
    int64_t lines = options[HMG_REGION_LINES];
    (void) machine;
    return (lines & (lines - 1)) == 0
               ? GPC_OK
               : gpc_fail(failure, GPC_ERROR_OPTION, "region_lines = %lld is not a power of two", (long long) lines);
}

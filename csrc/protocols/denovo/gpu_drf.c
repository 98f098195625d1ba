/* gpu_drf.c: gpu-drf, GPU coherence under DRF (GD, section 5.3); gpu_l1.c has its L1's actions and store buffer, gpu_l2.c its L2.
 *
 * Paper    Sinclair et al., MICRO 2015, sections 3 and 5.3.
 * Options  sb_drain, sb_full, sb_entry, sb_entries: of the store buffer (store_buffer.h).
 */
#include "protocols/denovo/gpu.h"

GPC_FSM(L1, GPU_L1_STATES, GPU_L1_EVENTS)

/* clang-format off */
static const gpc_cell_t l1_table[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_I] = {GPU_ROW_I},
    [L1_V] = {GPU_ROW_V},
    [L1_IV] = {GPU_ROW_IV},
    [L1_IVX] = {GPU_ROW_IVX},
};
/* clang-format on */

static const gpc_table_t lines = {GPC_TABLE("L1", OVER_LINES, L1, l1_table, gpu_l1_classify)};
static const gpc_controller_type_t gpu_drf_l1 = {GPU_L1_TYPE(lines)};

const gpc_protocol_t gpc_protocol_gpu_drf = {
    .id = "gpu-drf",
    .name = "GPU-DRF",
    .paper = "Sinclair et al., MICRO 2015",
    .family = "scoped synchronisation",
    .text = "GPU coherence: acquires invalidate the L1, releases flush its store buffer, synchronisation at the L2",
    .model = {[GPC_RULE_DRF] = "DRF-SC"},
    .standard_rule = GPC_RULE_DRF,
    .controllers = {&gpu_drf_l1, &gpu_l2},
    .messages = GPU_info,
    .num_messages = GPC_COUNT_OF(GPU_info),
    .networks = GPU_NETWORKS,
    .order = {.release = sb_release, .exit = sb_exit, .acquire = gpu_acquire, .same_word = true, .keeps_own = true},
    .options = {SB_OPTIONS(SB_LAZY)},
    .check = sb_check,
    .declared = {.figure_slot = 24,
                 .weak_outcomes = "SB MP LB",
                 .variations = "sb_drain=eager sb_full=flush,sb_entries=2",
                 .uncovered = {GPU_UNCOVERED}},
    .host_read = gpu_host_read,
    .host_write = gpc_host_write_alone,
    .watched = &gpu_watched,
};

/* gpu_drf.c: gpu-drf, GPU coherence under DRF (GD, section 5.3); gpu_l1.c has its L1's actions and store buffer,
 * gpu_l2.c its L2.
 *
 * Paper    Sinclair et al., MICRO 2015, sections 3 and 5.3.
 * Options  sb_drain, sb_full, gpc_sb_entry, sb_entries: of the store buffer (store_buffer.h).
 */
#include "protocols/denovo/gpu.h"

GPC_FSM(L1, GPU_L1_STATES, GPU_L1_EVENTS)

/* Held requests wait for the line, held stores and synchronisation accesses for an acknowledgement of the store
 * buffer's; the L2 always answers. */
/* clang-format off */
static const gpc_cell_t l1_table[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_I] = {
        [L1_LOAD] = GO(L1_IV, act_reserve_way, gpu_act_read),
        [L1_LOAD_BUFFERED] = GO(L1_I, sb_act_serve),
        [L1_STORE] = GO(L1_I, sb_act_put, sb_act_complete), /* no way is allocated */
        [L1_SYNC] = GO(L1_I, gpu_act_send_sync),
        [L1_SYNC_BUFFERED] = HOLD_QUEUE_AFTER(sb_act_drain),
        [L1_SYNC_DONE] = GO(L1_I, gpu_act_complete_sync),
    },
    [L1_V] = {
        [L1_LOAD] = GO(L1_V, act_hit),
        [L1_STORE] = GO(L1_V, sb_act_put, act_write_line, sb_act_complete),
        [L1_SYNC] = GO(L1_I, gpu_act_send_sync), /* the L2 changes the line */
        [L1_SYNC_BUFFERED] = HOLD_QUEUE_AFTER(sb_act_drain),
        [L1_ACQUIRE] = GO(L1_I),
        [L1_EVICT] = GO(L1_I), /* clean: stored words are in the store buffer */
        [L1_SYNC_DONE] = GO(L1_V, gpu_act_complete_sync),
    },
    [L1_IV] = {
        [L1_LOAD] = GO(L1_IV, act_merge),
        [L1_LOAD_BUFFERED] = GO(L1_IV, sb_act_serve),
        [L1_STORE] = GO(L1_IV, sb_act_put, gpu_act_skip, sb_act_complete),
        [L1_SYNC] = GO(L1_IVX, gpu_act_send_sync),
        [L1_SYNC_BUFFERED] = HOLD_QUEUE_AFTER(sb_act_drain),
        [L1_ACQUIRE] = GO(L1_IVX),
        [L1_DATA] = GO(L1_V, gpu_act_overlay, gpu_act_complete_pending, act_fill),
        [L1_SYNC_DONE] = GO(L1_IV, gpu_act_complete_sync),
    },
    [L1_IVX] = {
        [L1_LOAD] = HOLD_LINE, /* must not read what the acquire has made stale */
        [L1_LOAD_BUFFERED] = GO(L1_IVX, sb_act_serve),
        [L1_STORE] = GO(L1_IVX, sb_act_put, sb_act_complete),
        [L1_SYNC] = GO(L1_IVX, gpu_act_send_sync),
        [L1_SYNC_BUFFERED] = HOLD_QUEUE_AFTER(sb_act_drain),
        [L1_ACQUIRE] = GO(L1_IVX),
        [L1_DATA] = GO(L1_I, gpu_act_overlay, gpu_act_complete_pending),
        [L1_SYNC_DONE] = GO(L1_IVX, gpu_act_complete_sync),
    },
};
/* clang-format on */

const gpc_table_t gpu_drf_lines = {GPC_TABLE("L1", OVER_LINES, L1, l1_table, gpu_l1_classify)};
static const gpc_controller_type_t gpu_drf_l1 = {GPU_L1_TYPE(gpu_drf_lines)};

const gpc_protocol_t gpc_protocol_gpu_drf = {
    .id = "gpu-drf",
    .name = "GPU-DRF",
    .paper = "Sinclair et al., MICRO 2015",
    .family = "scoped synchronisation",
    .text = "GPU coherence: acquires invalidate the L1, releases flush its store buffer, synchronisation at the L2",
    .model = {[GPC_RULE_DRF] = "DRF-SC"},
    .standard_rule = GPC_RULE_DRF,
    .controllers = {&gpu_drf_l1, &gpu_l2},
    .order = {GPU_ORDER},
    GPU_PROTOCOL,
};

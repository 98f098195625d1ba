/* gpu_hrf.c: gpu-hrf, GPU coherence under HRF-Indirect (GH, section 5.3): gpu-drf whose synchronisation with local scope is
 * performed at the L1.
 *
 * Paper    Sinclair et al., MICRO 2015, sections 3, 4.2 and 5.3: local synchronisation executes at the L1, without invalidating the
 *          cache or flushing the store buffer; a dirty bit per word.
 * Counts   as gpu-drf.
 * Inferred a word's dirty bit is its presence in the store buffer. A load or store with local scope is an ordinary one. A
 *          read-modify-write with local scope is performed on the words in the store buffer, if all are there, else on the
 *          valid line, or on the line when it returns (even one that will not be kept: a core that polls with acquires would starve
 *          it otherwise); the words that it writes enter the store buffer. A release with global scope
 *          flushes the stores of every warp of the core, and an acquire drops the core's copies: this makes synchronisation
 *          transitive through both scopes (HRF-Indirect).
 * Options  as gpu-drf.
 */
#include "protocols/denovo/gpu.h"

#define HRF_L1_EVENTS(X)                                                                           \
    GPU_L1_EVENTS(X)                                                                               \
    X(L1_LOCAL_ATOMIC, "read-modify-writes with local scope")                                      \
    X(L1_LOCAL_ATOMIC_BUFFERED, "the same, all words in the store buffer")

GPC_FSM(L1, GPU_L1_STATES, HRF_L1_EVENTS)

static gpc_event_id_t
hrf_classify(const gpc_step_t *x)
{
    if (x->cause != GPC_MSG_ATOMIC || x->msg->scope > GPC_SCOPE_CU) {
        return gpu_l1_classify(x);
    }
    bool buffered = x->state != L1_V && (x->mask & ~sb_held(x->unit, x->line)) == 0;
    return buffered ? L1_LOCAL_ATOMIC_BUFFERED : L1_LOCAL_ATOMIC;
}

/* clang-format off */
static const gpc_cell_t l1_table[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_I] = {
        GPU_ROW_I,
        [L1_LOCAL_ATOMIC] = GO(L1_IV, act_reserve_way, gpu_act_read),
        [L1_LOCAL_ATOMIC_BUFFERED] = GO(L1_I, sb_act_perform),
    },
    [L1_V] = {
        GPU_ROW_V,
        [L1_LOCAL_ATOMIC] = GO(L1_V, sb_act_perform_on_copy),
    },
    [L1_IV] = {
        GPU_ROW_IV,
        [L1_LOCAL_ATOMIC] = GO(L1_IV, act_wait),
        [L1_LOCAL_ATOMIC_BUFFERED] = GO(L1_IV, sb_act_perform, gpu_act_skip),
    },
    [L1_IVX] = {
        GPU_ROW_IVX,
        [L1_LOCAL_ATOMIC] = HOLD_LINE,
        [L1_LOCAL_ATOMIC_BUFFERED] = GO(L1_IVX, sb_act_perform),
    },
};
/* clang-format on */

static const gpc_table_t lines = {GPC_TABLE("L1", OVER_LINES, L1, l1_table, hrf_classify)};
static const gpc_controller_type_t gpu_hrf_l1 = {GPU_L1_TYPE(lines)};

const gpc_protocol_t gpc_protocol_gpu_hrf = {
    .id = "gpu-hrf",
    .name = "GPU-HRF",
    .paper = "Sinclair et al., MICRO 2015",
    .family = "scoped synchronisation",
    .text = "GPU coherence with scopes: synchronisation of a core's blocks at the L1, without invalidation or flush",
    .model = {[GPC_RULE_HRF] = "HRF-indirect"},
    .standard_rule = GPC_RULE_HRF,
    .controllers = {&gpu_hrf_l1, &gpu_l2},
    .messages = GPU_info,
    .num_messages = GPC_COUNT_OF(GPU_info),
    .networks = GPU_NETWORKS,
    .order = {.release = sb_release,
              .exit = sb_exit,
              .acquire = gpu_acquire,
              .same_word = true,
              .keeps_own = true,
              .local_scopes = true},
    .options = {SB_OPTIONS(SB_LAZY)},
    .check = sb_check,
    .declared = {.figure_slot = 29,
                 .weak_outcomes = "SB MP LB",
                 .variations = "sb_drain=eager sb_full=flush,sb_entries=2",
                 .uncovered = {GPU_UNCOVERED}},
    .host_read = gpu_host_read,
    .host_write = gpc_host_write_alone,
    .watched = &gpu_watched,
};

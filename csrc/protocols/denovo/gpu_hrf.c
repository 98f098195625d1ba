/* gpu_hrf.c: gpu-hrf, GPU coherence under HRF-Indirect (GH, section 5.3): gpu-drf whose synchronisation with local
 * scope is performed at the L1.
 *
 * Paper    Sinclair et al., MICRO 2015, sections 3, 4.2 and 5.3: local synchronisation executes at the L1, without
 *          invalidating the cache or flushing the store buffer; a dirty bit per word.
 * Inferred a word's dirty bit is its presence in the store buffer. A load or store with local scope is an ordinary one.
 *          A read-modify-write with local scope is performed on the words in the store buffer, if all are there, else
 *          on the valid line, or on the line when it returns (even one that will not be kept: a core that polls with
 *          acquires would starve it otherwise); the words that it writes enter the store buffer. Synchronisation with
 *          global scope on a word that it waits for comes after it: at the L2 it would come between its read and its
 *          write. A release with global scope flushes the stores of every warp of the core, and an acquire drops the
 *          core's copies: this makes synchronisation transitive through both scopes (HRF-Indirect).
 * Options  as gpu-drf.
 */
#include "protocols/denovo/gpu.h"

#define HRF_L1_EVENTS(X)                                                                           \
    GPU_L1_EVENTS(X)                                                                               \
    X(L1_LOCAL_ATOMIC, "read-modify-writes with local scope")                                      \
    X(L1_LOCAL_ATOMIC_BUFFERED, "the same, all words in the store buffer")                         \
    X(L1_SYNC_AFTER_ATOMIC, "as SYNC, on a word that a read-modify-write with local scope waits for")

GPC_FSM(L1, GPU_L1_STATES, HRF_L1_EVENTS)

/* Whether a read-modify-write of the core waits for the line with one of the words. */
static bool
is_awaited(const gpc_step_t *x)
{
    GPC_FOR_PENDING(x, pending)
    {
        if (pending->type == GPC_MSG_ATOMIC && pending->mask & x->mask) {
            return true;
        }
    }
    return false;
}

static gpc_event_id_t
hrf_classify(const gpc_step_t *x)
{
    if (x->cause != GPC_MSG_ATOMIC || x->msg->scope > GPC_SCOPE_CU) {
        gpc_event_id_t event = gpu_l1_classify(x);
        return event == L1_SYNC && is_awaited(x) ? L1_SYNC_AFTER_ATOMIC : event;
    }
    bool buffered = x->state != L1_V && (x->mask & ~gpc_sb_held(x->unit, x->line)) == 0;
    return buffered ? L1_LOCAL_ATOMIC_BUFFERED : L1_LOCAL_ATOMIC;
}

static const gpc_patch_t l1_patches[] = {
    {L1_I, L1_LOCAL_ATOMIC, GO(L1_IV, act_reserve_way, gpu_act_read), "it is performed on the line when it returns"},
    {L1_IV, L1_LOCAL_ATOMIC, GO(L1_IV, act_wait), NULL},
    {L1_V, L1_LOCAL_ATOMIC, GO(L1_V, sb_act_perform_on_copy), "the written words enter the store buffer"},
    {L1_IVX, L1_LOCAL_ATOMIC, HOLD_LINE, "as a load: must not read what the acquire has made stale"},
    {L1_I, L1_LOCAL_ATOMIC_BUFFERED, GO(L1_I, sb_act_perform), "the words in the store buffer are the core's newest"},
    {L1_IV, L1_LOCAL_ATOMIC_BUFFERED, GO(L1_IV, sb_act_perform, gpu_act_skip), NULL},
    {L1_IVX, L1_LOCAL_ATOMIC_BUFFERED, GO(L1_IVX, sb_act_perform), NULL},
    {L1_IV, L1_SYNC_AFTER_ATOMIC, HOLD_LINE, "else the L2 writes between the atomic's read and its write"},
    {L1_IVX, L1_SYNC_AFTER_ATOMIC, HOLD_LINE, NULL},
};

static const gpc_table_t lines = {
    GPC_PATCHED_TABLE("L1", OVER_LINES, L1, "gpu-drf", gpu_drf_lines, l1_patches, hrf_classify)};
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
    .order = {GPU_ORDER, .local_scopes = true},
    GPU_PROTOCOL,
};

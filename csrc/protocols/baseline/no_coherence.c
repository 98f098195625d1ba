/* no_coherence.c: NO-COH, the baseline GPU L1 without coherence.
 *
 * Paper    Singh et al., HPCA 2013, section 3.1: write-evict, write-no-allocate, write-through; 128-byte lines.
 * Inferred the cells: the paper's table 2 without its shaded coherence additions. Copies are dropped when a kernel
 *          begins, as on GPUs.
 * Differs  nowhere known.
 */
#include "protocols/baseline/baseline.h"

#define L1_EVENTS(X)                                                                      \
    BASELINE_L1_EVENTS(X)                                                                 \
    X(L1_KERNEL_BEGIN, "kernel begins: every copy is dropped")

GPC_FSM(L1, BASELINE_L1_STATES, L1_EVENTS)
BASELINE_L1_EVENTS(BASELINE_SAME)

static gpc_event_id_t
l1_classify(const gpc_step_t *x)
{
    return x->cause == GPC_MSG_KERNEL_BEGIN ? L1_KERNEL_BEGIN : baseline_l1_classify(x);
}

/* clang-format off */
static const gpc_cell_t l1_table[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_I] = {
        [L1_LOAD] = GO(L1_IV, act_reserve_way, act_request_line),
        [L1_STORE] = GO(L1_II, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_send_atomic),
    },
    [L1_V] = {
        [L1_LOAD] = GO(L1_V, act_hit),
        [L1_STORE] = GO(L1_II, act_release_way, act_write_through), /* write-evict */
        [L1_ATOMIC] = GO(L1_II, act_release_way, act_send_atomic),
        [L1_EVICT] = GO(L1_I),
        /* IV and II are impossible: the previous kernel's end waits for them */
        [L1_KERNEL_BEGIN] = GO(L1_I, act_count_dropped),
    },
    [L1_IV] = {
        [L1_LOAD] = GO(L1_IV, act_merge_load),
        [L1_STORE] = GO(L1_II, act_release_way, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_release_way, act_send_atomic),
        [L1_EVICT] = NOT_A_VICTIM, /* the way is reserved for the fill */
        [L1_LAST_DATA] = GO(L1_V, act_fill, act_complete),
    },
    [L1_II] = { /* no way: never a victim */
        [L1_LOAD] = GO(L1_II, act_request_line), /* no merging: the outstanding read may predate this core's store */
        [L1_STORE] = GO(L1_II, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_send_atomic),
        [L1_DATA] = GO(L1_II, act_complete),
        [L1_LAST_DATA] = GO(L1_I, act_complete),
        [L1_ACK] = GO(L1_II, act_complete),
        [L1_LAST_ACK] = GO(L1_I, act_complete),
    },
    /* every other cell is impossible: entering one is reported with the state of both controllers */
};
/* clang-format on */

static const gpc_table_t l1 = {GPC_TABLE("L1", OVER_LINES, L1, l1_table, l1_classify)};

static const gpc_controller_type_t no_coherence_l1 = {BASELINE_L1_TYPE(l1), .begins = 1u << 0};

static const gpc_watched_t watched = {.promise = GPC_PROMISE_NOTHING, .bank_is_whole = true};

const gpc_protocol_t gpc_protocol_no_coherence = {
    .id = "no-coh",
    .name = "NO-COH",
    .paper = "Singh et al., HPCA 2013",
    .family = "baseline",
    .text = "private L1s without coherence; correct only if blocks do not communicate",
    .model = {[GPC_RULE_SC] = "none", [GPC_RULE_RC] = "none"},
    .standard_rule = GPC_RULE_RC,
    .controllers = {&no_coherence_l1, &baseline_l2},
    GPC_MESSAGES_OF(MSG),
    .networks = BASELINE_NETWORKS,
    .declared = {.weak_outcomes = "MP+fences SB+fences IRIW+fences lock"},
    .host_write = gpc_host_write, /* memory only: L1 copies are dropped when the next kernel begins */
    .watched = &watched,
};

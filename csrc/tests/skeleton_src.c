/* skeleton_src.c: skel-src: write-through L1s that drop their copies at acquires and when a kernel begins.
 *
 * Paper    Puthoor and Lipasti, TACO 2023, section 2: the source of figure 1, without its coalescing buffer.
 * Shows    poisoned fills: a read that is outstanding at an acquire completes its loads and is not kept.
 */
#include "tests/skeletons.h"

GPC_FSM(L1, BASELINE_L1_STATES, SKELETON_L1_EVENTS)
BASELINE_L1_EVENTS(BASELINE_SAME)

static gpc_event_id_t
l1_classify(const gpc_step_t *x)
{
    if (x->cause == GPC_MSG_LOAD && x->msg->order != GPC_ORDER_WEAK) {
        return L1_LOAD_FRESH;
    }
    bool drops = x->cause == GPC_MSG_KERNEL_BEGIN || x->cause == GPC_MSG_ACQUIRE;
    return drops ? L1_DROP : baseline_l1_classify(x);
}

/* clang-format off */
static const gpc_cell_t l1_table[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_I] = {
        [L1_LOAD] = GO(L1_IV, act_reserve_way, act_request_line),
        [L1_LOAD_FRESH] = GO(L1_II, act_request_line),
        [L1_STORE] = GO(L1_II, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_send_atomic),
        [L1_DROP] = GO(L1_I),
    },
    [L1_V] = {
        [L1_LOAD] = GO(L1_V, act_hit),
        [L1_LOAD_FRESH] = GO(L1_II, act_release_way, act_request_line),
        [L1_STORE] = GO(L1_II, act_release_way, act_write_through), /* write-evict */
        [L1_ATOMIC] = GO(L1_II, act_release_way, act_send_atomic),
        [L1_EVICT] = GO(L1_I),
        [L1_DROP] = GO(L1_I),
    },
    [L1_IV] = {
        [L1_LOAD] = GO(L1_IV, act_merge_load),
        [L1_LOAD_FRESH] = GO(L1_II, act_release_way, act_request_line),
        [L1_STORE] = GO(L1_II, act_release_way, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_release_way, act_send_atomic),
        [L1_EVICT] = NOT_A_VICTIM, /* the way is reserved for the fill */
        [L1_LAST_DATA] = GO(L1_V, act_fill, act_complete),
        [L1_DROP] = GO(L1_II, act_release_way), /* the answer may be older than the acquire */
    },
    [L1_II] = { /* no way: never a victim */
        /* no merging: the outstanding read may predate a store or an acquire */
        [L1_LOAD] = GO(L1_II, act_request_line),
        [L1_LOAD_FRESH] = GO(L1_II, act_request_line),
        [L1_STORE] = GO(L1_II, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_send_atomic),
        [L1_DATA] = GO(L1_II, act_complete),
        [L1_LAST_DATA] = GO(L1_I, act_complete),
        [L1_ACK] = GO(L1_II, act_complete),
        [L1_LAST_ACK] = GO(L1_I, act_complete),
        [L1_DROP] = GO(L1_II),
    },
};
/* clang-format on */

const gpc_table_t skeleton_l1_lines = {GPC_TABLE("L1", OVER_LINES, L1, l1_table, l1_classify)};

const gpc_watched_t skeleton_watched = {
    .promise = GPC_PROMISE_ACQUIRED, .readable = 1u << L1_V, .copies = 1u << L1_V | 1u << L1_IV, .bank_is_whole = true};

int
skeleton_drop(gpc_controller_t *l1)
{
    return gpc_controller_flash(l1, 0, GPC_MSG_ACQUIRE, L1_DROP);
}

static int
acquire(gpc_controller_t *l1, uint16_t warp, uint8_t scope)
{
    (void) warp, (void) scope;
    return skeleton_drop(l1);
}

static const gpc_controller_type_t src_l1 = {
    .name = "L1",
    .position = GPC_AT_CORE,
    .tables = {&skeleton_l1_lines},
    .arrays = {{.name = "tags", .line = baseline_l1_line_described, .has_data = true}},
    .mshr = gpc_requests_mshr_described,
    .begins = 1u << 0,
};

const gpc_protocol_t gpc_protocol_skel_src = {
    .id = "skel-src",
    .name = "SKELETON-SRC",
    .paper = "none: a skeleton for tests",
    .family = "skeletons",
    .text = "write-through L1s; acquires drop every copy",
    .model = {[GPC_RULE_RC] = "RCc"},
    .standard_rule = GPC_RULE_RC,
    .controllers = {&src_l1, &baseline_l2},
    GPC_MESSAGES_OF(MSG),
    .networks = BASELINE_NETWORKS,
    .order = {.acquire = acquire},
    .watched = &skeleton_watched,
};

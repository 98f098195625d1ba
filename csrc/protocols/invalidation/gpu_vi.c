/* gpu_vi.c: GPU-VI, a two-state write-through directory protocol with an inclusive L2.
 *
 * Paper    Singh et al., HPCA 2013, section 4.2: a store completes at the L2 after every other copy has been
 *          invalidated and acknowledged. Two optimisations: a store that hits writes the L1 before its acknowledgement;
 *          a load to a line with a pending write is a miss, so write atomicity costs no stalls. An L2 eviction recalls
 *          the copies.
 * Inferred every cell (the paper prints no table); consistent with the paper's prose, and explored. Invalidating a line
 *          whose data is in flight makes that data use-once (IV -> II), since table 1 leaves one transient coherent
 *          state. A writing sharer keeps its copy when its store is acknowledged (figure 4a). The requester of an
 *          atomic leaves the sharer list. A recalled line leaves its way at once and waits in its MSHR entry, as in the
 *          gem5 protocol that the authors took MESI from: copies are never newer than the line, so memory is up to date
 *          by then.
 * Differs  nowhere known.
 */
#include "protocols/invalidation/gpu_vi.h"

/* ---- L1 ---------------------------------------------------------------------------------------------------------- */

#define L1_STATES(X)                                                                          \
    BASELINE_L1_STATES(X)                                                                     \
    X(L1_VM, TRANSIENT_COHERENCE, "present, own stores outstanding; readable once they are performed")

#define L1_EVENTS(X)                                                                          \
    BASELINE_L1_EVENTS(X)                                                                     \
    X(L1_INV, "invalidation by another core's write, or recall by the L2")

GPC_FSM(L1, L1_STATES, L1_EVENTS)
BASELINE_L1_EVENTS(BASELINE_SAME)

static gpc_event_id_t
l1_classify(const gpc_step_t *x)
{
    return x->cause == VI_INV || x->cause == VI_RECALL ? L1_INV : baseline_l1_classify(x);
}

GPC_ACTION(act_acknowledge, "send INV_ACK or RECALL_ACK")
{
    uint8_t type = x->cause == VI_INV ? VI_INV_ACK : VI_RECALL_ACK;
    return gpc_send(x, gpc_new_answer(x, x->message, type));
}

/* clang-format off */
static const gpc_cell_t l1_table[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_I] = {
        [L1_LOAD] = GO(L1_IV, act_reserve_way, act_request_line),
        [L1_STORE] = GO(L1_II, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_send_atomic),
        [L1_INV] = GO(L1_I, act_acknowledge), /* silently evicted: the L2's sharer list is a superset */
    },
    [L1_V] = {
        [L1_LOAD] = GO(L1_V, act_hit),
        [L1_STORE] = GO(L1_VM, act_write_line, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_release_way, act_send_atomic),
        [L1_EVICT] = GO(L1_I),
        [L1_INV] = GO(L1_I, act_count_invalidation, act_acknowledge),
    },
    [L1_VM] = {
        /* a miss: the value is not readable before the L2 performs the store */
        [L1_LOAD] = GO(L1_VM, act_request_line),
        [L1_STORE] = GO(L1_VM, act_write_line, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_release_way, act_send_atomic),
        [L1_EVICT] = NOT_A_VICTIM,
        [L1_INV] = GO(L1_II, act_count_invalidation, act_release_way, act_acknowledge),
        [L1_DATA] = GO(L1_VM, act_complete),
        [L1_LAST_DATA] = GO(L1_V, act_complete),
        [L1_ACK] = GO(L1_VM, act_complete),
        [L1_LAST_ACK] = GO(L1_V, act_complete), /* current: the line with its own stores, not invalidated */
    },
    [L1_IV] = {
        [L1_LOAD] = GO(L1_IV, act_merge_load),
        [L1_STORE] = GO(L1_II, act_release_way, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_release_way, act_send_atomic),
        [L1_EVICT] = NOT_A_VICTIM, /* the way is reserved for the fill */
        /* the invalidation may have overtaken the data */
        [L1_INV] = GO(L1_II, act_count_invalidation, act_release_way, act_acknowledge),
        [L1_LAST_DATA] = GO(L1_V, act_fill, act_complete),
    },
    [L1_II] = { /* no way: never a victim */
        [L1_LOAD] = GO(L1_II, act_request_line), /* no merging: the outstanding read may predate the move to II */
        [L1_STORE] = GO(L1_II, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_send_atomic),
        [L1_INV] = GO(L1_II, act_acknowledge),
        [L1_DATA] = GO(L1_II, act_complete),
        [L1_LAST_DATA] = GO(L1_I, act_complete),
        [L1_ACK] = GO(L1_II, act_complete),
        [L1_LAST_ACK] = GO(L1_I, act_complete),
    },
};
/* clang-format on */

static const gpc_table_t l1 = {GPC_TABLE("L1", OVER_LINES, L1, l1_table, l1_classify)};

const gpc_controller_type_t vi_l1 = {BASELINE_L1_TYPE(l1)};

/* ---- L2 ---------------------------------------------------------------------------------------------------------- */

/* Among the baseline events, GETX and ATOMIC mean that no other L1 shares the line. */
#define L2_EVENTS(X)                                                   \
    BASELINE_L2_EVENTS(X)                                              \
    X(L2_GETX_SHARED, "store to a line that other L1s share")          \
    X(L2_ATOMIC_SHARED, "atomic to a line that other L1s share")       \
    X(L2_INV_ACK, "invalidation acknowledged; others outstanding")     \
    X(L2_LAST_INV_ACK, "last acknowledgement; the writer has no copy") \
    X(L2_LAST_INV_ACK_KEPT, "last acknowledgement; the writer keeps its copy")

GPC_FSM(L2, VI_L2_STATES, L2_EVENTS)
BASELINE_L2_EVENTS(BASELINE_SAME)

static gpc_event_id_t
classify_acknowledgement(const gpc_step_t *x)
{
    if (x->mshr == GPC_NONE) {
        return GPC_NO_EVENT; /* no transaction waits for it */
    }
    if (gpc_sharers_mshr(x)->acknowledgements > 1) {
        return L2_INV_ACK;
    }
    if (x->state != L2_SW) {
        return L2_LAST_INV_ACK;
    }
    return vi_writer_shares(x) ? L2_LAST_INV_ACK_KEPT : L2_LAST_INV_ACK;
}

static gpc_event_id_t
l2_classify(const gpc_step_t *x)
{
    switch (x->cause) {
        case VI_GETX:
            return x->state == L2_S && gpc_others_share(x) ? L2_GETX_SHARED : L2_GETX;
        case VI_ATOMIC:
            return x->state == L2_S && gpc_others_share(x) ? L2_ATOMIC_SHARED : L2_ATOMIC;
        case VI_INV_ACK:
        case VI_RECALL_ACK:
            return classify_acknowledgement(x);
        default:
            return baseline_l2_classify(x);
    }
}

/* A stalled request waits for the line. A fill, or an acknowledgement on a network that is never blocked, ends every
 * transient state. */
/* clang-format off */
static const gpc_cell_t l2_table[L2_NUM_STATES][L2_NUM_EVENTS] = {
    [L2_I] = {
        [L2_GETS] = GO(L2_IS, act_reserve_way, act_fetch),
        [L2_GETX] = GO(L2_IM, act_reserve_way, act_fetch),
        [L2_ATOMIC] = GO(L2_IM, act_reserve_way, act_fetch),
    },
    [L2_V] = {
        [L2_GETS] = GO(L2_S, act_add_sharer, act_answer),
        [L2_GETX] = GO(L2_V, act_write),
        [L2_ATOMIC] = GO(L2_V, act_perform),
        [L2_EVICT_CLEAN] = GO(L2_I),
        [L2_EVICT_DIRTY] = GO(L2_I, act_write_back),
    },
    [L2_S] = {
        [L2_GETS] = GO(L2_S, act_add_sharer, act_answer),
        [L2_GETX] = GO(L2_S, act_write),
        [L2_GETX_SHARED] = GO(L2_SW, act_invalidate_others, act_wait),
        [L2_ATOMIC] = GO(L2_V, act_clear_sharers, act_perform),
        [L2_ATOMIC_SHARED] = GO(L2_SA, act_invalidate_others, act_wait),
        [L2_EVICT_CLEAN] = GO(L2_SI, act_recall, act_release_way),
        [L2_EVICT_DIRTY] = GO(L2_SI, act_recall, act_write_back, act_release_way),
    },
    [L2_IS] = {
        [L2_GETS] = GO(L2_IS, act_merge),
        BASELINE_HOLD_WRITES,
        [L2_EVICT_CLEAN] = NOT_A_VICTIM,
        [L2_FILL] = GO(L2_S, act_fill_line, act_add_readers, act_answer_all),
    },
    [L2_IM] = {
        BASELINE_HOLD_REQUESTS,
        [L2_EVICT_CLEAN] = NOT_A_VICTIM,
        [L2_FILL_STORE] = GO(L2_V, act_fill_line, act_write),
        [L2_FILL_ATOMIC] = GO(L2_V, act_fill_line, act_perform),
    },
    [L2_SW] = {
        BASELINE_HOLD_REQUESTS,
        BASELINE_NOT_VICTIMS,
        [L2_INV_ACK] = GO(L2_SW, act_count),
        [L2_LAST_INV_ACK] = GO(L2_V, act_clear_sharers, act_write),
        [L2_LAST_INV_ACK_KEPT] = GO(L2_S, act_keep_only_writer, act_write),
    },
    [L2_SA] = {
        BASELINE_HOLD_REQUESTS,
        BASELINE_NOT_VICTIMS,
        [L2_INV_ACK] = GO(L2_SA, act_count),
        [L2_LAST_INV_ACK] = GO(L2_V, act_clear_sharers, act_perform),
    },
    [L2_SI] = { /* no way: never a victim */
        BASELINE_HOLD_REQUESTS,
        [L2_INV_ACK] = GO(L2_SI, act_count),
        [L2_LAST_INV_ACK] = GO(L2_I),
    },
};
/* clang-format on */

static const gpc_table_t l2 = {GPC_TABLE("L2", OVER_LINES, L2, l2_table, l2_classify)};

static const gpc_controller_type_t vi_l2 = {VI_L2_TYPE, .tables = {&l2}};

/* ---- monitors ---------------------------------------------------------------------------------------------------- */

const gpc_watched_t vi_watched = {
    .promise = GPC_PROMISE_FRESH, .readable = 1u << L1_V, .copies = 1u << L1_V | 1u << L1_VM, .bank_is_whole = true};

int
vi_check_listed(const gpc_units_t *units, gpc_address_t line, const gpc_nodeset_t *sharers)
{
    gpc_controller_t *const *cores = units->cores;
    const gpc_controller_t *bank = units->bank;

    if (gpc_mshr_find(&bank->mshrs, line) != GPC_NONE) {
        return GPC_OK; /* an invalidation may be in flight */
    }
    for (uint32_t i = 0; i < units->num_cores; i++) {
        gpc_index_t way;
        uint8_t state = gpc_state_at(cores[i], line, 0, &way);
        if (gpc_is_among(cores[i]->protocol->watched->copies, state) &&
            !(sharers && gpc_nodeset_has(sharers, cores[i]->node))) {
            return gpc_violated(cores[i], line, "every copy is listed",
                                "L1 %u has a copy, and bank %u does not list it", cores[i]->index, bank->index);
        }
    }
    return GPC_OK;
}

int
vi_monitor(const gpc_units_t *units, gpc_address_t line)
{
    gpc_index_t way = gpc_tags_find(&units->bank->arrays[0], line);
    return vi_check_listed(units, line, way == GPC_NONE ? NULL : &vi_l2_line_at(units->bank, 0, way)->sharers);
}

const gpc_protocol_t gpc_protocol_gpu_vi = {
    .id = "gpu-vi",
    .name = "GPU-VI",
    .paper = "Singh et al., HPCA 2013",
    .family = "write-through invalidation",
    .text =
        "write-through invalidation: two stable L1 states; an inclusive L2 with exact sharers invalidates and recalls",
    .model = {[GPC_RULE_SC] = "SC", [GPC_RULE_RC] = "RC-MCA"},
    .standard_rule = GPC_RULE_RC,
    .controllers = {&vi_l1, &vi_l2},
    GPC_MESSAGES_OF(VI),
    .networks = VI_NETWORKS,
    .declared = {.weak_outcomes = "SB MP R SB+rel+acq",
                 .uncovered = {{.table = "L2",
                                .states = "V",
                                .events = "EVICT_CLEAN",
                                .reason =
                                    "a line without sharers is dirty, since a store emptied its list: a fill for a "
                                    "load leads to S"}}},
    .watched = &vi_watched,
    .monitor = vi_monitor,
};

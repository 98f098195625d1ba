/* sc_ideal.c: SC-ideal, MESI-WT whose read and write permissions take no time to acquire.
 *
 * Paper    Ren and Lis, HPCA 2017, section I and figure 1d: "an idealized variant of SC where acquiring read and write
 *          permissions is instant". Its cells are not printed.
 * Inferred every cell. MESI-WT's L1 over an inclusive L2 with an oracle: when the L2 performs a store or atomic, the
 *          copies of the other sharers become unreadable in the same cycle, without messages, acknowledgements and
 *          UNBLOCK. Latencies of network, L2 and memory remain, so a store still takes the round trip to the L2, and
 *          transient states of the L1 hold loads. Writes need no permission, so they do not merge: each is sent at
 *          once. An eviction acquires no permission: the L2 recalls the copies by messages, as MESI-WT's does and as
 *          the authors' public simulator does (ideal_MESI_wt).
 * Differs  that simulator also sends and awaits the invalidations for writes and takes only their delay in the
 *          controllers away; this protocol is at least as fast.
 */
#include "protocols/invalidation/gpu_vi.h"

#define SCI_MESSAGES(X, P)                                                                         \
    BASELINE_MESSAGES(X, P)                                                                        \
    X(P, RECALL, RCL, 2, 8, 0, false, "invalidate the line that the L2 evicts, and acknowledge")   \
    X(P, RECALL_ACK, RCL, 3, 8, 0, false, "recall acknowledged")

GPC_MESSAGES(SCI, SCI_MESSAGES)
BASELINE_SAME_MESSAGES(SCI);

enum { OPTION_BYTES };

/* ---- L1 ---------------------------------------------------------------------------------------------------------- */

#define L1_STATES(X)                                                                       \
    X(L1_I, STABLE, "not present")                                                         \
    X(L1_S, STABLE, "present, readable")                                                   \
    X(L1_IS, TRANSIENT_CACHE, "read miss outstanding; later loads merge")                  \
    X(L1_IS_I, TRANSIENT_CACHE, "read miss outstanding; its line will be used once")       \
    X(L1_II, TRANSIENT_CACHE, "writes outstanding; no copy")                               \
    X(L1_SM, TRANSIENT_COHERENCE, "writes outstanding; the copy takes them")

#define L1_EVENTS(X)                                                                            \
    BASELINE_L1_EVENTS(X)                                                                       \
    X(L1_INVALIDATE, "another core's store or atomic performed at the L2")                      \
    X(L1_RECALL, "recall of a line that the L2 evicts")

GPC_FSM(L1, L1_STATES, L1_EVENTS)
BASELINE_L1_EVENTS(BASELINE_SAME)

static gpc_event_id_t
l1_classify(const gpc_step_t *x)
{
    switch (x->cause) {
        case GPC_MSG_INSTANT:
            return L1_INVALIDATE;
        case SCI_RECALL:
            return L1_RECALL;
        default:
            return baseline_l1_classify(x);
    }
}

GPC_ACTION(act_acknowledge, "send RECALL_ACK")
{
    return gpc_send(x, gpc_new_answer(x, x->message, SCI_RECALL_ACK));
}

/* No warp reads the copy before. */
GPC_ACTION(act_take_store, "write the acknowledged store into the copy")
{
    GPC_FOR_PENDING(x, store)
    {
        if (store->request == x->msg->request) {
            gpc_merge_words(gpc_line_words(x), store->data, store->mask);
        }
    }
    return GPC_OK;
}

/* A held request waits for answers, which nothing delays. */
/* clang-format off */
static const gpc_cell_t l1_table[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_I] = {
        [L1_LOAD] = GO(L1_IS, act_reserve_way, act_request_line),
        [L1_STORE] = GO(L1_II, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_send_atomic),
        [L1_INVALIDATE] = GO(L1_I), /* silently evicted: the L2's sharer list is a superset */
        [L1_RECALL] = GO(L1_I, act_acknowledge),
    },
    [L1_S] = {
        [L1_LOAD] = GO(L1_S, act_hit),
        [L1_STORE] = GO(L1_SM, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_release_way, act_send_atomic),
        [L1_EVICT] = GO(L1_I),
        [L1_INVALIDATE] = GO(L1_I, act_count_invalidation),
        [L1_RECALL] = GO(L1_I, act_count_invalidation, act_acknowledge),
    },
    [L1_SM] = {
        [L1_LOAD] = HOLD_LINE,
        [L1_STORE] = GO(L1_SM, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_release_way, act_send_atomic),
        [L1_EVICT] = NOT_A_VICTIM,
        [L1_INVALIDATE] = GO(L1_II, act_count_invalidation, act_release_way),
        [L1_RECALL] = GO(L1_II, act_count_invalidation, act_release_way, act_acknowledge),
        [L1_ACK] = GO(L1_SM, act_take_store, act_complete),
        [L1_LAST_ACK] = GO(L1_S, act_take_store, act_complete),
    },
    [L1_IS] = {
        [L1_LOAD] = GO(L1_IS, act_merge_load),
        [L1_STORE] = HOLD_LINE,
        [L1_ATOMIC] = HOLD_LINE,
        [L1_EVICT] = NOT_A_VICTIM, /* the way is reserved for the fill */
        [L1_INVALIDATE] = GO(L1_IS_I, act_count_invalidation, act_release_way), /* the data may be in flight */
        [L1_RECALL] = GO(L1_IS_I, act_count_invalidation, act_release_way, act_acknowledge),
        [L1_LAST_DATA] = GO(L1_S, act_fill, act_complete),
    },
    [L1_IS_I] = { /* no way: never a victim */
        [L1_LOAD] = HOLD_LINE, /* no merging: the outstanding read may predate the invalidation */
        [L1_STORE] = HOLD_LINE,
        [L1_ATOMIC] = HOLD_LINE,
        [L1_INVALIDATE] = GO(L1_IS_I),
        [L1_RECALL] = GO(L1_IS_I, act_acknowledge),
        [L1_LAST_DATA] = GO(L1_I, act_complete),
    },
    [L1_II] = { /* no way: never a victim */
        [L1_LOAD] = HOLD_LINE,
        [L1_STORE] = GO(L1_II, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_send_atomic),
        [L1_INVALIDATE] = GO(L1_II),
        [L1_RECALL] = GO(L1_II, act_acknowledge),
        [L1_DATA] = GO(L1_II, act_complete),
        [L1_LAST_DATA] = GO(L1_I, act_complete),
        [L1_ACK] = GO(L1_II, act_complete),
        [L1_LAST_ACK] = GO(L1_I, act_complete),
    },
};
/* clang-format on */

static const gpc_table_t l1 = {GPC_TABLE("L1", OVER_LINES, L1, l1_table, l1_classify)};

static const gpc_controller_type_t sci_l1 = {BASELINE_L1_TYPE(l1)};

/* ---- L2: GPU-VI's, with the oracle ------------------------------------------------------------------------------- */

#define L2_STATES(X)                                                            \
    X(L2_I, STABLE, "not present")                                              \
    X(L2_V, STABLE, "present, no sharers")                                      \
    X(L2_S, STABLE, "present, shared")                                          \
    X(L2_IS, TRANSIENT_CACHE, "fetch for loads outstanding; later loads merge") \
    X(L2_IM, TRANSIENT_CACHE, "fetch for one store or atomic outstanding")      \
    X(L2_SI, TRANSIENT_COHERENCE, "evicted without a way; recall of its sharers outstanding")

/* Among the baseline events, GETX means that the writer has no copy. */
#define L2_EVENTS(X)                                                \
    BASELINE_L2_EVENTS(X)                                           \
    X(L2_GETX_KEPT, "store of a sharer, which keeps its copy")      \
    X(L2_RECALL_ACK, "recall acknowledged; others outstanding")     \
    X(L2_LAST_RECALL_ACK, "last recall acknowledged")

GPC_FSM(L2, L2_STATES, L2_EVENTS)
BASELINE_L2_EVENTS(BASELINE_SAME)

/* GPC_NO_EVENT: no transaction waits for it. */
static gpc_event_id_t
classify_acknowledgement(const gpc_step_t *x)
{
    if (x->mshr == GPC_NONE) {
        return GPC_NO_EVENT;
    }
    return gpc_sharers_mshr(x)->acknowledgements > 1 ? L2_RECALL_ACK : L2_LAST_RECALL_ACK;
}

static gpc_event_id_t
l2_classify(const gpc_step_t *x)
{
    switch (x->cause) {
        case SCI_GETX:
            return x->state == L2_S && vi_writer_shares(x) ? L2_GETX_KEPT : L2_GETX;
        case SCI_RECALL_ACK:
            return classify_acknowledgement(x);
        default:
            return baseline_l2_classify(x);
    }
}

GPC_ACTION(act_invalidate_at_once, "invalidate all copies but the writer's, at once")
{
    gpc_node_t writer = gpc_writer_message(x)->source;
    return x->unit->ports->instant(x->unit->world, x->unit, x->line, gpc_sharers(x), writer, GPC_MSG_INSTANT);
}

GPC_ACTION(act_recall_sharers, "send RECALL to all sharers; expect their acknowledgements")
{
    return gpc_call_in_and_wait(x, SCI_RECALL, gpc_sharers(x));
}

/* A held request waits for a fill, or for acknowledgements on a network that nothing blocks. */
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
        [L2_GETX] = GO(L2_V, act_invalidate_at_once, act_clear_sharers, act_write),
        [L2_GETX_KEPT] = GO(L2_S, act_invalidate_at_once, act_keep_only_writer, act_write),
        [L2_ATOMIC] = GO(L2_V, act_invalidate_at_once, act_clear_sharers, act_perform),
        [L2_EVICT_CLEAN] = GO(L2_SI, act_recall_sharers, act_release_way),
        [L2_EVICT_DIRTY] = GO(L2_SI, act_recall_sharers, act_write_back, act_release_way),
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
    [L2_SI] = { /* no way: never a victim */
        BASELINE_HOLD_REQUESTS,
        [L2_RECALL_ACK] = GO(L2_SI, act_count),
        [L2_LAST_RECALL_ACK] = GO(L2_I),
    },
};
/* clang-format on */

static const gpc_table_t l2 = {GPC_TABLE("L2", OVER_LINES, L2, l2_table, l2_classify)};

static const gpc_controller_type_t sci_l2 = {VI_L2_TYPE, .tables = {&l2}};

/* ---- monitors ---------------------------------------------------------------------------------------------------- */

static const gpc_watched_t watched = {
    .promise = GPC_PROMISE_FRESH, .readable = 1u << L1_S, .copies = 1u << L1_S | 1u << L1_SM, .bank_is_whole = true};

const gpc_protocol_t gpc_protocol_sc_ideal = {
    .id = "sc-ideal",
    .name = "SC-ideal",
    .paper = "Ren and Lis, HPCA 2017",
    .family = "baseline",
    .text = "MESI-WT whose read and write permissions take no time to acquire",
    .model = {[GPC_RULE_SC] = "SC", [GPC_RULE_RC] = "RC-MCA"},
    .standard_rule = GPC_RULE_SC,
    .controllers = {&sci_l1, &sci_l2},
    GPC_MESSAGES_OF(SCI),
    .networks = VI_NETWORKS,
    .options = {[OPTION_BYTES] = PUBLIC_BYTES_OPTION},
    .other_sizes = PUBLIC_SIZES(OPTION_BYTES, public_bytes_with_header),
    .declared = {.uncovered = {{.table = "L1",
                                .states = "I",
                                .events = "INVALIDATE",
                                .reason = "the simulator queries only L1s with the line or a transaction for it"},
                               {.table = "L2",
                                .states = "V",
                                .events = "EVICT_CLEAN",
                                .reason = "a line without sharers is dirty: a store or atomic has emptied its list, or "
                                          "has fetched it"}}},
    .watched = &watched,
    .monitor = vi_monitor,
};

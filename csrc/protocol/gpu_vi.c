/* gpu_vi.c: GPU-VI, a two-state write-through directory protocol with an inclusive L2.
 *
 * Paper    Singh et al., HPCA 2013, section 4.2: a store completes at the L2 after every other copy has been invalidated and
 *          has acknowledged. Two optimisations: a store that hits writes the L1 before its acknowledgement; a load to a line with a
 *          pending write is a miss, so that write atomicity costs no stalls. An L2 eviction recalls the copies.
 * Counts   L1 2 stable + 2 transient cache + 1 transient coherent; L2 3 + 2 + 3 (table 1).
 * Inferred every cell (the paper prints no table); consistent with its prose and explored. The invalidation of a line whose data is
 *          on the way makes that data use-once (IV -> II), since table 1 leaves one transient coherent state only. Of a
 *          store's acknowledgement the writing sharer keeps its copy (figure 4a). An atomic's requester leaves the list. A recalled
 *          line leaves its way at once and is waited for in its MSHR entry, as in the gem5 protocol that the authors took MESI
 *          from: copies are never newer than the line, so that memory has it then.
 * Differs  nowhere known.
 */
#include "protocol/gpu_vi.h"

/* ---- L1 --------------------------------------------------------------------------------------------------------------- */

#define L1_STATES(X)                                                                          \
    X(L1_I, STABLE, "not present")                                                            \
    X(L1_V, STABLE, "present and readable")                                                   \
    X(L1_IV, TRANSIENT_CACHE, "read miss outstanding; later loads merge into it")             \
    X(L1_II, TRANSIENT_CACHE, "requests outstanding, nothing readable, nothing will be kept") \
    X(L1_VM, TRANSIENT_COHERENCE, "present, own stores outstanding: not readable until they are performed")

#define L1_EVENTS(X)                                                                          \
    X(L1_LOAD, "a warp's coalesced load")                                                     \
    X(L1_STORE, "a warp's coalesced store, with its word mask")                               \
    X(L1_ATOMIC, "read-modify-writes with their lane list, performed at the L2")              \
    X(L1_EVICT, "the replacement policy wants this way")                                      \
    X(L1_INV, "another core writes, or the L2 recalls")                                       \
    X(L1_DATA, "answer to a read or atomic, other requests outstanding")                      \
    X(L1_LAST_DATA, "answer to a read or atomic, the last one outstanding")                   \
    X(L1_ACK, "a write completed at the L2, other requests outstanding")                      \
    X(L1_LAST_ACK, "a write completed at the L2, the last request outstanding")

GPC_FSM(L1, L1_STATES, L1_EVENTS)

static gpc_event_id_t
l1_classify(const gpc_step_t *x)
{
    bool last = x->mshr != GPC_NONE && ((baseline_l1_mshr_t *) gpc_step_mshr_fields(x))->outstanding == 1;

    switch (x->cause) {
        case GPC_MSG_LOAD:
            return L1_LOAD;
        case GPC_MSG_STORE:
            return L1_STORE;
        case GPC_MSG_ATOMIC:
            return L1_ATOMIC;
        case GPC_MSG_EVICT:
            return L1_EVICT;
        case VI_INV:
        case VI_RECALL:
            return L1_INV;
        case VI_DATA:
        case VI_ATOMIC_DATA:
            return last ? L1_LAST_DATA : L1_DATA;
        case VI_ACK:
            return last ? L1_LAST_ACK : L1_ACK;
        default:
            return GPC_NO_EVENT;
    }
}

static int
act_acknowledge(gpc_step_t *x)
{
    uint8_t type = x->cause == VI_INV ? VI_INV_ACK : VI_RECALL_ACK;
    return gpc_send_answer(x, x->message, type, GPC_NO_WORDS, NULL);
}

static int
act_count_invalidation(gpc_step_t *x)
{
    gpc_count(x, invalidations);
    return GPC_OK;
}

#define act_hit baseline_act_hit
#define act_reserve_way gpc_reserve_way
#define act_release_way gpc_release_way
#define act_request_line baseline_act_request_line
#define act_merge_load baseline_act_merge_load
#define act_write_through baseline_act_write_through
#define act_write_line baseline_act_write_line
#define act_send_atomic baseline_act_send_atomic
#define act_fill baseline_act_fill
#define act_complete baseline_act_complete

/* clang-format off */
static const gpc_cell_t l1_table[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_I] = {
        [L1_LOAD] = GO(L1_IV, act_reserve_way, act_request_line),
        [L1_STORE] = GO(L1_II, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_send_atomic),
        [L1_INV] = GO(L1_I, act_acknowledge), /* evicted silently: the list at the L2 is a superset */
    },
    [L1_V] = {
        [L1_LOAD] = GO(L1_V, act_hit),
        [L1_STORE] = GO(L1_VM, act_write_line, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_release_way, act_send_atomic),
        [L1_EVICT] = GO(L1_I),
        [L1_INV] = GO(L1_I, act_count_invalidation, act_acknowledge),
    },
    [L1_VM] = {
        [L1_LOAD] = GO(L1_VM, act_request_line), /* a miss: others must not read the value before the L2 has it */
        [L1_STORE] = GO(L1_VM, act_write_line, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_release_way, act_send_atomic),
        [L1_EVICT] = NOT_A_VICTIM,
        [L1_INV] = GO(L1_II, act_count_invalidation, act_release_way, act_acknowledge),
        [L1_DATA] = GO(L1_VM, act_complete),
        [L1_LAST_DATA] = GO(L1_V, act_complete),
        [L1_ACK] = GO(L1_VM, act_complete),
        [L1_LAST_ACK] = GO(L1_V, act_complete), /* the line plus the own stores, and no invalidation seen: current */
    },
    [L1_IV] = {
        [L1_LOAD] = GO(L1_IV, act_merge_load),
        [L1_STORE] = GO(L1_II, act_release_way, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_release_way, act_send_atomic),
        [L1_EVICT] = NOT_A_VICTIM, /* the way is promised to the fill */
        [L1_INV] = GO(L1_II, act_count_invalidation, act_release_way, act_acknowledge), /* it may have overtaken the data */
        [L1_LAST_DATA] = GO(L1_V, act_fill, act_complete),
    },
    [L1_II] = { /* holds no way, so nothing evicts it */
        [L1_LOAD] = GO(L1_II, act_request_line), /* a read of its own: an open one may be older than what made this II */
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

const gpc_controller_type_t vi_l1 = {
    .name = "L1",
    .position = GPC_AT_CORE,
    .tables = {&l1},
    .arrays = {{.name = "tags", .line = baseline_l1_line_described, .has_data = true}},
    .mshr = baseline_l1_mshr_described,
};

/* ---- sharers ------------------------------------------------------------------------------------------------------------ */

bool
vi_is_sharer(const gpc_nodeset_t *set, gpc_node_t node)
{
    return set->bits[node / 64] >> (node % 64) & 1;
}

void
vi_add_sharer(gpc_nodeset_t *set, gpc_node_t node)
{
    set->bits[node / 64] |= UINT64_C(1) << (node % 64);
}

uint16_t
vi_count_sharers(const gpc_nodeset_t *set)
{
    uint16_t count = 0;
    for (uint32_t i = 0; i < GPC_NODESET_WORDS; i++) {
        count = (uint16_t) (count + __builtin_popcountll(set->bits[i]));
    }
    return count;
}

gpc_nodeset_t
vi_others(const gpc_nodeset_t *set, gpc_node_t but)
{
    gpc_nodeset_t others = *set;
    others.bits[but / 64] &= ~(UINT64_C(1) << (but % 64));
    return others;
}

int
vi_call_in(gpc_step_t *x, uint8_t type, const gpc_nodeset_t *set)
{
    gpc_index_t message = gpc_new_message(x, type, GPC_NO_NODE);
    if (message == GPC_NONE) {
        return GPC_ERROR_CAPACITY;
    }
    gpc_msg_at(x->unit->messages, message)->request = GPC_NONE;
    ((vi_l2_mshr_t *) gpc_step_mshr_fields(x))->acknowledgements = vi_count_sharers(set);
    return gpc_broadcast(x, message, set);
}

gpc_nodeset_t *
vi_sharers(const gpc_step_t *x)
{
    return &((vi_l2_line_t *) gpc_line_fields(x))->sharers;
}

/* ---- L2 ------------------------------------------------------------------------------------------------------------------- */

#define L2_STATES(X)                                                                       \
    X(L2_I, STABLE, "not present")                                                         \
    X(L2_V, STABLE, "present, no listed sharer")                                           \
    X(L2_S, STABLE, "present, at least one listed sharer")                                 \
    X(L2_IS, TRANSIENT_CACHE, "fetching for loads; later loads join")                      \
    X(L2_IM, TRANSIENT_CACHE, "fetching for one store or atomic")                          \
    X(L2_SW, TRANSIENT_COHERENCE, "a store waits for the other copies' acknowledgements")  \
    X(L2_SA, TRANSIENT_COHERENCE, "an atomic waits for the other copies' acknowledgements") \
    X(L2_SI, TRANSIENT_COHERENCE, "evicted, its way given away: recalled from its sharers")

#define L2_EVENTS(X)                                                                       \
    X(L2_GETS, "a load's request")                                                         \
    X(L2_GETX, "a store; no other sharer")                                                 \
    X(L2_GETX_SHARED, "a store; others may hold copies")                                   \
    X(L2_ATOMIC, "an atomic; no other sharer")                                             \
    X(L2_ATOMIC_SHARED, "an atomic; others may hold copies")                               \
    X(L2_EVICT_CLEAN, "the replacement wants the way; memory has the data")                \
    X(L2_EVICT_DIRTY, "the replacement wants the way; memory is behind")                   \
    X(L2_INV_ACK, "an acknowledgement, others to come")                                    \
    X(L2_LAST_INV_ACK, "the last acknowledgement; the writer keeps no copy") \
    X(L2_LAST_INV_ACK_KEPT, "the last acknowledgement; the writer keeps its copy")         \
    X(L2_FILL, "memory's answer to a load's fetch")                                        \
    X(L2_FILL_STORE, "memory's answer to a store's fetch")                                 \
    X(L2_FILL_ATOMIC, "memory's answer to an atomic's fetch")

GPC_FSM(L2, L2_STATES, L2_EVENTS)

static bool
others_share(const gpc_step_t *x)
{
    gpc_nodeset_t others = vi_others(vi_sharers(x), x->msg->source);
    return x->state == L2_S && vi_count_sharers(&others) > 0;
}

static gpc_event_id_t
classify_acknowledgement(const gpc_step_t *x)
{
    if (x->mshr == GPC_NONE) {
        return GPC_NO_EVENT; /* nobody waits for it */
    }
    if (((vi_l2_mshr_t *) gpc_step_mshr_fields(x))->acknowledgements > 1) {
        return L2_INV_ACK;
    }
    if (x->state != L2_SW) {
        return L2_LAST_INV_ACK;
    }
    const gpc_msg_t *writer = gpc_msg_at(x->unit->messages, gpc_step_pending(x)->head);
    return vi_is_sharer(vi_sharers(x), writer->source) ? L2_LAST_INV_ACK_KEPT : L2_LAST_INV_ACK;
}

static gpc_event_id_t
l2_classify(const gpc_step_t *x)
{
    switch (x->cause) {
        case VI_GETS:
            return L2_GETS;
        case VI_GETX:
            return x->state == L2_S && others_share(x) ? L2_GETX_SHARED : L2_GETX;
        case VI_ATOMIC:
            return x->state == L2_S && others_share(x) ? L2_ATOMIC_SHARED : L2_ATOMIC;
        case GPC_MSG_EVICT:
            return x->way != GPC_NONE && ((vi_l2_line_t *) gpc_line_fields(x))->dirty ? L2_EVICT_DIRTY : L2_EVICT_CLEAN;
        case VI_INV_ACK:
        case VI_RECALL_ACK:
            return classify_acknowledgement(x);
        case GPC_MSG_FILL: {
            uint8_t asked = gpc_msg_at(x->unit->messages, gpc_step_pending(x)->head)->type;
            return asked == VI_GETS ? L2_FILL : asked == VI_GETX ? L2_FILL_STORE : L2_FILL_ATOMIC;
        }
        default:
            return GPC_NO_EVENT;
    }
}

static int
act_add_sharer(gpc_step_t *x)
{
    vi_add_sharer(vi_sharers(x), x->msg->source);
    return GPC_OK;
}

static int
act_add_readers(gpc_step_t *x) /* all who wait for the fill */
{
    gpc_index_t i = gpc_step_pending(x)->head;
    for (uint32_t n = gpc_step_pending(x)->count; n; n--) {
        vi_add_sharer(vi_sharers(x), gpc_msg_at(x->unit->messages, i)->source);
        i = gpc_msg_at(x->unit->messages, i)->next;
    }
    return GPC_OK;
}

static int
act_clear_sharers(gpc_step_t *x)
{
    *vi_sharers(x) = (gpc_nodeset_t){{0}};
    return GPC_OK;
}

static int
act_invalidate_others(gpc_step_t *x)
{
    gpc_nodeset_t others = vi_others(vi_sharers(x), x->msg->source);
    return vi_call_in(x, VI_INV, &others);
}

static int
act_recall(gpc_step_t *x)
{
    return vi_call_in(x, VI_RECALL, vi_sharers(x));
}

static int
act_count(gpc_step_t *x)
{
    ((vi_l2_mshr_t *) gpc_step_mshr_fields(x))->acknowledgements--;
    return GPC_OK;
}

static int
act_keep_only_writer(gpc_step_t *x)
{
    gpc_node_t writer = gpc_msg_at(x->unit->messages, gpc_step_pending(x)->head)->source;
    act_clear_sharers(x);
    vi_add_sharer(vi_sharers(x), writer);
    return GPC_OK;
}

#define act_fetch baseline_l2_act_fetch
#define act_wait gpc_keep_pending
#define act_answer baseline_l2_act_answer
#define act_answer_all baseline_l2_act_answer_all
#define act_merge baseline_l2_act_merge
#define act_write baseline_l2_act_write
#define act_perform baseline_l2_act_perform
#define act_fill_line baseline_l2_act_fill
#define act_write_back baseline_l2_act_write_back

/* A stalled request waits for the line; what ends every transient state is memory's answer or an acknowledgement on a network
 * that nothing blocks. */
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
        [L2_GETX] = HOLD_LINE,
        [L2_ATOMIC] = HOLD_LINE,
        [L2_EVICT_CLEAN] = NOT_A_VICTIM,
        [L2_FILL] = GO(L2_S, act_fill_line, act_add_readers, act_answer_all),
    },
    [L2_IM] = {
        [L2_GETS] = HOLD_LINE,
        [L2_GETX] = HOLD_LINE,
        [L2_ATOMIC] = HOLD_LINE,
        [L2_EVICT_CLEAN] = NOT_A_VICTIM,
        [L2_FILL_STORE] = GO(L2_V, act_fill_line, act_write),
        [L2_FILL_ATOMIC] = GO(L2_V, act_fill_line, act_perform),
    },
    [L2_SW] = {
        [L2_GETS] = HOLD_LINE,
        [L2_GETX] = HOLD_LINE,
        [L2_ATOMIC] = HOLD_LINE,
        [L2_EVICT_CLEAN] = NOT_A_VICTIM,
        [L2_EVICT_DIRTY] = NOT_A_VICTIM,
        [L2_INV_ACK] = GO(L2_SW, act_count),
        [L2_LAST_INV_ACK] = GO(L2_V, act_clear_sharers, act_write),
        [L2_LAST_INV_ACK_KEPT] = GO(L2_S, act_keep_only_writer, act_write),
    },
    [L2_SA] = {
        [L2_GETS] = HOLD_LINE,
        [L2_GETX] = HOLD_LINE,
        [L2_ATOMIC] = HOLD_LINE,
        [L2_EVICT_CLEAN] = NOT_A_VICTIM,
        [L2_EVICT_DIRTY] = NOT_A_VICTIM,
        [L2_INV_ACK] = GO(L2_SA, act_count),
        [L2_LAST_INV_ACK] = GO(L2_V, act_clear_sharers, act_perform),
    },
    [L2_SI] = { /* holds no way, so nothing evicts it */
        [L2_GETS] = HOLD_LINE,
        [L2_GETX] = HOLD_LINE,
        [L2_ATOMIC] = HOLD_LINE,
        [L2_INV_ACK] = GO(L2_SI, act_count),
        [L2_LAST_INV_ACK] = GO(L2_I),
    },
};
/* clang-format on */

static const gpc_table_t l2 = {GPC_TABLE("L2", OVER_LINES, L2, l2_table, l2_classify)};

static const gpc_controller_type_t vi_l2 = {
    .name = "L2",
    .position = GPC_AT_BANK,
    .tables = {&l2},
    .arrays = {{.name = "tags", .line = vi_l2_line_described, .has_data = true}},
    .mshr = vi_l2_mshr_described,
};

/* ---- the host: copies of the written line go, and only those ---------------------------------------------------------------- */

int
vi_host_write(gpc_controller_t *const *cores, uint32_t num_cores, gpc_controller_t *bank, gpc_address_t line,
              gpc_mask_t mask, const uint32_t *words)
{
    for (uint32_t i = 0; i < num_cores; i++) { /* at rest a line is V or absent */
        gpc_tags_t *tags = &cores[i]->arrays[0];
        gpc_index_t way = gpc_tags_find(tags, line);
        if (way != GPC_NONE) {
            gpc_tags_drop(tags, way);
        }
    }
    return baseline_host_write(cores, num_cores, bank, line, mask, words);
}

/* ---- monitors -------------------------------------------------------------------------------------------------------------- */

const gpc_watched_t vi_watched = {
    .promise = GPC_PROMISE_FRESH, .readable = 1u << L1_V, .copies = 1u << L1_V | 1u << L1_VM, .bank_is_whole = true};

int
vi_check_listed(gpc_controller_t *const *cores, uint32_t num_cores, const gpc_controller_t *bank, gpc_address_t line,
                const gpc_nodeset_t *sharers)
{
    if (gpc_mshr_find(&bank->mshrs, line) != GPC_NONE) {
        return GPC_OK; /* an invalidation may be on its way */
    }
    for (uint32_t i = 0; i < num_cores; i++) {
        gpc_index_t way;
        uint8_t state = gpc_l1_state(cores[i], line, &way);
        if (gpc_is_among(vi_watched.copies, state) && !(sharers && vi_is_sharer(sharers, cores[i]->node))) {
            return gpc_violated(cores[i], line, "every copy is listed",
                                "L1 %u has a copy, and bank %u does not list it", cores[i]->index, bank->index);
        }
    }
    return GPC_OK;
}

static int
monitor(gpc_controller_t *const *cores, uint32_t num_cores, gpc_controller_t *bank, gpc_address_t line)
{
    gpc_index_t way = gpc_tags_find(&bank->arrays[0], line);
    const vi_l2_line_t *here = way == GPC_NONE ? NULL : gpc_tags_fields(&bank->arrays[0], way);
    return vi_check_listed(cores, num_cores, bank, line, here ? &here->sharers : NULL);
}

const gpc_protocol_t gpc_protocol_gpu_vi = {
    .id = "gpu-vi",
    .name = "GPU-VI",
    .paper = "Singh et al., HPCA 2013",
    .family = "write-through invalidation",
    .text = "write-through, two stable L1 states, exact sharers in an inclusive L2 that invalidates and recalls",
    .model = {[GPC_RULE_SC] = "SC", [GPC_RULE_RC] = "RC-MCA"},
    .standard_rule = GPC_RULE_RC,
    .controllers = {&vi_l1, &vi_l2},
    .messages = VI_info,
    .num_messages = GPC_COUNT_OF(VI_info),
    .networks = VI_NETWORKS,
    .host_read = baseline_host_read,
    .host_write = vi_host_write,
    .watched = &vi_watched,
    .monitor = monitor,
};

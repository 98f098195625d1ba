/* ideal_dies.c: IDEAL-DIES, whose L2s keep other dies' lines that are never stale, for free: a bound of what coherence
 * of near L2s costs.
 *
 * Paper    Ren et al., HPCA 2020, section VI, compares with an ideal that caches without any cost; there is no table.
 * Rules    a hit in a near L2 returns the words that the home has at this instant, and so does a line that comes,
 *          unless a store has passed meanwhile (NX). No acquire, store or kernel drops near lines; they leave as
 *          victims. Loads of all orders hit them.
 * Inferred the rest. L1s are MCM's, so that the two differ in near L2s alone: they write through, and an acquire drops
 *          them, at once. What is performed, and the bytes of stores, atomics and of a line's first read, is MCM's,
 *          too. A load behind a store or atomic of its core that may not be performed yet is read at the home, behind
 *          it (IH), and so are those behind such a load.
 * Sizes    and networks are MCM's; DROP and DROPPED are not sent.
 * Bounds   protocols whose near L2s take no stores (MCM, HMG). FLUSH sends fewer words where a die stores a word often.
 */
#include "protocols/dies/mcm.h"

/* ---- L1 ---------------------------------------------------------------------------------------------------------- */

#define L1_STATES(X)                                                                                                   \
    BASELINE_L1_STATES(X)                                                                                              \
    X(L1_IH, TRANSIENT_COHERENCE, "requests outstanding, some of which pass the near L2; later loads follow them")
#define L1_EVENTS(X)                                                                                                   \
    BASELINE_L1_EVENTS(X)                                                                                              \
    X(L1_LOAD_PAST, "load of order relaxed or stronger, past the L1")                                                  \
    X(L1_ACQUIRE, "an acquire, or a kernel begins")

GPC_FSM(L1, L1_STATES, L1_EVENTS)
BASELINE_L1_EVENTS(BASELINE_SAME)

static gpc_event_id_t
l1_classify(const gpc_step_t *x)
{
    if (x->cause == GPC_MSG_ACQUIRE || x->cause == GPC_MSG_KERNEL_BEGIN) {
        return L1_ACQUIRE;
    }
    return x->cause == GPC_MSG_LOAD && x->msg->order != GPC_ORDER_WEAK ? L1_LOAD_PAST : baseline_l1_classify(x);
}

/* clang-format off */
static const gpc_cell_t l1_table[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_I] = {
        [L1_LOAD] = GO(L1_IV, act_reserve_way, mcm_act_read),
        [L1_LOAD_PAST] = GO(L1_II, mcm_act_read),
        [L1_STORE] = GO(L1_IH, mcm_act_send_store),
        [L1_ATOMIC] = GO(L1_IH, mcm_act_send_atomic),
        [L1_ACQUIRE] = GO(L1_I),
    },
    [L1_V] = {
        [L1_LOAD] = GO(L1_V, act_hit),
        [L1_LOAD_PAST] = GO(L1_II, act_release_way, mcm_act_read), /* a later load must not read older words */
        [L1_STORE] = GO(L1_IH, act_release_way, mcm_act_send_store),
        [L1_ATOMIC] = GO(L1_IH, act_release_way, mcm_act_send_atomic),
        [L1_EVICT] = GO(L1_I),
        [L1_ACQUIRE] = GO(L1_I),
    },
    [L1_IV] = {
        [L1_LOAD] = GO(L1_IV, act_merge_load),
        [L1_LOAD_PAST] = GO(L1_II, act_release_way, mcm_act_read),
        [L1_STORE] = GO(L1_IH, act_release_way, mcm_act_send_store),
        [L1_ATOMIC] = GO(L1_IH, act_release_way, mcm_act_send_atomic),
        [L1_EVICT] = NOT_A_VICTIM, /* the way is reserved for the fill */
        [L1_LAST_DATA] = GO(L1_V, act_fill, act_complete),
        [L1_ACQUIRE] = GO(L1_II, act_release_way),
    },
    [L1_II] = { /* no way: never a victim */
        [L1_LOAD] = GO(L1_II, mcm_act_read), /* no merging: the outstanding read may be older than an acquire */
        [L1_LOAD_PAST] = GO(L1_II, mcm_act_read),
        [L1_STORE] = GO(L1_IH, mcm_act_send_store),
        [L1_ATOMIC] = GO(L1_IH, mcm_act_send_atomic),
        [L1_DATA] = GO(L1_II, act_complete),
        [L1_LAST_DATA] = GO(L1_I, act_complete),
        [L1_ACQUIRE] = GO(L1_II),
    },
    [L1_IH] = {
        [L1_LOAD] = GO(L1_IH, mcm_act_read_home),
        [L1_LOAD_PAST] = GO(L1_IH, mcm_act_read_home),
        [L1_STORE] = GO(L1_IH, mcm_act_send_store),
        [L1_ATOMIC] = GO(L1_IH, mcm_act_send_atomic),
        [L1_DATA] = GO(L1_IH, act_complete),
        [L1_LAST_DATA] = GO(L1_I, act_complete),
        [L1_ACK] = GO(L1_IH, act_complete),
        [L1_LAST_ACK] = GO(L1_I, act_complete),
        [L1_ACQUIRE] = GO(L1_IH),
    },
};
/* clang-format on */

static const gpc_table_t l1_lines = {GPC_TABLE("L1", OVER_LINES, L1, l1_table, l1_classify)};

static const gpc_controller_type_t l1 = {
    .name = "L1",
    .position = GPC_AT_CORE,
    .tables = {&l1_lines},
    .arrays = {{.name = "tags", .line = baseline_l1_line_described, .has_data = true}},
    .mshr = gpc_requests_mshr_described,
    .role = mcm_role,
    .begins = 1u << MCM_TABLE_LINES,
};

static int
acquire(gpc_controller_t *unit, uint16_t warp, uint8_t scope)
{
    (void) warp, (void) scope;
    return gpc_controller_flash(unit, MCM_TABLE_LINES, GPC_MSG_ACQUIRE, L1_ACQUIRE);
}

/* ---- L2: the baselines' at home, and near lines ------------------------------------------------------------------ */

#define L2_STATES(X)                                                                                                   \
    BASELINE_L2_STATES(X)                                                                                              \
    X(L2_N, STABLE, "near line, readable")                                                                             \
    X(L2_NP, TRANSIENT_CACHE, "near line on its way; later loads merge")                                               \
    X(L2_NX, TRANSIENT_COHERENCE, "near line on its way, which a store has passed; later loads are read at the home")
/* The first ones of MCM, whose classifier names them. */
#define L2_EVENTS(X)                                                                                                   \
    BASELINE_L2_EVENTS(X)                                                                                              \
    X(L2_NEAR_LOAD, "load of another die's line")                                                                      \
    X(L2_NEAR_OTHER, "load that follows a store, store or atomic to another die's line")                               \
    X(L2_NEAR_DATA, "another die's line")

GPC_FSM(L2, L2_STATES, L2_EVENTS)
BASELINE_L2_EVENTS(BASELINE_SAME)

GPC_ACTION(act_renew, "take the words that the home has at this instant")
{
    return x->unit->ports->newest(x->unit->world, x->line, gpc_line_words(x));
}

/* clang-format off */
static const gpc_patch_t l2_patches[] = {
    {L2_V, L2_GETS, GO(L2_V, mcm_act_answer_line), "the home answers cores and near L2s"},
    {L2_V, L2_GETX, GO(L2_V, mcm_act_store), NULL},
    {L2_V, L2_ATOMIC, GO(L2_V, mcm_act_atomic), NULL},
    {L2_IS, L2_FILL, GO(L2_V, act_fill_line, mcm_act_answer_lines), NULL},
    {L2_IM, L2_FILL_STORE, GO(L2_V, act_fill_line, mcm_act_store), NULL},
    {L2_IM, L2_FILL_ATOMIC, GO(L2_V, act_fill_line, mcm_act_atomic), NULL},
    {L2_I, L2_NEAR_LOAD, GO(L2_NP, act_reserve_way, mcm_act_near_get), "a near line comes once"},
    {L2_I, L2_NEAR_OTHER, GO(L2_I, mcm_act_pass), NULL},
    {L2_N, L2_NEAR_LOAD, GO(L2_N, act_renew, mcm_act_answer_line), "never stale, at no cost"},
    {L2_N, L2_NEAR_OTHER, GO(L2_N, mcm_act_pass), NULL},
    {L2_N, L2_EVICT_CLEAN, GO(L2_I), NULL},
    {L2_NP, L2_NEAR_LOAD, GO(L2_NP, act_merge), NULL},
    {L2_NP, L2_NEAR_OTHER, GO(L2_NX, mcm_act_pass), "loads before a store must not read it"},
    {L2_NP, L2_EVICT_CLEAN, NOT_A_VICTIM, "the way is reserved for the line"},
    {L2_NP, L2_NEAR_DATA, GO(L2_N, act_renew, mcm_act_answer_lines), NULL},
    {L2_NX, L2_NEAR_LOAD, GO(L2_NX, mcm_act_pass), NULL},
    {L2_NX, L2_NEAR_OTHER, GO(L2_NX, mcm_act_pass), NULL},
    {L2_NX, L2_EVICT_CLEAN, NOT_A_VICTIM, "the way is reserved for the line"},
    {L2_NX, L2_NEAR_DATA, GO(L2_N, mcm_act_take_line, mcm_act_answer_lines), "the words are older than the store"},
};
/* clang-format on */

static const gpc_table_t l2_lines = {
    GPC_PATCHED_TABLE("L2", OVER_LINES, L2, "no-coh", baseline_l2_lines, l2_patches, mcm_l2_classify)};

static const gpc_controller_type_t l2 = {
    .name = "L2",
    .position = GPC_AT_BANK,
    .tables = {&l2_lines},
    .arrays = {{.name = "tags", .line = gpc_writer_line_described, .has_data = true}},
};

static const gpc_watched_t watched = {.promise = GPC_PROMISE_ACQUIRED,
                                      .readable = 1u << L1_V,
                                      .copies = 1u << L1_V | 1u << L1_IV,
                                      .bank_is_whole = true,
                                      .near = 1u << L2_N | 1u << L2_NP | 1u << L2_NX};

const gpc_protocol_t gpc_protocol_ideal_dies = {
    .id = "ideal-dies",
    .name = "IDEAL-DIES",
    .paper = "Ren et al., HPCA 2020",
    .family = "coherence of dies",
    .text = "write-through L1s, dropped by acquires; a die's L2 keeps other dies' lines, never stale and for free",
    .model = {[GPC_RULE_RC] = "RCc"},
    .standard_rule = GPC_RULE_RC,
    .controllers = {&l1, &l2},
    GPC_MESSAGES_OF(MCM),
    .networks = MCM_NETWORKS,
    .order = {.acquire = acquire},
    .declared = {.weak_outcomes = "SB MP"},
    .explored = {.dies = 2},
    .host_write = gpc_host_write, /* near lines have no words of their own */
    .watched = &watched,
};

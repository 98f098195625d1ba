/* sw_hier.c: SW-HIER, MCM with a home in each other GPU: hierarchical software coherence of dies and GPUs.
 *
 * Paper    Ren et al., HPCA 2020, section VI: the hierarchical software protocol that HMG is compared with.
 * Inferred a line's GPU home keeps it for the dies of its GPU. An acquire of scope gpu drops what MCM's does, but what
 *          the banks of the die keep as GPU homes; one of scope sys drops that, too, in every die of the GPU. A load of
 *          scope gpu and of order relaxed or stronger is read at the GPU home. The tables are those of MCM.
 * Differs  as MCM: a store drops the copies that it passes; every store and atomic is performed at the home. */
#include "controller/nodes.h"
#include "protocols/dies/mcm.h"

enum { MCM_L1_STATES(GPC_FSM_STATE_ENUM_) };

#define L2_STATES(X)                                                                                                   \
    MCM_L2_STATES(X)                                                                                                   \
    X(L2_G, STABLE, "line of another GPU, at its GPU home, readable")                                                  \
    X(L2_GP, TRANSIENT_CACHE, "the same on its way; later loads merge")                                                \
    X(L2_GX, TRANSIENT_COHERENCE, "the same on its way, which will not be kept")
#define L2_EVENTS(X)                                                                                                   \
    MCM_L2_EVENTS(X)                                                                                                   \
    X(L2_GPU_LOAD, "weak load, or one of scope gpu, at the GPU home of the line")                                      \
    X(L2_DROP_GPU, "a core's acquire of scope sys, or a kernel begins")
GPC_FSM(L2, L2_STATES, L2_EVENTS)
BASELINE_L2_EVENTS(BASELINE_SAME)

static bool
is_gpu_home(const gpc_step_t *x)
{
    return mcm_has_gpu_homes(x->unit) && mcm_gpu_home(x->unit, x->line) == x->unit->node;
}

static gpc_event_id_t
l2_classify(const gpc_step_t *x)
{
    if (x->cause == GPC_MSG_KERNEL_BEGIN) {
        return x->state == L2_G ? L2_DROP_GPU : L2_DROP;
    }
    if (!mcm_is_near(x)) {
        return mcm_l2_classify(x);
    }
    bool waits = mcm_is_near_read(x) && (x->state != L2_I || mcm_may_wait(x));
    return !waits ? L2_NEAR_OTHER : is_gpu_home(x) ? L2_GPU_LOAD : L2_NEAR_LOAD;
}

/* clang-format off */
static const gpc_patch_t l2_patches[] = {
    {L2_I, L2_GPU_LOAD, GO(L2_GP, act_reserve_way, mcm_act_near_get), "a GPU home keeps lines of other GPUs"},
    {L2_G, L2_GPU_LOAD, GO(L2_G, mcm_act_answer_line), NULL},
    {L2_GP, L2_GPU_LOAD, GO(L2_GP, act_merge), NULL},
    {L2_GX, L2_GPU_LOAD, GO(L2_GX, mcm_act_pass), NULL},
    {L2_G, L2_NEAR_OTHER, GO(L2_I, mcm_act_pass), NULL},
    {L2_GP, L2_NEAR_OTHER, GO(L2_GX, act_release_way, mcm_act_pass), NULL},
    {L2_GX, L2_NEAR_OTHER, GO(L2_GX, mcm_act_pass), NULL},
    {L2_GP, L2_NEAR_DATA, GO(L2_G, mcm_act_take_line, mcm_act_answer_lines), NULL},
    {L2_GX, L2_NEAR_DATA, GO(L2_I, mcm_act_pass_line), NULL},
    {L2_G, L2_EVICT_CLEAN, GO(L2_I), NULL},
    {L2_GP, L2_EVICT_CLEAN, NOT_A_VICTIM, NULL},
    {L2_G, L2_DROP, GO(L2_G), "an acquire of scope gpu leaves them"},
    {L2_GP, L2_DROP, GO(L2_GP), NULL},
    {L2_GX, L2_DROP, GO(L2_GX), NULL},
    {L2_G, L2_DROP_GPU, GO(L2_I), "one of scope sys does not"},
    {L2_GP, L2_DROP_GPU, GO(L2_GX, act_release_way), NULL},
    {L2_GX, L2_DROP_GPU, GO(L2_GX), NULL},
    {L2_V, L2_DROP_GPU, GO(L2_V), NULL},
    {L2_IS, L2_DROP_GPU, GO(L2_IS), NULL},
    {L2_IM, L2_DROP_GPU, GO(L2_IM), NULL},
    {L2_N, L2_DROP_GPU, GO(L2_N), NULL},
    {L2_NP, L2_DROP_GPU, GO(L2_NP), NULL},
    {L2_NX, L2_DROP_GPU, GO(L2_NX), NULL},
};
/* clang-format on */

enum { DROP_GPU = GPC_MSG_INSTANT }; /* a cause within the bank */

static const gpc_table_t lines = {GPC_PATCHED_TABLE("L2", OVER_LINES, L2, "mcm", mcm_l2_lines, l2_patches, l2_classify),
                                  .causes = {ON(GPC_MSG_ACQUIRE, L2_DROP), ON(DROP_GPU, L2_DROP_GPU)}};

/* ---- acquires of cores ------------------------------------------------------------------------------------------- */

#define U_STATES(X) X(U_ON, STABLE, "always on")
#define U_EVENTS(X)                                                                                                    \
    X(U_DROP, "an acquire of scope gpu of a core of the die")                                                          \
    X(U_DROP_BOTH, "one of scope sys of a core of the die")                                                            \
    X(U_DROP_GPU, "one of scope sys of another core of the GPU")
GPC_FSM(U, U_STATES, U_EVENTS)

static gpc_event_id_t
u_classify(const gpc_step_t *x)
{
    const gpc_nodes_t *nodes = x->unit->nodes;
    if (x->cause != MCM_DROP) {
        return GPC_NO_EVENT;
    }
    bool own = gpc_die_of(nodes, x->msg->source) == gpc_die_of(nodes, x->unit->node);
    return x->msg->scope != GPC_SCOPE_SYS ? U_DROP : own ? U_DROP_BOTH : U_DROP_GPU;
}

GPC_ACTION(act_drop_near, "drop every line of another die, but of other GPUs at their GPU homes")
{
    return gpc_controller_flash(x->unit, MCM_TABLE_LINES, GPC_MSG_ACQUIRE, L2_DROP);
}

GPC_ACTION(act_drop_gpu, "drop every line of another GPU at its GPU home")
{
    return gpc_controller_flash(x->unit, MCM_TABLE_LINES, DROP_GPU, L2_DROP_GPU);
}

GPC_ACTION(act_answer_drop, "send DROPPED")
{
    return gpc_send(x, gpc_new_answer(x, x->message, MCM_DROPPED));
}

/* clang-format off */
static const gpc_cell_t u_table[U_NUM_STATES][U_NUM_EVENTS] = {
    [U_ON] = {
        [U_DROP] = GO(U_ON, act_drop_near, act_answer_drop),
        [U_DROP_BOTH] = GO(U_ON, act_drop_near, act_drop_gpu, act_answer_drop),
        [U_DROP_GPU] = GO(U_ON, act_drop_gpu, act_answer_drop),
    },
};
/* clang-format on */

static const gpc_table_t unit_table = {GPC_TABLE("L2.acquires", OVER_UNIT, U, u_table, u_classify)};

static const gpc_controller_type_t l2 = {
    .name = "L2",
    .position = GPC_AT_BANK,
    .tables = {&lines, &unit_table},
    .arrays = {{.name = "tags", .line = gpc_writer_line_described, .has_data = true}},
    .route = mcm_l2_route,
    .begins = 1u << MCM_TABLE_LINES,
};

/* clang-format off */
#define SW_HIER_MESSAGES(X, P)                                                                                          \
    MCM_MESSAGES(X, P)                                                                                                  \
    X(P, PASSED_NEAR,   REQ, 3,  8, 0, false, "a near L2 wants the line, passed on by the GPU home")
/* clang-format on */
GPC_MESSAGES(SW_HIER, SW_HIER_MESSAGES)
GPC_SAME_NUMBER(SW_HIER_PASSED_NEAR, MCM_PASSED_NEAR);

static const gpc_watched_t watched = {.promise = GPC_PROMISE_ACQUIRED,
                                      .readable = 1u << L1_V,
                                      .copies = 1u << L1_V | 1u << L1_IV,
                                      .bank_is_whole = true,
                                      .near = 1u << L2_N | 1u << L2_NP | 1u << L2_G | 1u << L2_GP};

const gpc_protocol_t gpc_protocol_sw_hier = {
    .id = "sw-hier",
    .name = "SW-HIER",
    .gpus_model = "PTX",
    .paper = "Ren et al., HPCA 2020",
    .family = "coherence of dies",
    .text = "mcm whose other GPUs have a home for a line, too, which acquires of scope sys drop",
    .model = {[GPC_RULE_RC] = "RCc"},
    .standard_rule = GPC_RULE_RC,
    .controllers = {&mcm_l1, &l2},
    GPC_MESSAGES_OF(SW_HIER),
    .networks = MCM_NETWORKS,
    .order = {.before = mcm_before,
              .acquire = mcm_acquire,
              .barrier = mcm_barrier,
              .keeps_own = true,
              .barrier_releases = true,
              .reads_scopes = true},
    .declared = {.weak_outcomes = "SB MP",
                 .uncovered = {{"L2", "V N", "DROP_GPU", NULL, "a flash passes them by"},
                               {"L2", "G", "DROP", NULL, "a flash passes them by"}}},
    .explored = {.dies = 4, .gpus = 2},
    .host_write = gpc_host_write, /* memory and the home: other copies are dropped when the next kernel begins */
    .watched = &watched,
};

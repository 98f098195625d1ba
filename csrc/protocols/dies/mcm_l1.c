/* mcm_l1.c: the L1 of MCM and FLUSH, its acquires, and the releases of FLUSH.
 *
 * Paper    Ren et al., HPCA 2020, section VI: software coherence; L1s write through, an acquire drops the L1 and the
 *          other dies' lines in the near L2.
 * Inferred an acquire, of whatever scope, asks every bank of the core's die to drop them (DROP). Until the last one has
 *          answered, the warp issues no access, and no barrier of the core ends: threads behind it rely on the acquire.
 *          Then the L1 drops its copies, with what other warps have read of near lines meanwhile. Acquires of a core
 *          that come while one is under way share the next round; so do FLUSH's releases, which ask the banks to write
 *          dirty words back (FLUSH) and wait likewise. Only a round with an acquire drops copies.
 *          Loads of order relaxed or stronger are read at the line's home, as atomics are performed there. */
#include "controller/nodes.h"
#include "protocols/dies/cpelide.h"
#include "protocols/dies/hmg.h"
#include "protocols/dies/lrm.h"

#define L1_EVENTS(X)                                                                                                   \
    BASELINE_L1_EVENTS(X)                                                                                              \
    X(L1_LOAD_HOME, "load of order relaxed or stronger")                                                               \
    X(L1_ACQUIRE, "an acquire, or a kernel begins")

GPC_FSM(L1, MCM_L1_STATES, L1_EVENTS)
BASELINE_L1_EVENTS(BASELINE_SAME)

#define L1_UNIT(FIELD)                                                                                                 \
    FIELD(PLAIN, uint32_t, awaited) /* answers to come in this round */                                                \
    FIELD(PLAIN, uint8_t, drops)    /* it is an acquire's */                                                           \
    FIELD(PLAIN, uint8_t, again)    /* what the next round is for: bits ACQUIRE to RELEASE_SYS; 0: there is none */
GPC_METADATA(l1, unit, L1_UNIT)
#define L1_WARP(FIELD)                                                                                                 \
    FIELD(PLAIN, uint8_t, rounds) /* that its last acquire awaits: 0 to 2 */                                           \
    FIELD(PLAIN, uint8_t, meets)  /* it releases or completes a barrier: 1 + rounds that this awaits; 0: neither */    \
    FIELD(PLAIN, uint8_t, names)  /* LRM: its acquire is an access, which names a variable */                          \
    FIELD(PLAIN, uint8_t, drops)  /* LRM: a home has answered the acquire that near lines must be dropped */
GPC_METADATA(l1, warp, L1_WARP)
/* SYS: of scope sys, where it differs (mcm_has_gpu_homes). */
enum { ACQUIRE = 1, ACQUIRE_SYS = 2, RELEASE = 4, RELEASE_GPU = 8, RELEASE_SYS = 16 };

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static gpc_event_id_t
l1_classify(const gpc_step_t *x)
{
    if (x->cause == GPC_MSG_ACQUIRE || x->cause == GPC_MSG_KERNEL_BEGIN) {
        return L1_ACQUIRE;
    }
    if (x->cause == MERGE_OLD_VALUES) {
        return gpc_is_last_answer(x) ? L1_LAST_DATA : L1_DATA;
    }
    return x->cause == GPC_MSG_LOAD && x->msg->order != GPC_ORDER_WEAK ? L1_LOAD_HOME : baseline_l1_classify(x);
}

/* To the bank of the core's die that has the line, or is near it. */
static int
ask(gpc_step_t *x, uint8_t type)
{
    gpc_msg_t *msg = gpc_new_request(x, type);
    msg->destination = gpc_near_of(x->unit, x->line);
    if (x->unit->type->parts[CPELIDE_ROWS].name) {
        cpelide_note(x, type);
    }
    return gpc_send_and_wait(x, msg);
}

GPC_SHARED_ACTION(mcm_act_read, "send GETS; the load becomes pending")
{
    gpc_count(x, load_misses);
    return ask(x, MCM_GETS);
}

GPC_SHARED_ACTION(mcm_act_read_home, "send GETS_HOME; the load becomes pending")
{
    gpc_count(x, load_misses);
    return ask(x, MCM_GETS_HOME);
}

GPC_SHARED_ACTION(mcm_act_send_store, "send GETX with the store's words; the store becomes pending")
{
    return ask(x, MCM_GETX);
}

GPC_SHARED_ACTION(mcm_act_send_atomic, "send ATOMIC with the lane list; the atomic becomes pending")
{
    return ask(x, MCM_ATOMIC);
}

/* clang-format off */
static const gpc_cell_t l1_table[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_I] = {
        [L1_LOAD] = GO(L1_IV, act_reserve_way, mcm_act_read),
        [L1_LOAD_HOME] = GO(L1_II, mcm_act_read_home),
        [L1_STORE] = GO(L1_II, mcm_act_send_store),
        [L1_ATOMIC] = GO(L1_II, mcm_act_send_atomic),
        [L1_ACQUIRE] = GO(L1_I),
    },
    [L1_V] = {
        [L1_LOAD] = GO(L1_V, act_hit),
        [L1_LOAD_HOME] = GO(L1_II, act_release_way, mcm_act_read_home), /* a later load must not read older words */
        [L1_STORE] = GO(L1_II, act_release_way, mcm_act_send_store),
        [L1_ATOMIC] = GO(L1_II, act_release_way, mcm_act_send_atomic),
        [L1_EVICT] = GO(L1_I),
        [L1_ACQUIRE] = GO(L1_I),
    },
    [L1_IV] = {
        [L1_LOAD] = GO(L1_IV, act_merge_load),
        [L1_LOAD_HOME] = GO(L1_II, act_release_way, mcm_act_read_home),
        [L1_STORE] = GO(L1_II, act_release_way, mcm_act_send_store),
        [L1_ATOMIC] = GO(L1_II, act_release_way, mcm_act_send_atomic),
        [L1_EVICT] = NOT_A_VICTIM, /* the way is reserved for the fill */
        [L1_LAST_DATA] = GO(L1_V, act_fill, act_complete),
        [L1_ACQUIRE] = GO(L1_II, act_release_way),
    },
    [L1_II] = { /* no way: never a victim */
        /* no merging: the outstanding read may be older than a store or an acquire */
        [L1_LOAD] = GO(L1_II, mcm_act_read),
        [L1_LOAD_HOME] = GO(L1_II, mcm_act_read_home),
        [L1_STORE] = GO(L1_II, mcm_act_send_store),
        [L1_ATOMIC] = GO(L1_II, mcm_act_send_atomic),
        [L1_DATA] = GO(L1_II, act_complete),
        [L1_LAST_DATA] = GO(L1_I, act_complete),
        [L1_ACK] = GO(L1_II, act_complete),
        [L1_LAST_ACK] = GO(L1_I, act_complete),
        [L1_ACQUIRE] = GO(L1_II),
    },
};
/* clang-format on */

static const gpc_table_t lines = {GPC_TABLE("L1", OVER_LINES, L1, l1_table, l1_classify)};

GPC_ACTION(act_note_drops, "note whether the home has answered that near lines must be dropped")
{
    l1_warp(x->unit, x->msg->warp)->drops |= lrm_message(x->msg)->drops;
    return GPC_OK;
}

/* clang-format off */
static const gpc_patch_t lrm_patches[] = {
    {L1_II, L1_DATA, GO(L1_II, act_note_drops, act_complete), "homes answer acquires whether near lines must be dropped"},
    {L1_II, L1_LAST_DATA, GO(L1_I, act_note_drops, act_complete), NULL},
};
/* clang-format on */

static const gpc_table_t lrm_lines = {GPC_PATCHED_TABLE("L1", OVER_LINES, L1, "mcm", lines, lrm_patches, l1_classify)};

/* ---- acquires and releases --------------------------------------------------------------------------------------- */

#define U_STATES(X) X(U_ON, STABLE, "always on")
#define U_EVENTS(X)                                                                                                    \
    X(U_ACQUIRE, "an acquire of a warp")                                                                               \
    X(U_DROPPED, "a bank of the die has dropped other dies' lines; more will answer")                                  \
    X(U_LAST_DROPPED, "the last bank of the die has")
GPC_FSM(U, U_STATES, U_EVENTS)

static gpc_event_id_t
u_classify(const gpc_step_t *x)
{
    bool answer = x->cause == MCM_DROPPED || x->cause == FLUSH_FLUSHED;
    return answer ? l1_unit(x->unit)->awaited > 1 ? U_DROPPED : U_LAST_DROPPED : GPC_NO_EVENT;
}

/* The banks of `dies` dies. */
static int
ask_dies(gpc_step_t *x, uint8_t type, uint32_t first, uint32_t dies, uint8_t scope)
{
    uint32_t banks = x->unit->machine->partitions / x->unit->machine->dies;
    for (uint32_t i = first * banks; i < (first + dies) * banks; i++) {
        gpc_msg_t *msg = gpc_new_message(x, type, (gpc_node_t) (gpc_node_of(x->unit, GPC_AT_BANK) + i));
        msg->request = GPC_NONE;
        msg->lanes = GPC_NONE;
        msg->scope = scope;
        GPC_TRY(gpc_send(x, msg));
    }
    l1_unit(x->unit)->awaited += dies * banks;
    return GPC_OK;
}

static int
begin_round(gpc_step_t *x, uint8_t what)
{
    uint32_t die = gpc_die_of(x->unit->nodes, x->unit->node), dies, first = mcm_first_die(x->unit, &dies);
    l1_unit(x->unit)->drops = what & (ACQUIRE | ACQUIRE_SYS);
    if (what & ACQUIRE_SYS) {
        return ask_dies(x, MCM_DROP, first, dies, GPC_SCOPE_SYS);
    }
    GPC_TRY(what & ACQUIRE ? ask_dies(x, MCM_DROP, die, 1, GPC_SCOPE_GPU) : GPC_OK);
    GPC_TRY(what & RELEASE ? ask_dies(x, FLUSH_FLUSH, die, 1, GPC_SCOPE_GPU) : GPC_OK);
    if (what & RELEASE_SYS) {
        return ask_dies(x, HMG_REL, 0, x->unit->machine->dies, GPC_SCOPE_SYS);
    }
    return what & RELEASE_GPU ? ask_dies(x, HMG_REL, first, dies, GPC_SCOPE_GPU) : GPC_OK;
}

/* *rounds: what the warp awaits. */
static int
join_round(gpc_step_t *x, uint8_t what, uint8_t *rounds)
{
    bool busy = l1_unit(x->unit)->awaited != 0;
    *rounds = (uint8_t) (*rounds + (busy ? 2 : 1));
    l1_unit(x->unit)->again |= busy ? what : 0;
    return busy ? GPC_OK : begin_round(x, what);
}

GPC_ACTION(act_ask, "send DROP to every bank of the die, with GPU homes and of scope sys of the GPU; if some have yet "
                    "to answer, afterwards")
{
    bool all = x->scope == GPC_SCOPE_SYS && mcm_has_gpu_homes(x->unit);
    l1_warp(x->unit, x->warp)->rounds = 0;
    return join_round(x, all ? ACQUIRE_SYS : ACQUIRE, &l1_warp(x->unit, x->warp)->rounds);
}

GPC_ACTION(act_ask_flush, "send FLUSH to every bank of the die; if some have yet to answer, afterwards")
{
    l1_warp(x->unit, x->warp)->meets = 1;
    return join_round(x, RELEASE, &l1_warp(x->unit, x->warp)->meets);
}

GPC_ACTION(act_count_down, "one answer less")
{
    l1_unit(x->unit)->awaited--;
    return GPC_OK;
}

GPC_ACTION(act_end_round, "drop the L1's copies; warps whose acquire is complete go on; the next round")
{
    gpc_controller_t *unit = x->unit;
    bool drops = l1_unit(unit)->drops;
    GPC_TRY(drops ? gpc_controller_flash(unit, MCM_TABLE_LINES, GPC_MSG_ACQUIRE, L1_ACQUIRE) : GPC_OK);
    for (uint16_t warp = 0; warp < unit->machine->warps_per_core; warp++) {
        l1_warp_t *fields = l1_warp(unit, warp);
        bool waits = fields->rounds == 1 || fields->meets == 2;
        fields->rounds = (uint8_t) (fields->rounds ? fields->rounds - 1 : 0);
        fields->meets = (uint8_t) (fields->meets > 1 ? fields->meets - 1 : fields->meets);
        GPC_TRY(waits ? unit->ports->wake_warp(unit->world, unit, warp, 0) : GPC_OK);
    }
    uint8_t again = l1_unit(unit)->again;
    l1_unit(unit)->again = 0;
    return again ? begin_round(x, again) : GPC_OK;
}

/* clang-format off */
static const gpc_cell_t u_table[U_NUM_STATES][U_NUM_EVENTS] = {
    [U_ON] = {
        [U_ACQUIRE] = GO(U_ON, act_ask),
        [U_DROPPED] = GO(U_ON, act_count_down),
        [U_LAST_DROPPED] = GO(U_ON, act_count_down, act_end_round),
    },
};
/* clang-format on */

static const gpc_table_t unit_table = {GPC_TABLE("L1.acquires", OVER_UNIT, U, u_table, u_classify),
                                       .causes = {ON(GPC_MSG_ACQUIRE, U_ACQUIRE)}};

#define F_STATES(X) X(F_ON, STABLE, "always on")
#define F_EVENTS(X)                                                                                                    \
    X(F_ACQUIRE, "an acquire of a warp")                                                                               \
    X(F_DROPPED, "a bank of the die has dropped other dies' lines, or written them back; more will answer")            \
    X(F_LAST_DROPPED, "the last bank of the die has")                                                                  \
    X(F_RELEASE, "a release of a warp")
GPC_FSM(F, F_STATES, F_EVENTS)
GPC_SAME_NUMBER(F_DROPPED, U_DROPPED);
GPC_SAME_NUMBER(F_LAST_DROPPED, U_LAST_DROPPED);

/* clang-format off */
static const gpc_cell_t f_table[F_NUM_STATES][F_NUM_EVENTS] = {
    [F_ON] = {
        [F_ACQUIRE] = GO(F_ON, act_ask),
        [F_DROPPED] = GO(F_ON, act_count_down),
        [F_LAST_DROPPED] = GO(F_ON, act_count_down, act_end_round),
        [F_RELEASE] = GO(F_ON, act_ask_flush),
    },
};
/* clang-format on */

static const gpc_table_t flush_unit_table = {
    GPC_TABLE("L1.boundaries", OVER_UNIT, F, f_table, u_classify),
    .causes = {ON(GPC_MSG_ACQUIRE, F_ACQUIRE), ON(GPC_MSG_RELEASE, F_RELEASE)}};

#define R_STATES(X) X(R_ON, STABLE, "always on")
#define R_EVENTS(X)                                                                                                    \
    X(R_RELEASE, "a release of a warp")                                                                                \
    X(R_RELEASED, "no copy is left that a bank has invalidated; more banks will answer")                               \
    X(R_LAST_RELEASED, "the last bank has answered")
GPC_FSM(R, R_STATES, R_EVENTS)
GPC_SAME_NUMBER(R_RELEASED, U_DROPPED);
GPC_SAME_NUMBER(R_LAST_RELEASED, U_LAST_DROPPED);

GPC_ACTION(act_ask_release, "send REL to every bank of the scope; if some have yet to answer, afterwards")
{
    bool all = x->scope == GPC_SCOPE_SYS || !mcm_has_gpu_homes(x->unit);
    l1_warp(x->unit, x->warp)->meets = 1;
    return join_round(x, all ? RELEASE_SYS : RELEASE_GPU, &l1_warp(x->unit, x->warp)->meets);
}

/* clang-format off */
static const gpc_cell_t r_table[R_NUM_STATES][R_NUM_EVENTS] = {
    [R_ON] = {
        [R_RELEASE] = GO(R_ON, act_ask_release),
        [R_RELEASED] = GO(R_ON, act_count_down),
        [R_LAST_RELEASED] = GO(R_ON, act_count_down, act_end_round),
    },
};
/* clang-format on */

static const gpc_table_t hmg_unit_table = {GPC_TABLE("L1.releases", OVER_UNIT, R, r_table, u_classify),
                                           .causes = {ON(GPC_MSG_RELEASE, R_RELEASE)}};

static uint8_t
route(const gpc_controller_t *unit, const gpc_msg_t *msg)
{
    (void) unit;
    return msg->type == MCM_DROPPED || msg->type == FLUSH_FLUSHED ? MCM_TABLE_UNIT : MCM_TABLE_LINES;
}

uint32_t
mcm_role(const gpc_controller_t *unit)
{
    return gpc_die_of(unit->nodes, unit->node);
}

#define L1_TYPE                                                                                                        \
    .name = "L1", .position = GPC_AT_CORE,                                                                             \
    .arrays = {{.name = "tags", .line = baseline_l1_line_described, .has_data = true}},                                \
    .mshr = gpc_requests_mshr_described, .unit = l1_unit_described, .warp = l1_warp_described, .route = route,         \
    .begins = 1u << MCM_TABLE_LINES
const gpc_controller_type_t mcm_l1 = {L1_TYPE, .role = mcm_role, .tables = {&lines, &unit_table}};
const gpc_controller_type_t flush_l1 = {L1_TYPE, .role = mcm_role, .tables = {&lines, &flush_unit_table}};
const gpc_controller_type_t cpelide_l1 = {L1_TYPE, .tables = {&lines, &flush_unit_table}, CPELIDE_TABLE};
const gpc_controller_type_t hmg_l1 = {L1_TYPE, .role = mcm_role, .tables = {&lines, &hmg_unit_table}};
const gpc_controller_type_t lrm_l1 = {L1_TYPE, .role = mcm_role, .tables = {&lrm_lines, &unit_table}};

/* ---- order ------------------------------------------------------------------------------------------------------- */

int
mcm_acquire(gpc_controller_t *l1, uint16_t warp, uint8_t scope)
{
    return l1->machine->dies > 1 ? gpc_controller_order(l1, MCM_TABLE_UNIT, GPC_MSG_ACQUIRE, warp, scope)
                                 : mcm_drop_l1(l1, warp, scope);
}

int
mcm_drop_l1(gpc_controller_t *l1, uint16_t warp, uint8_t scope)
{
    (void) warp, (void) scope;
    return gpc_controller_flash(l1, MCM_TABLE_LINES, GPC_MSG_ACQUIRE, L1_ACQUIRE);
}

int
mcm_before(gpc_controller_t *l1, uint16_t warp, const gpc_access_t *access, gpc_cycle_t *until)
{
    (void) access, (void) until; /* wake_warp ends the wait */
    return l1_warp(l1, warp)->rounds ? GPC_HOLD : GPC_OK;
}

/* Whether what the warp awaits in `meets` has come; wake_warp ends the wait. */
static int
is_met(gpc_controller_t *l1, uint16_t warp)
{
    if (l1_warp(l1, warp)->meets > 1) {
        return GPC_HOLD;
    }
    l1_warp(l1, warp)->meets = 0;
    return GPC_OK;
}

/* The last warp to arrive waits for the acquires of its core that came before it, not for those of warps that poll. */
int
mcm_barrier(gpc_controller_t *l1, uint16_t warp, gpc_cycle_t *until)
{
    l1_warp_t *fields = l1_warp(l1, warp);
    (void) until;
    if (fields->meets == 0) {
        fields->meets = (uint8_t) (1 + (l1_unit(l1)->awaited != 0) + (l1_unit(l1)->again != 0));
    }
    return is_met(l1, warp);
}

int
flush_release(gpc_controller_t *l1, uint16_t warp, uint8_t scope, gpc_cycle_t *until)
{
    bool begins = l1_warp(l1, warp)->meets == 0 && l1->machine->dies > 1;
    (void) until;
    GPC_TRY(begins ? gpc_controller_order(l1, MCM_TABLE_UNIT, GPC_MSG_RELEASE, warp, scope) : GPC_OK);
    return is_met(l1, warp);
}

/* ---- CPElide: before a launch ------------------------------------------------------------------------------------ */

int
cpelide_l1_cross(gpc_controller_t *l1, bool drops, bool flushes)
{
    GPC_TRY(drops ? gpc_controller_order(l1, MCM_TABLE_UNIT, GPC_MSG_ACQUIRE, 0, GPC_SCOPE_GPU) : GPC_OK);
    GPC_TRY(flushes ? gpc_controller_order(l1, MCM_TABLE_UNIT, GPC_MSG_RELEASE, 0, GPC_SCOPE_GPU) : GPC_OK);
    *l1_warp(l1, 0) = (l1_warp_t){0}; /* no warp waits for the rounds: the launch begins behind them */
    return GPC_OK;
}

int
lrm_before(gpc_controller_t *l1, uint16_t warp, const gpc_access_t *access, gpc_cycle_t *until)
{
    bool acquires = access->order == GPC_ORDER_ACQUIRE || access->order >= GPC_ORDER_ACQ_REL;
    l1_warp(l1, warp)->names = acquires && access->kind != GPC_ACCESS_STORE;
    return mcm_before(l1, warp, access, until);
}

int
lrm_acquire(gpc_controller_t *l1, uint16_t warp, uint8_t scope)
{
    l1_warp_t *fields = l1_warp(l1, warp);
    bool keeps = fields->names && !fields->drops;
    fields->names = fields->drops = 0;
    return keeps ? mcm_drop_l1(l1, warp, scope) : mcm_acquire(l1, warp, scope);
}

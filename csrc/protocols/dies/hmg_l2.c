/* hmg_l2.c: the L2 bank of NHCC and HMG: MCM's, with a directory beside it (hmg_directory.c), and the path of releases.
 *
 * Paper    Ren et al., HPCA 2020, sections IV and V: the home sends INV to the dies that have read; nothing
 *          acknowledges it; a release collects answers from all homes of its scope.
 * Inferred how a release knows that INVs have been taken: "invalidate" is ordered, and a release follows them on it
 *          (FOLLOW) to the dies that were sent any since the last one. Releases of a bank that come meanwhile share the
 *          next round. A load that meets a near line on its way, which an INV has hit (NX), waits and asks again.
 *          HMG: what passes a GPU home may be newer than the copies in its GPU, which get INV, too. A home's FOLLOW to
 *          a GPU home is answered when its own round is over; that of the scope's GPUs comes before that of the dies.
 * Differs  a store drops the near copy that it passes, as under MCM; the paper's updates it. Stores and atomics of
 *          every scope are performed, and acknowledged, at the home: under HMG not at the GPU home. */
#include "controller/nodes.h"
#include "protocols/dies/hmg.h"

GPC_FSM(L2, HMG_L2_STATES, HMG_L2_EVENTS)
BASELINE_L2_EVENTS(BASELINE_SAME)

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static gpc_event_id_t
l2_classify(const gpc_step_t *x)
{
    if (!mcm_is_near(x)) {
        return mcm_l2_classify(x);
    }
    bool waits = x->state != L2_I || mcm_may_wait(x);
    return !mcm_is_near_read(x) ? L2_NEAR_OTHER : waits ? L2_NEAR_LOAD : L2_NEAR_FULL;
}

GPC_ACTION(act_note_reader, "list the near L2's die in the directory")
{
    return x->cause == HMG_NEAR_GETS || x->cause == HMG_PASSED_NEAR ? hmg_note(x, GPC_MSG_LOAD) : GPC_OK;
}

GPC_ACTION(act_invalidate, "invalidate the lines of the region in other dies")
{
    return hmg_note(x, GPC_MSG_STORE);
}

GPC_ACTION(act_invalidate_gpu, "at the GPU home, invalidate the lines of the region in the GPU's other dies")
{
    return mcm_gpu_home(x->unit, x->line) == x->unit->node ? hmg_note(x, GPC_MSG_STORE) : GPC_OK;
}

/* clang-format off */
static const gpc_patch_t l2_patches[] = {
    {L2_I, L2_GETS, GO(L2_IS, act_reserve_way, act_note_reader, act_fetch), "the directory lists readers"},
    {L2_V, L2_GETS, GO(L2_V, act_note_reader, mcm_act_answer_line), NULL},
    {L2_IS, L2_GETS, GO(L2_IS, act_note_reader, act_merge), NULL},
    {L2_I, L2_NEAR_LOAD, GO(L2_NP, act_reserve_way, act_note_reader, mcm_act_near_get), NULL},
    {L2_N, L2_NEAR_LOAD, GO(L2_N, act_note_reader, mcm_act_answer_line), NULL},
    {L2_NP, L2_NEAR_LOAD, GO(L2_NP, act_note_reader, act_merge), NULL},
    {L2_I, L2_NEAR_FULL, GO(L2_I, act_note_reader, mcm_act_pass), NULL},
    {L2_V, L2_GETX, GO(L2_V, act_invalidate, mcm_act_store), "writes invalidate"},
    {L2_V, L2_ATOMIC, GO(L2_V, act_invalidate, mcm_act_atomic), NULL},
    {L2_IM, L2_FILL_STORE, GO(L2_V, act_fill_line, act_invalidate, mcm_act_store), NULL},
    {L2_IM, L2_FILL_ATOMIC, GO(L2_V, act_fill_line, act_invalidate, mcm_act_atomic), NULL},
    {L2_I, L2_NEAR_OTHER, GO(L2_I, act_invalidate_gpu, mcm_act_pass), NULL},
    {L2_N, L2_NEAR_OTHER, GO(L2_I, act_invalidate_gpu, mcm_act_pass), NULL},
    {L2_NP, L2_NEAR_OTHER, GO(L2_NX, act_release_way, act_invalidate_gpu, mcm_act_pass), NULL},
    {L2_NX, L2_NEAR_OTHER, GO(L2_NX, act_invalidate_gpu, mcm_act_pass), NULL},
    {L2_N, L2_DROP, GO(L2_I, act_count_invalidation), NULL},
    {L2_NX, L2_NEAR_LOAD, HOLD_LINE, "until the line comes, for which the home waits for nothing of this die"},
};
/* clang-format on */

static const gpc_table_t lines = {
    GPC_PATCHED_TABLE("L2", OVER_LINES, L2, "mcm", mcm_l2_lines, l2_patches, l2_classify)};

/* ---- invalidations and releases ---------------------------------------------------------------------------------- */

#define U_STATES(X) X(U_ON, STABLE, "always on")
#define U_EVENTS(X)                                                                                                    \
    X(U_INV, "INV from the home, or the GPU home")                                                                     \
    X(U_REL, "a core's release")                                                                                       \
    X(U_REL_SYS, "a core's release of scope sys, on several GPUs")                                                     \
    X(U_FOLLOW, "FOLLOW from a bank of the GPU")                                                                       \
    X(U_FOLLOW_SYS, "FOLLOW from another GPU")                                                                         \
    X(U_FOLLOWED, "FOLLOWED by a die")                                                                                 \
    X(U_FOLLOWED_SYS, "FOLLOWED by another GPU")                                                                       \
    X(U_END, "a kernel ends: it lasts until INVs have been taken")
GPC_FSM(U, U_STATES, U_EVENTS)

/* A round of releases: within the GPU, or of other GPUs. */
typedef struct {
    uint16_t *awaited; /* dies that have yet to answer FOLLOW */
    uint32_t *served;  /* releases that it serves, the first ones of the list; the others are for the next */
    gpc_list_t *list;
    uint32_t dies; /* bit d: FOLLOW may go to die d */
} round_t;

static round_t
round_of(const gpc_controller_t *unit, bool sys)
{
    hmg_l2_unit_t *fields = hmg_l2_unit(unit);
    uint32_t dies, first = mcm_first_die(unit, &dies), here = ((UINT32_C(1) << dies) - 1) << first;
    return sys ? (round_t){&fields->awaited_sys, &fields->served_sys, &fields->releases_sys, ~here}
               : (round_t){&fields->awaited, &fields->served, &fields->releases, here};
}

static bool
is_of_gpu(const gpc_controller_t *unit, gpc_node_t node)
{
    return round_of(unit, false).dies >> gpc_die_of(unit->nodes, node) & 1;
}

static gpc_event_id_t
u_classify(const gpc_step_t *x)
{
    switch (x->cause) {
        case HMG_REL:
            return mcm_has_gpu_homes(x->unit) && x->msg->scope == GPC_SCOPE_SYS ? U_REL_SYS : U_REL;
        case HMG_FOLLOW:
            return is_of_gpu(x->unit, x->msg->source) ? U_FOLLOW : U_FOLLOW_SYS;
        case HMG_FOLLOWED:
            return is_of_gpu(x->unit, x->msg->source) ? U_FOLLOWED : U_FOLLOWED_SYS;
        default:
            return GPC_NO_EVENT;
    }
}

static int
follow(gpc_step_t *x, round_t it)
{
    uint32_t dies = hmg_l2_unit(x->unit)->exposed & it.dies;
    hmg_l2_unit(x->unit)->exposed &= (uint16_t) ~dies;
    for (*it.awaited = (uint16_t) dies; dies; dies &= dies - 1) {
        gpc_msg_t *msg = gpc_new_message(x, HMG_FOLLOW, mcm_bank_in(x->unit, (uint32_t) __builtin_ctz(dies)));
        msg->request = msg->lanes = GPC_NONE;
        GPC_TRY(gpc_send(x, msg));
    }
    return GPC_OK;
}

/* Ends rounds, whose releases of other GPUs enter the next one within the GPU, and begins the next ones. */
static int
go_on(gpc_step_t *x, bool sys)
{
    round_t it = round_of(x->unit, sys);
    while (*it.awaited == 0 && it.list->count) {
        for (; *it.served; --*it.served) {
            gpc_index_t release = gpc_list_pop(it.list, x->unit->messages);
            if (sys) {
                gpc_list_push(&hmg_l2_unit(x->unit)->releases, x->unit->messages, release);
                continue;
            }
            bool of_core = gpc_msg_at(x->unit->messages, release)->type == HMG_REL;
            GPC_TRY(gpc_send(x, gpc_new_answer(x, release, of_core ? HMG_RELEASED : HMG_FOLLOWED)));
            gpc_free_message(x->unit, release);
        }
        *it.served = it.list->count;
        GPC_TRY(*it.served ? follow(x, it) : GPC_OK);
    }
    return sys ? go_on(x, false) : GPC_OK;
}

static int
release(gpc_step_t *x, bool sys)
{
    gpc_list_push(round_of(x->unit, sys).list, x->unit->messages, x->message);
    x->kept = true;
    return go_on(x, sys);
}

GPC_ACTION(act_release, "send FOLLOW to the GPU's dies that were sent INV; answer when they have")
{
    return release(x, false);
}

GPC_ACTION(act_release_sys,
           "send FOLLOW to other GPUs that were sent INV, then to the GPU's dies; answer when all have")
{
    return release(x, true);
}

GPC_ACTION(act_answer_follow, "send FOLLOWED")
{
    return gpc_send(x, gpc_new_answer(x, x->message, HMG_FOLLOWED));
}

static int
followed(gpc_step_t *x, bool sys)
{
    *round_of(x->unit, sys).awaited &= (uint16_t) ~(UINT32_C(1) << gpc_die_of(x->unit->nodes, x->msg->source));
    return go_on(x, sys);
}

GPC_ACTION(act_count_die, "await the die no more; releases that are over are answered")
{
    return followed(x, false);
}

GPC_ACTION(act_count_gpu, "await the GPU no more; releases that are over go on within this GPU")
{
    return followed(x, true);
}

GPC_ACTION(act_drop_region, "drop the other dies' lines of the region; at the GPU home, send INV on")
{
    gpc_controller_t *unit = x->unit;
    uint32_t bytes = unit->machine->line_bytes;
    gpc_index_t way;
    for (uint32_t i = 0; i < unit->options[HMG_REGION_LINES]; i++) {
        gpc_address_t line = x->line + i * bytes;
        GPC_TRY(gpc_state_at(unit, line, 0, &way) == L2_I
                    ? GPC_OK
                    : gpc_controller_line(unit, MCM_TABLE_LINES, GPC_MSG_ACQUIRE, line, gpc_all_words(unit), GPC_NONE));
    }
    return is_of_gpu(unit, x->msg->source) ? GPC_OK : hmg_note(x, HMG_INV);
}

/* clang-format off */
static const gpc_cell_t u_table[U_NUM_STATES][U_NUM_EVENTS] = {
    [U_ON] = {
        [U_INV] = GO(U_ON, act_drop_region),
        [U_REL] = GO(U_ON, act_release),
        [U_REL_SYS] = GO(U_ON, act_release_sys),
        [U_FOLLOW] = GO(U_ON, act_answer_follow),
        [U_FOLLOW_SYS] = GO(U_ON, act_release),
        [U_FOLLOWED] = GO(U_ON, act_count_die),
        [U_FOLLOWED_SYS] = GO(U_ON, act_count_gpu),
        [U_END] = GO(U_ON),
    },
};
/* clang-format on */

static const gpc_table_t unit_table = {GPC_TABLE("L2.releases", OVER_UNIT, U, u_table, u_classify),
                                       .causes = {ON(HMG_INV, U_INV), ON(GPC_MSG_KERNEL_END, U_END)}};

static uint8_t
route(const gpc_controller_t *unit, const gpc_msg_t *msg)
{
    bool of_unit = msg->type == HMG_REL || (msg->type >= HMG_INV && msg->type <= HMG_FOLLOWED);
    (void) unit;
    return of_unit ? MCM_TABLE_UNIT : MCM_TABLE_LINES;
}

static uint32_t
entries(const gpc_machine_t *machine, const int64_t *options)
{
    uint32_t covering = 2 * machine->l2_bytes / machine->line_bytes / (uint32_t) options[HMG_REGION_LINES];
    return options[HMG_DIRECTORY_ENTRIES] ? (uint32_t) options[HMG_DIRECTORY_ENTRIES] : covering ? covering : 1;
}

static const gpc_count_info_t counters[] = {HMG_COUNTERS(GPC_COUNT_INFO_, HMG_COUNT){NULL, NULL}};

const gpc_controller_type_t hmg_l2 = {
    .name = "L2",
    .position = GPC_AT_BANK,
    .tables = {&lines, &unit_table, &hmg_directory},
    .arrays = {{.name = "tags", .line = gpc_writer_line_described, .has_data = true}},
    .parts = {{.name = "directory", .entry = hmg_directory_entry_described, .capacity = entries, .may_rest = true}},
    .object_of = {0, 0, MCM_DIRECTORY},
    .unit = hmg_l2_unit_described,
    .counters = counters,
    .route = route,
    .ends = 1u << MCM_TABLE_UNIT,
};

/* lrm_l2.c: the L2 bank of LRM: MCM's, with a directory of synchronisation variables beside it (lrm_directory.c), and
 * the path of the answers to acquires and releases.
 *
 * Paper    LRM-GPU, HPCA 2026, section III-B: an acquire or release is performed at the home, and drops what its die
 *          has of other dies' lines where the variable's owner changes.
 * Inferred who drops, and when another core of the die may rely on it. Answers go by the near bank of the variable in
 *          the core's die, in the order in which the home has performed the accesses. For an answer that drops, that
 *          bank has every bank of its die drop near lines, and passes it on when all have. What comes meanwhile waits
 *          behind it: its die is the owner, by an access whose drop has not ended. At the home's own die, the home does
 *          what the near bank does elsewhere. A die of one bank drops at once. */
#include "controller/nodes.h"
#include "protocols/dies/lrm.h"

GPC_FSM(L2, LRM_L2_STATES, MCM_L2_EVENTS)
BASELINE_L2_EVENTS(BASELINE_SAME)

/* ---- lines: answers of the home ---------------------------------------------------------------------------------- */

/* To the near bank of the core's die, which may be this one. */
static int
answer_by_near(gpc_step_t *x, gpc_msg_t *msg, bool drops)
{
    gpc_controller_t *unit = x->unit;
    msg->destination = mcm_bank_in(unit, gpc_die_of(unit->nodes, msg->requester));
    lrm_message(msg)->drops = drops;
    if (msg->destination != unit->node || unit->failure->code) {
        return gpc_send(x, msg);
    }
    msg->network = gpc_message_info(unit, msg->type)->network;
    return gpc_controller_unit(unit, MCM_TABLE_UNIT, msg->type, gpc_msg_index(unit->messages, msg));
}

static int
answer_load(gpc_step_t *x, gpc_index_t to, uint8_t type)
{
    const gpc_msg_t *load = gpc_msg_at(x->unit->messages, to);
    bool drops;
    if (!lrm_synchronises(x->unit, load)) {
        return mcm_answer(x, to, type);
    }
    GPC_TRY(lrm_note(x, load, &drops));
    return answer_by_near(x, gpc_new_answer(x, to, LRM_BACK_DATA), drops);
}

/* The write is noted as performed before the directory takes a step, at which monitors look at the line. */
static int
answer_writer(gpc_step_t *x, uint8_t type, uint8_t by_near)
{
    const gpc_msg_t *writer = gpc_writer_message(x);
    bool pending = gpc_writer(x) != x->message, synchronises = lrm_synchronises(x->unit, writer), drops;
    gpc_msg_t *msg = gpc_new_writer_answer(x, synchronises ? by_near : type, 0);
    GPC_TRY(lrm_note(x, writer, &drops));
    if (!synchronises) {
        msg->destination = msg->requester;
        return gpc_answer_writer(x, msg);
    }
    GPC_TRY(answer_by_near(x, msg, drops));
    if (pending) {
        gpc_free_message(x->unit, gpc_pop_pending(x));
    }
    return GPC_OK;
}

GPC_ACTION(act_answer_line, "answer the load; one that acquires, by its near L2")
{
    gpc_count(x, load_hits);
    return answer_load(x, x->message, MCM_DATA);
}

GPC_ACTION(act_answer_lines, "answer all pending loads; those that acquire, by their near L2s")
{
    return gpc_answer_pending(x, MCM_DATA, answer_load);
}

GPC_ACTION(act_store, "write the store's words, send ACK; of a release, by its near L2")
{
    (void) gpc_act(writer_act_write, x);
    return answer_writer(x, MCM_ACK, LRM_BACK_ACK);
}

GPC_ACTION(act_atomic, "perform the atomic, send its old values; if it synchronises, by its near L2")
{
    (void) gpc_act(writer_act_perform, x);
    return answer_writer(x, MCM_ATOMIC_DATA, LRM_BACK_ATOMIC);
}

/* clang-format off */
static const gpc_patch_t l2_patches[] = {
    {L2_V, L2_GETS, GO(L2_V, act_answer_line), "the directory lists owners; answers to them go by near L2s"},
    {L2_IS, L2_FILL, GO(L2_V, act_fill_line, act_answer_lines), NULL},
    {L2_V, L2_GETX, GO(L2_V, act_store), NULL},
    {L2_V, L2_ATOMIC, GO(L2_V, act_atomic), NULL},
    {L2_IM, L2_FILL_STORE, GO(L2_V, act_fill_line, act_store), NULL},
    {L2_IM, L2_FILL_ATOMIC, GO(L2_V, act_fill_line, act_atomic), NULL},
};
/* clang-format on */

static gpc_event_id_t
l2_classify(const gpc_step_t *x)
{
    return x->cause == GPC_MSG_KERNEL_BEGIN ? L2_DROP : mcm_l2_classify(x);
}

static const gpc_table_t lines = {GPC_PATCHED_TABLE("L2", OVER_LINES, L2, "mcm", mcm_l2_lines, l2_patches, l2_classify),
                                  .causes = {ON(GPC_MSG_ACQUIRE, L2_DROP)}};

/* ---- drops of the die, and the answers that wait for them -------------------------------------------------------- */

#define U_STATES(X) X(U_ON, STABLE, "always on")
#define U_EVENTS(X)                                                                                                    \
    X(U_DROP, "an acquire of a core of the die that names no variable: a fence")                                       \
    X(U_DROP_DIE, "a drop of the die, by another bank")                                                                \
    X(U_BACK, "the answer to an acquire or release of a core of the die")                                              \
    X(U_DROPPED, "another bank of the die has dropped")
GPC_FSM(U, U_STATES, U_EVENTS)

static uint32_t
banks_of_die(const gpc_controller_t *unit)
{
    return unit->machine->partitions / unit->machine->dies;
}

GPC_ACTION(act_drop_near, "drop every line of another die")
{
    return gpc_controller_flash(x->unit, MCM_TABLE_LINES, GPC_MSG_ACQUIRE, L2_DROP);
}

GPC_ACTION(act_answer_core, "send DROPPED")
{
    return gpc_send(x, gpc_new_answer(x, x->message, MCM_DROPPED));
}

GPC_ACTION(act_answer_bank, "send DIE_DROPPED")
{
    return gpc_send(x, gpc_new_answer(x, x->message, LRM_DIE_DROPPED));
}

/* Drops the near lines of this bank, and has the others of the die drop theirs. */
static int
drop_die(gpc_step_t *x)
{
    gpc_controller_t *unit = x->unit;
    uint32_t banks = banks_of_die(unit), first = gpc_die_of(unit->nodes, unit->node) * banks;
    gpc_count_own(x, LRM_COUNT_die_drops);
    lrm_l2_unit(unit)->awaited = banks - 1;
    for (uint32_t i = first; i < first + banks; i++) {
        if (i != unit->index) {
            gpc_msg_t *msg = gpc_new_message(x, LRM_DROP_DIE, (gpc_node_t) (unit->homes.first_bank + i));
            msg->request = msg->lanes = GPC_NONE;
            GPC_TRY(gpc_send(x, msg));
        }
    }
    return gpc_act(act_drop_near, x);
}

static int
pass_to_core(gpc_step_t *x, gpc_index_t answer)
{
    gpc_msg_t *msg = gpc_msg_at(x->unit->messages, answer);
    msg->type = msg->type == LRM_BACK_DATA ? MCM_DATA : msg->type == LRM_BACK_ACK ? MCM_ACK : MCM_ATOMIC_DATA;
    msg->source = x->unit->node;
    msg->destination = msg->requester;
    msg->ready = 0;
    lrm_message(msg)->drops = 0;
    return gpc_send(x, msg);
}

/* Passes answers on, until one waits for a drop; begins it. An answer that drops and has not been served begins one,
 * which serves all that have come by then. */
static int
go_on(gpc_step_t *x)
{
    lrm_l2_unit_t *fields = lrm_l2_unit(x->unit);
    gpc_pool_t *messages = x->unit->messages;
    while (fields->awaited == 0 && fields->answers.count) {
        if (fields->served == 0 && lrm_message(gpc_msg_at(messages, fields->answers.head))->drops) {
            fields->served = fields->answers.count;
            GPC_TRY(drop_die(x));
            continue;
        }
        fields->served -= fields->served != 0;
        GPC_TRY(pass_to_core(x, gpc_list_pop(&fields->answers, messages)));
    }
    return GPC_OK;
}

GPC_ACTION(act_pass_back, "pass the answer on, behind those that wait; if it drops, when every bank of the die has")
{
    gpc_list_push(&lrm_l2_unit(x->unit)->answers, x->unit->messages, x->message);
    x->kept = true;
    return go_on(x);
}

GPC_ACTION(act_count_down, "one bank less; behind the last one, pass on the answers that have waited")
{
    lrm_l2_unit(x->unit)->awaited--;
    return go_on(x);
}

/* clang-format off */
static const gpc_cell_t u_table[U_NUM_STATES][U_NUM_EVENTS] = {
    [U_ON] = {
        [U_DROP] = GO(U_ON, act_drop_near, act_answer_core),
        [U_DROP_DIE] = GO(U_ON, act_drop_near, act_answer_bank),
        [U_BACK] = GO(U_ON, act_pass_back),
        [U_DROPPED] = GO(U_ON, act_count_down),
    },
};
/* clang-format on */

static const gpc_table_t unit_table = {
    GPC_TABLE("L2.drops", OVER_UNIT, U, u_table, NULL),
    .causes = {ON(MCM_DROP, U_DROP), ON(LRM_DROP_DIE, U_DROP_DIE), ON(LRM_DIE_DROPPED, U_DROPPED),
               ON(LRM_BACK_DATA, U_BACK), ON(LRM_BACK_ACK, U_BACK), ON(LRM_BACK_ATOMIC, U_BACK)}};

static uint8_t
route(const gpc_controller_t *unit, const gpc_msg_t *msg)
{
    (void) unit;
    return msg->type == MCM_DROP || msg->type >= LRM_BACK_DATA ? MCM_TABLE_UNIT : MCM_TABLE_LINES;
}

static uint32_t
entries(const gpc_machine_t *machine, const int64_t *options)
{
    uint32_t banks = machine->partitions / (machine->dies > 1 ? machine->dies : 1);
    return options[LRM_SYNC_ENTRIES] ? (uint32_t) options[LRM_SYNC_ENTRIES] : (16 + banks - 1) / banks;
}

static const gpc_count_info_t counters[] = {LRM_COUNTERS(GPC_COUNT_INFO_, LRM_COUNT){NULL, NULL}};

const gpc_controller_type_t lrm_l2 = {
    .name = "L2",
    .position = GPC_AT_BANK,
    .tables = {&lines, &unit_table, &lrm_directory},
    .arrays = {{.name = "tags", .line = gpc_writer_line_described, .has_data = true}},
    .parts = {{.name = "directory", .entry = lrm_directory_entry_described, .capacity = entries, .may_rest = true}},
    .object_of = {0, 0, MCM_DIRECTORY},
    .unit = lrm_l2_unit_described,
    .counters = counters,
    .route = route,
    .begins = 1u << MCM_TABLE_LINES,
};

/* lrm_l2.c: the L2 bank of LRM: MCM's, with a directory of synchronisation variables beside it (lrm_directory.c).
 *
 * Paper    LRM-GPU, HPCA 2026, section III-B: acquires and releases are performed at the home, which finds out whether
 *          the owner of the variable changes.
 * Inferred the answer tells the core whether near lines must be dropped; the core has its die drop them as under
 *          MCM. */
#include "controller/nodes.h"
#include "protocols/dies/lrm.h"

GPC_FSM(L2, MCM_L2_STATES, MCM_L2_EVENTS)
BASELINE_L2_EVENTS(BASELINE_SAME)

static int
answer_load(gpc_step_t *x, gpc_index_t to, uint8_t type)
{
    const gpc_msg_t *load = gpc_msg_at(x->unit->messages, to);
    bool drops;
    if (load->order == GPC_ORDER_WEAK) {
        return mcm_answer(x, to, type);
    }
    GPC_TRY(lrm_note(x, load, &drops));
    gpc_msg_t *msg = gpc_new_answer(x, to, type);
    msg->destination = msg->requester;
    lrm_message(msg)->drops = drops;
    return gpc_send(x, msg);
}

/* The write is noted as performed before the directory takes a step, at which monitors look at the line. */
static int
answer_writer(gpc_step_t *x, uint8_t type)
{
    gpc_msg_t *msg = gpc_new_writer_answer(x, type, 0);
    bool drops;
    GPC_TRY(lrm_note(x, gpc_writer_message(x), &drops));
    msg->destination = msg->requester;
    lrm_message(msg)->drops = drops;
    return gpc_answer_writer(x, msg);
}

GPC_ACTION(act_answer_line, "send DATA to the core, or NEAR_DATA to a near L2; an acquire is noted in the directory")
{
    gpc_count(x, load_hits);
    return answer_load(x, x->message, MCM_DATA);
}

GPC_ACTION(act_answer_lines, "send DATA or NEAR_DATA to all pending loads; acquires are noted in the directory")
{
    return gpc_answer_pending(x, MCM_DATA, answer_load);
}

GPC_ACTION(act_store, "write the store's words, send ACK to the core; note it in the directory")
{
    (void) gpc_act(writer_act_write, x);
    return answer_writer(x, MCM_ACK);
}

GPC_ACTION(act_atomic, "perform the atomic, send its old values to the core; note it in the directory")
{
    (void) gpc_act(writer_act_perform, x);
    return answer_writer(x, MCM_ATOMIC_DATA);
}

/* clang-format off */
static const gpc_patch_t l2_patches[] = {
    {L2_V, L2_GETS, GO(L2_V, act_answer_line), "the directory has owners of variables"},
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

const gpc_table_t lrm_l2_lines = {GPC_PATCHED_TABLE("L2", OVER_LINES, L2, "mcm", mcm_l2_lines, l2_patches, l2_classify),
                                  .causes = {ON(GPC_MSG_ACQUIRE, L2_DROP)}};

uint32_t
lrm_entries(const gpc_machine_t *machine, const int64_t *options)
{
    return mcm_bank_entries(machine, options[LRM_SYNC_ENTRIES], 16);
}

static const gpc_count_info_t counters[] = {LRM_COUNTERS(GPC_COUNT_INFO_, LRM_COUNT){NULL, NULL}};

const gpc_controller_type_t lrm_l2 = {
    LRM_L2,
    .tables = {&lrm_l2_lines, &mcm_l2_acquires, &lrm_directory},
    .parts = {LRM_DIRECTORY},
    .object_of = {0, 0, MCM_DIRECTORY},
    .counters = counters,
    .route = mcm_l2_route,
};

/* stc_turns.c: a CU's part in a change of epochs.
 *
 * Paper    Puthoor and Lipasti, TACO 2023, section 4.2.
 * Rules    PREPARE stops the stores; READY follows the last acknowledgement; at CHANGE the epochs to come become
 *          current, stores that wait for them become ready, and DONE follows. "During the end of every epoch" lines of
 *          its bands go from the sets that no access has touched: from PREPARE on, one set a cycle, the first in its
 *          cycle; DONE follows the last.
 * Hardened skew=next: PREPARE names the epochs to come, and from READY on loads honour them too, since another CU may
 *          have changed already; skew=resume and skew=sync are other cures.
 */
#include "protocols/spatiotemporal/stc_cu.h"

#define CU_EVENTS(X)                                                                                                   \
    X(CU_BEGIN, "a launch begins")                                                                                     \
    X(CU_PREPARE, "PREPARE, stores outstanding")                                                                       \
    X(CU_PREPARE_IDLE, "PREPARE, no store outstanding")                                                                \
    X(CU_DRAINED, "the last store is acknowledged")                                                                    \
    X(CU_CHANGE, "CHANGE, every set is clean")                                                                         \
    X(CU_CHANGE_EARLY, "CHANGE, untouched sets are being cleaned")                                                     \
    X(CU_SWEPT, "every set is clean")                                                                                  \
    X(CU_DEMAND_ACK, "DEMAND_ACK")                                                                                     \
    X(CU_RESUME, "RESUME")
GPC_FSM(CU, STC_CU_STATES, CU_EVENTS)

static gpc_event_id_t
cu_classify(const gpc_step_t *x)
{
    const stc_cu_unit_t *cu = stc_cu_unit(x->unit);
    switch (x->cause) {
        case STC_PREPARE:
            return cu->writes ? CU_PREPARE : CU_PREPARE_IDLE;
        case STC_CHANGE:
            return cu->sweeps ? CU_CHANGE_EARLY : CU_CHANGE;
        default:
            return GPC_NO_EVENT;
    }
}

GPC_ACTION(act_first, "before the first launch: the last epoch")
{
    stc_cu_unit_t *cu = stc_cu_unit(x->unit);
    if (cu->current == 0) {
        cu->current = UINT32_C(1) << (x->unit->options[STC_OPTION_EPOCHS] - 1);
        cu->seb = (uint8_t) x->unit->options[STC_OPTION_SEB];
    }
    cu->counted = gpc_now(x);
    return GPC_OK;
}

GPC_ACTION(act_stop, "note the epochs to come; no store is issued from now on")
{
    stc_cu_unit_t *cu = stc_cu_unit(x->unit);
    cu->next = (uint32_t) stc_message(x->msg)->epochs;
    cu->next_seb = (uint8_t) stc_message(x->msg)->seb;
    cu->drained = cu->writes != 0;
    return stc_each_blocked(x->unit, GPC_MSG_RELEASE);
}

GPC_ACTION(act_sweep, "lines of the current bands in untouched sets go, one set a cycle")
{
    gpc_controller_t *unit = x->unit;
    stc_cu_unit_t *cu = stc_cu_unit(unit);
    uint32_t sets = 0, end = unit->arrays[0].sets;
    int status = GPC_OK;

    for (uint32_t first = 0; first < end; first += 64) {
        uint64_t *touched = &cu->touched.bits[first / 64];
        uint64_t left = ~*touched & (end - first < 64 ? (UINT64_C(1) << (end - first)) - 1 : UINT64_MAX);
        for (; left && status == GPC_OK; left &= left - 1) {
            *touched |= left & -left;
            sets++;
            status = stc_clean_set(unit, first + (uint32_t) __builtin_ctzll(left), GPC_NEVER);
        }
    }
    unit->own_counters[STC_CU_sets_swept] += sets;
    cu->sweeps = sets > 1;
    return status || !cu->sweeps
               ? status
               : unit->ports->wake_at(unit->world, unit, gpc_now(x) + sets - 1, GPC_NEVER, 0, GPC_TIMER_NEEDED);
}

GPC_ACTION(act_swept, "DONE need not wait for the sweep")
{
    stc_cu_unit(x->unit)->sweeps = 0;
    return GPC_OK;
}

GPC_ACTION(act_honour, "loads of the epochs to come read at the L2; reads outstanding of them will not be kept")
{
    stc_cu_unit(x->unit)->honours = 1;
    return gpc_controller_walk_transactions(x->unit, GPC_MSG_EXPIRE);
}

GPC_ACTION(act_tell_ready, "READY; skew=next: honour the epochs to come")
{
    gpc_msg_t *msg = gpc_new_message(x, STC_READY, gpc_node_of(x->unit, GPC_AT_GLOBAL));
    msg->request = msg->lanes = GPC_NONE;
    stc_message(msg)->drained = stc_cu_unit(x->unit)->drained;
    GPC_TRY(gpc_send(x, msg));
    return x->unit->options[STC_OPTION_SKEW] == STC_SKEW_NEXT ? gpc_act(act_honour, x) : GPC_OK;
}

GPC_ACTION(act_change, "the epochs to come are current; reads outstanding of their bands will not be kept")
{
    gpc_controller_t *unit = x->unit;
    stc_cu_unit_t *cu = stc_cu_unit(unit);
    bool moved = cu->seb != cu->next_seb;

    cu->current = cu->next;
    cu->seb = cu->next_seb;
    cu->next = cu->honours = cu->sweeps = 0;
    cu->touched = (stc_touched_t){{0}};
    cu->demanded = moved ? 0 : cu->demanded & ~cu->current;
    cu->conflicts = moved ? 0 : cu->conflicts & ~cu->current;
    unit->own_counters[STC_CU_bsq_at_changes] += cu->blocked;
    if (moved) {
        stc_count_bands(unit);
    }
    return gpc_controller_walk_transactions(unit, GPC_MSG_EXPIRE);
}

GPC_ACTION(act_look_again, "the stores that are blocked and granted become ready")
{
    return stc_each_blocked(x->unit, GPC_MSG_EXPIRE);
}

GPC_ACTION(act_tell_done, "DONE")
{
    return stc_tell_emu(x, STC_DONE, 0);
}

/* clang-format off */
static const gpc_cell_t cu_table[CU_NUM_STATES][CU_NUM_EVENTS] = {
    [CU_RUN] = {
        [CU_BEGIN] = GO(CU_RUN, act_first),
        [CU_PREPARE] = GO(CU_DRAIN, act_stop, act_sweep),
        [CU_PREPARE_IDLE] = GO(CU_READY, act_stop, act_sweep, act_tell_ready),
        [CU_DEMAND_ACK] = GO(CU_RUN),
    },
    [CU_DRAIN] = {
        [CU_DRAINED] = GO(CU_READY, act_tell_ready),
        [CU_SWEPT] = GO(CU_DRAIN, act_swept),
        [CU_DEMAND_ACK] = GO(CU_DRAIN),
    },
    [CU_READY] = {
        [CU_CHANGE] = GO(CU_RUN, act_change, act_look_again, act_tell_done),
        [CU_CHANGE_EARLY] = GO(CU_SWEEP, act_honour),
        [CU_SWEPT] = GO(CU_READY, act_swept),
        [CU_DEMAND_ACK] = GO(CU_READY),
    },
    [CU_SWEEP] = {
        [CU_SWEPT] = GO(CU_RUN, act_change, act_look_again, act_tell_done),
        [CU_DEMAND_ACK] = GO(CU_SWEEP),
    },
};

static const gpc_patch_t resume_patches[] = {
    {CU_READY, CU_CHANGE, GO(CU_WAIT, act_change, act_tell_done), "stores stay blocked until every CU has changed"},
    {CU_SWEEP, CU_SWEPT, GO(CU_WAIT, act_change, act_tell_done), NULL},
    {CU_WAIT, CU_RESUME, GO(CU_RUN, act_look_again), NULL},
    {CU_WAIT, CU_DEMAND_ACK, GO(CU_WAIT), NULL},
};
/* clang-format on */

const gpc_table_t stc_turns = {GPC_TABLE("L1.epochs", OVER_UNIT, CU, cu_table, cu_classify),
                               .causes = {ON(GPC_MSG_KERNEL_BEGIN, CU_BEGIN), ON(GPC_MSG_INSTANT, CU_DRAINED),
                                          ON(GPC_MSG_TIMER, CU_SWEPT), ON(STC_DEMAND_ACK, CU_DEMAND_ACK)}};
const gpc_table_t stc_turns_resuming = {
    GPC_PATCHED_TABLE("L1.epochs", OVER_UNIT, CU, "stc-nv", stc_turns, resume_patches, cu_classify),
    .causes = {ON(STC_RESUME, CU_RESUME)}};

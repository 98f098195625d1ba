/* mesi_wt_l1.c: MESI-WT's L1: write-through, no write allocation. mesi_wt.c describes the protocol.
 *
 * Table    of `gpucoh protocols mesi-wt[exclusive=on]`, L1
 *          Next states (hold: HOLD_LINE, queue: HOLD_QUEUE, keep: NOT_A_VICTIM); * differs from
 *          mesi-wt's (40 cells), for the reasons at the patches. tools/derived_tables.py
 *          writes it.
 *                    I   S   IS     II   SM    E    M    MM     IS_S
 *   LOAD             IS  S   IS     II   SM    *E   *M   *MM    *IS_S
 *   STORE            II  SM  II     II   SM    *MM  *MM  *MM    *II
 *   ATOMIC           II  II  II     II   II    *II  *II  *hold  *II
 *   EVICT                I   keep        keep  *I   *I   *keep  *keep
 *   DATA                            II
 *   LAST_DATA                S      I                           *S
 *   ACK                             II
 *   LAST_ACK                        I
 *   INV              I   I   II     II   II    *I   *I   *II    *II
 *   KEPT                            II   SM
 *   LAST_KEPT                       *-   *-
 *   LAST_OWNED                      *I   *M
 *   DATA_E                   *E                                 *S
 *   DOWNGRADE        *I      *IS_S  *II  *SM   *S   *S   *SM
 *   BEHIND_ACK                      *II  *SM             *MM
 *   LAST_BEHIND_ACK                 *I   *S              *M
 */
#include "protocols/invalidation/mesi_wt.h"

/* ---- states and events --------------------------------------------------------------------------------------------------- */

#define L1_EVENTS(X)                                                                                   \
    BASELINE_L1_EVENTS(X)                                                                              \
    X(L1_INV, "invalidation by another core's write, or recall by the L2")                             \
    X(L1_KEPT, "store performed, the copy may be kept; other requests outstanding")                    \
    X(L1_LAST_KEPT, "store performed, the copy may be kept; last request outstanding")                 \
    X(L1_LAST_OWNED, "store performed, the copy is the only one; last request outstanding")            \
    X(L1_DATA_E, "line to read, exclusive")                                                            \
    X(L1_DOWNGRADE, "another L1 reads the line")                                                       \
    X(L1_BEHIND_ACK, "write acknowledged; other requests outstanding")                                 \
    X(L1_LAST_BEHIND_ACK, "write acknowledged; last request outstanding")

GPC_FSM(L1, MWT_L1_STATES, L1_EVENTS)
BASELINE_L1_EVENTS(BASELINE_SAME)

static gpc_event_id_t
l1_classify(const gpc_step_t *x)
{
    bool last = gpc_is_last_answer(x);

    switch (x->cause) {
        case MWT_INV:
        case MWT_RECALL:
            return L1_INV;
        case MWT_ACK_KEPT:
            return last ? L1_LAST_KEPT : L1_KEPT;
        case MWT_ACK_OWNED: /* while others are outstanding, the L2 decides again */
            return last ? L1_LAST_OWNED : L1_KEPT;
        case MWT_DATA_E:
            return x->state == L1_IS || x->state == L1_IS_S ? L1_DATA_E : last ? L1_LAST_DATA : L1_DATA;
        case MWT_DOWNGRADE:
            return L1_DOWNGRADE;
        case MWT_BEHIND_ACK:
            return last ? L1_LAST_BEHIND_ACK : L1_BEHIND_ACK;
        default:
            return baseline_l1_classify(x);
    }
}

/* ---- actions --------------------------------------------------------------------------------------------------------------- */

GPC_ACTION(act_acknowledge, "send INV_ACK or RECALL_ACK")
{
    return gpc_send(x, gpc_new_answer(x, x->message, x->cause == MWT_INV ? MWT_INV_ACK : MWT_RECALL_ACK));
}

GPC_ACTION(act_acknowledge_downgrade, "send DOWNGRADE_ACK")
{
    return gpc_send(x, gpc_new_answer(x, x->message, MWT_DOWNGRADE_ACK));
}

/* No other L1 reads the new value before: the L2 blocks the line until UNBLOCK. */
GPC_ACTION(act_perform_kept, "the store that the answer names is performed, on the copy too if there is one")
{
    GPC_FOR_PENDING(x, store)
    {
        if (store->request == x->msg->request) {
            if (x->way != GPC_NONE) {
                gpc_merge_words(gpc_line_words(x), store->data, store->mask);
            }
            return gpc_note_performed(x, gpc_msg_index(x->unit->messages, store), 0);
        }
    }
    return GPC_OK;
}

GPC_ACTION(act_unblock, "send UNBLOCK")
{
    gpc_msg_t *msg = gpc_new_answer(x, x->message, MWT_UNBLOCK);
    msg->request = GPC_NONE; /* the store is complete */
    return gpc_send(x, msg);
}

GPC_ACTION(act_write_behind, "send WRITE_BEHIND with the store's words")
{
    gpc_msg_t *msg = gpc_new_request(x, MWT_WRITE_BEHIND);
    msg->request = GPC_NONE; /* the store is complete */
    return gpc_send_outstanding(x, msg);
}

GPC_ACTION(act_perform_owned, "perform the store on the only copy")
{
    gpc_merge_words(gpc_line_words(x), x->msg->data, x->msg->mask);
    int status = gpc_note_performed(x, x->message, 0);
    return status ? status : gpc_complete(x, x->message, gpc_line_words(x), true);
}

GPC_ACTION(act_count_written, "count an acknowledged write")
{
    gpc_requests_mshr(x)->outstanding--;
    return GPC_OK;
}

/* ---- the tables. A held atomic waits for acknowledgements of writes, which the L2 never holds. --------------------------------- */

/* clang-format off */
static const gpc_cell_t l1_table[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_I] = {
        [L1_LOAD] = GO(L1_IS, act_reserve_way, act_request_line),
        [L1_STORE] = GO(L1_II, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_send_atomic),
        [L1_INV] = GO(L1_I, act_acknowledge), /* silently evicted: the L2's sharer list is a superset */
    },
    [L1_S] = {
        [L1_LOAD] = GO(L1_S, act_hit),
        [L1_STORE] = GO(L1_SM, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_release_way, act_send_atomic),
        [L1_EVICT] = GO(L1_I),
        [L1_INV] = GO(L1_I, act_count_invalidation, act_acknowledge),
    },
    [L1_SM] = { /* the old value is readable: the store is performed when its acknowledgement arrives */
        [L1_LOAD] = GO(L1_SM, act_hit),
        [L1_STORE] = GO(L1_SM, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_release_way, act_send_atomic),
        [L1_EVICT] = NOT_A_VICTIM,
        [L1_INV] = GO(L1_II, act_count_invalidation, act_release_way, act_acknowledge),
        [L1_KEPT] = GO(L1_SM, act_perform_kept, act_complete, act_unblock),
        [L1_LAST_KEPT] = GO(L1_S, act_perform_kept, act_complete, act_unblock),
    },
    [L1_IS] = {
        [L1_LOAD] = GO(L1_IS, act_merge_load),
        [L1_STORE] = GO(L1_II, act_release_way, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_release_way, act_send_atomic),
        [L1_EVICT] = NOT_A_VICTIM, /* the way is reserved for the fill */
        [L1_INV] = GO(L1_II, act_count_invalidation, act_release_way, act_acknowledge), /* may have overtaken the data */
        [L1_LAST_DATA] = GO(L1_S, act_fill, act_complete),
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
        [L1_KEPT] = GO(L1_II, act_perform_kept, act_complete, act_unblock),
        [L1_LAST_KEPT] = GO(L1_I, act_perform_kept, act_complete, act_unblock),
    },
};
/* clang-format on */

static const gpc_patch_t exclusive_patches[] = {
    {L1_IS, L1_DATA_E, GO(L1_E, act_fill, act_complete), "the only reader receives the line in E"},
    {L1_E, L1_LOAD, GO(L1_E, act_hit), NULL},
    {L1_M, L1_LOAD, GO(L1_M, act_hit), NULL},
    {L1_MM, L1_LOAD, GO(L1_MM, act_hit), NULL},
    {L1_SM, L1_LAST_OWNED, GO(L1_M, act_perform_kept, act_complete, act_unblock), "a sharer's store leads to M"},
    {L1_II, L1_LAST_OWNED, GO(L1_I, act_perform_kept, act_complete, act_unblock), NULL},
    {L1_E, L1_STORE, GO(L1_MM, act_write_behind, act_perform_owned),
     "the owner's store completes here and is sent behind"},
    {L1_M, L1_STORE, GO(L1_MM, act_write_behind, act_perform_owned), NULL},
    {L1_MM, L1_STORE, GO(L1_MM, act_write_behind, act_perform_owned), NULL},
    {L1_MM, L1_BEHIND_ACK, GO(L1_MM, act_count_written), NULL},
    {L1_MM, L1_LAST_BEHIND_ACK, GO(L1_M, act_count_written), NULL},
    {L1_SM, L1_BEHIND_ACK, GO(L1_SM, act_count_written), NULL},
    {L1_SM, L1_LAST_BEHIND_ACK, GO(L1_S, act_count_written), NULL},
    {L1_II, L1_BEHIND_ACK, GO(L1_II, act_count_written), NULL},
    {L1_II, L1_LAST_BEHIND_ACK, GO(L1_I, act_count_written), NULL},
    {L1_E, L1_EVICT, GO(L1_I), "silent: the L2 has every write, and takes this L1 for the owner"},
    {L1_M, L1_EVICT, GO(L1_I), NULL},
    {L1_MM, L1_EVICT, NOT_A_VICTIM, "writes are on their way"},
    {L1_E, L1_ATOMIC, GO(L1_II, act_release_way, act_send_atomic), "performed at the L2, as in S"},
    {L1_M, L1_ATOMIC, GO(L1_II, act_release_way, act_send_atomic), NULL},
    {L1_MM, L1_ATOMIC, HOLD_LINE, "it would overtake the writes, which travel on another network"},
    {L1_E, L1_INV, GO(L1_I, act_count_invalidation, act_acknowledge), "an owner gives up its copy as a sharer does"},
    {L1_M, L1_INV, GO(L1_I, act_count_invalidation, act_acknowledge), NULL},
    {L1_MM, L1_INV, GO(L1_II, act_count_invalidation, act_release_way, act_acknowledge), NULL},
    {L1_E, L1_DOWNGRADE, GO(L1_S, act_acknowledge_downgrade), "another L1 reads the line"},
    {L1_M, L1_DOWNGRADE, GO(L1_S, act_acknowledge_downgrade), NULL},
    {L1_MM, L1_DOWNGRADE, GO(L1_SM, act_acknowledge_downgrade),
     "the acknowledgement is on the network of the writes, behind them"},
    {L1_I, L1_DOWNGRADE, GO(L1_I, act_acknowledge_downgrade), "the copy has left, or is about to"},
    {L1_SM, L1_DOWNGRADE, GO(L1_SM, act_acknowledge_downgrade), NULL},
    {L1_II, L1_DOWNGRADE, GO(L1_II, act_acknowledge_downgrade), NULL},
    {L1_IS, L1_DOWNGRADE, GO(L1_IS_S, act_acknowledge_downgrade),
     "it may have overtaken DATA_E: the line will be shared"},
    {L1_IS_S, L1_DATA_E, GO(L1_S, act_fill, act_complete), NULL},
    {L1_IS_S, L1_LAST_DATA, GO(L1_S, act_fill, act_complete), "as in IS"},
    {L1_IS_S, L1_LOAD, GO(L1_IS_S, act_merge_load), NULL},
    {L1_IS_S, L1_STORE, GO(L1_II, act_release_way, act_write_through), NULL},
    {L1_IS_S, L1_ATOMIC, GO(L1_II, act_release_way, act_send_atomic), NULL},
    {L1_IS_S, L1_EVICT, NOT_A_VICTIM, NULL},
    {L1_IS_S, L1_INV, GO(L1_II, act_count_invalidation, act_release_way, act_acknowledge), NULL},
    {L1_SM, L1_LAST_KEPT, IMPOSSIBLE, "the last answer to a sharer's stores is ACK_OWNED"},
    {L1_II, L1_LAST_KEPT, IMPOSSIBLE, NULL},
};

static const gpc_table_t l1 = {GPC_TABLE("L1", OVER_LINES, L1, l1_table, l1_classify)};
static const gpc_table_t exclusive = {
    GPC_PATCHED_TABLE("L1", OVER_LINES, L1, "mesi-wt", l1, exclusive_patches, l1_classify)};

const gpc_controller_type_t mwt_l1 = {
    .name = "L1",
    .position = GPC_AT_CORE,
    .tables = {&l1},
    .variants = {{.table = 0, .option = MWT_OPTION_EXCLUSIVE, .value = MWT_EXCLUSIVE_ON, .by = &exclusive}},
    .arrays = {{.name = "tags", .line = baseline_l1_line_described, .has_data = true}},
    .mshr = gpc_requests_mshr_described,
};

/* mesi_wt_l1.c: MESI-WT's L1: write-through, no write allocation. mesi_wt.c describes the protocol. */
#include "cache/rmw.h"
#include "protocols/invalidation/mesi_wt.h"

/* ---- states and events ------------------------------------------------------------------------------------------- */

#define L1_EVENTS(X)                                                                                   \
    X(L1_LOAD, "coalesced load of a warp")                                                             \
    X(L1_STORE, "coalesced store of a warp, with its word mask")                                       \
    X(L1_ATOMIC, "atomic read-modify-writes with their lane list")                                     \
    X(L1_EVICT, "way chosen for replacement")                                                          \
    X(L1_DATA, "answer to the outstanding read, or old values for the outstanding atomics")            \
    X(L1_ACK, "the outstanding store may be performed")                                                \
    X(L1_INV, "invalidation by another core's write, or recall by the L2")                             \
    X(L1_STORE_MERGED, "store that will be performed with the outstanding write")                      \
    X(L1_ATOMIC_MERGED, "atomic that will be performed with the outstanding write")                    \
    X(L1_DATA_E, "line to read, exclusive")                                                            \
    X(L1_DOWNGRADE, "another L1 reads the line")                                                       \
    X(L1_BEHIND_ACK, "own write is in the L2")

GPC_FSM(L1, MWT_L1_STATES, L1_EVENTS)

enum { FLAG_NARROW = GPC_MSG_FLAG_OWN }; /* a narrow store, whose lane list is in flight */

static bool
is_narrow_store(const gpc_step_t *x, const gpc_msg_t *write)
{
    return write->lanes == GPC_NONE
               ? write->flags & FLAG_NARROW
               : gpc_lane_list_at(x->unit->lane_lists, write->lanes)->operation == GPC_ATOMIC_MERGE;
}

static bool
is_store(const gpc_step_t *x, const gpc_msg_t *write)
{
    return write->type == GPC_MSG_STORE || is_narrow_store(x, write);
}

/* Whether the store or atomic will be performed with the outstanding write. An atomic needs its words: those that the
 * writes before it have stored or read are known when the answer has arrived, those of a copy are not, because the copy
 * may be invalidated until then. */
static bool
merges(const gpc_step_t *x)
{
    int64_t mshr = x->unit->options[MWT_OPTION_MSHR];
    gpc_mask_t known = GPC_NO_WORDS;

    if ((x->state != L1_II && x->state != L1_SM) || mshr == MWT_MSHR_STALL) {
        return false;
    }
    if (mshr == MWT_MSHR_STORES || is_store(x, x->msg)) {
        return is_store(x, x->msg) && (mshr == MWT_MSHR_MERGE || is_store(x, gpc_first_pending(x)));
    }
    GPC_FOR_PENDING(x, write)
    {
        known |= is_narrow_store(x, write) ? GPC_NO_WORDS : write->mask;
    }
    return (x->msg->mask & ~known) == GPC_NO_WORDS;
}

static gpc_event_id_t
l1_classify(const gpc_step_t *x)
{
    switch (x->cause) {
        case GPC_MSG_STORE:
            return merges(x) ? L1_STORE_MERGED : L1_STORE;
        case GPC_MSG_ATOMIC:
            return merges(x) ? L1_ATOMIC_MERGED : L1_ATOMIC;
        default:
            return GPC_NO_EVENT;
    }
}

/* ---- actions ----------------------------------------------------------------------------------------------------- */

GPC_ACTION(act_acknowledge, "send INV_ACK or RECALL_ACK")
{
    return gpc_send(x, gpc_new_answer(x, x->message, x->cause == MWT_INV ? MWT_INV_ACK : MWT_RECALL_ACK));
}

GPC_ACTION(act_acknowledge_downgrade, "send DOWNGRADE_ACK")
{
    return gpc_send(x, gpc_new_answer(x, x->message, MWT_DOWNGRADE_ACK));
}

GPC_ACTION(act_send_changes, "send ATOMIC with the lane list of the atomic or narrow store, which becomes pending")
{
    x->msg->flags |= is_narrow_store(x, x->msg) ? FLAG_NARROW : 0;
    return gpc_act(act_send_atomic, x);
}

GPC_ACTION(act_merge_write, "merge the write with the outstanding one")
{
    return gpc_join_pending(x);
}

/* The L2 blocks the line until UNBLOCK, so that no other L1 reads or writes it. The answer has the line's words for the
 * bytes beside narrow stores, because messages know words only; now they become those that all these writes leave, and
 * its mask those of the merged ones. */
GPC_ACTION(act_perform_merged, "perform the merged writes on the words of the answered one")
{
    const gpc_msg_t *answered = gpc_first_pending(x);

    x->msg->mask = GPC_NO_WORDS;
    for (gpc_msg_t *write = gpc_next_pending(x, answered); write; write = gpc_next_pending(x, write)) {
        gpc_mask_t written = write->mask;
        if (write->lanes == GPC_NONE) {
            gpc_merge_words(x->msg->data, write->data, write->mask);
        } else {
            written = gpc_rmw_perform(gpc_lane_list_at(x->unit->lane_lists, write->lanes), x->msg->data);
        }
        x->msg->mask |= written;
        GPC_TRY(gpc_note_performed(x, gpc_msg_index(x->unit->messages, write), 0));
    }
    return GPC_OK;
}

GPC_ACTION(act_update_copy, "write all these words into the copy")
{
    gpc_merge_words(gpc_line_words(x), x->msg->data, x->msg->mask | gpc_first_pending(x)->mask);
    return GPC_OK;
}

GPC_ACTION(act_complete_writes, "complete the write that this answer names, and those merged with it")
{
    gpc_requests_mshr(x)->outstanding--;
    gpc_first_pending(x)->lanes = x->msg->lanes;
    x->msg->lanes = GPC_NONE;
    return gpc_complete_pending(x, x->msg->data);
}

GPC_ACTION(act_unblock, "send UNBLOCK, with the words of the merged writes if there are any")
{
    bool merged = x->msg->mask != GPC_NO_WORDS;
    gpc_msg_t *msg = gpc_new_message(x, merged ? MWT_UNBLOCK_WORDS : MWT_UNBLOCK, x->msg->source);

    msg->request = GPC_NONE; /* the writes are complete */
    if (merged) {
        gpc_carry(x, msg, x->msg->mask, x->msg->data);
    }
    return gpc_send(x, msg);
}

GPC_ACTION(act_perform_owned, "perform the write on the only copy")
{
    uint32_t *words = gpc_line_words(x);

    if (x->msg->lanes == GPC_NONE) {
        gpc_merge_words(words, x->msg->data, x->msg->mask);
    } else {
        (void) gpc_rmw_perform(gpc_lane_list_at(x->unit->lane_lists, x->msg->lanes), words);
    }
    return gpc_note_performed(x, x->message, 0);
}

GPC_ACTION(act_write_behind, "send WRITE_BEHIND with the words of the write")
{
    gpc_msg_t *msg = gpc_new_message(x, MWT_WRITE_BEHIND, gpc_home_of(x->unit, x->line));
    msg->request = GPC_NONE; /* the write is complete */
    gpc_carry(x, msg, x->msg->mask, gpc_line_words(x));
    return gpc_send(x, msg);
}

GPC_ACTION(act_complete_owned, "complete the write")
{
    return gpc_complete(x, x->message, gpc_line_words(x), true);
}

/* ---- the tables. A held request waits for an answer: the L2 holds the request behind it until other L1s' answers have
 * been received, or fetches the line.
 * ----------------------------------------------------------------------------------------------------------- */

/* clang-format off */
static const gpc_cell_t l1_table[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_I] = {
        [L1_LOAD] = GO(L1_IS, act_reserve_way, act_request_line),
        [L1_STORE] = GO(L1_II, act_write_through),
        [L1_ATOMIC] = GO(L1_II, act_send_changes),
        [L1_INV] = GO(L1_I, act_acknowledge), /* silently evicted: the L2's sharer list is a superset */
    },
    [L1_S] = {
        [L1_LOAD] = GO(L1_S, act_hit),
        [L1_STORE] = GO(L1_SM, act_write_through),
        [L1_ATOMIC] = GO(L1_SM, act_send_changes),
        [L1_EVICT] = GO(L1_I),
        [L1_INV] = GO(L1_I, act_count_invalidation, act_acknowledge),
    },
    [L1_IS] = {
        [L1_LOAD] = GO(L1_IS, act_merge_load),
        [L1_STORE] = HOLD_LINE,
        [L1_ATOMIC] = HOLD_LINE,
        [L1_EVICT] = NOT_A_VICTIM, /* the way is reserved for the fill */
        /* may have overtaken the data */
        [L1_INV] = GO(L1_IS_I, act_count_invalidation, act_release_way, act_acknowledge),
        [L1_DATA] = GO(L1_S, act_fill, act_complete),
    },
    [L1_IS_I] = { /* no way: never a victim */
        [L1_LOAD] = HOLD_LINE, /* no merging: the outstanding read may predate the invalidation */
        [L1_STORE] = HOLD_LINE,
        [L1_ATOMIC] = HOLD_LINE,
        [L1_INV] = GO(L1_IS_I, act_acknowledge),
        [L1_DATA] = GO(L1_I, act_complete),
    },
    [L1_II] = { /* no way: never a victim */
        [L1_LOAD] = HOLD_LINE,
        [L1_STORE] = HOLD_LINE,
        [L1_STORE_MERGED] = GO(L1_II, act_merge_write),
        [L1_ATOMIC] = HOLD_LINE,
        [L1_ATOMIC_MERGED] = GO(L1_II, act_merge_write),
        [L1_INV] = GO(L1_II, act_acknowledge),
        [L1_ACK] = GO(L1_I, act_perform_merged, act_complete_writes, act_unblock),
        [L1_DATA] = GO(L1_I, act_perform_merged, act_complete_writes, act_unblock),
    },
    [L1_SM] = {
        [L1_LOAD] = HOLD_LINE,
        [L1_STORE] = HOLD_LINE,
        [L1_STORE_MERGED] = GO(L1_SM, act_merge_write),
        [L1_ATOMIC] = HOLD_LINE,
        [L1_ATOMIC_MERGED] = GO(L1_SM, act_merge_write),
        [L1_EVICT] = NOT_A_VICTIM,
        [L1_INV] = GO(L1_II, act_count_invalidation, act_release_way, act_acknowledge),
        [L1_ACK] = GO(L1_S, act_perform_merged, act_update_copy, act_complete_writes, act_unblock),
        [L1_DATA] = GO(L1_S, act_perform_merged, act_update_copy, act_complete_writes, act_unblock),
    },
};

#define HOLD_REQUESTS(state, reason)                                                                                    \
    {state, L1_LOAD, HOLD_LINE, reason}, {state, L1_STORE, HOLD_LINE, NULL}, {state, L1_ATOMIC, HOLD_LINE, NULL}

static const gpc_patch_t exclusive_patches[] = {
    {L1_IS, L1_DATA_E, GO(L1_E, act_fill, act_complete), "the only reader receives the line in E"},
    {L1_IS_I, L1_DATA_E, GO(L1_I, act_complete), NULL},
    {L1_E, L1_LOAD, GO(L1_E, act_hit), NULL},
    {L1_M, L1_LOAD, GO(L1_M, act_hit), NULL},
    {L1_SM, L1_ACK, GO(L1_M, act_perform_merged, act_update_copy, act_complete_writes, act_unblock),
     "a sharer's write leads to M"},
    {L1_SM, L1_DATA, GO(L1_M, act_perform_merged, act_update_copy, act_complete_writes, act_unblock), NULL},
    {L1_E, L1_STORE, GO(L1_MM, act_perform_owned, act_write_behind, act_complete_owned),
     "the owner's write completes here and is sent behind"},
    {L1_E, L1_ATOMIC, GO(L1_MM, act_perform_owned, act_write_behind, act_complete_owned), NULL},
    {L1_M, L1_STORE, GO(L1_MM, act_perform_owned, act_write_behind, act_complete_owned), NULL},
    {L1_M, L1_ATOMIC, GO(L1_MM, act_perform_owned, act_write_behind, act_complete_owned), NULL},
    HOLD_REQUESTS(L1_MM, "one write at a time is in flight"),
    HOLD_REQUESTS(L1_MM_S, NULL),
    HOLD_REQUESTS(L1_MM_I, NULL),
    {L1_MM, L1_BEHIND_ACK, GO(L1_M), NULL},
    {L1_MM_S, L1_BEHIND_ACK, GO(L1_S), NULL},
    {L1_MM_I, L1_BEHIND_ACK, GO(L1_I), NULL},
    {L1_E, L1_EVICT, GO(L1_I), "silent: the L2 has every write, and takes this L1 for the owner"},
    {L1_M, L1_EVICT, GO(L1_I), NULL},
    {L1_MM, L1_EVICT, NOT_A_VICTIM, "a write is in flight"},
    {L1_MM_S, L1_EVICT, NOT_A_VICTIM, NULL},
    {L1_E, L1_INV, GO(L1_I, act_count_invalidation, act_acknowledge), "an owner gives up its copy as a sharer does"},
    {L1_M, L1_INV, GO(L1_I, act_count_invalidation, act_acknowledge), NULL},
    {L1_MM, L1_INV, GO(L1_MM_I, act_count_invalidation, act_release_way, act_acknowledge), NULL},
    {L1_MM_S, L1_INV, GO(L1_MM_I, act_count_invalidation, act_release_way, act_acknowledge), NULL},
    {L1_E, L1_DOWNGRADE, GO(L1_S, act_acknowledge_downgrade), "another L1 reads the line"},
    {L1_M, L1_DOWNGRADE, GO(L1_S, act_acknowledge_downgrade), NULL},
    {L1_MM, L1_DOWNGRADE, GO(L1_MM_S, act_acknowledge_downgrade),
     "the acknowledgement is on the network of the writes, behind them"},
    {L1_I, L1_DOWNGRADE, GO(L1_I, act_acknowledge_downgrade), "the copy has left, or is about to"},
    {L1_II, L1_DOWNGRADE, GO(L1_II, act_acknowledge_downgrade), NULL},
    {L1_IS_I, L1_DOWNGRADE, GO(L1_IS_I, act_acknowledge_downgrade), NULL},
    {L1_IS, L1_DOWNGRADE, GO(L1_IS_S, act_acknowledge_downgrade),
     "it may have overtaken DATA_E: the line will be shared"},
    {L1_IS_S, L1_DATA_E, GO(L1_S, act_fill, act_complete), NULL},
    {L1_IS_S, L1_DATA, GO(L1_S, act_fill, act_complete), "as in IS"},
    {L1_IS_S, L1_LOAD, GO(L1_IS_S, act_merge_load), NULL},
    {L1_IS_S, L1_STORE, HOLD_LINE, NULL},
    {L1_IS_S, L1_ATOMIC, HOLD_LINE, NULL},
    {L1_IS_S, L1_EVICT, NOT_A_VICTIM, NULL},
    {L1_IS_S, L1_INV, GO(L1_IS_I, act_count_invalidation, act_release_way, act_acknowledge), NULL},
};
/* clang-format on */

static const gpc_table_t l1 = {GPC_TABLE("L1", OVER_LINES, L1, l1_table, l1_classify),
                               .causes = {ON_SAME(GPC_MSG, L1, LOAD, EVICT), ON(MWT_ATOMIC_DATA, L1_DATA),
                                          ON(MWT_RECALL, L1_INV), ON_SAME(MWT, L1, DATA, ACK, INV)}};
static const gpc_table_t exclusive = {
    GPC_PATCHED_TABLE("L1", OVER_LINES, L1, "mesi-wt", l1, exclusive_patches, l1_classify),
    .causes = {ON_SAME(MWT, L1, DATA_E, DOWNGRADE, BEHIND_ACK)}};

const gpc_controller_type_t mwt_l1 = {
    .name = "L1",
    .position = GPC_AT_CORE,
    .tables = {&l1},
    .variants = {{.table = 0, .option = MWT_OPTION_EXCLUSIVE, .value = MWT_EXCLUSIVE_ON, .by = &exclusive}},
    .arrays = {{.name = "tags", .line = baseline_l1_line_described, .has_data = true}},
    .mshr = gpc_requests_mshr_described,
};

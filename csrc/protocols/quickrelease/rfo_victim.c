/* rfo_victim.c: rfo's directory: the L2 is one more cache that it tracks. rfo.c describes the protocol, rfo_l2.c has
 * the directory of l2=store.
 *
 * Paper    Hechtman et al., HPCA 2014, section 2.4.2: the directory is "inclusive of the L1s and L2" and recalls "from
 *          the L1 or L2"; of a data store nothing is said. The paper prints no table; the cells follow the authors'
 *          public code (gem5, GPU_RfO-TCP.sm, -TCC.sm, -TCCdir.sm): only victims of L1s fill the L2, clean ones too. A
 *          sharer's victim is dropped while another cache has the line, else the L2 asks for the line. The L2 keeps a
 *          line that L1s read. For a line that the L2 lacks, the owner answers, else every sharer; all answers go
 *          through the directory, where reads that come meanwhile share them.
 * Differs  the L2 is at the directory, which reads its tags without a message. It answers reads alone; in the public
 *          code sharers answer too, unless the L2 owns the line. Owners' victims bring the line, which the L2 there
 *          requests first. A write for which an L1 or the L2 has the line needs nothing of the memory side; there it
 *          waits for the directory of the CPUs. Reads merge also while an L1 alone has the line.
 */
#include "protocols/quickrelease/rfo_directory.h"

#define L2_STATES(X)                                                                                                   \
    X(L2_U, STABLE, "no entry, no data")                                                                               \
    X(L2_V, STABLE, "the L2 alone has the line")                                                                       \
    X(L2_S, STABLE, "L2 and L1s share the line")                                                                       \
    X(L2_N, STABLE, "L1s share the line; the L2 lacks it")                                                             \
    X(L2_EM, STABLE, "one L1 alone has the line")                                                                      \
    X(L2_O, STABLE, "one L1 owns the line, others share it; the L2 lacks it")                                          \
    X(L2_F, TRANSIENT_CACHE, "line read for the only L1 that will have it")                                            \
    X(L2_PN, TRANSIENT_COHERENCE, "reads pending; answers of all sharers outstanding")                                 \
    X(L2_PO, TRANSIENT_COHERENCE, "reads pending; the owner's answer outstanding")                                     \
    X(L2_PX, TRANSIENT_COHERENCE, "write pending; answers of all other L1s with the line outstanding")                 \
    X(L2_PV, TRANSIENT_COHERENCE, "the last sharer evicts the line; its answer outstanding")                           \
    X(L2_BS, TRANSIENT_COHERENCE, "a reader shares the line with the L2; its UNBLOCK outstanding")                     \
    X(L2_BN, TRANSIENT_COHERENCE, "readers share the line; UNBLOCKs outstanding")                                      \
    X(L2_BO, TRANSIENT_COHERENCE, "readers share the owner's line; UNBLOCKs outstanding")                              \
    X(L2_BM, TRANSIENT_COHERENCE, "an L1 becomes the only one with the line; its UNBLOCK outstanding")                 \
    X(L2_RB, TRANSIENT_COHERENCE, "entry evicted; recall outstanding")
#define L2_EVENTS(X)                                                                                                   \
    X(L2_GETS, "read request")                                                                                         \
    X(L2_GETX, "write request from an L1 that is not listed, or while another one owns the line")                      \
    X(L2_UPG, "upgrade request from a sharer of an unowned line, or from the owner; other L1s share it")               \
    X(L2_UPG_ALONE, "the same; no other L1 shares the line")                                                           \
    X(L2_PUT, "owner's eviction; L1s share the line")                                                                  \
    X(L2_PUT_ALONE, "owner's eviction; no L1 shares the line")                                                         \
    X(L2_PUT_S, "sharer's eviction; another L1 has the line")                                                          \
    X(L2_PUT_S_LAST, "sharer's eviction; no other L1 has the line")                                                    \
    X(L2_PUT_OLD, "eviction of an L1 that is no longer listed so")                                                     \
    X(L2_EVICT_DATA, "data way chosen for replacement; memory is up to date")                                          \
    X(L2_EVICT_DIRTY, "data way chosen for replacement; memory is behind")                                             \
    X(L2_EVICT_ENTRY, "directory way chosen for replacement; memory is up to date, or the owner has the line")         \
    X(L2_EVICT_ENTRY_DIRTY, "directory way chosen for replacement; the L2 has the line, memory is behind")             \
    X(L2_LINE, "line from the memory side")                                                                            \
    X(L2_ANSWER, "an L1 answers, a recall too; others outstanding")                                                    \
    X(L2_LAST_LINE, "last answer, with the line")                                                                      \
    X(L2_LAST_ACK, "last answer, without the line")                                                                    \
    X(L2_UNBLOCK, "a reader is done; others outstanding")                                                              \
    X(L2_LAST_UNBLOCK, "the requester, or the last reader, is done")                                                   \
    X(L2_LAST_RECALLED, "last answer to the recall")
GPC_FSM(L2, L2_STATES, L2_EVENTS)

/* ---- classification ---------------------------------------------------------------------------------------------- */

static bool
owns(const gpc_step_t *x)
{
    return (x->state == L2_EM || x->state == L2_O) && rfo_entry_of(x)->owner == x->msg->source;
}

static bool
shares(const gpc_step_t *x)
{
    return (x->state == L2_S || x->state == L2_N || x->state == L2_O) &&
           gpc_nodeset_has(gpc_sharers(x), x->msg->source);
}

static gpc_event_id_t
classify_put(const gpc_step_t *x)
{
    if (x->cause == RFO_PUT) {
        return !owns(x) ? L2_PUT_OLD : gpc_nodeset_count(gpc_sharers(x)) ? L2_PUT : L2_PUT_ALONE;
    }
    return !shares(x) ? L2_PUT_OLD : x->state == L2_O || gpc_others_share(x) ? L2_PUT_S : L2_PUT_S_LAST;
}

static gpc_event_id_t
classify_upgrade(const gpc_step_t *x)
{
    if (x->state == L2_O ? !owns(x) : !shares(x)) {
        return L2_GETX;
    }
    return gpc_others_share(x) ? L2_UPG : L2_UPG_ALONE;
}

static gpc_event_id_t
classify_eviction(const gpc_step_t *x)
{
    bool dirty = (x->state == L2_V || x->state == L2_S) && rfo_entry_of(x)->dirty;
    if (x->array == RFO_DATA) {
        return dirty ? L2_EVICT_DIRTY : L2_EVICT_DATA;
    }
    return dirty ? L2_EVICT_ENTRY_DIRTY : L2_EVICT_ENTRY;
}

static gpc_event_id_t
l2_classify(const gpc_step_t *x)
{
    bool others = x->mshr != GPC_NONE && rfo_l2_mshr(x)->acknowledgements > 1;

    switch (x->cause) {
        case RFO_UPG:
            return classify_upgrade(x);
        case RFO_PUT:
        case RFO_VICTIM_PUT_S:
            return x->mshr != GPC_NONE ? L2_PUT : classify_put(x);
        case RFO_DATA_S:
        case RFO_DATA_M:
            return others ? L2_ANSWER : L2_LAST_LINE;
        case RFO_INV_ACK:
            return others ? L2_ANSWER : L2_LAST_ACK;
        case RFO_UNBLOCK:
            return others ? L2_UNBLOCK : L2_LAST_UNBLOCK;
        case RFO_RECALL_ACK:
        case RFO_RECALL_DATA:
            return others ? L2_ANSWER : L2_LAST_RECALLED;
        case GPC_MSG_EVICT:
            return classify_eviction(x);
        default:
            return GPC_NO_EVENT;
    }
}

/* ---- actions ----------------------------------------------------------------------------------------------------- */

/* The L1s of the set answer this directory. */
static int
probe(gpc_step_t *x, uint8_t type, const gpc_nodeset_t *set)
{
    gpc_msg_t *msg = gpc_new_message(x, type, GPC_NO_NODE);
    msg->request = GPC_NONE;
    msg->requester = x->unit->node;
    rfo_l2_mshr(x)->acknowledgements = gpc_nodeset_count(set);
    return gpc_broadcast(x, msg, set);
}

GPC_ACTION(act_probe_sharers, "send FWD_GETS to all sharers; the read is pending")
{
    GPC_TRY(probe(x, RFO_FWD_GETS, gpc_sharers(x)));
    return gpc_keep_pending(x);
}

GPC_ACTION(act_probe_owner, "send FWD_GETS to the owner; the read is pending")
{
    gpc_nodeset_t owner = {{0}};
    gpc_nodeset_add(&owner, rfo_entry_of(x)->owner);
    GPC_TRY(probe(x, RFO_FWD_GETS, &owner));
    return gpc_keep_pending(x);
}

GPC_ACTION(act_take_away, "send FWD_GETX to owner and sharers, which are listed no longer; the write is pending")
{
    rfo_entry_line_t *entry = rfo_entry_of(x);
    gpc_nodeset_t others = gpc_other_sharers(x);
    if (entry->owner != GPC_NO_NODE) {
        gpc_nodeset_add(&others, entry->owner);
    }
    entry->sharers = (gpc_nodeset_t){{0}};
    entry->owner = GPC_NO_NODE;
    GPC_TRY(probe(x, RFO_FWD_GETX, &others));
    return gpc_keep_pending(x);
}

GPC_ACTION(act_invalidate, "send INV to all other sharers, which are listed no longer; the write is pending")
{
    gpc_nodeset_t others = gpc_other_sharers(x);
    *gpc_sharers(x) = (gpc_nodeset_t){{0}};
    GPC_TRY(probe(x, RFO_INV, &others));
    return gpc_keep_pending(x);
}

GPC_ACTION(act_ask_for_victim, "send FWD_GETX to the evicting sharer")
{
    gpc_nodeset_t sharer = {{0}};
    gpc_nodeset_add(&sharer, x->msg->source);
    return probe(x, RFO_FWD_GETX, &sharer);
}

GPC_ACTION(act_unlist, "the sharer is listed no longer")
{
    *gpc_sharers(x) = gpc_other_sharers(x);
    return GPC_OK;
}

GPC_ACTION(act_share, "send DATA_S to the pending readers, and list them; expect their UNBLOCKs")
{
    gpc_index_t i;
    int status = GPC_OK;
    for (rfo_l2_mshr(x)->acknowledgements = 0; !status && (i = gpc_pop_pending(x)) != GPC_NONE;) {
        gpc_node_t reader = gpc_msg_at(x->unit->messages, i)->source;
        gpc_free_message(x->unit, i);
        rfo_l2_mshr(x)->acknowledgements++;
        gpc_nodeset_add(gpc_sharers(x), reader);
        status = rfo_send(x, RFO_DATA_S, reader, x->msg->data, (rfo_message_t){0});
    }
    return status;
}

GPC_ACTION(act_grant_upgrade, "send ACK_COUNT to the pending writer, the owner")
{
    gpc_index_t i = gpc_pop_pending(x);
    gpc_node_t writer = gpc_msg_at(x->unit->messages, i)->source;
    gpc_free_message(x->unit, i);
    rfo_entry_of(x)->owner = writer;
    return rfo_send(x, RFO_ACK_COUNT, writer, NULL, (rfo_message_t){0});
}

/* ---- the table. Only requests are held; they wait for answers on networks that are never blocked. Lists are exact, so
 * that every L1 that is asked has the line, in its way or leaving.
 * ------------------------------------------------------------------------------------ */

#define BUSY_BUT_FOR_READS                                                                                             \
    [L2_GETX] = HOLD_LINE, [L2_PUT] = HOLD_LINE, [L2_EVICT_DATA] = NOT_A_VICTIM, [L2_EVICT_ENTRY] = NOT_A_VICTIM
#define BUSY [L2_GETS] = HOLD_LINE, BUSY_BUT_FOR_READS

/* clang-format off */
static const gpc_cell_t l2_table[L2_NUM_STATES][L2_NUM_EVENTS] = {
    [L2_U] = {
        [L2_GETS] = GO(L2_F, act_reserve_way, rfo_act_new_entry, rfo_act_read),
        [L2_GETX] = GO(L2_F, act_reserve_way, rfo_act_new_entry, rfo_act_read),
        [L2_PUT_OLD] = GO(L2_U, rfo_act_put_ack),
    },
    [L2_V] = {
        [L2_GETS] = GO(L2_BS, rfo_act_list, rfo_act_data_s),
        [L2_GETX] = GO(L2_BM, rfo_act_data_m, rfo_act_own, rfo_act_free_data),
        [L2_PUT_OLD] = GO(L2_V, rfo_act_put_ack),
        [L2_EVICT_DATA] = GO(L2_U, rfo_act_free_entry),
        [L2_EVICT_DIRTY] = GO(L2_U, rfo_act_write_up, rfo_act_free_entry),
        [L2_EVICT_ENTRY] = GO(L2_U, rfo_act_free_data),
        [L2_EVICT_ENTRY_DIRTY] = GO(L2_U, rfo_act_write_up, rfo_act_free_data),
    },
    [L2_S] = {
        [L2_GETS] = GO(L2_BS, rfo_act_list, rfo_act_data_s),
        [L2_GETX] = GO(L2_PX, act_take_away, rfo_act_free_data),
        [L2_UPG] = GO(L2_PX, act_invalidate, rfo_act_free_data),
        [L2_UPG_ALONE] = GO(L2_BM, rfo_act_permit, rfo_act_own, rfo_act_free_data),
        [L2_PUT_S] = GO(L2_S, act_unlist, rfo_act_put_ack),
        [L2_PUT_S_LAST] = GO(L2_V, act_unlist, rfo_act_put_ack),
        [L2_PUT_OLD] = GO(L2_S, rfo_act_put_ack),
        [L2_EVICT_DATA] = GO(L2_N, rfo_act_free_data),
        [L2_EVICT_DIRTY] = GO(L2_N, rfo_act_write_up, rfo_act_free_data),
        [L2_EVICT_ENTRY] = GO(L2_RB, rfo_act_recall, rfo_act_free_data),
        [L2_EVICT_ENTRY_DIRTY] = GO(L2_RB, rfo_act_write_up, rfo_act_recall, rfo_act_free_data),
    },
    [L2_N] = {
        [L2_GETS] = GO(L2_PN, act_probe_sharers),
        [L2_GETX] = GO(L2_PX, act_take_away),
        [L2_UPG] = GO(L2_PX, act_invalidate),
        [L2_UPG_ALONE] = GO(L2_BM, rfo_act_permit, rfo_act_own),
        [L2_PUT_S] = GO(L2_N, act_unlist, rfo_act_put_ack),
        [L2_PUT_S_LAST] = GO(L2_PV, rfo_act_reserve_data, act_unlist, act_ask_for_victim),
        [L2_PUT_OLD] = GO(L2_N, rfo_act_put_ack),
        [L2_EVICT_ENTRY] = GO(L2_RB, rfo_act_recall),
    },
    [L2_EM] = {
        [L2_GETS] = GO(L2_PO, act_probe_owner),
        [L2_GETX] = GO(L2_PX, act_take_away),
        [L2_PUT_ALONE] = GO(L2_V, rfo_act_reserve_data, rfo_act_take_line, rfo_act_put_ack),
        [L2_PUT_OLD] = GO(L2_EM, rfo_act_put_ack),
        [L2_EVICT_ENTRY] = GO(L2_RB, rfo_act_recall),
    },
    [L2_O] = { /* also once its last sharer has left */
        [L2_GETS] = GO(L2_PO, act_probe_owner),
        [L2_GETX] = GO(L2_PX, act_take_away),
        [L2_UPG] = GO(L2_PX, act_invalidate),
        [L2_UPG_ALONE] = GO(L2_BM, rfo_act_permit),
        [L2_PUT] = GO(L2_S, rfo_act_reserve_data, rfo_act_take_line, rfo_act_put_ack),
        [L2_PUT_ALONE] = GO(L2_V, rfo_act_reserve_data, rfo_act_take_line, rfo_act_put_ack),
        [L2_PUT_S] = GO(L2_O, act_unlist, rfo_act_put_ack),
        [L2_PUT_OLD] = GO(L2_O, rfo_act_put_ack),
        [L2_EVICT_ENTRY] = GO(L2_RB, rfo_act_recall),
    },
    [L2_F] = {
        BUSY,
        [L2_LINE] = GO(L2_BM, rfo_act_grant),
    },
    [L2_PN] = {
        BUSY_BUT_FOR_READS,
        [L2_GETS] = GO(L2_PN, act_merge),
        [L2_ANSWER] = GO(L2_PN, act_count),
        [L2_LAST_LINE] = GO(L2_BN, act_share),
    },
    [L2_PO] = {
        BUSY_BUT_FOR_READS,
        [L2_GETS] = GO(L2_PO, act_merge),
        [L2_LAST_LINE] = GO(L2_BO, act_share),
    },
    [L2_PX] = {
        BUSY,
        [L2_ANSWER] = GO(L2_PX, act_count),
        [L2_LAST_LINE] = GO(L2_BM, rfo_act_grant),
        [L2_LAST_ACK] = GO(L2_BM, act_grant_upgrade),
    },
    [L2_PV] = {
        BUSY,
        [L2_LAST_LINE] = GO(L2_V, rfo_act_take_line, rfo_act_put_ack),
    },
    [L2_BS] = {
        BUSY,
        [L2_LAST_UNBLOCK] = GO(L2_S),
    },
    [L2_BN] = {
        BUSY,
        [L2_UNBLOCK] = GO(L2_BN, act_count),
        [L2_LAST_UNBLOCK] = GO(L2_N),
    },
    [L2_BO] = {
        BUSY,
        [L2_UNBLOCK] = GO(L2_BO, act_count),
        [L2_LAST_UNBLOCK] = GO(L2_O),
    },
    [L2_BM] = {
        BUSY,
        [L2_LAST_UNBLOCK] = GO(L2_EM),
    },
    [L2_RB] = {
        BUSY,
        [L2_ANSWER] = GO(L2_RB, rfo_act_pass_up, act_count),
        [L2_LAST_RECALLED] = GO(L2_U, rfo_act_pass_up, rfo_act_free_entry),
    },
};
/* clang-format on */

static const gpc_table_t l2 = {GPC_TABLE("L2", OVER_LINES, L2, l2_table, l2_classify),
                               .arrays = 1u << RFO_DIRECTORY | 1u << RFO_DATA,
                               .causes = {ON_SAME(RFO, L2, GETS, GETX, LINE)}};

const gpc_controller_type_t rfo_victim_l2 = {RFO_DIRECTORY_TYPE, .tables = {&l2}};

/* rfo_l2.c: rfo[l2=store]'s directory with the L2 that holds its data, and the L3 at the memory side. rfo.c describes
 * the protocol.
 *
 * The directory serves one request of a line at a time, until the requester's UNBLOCK. The L2 has data of lines that no
 * L1 owns: what owners put back, and what readers of a shared line had to fetch. An owner's line is with the owner
 * alone.
 */
#include "protocols/quickrelease/rfo_directory.h"

#define L2_STATES(X)                                                                                                   \
    X(L2_U, STABLE, "no entry, no data")                                                                               \
    X(L2_V, STABLE, "entry and data; no L1 has a copy")                                                                \
    X(L2_S, STABLE, "entry and data; L1s share the line")                                                              \
    X(L2_N, STABLE, "entry without data; L1s share the line")                                                          \
    X(L2_EM, STABLE, "entry without data; one L1 owns the line")                                                       \
    X(L2_O, STABLE, "entry without data; one L1 owns the line, others share it")                                       \
    X(L2_F, TRANSIENT_CACHE, "line read for the only L1 that will have it")                                            \
    X(L2_FS, TRANSIENT_CACHE, "line read for one more sharer")                                                         \
    X(L2_BS, TRANSIENT_COHERENCE, "a reader shares; its UNBLOCK outstanding")                                          \
    X(L2_BM, TRANSIENT_COHERENCE, "an L1 becomes the only owner; its UNBLOCK outstanding")                             \
    X(L2_BO, TRANSIENT_COHERENCE, "read forwarded to the owner; the reader's UNBLOCK outstanding")                     \
    X(L2_RB, TRANSIENT_COHERENCE, "entry evicted; recall outstanding")
#define L2_EVENTS(X)                                                                                                   \
    X(L2_GETS, "read request")                                                                                         \
    X(L2_GETX, "write request from an L1 that is not listed")                                                          \
    X(L2_UPG, "upgrade request from a listed sharer of an unowned line, or from the owner")                            \
    X(L2_PUT, "owner's eviction")                                                                                      \
    X(L2_PUT_ALONE, "owner's eviction; no L1 shares the line")                                                         \
    X(L2_PUT_OLD, "eviction of an L1 that is no longer the owner")                                                     \
    X(L2_EVICT_DATA, "data way chosen for replacement; memory is up to date")                                          \
    X(L2_EVICT_DIRTY, "data way chosen for replacement; memory is behind")                                             \
    X(L2_EVICT_ENTRY, "directory way chosen for replacement; memory is up to date, or the owner has the line")         \
    X(L2_EVICT_ENTRY_DIRTY, "directory way chosen for replacement; the L2 has the line, memory is behind")             \
    X(L2_LINE, "line from the memory side")                                                                            \
    X(L2_UNBLOCK, "the requester is done")                                                                             \
    X(L2_RECALLED, "recall answered; others outstanding")                                                              \
    X(L2_LAST_RECALLED, "last answer to the recall")
GPC_FSM(L2, L2_STATES, L2_EVENTS)

/* ---- classification ---------------------------------------------------------------------------------------------- */

static gpc_event_id_t
classify_put(const gpc_step_t *x)
{
    if ((x->state != L2_EM && x->state != L2_O) || rfo_entry_of(x)->owner != x->msg->source) {
        return L2_PUT_OLD;
    }
    return gpc_nodeset_count(&rfo_entry_of(x)->sharers) ? L2_PUT : L2_PUT_ALONE;
}

static gpc_event_id_t
classify_upgrade(const gpc_step_t *x)
{
    bool shares = (x->state == L2_S || x->state == L2_N) && gpc_nodeset_has(&rfo_entry_of(x)->sharers, x->msg->source);
    bool owns = x->state == L2_O && rfo_entry_of(x)->owner == x->msg->source;
    return shares || owns ? L2_UPG : L2_GETX;
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
    switch (x->cause) {
        case RFO_UPG:
            return classify_upgrade(x);
        case RFO_PUT:
            return x->mshr != GPC_NONE ? L2_PUT : classify_put(x);
        case RFO_RECALL_ACK:
        case RFO_RECALL_DATA:
            return x->mshr != GPC_NONE && rfo_l2_mshr(x)->acknowledgements > 1 ? L2_RECALLED : L2_LAST_RECALLED;
        case GPC_MSG_EVICT:
            return classify_eviction(x);
        default:
            return GPC_NO_EVENT;
    }
}

/* ---- actions: messages ------------------------------------------------------------------------------------------- */

static const rfo_message_t nothing;

int
rfo_send(gpc_step_t *x, uint8_t type, gpc_node_t destination, const uint32_t *words, rfo_message_t fields)
{
    gpc_msg_t *msg = gpc_new_message(x, type, destination);
    msg->request = GPC_NONE; /* answers name the line, not a request */
    *rfo_message(msg) = fields;
    if (words) {
        gpc_carry(x, msg, gpc_all_words(x->unit), words);
    }
    return gpc_send(x, msg);
}

GPC_SHARED_ACTION(rfo_act_read, "send READ to the memory side; the request is pending")
{
    x->unit->statistics->load_misses += x->cause == RFO_GETS;
    GPC_TRY(rfo_send(x, RFO_READ, gpc_memory_of(x->unit, x->line), NULL, nothing));
    return gpc_keep_pending(x);
}

GPC_SHARED_ACTION(rfo_act_data_s, "send DATA_S to the reader")
{
    gpc_count(x, load_hits);
    return rfo_send(x, RFO_DATA_S, x->msg->source, rfo_data_of(x), nothing);
}

GPC_ACTION(act_data_e, "send DATA_E to the reader")
{
    gpc_count(x, load_hits);
    return rfo_send(x, RFO_DATA_E, x->msg->source, rfo_data_of(x), nothing);
}

/* Sharers other than the writer; they are listed no longer. */
static uint32_t
invalidate(gpc_step_t *x, int *status)
{
    gpc_nodeset_t others = gpc_nodeset_without(&rfo_entry_of(x)->sharers, x->msg->source);
    rfo_entry_of(x)->sharers = (gpc_nodeset_t){{0}};
    uint32_t count = gpc_nodeset_count(&others);
    if (count) {
        gpc_msg_t *msg = gpc_new_message(x, RFO_INV, GPC_NO_NODE);
        msg->request = GPC_NONE;
        msg->requester = x->msg->source;
        *status = gpc_broadcast(x, msg, &others);
    }
    return count;
}

GPC_SHARED_ACTION(rfo_act_data_m, "send INV to all other sharers, DATA_M to the writer")
{
    int status = GPC_OK;
    uint32_t need = invalidate(x, &status);
    GPC_TRY(status);
    return rfo_send(x, RFO_DATA_M, x->msg->source, rfo_data_of(x), (rfo_message_t){.need = need});
}

GPC_SHARED_ACTION(rfo_act_permit, "send INV to all other sharers, ACK_COUNT to the writer")
{
    int status = GPC_OK;
    uint32_t need = invalidate(x, &status);
    GPC_TRY(status);
    return rfo_send(x, RFO_ACK_COUNT, x->msg->source, NULL, (rfo_message_t){.need = need});
}

GPC_ACTION(act_invalidate, "send INV to all other sharers; the writer will learn their number with the line")
{
    int status = GPC_OK;
    rfo_l2_mshr(x)->need = (uint16_t) invalidate(x, &status);
    return status;
}

GPC_ACTION(act_forward_gets, "send FWD_GETS to the owner")
{
    return rfo_send(x, RFO_FWD_GETS, rfo_entry_of(x)->owner, NULL, nothing);
}

GPC_ACTION(act_forward_getx, "send INV to all other sharers, FWD_GETX to the owner")
{
    int status = GPC_OK;
    uint32_t need = invalidate(x, &status);
    GPC_TRY(status);
    return rfo_send(x, RFO_FWD_GETX, rfo_entry_of(x)->owner, NULL, (rfo_message_t){.need = need});
}

GPC_SHARED_ACTION(rfo_act_put_ack, "send PUT_ACK to the evicting L1")
{
    return rfo_send(x, RFO_PUT_ACK, x->msg->source, NULL, nothing);
}

GPC_SHARED_ACTION(rfo_act_recall, "send RECALL to owner and sharers; expect their answers")
{
    gpc_nodeset_t all = rfo_entry_of(x)->sharers;
    if (rfo_entry_of(x)->owner != GPC_NO_NODE) {
        gpc_nodeset_add(&all, rfo_entry_of(x)->owner);
    }
    return gpc_call_in_and_wait(x, RFO_RECALL, &all);
}

static int
write_up(gpc_step_t *x, const uint32_t *words)
{
    gpc_count(x, writebacks);
    return rfo_send(x, RFO_WRITE_BACK, gpc_memory_of(x->unit, x->line), words, nothing);
}

GPC_SHARED_ACTION(rfo_act_write_up, "send the line to the memory side")
{
    rfo_entry_of(x)->dirty = 0;
    return write_up(x, rfo_data_of(x));
}

GPC_SHARED_ACTION(rfo_act_pass_up, "send an owner's line to the memory side, unless memory has it")
{
    bool newer = x->cause == RFO_RECALL_DATA && (rfo_message(x->msg)->dirty || rfo_entry_of(x)->dirty);
    return newer ? write_up(x, x->msg->data) : GPC_OK;
}

/* ---- actions: ways, entries, pending requests -------------------------------------------------------------------- */

GPC_SHARED_ACTION(rfo_act_reserve_data, "reserve a data way, or hold")
{
    return gpc_reserve_way_in(x, RFO_DATA);
}

GPC_SHARED_ACTION(rfo_act_free_data, "free the data way")
{
    return gpc_release_way_in(x, RFO_DATA);
}

GPC_SHARED_ACTION(rfo_act_free_entry, "free the directory way")
{
    return gpc_release_way_in(x, RFO_DIRECTORY);
}

GPC_SHARED_ACTION(rfo_act_new_entry, "the entry lists no sharer")
{
    *rfo_entry_of(x) = (rfo_entry_line_t){.owner = GPC_NO_NODE};
    return GPC_OK;
}

GPC_SHARED_ACTION(rfo_act_list, "list the reader")
{
    gpc_nodeset_add(&rfo_entry_of(x)->sharers, x->msg->source);
    return GPC_OK;
}

GPC_SHARED_ACTION(rfo_act_own, "the requester is the owner")
{
    rfo_entry_of(x)->owner = x->msg->source;
    return GPC_OK;
}

GPC_SHARED_ACTION(rfo_act_take_line, "the owner's line is the L2's; there is no owner")
{
    gpc_merge_words(rfo_data_of(x), x->msg->data, gpc_all_words(x->unit));
    rfo_entry_of(x)->dirty |= rfo_message(x->msg)->dirty != 0;
    rfo_entry_of(x)->owner = GPC_NO_NODE;
    return GPC_OK;
}

GPC_ACTION(rfo_act_fill, "fill the data way")
{
    gpc_merge_words(rfo_data_of(x), x->msg->data, gpc_all_words(x->unit));
    return GPC_OK;
}

/* Sends the line from the memory side to the pending requester, which ends. */
static int
answer_pending(gpc_step_t *x, uint8_t type, gpc_node_t *to)
{
    gpc_index_t i = gpc_pop_pending(x);
    *to = gpc_msg_at(x->unit->messages, i)->source;
    gpc_free_message(x->unit, i);
    return rfo_send(x, type, *to, x->msg->data, (rfo_message_t){.need = rfo_l2_mshr(x)->need});
}

GPC_SHARED_ACTION(rfo_act_grant, "send DATA_E or DATA_M to the pending requester, the owner")
{
    bool reads = gpc_first_pending(x)->type == RFO_GETS;
    return answer_pending(x, reads ? RFO_DATA_E : RFO_DATA_M, &rfo_entry_of(x)->owner);
}

GPC_ACTION(act_share, "send DATA_S to the pending reader, and list it")
{
    gpc_node_t reader;
    int status = answer_pending(x, RFO_DATA_S, &reader);
    gpc_nodeset_add(&rfo_entry_of(x)->sharers, reader);
    return status;
}

/* ---- the table. Only requests are held; they wait for answers on networks that are never blocked. ---------------- */

#define BUSY                                                                                                           \
    [L2_GETS] = HOLD_LINE, [L2_GETX] = HOLD_LINE, [L2_PUT] = HOLD_LINE, [L2_EVICT_DATA] = NOT_A_VICTIM,                \
    [L2_EVICT_ENTRY] = NOT_A_VICTIM

/* clang-format off */
static const gpc_cell_t l2_table[L2_NUM_STATES][L2_NUM_EVENTS] = {
    [L2_U] = {
        [L2_GETS] = GO(L2_F, act_reserve_way, rfo_act_new_entry, rfo_act_read),
        [L2_GETX] = GO(L2_F, act_reserve_way, rfo_act_new_entry, rfo_act_read),
        [L2_PUT_OLD] = GO(L2_U, rfo_act_put_ack),
    },
    [L2_V] = {
        [L2_GETS] = GO(L2_BM, act_data_e, rfo_act_own, rfo_act_free_data),
        [L2_GETX] = GO(L2_BM, rfo_act_data_m, rfo_act_own, rfo_act_free_data),
        [L2_PUT_OLD] = GO(L2_V, rfo_act_put_ack),
        [L2_EVICT_DATA] = GO(L2_U, rfo_act_free_entry),
        [L2_EVICT_DIRTY] = GO(L2_U, rfo_act_write_up, rfo_act_free_entry),
        [L2_EVICT_ENTRY] = GO(L2_U, rfo_act_free_data),
        [L2_EVICT_ENTRY_DIRTY] = GO(L2_U, rfo_act_write_up, rfo_act_free_data),
    },
    [L2_S] = {
        [L2_GETS] = GO(L2_BS, rfo_act_list, rfo_act_data_s),
        [L2_GETX] = GO(L2_BM, rfo_act_data_m, rfo_act_own, rfo_act_free_data),
        [L2_UPG] = GO(L2_BM, rfo_act_permit, rfo_act_own, rfo_act_free_data),
        [L2_PUT_OLD] = GO(L2_S, rfo_act_put_ack),
        [L2_EVICT_DATA] = GO(L2_N, rfo_act_free_data),
        [L2_EVICT_DIRTY] = GO(L2_N, rfo_act_write_up, rfo_act_free_data),
        [L2_EVICT_ENTRY] = GO(L2_RB, rfo_act_recall, rfo_act_free_data),
        [L2_EVICT_ENTRY_DIRTY] = GO(L2_RB, rfo_act_write_up, rfo_act_recall, rfo_act_free_data),
    },
    [L2_N] = {
        [L2_GETS] = GO(L2_FS, rfo_act_reserve_data, rfo_act_read),
        [L2_GETX] = GO(L2_F, act_invalidate, rfo_act_read),
        [L2_UPG] = GO(L2_BM, rfo_act_permit, rfo_act_own),
        [L2_PUT_OLD] = GO(L2_N, rfo_act_put_ack),
        [L2_EVICT_ENTRY] = GO(L2_RB, rfo_act_recall),
    },
    [L2_EM] = {
        [L2_GETS] = GO(L2_BO, act_forward_gets, rfo_act_list),
        [L2_GETX] = GO(L2_BM, act_forward_getx, rfo_act_own),
        [L2_PUT_ALONE] = GO(L2_V, rfo_act_reserve_data, rfo_act_take_line, rfo_act_put_ack),
        [L2_PUT_OLD] = GO(L2_EM, rfo_act_put_ack),
        [L2_EVICT_ENTRY] = GO(L2_RB, rfo_act_recall),
    },
    [L2_O] = {
        [L2_GETS] = GO(L2_BO, act_forward_gets, rfo_act_list),
        [L2_GETX] = GO(L2_BM, act_forward_getx, rfo_act_own),
        [L2_UPG] = GO(L2_BM, rfo_act_permit),
        [L2_PUT] = GO(L2_S, rfo_act_reserve_data, rfo_act_take_line, rfo_act_put_ack),
        [L2_PUT_OLD] = GO(L2_O, rfo_act_put_ack),
        [L2_EVICT_ENTRY] = GO(L2_RB, rfo_act_recall),
    },
    [L2_F] = {
        BUSY,
        [L2_LINE] = GO(L2_BM, rfo_act_grant),
    },
    [L2_FS] = {
        BUSY,
        [L2_LINE] = GO(L2_BS, rfo_act_fill, act_share),
    },
    [L2_BS] = {
        BUSY,
        [L2_UNBLOCK] = GO(L2_S),
    },
    [L2_BM] = {
        BUSY,
        [L2_UNBLOCK] = GO(L2_EM),
    },
    [L2_BO] = {
        BUSY,
        [L2_UNBLOCK] = GO(L2_O),
    },
    [L2_RB] = {
        BUSY,
        [L2_RECALLED] = GO(L2_RB, rfo_act_pass_up, act_count),
        [L2_LAST_RECALLED] = GO(L2_U, rfo_act_pass_up, rfo_act_free_entry),
    },
};
/* clang-format on */

static const gpc_table_t l2 = {GPC_TABLE("L2", OVER_LINES, L2, l2_table, l2_classify),
                               .causes = {ON_SAME(RFO, L2, GETS, GETX, LINE, UNBLOCK)},
                               .arrays = 1u << RFO_DIRECTORY | 1u << RFO_DATA};

void
rfo_directory_geometry(const gpc_machine_t *machine, const int64_t *options, uint32_t *sets, uint32_t *ways)
{
    uint64_t bytes = (uint64_t) machine->l2_bytes * (uint64_t) options[RFO_OPTION_DIR_RATIO];
    qr_geometry(machine, bytes, (uint32_t) options[RFO_OPTION_DIR_WAYS], sets, ways);
}

const gpc_controller_type_t rfo_l2 = {RFO_DIRECTORY_TYPE, .tables = {&l2}};

bool
rfo_l2_lists(const gpc_controller_t *bank, gpc_address_t line, gpc_node_t core, bool *owner)
{
    gpc_index_t way = gpc_tags_find(&bank->arrays[RFO_DIRECTORY], line);
    if (way == GPC_NONE) {
        return *owner = false;
    }
    const rfo_entry_line_t *entry = rfo_entry_line_at(bank, RFO_DIRECTORY, way);
    *owner = entry->owner == core;
    return *owner || gpc_nodeset_has(&entry->sharers, core);
}

/* ---- the memory side: a write-back L3 ---------------------------------------------------------------------------- */

#define L3_STATES(X)                                                                                                   \
    X(L3_I, STABLE, "not present")                                                                                     \
    X(L3_V, STABLE, "present")                                                                                         \
    X(L3_F, TRANSIENT_CACHE, "fetched from memory; requests wait")
#define L3_EVENTS(X)                                                                                                   \
    X(L3_READ, "the directory wants the line")                                                                         \
    X(L3_WRITE_BACK, "line that the directory gives up")                                                               \
    X(L3_EVICT_CLEAN, "way chosen for replacement; memory is up to date")                                              \
    X(L3_EVICT_DIRTY, "way chosen for replacement; memory is behind")                                                  \
    X(L3_FILL, "line from memory")
GPC_FSM(L3, L3_STATES, L3_EVENTS)

static gpc_event_id_t
l3_classify(const gpc_step_t *x)
{
    return x->cause != GPC_MSG_EVICT ? GPC_NO_EVENT : gpc_is_dirty(x) ? L3_EVICT_DIRTY : L3_EVICT_CLEAN;
}

GPC_ACTION(act_answer_line, "send LINE")
{
    gpc_count_hit(x);
    return gpc_send(x, gpc_new_answer(x, x->message, RFO_LINE));
}

/* clang-format off */
static const gpc_cell_t l3_table[L3_NUM_STATES][L3_NUM_EVENTS] = {
    [L3_I] = {
        [L3_READ] = GO(L3_F, act_reserve_way, act_miss),
        [L3_WRITE_BACK] = GO(L3_V, act_reserve_way, act_take_back), /* the whole line: nothing is fetched */
    },
    [L3_V] = {
        [L3_READ] = GO(L3_V, act_answer_line),
        [L3_WRITE_BACK] = GO(L3_V, act_take_back),
        [L3_EVICT_CLEAN] = GO(L3_I),
        [L3_EVICT_DIRTY] = GO(L3_I, act_write_back),
    },
    [L3_F] = { /* the directory, busy with the line, sends nothing about it */
        [L3_EVICT_CLEAN] = NOT_A_VICTIM,
        [L3_FILL] = GO(L3_V, act_fill, act_replay),
    },
};
/* clang-format on */

static const gpc_table_t l3 = {GPC_TABLE("L3", OVER_LINES, L3, l3_table, l3_classify),
                               .causes = {ON_SAME(RFO, L3, READ, WRITE_BACK), ON(GPC_MSG_FILL, L3_FILL)}};

const gpc_controller_type_t rfo_l3 = {
    .name = "L3",
    .position = GPC_AT_MEMORY,
    .tables = {&l3},
    .arrays = {{.name = "tags", .line = gpc_writer_line_described, .geometry = l3_geometry, .has_data = true}},
    .mshrs = l3_mshrs,
};

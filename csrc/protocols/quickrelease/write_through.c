/* write_through.c: the L2 and the memory side of wt and no-l1[l2=through].
 *
 * Paper    Hechtman et al., HPCA 2014, sections 2.4.1, 4.1.
 * Inferred a store that passes the L2 updates its copy; the directory acknowledges it when the queue of its DRAM
 *          channel, which keeps the order of a line, has it. Stores allocate at no level and drop the L3's copy, since
 *          the L3 is writeable only in RFO (4.1). Atomics are performed at the directory, on the L3's line, which
 *          stays, and the words written go to memory. While the L2's read of a line is out, words that pass are
 *          overlaid on it. An atomic that passes ends that: until all that was sent since is answered the L2 keeps
 *          nothing of the line, and reads, writes and atomics pass one by one. GET_SECTORS is read as GETS and answered
 *          by the 32-byte sectors with words of the load.
 */
#include "protocols/quickrelease/write_through.h"

/* ---- L2 ---------------------------------------------------------------------------------------------------------- */

#define L2_STATES(X)                                                                                                   \
    X(L2_I, STABLE, "not present")                                                                                     \
    X(L2_V, STABLE, "present: the line with all stores that have passed")                                              \
    X(L2_P, TRANSIENT_CACHE, "read outstanding; later reads join, stores that pass are overlaid")                      \
    X(L2_PX, TRANSIENT_COHERENCE, "an atomic has passed: requests pass one by one, nothing will be kept")
#define L2_EVENTS(X)                                                                                                   \
    X(L2_GETS, "read request")                                                                                         \
    X(L2_GETX, "store")                                                                                                \
    X(L2_ATOMIC, "atomic")                                                                                             \
    X(L2_EVICT, "way chosen for replacement")                                                                          \
    X(L2_LINE, "line; other requests outstanding")                                                                     \
    X(L2_LAST_LINE, "line; nothing else outstanding")                                                                  \
    X(L2_WRITTEN, "a store is in memory")                                                                              \
    X(L2_DONE, "a store or atomic that passed alone is done; others outstanding")                                      \
    X(L2_LAST_DONE, "the same; nothing else outstanding")
GPC_FSM(L2, L2_STATES, L2_EVENTS)

#define L2_LINE_FIELDS(FIELD) /* no metadata beside the tags */
GPC_METADATA(wt_l2, line, L2_LINE_FIELDS)
#define L2_MSHR(FIELD)                                                                                                 \
    FIELD(PLAIN, uint16_t, outstanding) /* answers of the directory that the line waits for */                         \
    FIELD(PLAIN, uint16_t, joined)      /* reads, the first pending ones, that the L2's own read serves */             \
    FIELD(PLAIN, gpc_mask_t, overlay)   /* words that passed since that read */                                        \
    FIELD(DATA, wt_words_t, words)      /* their values */
GPC_METADATA(wt_l2, mshr, L2_MSHR)

static gpc_event_id_t
l2_classify(const gpc_step_t *x)
{
    bool last = x->mshr != GPC_NONE && wt_l2_mshr(x)->outstanding == 1;

    switch (x->cause) {
        case WT_LINE:
            return last ? L2_LAST_LINE : L2_LINE;
        case WT_WRITTEN:
            return !wt_message(x->msg)->apart ? L2_WRITTEN : last ? L2_LAST_DONE : L2_DONE;
        case WT_OLD_VALUES:
            return last ? L2_LAST_DONE : L2_DONE;
        default:
            return GPC_NO_EVENT;
    }
}

/* A message of the type to the directory, for the current request. */
static gpc_msg_t *
new_message_up(gpc_step_t *x, uint8_t type, bool apart)
{
    gpc_msg_t *msg = gpc_new_message(x, type, gpc_memory_of(x->unit, x->line));
    wt_message(msg)->apart = apart;
    if (apart) {
        wt_l2_mshr(x)->outstanding++;
    }
    return msg;
}

GPC_ACTION(act_read, "send READ; the request is pending")
{
    gpc_count(x, load_misses);
    gpc_msg_t *msg = new_message_up(x, WT_READ, false);
    wt_l2_mshr(x)->outstanding = wt_l2_mshr(x)->joined = 1;
    msg->mask = gpc_all_words(x->unit);
    GPC_TRY(gpc_send(x, msg));
    return gpc_keep_pending(x);
}

GPC_ACTION(act_join, "the request is pending too")
{
    gpc_count(x, load_merges);
    wt_l2_mshr(x)->joined++;
    return gpc_keep_pending(x);
}

GPC_ACTION(act_read_apart, "send READ for this request alone; it is pending")
{
    gpc_count(x, load_misses);
    gpc_msg_t *msg = new_message_up(x, WT_READ, true);
    msg->mask = gpc_all_words(x->unit);
    GPC_TRY(gpc_send(x, msg));
    return gpc_keep_pending(x);
}

static int
pass_store(gpc_step_t *x, bool apart)
{
    gpc_msg_t *msg = new_message_up(x, WT_WRITE, apart);
    gpc_carry(x, msg, x->msg->mask, x->msg->data);
    return gpc_send(x, msg);
}

GPC_ACTION(act_pass_store, "the store is ordered here: send WRITE with its words")
{
    GPC_TRY(gpc_note_performed(x, x->message, 0));
    return pass_store(x, false);
}

GPC_ACTION(act_pass_store_apart, "send WRITE with its words; the directory orders it")
{
    return pass_store(x, true);
}

GPC_ACTION(act_update, "write the words into the copy")
{
    gpc_merge_words(gpc_line_words(x), x->msg->data, x->msg->mask);
    return GPC_OK;
}

GPC_ACTION(act_overlay, "overlay the words on the line when it comes")
{
    wt_l2_mshr(x)->overlay |= x->msg->mask;
    gpc_merge_words(wt_l2_mshr(x)->words.word, x->msg->data, x->msg->mask);
    return GPC_OK;
}

GPC_ACTION(act_pass_atomic, "send ATOMIC_UP with the lane list")
{
    gpc_msg_t *msg = new_message_up(x, WT_ATOMIC_UP, true);
    msg->mask = x->msg->mask;
    msg->lanes = x->msg->lanes;
    x->msg->lanes = GPC_NONE;
    return gpc_send(x, msg);
}

/* Sends the words to the request as it asks for them: the line or sectors. */
static int
answer(gpc_step_t *x, gpc_index_t request, const uint32_t *words)
{
    const gpc_msg_t *asked = gpc_msg_at(x->unit->messages, request);
    gpc_msg_t *msg = gpc_new_message(x, asked->type == WT_GET_SECTORS ? WT_SECTORS : WT_DATA, asked->source);
    if (x->unit->sectors) {
        msg->here = asked->mask;
    }
    msg->flags = asked->flags & GPC_MSG_FLAG_READ_ONLY;
    msg->requester = asked->requester;
    msg->request = asked->request;
    msg->warp = asked->warp;
    gpc_carry(x, msg, baseline_sectors_of(x->unit, asked->mask), words);
    return gpc_send(x, msg);
}

GPC_ACTION(wt_act_answer, "send DATA or SECTORS to the requester")
{
    gpc_count(x, load_hits);
    return answer(x, x->message, gpc_line_words(x));
}

static int
answer_pending(gpc_step_t *x, gpc_index_t request, const uint32_t *words)
{
    int status = answer(x, request, words);
    gpc_free_message(x->unit, request);
    return status;
}

GPC_ACTION(act_answer_pending,
           "send DATA or SECTORS to the requests that this line answers, with the words that passed since the read")
{
    wt_l2_mshr_t *mshr = wt_l2_mshr(x);
    int status = GPC_OK;

    mshr->outstanding--;
    if (wt_message(x->msg)->apart) {
        return answer_pending(x, gpc_take_pending(x, x->msg->request), x->msg->data);
    }
    gpc_merge_words(x->msg->data, mshr->words.word, mshr->overlay);
    for (; mshr->joined && status == GPC_OK; mshr->joined--) {
        status = answer_pending(x, gpc_pop_pending(x), x->msg->data);
    }
    return status;
}

GPC_ACTION(act_pass_answer, "send ACK or ATOMIC_DATA to the core")
{
    bool atomic = x->cause == WT_OLD_VALUES;
    gpc_msg_t *msg = gpc_new_message(x, atomic ? WT_ATOMIC_DATA : WT_ACK, x->msg->requester);
    msg->lanes = x->msg->lanes;
    msg->mask = atomic ? x->msg->mask : GPC_NO_WORDS;
    x->msg->lanes = GPC_NONE;
    return gpc_send(x, msg);
}

GPC_ACTION(act_one_less, "one answer less is outstanding")
{
    wt_l2_mshr(x)->outstanding--;
    return GPC_OK;
}

/* clang-format off */
static const gpc_cell_t l2_table[L2_NUM_STATES][L2_NUM_EVENTS] = {
    [L2_I] = {
        [L2_GETS] = GO(L2_P, act_reserve_way, act_read),
        [L2_GETX] = GO(L2_I, act_pass_store),
        [L2_ATOMIC] = GO(L2_PX, act_pass_atomic),
        [L2_WRITTEN] = GO(L2_I, act_pass_answer),
    },
    [L2_V] = {
        [L2_GETS] = GO(L2_V, wt_act_answer),
        [L2_GETX] = GO(L2_V, act_update, act_pass_store),
        [L2_ATOMIC] = GO(L2_PX, act_release_way, act_pass_atomic),
        [L2_EVICT] = GO(L2_I),
        [L2_WRITTEN] = GO(L2_V, act_pass_answer),
    },
    [L2_P] = {
        [L2_GETS] = GO(L2_P, act_join),
        [L2_GETX] = GO(L2_P, act_overlay, act_pass_store),
        [L2_ATOMIC] = GO(L2_PX, act_release_way, act_pass_atomic),
        [L2_EVICT] = NOT_A_VICTIM, /* the way is reserved for the line */
        [L2_LAST_LINE] = GO(L2_V, act_answer_pending, act_fill),
        [L2_WRITTEN] = GO(L2_P, act_pass_answer),
    },
    [L2_PX] = { /* no way: never a victim */
        [L2_GETS] = GO(L2_PX, act_read_apart),
        [L2_GETX] = GO(L2_PX, act_pass_store_apart),
        [L2_ATOMIC] = GO(L2_PX, act_pass_atomic),
        [L2_LINE] = GO(L2_PX, act_answer_pending),
        [L2_LAST_LINE] = GO(L2_I, act_answer_pending),
        [L2_WRITTEN] = GO(L2_PX, act_pass_answer),
        [L2_DONE] = GO(L2_PX, act_one_less, act_pass_answer),
        [L2_LAST_DONE] = GO(L2_I, act_pass_answer),
    },
};
/* clang-format on */

static const gpc_table_t l2 = {
    GPC_TABLE("L2", OVER_LINES, L2, l2_table, l2_classify),
    .causes = {ON_SAME(WT, L2, GETS, GETX, ATOMIC), ON(WT_GET_SECTORS, L2_GETS), ON(GPC_MSG_EVICT, L2_EVICT)}};

const gpc_controller_type_t wt_l2 = {
    .name = "L2",
    .position = GPC_AT_BANK,
    .tables = {&l2},
    .arrays = {{.name = "tags", .line = wt_l2_line_described, .has_data = true}},
    .mshr = wt_l2_mshr_described,
};

/* ---- the memory side: a null directory, and an L3 that stores do not allocate in --------------------------------- */

#define L3_STATES(X)                                                                                                   \
    X(L3_I, STABLE, "not present")                                                                                     \
    X(L3_V, STABLE, "present, equal to memory")                                                                        \
    X(L3_F, TRANSIENT_CACHE, "fetched from memory; requests wait")
#define L3_EVENTS(X)                                                                                                   \
    X(L3_READ, "the L2 wants the line")                                                                                \
    X(L3_WRITE, "words for memory")                                                                                    \
    X(L3_ATOMIC, "atomics")                                                                                            \
    X(L3_EVICT, "way chosen for replacement")                                                                          \
    X(L3_FILL, "line from memory")
GPC_FSM(L3, L3_STATES, L3_EVENTS)

GPC_METADATA(wt_l3, line, L2_LINE_FIELDS)

GPC_ACTION(act_answer_line, "send LINE")
{
    gpc_count_hit(x);
    gpc_msg_t *msg = gpc_new_answer(x, x->message, WT_LINE);
    wt_message(msg)->apart = wt_message(x->msg)->apart;
    return gpc_send(x, msg);
}

GPC_ACTION(wt_act_write, "the words enter memory's queue; send WRITTEN")
{
    bool apart = wt_message(x->msg)->apart;
    int status = apart ? gpc_note_performed(x, x->message, 0) : GPC_OK;
    if (status == GPC_OK) {
        status = gpc_write_memory(x, x->msg->mask, x->msg->data);
    }
    gpc_msg_t *msg = gpc_new_answer(x, x->message, WT_WRITTEN);
    wt_message(msg)->apart = apart;
    GPC_TRY(status);
    return gpc_send_probed(x, msg);
}

GPC_ACTION(wt_act_perform, "perform the atomics; the words enter memory's queue; send OLD_VALUES")
{
    gpc_mask_t written = gpc_rmw_perform(gpc_lane_list_at(x->unit->lane_lists, x->msg->lanes), gpc_line_words(x));
    int status = gpc_note_performed(x, x->message, 0);
    if (status == GPC_OK && written) {
        status = gpc_write_memory(x, written, gpc_line_words(x));
    }
    GPC_TRY(status);
    return gpc_send(x, gpc_new_answer(x, x->message, WT_OLD_VALUES));
}

/* clang-format off */
static const gpc_cell_t l3_table[L3_NUM_STATES][L3_NUM_EVENTS] = {
    [L3_I] = {
        [L3_READ] = GO(L3_F, act_reserve_way, act_miss),
        [L3_WRITE] = GO(L3_I, wt_act_write),
        [L3_ATOMIC] = GO(L3_F, act_reserve_way, act_miss),
    },
    [L3_V] = {
        [L3_READ] = GO(L3_V, act_answer_line),
        [L3_WRITE] = GO(L3_I, wt_act_write), /* not writeable */
        [L3_ATOMIC] = GO(L3_V, wt_act_perform),
        [L3_EVICT] = GO(L3_I),
    },
    [L3_F] = {
        [L3_READ] = HOLD_LINE,
        [L3_WRITE] = HOLD_LINE, /* the line in flight has not got the words */
        [L3_ATOMIC] = HOLD_LINE,
        [L3_EVICT] = NOT_A_VICTIM,
        [L3_FILL] = GO(L3_V, act_fill, act_replay),
    },
};
/* clang-format on */

static const gpc_table_t l3 = {GPC_TABLE("L3", OVER_LINES, L3, l3_table, NULL),
                               .causes = {ON(WT_READ, L3_READ), ON(WT_WRITE, L3_WRITE), ON(WT_ATOMIC_UP, L3_ATOMIC),
                                          ON(GPC_MSG_EVICT, L3_EVICT), ON(GPC_MSG_FILL, L3_FILL)}};

const gpc_controller_type_t wt_l3 = {
    .name = "L3",
    .position = GPC_AT_MEMORY,
    .tables = {&l3},
    .arrays = {{.name = "tags", .line = wt_l3_line_described, .geometry = l3_geometry, .has_data = true}},
    .mshrs = l3_mshrs,
};

int
wt_host_write(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, const uint32_t *words)
{
    (void) mask, (void) words; /* memory has them */
    gpc_tags_drop_line(&units->bank->arrays[0], line);
    gpc_tags_drop_line(&units->memory->arrays[0], line);
    return GPC_OK;
}

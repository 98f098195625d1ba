/* baseline.c: the shared actions of the write-through baselines, and the L2 of no-l1 and no-coh.
 *
 * Paper    Singh et al., HPCA 2013, section 3.1 (the L2: write-back, write-allocate; a miss moves to an MSHR and frees the queue;
 *          atomics performed at the L2).
 * Counts   2 stable + 2 transient states (table 1, NO-COH).
 * Inferred message sizes; a store that misses is acknowledged when it has been performed, after the fill.
 */
#include "protocols/baseline/baseline.h"

/* ---- L1: classification ---------------------------------------------------------------------------------------------------------- */

enum { BASELINE_L1_EVENTS(GPC_FSM_EVENT_ENUM_) };

gpc_event_id_t
baseline_l1_classify(const gpc_step_t *x)
{
    bool last = x->mshr != GPC_NONE && ((const baseline_l1_mshr_t *) gpc_step_mshr_fields(x))->outstanding == 1;

    switch (x->cause) {
        case GPC_MSG_LOAD:
            return L1_LOAD;
        case GPC_MSG_STORE:
            return L1_STORE;
        case GPC_MSG_ATOMIC:
            return L1_ATOMIC;
        case GPC_MSG_EVICT:
            return L1_EVICT;
        case MSG_DATA:
        case MSG_ATOMIC_DATA:
            return last ? L1_LAST_DATA : L1_DATA;
        case MSG_ACK:
            return last ? L1_LAST_ACK : L1_ACK;
        default:
            return GPC_NO_EVENT;
    }
}

/* ---- L1: actions ----------------------------------------------------------------------------------------------------------------- */

static baseline_l1_mshr_t *
l1_mshr(const gpc_step_t *x)
{
    return gpc_step_mshr_fields(x);
}

GPC_SHARED_ACTION(act_request_line, "GETS for the load, which is then pending")
{
    gpc_count(x, load_misses);
    l1_mshr(x)->outstanding++;
    int status = gpc_send_request(x, MSG_GETS, x->msg->mask);
    return status ? status : gpc_keep_pending(x);
}

GPC_SHARED_ACTION(act_merge_load, "the load joins the one GETS that is open")
{
    gpc_count(x, load_merges);
    x->msg->request = gpc_msg_at(x->unit->messages, gpc_step_pending(x)->head)->request;
    return gpc_keep_pending(x);
}

GPC_SHARED_ACTION(act_write_through, "GETX with the store's words; the store is then pending")
{
    l1_mshr(x)->outstanding++;
    int status = gpc_send_request(x, MSG_GETX, x->msg->mask);
    return status ? status : gpc_keep_pending(x);
}

GPC_SHARED_ACTION(act_send_atomic, "ATOMIC with the lane list; the atomic is then pending")
{
    l1_mshr(x)->outstanding++;
    int status = gpc_send_request(x, MSG_ATOMIC, x->msg->mask);
    return status ? status : gpc_keep_pending(x);
}

GPC_SHARED_ACTION(act_write_line, "the store's words into the own copy")
{
    gpc_merge_words(gpc_line_words(x), x->msg->data, x->msg->mask);
    return GPC_OK;
}

GPC_SHARED_ACTION(act_fill, "the answer's line into the reserved way")
{
    gpc_merge_words(gpc_line_words(x), x->msg->data, gpc_all_words(x->unit));
    return GPC_OK;
}

GPC_SHARED_ACTION(act_complete, "who waits for this answer completes: the request that was sent and all merged with it")
{
    gpc_index_t request = x->msg->request, i;

    l1_mshr(x)->outstanding--;
    while ((i = gpc_take_pending(x, request)) != GPC_NONE) {
        gpc_msg_t *waiting = gpc_msg_at(x->unit->messages, i);
        if (x->msg->lanes != GPC_NONE) {
            waiting->lanes = x->msg->lanes;
            x->msg->lanes = GPC_NONE;
        }
        int status = gpc_complete(x, i, x->msg->data, false);
        if (status) {
            return status;
        }
    }
    return GPC_OK;
}

/* ---- L2: states and events --------------------------------------------------------------------------------------------------------- */

GPC_FSM(L2, BASELINE_L2_STATES, BASELINE_L2_EVENTS)

/* ---- L2: classification --------------------------------------------------------------------------------------------------------------- */

gpc_event_id_t
baseline_l2_classify(const gpc_step_t *x)
{
    switch (x->cause) {
        case MSG_GETS:
            return L2_GETS;
        case MSG_GETX:
            return L2_GETX;
        case MSG_ATOMIC:
            return L2_ATOMIC;
        case GPC_MSG_EVICT:
            return x->way != GPC_NONE && ((baseline_l2_line_t *) gpc_line_fields(x))->dirty ? L2_EVICT_DIRTY
                                                                                            : L2_EVICT_CLEAN;
        case GPC_MSG_FILL: {
            uint8_t asked = gpc_msg_at(x->unit->messages, gpc_step_pending(x)->head)->type;
            return asked == MSG_GETS ? L2_FILL : asked == MSG_GETX ? L2_FILL_STORE : L2_FILL_ATOMIC;
        }
        default:
            return GPC_NO_EVENT;
    }
}

/* ---- L2: actions ------------------------------------------------------------------------------------------------------------------------ */

/* Whether the cause is the store or atomic itself; else it is something that it has waited for. */
static bool
is_in_hand(const gpc_step_t *x)
{
    return x->cause == MSG_GETX || x->cause == MSG_ATOMIC;
}

gpc_index_t
baseline_l2_writer(const gpc_step_t *x)
{
    return is_in_hand(x) ? x->message : gpc_step_pending(x)->head;
}

/* A request that had to wait has been answered: out of the list with it. */
static void
drop_writer(gpc_step_t *x)
{
    if (!is_in_hand(x)) {
        gpc_free_message(x->unit, gpc_list_pop(gpc_step_pending(x), x->unit->messages));
    }
}

GPC_SHARED_ACTION(act_fetch, "memory is asked; the request is then pending")
{
    x->unit->statistics->load_misses += x->cause == MSG_GETS;
    int status = gpc_fetch(x);
    return status ? status : gpc_keep_pending(x);
}

GPC_SHARED_ACTION(act_answer, "DATA to who asked")
{
    gpc_count(x, load_hits);
    return gpc_send_answer(x, x->message, MSG_DATA, gpc_all_words(x->unit), gpc_line_words(x));
}

GPC_SHARED_ACTION(act_merge, "a further load joins the fetch")
{
    gpc_count(x, load_merges);
    return gpc_keep_pending(x);
}

GPC_SHARED_ACTION(act_write, "the words of the store in hand, or that waited for the fill, and its ACK")
{
    gpc_index_t writer = baseline_l2_writer(x);
    const gpc_msg_t *store = gpc_msg_at(x->unit->messages, writer);

    gpc_merge_words(gpc_line_words(x), store->data, store->mask);
    ((baseline_l2_line_t *) gpc_line_fields(x))->dirty = 1;
    int status = gpc_note_performed(x, writer, 0);
    if (status == GPC_OK) {
        status = gpc_send_answer(x, writer, MSG_ACK, GPC_NO_WORDS, NULL);
    }
    drop_writer(x);
    return status;
}

GPC_SHARED_ACTION(act_perform, "the atomic on the line, and its old values")
{
    gpc_index_t writer = baseline_l2_writer(x);
    const gpc_msg_t *atomic = gpc_msg_at(x->unit->messages, writer);

    if (gpc_rmw_perform(gpc_lane_list_at(x->unit->lane_lists, atomic->lanes), gpc_line_words(x))) {
        ((baseline_l2_line_t *) gpc_line_fields(x))->dirty = 1;
    }
    int status = gpc_note_performed(x, writer, 0);
    if (status == GPC_OK) {
        status = gpc_send_answer(x, writer, MSG_ATOMIC_DATA, atomic->mask, NULL);
    }
    drop_writer(x);
    return status;
}

GPC_SHARED_ACTION(act_fill_line, "memory's line into the way")
{
    gpc_merge_words(gpc_line_words(x), x->msg->data, gpc_all_words(x->unit));
    return GPC_OK;
}

GPC_SHARED_ACTION(act_answer_all, "DATA to all who wait")
{
    gpc_list_t *pending = gpc_step_pending(x);
    while (pending->count) {
        gpc_index_t i = gpc_list_pop(pending, x->unit->messages);
        int status = gpc_send_answer(x, i, MSG_DATA, gpc_all_words(x->unit), gpc_line_words(x));
        gpc_free_message(x->unit, i);
        if (status) {
            return status;
        }
    }
    return GPC_OK;
}

/* ---- L2: the table. A stalled request waits for the line, in order of its source; the bank goes on with other lines. ------------- */

/* clang-format off */
static const gpc_cell_t l2_table[L2_NUM_STATES][L2_NUM_EVENTS] = {
    [L2_I] = {
        [L2_GETS] = GO(L2_IS, act_reserve_way, act_fetch),
        [L2_GETX] = GO(L2_IM, act_reserve_way, act_fetch),
        [L2_ATOMIC] = GO(L2_IM, act_reserve_way, act_fetch),
    },
    [L2_V] = {
        [L2_GETS] = GO(L2_V, act_answer),
        [L2_GETX] = GO(L2_V, act_write),
        [L2_ATOMIC] = GO(L2_V, act_perform),
        [L2_EVICT_CLEAN] = GO(L2_I),
        [L2_EVICT_DIRTY] = GO(L2_I, act_write_back),
    },
    [L2_IS] = {
        [L2_GETS] = GO(L2_IS, act_merge),
        [L2_GETX] = HOLD_LINE, /* until the fill, which memory always sends */
        [L2_ATOMIC] = HOLD_LINE,
        [L2_EVICT_CLEAN] = NOT_A_VICTIM, /* the way is promised to the fill */
        [L2_FILL] = GO(L2_V, act_fill_line, act_answer_all),
    },
    [L2_IM] = {
        [L2_GETS] = HOLD_LINE,
        [L2_GETX] = HOLD_LINE,
        [L2_ATOMIC] = HOLD_LINE,
        [L2_EVICT_CLEAN] = NOT_A_VICTIM,
        [L2_FILL_STORE] = GO(L2_V, act_fill_line, act_write),
        [L2_FILL_ATOMIC] = GO(L2_V, act_fill_line, act_perform),
    },
};
/* clang-format on */

static const gpc_table_t l2 = {GPC_TABLE("L2", OVER_LINES, L2, l2_table, baseline_l2_classify)};

const gpc_controller_type_t baseline_l2 = {
    .name = "L2",
    .position = GPC_AT_BANK,
    .tables = {&l2},
    .arrays = {{.name = "tags", .line = baseline_l2_line_described, .has_data = true}},
};

/* ---- the host ------------------------------------------------------------------------------------------------------------------------------ */

int
baseline_host_read(gpc_controller_t *const *cores, uint32_t num_cores, gpc_controller_t *bank, gpc_address_t line,
                   gpc_mask_t mask, uint32_t *words)
{
    gpc_index_t way = gpc_tags_find(&bank->arrays[0], line);
    (void) cores;
    (void) num_cores;
    if (way != GPC_NONE) {
        gpc_merge_words(words, gpc_tags_words(&bank->arrays[0], way), mask);
    }
    return GPC_OK;
}

void
baseline_drop_copies(gpc_controller_t *const *cores, uint32_t num_cores, gpc_address_t line)
{
    for (uint32_t i = 0; i < num_cores; i++) {
        gpc_index_t way = gpc_tags_find(&cores[i]->arrays[0], line);
        if (way != GPC_NONE) {
            gpc_tags_drop(&cores[i]->arrays[0], way);
        }
    }
}

int
baseline_host_write(gpc_controller_t *const *cores, uint32_t num_cores, gpc_controller_t *bank, gpc_address_t line,
                    gpc_mask_t mask, const uint32_t *words)
{
    gpc_index_t way = gpc_tags_find(&bank->arrays[0], line);
    (void) cores;
    (void) num_cores;
    if (way != GPC_NONE) {
        gpc_merge_words(gpc_tags_words(&bank->arrays[0], way), words, mask);
    }
    return GPC_OK;
}

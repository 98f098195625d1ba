/* baseline.c: actions shared by the write-through baselines, and the L2 of no-l1 and no-coh.
 *
 * Paper    Singh et al., HPCA 2013, section 3.1: a write-back, write-allocate L2; a miss allocates an MSHR and frees
 *          the queue; the L2 performs atomics.
 * Inferred message sizes; a store that misses is acknowledged after the fill, when the L2 has performed it.
 */
#include "protocols/baseline/baseline.h"

/* ---- L1: classification ------------------------------------------------------------------------------------------ */

enum { BASELINE_L1_EVENTS(GPC_FSM_EVENT_ENUM_) };

gpc_event_id_t
baseline_l1_classify(const gpc_step_t *x)
{
    bool last = gpc_is_last_answer(x);

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

/* ---- L1: actions ------------------------------------------------------------------------------------------------- */

GPC_SHARED_ACTION(act_request_line, "send GETS; the load becomes pending")
{
    gpc_count(x, load_misses);
    return gpc_send_and_wait(x, gpc_new_request(x, MSG_GETS));
}

GPC_SHARED_ACTION(act_write_through, "send GETX with the store's words; the store becomes pending")
{
    return gpc_send_and_wait(x, gpc_new_request(x, MSG_GETX));
}

GPC_SHARED_ACTION(act_send_atomic, "send ATOMIC with the lane list; the atomic becomes pending")
{
    return gpc_send_and_wait(x, gpc_new_request(x, MSG_ATOMIC));
}

GPC_SHARED_ACTION(act_count_dropped, "count a copy dropped when a kernel begins")
{
    gpc_count(x, self_invalidations);
    return GPC_OK;
}

/* ---- L2: states and events --------------------------------------------------------------------------------------- */

GPC_FSM(L2, BASELINE_L2_STATES, BASELINE_L2_EVENTS)

/* ---- L2: classification ------------------------------------------------------------------------------------------ */

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
            return gpc_is_dirty(x) ? L2_EVICT_DIRTY : L2_EVICT_CLEAN;
        case GPC_MSG_FILL: {
            uint8_t asked = gpc_first_pending(x)->type;
            return asked == MSG_GETS ? L2_FILL : asked == MSG_GETX ? L2_FILL_STORE : L2_FILL_ATOMIC;
        }
        default:
            return GPC_NO_EVENT;
    }
}

/* ---- L2: actions ------------------------------------------------------------------------------------------------- */

enum { SECTOR_WORDS = 8 };

gpc_mask_t
baseline_sectors_of(const gpc_controller_t *unit, gpc_mask_t mask)
{
    gpc_mask_t out = 0, sector = (UINT32_C(1) << SECTOR_WORDS) - 1;
    for (int i = 0; i < 32 / SECTOR_WORDS; i++, sector <<= SECTOR_WORDS) {
        out |= mask & sector ? sector : 0;
    }
    return out & gpc_all_words(unit);
}

GPC_SHARED_ACTION(act_fetch, "fetch the line from memory; the request becomes pending")
{
    x->unit->statistics->load_misses += x->cause == MSG_GETS;
    GPC_TRY(gpc_fetch(x));
    return gpc_keep_pending(x);
}

static int
answer(gpc_step_t *x, gpc_index_t to, uint8_t type)
{
    return gpc_send(x, gpc_new_answer(x, to, type));
}

GPC_SHARED_ACTION(act_answer, "send DATA to the requester")
{
    gpc_count(x, load_hits);
    return answer(x, x->message, MSG_DATA);
}

GPC_SHARED_ACTION(act_write, "write the store's words, send ACK")
{
    (void) gpc_act(writer_act_write, x);
    return gpc_answer_writer(x, gpc_new_writer_answer(x, MSG_ACK, 0));
}

GPC_SHARED_ACTION(act_perform, "perform the atomic, send its old values")
{
    (void) gpc_act(writer_act_perform, x);
    return gpc_answer_writer(x, gpc_new_writer_answer(x, MSG_ATOMIC_DATA, 0));
}

GPC_SHARED_ACTION(act_fill_line, "fill the way from memory")
{
    return gpc_act(act_fill, x);
}

GPC_SHARED_ACTION(act_answer_all, "send DATA to all pending loads")
{
    return gpc_answer_pending(x, MSG_DATA, answer);
}

/* ---- L2: the table. A stalled request waits for the line, in order of its source; the bank serves other lines. --- */

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
        [L2_GETX] = HOLD_LINE, /* until the fill */
        [L2_ATOMIC] = HOLD_LINE,
        [L2_EVICT_CLEAN] = NOT_A_VICTIM, /* the way is reserved for the fill */
        [L2_FILL] = GO(L2_V, act_fill_line, act_answer_all),
    },
    [L2_IM] = {
        BASELINE_HOLD_REQUESTS,
        [L2_EVICT_CLEAN] = NOT_A_VICTIM,
        [L2_FILL_STORE] = GO(L2_V, act_fill_line, act_write),
        [L2_FILL_ATOMIC] = GO(L2_V, act_fill_line, act_perform),
    },
};
/* clang-format on */

const gpc_table_t baseline_l2_lines = {GPC_TABLE("L2", OVER_LINES, L2, l2_table, baseline_l2_classify)};

const gpc_controller_type_t baseline_l2 = {
    .name = "L2",
    .position = GPC_AT_BANK,
    .tables = {&baseline_l2_lines},
    .arrays = {{.name = "tags", .line = gpc_writer_line_described, .has_data = true}},
};

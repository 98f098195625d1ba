/* stc_buffer.c: the coalescing buffer of a CU, as a table over its entries; SRC's, which blocks no store.
 *
 * Paper    Puthoor and Lipasti, TACO 2023, section 4.2: the coalescing unit merges the lanes of one wave instruction
 *          and blocks a request to a line that has an older one outstanding; a full buffer stalls the pipeline.
 */
#include "protocols/spatiotemporal/stc.h"

GPC_FSM(BUFFER, SRC_BUFFER_STATES, SRC_BUFFER_EVENTS)

gpc_event_id_t
src_buffer_classify(const gpc_step_t *x)
{
    switch (x->cause) {
        case GPC_MSG_LOAD:
            return BUFFER_LATER;
        case GPC_MSG_STORE:
        case GPC_MSG_ATOMIC:
            return x->entry != GPC_NONE ? BUFFER_LATER : x->mshr != GPC_NONE ? BUFFER_BEHIND : BUFFER_ISSUE;
        case STC_WRITE_ACK:
        case STC_ATOMIC_DATA:
            return BUFFER_ACK;
        default:
            return GPC_NO_EVENT;
    }
}

uint8_t
src_route(const gpc_controller_t *unit, const gpc_msg_t *msg)
{
    switch (msg->type) {
        case GPC_MSG_LOAD:
            return gpc_part_find(&unit->parts[0], msg->line) == GPC_NONE ? STC_TABLE_LINES : STC_TABLE_BUFFER;
        case STC_DATA:
            return STC_TABLE_LINES;
        default:
            return STC_TABLE_BUFFER;
    }
}

uint32_t
stc_buffer_entries(const gpc_machine_t *machine, const int64_t *options)
{
    (void) machine;
    return (uint32_t) options[STC_OPTION_BUFFER];
}

/* ---- actions over lines ------------------------------------------------------------------------------------------ */

GPC_SHARED_ACTION(act_read, "send READ; the load becomes pending")
{
    gpc_count(x, load_misses);
    return gpc_send_and_wait(x, gpc_new_request(x, STC_READ));
}

GPC_SHARED_ACTION(act_read_uncached, "send READ, whose line is not kept; the load becomes pending")
{
    return gpc_act(act_read, x);
}

/* ---- actions over entries ---------------------------------------------------------------------------------------- */

GPC_SHARED_ACTION(act_enter, "take an entry for the store or atomic, or hold")
{
    int status = gpc_take_entry(x);
    if (status == GPC_OK) {
        gpc_list_clear(&stc_entry(x, 0)->store);
        gpc_list_clear(&stc_entry(x, 0)->later);
        stc_entry(x, 0)->waited = 0;
        gpc_list_push(&stc_entry(x, 0)->store, x->unit->messages, x->message);
        x->kept = true;
    }
    return status;
}

GPC_SHARED_ACTION(act_queue, "wait behind the entry's store or atomic")
{
    gpc_list_push(&stc_entry(x, 0)->later, x->unit->messages, x->message);
    x->kept = true;
    return GPC_OK;
}

int
stc_issue(gpc_step_t *x)
{
    gpc_step_t its = *x; /* an entry that acts by itself has no request */
    its.message = stc_entry(x, 0)->store.head;
    its.msg = gpc_msg_at(x->unit->messages, its.message);
    its.mask = its.msg->mask;
    GPC_TRY(gpc_send(&its, gpc_new_request(&its, its.msg->type == GPC_MSG_STORE ? STC_WRITE : STC_ATOMIC)));
    return gpc_controller_line(x->unit, STC_TABLE_LINES, GPC_MSG_STORE, x->line, gpc_all_words(x->unit), GPC_NONE);
}

int
stc_entry_done(gpc_step_t *x)
{
    gpc_index_t store = gpc_list_pop(&stc_entry(x, 0)->store, x->unit->messages);
    gpc_msg_at(x->unit->messages, store)->lanes = x->msg->lanes;
    x->msg->lanes = GPC_NONE;
    GPC_TRY(gpc_complete(x, store, x->msg->data, false));
    return gpc_replay_list(x, &stc_entry(x, 0)->later);
}

GPC_ACTION(act_issue, "send WRITE or ATOMIC; drop the copy")
{
    return stc_issue(x);
}

GPC_ACTION(act_done, "complete it; later requests to the line are taken again")
{
    return stc_entry_done(x);
}

/* clang-format off */
static const gpc_cell_t buffer_table[BUFFER_NUM_STATES][BUFFER_NUM_EVENTS] = {
    [BUFFER_FREE] = {
        [BUFFER_ISSUE] = GO(BUFFER_SENT, act_enter, act_issue),
        [BUFFER_BEHIND] = HOLD_LINE,
    },
    [BUFFER_SENT] = {
        [BUFFER_LATER] = GO(BUFFER_SENT, act_queue),
        [BUFFER_ACK] = GO(BUFFER_FREE, act_done),
    },
};
/* clang-format on */

const gpc_table_t src_buffer = {GPC_TABLE("L1.buffer", OVER_ENTRIES, BUFFER, buffer_table, src_buffer_classify)};

/* writer.c: answers, performs and counts the store or atomic of a step. */
#include "controller/writer.h"

static bool
is_in_hand(const gpc_step_t *x)
{
    return gpc_has_message(x) && gpc_is_request(x->unit, x->msg);
}

gpc_index_t
gpc_writer(const gpc_step_t *x)
{
    return is_in_hand(x) ? x->message : gpc_step_pending(x)->head;
}

gpc_msg_t *
gpc_new_writer_answer(gpc_step_t *x, uint8_t type, gpc_cycle_t until)
{
    int status = gpc_note_performed(x, gpc_writer(x), until);
    if (status) { /* gpc_send refuses the dummy message */
        (void) gpc_fail(x->unit->failure, status, "%s %u: no memory to monitor a performed write", x->unit->type->name,
                        x->unit->index);
        return gpc_pool_spare(x->unit->messages);
    }
    return gpc_new_answer(x, gpc_writer(x), type);
}

int
gpc_answer_writer(gpc_step_t *x, gpc_msg_t *answer)
{
    int status = gpc_send(x, answer);
    if (!is_in_hand(x)) {
        gpc_free_message(x->unit, gpc_pop_pending(x));
    }
    return status;
}

GPC_SHARED_ACTION(writer_act_write, "write the store's words into the line")
{
    const gpc_msg_t *store = gpc_writer_message(x);
    gpc_merge_words(gpc_line_words(x), store->data, store->mask);
    gpc_writer_line(x)->dirty = 1;
    return GPC_OK;
}

GPC_SHARED_ACTION(writer_act_perform, "perform the atomic on the line")
{
    if (gpc_rmw_perform(gpc_lane_list_at(x->unit->lane_lists, gpc_writer_message(x)->lanes), gpc_line_words(x))) {
        gpc_writer_line(x)->dirty = 1;
    }
    return GPC_OK;
}

GPC_SHARED_ACTION(writer_act_access, "perform the store or atomic on the line")
{
    return gpc_act(gpc_writer_stores(x) ? writer_act_write : writer_act_perform, x);
}

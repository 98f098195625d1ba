/* owners.c: write-backs of owned lines. */
#include "controller/owners.h"

gpc_msg_t *
gpc_new_write_back(gpc_step_t *x, uint8_t type)
{
    gpc_msg_t *msg = gpc_new_message(x, type, gpc_home_of(x->unit, x->line));
    msg->request = GPC_NONE;
    GPC_NEEDS(x, way, "way");
    gpc_carry(x, msg, gpc_all_words(x->unit), gpc_line_words(x));
    gpc_writer_line(x)->dirty = 0;
    gpc_count(x, writebacks);
    return msg;
}

int
gpc_perform_here(gpc_step_t *x, uint64_t version)
{
    GPC_TRY(gpc_act(writer_act_access, x));
    return gpc_note_performed(x, gpc_writer(x), version);
}

GPC_SHARED_ACTION(act_complete_here, "complete the store or atomic that has been performed here, as a hit")
{
    return gpc_complete(x, x->message, gpc_line_words(x), true);
}

GPC_SHARED_ACTION(act_take_back, "take the owner's line; memory is then behind")
{
    GPC_NEEDS(x, way, "way");
    gpc_merge_words(gpc_line_words(x), x->msg->data, gpc_all_words(x->unit));
    gpc_writer_line(x)->dirty = 1;
    return GPC_OK;
}

/* gpu_vi_sharers.c: the list of who may have a copy, as GPU-VI keeps it beside a line and GPU-VIni in its directory, and what an L2
 * does with it.
 *
 * Paper    Singh et al., HPCA 2013, sections 4.2 and 4.3.
 */
#include "protocols/invalidation/gpu_vi.h"

gpc_nodeset_t *
vi_sharers(const gpc_step_t *x)
{
    const gpc_tags_t *directory = &x->unit->arrays[VI_DIRECTORY];
    if (directory->sets) {
        return &((vi_entry_t *) gpc_tags_fields(directory, gpc_way_in(x, VI_DIRECTORY)))->sharers;
    }
    return &((vi_l2_line_t *) gpc_line_fields(x))->sharers;
}

bool
vi_others_share(const gpc_step_t *x)
{
    gpc_nodeset_t others = gpc_nodeset_without(vi_sharers(x), x->msg->source);
    return gpc_nodeset_count(&others) > 0;
}

gpc_node_t
vi_writer_of(const gpc_step_t *x)
{
    return gpc_msg_at(x->unit->messages, gpc_step_pending(x)->head)->source;
}

bool
vi_writer_shares(const gpc_step_t *x)
{
    return gpc_nodeset_has(vi_sharers(x), vi_writer_of(x));
}

GPC_SHARED_ACTION(act_add_sharer, "the sender is listed")
{
    gpc_nodeset_add(vi_sharers(x), x->msg->source);
    return GPC_OK;
}

GPC_SHARED_ACTION(act_add_readers, "all who wait are listed")
{
    gpc_index_t i = gpc_step_pending(x)->head;
    for (uint32_t n = gpc_step_pending(x)->count; n; n--) {
        gpc_nodeset_add(vi_sharers(x), gpc_msg_at(x->unit->messages, i)->source);
        i = gpc_msg_at(x->unit->messages, i)->next;
    }
    return GPC_OK;
}

GPC_SHARED_ACTION(act_clear_sharers, "the list is empty")
{
    *vi_sharers(x) = (gpc_nodeset_t){{0}};
    return GPC_OK;
}

GPC_SHARED_ACTION(act_keep_only_writer, "the writer alone is listed")
{
    *vi_sharers(x) = (gpc_nodeset_t){{0}};
    gpc_nodeset_add(vi_sharers(x), vi_writer_of(x));
    return GPC_OK;
}

/* `type` to every node of the set; as many acknowledgements are then awaited. */
static int
call_in(gpc_step_t *x, uint8_t type, const gpc_nodeset_t *set)
{
    gpc_index_t message = gpc_new_message(x, type, GPC_NO_NODE);
    if (message == GPC_NONE) {
        return GPC_ERROR_CAPACITY;
    }
    gpc_msg_at(x->unit->messages, message)->request = GPC_NONE;
    ((vi_l2_mshr_t *) gpc_step_mshr_fields(x))->acknowledgements = gpc_nodeset_count(set);
    return gpc_broadcast(x, message, set);
}

GPC_SHARED_ACTION(act_invalidate_others, "INV to all listed but the sender; their acknowledgements are awaited")
{
    gpc_nodeset_t others = gpc_nodeset_without(vi_sharers(x), x->msg->source);
    return call_in(x, VI_INV, &others);
}

GPC_SHARED_ACTION(act_recall, "RECALL to all listed; their acknowledgements are awaited")
{
    return call_in(x, VI_RECALL, vi_sharers(x));
}

GPC_SHARED_ACTION(act_count, "one acknowledgement less is awaited")
{
    ((vi_l2_mshr_t *) gpc_step_mshr_fields(x))->acknowledgements--;
    return GPC_OK;
}

/* gpu_vi_sharers.c: what GPU-VI's and GPU-VIni's L2 do with a line's sharers, wherever they keep them.
 *
 * Paper    Singh et al., HPCA 2013, sections 4.2 and 4.3.
 */
#include "protocols/invalidation/gpu_vi.h"

bool
vi_writer_shares(const gpc_step_t *x)
{
    return gpc_nodeset_has(gpc_sharers(x), gpc_writer_message(x)->source);
}

GPC_SHARED_ACTION(act_keep_only_writer, "the writer alone is listed")
{
    *gpc_sharers(x) = (gpc_nodeset_t){{0}};
    gpc_nodeset_add(gpc_sharers(x), gpc_writer_message(x)->source);
    return GPC_OK;
}

GPC_SHARED_ACTION(act_invalidate_others, "INV to all listed but the sender; their acknowledgements are awaited")
{
    gpc_nodeset_t others = gpc_other_sharers(x);
    return gpc_call_in_and_wait(x, VI_INV, &others);
}

GPC_SHARED_ACTION(act_recall, "RECALL to all listed; their acknowledgements are awaited")
{
    return gpc_call_in_and_wait(x, VI_RECALL, gpc_sharers(x));
}

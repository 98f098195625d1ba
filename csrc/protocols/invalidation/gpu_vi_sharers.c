/* gpu_vi_sharers.c: sharer-list actions of GPU-VI's and GPU-VIni's L2, beside the line or in a directory.
 *
 * Paper    Singh et al., HPCA 2013, sections 4.2 and 4.3.
 */
#include "protocols/invalidation/gpu_vi.h"

bool
vi_writer_shares(const gpc_step_t *x)
{
    return gpc_nodeset_has(gpc_sharers(x), gpc_writer_message(x)->source);
}

GPC_SHARED_ACTION(act_keep_only_writer, "reduce the sharer list to the writer")
{
    *gpc_sharers(x) = (gpc_nodeset_t){{0}};
    gpc_nodeset_add(gpc_sharers(x), gpc_writer_message(x)->source);
    return GPC_OK;
}

GPC_SHARED_ACTION(act_invalidate_others, "send INV to all other sharers; expect their acknowledgements")
{
    gpc_nodeset_t others = gpc_other_sharers(x);
    return gpc_call_in_and_wait(x, VI_INV, &others);
}

GPC_SHARED_ACTION(act_recall, "send RECALL to all sharers; expect their acknowledgements")
{
    return gpc_call_in_and_wait(x, VI_RECALL, gpc_sharers(x));
}

/* actions.c: actions for the cells of any protocol; those on ways are in ways.c. */
#include "controller/actions.h"

GPC_SHARED_ACTION(act_wait, "make the request pending")
{
    return gpc_keep_pending(x);
}

GPC_SHARED_ACTION(act_merge, "merge the load: make it pending too")
{
    gpc_count(x, load_merges);
    return gpc_join_pending(x);
}

/* A load that act_replay takes again, when the line is present, is counted as a hit then. */
GPC_SHARED_ACTION(act_miss, "fetch the line from memory; the request is pending until it is replayed")
{
    gpc_count_miss(x);
    GPC_TRY(gpc_fetch(x));
    return gpc_keep_pending(x);
}

GPC_SHARED_ACTION(act_replay, "replay the pending requests, then those held behind them")
{
    return gpc_replay_pending(x);
}

GPC_SHARED_ACTION(act_hit, "complete the load from the line")
{
    gpc_count(x, load_hits);
    return gpc_complete(x, x->message, gpc_line_words(x), true);
}

GPC_SHARED_ACTION(act_fetch_line, "fetch the line from memory")
{
    return gpc_fetch(x);
}

GPC_SHARED_ACTION(act_write_back, "write the line back to memory")
{
    GPC_NEEDS(x, way, "way");
    return gpc_write_memory(x, gpc_all_words(x->unit), gpc_line_words(x));
}

GPC_SHARED_ACTION(act_count_invalidation, "count an invalidated copy")
{
    gpc_count(x, invalidations);
    return GPC_OK;
}

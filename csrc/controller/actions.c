/* actions.c: actions that tables of any protocol may name in their cells. */
#include "controller/actions.h"

GPC_SHARED_ACTION(act_reserve_way, "a way for the line, its victim evicted, or hold")
{
    return gpc_reserve_way(x);
}

GPC_SHARED_ACTION(act_release_way, "the line's way, if it has one, is free")
{
    return gpc_release_way(x);
}

GPC_SHARED_ACTION(act_wait, "the request is pending")
{
    return gpc_keep_pending(x);
}

GPC_SHARED_ACTION(act_merge, "the load is pending too")
{
    gpc_count(x, load_merges);
    return gpc_keep_pending(x);
}

GPC_SHARED_ACTION(act_replay, "pending requests are taken again, then those held behind them")
{
    return gpc_replay_pending(x);
}

GPC_SHARED_ACTION(act_hit, "the load completes from the line")
{
    gpc_count(x, load_hits);
    return gpc_complete(x, x->message, gpc_line_words(x), true);
}

GPC_SHARED_ACTION(act_fetch_line, "memory is asked for the line")
{
    return gpc_fetch(x);
}

GPC_SHARED_ACTION(act_write_back, "the line to memory")
{
    return gpc_write_memory(x, gpc_all_words(x->unit), gpc_line_words(x));
}

GPC_SHARED_ACTION(act_count_invalidation, "counts a copy dropped at another's wish")
{
    gpc_count(x, invalidations);
    return GPC_OK;
}

/* mutants_mesi.c: bugs planted in MESI. */
#include "tests/mutants.h"

static void
inv_ack_dropped(mutant_t *m)
{
    mutant_drop(m, "L1", "I", "INV", 0);
}

static void
silent_exclusive_eviction(mutant_t *m)
{
    mutant_copy(m, "L1", "E", "EVICT", "S", "EVICT");
}

static void
writeback_lost(mutant_t *m)
{
    mutant_drop(m, "L2", "MT", "PUTX_DIRTY", 0);
}

/* The writer proceeds with the line while other copies exist. */
static gpc_event_id_t
need_no_sharer(const gpc_step_t *x)
{
    gpc_event_id_t event = mutant_base_event(x);
    return mutant_event_is(x, event, "DATA_X") ? mutant_event(x, "LAST_DATA_X") : event;
}

GPC_ACTION(act_ignore, "do nothing")
{
    (void) x;
    return GPC_OK;
}

static void
acks_not_awaited(mutant_t *m)
{
    static const char *const states[] = {"I", "S", "E", "M", "IS", "M_I", "SINK"};
    mutant_classify(m, "L1", need_no_sharer);
    for (unsigned i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        mutant_cell(m, "L1", states[i], "INV_ACK")->actions[0] = act_ignore;
        mutant_next(m, "L1", states[i], "INV_ACK", states[i]);
    }
}

static void
stale_fill_kept(mutant_t *m)
{
    mutant_copy(m, "L1", "IS_I", "DATA", "IS", "DATA");
}

static void
upgrade_survives_invalidation(mutant_t *m)
{
    mutant_next(m, "L1", "SM", "INV", "SM");
}

static void
clean_owner_drops_dirty_l2(mutant_t *m)
{
    mutant_drop(m, "L2", "MT", "EVICT_DIRTY", 1);
}

static void
writeback_overtakes_unblock(mutant_t *m)
{
    mutant_copy(m, "L2", "MT_MB", "PUTX_OLD", "M", "PUTX_OLD");
    mutant_next(m, "L2", "MT_MB", "PUTX_OLD", "MT_MB");
}

static void
owner_keeps_line(mutant_t *m)
{
    mutant_next(m, "L1", "M", "FWD_GETX", "M");
}

static void
reader_leaves_memory_behind(mutant_t *m)
{
    mutant_drop(m, "L2", "MT_IIB", "WB_DIRTY", 0);
    mutant_drop(m, "L2", "MT_IB", "WB_DIRTY", 0);
}

/* clang-format off */
MUTANTS(mesi) {
    {"mesi!inv-ack-dropped", "an L1 that has evicted the line does not acknowledge its invalidation", NULL, inv_ack_dropped},
    {"mesi!silent-exclusive-eviction", "a clean owner evicts the line silently", NULL, silent_exclusive_eviction},
    {"mesi!writeback-lost", "the L2 forgets the line that its owner writes back", NULL, writeback_lost},
    {"mesi!acks-not-awaited", "a writer proceeds before the other L1s have acknowledged", NULL, acks_not_awaited},
    {"mesi!stale-fill-kept", "an invalidated read miss keeps its line", NULL, stale_fill_kept},
    {"mesi!upgrade-survives-invalidation", "an upgrade completes with a copy that has been invalidated", NULL, upgrade_survives_invalidation},
    {"mesi!clean-owner-drops-dirty-l2", "a recall that finds the owner clean discards an L2 copy that is newer than memory",
     "gem5's two-level MESI: the L2 drops its copy on clean write-back data", clean_owner_drops_dirty_l2},
    {"mesi!writeback-overtakes-unblock", "a write-back that has overtaken its sender's unblock is treated as a former owner's",
     "a PUTX is not held while an exclusive grant is in progress", writeback_overtakes_unblock},
    {"mesi!owner-keeps-line", "an owner passes the line to a writer and stays in M", NULL, owner_keeps_line},
    {"mesi!reader-leaves-memory-behind", "the L2 ignores the line that an owner sends for a reader", NULL, reader_leaves_memory_behind},
    {0},
};
/* clang-format on */

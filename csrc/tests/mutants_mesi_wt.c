/* mutants_mesi_wt.c: bugs planted in mesi-wt, without and with E and M at the L1, and in sc-ideal. */
#include "tests/mutants.h"

enum { EXCLUSIVE_ON = 1, MSHR_MERGE = 0 };

GPC_ACTION(act_lose, "send BEHIND_ACK, lose the words")
{
    return gpc_send(x, gpc_new_answer(x, x->message, mutant_type(x, "BEHIND_ACK")));
}

/* ---- exclusive=off ------------------------------------------------------------------------------------------------------------- */

static void
not_blocked(mutant_t *m)
{
    mutant_copy(m, "L2", "SB", "GETS", "S", "GETS");
    mutant_next(m, "L2", "SB", "GETS", "SB");
}

static void
unblock_lost(mutant_t *m)
{
    mutant_drop(m, "L1", "II", "ACK", 2);
}

static void
merged_words_lost(mutant_t *m)
{
    mutant_choose(m, "mshr", MSHR_MERGE);
    mutant_drop(m, "L2", "SB", "UNBLOCK_ALONE", 0);
}

static void
copy_not_updated(mutant_t *m)
{
    mutant_drop(m, "L1", "SM", "ACK", 1);
}

static void
copy_survives(mutant_t *m)
{
    mutant_next(m, "L1", "S", "INV", "S");
}

static void
writer_keeps_copy(mutant_t *m)
{
    gpc_cell_t *cell = mutant_cell(m, "L1", "SM", "INV");
    cell->actions[1] = cell->actions[2];
    cell->actions[2] = NULL;
    mutant_next(m, "L1", "SM", "INV", "SM");
}

static void
fill_survives(mutant_t *m)
{
    gpc_cell_t *cell = mutant_cell(m, "L1", "IS", "INV");
    cell->actions[1] = cell->actions[2];
    cell->actions[2] = NULL;
    mutant_next(m, "L1", "IS", "INV", "IS");
}

static void
late_load_merges(mutant_t *m)
{
    mutant_copy(m, "L1", "IS_I", "LOAD", "IS", "LOAD");
    mutant_next(m, "L1", "IS_I", "LOAD", "IS_I");
}

static void
store_without_invalidations(mutant_t *m)
{
    mutant_copy(m, "L2", "S", "GETX_SHARED", "S", "GETX");
}

static void
atomic_without_invalidations(mutant_t *m)
{
    mutant_copy(m, "L2", "S", "ATOMIC_SHARED", "S", "ATOMIC");
}

static void
no_recall(mutant_t *m)
{
    mutant_copy(m, "L2", "S", "EVICT_CLEAN", "V", "EVICT_CLEAN");
    mutant_copy(m, "L2", "S", "EVICT_DIRTY", "V", "EVICT_DIRTY");
}

static void
warp_passes_own_store(mutant_t *m)
{
    mutant_copy(m, "L1", "SM", "LOAD", "S", "LOAD");
    mutant_next(m, "L1", "SM", "LOAD", "SM");
}

/* ---- exclusive=on -------------------------------------------------------------------------------------------------------------- */

/* The public simulator's: the L2 answers at once, with a copy that lacks the owner's stores in flight. */
static void
reader_before_writes(mutant_t *m)
{
    mutant_choose(m, "exclusive", EXCLUSIVE_ON);
    mutant_copy(m, "L2", "MT", "GETS_OWNED", "S", "GETS");
    mutant_next(m, "L2", "MT", "GETS_OWNED", "MT");
}

static void
downgrade_overtakes_writes(mutant_t *m)
{
    mutant_choose(m, "exclusive", EXCLUSIVE_ON);
    mutant_protocol(m)->networks[3].ordered = false;
}

static void
downgrade_forgotten(mutant_t *m)
{
    mutant_choose(m, "exclusive", EXCLUSIVE_ON);
    mutant_next(m, "L1", "IS", "DOWNGRADE", "IS");
}

static void
owner_stays(mutant_t *m)
{
    mutant_choose(m, "exclusive", EXCLUSIVE_ON);
    mutant_next(m, "L1", "E", "DOWNGRADE", "E");
}

static void
writes_lost_in_recall(mutant_t *m)
{
    mutant_choose(m, "exclusive", EXCLUSIVE_ON);
    mutant_replace(m, "L2", "SI", "BEHIND", 0, act_lose);
}

/* ---- sc-ideal ------------------------------------------------------------------------------------------------------------------ */

static void
ideal_copy_not_updated(mutant_t *m)
{
    mutant_drop(m, "L1", "SM", "LAST_ACK", 0);
}

static void
ideal_fill_survives(mutant_t *m)
{
    mutant_drop(m, "L1", "IS", "INVALIDATE", 1);
    mutant_next(m, "L1", "IS", "INVALIDATE", "IS");
}

static void
ideal_evicted_copies_stay(mutant_t *m)
{
    no_recall(m);
}

static void
ideal_atomic_leaves_copies(mutant_t *m)
{
    mutant_drop(m, "L2", "S", "ATOMIC", 0);
}

static void
ideal_reader_not_listed(mutant_t *m)
{
    mutant_drop(m, "L2", "V", "GETS", 0);
}

/* clang-format off */
MUTANTS(mesi_wt) {
    {"mesi-wt!not-blocked", "the L2 answers readers before a writer's UNBLOCK, while its L1 performs the merged writes",
     "public simulator: merged stores complete with the first one, and are never sent", not_blocked},
    {"mesi-wt!unblock-lost", "a writer that has lost its copy does not unblock the line", NULL, unblock_lost},
    {"mesi-wt!merged-words-lost", "mshr=merge: the L2 loses the words of merged writes", NULL, merged_words_lost},
    {"mesi-wt!copy-not-updated", "a sharer's copy does not take its acknowledged store", NULL, copy_not_updated},
    {"mesi-wt!copy-survives", "an L1 acknowledges an invalidation and keeps its copy", NULL, copy_survives},
    {"mesi-wt!writer-keeps-copy", "an L1 with an own store outstanding acknowledges an invalidation and keeps its copy", NULL, writer_keeps_copy},
    {"mesi-wt!fill-survives", "an invalidation that overtakes the data does not cancel the read miss", NULL, fill_survives},
    {"mesi-wt!w2", "a load in IS_I merges into the outstanding read, which may predate the invalidation", NULL, late_load_merges},
    {"mesi-wt!store-without-invalidations", "a store to a shared line is performed at once, without invalidations", NULL, store_without_invalidations},
    {"mesi-wt!atomic-without-invalidations", "an atomic on a shared line is performed at once, without invalidations", NULL, atomic_without_invalidations},
    {"mesi-wt!no-recall", "the L2 evicts a shared line without recalling it", NULL, no_recall},
    {"mesi-wt!passes-own-store", "a load hits the copy behind its warp's own store, under rc", NULL, warp_passes_own_store},
    {"mesi-wt!reader-before-writes", "exclusive=on: the L2 answers a reader with its copy while the owner's stores are in flight",
     "public simulator: in MT, the L2 answers another reader with its own copy", reader_before_writes},
    {"mesi-wt!downgrade-overtakes-writes", "exclusive=on: the owner's acknowledgement may overtake its stores", NULL, downgrade_overtakes_writes},
    {"mesi-wt!downgrade-forgotten", "exclusive=on: a downgrade that overtakes the exclusive line does not make it shared", NULL, downgrade_forgotten},
    {"mesi-wt!owner-stays", "exclusive=on: an owner acknowledges a downgrade and stays in E", NULL, owner_stays},
    {"mesi-wt!writes-lost-in-recall", "exclusive=on: a store that arrives during a recall is acknowledged and lost", NULL, writes_lost_in_recall},
    {"sc-ideal!copy-not-updated", "the writer's copy does not take its acknowledged store", NULL, ideal_copy_not_updated},
    {"sc-ideal!fill-survives", "a store does not cancel the read misses of other L1s whose data are in flight", NULL, ideal_fill_survives},
    {"sc-ideal!evicted-copies-stay", "the L2 evicts a line and leaves its copies", NULL, ideal_evicted_copies_stay},
    {"sc-ideal!atomic-leaves-copies", "an atomic leaves the copies of other L1s", NULL, ideal_atomic_leaves_copies},
    {"sc-ideal!reader-not-listed", "the L2 does not list the reader of a line that it has as a sharer", NULL, ideal_reader_not_listed},
    {0},
};
/* clang-format on */

/* mutants_mesi_wt.c: bugs planted in mesi-wt, without and with E and M at the L1, and in sc-ideal. */
#include "tests/mutants.h"

enum { EXCLUSIVE_ON = 1 };

GPC_ACTION(act_lose, "send BEHIND_ACK, lose the words")
{
    return gpc_send(x, gpc_new_answer(x, x->message, mutant_type(x, "BEHIND_ACK")));
}

GPC_ACTION(act_take_store, "write the acknowledged store into the copy")
{
    GPC_FOR_PENDING(x, store)
    {
        if (store->request == x->msg->request) {
            gpc_merge_words(gpc_line_words(x), store->data, store->mask);
        }
    }
    return GPC_OK;
}

/* The L1's copy takes the store at its ACK. */
static void
take_store(mutant_t *m, const char *event, const char *next)
{
    gpc_cell_t *cell = mutant_cell(m, "L1", "SM", event);
    mutant_copy(m, "L1", "SM", event, "II", event);
    cell->actions[1] = cell->actions[0];
    cell->actions[0] = act_take_store;
    mutant_next(m, "L1", "SM", event, next);
}

/* ---- exclusive=off ------------------------------------------------------------------------------------------------------------- */

/* The L2 goes on at once, and performs the store itself: its first answer is ACK. */
static void
not_blocked(mutant_t *m)
{
    gpc_cell_t *last = mutant_cell(m, "L2", "SW", "LAST_INV_ACK_KEPT");
    const gpc_action_t *write = mutant_cell(m, "L2", "V", "GETX")->actions[0];
    mutant_replace(m, "L2", "S", "GETX", 0, write);
    mutant_next(m, "L2", "S", "GETX", "S");
    last->actions[1] = write;
    mutant_next(m, "L2", "SW", "LAST_INV_ACK_KEPT", "S");
    take_store(m, "ACK", "SM");
    take_store(m, "LAST_ACK", "S");
}

static void
unblock_lost(mutant_t *m)
{
    mutant_drop(m, "L1", "II", "LAST_KEPT", 2);
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
    mutant_copy(m, "L1", "II", "LOAD", "IS", "LOAD");
    mutant_next(m, "L1", "II", "LOAD", "II");
}

static void
store_without_invalidations(mutant_t *m)
{
    mutant_copy(m, "L2", "S", "GETX_SHARED", "V", "GETX");
    mutant_next(m, "L2", "S", "GETX_SHARED", "S");
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
    mutant_protocol(m)->order.same_line = false;
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
atomic_overtakes_writes(mutant_t *m)
{
    mutant_choose(m, "exclusive", EXCLUSIVE_ON);
    mutant_copy(m, "L1", "MM", "ATOMIC", "M", "ATOMIC");
}

static void
writes_lost_in_recall(mutant_t *m)
{
    mutant_choose(m, "exclusive", EXCLUSIVE_ON);
    mutant_replace(m, "L2", "SI", "BEHIND", 0, act_lose);
}

/* ---- sc-ideal ------------------------------------------------------------------------------------------------------------------ */

static void
ideal_copy_late(mutant_t *m)
{
    const gpc_action_t *complete = mutant_cell(m, "L1", "II", "ACK")->actions[0];
    gpc_cell_t *ack = mutant_cell(m, "L1", "SM", "ACK"), *last = mutant_cell(m, "L1", "SM", "LAST_ACK");
    mutant_drop(m, "L1", "SM", "PERFORMED", 0);
    ack->actions[0] = last->actions[0] = act_take_store;
    ack->actions[1] = last->actions[1] = complete;
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
    mutant_drop(m, "L2", "V", "EVICT_CLEAN", 0);
    mutant_drop(m, "L2", "V", "EVICT_DIRTY", 0);
}

static void
ideal_atomic_leaves_copies(mutant_t *m)
{
    mutant_drop(m, "L2", "V", "ATOMIC", 0);
}

static void
ideal_reader_not_listed(mutant_t *m)
{
    mutant_drop(m, "L2", "V", "GETS", 0);
}

/* clang-format off */
MUTANTS(mesi_wt) {
    {"mesi-wt!not-blocked", "the L2 performs a sharer's store and goes on before the sharer has updated its copy, which its other warps read",
     "no unblock: the invalidation of the other sharers suffices", not_blocked},
    {"mesi-wt!unblock-lost", "a writer that has lost its copy does not unblock the line", NULL, unblock_lost},
    {"mesi-wt!copy-survives", "an L1 acknowledges an invalidation and keeps its copy", NULL, copy_survives},
    {"mesi-wt!writer-keeps-copy", "an L1 with an own store outstanding acknowledges an invalidation and keeps its copy", NULL, writer_keeps_copy},
    {"mesi-wt!fill-survives", "an invalidation that overtakes the data does not cancel the read miss", NULL, fill_survives},
    {"mesi-wt!w2", "a load in II merges into the outstanding read, which may predate an invalidation or an own store", NULL, late_load_merges},
    {"mesi-wt!store-without-invalidations", "a store to a shared line is performed at once, without invalidations", NULL, store_without_invalidations},
    {"mesi-wt!atomic-without-invalidations", "an atomic on a shared line is performed at once, without invalidations", NULL, atomic_without_invalidations},
    {"mesi-wt!no-recall", "the L2 evicts a shared line without recalling it", NULL, no_recall},
    {"mesi-wt!passes-own-store", "under rc a warp's load may pass its own store to the line", NULL, warp_passes_own_store},
    {"mesi-wt!reader-before-writes", "exclusive=on: the L2 answers a reader with its copy while the owner's stores are in flight",
     "public simulator: in MT, the L2 answers another reader with its own copy", reader_before_writes},
    {"mesi-wt!downgrade-overtakes-writes", "exclusive=on: the owner's acknowledgement may overtake its stores", NULL, downgrade_overtakes_writes},
    {"mesi-wt!downgrade-forgotten", "exclusive=on: a downgrade that overtakes the exclusive line does not make it shared", NULL, downgrade_forgotten},
    {"mesi-wt!owner-stays", "exclusive=on: an owner acknowledges a downgrade and stays in E", NULL, owner_stays},
    {"mesi-wt!atomic-overtakes-writes", "exclusive=on: an atomic may overtake the L1's own stores", NULL, atomic_overtakes_writes},
    {"mesi-wt!writes-lost-in-recall", "exclusive=on: a store that arrives during a recall is acknowledged and lost", NULL, writes_lost_in_recall},
    {"sc-ideal!copy-late", "the writer's copy takes a store when its acknowledgement arrives, not when the L2 performs it", NULL, ideal_copy_late},
    {"sc-ideal!fill-survives", "a store does not cancel the read misses of other L1s whose data are in flight", NULL, ideal_fill_survives},
    {"sc-ideal!evicted-copies-stay", "the L2 evicts a line and leaves its copies", NULL, ideal_evicted_copies_stay},
    {"sc-ideal!atomic-leaves-copies", "an atomic leaves the copies of other L1s", NULL, ideal_atomic_leaves_copies},
    {"sc-ideal!reader-not-listed", "the L2 does not list the reader of a line that it has as a sharer", NULL, ideal_reader_not_listed},
    {0},
};
/* clang-format on */

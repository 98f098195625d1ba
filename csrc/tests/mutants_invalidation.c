/* mutants_invalidation.c: bugs planted in gpu-vi and gpu-vini. */
#include "tests/mutants.h"

/* ---- both: the L1 -------------------------------------------------------------------------------------------------------------- */

static void
late_load_merges(mutant_t *m)
{
    mutant_copy(m, "L1", "II", "LOAD", "IV", "LOAD");
    mutant_next(m, "L1", "II", "LOAD", "II");
}

static void
fill_survives(mutant_t *m)
{
    gpc_cell_t *cell = mutant_cell(m, "L1", "IV", "INV");
    cell->actions[0] = cell->actions[2];
    cell->actions[1] = NULL;
    mutant_next(m, "L1", "IV", "INV", "IV");
}

static void
copy_survives(mutant_t *m)
{
    mutant_next(m, "L1", "V", "INV", "V");
}

static void
load_before_fill(mutant_t *m)
{
    mutant_copy(m, "L1", "IV", "LOAD", "V", "LOAD");
    mutant_next(m, "L1", "IV", "LOAD", "IV");
}

static void
inv_ack_dropped(mutant_t *m)
{
    mutant_drop(m, "L1", "I", "INV", 0);
}

static void
own_store_readable(mutant_t *m)
{
    mutant_copy(m, "L1", "VM", "LOAD", "V", "LOAD");
    mutant_next(m, "L1", "VM", "LOAD", "VM");
}

static void
requests_unordered(mutant_t *m)
{
    mutant_protocol(m)->networks[0].ordered = false;
}

/* ---- both: the L2 -------------------------------------------------------------------------------------------------------------- */

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

/* ---- gpu-vi: the L2 ------------------------------------------------------------------------------------------------------------ */

static void
vi_no_recall(mutant_t *m)
{
    mutant_copy(m, "L2", "S", "EVICT_CLEAN", "V", "EVICT_CLEAN");
    mutant_copy(m, "L2", "S", "EVICT_DIRTY", "V", "EVICT_DIRTY");
}

static void
vi_recall_loses_data(mutant_t *m)
{
    mutant_drop(m, "L2", "S", "EVICT_DIRTY", 1);
}

static void
vi_readers_of_fill_forgotten(mutant_t *m)
{
    mutant_drop(m, "L2", "IS", "FILL", 1);
}

/* The L2 expects one acknowledgement too few. */
static gpc_event_id_t
count_one_less(const gpc_step_t *x)
{
    bool late = x->mshr == GPC_NONE && (mutant_cause_is(x, "INV_ACK") || mutant_cause_is(x, "RECALL_ACK"));
    gpc_event_id_t event = late ? mutant_event(x, "LAST_INV_ACK") : mutant_base_event(x);
    if (!mutant_event_is(x, event, "INV_ACK") || mutant_mshr_field(x, "acknowledgements") != 2) {
        return event;
    }
    return mutant_event(x, "LAST_INV_ACK");
}

GPC_ACTION(act_count_and_ignore, "ignore a late acknowledgement")
{
    (void) x;
    return GPC_OK;
}

static void
vi_one_ack_less(mutant_t *m)
{
    static const char *const stable[] = {"I", "V", "S", "IS", "IM"};
    mutant_classify(m, "L2", count_one_less);
    for (unsigned i = 0; i < sizeof(stable) / sizeof(stable[0]); i++) {
        gpc_cell_t *cell = mutant_cell(m, "L2", stable[i], "LAST_INV_ACK");
        cell->actions[0] = act_count_and_ignore;
        mutant_next(m, "L2", stable[i], "LAST_INV_ACK", stable[i]);
    }
}

/* ---- gpu-vini: the L2 and its directory ------------------------------------------------------------------------------------------ */

static void
vini_others_forgotten_without_data(mutant_t *m)
{
    mutant_copy(m, "L2", "N", "GETX_SHARED", "N", "GETX");
}

static void
vini_entry_leaves_copies(mutant_t *m)
{
    mutant_copy(m, "L2", "S", "EVICT_ENTRY", "VE", "EVICT_ENTRY");
}

static void
vini_writeback_lost(mutant_t *m)
{
    mutant_drop(m, "L2", "S", "EVICT_DIRTY", 0);
}

static void
vini_readers_of_fill_forgotten(mutant_t *m)
{
    mutant_drop(m, "L2", "NS", "FILL", 1);
}

/* clang-format off */
MUTANTS(invalidation) {
    {"gpu-vi!w2", "a load in II merges into the outstanding read, which may predate an invalidation or an own store",
     "section 3.1: an MSHR merges later loads into the outstanding read", late_load_merges},
    {"gpu-vi!fill-survives", "an invalidation that overtakes the data does not cancel the read miss (IV stays IV)", NULL, fill_survives},
    {"gpu-vi!copy-survives", "an L1 acknowledges an invalidation and keeps its copy", NULL, copy_survives},
    {"gpu-vi!load-before-fill", "a load hits on a line whose data are still on their way", NULL, load_before_fill},
    {"gpu-vi!inv-ack-dropped", "an L1 that has evicted the line does not acknowledge its invalidation", NULL, inv_ack_dropped},
    {"gpu-vi!own-store-readable", "a load hits on the core's own store before it is performed", NULL, own_store_readable},
    {"gpu-vi!store-without-invalidations", "a store to a shared line is performed at once, without invalidations", NULL, store_without_invalidations},
    {"gpu-vi!atomic-without-invalidations", "an atomic on a shared line is performed at once, without invalidations", NULL, atomic_without_invalidations},
    {"gpu-vi!no-recall", "the L2 evicts a shared line without recalling it", NULL, vi_no_recall},
    {"gpu-vi!recall-loses-data", "a recalled dirty line is not written to memory", NULL, vi_recall_loses_data},
    {"gpu-vi!readers-of-fill-forgotten", "readers that waited for a fill are not added to the sharer list", NULL, vi_readers_of_fill_forgotten},
    {"gpu-vi!one-ack-less", "a store is performed before the last of several acknowledgements", NULL, vi_one_ack_less},
    {"gpu-vi!requests-unordered", "the request network is declared unordered", NULL, requests_unordered},
    {"gpu-vini!w2", "a load in II merges into the outstanding read, which may predate an invalidation or an own store",
     "section 3.1: an MSHR merges later loads into the outstanding read", late_load_merges},
    {"gpu-vini!fill-survives", "an invalidation that overtakes the data does not cancel the read miss (IV stays IV)", NULL, fill_survives},
    {"gpu-vini!inv-ack-dropped", "an L1 that has evicted the line does not acknowledge its invalidation", NULL, inv_ack_dropped},
    {"gpu-vini!others-forgotten-without-data", "a store to a line without data fetches it and invalidates no copies", NULL, vini_others_forgotten_without_data},
    {"gpu-vini!entry-leaves-copies", "a directory entry is evicted without recalling the copies", NULL, vini_entry_leaves_copies},
    {"gpu-vini!writeback-lost", "a dirty line with listed sharers leaves the L2 without being written to memory", NULL, vini_writeback_lost},
    {"gpu-vini!readers-of-fill-forgotten", "readers that waited for a fill are not added to a list that has sharers", NULL, vini_readers_of_fill_forgotten},
    {"gpu-vini!atomic-without-invalidations", "an atomic on a shared line is performed at once, without invalidations", NULL, atomic_without_invalidations},
    {"gpu-vini!store-without-invalidations", "a store to a shared line is performed at once, without invalidations", NULL, store_without_invalidations},
    {0},
};
/* clang-format on */

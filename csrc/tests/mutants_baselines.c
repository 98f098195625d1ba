/* mutants_baselines.c: bugs planted in no-l1 and ideal (no-coh promises nothing, so no bug can violate its promise). */
#include "tests/mutants.h"

/* ---- no-l1 ------------------------------------------------------------------------------------------------------------------- */

GPC_ACTION(act_write_silently, "write the store's words, send no acknowledgement")
{
    return gpc_act(writer_act_write, x);
}

GPC_ACTION(act_perform_aside, "send the old values, leave the line unchanged")
{
    uint32_t aside[GPC_MAX_LINE_WORDS];

    gpc_merge_words(aside, gpc_line_words(x), gpc_all_words(x->unit));
    (void) gpc_rmw_perform(gpc_lane_list_at(x->unit->lane_lists, gpc_writer_message(x)->lanes), aside);
    return gpc_send(x, gpc_new_answer(x, gpc_writer(x), mutant_type(x, "ATOMIC_DATA")));
}

static void
no_l1_ack_dropped(mutant_t *m)
{
    mutant_replace(m, "L2", "V", "GETX", 0, act_write_silently);
}

static void
no_l1_writeback_lost(mutant_t *m)
{
    mutant_drop(m, "L2", "V", "EVICT_DIRTY", 0);
}

static void
no_l1_fill_over_store(mutant_t *m)
{
    mutant_swap(m, "L2", "IM", "FILL_STORE", 0, 1);
}

static void
no_l1_atomic_not_performed(mutant_t *m)
{
    mutant_replace(m, "L2", "V", "ATOMIC", 0, act_perform_aside);
}

static void
no_l1_fill_forgotten(mutant_t *m)
{
    mutant_drop(m, "L2", "IM", "FILL_ATOMIC", 0);
}

static void
no_l1_requests_unordered(mutant_t *m)
{
    mutant_protocol(m)->networks[0].ordered = false;
}

/* ---- ideal ------------------------------------------------------------------------------------------------------------------- */

static void
ideal_store_leaves_copies(mutant_t *m)
{
    mutant_drop(m, "L2", "V", "GETX", 0);
}

static void
ideal_atomic_leaves_copies(mutant_t *m)
{
    mutant_drop(m, "L2", "V", "ATOMIC", 0);
}

static void
ideal_fill_survives(mutant_t *m)
{
    gpc_cell_t *cell = mutant_cell(m, "L1", "IV", "INVALIDATE");
    cell->actions[0] = NULL;
    mutant_next(m, "L1", "IV", "INVALIDATE", "IV");
}

static void
ideal_own_store_readable(mutant_t *m)
{
    mutant_copy(m, "L1", "VM", "LOAD", "V", "LOAD");
    mutant_next(m, "L1", "VM", "LOAD", "VM");
}

static void
ideal_late_load_merges(mutant_t *m)
{
    mutant_copy(m, "L1", "II", "LOAD", "IV", "LOAD");
    mutant_next(m, "L1", "II", "LOAD", "II");
}

static void
ideal_reader_forgotten(mutant_t *m)
{
    mutant_drop(m, "L2", "V", "GETS", 0);
}

/* clang-format off */
MUTANTS(baselines) {
    {"no-l1!ack-dropped", "a store that hits the L2 is never acknowledged", NULL, no_l1_ack_dropped},
    {"no-l1!writeback-lost", "a dirty line leaves the L2 without being written to memory", NULL, no_l1_writeback_lost},
    {"no-l1!fill-over-store", "the fill overwrites the store that waited for it", NULL, no_l1_fill_over_store},
    {"no-l1!atomic-not-performed", "an atomic that hits the L2 returns old values and leaves the line unchanged", NULL, no_l1_atomic_not_performed},
    {"no-l1!fill-forgotten", "an atomic that missed is performed before the fill, on the way's old words", NULL, no_l1_fill_forgotten},
    {"no-l1!requests-unordered", "the request network is declared unordered", NULL, no_l1_requests_unordered},
    {"ideal!store-leaves-copies", "a store that hits the L2 invalidates no copies", NULL, ideal_store_leaves_copies},
    {"ideal!atomic-leaves-copies", "an atomic that hits the L2 invalidates no copies", NULL, ideal_atomic_leaves_copies},
    {"ideal!fill-survives", "an invalidation does not cancel data in flight (IV stays IV)", NULL, ideal_fill_survives},
    {"ideal!own-store-readable", "a load hits on the core's own store before it is performed", NULL, ideal_own_store_readable},
    {"ideal!late-load-merges", "a load in II merges into a read that predates the move to II", NULL, ideal_late_load_merges},
    {"ideal!reader-forgotten", "the oracle does not list a reader that hits the L2", NULL, ideal_reader_forgotten},
    {0},
};
/* clang-format on */

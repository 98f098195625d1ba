/* planted.c: bugs planted in no-l1 and ideal (no-coh promises nothing, so no bug can violate its promise), among
 * them faults that public GPU simulators have had; docs/real-bugs.md names their threads. */
#include "controller/writer.h"
#include "tests/mutants.h"

/* ---- no-l1 ------------------------------------------------------------------------------------------------------- */

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

GPC_ACTION(act_perform_once_more, "perform the atomic, then again for the answer")
{
    (void) gpc_act(writer_act_perform, x);
    return mutant_base_act(x, "perform");
}

GPC_ACTION(act_perform_clean, "perform the atomic, do not mark the line as dirty")
{
    int status = mutant_base_act(x, "perform");
    gpc_writer_line(x)->dirty = 0;
    return status;
}

GPC_ACTION(act_perform_words_apart, "perform the atomic, of 64 bits on each word alone")
{
    gpc_lane_list_t *lanes = gpc_lane_list_at(x->unit->lane_lists, gpc_writer_message(x)->lanes);
    uint8_t width = lanes->width;
    lanes->width = 1;
    int status = mutant_base_act(x, "perform");
    lanes->width = width; /* the answer has them */
    return status;
}

GPC_ACTION(act_write_lower_word, "write the store's words, of two the lower one alone; acknowledge all of them")
{
    uint32_t before[GPC_MAX_LINE_WORDS];
    gpc_mask_t words = gpc_writer_message(x)->mask;

    gpc_merge_words(before, gpc_line_words(x), gpc_all_words(x->unit));
    int status = mutant_base_act(x, "write");
    gpc_merge_words(gpc_line_words(x), before, gpc_count_bits(words) == 2 ? words & (words - 1) : GPC_NO_WORDS);
    return status;
}

static int
pass_by(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, const uint32_t *words)
{
    (void) units, (void) line, (void) mask, (void) words;
    return GPC_OK;
}

static int
see_memory_alone(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, uint32_t *words)
{
    (void) units, (void) line, (void) mask, (void) words;
    return GPC_OK;
}

PLANTED(baseline) = {
    BUG("no-l1!ack-dropped", "a store that hits the L2 is never acknowledged", NULL,
        REPLACE("L2", "V", "GETX", "write", act_write_silently)),
    BUG("no-l1!writeback-lost", "a dirty line leaves the L2 without being written to memory", NULL,
        DROP("L2", "V", "EVICT_DIRTY", "write_back")),
    BUG("no-l1!fill-over-store", "the fill overwrites the store that waited for it", NULL,
        SWAP("L2", "IM", "FILL_STORE", "fill_line", "write")),
    BUG("no-l1!atomic-not-performed", "an atomic that hits the L2 returns old values and leaves the line unchanged",
        NULL, REPLACE("L2", "V", "ATOMIC", "perform", act_perform_aside)),
    BUG("no-l1!atomic-torn", "an atomic of 64 bits that hits the L2 is performed on each of its words alone", NULL,
        REPLACE("L2", "V", "ATOMIC", "perform", act_perform_words_apart)),
    BUG("no-l1!store-torn", "of a store of two words that hits the L2 only the lower word is written", NULL,
        REPLACE("L2", "V", "GETX", "write", act_write_lower_word)),
    BUG("no-l1!fill-forgotten", "an atomic that missed is performed before the fill, on the way's old words", NULL,
        DROP("L2", "IM", "FILL_ATOMIC", "fill_line")),
    BUG("no-l1!requests-unordered", "the request network is declared unordered", NULL, UNORDERED("request")),
    BUG("no-l1!readers-not-woken", "reads that wait for an atomic's fill are never answered", NULL,
        COPY("L2", "IM", "GETS", "IS", "GETS"), STAY("L2", "IM", "GETS")),
    BUG("no-l1!atomic-performed-twice", "an atomic that missed is performed at the fill and again for its answer", NULL,
        REPLACE("L2", "IM", "FILL_ATOMIC", "perform", act_perform_once_more)),
    BUG("no-l1!atomic-leaves-line-clean", "an atomic that missed does not mark its line as dirty", NULL,
        REPLACE("L2", "IM", "FILL_ATOMIC", "perform", act_perform_clean)),
    BUG("no-l1!host-write-passes-by", "a write of the host leaves the L2's copy as it is", NULL,
        WITH(host_write, pass_by)),
    BUG("no-l1!host-read-passes-by", "a read of the host sees memory, not the L2's dirty words", NULL,
        WITH(host_read, see_memory_alone)),

    BUG("ideal!store-leaves-copies", "a store that hits the L2 invalidates no copies", NULL,
        DROP("L2", "V", "GETX", "invalidate_others")),
    BUG("ideal!atomic-leaves-copies", "an atomic that hits the L2 invalidates no copies", NULL,
        DROP("L2", "V", "ATOMIC", "invalidate_others")),
    BUG("ideal!fill-survives", "an invalidation does not cancel data in flight (IV stays IV)", NULL,
        DROP("L1", "IV", "INVALIDATE", "count_invalidation"), DROP("L1", "IV", "INVALIDATE", "release_way"),
        STAY("L1", "IV", "INVALIDATE")),
    BUG("ideal!own-store-readable", "a load hits on the core's own store before it is performed", NULL,
        COPY("L1", "VM", "LOAD", "V", "LOAD"), STAY("L1", "VM", "LOAD")),
    BUG("ideal!late-load-merges", "a load in II merges into a read that predates the move to II", NULL,
        COPY("L1", "II", "LOAD", "IV", "LOAD"), STAY("L1", "II", "LOAD")),
    BUG("ideal!reader-forgotten", "the oracle does not list a reader that hits the L2", NULL,
        DROP("L2", "V", "GETS", "note_reader")),
    {0},
};

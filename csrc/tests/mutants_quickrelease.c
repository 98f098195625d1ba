/* mutants_quickrelease.c: bugs planted in qr and its baselines wt and rfo. */
#include "protocols/quickrelease/qr.h"
#include "tests/mutants.h"

static void
release_waits_for_nothing(mutant_t *m)
{
    mutant_protocol(m)->order.release = NULL;
}

static int
keep_copies(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, const uint32_t *words)
{
    (void) units, (void) line, (void) mask, (void) words;
    return GPC_OK;
}

static void
host_write_keeps_copies(mutant_t *m)
{
    mutant_protocol(m)->host_write = keep_copies;
}

/* ---- wt ---------------------------------------------------------------------------------------------------------------- */

static void
acquire_keeps_copies(mutant_t *m)
{
    mutant_protocol(m)->order.acquire = NULL;
}

static void
wt_fill_survives_acquire(mutant_t *m)
{
    mutant_next(m, "L1", "P", "ACQUIRE", "P");
    mutant_drop(m, "L1", "P", "ACQUIRE", 0);
}

static void
load_reads_own_later_store(mutant_t *m)
{
    mutant_protocol(m)->order.same_word = false;
}

static void
l2_hides_passing_words(mutant_t *m)
{
    mutant_drop(m, "L2", "P", "GETX", 0);
}

static void
l3_copy_survives_write(mutant_t *m)
{
    mutant_next(m, "L3", "V", "WRITE", "V");
}

/* ---- rfo --------------------------------------------------------------------------------------------------------------- */

static void
inv_ack_dropped(mutant_t *m)
{
    mutant_drop(m, "L1", "I", "INV", 0);
}

static void
owner_keeps_line(mutant_t *m)
{
    mutant_next(m, "L1", "M", "FWD_GETX", "M");
}

static void
put_lost(mutant_t *m)
{
    mutant_drop(m, "L2", "EM", "PUT_ALONE", 1);
}

static void
upgrade_survives_invalidation(mutant_t *m)
{
    mutant_next(m, "L1", "SM", "INV", "SM");
}

static void
recalled_line_lost(mutant_t *m)
{
    mutant_drop(m, "L2", "RB", "LAST_RECALLED", 0);
    mutant_drop(m, "L2", "RB", "RECALLED", 0);
}

static void
reader_not_listed(mutant_t *m)
{
    mutant_drop(m, "L2", "S", "GETS", 0);
}

/* ---- qr ---------------------------------------------------------------------------------------------------------------- */

static void
inv_ignored(mutant_t *m)
{
    mutant_next(m, "L1", "V", "INV", "V");
    mutant_next(m, "L1", "VW", "INV", "VW");
    mutant_next(m, "L1", "P", "INV", "P");
    mutant_drop(m, "L1", "P", "INV", 1);
}

static void
inv_overtaken(mutant_t *m)
{
    mutant_protocol(m)->networks[1].ordered = false;
}

static void
no_inv(mutant_t *m)
{
    mutant_drop(m, "L2.write", "D", "EVICT", 1);
    mutant_drop(m, "L2.write", "D", "POP", 1);
    mutant_drop(m, "L2.write", "D", "FLUSH", 1);
}

/* The block waits for the line, and what comes behind it does not. */
static void
marker_passes_held_block(mutant_t *m)
{
    *mutant_cell(m, "L2", "P", "BLOCK") = (gpc_cell_t) HOLD_LINE;
    *mutant_cell(m, "L3", "P", "BLOCK_UP") = (gpc_cell_t) HOLD_LINE;
}

GPC_ACTION(act_marker_first, "the marker is the S-FIFO's next entry, whatever is before it")
{
    return gpc_part_ready(qr_fifo(x->unit), qr_fifo(x->unit)->order->tail);
}

static void
marker_passes_older_entries(mutant_t *m)
{
    mutant_add(m, "L2.markers", "ON", "MARKER", act_marker_first);
}

GPC_ACTION(act_mark_loudly, "a marker that is answered although nothing waits for it")
{
    qr_message(x->msg)->kind = QR_REL;
    return gpc_act(mutant_base_action(x, "ON", "MARKER", 0), x);
}

static void
silent_marker_answered(mutant_t *m)
{
    mutant_replace(m, "L2.markers", "ON", "MARKER", 0, act_mark_loudly);
}

static void
marker_passes_words(mutant_t *m)
{
    mutant_protocol(m)->networks[0].ordered = false;
}

static void
fill_kept(mutant_t *m, const char *table, const char *event)
{
    mutant_next(m, table, "P", event, "P");
    mutant_drop(m, table, "P", event, 0);
}

static void
fill_kept_at_l1(mutant_t *m)
{
    fill_kept(m, "L1", "GONE");
}

static void
fill_kept_over_inv(mutant_t *m)
{
    mutant_next(m, "L1", "P", "INV", "P");
    mutant_drop(m, "L1", "P", "INV", 1);
}

static void
fill_kept_at_l2(mutant_t *m)
{
    fill_kept(m, "L2", "GONE");
}

static void
fill_kept_at_l3(mutant_t *m)
{
    fill_kept(m, "L3", "GONE");
}

static void
l3_copy_survives_block(mutant_t *m)
{
    mutant_next(m, "L3", "V", "GONE", "V");
}

static void
l3_serves_newer_words(mutant_t *m)
{
    mutant_replace(m, "L3", "P", "FILL", 1, act_replay);
}

GPC_ACTION(act_answer_early, "the answer to the marker, which goes on silently")
{
    qr_entry_t *fields = qr_entry(x, QR_PART);
    int status = GPC_OK;

    if (fields->kind != QR_REL_NOACK) {
        gpc_msg_t *msg = gpc_new_message(x, QR_RELEASED, fields->core);
        msg->request = GPC_NONE;
        msg->requester = fields->core;
        msg->warp = fields->warp;
        msg->line = 0;
        *qr_message(msg) =
            (qr_message_t){.kind = fields->kind, .number = fields->number, .invs = qr_unit(x->unit)->invs};
        status = gpc_send(x, msg);
        fields->kind = QR_REL_NOACK;
    }
    return status ? status : gpc_act(mutant_base_action(x, "MARKER", "POP_MARKER", 1), x);
}

static void
released_at_l2(mutant_t *m)
{
    mutant_replace(m, "L2.S-FIFO", "MARKER", "POP_MARKER", 1, act_answer_early);
}

static void
rl1_keeps_old_copy(mutant_t *m)
{
    mutant_next(m, "L1", "VW", "GONE", "V");
}

static void
rl2_keeps_old_copy(mutant_t *m)
{
    mutant_next(m, "L2", "VW", "GONE", "V");
}

static void
written_bit_not_set(mutant_t *m)
{
    mutant_next(m, "L1", "V", "STORE", "V");
}

/* With a FIFO a wave, a release that has written nothing itself has nothing to wait for. The field of sync_sc=on, which is off, notes what
 * the wave has written. */
static int
note_store(gpc_controller_t *l1, uint16_t warp, const gpc_access_t *access, gpc_cycle_t *until)
{
    (void) until;
    if (access->kind == GPC_ACCESS_STORE || access->kind == GPC_ACCESS_ATOMIC) {
        qr_warp(l1, warp)->stores = 1;
    }
    return GPC_OK;
}

static int
release_of_the_wave(gpc_controller_t *l1, uint16_t warp, uint8_t scope, gpc_cycle_t *until)
{
    int status = qr_warp(l1, warp)->stores ? qr_release(l1, warp, scope, until) : GPC_OK;
    if (status == GPC_OK) {
        qr_warp(l1, warp)->stores = 0;
    }
    return status;
}

static void
fifo_a_wave(mutant_t *m)
{
    mutant_protocol(m)->order.before = note_store;
    mutant_protocol(m)->order.release = release_of_the_wave;
}

/* clang-format off */
MUTANTS(quickrelease) {
    {"wt!release-waits-for-the-wave", "a release waits for the writes of its wave, not for those of its CU",
     "section 2.4.1: a release waits for all prior writes; whose is not said", release_waits_for_nothing},
    {"wt!acquire-keeps-copies", "an acquire invalidates nothing", NULL, acquire_keeps_copies},
    {"wt!fill-survives-acquire", "a line that was requested before an acquire is kept",
     "section 2.4.1: an acquire invalidates the L1, of reads in flight it says nothing", wt_fill_survives_acquire},
    {"wt!load-reads-own-later-store", "a store to a word does not wait for its wave's load of it", NULL, load_reads_own_later_store},
    {"wt!l2-hides-passing-words", "a line that comes to the L2 hides words that have passed since it was read", NULL, l2_hides_passing_words},
    {"wt!host-write-keeps-copies", "a host write leaves the copies that the GPU has", NULL, host_write_keeps_copies},
    {"wt!l3-copy-survives-write", "a store to memory leaves the L3's copy as it is", NULL, l3_copy_survives_write},
    {"rfo!inv-ack-dropped", "an L1 that has evicted the line does not acknowledge its invalidation", NULL, inv_ack_dropped},
    {"rfo!owner-keeps-line", "an owner passes the line to a writer and stays in M", NULL, owner_keeps_line},
    {"rfo!put-lost", "the L2 forgets the line that its owner evicts", NULL, put_lost},
    {"rfo!upgrade-survives-invalidation", "an upgrade completes with a copy that has been invalidated", NULL, upgrade_survives_invalidation},
    {"rfo!recalled-line-lost", "the directory forgets the line that an owner gives up for a recall", NULL, recalled_line_lost},
    {"rfo!reader-not-listed", "the directory does not list a further reader", NULL, reader_not_listed},
    {"qr!release-waits-for-nothing", "a release sends no marker", NULL, release_waits_for_nothing},
    {"qr!inv-ignored", "an L1 ignores Invs", NULL, inv_ignored},
    {"qr!inv-overtaken", "answers to markers and data overtake Invs",
     "section 3.1.1: an Inv is not acknowledged; how it precedes the release's completion is not said", inv_overtaken},
    {"qr!no-inv", "a wL2 gives up a block without Invs", NULL, no_inv},
    {"qr!marker-passes-held-block", "words for a block that is being read wait for it, and a marker passes them", NULL, marker_passes_held_block},
    {"qr!marker-passes-older-entries", "a marker leaves S-FIFO2 before the blocks that entered before it", NULL, marker_passes_older_entries},
    {"qr!silent-marker-answered", "the marker of a release store is answered", NULL, silent_marker_answered},
    {"qr!marker-passes-words", "markers overtake words on their way to the L2", NULL, marker_passes_words},
    {"qr!fill-kept-at-l1", "a block whose words the wL1 has given up meanwhile is kept in the rL1",
     "section 3.1.1: an eviction invalidates the read cache's block, of reads in flight it says nothing", fill_kept_at_l1},
    {"qr!fill-kept-over-inv", "a block that was requested before an Inv is kept in the rL1",
     "section 3.1.1: an Inv invalidates the block, of reads in flight it says nothing", fill_kept_over_inv},
    {"qr!fill-kept-at-l2", "a block whose words the wL2 has given up meanwhile is kept in the rL2", NULL, fill_kept_at_l2},
    {"qr!fill-kept-at-l3", "a block whose words the wL3 has given up meanwhile is kept in the L3", NULL, fill_kept_at_l3},
    {"qr!l3-copy-survives-block", "a block that leaves the wL3 leaves the L3's copy as it is", NULL, l3_copy_survives_block},
    {"qr!l3-serves-newer-words", "reads that waited for memory are served with words that came after them", NULL, l3_serves_newer_words},
    {"qr!released-at-l2", "the L2 answers a marker that leaves it, before the words are in memory", NULL, released_at_l2},
    {"qr!host-write-keeps-copies", "a host write leaves the copies that the GPU has", NULL, host_write_keeps_copies},
    {"qr!rl1-keeps-old-copy", "a copy in the rL1 stays when the wL1 gives up words of its block", NULL, rl1_keeps_old_copy},
    {"qr!rl2-keeps-old-copy", "a copy in the rL2 stays when the wL2 gives up words of its block", NULL, rl2_keeps_old_copy},
    {"qr!written-bit-not-set", "a store leaves the written bit clear", NULL, written_bit_not_set},
    {"qr!fifo-a-wave", "a release does not wait for what other waves of the CU have written",
     "section 3: the S-FIFO can be split for each wavefront; the paper refuses it, as it breaks transitivity", fifo_a_wave},
    {0},
};
/* clang-format on */

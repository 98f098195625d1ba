/* mutants_quickrelease.c: bugs planted in qr and its baselines wt, rfo and no-l1[l2=through]. */
#include "protocols/quickrelease/qr.h"
#include "protocols/quickrelease/rfo_directory.h"
#include "protocols/quickrelease/write_through.h"
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

GPC_ACTION(act_overlay_lines, "overlay the words on the line when it comes, unless it is read for sectors")
{
    return gpc_first_pending(x)->type == WT_GET_SECTORS ? GPC_OK : gpc_act(mutant_base_action(x, "P", "GETX", 0), x);
}

static void
sectors_hide_passing_words(mutant_t *m)
{
    mutant_replace(m, "L2", "P", "GETX", 0, act_overlay_lines);
}

GPC_ACTION(act_join_sectors, "the request is pending too, for the sectors of the first one")
{
    x->msg->mask = gpc_first_pending(x)->mask;
    return gpc_act(mutant_base_action(x, "P", "GETS", 0), x);
}

static void
sectors_of_another_load(mutant_t *m)
{
    mutant_replace(m, "L2", "P", "GETS", 0, act_join_sectors);
}

static void
no_l1_sectors_of_another_load(mutant_t *m)
{
    mutant_choose(m, "fill", 1);
    mutant_choose(m, "l2", 1);
    sectors_of_another_load(m);
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

GPC_ACTION(act_perform_once, "perform the store or atomic, if it is still pending")
{
    return gpc_first_pending(x) ? gpc_act(mutant_base_action(x, "IM", "LAST", 0), x) : GPC_OK;
}

static void
store_answered_before_acks(mutant_t *m)
{
    mutant_choose(m, "stores", 1);
    mutant_add(m, "L1", "IM", "DATA_M", act_perform_once);
    mutant_add(m, "L1", "SM", "DATA_M", act_perform_once);
    mutant_add(m, "L1", "SM", "COUNT", act_perform_once);
    mutant_add(m, "L1", "OM", "COUNT", act_perform_once);
    mutant_replace(m, "L1", "IM", "LAST", 0, act_perform_once);
    mutant_replace(m, "L1", "SM", "LAST", 0, act_perform_once);
    mutant_replace(m, "L1", "OM", "LAST", 0, act_perform_once);
}

/* ---- rfo[l2=victim] ----------------------------------------------------------------------------------------------------- */

static void
victim_stays_listed(mutant_t *m)
{
    mutant_choose(m, "l2", RFO_L2_VICTIM);
    mutant_drop(m, "L2", "S", "PUT_S", 0);
    mutant_drop(m, "L2", "N", "PUT_S", 0);
    mutant_drop(m, "L2", "O", "PUT_S", 0);
}

static void
last_victim_lost(mutant_t *m)
{
    mutant_choose(m, "l2", RFO_L2_VICTIM);
    mutant_drop(m, "L2", "PV", "LAST_LINE", 0);
}

/* The owner alone gives up its line. */
static void
sharers_survive_write(mutant_t *m)
{
    mutant_choose(m, "l2", RFO_L2_VICTIM);
    const gpc_action_t *take_away = mutant_cell(m, "L2", "O", "GETX")->actions[0];
    mutant_replace(m, "L2", "O", "GETX", 0, act_clear_sharers);
    mutant_add(m, "L2", "O", "GETX", take_away);
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

/* As if a release passed on only what its CU has written, as a barrier does. */
static int
release_of_writes(gpc_controller_t *l1, uint16_t warp, uint8_t scope, gpc_cycle_t *until)
{
    (void) scope;
    return qr_barrier(l1, warp, until);
}

static void
reader_sends_no_marker(mutant_t *m)
{
    mutant_protocol(m)->order.release = release_of_writes;
}

/* The marker is answered, and the barrier, which finds the CU clean, does not take the answer: the wave's next release does. */
static int
barrier_of_writes(gpc_controller_t *l1, uint16_t warp, gpc_cycle_t *until)
{
    bool waits = false;
    for (uint16_t other = 0; other < l1->machine->warps_per_core; other++) {
        waits |= qr_warp(l1, other)->releasing > 1;
    }
    return qr_unit(l1)->written || waits ? qr_release(l1, warp, GPC_SCOPE_CTA, until) : GPC_OK;
}

static void
barrier_leaves_answer(mutant_t *m)
{
    mutant_choose(m, "barrier", 0);
    mutant_protocol(m)->order.barrier = barrier_of_writes;
}

/* What the CU has written counts as released. */
static int
barrier_without_marker(gpc_controller_t *l1, uint16_t warp, gpc_cycle_t *until)
{
    (void) warp, (void) until;
    qr_unit(l1)->written = 0;
    return GPC_OK;
}

static void
barrier_sends_no_marker(mutant_t *m)
{
    mutant_choose(m, "barrier", 0);
    mutant_protocol(m)->order.barrier = barrier_without_marker;
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
    {"wt!sectors-hide-passing-words", "a line that is read for sectors hides words that have passed since", NULL, sectors_hide_passing_words},
    {"wt!sectors-of-another-load", "a load past the L1 that joins a read is answered by the sectors of the first load", NULL, sectors_of_another_load},
    {"no-l1!sectors-of-another-load", "with l2=through and fill=sector a load that joins a read is answered by the sectors of the first load", NULL,
     no_l1_sectors_of_another_load},
    {"rfo!inv-ack-dropped", "an L1 that has evicted the line does not acknowledge its invalidation", NULL, inv_ack_dropped},
    {"rfo!owner-keeps-line", "an owner passes the line to a writer and stays in M", NULL, owner_keeps_line},
    {"rfo!put-lost", "the L2 forgets the line that its owner evicts", NULL, put_lost},
    {"rfo!upgrade-survives-invalidation", "an upgrade completes with a copy that has been invalidated", NULL, upgrade_survives_invalidation},
    {"rfo!recalled-line-lost", "the directory forgets the line that an owner gives up for a recall", NULL, recalled_line_lost},
    {"rfo!reader-not-listed", "the directory does not list a further reader", NULL, reader_not_listed},
    {"rfo!store-answered-before-acks", "with stores=wait a wave goes on once the directory has answered its store, before other L1s have acknowledged",
     NULL, store_answered_before_acks},
    {"rfo!victim-stays-listed", "with l2=victim, the directory lists a sharer that has evicted the line", NULL, victim_stays_listed},
    {"rfo!last-victim-lost", "with l2=victim, the L2 forgets the line that its last sharer evicts", NULL, last_victim_lost},
    {"rfo!sharers-survive-write", "with l2=victim, a write takes the line from its owner, and sharers keep their copies", NULL,
     sharers_survive_write},
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
    {"qr!reader-sends-no-marker", "a release of a CU without writes since its last answered marker sends none, and so does not pass on what the CU has read", NULL,
     reader_sends_no_marker},
    {"qr!barrier-sends-no-marker", "with barrier=release a barrier sends no marker for what its CU has written, and the kernel's end sends none either", NULL,
     barrier_sends_no_marker},
    {"qr!barrier-leaves-answer", "with barrier=release a barrier does not take the answer to its marker: the wave's next release does, and sends none", NULL,
     barrier_leaves_answer},
    {"qr!fifo-a-wave", "a release does not wait for what other waves of the CU have written",
     "section 3: the S-FIFO can be split for each wavefront; the paper refuses it, as it breaks transitivity", fifo_a_wave},
    {0},
};
/* clang-format on */

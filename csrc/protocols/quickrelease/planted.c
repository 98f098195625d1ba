/* planted.c: bugs planted in qr and its baselines wt, rfo and no-l1[l2=through]. */
#include "protocols/quickrelease/qr.h"
#include "protocols/quickrelease/rfo_directory.h"
#include "protocols/quickrelease/write_through.h"
#include "tests/mutants.h"

static int
keep_copies(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, const uint32_t *words)
{
    (void) units, (void) line, (void) mask, (void) words;
    return GPC_OK;
}

/* ---- wt ---------------------------------------------------------------------------------------------------------- */

GPC_ACTION(act_overlay_lines, "overlay the words on the line when it comes, unless it is read for sectors")
{
    return gpc_first_pending(x)->type == WT_GET_SECTORS ? GPC_OK : mutant_base_act(x, "overlay");
}

GPC_ACTION(act_join_sectors, "the request is pending too, for the sectors of the first one")
{
    x->msg->mask = gpc_first_pending(x)->mask;
    return mutant_base_act(x, "join");
}

/* ---- rfo --------------------------------------------------------------------------------------------------------- */

GPC_ACTION(act_perform_once, "perform the store or atomic, if it is still pending")
{
    return gpc_first_pending(x) ? mutant_base_act(x, "perform_pending") : GPC_OK;
}

/* ---- qr ---------------------------------------------------------------------------------------------------------- */

GPC_ACTION(act_marker_first, "the marker is the S-FIFO's next entry, whatever is before it")
{
    return gpc_part_ready(qr_fifo(x->unit), qr_fifo(x->unit)->order->tail);
}

GPC_ACTION(act_mark_loudly, "a marker that is answered although nothing waits for it")
{
    qr_message(x->msg)->kind = QR_REL;
    return mutant_base_act(x, "take_marker");
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
    return status ? status : mutant_base_act(x, "pass_marker");
}

/* With a FIFO a wave, a release that has written nothing itself has nothing to wait for. The field of sync_sc=on, which
 * is off, notes what the wave has written. */
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

/* The marker is answered, and the barrier, which finds the CU clean, does not take the answer: the wave's next release
 * does. */
static int
barrier_of_writes(gpc_controller_t *l1, uint16_t warp, gpc_cycle_t *until)
{
    bool waits = false;
    for (uint16_t other = 0; other < l1->machine->warps_per_core; other++) {
        waits |= qr_warp(l1, other)->releasing > 1;
    }
    return qr_unit(l1)->written || waits ? qr_release(l1, warp, GPC_SCOPE_CTA, until) : GPC_OK;
}

/* What the CU has written counts as released. */
static int
barrier_without_marker(gpc_controller_t *l1, uint16_t warp, gpc_cycle_t *until)
{
    (void) warp, (void) until;
    qr_unit(l1)->written = 0;
    return GPC_OK;
}

PLANTED(quickrelease) = {
    BUG("wt!release-waits-for-the-wave", "a release waits for the writes of its wave, not for those of its CU",
        "section 2.4.1: a release waits for all prior writes; whose is not said", WITH(order.release, NULL)),
    BUG("wt!acquire-keeps-copies", "an acquire invalidates nothing", NULL, WITH(order.acquire, NULL)),
    BUG("wt!fill-survives-acquire", "a line that was requested before an acquire is kept",
        "section 2.4.1: an acquire invalidates the L1, of reads in flight it says nothing",
        DROP("L1", "P", "ACQUIRE", "release_way"), STAY("L1", "P", "ACQUIRE")),
    BUG("wt!load-reads-own-later-store", "a store to a word does not wait for its wave's load of it", NULL,
        WITH(order.same_word, false)),
    BUG("wt!l2-hides-passing-words", "a line that comes to the L2 hides words that have passed since it was read", NULL,
        DROP("L2", "P", "GETX", "overlay")),
    BUG("wt!host-write-keeps-copies", "a host write leaves the copies that the GPU has", NULL,
        WITH(host_write, keep_copies)),
    BUG("wt!l3-copy-survives-write", "a store to memory leaves the L3's copy as it is", NULL, STAY("L3", "V", "WRITE")),
    BUG("wt!sectors-hide-passing-words", "a line that is read for sectors hides words that have passed since", NULL,
        REPLACE("L2", "P", "GETX", "overlay", act_overlay_lines)),
    BUG("wt!sectors-of-another-load",
        "a load past the L1 that joins a read is answered by the sectors of the first load", NULL,
        REPLACE("L2", "P", "GETS", "join", act_join_sectors)),
    BUG("no-l1!sectors-of-another-load",
        "with l2=through a load that joins a read is answered by the sectors of the first load", NULL,
        CHOOSE("l2", "through"), REPLACE("L2", "P", "GETS", "join", act_join_sectors)),

    BUG("rfo!inv-ack-dropped", "with l2=store an L1 that has evicted the line does not acknowledge its invalidation",
        NULL, CHOOSE("l2", "store"), DROP("L1", "I", "INV", "inv_ack")),
    BUG("rfo!owner-keeps-line", "with l2=store an owner passes the line to a writer and stays in M", NULL,
        CHOOSE("l2", "store"), STAY("L1", "M", "FWD_GETX")),
    BUG("rfo!put-lost", "with l2=store the L2 forgets the line that its owner evicts", NULL, CHOOSE("l2", "store"),
        DROP("L2", "EM", "PUT_ALONE", "take_line")),
    BUG("rfo!upgrade-survives-invalidation", "with l2=store an upgrade completes with a copy that has been invalidated",
        NULL, CHOOSE("l2", "store"), STAY("L1", "SM", "INV")),
    BUG("rfo!recalled-line-lost", "with l2=store the directory forgets the line that an owner gives up for a recall",
        NULL, CHOOSE("l2", "store"), DROP("L2", "RB", "LAST_RECALLED RECALLED", "pass_up")),
    BUG("rfo!reader-not-listed", "with l2=store the directory does not list a further reader", NULL,
        CHOOSE("l2", "store"), DROP("L2", "S", "GETS", "list")),
    BUG("rfo!store-answered-before-acks",
        "with l2=store and stores=wait a wave goes on once the directory has answered its store, before other L1s have "
        "acknowledged",
        NULL, CHOOSE("l2", "store"), CHOOSE("stores", "wait"), ADD("L1", "IM SM", "DATA_M", act_perform_once),
        ADD("L1", "SM OM", "COUNT", act_perform_once),
        REPLACE("L1", "IM SM OM", "LAST", "perform_pending", act_perform_once)),
    BUG("rfo!victim-stays-listed", "the directory lists a sharer that has evicted the line", NULL,
        DROP("L2", "S N O", "PUT_S", "unlist")),
    BUG("rfo!last-victim-lost", "the L2 forgets the line that its last sharer evicts", NULL,
        DROP("L2", "PV", "LAST_LINE", "take_line")),
    BUG("rfo!sharers-survive-write", "a write takes the line from its owner, and sharers keep their copies", NULL,
        ADD("L2", "O", "GETX", act_clear_sharers), SWAP("L2", "O", "GETX", "take_away", "clear_sharers")),

    BUG("qr!release-waits-for-nothing", "a release sends no marker", NULL, WITH(order.release, NULL)),
    BUG("qr!inv-ignored", "an L1 ignores Invs", NULL, DROP("L1", "P", "INV", "release_way"),
        STAY("L1", "V VW P", "INV")),
    BUG("qr!inv-overtaken", "answers to markers and data overtake Invs",
        "section 3.1.1: an Inv is not acknowledged; how it precedes the release's completion is not said",
        UNORDERED("down")),
    BUG("qr!no-inv", "a wL2 gives up a block without Invs", NULL,
        DROP("L2.write", "D", "EVICT POP FLUSH", "invalidate")),
    BUG("qr!marker-passes-held-block", "words for a block that is being read wait for it, and a marker passes them",
        NULL, HOLD("L2", "P", "BLOCK"), HOLD("L3", "P", "BLOCK_UP")),
    BUG("qr!marker-passes-older-entries", "a marker leaves S-FIFO2 before the blocks that entered before it", NULL,
        ADD("L2.markers", "ON", "MARKER", act_marker_first)),
    BUG("qr!silent-marker-answered", "the marker of a release store is answered", NULL,
        REPLACE("L2.markers", "ON", "MARKER", "take_marker", act_mark_loudly)),
    BUG("qr!marker-passes-words", "markers overtake words on their way to the L2", NULL, UNORDERED("up")),
    BUG("qr!fill-kept-at-l1", "a block whose words the wL1 has given up meanwhile is kept in the rL1",
        "section 3.1.1: an eviction invalidates the read cache's block, of reads in flight it says nothing",
        DROP("L1", "P", "GONE", "release_way"), STAY("L1", "P", "GONE")),
    BUG("qr!fill-kept-over-inv", "a block that was requested before an Inv is kept in the rL1",
        "section 3.1.1: an Inv invalidates the block, of reads in flight it says nothing",
        DROP("L1", "P", "INV", "release_way"), STAY("L1", "P", "INV")),
    BUG("qr!fill-kept-at-l2", "a block whose words the wL2 has given up meanwhile is kept in the rL2", NULL,
        DROP("L2", "P", "GONE", "release_way"), STAY("L2", "P", "GONE")),
    BUG("qr!fill-kept-at-l3", "a block whose words the wL3 has given up meanwhile is kept in the L3", NULL,
        DROP("L3", "P", "GONE", "release_way"), STAY("L3", "P", "GONE")),
    BUG("qr!l3-copy-survives-block", "a block that leaves the wL3 leaves the L3's copy as it is", NULL,
        STAY("L3", "V", "GONE")),
    BUG("qr!l3-serves-newer-words", "reads that waited for memory are served with words that came after them", NULL,
        REPLACE("L3", "P", "FILL", "serve_pending", act_replay)),
    BUG("qr!released-at-l2", "the L2 answers a marker that leaves it, before the words are in memory", NULL,
        REPLACE("L2.S-FIFO", "MARKER", "POP_MARKER", "pass_marker", act_answer_early)),
    BUG("qr!host-write-keeps-copies", "a host write leaves the copies that the GPU has", NULL,
        WITH(host_write, keep_copies)),
    BUG("qr!rl1-keeps-old-copy", "a copy in the rL1 stays when the wL1 gives up words of its block", NULL,
        NEXT("L1", "VW", "GONE", "V")),
    BUG("qr!rl2-keeps-old-copy", "a copy in the rL2 stays when the wL2 gives up words of its block", NULL,
        NEXT("L2", "VW", "GONE", "V")),
    BUG("qr!written-bit-not-set", "a store leaves the written bit clear", NULL, STAY("L1", "V", "STORE")),
    BUG("qr!reader-sends-no-marker",
        "a release of a CU without writes since its last answered marker sends none, and so does not pass on what the "
        "CU has read",
        NULL, WITH(order.release, release_of_writes)),
    BUG("qr!barrier-sends-no-marker",
        "a barrier sends no marker for what its CU has written, and the kernel's end sends none "
        "either",
        NULL, WITH(order.barrier, barrier_without_marker)),
    BUG("qr!barrier-leaves-answer",
        "a barrier does not take the answer to its marker: the wave's next release does, and "
        "sends none",
        NULL, WITH(order.barrier, barrier_of_writes)),
    BUG("qr!fifo-a-wave", "a release does not wait for what other waves of the CU have written",
        "section 3: the S-FIFO can be split for each wavefront; the paper refuses it, as it breaks transitivity",
        WITH(order.before, note_store), WITH(order.release, release_of_the_wave)),
    {0},
};

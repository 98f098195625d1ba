/* planted.c: bugs planted in gpu-vi, gpu-vini, MESI, mesi-wt (without and with E and M at the L1) and sc-ideal. */
#include "tests/mutants.h"

/* The L2 of gpu-vi expects one acknowledgement too few. */
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

/* MESI's writer proceeds with the line while other copies exist. */
static gpc_event_id_t
need_no_sharer(const gpc_step_t *x)
{
    gpc_event_id_t event = mutant_base_event(x);
    return mutant_event_is(x, event, "DATA_X") ? mutant_event(x, "LAST_DATA_X") : event;
}

GPC_ACTION(act_lose, "send BEHIND_ACK, lose the words")
{
    return gpc_send(x, gpc_new_answer(x, x->message, mutant_type(x, "BEHIND_ACK")));
}

PLANTED(invalidation) = {
    BUG("gpu-vi!w2", "a load in II merges into the outstanding read, which may predate an invalidation or an own store",
        "section 3.1: an MSHR merges later loads into the outstanding read", COPY("L1", "II", "LOAD", "IV", "LOAD"),
        STAY("L1", "II", "LOAD")),
    BUG("gpu-vi!fill-survives", "an invalidation that overtakes the data does not cancel the read miss (IV stays IV)",
        NULL, DROP("L1", "IV", "INV", "count_invalidation"), DROP("L1", "IV", "INV", "release_way"),
        STAY("L1", "IV", "INV")),
    BUG("gpu-vi!copy-survives", "an L1 acknowledges an invalidation and keeps its copy", NULL, STAY("L1", "V", "INV")),
    BUG("gpu-vi!load-before-fill", "a load hits on a line whose data are still on their way", NULL,
        COPY("L1", "IV", "LOAD", "V", "LOAD"), STAY("L1", "IV", "LOAD")),
    BUG("gpu-vi!inv-ack-dropped", "an L1 that has evicted the line does not acknowledge its invalidation", NULL,
        DROP("L1", "I", "INV", "acknowledge")),
    BUG("gpu-vi!own-store-readable", "a load hits on the core's own store before it is performed", NULL,
        COPY("L1", "VM", "LOAD", "V", "LOAD"), STAY("L1", "VM", "LOAD")),
    BUG("gpu-vi!store-without-invalidations", "a store to a shared line is performed at once, without invalidations",
        NULL, COPY("L2", "S", "GETX_SHARED", "S", "GETX")),
    BUG("gpu-vi!atomic-without-invalidations", "an atomic on a shared line is performed at once, without invalidations",
        NULL, COPY("L2", "S", "ATOMIC_SHARED", "S", "ATOMIC")),
    BUG("gpu-vi!no-recall", "the L2 evicts a shared line without recalling it", NULL,
        COPY("L2", "S", "EVICT_CLEAN", "V", "EVICT_CLEAN"), COPY("L2", "S", "EVICT_DIRTY", "V", "EVICT_DIRTY")),
    BUG("gpu-vi!recall-loses-data", "a recalled dirty line is not written to memory", NULL,
        DROP("L2", "S", "EVICT_DIRTY", "write_back")),
    BUG("gpu-vi!readers-of-fill-forgotten", "readers that waited for a fill are not added to the sharer list", NULL,
        DROP("L2", "IS", "FILL", "add_readers")),
    BUG("gpu-vi!one-ack-less", "a store is performed before the last of several acknowledgements", NULL,
        CLASSIFY("L2", count_one_less), STAY("L2", "I V S IS IM", "LAST_INV_ACK")),
    BUG("gpu-vi!requests-unordered", "the request network is declared unordered", NULL, UNORDERED("request")),

    BUG("gpu-vini!w2",
        "a load in II merges into the outstanding read, which may predate an invalidation or an own store",
        "section 3.1: an MSHR merges later loads into the outstanding read", COPY("L1", "II", "LOAD", "IV", "LOAD"),
        STAY("L1", "II", "LOAD")),
    BUG("gpu-vini!fill-survives", "an invalidation that overtakes the data does not cancel the read miss (IV stays IV)",
        NULL, DROP("L1", "IV", "INV", "count_invalidation"), DROP("L1", "IV", "INV", "release_way"),
        STAY("L1", "IV", "INV")),
    BUG("gpu-vini!inv-ack-dropped", "an L1 that has evicted the line does not acknowledge its invalidation", NULL,
        DROP("L1", "I", "INV", "acknowledge")),
    BUG("gpu-vini!others-forgotten-without-data", "a store to a line without data fetches it and invalidates no copies",
        NULL, COPY("L2", "N", "GETX_SHARED", "N", "GETX")),
    BUG("gpu-vini!entry-leaves-copies", "a directory entry is evicted without recalling the copies", NULL,
        COPY("L2", "S", "EVICT_ENTRY", "VE", "EVICT_ENTRY")),
    BUG("gpu-vini!writeback-lost", "a dirty line with listed sharers leaves the L2 without being written to memory",
        NULL, DROP("L2", "S", "EVICT_DIRTY", "write_back")),
    BUG("gpu-vini!readers-of-fill-forgotten", "readers that waited for a fill are not added to a list that has sharers",
        NULL, DROP("L2", "NS", "FILL", "add_readers")),
    BUG("gpu-vini!atomic-without-invalidations",
        "an atomic on a shared line is performed at once, without invalidations", NULL,
        COPY("L2", "S", "ATOMIC_SHARED", "S", "ATOMIC")),
    BUG("gpu-vini!store-without-invalidations", "a store to a shared line is performed at once, without invalidations",
        NULL, COPY("L2", "S", "GETX_SHARED", "S", "GETX")),

    BUG("mesi!inv-ack-dropped", "an L1 that has evicted the line does not acknowledge its invalidation", NULL,
        DROP("L1", "I", "INV", "inv_ack")),
    BUG("mesi!silent-exclusive-eviction", "a clean owner evicts the line silently", NULL,
        COPY("L1", "E", "EVICT", "S", "EVICT")),
    BUG("mesi!writeback-lost", "the L2 forgets the line that its owner writes back", NULL,
        DROP("L2", "MT", "PUTX_DIRTY", "take_back")),
    BUG("mesi!acks-not-awaited", "a writer proceeds before the other L1s have acknowledged", NULL,
        CLASSIFY("L1", need_no_sharer), STAY("L1", "I S E M IS M_I SINK", "INV_ACK")),
    BUG("mesi!stale-fill-kept", "an invalidated read miss keeps its line", NULL,
        COPY("L1", "IS_I", "DATA", "IS", "DATA")),
    BUG("mesi!upgrade-survives-invalidation", "an upgrade completes with a copy that has been invalidated", NULL,
        STAY("L1", "SM", "INV")),
    BUG("mesi!clean-owner-drops-dirty-l2",
        "a recall that finds the owner clean discards an L2 copy that is newer than memory",
        "gem5's two-level MESI: the L2 drops its copy on clean write-back data",
        DROP("L2", "MT", "EVICT_DIRTY", "write_back")),
    BUG("mesi!writeback-overtakes-unblock",
        "a write-back that has overtaken its sender's unblock is treated as a former owner's",
        "a PUTX is not held while an exclusive grant is in progress", COPY("L2", "MT_MB", "PUTX_OLD", "M", "PUTX_OLD"),
        STAY("L2", "MT_MB", "PUTX_OLD")),
    BUG("mesi!owner-keeps-line", "an owner passes the line to a writer and stays in M", NULL,
        STAY("L1", "M", "FWD_GETX")),
    BUG("mesi!reader-leaves-memory-behind", "the L2 ignores the line that an owner sends for a reader", NULL,
        DROP("L2", "MT_IIB MT_IB", "WB_DIRTY", "take_back")),

    BUG("mesi-wt!not-blocked",
        "the L2 answers readers before a writer's UNBLOCK, while its L1 performs the merged writes",
        "public simulator: merged stores complete with the first one, and are never sent",
        COPY("L2", "SB", "GETS", "S", "GETS"), STAY("L2", "SB", "GETS")),
    BUG("mesi-wt!unblock-lost", "a writer that has lost its copy does not unblock the line", NULL,
        DROP("L1", "II", "ACK", "unblock")),
    BUG("mesi-wt!merged-words-lost", "mshr=merge: the L2 loses the words of merged writes", NULL,
        CHOOSE("mshr", "merge"), DROP("L2", "SB", "UNBLOCK_ALONE", "write_merged")),
    BUG("mesi-wt!copy-not-updated", "a sharer's copy does not take its acknowledged store", NULL,
        DROP("L1", "SM", "ACK", "update_copy")),
    BUG("mesi-wt!copy-survives", "an L1 acknowledges an invalidation and keeps its copy", NULL, STAY("L1", "S", "INV")),
    BUG("mesi-wt!writer-keeps-copy",
        "an L1 with an own store outstanding acknowledges an invalidation and keeps its copy", NULL,
        DROP("L1", "SM", "INV", "release_way"), STAY("L1", "SM", "INV")),
    BUG("mesi-wt!fill-survives", "an invalidation that overtakes the data does not cancel the read miss", NULL,
        DROP("L1", "IS", "INV", "release_way"), STAY("L1", "IS", "INV")),
    BUG("mesi-wt!w2", "a load in IS_I merges into the outstanding read, which may predate the invalidation", NULL,
        COPY("L1", "IS_I", "LOAD", "IS", "LOAD"), STAY("L1", "IS_I", "LOAD")),
    BUG("mesi-wt!store-without-invalidations", "a store to a shared line is performed at once, without invalidations",
        NULL, COPY("L2", "S", "GETX_SHARED", "S", "GETX")),
    BUG("mesi-wt!atomic-without-invalidations",
        "an atomic on a shared line is performed at once, without invalidations", NULL,
        COPY("L2", "S", "ATOMIC_SHARED", "S", "ATOMIC")),
    BUG("mesi-wt!no-recall", "the L2 evicts a shared line without recalling it", NULL,
        COPY("L2", "S", "EVICT_CLEAN", "V", "EVICT_CLEAN"), COPY("L2", "S", "EVICT_DIRTY", "V", "EVICT_DIRTY")),
    BUG("mesi-wt!passes-own-store", "a load hits the copy behind its warp's own store, under rc", NULL,
        COPY("L1", "SM", "LOAD", "S", "LOAD"), STAY("L1", "SM", "LOAD")),
    /* The public simulator's: the L2 answers at once, with a copy that lacks the owner's stores in flight. */
    BUG("mesi-wt!reader-before-writes",
        "exclusive=on: the L2 answers a reader with its copy while the owner's stores are in flight",
        "public simulator: in MT, the L2 answers another reader with its own copy", CHOOSE("exclusive", "on"),
        COPY("L2", "MT", "GETS_OWNED", "S", "GETS"), STAY("L2", "MT", "GETS_OWNED")),
    BUG("mesi-wt!downgrade-overtakes-writes", "exclusive=on: the owner's acknowledgement may overtake its stores", NULL,
        CHOOSE("exclusive", "on"), UNORDERED("acknowledgement")),
    BUG("mesi-wt!downgrade-forgotten",
        "exclusive=on: a downgrade that overtakes the exclusive line does not make it shared", NULL,
        CHOOSE("exclusive", "on"), STAY("L1", "IS", "DOWNGRADE")),
    BUG("mesi-wt!owner-stays", "exclusive=on: an owner acknowledges a downgrade and stays in E", NULL,
        CHOOSE("exclusive", "on"), STAY("L1", "E", "DOWNGRADE")),
    BUG("mesi-wt!writes-lost-in-recall", "exclusive=on: a store that arrives during a recall is acknowledged and lost",
        NULL, CHOOSE("exclusive", "on"), REPLACE("L2", "SI", "BEHIND", "pass_behind", act_lose)),

    BUG("sc-ideal!copy-not-updated", "the writer's copy does not take its acknowledged store", NULL,
        DROP("L1", "SM", "LAST_ACK", "take_store")),
    BUG("sc-ideal!fill-survives", "a store does not cancel the read misses of other L1s whose data are in flight", NULL,
        DROP("L1", "IS", "INVALIDATE", "release_way"), STAY("L1", "IS", "INVALIDATE")),
    BUG("sc-ideal!evicted-copies-stay", "the L2 evicts a line and leaves its copies", NULL,
        COPY("L2", "S", "EVICT_CLEAN", "V", "EVICT_CLEAN"), COPY("L2", "S", "EVICT_DIRTY", "V", "EVICT_DIRTY")),
    BUG("sc-ideal!atomic-leaves-copies", "an atomic leaves the copies of other L1s", NULL,
        DROP("L2", "S", "ATOMIC", "invalidate_at_once")),
    BUG("sc-ideal!reader-not-listed", "the L2 does not list the reader of a line that it has as a sharer", NULL,
        DROP("L2", "V", "GETS", "add_sharer")),
    {0},
};

/* planted.c: bugs planted in TC-Strong and TC-Weak, among them literal readings of the paper that violate coherence:
 * h1, h2, h3, h6 and h7 follow its table 2, w2 and w3 its prose. */
#include "tests/mutants.h"

/* ---- the L1 ------------------------------------------------------------------------------------------------------ */

static gpc_event_id_t
expired_data_serves(const gpc_step_t *x)
{
    if (mutant_state_is(x, "IV")) {
        return mutant_event(x, "READ_EXPIRED");
    }
    return mutant_event(x, gpc_is_last_answer(x) ? "LAST_READ" : "READ");
}

/* Data that expires in flight serves every merged load. */
static gpc_event_id_t
expired_data_serves_all(const gpc_step_t *x)
{
    gpc_event_id_t event = mutant_base_event(x);
    return mutant_event_is(x, event, "READ_AGAIN") ? expired_data_serves(x) : event;
}

/* Whether a merged load issued later than one cycle after the data's timestamp. */
static bool
has_much_younger(const gpc_step_t *x)
{
    GPC_FOR_PENDING(x, waiting)
    {
        if (waiting->request == x->msg->request && waiting->issued > mutant_message_field(x, x->msg, "timestamp") + 1) {
            return true;
        }
    }
    return false;
}

static gpc_event_id_t
expired_data_serves_the_next_cycle(const gpc_step_t *x)
{
    gpc_event_id_t event = mutant_base_event(x);
    return mutant_event_is(x, event, "READ_AGAIN") && !has_much_younger(x) ? expired_data_serves(x) : event;
}

/* A load does not check whether the copy has expired. */
static gpc_event_id_t
no_expiry_for_loads(const gpc_step_t *x)
{
    gpc_event_id_t event = mutant_base_event(x);
    return x->cause == GPC_MSG_LOAD && gpc_is_pre_event(event) ? mutant_event(x, "LOAD") : event;
}

GPC_ACTION(act_fill_over_stores, "fill the whole line, over unanswered stores too")
{
    int status = mutant_base_act(x, "fill_around_stores");
    gpc_merge_words(gpc_line_words(x), x->msg->data, gpc_all_words(x->unit));
    return status;
}

/* ---- the L2 ------------------------------------------------------------------------------------------------------ */

/* A line fetched for one reader is private, even under an unexpired old lease. */
static gpc_event_id_t
fetched_is_private(const gpc_step_t *x)
{
    gpc_event_id_t event = mutant_base_event(x);
    bool alone = mutant_event_is(x, event, "FILL_SHARED") && gpc_step_pending(x)->count == 1;
    return alone ? mutant_event(x, "FILL") : event;
}

/* The L2 treats a lease as expired in its last cycle, in which an L1 may still read. */
static gpc_event_id_t
over_in_the_last_cycle(const gpc_step_t *x)
{
    bool leased = mutant_state_is(x, "P") || mutant_state_is(x, "S");
    if (leased && x->cause != GPC_MSG_EXPIRE && mutant_line_field(x, "timestamp") == gpc_now(x)) {
        return GPC_PRE_EVENT(mutant_event(x, "EXPIRE"));
    }
    return mutant_base_event(x);
}

/* Every requester that had a copy counts as the private reader: timestamps are not compared. */
static gpc_event_id_t
timestamp_not_compared(const gpc_step_t *x)
{
    gpc_event_id_t event = mutant_base_event(x);
    bool timed = gpc_has_message(x) && mutant_message_field(x, x->msg, "timestamp") != 0;
    if (!mutant_state_is(x, "P") || !timed || gpc_is_pre_event(event)) {
        return event;
    }
    if (mutant_event_is(x, event, "GETX")) {
        return mutant_event(x, "GETX_PRIVATE");
    }
    return mutant_event_is(x, event, "ATOMIC") ? mutant_event(x, "ATOMIC_PRIVATE") : event;
}

/* Whether the L2 holds a read of a line whose write waits. */
static bool
is_held_read(const gpc_step_t *x, gpc_event_id_t event)
{
    return mutant_state_is(x, "WS") && mutant_event_is(x, event, "GETS");
}

/* The writer's own warp reads the old value too. */
static gpc_event_id_t
own_reads_are_old(const gpc_step_t *x)
{
    gpc_event_id_t event = mutant_base_event(x);
    bool passes = is_held_read(x, event) && mutant_line_field(x, "timestamp") >= gpc_now(x);
    return passes ? mutant_event(x, "GETS_OLD") : event;
}

/* Other warps read the old value until the write is performed, whether the lease has ended or not. */
static gpc_event_id_t
late_reads_are_old(const gpc_step_t *x)
{
    gpc_event_id_t event = mutant_base_event(x);
    const gpc_msg_t *write = is_held_read(x, event) ? gpc_first_pending(x) : NULL;
    bool passes = write && (write->source != x->msg->source || write->warp != x->msg->warp);
    return passes ? mutant_event(x, "GETS_OLD") : event;
}

/* Table 2's IM row: a fill completes the store without checking leases. */
static gpc_event_id_t
fill_ends_leases(const gpc_step_t *x)
{
    gpc_event_id_t event = mutant_base_event(x);
    if (mutant_event_is(x, event, "FILL_LIVE_STORE") || mutant_event_is(x, event, "FILL_LIVE_OTHER")) {
        return mutant_event(x, "FILL_STORE");
    }
    return mutant_event_is(x, event, "FILL_LIVE_ATOMIC") ? mutant_event(x, "FILL_ATOMIC") : event;
}

GPC_ACTION(act_send_late_gwct, "send ACK_G with the line's timestamp minus one")
{
    gpc_cycle_t timestamp = mutant_line_field(x, "timestamp"), gwct = timestamp ? timestamp - 1 : 0;
    gpc_msg_t *answer = gpc_new_writer_answer(x, mutant_type(x, "ACK_G"), gwct);
    mutant_set_message_field(x, answer, "gwct", gwct);
    return gpc_answer_writer(x, answer);
}

/* ---- TC-Weak's order --------------------------------------------------------------------------------------------- */

static int
release_at_once(gpc_controller_t *l1, uint16_t warp, uint8_t scope, gpc_cycle_t *until)
{
    (void) l1, (void) warp, (void) scope, (void) until;
    return GPC_OK;
}

static void
join_nothing(gpc_controller_t *l1, void *into, const void *from)
{
    (void) l1, (void) into, (void) from;
}

PLANTED(temporal) = {
    BUG("tc-strong!w3", "data that expires in flight serves all merged loads",
        "section 3.1: an MSHR serves all merged loads", CLASSIFY("L1", expired_data_serves_all)),
    BUG("tc-strong!load-after-timestamp",
        "data that expires in flight serves loads issued one cycle after its timestamp", NULL,
        CLASSIFY("L1", expired_data_serves_the_next_cycle)),
    BUG("tc-strong!h1", "a line fetched for one reader is private under an unexpired old lease",
        "table 2 (printed for TC-Weak): a fill for one load leads to P, without a check of MI's timestamp",
        CLASSIFY("L2", fetched_is_private)),
    BUG("tc-strong!w2", "a load in II merges into the outstanding read, which may predate an own store",
        "section 3.1: an MSHR merges later loads into the outstanding read", COPY("L1", "II", "LOAD", "IV", "LOAD"),
        STAY("L1", "II", "LOAD")),
    BUG("tc-strong!lease-off-by-one", "the L2 treats a lease as expired in its last cycle", NULL,
        CLASSIFY("L2", over_in_the_last_cycle)),
    BUG("tc-strong!evicted-lease-forgotten", "the L2 drops the lease of a line that it evicts", NULL,
        COPY("L2", "P S", "EVICT_CLEAN", "E", "EVICT_CLEAN"), COPY("L2", "P S", "EVICT_DIRTY", "E", "EVICT_DIRTY")),
    BUG("tc-strong!private-without-comparison", "a store of any core that had a copy counts as private", NULL,
        CLASSIFY("L2", timestamp_not_compared), STAY("L2", "P", "GETS")),
    BUG("tc-strong!reader-passes-waiting-store", "a read extends the lease that a store waits for", NULL,
        COPY("L2", "WS", "GETS", "S", "GETS"), STAY("L2", "WS", "GETS")),
    BUG("tc-strong!own-read-passes-store", "a warp reads the old value behind its own store that waits for leases",
        NULL, CLASSIFY("L2", own_reads_are_old)),
    BUG("tc-strong!read-passes-after-lease", "reads pass a waiting store after the last lease has ended", NULL,
        CLASSIFY("L2", late_reads_are_old)),
    BUG("tc-strong!own-store-readable", "a load hits on the core's own store before it is performed", NULL,
        COPY("L1", "VM", "LOAD", "V", "LOAD"), STAY("L1", "VM", "LOAD")),
    BUG("tc-strong!store-waits-for-no-lease", "a store to a leased line is performed without waiting", NULL,
        COPY("L2", "S", "GETX", "E", "GETX"), STAY("L2", "S", "GETX")),
    BUG("tc-strong!expired-copy-read", "a load hits on an expired copy", NULL, CLASSIFY("L1", no_expiry_for_loads)),
    BUG("tc-strong!ack-dropped", "a store that has waited for a lease is never acknowledged", NULL,
        DROP("L2", "WS", "TIME_STORE", "send_ack")),

    BUG("tc-weak!h1", "a line fetched for one reader is private under an unexpired old lease",
        "table 2, (IS, Mem Data): \"multiple? -> S : -> P\", without a check of MI's timestamp",
        CLASSIFY("L2", fetched_is_private)),
    BUG("tc-weak!h2", "a store completed by a fill is acknowledged without a check for an unexpired lease",
        "table 2, (IM, Mem Data): \"write? ACK; -> E\"", CLASSIFY("L2", fill_ends_leases)),
    /* Together with the L1's increments. */
    BUG("tc-weak!h3", "a store makes a leased line private, and the writer's L1 increments its timestamp",
        "table 2, (S, GETX) and (S, UPGR): \"-> P\"", NEXT("L2", "P S", "GETX UPGR_OTHER", "P"),
        NEXT("L2", "S", "UPGR_SAME", "P"), STAY("L2", "P", "ATOMIC")),
    BUG("tc-weak!w3", "data that expires in flight serves all merged loads",
        "section 3.1: an MSHR serves all merged loads", CLASSIFY("L1", expired_data_serves_all)),
    BUG("tc-weak!load-after-timestamp", "data that expires in flight serves loads issued one cycle after its timestamp",
        NULL, CLASSIFY("L1", expired_data_serves_the_next_cycle)),
    BUG("tc-weak!w2", "a load in II merges into the outstanding read, which may predate an own store",
        "section 3.1: an MSHR merges later loads into the outstanding read", COPY("L1", "II", "LOAD", "IV", "LOAD"),
        STAY("L1", "II", "LOAD")),
    BUG("tc-weak!h6", "the line that answers a UPGR overwrites younger own stores",
        "table 2, (VM, DATA-G): no merge with outstanding stores is specified",
        REPLACE("L1", "VM", "DATA_G", "fill_around_stores", act_fill_over_stores)),
    BUG("tc-weak!h7",
        "a UPGR of an expired copy leaves the line's timestamp, which the next lease may give to another core's copy",
        "table 2, (E, UPGR): \"write; ACK\", in E", COPY("L2", "E", "UPGR_OTHER", "E", "GETX"),
        COPY("L2", "IM", "FILL_UPGR", "IM", "FILL_STORE")),
    BUG("tc-weak!h7-filled", "the same for a UPGR that a fill completes only",
        "table 2, (IM, Mem Data): \"write? ACK; -> E\"", COPY("L2", "IM", "FILL_UPGR", "IM", "FILL_STORE")),
    BUG("tc-weak!expired-copy-read", "a load hits on an expired copy", NULL, CLASSIFY("L1", no_expiry_for_loads)),
    BUG("tc-weak!fence-ignores-gwct", "a fence waits for acknowledgements only", NULL,
        WITH(order.release, release_at_once)),
    BUG("tc-weak!gwct-not-noted", "an L1 without a copy ignores an acknowledgement's GWCT", NULL,
        DROP("L1", "II", "ACK_G LAST_ACK_G", "raise_gwct")),
    BUG("tc-weak!gwct-off-by-one", "a GWCT is one cycle too early", NULL,
        REPLACE("L2", "P S", "GETX", "send_ack_g", act_send_late_gwct)),
    BUG("tc-weak!lease-off-by-one", "the L2 treats a lease as expired in its last cycle", NULL,
        CLASSIFY("L2", over_in_the_last_cycle)),
    BUG("tc-weak!evicted-lease-forgotten", "the L2 drops the lease of a line that it evicts", NULL,
        COPY("L2", "P S", "EVICT_CLEAN", "E", "EVICT_CLEAN"), COPY("L2", "P S", "EVICT_DIRTY", "E", "EVICT_DIRTY")),
    BUG("tc-weak!writeback-lost",
        "a dirty line whose leases have expired leaves the L2 without being written to memory", NULL,
        DROP("L2", "E", "EVICT_DIRTY", "write_back")),
    BUG("tc-weak!copies-outlive-launch",
        "L1s keep their copies when a kernel begins, though the launch before did not wait for leases", NULL,
        COPY("L1", "V", "KERNEL_BEGIN", "V", "KERNEL_FOLLOWS")),
    BUG("tc-weak!barrier-joins-nothing", "warps leave a barrier without each other's GWCTs", NULL,
        WITH(order.join, join_nothing)),
    {0},
};

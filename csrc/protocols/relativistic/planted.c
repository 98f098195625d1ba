/* planted.c: bugs planted in RCC-SC and RCC-WO: the readings of the paper that the hardenings replace (h1, h2, h3,
 * h5), and mistakes in its three rules, in rollover, at launches and in fences. */
#include "tests/mutants.h"

static uint64_t *
exp_of(const gpc_step_t *x)
{
    return mutant_field(x, x->unit->type->arrays[0].line, gpc_line_fields(x), "exp");
}

/* Executes an action of the base protocol as if the line's last lease ended one earlier. */
static int
as_if_leased_less(gpc_step_t *x, const char *action)
{
    uint64_t *exp = exp_of(x), before = *exp;
    *exp -= before != 0;
    int status = mutant_base_act(x, action);
    *exp = before;
    return status;
}

/* ---- the paper's readings ---------------------------------------------------------------------------------------- */

GPC_ACTION(act_keep_exp, "mnow = max(mnow, exp, ver)")
{
    return as_if_leased_less(x, "keep_times");
}

static gpc_event_id_t
merged_load_is_served(const gpc_step_t *x)
{
    gpc_event_id_t event = mutant_base_event(x);
    bool last = gpc_is_last_answer(x);
    if (mutant_event_is(x, event, "DATA_AGAIN")) {
        return mutant_event(x, last ? "LAST_DATA_EXPIRED" : "DATA_EXPIRED");
    }
    if (mutant_event_is(x, event, "RENEW_AGAIN")) {
        return mutant_event(x, last ? "LAST_RENEW_EXPIRED" : "RENEW_EXPIRED");
    }
    return event;
}

GPC_ACTION(act_buffer_silently, "the store becomes pending, without ACK")
{
    uint64_t *lastwr = mutant_field(x, x->unit->type->mshr, gpc_step_mshr_fields(x), "lastwr");
    uint8_t *haswrite = mutant_field(x, x->unit->type->mshr, gpc_step_mshr_fields(x), "haswrite");
    *lastwr = mutant_message_field(x, x->msg, "now");
    *haswrite = 1;
    x->msg->request = GPC_NONE;
    return gpc_keep_pending(x);
}

/* The lease beside the tag survives when another line takes the way. */
GPC_ACTION(act_reserve_with_lease, "reserve a way; its lease is not cleared")
{
    const gpc_tags_t *tags = &x->unit->arrays[0];
    gpc_index_t first = gpc_tags_set_of(tags, x->line) * tags->ways;
    uint64_t left = *(uint64_t *) mutant_field(x, x->unit->type->arrays[0].line, gpc_tags_fields(tags, first), "exp");
    bool had = x->way != GPC_NONE;

    int status = gpc_reserve_way(x);
    if (status == GPC_OK && !had && x->way == first) {
        *exp_of(x) = left;
    }
    return status;
}

/* ---- rules 1 to 3 ------------------------------------------------------------------------------------------------ */

GPC_ACTION(act_advance_to_lease, "ver = max(M.now, ver, exp)")
{
    return as_if_leased_less(x, "advance");
}

/* ---- renewals, launches, rollover -------------------------------------------------------------------------------- */

static gpc_event_id_t
any_lease_is_renewed(const gpc_step_t *x)
{
    gpc_event_id_t event = mutant_base_event(x);
    bool renewed =
        mutant_state_is(x, "V") && mutant_event_is(x, event, "GETS") && mutant_message_field(x, x->msg, "exp");
    return renewed ? mutant_event(x, "GETS_RENEW") : event;
}

/* Takes a time of an older epoch for one of the core's. */
static void
into_epoch(const gpc_step_t *x, const char *field)
{
    uint64_t last = gpc_longest_time(x->unit->machine), time = mutant_message_field(x, x->msg, field);
    uint64_t now = *(const uint64_t *) x->unit->unit_fields;
    mutant_set_message_field(x, x->msg, field, (now & ~last) | (time & last));
}

static gpc_event_id_t
no_epoch(const gpc_step_t *x)
{
    if (x->cause == mutant_type(x, "DATA") && x->mshr != GPC_NONE) {
        into_epoch(x, "exp");
        into_epoch(x, "ver");
    }
    return mutant_base_event(x);
}

PLANTED(relativistic) = {
    BUG("rcc-sc!h1", "an evicted lease is kept without the increment: a store may get the lease's last time",
        "figure 5, L2, V and eviction", REPLACE("L2", "V", "EVICT_CLEAN EVICT_DIRTY", "keep_times", act_keep_exp)),
    BUG("rcc-sc!h2", "data that expire in flight serve loads that merged after their lease",
        "figure 5, L1, IV and DATA", CLASSIFY("L1", merged_load_is_served)),
    BUG("rcc-sc!h3", "the store that misses in the L2 is not acknowledged", "figure 5, L2, I and WRITE",
        REPLACE("L2", "I", "WRITE", "buffer_write", act_buffer_silently)),
    BUG("rcc-sc!h5", "a lease is renewed of a copy that has been replaced", "figure 5, L1, I and load: GETS with D.exp",
        REPLACE("L1", "I II", "LOAD", "reserve_way", act_reserve_with_lease)),
    BUG("rcc-sc!read-from-the-future", "a load does not advance its core's clock to the version (rule 1)", NULL,
        DROP("L1", "IV", "LAST_DATA", "raise_now")),
    BUG("rcc-sc!writer-stays-behind", "a store does not advance its core's clock (rule 2)", NULL,
        DROP("L1", "II VI", "ACK LAST_ACK", "raise_writes")),
    BUG("rcc-sc!version-equals-lease", "a store's version may equal the last lease (rule 3)", NULL,
        REPLACE("L2", "V", "WRITE", "advance", act_advance_to_lease)),
    BUG("rcc-sc!renewed-although-written", "a copy is renewed although the line has been written", NULL,
        CLASSIFY("L2", any_lease_is_renewed)),
    BUG("rcc-sc!launch-not-ordered", "a launch does not join the cores' clocks", NULL,
        DROP("L1.clock", "RUNS", "BEGIN", "join_clocks")),
    BUG("rcc-sc!epoch-ignored", "data of the epoch before a rollover are kept as if they were of the new one", NULL,
        CLASSIFY("L1", no_epoch)),

    BUG("rcc-wo!no-join", "a fence does not raise the clock of reads", NULL, WITH(order.fence, NULL)),
    BUG("rcc-wo!barrier-joins-nothing", "a barrier does not raise the clock of reads", NULL,
        WITH(order.barrier_releases, false)),
    BUG("rcc-wo!release-forgets-reads", "a release does not raise the clock of writes", NULL,
        WITH(order.release, NULL)),
    BUG("rcc-wo!acquire-forgets-reads", "an acquire does not raise the clock of writes", NULL,
        WITH(order.acquire, NULL)),
    BUG("rcc-wo!same-line", "a load may hit the old copy beside its warp's own store", NULL,
        WITH(order.same_line, false)),
    BUG("rcc-wo!version-equals-lease", "a store's version may equal the last lease (rule 3)", NULL,
        REPLACE("L2", "V", "WRITE", "advance", act_advance_to_lease)),
    {0},
};

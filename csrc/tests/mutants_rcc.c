/* mutants_rcc.c: bugs planted in RCC-SC and RCC-WO: the readings of the paper that the hardenings replace (h1, h2, h3, h5), and mistakes
 * in its three rules, in rollover, at launches and in fences. */
#include <string.h>

#include "tests/mutants.h"

/* ---- fields -------------------------------------------------------------------------------------------------------- */

static void *
field_in(gpc_describe_t describe, void *object, const char *name)
{
    const gpc_described_t *described = describe();
    for (uint32_t i = 0; i < described->count; i++) {
        if (strcmp(described->fields[i].name, name) == 0) {
            return (uint8_t *) object + described->fields[i].offset;
        }
    }
    return NULL; /* the first use ends the test program */
}

static uint64_t *
exp_of(const gpc_step_t *x)
{
    return field_in(x->unit->type->arrays[0].line, gpc_line_fields(x), "exp");
}

/* Executes an action of the base protocol as if the line's last lease ended one earlier. */
static int
as_if_leased_less(gpc_step_t *x, const char *event)
{
    uint64_t *exp = exp_of(x), before = *exp;
    *exp -= before != 0;
    int status = gpc_act(mutant_base_action(x, "V", event, 0), x);
    *exp = before;
    return status;
}

/* ---- the paper's readings ------------------------------------------------------------------------------------------ */

GPC_ACTION(act_keep_exp, "mnow = max(mnow, exp, ver)")
{
    return as_if_leased_less(x, "EVICT_CLEAN");
}

static void
evicted_lease_without_one(mutant_t *m)
{
    mutant_replace(m, "L2", "V", "EVICT_CLEAN", 0, act_keep_exp);
    mutant_replace(m, "L2", "V", "EVICT_DIRTY", 0, act_keep_exp);
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

static void
merged_loads_take_any_lease(mutant_t *m)
{
    mutant_classify(m, "L1", merged_load_is_served);
}

GPC_ACTION(act_buffer_silently, "the store becomes pending, without ACK")
{
    uint64_t *lastwr = field_in(x->unit->type->mshr, gpc_step_mshr_fields(x), "lastwr");
    uint8_t *haswrite = field_in(x->unit->type->mshr, gpc_step_mshr_fields(x), "haswrite");
    *lastwr = mutant_message_field(x, x->msg, "now");
    *haswrite = 1;
    x->msg->request = GPC_NONE;
    return gpc_keep_pending(x);
}

static void
first_store_not_acknowledged(mutant_t *m)
{
    mutant_replace(m, "L2", "I", "WRITE", 2, act_buffer_silently);
}

/* The lease beside the tag survives when another line takes the way. */
GPC_ACTION(act_reserve_with_lease, "reserve a way; its lease is not cleared")
{
    const gpc_tags_t *tags = &x->unit->arrays[0];
    gpc_index_t first = gpc_tags_set_of(tags, x->line) * tags->ways;
    uint64_t left = *(uint64_t *) field_in(x->unit->type->arrays[0].line, gpc_tags_fields(tags, first), "exp");
    bool had = x->way != GPC_NONE;

    int status = gpc_reserve_way(x);
    if (status == GPC_OK && !had && x->way == first) {
        *exp_of(x) = left;
    }
    return status;
}

static void
lease_outlives_data(mutant_t *m)
{
    mutant_replace(m, "L1", "I", "LOAD", 0, act_reserve_with_lease);
    mutant_replace(m, "L1", "II", "LOAD", 0, act_reserve_with_lease);
}

/* ---- rules 1 to 3 -------------------------------------------------------------------------------------------------- */

static void
reads_from_the_future(mutant_t *m)
{
    mutant_drop(m, "L1", "IV", "LAST_DATA", 0);
}

static void
writer_stays_behind(mutant_t *m)
{
    static const char *const states[] = {"II", "VI"};
    for (unsigned i = 0; i < 2; i++) {
        mutant_drop(m, "L1", states[i], "ACK", 0);
        mutant_drop(m, "L1", states[i], "LAST_ACK", 0);
    }
}

GPC_ACTION(act_advance_to_lease, "ver = max(M.now, ver, exp)")
{
    return as_if_leased_less(x, "WRITE");
}

static void
version_equals_lease(mutant_t *m)
{
    mutant_replace(m, "L2", "V", "WRITE", 0, act_advance_to_lease);
}

/* ---- renewals, launches, rollover ---------------------------------------------------------------------------------- */

static gpc_event_id_t
any_lease_is_renewed(const gpc_step_t *x)
{
    gpc_event_id_t event = mutant_base_event(x);
    bool renewed =
        mutant_state_is(x, "V") && mutant_event_is(x, event, "GETS") && mutant_message_field(x, x->msg, "exp");
    return renewed ? mutant_event(x, "GETS_RENEW") : event;
}

static void
renewed_although_written(mutant_t *m)
{
    mutant_classify(m, "L2", any_lease_is_renewed);
}

static void
launch_is_not_ordered(mutant_t *m)
{
    mutant_drop(m, "L1.clock", "RUNS", "BEGIN", 0);
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

static void
epoch_ignored(mutant_t *m)
{
    mutant_classify(m, "L1", no_epoch);
}

/* ---- RCC-WO -------------------------------------------------------------------------------------------------------- */

static void
fence_joins_nothing(mutant_t *m)
{
    mutant_protocol(m)->order.fence = NULL;
}

static void
barrier_joins_nothing(mutant_t *m)
{
    mutant_protocol(m)->order.barrier_releases = false;
}

static void
release_forgets_reads(mutant_t *m)
{
    mutant_protocol(m)->order.release = NULL;
}

static void
acquire_forgets_reads(mutant_t *m)
{
    mutant_protocol(m)->order.acquire = NULL;
}

static void
load_passes_own_store(mutant_t *m)
{
    mutant_protocol(m)->order.same_line = false;
}

MUTANTS(rcc){
    {"rcc-sc!h1", "an evicted lease is kept without the increment: a store may get the lease's last time",
     "figure 5, L2, V and eviction", evicted_lease_without_one},
    {"rcc-sc!h2", "data that expire in flight serve loads that merged after their lease", "figure 5, L1, IV and DATA",
     merged_loads_take_any_lease},
    {"rcc-sc!h3", "the store that misses in the L2 is not acknowledged", "figure 5, L2, I and WRITE",
     first_store_not_acknowledged},
    {"rcc-sc!h5", "a lease is renewed of a copy that has been replaced", "figure 5, L1, I and load: GETS with D.exp",
     lease_outlives_data},
    {"rcc-sc!read-from-the-future", "a load does not advance its core's clock to the version (rule 1)", NULL,
     reads_from_the_future},
    {"rcc-sc!writer-stays-behind", "a store does not advance its core's clock (rule 2)", NULL, writer_stays_behind},
    {"rcc-sc!version-equals-lease", "a store's version may equal the last lease (rule 3)", NULL, version_equals_lease},
    {"rcc-sc!renewed-although-written", "a copy is renewed although the line has been written", NULL,
     renewed_although_written},
    {"rcc-sc!launch-not-ordered", "a launch does not join the cores' clocks", NULL, launch_is_not_ordered},
    {"rcc-sc!epoch-ignored", "data of the epoch before a rollover are kept as if they were of the new one", NULL,
     epoch_ignored},
    {"rcc-wo!no-join", "a fence does not raise the clock of reads", NULL, fence_joins_nothing},
    {"rcc-wo!barrier-joins-nothing", "a barrier does not raise the clock of reads", NULL, barrier_joins_nothing},
    {"rcc-wo!release-forgets-reads", "a release does not raise the clock of writes", NULL, release_forgets_reads},
    {"rcc-wo!acquire-forgets-reads", "an acquire does not raise the clock of writes", NULL, acquire_forgets_reads},
    {"rcc-wo!same-line", "a load may hit the old copy beside its warp's own store", NULL, load_passes_own_store},
    {"rcc-wo!version-equals-lease", "a store's version may equal the last lease (rule 3)", NULL, version_equals_lease},
    {0},
};

/* gtsc_planted.c: G-TSC with a planted bug, which the option `bug` names: -p './gtsc_planted.c[bug=unlocked]'. What
 * claims to find bugs must find these. All else is gtsc.c, whose option polls=off is the bug without H2. */
#include "controller/outside.h"

#pragma push_macro("GPC_EXPORT_PROTOCOLS")
#undef GPC_EXPORT_PROTOCOLS
#define GPC_EXPORT_PROTOCOLS(...) _Static_assert(true, "only what follows is exported")
#include "gtsc.c"
#pragma pop_macro("GPC_EXPORT_PROTOCOLS")

/*     name           what is wrong */
#define BUGS(X)                                                                                                        \
    X(none,           "nothing")                                                                                       \
    X(early_store,    "a store's version ignores its warp's clock: wts = rts + 1")                                     \
    X(lease_unkept,   "the L2 does not remember the lease that it gives")                                              \
    X(blind_renewal,  "every copy is renewed, whatever its version")                                                   \
    X(gts_unraised,   "a store's answer does not raise gts")                                                           \
    X(unlocked,       "other accesses read a store that has no version")                                               \
    X(mem_ts_unused,  "a line that is fetched is readable and writable from time 1")                                   \
    X(no_h1,          "a copy survives its store whatever version that replaced")                                      \
    X(barrier_apart,  "a barrier does not join its warps' clocks")                                                     \
    X(no_flush,       "a rollover ends no lease: copies are readable as if they were of the new epoch")                \
    X(read_ahead,     "a load does not raise its warp's clock to the version that it reads")                           \
    X(merged_late,    "a merged load is answered with a lease that its warp's clock has passed")                       \
    X(evicted_lease,  "the L2 forgets the leases of lines that it evicts")                                             \
    X(launch_apart,   "a launch does not begin at the latest clock, and drops no copies")

#define BUG_ENUM(name, text) BUG_##name,
#define BUG_NAME(name, text) #name " "
enum { BUGS(BUG_ENUM) NUM_BUGS };
enum { OPTION_BUG = OPTION_ROLLOVER_STALL + 1 };

static bool
has(const gpc_controller_t *unit, int64_t bug)
{
    return unit->options[OPTION_BUG] == bug;
}

/* ---- L1 */

static gpc_event_id_t
planted_l1_classify(const gpc_step_t *x)
{
    gpc_event_id_t event = l1_classify(x);
    if (has(x->unit, BUG_no_h1)) {
        return event == L1_LOST ? L1_DONE : event == L1_LAST_LOST ? L1_LAST_DONE : event;
    }
    if (has(x->unit, BUG_merged_late)) {
        return event == L1_FILL_AGAIN ? L1_FILL : event == L1_RENEW_AGAIN ? L1_RENEW : event;
    }
    if (has(x->unit, BUG_unlocked) && event == L1_LOAD && x->state == L1_VW) {
        return L1_EXPIRED_LOAD;
    }
    return event;
}

GPC_ACTION(planted_note_write, "note_write; with gts_unraised, under rc nothing for a store")
{
    bool forgets = has(x->unit, BUG_gts_unraised) && x->cause == GT_BUSWRACK && x->unit->rule != GPC_RULE_SC;
    return forgets ? GPC_OK : gpc_act(act_note_write, x);
}

GPC_ACTION(planted_read, "read; with read_ahead, the warp's clock remains")
{
    return gpc_act(has(x->unit, BUG_read_ahead) ? act_hit : act_read, x);
}

GPC_ACTION(planted_raise_readers, "raise_readers; with read_ahead nothing")
{
    return has(x->unit, BUG_read_ahead) ? GPC_OK : gpc_act(act_raise_readers, x);
}

static const gpc_patch_t l1_patches[] = {
    {L1_V, L1_LOAD, GO(L1_V, planted_read), "read_ahead"},
    {L1_VV, L1_LOAD, GO(L1_VV, planted_read), NULL},
    {L1_IV, L1_FILL, GO(L1_V, act_take_version, act_fill, planted_raise_readers, act_complete), NULL},
    {L1_VV, L1_FILL, GO(L1_V, act_take_version, act_fill, planted_raise_readers, act_complete), NULL},
    {L1_VW, L1_EXPIRED_LOAD, GO(L1_VW, act_hit), "unlocked"},
    {L1_VW, L1_DONE, GO(L1_VW, act_take_version, planted_note_write, act_complete), "gts_unraised"},
    {L1_VW, L1_LAST_DONE, GO(L1_V, act_take_version, planted_note_write, act_complete), NULL},
    {L1_II, L1_DONE, GO(L1_II, planted_note_write, act_complete), NULL},
    {L1_II, L1_LAST_DONE, GO(L1_I, planted_note_write, act_complete), NULL},
};
static const gpc_table_t planted_l1 = {
    GPC_PATCHED_TABLE("L1", OVER_LINES, L1, "gtsc", l1_lines, l1_patches, planted_l1_classify)};

GPC_ACTION(planted_join_clocks, "join_clocks; with launch_apart, every clock at least 1")
{
    if (!has(x->unit, BUG_launch_apart)) {
        return gpc_act(act_join_clocks, x);
    }
    raise_all(x->unit, 1);
    return GPC_OK;
}

GPC_ACTION(planted_roll_clocks, "roll_clocks; with no_flush, the low bits of copies' times are then of the new epoch")
{
    const gpc_tags_t *tags = &x->unit->arrays[0];
    for (gpc_index_t way = 0; has(x->unit, BUG_no_flush) && way < tags->sets * tags->ways; way++) {
        if (gpc_tags_present(tags, way)) {
            gt_l1_line_at(x->unit, 0, way)->wts += gpc_longest_time(x->unit->machine) + 1;
            gt_l1_line_at(x->unit, 0, way)->rts += gpc_longest_time(x->unit->machine) + 1;
        }
    }
    return gpc_act(act_roll_clocks, x);
}

static const gpc_patch_t clock_patches[] = {
    {CLOCK_RUNS, CLOCK_BEGIN, GO(CLOCK_RUNS, planted_join_clocks), "launch_apart"},
    {CLOCK_RUNS, CLOCK_ROLLOVER, GO(CLOCK_RUNS, planted_roll_clocks), "no_flush"},
};
static const gpc_table_t planted_clocks = {
    GPC_PATCHED_TABLE("L1.clock", OVER_UNIT, CLOCK, "gtsc", clocks, clock_patches, NULL)};

static void
planted_join(gpc_controller_t *l1, void *into, const void *from)
{
    if (!has(l1, BUG_barrier_apart)) {
        gpc_raise_time(&((gt_l1_warp_t *) into)->ts, ((const gt_l1_warp_t *) from)->ts);
        gpc_raise_time(&((gt_l1_warp_t *) into)->gts, ((const gt_l1_warp_t *) from)->gts);
    }
}

/* ---- L2 */

static gpc_event_id_t
planted_l2_classify(const gpc_step_t *x)
{
    gpc_event_id_t event = l2_classify(x);
    bool renews = has(x->unit, BUG_blind_renewal) && event == L2_READ && x->state == L2_V;
    return renews && gt_message(x->msg)->wts != 0 ? L2_RENEW : event;
}

GPC_ACTION(planted_fill_line, "fill_line; with mem_ts_unused, wts = rts = 1")
{
    if (has(x->unit, BUG_mem_ts_unused)) {
        gt_l2_line(x)->wts = gt_l2_line(x)->rts = in_epoch(x, 0);
        return gpc_act(act_fill, x);
    }
    return gpc_act(act_fill_line, x);
}

GPC_ACTION(planted_perform, "perform; with early_store, as if the warp's clock were 0")
{
    gt_message(x->msg)->ts = has(x->unit, BUG_early_store) ? 0 : gt_message(x->msg)->ts;
    return gpc_act(act_perform, x);
}

/* The answer has the lease, with lease_unkept the line does not. */
static int
then_forget(gpc_step_t *x, const gpc_action_t *send, uint64_t rts)
{
    int status = gpc_act(send, x);
    if (has(x->unit, BUG_lease_unkept)) {
        gt_l2_line(x)->rts = rts;
    }
    return status;
}

GPC_ACTION(planted_fill, "extend and send_fill; with lease_unkept, rts is then what it was")
{
    uint64_t rts = gt_l2_line(x)->rts;
    (void) gpc_act(act_extend, x);
    return then_forget(x, act_send_fill, rts);
}

GPC_ACTION(planted_renewal, "extend and send_renewal; with lease_unkept, rts is then what it was")
{
    uint64_t rts = gt_l2_line(x)->rts;
    (void) gpc_act(act_extend, x);
    return then_forget(x, act_send_renewal, rts);
}

GPC_ACTION(planted_remember, "remember_lease; with evicted_lease nothing")
{
    return has(x->unit, BUG_evicted_lease) ? GPC_OK : gpc_act(act_remember_lease, x);
}

static const gpc_patch_t l2_patches[] = {
    {L2_V, L2_READ, GO(L2_V, planted_fill), "lease_unkept"},
    {L2_V, L2_RENEW, GO(L2_V, planted_renewal), NULL},
    {L2_V, L2_WRITE, GO(L2_V, planted_perform), "early_store"},
    {L2_V, L2_CLEAN, GO(L2_I, planted_remember), "evicted_lease"},
    {L2_V, L2_DIRTY, GO(L2_I, planted_remember, act_write_back), NULL},
    {L2_IV, L2_FILL, GO(L2_V, planted_fill_line, act_replay), "mem_ts_unused"},
};
static const gpc_table_t planted_l2 = {
    GPC_PATCHED_TABLE("L2", OVER_LINES, L2, "gtsc", l2_lines, l2_patches, planted_l2_classify)};

/* ---- what is exported: gtsc, but for these tables */

GPC_EXPORT_INTERFACE;
GPC_API gpc_protocols_of_t gpucoh_protocols;
const gpc_protocol_t *const *
gpucoh_protocols(void)
{
    static gpc_controller_type_t planted_l1_type, planted_l2_type;
    static gpc_protocol_t planted;
    static const gpc_protocol_t *const exported[] = {&planted, NULL};

    planted_l1_type = gt_l1;
    planted_l1_type.tables[TABLE_LINES] = &planted_l1;
    planted_l1_type.tables[TABLE_CLOCK] = &planted_clocks;
    planted_l2_type = gt_l2;
    planted_l2_type.tables[TABLE_LINES] = &planted_l2;
    planted = gtsc;
    planted.id = "gtsc-planted";
    planted.controllers[0] = &planted_l1_type;
    planted.controllers[1] = &planted_l2_type;
    planted.order.join = planted_join;
    planted.options[OPTION_BUG] = (gpc_option_info_t){
        .name = "bug", .largest = NUM_BUGS - 1, .choices = BUGS(BUG_NAME), .text = "the planted bug"};
    return exported;
}

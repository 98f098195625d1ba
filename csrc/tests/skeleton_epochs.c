/* skeleton_epochs.c: skel-epochs: copies live until an epoch ends; a unit for the whole machine ends epochs by its
 * clock.
 *
 * Paper    none. The unit's ticks, its star and its handshake resemble Puthoor and Lipasti, TACO 2023, sections 4.3 to
 *          4.6.
 * Rules    The unit ticks, tells every core that the epoch ends, and waits for all: each core drops its copies before
 *          it answers. A release waits until an epoch that began to end after its stores were performed has ended
 *          everywhere, so that no copy is older than they are. An acquire needs nothing.
 * Counts   The core has seen the end of epoch e begin. e + 1 may have begun at other cores already, before the stores
 *          were performed, but e + 2 cannot: e + 1 ends only after this core's answer. So the release waits for the
 *          completion of e + 2: 2 completions from now, or 3 while e has not ended everywhere.
 * Shows    a controller at the global position, its clock, multicasts on the star, a serving timer: nothing else
 *          releases a warp that waits for an epoch.
 */
#include "tests/skeletons.h"

enum { PERIOD = 200 }; /* core cycles */

/*     name  class  network bytes word line */
#define EP_MESSAGES(X, P)                                                                          \
    BASELINE_MESSAGES(X, P)                                                                        \
    X(P, STOP, EPOCH, 2, 8, 0, false, "the epoch ends: drop copies and answer")                     \
    X(P, DONE, EPOCH, 2, 8, 0, false, "every core has dropped its copies")                        \
    X(P, DROPPED, EPOCH, 3, 8, 0, false, "this core has")
GPC_MESSAGES(EP, EP_MESSAGES)
BASELINE_SAME_MESSAGES(EP);

/* ---- the core's side --------------------------------------------------------------------------------------------- */

enum { LINES, UNIT };

#define CORE_STATES(X) X(CORE_ON, STABLE, "on")
#define CORE_EVENTS(X) X(CORE_END, "the epoch ends") X(CORE_ENDED, "the epoch has ended everywhere")
GPC_FSM(CORE, CORE_STATES, CORE_EVENTS)

#define EP_UNIT(FIELD) FIELD(PLAIN, uint8_t, ending) /* the epoch has ended here and not everywhere */
/* 0: no release; 1: done; n: n - 1 epochs are to end everywhere first */
#define EP_WARP(FIELD) FIELD(PLAIN, uint8_t, waits)
GPC_METADATA(ep_l1, unit, EP_UNIT)
GPC_METADATA(ep_l1, warp, EP_WARP)

static gpc_event_id_t
core_classify(const gpc_step_t *x)
{
    return x->cause == EP_STOP ? CORE_END : x->cause == EP_DONE ? CORE_ENDED : GPC_NO_EVENT;
}

static uint8_t
route(const gpc_controller_t *unit, const gpc_msg_t *msg)
{
    (void) unit;
    return msg->type == EP_STOP || msg->type == EP_DONE ? UNIT : LINES;
}

GPC_ACTION(act_drop_copies, "drop every copy")
{
    ep_l1_unit(x->unit)->ending = 1;
    return skeleton_drop(x->unit);
}

GPC_ACTION(act_tell, "tell the unit")
{
    return gpc_send(x, gpc_new_message(x, EP_DROPPED, gpc_node_of(x->unit, GPC_AT_GLOBAL)));
}

GPC_ACTION(act_count_down, "releases have one epoch less to wait for")
{
    int status = GPC_OK;
    ep_l1_unit(x->unit)->ending = 0;
    for (uint32_t warp = 0; warp < x->unit->machine->warps_per_core && status == GPC_OK; warp++) {
        ep_l1_warp_t *fields = ep_l1_warp(x->unit, (uint16_t) warp);
        if (fields->waits > 1 && --fields->waits == 1) {
            status = x->unit->ports->wake_warp(x->unit->world, x->unit, (uint16_t) warp, 0);
        }
    }
    return status;
}

static const gpc_cell_t core_table[CORE_NUM_STATES][CORE_NUM_EVENTS] = {
    [CORE_ON] = {[CORE_END] = GO(CORE_ON, act_drop_copies, act_tell), [CORE_ENDED] = GO(CORE_ON, act_count_down)},
};
static const gpc_table_t core = {GPC_TABLE("L1.epoch", OVER_UNIT, CORE, core_table, core_classify)};

static const gpc_controller_type_t epochs_l1 = {
    .name = "L1",
    .position = GPC_AT_CORE,
    .tables = {&skeleton_l1_lines, &core},
    .arrays = {{.name = "tags", .line = baseline_l1_line_described, .has_data = true}},
    .mshr = gpc_requests_mshr_described,
    .unit = ep_l1_unit_described,
    .warp = ep_l1_warp_described,
    .route = route,
    .begins = 1u << LINES,
};

static int
release(gpc_controller_t *l1, uint16_t warp, uint8_t scope, gpc_cycle_t *until)
{
    ep_l1_warp_t *fields = ep_l1_warp(l1, warp);
    (void) scope, (void) until;
    if (fields->waits == 1) {
        fields->waits = 0;
        return GPC_OK;
    }
    if (fields->waits == 0) {
        fields->waits = (uint8_t) (1 + l1->options[EP_OPTION_EPOCHS] + ep_l1_unit(l1)->ending);
    }
    return GPC_HOLD; /* act_count_down wakes the warp */
}

/* A warp's end: its stores are performed, and the next kernel begins without copies. */
static int
leave(gpc_controller_t *l1, uint16_t warp, gpc_cycle_t *until)
{
    (void) l1, (void) warp, (void) until;
    return GPC_OK;
}

/* ---- the unit ---------------------------------------------------------------------------------------------------- */

#define EMU_STATES(X)                                                                              \
    X(EMU_SLEEP, STABLE, "an epoch runs")                                                          \
    X(EMU_ENDING, TRANSIENT_COHERENCE, "waits until every core has dropped its copies")
#define EMU_EVENTS(X)                                                                              \
    X(EMU_BEGIN, "kernel begin")                                                                   \
    X(EMU_TICK, "the epoch's time is over")                                                        \
    X(EMU_DROPPED, "a core has dropped its copies, others have not")                               \
    X(EMU_LAST_DROPPED, "every core has")
GPC_FSM(EMU, EMU_STATES, EMU_EVENTS)

#define EMU_UNIT(FIELD)                                                                            \
    FIELD(PLAIN, uint16_t, answers) /* outstanding */                                              \
    FIELD(STATISTIC, uint32_t, epochs)
GPC_METADATA(emu, unit, EMU_UNIT)

static gpc_event_id_t
emu_classify(const gpc_step_t *x)
{
    switch (x->cause) {
        case GPC_MSG_KERNEL_BEGIN:
            return EMU_BEGIN;
        case GPC_MSG_TIMER:
            return EMU_TICK;
        case EP_DROPPED:
            return emu_unit(x->unit)->answers == 1 ? EMU_LAST_DROPPED : EMU_DROPPED;
        default:
            return GPC_NO_EVENT;
    }
}

static int
tell_cores(gpc_step_t *x, uint8_t type)
{
    gpc_nodeset_t cores = {{0}};
    for (uint32_t core_number = 0; core_number < x->unit->machine->cores; core_number++) {
        gpc_nodeset_add(&cores, (gpc_node_t) core_number);
    }
    return gpc_broadcast(x, gpc_new_message(x, type, 0), &cores);
}

GPC_ACTION(act_set_timer, "set the timer of the next tick")
{
    return x->unit->ports->wake_at(x->unit->world, x->unit, gpc_now(x) + PERIOD, GPC_NEVER, 0,
                                   (gpc_timer_t) x->unit->options[EP_OPTION_TIMER]);
}

GPC_ACTION(act_end, "tell every core that the epoch ends")
{
    emu_unit(x->unit)->answers = (uint16_t) x->unit->machine->cores;
    emu_unit(x->unit)->epochs++;
    return tell_cores(x, EP_STOP);
}

GPC_ACTION(act_count_answer, "count the answer")
{
    emu_unit(x->unit)->answers--;
    return GPC_OK;
}

GPC_ACTION(act_ended, "tell every core that the epoch has ended")
{
    return tell_cores(x, EP_DONE);
}

static const gpc_cell_t emu_table[EMU_NUM_STATES][EMU_NUM_EVENTS] = {
    [EMU_SLEEP] = {[EMU_BEGIN] = GO(EMU_SLEEP, act_set_timer), [EMU_TICK] = GO(EMU_ENDING, act_end)},
    [EMU_ENDING] = {[EMU_DROPPED] = GO(EMU_ENDING, act_count_answer),
                    [EMU_LAST_DROPPED] = GO(EMU_SLEEP, act_count_answer, act_ended, act_set_timer)},
};
static const gpc_table_t emu_lines = {GPC_TABLE("EMU", OVER_UNIT, EMU, emu_table, emu_classify)};

static const gpc_controller_type_t emu = {
    .name = "EMU",
    .position = GPC_AT_GLOBAL,
    .tables = {&emu_lines},
    .unit = emu_unit_described,
    .begins = 1u << 0,
};

const gpc_protocol_t gpc_protocol_skel_epochs = {
    .id = "skel-epochs",
    .name = "SKELETON-EPOCHS",
    .paper = "none: a skeleton for tests",
    .family = "skeletons",
    .text = "copies live until an epoch ends; releases wait for epochs",
    .model = {[GPC_RULE_RC] = "RCc"},
    .standard_rule = GPC_RULE_RC,
    .controllers = {&epochs_l1, &baseline_l2, &emu},
    GPC_MESSAGES_OF(EP),
    .networks = {{.name = "request", .ordered = true, .requests = true},
                 {.name = "response", .ordered = true},
                 {.name = "epoch", .ordered = true, .star = true, .multicast = true},
                 {.name = "answer", .ordered = true, .star = true}},
    .options = {[EP_OPTION_TIMER] = {.name = "timer",
                                     .standard = GPC_TIMER_SERVING,
                                     .smallest = GPC_TIMER_BACKGROUND,
                                     .largest = GPC_TIMER_SERVING,
                                     .choices = "background serving",
                                     .text = "the unit's timer; behind a background timer a release is a deadlock"},
                [EP_OPTION_EPOCHS] = {.name = "epochs",
                                      .standard = 2,
                                      .smallest = 1,
                                      .largest = 2,
                                      .text = "epochs that a release waits for; 1 is too few"}},
    .order = {.release = release, .exit = leave, .keeps_own = true},
    .watched = &skeleton_watched,
};

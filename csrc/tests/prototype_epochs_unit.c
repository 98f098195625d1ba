/* prototype_epochs_unit.c: STC's epoch management unit, one per machine, and the protocol.
 *
 * Paper    Puthoor and Lipasti, TACO 2023, sections 4.3 to 4.6 (64 ERV bytes, 4-bit epoch counter, 8-bit wake-up
 *          counter).
 * Inferred a tick during an epoch change is ignored; the next set is fixed at the tick.
 * Fits     a controller at the global position: unit table, broadcast, a free-running timer.
 */
#include "tests/prototype_epochs.h"

/* ---- states and events ------------------------------------------------------------------------------------------- */

#define EMU_STATES(X)                                                                                                  \
    X(EMU_SLEEP, STABLE, "an epoch runs")                                                                              \
    X(EMU_PREPARING, TRANSIENT_COHERENCE, "waits until no core has a store outstanding")                               \
    X(EMU_CHANGING, TRANSIENT_COHERENCE, "waits until every core is in the next epochs")

#define EMU_EVENTS(X)                                                                                                  \
    X(EMU_BEGIN, "a launch starts: the timer runs")                                                                    \
    X(EMU_TICK, "the wake-up timer, and an epoch is to come")                                                          \
    X(EMU_TICK_IDLE, "the wake-up timer, and no epoch is demanded")                                                    \
    X(EMU_READY, "a core has no store outstanding, others have")                                                       \
    X(EMU_LAST_READY, "no core has")                                                                                   \
    X(EMU_DONE, "a core is in the next epochs, others are not")                                                        \
    X(EMU_LAST_DONE, "every core is")                                                                                  \
    X(EMU_DEMAND, "a store waits for its band")                                                                        \
    X(EMU_CONFLICT, "a load shares its band with a store that waits")

GPC_FSM(EMU, EMU_STATES, EMU_EVENTS)

/* ---- metadata ---------------------------------------------------------------------------------------------------- */

#define EMU_UNIT(FIELD)                                                                                                \
    FIELD(PLAIN, uint8_t, epoch)     /* the last current epoch: the round robin starts after it */              \
    FIELD(PLAIN, uint16_t, next)     /* epochs that the current change grants, one bit each */                       \
    FIELD(PLAIN, uint8_t, seb)                                                                                         \
    FIELD(PLAIN, int8_t, step)       /* of the start epoch bit, at the next change */                                  \
    FIELD(PLAIN, uint16_t, answers)  /* acknowledgements outstanding */                                                               \
    FIELD(PLAIN, uint16_t, demanded) /* ERV: demand bits, and the first write address of each band */                  \
    FIELD(DATA, prototype_words_t, addresses)                                                                             \
    FIELD(PLAIN, uint16_t, stepped)  /* ETV: bands whose conflict has moved the start epoch bit */

GPC_DESCRIBE(emu, unit, EMU_UNIT)

/* ---- classification ---------------------------------------------------------------------------------------------- */

static gpc_event_id_t
emu_classify(const gpc_step_t *x)
{
    const emu_unit_t *unit = x->unit->unit_fields;

    switch (x->cause) {
        case GPC_MSG_KERNEL_BEGIN:
            return EMU_BEGIN;
        case GPC_MSG_TIMER:
            return unit->demanded ? EMU_TICK : EMU_TICK_IDLE;
        case STC_READY:
            return unit->answers == 1 ? EMU_LAST_READY : EMU_READY;
        case STC_DONE:
            return unit->answers == 1 ? EMU_LAST_DONE : EMU_DONE;
        case STC_DEMAND:
            return EMU_DEMAND;
        case STC_CONFLICT:
            return EMU_CONFLICT;
        default:
            return GPC_NO_EVENT;
    }
}

/* ---- actions ----------------------------------------------------------------------------------------------------- */

STUB_ACTION(act_choose_next, "demanded epochs in round robin, at most four; their demand bits are cleared")
STUB_ACTION(act_acknowledge_demand, "DEMAND_ACK")
STUB_ACTION(act_adapt, "the start epoch bit's next step, by the first conflicting bit")
STUB_ACTION(act_next_current, "the next epochs are the current ones")

GPC_ACTION(act_set_timer, "the next tick")
{
    return x->unit->ports->wake_at(x->unit->world, x->unit, gpc_now(x) + 100, GPC_NEVER, 0, GPC_TIMER_BACKGROUND);
}

static int
broadcast(gpc_step_t *x, uint8_t type)
{
    emu_unit_t *unit = x->unit->unit_fields;
    gpc_nodeset_t cores = {{0}};
    gpc_msg_t *msg = gpc_new_message(x, type, GPC_NO_NODE);

    for (uint32_t core = 0; core < x->unit->machine->cores; core++) {
        cores.bits[core / 64] |= UINT64_C(1) << core % 64;
    }
    *(stc_message_t *) (void *) msg->fields = (stc_message_t){.epochs = unit->next, .seb = unit->seb};
    unit->answers = (uint16_t) x->unit->machine->cores;
    return gpc_broadcast(x, msg, &cores);
}

GPC_ACTION(act_broadcast_prepare, "PREPARE to every core")
{
    return broadcast(x, STC_PREPARE);
}

GPC_ACTION(act_broadcast_change, "CHANGE to every core")
{
    return broadcast(x, STC_CHANGE);
}

GPC_ACTION(act_count, "one core more has answered")
{
    ((emu_unit_t *) x->unit->unit_fields)->answers--;
    return GPC_OK;
}

GPC_ACTION(act_note_demand, "the epoch's demand bit")
{
    emu_unit_t *unit = x->unit->unit_fields;
    uint64_t address = stc_fields(x->msg)->address;
    uint32_t band = stc_band(address, unit->seb);
    if ((unit->demanded >> band & 1) == 0) {
        unit->addresses.word[band] = (uint32_t) address;
        unit->demanded = (uint16_t) (unit->demanded | 1u << band);
    }
    return GPC_OK;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

/* clang-format off */
static const gpc_cell_t emu_table[EMU_NUM_STATES][EMU_NUM_EVENTS] = {
    [EMU_SLEEP] = {
        [EMU_BEGIN]      = GO(EMU_SLEEP, act_set_timer),
        [EMU_TICK]       = GO(EMU_PREPARING, act_set_timer, act_choose_next, act_broadcast_prepare),
        [EMU_TICK_IDLE]  = GO(EMU_SLEEP, act_set_timer),
        [EMU_DEMAND]     = GO(EMU_SLEEP, act_note_demand, act_acknowledge_demand),
        [EMU_CONFLICT]   = GO(EMU_SLEEP, act_adapt),
    },
    [EMU_PREPARING] = {
        [EMU_TICK]       = GO(EMU_PREPARING, act_set_timer), /* ignored */
        [EMU_TICK_IDLE]  = GO(EMU_PREPARING, act_set_timer),
        [EMU_READY]      = GO(EMU_PREPARING, act_count),
        [EMU_LAST_READY] = GO(EMU_CHANGING, act_broadcast_change),
        [EMU_DEMAND]     = GO(EMU_PREPARING, act_note_demand, act_acknowledge_demand),
        [EMU_CONFLICT]   = GO(EMU_PREPARING, act_adapt),
    },
    [EMU_CHANGING] = {
        [EMU_TICK]       = GO(EMU_CHANGING, act_set_timer),
        [EMU_TICK_IDLE]  = GO(EMU_CHANGING, act_set_timer),
        [EMU_DONE]       = GO(EMU_CHANGING, act_count),
        [EMU_LAST_DONE]  = GO(EMU_SLEEP, act_next_current),
        [EMU_DEMAND]     = GO(EMU_CHANGING, act_note_demand, act_acknowledge_demand),
        [EMU_CONFLICT]   = GO(EMU_CHANGING, act_adapt),
    },
};
/* clang-format on */

static const gpc_table_t emu = {GPC_TABLE("EMU", OVER_UNIT, EMU, emu_table, emu_classify)};

const gpc_controller_type_t prototype_stc_emu = {
    .name = "EMU",
    .position = GPC_AT_GLOBAL,
    .tables = {&emu},
    .unit = emu_unit_described,
};

const gpc_protocol_t prototype_epochs = {
    .id = "stc-mb",
    .name = "STC-MB",
    .family = "stc",
    .model = {[GPC_RULE_RC] = "RC-MCA", [GPC_RULE_SC] = "SC"},
    .standard_rule = GPC_RULE_RC,
    .controllers = {&prototype_stc_core, &prototype_stc_emu},
    GPC_MESSAGES_OF(STC),
    .message = stc_message_described,
    .networks = {{.name = "request", .requests = true},
                 {.name = "response"},
                 {.name = "to cores", .ordered = true},
                 {.name = "from cores", .ordered = true}},
    .options =
        {{.name = "epoch", .standard = 100, .smallest = 1, .largest = 1000000, .text = "core cycles between wake-ups"},
         {.name = "epochs", .standard = 16, .smallest = 2, .largest = 16, .text = "bands"}},
};

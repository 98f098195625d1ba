/* stc_emu.c: STC's epoch management unit: when epochs change, and to which.
 *
 * Paper    Puthoor and Lipasti, TACO 2023, sections 4.2 (round robin), 4.3 (skipping), 4.4 (adaptive bands, several
 *          bands), 6 (up to four), table 3 (it wakes every 100 cycles, 2 GHz), table 4 (its storage).
 * Rules    At a tick it chooses the epochs to come; PREPARE, all READY, CHANGE, all DONE. A tick during a change is
 *          ignored. Without demands the current epoch stays. Stores that a change holds up demand epochs that run, too:
 *          if no other is demanded, nothing changes, so that STC-MB sends no further messages once all that is written
 *          is granted (7.3).
 * Inferred the last epoch is current at first. Of demands for one epoch the first address stays until the epoch has
 *          been granted. The first conflict since the last change wins; SEB moves by one bit at the next change, from
 *          12 (option seb) to 32 - N. 4.4 asks for the bits below the window first ("whether the bits lower to the band
 *          position bits are different or not"), where addresses of different waves nearly always differ, so that the
 *          bands swing; adapt=upper asks for those above it first. etv=on: one step an epoch until it is granted, also
 *          if the bands have moved (ETV, which the paper names and does not explain).
 * Hardened skew=resume: the first tick after RESUME changes nothing. PREPARE would follow RESUME at once where a change
 *          takes a multiple of `epoch`, and no store would ever be issued.
 */
#include "protocols/spatiotemporal/stc.h"

#define EMU_STATES(X)                                                                                                  \
    X(EMU_SLEEP, STABLE, "an epoch runs")                                                                              \
    X(EMU_PREP, TRANSIENT_COHERENCE, "waits for READY of every CU")                                                    \
    X(EMU_CHG, TRANSIENT_COHERENCE, "waits for DONE of every CU")
#define EMU_EVENTS(X)                                                                                                  \
    X(EMU_BEGIN, "a launch begins")                                                                                    \
    X(EMU_TICK_IDLE, "`epoch` core cycles have passed; no epoch is demanded that does not run")                        \
    X(EMU_TICK_EARLY, "the first tick after RESUME; skew=resume")                                                      \
    X(EMU_READY, "READY; others are expected")                                                                         \
    X(EMU_LAST_READY, "the last READY")                                                                                \
    X(EMU_DONE, "DONE; others are expected")                                                                           \
    X(EMU_LAST_DONE, "the last DONE")                                                                                  \
    X(EMU_TICK, "`epoch` core cycles have passed; an epoch is demanded that does not run")                             \
    X(EMU_DEMAND, "DEMAND")                                                                                            \
    X(EMU_CONFLICT, "CONFLICT")
GPC_FSM(EMU, EMU_STATES, EMU_EVENTS)
/* The tables of stc-nv and stc-es have the first events of the list. */
enum { TURNS_NUM_STATES = EMU_NUM_STATES, TURNS_NUM_EVENTS = EMU_TICK };
enum { SKIPS_NUM_STATES = EMU_NUM_STATES, SKIPS_NUM_EVENTS = EMU_CONFLICT };
#define TURNS_state_info EMU_state_info
#define TURNS_event_info EMU_event_info
#define SKIPS_state_info EMU_state_info
#define SKIPS_event_info EMU_event_info

#define EMU_COUNTERS(X, P)                                                                                             \
    X(P, changes, "changes of epochs")                                                                                 \
    X(P, change_cycles, "core cycles from PREPARE to the last DONE, summed")                                           \
    X(P, idle_changes, "changes during which no CU had a store outstanding")                                           \
    X(P, idle_change_cycles, "core cycles of these")                                                                   \
    X(P, epochs_granted, "epochs that began")                                                                          \
    X(P, seb_steps, "moves of the start epoch bit")
GPC_COUNTS(COUNT, EMU_COUNTERS)

#define STC_EMU(FIELD)                                                                                                 \
    FIELD(PLAIN, uint32_t, next)     /* being granted */                                                               \
    FIELD(PLAIN, uint32_t, current)  /* those that run; bit e: epoch e */                                              \
    FIELD(PLAIN, uint32_t, demanded) /* ERV: bit e: epoch e is demanded */                                             \
    FIELD(PLAIN, uint32_t, known)    /* bit e: an address of e is known */                                             \
    FIELD(PLAIN, uint32_t, stepped)  /* ETV: bit e: a conflict of e has moved SEB */                                   \
    FIELD(DATA, stc_per_epoch_t, address) /* ERV: of the first demand since e was granted */                           \
    FIELD(PLAIN, uint8_t, epoch)     /* the last one granted */                                                        \
    FIELD(PLAIN, uint8_t, seb)       /* 0: before the first launch */                                                  \
    FIELD(PLAIN, uint8_t, step)      /* of SEB at the next change: UP, DOWN */                                         \
    FIELD(PLAIN, uint16_t, answers)  /* expected */                                                                    \
    FIELD(PLAIN, uint8_t, resumes)   /* skew=resume: no tick since RESUME */                                           \
    FIELD(STATISTIC, uint8_t, drained) /* a CU had stores outstanding */                                               \
    FIELD(STATISTIC, gpc_cycle_t, begun)
enum { STAY, UP, DOWN };
GPC_METADATA(stc_emu, unit, STC_EMU)

static gpc_event_id_t
emu_classify(const gpc_step_t *x)
{
    const stc_emu_unit_t *emu = stc_emu_unit(x->unit);
    bool last = emu->answers == 1;
    switch (x->cause) {
        case GPC_MSG_TIMER:
            return emu->resumes ? EMU_TICK_EARLY : emu->demanded & ~emu->current ? EMU_TICK : EMU_TICK_IDLE;
        case STC_READY:
            return last ? EMU_LAST_READY : EMU_READY;
        case STC_DONE:
            return last ? EMU_LAST_DONE : EMU_DONE;
        default:
            return GPC_NO_EVENT;
    }
}

/* DEMAND_ACK changes nothing. READY and DONE but for the last are counted, while ticks are ignored, and demands and
 * conflicts only noted. */
bool
stc_commutes(const gpc_controller_t *to, const gpc_msg_t *msg)
{
    bool counted = msg->type == STC_READY || msg->type == STC_DONE;
    return msg->type == STC_DEMAND_ACK || (counted && stc_emu_unit(to)->answers > 1);
}

/* ---- actions ----------------------------------------------------------------------------------------------------- */

GPC_ACTION(act_timer, "set the timer of the next tick")
{
    return x->unit->ports->wake_at(x->unit->world, x->unit,
                                   gpc_now(x) + (gpc_cycle_t) x->unit->options[STC_OPTION_EPOCH], GPC_NEVER, 0,
                                   GPC_TIMER_SERVING);
}

GPC_ACTION(act_first, "before the first launch: the last epoch")
{
    stc_emu_unit_t *emu = stc_emu_unit(x->unit);
    if (emu->seb == 0) {
        emu->seb = (uint8_t) x->unit->options[STC_OPTION_SEB];
        emu->epoch = (uint8_t) (x->unit->options[STC_OPTION_EPOCHS] - 1);
        emu->current = UINT32_C(1) << emu->epoch;
    }
    return GPC_OK;
}

GPC_ACTION(act_choose_next, "the next epoch in turn")
{
    stc_emu_unit_t *emu = stc_emu_unit(x->unit);
    emu->epoch = (uint8_t) ((emu->epoch + 1) % x->unit->options[STC_OPTION_EPOCHS]);
    emu->next = UINT32_C(1) << emu->epoch;
    return GPC_OK;
}

GPC_ACTION(act_choose_demanded, "the next demanded epochs in turn, up to `bands` of them")
{
    stc_emu_unit_t *emu = stc_emu_unit(x->unit);
    uint32_t epochs = (uint32_t) x->unit->options[STC_OPTION_EPOCHS], first = emu->epoch;
    int64_t most = x->unit->options[STC_OPTION_BANDS];

    emu->next = 0;
    for (uint32_t i = 1; i <= epochs && (most > 0 || emu->next == 0); i++) {
        uint32_t epoch = (first + i) % epochs;
        if (emu->demanded >> epoch & 1) {
            emu->next |= UINT32_C(1) << epoch;
            emu->epoch = (uint8_t) epoch;
            most--;
        }
    }
    emu->demanded &= ~emu->next;
    emu->stepped &= ~emu->next;
    return GPC_OK;
}

GPC_ACTION(act_adapt, "SEB moves by the step that a conflict asked for; demands are sorted again by their addresses")
{
    stc_emu_unit_t *emu = stc_emu_unit(x->unit);
    uint32_t least = (uint32_t) x->unit->options[STC_OPTION_SEB],
             most = 32 - (uint32_t) __builtin_ctzll((uint64_t) x->unit->options[STC_OPTION_EPOCHS]);
    uint32_t seb = emu->step == UP && emu->seb < most      ? emu->seb + 1u
                   : emu->step == DOWN && emu->seb > least ? emu->seb - 1u
                                                           : emu->seb;
    stc_per_epoch_t address = emu->address;
    uint32_t demanded = emu->demanded;

    emu->step = STAY;
    if (seb == emu->seb) {
        return GPC_OK;
    }
    gpc_count_own(x, COUNT_seb_steps);
    emu->seb = (uint8_t) seb;
    emu->demanded = 0;
    emu->address = (stc_per_epoch_t){{0}};
    for (; demanded; demanded &= demanded - 1) {
        uint32_t of = address.word[__builtin_ctz(demanded)], band = stc_band(x->unit, of, seb);
        emu->demanded |= UINT32_C(1) << band;
        emu->address.word[band] = of;
    }
    emu->known = emu->demanded;
    return GPC_OK;
}

static int
cast(gpc_step_t *x, uint8_t type)
{
    stc_emu_unit_t *emu = stc_emu_unit(x->unit);
    gpc_nodeset_t cores = {{0}};
    gpc_msg_t *msg = gpc_new_message(x, type, GPC_NO_NODE);

    for (uint32_t core = 0; core < x->unit->machine->cores; core++) {
        gpc_nodeset_add(&cores, (gpc_node_t) core);
    }
    emu->answers = (uint16_t) x->unit->machine->cores;
    msg->request = GPC_NONE;
    stc_message(msg)->epochs = emu->next;
    stc_message(msg)->seb = emu->seb;
    return gpc_broadcast(x, msg, &cores);
}

GPC_ACTION(act_prepare, "PREPARE to every CU")
{
    stc_emu_unit_t *emu = stc_emu_unit(x->unit);
    emu->begun = gpc_now(x);
    emu->drained = 0;
    x->unit->own_counters[COUNT_epochs_granted] += (uint64_t) __builtin_popcount(emu->next);
    return cast(x, STC_PREPARE);
}

GPC_ACTION(act_count_answer, "one answer less is expected")
{
    stc_emu_unit_t *emu = stc_emu_unit(x->unit);
    emu->drained |= x->cause == STC_READY && stc_message(x->msg)->drained;
    emu->answers--;
    return GPC_OK;
}

static int
change(gpc_controller_t *unit, void *none)
{
    (void) none;
    return unit->type->position == GPC_AT_CORE ? gpc_controller_unit(unit, STC_TABLE_EPOCHS, STC_CHANGE, GPC_NONE)
                                               : GPC_OK;
}

GPC_ACTION(act_begin, "CHANGE to every CU; skew=sync: every CU changes in this cycle")
{
    if (x->unit->options[STC_OPTION_SKEW] != STC_SKEW_SYNC) {
        return cast(x, STC_CHANGE);
    }
    stc_emu_unit(x->unit)->answers = (uint16_t) x->unit->machine->cores;
    return x->unit->ports->visit(x->unit->world, change, NULL);
}

GPC_ACTION(act_changed, "count the change; skew=resume: RESUME to every CU")
{
    stc_emu_unit_t *emu = stc_emu_unit(x->unit);
    uint64_t *counters = x->unit->own_counters, cycles = gpc_now(x) - emu->begun;
    counters[COUNT_changes]++;
    counters[COUNT_change_cycles] += cycles;
    counters[COUNT_idle_changes] += !emu->drained;
    counters[COUNT_idle_change_cycles] += emu->drained ? 0 : cycles;
    emu->resumes = x->unit->options[STC_OPTION_SKEW] == STC_SKEW_RESUME;
    int status = emu->resumes ? cast(x, STC_RESUME) : GPC_OK;
    emu->answers = 0;
    emu->current = emu->next;
    emu->next = 0;
    return status;
}

GPC_ACTION(act_note_demand, "the epoch is demanded; DEMAND_ACK")
{
    stc_emu_unit_t *emu = stc_emu_unit(x->unit);
    emu->demanded |= UINT32_C(1) << stc_band(x->unit, stc_message(x->msg)->address, emu->seb);
    gpc_msg_t *answer = gpc_new_message(x, STC_DEMAND_ACK, x->msg->source);
    answer->request = GPC_NONE;
    return gpc_send(x, answer);
}

GPC_ACTION(act_note_address, "ERV has the address, unless the epoch is demanded")
{
    stc_emu_unit_t *emu = stc_emu_unit(x->unit);
    uint32_t address = (uint32_t) stc_message(x->msg)->address, band = stc_band(x->unit, address, emu->seb);
    if (!(emu->demanded >> band & 1)) {
        emu->known |= UINT32_C(1) << band;
        emu->address.word[band] = address;
    }
    return GPC_OK;
}

GPC_ACTION(act_let_resume, "stores have been able to resume")
{
    stc_emu_unit(x->unit)->resumes = 0;
    return GPC_OK;
}

/* Whether other bands could separate the read from the write: by a window further up, or further down. */
static uint8_t
step_for(const gpc_controller_t *unit, uint32_t seb, uint32_t read, uint32_t write)
{
    uint32_t bits = (uint32_t) __builtin_ctzll((uint64_t) unit->options[STC_OPTION_EPOCHS]);
    uint32_t least = (uint32_t) unit->options[STC_OPTION_SEB], differ = read ^ write;
    bool above = seb + bits < 32 && differ >> (seb + bits), below = (differ & ((UINT32_C(1) << seb) - 1)) >> least;

    if (unit->options[STC_OPTION_ADAPT] == STC_ADAPT_LOWER) {
        return below ? DOWN : above ? UP : STAY;
    }
    return above ? UP : below ? DOWN : STAY;
}

GPC_ACTION(act_note_conflict, "the step of SEB that would separate the load from the store")
{
    stc_emu_unit_t *emu = stc_emu_unit(x->unit);
    uint32_t read = (uint32_t) stc_message(x->msg)->address, band = stc_band(x->unit, read, emu->seb);
    bool spent = emu->stepped >> band & 1;

    if (!(emu->known >> band & 1) || emu->step != STAY || spent) {
        return GPC_OK;
    }
    emu->step = step_for(x->unit, emu->seb, read, emu->address.word[band]);
    if (x->unit->options[STC_OPTION_ETV] && emu->step != STAY) {
        emu->stepped |= UINT32_C(1) << band;
    }
    return GPC_OK;
}

/* clang-format off */
static const gpc_cell_t turns_table[TURNS_NUM_STATES][TURNS_NUM_EVENTS] = {
    [EMU_SLEEP] = {
        [EMU_BEGIN] = GO(EMU_SLEEP, act_first, act_timer),
        [EMU_TICK_IDLE] = GO(EMU_PREP, act_timer, act_choose_next, act_prepare),
        [EMU_TICK_EARLY] = GO(EMU_SLEEP, act_timer, act_let_resume),
    },
    [EMU_PREP] = {
        [EMU_TICK_IDLE] = GO(EMU_PREP, act_timer),
        [EMU_READY] = GO(EMU_PREP, act_count_answer),
        [EMU_LAST_READY] = GO(EMU_CHG, act_count_answer, act_begin),
    },
    [EMU_CHG] = {
        [EMU_TICK_IDLE] = GO(EMU_CHG, act_timer),
        [EMU_DONE] = GO(EMU_CHG, act_count_answer),
        [EMU_LAST_DONE] = GO(EMU_SLEEP, act_changed),
    },
};

static const gpc_patch_t skipping_patches[] = {
    {EMU_SLEEP, EMU_TICK_IDLE, GO(EMU_SLEEP, act_timer), "4.3: only demanded epochs come"},
    {EMU_SLEEP, EMU_TICK, GO(EMU_PREP, act_timer, act_choose_demanded, act_prepare), NULL},
    {EMU_PREP, EMU_TICK, GO(EMU_PREP, act_timer), NULL},
    {EMU_CHG, EMU_TICK, GO(EMU_CHG, act_timer), NULL},
    {EMU_SLEEP, EMU_DEMAND, GO(EMU_SLEEP, act_note_demand), NULL},
    {EMU_PREP, EMU_DEMAND, GO(EMU_PREP, act_note_demand), NULL},
    {EMU_CHG, EMU_DEMAND, GO(EMU_CHG, act_note_demand), NULL},
};

static const gpc_patch_t adapting_patches[] = {
    {EMU_SLEEP, EMU_TICK, GO(EMU_PREP, act_timer, act_adapt, act_choose_demanded, act_prepare), "4.4: bands follow the addresses"},
    {EMU_SLEEP, EMU_DEMAND, GO(EMU_SLEEP, act_note_address, act_note_demand), NULL},
    {EMU_PREP, EMU_DEMAND, GO(EMU_PREP, act_note_address, act_note_demand), NULL},
    {EMU_CHG, EMU_DEMAND, GO(EMU_CHG, act_note_address, act_note_demand), NULL},
    {EMU_SLEEP, EMU_CONFLICT, GO(EMU_SLEEP, act_note_conflict), NULL},
    {EMU_PREP, EMU_CONFLICT, GO(EMU_PREP, act_note_conflict), NULL},
    {EMU_CHG, EMU_CONFLICT, GO(EMU_CHG, act_note_conflict), NULL},
};
/* clang-format on */

static const gpc_table_t in_turn = {GPC_TABLE("EMU", OVER_UNIT, TURNS, turns_table, emu_classify),
                                    .causes = {ON(GPC_MSG_KERNEL_BEGIN, EMU_BEGIN)}};
static const gpc_table_t skipping = {
    GPC_PATCHED_TABLE("EMU", OVER_UNIT, SKIPS, "stc-nv", in_turn, skipping_patches, emu_classify),
    .causes = {ON_SAME(STC, EMU, DEMAND)}};
static const gpc_table_t adapting = {
    GPC_PATCHED_TABLE("EMU", OVER_UNIT, EMU, "stc-es", skipping, adapting_patches, emu_classify),
    .causes = {ON_SAME(STC, EMU, CONFLICT)}};

#define STC_EMU_TYPE(table)                                                                                            \
    .name = "EMU", .position = GPC_AT_GLOBAL, .tables = {&(table)}, .unit = stc_emu_unit_described, .counters = COUNT_info
const gpc_controller_type_t stc_nv_emu = {STC_EMU_TYPE(in_turn)};
const gpc_controller_type_t stc_es_emu = {STC_EMU_TYPE(skipping)};
const gpc_controller_type_t stc_ab_emu = {STC_EMU_TYPE(adapting)};

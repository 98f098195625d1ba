/* mutants_stc.c: bugs planted in SRC and STC. */
#include <string.h>

#include "protocols/spatiotemporal/stc_cu.h"
#include "tests/mutants.h"

/* A line whose band's epoch comes and goes while its read is outstanding. */
static void
late_fills_kept(mutant_t *m)
{
    mutant_next(m, "L1", "IV", "EPOCH", "IV");
    mutant_drop(m, "L1", "IV", "EPOCH", 0);
    mutant_copy(m, "L1", "IV", "LOAD_U", "IV", "LOAD");
}

/* After READY the CU looks at the epochs that end, not at those to come. */
static gpc_event_id_t
old_epochs_only(const gpc_step_t *x)
{
    uint8_t *honours = &stc_cu_unit(x->unit)->honours, now = *honours;
    *honours = 0;
    gpc_event_id_t event = mutant_base_event(x);
    *honours = now;
    return event;
}

static void
skew_without_cure(mutant_t *m)
{
    mutant_protocol(m)->options[STC_OPTION_SEB].small.value = 4; /* bands of two lines: flag and data in one */
    mutant_classify(m, "L1", old_epochs_only);
}

static void
no_sweep(mutant_t *m)
{
    mutant_drop(m, "L1.epochs", "RUN", "PREPARE", 1);
    mutant_drop(m, "L1.epochs", "RUN", "PREPARE_IDLE", 1);
}

static void
demands_not_repeated(mutant_t *m)
{
    mutant_drop(m, "L1.buffer", "BLOCKED", "NOT_GRANTED", 0);
}

static gpc_event_id_t
any_epoch(const gpc_step_t *x)
{
    gpc_event_id_t event = mutant_base_event(x);
    return mutant_event_is(x, event, "BLOCK") ? mutant_event(x, "ISSUE") : event;
}

static void
stores_in_any_epoch(mutant_t *m)
{
    mutant_classify(m, "L1.buffer", any_epoch);
}

static void
fill_survives_acquire(mutant_t *m)
{
    mutant_next(m, "L1", "IV", "ACQUIRE", "IV");
    mutant_drop(m, "L1", "IV", "ACQUIRE", 0);
}

static void
acquire_keeps_copies(mutant_t *m)
{
    mutant_next(m, "L1", "V", "ACQUIRE", "V");
}

/* The fill replaces what stores have written meanwhile. */
static void
fill_over_stores(mutant_t *m)
{
    mutant_drop(m, "L2", "IF", "WRITE", 0);
    mutant_drop(m, "L2", "I", "WRITE", 2);
}

static void
store_keeps_copy(mutant_t *m)
{
    mutant_next(m, "L1", "V", "STORE", "V");
}

static void
dirty_line_lost(mutant_t *m)
{
    mutant_drop(m, "L2", "V", "EVICT_DIRTY", 0);
}

static gpc_event_id_t
never_drain(const gpc_step_t *x)
{
    gpc_event_id_t event = mutant_base_event(x);
    return mutant_event_is(x, event, "PREPARE") ? mutant_event(x, "PREPARE_IDLE") : event;
}

static void
ready_at_once(mutant_t *m)
{
    mutant_classify(m, "L1.epochs", never_drain);
}

static void
queue_ignores_prepare(mutant_t *m)
{
    mutant_next(m, "L1.buffer", "READY", "STOP", "READY");
}

static void
demand_forgotten(mutant_t *m)
{
    mutant_drop(m, "L1.buffer", "FREE", "BLOCK", 2);
}

static gpc_event_id_t
first_is_last(const gpc_step_t *x)
{
    gpc_event_id_t event = mutant_base_event(x);
    return mutant_event_is(x, event, "READY") ? mutant_event(x, "LAST_READY") : event;
}

static void
one_ready_is_enough(mutant_t *m)
{
    mutant_classify(m, "EMU", first_is_last);
}

static gpc_event_id_t
load_is_cacheable(const gpc_step_t *x)
{
    gpc_event_id_t event = mutant_base_event(x);
    return mutant_event_is(x, event, "LOAD_U") ? mutant_event(x, "LOAD") : event;
}

static void
load_of_epoch_kept(mutant_t *m)
{
    mutant_classify(m, "L1", load_is_cacheable);
}

GPC_ACTION(act_move_bands, "use the start epoch bit of the epochs to come")
{
    stc_cu_unit(x->unit)->seb = stc_cu_unit(x->unit)->next_seb;
    return GPC_OK;
}

static void
bands_move_early(mutant_t *m)
{
    mutant_add(m, "L1.epochs", "RUN", "PREPARE", act_move_bands);
    mutant_add(m, "L1.epochs", "RUN", "PREPARE_IDLE", act_move_bands);
}

GPC_ACTION(act_sweep_new, "sweep by the start epoch bit of the epochs to come")
{
    stc_cu_unit_t *cu = stc_cu_unit(x->unit);
    uint8_t seb = cu->seb;
    cu->seb = cu->next_seb;
    int status = gpc_act(mutant_base_action(x, "RUN", "PREPARE", 1), x);
    cu->seb = seb;
    return status;
}

static void
sweep_under_new_bands(mutant_t *m)
{
    mutant_replace(m, "L1.epochs", "RUN", "PREPARE", 1, act_sweep_new);
    mutant_replace(m, "L1.epochs", "RUN", "PREPARE_IDLE", 1, act_sweep_new);
}

/* Loads compare with one of the epochs granted together. */
static gpc_event_id_t
first_epoch_only(const gpc_step_t *x)
{
    stc_cu_unit_t *cu = stc_cu_unit(x->unit);
    uint32_t current = cu->current, next = cu->next;
    cu->current &= -cu->current;
    cu->next &= -cu->next;
    gpc_event_id_t event = mutant_base_event(x);
    cu->current = current;
    cu->next = next;
    return event;
}

static void
one_band_compared(mutant_t *m)
{
    mutant_classify(m, "L1", first_epoch_only);
}

/* DAR3: the epochs that are passed over never come. */
GPC_ACTION(act_choose_second, "the epoch after the next in turn")
{
    const gpc_action_t *choose = mutant_base_action(x, "SLEEP", "TICK_IDLE", 1);
    int status = gpc_act(choose, x);
    return status ? status : gpc_act(choose, x);
}

static void
every_second_epoch(mutant_t *m)
{
    mutant_replace(m, "EMU", "SLEEP", "TICK_IDLE", 1, act_choose_second);
}

/* A load joins a read that was sent before its wave's last order point, too. */
static gpc_event_id_t
join_any(const gpc_step_t *x)
{
    bool outstanding = x->cause == GPC_MSG_LOAD && x->mshr != GPC_NONE;
    return outstanding ? mutant_event(x, "LOAD_JOIN") : mutant_base_event(x);
}

static void
plain_join(mutant_t *m)
{
    mutant_classify(m, "L1", join_any);
}

/* Section 6: up to four. */
GPC_ACTION(act_choose_one_more, "one epoch more than `bands`")
{
    const int64_t *given = x->unit->options;
    int64_t options[GPC_MAX_OPTIONS];
    memcpy(options, given, sizeof(options));
    options[STC_OPTION_BANDS]++;
    x->unit->options = options;
    int status = gpc_act(mutant_base_action(x, "SLEEP", "TICK", 2), x);
    x->unit->options = given;
    return status;
}

static void
five_bands(mutant_t *m)
{
    mutant_protocol(m)->options[STC_OPTION_BANDS].small.value = 1;
    mutant_replace(m, "EMU", "SLEEP", "TICK", 2, act_choose_one_more);
}

static uint8_t *
last_granted(const gpc_controller_t *emu)
{
    const gpc_described_t *unit = emu->type->unit();
    for (uint16_t i = 0; i < unit->count; i++) {
        if (strcmp(unit->fields[i].name, "epoch") == 0) {
            return (uint8_t *) emu->unit_fields + unit->fields[i].offset;
        }
    }
    return NULL;
}

/* DAR3: while the first epochs are demanded, the others do not come. */
GPC_ACTION(act_choose_from_first, "the first demanded epoch")
{
    *last_granted(x->unit) = (uint8_t) (x->unit->options[STC_OPTION_EPOCHS] - 1);
    return gpc_act(mutant_base_action(x, "SLEEP", "TICK", 1), x);
}

static void
round_robin_restarts(mutant_t *m)
{
    mutant_replace(m, "EMU", "SLEEP", "TICK", 1, act_choose_from_first);
}

#define PLAIN_JOIN "a load joins a read that was sent before its wave's last order point", "gem5's coalescer: as many loads as possible respond", plain_join
#define LATE "a read is kept although its band's epoch began while it was outstanding", "table 1 looks at the epoch in which the data arrive", late_fills_kept
#define SKEW "a CU that has answered READY still reads copies of the epochs to come", "4.2: CUs change one after another", skew_without_cure
#define NO_SWEEP "copies of untouched sets outlive their band's epoch", NULL, no_sweep
#define AT_ONCE "READY does not wait for stores outstanding", NULL, ready_at_once
#define IGNORES "stores that are ready when PREPARE comes are issued", NULL, queue_ignores_prepare

MUTANTS(stc){
    {"src!fill-survives-acquire", "a read outstanding at an acquire is kept", NULL, fill_survives_acquire},
    {"src!acquire-keeps-copies", "an acquire drops no copy", NULL, acquire_keeps_copies},
    {"src!fill-over-stores", "memory's answer replaces words of stores that were taken before it", NULL,
     fill_over_stores},
    {"src!store-keeps-copy", "the copy survives a store of its own CU", NULL, store_keeps_copy},
    {"src!dirty-line-lost", "the L2 evicts a dirty line without writing it back", NULL, dirty_line_lost},
    {"src!plain-join", PLAIN_JOIN},
    {"stc-es!round-robin-restarts",
     "the search for the next epoch begins at the first one, not behind the last one granted", NULL,
     round_robin_restarts},
    {"stc-mb!plain-join", PLAIN_JOIN},
    {"stc-mb!five-bands", "one epoch more than `bands` is granted", NULL, five_bands},
    {"stc-nv!stores-in-any-epoch", "stores do not wait for their band's epoch", NULL, stores_in_any_epoch},
    {"stc-nv!late-fills-kept", LATE},
    {"stc-nv!no-sweep", NO_SWEEP},
    {"stc-nv!ready-at-once", AT_ONCE},
    {"stc-nv!load-of-epoch-kept", "a line that was read during its band's epoch is kept when it comes later", NULL,
     load_of_epoch_kept},
    {"stc-nv!every-second-epoch", "every second epoch never comes", NULL, every_second_epoch},
    {"stc-es!late-fills-kept", LATE},
    {"stc-es!skew-without-cure", SKEW},
    {"stc-es!no-sweep", NO_SWEEP},
    {"stc-es!demand-forgotten", "a store that is blocked does not demand its band", NULL, demand_forgotten},
    {"stc-es!one-ready-is-enough", "CHANGE follows the first READY", NULL, one_ready_is_enough},
    {"stc-ab!demands-not-repeated", "a blocked store does not demand its band again after the bands have moved", NULL,
     demands_not_repeated},
    {"stc-ab!bands-move-early", "a CU uses the new bands from PREPARE on", NULL, bands_move_early},
    {"stc-ab!sweep-under-new-bands", "the sweep at an epoch's end looks for lines of its band after the move", NULL,
     sweep_under_new_bands},
    {"stc-ab!late-fills-kept", LATE},
    {"stc-ab!skew-without-cure", SKEW},
    {"stc-mb!one-band-compared", "loads compare with one of the epochs granted together", NULL, one_band_compared},
    {"stc-mb!late-fills-kept", LATE},
    {"stc-mb!no-sweep", NO_SWEEP},
    {"stc-mb!ready-at-once", AT_ONCE},
    {"stc-mb!queue-ignores-prepare", IGNORES},
    {0},
};

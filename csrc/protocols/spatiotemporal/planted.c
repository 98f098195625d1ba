/* planted.c: bugs planted in SRC and STC. */
#include <string.h>

#include "protocols/spatiotemporal/stc_cu.h"
#include "tests/mutants.h"

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

static gpc_event_id_t
any_epoch(const gpc_step_t *x)
{
    gpc_event_id_t event = mutant_base_event(x);
    return mutant_event_is(x, event, "BLOCK") ? mutant_event(x, "ISSUE") : event;
}

static gpc_event_id_t
never_drain(const gpc_step_t *x)
{
    gpc_event_id_t event = mutant_base_event(x);
    return mutant_event_is(x, event, "PREPARE") ? mutant_event(x, "PREPARE_IDLE") : event;
}

static gpc_event_id_t
first_is_last(const gpc_step_t *x)
{
    gpc_event_id_t event = mutant_base_event(x);
    return mutant_event_is(x, event, "READY") ? mutant_event(x, "LAST_READY") : event;
}

static gpc_event_id_t
load_is_cacheable(const gpc_step_t *x)
{
    gpc_event_id_t event = mutant_base_event(x);
    return mutant_event_is(x, event, "LOAD_U") ? mutant_event(x, "LOAD") : event;
}

GPC_ACTION(act_move_bands, "use the start epoch bit of the epochs to come")
{
    stc_cu_unit(x->unit)->seb = stc_cu_unit(x->unit)->next_seb;
    return GPC_OK;
}

GPC_ACTION(act_sweep_new, "sweep by the start epoch bit of the epochs to come")
{
    stc_cu_unit_t *cu = stc_cu_unit(x->unit);
    uint8_t seb = cu->seb;
    cu->seb = cu->next_seb;
    int status = mutant_base_act(x, "sweep");
    cu->seb = seb;
    return status;
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

/* DAR3: the epochs that are passed over never come. */
GPC_ACTION(act_choose_second, "the epoch after the next in turn")
{
    int status = mutant_base_act(x, "choose_next");
    return status ? status : mutant_base_act(x, "choose_next");
}

/* A load joins a read that was sent before its wave's last order point, too. */
static gpc_event_id_t
join_any(const gpc_step_t *x)
{
    bool outstanding = x->cause == GPC_MSG_LOAD && x->mshr != GPC_NONE;
    return outstanding ? mutant_event(x, "LOAD_JOIN") : mutant_base_event(x);
}

/* Section 6: up to four. */
GPC_ACTION(act_choose_one_more, "one epoch more than `bands`")
{
    const int64_t *given = x->unit->options;
    int64_t options[GPC_MAX_OPTIONS];
    memcpy(options, given, sizeof(options));
    options[STC_OPTION_BANDS]++;
    x->unit->options = options;
    int status = mutant_base_act(x, "choose_demanded");
    x->unit->options = given;
    return status;
}

/* DAR3: while the first epochs are demanded, the others do not come. */
GPC_ACTION(act_choose_from_first, "the first demanded epoch")
{
    uint8_t *last_granted = mutant_field(x, x->unit->type->unit, x->unit->unit_fields, "epoch");
    *last_granted = (uint8_t) (x->unit->options[STC_OPTION_EPOCHS] - 1);
    return mutant_base_act(x, "choose_demanded");
}

#define PLAIN_JOIN(id)                                                                                                 \
    BUG(id, "a load joins a read that was sent before its wave's last order point",                                    \
        "gem5's coalescer: as many loads as possible respond", CLASSIFY("L1", join_any))
/* A line whose band's epoch comes and goes while its read is outstanding. */
#define LATE_FILLS_KEPT(id)                                                                                            \
    BUG(id, "a read is kept although its band's epoch began while it was outstanding",                                 \
        "table 1 looks at the epoch in which the data arrive", DROP("L1", "IV", "EPOCH", "release_way"),               \
        STAY("L1", "IV", "EPOCH"), COPY("L1", "IV", "LOAD_U", "IV", "LOAD"))
/* With bands of two lines: flag and data in one. */
#define SKEW_WITHOUT_CURE(id)                                                                                          \
    BUG(id, "a CU that has answered READY still reads copies of the epochs to come",                                   \
        "4.2: CUs change one after another", SMALL("seb", 4), CLASSIFY("L1", old_epochs_only))
#define NO_SWEEP(id)                                                                                                   \
    BUG(id, "copies of untouched sets outlive their band's epoch", NULL,                                               \
        DROP("L1.epochs", "RUN", "PREPARE PREPARE_IDLE", "sweep"))
#define READY_AT_ONCE(id)                                                                                              \
    BUG(id, "READY does not wait for stores outstanding", NULL, CLASSIFY("L1.epochs", never_drain))

PLANTED(spatiotemporal) = {
    BUG("src!fill-survives-acquire", "a read outstanding at an acquire is kept", NULL,
        DROP("L1", "IV", "ACQUIRE", "release_way"), STAY("L1", "IV", "ACQUIRE")),
    BUG("src!acquire-keeps-copies", "an acquire drops no copy", NULL, STAY("L1", "V", "ACQUIRE")),
    BUG("src!fill-over-stores", "memory's answer replaces words of stores that were taken before it", NULL,
        DROP("L2", "IF", "WRITE", "note_written"), DROP("L2", "I", "WRITE", "note_written")),
    BUG("src!store-keeps-copy", "the copy survives a store of its own CU", NULL, STAY("L1", "V", "STORE")),
    BUG("src!dirty-line-lost", "the L2 evicts a dirty line without writing it back", NULL,
        DROP("L2", "V", "EVICT_DIRTY", "write_back")),
    PLAIN_JOIN("src!plain-join"),

    BUG("stc-nv!stores-in-any-epoch", "stores do not wait for their band's epoch", NULL,
        CLASSIFY("L1.buffer", any_epoch)),
    LATE_FILLS_KEPT("stc-nv!late-fills-kept"),
    NO_SWEEP("stc-nv!no-sweep"),
    READY_AT_ONCE("stc-nv!ready-at-once"),
    BUG("stc-nv!load-of-epoch-kept", "a line that was read during its band's epoch is kept when it comes later", NULL,
        CLASSIFY("L1", load_is_cacheable)),
    BUG("stc-nv!every-second-epoch", "every second epoch never comes", NULL,
        REPLACE("EMU", "SLEEP", "TICK_IDLE", "choose_next", act_choose_second)),

    LATE_FILLS_KEPT("stc-es!late-fills-kept"),
    SKEW_WITHOUT_CURE("stc-es!skew-without-cure"),
    NO_SWEEP("stc-es!no-sweep"),
    BUG("stc-es!demand-forgotten", "a store that is blocked does not demand its band", NULL,
        DROP("L1.buffer", "FREE", "BLOCK", "demand")),
    BUG("stc-es!one-ready-is-enough", "CHANGE follows the first READY", NULL, CLASSIFY("EMU", first_is_last)),
    BUG("stc-es!round-robin-restarts",
        "the search for the next epoch begins at the first one, not behind the last one granted", NULL,
        REPLACE("EMU", "SLEEP", "TICK", "choose_demanded", act_choose_from_first)),

    BUG("stc-ab!demands-not-repeated", "a blocked store does not demand its band again after the bands have moved",
        NULL, DROP("L1.buffer", "BLOCKED", "NOT_GRANTED", "demand")),
    BUG("stc-ab!bands-move-early", "a CU uses the new bands from PREPARE on", NULL,
        ADD("L1.epochs", "RUN", "PREPARE PREPARE_IDLE", act_move_bands)),
    BUG("stc-ab!sweep-under-new-bands", "the sweep at an epoch's end looks for lines of its band after the move", NULL,
        REPLACE("L1.epochs", "RUN", "PREPARE PREPARE_IDLE", "sweep", act_sweep_new)),
    LATE_FILLS_KEPT("stc-ab!late-fills-kept"),
    SKEW_WITHOUT_CURE("stc-ab!skew-without-cure"),

    BUG("stc-mb!one-band-compared", "loads compare with one of the epochs granted together", NULL,
        CLASSIFY("L1", first_epoch_only)),
    LATE_FILLS_KEPT("stc-mb!late-fills-kept"),
    NO_SWEEP("stc-mb!no-sweep"),
    READY_AT_ONCE("stc-mb!ready-at-once"),
    BUG("stc-mb!queue-ignores-prepare", "stores that are ready when PREPARE comes are issued", NULL,
        STAY("L1.buffer", "READY", "STOP")),
    PLAIN_JOIN("stc-mb!plain-join"),
    BUG("stc-mb!five-bands", "one epoch more than `bands` is granted", NULL, SMALL("bands", 1),
        REPLACE("EMU", "SLEEP", "TICK", "choose_demanded", act_choose_one_more)),
    {0},
};

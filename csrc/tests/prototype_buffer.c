/* prototype_buffer.c: the prototype protocol of test_boundaries_worlds.c (prototype_buffer.h): L1s without lines, each
 * with a store buffer whose entries act by themselves, in front of no-l1's L2.
 *
 * A store joins its line's entry; a ready entry sends its words when the outbox has room. A load waits until no entry
 * holds its line. The variants differ in the cells of the entry table, in the unit table (ticks) and in the size of the
 * outbox.
 */
#include "tests/prototype_buffer.h"

#include <string.h>

#include "controller/host.h"
#include "protocols/baseline/baseline.h"

enum { REQUESTS = 0, TICK_CYCLES = 100 }; /* the request network; cycles between ticks */

/* ---- states and events ------------------------------------------------------------------------------------------- */

#define L1_STATES(X) X(L1_I, STABLE, "no load outstanding") X(L1_IV, TRANSIENT_CACHE, "load outstanding")
#define L1_EVENTS(X)                                          \
    X(L1_LOAD, "load")                                        \
    X(L1_LOAD_BUFFERED, "load of a line in the store buffer") \
    X(L1_DATA, "line returned")
GPC_FSM(L1, L1_STATES, L1_EVENTS)

#define SB_STATES(X)                            \
    X(SB_FREE, STABLE, "no entry")              \
    X(SB_OPEN, STABLE, "holds stores")          \
    X(SB_SENT, TRANSIENT_COHERENCE, "sent to the L2")
#define SB_EVENTS(X)                                                 \
    X(SB_STORE, "store")                                             \
    X(SB_DRAIN, "ready entry served")                                  \
    X(SB_DRAIN_BUSY, "ready entry served, a load of the line is outstanding")  \
    X(SB_ACK, "stores performed")
GPC_FSM(SB, SB_STATES, SB_EVENTS)

#define UNIT_STATES(X) X(UNIT_ON, STABLE, "on")
#define UNIT_EVENTS(X) X(UNIT_BEGIN, "kernel begin") X(UNIT_TICK, "background timer")
GPC_FSM(UNIT, UNIT_STATES, UNIT_EVENTS)

/* ---- metadata ---------------------------------------------------------------------------------------------------- */

typedef struct {
    uint32_t word[GPC_MAX_LINE_WORDS];
} words_t;

#define SB_ENTRY(FIELD)                                                \
    FIELD(PLAIN, gpc_mask_t, mask)        /* words stored to */        \
    FIELD(DATA, words_t, words)                                        \
    FIELD(REQUEST, gpc_list_t, stores)    /* complete when performed */
GPC_DESCRIBE(sb, entry, SB_ENTRY)

static sb_entry_t *
entry_of(const gpc_step_t *x)
{
    return gpc_part_fields(&x->unit->parts[0], x->entry);
}

/* ---- classification ---------------------------------------------------------------------------------------------- */

static gpc_event_id_t
l1_classify(const gpc_step_t *x)
{
    if (x->cause == GPC_MSG_LOAD) {
        return gpc_part_find(&x->unit->parts[0], x->line) == GPC_NONE ? L1_LOAD : L1_LOAD_BUFFERED;
    }
    return x->cause == MSG_DATA ? L1_DATA : GPC_NO_EVENT;
}

static gpc_event_id_t
sb_classify(const gpc_step_t *x)
{
    switch (x->cause) {
        case GPC_MSG_STORE:
            return SB_STORE;
        case GPC_MSG_REPLAY:
            return x->mshr == GPC_NONE ? SB_DRAIN : SB_DRAIN_BUSY;
        case MSG_ACK:
            return SB_ACK;
        default:
            return GPC_NO_EVENT;
    }
}

static gpc_event_id_t
unit_classify(const gpc_step_t *x)
{
    return x->cause == GPC_MSG_TIMER ? UNIT_TICK : x->cause == GPC_MSG_KERNEL_BEGIN ? UNIT_BEGIN : GPC_NO_EVENT;
}

static uint8_t
route(const gpc_controller_t *unit, const gpc_msg_t *msg)
{
    (void) unit;
    switch (msg->type) {
        case GPC_MSG_STORE:
        case MSG_ACK:
            return BUFFER_ENTRIES;
        case GPC_MSG_TIMER:
            return BUFFER_UNIT;
        default:
            return BUFFER_LINES;
    }
}

/* ---- actions ----------------------------------------------------------------------------------------------------- */

static int
set_timer(gpc_step_t *x, bool background)
{
    ((buffer_l1_unit_t *) x->unit->unit_fields)->ticking = 1;
    return x->unit->ports->wake_at(x->unit->world, x->unit, gpc_now(x) + TICK_CYCLES, GPC_NEVER, 0,
                                   background ? GPC_TIMER_BACKGROUND : GPC_TIMER_NEEDED);
}

GPC_ACTION(act_tick_again, "counts a tick, sets the next")
{
    ((buffer_l1_unit_t *) x->unit->unit_fields)->ticks++;
    return set_timer(x, true);
}

GPC_ACTION(act_ready_all, "every open entry is ready")
{
    gpc_part_t *part = &x->unit->parts[0];
    for (gpc_index_t i = gpc_part_first(part); i != GPC_NONE; i = gpc_part_next(part, i)) {
        GPC_TRY(part->states[i] == SB_OPEN ? gpc_part_ready(part, i) : GPC_OK);
    }
    return GPC_OK;
}

GPC_ACTION(act_tick_in_foreground, "sets an ordinary timer")
{
    return set_timer(x, false);
}

GPC_ACTION(act_begin_ticks, "sets the first background timer")
{
    return set_timer(x, true);
}

GPC_ACTION(act_begin_ticks_once, "the same, unless it is set")
{
    return ((buffer_l1_unit_t *) x->unit->unit_fields)->ticking ? GPC_OK : set_timer(x, true);
}

GPC_ACTION(act_need_room, "holds while the outbox is full")
{
    return x->unit->ports->room(x->unit->world, x->unit, REQUESTS) ? GPC_OK : GPC_HOLD;
}

/* Entries keep their places until they are performed. */
GPC_ACTION(act_need_room_and_a_full_buffer, "the same, and until the buffer is full")
{
    return x->unit->parts[0].order->count == 3 ? gpc_act(act_need_room, x) : GPC_HOLD;
}

GPC_ACTION(act_need_pair, "holds until the entry has two stores")
{
    return entry_of(x)->stores.count >= 2 ? GPC_OK : GPC_HOLD;
}

GPC_ACTION(act_get, "asks the L2 for the line")
{
    GPC_TRY(gpc_send(x, gpc_new_request(x, MSG_GETS)));
    return gpc_keep_pending(x);
}

GPC_ACTION(act_complete_loads, "every pending load completes")
{
    gpc_index_t i;
    while ((i = gpc_list_pop(gpc_step_pending(x), x->unit->messages)) != GPC_NONE) {
        GPC_TRY(gpc_complete(x, i, x->msg->data, false));
    }
    return GPC_OK;
}

GPC_ACTION(act_enter, "takes an entry, or holds")
{
    int status = gpc_take_entry(x);
    if (status == GPC_OK) {
        gpc_list_clear(&entry_of(x)->stores);
    }
    return status;
}

GPC_ACTION(act_merge_words, "the store's words join the entry's")
{
    sb_entry_t *entry = entry_of(x);
    entry->mask |= x->msg->mask;
    gpc_merge_words(entry->words.word, x->msg->data, x->msg->mask);
    return GPC_OK;
}

GPC_ACTION(act_keep_store, "the store is accepted, and completes when it is performed")
{
    int status = gpc_note_accepted(x); /* the entry's message names no request */
    gpc_list_push(&entry_of(x)->stores, x->unit->messages, x->message);
    x->kept = true;
    return status;
}

GPC_ACTION(act_complete_store, "the store completes at once")
{
    GPC_TRY(gpc_note_accepted(x));
    return gpc_complete(x, x->message, NULL, true);
}

GPC_ACTION(act_ready, "the entry is ready")
{
    return gpc_part_ready(&x->unit->parts[0], x->entry);
}

GPC_ACTION(act_put, "sends the entry's words")
{
    const sb_entry_t *entry = entry_of(x);
    gpc_msg_t *msg = gpc_new_request(x, MSG_GETX);
    gpc_carry(x, msg, entry->mask, entry->words.word);
    return gpc_send(x, msg);
}

GPC_ACTION(act_complete_stores, "the entry's stores complete")
{
    gpc_list_t *stores = &entry_of(x)->stores;
    gpc_index_t i;
    while ((i = gpc_list_pop(stores, x->unit->messages)) != GPC_NONE) {
        GPC_TRY(gpc_complete(x, i, NULL, false));
    }
    return GPC_OK;
}

/* ---- tables. A load waits for its line's entry, which drains when the outbox has room. --------------------------- */

/* clang-format off */
static const gpc_cell_t l1_cells[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_I] = {
        [L1_LOAD] = GO(L1_IV, act_need_room, act_get),
        [L1_LOAD_BUFFERED] = HOLD_QUEUE,
    },
    [L1_IV] = {
        [L1_LOAD] = HOLD_LINE,
        [L1_LOAD_BUFFERED] = HOLD_LINE,
        [L1_DATA] = GO(L1_I, act_complete_loads),
    },
};

static const gpc_cell_t unit_cells[UNIT_NUM_STATES][UNIT_NUM_EVENTS] = {
    [UNIT_ON] = {[UNIT_BEGIN] = GO(UNIT_ON, act_begin_ticks), [UNIT_TICK] = GO(UNIT_ON, act_tick_again)},
};
static const gpc_cell_t foreground_cells[UNIT_NUM_STATES][UNIT_NUM_EVENTS] = {
    [UNIT_ON] = {[UNIT_BEGIN] = GO(UNIT_ON, act_tick_in_foreground), [UNIT_TICK] = GO(UNIT_ON, act_tick_in_foreground)},
};
static const gpc_cell_t drain_cells[UNIT_NUM_STATES][UNIT_NUM_EVENTS] = {
    [UNIT_ON] = {[UNIT_BEGIN] = GO(UNIT_ON), [UNIT_TICK] = GO(UNIT_ON, act_ready_all, act_tick_again)},
};
static const gpc_cell_t no_tick_cells[UNIT_NUM_STATES][UNIT_NUM_EVENTS] = {
    [UNIT_ON] = {[UNIT_BEGIN] = GO(UNIT_ON)},
};
/* clang-format on */

static const gpc_table_t l1 = {GPC_TABLE("L1", OVER_LINES, L1, l1_cells, l1_classify)};
static const gpc_table_t ticks = {GPC_TABLE("L1.unit", OVER_UNIT, UNIT, unit_cells, unit_classify)};
static const gpc_table_t foreground = {GPC_TABLE("L1.unit", OVER_UNIT, UNIT, foreground_cells, unit_classify)};
static const gpc_table_t drain = {GPC_TABLE("L1.unit", OVER_UNIT, UNIT, drain_cells, unit_classify)};
static const gpc_table_t no_tick = {GPC_TABLE("L1.unit", OVER_UNIT, UNIT, no_tick_cells, unit_classify)};

/* ---- protocols --------------------------------------------------------------------------------------------------- */

static uint32_t
three(const gpc_machine_t *machine, const int64_t *options)
{
    (void) machine, (void) options;
    return 3;
}

/* clang-format off */
#define VARIANT(name_, id_, on_store, on_drain, on_busy, unit_table, places, begins_)                                        \
    static const gpc_cell_t name_##_cells[SB_NUM_STATES][SB_NUM_EVENTS] = {                                         \
        [SB_FREE] = {[SB_STORE] = on_store},                                                                        \
        [SB_OPEN] = {[SB_STORE] = GO(SB_OPEN, act_merge_words, act_keep_store),                                           \
                     [SB_DRAIN] = on_drain, [SB_DRAIN_BUSY] = on_busy},                                             \
        [SB_SENT] = {[SB_STORE] = HOLD_QUEUE, [SB_ACK] = GO(SB_FREE, act_complete_stores)},                         \
    };                                                                                                              \
    static const gpc_table_t name_##_entries = {GPC_TABLE("L1.buffer", OVER_ENTRIES, SB, name_##_cells, sb_classify)}; \
    static const gpc_controller_type_t name_##_l1 = {                                                               \
        .name = "L1", .position = GPC_AT_CORE, .tables = {&l1, &name_##_entries, &(unit_table)},                    \
        .parts = {{.name = "store buffer", .entry = sb_entry_described, .capacity = three}},                        \
        .unit = buffer_l1_unit_described, .route = route, .outbox = (places), .begins = (begins_)};                                      \
    static const gpc_protocol_t name_ = {                                                                           \
        .id = (id_), .name = "a store buffer", .model = {[GPC_RULE_RC] = "RC"}, .standard_rule = GPC_RULE_RC,       \
        .controllers = {&name_##_l1, &baseline_l2}, GPC_MESSAGES_OF(MSG),   \
        .networks = BASELINE_NETWORKS, .host_read = gpc_host_read, .host_write = gpc_host_write};

#define ENTER GO(SB_OPEN, act_enter, act_merge_words, act_keep_store, act_ready)
#define ENTER_TICKING GO(SB_OPEN, act_enter, act_merge_words, act_keep_store, act_ready, act_begin_ticks_once)
#define ENTER_WAITING GO(SB_OPEN, act_enter, act_merge_words, act_keep_store, act_begin_ticks_once)
#define ENTER_LOST GO(SB_OPEN, act_enter, act_merge_words, act_keep_store)
#define ENTER_EARLY GO(SB_OPEN, act_enter, act_merge_words, act_complete_store)
#define DRAIN GO(SB_SENT, act_need_room, act_put)
#define DRAIN_FULL GO(SB_SENT, act_need_room_and_a_full_buffer, act_put)
#define DRAIN_PAIR GO(SB_SENT, act_need_pair, act_put)

VARIANT(sound, "buffer", ENTER, DRAIN, HOLD_LINE, ticks, 1, 0)
VARIANT(launched, "buffer+launched", ENTER, DRAIN, HOLD_LINE, ticks, 1, 1u << BUFFER_UNIT)
VARIANT(wide, "buffer+wide", ENTER, DRAIN, HOLD_LINE, ticks, 0, 0)
VARIANT(burst, "buffer+burst", ENTER, DRAIN_FULL, HOLD_LINE, ticks, 1, 0)
VARIANT(wide_burst, "buffer+burst+wide", ENTER, DRAIN_FULL, HOLD_LINE, ticks, 0, 0)
VARIANT(pairs, "buffer+pairs", ENTER, DRAIN_PAIR, HOLD_LINE, ticks, 0, 0)
VARIANT(ticking, "buffer+ticks", ENTER_TICKING, DRAIN, HOLD_LINE, ticks, 1, 0)
VARIANT(lost, "buffer!lost", ENTER_LOST, DRAIN, HOLD_LINE, ticks, 1, 1u << BUFFER_UNIT)
VARIANT(forgotten, "buffer!forgotten", ENTER, DRAIN, GO(SB_OPEN), ticks, 1, 0)
VARIANT(early, "buffer!early", ENTER_EARLY, DRAIN, HOLD_LINE, ticks, 1, 0)
VARIANT(in_foreground, "buffer!foreground", ENTER, DRAIN, HOLD_LINE, foreground, 1, 1u << BUFFER_UNIT)
VARIANT(waiting, "buffer!waiting", ENTER_WAITING, DRAIN, HOLD_LINE, drain, 1, 0)
VARIANT(untimely, "buffer!untimely", ENTER_TICKING, DRAIN, HOLD_LINE, no_tick, 1, 0)
/* clang-format on */

const gpc_protocol_t *
prototype_buffer_find(const char *id)
{
    static const gpc_protocol_t *const all[] = {&sound,         &launched, &burst,   &wide_burst, &wide,
                                                &pairs,         &ticking,  &lost,    &forgotten,  &early,
                                                &in_foreground, &waiting,  &untimely};
    for (uint32_t i = 0; i < GPC_COUNT_OF(all); i++) {
        if (strcmp(all[i]->id, id) == 0) {
            return all[i];
        }
    }
    return NULL;
}

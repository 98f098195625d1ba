/* prototype_epochs_core.c: a compute unit of STC: its L1, its blocked stores, its epoch state machine.
 *
 * Paper    Puthoor and Lipasti, TACO 2023, sections 4.1 to 4.5, table 1: one transient state over SRC.
 * Inferred a line whose band's epoch begins while its load is outstanding is not kept (late fills); from ReadyAck on,
 *          loads use the next epochs (skew of ChangeEpoch).
 * Fits     a table over the unit beside those over lines and entries; its guards read unit metadata from the other
 *          tables' classify; requests to a line without a transaction wait in a part (the coalescing buffer).
 */
#include "tests/prototype_epochs.h"

enum { TABLE_LINES, TABLE_EPOCH, TABLE_BLOCKED }; /* tables */
enum { PART_BLOCKED, PART_COALESCER };            /* parts */
enum { CAUSE_EPOCH = 200, CAUSE_PUSH };           /* one table notifies another; never on a network */

/* ---- states and events: the L1's lines --------------------------------------------------------------------------- */

#define L1_STATES(X)                                                                                                   \
    X(L1_I, STABLE, "not present")                                                                                     \
    X(L1_V, STABLE, "readable until its band's epoch begins")                                                          \
    X(L1_IV, TRANSIENT_CACHE, "load outstanding, to be kept")                                                          \
    X(L1_II, TRANSIENT_COHERENCE, "load outstanding, not to be kept")

#define L1_EVENTS(X)                                                                                                   \
    X(L1_LOAD, "a load of a band that no epoch writes to")                                                             \
    X(L1_LOAD_UNCACHED, "a load of a band that is being written")                                                      \
    X(L1_STORE, "a store in its epoch")                                                                                \
    X(L1_ATOMIC, "an atomic in its epoch")                                                                             \
    X(L1_BLOCKED, "a request to a line with an older access outstanding")                                              \
    X(L1_EVICT, "the replacement wants the way")                                                                       \
    X(L1_EPOCH, "the band's epoch has begun since (pre-event, lazily; for outstanding loads at once)")                 \
    X(L1_DATA, "the line, of a band that no epoch writes to")                                                          \
    X(L1_DATA_EPOCH, "the line, of a band that is being written")                                                      \
    X(L1_WRITE_ACK, "a store is done")                                                                                 \
    X(L1_OLD_VALUES, "an atomic is done")

GPC_FSM(L1, L1_STATES, L1_EVENTS)

/* ---- states and events: the epoch machine ------------------------------------------------------------------------ */

#define CU_STATES(X)                                                                                                   \
    X(CU_RUN, STABLE, "stores of the current bands are issued")                                                        \
    X(CU_DRAIN, TRANSIENT_COHERENCE, "an epoch change is near: stores are outstanding, none is issued")                \
    X(CU_READY, TRANSIENT_COHERENCE, "no store is outstanding; waits for the change")

#define CU_EVENTS(X)                                                                                                   \
    X(CU_LOAD, "a load of a band that is not being written")                                                           \
    X(CU_LOAD_UNCACHED, "a load of a current band, or when READY of a next one")                                       \
    X(CU_STORE, "a store or atomic of a current band")                                                                 \
    X(CU_STORE_OTHER, "a store or atomic of another band")                                                             \
    X(CU_ACK, "a store or atomic is done, more outstanding")                                                           \
    X(CU_LAST_ACK, "the last outstanding store or atomic is done")                                                     \
    X(CU_PREPARE, "an epoch change is near, stores are outstanding")                                                   \
    X(CU_PREPARE_IDLE, "an epoch change is near, no store is outstanding")                                             \
    X(CU_CHANGE, "the next epochs begin")                                                                              \
    X(CU_DEMAND_ACK, "the epoch unit has our demand")

GPC_FSM(CU, CU_STATES, CU_EVENTS)

/* ---- states and events: an entry of the blocked-store queue ------------------------------------------------------ */

#define BSQ_STATES(X)                                                                                                  \
    X(BSQ_FREE, STABLE, "nothing")                                                                                     \
    X(BSQ_BLOCKED, STABLE, "an address whose band is not current, or stores are stopped")                              \
    X(BSQ_READY, STABLE, "an address whose band is current")

#define BSQ_EVENTS(X)                                                                                                  \
    X(BSQ_PUSH, "a store that must wait")                                                                              \
    X(BSQ_GRANTED, "an epoch begins that grants the band")                                                             \
    X(BSQ_NOT_GRANTED, "an epoch begins that does not")                                                                \
    X(BSQ_TURN, "the bank's drain slot")                                                                               \
    X(BSQ_STOP, "an epoch change is near")

GPC_FSM(BSQ, BSQ_STATES, BSQ_EVENTS)

/* ---- metadata ---------------------------------------------------------------------------------------------------- */

#define L1_LINE(FIELD) /* nothing: bands are computed */
#define L1_MSHR(FIELD) /* waiting loads are its pending list */
#define BSQ_ENTRY(FIELD) FIELD(PLAIN, gpc_address_t, address) FIELD(REQUEST, gpc_list_t, stores)
#define COALESCER_ENTRY(FIELD)                                                                                         \
    FIELD(PLAIN, gpc_address_t, line)                                                                                  \
    FIELD(PLAIN, uint8_t, outstanding)  /* stores and atomics outstanding or blocked */                       \
    FIELD(REQUEST, gpc_list_t, waiting) /* later requests of the core to the line */
#define CU_UNIT(FIELD)                                                                                                 \
    FIELD(PLAIN, uint16_t, current)     /* epochs, one bit each */                                                     \
    FIELD(PLAIN, uint16_t, next)        /* from PREPARE on */                                                          \
    FIELD(PLAIN, uint8_t, seb)                                                                                         \
    FIELD(PLAIN, uint8_t, next_seb)                                                                                    \
    FIELD(PLAIN, uint16_t, demanded)    /* bands demanded and not granted since */                           \
    FIELD(PLAIN, uint16_t, conflicts)   /* bands whose conflict was sent      */                                            \
    FIELD(PLAIN, uint32_t, writes)      /* outstanding stores and atomics */

GPC_DESCRIBE(l1, line, L1_LINE)
GPC_DESCRIBE(l1, mshr, L1_MSHR)
GPC_DESCRIBE(bsq, entry, BSQ_ENTRY)
GPC_DESCRIBE(coalescer, entry, COALESCER_ENTRY)
GPC_DESCRIBE(cu, unit, CU_UNIT)

/* ---- classification ---------------------------------------------------------------------------------------------- */

static const cu_unit_t *
unit_of(const gpc_step_t *x)
{
    return x->unit->unit_fields;
}

static bool
is_current(const gpc_step_t *x, gpc_address_t address)
{
    const cu_unit_t *unit = unit_of(x);
    return (unit->current >> stc_band(address, unit->seb) & 1) != 0;
}

/* Uncacheable: its band is writable now, or may be at a core that has changed epochs before this one. */
static bool
is_uncached(const gpc_step_t *x, gpc_address_t address)
{
    const cu_unit_t *unit = unit_of(x);
    bool ready = x->unit->unit_states[TABLE_EPOCH] == CU_READY;
    return is_current(x, address) || (ready && (unit->next >> stc_band(address, unit->next_seb) & 1) != 0);
}

static bool
is_behind_older(const gpc_step_t *x)
{
    const gpc_part_t *part = &x->unit->parts[PART_COALESCER];
    for (gpc_index_t i = 0; i < part->pool.capacity; i++) { /* a complete protocol would use gpc_part_find */
        const coalescer_entry_t *entry = (const void *) (part->fields + (size_t) i * part->fields_size);
        if (entry->outstanding && entry->line == x->line) {
            return true;
        }
    }
    return false;
}

static gpc_event_id_t
l1_classify(const gpc_step_t *x)
{
    bool uncached = is_uncached(x, x->line);

    if (x->cause == CAUSE_EPOCH) {
        return L1_EPOCH;
    }
    if (x->cause == GPC_MSG_EVICT) { /* an eviction expires no lines: the pre-event would empty the way */
        return L1_EVICT;
    }
    if (x->state == L1_V && uncached) {
        return GPC_PRE_EVENT(L1_EPOCH);
    }
    switch (x->cause) {
        case GPC_MSG_LOAD:
        case GPC_MSG_STORE:
        case GPC_MSG_ATOMIC:
            if (is_behind_older(x)) {
                return L1_BLOCKED;
            }
            if (x->cause != GPC_MSG_LOAD) {
                return x->cause == GPC_MSG_STORE ? L1_STORE : L1_ATOMIC;
            }
            return uncached ? L1_LOAD_UNCACHED : L1_LOAD;
        case STC_DATA:
            return uncached ? L1_DATA_EPOCH : L1_DATA;
        case STC_WRITE_ACK:
            return L1_WRITE_ACK;
        case STC_OLD_VALUES:
            return L1_OLD_VALUES;
        default:
            return GPC_NO_EVENT;
    }
}

static gpc_event_id_t
cu_classify(const gpc_step_t *x)
{
    switch (x->cause) {
        case GPC_MSG_LOAD:
            return is_uncached(x, x->line) ? CU_LOAD_UNCACHED : CU_LOAD;
        case GPC_MSG_STORE:
        case GPC_MSG_ATOMIC:
            return is_current(x, x->line) ? CU_STORE : CU_STORE_OTHER;
        case STC_WRITE_ACK:
        case STC_OLD_VALUES:
            return unit_of(x)->writes == 1 ? CU_LAST_ACK : CU_ACK;
        case STC_PREPARE:
            return unit_of(x)->writes == 0 ? CU_PREPARE_IDLE : CU_PREPARE;
        case STC_CHANGE:
            return CU_CHANGE;
        case STC_DEMAND_ACK:
            return CU_DEMAND_ACK;
        default:
            return GPC_NO_EVENT;
    }
}

static gpc_event_id_t
bsq_classify(const gpc_step_t *x)
{
    const bsq_entry_t *entry = gpc_part_fields(&x->unit->parts[PART_BLOCKED], x->entry);

    switch (x->cause) {
        case CAUSE_PUSH:
            return BSQ_PUSH;
        case CAUSE_EPOCH:
            return is_current(x, entry->address) ? BSQ_GRANTED : BSQ_NOT_GRANTED;
        case GPC_MSG_REPLAY:
            return BSQ_TURN;
        case STC_PREPARE:
            return BSQ_STOP;
        default:
            return GPC_NO_EVENT;
    }
}

/* ---- actions ----------------------------------------------------------------------------------------------------- */

STUB_ACTION(act_reserve_way, "a way for the fill, or hold")
STUB_ACTION(act_release_way, "the copy is dropped, or the reserved way given back")
STUB_ACTION(act_hit, "the load completes with the line's words")
STUB_ACTION(act_read, "READ")
STUB_ACTION(act_write_through, "WRITE; one more outstanding, in the coalescing buffer too")
STUB_ACTION(act_send_atomic, "ATOMIC; one more outstanding, in the coalescing buffer too")
STUB_ACTION(act_wait_in_coalescer, "the request joins the line's entry there")
STUB_ACTION(act_install, "the line into the way")
STUB_ACTION(act_complete_load, "the loads that wait for the line")
STUB_ACTION(act_complete_write, "the store or atomic; what waits in the coalescing buffer is replayed")
STUB_ACTION(act_to_lines, "the request goes on to the L1's table")
STUB_ACTION(act_tell_conflict, "CONFLICT, once a band, when a blocked store has the load's band")
STUB_ACTION(act_block_store, "an entry of the queue (or hold): PUSH")
STUB_ACTION(act_stop_stores, "every entry of the queue: STOP")
STUB_ACTION(act_protect_next, "outstanding loads of the next bands: EPOCH")
STUB_ACTION(act_sweep, "copies of the old bands in sets not touched since: EPOCH")
STUB_ACTION(act_reanalyse, "every entry of the queue: GRANTED or NOT_GRANTED; outstanding loads: EPOCH")
STUB_ACTION(act_send_ready, "READY")
STUB_ACTION(act_send_done, "DONE")
STUB_ACTION(act_take_store, "the entry has the address")
STUB_ACTION(act_demand, "DEMAND, unless the band's bit is set")
STUB_ACTION(act_issue, "the store goes on to the L1's table")

GPC_ACTION(act_one_write_less, "one store less is outstanding")
{
    ((cu_unit_t *) x->unit->unit_fields)->writes--;
    return GPC_OK;
}

GPC_ACTION(act_note_next, "the next epochs")
{
    cu_unit_t *unit = x->unit->unit_fields;
    unit->next = (uint16_t) stc_fields(x->msg)->epochs;
    unit->next_seb = (uint8_t) stc_fields(x->msg)->seb;
    return GPC_OK;
}

GPC_ACTION(act_enter_epochs, "the next epochs are the current ones")
{
    cu_unit_t *unit = x->unit->unit_fields;
    uint8_t seb = (uint8_t) stc_fields(x->msg)->seb;
    unit->current = (uint16_t) stc_fields(x->msg)->epochs;
    unit->demanded = unit->seb == seb ? (uint16_t) (unit->demanded & ~unit->current) : 0;
    unit->conflicts = unit->seb == seb ? (uint16_t) (unit->conflicts & ~unit->current) : 0;
    unit->seb = seb;
    unit->next = 0;
    return GPC_OK;
}

/* ---- the tables -------------------------------------------------------------------------------------------------- */

/* clang-format off */
static const gpc_cell_t l1_table[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_I] = {
        [L1_LOAD]          = GO(L1_IV, act_reserve_way, act_read),
        [L1_LOAD_UNCACHED] = GO(L1_II, act_read),
        [L1_STORE]         = GO(L1_I, act_write_through),
        [L1_ATOMIC]        = GO(L1_I, act_send_atomic),
        [L1_BLOCKED]       = GO(L1_I, act_wait_in_coalescer),
        [L1_EPOCH]         = GO(L1_I),
        [L1_WRITE_ACK]     = GO(L1_I, act_complete_write),
        [L1_OLD_VALUES]    = GO(L1_I, act_complete_write),
    },
    [L1_V] = {
        [L1_LOAD]          = GO(L1_V, act_hit),
        [L1_STORE]         = GO(L1_I, act_write_through),
        [L1_ATOMIC]        = GO(L1_I, act_send_atomic),
        [L1_BLOCKED]       = GO(L1_V, act_wait_in_coalescer),
        [L1_EVICT]         = GO(L1_I),
        [L1_EPOCH]         = GO(L1_I),
        [L1_WRITE_ACK]     = GO(L1_V, act_complete_write),
        [L1_OLD_VALUES]    = GO(L1_V, act_complete_write),
    },
    [L1_IV] = { /* the load's answer ends it */
        [L1_LOAD]          = HOLD_LINE,
        [L1_LOAD_UNCACHED] = HOLD_LINE,
        [L1_STORE]         = HOLD_LINE,
        [L1_ATOMIC]        = HOLD_LINE,
        [L1_EVICT]         = NOT_A_VICTIM,
        [L1_EPOCH]         = GO_HARDENED(L1_II, act_release_way),
        [L1_DATA]          = GO(L1_V, act_install, act_complete_load),
        [L1_DATA_EPOCH]    = GO(L1_I, act_complete_load, act_release_way),
    },
    [L1_II] = {
        [L1_LOAD]          = HOLD_LINE,
        [L1_LOAD_UNCACHED] = HOLD_LINE,
        [L1_STORE]         = HOLD_LINE,
        [L1_ATOMIC]        = HOLD_LINE,
        [L1_EPOCH]         = GO(L1_II),
        [L1_DATA]          = GO(L1_I, act_complete_load),
        [L1_DATA_EPOCH]    = GO(L1_I, act_complete_load),
    },
};

/* clang-format off */
static const gpc_cell_t cu_table[CU_NUM_STATES][CU_NUM_EVENTS] = {
    [CU_RUN] = {
        [CU_LOAD]          = GO(CU_RUN, act_to_lines, act_tell_conflict),
        [CU_LOAD_UNCACHED] = GO(CU_RUN, act_to_lines),
        [CU_STORE]         = GO(CU_RUN, act_to_lines),
        [CU_STORE_OTHER]   = GO(CU_RUN, act_block_store),
        [CU_ACK]           = GO(CU_RUN, act_one_write_less, act_to_lines),
        [CU_LAST_ACK]      = GO(CU_RUN, act_one_write_less, act_to_lines),
        [CU_PREPARE]       = GO(CU_DRAIN, act_note_next, act_stop_stores),
        [CU_PREPARE_IDLE]  = GO(CU_READY, act_note_next, act_stop_stores, act_protect_next, act_send_ready),
        [CU_DEMAND_ACK]    = GO(CU_RUN),
    },
    [CU_DRAIN] = {
        [CU_LOAD]          = GO(CU_DRAIN, act_to_lines, act_tell_conflict),
        [CU_LOAD_UNCACHED] = GO(CU_DRAIN, act_to_lines),
        [CU_STORE]         = GO(CU_DRAIN, act_block_store),
        [CU_STORE_OTHER]   = GO(CU_DRAIN, act_block_store),
        [CU_ACK]           = GO(CU_DRAIN, act_one_write_less, act_to_lines),
        [CU_LAST_ACK]      = GO(CU_READY, act_one_write_less, act_to_lines, act_protect_next, act_send_ready),
        [CU_DEMAND_ACK]    = GO(CU_DRAIN),
    },
    [CU_READY] = {
        [CU_LOAD]          = GO(CU_READY, act_to_lines, act_tell_conflict),
        [CU_LOAD_UNCACHED] = GO(CU_READY, act_to_lines),
        [CU_STORE]         = GO(CU_READY, act_block_store),
        [CU_STORE_OTHER]   = GO(CU_READY, act_block_store),
        [CU_CHANGE]        = GO(CU_RUN, act_sweep, act_enter_epochs, act_reanalyse, act_send_done),
        [CU_DEMAND_ACK]    = GO(CU_READY),
    },
};
/* clang-format on */

/* clang-format off */
static const gpc_cell_t bsq_table[BSQ_NUM_STATES][BSQ_NUM_EVENTS] = {
    [BSQ_FREE] = {
        [BSQ_PUSH]        = GO(BSQ_BLOCKED, act_take_store, act_demand),
    },
    [BSQ_BLOCKED] = {
        [BSQ_GRANTED]     = GO(BSQ_READY),
        [BSQ_NOT_GRANTED] = GO(BSQ_BLOCKED, act_demand),
        [BSQ_STOP]        = GO(BSQ_BLOCKED),
    },
    [BSQ_READY] = {
        [BSQ_TURN]        = GO(BSQ_FREE, act_issue),
        [BSQ_STOP]        = GO(BSQ_BLOCKED, act_demand),
    },
};
/* clang-format on */
/* clang-format on */

static const gpc_table_t l1 = {GPC_TABLE("L1", OVER_LINES, L1, l1_table, l1_classify)};
static const gpc_table_t cu = {GPC_TABLE("L1.epoch", OVER_UNIT, CU, cu_table, cu_classify)};
static const gpc_table_t bsq = {GPC_TABLE("L1.blocked_stores", OVER_ENTRIES, BSQ, bsq_table, bsq_classify)};

/* ---- the controller ---------------------------------------------------------------------------------------------- */

static uint32_t
store_entries(const gpc_machine_t *machine, const int64_t *options)
{
    (void) machine;
    (void) options;
    return 256;
}

/* The epoch table handles every message except the answers of loads. */
static uint8_t
route(const gpc_controller_t *unit, const gpc_msg_t *msg)
{
    (void) unit;
    return msg->type == STC_DATA ? TABLE_LINES : TABLE_EPOCH;
}

const gpc_controller_type_t prototype_stc_core = {
    .name = "L1",
    .position = GPC_AT_CORE,
    .tables = {&l1, &cu, &bsq},
    .arrays = {{.name = "tags", .line = l1_line_described, .has_data = true}},
    .parts = {{.name = "blocked stores", .entry = bsq_entry_described, .capacity = store_entries},
              {.name = "coalescing buffer", .entry = coalescer_entry_described, .capacity = store_entries}},
    .object_of = {0, 0, PART_BLOCKED},
    .mshr = l1_mshr_described,
    .unit = cu_unit_described,
    .route = route,
};

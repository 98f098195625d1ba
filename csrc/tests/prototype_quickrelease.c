/* prototype_quickrelease.c: QuickRelease's first level: read cache rL1 and write cache wL1 side by side, and the S-FIFO.
 *
 * Paper    Hechtman et al., HPCA 2014, section 3; the fixed link is: in V, wL1 does not hold the block; in VW it does.
 * Inferred fills that are in flight during an own eviction or an Inv are not kept (PX); an atomic first flushes its
 *          own block.
 * Fits     two tag arrays in one controller, each with its table, and a FIFO of entries whose head may have to wait
 *          (HOLD_QUEUE); atomics of lines without a transaction wait as described lists in their entry; release as a
 *          marker and its answer.
 */
#include "tests/prototypes.h"

enum { READ_CACHE, WRITE_CACHE };                                /* arrays */
enum { TABLE_READ, TABLE_WRITE, TABLE_FIFO };                    /* tables */
enum { PART_FIFO };                                              /* parts */
enum { CAUSE_BLOCK_EVICTED = 200, CAUSE_FLUSH_OWN, CAUSE_PUSH }; /* one table notifies another; never on a network */
enum { KIND_RELEASE, KIND_RELEASE_NO_ANSWER };                   /* of markers */

/* ---- messages ---------------------------------------------------------------------------------------------------- */

/* clang-format off */
/*    name        class network bytes word line   */
#define QR_MESSAGES(X, prefix)                                                                               \
    X(prefix, READ,       REQ, 0,  8, 0, false, "a whole block is wanted")                                   \
    X(prefix, BLOCK,      WB,  0, 16, 4, false, "dirty words, never answered")                               \
    X(prefix, MARKER,     REQ, 0,  8, 0, false, "everything before it is to be made visible")                \
    X(prefix, ATOMIC,     ATO, 0, 16, 0, false, "operands, performed at the directory")                      \
    X(prefix, DATA,       LD,  1,  8, 0, true,  "the block")                                                 \
    X(prefix, INVALIDATE, INV, 1,  8, 0, false, "broadcast by an eviction of wL2; rides behind older data")  \
    X(prefix, RELEASED,   REQ, 1,  8, 0, false, "a marker has left the last FIFO; rides behind older Invs")  \
    X(prefix, OLD_VALUES, ATO, 1,  8, 0, false, "of an atomic")
/* clang-format on */
GPC_MESSAGES(QR, QR_MESSAGES)

#define QR_MESSAGE(FIELD) FIELD(PLAIN, uint64_t, kind) FIELD(PLAIN, uint64_t, number)
GPC_DESCRIBE(qr, message, QR_MESSAGE)

/* ---- states and events: rL1 -------------------------------------------------------------------------------------- */

#define RL1_STATES(X)                                                                                                  \
    X(RL1_I, STABLE, "not present")                                                                                    \
    X(RL1_V, STABLE, "readable; wL1 has not the block")                                                                \
    X(RL1_VW, STABLE, "readable where wL1 has no newer words; wL1 has the block (written bit)")                        \
    X(RL1_P, TRANSIENT_CACHE, "fill outstanding")                                                                      \
    X(RL1_PX, TRANSIENT_COHERENCE, "fill outstanding, not to be kept")

#define RL1_EVENTS(X)                                                                                                  \
    X(RL1_LOAD, "a load; wL1 has not the block")                                                                       \
    X(RL1_LOAD_NONE, "a load; wL1 has the block, but none of its words")                                               \
    X(RL1_LOAD_SOME, "a load; wL1 has some of its words")                                                              \
    X(RL1_LOAD_COVERED, "a load; wL1 has all of its words")                                                            \
    X(RL1_STORE, "a store")                                                                                            \
    X(RL1_STORE_RELEASE, "the store of a release, or a relaxed one: pushed out of wL1 at once")                        \
    X(RL1_ATOMIC, "an atomic; wL1 has not the block")                                                                  \
    X(RL1_ATOMIC_DIRTY, "an atomic; wL1 has the block")                                                                \
    X(RL1_BLOCK_EVICTED, "wL1 evicts the block (from its table)")                                                      \
    X(RL1_FILL, "the block; wL1 has it not")                                                                           \
    X(RL1_FILL_DIRTY, "the block; wL1 has newer words of it")                                                          \
    X(RL1_INVALIDATE, "another core's words have reached the L2's read side")                                          \
    X(RL1_OLD_VALUES, "of an own atomic")                                                                              \
    X(RL1_EVICT, "the replacement wants the way")

GPC_FSM(RL1, RL1_STATES, RL1_EVENTS)

/* ---- states and events: wL1 -------------------------------------------------------------------------------------- */

#define WL1_STATES(X)                                                                                                  \
    X(WL1_ABSENT, STABLE, "no word of the block is dirty here")                                                        \
    X(WL1_DIRTY, STABLE, "some words are")

#define WL1_EVENTS(X)                                                                                                  \
    X(WL1_WRITE, "a store's words")                                                                                    \
    X(WL1_EVICT, "the replacement wants the way")                                                                      \
    X(WL1_POP, "the block has reached the head of the S-FIFO")                                                         \
    X(WL1_FLUSH, "rL1 needs the whole block: a partly covered load, or an own atomic")

GPC_FSM(WL1, WL1_STATES, WL1_EVENTS)

/* ---- states and events: an entry of an S-FIFO, of any level ------------------------------------------------------ */

#define FIFO_STATES(X)                                                                                                 \
    X(FIFO_FREE, STABLE, "nothing")                                                                                    \
    X(FIFO_BLOCK, STABLE, "a block that is or was dirty in the write cache")                                           \
    X(FIFO_MARKER, STABLE, "a release marker")                                                                         \
    X(FIFO_ATOMIC, TRANSIENT_COHERENCE, "an atomic on its way")                                                        \
    X(FIFO_ATOMIC_DONE, STABLE, "an atomic that has its answer")

#define FIFO_EVENTS(X)                                                                                                 \
    X(FIFO_PUSH_BLOCK, "a block has become dirty")                                                                     \
    X(FIFO_PUSH_MARKER, "a release, or a marker from the level before")                                                \
    X(FIFO_PUSH_ATOMIC, "an atomic is sent")                                                                           \
    X(FIFO_ANSWER, "the atomic's old values")                                                                          \
    X(FIFO_POP, "the head's turn: not a block, or a block that has left the write cache")                              \
    X(FIFO_POP_DIRTY, "the head's turn: a block that is still dirty")                                                  \
    X(FIFO_POP_LAST, "the head's turn at the last level: a marker that is to be answered")                             \
    X(FIFO_POP_LAST_SILENT, "the head's turn at the last level: a marker that is not")                                 \
    X(FIFO_POP_EARLY, "the head's turn, but neither a full FIFO nor a marker asks for it")

GPC_FSM(FIFO, FIFO_STATES, FIFO_EVENTS)

/* ---- metadata ---------------------------------------------------------------------------------------------------- */

#define RL1_LINE(FIELD) /* the written bit is the state VW */
#define RL1_MSHR(FIELD) /* waiting loads are its pending list */
#define WL1_LINE(FIELD) FIELD(PLAIN, gpc_mask_t, dirty)
#define FIFO_ENTRY(FIELD)                                                                                              \
    FIELD(PLAIN, gpc_address_t, line)                                                                                  \
    FIELD(PLAIN, uint8_t, kind)           /* of a marker */                                                            \
    FIELD(NODE, gpc_node_t, core)         /* the marker's core, above the first level */                                   \
    FIELD(PLAIN, uint16_t, warp)                                                                                       \
    FIELD(REQUEST, gpc_list_t, atomics)   /* the core's request, until its old values come */
#define QR_UNIT(FIELD) FIELD(PLAIN, uint32_t, markers) /* in the FIFO: it flushes while there are any */
#define QR_WARP(FIELD)                                                                                                 \
    FIELD(PLAIN, uint32_t, sent)          /* outstanding markers, modulo its width */           \
    FIELD(PLAIN, uint32_t, answered)

GPC_DESCRIBE(rl1, line, RL1_LINE)
GPC_DESCRIBE(rl1, mshr, RL1_MSHR)
GPC_DESCRIBE(wl1, line, WL1_LINE)
GPC_DESCRIBE(fifo, entry, FIFO_ENTRY)
GPC_DESCRIBE(qr, unit, QR_UNIT)
GPC_DESCRIBE(qr, warp, QR_WARP)

/* ---- classification ---------------------------------------------------------------------------------------------- */

/* Words of the line that the write cache holds; *present: it holds the block. */
static gpc_mask_t
dirty_words(const gpc_step_t *x, gpc_address_t line, bool *present)
{
    const gpc_tags_t *tags = &x->unit->arrays[WRITE_CACHE];
    gpc_index_t way = gpc_tags_find(tags, line);
    *present = way != GPC_NONE;
    return *present ? ((wl1_line_t *) gpc_tags_fields(tags, way))->dirty : GPC_NO_WORDS;
}

static gpc_event_id_t
rl1_classify(const gpc_step_t *x)
{
    bool present;
    gpc_mask_t dirty = dirty_words(x, x->line, &present);

    switch (x->cause) {
        case GPC_MSG_LOAD:
            if (!present) {
                return RL1_LOAD;
            }
            if ((x->mask & dirty) == 0) {
                return RL1_LOAD_NONE;
            }
            return (x->mask & ~dirty) == 0 ? RL1_LOAD_COVERED : RL1_LOAD_SOME;
        case GPC_MSG_STORE:
            return x->msg->order == GPC_ORDER_WEAK ? RL1_STORE : RL1_STORE_RELEASE;
        case GPC_MSG_ATOMIC:
            return present ? RL1_ATOMIC_DIRTY : RL1_ATOMIC;
        case CAUSE_BLOCK_EVICTED:
            return RL1_BLOCK_EVICTED;
        case QR_DATA:
            return present ? RL1_FILL_DIRTY : RL1_FILL;
        case QR_INVALIDATE:
            return RL1_INVALIDATE;
        case QR_OLD_VALUES:
            return RL1_OLD_VALUES;
        case GPC_MSG_EVICT:
            return RL1_EVICT;
        default:
            return GPC_NO_EVENT;
    }
}

static gpc_event_id_t
wl1_classify(const gpc_step_t *x)
{
    switch (x->cause) {
        case GPC_MSG_STORE:
            return WL1_WRITE;
        case GPC_MSG_EVICT:
            return WL1_EVICT;
        case GPC_MSG_REPLAY:
            return WL1_POP;
        case CAUSE_FLUSH_OWN:
            return WL1_FLUSH;
        default:
            return GPC_NO_EVENT;
    }
}

static const fifo_entry_t *
entry_of(const gpc_step_t *x)
{
    return gpc_part_fields(&x->unit->parts[PART_FIFO], x->entry);
}

/* Whether the FIFO may release its head: full, or flushing. */
static bool
may_pop(const gpc_step_t *x)
{
    const gpc_pool_t *pool = &x->unit->parts[PART_FIFO].pool;
    return pool->state->in_use == pool->capacity || ((qr_unit_t *) x->unit->unit_fields)->markers != 0;
}

static gpc_event_id_t
classify_head(const gpc_step_t *x)
{
    const fifo_entry_t *entry = entry_of(x);
    bool present;

    if (x->state == FIFO_MARKER && x->unit->type->position == GPC_AT_MEMORY) {
        return entry->kind == KIND_RELEASE ? FIFO_POP_LAST : FIFO_POP_LAST_SILENT;
    }
    if (x->state != FIFO_BLOCK) {
        return FIFO_POP;
    }
    if (!may_pop(x)) {
        return FIFO_POP_EARLY;
    }
    (void) dirty_words(x, entry->line, &present);
    return present ? FIFO_POP_DIRTY : FIFO_POP;
}

static gpc_event_id_t
fifo_classify(const gpc_step_t *x)
{
    switch (x->cause) {
        case CAUSE_PUSH:
            return FIFO_PUSH_BLOCK;
        case GPC_MSG_RELEASE:
        case QR_MARKER:
            return FIFO_PUSH_MARKER;
        case GPC_MSG_ATOMIC:
            return FIFO_PUSH_ATOMIC;
        case QR_OLD_VALUES:
            return FIFO_ANSWER;
        case GPC_MSG_REPLAY:
            return classify_head(x);
        default:
            return GPC_NO_EVENT;
    }
}

/* ---- actions ----------------------------------------------------------------------------------------------------- */

STUB_ACTION(act_reserve_way, "a way of this table's array, or hold; a block that leaves wL1 for it goes by the table")
STUB_ACTION(act_release_way, "the copy is dropped, or the reserved way given back")
STUB_ACTION(act_hit, "the load's words from rL1")
STUB_ACTION(act_serve_written, "the load's words from wL1")
STUB_ACTION(act_read, "READ of the block")
STUB_ACTION(act_join, "the load waits for the fill too")
STUB_ACTION(act_flush_own, "wL1's table: the block goes up, before what this event sends")
STUB_ACTION(act_write, "wL1's table takes the words (or hold); the store completes")
STUB_ACTION(act_push_silent_marker, "a marker without a waiting release: the FIFO flushes up to here")
STUB_ACTION(act_send_atomic, "ATOMIC; an entry in the FIFO keeps the request")
STUB_ACTION(act_complete_atomic, "the FIFO's entry has its answer; the request completes")
STUB_ACTION(act_install, "the block into the way")
STUB_ACTION(act_wake, "loads that wait for the fill")
STUB_ACTION(act_push_block, "an entry in the FIFO, unless the block has one; a full FIFO pops its head first")
STUB_ACTION(act_send_block, "BLOCK: mask and dirty words, up")
STUB_ACTION(act_tell_read_cache, "rL1's table: BLOCK_EVICTED")
STUB_ACTION(act_evict_block, "the write cache's table: POP")
STUB_ACTION(act_pass_on, "the marker to the next level, behind the blocks")
STUB_ACTION(act_answer_marker, "RELEASED to the marker's core and warp")
STUB_ACTION(act_next_turn, "the new head's turn, next cycle")
STUB_ACTION(act_note_entry, "the entry's fields")

GPC_ACTION(act_merge_words, "the words into the block")
{
    ((wl1_line_t *) gpc_line_fields(x))->dirty |= x->mask;
    gpc_merge_words(gpc_line_words(x), x->msg->data, x->mask);
    return GPC_OK;
}

GPC_ACTION(act_count_marker, "one marker more is under way")
{
    ((qr_unit_t *) x->unit->unit_fields)->markers++;
    return GPC_OK;
}

GPC_ACTION(act_marker_left, "one marker less is under way")
{
    ((qr_unit_t *) x->unit->unit_fields)->markers--;
    return GPC_OK;
}

/* ---- the tables -------------------------------------------------------------------------------------------------- */

/* clang-format off */
static const gpc_cell_t rl1_table[RL1_NUM_STATES][RL1_NUM_EVENTS] = {
    [RL1_I] = {
        [RL1_LOAD]          = GO(RL1_P, act_reserve_way, act_read),
        [RL1_LOAD_NONE]     = GO(RL1_P, act_reserve_way, act_flush_own, act_read),
        [RL1_LOAD_SOME]     = GO(RL1_P, act_reserve_way, act_flush_own, act_read),
        [RL1_LOAD_COVERED]  = GO(RL1_I, act_serve_written),
        [RL1_STORE]         = GO(RL1_I, act_write),
        [RL1_STORE_RELEASE] = GO(RL1_I, act_write, act_push_silent_marker),
        [RL1_ATOMIC]        = GO(RL1_I, act_send_atomic),
        [RL1_ATOMIC_DIRTY]  = GO(RL1_I, act_flush_own, act_send_atomic),
        [RL1_BLOCK_EVICTED] = GO(RL1_I),
        [RL1_INVALIDATE]    = GO(RL1_I),
        [RL1_OLD_VALUES]    = GO(RL1_I, act_complete_atomic),
    },
    [RL1_V] = { /* wL1 does not hold the block: its tags are not read */
        [RL1_LOAD]          = GO(RL1_V, act_hit),
        [RL1_STORE]         = GO(RL1_VW, act_write),
        [RL1_STORE_RELEASE] = GO(RL1_VW, act_write, act_push_silent_marker),
        [RL1_ATOMIC]        = GO(RL1_I, act_send_atomic),
        [RL1_INVALIDATE]    = GO(RL1_I),
        [RL1_OLD_VALUES]    = GO(RL1_V, act_complete_atomic),
        [RL1_EVICT]         = GO(RL1_I),
    },
    [RL1_VW] = {
        [RL1_LOAD_NONE]     = GO(RL1_P, act_flush_own, act_read),
        [RL1_LOAD_SOME]     = GO(RL1_P, act_flush_own, act_read),
        [RL1_LOAD_COVERED]  = GO(RL1_VW, act_serve_written),
        [RL1_STORE]         = GO(RL1_VW, act_write),
        [RL1_STORE_RELEASE] = GO(RL1_VW, act_write, act_push_silent_marker),
        [RL1_ATOMIC_DIRTY]  = GO(RL1_I, act_flush_own, act_send_atomic),
        [RL1_BLOCK_EVICTED] = GO(RL1_I),
        [RL1_INVALIDATE]    = GO(RL1_I), /* wL1 untouched */
        [RL1_OLD_VALUES]    = GO(RL1_VW, act_complete_atomic),
        [RL1_EVICT]         = GO(RL1_I),
    },
    [RL1_P] = {
        [RL1_LOAD]          = GO(RL1_P, act_join),
        [RL1_LOAD_NONE]     = GO(RL1_P, act_join),
        [RL1_LOAD_SOME]     = REDO(RL1_PX, act_flush_own),
        [RL1_LOAD_COVERED]  = GO(RL1_P, act_serve_written),
        [RL1_STORE]         = GO(RL1_P, act_write),
        [RL1_STORE_RELEASE] = GO(RL1_P, act_write, act_push_silent_marker),
        [RL1_ATOMIC]        = GO(RL1_PX, act_send_atomic),
        [RL1_ATOMIC_DIRTY]  = GO(RL1_PX, act_flush_own, act_send_atomic),
        [RL1_BLOCK_EVICTED] = GO(RL1_PX),
        [RL1_FILL]          = GO(RL1_V, act_install, act_wake),
        [RL1_FILL_DIRTY]    = GO(RL1_VW, act_install, act_wake),
        [RL1_INVALIDATE]    = GO(RL1_PX),
        [RL1_OLD_VALUES]    = GO(RL1_P, act_complete_atomic),
        [RL1_EVICT]         = NOT_A_VICTIM,
    },
    [RL1_PX] = {
        [RL1_LOAD]          = HOLD_LINE, /* reads again after the fill */
        [RL1_LOAD_NONE]     = HOLD_LINE,
        [RL1_LOAD_SOME]     = REDO(RL1_PX, act_flush_own),
        [RL1_LOAD_COVERED]  = GO(RL1_PX, act_serve_written),
        [RL1_STORE]         = GO(RL1_PX, act_write),
        [RL1_STORE_RELEASE] = GO(RL1_PX, act_write, act_push_silent_marker),
        [RL1_ATOMIC]        = GO(RL1_PX, act_send_atomic),
        [RL1_ATOMIC_DIRTY]  = GO(RL1_PX, act_flush_own, act_send_atomic),
        [RL1_BLOCK_EVICTED] = GO(RL1_PX),
        [RL1_FILL]          = GO(RL1_I, act_wake, act_release_way),
        [RL1_FILL_DIRTY]    = GO(RL1_I, act_wake, act_release_way),
        [RL1_INVALIDATE]    = GO(RL1_PX),
        [RL1_OLD_VALUES]    = GO(RL1_PX, act_complete_atomic),
        [RL1_EVICT]         = NOT_A_VICTIM,
    },
};

/* clang-format off */
static const gpc_cell_t wl1_table[WL1_NUM_STATES][WL1_NUM_EVENTS] = {
    [WL1_ABSENT] = {
        [WL1_WRITE]         = GO(WL1_DIRTY, act_reserve_way, act_merge_words, act_push_block),
        [WL1_POP]           = GO(WL1_ABSENT),
    },
    [WL1_DIRTY] = {
        [WL1_WRITE]         = GO(WL1_DIRTY, act_merge_words),
        [WL1_EVICT]         = GO(WL1_ABSENT, act_send_block, act_tell_read_cache), /* its entry stays in the FIFO */
        [WL1_POP]           = GO(WL1_ABSENT, act_send_block, act_tell_read_cache),
        [WL1_FLUSH]         = GO(WL1_ABSENT, act_send_block), /* the calling table moves rL1 */
    },
};
/* clang-format on */

/* clang-format off */
static const gpc_cell_t fifo_table[FIFO_NUM_STATES][FIFO_NUM_EVENTS] = {
    [FIFO_FREE] = {
        [FIFO_PUSH_BLOCK]      = GO(FIFO_BLOCK, act_note_entry),
        [FIFO_PUSH_MARKER]     = GO(FIFO_MARKER, act_note_entry, act_count_marker, act_next_turn),
        [FIFO_PUSH_ATOMIC]     = GO(FIFO_ATOMIC, act_note_entry),
    },
    [FIFO_BLOCK] = {
        [FIFO_POP]             = GO(FIFO_FREE, act_next_turn),
        [FIFO_POP_DIRTY]       = GO(FIFO_FREE, act_evict_block, act_next_turn),
        [FIFO_POP_EARLY]       = HOLD_QUEUE, /* until a marker or a full FIFO flushes it */
    },
    [FIFO_MARKER] = {
        [FIFO_POP]             = GO(FIFO_FREE, act_pass_on, act_marker_left, act_next_turn),
        [FIFO_POP_LAST]        = GO(FIFO_FREE, act_answer_marker, act_marker_left, act_next_turn),
        [FIFO_POP_LAST_SILENT] = GO(FIFO_FREE, act_marker_left, act_next_turn),
    },
    [FIFO_ATOMIC] = {
        [FIFO_POP]             = HOLD_QUEUE, /* the directory answers */
        [FIFO_ANSWER]          = GO(FIFO_ATOMIC_DONE, act_next_turn),
    },
    [FIFO_ATOMIC_DONE] = {
        [FIFO_POP]             = GO(FIFO_FREE, act_next_turn),
    },
};
/* clang-format on */
/* clang-format on */

static const gpc_table_t rl1 = {GPC_TABLE("L1", OVER_LINES, RL1, rl1_table, rl1_classify)};
static const gpc_table_t wl1 = {GPC_TABLE("L1.write_cache", OVER_LINES, WL1, wl1_table, wl1_classify)};
static const gpc_table_t fifo = {GPC_TABLE("L1.s_fifo", OVER_ENTRIES, FIFO, fifo_table, fifo_classify)};

/* ---- the controller ---------------------------------------------------------------------------------------------- */

static void
quarter_of_l1(const gpc_machine_t *machine, const int64_t *options, uint32_t *sets, uint32_t *ways)
{
    (void) options;
    *ways = 8;
    *sets = machine->l1_bytes / 4 / machine->line_bytes / *ways;
}

static uint32_t
fifo_entries(const gpc_machine_t *machine, const int64_t *options)
{
    (void) machine;
    (void) options;
    return 64;
}

static uint8_t
route(const gpc_controller_t *unit, const gpc_msg_t *msg)
{
    (void) unit;
    return msg->type == GPC_MSG_TIMER ? TABLE_FIFO : TABLE_READ;
}

static const gpc_controller_type_t qr_l1 = {
    .name = "L1",
    .position = GPC_AT_CORE,
    .tables = {&rl1, &wl1, &fifo},
    .arrays = {{.name = "rL1", .line = rl1_line_described, .has_data = true},
               {.name = "wL1", .line = wl1_line_described, .geometry = quarter_of_l1, .has_data = true}},
    .parts = {{.name = "S-FIFO1", .entry = fifo_entry_described, .capacity = fifo_entries, .ordered = true}},
    .object_of = {READ_CACHE, WRITE_CACHE, PART_FIFO},
    .mshr = rl1_mshr_described,
    .unit = qr_unit_described,
    .warp = qr_warp_described,
    .route = route,
};

/* ---- memory order ------------------------------------------------------------------------------------------------ */

/* The first call enters the marker; its answer arrives after the Invs of all blocks before it. */
static int
release_waits_for_marker(gpc_controller_t *unit, uint16_t warp, uint8_t scope, gpc_cycle_t *until)
{
    const qr_warp_t *fields =
        (const qr_warp_t *) (const void *) (unit->warp_fields + (size_t) warp * unit->warp_fields_size);
    (void) scope;
    *until = GPC_NEVER; /* wake_warp ends the wait */
    return fields->sent == fields->answered ? GPC_OK : GPC_HOLD;
}

const gpc_protocol_t prototype_quickrelease = {
    .id = "qr",
    .name = "QuickRelease",
    .family = "quickrelease",
    .model = {[GPC_RULE_RC] = "RCc"},
    .standard_rule = GPC_RULE_RC,
    .controllers = {&qr_l1},
    GPC_MESSAGES_OF(QR),
    .message = qr_message_described,
    .networks = {{.name = "up", .ordered = true, .requests = true}, {.name = "down", .ordered = true}},
    .order = {.release = release_waits_for_marker, .keeps_own = true},
    .options =
        {{.name = "sync_sc", .largest = 1, .choices = "off on", .text = "loads of acquires read at the L2"},
         {.name = "inv", .largest = 1, .choices = "fifo ack", .text = "how a release knows that its Invs are done"}},
};

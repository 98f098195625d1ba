/* qr_l1.c: qr's first level: rL1, wL1, S-FIFO1, and the order hooks.
 *
 * Paper    Hechtman et al., HPCA 2014, sections 3.1.1 to 3.1.3. A load that hits the rL1 with the written bit clear
 *          does not look into the wL1. Else the wL1 serves it if it has all its words; if not, the wL1's block goes up
 *          and the load follows it. A store completes in the wL1. Acquires do nothing.
 * Inferred a read that is outstanding when an Inv comes, when the wL1 gives up the block, or when an atomic passes,
 *          serves the loads that wait and is not kept; later loads wait for it. A release store, and a relaxed one,
 *          enters the S-FIFO together with a marker that nothing waits for. barrier() is a release, by the
 *          last wave of the block, without a marker if all that the CU has written is in memory; with barrier=local it
 *          is none. One marker a CU at a kernel's end, if it has written.
 */
#include "protocols/quickrelease/qr.h"

#define L1_STATES(X)                                                                                                   \
    X(L1_I, STABLE, "not present")                                                                                     \
    X(L1_V, STABLE, "present; the wL1 has no word of it")                                                              \
    X(L1_VW, STABLE, "present, written bit set: the wL1 has newer words")                                              \
    X(L1_P, TRANSIENT_CACHE, "read outstanding; loads that the wL1 has no word for join")                              \
    X(L1_PX, TRANSIENT_COHERENCE, "the same, but the block will not be kept")
#define L1_EVENTS(X)                                                                                                   \
    X(L1_LOAD, "load; the block is not in the wL1")                                                                    \
    X(L1_LOAD_NONE, "load; the block is in the wL1, none of the load's words")                                         \
    X(L1_LOAD_SOME, "load; some of its words are in the wL1")                                                          \
    X(L1_LOAD_COVERED, "load; all of its words are in the wL1")                                                        \
    X(L1_LOAD_SYNC, "load of order relaxed or stronger (sync_sc=on)")                                                  \
    X(L1_STORE, "store")                                                                                               \
    X(L1_ATOMIC, "atomic, performed at the directory")                                                                 \
    X(L1_GONE, "the wL1 has given the block up")                                                                       \
    X(L1_DATA, "block to read")                                                                                        \
    X(L1_DATA_WRITTEN, "block to read; the wL1 has newer words")                                                       \
    X(L1_INV, "Inv of the L2")                                                                                         \
    X(L1_EVICT, "way chosen for replacement")
GPC_FSM(L1, L1_STATES, L1_EVENTS)

static gpc_event_id_t
classify_load(const gpc_step_t *x)
{
    gpc_mask_t dirty = qr_dirty(x->unit, x->line);

    if (x->unit->options[QR_OPTION_SYNC_SC] && x->msg->order != GPC_ORDER_WEAK) {
        return L1_LOAD_SYNC;
    }
    if (dirty == GPC_NO_WORDS) {
        return L1_LOAD;
    }
    return !(x->mask & dirty) ? L1_LOAD_NONE : x->mask & ~dirty ? L1_LOAD_SOME : L1_LOAD_COVERED;
}

static gpc_event_id_t
l1_classify(const gpc_step_t *x)
{
    if (x->cause == GPC_MSG_LOAD) {
        return classify_load(x);
    }
    return x->cause == QR_DATA ? qr_dirty(x->unit, x->line) ? L1_DATA_WRITTEN : L1_DATA : GPC_NO_EVENT;
}

/* ---- loads ------------------------------------------------------------------------------------------------------- */

GPC_ACTION(act_hit_read, "complete the load from the rL1")
{
    bool old = qr_read_line(x)->filled != qr_unit(x->unit)->acquires;
    x->unit->own_counters[QR_COUNT_hits_across_acquires] += old;
    return gpc_act(act_hit, x);
}

GPC_ACTION(act_hit_written, "complete the load from the wL1")
{
    gpc_count(x, load_hits);
    gpc_count_own(x, QR_COUNT_hits_written);
    return gpc_complete_from(x, x->message, qr_written_words(x), QR_WRITES);
}

GPC_ACTION(act_enough_room, "hold while the path to the next level has no room")
{
    return qr_need_room(x);
}

GPC_ACTION(act_flush, "the wL1 gives the block up, to the L2")
{
    return qr_flush(x);
}

GPC_ACTION(act_flush_first, "hold without room; else the wL1 gives the block up, to the L2")
{
    GPC_TRY(qr_need_room(x));
    return qr_flush(x);
}

GPC_ACTION(act_read, "send READ, after the wL1's tag; the load is pending")
{
    gpc_msg_t *msg = gpc_new_message(x, QR_READ, gpc_home_of(x->unit, x->line));
    msg->mask = gpc_all_words(x->unit);
    gpc_count(x, load_misses);
    qr_mshr(x)->outstanding++;
    qr_read_line(x)->old = GPC_NO_WORDS;
    GPC_TRY(gpc_send_after(x, msg, QR_TAG));
    return gpc_keep_pending(x);
}

GPC_ACTION(act_serve_pending, "complete every pending load from the block")
{
    qr_mshr(x)->outstanding--;
    return gpc_complete_pending(x, x->msg->data);
}

GPC_ACTION(qr_act_fill, "fill the reserved way")
{
    qr_read_line(x)->filled = qr_unit(x->unit)->acquires;
    return gpc_act(act_fill, x);
}

/* ---- stores, atomics, Invs --------------------------------------------------------------------------------------- */

GPC_ACTION(act_store,
           "the wL1 takes the words, the S-FIFO the block, or hold; a synchronising store is followed by a marker")
{
    gpc_controller_t *unit = x->unit;
    bool pushed = x->msg->order != GPC_ORDER_WEAK;
    bool counted = pushed && unit->options[QR_OPTION_SYNC_SC];
    int status = qr_put(x, pushed);

    GPC_TRY(status);
    qr_unit(unit)->written = 1;
    if (pushed) {
        qr_warp(unit, x->msg->warp)->stores += counted ? unit->machine->partitions : 0;
        status = qr_push_marker(unit, &(qr_entry_t){.kind = counted ? QR_REL_STORE : QR_REL_NOACK,
                                                    .warp = x->msg->warp,
                                                    .core = unit->node,
                                                    .number = counted ? ++qr_unit(unit)->numbers : 0});
    }
    if (status == GPC_OK) {
        status = gpc_note_accepted(x);
    }
    GPC_TRY(status);
    return gpc_complete(x, x->message, NULL, true);
}

GPC_ACTION(act_atomic,
           "the wL1 gives the block up; send ATOMIC; an entry of the S-FIFO keeps the request until the answer")
{
    int status = qr_need_room(x);
    if (status == GPC_OK) {
        status = qr_need_places(x->unit, 1);
    }
    if (status == GPC_OK) {
        status = qr_flush(x);
    }
    GPC_TRY(status);
    qr_unit(x->unit)->written = 1;
    gpc_msg_t *msg = gpc_new_request(x, QR_ATOMIC);
    status = qr_push_atomic(x);
    GPC_TRY(status);
    return gpc_send(x, msg);
}

static int
acknowledge(gpc_step_t *x, bool had)
{
    GPC_TRY(qr_check_inv(x));
    x->unit->own_counters[QR_COUNT_invalidations_hit] += had;
    x->unit->statistics->invalidations += had;
    if (x->unit->options[QR_OPTION_INV] != QR_BY_ACK) {
        return GPC_OK;
    }
    gpc_msg_t *msg = gpc_new_message(x, QR_INV_ACK, x->msg->source);
    msg->request = GPC_NONE;
    *qr_message(msg) = *qr_message(x->msg);
    return gpc_send(x, msg);
}

GPC_ACTION(act_drop, "the copy is dropped; with inv=ack, send INV_ACK")
{
    return acknowledge(x, true);
}

GPC_ACTION(act_nothing_to_drop, "with inv=ack, send INV_ACK")
{
    return acknowledge(x, false);
}

/* clang-format off */
static const gpc_cell_t l1_table[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_I] = {
        [L1_LOAD] = GO(L1_P, act_reserve_way, act_read),
        [L1_LOAD_NONE] = GO(L1_P, act_reserve_way, act_flush, act_read),
        [L1_LOAD_SOME] = GO(L1_P, act_reserve_way, act_flush, act_read),
        [L1_LOAD_COVERED] = GO(L1_I, act_hit_written),
        [L1_LOAD_SYNC] = GO(L1_P, act_reserve_way, act_flush, act_read),
        [L1_STORE] = GO(L1_I, act_store), /* stores do not fill the rL1 */
        [L1_ATOMIC] = GO(L1_I, act_atomic),
        [L1_GONE] = GO(L1_I),
        [L1_INV] = GO(L1_I, act_nothing_to_drop),
    },
    [L1_V] = {
        [L1_LOAD] = GO(L1_V, act_hit_read),
        [L1_LOAD_SYNC] = GO(L1_P, act_enough_room, act_read),
        [L1_STORE] = GO(L1_VW, act_store),
        [L1_ATOMIC] = GO(L1_I, act_atomic),
        [L1_INV] = GO(L1_I, act_drop),
        [L1_EVICT] = GO(L1_I),
    },
    [L1_VW] = {
        [L1_LOAD_NONE] = GO(L1_P, act_flush_first, act_read), /* the way is the read's */
        [L1_LOAD_SOME] = GO(L1_P, act_flush_first, act_read),
        [L1_LOAD_COVERED] = GO(L1_VW, act_hit_written),
        [L1_LOAD_SYNC] = GO(L1_P, act_flush_first, act_read),
        [L1_STORE] = GO(L1_VW, act_store),
        [L1_ATOMIC] = GO(L1_I, act_atomic),
        [L1_GONE] = GO(L1_I),
        [L1_INV] = GO(L1_I, act_drop), /* the wL1's words stay */
        [L1_EVICT] = GO(L1_I),
    },
    [L1_P] = {
        [L1_LOAD] = GO(L1_P, act_merge),
        [L1_LOAD_NONE] = GO(L1_P, act_merge),
        [L1_LOAD_SOME] = HOLD_LINE,
        [L1_LOAD_COVERED] = GO(L1_P, act_hit_written),
        [L1_LOAD_SYNC] = HOLD_LINE, /* it must not read what the L2 had before */
        [L1_STORE] = GO(L1_P, act_store),
        [L1_ATOMIC] = GO(L1_PX, act_atomic, act_release_way),
        [L1_GONE] = GO(L1_PX, act_release_way), /* the block on its way has not got those words */
        [L1_DATA] = GO(L1_V, qr_act_fill, act_serve_pending),
        [L1_DATA_WRITTEN] = GO(L1_VW, qr_act_fill, act_serve_pending),
        [L1_INV] = GO(L1_PX, act_drop, act_release_way),
        [L1_EVICT] = NOT_A_VICTIM, /* the way is reserved for the block */
    },
    [L1_PX] = { /* no way: never a victim */
        [L1_LOAD] = HOLD_LINE,
        [L1_LOAD_NONE] = HOLD_LINE,
        [L1_LOAD_SOME] = HOLD_LINE,
        [L1_LOAD_COVERED] = GO(L1_PX, act_hit_written),
        [L1_LOAD_SYNC] = HOLD_LINE,
        [L1_STORE] = GO(L1_PX, act_store),
        [L1_ATOMIC] = GO(L1_PX, act_atomic),
        [L1_GONE] = GO(L1_PX),
        [L1_DATA] = GO(L1_I, act_serve_pending),
        [L1_DATA_WRITTEN] = GO(L1_I, act_serve_pending),
        [L1_INV] = GO(L1_PX, act_nothing_to_drop),
    },
};
/* clang-format on */

static const gpc_table_t l1 = {
    GPC_TABLE("L1", OVER_LINES, L1, l1_table, l1_classify),
    .causes = {ON_SAME(GPC_MSG, L1, STORE, ATOMIC, EVICT), ON(QR_GONE, L1_GONE), ON(QR_INV, L1_INV)}};

/* ---- markers ----------------------------------------------------------------------------------------------------- */

#define U_STATES(X) X(U_ON, STABLE, "always on")
#define U_EVENTS(X)                                                                                                    \
    X(U_RELEASE, "release of a warp")                                                                                  \
    X(U_RELEASED, "answer to a marker")                                                                                \
    X(U_END, "the core's last warp has ended")                                                                         \
    X(U_END_CLEAN, "the same; nothing was written since the last marker")
GPC_FSM(U, U_STATES, U_EVENTS)

static gpc_event_id_t
u_classify(const gpc_step_t *x)
{
    bool clean = !qr_unit(x->unit)->written && !qr_unit(x->unit)->ending;
    return x->cause == GPC_MSG_KERNEL_END ? clean ? U_END_CLEAN : U_END : GPC_NO_EVENT;
}

/* Puts a marker into the S-FIFO, which answers once for each bank; *left: 1 + the answers to come. GPC_OK when none is
 * left. */
static int
release_by(gpc_controller_t *unit, uint16_t warp, uint32_t *left)
{
    int status = GPC_OK;
    if (*left == 0) {
        *left = 1 + unit->machine->partitions;
        qr_unit(unit)->written = 0;
        status = qr_push_marker(
            unit, &(qr_entry_t){.kind = QR_REL, .warp = warp, .core = unit->node, .number = ++qr_unit(unit)->numbers});
    }
    if (status || *left > 1) {
        GPC_TRY(status);
        return GPC_HOLD;
    }
    *left = 0;
    return GPC_OK;
}

GPC_ACTION(act_release, "a marker into the S-FIFO; hold until it is answered")
{
    return release_by(x->unit, x->warp, &qr_warp(x->unit, x->warp)->releasing);
}

GPC_ACTION(act_end, "a marker of the core into the S-FIFO; hold until it is answered")
{
    return release_by(x->unit, QR_KERNEL, &qr_unit(x->unit)->ending);
}

GPC_ACTION(act_released, "one answer less; what waited for the last one goes on")
{
    gpc_controller_t *unit = x->unit;
    GPC_TRY(qr_check_answer(x));
    if (x->msg->warp == QR_KERNEL) {
        return --qr_unit(unit)->ending == 1 ? unit->ports->schedule(unit->world, unit) : GPC_OK;
    }
    qr_warp_t *warp = qr_warp(unit, x->msg->warp);
    bool last = qr_message(x->msg)->kind == QR_REL_STORE ? --warp->stores == 0 : --warp->releasing == 1;
    return last ? unit->ports->wake_warp(unit->world, unit, x->msg->warp, 0) : GPC_OK;
}

/* clang-format off */
static const gpc_cell_t u_table[U_NUM_STATES][U_NUM_EVENTS] = {
    [U_ON] = {
        [U_RELEASE] = GO(U_ON, act_release),
        [U_RELEASED] = GO(U_ON, act_released),
        [U_END] = GO(U_ON, act_end),
        [U_END_CLEAN] = GO(U_ON),
    },
};
/* clang-format on */

static const gpc_table_t unit_table = {GPC_TABLE("L1.markers", OVER_UNIT, U, u_table, u_classify),
                                       .causes = {ON(GPC_MSG_RELEASE, U_RELEASE), ON(QR_RELEASED, U_RELEASED)}};

int
qr_before(gpc_controller_t *l1_unit, uint16_t warp, const gpc_access_t *access, gpc_cycle_t *until)
{
    bool acquires = access->kind == GPC_ACCESS_LOAD && access->order != GPC_ORDER_WEAK;
    (void) until; /* wake_warp ends the wait */
    return acquires && qr_warp(l1_unit, warp)->stores ? GPC_HOLD : GPC_OK;
}

int
qr_release(gpc_controller_t *l1_unit, uint16_t warp, uint8_t scope, gpc_cycle_t *until)
{
    (void) until;
    return gpc_controller_order(l1_unit, QR_UNIT_TABLE, GPC_MSG_RELEASE, warp, scope);
}

/* Whether all that the CU has written is in memory: no store since a marker, and no marker without an answer. */
static bool
is_clean(const gpc_controller_t *unit)
{
    bool waits = qr_unit(unit)->ending > 1;
    for (uint16_t warp = 0; warp < unit->machine->warps_per_core && !waits; warp++) {
        waits = qr_warp(unit, warp)->releasing > 1;
    }
    return !qr_unit(unit)->written && !waits;
}

/* A barrier orders what its block has written, and no more: unlike a release it does not pass on what the block has
 * read of others. */
int
qr_barrier(gpc_controller_t *l1_unit, uint16_t warp, gpc_cycle_t *until)
{
    bool begun = qr_warp(l1_unit, warp)->releasing != 0;
    return !begun && is_clean(l1_unit) ? GPC_OK : qr_release(l1_unit, warp, GPC_SCOPE_CTA, until);
}

int
qr_acquire(gpc_controller_t *l1_unit, uint16_t warp, uint8_t scope)
{
    (void) warp, (void) scope;
    qr_unit(l1_unit)->acquires++;
    return GPC_OK;
}

/* ---- the type ---------------------------------------------------------------------------------------------------- */

static uint8_t
route(const gpc_controller_t *unit, const gpc_msg_t *msg)
{
    (void) unit;
    return msg->type == QR_OLD_VALUES ? QR_FIFO_TABLE : msg->type == QR_RELEASED ? QR_UNIT_TABLE : QR_READ_TABLE;
}

static void
write_geometry(const gpc_machine_t *machine, const int64_t *options, uint32_t *sets, uint32_t *ways)
{
    (void) options;
    qr_geometry(machine, machine->l1_bytes / 4, 8, sets, ways);
}

/* Table 1: a cycle for the rL1's tag, one for the wL1's, 4 for its data; a hit in the rL1 lacks one tag (section
 * 3.2). */
static uint32_t
second_tag(const gpc_machine_t *machine, const int64_t *options)
{
    (void) machine, (void) options;
    return QR_TAG;
}

/* Markers need no place: each warp has at most one, and the kernel's end one. */
static uint32_t
fifo_capacity(const gpc_machine_t *machine, const int64_t *options)
{
    return qr_fifo_entries(machine, options) + machine->warps_per_core + 1;
}

static uint32_t
read_lines(const gpc_machine_t *machine, const int64_t *options)
{
    (void) options;
    return machine->l1_bytes / machine->line_bytes;
}

/* A kernel's begin is an acquire. */
static void
launch(gpc_controller_t *unit, uint8_t cause)
{
    qr_unit(unit)->acquires += cause == GPC_MSG_KERNEL_BEGIN;
}

const gpc_controller_type_t qr_l1 = {
    .name = "L1",
    .position = GPC_AT_CORE,
    .tables = {&l1, &qr_write_tables[0], &qr_fifo_tables[0], &unit_table},
    .arrays = {{.name = "tags", .line = qr_read_line_described, .has_data = true},
               {.name = "wL1",
                .line = qr_write_line_described,
                .geometry = write_geometry,
                .has_data = true,
                .extra = second_tag}},
    .parts = {{.name = "S-FIFO1", .entry = qr_entry_described, .capacity = fifo_capacity, .ordered = true}},
    .object_of = {QR_READS, QR_WRITES, QR_PART, 0},
    .mshr = qr_mshr_described,
    .unit = qr_unit_described,
    .warp = qr_warp_described,
    .counters = QR_COUNT_info,
    .mshrs = read_lines,
    .route = route,
    .entry_of = qr_entry_of,
    .launch = launch,
    .ends = 1u << QR_UNIT_TABLE,
};

const gpc_watched_t qr_watched = {.promise = GPC_PROMISE_HELD,
                                  .readable = 1u << L1_V | 1u << L1_VW,
                                  .copies = 1u << L1_V | 1u << L1_VW | 1u << L1_P,
                                  .atomics_apart = true,
                                  .ends_in_memory = true};

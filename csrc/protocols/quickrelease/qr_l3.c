/* qr_l3.c: qr's memory side: the L3, wL3, S-FIFO3, and the null directory, where atomics are performed.
 *
 * Paper    Hechtman et al., HPCA 2014, sections 3.1.1, 3.1.3, 4.1: a marker that leaves S-FIFO3 is answered; the L3 is
 *          writeable in RFO only.
 * Inferred memory's queue, which keeps the order of a line, is where writes are ordered: a block leaves the S-FIFO into
 *          it, and the L3's copy, which is not writeable, goes, also where a read needs words of both. Atomics are
 *          performed on the L3's line, which stays. Words are always taken, also of a block that is being fetched: were
 *          they held, the marker behind them would pass. The block that comes answers the reads that waited with the
 *          words as fetched: they are older than any words that came since. It is not kept if words have left the wL3
 *          meanwhile. Reads and atomics that cannot join wait in the channel, and all behind them.
 */
#include "protocols/quickrelease/qr.h"

#define L3_STATES(X)                                                                                                   \
    X(L3_I, STABLE, "not present")                                                                                     \
    X(L3_V, STABLE, "present, equal to memory")                                                                        \
    X(L3_P, TRANSIENT_CACHE, "fetched from memory; reads join")                                                        \
    X(L3_PX, TRANSIENT_COHERENCE, "the same, but the block will not be kept")                                          \
    X(L3_A, TRANSIENT_CACHE, "fetched for an atomic")
#define L3_EVENTS(X)                                                                                                   \
    X(L3_READ_UP, "read; the block is not in the wL3")                                                                 \
    X(L3_READ_SOME, "read; some words are in the wL3")                                                                 \
    X(L3_READ_COVERED, "read; all words are in the wL3")                                                               \
    X(L3_BLOCK_UP, "words of a wL2")                                                                                   \
    X(L3_ATOMIC_UP, "atomic; the block is not in the wL3")                                                             \
    X(L3_ATOMIC_DIRTY, "atomic; some words are in the wL3")                                                            \
    X(L3_GONE, "the wL3 has given the block up")                                                                       \
    X(L3_FILL, "block from memory")                                                                                    \
    X(L3_EVICT, "way chosen for replacement")
GPC_FSM(L3, L3_STATES, L3_EVENTS)

static gpc_event_id_t
l3_classify(const gpc_step_t *x)
{
    gpc_mask_t dirty = qr_dirty(x->unit, x->line);
    if (x->cause == QR_ATOMIC_UP) {
        return dirty ? L3_ATOMIC_DIRTY : L3_ATOMIC_UP;
    }
    if (x->cause != QR_READ_UP) {
        return GPC_NO_EVENT;
    }
    return dirty == GPC_NO_WORDS ? L3_READ_UP : dirty == gpc_all_words(x->unit) ? L3_READ_COVERED : L3_READ_SOME;
}

GPC_ACTION(act_serve, "send DATA_DOWN from the L3")
{
    gpc_count_hit(x);
    return qr_answer(x, x->message, QR_DATA_DOWN, gpc_line_words(x));
}

GPC_ACTION(act_serve_written, "send DATA_DOWN from the wL3")
{
    return qr_answer_written(x, QR_DATA_DOWN);
}

GPC_ACTION(act_serve_both, "send DATA_DOWN: the L3's words, over them the wL3's; the copy goes")
{
    gpc_count_hit(x);
    gpc_merge_words(gpc_line_words(x), qr_written_words(x), qr_dirty(x->unit, x->line));
    return qr_answer(x, x->message, QR_DATA_DOWN, gpc_line_words(x));
}

GPC_ACTION(act_flush, "the wL3 gives the block up, to memory")
{
    return qr_flush(x);
}

GPC_ACTION(act_fetch, "fetch the block from memory, after the wL3's tag; the request is pending")
{
    gpc_count_miss(x);
    GPC_TRY(gpc_fetch_after(x, QR_TAG_ABOVE));
    return gpc_keep_pending(x);
}

GPC_ACTION(act_join, "the request is pending too")
{
    gpc_count(x, load_merges);
    return gpc_keep_pending(x);
}

GPC_ACTION(act_take, "the wL3 takes the words, or hold")
{
    return qr_put(x, 0);
}

/* On the copy, whose words memory has. */
static int
perform(gpc_step_t *x, gpc_index_t message)
{
    gpc_msg_t *msg = gpc_msg_at(x->unit->messages, message);
    gpc_mask_t written = gpc_rmw_perform(gpc_lane_list_at(x->unit->lane_lists, msg->lanes), gpc_line_words(x));
    int status = gpc_note_performed(x, message, 0);
    if (status == GPC_OK && written) {
        status = gpc_write_memory(x, written, gpc_line_words(x));
    }
    GPC_TRY(status);
    return gpc_send(x, gpc_new_answer(x, message, QR_OLD_VALUES_DOWN));
}

GPC_ACTION(act_perform, "perform the atomic, its words to memory; send OLD_VALUES_DOWN")
{
    return perform(x, x->message);
}

GPC_ACTION(act_perform_pending, "perform the pending atomic, its words to memory; send OLD_VALUES_DOWN")
{
    gpc_index_t message = gpc_pop_pending(x);
    int status = perform(x, message);
    gpc_free_message(x->unit, message);
    return status;
}

GPC_ACTION(act_serve_pending, "send DATA_DOWN to the pending reads")
{
    int status = GPC_OK;
    gpc_index_t request;
    while (status == GPC_OK && (request = gpc_pop_pending(x)) != GPC_NONE) {
        status = qr_answer(x, request, QR_DATA_DOWN, x->msg->data);
        gpc_free_message(x->unit, request);
    }
    return status;
}

/* clang-format off */
static const gpc_cell_t l3_table[L3_NUM_STATES][L3_NUM_EVENTS] = {
    [L3_I] = {
        [L3_READ_UP] = GO(L3_P, act_reserve_way, act_fetch),
        [L3_READ_SOME] = GO(L3_P, act_reserve_way, act_flush, act_fetch),
        [L3_READ_COVERED] = GO(L3_I, act_serve_written),
        [L3_BLOCK_UP] = GO(L3_I, act_take),
        [L3_ATOMIC_UP] = GO(L3_A, act_reserve_way, act_fetch),
        [L3_ATOMIC_DIRTY] = GO(L3_A, act_reserve_way, act_flush, act_fetch),
        [L3_GONE] = GO(L3_I),
    },
    [L3_V] = {
        [L3_READ_UP] = GO(L3_V, act_serve),
        [L3_READ_SOME] = GO(L3_I, act_serve_both, act_flush),
        [L3_READ_COVERED] = GO(L3_V, act_serve_written),
        [L3_BLOCK_UP] = GO(L3_V, act_take),
        [L3_ATOMIC_UP] = GO(L3_V, act_perform),
        [L3_ATOMIC_DIRTY] = GO(L3_A, act_flush, act_fetch),
        [L3_GONE] = GO(L3_I), /* not writeable */
        [L3_EVICT] = GO(L3_I),
    },
    [L3_P] = {
        [L3_READ_UP] = GO(L3_P, act_join),
        [L3_READ_SOME] = HOLD_QUEUE,
        [L3_READ_COVERED] = GO(L3_P, act_serve_written),
        [L3_BLOCK_UP] = GO(L3_P, act_take),
        [L3_ATOMIC_UP] = HOLD_QUEUE,
        [L3_ATOMIC_DIRTY] = HOLD_QUEUE,
        [L3_GONE] = GO(L3_PX, act_release_way),
        [L3_FILL] = GO(L3_V, act_fill, act_serve_pending),
        [L3_EVICT] = NOT_A_VICTIM, /* the way is reserved for the block */
    },
    [L3_PX] = { /* no way: never a victim */
        [L3_READ_UP] = HOLD_QUEUE,
        [L3_READ_SOME] = HOLD_QUEUE,
        [L3_READ_COVERED] = GO(L3_PX, act_serve_written),
        [L3_BLOCK_UP] = GO(L3_PX, act_take),
        [L3_ATOMIC_UP] = HOLD_QUEUE,
        [L3_ATOMIC_DIRTY] = HOLD_QUEUE,
        [L3_GONE] = GO(L3_PX),
        [L3_FILL] = GO(L3_I, act_serve_pending),
    },
    [L3_A] = { /* the wL3 keeps the block meanwhile */
        [L3_READ_UP] = HOLD_QUEUE,
        [L3_READ_SOME] = HOLD_QUEUE,
        [L3_READ_COVERED] = GO(L3_A, act_serve_written),
        [L3_BLOCK_UP] = GO(L3_A, act_take),
        [L3_ATOMIC_UP] = HOLD_QUEUE,
        [L3_ATOMIC_DIRTY] = HOLD_QUEUE,
        [L3_FILL] = GO(L3_V, act_fill, act_perform_pending),
        [L3_EVICT] = NOT_A_VICTIM,
    },
};
/* clang-format on */

static const gpc_table_t l3 = {
    GPC_TABLE("L3", OVER_LINES, L3, l3_table, l3_classify),
    .causes = {ON(QR_BLOCK_UP, L3_BLOCK_UP), ON(QR_GONE, L3_GONE), ON_SAME(GPC_MSG, L3, FILL, EVICT)}};

#define U_STATES(X) X(U_ON, STABLE, "always on")
#define U_EVENTS(X) X(U_MARKER_UP, "marker of a core, from the L2")
GPC_FSM(U, U_STATES, U_EVENTS)

GPC_ACTION(act_take_marker, "the marker enters the S-FIFO, or hold")
{
    return qr_take_marker(x);
}

/* clang-format off */
static const gpc_cell_t u_table[U_NUM_STATES][U_NUM_EVENTS] = {
    [U_ON] = {
        [U_MARKER_UP] = GO(U_ON, act_take_marker),
    },
};
/* clang-format on */

static const gpc_table_t unit_table = {GPC_TABLE("L3.markers", OVER_UNIT, U, u_table, NULL),
                                       .causes = {ON_SAME(QR, U, MARKER_UP)}};

static uint8_t
route(const gpc_controller_t *unit, const gpc_msg_t *msg)
{
    (void) unit;
    return msg->type == QR_MARKER_UP ? QR_UNIT_TABLE : QR_READ_TABLE;
}

/* Twice the second level's. */
static void
write_geometry(const gpc_machine_t *machine, const int64_t *options, uint32_t *sets, uint32_t *ways)
{
    (void) options;
    qr_geometry(machine, (uint64_t) machine->l2_bytes * l3_banks(machine) / 8, 16, sets, ways);
}

static uint32_t
fifo_capacity(const gpc_machine_t *machine, const int64_t *options)
{
    return 4 * qr_fifo_entries(machine, options);
}

const gpc_controller_type_t qr_l3 = {
    .name = "L3",
    .position = GPC_AT_MEMORY,
    .tables = {&l3, &qr_write_tables[2], &qr_fifo_tables[2], &unit_table},
    .arrays = {{.name = "tags", .line = qr_read_line_described, .geometry = l3_geometry, .has_data = true},
               {.name = "wL3", .line = qr_write_line_described, .geometry = write_geometry, .has_data = true}},
    .parts = {{.name = "S-FIFO3", .entry = qr_entry_described, .capacity = fifo_capacity, .ordered = true}},
    .object_of = {QR_READS, QR_WRITES, QR_PART, 0},
    .mshr = qr_mshr_described,
    .unit = qr_unit_described,
    .counters = QR_COUNT_info,
    .mshrs = l3_mshrs,
    .route = route,
    .entry_of = qr_entry_of,
};

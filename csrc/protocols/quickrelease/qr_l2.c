/* qr_l2.c: qr's second level: rL2, wL2, S-FIFO2.
 *
 * Paper    Hechtman et al., HPCA 2014, section 3.1: as the first level; the rL1s learn of each block that the wL2 gives
 *          up, by a broadcast that is not acknowledged.
 * Inferred the Inv takes the channel of data and of the markers' answers, so that a CU has had it before it can know of
 *          the release. Where there are several banks, whose channels have no order, Invs are acknowledged and markers
 *          wait for that (inv=ack). An rL1 asks for whole blocks: only a block all of whose words are dirty is served
 *          by the wL2. An outstanding read serves the requests that came before the wL2 gave up the block or an atomic
 *          passed, and is then not kept; later ones read on their own.
 */
#include "protocols/quickrelease/qr.h"

#define L2_STATES(X)                                                                                                   \
    X(L2_I, STABLE, "not present")                                                                                     \
    X(L2_V, STABLE, "present; the wL2 has no word of it")                                                              \
    X(L2_VW, STABLE, "present; the wL2 has newer words")                                                               \
    X(L2_P, TRANSIENT_CACHE, "read outstanding; requests join")                                                        \
    X(L2_PX, TRANSIENT_COHERENCE, "reads outstanding, nothing will be kept; requests read on their own")
#define L2_EVENTS(X)                                                                                                   \
    X(L2_READ, "read; the block is not in the wL2")                                                                    \
    X(L2_READ_SOME, "read; some words are in the wL2")                                                                 \
    X(L2_READ_COVERED, "read; all words are in the wL2")                                                               \
    X(L2_BLOCK, "words of a wL1")                                                                                      \
    X(L2_ATOMIC, "atomic for the directory")                                                                           \
    X(L2_GONE, "the wL2 has given the block up")                                                                       \
    X(L2_DATA, "block; others to come")                                                                                \
    X(L2_LAST_DATA, "block; none other to come")                                                                       \
    X(L2_LAST_DATA_WRITTEN, "the same; the wL2 has newer words")                                                       \
    X(L2_EVICT, "way chosen for replacement")
GPC_FSM(L2, L2_STATES, L2_EVENTS)

static gpc_event_id_t
l2_classify(const gpc_step_t *x)
{
    gpc_mask_t dirty = qr_dirty(x->unit, x->line);

    if (x->cause == QR_READ) {
        return dirty == GPC_NO_WORDS ? L2_READ : dirty == gpc_all_words(x->unit) ? L2_READ_COVERED : L2_READ_SOME;
    }
    if (x->cause == QR_DATA_DOWN && x->mshr != GPC_NONE) {
        return qr_mshr(x)->outstanding > 1 ? L2_DATA : dirty ? L2_LAST_DATA_WRITTEN : L2_LAST_DATA;
    }
    return GPC_NO_EVENT;
}

GPC_ACTION(act_serve, "send DATA from the rL2")
{
    gpc_count(x, load_hits);
    return qr_answer(x, x->message, QR_DATA, gpc_line_words(x));
}

GPC_ACTION(act_serve_written, "send DATA from the wL2")
{
    return qr_answer_written(x, QR_DATA);
}

GPC_ACTION(act_flush, "the wL2 gives the block up: BLOCK_UP, and Inv to every L1")
{
    return qr_flush(x);
}

static int
read_up(gpc_step_t *x, bool apart)
{
    gpc_msg_t *msg = gpc_new_message(x, QR_READ_UP, gpc_memory_of(x->unit, x->line));
    msg->mask = gpc_all_words(x->unit);
    qr_message(msg)->apart = apart;
    gpc_count(x, load_misses);
    qr_mshr(x)->outstanding++;
    qr_mshr(x)->joined += !apart;
    GPC_TRY(gpc_send_after(x, msg, QR_TAG_ABOVE));
    return gpc_keep_pending(x);
}

GPC_ACTION(act_read, "send READ_UP; the request is pending")
{
    qr_read_line(x)->old = GPC_NO_WORDS;
    return read_up(x, false);
}

GPC_ACTION(act_read_apart, "send READ_UP for this request alone; it is pending")
{
    return read_up(x, true);
}

GPC_ACTION(act_join, "the request is pending too")
{
    gpc_count(x, load_merges);
    qr_mshr(x)->joined++;
    return gpc_keep_pending(x);
}

GPC_ACTION(act_take, "the wL2 takes the words, or hold")
{
    GPC_TRY(qr_put(x, 0));
    return gpc_note_performed(x, x->message, 0);
}

GPC_ACTION(act_pass_atomic, "the wL2 gives the block up, or Inv to every L1; send ATOMIC_UP")
{
    /* one Inv is left to the S-FIFO: atomics that poll would keep its markers from it */
    int status = qr_may_invalidate(x->unit, QR_MOST_INVS - 1) ? qr_need_room(x) : GPC_HOLD;
    if (status == GPC_OK) {
        bool dirty = qr_dirty(x->unit, x->line) != GPC_NO_WORDS;
        qr_unit(x->unit)->given_up += !dirty;
        status = dirty ? qr_flush(x) : qr_invalidate(x);
    }
    GPC_TRY(status);
    gpc_msg_t *msg = gpc_new_message(x, QR_ATOMIC_UP, gpc_memory_of(x->unit, x->line));
    msg->mask = x->msg->mask;
    msg->lanes = x->msg->lanes;
    x->msg->lanes = GPC_NONE;
    return gpc_send(x, msg);
}

GPC_ACTION(act_serve_pending, "send DATA to the requests that this block answers")
{
    qr_mshr_t *mshr = qr_mshr(x);
    int status = GPC_OK;

    mshr->outstanding--;
    if (qr_message(x->msg)->apart) {
        gpc_index_t request = gpc_take_pending(x, x->msg->request);
        status = qr_answer(x, request, QR_DATA, x->msg->data);
        gpc_free_message(x->unit, request);
        return status;
    }
    for (; mshr->joined && status == GPC_OK; mshr->joined--) {
        gpc_index_t request = gpc_pop_pending(x);
        status = qr_answer(x, request, QR_DATA, x->msg->data);
        gpc_free_message(x->unit, request);
    }
    return status;
}

/* clang-format off */
static const gpc_cell_t l2_table[L2_NUM_STATES][L2_NUM_EVENTS] = {
    [L2_I] = {
        [L2_READ] = GO(L2_P, act_reserve_way, act_read),
        [L2_READ_SOME] = GO(L2_P, act_reserve_way, act_flush, act_read),
        [L2_READ_COVERED] = GO(L2_I, act_serve_written),
        [L2_BLOCK] = GO(L2_I, act_take),
        [L2_ATOMIC] = GO(L2_I, act_pass_atomic),
        [L2_GONE] = GO(L2_I),
    },
    [L2_V] = {
        [L2_READ] = GO(L2_V, act_serve),
        [L2_BLOCK] = GO(L2_VW, act_take),
        [L2_ATOMIC] = GO(L2_I, act_pass_atomic),
        [L2_EVICT] = GO(L2_I),
    },
    [L2_VW] = {
        [L2_READ_SOME] = GO(L2_P, act_flush, act_read), /* the way is the read's */
        [L2_READ_COVERED] = GO(L2_VW, act_serve_written),
        [L2_BLOCK] = GO(L2_VW, act_take),
        [L2_ATOMIC] = GO(L2_I, act_pass_atomic),
        [L2_GONE] = GO(L2_I),
        [L2_EVICT] = GO(L2_I),
    },
    [L2_P] = {
        [L2_READ] = GO(L2_P, act_join),
        [L2_READ_SOME] = GO(L2_PX, act_flush, act_read_apart, act_release_way),
        [L2_READ_COVERED] = GO(L2_P, act_serve_written),
        [L2_BLOCK] = GO(L2_P, act_take),
        [L2_ATOMIC] = GO(L2_PX, act_pass_atomic, act_release_way),
        [L2_GONE] = GO(L2_PX, act_release_way), /* the block on its way may lack those words */
        [L2_LAST_DATA] = GO(L2_V, act_serve_pending, act_fill),
        [L2_LAST_DATA_WRITTEN] = GO(L2_VW, act_serve_pending, act_fill),
        [L2_EVICT] = NOT_A_VICTIM, /* the way is reserved for the block */
    },
    [L2_PX] = { /* no way: never a victim */
        [L2_READ] = GO(L2_PX, act_read_apart),
        [L2_READ_SOME] = GO(L2_PX, act_flush, act_read_apart),
        [L2_READ_COVERED] = GO(L2_PX, act_serve_written),
        [L2_BLOCK] = GO(L2_PX, act_take),
        [L2_ATOMIC] = GO(L2_PX, act_pass_atomic),
        [L2_GONE] = GO(L2_PX),
        [L2_DATA] = GO(L2_PX, act_serve_pending),
        [L2_LAST_DATA] = GO(L2_I, act_serve_pending),
        [L2_LAST_DATA_WRITTEN] = GO(L2_I, act_serve_pending),
    },
};
/* clang-format on */

static const gpc_table_t l2 = {
    GPC_TABLE("L2", OVER_LINES, L2, l2_table, l2_classify),
    .causes = {ON_SAME(QR, L2, BLOCK, ATOMIC), ON(QR_GONE, L2_GONE), ON(GPC_MSG_EVICT, L2_EVICT)}};

/* ---- markers and answers ----------------------------------------------------------------------------------------- */

#define U_STATES(X) X(U_ON, STABLE, "always on")
#define U_EVENTS(X)                                                                                                    \
    X(U_MARKER, "marker of a core")                                                                                    \
    X(U_INV_ACK, "Inv acknowledged")                                                                                   \
    X(U_LAST_INV_ACK, "the last Inv acknowledged that the first marker waits for")                                     \
    X(U_RELEASED_DOWN, "answer to a marker")                                                                           \
    X(U_OLD_VALUES_DOWN, "old values of atomics")
GPC_FSM(U, U_STATES, U_EVENTS)

static gpc_event_id_t
u_classify(const gpc_step_t *x)
{
    bool older = qr_message(x->msg)->round != qr_unit(x->unit)->round;
    if (x->cause != QR_INV_ACK) {
        return GPC_NO_EVENT;
    }
    return older && qr_unit(x->unit)->older == 1 ? U_LAST_INV_ACK : U_INV_ACK;
}

GPC_ACTION(act_take_marker, "the marker enters the S-FIFO, or hold")
{
    return qr_take_marker(x);
}

GPC_ACTION(act_count_ack, "one acknowledgement less is to come")
{
    qr_unit_t *fields = qr_unit(x->unit);
    *(qr_message(x->msg)->round == fields->round ? &fields->younger : &fields->older) -= 1;
    return GPC_OK;
}

GPC_ACTION(act_marker_goes_on, "pop the first marker")
{
    return gpc_part_ready(qr_fifo(x->unit), gpc_part_first(qr_fifo(x->unit)));
}

GPC_ACTION(act_pass_down, "send the answer on to the core")
{
    bool atomic = x->cause == QR_OLD_VALUES_DOWN;
    gpc_msg_t *msg = gpc_new_message(x, atomic ? QR_OLD_VALUES : QR_RELEASED, x->msg->requester);
    *qr_message(msg) = *qr_message(x->msg);
    qr_message(msg)->invs = qr_unit(x->unit)->invs;
    msg->mask = x->msg->mask;
    msg->lanes = x->msg->lanes;
    x->msg->lanes = GPC_NONE;
    return gpc_send(x, msg);
}

/* clang-format off */
static const gpc_cell_t u_table[U_NUM_STATES][U_NUM_EVENTS] = {
    [U_ON] = {
        [U_MARKER] = GO(U_ON, act_take_marker),
        [U_INV_ACK] = GO(U_ON, act_count_ack),
        [U_LAST_INV_ACK] = GO(U_ON, act_count_ack, act_marker_goes_on),
        [U_RELEASED_DOWN] = GO(U_ON, act_pass_down),
        [U_OLD_VALUES_DOWN] = GO(U_ON, act_pass_down),
    },
};
/* clang-format on */

static const gpc_table_t unit_table = {GPC_TABLE("L2.markers", OVER_UNIT, U, u_table, u_classify),
                                       .causes = {ON_SAME(QR, U, MARKER, RELEASED_DOWN, OLD_VALUES_DOWN)}};

static uint8_t
route(const gpc_controller_t *unit, const gpc_msg_t *msg)
{
    (void) unit;
    switch (msg->type) {
        case QR_MARKER:
        case QR_INV_ACK:
        case QR_RELEASED_DOWN:
        case QR_OLD_VALUES_DOWN:
            return QR_UNIT_TABLE;
        default:
            return QR_READ_TABLE;
    }
}

static void
write_geometry(const gpc_machine_t *machine, const int64_t *options, uint32_t *sets, uint32_t *ways)
{
    (void) options;
    qr_geometry(machine, machine->l2_bytes / 16, 16, sets, ways);
}

static uint32_t
fifo_capacity(const gpc_machine_t *machine, const int64_t *options)
{
    return 2 * qr_fifo_entries(machine, options);
}

const gpc_controller_type_t qr_l2 = {
    .name = "L2",
    .position = GPC_AT_BANK,
    .tables = {&l2, &qr_write_tables[1], &qr_fifo_tables[1], &unit_table},
    .arrays = {{.name = "tags", .line = qr_read_line_described, .has_data = true},
               {.name = "wL2", .line = qr_write_line_described, .geometry = write_geometry, .has_data = true}},
    .parts = {{.name = "S-FIFO2", .entry = qr_entry_described, .capacity = fifo_capacity, .ordered = true}},
    .object_of = {QR_READS, QR_WRITES, QR_PART, 0},
    .mshr = qr_mshr_described,
    .unit = qr_unit_described,
    .counters = QR_COUNT_info,
    .route = route,
    .entry_of = qr_entry_of,
};

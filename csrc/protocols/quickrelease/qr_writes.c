/* qr_writes.c: qr's write caches and S-FIFOs, the same at all three levels.
 *
 * Paper    Hechtman et al., HPCA 2014, sections 3 and 3.1.1: a write enters the write cache and the tail of the S-FIFO,
 *          which lists a superset of the dirty blocks. The write cache gives up a block when it replaces it, or when
 *          its address leaves the S-FIFO, which happens when the S-FIFO is full or a marker is in it. A wL2 that gives
 *          up a block invalidates it in the rL2 and every rL1.
 * Inferred a store to a block that is there enqueues nothing. A block that leaves with a marker behind it is flushed at
 *          the next level too: a synchronisation event triggers the flush (section 1), and the levels empty at the same
 *          time. Acknowledged Invs (inv=ack) have two rounds: those that the first marker waits for, and younger ones.
 */
#include "protocols/quickrelease/qr.h"

#define W_STATES(X)                                                                                                    \
    X(W_I, STABLE, "not present")                                                                                      \
    X(W_D, STABLE, "present, with a mask of dirty words")
#define W_EVENTS(X)                                                                                                    \
    X(W_PUT, "words to take")                                                                                          \
    X(W_EVICT, "way chosen for replacement")                                                                           \
    X(W_EVICT_BUSY, "the same, while the directory performs an atomic on the block")                                   \
    X(W_POP, "its address leaves the S-FIFO")                                                                          \
    X(W_FLUSH, "a read of other words, or an atomic, needs it at the next level")
GPC_FSM(W, W_STATES, W_EVENTS)

#define F_STATES(X)                                                                                                    \
    X(F_FREE, STABLE, "no entry")                                                                                      \
    X(F_BLOCK, STABLE, "address of a block that may be in the write cache")                                            \
    X(F_MARKER, STABLE, "release marker")                                                                              \
    X(F_WAITING, TRANSIENT_COHERENCE, "release marker, first; older Invs are not acknowledged")                        \
    X(F_ATOMIC, TRANSIENT_COHERENCE, "atomic that the directory has not answered")
#define F_EVENTS(X)                                                                                                    \
    X(F_POP, "pop of a block that has left the write cache before")                                                 \
    X(F_POP_DIRTY, "pop of a block that is in the write cache")                                                        \
    X(F_POP_BUSY, "the same, while the directory performs an atomic on the block")                                     \
    X(F_POP_MARKER, "pop of a marker")                                                                              \
    X(F_POP_EARLY, "pop of a marker; Invs are not acknowledged")                                                \
    X(F_ANSWERED, "the atomic's old values")
GPC_FSM(F, F_STATES, F_EVENTS)

/* ---- small functions --------------------------------------------------------------------------------------------- */

gpc_mask_t
qr_dirty(const gpc_controller_t *unit, gpc_address_t line)
{
    gpc_index_t way = gpc_tags_find(&unit->arrays[QR_WRITES], line);
    return way == GPC_NONE ? GPC_NO_WORDS : qr_write_line_at(unit, QR_WRITES, way)->dirty;
}

const uint32_t *
qr_written_words(const gpc_step_t *x)
{
    return gpc_tags_words(&x->unit->arrays[QR_WRITES], gpc_way_in(x, QR_WRITES));
}

bool
qr_may_invalidate(const gpc_controller_t *unit, uint32_t invs)
{
    const qr_unit_t *fields = qr_unit(unit);
    return (uint64_t) fields->older + fields->younger < (uint64_t) invs * unit->machine->cores;
}

static bool
has_room(const gpc_controller_t *unit)
{
    const gpc_ports_t *ports = unit->ports;

    switch (qr_position(unit)) {
        case GPC_AT_CORE:
            return ports->room(unit->world, unit, QR_info[QR_BLOCK - GPC_MSG_OWN].network);
        case GPC_AT_BANK:
            return ports->room(unit->world, unit, QR_info[QR_BLOCK_UP - GPC_MSG_OWN].network) &&
                   ports->room(unit->world, unit, QR_info[QR_INV - GPC_MSG_OWN].network) &&
                   qr_may_invalidate(unit, QR_MOST_INVS);
        default:
            return ports->room(unit->world, unit, QR_info[QR_RELEASED_DOWN - GPC_MSG_OWN].network);
    }
}

int
qr_need_room(const gpc_step_t *x)
{
    return has_room(x->unit) ? GPC_OK : GPC_HOLD;
}

/* Whether the directory has fetched the block for an atomic: words must not reach memory before it is performed. */
static bool
is_busy(const gpc_controller_t *unit, gpc_address_t line)
{
    gpc_index_t mshr =
        qr_position(unit) == GPC_AT_MEMORY ? gpc_mshr_find_for(&unit->mshrs, line, QR_READ_TABLE) : GPC_NONE;
    return mshr != GPC_NONE &&
           gpc_msg_at(unit->messages, gpc_mshr_at(&unit->mshrs, mshr)->pending.head)->type == QR_ATOMIC_UP;
}

/* ---- the S-FIFO -------------------------------------------------------------------------------------------------- */

uint32_t
qr_fifo_entries(const gpc_machine_t *machine, const int64_t *options)
{
    (void) machine;
    return (uint32_t) options[QR_OPTION_FIFO];
}

static uint32_t
entries(const gpc_controller_t *unit)
{
    uint32_t first = (uint32_t) unit->options[QR_OPTION_FIFO];
    return qr_position(unit) == GPC_AT_CORE ? first : qr_position(unit) == GPC_AT_BANK ? 2 * first : 4 * first;
}

/* Full: the next write, or the request that is held, finds too few places. */
int
qr_ready_first(gpc_controller_t *unit, gpc_index_t leaving)
{
    gpc_part_t *fifo = qr_fifo(unit);
    gpc_index_t head = gpc_part_first(fifo);
    uint32_t count = fifo->order->count - (leaving != GPC_NONE);
    uint32_t wanted = qr_unit(unit)->wanted > 1 ? qr_unit(unit)->wanted : 1;

    head = head != GPC_NONE && head == leaving ? gpc_part_next(fifo, head) : head;
    if (head == GPC_NONE || fifo->states[head] == F_ATOMIC || fifo->states[head] == F_WAITING) {
        return GPC_OK;
    }
    bool pops = count + wanted > entries(unit) || qr_unit(unit)->flushes || unit->options[QR_OPTION_CLEAN];
    return pops ? gpc_part_ready(fifo, head) : GPC_OK;
}

int
qr_need_places(gpc_controller_t *unit, uint32_t places)
{
    if (qr_fifo(unit)->order->count + places <= entries(unit)) {
        qr_unit(unit)->wanted = 0;
        return GPC_OK;
    }
    unit->own_counters[QR_COUNT_full] += qr_unit(unit)->wanted == 0;
    qr_unit(unit)->wanted = (uint8_t) places;
    GPC_TRY(qr_ready_first(unit, GPC_NONE));
    return GPC_HOLD;
}

static int
push(gpc_controller_t *unit, gpc_address_t line, uint8_t state, gpc_index_t *entry)
{
    *entry = gpc_part_take(qr_fifo(unit), line);
    if (*entry == GPC_NONE) {
        return gpc_fail(unit->failure, GPC_ERROR_PROTOCOL, "%s %u: no place in the S-FIFO", unit->type->name,
                        unit->index);
    }
    qr_entry_t *fields = gpc_part_fields(qr_fifo(unit), *entry);
    gpc_list_clear(&fields->atomic);
    fields->place = ++qr_unit(unit)->places;
    qr_fifo(unit)->states[*entry] = state;
    return GPC_OK;
}

int
qr_push_marker(gpc_controller_t *unit, const qr_entry_t *marker)
{
    gpc_index_t entry;
    GPC_TRY(push(unit, 0, F_MARKER, &entry));
    qr_entry_t *fields = gpc_part_fields(qr_fifo(unit), entry);
    uint32_t place = fields->place;
    *fields = *marker;
    fields->place = place;
    gpc_list_clear(&fields->atomic);
    qr_unit(unit)->flushes++;
    return qr_ready_first(unit, GPC_NONE);
}

int
qr_take_marker(gpc_step_t *x)
{
    GPC_TRY(qr_need_places(x->unit, 1));
    return qr_push_marker(x->unit, &(qr_entry_t){.kind = (uint8_t) qr_message(x->msg)->kind,
                                                 .warp = x->msg->warp,
                                                 .core = x->msg->requester,
                                                 .from = x->msg->source,
                                                 .number = qr_message(x->msg)->number});
}

int
qr_push_atomic(gpc_step_t *x)
{
    gpc_index_t entry;
    int status = push(x->unit, x->line, F_ATOMIC, &entry);
    if (status == GPC_OK) {
        qr_entry_t *fields = gpc_part_fields(qr_fifo(x->unit), entry);
        gpc_list_push(&fields->atomic, x->unit->messages, x->message);
        x->kept = true;
    }
    return status;
}

gpc_index_t
qr_entry_of(const gpc_controller_t *unit, uint8_t part, const gpc_msg_t *msg)
{
    gpc_index_t entry = gpc_part_first(&unit->parts[part]);
    while (entry != GPC_NONE) {
        const qr_entry_t *fields = gpc_part_fields(&unit->parts[part], entry);
        if (fields->atomic.count && fields->atomic.head == msg->request) {
            return entry;
        }
        entry = gpc_part_next(&unit->parts[part], entry);
    }
    return GPC_NONE;
}

static gpc_event_id_t
f_classify(const gpc_step_t *x)
{
    if (x->cause == QR_OLD_VALUES) {
        return F_ANSWERED;
    }
    if (x->state == F_MARKER || x->state == F_WAITING) {
        bool early = qr_unit(x->unit)->older + qr_unit(x->unit)->younger != 0;
        return x->state == F_MARKER && early ? F_POP_EARLY : F_POP_MARKER;
    }
    if (qr_dirty(x->unit, x->line) == GPC_NO_WORDS) {
        return F_POP;
    }
    return is_busy(x->unit, x->line) ? F_POP_BUSY : F_POP_DIRTY;
}

GPC_ACTION(act_need_room, "hold while the path to the next level, or memory's queue, has no room")
{
    int status = qr_need_room(x);
    if (status == GPC_OK && qr_position(x->unit) == GPC_AT_MEMORY && x->state == F_BLOCK) {
        status = gpc_need_memory_room(x);
    }
    return status;
}

GPC_ACTION(act_pop_block, "the write cache gives the block up")
{
    return gpc_controller_line(x->unit, QR_WRITE_TABLE, QR_POP, x->line, gpc_all_words(x->unit), GPC_NONE);
}

GPC_ACTION(act_next, "pop the next entry")
{
    qr_unit(x->unit)->flushes -= x->state == F_BLOCK ? qr_entry(x, QR_PART)->kind : 0;
    return qr_ready_first(x->unit, x->entry);
}

static gpc_msg_t *
new_marker(gpc_step_t *x, uint8_t type, gpc_node_t to, const qr_entry_t *fields)
{
    gpc_msg_t *msg = gpc_new_message(x, type, to);
    msg->request = GPC_NONE;
    msg->requester = fields->core;
    msg->warp = fields->warp;
    msg->line = 0;
    qr_message(msg)->kind = fields->kind;
    qr_message(msg)->number = fields->number;
    return msg;
}

GPC_ACTION(act_pass_marker,
           "send the marker to the next level, from a core to every bank; from S-FIFO3 its answer, if anyone waits")
{
    gpc_controller_t *unit = x->unit;
    const qr_entry_t fields = *qr_entry(x, QR_PART);
    int status = GPC_OK;

    qr_unit(unit)->flushes--;
    qr_unit(unit)->left = fields.place;
    gpc_count_own(x, QR_COUNT_markers);
    if (qr_position(unit) == GPC_AT_BANK) {
        return gpc_send(x, new_marker(x, QR_MARKER_UP, gpc_memory_above(unit), &fields));
    }
    if (qr_position(unit) == GPC_AT_MEMORY) {
        bool answers = fields.kind != QR_REL_NOACK;
        qr_unit(unit)->answers += answers;
        return answers ? gpc_send_probed(x, new_marker(x, QR_RELEASED_DOWN, fields.from, &fields)) : GPC_OK;
    }
    for (uint32_t bank = 0; bank < unit->machine->partitions && status == GPC_OK; bank++) {
        gpc_node_t to = (gpc_node_t) (gpc_node_of(unit, GPC_AT_BANK) + bank);
        status = gpc_send(x, new_marker(x, QR_MARKER, to, &fields));
    }
    return status;
}

GPC_ACTION(act_wait_for_acks,
           "wait for the acknowledgements of all Invs that are sent; later ones are the next round's")
{
    qr_unit_t *fields = qr_unit(x->unit);
    fields->older = fields->younger;
    fields->younger = 0;
    fields->round ^= 1;
    return GPC_OK;
}

GPC_ACTION(act_complete_atomic, "complete the atomic")
{
    gpc_index_t request = gpc_list_pop(&qr_entry(x, QR_PART)->atomic, x->unit->messages);
    gpc_msg_t *waiting = gpc_msg_at(x->unit->messages, request);
    waiting->lanes = x->msg->lanes;
    x->msg->lanes = GPC_NONE;
    return gpc_complete(x, request, x->msg->data, false);
}

/* clang-format off */
static const gpc_cell_t f_table[F_NUM_STATES][F_NUM_EVENTS] = {
    [F_BLOCK] = {
        [F_POP] = GO(F_FREE, act_next),
        [F_POP_DIRTY] = GO(F_FREE, act_need_room, act_pop_block, act_next),
        [F_POP_BUSY] = HOLD_LINE,
    },
    [F_MARKER] = {
        [F_POP_MARKER] = GO(F_FREE, act_need_room, act_pass_marker, act_next),
        [F_POP_EARLY] = GO(F_WAITING, act_wait_for_acks),
    },
    [F_WAITING] = {
        [F_POP_MARKER] = GO(F_FREE, act_need_room, act_pass_marker, act_next),
    },
    [F_ATOMIC] = {
        [F_ANSWERED] = GO(F_FREE, act_complete_atomic, act_next),
    },
};
/* clang-format on */

/* the others have the same cells */
#define FIFO_TABLE(name) {GPC_TABLE(name, OVER_ENTRIES, F, f_table, f_classify)}
const gpc_table_t qr_fifo_tables[3] = {FIFO_TABLE("L1.S-FIFO"), FIFO_TABLE("L2.S-FIFO"), FIFO_TABLE("L3.S-FIFO")};

/* ---- the write cache --------------------------------------------------------------------------------------------- */

static gpc_event_id_t
w_classify(const gpc_step_t *x)
{
    return x->cause != GPC_MSG_EVICT ? GPC_NO_EVENT : is_busy(x->unit, x->line) ? W_EVICT_BUSY : W_EVICT;
}

int
qr_invalidate(gpc_step_t *x)
{
    gpc_controller_t *unit = x->unit;
    gpc_nodeset_t cores = {{0}};

    for (uint32_t core = 0; core < unit->machine->cores; core++) {
        gpc_nodeset_add(&cores, (gpc_node_t) core);
    }
    gpc_msg_t *msg = gpc_new_message(x, QR_INV, GPC_NO_NODE);
    msg->request = GPC_NONE;
    qr_message(msg)->round = qr_unit(unit)->round;
    qr_message(msg)->invs = ++qr_unit(unit)->invs;
    if (unit->options[QR_OPTION_INV] == QR_BY_ACK) {
        qr_unit(unit)->younger += unit->machine->cores;
    }
    unit->own_counters[QR_COUNT_invalidations_sent] += unit->machine->cores;
    return gpc_broadcast(x, msg, &cores);
}

static void
note_old_copy(gpc_controller_t *unit, gpc_address_t line, gpc_mask_t words)
{
    gpc_index_t copy = gpc_tags_find(&unit->arrays[QR_READS], line);
    if (copy != GPC_NONE) {
        qr_read_line_at(unit, QR_READS, copy)->old |= words;
    }
}

GPC_ACTION(act_give_up, "pass the block on: BLOCK to the L2; BLOCK_UP to the memory side; to memory")
{
    gpc_controller_t *unit = x->unit;
    gpc_mask_t dirty = qr_write_line(x)->dirty;

    gpc_count_own(x, QR_COUNT_blocks);
    if (qr_position(unit) == GPC_AT_MEMORY) {
        return gpc_write_memory(x, dirty, gpc_line_words(x));
    }
    note_old_copy(unit, x->line, dirty);
    bool at_core = qr_position(unit) == GPC_AT_CORE;
    gpc_node_t to = at_core ? gpc_home_of(unit, x->line) : gpc_memory_of(unit, x->line);
    gpc_msg_t *msg = gpc_new_message(x, at_core ? QR_BLOCK : QR_BLOCK_UP, to);
    gpc_carry(x, msg, dirty, gpc_line_words(x));
    msg->request = GPC_NONE;
    qr_message(msg)->kind = qr_unit(unit)->flushes != 0 && !unit->options[QR_OPTION_CLEAN];
    qr_unit(unit)->given_up++;
    return gpc_send(x, msg);
}

GPC_ACTION(act_invalidate, "at the L2: Inv to every L1")
{
    return qr_position(x->unit) == GPC_AT_BANK ? qr_invalidate(x) : GPC_OK;
}

GPC_ACTION(act_tell_reads, "the read cache's copy is not current")
{
    return gpc_controller_line(x->unit, QR_READ_TABLE, QR_GONE, x->line, gpc_all_words(x->unit), GPC_NONE);
}

GPC_ACTION(act_enter, "take a way, whose block is given up, and the S-FIFO's last place")
{
    gpc_index_t entry;
    int status = gpc_reserve_way(x);
    if (status == GPC_OK) {
        status = push(x->unit, x->line, F_BLOCK, &entry);
    }
    if (status == GPC_OK) {
        qr_entry_t *fields = gpc_part_fields(qr_fifo(x->unit), entry);
        fields->kind = x->msg->type != GPC_MSG_STORE && qr_message(x->msg)->kind;
        qr_unit(x->unit)->flushes += fields->kind;
        qr_write_line(x)->dirty = GPC_NO_WORDS;
        qr_write_line(x)->place = fields->place;
        status = qr_ready_first(x->unit, GPC_NONE);
    }
    return status;
}

GPC_ACTION(act_put, "take the words")
{
    qr_write_line(x)->dirty |= x->msg->mask;
    gpc_merge_words(gpc_line_words(x), x->msg->data, x->msg->mask);
    x->kept = true; /* the read table's step disposes of the message */
    return GPC_OK;
}

/* clang-format off */
static const gpc_cell_t w_table[W_NUM_STATES][W_NUM_EVENTS] = {
    [W_I] = {
        [W_PUT] = GO(W_D, act_enter, act_put),
    },
    [W_D] = {
        [W_PUT] = GO(W_D, act_put),
        [W_EVICT] = GO(W_I, act_give_up, act_invalidate, act_tell_reads),
        [W_EVICT_BUSY] = NOT_A_VICTIM,
        [W_POP] = GO(W_I, act_give_up, act_invalidate, act_tell_reads),
        [W_FLUSH] = GO(W_I, act_give_up, act_invalidate), /* the read table's own step knows */
    },
};
/* clang-format on */

/* the others have the same cells */
#define WRITE_TABLE(name)                                                                                              \
    {                                                                                                                  \
        GPC_TABLE(name, OVER_LINES, W, w_table, w_classify),                             \
        .causes = {ON(QR_PUT, W_PUT), ON(QR_POP, W_POP), ON(QR_FLUSH, W_FLUSH) }                                       \
    }
const gpc_table_t qr_write_tables[3] = {WRITE_TABLE("L1.write"), WRITE_TABLE("L2.write"), WRITE_TABLE("L3.write")};

int
qr_put(gpc_step_t *x, uint32_t markers)
{
    bool absent = qr_dirty(x->unit, x->line) == GPC_NO_WORDS;
    int status = qr_need_room(x); /* for the block that leaves */
    if (status == GPC_OK) {
        status = qr_need_places(x->unit, absent + markers);
    }
    GPC_TRY(status);
    return gpc_controller_line(x->unit, QR_WRITE_TABLE, QR_PUT, x->line, x->mask, x->message);
}

int
qr_flush(gpc_step_t *x)
{
    if (qr_dirty(x->unit, x->line) == GPC_NO_WORDS) {
        return GPC_OK;
    }
    gpc_count_own(x, QR_COUNT_flushed);
    return gpc_controller_line(x->unit, QR_WRITE_TABLE, QR_FLUSH, x->line, gpc_all_words(x->unit), GPC_NONE);
}

static int
answer(gpc_step_t *x, gpc_index_t request, uint8_t type, const uint32_t *words, uint32_t after)
{
    const gpc_msg_t *asked = gpc_msg_at(x->unit->messages, request);
    gpc_msg_t *msg = gpc_new_message(x, type, asked->source);
    msg->flags = asked->flags & GPC_MSG_FLAG_READ_ONLY;
    msg->requester = asked->requester;
    msg->request = asked->request;
    msg->warp = asked->warp;
    *qr_message(msg) = (qr_message_t){.apart = qr_message(asked)->apart};
    gpc_carry(x, msg, gpc_all_words(x->unit), words);
    return gpc_send_after(x, msg, after);
}

int
qr_answer(gpc_step_t *x, gpc_index_t request, uint8_t type, const uint32_t *words)
{
    return answer(x, request, type, words, 0);
}

int
qr_answer_written(gpc_step_t *x, uint8_t type)
{
    gpc_count(x, load_hits);
    gpc_count_own(x, QR_COUNT_hits_written);
    return answer(x, x->message, type, qr_written_words(x), QR_TAG_ABOVE);
}

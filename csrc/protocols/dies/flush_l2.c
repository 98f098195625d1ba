/* flush_l2.c: the L2 bank of FLUSH: MCM's, whose near lines take stores.
 *
 * Paper    Dalmia et al., MICRO 2024: the baseline of CPElide, in which the L2 of a chiplet caches and writes remote
 *          lines too, and is written back and dropped at every kernel boundary. The cells of M and W are those of its
 *          artifact's code (GPU_VIPER-TCC.sm): a store that misses keeps its words without the line (W); a read of
 *          others writes them back first; an atomic writes back, drops the line and is performed at the home; an
 *          invalidation drops what is not dirty.
 * Inferred within a kernel, where the artifact does nothing above the die: a release of a core writes the die's dirty
 *          words back (FLUSH), and is over when their homes have taken them; an acquire drops what is not dirty (DROP).
 *          Stores of order relaxed or stronger are performed at the home. A release waits for the words that were
 *          dirty, or on their way, when it came: flushes have rounds, and a release that comes during one has the next.
 *          The part "dirty" lists the lines with dirty words; a bank writes back one a cycle.
 * Differs  the artifact's L2 writes back and drops lines of its own die, too, since a memory-side L3 is their home. */
#include "controller/nodes.h"
#include "protocols/dies/mcm.h"

#define L2_EVENTS(X)                                                                                                   \
    MCM_L2_EVENTS(X)                                                                                                   \
    X(L2_NEAR_STORE, "weak store to another die's line")                                                               \
    X(L2_NEAR_COVERED, "weak load of another die's line, of which every word is dirty here")                           \
    X(L2_WRITE_BACK, "a release, or a kernel's end")                                                                   \
    X(L2_FORGET, "a core's acquire")
GPC_FSM(L2, FLUSH_L2_STATES, L2_EVENTS)
BASELINE_L2_EVENTS(BASELINE_SAME)

#define L2_LINE(FIELD)                                                                                                 \
    GPC_WRITER_LINE(FIELD)                                                                                             \
    FIELD(PLAIN, gpc_mask_t, words) /* dirty ones of a near line */
GPC_METADATA(l2, line, L2_LINE)
GPC_KEEPS_DIRTY(l2);
#define L2_UNIT(FIELD)                                                                                                 \
    FIELD(PLAIN, uint8_t, round)         /* of WORDS that the flush in progress does not wait for */                   \
    FIELD(PLAIN, uint32_t, younger)      /* of them, those not taken */                                                \
    FIELD(PLAIN, uint32_t, older)        /* likewise of those that it waits for */                                     \
    FIELD(PLAIN, uint32_t, asked)        /* lines to write back that it waits for */                                   \
    FIELD(PLAIN, uint32_t, served)       /* FLUSHes that it serves, the first ones; the others are for the next */     \
    FIELD(REQUEST, gpc_list_t, flushes)
GPC_METADATA(l2, unit, L2_UNIT)

enum { PART, TABLE_DIRTY = MCM_TABLE_UNIT + 1 };
/* Causes within the bank, about a line. */
enum { WRITE_BACK = GPC_MSG_RELEASE, FORGET = GPC_MSG_INSTANT };

/* ---- dirty lines ------------------------------------------------------------------------------------------------- */

#define D_STATES(X)                                                                                                    \
    X(D_FREE, STABLE, "no entry")                                                                                      \
    X(D_DIRTY, STABLE, "a near line with dirty words")                                                                 \
    X(D_ASKED, STABLE, "the same, which a flush writes back")
#define D_EVENTS(X)                                                                                                    \
    X(D_FLUSH, "a release, or a kernel's end")                                                                         \
    X(D_DRAIN, "ready entry served")
GPC_FSM(D, D_STATES, D_EVENTS)

static gpc_part_t *
dirty_lines(const gpc_controller_t *unit)
{
    return (gpc_part_t *) &unit->parts[PART];
}

GPC_ACTION(act_make_ready, "mark the entry ready to be written back")
{
    l2_unit(x->unit)->asked++;
    return gpc_part_ready(dirty_lines(x->unit), x->entry);
}

GPC_ACTION(act_need_room, "hold while the network has no room")
{
    uint8_t network = gpc_message_info(x->unit, FLUSH_WORDS)->network;
    return x->unit->ports->room(x->unit->world, x->unit, network) ? GPC_OK : GPC_HOLD;
}

GPC_ACTION(act_drain, "write the line's dirty words back")
{
    return gpc_controller_line(x->unit, MCM_TABLE_LINES, WRITE_BACK, x->line, gpc_all_words(x->unit), GPC_NONE);
}

/* clang-format off */
static const gpc_cell_t d_table[D_NUM_STATES][D_NUM_EVENTS] = {
    [D_DIRTY] = {
        [D_FLUSH] = GO(D_ASKED, act_make_ready),
    },
    [D_ASKED] = {
        [D_FLUSH] = GO(D_ASKED),
        [D_DRAIN] = GO(D_FREE, act_need_room, act_drain),
    },
};
/* clang-format on */

static const gpc_table_t dirty = {GPC_TABLE("L2.dirty", OVER_ENTRIES, D, d_table, NULL),
                                  .causes = {ON(GPC_MSG_RELEASE, D_FLUSH), ON(GPC_MSG_REPLAY, D_DRAIN)}};

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static gpc_event_id_t
l2_classify(const gpc_step_t *x)
{
    gpc_event_id_t event = x->cause == FLUSH_WORDS ? L2_GETX : mcm_l2_classify(x);
    if (x->cause == GPC_MSG_FILL && gpc_first_pending(x)->type == FLUSH_WORDS) {
        return L2_FILL_STORE;
    }
    bool takes = event == L2_NEAR_OTHER && x->unit->machine->l2_near;
    if (takes && x->cause == MCM_GETX && x->msg->order == GPC_ORDER_WEAK) {
        return L2_NEAR_STORE;
    }
    if (event == L2_NEAR_LOAD && x->state == L2_W) {
        bool covered = l2_line(x)->words == gpc_all_words(x->unit);
        return covered ? L2_NEAR_COVERED : mcm_may_wait(x) ? L2_NEAR_LOAD : L2_NEAR_OTHER;
    }
    return event;
}

GPC_ACTION(act_store, "write the words; send ACK to the core for its store, TAKEN to a near L2")
{
    if (gpc_writer_message(x)->type != FLUSH_WORDS) {
        return gpc_act(mcm_act_store, x);
    }
    uint32_t round = flush_message(gpc_writer_message(x))->round;
    (void) gpc_act(writer_act_write, x);
    gpc_msg_t *msg = gpc_new_writer_answer(x, FLUSH_TAKEN, 0);
    flush_message(msg)->round = round;
    return gpc_answer_writer(x, msg);
}

GPC_ACTION(act_take, "keep the store's words, dirty; send ACK")
{
    gpc_part_t *part = dirty_lines(x->unit);
    gpc_msg_t *ack = gpc_new_answer(x, x->message, MCM_ACK);
    if (!gpc_is_dirty(x)) {
        part->states[gpc_part_take(part, x->line)] = D_DIRTY;
    }
    l2_line(x)->words |= x->msg->mask;
    (void) gpc_act(writer_act_write, x);
    GPC_TRY(gpc_note_accepted(x));
    return gpc_send(x, ack);
}

GPC_ACTION(act_write_words_back, "send WORDS, the dirty ones, to the home")
{
    l2_unit_t *unit = l2_unit(x->unit);
    gpc_part_t *part = dirty_lines(x->unit);
    gpc_index_t entry = gpc_part_find(part, x->line);
    bool asked = part->states[entry] == D_ASKED;
    gpc_msg_t *msg = gpc_new_message(x, FLUSH_WORDS, gpc_home_of(x->unit, x->line));

    msg->requester = gpc_first_core_of(x->unit->nodes, gpc_die_of(x->unit->nodes, x->unit->node)); /* any of the die */
    msg->request = GPC_NONE; /* the stores are complete */
    msg->warp = 0;
    msg->order = msg->scope = 0;
    flush_message(msg)->round = asked ? !unit->round : unit->round;
    *(asked ? &unit->older : &unit->younger) += 1;
    unit->asked -= asked;
    gpc_carry(x, msg, l2_line(x)->words, gpc_line_words(x));
    l2_line(x)->words = GPC_NO_WORDS;
    l2_line(x)->dirty = 0;
    gpc_count(x, writebacks);
    if (x->cause != WRITE_BACK) { /* else its entry takes a step, and leaves */
        gpc_part_give(part, entry);
    }
    return gpc_send(x, msg);
}

/* clang-format off */
static const gpc_patch_t l2_patches[] = {
    {L2_V, L2_GETX, GO(L2_V, act_store), "a near L2 writes words back, too"},
    {L2_IM, L2_FILL_STORE, GO(L2_V, act_fill_line, act_store), NULL},
    {L2_I, L2_NEAR_STORE, GO(L2_W, act_reserve_way, act_take), "stores stay near until a release or a kernel's end"},
    {L2_N, L2_NEAR_STORE, GO(L2_M, act_take), NULL},
    {L2_M, L2_NEAR_STORE, GO(L2_M, act_take), NULL},
    {L2_W, L2_NEAR_STORE, GO(L2_W, act_take), NULL},
    {L2_NP, L2_NEAR_STORE, HOLD_LINE, "until the line comes, for which the home waits for nothing of this die"},
    {L2_NX, L2_NEAR_STORE, HOLD_LINE, NULL},
    {L2_M, L2_NEAR_LOAD, GO(L2_M, mcm_act_answer_line), "the die reads what it has stored"},
    {L2_W, L2_NEAR_COVERED, GO(L2_M, mcm_act_answer_line), NULL},
    {L2_W, L2_NEAR_LOAD, GO(L2_NP, act_write_words_back, mcm_act_near_get), "the line comes with the words"},
    {L2_M, L2_NEAR_OTHER, GO(L2_I, act_write_words_back, mcm_act_pass), "the home has the words before"},
    {L2_W, L2_NEAR_OTHER, GO(L2_I, act_write_words_back, mcm_act_pass), NULL},
    {L2_M, L2_EVICT_DIRTY, GO(L2_I, act_write_words_back), "a victim's words go home"},
    {L2_W, L2_EVICT_DIRTY, GO(L2_I, act_write_words_back), NULL},
    {L2_M, L2_WRITE_BACK, GO(L2_N, act_write_words_back), "a release leaves the copy"},
    {L2_W, L2_WRITE_BACK, GO(L2_I, act_write_words_back), NULL},
    {L2_V, L2_DROP, IMPOSSIBLE, "a flash passes lines of this die by"},
    {L2_M, L2_FORGET, GO(L2_W), "an acquire leaves dirty words"},
    {L2_W, L2_FORGET, GO(L2_W), NULL},
};
/* clang-format on */

static const gpc_table_t lines = {GPC_PATCHED_TABLE("L2", OVER_LINES, L2, "mcm", mcm_l2_lines, l2_patches, l2_classify),
                                  .causes = {ON(WRITE_BACK, L2_WRITE_BACK), ON(FORGET, L2_FORGET)}};

/* ---- boundaries: acquires and releases of the die's cores, ends of kernels --------------------------------------- */

#define U_STATES(X) X(U_ON, STABLE, "always on")
#define U_EVENTS(X)                                                                                                    \
    X(U_DROP, "an acquire of a core of the die")                                                                       \
    X(U_FLUSH, "a release of a core of the die")                                                                       \
    X(U_TAKEN, "a home has taken words")                                                                               \
    X(U_END, "a kernel ends; words are dirty or on their way")                                                         \
    X(U_END_CLEAN, "a kernel ends; the homes have all words")
GPC_FSM(U, U_STATES, U_EVENTS)

static gpc_event_id_t
u_classify(const gpc_step_t *x)
{
    const l2_unit_t *unit = l2_unit(x->unit);
    bool clean = dirty_lines(x->unit)->order->count == 0 && unit->older + unit->younger == 0;
    return x->cause == GPC_MSG_KERNEL_END ? clean ? U_END_CLEAN : U_END : GPC_NO_EVENT;
}

/* Every entry takes the cause about its line in the table: of lines, or of entries. */
static int
for_dirty_lines(gpc_controller_t *unit, uint8_t table, uint8_t cause)
{
    gpc_part_t *part = dirty_lines(unit);
    int status = GPC_OK;
    for (gpc_index_t i = gpc_part_first(part); i != GPC_NONE && status == GPC_OK; i = gpc_part_next(part, i)) {
        status = table == TABLE_DIRTY
                     ? gpc_controller_entry(unit, table, PART, i, cause, GPC_NONE)
                     : gpc_controller_line(unit, table, cause, gpc_part_line(part, i), gpc_all_words(unit), GPC_NONE);
    }
    return status;
}

static int
drop(gpc_step_t *x)
{
    GPC_TRY(for_dirty_lines(x->unit, MCM_TABLE_LINES, FORGET));
    return gpc_controller_flash(x->unit, MCM_TABLE_LINES, GPC_MSG_ACQUIRE, L2_DROP);
}

GPC_ACTION(act_drop_near, "drop what is not dirty of other dies' lines, send DROPPED")
{
    GPC_TRY(drop(x));
    return gpc_send(x, gpc_new_answer(x, x->message, MCM_DROPPED));
}

GPC_ACTION(act_drop_all, "drop every line of another die")
{
    return drop(x);
}

/* Answers flushes that are over, and begins the next one. */
static int
go_on(gpc_step_t *x)
{
    l2_unit_t *unit = l2_unit(x->unit);
    while (unit->asked + unit->older == 0 && unit->flushes.count) {
        for (; unit->served; unit->served--) {
            gpc_index_t flush = gpc_list_pop(&unit->flushes, x->unit->messages);
            GPC_TRY(gpc_send(x, gpc_new_answer(x, flush, FLUSH_FLUSHED)));
            gpc_free_message(x->unit, flush);
        }
        unit->served = unit->flushes.count;
        unit->round = !unit->round;
        unit->older = unit->younger;
        unit->younger = 0;
        GPC_TRY(unit->served ? for_dirty_lines(x->unit, TABLE_DIRTY, GPC_MSG_RELEASE) : GPC_OK);
    }
    return GPC_OK;
}

GPC_ACTION(act_flush, "write back every dirty line; FLUSHED when this and what was sent before is taken")
{
    gpc_list_push(&l2_unit(x->unit)->flushes, x->unit->messages, x->message);
    x->kept = true;
    return go_on(x);
}

GPC_ACTION(act_count_taken, "words less are on their way; flushes that are over are answered")
{
    l2_unit_t *unit = l2_unit(x->unit);
    *(flush_message(x->msg)->round == unit->round ? &unit->younger : &unit->older) -= 1;
    return go_on(x);
}

GPC_ACTION(act_end, "write back every dirty line")
{
    return for_dirty_lines(x->unit, TABLE_DIRTY, GPC_MSG_RELEASE);
}

/* clang-format off */
static const gpc_cell_t u_table[U_NUM_STATES][U_NUM_EVENTS] = {
    [U_ON] = {
        [U_DROP] = GO(U_ON, act_drop_near),
        [U_FLUSH] = GO(U_ON, act_flush),
        [U_TAKEN] = GO(U_ON, act_count_taken),
        [U_END] = HOLD_QUEUE_AFTER(act_end), /* until the homes have the words */
        [U_END_CLEAN] = GO(U_ON, act_drop_all),
    },
};
/* clang-format on */

static const gpc_table_t unit_table = {
    GPC_TABLE("L2.boundaries", OVER_UNIT, U, u_table, u_classify),
    .causes = {ON(MCM_DROP, U_DROP), ON(FLUSH_FLUSH, U_FLUSH), ON(FLUSH_TAKEN, U_TAKEN)}};

static uint8_t
route(const gpc_controller_t *unit, const gpc_msg_t *msg)
{
    bool of_unit = msg->type == MCM_DROP || msg->type == FLUSH_FLUSH || msg->type == FLUSH_TAKEN;
    (void) unit;
    return of_unit ? MCM_TABLE_UNIT : MCM_TABLE_LINES;
}

/* As many as the bank has lines. */
static uint32_t
capacity(const gpc_machine_t *machine, const int64_t *options)
{
    (void) options;
    return machine->l2_bytes / machine->line_bytes;
}

#define L2_TYPE                                                                                                        \
    .name = "L2", .position = GPC_AT_BANK,                                                                             \
    .arrays = {{.name = "tags", .line = l2_line_described, .has_data = true}}, .object_of = {0, 0, PART},              \
    .unit = l2_unit_described, .route = route, .ends = 1u << MCM_TABLE_UNIT
const gpc_controller_type_t flush_l2 = {L2_TYPE, .tables = {&lines, &unit_table, &dirty},
                                        .parts = {{.name = "dirty lines", .capacity = capacity}}};

/* ---- CPElide: a kernel's end leaves near lines as they are ------------------------------------------------------- */

gpc_mask_t
flush_dirty_words(const gpc_controller_t *bank, gpc_index_t way)
{
    return l2_line_at(bank, 0, way)->words;
}

GPC_ACTION(act_end_kernel, "note that dirty words are performed: the next launch must see them")
{
    gpc_part_t *part = dirty_lines(x->unit);
    for (gpc_index_t i = gpc_part_first(part); i != GPC_NONE; i = gpc_part_next(part, i)) {
        gpc_step_t of = *x;
        of.line = gpc_part_line(part, i);
        gpc_index_t way = gpc_tags_find(&x->unit->arrays[0], of.line);
        GPC_TRY(gpc_note_drained(&of, flush_dirty_words(x->unit, way), gpc_tags_words(&x->unit->arrays[0], way), 0));
    }
    return GPC_OK;
}

/* clang-format off */
static const gpc_patch_t elided_patches[] = {
    {U_ON, U_END, GO(U_ON, act_end_kernel), "the command processor decides before the next launch"},
    {U_ON, U_END_CLEAN, GO(U_ON), NULL},
};
/* clang-format on */

static const gpc_table_t elided_unit_table = {
    GPC_PATCHED_TABLE("L2.boundaries", OVER_UNIT, U, "flush", unit_table, elided_patches, u_classify)};

const gpc_controller_type_t cpelide_l2 = {L2_TYPE, .tables = {&lines, &elided_unit_table, &dirty},
                                          .parts = {{.name = "dirty lines", .capacity = capacity, .may_rest = true}}};

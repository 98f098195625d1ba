/* fsm_words.c: one step of a table over words, once per cell, and whether a table accepts a victim. */
#include "controller/controller.h"

static void
look_at(gpc_step_t *x, gpc_mask_t words)
{
    x->word = (uint8_t) __builtin_ctz(words);
    x->mask = UINT32_C(1) << x->word;
}

/* x->word and words that have its event if they have its state. */
static gpc_mask_t
alike(const gpc_step_t *x)
{
    const gpc_table_t *table = x->table;
    bool one_event = table->causes[x->cause] && table->expiry.states == 0;
    return one_event ? UINT32_MAX : table->alike ? table->alike(x) : x->mask;
}

/* Restricts x to the words with the same state and event as the first. */
static gpc_event_id_t
next_cell(gpc_step_t *x, gpc_mask_t words)
{
    look_at(x, words);
    x->state = gpc_fsm_state(x);
    gpc_event_id_t event = gpc_fsm_event(x);
    gpc_mask_t others = words & gpc_fsm_words_in(x, x->state), same = others & alike(x);

    for (others &= ~same; others;) {
        look_at(x, others);
        gpc_mask_t these = others & alike(x);
        same |= gpc_fsm_event(x) == event ? these : GPC_NO_WORDS;
        others &= ~these;
    }
    x->word = (uint8_t) __builtin_ctz(same);
    x->mask = same;
    return event;
}

/* Whether the cell accepts its words as victims; an absent word has no cell. */
static bool
lets_go(const gpc_step_t *x, gpc_event_id_t event)
{
    if (gpc_is_pre_event(event)) {
        return true; /* a pre-event comes first, and frees the word */
    }
    if (event >= x->table->num_events) {
        return false;
    }
    uint8_t kind = gpc_fsm_plan(x->table, x->state, event)->kind;
    return kind == GPC_CELL_GO || kind == GPC_CELL_REDO ||
           (x->table->object == GPC_OVER_WORDS && kind == GPC_CELL_IMPOSSIBLE && x->state == x->table->initial);
}

bool
gpc_fsm_lets_go(const gpc_step_t *victim)
{
    gpc_step_t x = *victim;

    if (x.table->object != GPC_OVER_WORDS) {
        x.state = gpc_fsm_state(&x);
        return lets_go(&x, gpc_fsm_event(&x));
    }
    for (gpc_mask_t left = victim->mask; left; left &= ~x.mask) {
        if (!lets_go(&x, next_cell(&x, left))) {
            return false;
        }
    }
    return true;
}

/* All or none: checks every word before the first one moves. */
static int
evict_words(gpc_step_t *x)
{
    gpc_mask_t left = x->mask;

    if (!gpc_fsm_lets_go(x)) {
        return GPC_UNFIT_VICTIM;
    }
    for (; left && x->way != GPC_NONE; left &= ~x->mask) {
        gpc_event_id_t event = next_cell(x, left);
        bool is_there = gpc_is_pre_event(event) || gpc_fsm_plan(x->table, x->state, event)->kind != GPC_CELL_IMPOSSIBLE;
        gpc_mask_t same = x->mask;
        GPC_TRY(is_there ? gpc_fsm_step_one(x) : GPC_OK);
        x->mask = same;
    }
    return GPC_OK;
}

/* Splits the words of this cell into their own message, which can wait or be kept separately. */
static int
step_part(gpc_step_t *x)
{
    gpc_index_t message = gpc_split_message(x->unit, x->message, x->mask);
    if (message == GPC_NONE) {
        return GPC_ERROR_CAPACITY;
    }
    gpc_step_t part = *x;
    part.message = message;
    part.msg = gpc_msg_at(x->unit->messages, message);
    int status = gpc_fsm_step_one(&part);
    x->way = part.way;
    x->mshr = part.mshr;
    return gpc_step_finish_part(&part, status);
}

/* A message that is not split. */
static int
take_whole(gpc_step_t *x)
{
    gpc_mask_t all = x->mask, left;

    for (left = all; left; left &= ~x->mask) {
        gpc_event_id_t event = next_cell(x, left);
        uint8_t kind = event < x->table->num_events ? gpc_fsm_plan(x->table, x->state, event)->kind : GPC_CELL_GO;
        if (kind == GPC_CELL_HOLD_LINE || kind == GPC_CELL_HOLD_QUEUE) {
            return gpc_fsm_step_one(x);
        }
    }
    for (left = all; left;) {
        (void) next_cell(x, left);
        gpc_mask_t same = x->mask;
        int status = gpc_fsm_step_one(x);
        if (status != GPC_OK) {
            return status;
        }
        left &= ~same;
    }
    return GPC_OK;
}

static int
take_words(gpc_step_t *x)
{
    gpc_mask_t left = x->mask;
    bool can_split = x->message != GPC_NONE && !x->kept, was_split = false;
    int held = GPC_OK;

    if (can_split && x->table->whole && x->table->whole(x)) {
        return take_whole(x);
    }
    while (left) {
        (void) next_cell(x, left);
        gpc_mask_t same = x->mask;
        bool is_part = can_split && same != left;
        int status = is_part ? step_part(x) : gpc_fsm_step_one(x);
        if (status < 0) {
            return status;
        }
        if (status != GPC_OK) {
            held = status;
        }
        was_split |= is_part;
        left &= ~same;
    }
    if (was_split && held == GPC_HELD_QUEUE) { /* the last part waits for the line too: the others have been accepted */
        x->kept = true;
        return gpc_step_finish_part(x, held);
    }
    return held;
}

/* A line without present words and without a transaction frees its way. */
static void
drop_empty_line(gpc_step_t *x)
{
    gpc_tags_t *tags = &x->unit->arrays[x->array];

    if (x->way == GPC_NONE || x->mshr != GPC_NONE || x->table->keeps_initial) {
        return;
    }
    if (gpc_tags_words_in(tags, x->way, x->table->initial) == gpc_all_words(x->unit)) {
        gpc_tags_drop(tags, x->way);
        x->way = GPC_NONE;
    }
}

int
gpc_fsm_step_over_words(gpc_step_t *x)
{
    gpc_controller_t *unit = x->unit;
    bool outermost = !unit->collects;
    int status = GPC_OK;

    unit->collects = true;
    if (x->table->gather && x->message != GPC_NONE && !x->kept) {
        status = x->table->gather(x);
    }
    gpc_mask_t all = x->mask;
    if (status == GPC_OK) {
        status = x->cause == GPC_MSG_EVICT ? evict_words(x) : take_words(x);
    }
    x->mask = all;
    if (outermost) {
        unit->collects = false;
        int sent = gpc_send_collected(unit, status < 0);
        status = sent < 0 ? sent : status;
    }
    if (status >= 0) {
        int ended = gpc_fsm_end_over_words(x);
        status = ended < 0 ? ended : status;
        drop_empty_line(x);
    }
    return status;
}

/* fsm.c: one step of a table: reads the state, looks up and executes the cell, stores the next state; over words, once per cell.
 * Shared by all protocols and both worlds. */
#include "controller/controller.h"

/* ---- where a state lives ------------------------------------------------------------------------------------------------ */

static uint8_t
word_state(const gpc_step_t *x, uint8_t word)
{
    const gpc_controller_t *unit = x->unit;
    if (x->mshr != GPC_NONE) {
        uint8_t held = gpc_mshr_word_states(&unit->mshrs, x->mshr)[word];
        if (held) {
            return (uint8_t) (held - 1); /* 0: this word is not part of the transaction */
        }
    }
    return x->way != GPC_NONE ? gpc_tags_word_states(&unit->arrays[x->array], x->way)[word] : x->table->initial;
}

/* For a table with its state in several arrays: reads it beside the first tag that is present. */
static uint8_t
state_in_arrays(const gpc_step_t *x)
{
    for (uint32_t left = x->table->arrays; left; left &= left - 1) {
        uint8_t array = (uint8_t) __builtin_ctz(left);
        gpc_index_t way = gpc_way_in(x, array);
        if (way != GPC_NONE) {
            return x->unit->arrays[array].tags[way].state;
        }
    }
    return x->table->initial;
}

static uint8_t
line_state(const gpc_step_t *x)
{
    if (x->mshr != GPC_NONE) {
        return gpc_mshr_at(&x->unit->mshrs, x->mshr)->state;
    }
    if (x->table->arrays) {
        return state_in_arrays(x);
    }
    return x->way != GPC_NONE ? x->unit->arrays[x->array].tags[x->way].state : x->table->initial;
}

static int
lost(gpc_step_t *x, uint8_t next, const char *what)
{
    return gpc_fail(x->unit->failure, GPC_ERROR_PROTOCOL,
                    "%s of %s %u, line 0x%llx: %s in the transition from %s to %s", x->table->name, x->unit->type->name,
                    x->unit->index, (unsigned long long) x->line, what, x->table->states[x->state].name,
                    x->table->states[next].name);
}

/* Assigns all ways of the line to the transaction (GPC_NONE: to none). */
static void
mark_ways(const gpc_step_t *x, gpc_index_t mshr)
{
    if (x->way != GPC_NONE) {
        x->unit->arrays[x->array].tags[x->way].mshr = mshr;
    }
    for (uint32_t left = x->table->arrays; left; left &= left - 1) {
        uint8_t array = (uint8_t) __builtin_ctz(left);
        gpc_index_t way = gpc_way_in(x, array);
        if (way != GPC_NONE) {
            x->unit->arrays[array].tags[way].mshr = mshr;
        }
    }
}

/* Before the requests due for replay: those for the same line were queued behind these. */
static int
replay_waiters(gpc_controller_t *unit, gpc_mshr_t *entry)
{
    gpc_list_prepend(unit->replay, unit->messages, &entry->waiters);
    return entry->last_entry == GPC_NONE ? GPC_OK : gpc_entries_ready(unit, entry);
}

/* Ends the transaction: replays the requests that waited for it and releases its ways. */
static int
end_transaction(gpc_step_t *x, uint8_t next)
{
    gpc_controller_t *unit = x->unit;
    gpc_mshr_t *entry = gpc_mshr_at(&unit->mshrs, x->mshr);

    if (entry->pending.count) {
        return lost(x, next, "pending requests are not answered");
    }
    int status = replay_waiters(unit, entry);
    mark_ways(x, GPC_NONE);
    gpc_mshr_give(&unit->mshrs, x->mshr);
    x->mshr = GPC_NONE;
    return status;
}

static int
set_state_in_arrays(gpc_step_t *x, uint8_t next)
{
    bool leaves = next == x->table->initial && !x->table->keeps_initial, held = false;

    for (uint32_t left = x->table->arrays; left; left &= left - 1) {
        uint8_t array = (uint8_t) __builtin_ctz(left);
        gpc_tags_t *tags = &x->unit->arrays[array];
        gpc_index_t way = gpc_way_in(x, array);
        if (way == GPC_NONE) {
            continue;
        }
        held = true;
        tags->tags[way].state = next;
        if (leaves) {
            gpc_tags_drop(tags, way);
        }
    }
    if (leaves) {
        x->way = GPC_NONE;
    }
    return held || next == x->table->initial ? GPC_OK : lost(x, next, "the line has no way");
}

static int
set_line_state(gpc_step_t *x, uint8_t next)
{
    gpc_controller_t *unit = x->unit;

    if (x->table->states[next].kind != GPC_STABLE) {
        gpc_mshr_t *entry = gpc_mshr_at(&unit->mshrs, x->mshr);
        if (entry->state != next) {
            entry->state = next;
            return replay_waiters(unit, entry);
        }
        return GPC_OK;
    }
    if (x->mshr != GPC_NONE) {
        int status = end_transaction(x, next);
        if (status) {
            return status;
        }
    }
    if (x->table->arrays) {
        return set_state_in_arrays(x, next);
    }
    if (x->way == GPC_NONE) {
        return next == x->table->initial ? GPC_OK : lost(x, next, "the line has no way");
    }
    if (next == x->table->initial && !x->table->keeps_initial) {
        gpc_tags_drop(&unit->arrays[x->array], x->way);
        x->way = GPC_NONE;
    } else {
        unit->arrays[x->array].tags[x->way].state = next;
    }
    return GPC_OK;
}

static int
set_word_states(gpc_step_t *x, uint8_t next)
{
    gpc_controller_t *unit = x->unit;
    bool stable = x->table->states[next].kind == GPC_STABLE;

    for (gpc_mask_t left = x->mask; left; left &= left - 1) {
        uint32_t word = (uint32_t) __builtin_ctz(left);
        if (x->mshr != GPC_NONE) {
            gpc_mshr_word_states(&unit->mshrs, x->mshr)[word] = stable ? 0 : (uint8_t) (next + 1);
        }
        if (stable && x->way != GPC_NONE) {
            gpc_tags_word_states(&unit->arrays[x->array], x->way)[word] = next;
        } else if (stable && next != x->table->initial) {
            return lost(x, next, "the word has no way");
        }
    }
    if (x->mshr == GPC_NONE) {
        return GPC_OK;
    }
    gpc_mshr_t *entry = gpc_mshr_at(&unit->mshrs, x->mshr);
    int status = replay_waiters(unit, entry);
    if (status) {
        return status;
    }
    for (uint32_t word = 0; word < unit->mshrs.line_words; word++) {
        if (gpc_mshr_word_states(&unit->mshrs, x->mshr)[word]) {
            return GPC_OK;
        }
    }
    return entry->pending.count ? GPC_OK : end_transaction(x, next);
}

static uint8_t
state_of(const gpc_step_t *x)
{
    switch (x->table->object) {
        case GPC_OVER_LINES:
            return line_state(x);
        case GPC_OVER_WORDS:
            return word_state(x, x->word);
        case GPC_OVER_ENTRIES:
        case GPC_OVER_UNIT:
            break;
    }
    return x->slot ? *x->slot : x->table->initial; /* no entry yet */
}

/* An entry leaves its part in the initial state, as a line leaves its way. */
static int
set_entry_state(gpc_step_t *x, uint8_t next)
{
    if (!x->slot) {
        return next == x->table->initial ? GPC_OK : lost(x, next, "the part has no entry for it");
    }
    *x->slot = next;
    if (next == x->table->initial && !x->table->keeps_initial) {
        gpc_part_give(&x->unit->parts[x->unit->type->object_of[x->table_number]], x->entry);
        x->entry = GPC_NONE;
        x->slot = NULL;
    }
    return GPC_OK;
}

static int
set_state(gpc_step_t *x, uint8_t next)
{
    switch (x->table->object) {
        case GPC_OVER_LINES:
            return set_line_state(x, next);
        case GPC_OVER_WORDS:
            return set_word_states(x, next);
        case GPC_OVER_ENTRIES:
            return set_entry_state(x, next);
        case GPC_OVER_UNIT:
            break;
    }
    *x->slot = next;
    return GPC_OK;
}

/* ---- one cell ------------------------------------------------------------------------------------------------------------- */

static int
impossible(gpc_step_t *x, uint8_t event)
{
    const char *name = event < x->table->num_events ? x->table->events[event].name : "no event";
    x->unit->failure->line = x->line;
    return gpc_fail(
        x->unit->failure, GPC_ERROR_PROTOCOL,
        "impossible transition: %s %u of %s, table %s, line 0x%llx in state %s, event %s (cause %u, from node %d)",
        x->unit->type->name, x->unit->index, x->unit->protocol->id, x->table->name, (unsigned long long) x->line,
        x->table->states[x->state].name, name, x->cause, x->msg ? (int) x->msg->source : -1);
}

/* Lines and words need an MSHR before they enter a transient state. */
static bool
needs_entry(const gpc_step_t *x, const gpc_cell_t *cell)
{
    return x->table->object <= GPC_OVER_WORDS && x->mshr == GPC_NONE && x->table->states[cell->next].kind != GPC_STABLE;
}

static int
take_entry(gpc_step_t *x, uint8_t next)
{
    gpc_controller_t *unit = x->unit;

    x->mshr = gpc_mshr_take_for(&unit->mshrs, x->line, x->table_number, next);
    if (x->mshr == GPC_NONE && unit->type->idle_until) {
        int status = unit->end_idle(unit);
        if (status != GPC_OK) {
            return status < 0 ? status : GPC_HELD_QUEUE;
        }
        x->mshr = gpc_mshr_take_for(&unit->mshrs, x->line, x->table_number, next);
    }
    if (x->mshr == GPC_NONE) {
        return GPC_HELD_QUEUE;
    }
    gpc_mshr_at(&unit->mshrs, x->mshr)->way = x->way;
    mark_ways(x, x->mshr);
    x->fresh = true;
    return GPC_OK;
}

void
gpc_step_give_entry(gpc_step_t *x)
{
    if (x->fresh) {
        mark_ways(x, GPC_NONE);
        gpc_mshr_give(&x->unit->mshrs, x->mshr);
        x->mshr = GPC_NONE;
        x->fresh = false;
    }
}

static int
carry_out(gpc_step_t *x, const gpc_cell_t *cell)
{
    if (needs_entry(x, cell)) {
        int status = take_entry(x, cell->next);
        if (status != GPC_OK) {
            return status;
        }
    }
    for (const gpc_action_t *const *action = cell->actions; *action; action++) {
        int status = (*action)->run(x);
        if (status < 0) {
            return status;
        }
        if (status != GPC_OK) {
            if (action != cell->actions) {
                return lost(x, cell->next, "an action refuses after another has taken effect");
            }
            gpc_step_give_entry(x);
            return status == GPC_HELD_LINE ? status : GPC_HELD_QUEUE; /* x's entry already waits for a transaction */
        }
        x->fresh = false; /* it has had an effect */
    }
    x->fresh = false;
    return set_state(x, cell->next);
}

/* Coverage counts cells that execute or hold. */
static void
count_cell(const gpc_step_t *x, uint8_t event)
{
    x->unit->counts[x->table_number][(size_t) x->state * x->table->num_events + event]++;
}

/* One look-up for x->state and x->mask: classify, then the cell; repeated after a pre-event or REDO. */
static int
look_up(gpc_step_t *x)
{
    bool leaves = x->cause == GPC_MSG_EVICT && x->way != GPC_NONE;

    for (uint32_t turn = 0; turn < 16; turn++) {
        x->state = state_of(x);
        gpc_event_id_t named = x->table->classify(x);
        gpc_event_id_t event = named & 0x7F;
        if (event >= x->table->num_events) {
            return impossible(x, event);
        }
        const gpc_cell_t *cell = gpc_fsm_cell(x->table, x->state, event);
        int status;
        if (x->unit->watch) {
            x->unit->watch(x->unit->world, x, event, cell);
        }
        switch ((gpc_cell_kind_t) cell->kind) {
            case GPC_CELL_GO:
            case GPC_CELL_REDO:
                status = carry_out(x, cell);
                if (status != GPC_OK) {
                    return status;
                }
                count_cell(x, event);
                if ((cell->kind == GPC_CELL_GO && !(named & 0x80)) || (leaves && x->way == GPC_NONE)) {
                    return GPC_OK; /* a pre-event has already freed the way */
                }
                break;
            case GPC_CELL_HOLD_LINE:
                count_cell(x, event);
                return GPC_HELD_LINE;
            case GPC_CELL_HOLD_QUEUE:
                count_cell(x, event);
                return GPC_HELD_QUEUE;
            case GPC_CELL_NOT_A_VICTIM:
                return GPC_UNFIT_VICTIM;
            case GPC_CELL_IMPOSSIBLE:
                return impossible(x, event);
        }
    }
    return lost(x, x->state, "the same cause is classified without end");
}

/* ---- over words ------------------------------------------------------------------------------------------------------------ */

/* Restricts x to the words with the same state and event as the first. */
static gpc_event_id_t
next_cell(gpc_step_t *x, gpc_mask_t words)
{
    gpc_event_id_t event = GPC_NO_EVENT;
    uint8_t state = 0;
    gpc_mask_t same = 0;

    for (gpc_mask_t look = words; look; look &= look - 1) {
        x->word = (uint8_t) __builtin_ctz(look);
        x->mask = UINT32_C(1) << x->word;
        x->state = state_of(x);
        gpc_event_id_t named = x->table->classify(x);
        if (!same) {
            event = named;
            state = x->state;
        }
        if (x->state == state && named == event) {
            same |= x->mask;
        }
    }
    x->word = (uint8_t) __builtin_ctz(same);
    x->mask = same;
    x->state = state;
    return event;
}

/* Whether the cell accepts its words as victims; an absent word has no cell. */
static bool
lets_go(const gpc_step_t *x, gpc_event_id_t event)
{
    if (event & 0x80) {
        return true; /* a pre-event comes first, and frees the word */
    }
    if (event >= x->table->num_events) {
        return false;
    }
    uint8_t kind = gpc_fsm_cell(x->table, x->state, event)->kind;
    return kind == GPC_CELL_GO || kind == GPC_CELL_REDO ||
           (x->table->object == GPC_OVER_WORDS && kind == GPC_CELL_IMPOSSIBLE && x->state == x->table->initial);
}

bool
gpc_fsm_lets_go(const gpc_step_t *victim)
{
    gpc_step_t x = *victim;

    if (x.table->object != GPC_OVER_WORDS) {
        x.state = state_of(&x);
        return lets_go(&x, x.table->classify(&x));
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
        bool is_there = (event & 0x80) || gpc_fsm_cell(x->table, x->state, event)->kind != GPC_CELL_IMPOSSIBLE;
        gpc_mask_t same = x->mask;
        int status = is_there ? look_up(x) : GPC_OK;
        if (status != GPC_OK) {
            return status;
        }
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
    int status = look_up(&part);
    x->way = part.way;
    x->mshr = part.mshr;
    return gpc_step_finish_part(&part, status);
}

static int
take_words(gpc_step_t *x)
{
    gpc_mask_t left = x->mask;
    bool can_split = x->message != GPC_NONE && !x->kept, was_split = false;
    int held = GPC_OK;

    while (left) {
        (void) next_cell(x, left);
        gpc_mask_t same = x->mask;
        bool is_part = can_split && same != left;
        int status = is_part ? step_part(x) : look_up(x);
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
    for (uint32_t word = 0; word < tags->line_words; word++) {
        if (gpc_tags_word_states(tags, x->way)[word] != x->table->initial) {
            return;
        }
    }
    gpc_tags_drop(tags, x->way);
    x->way = GPC_NONE;
}

static int
step_over_words(gpc_step_t *x)
{
    gpc_controller_t *unit = x->unit;
    gpc_mask_t all = x->mask;
    bool outermost = !unit->collects;

    unit->collects = true;
    int status = x->cause == GPC_MSG_EVICT ? evict_words(x) : take_words(x);
    x->mask = all;
    if (outermost) {
        unit->collects = false;
        int sent = gpc_send_collected(unit, status < 0);
        status = sent < 0 ? sent : status;
    }
    if (status >= 0) {
        drop_empty_line(x);
    }
    return status;
}

int
gpc_fsm_step(gpc_step_t *x)
{
    return x->table->object == GPC_OVER_WORDS ? step_over_words(x) : look_up(x);
}

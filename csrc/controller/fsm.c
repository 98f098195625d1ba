/* fsm.c: one step of a table: reads the state, executes the cell, stores the next state. Shared by all protocols and
 * both worlds. */
#include <string.h>

#include "controller/controller.h"

/* ---- where a state lives ----------------------------------------------------------------------------------------- */

gpc_mask_t
gpc_fsm_words_in(const gpc_step_t *x, uint8_t state)
{
    const gpc_controller_t *unit = x->unit;
    gpc_mask_t in = x->way != GPC_NONE           ? gpc_tags_words_in(&unit->arrays[x->array], x->way, state)
                    : state == x->table->initial ? gpc_all_words(unit)
                                                 : GPC_NO_WORDS;
    if (x->mshr == GPC_NONE) {
        return in;
    }
    return (in & gpc_mshr_words_in(&unit->mshrs, x->mshr, 0)) |
           gpc_mshr_words_in(&unit->mshrs, x->mshr, (uint8_t) (state + 1));
}

static uint8_t
word_state(const gpc_step_t *x)
{
    if (x->mshr != GPC_NONE) {
        uint8_t held = gpc_mshr_word_states(&x->unit->mshrs, x->mshr)[x->word];
        if (held) {
            return (uint8_t) (held - 1); /* 0: this word is not part of the transaction */
        }
    }
    return x->way != GPC_NONE ? gpc_tags_word_states(&x->unit->arrays[x->array], x->way)[x->word] : x->table->initial;
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

uint8_t
gpc_fsm_state(const gpc_step_t *x)
{
    switch (x->table->object) {
        case GPC_OVER_LINES:
            return line_state(x);
        case GPC_OVER_WORDS:
            return word_state(x);
        case GPC_OVER_ENTRIES:
        case GPC_OVER_UNIT:
            break;
    }
    return x->slot ? *x->slot : x->table->initial; /* no entry yet */
}

__attribute__((cold, noinline)) static int
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

/* Before the requests due for replay: those for the same line were queued behind these. A step of the core is no event
 * of its L1, which forwards need. */
__attribute__((noinline)) static int
replay_list(gpc_controller_t *unit, gpc_list_t *waiters)
{
    gpc_list_prepend(unit->replay, unit->messages, waiters);
    return gpc_controller_forward_to_replay(unit) == GPC_NONE ? GPC_OK : unit->ports->schedule(unit->world, unit);
}

static inline int
replay_waiters(gpc_controller_t *unit, gpc_mshr_t *entry)
{
    GPC_TRY(entry->waiters.count ? replay_list(unit, &entry->waiters) : GPC_OK);
    return entry->last_entry == GPC_NONE ? GPC_OK : gpc_entries_ready(unit, entry);
}

/* Ends the transaction: replays the requests that waited for it and releases its ways. */
static inline __attribute__((always_inline)) int /* of every transaction */
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
set_line_state(gpc_step_t *x, const gpc_plan_t *plan)
{
    uint8_t next = plan->next;
    gpc_controller_t *unit = x->unit;

    if (plan->opens) {
        gpc_mshr_t *entry = gpc_mshr_at(&unit->mshrs, x->mshr);
        if (entry->state != next) {
            entry->state = next;
            return replay_waiters(unit, entry);
        }
        return GPC_OK;
    }
    if (x->mshr != GPC_NONE) {
        GPC_TRY(end_transaction(x, next));
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

static void
set_words(uint8_t *states, gpc_mask_t mask, uint8_t state)
{
    if (mask == UINT32_MAX) { /* all words of most lines: of a known number, without a call */
        memset(states, state, 32);
        return;
    }
    if (mask == UINT16_MAX) {
        memset(states, state, 16);
        return;
    }
    for (; mask; mask &= mask - 1) {
        states[__builtin_ctz(mask)] = state;
    }
}

static int
set_word_states(gpc_step_t *x, const gpc_plan_t *plan)
{
    uint8_t next = plan->next;
    bool stable = !plan->opens;
    gpc_controller_t *unit = x->unit;

    if (x->mshr != GPC_NONE) {
        set_words(gpc_mshr_word_states(&unit->mshrs, x->mshr), x->mask, stable ? 0 : (uint8_t) (next + 1));
    }
    if (stable && x->way != GPC_NONE) {
        set_words(gpc_tags_word_states(&unit->arrays[x->array], x->way), x->mask, next);
    } else if (stable && next != x->table->initial) {
        return lost(x, next, "the words have no way");
    }
    return x->mshr == GPC_NONE ? GPC_OK : replay_waiters(unit, gpc_mshr_at(&unit->mshrs, x->mshr));
}

int
gpc_fsm_end_over_words(gpc_step_t *x)
{
    const gpc_mshr_table_t *mshrs = &x->unit->mshrs;

    if (x->mshr == GPC_NONE || gpc_mshr_at(mshrs, x->mshr)->pending.count) {
        return GPC_OK;
    }
    if (gpc_mshr_words_in(mshrs, x->mshr, 0) != gpc_all_words(x->unit)) {
        return GPC_OK;
    }
    return end_transaction(x, x->table->initial);
}

/* An entry leaves its part in the initial state, as a line leaves its way. */
static int
set_entry_state(gpc_step_t *x, const gpc_plan_t *plan)
{
    uint8_t next = plan->next;
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

/* ---- one cell ---------------------------------------------------------------------------------------------------- */

__attribute__((cold, noinline)) static int
impossible(gpc_step_t *x, uint8_t event)
{
    const char *name = event < x->table->num_events ? x->table->events[event].name : "no event";
    x->unit->failure->line = x->line;
    return gpc_fail(
        x->unit->failure, GPC_ERROR_PROTOCOL,
        "impossible transition: %s %u of %s, table %s, line 0x%llx in state %s, event %s (cause %u, from node %d)",
        x->unit->type->name, x->unit->index, x->unit->protocol->id, x->table->name, (unsigned long long) x->line,
        x->table->states[x->state].name, name, x->cause, gpc_has_message(x) ? (int) x->msg->source : -1);
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

/* Whether both concern the same line, a common word, the same entry or the unit. */
static bool
is_of_same_object(const gpc_step_t *x, const gpc_step_t *outer)
{
    if (x->table_number != outer->table_number) {
        return false;
    }
    switch (x->table->object) {
        case GPC_OVER_LINES:
            return x->line == outer->line;
        case GPC_OVER_WORDS:
            return x->line == outer->line && (x->mask & outer->mask) != 0;
        case GPC_OVER_ENTRIES:
        case GPC_OVER_UNIT:
            break;
    }
    return x->slot && x->slot == outer->slot;
}

/* A cell without actions that keeps the state may come within a step of the same object: the flash of an acquire that
 * the step completes visits all transactions. Out of line: such steps are rare. */
__attribute__((noinline)) static int
check_outer_steps(gpc_step_t *x, const gpc_plan_t *plan)
{
    if (!plan->run[0] && plan->next == x->state) {
        return GPC_OK;
    }
    for (const gpc_step_t *outer = x->unit->step; outer; outer = outer->outer) {
        if (is_of_same_object(x, outer)) {
            x->unit->failure->line = x->line;
            return gpc_fail(x->unit->failure, GPC_ERROR_PROTOCOL,
                            "%s %u of %s, table %s, line 0x%llx: an action in state %s (cause %u) takes a step of the "
                            "same object, in state %s (cause %u), whose effect its own cell would overwrite",
                            x->unit->type->name, x->unit->index, x->unit->protocol->id, x->table->name,
                            (unsigned long long) x->line, x->table->states[outer->state].name, outer->cause,
                            x->table->states[x->state].name, x->cause);
        }
    }
    return GPC_OK;
}

static int
run_actions(gpc_step_t *x, const gpc_plan_t *plan)
{
    for (int (*const *run)(gpc_step_t *) = plan->run; *run; run++) {
        int status = (*run)(x);
        if (status < 0) {
            return status;
        }
        if (status != GPC_OK) {
            if (run != plan->run) {
                return lost(x, plan->next, "an action refuses after another has taken effect");
            }
            gpc_step_give_entry(x);
            return status == GPC_HELD_LINE ? status : GPC_HELD_QUEUE; /* x's entry already waits for a transaction */
        }
        x->fresh = false; /* it has had an effect */
    }
    x->fresh = false;
    return GPC_OK;
}

/* Out of line: rare. The step may end the line's transaction or free its way. */
__attribute__((noinline)) static int
take_then(gpc_step_t *x)
{
    uint8_t cause = x->then;
    gpc_step_t later;

    x->then = 0;
    gpc_step_about_line(x->unit, &later, x->table_number, cause, x->line, GPC_NONE);
    later.mask = gpc_all_words(x->unit);
    later.kept = true; /* there is no message */
    int status = gpc_fsm_step_one(&later);
    x->way = later.way;
    x->mshr = later.mshr;
    return status;
}

/* Coverage counts cells that execute or hold. */
static inline void
count_cell(const gpc_step_t *x, const gpc_plan_t *plan)
{
    x->unit->counts[x->table_number][plan - x->table->plans]++;
}

/* The result of a cell without a transition. Out of line: rare. */
__attribute__((noinline)) static int
refuse(gpc_step_t *x, const gpc_plan_t *plan, uint8_t event)
{
    int status;
    switch ((gpc_cell_kind_t) plan->kind) {
        case GPC_CELL_HOLD_LINE:
            count_cell(x, plan);
            return GPC_HELD_LINE;
        case GPC_CELL_HOLD_QUEUE:
            count_cell(x, plan);
            status = plan->run[0] ? plan->run[0](x) : GPC_OK;
            return status < 0 ? status : GPC_HELD_QUEUE;
        case GPC_CELL_NOT_A_VICTIM:
            return GPC_UNFIT_VICTIM;
        case GPC_CELL_GO:
        case GPC_CELL_REDO:
        case GPC_CELL_IMPOSSIBLE:
            break;
    }
    return impossible(x, event);
}

static inline int
set_state(gpc_step_t *x, const gpc_plan_t *plan)
{
    switch (x->table->object) {
        case GPC_OVER_LINES:
            return set_line_state(x, plan);
        case GPC_OVER_WORDS:
            return set_word_states(x, plan);
        case GPC_OVER_ENTRIES:
            return set_entry_state(x, plan);
        case GPC_OVER_UNIT:
            break;
    }
    *x->slot = plan->next;
    return GPC_OK;
}

static inline int
carry_out(gpc_step_t *x, const gpc_plan_t *plan)
{
    gpc_controller_t *unit = x->unit;
    int status = unit->step ? check_outer_steps(x, plan) : GPC_OK;

    if (status == GPC_OK && plan->opens && x->mshr == GPC_NONE && x->table->object <= GPC_OVER_WORDS) {
        status = take_entry(x, plan->next);
    }
    GPC_TRY(status);
    x->outer = unit->step;
    unit->step = x;
    status = run_actions(x, plan);
    unit->step = x->outer;
    if (status == GPC_OK) {
        status = set_state(x, plan);
    }
    return x->then && status == GPC_OK ? take_then(x) : status;
}

int
gpc_fsm_step_one(gpc_step_t *x)
{
    bool leaves = x->cause == GPC_MSG_EVICT && x->way != GPC_NONE;

    for (uint32_t times = 0; times < 16; times++) {
        x->state = gpc_fsm_state(x);
        gpc_event_id_t named = gpc_fsm_event(x), event = gpc_event_of(named);
        bool is_pre_event = gpc_is_pre_event(named);
        if (event >= x->table->num_events) {
            return impossible(x, event);
        }
        size_t cell = gpc_fsm_cell_number(x->table, x->state, event);
        const gpc_plan_t *plan = &x->table->plans[cell];
        GPC_TRY(GPC_OBSERVE(&x->unit->tap, CELL, cell, x, &x->table->cells[cell], event));
        if (plan->kind != GPC_CELL_GO && plan->kind != GPC_CELL_REDO) {
            return refuse(x, plan, event);
        }
        GPC_TRY(carry_out(x, plan));
        x->unit->counts[x->table_number][cell]++;
        if ((plan->kind == GPC_CELL_GO && !is_pre_event) || (leaves && x->way == GPC_NONE)) {
            return GPC_OK; /* a pre-event has already freed the way */
        }
    }
    return lost(x, x->state, "the same cause is classified without end");
}

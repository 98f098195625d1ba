/* fsm.c: one look-up in a table: reads the state, executes the cell, stores the next state. Shared by all protocols and both worlds. */
#include <string.h>

#include "controller/compiled.h"

/* ---- where a state lives ------------------------------------------------------------------------------------------------ */

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

uint8_t
gpc_walk_state_in_arrays(const gpc_step_t *x)
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

uint8_t
gpc_fsm_state(const gpc_step_t *x)
{
    return gpc_walk_state(x, x->table);
}

__attribute__((cold, noinline)) int
gpc_walk_lost(gpc_step_t *x, uint8_t next, const char *what)
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
        return gpc_walk_lost(x, next, "pending requests are not answered");
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
    return held || next == x->table->initial ? GPC_OK : gpc_walk_lost(x, next, "the line has no way");
}

int
gpc_walk_set_line_state(gpc_step_t *x, const gpc_plan_t *plan)
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
        int status = end_transaction(x, next);
        if (status) {
            return status;
        }
    }
    if (x->table->arrays) {
        return set_state_in_arrays(x, next);
    }
    if (x->way == GPC_NONE) {
        return next == x->table->initial ? GPC_OK : gpc_walk_lost(x, next, "the line has no way");
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

int
gpc_walk_set_word_states(gpc_step_t *x, const gpc_plan_t *plan)
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
        return gpc_walk_lost(x, next, "the words have no way");
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
int
gpc_walk_set_entry_state(gpc_step_t *x, const gpc_plan_t *plan)
{
    uint8_t next = plan->next;
    if (!x->slot) {
        return next == x->table->initial ? GPC_OK : gpc_walk_lost(x, next, "the part has no entry for it");
    }
    *x->slot = next;
    if (next == x->table->initial && !x->table->keeps_initial) {
        gpc_part_give(&x->unit->parts[x->unit->type->object_of[x->table_number]], x->entry);
        x->entry = GPC_NONE;
        x->slot = NULL;
    }
    return GPC_OK;
}

/* ---- one cell ------------------------------------------------------------------------------------------------------------- */

static const gpc_cell_t *
cell_of(const gpc_step_t *x, const gpc_plan_t *plan)
{
    return &x->table->cells[plan - x->table->plans];
}

__attribute__((cold, noinline)) int
gpc_walk_impossible(gpc_step_t *x, uint8_t event)
{
    const char *name = event < x->table->num_events ? x->table->events[event].name : "no event";
    x->unit->failure->line = x->line;
    return gpc_fail(
        x->unit->failure, GPC_ERROR_PROTOCOL,
        "impossible transition: %s %u of %s, table %s, line 0x%llx in state %s, event %s (cause %u, from node %d)",
        x->unit->type->name, x->unit->index, x->unit->protocol->id, x->table->name, (unsigned long long) x->line,
        x->table->states[x->state].name, name, x->cause, gpc_has_message(x) ? (int) x->msg->source : -1);
}

int
gpc_walk_take_entry(gpc_step_t *x, uint8_t next)
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

/* A cell without actions that keeps the state may come within a step of the same object: the flash of an acquire that the step completes
 * visits all transactions. Out of line: such steps are rare. */
__attribute__((noinline)) int
gpc_walk_check_outer_steps(gpc_step_t *x, const gpc_plan_t *plan)
{
    if (!cell_of(x, plan)->actions[0] && plan->next == x->state) {
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

__attribute__((cold, noinline)) int
gpc_walk_stop(gpc_step_t *x, uint8_t next, bool first, int status)
{
    if (status < 0) {
        return status;
    }
    if (!first) {
        return gpc_walk_lost(x, next, "an action refuses after another has taken effect");
    }
    gpc_step_give_entry(x);
    return status == GPC_HELD_LINE ? status : GPC_HELD_QUEUE; /* x's entry already waits for a transaction */
}

/* Out of line: rare. The step may end the line's transaction or free its way. */
__attribute__((noinline)) int
gpc_walk_take_then(gpc_step_t *x)
{
    uint8_t cause = x->then;
    gpc_step_t later;

    x->then = 0;
    gpc_step_about_line(x->unit, &later, x->table_number, cause, x->line, GPC_NONE);
    later.mask = gpc_all_words(x->unit);
    later.kept = true; /* there is no message */
    int status = x->table->look_up(&later);
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
__attribute__((noinline)) int
gpc_walk_refuse(gpc_step_t *x, const gpc_plan_t *plan, uint8_t event)
{
    const gpc_action_t *action;
    int status;
    switch ((gpc_cell_kind_t) plan->kind) {
        case GPC_CELL_HOLD_LINE:
            count_cell(x, plan);
            return GPC_HELD_LINE;
        case GPC_CELL_HOLD_QUEUE:
            count_cell(x, plan);
            action = cell_of(x, plan)->actions[0];
            status = action ? action->run(x) : GPC_OK;
            return status < 0 ? status : GPC_HELD_QUEUE;
        case GPC_CELL_NOT_A_VICTIM:
            return GPC_UNFIT_VICTIM;
        case GPC_CELL_GO:
        case GPC_CELL_REDO:
        case GPC_CELL_IMPOSSIBLE:
            break;
    }
    return gpc_walk_impossible(x, event);
}

static int
interpret(gpc_step_t *x, uint32_t cell)
{
    return gpc_walk_actions(x, &x->table->cells[cell]);
}

int
gpc_fsm_look_up(gpc_step_t *x)
{
    return gpc_walk(x, x->table, true, x->table->classify, interpret);
}

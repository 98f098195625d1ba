/* controller.c: the operation of a controller: finds the object of a message, takes a step, holds and replays waiting
 * requests. Shared by all protocols and both worlds. */
#include <assert.h>

#include "controller/controller.h"
#include "controller/step.h"

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* The first table that declares the message's type as a cause, else table 0. */
__attribute__((noinline)) static uint8_t /* rarely called: table_of stays short enough to inline */
table_declaring(const gpc_controller_type_t *type, uint8_t cause)
{
    uint8_t i = 0;
    while (i < GPC_MAX_TABLES && type->tables[i] && type->tables[i]->causes[cause] == 0) {
        i++;
    }
    return i < GPC_MAX_TABLES && type->tables[i] ? i : 0;
}

static uint8_t
table_of(const gpc_controller_t *self, gpc_index_t message)
{
    const gpc_controller_type_t *type = self->type;
    const gpc_msg_t *msg = gpc_msg_at(self->messages, message);
    return type->route ? type->route(self, msg) : type->tables[1] ? table_declaring(type, msg->type) : 0;
}

/* Whether an older request of the same source and network waits for the line: this one then waits behind it. Steps over
 * entries and the unit pass requests that wait for a table over lines. */
static bool
is_behind(const gpc_controller_t *self, const gpc_step_t *x)
{
    const gpc_mshr_t *entry = gpc_mshr_at(&self->mshrs, x->mshr);
    bool over_lines = x->table->object <= GPC_OVER_WORDS;
    gpc_index_t i = entry->waiters.head;
    for (uint32_t n = 0; n < entry->waiters.count; n++) {
        const gpc_msg_t *waiter = gpc_msg_at(self->messages, i);
        if (waiter->source == x->msg->source && waiter->network == x->msg->network &&
            (over_lines || table_of(self, i) == x->table_number)) {
            return true;
        }
        i = waiter->next;
    }
    return false;
}

static void
count_request(gpc_controller_t *self, uint8_t type, uint8_t traffic_class)
{
    bool from_core = type < GPC_MSG_OWN;
    if (!from_core && self->type->position == GPC_AT_CORE) {
        return; /* a forward is no access of this core */
    }
    if (from_core ? type == GPC_MSG_LOAD : traffic_class == GPC_CLASS_REQ) {
        self->statistics->loads++;
    } else if (from_core
                   ? type == GPC_MSG_STORE
                   : traffic_class == GPC_CLASS_ST || traffic_class == GPC_CLASS_WB || traffic_class == GPC_CLASS_REG) {
        self->statistics->stores++;
    } else if (from_core ? type == GPC_MSG_ATOMIC : traffic_class == GPC_CLASS_ATO) {
        self->statistics->atomics++;
    }
}

/* Ends the step: the message is freed, kept or held, and observers see the step. */
static int
end_step(gpc_controller_t *self, gpc_step_t *x, int status)
{
    status = gpc_step_finish(x, status);
    GPC_TRY(status);
    return GPC_OBSERVE(&self->tap, STEPPED, stepped, self, x->line);
}

static inline __attribute__((always_inline)) int /* of every message */
take_line(gpc_controller_t *self, uint8_t table, gpc_index_t message)
{
    gpc_step_t x;
    gpc_msg_t *msg = gpc_msg_at(self->messages, message);

    gpc_step_begin(self, &x, table, msg->type, msg->line, message);
    if (x.mshr != GPC_NONE && gpc_is_request(self, msg) && is_behind(self, &x)) {
        return gpc_step_hold_line(&x);
    }
    if (x.way != GPC_NONE && gpc_is_request(self, msg)) {
        gpc_tags_touch(&self->arrays[x.array], x.way);
    }
    return end_step(self, &x, gpc_fsm_step(&x));
}

/* A step over an entry (GPC_NONE: none yet, in the table's initial state) or over the unit. */
static int
take_slot(gpc_controller_t *self, gpc_step_t *x)
{
    if (x->message != GPC_NONE && x->mshr != GPC_NONE && gpc_is_request(self, x->msg) && is_behind(self, x)) {
        return gpc_step_hold_line(x);
    }
    x->kept = x->message == GPC_NONE;
    return end_step(self, x, gpc_fsm_step(x));
}

/* A timer that only retries held requests: the controller's own, or one for the unit that no table over entries or the
 * unit handles. */
static bool
is_retry(const gpc_controller_t *self, const gpc_msg_t *msg, uint8_t table)
{
    return msg->type == GPC_MSG_TIMER && msg->line == GPC_NEVER &&
           (msg->fields[0] == GPC_TIMER_IDLE || self->type->tables[table]->object <= GPC_OVER_WORDS);
}

static int
serve(gpc_controller_t *self, gpc_index_t message)
{
    if (gpc_msg_at(self->messages, message)->fields[0] == GPC_TIMER_IDLE &&
        *self->idle_timer <= self->ports->now(self->world)) {
        *self->idle_timer = 0;
    }
    gpc_free_message(self, message);
    return GPC_OK;
}

static gpc_index_t
entry_of(const gpc_controller_t *self, uint8_t part, gpc_index_t message)
{
    const gpc_msg_t *msg = gpc_msg_at(self->messages, message);
    return self->type->entry_of ? self->type->entry_of(self, part, msg) : gpc_part_find(&self->parts[part], msg->line);
}

/* Takes a step of the table for a message, new or replayed. */
static inline __attribute__((always_inline)) int
dispatch(gpc_controller_t *self, uint8_t table, gpc_index_t message)
{
    uint8_t part = self->type->object_of[table];

    switch (self->type->tables[table]->object) {
        case GPC_OVER_LINES:
        case GPC_OVER_WORDS:
            break;
        case GPC_OVER_ENTRIES:
            return gpc_controller_entry(self, table, part, entry_of(self, part, message),
                                        gpc_msg_at(self->messages, message)->type, message);
        case GPC_OVER_UNIT:
            return gpc_controller_unit(self, table, gpc_msg_at(self->messages, message)->type, message);
    }
    return take_line(self, table, message);
}

/* Whether a new request waits for those to replay: a forward passes those of the core. */
__attribute__((noinline)) static bool
waits_for_replays(const gpc_controller_t *self, const gpc_msg_t *msg)
{
    bool forward = self->type->position == GPC_AT_CORE && msg->type >= GPC_MSG_OWN;
    return !forward || gpc_controller_forward_to_replay(self) != GPC_NONE;
}

int
gpc_controller_take(gpc_controller_t *self, gpc_index_t message)
{
    gpc_msg_t *msg = gpc_msg_at(self->messages, message);
    uint8_t type = msg->type, traffic_class = msg->traffic_class; /* the step may free the message */
    bool is_request = gpc_is_request(self, msg);

    if (is_request && self->replay->count && waits_for_replays(self, msg)) {
        return GPC_HELD_QUEUE;
    }
    uint8_t table = table_of(self, message);
    if (is_retry(self, msg, table)) {
        return serve(self, message);
    }
    int status = dispatch(self, table, message);
    if (status == GPC_OK && is_request) {
        count_request(self, type, traffic_class);
    }
    return status;
}

/* Takes the request, which the caller has removed from those to replay, or puts it back as the first. */
static inline __attribute__((always_inline)) int /* of every request that has waited */
replay(gpc_controller_t *self, gpc_index_t message)
{
    gpc_msg_t *msg = gpc_msg_at(self->messages, message);
    bool waited = msg->received == 0 && msg->type < GPC_MSG_OWN;
    if (waited) {
        msg->received = self->ports->now(self->world);
    }
    int status = dispatch(self, table_of(self, message), message);
    if (status == GPC_HELD_QUEUE) { /* back to the head: requests that this step wakes follow those that wait already */
        msg->received = waited ? 0 : msg->received;
        gpc_list_push_front(self->replay, self->messages, message);
    }
    return status;
}

int
gpc_controller_replay_forward(gpc_controller_t *self)
{
    gpc_index_t previous, forward = gpc_controller_first_forward(self, &previous);
    if (forward == GPC_NONE) {
        return GPC_HELD_QUEUE;
    }
    gpc_list_remove_after(self->replay, self->messages, previous, forward);
    return replay(self, forward);
}

int
gpc_controller_replay(gpc_controller_t *self)
{
    gpc_index_t message = gpc_list_pop(self->replay, self->messages);
    if (message == GPC_NONE) {
        return GPC_OK;
    }
    bool from_core = gpc_msg_at(self->messages, message)->type < GPC_MSG_OWN;
    int status = replay(self, message);
    return status == GPC_HELD_QUEUE && from_core ? gpc_controller_replay_forward(self) : status;
}

int
gpc_replay_list(gpc_step_t *x, gpc_list_t *list)
{
    gpc_controller_t *unit = x->unit;
    if (list->count == 0) {
        return GPC_OK;
    }
    gpc_list_prepend(unit->replay, unit->messages, list);
    return unit->ports->schedule(unit->world, unit);
}

/* ---- causes without a message ------------------------------------------------------------------------------------ */

int
gpc_controller_cause(gpc_controller_t *self, uint8_t cause, gpc_address_t line)
{
    gpc_step_t x;
    gpc_step_about_line(self, &x, 0, cause, line, GPC_NONE);
    x.mask = gpc_all_words(self);
    x.kept = true; /* there is no message */
    return gpc_fsm_step(&x);
}

/* A step of a transaction's table, about its line, whose way and MSHR are known. */
static int
cause_in(gpc_controller_t *self, gpc_index_t mshr, uint8_t cause)
{
    const gpc_mshr_t *entry = gpc_mshr_at(&self->mshrs, mshr);
    gpc_step_t x;
    gpc_step_init(self, &x, entry->table, cause, entry->line, GPC_NONE);
    x.way = entry->way;
    x.mshr = mshr;
    x.mask = gpc_all_words(self);
    x.kept = true; /* there is no message */
#ifdef GPC_COSTLY_ASSERTS
    assert(!self->arrays[x.array].sets || x.way == gpc_tags_find(&self->arrays[x.array], entry->line));
#endif
    return gpc_fsm_step(&x);
}

int
gpc_controller_line(gpc_controller_t *self, uint8_t table, uint8_t cause, gpc_address_t line, gpc_mask_t mask,
                    gpc_index_t message)
{
    gpc_step_t x;
    gpc_step_about_line(self, &x, table, cause, line, message);
    x.mask = mask;
    x.kept = message == GPC_NONE;
    int status = gpc_fsm_step(&x);
    if (message != GPC_NONE) {
        status = gpc_step_finish(&x, status);
    }
    return status > 0 ? GPC_HOLD : status;
}

int
gpc_entry_line(gpc_step_t *x, uint8_t table, uint8_t cause, gpc_mask_t mask)
{
    gpc_step_t of_line;
    gpc_step_about_line(x->unit, &of_line, table, cause, x->line, GPC_NONE);
    of_line.mask = mask;
    of_line.entry = x->entry;
    of_line.kept = true; /* there is no message */
    int status = gpc_fsm_step(&of_line);
    if (status == GPC_HELD_LINE) {
        return gpc_entry_waits(x, of_line.mshr) ? GPC_HELD_LINE : gpc_step_without_transaction(x);
    }
    return status > 0 ? GPC_HOLD : status;
}

/* The step over lines in progress whose line has this transaction: it would overwrite what a step within it does to the
 * line. */
static gpc_step_t *
step_in_progress(const gpc_controller_t *self, const gpc_mshr_t *entry)
{
    gpc_step_t *x = self->step;
    while (x && !(x->table->object == GPC_OVER_LINES && x->table_number == entry->table && x->line == entry->line)) {
        x = x->outer;
    }
    return x;
}

int
gpc_controller_walk_transactions(gpc_controller_t *self, uint8_t cause)
{
    uint32_t high = *self->mshrs.high;
    for (gpc_index_t i = 0; i < high; i++) {
        const gpc_mshr_t *entry = gpc_mshr_at(&self->mshrs, i);
        if (!entry->live) {
            continue;
        }
        gpc_step_t *outer = step_in_progress(self, entry);
        if (outer) {
            outer->then = cause;
            continue;
        }
        GPC_TRY(cause_in(self, i, cause));
    }
    return GPC_OK;
}

/* Reports each copy that a flash of lines or words in this state is about to drop. */
static int
observe_dropped(gpc_controller_t *self, uint8_t table, uint8_t state)
{
    const gpc_tags_t *tags = &self->arrays[self->type->object_of[table]];
    int status = GPC_OK;

    for (gpc_index_t way = 0; way < tags->sets * tags->ways && status == GPC_OK; way++) {
        uint32_t copies = gpc_tags_in_state(tags, way, state);
        status = copies ? GPC_OBSERVE(&self->tap, DROPPED, dropped, self, gpc_tags_line(tags, way), copies) : GPC_OK;
    }
    return status;
}

/* Flashes the lines in one stable state as its cell says. */
static int
flash_state(gpc_controller_t *self, uint8_t table, uint8_t state, uint8_t event)
{
    const gpc_table_t *cells = self->type->tables[table];
    const gpc_cell_t *cell = gpc_fsm_cell(cells, state, event);

    if (state == cells->initial || cell->kind == GPC_CELL_IMPOSSIBLE) {
        return GPC_OK;
    }
    if (cell->kind != GPC_CELL_GO || cell->actions[0] || (cell->next != state && cell->next != cells->initial)) {
        return gpc_fail(self->failure, GPC_ERROR_PROTOCOL, "%s %u: table %s cannot flash lines in state %s",
                        self->type->name, self->index, cells->name, cells->states[state].name);
    }
    if (cell->next != state) {
        GPC_TRY(gpc_is_observed(&self->tap, GPC_ON_DROPPED) ? observe_dropped(self, table, state) : GPC_OK);
        uint32_t changed = gpc_tags_flash_state(&self->arrays[self->type->object_of[table]], state, cells->initial);
        self->counts[table][(size_t) state * cells->num_events + event] += changed;
        self->statistics->self_invalidations += changed;
    }
    return GPC_OK;
}

int
gpc_controller_flash(gpc_controller_t *self, uint8_t table, uint8_t cause, uint8_t event)
{
    const gpc_table_t *cells = self->type->tables[table];
    int status = GPC_OK;

    for (uint8_t state = 0; state < cells->num_states && status == GPC_OK; state++) {
        bool stable = cells->states[state].kind == GPC_STABLE;
        status = stable ? flash_state(self, table, state, event) : GPC_OK;
    }
    if (status == GPC_OK) {
        status = GPC_OBSERVE(&self->tap, FLASHED, flashed, self);
    }
    GPC_TRY(status);
    return gpc_controller_walk_transactions(self, cause);
}

/* Ends the idle transactions that have expired; *next: the earliest time at which another one expires. */
static int
expire_idle(gpc_controller_t *self, gpc_cycle_t *next)
{
    gpc_cycle_t now = self->ports->now(self->world);

    *next = GPC_NEVER;
    for (gpc_index_t i = 0; i < *self->mshrs.high; i++) {
        const gpc_mshr_t *entry = gpc_mshr_at(&self->mshrs, i);
        gpc_cycle_t until = entry->live ? self->type->idle_until(self, i) : GPC_NEVER;
        if (until <= now) {
            int status = cause_in(self, i, GPC_MSG_EXPIRE);
            if (status < 0) {
                return status;
            }
        } else if (until < *next) {
            *next = until;
        }
    }
    return GPC_OK;
}

int
gpc_end_idle(gpc_controller_t *self)
{
    gpc_cycle_t next;
    int status = expire_idle(self, &next);

    if (status < 0 || gpc_mshr_room(&self->mshrs)) {
        return status;
    }
    if (next != GPC_NEVER && (*self->idle_timer == 0 || next < *self->idle_timer)) {
        *self->idle_timer = next;
        status = self->ports->wake_at(self->world, self, next, GPC_NEVER, GPC_TIMER_IDLE, GPC_TIMER_NEEDED);
    }
    return status < 0 ? status : GPC_HOLD;
}

int
gpc_controller_entry(gpc_controller_t *self, uint8_t table, uint8_t part, gpc_index_t entry, uint8_t cause,
                     gpc_index_t message)
{
    gpc_step_t x;
    gpc_part_t *its = &self->parts[part];
    gpc_step_about_line(self, &x, table, cause,
                        entry == GPC_NONE ? gpc_msg_at(self->messages, message)->line : gpc_part_line(its, entry),
                        message);
    x.entry = entry;
    x.slot = entry == GPC_NONE ? NULL : &its->states[entry];
    return take_slot(self, &x);
}

int
gpc_controller_unit(gpc_controller_t *self, uint8_t table, uint8_t cause, gpc_index_t message)
{
    gpc_step_t x;
    gpc_step_about_line(self, &x, table, cause,
                        message == GPC_NONE ? GPC_NEVER : gpc_msg_at(self->messages, message)->line, message);
    x.slot = &self->unit_states[table];
    return take_slot(self, &x);
}

int
gpc_controller_order(gpc_controller_t *self, uint8_t table, uint8_t cause, uint16_t warp, uint8_t scope)
{
    gpc_step_t x;
    gpc_step_about_line(self, &x, table, cause, GPC_NEVER, GPC_NONE);
    x.slot = &self->unit_states[table];
    x.warp = warp;
    x.scope = scope;
    x.kept = true; /* there is no message */
    int status = gpc_fsm_step(&x);
    return status > 0 ? GPC_HOLD : status;
}

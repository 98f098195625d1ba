/* trace.c: selects events of the stream, and records them. */
#include "check/trace/trace.h"

#include <stdlib.h>

enum { OPEN = 1024 }; /* accesses of a core that may be outstanding */

struct gpc_trace {
    gpc_subscriber_t subscriber;
    const gpc_cores_t *cores; /* borrowed */
    gpc_trace_filter_t filter;
    uint64_t count;
    uint8_t *open; /* [cores][OPEN]: the access was recorded; in the same allocation as the records */
    gpc_trace_record_t records[];
};

/* ---- records ----------------------------------------------------------------------------------------------------- */

static bool
is_traced(const gpc_trace_t *self, gpc_address_t line)
{
    return line >= self->filter.first && line <= self->filter.last;
}

static gpc_trace_record_t *
add(gpc_trace_t *self, gpc_trace_kind_t kind, uint32_t node, gpc_address_t line)
{
    gpc_trace_record_t *record = &self->records[self->count++ % self->filter.records];
    *record = (gpc_trace_record_t){
        .cycle = self->cores->hooks.now(self->cores->hooks.world),
        .line = line,
        .message = GPC_NONE,
        .request = GPC_NONE,
        .access = GPC_NONE,
        .pc = GPC_NONE,
        .node = (uint16_t) node,
        .source = UINT16_MAX,
        .destination = UINT16_MAX,
        .requester = UINT16_MAX,
        .warp = UINT16_MAX,
        .kind = (uint8_t) kind,
        .type = UINT8_MAX,
    };
    return record;
}

static bool
is_wanted(const gpc_trace_t *self, gpc_trace_kind_t kind)
{
    return self->filter.kinds >> kind & 1;
}

/* ---- controllers ------------------------------------------------------------------------------------------------- */

static bool
carries_words(const gpc_controller_t *unit, const gpc_msg_t *msg)
{
    if (msg->type < GPC_MSG_OWN) {
        return msg->type == GPC_MSG_STORE || msg->type == GPC_MSG_FILL;
    }
    const gpc_message_info_t *info = gpc_message_info(unit, msg->type);
    return info->bytes_per_word || info->whole_line;
}

static void
note_value(const gpc_trace_t *self, gpc_trace_record_t *record, const uint32_t *words)
{
    record->has |= 1;
    record->value = words[self->filter.word];
}

static void
note_message(const gpc_trace_t *self, const gpc_controller_t *unit, gpc_trace_record_t *record, const gpc_msg_t *msg)
{
    record->type = msg->type;
    record->message = gpc_msg_index(unit->messages, msg);
    record->request = msg->type <= GPC_MSG_ATOMIC ? record->message : msg->request;
    record->source = msg->source;
    record->destination = msg->destination;
    record->requester = msg->requester;
    record->warp = msg->warp;
    record->mask = msg->mask;
    if (msg->type <= GPC_MSG_ATOMIC && msg->request != GPC_NONE) {
        record->access = gpc_cores_access_of(self->cores, msg->source, msg);
    }
    if (carries_words(unit, msg) && (msg->type == GPC_MSG_FILL || (msg->mask >> self->filter.word & 1))) {
        note_value(self, record, msg->data);
    }
}

static gpc_trace_kind_t
kind_of_step(const gpc_step_t *x)
{
    if (x->cause == GPC_MSG_EVICT) {
        return GPC_TRACE_EVICTION;
    }
    if (x->cause == GPC_MSG_EXPIRE) {
        return GPC_TRACE_LEASE;
    }
    return x->unit->type->position == GPC_AT_GLOBAL ? GPC_TRACE_EPOCH : GPC_TRACE_STEP;
}

static void
note_cell(gpc_trace_t *self, const gpc_step_t *x, const gpc_cell_t *cell, uint8_t event)
{
    gpc_trace_kind_t kind = kind_of_step(x);
    if (!is_wanted(self, kind) || (kind != GPC_TRACE_EPOCH && !is_traced(self, x->line))) {
        return;
    }
    gpc_trace_record_t *record = add(self, kind, x->unit->node, x->line);
    record->table = x->table_number;
    record->state = x->state;
    record->event = event;
    record->next = cell->next;
    record->cell = cell->kind;
    record->extra = x->cause;
    if (gpc_has_message(x)) {
        note_message(self, x->unit, record, x->msg);
    }
    if (x->way != GPC_NONE && x->unit->type->arrays[x->array].has_data) {
        record->has |= 2;
        record->copy = gpc_tags_words(&x->unit->arrays[x->array], x->way)[self->filter.word];
    }
}

static void
note_send(gpc_trace_t *self, const gpc_controller_t *from, const gpc_msg_t *msg, uint32_t destination)
{
    bool epoch = gpc_message_info(from, msg->type)->traffic_class == GPC_CLASS_EPOCH;
    gpc_trace_kind_t kind = epoch ? GPC_TRACE_EPOCH : GPC_TRACE_SEND;
    if (is_wanted(self, kind) && (epoch || is_traced(self, msg->line))) {
        gpc_trace_record_t *record = add(self, kind, from->node, msg->line);
        note_message(self, from, record, msg);
        record->destination = (uint16_t) destination;
        record->cell = UINT8_MAX; /* no step, also of the kind EPOCH */
    }
}

/* A broadcast is one record for each node. */
static void
note_sent(gpc_trace_t *self, const gpc_controller_t *from, const gpc_msg_t *msg, const gpc_nodeset_t *to)
{
    if (!to) {
        note_send(self, from, msg, msg->destination);
    }
    for (uint32_t i = 0; to && i < GPC_NODESET_WORDS; i++) {
        for (uint64_t left = to->bits[i]; left; left &= left - 1) {
            note_send(self, from, msg, i * 64 + (uint32_t) __builtin_ctzll(left));
        }
    }
}

static void
note_completed(gpc_trace_t *self, const gpc_observation_t *event)
{
    const gpc_controller_t *unit = event->completed.unit;
    const gpc_msg_t *msg = event->completed.msg;
    if (!is_wanted(self, GPC_TRACE_COMPLETE) || !is_traced(self, msg->line)) {
        return;
    }
    gpc_trace_record_t *record = add(self, GPC_TRACE_COMPLETE, unit->node, msg->line);
    note_message(self, unit, record, msg);
    record->state = event->completed.hit;
    record->has = 0;
    if (event->completed.words && (msg->mask >> self->filter.word & 1)) {
        note_value(self, record, event->completed.words);
    }
}

static void
note_memory(gpc_trace_t *self, const gpc_observation_t *event)
{
    gpc_trace_kind_t kind = event->memory.words ? GPC_TRACE_WRITE : GPC_TRACE_FETCH;
    if (!is_wanted(self, kind) || !is_traced(self, event->memory.line)) {
        return;
    }
    gpc_trace_record_t *record = add(self, kind, event->memory.unit->node, event->memory.line);
    record->mask = event->memory.mask;
    if (event->memory.words && (record->mask >> self->filter.word & 1)) {
        note_value(self, record, event->memory.words);
    }
}

/* ---- warps ------------------------------------------------------------------------------------------------------- */

/* The first line of the access that is traced; GPC_NEVER: none. */
static gpc_address_t
traced_line(const gpc_trace_t *self, const gpc_accessed_t *accessed)
{
    gpc_address_t size = self->cores->machine->line_bytes;
    for (gpc_lanes_t left = accessed->addresses ? accessed->lanes : 0; left; left &= left - 1) {
        gpc_address_t line = accessed->addresses[__builtin_ctzll(left)] / size * size;
        if (is_traced(self, line)) {
            return line;
        }
    }
    return GPC_NEVER;
}

static void
note_access(gpc_trace_t *self, const gpc_accessed_t *accessed)
{
    gpc_address_t line = is_wanted(self, GPC_TRACE_ACCESS) ? traced_line(self, accessed) : GPC_NEVER;
    if (line == GPC_NEVER || accessed->name >= OPEN) {
        return;
    }
    gpc_trace_record_t *record = add(self, GPC_TRACE_ACCESS, accessed->core, line);
    record->warp = (uint16_t) accessed->warp;
    record->pc = accessed->pc;
    record->access = accessed->name;
    record->state = accessed->access.kind;
    record->event = accessed->access.order;
    self->open[accessed->core * OPEN + accessed->name] = 1;
}

static void
note_finished(gpc_trace_t *self, const gpc_observation_t *event)
{
    uint32_t core = event->finished.core, access = event->finished.name;
    if (access >= OPEN || !self->open[core * OPEN + access]) {
        return;
    }
    self->open[core * OPEN + access] = 0;
    gpc_trace_record_t *record = add(self, GPC_TRACE_FINISH, core, GPC_NEVER);
    record->cycle = event->finished.done;
    record->extra = event->finished.issued;
    record->access = access;
    record->warp = (uint16_t) event->finished.warp;
}

static void
note_warp(gpc_trace_t *self, gpc_trace_kind_t kind, uint32_t core, uint32_t warp, uint32_t state, uint64_t extra)
{
    if (is_wanted(self, kind)) {
        gpc_trace_record_t *record = add(self, kind, core, GPC_NEVER);
        record->warp = (uint16_t) warp;
        record->state = (uint8_t) state;
        record->extra = extra;
    }
}

static void
note_ordered(gpc_trace_t *self, const gpc_observation_t *event)
{
    uint8_t kind = event->ordered.access->kind, order = event->ordered.access->order;
    if (kind == GPC_ACCESS_FENCE || kind == GPC_ACCESS_EXIT) {
        note_warp(self, kind == GPC_ACCESS_FENCE ? GPC_TRACE_FENCE : GPC_TRACE_EXIT, event->ordered.core,
                  event->ordered.warp, order, 0);
    }
}

static void
note_block(gpc_trace_t *self, const gpc_observation_t *event)
{
    for (uint32_t i = 0; i < event->block.warps; i++) {
        note_warp(self, GPC_TRACE_BLOCK, event->block.core, event->block.first_warp + i, 0, event->block.number);
    }
}

/* ---- the subscriber ---------------------------------------------------------------------------------------------- */

static void
note(gpc_trace_t *self, const gpc_observation_t *event)
{
    switch (event->kind) {
        case GPC_ON_CELL:
            note_cell(self, event->cell.step, event->cell.cell, event->cell.event);
            break;
        case GPC_ON_SENT:
            note_sent(self, event->sent.unit, event->sent.msg, event->sent.to);
            break;
        case GPC_ON_COMPLETED:
            note_completed(self, event);
            break;
        case GPC_ON_MEMORY:
            note_memory(self, event);
            break;
        case GPC_ON_FLASHED:
            note_warp(self, GPC_TRACE_FLASH, event->flashed.unit->node, UINT16_MAX, 0, 0);
            break;
        case GPC_ON_ACCESSED:
            note_access(self, &event->accessed);
            break;
        case GPC_ON_ORDERED:
            note_ordered(self, event);
            break;
        case GPC_ON_ARRIVED:
            note_warp(self, GPC_TRACE_BARRIER, event->arrived.core, event->arrived.warp, event->arrived.id,
                      event->arrived.released);
            break;
        case GPC_ON_BLOCK:
            note_block(self, event);
            break;
        default:
            break;
    }
}

static int
on_event(void *trace, const gpc_observation_t *event)
{
    gpc_trace_t *self = trace;
    gpc_cycle_t now = self->cores->hooks.now(self->cores->hooks.world);
    if (event->kind == GPC_ON_FINISHED) {
        note_finished(self, event); /* of an access in the window, also after its end */
    } else if (now >= self->filter.begin && now < self->filter.end) {
        note(self, event);
    }
    return GPC_OK;
}

gpc_trace_t *
gpc_trace_new(gpc_stream_t *stream, const gpc_cores_t *cores, const gpc_trace_filter_t *filter)
{
    size_t open = (size_t) cores->machine->cores * OPEN, records = filter->records * sizeof(gpc_trace_record_t);
    gpc_trace_t *self = calloc(1, sizeof(*self) + records + open);
    if (self) {
        self->cores = cores;
        self->filter = *filter;
        self->open = (uint8_t *) self->records + records;
        self->subscriber = (gpc_subscriber_t){.observe = on_event, .self = self};
        gpc_subscribe(stream, &self->subscriber,
                      GPC_KIND(CELL) | GPC_KIND(SENT) | GPC_KIND(COMPLETED) | GPC_KIND(MEMORY) | GPC_KIND(FLASHED) |
                          GPC_KIND(ACCESSED) | GPC_KIND(FINISHED) | GPC_KIND(ORDERED) | GPC_KIND(ARRIVED) |
                          GPC_KIND(BLOCK));
    }
    return self;
}

void
gpc_trace_free(gpc_trace_t *self)
{
    if (self) {
        gpc_unsubscribe(&self->subscriber);
        free(self);
    }
}

uint64_t
gpc_trace_count(const gpc_trace_t *self)
{
    return self->count;
}

uint64_t
gpc_trace_first(const gpc_trace_t *self)
{
    return self->count > self->filter.records ? self->count - self->filter.records : 0;
}

const gpc_trace_record_t *
gpc_trace_record(const gpc_trace_t *self, uint64_t number)
{
    return &self->records[number % self->filter.records];
}

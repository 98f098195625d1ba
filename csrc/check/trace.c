#include "check/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum { A_STEP, A_SEND, A_COMPLETE, A_FETCH, A_WRITE } record_kind_t;

typedef struct {
    gpc_cycle_t cycle;
    const gpc_controller_t *unit; /* borrowed: lives as long as the GPU */
    const gpc_table_t *table;     /* of a step */
    const gpc_cell_t *cell;       /* of a step */
    uint8_t kind;                 /* record_kind_t */
    uint8_t state, event, type;
    bool has_message, has_value, has_copy;
    gpc_node_t source, destination;
    uint16_t warp;
    gpc_mask_t mask;
    uint32_t value; /* of the word, in the message */
    uint32_t copy;  /* of the word, in the controller's way, before the step */
} record_t;

struct gpc_trace {
    gpc_subscriber_t subscriber;
    gpc_address_t line;
    uint32_t word, capacity;
    uint64_t count;
    record_t records[];
};

/* ---- recording --------------------------------------------------------------------------------------------------- */

static record_t *
next_record(gpc_trace_t *self, const gpc_controller_t *unit, record_kind_t kind)
{
    record_t *record = &self->records[self->count++ % self->capacity];
    *record = (record_t){.cycle = unit->ports->now(unit->world), .unit = unit, .kind = (uint8_t) kind};
    return record;
}

static bool
carries_words(const gpc_controller_t *unit, const gpc_msg_t *msg)
{
    if (msg->type < GPC_MSG_OWN) {
        return msg->type == GPC_MSG_STORE || msg->type == GPC_MSG_FILL;
    }
    const gpc_message_info_t *info = &unit->protocol->messages[msg->type - GPC_MSG_OWN];
    return info->bytes_per_word || info->whole_line;
}

static void
note_message(const gpc_trace_t *self, record_t *record, const gpc_msg_t *msg)
{
    record->has_message = true;
    record->type = msg->type;
    record->source = msg->source;
    record->destination = msg->destination;
    record->warp = msg->warp;
    record->mask = msg->mask;
    if (carries_words(record->unit, msg) && (msg->type == GPC_MSG_FILL || (msg->mask >> self->word & 1))) {
        record->has_value = true;
        record->value = msg->data[self->word];
    }
}

static void
note_cell(gpc_trace_t *self, const gpc_step_t *x, const gpc_cell_t *cell, uint8_t event)
{
    record_t *record = next_record(self, x->unit, A_STEP);
    record->table = x->table;
    record->cell = cell;
    record->state = x->state;
    record->event = event;
    if (gpc_has_message(x)) {
        note_message(self, record, x->msg);
    }
    if (x->way != GPC_NONE && x->unit->type->arrays[x->array].has_data) {
        record->has_copy = true;
        record->copy = gpc_tags_words(&x->unit->arrays[x->array], x->way)[self->word];
    }
}

/* A message that leaves a controller; a broadcast is one record for each node. */
static void
note_sent(gpc_trace_t *self, const gpc_controller_t *from, const gpc_msg_t *msg, const gpc_nodeset_t *to)
{
    if (!to) {
        note_message(self, next_record(self, from, A_SEND), msg);
    }
    for (uint32_t i = 0; to && i < GPC_NODESET_WORDS; i++) {
        for (uint64_t left = to->bits[i]; left; left &= left - 1) {
            record_t *record = next_record(self, from, A_SEND);
            note_message(self, record, msg);
            record->destination = (gpc_node_t) (i * 64 + (uint32_t) __builtin_ctzll(left));
        }
    }
}

/* The masked words of the line: loaded by a request, or written to memory. NULL: there are none. */
static void
note_words(const gpc_trace_t *self, record_t *record, gpc_mask_t mask, const uint32_t *words)
{
    record->mask = mask;
    record->has_value = words && (mask >> self->word & 1);
    record->value = record->has_value ? words[self->word] : 0;
}

static int
on_event(void *trace, const gpc_observation_t *event)
{
    gpc_trace_t *self = trace;
    record_t *record;
    switch (event->kind) {
        case GPC_ON_CELL:
            if (event->cell.step->line == self->line) {
                note_cell(self, event->cell.step, event->cell.cell, event->cell.event);
            }
            break;
        case GPC_ON_SENT:
            if (event->sent.msg->line == self->line) {
                note_sent(self, event->sent.unit, event->sent.msg, event->sent.to);
            }
            break;
        case GPC_ON_COMPLETED:
            if (event->completed.msg->line == self->line) {
                record = next_record(self, event->completed.unit, A_COMPLETE);
                note_message(self, record, event->completed.msg);
                note_words(self, record, event->completed.msg->mask, event->completed.words);
            }
            break;
        case GPC_ON_MEMORY:
            if (event->memory.line == self->line) {
                record = next_record(self, event->memory.unit, event->memory.words ? A_WRITE : A_FETCH);
                note_words(self, record, event->memory.mask, event->memory.words);
            }
            break;
        default:
            break;
    }
    return GPC_OK;
}

gpc_trace_t *
gpc_trace_new(gpc_stream_t *stream, gpc_address_t line, uint32_t word, uint32_t records)
{
    gpc_trace_t *self = calloc(1, sizeof(*self) + records * sizeof(record_t));
    if (self) {
        self->line = line;
        self->word = word;
        self->capacity = records;
        self->subscriber = (gpc_subscriber_t){.observe = on_event, .self = self};
        gpc_subscribe(stream, &self->subscriber,
                      GPC_KIND(CELL) | GPC_KIND(SENT) | GPC_KIND(COMPLETED) | GPC_KIND(MEMORY));
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

/* ---- printing ---------------------------------------------------------------------------------------------------- */

static const char *
message_name(const gpc_controller_t *unit, uint8_t type)
{
    static const char *const common[] = {
#define X(name, text) #name,
        GPC_COMMON_MESSAGES(X)
#undef X
    };
    if (type >= GPC_MSG_OWN) {
        return unit->protocol->messages[type - GPC_MSG_OWN].name;
    }
    return type < GPC_NUM_COMMON_MESSAGES ? common[type] : "?";
}

/* Prints "L1_V" as "V": the column before names the controller. */
static const char *
short_name(const char *name)
{
    const char *underscore = strchr(name, '_');
    return underscore ? underscore + 1 : name;
}

/* Node numbers are cores, then banks. */
static void
name_node(const gpc_controller_t *unit, gpc_node_t node, char *out, size_t size)
{
    bool bank = node >= unit->machine->cores;
    (void) snprintf(out, size, "%s %u", bank ? "bank" : "core", bank ? node - unit->machine->cores : (unsigned) node);
}

static void
print_value(gpc_text_t *out, bool has, uint32_t value)
{
    if (has) {
        gpc_text_add(out, " %10x", value);
    } else {
        gpc_text_add(out, " %10s", "");
    }
}

static void
print_step(const record_t *record, gpc_text_t *out)
{
    static const char *const kinds[] = {"impossible",  "", "", "waits for the line", "waits in its queue",
                                        "not a victim"};
    const gpc_table_t *table = record->table;
    uint8_t kind = record->cell->kind;
    bool moves = kind == GPC_CELL_GO || kind == GPC_CELL_REDO;
    const char *event = record->event < table->num_events ? short_name(table->events[record->event].name) : "?";

    gpc_text_add(out, " %-10s %-18s %-10s", short_name(table->states[record->state].name), event,
                 moves ? short_name(table->states[record->cell->next].name) : "");
    print_value(out, record->has_copy, record->copy);
    print_value(out, record->has_value, record->value);
    gpc_text_add(out, "  %s", kinds[kind]);
    gpc_fsm_print_actions(out, record->cell);
    gpc_text_add(out, "%s", kind == GPC_CELL_REDO ? "; then again" : "");
    if (record->has_message) {
        char source[24];
        name_node(record->unit, record->source, source, sizeof(source));
        gpc_text_add(out, " | %s from %s", message_name(record->unit, record->type), source);
        if (record->type < GPC_MSG_FILL) {
            gpc_text_add(out, " warp %u, words %08x", record->warp, record->mask);
        }
    }
}

static void
print_other(const record_t *record, gpc_text_t *out)
{
    char to[24];
    const char *name = record->kind == A_FETCH   ? "read memory"
                       : record->kind == A_WRITE ? "write memory"
                                                 : message_name(record->unit, record->type);
    gpc_text_add(out, " %-10s %-18s %-10s", record->kind == A_COMPLETE ? "done" : "sends", name, "");
    print_value(out, false, 0);
    print_value(out, record->has_value, record->value);
    if (record->kind == A_SEND) {
        name_node(record->unit, record->destination, to, sizeof(to));
        gpc_text_add(out, "  to %s", to);
    } else if (record->kind == A_COMPLETE) {
        gpc_text_add(out, "  warp %u, words %08x", record->warp, record->mask);
    }
}

void
gpc_trace_print(const gpc_trace_t *self, gpc_text_t *out)
{
    uint64_t first = self->count > self->capacity ? self->count - self->capacity : 0;

    gpc_text_add(out, "%9s %-7s %-10s %-18s %-10s %10s %10s  %s\n", "cycle", "where", "state", "event", "next", "copy",
                 "message", "what");
    for (uint64_t i = first; i < self->count; i++) {
        const record_t *record = &self->records[i % self->capacity];
        gpc_text_add(out, "%9llu %-3s %-3u", (unsigned long long) record->cycle, record->unit->type->name,
                     record->unit->index);
        if (record->kind == A_STEP) {
            print_step(record, out);
        } else {
            print_other(record, out);
        }
        gpc_text_add(out, "\n");
    }
}

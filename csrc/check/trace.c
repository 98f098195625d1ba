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
    gpc_address_t line;
    uint32_t word, capacity;
    uint64_t count;
    record_t records[];
};

gpc_trace_t *
gpc_trace_new(gpc_address_t line, uint32_t word, uint32_t records)
{
    gpc_trace_t *self = calloc(1, sizeof(*self) + records * sizeof(record_t));
    if (self) {
        self->line = line;
        self->word = word;
        self->capacity = records;
    }
    return self;
}

void
gpc_trace_free(gpc_trace_t *self)
{
    free(self);
}

/* ---- writing down --------------------------------------------------------------------------------------------------------------- */

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

void
gpc_trace_step(gpc_trace_t *self, const gpc_step_t *x, uint8_t event, const gpc_cell_t *cell)
{
    if (x->line != self->line) {
        return;
    }
    record_t *record = next_record(self, x->unit, A_STEP);
    record->table = x->table;
    record->cell = cell;
    record->state = x->state;
    record->event = event;
    if (x->msg) {
        note_message(self, record, x->msg);
    }
    if (x->way != GPC_NONE && x->unit->type->arrays[x->array].has_data) {
        record->has_copy = true;
        record->copy = gpc_tags_words(&x->unit->arrays[x->array], x->way)[self->word];
    }
}

void
gpc_trace_send(gpc_trace_t *self, const gpc_controller_t *from, const gpc_msg_t *msg)
{
    if (msg->line == self->line) {
        note_message(self, next_record(self, from, A_SEND), msg);
    }
}

void
gpc_trace_complete(gpc_trace_t *self, const gpc_controller_t *l1, const gpc_msg_t *msg, const uint32_t *words)
{
    if (msg->line != self->line) {
        return;
    }
    record_t *record = next_record(self, l1, A_COMPLETE);
    note_message(self, record, msg);
    record->has_value = words && (msg->mask >> self->word & 1);
    record->value = record->has_value ? words[self->word] : 0;
}

void
gpc_trace_memory(gpc_trace_t *self, const gpc_controller_t *unit, gpc_address_t line, gpc_mask_t mask,
                 const uint32_t *words)
{
    if (line != self->line) {
        return;
    }
    record_t *record = next_record(self, unit, words ? A_WRITE : A_FETCH);
    record->mask = mask;
    record->has_value = words && (mask >> self->word & 1);
    record->value = record->has_value ? words[self->word] : 0;
}

/* ---- printing ----------------------------------------------------------------------------------------------------------------------- */

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

/* "L1_V" prints as "V": the preceding column names the controller. */
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

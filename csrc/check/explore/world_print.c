/* world_print.c: prints a move of the explorer's world, and the changes it made, as members of a JSON object. */
#include <inttypes.h>
#include <string.h>

#include "check/explore/world.h"

static const char *
without_prefix(const char *name)
{
    const char *at = strchr(name, '_');
    return at ? at + 1 : name;
}

/* ---- states ------------------------------------------------------------------------------------------------------ */

static bool
is_over_lines(const gpc_controller_t *unit)
{
    return unit->type->tables[0]->object == GPC_OVER_LINES;
}

static uint8_t
state_of(const gpc_controller_t *unit, gpc_address_t line)
{
    gpc_index_t mshr = gpc_mshr_find(&unit->mshrs, line);
    if (mshr != GPC_NONE) {
        return gpc_mshr_at(&unit->mshrs, mshr)->state;
    }
    for (uint8_t array = 0; array < GPC_MAX_ARRAYS && unit->arrays[array].sets; array++) {
        gpc_index_t way = gpc_tags_find(&unit->arrays[array], line);
        if (way != GPC_NONE) {
            return unit->arrays[array].tags[way].state;
        }
    }
    return unit->type->tables[0]->initial;
}

void
gpc_world_look(const gpc_world_t *self, gpc_world_view_t *view)
{
    for (uint32_t node = 0; node < self->nodes.count; node++) {
        for (uint32_t line = 0; line < self->lines; line++) {
            const gpc_controller_t *unit = &self->controllers[node];
            view->state[node][line] = is_over_lines(unit) ? state_of(unit, gpc_world_address(line)) : 0;
        }
    }
    for (uint32_t t = 0; t < self->what->num_threads; t++) {
        view->completed[t] = self->state->threads[t].next_op - self->state->threads[t].outstanding;
    }
}

/* The line's metadata and words in its present array or MSHR entry, e.g. "timestamp=3 data=1". */
static void
print_detail(const gpc_controller_t *unit, gpc_address_t line, gpc_text_t *out)
{
    gpc_text_t detail;
    gpc_index_t mshr = gpc_mshr_find(&unit->mshrs, line), way = GPC_NONE;

    gpc_text_init(&detail);
    if (unit->arrays[0].sets) {
        way = gpc_tags_find(&unit->arrays[0], line);
    }
    if (way != GPC_NONE && mshr == GPC_NONE) {
        if (unit->type->arrays[0].line) {
            gpc_print_described(&detail, unit->type->arrays[0].line(), gpc_tags_fields(&unit->arrays[0], way));
        }
        const uint32_t *words = gpc_tags_words(&unit->arrays[0], way);
        gpc_text_add(&detail, "%sdata=%u", detail.length ? " " : "", words[0]);
        for (uint32_t word = 1; word < GPC_WORLD_LINE_WORDS; word++) {
            gpc_text_add(&detail, ",%u", words[word]);
        }
    } else if (mshr != GPC_NONE && unit->type->mshr) {
        gpc_print_described(&detail, unit->type->mshr(), gpc_mshr_fields(&unit->mshrs, mshr));
    }
    gpc_text_add_string(out, detail.bytes ? detail.bytes : "");
    gpc_text_free(&detail);
}

static void
add_reads(const gpc_world_t *self, const gpc_world_view_t *before, gpc_text_t *out)
{
    gpc_text_open(out, "completed", "[");
    for (uint32_t t = 0; t < self->what->num_threads; t++) {
        const gpc_world_thread_t *thread = &self->state->threads[t];
        if (thread->next_op - thread->outstanding > before->completed[t]) {
            gpc_text_add_comma(out);
            gpc_text_add(out, "%u", t);
        }
    }
    gpc_text_add(out, "]");
    gpc_text_open(out, "values", "[");
    for (uint32_t t = 0; t < self->what->num_threads; t++) {
        gpc_text_open(out, NULL, "[");
        for (uint32_t op = 0; op < self->what->threads[t].num_ops; op++) {
            gpc_text_add(out, op ? ", %" PRIu64 : "%" PRIu64, self->state->threads[t].read[op]);
        }
        gpc_text_add(out, "]");
    }
    gpc_text_add(out, "]");
}

void
gpc_world_print_changes(const gpc_world_t *self, const gpc_world_view_t *before, gpc_text_t *out)
{
    gpc_world_view_t after;

    gpc_world_look(self, &after);
    gpc_text_open(out, "changes", "[");
    for (uint32_t node = 0; node < self->nodes.count; node++) {
        const gpc_controller_t *unit = &self->controllers[node];
        for (uint32_t line = 0; line < self->lines; line++) {
            if (!is_over_lines(unit) || before->state[node][line] == after.state[node][line]) {
                continue;
            }
            gpc_text_open(out, NULL, "{");
            gpc_text_add_count(out, "node", node);
            gpc_text_add_count(out, "line", line);
            gpc_text_add_text(out, "was",
                              without_prefix(unit->type->tables[0]->states[before->state[node][line]].name));
            gpc_text_add_text(out, "state",
                              without_prefix(unit->type->tables[0]->states[after.state[node][line]].name));
            gpc_text_add_key(out, "detail");
            print_detail(unit, gpc_world_address(line), out);
            gpc_text_add(out, "}");
        }
    }
    gpc_text_add(out, "]");
    add_reads(self, before, out);
    gpc_text_add_count(out, "now", self->state->now);
}

/* ---- moves ------------------------------------------------------------------------------------------------------- */

/* A message's line, fields and words. */
static void
print_message(const gpc_world_t *self, gpc_index_t i, gpc_text_t *out)
{
    const gpc_msg_t *msg = gpc_msg_at(&self->messages, i);
    const gpc_message_info_t *info =
        msg->type >= GPC_MSG_OWN ? &self->protocol->messages[msg->type - GPC_MSG_OWN] : NULL;
    gpc_text_t detail;

    gpc_text_add_text(out, "message", info ? info->name : msg->type == GPC_MSG_FILL ? "FILL" : "TIMER");
    gpc_text_add_count(out, "to", msg->destination);
    if (msg->line != GPC_NEVER) {
        gpc_text_add_count(out, "line", msg->line / GPC_WORLD_LINE_BYTES);
    }
    gpc_text_init(&detail);
    if (info && self->protocol->message) {
        gpc_print_described(&detail, self->protocol->message(), msg->fields);
    }
    if (msg->type == GPC_MSG_FILL || (info && (info->whole_line || info->bytes_per_word))) {
        gpc_text_add(&detail, "%sdata=%u", detail.length ? " " : "", msg->data[0]);
        for (uint32_t word = 1; word < GPC_WORLD_LINE_WORDS; word++) {
            gpc_text_add(&detail, ",%u", msg->data[word]);
        }
    }
    gpc_text_add_text(out, "detail", detail.bytes);
    gpc_text_free(&detail);
}

static gpc_index_t
message_at(const gpc_world_t *self, const gpc_list_t *list, uint32_t position)
{
    gpc_index_t i = list->head;
    for (; position; position--) {
        i = gpc_msg_at(&self->messages, i)->next;
    }
    return i;
}

void
gpc_world_print_move(const gpc_world_t *self, const gpc_move_t *move, gpc_text_t *out)
{
    static const char *const kinds[] = {"issue", "deliver", "memory", "replay",     "entry", "evict",
                                        "end",   "kernel",  "timer",  "background", "time"};

    gpc_text_add_text(out, "kind", kinds[move->kind]);
    switch ((gpc_move_kind_t) move->kind) {
        case GPC_MOVE_ISSUE:
            gpc_text_add_count(out, "thread", move->a);
            gpc_text_add_count(out, "op", self->state->threads[move->a].next_op);
            gpc_text_add_count(out, "to", self->what->threads[move->a].core);
            return;
        case GPC_MOVE_DELIVER:
            gpc_text_add_count(out, "from", move->a);
            print_message(self, message_at(self, gpc_world_channel(self, move->a, move->b, move->c), move->position),
                          out);
            return;
        case GPC_MOVE_MEMORY:
            print_message(self, message_at(self, &self->state->answers, move->position), out);
            return;
        case GPC_MOVE_TIMER:
            print_message(self, message_at(self, &self->state->timers, move->position), out);
            return;
        case GPC_MOVE_BACKGROUND:
            print_message(self, message_at(self, &self->state->background, move->position), out);
            return;
        case GPC_MOVE_REPLAY:
        case GPC_MOVE_END:
            gpc_text_add_count(out, "to", move->a);
            return;
        case GPC_MOVE_ENTRY: {
            const gpc_controller_t *unit = &self->controllers[move->a];
            const gpc_part_t *part = &unit->parts[move->b];
            gpc_text_add_count(out, "to", move->a);
            gpc_text_add_count(out, "line", gpc_part_line(part, part->ready->head) / GPC_WORLD_LINE_BYTES);
            gpc_text_add_text(out, "part", unit->type->parts[move->b].name);
            return;
        }
        case GPC_MOVE_EVICT:
            gpc_text_add_count(out, "to", move->a);
            gpc_text_add_count(out, "line", move->b);
            return;
        case GPC_MOVE_KERNEL:
        case GPC_MOVE_TIME:
            return;
    }
}

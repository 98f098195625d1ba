/* monitor_cells.c: the last cell of each line, which a violation names; the L1s that may have a copy of it; the order
 * in which banks take stores and pass atomics on, where these are performed beyond them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/monitor/monitor_parts.h"

enum { PAGE_LINES = 64 };

int
gpc_monitor_init_cells(gpc_monitor_t *self)
{
    gpc_pages_init(&self->lines, PAGE_LINES * sizeof(gpc_monitored_line_t));
    gpc_pages_init(&self->order.stores, GPC_SHADOW_PAGE_WORDS * sizeof(uint64_t));
    if (self->watched.atomics_apart) {
        self->order.passed = calloc(self->about.messages->capacity, sizeof(*self->order.passed));
    }
    return self->watched.atomics_apart && !self->order.passed ? GPC_ERROR_MEMORY : GPC_OK;
}

void
gpc_monitor_free_cells(gpc_monitor_t *self)
{
    gpc_monitor_forget_cells(self);
    free(self->order.passed);
    self->order.passed = NULL;
}

void
gpc_monitor_forget_cells(gpc_monitor_t *self)
{
    gpc_pages_free(&self->lines);
    gpc_pages_free(&self->order.stores);
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

gpc_monitored_line_t *
gpc_monitor_line(gpc_monitor_t *self, gpc_address_t line)
{
    uint64_t number = line / self->about.machine->line_bytes;
    gpc_monitored_line_t *page = gpc_pages_make(&self->lines, number / PAGE_LINES);
    return page ? &page[number % PAGE_LINES] : NULL;
}

int
gpc_monitor_cell(gpc_monitor_t *self, const gpc_step_t *x, const gpc_cell_t *cell, uint8_t event)
{
    if (x->line == GPC_NEVER || (cell->kind != GPC_CELL_GO && cell->kind != GPC_CELL_REDO)) {
        return GPC_OK;
    }
    if (self->order.passed && x->unit->type->position == GPC_AT_BANK && gpc_has_message(x) &&
        x->msg->lanes != GPC_NONE && x->msg->request != GPC_NONE) {
        self->order.passed[x->msg->request] = ++self->order.count;
    }
    gpc_monitored_line_t *line = gpc_monitor_line(self, x->line);
    if (!line) {
        return GPC_ERROR_MEMORY;
    }
    line->last = (gpc_last_cell_t){x->unit, x->table, gpc_monitor_now(x->unit), x->state, event};
    if (x->unit->type->position == GPC_AT_CORE) {
        gpc_nodeset_add(&line->holders, (gpc_node_t) x->unit->index);
    }
    return GPC_OK;
}

void
gpc_monitor_name_cell(gpc_monitor_t *self)
{
    gpc_failure_t *failure = self->about.l1s[0]->failure;
    uint64_t number = failure->line / self->about.machine->line_bytes;
    const gpc_monitored_line_t *page =
        failure->line == GPC_NEVER ? NULL : gpc_pages_find(&self->lines, number / PAGE_LINES);
    const gpc_last_cell_t *last = page ? &page[number % PAGE_LINES].last : NULL;
    size_t length = strlen(failure->text);

    if (last && last->unit) {
        (void) snprintf(failure->text + length, sizeof(failure->text) - length,
                        "; last cell of the line: %s %" PRIu32 ", table %s, state %s, event %s, core cycle %" PRIu64,
                        last->unit->type->name, last->unit->index, last->table->name,
                        last->table->states[last->state].name, last->table->events[last->event].name, last->cycle);
    }
}

/* ---- the banks' order -------------------------------------------------------------------------------------------- */

int
gpc_monitor_note_stored(gpc_monitor_t *self, gpc_address_t address)
{
    if (!self->order.passed) {
        return GPC_OK;
    }
    uint64_t word = address / 4, *page = gpc_pages_make(&self->order.stores, word / GPC_SHADOW_PAGE_WORDS);
    if (!page) {
        return GPC_ERROR_MEMORY;
    }
    page[word % GPC_SHADOW_PAGE_WORDS] = ++self->order.count;
    return GPC_OK;
}

bool
gpc_monitor_is_overtaken(const gpc_monitor_t *self, const gpc_msg_t *atomic, gpc_address_t address)
{
    uint64_t word = address / 4;
    const uint64_t *page =
        self->order.passed ? gpc_pages_find(&self->order.stores, word / GPC_SHADOW_PAGE_WORDS) : NULL;
    return page && page[word % GPC_SHADOW_PAGE_WORDS] > self->order.passed[atomic->request];
}

/* step.h: the begin and the end of a step about a line, inlined into the files whose steps are frequent. */
#ifndef GPC_CONTROLLER_STEP_H
#define GPC_CONTROLLER_STEP_H

#include "controller/controller.h"

/* The line's transaction in the first table over lines or words that has one; entries and the unit wait for it. */
static inline gpc_index_t
gpc_any_transaction(const gpc_controller_t *self, gpc_address_t line)
{
    for (uint32_t left = self->line_tables; left; left &= left - 1) {
        gpc_index_t mshr = gpc_mshr_find_for(&self->mshrs, line, (uint8_t) __builtin_ctz(left));
        if (mshr != GPC_NONE) {
            return mshr;
        }
    }
    return GPC_NONE;
}

/* A step before its way and transaction are looked up. */
static inline __attribute__((always_inline)) void
gpc_step_init(gpc_controller_t *self, gpc_step_t *x, uint8_t table, uint8_t cause, gpc_address_t line,
              gpc_index_t message)
{
    bool over_lines = self->type->tables[table]->object <= GPC_OVER_WORDS;

    *x = (gpc_step_t) {.unit = self,
                       .table = self->type->tables[table],
                       .table_number = table,
                       .array = over_lines ? self->type->object_of[table] : 0,
                       .cause = cause,
                       .message = message,
                       .msg = gpc_msg_at(self->messages, message == GPC_NONE ? self->messages->capacity : message),
                       .line = line,
                       .way = GPC_NONE,
                       .mshr = GPC_NONE,
                       .entry = GPC_NONE};
    x->mask = message == GPC_NONE ? GPC_NO_WORDS : x->msg->mask;
}

/* gpc_step_about_line, for the callers that every message passes. */
static inline __attribute__((always_inline)) void
gpc_step_begin(gpc_controller_t *self, gpc_step_t *x, uint8_t table, uint8_t cause, gpc_address_t line,
               gpc_index_t message)
{
    gpc_step_init(self, x, table, cause, line, message);
    uint8_t array = x->array;
    if (self->arrays[array].sets) {
        x->way = gpc_tags_find(&self->arrays[array], line);
    }
    if (x->table->object > GPC_OVER_WORDS) {
        x->mshr = line == GPC_NEVER ? GPC_NONE : gpc_any_transaction(self, line);
        return;
    }
    /* a present way without a transaction saves the MSHR look-up */
    x->mshr = x->way == GPC_NONE ? gpc_mshr_find_for(&self->mshrs, line, table) : self->arrays[array].tags[x->way].mshr;
}

/* Disposes of the message after the step: freed, kept, or waiting for the line; the caller handles the queue. */
GPC_MUST_CHECK static inline int
gpc_step_finish(gpc_step_t *x, int status)
{
    if (status == GPC_OK && !x->kept) {
        gpc_free_message(x->unit, x->message);
    }
    if (status == GPC_HELD_LINE) {
        return gpc_step_hold_line(x);
    }
    x->unit->statistics->held_queue += status == GPC_HELD_QUEUE;
    return status;
}

#endif

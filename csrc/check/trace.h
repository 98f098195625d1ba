/* trace.h: a trace of one line: steps of the controllers' tables, messages sent, memory accesses and completions. It keeps the last
 * records, up to its capacity. When off (the default), a step costs one branch. */
#ifndef GPC_CHECK_TRACE_H
#define GPC_CHECK_TRACE_H

#include "controller/protocol.h"

typedef struct gpc_trace gpc_trace_t;

/* The line, and the word whose values are recorded. NULL: out of memory. */
gpc_trace_t *gpc_trace_new(gpc_address_t line, uint32_t word, uint32_t records);
void gpc_trace_free(gpc_trace_t *self); /* NULL too */

/* A step of a table, before its cell is executed. */
void gpc_trace_step(gpc_trace_t *self, const gpc_step_t *x, uint8_t event, const gpc_cell_t *cell);
/* A message that leaves a controller. */
void gpc_trace_send(gpc_trace_t *self, const gpc_controller_t *from, const gpc_msg_t *msg);
/* The words that complete a core's request (NULL: a store or an atomic). */
void gpc_trace_complete(gpc_trace_t *self, const gpc_controller_t *l1, const gpc_msg_t *msg, const uint32_t *words);
/* A memory write (words) or a fetch of the line (NULL). */
void gpc_trace_memory(gpc_trace_t *self, const gpc_controller_t *unit, gpc_address_t line, gpc_mask_t mask,
                      const uint32_t *words);

/* Columns: cycle, controller, state, event or message, next state, values if any, and the actions; oldest first. */
void gpc_trace_print(const gpc_trace_t *self, gpc_text_t *out);

#endif

/* trace.h: what happens to one line, written down: the steps of the controllers' tables about it, the messages that leave, what
 * memory is asked and what cores get. The last so many records are kept. Off unless asked for: then a step costs one branch. */
#ifndef GPC_CHECK_TRACE_H
#define GPC_CHECK_TRACE_H

#include "controller/protocol.h"

typedef struct gpc_trace gpc_trace_t;

/* The line, and which of its words' values are told. NULL: out of memory. */
gpc_trace_t *gpc_trace_new(gpc_address_t line, uint32_t word, uint32_t records);
void gpc_trace_free(gpc_trace_t *self); /* NULL too */

/* A step of a table, when its cell is known and before it is carried out. */
void gpc_trace_step(gpc_trace_t *self, const gpc_step_t *x, uint8_t event, const gpc_cell_t *cell);
/* A message that leaves a controller. */
void gpc_trace_send(gpc_trace_t *self, const gpc_controller_t *from, const gpc_msg_t *msg);
/* The words that a core's request gets (NULL: a store or an atomic). */
void gpc_trace_complete(gpc_trace_t *self, const gpc_controller_t *l1, const gpc_msg_t *msg, const uint32_t *words);
/* Memory is written (words) or asked for the line (NULL). */
void gpc_trace_memory(gpc_trace_t *self, const gpc_controller_t *unit, gpc_address_t line, gpc_mask_t mask,
                      const uint32_t *words);

/* Columns: cycle, controller, state, event or message, next state, the value where there is one, and what was done; oldest first. */
void gpc_trace_print(const gpc_trace_t *self, gpc_text_t *out);

#endif

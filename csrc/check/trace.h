/* trace.h: a trace of one line: steps of controllers' tables, messages sent, memory requests and completed requests. It
 * keeps the last records only. */
#ifndef GPC_CHECK_TRACE_H
#define GPC_CHECK_TRACE_H

#include "controller/protocol.h"

typedef struct gpc_trace gpc_trace_t;

/* Subscribes to the stream. `word`: the word of the line whose values are recorded. NULL: out of memory. */
gpc_trace_t *gpc_trace_new(gpc_stream_t *stream, gpc_address_t line, uint32_t word, uint32_t records);
void gpc_trace_free(gpc_trace_t *self); /* NULL too */

/* Columns: cycle, controller, state, event or message, next state, values, and action; oldest first. */
void gpc_trace_print(const gpc_trace_t *self, gpc_text_t *out);

#endif

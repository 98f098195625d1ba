/* writer.h: a store or atomic at the controller that performs it: the current message if it is a request, else the
 * first pending one, which has waited for a fill, acknowledgements or a time.
 *
 * A protocol's line fields begin with GPC_WRITER_LINE (asserted by GPC_KEEPS_DIRTY). */
#ifndef GPC_CONTROLLER_WRITER_H
#define GPC_CONTROLLER_WRITER_H

#include "controller/metadata.h"

#define GPC_WRITER_LINE(FIELD) FIELD(PLAIN, uint8_t, dirty) /* differs from memory */
GPC_METADATA(gpc_writer, line, GPC_WRITER_LINE)
#define GPC_KEEPS_DIRTY(owner) GPC_SAME_PLACE(owner##_line_t, gpc_writer_line_t, dirty)

static inline bool
gpc_is_dirty(const gpc_step_t *x)
{
    return x->way != GPC_NONE && gpc_writer_line(x)->dirty;
}
/* The store or atomic that is performed. */
GPC_API gpc_index_t gpc_writer(const gpc_step_t *x);
static inline gpc_msg_t *
gpc_writer_message(const gpc_step_t *x)
{
    return gpc_msg_at(x->unit->messages, gpc_writer(x));
}
/* Notes that it is performed (gpc_note_performed) and returns its answer, which the caller stamps and sends with
 * gpc_answer_writer. */
GPC_API gpc_msg_t *gpc_new_writer_answer(gpc_step_t *x, uint8_t type, gpc_cycle_t until);
/* Sends the answer; a store or atomic that was pending is freed. */
GPC_API GPC_MUST_CHECK int gpc_answer_writer(gpc_step_t *x, gpc_msg_t *answer);

/* Write the store's words, perform the atomic, or whichever it is: the line is then dirty. */
GPC_API_ACTION(writer_act_write);
GPC_API_ACTION(writer_act_perform);
GPC_API_ACTION(writer_act_access);
static inline bool
gpc_writer_stores(const gpc_step_t *x)
{
    return gpc_writer_message(x)->lanes == GPC_NONE;
}

#endif

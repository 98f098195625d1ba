/* sharers.h: sharer lists: the L1s that may have a copy of a line, stored beside the line or in a directory.
 *
 * A controller type declares where the list is stored: .sharers = GPC_SHARERS(array, owner, object, member). */
#ifndef GPC_CONTROLLER_SHARERS_H
#define GPC_CONTROLLER_SHARERS_H

#include "controller/metadata.h"

#define GPC_SHARERS(array_, owner, object, member) {.array = (array_), .offset = offsetof(owner##_##object##_t, member)}

/* The line's sharer list, in the array that the type declares. */
GPC_API gpc_nodeset_t *gpc_sharers(const gpc_step_t *x);
/* All sharers but the sender of the current message. */
static inline gpc_nodeset_t
gpc_other_sharers(const gpc_step_t *x)
{
    return gpc_nodeset_without(gpc_sharers(x), x->msg->source);
}
static inline bool
gpc_others_share(const gpc_step_t *x)
{
    gpc_nodeset_t others = gpc_other_sharers(x);
    return gpc_nodeset_count(&others) > 0;
}
/* Sends one message of the type to every node of the set. Its requester is that of the current message, as with
 * gpc_new_message; it names no request. */
GPC_API GPC_MUST_CHECK int gpc_call_in(gpc_step_t *x, uint8_t type, const gpc_nodeset_t *set);

GPC_API_ACTION(act_add_sharer);
GPC_API_ACTION(act_add_readers);
GPC_API_ACTION(act_clear_sharers);
GPC_API_ACTION(act_set_owner);

/* ---- acknowledgements that a transaction expects: its fields begin with GPC_SHARERS_MSHR ------------------------- */

#define GPC_SHARERS_MSHR(FIELD) FIELD(PLAIN, uint16_t, acknowledgements) /* still expected */
GPC_METADATA(gpc_sharers, mshr, GPC_SHARERS_MSHR)
#define GPC_COUNTS_ACKNOWLEDGEMENTS(owner) GPC_SAME_PLACE(owner##_mshr_t, gpc_sharers_mshr_t, acknowledgements)

/* gpc_call_in; then expects as many acknowledgements. */
GPC_API GPC_MUST_CHECK int gpc_call_in_and_wait(gpc_step_t *x, uint8_t type, const gpc_nodeset_t *set);
GPC_API_ACTION(act_count);

#endif

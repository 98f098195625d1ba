/* sharers.h: the list of L1s that may have a copy of a line, beside the line or in a directory of its own, and what its keeper does
 * with it.
 *
 * A controller type declares where the list is: .sharers = GPC_SHARERS(array, owner, object, member). */
#ifndef GPC_CONTROLLER_SHARERS_H
#define GPC_CONTROLLER_SHARERS_H

#include "controller/metadata.h"

#define GPC_SHARERS(array_, owner, object, member) {.array = (array_), .offset = offsetof(owner##_##object##_t, member)}

gpc_nodeset_t *gpc_sharers(const gpc_step_t *x);
/* All but the sender of the message in hand. */
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
void gpc_add_pending_sharers(const gpc_step_t *x); /* all who wait */
/* One message of the type, which names no request, to every node of the set. */
GPC_MUST_CHECK int gpc_call_in(gpc_step_t *x, uint8_t type, const gpc_nodeset_t *set);

GPC_DECLARE_ACTION(act_add_sharer);
GPC_DECLARE_ACTION(act_add_readers);
GPC_DECLARE_ACTION(act_clear_sharers);
GPC_DECLARE_ACTION(act_set_owner);

/* ---- acknowledgements that a transaction awaits: its fields begin with GPC_SHARERS_MSHR ------------------------------------- */

#define GPC_SHARERS_MSHR(FIELD) FIELD(PLAIN, uint16_t, acknowledgements) /* still to come */
GPC_METADATA(gpc_sharers, mshr, GPC_SHARERS_MSHR)
#define GPC_COUNTS_ACKNOWLEDGEMENTS(owner) GPC_SAME_PLACE(owner##_mshr_t, gpc_sharers_mshr_t, acknowledgements)

/* gpc_call_in; as many acknowledgements are then awaited. */
GPC_MUST_CHECK int gpc_call_in_and_wait(gpc_step_t *x, uint8_t type, const gpc_nodeset_t *set);
GPC_DECLARE_ACTION(act_count);

#endif

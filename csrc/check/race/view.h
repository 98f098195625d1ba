/* view.h: sparse vector clocks of the race detector.
 *
 * A thread's time advances by one at each of its releases. A view maps threads to the time up to which their accesses
 * happen before; other threads are unordered. Views are immutable and reference-counted: a join makes a new view, or
 * shares one of the two that includes the other. NULL is the empty view. */
#ifndef GPC_CHECK_VIEW_H
#define GPC_CHECK_VIEW_H

#include "base/types.h"

typedef struct {
    uint32_t thread, time;
} gpc_moment_t;

typedef struct {
    uint32_t shares, count;
    gpc_moment_t known[]; /* by thread */
} gpc_view_t;

gpc_view_t *gpc_view_share(gpc_view_t *self); /* adds a reference; NULL is allowed */
void gpc_view_drop(gpc_view_t *self);         /* drops a reference; NULL is allowed */
bool gpc_view_knows(const gpc_view_t *self, gpc_moment_t moment);
/* *into becomes the join of itself and `other`, whose reference the caller keeps. GPC_ERROR_MEMORY: nothing has
 * changed. */
GPC_MUST_CHECK int gpc_view_join(gpc_view_t **into, gpc_view_t *other);
/* Adds a moment to *into. */
GPC_MUST_CHECK int gpc_view_add(gpc_view_t **into, gpc_moment_t moment);

#endif

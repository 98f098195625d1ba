/* view.h: a sparse vector clock: what one thread of the memory model knows of the others.
 *
 * A thread's time advances by one at each of its releases. For some threads, a view contains the time up to which their accesses
 * happen before; for the others it contains nothing. Views are immutable and reference-counted: a join makes a new one, or
 * returns one of the two if it includes the other. NULL is the empty view. */
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

gpc_view_t *gpc_view_share(gpc_view_t *self); /* adds a reference; NULL remains NULL */
void gpc_view_drop(gpc_view_t *self);         /* drops a reference; NULL is valid */
bool gpc_view_knows(const gpc_view_t *self, gpc_moment_t moment);
/* *into becomes the join of itself and the other (whose references do not change). GPC_ERROR_MEMORY: no effect. */
GPC_MUST_CHECK int gpc_view_join(gpc_view_t **into, gpc_view_t *other);
/* Adds this moment to *into. */
GPC_MUST_CHECK int gpc_view_add(gpc_view_t **into, gpc_moment_t moment);

#endif

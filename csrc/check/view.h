/* view.h: what one thread of the memory model knows of the others: a vector clock, kept sparse.
 *
 * Time of a thread goes on by one at each of its releases. A view tells of some threads up to which of their times all that they
 * did happens before; of the others it knows nothing. Views never change and are shared by counting: a join makes a new one, or
 * gives the larger of the two when it has all that the other has. NULL is the view that knows of nobody. */
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

gpc_view_t *gpc_view_share(gpc_view_t *self); /* one more holder; NULL stays NULL */
void gpc_view_drop(gpc_view_t *self);         /* one holder less; NULL too */
bool gpc_view_knows(const gpc_view_t *self, gpc_moment_t moment);
/* *into becomes the join of itself and the other (which stays its holder's). GPC_ERROR_MEMORY: nothing has changed. */
GPC_MUST_CHECK int gpc_view_join(gpc_view_t **into, gpc_view_t *other);
/* *into also knows of this moment. */
GPC_MUST_CHECK int gpc_view_add(gpc_view_t **into, gpc_moment_t moment);

#endif

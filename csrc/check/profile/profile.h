/* profile.h: where a run's cycles, hits, misses, copies and flits go: by instruction, buffer and warp.
 *
 * A subscriber. Its counts add up to the run's statistics: cycles are reported when the cores count them, the counts of
 * a controller are read after each of its steps. It changes nothing in the world. */
#ifndef GPC_CHECK_PROFILE_H
#define GPC_CHECK_PROFILE_H

#include "base/text.h"
#include "controller/nodes.h"
#include "core/core.h"

typedef struct gpc_profile gpc_profile_t;

typedef struct { /* all borrowed */
    gpc_stream_t *stream;
    gpc_cores_t *cores;
    const gpc_nodes_t *nodes;
    const gpc_controller_t *controllers; /* [nodes->count] */
    const gpc_pool_t *messages;
    gpc_tick_t period; /* ticks of a core cycle */
} gpc_profiled_t;

GPC_MUST_CHECK int gpc_profile_create(const gpc_profiled_t *about, gpc_profile_t **out);
void gpc_profile_free(gpc_profile_t *self); /* NULL is allowed */
/* Adds the profile of the launches so far as one JSON object. */
GPC_MUST_CHECK int gpc_profile_print(gpc_profile_t *self, gpc_text_t *out);

#endif

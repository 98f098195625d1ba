/* canonical.h: a hash of the explorer's world that all equivalent states share, whatever their cores are called. */
#ifndef GPC_CHECK_CANONICAL_H
#define GPC_CHECK_CANONICAL_H

#include "check/explore/states.h"
#include "check/explore/world.h"

/* All zeros at first. */
typedef struct {
    uint8_t *encoding; /* owned; it grows */
    size_t bytes;
} gpc_canonical_t;

/* The smallest hash over all renamings of the world's state. 0 or GPC_ERROR_MEMORY. */
GPC_MUST_CHECK int gpc_canonical_hash(gpc_canonical_t *self, gpc_world_t *world, gpc_state_hash_t *hash);
void gpc_canonical_free(gpc_canonical_t *self);

#endif

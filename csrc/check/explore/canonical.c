/* canonical.c: hashes a state under every renaming of cores, and takes the least hash. */
#include "check/explore/canonical.h"

#include <stdlib.h>

static bool
is_less(gpc_state_hash_t one, gpc_state_hash_t other)
{
    return one.high != other.high ? one.high < other.high : one.low < other.low;
}

static int
grow(gpc_canonical_t *self)
{
    size_t bytes = self->bytes ? 2 * self->bytes : 4096;
    uint8_t *encoding = realloc(self->encoding, bytes);
    if (!encoding) {
        return GPC_ERROR_MEMORY;
    }
    self->encoding = encoding;
    self->bytes = bytes;
    return GPC_OK;
}

/* The hash of the state renamed by the symmetry. */
static int
hash_renamed(gpc_canonical_t *self, gpc_world_t *world, const gpc_symmetry_t *symmetry, gpc_state_hash_t *hash)
{
    for (;;) {
        gpc_encoder_t encoder = {.bytes = self->encoding, .capacity = self->bytes};
        gpc_world_encode(world, symmetry, &encoder);
        if (!encoder.overflow) {
            *hash = gpc_states_hash(self->encoding, encoder.length);
            return GPC_OK;
        }
        GPC_TRY(grow(self));
    }
}

int
gpc_canonical_hash(gpc_canonical_t *self, gpc_world_t *world, gpc_state_hash_t *hash)
{
    for (uint32_t i = 0; i < world->num_symmetries; i++) {
        gpc_state_hash_t one;
        GPC_TRY(hash_renamed(self, world, &world->symmetries[i], &one));
        *hash = i == 0 || is_less(one, *hash) ? one : *hash;
    }
    return GPC_OK;
}

void
gpc_canonical_free(gpc_canonical_t *self)
{
    free(self->encoding);
    *self = (gpc_canonical_t){0};
}

/* own_registry.h: a test's own protocols instead of the registry, in both worlds: gpc_gpu_create and gpc_explore find them by id.
 * A test includes it once, and its executable links no protocols/registry.c. */
#ifndef GPC_TESTS_OWN_REGISTRY_H
#define GPC_TESTS_OWN_REGISTRY_H

#include <string.h>

#include "protocols/registry.h"

/* Those that the test registers; they live as long as it does. */
static const gpc_protocol_t *own_protocols[8];
static uint32_t num_own_protocols;

static inline void
register_own(const gpc_protocol_t *protocol)
{
    own_protocols[num_own_protocols++] = protocol;
}

const gpc_protocol_t *
gpc_protocol_find(const char *id)
{
    for (uint32_t i = 0; i < num_own_protocols; i++) {
        if (strcmp(own_protocols[i]->id, id) == 0) {
            return own_protocols[i];
        }
    }
    return NULL;
}

uint32_t
gpc_protocol_count(void)
{
    return num_own_protocols;
}

const char *
gpc_protocol_id(uint32_t i)
{
    return own_protocols[i]->id;
}

#endif

/* own_registry.h: replaces protocols/registry.c: gpc_gpu_create and gpc_explore find the protocols that a test registers. One file of
 * a test executable includes it. */
#ifndef GPC_TESTS_OWN_REGISTRY_H
#define GPC_TESTS_OWN_REGISTRY_H

#include <string.h>

#include "protocols/registry.h"

/* Registered by the test, which owns them. */
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

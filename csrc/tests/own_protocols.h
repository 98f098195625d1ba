/* own_protocols.h: protocols of a test, by id. One file of a test executable includes it. */
#ifndef GPC_TESTS_OWN_PROTOCOLS_H
#define GPC_TESTS_OWN_PROTOCOLS_H

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

/* The test's protocol of that id, or a built-in one; NULL: neither. */
static inline const gpc_protocol_t *
named(const char *id)
{
    for (uint32_t i = 0; i < num_own_protocols; i++) {
        if (strcmp(own_protocols[i]->id, id) == 0) {
            return own_protocols[i];
        }
    }
    return gpc_protocol_find(id);
}

#endif

/* registry.c: the list of the built-in protocols. The binding adds those from outside (python/protocols.c). */
#include "protocols/registry.h"

#include <string.h>

static const gpc_protocol_t *const protocols[] = {
#define GPC_PROTOCOL(name, file) &gpc_protocol_##name,
#include "protocols/registry.def"
};

uint32_t
gpc_protocol_count(void)
{
    return GPC_COUNT_OF(protocols);
}

const gpc_protocol_t *
gpc_protocol_at(uint32_t i)
{
    return protocols[i];
}

const gpc_protocol_t *
gpc_protocol_find(const char *id)
{
    for (uint32_t i = 0; i < GPC_COUNT_OF(protocols); i++) {
        if (strcmp(protocols[i]->id, id) == 0) {
            return protocols[i];
        }
    }
    return NULL;
}

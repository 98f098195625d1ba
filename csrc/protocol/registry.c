/* registry.c: the protocols of registry.h, looked up. The test library puts another file in this one's place, which knows planted
 * bugs too (csrc/tests/mutants.h). */
#include "protocol/registry.h"

#include <string.h>

static const gpc_protocol_t *const protocols[] = {
#define X(name) &gpc_protocol_##name,
    GPC_PROTOCOLS(X)
#undef X
};

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

uint32_t
gpc_protocol_count(void)
{
    return GPC_COUNT_OF(protocols);
}

const char *
gpc_protocol_id(uint32_t i)
{
    return protocols[i]->id;
}

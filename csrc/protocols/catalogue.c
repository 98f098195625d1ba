/* catalogue.c: describes a registered protocol in JSON. */
#include "protocols/catalogue.h"

#include "controller/describe.h"
#include "protocols/registry.h"

int
gpc_protocol_describe(const char *id, gpc_text_t *out)
{
    const gpc_protocol_t *protocol = gpc_protocol_find(id);
    if (!protocol) {
        return GPC_ERROR_PROTOCOL_ID;
    }
    gpc_describe_whole_protocol(out, protocol);
    return gpc_text_status(out);
}

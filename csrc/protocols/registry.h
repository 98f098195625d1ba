/* registry.h: declares the protocols of registry.def. Each file that includes registry.def defines what a line
 * expands to. */
#ifndef GPC_PROTOCOLS_REGISTRY_H
#define GPC_PROTOCOLS_REGISTRY_H

#include "controller/protocol.h"
#include "protocols/catalogue.h"

#define GPC_PROTOCOL(name, file) extern const gpc_protocol_t gpc_protocol_##name;
#include "protocols/registry.def"

const gpc_protocol_t *gpc_protocol_find(const char *id); /* NULL: unknown */

#endif

/* registry.h: the built-in protocols, those of registry.def. Each file that includes registry.def defines what a line
 * expands to. */
#ifndef GPC_PROTOCOLS_REGISTRY_H
#define GPC_PROTOCOLS_REGISTRY_H

#include "controller/protocol.h"

#define GPC_PROTOCOL(name, file) extern const gpc_protocol_t gpc_protocol_##name;
#include "protocols/registry.def"

uint32_t gpc_protocol_count(void);
const gpc_protocol_t *gpc_protocol_at(uint32_t i);
const gpc_protocol_t *gpc_protocol_find(const char *id); /* NULL: unknown */

#endif

/* describe.h: a protocol in JSON, from the structs that simulate it. */
#ifndef GPC_CONTROLLER_DESCRIBE_H
#define GPC_CONTROLLER_DESCRIBE_H

#include "controller/protocol.h"

void gpc_describe_whole_protocol(gpc_text_t *out, const gpc_protocol_t *protocol);
const char *gpc_rule_name(gpc_rule_t rule);

#endif

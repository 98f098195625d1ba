/* catalogue.h: the registered protocols by id, described in JSON. */
#ifndef GPC_PROTOCOLS_CATALOGUE_H
#define GPC_PROTOCOLS_CATALOGUE_H

#include "base/text.h"

uint32_t gpc_protocol_count(void);
const char *gpc_protocol_id(uint32_t i);
/* JSON: id, name, paper, family, models, default rule, options, messages, networks, and every controller with its tables
 * (states, events, cells, described structs), as `gpucoh protocols --json` prints it. */
GPC_MUST_CHECK int gpc_protocol_describe(const char *id, gpc_text_t *out);

#endif

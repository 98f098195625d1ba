/* host.h: host accesses for protocols whose newest words are at an L1 that owns the line (owners.h), else at the L2 if
 * it has the line. */
#ifndef GPC_CONTROLLER_HOST_H
#define GPC_CONTROLLER_HOST_H

#include "controller/protocol.h"

/* Copies the masked words from the owner's copy, else the L2's; without either, `words` keep memory's. */
GPC_API int gpc_host_read(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, uint32_t *words);
/* Writes the L2's copy; L1 copies remain. */
GPC_API int gpc_host_write(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, const uint32_t *words);
/* The same, and drops all L1 copies, which give up what they own: its words and the fields that L1 and L2 both name. */
GPC_API int gpc_host_write_alone(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, const uint32_t *words);
/* The line's words at this instant: the bank's, else memory's, which `words` have. A way in a transaction is reserved
 * for a fill: memory has the words. */
GPC_MUST_CHECK int gpc_host_newest(const gpc_protocol_t *protocol, const gpc_units_t *units, gpc_address_t line,
                                   uint32_t *words);
/* For checks, between launches: whether memory, whose `words` are given, has what host_read finds, if the protocol
 * promises it (gpc_watched_t). GPC_OK, or a violation. */
GPC_MUST_CHECK int gpc_host_check_memory(const gpc_protocol_t *protocol, const gpc_units_t *units, gpc_address_t line,
                                         gpc_mask_t mask, const uint32_t *words);

#endif

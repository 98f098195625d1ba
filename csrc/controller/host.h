/* host.h: the host's accesses to protocols whose L2's copy, where it has one, is the newest, as gpc_protocol_t takes them. */
#ifndef GPC_CONTROLLER_HOST_H
#define GPC_CONTROLLER_HOST_H

#include "controller/protocol.h"

int gpc_host_read(gpc_controller_t *const *cores, uint32_t num_cores, gpc_controller_t *bank, gpc_address_t line,
                  gpc_mask_t mask, uint32_t *words);
/* The L2's copy is written; copies in L1s stay. */
int gpc_host_write(gpc_controller_t *const *cores, uint32_t num_cores, gpc_controller_t *bank, gpc_address_t line,
                   gpc_mask_t mask, const uint32_t *words);
/* The same, and all copies in L1s go. */
int gpc_host_write_alone(gpc_controller_t *const *cores, uint32_t num_cores, gpc_controller_t *bank, gpc_address_t line,
                         gpc_mask_t mask, const uint32_t *words);

#endif

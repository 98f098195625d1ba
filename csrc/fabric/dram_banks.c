/* dram_banks.c: model 1 of a DRAM channel: banks and rows. */
#include "fabric/dram_channel.h"

void gpc_dram_banks_clear(gpc_dram_t *self, uint32_t channel) { (void) self; (void) channel; }
void gpc_dram_banks_map(const gpc_dram_t *self, gpc_address_t line, gpc_dram_request_t *request) { (void) self; (void) line; (void) request; }
int gpc_dram_banks_step(gpc_dram_t *self, uint32_t channel) { (void) self; (void) channel; return 0; }
gpc_tick_t gpc_dram_closed_row_ticks(const gpc_dram_config_t *config) { (void) config; return 0; }

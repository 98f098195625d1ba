/* controller.h: what controller.c and actions.c share; protocol files include protocol.h only. */
#ifndef GPC_PROTOCOL_CONTROLLER_H
#define GPC_PROTOCOL_CONTROLLER_H

#include "protocol/protocol.h"

/* A step of the table about the line: its way in the table's array and its transaction are looked up. */
void gpc_step_about_line(gpc_controller_t *self, gpc_step_t *x, uint8_t table, uint8_t cause, gpc_address_t line,
                         gpc_index_t message);

#endif

/* position.h: where a protocol's controllers are in a machine. */
#ifndef GPC_CONTROLLER_POSITION_H
#define GPC_CONTROLLER_POSITION_H

typedef enum { GPC_AT_CORE, GPC_AT_BANK, GPC_AT_MEMORY, GPC_AT_GLOBAL, GPC_AT_HOST, GPC_NUM_POSITIONS } gpc_position_t;

#endif

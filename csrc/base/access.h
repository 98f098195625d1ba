/* access.h: kind, memory order and scope of a memory access, as order.c and protocols receive them. */
#ifndef GPC_BASE_ACCESS_H
#define GPC_BASE_ACCESS_H

#include <stdint.h>

#define GPC_NAMED_BARRIERS 16u /* per block */

typedef enum {
    GPC_ACCESS_LOAD,
    GPC_ACCESS_STORE,
    GPC_ACCESS_ATOMIC,
    GPC_ACCESS_FENCE,
    GPC_ACCESS_BARRIER, /* arrival at a barrier */
    GPC_ACCESS_EXIT     /* end of a warp: a release at system scope, because the end of a kernel is one */
} gpc_access_kind_t;

typedef struct {
    uint8_t kind;  /* gpc_access_kind_t */
    uint8_t order; /* gpc_memory_order_t */
    uint8_t scope;
} gpc_access_t;

#endif

/* access.h: what order.c and a protocol are asked about: an access's kind, memory order and scope. */
#ifndef GPC_BASE_ACCESS_H
#define GPC_BASE_ACCESS_H

#include <stdint.h>

#define GPC_NAMED_BARRIERS 16u /* per block */

typedef enum {
    GPC_ACCESS_LOAD,
    GPC_ACCESS_STORE,
    GPC_ACCESS_ATOMIC,
    GPC_ACCESS_FENCE,
    GPC_ACCESS_BARRIER, /* arriving at one */
    GPC_ACCESS_EXIT     /* the warp's end: a release of system scope, since a kernel's end is one */
} gpc_access_kind_t;

typedef struct {
    uint8_t kind;  /* gpc_access_kind_t */
    uint8_t order; /* gpc_memory_order_t; of a fence its own */
    uint8_t scope;
} gpc_access_t;

#endif

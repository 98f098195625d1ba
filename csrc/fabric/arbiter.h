/* arbiter.h: which input an output of a router takes its next message from. */
#ifndef GPC_FABRIC_ARBITER_H
#define GPC_FABRIC_ARBITER_H

#include "fabric/network_parts.h"

typedef struct {
    uint32_t input; /* or GPC_NONE */
    uint32_t network;
    gpc_queue_t *queue; /* of the input */
    gpc_tick_t later;   /* without an input: when a message becomes ready, or GPC_NEVER */
} gpc_choice_t;

/* Among the virtual networks of `left`, which have requests and are not blocked. */
void gpc_arbiter_choose(gpc_network_t *self, uint32_t output, uint32_t left, gpc_tick_t now, gpc_choice_t *out);

#endif

/* network_parts.h: routers, ports and routes of a network; only for csrc/fabric/{network,topology}.c.
 *
 * Ports are numbered through the whole network. A node injects by an input port of its router and ejects by an output port. */
#ifndef GPC_FABRIC_NETWORK_PARTS_H
#define GPC_FABRIC_NETWORK_PARTS_H

#include "fabric/network.h"

/* Wiring, which never changes. */
typedef struct {
    uint32_t upstream; /* the output port that feeds it, GPC_NONE: a node does */
    uint32_t router;
    gpc_node_t node; /* that injects here, or GPC_NO_NODE */
    uint32_t bit;    /* its number among its router's inputs */
} gpc_input_wiring_t;

typedef struct {
    uint32_t downstream; /* the input port it feeds, GPC_NONE: a node's ejection buffers */
    gpc_node_t node;     /* that is fed, or GPC_NO_NODE */
    uint32_t router;
    uint32_t first_input; /* its router's inputs */
    uint32_t num_inputs;
    bool counted; /* a link whose flits are hops */
} gpc_output_wiring_t;

/* State, in the arena. */
typedef struct {
    gpc_tick_t busy_until; /* a message streams out of it */
} gpc_input_state_t;

typedef struct {
    gpc_tick_t busy_until;
    gpc_tick_t wake;                       /* of the grant event that stands, GPC_NEVER when none */
    uint32_t turn;                         /* the virtual network that is asked first */
    uint32_t waiting;                      /* requests that stand, all virtual networks */
    uint32_t credits[GPC_MAX_NETWORKS];    /* flits free in the next buffer */
    uint32_t next_input[GPC_MAX_NETWORKS]; /* that is asked first */
} gpc_output_state_t;

typedef struct {
    uint32_t room[GPC_MAX_NETWORKS]; /* flits free in the injection buffer */
    gpc_list_t ejected[GPC_MAX_NETWORKS];
    bool own_turn[GPC_MAX_NETWORKS]; /* a relay was the last to enter here: the node itself is asked first */
} gpc_node_state_t;

typedef struct {
    uint32_t standing; /* messages inside */
} gpc_network_state_t;

struct gpc_network_parts {
    uint32_t num_routers, num_inputs, num_outputs, num_nodes;
    uint32_t request_words;       /* 64-bit words of a set of a router's inputs */
    gpc_input_wiring_t *inputs;   /* owned */
    gpc_output_wiring_t *outputs; /* owned */
    uint32_t *injection;          /* owned; a node's input port */
    uint32_t *routes;             /* owned; output port by router and node */
    /* borrowed from the arena */
    gpc_input_state_t *input_states;
    gpc_output_state_t *output_states;
    gpc_node_state_t *node_states;
    gpc_list_t *queues; /* by input port and virtual network */
    uint64_t *requests; /* by output port and virtual network: inputs whose first message wants to go there */
    gpc_network_state_t *state;
};

static inline uint64_t *
gpc_network_requests(const gpc_network_t *self, uint32_t output, uint32_t network)
{
    return &self->parts->requests[((size_t) output * self->config.networks + network) * self->parts->request_words];
}

static inline bool
gpc_network_is_core(const gpc_network_config_t *config, gpc_node_t node)
{
    return node < config->cores;
}

/* The bank that a line lives in. */
static inline gpc_node_t
gpc_network_home(const gpc_network_config_t *config, gpc_address_t line)
{
    return (gpc_node_t) (config->cores + line / config->interleave_bytes % config->banks);
}

#endif

/* network_parts.h: routers, ports and routes of a network; only for csrc/fabric/{arbiter,network,buffers,topology}.c.
 *
 * Ports are numbered through the whole network. A node injects by an input port of its router and ejects by an output port. */
#ifndef GPC_FABRIC_NETWORK_PARTS_H
#define GPC_FABRIC_NETWORK_PARTS_H

#include "base/divide.h"
#include "fabric/network.h"

/* Wiring, which never changes. */
typedef struct {
    uint32_t upstream; /* the output port that feeds it, GPC_NONE: a node does */
    uint32_t router;
    gpc_node_t node;                    /* that injects here, or GPC_NO_NODE */
    uint32_t bit;                       /* its number among its router's inputs */
    uint32_t first_output, num_outputs; /* its router's outputs */
    uint32_t first_queue;               /* of virtual network 0 */
    bool by_output;                     /* a queue an output and virtual network, else one a virtual network */
} gpc_input_wiring_t;

typedef struct {
    uint32_t downstream; /* the input port it feeds, GPC_NONE: a node's ejection buffers */
    gpc_node_t node;     /* that is fed, or GPC_NO_NODE */
    uint32_t router;
    uint32_t first_input; /* its router's inputs */
    uint32_t num_inputs;
    uint32_t bit; /* its number among its router's outputs */
    bool counted; /* a link whose flits are hops */
} gpc_output_wiring_t;

/* State, in the arena. */
typedef struct {
    gpc_list_t list;
    uint32_t room; /* flits free, of a node's queues; of others the feeding output has the credits */
} gpc_queue_t;

typedef struct {
    gpc_tick_t busy_until; /* a message streams out of it */
    uint32_t streams_to;   /* the output of its last stream */
    uint32_t waiting;      /* requests that stand, all outputs and virtual networks */
    uint32_t next_output;  /* that is asked first */
    uint32_t claimed_by;   /* an output that was free and found it busy too often, or GPC_NONE */
    uint32_t claimed_network;
} gpc_input_state_t;

typedef struct {
    gpc_tick_t busy_until;
    gpc_tick_t wake;                       /* of the grant event that stands, GPC_NEVER when none */
    uint32_t turn;                         /* the virtual network that is asked first */
    uint32_t waiting;                      /* requests that stand, all virtual networks */
    uint32_t credits[GPC_MAX_NETWORKS];    /* flits free in the next buffer */
    uint32_t blocked;                      /* virtual networks whose turn's message found too few credits, a bit each */
    uint32_t next_input[GPC_MAX_NETWORKS]; /* that is asked first */
    uint32_t streams_from;                 /* the input of its last stream, or GPC_NONE */
    uint32_t ended;                        /* the one before, when its end is at this tick and not seen to yet */
    uint32_t passed[GPC_MAX_NETWORKS];     /* an input that was busy when its turn came, or GPC_NONE */
    uint32_t passes[GPC_MAX_NETWORKS];     /* grants to others since */
} gpc_output_state_t;

typedef struct {
    gpc_list_t ejected[GPC_MAX_NETWORKS];
    bool own_turn[GPC_MAX_NETWORKS]; /* a relay was the last to enter here: the node itself is asked first */
} gpc_node_state_t;

typedef struct {
    uint32_t standing; /* messages inside */
} gpc_network_state_t;

struct gpc_network_parts {
    uint32_t num_routers, num_inputs, num_outputs, num_nodes;
    uint32_t num_queues;
    gpc_interleaving_t interleaving; /* of lines over banks */
    uint32_t request_words;          /* 64-bit words of a set of a router's inputs or outputs */
    gpc_input_wiring_t *inputs;      /* owned */
    gpc_output_wiring_t *outputs;    /* owned */
    uint32_t *injection;             /* owned; a node's input port */
    uint32_t *routes;                /* owned; output port by router and node */
    /* borrowed from the arena */
    gpc_input_state_t *input_states;
    gpc_output_state_t *output_states;
    gpc_node_state_t *node_states;
    gpc_queue_t *queues; /* by input port, virtual network and perhaps output */
    uint64_t *requests;  /* by output port and virtual network: inputs that have a first message for it */
    uint64_t *wants;     /* by input port and virtual network: outputs that it has a first message for */
    gpc_network_state_t *state;
};

static inline uint64_t *
gpc_network_requests(const gpc_network_t *self, uint32_t output, uint32_t network)
{
    return &self->parts->requests[((size_t) output * self->config.networks + network) * self->parts->request_words];
}

static inline uint64_t *
gpc_network_wants(const gpc_network_t *self, uint32_t input, uint32_t network)
{
    return &self->parts->wants[((size_t) input * self->config.networks + network) * self->parts->request_words];
}

/* Where an input keeps messages of a virtual network for an output. */
static inline gpc_queue_t *
gpc_network_queue(const gpc_network_t *self, uint32_t input, uint32_t network, uint32_t output)
{
    const gpc_input_wiring_t *wiring = &self->parts->inputs[input];
    uint32_t i = wiring->by_output ? network * wiring->num_outputs + self->parts->outputs[output].bit : network;
    return &self->parts->queues[wiring->first_queue + i];
}

/* Of a buffer's: a message longer than it takes all. */
static inline uint32_t
gpc_network_credits_needed(const gpc_network_t *self, const gpc_msg_t *msg)
{
    return msg->flits < self->config.vc_flits ? msg->flits : self->config.vc_flits;
}

static inline bool
gpc_network_is_core(const gpc_network_config_t *config, gpc_node_t node)
{
    return node < config->cores;
}

/* The bank that a line lives in. */
static inline gpc_node_t
gpc_network_home(const gpc_network_t *self, gpc_address_t line)
{
    return (gpc_node_t) (self->config.cores + gpc_bank_of(self->parts->interleaving, line));
}

/* The output port of a router that the message takes next; a relayed one goes to its line's home bank first. */
static inline uint32_t
gpc_network_route(const gpc_network_t *self, uint32_t router, const gpc_msg_t *msg)
{
    gpc_node_t target = msg->flags & GPC_MSG_FLAG_RELAY ? gpc_network_home(self, msg->line) : msg->destination;
    return self->parts->routes[router * self->parts->num_nodes + target];
}

/* buffers.c */
/* The output is to be looked at again, at tick or as soon as it is free. */
GPC_MUST_CHECK int gpc_network_look_at(gpc_network_t *self, uint32_t output, gpc_tick_t tick);
/* The first message of a queue is a new one: it asks for its output. */
GPC_MUST_CHECK int gpc_network_request(gpc_network_t *self, uint32_t input, uint32_t output, uint32_t network);
/* A message's head is in an input buffer from tick on. */
GPC_MUST_CHECK int gpc_network_enter(gpc_network_t *self, uint32_t input, uint32_t output, gpc_index_t message,
                                     gpc_tick_t tick);
/* The message moves on to what the output feeds. */
GPC_MUST_CHECK int gpc_network_pass_on(gpc_network_t *self, uint32_t output, gpc_index_t message, gpc_tick_t now);
/* To an output, which may have waited for them. */
GPC_MUST_CHECK int gpc_network_return_credits(gpc_network_t *self, uint32_t output, uint32_t network, uint32_t flits,
                                              gpc_tick_t tick);

/* network.c */
/* The message's last flit is in the node's ejection buffer. */
GPC_MUST_CHECK int gpc_network_arrive(gpc_network_t *self, gpc_node_t node, uint32_t network, gpc_index_t message);
/* `flits` of an input's queue are free again: whoever feeds it learns that. */
GPC_MUST_CHECK int gpc_network_give_back(gpc_network_t *self, uint32_t input, gpc_queue_t *queue, uint32_t network,
                                         uint32_t output, uint32_t flits, gpc_tick_t now);

#endif

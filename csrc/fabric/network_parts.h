/* network_parts.h: routers, ports and routes of a network; only for the files of csrc/fabric.
 *
 * Ports are numbered network-wide. A node injects through an input port of its router and ejects through an output
 * port. */
#ifndef GPC_FABRIC_NETWORK_PARTS_H
#define GPC_FABRIC_NETWORK_PARTS_H

#include "base/homes.h"
#include "fabric/network.h"

/* Wiring, constant after creation. */
typedef struct {
    uint64_t *wants;   /* of virtual network 0: outputs of its first messages */
    uint32_t upstream; /* the output port that feeds it; GPC_NONE: a node injects here */
    uint32_t router;
    gpc_node_t node;                    /* the node that injects here, or GPC_NO_NODE */
    uint32_t bit;                       /* its number among its router's inputs */
    uint32_t first_output, num_outputs; /* its router's outputs */
    uint32_t first_queue;               /* of virtual network 0 */
    uint16_t network_queues;            /* of a virtual network: one per output, or one */
    bool by_output;                     /* one queue per output and virtual network, else one per virtual network */
} gpc_input_wiring_t;

typedef struct {
    uint64_t *requests;  /* of virtual network 0: inputs with a first message for it */
    uint32_t downstream; /* the input port that it feeds; GPC_NONE: a node's ejection buffers */
    gpc_node_t node;     /* the node that it feeds, or GPC_NO_NODE */
    bool counted;        /* a link whose flits are hops */
    uint32_t arrival;    /* target of its arrivals on virtual network 0 */
    uint32_t router;
    uint32_t first_input; /* its router's inputs */
    uint32_t num_inputs;
    uint32_t bit;              /* its number among its router's outputs */
    uint32_t first_place;      /* of its router's outputs in the order of grants of a tick */
    gpc_divider_t num_outputs; /* its router's outputs */
} gpc_output_wiring_t;

/* State, in the arena. */
typedef struct {
    gpc_list_t list;
    uint32_t room; /* free flits of a node's queue; of other queues the feeding output holds the credits */
} gpc_queue_t;

typedef struct {
    gpc_tick_t busy_until; /* end of its last stream */
    uint32_t streams_to;   /* output of its last stream */
    uint32_t waiting;      /* requests, all outputs and virtual networks */
    uint32_t next_output;  /* first output in round-robin order */
    uint32_t claimed_by;   /* output that has passed this busy input too often, or GPC_NONE */
    uint32_t claimed_network;
    uint32_t multicasts; /* copies of multicasts in its queues */
} gpc_input_state_t;

typedef struct {
    gpc_tick_t busy_until;
    gpc_tick_t busy;                       /* ticks of all its streams: a statistic */
    gpc_tick_t wake;                       /* tick of the scheduled grant event, GPC_NEVER when there is none */
    uint32_t next_network;                 /* first virtual network in round-robin order */
    uint32_t waiting;                      /* requests, all virtual networks */
    uint32_t requested;                    /* virtual networks with requests, one bit each */
    uint32_t credits[GPC_MAX_NETWORKS];    /* free flits of the next buffer */
    uint32_t blocked;                      /* virtual networks whose selected message lacks credits, one bit each */
    uint32_t next_input[GPC_MAX_NETWORKS]; /* first input in round-robin order */
    uint32_t streams_from;                 /* input of its last grant, or GPC_NONE */
    uint32_t ended;                        /* input whose stream ends at this tick and is not served yet, or GPC_NONE */
    uint32_t passed[GPC_MAX_NETWORKS];     /* input that was busy when it was first in order, or GPC_NONE */
    uint32_t passes[GPC_MAX_NETWORKS];     /* grants to other inputs since */
} gpc_output_state_t;

typedef struct {
    gpc_list_t ejected[GPC_MAX_NETWORKS];
    bool own_next[GPC_MAX_NETWORKS]; /* the last injection was a relayed message: the node's own comes first */
} gpc_node_state_t;

typedef struct {
    uint32_t in_flight; /* messages in the network */
    uint64_t random;    /* state of the jitter's generator */
} gpc_network_state_t;

struct gpc_network_parts {
    uint32_t num_routers, num_inputs, num_outputs, num_nodes;
    uint32_t num_queues;
    uint32_t first_target; /* added to the targets of its events: the network's number in the high bits */
    uint8_t arrive_kind, grant_kind;
    uint32_t request_words;       /* 64-bit words of the largest set of a router's inputs or outputs */
    gpc_input_wiring_t *inputs;   /* owned */
    gpc_output_wiring_t *outputs; /* owned */
    bool several;                 /* a node has several ports */
    uint8_t *ports;               /* owned; of a node, in each direction */
    uint32_t *injection;          /* owned; a node's first input port, or GPC_NONE */
    uint32_t *ejection;           /* owned; the first output port that feeds the node, or GPC_NONE */
    uint32_t *routes;             /* owned; output port by router and node; a node's first, or GPC_NONE */
    /* borrowed from the arena */
    gpc_input_state_t *input_states;
    gpc_output_state_t *output_states;
    gpc_node_state_t *node_states;
    gpc_queue_t *queues; /* by input port, virtual network and, with by_output, output */
    uint64_t *requests;  /* by output port and virtual network */
    uint64_t *wants;     /* by input port and virtual network */
    gpc_network_state_t *state;
};

/* 64-bit words of a set with one bit per port. */
static inline uint32_t
gpc_network_words(uint32_t ports)
{
    return (ports + 63) / 64;
}

static inline uint64_t *
gpc_network_requests(const gpc_network_t *self, uint32_t output, uint32_t network)
{
    return &self->parts->outputs[output].requests[network * self->parts->request_words];
}

static inline uint64_t *
gpc_network_wants(const gpc_network_t *self, uint32_t input, uint32_t network)
{
    return &self->parts->inputs[input].wants[network * self->parts->request_words];
}

/* The number of an input's queue for a virtual network and output. */
static inline uint32_t
gpc_network_queue_number(const gpc_network_parts_t *parts, uint32_t input, uint32_t network, uint32_t output)
{
    const gpc_input_wiring_t *wiring = &parts->inputs[input];
    return wiring->first_queue + network * wiring->network_queues +
           (wiring->by_output ? parts->outputs[output].bit : 0);
}

static inline gpc_queue_t *
gpc_network_queue(const gpc_network_t *self, uint32_t input, uint32_t network, uint32_t output)
{
    return &self->parts->queues[gpc_network_queue_number(self->parts, input, network, output)];
}

/* Counts a message that its source sends. */
static inline void
gpc_network_count(gpc_network_t *self, const gpc_msg_t *msg)
{
    gpc_traffic_t *traffic = &self->traffic[msg->type];
    traffic->messages++;
    traffic->bytes += msg->bytes;
    traffic->flits += msg->flits;
}

/* A message longer than a buffer takes all of its credits. */
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

/* Where the message goes first: a relayed one to the home bank of its line. */
static inline gpc_node_t
gpc_network_target(const gpc_network_t *self, const gpc_msg_t *msg, bool relayed)
{
    return relayed ? gpc_home(self->config.homes, msg->line, msg->source) : msg->destination;
}

/* Of a node with several ports, the number of the port for messages from or to the other end. */
static inline uint32_t
gpc_network_port(const gpc_network_parts_t *parts, gpc_node_t node, gpc_node_t other)
{
    return parts->several ? (uint32_t) other % parts->ports[node] : 0;
}

/* The output port of a router towards the target. */
static inline uint32_t
gpc_network_output(const gpc_network_parts_t *parts, uint32_t router, gpc_node_t target, gpc_node_t source)
{
    uint32_t output = parts->routes[router * parts->num_nodes + target];
    bool last = parts->several && output != GPC_NONE && parts->outputs[output].node == target;
    return last ? output + (uint32_t) source % parts->ports[target] : output;
}

/* The output port of a router that the message takes; a message to be relayed goes to its line's home bank first. */
static inline uint32_t
gpc_network_next_output(const gpc_network_t *self, uint32_t router, const gpc_msg_t *msg)
{
    gpc_node_t target = gpc_network_target(self, msg, msg->flags & GPC_MSG_FLAG_RELAY);
    return gpc_network_output(self->parts, router, target, msg->source);
}

/* The head of an ejection buffer if this node relays it, else GPC_NONE. */
static inline gpc_index_t
gpc_network_relay_at(const gpc_network_t *self, gpc_node_t node, uint32_t network)
{
    gpc_index_t head = self->parts->node_states[node].ejected[network].head;
    if (head == GPC_NONE || !(gpc_msg_at(self->messages, head)->flags & GPC_MSG_FLAG_RELAY)) {
        return GPC_NONE;
    }
    return head;
}

/* Whether the message is a copy of a multicast that has crossed its source's link. */
static inline bool
gpc_network_has_crossed(const gpc_msg_t *msg)
{
    return msg->flags & GPC_MSG_FLAG_MULTICAST && msg->copies == GPC_NONE;
}

enum { GPC_NETWORK_PRIORITY_ARRIVE = 0, GPC_NETWORK_PRIORITY_GRANT = 3 };

/* The output's place among the outputs of its router at that tick. The order rotates from cycle to cycle, as an
 * allocator's does: in a fixed order the first outputs would win every input that several outputs request. */
static inline uint32_t
gpc_network_place(const gpc_network_t *self, uint32_t output, gpc_tick_t tick)
{
    const gpc_output_wiring_t *wiring = &self->parts->outputs[output];
    uint64_t cycle = gpc_clock_cycles(self->config.clock, tick);

    return wiring->first_place + (uint32_t) gpc_remainder(wiring->num_outputs, wiring->bit + cycle);
}

/* The lane of an input port's queue for an output. */
static inline uint32_t
gpc_network_lane(const gpc_network_parts_t *parts, uint32_t input, uint32_t output)
{
    const gpc_input_wiring_t *wiring = &parts->inputs[input];
    return wiring->by_output ? output - wiring->first_output : input - parts->injection[wiring->node];
}

/* Ticks that the message's flits occupy a link, and from the first to the last one. */
static inline gpc_tick_t
gpc_network_stream(const gpc_network_t *self, const gpc_msg_t *msg)
{
    return msg->flits * (1 + (gpc_tick_t) self->config.flit_gap) * self->config.clock.period;
}
static inline uint32_t
gpc_network_tail(const gpc_network_config_t *config, uint32_t flits)
{
    return (flits - 1) * (1 + config->flit_gap);
}

/* outputs.c */
/* Schedules an arbitration of the output at tick, or when the output is free. */
GPC_MUST_CHECK int gpc_network_schedule_grant(gpc_network_t *self, uint32_t output, gpc_tick_t tick);
/* A queue of the input has a new first message, which requests the output. */
GPC_MUST_CHECK int gpc_network_request(gpc_network_t *self, uint32_t input, uint32_t output, const gpc_msg_t *msg);
/* Returns credits to an output and schedules its arbitration. */
GPC_MUST_CHECK static inline int
gpc_network_return_credits(gpc_network_t *self, uint32_t output, uint32_t network, uint32_t flits, gpc_tick_t tick)
{
    gpc_output_state_t *state = &self->parts->output_states[output];
    state->credits[network] += flits;
    state->blocked &= ~(1u << network);
    return state->waiting ? gpc_network_schedule_grant(self, output, tick) : GPC_OK;
}

/* routes.c: the route that a relayed message takes from its bank. */
gpc_network_route_t gpc_network_relay_route(const gpc_network_t *self, gpc_node_t node, const gpc_msg_t *msg);

/* multicast.c: a copy of a multicast leaves its source: sets whether it occupies the input port, and the room that it
 * returns. */
GPC_MUST_CHECK int gpc_network_leave_source(gpc_network_t *self, uint32_t input, gpc_index_t message, gpc_tick_t now,
                                            bool *occupies, uint32_t *room);

#endif

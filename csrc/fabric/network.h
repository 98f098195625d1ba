/* network.h: routers with finite, credited buffers a virtual network; topologies are built of them.
 *
 * A node has an input port and an ejection buffer a virtual network. Over a crossbar or a star its input port has a virtual
 * channel, vc_flits deep, a virtual network and destination (at a crossbar from core to core: the home bank), so that a
 * message to a busy output holds up none to others (the papers name no such channels: inferred; with one queue a virtual
 * network a crossbar cannot pass much more than half of what its ports could). Over a mesh, and in its routers, it has one
 * queue of vc_flits a virtual network. At a
 * grant a message takes its output port for `flits` network cycles (1 flit a cycle) and its input port likewise, given
 * min(flits, vc_flits) credits of the next buffer. Routers cut through, with their pipeline before the arbitration: a message is
 * ripe for its grant latency - 1 cycles after its head is in the buffer; after the grant its head is in the next buffer one
 * cycle, its last flit in an ejection buffer `flits` cycles later. Unloaded: latency a router, and flits - 1. A message longer
 * than a buffer holds all credits of it and passes in pieces. Credits are back in the tick in which the message is granted on or
 * taken by its receiver. Arbitration: virtual networks round robin at an output, then inputs round robin among those that are
 * not streaming; the input whose turn it is waits for credits. An input port that falls free goes round among the outputs that
 * are free. One event a message and hop, and one an arrival.
 * Order: FIFO per (source, destination, virtual network), since there is one path and on it one queue after another.
 *
 * Crossbar pair: cores -> banks and banks -> cores are two one-router networks; a message from core to core is relayed by the
 * home bank of its line, which re-injects it by itself (its head in the ejection buffer takes turns with the bank's own for
 * their queue); both traversals count as hops, the message once. Mesh: dimension order (x first), node i of cores and
 * banks at router i mod routers, rows filled up; links between routers are hops. Star: every node to one hub, one hop.
 */
#ifndef GPC_FABRIC_NETWORK_H
#define GPC_FABRIC_NETWORK_H

#include "base/message.h"
#include "engine/wheel.h"

typedef enum { GPC_TOPOLOGY_CROSSBAR, GPC_TOPOLOGY_MESH, GPC_TOPOLOGY_STAR } gpc_topology_t;

typedef struct {
    gpc_topology_t topology;
    uint32_t cores, banks; /* nodes 0..cores-1, cores..cores+banks-1 */
    uint32_t mesh_width;
    uint32_t networks; /* virtual networks */
    uint32_t vc_flits;
    uint32_t latency; /* network cycles a hop */
    gpc_clock_t clock;
    uint32_t interleave_bytes; /* for relays: the home bank of a line */
} gpc_network_config_t;

typedef struct {
    uint64_t messages, flits, flit_hops;
} gpc_traffic_t; /* counted by message type when a message enters (messages, flits) and at every link (flit_hops) */

/* What the machine around it wants to know. Both may call back into the network. */
typedef struct {
    int (*arrived)(void *world, gpc_node_t node, uint32_t network); /* the ejection buffer's head is new, other
                                                                       than by a take: the taker looks again */
    int (*room)(void *world, gpc_node_t node, uint32_t network,
                uint32_t lane); /* this queue has more room than before */
    void *world;
} gpc_network_hooks_t;

typedef struct gpc_network_parts gpc_network_parts_t; /* wiring: routers, ports, routes */
typedef struct {
    gpc_network_config_t config;
    gpc_network_parts_t *parts;
    gpc_pool_t *messages; /* borrowed */
    gpc_wheel_t *wheel;   /* borrowed */
    gpc_network_hooks_t hooks;
    gpc_traffic_t *traffic; /* by message type (256), in the arena */
} gpc_network_t;

GPC_MUST_CHECK int gpc_network_init(gpc_network_t *self, const gpc_network_config_t *config, gpc_arena_t *arena,
                                    gpc_pool_t *messages, gpc_wheel_t *wheel, const gpc_network_hooks_t *hooks);
void gpc_network_free(gpc_network_t *self);  /* wiring that is not in the arena, if any */
void gpc_network_clear(gpc_network_t *self); /* empties every buffer, all credits back (after an abort); the
                                                messages are the caller's */

/* Network cycles from a send on a network edge to the arrival of the last flit, unloaded. */
uint32_t gpc_network_zero_load(const gpc_network_t *self, gpc_node_t from, gpc_node_t to, uint32_t flits);

/* A node's queues of a virtual network are its lanes: how many there are at most. */
uint32_t gpc_network_lanes(const gpc_network_t *self);
/* Where a message enters: source, destination, line and network are set. */
typedef struct {
    uint32_t input, output; /* ports */
    uint32_t lane;
    bool relayed; /* core to core by the line's home bank */
} gpc_network_way_t;
gpc_network_way_t gpc_network_way(const gpc_network_t *self, const gpc_msg_t *msg);
/* The same two as below for a message whose way is known. */
bool gpc_network_way_has_room(const gpc_network_t *self, const gpc_network_way_t *way, const gpc_msg_t *msg);
GPC_MUST_CHECK int gpc_network_send_by(gpc_network_t *self, const gpc_network_way_t *way, gpc_index_t message);
/* Whether the message may be sent now (one longer than its buffer: when that is empty): source, destination, line, network
 * and flits are set. */
bool gpc_network_has_room(const gpc_network_t *self, const gpc_msg_t *msg);
/* message->source, destination, network, flits are set and there is room (asserted). Sent between edges, it moves at the next. */
GPC_MUST_CHECK int gpc_network_send(gpc_network_t *self, gpc_index_t message);
gpc_index_t gpc_network_peek(const gpc_network_t *self, gpc_node_t node, uint32_t network); /* or GPC_NONE */
GPC_MUST_CHECK int gpc_network_take(gpc_network_t *self, gpc_node_t node, uint32_t network,
                                    gpc_index_t *message);                           /* gives the credits back */
GPC_MUST_CHECK int gpc_network_event(gpc_network_t *self, const gpc_event_t *event); /* NETWORK_ARRIVE, NETWORK_GRANT */
/* Every buffer empty and every credit at home. */
bool gpc_network_idle(const gpc_network_t *self);

#endif

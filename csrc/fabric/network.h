/* network.h: routers with finite buffers and credits per virtual network, and the topologies that consist of them.
 *
 * Buffers: a node has one input port or several, and one ejection queue per virtual network, which has a buffer for
 * each of the node's output ports. In a crossbar or star an input port has one virtual channel of vc_flits per virtual
 * network and destination (for core to core in a crossbar: the home bank), so that a message to a busy output blocks no
 * message to another one. The papers do not name such channels (inferred): with one queue per virtual network,
 * head-of-line blocking limits a crossbar to little more than half of its port bandwidth. In a mesh, nodes and routers
 * have one queue of vc_flits per virtual network.
 *
 * Transfer: a grant takes min(flits, vc_flits) credits of the next buffer and occupies the output port and the input
 * port for `flits` network cycles (1 flit per cycle). Routers are cut-through, and their pipeline precedes arbitration:
 * a message is ready latency - 1 cycles after its head enters the buffer; after the grant its head is in the next
 * buffer one cycle later, its last flit in an ejection buffer `flits` cycles later. The unloaded latency is latency per
 * router, and flits - 1. A message longer than a buffer takes all of its credits and passes in pieces. Credits return
 * in the tick of the next grant or in which the receiver takes the message. One event per message and hop, and one per
 * arrival.
 *
 * Arbitration: an output serves virtual networks round robin, then idle inputs round robin; the selected input waits
 * for credits. An input port that becomes free serves the free outputs round robin.
 * With jitter a message is ready up to `jitter` cycles later; those behind it in its queue still follow it.
 * Order: FIFO per (source, destination, virtual network), because these messages take one path of FIFO queues: at a
 * node with several ports, the number of the other end selects the port.
 *
 * Multicast: the copies of a multicast cross their source's link once. The first copy that is granted occupies the
 * input port; from then on the others stream through their outputs without it, because the switch replicates them. A
 * multicast takes room in its source's queue once and counts as one message, but its flits are hops at every link
 * behind the switch. A mesh replicates at the source's router: its links carry a copy per destination.
 *
 * Topologies: the crossbar pair consists of two one-router networks, cores -> banks and banks -> cores; other nodes are
 * on the banks' side. The home bank
 * of a line relays messages from core to core: it re-injects them, alternating with its own messages for the same
 * queue; both traversals count as hops, the message counts once. The mesh has dimension-order routing (x first) and
 * node i of the cores, of the banks and of the others at router i mod routers; links between routers are hops. The star
 * connects every node to one hub, which is one hop.
 *
 * A machine may have several networks, which share its nodes' numbers and its wheel. Links between
 * dies are the machine's (machine/crossing.c). Not modelled: a wheel per group of nodes, for which a
 * link between groups would exchange messages by time instead of by a shared queue.
 */
#ifndef GPC_FABRIC_NETWORK_H
#define GPC_FABRIC_NETWORK_H

#include "base/homes.h"
#include "base/message.h"
#include "base/text.h"
#include "engine/schedule.h"

typedef enum { GPC_TOPOLOGY_CROSSBAR, GPC_TOPOLOGY_MESH, GPC_TOPOLOGY_STAR } gpc_topology_t;

typedef struct {
    gpc_topology_t topology;
    uint32_t cores, banks, others; /* nodes in this order; a crossbar joins the cores with all others */
    const uint8_t *ports;          /* of each node, in each direction; NULL: one. Read by gpc_network_init only */
    uint32_t number;               /* among the machine's networks: 0 is the interconnect (gpc_network_event) */
    uint32_t mesh_width;
    uint32_t networks; /* virtual networks */
    uint32_t vc_flits;
    uint32_t latency;  /* network cycles per hop */
    uint32_t jitter;   /* largest additional latency of a hop, drawn for each message */
    uint32_t flit_gap; /* network cycles between two flits of a link */
    gpc_clock_t clock;
    const gpc_homes_t *homes; /* borrowed; of relayed messages */
} gpc_network_config_t;

#define GPC_NETWORK_MAX_PORTS 16u
#define GPC_NETWORK_TARGET_BITS 24u /* of an event's target; the network's number is above */

typedef struct {
    uint64_t messages, bytes, flits, flit_hops;
} gpc_traffic_t; /* by message type: messages, bytes and flits are counted at injection, flit_hops at every link */

/* Notifications to the machine. Both functions may call back into the network. */
typedef struct {
    int (*arrived)(void *world, gpc_node_t node, uint32_t network); /* the ejection buffer has a new head; not called
                                                                       after a take: the taker peeks again */
    int (*room)(void *world, gpc_node_t node, uint32_t network, uint32_t lane); /* the queue has more room */
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
void gpc_network_free(gpc_network_t *self);  /* frees the wiring, which is not in the arena */
void gpc_network_clear(gpc_network_t *self); /* empties every buffer and returns all credits (after an abort); the
                                                caller frees the messages */

/* Jitter is drawn from this seed from now on. */
void gpc_network_seed(gpc_network_t *self, uint64_t seed);

/* Network cycles from a send on a network edge to the arrival of the last flit, unloaded. */
uint32_t gpc_network_zero_load(const gpc_network_t *self, gpc_node_t from, gpc_node_t to, uint32_t flits);

/* Links from a node to a corner of the mesh (0 to 3); 0 in other topologies. */
uint32_t gpc_network_hops_to_corner(const gpc_network_t *self, gpc_node_t from, uint32_t corner);

/* Maximum number of injection queues (lanes) of a node and virtual network. */
uint32_t gpc_network_lanes(const gpc_network_t *self);
/* Injection queue of a message whose source, destination, line and network are set. */
typedef struct {
    uint32_t input, output; /* ports; output GPC_NONE: no link leads to the destination */
    uint32_t lane;
    uint32_t queue; /* of the input port */
    bool relayed;   /* core to core through the line's home bank */
    bool has_room;  /* the queue, for the message */
} gpc_network_route_t;
gpc_network_route_t gpc_network_route_of(const gpc_network_t *self, const gpc_msg_t *msg);
/* Like gpc_network_send, for a message whose injection queue is known. */
GPC_MUST_CHECK int gpc_network_send_by(gpc_network_t *self, const gpc_network_route_t *route, gpc_index_t message);
/* Whether the message can be sent now; one longer than its buffer needs an empty buffer. Source, destination, line,
 * network and flits are set. */
bool gpc_network_has_room(const gpc_network_t *self, const gpc_msg_t *msg);
/* Source, destination, line, network and flits are set, and there is room (asserted). A message sent between clock
 * edges moves at the next edge. */
GPC_MUST_CHECK int gpc_network_send(gpc_network_t *self, gpc_index_t message);
/* Makes `copy` a further copy of the multicast `first`: equal but for the destination, without lane lists, both not
 * sent yet. Every copy is then sent like a message of its own. */
void gpc_network_add_copy(gpc_pool_t *messages, gpc_index_t first, gpc_index_t copy);
gpc_index_t gpc_network_peek(const gpc_network_t *self, gpc_node_t node, uint32_t network); /* or GPC_NONE */
GPC_MUST_CHECK int gpc_network_take(gpc_network_t *self, gpc_node_t node, uint32_t network,
                                    gpc_index_t *message); /* returns the credits */
/* NETWORK_ARRIVE and NETWORK_GRANT of network 0; OTHER_ARRIVE and OTHER_GRANT of the network that
 * gpc_network_of_event names. */
GPC_MUST_CHECK int gpc_network_event(gpc_network_t *self, const gpc_event_t *event);
static inline uint32_t
gpc_network_of_event(const gpc_event_t *event)
{
    return event->target >> GPC_NETWORK_TARGET_BITS;
}
/* Output ports, and the ticks in which each has passed flits since the last reset. */
uint32_t gpc_network_num_outputs(const gpc_network_t *self);
gpc_node_t gpc_network_node_of(const gpc_network_t *self, uint32_t output); /* that it feeds, or GPC_NO_NODE */
gpc_tick_t gpc_network_busy(const gpc_network_t *self, uint32_t output);
void gpc_network_reset_busy(gpc_network_t *self);
/* Whether every buffer is empty and every credit is returned. */
bool gpc_network_idle(const gpc_network_t *self);
/* Messages sent and not received yet; and the flits that the links have passed since the last reset, by the time that
 * they were busy: as many as flit_hops of all types. */
uint32_t gpc_network_in_flight(const gpc_network_t *self);
uint64_t gpc_network_link_flits(const gpc_network_t *self);
/* Whether the network holds a message that nothing moves: no event is scheduled for it, and it waits neither for
 * credits nor for a busy port; adds the first one to the text. */
bool gpc_network_sleeps_on_work(const gpc_network_t *self, const gpc_schedule_t *schedule, gpc_text_t *out);

#endif

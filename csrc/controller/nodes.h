/* nodes.h: the controllers of a world as a list of node kinds. The machine and the explorer are both built from it.
 *
 * A node kind has a position, a level of the hierarchy and a number of controllers, whose nodes are consecutive. The
 * protocol names the positions, the machine says how many nodes each has. A level that is added here reaches queues,
 * launches, host accesses, monitors, reports and statistics without a change to them.
 *
 * A die is a property of a node: the two halves of an L2 (l2_crossing) are dies too. A GPU has consecutive dies.
 *
 * Room for later: a domain that is simulated by its own thread is a range of nodes. */
#ifndef GPC_CONTROLLER_NODES_H
#define GPC_CONTROLLER_NODES_H

#include "base/text.h"
#include "controller/declare.h"

typedef struct {
    const gpc_controller_type_t *type;
    gpc_position_t position;
    uint8_t level; /* 1: nearest to the cores; 0: beside the hierarchy (an epoch unit, the host) */
    gpc_node_t first;
    uint32_t count;
} gpc_node_kind_t;

typedef struct gpc_nodes {
    gpc_node_kind_t kinds[GPC_NUM_POSITIONS]; /* in order of node: cores, then banks */
    uint32_t num_kinds;
    uint32_t count;             /* of all nodes */
    uint8_t top;                /* the largest level: its controllers fetch from memory */
    uint8_t die[GPC_MAX_NODES]; /* of each node; GPC_NO_DIE: as near to one as to another */
} gpc_nodes_t;
#define GPC_NO_DIE UINT8_MAX

/* GPC_ERROR_MACHINE names a position that the protocol needs and the machine lacks; GPC_ERROR_PROTOCOL: it has no
 * controller at the cores or banks. */
GPC_MUST_CHECK int gpc_nodes_list(gpc_nodes_t *self, const gpc_protocol_t *protocol, const gpc_machine_t *machine,
                                  gpc_failure_t *failure);
/* The kind at the position; NULL: the world has none. */
const gpc_node_kind_t *gpc_nodes_at(const gpc_nodes_t *self, gpc_position_t position);
/* The kind of a node. */
const gpc_node_kind_t *gpc_nodes_kind(const gpc_nodes_t *self, gpc_node_t node);
const char *gpc_position_name(gpc_position_t position); /* "core", "bank", "memory", "global", "host" */
/* Each die has an equal, contiguous share of the cores and of the banks, and one of several controllers at the memory
 * side. Other controllers are on no die. */
static inline uint32_t
gpc_die_of(const gpc_nodes_t *self, gpc_node_t node)
{
    return self->die[node];
}
/* The first core of a die. */
static inline gpc_node_t
gpc_first_core_of(const gpc_nodes_t *self, uint32_t die)
{
    gpc_node_t core = 0;
    while (gpc_die_of(self, core) != die) {
        core++;
    }
    return core;
}
/* On a machine of several dies, adds "dies": its GPUs, and the die of each node (GPC_NO_DIE: none). */
void gpc_nodes_add_dies(const gpc_nodes_t *self, const gpc_machine_t *machine, gpc_text_t *out);
/* The clock of a position in MHz. */
uint32_t gpc_position_mhz(const gpc_machine_t *machine, gpc_position_t position);
/* The controllers that an access to the line concerns; controllers: all nodes, in order. */
gpc_units_t gpc_nodes_units(const gpc_nodes_t *self, gpc_controller_t *controllers, gpc_controller_t *const *l1s,
                            gpc_address_t line);

#endif

/* boundary.h: what a protocol with a command processor knows of a launch before it begins: the arrays that its kernels
 * may access, and the dies that may run their blocks.
 *
 * An array is an allocation. Of a kernel that names its arrays, the program says which it reads and writes; one that
 * accesses memory by address may read and write every allocation. */
#ifndef GPC_CONTROLLER_BOUNDARY_H
#define GPC_CONTROLLER_BOUNDARY_H

#include "base/types.h"

typedef struct gpc_controller gpc_controller_t;
typedef struct gpc_nodes gpc_nodes_t;

typedef struct {
    gpc_address_t begin, end;
    bool reads, writes;
} gpc_array_use_t;

#define GPC_BOUNDARY_ARRAYS 64u

typedef struct {
    gpc_array_use_t arrays[GPC_BOUNDARY_ARRAYS];
    uint32_t num_arrays;
    bool others;           /* the launch may read and write more than these: any memory */
    uint32_t dies;         /* bit d: die d may run blocks */
    gpc_controller_t *all; /* [nodes] */
    const gpc_nodes_t *nodes;
} gpc_boundary_t;

/* Adds an array, or a use of one that is listed. */
static inline void
gpc_boundary_add(gpc_boundary_t *self, gpc_address_t begin, gpc_address_t end, bool reads, bool writes)
{
    uint32_t i = 0;
    while (i < self->num_arrays && self->arrays[i].begin != begin) {
        i++;
    }
    if (i == GPC_BOUNDARY_ARRAYS) {
        self->others = true;
        return;
    }
    if (i == self->num_arrays) {
        self->arrays[self->num_arrays++] = (gpc_array_use_t) {.begin = begin, .end = end};
    }
    self->arrays[i].reads |= reads;
    self->arrays[i].writes |= writes;
}

#endif

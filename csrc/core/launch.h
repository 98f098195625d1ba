/* launch.h: a kernel launch as the host describes it. */
#ifndef GPC_CORE_LAUNCH_H
#define GPC_CORE_LAUNCH_H

#include "core/isa.h"

/* Where blocks run. The next block of the launch goes to the core that has room first, the first ones round the cores or filling
 * one after another; STATIC: block b waits for room on core b mod cores. */
typedef enum { GPC_PLACE_ROUND_ROBIN, GPC_PLACE_FIRST_FREE, GPC_PLACE_STATIC } gpc_placement_t;

typedef struct {
    gpc_address_t address;
    uint64_t words;
    bool read_only;
    const char *name; /* for messages */
} gpc_buffer_t;

typedef struct {
    gpc_program_t program;
    const char *kernel; /* name, for messages */
    uint32_t grid[3], block[3];
    const uint32_t *constants;
    const gpc_buffer_t *buffers;
    uint32_t num_constants, num_buffers;
    gpc_placement_t placement;
} gpc_launch_t;

#endif

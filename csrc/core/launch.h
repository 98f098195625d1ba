/* launch.h: the host's description of a kernel launch. */
#ifndef GPC_CORE_LAUNCH_H
#define GPC_CORE_LAUNCH_H

#include "core/isa.h"

/* Placement of blocks. ROUND_ROBIN and FIRST_FREE give the next block to the first core with room; the first blocks are
 * distributed round robin or fill one core after another. STATIC: block b waits for room on core b mod cores. */
typedef enum { GPC_PLACE_ROUND_ROBIN, GPC_PLACE_FIRST_FREE, GPC_PLACE_STATIC } gpc_placement_t;

typedef struct {
    gpc_address_t address;
    uint64_t words;
    bool read_only;
    const char *name; /* for messages */
} gpc_buffer_t;

typedef struct gpc_launch {
    gpc_program_t program;
    const char *kernel; /* name, for messages */
    uint32_t grid[3], block[3];
    const uint32_t *constants;
    const gpc_buffer_t *buffers;
    uint32_t num_constants, num_buffers;
    gpc_placement_t placement;
} gpc_launch_t;

/* A word that a thread has printed. */
typedef struct {
    uint32_t text, block, thread, word; /* the instruction's text; linear indices of the block and of its thread */
} gpc_print_t;

#define GPC_PRINTS 65536u /* words that one launch can print */

#endif

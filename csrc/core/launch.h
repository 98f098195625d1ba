/* launch.h: the host's description of a kernel launch. */
#ifndef GPC_CORE_LAUNCH_H
#define GPC_CORE_LAUNCH_H

#include "core/isa.h"

/* Placement of blocks. ROUND_ROBIN, FIRST_FREE and ROTATING give the next block to the first core with room; the first
 * blocks are distributed round robin, fill one core after another, or go round from the core after the last one that
 * took a block in the launch before. STATIC: block b waits for room on core b mod cores. */
typedef enum {
    GPC_PLACE_ROUND_ROBIN,
    GPC_PLACE_FIRST_FREE,
    GPC_PLACE_STATIC,
    GPC_PLACE_ROTATING,
    GPC_NUM_PLACEMENTS
} gpc_placement_t;

typedef struct {
    gpc_address_t address;
    uint64_t elements;
    bool read_only;
    const char *name; /* for messages */
    uint8_t bytes;    /* of an element: 1 or 2; 0: words */
} gpc_buffer_t;

static inline uint32_t
gpc_element_bytes(uint8_t narrow)
{
    return narrow != 0 ? narrow : 4u;
}

static inline uint64_t
gpc_buffer_words(const gpc_buffer_t *self)
{
    return self->bytes != 0 ? self->elements / (4u / self->bytes) + (self->elements % (4u / self->bytes) != 0)
                            : self->elements;
}

/* The element at an address; false: it is not in the buffer. */
static inline bool
gpc_buffer_has(const gpc_buffer_t *self, gpc_address_t address, uint64_t *element)
{
    *element = (address - self->address) / gpc_element_bytes(self->bytes);
    return address >= self->address && *element < self->elements;
}

/* A source file of a kernel: its name, and its line at which the instructions' lines begin. */
typedef struct {
    const char *name;
    uint32_t first;
} gpc_source_t;

typedef struct gpc_launch {
    gpc_program_t program;
    const char *kernel; /* name, for messages */
    uint32_t grid[3], block[3];
    const uint32_t *constants;
    const gpc_buffer_t *buffers;
    const gpc_source_t *files;  /* by the instructions' `file`, for messages */
    const char *const *reports; /* texts by the number of an assertion or print, for messages */
    uint32_t num_constants, num_buffers, num_files, num_reports;
    gpc_placement_t placement;
    /* Local memory by GPC_LOCAL_WINDOW, allocated by the host: word w of thread t, of all threads of the grid, is word
     * w * threads + t from local_address on. */
    gpc_address_t local_address;
    uint32_t local_bytes; /* of a thread; 0: none */
    /* Kernels that run at the same time are launches that follow each other, all but the last with `more`. On one GPU
     * they run in their order. */
    bool more;
    uint32_t on_gpu; /* 1 + the GPU's number; 0: all GPUs, as one */
    uint64_t after;  /* bits: kernels before this one that end before it begins */
    bool functional; /* values without time or caches (machine/functional.c); of several kernels, the last one says */
    /* Of kernels that are joined for observers, see gpc_launch_t in gpc_core_parts_t; else NULL. */
    const struct gpc_core_launch *joined;
} gpc_launch_t;

#define GPC_MOST_KERNELS 64u /* of one launch */

/* A word that a thread has printed. */
typedef struct {
    uint32_t text, block, thread, word; /* the instruction's text; linear indices of the block and of its thread */
} gpc_print_t;

#define GPC_PRINTS 65536u /* words that one launch can print */

#endif

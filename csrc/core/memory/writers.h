/* writers.h: the last writers of words, for deadlock reports.
 *
 * A table by the lowest word that a store or atomic wrote. A later write replaces an entry of another word in the same
 * place, so a report may lack the writer of a word that was written long ago. */
#ifndef GPC_CORE_MEMORY_WRITERS_H
#define GPC_CORE_MEMORY_WRITERS_H

#include "core/state.h"

#define GPC_WRITERS 4096u /* a power of two */

struct gpc_writer {
    gpc_address_t word; /* the lowest that it wrote */
    gpc_mask_t words;   /* of the line: all that it wrote */
    uint32_t launch;    /* gpc_core_parts_t.launches */
    gpc_cycle_t cycle;  /* of its completion */
    gpc_lanes_t lanes;
    uint32_t pc, block; /* number of the block */
    uint8_t kernel;     /* of the launch */
    uint8_t warp;       /* in its block */
    uint8_t core;
    bool straight; /* lane l wrote word first + l */
    uint8_t first;
};

/* A store (part) or atomic of the warp of `x` is complete; an atomic that changes no word is no writer. */
void gpc_writers_note(const gpc_issue_t *x, const gpc_core_access_t *access, gpc_lanes_t lanes, const gpc_msg_t *msg);
/* The last recorded writer of a word in this launch, or NULL. */
const gpc_writer_t *gpc_writers_find(const gpc_cores_t *self, gpc_address_t word);

#endif

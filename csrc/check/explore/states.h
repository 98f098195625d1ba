/* states.h: the states that an exploration has reached, with their parents and successors.
 *
 * A state is stored as a 96-bit hash of its encoding (two of a million states collide with a probability of 10^-17),
 * its parent and the move that led to it. The images of states that are not expanded yet are queued as differences from
 * the first state's image; later the state is reconstructed by replaying the moves. */
#ifndef GPC_CHECK_STATES_H
#define GPC_CHECK_STATES_H

#include "base/types.h"

typedef struct {
    uint64_t high;
    uint32_t low;
} gpc_state_hash_t;

typedef struct {
    uint64_t high;
    uint32_t low;
    uint32_t state; /* GPC_NONE: free */
} gpc_state_slot_t;

typedef struct {
    uint32_t parent;
    uint16_t depth;
    uint16_t move; /* index among the parent's moves */
    bool rests;    /* the programs are done and nothing is in flight */
} gpc_state_seen_t;

typedef struct gpc_state_block gpc_state_block_t;

typedef struct {
    gpc_state_slot_t *table; /* owned; open addressing */
    uint64_t slots;
    gpc_state_seen_t *seen; /* owned, in order of discovery */
    uint32_t *first_edge;   /* owned; of each expanded state, and one more */
    uint32_t count, expanded, capacity;
    uint32_t *edges; /* owned: successor states, except by evictions */
    uint32_t num_edges, edge_capacity;
    const uint8_t *base; /* borrowed: the first state's image */
    size_t image_bytes;
    gpc_state_block_t *oldest, *newest; /* owned: the queue of images */
    bool dequeued;                      /* an image has been taken out; the next one overwrites it */
} gpc_states_t;

void gpc_states_init(gpc_states_t *self, const uint8_t *base, size_t image_bytes);
void gpc_states_free(gpc_states_t *self);
gpc_state_hash_t gpc_states_hash(const uint8_t *bytes, size_t length);
/* *state: the state with this hash; *is_new: it was unknown, and its image has been queued. 0 or GPC_ERROR_MEMORY. */
GPC_MUST_CHECK int gpc_states_note(gpc_states_t *self, gpc_state_hash_t hash, const gpc_state_seen_t *how,
                                   uint32_t *state, bool *is_new);
GPC_MUST_CHECK int gpc_states_queue(gpc_states_t *self, const uint8_t *image);
/* First in, first out. The caller gives the same image each time, and has not changed it. */
void gpc_states_dequeue(gpc_states_t *self, uint8_t *image);
GPC_MUST_CHECK int gpc_states_add_edge(gpc_states_t *self, uint32_t to); /* from the state that is being expanded */
void gpc_states_expanded(gpc_states_t *self);                            /* ends the expansion of a state */
/* The moves that led to the state; returns their number. */
uint32_t gpc_states_path(const gpc_states_t *self, uint32_t state, uint16_t *moves);
/* The first state from which no state at rest and no unexpanded state is reachable; GPC_NONE: there is none. */
GPC_MUST_CHECK int gpc_states_find_trap(const gpc_states_t *self, uint32_t *state);

#endif

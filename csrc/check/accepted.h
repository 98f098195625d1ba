/* accepted.h: stores that an L1 has accepted and completed and that are not performed yet. Monitors and the explorer
 * record them by place and word, because their requests no longer exist. The place is the core, or where banks accept
 * stores (gpc_watched_t.near_accepts) the core's die, named by its first core.
 *
 * The stores of a place to a word are performed in order of acceptance. A store that a younger one has replaced in a
 * buffer counts as performed immediately before it. If several stores have the performed value, the oldest counts as
 * performed, and those up to the youngest may have been performed too: they are not reported as lost. */
#ifndef GPC_CHECK_ACCEPTED_H
#define GPC_CHECK_ACCEPTED_H

#include "controller/protocol.h"

typedef struct {
    gpc_address_t address; /* of the word */
    uint64_t reader;       /* the storing warp, as the list's owner numbers warps */
    gpc_cycle_t issued;
    uint32_t value;
    gpc_node_t core, place;
    uint16_t warp;
    bool perhaps;     /* may have been performed with an older store of the same value */
    gpc_index_t next; /* the next younger store of the bucket, or the free list's link */
} gpc_accepted_store_t;

/* A bucket holds all stores of a place to a word, in order of acceptance. */
typedef struct {
    gpc_index_t head, tail;
} gpc_accepted_bucket_t;

typedef struct {
    uint32_t count, high;
    gpc_index_t free;
} gpc_accepted_state_t;

/* The arrays and the state are the owner's. */
typedef struct {
    gpc_accepted_store_t *stores;  /* [capacity] */
    gpc_accepted_bucket_t *bucket; /* [buckets] */
    gpc_accepted_state_t *state;
    uint32_t capacity, buckets; /* buckets: a power of two */
} gpc_accepted_t;

void gpc_accepted_clear(gpc_accepted_t *self);
/* GPC_ERROR_CAPACITY: the list is full. */
GPC_MUST_CHECK int gpc_accepted_add(gpc_accepted_t *self, const gpc_accepted_store_t *store);
/* Where the core's stores are accepted. */
gpc_node_t gpc_accepted_place(const gpc_controller_t *unit, gpc_node_t core);
/* The core's request of which `store`, which a controller accepts, is or comes from. */
const gpc_msg_t *gpc_accepted_request(const gpc_controller_t *unit, const gpc_msg_t *store);
/* The oldest store of the place to the word, or GPC_NONE; the next younger one. */
gpc_index_t gpc_accepted_first(const gpc_accepted_t *self, gpc_node_t place, gpc_address_t address);
gpc_index_t gpc_accepted_next(const gpc_accepted_t *self, gpc_index_t i);
/* *i: the store that a write without a request performs in the word. An error if no store of its place has that
 * value. */
GPC_MUST_CHECK int gpc_accepted_find(const gpc_accepted_t *self, gpc_controller_t *unit, const gpc_msg_t *write,
                                     uint32_t word, gpc_index_t *i);
/* The same; GPC_NONE: there is none. */
gpc_index_t gpc_accepted_with(const gpc_accepted_t *self, const gpc_controller_t *unit, const gpc_msg_t *write,
                              uint32_t word);
/* Store i and all older ones of its place and word are performed. */
void gpc_accepted_perform(gpc_accepted_t *self, gpc_index_t i);
/* Checks that every accepted store has been performed; the error names the oldest store of a bucket. */
GPC_MUST_CHECK int gpc_accepted_check_end(const gpc_accepted_t *self, gpc_controller_t *const *l1s);

/* Whether a store of the reader has certainly not been performed. It looks at every bucket. */
bool gpc_accepted_waits(const gpc_accepted_t *self, uint64_t reader);

enum { GPC_ACCEPTED_READ = 1 };
/* Checks the value of a load that `reader` issued at `issued`. GPC_ACCEPTED_READ: the value is an accepted store's of
 * the same place; GPC_OK: it is not; an error: the load misses an older store of its own warp. */
GPC_MUST_CHECK int gpc_accepted_check_load(const gpc_accepted_t *self, gpc_controller_t *l1, const gpc_msg_t *load,
                                           uint64_t reader, gpc_cycle_t issued, uint32_t word, uint32_t value);

#endif

/* accepted.h: stores that an L1 has accepted and completed but not yet performed. Monitors and the explorer keep them by core and
 * word, since their requests no longer exist.
 *
 * The stores of a core to a word are performed in the order in which they were accepted. A store that a buffer has replaced by
 * a younger one counts as performed just before that one. When a word is performed whose value several of its stores have, the
 * oldest of them is chosen, and those up to the youngest may have been performed too: none of them is reported as lost. */
#ifndef GPC_CHECK_ACCEPTED_H
#define GPC_CHECK_ACCEPTED_H

#include "controller/protocol.h"

typedef struct {
    gpc_address_t address; /* of the word */
    uint64_t reader;       /* the warp of the store, as the owner of the list numbers warps */
    gpc_cycle_t issued;
    uint32_t value;
    gpc_node_t core;
    uint16_t warp;
    bool perhaps;     /* possibly performed, with an older store of the same value */
    gpc_index_t next; /* accepted later, in the same bucket; or free */
} gpc_accepted_store_t;

/* Those of the same core and word are in one bucket, in the order in which they were accepted. */
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
/* GPC_ERROR_CAPACITY: no room. */
GPC_MUST_CHECK int gpc_accepted_add(gpc_accepted_t *self, const gpc_accepted_store_t *store);
/* The oldest store of the core to the word, or GPC_NONE; the next younger one. */
gpc_index_t gpc_accepted_first(const gpc_accepted_t *self, gpc_node_t core, gpc_address_t address);
gpc_index_t gpc_accepted_next(const gpc_accepted_t *self, gpc_index_t i);
/* *i: the store that a write without a request performs in the word. An error: no store of its core has that value. */
GPC_MUST_CHECK int gpc_accepted_find(const gpc_accepted_t *self, gpc_controller_t *unit, const gpc_msg_t *write,
                                     uint32_t word, gpc_index_t *i);
/* Its store number i and all older ones are performed. */
void gpc_accepted_perform(gpc_accepted_t *self, gpc_index_t i);
/* Checks that every accepted store has been performed; the error names the oldest store of a bucket that has not. */
GPC_MUST_CHECK int gpc_accepted_check_end(const gpc_accepted_t *self, gpc_controller_t *const *l1s);

enum { GPC_ACCEPTED_READ = 1 };
/* The load, issued by that reader at that time, returns the value. GPC_ACCEPTED_READ: it is that of an accepted store of its core; GPC_OK:
 * of none; an error: it misses an older store of its own warp. */
GPC_MUST_CHECK int gpc_accepted_check_load(const gpc_accepted_t *self, gpc_controller_t *l1, const gpc_msg_t *load,
                                           uint64_t reader, gpc_cycle_t issued, uint32_t word, uint32_t value);

#endif

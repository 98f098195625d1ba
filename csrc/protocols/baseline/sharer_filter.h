/* sharer_filter.h: which L1s may have anything to do with a line: a copy, or a request on its way. An oracle that asks every L1
 * about every line asks, with 256 cores, most of them in vain, and each answer is far out of the host's cache.
 *
 * A set of L1s a hash of lines, never too small: an L1 that sends anything about a line is in it. What is over makes the sets
 * too large; from time to time they are made anew from the L1s' tags and transactions. It changes no result, only who is asked. */
#ifndef GPC_PROTOCOLS_BASELINE_SHARER_FILTER_H
#define GPC_PROTOCOLS_BASELINE_SHARER_FILTER_H

#include "controller/protocol.h"

#define GPC_HOLDER_SETS 8192u

typedef struct {
    uint64_t noted; /* since the sets were made */
    bool asked;     /* somebody asks: before that nothing is noted */
} gpc_holders_state_t;

typedef struct {
    gpc_holders_state_t *state; /* in the arena, as the sets */
    uint64_t *sets;             /* [GPC_HOLDER_SETS][words], a bit an L1 */
    uint32_t words;
    uint32_t l1s;
} gpc_holders_t;

GPC_MUST_CHECK int gpc_holders_init(gpc_holders_t *self, gpc_arena_t *arena, uint32_t l1s);
/* The L1s that may have to do with the line. */
void gpc_holders_of(gpc_holders_t *self, gpc_controller_t *const *l1s, gpc_address_t line, gpc_nodeset_t *out);
/* Whether this L1 has a copy or a request on its way: the sets hold more than those. */
bool gpc_holders_is_one(const gpc_controller_t *l1, gpc_address_t line);

static inline uint64_t *
gpc_holders_set_of(const gpc_holders_t *self, gpc_address_t line)
{
    return self->sets + (line * UINT64_C(0x9E3779B97F4A7C15) >> 32) % GPC_HOLDER_SETS * self->words;
}

/* The L1 sends something about the line. */
static inline void
gpc_holders_note(gpc_holders_t *self, gpc_node_t l1, gpc_address_t line)
{
    if (self->state->asked) {
        gpc_holders_set_of(self, line)[l1 / 64] |= UINT64_C(1) << (l1 % 64);
        self->state->noted++;
    }
}

#endif

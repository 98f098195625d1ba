/* order.h: memory order in one place, between the interpreter and the L1. Knows no instruction set and no clock but the
 * `now` port; the engine's cores and the explorer's programs both run it.
 *
 * A warp is the thread of the memory model. For each warp: what it has outstanding and the protocol's own per-warp metadata;
 * for each core the protocol's per-core metadata. The core rule (sc, rc, drf, hrf) and the protocol's traits say when an
 * access may issue, what a release and an acquire do beside waiting, and what a barrier joins.
 */
#ifndef GPC_CORE_MEMORY_ORDER_H
#define GPC_CORE_MEMORY_ORDER_H

#include "base/access.h"
#include "base/arena.h"
#include "controller/protocol.h"

/* Why a warp's next access may not issue. GO: it may, now. */
#define GPC_ORDER_VERDICTS(X)                                                   \
    X(GO, "may issue")                                                          \
    X(OLDER_LOAD, "waits for an older load")                                    \
    X(OLDER_STORE, "waits for an older store")                                  \
    X(OLDER_ATOMIC, "waits for an older atomic")                                \
    X(RELEASE, "waits for the release part (a store buffer, a marker)")         \
    X(TIME, "waits for a time (a lease or GWCT)")                               \
    X(SAME_LINE, "waits for an older access of the warp to the line or word")

typedef enum {
#define X(name, text) GPC_ORDER_VERDICT_##name,
    GPC_ORDER_VERDICTS(X)
#undef X
        GPC_NUM_ORDER_VERDICTS
} gpc_order_verdict_t;

const char *gpc_order_verdict_text(gpc_order_verdict_t verdict);

typedef struct {
    uint16_t outstanding[3]; /* instructions not yet complete, by kind: loads, stores, atomics */
    bool
        blocked; /* by an outstanding acquire, or under drf and hrf any synchronisation access: nothing issues before it is complete */
} gpc_order_warp_t;

typedef struct {
    uint32_t arrived;  /* threads, waiting or not */
    uint32_t expected; /* threads, told by the first to arrive; 0: nobody is here */
    uint64_t waiting;  /* warps of the core */
} gpc_order_barrier_t;

/* A line request that is outstanding; kept under the traits same_line and same_word only. */
typedef struct {
    gpc_index_t next; /* the warp's next older one; or a free one's link */
    gpc_mask_t mask;
    gpc_address_t line;
} gpc_order_touch_t;

/* How much a core has room for. */
typedef struct {
    uint32_t cores, warps, blocks;
    uint32_t requests; /* line requests outstanding, at most */
} gpc_order_sizes_t;

typedef struct gpc_order {
    gpc_rule_t rule;
    const gpc_order_traits_t *traits; /* borrowed from the protocol */
    gpc_controller_t *const *l1s;     /* borrowed: the core-position controller of each core */
    uint32_t cores, warps;            /* warps a core */
    uint32_t blocks;                  /* resident blocks a core */
    gpc_order_warp_t *warp;           /* [cores * warps], in the arena */
    gpc_pool_t touches;               /* of gpc_order_touch_t */
    gpc_index_t *
        touched; /* [cores * warps], in the arena: each warp's newest, or GPC_NONE. NULL: neither same_line nor same_word */
    gpc_order_barrier_t *barrier; /* [cores * blocks * GPC_NAMED_BARRIERS], in the arena */
    uint32_t joined_size;
    uint8_t *
        joined; /* [barriers * joined_size]: the join of what those who have arrived brought; NULL: nothing is joined */
} gpc_order_t;

/* l1s[i] gets its per-warp and per-core metadata arrays here too. */
GPC_MUST_CHECK int gpc_order_init(gpc_order_t *self, gpc_rule_t rule, const gpc_order_traits_t *traits,
                                  gpc_controller_t *const *l1s, const gpc_order_sizes_t *sizes, gpc_arena_t *arena);
void gpc_order_clear(gpc_order_t *self); /* nothing outstanding, no barrier; metadata as at the start */

/* May this warp's next access (in program order) issue now? Asking again is free of effect but for progress: ask whenever
 * something of the warp has completed, and not before *until (a core cycle; GPC_NEVER: when told) when the verdict is TIME.
 * Negative: an error. A FENCE, BARRIER or EXIT that gets GO is complete by that. */
GPC_MUST_CHECK int gpc_order_may_issue(gpc_order_t *self, uint32_t core, uint32_t warp, const gpc_access_t *access,
                                       gpc_cycle_t *until);
/* A load, store or atomic that got GO has been issued; it completes when its last line request has. */
void gpc_order_issued(gpc_order_t *self, uint32_t core, uint32_t warp, const gpc_access_t *access);
GPC_MUST_CHECK int gpc_order_completed(gpc_order_t *self, uint32_t core, uint32_t warp, const gpc_access_t *access);
/* May the warp access these words of the line, by the traits same_line and same_word? GO or SAME_LINE, without effect. Asked for every
 * line of an access before gpc_order_may_issue, whose GO is acted on. */
int gpc_order_may_touch(const gpc_order_t *self, uint32_t core, uint32_t warp, gpc_address_t line, gpc_mask_t mask);
/* Whether the answer can be other than GO: else the lines of an access need not be known before it issues. */
static inline bool
gpc_order_minds_lines(const gpc_order_t *self, uint32_t core, uint32_t warp)
{
    return self->touched && self->touched[(size_t) core * self->warps + warp] != GPC_NONE;
}
/* A line request of the warp's access is made; it is complete, with all of its words. */
void gpc_order_touch(gpc_order_t *self, uint32_t core, uint32_t warp, gpc_address_t line, gpc_mask_t mask);
void gpc_order_let_go(gpc_order_t *self, uint32_t core, uint32_t warp, gpc_address_t line, gpc_mask_t mask);
/* Whether anything of the warp is outstanding. */
bool gpc_order_idle(const gpc_order_t *self, uint32_t core, uint32_t warp);

/* A warp with so many threads arrives at barrier id of the block (its slot on the core); it got GO for the BARRIER access.
 * expected: threads that must arrive. *released: the warps that may go on (the arriving one included) once all have, else 0.
 * Those that do not wait bring their metadata too. A verdict other than GO: it would be the last, and the release part of the barrier
 * (barrier_releases) is not done: it has not arrived, and asks again as after gpc_order_may_issue. GPC_ERROR_BARRIER when counts
 * disagree or too many arrive. */
GPC_MUST_CHECK int gpc_order_barrier(gpc_order_t *self, uint32_t core, uint32_t block, uint32_t id, uint32_t warp,
                                     uint32_t threads, uint32_t expected, bool waits, uint64_t *released,
                                     gpc_cycle_t *until);
/* Warps of the block that wait at any barrier of it; 0 when none. */
uint64_t gpc_order_barrier_waiting(const gpc_order_t *self, uint32_t core, uint32_t block);
void gpc_order_block_begin(gpc_order_t *self, uint32_t core, uint32_t block, uint64_t warps);

#endif

/* order.h: memory ordering, between the interpreter and the L1. Independent of the instruction set and, but for the
 * `now` port, of time; used by the simulator's cores and by the explorer's programs.
 *
 * A warp is the thread of the memory model. The state consists of each warp's outstanding accesses and the protocol's
 * metadata per warp and per core. The consistency model (sc, rc, drf, hrf) and the protocol's traits determine when an
 * access may issue, what a release and an acquire do besides waiting, and what a barrier joins.
 */
#ifndef GPC_CORE_MEMORY_ORDER_H
#define GPC_CORE_MEMORY_ORDER_H

#include "base/access.h"
#include "base/arena.h"
#include "base/machine.h"
#include "base/message.h"
#include "base/rules.h"
#include "controller/order_traits.h"

/* Why a warp's next access may not issue. GO: it may issue now. */
#define GPC_ORDER_VERDICTS(X)                                                   \
    X(GO, "may issue")                                                          \
    X(OLDER_LOAD, "waits for an older load")                                    \
    X(OLDER_STORE, "waits for an older store")                                  \
    X(OLDER_ATOMIC, "waits for an older atomic")                                \
    X(RELEASE, "waits for the release part (a store buffer or marker)")         \
    X(TIME, "waits for a time (the expiry of a lease, or GWCT)")                \
    X(SAME_LINE, "waits for an older access to the line or word")

typedef enum {
#define X(name, text) GPC_ORDER_VERDICT_##name,
    GPC_ORDER_VERDICTS(X)
#undef X
        GPC_NUM_ORDER_VERDICTS
} gpc_order_verdict_t;

const char *gpc_order_verdict_text(gpc_order_verdict_t verdict);

typedef struct {
    uint16_t outstanding[3]; /* incomplete instructions by kind: loads, stores, atomics */
    /* An acquire is outstanding, or under drf and hrf any synchronisation access: nothing issues before it is
     * complete. */
    bool blocked;
} gpc_order_warp_t;

typedef struct {
    uint32_t arrived;  /* threads, waiting or not */
    uint32_t expected; /* threads, given by the first arrival; 0: no arrivals */
    uint64_t warps;    /* that have arrived, of the core */
    uint64_t waiting;  /* those of them that wait */
    uint8_t parts;     /* 0: no release and acquire parts; else 1 + the widest scope of an arrival */
    bool counted; /* an arrival has given a count: `expected` threads must arrive, else every warp that has not ended */
} gpc_order_barrier_t;

/* A warp with `threads` threads arrives at barrier `id` of the block (its slot on the core). */
typedef struct {
    uint32_t block, id, warp;
    uint32_t threads, expected; /* threads 0: the warp ends; expected: threads that must arrive */
    gpc_access_t access;        /* BARRIER; weak: without release and acquire parts */
    bool waits;
    uint64_t awaited; /* without a count: the block's warps that have not ended; 0: the count `expected` is given */
} gpc_order_arrival_t;

/* An outstanding line request; recorded under the traits same_line and same_word and the option word_order only, and
 * not under sc. */
typedef struct {
    gpc_index_t next; /* the next older request of the warp (word_order: of the core) */
    gpc_mask_t mask;
    gpc_address_t line;
    uint16_t warp;
    bool loads, strong; /* strong: its access is not weak */
} gpc_order_touch_t;

/* Additions of the machine to the rules (fields.def); all false: the protocols' papers. Without effect under sc, but
 * for fence_trip. */
typedef struct {
    bool relaxed_unordered, block_fences_free, word_order, fence_drains;
    bool fence_trip; /* under sc too: it is what the instruction does */
} gpc_order_options_t;

static inline gpc_order_options_t
gpc_order_options(const gpc_machine_t *machine)
{
    return (gpc_order_options_t) {machine->relaxed_unordered != 0, machine->block_fences_free != 0,
                                  machine->word_order != 0, machine->fence_drains != 0, machine->fence_trip != 0};
}

/* Sizes of the tables. */
typedef struct {
    uint32_t cores, warps, blocks;
    uint32_t requests; /* maximum of outstanding line requests per core */
} gpc_order_sizes_t;

typedef struct gpc_order {
    gpc_rule_t rule;
    gpc_order_options_t options;
    bool exit_releases;               /* the trait `exit` does not hold: kernels follow others before KERNEL_END */
    bool across_warps;                /* a completion may end the wait of another warp of the core */
    const gpc_order_traits_t *traits; /* borrowed from the protocol */
    gpc_controller_t *const *l1s;     /* borrowed: the core-position controller of each core */
    uint32_t cores, warps;            /* warps per core */
    uint32_t blocks;                  /* resident blocks per core */
    gpc_order_warp_t *warp;           /* [cores * warps], in the arena */
    gpc_pool_t touches;               /* of gpc_order_touch_t */
    /* [cores * warps], in the arena: each warp's newest, or GPC_NONE; under word_order a core's, at its warp 0. NULL if
     * none is recorded. */
    gpc_index_t *touched;
    /* [cores * warps], in the arena: bit w: the warp's fence waits for the stores of warp w; its own bit: it has begun
     * to wait. NULL without fence_drains. */
    uint64_t *drains;
    /* [cores * warps], in the arena: 0: no trip of the warp's release is under way; GPC_NEVER: it is; else it ends at
     * that core cycle. NULL without fence_trip, and where the protocol's release travels by itself. */
    gpc_cycle_t *trips;
    gpc_order_barrier_t *barrier; /* [cores * blocks * GPC_NAMED_BARRIERS], in the arena */
    uint32_t joined_size;
    uint8_t *joined; /* [barriers * joined_size]: join of the arrived warps' metadata; NULL: barriers join nothing */
} gpc_order_t;

/* Also allocates the per-warp and per-core metadata of l1s[i]. */
GPC_MUST_CHECK int gpc_order_init(gpc_order_t *self, gpc_rule_t rule, const gpc_order_traits_t *traits,
                                  gpc_controller_t *const *l1s, const gpc_order_sizes_t *sizes,
                                  gpc_order_options_t options, gpc_arena_t *arena);
void gpc_order_clear(gpc_order_t *self); /* nothing outstanding, no barrier; initial metadata */

/* Whether this warp's next access (in program order) may issue now. The caller retries when an access of the warp
 * completes or, after TIME, at core cycle *until (GPC_NEVER: when woken); a retry has no effect but progress. Negative:
 * an error. With GO, a FENCE, BARRIER or EXIT is complete. */
GPC_MUST_CHECK int gpc_order_may_issue(gpc_order_t *self, uint32_t core, uint32_t warp, const gpc_access_t *access,
                                       gpc_cycle_t *until);
/* A load, store or atomic has issued after GO; it completes when its last line request completes. */
void gpc_order_issued(gpc_order_t *self, uint32_t core, uint32_t warp, const gpc_access_t *access);
GPC_MUST_CHECK int gpc_order_completed(gpc_order_t *self, uint32_t core, uint32_t warp, const gpc_access_t *access);
/* touches.c: whether the traits same_line and same_word, and the option word_order, permit an access to these words of
 * the line: GO or SAME_LINE, without effect. Called for every line of an access before gpc_order_may_issue, whose GO
 * has effects. */
int gpc_order_may_touch(const gpc_order_t *self, uint32_t core, uint32_t warp, const gpc_access_t *access,
                        gpc_address_t line, gpc_mask_t mask);
static inline gpc_index_t *
gpc_order_newest(const gpc_order_t *self, uint32_t core, uint32_t warp)
{
    return &self->touched[(size_t) core * self->warps + (self->options.word_order ? 0 : warp)];
}
/* Whether gpc_order_may_touch can return SAME_LINE; if not, the lines of an access are not needed before it issues. */
static inline bool
gpc_order_minds_lines(const gpc_order_t *self, uint32_t core, uint32_t warp)
{
    return self->touched && *gpc_order_newest(self, core, warp) != GPC_NONE;
}
/* A line request of the warp's access begins; gpc_order_let_go: it is complete, with all of its words. */
void gpc_order_touch(gpc_order_t *self, uint32_t core, uint32_t warp, const gpc_access_t *access, gpc_address_t line,
                     gpc_mask_t mask);
void gpc_order_let_go(gpc_order_t *self, uint32_t core, uint32_t warp, gpc_address_t line, gpc_mask_t mask);
/* The trip of the warp's release ends at core cycle `at`; the caller wakes the warp. */
void gpc_order_trip_back(gpc_order_t *self, uint32_t core, uint32_t warp, gpc_cycle_t at);
/* The kind of the warp's outstanding accesses, as a verdict; GO: it has none. */
int gpc_order_older(const gpc_order_t *self, uint32_t core, uint32_t warp);

/* The warp arrives, after GO for its BARRIER access. *released: once all have arrived, the warps that may continue,
 * including this one; else 0. Warps that do not wait contribute their metadata too. The last warp to arrive performs
 * the release part for all of them (of an access that is not weak, or with barrier_releases and its hook), before any
 * warp leaves; each warp that leaves performs the acquire part. A verdict other than GO: this would be the last
 * arrival, but the release part is incomplete; the warp has not arrived and retries as after gpc_order_may_issue.
 * GPC_ERROR_BARRIER when counts disagree or too many threads arrive. A warp that ends arrives with 0 threads at the
 * barriers that wait for no other warp. */
GPC_MUST_CHECK int gpc_order_barrier(gpc_order_t *self, uint32_t core, const gpc_order_arrival_t *arrival,
                                     uint64_t *released, gpc_cycle_t *until);
/* Whether the barrier has arrivals, no count, and waits for no warp of `awaited`; *access: its own, with its widest
 * scope. */
bool gpc_order_barrier_is_complete_with(const gpc_order_t *self, uint32_t core, uint32_t block, uint32_t id,
                                        uint64_t awaited, gpc_access_t *access);
void gpc_order_block_begin(gpc_order_t *self, uint32_t core, uint32_t block, uint64_t warps);

#endif

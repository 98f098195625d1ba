/* core.h: the SIMT cores: block dispatch, warps, scheduler, interpreter, scoreboard, scratchpad, coalescer, load-store queue.
 *
 * A core's cycle: completions that are due; issue (up to issue_width warp instructions); then the load-store stage offers one line
 * request to the L1 port. A load issued at cycle c is looked up in the L1 at c when the queue is empty.
 */
#ifndef GPC_CORE_CORE_H
#define GPC_CORE_CORE_H

#include "base/access.h"
#include "base/arena.h"
#include "base/failure.h"
#include "base/histogram.h"
#include "base/machine.h"
#include "base/message.h"
#include "base/text.h"
#include "core/launch.h"
#include "fabric/memory.h"

/* Every stall cycle of a resident warp that could not issue is counted under one of these, once a core cycle in which no
 * warp of the core issued (the reason of the first waiting warp in scheduler order), so that issue cycles + stall cycles =
 * active core cycles. Cycles without a resident block are `launch` alone and not active: active + launch = the launch's
 * length, the same on every core. While an instruction holds its issue port (issue_cycles > 1) the core counts as issuing. */
#define GPC_STALLS(X)                                                                            \
    X(scoreboard, "a register of an outstanding load or instruction")                            \
    GPC_MEMORY_ORDER_STALLS(X)                                                                   \
    GPC_FENCE_STALLS(X)                                                                          \
    X(time, "a lease or GWCT")                                                                   \
    X(load_store_queue, "no free place in the load-store queue, or no free request")             \
    X(barrier, "other warps of the block")                                                       \
    X(sleep, "sleep()")                                                                          \
    X(unit, "a busy division or special-function unit")                                          \
    X(drain, "the warp's last accesses before its end")                                          \
    X(launch, "the launch latency, or no block to run")

/* The parts of `memory_order`, "an older access, by the core rule or an order trait". */
#define GPC_MEMORY_ORDER_STALLS(X)                                                               \
    X(memory_order_load, "an older load, by the core rule")                                      \
    X(memory_order_store, "an older store, by the core rule")                                    \
    X(memory_order_atomic, "an older atomic, by the core rule")                                  \
    X(memory_order_same_line, "an older access to the line or word")

/* The parts of `fence`, "a fence, release or acquire in progress". */
#define GPC_FENCE_STALLS(X)                                                                      \
    X(fence_load, "an older load, before a fence or release")                                    \
    X(fence_store, "an older store, before a fence or release")                                  \
    X(fence_atomic, "an older atomic, before a fence or release")                                \
    X(fence_release, "the protocol's part of a fence, release or acquire")

/* What nearly every turn counts comes first, in one line of the host's cache. */
#define GPC_CORE_STATISTICS(X)                                                                  \
    X(instructions, "warp instructions")                                                        \
    X(thread_instructions, "lanes that carried out an instruction")                             \
    X(active_cycles, "core cycles with a resident block")                                       \
    X(issue_cycles, "core cycles that issued at least one instruction")                         \
    X(memory_instructions, "warp loads, stores and atomics on global memory")                   \
    X(loads, "line requests")                                                                   \
    X(load_instructions, "")                                                                    \
    X(load_latency_cycles, "issue to last word, summed over load instructions")                 \
    X(stores, "line requests")                                                                  \
    X(atomics, "line requests")                                                                 \
    X(shared_accesses, "warp accesses to the scratchpad")                                       \
    X(shared_conflict_cycles, "cycles beyond the first")                                        \
    X(fences, "")                                                                               \
    X(barriers, "warp arrivals")                                                                \
    X(divergent_branches, "")                                                                   \
    X(store_latency_cycles, "issue to acknowledgement, summed over store instructions")         \
    X(store_instructions, "")

#define GPC_CORE_HISTOGRAMS(X)                                                                  \
    X(load_latency, "core cycles from issue to last word, by load instruction")                 \
    X(store_latency, "core cycles from issue to acknowledgement, by store instruction")

typedef struct {
#define X(name, text) uint64_t name;
    GPC_CORE_STATISTICS(X)
#undef X
#define X(name, text) uint64_t stall_##name;
    GPC_STALLS(X)
#undef X
#define X(name, text) gpc_histogram_t name;
    GPC_CORE_HISTOGRAMS(X)
#undef X
} gpc_core_statistics_t;

/* What becomes of a request that is offered. */
typedef enum {
    GPC_OFFER_TAKEN, /* the L1 side owns the message */
    GPC_OFFER_HELD,  /* offer it again after gpc_cores_kick */
    GPC_OFFER_LAST   /* taken, and no other one before gpc_cores_kick */
} gpc_offer_t;

/* What a core asks of the machine around it. */
typedef struct {
    /* Offers a request to the core's L1 port in this cycle; negative: an error. */
    int (*offer)(void *world, uint32_t core, gpc_index_t message);
    /* The core wants its turn at that cycle (the earliest of all it asked for counts). */
    int (*schedule)(void *world, uint32_t core, gpc_cycle_t at);
    gpc_cycle_t (*now)(void *world);
    void *world;
} gpc_core_hooks_t;

/* A warp's load, store or atomic, about to leave for the L1 or carried out on the scratchpad. */
typedef struct {
    uint32_t core, warp;
    uint32_t pc;
    gpc_access_t access;
    uint32_t width; /* words a lane */
    gpc_lanes_t lanes;
    gpc_index_t name;               /* of the access among the core's: gpc_cores_access_of finds it again */
    const gpc_address_t *addresses; /* [lanes], bytes; NULL: of the scratchpad */
    const uint32_t *words;          /* [lanes], words of the core's scratchpad; NULL: of global memory */
} gpc_core_event_t;

/* Who is told what the cores do (check=True), before it has any effect elsewhere; a member returns 0 or an error. */
typedef struct {
    void *watcher;
    int (*launched)(void *watcher, const gpc_launch_t *launch, uint32_t warps_per_block);
    /* The block begins: its warps on the core are first_warp and those that follow; likewise the words of its scratchpad. */
    void (*block_began)(void *watcher, uint32_t core, uint32_t number, uint32_t first_warp, uint32_t warps,
                        uint32_t first_word);
    int (*accessed)(void *watcher, const gpc_core_event_t *event);
    /* The access, fence, barrier or end has got GO by order.c. */
    int (*ordered)(void *watcher, uint32_t core, uint32_t warp, const gpc_access_t *access);
    /* The warp has arrived at barrier `id` of the block in slot `block`; `released`: those that go on because of it. */
    int (*met)(void *watcher, uint32_t core, uint32_t block, uint32_t id, uint32_t warp, uint64_t released);
} gpc_core_watch_t;

typedef struct gpc_order gpc_order_t; /* core/memory/order.h */
typedef struct gpc_core_parts gpc_core_parts_t;
typedef struct {
    const gpc_machine_t *machine;      /* borrowed */
    gpc_order_t *order;                /* borrowed */
    gpc_pool_t *messages, *lane_lists; /* borrowed */
    gpc_memory_t *memory;              /* borrowed: whether an address is allocated */
    gpc_failure_t *failure;            /* borrowed */
    gpc_core_hooks_t hooks;
    gpc_core_statistics_t *statistics; /* one a core, in the arena */
    gpc_core_parts_t *parts;           /* owned */
    const gpc_core_watch_t *watch;     /* borrowed; NULL: nobody watches */
} gpc_cores_t;

/* Checks every operand, target, slot and count against isa.h; says what is wrong and where. */
GPC_MUST_CHECK int gpc_program_validate(const gpc_program_t *program, gpc_failure_t *failure);
/* Whether it has a fence, or an access to global memory with an acquire or release part. */
bool gpc_program_fences(const gpc_program_t *program);

GPC_MUST_CHECK int gpc_cores_init(gpc_cores_t *self, const gpc_machine_t *machine, gpc_order_t *order,
                                  gpc_pool_t *messages, gpc_pool_t *lane_lists, gpc_memory_t *memory,
                                  gpc_failure_t *failure, const gpc_core_hooks_t *hooks, gpc_arena_t *arena);
void gpc_cores_free(gpc_cores_t *self);
void gpc_cores_clear(gpc_cores_t *self); /* no launch, nothing resident (after an abort); pools are the caller's */

/* Blocks of this launch that fit on one core at once, and what limits them ("warps", "registers", ...); 0 with a failure. */
GPC_MUST_CHECK int gpc_cores_occupancy(const gpc_cores_t *self, const gpc_launch_t *launch, uint32_t *blocks,
                                       const char **limit);
/* Copies the launch and places the first blocks at cycle `at`. */
GPC_MUST_CHECK int gpc_cores_launch(gpc_cores_t *self, const gpc_launch_t *launch, gpc_cycle_t at);
void gpc_cores_fetch(const gpc_cores_t *self, uint32_t core);        /* its turn is near: into the host's cache */
GPC_MUST_CHECK int gpc_cores_turn(gpc_cores_t *self, uint32_t core); /* one cycle of one core, now */
/* The L1 has carried out a request: words of the line for a load (its masked words are valid), old values in the lane list for
 * an atomic. It counts as complete `delay` core cycles from now. Frees the message and its lane list. */
GPC_MUST_CHECK int gpc_cores_complete(gpc_cores_t *self, uint32_t core, gpc_index_t message, const uint32_t *words,
                                      gpc_cycle_t delay);
/* The L1 may take a held request now. at_edge: now is an edge of the core's clock, so that it may be offered in this call. */
GPC_MUST_CHECK int gpc_cores_kick(gpc_cores_t *self, uint32_t core, bool at_edge);
/* A warp that waits for a time or a release part may ask again now (cycle: at that core cycle). */
GPC_MUST_CHECK int gpc_cores_wake_warp(gpc_cores_t *self, uint32_t core, uint32_t warp, gpc_cycle_t at);
/* The name (gpc_core_event_t) of the access that a core's request in flight is part of. */
gpc_index_t gpc_cores_access_of(const gpc_cores_t *self, uint32_t core, const gpc_msg_t *request);
bool gpc_cores_finished(const gpc_cores_t *self); /* every block has run to its end */
/* The core has no block, and there is none left for it. */
bool gpc_cores_ran_dry(const gpc_cores_t *self, uint32_t core);
/* The launch has lasted so many cycles longer than its last block. */
void gpc_cores_drained(gpc_cores_t *self, gpc_cycle_t cycles);
void gpc_cores_progress(const gpc_cores_t *self, uint32_t *blocks_done, uint32_t *blocks);
/* Lines "core 3 warp 7 (block 2,0,0) at kernel:line waits for ..." of every resident warp, for the deadlock report. When the cause is a
 * barrier that cannot be reached any more, returns GPC_ERROR_BARRIER, else GPC_ERROR_DEADLOCK. */
int gpc_cores_explain_wait(const gpc_cores_t *self, gpc_text_t *out, uint32_t most);

#endif

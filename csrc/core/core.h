/* core.h: the SIMT cores: block dispatch, warps, scheduler, interpreter, scoreboard, scratchpad, coalescer, load-store
 * queue.
 *
 * In a cycle, a core completes the accesses that are due, issues up to issue_width warp instructions, and then offers
 * one line request of the load-store queue to the L1 port. If the queue is empty, the L1 looks up a load in the cycle
 * of its issue.
 */
#ifndef GPC_CORE_CORE_H
#define GPC_CORE_CORE_H

#include "base/access.h"
#include "base/arena.h"
#include "base/failure.h"
#include "base/histogram.h"
#include "base/machine.h"
#include "base/message.h"
#include "base/observe.h"
#include "base/text.h"
#include "controller/boundary.h"
#include "core/launch.h"
#include "fabric/memory.h"

/* Stall causes. A core cycle with a resident block in which no warp issues counts once, under the cause of the first
 * waiting warp in scheduler order; if that warp waits at a barrier, under the cause of the first warp of its block, in
 * the same order, that does not: the one that holds up the barrier. Issue cycles + stall cycles = active core cycles.
 * Cycles without a resident block count under `launch` and are not active: active + launch = length of the launch on
 * every core. While an instruction occupies its issue port (issue_cycles > 1), the core counts as issuing. */
#define GPC_STALLS(X)                                                                            \
    X(scoreboard, "a register of an outstanding load or instruction")                            \
    X(poll, "the value of a load that a loop repeats until the value changes")                   \
    X(lock, "the old value of an atomic that a loop repeats until it succeeds")                  \
    GPC_MEMORY_ORDER_STALLS(X)                                                                   \
    GPC_FENCE_STALLS(X)                                                                          \
    X(time, "the expiry of a lease or GWCT")                                                     \
    X(load_store_queue, "a free place in the load-store queue, or a free request")               \
    X(barrier, "other warps of the block")                                                       \
    X(sleep, "the end of sleep()")                                                               \
    X(unit, "a busy division, special-function or f64 unit")                                          \
    X(drain, "the warp's last accesses before its end")                                          \
    X(launch, "the launch latency, the start of its block, or no block to run")

/* The parts of `memory_order`: an older access, by the consistency model or an order trait. */
#define GPC_MEMORY_ORDER_STALLS(X)                                                               \
    X(memory_order_load, "an older load, by the consistency model")                              \
    X(memory_order_store, "an older store, by the consistency model")                            \
    X(memory_order_atomic, "an older atomic, by the consistency model")                          \
    X(memory_order_same_line, "an older access to the line or word")

/* The parts of `fence`: an outstanding fence, release or acquire. */
#define GPC_FENCE_STALLS(X)                                                                      \
    X(fence_load, "an older load, before a fence or release")                                    \
    X(fence_store, "an older store, before a fence or release")                                  \
    X(fence_atomic, "an older atomic, before a fence or release")                                \
    X(fence_release, "the protocol's part of a fence, release or acquire")

/* An order stall: a warp load, store, atomic or fence that is otherwise ready waits for an older access of its warp, by
 * the consistency model or by its own release part.
 *
 * Counters of nearly every cycle come first, in one line of the host's cache. */
#define GPC_CORE_STATISTICS(X)                                                                  \
    X(instructions, "warp instructions")                                                        \
    X(thread_instructions, "active lanes, summed over warp instructions")                       \
    X(active_cycles, "core cycles that issued, or waited for another cause than launch")         \
    X(issue_cycles, "core cycles that issued at least one instruction")                         \
    X(memory_instructions, "warp loads, stores and atomics on global memory")                   \
    X(loads, "line requests of loads")                                                          \
    X(load_instructions, "warp loads")                                                          \
    X(load_latency_cycles, "core cycles from issue to last word, summed over warp loads")       \
    X(stores, "line requests of stores")                                                        \
    X(atomics, "line requests of atomics")                                                      \
    X(shared_accesses, "warp accesses to the scratchpad")                                       \
    X(shared_conflict_cycles, "core cycles of scratchpad bank conflicts")                       \
    X(fences, "warp fences")                                                                    \
    X(barriers, "warp arrivals at barriers")                                                    \
    X(divergent_branches, "branches after which lanes of a warp diverge")                       \
    X(store_latency_cycles, "core cycles from issue to completion, summed over warp stores")    \
    X(store_instructions, "warp stores")                                                        \
    X(atomic_latency_cycles, "core cycles from issue to last old value, summed over warp atomics") \
    X(atomic_instructions, "warp atomics")                                                      \
    X(served_loads, "line requests of loads that the L1 served, not with an outstanding one")    \
    X(served_load_cycles, "core cycles from the L1's receipt to the last word, summed over them") \
    X(served_stores, "line requests of stores, likewise")                                        \
    X(served_store_cycles, "core cycles from the L1's receipt to completion, summed over them")  \
    X(served_atomics, "line requests of atomics, likewise")                                      \
    X(served_atomic_cycles, "core cycles from the L1's receipt to the last old value, summed over them") \
    X(order_blocked_cycles, "core cycles without an issue in which a warp has an order stall")  \
    X(barrier_blocked_cycles, "core cycles without an issue whose first waiting warp waits at a barrier") \
    X(order_stalls_load, "order stalls behind an older load")                                   \
    X(order_stalls_store, "order stalls behind an older store")                                 \
    X(order_stalls_atomic, "order stalls behind an older atomic")                               \
    X(order_stall_load_cycles, "core cycles of order stalls behind an older load, summed over warps") \
    X(order_stall_store_cycles, "core cycles of order stalls behind an older store, summed over warps") \
    X(order_stall_atomic_cycles, "core cycles of order stalls behind an older atomic, summed over warps")

#define GPC_CORE_HISTOGRAMS(X)                                                                  \
    X(load_latency, "core cycles from issue to last word, per warp load")                       \
    X(store_latency, "core cycles from issue to completion, per warp store")                    \
    X(atomic_latency, "core cycles from issue to last old value, per warp atomic")              \
    X(order_stall, "core cycles from the first refused issue to the issue, per order stall")

typedef struct {
#define X(name, text) uint64_t name;
    GPC_CORE_STATISTICS(X)
#undef X
    union {
        struct {
#define X(name, text) uint64_t stall_##name;
            GPC_STALLS(X)
#undef X
        };
#define X(name, text) +1
        uint64_t stalls[0 GPC_STALLS(X)]; /* by gpc_stall_t */
#undef X
    };
#define X(name, text) gpc_histogram_t name;
    GPC_CORE_HISTOGRAMS(X)
#undef X
} gpc_core_statistics_t;

/* Result of offering a request to the L1. */
typedef enum {
    GPC_OFFER_TAKEN, /* the L1 owns the message */
    GPC_OFFER_HELD,  /* not taken: offer it again after gpc_cores_retry */
    GPC_OFFER_LAST   /* taken; offer the next one after gpc_cores_retry */
} gpc_offer_t;

/* Functions of the machine that cores call. */
typedef struct {
    /* Offers a request to the core's L1 port in this cycle; negative: an error. */
    int (*offer)(void *world, uint32_t core, gpc_index_t message);
    /* Schedules the core at cycle `at`, or the first after it that is possible, if *scheduled, that of its
     * next event, is later; *scheduled is then its cycle. */
    int (*schedule)(void *world, uint32_t core, gpc_cycle_t at, gpc_cycle_t *scheduled);
    gpc_cycle_t (*now)(void *world);
    void *world;
} gpc_core_hooks_t;

/* The words of a launch in order of execution; they remain until the next launch. */
typedef struct {
    gpc_print_t *records; /* owned; [GPC_PRINTS]; NULL: no program has printed */
    uint32_t count;
    uint64_t lost; /* words that found no room */
} gpc_prints_t;

typedef struct gpc_order gpc_order_t; /* core/memory/order.h */
typedef struct gpc_core_parts gpc_core_parts_t;
typedef struct {
    const gpc_machine_t *machine;      /* borrowed */
    gpc_order_t *order;                /* borrowed */
    gpc_pool_t *messages, *lane_lists; /* borrowed */
    gpc_memory_t *memory;              /* borrowed, to check that an address is allocated */
    gpc_failure_t *failure;            /* borrowed */
    gpc_core_hooks_t hooks;
    gpc_core_statistics_t *statistics; /* one per core, in the arena */
    gpc_core_parts_t *parts;           /* owned */
    gpc_tap_t tap;                     /* where the cores report what their warps do */
    uint64_t seed;                     /* of the delays of blocks (start_skew) */
    bool words_apart;                  /* L1s own and answer words one by one (core/memory/together.h) */
    bool words_whole;                  /* they are not to split requests for words of 64 bits, which have lane lists */
} gpc_cores_t;

/* Checks every operand, target, slot and count against isa.h. */
GPC_MUST_CHECK int gpc_program_validate(const gpc_program_t *program, gpc_failure_t *failure);
/* Whether the program has a fence, or an access to global memory with an acquire or release part. */
bool gpc_program_fences(const gpc_program_t *program);

GPC_MUST_CHECK int gpc_cores_init(gpc_cores_t *self, const gpc_machine_t *machine, gpc_order_t *order,
                                  gpc_pool_t *messages, gpc_pool_t *lane_lists, gpc_memory_t *memory,
                                  gpc_failure_t *failure, const gpc_core_hooks_t *hooks, gpc_arena_t *arena);
/* From the next launch on, an integer division by zero is GPC_ERROR_DIVISION, and a read of a scratchpad word that no
 * thread of the block has written GPC_ERROR_UNINITIALISED. */
GPC_MUST_CHECK int gpc_cores_check_kernels(gpc_cores_t *self, gpc_stream_t *stream);
void gpc_cores_free(gpc_cores_t *self);
/* Ends the launch and removes all blocks (after an abort); the caller clears the pools. */
void gpc_cores_clear(gpc_cores_t *self);

/* Of a core: its scratchpad, and what barriers of its blocks reduce in. */
static inline uint32_t
gpc_scratchpad_words(const gpc_machine_t *machine)
{
    return machine->scratchpad_bytes / 4 + machine->blocks_per_core * GPC_BARRIER_WORDS;
}

/* Blocks of the launch that fit on one core, and the limiting resource ("warps", "registers", ...); 0 with a
 * failure. */
GPC_MUST_CHECK int gpc_cores_occupancy(const gpc_cores_t *self, const gpc_launch_t *launch, uint32_t *blocks,
                                       const char **limit);
/* Copies a kernel that begins with the next launch. */
GPC_MUST_CHECK int gpc_cores_add(gpc_cores_t *self, const gpc_launch_t *launch);
void gpc_cores_drop_added(gpc_cores_t *self);
/* As observers see it: of several kernels one whose instructions, blocks and files are all of theirs, in order. */
const gpc_launch_t *gpc_cores_launched(const gpc_cores_t *self);
/* Copies the launch and places the first blocks at cycle `at`. */
GPC_MUST_CHECK int gpc_cores_launch(gpc_cores_t *self, const gpc_launch_t *launch, gpc_cycle_t at);
/* The same of the added kernels, which the cores have waited for since cycle `from`. */
GPC_MUST_CHECK int gpc_cores_begin(gpc_cores_t *self, gpc_cycle_t from, gpc_cycle_t at);
/* What the added kernels may access, and the dies that may run their blocks. */
void gpc_cores_add_uses(const gpc_cores_t *self, gpc_boundary_t *out);
/* What a core's cycle leaves. */
typedef struct {
    gpc_cycle_t next; /* the cycle of its next event, which the caller schedules; or GPC_NEVER */
    bool has_warps;   /* warps that have not ended remain */
} gpc_cycle_result_t;
/* Simulates one cycle of one core, `now`, unless an earlier event took this one's place. */
GPC_MUST_CHECK int gpc_cores_cycle(gpc_cores_t *self, uint32_t core, gpc_cycle_t now, gpc_cycle_result_t *out);
/* The L1 has completed a request: for a load, the message holds its masked words of the line; for an atomic, the lane
 * list holds the old values. The request is complete `delay` core cycles after `now`. Frees the message and its lane
 * list. */
GPC_MUST_CHECK int gpc_cores_complete(gpc_cores_t *self, uint32_t core, gpc_index_t message, const uint32_t *words,
                                      gpc_cycle_t now, gpc_cycle_t delay);
/* The L1 may take a held request now. at_edge: now is an edge of the core's clock, so that this call may offer it. */
GPC_MUST_CHECK int gpc_cores_retry(gpc_cores_t *self, uint32_t core, bool at_edge);
/* A warp that waits for a time or a release part retries at core cycle `at`. */
GPC_MUST_CHECK int gpc_cores_wake_warp(gpc_cores_t *self, uint32_t core, uint32_t warp, gpc_cycle_t at);
/* The name (gpc_accessed_t) of the access that an outstanding request of a core is part of. */
gpc_index_t gpc_cores_access_of(const gpc_cores_t *self, uint32_t core, const gpc_msg_t *request);
/* That access's kind; a store to parts of words is an ATOMIC request. */
gpc_access_kind_t gpc_cores_kind_of(const gpc_cores_t *self, uint32_t core, const gpc_msg_t *request);
/* At cycle `at` begins the kernels of the launch that follow kernels which have ended. */
GPC_MUST_CHECK int gpc_cores_begin_next(gpc_cores_t *self, gpc_cycle_t at);
bool gpc_cores_finished(const gpc_cores_t *self);                       /* every block has ended */
uint64_t gpc_core_passed_bytes(const gpc_cores_t *self, uint32_t core); /* by the L1's port, with l1_bytes_per_cycle */
void gpc_core_reset_passed_bytes(gpc_cores_t *self, uint32_t core);
/* Whether the core has no block and will get none. */
bool gpc_cores_ran_dry(const gpc_cores_t *self, uint32_t core);
/* The launch has lasted `cycles` longer than its last block. */
GPC_MUST_CHECK int gpc_cores_drained(gpc_cores_t *self, gpc_cycle_t cycles);
/* Counts every core's cycles before `to`, which statistics otherwise include when the core acts again. */
GPC_MUST_CHECK int gpc_cores_count_until(gpc_cores_t *self, gpc_cycle_t to);
const gpc_prints_t *gpc_cores_prints(const gpc_cores_t *self); /* of the last launch */
/* The cycle behind the last block of a kernel of the last launch, by its number; 0: it has not ended, or there is
 * none. */
gpc_cycle_t gpc_cores_kernel_end(const gpc_cores_t *self, uint32_t number);
void gpc_cores_progress(const gpc_cores_t *self, uint32_t *blocks_done, uint32_t *blocks);
/* Adds "core 3 warp 7 (block 2,0,0) in kernel 'f' at line 7 waits for ..." for up to `most` resident warps. Returns
 * GPC_ERROR_BARRIER when a barrier can never complete, else GPC_ERROR_DEADLOCK. */
int gpc_cores_explain_wait(const gpc_cores_t *self, gpc_text_t *out, uint32_t most);

#endif

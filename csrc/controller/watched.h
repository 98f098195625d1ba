/* watched.h: what a protocol promises to the monitors (check=True). */
#ifndef GPC_CONTROLLER_WATCHED_H
#define GPC_CONTROLLER_WATCHED_H

#include "base/types.h"

typedef struct gpc_controller gpc_controller_t;
typedef struct gpc_units gpc_units_t;

/* What a load may return. */
#define GPC_PROMISES(X)                                                                                                  \
    X(NOTHING, "any value that the word ever held")                                                                      \
    X(FRESH, "a hit: the value of the last performed write; a miss: any value that the word held since the load issued") \
    X(LEASED, "as FRESH, or the value before a write that is not yet globally visible")                                  \
    X(LOGICAL, "the value at the load's logical time: not one that was replaced at a version that its core had reached")  \
    X(HELD, "any value that the word has held: what the memory model forbids beyond that, no monitor sees")              \
    X(ACQUIRED, "any value that the word held since the warp's last acquire before the load issued, or since the core's L1 dropped its copies; an owner's are current")
typedef enum {
#define X(name, text) GPC_PROMISE_##name,
    GPC_PROMISES(X)
#undef X
} gpc_promise_t;

/* The invariants that the generic monitors (check/monitor/monitor.c) check; states are those of L1 table 0. Over words
 * each word has its own state. */
typedef struct {
    gpc_promise_t promise;
    uint32_t readable; /* bit s: in state s an L1 serves loads from its copy */
    uint32_t copies;   /* bit s: in state s an L1 has a copy that is or may become readable */
    uint32_t owners;   /* bit s: in state s an L1 may write its copy, the only one; 0 if LOGICAL: others have leases */
    /* A load that misses may return what a read of its core has brought that was sent before it issued, but not before
     * the last order point of its warp (gpc_order_traits_t.order_point). */
    bool joins;
    /* atomics are performed beyond the place where stores are: the last one performed may come after them */
    bool atomics_apart;
    /* when a launch has ended, memory has every word that it has written, and the host reads no cache */
    bool ends_in_memory;
    /* ACQUIRED, and nothing but a release ends copies elsewhere: what counts of an acquire is the last release that was
     * complete by then, and of a release the last write that its warp had performed. */
    bool released;
    /* ACQUIRED, and only acquires of variables that come from another die end near lines: what counts of an acquire
     * that is an access is another die's last write to its variable, or what counted for an earlier one of its die. */
    bool by_variable;
    bool bank_is_whole; /* a line at the bank contains every performed write */
    uint32_t near;      /* bit s: in state s of the bank's table 0, another bank than the home has the line */
    bool near_accepts;  /* such a bank accepts stores, which its die may read, and the home performs them later */
    /* What such a bank has accepted counts as performed when the launch ends (gpc_note_drained), and comes to the home
     * later: these words of the line, which the home lacks. NULL: none. */
    gpc_mask_t (*near_ahead)(const gpc_units_t *units, gpc_address_t line);
    uint32_t bank_words; /* else, bit s of the bank's table 0: a line, or over words a word, in state s does */
    /* The last cycle in which a copy may be read, and the end of the latest lease of the line that the bank knows (0:
     * none). LOGICAL: both in logical time. NULL: those that the controllers' types declare (lease.h), else copies do
     * not self-invalidate. `leased` is also called during transactions, when a way that is reserved for a fetch has
     * fields of zero. */
    gpc_cycle_t (*lease)(const gpc_controller_t *l1, gpc_index_t way);
    gpc_cycle_t (*leased)(const gpc_controller_t *bank, gpc_address_t line);
    /* LOGICAL: the core's clock, at which it reads copies; NULL: the declared one. */
    uint64_t (*clock)(const gpc_controller_t *l1);
    /* LOGICAL, where every warp has a clock: the warp's; `clock` is then the earliest of the core. */
    uint64_t (*warp_clock)(const gpc_controller_t *l1, uint16_t warp);
    /* LOGICAL: but under sc, a core's reads and writes have clocks of their own, which fences join. With `warp_clock`:
     * a store does not raise its warp's clock, the next release does. */
    bool two_views;
} gpc_watched_t;

#endif

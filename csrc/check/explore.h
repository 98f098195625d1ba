/* explore.h: the explorer's input and output. */
#ifndef GPC_CHECK_EXPLORE_H
#define GPC_CHECK_EXPLORE_H

#include "base/machine.h"
#include "base/rules.h"
#include "base/text.h"

/* ---- the explorer: the same tables and order.c on a small machine, in every interleaving -------------------------- */

/* Threads of a core are warps of one block; a thread may do nothing after its EXIT, which is a release of system scope. A KERNEL
 * ends a launch and begins the next one: every thread has equally many of them. The threads of a core have equally many barriers in
 * each launch. */
#define GPC_EXPLORE_OPERATIONS(X)                                                                                      \
    X(LOAD, "load") X(STORE, "store") X(ADD, "atomic add") X(FENCE, "fence") X(BARRIER, "barrier of the core's threads") \
    X(EXIT, "end of the thread") X(KERNEL, "end of all threads, and of the launch; the next one begins")
typedef enum {
#define X(name, text) GPC_EXPLORE_##name,
    GPC_EXPLORE_OPERATIONS(X)
#undef X
        GPC_NUM_EXPLORE_OPERATIONS
} gpc_explore_kind_t;

typedef struct {
    uint8_t kind;         /* gpc_explore_kind_t */
    uint8_t order, scope; /* of an access or fence */
    uint8_t variable;
    uint32_t value; /* store, atomic: operand */
} gpc_explore_op_t;

typedef struct {
    uint32_t core;
    uint32_t num_ops;
    const gpc_explore_op_t *ops;
} gpc_explore_thread_t;

typedef struct {
    const char *protocol;
    gpc_rule_t rule;
    const gpc_option_value_t *options;
    uint32_t num_options;
    uint32_t cores, variables, num_threads;
    const gpc_explore_thread_t *threads;
    uint32_t warm;      /* bit (core * variables + variable): that core's L1 starts with a copy */
    uint32_t evictions; /* largest number of spontaneous evictions by L1s and L2s; UINT32_MAX: unlimited */
    uint32_t read_only; /* bit v: loads of variable v are of a read-only buffer; no thread writes it */
    bool packed;        /* variables lie two on a line; else each on a line of its own, and in a bank of its own */
    bool tight;         /* one bank; L1s and L2 with room for one line and one transaction */
    bool unwatched; /* the protocol's own invariants are not checked: only the consequences of a wrong step are found */
    uint64_t max_states;
    uint32_t timestamp_bits; /* of the small machine; 0: no wrap-around within any exploration */
    /* Outcomes that the memory model allows, rows as in `outcomes`; NULL: any. Every other outcome is a violation. */
    const uint32_t *allowed;
    uint32_t num_allowed, allowed_width;
} gpc_explore_t;

/* JSON: {states, transitions, depth, complete, outcomes: [[value read by each load and atomic, in order of threads], ..]
 * with final values of the variables behind them, cells: {table: [number of each of its cells that was entered]},
 * violations: [{kind, what, trace: [{kind, ..}, ..]}], at most one, with a shortest trace; limits: [why the search ended early, ..]}.
 * complete: every state was explored, there is neither a violation nor a limit. Violations: an outcome that is not allowed; a
 * protocol error; an invariant of the protocol's monitor; a state from which the programs cannot complete and come to rest
 * (evictions do not count as progress). States that differ only by the passing of time or a renaming of equal cores are equal. */
GPC_MUST_CHECK int gpc_explore(const gpc_explore_t *what, gpc_text_t *out);

#endif

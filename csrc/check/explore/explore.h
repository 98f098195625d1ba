/* explore.h: the explorer's input and result. */
#ifndef GPC_CHECK_EXPLORE_H
#define GPC_CHECK_EXPLORE_H

#include "base/machine.h"
#include "base/rules.h"
#include "base/text.h"
#include "controller/declare.h"

/* ---- the explorer: the same tables and order.c on a small machine, every interleaving ---------------------------- */

/* Threads of a core are warps of one block. EXIT, a release at system scope, is a thread's last operation. KERNEL ends
 * a launch and begins the next one: all threads have the same number of them. HOST_LOAD and HOST_STORE are KERNELs
 * between whose launches the host accesses the variable. Threads of a core have the same number of
 * barriers in each launch, but a thread that ends with EXIT may have fewer in the last one. */
#define GPC_EXPLORE_OPERATIONS(X)                                                                                      \
    X(LOAD, "load") X(STORE, "store") X(ADD, "atomic") X(FENCE, "fence") X(BARRIER, "barrier of the core's threads") \
    X(EXIT, "end of the thread") X(KERNEL, "end of all threads, and of the launch; the next one begins") \
    X(HOST_LOAD, "the same; a load of the host between the launches") X(HOST_STORE, "the same; a store of the host")
typedef enum {
#define X(name, text) GPC_EXPLORE_##name,
    GPC_EXPLORE_OPERATIONS(X)
#undef X
        GPC_NUM_EXPLORE_OPERATIONS
} gpc_explore_kind_t;

static inline bool
gpc_explore_ends_launch(uint8_t kind)
{
    return kind >= GPC_EXPLORE_KERNEL;
}

#define GPC_EXPLORE_MAX_CORES 4u
#define GPC_EXPLORE_F64 0x80u /* with GPC_ATOMIC_ADD, of a variable of 64 bits */

typedef struct {
    uint8_t kind;         /* gpc_explore_kind_t */
    uint8_t order, scope; /* of an access or fence */
    uint8_t variable;
    uint64_t value;       /* store, atomic: operand; load: the value that it waits for, loading again; 0: any */
    bool read_only;       /* weak load: of a read-only buffer; no thread writes the variable in this launch */
    uint8_t source;       /* store, atomic: 1 + the older operation of the thread whose value it depends on; 0: none */
    bool adds;            /* that value is added to `value`; else only waited for, as an address is */
    uint8_t atomic;       /* atomic: gpc_atomic_t, and GPC_EXPLORE_F64 for an addition of f64 */
    uint8_t word;         /* of a variable of 64 bits, 1 or 2: the lower or upper word alone; 0: the whole variable */
    uint64_t replacement; /* of a compare-and-swap, whose `value` is the expected one */
} gpc_explore_op_t;

typedef struct {
    uint32_t core;
    uint32_t num_ops;
    const gpc_explore_op_t *ops;
} gpc_explore_thread_t;

typedef struct {
    const gpc_protocol_t *protocol;
    gpc_rule_t rule;
    const gpc_option_value_t *options;
    uint32_t num_options;
    uint32_t cores, variables, num_threads;
    const gpc_explore_thread_t *threads;
    uint32_t warm;      /* bit (core * variables + variable): that core's L1 starts with a copy */
    uint32_t evictions; /* maximum of spontaneous evictions by L1s and L2s; UINT32_MAX: any number */
    uint32_t wide;      /* bit n: variable n has 64 bits, the two words of its line */
    bool packed;        /* two variables per line; else each variable has its own line and bank */
    bool tight;         /* one bank; L1s and L2 have room for one line and one MSHR entry */
    bool unwatched;     /* do not check the protocol's invariants, so that a planted bug shows in outcomes */
    bool every_order;   /* of moves that commute, too */
    bool named;         /* states that differ by a renaming of equal cores are not one */
    uint64_t max_states;
    uint32_t
        timestamp_bits; /* of the explorer's machine; 0: no rollover in any exploration, unless `fields` has them */
    const gpc_option_value_t *fields; /* of the machine, that differ from the explorer's */
    uint32_t num_fields;
    /* Outcomes that the memory model allows, rows as in `outcomes`; others are violations. NULL: all are allowed. */
    const uint32_t *allowed;
    uint32_t num_allowed, allowed_width;
} gpc_explore_t;

/* Outcomes, each once: the values that loads and atomics read, in order of threads, then the variables' final
 * values; of 64 bits two values, the lower word first. */
typedef struct {
    uint32_t *rows; /* owned; of `width` values */
    uint32_t count, capacity, width;
} gpc_outcomes_t;

/* The cells of a table that were entered at any of its controllers. */
typedef struct {
    const char *name; /* of the table */
    const uint32_t *cells;
    uint32_t count;
} gpc_exploration_table_t;

/* The result. Violations: an outcome that is not allowed; a protocol error; an invariant of the protocol's monitor; a
 * state from which the programs can never be done and all be quiet again (evictions do not count as help). Two states
 * that differ by time's passing or a renaming of equal cores are one. */
typedef struct {
    uint32_t states, depth;
    uint64_t transitions;
    bool complete; /* every state that the reductions leave was explored, there is neither a violation nor a limit */
    gpc_outcomes_t outcomes;
    gpc_exploration_table_t tables[GPC_NUM_POSITIONS * GPC_MAX_TABLES];
    uint32_t num_tables;
    uint32_t roles[GPC_EXPLORE_MAX_CORES]; /* of the cores: gpc_controller_type_t.role */
    uint32_t num_cores;
    uint32_t *cells;       /* owned: of all tables */
    const char *violation; /* kind of the only violation, by a shortest path; NULL: none */
    gpc_text_t what;       /* description of the violation */
    gpc_text_t
        trace; /* members of a JSON object: nodes: [[controller, position, index], ..], trace: [{kind, ..}, ..] */
    uint32_t trace_moves;  /* kinds of the moves of the trace, a bit each (gpc_move_kind_t) */
    gpc_text_t limit;      /* why the search ended early; empty: it did not */
    gpc_failure_t failure; /* of a search that failed */
} gpc_exploration_t;

/* GPC_ERROR_PROTOCOL, with the table's name, if the protocol has an event for the begin or end of a launch or for an
 * acquire, and nothing brings these. */
GPC_MUST_CHECK int gpc_explore_check_causes(const gpc_protocol_t *protocol, gpc_failure_t *failure);
/* The caller frees the result in any case. 0, or an error, which `failure` describes. */
GPC_MUST_CHECK int gpc_explore_search(const gpc_explore_t *what, gpc_exploration_t *out);
void gpc_exploration_free(gpc_exploration_t *self); /* safe on a zeroed object and twice */
/* JSON: {states, transitions, depth, complete, outcomes: [[value, ..], ..], cells: {table: [number of each of its cells
 * that was entered]}, roles: [of each core], violations: [{kind, what, nodes, trace}], at most one, limits: [why,
 * ..]}. */
void gpc_exploration_print(const gpc_exploration_t *self, gpc_text_t *out);
/* Both, as JSON; on failure, the error as plain text. */
GPC_MUST_CHECK int gpc_explore(const gpc_explore_t *what, gpc_text_t *out);

#endif

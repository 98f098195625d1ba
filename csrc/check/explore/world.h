/* world.h: the explorer's world: controllers, channels, memory and bounded programs, with the simulator's ports and
 * order.c. A state has a list of possible moves; a move is deterministic. All mutable state is in one arena, so that a
 * state can be restored. */
#ifndef GPC_CHECK_WORLD_H
#define GPC_CHECK_WORLD_H

#include "check/accepted.h"
#include "check/explore/explore.h"
#include "controller/nodes.h"
#include "controller/protocol.h"
#include "core/memory/order.h"

#define GPC_WORLD_MAX_THREADS 4u
#define GPC_WORLD_MAX_OPS 12u
#define GPC_WORLD_MAX_VARIABLES 4u
#define GPC_WORLD_LINE_WORDS 2u
#define GPC_WORLD_LINE_BYTES (4 * GPC_WORLD_LINE_WORDS)
/* Each line has a bank of its own; one node at every other position. */
#define GPC_WORLD_MAX_NODES (GPC_EXPLORE_MAX_CORES + GPC_WORLD_MAX_VARIABLES + GPC_NUM_POSITIONS - 2)

typedef enum {
    GPC_MOVE_ISSUE,
    GPC_MOVE_DELIVER,
    GPC_MOVE_MEMORY,
    GPC_MOVE_REPLAY,
    GPC_MOVE_ENTRY, /* the first ready entry of a part */
    GPC_MOVE_EVICT,
    GPC_MOVE_END,        /* the launch ends at a controller */
    GPC_MOVE_KERNEL,     /* the next launch begins */
    GPC_MOVE_TIMER,      /* a timer that is due */
    GPC_MOVE_BACKGROUND, /* a background or serving timer, at any time */
    GPC_MOVE_TIME        /* a core cycle passes; always the last of the list */
} gpc_move_kind_t;

typedef struct {
    uint8_t kind; /* gpc_move_kind_t */
    uint8_t a, b,
        /* thread; or source, destination, network; or node (and line, array; or part); or whether the timer serves */
        c;
    uint16_t position; /* of the message in an unordered channel, or of the answer */
} gpc_move_t;

/* A list that grows. */
typedef struct {
    gpc_move_t *list; /* owned */
    uint32_t count, capacity;
} gpc_moves_t;

typedef enum { GPC_WORLD_RUNS, GPC_WORLD_AT_BARRIER, GPC_WORLD_AT_KERNEL } gpc_world_wait_t;

typedef struct {
    uint32_t next_op;
    uint32_t outstanding;
    uint32_t waits;    /* gpc_world_wait_t: for other threads, at next_op */
    uint32_t complete; /* bit n: operation n, a load or atomic, has its value */
    uint32_t begun;    /* bit n: one word of operation n, which has two, is complete */
    uint64_t read[GPC_WORLD_MAX_OPS];
} gpc_world_thread_t;

typedef struct {
    gpc_world_thread_t threads[GPC_WORLD_MAX_THREADS];
    uint32_t memory[GPC_WORLD_MAX_VARIABLES][GPC_WORLD_LINE_WORDS]; /* by line */
    gpc_list_t answers;                                             /* answers of memory in flight */
    gpc_list_t timers; /* TIMERs; `ready` is the cycle in which one is due */
    gpc_list_t background;
    uint32_t evictions; /* remaining spontaneous evictions */
    uint32_t ended;     /* bit n: the launch has ended at node n */
    uint32_t crosses;   /* the protocol's boundary before the next launch has begun */
    gpc_cycle_t now;
} gpc_world_state_t;

/* A renaming of cores and threads that maps the programs to themselves: states that differ by it are equivalent. */
typedef struct {
    gpc_node_t node[GPC_WORLD_MAX_NODES];     /* new number of a node */
    uint8_t thread[GPC_WORLD_MAX_THREADS];    /* new number of a thread */
    uint8_t node_at[GPC_WORLD_MAX_NODES];     /* inverse of `node` */
    uint8_t thread_at[GPC_WORLD_MAX_THREADS]; /* inverse of `thread` */
} gpc_symmetry_t;

#define GPC_WORLD_MAX_SYMMETRIES 24u

typedef struct {
    const gpc_explore_t *what; /* borrowed */
    gpc_machine_t machine;
    uint32_t timestamp_bits; /* 0: no rollover */
    const gpc_protocol_t *protocol;
    gpc_watched_t watched; /* all zero: the protocol declares none */
    gpc_rule_t rule;
    int64_t options[GPC_MAX_OPTIONS];
    uint32_t num_networks, lines;
    gpc_nodes_t nodes;
    bool has_times;         /* the protocol has fields that are TIME */
    bool has_logical_times; /* LOGICAL, encoded by their differences */
    bool keeps_whole;       /* L1s do not split requests for both words of a variable */
    bool has_subsets;       /* the moves of some nodes may suffice in a state: world_subset.c */
    uint8_t carries[GPC_WORLD_MAX_NODES][GPC_WORLD_MAX_NODES]; /* [source][destination]: networks, a bit each */
    bool unordered[GPC_WORLD_MAX_NODES][GPC_WORLD_MAX_NODES];  /* one of them is */
    uint32_t warp_of[GPC_WORLD_MAX_THREADS];                   /* a thread's warp on its core */
    gpc_symmetry_t symmetries[GPC_WORLD_MAX_SYMMETRIES];       /* the first one is the identity */
    uint32_t num_symmetries;
    gpc_failure_t failure;
    gpc_arena_t arena; /* the state */
    gpc_arena_t apart; /* counters and the resolved protocol, which are not part of a state */
    gpc_world_state_t *state;
    gpc_list_t *channels; /* [nodes.count][nodes.count][num_networks] */
    gpc_pool_t messages, lane_lists;
    gpc_controller_t controllers[GPC_WORLD_MAX_NODES];
    gpc_controller_t *l1s[GPC_EXPLORE_MAX_CORES];
    gpc_order_t order;
    gpc_stream_t stream;
    gpc_accepted_t accepted;
    gpc_subscriber_t stores; /* world_accepted.c */
} gpc_world_t;

/* Results of a move besides GPC_OK and errors. */
enum {
    GPC_WORLD_CANNOT = GPC_HOLD,   /* the move is not possible now; the state is undefined and must be restored */
    GPC_WORLD_WAITS = GPC_HOLD + 8 /* the move is not possible now; the state is unchanged */
};

/* Builds the world with its warm copies, and with space for `scale` times the messages that the programs usually need.
 * On failure, `failure` describes it. The caller frees the world in any case. */
GPC_MUST_CHECK int gpc_world_init(gpc_world_t *self, const gpc_explore_t *what, uint32_t scale);
void gpc_world_free(gpc_world_t *self);
/* Whether the pool of messages or lane lists was exhausted: a world of a larger scale is needed. */
bool gpc_world_is_full(const gpc_world_t *self);
/* Replaces the list by all candidate moves, some of which may not be possible. 0 or GPC_ERROR_MEMORY. */
GPC_MUST_CHECK int gpc_world_moves(const gpc_world_t *self, gpc_moves_t *moves);
void gpc_moves_free(gpc_moves_t *self);
/* GPC_OK: the move is done; GPC_WORLD_..; negative: a violation. */
GPC_MUST_CHECK int gpc_world_move(gpc_world_t *self, const gpc_move_t *move);
/* What the protocol declares in `watched` of single writers and of leases, and its own invariants, for every line.
 * GPC_OK, or a violation. */
GPC_MUST_CHECK int gpc_world_monitor(gpc_world_t *self);
bool gpc_world_programs_done(const gpc_world_t *self); /* every operation of every thread is complete */
bool gpc_world_quiet(const gpc_world_t *self);         /* nothing is in flight */
GPC_MUST_CHECK int gpc_world_final(gpc_world_t *self, uint32_t variable, uint64_t *value);
/* When the programs are done and nothing is in flight: checks that no accepted store is lost. GPC_OK, or a
 * violation. */
GPC_MUST_CHECK int gpc_world_check_accepted(gpc_world_t *self);
/* Between launches: checks that memory has what the host reads, if the protocol promises it. GPC_OK, or a violation. */
GPC_MUST_CHECK int gpc_world_check_memory(gpc_world_t *self);
void gpc_world_encode(gpc_world_t *self, const gpc_symmetry_t *symmetry, gpc_encoder_t *out);

/* ---- printed moves and changes -------------------------------------------------------------------- */

typedef struct {
    uint8_t state[GPC_WORLD_MAX_NODES][GPC_WORLD_MAX_VARIABLES]; /* of each line in each table 0 */
    uint32_t completed[GPC_WORLD_MAX_THREADS];
} gpc_world_view_t;

void gpc_world_look(const gpc_world_t *self, gpc_world_view_t *view);
/* Members of a JSON object: kind, text, from, to, message, line, fields, .. if applicable. Called before the move. */
void gpc_world_print_move(const gpc_world_t *self, const gpc_move_t *move, gpc_text_t *out);
/* "changes": [..], "now". Called after the move. */
void gpc_world_print_changes(const gpc_world_t *self, const gpc_world_view_t *before, gpc_text_t *out);

/* ---- internals --------------------------------------------------------------------------------------------------- */

/* world_input.c: whether the threads can be explored. */
GPC_MUST_CHECK int gpc_world_check_input(gpc_world_t *self);
/* world_machine.c: 0 or GPC_ERROR_MACHINE. */
GPC_MUST_CHECK int gpc_world_make_machine(gpc_world_t *self);
extern const gpc_ports_t gpc_world_ports;
/* Tracks accepted stores from now on until they are performed. */
GPC_MUST_CHECK int gpc_world_watch_stores(gpc_world_t *self);
/* Overwrites data that no cell may read: gpc_table_t's data_states. */
void gpc_world_scrub(const gpc_world_t *self);
void gpc_world_encode_accepted(const gpc_world_t *self, const gpc_symmetry_t *symmetry, gpc_encoder_t *out);
#define GPC_WORLD_NO_THREAD 0xFFFFu /* thread of a warming load, whose value is dropped */

/* world_settle.c: messages that commute arrive. */
GPC_MUST_CHECK int gpc_world_settle(gpc_world_t *self);

/* world_subset.c: which nodes may send to which. */
void gpc_world_note_channels(gpc_world_t *self);
static inline uint32_t
gpc_world_all_nodes(const gpc_world_t *self)
{
    return (1u << self->nodes.count) - 1;
}
/* The nodes, a bit each, whose moves suffice in the state. */
uint32_t gpc_world_subset(const gpc_world_t *self);
bool gpc_world_is_move_of(const gpc_world_t *self, const gpc_move_t *move, uint32_t nodes);

/* world_launch.c: the thread arrives at its core's barrier: GPC_OK, a verdict of gpc_order_barrier, or an error. */
GPC_MUST_CHECK int gpc_world_arrive(gpc_world_t *self, uint32_t thread, const gpc_access_t *access);
/* Before the thread's end: completes the barrier that waits for it alone; results as of gpc_world_arrive. */
GPC_MUST_CHECK int gpc_world_leave_barrier(gpc_world_t *self, uint32_t thread);
bool gpc_world_may_end(const gpc_world_t *self, uint32_t node);
GPC_MUST_CHECK int gpc_world_end(gpc_world_t *self, uint32_t node);
/* Sends KERNEL_END of the last launch where its programs have ended, at once: what comes between is explored where
 * programs have several launches. */
GPC_MUST_CHECK int gpc_world_end_last(gpc_world_t *self);
/* Whether the next launch may begin when nothing is in flight. */
bool gpc_world_may_begin(const gpc_world_t *self);
/* Begins it, or what the protocol does before it, which sends messages. */
GPC_MUST_CHECK int gpc_world_begin(gpc_world_t *self);
/* What the protocol does before a launch. */
GPC_MUST_CHECK int gpc_world_cross_boundary(gpc_world_t *self);

static inline gpc_list_t *
gpc_world_channel(const gpc_world_t *self, uint32_t source, uint32_t destination, uint32_t network)
{
    return &self->channels[(source * self->nodes.count + destination) * self->num_networks + network];
}
/* The kind of a core's L1: those of one kind are alike. */
static inline uint32_t
gpc_world_role(const gpc_world_t *self, uint32_t core)
{
    const gpc_controller_t *l1 = self->l1s[core];
    return l1->type->role ? l1->type->role(l1) : 0;
}
/* The line of a variable; packed variables are two per line. */
static inline uint32_t
gpc_world_line_number(const gpc_world_t *self, uint32_t variable)
{
    return self->what->packed ? variable / GPC_WORLD_LINE_WORDS : variable;
}
static inline uint32_t
gpc_world_word_of(const gpc_world_t *self, uint32_t variable)
{
    return self->what->packed ? variable % GPC_WORLD_LINE_WORDS : 0;
}
static inline bool
gpc_world_is_wide(const gpc_world_t *self, uint32_t variable)
{
    return (self->what->wide >> variable & 1) != 0;
}
/* Whether the operation accesses both words of a variable of 64 bits. */
static inline bool
gpc_world_has_two(const gpc_world_t *self, const gpc_explore_op_t *op)
{
    return gpc_world_is_wide(self, op->variable) && op->word == 0;
}
/* The first word of its line that an operation accesses, and all of them. */
static inline uint32_t
gpc_world_first_word(const gpc_world_t *self, const gpc_explore_op_t *op)
{
    return op->word ? op->word - 1u : gpc_world_word_of(self, op->variable);
}
static inline gpc_mask_t
gpc_world_mask_of(const gpc_world_t *self, const gpc_explore_op_t *op)
{
    return (gpc_world_has_two(self, op) ? UINT32_C(3) : UINT32_C(1)) << gpc_world_first_word(self, op);
}
/* Writes an operation's value to its words of the line. */
static inline void
gpc_world_put(const gpc_world_t *self, const gpc_explore_op_t *op, uint64_t value, uint32_t *words)
{
    words[gpc_world_first_word(self, op)] = (uint32_t) value;
    if (gpc_world_has_two(self, op)) {
        words[1] = (uint32_t) (value >> 32);
    }
}
static inline gpc_address_t
gpc_world_address(uint32_t line)
{
    return (gpc_address_t) line * GPC_WORLD_LINE_BYTES;
}

#endif

/* world.h: the explorer's world: controllers, channels, memory and bounded programs behind the same ports and the same
 * order.c as the engine's. What can happen next is a list of moves; carrying one out is deterministic. All that changes is
 * in one arena, so that a state can be put back. */
#ifndef GPC_CHECK_WORLD_H
#define GPC_CHECK_WORLD_H

#include "core/order.h"
#include "gpu.h"
#include "protocol/protocol.h"

#define GPC_WORLD_MAX_CORES 4u
#define GPC_WORLD_MAX_THREADS 4u
#define GPC_WORLD_MAX_OPS 12u
#define GPC_WORLD_MAX_VARIABLES 4u
#define GPC_WORLD_LINE_BYTES 32u
#define GPC_WORLD_MAX_NODES (GPC_WORLD_MAX_CORES + GPC_WORLD_MAX_VARIABLES) /* each variable has a bank of its own */

typedef enum {
    GPC_MOVE_ISSUE,
    GPC_MOVE_DELIVER,
    GPC_MOVE_MEMORY,
    GPC_MOVE_REPLAY,
    GPC_MOVE_EVICT,
    GPC_MOVE_TIMER, /* one that is due */
    GPC_MOVE_TIME   /* a core cycle passes; always the last of the list */
} gpc_move_kind_t;

typedef struct {
    uint8_t kind;     /* gpc_move_kind_t */
    uint8_t a, b, c;  /* thread; or source, destination, network; or node (and variable) */
    uint8_t position; /* of the message in an unordered channel, or of the answer */
} gpc_move_t;

#define GPC_WORLD_MAX_MOVES 128u

typedef struct {
    uint32_t next_op;
    uint32_t outstanding;
    uint32_t read[GPC_WORLD_MAX_OPS];
} gpc_world_thread_t;

typedef struct {
    gpc_world_thread_t threads[GPC_WORLD_MAX_THREADS];
    uint32_t memory[GPC_WORLD_MAX_VARIABLES][GPC_WORLD_LINE_BYTES / 4];
    gpc_list_t channels[GPC_WORLD_MAX_NODES * GPC_WORLD_MAX_NODES * GPC_MAX_NETWORKS];
    gpc_list_t answers; /* of memory, on their way */
    gpc_list_t timers;  /* TIMERs; `ready` says from which cycle on */
    gpc_cycle_t now;
} gpc_world_state_t;

typedef struct {
    const gpc_explore_t *what; /* borrowed */
    gpc_machine_t machine;
    const gpc_protocol_t *protocol;
    gpc_rule_t rule;
    int64_t options[GPC_MAX_OPTIONS];
    uint32_t num_networks, nodes;
    bool tells_time;                         /* something of the protocol's is a time */
    uint32_t warp_of[GPC_WORLD_MAX_THREADS]; /* a thread's warp on its core */
    gpc_failure_t failure;
    gpc_arena_t arena;
    gpc_world_state_t *state;
    gpc_pool_t messages, lane_lists;
    gpc_controller_t controllers[GPC_WORLD_MAX_NODES];
    gpc_controller_t *l1s[GPC_WORLD_MAX_CORES];
    gpc_order_t order;
} gpc_world_t;

/* Built, with the warm copies in place. GPC_ERROR_* with the failure told; free it in any case. */
GPC_MUST_CHECK int gpc_world_init(gpc_world_t *self, const gpc_explore_t *what);
void gpc_world_free(gpc_world_t *self);
/* Everything that might happen next; not each of them can. */
uint32_t gpc_world_moves(const gpc_world_t *self, gpc_move_t *moves);
/* GPC_OK: it happened; GPC_HOLD: it cannot now (nothing may be assumed of the state: put it back); negative: a violation. */
GPC_MUST_CHECK int gpc_world_move(gpc_world_t *self, const gpc_move_t *move);
bool gpc_world_programs_done(const gpc_world_t *self); /* every operation of every thread is complete */
bool gpc_world_quiet(const gpc_world_t *self);         /* nothing is on its way */
GPC_MUST_CHECK int gpc_world_final(gpc_world_t *self, uint32_t variable, uint32_t *value);
void gpc_world_encode(gpc_world_t *self, gpc_encoder_t *out);
void gpc_world_print_move(const gpc_world_t *self, const gpc_move_t *move, gpc_text_t *out);

#endif

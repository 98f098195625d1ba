/* state.h: what the cores keep: warps, accesses, requests, blocks, and one warp about to issue.
 *
 * State of warps, registers, accesses and blocks lies in the arena and names itself by index. */
#ifndef GPC_CORE_STATE_H
#define GPC_CORE_STATE_H

#include "core/core.h"
#include "core/decoded.h"

#define GPC_UNIFORM_REGISTERS 256u /* most of one warp */
#define GPC_EVEN_REGISTERS 64u     /* vector registers that may be even: the first ones, but for local arrays */
#define GPC_CALENDAR_SLOTS 64u
#define GPC_SCOREBOARD_NEVER UINT32_MAX

typedef enum {
#define X(name, text) GPC_STALL_##name,
    GPC_STALLS(X)
#undef X
        GPC_NUM_STALLS
} gpc_stall_t;

typedef enum {
    GPC_WARP_FREE,
    GPC_WARP_READY,
    GPC_WARP_WAITS_TIME,     /* wake_at is a cycle */
    GPC_WARP_WAITS_REGISTER, /* for a load or atomic of its own */
    GPC_WARP_WAITS_ORDER,    /* order.c has not let it; asks again when something of it completes, or at wake_at */
    GPC_WARP_WAITS_BARRIER
} gpc_warp_state_t;

/* Lanes that go on at pc until they come to reconverge. */
typedef struct {
    uint32_t pc, reconverge;
    gpc_lanes_t lanes;
} gpc_stack_entry_t;

typedef struct {           /* one line of the host's cache */
    gpc_stack_entry_t top; /* of the reconvergence stack; top.lanes are the active lanes */
    gpc_lanes_t live;      /* lanes that have not ended */
    gpc_cycle_t wake_at;   /* GPC_NEVER: woken by an event */
    gpc_cycle_t not_before;
    uint64_t even;        /* vector registers with one word in all lanes (registers.h) */
    uint16_t depth;       /* entries below the top */
    uint16_t outstanding; /* accesses */
    uint32_t barrier_pc;  /* while it waits at one */
    uint16_t block;       /* slot on the core */
    uint16_t index;       /* in its block */
    uint8_t state;        /* gpc_warp_state_t */
    uint8_t reason;       /* gpc_stall_t, while it waits */
    uint8_t verdict;      /* gpc_order_verdict_t, while it waits for order */
    uint8_t barrier;      /* id, while it waits at one */
} gpc_warp_t;
_Static_assert(sizeof(gpc_warp_t) == 64, "a turn touches one line a warp");

/* A warp's load, store or atomic on its way: one or more line requests. */
typedef struct {
    gpc_index_t next; /* link: free, or in the list of those due */
    uint32_t remaining, to_offer;
    gpc_cycle_t issued, done_at;
    gpc_address_t line; /* of its first request, for reports */
    gpc_operand_t destination;
    gpc_access_t access;
    uint8_t width;
    uint8_t warp;
    bool live;
    bool straight;               /* all lanes, word after word, of one line */
    bool one_word;               /* all lanes, the same word */
    uint8_t word[GPC_MAX_LANES]; /* first word of each lane, in its line */
} gpc_core_access_t;

typedef struct {
    gpc_index_t next; /* link while free */
    gpc_index_t access;
    gpc_index_t parked; /* the message it was issued as, once completed while other words are missing; or GPC_NONE */
    gpc_index_t name;   /* that message */
    gpc_mask_t words, missing; /* all, and those not yet completed */
    gpc_lanes_t lanes;
} gpc_core_request_t;

typedef struct {
    uint64_t warps; /* that still run */
    uint64_t age;
    uint32_t number; /* linear, x fastest */
    uint32_t coordinates[3];
    bool resident;
} gpc_block_t;

typedef struct {               /* what every turn looks at comes first */
    gpc_cycle_t turn_allowed;  /* one turn a cycle */
    gpc_cycle_t turn_asked;    /* GPC_NEVER: none */
    gpc_cycle_t accounted;     /* every cycle before this one has been counted */
    gpc_cycle_t calendar_next; /* first cycle whose calendar slot has not been emptied */
    uint64_t calendar_used;    /* slots with a warp */
    uint64_t resident, ready;
    uint64_t memory_next; /* warps whose next instruction goes to the load-store queue */

    uint64_t waits_queue;  /* of those, the ready ones that wait for room in it: not among `ready` */
    gpc_cycle_t far_at;    /* earliest of `far` */
    gpc_cycle_t port_used; /* cycle of the last request that the L1 took; GPC_NEVER: none yet */
    gpc_list_t queue;      /* requests in order */
    uint32_t queued;       /* memory instructions with requests not yet taken by the L1 */
    uint32_t in_flight;    /* line requests */
    uint32_t last_warp;    /* issued last */
    gpc_index_t due_head, due_tail;
    gpc_cycle_t scoreboard_base;
    uint8_t idle_reason; /* gpc_stall_t */
    bool held;           /* the L1 takes no request before it kicks */
    bool in_turn;

    gpc_cycle_t port_free[4];
    gpc_cycle_t unit_free[GPC_NUM_UNITS];
    uint64_t far; /* warps that wake later than the calendar reaches */
    uint64_t waits_barrier;
    uint64_t ages;
    gpc_cycle_t empty_since;
    uint32_t blocks_resident;
    uint64_t next_block; /* with static placement: its own */
    uint64_t calendar[GPC_CALENDAR_SLOTS];
} gpc_core_t;

struct gpc_core_parts {
    gpc_core_launch_t *launch; /* owned; NULL: none */
    /* In the arena: */
    gpc_core_t *cores;
    gpc_warp_t *warps;               /* [cores][warps_per_core] */
    gpc_stack_entry_t *stacks;       /* [cores][warps_per_core][stack_entries] */
    uint32_t *vectors;               /* [cores][registers_per_core] */
    uint64_t *ages;                  /* [cores][warps_per_core]: smaller is older */
    uint32_t *fronts;                /* [cores][front_words]: see gpc_front_t */
    uint32_t *scratchpad;            /* [cores][scratchpad words] */
    gpc_block_t *blocks;             /* [cores][blocks_per_core] */
    gpc_pool_t *accesses, *requests; /* [cores]; owned, the items are in the arena */
    uint32_t stack_entries, front_words, scratchpad_words;
};

/* One warp about to issue: where everything of it is. */
typedef struct {
    gpc_cores_t *cores;
    gpc_core_parts_t *parts;
    const gpc_core_launch_t *launch;
    gpc_core_t *core;
    gpc_core_statistics_t *statistics;
    gpc_warp_t *warp;
    uint32_t *vectors, *uniforms, *evens, *scoreboard;
    gpc_cycle_t now;
    uint32_t core_index, warp_index, lanes;
} gpc_issue_t;

enum { GPC_ISSUED = 0, GPC_BLOCKED = 1 };

static inline gpc_warp_t *
gpc_core_warp(const gpc_cores_t *self, uint32_t core, uint32_t warp)
{
    return &self->parts->warps[core * self->machine->warps_per_core + warp];
}

static inline gpc_block_t *
gpc_core_block(const gpc_cores_t *self, uint32_t core, uint32_t block)
{
    return &self->parts->blocks[core * self->machine->blocks_per_core + block];
}

static inline uint32_t
gpc_lowest_bit(uint64_t bits)
{
    return (uint32_t) __builtin_ctzll(bits);
}

static inline uint32_t
gpc_count_bits(uint64_t bits)
{
    bits -= bits >> 1 & UINT64_C(0x5555555555555555);
    bits = (bits & UINT64_C(0x3333333333333333)) + (bits >> 2 & UINT64_C(0x3333333333333333));
    bits = (bits + (bits >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F);
    return (uint32_t) ((bits * UINT64_C(0x0101010101010101)) >> 56);
}

#endif

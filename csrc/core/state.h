/* state.h: state of the cores: warps, accesses, requests and blocks, and the context of an issue.
 *
 * Warps, registers, accesses and blocks are in the arena and are referred to by index. */
#ifndef GPC_CORE_STATE_H
#define GPC_CORE_STATE_H

#include "core/core.h"
#include "core/decoded.h"

#define GPC_UNIFORM_REGISTERS 256u /* maximum per warp */
#define GPC_EVEN_REGISTERS 64u     /* the first vector registers may be even, except those of local arrays */
#define GPC_CALENDAR_SLOTS 64u
#define GPC_SCOREBOARD_NEVER UINT32_MAX

typedef struct gpc_writer gpc_writer_t; /* core/memory/writers.h */

typedef enum {
#define X(name, text) GPC_STALL_##name,
    GPC_STALLS(X)
#undef X
        GPC_NUM_STALLS
} gpc_stall_t;

typedef enum {
    GPC_WARP_FREE,
    GPC_WARP_READY,
    GPC_WARP_WAITS_TIME,     /* until cycle wake_at */
    GPC_WARP_WAITS_REGISTER, /* for a load or atomic of its own */
    GPC_WARP_WAITS_ORDER,    /* for order.c; retries when one of its accesses completes, or at wake_at */
    GPC_WARP_WAITS_BARRIER
} gpc_warp_state_t;

/* Lanes that execute from pc until they reach `reconverge`. */
typedef struct {
    uint32_t pc, reconverge;
    gpc_lanes_t lanes;
} gpc_stack_entry_t;

typedef struct {           /* one line of the host's cache */
    gpc_stack_entry_t top; /* top of the reconvergence stack; top.lanes are the active lanes */
    gpc_lanes_t live;      /* lanes that have not ended */
    gpc_cycle_t wake_at;   /* GPC_NEVER: woken by an event */
    gpc_cycle_t not_before;
    uint64_t even;        /* vector registers with one word in all lanes (registers.h) */
    uint16_t depth;       /* entries below the top */
    uint16_t outstanding; /* accesses */
    uint32_t barrier_pc;  /* while it waits at a barrier */
    uint16_t block;       /* slot on the core */
    uint16_t index;       /* in its block */
    uint8_t state;        /* gpc_warp_state_t */
    uint8_t active;       /* number of active lanes */
    uint8_t verdict;      /* gpc_order_verdict_t, while it waits for order.c */
    uint8_t barrier;      /* id, while it waits at a barrier */
} gpc_warp_t;
_Static_assert(sizeof(gpc_warp_t) == 64, "a core cycle touches one line per warp");

/* An outstanding load, store or atomic of a warp: one or more line requests. */
typedef struct {
    gpc_index_t next; /* in the list of due accesses */
    uint32_t remaining, to_offer;
    uint32_t pc;
    gpc_cycle_t issued, done_at;
    gpc_address_t line; /* of its first request, for reports */
    gpc_operand_t destination;
    gpc_access_t access;
    uint8_t width;
    uint8_t warp;
    gpc_narrow_t narrow;
    bool live;
    bool straight;               /* all lanes load or store consecutive words of one line: word[0] names the first */
    bool one_word;               /* all lanes access the same word */
    uint8_t word[GPC_MAX_LANES]; /* first word of each lane in its line; of a narrow access its first byte */
} gpc_core_access_t;

typedef struct {
    gpc_index_t access;
    gpc_index_t parked;        /* its message, once completed while other words are missing; or GPC_NONE */
    gpc_index_t name;          /* index of the message that it was issued as */
    gpc_mask_t words, missing; /* requested words, and those not yet complete */
    gpc_index_t held; /* a lane list: of core/memory/together.h, which has the missing words; GPC_NONE: it is none */
    gpc_lanes_t lanes;
} gpc_core_request_t;

#define GPC_TOGETHER_LOCKS 256u

/* For lines of one hash: whether an access is between a core's L1 and its completion, or may only be that core's. */
typedef struct {
    bool taken, kept;
    uint16_t core;
} gpc_together_lock_t;

/* Synchronising accesses of several words (core/memory/together.h). */
typedef struct {
    gpc_together_lock_t locks[GPC_TOGETHER_LOCKS];
    uint16_t waits_for[GPC_MAX_CORES]; /* 1 + number of a lock; 0: none */
    uint64_t waits_since[GPC_MAX_CORES], waits;
} gpc_together_t;

typedef struct {
    uint64_t warps; /* warps that have not ended */
    uint64_t age;
    uint32_t number; /* linear index, x fastest */
    uint32_t coordinates[3];
    bool resident;
} gpc_block_t;

typedef struct { /* lines of the host's cache; the members that every cycle reads come first */
    _Alignas(64) gpc_cycle_t cycle_allowed; /* earliest next event: one per cycle */
    gpc_cycle_t cycle_scheduled;            /* that of the next event; GPC_NEVER: none */
    gpc_cycle_t accounted;                  /* every cycle before this one has been counted */
    gpc_cycle_t calendar_next;              /* first cycle whose calendar slot has not been emptied */
    uint64_t calendar_used;                 /* slots with a warp */
    gpc_cycle_t calendar_first;             /* the first cycle of them; GPC_NEVER: none */
    uint64_t resident, ready;
    uint64_t memory_next; /* warps whose next instruction goes to the load-store queue */

    uint64_t order_stalls; /* warps with an order stall (core.h) */
    uint64_t waits_queue;  /* of memory_next: warps that are ready but wait for room in the queue; not in `ready` */
    gpc_cycle_t far_at;    /* earliest wake-up of `far` */
    gpc_cycle_t port_next; /* the first cycle in which the L1 may take another request */
    uint64_t port_bytes;   /* with l1_bytes_per_cycle: passed, or idle, when the last request's words have passed */
    gpc_list_t queue;      /* requests in order */
    uint32_t queued;       /* memory instructions with requests that the L1 has not taken yet */
    uint32_t in_flight;    /* line requests */
    uint32_t last_warp;    /* the last warp that issued */
    gpc_index_t due_head, due_tail;
    gpc_cycle_t scoreboard_base;
    uint8_t idle_reason; /* gpc_stall_t */
    uint8_t idle_warp;   /* the warp whose reason it is */
    bool idle_ordered;   /* as of idle_reason: a warp has an order stall */
    bool idle_barrier;   /* likewise: the first waiting warp waits at a barrier */
    bool held;           /* no offers to the L1 before gpc_cores_retry */
    bool in_cycle;

    gpc_cycle_t ports_free_at; /* the latest of port_free */
    uint64_t passed_bytes;     /* with l1_bytes_per_cycle: a statistic */
    gpc_cycle_t port_free[4];
    gpc_cycle_t unit_free[GPC_NUM_UNITS];
    uint64_t far; /* warps that wake later than the calendar reaches */
    uint64_t waits_barrier;
    uint64_t ages;
    gpc_cycle_t empty_since;
    uint32_t blocks_resident;
    uint64_t next_block;            /* under static placement: the core's next block */
    uint8_t reasons[GPC_MAX_WARPS]; /* gpc_stall_t of each warp that waits: read without the warps' lines */
    uint64_t calendar[GPC_CALENDAR_SLOTS];
} gpc_core_t;

/* What the placement of blocks remembers between launches. */
typedef struct {
    uint64_t launches;
    uint32_t
        next_core[GPC_MAX_DIES]; /* after the one that took the last block; of the kernels on cores from a die on */
} gpc_placing_t;

/* A core, and where its state begins in the arrays below. */
typedef struct {
    gpc_core_t *core;
    gpc_core_statistics_t *statistics;
    gpc_warp_t *warps;
    uint32_t *vectors, *fronts; /* of the launch */
    gpc_core_launch_t *launch;  /* the kernel of its blocks; NULL: none */
    gpc_cores_t *cores;
    gpc_core_parts_t *parts;
    uint32_t index;
} gpc_core_base_t;

struct gpc_core_parts {
    gpc_core_launch_t *launch; /* owned; NULL: none; the first of its kernels */
    gpc_core_launch_t *added;  /* owned, likewise: of a launch that has not begun */
    gpc_launch_t *joined;      /* owned; NULL: the launch has one kernel */
    gpc_core_base_t *bases;    /* owned; [cores] */
    gpc_writer_t *writers;     /* owned; [GPC_WRITERS], see core/memory/writers.h */
    gpc_stock_t *stock;        /* borrowed: of writers; may be NULL */
    uint32_t launches;         /* of the cores' lifetime: writers of earlier launches do not count */
    bool writers_lost;         /* an entry of this launch has been replaced */
    gpc_prints_t prints;
    uint8_t *written; /* owned; [cores][scratchpad words], a bit per byte: by the resident block; NULL: not checked */
    gpc_together_t together;
    gpc_subscriber_t checker; /* of reads of the scratchpad, with `written` */
    /* In the arena: */
    gpc_placing_t *placing;
    gpc_core_t *cores;
    gpc_warp_t *warps;          /* [cores][warps_per_core] */
    gpc_stack_entry_t *stacks;  /* [cores][warps_per_core][stack_entries] */
    uint32_t *vectors;          /* [warps of a core][cores][a warp's words], so that the words in use are adjacent */
    uint32_t *fronts;           /* likewise: see gpc_front_t */
    uint64_t *ages;             /* [cores][warps_per_core]: smaller is older */
    gpc_cycle_t *order_stalled; /* [cores][warps_per_core]: begin of the warp's order stall */
    uint32_t *scratchpad;       /* [cores][scratchpad words] */
    gpc_block_t *blocks;        /* [cores][blocks_per_core] */
    gpc_pool_t *accesses, *requests; /* [cores]; owned, the items are in the arena */
    uint32_t stack_entries, scratchpad_words;
    size_t front_words; /* of a core */
};

/* Context of an issue: a warp and the addresses of its state. */
typedef struct {
    const gpc_core_base_t *base;
    const gpc_core_launch_t *launch;
    gpc_core_t *core;
    gpc_warp_t *warp;
    uint32_t *vectors, *scoreboard; /* gpc_front_t begins with the scoreboard */
    gpc_cycle_t now;
    uint32_t warp_index;
} gpc_issue_t;

enum { GPC_ISSUED = GPC_OK, GPC_BLOCKED = 1 };

static inline gpc_warp_t *
gpc_core_warp(const gpc_cores_t *self, uint32_t core, uint32_t warp)
{
    return self->parts->bases[core].warps + warp;
}

/* As gpc_pool_at, with sizes that the compiler knows. */
_Static_assert(sizeof(gpc_core_access_t) % 8 == 0 && sizeof(gpc_core_request_t) % 8 == 0,
               "items of a pool have no gaps");
static inline gpc_core_access_t *
gpc_access_at(const gpc_core_parts_t *parts, uint32_t core, gpc_index_t i)
{
    return (gpc_core_access_t *) (void *) parts->accesses[core].items + i;
}
static inline gpc_core_request_t *
gpc_request_at(const gpc_core_parts_t *parts, uint32_t core, gpc_index_t i)
{
    return (gpc_core_request_t *) (void *) parts->requests[core].items + i;
}

static inline __attribute__((always_inline)) void
gpc_issue_init(gpc_issue_t *x, gpc_cores_t *self, uint32_t core, uint32_t warp, gpc_cycle_t now)
{
    const gpc_core_base_t *base = &self->parts->bases[core];
    const gpc_core_launch_t *launch = base->launch;
    x->base = base;
    x->launch = launch;
    x->core = base->core;
    x->warp = base->warps + warp;
    x->vectors = base->vectors + (size_t) warp * launch->vector_stride;
    x->scoreboard = base->fronts + (size_t) warp * launch->front.stride;
    x->now = now;
    x->warp_index = warp;
}

/* The words of the warp's even registers (registers.h). */
static inline uint32_t *
gpc_evens(const gpc_issue_t *x)
{
    return x->scoreboard + x->launch->front.scoreboard;
}

static inline uint32_t *
gpc_uniforms(const gpc_issue_t *x)
{
    return x->scoreboard + x->launch->front.scoreboard + x->launch->front.evens;
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

#endif

/* parts.h: what the files of the core share and nobody else sees.
 *
 * State of warps, registers, accesses and blocks lies in the arena and names itself by index. The launch (program, decoded
 * instructions, constants, buffers) is ordinary memory: snapshots are taken between launches only, when there is none. */
#ifndef GPC_CORE_PARTS_H
#define GPC_CORE_PARTS_H

#include "core/core.h"
#include "core/execute/alu.h"

typedef enum {
#define X(name, text) GPC_STALL_##name,
    GPC_STALLS(X)
#undef X
        GPC_NUM_STALLS
} gpc_stall_t;

#define GPC_UNIFORM_REGISTERS 256u /* most of one warp */
#define GPC_EVEN_REGISTERS 64u     /* vector registers that may be even: the first ones, but for local arrays */
#define GPC_CALENDAR_SLOTS 64u
#define GPC_MOST_WAITS 8u /* registers that one instruction reads and writes */

/* ---- the launch, decoded ------------------------------------------------------------------------------------------------ */

typedef enum { GPC_NO_OPERAND, GPC_VECTOR, GPC_UNIFORM, GPC_CONSTANT } gpc_operand_kind_t;

typedef struct {
    uint8_t kind;    /* gpc_operand_kind_t */
    uint32_t number; /* register or constant */
    uint32_t offset; /* in words: of a vector register in its warp's, of a constant in the bank spread over the lanes */
} gpc_operand_t;

/* Which function carries an instruction out. */
typedef enum {
    GPC_GROUP_NOP,
    GPC_GROUP_ALU,
    GPC_GROUP_MOVEMENT, /* LANES SPECIAL SHUFFLE ANY ALL BALLOT */
    GPC_GROUP_LOCAL,
    GPC_GROUP_BRANCH,
    GPC_GROUP_JUMP,
    GPC_GROUP_EXIT,
    GPC_GROUP_MEMORY,
    GPC_GROUP_SHARED,
    GPC_GROUP_FENCE,
    GPC_GROUP_BARRIER,
    GPC_GROUP_SLEEP
} gpc_group_t;

typedef enum { GPC_UNIT_NONE, GPC_UNIT_SPECIAL, GPC_UNIT_DIVISION, GPC_UNIT_SCRATCHPAD, GPC_NUM_UNITS } gpc_unit_t;

typedef struct {
    uint8_t group, opcode, type, width;
    uint8_t unit;
    uint8_t num_waits;
    uint8_t atomic; /* gpc_atomic_t */
    uint16_t flags;
    gpc_access_t access; /* of memory instructions, fences, barriers and exits */
    gpc_alu_t alu;
    gpc_operand_t destination, a, b, c;
    uint32_t latency;    /* until the destination may be read */
    uint32_t unit_holds; /* cycles its unit is busy */
    uint32_t immediate, target, reconverge;
    uint32_t local_words;           /* LOCAL_*: length of the array */
    uint16_t waits[GPC_MOST_WAITS]; /* scoreboard entries: vector registers first, then uniform ones */
} gpc_decoded_t;

/* What nearly every instruction of a warp reads lies together, in words, as close as the program allows: the scoreboard, vector
 * registers first, the words of even registers (registers.h), the uniform registers. */
typedef struct {
    uint32_t scoreboard; /* entries */
    uint32_t evens, uniforms;
    uint32_t stride; /* of all; whole lines of the host's cache */
} gpc_front_t;

typedef struct {
    gpc_launch_t launch; /* its pointers are owned here */
    gpc_decoded_t *code;
    uint32_t *spread;         /* [constants][lanes]: every constant as a vector */
    uint32_t *thread_axis[3]; /* [threads, rounded up to warps]: coordinates of a block's threads */
    uint32_t threads_per_block, warps_per_block, blocks_per_core;
    uint32_t blocks, next_block, blocks_done;
    gpc_front_t front;
    uint64_t may_be_even; /* bit: a vector register; not those of local arrays, which are found by an index */
    gpc_cycle_t begin;
} gpc_core_launch_t;

/* ---- state in the arena -------------------------------------------------------------------------------------------------- */

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

static inline uint32_t
gpc_scoreboard_entry(const gpc_core_launch_t *launch, const gpc_operand_t *operand)
{
    return operand->kind == GPC_UNIFORM ? launch->launch.program.vector_registers + operand->number : operand->number;
}

/* decode.c */
GPC_MUST_CHECK int gpc_core_launch_new(const gpc_cores_t *self, const gpc_launch_t *launch, gpc_core_launch_t **out);
void gpc_core_launch_free(gpc_core_launch_t *self); /* NULL too */

/* scheduler.c */
#define GPC_SCOREBOARD_NEVER UINT32_MAX
/* The core's scoreboards count from `now` on: what was ready before stays so. */
void gpc_core_rebase_scoreboards(gpc_cores_t *self, uint32_t core, gpc_cycle_t now);
void gpc_issue_init(gpc_issue_t *x, gpc_cores_t *self, uint32_t core, uint32_t warp, gpc_cycle_t now);
/* The warp has a new next instruction, or a register of it has come: says when it can issue. */
void gpc_core_settle(gpc_issue_t *x);
/* The warp may issue from cycle `at` on, which may be now (then it is ready at once). */
void gpc_core_wake(gpc_cores_t *self, uint32_t core, uint32_t warp, gpc_cycle_t now, gpc_cycle_t at);
GPC_MUST_CHECK int gpc_core_ask_turn(gpc_cores_t *self, uint32_t core, gpc_cycle_t at);
/* The warp waits: an issue that did not happen. */
int gpc_core_block_warp(gpc_issue_t *x, gpc_warp_state_t state, gpc_stall_t reason, gpc_cycle_t until);

/* issue.c: carry out the warp's next instruction: GPC_ISSUED, GPC_BLOCKED or an error. */
GPC_MUST_CHECK int gpc_core_issue(gpc_issue_t *x);

/* warp.c: the reconvergence stack. */
void gpc_warp_branch(gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t taken);
void gpc_warp_go_to(gpc_issue_t *x, uint32_t pc);
void gpc_warp_end_lanes(gpc_issue_t *x); /* the active ones; the warp goes on with others if there are any */

/* coalescer.c: byte addresses of the lanes, checked against the buffer. */
GPC_MUST_CHECK int gpc_core_find_addresses(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes,
                                           gpc_address_t *addresses);
/* The same in one go for the lanes of one line: 1 done, 0 not of that kind, negative an error. */
GPC_MUST_CHECK int gpc_core_coalesce_line(gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes,
                                          gpc_index_t access);
/* One request a distinct line, at the end of the core's queue; the access learns how many and the first one's line. */
GPC_MUST_CHECK int gpc_core_coalesce(gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes,
                                     const gpc_address_t *addresses, gpc_index_t access);

/* memory_unit.c, scratchpad.c, sync.c */
/* Tells who watches: addresses, or words of the scratchpad. */
GPC_MUST_CHECK int gpc_core_tell(const gpc_issue_t *x, const gpc_decoded_t *d, gpc_lanes_t lanes, gpc_index_t name,
                                 const gpc_address_t *addresses, const uint32_t *words);
bool gpc_core_has_room(const gpc_cores_t *self, uint32_t core); /* in the load-store queue, for one more instruction */
GPC_MUST_CHECK int gpc_core_issue_memory(gpc_issue_t *x, const gpc_decoded_t *d);
GPC_MUST_CHECK int gpc_core_issue_shared(gpc_issue_t *x, const gpc_decoded_t *d);
GPC_MUST_CHECK int gpc_core_issue_sync(gpc_issue_t *x, const gpc_decoded_t *d);
/* Asks order.c; GPC_ISSUED: go on. */
GPC_MUST_CHECK int gpc_core_ask_order(gpc_issue_t *x, const gpc_decoded_t *d);
/* The load-store stage's cycle, unless the L1 port was used in it already. */
GPC_MUST_CHECK int gpc_core_offer(gpc_cores_t *self, uint32_t core, gpc_cycle_t now);
GPC_MUST_CHECK int gpc_core_retire_due(gpc_cores_t *self, uint32_t core, gpc_cycle_t now);

/* dispatch.c */
void gpc_core_warp_ended(gpc_issue_t *x);

/* report.c: "kernel 'f' at line 7", "thread (3,0,0) of block (2,0,0)" into text of `size` bytes; they return text. */
const char *gpc_core_where(const gpc_core_launch_t *launch, uint32_t pc, char *text, size_t size);
const char *gpc_core_who(const gpc_issue_t *x, uint32_t lane, char *text, size_t size);
/* The error of a block whose warps all wait at barriers or have ended. */
int gpc_core_fail_barrier(const gpc_cores_t *self, uint32_t core, uint32_t block);
/* Whether every warp of the block that has not ended waits at a barrier. */
bool gpc_core_block_stuck(const gpc_cores_t *self, uint32_t core, uint32_t block);

#endif

/* decoded.h: a decoded launch: instructions with their operands, functions and latencies resolved.
 *
 * It is outside the arena: snapshots are taken between launches only, when there is none. */
#ifndef GPC_CORE_DECODED_H
#define GPC_CORE_DECODED_H

#include "base/access.h"
#include "core/launch.h"

#define GPC_NO_ENTRY UINT16_MAX
#define GPC_MOST_WAITS 8u /* registers that one instruction reads and writes */

typedef struct gpc_split gpc_split_t; /* core/lanes.h */

#define GPC_ALU_LANES 32u /* lanes per call; a warp takes one or two calls */

/* One lane; unused operands are ignored. */
typedef uint32_t (*gpc_alu_one_t)(uint32_t a, uint32_t b, uint32_t c);
/* GPC_ALU_LANES lanes, active or not; defined for every word. result overlaps no operand. */
typedef void (*gpc_alu_all_t)(uint32_t *restrict result, const uint32_t *a, const uint32_t *b, const uint32_t *c);

typedef struct {
    gpc_alu_one_t one;
    gpc_alu_all_t all;
} gpc_alu_t;

/* The words of lanes: of the operands a, b and c the lower ones and the upper ones; NULL: the operand has none. */
typedef struct {
    const uint32_t *low[3], *high[3];
} gpc_extended_lanes_t;
/* GPC_ALU_LANES lanes, active or not; defined for every word. The results overlap no operand; high of a result of one
 * word is not written. */
typedef void (*gpc_extended_all_t)(uint32_t *restrict low, uint32_t *restrict high, const gpc_extended_lanes_t *from,
                                   uint32_t flags);

typedef enum { GPC_NO_OPERAND, GPC_VECTOR, GPC_UNIFORM, GPC_CONSTANT } gpc_operand_kind_t;

typedef struct {
    uint8_t kind;    /* gpc_operand_kind_t */
    uint32_t number; /* register or constant */
    uint32_t offset; /* in words: of a vector register in `vectors`, of a constant in `spread` */
    uint32_t place;  /* of its word if it is even: among the constants, else in the warp's hot state (gpc_front_t) */
} gpc_operand_t;

/* Elements narrower than a word. */
typedef struct {
    uint8_t bytes; /* 1 or 2; 0: words */
    bool is_signed;
} gpc_narrow_t;

/* The function that executes an instruction. */
typedef enum {
    GPC_GROUP_NOP,
    GPC_GROUP_ALU,
    GPC_GROUP_MOVEMENT, /* LANES SPECIAL SHUFFLE ANY ALL BALLOT, and EXTENDED of rows that are no ALU's */
    GPC_GROUP_LOCAL,
    GPC_GROUP_BRANCH,
    GPC_GROUP_JUMP,
    GPC_GROUP_EXIT,
    GPC_GROUP_MEMORY,
    GPC_GROUP_SHARED, /* and accesses by address, which may be in the scratchpad */
    GPC_GROUP_FENCE,
    GPC_GROUP_BARRIER,
    GPC_GROUP_WARP_SYNC,
    GPC_GROUP_SPIN, /* BRANCH or JUMP at the end of a loop that polls, of independent lanes */
    GPC_GROUP_SLEEP,
    GPC_GROUP_REPORT,       /* ASSERT PRINT */
    GPC_GROUP_DIVISION,     /* integer division of a checked kernel, of single words */
    GPC_GROUP_WIDE_DIVISION /* of 64 bits */
} gpc_group_t;

typedef enum {
    GPC_UNIT_NONE,
    GPC_UNIT_SPECIAL,
    GPC_UNIT_DIVISION,
    GPC_UNIT_SCRATCHPAD,
    GPC_UNIT_F64,
    GPC_NUM_UNITS
} gpc_unit_t;

/* By lines of the host's cache: what every issue reads; operands; what some instructions read. */
typedef struct {
    _Alignas(64) uint8_t group;
    uint8_t unit;
    uint8_t num_waits;
    uint8_t waits_as; /* gpc_stall_t of a wait for its registers: scoreboard, or in a loop of polling.c poll or lock */
    bool may_be_even; /* the operands a, b and c, if the vector registers among them, needs_even, are */
    bool even_result; /* the destination is uniform or may be even: it is one word, at its place */
    bool in_place;    /* the destination is a vector register and no operand: lanes may be computed in it */
    uint16_t entry;   /* of the destination in the scoreboard; GPC_NO_ENTRY: none */
    uint32_t latency; /* until the destination may be read */
    gpc_alu_t alu;
    uint64_t needs_even;
    uint64_t makes_even;            /* the destination's bit if the even result is a vector register's */
    uint16_t waits[GPC_MOST_WAITS]; /* scoreboard entries: vector registers first, then uniform ones */

    gpc_operand_t destination, a, b, c;

    uint8_t opcode, type, width;
    uint8_t atomic; /* gpc_atomic_t */
    gpc_narrow_t narrow;
    gpc_access_t access; /* of memory instructions, fences, barriers and exits */
    uint16_t flags;
    uint32_t unit_holds; /* cycles that the instruction occupies its unit */
    uint32_t immediate, target, reconverge;
    uint32_t local_words; /* LOCAL_*: length of the array */
    gpc_extended_all_t extended;
} gpc_decoded_t;
_Static_assert(offsetof(gpc_decoded_t, destination) == 64 && offsetof(gpc_decoded_t, opcode) == 128,
               "operands fill the second line");

/* Layout of the hot state of a warp, in words and without gaps: the scoreboard (vector registers first), the words of
 * even registers (registers.h), the uniform registers. */
typedef struct {
    uint32_t scoreboard; /* entries */
    uint32_t evens, uniforms;
    uint32_t words;  /* of a warp; whole lines of the host's cache */
    uint32_t stride; /* to the core's next warp */
} gpc_front_t;

/* An array: [begin, end). */
typedef struct {
    gpc_address_t begin, end;
    uint32_t buffer; /* of the launch; GPC_NONE: an allocation that the host does not name */
} gpc_range_t;

/* One kernel of a launch. */
typedef struct gpc_core_launch {
    gpc_launch_t launch;          /* with owned copies of what it points to */
    struct gpc_core_launch *next; /* owned: the next kernel of the launch */
    uint32_t number;
    /* Where its cores, dies, and, for observers, its instructions, blocks, files and reports begin among all. */
    uint32_t first_core, cores, first_die, dies, first_pc, first_block, first_file, first_report;
    uint32_t first_register; /* likewise, of gpc_cores_mark_deciding */
    bool has_begun;
    gpc_decoded_t *code;
    uint32_t *spread;         /* [constants][lanes]: every constant as a vector */
    uint32_t *thread_axis[3]; /* [threads, rounded up to warps]: coordinates of a block's threads */
    uint32_t threads_per_block, warps_per_block, blocks_per_core;
    uint32_t blocks, blocks_done;
    uint32_t next_block[GPC_MAX_DIES]; /* of each die's contiguous share, but under static placement */
    gpc_front_t front;
    uint32_t vector_words, vector_stride; /* of a warp's vector registers; to the core's next warp */
    uint32_t lanes;                       /* per warp */
    gpc_lanes_t all_lanes;
    uint64_t may_be_even; /* bit: a vector register; registers of local arrays, which are indexed, cannot be even */
    gpc_range_t *ranges;  /* owned; [num_ranges], by address; NULL: the program has no access by address */
    uint32_t num_ranges, last_range;    /* the last one is where an access was found last */
    gpc_cycle_t begin, end;             /* end: behind its last block's, 0: not yet */
    uint32_t *own_vectors, *own_fronts; /* owned; NULL: the cores' arrays have room for its registers */
    gpc_split_t *splits; /* owned; [cores][warps_per_core]; NULL: the lanes of a warp are not independent */
} gpc_core_launch_t;

/* Whether a kernel begins after the end of one that is before it in the launch. */
static inline bool
gpc_kernel_follows(const gpc_core_launch_t *self, const gpc_core_launch_t *other)
{
    bool same_cores =
        other->first_core < self->first_core + self->cores && self->first_core < other->first_core + other->cores;
    return same_cores || (self->launch.after >> other->number & 1u) != 0;
}

static inline uint32_t
gpc_scoreboard_entry(const gpc_core_launch_t *launch, const gpc_operand_t *operand)
{
    return operand->kind == GPC_UNIFORM ? launch->launch.program.vector_registers + operand->number : operand->number;
}

#endif

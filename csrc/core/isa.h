/* isa.h: the PTX-like instruction set and its encoding, the target of the kernel language's compiler.
 *
 * A warp has vector registers (one word per lane), uniform registers (one word per warp) and a read-only constant bank
 * (immediates and scalar arguments), filled at launch. Booleans are words, 0 or 1. Words are 32 bits.
 *
 * Control flow: a reconvergence stack. BRANCH sends the active lanes whose register a is non-zero (zero with
 * GPC_FLAG_IF_ZERO) to `target`; the lanes reconverge at `reconverge`, the branch's immediate post-dominator. EXIT ends
 * the active lanes. Control must not run off the end of a program.
 *
 * An instruction with a uniform destination executes once per warp if at least one lane is active; its sources must be
 * uniform or constant (validated). A program of independent lanes has no uniform registers: its lanes are in different
 * places of the program.
 */
#ifndef GPC_CORE_ISA_H
#define GPC_CORE_ISA_H

#include "base/atomics.h"
#include "base/rules.h"
#include "base/types.h"

typedef enum {
#define X(name, operands, group, unit, text) GPC_OP_##name,
#include "lang/operations.def" /* gpucoh/lang/operations.def */
#undef X
    GPC_NUM_OPCODES
} gpc_opcode_t;

#define GPC_SPECIALS(X)                                                                            \
    X(THREAD_X) X(THREAD_Y) X(THREAD_Z) X(BLOCK_X) X(BLOCK_Y) X(BLOCK_Z) X(BLOCK_DIM_X) X(BLOCK_DIM_Y) \
    X(BLOCK_DIM_Z) X(GRID_DIM_X) X(GRID_DIM_Y) X(GRID_DIM_Z) X(LANE) X(WARP) X(CORE) X(CLOCK)
typedef enum {
#define X(name) GPC_SPECIAL_##name,
    GPC_SPECIALS(X)
#undef X
        GPC_NUM_SPECIALS
} gpc_special_t;

/* Operands: two bits of kind, fourteen bits of number. */
#define GPC_OPERAND_VECTOR 0x0000u
#define GPC_OPERAND_UNIFORM 0x4000u
#define GPC_OPERAND_CONSTANT 0x8000u
#define GPC_OPERAND_KIND 0xC000u
#define GPC_OPERAND_NUMBER 0x3FFFu
#define GPC_OPERAND_NONE 0xFFFFu

#define GPC_FLAG_TO_MASK 0x0003u /* CONVERT: destination type */
#define GPC_FLAG_IF_ZERO 0x0010u /* BRANCH */
#define GPC_FLAG_HIGH 0x0020u    /* BALLOT, MATCH */
/* LOAD STORE ATOMIC: a and a+1 hold a 64-bit byte address, low word first; `immediate` is a signed offset in bytes */
#define GPC_FLAG_FLAT 0x0040u
#define GPC_SHARED_WINDOW 0x70000000u /* upper word of an address: the lower one is a byte of the scratchpad */
#define GPC_LOCAL_WINDOW 0x70000001u  /* likewise of the thread's local memory (gpc_launch_t) */
/* SHARED_*: a is a byte offset, `immediate` a signed one that is added */
#define GPC_FLAG_BYTES 0x0080u
#define GPC_FLAG_ATOMIC_SHIFT 8u /* ATOMIC, SHARED_ATOMIC, REDUCE: gpc_atomic_t in bits 8..11 */
#define GPC_FLAG_SHUFFLE_SHIFT 12u /* SHUFFLE: gpc_shuffle_t in bits 12..14 */
#define GPC_FLAG_SHUFFLE_MODE (7u << GPC_FLAG_SHUFFLE_SHIFT)
/* ANY: the lane b of the warp. The others are PTX's shfl.sync of 32 lanes: b the distance or lane, c the clamp and the
 * mask of segments; of a width of 2 the second register is its predicate. */
typedef enum {
    GPC_SHUFFLE_ANY,
    GPC_SHUFFLE_UP,
    GPC_SHUFFLE_DOWN,
    GPC_SHUFFLE_BFLY,
    GPC_SHUFFLE_IDX,
    GPC_NUM_SHUFFLES
} gpc_shuffle_t;

/* EXTENDED: of the rows of extended.def that compute floating-point numbers */
#define GPC_FLAG_ROUND_MASK 0x0003u /* gpc_round_t */
#define GPC_FLAG_FTZ 0x0004u        /* subnormal operands and results become zeros (core/execute/float.h) */
#define GPC_FLAG_SAT 0x0008u        /* results are clamped to [0, 1], NaN to 0 */
/* nearest: ties to even */
typedef enum { GPC_ROUND_NEAREST, GPC_ROUND_ZERO, GPC_ROUND_DOWN, GPC_ROUND_UP } gpc_round_t;

/* One instruction, 32 bytes, little-endian, in this order of fields: Python packs it as "<BBBBBBHHHHHIIIHH". */
typedef struct {
    uint8_t opcode;
    uint8_t type;  /* gpc_type_t of the operation; of an atomic of two words i64, u64 or f64 */
    uint8_t order; /* gpc_memory_order_t */
    uint8_t scope; /* gpc_scope_t */
    /* words per lane of LOAD and STORE, and of SHARED_* with GPC_FLAG_BYTES: 1, 2 or 4; of an atomic 1 or 2; of the
     * results of EXTENDED and SHUFFLE; else 1 */
    uint8_t width;
    /* of the elements of LOAD, STORE, SHARED_LOAD and SHARED_STORE: 1, 2 (loads of I32 extend the sign); 0: words */
    uint8_t bytes;
    uint16_t flags;
    uint16_t destination;
    uint16_t a, b, c;
    uint32_t immediate;
    /* instruction number; SHARED_ATOMIC: bound of the index; SHARED_LOAD and SHARED_STORE without GPC_FLAG_BYTES: added
     * to the index, modulo 2^32 */
    uint32_t target;
    uint32_t reconverge; /* instruction number */
    uint16_t line;       /* source line, relative to the kernel's first line */
    uint16_t file;       /* 0; of an inlined device function: index of its source in the program's list */
} gpc_instruction_t;

_Static_assert(sizeof(gpc_instruction_t) == 32, "the encoding is 32 bytes");

enum { GPC_BARRIER_WORDS = 4 };

typedef struct {
    const gpc_instruction_t *instructions; /* borrowed during a launch call, copied by it */
    uint32_t count;
    uint16_t vector_registers;
    uint16_t spilled_registers; /* of these, those that do not count against a core's register file */
    uint16_t uniform_registers;
    uint32_t shared_words;  /* scratchpad per block */
    uint16_t barrier_words; /* of these, those that barriers reduce in, which do not count: GPC_BARRIER_WORDS at most */
    uint32_t constants;     /* words of the constant bank */
    uint32_t buffers;       /* buffer slots */
    bool independent_lanes; /* lanes of a warp that wait for each other make progress: see core/lanes.h */
} gpc_program_t;

#endif

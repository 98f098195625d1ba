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
 * uniform or constant (validated).
 */
#ifndef GPC_CORE_ISA_H
#define GPC_CORE_ISA_H

#include "base/atomics.h"
#include "base/rules.h"
#include "base/types.h"

/* X(name, operands, text). Operands: d destination, a b c sources, i immediate, t branch target and reconvergence
 * point; gpc_program_validate checks them. */
#define GPC_OPCODES(X)                                                                                   \
    X(NOP, "", "no operation")                                                                           \
    X(MOVE, "da", "d = a")                                                                               \
    X(LANES, "di", "d[lane] = constant[immediate + lane]; for programs that differ by lane")             \
    X(SELECT, "dabc", "d = a != 0 ? b : c")                                                              \
    X(ADD, "dab", "d = a + b, wraps")                                                                    \
    X(SUB, "dab", "d = a - b, wraps")                                                                    \
    X(MUL, "dab", "d = a * b, wraps")                                                                    \
    X(DIV, "dab", "i32 u32: floor division as in Python, x // 0 = 0, INT_MIN // -1 = INT_MIN; f32: a / b") \
    X(FLOORDIV, "dab", "f32: floor of the exact quotient, as in Python; a // 0 = a / 0; i32 u32: as DIV")  \
    X(MOD, "dab", "sign of the divisor, as in Python; i32 u32: x % 0 = 0; f32: exact but for one rounding") \
    X(NEG, "da", "d = -a, wraps")                                                                        \
    X(ABS, "da", "d = |a|; |INT_MIN| = INT_MIN")                                                         \
    X(MIN, "dab", "minimum; f32: b where a is NaN, a where b is NaN")                                    \
    X(MAX, "dab", "maximum; f32: b where a is NaN, a where b is NaN")                                    \
    X(AND, "dab", "bitwise and")                                                                         \
    X(OR, "dab", "bitwise or")                                                                           \
    X(XOR, "dab", "bitwise exclusive or")                                                                \
    X(NOT, "da", "bitwise complement")                                                                   \
    X(SHL, "dab", "shift left; b is unsigned, 32 and more give 0")                                       \
    X(SHR, "dab", "shift right, i32 arithmetic, u32 logical; 32 and more give the sign (i32) or 0 (u32)") \
    X(SQRT, "da", "f32, correctly rounded")                                                              \
    X(EXP, "da", "f32, within 2 ulp")                                                                    \
    X(LOG, "da", "f32, within 2 ulp")                                                                    \
    X(SIN, "da", "f32, within 2 ulp")                                                                    \
    X(COS, "da", "f32, within 2 ulp")                                                                    \
    X(FLOOR, "da", "f32, round towards minus infinity")                                                  \
    X(CONVERT, "da", "a of `type` to `flags` & GPC_FLAG_TO_MASK; f32 to integer truncates and saturates, NaN gives 0") \
    X(EQ, "dab", "d = a == b ? 1 : 0")                                                                   \
    X(NE, "dab", "d = a != b ? 1 : 0")                                                                   \
    X(LT, "dab", "d = a < b ? 1 : 0")                                                                    \
    X(LE, "dab", "d = a <= b ? 1 : 0")                                                                   \
    X(GT, "dab", "d = a > b ? 1 : 0")                                                                    \
    X(GE, "dab", "d = a >= b ? 1 : 0")                                                                   \
    X(SPECIAL, "di", "d = special register `immediate` (gpc_special_t)")                                 \
    X(BRANCH, "at", "lanes with a != 0 (GPC_FLAG_IF_ZERO: a == 0) go to target and reconverge at reconverge") \
    X(JUMP, "t", "all active lanes go to target")                                                        \
    X(EXIT, "", "ends the active lanes")                                                                 \
    X(LOAD, "da", "d = buffer[immediate][a], width words from a into d, d+1 ..; or an element of `bytes`; order, scope") \
    X(STORE, "ab", "buffer[immediate][a] = b (b, b+1 .. by width); or an element of `bytes`; order, scope") \
    X(ATOMIC, "dabc", "d = old value of buffer[immediate][a]; operation in flags (gpc_atomic_t), operand b, new value c (CAS); order, scope; d may be GPC_OPERAND_NONE") \
    X(SHARED_LOAD, "da", "d = element a of the scratchpad from word `immediate` on; b = GPC_OPERAND_NONE or constant: the array's elements, checked") \
    X(SHARED_STORE, "ab", "element a of the scratchpad from word `immediate` on = b; c: like b of SHARED_LOAD") \
    X(SHARED_ATOMIC, "dabc", "ATOMIC on scratchpad[immediate + a], in lane order; target: the array's words, checked, 0: unknown") \
    X(LOCAL_LOAD, "dab", "d = vector register (immediate + a) of this lane; constant b: bound of a, checked") \
    X(LOCAL_STORE, "abc", "vector register (immediate + a) of this lane = b; constant c: bound of a, checked") \
    X(FENCE, "", "memory fence of order and scope")                                                      \
    X(BARRIER, "ab", "arrives and waits at named barrier a (0..15) for b threads (GPC_OPERAND_NONE: the block); a and b uniform or constant; order acq_rel: with a release and an acquire part of its scope") \
    X(BARRIER_ARRIVE, "ab", "arrives at a barrier without waiting; operands as BARRIER, order weak")                 \
    X(SLEEP, "a", "suspends the warp for the largest a of its active lanes, core cycles")                \
    X(ANY, "da", "d = 1 if a != 0 in any active lane")                                                   \
    X(ALL, "da", "d = 1 if a != 0 in every active lane")                                                 \
    X(BALLOT, "da", "bit l of d: a != 0 in active lane l (lanes 0..31; with 64 lanes GPC_FLAG_HIGH gives 32..63)") \
    X(SHUFFLE, "dab", "d = a of lane (b mod lanes); of an inactive lane: its register's present value") \
    X(ASSERT, "ai", "ends the launch with an error if a == 0 in an active lane; immediate: number of the host's text") \
    X(PRINT, "ai", "records a of every active lane for the host; immediate: number of the host's text")

typedef enum {
#define X(name, operands, text) GPC_OP_##name,
    GPC_OPCODES(X)
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
#define GPC_FLAG_HIGH 0x0020u    /* BALLOT */
#define GPC_FLAG_FLAT 0x0040u    /* LOAD STORE ATOMIC: a and a+1 hold a 64-bit byte address, low word first; no buffer, no bounds */
#define GPC_FLAG_ATOMIC_SHIFT 8u /* ATOMIC, SHARED_ATOMIC: gpc_atomic_t in bits 8..11 */

/* One instruction, 32 bytes, little-endian, in this order of fields: Python packs it as "<BBBBBBHHHHHIIIHH". */
typedef struct {
    uint8_t opcode;
    uint8_t type;  /* gpc_type_t of the operation */
    uint8_t order; /* gpc_memory_order_t */
    uint8_t scope; /* gpc_scope_t */
    uint8_t width; /* words per lane of LOAD and STORE: 1, 2 or 4; else 1 */
    uint8_t
        bytes; /* of the elements of LOAD, STORE, SHARED_LOAD and SHARED_STORE: 1, 2 (loads of I32 extend the sign); 0: words */
    uint16_t flags;
    uint16_t destination;
    uint16_t a, b, c;
    uint32_t immediate;
    uint32_t target;     /* instruction number; SHARED_ATOMIC: bound of the index */
    uint32_t reconverge; /* instruction number */
    uint16_t line;       /* source line, relative to the kernel's first line */
    uint16_t file;       /* 0; of an inlined device function: index of its source in the program's list */
} gpc_instruction_t;

_Static_assert(sizeof(gpc_instruction_t) == 32, "the encoding is 32 bytes");

typedef struct {
    const gpc_instruction_t *instructions; /* borrowed during a launch call, copied by it */
    uint32_t count;
    uint16_t vector_registers;
    uint16_t uniform_registers;
    uint32_t shared_words; /* scratchpad per block */
    uint32_t constants;    /* words of the constant bank */
    uint32_t buffers;      /* buffer slots */
} gpc_program_t;

#endif

/* programs.h: instructions by hand. A file's OP says what ROW is in it: an initialiser, or a value.
 *
 *     OP(ADD, V | 1, V | 0, C1)              operation, destination, operands a and b
 *     OP(STORE, NONE, V | 0, V | 1, .line = 3)    and further fields
 */
#ifndef GPC_TESTS_PROGRAMS_H
#define GPC_TESTS_PROGRAMS_H

#include "core/isa.h"

#define NONE GPC_OPERAND_NONE
#define ROW(...) ROW_(__VA_ARGS__, .bytes = 0)
#define ROW_(name, d, x, y, ...)                                                                                       \
    {                                                                                                                  \
        .opcode = GPC_OP_##name, .scope = GPC_SCOPE_GPU, .width = 1, .destination = (uint16_t) (d),                    \
        .a = (uint16_t) (x), .b = (uint16_t) (y), __VA_ARGS__                                                          \
    }

#define MOVE(d, x) OP(MOVE, d, x, NONE)
#define READ(d, which) OP(SPECIAL, d, NONE, NONE, .immediate = GPC_SPECIAL_##which)
#define LOAD(d, at) OP(LOAD, d, at, NONE)
#define STORE(at, what) OP(STORE, NONE, at, what)
#define ATOMIC_ADD(d, at, what)                                                                                        \
    OP(ATOMIC, d, at, what, .order = GPC_ORDER_RELAXED, .flags = GPC_ATOMIC_ADD << GPC_FLAG_ATOMIC_SHIFT)
#define FENCE_SC OP(FENCE, NONE, NONE, NONE, .order = GPC_ORDER_SC)
#define TO(pc) OP(JUMP, NONE, NONE, NONE, .target = (pc))
#define IF(condition, to, join) OP(BRANCH, NONE, condition, NONE, .target = (to), .reconverge = (join))
#define NOP OP(NOP, NONE, NONE, NONE)
#define EXIT OP(EXIT, NONE, NONE, NONE)

#endif

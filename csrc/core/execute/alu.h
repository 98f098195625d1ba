/* alu.h: what the arithmetic instructions compute, lane by lane, without any state. */
#ifndef GPC_CORE_EXECUTE_ALU_H
#define GPC_CORE_EXECUTE_ALU_H

#include "core/isa.h"

#define GPC_ALU_LANES 32u /* lanes of one call: a warp is one or two of them */

/* One lane; operands that the operation does not have are ignored. */
typedef uint32_t (*gpc_alu_one_t)(uint32_t a, uint32_t b, uint32_t c);
/* GPC_ALU_LANES lanes at once, active or not: defined for every word. result overlaps no operand. */
typedef void (*gpc_alu_all_t)(uint32_t *restrict result, const uint32_t *a, const uint32_t *b, const uint32_t *c);

typedef struct {
    gpc_alu_one_t one;
    gpc_alu_all_t all;
} gpc_alu_t;

/* one = NULL where the opcode is no arithmetic or not for that type. flags: of a CONVERT, its destination type.
 *
 * A NaN that arithmetic makes is always 0x7FC00000: which operand's payload survives differs between machines and compilers. */
gpc_alu_t gpc_alu_find(uint8_t opcode, uint8_t type, uint16_t flags);

#endif

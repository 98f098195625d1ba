/* alu.h: what the arithmetic instructions compute, lane by lane, without any state. */
#ifndef GPC_CORE_EXECUTE_ALU_H
#define GPC_CORE_EXECUTE_ALU_H

#include "core/decoded.h"

/* one = NULL where the opcode is no arithmetic or not for that type. flags: of a CONVERT, its destination type.
 *
 * A NaN that arithmetic makes is always 0x7FC00000: which operand's payload survives differs between machines and compilers. */
gpc_alu_t gpc_alu_find(uint8_t opcode, uint8_t type, uint16_t flags);

#endif

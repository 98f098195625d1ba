/* alu.h: the arithmetic functions of the instruction set; stateless. */
#ifndef GPC_CORE_EXECUTE_ALU_H
#define GPC_CORE_EXECUTE_ALU_H

#include "core/decoded.h"

/* one = NULL if the opcode is not arithmetic or not defined for the type. flags: the destination type of a CONVERT.
 *
 * An arithmetic NaN is always 0x7FC00000, because the payload that survives differs between hosts and compilers. */
gpc_alu_t gpc_alu_find(uint8_t opcode, uint8_t type, uint16_t flags, bool wide);
/* Whether the host has vectors of eight words, for `wide`: the same results by fewer of its instructions. */
bool gpc_alu_host_is_wide(void);

#endif

"""The instruction set of csrc/core/isa.h: names in order, flags, packing.

The operations are those of operations.def, which the core reads too. Tests compare every list with the header and with
the built core.
"""

from __future__ import annotations

import re
import struct
from pathlib import Path

# An operation of operations.def, which the C core reads too.
_OPERATION = re.compile(r'^X\((\w+), "\w*", (\w+), \w+, ".*"\)$', re.MULTILINE)
_TEXT = Path(__file__).with_name("operations.def").read_text(encoding="utf-8")
#: Operation -> the group of its function in the core.
GROUPS: dict[str, str] = dict(_OPERATION.findall(_TEXT))
OPCODE_NAMES = list(GROUPS)
TYPE_NAMES = ["I32", "U32", "F32"]
ATOMIC_NAMES = ["ADD", "SUB", "MIN", "MAX", "AND", "OR", "XOR", "EXCH", "CAS"]
SPECIAL_NAMES = [
    "THREAD_X",
    "THREAD_Y",
    "THREAD_Z",
    "BLOCK_X",
    "BLOCK_Y",
    "BLOCK_Z",
    "BLOCK_DIM_X",
    "BLOCK_DIM_Y",
    "BLOCK_DIM_Z",
    "GRID_DIM_X",
    "GRID_DIM_Y",
    "GRID_DIM_Z",
    "LANE",
    "WARP",
    "CORE",
    "CLOCK",
]
ORDER_NAMES = ["WEAK", "RELAXED", "ACQUIRE", "RELEASE", "ACQ_REL", "SC"]
SCOPE_NAMES = ["CTA", "CU", "GPU", "SYS"]

OPCODES = {name: number for number, name in enumerate(OPCODE_NAMES)}
TYPES = {name: number for number, name in enumerate(TYPE_NAMES)}
ATOMICS = {name: number for number, name in enumerate(ATOMIC_NAMES)}
SPECIALS = {name: number for number, name in enumerate(SPECIAL_NAMES)}
ORDERS = {name: number for number, name in enumerate(ORDER_NAMES)}
SCOPES = {name: number for number, name in enumerate(SCOPE_NAMES)}

OPERAND_VECTOR = 0x0000
OPERAND_UNIFORM = 0x4000
OPERAND_CONSTANT = 0x8000
OPERAND_KIND = 0xC000
OPERAND_NUMBER = 0x3FFF
OPERAND_NONE = 0xFFFF

FLAG_TO_MASK = 0x0003
FLAG_IF_ZERO = 0x0010
FLAG_HIGH = 0x0020
FLAG_FLAT = 0x0040
FLAG_ATOMIC_SHIFT = 8

#: One instruction: opcode type order scope width spare flags destination a b c immediate target reconverge line file.
FORMAT = "<BBBBBBHHHHHIIIHH"
PACKING = struct.Struct(FORMAT)

"""The instruction set of csrc/core/isa.h: names in order, flags, packing.

The operations are those of operations.def and extended.def, which the core reads too. Tests compare every list with the
header and with the built core.
"""

from __future__ import annotations

import re
import struct
from collections import namedtuple
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# An operation of operations.def, which the C core reads too.
_OPERATION = re.compile(r'^X\((\w+), "\w*", (\w+), \w+, ".*"\)$', re.MULTILINE)
_TEXT = Path(__file__).with_name("operations.def").read_text(encoding="utf-8")
#: Operation -> the group of its function in the core.
GROUPS: dict[str, str] = dict(_OPERATION.findall(_TEXT))
OPCODE_NAMES = list(GROUPS)


@dataclass(frozen=True)
class Row:
    """A row of extended.def: an operation of the opcode EXTENDED.

    Attributes
    ----------
    number : int
        ``immediate`` of its instructions.
    d, a, b, c : int
        Words of the result and of each operand: 1, 2, or 0 if the row has no such operand.
    unit : str
        What it occupies: NONE, SPECIAL, DIVISION or F64.
    takes_flags : bool
        Whether its instructions may round otherwise, flush subnormals or saturate.
    """

    number: int
    d: int
    a: int
    b: int
    c: int
    unit: str
    takes_flags: bool

    @property
    def words(self) -> tuple[int, ...]:
        """Words of the operands that there are, in order."""
        return tuple(words for words in (self.a, self.b, self.c) if words)


_MACRO = re.compile(r"^#define (\w+)\((.*)\)((?: \\\n    .*?)+)$", re.MULTILINE)
_ROW = re.compile(
    r"^ *(WORD|FLOAT|WIDE|WIDE_FLOAT)\((\w+), (\d), (\d), (\d), (\d), (\w+), ", re.MULTILINE
)


def _expanded(text: str) -> str:
    """The rows of extended.def, its families of rows written out."""
    for name, parameters, body in _MACRO.findall(text):

        def rows(call: re.Match[str], names: str = parameters, body: str = body) -> str:
            for parameter, given in zip(names.split(", "), call[1].split(", "), strict=True):
                body = re.sub(rf"(##)?\b{parameter}\b", given, body)
            return body

        text = re.sub(rf"^{name}\((.*)\)$", rows, text, flags=re.MULTILINE)
    return text.partition("#endif")[2]


_ROWS = _ROW.findall(
    _expanded(Path(__file__).with_name("extended.def").read_text(encoding="utf-8"))
)
#: Name -> row of extended.def, in its order.
EXTENDED: dict[str, Row] = {
    name: Row(k, int(d), int(a), int(b), int(c), unit, kind.endswith("FLOAT"))
    for k, (kind, name, d, a, b, c, unit) in enumerate(_ROWS)
}
EXTENDED_NAMES = list(EXTENDED)
EXTENDED_ROWS = list(EXTENDED.values())
TYPE_NAMES = ["I32", "U32", "F32"]
ATOMIC_NAMES = ["ADD", "SUB", "MIN", "MAX", "AND", "OR", "XOR", "EXCH", "CAS", "INC", "DEC"]
SPECIAL_NAMES = [
    *(f"{what}_{axis}" for what in ("THREAD", "BLOCK", "BLOCK_DIM", "GRID_DIM") for axis in "XYZ"),
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
FLAG_BYTES = 0x0080
FLAG_SHUFFLE_SHIFT = 12
FLAG_SHUFFLE_MODE = 0x7000
SHUFFLES = {"ANY": 0, "UP": 1, "DOWN": 2, "BFLY": 3, "IDX": 4}
#: Upper words of addresses in the block's scratchpad, and in the thread's local memory; the lower one is a byte.
SHARED_WINDOW = 0x70000000
LOCAL_WINDOW = 0x70000001
FLAG_ROUND_MASK = 0x0003
FLAG_FTZ = 0x0004
FLAG_SAT = 0x0008
#: Rounding mode -> bits of FLAG_ROUND_MASK: to nearest even, towards zero, minus infinity, plus infinity.
ROUNDINGS = {"RN": 0, "RZ": 1, "RM": 2, "RP": 3}
FLAG_ATOMIC_SHIFT = 8

#: One instruction.
Fields = namedtuple(
    "Fields",
    "opcode type order scope width bytes flags destination a b c immediate target join line file",
)
PACKING = struct.Struct("<BBBBBBHHHHHIIIHH")


def unpacked(code: bytes) -> Iterator[Fields]:
    """The instructions of machine code."""
    return map(Fields._make, PACKING.iter_unpack(code))

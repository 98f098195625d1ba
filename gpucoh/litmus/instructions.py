"""Parser of one instruction of a litmus thread. It rejects by name what the simulator does not model."""

from __future__ import annotations

import re
from typing import Any

from gpucoh.base.quoting import quoted
from gpucoh.litmus.syntax import Instruction, UnsupportedError, Value, read_number

ORDERS = {
    "weak": "WEAK",
    "relaxed": "RELAXED",
    "acquire": "ACQUIRE",
    "release": "RELEASE",
    "acq_rel": "ACQ_REL",
    "sc": "SC",
}
SCOPES = {"cta": "CTA", "cu": "CU", "gpu": "GPU", "sys": "SYS"}
# The old fences equal new ones of order sc.
MEMBAR_SCOPES = {"cta": "CTA", "gl": "GPU", "gpu": "GPU", "sys": "SYS"}
#: Types of values, and their bits.
TYPES = {"b32": 32, "u32": 32, "s32": 32, "b64": 64, "u64": 64, "s64": 64, "f64": 64}
ATOMICS = {"add", "sub", "min", "max", "and", "or", "xor", "exch", "cas"}
ARITHMETIC = {"add", "sub", "mul", "and", "or", "xor", "min", "max"}
BRANCHES = {"beq": "==", "bne": "!=", "blt": "<", "bgt": ">", "ble": "<=", "bge": ">="}
# The orders that are allowed; ld.release and st.acquire are not.
FITTING = {
    "ld": {"WEAK", "RELAXED", "ACQUIRE", "SC"},
    "st": {"WEAK", "RELAXED", "RELEASE", "SC"},
    "atom": {"WEAK", "RELAXED", "ACQUIRE", "RELEASE", "ACQ_REL", "SC"},
    "fence": {"ACQUIRE", "RELEASE", "ACQ_REL", "SC"},
}
NOT_MODELLED = {
    "tld": "the texture proxy",
    "suld": "the surface proxy",
    "sust": "the surface proxy",
    "suatom": "the surface proxy",
    "sured": "the surface proxy",
    "cold": "the constant proxy",
    "cp": "asynchronous copies",
    "mbarrier": "mbarrier objects",
    "div": "division, whose rounding differs between languages",
    "vote": "warp votes: a litmus thread is a warp",
    "shfl": "shuffles: a litmus thread is a warp",
    "redux": "warp reductions: a litmus thread is a warp",
    "elect": "warp elections: a litmus thread is a warp",
    "multimem": "multimem addresses",
}
REGISTER = re.compile(r"%?r\d+|%[A-Za-z_]\w*")
NAME = re.compile(r"[A-Za-z_]\w*")
INDEXED = re.compile(rf"(?P<name>{NAME.pattern})\[(?P<register>{REGISTER.pattern})\]")
OFFSET = re.compile(rf"(?P<name>{NAME.pattern})\s*\+\s*(?P<bytes>\d+)")
# PTX writes the bits of an f64 as 0d and 16 digits.
NUMBER = re.compile(r"0[dD][0-9a-fA-F]{16}|[-+]?(0[xX][0-9a-fA-F]+|\d+)[uU]?")


class Cell:
    """The parts of one instruction's text.

    Parameters
    ----------
    text : str
        The text in its column, without label.
    line : int
        Line of the file, from 1.
    """

    def __init__(self, text: str, line: int) -> None:
        self.line = line
        self.text = " ".join(text.split())
        mnemonic, _, rest = self.text.partition(" ")
        self.parts = mnemonic.split(".")
        self.operands = [item.strip() for item in rest.split(",")] if rest.strip() else []

    def fail(self, what: str) -> UnsupportedError:
        """The error for an unsupported part."""
        return UnsupportedError(f"{quoted(self.text)}: {what}", self.line)

    def count(self, *allowed: int) -> None:
        """Check the number of operands."""
        if len(self.operands) not in allowed:
            wanted = " or ".join(str(item) for item in allowed)
            raise self.fail(f"{len(self.operands)} operands where {wanted} are expected")

    def register(self, index: int) -> str:
        """The operand as a register."""
        name = self.operands[index]
        if not REGISTER.fullmatch(name):
            raise self.fail(f"{quoted(name)} is not a register (r0, r1, ..)")
        return name.lstrip("%")

    def value(self, index: int) -> Value:
        """The operand as a number or register."""
        text = self.operands[index]
        if NUMBER.fullmatch(text):
            return read_number(text, self.line)
        return self.register(index)

    @property
    def bits(self) -> int:
        """The width of its type; 0 without one."""
        return next((TYPES[part] for part in self.parts if part in TYPES), 0)

    @property
    def is_unsigned(self) -> bool:
        """Whether its type is of unsigned numbers."""
        return bool({"u32", "u64"} & set(self.parts))

    def location(self, index: int) -> tuple[str, str | None, int | None]:
        """The operand as a location, with or without brackets.

        With the register on which its address depends, and the number of the word that it names, if any.
        """
        name = self.operands[index]
        indexed = INDEXED.fullmatch(name)
        if indexed:
            return indexed["name"], indexed["register"].lstrip("%"), None
        if name.startswith("[") and name.endswith("]"):
            name = name[1:-1].strip()
        offset = OFFSET.fullmatch(name)
        if offset:
            if offset["bytes"] not in ("0", "4"):
                raise self.fail("a location has a word at offset 0, and one of 64 bits at offset 4")
            return offset["name"], None, int(offset["bytes"]) // 4
        if REGISTER.fullmatch(name):
            raise self.fail(f"{quoted(name)}: addresses in registers are not modelled")
        if not NAME.fullmatch(name):
            raise self.fail(f"{quoted(name)} is not a location")
        return name, None, None

    def made(self, op: str, **fields: Any) -> Instruction:
        """The instruction, with the width of its type."""
        return Instruction(op=op, line=self.line, **({"bits": self.bits} | fields))

    def access(self, op: str, how: tuple[str, str], at: int, **fields: Any) -> Instruction:
        """An access of this order and scope to the location that an operand names."""
        location, index, word = self.location(at)
        place = {"location": location, "index": index, "word": word}
        return self.made(op, order=how[0], scope=how[1], **place, **fields)

    def ordered(self, scope: str, kind: str) -> tuple[str, str]:
        """Order and scope of an instruction without further qualifiers."""
        order = "ACQ_REL" if kind == "fence" else "WEAK"
        order, scope, left = self.qualifiers(self.parts[1:], order, scope, kind)
        if left:
            raise self.fail(f".{left[0]} is not modelled")
        return order, scope

    def qualifiers(
        self, parts: list[str], order: str, scope: str, kind: str
    ) -> tuple[str, str, list[str]]:
        """Order, scope and the remaining qualifiers of a memory instruction."""
        left = []
        seen: set[str] = set()
        for part in parts:
            if part in ORDERS:
                order = ORDERS[part]
                seen.add("order")
            elif part in SCOPES:
                scope = SCOPES[part]
                seen.add("scope")
            elif part == "volatile":
                order, scope = "RELAXED", "SYS"
            elif part not in TYPES and part != "global":
                left.append(part)
        if order not in FITTING[kind]:
            raise self.fail(f"order {order.lower()} does not fit {kind}")
        return order, scope, left


def read_instruction(cell: Cell, labels: dict[str, int]) -> Instruction:
    """Parse one instruction.

    Parameters
    ----------
    cell : Cell
    labels : dict
        Label -> index of the instruction after it.

    Raises
    ------
    UnsupportedError
        With the line, for an unsupported or unknown instruction.
    """
    head = cell.parts[0]
    if head in NOT_MODELLED:
        raise cell.fail(f"{NOT_MODELLED[head]} is not modelled")
    if head.startswith("@"):
        raise cell.fail("predicated instructions are not modelled: use a branch")
    if head in ("ld", "st"):
        return _load(cell) if head == "ld" else _store(cell)
    if head in ("atom", "red"):
        return _atomic(cell)
    if head in ("fence", "membar"):
        return _fence(cell)
    if head in ("bar", "barrier"):
        return _barrier(cell)
    if head in ("mov", *ARITHMETIC):
        return _arithmetic(cell)
    if head in BRANCHES or head in ("goto", "bra"):
        return _branch(cell, labels)
    raise cell.fail("unsupported instruction")


def _load(cell: Cell) -> Instruction:
    cell.count(2)
    how, dest, source = cell.ordered("SYS", "ld"), cell.register(0), cell.operands[1]
    if NUMBER.fullmatch(source) or REGISTER.fullmatch(source):
        return cell.made("move", dest=dest, values=(cell.value(1),))
    return cell.access("ld", how, 1, dest=dest)


def _store(cell: Cell) -> Instruction:
    cell.count(2)
    how = cell.ordered("SYS", "st")
    return cell.access("st", how, 0, values=(cell.value(1),))


def _atomic(cell: Cell) -> Instruction:
    reduces = cell.parts[0] == "red"
    order, scope, left = cell.qualifiers(cell.parts[1:], "RELAXED", "GPU", "atom")
    if len(left) != 1 or left[0] not in ATOMICS or (reduces and left[0] in ("exch", "cas")):
        raise cell.fail(f"the operation is none of {', '.join(sorted(ATOMICS))}")
    function = left[0]
    if "f64" in cell.parts:
        if function != "add":
            raise cell.fail("the one atomic operation of .f64 is add")
        function = "fadd"
    if function in ("min", "max") and cell.is_unsigned:
        raise cell.fail("unsigned min and max are not supported")
    first = 0 if reduces else 1
    cell.count(first + (3 if function == "cas" else 2))
    return cell.access(
        "atom",
        (order, scope),
        first,
        dest=None if reduces else cell.register(0),
        function=function.upper(),
        values=tuple(cell.value(index) for index in range(first + 1, len(cell.operands))),
    )


def _fence(cell: Cell) -> Instruction:
    cell.count(0)
    parts = cell.parts[1:]
    if "proxy" in parts:
        raise cell.fail("proxies are not modelled")
    if cell.parts[0] == "membar":
        if len(parts) != 1 or parts[0] not in MEMBAR_SCOPES:
            raise cell.fail("membar is followed by one of " + ", ".join(MEMBAR_SCOPES))
        return cell.made("fence", order="SC", scope=MEMBAR_SCOPES[parts[0]], bits=32)
    order, scope = cell.ordered("", "fence")
    if not scope:
        raise cell.fail("a fence names its scope: cta, gpu or sys")
    return cell.made("fence", order=order, scope=scope, bits=32)


def _barrier(cell: Cell) -> Instruction:
    parts = [part for part in cell.parts[1:] if part != "aligned"]
    in_cta = "cta" in parts
    parts = [part for part in parts if part != "cta"]
    if parts not in (["sync"], ["arrive"]):
        raise cell.fail("barriers are bar.cta.sync and bar.cta.arrive")
    if not in_cta and len(cell.operands) > 1:
        raise cell.fail(
            "the second operand of PTX's own bar is a number of threads: write bar.cta.sync I, B, N"
        )
    cell.count(1, 2, 3)
    values = [cell.value(index) for index in range(len(cell.operands))]
    # One operand names the instruction and the barrier; of two or three the second is the barrier.
    values = values if len(values) == 1 else values[1:]
    return cell.made("bar", function=parts[0], values=tuple(values), bits=32)


def _arithmetic(cell: Cell) -> Instruction:
    if any(part not in TYPES and part != "lo" for part in cell.parts[1:]):
        raise cell.fail("only integers of 32 and 64 bits are modelled")
    if "f64" in cell.parts and cell.parts[0] != "mov":
        raise cell.fail("of .f64 only atom.add and moves are modelled")
    if cell.parts[0] == "mov":
        cell.count(2)
        return cell.made("move", dest=cell.register(0), values=(cell.value(1),))
    cell.count(3)
    if cell.parts[0] in ("min", "max") and cell.is_unsigned:
        raise cell.fail("unsigned min and max are not supported")
    values = cell.value(1), cell.value(2)
    return cell.made("alu", dest=cell.register(0), function=cell.parts[0].upper(), values=values)


def _branch(cell: Cell, labels: dict[str, int]) -> Instruction:
    jumps = cell.parts[0] in ("goto", "bra")
    if len(cell.parts) > 1 and cell.parts[1:] != ["uni"]:
        raise cell.fail("unsupported instruction")
    cell.count(1 if jumps else 3)
    label = cell.operands[-1]
    if label not in labels:
        raise cell.fail(f"there is no label {quoted(label)} in this thread")
    if jumps:
        return cell.made("jump", target=labels[label], bits=32)
    values = cell.value(0), cell.value(1)
    return cell.made(
        "branch", function=BRANCHES[cell.parts[0]], values=values, target=labels[label], bits=0
    )

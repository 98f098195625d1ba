"""Constant parts of scratchpad indices, which the instruction adds: ``tile[t + 5]`` and ``tile[t]`` share an index.

An index is a sum of products of registers and constants, modulo 2**32. Accesses whose indices differ by a constant take
one register and an offset each, as GPU compilers do.
"""

from __future__ import annotations

import sys

from gpucoh.lang import flow, isa
from gpucoh.lang.ir import (
    Argument,
    Block,
    Constant,
    Function,
    Instruction,
    Operand,
    Place,
    Register,
)
from gpucoh.lang.types import F32, I32

_MASK = 0xFFFFFFFF
_Term = Register | Argument
_Form = tuple[
    frozenset[tuple[_Term, int]], int
]  # factors of registers and arguments, and the constant


def split_offsets(function: Function) -> None:
    """Move constants of scratchpad indices to the instructions."""
    forms = Forms(function)
    groups: dict[frozenset[tuple[_Term, int]], list[tuple[Instruction, int]]] = {}
    for block in function.blocks:
        for instruction in block.instructions:
            index = instruction.sources[0] if instruction.sources else None
            if (
                instruction.op in ("SHARED_LOAD", "SHARED_STORE")
                and not instruction.flags & isa.FLAG_BYTES
                and isinstance(index, Register)
            ):
                terms, constant = forms.of(index)
                groups.setdefault(terms, []).append((instruction, constant))
    for terms, accesses in groups.items():
        if not terms or len({instruction.sources[0] for instruction, _ in accesses}) <= _cost(
            terms
        ):
            continue
        base = forms.base(terms)
        for instruction, constant in accesses:
            instruction.sources[0] = base
            instruction.offset = (instruction.offset + constant) & _MASK


def _cost(terms: frozenset[tuple[_Term, int]]) -> int:
    """Instructions that compute the terms' sum."""
    negative = all(factor == _MASK for _, factor in terms)
    return len(terms) - 1 + negative + sum(factor not in (1, _MASK) for _, factor in terms)


class Forms:
    """The indices of a function as sums, of at most ``most`` terms each."""

    def __init__(self, function: Function, most: int = sys.maxsize) -> None:
        self.function = function
        self.most = most
        self.definitions = function.definitions()
        self.known: dict[Register, _Form] = {}
        self.blocks = function.blocks
        number = {block: k for k, block in enumerate(self.blocks)}
        before = flow.predecessors(function)
        sets = flow.dominator_sets(
            self.blocks, 0, lambda k: [number[p] for p in before[self.blocks[k]]]
        )
        self.number = number
        self.dominators = {block: sets[k] for block, k in number.items()}

    def of(self, register: Register) -> _Form:
        """The register's sum; one of which an operand may change meanwhile is itself a term."""
        found = self.known.get(register)
        if found is None:
            self.known[register] = frozenset({(register, 1)}), 0  # if it depends on itself
            found = self._defined(register)
            if len(found[0]) > self.most:
                found = frozenset({(register, 1)}), 0
            self.known[register] = found
        return found

    def _single(self, operand: Operand | None) -> bool:
        return not isinstance(operand, Register) or len(self.definitions.get(operand, ())) == 1

    def _operand(self, operand: Operand) -> _Form:
        if isinstance(operand, Constant):
            return frozenset(), operand.bits
        if isinstance(operand, Register):
            return self.of(operand)
        return frozenset({(operand, 1)}), 0

    def _defined(self, register: Register) -> _Form:
        itself: _Form = frozenset({(register, 1)}), 0
        places = self.definitions.get(register, [])
        if len(places) != 1:
            return itself
        instruction = places[0][1]
        operands = instruction.sources
        if (
            instruction.op not in ("ADD", "SUB", "MUL", "SHL")
            or instruction.type.loaded is F32
            or not all(map(self._single, operands))
        ):
            return itself
        a, b = operands
        assert a is not None
        assert b is not None
        if instruction.op in ("ADD", "SUB"):
            return _sum(self._operand(a), self._operand(b), 1 if instruction.op == "ADD" else -1)
        if isinstance(a, Constant) and instruction.op == "MUL":
            a, b = b, a
        if not isinstance(b, Constant):
            return itself
        if instruction.op == "SHL":
            factor = 1 << b.bits if b.bits < 32 else 0
        else:
            factor = b.bits
        return _sum((frozenset(), 0), self._operand(a), factor)

    def base(self, terms: frozenset[tuple[_Term, int]]) -> Operand:
        """The sum of the terms, computed where the last of their registers is assigned."""
        ordered = sorted(terms, key=lambda term: (term[1] == _MASK, repr(term[0])))
        if len(ordered) == 1 and ordered[0][1] == 1:
            return ordered[0][0]
        block, at = self._last([term for term, _ in ordered if isinstance(term, Register)])
        place = block.instructions[at - 1].place if at else _place(block)
        added: list[Instruction] = []

        def emit(op: str, *sources: Operand) -> Register:
            register = self.function.new_register()
            added.append(Instruction(op, I32, register, list(sources), place))
            return register

        total: Operand | None = None
        for term, factor in ordered:
            if factor == _MASK:
                total = emit("SUB", Constant(0) if total is None else total, term)
                continue
            product = term if factor == 1 else emit("MUL", term, Constant(factor))
            total = product if total is None else emit("ADD", total, product)
        assert total is not None
        block.instructions[at:at] = added
        return total

    def _last(self, registers: list[Register]) -> tuple[Block, int]:
        """Where all of them are assigned: behind the assignment that the others dominate."""
        best = self.blocks[0], 0
        for register in registers:
            block, instruction = self.definitions[register][0]
            found = block, block.instructions.index(instruction) + 1
            if (self._depth(found[0]), found[1]) > (self._depth(best[0]), best[1]):
                best = found
        return best

    def _depth(self, block: Block) -> int:
        return self.dominators[block].bit_count()

    def dominates(self, one: Block, other: Block) -> bool:
        """Whether every path to the other block passes this one."""
        return bool(self.dominators[other] >> self.number[one] & 1)


def _place(block: Block) -> Place:
    """The source place of the block's begin."""
    assert block.terminator is not None
    return block.instructions[0].place if block.instructions else block.terminator.place


def _sum(a: _Form, b: _Form, factor: int) -> _Form:
    """``a + factor * b``."""
    terms = dict(a[0])
    for term, times in b[0]:
        terms[term] = (terms.get(term, 0) + factor * times) & _MASK
    return frozenset((t, f) for t, f in terms.items() if f), (a[1] + factor * b[1]) & _MASK

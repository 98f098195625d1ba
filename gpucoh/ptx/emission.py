"""Emission of the intermediate form for PTX: errors, branches, instructions of the core and rows of its table.

A value is a tuple of words, low one first: one of a type up to 32 bits, two of 64 bits. The two registers of a 64-bit
register form a group, so that they get adjacent numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from gpucoh.base.errors import KernelError
from gpucoh.lang import ir, isa
from gpucoh.lang.builder import Builder, Registers
from gpucoh.lang.ir import Argument, Block, Constant, Operand, Register
from gpucoh.lang.types import I32, U32, Element
from gpucoh.ptx.layout import Layout, symbol_words, takes_local_addresses
from gpucoh.ptx.module import Function, Module, Place, Statement, Variable, refuse

Words: TypeAlias = tuple[Operand, ...]


@dataclass(eq=False)
class Frame:
    """A function whose body is being lowered: the kernel, or one that is inlined."""

    function: Function
    registers: dict[str, Registers] = field(default_factory=dict)
    #: Of a call's parameters and results, `.param` variables: their bytes as words.
    parameters: dict[str, list[Register]] = field(default_factory=dict)
    local_at: dict[str, int] = field(default_factory=dict)
    labels: dict[str, Block] = field(default_factory=dict)
    end: Block | None = None  # where `ret` of an inlined function goes


class Emission(Builder):
    """Appends what a kernel of a module is lowered to: instructions, rows, branches, at the source's places."""

    def __init__(self, module: Module, kernel: Function, name: str) -> None:
        super().__init__(name)
        self.module = module
        self.kernel = kernel
        self.layout = Layout(module, kernel)
        self.files: dict[str, int] = {}
        self.frames = [Frame(kernel)]
        self.place = self.place_of(kernel.place)
        self.statement: Statement | None = None
        #: The operand that the only assignment of a register gives it: addresses of texts are found by it.
        self.origins: dict[Register, Operand] = {}
        self._assigned: set[Register] = set()
        self._variables: set[Register] = set()  # registers with several assignments
        #: The condition code's carry.
        self.carry = self.new()[0]
        #: Of reductions at barriers: which word is next, and what it and the other one held.
        self.reductions = self.new()[0], self.new()[0], self.new()[0]
        #: Of asynchronous copies: the places in shared memory, and the words that are to be stored there.
        self.copies: list[tuple[Any, Words]] = []
        #: Whether addresses of local memory become generic ones, so that any access may be to it.
        self.has_local_addresses = takes_local_addresses(module, kernel)

    # ---- errors, blocks --------------------------------------------------------------------------

    @property
    def frame(self) -> Frame:
        """The function being lowered."""
        return self.frames[-1]

    def refuse(self, why: str) -> KernelError:
        """An error at the present statement, which is quoted."""
        place = self.statement.place if self.statement else self.kernel.place
        text = f": PTX '{self.statement.text}'" if self.statement else ""
        return refuse(place, f"kernel '{self.function.name}'{text}: {why}")

    def unsupported(self, what: str = "the instruction") -> KernelError:
        """The error for what no handler lowers."""
        return self.refuse(f"{what} is not supported")

    def place_of(self, place: Place) -> ir.Place:
        """A source place in the intermediate form's terms."""
        return self.files.setdefault(place.file, len(self.files)), min(place.line, 0xFFFF)

    @contextmanager
    def when(self, condition: Operand, negated: bool) -> Iterator[None]:
        """Emit what follows for the threads whose condition is true, or false."""
        inside, after = self.new_block(), self.new_block()
        targets = (after, inside) if negated else (inside, after)
        self.split(condition, *targets)
        self.resume(inside)
        yield
        self.start(after)

    # ---- instructions ----------------------------------------------------------------------------

    def core(
        self, op: str, type: Element, *operands: Words, to: Registers | None = None
    ) -> Registers:
        """Append an operation on words of operations.def."""
        sources = tuple(word for operand in operands for word in operand[:1])
        return self.emit(op, type, self.new() if to is None else to[:1], sources)

    def row(
        self, name: str, *operands: Words, to: Registers | None = None, flags: int = 0
    ) -> Registers:
        """Append an operation of extended.def; operands are extended by zeros."""
        row = isa.EXTENDED.get(name)
        if row is None or len(operands) != len(row.words):
            raise self.unsupported()
        sources: list[Operand] = []
        for operand, words in zip(operands, (row.a, row.b, row.c), strict=False):
            sources += (*operand, Constant(0))[:words]
        to = self.new(row.d) if to is None else to[: row.d]
        return self.emit("EXTENDED", U32, to, tuple(sources), immediate=row.number, flags=flags)

    def move(self, to: Registers, value: Words) -> None:
        """Assign a value; upper words that it lacks become 0."""
        for k, register in enumerate(to):
            source = value[k] if k < len(value) else Constant(0)
            if register in self.origins or register in self._variables:
                self.origins.pop(register, None)
                self._variables.add(register)
            else:
                self.origins[register] = source
            self.emit("MOVE", U32, (register,), (source,))

    def copied(self, value: Words) -> Registers:
        """The value in registers of its own."""
        to = self.new(len(value))
        self.move(to, value)
        return to

    def origin(self, operand: Operand) -> Operand:
        """What single assignments copy to the register."""
        seen: set[Operand] = set()
        while isinstance(operand, Register) and operand in self.origins and operand not in seen:
            seen.add(operand)
            operand = self.origins[operand]
        return operand

    def special(self, name: str) -> Register:
        """A special register, read here."""
        type = U32 if name == "CLOCK" else I32
        return self.emit("SPECIAL", type, self.new(), (), immediate=isa.SPECIALS[name])[0]

    def global_address(self, variable: Variable) -> Words:
        """The address of a variable in global memory, which the launch gives."""
        self.layout.symbols[variable.name] = None
        return tuple(Argument(name) for name in symbol_words(variable.name))

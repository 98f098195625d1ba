"""Assembly of machine code: instructions with labels and constants, packed in the core's form."""

from __future__ import annotations

from dataclasses import dataclass, field

from gpucoh.lang import isa
from gpucoh.lang.program import Parameter, Program
from gpucoh.lang.types import U32

#: Buffers of every litmus program, by slot.
BUFFERS = ("parameters", "memory", "results")
PARAMETERS, MEMORY, RESULTS = range(3)
MOST_REGISTERS = 255


def uniform(number: int) -> int:
    """The operand of a uniform register."""
    return isa.OPERAND_UNIFORM | number


@dataclass
class Code:
    """Machine code under construction."""

    rows: list[list[int]] = field(default_factory=list)
    jumps: list[tuple[int, str]] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    words: list[int] = field(default_factory=list)
    constants: dict[int, int] = field(default_factory=dict)
    wide_constants: dict[int, int] = field(default_factory=dict)
    highest: int = 0
    line: int = 0
    made: int = 0

    def constant(self, value: int) -> int:
        """The operand for a number."""
        bits = value & 0xFFFFFFFF
        if bits not in self.constants:
            self.constants[bits] = len(self.words)
            self.words.append(bits)
        return isa.OPERAND_CONSTANT | self.constants[bits]

    def wide_constant(self, value: int) -> int:
        """The operand for a number of 64 bits: two words, the lower one first."""
        bits = value & 0xFFFFFFFFFFFFFFFF
        if bits not in self.wide_constants:
            self.wide_constants[bits] = len(self.words)
            self.words += [bits & 0xFFFFFFFF, bits >> 32]
        return isa.OPERAND_CONSTANT | self.wide_constants[bits]

    def label(self, name: str) -> None:
        """Place a label at the next instruction."""
        self.labels[name] = len(self.rows)

    def fresh(self, stem: str) -> str:
        """A new label."""
        self.made += 1
        return f"{stem}.{self.made}"

    def emit(
        self,
        op: str,
        d: int = isa.OPERAND_NONE,
        a: int = isa.OPERAND_NONE,
        b: int = isa.OPERAND_NONE,
        c: int = isa.OPERAND_NONE,
        *,
        immediate: int = 0,
        order: str = "WEAK",
        scope: str = "GPU",
        flags: int = 0,
        width: int = 1,
        type: str = "I32",
        target: str | None = None,
    ) -> None:
        """Emit one instruction; operands are those of :func:`uniform` and :meth:`constant`."""
        if target is not None:
            self.jumps.append((len(self.rows), target))
        if d != isa.OPERAND_NONE:
            self.highest = max(self.highest, (d & isa.OPERAND_NUMBER) + width)
        self.rows.append(
            [isa.OPCODES[op], isa.TYPES[type], isa.ORDERS[order], isa.SCOPES[scope], width, 0, flags, d, a, b, c,
             immediate, 0, 0, min(max(self.line - 1, 0), 0xFFFF), 0]
        )  # fmt: skip

    def branch(self, condition: int, target: str, *, if_zero: bool = False) -> None:
        """Branch to a label if the register is not zero (zero with ``if_zero``)."""
        self.emit("BRANCH", a=condition, flags=isa.FLAG_IF_ZERO if if_zero else 0, target=target)

    def jump(self, target: str) -> None:
        """Jump to a label."""
        self.emit("JUMP", target=target)

    def finish(self, name: str, source: str, lanes: int, shared_words: int) -> Program:
        """The program; its last instruction is the join of branches that never diverge."""
        self.label("end")
        self.emit("EXIT")
        end = self.labels["end"]
        for row, target in self.jumps:
            self.rows[row][12] = self.labels[target]
            if self.rows[row][0] == isa.OPCODES["BRANCH"]:
                self.rows[row][13] = end
        return Program(
            name=name,
            lanes=lanes,
            code=b"".join(isa.PACKING.pack(*row) for row in self.rows),
            vector_registers=0,
            uniform_registers=self.highest,
            shared_words=shared_words,
            constants=tuple(self.words) or (0,),
            parameters=tuple(Parameter(name, "buffer", U32) for name in BUFFERS),
            buffers=BUFFERS,
            files=((source, 1),),
        )

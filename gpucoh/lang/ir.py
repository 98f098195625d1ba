"""The intermediate form: three-address instructions over virtual registers, in a control-flow graph.

The form is not SSA: a variable of the program is one register with any number of definitions. A register with a single
definition still behaves as an SSA value, because the compiler checks that a definition dominates every use; the
optimiser relies on that. Words are untyped; each instruction names the type that it works on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from gpucoh.lang import isa
from gpucoh.lang.program import Report
from gpucoh.lang.types import Element, Scalar

#: Source index and line, counted from 0 at the source's first line.
Place = tuple[int, int]


class Register:
    """A virtual register. ``name`` is set for variables of the program, None for temporaries."""

    __slots__ = ("name", "number", "positive")

    def __init__(self, number: int, name: str | None = None) -> None:
        self.number = number
        self.name = name
        self.positive = False  # known to be greater than zero (steps of range)

    def __repr__(self) -> str:
        return f"%{self.number}" + (f".{self.name}" if self.name else "")


@dataclass(frozen=True)
class Constant:
    """An immediate: 32 bits."""

    bits: int


@dataclass(frozen=True)
class Argument:
    """A scalar argument of the launch, in the constant bank."""

    name: str


Operand = Register | Constant | Argument


@dataclass(eq=False)
class LocalArray:
    """A per-thread array; its registers are consecutive from ``base``, once they are allocated."""

    name: str
    type: Scalar
    shape: tuple[int, ...]
    words: int
    base: int = -1


@dataclass(eq=False)
class Instruction:
    """One instruction; ``sources`` are the fields a, b, c in order (None: the field is not used).

    A field of several words has a source for each, lower words first: those of :func:`operand_words`.
    """

    op: str
    type: Element
    dest: Register | None
    sources: list[Operand | None]
    place: Place
    immediate: int = 0
    flags: int = 0
    order: str = "WEAK"
    scope: str = "GPU"
    array: LocalArray | None = None
    bound: int = 0  # SHARED_ATOMIC: the array's elements
    offset: int = (
        0  # SHARED_LOAD and SHARED_STORE: elements that are added to the index, modulo 2**32
    )
    more: tuple[
        Register, ...
    ] = ()  # a result of several words: the registers of those behind the first
    uniform: bool = False  # set by the analysis: executed once per warp

    @property
    def defined(self) -> tuple[Register, ...]:
        """The registers that the instruction writes."""
        return self.more if self.dest is None else (self.dest, *self.more)

    def used(self) -> Iterator[Register]:
        """The registers that the instruction reads."""
        for source in self.sources:
            if isinstance(source, Register):
                yield source


@dataclass(eq=False)
class Jump:
    """A jump to ``target``."""

    target: Block
    place: Place

    def successors(self) -> tuple[Block, ...]:
        """The blocks that may come next."""
        return (self.target,)


@dataclass(eq=False)
class Branch:
    """A branch to ``if_true`` if ``condition`` is not zero, else to ``if_false``."""

    condition: Operand
    if_true: Block
    if_false: Block
    place: Place
    divergent: bool = True  # cleared by the analysis if the whole warp takes one side

    def successors(self) -> tuple[Block, ...]:
        """The blocks that may come next."""
        return (self.if_true, self.if_false)


@dataclass(eq=False)
class Exit:
    """The end of the thread."""

    place: Place

    def successors(self) -> tuple[Block, ...]:
        """No blocks."""
        return ()


@dataclass(eq=False)
class Block:
    """A straight run of instructions and its terminator."""

    number: int
    instructions: list[Instruction] = field(default_factory=list)
    terminator: Jump | Branch | Exit | None = None

    def successors(self) -> tuple[Block, ...]:
        """The blocks that may come next."""
        return self.terminator.successors() if self.terminator else ()

    def condition(self) -> Register | None:
        """The register that the branch reads, if any."""
        if isinstance(self.terminator, Branch) and isinstance(self.terminator.condition, Register):
            return self.terminator.condition
        return None

    def __repr__(self) -> str:
        return f"block{self.number}"


@dataclass(eq=False)
class Function:
    """A kernel in the intermediate form. ``blocks[0]`` is the entry; the order is that of the source."""

    name: str
    blocks: list[Block] = field(default_factory=list)
    registers: int = 0
    shared_words: int = 0
    needs_all_blocks: bool = False  # of the grid, resident together
    lanes_needed: int = 0  # lanes per warp that the source assumes; 0: none
    reports: list[Report] = field(default_factory=list)  # of ASSERT and PRINT, by immediate
    dynamic_shared: Element | None = (
        None  # of an array of a length that the launch gives, which follows them
    )
    #: Registers of accesses to several words: those of a group have consecutive numbers.
    groups: list[tuple[Register, ...]] = field(default_factory=list)
    independent_lanes: bool = False  # as Program.independent_lanes

    def new_register(self, name: str | None = None) -> Register:
        """A new virtual register."""
        self.registers += 1
        return Register(self.registers - 1, name)

    def definitions(self) -> dict[Register, list[tuple[Block, Instruction]]]:
        """The definitions of every register."""
        found: dict[Register, list[tuple[Block, Instruction]]] = {}
        for block in self.blocks:
            for instruction in block.instructions:
                for register in instruction.defined:
                    found.setdefault(register, []).append((block, instruction))
        return found


def operand_words(instruction: Instruction) -> list[int]:
    """The number of words of each field of an instruction's sources."""
    op, flags, count = instruction.op, instruction.flags, len(instruction.sources)
    if op == "EXTENDED":
        return list(isa.EXTENDED_ROWS[instruction.immediate].words)
    first = 2 if op in ("LOAD", "STORE", "ATOMIC") and flags & isa.FLAG_FLAT else 1
    if op == "STORE" or (op == "SHARED_STORE" and flags & isa.FLAG_BYTES):
        return [first, count - first]
    if op in ("ATOMIC", "SHARED_ATOMIC"):
        two = flags >> isa.FLAG_ATOMIC_SHIFT == isa.ATOMICS["CAS"]
        return [first, *[(count - first) // 2] * 2] if two else [first, count - first]
    return [first, *[1] * (count - first)] if count else []


class Groups:
    """The groups of registers of a function: which words are neighbours."""

    def __init__(self, function: Function) -> None:
        self.places: dict[Register, list[tuple[tuple[Register, ...], int]]] = {}
        for group in function.groups:
            for k, register in enumerate(group):
                self.places.setdefault(register, []).append((group, k))

    def adjacent(self, words: Sequence[Operand | None]) -> bool:
        """Whether the words are registers of one group, in its order, or all in the constant bank."""
        first = words[0]
        if not isinstance(first, Register):
            return not any(isinstance(word, Register) for word in words)
        return len(words) == 1 or any(
            group[k : k + len(words)] == tuple(words) for group, k in self.places.get(first, ())
        )

    def replace(
        self, instruction: Instruction, better: Callable[[Operand | None], Operand | None]
    ) -> bool:
        """Replace sources, those of a field of several words only if the new ones are adjacent. Whether any was."""
        sources, changed, first = instruction.sources, False, 0
        for count in operand_words(instruction):
            if count == 1:
                word, first = sources[first], first + 1
                if (new := better(word)) is not word and new != word:
                    sources[first - 1], changed = new, True
                continue
            words = sources[first : first + count]
            found = [better(word) for word in words]
            alone = instruction.op == "STORE" and not instruction.flags & isa.FLAG_FLAT
            if found != words and (alone or self.adjacent(found)):
                sources[first : first + count] = found
                changed = True
            first += count
        return changed


#: Instructions whose only effect is their destination, which depends only on the sources.
PURE = frozenset(name for name, group in isa.GROUPS.items() if group == "ALU") | {"EXTENDED"}
#: Instructions that may be dropped if their destination is unused (reading the clock has no effect).
REMOVABLE = PURE | {"SPECIAL", "LOCAL_LOAD", "ANY", "ALL", "BALLOT", "SHUFFLE", "MATCH", "REDUCE"}
#: Votes: one result for the whole warp, for any sources.
VOTES = frozenset({"ANY", "ALL", "BALLOT", "REDUCE"})
COMPARISONS = frozenset({"EQ", "NE", "LT", "LE", "GT", "GE"})
COMMUTATIVE = frozenset({"ADD", "MUL", "AND", "OR", "XOR", "EQ", "NE"})

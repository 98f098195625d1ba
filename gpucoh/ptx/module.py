"""A module of PTX as the parser gives it: variables, functions, statements."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from gpucoh.base.errors import KernelError

#: Distance of two functions' addresses.
_FUNCTION_BYTES = 16


@dataclass(frozen=True)
class Place:
    """Where a statement is: a source line by ``.loc``, else the line of the PTX text."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(eq=False)
class Variable:
    """A variable of a state space. ``addresses`` are the symbols whose addresses its initial value holds, by offset."""

    space: str
    name: str
    type: str
    align: int
    size: int
    initial: bytes = b""
    addresses: dict[int, str] = field(default_factory=dict)
    is_external: bool = False


@dataclass(eq=False)
class Statement:
    """One instruction: ``@guard op.modifiers operands;``."""

    op: str
    modifiers: tuple[str, ...]
    operands: list[str]
    place: Place
    text: str
    guard: str | None = None
    negated: bool = False

    def has(self, modifier: str) -> bool:
        """Whether the instruction has the modifier."""
        return modifier in self.modifiers

    def one_of(self, choices: tuple[str, ...] | frozenset[str] | dict[str, str]) -> str | None:
        """The first modifier among ``choices``."""
        return next((modifier for modifier in self.modifiers if modifier in choices), None)


@dataclass(eq=False)
class Label:
    """A place that branches name."""

    name: str


@dataclass(eq=False)
class Function:
    """A kernel (``.entry``) or a function of the device."""

    name: str
    is_kernel: bool
    place: Place
    parameters: list[Variable] = field(default_factory=list)
    returns: list[Variable] = field(default_factory=list)
    registers: dict[str, str] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    body: list[Statement | Label] = field(default_factory=list)
    is_defined: bool = True
    has_clusters: bool = False
    least_blocks: int = 1  # of a core, `.minnctapersm`, for which the assembler leaves registers
    #: Labels of `.branchtargets` and `.calltargets` -> the names that they list.
    targets: dict[str, list[str]] = field(default_factory=dict)
    #: Labels of `.callprototype` -> what a function called by a pointer takes and returns.
    prototypes: dict[str, Function] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The bytes of its parameters and of its results, which a call by a pointer has to give."""
        return tuple(one.size for one in self.parameters), tuple(one.size for one in self.returns)


@dataclass(eq=False)
class Module:
    """A parsed text. ``name`` is that of its file, for messages."""

    name: str
    version: str = ""
    target: str = ""
    variables: dict[str, Variable] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)

    @property
    def kernels(self) -> list[str]:
        """Names of the kernels, in the order of the text."""
        return [name for name, one in self.functions.items() if one.is_kernel and one.is_defined]

    @cached_property
    def addresses(self) -> dict[str, int]:
        """The functions whose address is taken, and an address for each, which no array has."""
        listed = (name for one in self.variables.values() for name in one.addresses.values())
        named = (
            operand
            for function in self.functions.values()
            for item in function.body
            if isinstance(item, Statement) and item.op != "call"
            for operand in item.operands
        )
        taken = [name for name in dict.fromkeys((*listed, *named)) if name in self.functions]
        return {name: _FUNCTION_BYTES * number for number, name in enumerate(taken, 1)}


def refuse(place: Place, message: str) -> KernelError:
    """An error at a place of the program."""
    return KernelError(f"{place}: {message}", place.file, place.line)

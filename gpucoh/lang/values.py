"""The compile-time values of a kernel's expressions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpucoh.base.quoting import quoted
from gpucoh.lang.folding import float_bits
from gpucoh.lang.ir import Argument, Block, Constant, LocalArray, Operand, Register
from gpucoh.lang.program import extent_name
from gpucoh.lang.source import SourceUnit
from gpucoh.lang.types import BOOL, F32, I32, U32, Element, Scalar, Wide


@dataclass(frozen=True)
class Value:
    """A typed word: a register, an immediate or a scalar argument."""

    operand: Operand
    type: Scalar

    @property
    def words(self) -> tuple[Operand]:
        """The word."""
        return (self.operand,)


@dataclass(frozen=True)
class WideValue:
    """A number of 64 bits: its words, which are registers, immediates or arguments."""

    low: Operand
    high: Operand
    type: Wide

    @property
    def words(self) -> tuple[Operand, Operand]:
        """Both words, the lower one first."""
        return self.low, self.high


@dataclass(frozen=True)
class Literal:
    """A Python number; it takes the type of the other operand."""

    value: bool | int | float

    @property
    def natural(self) -> Scalar:
        """The type of the number alone."""
        if isinstance(self.value, bool):
            return BOOL
        return I32 if isinstance(self.value, int) else F32


@dataclass(frozen=True)
class TupleValue:
    """A tuple of values; exists only at compile time."""

    items: tuple[Any, ...]


@dataclass(frozen=True)
class BufferValue:
    """A buffer parameter."""

    name: str
    slot: int
    type: Element
    readonly: bool
    dimensions: int = 1

    @property
    def shape(self) -> tuple[Value, ...]:
        """The extents, i32 arguments of the launch."""
        return tuple(
            Value(Argument(extent_name(self.name, axis)), I32) for axis in range(self.dimensions)
        )


@dataclass(frozen=True)
class RecordValue:
    """A record: the values of its fields by name."""

    name: str
    type: type[Any]
    fields: Mapping[str, Value | WideValue | BufferValue]


@dataclass(frozen=True)
class SharedArray:
    """A scratchpad array; ``base`` counts words of the block's scratchpad."""

    name: str
    base: int
    type: Element
    shape: tuple[int, ...]
    elements: int | None  # None: given by the launch


@dataclass(frozen=True)
class PythonObject:
    """Any other object that an outside name refers to: a module, a function, a type, a string."""

    value: Any


Array = BufferValue | SharedArray | LocalArray
AnyValue = (
    Value
    | WideValue
    | Literal
    | TupleValue
    | BufferValue
    | RecordValue
    | SharedArray
    | LocalArray
    | PythonObject
)


@dataclass
class Variable:
    """A scalar variable of the program."""

    name: str
    registers: tuple[Register, ...]  # two of 64 bits, the lower word first
    type: Scalar | Wide
    line: int

    @property
    def value(self) -> Value | WideValue:
        """Its present value."""
        if isinstance(self.type, Wide):
            low, high = self.registers
            return WideValue(low, high, self.type)
        return Value(self.registers[0], self.type)


@dataclass
class Loop:
    """The targets of break and continue."""

    exit: Block
    next: Block


@dataclass
class Frame:
    """One function being lowered: the kernel, or a device function at one call."""

    unit: SourceUnit
    file: int
    names: dict[str, Variable | AnyValue] = field(default_factory=dict)
    loops: list[Loop] = field(default_factory=list)
    copied_loop_names: set[str] = field(default_factory=set)
    exit: Block | None = None  # of an inlined function
    result: tuple[Variable, ...] | None = None
    single_result: bool = True
    returned: bool = False
    returns_value: bool = False


def is_wide(*values: AnyValue) -> bool:
    """Whether one of the values has 64 bits."""
    return any(isinstance(value, WideValue) for value in values)


def describe(value: AnyValue) -> str:
    """A short description for messages."""
    if isinstance(value, (Value, WideValue)):
        return value.type.name
    if isinstance(value, Literal):
        return repr(value.value)
    if isinstance(value, TupleValue):
        return "a tuple"
    if isinstance(value, BufferValue):
        return f"the buffer '{value.name}'"
    if isinstance(value, RecordValue):
        return f"the record '{value.name}'"
    if isinstance(value, SharedArray):
        return f"the shared array '{value.name}'"
    if isinstance(value, LocalArray):
        return f"the local array '{value.name}'"
    name = getattr(value.value, "__name__", None)
    return f"'{name}'" if name else f"{quoted(value.value)} ({type(value.value).__name__})"


def from_python(value: Any) -> AnyValue:
    """An outside constant as a value; an object that is not a number stays a :class:`PythonObject`."""
    if isinstance(value, np.int32):
        return Value(Constant(int(value) & 0xFFFFFFFF), I32)
    if isinstance(value, np.uint32):
        return Value(Constant(int(value)), U32)
    if isinstance(value, np.float32):
        return Value(Constant(float_bits(value)), F32)
    if isinstance(value, (bool, np.bool_)):
        return Literal(bool(value))
    if isinstance(value, (int, np.integer)):
        return Literal(int(value))
    if isinstance(value, (float, np.floating)):
        return Literal(float(value))
    if isinstance(value, tuple):
        return TupleValue(tuple(from_python(item) for item in value))
    return PythonObject(value)

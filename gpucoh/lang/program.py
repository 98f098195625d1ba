"""A compiled kernel: instructions, constants, and the arguments that a launch needs."""

from __future__ import annotations

import functools
import math
import numbers
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gpucoh.base.errors import ConfigError
from gpucoh.base.quoting import quoted
from gpucoh.lang import isa
from gpucoh.lang.types import F32, F64, I32, BufferType, Element, Scalar, Wide

__all__ = ["Parameter", "Program"]

_Record: TypeAlias = type[Any]
MAX_SHARED_WORDS = 1 << 18  # the largest scratchpad of a machine, 1 MiB


@dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel.

    Attributes
    ----------
    name : str
        Of a field of a record, ``argument.field``.
    kind : str
        ``"scalar"`` or ``"buffer"``.
    type : Element
        Type of the scalar (a Scalar) or of the buffer's elements.
    readonly : bool
        Whether it is a ``ReadOnly[...]``.
    dimensions : int
        Dimensions of the buffer.
    record : type or None
        The record that it is a field of.
    """

    name: str
    kind: str
    type: Element
    readonly: bool = False
    dimensions: int = 1
    record: _Record | None = None

    @classmethod
    def of(
        cls, name: str, type: Scalar | Wide | BufferType, record: _Record | None = None
    ) -> Parameter:
        """The parameter of an annotation."""
        if isinstance(type, Scalar | Wide):
            return cls(name, "scalar", type, record=record)
        return cls(name, "buffer", type.dtype, type.readonly, type.dimensions, record)

    @functools.cached_property
    def argument(self) -> str:
        """The name of the kernel's argument that gives it."""
        return self.name.partition(".")[0]

    def __str__(self) -> str:
        if self.kind != "buffer":
            return f"{self.name}: {self.type.name}"
        return f"{self.name}: {BufferType(self.type, self.readonly, self.dimensions)}"


#: The name of the dynamic scratchpad array's length in :attr:`Program.constants`.
SHARED_LENGTH = "shared()"


def word_name(scalar: str, k: int) -> str:
    """The name of a word of a scalar of 64 bits in :attr:`Program.constants`."""
    return f"{scalar}[word {k}]"


def extent_name(buffer: str, axis: int) -> str:
    """The name of an extent of a buffer in :attr:`Program.constants`; no parameter has such a name."""
    return f"{buffer}.shape[{axis}]"


@dataclass(frozen=True)
class Report:
    """The text of an assertion, or one call of print.

    Attributes
    ----------
    parts : tuple of str or (Scalar, str)
        Texts, and the types and formats of the values between them.
    """

    parts: tuple[str | tuple[Scalar, str], ...]

    @property
    def records(self) -> int:
        """Words that one call of a thread records: its values, at least one."""
        return max(1, sum(not isinstance(part, str) for part in self.parts))

    def text(self, words: Sequence[int], text_at: Callable[[int], str]) -> str:
        """The text with its values; ``text_at`` gives the text at an address."""
        left = iter(words)
        return "".join(
            part if isinstance(part, str) else _formatted(part[0], part[1], next(left))
            for part in self.parts
        )


def _formatted(type: Scalar, format: str, word: int) -> str:
    value = np.uint32(word).view(type.numpy)
    if type.name == "bool":
        return str(bool(value))
    return str(value) if not format else f"{value.item():{format}}"


@dataclass(frozen=True)
class Program:
    """Machine code of one kernel for one warp width.

    Attributes
    ----------
    name : str
        The kernel's name.
    lanes : int
        Lanes per warp for which it was compiled, 32 or 64.
    code : bytes
        Instructions in the packing of csrc/core/isa.h, 32 bytes each.
    vector_registers, uniform_registers : int
        Words per lane and words per warp.
    shared_words : int
        Scratchpad words per block.
    constants : tuple of int or str
        The constant bank: the bits of an immediate, or a name: of the scalar parameter that provides the value, or
        an :func:`extent_name`, or :data:`SHARED_LENGTH`.
    parameters : tuple of Parameter
        The parameters, in the order of the kernel's arguments.
    buffers : tuple of str
        The names of the buffer parameters by slot number, in their order.
    dynamic_shared : int or None
        Elements of the scratchpad array whose length the launch gives, which follows the others; 0 before the launch,
        None without such an array.
    dynamic_type : Element
        Their type.
    reports : tuple of Report
        Texts of the kernel's assertions and prints.
    needs_all_blocks : bool
        Whether all blocks of the grid must be resident together.
    lanes_needed : int
        Lanes per warp that the source assumes; 0: none.
    independent_lanes : bool
        Whether lanes of one warp that wait for each other make progress, and whether some of a warp's lanes may
        arrive at a barrier before the others. Such a program has no uniform registers.
    spilled_for : int
        Blocks for which the registers of a core must be enough: those beyond are in memory on a GPU, and do not count
        against a core's registers; 0: all count.
    barrier_words : int
        Words of the scratchpad in which barriers reduce; a GPU has them elsewhere, and they do not count.
    files : tuple of (str, int)
        Sources, the kernel's first: file name and first line (from 1). An instruction's ``line`` counts from 0 at
        that line: see :meth:`locate`.
    """

    name: str
    lanes: int
    code: bytes
    vector_registers: int
    uniform_registers: int
    shared_words: int
    constants: tuple[int | str, ...]
    parameters: tuple[Parameter, ...]
    buffers: tuple[str, ...]
    files: tuple[tuple[str, int], ...] = field(default=())
    dynamic_shared: int | None = None
    dynamic_type: Element = I32
    reports: tuple[Report, ...] = ()
    needs_all_blocks: bool = False
    lanes_needed: int = 0
    independent_lanes: bool = False
    spilled_for: int = 0
    barrier_words: int = 0

    @property
    def instructions(self) -> int:
        """Number of instructions."""
        return len(self.code) // 32

    @functools.cached_property
    def takes_addresses(self) -> bool:
        """Whether an instruction accesses memory by address."""
        code = np.frombuffer(self.code, np.uint8).reshape(-1, isa.PACKING.size)
        memory = np.isin(code[:, 0], [isa.OPCODES[name] for name in ("LOAD", "STORE", "ATOMIC")])
        return bool((memory & (code[:, 6] & isa.FLAG_FLAT != 0)).any())

    @functools.cached_property
    def widened(self) -> bytes:
        """The code with scope sys in place of scope gpu, for blocks on several GPUs that are one to the kernel."""
        return widened(self.code)

    @functools.cached_property
    def fenced(self) -> Program:
        """The program behind a fence of scope sys, of a kernel that begins while others run."""
        first, *others = isa.unpacked(self.code)
        none = isa.OPERAND_NONE
        fence = first._replace(
            opcode=isa.OPCODES["FENCE"], order=isa.ORDERS["ACQ_REL"], scope=isa.SCOPES["SYS"],
            type=0, width=1, bytes=0, flags=0, destination=none, a=none, b=none, c=none, immediate=0, target=0, join=0,
        )  # fmt: skip
        jumps = isa.OPCODES["BRANCH"], isa.OPCODES["JUMP"]
        code = [fence]
        for one in (first, *others):
            moved = {"target": one.target + 1, "join": one.join + 1} if one.opcode in jumps else {}
            code.append(one._replace(**moved))
        return replace(self, code=b"".join(isa.PACKING.pack(*one) for one in code))

    @functools.cached_property
    def sources(self) -> tuple[tuple[str, int], ...]:
        """``files`` for the core's messages, which are UTF-8."""
        return tuple((name.encode(errors="replace").decode(), first) for name, first in self.files)

    @functools.cached_property
    def texts(self) -> tuple[str, ...]:
        """The texts of the assertions, by number; of prints the first part."""
        return tuple(str(report.parts[0]) if report.parts else "" for report in self.reports)

    @functools.cached_property
    def arguments(self) -> tuple[str, ...]:
        """The names of the kernel's arguments."""
        return tuple(dict.fromkeys(parameter.argument for parameter in self.parameters))

    def locate(self, file: int, line: int) -> tuple[str, int]:
        """File name and line (from 1) of an instruction's ``file`` and ``line`` fields."""
        filename, first = self.files[file]
        return filename, first + line

    def source_of(self, pc: int) -> tuple[str, int]:
        """File name and line (from 1) of the instruction number ``pc``."""
        fields = isa.PACKING.unpack_from(self.code, pc * isa.PACKING.size)
        return self.locate(fields[-1], fields[-2])

    def printed(self, records: NDArray[np.uint32], text_at: Callable[[int], str]) -> str:
        """The text of a launch's prints, call by call in the order in which they ended.

        Parameters
        ----------
        records : ndarray of shape (n, 4)
            Report, block, thread and word.
        text_at : callable
            The text at an address of the device's memory.
        """
        words: dict[tuple[int, int], list[int]] = {}
        text: list[str] = []
        for number, block, thread, word in records.tolist():
            report = self.reports[number]
            given = words.setdefault((block, thread), [])
            given.append(word)
            if len(given) == report.records:
                text.append(report.text(given, text_at))
                given.clear()
        return "".join(text)

    def with_shared(self, elements: int | None) -> Program:
        """The program of a launch with ``elements`` elements in the scratchpad array without a size.

        Raises
        ------
        ConfigError
            If the kernel has no such array, or if it has one and the launch gives no number.
        """
        if elements is None and self.dynamic_shared is None:
            return self
        if self.dynamic_shared is None:
            raise ConfigError(
                f"shared = {quoted(elements)}: kernel '{self.name}' has no gpucoh.shared(dtype) without a size"
            )
        if (
            isinstance(elements, bool)
            or not isinstance(elements, (int, np.integer))
            or not 1 <= elements <= MAX_SHARED_WORDS
        ):
            raise ConfigError(
                f"shared = {quoted(elements)}: kernel '{self.name}' has a gpucoh.shared(dtype) without a size: "
                f"give its number of elements at the launch (allowed: 1 to {MAX_SHARED_WORDS})"
            )
        words = self.shared_words + self.dynamic_type.words(int(elements))
        return replace(self, shared_words=words, dynamic_shared=int(elements))

    def bind(self, args: Sequence[Any]) -> tuple[NDArray[np.uint32], list[Any]]:
        """The constant bank and the buffers, in slot order, for a launch with these arguments.

        Raises
        ------
        ConfigError
            For a wrong number of arguments, or a scalar that does not fit its parameter's type.
        """
        scalars: dict[str, int] = {SHARED_LENGTH: self.dynamic_shared or 0}
        buffers: list[Any] = []
        for parameter, value in zip(self.parameters, self._values(args), strict=True):
            if parameter.kind == "buffer":
                if isinstance(value, numbers.Number):
                    raise ConfigError(
                        f"argument '{parameter.name}' of kernel '{self.name}' must be an array of "
                        f"{parameter.type.name}, got {quoted(value)}"
                    )
                buffers.append(value)
                scalars |= self._extents(parameter, value)
                continue
            bits = scalar_bits(self.name, parameter, value)
            if isinstance(parameter.type, Wide):
                scalars |= {
                    word_name(parameter.name, k): bits >> 32 * k & 0xFFFFFFFF for k in (0, 1)
                }
            else:
                scalars[parameter.name] = bits
        words = [scalars[item] if isinstance(item, str) else item for item in self.constants]
        return np.array(words, dtype=np.uint32), buffers

    def _values(self, args: Sequence[Any]) -> Iterator[Any]:
        """The value of each parameter: an argument, or a field of one that is a record."""
        names = self.arguments
        if len(args) != len(names):
            raise ConfigError(
                f"kernel '{self.name}' takes {len(names)} arguments ({', '.join(names)}), got {len(args)}"
            )
        given = dict(zip(names, args, strict=True))
        for parameter in self.parameters:
            value, record = given[parameter.argument], parameter.record
            if record is None:
                yield value
            elif isinstance(value, record):
                yield getattr(value, parameter.name.partition(".")[2])
            else:
                raise ConfigError(
                    f"argument '{parameter.argument}' of kernel '{self.name}' must be a record "
                    f"{record.__name__}, got {_describe(value)}"
                )

    def _extents(self, parameter: Parameter, array: Any) -> dict[str, int]:
        """The extents of a buffer's array by name; a buffer of one dimension is flat."""
        shape = tuple(getattr(array, "shape", ()))
        if parameter.dimensions == 1:
            shape = (math.prod(shape),)
        elif shape and len(shape) != parameter.dimensions:
            raise ConfigError(
                f"argument '{parameter.name}' of kernel '{self.name}' must be an array of {parameter.dimensions} "
                f"dimensions, got one of shape {shape}"
            )
        names = [extent_name(parameter.name, axis) for axis in range(parameter.dimensions)]
        extents = dict(zip(names, shape, strict=False))
        for name in set(names).intersection(self.constants):
            if extents.setdefault(name, 0) >= 2**31:
                raise ConfigError(
                    f"argument '{parameter.name}' of kernel '{self.name}' has an extent of {extents[name]} "
                    f"(allowed: up to {2**31 - 1} where the kernel uses it)"
                )
        return extents


def widened(code: bytes) -> bytes:
    """Machine code with scope sys in place of scope gpu."""
    gpu, sys = isa.SCOPES["GPU"], isa.SCOPES["SYS"]
    return b"".join(
        isa.PACKING.pack(*(one._replace(scope=sys) if one.scope == gpu else one))
        for one in isa.unpacked(code)
    )


def scalar_bits(kernel: str, parameter: Parameter, value: Any) -> int:
    """The bits of a scalar argument; a ConfigError names an argument that does not fit."""
    where, type = f"argument '{parameter.name}' of kernel '{kernel}'", parameter.type
    if isinstance(value, np.ndarray) and value.shape == ():
        value = value[()]
    if type in (F32, F64):
        if not isinstance(value, (int, float, np.integer, np.floating)) or isinstance(value, bool):
            raise ConfigError(f"{where} must be a number ({type.name}), got {_describe(value)}")
        if type is F64:
            return int(np.float64(value).view(np.uint64))
        with np.errstate(over="ignore"):
            try:
                rounded = np.float32(value)
            except OverflowError:
                rounded = np.float32(np.inf)
        if np.isinf(rounded) and not (isinstance(value, (float, np.floating)) and np.isinf(value)):
            raise ConfigError(f"{where} must fit f32 (up to 3.4e38), got {quoted(value)}")
        return int(rounded.view(np.uint32))
    if not isinstance(value, (bool, int, np.integer, np.bool_)):
        raise ConfigError(f"{where} must be an integer ({type.name}), got {_describe(value)}")
    low, high = type.limits
    if not low <= int(value) <= high:
        raise ConfigError(f"{where} must be from {low} to {high} ({type.name}), got {int(value)}")
    return int(value) & (high - low)


def _describe(value: object) -> str:
    if isinstance(value, (int, float, np.generic)):
        return repr(value)
    return f"a {type(value).__name__}"

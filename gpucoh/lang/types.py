"""Types of the kernel language: scalars, elements of arrays, and ``Buffer``.

At run time ``i32``, ``u32`` and ``f32`` are :class:`Scalar` objects: annotations of kernel arguments, dtypes of
``shared`` and ``local`` arrays, and conversions inside kernels. ``i8 u8 i16 u16`` are :class:`Element` objects, which
are annotations of buffers and dtypes of ``shared`` only: registers hold words. A type checker sees
``int`` and ``float``, so it can check kernels as plain Python.
"""

from __future__ import annotations

import itertools
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, get_args, get_origin

import numpy as np

from gpucoh.base.errors import KernelError, shown_file
from gpucoh.base.quoting import quoted

__all__ = [
    "Buffer",
    "Buffer2",
    "Buffer3",
    "BufferType",
    "Element",
    "ReadOnly",
    "ReadOnly2",
    "ReadOnly3",
    "Scalar",
    "Wide",
    "f32",
    "f64",
    "i8",
    "i16",
    "i32",
    "i64",
    "u8",
    "u16",
    "u32",
    "u64",
]


class Element:
    """A type of the elements of arrays.

    Attributes
    ----------
    name : str
        As ``"u8"``.
    code : int
        Number, in the instruction set, of the type that an element is extended to.
    numpy : numpy.dtype
        The matching NumPy dtype.
    limits : tuple of int
        The smallest and the largest value of integers; (0, 0) of floating-point numbers.
    """

    __slots__ = ("code", "limits", "name", "numpy")

    def __init__(self, name: str, code: int, numpy: str) -> None:
        self.name = name
        self.code = code
        self.numpy: np.dtype[Any] = np.dtype(numpy)
        self.limits = (0, 0)
        if self.numpy.kind != "f":
            info = np.iinfo(self.numpy)
            self.limits = int(info.min), int(info.max)

    def __repr__(self) -> str:
        return f"gpucoh.{self.name}"

    @property
    def bytes(self) -> int:
        """Size of an element: 1, 2, 4 or 8."""
        return self.numpy.itemsize

    @property
    def loaded(self) -> Scalar:
        """The type of an element in a register: i32 for elements below the word, whose values it can all hold.

        Of elements of two words the type of each of its words.
        """
        return self if isinstance(self, Scalar) else I32

    def words(self, elements: int) -> int:
        """Words that this number of elements occupies."""
        return -(-elements * self.bytes // 4)

    def __reduce__(self) -> str:
        return self.name.upper()


def _convert(self: Element, value: object) -> Any:
    """Convert ``value`` to this type; only inside kernels."""
    raise KernelError(
        f"{self.name}(...) converts only inside @gpucoh.kernel; on the host use numpy.{self.numpy.name}"
    )


class Scalar(Element):
    """One of the scalar types of kernels, ``i32 u32 f32``; all are 32 bits wide."""

    __slots__ = ()
    __call__ = _convert


class Wide(Element):
    """One of the types of 64 bits, ``i64 u64 f64``: a value is two words."""

    __slots__ = ()
    __call__ = _convert


I32 = Scalar("i32", 0, "int32")
U32 = Scalar("u32", 1, "uint32")
F32 = Scalar("f32", 2, "float32")
#: Type of comparisons: a word, 0 or 1; internal to the compiler, with the operations of i32.
BOOL = Scalar("bool", 0, "int32")
I64 = Wide("i64", 0, "int64")
U64 = Wide("u64", 1, "uint64")
F64 = Wide("f64", 2, "float64")
I8 = Element("i8", 0, "int8")
U8 = Element("u8", 1, "uint8")
I16 = Element("i16", 0, "int16")
U16 = Element("u16", 1, "uint16")


_WIDE = {
    "i64": I64,
    "int64": I64,
    "u64": U64,
    "uint64": U64,
    "f64": F64,
    "float64": F64,
    "double": F64,
}


def wide(type: object) -> str | None:
    """For NumPy's 64-bit types, or a name: "int64, 64 bits wide (use ...)"; None for any other object."""
    name = type
    if isinstance(type, np.dtype):
        name = type.name
    elif getattr(type, "__module__", "") == "numpy":
        name = getattr(type, "__name__", "")
    if not isinstance(name, str) or name not in _WIDE:
        return None
    return f"{name}, 64 bits wide (use gpucoh.{_WIDE[name].name})"


def refusal(what: str, type: object, otherwise: str) -> str:
    """The text about a type that is not allowed there: ``otherwise``, unless its width is the reason."""
    if isinstance(type, Wide):
        return f"{what} is {type.name}, 64 bits wide (allowed: i32, u32, f32)"
    if isinstance(type, Element) and not isinstance(type, Scalar):
        return f"{what} is {type.name}, a type of array elements only (allowed: i32, u32, f32)"
    is_wide = wide(type)
    return f"{what} is {is_wide}" if is_wide else otherwise


class MissingType(KernelError, AttributeError):
    """An attribute of gpucoh that would be a 64-bit type."""


def missing_type(name: str) -> str:
    """The text about ``gpucoh.i64`` and the like."""
    return f"gpucoh has no type {wide(name)}"


def located(error: type[KernelError], message: str, callers: int = 0) -> KernelError:
    """An error at the line that calls the caller, or its callers, unless that is no line of a file."""
    frame = sys._getframe(2 + callers)
    filename, line = frame.f_code.co_filename, frame.f_lineno
    if filename == "<string>":  # an annotation in quotes: its reader adds the place
        return error(message)
    place = shown_file(filename)
    return error(f"{place}:{line}: {message}", place, line)


#: Largest number of dimensions of a buffer.
MAX_DIMENSIONS = 3


@dataclass(frozen=True)
class BufferType:
    """The run-time value of ``Buffer[f32]``, ``Buffer2[f32]`` or ``ReadOnly[f32]``."""

    dtype: Element
    readonly: bool = False
    dimensions: int = 1

    def __str__(self) -> str:
        name = "ReadOnly" if self.readonly else "Buffer"
        return f"{name}{self.dimensions if self.dimensions > 1 else ''}[{self.dtype.name}]"

    def __repr__(self) -> str:
        return f"gpucoh.{self}"


if TYPE_CHECKING:
    from typing_extensions import TypeVar

    _T = TypeVar("_T")
    # Of the older forms: type checkers take a number or a text only inside Literal.
    _Qualifiers = TypeVar("_Qualifiers", default=Any)

    i8: TypeAlias = int
    u8: TypeAlias = int
    i16: TypeAlias = int
    u16: TypeAlias = int
    i32: TypeAlias = int
    u32: TypeAlias = int
    f32: TypeAlias = float
    i64: TypeAlias = int
    u64: TypeAlias = int
    f64: TypeAlias = float

    class ReadOnly(Generic[_T]):
        """A global array that kernels of the launch only read; what reads an array accepts any."""

        shape: tuple[int, ...]

        def __len__(self) -> int: ...
        def __getitem__(self, index: int | tuple[int, ...]) -> _T: ...

    class Buffer(ReadOnly[_T], Generic[_T, _Qualifiers]):
        """A global, scratchpad or local array in a kernel."""

        def __setitem__(self, index: int | tuple[int, ...], value: _T) -> None: ...

    class Buffer2(Buffer[_T]):
        """A global array of two dimensions."""

    class Buffer3(Buffer[_T]):
        """A global array of three dimensions."""

    class ReadOnly2(ReadOnly[_T]):
        """A global array of two dimensions that is only read."""

    class ReadOnly3(ReadOnly[_T]):
        """A global array of three dimensions that is only read."""

else:
    i32, u32, f32 = I32, U32, F32
    i64, u64, f64 = I64, U64, F64
    i8, u8, i16, u16 = I8, U8, I16, U16

    def _qualifiers(given):
        return get_args(given) if get_origin(given) is Literal else (given,)

    def _qualified(dtype, given):
        """Dimensions and whether the array is read-only, of ``Buffer[dtype, *given]``."""
        dimensions, readonly = 1, False
        for one in itertools.chain.from_iterable(map(_qualifiers, given)):
            if one == "readonly":
                readonly = True
            elif type(one) is int and 1 <= one <= MAX_DIMENSIONS:
                dimensions = one
            else:
                raise located(
                    KernelError,
                    f"Buffer[{dtype.name}, {quoted(one)}]: the only qualifiers are the number of dimensions, 1 to "
                    f'{MAX_DIMENSIONS}, and "readonly"',
                    callers=1,
                )
        return dimensions, readonly

    class Buffer:
        """Annotation of a global array of one dimension: ``Buffer[f32]``.

        ``Buffer2`` and ``Buffer3`` have two and three dimensions, those of the array and of its indices. A buffer of
        one dimension takes an array of any shape, flat. ``ReadOnly``, ``ReadOnly2`` and ``ReadOnly3`` are only read.
        The older forms ``Buffer[f32, 2]`` and ``Buffer[f32, "readonly"]`` mean the same; type checkers reject them.
        """

        _dimensions, _readonly = 1, False

        def __class_getitem__(cls, item):
            dtype, *rest = item if isinstance(item, tuple) and item else (item,)
            if not isinstance(dtype, Element):
                otherwise = (
                    f"{cls.__name__}[{quoted(dtype)}]: the element type must be "
                    "i32, u32, f32, i64, u64, f64, i8, u8, i16 or u16"
                )
                text = refusal(f"the element type of {cls.__name__}", dtype, otherwise)
                raise located(KernelError, text)
            if rest and cls is not Buffer:
                raise located(KernelError, f"{cls.__name__}[...] takes the element type alone")
            dimensions, readonly = (
                _qualified(dtype, rest) if rest else (cls._dimensions, cls._readonly)
            )
            return BufferType(dtype, readonly, dimensions)

        def __init__(self):
            name = type(self).__name__
            raise KernelError(
                f"{name} is an annotation: write {name}[gpucoh.f32]; gpu.array(...) makes arrays"
            )

    class Buffer2(Buffer):
        """Annotation of a global array of two dimensions: ``Buffer2[f32]``."""

        _dimensions = 2

    class Buffer3(Buffer):
        """Annotation of a global array of three dimensions: ``Buffer3[f32]``."""

        _dimensions = 3

    class ReadOnly(Buffer):
        """Annotation of a global array that the launch only reads: ``ReadOnly[f32]``."""

        _readonly = True

    class ReadOnly2(ReadOnly):
        """Annotation of a read-only global array of two dimensions: ``ReadOnly2[f32]``."""

        _dimensions = 2

    class ReadOnly3(ReadOnly):
        """Annotation of a read-only global array of three dimensions: ``ReadOnly3[f32]``."""

        _dimensions = 3

"""The table of operations: the intrinsics that compute a value from values alone.

A row is a function with its parameters and text, and the types and the operation of operations.def that
:func:`_row` gives it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

from gpucoh.base.errors import KernelError
from gpucoh.lang import isa

_T = TypeVar("_T", int, float)
_Function = TypeVar("_Function", bound=Callable[..., Any])

__all__ = [
    "bitcast",
    "ceil",
    "clz",
    "cos",
    "exp",
    "ffs",
    "floor",
    "fma",
    "log",
    "match_any",
    "mulhi",
    "popcount",
    "reduce_add",
    "reduce_and",
    "reduce_max",
    "reduce_min",
    "reduce_or",
    "reduce_xor",
    "rsqrt",
    "sin",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
]


@dataclass(frozen=True)
class Operation:
    """A row of :data:`OPERATIONS`: an intrinsic of values alone.

    Attributes
    ----------
    takes : tuple of str
        Type of each operand: ``f32``; ``int``, i32 or u32; ``any``, a number. Those that are not f32 have one type.
    gives : str
        Type of the result: a type's name, or ``same`` as the operands'.
    opcode : str
        Its operation of operations.def, or row of extended.def.
    flags : int
        Flags of the instruction.
    wide : dict
        Of the types of 64 bits that it takes: row of extended.def and flags.
    """

    takes: tuple[str, ...]
    gives: str
    opcode: str
    flags: int
    wide: dict[str, tuple[str, int]]

    @property
    def over_warp(self) -> bool:
        """Whether the value depends on the warp's active threads."""
        return self.opcode == "REDUCE"


#: Every intrinsic of values alone, by name; its function below has the parameters and the text.
OPERATIONS: dict[str, Operation] = {}


def _row(
    takes: str,
    gives: str,
    opcode: str,
    atomic: str = "",
    f64: str = "",
    b64: str = "",
    rounding: str = "RN",
) -> Callable[[_Function], _Function]:
    """Add the function to the table; ``f64`` and ``b64``: its row for f64, and for i64 and u64."""
    flags = isa.ATOMICS[atomic] << isa.FLAG_ATOMIC_SHIFT if atomic else 0
    rows = {"f64": f64, "i64": b64, "u64": b64}
    wide = {type: (row, isa.ROUNDINGS[rounding]) for type, row in rows.items() if row}

    def add(function: _Function) -> _Function:
        OPERATIONS[function.__name__] = Operation(tuple(takes.split()), gives, opcode, flags, wide)
        return function

    return add


def refuse() -> NoReturn:
    """Raise the error of the function that calls this one outside of a kernel."""
    name = sys._getframe(1).f_code.co_name
    raise KernelError(f"{name}() works only inside @gpucoh.kernel or @gpucoh.device functions")


@_row("int", "i32", "POPC_B32", b64="POPC_B64")
def popcount(x: int) -> int:
    """Number of one bits of an i32 or u32, i32."""
    refuse()


@_row("int", "i32", "CLZ_B32", b64="CLZ_B64")
def clz(x: int) -> int:
    """Number of zero bits above the highest one bit of an i32 or u32, i32; 32 for 0."""
    refuse()


@_row("int", "i32", "FFS_B32")
def ffs(x: int) -> int:
    """Position of the lowest one bit of an i32 or u32, counted from 1, i32; 0 for 0."""
    refuse()


def min(x: _T, y: _T, *more: _T) -> _T:
    """The smaller value; of f32 the number if the other is NaN."""
    refuse()


def max(x: _T, y: _T, *more: _T) -> _T:
    """The larger value; of f32 the number if the other is NaN."""
    refuse()


def abs(x: _T) -> _T:
    """``|x|``; the smallest i32 gives itself."""
    refuse()


@_row("f32", "f32", "SQRT", f64="SQRT_F64")
def sqrt(x: float) -> float:
    """Square root, f32, correctly rounded."""
    refuse()


@_row("f32", "f32", "EXP")
def exp(x: float) -> float:
    """e to the x, f32, within 2 ulp."""
    refuse()


@_row("f32", "f32", "LOG")
def log(x: float) -> float:
    """Natural logarithm, f32, within 2 ulp."""
    refuse()


@_row("f32", "f32", "SIN")
def sin(x: float) -> float:
    """Sine of radians, f32, within 2 ulp."""
    refuse()


@_row("f32", "f32", "COS")
def cos(x: float) -> float:
    """Cosine of radians, f32, within 2 ulp."""
    refuse()


@_row("f32", "f32", "FLOOR", f64="ROUND_F64", rounding="RM")
def floor(x: float) -> float:
    """Largest whole number not above x, f32."""
    refuse()


@_row("f32", "f32", "RSQRT", f64="RSQRT_F64")
def rsqrt(x: float) -> float:
    """1 / sqrt(x), f32, within 2 ulp; of -0.0 minus infinity."""
    refuse()


@_row("f32", "f32", "TAN")
def tan(x: float) -> float:
    """Tangent of radians, f32, within 2 ulp."""
    refuse()


@_row("f32", "f32", "TANH")
def tanh(x: float) -> float:
    """Hyperbolic tangent, f32, within 2 ulp."""
    refuse()


@_row("f32", "f32", "CEIL", f64="ROUND_F64", rounding="RP")
def ceil(x: float) -> float:
    """Smallest whole number not below x, f32."""
    refuse()


@_row("f32", "f32", "ROUND", f64="ROUND_F64")
def round(x: float) -> float:
    """Nearest whole number, f32; halves go to the even one, as Python's round and CUDA's rintf."""
    refuse()


@_row("f32", "f32", "TRUNC", f64="ROUND_F64", rounding="RZ")
def trunc(x: float) -> float:
    """x without its fraction, f32."""
    refuse()


@_row("f32 f32", "f32", "POW")
def pow(x: float, y: float) -> float:
    """``x`` to the power ``y``, f32, within 2 ulp; special cases as of C's ``powf``.

    ``x ** n`` of a whole number n is a product, rounded at each step.
    """
    refuse()


@_row("f32 f32 f32", "f32", "FMA", f64="FMA_F64")
def fma(x: float, y: float, z: float) -> float:
    """``x * y + z``, f32, rounded once."""
    refuse()


@_row("int int", "same", "MULHI")
def mulhi(x: int, y: int) -> int:
    """The upper 32 bits of the product of two i32 or two u32."""
    refuse()


def bitcast(x: float, dtype: type[_T]) -> _T:
    """The bits of ``x`` as ``dtype``: i32, u32 or f32; of 64 bits i64, u64 or f64."""
    refuse()


def match_any(x: float, high: bool = False) -> int:
    """Bit l is set if active lane l has the same bits ``x`` as this thread (``high``: lane 32 + l of a 64-lane
    warp), u32.
    """
    refuse()


@_row("any", "same", "REDUCE", "ADD")
def reduce_add(x: _T) -> _T:
    """The sum of ``x`` over the warp's active threads; of f32 in the order of lanes, rounded at each step."""
    refuse()


@_row("any", "same", "REDUCE", "MIN")
def reduce_min(x: _T) -> _T:
    """The smallest ``x`` of the warp's active threads; of f32 a number if there is one."""
    refuse()


@_row("any", "same", "REDUCE", "MAX")
def reduce_max(x: _T) -> _T:
    """The largest ``x`` of the warp's active threads; of f32 a number if there is one."""
    refuse()


@_row("int", "same", "REDUCE", "AND")
def reduce_and(x: int) -> int:
    """``x`` of the warp's active threads, joined by bitwise and."""
    refuse()


@_row("int", "same", "REDUCE", "OR")
def reduce_or(x: int) -> int:
    """``x`` of the warp's active threads, joined by bitwise or."""
    refuse()


@_row("int", "same", "REDUCE", "XOR")
def reduce_xor(x: int) -> int:
    """``x`` of the warp's active threads, joined by bitwise exclusive or."""
    refuse()

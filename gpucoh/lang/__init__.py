"""The kernel language: Python functions, compiled to a typed intermediate form and then to GPU instructions.

Types
    ``i32 u32 f32``, and bool for conditions (a word, 0 or 1). A variable has one type, that of its first assignment.
    A Python number takes the type of the other operand; alone it is i32 or f32. Integers become f32 in operations with
    f32; i32 and u32 do not mix without a conversion; only ``i32()`` and ``u32()`` convert f32 to an integer, which
    truncates, saturates, and makes 0 of NaN. Conversions between i32 and u32 keep the bits. Arrays may have elements of
    type ``i8 u8 i16 u16``: a load gives an i32, a store keeps the low bits of an i32 or u32.
    ``i64 u64 f64`` have 64 bits, two words: arguments, variables, elements of buffers and of scratchpad arrays with a
    size, arithmetic, comparisons, conversions, ``min max abs``, of f64 ``sqrt rsqrt fma floor ceil round trunc``, of
    integers ``popcount clz``, and atomics on buffers (of f64 ``atomic_add``), performed at once. A number of fewer bits
    becomes one of 64 by itself if all its values do (u32 becomes i64, not i32 u64), never the other way; f64 wins.
    Indices, shuffles, votes of the warp, local arrays and ``print`` take words.
Arithmetic
    Integers wrap. ``//`` and ``%`` floor as in Python; for integers ``x // 0`` and ``x % 0`` are 0, and the smallest
    i32 divided by -1 is itself; for f32 they equal NumPy's bit for bit. ``/`` gives f32. Shift counts are unsigned; a
    count of 32 and more gives 0, or the sign of an i32 shifted right. ``**`` takes an integer exponent:
    repeated multiplication, from the left for a constant from -16 to 16, else by squaring; an integer to a negative
    power is 0. f32 is rounded at each step, nothing is fused but by ``fma``. ``and`` and ``or`` give one
    of their operands, as in Python; accesses of the right side happen only when Python would evaluate it.
Control flow
    ``if elif else while for break continue return``, conditional expressions. ``for`` runs over ``range`` (its counter
    wraps as any number of its type) or over a constant tuple, which is unrolled. A branch on a constant from outside is
    decided when compiling. An innermost loop that counts from a constant to a constant is unrolled if its copies have
    up to 300 instructions, in kernels of up to 4,096. Lanes that diverge at a branch reconverge where their paths meet:
    two lanes of one warp that wait for each other, as for a lock, deadlock.
Names
    Numbers, tuples of numbers and device functions from outside are constants; a kernel is recompiled when one that
    it uses has changed. Functions marked ``@device`` are inlined, and cannot call themselves.
Arrays
    ``x[i]`` is a weak access. An index is an i32 or u32 and counts from 0; any other value is an error at run time.
    ``Buffer2[f32]`` is a buffer of two dimensions; ``len(x)`` and ``x.shape`` are the extents of any array. Arrays of
    several dimensions are checked as a whole, by ``row * width + column``, which wraps. Local arrays are initialised to
    zero; scratchpad arrays are not initialised.

This package imports nothing else of gpucoh but :mod:`gpucoh.base.errors`.
"""

from gpucoh.lang import intrinsics, operations
from gpucoh.lang.intrinsics import *  # noqa: F403
from gpucoh.lang.intrinsics import all, any
from gpucoh.lang.kernel import Device, Kernel, device, kernel
from gpucoh.lang.library import grid_barrier
from gpucoh.lang.operations import *  # noqa: F403
from gpucoh.lang.operations import abs, max, min, pow, round
from gpucoh.lang.program import Parameter, Program
from gpucoh.lang.records import record
from gpucoh.lang.types import (
    Buffer,
    Buffer2,
    Buffer3,
    BufferType,
    Element,
    ReadOnly,
    ReadOnly2,
    ReadOnly3,
    Scalar,
    f32,
    f64,
    i8,
    i16,
    i32,
    i64,
    u8,
    u16,
    u32,
    u64,
)

__all__ = [
    "Buffer",
    "Buffer2",
    "Buffer3",
    "BufferType",
    "Device",
    "Element",
    "Kernel",
    "Parameter",
    "Program",
    "ReadOnly",
    "ReadOnly2",
    "ReadOnly3",
    "Scalar",
    "abs",
    "all",
    "any",
    "device",
    "f32",
    "f64",
    "grid_barrier",
    "i8",
    "i16",
    "i32",
    "i64",
    "intrinsics",
    "kernel",
    "max",
    "min",
    "pow",
    "record",
    "round",
    "u8",
    "u16",
    "u32",
    "u64",
]
__all__ += intrinsics.__all__ + operations.__all__

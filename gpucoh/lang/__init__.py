"""The kernel language: a Python function becomes a typed intermediate form, then instructions of the simulated GPU.

Types
    ``i32 u32 f32``, and bool for conditions (a word, 0 or 1). A variable has one type, that of its first assignment.
    Python numbers take the type of what they meet, on their own they are i32 and f32. Integers become f32 where they
    meet f32; i32 and u32 do not mix without a conversion; f32 becomes an integer by ``i32()`` or ``u32()`` only, which
    truncates, saturates, and makes 0 of NaN. Conversions between i32 and u32 keep the bits.
Arithmetic
    Integers wrap. ``//`` and ``%`` floor as Python's; of integers ``x // 0`` and ``x % 0`` are 0, and the smallest
    i32 divided by -1 is itself; of f32 they are NumPy's to the bit. ``/`` gives f32. Shift counts are taken unsigned;
    32 and more leave 0, or the sign of an i32 shifted right. ``**`` takes a constant exponent from 0 to 16: repeated
    multiplication from the left. f32 is rounded at each step, nothing is fused. ``and`` and ``or`` give one of their
    operands, as in Python; what the right side would access is accessed only when Python would.
Control flow
    ``if elif else while for break continue return``, conditional expressions. ``for`` runs over ``range`` (its counter
    wraps like any number of its type) or over a constant tuple, which is written out. A branch on a constant of the
    surroundings is decided when compiling. Lanes that part at a branch join again where their paths meet: two lanes
    of one warp that wait for each other, as for a lock, never come on.
Names
    Numbers, tuples of numbers and device functions of the surroundings are constants; a kernel is compiled again when
    one that it uses has changed. Functions marked ``@device`` are inlined, and cannot call themselves.
Arrays
    ``x[i]`` is a weak access. An index is an i32 or u32 and counts from 0: the core reports others. 2-D scratchpad
    and local arrays are checked as a whole, by ``row * width + column``, which wraps. Local arrays start at zero,
    scratchpad arrays with anything.

Imports nothing of the rest of the package but :mod:`gpucoh.errors`.
"""

from gpucoh.lang import intrinsics
from gpucoh.lang.intrinsics import *  # noqa: F403
from gpucoh.lang.kernel import Device, Kernel, device, kernel
from gpucoh.lang.program import Parameter, Program
from gpucoh.lang.types import Buffer, BufferType, Scalar, f32, i32, u32

__all__ = [
    "Buffer",
    "BufferType",
    "Device",
    "Kernel",
    "Parameter",
    "Program",
    "Scalar",
    "device",
    "f32",
    "i32",
    "intrinsics",
    "kernel",
    "u32",
]
__all__ += intrinsics.__all__

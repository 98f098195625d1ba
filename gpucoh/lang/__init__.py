"""The kernel language: a Python function becomes a typed intermediate form, then instructions of the simulated GPU.

Imports nothing of the rest of the package but :mod:`gpucoh.errors`.
"""

from gpucoh.lang import intrinsics
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

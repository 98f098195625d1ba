"""What to write for names that users of NumPy, CUDA and Numba try first."""

from __future__ import annotations

import sys
from typing import NoReturn

from gpucoh.base.quoting import quoted
from gpucoh.lang.types import MissingType, located, missing_type, wide

_MEMORY = (
    "memory belongs to a GPU: gpu = gpucoh.GPU(...), then gpu.array(data), gpu.zeros(shape) or "
    "gpu.full(shape, value)"
)
_HINTS = {
    "array": _MEMORY,
    "zeros": _MEMORY,
    "ones": _MEMORY,
    "empty": _MEMORY,
    "full": _MEMORY,
    "to_device": _MEMORY,
    "device_array": _MEMORY,
    "launch": "a GPU launches kernels: gpu.launch(kernel, grid=..., block=..., args=(...))",
    "synchronize": "gpu.launch returns when the kernel has ended",
    "syncthreads": "write gpucoh.barrier()",
    "threadfence": "write gpucoh.fence(order, scope)",
    "threadIdx": "write gpucoh.thread_id(axis)",
    "blockIdx": "write gpucoh.block_id(axis)",
    "blockDim": "write gpucoh.block_dim(axis)",
    "gridDim": "write gpucoh.grid_dim(axis)",
    "grid": "write gpucoh.global_id(axis)",
    "jit": "write @gpucoh.kernel, or @gpucoh.device for a function that kernels call",
    "float32": "write gpucoh.f32",
    "int32": "write gpucoh.i32",
    "uint32": "write gpucoh.u32",
    "int8": "write gpucoh.i8",
    "uint8": "write gpucoh.u8",
    "int16": "write gpucoh.i16",
    "uint16": "write gpucoh.u16",
}


_CUDA = {
    "__syncthreads": _HINTS["syncthreads"],
    "__syncwarp": "write gpucoh.syncwarp()",
    "__threadfence": _HINTS["threadfence"],
    "__shfl_sync": "write gpucoh.shuffle(value, lane)",
    "__ballot_sync": "write gpucoh.ballot(condition)",
    "warpSize": "write gpucoh.warp_size()",
} | {
    f"atomic{name}": f"write gpucoh.atomic_{name.lower()}"
    for name in ("Add", "Sub", "Min", "Max", "And", "Or", "Xor", "Exch", "CAS")
}


def hint(name: str) -> str:
    """What to write for a name, behind a colon; empty if unknown."""
    known = _HINTS.get(name) or _CUDA.get(name)
    return f": {known}" if known else ""


def missing(name: str) -> NoReturn:
    """Raise the error of an unknown attribute of the package; ``__getattr__`` of the package."""
    if wide(name):
        raise located(MissingType, missing_type(name))
    text = f"module 'gpucoh' has no attribute {quoted(name)}"
    if hint(name):
        raise AttributeError(text + hint(name))
    raise AttributeError(text, name=name, obj=sys.modules["gpucoh"])  # Python adds a similar name

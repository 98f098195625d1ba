"""What to write for names that users of NumPy, CUDA and Numba try first."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable
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


#: Functions of NumPy and math -> what to write.
SYNONYMS = {
    "absolute": "gpucoh.abs", "fabs": "gpucoh.abs", "minimum": "gpucoh.min", "fmin": "gpucoh.min",
    "maximum": "gpucoh.max", "fmax": "gpucoh.max", "power": "gpucoh.pow", "float_power": "gpucoh.pow",
    "rint": "gpucoh.round", "around": "gpucoh.round", "fix": "gpucoh.trunc", "where": "a if condition else b",
    "exp2": "gpucoh.pow(2.0, x)", "log2": "gpucoh.log(x) / gpucoh.log(2.0)", "square": "x * x",
    "log10": "gpucoh.log(x) / gpucoh.log(10.0)", "hypot": "gpucoh.sqrt(x * x + y * y)", "mod": "%",
    "sum": "gpucoh.reduce_add(x), over the warp", "bitwise_count": "gpucoh.popcount", "fmod": "%",
    "isnan": "x != x", "clip": "gpucoh.min(gpucoh.max(x, low), high)", "remainder": "%",
}  # fmt: skip


def nearest(name: str, known: Iterable[str]) -> str:
    """``gpucoh.NAME`` of the known name nearest to ``name``, or an empty text."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.7)
    return f"gpucoh.{close[0]}" if close else ""


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
    """Raise the error of an unknown attribute of the package, for whom asks ``__getattr__`` of the package."""
    if wide(name):
        raise located(MissingType, missing_type(name), 1)
    text = f"module 'gpucoh' has no attribute {quoted(name)}"
    if hint(name):
        raise AttributeError(text + hint(name))
    raise AttributeError(text, name=name, obj=sys.modules["gpucoh"])  # Python adds a similar name

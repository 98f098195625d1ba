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

#: Node of Python's syntax tree -> why kernels cannot use it, and what to write.
REFUSED = {
    "Dict": "dictionaries cannot be used: use a buffer or nested ifs",
    "Set": "sets cannot be used: use comparisons joined by or",
    "List": "lists cannot be used: use a tuple of constants, gpucoh.local(...) or gpucoh.shared(...)",
    "ListComp": "comprehensions cannot be used: use a for loop",
    "SetComp": "comprehensions cannot be used: use a for loop",
    "DictComp": "comprehensions cannot be used: use a for loop",
    "GeneratorExp": "generators cannot be used: use a for loop",
    "Lambda": "lambda cannot be used: use a @gpucoh.device function",
    "NamedExpr": "':=' cannot be used: use an assignment of its own",
    "JoinedStr": "strings cannot be used: use numbers, or print(f'...')",
    "Await": "await cannot be used: use a plain function",
    "Yield": "yield cannot be used: use a buffer to return values",
    "YieldFrom": "yield cannot be used: use a buffer to return values",
    "Starred": "'*' arguments cannot be used: use each argument by name",
    "Slice": "slices cannot be used: use one index and a loop",
    "Try": "try cannot be used: use if",
    "TryStar": "try cannot be used: use if",
    "Raise": "raise cannot be used: use a store of an error code into a buffer",
    "With": "with cannot be used: use plain statements",
    "Import": "import cannot be used: use it at the top of the file",
    "ImportFrom": "import cannot be used: use it at the top of the file",
    "FunctionDef": "functions cannot be defined in kernels: use a @gpucoh.device function outside",
    "AsyncFunctionDef": "functions cannot be defined in kernels: use a @gpucoh.device function outside",
    "ClassDef": "classes cannot be defined in kernels: use plain variables",
    "Global": "global cannot be used: use a buffer",
    "Nonlocal": "nonlocal cannot be used: use a buffer",
    "Delete": "del cannot be used: use another name",
    "Match": "match cannot be used: use if and elif",
    "AsyncFor": "async cannot be used: use for",
    "AsyncWith": "async cannot be used: use plain statements",
}
#: Function of Python -> what to write.
REFUSED_CALLS = {
    "int": "use gpucoh.i32(...)",
    "float": "use gpucoh.f32(...)",
    "bool": "use a comparison, as x != 0",
    "round": "use gpucoh.round(x)",
    "pow": "use **, or gpucoh.pow(x, y) of f32",
    "sum": "use a loop, or gpucoh.reduce_add(x) over the warp",
    "any": "use gpucoh.any(x), over the warp",
    "all": "use gpucoh.all(x), over the warp",
    "divmod": "use // and %",
    "range": "use it in: for i in range(...)",
    "enumerate": "use for i in range(...)",
    "zip": "use for i in range(...)",
    "input": "use an argument",
}


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

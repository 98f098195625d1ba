"""Kernels of one statement of PTX each, for tests."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

import gpucoh

DTYPES = {
    "u8": np.uint8, "s8": np.int8, "b8": np.uint8, "u16": np.uint16, "s16": np.int16, "b16": np.uint16,
    "u32": np.uint32, "s32": np.int32, "b32": np.uint32, "u64": np.uint64, "s64": np.int64, "b64": np.uint64,
    "f32": np.float32, "f64": np.float64, "f16": np.uint16, "pred": np.uint32,
}  # fmt: skip
THREADS = 64


@dataclass(frozen=True)
class Form:
    """A statement over ``d``, ``a``, ``b`` and ``c``, the types of these, and what it computes of Python's numbers."""

    text: str
    types: str  # of d, a, b, c
    compute: Callable[..., object]

    @property
    def operands(self) -> list[str]:
        """Types of the operands."""
        return self.types.split()[1:]

    @property
    def result(self) -> str:
        """Type of the result."""
        return self.types.split()[0]


def kernel(number: int, form: Form) -> str:
    """A kernel that computes the form for each thread."""
    parameters = ",\n".join(f".param .u64 k{number}_{k}" for k in range(1 + len(form.operands)))
    lines = [f".visible .entry k{number}({parameters}) {{", ".reg .b64 %rd<9>; .reg .b32 %r<9>;"]
    names = "dabc"
    for name, type in zip(names, form.types.split(), strict=False):
        register = {"u8": "u16", "s8": "s16", "b8": "b16", "f16": "b16"}.get(type, type)
        lines.append(f".reg .{register} %{name};")
    lines += [".reg .pred %p, %q;", "mov.u32 %r0, %tid.x;"]
    for k, (name, type) in enumerate(zip(names[1:], form.operands, strict=False), 1):
        lines.append(f"ld.param.u64 %rd0, [k{number}_{k}];")
        lines += _load(name, type)
    lines += [form.text, f"ld.param.u64 %rd0, [k{number}_0];", *_store(form.result), "ret; }"]
    return "\n".join(lines)


def _address(type: str) -> list[str]:
    size = DTYPES[type]().itemsize
    return [f"mul.wide.u32 %rd1, %r0, {size};", "add.u64 %rd0, %rd0, %rd1;"]


def _load(name: str, type: str) -> list[str]:
    if type == "pred":
        return [*_address("u32"), "ld.global.u32 %r1, [%rd0];", f"setp.ne.u32 %{name}, %r1, 0;"]
    loaded = "b16" if type == "f16" else type
    return [*_address(type), f"ld.global.{loaded} %{name}, [%rd0];"]


def _store(type: str) -> list[str]:
    if type == "pred":
        return [*_address("u32"), "selp.u32 %r1, 1, 0, %d;", "st.global.u32 [%rd0], %r1;"]
    stored = "b16" if type == "f16" else type
    return [*_address(type), f"st.global.{stored} [%rd0], %d;"]


def text_of(forms: Sequence[Form]) -> str:
    """A module of the forms' kernels."""
    head = ".version 8.5\n.target sm_75\n.address_size 64\n"
    return head + "\n".join(kernel(number, form) for number, form in enumerate(forms))


def operands(type: str, generator: np.random.Generator) -> np.ndarray:
    """Values of a type for all threads, edge values first."""
    dtype = np.dtype(DTYPES[type])
    if type == "pred":
        return generator.integers(0, 2, THREADS, np.uint32)
    if dtype.kind == "f":
        values = (generator.standard_normal(THREADS) * 100).astype(dtype)
        values[:8] = [0.0, -0.0, 1.0, -1.5, 2.5, 0.5, 1e10, -3e9]
        return values
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    values = generator.integers(low, high, THREADS, dtype, endpoint=True)
    values[:6] = [0, 1, high, low, high - 1, 3]
    return values


def results(forms: Sequence[Form], given: Sequence[Sequence[np.ndarray]]) -> list[np.ndarray]:
    """What the kernels compute."""
    module = gpucoh.cuda.Module(text_of(forms))
    found = []
    with gpucoh.GPU(machine="fermi", protocol="ideal") as gpu:
        for number, (form, arrays) in enumerate(zip(forms, given, strict=True)):
            out = gpu.zeros(THREADS, DTYPES[form.result])
            mine = [gpu.array(array, dtype=array.dtype) for array in arrays]
            module[f"k{number}"][1, THREADS](out, *mine)
            found.append(out.numpy())
    return found

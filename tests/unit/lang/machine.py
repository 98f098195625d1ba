"""Machine code of kernels, decoded, and their runs on the core, whose operations test_operations.py and
test_extended.py compare with NumPy and whole numbers of Python.
"""

from dataclasses import dataclass

import numpy as np

import gpucoh
from gpucoh.lang import isa
from gpucoh.lang.kernel import Kernel
from gpucoh.lang.program import Program


@dataclass
class Op:
    """One decoded instruction."""

    name: str
    type: int
    order: str
    scope: str
    flags: int
    d: int
    a: int
    b: int
    c: int
    immediate: int
    target: int
    join: int
    line: int
    file: int


def decode(program: Program) -> list[Op]:
    ops = []
    for opcode, type_, order, scope, _, _, *rest in isa.PACKING.iter_unpack(program.code):
        names = isa.OPCODE_NAMES[opcode], type_, isa.ORDER_NAMES[order], isa.SCOPE_NAMES[scope]
        ops.append(Op(*names, *rest))
    return ops


def names(kernel: Kernel, lanes: int = 32) -> list[str]:
    """The operations of a kernel's code."""
    return [op.name for op in decode(kernel.compile(lanes))]


def run(kernel: Kernel, grid, block, args, lanes: int = 32, protocol: str = "ideal") -> None:
    """Launch; arrays among ``args`` are changed in place."""
    machine = gpucoh.machine("fermi").replace(lanes_per_warp=lanes)
    with gpucoh.GPU(machine=machine, protocol=protocol) as gpu:
        given = [gpu.array(value) if isinstance(value, np.ndarray) else value for value in args]
        gpu.launch(kernel, grid=grid, block=block, args=given)
        for array, value in zip(given, args, strict=True):
            if isinstance(value, np.ndarray):
                value[...] = array.numpy()

"""Machine code of kernels, decoded, and their runs on the core, whose operations test_operations.py and
test_extended.py compare with NumPy and whole numbers of Python.
"""

import numpy as np

import gpucoh
from gpucoh.lang import isa
from gpucoh.lang.kernel import Kernel
from gpucoh.lang.program import Program


class Op(isa.Fields):
    """One decoded instruction."""

    name = property(lambda self: isa.OPCODE_NAMES[self.opcode])
    order = property(lambda self: isa.ORDER_NAMES[self[2]])
    scope = property(lambda self: isa.SCOPE_NAMES[self[3]])


def decode(program: Program) -> list[Op]:
    return [Op(*fields) for fields in isa.unpacked(program.code)]


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

"""From a kernel of a PTX module to a program: lowering, optimisation, assembly."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gpucoh.base.errors import KernelError
from gpucoh.lang import flow, optimise, schedule
from gpucoh.lang.assemble import Assembler
from gpucoh.lang.ir import Block, Constant, Function, Instruction, Jump
from gpucoh.lang.program import Parameter, Program
from gpucoh.lang.types import U32
from gpucoh.ptx import (  # noqa: F401 - each registers the handlers of its statements
    arithmetic,
    atomics,
    bits,
    comparisons,
    control,
    conversions,
    fragments,
    matrices,
    memory,
    moves,
    sync,
)
from gpucoh.ptx.constants import WARP_SZ
from gpucoh.ptx.fuse import fuse
from gpucoh.ptx.layout import Layout, parameter_word, symbol_words
from gpucoh.ptx.lowering import Lowering
from gpucoh.ptx.module import Module

__all__ = ["Translation", "translate"]


@dataclass(frozen=True)
class _Source:
    """A source file of a program; lines count from 0 at its line 0."""

    filename: str
    first_line: int = 0
    what: str = "kernel"


@dataclass(frozen=True)
class Translation:
    """A kernel's program, and what its launch must give.

    Attributes
    ----------
    program : Program
    layout : Layout
        Offsets of parameters; symbols in global memory, whose addresses the launch gives.
    """

    program: Program
    layout: Layout


def translate(module: Module, name: str, shown: str | None = None) -> Translation:
    """Translate a kernel, which messages call ``shown``.

    Raises
    ------
    KernelError
        For a kernel that is not in the module, or an instruction that is not supported; with the source line.
    """
    kernel = module.functions.get(name)
    if kernel is None or not kernel.is_kernel or not kernel.is_defined:
        known = ", ".join(module.kernels) or "none"
        raise KernelError(f"kernel '{name}' is not in {module.name} (kernels: {known})")
    x = Lowering(module, kernel, shown or name)
    if kernel.has_clusters:
        raise x.unsupported("a cluster of blocks")
    x.frame.local_at = x.layout.add_local(kernel)
    if x.layout.reduces_at_barriers:
        sync.begin_reductions(x)
    control.lower_body(x)
    function = control.finish(x)
    flow.remove_unreachable(function)
    assign_at_entry(function)
    optimise.optimise(function, unrolled=False)  # as the compiler that wrote the PTX left the loops
    while fuse(function):
        optimise.improve(function)
    schedule.schedule(function)
    layout = x.layout
    names = [parameter_word(k) for k in range(-(-layout.parameter_bytes // 4))]
    for symbol in layout.symbols:
        names += symbol_words(symbol)
    if layout.needs_parameters_in_memory:
        names += symbol_words("")
    parameters = [Parameter(word, "scalar", U32) for word in names]
    units = [_Source(file) for file in x.files]
    program = Assembler(function, units, parameters, WARP_SZ).assemble()  # type: ignore[arg-type]
    program = replace(
        program, spilled_for=kernel.least_blocks, barrier_words=layout.reduction_bytes // 4
    )
    return Translation(program, layout)


def assign_at_entry(function: Function) -> None:
    """Give registers that may be read before they are assigned the value 0 at the entry.

    PTX leaves them undefined, which compilers use for values that no path needs. The optimiser relies on definitions
    that dominate their uses.
    """
    unassigned = dict.fromkeys(register for register, _ in optimise.find_unassigned(function))
    if not unassigned:
        return
    entry = Block(-1)
    first = function.blocks[0]
    place = first.instructions[0].place if first.instructions else (0, 0)
    entry.instructions = [
        Instruction("MOVE", U32, register, [Constant(0)], place) for register in unassigned
    ]
    entry.terminator = Jump(first, place)
    function.blocks.insert(0, entry)
    for number, block in enumerate(function.blocks):
        block.number = number

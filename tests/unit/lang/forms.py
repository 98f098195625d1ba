"""Programs for tests, written in the intermediate form: what the language of kernels does not express."""

from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np

import gpucoh
from gpucoh.lang import isa
from gpucoh.lang.assemble import Assembler
from gpucoh.lang.ir import Block, Constant, Exit, Function, Instruction, Operand, Register
from gpucoh.lang.optimise import optimise
from gpucoh.lang.program import Parameter, Program
from gpucoh.lang.types import F32, I32, U32, Element

WORDS = {"I32": I32, "U32": U32, "F32": F32}
PLACE = (0, 0)


class Form:
    """One function under construction; instructions go to the block ``at``."""

    def __init__(self, *buffers: str) -> None:
        self.function = Function("form")
        self.buffers = buffers
        self.line = 0
        self.at = self.block()

    def block(self) -> Block:
        """A new block, which ends the thread unless the test says otherwise."""
        block = Block(len(self.function.blocks), terminator=Exit(PLACE))
        self.function.blocks.append(block)
        return block

    def add(
        self,
        op: str,
        sources: Sequence[Operand | int],
        words: int = 1,
        type: Element = U32,
        **fields,
    ) -> list[Register]:
        """An instruction; the registers of its result."""
        results = [self.function.new_register() for _ in range(words)]
        if words > 1:
            self.function.groups.append(tuple(results))
        self.at.instructions.append(
            Instruction(
                op,
                type,
                results[0] if results else None,
                [Constant(s) if isinstance(s, int) else s for s in sources],
                (0, self.line),
                more=tuple(results[1:]),
                **fields,
            )
        )
        return results

    def extended(
        self, name: str, *operands: Sequence[Operand | int], flags: int = 0
    ) -> list[Register]:
        """An instruction EXTENDED."""
        row = isa.EXTENDED[name]
        sources = [word for operand in operands for word in operand]
        return self.add("EXTENDED", sources, row.d, immediate=row.number, flags=flags)

    def thread(self) -> Register:
        """The linear index of the thread, of blocks of one dimension."""
        x, block, size = (
            self.add("SPECIAL", [], immediate=isa.SPECIALS[name], type=I32)[0]
            for name in ("THREAD_X", "BLOCK_X", "BLOCK_DIM_X")
        )
        (first,) = self.add("MUL", [block, size])
        return self.add("ADD", [first, x])[0]

    def program(self, lanes: int = 32, optimised: bool = True) -> Program:
        """The machine code."""
        if optimised:
            optimise(self.function)
        unit = SimpleNamespace(filename="form.cu", first_line=0)
        parameters = [Parameter(name, "buffer", U32) for name in self.buffers]
        return Assembler(self.function, [unit], parameters, lanes).assemble()


def run(
    program: Program,
    arrays: Sequence[np.ndarray],
    grid: int = 1,
    block: int = 32,
    protocol: str = "no-l1",
    machine: str = "fermi",
) -> list[np.ndarray]:
    """Launch a program; the arrays afterwards."""
    with gpucoh.GPU(machine=machine, protocol=protocol) as gpu:
        mine = [gpu.array(array) for array in arrays]
        gpu.launch_program(program, (grid, 1, 1), (block, 1, 1), mine)
        return [array.numpy() for array in mine]

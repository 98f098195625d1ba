"""Products added to 64 bits by one instruction, as CUDA's assembler makes addresses (IMAD.WIDE)."""

from __future__ import annotations

from gpucoh.lang import isa
from gpucoh.lang.ir import Function, Instruction, Operand, Register

_FUSED = {
    isa.EXTENDED[f"MULWIDE_{sign}32"].number: isa.EXTENDED[f"MADWIDE_{sign}32"].number
    for sign in "SU"
}
_ADD = isa.EXTENDED["ADD_B64"].number


def fuse_products(function: Function) -> None:
    """Turn additions of a product that the same block computes into MADWIDE; an unread product goes."""
    for block in function.blocks:
        products: dict[tuple[Operand | None, ...], Instruction] = {}
        for instruction in block.instructions:
            if instruction.op == "EXTENDED" and instruction.immediate == _ADD:
                _fuse(instruction, products)
            for register in instruction.defined:
                _forget(register, products)
            multiplies = instruction.op == "EXTENDED" and instruction.immediate in _FUSED
            if multiplies and not set(instruction.defined) & set(instruction.used()):
                products[instruction.defined] = instruction


def _fuse(
    instruction: Instruction, products: dict[tuple[Operand | None, ...], Instruction]
) -> None:
    words = tuple(instruction.sources)
    for product, rest in ((words[:2], words[2:]), (words[2:], words[:2])):
        found = products.get(product)
        if found is not None:
            instruction.immediate = _FUSED[found.immediate]
            instruction.sources = [*found.sources, *rest]
            return


def _forget(register: Register, products: dict[tuple[Operand | None, ...], Instruction]) -> None:
    for key in [k for k, found in products.items() if register in k or register in found.sources]:
        del products[key]

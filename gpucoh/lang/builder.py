"""Building of the intermediate form, for every front end: the present block, its end, source places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from gpucoh.lang.ir import (
    Block,
    Branch,
    Exit,
    Function,
    Instruction,
    Jump,
    Operand,
    Place,
    Register,
)
from gpucoh.lang.types import Element

Registers: TypeAlias = tuple[Register, ...]


class Builder:
    """Appends instructions and blocks to a :class:`Function`; knows neither types nor a source language.

    Attributes
    ----------
    function : Function
        What is built.
    block : Block
        Where instructions go.
    place : Place
        The source place of what is emitted from here on.
    """

    def __init__(self, name: str) -> None:
        self.function = Function(name)
        self.place: Place = (0, 0)
        self._next_block = 0
        self.resume(self.new_block())

    def new_block(self) -> Block:
        """A block without a place yet."""
        self._next_block += 1
        return Block(self._next_block - 1)

    def append(self, instruction: Instruction) -> None:
        """Append an instruction."""
        self.block.instructions.append(instruction)

    def new(self, words: int = 1, name: str | None = None) -> Registers:
        """New registers; several are a group."""
        registers = tuple(self.function.new_register(name) for _ in range(words))
        if words > 1:
            self.function.groups.append(registers)
        return registers

    def emit(
        self,
        op: str,
        type: Element,
        to: Registers,
        sources: Sequence[Operand | None],
        *,
        immediate: int = 0,
        **fields: Any,
    ) -> Registers:
        """Append an instruction, with the other fields of :class:`Instruction`. Its results are ``to``."""
        immediate &= 0xFFFFFFFF
        first = to[0] if to else None
        self.append(
            Instruction(
                op, type, first, list(sources), self.place, immediate, more=to[1:], **fields
            )
        )
        return to

    def start(self, block: Block) -> None:
        """Continue in ``block``; the block before falls into it unless it has ended."""
        if self.block.terminator is None:
            self.block.terminator = Jump(block, self.place)
        self.resume(block)

    def resume(self, block: Block) -> None:
        """Continue in ``block``, which only branches reach; the block before is not changed."""
        self.block = block
        self.function.blocks.append(block)

    def jump(self, target: Block) -> None:
        """End the block; any code that follows is unreachable."""
        if self.block.terminator is None:
            self.block.terminator = Jump(target, self.place)
        self.resume(self.new_block())

    def exit(self) -> None:
        """End the thread."""
        if self.block.terminator is None:
            self.block.terminator = Exit(self.place)
        self.resume(self.new_block())

    def split(self, condition: Operand, if_true: Block, if_false: Block) -> None:
        """End the block with a branch; the caller continues in one of the targets."""
        self.block.terminator = Branch(condition, if_true, if_false, self.place)

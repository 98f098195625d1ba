"""Uniformity analysis: values that are the same in all lanes of a warp, and branches that diverge."""

from __future__ import annotations

from gpucoh.lang import flow, isa
from gpucoh.lang.ir import PURE, VOTES, Block, Branch, Function, Instruction, Register

#: Special registers that differ between the lanes of a warp.
PER_LANE = frozenset(isa.SPECIALS[name] for name in ("THREAD_X", "THREAD_Y", "THREAD_Z", "LANE"))


def analyse(function: Function, joins: dict[Block, Block | None]) -> set[Register]:
    """The uniform registers; sets ``Instruction.uniform`` and ``Branch.divergent``.

    The analysis is optimistic: all registers start uniform, and those that are not are removed until nothing changes. A
    register is uniform if all its definitions are. A definition is uniform if it is arithmetic on uniform values, a
    special register of the warp, or a vote, and no divergent branch is open there: between a divergent branch and its
    join, lanes execute a definition at different times, or not at all. In such a place only a temporary that is read
    in its own block alone may be uniform, and only if it is arithmetic: then nothing else can execute in between.
    """
    definitions = function.definitions()
    readers = _reading_blocks(function)
    varying = {register for group in function.groups for register in group}
    parted: set[Block] = set()
    changed = True
    while changed:
        changed = False
        for block in function.blocks:
            condition = block.condition()
            if condition in varying and block not in parted:
                inside = flow.region(block, joins[block])
                if not inside <= parted:
                    parted |= inside
                    changed = True
        for register, places in definitions.items():
            if register in varying:
                continue
            alone = len(places) == 1 and readers.get(register, set()) <= {places[0][0]}
            for block, instruction in places:
                if not _is_uniform(instruction, varying, block in parted, alone):
                    varying.add(register)
                    changed = True
                    break
    for block in function.blocks:
        for instruction in block.instructions:
            instruction.uniform = instruction.dest is not None and instruction.dest not in varying
        if isinstance(block.terminator, Branch):
            block.terminator.divergent = block.condition() in varying
    return set(definitions) - varying


def _is_uniform(
    instruction: Instruction, varying: set[Register], parted: bool, alone: bool
) -> bool:
    if instruction.op in PURE:
        return (not parted or alone) and not any(r in varying for r in instruction.used())
    if parted:
        return False
    if instruction.op == "SPECIAL":
        return instruction.immediate not in PER_LANE
    return instruction.op in VOTES


def _reading_blocks(function: Function) -> dict[Register, set[Block]]:
    readers: dict[Register, set[Block]] = {}
    for block in function.blocks:
        for instruction in block.instructions:
            for register in instruction.used():
                readers.setdefault(register, set()).add(block)
        condition = block.condition()
        if condition is not None:
            readers.setdefault(condition, set()).add(block)
    return readers

"""Order of instructions within a block: loads first, so that they are in flight together, as GPU compilers do.

Warps issue in order and wait at the first use of a loaded value. Within a run of plain loads and arithmetic the loads,
and the computation of their addresses, therefore move before the rest. Nothing moves across a store, an atomic, a
fence, a barrier, an ordered load or any other side effect, and loads keep their order among themselves.
"""

from __future__ import annotations

from gpucoh.lang.ir import PURE, Function, Instruction, Register

#: Largest number of loads moved together: each holds a register until its use.
MAX_GROUP = 8


def schedule(function: Function) -> None:
    """Reorder the instructions of every block."""
    for block in function.blocks:
        ordered: list[Instruction] = []
        run: list[Instruction] = []
        loads = 0
        for instruction in block.instructions:
            if not _is_load(instruction) and instruction.op not in PURE:
                ordered += _loads_first(run)
                ordered.append(instruction)
                run, loads = [], 0
                continue
            if _is_load(instruction):
                loads += 1
                if loads > MAX_GROUP:
                    ordered += _loads_first(run)
                    run, loads = [], 1
            run.append(instruction)
        block.instructions = ordered + _loads_first(run)


def _is_load(instruction: Instruction) -> bool:
    plain = instruction.op == "LOAD" and instruction.order == "WEAK"
    return plain or instruction.op == "SHARED_LOAD"


def _loads_first(run: list[Instruction]) -> list[Instruction]:
    """The loads of a run and the instructions that they depend on, then the rest; both in their old order."""
    if sum(map(_is_load, run)) < 2:
        return run
    before = _dependencies(run)
    early: list[int] = []
    done: set[int] = set()
    for k, instruction in enumerate(run):
        if _is_load(instruction):
            needed = {k}
            pending = [k]
            while pending:
                for other in before[pending.pop()] - needed - done:
                    needed.add(other)
                    pending.append(other)
            early += sorted(needed)
            done |= needed
    return [run[k] for k in early] + [run[k] for k in range(len(run)) if k not in done]


def _dependencies(run: list[Instruction]) -> list[set[int]]:
    """For each instruction the earlier ones that write its sources or destination, or read its destination."""
    written: dict[Register, int] = {}
    read: dict[Register, list[int]] = {}
    found: list[set[int]] = []
    for k, instruction in enumerate(run):
        needs = {written[register] for register in instruction.used() if register in written}
        for register in instruction.used():
            read.setdefault(register, []).append(k)
        for dest in instruction.defined:
            needs |= {reader for reader in read.get(dest, ()) if reader != k}
            if dest in written:
                needs.add(written[dest])
            written[dest] = k
            read[dest] = []
        found.append(needs)
    return found

"""Analyses of the control-flow graph: reachability, dominators, reconvergence, liveness. Sets are bits of integers."""

from __future__ import annotations

from collections.abc import Callable

from gpucoh.lang.ir import Block, Branch, Exit, Function, Instruction, Jump, Register


def reachable(function: Function) -> set[Block]:
    """The blocks that are reachable from the entry."""
    seen = {function.blocks[0]}
    pending = [function.blocks[0]]
    while pending:
        for successor in pending.pop().successors():
            if successor not in seen:
                seen.add(successor)
                pending.append(successor)
    return seen


def remove_unreachable(function: Function) -> None:
    """Drop unreachable blocks."""
    seen = reachable(function)
    function.blocks = [block for block in function.blocks if block in seen]


def predecessors(function: Function) -> dict[Block, list[Block]]:
    """The predecessors of every block."""
    found: dict[Block, list[Block]] = {block: [] for block in function.blocks}
    for block in function.blocks:
        for successor in dict.fromkeys(block.successors()):
            found[successor].append(block)
    return found


def simplify(function: Function) -> None:
    """Thread jumps to empty blocks, join straight runs, drop unreachable blocks."""
    changed = True
    while changed:
        changed = False
        remove_unreachable(function)
        for block in function.blocks:
            changed |= _thread(block)
        remove_unreachable(function)
        before = predecessors(function)
        for block in list(function.blocks):
            terminator = block.terminator
            while isinstance(terminator, Jump):
                following = terminator.target
                if (
                    following is block
                    or following is function.blocks[0]
                    or len(before[following]) != 1
                ):
                    break
                block.instructions += following.instructions
                terminator = block.terminator = following.terminator
                following.instructions, following.terminator = [], None
                for successor in block.successors():
                    before[successor] = [block if b is following else b for b in before[successor]]
                changed = True
        function.blocks = [block for block in function.blocks if block.terminator is not None]


def _thread(block: Block) -> bool:
    """Make a block's terminator skip empty blocks that only jump."""

    def final(target: Block) -> Block:
        seen = set()
        while (
            not target.instructions and isinstance(target.terminator, Jump) and target not in seen
        ):
            seen.add(target)
            target = target.terminator.target
        return target

    terminator = block.terminator
    changed = False
    if isinstance(terminator, Jump):
        target = final(terminator.target)
        changed, terminator.target = target is not terminator.target, target
    elif isinstance(terminator, Branch):
        a, b = final(terminator.if_true), final(terminator.if_false)
        changed = a is not terminator.if_true or b is not terminator.if_false
        terminator.if_true, terminator.if_false = a, b
        if a is b:
            block.terminator = Jump(a, terminator.place)
            changed = True
    return changed


def dominator_sets(blocks: list[Block], entry: int, edges: Callable[[int], list[int]]) -> list[int]:
    """For each block number the set of its dominators (itself included), over predecessor edges ``edges``."""
    everything = (1 << len(blocks)) - 1
    dominators = [everything] * len(blocks)
    dominators[entry] = 1 << entry
    changed = True
    while changed:
        changed = False
        for k in range(len(blocks)):
            if k == entry:
                continue
            meet = everything
            for p in edges(k):
                meet &= dominators[p]
            meet |= 1 << k
            if meet != dominators[k]:
                dominators[k] = meet
                changed = True
    return dominators


def immediate(dominators: list[int], k: int) -> int | None:
    """The nearest strict dominator: of a chain of sets, the one with the most members."""
    strict = dominators[k] & ~(1 << k)
    best = None
    while strict:
        low = strict & -strict
        candidate = low.bit_length() - 1
        if best is None or dominators[candidate].bit_count() > dominators[best].bit_count():
            best = candidate
        strict ^= low
    return best


def dominator_children(function: Function) -> dict[Block, list[Block]]:
    """The dominator tree."""
    blocks = function.blocks
    number = {block: k for k, block in enumerate(blocks)}
    before = predecessors(function)
    sets = dominator_sets(blocks, 0, lambda k: [number[p] for p in before[blocks[k]]])
    children: dict[Block, list[Block]] = {block: [] for block in blocks}
    for k in range(1, len(blocks)):
        parent = immediate(sets, k)
        assert parent is not None
        children[blocks[parent]].append(blocks[k])
    return children


def reconvergence(function: Function) -> dict[Block, Block | None]:
    """The reconvergence point of a block's branch, or None: the end of the program.

    That is the immediate post-dominator, with one refinement: lanes that exit early never reconverge, so paths that
    lead only to an early exit do not count. After ``if i >= n: return`` the other lanes reconverge at once.
    The computation works in layers: the last exit in source order is the end of the first layer, which has all blocks
    that reach it; the remaining blocks are processed in the same way.
    """
    found: dict[Block, Block | None] = {}
    rest = list(function.blocks)
    before = predecessors(function)
    while rest:
        exits = [block for block in rest if isinstance(block.terminator, Exit)]
        end = exits[-1] if exits else rest[-1]
        layer = {end}
        pending = [end]
        allowed = set(rest)
        while pending:
            for p in before[pending.pop()]:
                if p in allowed and p not in layer:
                    layer.add(p)
                    pending.append(p)
        blocks = [block for block in rest if block in layer]
        number = {block: k for k, block in enumerate(blocks)}
        after = [[number[s] for s in block.successors() if s in number] for block in blocks]
        sets = dominator_sets(blocks, number[end], after.__getitem__)
        for k, block in enumerate(blocks):
            nearest = immediate(sets, k)
            found[block] = blocks[nearest] if nearest is not None else None
        rest = [block for block in rest if block not in layer]
    return found


def region(block: Block, join: Block | None) -> set[Block]:
    """The blocks that lanes may execute between the branch at the end of ``block`` and ``join``."""
    seen: set[Block] = set()
    pending = [s for s in block.successors() if s is not join]
    while pending:
        inside = pending.pop()
        if inside not in seen:
            seen.add(inside)
            pending.extend(s for s in inside.successors() if s is not join)
    return seen


class Liveness:
    """Live registers at the end of each block, with the successors that ``successors`` returns; sets are bits."""

    def __init__(
        self,
        function: Function,
        counts: Callable[[Register], bool] = lambda register: True,
        successors: Callable[[Block], list[Block]] = lambda block: list(block.successors()),
    ) -> None:
        self.counts = counts
        generated: dict[Block, int] = {}
        killed: dict[Block, int] = {}
        for block in function.blocks:
            use = kill = 0
            for instruction in block.instructions:
                use |= self.uses(instruction) & ~kill
                kill |= self.defines(instruction)
            generated[block] = use | (self.condition(block) & ~kill)
            killed[block] = kill
        self.live_in: dict[Block, int] = dict(generated)
        self.live_out: dict[Block, int] = dict.fromkeys(function.blocks, 0)
        after = {block: successors(block) for block in function.blocks}
        changed = True
        while changed:
            changed = False
            for block in reversed(function.blocks):
                out = 0
                for successor in after[block]:
                    out |= self.live_in[successor]
                if out != self.live_out[block]:
                    self.live_out[block] = out
                    self.live_in[block] = generated[block] | (out & ~killed[block])
                    changed = True

    def bit(self, register: Register | None) -> int:
        """The bit of a register, 0 if it is not in the analysis."""
        return 1 << register.number if register is not None and self.counts(register) else 0

    def uses(self, instruction: Instruction) -> int:
        """Bits of the registers that an instruction reads."""
        bits = 0
        for register in instruction.used():
            bits |= self.bit(register)
        return bits

    def defines(self, instruction: Instruction) -> int:
        """Bits of the registers that an instruction writes."""
        bits = self.bit(instruction.dest)
        for register in instruction.more:
            bits |= self.bit(register)
        return bits

    def condition(self, block: Block) -> int:
        """Bit of the register that a block's branch reads."""
        return self.bit(block.condition())

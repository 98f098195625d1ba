"""Complete unrolling of loops that run a constant number of times, as GPU compilers do.

A loop is unrolled if its copies have at most :data:`MAX_UNROLLED_INSTRUCTIONS` instructions, and no loop remains in it:
CUDA's compiler, too, keeps an outer loop whose inner one runs a varying number of times. Each copy has the counter as a
constant and registers of its own, so that indices and conditions of the counter fold.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from gpucoh.lang import flow
from gpucoh.lang.folding import fold
from gpucoh.lang.ir import (
    COMPARISONS,
    PURE,
    Block,
    Branch,
    Constant,
    Function,
    Groups,
    Instruction,
    Jump,
    Operand,
    Register,
)

#: Instructions of a loop's copies together, without moves and arithmetic of addresses: LLVM's threshold at -O3
#: (``-unroll-threshold-aggressive`` of LoopUnrollPass.cpp), on which CUDA's compiler is built.
MAX_UNROLLED_INSTRUCTIONS = 300
#: Instructions of a kernel beyond which no loop is unrolled: a quarter of the most that a kernel may have.
MAX_KERNEL_INSTRUCTIONS = 1 << 12

_Definitions = dict[Register, list[tuple[Block, Instruction]]]


@dataclass
class _Loop:
    """A loop with one entry, whose last block alone repeats it."""

    header: Block
    latch: Block
    blocks: list[Block]  # in the function's order
    exit: Block


@dataclass
class _Count:
    """The counter of a loop, and its value in each iteration."""

    counter: Register
    update: Instruction
    values: list[int]
    following: list[int]  # after the update


def unroll(function: Function) -> bool:
    """Unroll innermost loops. Whether there was one."""
    changed = False
    for loop in list(_innermost(function)):
        if _size(function) > MAX_KERNEL_INSTRUCTIONS:
            break
        definitions = function.definitions()
        count = _count(function, loop, definitions)
        if count is None:
            continue
        if len(count.values) * _weight(function, loop, count) <= MAX_UNROLLED_INSTRUCTIONS:
            _unroll(function, loop, count, definitions)
            changed = True
    return changed


def _size(function: Function) -> int:
    return sum(len(block.instructions) for block in function.blocks)


def _innermost(function: Function) -> Iterator[_Loop]:
    """The natural loops without others inside that have one back edge, a branch."""
    blocks = function.blocks
    number = {block: k for k, block in enumerate(blocks)}
    before = flow.predecessors(function)
    dominators = flow.dominator_sets(blocks, 0, lambda k: [number[p] for p in before[blocks[k]]])
    edges: dict[Block, list[Block]] = {}
    for block in blocks:
        for successor in dict.fromkeys(block.successors()):
            if dominators[number[block]] >> number[successor] & 1:
                edges.setdefault(successor, []).append(block)
    for header, latches in edges.items():
        latch = latches[0]
        if len(latches) != 1 or not isinstance(latch.terminator, Branch):
            continue
        inside = {header, latch}
        pending = [latch] if latch is not header else []
        while pending:
            for p in before[pending.pop()]:
                if p not in inside:
                    inside.add(p)
                    pending.append(p)
        outside = [block for block in latch.successors() if block not in inside]
        if len(outside) == 1 and edges.keys() & inside == {header}:
            members = sorted(inside, key=number.__getitem__)
            yield _Loop(header, latch, members, outside[0])


def _count(function: Function, loop: _Loop, definitions: _Definitions) -> _Count | None:
    """The counter that decides about the loop's end, if it counts from a constant to a constant."""
    branch, last = loop.latch.terminator, loop.latch.instructions
    assert isinstance(branch, Branch)
    places = definitions.get(branch.condition, []) if isinstance(branch.condition, Register) else []
    if len(places) != 1 or places[0][0] is not loop.latch:
        return None
    test = places[0][1]
    if test.op not in COMPARISONS or test.type.loaded is not test.type:
        return None
    compared = [source for source in test.sources if isinstance(source, Register)]
    if len(compared) != 1 or not all(isinstance(s, (Register, Constant)) for s in test.sources):
        return None
    for counter in _counters(compared[0], loop, definitions):
        step = _step(counter, loop, definitions)
        start = _start(function, counter, loop, definitions)
        if step is None or start is None:
            continue
        update, by = step
        new = compared[0] is not counter or last.index(test) > last.index(update)
        values, following = [start], []
        while len(values) <= MAX_UNROLLED_INSTRUCTIONS:
            following.append((values[-1] + by) & 0xFFFFFFFF)
            now = following[-1] if new else values[-1]
            words = [s.bits if isinstance(s, Constant) else now for s in test.sources]
            again = fold(test.op, test.type.loaded, words)
            if bool(again) != (branch.if_true is loop.header):
                return _Count(counter, update, values, following)
            values.append(following[-1])
    return None


def _counters(compared: Register, loop: _Loop, definitions: _Definitions) -> Iterator[Register]:
    """The registers that may be the counter: the compared one, or that of which it is the next value."""
    places = definitions[compared]
    if len(places) == 2:
        yield compared
    elif len(places) == 1 and places[0][0] is loop.latch and places[0][1].op == "ADD":
        for source in places[0][1].sources:
            if isinstance(source, Register) and len(definitions.get(source, ())) == 2:
                yield source


def _step(
    counter: Register, loop: _Loop, definitions: _Definitions
) -> tuple[Instruction, int] | None:
    """The only instruction of the loop that changes the counter, in the loop's last block, and by how much."""
    inside = [i for block, i in definitions[counter] if block in loop.blocks]
    if len(inside) != 1 or inside[0] not in loop.latch.instructions:
        return None
    update = added = inside[0]
    if update.op == "MOVE" and isinstance(update.sources[0], Register):
        places = definitions.get(update.sources[0], [])
        if len(places) != 1 or places[0][0] is not loop.latch:
            return None
        added = places[0][1]
    if added.op not in ("ADD", "SUB") or added.type.loaded.name == "f32" or added.more:
        return None
    a, b = added.sources
    if added.op == "ADD" and isinstance(a, Constant):
        a, b = b, a
    if a is not counter or not isinstance(b, Constant):
        return None
    instructions = loop.latch.instructions
    if instructions.index(added) > instructions.index(update):
        return None
    return update, b.bits if added.op == "ADD" else -b.bits


def _start(
    function: Function, counter: Register, loop: _Loop, definitions: _Definitions
) -> int | None:
    """The constant that the counter has at every entry of the loop."""
    outside = [(block, i) for block, i in definitions[counter] if block not in loop.blocks]
    if len(outside) != 1 or outside[0][1].op != "MOVE":
        return None
    defined, move = outside[0]
    value = move.sources[0]
    if not isinstance(value, Constant):
        return None
    before = flow.predecessors(function)
    entries = [block for block in before[loop.header] if block not in loop.blocks]
    seen: set[Block] = set()
    while len(entries) == 1 and entries[0] not in seen and entries[0] not in loop.blocks:
        if entries[0] is defined:
            return value.bits
        seen.add(entries[0])
        entries = before[entries[0]]
    return None


def _weight(function: Function, loop: _Loop, count: _Count) -> int:
    """Instructions of an iteration that remain: no moves, arithmetic of the counter alone, and of addresses."""
    known: set[Operand | None] = {count.counter}
    uses: dict[Register, list[Instruction | None]] = {}
    body = [i for block in loop.blocks for i in block.instructions]
    for instruction in body:
        for register in instruction.used():
            uses.setdefault(register, []).append(instruction)
        if instruction.op in PURE and all(
            s in known or isinstance(s, Constant) for s in instruction.sources
        ):
            known.add(instruction.dest)
    for block in function.blocks:
        condition = block.condition()
        if condition is not None:
            uses.setdefault(condition, []).append(None)
    addresses: set[Register | None] = set()

    def is_address(user: Instruction | None, register: Register) -> bool:
        if user is None:
            return False
        if user.dest in addresses and user.op in PURE:
            return True
        return (
            user.op in _INDEXED and user.sources[0] is register and register not in user.sources[1:]
        )

    for instruction in reversed(body):
        dest = instruction.dest
        pure = dest is not None and instruction.op in PURE and dest in uses
        if dest is not None and pure and all(is_address(user, dest) for user in uses[dest]):
            addresses.add(dest)
    work = [
        i
        for i in body
        if i.op != "MOVE" and not (i.op in PURE and (i.dest in known or i.dest in addresses))
    ]
    branches = sum(
        isinstance(block.terminator, Branch) and block is not loop.latch for block in loop.blocks
    )
    return max(1, len(work) + branches)


_INDEXED = frozenset(
    f"{memory}{op}" for memory in ("", "SHARED_", "LOCAL_") for op in ("LOAD", "STORE", "ATOMIC")
)


def _own(function: Function, loop: _Loop, definitions: _Definitions) -> set[Register]:
    """The registers that no iteration reads from another one, and nothing outside the loop."""
    inside = set(loop.blocks)
    live = flow.Liveness(function)
    elsewhere: set[Register] = set()
    for block in function.blocks:
        if block not in inside:
            for instruction in block.instructions:
                elsewhere.update(instruction.used())
            condition = block.condition()
            if condition is not None:
                elsewhere.add(condition)
    own = {
        register
        for register, places in definitions.items()
        if register not in elsewhere
        and not live.live_in[loop.header] & live.bit(register)
        and all(block in inside for block, _ in places)
    }
    for group in function.groups:  # words that are neighbours stay so
        if not own.issuperset(group):
            own.difference_update(group)
    return own


def _unroll(function: Function, loop: _Loop, count: _Count, definitions: _Definitions) -> None:
    """Put the iterations after one another."""
    own = _own(function, loop, definitions)
    groups = [group for group in function.groups if own.issuperset(group) and group]
    update = loop.latch.instructions.index(count.update)
    copies = [{block: block for block in loop.blocks}]
    number = max(block.number for block in function.blocks) + 1
    for _ in count.values[1:]:
        names = _renamed(function, own)
        copies.append(_copied(loop, names, number))
        number += len(loop.blocks)
        function.groups += [tuple(names[register] for register in group) for group in groups]
    words = Groups(function)
    for k, copy in enumerate(copies):
        to = copies[k + 1][loop.header] if k + 1 < len(copies) else loop.exit
        latch = copy[loop.latch]
        assert latch.terminator is not None
        place = latch.terminator.place
        for block in copy.values():
            for at, instruction in enumerate(block.instructions):
                after = block is latch and at > update
                value = Constant((count.following if after else count.values)[k])
                words.replace(
                    instruction,
                    lambda word, value=value: value if word is count.counter else word,  # type: ignore[misc]
                )
            if block.condition() is count.counter:
                assert isinstance(block.terminator, Branch)
                block.terminator.condition = Constant(count.values[k])
        latch.terminator = Jump(to, place)
    first, last = (function.blocks.index(loop.blocks[k]) for k in (0, -1))
    left = [b for b in function.blocks[first:last] if b not in loop.blocks]  # where lanes leave it
    function.blocks[first : last + 1] = [block for copy in copies for block in copy.values()] + left


def _renamed(function: Function, own: set[Register]) -> dict[Register, Register]:
    names = {}
    for register in sorted(own, key=lambda register: register.number):
        names[register] = function.new_register(register.name)
        names[register].positive = register.positive
    return names


def _copied(loop: _Loop, names: dict[Register, Register], number: int) -> dict[Block, Block]:
    """New blocks of an iteration; their branches lead to one another, and out of the loop where the loop's do."""
    copy = {block: Block(number + k) for k, block in enumerate(loop.blocks)}

    def renamed(word: Operand | None) -> Operand | None:
        return names.get(word, word) if isinstance(word, Register) else word

    for block, new in copy.items():
        new.instructions = [
            replace(
                instruction,
                dest=names.get(instruction.dest, instruction.dest) if instruction.dest else None,
                more=tuple(names.get(register, register) for register in instruction.more),
                sources=[renamed(word) for word in instruction.sources],
            )
            for instruction in block.instructions
        ]
        end = block.terminator
        if isinstance(end, Jump):
            new.terminator = Jump(copy.get(end.target, end.target), end.place)
        elif isinstance(end, Branch):
            condition = renamed(end.condition)
            assert condition is not None
            sides = [copy.get(side, side) for side in (end.if_true, end.if_false)]
            new.terminator = Branch(condition, sides[0], sides[1], end.place)
        else:
            new.terminator = end
    return copy

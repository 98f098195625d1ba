"""Register allocation: colouring of the interference graphs of vector and of uniform registers.

Vector registers. Each lane has its own, and an instruction writes only those of the active lanes. The content of a
lane's register therefore depends only on the instructions that this lane executed, and those form a path through
the control-flow graph, for any interleaving of the warp's lanes. So ordinary liveness is exact: active lanes never
overwrite a value that waiting lanes still need, even if both use the same register number.

Uniform registers. There is one per warp, and the warp executes first one side of a divergent branch and then the
other. Its execution is a path through the graph with additional edges: where lanes of a divergent branch reach the
join or exit, the warp may continue at either side of the branch (or, after an exit, at the join). Liveness over the
graph with these edges is safe for them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

from gpucoh.lang import flow
from gpucoh.lang.ir import Block, Branch, Exit, Function, Register


def warp_successors(
    function: Function, joins: dict[Block, Block | None]
) -> Callable[[Block], list[Block]]:
    """The successors of each block in an execution of the whole warp."""
    extra: dict[Block, dict[Block, None]] = {
        block: dict.fromkeys(block.successors()) for block in function.blocks
    }
    for block in function.blocks:
        if not isinstance(block.terminator, Branch) or not block.terminator.divergent:
            continue
        join = joins[block]
        for inside in flow.region(block, join) | {block}:
            leaves = join is not None and join in inside.successors()
            exits = isinstance(inside.terminator, Exit)
            if leaves or exits:
                extra[inside].update(dict.fromkeys(block.successors()))
                if exits and join is not None:
                    extra[inside][join] = None
    return lambda block: list(extra[block])


def colour(
    function: Function, chosen: set[Register], live: flow.Liveness, first: int
) -> tuple[dict[Register, int], int]:
    """Numbers for the registers of ``chosen``, from ``first``, and one past the highest."""
    interference, friends = _interference(function, chosen, live)
    numbers: dict[Register, int] = {}

    def place(group: tuple[Register, ...]) -> None:
        """Give consecutive numbers, those of copies of the same words if possible."""
        taken = [
            {numbers[other] for other in interference.get(register, ()) if other in numbers}
            for register in group  # a word that nothing assigns interferes with none
        ]
        wanted = [
            numbers[friend] - k
            for k, register in enumerate(group)
            for friend in friends.get(register, ())
            if friend in numbers
        ]
        for number in itertools.chain(wanted, itertools.count(first)):
            if number >= first and not any(number + k in used for k, used in enumerate(taken)):
                numbers.update((register, number + k) for k, register in enumerate(group))
                return

    for group in function.groups:
        if group[0] in chosen:
            place(group)
    for register in reversed(_smallest_last(interference)):
        if register not in numbers:
            place((register,))
    return numbers, max(numbers.values(), default=first - 1) + 1


def _interference(
    function: Function, chosen: set[Register], live: flow.Liveness
) -> tuple[dict[Register, set[Register]], dict[Register, list[Register]]]:
    by_number = {register.number: register for register in chosen}
    graph: dict[Register, set[Register]] = {
        r: set() for r in sorted(chosen, key=lambda r: r.number)
    }
    friends: dict[Register, list[Register]] = {}

    def members(bits: int) -> list[Register]:
        found = []
        while bits:
            low = bits & -bits
            found.append(by_number[low.bit_length() - 1])
            bits ^= low
        return found

    for block in function.blocks:
        alive = live.live_out[block] | live.condition(block)
        for instruction in reversed(block.instructions):
            for dest in instruction.defined:
                if dest not in graph:
                    continue
                others = (alive | live.defines(instruction)) & ~live.bit(dest)
                source = instruction.sources[0] if instruction.op == "MOVE" else None
                if isinstance(source, Register) and source in graph:
                    others &= ~live.bit(source)  # a copy holds the same word
                    friends.setdefault(dest, []).append(source)
                    friends.setdefault(source, []).append(dest)
                for other in members(others):
                    graph[dest].add(other)
                    graph[other].add(dest)
            alive = (alive & ~live.defines(instruction)) | live.uses(instruction)
    return graph, friends


def _smallest_last(graph: dict[Register, set[Register]]) -> list[Register]:
    """The registers in an order in which each has few later neighbours."""
    degree = {register: len(others) for register, others in graph.items()}
    buckets: dict[int, dict[Register, None]] = {}
    for register, count in degree.items():
        buckets.setdefault(count, {})[register] = None
    order: list[Register] = []
    done: set[Register] = set()
    low = 0
    while len(order) < len(graph):
        while not buckets.get(low):
            low += 1
        register = next(iter(buckets[low]))
        del buckets[low][register]
        done.add(register)
        order.append(register)
        for other in sorted(graph[register], key=lambda r: r.number):
            if other not in done:
                del buckets[degree[other]][other]
                degree[other] -= 1
                buckets.setdefault(degree[other], {})[other] = None
                low = min(low, degree[other])
    return order

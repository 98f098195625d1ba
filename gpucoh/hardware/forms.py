"""Programs of the tests: those that a protocol cannot tell apart have one normal form, and are explored once."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from gpucoh.device.protocols import Protocol
from gpucoh.litmus import hardware
from gpucoh.machines import Machine
from gpucoh.verify.library import Exploration, translate
from gpucoh.verify.programs import Operation, Program, without_fences


@functools.cache
def exploration(name: str) -> Exploration:
    """A test as a program of the explorer, each of its blocks on a core of its own."""
    return translate(hardware.programs()[name])


#: Fields of a machine that are options of its memory order.
ORDER = ("relaxed_unordered", "block_fences_free", "word_order", "fence_drains")


def are_scoped(protocol: Protocol, machine: Machine) -> bool:
    """Whether the memory order of a protocol on a machine distinguishes scopes."""
    return bool(protocol.scopes or machine.block_fences_free or machine.fence_drains)


def normal(program: Program, scoped: bool) -> Program:
    """The program that a memory order, with or without scopes, does not distinguish from the given one.

    No memory order distinguishes the orders of fences, or scopes gpu and sys.
    """

    def changed(item: Operation) -> Operation:
        local = scoped and item.scope in ("CTA", "CU")
        order = "SC" if item.kind == "F" else item.order
        return replace(item, order=order, scope=item.scope if local else "GPU")

    return _changed(replace(program, name=""), changed)


def _changed(program: Program, change: Callable[[Operation], Operation]) -> Program:
    threads = tuple(
        replace(thread, operations=tuple(map(change, thread.operations)))
        for thread in program.threads
    )
    return replace(program, threads=threads)


def explored(program: Program, scoped: bool, rule: str) -> Program:
    """The normal form that is explored: under ``sc`` neither fences nor orders and scopes of accesses matter."""
    found = normal(program, scoped and rule != "sc")
    if rule != "sc":
        return found
    return _changed(without_fences(found), lambda item: replace(item, order="RELAXED"))


#: Families whose shape and condition remain when x and y change names, and the threads their places to these.
_MIRRORED = {"2+2w": (1, 0), "iriw": (2, 3, 0, 1)}


def merged(program: Program, family: str) -> Program:
    """The one of a program of a family and its mirror image that is explored for both."""
    places = _MIRRORED.get(family)
    if places is None:
        return program
    cores: dict[int, int] = {}
    threads = tuple(
        replace(thread, core=cores.setdefault(thread.core, len(cores)))
        for thread in (program.threads[place] for place in places)
    )

    def swapped(item: Operation) -> Operation:
        return replace(item, variable=1 - item.variable) if item.kind in ("ld", "st") else item

    mirrored = _changed(replace(program, threads=threads), swapped)
    return min(program, mirrored, key=str)


def placements(program: Program) -> Iterator[Program]:
    """The program with its blocks on cores in every way: all apart first."""
    for cores in _partitions(program.cores):
        threads = tuple(replace(thread, core=cores[thread.core]) for thread in program.threads)
        yield replace(program, threads=threads)


def stale_copies(name: str, program: Program) -> set[tuple[int, int]]:
    """The core and variable of each load of a placed program whose test demands the initial value.

    Beside these, copies of what another thread has to read again would only hide the outcome.
    """
    loads = [
        (thread.core, item.variable)
        for thread in program.threads
        for item in thread.operations
        if item.reads
    ]
    old = _demands_zero(name.partition(".")[0])
    places = exploration(name).registers.items()
    return {
        loads[place] for register, (place, _) in places if place is not None and register in old
    }


@functools.cache
def _demands_zero(family: str) -> set[str]:
    """The registers that are zero in every state that the condition of a family describes."""
    test = next(one for name, one in hardware.programs().items() if name.startswith(f"{family}."))
    names = [
        *test.locations,
        *(f"P{thread.id}:{register}" for thread in test.threads for register in thread.registers),
    ]
    states = [
        state
        for values in itertools.product(range(3), repeat=len(names))
        if test.condition.matches(state := dict(zip(names, values, strict=True)))
    ]
    return {name for name in names if not any(state[name] for state in states)}


def _partitions(size: int) -> list[tuple[int, ...]]:
    """Every partition of numbered things, as the number of the group of each; most groups first."""
    found: list[tuple[int, ...]] = [()]
    for _ in range(size):
        found = [(*one, group) for one in found for group in range(1 + max(one, default=-1) + 1)]
    return sorted(found, key=lambda one: -max(one))


@functools.cache
def representatives(scoped: bool, rule: str) -> Mapping[str, str]:
    """Test -> the first test of the suite that a memory order does not distinguish from it."""
    first: dict[tuple[str, str], str] = {}
    out = {}
    for name in hardware.facts():
        family = name.partition(".")[0]
        program = merged(explored(exploration(name).program, scoped, rule), family)
        out[name] = first.setdefault((family, str(program)), name)
    return out

"""Which of a machine's cores run the threads of a program: L1s of several kinds, and L1s that must be alike.

A controller type may declare that its L1s are of several kinds (``role`` of ``csrc/controller/declare.h``). A program
then runs in every assignment of kinds to its cores. L1s of one kind are alike: a program has the same executions on
other cores of the same kinds. Where it has not, a table, an action or a field depends on the number of a core.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gpucoh.base.errors import ConfigError
from gpucoh.verify.programs import Program

#: Programs of more states are not explored again on other cores.
MOST_COMPARED = 2_000
#: States of these explorations, whatever else is explored; beyond it they are a sixtieth of the states explored.
LEAST_COMPARED = 10_000


def placed(program: Program, places: Sequence[int], cores: int) -> Program:
    """The program with its core ``n`` at ``places[n]``, on a machine of that many cores at least."""
    threads = tuple(replace(thread, core=places[thread.core]) for thread in program.threads)
    return replace(program, threads=threads, least_cores=cores)


def assignments(program: Program, roles: Sequence[int]) -> list[Program]:
    """The program in every assignment of the roles to its cores; the program itself if all are alike."""
    if len(set(roles)) == 1:
        return [program]
    bodies = [
        tuple(thread.operations for thread in program.threads if thread.core == core)
        for core in range(program.used_cores)
    ]
    found: dict[tuple[object, ...], Program] = {}
    for places in itertools.permutations(range(len(roles)), len(bodies)):
        key = sorted(
            ((roles[place], body) for place, body in zip(places, bodies, strict=True)), key=repr
        )
        found.setdefault(tuple(key), placed(program, places, len(roles)))
    return list(found.values())


def turned(program: Program, roles: Sequence[int]) -> Program | None:
    """The program with each core's threads on the next core of the same role; None if nothing moves."""
    members = {role: [core for core, its in enumerate(roles) if its == role] for role in roles}
    places = [
        members[role][(members[role].index(core) + 1) % len(members[role])]
        for core, role in enumerate(roles)
    ]
    moved = placed(program, places, program.least_cores)
    return None if moved.threads == program.threads else moved


def check_alike(
    protocol: str, program: Program, one: Mapping[str, Any], other: Mapping[str, Any]
) -> None:
    """Compare the explorations of a program, without symmetry, on some cores and on others of the same roles.

    Raises
    ------
    ConfigError
        If they differ.
    """
    same = all(one[name] == other[name] for name in ("states", "transitions", "cells"))
    if not same or sorted(one["outcomes"]) != sorted(other["outcomes"]):
        kinds = "L1s of one role" if len(set(one["roles"])) > 1 else "all L1s"
        raise ConfigError(
            f"{protocol}: the explorer takes {kinds} for alike, and these depend on the number of their core: "
            f"`{program}` has other executions with its threads on other cores; "
            "declare `.role` of the controller type"
        )

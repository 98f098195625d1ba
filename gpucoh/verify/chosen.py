"""The programs of a verification, in the settings of their machines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gpucoh.device.protocols import Protocol
from gpucoh.litmus.models import RACE_FREE
from gpucoh.verify.corners import corners
from gpucoh.verify.library import DEPENDENT, WIDE, built_in, meeting, race_free, shapes
from gpucoh.verify.programs import Program, dependent, every_program, fenced, without_fences


def _settings(program: Program, has_l1: bool) -> tuple[list[Program], list[Program]]:
    """The program in the settings of its machine, the quick ones and the others."""
    several = program.variables > 1
    whole, kept = replace(program, warm=True), replace(program, warm=True, evictions=not several)
    quick, others = [program], []
    if several:
        quick.insert(0, replace(program, tight=True, evictions=False))
    if has_l1:
        quick.append(kept)
        others.append(whole)
        if several and not program.wide:
            quick.append(replace(kept, packed=True))
            others.append(replace(whole, packed=True))
    return quick, others


def programs_of(
    protocol: Protocol, rule: str, cores: int, lines: int, operations: int
) -> list[Program]:
    """The programs of a verification: with barriers, shapes, with dependent values, then every program of the bound.

    Under the consistency rule ``sc`` no program has fences; otherwise every program of the bound runs without and with
    fences between its operations. Both run on the quick settings first: tight; cold with spontaneous evictions; warm
    without. For a model that promises something to programs without races only, such programs, of two to four lines,
    come first unless ``lines`` is 1. With one line, and more than one operation, those of :mod:`gpucoh.verify.corners`
    come first.
    """
    wide = [] if protocol.splits_pairs else built_in(WIDE)
    fitting = [
        [under(p, rule) for p in programs if p.cores <= cores and p.variables <= lines]
        for programs in (meeting(), shapes(), built_in(DEPENDENT), wide)
    ]
    bound = list(every_program(min(cores, 2), lines, operations))
    depending = [program for program in map(dependent, bound) if program is not None]
    if rule != "sc":
        bound += depending + [fenced(program) for program in bound]
    promised = race_free() if protocol.models[rule] in RACE_FREE else []
    first = [p for p in promised if p.cores <= cores and lines > 1]
    small = corners(bool(promised)) if lines == 1 and operations > 1 else ()
    every = [under(p, rule) for p in small if p.cores <= cores]
    every += in_settings([first, *fitting, bound], protocol.has_l1)
    return list({(program.threads, program.setting): program for program in every}.values())


def in_settings(sets: Sequence[Sequence[Program]], has_l1: bool) -> list[Program]:
    """The programs in all their settings, each once: the quick ones of every set first, smallest programs first."""
    chosen: dict[tuple[object, ...], Program] = {}
    for late in (0, 1):
        for programs in sets:
            by_size = sorted(programs, key=lambda program: program.size)
            settings = [_settings(program, has_l1)[late] for program in by_size]
            for stage in range(max(map(len, settings), default=0)):
                for several in settings:
                    if stage < len(several):
                        program = several[stage]
                        chosen.setdefault((program.threads, program.setting), program)
    return list(chosen.values())


def under(program: Program, rule: str) -> Program:
    """The program under a consistency rule: ``sc`` needs no fences."""
    return without_fences(program) if rule == "sc" else program

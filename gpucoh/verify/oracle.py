"""The outcomes that a memory model allows a program of the explorer: those of the litmus test that it is."""

from __future__ import annotations

import functools

from gpucoh.litmus.syntax import Condition, Instruction, Proposition, Test
from gpucoh.litmus.syntax import Thread as LitmusThread
from gpucoh.litmus.verdict import Verdicts
from gpucoh.verify.programs import VARIABLES, Operation, Program, Thread

_OPS = {"ld": "ld", "st": "st", "add": "atom", "F": "fence"}
_WORD = 0xFFFFFFFF


def _instruction(operation: Operation, register: str) -> Instruction:
    kind = operation.kind
    return Instruction(
        op=_OPS[kind],
        line=0,
        order=operation.order,
        scope=operation.scope,
        dest=register if operation.reads else None,
        location=None if kind == "F" else VARIABLES[operation.variable],
        function="ADD" if kind == "add" else "",
        values=(operation.value,) if operation.writes else (),
    )


def as_test(program: Program) -> Test:
    """The program as a litmus test, with a register of its own for each value read."""
    return Test(
        name=program.name,
        title=program.name,
        text="",
        threads=tuple(
            LitmusThread(
                id=number,
                cta=thread.core,
                gpu=0,
                code=tuple(
                    _instruction(operation, f"r{place}")
                    for place, operation in enumerate(thread.operations)
                ),
            )
            for number, thread in enumerate(program.threads)
        ),
        initial=dict.fromkeys(VARIABLES[: program.variables], 0),
        condition=Condition("exists", Proposition("and")),
        shown=(),
    )


@functools.lru_cache(maxsize=4096)
def _allowed(
    threads: tuple[Thread, ...], variables: int, model: str
) -> tuple[tuple[int, ...], ...] | None:
    verdicts = Verdicts(as_test(Program("", threads, variables)), model)
    if not verdicts.promises:
        return None
    return tuple(sorted(tuple(value & _WORD for value in row) for row in verdicts.states()))


def allowed_outcomes(program: Program, model: str) -> tuple[tuple[int, ...], ...] | None:
    """Every outcome that the model allows: values of loads and atomics in order of threads, then the final values.

    None if the model promises the program nothing: ``none``, or one for race-free programs and the program has a race.

    Raises
    ------
    UndecidedError
        If there are too many candidate executions to look at.

    Examples
    --------
    >>> from gpucoh.verify.programs import parse
    >>> sorted(allowed_outcomes(parse("st x 1 | ld x; ld x"), "RC-MCA"))
    [(0, 0, 1), (0, 1, 1), (1, 1, 1)]
    """
    return _allowed(program.threads, program.variables, model)

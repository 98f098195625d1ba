"""The outcomes that a memory model allows a program of the explorer, by way of the equivalent litmus test."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace

from gpucoh.litmus.syntax import Condition, Instruction, Proposition, Test, Value
from gpucoh.litmus.syntax import Thread as LitmusThread
from gpucoh.litmus.verdict import Verdicts
from gpucoh.verify.programs import KERNELS, VARIABLES, Operation, Program, Thread

_OPS = {"ld": "ld", "await": "ld", "st": "st", "add": "atom", "host_ld": "ld", "host_st": "st"}
_WORD = 0xFFFFFFFF
#: Ends the names of registers that are not values read.
_COMPUTED = "+"
#: Barrier of all threads; that of a core has this number plus one plus the core's number.
_ALL = 0
_FENCE = Instruction(op="fence", line=0, order="SC")


def _barrier(number: int, threads: int) -> Instruction:
    return Instruction(op="bar", line=0, function="sync", values=(number, threads))


def _code(program: Program, thread: Thread) -> tuple[Instruction, ...]:
    """A thread's operations as instructions; an await branches back to its load."""
    code: list[Instruction] = []
    for place, operation in enumerate(thread.operations):
        register, start = f"r{place}", len(code)
        if operation.kind == "bar":
            code += _meeting(program, thread, place)
        else:
            code += _instructions(program, operation, register)
        if operation.kind == "await":
            differs = {"function": "!=", "values": (register, operation.value)}
            code.append(Instruction(op="branch", line=0, target=start, **differs))  # type: ignore[arg-type]
    return tuple(code)


def _barriers(operations: Sequence[Operation]) -> tuple[int, int]:
    """The number of the launch after these operations, and how many barriers it has had."""
    ends = [place for place, operation in enumerate(operations) if operation.kind in KERNELS]
    begin = ends[-1] + 1 if ends else 0
    return len(ends), sum(operation.kind == "bar" for operation in operations[begin:])


def _meeting(program: Program, thread: Thread, place: int) -> list[Instruction]:
    """A barrier: it waits for the threads of the core that have one more like it, since the others end."""
    launch, before = _barriers(thread.operations[:place])
    members = sum(
        other.core == thread.core
        and any(
            operation.kind == "bar" and _barriers(other.operations[:at]) == (launch, before)
            for at, operation in enumerate(other.operations)
        )
        for other in program.threads
    )
    barrier = _barrier(1 + thread.core, members)
    # Its release part, once for all threads, is as good as a fence of each before it arrives.
    return [barrier] if thread.operations[place].order == "WEAK" else [_FENCE, barrier]


def _instructions(program: Program, operation: Operation, register: str) -> list[Instruction]:
    """An operation as instructions: a kernel's end is a barrier of all threads between fences.

    If the host accesses memory anywhere, each end has two such barriers, with the host's access between them.
    """
    kind = operation.kind
    if kind == "F":
        return [replace(_FENCE, order=operation.order, scope=operation.scope)]
    end = [_FENCE, _barrier(_ALL, len(program.threads)), _FENCE]
    if kind == "kernel":
        return end + end if _has_host(program) else end
    if kind in KERNELS:
        return [*end, _access(operation, register), *end]
    if kind == "exit":
        return []
    access = _access(operation, register)
    if operation.source is None:
        return [access]
    source, value = f"r{operation.source}", f"{register}{_COMPUTED}"
    compute = [_alu("ADD", value, source, operation.value)]
    if not operation.adds:
        compute = [_alu("XOR", value, source, source), _alu("ADD", value, value, operation.value)]
    return [*compute, replace(access, values=(value,))]


def _access(operation: Operation, register: str) -> Instruction:
    return Instruction(
        op=_OPS[operation.kind],
        line=0,
        order=operation.order,
        scope=operation.scope,
        dest=register if operation.reads else None,
        location=VARIABLES[operation.variable],
        function="ADD" if operation.kind == "add" else "",
        values=(operation.value,) if operation.writes else (),
    )


def _has_host(program: Program) -> bool:
    kinds = {operation.kind for thread in program.threads for operation in thread.operations}
    return not kinds.isdisjoint({"host_ld", "host_st"})


def _alu(function: str, dest: str, *values: Value) -> Instruction:
    return Instruction(op="alu", line=0, function=function, dest=dest, values=values)


def as_test(program: Program) -> Test:
    """The program as a litmus test, with a register of its own for each value read.

    The threads of a core are a block; if kernels end, all threads are one block, for the barrier of them all.
    """
    together = any(op.kind in KERNELS for thread in program.threads for op in thread.operations)
    return Test(
        name=program.name,
        title=program.name,
        text="",
        threads=tuple(
            LitmusThread(
                id=number,
                cta=0 if together else thread.core,
                gpu=0,
                code=_code(program, thread),
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
    test = as_test(Program("", threads, variables))
    verdicts = Verdicts(test, model, [thread.core for thread in threads])
    if not verdicts.promises:
        return None
    names = [name for thread in test.threads for name in thread.registers] + list(test.locations)
    read = [place for place, name in enumerate(names) if not name.endswith(_COMPUTED)]
    return tuple(sorted({tuple(row[place] & _WORD for place in read) for row in verdicts.states()}))


def allowed_outcomes(program: Program, model: str) -> tuple[tuple[int, ...], ...] | None:
    """Every outcome that the model allows: values of loads and atomics in order of threads, then the final values.

    None if the model promises the program nothing: ``none``, or a model for race-free programs if it has races.

    Raises
    ------
    UndecidedError
        If there are too many candidate executions.

    Examples
    --------
    >>> from gpucoh.verify.programs import parse
    >>> sorted(allowed_outcomes(parse("st x 1 | ld x; ld x"), "RC-MCA"))
    [(0, 0, 1), (0, 1, 1), (1, 1, 1)]
    """
    return _allowed(program.threads, program.variables, model)

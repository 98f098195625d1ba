"""The outcomes that a memory model allows a program of the explorer, by way of the equivalent litmus test."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace

from gpucoh.base.errors import ConfigError
from gpucoh.base.quoting import quoted
from gpucoh.litmus.syntax import Condition, Instruction, Proposition, Test, Value, signed
from gpucoh.litmus.syntax import Thread as LitmusThread
from gpucoh.litmus.verdict import Verdicts
from gpucoh.verify.programs import ATOMICS, KERNELS, VARIABLES, Operation, Program, Thread

_OPS = {"ld": "ld", "await": "ld", "st": "st", "host_ld": "ld", "host_st": "st"}
_OPS |= dict.fromkeys(ATOMICS, "atom")
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
            differs = {
                "function": "!=",
                "values": (register, operation.value),
                "bits": operation.bits,
            }
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
    compute = [replace(item, bits=operation.bits) for item in compute]
    return [*compute, replace(access, values=(value, *access.values[1:]))]


def _access(operation: Operation, register: str) -> Instruction:
    numbers: tuple[int, ...] = (operation.value,) if operation.writes else ()
    if operation.kind == "cas":
        numbers = (operation.value, operation.replacement)
    values = tuple(signed(number, operation.bits) for number in numbers)
    return Instruction(
        op=_OPS[operation.kind],
        line=0,
        order=operation.order,
        scope=operation.scope,
        dest=register if operation.reads else None,
        location=VARIABLES[operation.variable],
        function=operation.kind.upper() if operation.kind in ATOMICS else "",
        values=values,
        bits=operation.bits,
        word=operation.word,
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
    if together and any(thread.gpu for thread in program.threads):
        raise ConfigError(f"program {quoted(str(program))}: launches of several GPUs")
    return Test(
        name=program.name,
        title=program.name,
        text="",
        threads=tuple(
            LitmusThread(
                id=number,
                cta=0 if together else thread.core,
                gpu=0 if together else thread.gpu,
                code=_code(program, thread),
                wide=_wide_registers(thread),
            )
            for number, thread in enumerate(program.threads)
        ),
        initial=dict.fromkeys(VARIABLES[: program.variables], 0),
        condition=Condition("exists", Proposition("and")),
        shown=(),
        wide=frozenset(VARIABLES[variable] for variable in program.wide),
    )


def _wide_registers(thread: Thread) -> frozenset[str]:
    """The registers of values of 64 bits."""
    wide = [place for place, item in enumerate(thread.operations) if item.bits == 64]
    return frozenset(f"r{place}{end}" for place in wide for end in ("", _COMPUTED))


def _row(values: Sequence[int], wide: Sequence[bool]) -> tuple[int, ...]:
    """Values as words; those of 64 bits are two, the lower one first."""
    out: list[int] = []
    for value, is_wide in zip(values, wide, strict=True):
        out += [value & _WORD, value >> 32 & _WORD] if is_wide else [value & _WORD]
    return tuple(out)


@functools.lru_cache(maxsize=4096)
def _allowed(
    threads: tuple[Thread, ...], variables: int, model: str
) -> tuple[tuple[int, ...], ...] | None:
    test = as_test(Program("", threads, variables))
    verdicts = Verdicts(test, model, [thread.core for thread in threads])
    if not verdicts.promises:
        return None
    names = [(name, name in thread.wide) for thread in test.threads for name in thread.registers]
    names += [(name, name in test.wide) for name in test.locations]
    read = [place for place, (name, _) in enumerate(names) if not name.endswith(_COMPUTED)]
    wide = [names[place][1] for place in read]
    return tuple(sorted({_row([row[place] for place in read], wide) for row in verdicts.states()}))


def allowed_outcomes(program: Program, model: str) -> tuple[tuple[int, ...], ...] | None:
    """Every outcome that the model allows: values of loads and atomics in order of threads, then the final values.

    A value of 64 bits is two, its lower word first.

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

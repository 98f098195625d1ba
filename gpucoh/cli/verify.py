"""``gpucoh verify``: exhaustive exploration of a small machine."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich.text import Text
from tqdm import tqdm

from gpucoh.base.errors import ConfigError
from gpucoh.base.quoting import quoted
from gpucoh.cli.options import (
    BAD_INPUT,
    WRONG,
    JsonOption,
    pairs,
    print_json,
    protocol_option,
    stdout_console,
)
from gpucoh.device.choices import split_list
from gpucoh.device.gpu import protocols
from gpucoh.device.protocols import rule_name
from gpucoh.runs.interrupts import interruptible
from gpucoh.verify.explorer import PROGRAM_STATES, verify
from gpucoh.verify.library import find_all
from gpucoh.verify.results import Verification


@contextmanager
def _programs_bar(name: str, *, enabled: bool) -> Iterator[Callable[[int, int], None] | None]:
    if not (enabled and sys.stderr.isatty()):
        yield None
        return
    with tqdm(desc=name, unit="program", leave=False, file=sys.stderr) as bar:

        def report(done: int, programs: int) -> None:
            bar.total = programs
            bar.update(done - bar.n)

        yield report


def _explored(name: str, **bounds: Any) -> Verification:
    return interruptible(lambda stop: verify(name, stop=stop, **bounds))


def _finish(found: Sequence[Verification]) -> None:
    """Exit with the status that the results give."""
    if any(result.violations for result in found):
        raise typer.Exit(WRONG)
    tests = [test for result in found for test in result.tests]
    if tests and all(test.status == "unsupported" for test in tests):
        first = tests[0]
        more = len({test.test for test in tests}) - 1
        summary = f"{first.test}: {first.reason}" + (f" (and {more} more tests)" if more else "")
        sys.stderr.write(f"gpucoh: no test was explored: {summary}\n")
        raise typer.Exit(BAD_INPUT)


def _all_that_keep(consistency: str | None) -> list[str]:
    rule = rule_name(consistency) if consistency else None
    return [name for name, item in protocols().items() if rule is None or rule in item.models]


def verify_command(
    tests: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME|FILE.litmus ...]",
            help="Litmus tests: shapes, built-in tests, files; all: every shape and built-in test. "
            "Default: all shapes and generated programs.",
        ),
    ] = None,
    *,
    protocol: Annotated[
        str,
        protocol_option(
            "Protocol ids with options in brackets, comma separated; all: every protocol that supports "
            "the consistency rule."
        ),
    ],
    consistency: Annotated[
        str | None,
        typer.Option(
            "-c",
            "--consistency",
            help="Consistency rule. Default: the paper's for the protocol.",
        ),
    ] = None,
    cores: Annotated[int, typer.Option("--cores", help="Largest number of cores (2 to 4).")] = 3,
    lines: Annotated[int, typer.Option("--lines", help="Largest number of lines (1 to 4).")] = 2,
    operations: Annotated[
        int,
        typer.Option("--ops", help="Operations per thread of the generated programs (1 to 4)."),
    ] = 2,
    evictions: Annotated[
        int,
        typer.Option("--evictions", help="Largest number of spontaneous evictions per run."),
    ] = 1,
    states: Annotated[
        int,
        typer.Option("--states", help="Largest number of states; the result is then bounded."),
    ] = 2_000_000,
    program_states: Annotated[
        int,
        typer.Option("--program-states", help="Largest number of states of one program."),
    ] = PROGRAM_STATES,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Set a field of the explorer's machine (timestamp_bits=4); not those that the programs and "
            "their settings determine: cores, lines, sizes of caches.",
        ),
    ] = None,
    every_order: Annotated[
        bool,
        typer.Option(
            "--every-order",
            help="Explore every order of moves that commute: the same outcomes in more states.",
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Explore every interleaving of small programs on a small machine, with the tables that the simulator runs.

    The explorer delivers messages in every order that the protocol's networks permit, evicts lines and lets time
    pass at any moment. It checks that every value read is one that the promised memory model allows (an oracle
    independent of the simulator decides), that the protocol's invariants hold (its own, at most one L1 that may
    write a line, no lease longer than the L2's, as it declares in `watched`), that no impossible transition is
    taken, and that every state can reach completion (no deadlock, no livelock). States that differ only by a shift
    of time or by exchanging equal cores count once. An option that is not given has the value that its protocol
    declares for a small machine (gpucoh protocols ID).

    Litmus tests are given by name or file. They may use loads, stores, additions and fences with any orders and
    scopes, and barriers of whole blocks, over at most 4 locations, 4 threads and 4 blocks, each block on a core of
    its own. The command prints whether the state that a test's condition describes can be observed at all.

    Without tests the programs are the classical shapes (MP, SB, WRC, ..) that fit, then every program of two warps
    with --ops operations each; on caches of one line, cold, warm, and with two variables on a line. With --lines 1
    (and --ops 2 or more), for a protocol under construction, programs come first in which two warps of a core and
    one of another meet at a line: they enter the cells of outstanding requests. The first violation is printed with
    its shortest execution.
    "complete": every program was explored completely, and every cell of the tables was entered, or the line says
    how many were not, and they follow. "bounded": a limit such as --states left programs incomplete. Exit status 1:
    a violation was found.

    L1s are taken for alike, unless their type declares `role`: a program then runs in every assignment of roles to
    its cores. A protocol whose L1s depend on the number of their core without declaring it is refused.

    Examples:

      gpucoh verify -p gpu-vi

      gpucoh verify -p ./mine.c --lines 1

      gpucoh verify -p mesi -c sc --cores 2 --lines 1 --ops 3

      gpucoh verify -p all --states 300000

      gpucoh verify -p tc-strong --states 40000000 --program-states 2000000

      gpucoh verify -p tc-weak IRIW+F mine.litmus

      gpucoh verify -p rcc-sc all

      gpucoh verify -p tc-weak --set timestamp_bits=4
    """
    names = _all_that_keep(consistency) if protocol == "all" else split_list(protocol)
    if not names:
        raise ConfigError(f"--protocol {quoted(protocol)} names no protocol (allowed: ids, or all)")
    given = None if tests is None else find_all(tests)
    found = []
    for name in names:
        with _programs_bar(name, enabled=not as_json) as progress:
            result = _explored(
                name,
                consistency=consistency,
                cores=cores,
                lines=lines,
                operations=operations,
                evictions=evictions,
                max_states=states,
                program_states=program_states,
                tests=given,
                set=pairs("--set", changes),
                every_order=every_order,
                progress=progress,
            )
        found.append(result)
        if not as_json:
            stdout_console().print(Text(repr(result)), soft_wrap=True)
    if as_json:
        items = [result.to_dict() for result in found]
        print_json(items[0] if protocol != "all" and len(items) == 1 else items)
    _finish(found)

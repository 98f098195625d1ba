"""``gpucoh verify``: exhaustive exploration of a small machine."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text
from tqdm import tqdm

from gpucoh.errors import ConfigError
from gpucoh.experiments.interrupts import interruptible
from gpucoh.gpu import protocols
from gpucoh.protocols import rule_name, split_list
from gpucoh.verify.explorer import verify
from gpucoh.verify.library import find
from gpucoh.verify.results import Explored, Verification


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


def _print(console: Console, found: Verification) -> None:
    verdict = "VIOLATED" if found.violations else "complete" if found.complete else "bounded"
    console.print(
        Text(
            f"{found.protocol}  {found.consistency}, {found.model}: {verdict}; {found.states:,} states, "
            f"{found.transitions:,} transitions, depth {found.depth}; "
            f"{found.explored:,} of {found.programs:,} programs"
        ),
        soft_wrap=True,
    )
    for limit in found.limits:
        more = f" and {limit.programs - 1:,} more" if limit.programs > 1 else ""
        console.print(Text(f"  limit: {limit.what}: {limit.first}{more}"), soft_wrap=True)
    for test in found.tests:
        console.print(Text(f"  {test.test}: {_told(test)}"), soft_wrap=True)
    for item in found.violations:
        setting = f" ({item.program.setting})" if item.program.setting else ""
        console.print(Text(f"\n{item.kind}: {item.what}"), soft_wrap=True)
        console.print(
            Text(f"program {item.program.name}{setting}: {item.program}\n"), soft_wrap=True
        )
        console.print(Text(item.diagram), soft_wrap=True)


def _told(test: Explored) -> str:
    """What is said of a litmus test."""
    if test.status != "explored":
        return f"{test.status}: {test.reason}" if test.reason else test.status
    seen = "observed" if test.observed else "never observed" if test.complete else "not observed"
    may = "allowed" if test.allowed else "forbidden"
    return f"{test.condition}: {seen}, {may}" + ("" if test.complete else " (bounded)")


def _finish(found: Sequence[Verification]) -> None:
    """The exit status."""
    if any(result.violations for result in found):
        raise typer.Exit(1)
    tests = [test for result in found for test in result.tests]
    if tests and all(test.status == "unsupported" for test in tests):
        first = tests[0]
        more = len({test.test for test in tests}) - 1
        told = f"{first.test}: {first.reason}" + (f" (and {more} more tests)" if more else "")
        sys.stderr.write(f"gpucoh: no test was explored: {told}\n")
        raise typer.Exit(2)


def _all_that_keep(consistency: str | None) -> list[str]:
    rule = rule_name(consistency) if consistency else None
    return [name for name, item in protocols().items() if rule is None or rule in item.models]


def register(
    app: typer.Typer, console: Callable[[], Console], print_json: Callable[[Any], None]
) -> None:
    """Add the command to the program."""

    @app.command("verify")
    def verify_command(
        tests: Annotated[
            list[str] | None,
            typer.Argument(
                metavar="[NAME|FILE.litmus ...]",
                help="Litmus tests: shapes, built-in ones, files. Without: all shapes and the programs of the bound.",
            ),
        ] = None,
        *,
        protocol: Annotated[
            str,
            typer.Option(
                "-p",
                "--protocol",
                help="Ids with options in brackets, or all (that keep the rule).",
            ),
        ],
        consistency: Annotated[
            str | None, typer.Option("-c", "--consistency", help="Core rule. Default: the paper's.")
        ] = None,
        cores: Annotated[int, typer.Option("--cores", help="At most so many, 2 to 4.")] = 3,
        lines: Annotated[int, typer.Option("--lines", help="At most so many, 1 to 4.")] = 2,
        operations: Annotated[
            int, typer.Option("--ops", help="Of each thread in the programs made up, 1 to 4.")
        ] = 2,
        evictions: Annotated[
            int, typer.Option("--evictions", help="In one run, by any cache at any time, at most.")
        ] = 1,
        states: Annotated[
            int, typer.Option("--states", help="Stop after so many states: the result is bounded.")
        ] = 2_000_000,
        as_json: Annotated[
            bool, typer.Option("--json", help="Print JSON on standard output, nothing else.")
        ] = False,
    ) -> None:
        """Explore every interleaving of small programs on a small machine, by the tables that simulate.

        Messages come in every order that the protocol's networks permit, caches evict at any moment, time passes at
        any moment. Checked: every value read is one that the promised memory model allows (an oracle apart from the
        simulator tells which), the protocol's invariants, that no impossible transition is taken, and that every state
        can come to rest (no deadlock, no livelock). States that differ by time's passing or by equal cores' changing
        places are one. Leases are two cycles long unless given in the brackets.

        Litmus tests can be given by name or file, if they consist of loads, stores, additions and fences with any
        orders and scopes, and of barriers of whole blocks, over at most 4 locations, 4 threads and 4 blocks, each block
        on a core of its own. The command says whether the state that a test is about can be observed at all.

        What runs without: the classical shapes (MP, SB, WRC, ..) that fit, then every program of two warps with so many
        operations each; on caches with room for one line, cold, warm, and with two variables on a line. The first
        violation is drawn by its shortest way. Complete: all of that was explored to its end. Bounded: the states ran
        out first. Exit status 1 when something was violated.

        Examples:

          gpucoh verify -p gpu-vi

          gpucoh verify -p mesi -c sc --cores 2 --lines 1 --ops 3

          gpucoh verify -p all --states 300000

          gpucoh verify -p tc-weak IRIW+F mine.litmus
        """
        names = _all_that_keep(consistency) if protocol == "all" else split_list(protocol)
        if not names:
            raise ConfigError(f"--protocol {protocol!r} names no protocol")
        given = None if tests is None else [find(name) for name in tests]
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
                    tests=given,
                    progress=progress,
                )
            found.append(result)
            if not as_json:
                _print(console(), result)
        if as_json:
            items = [result.to_dict() for result in found]
            print_json(items[0] if protocol != "all" and len(items) == 1 else items)
        _finish(found)

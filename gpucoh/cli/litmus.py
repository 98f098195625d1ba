"""The command ``gpucoh litmus``."""

from __future__ import annotations

import fnmatch
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from gpucoh.base.errors import ConfigError
from gpucoh.base.quoting import quoted
from gpucoh.base.wording import natural, unknown
from gpucoh.cli.options import (
    BAD_INPUT,
    WRONG,
    JsonOption,
    MachineOption,
    RuleOption,
    SeedOption,
    print_json,
    protocol_option,
    stdout_console,
)
from gpucoh.cli.suites import check_expected
from gpucoh.device.choices import split_list
from gpucoh.device.gpu import protocols, resolve
from gpucoh.litmus import (
    Result,
    Test,
    UnsupportedError,
    builtins,
    find,
    hardware,
    placed,
    run_test,
)
from gpucoh.litmus.models import model_name
from gpucoh.litmus.results import HANG
from gpucoh.litmus.runner import RUNS, keeping, unsupported
from gpucoh.litmus.strength import compare
from gpucoh.machines import Machine, machine
from gpucoh.terminal import tables
from gpucoh.terminal.bars import runs_bar

DEFAULT_PROTOCOL = "tc-weak"
#: With at most this many results, each is printed with its histogram.
FEW = 6


def litmus_command(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME|FILE.litmus|DIR ...]",
            help="Built-in tests, files, or folders of files; of a suite: its ids or patterns. Default: all.",
        ),
    ] = None,
    protocol: Annotated[
        list[str] | None,
        protocol_option(
            f"Protocol ids, comma separated or repeated; all: every protocol. Default: {DEFAULT_PROTOCOL}."
        ),
    ] = None,
    consistency: RuleOption = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model", help="Memory model to judge by. Default: what the protocol promises."
        ),
    ] = None,
    suite: Annotated[
        str | None,
        typer.Option(
            "--suite", help="hardware: the scoped programs that real GPUs have run, generated."
        ),
    ] = None,
    models: Annotated[
        bool,
        typer.Option(
            "--models",
            help="Show which memory model is stronger than which, and the tests that tell, and exit.",
        ),
    ] = False,
    expected: Annotated[
        bool,
        typer.Option(
            "--expected",
            help="Compare a memory model (PTX, or --model) with DIR/expected.csv, and run nothing.",
        ),
    ] = False,
    machine_id: MachineOption = "fermi",
    place: Annotated[
        str | None,
        typer.Option(
            "--place",
            help="Blocks of every test on one core, one die, two dies of a GPU (dies), or two GPUs with scope sys in "
            "place of gpu (gpus). Default: as each test says.",
        ),
    ] = None,
    runs: Annotated[
        int, typer.Option("--runs", help="Number of runs per test and protocol.")
    ] = RUNS,
    seed: SeedOption = 0,
    list_them: Annotated[
        bool, typer.Option("--list", help="List the tests and their questions, and exit.")
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", help="Parallel tests. Default: one per processor."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Run litmus tests: small racing programs that show which memory model a protocol keeps.

    Each test runs many times under varied timing: placement of its threads, first cycles, layout of its variables,
    cached copies, stress, cache sizes. "observed": a run reached a state that the condition describes (forall:
    one that violates it). "allowed": the memory model that the protocol promises under the consistency rule
    allows that state. "ok": no run reached a state that the model forbids, and none hung, unless the program can
    hang under the model. Exit status 1: a test is not ok; 2: no test could be read or is supported.

    --expected reads lines path,0|1 from DIR/expected.csv. 1: the test's last clause is true of the executions that
    the model allows: one satisfies the condition (exists), none does (~exists), all do (forall). Exit status 1: a
    test differs or is missing; 2: a line cannot be read, or no test is supported.

    Examples:

      gpucoh litmus MP SB IRIW+fences -p tc-weak           with histograms

      gpucoh litmus -p all --runs 2000                     the built-in set, a table

      gpucoh litmus mytests/ one.litmus -p mesi -c sc --json

      gpucoh litmus --suite hardware "wrc.*" -p tc-weak --model ptx

      gpucoh litmus -p all -m two-gpus --place gpus        the built-in set between two GPUs

      gpucoh litmus -p hmg -m mcm4-quarter --place dies    between two dies

      gpucoh litmus --models

      gpucoh litmus suite/ --expected --model ptx

      gpucoh litmus --list
    """
    if expected:
        others = {"--protocol": protocol, "--consistency": consistency, "--suite": suite,
                  "--models": models, "--list": list_them}  # fmt: skip
        check_expected(names or (), model, [name for name, on in others.items() if on], as_json)
        return
    tests, unread = _gather(names) if suite is None else (_of_suite(suite, names), [])
    tests = tests if place is None else [placed(test, place) for test in tests]
    if models:
        if names is None and suite is None:
            tests += hardware.programs().values()
        _print_models(tests, as_json=as_json)
        return
    judge = None if model is None else model_name(model)
    if list_them:
        if not tests:
            raise ConfigError(f"no test to list: {unread[0][1]}")
        if as_json:
            print_json(_listed(tests, unread))
        else:
            _print_list(stdout_console(), tests, unread)
        return
    wanted = _protocols(protocol, consistency)
    given = machine(machine_id)
    natural("runs", runs, smallest=1)
    natural("seed", seed)
    workers = _workers(jobs)
    pairs = [(test, name) for test in tests for name in wanted]
    results = _unread_results(unread, wanted, consistency, judge)
    with runs_bar(len(pairs), enabled=not as_json) as report:
        results += _carry_out(pairs, consistency, judge, given, runs, seed, workers, report)
    if as_json:
        print_json([item.to_dict() for item in results])
    else:
        _print_results(stdout_console(), results)
    _finish(results)


# ---- what to run


def _gather(names: Sequence[str] | None) -> tuple[list[Test], list[tuple[str, str]]]:
    """The tests, and (name, reason) for each that cannot be read."""
    tests: list[Test] = []
    unread: list[tuple[str, str]] = []
    for name in _expand(names):
        try:
            tests.append(find(name))
        except UnsupportedError as error:
            unread.append((str(name), str(error)))
    return tests, unread


def _expand(names: Sequence[str] | None) -> Iterator[str | Path]:
    if not names:
        yield from builtins()
        return
    for name in names:
        if not name:
            raise ConfigError(
                "a test's name is empty; gpucoh litmus --list lists the built-in ones"
            )
        if name not in builtins() and Path(name).is_dir():
            found = sorted(Path(name).rglob("*.litmus"))
            if not found:
                raise ConfigError(f"folder {name} holds no .litmus file")
            yield from found
        else:
            yield name


def _of_suite(suite: str, names: Sequence[str] | None) -> list[Test]:
    """The programs of a suite whose ids match one of the patterns."""
    if suite != "hardware":
        raise ConfigError(unknown("suite", suite, ("hardware",)))
    known = hardware.programs()
    out: dict[str, Test] = {}
    for pattern in names or ["*"]:
        found = fnmatch.filter(known, pattern)
        if not found:
            raise ConfigError(
                f"no program of suite {suite} matches {quoted(pattern)}; "
                f"gpucoh litmus --suite {suite} --list lists them"
            )
        out |= {name: known[name] for name in found}
    return list(out.values())


def _protocols(given: Sequence[str] | None, consistency: str | None) -> list[str]:
    names = [name for item in given or [DEFAULT_PROTOCOL] for name in split_list(item)]
    out: list[str] = []
    for name in names:
        if name == "all":
            out += keeping(consistency)
        else:
            resolve(name).rule(consistency)
            out.append(name)
    if not out:
        known = ", ".join(protocols())
        raise ConfigError(f"no protocol to run (allowed: {known}, or all)")
    return list(dict.fromkeys(out))


def _workers(jobs: int | None) -> int:
    return (os.cpu_count() or 1) if jobs is None else natural("jobs", jobs, smallest=1)


def _unread_results(
    unread: Sequence[tuple[str, str]],
    wanted: Sequence[str],
    consistency: str | None,
    model: str | None,
) -> list[Result]:
    out = []
    for name, reason in unread:
        for protocol in wanted:
            choice = resolve(protocol)
            rule = choice.rule(consistency)
            out.append(unsupported(name, protocol, rule, model or choice.model(rule), reason))
    return out


def _carry_out(
    pairs: Sequence[tuple[Test, str]],
    consistency: str | None,
    model: str | None,
    given: Machine,
    runs: int,
    seed: int,
    workers: int,
    report: Callable[[str], None],
) -> list[Result]:
    """All results in order; after Ctrl-C, tests in progress end at their next launch."""
    stop = threading.Event()

    def one(test: Test, protocol: str) -> Result:
        result = run_test(
            test, protocol, consistency, model=model, machine=given, runs=runs, seed=seed, stop=stop
        )
        report(f"{test.name} {protocol}")
        return result

    pool = ThreadPoolExecutor(workers)
    futures: list[Future[Result]] = [pool.submit(one, *pair) for pair in pairs]
    try:
        return [future.result() for future in futures]
    finally:
        stop.set()
        # Tests are still in progress only after Ctrl-C: do not wait for their launches.
        pool.shutdown(wait=False, cancel_futures=True)


def _finish(results: Sequence[Result]) -> None:
    """Exit with the status that the results give."""
    if results and all(item.status == "unsupported" for item in results):
        first = results[0]
        more = len({(item.test, item.file) for item in results}) - 1
        summary = f"{first.test}: {first.reason}" + (f" (and {more} more tests)" if more else "")
        sys.stderr.write(f"gpucoh: no test was run: {' '.join(summary.split())}\n")
        raise typer.Exit(BAD_INPUT)
    if not all(item.ok for item in results):
        raise typer.Exit(WRONG)


# ---- output


def _listed(tests: Sequence[Test], unread: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    """What ``--list --json`` prints; a test that cannot be read has a reason, as in results."""
    known = [
        {"test": test.name, "file": test.file, "text": test.text,
         "condition": str(test.condition), "reason": ""}
        for test in tests
    ]  # fmt: skip
    return known + [
        {"test": name, "file": name, "text": "", "condition": "", "reason": reason}
        for name, reason in unread
    ]


def _print_list(out: Console, tests: Sequence[Test], unread: Sequence[tuple[str, str]]) -> None:
    titles = _titles((test.name, test.file) for test in tests)
    rows = [
        [Text(titles[test.name, test.file]), Text(test.text, overflow="fold")] for test in tests
    ]
    rows += [
        [Text(name), Text(f"unsupported: {reason}", overflow="fold")] for name, reason in unread
    ]
    out.print(tables.plain_table(["test", "question"], rows))


def _print_models(tests: Sequence[Test], *, as_json: bool) -> None:
    """Print the order of the models, and the tests that tell them apart."""
    with runs_bar(len(tests), enabled=not as_json) as report:
        found = compare(tests, report)
    rows = [(one, sign, other, found.only(one, other), found.only(other, one))
            for sign, pairs in (("stronger than", found.steps()), ("beside", found.apart()))
            for one, other in pairs]  # fmt: skip
    if as_json:
        keys = ("model", "relation", "other", "only_model_forbids", "only_other_forbids")
        print_json({"forbidden": found.forbidden, "tests": found.tests,
                    "pairs": [dict(zip(keys, row, strict=True)) for row in rows]})  # fmt: skip
        return
    out = stdout_console()
    counts = [[name, str(len(row))] for name, row in found.forbidden.items()]
    out.print(tables.plain_table(["model", f"forbids of {found.tests}"], counts, right=(1,)))
    texts = [
        [one, sign, other, *(Text(_few(tests), overflow="fold") for tests in only)]
        for one, sign, other, *only in rows
    ]
    out.print(tables.plain_table(["", "", "", "only the first forbids", "only the second"], texts))


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def _titles(tests: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """What tables call each (name, file): the path where two files have one name."""
    files: dict[str, set[str]] = {}
    for name, file in tests:
        files.setdefault(name, set()).add(file)
    return {
        (name, file): file if file and len(row) > 1 else name
        for name, row in files.items()
        for file in row
    }


def _print_results(out: Console, results: Sequence[Result]) -> None:
    titles = _titles((item.test, item.file) for item in results)
    if len(results) <= FEW:
        for item in results:
            _print_histogram(out, item, titles[item.test, item.file])
        return
    rows = [_row(item, titles[item.test, item.file]) for item in results]
    columns = ["test", "protocol", "model", "ok", "observed", "allowed", "runs", "outcomes", ""]
    out.print(tables.plain_table(columns, rows, right=(6, 7)))
    ran = [item for item in results if item.status != "unsupported"]
    bad = [item for item in ran if not item.ok]
    summary = f"{len(ran)} run, {len(bad)} with forbidden outcomes"
    skipped = len(results) - len(ran)
    out.print(summary + (f", {skipped} unsupported" if skipped else ""), highlight=False)
    for item in bad:
        _print_histogram(out, item, titles[item.test, item.file])


def _row(item: Result, title: str) -> list[Any]:
    if item.status == "unsupported":
        return [Text(title), Text(item.protocol), item.model, "-", "", "", "", "",
                Text(item.reason)]  # fmt: skip
    note = "hangs" if item.status == HANG else item.reason
    if not note and any(outcome.state == HANG for outcome in item.outcomes):
        note = f"{item.outcomes[-1].count} hung"
    return [
        Text(title),
        Text(item.protocol),
        item.model,
        "ok" if item.ok else Text("FORBIDDEN", style="bold red"),
        "yes" if item.observed else "no",
        "yes" if item.allowed else "no",
        str(item.runs),
        str(len(item.outcomes)),
        Text(note),
    ]


def _print_histogram(out: Console, item: Result, name: str) -> None:
    """Print one result as herd and litmus7 do: the states with their counts, then the verdict."""
    title = f"Test {name} {item.protocol} {item.consistency} ({item.model})"
    out.print(Text(title, style="bold"))
    if item.status == "unsupported":
        out.print(Text(f"  unsupported: {item.reason}"))
        out.print()
        return
    width = max([len(str(outcome.count)) for outcome in item.outcomes] or [1])
    for outcome in item.outcomes:
        sign = "*>" if outcome.matches else ":>"
        line = Text(f"  {outcome.count:>{width}} {sign} {outcome.state or '(no value)'}")
        if not outcome.allowed:
            line.append("   forbidden", style="bold red")
        out.print(line)
    for state in item.forbidden[:5]:
        out.print(Text(f"  forbidden: {state}", style="red"))
    if item.reason:
        out.print(Text(f"  stopped: {item.reason}", style="red"))
    seen = "observed" if item.observed else "not observed"
    may = "allowed" if item.allowed else "forbidden"
    out.print(Text(f"  {item.condition}: {seen} in {item.runs} runs, {may} by {item.model}"))
    out.print(Text("  Ok" if item.ok else "  No", style="bold green" if item.ok else "bold red"))
    out.print()

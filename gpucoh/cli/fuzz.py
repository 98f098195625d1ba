"""The command ``gpucoh fuzz``: the random tester."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text
from tqdm import tqdm

from gpucoh.base.errors import ConfigError
from gpucoh.cli.options import (
    WRONG,
    JsonOption,
    SeedOption,
    print_json,
    protocol_option,
    stdout_console,
)
from gpucoh.device.choices import split_list
from gpucoh.device.coverage import listed
from gpucoh.fuzz import DEFAULT_OPS, Report, all_protocols, fuzz_many
from gpucoh.terminal import tables

#: With --save, the tester stops testing a protocol after this many failures.
FAILURES_SAVED = 20
#: Lines of a trace that are printed; JSON holds all.
TRACE_LINES = 60


def fuzz_command(
    protocol: Annotated[
        list[str],
        protocol_option("Protocol ids, comma separated or repeated; all: every protocol."),
    ],
    consistency: Annotated[
        str | None,
        typer.Option(
            "-c",
            "--consistency",
            help="Consistency rule: sc, rc (alias wo), drf or hrf. Default: the paper's; with -p all "
            "every supported rule.",
        ),
    ] = None,
    ops: Annotated[
        int | None,
        typer.Option(
            "--ops",
            help="Memory operations (a lane's load, store or atomic) per protocol. Default: 100000; unlimited "
            "with --seconds.",
        ),
    ] = None,
    seed: SeedOption = 0,
    seconds: Annotated[
        float | None,
        typer.Option("--seconds", help="Time limit in seconds for all protocols together."),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(
            "--save",
            help="Append each failure to this file as one line of JSON, and continue.",
        ),
    ] = None,
    shrink: Annotated[
        bool, typer.Option(help="Search for a shorter failing program (at most 20 s).")
    ] = True,
    as_json: JsonOption = False,
) -> None:
    """Run random data-race-free programs and check every value that they read.

    A program consists of episodes: a warp acquires from others, loads and stores, and releases, with flags, racing
    counters and data mixed on the same lines. Caches, buffers, latencies, orders, scopes and protocol options vary.
    The tester shortens a failing program and prints it with a trace of its line: every transition and message.
    Coverage counts the entered cells of each table, out of the reachable ones.

    Exit status 1: a protocol that promises a memory model failed (no-coh promises none).

    Examples:

      gpucoh fuzz -p tc-weak

      gpucoh fuzz -p all --ops 20000

      gpucoh fuzz -p no-coh                 an example of a failure

      gpucoh fuzz -p all --seconds 3600 --seed 7 --save failures.jsonl
    """
    names = _names(protocol)
    wanted = ops if ops is not None else None if seconds is not None else DEFAULT_OPS
    with _Progress(len(names), wanted, enabled=not as_json) as progress:

        def found(report: Report) -> None:
            if save is not None:
                _append(save, report)

        reports = fuzz_many(
            names, consistency, ops=wanted, seconds=seconds, seed=seed, shrink=shrink,
            failures=1 if save is None else FAILURES_SAVED, every_rule=len(names) > 1, progress=progress.step,
            found=found,
        )  # fmt: skip
    if as_json:
        results = [report.to_dict() for report in reports]
        print_json(results if len(names) > 1 else results[0])
    else:
        _print(stdout_console(), reports)
    if any(report.failures and report.counts for report in reports):
        raise typer.Exit(WRONG)


def _names(given: Sequence[str]) -> list[str]:
    parts = [name for item in given for name in split_list(item)]
    names = [one for name in parts for one in (all_protocols() if name == "all" else [name])]
    if not names:
        raise ConfigError("-p names no protocol (allowed: ids, or all)")
    return names


def _append(path: Path, report: Any) -> None:
    """Append the newest failure to the file and sync it to disk."""
    line = {
        "protocol": report.protocol,
        "consistency": report.consistency,
        "seed": report.seed,
        "failure": report.failures[-1],
    }
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise ConfigError(f"--save {path}: {error.strerror or error}") from None


class _Progress:
    """A progress bar over operations, on a terminal only."""

    def __init__(self, protocols: int, ops: int | None, *, enabled: bool) -> None:
        self.done: dict[tuple[str, str], int] = {}
        self.bar: Any = None
        if enabled and sys.stderr.isatty():
            total = None if ops is None else ops * protocols
            self.bar = tqdm(total=total, unit="op", unit_scale=True, leave=False, file=sys.stderr)

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()

    def step(self, report: Any) -> None:
        """Update the bar after a round of a protocol."""
        if self.bar is None:
            return
        key = report.protocol, report.consistency
        self.bar.set_postfix_str(" ".join(key))
        self.bar.update(report.ops - self.done.get(key, 0))
        self.done[key] = report.ops


def _print(console: Console, reports: Sequence[Any]) -> None:
    rows = []
    for report in reports:
        covered = "  ".join(
            f"{name} {len(table.visited)}/{len(table.reachable)}"
            for name, table in report.coverage.items()
        )
        verdict = "" if not report.failures else "failed" if report.counts else "failed (promises nothing)"  # fmt: skip
        rows.append(
            [
                Text(report.protocol),
                report.consistency,
                report.model,
                str(report.ops),
                str(report.episodes),
                covered,
                verdict or "well",
            ]
        )
    columns = ["protocol", "rule", "model", "operations", "episodes", "cells entered", ""]
    console.print(tables.plain_table(columns, rows, right=(3, 4)))
    for report in reports:
        _print_gaps(console, report)
    for report in reports:
        for failure in report.failures:
            _print_failure(console, report, failure)


def _print_gaps(console: Console, report: Any) -> None:
    """Print reachable cells that were not entered, and entered cells that are listed as unreachable."""
    if report.failures:
        return
    for name, table in report.coverage.items():
        gaps = {"not entered": table.missed, "listed as unreachable, entered": table.surprises}
        for word, cells in gaps.items():
            if cells:
                text = f"{report.protocol} {report.consistency} {name}, {word}: {listed(cells)}"
                console.print(text, markup=False, highlight=False)


def _print_failure(console: Console, report: Any, failure: dict[str, Any]) -> None:
    def say(text: str, style: str = "") -> None:
        console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)

    say("")
    say(f"{failure['protocol']} {report.consistency}: {failure['kind']}", "bold")
    say(failure["text"])
    machine = " ".join(f"{name}={value}" for name, value in failure["machine"].items())
    say(f"seed {report.seed}, round {failure['round']}; machine fermi with {machine}")
    say(
        f"shortest program found ({failure['episodes']} episodes, {failure['ops']} operations; lane:location@offset):"
    )
    for line in failure["program"]:
        say("  " + line)
    if failure["trace"]:
        say("trace of its line, with the values of the word in question:")
        trace = failure["trace"]
        if len(trace) > TRACE_LINES:
            trace = [*trace[: TRACE_LINES // 3], "...", *trace[-TRACE_LINES // 3 * 2 :]]
        for line in trace:
            say("  " + line)

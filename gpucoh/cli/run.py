"""``gpucoh run``: one run."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from gpucoh.base.errors import ConfigError, KernelError, WorkloadError
from gpucoh.base.late import LATE_IMPORT
from gpucoh.base.quoting import quoted
from gpucoh.cli.options import (
    WRONG,
    CheckOption,
    JsonOption,
    MachineOption,
    ParamOption,
    RuleOption,
    ScaleOption,
    SeedOption,
    SetOption,
    array_of,
    pairs,
    print_json,
    protocol_option,
    stdout_console,
    workload_ids,
)
from gpucoh.device.gpu import resolve
from gpucoh.runs.interrupts import interruptible
from gpucoh.runs.runner import Run
from gpucoh.terminal import profiles, tables
from gpucoh.terminal.bars import blocks_bar
from gpucoh.terminal.explanation import explanation


def run_command(
    workload_id: Annotated[
        str,
        typer.Argument(
            metavar="WORKLOAD",
            autocompletion=workload_ids,
            help="Workload id (gpucoh workloads lists them), or FILE.py:NAME for one of your own.",
        ),
    ],
    protocol: Annotated[
        str,
        protocol_option(
            r"Protocol id, with options in brackets, e.g. tc-weak\[lifetime=800]. Default: no-l1, said on "
            "standard error."
        ),
    ] = "",
    machine_id: MachineOption = "fermi",
    consistency: RuleOption = None,
    scale: ScaleOption = "small",
    seed: SeedOption = 0,
    check: CheckOption = False,
    changes: SetOption = None,
    params: ParamOption = None,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Also print how the defaults of machine and protocol were derived; "
            "with --json under the key explanation.",
        ),
    ] = False,
    every: Annotated[
        int | None,
        typer.Option(
            "--every",
            metavar="CYCLES",
            help="Also print the statistics by launch and in intervals of this number of core cycles; with --json "
            "every counter, under series.intervals, series.launches and series.cores.",
        ),
    ] = None,
    profile: Annotated[
        bool,
        typer.Option(
            "--profile",
            help="Also print where the cycles go, by source line, array and wait; with --json everything, under the "
            "key profile, which gpucoh explain reads.",
        ),
    ] = False,
    timeline: Annotated[
        Path | None,
        typer.Option(
            "--timeline",
            metavar="FILE",
            help="Also trace the run and write its timeline: FILE.html for a browser, "
            "FILE.pftrace for ui.perfetto.dev.",
        ),
    ] = None,
    array: Annotated[
        str | None,
        typer.Option(
            "--array",
            metavar=r"NAME\[INDEX]",
            help="Array or element of the timeline, by the name of a kernel's parameter. Default: all.",
        ),
    ] = None,
    cycles: Annotated[
        str | None,
        typer.Option(
            "--cycles", metavar="FIRST:END", help="Core cycles of the timeline. Default: all."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Run one workload under one protocol and check its result.

    Exit status 1: the result is wrong; with --check also: the run violates an invariant of the protocol, or the
    workload has a data race, divides by zero or reads uninitialised shared memory.

    Examples:

      gpucoh run bfs -p ideal

      gpucoh run hsp -p no-l1 --set l1_kib=16KiB --param image=terrain.npy

      gpucoh run fg-share -p no-coh --scale tiny --json

      gpucoh run my_file.py:my_workload -p tc-weak --param n=4096
    """
    given, protocol = protocol, protocol or "no-l1"
    wanted = Run(
        workload=workload_id,
        protocol=protocol,
        machine=machine_id,
        consistency=consistency,
        scale=scale,
        seed=seed,
        params=pairs("--param", params),
        check=check,
        set=pairs("--set", changes),
    )
    trace = _trace_window(timeline, array, cycles)
    derived = None
    if explain:
        built, _ = wanted.machine_and_budget()
        derived = explanation(built, resolve(protocol), consistency)
    if derived and not as_json:
        tables.print_explanation(stdout_console(), derived)
    with blocks_bar(f"{wanted.found.id} {protocol}", enabled=not as_json) as report:
        result = interruptible(
            lambda stop: wanted.carry_out(
                capture=True, stop=stop, progress=report, every=every, profile=profile, trace=trace
            )
        )
    if result.error == "KernelError" and not result.cycles:
        raise KernelError(result.where)  # no cycle was simulated: a block does not fit on a core
    if result.error == "WorkloadError":
        raise WorkloadError(result.where)
    if not given:
        sys.stderr.write(
            f"gpucoh: no -p is given: {protocol}, the default; gpucoh protocols lists all\n"
        )
    if as_json:
        print_json(result.to_dict() | ({"explanation": derived} if derived else {}))
    else:
        tables.print_run(stdout_console(), result, check)
        if result.series:
            tables.print_series(stdout_console(), result.series)
        if result.profiled:
            profiles.print_profile(stdout_console(), result.profile)
    if timeline is not None:
        result.trace.save(timeline)
        if not as_json:
            sys.stdout.write(f"\nwrote {timeline}\n")
            sys.stdout.write(f"{result.trace.note}\n" if result.trace.note else "")
    if result.correct is False:
        raise typer.Exit(WRONG)


def _trace_window(
    timeline: Path | None, array: str | None, cycles: str | None
) -> bool | dict[str, Any]:
    """The trace that the options of ``gpucoh run`` ask for.

    Raises
    ------
    ConfigError
        For a bad option.
    """
    if timeline is None:
        for name, given in (("--array", array), ("--cycles", cycles)):
            if given is not None:
                raise ConfigError(f"{name} needs --timeline FILE")
        return False
    with LATE_IMPORT:
        from gpucoh.results.trace.trace import timeline_path
    timeline_path(timeline)
    window: dict[str, Any] = {} if array is None else array_of(array)
    if cycles is not None:
        bounds = re.fullmatch(r"(\d+):(\d+)", cycles)
        if not bounds:
            raise ConfigError(
                f"--cycles {quoted(cycles)} is not FIRST:END, two numbers of core cycles"
            )
        window["cycles"] = (int(bounds[1]), int(bounds[2]))
    return window or True

"""The program's commands: those that describe, run, compare and sweep; other modules add theirs."""

from __future__ import annotations

import contextlib
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from gpucoh.base.clock import Clock
from gpucoh.base.errors import ConfigError, KernelError, WorkloadError
from gpucoh.base.files import results_folder
from gpucoh.cli import cuda, fuzz, growth, hardware, litmus, outside, papers, study, sweeps, verify
from gpucoh.cli import explain as explain_commands
from gpucoh.cli.drawing import draw
from gpucoh.cli.explain import trace_window
from gpucoh.cli.options import (
    OK,
    WRONG,
    App,
    CheckOption,
    JobsOption,
    JsonOption,
    LimitGibOption,
    LimitSOption,
    MachineOption,
    ParamOption,
    ProcessesOption,
    RuleOption,
    ScaleOption,
    SeedOption,
    SetOption,
    StoreOption,
    lists,
    machine_names,
    one_form,
    pairs,
    print_json,
    protocol_ids,
    seeds,
    stdout_console,
    workload_ids,
)
from gpucoh.device.gpu import VERSION, protocols, resolve
from gpucoh.experiments.comparison import DEFAULT_PROTOCOLS, DEFAULT_WORKLOADS, compare
from gpucoh.experiments.interrupts import interruptible
from gpucoh.experiments.runner import Run
from gpucoh.machines import machine, machines
from gpucoh.report import profiles, tables
from gpucoh.report.bars import blocks_bar
from gpucoh.report.explanation import explanation
from gpucoh.suite import find, workloads

app = App(
    name="gpucoh",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="""A GPU simulator that shows what cache coherence protocols do.

Workloads are real algorithms on real input; every run checks its result, so an incoherent cache gives wrong answers.

[bold]Start here[/]

  gpucoh compare                              run a small matrix in under a minute, draw ./figures

  gpucoh run fg-share -p no-coh               see an incoherent cache give a wrong answer, and where

  gpucoh run bfs -p ideal --param graph=road.mtx

  gpucoh protocols no-coh                     print its states and transition tables

  gpucoh machines fermi                       print every number of the machine and its source
""",
)


@app.command("protocols")
def protocols_command(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID]", help="Protocol id. Default: list all.", autocompletion=protocol_ids
        ),
    ] = None,
    as_json: JsonOption = False,
    dot: Annotated[
        bool, typer.Option("--dot", help="Print the state graphs in Graphviz' DOT language.")
    ] = False,
    murphi: Annotated[str | None, typer.Option("--murphi", hidden=True)] = None,
) -> None:
    """List the protocols, or print one protocol's states and transition tables.

    Examples:

      gpucoh protocols

      gpucoh protocols ideal

      gpucoh protocols no-l1 --dot | dot -Tsvg > no-l1.svg
    """
    one_form(("--json", as_json), ("--dot", dot))
    if murphi is not None:
        raise ConfigError("--murphi was removed; 0.3.0 was the last version that has it")
    chosen = protocols() if name is None else {name: resolve(name).selected}
    if dot:
        if name is None:
            raise ConfigError("--dot takes one protocol: gpucoh protocols ID --dot")
        sys.stdout.write(chosen[name].dot())
    elif as_json:
        print_json([item.to_dict() for item in chosen.values()])
    elif name is None:
        tables.print_protocols(stdout_console(), chosen)
    else:
        tables.print_protocol(stdout_console(), chosen[name])


@app.command("machines")
def machines_command(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID]",
            autocompletion=machine_names,
            help="Machine id or TOML file. Default: list all.",
        ),
    ] = None,
    as_json: JsonOption = False,
    toml: Annotated[
        bool, typer.Option("--toml", help="Print the machine as TOML, to edit and pass with -m.")
    ] = False,
) -> None:
    """List the machines, or print one machine's numbers with their sources.

    Fixed in every machine: an L1 has one port and no banks; a partition's L2
    is one bank that accepts one request per L2 cycle and port, an atomic with
    all its lanes; consecutive DRAM rows are in consecutive banks (docs/how-to/add-a-machine.md).

    Examples:

      gpucoh machines fermi

      gpucoh machines fermi --toml > mine.toml; gpucoh run bfs -p ideal -m mine.toml
    """
    one_form(("--json", as_json), ("--toml", toml))
    chosen = machines() if name is None else {name: machine(name)}
    if toml:
        if name is None:
            raise ConfigError("--toml takes one machine: gpucoh machines ID --toml")
        sys.stdout.write(chosen[name].toml())
    elif as_json:
        listed = [
            {
                "id": item.name,
                "fields": item.numbers(),
                "derived": item.derived,
                "sources": {field: item.source(field) for field in item.numbers()},
            }
            for item in chosen.values()
        ]
        print_json(listed if name is None else listed[0])
    elif name is None:
        tables.print_machines(stdout_console(), chosen)
    else:
        tables.print_machine(stdout_console(), chosen[name])


@app.command("workloads")
def workloads_command(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID]",
            autocompletion=workload_ids,
            help="Workload id, or FILE.py:NAME for one of your own. Default: list all.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the workloads, or print one workload's parameters.

    Examples:

      gpucoh workloads

      gpucoh workloads bfs
    """
    chosen = workloads() if name is None else {name: find(name)}
    if as_json:
        listed = [item.to_dict() for item in chosen.values()]
        print_json(listed if name is None else listed[0])
    elif name is None:
        tables.print_workloads(stdout_console(), chosen)
    else:
        tables.print_workload(stdout_console(), chosen[name])


@app.command("run")
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
        typer.Option(
            "-p",
            "--protocol",
            autocompletion=protocol_ids,
            help=r"Protocol id, with options in brackets, e.g. tc-weak\[lifetime=800]. Default: no-l1, said on "
            "standard error.",
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
    trace = trace_window(timeline, array, cycles)
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


@app.command("compare")
def compare_command(
    names: Annotated[
        list[str] | None,
        typer.Option(
            "-w",
            "--workload",
            autocompletion=workload_ids,
            help="Workload ids or FILE.py:NAME, comma separated or repeated; all: every built-in one.",
        ),
    ] = None,
    protocol: Annotated[
        list[str] | None,
        typer.Option(
            "-p",
            "--protocol",
            autocompletion=protocol_ids,
            help="Protocol ids, comma separated or repeated; all: every protocol.",
        ),
    ] = None,
    machine_ids: Annotated[
        list[str] | None,
        typer.Option(
            "-m",
            "--machine",
            help="Presets or TOML files, comma separated or repeated; all: every preset. Default: fermi.",
        ),
    ] = None,
    consistency: RuleOption = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline", help="Protocol to which results are relative. Default: the first."
        ),
    ] = None,
    scale: ScaleOption = "small",
    seed: SeedOption = 0,
    several: Annotated[
        str | None,
        typer.Option("--seeds", help="Number of seeds, from --seed on, or a list of them (0,1,2)."),
    ] = None,
    jobs: JobsOption = None,
    processes: ProcessesOption = False,
    limit_s: LimitSOption = None,
    limit_gib: LimitGibOption = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Folder for figures and table. Default: ./figures."),
    ] = None,
    changes: SetOption = None,
    params: ParamOption = None,
    check: CheckOption = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run every workload under every protocol; print a table, draw speedup, traffic and energy.

    Default: six workloads under six protocols, with directories, with leases and without coherence. Wrong answers are
    marked. Every workload must have the parameters of --param. Exit status 1: a run is wrong although its protocol
    promises a memory model (no-coh promises none).

    Examples:

      gpucoh compare

      gpucoh compare -w bfs,hsp -p no-l1,ideal --baseline no-l1 --out results

      gpucoh compare -w bfs -p no-l1,tc-weak --param graph=road.mtx

      gpucoh compare -w bfs -p mesi,tc-weak -m fermi,gcn3
    """
    clock = Clock()
    start = time.process_time(), time.perf_counter()
    folder = out if out is not None or as_json else Path("figures")
    with contextlib.nullcontext() if folder is None else results_folder(folder):
        comparison = compare(
            lists(names, DEFAULT_WORKLOADS, list(workloads())),
            lists(protocol, DEFAULT_PROTOCOLS, list(protocols())),
            machines=lists(machine_ids, ["fermi"], list(machines())),
            baseline=baseline,
            scale=scale,
            seeds=seeds(several, seed),
            jobs=jobs,
            progress=not as_json,
            consistency=consistency,
            set=pairs("--set", changes),
            params=pairs("--param", params),
            check=check,
            store=store,
            limit_s=limit_s,
            limit_gib=limit_gib,
            processes=processes,
        )
        if as_json:
            print_json(comparison.to_dict())
        else:
            tables.print_comparison(stdout_console(), comparison)
        with clock.phase("figures"):
            files = [] if folder is None else draw(comparison, folder)
    if files and not as_json:
        sys.stdout.write("\nwrote " + ", ".join(str(path) for path in files) + "\n")
        phases = {"start": start[0]} | comparison.seconds | clock.seconds
        spent = ", ".join(f"{name} {seconds:.1f}" for name, seconds in phases.items())
        wall = time.perf_counter() - start[1]
        sys.stdout.write(
            f"\nprocessor seconds: {spent}; {wall:.1f} s by the clock after the start\n"
        )
    if comparison.failures:
        raise typer.Exit(WRONG)


sweeps.register(app)
study.register(app)
cuda.register(app)
explain_commands.register(app)
fuzz.register(app)
hardware.register(app)
growth.register(app)
outside.register(app)
litmus.register(app)
papers.register(app)
verify.register(app)


def _print_version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"gpucoh {VERSION}\n")
        raise typer.Exit(OK)


@app.callback()
def _global_options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    pass

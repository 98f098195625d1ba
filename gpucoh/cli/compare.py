"""``gpucoh compare``: every workload under every protocol."""

from __future__ import annotations

import contextlib
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from gpucoh.base.clock import Clock
from gpucoh.base.files import results_folder
from gpucoh.cli.drawing import draw
from gpucoh.cli.options import (
    WRONG,
    CheckOption,
    JobsOption,
    JsonOption,
    LimitGibOption,
    LimitSOption,
    ParamOption,
    ProcessesOption,
    RuleOption,
    ScaleOption,
    SeedOption,
    SetOption,
    StoreOption,
    lists,
    machine_option,
    pairs,
    print_json,
    protocol_option,
    seeds,
    stdout_console,
    workload_ids,
)
from gpucoh.device.gpu import protocols
from gpucoh.machines import machines
from gpucoh.runs.comparison import DEFAULT_PROTOCOLS, DEFAULT_WORKLOADS, compare
from gpucoh.suite import workloads
from gpucoh.terminal import tables


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
        protocol_option("Protocol ids, comma separated or repeated; all: every protocol."),
    ] = None,
    machine_ids: Annotated[
        list[str] | None,
        machine_option(
            "Presets or TOML files, comma separated or repeated; all: every preset. Default: fermi."
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

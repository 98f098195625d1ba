"""``gpucoh explain``: why runs take longer than others, and the life of a line; the window of a trace."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from gpucoh.base.errors import ConfigError, SimulationError
from gpucoh.base.quoting import quoted
from gpucoh.base.wording import natural
from gpucoh.cli.options import (
    JobsOption,
    JsonOption,
    RuleOption,
    array_of,
    lists,
    machine_option,
    pairs,
    print_json,
    protocol_option,
    seeds,
    stdout_console,
)
from gpucoh.device.choices import split_list
from gpucoh.device.gpu import protocols
from gpucoh.machines import machine, machines
from gpucoh.results.differences import Explanation, explain
from gpucoh.results.runs import RunResult, is_ended
from gpucoh.runs.comparison import carry_out
from gpucoh.runs.grids import grid
from gpucoh.runs.interrupts import interruptible
from gpucoh.runs.runner import Run
from gpucoh.suite import workloads

_RECORDS = 2**20


def explain_command(
    given: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...|WORKLOAD",
            help="Files of gpucoh run WORKLOAD -p PROTOCOL --profile --json; or, with -p, a workload to run.",
        ),
    ],
    protocol: Annotated[
        list[str] | None,
        protocol_option("Run WORKLOAD under each of these protocols; comma separated or repeated."),
    ] = None,
    machine_ids: Annotated[
        list[str] | None,
        machine_option(
            "Presets or TOML files of the runs, comma separated or repeated. Default: fermi."
        ),
    ] = None,
    consistency: RuleOption = None,
    scale: Annotated[
        str | None,
        typer.Option("--scale", help="Input size: tiny, small or paper. Default: small."),
    ] = None,
    several: Annotated[
        str | None,
        typer.Option("--seeds", help="Number of seeds, or a list of them (0,1,2)."),
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE,...",
            help="Machine field, or budget or deadlock_after, with the values to compare.",
        ),
    ] = None,
    params: Annotated[
        list[str] | None,
        typer.Option(
            "--param",
            metavar="KEY=VALUE,...",
            help="Parameter of the workload, with the values to compare.",
        ),
    ] = None,
    jobs: JobsOption = None,
    as_json: JsonOption = False,
    line: Annotated[
        str | None,
        typer.Option(
            "--line",
            metavar="ADDRESS",
            help=r"Run FILE again and print the life of a line: a byte address (0x1080), or NAME\[INDEX], "
            "an element of an array, by its name or its kernel's parameter.",
        ),
    ] = None,
    own: Annotated[
        str | None,
        typer.Option(
            "-w",
            "--workload",
            metavar="FILE.py:NAME",
            help="With --line, if its workload is one of your own.",
        ),
    ] = None,
) -> None:
    """Rank the differences of runs of a workload, by source line and array.

    Several numbers of cores show why it does not scale: the numbers are per core then.

    Examples:

      gpucoh explain fg-share -p mesi --set cores=4,16,64

      gpucoh explain bh -p tc-weak,gpu-vi --scale tiny

      gpucoh run bh -p tc-weak --profile --json > a.json

      gpucoh run bh -p gpu-vi --profile --json > b.json

      gpucoh explain a.json b.json

      gpucoh explain a.json --line "bodies[0]"

      gpucoh explain mine.json --line "flags[3]" -w my_file.py:my_workload
    """
    if own is not None and line is None:
        raise ConfigError("--workload goes with --line ADDRESS")
    of_runs = {
        "--machine": machine_ids,
        "--consistency": consistency,
        "--scale": scale,
        "--seeds": several,
        "--set": changes,
        "--param": params,
        "--jobs": jobs,
    }
    for option, value in of_runs.items():
        if value is not None and protocol is None:
            raise ConfigError(f"{option} goes with a workload and --protocol ID")
    if sum((line is not None, protocol is not None, len(given) > 1)) != 1:
        raise ConfigError(
            "explain takes the files of two runs or more, a workload with --protocol ID, or a file with "
            "--line ADDRESS"
        )
    if line is not None:
        _print_life(Path(given[0]), line, own)
        return
    if protocol is None:
        _print(explain(*map(read_run, map(Path, given))), as_json)
        return
    entries = {
        "protocol": lists(protocol, (), list(protocols())),
        "machine": lists(machine_ids, ["fermi"], list(machines())),
        "consistency": consistency,
        "scale": scale or "small",
        "seed": list(seeds(several, 0)),
        "set": _values("--set", changes),
        "params": _values("--param", params),
    }
    _print(_of_runs(grid(workload=given[0], **entries), jobs, progress=not as_json), as_json)


def read_run(path: Path) -> RunResult:
    """The run in a file that ``gpucoh run --json`` has written.

    Raises
    ------
    ConfigError
        If the file cannot be read, or holds no run.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8-sig"))
        return RunResult.from_dict(data)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    except ValueError:  # a ConfigError too
        raise ConfigError(
            f"{path} is not a run: write one with gpucoh run ... --profile --json"
        ) from None


def _values(option: str, given: list[str] | None) -> dict[str, list[str]]:
    """Names, each with the values of its comma-separated list."""
    return {name: split_list(text) for name, text in pairs(option, given).items()}


def _of_runs(wanted: list[dict[str, Any]], jobs: int | None, *, progress: bool) -> Explanation:
    """Profile runs, and explain their differences."""
    runs = [Run(**one) for one in wanted]
    if len(runs) < 2:
        raise ConfigError(
            "explain compares runs: give several protocols, machines or seeds, or several values of --set or --param"
        )
    for run in runs:
        run.validate()
    number = (os.cpu_count() or 1) if jobs is None else natural("jobs", jobs, smallest=1)
    results = carry_out(runs, jobs=number, progress=progress, profile=True)
    for result in results:
        if is_ended(result.error):
            raise SimulationError(result.where)
        if result.error in ("KernelError", "WorkloadError") and not result.cycles:
            raise ConfigError(f"{result.workload} under {result.protocol}: {result.where}")
    return explain(*results)


def _print(found: Explanation, as_json: bool) -> None:
    if as_json:
        print_json({"lines": list(found.lines), "rows": list(found.rows)})
    else:
        stdout_console().print(str(found), markup=False, highlight=False, soft_wrap=True)


def _print_life(file: Path, line: str, own: str | None) -> None:
    """Run a stored run again, traced, and print what happens to a line."""
    stored = read_run(file)
    if own is None and stored.workload not in workloads():
        raise ConfigError(
            f"{file}: workload {quoted(stored.workload)} is not one of gpucoh's: "
            f"name it with -w FILE.py:{stored.workload}"
        )
    address = int(line, 0) if re.fullmatch(r"0[xX][0-9a-fA-F]+|\d+", line) else None
    given = {"array": address} if address is not None else array_of(line)
    wanted = _run_of(stored, own or stored.workload)
    result = interruptible(
        lambda stop: wanted.carry_out(capture=True, stop=stop, trace=given | {"records": _RECORDS})
    )
    if result.cycles != stored.cycles:
        raise ConfigError(
            f"{file}: the run took {stored.cycles:,} core cycles, and takes {result.cycles:,} here: it was stored by "
            f"version {stored.version}, with another budget, or with another workload"
        )
    sys.stdout.write("\n".join(result.trace.life()) + "\n")


def _run_of(stored: RunResult, workload: str) -> Run:
    built = machine(stored.machine)
    return Run(
        workload=workload,
        protocol=stored.protocol,
        machine=built.replace(**stored.changes) if stored.changes else built,
        consistency=stored.consistency,
        scale=stored.scale,
        seed=stored.seed,
        params={name: value for name, value in stored.params.items() if value is not None},
    )

"""``gpucoh explain``: why one run takes longer than another, and the life of a line; the window of a trace."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from gpucoh.base.errors import ConfigError
from gpucoh.base.quoting import quoted
from gpucoh.cli.options import App, stdout_console
from gpucoh.experiments.interrupts import interruptible
from gpucoh.experiments.runner import Run
from gpucoh.machines import machine
from gpucoh.results.differences import explain
from gpucoh.results.runs import RunResult
from gpucoh.results.trace.trace import timeline_path
from gpucoh.suite import workloads

_RECORDS = 2**20


def register(app: App) -> None:
    """Add the command."""

    @app.command("explain")
    def explain_command(
        first: Annotated[
            Path,
            typer.Argument(
                metavar="A", help="File of gpucoh run WORKLOAD -p PROTOCOL --profile --json."
            ),
        ],
        second: Annotated[
            Path | None, typer.Argument(metavar="B", help="File of the run to compare it with.")
        ] = None,
        line: Annotated[
            str | None,
            typer.Option(
                "--line",
                metavar="ADDRESS",
                help=r"Run A again and print the life of a line: a byte address (0x1080), or NAME\[INDEX], "
                "an element of an array, by its name or its kernel's parameter.",
            ),
        ] = None,
        own: Annotated[
            str | None,
            typer.Option(
                "-w",
                "--workload",
                metavar="FILE.py:NAME",
                help="With --line, if A's workload is one of your own.",
            ),
        ] = None,
    ) -> None:
        """Rank the differences of two runs of a workload, by source line and array.

        Examples:

          gpucoh run bh -p tc-weak --profile --json > a.json

          gpucoh run bh -p gpu-vi --profile --json > b.json

          gpucoh explain a.json b.json

          gpucoh explain a.json --line "bodies[0]"

          gpucoh explain mine.json --line "flags[3]" -w my_file.py:my_workload
        """
        if (second is None) == (line is None):
            raise ConfigError("explain takes a second run, or --line ADDRESS")
        if own is not None and line is None:
            raise ConfigError("--workload goes with --line ADDRESS")
        if line is not None:
            _print_life(first, line, own)
        if second is None:
            return
        text = explain(read_run(first), read_run(second))
        stdout_console().print(str(text), markup=False, highlight=False, soft_wrap=True)


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


def _print_life(file: Path, line: str, own: str | None) -> None:
    """Run a stored run again, traced, and print what happens to a line."""
    stored = read_run(file)
    if own is None and stored.workload not in workloads():
        raise ConfigError(
            f"{file}: workload {quoted(stored.workload)} is not one of gpucoh's: "
            f"name it with -w FILE.py:{stored.workload}"
        )
    address = int(line, 0) if re.fullmatch(r"0[xX][0-9a-fA-F]+|\d+", line) else None
    given = {"array": address} if address is not None else _array(line)
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


def trace_window(
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
    timeline_path(timeline)
    window: dict[str, Any] = {} if array is None else _array(array)
    if cycles is not None:
        bounds = re.fullmatch(r"(\d+):(\d+)", cycles)
        if not bounds:
            raise ConfigError(
                f"--cycles {quoted(cycles)} is not FIRST:END, two numbers of core cycles"
            )
        window["cycles"] = (int(bounds[1]), int(bounds[2]))
    return window or True


def _array(given: str) -> dict[str, Any]:
    """``NAME``, ``NAME[INDEX]`` or ``NAME[FIRST:END]``."""
    found = re.fullmatch(r"([^\[\]]+)(?:\[(\d+)(?::(\d+))?\])?", given)
    if not found:
        raise ConfigError(
            f"{quoted(given)} is neither an address nor NAME[INDEX] nor NAME[FIRST:END]"
        )
    name, first, end = found.groups()
    if first is None:
        return {"array": name}
    index = int(first) if end is None else slice(int(first), int(end))
    return {"array": name, "index": index}

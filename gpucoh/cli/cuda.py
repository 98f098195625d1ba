"""`gpucoh cuda`: whole CUDA programs on the simulated GPU."""

from __future__ import annotations

import contextlib
import difflib
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any

import typer

from gpucoh.base.errors import ConfigError
from gpucoh.base.files import results_folder
from gpucoh.base.wording import natural
from gpucoh.cli.drawing import draw
from gpucoh.cli.options import (
    BAD_INPUT,
    WRONG,
    App,
    CheckOption,
    Command,
    JobsOption,
    JsonOption,
    MachineOption,
    RuleOption,
    SeedOption,
    SetOption,
    lists,
    pairs,
    print_json,
    stdout_console,
)
from gpucoh.cuda.building import Built, build
from gpucoh.cuda.programs import Outcome, run_program
from gpucoh.device.gpu import GPU, absolute, protocols
from gpucoh.experiments.comparison import Comparison
from gpucoh.experiments.runner import machine_and_limits
from gpucoh.report import profiles, tables
from gpucoh.results.trace.trace import timeline_path


class ProgramCommand(Command):
    """A command whose words behind ``--`` are a program's."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse what precedes ``--``."""
        own = args[: args.index("--")] if "--" in args else args
        ctx.meta["program"] = args[len(own) + 1 :]
        return super().parse_args(ctx, own)


def register(app: App) -> None:
    """Add the command."""
    app.command("cuda", cls=ProgramCommand)(cuda_command)


def cuda_command(
    context: typer.Context,
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE.cu..", help="CUDA C++ files of the program, and other sources of it."
        ),
    ],
    protocol: Annotated[
        list[str] | None,
        typer.Option(
            "-p",
            "--protocol",
            help="Protocol id; several, comma separated or repeated, are compared; all: every protocol. "
            "Default: tc-weak.",
        ),
    ] = None,
    machine_id: MachineOption = "fermi",
    consistency: RuleOption = None,
    seed: SeedOption = 0,
    check: CheckOption = False,
    changes: SetOption = None,
    defines: Annotated[
        list[str] | None,
        typer.Option("-D", metavar="NAME[=VALUE]", help="Define a macro, as compilers do."),
    ] = None,
    includes: Annotated[
        list[str] | None, typer.Option("-I", metavar="FOLDER", help="Search headers there.")
    ] = None,
    options: Annotated[
        list[str] | None,
        typer.Option(
            "--nvcc", metavar="OPTION", help="Pass an option to CUDA's compiler, e.g. --nvcc=-lm."
        ),
    ] = None,
    jobs: JobsOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Folder for the figures and table of a comparison. Default: ./figures."
        ),
    ] = None,
    profile: Annotated[
        bool,
        typer.Option(
            "--profile",
            help="Also print where the cycles go, by line of the source, array and wait.",
        ),
    ] = False,
    trace: Annotated[
        Path | None,
        typer.Option(
            "--trace",
            metavar="FILE",
            help="Also trace the run and write its timeline, FILE.html or FILE.pftrace.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Run a CUDA program, its main included, on the simulated GPU; words behind -- are the program's arguments.

    CUDA's compiler (pip install 'gpucoh\\[cuda]', or CUDA_HOME) and a C++ compiler are needed, a GPU is not. The
    program's calls of CUDA's runtime go to the simulator; one that it lacks ends the program and is named.

    Exit status: that of the program; 2 also if it does not compile, or the simulation ends it.

    Examples:

      gpucoh cuda bfs.cu -p tc-weak -- graph.txt

      gpucoh cuda saxpy.cu -D N=4096 -p no-l1,mesi,tc-weak -m fermi

      gpucoh cuda locks.cu -p ./mine.c --check --profile
    """
    flags = [f"-D{one}" for one in defines or ()] + [f"-I{one}" for one in includes or ()]
    setting = _setting(machine_id, pairs("--set", changes))
    setting |= {"consistency": consistency, "seed": seed, "check": check}
    chosen = [absolute(one) for one in lists(protocol, ["tc-weak"], list(protocols()))]
    if len(chosen) > 1 and (profile or trace):
        raise ConfigError("--profile and --trace are of a run under one protocol")
    if trace is not None:
        trace = timeline_path(trace).absolute()  # a program may change its folder
    for one in chosen:  # bad values are refused before anything is compiled
        GPU(setting["machine"], one, consistency, seed, check).close()
    built = build(sources, [*flags, *(options or ())])
    program = _Program(built, sources[0].name, context.meta["program"], setting)
    if len(chosen) > 1:
        _compare(program, chosen, jobs, out, as_json)
        return
    outcome = program.run(chosen[0], as_json, profile=profile, trace=trace)
    _print(outcome, check, as_json)
    if outcome.failure:
        sys.stderr.write(f"gpucoh: {outcome.failure}\n")
        raise typer.Exit(BAD_INPUT)
    raise typer.Exit(outcome.status)


def _setting(machine_id: str, changes: dict[str, str]) -> dict[str, Any]:
    built, budget, deadlock_after = machine_and_limits(machine_id, changes)
    return {
        "machine": built,
        "budget": budget,
        "deadlock_after": deadlock_after,
        "changed": tuple(changes),
    }


class _Program:
    def __init__(
        self, built: Built, name: str, arguments: list[str], setting: dict[str, Any]
    ) -> None:
        self.built, self.name, self.arguments, self.setting = built, name, arguments, setting

    def run(self, protocol: str, capture: bool, **more: Any) -> Outcome:
        """Run it under a protocol."""
        return run_program(
            self.built,
            self.name,
            self.arguments,
            capture=capture,
            protocol=protocol,
            **self.setting,
            **more,
        )


def _print(outcome: Outcome, check: bool, as_json: bool) -> None:
    result = outcome.result
    if as_json:
        data = {} if result is None else result.to_dict()
        output = outcome.output.decode(errors="replace")
        print_json(
            data | {"exit_status": outcome.status, "failure": outcome.failure, "output": output}
        )
    elif result is not None:
        console = stdout_console()
        console.print()
        tables.print_run(console, result, check)
        if result.series:
            tables.print_kernels(console, result.series)
        if result.profiled:
            profiles.print_profile(console, result.profile)


def _compare(
    program: _Program, chosen: list[str], jobs: int | None, out: Path | None, as_json: bool
) -> None:
    number = (os.cpu_count() or 1) if jobs is None else natural("jobs", jobs, smallest=1)
    folder = out if out is not None or as_json else Path("figures")
    # Every protocol's run reads the same input.
    given = b"" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.buffer.read()
    with contextlib.nullcontext() if folder is None else results_folder(folder):
        with ThreadPoolExecutor(number) as pool:
            outcomes = list(pool.map(lambda one: program.run(one, True, given=given), chosen))
        found = [one.result for one in outcomes if one.result is not None]
        if not found:
            raise ConfigError(outcomes[0].failure)
        comparison = Comparison(tuple(found), found[0].protocol)
        if as_json:
            ends = [
                {
                    "protocol": protocol,
                    "exit_status": one.status,
                    "failure": one.failure,
                    "output": one.output.decode(errors="replace"),
                }
                for protocol, one in zip(chosen, outcomes, strict=True)
            ]
            print_json(comparison.to_dict() | {"programs": ends})
            if folder is not None:
                draw(comparison, folder)
            if any(one.failure or one.status for one in outcomes):
                raise typer.Exit(WRONG)
            return
        sys.stdout.write(outcomes[0].output.decode(errors="replace"))
        for line in _differences(chosen, outcomes):
            sys.stdout.write(f"{line}\n")
        tables.print_comparison(stdout_console(), comparison)
        files = draw(comparison, folder) if folder is not None else []
    if files:
        sys.stdout.write("\nwrote " + ", ".join(str(path) for path in files) + "\n")
    if any(one.failure or one.status for one in outcomes):
        raise typer.Exit(WRONG)


def _differences(chosen: list[str], outcomes: list[Outcome]) -> list[str]:
    """A line for each protocol under which the program failed, or wrote something else than under the first."""
    first = outcomes[0].output.decode(errors="replace").splitlines()
    lines = []
    for protocol, outcome in zip(chosen, outcomes, strict=True):
        own = outcome.output.decode(errors="replace").splitlines()
        if outcome.failure or outcome.status:
            lines.append(f"{protocol}: {outcome.failure or f'exit status {outcome.status}'}")
        elif own != first:
            changed = next(
                (line for line in difflib.ndiff(first, own) if line.startswith("+ ")), "+ (less)"
            )
            lines.append(
                f"{protocol}: the output differs from that under {chosen[0]}: {changed[2:]}"
            )
    return lines

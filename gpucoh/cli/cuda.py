"""`gpucoh cuda`: whole CUDA programs on the simulated GPU."""

from __future__ import annotations

import contextlib
import difflib
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from gpucoh.base.errors import ConfigError
from gpucoh.base.files import results_folder
from gpucoh.base.processes import NO_LIMITS, Limits, limits_of
from gpucoh.base.wording import natural
from gpucoh.cli.drawing import draw
from gpucoh.cli.options import (
    BAD_INPUT,
    WRONG,
    CheckOption,
    Command,
    JobsOption,
    JsonOption,
    LimitGibOption,
    LimitSOption,
    MachineOption,
    RuleOption,
    SeedOption,
    SetOption,
    lists,
    pairs,
    print_json,
    protocol_option,
    stdout_console,
)
from gpucoh.cuda import hip
from gpucoh.cuda.building import Built, build
from gpucoh.cuda.cut import Cut, launches
from gpucoh.cuda.module import check_warps
from gpucoh.cuda.programs import Capture, Outcome, run_program
from gpucoh.device.gpu import GPU, absolute, protocols
from gpucoh.results.runs import RunResult
from gpucoh.results.trace.trace import timeline_path
from gpucoh.runs.comparison import Comparison
from gpucoh.runs.runner import machine_and_limits
from gpucoh.terminal import profiles, tables

# Times and rates that programs print: they differ between protocols that give the same answer.
_MEASURED = re.compile(
    r"\d[\d.,]*(e[-+]?\d+)?(?=\s*([num\u00b5]?s|(milli|micro|nano)?sec(ond)?s?|cycles|[KMGT]?i?B/s|[KMGT]?FLOPS?)\b)",
    re.IGNORECASE,
)


class ProgramCommand(Command):
    """A command whose words behind ``--`` are a program's."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse what precedes ``--``."""
        own = args[: args.index("--")] if "--" in args else args
        ctx.meta["program"] = args[len(own) + 1 :]
        return super().parse_args(ctx, own)


COMMAND = ProgramCommand


def cuda_command(
    context: typer.Context,
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE.cu..",
            help="CUDA C++ or HIP files of the program, and other sources of it.",
        ),
    ],
    protocol: Annotated[
        list[str] | None,
        protocol_option(
            "Protocol id; several, comma separated or repeated, are compared; all: every protocol. "
            "Default: tc-weak."
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
    is_hip: Annotated[
        bool,
        typer.Option(
            "--hip", help="The program is HIP's; of .hip files this is so without the option."
        ),
    ] = False,
    jobs: JobsOption = None,
    limit_s: LimitSOption = None,
    limit_gib: LimitGibOption = None,
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
    timed: Annotated[
        str | None,
        typer.Option(
            "--launches",
            metavar="3,7-9",
            help="Simulate only these launches, counted from 0. The others compute their values without time, "
            "in a fraction of the processor's, and leave the caches empty. Default: all.",
        ),
    ] = None,
    until: Annotated[
        int | None,
        typer.Option("--until", metavar="LAUNCH", help="End the program after this launch."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Run a CUDA or HIP program, its main included, on the simulated GPU; words behind -- are the program's arguments.

    CUDA's compiler (pip install 'gpucoh\\[cuda]', or CUDA_HOME) and a C++ compiler are needed, a GPU is not. The
    program's calls of CUDA's runtime go to the simulator; one that it lacks ends the program and is named.

    Exit status: that of the program; 2, with a line that begins with gpucoh:, also if it does not compile, or the
    simulation or a signal ends it. Of a comparison: 1 if a run fails. Without a comparison a run has no limits unless
    they are given.

    Examples:

      gpucoh cuda bfs.cu -p tc-weak -- graph.txt

      gpucoh cuda saxpy.cu -D N=4096 -p no-l1,mesi,tc-weak -m fermi

      gpucoh cuda locks.cu -p ./mine.c --check --profile

      gpucoh cuda --hip reduction.cpp -m fermi

      gpucoh cuda solver.cu --launches 20-22 --until 22
    """
    cut = Cut(launches(timed), None if until is None else natural("--until", until, smallest=0))
    flags = [f"-D{one}" for one in defines or ()] + [f"-I{one}" for one in includes or ()]
    setting = _setting(machine_id, pairs("--set", changes))
    setting |= {"consistency": consistency, "seed": seed, "check": check, "cut": cut}
    chosen = [absolute(one) for one in lists(protocol, ["tc-weak"], list(protocols()))]
    if len(chosen) > 1 and (profile or trace):
        raise ConfigError("--profile and --trace are of a run under one protocol")
    if out is not None and len(chosen) == 1:
        raise ConfigError("--out is of a comparison: give several protocols (-p a,b)")
    if trace is not None:
        trace = timeline_path(trace).absolute()  # a program may change its folder
        if not os.access(trace.parent, os.W_OK) or trace.is_dir():
            raise ConfigError(f"--trace {trace}: the file cannot be written")
    limits = limits_of(limit_s, limit_gib, NO_LIMITS if len(chosen) == 1 else Limits())
    number = (os.cpu_count() or 1) if jobs is None else natural("jobs", jobs, smallest=1)
    check_warps(sources[0].name, setting["machine"].lanes_per_warp)
    for one in chosen:  # bad values are refused before anything is compiled
        GPU(setting["machine"], one, consistency, seed, check).close()
    is_hip = is_hip or any(source.suffix == hip.SUFFIX for source in sources)
    built = build(sources, [*flags, *(options or ())], is_hip)
    program = _Program(
        built, sources[0].name, context.meta["program"], setting | {"limits": limits}
    )
    if len(chosen) > 1:
        _compare(program, chosen, number, out, as_json)
        return
    capture: Capture = "output" if as_json else ""
    outcome = program.run(chosen[0], capture, profile=profile, trace=trace)
    _print(outcome, check, as_json)
    if outcome.status is None:
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

    def run(self, protocol: str, capture: Capture, **more: Any) -> Outcome:
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
        print_json(result.to_dict() | _end(outcome))
        return
    console = stdout_console()
    console.print()
    tables.print_run(console, result, check)
    if result.series:
        tables.print_kernels(console, result.series)
    if result.profiled:
        profiles.print_profile(console, result.profile)


def _end(outcome: Outcome) -> dict[str, Any]:
    return {
        "exit_status": outcome.status,
        "failure": outcome.failure,
        "output": outcome.output.decode(errors="replace"),
    }


def _compare(
    program: _Program, chosen: list[str], jobs: int, out: Path | None, as_json: bool
) -> None:
    folder = out if out is not None or as_json else Path("figures")
    # Every protocol's run reads the same input.
    given = b"" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.buffer.read()
    with contextlib.nullcontext() if folder is None else results_folder(folder):
        with ThreadPoolExecutor(jobs) as pool:
            outcomes = list(pool.map(lambda one: program.run(one, "all", given=given), chosen))
        for outcome in outcomes:
            for line in outcome.messages.decode(errors="replace").splitlines():
                sys.stderr.write(f"{outcome.result.protocol}: {line}\n")
        right = next((one for one in outcomes if not one.reason), outcomes[0])
        results = tuple(_judged(one, right) for one in outcomes)
        comparison = Comparison(results, results[0].protocol)
        if as_json:
            ends = [{"protocol": one.result.protocol} | _end(one) for one in outcomes]
            print_json(comparison.to_dict() | {"programs": ends})
        else:
            sys.stdout.write(outcomes[0].output.decode(errors="replace"))
            tables.print_comparison(stdout_console(), comparison)
            for run in results:
                if run.verdict == "differs":
                    sys.stdout.write(f"\n{run.workload} under {run.protocol}: {run.where}\n")
        files = draw(comparison, folder) if folder is not None else []
    if files and not as_json:
        sys.stdout.write("\nwrote " + ", ".join(str(path) for path in files) + "\n")
    if comparison.failures:
        raise typer.Exit(WRONG)


def _judged(outcome: Outcome, first: Outcome) -> RunResult:
    """A result, not called correct if the program wrote something else than in the first run that did not fail."""
    own, other = (_lines(one) for one in (outcome, first))
    if outcome.reason or own == other:
        return outcome.result
    changed = (line[2:] for line in difflib.ndiff(other, own) if line.startswith("+ "))
    where = f"the output differs from that under {first.result.protocol}: {next(changed, 'lines are missing')}"
    return replace(outcome.result, correct=None, where=where)


def _lines(outcome: Outcome) -> list[str]:
    return _MEASURED.sub("#", outcome.output.decode(errors="replace")).splitlines()

"""The command line: ``gpucoh``, also ``python -m gpucoh``.

Exit status: 0 all well; 1 a wrong result or a violated invariant was found; 2 bad input, or output that cannot be
written, told in one plain line.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console

from gpucoh.cli import fuzz, litmus, papers, verify
from gpucoh.cli.options import App, lists, one_form, pairs
from gpucoh.errors import ConfigError, Error, KernelError
from gpucoh.experiments.comparison import DEFAULT_PROTOCOLS, DEFAULT_WORKLOADS, compare
from gpucoh.experiments.interrupts import interruptible
from gpucoh.experiments.runner import Run
from gpucoh.experiments.sweeps import read_sweep, sweep
from gpucoh.files import results_folder, whole_file
from gpucoh.gpu import VERSION, protocols, resolve
from gpucoh.machines import machine, machines
from gpucoh.report import tables
from gpucoh.report.bars import blocks_bar
from gpucoh.report.explanation import explanation
from gpucoh.starting import INTERRUPTED, ready
from gpucoh.suite import workload, workloads

OK, WRONG, BAD_INPUT = 0, 1, 2

app = App(
    name="gpucoh",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="""A simulated GPU that shows what its cache coherence protocol does.

Workloads are real algorithms on real input; every run checks its own result, so a wrong protocol gives wrong answers.

[bold]Start here[/]

  gpucoh compare                              a small matrix in under a minute, figures in ./figures

  gpucoh run fg-share -p no-coh               see an incoherent cache give a wrong answer, and where

  gpucoh run bfs -p ideal --param graph=road.mtx

  gpucoh protocols no-coh                     its states and transition tables

  gpucoh machines fermi                       every number of the machine, with its source
""",
)

MachineOption = Annotated[
    str, typer.Option("-m", "--machine", help="A preset's id or a TOML file.")
]
RuleOption = Annotated[
    str | None,
    typer.Option(
        "-c",
        "--consistency",
        help="Core rule: sc, rc (wo), drf, hrf. Default: the paper's for the protocol.",
    ),
]
ScaleOption = Annotated[
    str, typer.Option("--scale", help="Size of the input: tiny, small or paper.")
]
SeedOption = Annotated[int, typer.Option("--seed", help="The same seed gives the same run.")]
CheckOption = Annotated[
    bool,
    typer.Option(
        "--check", help="Run the protocol's monitors and the race detector along (slower)."
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change a machine field, units allowed (l1_kib=16KiB); or budget=.",
    ),
]
ParamOption = Annotated[
    list[str] | None,
    typer.Option("--param", metavar="KEY=VALUE", help="Set a parameter of the workload."),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print JSON on standard output, nothing else.")
]


def _console() -> Console:
    """Standard output; wide where it is no terminal, so that no table is cut."""
    out = Console()
    return out if out.is_terminal or "COLUMNS" in os.environ else Console(width=220)


def _print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, indent=2, allow_nan=False) + "\n")


@app.command("protocols")
def protocols_command(
    name: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="One protocol; without: all.")
    ] = None,
    as_json: JsonOption = False,
    dot: Annotated[
        bool, typer.Option("--dot", help="Print the state graphs in Graphviz' language.")
    ] = False,
) -> None:
    """List the protocols, or print one protocol's states and transition tables.

    Examples:

      gpucoh protocols

      gpucoh protocols ideal

      gpucoh protocols no-l1 --dot | dot -Tsvg > no-l1.svg
    """
    one_form(("--json", as_json), ("--dot", dot))
    chosen = protocols() if name is None else {name: resolve(name).protocol}
    if dot:
        if name is None:
            raise ConfigError("--dot takes one protocol: gpucoh protocols ID --dot")
        sys.stdout.write(chosen[name].dot())
    elif as_json:
        _print_json([item.to_dict() for item in chosen.values()])
    elif name is None:
        tables.print_protocols(_console(), chosen)
    else:
        tables.print_protocol(_console(), chosen[name])


@app.command("machines")
def machines_command(
    name: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="One machine or TOML file; without: all.")
    ] = None,
    as_json: JsonOption = False,
    toml: Annotated[
        bool, typer.Option("--toml", help="Print it as TOML, to edit and pass with -m.")
    ] = False,
) -> None:
    """List the machines, or print one machine's numbers with their sources.

    No field changes these: an L1 has one port and no banks; a partition's L2
    is one bank, which takes one request an L2 cycle, an atomic one with all its
    lanes; rows of DRAM go round a channel's banks (docs/tutorial.md).

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
        _print_json(listed if name is None else listed[0])
    elif name is None:
        tables.print_machines(_console(), chosen)
    else:
        tables.print_machine(_console(), chosen[name])


@app.command("workloads")
def workloads_command(
    name: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="One workload; without: all.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the workloads, or print one workload's parameters.

    Examples:

      gpucoh workloads

      gpucoh workloads bfs
    """
    chosen = workloads() if name is None else {name: workload(name)}
    if as_json:
        listed = [item.to_dict() for item in chosen.values()]
        _print_json(listed if name is None else listed[0])
    elif name is None:
        tables.print_workloads(_console(), chosen)
    else:
        tables.print_workload(_console(), chosen[name])


@app.command("run")
def run_command(
    workload_id: Annotated[
        str, typer.Argument(metavar="WORKLOAD", help="Its id: gpucoh workloads lists them.")
    ],
    protocol: Annotated[
        str, typer.Option("-p", "--protocol", help="Its id, options in brackets: id[name=value].")
    ],
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
            help="Also print how the machine's and protocol's defaults were derived; "
            "with --json under explanation.",
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Run one workload under one protocol and check its result.

    Exit status 1 when the result is wrong; with --check also when an invariant of the protocol is violated or the
    workload has a data race.

    Examples:

      gpucoh run bfs -p ideal

      gpucoh run hsp -p no-l1 --set l1_kib=16KiB --param image=terrain.npy

      gpucoh run fg-share -p no-coh --scale tiny --json
    """
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
    told = None
    if explain:
        built, _ = wanted.machine_and_budget()
        told = explanation(built, resolve(protocol), consistency)
    if told and not as_json:
        tables.print_explanation(_console(), told)
    with blocks_bar(f"{workload_id} {protocol}", enabled=not as_json) as report:
        result = interruptible(
            lambda stop: wanted.carry_out(capture=True, stop=stop, progress=report)
        )
    if result.error == "KernelError" and not result.cycles:
        raise KernelError(result.where)  # nothing ran: a core of this machine holds no block of it
    if as_json:
        _print_json(result.to_dict() | ({"explanation": told} if told else {}))
    else:
        tables.print_run(_console(), result, check)
    if result.correct is False:
        raise typer.Exit(WRONG)


@app.command("compare")
def compare_command(
    names: Annotated[
        list[str] | None,
        typer.Option("-w", "--workload", help="Workloads: repeat, comma lists, all."),
    ] = None,
    protocol: Annotated[
        list[str] | None,
        typer.Option("-p", "--protocol", help="Protocols: repeat, comma lists, all."),
    ] = None,
    machine_id: MachineOption = "fermi",
    consistency: RuleOption = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline", help="Protocol that results are relative to. Default: the first."
        ),
    ] = None,
    scale: ScaleOption = "small",
    seed: SeedOption = 0,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", help="Runs at once. Default: one a processor.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder of figures and table. Default: ./figures.")
    ] = None,
    changes: SetOption = None,
    check: CheckOption = False,
    as_json: JsonOption = False,
) -> None:
    """Run every workload under every protocol; print a table, draw speedup, traffic and energy.

    Without arguments: six workloads under six protocols, with directories, with leases and with no coherence. Runs with
    wrong answers are marked. Exit status 1 when a run is wrong although its protocol promises a memory model (no-coh
    promises none).

    Examples:

      gpucoh compare

      gpucoh compare -w bfs,hsp -p no-l1,ideal --baseline no-l1 --out results
    """
    folder = out if out is not None or as_json else Path("figures")
    with contextlib.nullcontext() if folder is None else results_folder(folder):
        comparison = compare(
            lists(names, DEFAULT_WORKLOADS, list(workloads())),
            lists(protocol, DEFAULT_PROTOCOLS, list(protocols())),
            machine_id,
            baseline=baseline,
            scale=scale,
            seed=seed,
            jobs=jobs,
            progress=not as_json,
            consistency=consistency,
            set=pairs("--set", changes),
            check=check,
        )
        if as_json:
            _print_json(comparison.to_dict())
        else:
            tables.print_comparison(_console(), comparison)
        files = [] if folder is None else _draw(comparison, folder)
    if files and not as_json:
        sys.stdout.write("\nwritten: " + ", ".join(str(path) for path in files) + "\n")
    if comparison.failures:
        raise typer.Exit(WRONG)


@app.command("sweep")
def sweep_command(
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="What to run: see below.")],
    out: Annotated[Path, typer.Option("--out", help="Parquet file of the results.")],
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", help="Runs at once. Default: one a processor.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the results that are there.")
    ] = False,
) -> None:
    """Carry out the product of the lists of a TOML file; keep the results in a Parquet file.

    The file gives lists workloads, protocols, machines, consistencies, scales, seeds, and tables set and params whose
    values may be lists. Ctrl-C keeps what is done; --resume goes on from there. Exit status 1 when a run is wrong
    although its protocol promises a memory model.

    Examples:

      gpucoh sweep l1-sizes.toml --out l1-sizes.parquet --resume

      with: workloads = ["bfs"]  protocols = ["no-l1", "ideal"]  seeds = [0, 1]  set = {l1_kib = [16, 32, 64]}
    """
    table = sweep(read_sweep(file), out=out, resume=resume, jobs=jobs, progress=True)
    wrong = table[table["correct"].eq(False) & table["model"].ne("none")]
    sys.stdout.write(f"{len(table)} runs, {len(wrong)} wrong, in {out}\n")
    if len(wrong):
        raise typer.Exit(WRONG)


def _draw(comparison: Any, folder: Path) -> list[Path]:
    """All figures of a comparison, and its table as CSV."""
    from gpucoh.report import plots  # here: Matplotlib is large, and most commands draw nothing

    files = plots.save(comparison.plot_speedup(), folder, "speedup")
    files += plots.save(comparison.plot_traffic(), folder, "traffic")
    files += plots.save(comparison.plot_energy(), folder, "energy")
    table = folder / "runs.csv"
    with whole_file(table) as part:
        comparison.table.to_csv(part, index=False)
    return [path for path in files if path.suffix == ".png"] + [table]


fuzz.register(app, _console, _print_json)
litmus.register(app, _console, _print_json)
papers.register(app, _console, _print_json)
verify.register(app, _console, _print_json)


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


def _fail(message: str) -> int:
    with contextlib.suppress(OSError):  # standard error is full, too: the status tells it
        sys.stderr.write("gpucoh: " + " ".join(message.split()) + "\n")
    return BAD_INPUT


def call(arguments: Sequence[str] | None = None) -> int:
    """Carry out a command line and give its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        Without the program's name; by default those of the process.
    """
    if sys.stderr is None:  # closed (2>&-): what would be told there goes nowhere
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115  # for the rest of the process
    if sys.stdout is None:
        return _fail("standard output is closed")
    try:
        status = _carry_out(sys.argv[1:] if arguments is None else list(arguments))
        sys.stdout.flush()  # not at exit, where nobody could tell that it failed
    except BrokenPipeError:
        # The reader has gone (| head): nothing more to say.
        _drop_output()
        return 128 + signal.SIGPIPE
    except OSError as error:
        if error.filename is not None:  # a file's, which should have been told by who opened it
            raise
        _drop_output()
        return _fail(f"standard output cannot be written: {error.strerror or error}")
    return status


def _drop_output() -> None:
    """Let nothing that is still to be written fail again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _carry_out(arguments: list[str]) -> int:
    """The exit status of a command line, with what is wrong told; errors of standard output are the caller's."""
    command = typer.main.get_command(app)
    try:
        # Not command.main: it ends the process with 1, a wrong result, when the reader of a pipe has gone.
        with command.make_context("gpucoh", arguments) as context:
            command.invoke(context)
    except typer.Exit as wanted:
        return wanted.exit_code
    except SystemExit as error:
        # rich ends the process, too, with 1.
        if isinstance(error.__context__, BrokenPipeError):
            raise error.__context__ from None
        raise
    except Error as error:
        return _fail(str(error))
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except MemoryError:
        return _fail("out of memory")
    except Exception as error:
        # Usage errors: typer's own exception classes moved between its versions; what they share is format_message.
        told = getattr(error, "format_message", None)
        if told is None:
            raise
        if type(error).__name__ == "NoArgsIsHelpError":
            return BAD_INPUT
        return _fail(f"{told()} (gpucoh --help tells more)")
    return OK


def main() -> NoReturn:
    """The ``gpucoh`` program."""
    try:
        ready()
        status = call()
    except KeyboardInterrupt:
        status = INTERRUPTED
    if status == INTERRUPTED:
        # Who pressed Ctrl-C wants the prompt: taking the interpreter down in order takes longer than ending the run.
        sys.stdout.flush()
        os._exit(status)
    sys.exit(status)

"""The program: its commands, each of a module that is imported when the command is used."""

from __future__ import annotations

import importlib
import sys
from typing import Annotated

import typer

from gpucoh.base.late import LATE_IMPORT
from gpucoh.cli.options import OK, Command, Group
from gpucoh.device.gpu import VERSION

HELP = """A GPU simulator that shows what cache coherence protocols do.

Workloads are real algorithms on real input; every run checks its result, so an incoherent cache gives wrong answers.

[bold]Start here[/]

  gpucoh compare                              run a small matrix in under a minute, draw ./figures

  gpucoh run fg-share -p no-coh               see an incoherent cache give a wrong answer, and where

  gpucoh run bfs -p ideal --param graph=road.mtx

  gpucoh protocols no-coh                     print its states and transition tables

  gpucoh machines fermi                       print every number of the machine and its source
"""

#: Module of gpucoh.cli -> its commands, in the order of the help.
COMMANDS = {
    "commands": "protocols machines workloads",
    "run": "run",
    "compare": "compare",
    "sweeps": "sweep",
    "study": "study",
    "cuda": "cuda",
    "explain": "explain",
    "fuzz": "fuzz",
    "hardware": "hardware",
    "growth": "growth",
    "outside": "new-protocol",
    "litmus": "litmus",
    "papers": "reproduce scorecard",
    "verify": "verify",
}
_MODULE = {name: module for module, names in COMMANDS.items() for name in names.split()}


def application(command: str = "") -> typer.Typer:
    """The program with one command, or with all of them if it has none of this name.

    A command ``a-b`` is the function ``a_b_command`` of its module, and an instance of the module's ``COMMAND``.
    """
    app = typer.Typer(
        name="gpucoh",
        cls=Group,
        no_args_is_help=True,
        add_completion=True,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
        help=HELP,
    )
    app.callback()(_global_options)
    for name in [command] if command in _MODULE else _MODULE:
        with LATE_IMPORT:
            module = importlib.import_module(f"gpucoh.cli.{_MODULE[name]}")
        function = getattr(module, f"{name.replace('-', '_')}_command")
        app.command(name, cls=getattr(module, "COMMAND", Command))(function)
    return app


def __getattr__(name: str) -> typer.Typer:
    """``app``: the program, for tools that list its commands."""
    if name == "app":
        return application()
    raise AttributeError(name)


def _print_version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"gpucoh {VERSION}\n")
        raise typer.Exit(OK)


def _global_options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    pass

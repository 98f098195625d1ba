"""What the commands share: options and their rules, parsers of lists and key-value pairs, output, exit statuses.

An option that takes one value is given at most once, and its value is not empty.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer
from rich.console import Console
from typer.core import TyperCommand, TyperGroup

from gpucoh.base.errors import ConfigError
from gpucoh.base.processes import DEFAULT_LIMIT_GIB, DEFAULT_LIMIT_S
from gpucoh.base.quoting import quoted
from gpucoh.device.choices import split_list
from gpucoh.device.gpu import protocols
from gpucoh.machines import machines
from gpucoh.suite import workloads

OK, WRONG, BAD_INPUT = 0, 1, 2  # exit statuses


def _completed(incomplete: str, names: Iterable[str]) -> list[str]:
    """What a word of a command line may become, of a comma list its last item."""
    before = incomplete[: incomplete.rfind(",") + 1]
    return [before + name for name in names if (before + name).startswith(incomplete)]


def protocol_ids(incomplete: str) -> list[str]:
    """Complete protocol ids."""
    return _completed(incomplete, protocols())


def machine_names(incomplete: str) -> list[str]:
    """Complete machine ids."""
    return _completed(incomplete, machines())


def workload_ids(incomplete: str) -> list[str]:
    """Complete workload ids."""
    return _completed(incomplete, workloads())


def protocol_option(help: str) -> Any:
    """``-p``, one id or a list, as the text says."""
    return typer.Option("-p", "--protocol", autocompletion=protocol_ids, help=help)


def machine_option(help: str) -> Any:
    """``-m``, one machine or a list, as the text says."""
    return typer.Option("-m", "--machine", autocompletion=machine_names, help=help)


MachineOption = Annotated[str, machine_option("Preset id, or a TOML file.")]
RuleOption = Annotated[
    str | None,
    typer.Option(
        "-c",
        "--consistency",
        help="Consistency rule: sc, rc (alias wo), drf or hrf. Default: the paper's for the protocol.",
    ),
]
ProtocolsOption = Annotated[
    list[str] | None,
    protocol_option(
        "Protocol ids, comma separated or repeated. Default: all that support the rule."
    ),
]
ScaleOption = Annotated[str, typer.Option("--scale", help="Input size: tiny, small or paper.")]
SeedOption = Annotated[
    int, typer.Option("--seed", help="Random seed; equal seeds give equal runs.")
]
CheckOption = Annotated[
    bool,
    typer.Option(
        "--check",
        help="Check the protocol's invariants; report data races, divisions by zero and reads of uninitialised "
        "shared memory (slower).",
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Set a machine field, with a unit if wanted (l1_kib=16KiB), budget (core cycles per launch), or "
        "deadlock_after (core cycles without progress that end a launch).",
    ),
]
ParamOption = Annotated[
    list[str] | None,
    typer.Option("--param", metavar="KEY=VALUE", help="Set a parameter of the workload."),
]
JobsOption = Annotated[
    int | None, typer.Option("--jobs", "-j", help="Parallel runs. Default: one per processor.")
]
LimitSOption = Annotated[
    float | None,
    typer.Option(
        "--limit-s",
        metavar="SECONDS",
        help="End a run of a protocol's C file, a workload's Python file or a CUDA program after this time by the "
        f"clock; inf: never. Default: {DEFAULT_LIMIT_S:g}.",
    ),
]
SchedulerOption = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="Run on the workers of the Dask scheduler at this address, for example tcp://10.0.0.1:8786.",
    ),
]
LimitGibOption = Annotated[
    float | None,
    typer.Option(
        "--limit-gib",
        metavar="GIB",
        help="End such a run if its process has more memory; inf: never. "
        f"Default: {DEFAULT_LIMIT_GIB:g}.",
    ),
]
ProcessesOption = Annotated[
    bool,
    typer.Option(
        "--processes",
        help="Give every run a process, not only those of users' files, whose crash ends them alone.",
    ),
]
StoreOption = Annotated[
    Path | None,
    typer.Option(
        "--store",
        help="Parquet file that keeps the runs as they finish; an interrupted command continues with it. Runs of "
        "other code run again.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print only JSON on standard output.")]

_MOST_SEEDS = 1000
_json_output: ContextVar[TextIO | None] = ContextVar("_json_output", default=None)


def print_json(value: Any) -> None:
    """Print a value as JSON on standard output, of a command with ``--json``."""
    out = _json_output.get() or sys.stdout
    out.write(json.dumps(value, indent=2, allow_nan=False) + "\n")


def stdout_console() -> Console:
    """Standard output; wide if it is not a terminal, so that no table is cut."""
    out = Console()
    return out if out.is_terminal or "COLUMNS" in os.environ else Console(width=220)


@dataclass(frozen=True)
class _Converter:
    """Converts the value of a parameter as typer 0.29 does, whose converters import pydantic, for a tenth of a second.
    A text that is to be one needs none, nor does a default.
    """

    parameter: Any

    def coerce(self, value: Any, **given: Any) -> Any:
        """The value as the command takes it."""
        meant = self.parameter.type_descriptor.annotation
        if meant == list[str] and isinstance(value, list | tuple):
            return list(value)
        if value is not None and type(value) is not meant:
            return type(self.parameter).get_runtime_param(self.parameter).coerce(value, **given)
        return (
            ()
            if value is None and (self.parameter.multiple or self.parameter.nargs == -1)
            else value
        )


class _Converting:
    """A command or group with parameters of :class:`_Converter`."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters."""
        found: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for item in found:
            if hasattr(item, "get_runtime_param"):
                vars(item)["get_runtime_param"] = functools.partial(_Converter, item)
        return found


class Group(_Converting, TyperGroup):
    """The program."""


class Command(_Converting, TyperCommand):
    """A command that rejects repeated and empty options, which typer would ignore silently."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse as typer does, after rejecting repeated and empty options."""
        values, _, order = self.make_parser(ctx).parse_args(args=list(args))
        options = [item for item in order if item.param_type_name == "option"]
        _refuse_twice(options)
        for item in options:
            if values.get(item.name) == "":
                raise ConfigError(f"{_shown(item)} is empty; it takes a value")
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; with ``--json``, everything but the JSON goes to standard error."""
        if not ctx.params.get("as_json"):
            return super().invoke(ctx)
        token = _json_output.set(sys.stdout)
        try:
            with contextlib.redirect_stdout(sys.stderr):  # a workload and its kernels may print
                return super().invoke(ctx)
        finally:
            _json_output.reset(token)


def _refuse_twice(options: Sequence[Any]) -> None:
    """Reject a second value of an option that is neither a list nor a flag."""
    seen: list[Any] = []
    for item in options:
        repeatable = item.multiple or (item.is_flag and not item.secondary_opts)
        if item in seen and not repeatable:
            raise ConfigError(f"{_shown(item)} is given twice; it takes one value")
        seen.append(item)


def _shown(option: Any) -> str:
    return str(max(option.opts, key=len))


def pairs(option: str, given: Sequence[str] | None) -> dict[str, str]:
    """Parse ``key=value`` arguments into a dictionary."""
    out: dict[str, str] = {}
    for item in given or ():
        key, equals, value = item.partition("=")
        if not (equals and key.strip() and value):
            raise ConfigError(f"{option} {quoted(item)} is not of the form key=value")
        key = key.strip()
        if key in out:
            raise ConfigError(f"{option} {key} is given twice: {out[key]} and {value}")
        out[key] = value
    return out


def lists(
    given: Sequence[str] | None, default: Sequence[str], everything: Sequence[str]
) -> list[str]:
    """Parse repeated comma-separated lists; ``all`` is everything."""
    if not given:
        return list(default)
    names = [name for item in given for name in split_list(item)]
    out = [one for name in names for one in (everything if name == "all" else [name])]
    if not out:
        raise ConfigError(
            f"{', '.join(repr(item) for item in given)} names nothing (allowed: ids, or all)"
        )
    return out


def one_form(*forms: tuple[str, bool]) -> None:
    """Reject more than one output form."""
    chosen = [option for option, given in forms if given]
    if len(chosen) > 1:
        raise ConfigError(f"{' and '.join(chosen)} contradict each other: give one of them")


def seeds(text: str | None, first: int) -> tuple[int, ...]:
    """Parse ``--seeds``: a number of seeds, counted from the first, or a comma list of them.

    Examples
    --------
    >>> seeds("3", 0), seeds("0,7", 0), seeds(None, 4)
    ((0, 1, 2), (0, 7), (4,))
    """
    if text is None:
        return (first,)
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts or not all(part.isascii() and part.isdigit() for part in parts):
        raise ConfigError(
            f"seeds = {quoted(text)}: a number of seeds (5), or a list of seeds (0,1,2)"
        )
    numbers = tuple(dict.fromkeys(int(part) for part in parts))
    if "," in text:
        if first:
            raise ConfigError(f"--seed {first} and the list --seeds {text} contradict each other")
        return numbers
    if not 1 <= numbers[0] <= _MOST_SEEDS:
        raise ConfigError(f"seeds = {text}: the number of seeds is 1 to {_MOST_SEEDS}")
    return tuple(range(first, first + numbers[0]))


def array_of(given: str) -> dict[str, Any]:
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

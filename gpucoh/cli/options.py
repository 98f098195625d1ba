"""What holds for the options of every command, and readers of lists, pairs and forms of printing.

An option that takes one value gets one, and it is not empty.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import typer
from typer.core import TyperCommand

from gpucoh.errors import ConfigError
from gpucoh.protocols import split_list


class Command(TyperCommand):
    """A command that refuses what its parser would drop, or take for not given, without a word."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As of typer, which by itself keeps the last of an option's values."""
        values, _, order = self.make_parser(ctx).parse_args(args=list(args))
        options = [item for item in order if item.param_type_name == "option"]
        _refuse_twice(options)
        for item in options:
            if values.get(item.name) == "":
                raise ConfigError(f"{_shown(item)} is empty; it takes a value")
        return super().parse_args(ctx, args)


class App(typer.Typer):
    """A program whose commands are all of :class:`Command`."""

    def command(self, name: str | None = None, **settings: Any) -> Callable[..., Any]:
        """As of typer."""
        return super().command(name, cls=Command, **settings)


def _refuse_twice(options: Sequence[Any]) -> None:
    """Refuse a second value; an option of many may come again, and a flag that does says the same."""
    seen: list[Any] = []
    for item in options:
        repeatable = item.multiple or (item.is_flag and not item.secondary_opts)
        if item in seen and not repeatable:
            raise ConfigError(f"{_shown(item)} is given twice; it takes one value")
        seen.append(item)


def _shown(option: Any) -> str:
    return str(max(option.opts, key=len))


def pairs(option: str, given: Sequence[str] | None) -> dict[str, str]:
    """``key=value`` arguments as a dictionary."""
    out: dict[str, str] = {}
    for item in given or ():
        key, equals, value = item.partition("=")
        if not (equals and key.strip() and value):
            raise ConfigError(f"{option} {item!r} is not of the form key=value")
        key = key.strip()
        if key in out:
            raise ConfigError(f"{option} {key} is given twice: {out[key]} and {value}")
        out[key] = value
    return out


def lists(
    given: Sequence[str] | None, default: Sequence[str], everything: Sequence[str]
) -> list[str]:
    """Repeated comma lists, ``all`` among them."""
    if not given:
        return list(default)
    names = [name for item in given for name in split_list(item)]
    out = [one for name in names for one in (everything if name == "all" else [name])]
    if not out:
        raise ConfigError(f"{', '.join(repr(item) for item in given)} names nothing; ids, or all")
    return out


def one_form(*forms: tuple[str, bool]) -> None:
    """Refuse two forms of printing at once: one would be ignored."""
    asked = [option for option, given in forms if given]
    if len(asked) > 1:
        raise ConfigError(f"{' and '.join(asked)} contradict each other; allowed: one of them")

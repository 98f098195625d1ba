"""Pairs of configurations that differ in one thing, and what two configurations differ in."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpucoh.base.errors import ConfigError
from gpucoh.base.files import read_toml
from gpucoh.base.quoting import quoted
from gpucoh.base.wording import unknown

_FIELDS = ("idea", "what", "without", "with", "rule", "differs")


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two configurations of which the second has an idea that the first lacks.

    Attributes
    ----------
    idea : str
        The idea's group: lease, ownership, scopes ..
    what : str
        What the second has and the first lacks.
    without, with_it : str
        Protocols with their options.
    rule : str
        The consistency rule of both; empty: each protocol's own, where the rule is part of the idea.
    differs : tuple of str
        Everything in which their declarations differ, as :func:`differences` lists it.
    """

    idea: str
    what: str
    without: str
    with_it: str
    rule: str
    differs: tuple[str, ...]


def read_pairs(path: Path) -> tuple[Pair, ...]:
    """The pairs of a TOML file.

    Raises
    ------
    ConfigError
        If the file cannot be read, or a pair lacks an entry or has an unknown one.
    """
    found = []
    for item in read_toml(path, "file of pairs").get("pair", []):
        for name in item:
            if name not in _FIELDS:
                raise ConfigError(f"{path}: {unknown('entry', name, _FIELDS)}")
        missing = [name for name in _FIELDS if name not in item and name != "rule"]
        if missing:
            raise ConfigError(f"{path}: the pair {quoted(item)} has no {missing[0]}")
        found.append(
            Pair(
                idea=item["idea"],
                what=item["what"],
                without=item["without"],
                with_it=item["with"],
                rule=item.get("rule", ""),
                differs=tuple(item["differs"]),
            )
        )
    return tuple(found)


def differences(first: Any, second: Any, rules: tuple[str, str]) -> list[str]:
    """In what two choices of a protocol differ, as far as their declarations say it.

    Parameters
    ----------
    first, second : Choice
    rules : (str, str)
        The consistency rule of each.

    Returns
    -------
    list of str
        ``option NAME`` for options of both with other values; ``options`` for other sets of options; ``protocol`` for
        other ids; ``rule``, ``model``, ``time``, ``scopes``, ``networks``, ``controllers``; and ``states of NAME``.
    """
    one, other = first.selected, second.selected
    out = []
    if one.id != other.id:
        out.append("protocol")
    values = first.values(), second.values()
    if values[0].keys() != values[1].keys():
        out.append("options")
    out += [
        f"option {name}"
        for name in values[0]
        if name in values[1] and values[0][name] != values[1][name]
    ]
    facts = {
        "rule": rules,
        "model": (first.model(rules[0]), second.model(rules[1])),
        "time": (one.keeps_time, other.keeps_time),
        "scopes": (one.scopes, other.scopes),
        "networks": (one.virtual_networks, other.virtual_networks),
        "controllers": (sorted(one.controllers), sorted(other.controllers)),
    }
    out += [name for name, (mine, theirs) in facts.items() if mine != theirs]
    for name in sorted(one.controllers.keys() & other.controllers.keys()):
        if set(one.controllers[name].states) != set(other.controllers[name].states):
            out.append(f"states of {name}")
    return out

"""A protocol as users write it: its id with options in brackets, ``tc-weak[lifetime=3200]``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpucoh.base.errors import ConfigError
from gpucoh.base.quoting import quoted
from gpucoh.base.wording import name_of, unknown
from gpucoh.device.outside import Outside
from gpucoh.device.protocols import Protocol, rule_name
from gpucoh.machines import Machine
from gpucoh.machines.presets import PRESETS


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A protocol with the options of its brackets: ``tc-weak[lifetime=3200]``."""

    text: str
    protocol: Protocol
    options: Mapping[str, int]
    consistency: str | None
    outside: Outside | None = None  # the file that it comes from

    def rule(self, consistency: str | None) -> str:
        """The consistency rule to run under: the given one, else that of the brackets, else the paper's.

        Raises
        ------
        ConfigError
            If the two contradict each other, or the protocol does not support the rule.
        """
        given = None if consistency is None else rule_name(consistency)
        if given and self.consistency and given != self.consistency:
            raise ConfigError(
                f"protocol {quoted(self.text)}: consistency {self.consistency} in the brackets contradicts "
                f"consistency {given}"
            )
        rule = given or self.consistency or self.protocol.default_rule
        self.protocol.model(rule)
        return rule

    @property
    def selected(self) -> Protocol:
        """The protocol with the tables that the options select."""
        return self.protocol.with_options(self.options)

    def values(self) -> dict[str, int | bool | str]:
        """Every option with its value: a number, a word, or true and false.

        Examples
        --------
        >>> from gpucoh.device.gpu import resolve
        >>> resolve("rcc-wo[lease=20]").values()["lease"], resolve("rcc-wo").values()["renew"]
        (20, True)
        """
        return {
            name: option.value(self.options.get(name, option.default))
            for name, option in self.protocol.options.items()
        }

    def model(self, rule: str, *, between_gpus: bool = False) -> str:
        """The memory model promised under a consistency rule: ``none`` with an option that is for analysis only.

        ``between_gpus``: to threads on several GPUs of a machine, which some protocols promise less.

        Raises
        ------
        ConfigError
            If the protocol does not support the rule.
        """
        model = self.protocol.model(rule)
        if between_gpus and self.protocol.gpus_model:
            model = self.protocol.gpus_model
        known = self.protocol.options
        analysed = any(
            known[name].analysis and value != known[name].default
            for name, value in self.options.items()
        )
        return "none" if analysed else model


def split_list(text: str) -> list[str]:
    """Split a comma list of ids; commas inside brackets do not split.

    Raises
    ------
    ConfigError
        If brackets do not match.

    Examples
    --------
    >>> split_list("tc-weak[a=1,b=2],mesi")
    ['tc-weak[a=1,b=2]', 'mesi']
    """
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        depth += {"[": 1, "]": -1}.get(letter, 0)
        if depth not in (0, 1):
            raise ConfigError(f"brackets do not match in {quoted(text)}")
        if letter == "," and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    if depth:
        raise ConfigError(f"brackets do not match in {quoted(text)}")
    return [part.strip() for part in [*parts, text[start:]] if part.strip()]


def split_options(text: str) -> tuple[str, dict[str, str]]:
    """Split ``id[name=value,name=value]`` into the id and its options.

    Raises
    ------
    ConfigError
        If the text does not have that form.

    Examples
    --------
    >>> split_options("gpu-vini[dir_ways=32,dir_ratio=16]")
    ('gpu-vini', {'dir_ways': '32', 'dir_ratio': '16'})
    """
    name, bracket, rest = text.strip().partition("[")
    if not bracket:
        return name, {}
    if not rest.endswith("]") or "[" in rest or "]" in rest[:-1]:
        raise ConfigError(f"protocol {quoted(text)} is not of the form id[name=value,name=value]")
    options: dict[str, str] = {}
    for part in filter(None, (item.strip() for item in rest[:-1].split(","))):
        key, equals, value = (item.strip() for item in part.partition("="))
        if not (equals and key and value):
            raise ConfigError(
                f"protocol {quoted(text)}: option {quoted(part)} is not of the form name=value"
            )
        if key in options:
            raise ConfigError(f"protocol {quoted(text)}: option {quoted(key)} is given twice")
        options[key] = value
    return name.strip(), options


def choose(text: str, known: Mapping[str, Protocol]) -> Choice:
    """Find a protocol and parse its options.

    Raises
    ------
    ConfigError
        For an unknown protocol or option (the message suggests the nearest), or a bad value.
    """
    name, given = split_options(name_of("protocol", text))
    if name in PRESETS:
        raise ConfigError(
            f"{quoted(name)} is a machine, not a protocol: give machine={quoted(name)}, and protocol= one of "
            f"{', '.join(known)}"
        )
    if name not in known:
        raise ConfigError(unknown("protocol", name, known))
    protocol = known[name]
    consistency = given.pop("consistency", None)
    options: dict[str, int] = {}
    for key, value in given.items():
        if key not in protocol.options:
            options_known = ["consistency", *protocol.options]
            raise ConfigError(f"protocol {quoted(name)}: {unknown('option', key, options_known)}")
        options[key] = protocol.options[key].parse(name, value)
    rule = rule_name(consistency) if consistency else None
    if rule:
        protocol.model(rule)
    return Choice(text=text.strip(), protocol=protocol, options=options, consistency=rule)


def changed(base: Machine, changes: Mapping[str, Any]) -> Machine:
    """A machine with the fields that ``set`` changes.

    Raises
    ------
    ConfigError
        For an unknown field, a bad value, or the name.
    """
    if "name" in changes:
        raise ConfigError("set cannot change a machine's name")
    return base.replace(**changes) if changes else base

"""How a paper is read where it leaves something open, from the package's ``readings_<paper>.toml``.

Each reading has a rank, which says where its choice comes from; docs/readings.md has the rule. A variant, option, field
or parameter that a paper's files set and no reading names is refused.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any, Literal, NamedTuple, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from gpucoh.base.errors import ConfigError
from gpucoh.base.quoting import quoted
from gpucoh.device.choices import split_options
from gpucoh.papers.claims import Claim, Paper, load
from gpucoh.papers.study import Study, study

Rank = Literal["text", "code", "original", "silence", "outcome"]
RANKS: tuple[Rank, ...] = get_args(Rank)
Value = bool | int | str
Values = tuple[Value, ...]  # the one in use, then the other readings
ALL = "all"
OTHERS = "..."  # stands for the other values of a range


class Reading(BaseModel):
    """One choice that a paper leaves open.

    Attributes
    ----------
    id, what : str
        Identifier; what is chosen, and the other readings.
    rank, source : str
        Where the choice comes from, and the place: section, file, or the rule.
    touches : tuple of str
        Protocols, workloads or claims, or ``all``.
    options, machine : dict
        Options of the protocols, or fields of the machine -> values, that in use first.
    parameters : dict
        Workload, or ``all`` -> parameter -> values.
    departs : str
        How the value in use departs from the rule, whose value is the first of the others if there are any; empty if
        it does not.
    swept : bool
        Whether the other values are configurations that the paper itself compares, not readings.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    id: str = Field(min_length=1)
    what: str = Field(min_length=1)
    rank: Rank
    source: str = Field(min_length=1)
    touches: tuple[str, ...] = Field(min_length=1)
    options: Mapping[str, Values] = {}
    machine: Mapping[str, Values] = {}
    parameters: Mapping[str, Mapping[str, Values]] = {}
    departs: str = ""
    swept: bool = False

    @model_validator(mode="after")
    def _in_step(self) -> Reading:
        if not self.swept and len({len(values) for _, values in self._named()} - {1}) > 1:
            raise ValueError(
                "names with other values have equally many: the n-th of all are one reading"
            )
        return self

    def _named(self) -> list[tuple[str, Values]]:
        """Names of options, fields and parameters, and their values."""
        given = (self.options, self.machine, *self.parameters.values())
        return [item for values in given for item in values.items()]

    def places(self) -> range:
        """The places of the other readings in the lists of values."""
        most = max((len(values) for _, values in self._named()), default=1)
        return range(1, 1 if self.swept else most)

    def text(self, place: int) -> str:
        """One of the other readings as tables print it."""
        changed = [(name, values) for name, values in self._named() if len(values) > 1]
        return ", ".join(dict.fromkeys(f"{name}={values[place]}" for name, values in changed))

    def names(self, setting: Setting) -> bool:
        """Whether the reading names a setting, and its value."""
        if setting.kind == "machine":
            values = self.machine.get(setting.name, ())
        elif setting.kind == "option":
            touched = {ALL, setting.owner} & set(self.touches)
            values = self.options.get(setting.name, ()) if touched else ()
        else:
            values = self.parameters.get(setting.owner, {}).get(setting.name, ())
        return {str(setting.value), OTHERS} & set(map(str, values)) != set()


class Setting(NamedTuple):
    """An option of a protocol, field of the machine or parameter of a workload that a paper's files set, and where."""

    where: str
    kind: Literal["option", "machine", "parameter"]
    owner: str
    name: str
    value: object

    def __str__(self) -> str:
        owner = f"{self.owner}." if self.owner else ""
        return f"{self.where} sets {self.kind} {owner}{self.name} = {self.value}"


def _bracketed(where: str, protocols: Mapping[str, None]) -> Iterator[Setting]:
    for protocol in filter(None, protocols):
        owner, given = split_options(protocol.partition("!")[0])
        yield from (Setting(where, "option", owner, name, value) for name, value in given.items())


def _machine(where: str, fields: Mapping[str, object]) -> Iterator[Setting]:
    yield from (Setting(where, "machine", "", name, value) for name, value in fields.items())


def _nested(
    where: str, kind: Literal["option", "parameter"], given: Mapping[str, Mapping[str, object]]
) -> Iterator[Setting]:
    for owner, values in given.items():
        yield from (Setting(where, kind, owner, name, value) for name, value in values.items())


def settings(paper: Paper, of: Study) -> Iterator[Setting]:
    """What a paper's claims and study set: options, fields of the machine, parameters."""
    for claim in paper.claims:
        where = f"claim {quoted(claim.id)}"
        yield from _bracketed(where, dict.fromkeys((claim.subject, claim.baseline)))
        yield from _machine(where, claim.machine)
    for bars in paper.bars:
        yield from _bracketed("[[bars]]", {bars.baseline: None})
    yield from _nested("[options]", "option", paper.options)
    yield from _nested("[parameters]", "parameter", paper.parameters)
    yield from (Setting("seeded", "parameter", ALL, name, "") for name in paper.seeded)
    yield from (
        Setting("[sizes]", "parameter", owner, name, "") for owner, name in paper.sizes.items()
    )
    for name, scales in paper.inputs.items():
        for given in scales.values():
            yield from _nested(f"[inputs.{name}]", "parameter", given)
    for variant in of.variants:
        where = f"variant {quoted(variant.title)}"
        yield from _nested(where, "option", variant.options)
        yield from _machine(where, variant.machine)
        yield from _nested(where, "parameter", variant.parameters)
    for table in of.bars:
        where = f"[[bars]] of {' '.join(table.groups)}"
        yield from _bracketed(where, dict.fromkeys((*table.protocols, table.baseline)))
        yield from _machine(where, table.machine)
    if of.sizes:
        yield from _bracketed("[sizes]", dict.fromkeys(of.sizes.protocols))
        for item in of.sizes.inputs:
            yield from _nested("[[sizes.input]]", "parameter", {item.workload: item.parameters})


@functools.cache
def readings(paper: str) -> tuple[Reading, ...]:
    """A paper's readings.

    Raises
    ------
    ConfigError
        If the paper is unknown, a reading lacks a rank or source, or a setting lacks a reading.
    """
    known = load(paper)
    text = files("gpucoh.papers").joinpath(f"readings_{paper}.toml").read_text(encoding="utf-8")
    return read(text, known, study(paper))


def read(text: str, paper: Paper, of: Study) -> tuple[Reading, ...]:
    """The readings that a file's text describes, which name all that the paper's claims and study set."""
    file = f"readings_{paper.id}.toml"
    found = tuple(_reading(file, item) for item in tomllib.loads(text).get("reading", ()))
    by_id = {reading.id: reading for reading in found}
    if len(by_id) < len(found):
        raise ConfigError(f"{file}: two readings have one id")
    for setting in settings(paper, of):
        if not any(reading.names(setting) for reading in found):
            raise ConfigError(f"{file}: {setting}, which no reading names")
    claims = {claim.id: claim for claim in paper.claims}
    for claim in paper.claims:
        _check_links(file, claim, claims, by_id)
    return found


def _reading(file: str, item: Mapping[str, Any]) -> Reading:
    try:
        return Reading.model_validate(item)
    except ValidationError as error:
        first = error.errors()[0]
        place = "".join(f"{part}: " for part in first["loc"])
        why = first["msg"].removeprefix("Value error, ")
        raise ConfigError(f"{file}: reading {quoted(item.get('id'))}: {place}{why}") from None


def _check_links(
    file: str, claim: Claim, claims: Mapping[str, Claim], found: Mapping[str, Reading]
) -> None:
    """Refuse a claim that shares the number of none, or that chose a reading of another rank than outcome."""
    if claim.shares and claim.shares not in claims:
        raise ConfigError(
            f"claim {quoted(claim.id)} shares the number of {quoted(claim.shares)}, which is no claim"
        )
    if claim.by_outcome and (
        claim.by_outcome not in found or found[claim.by_outcome].rank != "outcome"
    ):
        raise ConfigError(
            f"{file}: claim {quoted(claim.id)} chose {quoted(claim.by_outcome)}, which is no reading of rank outcome"
        )

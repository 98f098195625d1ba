"""Claims of papers about protocols of dies, measured in the store of studies/dies.toml, with ranges over readings.

`studies/dies/PAPER.toml` has claims and readings in the form of `gpucoh/papers`, and which matrix of the study measures
them. A reading's other values are the matrices that are `like` that one and differ from it in the reading alone.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from dies_amounts import with_invalidations
from pages import ROOT

from gpucoh.device.choices import split_options
from gpucoh.papers import claims
from gpucoh.papers.agreement import agreement
from gpucoh.papers.claims import Claim, Paper
from gpucoh.papers.readings import Reading
from gpucoh.papers.verdicts import words
from gpucoh.studies.intervals import interval_of
from gpucoh.studies.matrices import Description
from gpucoh.studies.means import Mean, mean_ratio
from gpucoh.studies.tabulation import Tables, with_joules

FOLDER = ROOT / "studies/dies"
IN_USE = "as in use"
# Beside the protocols: mcm on a machine whose L2s keep no line of another die.
NO_NEAR = "mcm, l2_near=0"
# Measures -> amounts of a row, where the paper's file does not say another.
AMOUNTS = {"speedup": "cycles", "energy": "joules", "traffic": "flits"}


@dataclass(frozen=True)
class Matrices:
    """The study's matrices by name, each whole, and which one each is like."""

    given: Mapping[str, Mapping[str, Any]]

    def base(self, name: str) -> str:
        """The matrix that one is like; itself if it is like none."""
        return str(self.given[name].get("like", name))

    def fields(self, name: str) -> dict[str, Any]:
        """Fields of the machine that a matrix sets, and parameters of workloads as ``WORKLOAD.PARAMETER``."""
        workloads = self.given[name].get("workload", {})
        return dict(self.given[name].get("set", {})) | flat(workloads)

    def differing(self, name: str) -> str:
        """What a matrix sets otherwise than the one that it is like: ``l2_kib=384``; empty if nothing."""
        base = self.fields(self.base(name))
        changed = {
            field: value for field, value in self.fields(name).items() if base.get(field) != value
        }
        return ", ".join(f"{field}={value}" for field, value in changed.items())

    def alike(self, name: str) -> list[str]:
        """The matrices of the same base that run on the same machine: they differ in protocols and seeds."""
        return [
            other
            for other in self.given
            if self.base(other) == self.base(name) and self.fields(other) == self.fields(name)
        ]

    def common_seeds(self, names: Sequence[str]) -> set[int]:
        """The seeds that all of some matrices have: a range over readings is of the same seeds."""
        return set.intersection(*(set(self.given[name]["seeds"]) for name in names))

    def without_near(self, name: str) -> str | None:
        """The matrix that differs from one in that L2s keep no line of another die."""
        return self.of_fields(self.base(name), self.fields(name) | {"l2_near": 0})

    def of_fields(self, base: str, fields: Mapping[str, Any]) -> str | None:
        """The matrix like another that differs in these fields of the machine alone."""
        wanted = self.fields(base) | dict(fields)
        return next((n for n in self._others(base) if self.fields(n) == wanted), None)

    def of_options(self, base: str, options: Mapping[str, Any]) -> str | None:
        """The matrix like another in which some protocol has these options."""
        wanted = {name: str(value) for name, value in options.items()}.items()
        for name in self._others(base):
            given = (split_options(text)[1].items() for text in self.given[name]["protocols"])
            if self.fields(name) == self.fields(base) and any(wanted <= one for one in given):
                return name
        return None

    def varies(self, name: str, protocol: str, options: Iterable[str]) -> bool:
        """Whether a matrix runs a protocol as named but for other options, which it gives values."""
        own = split_options(protocol)[1]
        given = (text for text in self.given[name]["protocols"] if is_variant(text, protocol))
        return any(set(options) == split_options(text)[1].keys() - own for text in given)

    def _others(self, base: str) -> list[str]:
        return [name for name in self.given if name != base and self.base(name) == base]


def is_variant(text: str, protocol: str) -> bool:
    """Whether a protocol is another one with one option more: that of a reading."""
    (one, more), (other, options) = split_options(text), split_options(protocol)
    return one == other and len(more) == len(options) + 1 and options.items() <= more.items()


def flat(given: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Workload -> parameter -> value, as ``WORKLOAD.PARAMETER`` -> value."""
    return {f"{owner}.{name}": value for owner, one in given.items() for name, value in one.items()}


class Measured:
    """The good runs of a store, by matrix and configuration."""

    def __init__(self, tables: Tables, described: Description) -> None:
        rows = tables.rows[tables.rows["good"]]
        self.rows = with_invalidations(with_joules(rows, tables.settings.energy))
        self.matrices = Matrices({str(one["name"]): one for one in described.matrices})

    def of(self, matrix: str, protocol: str) -> pd.DataFrame:
        """The runs of a protocol in a matrix: as named, else with an option that the matrix gives it.

        What a matrix lacks is taken from those alike, so that one that varies options of a protocol runs that alone.
        """
        rows = self.rows
        if protocol == NO_NEAR:
            matrix, protocol = self.matrices.without_near(matrix) or "", "mcm"
            if not matrix:
                return rows.iloc[:0]
        named, here = rows["protocol"].eq(protocol), rows["matrix"].eq(matrix)
        variants = [one for one in rows["protocol"][here].unique() if is_variant(one, protocol)]
        for wanted in (
            named & here,
            rows["protocol"].isin(variants) & here,
            named & rows["matrix"].isin(self.matrices.alike(matrix)),
        ):
            if wanted.any():
                break
        return rows[wanted].drop_duplicates(["workload", "seed"])

    def ratio(
        self,
        matrix: str,
        subject: str,
        baseline: str,
        amount: str,
        workloads: Sequence[str],
        seeds: Collection[int] | None = None,
        *,
        against: str = "",
        than: str = "",
    ) -> Mean:
        """The mean of an amount over that of a baseline, of ``cycles`` the speedup; with all seeds or some.

        ``against``: the baseline is of another matrix; ``than``: the ratio is over the same ratio in another matrix.
        """
        above = self._amounts(matrix, subject, amount, seeds)
        below = self._amounts(against or matrix, baseline, amount)
        if than:
            one, other = (self._amounts(than, name, amount) for name in (subject, baseline))
            above, below = _over(above, below, amount), _over(one, other, amount)
        return mean_ratio(above, below, amount, workloads)

    def most(
        self,
        matrix: str,
        subject: str,
        amount: str,
        workloads: Sequence[str],
        seeds: Collection[int] | None = None,
    ) -> Mean:
        """The amount that more than half of the workloads do not exceed, of means over seeds; of one its own."""
        rows = self._amounts(matrix, subject, amount, seeds)
        means = rows.groupby("workload")[amount].mean().dropna()
        by = {name: float(means[name]) for name in workloads if name in means}
        values, low, high = list(by.values()), np.nan, np.nan
        if len(values) > 1:
            drawn_middle = lambda drawn: _middle([values[one] for one in drawn])  # noqa: E731
            low, high = interval_of(len(values), drawn_middle)
        missing = tuple(name for name in workloads if name not in by)
        value = _middle(values) if values else np.nan
        return Mean(value=value, low=low, high=high, by_workload=by, missing=missing)

    def _amounts(
        self, matrix: str, protocol: str, amount: str, seeds: Collection[int] | None = None
    ) -> pd.DataFrame:
        """An amount of each run, in place of cycles what is done in one; no run of a store that lacks the amount."""
        rows = self.of(matrix, protocol)
        if amount not in rows:
            rows = rows.iloc[:0].assign(**{amount: 0.0})
        if seeds is not None:
            rows = rows[rows["seed"].isin(seeds)]
        found = rows[["workload", "seed", amount]].astype({amount: float})
        return found.assign(cycles=1 / found["cycles"]) if amount == "cycles" else found


def _over(above: pd.DataFrame, below: pd.DataFrame, amount: str) -> pd.DataFrame:
    """The ratio of two amounts, for each workload and seed that both have."""
    both = above.merge(below, on=["workload", "seed"], suffixes=("", "_below"))
    return both.assign(**{amount: both[amount] / both[f"{amount}_below"]})[list(above)]


def _middle(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2]


@dataclass(frozen=True, kw_only=True)
class Source:
    """A paper's claims and readings, and the matrix that measures each claim.

    ``others`` has claims of other matrices than the paper's, ``against`` those whose baseline is of another one, and
    ``than`` those whose ratio is compared with the same ratio in another one.
    """

    paper: Paper
    readings: tuple[Reading, ...]
    matrix: str
    others: Mapping[str, str]
    against: Mapping[str, str]
    than: Mapping[str, str]

    def matrix_of(self, claim: Claim) -> str:
        """The matrix that measures a claim."""
        return self.others.get(claim.id, self.matrix)

    def amount(self, claim: Claim) -> str:
        """The amount of a row that a claim compares."""
        return str(self.paper.amounts.get(claim.measure) or AMOUNTS[claim.measure])


def load(name: str) -> Source:
    """The claims and readings of `studies/dies/NAME.toml`."""
    text = (FOLDER / f"{name}.toml").read_text(encoding="utf-8")
    data = tomllib.loads(text)

    def given(field: str) -> dict[str, str]:
        return {item["id"]: item[field] for item in data["claim"] if field in item}

    return Source(
        paper=claims.read(text),
        readings=tuple(Reading(**item) for item in data.get("reading", ())),
        matrix=data["matrix"],
        others=given("matrix"),
        against=given("against"),
        than=given("than"),
    )


@dataclass(frozen=True)
class Universe:
    """The matrix of a second reading, and its value as tables print it."""

    reading: Reading
    text: str
    matrix: str


def universes(source: Source, base: str, matrices: Matrices) -> Iterator[Universe]:
    """The second readings of a matrix that run."""
    for reading in source.readings:
        for place in reading.places():
            fields, options = (
                {name: values[place] for name, values in given.items() if len(values) > place}
                for given in ({**reading.machine, **flat(reading.parameters)}, reading.options)
            )
            found = (
                matrices.of_options(base, options) if options else matrices.of_fields(base, fields)
            )
            if found is not None:
                yield Universe(reading, reading.text(place), found)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """A claim with its value, and its values under second readings by their text, that in use first, of equal seeds."""

    claim: Claim
    mean: Mean
    under: Mapping[str, float]

    @property
    def ends(self) -> tuple[str, str]:
        """The readings with the smallest and the largest value."""
        return min(self.under, key=self.under.__getitem__), max(
            self.under, key=self.under.__getitem__
        )


def touches(reading: Reading, claim: Claim, matrices: Matrices, matrix: str) -> bool:
    """Whether a reading, which a matrix runs, changes a claim's protocols, workloads or machine.

    A claim that names an option is about it: only runs with that option and the reading's are of both.
    """
    both = (claim.subject, claim.baseline)
    with_options = [text for text in both if "[" in text]
    if reading.options and with_options:
        return all(matrices.varies(matrix, text, reading.options) for text in with_options)
    named = {split_options(text)[0] for text in both}
    return bool({"all", *named, *claim.workloads} & set(reading.touches))


def verdict(measured: Measured, source: Source, claim: Claim) -> Verdict | None:
    """A claim's value and range; None if the store has no run of it."""

    def mean(matrix: str, seeds: Collection[int] | None = None) -> Mean:
        amount, workloads = source.amount(claim), claim.workloads
        if not claim.baseline:
            return measured.most(matrix, claim.subject, amount, workloads, seeds)
        two = {"against": against, "than": than}
        return measured.ratio(
            matrix, claim.subject, claim.baseline, amount, workloads, seeds, **two
        )

    matrix = source.matrix_of(claim)
    against, than = (named.get(claim.id, "") for named in (source.against, source.than))
    own = mean(matrix)
    if not own.by_workload:
        return None
    # A claim of two machines has no other reading: that would need runs of both.
    others = [
        one
        for one in universes(source, matrix, measured.matrices)
        if touches(one.reading, claim, measured.matrices, one.matrix) and not (against or than)
    ]
    seeds = measured.matrices.common_seeds([matrix, *(one.matrix for one in others)])
    means = {IN_USE: mean(matrix, seeds)} | {one.text: mean(one.matrix, seeds) for one in others}
    several = max(len(one.by_workload) for one in means.values())

    def fewer(one: Mean) -> str:
        number = len(one.by_workload)
        return f", {number} of {several}" if number < several else ""

    under = {f"{name}{fewer(one)}": one.value for name, one in means.items() if one.by_workload}
    return Verdict(claim=claim, mean=own, under=under)


def cells(
    source: Source, claim: Claim, found: Verdict | None, matrices: Matrices
) -> tuple[str, ...]:
    """A claim's row: id, what is compared, the paper's value, ours, over workloads, over readings, agreement."""
    head = (claim.id, compared(source, claim, matrices), said(claim))
    if found is None:
        return (*head, *["-"] * 4)
    agrees = {name: words(agreement(claim, value)) for name, value in found.under.items()}
    here = words(agreement(claim, found.mean.value))
    low, high = found.ends
    several = len(found.under) > 1
    lacks = (
        f" [{len(found.mean.by_workload)} of {len(claim.workloads)}]" if found.mean.missing else ""
    )
    return (
        *head,
        f"{found.mean.value:.2f}{lacks}",
        interval_text(found.mean),
        f"{found.under[low]:.2f} ({low}) to {found.under[high]:.2f} ({high})" if several else "-",
        " / ".join((agrees[low], here, agrees[high])) if several else here,
    )


def compared(source: Source, claim: Claim, matrices: Matrices) -> str:
    """What a claim compares, with the fields of the machine that it changes: ``speedup: `hmg` / `mcm`, all``."""

    def at(matrix: str) -> str:
        fields = matrices.differing(matrix) if matrix in matrices.given else ""
        return f" at `{fields}`" if fields else ""

    here = at(source.matrix_of(claim))
    against, than = (at(named.get(claim.id, "")) for named in (source.against, source.than))
    workloads = claim.group or ", ".join(f"`{one}`" for one in claim.workloads)
    parts = [f"`{claim.subject}`"]
    if claim.baseline:
        parts += [f"{here if against else ''} / `{claim.baseline}`{against}"]
    parts += [", most of " if claim.mean == "most" else ", ", workloads, "" if against else here]
    parts += [f", over that{than or ' as in use'}"] if claim.id in source.than else []
    return f"{words(claim.measure)}: {''.join(parts)}"


def said(claim: Claim) -> str:
    """What a paper says, where, and what it is read as."""
    number = "" if claim.value is None else f"{claim.value:g}"
    value = f"{words(claim.direction or '')} {number}".strip()
    return f"{value}: {claim.where}" + (f" ({claim.note})" if claim.note else "")


def interval_text(mean: Mean) -> str:
    """The interval over workloads, or a dash."""
    return f"{mean.low:.2f} to {mean.high:.2f}" if mean.low == mean.low else "-"

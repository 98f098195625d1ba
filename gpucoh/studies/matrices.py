"""What a study runs: the matrices of a TOML file as runs with their place in it, and the gaps that cannot run."""

from __future__ import annotations

import functools
import hashlib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from gpucoh.base.errors import ConfigError
from gpucoh.base.files import path_of, read_toml
from gpucoh.base.processes import limit_of
from gpucoh.base.quoting import quoted
from gpucoh.base.wording import natural, unknown
from gpucoh.device.choices import split_options
from gpucoh.device.gpu import protocols, resolve
from gpucoh.device.protocols import rule_name
from gpucoh.machines import Machine, machine
from gpucoh.results.energy import MODELS  # noqa: TID253
from gpucoh.runs.keys import keys_of
from gpucoh.runs.rows import columns_of
from gpucoh.runs.runner import Run
from gpucoh.studies.entries import (
    check_flag,
    check_known,
    check_parameters,
    is_name,
    left_out,
    list_of,
    table_of,
    whole,
)
from gpucoh.studies.pairs import Pair, read_pairs
from gpucoh.studies.tuning import Tuning, read_tunings
from gpucoh.suite import workloads

# Instead of a rule or a machine: the protocol's own, and its paper's.
OWN = "own"
PAPER = "paper"
ALL = "all"
# The matrix of the runs that measure how cores share data.
SHARING = "sharing"

_MATRIX = (
    *("name", "protocols", "workloads", "without", "machines", "seeds", "cores", "consistencies"),
    *("scale", "set", "params", "workload", "pairs", "tuning", "grow", "like"),
)
_STUDY = (
    *("title", "baseline", "bounds", "energy", "paper_machines", "pairs", "sharing", "workload"),
    *("matrix", "tuning", "limit_s", "limit_gib"),
)


@dataclass(frozen=True, kw_only=True)
class SharingRun(Run):
    """A run that also measures how its cores share data (:mod:`gpucoh.results.sharing`)."""


@dataclass(frozen=True)
class Gap:
    """A cell of a matrix that cannot run, and why: a protocol without the rule, a machine that does not fit it."""

    columns: Mapping[str, Any]
    reason: str


@dataclass
class Plan:
    """The runs of a study.

    Attributes
    ----------
    runs : dict
        Key -> run.
    places : dict
        Key -> the matrices that the run belongs to, as ``MATRIX`` or, under a forced rule, ``MATRIX/RULE``.
    gaps : list of Gap
    """

    runs: dict[str, Run] = field(default_factory=dict)
    places: dict[str, list[str]] = field(default_factory=dict)
    gaps: list[Gap] = field(default_factory=list)

    def add(self, key: str, run: Run, place: str) -> None:
        """Add a run at its place in a matrix; a run of two matrices runs once."""
        self.runs.setdefault(key, run)
        places = self.places.setdefault(key, [])
        if place not in places:
            places.append(place)

    @cached_property
    def columns(self) -> dict[str, dict[str, Any]]:
        """Key -> the columns that place a row in the study, and those of what its runs vary."""
        varied = columns_of(self.runs)
        return {
            key: {**varied[key], "matrix": ",".join(self.places[key]), **_columns(run)}
            for key, run in self.runs.items()
        }


@dataclass(frozen=True)
class Settings:
    """What the tables of a study need beside its rows.

    Attributes
    ----------
    title : str
    baseline : str
        The protocol to which speedups, traffic and energy are relative.
    bounds : tuple of str
        Protocols that show a bound (no coherence, no cost): they win nothing.
    energy : str
        The coefficients of the energy: a name of :data:`gpucoh.results.energy.MODELS`.
    pairs : tuple of Pair
        Configurations that differ in one thing.
    tunings : tuple of Tuning
        Protocols with values of their parameters to choose from.
    """

    title: str = "Study"
    baseline: str = "no-l1"
    bounds: tuple[str, ...] = ()
    energy: str = "2013"
    pairs: tuple[Pair, ...] = ()
    tunings: tuple[Tuning, ...] = ()


class Description:
    """A study's TOML file, or the same as a dictionary.

    Parameters
    ----------
    given : str, Path or mapping
        The file; protocols' C files and the file of pairs are relative to its folder.
    energy : str, optional
        Coefficients of the energy instead of the file's.
    limit_s, limit_gib : float, optional
        Limits of runs of users' code instead of the file's.

    Raises
    ------
    ConfigError
        For an unknown entry or name, or a bad value.
    """

    def __init__(
        self,
        given: str | Path | Mapping[str, Any],
        energy: str | None = None,
        *,
        limit_s: float | None = None,
        limit_gib: float | None = None,
    ) -> None:
        if isinstance(given, Mapping):
            self.folder, data = Path(), dict(given)
        else:
            path = path_of("study file", given)
            self.folder, data = path.parent, read_toml(path, "study file")
        check_known("study", data, _STUDY)
        self.matrices = data.get("matrix", [])
        if not isinstance(self.matrices, list) or not self.matrices:
            raise ConfigError("a study needs a matrix: [[matrix]] with name, protocols, workloads")
        for matrix in self.matrices:
            if not isinstance(matrix, Mapping):
                raise ConfigError(f"matrix = {quoted(matrix)} is not a table: [[matrix]]")
        self.matrices = [whole(matrix, self.matrices) for matrix in self.matrices]
        limits = {"limit_s": limit_s, "limit_gib": limit_gib}
        self.limits: dict[str, Any] = {
            name: limit_of(name, data.get(name) if value is None else value)
            for name, value in limits.items()
        }
        self.sharing = table_of("sharing", data)
        check_known("sharing", self.sharing, ("measure", "machine"))
        check_flag("sharing", self.sharing, "measure")
        self.paper_machines: Mapping[str, str] = table_of("paper_machines", data)
        self.parameters = table_of("workload", data)
        pairs = self.folder / data["pairs"] if "pairs" in data else None
        energy = str(data.get("energy", "2013")) if energy is None else energy
        if energy not in MODELS:
            raise ConfigError(unknown("value of energy", energy, MODELS))
        self.settings = Settings(
            title=str(data.get("title", "Study")),
            baseline=str(data.get("baseline", "no-l1")),
            bounds=tuple(list_of("bounds", data.get("bounds", []))),
            energy=energy,
            pairs=() if pairs is None else read_pairs(pairs),
            tunings=read_tunings(data.get("tuning", [])),
        )
        for name in (self.settings.baseline, *self.settings.bounds):
            resolve(name)
        listed = {one for matrix in self.matrices for one in self._workloads(matrix)}
        check_parameters("study", self.parameters, listed)

    def plan(self, only: Sequence[str] = ()) -> Plan:
        """The runs of all matrices, or of some.

        Raises
        ------
        ConfigError
            For an unknown name or a bad value. What a protocol cannot do is a gap.
        """
        names = [matrix.get("name", "") for matrix in self.matrices]
        if not all(isinstance(name, str) for name in names):
            raise ConfigError(f"matrices are named {quoted(names)}: a name is text in quotes")
        for name in only:
            if name not in names:
                raise ConfigError(unknown("matrix", name, names))
        if len(set(names)) < len(names) or not all(
            name != SHARING and is_name(name) for name in names
        ):
            raise ConfigError(
                f"matrices are named {quoted(names)}: each needs a name of its own, of letters, digits, - and _"
            )
        found = Plan()
        for name, matrix in zip(names, self.matrices, strict=True):
            if not only or name in only:
                check_known(f"matrix {name}", matrix, _MATRIX)
                for flag in ("pairs", "tuning"):
                    check_flag(f"matrix {name}", matrix, flag)
                self._add(found, name, matrix)
        return found

    def _add(self, found: Plan, name: str, matrix: Mapping[str, Any]) -> None:
        listed: list[tuple[str, Run]] = []
        seeds = list_of("seeds", matrix.get("seeds", [0]))
        every = list(self._runs(name, matrix))
        if not every:
            raise ConfigError(
                f"matrix {name} lists no run: workloads (less without), machines, consistencies and seeds each "
                "need a value"
            )
        for place, run in every:
            reason = _why_not(run)
            if reason is None:
                listed.append((place, run))
            else:
                hole = _columns(run) | {"matrix": place}
                found.gaps += [Gap(hole, reason)] if run.seed == seeds[0] else []
        for key, (place, run) in zip(keys_of([run for _, run in listed]), listed, strict=True):
            found.add(key, run, place)
        if self.sharing.get("measure", True):
            self._add_sharing(found, listed)

    def _add_sharing(self, found: Plan, listed: Sequence[tuple[str, Run]]) -> None:
        """One measurement of each workload, scale and set of parameters, under a protocol without copies."""
        seen: dict[str, Run] = {}
        for _, run in listed:
            measured = SharingRun(
                workload=run.workload,
                protocol="no-l1",
                machine=self.sharing.get("machine", "fermi"),
                scale=run.scale,
                params=run.params,
                **self.limits,
            )
            seen.setdefault(f"{run.found.id} {run.scale} {run.params}", measured)
        for key, run in zip(keys_of(list(seen.values())), seen.values(), strict=True):
            part, _, code = key.partition("-")
            salted = hashlib.sha256(f"{SHARING}{part}".encode()).hexdigest()[:24]
            found.add(f"{salted}-{code}", run, SHARING)

    def _runs(self, name: str, matrix: Mapping[str, Any]) -> Iterator[tuple[str, Run]]:
        """The runs of a matrix, each with its place."""
        scale = str(matrix.get("scale", "small"))
        seeds = [natural("seeds", seed) for seed in list_of("seeds", matrix.get("seeds", [0]))]
        cores = list_of("cores", matrix.get("cores", [])) or [None]
        changes, params = table_of("set", matrix), table_of("params", matrix)
        own = table_of("workload", matrix)
        chosen = self._workloads(matrix)
        check_parameters(f"matrix {name}", own, chosen)
        grow = list_of("grow", matrix.get("grow", []))
        for text, rule, on, place in self._configurations(name, matrix):
            for workload, count, seed in itertools.product(chosen, cores, seeds):
                given = {**params, **self.parameters.get(workload, {}), **own.get(workload, {})}
                yield (
                    place,
                    Run(
                        workload=workload,
                        protocol=text,
                        machine=on,
                        consistency=rule,
                        scale=scale,
                        seed=seed,
                        params=given or None,
                        set=changes | _of_cores(name, on, count, grow) or None,
                        **self.limits,
                    ),
                )

    def _configurations(
        self, name: str, matrix: Mapping[str, Any]
    ) -> Iterator[tuple[str, str | None, str, str]]:
        """Protocol, forced rule, machine and place in the matrix."""
        listed = self._listed(name, matrix)
        if listed is not None:
            for text, rule in listed:
                for on in list_of("machines", matrix.get("machines", ["fermi"])):
                    one = self._protocol(text)
                    for where in self._on(on, one):
                        yield one, rule, where, name
            return
        texts = self._protocols(matrix)
        for rule in list_of("consistencies", matrix.get("consistencies", [OWN])):
            place = name if rule == OWN else f"{name}/{rule}"
            for on in list_of("machines", matrix.get("machines", ["fermi"])):
                for text in texts:
                    for where in self._on(on, text):
                        yield text, None if rule == OWN else rule, where, place
                # Where the baseline has not the rule, it runs under its own.
                base = self.settings.baseline
                if rule != OWN and rule not in resolve(base).protocol.models:
                    for where in self._on(on, base):
                        yield base, None, where, place

    def _listed(self, name: str, matrix: Mapping[str, Any]) -> list[tuple[str, str | None]] | None:
        """The configurations, with their rules, of a matrix of pairs or tunings; None: it lists protocols.

        Raises
        ------
        ConfigError
            If it lists them twice, or the study has none.
        """
        found: dict[str, list[tuple[str, str | None]]] = {
            "pairs": [
                (text, pair.rule or None)
                for pair in self.settings.pairs
                for text in (pair.without, pair.with_it)
            ],
            "tuning": [(text, None) for one in self.settings.tunings for text in one.candidates],
        }
        for kind, listed in found.items():
            if not matrix.get(kind, False):
                continue
            for entry in ("protocols", "consistencies", *(set(found) - {kind})):
                if matrix.get(entry):
                    raise ConfigError(
                        f"matrix {name} has {entry} and {kind} = true: give one of them"
                    )
            if not listed:
                needs = "pairs = FILE.toml" if kind == "pairs" else "[[tuning]]"
                raise ConfigError(f"matrix {name} has {kind} = true: the study needs {needs}")
            return listed if kind == "pairs" else [(self.settings.baseline, None), *listed]
        return None

    def _on(self, on: str, text: str) -> list[str]:
        """The machines that an entry means for a protocol; ``paper``: its paper's, for a reference all papers'."""
        if on != PAPER:
            return [on]
        protocol = resolve(text).protocol
        ids = (self.settings.baseline, *self.settings.bounds)
        if protocol.id in ids:
            return list(dict.fromkeys(["fermi", *self.paper_machines.values()]))
        for begin, found in self.paper_machines.items():
            if begin in (protocol.id, protocol.family) or protocol.paper.startswith(begin):
                return [found]
        return ["fermi"]

    def _protocols(self, matrix: Mapping[str, Any]) -> list[str]:
        texts = [
            one
            for item in list_of("protocols", matrix.get("protocols", [ALL]))
            for one in (protocols() if item == ALL else [self._protocol(item)])
        ]
        texts = [self.settings.baseline, *texts]
        return [one for one in dict.fromkeys(texts) if not left_out(one, matrix)]

    def _protocol(self, text: str) -> str:
        """A protocol, whose C file is found from the study's folder."""
        name, bracket, rest = text.partition("[")
        if not name.endswith(".c") or Path(name).is_absolute():
            return text
        return f"{(self.folder / name).resolve()}{bracket}{rest}"

    def _workloads(self, matrix: Mapping[str, Any]) -> list[str]:
        listed = [
            one
            for item in list_of("workloads", matrix.get("workloads", [ALL]))
            for one in (workloads() if item == ALL else [item])
        ]
        return [one for one in dict.fromkeys(listed) if not left_out(one, matrix)]


def _of_cores(name: str, on: str, count: int | None, grow: Sequence[str]) -> dict[str, Any]:
    """The fields that a number of cores sets: itself, and those that ``grow`` in proportion to it.

    Raises
    ------
    ConfigError
        For a field that is no number, or whose proportion is not whole.
    """
    if count is None:
        return {}
    preset = machine(on)
    out: dict[str, Any] = {"cores": count}
    for item in grow:
        value = getattr(preset, str(item), None)
        if not isinstance(value, int) or isinstance(value, bool):
            raise ConfigError(f"matrix {name}: grow = {quoted(item)} is no whole number of {on}")
        whole_value, rest = divmod(value * natural("cores", count), preset.cores)
        if rest:
            raise ConfigError(
                f"matrix {name}: {item} = {value} of {on} does not grow in proportion to {count} cores"
            )
        out[str(item)] = whole_value
    return out


def _why_not(run: Run) -> str | None:
    """Why a protocol cannot run so, if the names and values themselves are right.

    Raises
    ------
    ConfigError
        For an unknown name or a bad value.
    """
    run.found.setting(run.scale, run.seed, run.params)
    resolve(run.protocol)
    return _refused(
        run.protocol,
        run.machine,
        run.consistency,
        tuple(sorted((run.set or {}).items())),
        (run.limit_s, run.limit_gib),
    )


@functools.lru_cache(4096)
def _refused(
    protocol: str,
    on: str | Path | Machine,
    rule: str | None,
    changes: tuple[tuple[str, Any], ...],
    limits: tuple[float | None, float | None],
) -> str | None:
    run = Run(
        workload="vec-cpy",
        protocol=protocol,
        machine=on,
        consistency=rule,
        set=dict(changes),
        limit_s=limits[0],
        limit_gib=limits[1],
    )
    run.machine_and_budget()
    known = {one for item in protocols() for one in resolve(item).protocol.models}
    if rule is not None and rule not in known:
        raise ConfigError(unknown("consistency rule", rule, sorted(known)))
    try:
        run.validate()
    except ConfigError as error:
        return str(error)
    return None


def _columns(run: Run) -> dict[str, Any]:
    """The columns of a run's place beside its matrix: its protocol by name, its number of cores."""
    choice = resolve(run.protocol)
    rule = rule_name(run.consistency) if run.consistency else choice.rule(None)
    brackets = ",".join(f"{name}={value}" for name, value in split_options(choice.text)[1].items())
    return {
        "workload": run.found.id,
        "protocol": choice.protocol.id + (f"[{brackets}]" if brackets else ""),
        "protocol_id": choice.protocol.id,
        "machine": machine(run.machine).name,
        "consistency": rule,
        "own_rule": int(rule == choice.rule(None)),
        "scale": run.scale,
        "seed": run.seed,
        "cores": run.machine_and_budget()[0].cores,
    }


def row_of_gap(gap: Gap) -> dict[str, Any]:
    """A gap as a row of the study's file: it has no statistics, and every study writes it again."""
    name = hashlib.sha256(repr(sorted(gap.columns.items())).encode()).hexdigest()[:24]
    return {
        **gap.columns,
        "key": f"{name}-",
        "model": "none",
        "correct": None,
        "verdict": "gap",
        "mismatches": 0,
        "where": gap.reason,
        "error": "Gap",
        "version": "",
        "code": "",
    }

"""The runs that figures, claims and tables share; each runs once."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from gpucoh.base.errors import ConfigError
from gpucoh.device.choices import split_options
from gpucoh.device.gpu import resolve
from gpucoh.papers.claims import Paper
from gpucoh.papers.readings import readings
from gpucoh.papers.study import study
from gpucoh.results.runs import RunResult
from gpucoh.runs.comparison import Comparison
from gpucoh.runs.runner import Run
from gpucoh.runs.sweeps import stored_runs
from gpucoh.suite import workloads as all_workloads

Parameters = Mapping[str, Mapping[str, object]]  # workload -> its parameters
Given = tuple[tuple[str, str], ...]
Key = tuple[str, str, int, Given, Given]  # workload, protocol, seed, parameters, machine fields


# Core cycles by which the first blocks of a launch start late at most, by the seed, so that seeds differ in timing
# where a workload's input does not depend on the seed.
START_SKEW = 256


class Runs(Protocol):
    """Runs by (workload, protocol), all with one seed."""

    def __getitem__(self, pair: tuple[str, str], /) -> RunResult:
        """One run."""
        ...

    def on(self, fields: Mapping[str, object]) -> Runs:
        """Those on the machine with other fields."""
        ...


def missing_protocol(protocol: str) -> str:
    """Why a protocol cannot run, or an empty text if it can."""
    try:
        resolve(protocol).rule(None)
    except ConfigError as error:
        return str(error).split(";")[0]
    return ""


def present(ids: Iterable[str]) -> list[str]:
    """The ids that name built-in workloads."""
    known = all_workloads()
    return [name for name in ids if name in known]


def with_options(
    protocol: str,
    added: Mapping[str, Mapping[str, str]],
    in_use: Mapping[str, Mapping[str, str]] | None = None,
) -> str:
    """A protocol with the options that a table adds to its id, before those of its brackets.

    Brackets that name the value of ``in_use`` leave the option to the table.

    Examples
    --------
    >>> with_options("tc-weak[lifetime=0]", {"tc-weak": {"private": "literal"}})
    'tc-weak[private=literal,lifetime=0]'
    >>> with_options("mesi", {"tc-weak": {"private": "literal"}})
    'mesi'
    >>> with_options("no-l1[fill=sector]", {"no-l1": {"fill": "line"}}, {"no-l1": {"fill": "sector"}})
    'no-l1[fill=line]'
    """
    name, given = split_options(protocol)
    if name not in added:
        return protocol
    left = (in_use or {}).get(name, {})
    options = {**added[name], **{key: one for key, one in given.items() if left.get(key) != one}}
    return f"{name}[{','.join(f'{key}={value}' for key, value in options.items())}]"


def merged(
    given: Mapping[str, Mapping[str, Any]], added: Iterable[Mapping[str, Mapping[str, Any]]]
) -> dict[str, Mapping[str, Any]]:
    """Options or parameters by owner, with those that later tables add or replace."""
    found = dict(given)
    for one in added:
        found |= {name: {**found.get(name, {}), **values} for name, values in one.items()}
    return found


def _as_key(given: Mapping[str, object]) -> Given:
    return tuple(sorted((name, str(value)) for name, value in given.items()))


@dataclass
class Bench:
    """Runs by workload, protocol and seed, on one machine, at one scale.

    Attributes
    ----------
    machine, scale
        Machine and input size of every run.
    seeds : tuple of int
        Every run is carried out with each of these.
    jobs : int
        Parallel runs.
    progress : bool
        Show a progress bar on a terminal.
    store : Path or None
        A file that keeps the runs as they finish, and from which finished ones are read.
    parameters : dict
        Workload -> parameters that differ from the scale's.
    other_seeds : tuple of int
        Seeds of the tables beside the claims (variants, bars, inputs); empty: those of the claims.
    seeded : tuple of str
        Parameters that take the run's seed, in the workloads that have them.
    options : dict
        Protocol id -> options that are added to it whenever it runs, unless it is replaced.
    in_use : dict
        Protocol id -> values of these options; they replace such a value in the brackets of a claim too.
    fields : dict
        Fields of the machine that differ; ``start_skew`` is :data:`START_SKEW` unless given.
    replaced : dict
        Protocol id -> the protocol that runs in its place, with the options that a claim gives it.
    left_out : tuple of str
        Workloads that do not run.
    done : dict
        The runs.
    """

    machine: str
    scale: str = "small"
    seeds: tuple[int, ...] = (0,)
    jobs: int = 1
    progress: bool = False
    store: Path | None = None
    parameters: Parameters = field(default_factory=dict)
    other_seeds: tuple[int, ...] = ()
    seeded: tuple[str, ...] = ()
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    in_use: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    fields: Mapping[str, object] = field(default_factory=dict)
    replaced: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    done: dict[Key, RunResult] = field(default_factory=dict)

    def variant(self, **changes: Any) -> Bench:
        """A bench of other parameters, options, machine fields or seeds, which shares the runs of this one."""
        return replace(self, **changes)

    def beside(self) -> Bench:
        """The bench of the tables beside the claims."""
        return self.variant(seeds=self.other_seeds or self.seeds)

    def present(self, ids: Iterable[str]) -> list[str]:
        """The ids that name built-in workloads that run here."""
        return [name for name in present(ids) if name not in self.left_out]

    def on(self, fields: Mapping[str, object]) -> Bench:
        """The bench on the machine with these fields changed too."""
        return self.variant(fields={**self.fields, **fields}) if fields else self

    def given(self, inputs: Mapping[str, Parameters]) -> Bench:
        """The bench with the parameters of its scale, of some workloads by scale; unchanged where there are none."""
        changed = inputs.get(self.scale, {})
        return self.variant(parameters=merged(self.parameters, [changed])) if changed else self

    def smaller(self, sizes: Mapping[str, str], divisor: int) -> Bench:
        """The bench with the sizes of inputs divided; ``sizes`` names the parameter of each workload."""
        if divisor == 1:
            return self
        parameters = dict(self.parameters)
        for workload, name in sizes.items():
            given = self.parameters.get(workload, {})
            parameters[workload] = {**given, name: self.parameter(workload, name) // divisor}
        return self.variant(parameters=parameters)

    def parameter(self, workload: str, name: str) -> Any:
        """A parameter of a workload's runs."""
        given = self.parameters.get(workload, {})
        return all_workloads()[workload].setting(self.scale, 0, given).params[name]

    def protocol(self, name: str) -> str:
        """The protocol that runs where a claim names this one."""
        known, given = split_options(name)
        if known not in self.replaced:
            return with_options(name, self.options, self.in_use)
        other, own = split_options(self.replaced[known])
        words = ",".join(f"{key}={value}" for key, value in {**own, **given}.items())
        return f"{other}[{words}]" if words else other

    def _key(self, workload: str, protocol: str, seed: int) -> Key:
        parameters = _as_key(self.parameters.get(workload, {}))
        return workload, self.protocol(protocol), seed, parameters, _as_key(self.fields)

    def _parameters(self, workload: str, seed: int) -> dict[str, object]:
        had = {parameter.name for parameter in all_workloads()[workload].parameters}
        drawn = {name: seed for name in self.seeded if name in had}
        return {**drawn, **self.parameters.get(workload, {})}

    def wanted(self, pairs: Iterable[tuple[str, str]]) -> dict[Key, Run]:
        """The runs of the (workload, protocol) pairs, with every seed."""
        return {
            self._key(workload, protocol, seed): Run(
                workload=workload,
                protocol=self.protocol(protocol),
                machine=self.machine,
                scale=self.scale,
                seed=seed,
                params=self._parameters(workload, seed),
                set={"start_skew": START_SKEW, **self.fields},
            )
            for seed, (workload, protocol) in itertools.product(self.seeds, pairs)
        }

    def get(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Run those of the (workload, protocol) pairs that have not run yet, with every seed."""
        self.carry_out(self.wanted(pairs))

    def carry_out(self, wanted: Mapping[Key, Run]) -> None:
        """Run those of the runs that have not run yet; benches that share this one's have theirs in ``wanted``, too."""
        todo = {key: run for key, run in wanted.items() if key not in self.done}
        if not todo:
            return
        results = stored_runs(
            list(todo.values()), self.store, jobs=self.jobs, progress=self.progress
        )
        self.done |= dict(zip(todo, results, strict=True))

    def run(self, workload: str, protocol: str, seed: int) -> RunResult:
        """One run that :meth:`get` has carried out."""
        return self.done[self._key(workload, protocol, seed)]

    def runs(self, seed: int) -> Runs:
        """The runs of one seed, by workload and protocol."""
        return _OfSeed(self, seed)

    def comparison(
        self, workloads: Sequence[str], protocols: Sequence[str], baseline: str
    ) -> Comparison:
        """The matrix of these workloads and protocols with the first seed; missing runs are run first."""
        pairs = [(workload, protocol) for workload in workloads for protocol in protocols]
        self.get(pairs)
        runs = self.runs(self.seeds[0])
        return Comparison(tuple(runs[pair] for pair in pairs), baseline)


@dataclass(frozen=True)
class _OfSeed:
    """The runs of one seed of a bench."""

    bench: Bench
    seed: int

    def __getitem__(self, pair: tuple[str, str], /) -> RunResult:
        return self.bench.run(*pair, self.seed)

    def on(self, fields: Mapping[str, object]) -> Runs:
        return _OfSeed(self.bench.on(fields), self.seed)


class _OnMachine(Protocol):
    @property
    def machine(self) -> Mapping[str, object]:
        """Fields of the machine that differ."""
        ...


Item = TypeVar("Item", bound=_OnMachine)


def by_machine(items: Iterable[Item]) -> list[tuple[Mapping[str, object], list[Item]]]:
    """Claims or figures by the fields of the machine that they change."""
    found: list[tuple[Mapping[str, object], list[Item]]] = []
    for item in items:
        alike = next((listed for fields, listed in found if fields == item.machine), None)
        if alike is None:
            found.append((item.machine, [item]))
        else:
            alike.append(item)
    return found


def bench_of(
    paper: Paper,
    *,
    scale: str,
    seeds: tuple[int, ...] = (0,),
    other_seeds: tuple[int, ...] = (),
    jobs: int = 1,
    progress: bool = False,
    store: Path | None = None,
    shorter: bool = False,
    replaced: Mapping[str, str] | None = None,
) -> Bench:
    """The bench of a paper's machine and inputs; ``shorter`` leaves out the workloads that its page leaves out.

    Raises
    ------
    ConfigError
        If the paper's files set what no reading names.
    """
    readings(paper.id)
    return Bench(
        machine=paper.machine,
        scale=scale,
        seeds=seeds,
        other_seeds=other_seeds,
        jobs=jobs,
        progress=progress,
        store=store,
        parameters=paper.parameters,
        seeded=paper.seeded,
        options=paper.options,
        replaced=replaced or {},
        left_out=study(paper.id).too_long.get(scale, ()) if shorter else (),
    )

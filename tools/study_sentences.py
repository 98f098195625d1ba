"""The sentences of 0.3.0's study, each as a relation that its matrices and machines in proportion can contradict.

``studies/sentences.toml`` has the sentences, and the numbers that 0.3.0's store gave to the same relations. A sentence
falls by port if its matrix with today's workloads contradicts it; else by proportion if a machine in proportion does;
else by interval if its contrary is in more than 0.025 of the resamples of the workloads (:data:`study_evidence.SURE`);
else it stands.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from pages import ROOT
from study_evidence import Answer, Evidence, Place, Vector, answer, correlated, order

from gpucoh.studies.intervals import RESAMPLES
from gpucoh.studies.tabulation import Tables

FILE = ROOT / "studies/sentences.toml"
PAIRS, SMALL, TINY = Place("pairs"), Place("small"), Place("tiny")
# Machines of which one thing is in proportion, at the scale of small; and the presets, at scale tiny.
CHANGED = tuple(Place(name) for name in ("latency", "bandwidth", "l1"))
RENEWED = (
    "leases renewed without data (RCC-WO)",
    "leases renewed without data (RCC-SC)",
    "leases renewed without data (G-TSC)",
    "predicted leases instead of 10 (RCC-WO)",
    "predicted leases instead of 10 (RCC-SC)",
)
RELEASED = (
    "release consistency instead of SC (no L1)",
    "release consistency instead of SC (TC-Strong)",
    "weak ordering instead of SC (RCC)",
)
EPOCHS = (
    "only epochs for which a store waits",
    "four epochs granted together instead of one",
    "bands that move when loads and stores conflict",
)
OWNERS = ("denovo-drf", "denovo-ro", "denovo-hrf", "gpu-hrf")


class Reader:
    """The tables of a store, and the evidence of its places."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.pairs = {pair.what: pair for pair in tables.settings.pairs}
        self.places = set(tables.rows[["matrix", "machine"]].itertuples(index=False, name=None))
        self.regret = tables.regret()
        self._known: dict[tuple[Place, tuple[str, ...] | None], Evidence] = {}

    def at(self, place: Place, only: tuple[str, ...] | None = None) -> Evidence:
        """The evidence of a place."""
        if (place, only) not in self._known:
            self._known[place, only] = Evidence(self.tables, place, only)
        return self._known[place, only]

    def presets(self) -> list[Place]:
        """The machines of the matrices of presets."""
        names = ("presets", "more-presets")
        return [
            Place(matrix, machine)
            for matrix, machine in sorted(self.places)
            if matrix in names and machine != "fermi"
        ]

    def has(self, place: Place) -> bool:
        """Whether the store has runs of a place."""
        return (place.matrix, place.machine) in self.places

    def of_class(self, place: Place, one: str) -> tuple[str, ...]:
        """The workloads of a class of sharing at a place."""
        rows = self.at(place).rows
        return tuple(sorted(rows[rows["class"].eq(one)]["workload"].unique()))

    def names(self, place: Place, *, bounds: bool = False) -> list[str]:
        """The protocols of a place that promise a memory model, without bounds."""
        rows = self.at(place).rows
        names = rows[rows["model"].ne("none")]["protocol"].unique()
        left = () if bounds else self.tables.settings.bounds
        return [str(name) for name in names if name not in left]


def _effects(reader: Reader, place: Place, whats: Sequence[str]) -> dict[str, Vector]:
    return {what: reader.at(place).effect(reader.pairs[what]) for what in whats}


def _times(vectors: Mapping[str, Vector]) -> str:
    return ", ".join(f"{name} {np.exp(one[0]):.2f}" for name, one in vectors.items())


def _is_first(speeds: Mapping[str, Vector], name: str) -> Vector:
    """Whether a protocol is the fastest; never, if it lacks a run."""
    if name not in speeds:
        return np.zeros(RESAMPLES + 1, bool)
    return np.asarray(speeds[name] >= np.max(list(speeds.values()), axis=0))


def same_work(reader: Reader, place: Place) -> Answer:
    """Ownership and scopes each bring at least half of what both bring."""
    found = {
        name: reader.at(place).ratio("gpu-drf", other)
        for name, other in (("ownership", "denovo-drf"), ("scopes", "gpu-hrf"), ("both", "denovo-hrf"))
    }  # fmt: skip
    own, scopes, both = found.values()
    return answer(_times(found), (both > 0) & (own >= both / 2) & (scopes >= both / 2))


def fastest(reader: Reader, place: Place) -> Answer:
    """DeNovo's protocols and gpu-hrf are the four fastest."""
    speeds = reader.at(place).speeds(reader.names(place))
    places = order(speeds)
    names = list(speeds)
    here = [names.index(name) for name in OWNERS if name in names]
    first = [names[at] for at in np.argsort(places[:, 0], kind="stable")[:4]]
    holds = np.asarray((places[here] <= len(OWNERS)).all(axis=0) & (len(here) == len(OWNERS)))
    return answer("first: " + ", ".join(f"`{name}`" for name in first), holds)


def long_leases(reader: Reader, place: Place) -> Answer:
    """Leases of tc-strong four times as long cost more than they bring."""
    found = _effects(reader, place, ["leases of 3200 cycles instead of 800"])
    (value,) = found.values()
    return answer(f"{np.exp(value[0]):.2f}", value < 0)


def polled(reader: Reader, place: Place) -> Answer:
    """Predicted leases slow the workload that polls down by half or more."""
    e = reader.at(place, ("fam_g",))
    pair = reader.pairs["predicted leases instead of 800 cycles (TC-Weak)"]
    value = float(np.exp(e.effect(pair)[0]))
    return Answer(f"`fam_g` {value:.2f}", value <= 0.5)


def renewed(reader: Reader, place: Place) -> Answer:
    """Renewal and prediction of logical leases each help, by less than a tenth."""
    found = np.array(list(_effects(reader, place, RENEWED).values()))
    low, high = np.exp(found[:, 0].min()), np.exp(found[:, 0].max())
    holds = np.asarray(((found > 0) & (found < np.log(1.1))).all(axis=0))
    return answer(f"{low:.2f} to {high:.2f}", holds)


def steps(reader: Reader, place: Place) -> Answer:
    """STC's steps: the announced epochs first, several epochs second."""
    found = _effects(reader, place, EPOCHS)
    first, second, third = found.values()
    text = ", ".join(f"{np.exp(one[0]):.2f}" for one in found.values())
    return answer(text, (first > second) & (second > third) & (third > 0))


def largest(reader: Reader, place: Place) -> Answer:
    """Of all ideas the announced epochs change the cycles most."""
    found = {what: np.abs(one) for what, one in _effects(reader, place, list(reader.pairs)).items()}
    others = np.array([one for what, one in found.items() if what != EPOCHS[0]])
    most = max(found, key=lambda what: float(np.nan_to_num(found[what][0])))
    return answer(f"most: {most}", found[EPOCHS[0]] > np.nanmax(others, axis=0))


def released(reader: Reader, place: Place) -> Answer:
    """The median of release consistency's effects is at least the median of the other ideas'."""
    found = _effects(reader, place, list(reader.pairs))
    theirs = [
        np.abs(one) for what, one in found.items() if reader.pairs[what].idea != "consistency"
    ]
    ours = np.median([found[what] for what in RELEASED], axis=0)
    other = np.nanmedian(theirs, axis=0)
    return answer(f"{np.exp(ours[0]):.2f}, others {np.exp(other[0]):.2f}", ours >= other)


def mesi_loses(reader: Reader, place: Place) -> Answer:
    """mesi alone loses by release consistency."""
    mesi = "release consistency instead of SC (MESI)"
    found = _effects(reader, place, [mesi, *RELEASED])
    others = np.array([found[what] for what in RELEASED])
    return answer(f"{np.exp(found[mesi][0]):.2f}", (found[mesi] < 0) & (others > 0).all(axis=0))


def one_rule(reader: Reader, place: Place) -> Answer:
    """Under SC for all, stc-mb is the fastest."""
    e = reader.at(place)
    logs = {name: e.logs(name, "sc") for name in reader.names(place)}
    speeds = {name: e.vector(-one) for name, one in logs.items() if np.isfinite(one).all()}
    places = order(speeds)
    names = list(speeds)
    first = names[int(np.argmin(places[:, 0]))]
    return answer(f"first: `{first}`", _is_first(speeds, "stc-mb"))


def _losses(reader: Reader, place: Place, one: str) -> Vector:
    """Mean losses of the protocols of a place that lack no workload of a class, of shape (protocols, draws + 1)."""
    only = reader.of_class(place, one)
    e = reader.at(place, only)
    logs = [e.logs(name) for name in reader.names(place)]
    whole = np.array([one for one in logs if np.isfinite(one).all()])
    means = whole.mean(axis=2)
    losses = whole - means.min(axis=0)[None, :, None]
    return np.array([e.vector(one) for one in losses])


def alike(reader: Reader, place: Place) -> Answer:
    """On read-shared data more than half of the protocols lose less than a tenth."""
    share = (_losses(reader, place, "read-shared") < np.log(1.1)).mean(axis=0)
    return answer(f"{share[0]:.0%} of the protocols", share > 0.5)


def hardest(reader: Reader, place: Place) -> Answer:
    """Producer to consumer is the class whose best protocol loses most."""
    rows = reader.at(place).rows
    found = {one: _losses(reader, place, one).min(axis=0) for one in sorted(set(rows["class"]))}
    most = max(found, key=lambda one: float(found[one][0]))
    others = np.array([one for name, one in found.items() if name != "producer-consumer"])
    text = f"{most} {np.exp(found[most][0]) - 1:.0%}"
    return answer(text, found["producer-consumer"] > others.max(axis=0))


def private(reader: Reader, _: Place) -> Answer:
    """mesi is the best on private data on four machines at scale tiny, and on none at scale small."""
    table = reader.regret[reader.regret["class"].eq("private") & reader.regret["missing"].eq(0)]
    first = table.loc[table.groupby(["matrix", "machine"])["mean"].idxmin()]
    won = first[first["protocol"].eq("mesi")]
    tiny = won[won["matrix"].str.startswith("tiny")]
    small = won[won["matrix"].isin(["small", "paper"])]
    share = float(tiny["best"].min()) if len(tiny) else np.nan
    text = f"tiny: {len(tiny)} machines, small: {len(small)}"
    return Answer(text, len(tiny) >= 4 and not len(small), share)


def by_cores(reader: Reader, place: Place) -> Answer:
    """The order of the protocols but qr at 16 and 128 cores has a rank correlation of at least 0.8."""
    sizes = [Place(place.matrix, place.machine, cores) for cores in (16, 128)]
    names = [name for name in reader.names(place) if name != "qr"]
    runs = [reader.at(size) for size in sizes]
    whole = [
        {
            one
            for at, one in enumerate(e.workloads)
            if all(np.isfinite(e.logs(n)[at]).all() for n in names)
        }
        for e in runs
    ]
    only = tuple(sorted(set.intersection(*whole)))
    orders = [order(reader.at(size, only).speeds(names)) for size in sizes]
    found = correlated(*orders)
    return answer(f"rank correlation {found[0]:.2f}", found >= 0.8)


def favoured(reader: Reader, place: Place) -> Answer:
    """Every protocol proposed on mesh15 or apu gains more over no L1 there than on fermi."""
    rows = reader.tables.rows
    there = {"mesh15": {*OWNERS, "gpu-drf", "hlrc"}, "apu": {"wt", "rfo", "qr"}}
    found: dict[str, Vector] = {}
    for machine, names in there.items():
        matrix = "paper" if reader.has(Place("paper", machine)) else "small"
        own = reader.at(Place(matrix, machine))
        fermi = reader.at(Place("small"))
        seeds = [own.seeds.index(seed) for seed in own.seeds if seed in fermi.seeds]
        for name in sorted(names & set(rows["protocol"])):
            gains = [(e.logs("no-l1") - e.logs(name))[:, : len(seeds)] for e in (own, fermi)]
            found[name] = own.vector(gains[0] - gains[1])
    more = [name for name, one in found.items() if one[0] > 0]
    holds = np.asarray(np.array([one > 0 for one in found.values()]).all(axis=0))
    return answer(f"{len(more)} of {len(found)}", holds)


def winners(reader: Reader, place: Place) -> Answer:
    """At least six protocols have the smallest loss of a class, alone or within 0.1% of it."""
    table = reader.regret
    table = table[table["matrix"].eq(place.matrix) & table["machine"].eq(place.machine)]
    table = table[table["missing"].eq(0)]
    least = table.groupby("class")["mean"].transform("min")
    first = table[table["mean"] <= least + 0.001]
    share = first.groupby("class")["best"].max().min()
    names = sorted(set(first["protocol"]))
    return Answer(f"{len(names)} protocols", len(names) >= 6, float(share))


def first_of_small(reader: Reader, place: Place) -> Answer:
    """denovo-hrf has the largest mean speedup."""
    speeds = reader.at(place).speeds(reader.names(place))
    places = order(speeds)
    names = list(speeds)
    first = names[int(np.argmin(places[:, 0]))]
    value = reader.at(place).ratio("no-l1", first)
    return answer(f"`{first}` {np.exp(value[0]):.2f}", _is_first(speeds, "denovo-hrf"))


def coefficients(reader: Reader, place: Place) -> Answer:
    """The order by energy is that of the other decade's coefficients."""
    ranks = []
    for decade in ("2013", "2024"):
        table = reader.tables.energy(decade)
        table = table[table["matrix"].eq(place.matrix) & table["machine"].eq(place.machine)]
        ranks.append(table.set_index("protocol")["total"].rank())
    value = float(ranks[0].corr(ranks[1]))
    return Answer(f"rank correlation {value:.3f}", value >= 0.99)


def promised(reader: Reader, _: Place) -> Answer:
    """No run of a protocol that promises a memory model is wrong."""
    rows = reader.tables.rows
    wrong = rows[~rows["good"] & rows["error"].isna() & rows["model"].ne("none")]
    return Answer(f"{wrong['key'].nunique()} wrong", wrong.empty)


@dataclass(frozen=True)
class Sentence:
    """A sentence: where 0.3.0 measured it, its relation, and the places in proportion that may contradict it."""

    again: Place
    relation: Callable[[Reader, Place], Answer]
    changed: bool = False
    presets: bool = False
    others: tuple[Place, ...] = ()


SENTENCES: Mapping[str, Sentence] = {
    "same-work": Sentence(PAIRS, same_work, changed=True, presets=True),
    "fastest": Sentence(SMALL, fastest, changed=True),
    "first": Sentence(SMALL, first_of_small, changed=True),
    "long-leases": Sentence(PAIRS, long_leases, changed=True, presets=True),
    "polled": Sentence(PAIRS, polled, changed=True),
    "renewed": Sentence(PAIRS, renewed, changed=True, presets=True),
    "steps": Sentence(PAIRS, steps, changed=True, presets=True),
    "largest": Sentence(PAIRS, largest, changed=True, presets=True),
    "released": Sentence(PAIRS, released, changed=True, presets=True),
    "mesi-loses": Sentence(PAIRS, mesi_loses, changed=True, presets=True),
    "one-rule": Sentence(Place("rules/sc"), one_rule),
    "alike": Sentence(SMALL, alike),
    "hardest": Sentence(SMALL, hardest),
    "winners": Sentence(TINY, winners),
    "private": Sentence(TINY, private),
    "cores": Sentence(Place("cores"), by_cores, others=(Place("grown"),)),
    "favoured": Sentence(Place("paper", "mesh15"), favoured),
    "coefficients": Sentence(SMALL, coefficients),
    "promised": Sentence(SMALL, promised),
}


@dataclass(frozen=True)
class Fate:
    """What became of a sentence: again, on machines in proportion (those that contradict), and in resamples."""

    text: str
    then: str
    again: Answer
    places: int
    contrary: tuple[str, ...]

    @property
    def word(self) -> str:
        """stands, or by what it falls."""
        if not self.again.holds:
            return "port"
        if self.contrary:
            return "proportion"
        return "stands" if self.again.sure else "interval"


def fates(reader: Reader) -> list[Fate]:
    """What became of each sentence whose places the store has."""
    out = []
    for item in tomllib.loads(FILE.read_text(encoding="utf-8"))["sentence"]:
        one = SENTENCES[item["id"]]
        if not reader.has(one.again):
            continue
        places = [*(CHANGED if one.changed else ()), *one.others]
        places += reader.presets() if one.presets else []
        places = [place for place in places if reader.has(place)]
        contrary = tuple(str(place) for place in places if not one.relation(reader, place).holds)
        again = one.relation(reader, one.again)
        out.append(Fate(item["text"], item["then"], again, len(places), contrary))
    return out

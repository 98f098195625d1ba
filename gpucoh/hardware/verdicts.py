"""Verdicts on tests under protocols, compared with what PTX allows and what GPUs showed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from gpucoh.base.errors import ConfigError
from gpucoh.base.wording import unknown
from gpucoh.device.gpu import resolve
from gpucoh.litmus.hardware import FAMILIES, Fact, facts

#: Defaults of the largest number of states of an exploration, and of the runs of a test that it leaves undecided.
STATES, RUNS = 20_000, 1000
#: How many times as many states an exploration may have where PTX forbids the outcome.
FORBIDDEN = 5
#: What a verdict means beside the facts, the gravest first.
KINDS = {
    "failed": "the exploration or a run ended in an error",
    "forbidden": "shown, and forbidden by PTX",
    "excess": "shown, allowed by PTX, and seen on no GPU",
    "missed": "seen on a GPU, and not shown",
    "explained": "seen on a GPU, and shown",
    "absent": "neither seen on a GPU nor shown",
    "void": "never run on a GPU, and not forbidden",
}


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """One test under one protocol and rule.

    Attributes
    ----------
    protocol, rule, test : str
    verdict : str
        ``shown``; ``never``: not in a complete exploration; ``not seen``: in no run; ``failed``.
    by : str
        ``exploration`` or ``runs``.
    runs, count : int
        Runs, and those that showed the outcome; zero for an exploration.
    where : str
        Of an exploration the program and setting that showed the outcome; the error.
    """

    protocol: str
    rule: str
    test: str
    verdict: str
    by: str
    runs: int = 0
    count: int = 0
    where: str = ""

    @property
    def family(self) -> str:
        """The family of the test."""
        return self.test.partition(".")[0]

    @property
    def kind(self) -> str:
        """One of :data:`KINDS`."""
        fact = facts()[self.test]
        if self.verdict == "failed":
            return "failed"
        if self.verdict == "shown" and not fact.base:
            return "forbidden"
        if fact.base and not fact.ran:
            return "void"
        if self.verdict == "shown":
            return "explained" if fact.seen else "excess"
        return "missed" if fact.seen else "absent"

    @property
    def bound(self) -> float:
        """Of an outcome not seen: at most this share of runs shows it, with 95% confidence; else 0.

        The runs count as independent, which those of one launch are not quite.
        """
        return 1 - 0.05 ** (1 / self.runs) if self.verdict == "not seen" else 0.0

    def to_dict(self) -> dict[str, Any]:
        """As ``gpucoh hardware --json`` prints it."""
        fact = facts()[self.test]
        return {**asdict(self), "kind": self.kind, "bound": self.bound, "allowed": fact.base,
                "allowed_strengthened": fact.strengthened, "seen": list(fact.seen)}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Summary:
    """The verdicts of one protocol and rule, counted.

    Attributes
    ----------
    protocol, rule, model : str
        The model is what the protocol promises.
    kinds : dict
        Kind -> number of tests.
    strong : int
        Outcomes shown that PTX allows and the strengthened PTX forbids.
    never, not_seen : int
        Tests whose outcome no complete exploration, or no run, showed.
    bound : float
        The largest :attr:`Verdict.bound`.
    """

    protocol: str
    rule: str
    model: str
    kinds: Mapping[str, int]
    strong: int
    never: int
    not_seen: int
    bound: float

    @property
    def recall(self) -> float | None:
        """The share of the outcomes seen on a GPU that are shown; None: none was seen."""
        seen = self.kinds["explained"] + self.kinds["missed"]
        return self.kinds["explained"] / seen if seen else None

    def to_dict(self) -> dict[str, Any]:
        """As ``gpucoh hardware --json`` prints it."""
        return {**asdict(self), "recall": self.recall}


def summarise(verdicts: Iterable[Verdict]) -> list[Summary]:
    """Count the verdicts of each protocol and rule, in their order."""
    groups: dict[tuple[str, str], list[Verdict]] = {}
    for item in verdicts:
        groups.setdefault((item.protocol, item.rule), []).append(item)
    return [_summary(*key, items) for key, items in groups.items()]


def _summary(protocol: str, rule: str, items: Sequence[Verdict]) -> Summary:
    kinds, words = Counter(item.kind for item in items), Counter(item.verdict for item in items)

    def beyond(fact: Fact) -> bool:
        return fact.base and not fact.strengthened

    return Summary(
        protocol=protocol,
        rule=rule,
        model=resolve(protocol).model(rule),
        kinds={kind: kinds[kind] for kind in KINDS},
        strong=sum(item.verdict == "shown" and beyond(facts()[item.test]) for item in items),
        never=words["never"],
        not_seen=words["not seen"],
        bound=max(item.bound for item in items),
    )


def of_families(families: Sequence[str]) -> list[str]:
    """Ids of the tests of families.

    Raises
    ------
    ConfigError
        For an unknown family.
    """
    for family in families:
        if family not in FAMILIES:
            raise ConfigError(unknown("family", family, FAMILIES))
    return [name for name in facts() if name.partition(".")[0] in families]


def pairs_of(names: Sequence[str], rule: str | None) -> list[tuple[str, str]]:
    """Each protocol with a rule, by default with every rule that it supports.

    Raises
    ------
    ConfigError
        If a protocol is unknown or does not support the rule.
    """
    return [
        (name, found)
        for name in names
        for found in ([resolve(name).rule(rule)] if rule else resolve(name).protocol.models)
    ]

"""Which memory model is stronger than which: a partial order computed over tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from gpucoh.litmus.models import MODELS, PTX
from gpucoh.litmus.runner import verdicts
from gpucoh.litmus.syntax import Test


@dataclass(frozen=True)
class Strength:
    """The models and the tests whose condition each forbids.

    Attributes
    ----------
    forbidden : dict
        Model -> names of the tests, shortest first.
    tests : int
        Number of the tests compared.
    """

    forbidden: Mapping[str, tuple[str, ...]]
    tests: int

    def only(self, model: str, other: str) -> tuple[str, ...]:
        """The tests that the first model forbids and the other allows."""
        allowed = set(self.forbidden[other])
        return tuple(name for name in self.forbidden[model] if name not in allowed)

    def stronger(self, model: str, other: str) -> bool:
        """Whether the first model forbids all that the other forbids, and more."""
        return bool(self.only(model, other)) and not self.only(other, model)

    def steps(self) -> list[tuple[str, str]]:
        """Pairs of a model and a weaker one with none between."""
        pairs = [
            (one, other)
            for one in self.forbidden
            for other in self.forbidden
            if self.stronger(one, other)
        ]
        return [
            (one, other)
            for one, other in pairs
            if not any(
                (one, middle) in pairs and (middle, other) in pairs for middle in self.forbidden
            )
        ]

    def apart(self) -> list[tuple[str, str]]:
        """Pairs of models of which each forbids something that the other allows."""
        names = list(self.forbidden)
        return [
            (one, other)
            for place, one in enumerate(names)
            for other in names[place + 1 :]
            if self.only(one, other) and self.only(other, one)
        ]


def compare(tests: Iterable[Test], progress: Callable[[str], None] = lambda name: None) -> Strength:
    """Compare all models over some tests.

    Parameters
    ----------
    tests : iterable of Test
    progress : callable
        Called with the name of each test that is done.
    """
    forbidden: dict[str, list[str]] = {model: [] for model in (*MODELS, *PTX)}
    count = 0
    for test in sorted(tests, key=lambda test: (len(test.name), test.name)):
        count += 1
        for model, names in forbidden.items():
            if not verdicts(test, model).allowed():
                names.append(test.name)
        progress(test.name)
    return Strength({model: tuple(names) for model, names in forbidden.items()}, count)

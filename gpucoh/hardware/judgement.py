"""The rule by which a protocol's curves are judged against a GPU's, fixed before the runs that it judges.

docs/hardware.md states it in words. A preset's latencies are fitted on the chase (``use = "fit"`` of published.toml)
and are the same for every protocol; the barrier's curve (``use = "judge"``) is not used for any field.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

#: A run with more than this number of times the GPU's cycles is stopped.
CUT_OFF = 20

#: Of a level of the chase, measured / published: nearer than the first agrees, farther than the second contradicts.
LEVEL_AGREES, LEVEL_CONTRADICTS = 1.25, 1.5

#: Of the barrier's curve: the largest mean error and rms of the shape that agree, and from which they contradict, and
#: the factor of one point that contradicts.
ERROR_AGREES, ERROR_CONTRADICTS = 0.20, 0.50
SHAPE_AGREES, SHAPE_CONTRADICTS = 0.15, 0.30
POINT_CONTRADICTS = 2.0

AGREES, UNDECIDED, CONTRADICTS = "agrees", "undecided", "contradicts"
_ORDER = (AGREES, UNDECIDED, CONTRADICTS)


@dataclass(frozen=True)
class Fit:
    """How a measured curve lies to a published one.

    Attributes
    ----------
    error : float
        Mean of abs(measured / published - 1).
    ratio : float
        Mean of measured / published.
    shape : float
        Root of the mean square of measured / published / ratio - 1: what a common factor leaves.
    worst : float
        The largest factor between a point and its own, at least 1; infinite where a run was stopped.
    """

    error: float
    ratio: float
    shape: float
    worst: float

    @property
    def verdict(self) -> str:
        """``agrees``, ``contradicts`` or ``undecided``, of a barrier's curve."""
        if (
            self.worst > POINT_CONTRADICTS
            or self.error > ERROR_CONTRADICTS
            or self.shape > SHAPE_CONTRADICTS
        ):
            return CONTRADICTS
        return AGREES if self.error <= ERROR_AGREES and self.shape <= SHAPE_AGREES else UNDECIDED


def compare(measured: Sequence[float], published: Sequence[float]) -> Fit:
    """Compare two curves point by point; a stopped run's point is infinite."""
    quotients = [ours / theirs for ours, theirs in zip(measured, published, strict=True)]
    if math.inf in quotients:
        return Fit(math.inf, math.inf, math.inf, math.inf)
    count = len(quotients)
    ratio = sum(quotients) / count
    return Fit(
        error=sum(abs(one - 1) for one in quotients) / count,
        ratio=ratio,
        shape=math.sqrt(sum((one / ratio - 1) ** 2 for one in quotients) / count),
        worst=max(max(one, 1 / one) for one in quotients),
    )


def of_level(measured: float, published: float) -> str:
    """The verdict on one level of the chase."""
    factor = max(measured / published, published / measured)
    if factor <= LEVEL_AGREES:
        return AGREES
    return CONTRADICTS if factor > LEVEL_CONTRADICTS else UNDECIDED


def worst(verdicts: Iterable[str]) -> str:
    """The verdict of several: one that contradicts decides, then one that is undecided."""
    return max(verdicts, key=_ORDER.index)


def distance(measured: Sequence[Sequence[float]], candidate: Sequence[Sequence[float]]) -> float:
    """How far a candidate's curves are from measured ones: each curve's mean of abs(log(ratio)), and their mean."""
    curves = [
        sum(abs(math.log(ours / theirs)) for ours, theirs in zip(one, other, strict=True))
        / len(one)
        for one, other in zip(measured, candidate, strict=True)
    ]
    return sum(curves) / len(curves)

"""Whether a measured value agrees with a claim.

========================  ===========================================  =================================
claim                     ``size``                                     else
========================  ===========================================  =================================
ratio of two protocols    within max(0.02, min(0.10, abs(claimed - 1)  ``direction`` on the claimed side
                          / 2))                                        of 1 by more than 0.01, or ``no``
rate (fraction)           within 0.10                                  ``no``
count, value without a    within 25%                                   ``no``
baseline
equal                     within the claim's tolerance of 1            ``no``
at most, at least         not beyond it; without a value: not beyond   ``no``
                          1 by more than the claim's tolerance
above, below                                                           ``direction``, as a ratio, or ``no``
========================  ===========================================  =================================
"""

from __future__ import annotations

from gpucoh.papers.claims import DECLARED, Claim

SIDE = 0.01
_ROUNDING = 1e-9  # distances of decimal fractions
_RATES = ("l1_hit_rate", "l1_miss_rate", "expired_loads")


def size_tolerance(claim: Claim, value: float) -> float:
    """The largest distance from the claimed value that agrees in size."""
    if claim.measure in _RATES and not claim.baseline:
        return 0.10
    if is_ratio(claim):
        return max(0.02, min(0.10, abs(value - 1) / 2))
    return 0.25 * abs(value)


def is_ratio(claim: Claim) -> bool:
    """Whether the claim's value is a ratio of a protocol to a baseline."""
    return bool(claim.baseline) and claim.measure not in DECLARED


def agreement(claim: Claim, measured: float) -> str:
    """The agreement: ``size``, ``direction`` or ``no``."""
    if claim.direction in ("at_most", "at_least"):
        limit, margin = (1.0, claim.tolerance) if claim.value is None else (claim.value, 0.0)
        beyond = measured - limit if claim.direction == "at_most" else limit - measured
        return "size" if beyond <= margin + _ROUNDING else "no"
    if claim.value is None and claim.direction == "equal":
        return "size" if abs(measured - 1) <= claim.tolerance + _ROUNDING else "no"
    if claim.value is not None:
        if abs(measured - claim.value) <= size_tolerance(claim, claim.value) + _ROUNDING:
            return "size"
        above = claim.value > 1
        if not is_ratio(claim) or claim.value == 1:
            return "no"
    else:
        above = claim.direction == "above"
    beyond = measured - 1 if above else 1 - measured
    return "direction" if beyond > SIDE + _ROUNDING else "no"

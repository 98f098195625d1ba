"""Timestamps of few bits roll over many times in a run: results stay right, and the run counts the rollovers."""

from __future__ import annotations

import pytest

import gpucoh
from products import share
from registered import COHERENT, TIMED

WORKLOADS = ("bh", "fg-share", "stn")
# Six bits hold leases of 63 cycles, fewer than an answer takes; ten hold leases that are used and cut at the wrap.
NARROW = (
    ("tc-weak", 6),
    ("tc-strong[lifetime=50]", 6),
    ("tc-weak", 10),
    ("tc-strong", 10),
)


def _machine(bits: int) -> gpucoh.Machine:
    return gpucoh.machine("fermi").replace(timestamp_bits=bits)


@pytest.mark.parametrize("workload", share(WORKLOADS, one_in=4))
@pytest.mark.parametrize(("protocol", "bits"), NARROW)
def test_results_are_right_across_rollovers(workload: str, protocol: str, bits: int) -> None:
    run = gpucoh.run(workload, protocol=protocol, machine=_machine(bits), scale="tiny")
    assert run.correct
    # Launches begin anywhere in an epoch, so each may see one wrap more or less.
    launches = run.stats["launches"]
    assert abs(run.rollovers - run.cycles / 2**bits) <= launches
    assert run.rollovers > 10
    assert run.l2["leases_cut"] > 0


def test_copies_are_used_between_rollovers() -> None:
    run = gpucoh.run("stn", protocol="tc-weak", machine=_machine(10), scale="tiny")
    assert run.l1["load_hits"] > 10 * run.rollovers
    assert run.l1["expired"] > 10 * run.rollovers


def test_wide_timestamps_never_begin_again() -> None:
    run = gpucoh.run("fg-share", protocol="tc-weak", scale="tiny")
    assert run.rollovers == 0
    assert run.l2["leases_cut"] == 0


@pytest.mark.parametrize(
    "protocol", share([name for name in COHERENT if name not in TIMED], one_in=7)
)
def test_the_width_has_no_effect_on_protocols_without_timestamps(protocol: str) -> None:
    narrow = gpucoh.run("bh", protocol=protocol, machine=_machine(6), scale="tiny")
    wide = gpucoh.run("bh", protocol=protocol, scale="tiny")
    assert narrow.stats.to_dict() == wide.stats.to_dict()
    assert narrow.rollovers == 0


@pytest.mark.parametrize("protocol", ["tc-strong", "tc-weak[lifetime=800]"])
def test_a_lifetime_wider_than_timestamps_is_refused_with_both_named(protocol: str) -> None:
    with pytest.raises(gpucoh.ConfigError, match=r"lifetime 800 .* timestamp_bits 9.* 10 or more"):
        gpucoh.run("bh", protocol=protocol, machine=_machine(9), scale="tiny")

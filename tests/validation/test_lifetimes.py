"""Lifetimes of leases: fixed ones are as given, predicted ones follow the rules of section 6.4."""

from __future__ import annotations

import numpy as np
import pytest

import gpucoh


@gpucoh.kernel
def share(data: gpucoh.Buffer[gpucoh.u32], rounds: gpucoh.i32, ordered: gpucoh.i32):
    at = gpucoh.global_id()
    for _ in range(rounds):
        data[at] = data[at ^ 32] + gpucoh.u32(1)  # the other half of the line is another warp's
    if ordered > 0:
        gpucoh.store(data, at, gpucoh.u32(1))


@gpucoh.kernel
def share_and_fence(data: gpucoh.Buffer[gpucoh.u32], rounds: gpucoh.i32, ordered: gpucoh.i32):
    at = gpucoh.global_id()
    for _ in range(rounds):
        data[at] = data[at ^ 32] + gpucoh.u32(1)
    if ordered > 0:
        gpucoh.fence()


@gpucoh.kernel
def share_and_release(data: gpucoh.Buffer[gpucoh.u32], rounds: gpucoh.i32, ordered: gpucoh.i32):
    at = gpucoh.global_id()
    for _ in range(rounds):
        data[at] = data[at ^ 32] + gpucoh.u32(1)
    if ordered > 0:
        gpucoh.store(data, at, gpucoh.u32(1), order="release")


@gpucoh.kernel
def count_and_fence(data: gpucoh.Buffer[gpucoh.u32], rounds: gpucoh.i32, ordered: gpucoh.i32):
    at = gpucoh.global_id()
    for _ in range(rounds):
        if gpucoh.load(data, at ^ 32) < gpucoh.u32(1000):
            gpucoh.atomic_add(data, at, gpucoh.u32(1))
    if ordered > 0:
        gpucoh.fence()


@gpucoh.kernel
def keep_and_fence(data: gpucoh.Buffer[gpucoh.u32], rounds: gpucoh.i32, ordered: gpucoh.i32):
    at = gpucoh.global_id()
    for _ in range(rounds):
        data[at] = data[at] + gpucoh.u32(1)  # the line is this block's alone
    if ordered > 0:
        gpucoh.fence()


def _average(kernel: gpucoh.Kernel, protocol: str = "tc-weak") -> float:
    gpu = gpucoh.GPU(protocol=protocol)
    data = gpu.zeros(4096, np.uint32)
    gpu.launch(kernel, grid=32, block=128, args=(data, 40, 0))
    l2 = gpu.stats().l2
    return float(l2["lease_cycles"] / l2["leases"])


def test_a_fixed_lifetime_is_given_to_every_lease() -> None:
    l2 = gpucoh.run("stn", protocol="tc-weak[lifetime=300]", scale="tiny").l2
    assert l2["leases"] > 1000
    assert l2["lease_cycles"] == 300 * l2["leases"]


def test_a_lifetime_of_0_leaves_nothing_to_hit() -> None:
    run = gpucoh.run("stn", protocol="tc-weak[lifetime=0]", scale="tiny")
    assert run.correct
    assert run.l2["leases"] > 1000
    assert run.l2["lease_cycles"] == 0
    assert run.l1["load_hits"] == 0


def test_the_predictor_is_the_default() -> None:
    unset = gpucoh.run("stn", protocol="tc-weak", scale="tiny").stats.to_dict()
    asked = gpucoh.run("stn", protocol="tc-weak[lifetime=predicted]", scale="tiny").stats.to_dict()
    assert unset == asked
    assert 0 < unset["l2"]["lease_cycles"] / unset["l2"]["leases"] < 65535


@pytest.mark.parametrize("kernel", [share_and_fence, share_and_release])
def test_stores_shorten_predictions_of_programs_with_fences_executed_or_not(
    kernel: gpucoh.Kernel,
) -> None:
    assert _average(kernel) < _average(share) - 10


@pytest.mark.parametrize("kernel", [count_and_fence, keep_and_fence])
def test_atomics_and_private_stores_shorten_predictions_only_on_request(
    kernel: gpucoh.Kernel,
) -> None:
    wide = "predictor_bounds=width"  # at 800 stores shorten no prediction
    shorter = _average(kernel, f"tc-weak[{wide},predict_down=write]")
    assert shorter < _average(kernel, f"tc-weak[{wide}]") - 10


def test_stores_shorten_predictions_under_both_readings() -> None:
    assert _average(share_and_fence, "tc-weak[predict_down=write]") < _average(share) - 10


@pytest.mark.parametrize(("bounds", "first"), [("reference", 800), ("width", 1024)])
def test_predictions_begin_where_their_bounds_say(bounds: str, first: int) -> None:
    gpu = gpucoh.GPU(protocol=f"tc-weak[predictor_bounds={bounds}]")
    gpu.launch(share, grid=1, block=32, args=(gpu.zeros(64, np.uint32), 1, 0))
    l2 = gpu.stats().l2
    assert l2["lease_cycles"] == first * l2["leases"] > 0


def test_stores_shorten_predictions_to_the_floor_of_their_bounds() -> None:
    """A step of 8 may begin at 801 to 804."""
    assert 800 - 8 <= _average(share_and_fence) <= 804
    assert _average(share_and_fence, "tc-weak[predictor_bounds=width]") < 1024 - 100


def test_the_reference_predictor_stops_at_800_cycles() -> None:
    assert 800 - 64 <= _average(share_and_fence, "tc-weak[predictor=reference]") <= 802

"""``tc-weak[simulator=authors]``: for analysis only. Loads take their values at issue, and answers replace GWCTs."""

from __future__ import annotations

import numpy as np
import pytest

import gpucoh
from gpucoh.device.choices import choose
from gpucoh.fuzz.campaigns import fuzz
from gpucoh.litmus import run_test

LIFETIME = 8000
OWN, AUTHORS = (f"tc-weak[lifetime={LIFETIME},simulator={it}]" for it in ("off", "authors"))


@gpucoh.kernel
def spin(flag: gpucoh.Buffer[gpucoh.u32], seen: gpucoh.Buffer[gpucoh.u32]):
    if gpucoh.block_id() == 0:
        for _ in range(20):
            seen[32] = seen[32] + gpucoh.u32(1)  # until the other block has a lease of the flag
        gpucoh.store(flag, 0, gpucoh.u32(1))
    else:
        spins = gpucoh.u32(0)
        while gpucoh.load(flag, 0) == gpucoh.u32(0):
            spins += gpucoh.u32(1)
        seen[0] = spins


@gpucoh.kernel
def replace_gwct(data: gpucoh.Buffer[gpucoh.u32], out: gpucoh.Buffer[gpucoh.u32]):
    if gpucoh.block_id() == 1:
        out[32] = data[0]  # a lease for the store below
    else:
        for _ in range(20):
            out[0] = out[0] + gpucoh.u32(1)
        gpucoh.store(data, 0, gpucoh.u32(1))
        gpucoh.atomic_add(data, 32, gpucoh.u32(1))  # of a line without a lease
        gpucoh.fence()


def _run(kernel: gpucoh.Kernel, protocol: str) -> tuple[int, int]:
    """Cycles, and the first word of the second buffer."""
    gpu = gpucoh.GPU(protocol=protocol)
    first, second = (gpu.zeros(128, np.uint32) for _ in range(2))
    gpu.launch(kernel, grid=2, block=32, args=(first, second))
    return int(gpu.stats().cycles), int(second[0])


def test_a_spin_does_not_wait_for_its_lease() -> None:
    own, authors = (_run(spin, protocol)[1] for protocol in (OWN, AUTHORS))
    assert 0 < 2 * authors < own


def test_an_answer_replaces_the_time_that_a_fence_waits_for() -> None:
    own, authors = (_run(replace_gwct, protocol)[0] for protocol in (OWN, AUTHORS))
    assert authors < LIFETIME / 2 < LIFETIME < own


def test_it_promises_no_model_and_nothing_varies_it() -> None:
    known = gpucoh.protocols()
    choice = choose(AUTHORS, known)
    assert (choice.model("rc"), choose(OWN, known).model("rc")) == ("none", "RCpc")
    option = known["tc-weak"].options["simulator"]
    assert option.fuzz is None
    assert option.analysis
    assert not any("simulator" in text for text in known["tc-weak"].variations)
    assert gpucoh.run("bh", protocol=AUTHORS, scale="tiny").model == "none"
    assert run_test("MP", AUTHORS, runs=20).ok
    assert not fuzz(AUTHORS, ops=2000).counts


def test_the_explorer_refuses_it() -> None:
    from gpucoh.verify.explorer import verify

    with pytest.raises(gpucoh.ConfigError, match="simulator is for analysis only"):
        verify("tc-weak[simulator=authors]", max_states=1000)

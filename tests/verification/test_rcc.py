"""RCC on the machine: polls of leased copies end, rollovers change no result, counters count what they say."""

from __future__ import annotations

import numpy as np
import pytest

import gpucoh

PROTOCOLS = ("rcc-sc", "rcc-wo")
PATIENCE = 4000
Words = gpucoh.Buffer[gpucoh.i32]


@gpucoh.kernel
def poll_a_warm_copy(flag: Words, tries: Words, patience: gpucoh.i32, weak: gpucoh.i32):
    if gpucoh.block_id() == 0:
        count = 0
        seen = gpucoh.load(flag, 0, order="relaxed")  # a copy, before the other block stores
        while seen == 0 and count < patience:
            count += 1
            if weak > 0:
                seen = flag[0]
            else:
                seen = gpucoh.load(flag, 0, order="relaxed")
        tries[0] = count
    else:
        gpucoh.sleep(2000)
        gpucoh.store(flag, 0, 1, order="relaxed")


def tries(protocol: str, *, weak: bool = False) -> int:
    gpu = gpucoh.GPU(gpucoh.machine("fermi"), protocol=protocol)
    flag, out = gpu.zeros(1, np.int32), gpu.zeros(1, np.int32)
    gpu.launch(poll_a_warm_copy, grid=2, block=32, args=(flag, out, PATIENCE, int(weak)))
    return int(out.numpy()[0])


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_poll_of_a_leased_copy_waits_for_ticks_and_ends(protocol: str) -> None:
    assert tries(f"{protocol}[polls=off,tick=0]") == PATIENCE
    assert tries(f"{protocol}[polls=off,tick=20,predict=off]") < PATIENCE


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_polls_renew_the_copy_weak_loads_later(protocol: str) -> None:
    assert tries(protocol) < PATIENCE / 10
    assert tries(protocol) < tries(protocol, weak=True) < PATIENCE


@gpucoh.kernel
def store_to_a_leased_line(line: Words, out: Words, read: gpucoh.i32):
    if gpucoh.block_id() == 0:
        if read > 0:
            out[0] = line[0]
    else:
        gpucoh.sleep(2000)
        line[0] = 1
        gpucoh.fence()


def cycles_of_a_store(protocol: str, *, leased: bool) -> int:
    gpu = gpucoh.GPU(gpucoh.machine("fermi"), protocol=protocol)
    line, out = gpu.zeros(1, np.int32), gpu.zeros(1, np.int32)
    gpu.launch(store_to_a_leased_line, grid=2, block=32, args=(line, out, int(leased)))
    return gpu.stats().cycles


def test_a_store_never_waits_for_a_lease() -> None:
    temporal = "tc-strong[lifetime=20000]"
    assert cycles_of_a_store(temporal, leased=True) > 20_000
    for protocol in PROTOCOLS:
        leased = cycles_of_a_store(protocol, leased=True)
        assert leased == cycles_of_a_store(protocol, leased=False) < 4000


@pytest.mark.parametrize("workload", ["bh", "dlb"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_timestamps_of_eight_bits_roll_over_and_change_no_result(
    protocol: str, workload: str
) -> None:
    run = gpucoh.run(
        workload, protocol=protocol, scale="tiny", check=True, set={"timestamp_bits": 8}
    )
    assert run.correct
    assert run.rollovers == run.stats["counters"]["L2"]["rollovers"] > 3
    wide = gpucoh.run(workload, protocol=protocol, scale="tiny")
    assert wide.rollovers == 0


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_unchanged_copies_are_renewed_unless_renewal_is_off(protocol: str) -> None:
    on, off = (
        gpucoh.run("bfs", protocol=f"{protocol}[renew={value}]", scale="tiny").stats
        for value in ("on", "off")
    )
    assert on["counters"]["L2"]["renewals"] == on["traffic"]["RENEW"]["messages"] > 0
    assert off["counters"]["L2"]["renewals"] == off["traffic"]["RENEW"]["messages"] == 0
    for stats in (on, off):
        assert stats["counters"]["L2"]["expired_unchanged"] > 0
        assert (
            stats["counters"]["L2"]["expired_unchanged"]
            <= stats["counters"]["L1"]["expired_loads"]
            == stats["l1"]["expired"]
        )


def test_a_tick_that_would_starve_requests_is_refused() -> None:
    with pytest.raises(gpucoh.ConfigError, match=r"tick 3 is too short: .* 4 or more"):
        gpucoh.run("bfs", protocol="rcc-sc[tick=3]", scale="tiny")

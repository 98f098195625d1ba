"""Amounts of a run, by measure: what a bar shows, or is relative to its baseline."""

from __future__ import annotations

import math
from collections.abc import Callable

from gpucoh.report.subjects import RunLike

Amount = Callable[[RunLike], float | None]


def share(part: float, whole: float) -> float | None:
    """A quotient; None of nothing."""
    return part / whole if whole else None


def _defined(rate: float) -> float | None:
    """A rate; None for the NaN of nothing."""
    return None if math.isnan(rate) else rate


def _network_energy(run: RunLike) -> float:
    return float(run.stats.energy["noc_dynamic"] + run.stats.energy["noc_static"])


def order_stall_cycles(run: RunLike) -> tuple[int, int]:
    """Warp cycles of SC stalls behind loads, and behind stores and atomics."""
    core = run.stats.core
    behind_writes = core.order_stall_store_cycles + core.order_stall_atomic_cycles
    return core.order_stall_load_cycles, behind_writes


def _behind_writes(run: RunLike) -> float | None:
    behind_loads, behind_writes = order_stall_cycles(run)
    return share(behind_writes, behind_loads + behind_writes)


def expired_loads(run: RunLike) -> tuple[int, int]:
    """Loads that found an expired copy: those whose line was unchanged at the L2, and all."""
    counters = run.stats.counters
    return counters["L2"]["expired_unchanged"], counters["L1"]["expired_loads"]


# A speedup is the inverse ratio of the amounts, every other measure the ratio.
AMOUNTS: dict[str, Amount] = {
    "speedup": lambda run: run.cycles,
    "traffic": lambda run: run.stats.flits(),
    "noc_energy": _network_energy,
    "noc_power": lambda run: share(_network_energy(run), run.cycles),
    "energy": lambda run: float(run.stats.energy["total"]),
    "sc_stalled": lambda run: _defined(run.stats.core.order_stall_share),
    "sc_behind_writes": _behind_writes,
    "sc_stalls": lambda run: run.stats.core.order_blocked_cycles,
    "stall_latency": lambda run: _defined(run.stats.core.order_stall_latency),
    "expired_loads": lambda run: share(expired_loads(run)[1], run.stats.l1["loads"]),
    "expired_unchanged": lambda run: share(*expired_loads(run)),
    "l1_hit_rate": lambda run: _defined(run.stats.l1.hit_rate),
    "l1_miss_rate": lambda run: _defined(run.stats.l1.miss_rate),
    "store_latency_ratio": lambda run: _defined(
        run.stats.core.store_latency / run.stats.core.load_latency
    ),
}
# Measures of one run, which claims without a baseline state.
OF_ONE_RUN = frozenset({"expired_loads", "l1_hit_rate", "l1_miss_rate", "store_latency_ratio"})

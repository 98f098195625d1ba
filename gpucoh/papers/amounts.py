"""Amounts of a run, by measure: what a bar shows, or is relative to its baseline."""

from __future__ import annotations

from collections.abc import Callable

from gpucoh.report.subjects import RunLike

Amount = Callable[[RunLike], float | None]


def share(part: float, whole: float) -> float | None:
    """A quotient; None of nothing."""
    return part / whole if whole else None


def _network_energy(run: RunLike) -> float:
    return float(run.stats.energy["noc_dynamic"] + run.stats.energy["noc_static"])


def _store_latency_ratio(run: RunLike) -> float | None:
    core = run.stats.core
    if not core["store_instructions"] or not core["load_instructions"]:
        return None
    return share(core.store_latency, core.load_latency)


def order_stall_cycles(run: RunLike) -> tuple[int, int]:
    """Warp cycles of SC stalls behind loads, and behind stores and atomics."""
    core = run.stats.core
    behind_writes = core["order_stall_store_cycles"] + core["order_stall_atomic_cycles"]
    return core["order_stall_load_cycles"], behind_writes


def _behind_writes(run: RunLike) -> float | None:
    behind_loads, behind_writes = order_stall_cycles(run)
    return share(behind_writes, behind_loads + behind_writes)


def _stall_latency(run: RunLike) -> float | None:
    core = run.stats.core
    return share(sum(order_stall_cycles(run)), core["order_stalls"])


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
    "sc_stalled": lambda run: share(run.stats.core["order_stalls"], run.stats.memory_instructions),
    "sc_behind_writes": _behind_writes,
    "sc_stalls": lambda run: run.stats.core["order_blocked_cycles"],
    "stall_latency": _stall_latency,
    "expired_loads": lambda run: share(expired_loads(run)[1], run.stats.l1["loads"]),
    "expired_unchanged": lambda run: share(*expired_loads(run)),
    "l1_hit_rate": lambda run: share(run.stats.l1["load_hits"], run.stats.l1["loads"]),
    "l1_miss_rate": lambda run: share(run.stats.l1["load_misses"], run.stats.l1["loads"]),
    "store_latency_ratio": _store_latency_ratio,
}
# Measures of one run, which claims without a baseline state.
OF_ONE_RUN = frozenset({"expired_loads", "l1_hit_rate", "l1_miss_rate", "store_latency_ratio"})

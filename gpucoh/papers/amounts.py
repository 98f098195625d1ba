"""Amounts of a run, by measure: what a bar shows, or is relative to its baseline."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

from gpucoh.device.gpu import resolve
from gpucoh.papers.memory_amounts import (
    accesses,
    directory_bytes,
    directory_write_bytes,
    message_bytes,
    received_bytes,
    write_requests,
)
from gpucoh.results.energy import COEFFICIENTS, estimate
from gpucoh.results.runs import RunResult

Amount = Callable[[RunResult], float | None]
Parts = Callable[[RunResult], Mapping[str, float]]


def share(part: float, whole: float) -> float | None:
    """A quotient; None of nothing."""
    return part / whole if whole else None


def _defined(rate: float) -> float | None:
    """A rate; None for the NaN of nothing."""
    return None if math.isnan(rate) else rate


def _network_energy(run: RunResult) -> float:
    return float(run.stats.energy["noc_dynamic"] + run.stats.energy["noc_static"])


# DeNovo, section 6: the kinds of network traffic, by message class.
_USES = {
    "read": ("REQ", "LD"),
    "registration": ("REG",),
    "write": ("WB",),
    "atomic": ("ATO",),
}
# DeNovo, section 6: the places of the energy; with a cache go the arrays beside it.
_PLACES = {"core": "core", "scratchpad": "scratchpad", "noc": "network", "l1": "l1", "l2": "l2"}
_DYNAMIC = {
    name: replace(one, value=0.0) if one.unit.partition("/")[0].endswith("W") else one
    for name, one in COEFFICIENTS.items()
}


def flit_crossings(run: RunResult) -> dict[str, int]:
    """Flit crossings (flits times hops) by use: read, registration, write, atomic."""
    by_class = run.stats.flit_hops_by_class()
    return {use: sum(by_class.get(name, 0) for name in names) for use, names in _USES.items()}


def _by_place(joules: Mapping[str, float]) -> dict[str, float]:
    places = dict.fromkeys(_PLACES.values(), 0.0)
    for part, amount in joules.items():
        if part not in ("dram", "total"):
            places[_PLACES[part.partition("_")[0]]] += amount
    return places


def energy_by_place(run: RunResult) -> dict[str, float]:
    """Joules without DRAM by place: core, scratchpad, network, l1, l2."""
    return _by_place(run.stats.energy)


def dynamic_energy_by_place(run: RunResult) -> dict[str, float]:
    """Joules of events alone, without static powers and DRAM, by place, as in DeNovo's figures."""
    protocol = resolve(run.protocol).selected
    joules = estimate(
        run.stats,
        run.configuration,
        networks=protocol.virtual_networks,
        has_l1=protocol.has_l1,
        coefficients=_DYNAMIC,
    )
    return _by_place(joules)


def order_stall_cycles(run: RunResult) -> tuple[int, int]:
    """Warp cycles of SC stalls behind loads, and behind stores and atomics."""
    core = run.stats.core
    behind_writes = core.order_stall_store_cycles + core.order_stall_atomic_cycles
    return core.order_stall_load_cycles, behind_writes


def _stalled_share(run: RunResult) -> float | None:
    """SC stalls per memory operation of any space, as the authors' simulator counts them."""
    core = run.stats.core
    return share(core.order_stalls, core.memory_instructions + core.shared_accesses)


def _miss_rate(run: RunResult) -> float | None:
    """Load misses over hits and misses: MSHRs merge loads before they reach the L1 of the RCC paper's simulator."""
    l1 = run.stats.l1
    return share(l1["load_misses"], l1["load_hits"] + l1["load_misses"])


def _latency_ratio(*kinds: str) -> Amount:
    """The mean latency of these line requests over that of loads.

    As in the RCC paper's simulator it counts from the L1's receipt, without requests that an outstanding one serves.
    """

    def amount(run: RunResult) -> float | None:
        core = run.stats.core
        cycles = sum(core[f"served_{kind}_cycles"] for kind in kinds)
        mean = share(cycles, sum(core[f"served_{kind}s"] for kind in kinds))
        loads = share(core.served_load_cycles, core.served_loads)
        return None if mean is None or loads is None else share(mean, loads)

    return amount


def _share_behind_writes(run: RunResult) -> float | None:
    behind_loads, behind_writes = order_stall_cycles(run)
    return share(behind_writes, behind_loads + behind_writes)


def expired_loads(run: RunResult) -> tuple[int, int]:
    """Loads that found an expired copy: those whose line was unchanged at the L2, and all."""
    counters = run.stats.counters
    return counters["L2"]["expired_unchanged"], counters["L1"]["expired_loads"]


def stall_causes(run: RunResult) -> dict[str, float]:
    """Shares of the SC stall cycles, by the kind of the older access."""
    kinds = ("load", "store", "atomic")
    cycles = {kind: run.stats.core[f"order_stall_{kind}_cycles"] for kind in kinds}
    every = sum(cycles.values())
    return {kind: part / every for kind, part in cycles.items()} if every else {}


def expired_shares(run: RunResult) -> dict[str, float]:
    """Shares of the loads that found an expired copy: unchanged at the L2, and changed."""
    unchanged, every = expired_loads(run)
    loads = run.stats.l1.loads
    return {"unchanged": unchanged / loads, "changed": (every - unchanged) / loads} if loads else {}


def _coherence_bytes(run: RunResult) -> float:
    """Bytes that a protocol adds: messages about epochs, and the timestamp of every read request."""
    requests = sum(kind.messages for kind in run.stats.traffic.values() if kind["class"] == "REQ")
    timed = resolve(run.protocol).protocol.json["keeps_time"]
    stamps = requests * run.configuration["timestamp_bits"] / 8 if timed else 0.0
    return message_bytes(run, lambda kind, _: kind["class"] == "EPOCH") + float(stamps)


def _bandwidth(ours: RunResult, base: RunResult) -> float | None:
    """1 + the bytes that a protocol adds over all bytes of the baseline (STC, figure 11 and section 7.5)."""
    return share(message_bytes(base) + _coherence_bytes(ours), message_bytes(base))


def _added_bytes(ours: RunResult, base: RunResult) -> float | None:
    """The bytes that a protocol adds over all bytes of the baseline, by which STC's protocols are compared."""
    return share(_coherence_bytes(ours), message_bytes(base))


def _per_core(counter: str) -> Amount:
    """A counter of the L1s over their number."""

    def amount(run: RunResult) -> float | None:
        found = run.stats.counters["L1"].get(counter)
        return None if found is None else found / run.configuration["cores"]

    return amount


def epoch_unit(run: RunResult) -> Mapping[str, int]:
    """The counters of STC's epoch unit; empty under other protocols."""
    return run.stats.counters.get("EMU", {})


def _cycles_of_changes(kind: str) -> Amount:
    """Mean core cycles of ``changes`` or ``idle_changes`` of epochs."""

    def amount(run: RunResult) -> float | None:
        unit = epoch_unit(run)
        return share(unit[f"{kind[:-1]}_cycles"], unit[kind]) if unit else None

    return amount


def _queued_at_changes(run: RunResult) -> float | None:
    """Mean entries of a CU's blocked-store queue when an epoch begins."""
    unit, entries = epoch_unit(run), _per_core("bsq_at_changes")(run)
    return share(entries, unit["changes"]) if unit and entries is not None else None


def _queued(run: RunResult) -> float | None:
    """Mean entries of a CU's blocked-store queue over the cycles of the launches."""
    entries = _per_core("bsq_cycles")(run)
    return None if entries is None else share(entries, run.cycles)


def _power(part: str) -> Amount:
    """The mean power of a part of the energy, in joules a cycle."""
    return lambda run: share(float(run.stats.energy[part]), run.cycles)


# QuickRelease, section 5.5: shares of a GPU's power.
_MEMORY_SHARE, _NETWORK_SHARE = 0.3, 0.1


def _inferred_power(ours: RunResult, base: RunResult) -> float | None:
    """The power that section 5.5 of QuickRelease infers from accesses to DRAM and bytes received by the L1s."""
    bytes_of = [sum(received_bytes(run).values()) for run in (ours, base)]
    memory = share(sum(accesses(ours).values()), sum(accesses(base).values()))
    network = share(*bytes_of)
    if memory is None or network is None:
        return None
    rest = 1 - _MEMORY_SHARE - _NETWORK_SHARE
    return rest + _MEMORY_SHARE * memory + _NETWORK_SHARE * network


# A measure that no amount of one run gives: of a run relative to another.
RELATIVE: dict[str, Callable[[RunResult, RunResult], float | None]] = {
    "bandwidth": _bandwidth,
    "added_bytes": _added_bytes,
    "inferred_power": _inferred_power,
}
# A speedup is the inverse ratio of the amounts, every other measure the ratio.
AMOUNTS: dict[str, Amount] = {
    "speedup": lambda run: run.cycles,
    "time": lambda run: run.cycles,
    "traffic": lambda run: run.stats.flits(),
    "flit_crossings": lambda run: sum(flit_crossings(run).values()),
    "noc_energy": _network_energy,
    "noc_power": lambda run: share(_network_energy(run), run.cycles),
    "energy": lambda run: float(run.stats.energy["total"]),
    "energy_without_dram": lambda run: sum(energy_by_place(run).values()),
    "dynamic_energy": lambda run: sum(dynamic_energy_by_place(run).values()),
    "sc_stalled": _stalled_share,
    "sc_behind_writes": _share_behind_writes,
    "sc_stalls": lambda run: run.stats.core.order_blocked_cycles,
    "stall_latency": lambda run: _defined(run.stats.core.order_stall_latency),
    "expired_loads": lambda run: share(expired_loads(run)[1], run.stats.l1["loads"]),
    "expired_unchanged": lambda run: share(*expired_loads(run)),
    "l1_hit_rate": lambda run: _defined(run.stats.l1.hit_rate),
    "l1_miss_rate": _miss_rate,
    "store_latency_ratio": _latency_ratio("store"),
    "write_latency_ratio": _latency_ratio("store", "atomic"),
    "instruction_latency_ratio": lambda run: _defined(
        run.stats.core.store_latency / run.stats.core.load_latency
    ),
    "epoch_changes": lambda run: epoch_unit(run).get("changes"),
    "change_cycles": _cycles_of_changes("changes"),
    "idle_change_cycles": _cycles_of_changes("idle_changes"),
    "band_steps": lambda run: epoch_unit(run).get("seb_steps"),
    "queued": _queued,
    "queued_at_changes": _queued_at_changes,
    "queued_most": _per_core("bsq_most"),
    "uncached_loads": lambda run: share(
        run.stats.counters["L1"].get("uncached_loads", 0), run.stats.l1["loads"]
    ),
    "written_hit_rate": lambda run: share(
        run.stats.counters["L1"].get("hits_written", 0), run.stats.l1["loads"]
    ),
    "directory_bytes": directory_bytes,
    "directory_write_bytes": directory_write_bytes,
    "dram_accesses": lambda run: sum(accesses(run).values()),
    "dram_reads": lambda run: run.stats.dram.reads,
    "dram_write_requests": write_requests,
    "l1_bytes": lambda run: sum(received_bytes(run).values()),
    "l1_data_bytes": lambda run: received_bytes(run)["data"],
    "power": _power("total"),
    "dram_power": _power("dram"),
}
# Amounts by part, which figures stack.
PARTS: dict[str, Parts] = {
    "dram_accesses": accesses,
    "dynamic_energy": dynamic_energy_by_place,
    "expired_shares": expired_shares,
    "flit_crossings": flit_crossings,
    "received_bytes": received_bytes,
    "stall_causes": stall_causes,
}
# Digits after the point, instead of 2, of measures whose differences are small.
_WHOLE = ("states", "states_total", "storage_bits", "storage_entries")
_DIGITS = {"bandwidth": 4, "epoch_changes": 4, **dict.fromkeys(_WHOLE, 0)}
# Measures of one run, which claims without a baseline state.
OF_ONE_RUN = frozenset(
    {
        "change_cycles",
        "expired_loads",
        "idle_change_cycles",
        "instruction_latency_ratio",
        "l1_hit_rate",
        "l1_miss_rate",
        "queued",
        "queued_at_changes",
        "queued_most",
        "store_latency_ratio",
        "uncached_loads",
        "write_latency_ratio",
        "written_hit_rate",
    }
)


def digits(measure: str) -> int:
    """Digits after the point with which tables show a measure."""
    return _DIGITS.get(measure, 2)

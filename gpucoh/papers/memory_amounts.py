"""Bytes of messages, and accesses to DRAM: what figures 6 to 9 of the QuickRelease paper count."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gpucoh.device.gpu import resolve
from gpucoh.results.runs import RunResult

# Whether a message type, on its network, is meant.
Wanted = Callable[[Mapping[str, Any], Mapping[str, Any]], bool]


def _kinds(run: RunResult) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """The message types of a run, and their networks."""
    described = resolve(run.protocol).selected.json
    return ((kind, described["networks"][kind["network"]]) for kind in described["messages"])


def message_bytes(run: RunResult, wanted: Wanted = lambda kind, network: True) -> float:
    """Bytes of some of the protocol's messages, or of all: headers and payloads, whatever the links' width."""
    traffic = run.stats.traffic
    return float(
        sum(traffic[kind["name"]].bytes for kind, network in _kinds(run) if wanted(kind, network))
    )


def directory_bytes(run: RunResult) -> float:
    """Bytes between the L2 and the memory side, both ways (figure 6)."""
    return message_bytes(run, lambda _, network: network["star"])


def directory_write_bytes(run: RunResult) -> float:
    """Bytes of stores and blocks that the L2 passes to the memory side."""
    return message_bytes(
        run,
        lambda kind, network: (
            network["star"] and network["requests"] and kind["class"] in ("ST", "WB")
        ),
    )


def received_bytes(run: RunResult) -> dict[str, float]:
    """Bytes that arrive at the L1s (figure 8): data, and invalidations, of which a multicast has one an L1."""
    data = message_bytes(
        run,
        lambda kind, network: (
            not network["star"] and not network["requests"] and kind["class"] in ("LD", "ATO")
        ),
    )
    sent = run.stats.counters["L2"].get("invalidations_sent", 0)
    size = next((kind["fixed_bytes"] for kind, _ in _kinds(run) if kind["class"] == "INV"), 0)
    return {"data": data, "invalidations": float(sent * size)}


def accesses(run: RunResult) -> dict[str, int]:
    """Accesses of lines in DRAM (figure 9): reads, and writes, the CPU's lines among them."""
    return {"reads": run.stats.dram.reads, "writes": run.stats.dram.writes}


def write_requests(run: RunResult) -> int:
    """The GPU's writes at DRAM (figure 7): not those of lines that the CPU's cache gives up."""
    transfers = run.stats.cpu.transfers if "cpu" in run.stats else 0
    return int(run.stats.dram.writes - transfers)

"""The RCC paper's figures, its table of states and its storage."""

from __future__ import annotations

from collections.abc import Sequence

from gpucoh.papers import drawing
from gpucoh.papers.amounts import expired_loads
from gpucoh.papers.descriptions import state_rows, storage_rows
from gpucoh.papers.drawing import by_workload, stacked
from gpucoh.papers.panels import Draw, FigureSpec, Spec, TableSpec
from gpucoh.papers.rcc_counts import SC_BASELINE as MESI
from gpucoh.results.runs import RunResult

TCS = "tc-strong[consistency=sc]"
SEQUENTIAL = (MESI, TCS, "rcc-sc")
# Section IV.C: a block of 128 bytes with a tag of perhaps 3 bytes.
_BLOCK_BITS = 8 * (128 + 3)


def _causes(run: RunResult) -> dict[str, float]:
    """Shares of the SC stall cycles, by the kind of the older access."""
    cycles = {
        kind: run.stats.core[f"order_stall_{kind}_cycles"] for kind in ("load", "store", "atomic")
    }
    every = sum(cycles.values())
    return {kind: part / every for kind, part in cycles.items()} if every else {}


def _expired(run: RunResult) -> dict[str, float]:
    """Shares of the loads that found an expired copy: unchanged at the L2, and changed."""
    unchanged, every = expired_loads(run)
    loads = run.stats.l1.loads
    return {"unchanged": unchanged / loads, "changed": (every - unchanged) / loads} if loads else {}


_stalled = by_workload(sc_stalled="share of memory operations")
_behind = stacked(
    _causes,
    {
        "load": ("LD", "behind a load"),
        "store": ("ST", "behind a store"),
        "atomic": ("ATO", "behind an atomic"),
    },
    "share of SC stall cycles",
)
_latencies = by_workload(
    store_latency_ratio="store latency / load latency",
    write_latency_ratio="store and atomic latency / load latency",
    instruction_latency_ratio="store latency / load latency, of instructions",
)
_speedups = by_workload(speedup="speedup over {base}")
_expirations = stacked(
    _expired,
    {
        "changed": ("INV", "written since"),
        "unchanged": ("REQ", "unchanged at the L2"),
    },
    "share of loads",
)
_fewer = by_workload(expired_loads="expired loads relative to {base}")
_resolved = by_workload(
    sc_stalls="SC stall cycles relative to {base}",
    stall_latency="SC stall latency relative to {base}",
)


def _figures() -> tuple[Spec, ...]:
    every = (*SEQUENTIAL, "tc-weak")
    weak = ("rcc-sc", "rcc-wo", "tc-weak")
    renewal = ("rcc-sc[renew=0]", "rcc-sc[renew=1]")
    prediction = ("rcc-sc[predict=0]", "rcc-sc[predict=1]")
    both = "inter intra"
    d = drawing
    rows: list[tuple[str, str, str, Sequence[str], str, str, Draw]] = [
        ("1a", "Memory operations stalled for SC", both, (MESI,), "", "sc_stalled", _stalled),
        ("1b", "Causes of SC stalls", both, (MESI,), "", "sc_behind_writes", _behind),
        (
            "1c",
            "Store latency",
            both,
            (MESI,),
            "",
            "store_latency_ratio write_latency_ratio instruction_latency_ratio",
            _latencies,
        ),
        ("1d", "Ideal SC", both, (MESI, "sc-ideal"), MESI, "speedup", _speedups),
        (
            "6",
            "Loads that find an expired copy",
            both,
            ("rcc-sc",),
            "",
            "expired_loads expired_unchanged",
            _expirations,
        ),
        ("7a", "Lease renewal", both, renewal, renewal[0], "traffic", d.traffic),
        ("7b", "Lease prediction", both, prediction, prediction[0], "expired_loads", _fewer),
        ("8", "SC stalls", "inter", SEQUENTIAL, MESI, "sc_stalls stall_latency", _resolved),
        ("9a", "Performance", both, every, MESI, "speedup", _speedups),
        ("9b", "Interconnect energy", both, every, MESI, "noc_energy", d.network_energy),
        ("9c", "Interconnect traffic", both, every, MESI, "traffic", d.traffic),
        ("10", "Weak ordering", both, weak, "rcc-sc", "speedup", _speedups),
    ]
    figures = (
        FigureSpec(
            id=i,
            title=title,
            groups=tuple(groups.split()),
            protocols=tuple(names),
            baseline=baseline,
            measures=tuple(measures.split()),
            mean="geometric" if i == "1c" else "arithmetic",
            draw=draw,
        )
        for i, title, groups, names, baseline, measures, draw in rows
    )
    return (
        *figures,
        TableSpec(id="table-V", title="States and transitions (table V)", rows=state_rows),
        TableSpec(
            id="storage",
            title="Storage of timestamps (section IV.C)",
            rows=lambda paper: storage_rows(paper, _BLOCK_BITS),
        ),
    )


FIGURES = _figures()

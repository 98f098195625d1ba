"""The QuickRelease paper's figures, its estimate of power, and the storage of its table 1."""

from __future__ import annotations

from gpucoh.papers.descriptions import structure_rows
from gpucoh.papers.drawing import by_size, by_workload, stacked_over_baseline
from gpucoh.papers.memory_amounts import accesses, received_bytes
from gpucoh.papers.panels import Draw, FigureSpec, Spec, TableSpec

_NO_L1, _WT, _RFO, _QR = "no-l1[l2=through]", "wt", "rfo", "qr"
# Workloads are ordered by their re-use of L1 copies under rfo (section 5.1).
_REUSE = ("l1_hit_rate", _RFO)
_SMALLER = (256, 64, 16, 4, 1)

_received = stacked_over_baseline(
    received_bytes,
    {"data": ("LD", "data"), "invalidations": ("INV", "invalidations")},
    "bytes received by the L1s,\nrelative to {base}",
)
_accesses = stacked_over_baseline(
    accesses,
    {"reads": ("LD", "reads"), "writes": ("ST", "writes")},
    "DRAM accesses relative to {base}",
)


def _of_base(**labels: str) -> Draw:
    """Bars by workload, relative to the figure's baseline."""
    return by_workload(
        **{measure: f"{text}\nrelative to {{base}}" for measure, text in labels.items()}
    )


def _figures() -> tuple[Spec, ...]:
    written = by_workload(written_hit_rate="L1 hits on lines written here,\nof all loads")
    reuse = by_workload(l1_hit_rate="L1 hits, of all loads")
    time = by_workload(time="execution time relative to {base}")
    directory = _of_base(directory_bytes="bytes between L2 and directory")
    requests = _of_base(dram_write_requests="write requests at DRAM")
    inferred = _of_base(
        dram_accesses="memory: DRAM accesses",
        l1_bytes="network: bytes received by the L1s",
        inferred_power="power",
    )
    modelled = _of_base(dram_power="power of DRAM", noc_power="power of the network", power="power")
    every, pair = (_NO_L1, _WT, _RFO, _QR), (_WT, _QR)
    rows: list[tuple[str, str, tuple[str, ...], str, str, Draw]] = [
        ("3", "L1 read-after-write re-use", (_RFO,), "", "written_hit_rate", written),
        ("4", "L1 read re-use", (_RFO,), "", "l1_hit_rate", reuse),
        ("5", "Execution time", every, _NO_L1, "time", time),
        ("6", "L2 to directory bandwidth", every, _NO_L1, "directory_bytes", directory),
        ("7", "Write requests at DRAM", (_NO_L1, _WT, _QR), _NO_L1, "dram_write_requests", requests),
        ("8", "Messages received at the L1", pair, _WT, "l1_bytes l1_data_bytes", _received),
        ("9", "DRAM accesses", every, _NO_L1, "dram_accesses dram_reads", _accesses),
        ("5.5a", "Power, inferred as in section 5.5", pair, _WT, "dram_accesses l1_bytes inferred_power", inferred),
        ("5.5b", "Power by the energy model", pair, _WT, "dram_power noc_power power", modelled),
    ]  # fmt: skip
    speedup = by_size(speedup="speedup over {base}")
    return (
        *(
            FigureSpec(
                id=i,
                title=title,
                groups=("all",),
                protocols=names,
                baseline=baseline,
                measures=tuple(measures.split()),
                draw=draw,
                order=_REUSE,
            )
            for i, title, names, baseline, measures, draw in rows
        ),
        FigureSpec(
            id="10",
            title="Scalability by size of the input",
            groups=("sized",),
            protocols=every,
            baseline=_NO_L1,
            measures=("speedup",),
            draw=speedup,
            input="scaling",
            smaller=_SMALLER,
        ),
        TableSpec(id="table-1", title="Storage (table 1, sections 1, 3.1)", rows=structure_rows),
    )


FIGURES = _figures()

"""The DeNovo paper's figures, its states of a word and the storage of its section 4.2."""

from __future__ import annotations

from gpucoh.papers.amounts import dynamic_energy_by_place, flit_crossings
from gpucoh.papers.descriptions import state_rows, storage_rows
from gpucoh.papers.drawing import by_workload, stacked_over_baseline
from gpucoh.papers.panels import Draw, FigureSpec, Spec, TableSpec

CONFIGURATIONS = ("gpu-drf", "gpu-hrf", "denovo-drf", "denovo-ro", "denovo-hrf")
_GPU, _DENOVO = "gpu-drf", "denovo-drf"
_LINE_BITS = 8 * 64

_time = by_workload(time="execution time relative to {base}")
_energy = stacked_over_baseline(
    dynamic_energy_by_place,
    {
        "core": ("core", "cores"),
        "scratchpad": ("arrays", "scratchpads"),
        "l1": ("l1", "L1"),
        "l2": ("l2", "L2"),
        "network": ("noc_dynamic", "network"),
    },
    "dynamic energy relative to {base}",
)
_traffic = stacked_over_baseline(
    flit_crossings,
    {
        "read": ("LD", "reads"),
        "registration": ("REG", "registrations"),
        "write": ("WB", "write-backs and write-throughs"),
        "atomic": ("ATO", "atomics"),
    },
    "flit crossings relative to {base}",
)


def _figures() -> tuple[Spec, ...]:
    figures = (
        ("2", "nosync", (_GPU, _DENOVO), _DENOVO),
        ("3", "global", (_GPU, _DENOVO), _GPU),
        ("4", "local", CONFIGURATIONS, _GPU),
    )
    parts: tuple[tuple[str, str, str, Draw], ...] = (
        ("a", "Execution time", "time", _time),
        ("b", "Dynamic energy", "energy", _energy),
        ("c", "Network traffic", "traffic", _traffic),
    )
    return (
        *(
            FigureSpec(
                id=number + letter,
                title=title,
                groups=(group,),
                protocols=protocols,
                baseline=baseline,
                measures=(measure,),
                draw=draw,
            )
            for number, group, protocols, baseline in figures
            for letter, title, measure, draw in parts
        ),
        TableSpec(id="states", title="States of a word at the L1 (section 3)", rows=state_rows),
        TableSpec(
            id="storage",
            title="Storage of states (section 4.2)",
            rows=lambda paper: storage_rows(paper, _LINE_BITS),
        ),
    )


FIGURES = _figures()

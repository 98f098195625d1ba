"""The figures and tables of each paper, read from the package's ``figures_<paper>.toml``, whose first describes the
schema.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import partial
from importlib.resources import files
from typing import Any

from gpucoh.figures.plots import CLASSES, energy_parts, flits
from gpucoh.papers import drawing
from gpucoh.papers.amounts import PARTS
from gpucoh.papers.claims import papers
from gpucoh.papers.descriptions import ROWS
from gpucoh.papers.drawing import FLITS, NETWORK, by_workload, stacked
from gpucoh.papers.lifetimes import lifetimes
from gpucoh.papers.panels import Draw, FigureSpec, Spec, TableSpec

# The drawings of figures that are neither plain bars by workload nor plain parts.
DRAWINGS: dict[str, Draw] = {
    "lifetimes": lifetimes,
    "mean_speedups": drawing.mean_speedups,
    "mean_traffic": drawing.mean_traffic,
    "network_energy": stacked(energy_parts(list(NETWORK)), NETWORK, "energy relative to {base}"),
    "power_and_energy": drawing.power_and_energy,
    "traffic": stacked(flits, CLASSES, FLITS),
    "workload_traffic": drawing.workload_traffic,
}


def _read(paper: str) -> tuple[Spec, ...]:
    path = files("gpucoh.papers").joinpath(f"figures_{paper}.toml")
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return (*(_figure(data, row) for row in data["figure"]), *map(_table, data.get("table", ())))


def _figure(data: Mapping[str, Any], row: Mapping[str, Any]) -> FigureSpec:
    sets, bars = data.get("sets", {}), data.get("bars", {}).get(row["draw"])
    order = tuple(row.get("order", data.get("order", "")).split())
    measures = data.get("measures") or row.get("measures") or " ".join(bars)
    given = {name: row[name] for name in ("mean", "machine", "input") if name in row}
    return FigureSpec(
        id=row["id"],
        title=row["title"],
        groups=tuple(row["groups"].split()),
        protocols=tuple(
            one for name in row["protocols"].split() for one in sets.get(name, name).split()
        ),
        baseline=row["baseline"],
        draw=_draw(data, row["draw"]),
        measures=tuple(measures.split()),
        order=order or None,
        smaller=tuple(row.get("smaller", (1,))),
        **given,
    )


def _draw(data: Mapping[str, Any], name: str) -> Draw:
    if name in data.get("bars", {}):
        return by_workload(data["bars"][name])
    if name in data.get("parts", {}):
        given = data["parts"][name]
        return stacked(PARTS[given["of"]], given["kinds"], given["label"])
    return DRAWINGS[name]


def _table(row: Mapping[str, Any]) -> TableSpec:
    rows, more = ROWS[row["rows"]], {name: row[name] for name in ("line_bits",) if name in row}
    return TableSpec(id=row["id"], title=row["title"], rows=partial(rows, **more))


FIGURES: Mapping[str, tuple[Spec, ...]] = {paper: _read(paper) for paper in papers()}

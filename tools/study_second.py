"""Write docs/second-set.md: the study's second set of programs beside the first, by rank correlation of the protocols.

The first set are the workloads of the matrix small on fermi, the second the programs of studies/second-set.csv
(second_set.py). A protocol's place is that of its mean speedup over no-l1, over the programs that all protocols but the
bounds computed right; its interval is by resamples of the programs of both sets.
"""

from __future__ import annotations

from pathlib import Path

import generated
import numpy as np
import pandas as pd
import study_page
from generated import table
from numpy.typing import NDArray
from pages import ROOT
from study_evidence import Evidence, Place, Vector, correlated, order, shown

from gpucoh.studies.intervals import resampled

PAGE, STORE = ROOT / "docs" / "second-set.md", ROOT / "studies" / "second-set.csv"
BASELINE, BOUNDS = "no-l1", ("no-coh", "ideal", "sc-ideal")
APART = 3
#: What a program is of, as the store names it -> as the page does.
KINDS = {
    "gpu-rodinia": "Rodinia",
    "polybenchGpu": "Polybench",
    "suite": "`ht`, `mst`, `pr`",
    "examples": "examples",
}


def stored(path: Path = STORE) -> pd.DataFrame:
    """The rows of the second set under protocols that are no bounds."""
    rows = pd.read_csv(path, keep_default_na=False)
    return rows[~rows["protocol"].isin(BOUNDS)]


def speeds(rows: pd.DataFrame) -> dict[str, Vector]:
    """Protocol -> the logarithm of its mean speedup, and in each resample of the programs that are right under all."""
    wrong = rows.loc[rows["why"].ne(""), "program"]
    rows = rows[~rows["program"].isin(wrong)]
    table = rows.pivot(index="protocol", columns="program", values="cycles")
    names = list(table.index)
    cycles = np.log(table.to_numpy(dtype=float))
    logs = cycles[names.index(BASELINE)] - cycles
    found = np.column_stack([logs.mean(axis=1), resampled(logs[..., None])])
    return dict(zip(names, found, strict=True))


def both(evidence: Evidence, rows: pd.DataFrame) -> tuple[dict[str, Vector], dict[str, Vector]]:
    """Protocol -> its mean speedup in the first and in the second set, of those that both have."""
    second = speeds(rows)
    first = evidence.speeds(list(second))
    names = [name for name in second if name in first]
    return (
        {name: first[name] - first[BASELINE] for name in names},
        {name: second[name] for name in names},
    )


def correlation(first: dict[str, Vector], second: dict[str, Vector]) -> str:
    """A rank correlation with its interval."""
    found: NDArray[np.float64] = correlated(order(first), order(second))
    low, high = np.nanpercentile(found[1:], (2.5, 97.5))
    return f"{found[0]:.2f} ({low:.2f} to {high:.2f})"


def apart(names: list[str], one: Vector, two: Vector, places: dict[str, dict[str, float]]) -> str:
    """The protocols whose places are apart, and the kind of program that decides it."""
    found = []
    for k, name in enumerate(names):
        if abs(one[k] - two[k]) >= APART:
            kind = max(KINDS, key=lambda kind: abs(places[kind][name] - one[k]))
            found.append(
                f"`{name}` is {one[k]:.0f} with the workloads and {two[k]:.0f} here ({KINDS[kind]}: "
                f"{places[kind][name]:.0f})"
            )
    return (
        f"Places that are {APART} or more apart, with the kind of program that is the farthest from the workloads' "
        f"place: {'; '.join(found)}."
    )


def sentences(evidence: Evidence) -> str:
    """The page's part."""
    rows = stored()
    first, second = both(evidence, rows)
    kinds = {kind: rows[rows["set"].eq(kind)] for kind in KINDS}
    of_kinds = [
        f"{KINDS[kind]} {correlation(*both(evidence, part))}" for kind, part in kinds.items()
    ]
    one, two = order(first)[:, 0], order(second)[:, 0]
    places = {
        kind: dict(
            zip(second, order({name: speeds(part)[name] for name in second})[:, 0], strict=True)
        )
        for kind, part in kinds.items()
    }
    programs = rows["program"].nunique()
    found = correlation(first, second)
    text = (
        f"The rank correlation of the mean speedups of {len(second)} protocols over `no-l1`, on "
        f"{len(evidence.workloads)} workloads and on {programs} such programs, is {found}; protocols with a failed run "
        f"are left out. By kind of program: {'; '.join(of_kinds)}. The last columns have the places by kind.\n\n"
        f"{apart(list(second), one, two, places)}"
    )
    cells = [
        (
            f"`{name}`",
            shown(first[name]),
            f"{one[k]:.0f}",
            shown(second[name]),
            f"{two[k]:.0f}",
            *(f"{places[kind][name]:.0f}" for kind in KINDS),
        )
        for k, name in enumerate(first)
    ]
    cells.sort(key=lambda row: int(row[2]))
    head = ("", "first set", "place", "second set", "place", *KINDS.values())
    return f"{text}\n\n{table(head, cells)}"


def parts() -> dict[str, generated.Maker]:
    """Name of a part of the page -> its maker."""
    study = study_page.tree()
    return {"second": lambda: sentences(Evidence(study.tables, Place("small")))}


if __name__ == "__main__":
    generated.rewrite_named(PAGE, parts())

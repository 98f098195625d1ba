"""Write the numbers and figures of docs/study.md from a store: ``study_page.py [STORE.parquet]``.

The store is that of studies/ideas.toml (default: build/ideas.parquet; without it studies/ideas-tables.parquet, which
the tree has). What the tables need of it is written to that file. `tools/stored_pages.py` compares the page with the
tree's store.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import generated
import numpy as np
import pandas as pd
import study_figures
import study_findings
from generated import table
from matplotlib.figure import Figure
from pages import ROOT
from study_evidence import Place
from study_sentences import CHANGED, Reader, fates

from gpucoh.results.energy import TERM
from gpucoh.studies.matrices import Description
from gpucoh.studies.tabulation import Tables

PAGE = ROOT / "docs/study.md"
FILE = ROOT / "studies/ideas.toml"
KEPT = ROOT / "studies/ideas-tables.parquet"
FIGURES = ROOT / "docs/figures"
LARGEST = 800_000  # bytes of the tree's store
ENERGY = ("small", "pairs")  # matrices whose amounts of energy the tree's store has
FIGURE_TEXTS = {
    "study-pairs": "Cycles without an idea over cycles with it: mean, interval (thick), extreme workloads (thin)",
    "study-machines": "The same by machine: bold where the interval excludes 1",
    "study-speedup": "Mean speedup over no L1 on `fermi`, scale small",
    "study-scaling": "Mean speedup over no L1 by number of cores",
    "study-tuning": "What tuning gives: on workloads that did not choose (dot, interval), and in hindsight (ring)",
}

BUSY = ("presets", "fixed", "grown", "bandwidth")  # matrices of the table of busiest parts
_WHAT = (
    *("key", "matrix", "workload", "protocol", "protocol_id", "machine", "consistency", "own_rule"),
    *("cores", "scale", "seed", "model", "correct", "verdict", "error", "where", "mismatches"),
    *(
        "version",
        "code",
        "cycles",
        "flits",
        "requests",
        "requests_lost",
        "cpu_s",
        "busiest",
        "busiest_share",
    ),
)


def compact(
    rows: pd.DataFrame, path: Path, more: tuple[str, ...] = (), energy: tuple[str, ...] = ()
) -> None:
    """Write what the tables need, small: amounts of energy with 12 bits, reasons with 60 characters.

    ``more`` has the beginnings of further columns, ``energy`` the matrices whose amounts are kept (none: all).
    """
    names = [
        str(name)
        for name in rows
        if name in _WHAT or str(name).startswith(("flits_", TERM, "share_", *more))
    ]
    out = rows.loc[rows["matrix"].fillna("").ne(""), names].copy()
    out["where"] = out["where"].fillna("").str.slice(0, 60)
    for name in ("cpu_s", "busiest_share"):
        if name in out:
            out[name] = out[name].astype("float32").round(3)
    for name in names:
        if name.startswith(TERM):
            out[name] = shortened(out[name])
    out["key"] = out["key"].str.slice(0, 12)
    terms = [name for name in names if name.startswith(TERM)]
    if energy:
        of_energy = out["matrix"].str.split(",").map(lambda found: bool(set(found) & set(energy)))
        out.loc[~of_energy, terms] = np.nan
    # Gaps repeat for each workload and seed: one of each is enough for the table.
    gap = out["error"].eq("Gap")
    first = out[gap].drop_duplicates(["matrix", "machine", "cores", "protocol", "consistency"])
    out = pd.concat([out[~gap], first]).sort_values(
        ["matrix", "protocol", "machine", "workload", "seed"], ignore_index=True
    )
    out.to_parquet(
        path,
        compression="zstd",
        compression_level=19,
        index=False,
        use_dictionary=[name for name in names if name not in (*terms, "key", "cycles", "cpu_s")],
        use_byte_stream_split=terms,
    )


def shortened(amounts: pd.Series[float]) -> pd.Series[float]:
    """Amounts with 12 bits of their fraction, 0.02% of the value: the store is half as large."""
    bits = amounts.astype("float32").to_numpy().view(np.uint32)
    return pd.Series(((bits + 0x400) & 0xFFFFF800).view(np.float32), index=amounts.index)


class Page:
    """The generated parts of the page."""

    def __init__(self, tables: Tables, planned: int) -> None:
        self.tables, self.planned = tables, planned
        rows = tables.rows
        self.runs = rows[rows["error"].ne("Gap")].drop_duplicates("key")
        self.reader = Reader(tables)
        self.pairs = tables.pairs()
        if self.pairs.empty:
            self.pairs = pd.DataFrame(columns=["matrix", "what", "effect", "low", "high"])
        self.fates = fates(self.reader)

    def design(self) -> str:
        """How many runs, what became of them, and what limits them."""
        runs = self.runs  # a run of several matrices counts once
        failed = runs["error"].notna()
        wrong = runs[~runs["good"] & ~failed]
        promised = wrong[wrong["model"].ne("none")]
        cut = "" if len(runs) >= self.planned else f" of the {self.planned:,} that the file lists"
        found = self.tables.busiest()
        busy = found["limited"].sum() / found["cells"].sum()
        text = (
            f"{len(runs):,} runs{cut} took {runs['cpu_s'].sum() / 60:.0f} minutes of a processor. "
            f"{int(failed.sum())} failed, {len(wrong)} are wrong, {len(promised)} of them under a protocol that "
            f"promises a memory model.\n\nIn {busy:.0%} of the cells one part of the machine is busy in more than half "
            "of the cycles (*so busy*). The other columns say which part is the busiest, in what share of the cells:"
        )
        names = sorted(set(found["busiest"]))
        head = ("machine", "cells", "so busy", *(f"`{part}`" for part in names))
        rows = []
        for (matrix, machine, cores), group in found.groupby(["matrix", "machine", "cores"]):
            if matrix in BUSY:
                total = group["cells"].sum()
                parts = group.set_index("busiest")["cells"].reindex(names, fill_value=0)
                where = f"`{machine}`" if matrix == "presets" else f"`{matrix}`, {cores} cores"
                shares = (f"{one / total:.0%}" if one else "" for one in parts)
                rows.append((where, str(total), f"{group['limited'].sum() / total:.0%}", *shares))
        return f"{text}\n\n{table(head, rows)}"

    def found(self) -> str:
        """What the study finds, each sentence with its interval."""
        return "\n".join(f"- {line}" for line in study_findings.found(self.reader, self.pairs))

    def fallen(self) -> str:
        """What became of each sentence of 0.3.0."""
        rows = []
        for one in self.fates:
            share = "-" if one.again.share != one.again.share else f"{one.again.share:.2f}"
            where = ", ".join(one.contrary[:4]) + (" .." if len(one.contrary) > 4 else "")
            places = f"{len(one.contrary)} of {one.places}" + (f": {where}" if where else "")
            rows.append(
                (
                    *(one.text, one.then, one.again.text, places if one.places else "-", share),
                    "stands" if one.word == "stands" else f"**by {one.word}**",
                )
            )
        head = ("sentence of 0.3.0", "0.3.0", "again", "contrary on", "in resamples", "fate")
        return table(head, rows)

    def counts(self) -> str:
        """How many sentences fell, by what."""
        words = [one.word for one in self.fates]
        return (
            f"Of {len(words)} sentences {words.count('stands')} stand; {words.count('port')} fell by port, "
            f"{words.count('proportion')} by proportion, {words.count('interval')} by interval."
        )

    def winners(self) -> str:
        """Winners by class and machine: of a class that is not decided, the number of those that remain."""
        regret = self.reader.regret
        regret = regret[regret["matrix"].isin(["small", "paper", "tiny", "tiny-h100"])]
        columns: dict[str, dict[str, str]] = {}
        for (matrix, machine), group in regret.groupby(["matrix", "machine"]):
            if matrix == "paper" and machine == "fermi":
                continue
            scale = "tiny" if str(matrix).startswith("tiny") else "small"
            cells: dict[str, str] = {}
            for one, part in group.groupby("class"):
                ranked = part.dropna(subset=["best"]).sort_values("best", ascending=False)
                if len(ranked) > 3:
                    cells[str(one)] = study_findings.decided(ranked, short=True)
            if cells:
                columns[f"{machine}, {scale}"] = cells
        classes = sorted({one for cells in columns.values() for one in cells})
        rows = [
            (name, *(cells.get(one, "-") for one in classes)) for name, cells in columns.items()
        ]
        return table(("", *classes), rows)

    def figures(self) -> str:
        """The figures."""
        return "\n\n".join(
            f"![{text.partition(':')[0]}](figures/{name}.png)\n*{text}.*"
            for name, text in FIGURE_TEXTS.items()
            if (FIGURES / f"{name}.png").exists()
        )

    def drawn(self) -> dict[str, Figure]:
        """Name of a figure -> the figure; of those that have rows."""
        places = [
            ("pairs", "fermi", "fermi, small"),
            *((place.matrix, place.machine, str(place).strip("`")) for place in CHANGED),
            ("presets", "fermi", "fermi, tiny"),
            *((place.matrix, place.machine, place.machine) for place in self.reader.presets()),
        ]
        known = [place for place in places if self.reader.has(Place(place[0], place[1]))]
        makers: dict[str, Callable[[], Figure]] = {
            "study-pairs": lambda: self.tables.plot("pairs", "pairs", "fermi"),
            "study-machines": lambda: study_figures.machines(self.pairs, known),
            "study-speedup": lambda: self.tables.plot("speedup", "small", "fermi"),
            "study-scaling": lambda: study_figures.scaling(
                self.tables, [("fixed", "8 partitions"), ("grown", "partitions in proportion")]
            ),
            "study-tuning": lambda: study_figures.tuning(self.tables.tuning()),
        }
        return {name: make() for name, make in makers.items()}

    def parts(self) -> dict[str, generated.Maker]:
        """Name of a part -> its maker."""
        return {
            "design": self.design,
            "found": self.found,
            "counts": self.counts,
            "fallen": self.fallen,
            "winners": self.winners,
            "figures": self.figures,
        }


def tree() -> Page:
    """The page of the tree's store."""
    described = Description(FILE)
    planned = sum(place != ["sharing"] for place in described.plan().places.values())
    return Page(Tables(pd.read_parquet(KEPT), described.settings), planned)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store", nargs="?", type=Path)
    default = ROOT / "build/ideas.parquet"
    store = parser.parse_args().store or (default if default.exists() else KEPT)
    if store.resolve() != KEPT:
        compact(pd.read_parquet(store), KEPT, energy=ENERGY)
        print(f"{KEPT}: {KEPT.stat().st_size:,} bytes")
        if KEPT.stat().st_size > LARGEST:
            raise SystemExit(f"{KEPT} has {KEPT.stat().st_size:,} bytes (allowed: {LARGEST:,})")
    page = tree()
    for name, figure in page.drawn().items():
        figure.savefig(FIGURES / f"{name}.png", dpi=130)
    generated.rewrite_named(PAGE, page.parts())
    return 0


if __name__ == "__main__":
    sys.exit(main())

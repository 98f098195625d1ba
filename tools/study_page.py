"""Write the numbers and figures of docs/study.md from a store: ``study_page.py [STORE.parquet]``.

The store is that of studies/ideas.toml (default: build/ideas.parquet; without it studies/ideas-tables.parquet, which
the tree has). What the tables need of it is written to that file, under 2 MB. `tools/stored_pages.py` compares the page
with the tree's store.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import generated
import numpy as np
import pandas as pd
from generated import table
from pages import ROOT

from gpucoh.base.errors import ConfigError
from gpucoh.results.energy import TERM
from gpucoh.results.sharing import PATTERNS
from gpucoh.studies.matrices import Description
from gpucoh.studies.tabulation import Tables

PAGE = ROOT / "docs/study.md"
FILE = ROOT / "studies/ideas.toml"
KEPT = ROOT / "studies/ideas-tables.parquet"
FIGURES = ROOT / "docs/figures"
TIE = 0.001  # of loss: protocols so near the winner are named with it
LARGEST = 2_000_000  # bytes of the tree's store

# The five figures: name, table, matrix, machine, what it shows.
DRAWN = (
    (
        "study-heat",
        "heat",
        "tiny",
        "fermi",
        "Speedup over no L1 of every protocol on every workload, by class",
    ),
    (
        "study-regret",
        "regret",
        "small",
        "fermi",
        "Mean (worst) loss against the best protocol, by class [number of its workloads that failed]",
    ),
    (
        "study-pairs",
        "pairs",
        "pairs",
        "fermi",
        "Cycles without an idea over cycles with it: mean, interval (thick), smallest to largest workload (thin)",
    ),
    ("study-scaling", "scaling", "cores", "fermi", "Speedup over no L1 by number of cores"),
    ("study-traffic", "traffic", "small", "fermi", "Flits by message class, relative to no L1"),
)
_WHAT = (
    *("key", "matrix", "workload", "protocol", "protocol_id", "machine", "consistency", "own_rule"),
    *("cores", "scale", "seed", "model", "correct", "verdict", "error", "where", "mismatches"),
    *("version", "code", "cycles", "flits", "requests", "requests_lost", "wall_s"),
)


def compact(rows: pd.DataFrame, path: Path, more: tuple[str, ...] = ()) -> None:
    """Write what the tables need, small: amounts of energy with 12 bits, reasons with 60 characters.

    ``more`` has the beginnings of further columns.
    """
    names = [
        str(name)
        for name in rows
        if name in _WHAT or str(name).startswith(("flits_", TERM, "share_", *more))
    ]
    out = rows.loc[rows["matrix"].fillna("").ne(""), names].copy()
    out["where"] = out["where"].fillna("").str.slice(0, 60)
    out["wall_s"] = out["wall_s"].astype("float32").round(3)
    for name in names:
        if name.startswith(TERM):
            out[name] = shortened(out[name])
    out["key"] = out["key"].str.slice(0, 12)
    terms = [name for name in names if name.startswith(TERM)]
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
        use_dictionary=[name for name in names if name not in (*terms, "key", "cycles", "wall_s")],
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
        self.regret = tables.regret()
        self.pairs = tables.pairs()
        if len(self.pairs):
            self.pairs = self.pairs[self.pairs["matrix"] == "pairs"]

    def design(self) -> str:
        """How many runs, and what became of them."""
        runs = self.runs  # a run of several matrices counts once
        failed = runs["error"].notna()
        wrong = runs[~runs["good"] & ~failed]
        promised = wrong[wrong["model"].ne("none")]
        hours = runs["wall_s"].sum() / 3600
        time = f"{hours:.1f} hours" if hours >= 1 else f"{hours * 60:.1f} minutes"
        gaps = self.tables.gaps()["matrix"].str.split("/").str[0].value_counts()
        done = len(runs) / self.planned
        rows = []
        for name, group in self.tables.rows.groupby(
            self.tables.rows["matrix"].str.partition("/")[0]
        ):
            ran = group[group["error"].ne("Gap")]
            counts = (
                _counted(ran[column].nunique(), what)
                for column, what in (
                    ("protocol", "configuration"),
                    ("workload", "workload"),
                    ("machine", "machine"),
                    ("seed", "seed"),
                )
            )
            missing = gaps.get(name, 0)
            rows.append(
                f"- `{name}`, scale {', '.join(sorted(ran['scale'].unique()))}: {_counted(len(ran), 'run')} of "
                f"{', '.join(counts)}; {int((~ran['good']).sum())} failed or wrong"
                + (f"; {_counted(missing, 'gap')}." if missing else ".")
            )
        state = (
            ""
            if done >= 1
            else f" **The store has {done:.0%} of the {self.planned:,} runs that the file lists: numbers are "
            "preliminary.**"
        )
        return (
            f"{len(runs):,} runs took {time} of threads that shared their processors with others.{state} "
            f"{failed.sum()} failed, {len(wrong)} are wrong, of them {len(promised)} under a "
            f"protocol that promises a memory model.\n\n" + "\n".join(rows)
        )

    def winners(self) -> str:
        """The one table: winner by class and machine, its losses, and the next."""
        rows = []
        for (matrix, machine, cores, one), group in self.regret.groupby(
            ["matrix", "machine", "cores", "class"], sort=False
        ):
            if matrix not in ("tiny", "small") or len(group) < 3:
                continue
            whole = group[group["missing"] == 0].sort_values("mean")
            if len(whole) < 2:
                continue
            first = whole.iloc[0]
            equal = whole["mean"] <= first["mean"] + TIE
            second = whole[~equal].iloc[0] if (~equal).any() else first
            safest = whole.loc[whole["worst"].idxmin()]
            rows.append(
                (
                    *(one, f"{machine}, {cores} cores", matrix, str(int(whole["workloads"].max()))),
                    str(len(whole)),
                    ", ".join(f"`{name}`" for name in whole[equal]["protocol"]),
                    f"{first['mean']:.0%} ({first['worst']:.0%}, `{first['worst_workload']}`)",
                    f"`{second['protocol']}` {second['mean']:.0%}",
                    f"`{safest['protocol']}` {safest['worst']:.0%}",
                )
            )
        head = (
            "class",
            "machine",
            "matrix",
            "workloads",
            "among",
            "winner",
            "its loss, mean (worst)",
            "next",
            "smallest worst loss",
        )
        return table(head, sorted(rows))

    def effects(self) -> str:
        """What each idea brings, the largest first, in words."""
        found = self.pairs
        if found.empty or "effect" not in found:
            return "No pair has run.\n"
        found = found.dropna(subset=["effect"]).copy()
        found["size"] = np.log(found["effect"]).abs()
        lines = []
        for _, row in found.sort_values("size", ascending=False).iterrows():
            ends = (
                ""
                if row["low"] != row["low"]
                else f" ({row['low']:.3f} to {row['high']:.3f} over seeds)"
            )
            lines.append(
                f"- **{row['idea']}**, {row['what']}: {row['effect']:.3f}{ends}; from {row['smallest']:.2f} "
                f"(`{row['smallest_workload']}`) to {row['largest']:.2f} (`{row['largest_workload']}`); "
                f"{row['changed']} of {row['workloads']} workloads {'changes' if row['changed'] == 1 else 'change'}; "
                f"{row['flits']:.2f} of the flits, "
                f"{row['joules']:.2f} of the energy"
                + (f"; {_counted(row['failed'], 'run')} failed" if row["failed"] else "")
                + "."
            )
        return "\n".join(lines)

    def findings(self) -> str:
        """Sentences about the whole, each a number of the store."""
        lines = []
        for matrix in ("tiny", "small"):
            part = self.regret[self.regret["matrix"] == matrix]
            if part.empty:
                continue
            same = part[part["machine"] == "fermi"]
            winners = same[same["winner"]]["protocol"].unique()
            names = ", ".join(f"`{one}`" for one in winners)
            lines.append(
                f"- At scale {matrix} on `fermi`, {len(winners)} protocols win a class of sharing or tie: {names}."
            )
            overall = same.groupby("protocol").agg(
                worst=("worst", "max"), wins=("wins", "sum"), missing=("missing", "sum")
            )
            overall = overall[overall["missing"] == 0]
            if len(overall):
                safest = overall["worst"].idxmin()
                never = sorted(overall.index[overall["wins"] == 0])
                lines.append(
                    f"- `{safest}` has the smallest worst loss there ({overall.loc[safest, 'worst']:.0%}). Best on no "
                    f"workload: {', '.join(f'`{one}`' for one in never) or 'none'}."
                )
        means = self.tables.speedup()
        for matrix in ("tiny", "small"):
            part = means[
                (means["matrix"] == matrix)
                & (means["machine"] == "fermi")
                & (means["missing"] == 0)
            ]
            part = part[~part["protocol"].isin(self.tables.settings.bounds)].dropna(
                subset=["speedup"]
            )
            if len(part):
                best, last = part.iloc[0], part.iloc[-1]
                lines.append(
                    f"- Mean speedup over no L1 at scale {matrix}: from {last['speedup']:.2f} "
                    f"(`{last['protocol']}`) to {best['speedup']:.2f} (`{best['protocol']}`)."
                )
        lines += [*self._rules(means), *self._machines(means)]
        totals = [self.tables.energy(decade) for decade in ("2013", "2024")]
        for matrix in ("small", "tiny"):
            parts = [one[(one["matrix"] == matrix) & (one["machine"] == "fermi")] for one in totals]
            if len(parts[0]):
                ranks = parts[0].set_index("protocol")["total"].rank()
                others = parts[1].set_index("protocol")["total"].rank()
                lines.append(
                    "- With the coefficients of 2024 instead of 2013 the order of the protocols by energy at scale "
                    f"{matrix} has a rank correlation of {ranks.corr(others):.3f} with that of 2013."
                )
                break
        return "\n".join(lines)

    def _rules(self, means: pd.DataFrame) -> list[str]:
        """The fastest protocols where all have one rule."""
        lines = []
        for matrix, group in means[means["matrix"].str.startswith("rules/")].groupby("matrix"):
            rule = str(matrix).partition("/")[2]
            whole = group[(group["missing"] == 0) & (group["consistency"] == rule)]
            whole = whole[~whole["protocol"].isin(self.tables.settings.bounds)].dropna(
                subset=["speedup"]
            )
            best = ", ".join(
                f"`{row['protocol']}` {row['speedup']:.2f}" for _, row in whole.head(3).iterrows()
            )
            if len(whole) > 1:
                lines.append(
                    f"- Under rule `{rule}` for all, the first of {len(whole)} by mean speedup over no L1: {best}."
                )
        return lines

    def _machines(self, means: pd.DataFrame) -> list[str]:
        """Speedups on fermi and on each protocol's paper's machine."""
        bounds = (*self.tables.settings.bounds, self.tables.settings.baseline)
        part = means[(means["matrix"] == "small") & ~means["protocol"].isin(bounds)]
        table = part.pivot_table(index="protocol", columns="machine", values="speedup")
        both = [
            f"`{protocol}` {row.drop('fermi').dropna().iloc[0]:.2f} (`fermi` {row['fermi']:.2f})"
            for protocol, row in table.iterrows()
            if "fermi" in row and row.notna().sum() == 2
        ]
        return (
            [f"- Mean speedup over no L1 on its paper's machine: {', '.join(both)}."]
            if both
            else []
        )

    def classes(self) -> str:
        """The classes of the workloads, and how many each has."""
        found = self.tables.classes()
        rows = []
        for scale, group in found.groupby("scale"):
            for one in PATTERNS:
                names = sorted(group[group["class"] == one]["workload"])
                if names:
                    rows.append(f"- *{one}*, {scale}: {', '.join(f'`{name}`' for name in names)}.")
        moved = found.pivot_table(
            index="workload", columns="scale", values="class", aggfunc="first"
        )
        both = moved.dropna()
        other = sorted(both.index[both.nunique(axis=1) > 1])
        text = (
            f"Of {len(both)} workloads measured at both scales {len(other)} change their class: "
            f"{', '.join(f'`{name}`' for name in other) or 'none'}."
            if both.shape[1] > 1
            else ""
        )
        text = f"{text}\n{self._thresholds()}".strip()
        return ("\n".join(rows) + f"\n\n{text}").rstrip()

    def _thresholds(self) -> str:
        """What the thresholds of the classes decide."""
        found = self.tables.thresholds()
        found = found[found["matrix"].isin(["tiny", "small"])]
        lines = []
        for factor, word in ((0.5, "halved"), (2.0, "doubled")):
            part = found[found["thresholds"] == factor]
            other = part[part["other"]]
            places = ", ".join(
                f"{row['class']} on `{row['machine']}` at {row['matrix']} (`{row['winners'].replace(', ', '`, `')}`)"
                for _, row in other.iterrows()
            )
            lines.append(
                f"With the thresholds of the classes {word}, {len(other)} of {len(part)} classes on a machine "
                f"{'has' if len(other) == 1 else 'have'} another winner"
                + (f": {places}." if places else ".")
            )
        return "\n".join(lines)

    def figures(self) -> str:
        """The figures."""
        return "\n\n".join(
            f"![{text}](figures/{name}.png)\n*{text}: matrix `{self._drawn(matrix)}`, machine `{machine}`.*"
            for name, _, matrix, machine, text in DRAWN
            if (FIGURES / f"{name}.png").exists()
        )

    def _drawn(self, matrix: str) -> str:
        return matrix if matrix in set(self.tables.rows["matrix"]) else "tiny"

    def parts(self) -> dict[str, generated.Maker]:
        """Name of a part -> its maker."""
        return {
            "design": self.design,
            "winners": self.winners,
            "effects": self.effects,
            "findings": self.findings,
            "classes": self.classes,
            "figures": self.figures,
        }


def _counted(number: float, what: str) -> str:
    return f"{int(number):,} {what}{'' if number == 1 else 's'}"


def draw(tables: Tables) -> None:
    """Draw the five figures; one without rows, of its matrix or of tiny, stays away."""
    for name, what, matrix, machine, _ in DRAWN:
        chosen = matrix if matrix in set(tables.rows["matrix"]) else "tiny"
        try:
            figure = tables.plot(what, chosen, machine)
        except ConfigError as error:
            print(f"{name}: {error}", file=sys.stderr)
            continue
        figure.savefig(FIGURES / f"{name}.png", dpi=130)


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
        compact(pd.read_parquet(store), KEPT)
        print(f"{KEPT}: {KEPT.stat().st_size:,} bytes")
        if KEPT.stat().st_size > LARGEST:
            raise SystemExit(f"{KEPT} has {KEPT.stat().st_size:,} bytes (allowed: {LARGEST:,})")
    page = tree()
    draw(page.tables)
    generated.rewrite_named(PAGE, page.parts())
    return 0


if __name__ == "__main__":
    sys.exit(main())

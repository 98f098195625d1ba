"""Write the numbers and the figure of docs/dies.md from a store: ``dies_page.py [STORE.parquet]``.

The store is that of studies/dies.toml (default: build/dies.parquet; without it studies/dies-tables.parquet, which the
tree has). What the page needs of it is written to that file. `tools/stored_pages.py` compares the page with the tree's
store, and tests/papers/test_dies.py a share of its runs with fresh ones.
"""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Mapping
from pathlib import Path

import generated
import pandas as pd
from dies_claims import NO_NEAR, Measured, Verdict, cells, flat, interval_text, load, verdict
from dies_figure import draw
from generated import table
from pages import ROOT
from study_page import compact

from gpucoh.device.gpu import resolve
from gpucoh.papers.claims import Claim
from gpucoh.studies.matrices import Description
from gpucoh.studies.means import Mean
from gpucoh.studies.tabulation import Tables

PAGE = ROOT / "docs/dies.md"
FILE = ROOT / "studies/dies.toml"
KEPT = ROOT / "studies/dies-tables.parquet"
FIGURE = ROOT / "docs/figures/dies.png"
PAPERS = ("hmg", "cpelide", "lrm")
# Columns beside those of docs/study.md.
MORE = ("links_", "l2_self_invalidations", "counters_L2_inv", "cpu_s")
COUNTED = ("messages", "bytes", "waiting_cycles")  # of links, in the order of the table
ALL = "all"
EQUAL = 0.02  # from 1: as far as HMG's paper and LRM-GPU's call equal
# Of the open question: what HMG is compared with, and what can be said of it.
RIVALS = {
    "mcm": "`mcm`, LRM-GPU's baseline",
    "flush": "`flush`, CPElide's baseline",
    NO_NEAR: "L2s that keep no line of another die (`mcm` with `l2_near=0`)",
    "ideal-dies": "`ideal-dies`, the bound",
}
SIDES = {
    "gains": "**gains**",
    "loses": "**loses**",
    "equal": "is **equal**",
    "open": "is **not decided**",
}


class Page:
    """The generated parts of the page."""

    def __init__(self, tables: Tables, described: Description) -> None:
        self.tables, self.described = tables, described
        self.measured = Measured(tables, described)
        self.package = load("package")
        self.groups = dict(self.package.paper.groups)

    def design(self) -> str:
        """How many runs, of how many that the file lists, and what became of them."""
        rows = self.tables.rows
        runs = rows[rows["error"].ne("Gap")].drop_duplicates("key")
        planned = len(self.described.plan().runs)
        failed, bad = runs["error"].notna(), ~runs["good"]
        scales, asked = set(runs["scale"]), {str(one["scale"]) for one in self.described.matrices}
        text = (
            f"{len(runs):,} runs at scale {_and(scales)} took {runs['cpu_s'].sum() / 60:.0f} minutes of a processor; "
            f"{int(failed.sum())} failed, {int((bad & ~failed).sum())} are wrong."
        )
        if len(runs) < planned or scales != asked:
            text += f" **Numbers are preliminary: the study lists {planned:,} runs at scale {_and(asked)}.**"
        return text

    def protocols(self) -> list[str]:
        """The protocols of the package, the baseline first."""
        rows = self.measured.rows
        found = list(rows[rows["matrix"] == "package"]["protocol"].unique())
        known = [NO_NEAR] if len(self.measured.of("package", NO_NEAR)) else []
        return [*sorted(found, key=lambda name: (name != "mcm", name != "flush", name)), *known]

    def files(self) -> dict[str, str]:
        """The protocols with what finds them: those of a C file need its path."""
        files = (run.protocol for run in self.described.plan(["package"]).runs.values())
        known = {
            text if "[" in text else resolve(text).protocol.id: text
            for text in dict.fromkeys(files)
        }
        return {name: known[name.partition(",")[0]] for name in self.protocols()}

    def links(self) -> str:
        """Bytes over links by group, of mcm in MB, of others relative to it; bytes and waiting cycles of a message."""
        rows = []
        for name in self.protocols():
            runs = self.measured.of("package", name)
            mean = runs.groupby("workload")["links_dies_bytes"].mean()
            groups = [
                f"{mean.reindex(listed).sum() / 1e6:.2f} MB"
                if name == "mcm"
                else _with_interval(self._mean(name, "mcm", "links_dies_bytes", group))
                for group, listed in self.groups.items()
            ]
            sums = runs.groupby("workload")[[f"links_dies_{what}" for what in COUNTED]].sum()
            each = sums.div(sums.pop("links_dies_messages"), axis=0).mean()
            rows.append((f"`{name}`", *groups, *(f"{value:.0f}" for value in each)))
        head = ("", *self.groups, "bytes a message", "cycles that a message waits")
        return table(head, rows)

    def speedups(self, baseline: str) -> str:
        """Speedups over a baseline by group."""
        rows = [
            (
                f"`{name}`",
                *(_with_interval(self._mean(name, baseline, "cycles", g)) for g in self.groups),
            )
            for name in self.protocols()
            if name != baseline
        ]
        return table(("", *self.groups), rows)

    def answers(self) -> dict[str, dict[str, Verdict]]:
        """HMG's speedup over each rival on the package, by group."""
        out = {}
        for rival in RIVALS:
            every = (
                (group, verdict(self.measured, self.package, self._claim(rival, group)))
                for group in self.groups
            )
            if found := {group: one for group, one in every if one}:
                out[rival] = found
        return out

    def question(self) -> str:
        """Where HMG gains, loses or is equal on one package, by what it is compared with, in words."""
        lines = []
        for rival, found in self.answers().items():
            parts = []
            for word in SIDES:
                groups = [
                    _group(group, one) for group, one in found.items() if side(one)[0] == word
                ]
                parts += [f"{SIDES[word]} on {_listed(groups)}"] if groups else []
            lines.append(f"- Over {RIVALS[rival]}, HMG {'; it '.join(parts)}.{_ends(found)}")
        return "\n".join(lines)

    def numbers(self) -> str:
        """The numbers behind the words: mean, interval over workloads, range over readings."""
        answers = self.answers()
        rows = [
            (
                group,
                *(_parts(found[group]) if group in found else "-" for found in answers.values()),
            )
            for group in self.groups
        ]
        return table(("HMG over", *(f"`{rival}`" for rival in answers)), rows)

    def claims(self, name: str) -> str:
        """A paper's claims."""
        source = load(name)
        head = ("claim", "of", "paper", "here", "over workloads", "over readings", "agrees")
        rows = [
            cells(source, claim, verdict(self.measured, source, claim), self.measured.matrices)
            for claim in source.paper.claims
        ]
        return table(head, rows)

    def readings(self) -> str:
        """Readings with rank, source and values."""
        rows = []
        for name in ("package", *PAPERS):
            for one in load(name).readings:
                given = {**one.machine, **one.options, **flat(one.parameters)}
                values = "; ".join(
                    f"`{field}` {', '.join(map(str, listed))}" for field, listed in given.items()
                )
                departs = f"; departs: {one.departs}" if one.departs else ""
                rows.append((name, one.what, f"`{one.rank}`: {one.source}{departs}", values))
        return table(("", "reading", "rank and source", "values, that in use first"), rows)

    def _mean(self, subject: str, baseline: str, amount: str, group: str) -> Mean:
        return self.measured.ratio("package", subject, baseline, amount, self.groups[group])

    def _claim(self, rival: str, group: str) -> Claim:
        return Claim(
            id="", figure="", says="", where="", exact="qualitative", kind="behaviour", mean="geometric",
            measure="speedup", subject="hmg", baseline=rival, workloads=self.groups[group], group=group,
        )  # fmt: skip

    def parts(self) -> dict[str, generated.Maker]:
        """Name of a part -> its maker."""
        return {
            "design": self.design,
            "links": self.links,
            "speedups over mcm": functools.partial(self.speedups, "mcm"),
            "speedups over flush": functools.partial(self.speedups, "flush"),
            "question": self.question,
            "numbers": self.numbers,
            **{
                f"claims of {one}": functools.partial(self.claims, one)
                for one in ("package", *PAPERS)
            },
            "readings of dies": self.readings,
        }


def _and(names: set[str]) -> str:
    return " and ".join(sorted(names))


def side(found: Verdict) -> tuple[str, str]:
    """Whether a speedup gains, loses or is equal, over workloads and under every reading; else what leaves it open."""
    mean, values = found.mean, list(found.under.values())
    every = (mean.low, mean.high, *values)
    if all(abs(one - 1) <= EQUAL for one in every):
        return "equal", ""
    if min(every) > 1:
        return "gains", ""
    if max(every) < 1:
        return "loses", ""
    readings = ["readings"] if min(values) <= 1 <= max(values) else []
    return "open", " and ".join([*readings, *([] if mean.side else ["workloads"])])


def _group(name: str, found: Verdict) -> str:
    """A group of workloads in a sentence, with what leaves its answer open."""
    text = "all workloads together" if name == ALL else name if "'" in name else f"*{name}*"
    why = side(found)[1]
    return text + (f" (by {why})" if why else "")


def _listed(names: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _ends(found: Mapping[str, Verdict]) -> str:
    """The smallest and the largest workload of all."""
    by = found[ALL].mean.by_workload if ALL in found else {}
    if not by:
        return ""
    low, high = min(by, key=by.__getitem__), max(by, key=by.__getitem__)
    return f" Of single workloads from {by[low]:.2f} (`{low}`) to {by[high]:.2f} (`{high}`)."


def _parts(found: Verdict) -> str:
    """A speedup with its interval, and its range over readings."""
    low, high = found.ends
    text = f"{found.mean.value:.2f} ({interval_text(found.mean)})"
    if len(found.under) > 1:
        text += f"; {found.under[low]:.2f} ({low}) to {found.under[high]:.2f} ({high})"
    return text


def _with_interval(mean: Mean) -> str:
    """A mean with its interval over workloads, and the number of workloads that it lacks."""
    if not mean.by_workload:
        return "-"
    ends = f" ({interval_text(mean)})" if mean.low == mean.low else ""
    return f"{mean.value:.2f}{ends}" + (f" [{len(mean.missing)}]" if mean.missing else "")


@functools.cache
def tree() -> Page:
    """The page of the tree's store."""
    described = Description(FILE)
    return Page(Tables(pd.read_parquet(KEPT), described.settings), described)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store", nargs="?", type=Path)
    default = ROOT / "build/dies.parquet"
    store = parser.parse_args().store or (default if default.exists() else KEPT)
    if store.resolve() != KEPT:
        compact(pd.read_parquet(store), KEPT, MORE)
        print(f"{KEPT}: {KEPT.stat().st_size:,} bytes")
    page = tree()
    draw(page.measured, page.files(), page.groups).savefig(FIGURE, dpi=130)
    generated.rewrite_named(PAGE, page.parts())
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Write the measured tables of docs/fidelity.md: `python tools/fidelity.py`, or `make fidelity`.

The script replaces the text between `<!-- scorecard PAPER SCALE -->` and `<!-- end -->` with the output of
`gpucoh scorecard`; the rest of the page, which explains it, is written by hand.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from gpucoh.papers import Verdict, load, scorecard
from gpucoh.papers.runs import Bench

PAGE = Path(__file__).parent.parent / "docs" / "fidelity.md"
BLOCK = re.compile(r"<!-- scorecard (\w+) (\w+) -->\n.*?<!-- end -->", re.DOTALL)


def number(value: float | str | None) -> str:
    """A cell: a number with two decimals, or the value as text."""
    if value is None:
        return "-"
    return value if isinstance(value, str) else f"{value:.2f}"


def of(verdict: Verdict) -> str:
    """Subject and baseline, and the workload if there is only one."""
    text = " / ".join(f"`{name}`" for name in (verdict.subject, verdict.baseline) if name)
    alone = f" ({verdict.workloads[0]})" if len(verdict.workloads) == 1 else ""
    return text + alone


def table(verdicts: list[Verdict]) -> str:
    """The counts in a line, and one row per claim."""
    words = ("size", "direction", "no", "not_measured")
    counts = {word: sum(v.agrees == word for v in verdicts) for word in words}
    report = ", ".join(f"{count} {word.replace('_', ' ')}" for word, count in counts.items())
    rows = [f"{len(verdicts)} claims: {report}.", ""]
    rows += [
        "| claim | figure | measure | of | paper | here | agrees |",
        "|---|---|---|---|---|---|---|",
    ]
    rows += [
        f"| {v.id} | {v.figure} | {v.measure} | {of(v)} | {number(v.claimed)} | {number(v.measured)} "
        f"| {v.agrees.replace('_', ' ')} |"
        for v in verdicts
    ]
    return "\n".join(rows)


def fresh(match: re.Match[str]) -> str:
    """The block with the numbers of a new run, or of the JSON named on the command line."""
    paper, scale = match.group(1), match.group(2)
    if len(sys.argv) > 1:
        verdicts = [Verdict(**entry) for entry in json.loads(Path(sys.argv[1]).read_text())]
    else:
        claims = load(paper)
        verdicts = scorecard(
            claims, Bench(machine=claims.machine, scale=scale, jobs=2, progress=True)
        )
    return f"<!-- scorecard {paper} {scale} -->\n{table(verdicts)}\n<!-- end -->"


if __name__ == "__main__":
    PAGE.write_text(BLOCK.sub(fresh, PAGE.read_text(encoding="utf-8")), encoding="utf-8")

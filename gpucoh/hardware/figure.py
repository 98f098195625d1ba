"""The figure of the verdicts: protocols by families."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from gpucoh.base.canvas import Canvas, points, style
from gpucoh.hardware.verdicts import Verdict
from gpucoh.litmus.hardware import FAMILIES, facts

#: Part of a bar -> its colour and text, from left to right.
_PARTS = {
    "failed": ("#000000", "failed"),
    "forbidden": ("#d7191c", "shown, forbidden by PTX"),
    "excess": ("#fdae61", "shown, seen on no GPU"),
    "explained": ("#2c7bb6", "shown, seen on a GPU"),
    "not seen": ("#c6d4e1", "seen on a GPU, in no run here"),
    "never": ("#8c96a0", "seen on a GPU, proved never here"),
    "absent": ("#f7f7f7", "neither shown nor seen"),
    "void": ("#e6e0d4", "not run on a GPU"),
}


def _part(item: Verdict) -> str:
    return item.verdict if item.kind == "missed" else item.kind


def draw(verdicts: Sequence[Verdict]) -> Figure:
    """Draw a bar for each protocol and family: the shares of its tests by verdict."""
    rows = list(dict.fromkeys((item.protocol, item.rule) for item in verdicts))
    families = [name for name in FAMILIES if any(item.family == name for item in verdicts)]
    counts = Counter((item.protocol, item.rule, item.family, _part(item)) for item in verdicts)
    with mpl.rc_context(style()):
        figure = Canvas(figsize=(7, points(0.14) * len(rows) + 1.1), layout="constrained")
        axes = figure.subplots(1, len(families), sharey=True, squeeze=False)[0]
        for family, ax in zip(families, axes, strict=True):
            total = sum(name.partition(".")[0] == family for name in facts())
            for place, row in enumerate(rows):
                left = 0.0
                for part, (colour, _) in _PARTS.items():
                    share = counts[*row, family, part] / total
                    ax.barh(place, share, 0.86, left, color=colour)
                    left += share
            ax.set(xlim=(0, 1), xticks=(), title=f"{family}\n{total} tests")
            ax.tick_params(length=0)
            ax.spines[:].set_visible(False)
        axes[0].set_yticks(range(len(rows)), [f"{protocol}, {rule}" for protocol, rule in rows])
        axes[0].set_ylim(len(rows) - 0.5, -0.5)
        used = {_part(item) for item in verdicts}
        patches = [
            Patch(facecolor=colour, edgecolor="#777777", linewidth=0.3, label=text)
            for part, (colour, text) in _PARTS.items()
            if part in used
        ]
        figure.legend(handles=patches, loc="outside lower center", ncols=3, frameon=False)
    return figure

"""Figures that papers print and notebooks display."""

from __future__ import annotations

import io
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

# Type 42 embeds TrueType fonts: publishers refuse PDFs with the Type 3 fonts that Matplotlib writes by default.
_FILES: Any = {"pdf.fonttype": 42, "ps.fonttype": 42, "savefig.dpi": 300}
_LINES: Any = {
    "hatch.linewidth": 0.5,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
}
_USUAL = 7.0  # points, where the user has not set font.size


def style() -> dict[Any, Any]:
    """Settings of Matplotlib to draw with: the user's family of fonts, and size if it is not Matplotlib's own."""
    size = mpl.rcParams["font.size"]
    own = size != mpl.rcParamsDefault["font.size"]
    return {**_FILES, **_LINES, "font.size": size if own else _USUAL}


def points(size: float) -> float:
    """A length that grows with the text, in any unit: that of text of the usual size, while :func:`style` holds."""
    return size * float(mpl.rcParams["font.size"]) / _USUAL


class Canvas(Figure):
    """A Matplotlib figure whose files have TrueType fonts, whatever the user's settings.

    A notebook shows it, once, without a magic command and without pyplot.
    """

    def savefig(self, *arguments: Any, **options: Any) -> None:
        """Write the figure; the arguments are Matplotlib's."""
        with mpl.rc_context(_FILES):
            super().savefig(*arguments, **options)

    def _repr_png_(self) -> bytes:
        return png(self)


def png(figure: Figure) -> bytes:
    """A figure as a notebook displays it."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=100)
    return file.getvalue()

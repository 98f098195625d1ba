"""Figures that papers print and notebooks display."""

from __future__ import annotations

import io
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

# Type 42 embeds TrueType fonts: publishers refuse PDFs with the Type 3 fonts that Matplotlib writes by default.
STYLE: Any = {
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "hatch.linewidth": 0.5,
    "font.family": ["DejaVu Sans"],
    "font.size": 7,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "savefig.dpi": 300,
}


class Canvas(Figure):
    """A Matplotlib figure whose files have TrueType fonts, whatever the user's settings.

    A notebook shows it, once, without a magic command and without pyplot.
    """

    def savefig(self, *arguments: Any, **options: Any) -> None:
        """Write the figure; the arguments are Matplotlib's."""
        with mpl.rc_context(STYLE):
            super().savefig(*arguments, **options)

    def _repr_png_(self) -> bytes:
        return png(self)


def png(figure: Figure) -> bytes:
    """A figure as a notebook displays it."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=100)
    return file.getvalue()

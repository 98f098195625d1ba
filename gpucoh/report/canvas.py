"""Figures that notebooks display."""

from __future__ import annotations

import io

import matplotlib.figure


class Figure(matplotlib.figure.Figure):
    """A Matplotlib figure that a notebook shows, once, without a magic command and without pyplot."""

    def _repr_png_(self) -> bytes:
        file = io.BytesIO()
        self.savefig(file, format="png", dpi=100)
        return file.getvalue()

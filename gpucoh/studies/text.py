"""Tables of a study for the terminal."""

from __future__ import annotations

import pandas as pd
from rich.table import Table
from rich.text import Text

from gpucoh.terminal.tables import plain_table


def as_text(frame: pd.DataFrame) -> Table:
    """A data frame as a table of the terminal: three significant digits, ``-`` for nothing."""
    names = [str(name) for name in frame]
    right = [
        place for place, name in enumerate(frame) if pd.api.types.is_numeric_dtype(frame[name])
    ]
    rows = [[Text(_cell(value)) for value in row] for row in frame.itertuples(index=False)]
    return plain_table(names, rows, right=right)


def _cell(value: object) -> str:
    if isinstance(value, float):
        if value != value:
            return "-"
        return f"{value:.0f}" if value.is_integer() and abs(value) >= 10 else f"{value:.3g}"
    return "-" if value is None else str(value)

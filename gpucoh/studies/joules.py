"""The energy of a study's rows, from the amounts that the energy model multiplies."""

from __future__ import annotations

import numpy as np
import pandas as pd

from gpucoh.results.energy import MODELS, TERM

# Parts of the energy as figures group them.
_PARTS = ("noc_dynamic", "noc_static", "l1", "l2", "arrays", "dram", "core")
_MERGED = {"scratchpad": "core"}


def joules(rows: pd.DataFrame, decade: str) -> pd.DataFrame:
    """Energy by part, of the amounts that rows have; one column for each part."""
    parts = {name: np.zeros(len(rows)) for name in _PARTS}
    for column in rows:
        if not str(column).startswith(TERM):
            continue
        part, _, coefficient = str(column).removeprefix(TERM).partition("__")
        part = _MERGED.get(part, part)
        one = MODELS[decade][coefficient]
        amount = rows[column].astype(float).fillna(0.0).to_numpy()
        parts[part if part in parts else "arrays"] += amount * one.value * one.scale
    return pd.DataFrame(parts, index=rows.index)


def with_joules(rows: pd.DataFrame, decade: str) -> pd.DataFrame:
    """The rows with a column of their energy in joules."""
    return pd.concat([rows, joules(rows, decade).sum(axis=1).rename("joules")], axis=1)

"""What the claims of docs/dies.md measure of invalidations under NHCC and HMG, from columns of a study's rows."""

from __future__ import annotations

import pandas as pd

from gpucoh.machines import machine

OWN = "counters_L2_"  # how columns of the L2's own counters begin
CAUSES = ("inv_by_store", "inv_by_load", "inv_by_eviction", "inv_forwarded")  # of every INV, one
INV_BYTES = 8  # of a message, header and all


def with_invalidations(rows: pd.DataFrame) -> pd.DataFrame:
    """Add the sharers that a directory's INVs for a store or an eviction go to, and gigabytes a second of all INVs.

    Parameters
    ----------
    rows : DataFrame
        Rows of a study; columns ``machine``, ``cycles`` and the L2's own counters.

    Returns
    -------
    DataFrame
        With ``sharers_by_store`` and ``sharers_by_eviction`` (NaN where none invalidated anybody) and ``inv_gb_s``;
        as given if no row has the counters.
    """
    if f"{OWN}invalidating_stores" not in rows:
        return rows

    def counted(name: str) -> pd.Series[float]:
        return rows[f"{OWN}{name}"].astype(float)

    def each(sent: str, times: str) -> pd.Series[float]:
        number = counted(times)
        return counted(sent) / number.where(number > 0)

    clocks = {str(name): machine(str(name)).core_mhz for name in rows["machine"].unique()}
    seconds = rows["cycles"].astype(float) / rows["machine"].map(clocks) / 1e6
    sent = sum(counted(name) for name in CAUSES)
    return rows.assign(
        sharers_by_store=each("inv_by_store", "invalidating_stores"),
        sharers_by_eviction=each("inv_by_eviction", "invalidating_evictions"),
        inv_gb_s=sent * INV_BYTES / seconds / 1e9,
    )

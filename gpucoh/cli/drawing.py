"""Figures of comparisons, and their tables."""

from __future__ import annotations

from pathlib import Path

from gpucoh.base.files import whole_file
from gpucoh.base.late import LATE_IMPORT
from gpucoh.runs.comparison import Comparison


def draw(comparison: Comparison, folder: Path) -> list[Path]:
    """Draw all figures of a comparison and write its table as CSV."""
    with LATE_IMPORT:
        from gpucoh.figures import plots

    files = plots.save(comparison.plot_speedup(), folder, "speedup")
    files += plots.save(comparison.plot_traffic(), folder, "traffic")
    files += plots.save(comparison.plot_energy(), folder, "energy")
    table = folder / "runs.csv"
    with whole_file(table) as part:
        comparison.table.to_csv(part, index=False)
    return [path for path in files if path.suffix == ".png"] + [table]

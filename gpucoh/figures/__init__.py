"""Figures: bars, lines and legends for print, and those of comparisons and of a run over time."""

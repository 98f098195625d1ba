"""The figures of each paper, and its measures of claims that no common measure covers."""

from __future__ import annotations

from collections.abc import Mapping

from gpucoh.papers import (
    denovo_counts,
    denovo_figures,
    qr_counts,
    qr_figures,
    rcc_counts,
    rcc_figures,
    stc_counts,
    stc_figures,
    tc_counts,
    tc_figures,
)
from gpucoh.papers.counts import Count
from gpucoh.papers.panels import Spec

FIGURES: Mapping[str, tuple[Spec, ...]] = {
    "tc": tc_figures.FIGURES,
    "rcc": rcc_figures.FIGURES,
    "denovo": denovo_figures.FIGURES,
    "stc": stc_figures.FIGURES,
    "qr": qr_figures.FIGURES,
}
# paper -> claim -> how it is measured
COUNTS: Mapping[str, Mapping[str, Count]] = {
    "tc": tc_counts.COUNTS,
    "rcc": rcc_counts.COUNTS,
    "denovo": denovo_counts.COUNTS,
    "stc": stc_counts.COUNTS,
    "qr": qr_counts.COUNTS,
}

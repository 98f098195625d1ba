"""The papers: their claims as package data, and their figures redrawn from simulated runs."""

from __future__ import annotations

from gpucoh.papers.claims import Claim, Paper, load, papers
from gpucoh.papers.figures import PaperFigure, paper_figure, reproduce
from gpucoh.papers.panels import FigureSpec, TableSpec
from gpucoh.papers.scorecard import Verdict, scorecard

__all__ = [
    "Claim",
    "FigureSpec",
    "Paper",
    "PaperFigure",
    "TableSpec",
    "Verdict",
    "load",
    "paper_figure",
    "papers",
    "reproduce",
    "scorecard",
]

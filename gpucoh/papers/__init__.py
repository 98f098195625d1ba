"""The papers: their claims as package data, their figures drawn again from runs of this simulator."""

from __future__ import annotations

from gpucoh.papers.claims import Claim, Paper, load, papers
from gpucoh.papers.figures import FigureSpec, reproduce
from gpucoh.papers.scorecard import Verdict, scorecard

__all__ = [
    "Claim",
    "FigureSpec",
    "Paper",
    "Verdict",
    "load",
    "papers",
    "reproduce",
    "scorecard",
]

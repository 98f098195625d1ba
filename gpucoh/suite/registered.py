"""The registry with every workload of the suite: each module registers its own when it is imported."""

from __future__ import annotations

from gpucoh.suite import (  # noqa: F401
    alignment,
    barriers,
    cloth,
    clustering,
    copies,
    diffusion,
    factorisation,
    graphs,
    heat,
    histograms,
    images,
    ledger,
    matrices,
    maxflow,
    mutexes,
    neighbours,
    networks,
    octrees,
    particles,
    paths,
    placement,
    reductions,
    semaphores,
    stealing,
    stencils,
    synthetic,
    treesearch,
    volumes,
)
from gpucoh.suite.base import REGISTRY

__all__ = ["REGISTRY"]

"""The registry with every workload of the suite: each module registers its own when it is imported."""

from __future__ import annotations

from gpucoh.suite import (  # noqa: F401
    alignment,
    barriers,
    centrality,
    cloth,
    clustering,
    copies,
    diffusion,
    factorisation,
    graphs,
    heat,
    histograms,
    hydrodynamics,
    images,
    independent_sets,
    ledger,
    matrices,
    maxflow,
    microbenchmarks,
    multigrid,
    mutexes,
    neighbours,
    networks,
    octrees,
    particles,
    paths,
    placement,
    reductions,
    reuse,
    semaphores,
    shortest_paths,
    sorting,
    sparse,
    stealing,
    stencils,
    synthetic,
    transforms,
    transport,
    treesearch,
    volumes,
)
from gpucoh.suite.base import REGISTRY

__all__ = ["REGISTRY"]

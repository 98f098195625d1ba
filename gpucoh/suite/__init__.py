"""The workloads. Importing this package registers all of them in :data:`gpucoh.suite.base.REGISTRY`."""

from __future__ import annotations

from gpucoh.suite import (
    alignment,
    cloth,
    clustering,
    copies,
    diffusion,
    factorisation,
    graphs,
    histograms,
    images,
    ledger,
    matrices,
    maxflow,
    mutexes,
    octrees,
    placement,
    reductions,
    stealing,
    stencils,
    synthetic,
    volumes,
)
from gpucoh.suite.base import (
    GROUPS,
    PAPERS,
    REGISTRY,
    SCALES,
    Instance,
    Outcome,
    Parameter,
    Workload,
)

_FAMILIES = (
    graphs,
    stencils,
    copies,
    diffusion,
    reductions,
    mutexes,
    octrees,
    placement,
    ledger,
    alignment,
    cloth,
    clustering,
    factorisation,
    images,
    matrices,
    maxflow,
    histograms,
    stealing,
    synthetic,
    volumes,
)


def workloads() -> dict[str, Workload]:
    """Every workload by id."""
    return REGISTRY.all()


def workload(name: str) -> Workload:
    """The workload with this id or alias; for an unknown name ConfigError suggests the nearest
    one.
    """
    return REGISTRY.get(name)


__all__ = [
    "GROUPS",
    "PAPERS",
    "SCALES",
    "Instance",
    "Outcome",
    "Parameter",
    "Workload",
    "workload",
    "workloads",
]

"""A GPU of few cores, on which workloads of the scale tiny run."""

from __future__ import annotations

import gpucoh


def small_gpu(cores: int = 4, protocol: str = "ideal", **fields: object) -> gpucoh.GPU:
    """The GPU; ``fields`` are those of its machine."""
    return gpucoh.GPU(gpucoh.machine("fermi").replace(cores=cores, **fields), protocol)

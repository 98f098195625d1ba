"""``kmn``: k-means, assignment and update, with block sums in the scratchpad's order."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.errors import ConfigError
from gpucoh.suite import inputs
from gpucoh.suite.base import (
    REGISTRY,
    GpuLike,
    Outcome,
    Parameter,
    Setting,
    Workload,
    blocks_for,
    combine,
    compare,
)
from gpucoh.suite.buffers import ReadOnlyF32

BLOCK = 128


# Features are stored one after another (structure of arrays), so that neighbouring threads read
# neighbouring words. After the assignment one thread sums each (cluster, dimension) pair over the
# block's points in their order: the sums do not depend on timing, and the second read of the points
# is reuse within the block.
@lang.kernel
def assign_points(
    points: ReadOnlyF32,
    centroids: lang.Buffer[lang.f32],
    membership: lang.Buffer[lang.i32],
    partial_sums: lang.Buffer[lang.f32],
    partial_counts: lang.Buffer[lang.i32],
    count: lang.i32,
    dimensions: lang.i32,
    clusters: lang.i32,
) -> None:
    """Assign each point to its nearest centroid; sum the block's points of each cluster."""
    members = lang.shared(lang.i32, BLOCK)
    thread = lang.thread_id()
    first = lang.block_id() * BLOCK
    point = first + thread
    nearest = -1
    if point < count:
        smallest = lang.f32(0.0)
        for cluster in range(clusters):
            distance = lang.f32(0.0)
            for dimension in range(dimensions):
                difference = (
                    points[dimension * count + point] - centroids[cluster * dimensions + dimension]
                )
                distance = distance + difference * difference
            if nearest < 0 or distance < smallest:
                smallest = distance
                nearest = cluster
        membership[point] = nearest
    members[thread] = nearest
    lang.barrier()
    here = lang.min(BLOCK, count - first)
    for pair in range(thread, clusters * dimensions, BLOCK):
        cluster = pair // dimensions
        dimension = pair % dimensions
        total = lang.f32(0.0)
        found = 0
        for j in range(here):
            if members[j] == cluster:
                total = total + points[dimension * count + first + j]
                found += 1
        partial_sums[lang.block_id() * clusters * dimensions + pair] = total
        if dimension == 0:
            partial_counts[lang.block_id() * clusters + cluster] = found


@lang.kernel
def update_centroids(
    centroids: lang.Buffer[lang.f32],
    partial_sums: lang.Buffer[lang.f32],
    partial_counts: lang.Buffer[lang.i32],
    blocks: lang.i32,
    dimensions: lang.i32,
    clusters: lang.i32,
) -> None:
    """Each centroid becomes the mean of its points; one without points stays."""
    pair = lang.global_id()
    if pair < clusters * dimensions:
        cluster = pair // dimensions
        total = lang.f32(0.0)
        found = 0
        for block in range(blocks):
            total = total + partial_sums[block * clusters * dimensions + pair]
            found += partial_counts[block * clusters + cluster]
        if found > 0:
            centroids[pair] = total / lang.f32(found)


def refuse_far_points(path: str, points: NDArray[np.float32]) -> None:
    """Reject points whose squared distances could overflow f32.

    A centroid is a mean, so a difference is at most twice the largest coordinate, and a squared
    distance at most 4 x dimensions of its squares; twice that must fit, for the rounding of the
    sums. Sums of coordinates then fit as well: overflow would need more points than are allowed.

    Raises
    ------
    ConfigError
        Names the first such point and the allowed range.
    """
    dimensions = points.shape[1]
    exact = math.sqrt(float(np.finfo(np.float32).max) / (8 * dimensions))
    largest = float(f"{exact:.3g}")  # rounded, so that the message gives the exact limit
    far = np.argwhere(np.abs(points) > largest)
    if far.size:
        point, dimension = far[0]
        raise ConfigError(
            f"points {path}: point {point} has {points[point, dimension]:g} in dimension "
            f"{dimension}; allowed: -{largest:g} to {largest:g}, so that squared distances "
            f"(dimensions: {dimensions}) fit f32"
        )


def reference_kmeans(
    points: NDArray[np.float32], centroids: NDArray[np.float32], iterations: int
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """k-means in f32 with sums in the kernels' order.

    Parameters
    ----------
    points
        float32, shape ``(count, dimensions)``.
    centroids
        float32, shape ``(clusters, dimensions)``.
    iterations
        Assignments, each followed by an update.

    Returns
    -------
    Membership of the last assignment, int32, shape ``(count,)``, and the centroids after the last
    update.
    """
    centroids = centroids.copy()
    count = points.shape[0]
    membership = np.zeros(count, np.int32)
    for _ in range(iterations):
        distances = np.zeros((count, len(centroids)), np.float32)
        for dimension in range(points.shape[1]):
            difference = points[:, dimension, None] - centroids[None, :, dimension]
            distances = distances + difference * difference
        membership = distances.argmin(axis=1).astype(np.int32)
        sums = np.zeros_like(centroids)
        for first in range(0, count, BLOCK):
            block = np.zeros_like(centroids)
            np.add.at(block, membership[first : first + BLOCK], points[first : first + BLOCK])
            sums = sums + block
        found = np.bincount(membership, minlength=len(centroids))
        filled = found > 0
        centroids[filled] = sums[filled] / found[filled, None].astype(np.float32)
    return membership, centroids


@dataclass(frozen=True)
class KMeans:
    """``kmn`` on one input."""

    points: NDArray[np.float32]
    start: NDArray[np.float32]
    iterations: int

    @classmethod
    def prepare(cls, setting: Setting) -> KMeans:
        """Points of a file, or around random centres; random points are the first centroids."""
        rng = setting.rng()
        clusters = setting.integer("clusters")
        path = setting.file_instead("points", "count", "dimensions")
        if path is not None:
            points = inputs.read_points(path)
            refuse_far_points(path, points)
        else:
            shape = setting.integer("count"), setting.integer("dimensions")
            centres = rng.normal(0, 10, (clusters, shape[1]))
            points = (
                centres[rng.integers(0, clusters, shape[0])] + rng.normal(0, 3, shape)
            ).astype(np.float32)
        if len(points) < clusters:
            raise setting.refuse(
                f"parameter clusters is {clusters}; allowed: 1 to {len(points)}, "
                "the number of points"
            )
        start = points[rng.choice(len(points), clusters, replace=False)]
        return cls(points, start, setting.integer("iterations"))

    def run(self, gpu: GpuLike) -> Outcome:
        """Two launches per iteration."""
        count, dimensions = self.points.shape
        clusters = len(self.start)
        blocks = blocks_for(count, BLOCK)
        points = gpu.array(np.ascontiguousarray(self.points.T).ravel())
        centroids = gpu.array(self.start.ravel())
        membership = gpu.zeros(count, np.int32)
        sums = gpu.zeros(blocks * clusters * dimensions, np.float32)
        counts = gpu.zeros(blocks * clusters, np.int32)
        for _ in range(self.iterations):
            gpu.launch(
                assign_points,
                grid=blocks,
                block=BLOCK,
                args=(points, centroids, membership, sums, counts, count, dimensions, clusters),
            )
            gpu.launch(
                update_centroids,
                grid=blocks_for(clusters * dimensions, BLOCK),
                block=BLOCK,
                args=(centroids, sums, counts, blocks, dimensions, clusters),
            )
        expected, means = reference_kmeans(self.points, self.start, self.iterations)
        details = {"points": count, "dimensions": dimensions, "clusters": clusters}
        return combine(
            compare("membership", membership.numpy(), expected, details=details),
            compare("centroid", centroids.numpy().reshape(means.shape), means),
        )


REGISTRY.add(
    Workload(
        id="kmn",
        title="k-means: assignment of points to centroids, and update",
        group="A",
        papers=("T", "R", "Q"),
        needs_coherence=False,
        check="membership and centroids bitwise equal to NumPy's f32",
        parameters=(
            Parameter(
                name="points",
                kind="file",
                defaults=None,
                text=".csv or .npy of points x dimensions; default: points around random centres",
            ),
            Parameter(
                name="count",
                kind="int",
                minimum=1,
                maximum=1 << 24,
                defaults={"tiny": 2048, "small": 12000, "paper": 28000},
                text="generated points",
            ),
            Parameter(
                name="dimensions",
                kind="int",
                minimum=1,
                maximum=4096,
                defaults={"tiny": 4, "small": 24, "paper": 34},
                text="dimensions of the generated points",
            ),
            Parameter(
                name="clusters",
                kind="int",
                minimum=1,
                maximum=1024,
                defaults={"tiny": 4, "small": 5, "paper": 5},
                text="clusters",
            ),
            Parameter(
                name="iterations",
                kind="int",
                minimum=1,
                maximum=1000,
                defaults={"tiny": 2, "small": 2, "paper": 5},
                text="assignments and updates",
            ),
        ),
        factory=KMeans.prepare,
    )
)

"""``kmn`` and ``kmn-qr``: k-means, transposition of the points and assignment to centroids.

Original: kmeans of Rodinia (CUDA). As there: 256 threads a block; the first launch transposes the
points from rows to columns, a point a thread (34 loads, whose lanes are 136 bytes apart, and 34
coalesced stores); then, in each iteration, a launch assigns every point to the nearest centroid and
writes its membership, and the host computes the means. No scratchpad, no sharing between blocks.
Paper scale is the original's kdd_cup: 494,020 points of 34 features, 5 clusters (assumed: the papers
state no size); the points are generated, and the number of iterations is fixed. Scale small fills
half of a core's warps, to keep runs short.

Differences: the machine has neither texture nor constant caches. The original reads centroids from
constant memory: here each block copies them into the scratchpad, whose reads leave the L1 alone as
well. It reads points as a texture: here these loads pass through the L1. A feature is read again for
the next cluster, after all other features of the core's 48 warps (204 KB), too late for a texture
cache as for an L1.

``kmn-qr`` (QuickRelease) places blocks alike in every launch, as its machine does; the host reads memberships and
writes centroids where they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.base.errors import ConfigError
from gpucoh.suite import inputs
from gpucoh.suite.base import GpuLike, Outcome, Refused, blocks_for, combine, compare, file, whole
from gpucoh.suite.buffers import ReadOnlyF32
from gpucoh.suite.declaration import workload

BLOCK = 256
CONSTANTS = 32 * 34  # words of the original's constant memory for centroids


@lang.kernel
def transpose_points(
    points: ReadOnlyF32,
    features: lang.Buffer[lang.f32],
    count: lang.i32,
    dimensions: lang.i32,
) -> None:
    """Write the rows ``points`` as columns ``features``, in which neighbouring threads read
    neighbouring words.
    """
    point = lang.global_id()
    if point < count:
        for dimension in range(dimensions):
            features[dimension * count + point] = points[point * dimensions + dimension]


@lang.kernel
def assign_points(
    features: ReadOnlyF32,
    centroids: ReadOnlyF32,
    membership: lang.Buffer[lang.i32],
    count: lang.i32,
    dimensions: lang.i32,
    clusters: lang.i32,
) -> None:
    """Assign each point to its nearest centroid."""
    constants = lang.shared(lang.f32, CONSTANTS)
    for word in range(lang.thread_id(), clusters * dimensions, BLOCK):
        constants[word] = centroids[word]
    lang.barrier()
    point = lang.global_id()
    if point < count:
        nearest = -1
        smallest = lang.f32(0.0)
        for cluster in range(clusters):
            distance = lang.f32(0.0)
            for dimension in range(dimensions):
                difference = (
                    features[dimension * count + point]
                    - constants[cluster * dimensions + dimension]
                )
                distance = distance + difference * difference
            if nearest < 0 or distance < smallest:
                smallest = distance
                nearest = cluster
        membership[point] = nearest


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


def assign(points: NDArray[np.float32], centroids: NDArray[np.float32]) -> NDArray[np.int32]:
    """Index of each point's nearest centroid, from f32 distances summed in the kernel's order."""
    distances = np.zeros((len(points), len(centroids)), np.float32)
    for dimension in range(points.shape[1]):
        difference = points[:, dimension, None] - centroids[None, :, dimension]
        distances = distances + difference * difference
    return np.asarray(distances.argmin(axis=1), np.int32)


def update(
    points: NDArray[np.float32], membership: NDArray[np.int32], centroids: NDArray[np.float32]
) -> NDArray[np.float32]:
    """The mean of each cluster's points; a cluster without points keeps its centroid."""
    found = np.bincount(membership, minlength=len(centroids))
    sums = [
        np.bincount(membership, weights=column, minlength=len(centroids)) for column in points.T
    ]
    means = np.stack(sums, axis=1) / np.maximum(found, 1)[:, None]
    return np.where(found[:, None] > 0, means, centroids).astype(np.float32)


def reference_kmeans(
    points: NDArray[np.float32], centroids: NDArray[np.float32], iterations: int
) -> tuple[list[NDArray[np.int32]], NDArray[np.float32]]:
    """k-means on the host.

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
    Membership of each assignment, int32, shape ``(count,)``, and the centroids after the last update.
    """
    memberships = []
    for _ in range(iterations):
        memberships.append(assign(points, centroids))
        centroids = update(points, memberships[-1], centroids)
    return memberships, centroids


@dataclass(frozen=True)
class Points:
    """Points, and the first centroids."""

    points: NDArray[np.float32]
    start: NDArray[np.float32]


def points_of(
    rng: Generator,
    points: str | None = file(
        ".csv or .npy of points x dimensions; default: points around random centres",
        ("count", "dimensions"),
    ),
    count: int = whole("generated points", 1, 1 << 24, 2048, 12000, 494020),
    dimensions: int = whole("dimensions of the generated points", 1, 4096, 4, 34, 34),
    clusters: int = whole("clusters", 1, 1024, 4, 5, 5),
) -> Points:
    """Points of a file, or around random centres; random points are the first centroids."""
    if points is not None:
        found = inputs.read_points(points)
        refuse_far_points(points, found)
    else:
        centres = rng.normal(0, 10, (clusters, dimensions))
        noise = centres[rng.integers(0, clusters, count)] + rng.normal(0, 3, (count, dimensions))
        found = noise.astype(np.float32)
    if len(found) < clusters:
        raise Refused(
            f"parameter clusters is {clusters}; allowed: 1 to {len(found)}, the number of points"
        )
    if clusters * found.shape[1] > CONSTANTS:
        raise Refused(
            f"clusters x dimensions is {clusters} x {found.shape[1]}; "
            f"allowed: a product of up to {CONSTANTS}, the original's constant memory"
        )
    return Points(found, found[rng.choice(len(found), clusters, replace=False)])


def cluster(gpu: GpuLike, given: Points, iterations: int) -> Outcome:
    """One launch to transpose, and one per iteration, after which the host updates."""
    points, start = given.points, given.start
    count, dimensions = points.shape
    clusters = len(start)
    blocks = blocks_for(count, BLOCK)
    features = gpu.zeros(count * dimensions, np.float32)
    gpu.launch(
        transpose_points,
        grid=blocks,
        block=BLOCK,
        args=(gpu.array(points.ravel()), features, count, dimensions),
    )
    centroids = gpu.array(start.ravel())
    membership = gpu.zeros(count, np.int32)
    expected, means = reference_kmeans(points, start, iterations)
    details = {"points": count, "dimensions": dimensions, "clusters": clusters}
    checks = []
    current = start
    for wanted in expected:
        gpu.launch(
            assign_points,
            grid=blocks,
            block=BLOCK,
            args=(features, centroids, membership, count, dimensions, clusters),
        )
        assigned = membership.numpy()
        checks.append(compare("membership", assigned, wanted, details=details))
        current = update(points, assigned, current)
        centroids[:] = current.ravel()
    columns = features.numpy().reshape(dimensions, count)
    return combine(
        compare("feature", columns, points.T), *checks, compare("centroid", current, means)
    )


ITERATIONS = whole("assignments, each followed by an update on the host", 1, 1000, 2, 2, 5)
CHECK = "transposed points, every membership and the centroids equal to NumPy's"


@workload(id="kmn", group="A", papers="TR", check=CHECK, input=points_of)
def k_means(gpu: GpuLike, given: Points, iterations: int = ITERATIONS) -> Outcome:
    """k-means: transposition of the points, assignment to centroids, update by the host"""
    return cluster(gpu, given, iterations)


@workload(id="kmn-qr", group="N", papers="Q", check=CHECK, input=points_of)
def k_means_by_place(gpu: GpuLike, given: Points, iterations: int = ITERATIONS) -> Outcome:
    """k-means: transposition of the points, assignment to centroids, update by the host"""
    return cluster(gpu, given, iterations)

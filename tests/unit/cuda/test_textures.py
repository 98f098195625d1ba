"""Texture objects and references against NumPy: filters, address modes and coordinates of CUDA's programming guide."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from products import share
from unit.cuda.compiled import cuda, needs_nvcc

PROGRAM = Path(__file__).parent / "libraries" / "textures.cu"
W, H, D, THREADS = 12, 6, 4, 64
VALUES = (np.arange(W * H * D) * 37 % 101 / 8).astype(np.float32).reshape(D, H, W)
SMALL = (np.arange(4 * W * H) * 29 % 251).astype(np.uint8)
WRAP, CLAMP, MIRROR, BORDER = range(4)


def placed(at: np.ndarray, extent: int, mode: int, normalized: bool) -> np.ndarray:
    """The texels' places in one dimension; -1: beyond the border."""
    if mode == BORDER:
        return np.where((at >= 0) & (at < extent), at, -1)
    if mode == CLAMP or not normalized:
        return at.clip(0, extent - 1)
    at = at % (2 * extent if mode == MIRROR else extent)
    return np.where(at < extent, at, 2 * extent - 1 - at)


def sampled(
    texels: np.ndarray, at: list[np.ndarray], linear: bool, mode: int, normalized: bool, border: float = 0
) -> np.ndarray:  # fmt: skip
    """Fetches of texels[.., y, x] at coordinates (x, y, ..), with weights of 8 bits."""
    low, weights = [], []
    for coordinate, extent in zip(at, reversed(texels.shape), strict=True):
        place = coordinate * np.float32(extent) if normalized else coordinate
        first = np.floor(place - np.float32(0.5) if linear else place)
        low.append(first.astype(int))
        weights.append(np.rint((place - np.float32(0.5) - first) * 256) / 256)
    total = np.zeros(len(at[0]))
    for corner in itertools.product((0, 1) if linear else (0,), repeat=len(at)):
        share, index = np.ones(len(total)), []
        for dimension, bit in enumerate(corner):
            extent = texels.shape[-1 - dimension]
            index.append(placed(low[dimension] + bit, extent, mode, normalized))
            share *= (weights[dimension] if bit else 1 - weights[dimension]) if linear else 1
        inside = np.logical_and.reduce([one >= 0 for one in index])
        total += share * np.where(inside, texels[tuple(reversed(index))], border)
    return total


@needs_nvcc
@pytest.mark.parametrize(
    ("linear", "mode", "normalized"),
    share([False, True], [WRAP, CLAMP, MIRROR, BORDER], [False, True], one_in=6),
)
def test_fetches_are_those_of_the_guide(linear: bool, mode: int, normalized: bool) -> None:
    generator = np.random.default_rng(7)
    scale = (1, 1, 1) if normalized else (W, H, D)
    at = (generator.uniform(-0.8, 1.8, (THREADS, 3)) * scale).astype(np.float32)
    text = " ".join(f"{one:.9g}" for one in at.ravel())
    words = (str(int(linear)), str(mode), str(int(normalized)))
    ran = cuda(PROGRAM, "-p", "tc-weak", "--check", "--", *words, text=text)
    lines = [line.split() for line in ran.stdout.splitlines()]
    found = {line[0]: np.array(line[1:], float) for line in lines if len(line) == THREADS + 1}
    assert "status" not in ran.stdout, ran.stdout
    assert len(found) == 8, ran.stderr
    x, y, z = at.T
    given = {"linear": linear, "mode": mode, "normalized": normalized}
    layer = np.floor(z).astype(int).clip(0, D - 1)
    layers = [sampled(VALUES[k], [x, y], **given) for k in range(D)]
    column = np.floor(x).astype(int)
    fours = VALUES.ravel()[:40].reshape(10, 4) @ [1, 2, 4, 8]
    bytes = SMALL.reshape(H, 4 * W)
    four = SMALL.reshape(H, W, 4) @ np.array([1, 2, 4, 8]) / 255
    expected = {
        "flat": sampled(VALUES[0], [x, y], **given, border=5),
        "deep": sampled(VALUES, [x, y, z], **given),
        "layers": np.choose(layer, layers),
        "row": np.where((column >= 0) & (column < 10), fours[column.clip(0, 9)], 0),
        "bytes": sampled(bytes, [x, y], **given | {"linear": False}),
        "line": np.where((column >= 0) & (column < 10), VALUES.ravel()[column.clip(0, 9)], 0),
        "plane": sampled(four, [x, y], linear=True, mode=CLAMP, normalized=False),
        "box": sampled(VALUES, [x, y, z], linear=False, mode=WRAP, normalized=True),
    }
    for name, wanted in expected.items():
        np.testing.assert_allclose(found[name], wanted, rtol=2e-5, atol=2e-5, err_msg=name)

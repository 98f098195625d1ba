"""Inputs of the workloads: readers of user files, the bundled real input, and
generators.

Every reader checks its input and raises :class:`gpucoh.ConfigError` with one line that names
the file, the place in it and what is allowed. Randomness comes only from the generator that is
passed in.
"""

from __future__ import annotations

import csv
import gzip
import io
import math
import warnings
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gpucoh.base.errors import ConfigError
from gpucoh.base.late import LATE_IMPORT
from gpucoh.base.quoting import quoted

if TYPE_CHECKING:
    import scipy.sparse

# The files that an image parameter accepts. Among our dependencies Pillow reads the most formats, but only 8 bits per
# colour of a 16-bit PNG.
IMAGE_KINDS = (
    "image file (of a 16-bit PNG with colour or alpha the upper 8 bits, of grey all) or .npy"
)

MAX_VERTICES = 1 << 27
MAX_EDGES = 1 << 30
#: Most bytes that a gzipped file may unpack to: the text of about 10^8 edges, more than a simulated graph has.
MOST_UNPACKED = 1 << 30


@dataclass(frozen=True)
class Graph:
    """A graph in compressed rows.

    Parameters
    ----------
    offsets
        int32, shape ``(vertices + 1,)``: where the neighbours of each vertex begin.
    columns
        int32, shape ``(edges,)``: the neighbours, ascending in each row, without repeats and self
        loops.
    name
        Origin of the graph.
    notes
        What a reader of the file doubts.
    """

    offsets: NDArray[np.int32]
    columns: NDArray[np.int32]
    name: str
    notes: tuple[str, ...] = ()

    @property
    def vertices(self) -> int:
        """Number of vertices."""
        return int(self.offsets.size) - 1

    @property
    def edges(self) -> int:
        """Number of directed edges."""
        return int(self.columns.size)

    def degrees(self) -> NDArray[np.int32]:
        """Out-degrees, int32, shape ``(vertices,)``."""
        return np.diff(self.offsets).astype(np.int32)

    def matrix(self) -> scipy.sparse.csr_matrix:
        """The adjacency pattern with ones as values, for scipy's graph algorithms."""
        with LATE_IMPORT:
            import scipy.sparse
        ones = np.ones(self.edges, np.float64)
        return scipy.sparse.csr_matrix(
            (ones, self.columns, self.offsets), shape=(self.vertices,) * 2
        )


def graph_from_edges(
    sources: NDArray[np.integer],
    targets: NDArray[np.integer],
    vertices: int,
    *,
    directed: bool,
    name: str,
    notes: tuple[str, ...] = (),
) -> Graph:
    """A graph from pairs; unless ``directed``, each pair counts in both directions. Repeats and self
    loops are dropped.
    """
    if not 1 <= vertices <= MAX_VERTICES:
        raise ConfigError(f"{name}: {vertices} vertices; allowed: 1 to {MAX_VERTICES}")
    first = np.asarray(sources, np.int64)
    second = np.asarray(targets, np.int64)
    if not directed:
        first, second = np.concatenate([first, second]), np.concatenate([second, first])
    keys = np.unique((first * vertices + second)[first != second])
    offsets = np.zeros(vertices + 1, np.int64)
    np.cumsum(np.bincount(keys // vertices, minlength=vertices), out=offsets[1:])
    if keys.size > MAX_EDGES:
        raise ConfigError(f"{name}: {keys.size} edges; allowed: up to {MAX_EDGES}")
    return Graph(offsets.astype(np.int32), (keys % vertices).astype(np.int32), name, notes)


# ---- files


def read_bytes(path: str, what: str) -> bytes:
    """The file's bytes, decompressed if gzipped."""
    place = Path(path)
    if not place.exists():
        raise ConfigError(f"{what} {path}: no such file")
    if place.is_dir():
        raise ConfigError(f"{what} {path}: is a folder, not a file")
    if not place.is_file():  # reading a pipe or a terminal could block forever
        raise ConfigError(f"{what} {path}: is not a regular file")
    try:
        data = place.read_bytes()
        if data[:2] != b"\x1f\x8b":
            return data
        # In pieces: a small file may unpack to more than the memory holds.
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
            data = packed.read(MOST_UNPACKED + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise ConfigError(f"{what} {path}: cannot be read ({error})") from None
    if len(data) > MOST_UNPACKED:
        raise ConfigError(
            f"{what} {path}: unpacks to more than {MOST_UNPACKED >> 20} MiB, "
            "the limit for gzipped files; unpack it first"
        )
    return data


def as_number(text: str) -> float:
    """A finite number as files spell it; Python's parser also accepts ``1_0``, NaN and the digits of every script."""
    if "_" in text or not text.isascii() or not math.isfinite(number := float(text)):
        raise ValueError(text)
    return number


def as_whole(text: str) -> int:
    """A whole number as files spell it."""
    if "_" in text or not text.isascii():
        raise ValueError(text)
    return int(text)


def read_image(path: str | None, bundled: str = "elevation") -> NDArray[np.float32]:
    """Read an image as grey values.

    Parameters
    ----------
    path
        Any format that Pillow reads, or a ``.npy`` array; None gives a bundled image. Of a 16-bit
        PNG with colour or alpha Pillow gives the upper 8 bits; of grey and of arrays all bits.
    bundled
        ``elevation``: the elevation model of the Jacksboro fault; ``photograph``: the portrait of
        Grace Hopper; both are matplotlib's sample data.

    Returns
    -------
    float32, shape ``(rows, columns)``, scaled to 0..1 (constant images give 0).

    Raises
    ------
    ConfigError
        If the file is missing, not an image, or an array of a wrong shape or type.
    """
    pixels: NDArray[Any]
    if path is None:
        name = f"bundled {bundled}"
        pixels = _bundled(bundled)
    else:
        name = f"image {path}"
        pixels = _load_npy(path, "image") if path.lower().endswith(".npy") else _load_picture(path)
    if pixels.dtype.kind not in "biuf":
        raise ConfigError(
            f"{name}: holds {pixels.dtype}; allowed: integers or floating-point numbers"
        )
    if pixels.ndim == 3 and pixels.shape[2] in (3, 4):
        pixels = pixels[..., :3].astype(np.float64) @ np.array([0.299, 0.587, 0.114])
    if pixels.ndim == 3 and pixels.shape[2] <= 2:
        pixels = pixels[..., 0]
    if pixels.ndim != 2 or min(pixels.shape) < 1:
        raise ConfigError(
            f"{name}: has shape {pixels.shape}; allowed: rows x columns, or those x 3 or 4 colours"
        )
    grey = pixels.astype(np.float64)
    if not np.all(np.isfinite(grey)):
        raise ConfigError(f"{name}: holds values that are not finite; allowed: finite numbers")
    grey = grey / 2  # so that the range of the largest floating-point numbers does not overflow
    low, high = float(grey.min()), float(grey.max())
    return ((grey - low) / (high - low if high > low else 1.0)).astype(np.float32)


def _bundled(name: str) -> NDArray[Any]:
    with LATE_IMPORT:
        from matplotlib.cbook import get_sample_data
    if name == "photograph":
        return _load_picture(str(get_sample_data("grace_hopper.jpg", asfileobj=False)))
    with np.load(get_sample_data("jacksboro_fault_dem.npz", asfileobj=False)) as bundle:
        return np.asarray(bundle["elevation"])


def _load_picture(path: str) -> NDArray[Any]:
    data = read_bytes(path, "image")
    with LATE_IMPORT:
        from PIL import Image
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(data)) as picture:
                mode = (
                    "RGB" if picture.mode in ("P", "CMYK", "YCbCr", "RGBA", "RGB") else picture.mode
                )
                return np.asarray(picture.convert(mode) if mode != picture.mode else picture)
    except Exception as error:  # Pillow's decoders raise many types
        raise ConfigError(
            f"image {path}: not a readable image ({type(error).__name__}); "
            "allowed: an image file or a .npy array"
        ) from None


def _load_npy(path: str, what: str) -> NDArray[Any]:
    read_bytes(path, what)  # reports a missing file or a folder
    try:
        return np.asarray(np.load(path, allow_pickle=False))
    except Exception as error:  # ValueError, EOFError, OSError, depending on the damage
        reason = " ".join(str(error).split())
        raise ConfigError(f"{what} {path}: not a complete .npy array ({reason})") from None


def resample(image: NDArray[np.float32], rows: int, columns: int) -> NDArray[np.float32]:
    """The image at another size, bilinear; float32, shape ``(rows, columns)``."""

    def places(
        count: int, size: int
    ) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
        position = np.clip((np.arange(count) + 0.5) * (size / count) - 0.5, 0, size - 1)
        low = np.floor(position).astype(np.intp)
        return low, np.minimum(low + 1, size - 1), position - low

    if image.shape == (rows, columns):
        return image.astype(np.float32)
    top, bottom, down = places(rows, image.shape[0])
    left, right, across = places(columns, image.shape[1])
    source = image.astype(np.float64)
    upper = source[top][:, left] * (1 - across) + source[top][:, right] * across
    lower = source[bottom][:, left] * (1 - across) + source[bottom][:, right] * across
    return (upper * (1 - down[:, None]) + lower * down[:, None]).astype(np.float32)


def read_points(path: str) -> NDArray[np.float32]:
    """Read points: a ``.npy`` array, or comma-separated text with one point per line and optionally
    one line of headings.

    Returns
    -------
    float32, shape ``(points, dimensions)``.

    Raises
    ------
    ConfigError
        If the file is missing, ragged, empty, holds text, or an array of a wrong shape or type.
    """
    if path.lower().endswith(".npy"):
        points = _load_npy(path, "points")
        if points.dtype.kind not in "iuf":
            raise ConfigError(
                f"points {path}: holds {points.dtype}; allowed: integers or floating-point numbers"
            )
    else:
        points = _read_table(path)
    if points.ndim == 1:
        points = points[:, None]
    if points.ndim != 2 or min(points.shape) < 1:
        raise ConfigError(f"points {path}: has shape {points.shape}; allowed: points x dimensions")
    with np.errstate(over="ignore"):
        narrowed = points.astype(np.float32)
    if not np.all(np.isfinite(narrowed)):
        row = int(np.argwhere(~np.isfinite(narrowed))[0][0])
        raise ConfigError(
            f"points {path}: point {row} is not finite in f32; allowed: finite numbers"
        )
    return narrowed


def _is_number(cell: str) -> bool:
    try:
        float(cell)  # NaN is one here: a line of it is no heading
    except ValueError:
        return False
    return True


def _read_table(path: str) -> NDArray[Any]:
    try:
        text = read_bytes(path, "points").decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(f"points {path}: not text; allowed: .csv text or a .npy array") from None
    rows: list[list[float]] = []
    try:
        lines = list(csv.reader(text.splitlines()))
    except csv.Error as error:
        raise ConfigError(f"points {path}: not comma-separated text ({error})") from None
    for number, cells in enumerate(lines, 1):
        if not any(cell.strip() for cell in cells):
            continue
        if number == 1 and not any(_is_number(cell) for cell in cells):
            continue  # headings
        try:
            row = [as_number(cell) for cell in cells]
        except ValueError:
            shown = ",".join(cells)[:40]
            raise ConfigError(
                f"points {path}: line {number} is {quoted(shown)}; allowed: finite numbers separated by commas, "
                "optionally after one line of headings"
            ) from None
        if rows and len(row) != len(rows[0]):
            raise ConfigError(
                f"points {path}: line {number} has {len(row)} numbers, "
                f"the first point has {len(rows[0])}"
            )
        rows.append(row)
    if not rows:
        raise ConfigError(f"points {path}: holds no point; allowed: at least 1")
    return np.array(rows, np.float64)


# ---- generators


def uniform_graph(vertices: int, rng: np.random.Generator) -> Graph:
    """The graph of Rodinia's generator: from each vertex two to four edges to vertices drawn at
    random, in both directions; degrees are about 6.
    """
    sources = np.repeat(np.arange(vertices), rng.integers(2, 5, vertices))
    targets = rng.integers(0, vertices, sources.size)
    return graph_from_edges(
        sources, targets, vertices, directed=False, name=f"uniform, {vertices} vertices"
    )


def power_law_graph(vertices: int, exponent: float, most: int, rng: np.random.Generator) -> Graph:
    """A graph whose degrees, from 1 to ``most``, follow a power law, with edges in both directions.

    Ends of edges are paired at random (the configuration model); of repeats one is kept, of self loops none.
    """
    degrees = np.arange(1, most + 1)
    weights = degrees**-exponent
    drawn = rng.choice(degrees, vertices, p=weights / weights.sum())
    ends = rng.permutation(np.repeat(np.arange(vertices), drawn))
    pairs = ends[: ends.size // 2 * 2].reshape(-1, 2)
    name = f"power law, {vertices} vertices"
    return graph_from_edges(pairs[:, 0], pairs[:, 1], vertices, directed=False, name=name)


def kronecker(levels: int, edge_factor: int, rng: np.random.Generator) -> Graph:
    """The Graph500 Kronecker graph.

    Parameters
    ----------
    levels
        log2 of the number of vertices.
    edge_factor
        Undirected edges drawn per vertex, before removal of repeats and self loops.
    rng
        Random generator.

    References
    ----------
    Graph500 specification, section 3: initiator probabilities A = 0.57, B = C = 0.19, permuted
    vertex numbers.
    """
    edges = edge_factor << levels
    probability_a, probability_b, probability_c = 0.57, 0.19, 0.19
    both = probability_a + probability_b
    c_share = probability_c / (1 - both)
    a_share = probability_a / both
    sources = np.zeros(edges, np.int64)
    targets = np.zeros(edges, np.int64)
    for level in range(levels):
        lower = rng.random(edges) > both
        right = rng.random(edges) > np.where(lower, c_share, a_share)
        sources += lower.astype(np.int64) << level
        targets += right.astype(np.int64) << level
    permutation = rng.permutation(1 << levels)
    return graph_from_edges(
        permutation[sources],
        permutation[targets],
        1 << levels,
        directed=False,
        name=f"kronecker(levels={levels}, edge_factor={edge_factor})",
    )


def grid_graph(rows: int, columns: int) -> Graph:
    """A 2-D grid: each vertex has edges to its four neighbours."""
    numbers = np.arange(rows * columns, dtype=np.int64).reshape(rows, columns)
    sources = np.concatenate([numbers[:, :-1].ravel(), numbers[:-1].ravel()])
    targets = np.concatenate([numbers[:, 1:].ravel(), numbers[1:].ravel()])
    return graph_from_edges(
        sources, targets, rows * columns, directed=False, name=f"grid({rows} x {columns})"
    )

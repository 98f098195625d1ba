"""Readers of graph files: Matrix Market, edge list, METIS, DIMACS; other formats are recognised and refused by name.

A graph is never guessed: where a text fits a format other than the one that it would be read as, it is refused until
``format`` names its format. What may be meant otherwise, but is read, is a note of the graph.
"""

from __future__ import annotations

import io
import math
import re
import tarfile
import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpucoh.base.errors import ConfigError
from gpucoh.base.late import LATE_IMPORT
from gpucoh.base.quoting import quoted
from gpucoh.suite.inputs import (
    MAX_VERTICES,
    Graph,
    as_number,
    as_whole,
    graph_from_edges,
    read_bytes,
)

#: Values of the parameter ``format``.
FORMATS = ("auto", "mtx", "edges", "metis", "dimacs")
ALLOWED = "Matrix Market, edge list, METIS or DIMACS .gr, possibly gzipped"
_MARK = b"\xef\xbb\xbf"
# How files of other formats begin, what they are, and what to do with them.
_UNPACK = "unpack it: of compressed files only gzip is read"
_BEGINNINGS = (
    (b"\xfd7zXZ\x00", f"compressed by xz; {_UNPACK}"),
    (b"BZh", f"compressed by bzip2; {_UNPACK}"),
    (b"PK\x03\x04", f"a zip archive; {_UNPACK}"),
    (b"(\xb5/\xfd", f"compressed by zstd; {_UNPACK}"),
    (b"7z\xbc\xaf\x27\x1c", f"a 7z archive; {_UNPACK}"),
    (b"\xff\xfe", "text in UTF-16; save it as UTF-8"),
    (b"\xfe\xff", "text in UTF-16; save it as UTF-8"),
    (b"AdjacencyGraph", "a Ligra adjacency graph; write it as an edge list"),
    (b"WeightedAdjacencyGraph", "a Ligra adjacency graph; write it as an edge list"),
    (b"EdgeArray", "a PBBS edge array; remove line 1, which leaves an edge list"),
    (b"<?xml", "XML, such as GraphML; write it as an edge list"),
    (b"graph [", "GML; write it as an edge list"),
)


def read_graph(path: str, *, directed: bool = False, form: str = "auto") -> Graph:
    """Read a graph file, possibly gzipped.

    Parameters
    ----------
    path
        The file. A byte order mark of UTF-8 is skipped.
    directed
        Whether edges count in one direction; METIS files have both.
    form
        One of :data:`FORMATS`; ``auto`` recognises the format by content and name.

    Raises
    ------
    ConfigError
        If the file is missing or not of an allowed format, or if its format is in doubt.
    """
    data = read_bytes(path, "graph").removeprefix(_MARK)
    if not data.strip():
        raise ConfigError(f"graph {path}: the file is empty; allowed: {ALLOWED}")
    _refuse_others(path, data)
    banner = data[:14].lower() == b"%%matrixmarket"
    if form == "mtx" or (form == "auto" and (banner or _named(path, ".mtx"))):
        if not banner:  # its vertices count from 1, an edge list's from 0
            raise ConfigError(
                f"graph {path}: line 1 does not begin with %%MatrixMarket, as a Matrix Market file must"
            )
        return _matrix_market(path, data, directed)
    text = _Text(path, data)
    if form == "metis" or (form == "auto" and (_named(path, ".graph") or _named(path, ".metis"))):
        return _metis(text)
    if form == "dimacs" or (form == "auto" and text.is_dimacs()):
        return _dimacs(text, directed)
    return _edge_list(text, directed, sure=form == "edges")


def _named(path: str, ending: str) -> bool:
    return path.lower().removesuffix(".gz").endswith(ending)


def _refuse_others(path: str, data: bytes) -> None:
    """Refuse files of other formats by name."""
    what = next((what for start, what in _BEGINNINGS if data.startswith(start)), None)
    if what is None and _is_tar(data):
        what = "a tar archive; unpack it, and give the file inside"
    if what is None:
        what = _binary_graph(data)
    if what is None and re.match(rb"%\s*matrixmarket", data[:40], re.IGNORECASE):
        what = "Matrix Market with one % where line 1 must begin with %%MatrixMarket; add a %"
    if what is not None:
        raise ConfigError(f"graph {path}: is {what} (allowed: {ALLOWED})")


def _is_tar(data: bytes) -> bool:
    """Whether the first block is the header of a tar archive: its checksum is right."""
    try:
        tarfile.TarInfo.frombuf(data[:512], "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        return False
    return True


def _binary_graph(data: bytes) -> str | None:
    """The binary formats whose sizes fit the file: Galois .gr, GAP .sg and .wsg."""
    advice = "write it as an edge list"
    if len(data) >= 32:
        version, weight, vertices, edges = (int(item) for item in np.frombuffer(data[:32], "<u8"))
        if version in (1, 2) and weight <= 16 and 32 + 8 * vertices + 4 * edges <= len(data):
            return f"a Galois binary graph (.gr); {advice}"
    if len(data) >= 25 and data[0] <= 1:
        edges, vertices = (int(item) for item in np.frombuffer(data[1:17], "<i8"))
        if vertices > 0 and edges >= 0 and 25 + 8 * vertices + 4 * edges <= len(data):
            return f"a GAP serialised graph (.sg or .wsg); {advice}"
    return None


class _Text:
    """The lines of a file.

    Parameters
    ----------
    path
        The file, for messages.
    data
        Its bytes.
    """

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        try:
            self.lines = data.decode("utf-8").splitlines()
        except UnicodeDecodeError:
            raise ConfigError(f"graph {path}: not text; allowed: {ALLOWED}") from None

    def fail(self, at: int, allowed: str) -> ConfigError:
        """The error for line ``at``, from 1."""
        shown = quoted(self.lines[at - 1].strip())
        return ConfigError(f"graph {self.path}: line {at} is {shown}; allowed: {allowed}")

    def is_dimacs(self) -> bool:
        """Whether the first line that is not blank is a comment or the problem line of DIMACS."""
        first = next((line.split() for line in self.lines if line.strip()), [""])
        return first[0] in ("c", "p")

    def graph(
        self,
        edges: NDArray[np.int64],
        vertices: int,
        *,
        directed: bool,
        notes: tuple[str, ...] = (),
    ) -> Graph:
        """The graph of pairs of vertices."""
        name = Path(self.path).name
        return graph_from_edges(
            edges[:, 0], edges[:, 1], vertices, directed=directed, name=name, notes=notes
        )


# ---- Matrix Market


def _matrix_market(path: str, data: bytes, directed: bool) -> Graph:
    with LATE_IMPORT:
        import scipy.io
        import scipy.sparse
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            matrix = scipy.io.mmread(io.BytesIO(data))
    except Exception as error:  # the parsers behind mmread raise many types
        reason = _late_comment(data) or " ".join(str(error).split()) or type(error).__name__
        raise ConfigError(f"graph {path}: not a complete Matrix Market file ({reason})") from None
    entries = scipy.sparse.coo_matrix(matrix)
    rows, columns = entries.shape
    if rows != columns:
        raise ConfigError(
            f"graph {path}: {rows} x {columns} is not square; a graph needs as many rows as columns"
        )
    if rows == 0:
        raise ConfigError(f"graph {path}: has no vertices; allowed: at least 1")
    if not np.isfinite(entries.data).all():
        raise ConfigError(f"graph {path}: {_not_finite(data)}; allowed: finite numbers")
    return graph_from_edges(entries.row, entries.col, rows, directed=directed, name=Path(path).name)


def _not_finite(data: bytes) -> str:
    """The first line with a weight that is no finite number."""
    for at, line in enumerate(data.splitlines(), 1):
        words = [] if line.lstrip().startswith(b"%") else line.split()
        for word in words:
            if not math.isfinite(float(word.replace(b"D", b"E").replace(b"d", b"e"))):
                return f"line {at} has the weight {quoted(word.decode())}"
    return "a weight is no number"


def _late_comment(data: bytes) -> str:
    """The first comment after the size line, in words."""
    sized = False
    for at, line in enumerate(data.splitlines(), 1):
        comment = line.lstrip().startswith(b"%")
        if comment and sized:
            return f"line {at} is a comment after the size line; allowed: comments before it"
        sized |= bool(line.strip()) and not comment
    return ""


# ---- edge list


def _edge_list(text: _Text, directed: bool, sure: bool) -> Graph:
    """Two vertex numbers from 0 a line; with ``sure``, lines may have different lengths and line 1 is an edge."""
    pairs: list[tuple[int, int]] = []
    width, first = 0, 0
    for at, line in enumerate(text.lines, 1):
        fields = line.replace(",", " ").split()
        if not fields or fields[0][0] in "#%":
            continue
        if fields[0].endswith(":"):
            raise text.fail(
                at,
                "two vertex numbers from 0; an adjacency list is not read: write one edge a line",
            )
        try:
            pair = (as_whole(fields[0]), as_whole(fields[1]))
            for field in fields[2:]:
                as_number(field)
        except (ValueError, IndexError):
            allowed = "two vertex numbers from 0, optionally more finite numbers, or a # comment"
            raise text.fail(at, allowed) from None
        width, first = width or len(fields), first or at
        if len(fields) != width and not sure:
            raise text.fail(
                at,
                f"{width} numbers, as on line {first}; an adjacency list or a line of counts is not read "
                "(format=edges reads the first two numbers of each line)",
            )
        if min(pair) < 0 or max(pair) >= MAX_VERTICES:
            wrong = min(pair) if min(pair) < 0 else max(pair)
            raise ConfigError(
                f"graph {text.path}: line {at} names vertex {quoted(wrong)}; allowed: 0 to {MAX_VERTICES - 1}"
            )
        pairs.append(pair)
    if not pairs:
        raise ConfigError(f"graph {text.path}: holds no edge; allowed: {ALLOWED}")
    edges = np.array(pairs, np.int64)
    if not sure and (kind := _first_line_as_counts(edges)):
        raise text.fail(
            first,
            f"an edge, but it may be {kind}: remove it, or give format=edges if it is an edge, "
            "format=metis if the file is METIS",
        )
    return text.graph(edges, int(edges.max()) + 1, directed=directed, notes=_gaps(text.path, edges))


def _first_line_as_counts(edges: NDArray[np.int64]) -> str | None:
    """What the first pair may count: vertices and edges, if the other lines fit."""
    (vertices, count), others = edges[0], edges[1:]
    if not others.size or others.max() > vertices:
        return None
    if len(others) in (count, 2 * count):
        return "the numbers of vertices and edges"
    return "a matrix's size" if vertices == count == others.max() else None


def _gaps(path: str, edges: NDArray[np.int64]) -> tuple[str, ...]:
    """A note where many vertices have no edge."""
    named = np.unique(edges)
    last = int(named[-1])
    if last + 1 > 2 * named.size:
        return (
            f"graph {path}: edges name {named.size} of the vertices 0 to {last}; the others have no edges",
        )
    if named[0] == 1 and named.size > 1:
        what = "no edge names vertex 0, which is read as a vertex without edges"
        return (f"graph {path}: {what}; numbers of an edge list count from 0",)
    return ()


# ---- METIS


def _metis(text: _Text) -> Graph:
    """The format of METIS and of the DIMACS-10 collection: counts, then the neighbours of each vertex, from 1."""
    rows = (
        (at, line) for at, line in enumerate(text.lines, 1) if not line.lstrip().startswith("%")
    )
    first = next(((at, line) for at, line in rows if line.strip()), None)
    if first is None:
        raise ConfigError(f"graph {text.path}: has no header; allowed: a METIS graph")
    vertices, edges, skipped, step = _metis_header(text, first[0])
    pairs: list[NDArray[np.int64]] = []
    count = 0
    for at, line in rows:
        count += 1
        if count > vertices:
            if line.strip():
                raise text.fail(at, f"{vertices} lines of neighbours, as the METIS header says")
            continue
        pairs.append(_metis_row(text, at, vertices, skipped, step, count))
    if count < vertices:
        raise ConfigError(
            f"graph {text.path}: has {count} lines of neighbours; allowed: {vertices}, as the METIS header says"
        )
    found = np.concatenate(pairs)
    keys = np.sort(found[:, 0] * vertices + found[:, 1])
    if len(found) != 2 * edges:
        raise ConfigError(
            f"graph {text.path}: lists {len(found)} neighbours; allowed: {2 * edges}, "
            f"each of the header's {edges} edges twice"
        )
    if not np.array_equal(keys, np.sort(found[:, 1] * vertices + found[:, 0])):
        missing = np.setdiff1d(found[:, 1] * vertices + found[:, 0], keys)
        one, other = divmod(int(missing[0]), vertices) if missing.size else (0, 0)
        raise ConfigError(
            f"graph {text.path}: vertex {other + 1} lists vertex {one + 1}, which does not list it; "
            "allowed in METIS: undirected edges"
        )
    return text.graph(found, vertices, directed=True)


def _metis_header(text: _Text, at: int) -> tuple[int, int, int, int]:
    """Vertices, edges, numbers before the neighbours of a line, and numbers for each neighbour."""
    fields = text.lines[at - 1].split()
    allowed = "a METIS header: vertices, edges, optionally the format (three digits 0 or 1) and the number of weights"
    if not 2 <= len(fields) <= 4:
        raise text.fail(at, allowed)
    try:
        vertices, edges = as_whole(fields[0]), as_whole(fields[1])
        weights = as_whole(fields[3]) if len(fields) == 4 else 1
    except ValueError:
        raise text.fail(at, allowed) from None
    flags = fields[2].zfill(3) if len(fields) > 2 else "000"
    fits = re.fullmatch("[01]{3}", flags) and 1 <= vertices <= MAX_VERTICES and edges >= 0
    if not fits or not 1 <= weights <= 1000:
        raise text.fail(at, allowed)
    sizes, by_vertex, by_edge = (digit == "1" for digit in flags)
    return vertices, edges, sizes + by_vertex * weights, 1 + by_edge


def _metis_row(
    text: _Text, at: int, vertices: int, skipped: int, step: int, vertex: int
) -> NDArray[np.int64]:
    """The edges of one vertex; its weights and those of its edges are checked."""
    try:
        values = [as_whole(field) for field in text.lines[at - 1].split()]
    except ValueError:
        raise text.fail(at, "whole numbers") from None
    row = values[skipped:]
    if len(values) < skipped or len(row) % step:
        raise text.fail(at, f"{skipped} weights, then {step} numbers for each neighbour")
    ends = np.array(row[::step] if max(row, default=0) < 1 << 62 else [0], np.int64)
    if ends.size and not (ends.min() >= 1 and ends.max() <= vertices):
        raise text.fail(at, f"neighbours from 1 to {vertices}")
    if any(value < 0 for value in values):
        raise text.fail(at, "weights of at least 0")
    return np.stack([np.full(ends.size, vertex - 1), ends - 1], axis=1)


# ---- DIMACS


def _dimacs(text: _Text, directed: bool) -> Graph:
    """The format of the DIMACS shortest-path challenge: ``p sp VERTICES ARCS``, then ``a FROM TO WEIGHT``."""
    counts: tuple[int, int] | None = None
    pairs: list[tuple[int, int]] = []
    for at, line in enumerate(text.lines, 1):
        kind, *fields = line.split() or ["c"]
        if kind == "c":
            continue
        if kind == "p" and counts is None and fields[:1] == ["sp"]:
            counts = _wholes(text, at, fields[1:], 2, "p sp VERTICES ARCS")
        elif kind == "p":
            raise text.fail(
                at, "one line p sp VERTICES ARCS: of DIMACS the shortest-path format is read"
            )
        elif kind == "a" and counts is not None:
            pair = _wholes(text, at, fields, 3, "a FROM TO WEIGHT")
            if not (min(pair) >= 1 and max(pair) <= counts[0]):
                raise text.fail(at, f"vertices from 1 to {counts[0]}")
            pairs.append(pair)
        else:
            raise text.fail(at, "c comments, p sp VERTICES ARCS, then a FROM TO WEIGHT (DIMACS)")
    if counts is None:
        raise ConfigError(f"graph {text.path}: has no line p sp VERTICES ARCS, as DIMACS files do")
    if len(pairs) != counts[1]:
        raise ConfigError(
            f"graph {text.path}: has {len(pairs)} arcs; allowed: {counts[1]}, as its p line says"
        )
    edges = np.array(pairs, np.int64).reshape(-1, 2) - 1
    return text.graph(edges, counts[0], directed=directed)


def _wholes(text: _Text, at: int, fields: list[str], count: int, allowed: str) -> tuple[int, int]:
    """The first two of ``count`` whole numbers."""
    try:
        values = [as_whole(field) for field in fields]
    except ValueError:
        values = []
    if len(values) != count:
        raise text.fail(at, allowed)
    return values[0], values[1]

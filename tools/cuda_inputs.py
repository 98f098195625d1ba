"""Inputs of Rodinia's programs in their files' forms, and what right outputs are: for cuda_suites.py."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np


def graph(folder: Path) -> None:
    """A random graph in the form of Rodinia's bfs."""
    generator = np.random.default_rng(1)
    degrees = generator.integers(1, 6, 1000)
    starts = np.concatenate([[0], degrees.cumsum()[:-1]])
    edges = generator.integers(0, 1000, degrees.sum())
    lines = ["1000", *(f"{s} {d}" for s, d in zip(starts, degrees, strict=True)), "", "0", ""]
    lines += [str(len(edges)), *(f"{to} 1" for to in edges)]
    (folder / "graph.txt").write_text("\n".join(lines) + "\n")


def check_bfs(text: str, folder: Path) -> str:
    """Distances from vertex 0."""
    words = (folder / "graph.txt").read_text().split()
    nodes = np.array(words[1:2001], int).reshape(-1, 2)
    edges = np.array(words[2003::2], int)
    wanted, front, distance = np.full(1000, -1), [0], 0
    while front:
        wanted[front] = distance
        following = {int(to) for v in front for to in edges[nodes[v, 0] : nodes[v].sum()]}
        front, distance = [v for v in following if wanted[v] < 0], distance + 1
    found = [int(n) for n in re.findall(r"cost:(-?\d+)", (folder / "result.txt").read_text())]
    return "" if found == wanted.tolist() else "distances differ"


def grids(folder: Path) -> None:
    """Temperatures and powers of 64 by 64 cells; eight layers for hotspot3D."""
    generator = np.random.default_rng(2)
    for name, low, high in (("temp", 320, 340), ("power", 0, 0.01)):
        values = generator.uniform(low, high, 64 * 64 * 8)
        (folder / f"{name}.txt").write_text("\n".join(f"{v:.6f}" for v in values) + "\n")


def check_hotspot(text: str, folder: Path) -> str:
    """Four steps of the heat equation, in f32."""
    f, n = np.float32, 64
    temp, power = (
        np.loadtxt(folder / f"{name}.txt", f)[: n * n].reshape(n, n) for name in ("temp", "power")
    )
    side = f(0.016) / f(n)
    capacity = f(0.5) * f(1.75e6) * f(0.0005) * side * side
    across, through = side / (f(2) * f(100) * f(0.0005) * side), f(0.0005) / (f(100) * side * side)
    step = f(0.001) / (f(3.0e6) / (f(0.5) * f(0.0005) * f(1.75e6)))
    for _ in range(4):
        padded = np.pad(temp, 1, mode="edge")
        change = power + (padded[2:, 1:-1] + padded[:-2, 1:-1] - 2 * temp) / across
        change += (padded[1:-1, 2:] + padded[1:-1, :-2] - 2 * temp) / across + (80 - temp) / through
        temp = temp + step / capacity * change
    found = np.loadtxt(folder / "hot.out")[:, 1].reshape(n, n)
    return "" if np.allclose(found, temp, rtol=1e-5) else "temperatures differ"


def check_pathfinder(text: str, folder: Path) -> str:
    """The cheapest paths down a grid, which the program prints with it."""
    rows = [
        [int(n) for n in line.split()] for line in text.splitlines() if re.match(r"[\d ]+$", line)
    ]
    rows = [row for row in rows if len(row) == 200]
    cost = np.array(rows[0])
    for row in rows[1:20]:
        padded = np.pad(cost, 1, constant_values=1 << 30)
        cost = np.array(row) + np.minimum(np.minimum(padded[:-2], padded[2:]), cost)
    return "" if cost.tolist() == rows[-1] and len(rows) == 22 else "costs differ"


def hurricanes(folder: Path) -> None:
    """Records of 49 bytes and the list of their files, in the form of Rodinia's nn."""
    generator = np.random.default_rng(3)
    lines = [
        f"{year:4d} {month:2d} {day:2d} {hour:2d} {number:2d} {'HURRICANE':9s} {lat:5.1f} {lon:5.1f} "
        f"{speed:4d} {press:4d}"
        for year, month, day, hour, number, speed, press, lat, lon in zip(
            *(generator.integers(*bounds, 2000) for bounds in
              ((1950, 2005), (1, 13), (1, 29), (0, 24), (1, 29), (10, 165), (100, 900))),
            generator.uniform(7, 70, 2000), generator.uniform(0, 358, 2000), strict=True,
        )
    ]  # fmt: skip
    (folder / "hurricanes.db").write_text("\n".join(lines) + "\n")
    (folder / "list.txt").write_text("hurricanes.db\n")


def keys(folder: Path) -> None:
    """Keys of a tree, and two bundles of queries."""
    values = np.random.default_rng(4).permutation(4000)
    (folder / "keys.txt").write_text("\n".join(map(str, [len(values), *values])) + "\n")
    (folder / "queries.txt").write_text("j 64 30\nk 256\n")


def image(folder: Path) -> None:
    """Pixels of 128 by 128, where Rodinia's dwt2d looks for them."""
    place = folder.parents[1] / "data" / "dwt2d"
    place.mkdir(parents=True)
    (place / "pixels.bmp").write_bytes(np.random.default_rng(5).bytes(3 * 128 * 128))


def symbols(folder: Path) -> None:
    """Bytes of unequal shares."""
    shares = np.arange(256, 0, -1) / np.arange(257).sum()
    values = np.random.default_rng(6).choice(256, 16 * 1024, p=shares)
    (folder / "symbols.bin").write_bytes(values.astype(np.uint8).tobytes())


def film(folder: Path) -> None:
    """Two frames of 512 by 600 pixels as AVI without compression: smooth noise, which moves by a pixel."""

    def chunk(name: bytes, *parts: bytes) -> bytes:
        data = b"".join(parts)
        return name + struct.pack("<I", len(data)) + data

    width, height, frames = 512, 600, 2
    noise = np.random.default_rng(8).random((height + 16, width + 16 + frames))
    for axis in (0, 1):
        noise = sum(np.roll(noise, k, axis) for k in range(8)) / 8
    pixels = (255 * (noise - noise.min()) / np.ptp(noise)).astype(np.uint8)
    shots = [pixels[:height, k : width + k].tobytes() for k in range(frames)]
    size = len(shots[0])
    head = struct.pack("<14I", 40_000, size, 0, 16, frames, 0, 1, size, width, height, 0, 0, 0, 0)
    stream = b"vidsDIB " + struct.pack("<12I", 0, 0, 0, 1, 25, 0, frames, size, 0, 0, 0, 0)
    shape = struct.pack("<3I2H6I", 40, width, height, 1, 8, 0, size, 0, 0, 0, 0)
    streams = chunk(b"LIST", b"strl", chunk(b"strh", stream), chunk(b"strf", shape))
    index = b"".join(
        b"00db" + struct.pack("<3I", 16, 4 + k * (size + 8), size) for k in range(frames)
    )
    film = chunk(
        b"RIFF",
        b"AVI ",
        chunk(b"LIST", b"hdrl", chunk(b"avih", head), streams),
        chunk(b"LIST", b"movi", *(chunk(b"00db", shot) for shot in shots)),
        chunk(b"idx1", index),
    )
    (folder / "film.avi").write_bytes(film)


def cell(folder: Path) -> None:
    """Initial values of myocyte's 91 equations and its 18 parameters: a cell at rest, with a potential of -85 mV."""
    generator = np.random.default_rng(9)
    values, parameters = generator.uniform(0.05, 0.15, 91), generator.uniform(0.5, 1.5, 18)
    values[38], parameters[15] = -85, 1000
    data = folder.parents[1] / "data" / "myocyte"
    data.mkdir(parents=True)
    np.savetxt(data / "y.txt", values, "%.6f")
    np.savetxt(data / "params.txt", parameters, "%.6f")


def mesh(folder: Path) -> None:
    """A grid of 16 by 12 cells in the form of Rodinia's cfd, in a far field."""
    lines = ["192"]
    for y in range(12):
        for x in range(16):
            words = ["1.0"]
            for dx, dy in ((-1, 0), (1, 0), (0, -1), (0, 1)):
                inside = 0 <= x + dx < 16 and 0 <= y + dy < 12
                words += [
                    str(16 * (y + dy) + x + dx + 1 if inside else -2),
                    str(-dx),
                    str(-dy),
                    "0",
                ]
            lines.append(" ".join(words))
    (folder / "mesh.txt").write_text("\n".join(lines) + "\n")


def numbers(folder: Path) -> None:
    """Numbers to sort, and 400 points with their numbers and eight coordinates."""
    generator = np.random.default_rng(10)
    np.savetxt(folder / "numbers.txt", generator.uniform(0, 1000, 16 * 1024), "%.6f")
    points = generator.uniform(0, 10, (400, 8))
    lines = (" ".join([str(k), *map("{:.3f}".format, one)]) for k, one in enumerate(points))
    (folder / "points.txt").write_text("\n".join(lines) + "\n")


INPUTS: dict[str, Callable[[Path], None]] = {
    one.__name__: one
    for one in (graph, grids, hurricanes, keys, image, symbols, mesh, film, cell, numbers)
}
ORACLES: dict[str, Callable[[str, Path], str]] = {
    "bfs": check_bfs,
    "hotspot": check_hotspot,
    "pathfinder": check_pathfinder,
}

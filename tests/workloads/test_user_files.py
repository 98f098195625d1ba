"""Do workloads take the pictures and tables that users have, whatever their kind, and give right answers on them?"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import gpucoh
from gpucoh import suite
from gpucoh.suite import inputs
from products import share

COLOURS = (np.random.default_rng(5).random((21, 34, 4)) * 255).astype(np.uint8)
GREY = COLOURS[..., 0]

PICTURES = {
    "rgba.png": Image.fromarray(COLOURS),
    "rgb.png": Image.fromarray(COLOURS[..., :3]),
    "rgb.jpg": Image.fromarray(COLOURS[..., :3]),
    "cmyk.jpg": Image.fromarray(COLOURS[..., :3]).convert("CMYK"),
    "grey.png": Image.fromarray(GREY),
    "grey.jpg": Image.fromarray(GREY),
    "grey_and_alpha.png": Image.fromarray(GREY).convert("LA"),
    "palette.png": Image.fromarray(COLOURS[..., :3]).convert("P"),
    "palette.gif": Image.fromarray(COLOURS[..., :3]).convert("P"),
    "bits.png": Image.fromarray(GREY).convert("1"),
    "sixteen_bits.png": Image.fromarray(GREY.astype(np.uint16) * 257),
    "floats.tiff": Image.fromarray(GREY.astype(np.float32)),
    "one_pixel.png": Image.fromarray(GREY[:1, :1]),
    "one_row.png": Image.fromarray(GREY[:1]),
    "one_column.png": Image.fromarray(GREY[:, :1]),
}


@pytest.fixture
def picture(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    path = tmp_path / request.param
    PICTURES[request.param].save(path)
    return str(path)


@pytest.mark.parametrize("picture", share(PICTURES, one_in=4), indirect=True)
@pytest.mark.parametrize("workload", share(["rg", "hsp"], one_in=4))
def test_any_picture_is_taken(workload: str, picture: str) -> None:
    size = {"rows": 32, "columns": 48}
    result = gpucoh.run(workload, protocol="ideal", scale="tiny", params={"image": picture} | size)
    assert result.correct, result.where


@pytest.mark.parametrize(
    "picture", ["rgba.png", "rgb.png", "sixteen_bits.png", "grey_and_alpha.png"], indirect=True
)
def test_a_picture_keeps_its_size_and_its_lightest_and_darkest(picture: str) -> None:
    grey = inputs.read_image(picture)
    assert grey.shape == (21, 34)
    assert (grey.min(), grey.max()) == (0, 1)


def png_of_16_bits(samples: np.ndarray) -> bytes:
    """A PNG of 16 bits a sample, rows x columns x samples, which Pillow cannot write in colour."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    rows, columns, count = samples.shape
    kind = {1: 0, 2: 4, 3: 2, 4: 6}[count]
    header = struct.pack(">IIBBBBB", columns, rows, 16, kind, 0, 0, 0)
    lines = b"".join(b"\0" + row.astype(">u2").tobytes() for row in samples)
    chunks = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


@pytest.mark.parametrize(("samples", "kept"), [(1, 16), (2, 8), (3, 8), (4, 8)])
def test_16_bits_are_kept_of_grey_and_documented_as_lost_of_colours(
    tmp_path: Path, samples: int, kept: int
) -> None:
    grey = np.array([[0, 1, 300, 65535]], np.uint16)
    (tmp_path / "p.png").write_bytes(png_of_16_bits(np.repeat(grey[..., None], samples, axis=2)))
    read = inputs.read_image(str(tmp_path / "p.png"))
    assert np.allclose(read, (grey >> (16 - kept)) / (2**kept - 1), atol=1e-7)
    for workload in gpucoh.workloads().values():
        texts = [p.text for p in workload.parameters if p.name == "image"]
        assert all("16-bit PNG with colour or alpha the upper 8 bits" in text for text in texts)


def test_the_range_of_the_largest_numbers_is_one_too(tmp_path: Path) -> None:
    np.save(tmp_path / "wide.npy", np.array([[1.7e308, -1.7e308], [0, 0]]))
    assert inputs.read_image(str(tmp_path / "wide.npy")).tolist() == [[1, 0], [0.5, 0.5]]


TABLES = {
    "plain": "1,2\n3,4\n5,6\n7,9\n",
    "headings": "x,y\n1,2\n3,4\n5,6\n7,9\n",
    "byte order mark": "\ufeff1,2\n3,4\n5,6\n7,9\n",
    "crlf": "1,2\r\n3,4\r\n5,6\r\n7,9\r\n",
    "quotes": '"1","2"\n"3","4"\n"5","6"\n"7","9"\n',
    "blank lines": "\n1, 2\n\n3, 4\n5, 6\n7, 9\n\n",
}


@pytest.mark.parametrize("table", share(TABLES, one_in=4))
def test_kmn_takes_any_table(tmp_path: Path, table: str) -> None:
    path = tmp_path / "points.csv"
    path.write_text(TABLES[table], encoding="utf-8", newline="")
    assert inputs.read_points(str(path)).tolist() == [[1, 2], [3, 4], [5, 6], [7, 9]]
    params = {"points": str(path), "clusters": 2}
    assert gpucoh.run("kmn", protocol="ideal", scale="tiny", params=params).correct


@pytest.mark.parametrize("dtype", share(["<f4", ">f4", "<f8", "<f2", "<i4", "|u1"], one_in=4))
def test_kmn_takes_any_array_of_numbers(tmp_path: Path, dtype: str) -> None:
    points = np.arange(24).reshape(8, 3).astype(dtype)
    np.save(tmp_path / "points.npy", np.asfortranarray(points))
    params = {"points": str(tmp_path / "points.npy"), "clusters": 3}
    assert gpucoh.run("kmn", protocol="ideal", scale="tiny", params=params).correct


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,2x\n3,4\n", "line 1 is '1,2x'"),  # no headings: one of them is a number
        ("x,y\nu,v\n1,2\n", "line 2 is 'u,v'"),
        ("1,2\n3,1_0\n", "line 2 is '3,1_0'"),
        ("1,2,\n3,4,\n", "line 1 is '1,2,'"),
        ('"' + "1" * 200_000 + "\n", "not comma-separated text"),
    ],
)
def test_a_table_that_is_none_is_refused_with_its_line(
    tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "points.csv"
    path.write_text(text)
    with pytest.raises(gpucoh.ConfigError) as error:
        inputs.read_points(str(path))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_more_clusters_than_points_are_refused(tmp_path: Path) -> None:
    (tmp_path / "points.csv").write_text("1,2\n3,4\n")
    params = {"points": str(tmp_path / "points.csv"), "clusters": 3}
    with pytest.raises(gpucoh.ConfigError, match="allowed: 1 to 2, the number of points"):
        gpucoh.run("kmn", protocol="ideal", scale="tiny", params=params)


def test_centroids_that_exceed_the_constants_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "points.npy", np.zeros((40, 32), np.float32))
    params = {"points": str(tmp_path / "points.npy"), "clusters": 35}
    with pytest.raises(gpucoh.ConfigError, match="is 35 x 32; allowed: a product of up to 1088"):
        suite.workload("kmn").prepare("tiny", 0, params)


@pytest.mark.parametrize(
    ("largest", "message"),
    [
        (3e38, r"point 1 has 3e\+38 in dimension 1; allowed: -4.61e\+18 to 4.61e\+18, so that"),
        (-1e20, r"point 1 has -1e\+20 in dimension 1; allowed: -4.61e\+18 to 4.61e\+18, so that"),
    ],
)
def test_points_whose_squares_leave_f32_are_refused(
    tmp_path: Path, largest: float, message: str
) -> None:
    points = np.array([[1, 2], [3, largest], [-largest, 4], [5, 6]], np.float32)
    np.save(tmp_path / "points.npy", points)
    params = {"points": str(tmp_path / "points.npy"), "clusters": 3, "iterations": 4}
    with pytest.raises(gpucoh.ConfigError, match=message) as error:
        gpucoh.run("kmn", protocol="ideal", scale="tiny", params=params)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("dimensions", [1, 2, 7])
def test_the_farthest_points_that_are_allowed_have_right_answers(
    tmp_path: Path, dimensions: int
) -> None:
    largest = np.float32(0.99 * (float(np.finfo(np.float32).max) / (8 * dimensions)) ** 0.5)
    signs = np.random.default_rng(3).choice([-1, 1], (300, dimensions))
    np.save(tmp_path / "points.npy", (signs * largest).astype(np.float32))
    params = {"points": str(tmp_path / "points.npy"), "clusters": 3, "iterations": 4}
    result = gpucoh.run("kmn", protocol="ideal", scale="tiny", params=params)
    assert result.correct, result.where


@pytest.mark.parametrize(
    ("workload", "params", "message"),
    [
        ("kmn", {"points": "F", "count": 4}, "parameter count describes the generated input"),
        ("kmn", {"points": "F", "dimensions": 2}, "allowed: dimensions or points="),
        ("bfs", {"graph": "F", "levels": 5}, "parameter levels describes the generated input"),
        ("bfs-mask", {"graph": "F", "edge_factor": 5}, "allowed: edge_factor or graph="),
        (
            "bfs",
            {"graph": "F", "generator": "grid"},
            "parameter generator describes the generated input",
        ),
        ("bfs", {"directed": "on"}, "parameter directed applies to a file's edges"),
    ],
)
def test_a_parameter_that_would_count_for_nothing_is_refused(
    tmp_path: Path, workload: str, params: dict[str, object], message: str
) -> None:
    (tmp_path / "pairs.csv").write_text("0,1\n1,2\n2,3\n3,4\n")
    given = {k: str(tmp_path / "pairs.csv") if v == "F" else v for k, v in params.items()}
    with pytest.raises(gpucoh.ConfigError, match=message) as error:
        gpucoh.run(workload, protocol="ideal", scale="tiny", params=given)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("workload", "name"), [("kmn", "points"), ("bfs-mask", "graph")])
def test_a_parameter_that_counts_with_a_file_is_taken(
    tmp_path: Path, workload: str, name: str
) -> None:
    (tmp_path / "pairs.csv").write_text("0,1\n1,2\n2,3\n3,4\n")
    also = {"kmn": {"clusters": 2}, "bfs-mask": {"directed": "on", "source": 1}}[workload]
    params = {name: str(tmp_path / "pairs.csv")} | also
    assert gpucoh.run(workload, protocol="ideal", scale="tiny", params=params).correct

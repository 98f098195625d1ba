"""Readers and generators: what they read, and their errors for other input."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from gpucoh.base.errors import ConfigError
from gpucoh.suite import graph_files, inputs
from products import share

TRIANGLE = """%%MatrixMarket matrix coordinate pattern symmetric
% a triangle with a tail
4 4 4
2 1
3 1
3 2
4 3
"""


def write(folder: Path, name: str, content: str | bytes) -> str:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def refusal(reader: object, *args: object, **options: object) -> str:
    """The message of the ConfigError, which must be one line."""
    with pytest.raises(ConfigError) as caught:
        reader(*args, **options)  # type: ignore[operator]
    message = str(caught.value)
    assert "\n" not in message
    return message


def neighbours(graph: inputs.Graph) -> list[list[int]]:
    return [
        graph.columns[graph.offsets[v] : graph.offsets[v + 1]].tolist()
        for v in range(graph.vertices)
    ]


class TestGraphs:
    def test_symmetric_matrix_market_gives_edges_both_ways(self, tmp_path: Path) -> None:
        graph = graph_files.read_graph(write(tmp_path, "t.mtx", TRIANGLE))
        assert neighbours(graph) == [[1, 2], [0, 2], [0, 1, 3], [2]]

    def test_gzipped_matrix_market_is_read(self, tmp_path: Path) -> None:
        path = write(tmp_path, "t.mtx.gz", gzip.compress(TRIANGLE.encode()))
        assert graph_files.read_graph(path).edges == 8

    def test_directed_keeps_edges_one_way(self, tmp_path: Path) -> None:
        path = write(tmp_path, "t.txt", "# comment\n0 1 1\n1,2 0.5\n1 2 2\n2 2 1\n")
        assert neighbours(graph_files.read_graph(path, directed=True)) == [[1], [2], []]
        assert neighbours(graph_files.read_graph(path)) == [[1], [0, 2], [1]]

    @pytest.mark.parametrize(
        ("name", "content", "message"),
        [
            ("r.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 1\n", "2 x 3"),
            ("t.mtx", TRIANGLE[: TRIANGLE.index("3 2")], ""),
            ("t.mtx", TRIANGLE.replace("3 2", "three two"), ""),
            ("t.mtx", TRIANGLE.replace("4 3\n", "5 3\n"), ""),
            ("t.txt", "0 1\nfoo bar\n", "line 2"),
            ("t.txt", "0 1\n1 -2\n", "line 2 names vertex -2"),
            ("t.txt", "", ""),
            ("t.txt", "\n\n", ""),
            ("t.txt", "# only a comment\n", ""),
            ("t.txt", b"\xff\xfe\x00binary", ""),
            ("t.mtx.gz", gzip.compress(TRIANGLE.encode(), mtime=0)[:-12], "cannot be read"),
            *((("t.el", f"0 1\n{line}\n", f"t.el: line 2 is {line!r}"))
              for line in ("0 1 abc", "0 1_0", "0 \N{ARABIC-INDIC DIGIT ONE}", "0 1 2 1_0")),
        ],
        ids=str,
    )  # fmt: skip
    def test_what_is_no_graph_is_refused_with_its_place(
        self, tmp_path: Path, name: str, content: str | bytes, message: str
    ) -> None:
        path = write(tmp_path, name, content)
        found = refusal(graph_files.read_graph, path)
        assert path in found
        assert message in found

    @pytest.mark.parametrize("name", ["t.mtx", "T.MTX", "t.mtx.gz"])
    def test_a_matrix_without_its_first_line_is_no_edge_list(
        self, tmp_path: Path, name: str
    ) -> None:
        text = TRIANGLE.partition("\n")[2].encode()
        path = write(tmp_path, name, gzip.compress(text) if name.endswith("gz") else text)
        assert "does not begin with %%MatrixMarket" in refusal(graph_files.read_graph, path)

    def test_weights_and_times_are_read_over(self, tmp_path: Path) -> None:
        path = write(tmp_path, "t.el", "0 1 -2.5e3 1082040961\n1,2,.5,7\n")
        assert neighbours(graph_files.read_graph(path)) == [[1], [0, 2], [1]]

    def test_missing_file_and_folder_are_refused(self, tmp_path: Path) -> None:
        assert "no such file" in refusal(graph_files.read_graph, str(tmp_path / "none.mtx"))
        assert "folder" in refusal(graph_files.read_graph, str(tmp_path))

    @pytest.mark.parametrize(
        ("name", "reader"),
        share(
            ["z", "z.npy"],
            [graph_files.read_graph, inputs.read_image, inputs.read_points],
            one_in=4,
        ),
    )
    def test_a_gzip_header_before_no_stream_is_refused(
        self, tmp_path: Path, reader: object, name: str
    ) -> None:
        path = write(tmp_path, name, gzip.compress(b"")[:10] + b"\xff" * 40)
        assert f"{path}: cannot be read (Error -3 while decompressing" in refusal(reader, path)

    def test_uniform_graph_is_symmetric_with_degrees_near_six(self) -> None:
        graph = inputs.uniform_graph(2048, np.random.default_rng(3))
        assert (graph.matrix() != graph.matrix().T).nnz == 0
        assert 5.8 < graph.degrees().mean() < 6.1
        assert graph.degrees().max() < 20

    def test_kronecker_graph_is_symmetric_skewed_and_seeded(self) -> None:
        graph = inputs.kronecker(9, 8, np.random.default_rng(3))
        again = inputs.kronecker(9, 8, np.random.default_rng(3))
        matrix = graph.matrix()
        assert graph.vertices == 512
        assert (matrix != matrix.T).nnz == 0
        assert graph.degrees().max() > 5 * graph.degrees().mean()
        assert np.array_equal(graph.columns, again.columns)

    def test_power_law_graph_is_symmetric_and_has_the_degrees_of_coauthors(self) -> None:
        graph = inputs.power_law_graph(1 << 15, 1.78, 336, np.random.default_rng(3))
        assert (graph.matrix() != graph.matrix().T).nnz == 0
        assert 6.0 < graph.degrees().mean() < 6.6
        assert 200 < graph.degrees().max() <= 336
        assert np.mean(graph.degrees() == 1) > 0.4

    def test_grid_vertices_have_their_four_neighbours(self) -> None:
        assert neighbours(inputs.grid_graph(3, 3))[4] == [1, 3, 5, 7]


@pytest.mark.parametrize(
    ("reader", "name"),
    share(
        [graph_files.read_graph, inputs.read_image, inputs.read_points],
        ["pipe", "pipe.npy", "pipe.mtx"],
        one_in=4,
    ),
)
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path, reader: object, name: str) -> None:
    os.mkfifo(tmp_path / name)
    assert "is not a regular file" in refusal(reader, str(tmp_path / name))


class TestImages:
    def test_bundled_elevation_model_is_grey_between_0_and_1(self) -> None:
        image = inputs.read_image(None)
        assert image.dtype == np.float32
        assert image.shape == (344, 403)
        assert image.min() == 0
        assert image.max() == 1

    def test_npy_and_png_of_one_picture_agree(self, tmp_path: Path) -> None:
        from PIL import Image

        picture = np.arange(48, dtype=np.uint8).reshape(6, 8)
        np.save(tmp_path / "p.npy", picture)
        Image.fromarray(picture).save(tmp_path / "p.png")
        assert np.array_equal(
            inputs.read_image(str(tmp_path / "p.npy")), inputs.read_image(str(tmp_path / "p.png"))
        )

    def test_colours_become_grey(self, tmp_path: Path) -> None:
        np.save(tmp_path / "c.npy", np.dstack([np.eye(4)] * 3))
        assert np.allclose(inputs.read_image(str(tmp_path / "c.npy")), np.eye(4))

    def test_text_is_no_image(self, tmp_path: Path) -> None:
        path = write(tmp_path, "p.png", "not a picture")
        assert "not a readable image" in refusal(inputs.read_image, path)

    def test_truncated_image_is_refused(self, tmp_path: Path) -> None:
        from PIL import Image

        rng = np.random.default_rng(0)
        Image.fromarray(rng.integers(0, 255, (64, 64), dtype=np.uint8)).save(tmp_path / "p.png")
        whole = (tmp_path / "p.png").read_bytes()
        assert "not a readable image" in refusal(
            inputs.read_image, write(tmp_path, "q.png", whole[: len(whole) // 2])
        )

    @pytest.mark.parametrize(
        ("data", "word"),
        [
            (np.array(["a", "b"]), "holds <U1"),
            (np.zeros(5), "shape (5,)"),
            (np.zeros((2, 2, 7)), "shape (2, 2, 7)"),
            (np.zeros((0, 3)), "shape (0, 3)"),
            (np.array([[np.nan, 1.0]]), "not finite"),
            (np.zeros((2, 2), complex), "holds complex128"),
        ],
    )
    def test_arrays_that_are_no_image_are_refused(
        self, tmp_path: Path, data: np.ndarray, word: str
    ) -> None:
        np.save(tmp_path / "p.npy", data)
        assert word in refusal(inputs.read_image, str(tmp_path / "p.npy"))

    def test_damaged_and_pickled_npy_are_refused(self, tmp_path: Path) -> None:
        np.save(tmp_path / "o.npy", np.array([{}], object), allow_pickle=True)
        assert "o.npy" in refusal(inputs.read_image, str(tmp_path / "o.npy"))
        np.save(tmp_path / "p.npy", np.zeros((9, 9)))
        path = write(tmp_path, "q.npy", (tmp_path / "p.npy").read_bytes()[:200])
        assert "not a complete .npy" in refusal(inputs.read_image, path)

    def test_resample_keeps_a_ramp(self) -> None:
        ramp = np.tile(np.arange(8, dtype=np.float32), (4, 1))
        assert np.array_equal(inputs.resample(ramp, 4, 8), ramp)
        twice = inputs.resample(ramp, 8, 16)
        assert twice.shape == (8, 16)
        assert np.allclose(np.diff(twice[0, 1:-1]), 0.5)


class TestPoints:
    def test_csv_with_headings_is_read(self, tmp_path: Path) -> None:
        path = write(tmp_path, "p.csv", "x,y\n1,2\n3.5,-4\n\n")
        assert inputs.read_points(path).tolist() == [[1.0, 2.0], [3.5, -4.0]]

    def test_npy_vector_is_points_of_one_dimension(self, tmp_path: Path) -> None:
        np.save(tmp_path / "p.npy", np.arange(3))
        assert inputs.read_points(str(tmp_path / "p.npy")).shape == (3, 1)

    @pytest.mark.parametrize(
        ("content", "word"),
        [
            ("1,2\n3\n", "line 2 has 1 numbers"),
            ("1,2\nfoo,3\n", "line 2 is 'foo,3'"),
            ("x,y\n", "no point"),
            ("1,inf\n", "line 1 is '1,inf'; allowed: finite numbers"),
            ("nan,nan\n1,2\n", "line 1 is 'nan,nan'"),
            ("1,1e60\n", "not finite"),
        ],
    )
    def test_bad_tables_are_refused_with_the_place(
        self, tmp_path: Path, content: str, word: str
    ) -> None:
        assert word in refusal(inputs.read_points, write(tmp_path, "p.csv", content))

    def test_points_of_a_wrong_dtype_are_refused(self, tmp_path: Path) -> None:
        np.save(tmp_path / "p.npy", np.array(["a"]))
        assert "holds <U1" in refusal(inputs.read_points, str(tmp_path / "p.npy"))

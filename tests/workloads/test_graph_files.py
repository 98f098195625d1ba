"""Is each graph format read by its definition, and every other one refused by name, in doubt too?"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
import tarfile
import zipfile
from pathlib import Path

import pytest

import gpucoh
from gpucoh.base.errors import ConfigError
from gpucoh.suite import inputs
from gpucoh.suite.graph_files import FORMATS, read_graph
from products import rows, share
from workloads.test_inputs import neighbours, write

SQUARE = [[1, 3], [0, 2], [1, 3], [0, 2]]
MATRIX = "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n"


def refusal(path: str, **options: object) -> str:
    with pytest.raises(ConfigError) as caught:
        read_graph(path, **options)  # type: ignore[arg-type]
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 400 + len(path)
    return message


METIS = {
    "plain": "4 4\n2 4\n1 3\n2 4\n1 3\n",
    "comments": "% a\n4 4 0\n2 4\n% b\n1 3\n2 4\n1 3\n\n\n",
    "edge weights": "4 4 1\n2 9 4 1\n1 9 3 7\n2 7 4 8\n1 1 3 8\n",
    "vertex weights": "4 4 10\n5 2 4\n6 1 3\n7 2 4\n8 1 3\n",
    "two vertex weights": "4 4 010 2\n5 5 2 4\n6 6 1 3\n7 7 2 4\n8 8 1 3\n",
    "both": "4 4 11\n5 2 9 4 1\n6 1 9 3 7\n7 2 7 4 8\n8 1 1 3 8\n",
    "vertex sizes": "4 4 100\n5 2 4\n6 1 3\n7 2 4\n8 1 3\n",
    "all": "4 4 111 2\n5 1 1 2 9 4 1\n6 1 1 1 9 3 7\n7 1 1 2 7 4 8\n8 1 1 1 1 3 8\n",
}


@pytest.mark.parametrize("text", METIS.values(), ids=METIS)
def test_metis_is_read_with_all_kinds_of_weights(tmp_path: Path, text: str) -> None:
    assert neighbours(read_graph(write(tmp_path, "g.graph", text))) == SQUARE
    assert neighbours(read_graph(write(tmp_path, "g.txt", text), form="metis")) == SQUARE
    packed = write(tmp_path, "g.metis.gz", gzip.compress(text.encode()))
    assert neighbours(read_graph(packed)) == SQUARE


def test_an_empty_line_of_metis_is_a_vertex_without_edges(tmp_path: Path) -> None:
    assert neighbours(read_graph(write(tmp_path, "g.graph", "3 1\n3\n\n1\n"))) == [[2], [], [0]]


@pytest.mark.parametrize(
    ("text", "what"),
    rows(
        [
            ("3 1\n3\n\n", "has 2 lines of neighbours; allowed: 3"),
            ("2 1\n2\n1\n1\n", "line 4 is '1'; allowed: 2 lines of neighbours"),
            ("2 1\n3\n1\n", "line 2 is '3'; allowed: neighbours from 1 to 2"),
            ("2 1\n0\n1\n", "line 2 is '0'; allowed: neighbours from 1 to 2"),
            ("2 2\n2\n1\n", "lists 2 neighbours; allowed: 4"),
            ("3 1\n2 3\n\n\n", "vertex 1 lists vertex 2, which does not list it"),
            ("2 1 1\n2\n1\n", "line 2 is '2'; allowed: 0 weights, then 2 numbers"),
            ("2 1 1\n2 -1\n1 -1\n", "weights of at least 0"),
            ("2 1 12\n2\n1\n", "allowed: a METIS header"),
            ("2\n2\n1\n", "allowed: a METIS header"),
            ("2 1\nx\n1\n", "line 2 is 'x'; allowed: whole numbers"),
            ("% only\n", "has no header"),
        ],
        one_in=4,
    ),
)
def test_a_metis_file_that_contradicts_its_header_is_refused(
    tmp_path: Path, text: str, what: str
) -> None:
    assert what in refusal(write(tmp_path, "g.graph", text))


DIMACS = "c road\np sp 3 3\na 1 2 7\na 2 1 7\na 2 3 1\n"


def test_dimacs_is_read_from_1_with_its_weights(tmp_path: Path) -> None:
    path = write(tmp_path, "g.gr", DIMACS)
    assert neighbours(read_graph(path)) == [[1], [0, 2], [1]]
    assert neighbours(read_graph(path, directed=True)) == [[1], [0, 2], []]


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("3 3\n", "3 4\n", "has 3 arcs; allowed: 4"),
        ("a 2 3 1", "a 2 4 1", "line 5 is 'a 2 4 1'; allowed: vertices from 1 to 3"),
        ("a 2 3 1", "a 2 3", "allowed: a FROM TO WEIGHT"),
        ("a 2 3 1", "e 2 3 1", "(DIMACS)"),
        ("p sp 3 3\n", "p edge 3 3\n", "of DIMACS the shortest-path format is read"),
        ("p sp 3 3\n", "", "line 2 is 'a 1 2 7'"),
    ],
)
def test_a_dimacs_file_that_contradicts_itself_is_refused(
    tmp_path: Path, old: str, new: str, what: str
) -> None:
    assert what in refusal(write(tmp_path, "g.gr", DIMACS.replace(old, new)))


def _tar(text: str) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        info = tarfile.TarInfo("m/m.mtx")
        info.size = len(text)
        archive.addfile(info, io.BytesIO(text.encode()))
    return out.getvalue()


def _zip(text: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("m.mtx", text)
    return out.getvalue()


# Two vertices and the edge between them.
GALOIS = struct.pack("<6Q2I", 1, 0, 2, 2, 1, 2, 1, 0)
GAP = struct.pack("<?qq3q2i", False, 2, 2, 0, 1, 2, 1, 0)

REFUSED = {
    "m.tar": (_tar(MATRIX), "a tar archive; unpack it"),
    "m.tar.gz": (gzip.compress(_tar(MATRIX)), "a tar archive; unpack it"),
    "m.mtx.xz": (lzma.compress(MATRIX.encode()), "compressed by xz; unpack it"),
    "m.mtx.bz2": (bz2.compress(MATRIX.encode()), "compressed by bzip2; unpack it"),
    "m.zip": (_zip(MATRIX), "a zip archive; unpack it"),
    "g.gr": (GALOIS, "a Galois binary graph"),
    "g.sg": (GAP, "a GAP serialised graph"),
    "g.txt": ("AdjacencyGraph\n1\n0\n0\n", "a Ligra adjacency graph"),
    "nan.el": ("0 1 1.5\n1 2 nan\n", "line 2 is '1 2 nan'"),
    "nan.mtx": (
        "%%MatrixMarket matrix coordinate real general\n% inf\n2 2 2\n1 2 1\n2 1 inf\n",
        "line 5 has the weight 'inf'; allowed: finite numbers",
    ),
    "one.txt": (MATRIX[1:], "one % where line 1 must begin with %%MatrixMarket"),
    "blank.txt": ("% " + MATRIX[2:], "one % where line 1 must begin with %%MatrixMarket"),
    "wide.el": ("0 1\n".encode("utf-16"), "text in UTF-16"),
    "colon.txt": ("0: 1 2\n1: 0\n", "an adjacency list is not read"),
    "networkx.adjlist": ("# graph\n0 1 2\n1 2\n2\n", "adjacency list"),
    "single.txt": ("0 1\n1\n", "line 2 is '1'"),
}


@pytest.mark.parametrize("name", share(REFUSED, one_in=4))
def test_another_format_is_refused_by_its_name(tmp_path: Path, name: str) -> None:
    content, what = REFUSED[name]
    assert what in refusal(write(tmp_path, name, content))


@pytest.mark.parametrize(
    ("name", "text", "form"),
    [("g.el", "0 1\n1 2\n", "edges"), ("g.mtx", MATRIX, "mtx"), ("g.graph", METIS["plain"], "metis"),
     ("g.gr", DIMACS, "dimacs")],
)  # fmt: skip
def test_a_byte_order_mark_is_skipped(tmp_path: Path, name: str, text: str, form: str) -> None:
    marked = write(tmp_path, name, b"\xef\xbb\xbf" + text.encode())
    assert neighbours(read_graph(marked)) == neighbours(read_graph(marked, form=form))


def test_a_comment_among_the_entries_of_a_matrix_is_named(tmp_path: Path) -> None:
    path = write(tmp_path, "m.mtx", MATRIX.replace("\n2 1\n", "\n% here\n2 1\n"))
    assert "line 3 is a comment after the size line" in refusal(path)


COUNTED = {
    "counts": "3 2\n0 1\n1 2\n",
    "counts of both directions": "3 2\n0 1\n1 0\n1 2\n2 1\n",
    "counts, from 1": "3 2\n1 2\n2 3\n",
    "size": "3 3 2\n1 2 5\n3 2 5\n",
    "size of other length": "3 3 2\n1 2\n3 2\n",
    "metis": METIS["plain"],
}


@pytest.mark.parametrize("text", COUNTED.values(), ids=COUNTED)
def test_a_first_line_that_fits_as_counts_is_refused_unless_the_format_is_given(
    tmp_path: Path, text: str
) -> None:
    path = write(tmp_path, "g.el", text)
    assert "format=edges" in refusal(path)
    assert read_graph(path, form="edges").vertices >= 4


def test_rows_of_unequal_length_are_refused_unless_the_format_is_given(tmp_path: Path) -> None:
    path = write(tmp_path, "g.el", "0 1\n1 2 0.5\n")
    message = refusal(path)
    assert "line 2 is '1 2 0.5'; allowed: 2 numbers, as on line 1" in message
    assert "format=edges" in message
    assert neighbours(read_graph(path, form="edges")) == [[1], [0, 2], [1]]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("1 2\n2 3\n", "no edge names vertex 0"),
        ("0 1\n1 1000\n", "edges name 3 of the vertices 0 to 1000"),
        ("5 6\n6 1000\n", "edges name 3 of the vertices 0 to 1000"),
        ("0 1\n1 3\n", None),
    ],
)
def test_vertices_without_edges_are_a_note(tmp_path: Path, text: str, what: str | None) -> None:
    notes = read_graph(write(tmp_path, "g.el", text)).notes
    assert [what in note for note in notes] == ([True] if what else [])


def test_a_gzip_bomb_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, "bomb.el.gz", gzip.compress(b"0 1\n" * (1 << 20)))
    monkeypatch.setattr(inputs, "MOST_UNPACKED", 1 << 20)
    assert "unpacks to more than 1 MiB" in refusal(path)


@pytest.mark.parametrize("workload", ["bfs", "bfs-mask", "mis"])
def test_the_format_is_a_parameter_and_notes_are_in_the_result(
    tmp_path: Path, workload: str
) -> None:
    path = write(tmp_path, "g.el", COUNTED["counts, from 1"])
    params = {"graph": path, "format": "edges"}
    result = gpucoh.run(workload, protocol="ideal", scale="tiny", params=params)
    assert result.correct
    assert "no edge names vertex 0" in result.notes[0]
    assert result.to_dict()["notes"] == list(result.notes)
    assert gpucoh.RunResult.from_dict(result.to_dict()).notes == result.notes
    (parameter,) = (p for p in gpucoh.workload(workload).parameters if p.name == "format")
    assert parameter.choices == FORMATS
    with pytest.raises(ConfigError, match="parameter format applies to a file's edges"):
        gpucoh.run(workload, protocol="ideal", scale="tiny", params={"format": "edges"})


def test_the_terminal_shows_the_notes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from gpucoh.cli import call

    path = write(tmp_path, "g.el", "1 2\n2 3\n")
    assert call(["run", "bfs", "-p", "ideal", "--scale", "tiny", "--param", f"graph={path}"]) == 0
    assert "no edge names vertex 0" in " ".join(capsys.readouterr().out.split())

"""Are the notebooks as readers should get them, and does the tool that executes them find what is wrong?"""

import ast
import copy
import json
from pathlib import Path

import pytest

from products import share
from scripts import script

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
NAMES = [
    "all-reduce",
    "bug-museum",
    "cuda",
    *("denovo-main-figure", "litmus-and-the-explorer", "machines-and-sweeps"),
    *(
        "own-workload-in-a-study",
        "qr-main-figure",
        "quickstart",
        "rcc-main-figure",
        "stc-main-figure",
        "study",
        "tc-main-figure",
        "why-is-it-slower",
        "write-a-kernel",
    ),
]
# Statements of a notebook that are no logic; functions are kernels and workloads.
PLAIN = (ast.Import, ast.ImportFrom, ast.Assign, ast.Expr, ast.FunctionDef, ast.With)


def cells(path, kind="code"):
    found = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [
        cell | {"source": "".join(cell["source"])} for cell in found if cell["cell_type"] == kind
    ]


def test_the_notebooks_are_there():
    assert [path.stem for path in NOTEBOOKS] == NAMES


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_has_its_outputs_and_no_logic(path):
    assert cells(path, "markdown")[0]["source"].startswith("# ")
    for number, cell in enumerate(cells(path)):
        assert cell["execution_count"] == number + 1, "make notebooks"
        for output in cell["outputs"]:
            assert output["output_type"] != "error"
            assert output.get("name") != "stderr"
            assert len(output.get("data", {}).get("image/png", "")) < 80_000
        for statement in ast.parse(cell["source"]).body:
            assert isinstance(statement, PLAIN), ast.unparse(statement)
            if isinstance(statement, ast.FunctionDef):
                assert ast.unparse(statement.decorator_list[0]).startswith("gpucoh."), cell
        assert not cell["source"].startswith("%")
    assert any(cell["outputs"] for cell in cells(path))
    assert path.stat().st_size < 400_000


@pytest.fixture(scope="module")
def tool():
    for name in ("nbclient", "nbformat", "ipykernel"):
        pytest.importorskip(name)
    return script("tools/notebooks.py")


def run_cells(tool, tmp_path, *sources):
    from nbformat import v4, write

    path = tmp_path / "test.ipynb"
    write(v4.new_notebook(cells=[v4.new_code_cell(source) for source in sources]), path)
    return tool.executed(path)


# Kernels of Jupyter warn about their environment.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize(
    "first", share(["", "import matplotlib.pyplot", "%matplotlib inline"], one_in=4)
)
@pytest.mark.long
def test_a_figure_is_shown_once_with_and_without_pyplot(tool, tmp_path, first):
    text = (
        f"{first}\nimport gpucoh\n"
        "c = gpucoh.compare(['vec-cpy'], ['ideal'], scale='tiny', progress=True)"
    )
    notebook, wrong, _ = run_cells(tool, tmp_path, text, "c.plot_speedup()", "x = c.plot_traffic()")
    assert wrong == []
    progress, shown, kept = (cell.outputs for cell in notebook.cells)
    assert ["image/png" in item.data for item in shown] == [True]
    assert kept == []
    assert "0/1 [" in "".join(str(item) for item in progress)


@pytest.mark.long
def test_own_workloads_of_a_notebook_run_in_processes(tool, tmp_path):
    pytest.importorskip("cloudpickle")
    own = cells(ROOT / "notebooks" / "own-workload-in-a-study.ipynb")[:2]
    text = """
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
    table = gpucoh.sweep([{"workload": ring, "protocol": "tc-weak", "scale": "tiny"}], pool)
assert list(table.verdict) == ["correct"]
"""
    assert run_cells(tool, tmp_path, *(cell["source"] for cell in own), text)[1] == []


@pytest.mark.long
def test_the_tool_finds_what_is_wrong(tool, tmp_path):
    double = (
        "from IPython.display import Image, display\nimport gpucoh\n"
        "f = gpucoh.compare(['vec-cpy'], ['ideal'], scale='tiny').plot_speedup()\ndisplay(f)\nf"
    )
    bare = "from matplotlib.figure import Figure\nFigure()"
    _, (first, *others), _ = run_cells(tool, tmp_path, double, bare, "1 / 0")
    assert "ZeroDivisionError" in first
    assert others == ["cell 0 shows its figure more than once", "cell 1 shows a figure as text"]


def test_stored_texts_are_compared_but_for_times(tool, tmp_path):
    sources = ("import random, sys, time\nprint(6 * 7)", "time.time() and 'wall clock  1.5 s'")
    notebook, wrong, _ = run_cells(tool, tmp_path, *sources, "print('bar', file=sys.stderr)")
    assert wrong == []
    stored = tool.to_store(notebook, notebook.metadata)
    assert tool.texts(stored) == [["42\n"], ["'wall clock  ... s'"], []]
    assert tool.differences(stored, stored) == []
    other = copy.deepcopy(stored)
    other.cells[0].outputs[0]["text"] = "43\n"
    assert tool.differences(stored, other) == [
        "code cell 0 shows '43' where '42' is stored: make notebooks"
    ]


@pytest.mark.long  # make check-notebooks compares all of them
def test_the_quickstart_shows_what_is_stored(tool, monkeypatch):
    """``make check-notebooks`` does this with every notebook."""
    monkeypatch.setenv("GPUCOH_FAST", "1")
    monkeypatch.delenv("MPLBACKEND", raising=False)
    path = ROOT / "notebooks" / "quickstart.ipynb"
    notebook, wrong, _ = tool.executed(path)
    assert wrong == []
    stored = tool.nbformat.read(path, as_version=4)
    assert tool.differences(stored, tool.to_store(notebook, stored.metadata)) == []

"""Do errors reach the user in few lines, with the user's own line, in plain Python and in Jupyter?"""

import contextlib
import io
import subprocess
import sys

import pytest

from products import share

MOST_LINES = 10

SETUP = """
import numpy as np, gpucoh
@gpucoh.kernel
def bad(x: gpucoh.Buffer[gpucoh.f32]):
    x.foo()
@gpucoh.kernel
def good(x: gpucoh.Buffer[gpucoh.f32], n: gpucoh.i32):
    x[n] = 1.0
gpu = gpucoh.GPU("fermi", "ideal")
x = gpu.zeros(8)
def study(fault):
    fault()
"""

FAULTS = [
    "gpu.launch(bad, grid=1, block=32, args=(x,))",
    "gpu.launch(good, grid=1, block=32, args=(x, 900))",
    "gpu.launch(good, grid=1, block=32, args=(x,))",
    "gpu.launch(good, grid=1, block=999999, args=(x, 1))",
    "gpu.array(['a'])",
    "gpu.zeros((0, 'a'))",
    "x[:] = ['a']",
    "good(x, 1)",
    "bad.compile()",
    "gpucoh.GPU('fermj')",
    "gpucoh.GPU(protocol='tc-weeak')",
    "gpucoh.machine('fermj')",
    "gpucoh.machine('fermi').replace(l1_kib='2x')",
    "gpucoh.Machine(a=1)",
    "gpucoh.Machine.from_toml('absent.toml')",
    "gpucoh.workload('bsf')",
    "gpucoh.workload('bfs').prepare('tiny', params={'graph': 'absent.mtx'})",
    "gpucoh.run('bsf')",
    "gpucoh.run('bfs', 'tc-weeak')",
    "gpucoh.run('bfs', scale='tiny', params={'graph': 'absent.mtx'})",
    "gpucoh.compare(['bsf'])",
    "gpucoh.compare(['bfs'], scale='tiny', params={'graph': 'absent.mtx'})",
    "gpucoh.sweep([{'workload': 'bfs', 'seed': 'x'}])",
    "study(lambda: gpucoh.GPU('fermj'))",
]


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """What plain Python prints for each fault, as the traceback module prints it in a new process."""
    program = f"""
import sys, traceback
for fault in {FAULTS!r}:
    try:
        exec(compile(fault, "user.py", "exec"), globals())
    except Exception as error:
        lines = traceback.format_exception(type(error), error, error.__traceback__.tb_next)
        print("".join(lines), end="=====")
"""
    place = tmp_path_factory.mktemp("faults") / "faults.py"
    place.write_text(SETUP + program)
    done = subprocess.run([sys.executable, place], capture_output=True, text=True, check=True)
    return dict(zip(FAULTS, done.stdout.split("====="), strict=False))


@pytest.mark.parametrize("fault", share(FAULTS, one_in=4))
def test_an_error_takes_few_lines_in_plain_python(printed, fault):
    lines = printed[fault].splitlines()
    assert len(lines) <= MOST_LINES, printed[fault]
    assert 'File "user.py", line 1' in lines[1]
    assert lines[-1].startswith("gpucoh.")


def test_the_uncaught_error_of_a_script_shows_the_users_line(tmp_path):
    (tmp_path / "mine.py").write_text(SETUP + FAULTS[0] + "\n")
    done = subprocess.run(
        [sys.executable, tmp_path / "mine.py"], capture_output=True, text=True, check=False
    )
    lines = done.stderr.splitlines()
    assert len(lines) <= MOST_LINES
    assert FAULTS[0] in done.stderr
    assert lines[-1].startswith("gpucoh.KernelError: ")
    assert "mine.py:5: kernel 'bad'" in lines[-1]


def test_all_frames_are_shown_if_asked_for(tmp_path):
    (tmp_path / "mine.py").write_text("import gpucoh; gpucoh.GPU('fermj')\n")
    done = subprocess.run(
        [sys.executable, tmp_path / "mine.py"],
        env={"GPUCOH_FULL_TRACEBACK": "1", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "machines" in done.stderr
    assert len(done.stderr.splitlines()) > MOST_LINES


def test_users_frames_between_ours_stay():
    import gpucoh
    from gpucoh.base.errors import ConfigError, short_traceback

    def mine():
        gpucoh.GPU("fermj")

    namespace = {"__name__": "gpucoh.between", "mine": mine, "short_traceback": short_traceback}
    exec("@short_traceback\ndef run():\n    inner()\ndef inner():\n    mine()", namespace)
    with pytest.raises(ConfigError) as caught:
        namespace["run"]()
    assert [entry.name for entry in caught.traceback] == [
        "test_users_frames_between_ours_stay",
        "mine",
    ]


def test_an_error_takes_few_lines_in_jupyter():
    shell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell()
    shell.run_cell(SETUP)
    for fault in FAULTS:
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            shell.run_cell(fault)
        lines = out.getvalue().rstrip().splitlines()
        assert 1 < len(lines) <= MOST_LINES, out.getvalue()
        assert fault in out.getvalue()
        assert lines[-1].startswith("gpucoh."), out.getvalue()


BROKEN = """@gpucoh.kernel
def broken(x: gpucoh.Buffer[gpucoh.i32]):
    x[0] = 1
    x[gpucoh.global_id() + 5] = missing_name
"""


def test_an_error_in_a_kernel_names_the_cell_and_the_line():
    shell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell.instance()
    out = io.StringIO()
    launch = "gpu = gpucoh.GPU(); x = gpu.zeros(4, 'int32'); broken[1, 32](x)"
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        shell.run_cell(SETUP, store_history=True)
        for number in (2, 4):
            shell.run_cell(
                BROKEN.replace("missing_name", "2" if number == 4 else "missing_name"),
                store_history=True,
            )
            shell.run_cell(launch, store_history=True)
            assert f"cell In[{number}]:4: kernel 'broken'" in out.getvalue().splitlines()[-1]
    shell.clear_instance()


PROFILED = """
gpu = gpucoh.GPU()
with gpu.profile() as profile:
    broken[1, 1](gpu.zeros(8, "int32"))
shown = list(profile().by("line")["source"])
"""


def test_a_profile_shows_the_source_of_a_cell():
    shell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell.instance()
    cells = (SETUP, BROKEN.replace("missing_name", "2"), PROFILED)
    assert all(shell.run_cell(cell, store_history=True).success for cell in cells)
    assert "x[gpucoh.global_id() + 5] = 2" in shell.user_ns["shown"]
    shell.clear_instance()


STUDIES = """
import json
@gpucoh.workload(scales={"tiny": {"n": 8}, "small": {"n": 8}, "paper": {"n": 8}})
def shapes(gpu, rng, n):
    np.stack([np.zeros(n), np.zeros(n + 1)])
@gpucoh.workload(scales={"tiny": {"n": 8}, "small": {"n": 8}, "paper": {"n": 8}})
def deep(gpu, rng, n):
    def inner(depth):
        return json.loads("{") if depth == 0 else inner(depth - 1)
    inner(40)
@gpucoh.workload(scales={"tiny": {"n": 8}, "small": {"n": 8}, "paper": {"n": 8}})
def chained(gpu, rng, n):
    try:
        np.stack([])
    except ValueError as error:
        raise RuntimeError("several\\nlines\\n" * 10) from error
"""
STUDY_FAULTS = [
    f"gpucoh.run({name}, 'ideal', scale='tiny')" for name in ("shapes", "deep", "chained")
]


@pytest.mark.filterwarnings("ignore")  # kernels of Jupyter warn about their environment
def test_an_error_takes_few_lines_in_a_kernel_of_jupyter(tmp_path):
    for name in ("nbclient", "ipykernel"):
        pytest.importorskip(name)
    from nbclient import NotebookClient
    from nbformat import v4

    sources = [SETUP, STUDIES, *FAULTS[:4], *STUDY_FAULTS]
    notebook = v4.new_notebook(cells=[v4.new_code_cell(source) for source in sources])
    # A kernel imports from its folder first; the sources of an installed gpucoh hold no core.
    where = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, allow_errors=True, timeout=60, resources=where).execute()
    assert [cell.outputs for cell in notebook.cells[:2]] == [[], []]
    for cell in notebook.cells[2:]:
        (output,) = cell.outputs
        lines = "\n".join(output.traceback).splitlines()
        assert 1 < len(lines) <= MOST_LINES, "\n".join(lines)
        assert cell.source in "\n".join(lines)
        assert lines[-1].startswith("gpucoh."), "\n".join(lines)
    shown = ["\n".join(cell.outputs[0].traceback) for cell in notebook.cells[-len(STUDY_FAULTS) :]]
    assert "np.stack([np.zeros(n)" in shown[0]  # the line of the cause
    assert 'return json.loads("{")' in shown[1]
    assert "raise RuntimeError" in shown[2]

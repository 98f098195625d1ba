"""Does mypy --strict accept users' kernels, and does its form of ``Buffer`` mean the same at run time?"""

import subprocess
import sys
from typing import Literal

import pytest

import gpucoh
from gpucoh import Buffer, Buffer2, Buffer3, ReadOnly, ReadOnly2, ReadOnly3, f32, i32

USER = """
import numpy as np

import gpucoh
from gpucoh import Buffer, Buffer2, ReadOnly, f32, i32


@gpucoh.device
def first(x: ReadOnly[i32]) -> i32:
    return x[0]


@gpucoh.kernel
def transpose(
    a: Buffer2[f32],
    b: gpucoh.ReadOnly2[gpucoh.f32],
    c: ReadOnly[f32],
    d: Buffer[i32],
    n: i32,
) -> None:
    i, j = gpucoh.global_id(0), gpucoh.global_id(1)
    if i < n and j < len(a):
        a[i, j] = b[j, i] + c[i] + first(d) + gpucoh.load(c, 0, order="relaxed")


with gpucoh.GPU() as gpu:
    square, line = gpu.zeros((4, 4), np.float32), gpu.zeros(4)
    transpose[1, (4, 4)](square, gpu.zeros((4, 4)), line, gpu.zeros(4, np.int32), 4)
"""


@pytest.mark.timeout(600)  # without a cache mypy reads the stubs of all dependencies
@pytest.mark.long
def test_mypy_accepts_a_users_kernels_and_finds_a_wrong_element(tmp_path, request):
    pytest.importorskip("mypy")
    (tmp_path / "right.py").write_text(USER)
    (tmp_path / "wrong.py").write_text(USER.replace("x: ReadOnly[i32]", "x: ReadOnly[f32]"))
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--no-error-summary"]
    cache = request.config.cache.mkdir("mypy")
    given = [f"--cache-dir={cache}", "right.py", "wrong.py"]
    out = subprocess.run([*command, *given], cwd=tmp_path, capture_output=True, text=True).stdout
    assert [line.partition(" error: ")[0] for line in out.splitlines()] == [
        "wrong.py:10:",  # returns an f32 as i32
        "wrong.py:23:",  # passes a buffer of i32 as one of f32
    ]


def test_the_users_kernels_run(tmp_path):
    path = tmp_path / "right.py"
    path.write_text(USER)
    exec(compile(USER, str(path), "exec"), {})


@pytest.mark.long
def test_a_read_only_buffer_is_not_written_in_the_eyes_of_mypy(tmp_path, request):
    pytest.importorskip("mypy")
    (tmp_path / "writes.py").write_text(USER.replace("a[i, j] = b[j, i]", "b[i, j] = a[j, i]"))
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--no-error-summary"]
    cache = request.config.cache.mkdir("mypy")
    given = [f"--cache-dir={cache}", "writes.py"]
    out = subprocess.run([*command, *given], cwd=tmp_path, capture_output=True, text=True).stdout
    assert out.startswith("writes.py:23: error: Unsupported target for indexed assignment")


RECORD = """
import numpy as np

import gpucoh
from gpucoh import Buffer2, ReadOnly, f32, i32


@gpucoh.record
class Rows:
    x: ReadOnly[i32]
    y: Buffer2[f32]
    n: i32
    scale: f32


@gpucoh.kernel
def scaled(rows: Rows, by: i32) -> None:
    i = gpucoh.global_id()
    if i < rows.n:
        rows.y[i, 0] = rows.x[i] * by * rows.scale


with gpucoh.GPU() as gpu:
    y = gpu.zeros((4, 2))
    rows = Rows(gpu.array(np.arange(4, dtype=np.int32)), y, n=4, scale=0.5)
    scaled[1, 32](rows, 2)
    print(y.numpy())
"""


def test_mypy_knows_the_fields_of_a_record(tmp_path, request):
    pytest.importorskip("mypy")
    (tmp_path / "right.py").write_text(RECORD)
    wrong = RECORD.replace("rows.n:", "rows.count:").replace("scale=0.5", 'scale="half"')
    wrong = wrong.replace("rows.y[i, 0] =", "rows.x[i] =").replace("scaled[1, 32]", "rows.n = 5")
    (tmp_path / "wrong.py").write_text(wrong.replace("rows.n = 5(rows, 2)", "rows.n = 5"))
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--no-error-summary"]
    cache = request.config.cache.mkdir("mypy")
    given = [f"--cache-dir={cache}", "right.py", "wrong.py"]
    out = subprocess.run([*command, *given], cwd=tmp_path, capture_output=True, text=True).stdout
    assert [line.partition(" error: ")[2].partition("  [")[0] for line in out.splitlines()] == [
        '"Rows" has no attribute "count"',
        'Unsupported target for indexed assignment ("ReadOnly[int]")',
        'Argument "scale" to "Rows" has incompatible type "str"; expected "float"',
        'Property "n" defined in "Rows" is read-only',
    ]


def test_the_kernel_of_the_record_runs(tmp_path):
    path = tmp_path / "record.py"
    path.write_text(RECORD)
    exec(compile(RECORD, str(path), "exec"), {})


def test_all_forms_mean_the_same():
    assert Buffer2[f32] == Buffer[f32, 2]
    assert Buffer3[i32] == Buffer[i32, 3]
    assert ReadOnly[f32] == Buffer[f32, "readonly"]
    assert ReadOnly2[f32] == Buffer[f32, 2, "readonly"]
    assert ReadOnly3[i32] == Buffer[i32, 3, "readonly"]
    with pytest.raises(gpucoh.KernelError, match="takes the element type alone"):
        Buffer2[f32, "readonly"]
    assert Buffer[f32, Literal[2]] == Buffer[f32, 2]
    assert Buffer[f32, Literal["readonly"]] == Buffer[f32, "readonly"]
    assert Buffer[i32, Literal[3, "readonly"]] == Buffer[i32, 3, "readonly"]
    with pytest.raises(gpucoh.KernelError, match="the only qualifiers are"):
        Buffer[f32, Literal[4]]

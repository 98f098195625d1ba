"""Is a kernel what its file said when it was defined, here and in other processes, and is its code bounded?"""

import copy
import importlib
import pickle
import subprocess
import sys
import time

import numpy as np
import pytest

import gpucoh
from gpucoh.lang.lowering import MAX_INSTRUCTIONS
from products import rows

TEXT = """
import gpucoh


@gpucoh.device
def twice(a: gpucoh.f32) -> gpucoh.f32:
    return a + a


@gpucoh.kernel
def write(x: gpucoh.Buffer[gpucoh.f32]):
    x[0] = twice({value})
"""


@pytest.fixture
def module(tmp_path, monkeypatch, request):
    """A module of a file that the test may edit, with its path."""
    name = f"edited_{abs(hash(request.node.name))}"
    path = tmp_path / f"{name}.py"
    path.write_text(TEXT.format(value=1.0))
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module(name), path
    del sys.modules[name]


def value_of(kernel):
    gpu = gpucoh.GPU(protocol="ideal")
    x = gpu.zeros(1, np.float32)
    gpu.launch(kernel, grid=1, block=1, args=(x,))
    return float(x[0])


def test_an_edit_between_definition_and_launch_changes_nothing(module):
    found, path = module
    path.write_text("# a line more\n" * 3 + TEXT.format(value=77.0).replace("a + a", "a * 9.0"))
    assert value_of(found.write) == 2.0


def test_a_definition_in_a_module_is_pickled_by_its_name(module):
    found, _ = module
    assert pickle.loads(pickle.dumps(found.write)) is found.write
    assert pickle.loads(pickle.dumps(found.twice)) is found.twice
    assert copy.deepcopy(found.write) is found.write


def test_a_definition_elsewhere_is_pickled_by_value(tmp_path):
    pytest.importorskip("cloudpickle")
    script = tmp_path / "script.py"
    script.write_text(
        TEXT.format(value=3.0)
        + "import pickle, sys\nopen(sys.argv[1], 'wb').write(pickle.dumps(write))\n"
    )
    kept = tmp_path / "kernel.pickle"
    subprocess.run([sys.executable, str(script), str(kept)], check=True, timeout=60)
    script.unlink()
    assert value_of(pickle.loads(kept.read_bytes())) == 6.0


def test_without_cloudpickle_the_error_says_what_to_do(monkeypatch):
    @gpucoh.kernel
    def inner(x: gpucoh.Buffer[gpucoh.i32]):
        x[0] = 1

    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    with pytest.raises(pickle.PicklingError, match="move it to a module, or install cloudpickle"):
        pickle.dumps(inner)


LEVELS = "".join(
    f"@gpucoh.device\ndef d{n}(a: gpucoh.i32):\n    return d{n - 1}(a) + d{n - 1}(a + 1)\n\n"
    for n in range(1, 21)
)
GROWING = f"""
import gpucoh

FIFTY = tuple(range(50))

@gpucoh.kernel
def loops(x: gpucoh.Buffer[gpucoh.i32]):
    for a in FIFTY:
        for b in FIFTY:
            for c in FIFTY:
                x[a] = b + c

@gpucoh.device
def d0(a: gpucoh.i32):
    return a + 1

{LEVELS}
@gpucoh.kernel
def calls(x: gpucoh.Buffer[gpucoh.i32]):
    x[0] = d20(x[0])
"""


@pytest.mark.parametrize(
    ("kernel", "what"),
    rows(
        [("loops", "the loop over a tuple of 50 elements"), ("calls", "the call of 'd20'")],
        one_in=4,
    ),
)
def test_code_that_grows_without_end_is_an_error_within_seconds(module, kernel, what):
    found, path = module
    path.write_text(GROWING)
    found = importlib.reload(found)
    start = time.process_time()
    with pytest.raises(gpucoh.KernelError, match=f"{what} makes more than {MAX_INSTRUCTIONS}"):
        getattr(found, kernel).compile()
    assert time.process_time() - start < 10

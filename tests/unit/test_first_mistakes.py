"""Do the first mistakes of a new user get the answer in the message?"""

import copy
import gc
import pickle
from pathlib import Path

import numpy as np
import pytest

import gpucoh
from gpucoh.cli import call
from products import share


def refusal(function, *args, error=gpucoh.ConfigError, **keywords):
    with pytest.raises(error) as caught:
        function(*args, **keywords)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# ---- the arguments of a GPU


def test_a_protocol_in_place_of_the_machine_is_named():
    assert 'write GPU(machine="fermi", protocol="mesi")' in refusal(gpucoh.GPU, "mesi")


def test_a_machine_in_place_of_the_protocol_is_named():
    assert "'fermi' is a machine" in refusal(gpucoh.run, "vec-cpy", "fermi")


def test_an_unknown_argument_of_a_gpu_is_answered_by_the_nearest():
    assert "did you mean 'protocol'?" in refusal(gpucoh.GPU, protocl="mesi")


def test_a_gpu_takes_set_as_run_does():
    gpu = gpucoh.GPU(set={"cores": 4, "l1_kib": "32KiB", "budget": 1000, "deadlock_after": 7})
    assert (gpu.machine.cores, gpu.machine.l1_kib) == (4, 32)
    assert (gpu.budget, gpu.deadlock_after) == (1000, 7)


@pytest.mark.parametrize("given", [{"coers": 4}, {"name": "x"}, {"cores": 0}, {"budget": 0}, 5])
def test_a_bad_set_is_refused(given):
    refusal(gpucoh.GPU, set=given)


# ---- data


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        ([1, -2, 3], np.int32),
        ([[1, 2], [3, 4]], np.int32),
        (7, np.int32),
        (np.array([1, 2**40]), np.int64),
        (np.array([1, 2**64 - 1], np.uint64), np.uint64),
        (np.array([0.1, 1e300]), np.float64),
        (np.array([True, False]), np.int32),
        ([True, False], np.int32),
        ([0.5, 1], np.float32),
    ],
)
def test_arrays_keep_their_type_and_lists_become_words(data, dtype):
    x = gpucoh.GPU().array(data)
    assert x.dtype == dtype
    assert np.array_equal(x.numpy().reshape(np.shape(data)), data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([1, 2**31], "the value 2147483648 at index 1 does not fit an array of int32"),
        ([[0, 0], [0, 2**40]], "the value 1099511627776 at index 1, 1 does not fit"),
        ([0.0, 1e300], "the value 1e[+]300 at index 1 does not fit an array of float32"),
        ([[1], [2, 3]], "rows of the list have different lengths"),
    ],
)
def test_data_that_do_not_fit_are_named(data, message):
    with pytest.raises(gpucoh.ConfigError, match=message):
        gpucoh.GPU().array(data)


@gpucoh.kernel
def first(x: gpucoh.Buffer[gpucoh.f32]):
    x[0] = 1.0


def test_a_kernel_that_wants_another_type_says_so_at_its_launch():
    gpu = gpucoh.GPU()
    with pytest.raises(
        gpucoh.ConfigError,
        match=r"^argument 'x'.*must be an array of float32, got one of float64: gpu.array\(data, dtype=np.float32\)",
    ):
        gpu.launch(first, grid=1, block=32, args=(gpu.array(np.zeros(4)),))


@pytest.mark.parametrize("duplicate", share([copy.copy, copy.deepcopy, pickle.dumps], one_in=4))
def test_a_copied_array_says_what_to_do(duplicate, capsys):
    x = gpucoh.GPU().zeros(4, np.int32)
    assert "a.numpy() is a copy on the host" in refusal(duplicate, x)
    del x
    gc.collect()
    assert capsys.readouterr().err == ""


def test_an_array_that_is_not_made_has_nothing_to_free(capsys):
    made = gpucoh.Array.__new__(gpucoh.Array)
    del made
    gc.collect()
    assert capsys.readouterr().err == ""


# ---- runs


@pytest.fixture(scope="module")
def result():
    return gpucoh.run("vec-cpy", "ideal", scale="tiny")


@pytest.mark.parametrize(
    ("name", "answer"), [("profile", "profile=True"), ("trace", "trace=True"), ("cores", "every=")]
)
def test_what_a_run_did_not_record_is_answered_by_the_argument(result, name, answer):
    assert answer in refusal(getattr, result, name)


def test_a_run_without_a_protocol_says_which_it_took(capsys):
    assert call(["run", "vec-cpy", "--scale", "tiny"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("vec-cpy under no-l1 on fermi")
    assert err == "gpucoh: no -p is given: no-l1, the default; gpucoh protocols lists all\n"


def test_scales_without_a_value_for_a_file_say_how_to_leave_it_out():
    def own(gpu, rng, n, graph: Path):
        return {}

    message = refusal(gpucoh.workload(scales={"tiny": {"n": 1}}), own)
    assert "gives no value for graph" in message
    assert "write graph: Path | None = None" in message


def test_a_file_may_be_left_out_of_scales():
    @gpucoh.workload(scales={"tiny": {"n": 1}})
    def own(gpu, rng, n: int, graph: Path | None = None):
        assert graph is None
        x = gpu.zeros(n, np.int32)
        return {"x": (x, np.zeros(n, np.int32))}

    assert gpucoh.run(own, "ideal", scale="tiny").correct


# ---- arguments that a function does not have


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: gpucoh.run("stn", intervals=5),  # type: ignore[call-arg]
            r"run\(\): unknown argument 'intervals'; allowed: workload, .* every",
        ),
        (
            lambda: gpucoh.explain(gpucoh.run("stn", scale="tiny")),  # type: ignore[call-arg]
            r"explain\(\) missing 1 required positional argument: 'b'",
        ),
        (
            lambda: gpucoh.GPU().launch(first, stream=1),  # type: ignore[call-arg]
            r"GPU\.launch\(\): unknown argument 'stream'; allowed: kernel",
        ),
        (
            lambda: gpucoh.run("stn", cores=4),  # type: ignore[call-arg]
            r'run\(\): cores is a machine field: write set=\{"cores": 4\}',
        ),
        (lambda: gpucoh.GPU(cores=4), r'cores is a machine field: write set=\{"cores": 4\}'),
        (
            lambda: gpucoh.compare(["stn"], ["mesi"], cores=4),  # type: ignore[call-arg]
            r'compare\(\): cores is .* set=\{"cores": 4\}',
        ),
        (
            lambda: gpucoh.grid(workload="stn", cores=[4]),
            r'cores is a machine field: write set=\{"cores": \[4\]\}',
        ),
        (
            lambda: gpucoh.sweep([{"workload": "stn", "cores": 4}]),
            r'a run: cores is .* set=\{"cores": 4\}',
        ),
    ],
)
def test_arguments_that_a_function_lacks_are_named(call, message):
    with pytest.raises(gpucoh.ConfigError, match=message):
        call()


def test_an_error_of_type_inside_a_call_stays_one():
    def wrong(gpu, rng):
        return len(1)

    with pytest.raises(gpucoh.WorkloadError, match="TypeError"):
        gpucoh.run(wrong, protocol="ideal", scale="tiny")

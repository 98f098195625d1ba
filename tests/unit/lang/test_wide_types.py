"""Do NumPy's 64-bit types, and ours where they are not allowed, give an error that names them and what to use?"""

import numpy as np
import pytest

import gpucoh
from gpucoh import Buffer, f32, i32

USE = "64 bits wide (use gpucoh.{})"
ALLOWED = "64 bits wide (allowed: i32, u32, f32)"


def refusal(define, line):
    """The message of a kernel's compilation, after its place: ``line`` lines after the first of ``define``."""
    gpu = gpucoh.GPU(protocol="ideal")
    with pytest.raises(gpucoh.KernelError) as caught:
        gpu.launch(define(), grid=1, block=1, args=(gpu.zeros(1, np.float32),))
    place = f"{__file__}:{define.__code__.co_firstlineno + line}: "
    message = str(caught.value)
    assert message.startswith(place)
    assert message.count(__file__) == 1
    assert caught.value.line == define.__code__.co_firstlineno + line
    return message.removeprefix(place)


@pytest.mark.parametrize(
    ("type", "name", "use"),
    [
        (np.int64, "int64", "i64"),
        (np.dtype("u8"), "uint64", "u64"),
        (np.float64, "float64", "f64"),
    ],
)
def test_an_annotation(type, name, use):
    def define():
        @gpucoh.kernel
        def k(x: type): ...

        return k

    assert f"'x' is {name}, {USE.format(use)}" in refusal(define, 2)


@pytest.mark.parametrize(("type", "name"), [(np.float64, "float64"), ("f64", "f64")])
def test_the_element_type_of_a_buffer(type, name):
    def define():
        @gpucoh.kernel
        def k(x: Buffer[type]): ...

        return k

    assert refusal(define, 2) == f"the element type of Buffer is {name}, {USE.format('f64')}"


def test_an_attribute_of_gpucoh():
    def define():
        @gpucoh.kernel
        def k(x: Buffer[f32], n: gpucoh.uint64): ...

        return k

    assert refusal(define, 2) == f"gpucoh has no type uint64, {USE.format('u64')}"
    assert not hasattr(gpucoh, "uint64")


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("s = gpucoh.shared(np.float64, 4)", "the dtype is float64, " + USE.format("f64")),
        ("s = gpucoh.local('int64', 4)", "the dtype is int64, " + USE.format("i64")),
        ("s = gpucoh.local(gpucoh.f64, 4)", "the dtype is f64, " + ALLOWED),
        ("i: np.uint64 = 3", "the type of 'i' is uint64, " + USE.format("u64")),
        ("x[0] = np.float64(3.0)", "the type of the conversion is float64, " + USE.format("f64")),
        ("x[0] = gpucoh.bitcast(x[0], gpucoh.i64)", "the dtype of bitcast is i64, " + ALLOWED),
    ],
)
def test_a_statement(tmp_path, written, message):
    path = tmp_path / "study.py"
    path.write_text(
        "import gpucoh, numpy as np\n"
        f"@gpucoh.kernel\ndef k(x: gpucoh.Buffer[gpucoh.f32]):\n    {written}\n"
    )
    names: dict = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    gpu = gpucoh.GPU(protocol="ideal")
    with pytest.raises(gpucoh.KernelError) as caught:
        gpu.launch(names["k"], grid=1, block=1, args=(gpu.zeros(1, np.float32),))
    assert str(caught.value) == f"{path}:4: kernel 'k': {message}"


def test_a_parameter_of_a_device_function():
    @gpucoh.device
    def d(a: np.int64):
        return a

    def define():
        @gpucoh.kernel
        def k(x: Buffer[f32]):
            x[0] = f32(d(3))

        return k

    with pytest.raises(gpucoh.KernelError, match="'a' is int64, 64 bits wide"):
        gpucoh.GPU().launch(define(), grid=1, block=1, args=(gpucoh.GPU().zeros(1),))


@pytest.mark.parametrize("number", [5_000_000_000, -3_000_000_000])
def test_a_number(number):
    def define():
        @gpucoh.kernel
        def k(x: Buffer[f32]):
            n = i32(0) + number
            x[0] = f32(n)

        return k

    assert refusal(define, 3) == (
        f"kernel 'k': {number} does not fit i32 (allowed: -2147483648 to 2147483647; a number of 64 bits is i64(...))"
    )


def test_numpy_constants_that_fit_are_numbers():
    three = np.int64(3)

    @gpucoh.kernel
    def k(x: Buffer[i32]):
        x[0] = three

    gpu = gpucoh.GPU(protocol="ideal")
    x = gpu.zeros(1, np.int32)
    gpu.launch(k, grid=1, block=1, args=(x,))
    assert x[0] == 3

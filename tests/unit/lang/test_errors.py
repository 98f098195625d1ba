"""What the kernel language refuses: file, line, and what to write instead."""

import functools
import math
import re

import numpy as np
import pytest

import gpucoh
from gpucoh.base.errors import ConfigError, KernelError
from gpucoh.lang import Buffer, device, f32, i32, intrinsics, kernel, u32
from gpucoh.lang.intrinsics import atomic_add, atomic_cas, fence, shared
from products import rows, share
from unit.lang.plain import kernel_from_source

HEAD = (
    "@kernel\ndef k(x: Buffer[f32], y: Buffer[i32], z: Buffer[u32], r: Buffer[f32, 'readonly'], "
    "n: i32, s: u32, f: f32):\n"
)


def refuse(body: str, head: str = HEAD, **constants) -> KernelError:
    text = head + "".join(f"    {line}\n" for line in body.split("\n"))
    with pytest.raises(KernelError) as caught:
        kernel_from_source(text, "k", constants).compile(32)
    return caught.value


UNSUPPORTED = {
    "assert n > 0, n": "must be a constant string",
    "try:\n    n\nexcept ValueError:\n    pass": "use if",
    "raise ValueError": "error code",
    "with n:\n    pass": "plain statements",
    "import math": "top of the file",
    "def g():\n    pass": "@gpucoh.device",
    "class C:\n    pass": "plain variables",
    "global m": "use a buffer",
    "del n": "use another name",
    "match n:\n    case 1:\n        pass": "use if and elif",
    "a = [1, 2]": "tuple of constants",
    "a = {1: 2}": "use a buffer",
    "a = {1, 2}": "comparisons",
    "a = [k for k in range(3)]": "use a for loop",
    "a = lambda: 1": "@gpucoh.device",
    "a = (b := n)": "assignment of its own",
    "a = f'{n}'": "print(f'...')",
    "a = x[1:2]": "one index and a loop",
    "a = n in (1, 2)": "use == and !=",
    "a = n is None": "use == and !=",
    "a = n @ n": "use loops",
    "a = 1j": "two f32",
    "for k in range(3):\n    pass\nelse:\n    pass": "use a flag",
    "while n < 3:\n    pass\nelse:\n    pass": "use a flag",
    "for k in x:\n    pass": "use for i in range",
    "for k in range(0, 3, 0):\n    pass": "use another step",
    "for k in range(f):\n    pass": "use i32(...)",
    "for k in range(0, 2**31 - 1, 2):\n    pass": "the counter would leave i32",
    "for k in range(0, -(2**31), -2):\n    pass": "the counter would leave i32",
    "x[threadIdx.x] = f": "write gpucoh.thread_id(axis)",
    "atomicAdd(y, 0, 1)": "write gpucoh.atomic_add",
    "__syncthreads()": "write gpucoh.barrier()",
    "return n": "use a store",
    "print(n, file=None)": "sep and end",
    "print((n, n))": "print its elements",
    "print(f'{n:>{n}}')": "must be constant",
    "print(f'{f:d}')": "the format 'd' is not one of f32",
    "a = print(n)": "gives no value",
    "a = len(n)": "an array is needed here",
    "a = int(f)": "use gpucoh.i32",
    "a = float(n)": "use gpucoh.f32",
    "a = x.size": "use an argument",
    "x.a = 1": "use variables and buffers",
    "a: i32": "use name: gpucoh.i32 = 0",
}


@pytest.mark.parametrize("body", share(UNSUPPORTED, one_in=4))
def test_unsupported_python_is_refused_with_its_place_and_what_to_write(body):
    error = refuse(body)
    assert re.match(r"<kernel \d+>:3: kernel 'k': ", str(error)), str(error)
    assert UNSUPPORTED[body] in str(error)
    assert error.line == 3


TYPES = {
    "a = n + s": "mixes i32 and u32: convert",
    "a = n < s": "mixes i32 and u32",
    "a = 0\na = f": "'a' (line 3) is i32 but the value is f32: write i32(...)",
    "y[0] = f": "is i32 but the value is f32",
    "y[0] = 1.5": "is not an integer",
    "y[0] = 4000000000": "write u32(4000000000)",
    "z[0] = -1": "does not fit u32",
    "a = f & 1": "works on integers",
    "a = f << 1": "works on integers",
    "a = ~f": "works on integers",
    "a = ~(n < 1)": "use not",
    "a = x[f]": "must be i32 or u32",
    "a = x[n < 1]": "must be i32 or u32",
    "a = x[-1]": "negative",
    "a = x[1, 2]": "takes 1 index(es), got 2: annotate it Buffer[f32, 2]",
    "a = n ** -1": "no negative exponent",
    "a = n ** 0.5": "use gpucoh.pow(x, y) or",
    "a = n << -1": "is negative",
    "a = mulhi(f, n)": "must be i32 or u32",
    "a = reduce_xor(f)": "must be i32 or u32",
    "a = bitcast(f, 3)": "the dtype of bitcast",
    "a = bitcast(f, n)": "the dtype of bitcast",
    "a = 1 // 0": "division by zero",
    "a = b": "name 'b' is not defined",
    "a = a + 1": "read before it is assigned",
    "a = x": None,
    "x = 1": "cannot be assigned",
    "a = x + 1": "a number is needed here, not the buffer 'x'",
    "a = (1, 2) + 1": "a number is needed here",
    "a, b = n": "2 values are needed",
    "a = 1\na = 2.5": "make 'a' a float there, as 1.0 or a: gpucoh.f32 = 1",
}


@pytest.mark.parametrize("body", share([body for body, text in TYPES.items() if text], one_in=4))
def test_wrong_types_are_refused(body):
    assert TYPES[body] in str(refuse(body))


ARRAYS = {
    "r[0] = f": "is readonly",
    "r[0] += f": "is readonly",
    "store(r, 0, f)": "is readonly",
    "atomic_add(r, 0, f)": "is readonly",
    "t = shared(i32, n)": "must be a constant",
    "t = shared(i32, 0)": "at least 1",
    "t = shared(int, 4)": "the dtype must be",
    "t = shared(i32, 10 ** 12)": "has 1000000000000 words (allowed: up to 262144 per block)",
    "t = shared(i32, 200000)\ns = shared(i32, 200000)": "(allowed: up to 262144 per block)",
    "t = local(f32, 1000)": "(allowed: up to",
    "t = shared(i32, 4)\na = t[4]": "out of bounds",
    "t = shared(i32, (4, 5))\na = t[1]": "takes 2 indices",
    "t = shared(i32, (4, 5))\na = t[n, 5]": "out of bounds",
    "t = shared(i32, 4)\nt = shared(i32, 4)": "assigned more than once",
    "y[shared(i32, 4)] = 1": "stand alone",
    "t = local(i32, 4)\natomic_add(t, 0, 1)": "private to its thread",
    "t = shared(i32, 4)\nstore(t, 0, 1, 'release')": "use barrier()",
}


@pytest.mark.parametrize("body", share(ARRAYS, one_in=4))
def test_wrong_use_of_arrays_is_refused(body):
    assert ARRAYS[body] in str(refuse(body))


CALLS = {
    "a = load(x, 0, 'release')": "order of load 'release' is not allowed here: use one of weak relaxed acquire sc",
    "store(x, 0, f, 'acquire')": "use one of weak relaxed release sc",
    "atomic_add(y, 0, 1, 'weak')": "use one of relaxed acquire release acq_rel sc",
    "fence('relaxed')": "use one of acquire release acq_rel sc",
    "a = load(x, 0, scope='block')": "use one of cta cu gpu sys",
    "a = load(x, 0, n)": "must be a constant string",
    "atomic_xor(x, 0, f)": "works on i32 and u32",
    "a = thread_id(3)": "use 0, 1 or 2",
    "a = thread_id(n)": "must be a constant",
    "a = thread_id(0, 1)": "too many positional arguments",
    "a = load(x)": "missing a required argument",
    "a = load(x, 0, ordr='sc')": "unexpected keyword",
    "barrier(16)": "from 0 to 15",
    "barrier(0, 33)": "multiple of the warp size, 32",
    "barrier(thread_id())": "must be the same for all threads of a warp",
    "a = barrier()": "gives no value",
    "sleep(f)": "must be i32 or u32",
    "k(x)": "cannot be called from a kernel",
    "a = plain(n)": "use @gpucoh.device on it",
    "a = np.sqrt(f)": "cannot be used: use gpucoh.sqrt",
    "a = builtin_any(n)": "use gpucoh.any",
    "a = recurse(n)": "calls itself",
    "a = mixed(n)": "returns a value everywhere or nowhere",
    "a = falls(n)": "may end without a return",
    "a = strict(x)": "must be i32, got the buffer 'x'",
    "a = strict(f)": "is i32 but the value is f32",
    "a = shuffle_down(f, 1, 16)": "has neither mask nor width: for segments",
    "assert f > 0, f'wrong {f}'": "must be a constant string, not an f-string",
    "a = np.maximum(f, 1.0)": "use gpucoh.max",
    "a = math.fabs(f)": "use gpucoh.abs",
    "a = gpucoh.sqr(f)": "did you mean gpucoh.sqrt?",
    "a = shufle(f, 0)": "did you mean gpucoh.shuffle?",
    "a = builtin_round(f)": "use gpucoh.round(x)",
    "barrier(scope='block')": "scope 'block' is not allowed here: use one of cta cu gpu sys",
    "t = shared(i32)\ns = shared(i32, 4)\ns[0] = t[0]": "declare that one last",
}


@device
def recurse(v: i32):
    return recurse(v)


@device
def mixed(v: i32):
    if v > 0:
        return 1
    return None


@device  # noqa: RET503
def falls(v: i32):
    while v > 0:
        if v == 3:
            return 1
        v -= 1
    fence()


@device
def strict(v: i32):
    return v


@pytest.mark.parametrize("body", CALLS)
def test_wrong_calls_are_refused(body):
    names = {"plain": test_wrong_calls_are_refused, "np": np, "builtin_any": any, "recurse": recurse, "mixed": mixed,
             "falls": falls, "strict": strict, "math": math, "gpucoh": gpucoh, "builtin_round": round}  # fmt: skip
    assert CALLS[body] in str(refuse(body, **names))


#: Of elements of 1, 2 and 8 bytes, and accesses to several: parameters, body, message.
ELEMENTS = [
    ("p: Buffer[u8], n: u8", "p[0] = n",
     "argument 'n' is u8, a type of array elements only (allowed: i32, u32, f32)"),
    ("p: Buffer[u8]", "n: u8 = 3", "the type of 'n' is u8, a type of array elements only"),
    ("p: Buffer[u8]", "p[0] = u8(3)", "the type of the conversion is u8, a type of array elements only"),
    ("p: Buffer[u8]", "t = local(u8, 3)", "the dtype is u8, a type of array elements only"),
    ("p: Buffer[u8]", "atomic_add(p, 0, 1)",
     "atomic_add works on words, the buffer 'p' is u8: use an array of i32 or u32"),
    ("p: Buffer[u8]", "t = shared(i16, 4)\natomic_max(t, 0, 1)",
     "atomic_max works on words, the shared array 't' is i16"),
    ("p: Buffer[i8]", "p[0] = 1.5 + f32(global_id())", "an element of the buffer 'p' is i32 but the value is f32"),
    ("p: Buffer[u16]", "store2(p, 0, 1, 2)",
     "store2 moves words, the buffer 'p' is u16: use an array of i32, u32 or f32"),
    ("p: Buffer[i32]", "store2(p, 3, 1, 2)",
     "index 3 of the buffer 'p' is not a multiple of 2, as store2 needs it"),
    ("p: Buffer[i32]", "store4(p, 0, 1, 2, 3)", "store4(): missing a required argument: 'd'"),
    ("p: Buffer[i32]", "a, b, c = load2(p, 0)", "3 values are needed, got a tuple"),
    ("p: Buffer[i32]", "t = shared(i32, 4)\np[0] = load2(t, 0)[1]",
     "load2 takes a buffer, not the shared array 't': use single elements"),
    ("p: Buffer[i32]", "store2(p, 0, 1, 2.5)", "2.5 is not an integer: i32 is needed"),
    ("p: Buffer[i32, 'readonly']", "store2(p, 0, 1, 2)", "the buffer 'p' is readonly and cannot be written"),
    ("x: Buffer[i64], y: Buffer[u64]", "x[0] = x[1] + y[0]", "mixes u64 with a signed type"),
    ("x: Buffer[i64], y: Buffer[u64]", "n = 3\nn = x[0]\ny[0] = u64(n)", "'n' (line"),
    ("x: Buffer[i64], y: Buffer[u64]", "y[x[0]] = u64(1)", "a number of 32 bits is needed here, not i64"),
    ("x: Buffer[i64]", "x[0] = x[1] + 9_300_000_000_000_000_000", "9300000000000000000 does not fit i64"),
    ("x: Buffer[i64]", "x[0] = 1.5", "1.5 does not fit i64"),
]  # fmt: skip


@pytest.mark.parametrize(("parameters", "body", "message"), ELEMENTS)
def test_wrong_uses_of_other_elements_are_one_line_with_file_and_line(parameters, body, message):
    error = refuse(body, f"@kernel\ndef k({parameters}):\n")
    assert message in str(error)
    assert "\n" not in str(error)
    assert error.line is not None


@pytest.mark.parametrize(
    "body",
    [
        "if n > 0:\n    a = 1\ny[0] = a",
        "for k in range(n):\n    a = k\ny[0] = a",
        "for k in range(n):\n    pass\ny[0] = k",
        "while n > y[0]:\n    a = 1\ny[0] = a",
        "if n > 0:\n    a = 1\n    return\nelse:\n    pass\ny[0] = a",
    ],
)
def test_a_variable_that_may_be_unassigned_is_refused(body):
    assert "before it is assigned" in str(refuse(body))


def test_an_error_in_a_device_function_names_its_own_line():
    line = recurse.function.__code__.co_firstlineno + 2
    assert f"test_errors.py:{line}: device function 'recurse'" in str(
        refuse("a = recurse(n)", recurse=recurse)
    )


def test_too_many_registers_are_refused():
    body = "\n".join(f"a{k} = x[n + {k}]" for k in range(300)) + "\nbarrier()\n"
    body += "\n".join(f"x[{k}] = a{k}" for k in range(300))
    assert "registers per thread (allowed: up to 255)" in str(refuse(body))


@pytest.mark.parametrize("head", ["def k(x):", "def k(x: int):", "def k(x: 'nonsense'):"])
def test_parameters_without_a_type_of_kernels_are_refused(head):
    with pytest.raises(KernelError, match="<kernel"):
        kernel_from_source(f"@kernel\n{head}\n    pass\n", "k").compile(32)


@pytest.mark.parametrize("head", ["def k(*x: i32):", "def k(n: i32 = 3):", "def k(**x: i32):"])
def test_parameters_with_stars_or_defaults_are_refused(head):
    with pytest.raises(KernelError, match="plain"):
        kernel_from_source(f"@kernel\n{head}\n    pass\n", "k").compile(32)


def test_a_kernel_without_source_is_refused():
    space = {"kernel": kernel}
    exec("@kernel\ndef k():\n    pass\n", space)
    with pytest.raises(KernelError, match="source"):
        space["k"].compile(32)


def test_lambda_is_no_kernel():
    with pytest.raises(KernelError):
        kernel(lambda: None).compile(32)


@pytest.mark.parametrize("name", share(intrinsics.NAMES, one_in=12))
def test_intrinsics_work_only_inside_kernels(name):
    function = getattr(intrinsics, name)
    count = sum(
        p.default is p.empty and p.kind is not p.VAR_POSITIONAL for p in _parameters(function)
    )
    with pytest.raises(KernelError, match=r"only inside @gpucoh\.kernel"):
        function(*[0] * count)


def _parameters(function):
    import inspect

    return inspect.signature(function).parameters.values()


def test_conversions_kernels_and_device_functions_are_not_called_on_the_host():
    @kernel
    def empty():
        pass

    for call in (lambda: i32(1), empty, lambda: strict(1), lambda: Buffer()):
        with pytest.raises(KernelError):
            call()


def test_buffers_have_elements_of_a_type_and_one_qualifier():
    with pytest.raises(KernelError, match="element type"):
        Buffer[int]
    with pytest.raises(KernelError, match="readonly"):
        Buffer[f32, "const"]
    with pytest.raises(KernelError, match="dimensions, 1 to 3"):
        Buffer[f32, 4]


@kernel
def takes(n: i32, s: u32, f: f32, x: Buffer[f32]):
    x[n] = f * s


X = np.zeros(1, np.float32)


@pytest.mark.parametrize(
    ("args", "message"),
    rows(
        [
            ((1, 2), "takes 4 arguments (n, s, f, x), got 2"),
            (
                (2**31, 1, 1.0, X),
                "argument 'n' of kernel 'takes' must be from -2147483648 to 2147483647",
            ),
            ((0, -1, 1.0, X), "argument 's' of kernel 'takes' must be from 0 to 4294967295"),
            ((1.5, 1, 1.0, X), "argument 'n' of kernel 'takes' must be an integer (i32), got 1.5"),
            (("1", 1, 1.0, X), "got a str"),
            ((X, 1, 1.0, X), "got a ndarray"),
            ((0, 1, 1e300, X), "argument 'f' of kernel 'takes' must fit f32"),
            ((0, 1, 10**400, X), "must fit f32"),
            ((0, 1, "a", X), "must be a number (f32)"),
            ((0, 1, 1.0, 5), "argument 'x' of kernel 'takes' must be an array of f32, got 5"),
        ],
        one_in=4,
    ),
)
def test_scalar_arguments_that_do_not_fit_are_refused(args, message):
    with pytest.raises(ConfigError) as caught:
        takes.compile(32).bind(args)
    assert message in str(caught.value)


def test_scalar_arguments_become_words():
    program = takes.compile(32)
    constants, buffers = program.bind((np.int64(-1), np.uint32(7), np.float64(1.5), X))
    words = {
        name: int(constants[k]) for k, name in enumerate(program.constants) if isinstance(name, str)
    }
    assert words == {"n": 0xFFFFFFFF, "s": 7, "f": 0x3FC00000}
    assert buffers[0] is X


def test_other_warp_widths_are_refused():
    with pytest.raises(ConfigError, match="32 or 64"):
        takes.compile(16)


@kernel
def adds_beyond(x: Buffer[i32], row: i32, column: i32):
    a = shared(i32, (2, 2))
    b = shared(i32, 4)
    b[0] = 0
    atomic_add(a, (row, column), 9)
    x[0] = b[0]


@kernel
def swaps_beyond(x: Buffer[i32], row: i32, column: i32):
    a = shared(i32, (2, 2))
    b = shared(i32, 4)
    b[0] = 0
    x[0] = atomic_cas(a, (row, column), 0, 9) + b[0]


@pytest.mark.parametrize("tested", [adds_beyond, swaps_beyond])
def test_an_atomic_beyond_its_scratchpad_array_does_not_reach_the_next(tested):
    gpu = gpucoh.GPU(protocol="ideal")
    x = gpu.zeros(1, np.int32)
    gpu.launch(tested, grid=1, block=1, args=(x, 1, 1))
    with pytest.raises(KernelError, match="index 4 is out of bounds of a shared array of 4 words"):
        gpu.launch(tested, grid=1, block=1, args=(x, 1, 2))


def takes_any(*x):
    return 1


def takes_named(**x):
    return 1


@pytest.mark.parametrize("function", [takes_any, takes_named])
def test_device_functions_with_stars_are_refused(function):
    call = "a = h(y=1)" if function is takes_named else "a = h(1, 2)"
    assert "takes * or ** arguments" in str(refuse(call, h=device(function)))


@pytest.mark.parametrize(
    "body",
    [
        "for k in (1, 2):\n    t = (k, 2 * k)\n    y[k] = t[0]",
        "for k in (1, 2):\n    if y[k] > n:\n        t = (k, 1)\ny[0] = t[0]",
        "for k in (1, 2):\n    t = shared(i32, 4)\n    t[0] = k",
        "for k in (x, r):\n    t = k\n    y[0] = i32(t[0])",
    ],
)
def test_what_is_no_number_is_not_made_in_each_trip(body):
    """Lanes that left a trip before would see what the next one made."""
    message = str(refuse(body, shared=shared))
    assert (
        "is assigned in each iteration of a loop over a tuple: assign it before the loop" in message
    )


def test_a_star_in_an_assignment_is_refused():
    assert "name each element" in str(refuse("*a, b = 1, 2"))


class NoFunction:
    """A class."""


@pytest.mark.parametrize(
    ("decorator", "given"),
    share(
        [kernel, device],
        [len, 3, None, functools.partial(print), adds_beyond, NoFunction],
        one_in=4,
    ),
)
def test_what_is_not_defined_with_def_is_refused(decorator, given):
    with pytest.raises(KernelError, match="takes a function that is defined with def, not"):
        decorator(given)


def test_text_that_begins_left_of_the_kernel_is_read(tmp_path):
    file = tmp_path / "left.py"
    file.write_text(
        "from gpucoh.lang import Buffer, i32, kernel\n"
        "def outer():\n"
        "    @kernel\n"
        "    def inner(x: Buffer[i32]):\n"
        '        """A text\n'
        'of which one line begins at the left."""\n'
        "        x[0] = 1\n"
        "# and a comment, too\n"
        "        x[1] = 1 / 0\n"
        "    return inner\n"
    )
    names = {}
    exec(compile(file.read_text(), str(file), "exec"), names)
    with pytest.raises(KernelError, match="division by zero") as caught:
        names["outer"]().compile(32)
    assert caught.value.line == 9


@pytest.mark.parametrize(
    "body",
    [
        "a = " + " + ".join(["n"] * 800),
        "if n == 0:\n    pass" + "".join(f"\nelif n == {k}:\n    pass" for k in range(1, 600)),
    ],
    ids=["sum", "elif"],
)
def test_what_is_nested_too_deeply_is_refused(body):
    assert "nested too deeply: split it" in str(refuse(body))

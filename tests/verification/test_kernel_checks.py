"""Does ``check`` report divisions by zero and reads of uninitialised shared memory, and nothing else?"""

import numpy as np
import pytest

import gpucoh
from gpucoh import Buffer, f32, i32, i64, u32, u64
from lines import line_of
from products import share

BLOCK = 64


def launch(kernel, *values, check="kernel", protocol="ideal", grid=2):
    gpu = gpucoh.GPU(protocol=protocol, check=check)
    args = [gpu.array(v, dtype=v.dtype) if isinstance(v, np.ndarray) else v for v in values]
    gpu.launch(kernel, grid=grid, block=BLOCK, args=args)
    return [arg.numpy() for arg in args if isinstance(arg, gpucoh.Array)]


def refusal(kernel, *values, **options):
    with pytest.raises(gpucoh.SimulationError) as caught:
        launch(kernel, *values, **options)
    assert type(caught.value) is gpucoh.SimulationError
    return str(caught.value)


def place_of(kernel, text):
    return f"kernel '{kernel.name}' at {__file__}:{line_of(kernel, text)}"


def divisors(zero, dtype=np.int32):
    out = np.ones(2 * BLOCK, dtype)
    out[zero] = 0
    return out


# ---- division


@gpucoh.kernel
def quotient(x: Buffer[i32]):
    i = gpucoh.global_id()
    x[i] = 100 // x[i]


@gpucoh.kernel
def remainder(x: Buffer[u32]):
    i = gpucoh.global_id()
    if i % 32 != 3:
        x[i] = u32(7) % x[i]


@gpucoh.kernel
def even_quotient(x: Buffer[i32], n: i32):
    x[gpucoh.global_id()] = x[0] // n


@gpucoh.kernel
def constant_quotient(x: Buffer[i32]):
    zero = 0
    x[gpucoh.global_id()] = 5 // i32(zero)


@pytest.mark.parametrize("check", ["kernel", True])
def test_a_division_by_zero_names_thread_and_line(check):
    message = refusal(quotient, divisors(70), check=check)
    assert message == (
        f"division by zero: {place_of(quotient, '//')}: thread (6,0,0) of block (1,0,0) divides 100 by 0"
    )


def test_a_remainder_by_zero_is_reported_for_active_lanes_only():
    message = refusal(remainder, divisors(65, np.uint32))
    assert message.startswith(f"division by zero: {place_of(remainder, 'u32(7)')}: thread (1,0,0)")
    launch(remainder, divisors(67, np.uint32))


@pytest.mark.parametrize(("kernel", "args"), [(even_quotient, (0,)), (constant_quotient, ())])
def test_divisions_of_uniform_and_constant_operands_are_checked(kernel, args):
    assert "division by zero" in refusal(kernel, divisors(5), *args)


@gpucoh.kernel
def wide_quotient(x: Buffer[i64]):
    i = gpucoh.global_id()
    x[i] = i64(-5000000000) // x[i]


@gpucoh.kernel
def wide_remainder(x: Buffer[u64]):
    i = gpucoh.global_id()
    x[i] = (u64(1) << u64(63)) % x[i]


@pytest.mark.parametrize(
    ("kernel", "dtype", "dividend"),
    [(wide_quotient, np.int64, -5_000_000_000), (wide_remainder, np.uint64, 1 << 63)],
)
def test_a_division_of_64_bits_by_zero_names_thread_line_and_dividend(kernel, dtype, dividend):
    message = refusal(kernel, divisors(70, dtype) << 32)  # their low words are 0
    text = "//" if kernel is wide_quotient else "u64(1)"
    assert message == (
        f"division by zero: {place_of(kernel, text)}: thread (6,0,0) of block (1,0,0) divides {dividend} by 0"
    )


PTX = """
.version 8.0
.target sm_80
.address_size 64
.file 1 "divide.cu"
.visible .entry divide(.param .u64 p)
{{
    .reg .b64 %rd<4>; .reg .b32 %r<4>; .reg .{type} %d, %n;
    ld.param.u64 %rd0, [p];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %rd1, %r0, 8;
    add.u64 %rd0, %rd0, %rd1;
    ld.global.{type} %d, [%rd0];
    mov.{type} %n, -7;
    .loc 1 12 5
    {op}.{type} %d, %n, %d;
    st.global.{type} [%rd0], %d;
    ret;
}}
"""


@pytest.mark.parametrize("op", ["div", "rem"])
@pytest.mark.parametrize("type", ["s32", "u32", "s64", "u64"])
def test_a_division_by_zero_of_ptx_names_its_line(op, type):
    kernel = gpucoh.cuda.Module((PTX.format(op=op, type=type), "divide.ptx"))["divide"]
    dividend = -7 if type[0] == "s" else 2 ** int(type[1:]) - 7
    gpu = gpucoh.GPU(protocol="ideal", check="kernel")
    x = gpu.array(np.full(64, 3, np.int64), dtype=np.int64)
    x[9] = 0
    with pytest.raises(gpucoh.SimulationError) as caught:
        kernel(1, 64, (x,))
    assert "divide.cu:12" in str(caught.value)
    assert f"thread (9,0,0) of block (0,0,0) divides {dividend} by 0" in str(caught.value)


@pytest.mark.parametrize("check", [False, "races", "protocol"])
def test_without_the_check_a_division_by_zero_gives_zero(check):
    (out,) = launch(quotient, divisors(70), check=check)
    assert out[70] == 0
    assert out[69] == 100


def test_a_division_that_the_source_does_not_evaluate_is_not_reported():
    @gpucoh.kernel
    def k(x: Buffer[i32], y: Buffer[i32]):
        i = gpucoh.global_id()
        y[i] = 8 // x[i] if x[i] != 0 else -1
        if x[i] != 0 and 8 % x[i] == 0:
            y[i] += 100

    x = np.arange(2 * BLOCK, dtype=np.int32)
    _, y = launch(k, x, np.zeros(2 * BLOCK, np.int32))
    assert list(y[:4]) == [-1, 108, 104, 2]


def test_a_division_of_floats_by_zero_is_defined():
    @gpucoh.kernel
    def k(x: Buffer[f32]):
        i = gpucoh.global_id()
        x[i] = 1.0 / x[i]

    (x,) = launch(k, np.zeros(2 * BLOCK, np.float32))
    assert np.isinf(x).all()


# ---- uninitialised shared memory


@gpucoh.kernel
def reads_too_far(out: Buffer[i32]):
    first = gpucoh.shared(i32, 16)
    s = gpucoh.shared(i32, 128)
    i = gpucoh.thread_id()
    if i < 16:
        first[i] = i
    s[i] = i
    gpucoh.barrier()
    out[gpucoh.global_id()] = s[i + 1] + first[0]


@gpucoh.kernel
def counts_without_zero(out: Buffer[i32]):
    s = gpucoh.shared(i32, 4)
    gpucoh.atomic_add(s, gpucoh.lane_id() % 4, 1)


@gpucoh.kernel
def initialises(out: Buffer[i32]):
    s = gpucoh.shared(i32, 64)
    t = gpucoh.shared(i32, 1)
    i = gpucoh.thread_id()
    s[i] = i
    if i == 0:
        gpucoh.atomic_exch(t, 0, 5)
    gpucoh.barrier()
    gpucoh.atomic_add(s, 63 - i, 1)
    gpucoh.barrier()
    out[gpucoh.global_id()] = s[63 - i] + t[0]


@pytest.mark.parametrize("check", ["kernel", True])
def test_a_read_of_uninitialised_shared_memory_names_thread_and_word(check):
    message = refusal(reads_too_far, np.zeros(2 * BLOCK, np.int32), check=check)
    assert message == (
        f"uninitialised shared memory: {place_of(reads_too_far, 's[i + 1]')}: thread (63,0,0) of block (0,0,0) "
        "reads element 64 of an array, which no thread of the block has written"
    )


def test_an_atomic_reads_the_word():
    message = refusal(counts_without_zero, np.zeros(2 * BLOCK, np.int32))
    assert place_of(counts_without_zero, "atomic_add") in message


def test_initialised_words_are_not_reported_in_any_block():
    (out,) = launch(initialises, np.zeros(40 * BLOCK, np.int32), grid=40)
    assert list(out[:3]) == [69, 68, 67]


def test_a_block_does_not_inherit_the_words_of_an_earlier_one():
    @gpucoh.kernel
    def k(out: Buffer[i32]):
        s = gpucoh.shared(i32, 64)
        i = gpucoh.thread_id()
        if gpucoh.block_id() == 0:
            s[i] = i
        out[gpucoh.global_id()] = s[i]

    gpu = gpucoh.GPU(machine=gpucoh.machine("fermi").replace(cores=1), check="kernel")
    out = gpu.zeros(BLOCK, np.int32)
    gpu.launch(k, grid=1, block=BLOCK, args=(out,))
    gpu = gpucoh.GPU(
        machine=gpucoh.machine("fermi").replace(cores=1, blocks_per_core=1), check="kernel"
    )
    out = gpu.zeros(2 * BLOCK, np.int32)
    with pytest.raises(gpucoh.SimulationError, match=r"of block \(1,0,0\) reads element 0 of"):
        gpu.launch(k, grid=2, block=BLOCK, args=(out,))
    gpu.launch(initialises, grid=2, block=BLOCK, args=(out,))  # the GPU stays usable


def test_without_the_check_uninitialised_words_are_zero():
    (out,) = launch(reads_too_far, np.zeros(2 * BLOCK, np.int32), check="races")
    assert out[63] == 0


def test_the_check_does_not_change_the_run():
    cycles = set()
    for check in (False, "kernel", True):
        gpu = gpucoh.GPU(check=check)
        out = gpu.zeros(4 * BLOCK, np.int32)
        gpu.launch(initialises, grid=4, block=BLOCK, args=(out,))
        gpu.launch(quotient, grid=4, block=BLOCK, args=(gpu.full(4 * BLOCK, 3, np.int32),))
        cycles.add(gpu.stats().cycles)
    assert len(cycles) == 1


@pytest.mark.parametrize("name", share(gpucoh.workloads(), one_in=8))
def test_a_workload_passes_the_kernel_checks(name):
    result = gpucoh.run(name, protocol="ideal", scale="tiny", check="kernel")
    assert result.correct is not False


def test_a_protocol_without_a_model_takes_the_check_by_name_only():
    launch(quotient, divisors(70), check=True, protocol="no-coh")
    assert "division by zero" in refusal(quotient, divisors(70), check="kernel", protocol="no-coh")

"""Are records the parameters of their fields, and are their errors clear?"""

import dataclasses
import itertools

import numpy as np
import pytest

import gpucoh
from gpucoh import Buffer, ConfigError, KernelError, ReadOnly, f32, i32
from gpucoh.lang import Element, isa
from unit.lang.plain import kernel_from_source


@gpucoh.record
class Rows:
    offsets: ReadOnly[i32]
    values: Buffer[f32]
    n: i32
    scale: f32


@gpucoh.record
class Other:
    n: i32


@gpucoh.record
class Weighted(Rows):
    weight: i32


@gpucoh.device
def scaled(rows: Rows, at: i32) -> f32:
    return rows.values[at] * rows.scale


@gpucoh.device
def any_row(rows, at):
    return rows.offsets[at]


@gpucoh.kernel
def sums(first: i32, rows: Rows, out: Buffer[f32]):
    i = gpucoh.global_id()
    if i < rows.n:
        total = f32(first)
        for at in range(any_row(rows, i), rows.offsets[i + 1]):
            total += scaled(rows, at)
            rows.values[at] = total
        out[i] = total


@gpucoh.kernel
def apart(
    first: i32, offsets: ReadOnly[i32], values: Buffer[f32], n: i32, scale: f32, out: Buffer[f32]
):
    i = gpucoh.global_id()
    if i < n:
        total = f32(first)
        for at in range(offsets[i], offsets[i + 1]):
            total += values[at] * scale
            values[at] = total
        out[i] = total


OFFSETS = np.array([0, 3, 3, 8], np.int32)
VALUES = np.arange(8, dtype=np.float32)


def rows_on(gpu, **changed):
    given = {"offsets": gpu.array(OFFSETS), "values": gpu.array(VALUES), "n": 3, "scale": 0.5}
    return Rows(**given | changed)


def test_results_are_numpy_s():
    gpu = gpucoh.GPU(protocol="ideal")
    rows, out = rows_on(gpu), gpu.zeros(3)
    gpu.launch(sums, grid=1, block=32, args=(7, rows, out))
    parts = [VALUES[a:b] / 2 for a, b in itertools.pairwise(OFFSETS)]
    assert out.numpy().tolist() == [7 + part.sum() for part in parts]
    assert rows.values.numpy().tolist() == [x for part in parts for x in 7 + part.cumsum()]


def test_the_code_is_that_of_separate_parameters():
    one, other = sums.compile(32), apart.compile(32)

    def code(program):
        return [fields[:-2] for fields in isa.unpacked(program.code)]  # without lines

    def names(program):
        return [p.name.removeprefix("rows.") for p in program.parameters]

    assert code(one) == code(other)
    assert names(one) == names(other)
    assert one.vector_registers == other.vector_registers


def test_a_record_of_another_array_is_made_by_replace():
    gpu = gpucoh.GPU(protocol="ideal")
    rows, out = rows_on(gpu), gpu.zeros(3)
    fewer = dataclasses.replace(rows, n=1)
    sums[1, 32](0, fewer, out)
    assert out.numpy().tolist() == [1.5, 0, 0]


def test_a_record_that_inherits_is_taken_for_its_base():
    gpu = gpucoh.GPU(protocol="ideal")
    plain, out = rows_on(gpu), gpu.zeros(3)
    fields = {field.name: getattr(plain, field.name) for field in dataclasses.fields(plain)}
    sums[1, 32](0, Weighted(**fields, weight=3), out)
    assert out.numpy()[0] == 1.5


def test_the_kernel_shows_its_record():
    assert repr(sums) == "<gpucoh.kernel sums(first: i32, rows: Rows, out: Buffer[f32])>"


def refuse(body, parameter="Rows"):
    text = f"@kernel\ndef k(r: {parameter}, i: i32):\n    {body}\n"
    with pytest.raises(KernelError) as caught:
        kernel_from_source(text, "k", {"Rows": Rows, "Other": Other, "scaled": scaled}).compile(32)
    return str(caught.value)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "r.values[0] = r.scael",
            "the record 'r' (Rows): unknown field 'scael'; allowed: offsets, values, n, scale; did you mean 'scale'?",
        ),
        ("r.n = 3", "'n' of the record 'r' cannot be assigned: use a variable"),
        ("r.n += 3", "'n' of the record 'r' cannot be assigned: use a variable"),
        ("r.m = 3", "the record 'r' (Rows): unknown field 'm'"),
        ("r.offsets[0] = 3", "'r.offsets'"),
        ("r = 3", "'r' is the record 'r' and cannot be assigned again: use another name"),
        ("r.values[0] = r + 1", "a number is needed here, not the record 'r'"),
        ("r.values[0] = r[0]", "an array is needed here, not the record 'r'"),
        ("r.values[0] = scaled(i, 0)", "argument 'rows' must be a record Rows, got i32"),
        ("r.values[0] = f32(Rows(1))", "'Rows' cannot be called in kernels"),
    ],
)
def test_what_a_kernel_may_not_do_with_a_record(body, message):
    found = refuse(body)
    assert message in found
    assert ":3: kernel 'k'" in found or "device function 'scaled'" in found


def test_a_record_of_another_class_is_refused_in_a_device_function():
    assert "must be a record Rows, got the record 'r'" in refuse("scaled(r, 0)", "Other")


@pytest.mark.parametrize(
    ("annotation", "message"),
    [
        (int, "field 'x' of record 'C' has no kernel type: use gpucoh.i32"),
        (Rows, "field 'x' of record 'C' has no kernel type"),
        (gpucoh.u8, "field 'x' of record 'C' is u8, a type of array elements only"),
        (np.float64, "field 'x' of record 'C' is float64, 64 bits wide"),
        ("Bufer[f32]", "'Bufer[f32]', cannot be evaluated: name 'Bufer' is not defined"),
    ],
)
def test_fields_without_a_type_of_kernels_are_refused(annotation, message):
    with pytest.raises(KernelError, match=r"test_records\.py:") as caught:
        gpucoh.record(type("C", (), {"__annotations__": {"x": annotation}}))
    assert message in str(caught.value)


def test_a_record_has_fields_and_is_a_class():
    with pytest.raises(KernelError, match="record 'Empty' has no fields"):

        @gpucoh.record
        class Empty:
            pass

    with pytest.raises(KernelError, match="takes a class, not 3"):
        gpucoh.record(3)


def test_types_in_quotes_may_be_local():
    kind: Element = i32

    @gpucoh.record
    class Local:
        x: "Buffer[kind]"
        y: Buffer[f32]

    assert [str(gpucoh.lang.Parameter.of("x", Local._gpucoh_fields["x"]))] == ["x: Buffer[i32]"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (lambda gpu: (1, 2, gpu.zeros(3)), "'rows' of kernel 'sums' must be a record Rows, got 2"),
        (lambda gpu: (1, Other(3), gpu.zeros(3)), "must be a record Rows, got a Other"),
        (lambda gpu: (1, rows_on(gpu)), "takes 3 arguments (first, rows, out), got 2"),
        (
            lambda gpu: (1, rows_on(gpu, n=2.5), gpu.zeros(3)),
            "argument 'rows.n' of kernel 'sums' must be an integer (i32), got 2.5",
        ),
        (
            lambda gpu: (1, rows_on(gpu, values=gpu.zeros(8, np.int32)), gpu.zeros(3)),
            "argument 'rows.values' of kernel 'sums' must be an array of float32, got one of int32",
        ),
        (lambda gpu: (rows_on(gpu), rows_on(gpu), gpu.zeros(3)), "got a Rows"),
        (lambda gpu: (1, rows_on(gpu), rows_on(gpu)), "'out' of kernel 'sums' must be an array"),
    ],
)
def test_arguments_that_do_not_fit_are_named(args, message):
    gpu = gpucoh.GPU(protocol="ideal")
    with pytest.raises(ConfigError) as caught:
        gpu.launch(sums, grid=1, block=32, args=args(gpu))
    assert message in str(caught.value)

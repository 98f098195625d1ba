"""Is the machine code of constructs what it must be: constants, caching, lines, registers, schedule?"""

import numpy as np
import pytest

from gpucoh.lang import Buffer, clz, device, f32, ffs, i32, isa, kernel, operations, popcount
from gpucoh.lang import intrinsics as g
from gpucoh.lang.intrinsics import global_id, lane_id, load
from unit.lang import machine
from unit.lang.plain import kernel_from_source

WIDTH = 4
TAPS = (1, -2, 5)


def out(n=64, dtype=np.int32):
    return np.zeros(n, dtype)


@kernel
def saxpy(a: f32, x: Buffer[f32, "readonly"], y: Buffer[f32], n: i32):  # noqa: F821
    i = global_id()
    if i >= n:
        return
    y[i] = a * x[i] + y[i]


@device
def below(v):
    return v - 1


def test_branches_on_constants_are_not_compiled():
    def make(flag):
        @kernel
        def k(o: Buffer[i32]):
            if flag:
                o[0] = 1
            else:
                o[0] = undefined_name  # noqa: F821

        return k

    assert "BRANCH" not in machine.names(make(True))
    with pytest.raises(Exception, match="undefined_name"):
        make(False).compile(32)


def test_programs_are_cached_until_a_constant_changes():
    size = 3

    @kernel
    def k(o: Buffer[i32]):
        o[0] = size

    first = k.compile(32)
    assert k.compile(32) is first
    assert k.compile(64) is not first
    size = 4
    second = k.compile(32)
    assert second is not first
    assert 4 in second.constants


@kernel
def uses_one_constant_often(x: Buffer[i32]):
    for k in TAPS:
        for j in TAPS:
            x[k + j + 4] = g.min(WIDTH, k) + WIDTH


def test_a_dependency_is_kept_once():
    uses_one_constant_often.compile(32)
    _, dependencies, _ = uses_one_constant_often._programs[-1]
    assert len(dependencies) < 10


def test_constants_of_device_functions_count_for_the_cache():
    size = 3

    @device
    def f():
        return size

    @kernel
    def k(o: Buffer[i32]):
        o[0] = f()

    first = k.compile(32)
    size = 5
    assert k.compile(32) is not first


def test_instructions_know_their_lines():
    @kernel
    def k(o: Buffer[i32]):
        i = global_id()
        o[i] = below(i)

    program = k.compile(32)
    stores = [op for op in machine.decode(program) if op.name == "STORE"]
    assert program.locate(stores[0].file, stores[0].line) == (
        __file__,
        k.function.__code__.co_firstlineno + 3,
    )
    inlined = [op for op in machine.decode(program) if op.file == 1]
    assert inlined
    assert program.files[1][1] == below.function.__code__.co_firstlineno


def test_disassembly_names_buffers_arguments_and_lines():
    text = saxpy.disassemble()
    assert "LOAD" in text
    assert "x, weak.gpu" in text
    assert "test_machine_code.py:" in text


def test_signature_tells_kinds_and_types():
    kinds = [(p.name, p.kind, p.type.name, p.readonly) for p in saxpy.signature]
    assert kinds == [("a", "scalar", "f32", False), ("x", "buffer", "f32", True), ("y", "buffer", "f32", False),
                     ("n", "scalar", "i32", False)]  # fmt: skip
    assert saxpy.source_lines[0].strip() == "@kernel"


def test_an_endless_loop_still_has_a_join():
    @kernel
    def k(o: Buffer[i32]):
        while True:
            if o[lane_id()] > 0:
                o[0] = 1

    program = k.compile(32)
    assert all(op.join < program.instructions for op in machine.decode(program))


PLAIN = {name: row for name, row in operations.OPERATIONS.items() if not row.over_warp}


@pytest.mark.parametrize("name", PLAIN)
def test_an_operation_in_a_conditional_expression_needs_no_branch(name):
    given = ", ".join("a" if type == "f32" else "b" for type in PLAIN[name].takes)
    text = f"""
@kernel
def k(x: Buffer[f32], n: Buffer[i32]):
    a, b = x[lane_id()], n[lane_id()]
    x[lane_id()] = f32({name}({given})) if a > 0.0 else 1.0
"""
    names = machine.names(kernel_from_source(text, "k"))
    assert "SELECT" in names
    assert "BRANCH" not in names


def test_bits_are_counted_by_one_instruction():
    @kernel
    def k(n: Buffer[i32]):
        n[0] = popcount(n[0]) + clz(n[1]) + ffs(n[2])

    assert machine.names(k).count("EXTENDED") == 3
    assert k.compile(32).instructions < 12


def test_values_of_the_warp_live_in_uniform_registers():
    @kernel
    def k(x: Buffer[f32], y: Buffer[f32], n: i32):
        s = f32(0)
        for j in range(n):
            s += x[j * n + global_id()]
        y[global_id()] = s

    program = k.compile(32)
    branches = [op for op in machine.decode(program) if op.name == "BRANCH"]
    assert branches
    assert all(op.a & isa.OPERAND_KIND == isa.OPERAND_UNIFORM for op in branches)
    assert program.vector_registers <= 5


def test_independent_loads_are_in_flight_together():
    @kernel
    def k(x: Buffer[f32], y: Buffer[f32], n: i32):
        i = global_id()
        y[i] = x[i] * 2.0 + x[i + n] * 3.0 + load(x, i + 2 * n, "acquire") * x[0]

    names = [
        op.name + "." + op.order
        for op in machine.decode(k.compile(32))
        if op.name in ("LOAD", "MUL") and op.type == 2
    ]
    assert names[:2] == ["LOAD.WEAK"] * 2
    assert names.index("LOAD.ACQUIRE") < len(names) - 1 - names[::-1].index("LOAD.WEAK")

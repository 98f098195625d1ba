"""What the front end fuses as CUDA's assembler does (gpucoh/ptx/fuse.py): which instructions, and equal values."""

import random

import numpy as np
import pytest

import gpucoh
from gpucoh.ptx import translate
from unit.ptx.statements import DTYPES, THREADS, Form, operands, results, text_of

M32, M64 = 0xFFFFFFFF, (1 << 64) - 1


def u32(word):
    return int(word) & M32


#: Statements, what they are issued as, and what they are not.
FUSED = [
    (Form("shl.b32 %r2, %a, 4; add.s32 %d, %r2, %b;", "u32 u32 u32", lambda a, b: (a << 4) + b), "MAD_B32", "SHL ADD"),
    (Form("shl.b32 %r2, %a, 4; add.s32 %d, %r2, 17;", "u32 u32", lambda a: (a << 4) + 17), "MAD_B32", "SHL ADD"),
    (Form("shl.b32 %r2, %a, 31; add.s32 %d, %b, %r2;", "u32 u32 u32", lambda a, b: (a << 31) + b), "MAD_B32", "SHL"),
    (Form("shl.b32 %r2, %a, 4; sub.s32 %d, %b, %r2;", "u32 u32 u32", lambda a, b: b - (a << 4)), "MAD_B32", "SHL SUB"),
    (Form("mul.lo.s32 %r2, %a, %b; add.s32 %d, %r2, %a;", "u32 u32 u32", lambda a, b: a * b + a), "MAD_B32", "MUL"),
    (Form("mul.lo.s32 %r2, -5, %a; sub.s32 %d, %b, %r2;", "u32 u32 u32", lambda a, b: b + 5 * a), "MAD_B32", "MUL SUB"),
    (Form("neg.s32 %r2, %a; add.s32 %d, %r2, %b;", "s32 s32 s32", lambda a, b: b - a), "SUB", "NEG ADD"),
    (Form("neg.s32 %r2, %a; sub.s32 %d, %b, %r2;", "s32 s32 s32", lambda a, b: b + a), "ADD", "NEG SUB"),
    (Form("shl.b32 %r2, %a, 3; add.s32 %r3, %r2, %b; sub.s32 %r4, %b, %r2; xor.b32 %d, %r3, %r4;", "u32 u32 u32",
          lambda a, b: ((a << 3) + b) ^ u32(b - (a << 3))), "MAD_B32 MAD_B32", "SHL ADD SUB"),
    (Form("mul.wide.s32 %rd2, %a, %b; add.s64 %rd3, %rd2, %c; add.s64 %rd4, %rd2, 9; xor.b64 %d, %rd3, %rd4;",
          "s64 s32 s32 s64", lambda a, b, c: (a * b + c) ^ (a * b + 9)),
     "MADWIDE_S32 MADWIDE_S32", "MULWIDE_S32 ADD_B64"),
]  # fmt: skip
FUSED += [
    (Form(f"{op}.b32 %r2, %a, {b}; setp.{relation}.s32 %p, %r2, 0; mov.u32 %d, 7; @%p bra {op};"
          f"mov.u32 %d, 9; {op}:", "u32 u32 u32", compute), op.upper(), "EQ NE")
    for op, b, relation, compute in (
        ("and", "3", "eq", lambda a, b: 9 if a & 3 else 7),
        ("or", "%b", "ne", lambda a, b: 7 if a | b else 9),
        ("xor", "1", "eq", lambda a, b: 9 if a ^ 1 else 7),
    )
]  # fmt: skip
#: Statements that stay apart, and what they are issued as.
APART = [
    (Form("shl.b32 %r2, %a, 4; add.s32 %r3, %r2, %b; xor.b32 %d, %r2, %r3;", "u32 u32 u32",
          lambda a, b: u32(a << 4) ^ u32((a << 4) + b)), "SHL ADD"),
    (Form("shl.b32 %r2, %a, %b; add.s32 %d, %r2, 1;", "u32 u32 u32",
          lambda a, b: (a << b if b < 32 else 0) + 1), "SHL ADD"),
    (Form("shl.b32 %r2, %a, 4; sub.s32 %d, %r2, %b;", "u32 u32 u32", lambda a, b: (a << 4) - b), "SHL SUB"),
    (Form("mul.lo.s32 %r2, %a, %b; sub.s32 %d, %a, %r2;", "u32 u32 u32", lambda a, b: a - a * b), "MUL SUB"),
    (Form("shl.b64 %rd2, %a, 5; add.s64 %d, %b, %rd2;", "u64 u64 u64", lambda a, b: (a << 5) + b), "SHL_B64 ADD_B64"),
    (Form("cvt.s64.s32 %rd2, %a; add.s64 %d, %b, %rd2;", "s64 s32 s64", lambda a, b: a + b), "SEXT_S32 ADD_B64"),
    (Form("mul.wide.s32 %rd2, %a, %b; add.s64 %rd3, %rd2, %c; xor.b64 %d, %rd2, %rd3;", "s64 s32 s32 s64",
          lambda a, b, c: a * b ^ (a * b + c)), "MULWIDE_S32"),
    (Form("shl.b32 %r2, %a, 4; mov.u32 %r3, %r2; @%q mov.u32 %r3, 1; add.s32 %d, %r3, %b;", "u32 u32 u32",
          lambda a, b: (a << 4) + b), "SHL ADD"),
    (Form("mul.f32 %f2, %a, %b; add.f32 %d, %f2, %a;", "f32 f32 f32",
          lambda a, b: np.float32(np.float32(a) * np.float32(b)) + np.float32(a)), "MUL_F32 ADD_F32"),
    (Form("and.b32 %r2, %a, 3; setp.eq.s32 %p, %r2, 1; mov.u32 %d, 7; @%p bra L1; mov.u32 %d, 9; L1:", "u32 u32",
          lambda a: 7 if a & 3 == 1 else 9), "AND EQ"),
    (Form("add.u32 %r2, %a, 1; setp.ne.s32 %p, %r2, 0; mov.u32 %d, 7; @%p bra L2; mov.u32 %d, 9; L2:", "u32 u32",
          lambda a: 7 if u32(a + 1) else 9), "ADD NE"),
    (Form("and.b32 %r2, %a, 3; setp.eq.s32 %p, %r2, 0; mov.u32 %d, 7; @%p bra L3; mov.u32 %d, 9;"
          "L3: @%p add.u32 %d, %d, 1;", "u32 u32", lambda a: 9 if a & 3 else 8), "AND EQ"),
    (Form("shl.b32 %r2, %a, 4; add.cc.u32 %r3, %r2, %b; addc.u32 %d, 0, 0;", "u32 u32 u32",
          lambda a, b: u32(a << 4) + b >> 32), "SHL"),
]  # fmt: skip


def names(forms, number=0):
    """The operations of a form's kernel."""
    kernel = gpucoh.cuda.Module(text_of(forms))[f"k{number}"]
    return [line.split()[1].split(".")[0] for line in kernel.disassemble().splitlines()[1:]]


def wrapped(form, value):
    """What the form computes, in its result's type."""
    dtype = np.dtype(DTYPES[form.result])
    if dtype.kind == "f":
        return dtype.type(value)
    return np.array(int(value) & M64, np.uint64).astype(dtype)


def given(form, seed):
    generator = np.random.default_rng(seed)
    arrays = [operands(type, generator) for type in form.operands]
    for k, array in enumerate(arrays[1:], 1):  # edge values meet others
        array[:] = np.roll(array, 3 * k)
    return arrays


def expected(form, arrays):
    rows = zip(*(array.tolist() for array in arrays), strict=True)
    return np.array([wrapped(form, form.compute(*row)) for row in rows])


def declared(form):
    """The form with registers that some of them need, and a predicate that never holds."""
    text = f".reg .f32 %f<3>; setp.ne.u32 %q, %r0, %r0; {form.text}"
    return Form(text, form.types, form.compute)


@pytest.mark.parametrize("case", FUSED, ids=lambda case: case[0].text)
def test_what_the_assembler_issues_as_one_is_one(case):
    form, made, gone = case
    found = names([form])
    for name in set(made.split()):
        assert found.count(name) >= made.split().count(name)
    assert not set(gone.split()) & set(found)


@pytest.mark.parametrize("case", APART, ids=lambda case: case[0].text)
def test_what_it_issues_apart_stays_apart(case):
    form, made = case
    assert set(made.split()) <= set(names([declared(form)]))


def test_values_are_those_of_the_statements_with_and_without_fusing(monkeypatch):
    forms = [declared(case[0]) for case in FUSED + APART]
    arrays = [given(form, seed) for seed, form in enumerate(forms)]
    fused = results(forms, arrays)
    monkeypatch.setattr(translate, "fuse", lambda function: False)
    for form, inputs, one, other in zip(forms, arrays, fused, results(forms, arrays), strict=True):
        assert one.tobytes() == other.tobytes(), form.text
        assert (one == expected(form, inputs)).all(), form.text


# ---- addresses


ADDRESSES = """
.version 8.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<9>; .reg .b64 %d<9>;
    .shared .align 4 .b8 tile[1024];
    ld.param.u64 %d0, [out];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %d1, %r0, 4;
    add.s64 %d2, %d0, %d1;
    mov.u32 %r1, tile;
    shl.b32 %r2, %r0, 2;
    add.s32 %r3, %r1, %r2;
    add.s32 %r4, %r3, 512;
    st.shared.u32 [%r3], %r0;
    st.shared.u32 [%r4+4], 7;
    add.s64 %d3, %d2, OFFSET;
    add.s64 %d4, %d3, -OFFSET;
    ld.shared.u32 %r5, [%r4+-512];
    st.global.u32 [%d3+4], %r5;
    st.global.u32 [%d4], 5;
    ret;
}
"""


def accesses(offset):
    module = gpucoh.cuda.Module(ADDRESSES.replace("OFFSET", str(offset)))
    with gpucoh.GPU(machine="fermi", protocol="ideal") as gpu:
        out = gpu.zeros(THREADS + (offset + 4) // 4, np.int32)
        module["k"][1, THREADS](out)
        found = out.numpy()
    text = module["k"].disassemble()
    return found, [line.split()[1].split(".")[0] for line in text.splitlines()[1:]], text


def test_constants_of_addresses_are_part_of_the_access():
    found, issued, text = accesses(4096)
    assert found[1025:].tolist() == list(range(THREADS))
    assert (found[:THREADS] == 5).all()
    assert not {"ADD", "ADD_B64"} & set(issued)
    assert {"+516", "+4100"} <= set(text.replace(",", "").split())


def test_an_offset_of_more_than_24_bits_is_added_before_the_access():
    far = 1 << 23
    found, issued, _ = accesses(far)
    assert found[far // 4 + 1 :].tolist() == list(range(THREADS))
    assert issued.count("ADD_B64") == 1


# ---- programs at random


class Drawn:
    """Statements at random; a result is a variable or, mostly, a register that nothing else assigns."""

    CONSTANTS = (0, 1, -1, 2, 5, 31, 0x7FFFFFFF, -0x80000000)

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.words, self.pairs = [f"%r{k}" for k in range(2, 8)], [f"%d{k}" for k in range(4, 9)]
        self.fresh = 0

    def result(self, kind, known):
        if self.random.random() < 0.3:
            return self.random.choice(known)
        self.fresh += 1
        return f"%{kind}{100 + self.fresh}"

    def statement(self, words, pairs):
        pick = self.random.choice
        old, older, constant = pick(words), pick(words), pick(self.CONSTANTS)
        one, other = pick(pairs[-4:] + pairs), pick(pairs)
        word = pick([older, older, constant])
        if self.random.random() < 0.5:
            d = self.result("r", self.words)
            text = pick([
                f"shl.b32 {d}, {old}, {pick([0, 1, 4, 31, 32])};", f"mul.lo.s32 {d}, {word}, {old};",
                f"add.s32 {d}, {word}, {words[-1]};", f"sub.s32 {d}, {word}, {words[-1]};",
                f"sub.s32 {d}, {words[-1]}, {word};", f"neg.s32 {d}, {old};", f"cvt.u32.u64 {d}, {one};",
            ])  # fmt: skip
            words.append(d)
            return text
        e, sign = self.result("d", self.pairs), pick("su")
        text = pick([
            f"cvt.s64.s32 {e}, {old};", f"cvt.u64.u32 {e}, {old};", f"add.s64 {e}, {pairs[-1]}, {other};",
            f"add.s64 {e}, {one}, {pairs[-1]};", f"add.s64 {e}, {one}, {constant};",
            f"shl.b64 {e}, {pairs[-1]}, {pick([0, 2, 31, 32, 63])};", f"mul.wide.{sign}32 {e}, {old}, {word};",
        ])  # fmt: skip
        pairs.append(e)
        return text

    def block(self, count, words, pairs):
        """Statements, which append what they define to the lists."""
        return "\n".join(self.statement(words, pairs) for _ in range(count))


def drawn(seed):
    """A kernel of a few words and pairs, which a loop and two sides of a branch change."""
    draw = Drawn(seed)
    words, pairs = draw.words, draw.pairs
    known, wide = list(words), list(pairs)
    head = draw.block(16, known, wide)
    sides = [draw.block(8, list(known), list(wide)) for _ in range(2)]
    tail = draw.block(16, known, wide)
    loads = "\n".join(f"ld.global.u32 {name}, [%d1+{4 * k}];" for k, name in enumerate(words))
    wides = "\n".join(
        f"cvt.u64.u32 {name}, {words[k]}; mul.lo.s64 {name}, {name}, {name};"
        for k, name in enumerate(pairs)
    )
    stores = "\n".join(
        [f"st.global.u32 [%d2+{4 * k}], {name};" for k, name in enumerate(words)]
        + [f"st.global.u64 [%d2+{24 + 8 * k}], {name};" for k, name in enumerate(pairs)]
    )
    return f"""
.version 8.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{{
    .reg .pred %p; .reg .b32 %r<200>; .reg .b64 %d<200>;
    ld.param.u64 %d0, [in]; ld.param.u64 %d3, [out];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %d1, %r0, 24; add.s64 %d1, %d0, %d1;
    mul.wide.u32 %d2, %r0, 64; add.s64 %d2, %d3, %d2;
    {loads}
    {wides}
    mov.u32 %r1, 0;
LOOP:
    {head}
    setp.lt.s32 %p, {words[0]}, {words[1]};
    @%p bra SIDE;
    {sides[0]}
    bra JOIN;
SIDE:
    {sides[1]}
JOIN:
    {tail}
    add.s32 %r1, %r1, 1;
    setp.lt.u32 %p, %r1, 3;
    @%p bra LOOP;
    add.s32 {words[0]}, {words[0]}, {known[-1]};
    add.s64 {pairs[0]}, {pairs[0]}, {wide[-1]};
    {stores}
    ret;
}}
"""


def run(text, words):
    kernel = gpucoh.cuda.Module(text)["k"]
    with gpucoh.GPU(machine="fermi", protocol="ideal") as gpu:
        out = gpu.zeros(16 * THREADS, np.uint32)
        kernel[1, THREADS](gpu.array(words, dtype=np.uint32), out)
        return out.numpy(), kernel.disassemble()


def test_programs_at_random_compute_the_same_with_and_without_fusing(monkeypatch):
    generator = np.random.default_rng(0)
    words = generator.integers(0, 1 << 32, 6 * THREADS, np.uint32)
    words[: 6 * 8] = np.tile([0, 1, M32, 1 << 31, 0x7FFFFFFF, 2], 8)
    changed = 0
    for seed in range(20):
        text = drawn(seed)
        fused, instructions = run(text, words)
        with monkeypatch.context() as patch:
            patch.setattr(translate, "fuse", lambda function: False)
            plain, others = run(text, words)
        assert (fused == plain).all(), text
        changed += instructions != others
    assert changed > 5

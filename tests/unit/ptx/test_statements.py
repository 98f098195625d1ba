"""Each form of statement against NumPy and Python's integers."""

import numpy as np
import pytest

from unit.ptx.statements import DTYPES, Form, operands, results

M32, M64 = 0xFFFFFFFF, (1 << 64) - 1


def div(a: int, b: int) -> int:
    """Truncated, as PTX divides."""
    return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def s16(word: int) -> int:
    """The lower half of a word, with its sign."""
    return ((word & 0xFFFF) ^ 0x8000) - 0x8000


def s8(word: int) -> int:
    """The lowest byte of a word, with its sign."""
    return ((word & 0xFF) ^ 0x80) - 0x80


INTEGERS = [
    Form(f"{op}.{t} %d, %a, %b;", f"{t} {t} {t}", compute)
    for t in ("s32", "u32", "s64", "u64", "s16", "u16")
    for op, compute in (
        ("add", lambda a, b: a + b), ("sub", lambda a, b: a - b), ("mul.lo", lambda a, b: a * b),
        ("min", min), ("max", max),
    )
]  # fmt: skip
DIVISIONS = [
    Form(f"or.b{t[1:]} %b, %b, 1; {op}.{t} %d, %a, %b;", f"{t} {t} {t}", compute)
    for t in ("s32", "u32", "s64", "u64")
    for op, compute in (
        ("div", lambda a, b: div(a, b | 1)),
        ("rem", lambda a, b: a - div(a, b | 1) * (b | 1)),
    )
]
PRODUCTS = [
    Form("mul.wide.s32 %d, %a, %b;", "s64 s32 s32", lambda a, b: a * b),
    Form("mul.wide.u32 %d, %a, %b;", "u64 u32 u32", lambda a, b: a * b),
    Form("mul.wide.u16 %d, %a, %b;", "u32 u16 u16", lambda a, b: a * b),
    Form("mul.wide.s16 %d, %a, %b;", "s32 s16 s16", lambda a, b: a * b),
    Form("mul.hi.s32 %d, %a, %b;", "s32 s32 s32", lambda a, b: a * b >> 32),
    Form("mul.hi.u32 %d, %a, %b;", "u32 u32 u32", lambda a, b: a * b >> 32),
    Form("mul.hi.s64 %d, %a, %b;", "s64 s64 s64", lambda a, b: a * b >> 64),
    Form("mul.hi.u64 %d, %a, %b;", "u64 u64 u64", lambda a, b: a * b >> 64),
    Form("mul.hi.u16 %d, %a, %b;", "u16 u16 u16", lambda a, b: a * b >> 16),
    Form("mul24.lo.u32 %d, %a, %b;", "u32 u32 u32", lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF)),
    Form("mad.lo.s32 %d, %a, %b, %c;", "s32 s32 s32 s32", lambda a, b, c: a * b + c),
    Form("mad.lo.s64 %d, %a, %b, %c;", "s64 s64 s64 s64", lambda a, b, c: a * b + c),
    Form("mad.lo.u16 %d, %a, %b, %c;", "u16 u16 u16 u16", lambda a, b, c: a * b + c),
    Form("mad.hi.u32 %d, %a, %b, %c;", "u32 u32 u32 u32", lambda a, b, c: (a * b >> 32) + c),
    Form("mad.hi.s64 %d, %a, %b, %c;", "s64 s64 s64 s64", lambda a, b, c: (a * b >> 64) + c),
    Form("mad.wide.s32 %d, %a, %b, %c;", "s64 s32 s32 s64", lambda a, b, c: a * b + c),
    Form("mad.wide.u16 %d, %a, %b, %c;", "u32 u16 u16 u32", lambda a, b, c: a * b + c),
    Form("sad.s32 %d, %a, %b, %c;", "s32 s32 s32 s32", lambda a, b, c: abs(a - b) + c),
    Form("sad.u64 %d, %a, %b, %c;", "u64 u64 u64 u64", lambda a, b, c: abs(a - b) + c),
    Form("add.sat.s32 %d, %a, %b;", "s32 s32 s32", lambda a, b: max(-(2**31), min(2**31 - 1, a + b))),
    Form("add.u16x2 %d, %a, %b;", "u32 u32 u32", lambda a, b: (a + b & 0xFFFF) | (a >> 16) + (b >> 16) << 16),
    Form("max.s16x2 %d, %a, %b;", "u32 u32 u32",
         lambda a, b: max(s16(a), s16(b)) & 0xFFFF | max(s16(a >> 16), s16(b >> 16)) << 16),
]  # fmt: skip
BITS = [
    Form("and.b32 %d, %a, %b;", "b32 b32 b32", lambda a, b: a & b),
    Form("or.b64 %d, %a, %b;", "b64 b64 b64", lambda a, b: a | b),
    Form("xor.b16 %d, %a, %b;", "b16 b16 b16", lambda a, b: a ^ b),
    Form("not.b64 %d, %a;", "b64 b64", lambda a: ~a),
    Form("not.b32 %d, %a;", "b32 b32", lambda a: ~a),
    Form("cnot.b32 %d, %a;", "b32 b32", lambda a: a == 0),
    Form("not.pred %d, %a;", "pred pred", lambda a: not a),
    Form("mov.pred %p, -1; not.pred %d, %p;", "pred", lambda: False),
    Form("mov.pred %p, -1; selp.b32 %r2, 5, 7, %p; setp.eq.u32 %d, %r2, 5;", "pred", lambda: True),
    Form("xor.pred %d, %a, %b;", "pred pred pred", lambda a, b: a ^ b),
    Form("lop3.b32 %d, %a, %b, %c, 0xE8;", "b32 b32 b32 b32", lambda a, b, c: a & b | a & c | b & c),
    Form("lop3.b32 %d, %a, %b, %c, 0x1A;", "b32 b32 b32 b32", lambda a, b, c: (a & b | c) ^ a),
    Form("shl.b32 %d, %a, %b;", "b32 b32 u32", lambda a, b: a << min(b, 32)),
    Form("shl.b64 %d, %a, %b;", "b64 b64 u32", lambda a, b: a << min(b, 64)),
    Form("shr.u32 %d, %a, 5;", "u32 u32", lambda a: a >> 5),
    Form("shr.s64 %d, %a, %b;", "s64 s64 u32", lambda a, b: a >> min(b, 63)),
    Form("shr.u64 %d, %a, 33;", "u64 u64", lambda a: a >> 33),
    Form("shr.s16 %d, %a, 3;", "s16 s16", lambda a: a >> 3),
    Form("shr.u16 %d, %a, 3;", "u16 u16", lambda a: a >> 3),
    Form("shf.l.wrap.b32 %d, %a, %b, 40;", "b32 b32 b32", lambda a, b: ((b << 32 | a) << 8) >> 32),
    Form("shf.r.clamp.b32 %d, %a, %b, 40;", "b32 b32 b32", lambda a, b: b),
    Form("shf.r.wrap.b32 %d, %a, %b, 40;", "b32 b32 b32", lambda a, b: (b << 32 | a) >> 8),
    Form("bfe.u32 %d, %a, 4, 9;", "u32 u32", lambda a: a >> 4 & 0x1FF),
    Form("bfe.s32 %d, %a, 4, 9;", "s32 s32", lambda a: ((a >> 4 & 0x1FF) ^ 0x100) - 0x100),
    Form("bfe.u64 %d, %a, 40, 60;", "u64 u64", lambda a: a >> 40),
    Form("bfi.b32 %d, %a, %b, 8, 8;", "b32 b32 b32", lambda a, b: b & ~0xFF00 | (a & 0xFF) << 8),
    Form("bfi.b64 %d, %a, %b, 40, 8;", "b64 b64 b64", lambda a, b: b & ~(0xFF << 40) | (a & 0xFF) << 40),
    Form("popc.b32 %d, %a;", "u32 b32", lambda a: a.bit_count()),
    Form("popc.b64 %d, %a;", "u32 b64", lambda a: a.bit_count()),
    Form("clz.b64 %d, %a;", "u32 b64", lambda a: 64 - a.bit_length()),
    Form("brev.b32 %d, %a;", "b32 b32", lambda a: int(f"{a:032b}"[::-1], 2)),
    Form("bfind.u32 %d, %a;", "u32 u32", lambda a: a.bit_length() - 1),
    Form("bfind.shiftamt.u32 %d, %a;", "u32 u32", lambda a: 32 - a.bit_length() if a else -1),
    Form("prmt.b32 %d, %a, %b, 0x5140;", "b32 b32 b32",
         lambda a, b: a & 0xFF | (b & 0xFF) << 8 | (a >> 8 & 0xFF) << 16 | (b >> 8 & 0xFF) << 24),
    Form("dp4a.u32.u32 %d, %a, %b, %c;", "u32 u32 u32 u32",
         lambda a, b, c: c + sum((a >> k & 0xFF) * (b >> k & 0xFF) for k in (0, 8, 16, 24))),
    Form("dp2a.lo.s32.s32 %d, %a, %b, %c;", "s32 u32 u32 s32",
         lambda a, b, c: c + s16(a) * s8(b) + s16(a >> 16) * s8(b >> 8)),
    Form("dp2a.hi.u32.s32 %d, %a, %b, %c;", "s32 u32 u32 s32",
         lambda a, b, c: c + (a & 0xFFFF) * s8(b >> 16) + (a >> 16) * s8(b >> 24)),
    Form("and.b32 %r2, %a, 63; bmsk.clamp.b32 %d, 4, %r2;", "b32 b32", lambda a: (1 << min(a & 63, 32)) - 1 << 4),
    Form("bmsk.wrap.b32 %d, 36, 40;", "b32", lambda: 0xFF0),
    Form("szext.clamp.s32 %d, %a, 8;", "s32 u32", s8),
    Form("szext.wrap.u32 %d, %a, 44;", "u32 u32", lambda a: a & 0xFFF),
    Form("neg.s64 %d, %a;", "s64 s64", lambda a: -a),
    Form("abs.s32 %d, %a;", "s32 s32", abs),
    Form("abs.s64 %d, %a;", "s64 s64", abs),
]  # fmt: skip
COMPARISONS = [
    Form(f"setp.{relation}.{t} %d, %a, %b;", f"pred {t} {t}", compute)
    for t in ("s32", "u32", "s64", "u64", "s16", "f32", "f64")
    for relation, compute in (
        ("eq", lambda a, b: a == b), ("ne", lambda a, b: a != b), ("lt", lambda a, b: a < b),
        ("le", lambda a, b: a <= b), ("gt", lambda a, b: a > b), ("ge", lambda a, b: a >= b),
    )
] + [
    Form("setp.ltu.f32 %d, %a, %b;", "pred f32 f32", lambda a, b: a < b),
    Form("setp.nan.f64 %d, %a, %b;", "pred f64 f64", lambda a, b: False),
    Form("setp.lo.u32 %d, %a, %b;", "pred u32 u32", lambda a, b: a < b),
    Form("setp.hs.u64 %d, %a, %b;", "pred u64 u64", lambda a, b: a >= b),
    Form("setp.lt.and.s32 %d, %a, %b, %c;", "pred s32 s32 pred", lambda a, b, c: a < b and c),
    Form("setp.lt.or.s32 %d, %a, %b, !%c;", "pred s32 s32 pred", lambda a, b, c: a < b or not c),
    Form("setp.lt.s32 %p|%d, %a, %b;", "pred s32 s32", lambda a, b: not a < b),
    Form("set.lt.u32.s32 %d, %a, %b;", "u32 s32 s32", lambda a, b: M32 * (a < b)),
    Form("set.ge.f32.s32 %d, %a, %b;", "f32 s32 s32", lambda a, b: float(a >= b)),
    Form("{ .reg .b16 %g; cvt.rn.f16.f32 %g, %a; set.eq.f16.f16 %d, %g, %g; }", "f16 f32", lambda a: 0x3C00),
    Form("selp.b64 %d, %a, %b, %c;", "b64 b64 b64 pred", lambda a, b, c: a if c else b),
    Form("selp.f32 %d, %a, 2.0, !%b;", "f32 f32 pred", lambda a, b: 2.0 if b else a),
    Form("slct.u32.s32 %d, %a, %b, %c;", "u32 u32 u32 s32", lambda a, b, c: a if c >= 0 else b),
    Form("slct.s64.f32 %d, %a, %b, %c;", "s64 s64 s64 f32", lambda a, b, c: a if c >= 0 else b),
]  # fmt: skip
CONVERSIONS = [
    Form("cvt.u64.u32 %d, %a;", "u64 u32", lambda a: a),
    Form("cvt.s64.s32 %d, %a;", "s64 s32", lambda a: a),
    Form("cvt.u32.u64 %d, %a;", "u32 u64", lambda a: a),
    Form("cvt.s16.s32 %d, %a;", "s16 s32", lambda a: a),
    Form("cvt.u32.u16 %d, %a;", "u32 u16", lambda a: a),
    Form("cvt.s64.s8 %d, %a;", "s64 s8", lambda a: a),
    Form("cvt.s8.s32 %r2, %a; mov.b32 %d, %r2;", "s32 s32", lambda a: ((a & 0xFF) ^ 0x80) - 0x80),
    Form("cvt.sat.u8.s32 %r2, %a; mov.b32 %d, %r2;", "u32 s32", lambda a: max(0, min(255, a))),
    Form("cvt.sat.s16.s32 %d, %a;", "s16 s32", lambda a: max(-32768, min(32767, a))),
    Form("cvt.sat.u64.s32 %d, %a;", "u64 s32", lambda a: max(0, a)),
    Form("cvt.sat.u64.s8 %d, %a;", "u64 s8", lambda a: max(0, a)),
    Form("cvt.rni.u16.f64 %d, 0d7FF8000000000000;", "u16", lambda: 0x8000),
    Form("cvt.rni.s16.f64 %d, 0d7FF8000000000000;", "s16", lambda: 0x8000),
    Form("cvt.rni.u16.f32 %d, 0f7FC00000;", "u16", lambda: 0),
    Form("{ .reg .b16 %h; cvt.rn.f16.f32 %h, %a; cvt.rmi.f16.f16 %h, %h; cvt.f32.f16 %d, %h; }", "f32 f32",
         lambda a: float(np.floor(np.float16(a)))),
    Form("shr.s64 %rd2, %a, 44; cvt.rn.f16.s64 %d, %rd2;", "f16 s64",
         lambda a: int(np.float16(np.float64(a >> 44)).view(np.uint16))),
    Form("cvt.rn.f32.s32 %d, %a;", "f32 s32", float),
    Form("cvt.rn.f32.u64 %d, %a;", "f32 u64", np.float32),
    Form("cvt.rn.f64.s64 %d, %a;", "f64 s64", float),
    Form("cvt.rn.f64.u32 %d, %a;", "f64 u32", float),
    Form("cvt.rn.f32.s16 %d, %a;", "f32 s16", float),
    Form("cvt.rzi.s32.f32 %d, %a;", "s32 f32", lambda a: max(-(2**31), min(2**31 - 1, int(a)))),
    Form("cvt.rni.s32.f64 %d, %a;", "s32 f64", lambda a: max(-(2**31), min(2**31 - 1, round(a)))),
    Form("cvt.rmi.s64.f32 %d, %a;", "s64 f32", lambda a: int(np.floor(a))),
    Form("cvt.rzi.u16.f32 %d, %a;", "u16 f32", lambda a: max(0, min(65535, int(a)))),
    Form("cvt.f64.f32 %d, %a;", "f64 f32", float),
    Form("cvt.rn.f32.f64 %d, %a;", "f32 f64", np.float32),
    Form("cvt.rmi.f32.f32 %d, %a;", "f32 f32", np.floor),
    Form("cvt.rpi.f64.f64 %d, %a;", "f64 f64", np.ceil),
    Form("cvt.sat.f32.f32 %d, %a;", "f32 f32", lambda a: max(0.0, min(1.0, float(a)))),
    Form("cvt.rn.f16.f32 %d, %a;", "f16 f32", lambda a: int(np.float16(a).view(np.uint16))),
    Form("{ .reg .b16 %h; cvt.rn.f16.f32 %h, %a; cvt.f32.f16 %d, %h; }", "f32 f32", lambda a: float(np.float16(a))),
    Form("cvt.rn.f16x2.f32 %d, %a, %b;", "b32 f32 f32",
         lambda a, b: int(np.float16(a).view(np.uint16)) << 16 | int(np.float16(b).view(np.uint16))),
]  # fmt: skip
FLOATS = [
    Form(f"{op}.rn.{t} %d, %a, %b;", f"{t} {t} {t}", compute)
    for t in ("f32", "f64")
    for op, compute in (
        ("add", lambda a, b: a + b), ("sub", lambda a, b: a - b), ("mul", lambda a, b: a * b),
        ("div", lambda a, b: a / b),
    )
] + [
    Form("min.f32 %d, %a, %b;", "f32 f32 f32", min),
    Form("max.f64 %d, %a, %b;", "f64 f64 f64", max),
    Form("neg.f64 %d, %a;", "f64 f64", lambda a: -a),
    Form("abs.f32 %d, %a;", "f32 f32", abs),
    Form("copysign.f32 %d, %a, %b;", "f32 f32 f32", lambda a, b: np.copysign(b, a)),
    Form("sqrt.rn.f32 %d, %a;", "f32 f32", np.sqrt),
    Form("rcp.rn.f64 %d, %a;", "f64 f64", lambda a: np.float64(1) / a),
    Form("add.sat.f32 %d, %a, %b;", "f32 f32 f32", lambda a, b: max(np.float32(0), min(np.float32(1), a + b))),
    Form("fma.rn.f64 %d, %a, 2.0, %b;", "f64 f64 f64", lambda a, b: a * 2 + b),
    Form("mad.rn.f32 %d, %a, 0f40000000, %b;", "f32 f32 f32", lambda a, b: a * np.float32(2) + b),
    Form("testp.finite.f32 %d, %a;", "pred f32", lambda a: True),
    Form("{ .reg .b16 %g, %h; cvt.rn.f16.f32 %g, %a; cvt.rn.f16.f32 %h, %b; add.f16 %g, %g, %h; mov.b16 %d, %g; }",
         "f16 f32 f32", lambda a, b: int((np.float16(a) + np.float16(b)).view(np.uint16))),
]  # fmt: skip
MOVES = [
    Form("mov.b64 {%r2, %r3}, %a; mov.b64 %d, {%r3, %r2};", "b64 b64", lambda a: (a << 32 | a >> 32)),
    Form("{ .reg .b16 %g, %h; mov.b32 {%g, %h}, %a; mov.b32 %d, {%h, %g}; }", "b32 b32", lambda a: a << 16 | a >> 16),
    Form("mov.f64 %d, 0d3FF8000000000000;", "f64", lambda: 1.5),
    Form("mov.u64 %d, -2;", "u64", lambda: -2),
    Form("mov.u32 %d, 0x1FU;", "u32", lambda: 31),
    Form("{ mov.u32 %d, 1; bra $skip; $other: add.u32 %d, %d, 5; bra $end; $skip: add.u32 %d, %d, 2; bra $other; "
         "$end: }", "u32", lambda: 8),
    Form("{ and.b32 %r2, %a, 3; $t: .branchtargets $x, $y, $x, $z; setp.eq.u32 %p, %r2, 2; mov.u32 %d, 9; "
         "@!%p brx.idx %r2, $t; $y: add.u32 %d, %d, 5; bra $end; $x: mov.u32 %d, 1; bra $end; $z: mov.u32 %d, 2; "
         "$end: }", "u32 u32", lambda a: (1, 14, 14, 2)[a % 4]),
    Form("mov.u32 %d, 7; setp.lt.s32 %p, %a, 0; @%p mov.u32 %d, 9; @%p add.u32 %d, %d, 1; @!%p sub.u32 %d, %d, 2;",
         "u32 s32", lambda a: 10 if a < 0 else 5),
    Form("setp.lt.s32 %p, %a, 0; @%p setp.lt.s32 %p, %b, 0; selp.u32 %d, 1, 0, %p;", "u32 s32 s32",
         lambda a, b: a < 0 and b < 0),
]  # fmt: skip
GROUPS = {
    "integers": INTEGERS,
    "divisions": DIVISIONS,
    "products": PRODUCTS,
    "bits": BITS,
    "comparisons": COMPARISONS,
    "conversions": CONVERSIONS,
    "floats": FLOATS,
    "moves": MOVES,
}


def expected(form: Form, arrays: list[np.ndarray]) -> np.ndarray:
    """The form's results, by its own function."""
    dtype = np.dtype(DTYPES[form.result])
    rows = zip(*arrays, strict=True) if arrays else [()] * 64
    out = []
    with np.errstate(all="ignore"):
        for row in rows:
            values = [v if isinstance(v, np.floating) else int(v) for v in row]
            found = form.compute(*values)
            if dtype.kind in "iu":
                bits = 8 * dtype.itemsize
                found = int(found) & ((1 << bits) - 1)
                found = np.array([found], f"u{dtype.itemsize}").view(dtype)[0]
            out.append(found)
        return np.array(out, dtype)


@pytest.mark.parametrize("group", GROUPS)
def test_each_form_computes_what_ptx_defines(group: str) -> None:
    forms = GROUPS[group]
    generator = np.random.default_rng(53)
    given = [[operands(type, generator) for type in form.operands] for form in forms]
    wrong = []
    for form, arrays, found in zip(forms, given, results(forms, given), strict=True):
        wanted = expected(form, arrays)
        if wanted.dtype.kind == "f":
            same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
        else:
            same = found == wanted
        if not same.all():
            k = int(np.argmin(same))
            row = [array[k] for array in arrays]
            wrong.append(f"{form.text} of {row}: {found[k]}, not {wanted[k]}")
    assert not wrong, "\n".join(wrong)

"""Arithmetic of PTX: integers and floating point of all widths, with rounding, `.ftz` and `.sat`."""

from __future__ import annotations

from gpucoh.lang import isa
from gpucoh.lang.ir import Constant
from gpucoh.lang.types import I32, U32, Element
from gpucoh.ptx import carries
from gpucoh.ptx.lowering import Lowering, Registers, Words, lowers
from gpucoh.ptx.module import Statement
from gpucoh.ptx.types import FLOATS, PACKED, PAIRS, SIZES, is_signed, mnemonic

_ROUNDINGS = {
    "rn": "RN", "rz": "RZ", "rm": "RM", "rp": "RP", "rni": "RN", "rzi": "RZ", "rmi": "RM", "rpi": "RP", "rna": "RN",
}  # fmt: skip


def type_of(x: Lowering, s: Statement) -> str:
    """The last type among the instruction's modifiers."""
    for modifier in reversed(s.modifiers):
        if modifier in SIZES:
            return modifier
    raise x.unsupported()


def core_type(type: str) -> Element:
    """The core's type of an operation on words."""
    return I32 if is_signed(type) else U32


def flags_of(s: Statement, type: str) -> int:
    """Rounding, flushing and saturation of a floating-point operation."""
    rounding = s.one_of(_ROUNDINGS)
    flags = isa.ROUNDINGS[_ROUNDINGS[rounding]] if rounding else 0
    if s.has("ftz") and type != "f64":
        flags |= isa.FLAG_FTZ
    return flags | (isa.FLAG_SAT if s.has("sat") and type in FLOATS else 0)


def narrowed(x: Lowering, value: Words, type: str) -> Words:
    """A value of 8 or 16 bits as a word: its register's upper bits are undefined."""
    if SIZES[type] >= 4 or type == "pred":
        return value
    if isinstance(value[0], Constant):
        bits = 8 * SIZES[type]
        word = value[0].bits & ((1 << bits) - 1)
        if is_signed(type) and word >> (bits - 1):
            word -= 1 << bits
        return (Constant(word & 0xFFFFFFFF),)
    if is_signed(type):
        shift = (Constant(32 - 8 * SIZES[type]),)
        return x.core("SHR", I32, x.core("SHL", U32, value, shift), shift)
    return x.core("AND", U32, value, (Constant((1 << 8 * SIZES[type]) - 1),))


def operand(x: Lowering, text: str, type: str) -> Words:
    """An operand as whole words."""
    return narrowed(x, x.value(text, type), type)


def halves(x: Lowering, value: Words) -> tuple[Words, Words]:
    """The two 16-bit values of a packed word."""
    low = x.core("AND", U32, value, (Constant(0xFFFF),))
    return low, x.core("SHR", U32, value, (Constant(16),))


def packed(x: Lowering, low: Words, high: Words, to: Registers) -> None:
    """A word of two 16-bit values, whose upper bits are 0."""
    x.core("OR", U32, low, x.core("SHL", U32, high, (Constant(16),)), to=to)


def floating(
    x: Lowering, name: str, type: str, operands: list[Words], to: Registers, flags: int
) -> None:
    """A floating-point operation; of packed halves one of each."""
    if type in PACKED:
        half = mnemonic(type.removesuffix("x2"))
        pairs = [halves(x, operand) for operand in operands]
        parts = [x.row(f"{name}_{half}", *(pair[k] for pair in pairs), flags=flags) for k in (0, 1)]
        packed(x, parts[0], parts[1], to)
        return
    known = f"{name}_{mnemonic(type)}"
    if known not in isa.EXTENDED:
        raise x.unsupported()
    x.row(known, *operands, to=to, flags=flags)


#: Operation -> the core's operation of words, and the row's name of 64-bit operands by sign.
_INTEGER = {
    "add": ("ADD", "ADD_B64"),
    "sub": ("SUB", "SUB_B64"),
    "mul": ("MUL", "MUL_B64"),
    "min": ("MIN", "MIN"),
    "max": ("MAX", "MAX"),
    "neg": ("NEG", "NEG_B64"),
    "abs": ("ABS", "ABS_S64"),
    "div": ("DIV", "DIV"),
    "rem": ("REM", "REM"),
}


@lowers("add", "sub", "min", "max", "neg", "abs", "div", "rem")
def plain(x: Lowering, s: Statement) -> None:
    """``d = a op b`` of any type."""
    type = type_of(x, s)
    if s.has("cc"):
        carries.extended(x, s, type)
        return
    to = x.to(s.operands[0])
    operands = [operand(x, text, type) for text in s.operands[1:]]
    if type in FLOATS or type in PACKED:
        is_approximate = s.op == "div" and (s.has("approx") or s.has("full"))
        name = "DIVA" if is_approximate else s.op.upper()
        floating(x, name, type, operands, to, flags_of(s, type))
    else:
        integer(x, s.op, type, operands, to, s.has("sat"))


def integer(
    x: Lowering, op: str, type: str, operands: list[Words], to: Registers, saturate: bool = False
) -> None:
    """An integer operation of any width; operands of less than a word are extended."""
    word, wide = _INTEGER[op]
    if saturate:
        if op not in ("add", "sub") or type != "s32":
            raise x.unsupported("the modifier .sat")
        x.row(f"{op.upper()}SAT_S32", *operands, to=to)
    elif SIZES[type] == 8:
        x.row(wide if "_" in wide else f"{wide}_{mnemonic(type)}", *operands, to=to)
    elif op in ("div", "rem"):
        x.row(f"{wide}_{'S32' if is_signed(type) else 'U32'}", *operands, to=to)
    elif type in PAIRS:
        _pair(x, word, type, operands, to)
    else:
        x.core(word, core_type(type), *operands, to=to)


def _pair(x: Lowering, op: str, type: str, operands: list[Words], to: Registers) -> None:
    """An operation on each half of a word."""
    half = type.removesuffix("x2")
    if op not in ("ADD", "SUB", "MIN", "MAX", "NEG"):
        raise x.unsupported()
    pairs = [[narrowed(x, part, half) for part in halves(x, value)] for value in operands]
    low, high = (x.core(op, core_type(half), *(pair[k] for pair in pairs)) for k in (0, 1))
    packed(x, narrowed(x, low, "u16"), high, to)


@lowers("mul", "mul24")
def multiply(x: Lowering, s: Statement) -> None:
    """``mul.lo``, ``mul.hi``, ``mul.wide`` and floating-point products."""
    type = type_of(x, s)
    if type in FLOATS or type in PACKED:
        plain(x, s)
        return
    to = x.to(s.operands[0])
    operands = [operand(x, text, type) for text in s.operands[1:]]
    if s.op == "mul24":
        operands = [_of_24_bits(x, value, type) for value in operands]
    product(x, s, type, operands, to)


def _of_24_bits(x: Lowering, value: Words, type: str) -> Words:
    return x.core("SHR", core_type(type), x.core("SHL", U32, value, (Constant(8),)), (Constant(8),))


def product(x: Lowering, s: Statement, type: str, operands: list[Words], to: Registers) -> None:
    """The product of two integers, of the part that the modifiers name."""
    sign = "S" if is_signed(type) else "U"
    if s.has("wide"):
        if SIZES[type] == 2:
            x.core("MUL", U32, *operands, to=to)
        elif SIZES[type] == 4:
            x.row(f"MULWIDE_{sign}32", *operands, to=to)
        else:
            raise x.unsupported("a product of 128 bits")
    elif s.has("hi"):
        if s.op == "mul24":
            raise x.unsupported()
        if SIZES[type] == 2:
            x.core("SHR", core_type(type), x.core("MUL", U32, *operands), (Constant(16),), to=to)
        else:
            x.row(f"MULHI_{sign}{8 * SIZES[type]}", *operands, to=to)
    else:
        integer(x, "mul", type, operands, to)


@lowers("mad", "fma", "mad24")
def multiply_add(x: Lowering, s: Statement) -> None:
    """``d = a * b + c``."""
    type = type_of(x, s)
    if s.has("cc"):
        carries.extended(x, s, type)
        return
    to = x.to(s.operands[0])
    if type in FLOATS or type in PACKED:
        values = [x.value(text, type) for text in s.operands[1:]]
        floating(x, "FMA", type, values, to, flags_of(s, type))
        return
    a, b = (operand(x, text, type) for text in s.operands[1:3])
    size = SIZES[type]
    c = operand(x, s.operands[3], f"{type[0]}{16 * size}" if s.has("wide") else type)
    sign = "S" if is_signed(type) else "U"
    if s.op == "mad24":
        a, b = _of_24_bits(x, a, type), _of_24_bits(x, b, type)
    if s.has("sat"):
        raise x.unsupported("the modifier .sat")
    if s.has("wide") and size == 4:
        x.row(f"MADWIDE_{sign}32", a, b, c, to=to)
    elif s.has("hi") and size == 4 and s.op == "mad":
        x.row(f"MADHI_{sign}32", a, b, c, to=to)
    elif s.has("hi") and size == 8:
        x.row("ADD_B64", x.row(f"MULHI_{sign}64", a, b), c, to=to)
    elif not s.has("hi") and (s.has("lo") or size == 2):
        x.row("MAD_B64" if size == 8 else "MAD_B32", a, b, c, to=to)
    else:
        raise x.unsupported()


@lowers("sad")
def sum_of_difference(x: Lowering, s: Statement) -> None:
    """``d = |a - b| + c``."""
    type = type_of(x, s)
    operands = [operand(x, text, type) for text in s.operands[1:]]
    width = max(32, 8 * SIZES[type])
    x.row(f"SAD_{'S' if is_signed(type) else 'U'}{width}", *operands, to=x.to(s.operands[0]))


@lowers("dp4a")
def dot_product(x: Lowering, s: Statement) -> None:
    """``d = c +`` the dot product of four bytes each."""
    signs = "".join(modifier[0].upper() for modifier in s.modifiers if modifier in ("s32", "u32"))
    values = [x.value(text, "b32") for text in s.operands[1:]]
    x.row(f"DP4A_{signs}", *values, to=x.to(s.operands[0]))


@lowers("dp2a")
def dot_product_of_two(x: Lowering, s: Statement) -> None:
    """``d = c +`` the dot product of two halves of ``a`` and two bytes of ``b``."""
    first, second = (modifier[0].upper() for modifier in s.modifiers if modifier in ("s32", "u32"))
    a, b, c = (x.value(text, "b32") for text in s.operands[1:])
    total = c
    for k in (0, 1):
        byte = k + (2 if s.has("hi") else 0)
        one = x.row(f"BFE_{first}32", a, (Constant(16 * k),), (Constant(16),))
        other = x.row(f"BFE_{second}32", b, (Constant(8 * byte),), (Constant(8),))
        total = x.row("MAD_B32", one, other, total)
    x.move(x.to(s.operands[0]), total)


@lowers("rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh", "copysign")
def function(x: Lowering, s: Statement) -> None:
    """Functions of one operand; the approximate ones within the error that extended.def states."""
    type = type_of(x, s)
    name = s.op.upper()
    if s.op in ("rcp", "sqrt") and s.has("approx"):
        name += "A"
    operands = [x.value(text, type) for text in s.operands[1:]]
    floating(x, name, type, operands, x.to(s.operands[0]), flags_of(s, type))


@lowers("testp")
def test_property(x: Lowering, s: Statement) -> None:
    """Whether a number is finite, infinite, normal .."""
    type = type_of(x, s)
    row = f"TESTP_{s.modifiers[0].upper()}_{type.upper()}"
    if row not in isa.EXTENDED:
        raise x.unsupported()
    x.row(row, x.value(s.operands[1], type), to=x.to(s.operands[0]))

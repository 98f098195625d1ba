"""Conversions between types of numbers."""

from __future__ import annotations

from gpucoh.lang import isa
from gpucoh.lang.ir import Constant
from gpucoh.lang.types import I32, U32
from gpucoh.ptx.arithmetic import flags_of, narrowed, operand
from gpucoh.ptx.lowering import Lowering, Registers, Words, lowers
from gpucoh.ptx.module import Statement
from gpucoh.ptx.types import FLOATS, HALVES, PACKED, SIZES, is_signed, mnemonic


@lowers("cvt")
def convert(x: Lowering, s: Statement) -> None:
    """``cvt.to.from``."""
    to, source = (modifier for modifier in s.modifiers if modifier in SIZES)
    registers = x.to(s.operands[0])
    if to in PACKED:  # two f32: the first is the upper half
        parts = [
            x.row(f"{mnemonic(to[:-2])}_F32", x.value(text, "f32"), flags=flags_of(s, to[:-2]))
            for text in s.operands[1:]
        ]
        x.core("OR", U32, parts[1], x.core("SHL", U32, parts[0], (Constant(16),)), to=registers)
        return
    value = operand(x, s.operands[1], source)
    if source in FLOATS and to in FLOATS:
        _between_floats(x, s, to, source, value, registers)
    elif source in FLOATS:
        _to_integer(x, s, to, source, value, registers)
    elif to in FLOATS:
        _to_float(x, s, to, source, value, registers)
    else:
        _between_integers(x, to, source, value, registers, s.has("sat"))


def _between_floats(
    x: Lowering, s: Statement, to: str, source: str, value: Words, registers: Registers
) -> None:
    flags = flags_of(s, "f32" if "f32" in (to, source) else to)
    if to == source:
        is_whole = s.one_of(("rni", "rzi", "rmi", "rpi")) is not None
        if is_whole and to in HALVES:
            wide = x.row(f"F32_{mnemonic(to)}", value)
            rounded = x.row("ROUND_F32", wide, flags=flags & isa.FLAG_ROUND_MASK)
            x.row(f"{mnemonic(to)}_F32", rounded, to=registers, flags=flags & isa.FLAG_SAT)
        elif is_whole:
            x.row(f"ROUND_{mnemonic(to)}", value, to=registers, flags=flags)
        elif flags & (isa.FLAG_FTZ | isa.FLAG_SAT):
            x.row(f"ADD_{mnemonic(to)}", value, _minus_zero(to), to=registers, flags=flags)
        else:
            x.move(registers, value)
        return
    if to in HALVES and source in HALVES:
        value, source = x.row(f"F32_{mnemonic(source)}", value), "f32"
    row = f"{mnemonic(to)}_{mnemonic(source)}"
    if row not in isa.EXTENDED:
        raise x.unsupported()
    x.row(row, value, to=registers, flags=flags)


def _minus_zero(type: str) -> Words:
    """The number that an addition leaves every other as it is."""
    sign = Constant(1 << 15 if type in HALVES else 1 << 31)
    return (Constant(0), sign) if type == "f64" else (sign,)


def _to_integer(
    x: Lowering, s: Statement, to: str, source: str, value: Words, registers: Registers
) -> None:
    flags = flags_of(s, source) & ~isa.FLAG_SAT
    if source in HALVES:
        value, source = x.row(f"F32_{mnemonic(source)}", value), "f32"
    sign = "S" if is_signed(to) else "U"
    if SIZES[to] == 8:
        x.row(f"{sign}64_{mnemonic(source)}", value, to=registers, flags=flags)
        return
    word = x.row(f"{sign}32_{mnemonic(source)}", value, flags=flags)
    if SIZES[to] < 4:
        word = _clamped(x, word, to, is_signed(to))
    if SIZES[to] < 4 and source == "f64" and not is_signed(to):  # NaN is the middle of the type
        number = x.row("NUM_F64", value, value)
        word = x.core("SELECT", U32, number, word, (Constant(1 << 8 * SIZES[to] - 1),))
    extended_to(x, to, word, registers)


def _to_float(
    x: Lowering, s: Statement, to: str, source: str, value: Words, registers: Registers
) -> None:
    sign = "S" if is_signed(source) else "U"
    flags = flags_of(s, to)
    width = 64 if SIZES[source] == 8 else 32
    if to in HALVES:  # f64 has every integer that is finite in f16, so that they round once
        if f"{mnemonic(to)}_F64" not in isa.EXTENDED:
            raise x.unsupported()
        wide = x.row(f"F64_{sign}{width}", value)
        x.row(f"{mnemonic(to)}_F64", wide, to=registers, flags=flags)
        return
    x.row(f"{mnemonic(to)}_{sign}{width}", value, to=registers, flags=flags)


def _clamped(x: Lowering, word: Words, type: str, from_signed: bool) -> Registers:
    """A word within the range of a type of 8 or 16 bits."""
    bits = 8 * SIZES[type]
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed(type) else (0, (1 << bits) - 1)
    if from_signed:
        word = x.core("MAX", I32, word, (Constant(low & 0xFFFFFFFF),))
        return x.core("MIN", I32, word, (Constant(high),))
    return x.core("MIN", U32, word, (Constant(high),))


def _between_integers(
    x: Lowering, to: str, source: str, value: Words, registers: Registers, saturate: bool
) -> None:
    if saturate:
        value = _saturated(x, to, source, value)
    elif SIZES[to] < 4:
        value = narrowed(x, value[:1], to)
    if SIZES[source] == 8 and SIZES[to] == 8:
        x.move(registers, value)
    elif SIZES[to] == 8:
        _widen(x, value, is_signed(source), registers)
    else:
        extended_to(x, to, value[:1], registers)


def _saturated(x: Lowering, to: str, source: str, value: Words) -> Words:
    if SIZES[source] == 8:
        if SIZES[to] == 8 and is_signed(to) == is_signed(source):
            return value
        raise x.unsupported("a saturating conversion of 64 bits")
    if SIZES[to] < 4:
        return _clamped(x, value, to, is_signed(source))
    if is_signed(source) and not is_signed(to):
        return x.core("MAX", I32, value, (Constant(0),))
    if SIZES[to] == 4 and is_signed(to) and not is_signed(source):
        return x.core("MIN", U32, value, (Constant(0x7FFFFFFF),))
    return value


def _widen(x: Lowering, value: Words, signed: bool, to: Registers) -> None:
    if signed:
        x.row("SEXT_S32", value, to=to)
    else:
        x.move(to, (value[0], Constant(0)))


def extended_to(x: Lowering, type: str, value: Words, to: Registers) -> None:
    """A result in a register that may be wider than the type: a word is extended by its sign."""
    if len(to) == 2 and len(value) == 1:
        _widen(x, value, is_signed(type), to)
    else:
        x.move(to, value)

"""Comparisons, selections, moves and conversions."""

from __future__ import annotations

from gpucoh.lang import isa
from gpucoh.lang.ir import Constant
from gpucoh.lang.types import I32, U32
from gpucoh.ptx.arithmetic import core_type, flags_of, halves, narrowed, operand, type_of
from gpucoh.ptx.declarations import split_list
from gpucoh.ptx.lowering import Lowering, Registers, Words, lowers
from gpucoh.ptx.module import Statement
from gpucoh.ptx.types import FLOATS, HALVES, PACKED, SIZES, is_signed, mnemonic

_RELATIONS = {
    "eq": "EQ", "ne": "NE", "lt": "LT", "le": "LE", "gt": "GT", "ge": "GE",
    "lo": "LT", "ls": "LE", "hi": "GT", "hs": "GE",
}  # fmt: skip
_FLOAT_RELATIONS = (
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "equ",
    "neu",
    "ltu",
    "leu",
    "gtu",
    "geu",
    "num",
    "nan",
)
_JOINS = ("and", "or", "xor")


def compared(x: Lowering, relation: str, type: str, a: str, b: str, flags: int) -> Registers:
    """A word, 1 where the relation holds."""
    left, right = operand(x, a, type), operand(x, b, type)
    if type in FLOATS:
        if relation not in _FLOAT_RELATIONS:
            raise x.unsupported()
        return x.row(
            f"{relation.upper()}_{mnemonic(type)}", left, right, flags=flags & isa.FLAG_FTZ
        )
    if type in PACKED or relation not in _RELATIONS:
        raise x.unsupported()
    name = _RELATIONS[relation]
    is_unsigned_order = relation in ("lo", "ls", "hi", "hs")
    if SIZES[type] == 8:
        sign = (
            "B"
            if name in ("EQ", "NE")
            else "U"
            if is_unsigned_order or not is_signed(type)
            else "S"
        )
        return x.row(f"{name}_{sign}64", left, right)
    return x.core(name, U32 if is_unsigned_order else core_type(type), left, right)


def _joined(x: Lowering, s: Statement, found: Words, third: int) -> Words:
    """``found`` joined with the predicate operand, if the instruction has one."""
    join = s.one_of(_JOINS)
    if join is None:
        return found
    return x.core(join.upper(), U32, found, (x.predicate(s.operands[third]),))


@lowers("setp")
def set_predicate(x: Lowering, s: Statement) -> None:
    """``p|q = (a relation b) join c``."""
    type = type_of(x, s)
    found: Words = compared(
        x, s.modifiers[0], type, s.operands[1], s.operands[2], flags_of(s, type)
    )
    names = [name.strip() for name in s.operands[0].split("|")]
    results = [_joined(x, s, found, 3)]
    if len(names) > 1:
        results.append(_joined(x, s, x.core("XOR", U32, found, (Constant(1),)), 3))
    for name, result in zip(names, results, strict=True):
        if name != "_":
            x.move(x.to(name), result)


@lowers("set")
def set_value(x: Lowering, s: Statement) -> None:
    """1.0 or all ones where the relation holds, else 0."""
    types = [modifier for modifier in s.modifiers if modifier in SIZES]
    if len(types) != 2 or SIZES[types[0]] != 4 or types[0] in PACKED:
        raise x.unsupported()
    found = compared(
        x, s.modifiers[0], types[1], s.operands[1], s.operands[2], flags_of(s, types[1])
    )
    one = Constant(0x3F800000 if types[0] == "f32" else 0xFFFFFFFF)
    x.core("SELECT", U32, _joined(x, s, found, 3), (one,), (Constant(0),), to=x.to(s.operands[0]))


@lowers("selp")
def select(x: Lowering, s: Statement) -> None:
    """``d = c ? a : b``."""
    type = type_of(x, s)
    condition: Words = (x.predicate(s.operands[3]),)
    selected(
        x,
        condition,
        x.value(s.operands[1], type),
        x.value(s.operands[2], type),
        x.to(s.operands[0]),
    )


def selected(x: Lowering, condition: Words, a: Words, b: Words, to: Registers) -> None:
    """``to = condition ? a : b`` of any width."""
    if len(a) == 2:
        x.row("SELECT_B64", condition, a, b, to=to)
    else:
        x.core("SELECT", U32, condition, a, b, to=to)


@lowers("slct")
def select_by_sign(x: Lowering, s: Statement) -> None:
    """``d = c >= 0 ? a : b``."""
    by = type_of(x, s)
    type = next(modifier for modifier in s.modifiers if modifier in SIZES)
    sign = x.value(s.operands[3], by)
    if by == "f32":
        condition = x.row("GE_F32", sign, (Constant(0),), flags=flags_of(s, by) & isa.FLAG_FTZ)
    else:
        condition = x.core("GE", I32, sign, (Constant(0),))
    selected(
        x,
        condition,
        x.value(s.operands[1], type),
        x.value(s.operands[2], type),
        x.to(s.operands[0]),
    )


@lowers("mov")
def move(x: Lowering, s: Statement) -> None:
    """A copy; packs and unpacks vectors."""
    type = type_of(x, s)
    to, value = s.operands
    if to.startswith("{"):
        _unpack(x, split_list(to[1:-1]), x.value(value, type), type)
    elif value.startswith("{"):
        _pack(x, x.to(to), split_list(value[1:-1]), type)
    else:
        x.move(x.to(to), x.value(value, type))


def _unpack(x: Lowering, names: list[str], value: Words, type: str) -> None:
    bits = 8 * SIZES[type] // len(names)
    if bits == 32:
        parts: list[Words] = [(word,) for word in x.copied(value)]
    elif bits == 64 and len(value) == 4:
        parts = [value[:2], value[2:]]
    elif bits == 16:
        parts = [half for word in value for half in halves(x, (word,))]
    else:
        raise x.unsupported("a vector of bytes")
    for name, part in zip(names, parts, strict=True):
        if name != "_":
            x.move(x.to(name), part)


def _pack(x: Lowering, to: Registers, names: list[str], type: str) -> None:
    bits = 8 * SIZES[type] // len(names)
    if bits == 32:
        x.move(to, x.copied(tuple(x.value(name, "b32")[0] for name in names)))
        return
    if bits == 64:
        x.move(to, x.copied(tuple(word for name in names for word in x.value(name, "b64"))))
        return
    if bits != 16:
        raise x.unsupported("a vector of bytes")
    parts = [narrowed(x, x.value(name, "b16"), "b16") for name in names]
    words = [
        x.core("OR", U32, parts[k], x.core("SHL", U32, parts[k + 1], (Constant(16),)))[0]
        for k in range(0, len(parts), 2)
    ]
    x.move(to, tuple(words))


# ---- conversions ---------------------------------------------------------------------------------


@lowers("cvt")
def convert(x: Lowering, s: Statement) -> None:
    """``cvt.to.from``."""
    types = [modifier for modifier in s.modifiers if modifier in SIZES]
    if (
        s.has("pack")
        or s.has("relu")
        or any(m in ("tf32", "e4m3x2", "e5m2x2") for m in s.modifiers)
    ):
        raise x.unsupported()
    if len(types) != 2:
        raise x.unsupported()
    to, source = types
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
        if is_whole:
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
    return (
        (Constant(0), Constant(1 << 31))
        if type == "f64"
        else (Constant(1 << 31 if type == "f32" else 1 << 15),)
    )


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
        word = clamped(x, word, to, is_signed(to))
    _extended_to(x, to, word, registers)


def _to_float(
    x: Lowering, s: Statement, to: str, source: str, value: Words, registers: Registers
) -> None:
    sign = "S" if is_signed(source) else "U"
    flags = flags_of(s, to)
    width = 64 if SIZES[source] == 8 else 32
    if to in HALVES:  # 32-bit integers round once through f64; wider ones would round twice
        if width == 64:
            raise x.unsupported()
        x.row(f"{mnemonic(to)}_F64", x.row(f"F64_{sign}32", value), to=registers, flags=flags)
        return
    x.row(f"{mnemonic(to)}_{sign}{width}", value, to=registers, flags=flags)


def clamped(x: Lowering, word: Words, type: str, from_signed: bool) -> Registers:
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
        _extended_to(x, to, value[:1], registers)


def _saturated(x: Lowering, to: str, source: str, value: Words) -> Words:
    if SIZES[source] == 8:
        if SIZES[to] == 8 and is_signed(to) == is_signed(source):
            return value
        raise x.unsupported("a saturating conversion of 64 bits")
    if SIZES[to] < 4:
        return clamped(x, value, to, is_signed(source))
    if SIZES[to] == 4 and is_signed(source) != is_signed(to):
        limit = (Constant(0),) if is_signed(source) else (Constant(0x7FFFFFFF),)
        return (
            x.core("MAX", I32, value, limit)
            if is_signed(source)
            else x.core("MIN", U32, value, limit)
        )
    return value


def _widen(x: Lowering, value: Words, signed: bool, to: Registers) -> None:
    if signed:
        x.row("SEXT_S32", value, to=to)
    else:
        x.move(to, (value[0], Constant(0)))


def _extended_to(x: Lowering, type: str, word: Words, to: Registers) -> None:
    """A result in a register that may be wider than the type: extended by its sign."""
    if len(to) == 2:
        _widen(x, word, is_signed(type), to)
    else:
        x.move(to, word)


extended_to = _extended_to


@lowers("cvta")
def convert_address(x: Lowering, s: Statement) -> None:
    """Addresses of a state space to generic ones and back: the upper word names the window."""
    space = s.one_of(("global", "shared", "local", "const", "param"))
    to = x.to(s.operands[0])
    value = x.value(s.operands[1], "b64")
    if space in ("shared", "local") and s.has("to"):
        x.move(to, (value[0], Constant(0)))
    elif space in ("shared", "local"):
        window = isa.SHARED_WINDOW if space == "shared" else isa.LOCAL_WINDOW
        x.move(to, (value[0], Constant(window)))
    else:
        x.move(to, value)


@lowers("isspacep")
def is_in_space(x: Lowering, s: Statement) -> None:
    """Whether a generic address is of a state space."""
    space = s.modifiers[0].split("::")[0]
    high: Words = x.value(s.operands[1], "b64")[1:]
    to = x.to(s.operands[0])
    windows = {"shared": isa.SHARED_WINDOW, "local": isa.LOCAL_WINDOW}
    if space in windows:
        x.core("EQ", U32, high, (Constant(windows[space]),), to=to)
    elif space == "global":
        neither = [x.core("NE", U32, high, (Constant(window),)) for window in windows.values()]
        x.core("AND", U32, *neither, to=to)
    else:
        x.move(to, (Constant(0),))

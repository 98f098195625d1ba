"""Parameters of kernels and of calls, the state space `.param`.

A kernel's parameters are words of the constant bank. Those of a call are registers: their bytes as words.
"""

from __future__ import annotations

from gpucoh.lang.ir import Argument, Constant, Operand, Register
from gpucoh.lang.types import I32, U32
from gpucoh.ptx.conversions import extended_to
from gpucoh.ptx.layout import parameter_word
from gpucoh.ptx.lowering import Lowering, Registers, Words
from gpucoh.ptx.module import Statement, Variable
from gpucoh.ptx.types import SIZES, is_signed, words_of


def load(x: Lowering, s: Statement, type: str, names: list[str]) -> None:
    """``ld.param.type d, [name+offset]``."""
    base, offset = x.address(s.operands[1])
    for name in names:
        value = read(x, base, offset, type)
        offset += SIZES[type]
        if name != "_":
            extended_to(x, type, value, x.to(name))


def read(x: Lowering, name: str, offset: int, type: str) -> Words:
    """The value at an offset of a parameter."""
    words = _words(x, name)
    if words is None:
        first = x.layout.parameter_at.get(name)
        if first is None or len(x.frames) > 1:
            raise x.refuse(f"'{name}' is not a parameter")
        offset += first
        words = [Argument(parameter_word(k)) for k in range(-(-x.layout.parameter_bytes // 4))]
    if SIZES[type] >= 4:
        if offset % 4:
            raise x.unsupported("a parameter at an address that is no multiple of 4")
        return tuple(words[offset // 4 : offset // 4 + words_of(type)])
    return _part(x, words[offset // 4], offset % 4, type)


def _part(x: Lowering, word: Operand, byte: int, type: str) -> Words:
    """A value of 8 or 16 bits within a word."""
    up = (Constant(32 - 8 * (byte + SIZES[type])),)
    down = (Constant(32 - 8 * SIZES[type]),)
    top = x.core("SHL", U32, (word,), up)
    return x.core("SHR", I32 if is_signed(type) else U32, top, down)


def _words(x: Lowering, name: str) -> list[Operand] | None:
    """The registers of a parameter of a call, or of the function that is being inlined."""
    found = x.frame.parameters.get(name)
    return list(found) if found is not None else None


def store(x: Lowering, s: Statement, type: str, names: list[str]) -> None:
    """``st.param.type [name+offset], value``: of a call's arguments, or of a function's result."""
    base, offset = x.address(s.operands[0])
    registers = declared(x, base)
    for name in names:
        value = x.value(name, type)
        if SIZES[type] >= 4:
            if offset % 4:
                raise x.unsupported("a parameter at an address that is no multiple of 4")
            first = offset // 4
            x.move(registers[first : first + len(value)], value)
        else:
            _store_part(x, registers[offset // 4], value, offset % 4, SIZES[type])
        offset += SIZES[type]


def _store_part(x: Lowering, register: Register, value: Words, byte: int, size: int) -> None:
    word = (register,)
    position = Constant(8 * byte | (8 * size) << 8)
    x.row("BFI_B32", value, word, (position,), to=word)


def declared(x: Lowering, name: str) -> Registers:
    """The registers of a `.param` variable of a call."""
    frame = x.frame
    if name not in frame.parameters:
        variable = frame.function.variables.get(name)
        if variable is None:
            raise x.refuse(f"'{name}' is not a parameter of a call")
        frame.parameters[name] = fresh(x, variable)
    return tuple(frame.parameters[name])


def fresh(x: Lowering, variable: Variable) -> list[Register]:
    """Registers for a parameter, 0 where no value is stored yet."""
    registers = [x.new()[0] for _ in range(max(1, -(-variable.size // 4)))]
    if variable.size % 4:
        for register in registers:
            x.emit("MOVE", U32, (register,), (Constant(0),))
    return registers

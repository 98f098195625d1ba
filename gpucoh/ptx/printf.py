"""``printf`` and ``assert`` of CUDA: reports of the core, formatted by the host."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gpucoh.lang import isa
from gpucoh.lang.ir import Argument, Constant, Operand
from gpucoh.lang.program import Report
from gpucoh.lang.types import I32, U32
from gpucoh.ptx import parameters
from gpucoh.ptx.layout import symbol_words
from gpucoh.ptx.lowering import Lowering, Words

_CONVERSION = re.compile(
    r"%([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+))?(hh|h|ll|l|z|j|t|L)?([diouxXcfFeEgGaAsp%])"
)
_FLOATS = "fFeEgG"


@dataclass(frozen=True)
class Printf(Report):
    """One call of printf: texts, and the conversions between them.

    Attributes
    ----------
    conversions : tuple of (str, int)
        Python's format of a value (``%`` operator), and its words.
    """

    conversions: tuple[tuple[str, int], ...] = ()

    @property
    def records(self) -> int:
        """Words that one call of a thread records."""
        return max(1, sum(words for _, words in self.conversions))

    def text(self, words: Sequence[int], text_at: Callable[[int], str]) -> str:
        """The text with its values."""
        left = list(words)
        pieces = iter(self.conversions)
        out = []
        for part in self.parts:
            if part != "":
                out.append(str(part))
                continue
            format, count = next(pieces)
            value, left = left[:count], left[count:]
            out.append(_formatted(format, value, text_at))
        return "".join(out)


def _formatted(format: str, words: Sequence[int], text_at: Callable[[int], str]) -> str:
    kind = format[-1]
    width = 32 * len(words) >> format.count("h")  # of h and hh, which pass an int
    bits = sum(word << 32 * k for k, word in enumerate(words))
    if kind in _FLOATS:
        number: float = struct.unpack("<d", bits.to_bytes(8, "little"))[0]
        return format % number
    bits &= (1 << width) - 1
    if kind in "di" and bits >> (width - 1):
        bits -= 1 << width
    if kind == "c":
        return format % chr(bits & 0xFF)
    if kind == "p":
        return f"0x{bits:x}"
    if kind == "s":
        return format % text_at(bits)
    return format % bits


def report(x: Lowering, op: str, parts: Sequence[str], words: Sequence[Operand]) -> None:
    """Append a report of these words."""
    _append(x, op, Report(tuple(parts)), words)


def _append(x: Lowering, op: str, made: Report, words: Sequence[Operand]) -> None:
    number = len(x.function.reports)
    x.function.reports.append(made)
    for word in words:
        x.emit(op, I32, (), (word,), immediate=number)


def lower(x: Lowering, arguments: list[str], results: list[str]) -> None:
    """``vprintf(format, values)``: values are in local memory, each at a multiple of its size."""
    format = text_at(x, parameters.declared(x, arguments[0])[0])
    values = x.copied(parameters.declared(x, arguments[1])[:2])
    parts: list[str] = []
    conversions: list[tuple[str, int]] = []
    words: list[Operand] = []
    end = at = 0
    for found in _CONVERSION.finditer(format):
        literal, end = format[end : found.start()], found.end()
        flags, width, precision, length, kind = found.groups()
        if kind == "%":
            literal += "%"
        if literal:
            parts.append(literal)
        if kind == "%":
            continue
        if kind in "aA" or "*" in (width, precision):
            raise x.unsupported(f"the conversion {found[0]} of printf")
        count = 2 if kind in _FLOATS or kind in "ps" or length in ("l", "ll", "z", "j", "t") else 1
        at = -(-at // (4 * count)) * 4 * count
        words += load_words(x, values, at, count)
        at += 4 * count
        shape = f"%{flags}{width or ''}" + (f".{precision}" if precision is not None else "")
        conversions.append((shape + (length or "").strip("lzjtL") + kind, count))
        parts.append("")
    if format[end:]:
        parts.append(format[end:])
    made = (
        Printf(tuple(parts) or ("",), tuple(conversions)) if conversions else Report(tuple(parts))
    )
    _append(x, "PRINT", made, words or [Constant(0)])
    for name in results:
        x.move(parameters.declared(x, name), (Constant(len(conversions)),))


def load_words(x: Lowering, address: Words, offset: int, count: int) -> list[Operand]:
    """Words of a thread's local memory, by a generic address."""
    found: list[Operand] = []
    for k in range(count):
        to = x.new()
        x.emit("LOAD", U32, to, address[:2], immediate=offset + 4 * k, flags=isa.FLAG_FLAT)
        found.append(to[0])
    return found


def fail_assertion(x: Lowering, arguments: list[str]) -> None:
    """``__assertfail(message, file, line, function, ..)``."""
    message = text_at(x, parameters.declared(x, arguments[0])[0])
    report(x, "ASSERT", [message], [Constant(0)])
    x.exit()


def text_at(x: Lowering, word: Operand) -> str:
    """The text whose address the word is the lower half of.

    Raises
    ------
    KernelError
        If the address is not known when the program is translated.
    """
    origin = x.origin(word)
    if isinstance(origin, Argument):
        for name, variable in x.module.variables.items():
            if symbol_words(name)[0] == origin.name:
                text = variable.initial.split(b"\0")[0]
                return text.decode(errors="replace")
    raise x.unsupported("a text that is not constant")

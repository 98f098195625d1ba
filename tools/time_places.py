"""Places in the core where an operator or a constant can be wrong: a comparison by one, a constant one more.

``places_of`` finds them in the bodies of functions of a C file, whose form clang-format fixes. A mutant replaces ``<``
by ``<=`` (and so on), ``==`` by ``!=``, a constant n by n + 1, or drops ``+ 1``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import switches
from rule_places import FUNCTION, code_of
from switches import CSRC

FOLDERS = ("cache", "engine", "fabric", "machine", "core")
OPPOSITE = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
_TOKEN = re.compile(
    r"U?INT(?:8|16|32|64)_C\(\w+\)|[A-Za-z_]\w*|0[xX][0-9A-Fa-f]+[uUlL]*|\d+\.?\d*(?:[eE][+-]?\d+)?[uUlLfF]*|"
    r"<<=|>>=|->|\+\+|--|<<|>>|[-+*/%&|^=!<>]=|&&|\|\||\S"
)
_INTEGER = re.compile(r"(U?INT\d+_C\()?(0[xX][0-9A-Fa-f]+|\d+)([uUlL]*\)?)$")
_OPEN, _CLOSE = "([{", ")]}"
#: What ends an operand of a comparison, outside its brackets.
_ENDS = {
    *",;?:&|^=!(){}[]", "&&", "||", "return", "case", *OPPOSITE, "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=",
    ">>=",
}  # fmt: skip
#: Calls whose arguments decide no time: checks, texts, sizes of what is allocated.
_NO_TIME = re.compile(
    r"\b(assert|gpc_fail|gpc_text_\w+|GPC_ARENA_TAKE|gpc_arena_\w+|gpc_pool_init|__attribute__)\("
)


@dataclass(frozen=True)
class Place:
    """An operator or constant that can be wrong.

    Attributes
    ----------
    key : str
        File, function, text and what replaces it: a name that survives changes of other lines.
    file : str
        Below ``csrc``.
    line : int
    start, end : int
        The part of the file that changes.
    instead : str
        What replaces it.
    """

    key: str
    file: str
    line: int
    start: int
    end: int
    instead: str

    @property
    def folder(self) -> str:
        return self.file.split("/")[0]


Token = tuple[str, int, int]


def _matching(tokens: Sequence[Token]) -> dict[int, int]:
    """The other bracket of each one."""
    found: dict[int, int] = {}
    stack: list[int] = []
    for i, (text, _, _) in enumerate(tokens):
        if text in _OPEN:
            stack.append(i)
        elif text in _CLOSE and stack:
            found[i] = stack.pop()
            found[found[i]] = i
    return found


def _operand(tokens: Sequence[Token], pairs: dict[int, int], at: int, step: int) -> int:
    """The last token of the operand of a comparison that begins at ``at``, going by ``step``."""
    last = at
    while 0 <= at < len(tokens):
        text = tokens[at][0]
        bracket = text in (_CLOSE if step < 0 else _OPEN)
        if not bracket and text in _ENDS:
            before = tokens[at - 1][0] if at else ""
            unary = text in "&!" and not re.fullmatch(r"\w+|[)\]]", before)
            if not unary:
                break
        at = pairs[at] if bracket else at
        last = at
        at += step
    return last


def _mutants(tokens: Sequence[Token], source: str) -> Iterator[tuple[int, int, str, str]]:
    """Of every mutant of a function's body: start, end, what replaces the part, what it says of itself."""
    pairs = _matching(tokens)
    for i, (text, start, end) in enumerate(tokens):
        before = tokens[i - 1][0] if i else ""
        if text in OPPOSITE:
            first = tokens[_operand(tokens, pairs, i - 1, -1)][1]
            last = tokens[_operand(tokens, pairs, i + 1, 1)][2]
            instead = f"{source[first:start]}{OPPOSITE[text]}{source[end:last]}"
            yield (
                first,
                last,
                instead,
                f"{' '.join(source[first:last].split())} -> {OPPOSITE[text]}",
            )
            continue
        number = _INTEGER.match(text)
        if not number or (before in ("case", "{") and tokens[i + 1][0] in ":}"):
            continue
        value = int(number[2], 0)
        line = source[source.rfind("\n", 0, start) + 1 : source.find("\n", start)].strip()
        for other in (value + 1, *([0] if before in "+-" and value == 1 else [])):
            instead = f"{number[1] or ''}{other}{number[3]}"
            yield start, end, instead, f"{line}: {text} -> {instead}"


def places_of(file: Path, folder: Path = CSRC) -> list[Place]:
    """The places of one file."""
    source = file.read_text(encoding="utf-8")
    code, name = code_of(source), str(file.relative_to(folder))
    out: dict[str, Place] = {}
    for function in FUNCTION.finditer(code):
        first, last = function.span("body")
        body = list(code)
        for call in _NO_TIME.finditer(code, first, last):
            depth, at = 1, call.end()
            while depth:
                depth += {"(": 1, ")": -1}.get(code[at], 0)
                at += 1
            body[call.start() : at] = "0".ljust(at - call.start()).replace("0", "x", 1)
        kept = "".join(body)
        tokens = [(one[0], one.start(), one.end()) for one in _TOKEN.finditer(kept, first, last)]
        for start, end, instead, what in _mutants(tokens, source):
            key = f"{name} {function['name']}: {what}"
            count = 1 + sum(known == key or known.startswith(f"{key} #") for known in out)
            key = key if count == 1 else f"{key} #{count}"
            out[key] = Place(key, name, 1 + source.count("\n", 0, start), start, end, instead)
    return list(out.values())


def mutated(source: str, places: dict[int, Place]) -> str:
    """The file with these places: number -> place. The number chooses the one that is wrong."""
    return switches.wrap(
        source,
        (
            (place.start, place.end, *switches.replaced(number, source[place.start : place.end], place.instead))
            for number, place in places.items()
        ),
    )  # fmt: skip


def enumerate_places(folder: Path = CSRC) -> list[Place]:
    """The places of all files, in the order of files and lines."""
    files = [file for one in FOLDERS for file in sorted((folder / one).rglob("*.[ch]"))]
    return [place for file in files for place in places_of(file, folder)]

"""Places in the protocols' tables where a rule can be broken: an action of a cell dropped, a guard negated.

``enumerate_places`` parses the C of ``csrc/protocols/``, whose form clang-format fixes; ``mutated`` writes a file in
which a number chooses the broken rule (``tools/switches.py``), so that one build serves all that were drawn.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from switches import CSRC, ROOT, wrap

PROTOCOLS = CSRC / "protocols"
#: What is built, and the results; a test has a folder of its own.
FOLDER = Path(os.environ.get("RULE_MUTANTS", ROOT / "build" / "rule-mutants"))

_NO_CODE = re.compile(
    r"/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])+'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.S | re.M
)
FUNCTION = re.compile(
    r"^(?:(?P<type>[a-z][\w *]*)\n)?(?P<name>\w+)\((?P<arguments>(?:[^;{()]|\([^()]*\))*)\)\n\{\n(?P<body>.*?)^\}",
    re.S | re.M,
)
_CELL = re.compile(r"\b(GO|GO_HARDENED|REDO|HOLD_QUEUE_AFTER)\(")
_TABLE = re.compile(r"^static const gpc_(?:cell|patch)_t (\w+)\[", re.M)
#: Functions that decide no transition: checks, the host's accesses, sizes, options.
_NO_RULE = re.compile(
    r"check|monitor|host|mshrs|capacity|geometry|entries|carries|bytes|derive|describe|newest"
)


@dataclass(frozen=True)
class Place:
    """A rule that can be broken.

    Attributes
    ----------
    key : str
        File, cell or function, and what is broken: a name that survives changes of other lines.
    file : str
        Below ``csrc/protocols``.
    line : int
    kind : str
        ``action`` (dropped from a cell), ``call`` (of an action by another one, dropped), ``guard`` (negated).
    what : str
        The action, or the guard's text.
    start, end : int
        The part of the file that changes.
    before : int
        Of an action: the beginning of the declaration of its table.
    """

    key: str
    file: str
    line: int
    kind: str
    what: str
    start: int
    end: int
    before: int = 0


def code_of(source: str) -> str:
    """The file with blanks in place of comments, strings and lines of the preprocessor."""
    return _NO_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), source)


def _closing(code: str, at: int) -> int:
    """The place of the parenthesis that closes the one at ``at``."""
    depth = 0
    for place in range(at, len(code)):
        depth += {"(": 1, ")": -1}.get(code[place], 0)
        if depth == 0:
            return place
    raise ValueError(f"no closing parenthesis: {code[at : at + 40]}")


def _parts(code: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The parts between the commas outside parentheses, without blanks around them."""
    depth, first = 0, start
    for place in range(start, end + 1):
        letter = code[place] if place < end else ","
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            part = code[first:place]
            yield first + len(part) - len(part.lstrip()), place - len(part) + len(part.rstrip())
            first = place + 1


def _cell_name(code: str, at: int) -> str:
    """The state and event of the cell that begins at ``at``."""
    patch = re.search(r"\{\s*(\w+),\s*(\w+),\s*$", code[max(0, at - 200) : at])
    if patch:
        return f"{patch[1]} {patch[2]}"
    event = re.search(r"\[(\w+)\]\s*=\s*$", code[max(0, at - 200) : at])
    states = re.findall(r"\[(\w+)\]\s*=\s*\{", code[:at])
    return f"{states[-1] if states else ''} {event[1] if event else ''}".strip()


def _actions(code: str) -> Iterator[tuple[str, str, int, int, int]]:
    """Of every action of a cell: where, kind, start, end, beginning of the table."""
    tables = list(_TABLE.finditer(code))
    for cell in _CELL.finditer(code):
        table = next((one for one in reversed(tables) if one.start() < cell.start()), None)
        if table is None:
            continue
        parts = list(_parts(code, cell.end(), _closing(code, cell.end() - 1)))
        for start, end in parts[0 if cell[1] == "HOLD_QUEUE_AFTER" else 1 :]:
            where = f"{table[1]} {_cell_name(code, cell.start())}"
            yield where, "action", start, end, table.start()


def _condition_before(code: str, at: int, first: int) -> int:
    """Where the condition of the ``?`` at ``at`` begins."""
    depth, place = 0, at - 1
    while place > first:
        letter = code[place]
        depth += {")": 1, "]": 1, "(": -1, "[": -1}.get(letter, 0)
        assigns = letter == "=" and code[place - 1] not in "=!<>" and code[place + 1] != "="
        if depth < 0 or (depth == 0 and (letter in ",;{}?:" or assigns)):
            break
        place -= 1
    text = code[place + 1 : at]
    blank = re.match(r"\s*(?:return\b\s*)?", text)
    return place + 1 + (blank.end() if blank else 0)


def _guards(code: str, function: re.Match[str]) -> Iterator[tuple[str, int, int]]:
    """Of every guard of a function: kind, start, end."""
    first, last = function.span("body")
    for one in re.compile(r"\bif \(").finditer(code, first, last):
        yield "guard", one.end(), _closing(code, one.end() - 1)
    for one in re.compile(r"\?").finditer(code, first, last):
        yield "guard", _condition_before(code, one.start(), first), one.start()
    named = r"\bbool \w+ =\s+([^;?,]+);"
    returned = r"\breturn ([^;?,]*[^;?,\w][^;?,]*);"
    is_bool = (function["type"] or "").endswith("bool")
    for one in re.compile(f"{named}|{returned}" if is_bool else named).finditer(code, first, last):
        yield "guard", *one.span(1 if one[1] else 2)
    for one in re.compile(r"\bgpc_act\(").finditer(code, first, last):
        yield "call", one.start(), _closing(code, one.end() - 1) + 1


def places_of(file: Path, folder: Path = PROTOCOLS) -> list[Place]:
    """The places of one file."""
    source = file.read_text(encoding="utf-8")
    code, found = code_of(source), []
    for where, kind, start, end, before in _actions(code):
        found.append((where, kind, start, end, before))
    for function in FUNCTION.finditer(code):
        first = re.match(r"\w+", function["arguments"])
        is_action = function["name"].endswith("ACTION")
        name = first[0] if is_action and first else function["name"]
        if _NO_RULE.search(name):
            continue
        for kind, start, end in _guards(code, function):
            found.append((name, kind, start, start + len(code[start:end].rstrip()), 0))
    out: dict[str, Place] = {}
    for where, kind, start, end, before in sorted(found, key=lambda one: one[2]):
        what = " ".join(source[start:end].split())
        key = f"{file.name} {where}: {'not' if kind == 'guard' else 'drop'} {what}"
        number = 1 + sum(known == key or known.startswith(f"{key} #") for known in out)
        key = key if number == 1 else f"{key} #{number}"
        line = 1 + source.count("\n", 0, start)
        out[key] = Place(key, str(file.relative_to(folder)), line, kind, what, start, end, before)
    return list(out.values())


def mutated(source: str, places: dict[int, Place]) -> str:
    """The file with these places: number -> place. The number chooses the one that is broken."""
    parts: list[tuple[int, int, str, str]] = []
    for number, place in places.items():
        broken = f"GPC_SWITCHED({number})"
        if place.kind == "action":
            wrapper = (
                f"static int gpc_rule_{number}_run(gpc_step_t *x) "
                f"{{ return {broken} ? GPC_OK : gpc_act({place.what}, x); }}\n"
                f"static const gpc_action_t gpc_rule_{number}[1] = "
                f'{{{{"{place.what}", "", gpc_rule_{number}_run}}}};\n'
            )
            parts.append((place.before, place.before, wrapper, ""))
            parts.append((place.start, place.end, f"gpc_rule_{number} /* ", " */"))
        elif place.kind == "guard":
            parts.append((place.start, place.end, "((", f") ? !{broken} : {broken})"))
        else:
            parts.append((place.start, place.end, f"({broken} ? GPC_OK : (", "))"))
    return wrap(source, parts)


def enumerate_places(folder: Path = PROTOCOLS) -> list[Place]:
    """The places of all protocols, in the order of files and lines."""
    files = sorted(folder.glob("*/*.c"))
    no_rules = ("planted.c", "_checks.c", "_emu.c")
    return [
        place
        for file in files
        if not file.name.endswith(no_rules)
        for place in places_of(file, folder)
    ]

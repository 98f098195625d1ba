"""Parser of litmus files in the format of the public PTX suites.

::

    PTX MP-gpu
    "message passing"
    { x=0; y=0; P1:r1=0; P1:r2=0; }
     P0@cta 0,gpu 0       | P1@cta 1,gpu 0       ;
     st.weak x, 1         | ld.acquire.gpu r1, y ;
     st.release.gpu y, 1  | ld.weak r2, x        ;
    ~exists (P1:r1 == 1 /\\ P1:r2 == 0)

An unsupported or unreadable part is an :class:`UnsupportedError` that names the line.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from gpucoh.base.doors import door
from gpucoh.base.quoting import quoted
from gpucoh.litmus.condition import read_condition
from gpucoh.litmus.instructions import NUMBER, REGISTER, Cell, read_instruction
from gpucoh.litmus.syntax import Instruction, Test, Thread, UnsupportedError, fitted, read_number
from gpucoh.litmus.widths import DECLARED, settled, settled_condition, wide_locations

_HEADER = re.compile(r"\s*(?:\(\*.*?\*\)\s*)*(?:PTX|ptx)\b[ \t]*([^\n\r]*)", re.DOTALL)
_FIRST = re.compile(r"\s*(?:\(\*.*?\*\)\s*)*(\S+)", re.DOTALL)
_COMMENT = re.compile(r"\(\*.*?\*\)|//[^\n]*|<<.*?>>", re.DOTALL)
_THREAD = re.compile(
    r"P?(?P<id>\d+)\s*@\s*cta\s+(?P<cta>\d+)\s*,\s*(?:cu\s+(?P<cu>\d+)\s*,\s*)?"
    r"(?:die\s+(?P<die>\d+)\s*,\s*)?gpu\s+(?P<gpu>\d+)",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"(~\s*|\bnot\s+)?\b(exists|forall|filter|locations|final)\b")
_LABEL = re.compile(r"\s*([A-Za-z_]\w*)\s*:(?!:)")
LARGEST_FILE = 1 << 20
MOST_THREADS = 32


@door
def load(path: str | Path) -> Test:
    """Read one file.

    Raises
    ------
    UnsupportedError
        If it cannot be read, is not a litmus test, or is not supported; the text names the line.
    """
    path = Path(path)
    try:
        data = path.read_bytes()[: LARGEST_FILE + 1]
    except OSError as error:
        raise UnsupportedError(f"{path}: {error.strerror or error}") from None
    if len(data) > LARGEST_FILE:
        raise UnsupportedError(f"{path}: larger than {LARGEST_FILE} bytes")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise UnsupportedError(f"{path}: not text in UTF-8") from None
    return replace(parse(text, path.name.removesuffix(".litmus")), file=str(path))


def _other_kind(text: str) -> str:
    """What is wrong with a text that does not begin with PTX."""
    first = _FIRST.match(text)
    if first is None:
        return "the file is empty"
    if re.fullmatch(r"[A-Za-z]\w{0,11}", first[1]):
        return f"the test is {first[1]}: only PTX tests are read"
    return f"not a litmus test: the first word is {quoted(first[1])}, not PTX"


class _Source:
    """The text, and the line of each position in it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def line(self, at: int) -> int:
        # A piece begins with the blanks before it: its line is that of its first character.
        rest = self.text[at:]
        at += len(rest) - len(rest.lstrip())
        return self.text.count("\n", 0, at) + 1

    def fail(self, what: str, at: int) -> UnsupportedError:
        return UnsupportedError(what, self.line(at))


@door
def parse(text: str, name: str) -> Test:
    """Read one test from its text.

    Parameters
    ----------
    text : str
    name : str
        Its name in results: that of the file.

    Raises
    ------
    UnsupportedError
        As :func:`load`.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff")
    header = _HEADER.match(text)
    if header is None:
        raise UnsupportedError(_other_kind(text), 1)
    brace = text.find("{", header.end())
    if brace < 0:
        raise UnsupportedError("there is no { of the initial state", 1)
    about = text[header.end() : brace].strip().strip('"').strip()
    body = _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text[brace:])
    source = _Source(text[:brace] + body)
    close = source.text.find("}", brace)
    if close < 0:
        raise source.fail("the { of the initial state is not closed", brace)
    initial, registers, declared = _read_initial(source, brace + 1, close)
    clause = _CLAUSE.search(source.text, close)
    if clause is None:
        raise UnsupportedError("there is no exists, ~exists or forall", text.count("\n") + 1)
    threads = _read_program(source, close + 1, clause.start(), registers)
    for thread in threads:
        for instruction in thread.code:
            if instruction.location is not None:
                initial.setdefault(instruction.location, 0)
    wide = wide_locations(threads, declared)
    threads = tuple(settled(thread, wide) for thread in threads)
    initial = {
        place: fitted(value, 64 if place in wide else 32) for place, value in initial.items()
    }
    return _finish(source, clause, name, header[1].strip(), about, threads, initial, wide)


# ---- the initial state


def _read_initial(
    source: _Source, start: int, end: int
) -> tuple[dict[str, int], dict[int, dict[str, int]], dict[str, int]]:
    """Locations and registers with their initial values, and the bits of locations that are declared."""
    values: dict[tuple[int, str], int] = {}
    declared: dict[str, int] = {}
    at = start
    for entry in source.text[start:end].split(";"):
        if entry.strip():
            type, rest = _declaration(entry.strip())
            place, number = _read_entry(source, rest, at)
            if type:
                declared[place[1]] = DECLARED[type]
            if place in values:
                raise source.fail(f"{quoted(entry.strip())}: a second initial value", at)
            values[place] = number
        at += len(entry) + 1
    locations: dict[str, int] = {}
    registers: dict[int, dict[str, int]] = {}
    for (thread, name), number in values.items():
        row = locations if thread < 0 else registers.setdefault(thread, {})
        row[name] = number
    return locations, registers, declared


def _declaration(entry: str) -> tuple[str, str]:
    """The type that an initial value of a location begins with, and the rest; without a value it is 0."""
    type, _, rest = entry.partition(" ")
    if type not in DECLARED or ":" in rest:
        return "", entry
    return type, rest.strip() if "=" in rest else f"{rest.strip()} = 0"


def _read_entry(source: _Source, entry: str, at: int) -> tuple[tuple[int, str], int]:
    """Thread and register (thread -1: a location), and the value."""
    if re.search(r"\baliases\b", entry):
        raise source.fail(f"{quoted(entry)}: proxies and aliases are not modelled", at)
    left, equals, right = (part.strip() for part in entry.partition("="))
    if not equals:
        raise source.fail(f"{quoted(entry)} is not an initial value", at)
    if not NUMBER.fullmatch(right):
        raise source.fail(f"{quoted(entry)}: only numbers are initial values (no addresses)", at)
    number = read_number(right, source.line(at))
    register = re.fullmatch(r"P?(\d+)\s*:\s*(.+)", left)
    if register:
        if not REGISTER.fullmatch(register[2]):
            raise source.fail(f"{quoted(register[2])} is not a register (r0, r1, ..)", at)
        return (int(register[1]), register[2].lstrip("%")), number
    if not re.fullmatch(r"[A-Za-z_]\w*", left):
        raise source.fail(f"{quoted(left)} is not a location", at)
    return (-1, left), number


# ---- the program


def _read_program(
    source: _Source, start: int, end: int, registers: dict[int, dict[str, int]]
) -> tuple[Thread, ...]:
    text = source.text[start:end]
    if text.lstrip().startswith(";"):
        start += text.index(";") + 1
        text = source.text[start:end]
    *rows, rest = text.split(";")
    if not rows:
        raise source.fail("there are no threads: rows end with ;", start)
    if rest.strip():
        raise source.fail(
            f"{quoted(rest.strip())}: a row ends with ;", start + len(text) - len(rest)
        )
    declared = _read_threads(source, rows[0], start)
    columns: list[list[tuple[str, int]]] = [[] for _ in declared]
    at = start + len(rows[0]) + 1
    for row in rows[1:]:
        cells = row.split("|")
        if len(cells) > len(columns):
            raise source.fail(f"{len(cells)} columns, but {len(columns)} threads", at)
        place = at
        for column, cell in zip(columns, cells, strict=False):
            if cell.strip():
                column.append((cell, source.line(place)))
            place += len(cell) + 1
        at += len(row) + 1
    unknown = set(registers) - {thread.id for thread in declared}
    if unknown:
        raise UnsupportedError(f"registers of P{min(unknown)}: there is no such thread")
    return tuple(
        replace(thread, code=_read_column(column), initial=registers.get(thread.id, {}))
        for thread, column in zip(declared, columns, strict=True)
    )


def _read_threads(source: _Source, row: str, at: int) -> list[Thread]:
    threads: list[Thread] = []
    for cell in row.split("|"):
        found = _THREAD.fullmatch(cell.strip())
        if found is None:
            raise source.fail(f"{quoted(cell.strip())} is not a thread: write P0@cta 0,gpu 0", at)
        cu, die = (None if found[name] is None else int(found[name]) for name in ("cu", "die"))
        id_, cta, gpu = (int(found[name]) for name in ("id", "cta", "gpu"))
        threads.append(Thread(id=id_, cta=cta, gpu=gpu, cu=cu, die=die))
        at += len(cell) + 1
    if len({thread.id for thread in threads}) < len(threads):
        raise source.fail("two threads have one number", at - 1)
    if len(threads) > MOST_THREADS:
        raise source.fail(f"{len(threads)} threads; at most {MOST_THREADS} are run", at - 1)
    return threads


def _read_column(column: list[tuple[str, int]]) -> tuple[Instruction, ...]:
    labels: dict[str, int] = {}
    cells: list[Cell] = []
    for text, line in column:
        while label := _LABEL.match(text):
            if label[1] in labels:
                raise UnsupportedError(f"label {quoted(label[1])} occurs twice in one thread", line)
            labels[label[1]] = len(cells)
            text = text[label.end() :]
        if text.strip():
            cells.append(Cell(text, line))
    return tuple(read_instruction(cell, labels) for cell in cells)


# ---- the last clauses


def _finish(
    source: _Source,
    clause: re.Match[str],
    name: str,
    title: str,
    about: str,
    threads: tuple[Thread, ...],
    initial: dict[str, int],
    wide: set[str],
) -> Test:
    listed: list[str] = []
    if clause[2] == "locations":
        close = source.text.find("]", clause.end())
        if close < 0:
            raise source.fail("locations [..] is not closed", clause.start())
        inside = source.text[clause.end() : close].strip().lstrip("[")
        for item in re.split(r"[;,]", inside):
            if item.strip():
                register = re.fullmatch(r"P?(\d+)\s*:\s*%?(\w+)", item.strip())
                listed.append(f"P{int(register[1])}:{register[2]}" if register else item.strip())
        following = _CLAUSE.search(source.text, close)
        if following is None:
            raise source.fail("there is no exists, ~exists or forall", close)
        clause = following
    if clause[2] in ("filter", "final", "locations"):
        raise source.fail(f"{quoted(clause[2])} is not supported", clause.start())
    if clause[1] and clause[2] == "forall":
        raise source.fail("~forall is not supported", clause.start())
    quantifier = "~exists" if clause[1] else clause[2]
    condition = read_condition(quantifier, source.text[clause.end() :], source.line(clause.start()))
    registers = {f"P{thread.id}:{register}" for thread in threads for register in thread.wide}
    proposition = settled_condition(condition.proposition, (registers | wide).__contains__)
    condition = replace(condition, proposition=proposition)
    shown = tuple(dict.fromkeys([*condition.proposition.names(), *listed]))
    _check_names(source, clause.start(), shown, threads, initial)
    if not shown:  # a condition that always holds: show everything
        shown = (
            *(f"P{thread.id}:{name}" for thread in threads for name in thread.registers),
            *initial,
        )
    return Test(
        name=name,
        title=title,
        text=" ".join(about.split()),
        threads=threads,
        initial=initial,
        condition=condition,
        shown=shown,
        wide=frozenset(wide),
    )


def _check_names(
    source: _Source, at: int, shown: tuple[str, ...], threads: tuple[Thread, ...], initial: object
) -> None:
    """Check that the condition's threads and locations exist."""
    assert isinstance(initial, dict)
    ids = {thread.id for thread in threads}
    for name in shown:
        thread, colon, _ = name.partition(":")
        if colon and int(thread[1:]) not in ids:
            raise source.fail(f"condition: there is no thread {thread}", at)
        if not colon and name not in initial:
            raise source.fail(f"condition: there is no location {quoted(name)}", at)

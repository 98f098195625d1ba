"""Wrap the comments of C files at 120 columns, the width of code: ``wrap_comments.py [--check] [FILE ...]``.

clang-format leaves comments as they are. A paragraph is wrapped from its first line that is too wide; a comment behind
code that does not fit goes above that line, or below one that opens a block. Comments in macros are only reported.
Without files: all of csrc/ and the lists in gpucoh/. `make format` runs clang-format after it.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WIDTH = 120
SUFFIXES = (".c", ".h", ".def")
TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/', re.DOTALL)
WORD = re.compile(r"(?:`+[^`]+`+|\S)+")  # a code span keeps its spaces
# A list's item, or a term and its text; behind the longest terms of protocols' opening comments is one space.
TERMS = "Counters|Hardened|Inferred|Monitors|Rollover"
ITEM = re.compile(rf"(?:[-*+] |\d+\. |(?:{TERMS}) (?=[a-z(])|\S+(?: \S+){{0,2}} {{2,}}) *")
RULE = re.compile(r"( */\* -+ .*?) -+ \*/")  # the heading of a section


def c_files(root: Path) -> Iterator[Path]:
    """C sources, headers and X-macro lists, of the core and of the tables that it shares with Python."""
    for folder in ("csrc", "gpucoh"):
        yield from sorted(path for path in (root / folder).rglob("*") if path.suffix in SUFFIXES)


@dataclass(frozen=True)
class Comment:
    first: int  # number of its first line, from 0
    last: int
    before: str  # code before it, on its first line
    after: str  # what follows on its last line


def wide_comments(text: str) -> Iterator[Comment]:
    """Comments of which a line is wider than code may be, the last one first."""
    lines = text.split("\n")
    for found in reversed([one for one in TOKEN.finditer(text) if one[0].startswith("/*")]):
        first, last = text.count("\n", 0, found.start()), text.count("\n", 0, found.end())
        if any(len(line) > WIDTH for line in lines[first : last + 1]):
            start = text.rfind("\n", 0, found.start()) + 1
            end = text.find("\n", found.end())
            yield Comment(
                first,
                last,
                text[start : found.start()],
                text[found.end() : end if end >= 0 else None],
            )


def filled(words: list[str], first: str, rest: str) -> list[str]:
    made, line = [], first
    for word in words:
        if line in (first, rest):
            line += word
        elif len(line) + 1 + len(word) <= WIDTH:
            line += " " + word
        else:
            made.append(line)
            line = rest + word
    return [*made, line]


def words_of(text: str) -> list[str]:
    """The words of a comment; its end stays with the last one."""
    words = WORD.findall(text)
    if words[-1] == "*/" and len(words) > 1:
        words[-2:] = [f"{words[-2]} */"]
    return words


def rewrapped(lines: list[str]) -> list[str]:
    """The lines of a comment without code beside it; a paragraph's words move from a wide line to those below it."""
    made: list[str] = []
    margin = re.match(r" *", lines[0])[0] + " * "  # type: ignore[index]
    left = list(lines)
    while left:
        line = left.pop(0)
        if heading := RULE.fullmatch(line):
            line = f"{heading[1]} {'-' * (WIDTH - 4 - len(heading[1]))} */"
        if len(line) <= WIDTH:
            made.append(line)
            continue
        prefix = re.match(r"\s*(?:/\*|\*)? *", line)[0]  # type: ignore[index]
        item = ITEM.match(line[len(prefix) :])
        first = prefix + item[0] if item else prefix
        rest = margin.ljust(len(first)) if prefix.strip() else first
        below = re.match(r"\s*\* +(?=\S)", left[0]) if left else None
        if below and ITEM.match(left[0][below.end() :]):
            below = None
        elif below and len(below[0]) > len(first) and not item:
            rest = below[0]  # a hanging indentation
        begun, *others = filled(words_of(line[len(first) :]), first, rest)
        made.append(begun)
        if below and others and below[0] == rest:
            overflow = " ".join(other[len(rest) :] for other in others)
            left[0] = f"{rest}{overflow} {left[0][len(rest) :]}"
        else:
            made += others
    return made


def lifted(code: str, comment: list[str], above: str | None) -> list[str]:
    """The line of code and the comment behind it, apart; ``above``: where the statement begins, in a line before."""
    text = " ".join(line.strip().removeprefix("*").strip() for line in comment)
    words = words_of(text.removeprefix("/*").strip())
    code = code.rstrip()
    if above is not None:
        code = f"{above} {code.strip()}"
    margin = re.match(r" *", code)[0]  # type: ignore[index]
    if code.endswith("{"):
        margin += "    "
        return [code, *filled(words, f"{margin}/* ", f"{margin} * ")]
    return [*filled(words, f"{margin}/* ", f"{margin} * "), code]


def wrapped(text: str) -> str:
    """The text with its comments wrapped, but for those in macros or between code."""
    lines = text.split("\n")
    for one in wide_comments(text):
        previous = lines[one.first - 1] if one.first else ""
        if one.after.strip() or previous.endswith("\\"):
            continue
        block = lines[one.first : one.last + 1]
        if not one.before.strip():
            lines[one.first : one.last + 1] = rewrapped(block)
            continue
        # clang-format breaks a declaration whose comment is too wide behind its type
        broken = re.fullmatch(r" *(const |static )*\w+\*?", previous) is not None
        comment = [block[0][len(one.before) :], *block[1:]]
        begin = one.first - 1 if broken else one.first
        lines[begin : one.last + 1] = lifted(one.before, comment, previous if broken else None)
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument(
        "--check", action="store_true", help="report wide comments and change nothing"
    )
    given = parser.parse_args()
    status = 0
    for path in given.files or c_files(ROOT):
        text = path.read_text(encoding="utf-8")
        made = text if given.check else wrapped(text)
        if made != text:
            path.write_text(made, encoding="utf-8")
        for one in wide_comments(made):
            print(f"{path}:{one.first + 1}: a comment wider than {WIDTH} columns")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())

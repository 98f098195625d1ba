"""What protocols outside the tree may call: the functions, tables and actions that the headers mark (GPC_API).

The script prints them by header. The package installs that page beside its headers, include/protocol-api.md, and
`make pages` writes it to build/pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from generated import table

ROOT = Path(__file__).resolve().parents[1]
CSRC = ROOT / "csrc"
# A marked declaration, with the comment before it and the one behind it.
_COMMENT = r"/\*(?:(?!\*/).)*\*/"
_MARKED = re.compile(
    rf"(?P<before>^{_COMMENT}\n)?^(?P<declared>GPC_API(?:_ACTION)?\b[^;]*);(?:[ ]*(?P<behind>{_COMMENT}))?",
    re.MULTILINE | re.DOTALL,
)
_ACTION = re.compile(r'^GPC_SHARED_ACTION\((\w+), ((?:\s*"(?:[^"\\]|\\.)*")+)\)', re.MULTILINE)

INTRODUCTION = """# What a protocol may call

The functions and actions that gpucoh exports to protocols outside the tree (docs/how-to/add-a-protocol.md), by header.
The headers are in csrc/, or in the folder include/ of the installed package; they also have inline functions, macros
and types. No version promises that the next one has the same.
"""


@dataclass(frozen=True)
class Marked:
    """A marked declaration.

    Attributes
    ----------
    header : str
        Its path below csrc.
    name : str
    signature : str
    text : str
        What it does, in one line; empty if neither it nor the declaration right above has a comment.
    """

    header: str
    name: str
    signature: str
    text: str


def headers() -> list[Path]:
    return sorted(path for path in CSRC.rglob("*.h") if path.name != "outside.h")


def action_texts() -> dict[str, str]:
    """What the actions of the framework do, as they are defined."""
    found = {}
    for path in sorted((CSRC / "controller").glob("*.c")):
        for name, strings in _ACTION.findall(path.read_text(encoding="utf-8")):
            found[name] = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', strings)).replace("\\", "")
    return found


def marked() -> list[Marked]:
    """Every marked declaration, by header."""
    texts = action_texts()
    return [one for path in headers() for one in marked_in(path, texts)]


def marked_in(path: Path, texts: dict[str, str]) -> Iterator[Marked]:
    header, end, text = path.relative_to(CSRC).as_posix(), 0, ""
    source = path.read_text(encoding="utf-8")
    for match in _MARKED.finditer(source):
        declared = " ".join(match["declared"].split())
        if action := re.fullmatch(r"GPC_API_ACTION\((\w+)\)", declared):
            yield Marked(header, action[1], action[1], texts.get(action[1], ""))
            end, text = match.end(), ""
            continue
        if own := match["behind"] or match["before"]:
            text = in_one_line(own)
        elif source[end : match.start()] != "\n":  # not of a group that one comment describes
            text = ""
        end = match.end()
        signature = re.sub(r"^GPC_API | ?GPC_MUST_CHECK|__attribute__.*", "", declared).strip()
        name = re.search(r"(\w+)(?:\(|$)", signature)
        assert name
        yield Marked(header, name[1], signature, text)


def in_one_line(comment: str) -> str:
    lines = comment.strip().removeprefix("/*").removesuffix("*/").splitlines()
    text = " ".join(line.strip().removeprefix("* ").strip() for line in lines).strip()
    return text[:1].upper() + text[1:]


def page() -> str:
    """The reference page."""
    parts = [INTRODUCTION]
    found = marked()
    for header in dict.fromkeys(one.header for one in found):
        rows = [(f"`{one.signature}`", one.text) for one in found if one.header == header]
        parts.append(f"## `{header}`\n\n{table(('declaration', 'what it does'), rows)}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    print(page(), end="")

"""Scoped tests that real GPUs have run: their programs, generated, and the public table of what was seen.

The programs vary four shapes of message passing through several threads (wrc, isa2, rwc, iriw) and one of stores
(2+2w) in the placement of threads in blocks, the scope of accesses, and what orders them; two more are examples from a
paper. ``hardware.csv`` holds, for each, whether PTX and a strengthened PTX allow the weak outcome, and the GPUs that
showed it: results of the public suite cuda-litmus (github.com/sohambagchi/cuda-litmus, ``pldi26-output/results.csv``).
"""

from __future__ import annotations

import csv
import functools
import importlib.resources
import itertools
from collections.abc import Mapping
from dataclasses import dataclass

from gpucoh.litmus.parser import parse
from gpucoh.litmus.syntax import Test

#: Letters in the table's column ``seen``.
GPUS = {"A": "A100", "H": "H100", "G": "GH200"}

#: Family -> its threads, each one access or two with the number of the place between them, and its condition.
_SHAPES = {
    "2+2w": ("Wx1 0 Wy2 | Wy1 1 Wx2", r"x == 1 /\ y == 1"),
    "wrc": (
        "Wx1 | Rx 1 Wy1 | Ry 2 Rx",
        r"P1:r0 == 1 /\ P2:r0 == 1 /\ P2:r1 == 0",
    ),
    "rwc": (
        "Wx1 | Rx 1 Ry | Wy1 2 Rx",
        r"P1:r0 == 1 /\ P1:r1 == 0 /\ P2:r0 == 0",
    ),
    "isa2": (
        "Wx1 0 Wy1 | Ry 1 Wz1 | Rz 2 Rx",
        r"P1:r0 == 1 /\ P2:r0 == 1 /\ P2:r1 == 0",
    ),
    "iriw": (
        "Wx1 | Rx 1 Ry | Wy1 | Ry 3 Rx",
        r"P1:r0 == 1 /\ P1:r1 == 0 /\ P3:r0 == 1 /\ P3:r1 == 0",
    ),
    "paper1": (
        "Wx1 0 Wy1 | Ry 1 Wz1 | Wz2 2 Ww1 | Rw 3 Rx",
        r"P1:r0 == 1 /\ z == 2 /\ P3:r0 == 1 /\ P3:r1 == 0",
    ),
    "paper2": (
        "Wx1 0 Wy1 | Ry 1 Rz | Wz1 2 Ww1 | Rw 3 Rx",
        r"P1:r0 == 1 /\ P1:r1 == 0 /\ P3:r0 == 1 /\ P3:r1 == 0",
    ),
}

FAMILIES = tuple(_SHAPES)


def text(name: str) -> str:
    """The program of an id, ``family.placement.scope.variant[.scope of fences]``, in the public format.

    Placement ``01_2``: threads 0 and 1 in one block, 2 in another. The variant names what orders the numbered places,
    thread by thread: ``acq`` the access before one, ``rel`` the access after it, ``F1`` a fence at place 1, ``SC2`` an
    sc fence, ``scst`` and ``scld`` an sc store and an sc load beside it, ``sc`` all of them, ``rlx`` nothing.
    """
    family, placement, scope, variant, *more = name.split(".")
    shape, condition = _SHAPES[family]
    blocks = {
        int(thread): block
        for block, threads in enumerate(placement.split("_"))
        for thread in threads
    }
    rows = [row.split() for row in shape.split("|")]
    ways = _ways(variant, [row[1] for row in rows if len(row) > 1])
    columns = [
        [f"P{thread}@cta {blocks[thread]},gpu 0", *_code(row, ways, scope, *more)]
        for thread, row in enumerate(rows)
    ]
    lines = [" | ".join(line) + " ;" for line in itertools.zip_longest(*columns, fillvalue="")]
    used = sorted({access[1] for row in rows for access in row[::2]})
    places = "; ".join(f"{location}=0" for location in used)
    fences = f", fences of scope {more[0]}" if more else ""
    about = f'"{family}, {variant}, accesses of scope {scope}, blocks {placement}{fences}"'
    return "\n".join([f"PTX {name}", about, f"{{ {places}; }}", *lines, f"exists ({condition})"])


def _ways(variant: str, places: list[str]) -> dict[str, str]:
    """How each numbered place is ordered; what the variant leaves over is like the last one, else an acquire."""
    words = variant.split("+")
    out = {
        place: word[:-1] if word[0] == "S" else "F"
        for word in words
        if word[0] in "FS"
        for place in word[1:]
    }
    named = [word for word in words if word[0] not in "FS"]
    for place in places:
        if place not in out:
            out[place] = named.pop(0) if len(named) > 1 else (named or ["acq"])[0]
    return out


def _code(row: list[str], ways: dict[str, str], scope: str, fences: str = "") -> list[str]:
    """The instructions of one thread."""
    if len(row) == 1:
        return [_access(row[0], "relaxed", scope, 0)]
    way = ways[row[1]]
    stores = [access[0] == "W" for access in (row[0], row[2])]
    strong = ["release" if store else "acquire" for store in stores]
    orders = [
        strong[0] if way in ("acq", "sc") else "relaxed",
        strong[1] if way in ("rel", "scld", "sc") else "relaxed",
    ]
    fence = {
        "F": f"fence.acq_rel.{fences}",
        "SC": f"fence.sc.{fences}",
        "scst": f"fence.sc.{scope}",
        "scld": f"fence.sc.{scope}",
        "sc": "fence.sc.sys",
    }.get(way)
    first = _access(row[0], orders[0], scope, 0)
    second = _access(row[2], orders[1], scope, 0 if stores[0] else 1)
    if fence is None or (way == "sc" and row[1] == "3"):
        return [first, second]
    leads = way == "scst" or (way == "sc" and stores[0])
    return [fence, first, second] if leads else [first, fence, second]


def _access(what: str, order: str, scope: str, register: int) -> str:
    location = what[1]
    if what[0] == "W":
        return f"st.{order}.{scope} {location}, {what[2]}"
    return f"ld.{order}.{scope} r{register}, {location}"


@dataclass(frozen=True)
class Fact:
    """What is known of one program.

    Attributes
    ----------
    base, strengthened : bool
        Whether PTX, and the strengthened PTX, allow the weak outcome.
    ran : bool
        Whether the GPUs executed it: the original runs of one placement were void.
    seen : tuple of str
        The GPUs that showed the weak outcome.
    """

    base: bool
    strengthened: bool
    ran: bool
    seen: tuple[str, ...]


@functools.cache
def facts() -> Mapping[str, Fact]:
    """Id of the program -> fact."""
    file = importlib.resources.files("gpucoh.litmus") / "hardware.csv"
    rows = csv.DictReader(
        line for line in file.read_text(encoding="utf-8").splitlines() if line[:1] != "#"
    )
    return {
        row["id"]: Fact(
            row["base"] == "1",
            row["strengthened"] == "1",
            row["seen"] != "void",
            tuple(GPUS[letter] for letter in row["seen"] if letter in GPUS),
        )
        for row in rows
    }


@functools.cache
def programs() -> Mapping[str, Test]:
    """Id -> test, for every program of the families."""
    return {name: parse(text(name), name) for name in facts()}

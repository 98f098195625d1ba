"""Does exploration enter every cell of the tables with a store buffer (gpu-*, denovo-*)?

    python tools/cells.py [ID ...]

The random tester's programs have no data races, and a machine delivers most messages in order, so that it never enters
some cells; protocols declare those (`uncovered`). The programs below race, and their messages arrive in any order.
Prints the cells that nothing enters; exit status 1 if there are any.
"""

from __future__ import annotations

import sys
from dataclasses import replace

from gpucoh.device.gpu import protocols
from gpucoh.device.protocols import Protocol
from gpucoh.verify.explorer import explore, small_choice
from gpucoh.verify.programs import parse

#: Those for programs without races.
PROTOCOLS = [name for name, known in protocols().items() if {"drf", "hrf"} & set(known.models)]
#: A store to an array that the kernel declares read-only: no launch that is accepted has one.
NEVER = {("VO", "STORE")}
MOST_STATES = 25_000

#: Largest number of spontaneous evictions, and programs.
SPREAD = [
    (2, "0: ld x; st x 1; ld.relaxed x | 0: st x 2; ld x | 1: st.relaxed x 3"),
    (2, "0: ld x | 0: ld.acquire z; st x 2; ld x; ld.relaxed x | 1: st x 3"),
    (1, "0: st x 1; st x 2; st x 3; ld x | 0: add x 1 | 0: add x 1"),
    (2, "0: st x 1; F; ld x | 0: F; F; ld x; ld.relaxed x | 1: ld x"),
    (1, "0: st x 1 | 1: ld x | 2: add x 1"),
    (4, "0: st x 1 | 1: st x 2; ld x"),
    (1, "0: st x 1; kernel | 1: ld x; kernel"),
]
#: The same, with two variables on a line.
PACKED = [
    (2, "0: add x 1 | 0: st x 2; ld x | 1: ld y; st x 3"),
    (2, "0: st x 1; ld y; ld x; st x 2; ld.relaxed x | 1: st x 3"),
    (2, "0: st x 1; F; ld y; st x 4; ld.relaxed x | 1: add x 1; add y 1; ld x"),
    (1, "0: ld y | 0: add x 1; F; ld.acquire y | 1: st y 1"),
    (0, "0: ld x; st x 1; st y 2; F | 0: ld y; F; st y 3; F"),
    (0, "0: ld x | 0: ld y | 0: F"),
]
LOCAL = [
    (2, "0: ld x | 0: add.cu x 1; st x 3; add.cu x 1 | 1: st x 3"),
    (0, "0: ld x | 0: F; add.cu x 1 | 0: F; st x 3; add.cu x 1"),
    (2, "0: add x 1; add.cu x 1; st x 1; add.cu x 1 | 0: add.cu x 1 | 1: add x 1"),
    (0, "0: add.cu x 1 | 0: F | 0: add x 1"),
]
#: Accesses of 64 bits, whose words a core asks for one by one, or owns one of.
WIDE = [
    (0, "0: add x+0 1; add x+4 1 | 0: add.b64 x 1 | 1: add x+4 1"),
    (0, "0: add x+0 1; add.b64 x 1 | 1: add x+4 1; add.b64 x 1"),
]
READ_ONLY = [
    (0, "0: ld x; ld.ro x; ld x; F; ld.ro x | 0: F; ld.ro x; ld.relaxed x"),
    (2, "0: ld.ro x; kernel; ld x | 1: kernel; st x 1"),
    (1, "0: st x 1; kernel; ld.ro x; ld.ro x | 1: kernel; ld x; ld.relaxed x"),
]
PACKED_READ_ONLY = [(0, "0: ld.ro x; ld x | 0: ld y; F; ld y | 0: F")]


def programs(name: str) -> list[tuple[bool, int, str]]:
    """Programs for a protocol: whether two variables share a line, evictions, the text."""
    spread, packed = [*SPREAD], [*PACKED]
    if "hrf" in protocols()[name].models:
        spread += LOCAL
    if name.startswith("denovo"):
        spread += WIDE
    if name == "denovo-ro":
        spread += READ_ONLY
        packed += PACKED_READ_ONLY
    return [(False, *one) for one in spread] + [(True, *one) for one in packed]


def entered(name: str) -> dict[str, set[int]]:
    """The entered cells of each table."""
    out: dict[str, set[int]] = {}
    for packed, evictions, text in programs(name):
        program = replace(parse(text), packed=packed)
        found = explore(small_choice(name), program, evictions=evictions, max_states=MOST_STATES)
        if found["violations"]:
            raise SystemExit(f"{name}: {found['violations'][0]['what']} in {text}")
        for table, cells in found["cells"].items():
            out.setdefault(table, set()).update(cells)
    return out


def missed(protocol: Protocol, found: dict[str, set[int]]) -> list[str]:
    """The names of the cells that were not entered."""
    out = []
    for name, table in protocol.controllers.items():
        for cell in table.cells():
            number = table.states.index(cell.state) * len(table.events) + table.events.index(
                cell.event
            )
            if number not in found[name] and (cell.state, cell.event) not in NEVER:
                out.append(f"{name} {cell.state} {cell.event}")
    return out


def main(names: list[str]) -> int:
    status = 0
    for name in names or PROTOCOLS:
        protocol = protocols()[name]
        left = missed(protocol, entered(name))
        cells = sum(len(list(table.cells())) for table in protocol.controllers.values())
        print(f"{name}: {cells - len(left)} of {cells} cells entered", *left, sep="\n    ")
        status |= bool(left)
    return status


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

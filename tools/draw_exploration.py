"""Print an exploration of a C test, read as JSON from standard input, with the drawing of its violation.

The C tests run ``python tools/draw_exploration.py`` when an exploration fails (``csrc/tests/explorations.h``). It needs
the package's sources only, neither the extension nor other packages: the tests of ``make asan`` draw as well.
"""

from __future__ import annotations

import json
import sys
import types
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[1]

if not TYPE_CHECKING and "gpucoh" not in sys.modules:  # the package imports its extension
    sys.modules["gpucoh"] = types.ModuleType("gpucoh")
    sys.modules["gpucoh"].__path__ = [str(ROOT / "gpucoh")]

from gpucoh.verify.diagrams import draw, node_names  # noqa: E402
from gpucoh.verify.programs import KINDS, VARIABLES, Operation, Program, Thread  # noqa: E402

ANY_NUMBER = 2**32 - 1  # of evictions
WIDTH = 200  # of a line of text
MOST_OUTCOMES = 8  # printed


def operation(row: list[Any]) -> Operation:
    """One operation, from the members of ``gpc_explore_op_t``."""
    number, order, scope, variable, value, read_only, source, adds = row
    kind = next(name for name, code in KINDS.items() if code == number)
    if kind == "ld" and value:
        kind = "await"
    older = source - 1 if source else None
    return Operation(kind, variable, value, order, scope, bool(read_only), older, bool(adds))


def program_of(what: Mapping[str, Any]) -> Program:
    """The program and its setting."""
    threads = tuple(Thread(core, tuple(map(operation, rows))) for core, rows in what["threads"])
    return Program("", threads, what["variables"], packed=bool(what["packed"]))


def setting(what: Mapping[str, Any]) -> str:
    """Cores, lines, copies at the start, evictions, and fields of the machine."""
    names = VARIABLES[: what["variables"]]
    each = 2 if what["packed"] else 1
    lines = [names[at : at + each] for at in range(0, len(names), each)]
    parts = [f"{what['cores']} cores", f"lines {' '.join(lines)}"]
    for core in range(what["cores"]):
        warm = what["warm"] >> core * len(names)
        copies = [name for number, name in enumerate(names) if warm >> number & 1]
        if copies:
            parts.append(f"core {core} begins with {' '.join(copies)}")
    if what["evictions"]:
        most = what["evictions"]
        parts.append("any evictions" if most == ANY_NUMBER else f"{most} evictions")
    parts += ["tight"] if what["tight"] else []
    fields = {"timestamp_bits": what["timestamp_bits"]} if what["timestamp_bits"] else {}
    parts += [f"{name} = {value}" for name, value in (fields | what["fields"]).items()]
    return ", ".join(parts)


def result(what: Mapping[str, Any], program: Program) -> Iterator[str]:
    """The violation and its drawing, or the outcomes."""
    found = what["found"]
    for violation in found["violations"][:1]:
        yield f"{violation['kind']}: {violation['what']}"
        yield from draw(program, node_names(violation, program), violation["trace"]).splitlines()
    if not found["violations"]:
        rows = [" ".join(map(str, row)) for row in found["outcomes"]]
        more = f"; {len(rows) - MOST_OUTCOMES} more" if len(rows) > MOST_OUTCOMES else ""
        yield f"{found['states']} states, complete: {found['complete']}".lower()
        yield from (f"limit: {limit}" for limit in found["limits"])
        yield f"outcomes: {'; '.join(rows[:MOST_OUTCOMES])}{more}"


def described(what: Mapping[str, Any]) -> list[str]:
    """What a failing test prints: ``what["lines"]`` lines at most, of which a long drawing loses its middle."""
    options = ",".join(f"{name}={value}" for name, value in what["options"].items())
    program = program_of(what)
    lines = [
        f"protocol {what['protocol']}{f'[{options}]' if options else ''}, consistency {what['rule']}",
        f"program {program}",
        f"setting {setting(what)}",
        *result(what, program),
    ]
    lines = [line.splitlines()[0][:WIDTH] for line in lines]
    most, begin = what["lines"], 12
    if len(lines) > most:
        left = f"    .. {len(lines) - most + 1} rows"
        lines[begin : begin + len(lines) - most + 1] = [left]
    return lines


if __name__ == "__main__":
    for described_line in described(json.load(sys.stdin)):
        print(f"#   {described_line}".rstrip(), file=sys.stderr)

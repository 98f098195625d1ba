"""Write the pages of verification: ``verification_pages.py FOLDER [ID ...] [--states N]`` (``make pages``).

FOLDER gets the checkers that catch each planted bug (planted-bugs.md), the drawings of literal readings that break
(literal-readings.md), and the states that the explorer visits for each protocol (explored-states.md). With ids, the
pages are of these planted bugs and protocols alone. Without a FOLDER, the script writes the examples of
docs/verification.md, which are parts of these pages.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import generated
import mutants
import planted_bugs
from generated import table

STATES = 500_000
PAGE = planted_bugs.ROOT / "docs" / "verification.md"
#: The planted bugs, the protocol and its rule that docs/verification.md shows.
BUG, READING, PROTOCOL, RULE = "gpu-vi!load-before-fill", "gpu-vi!w2", "no-l1", "sc"

INTRODUCTIONS = {
    "planted-bugs": """# Planted bugs

Each row is a planted bug with the checkers that catch it: the program, the setting and the number of steps of a
shortest execution (verify), a workload under monitors, a litmus test, a number of operations of the random tester.
""",
    "literal-readings": """# Literal readings that break

Papers leave some cells, comparisons and merges open, and print some that do not hold. For each of these readings the
explorer found an execution that the model forbids or that violates an invariant. Each drawing is a shortest such
execution of its program. Columns are cores, L2 banks and memory. A box is an operation (`thread: operation`), an
eviction or the end of a wait. An arrow is a message that arrives, with its line, lease and words; the state changes
that it causes are at the right. `ts` is a timestamp: the last cycle of a lease.
""",
    "explored-states": """# States that the explorer visits

At most {states:,} states per protocol and rule, at the default bounds of `gpucoh verify`. Cells: the transitions of the
controllers' tables that were entered.
""",
}


def explorable() -> dict[str, Any]:
    """The protocols that are no planted bugs: id -> Protocol."""
    from gpucoh.device.gpu import protocols

    return {name: item for name, item in protocols().items() if "!" not in name}


def caught_by(row: dict[str, Any]) -> str:
    """The checkers that catch a planted bug, and where."""
    caught = []
    if found := row.get("verify"):
        where = [found["name"] + found.get("options", ""), found["setting"]]
        where += [f"{key}={value}" for key, value in found.get("set", {}).items()]
        caught.append(
            f"verify: {found['kind']} in {', '.join(filter(None, where))}, {found['steps']} steps"
        )
    if found := row.get("monitors"):
        caught.append(f"monitors: `{found['workload']}`{found.get('options', '')}")
    if found := row.get("litmus"):
        caught.append(f"litmus: {found['test']}{found.get('options', '')}")
    if found := row.get("fuzz"):
        caught.append(f"random tester: {found['ops']:,} operations{found.get('options', '')}")
    return "; ".join(caught) or "nothing"


def bugs(names: Collection[str]) -> str:
    """A row for each planted bug."""
    notes, rows = planted_bugs.read_notes(), []
    for name, protocol in planted_bugs.planted().items():
        if name in names:
            reading = protocol.paper != planted_bugs.ORDINARY
            text = f" *Literal reading: {protocol.paper}.*" if reading else ""
            what = f"{protocol.json['text']}.{text}"
            rows.append((f"`{name}`", what, caught_by(notes.get(name, {}))))
    return table(("planted bug", "what is wrong", "caught by"), rows)


def drawing(name: str, protocol: Any, checker: str, note: dict[str, Any]) -> str:
    """A shortest execution in which a literal reading breaks."""
    from gpucoh.verify.diagrams import draw
    from gpucoh.verify.explorer import node_names

    program = planted_bugs.program_of(note)
    found = planted_bugs.CHECKERS[checker](name, note)
    if found is None:
        raise SystemExit(f"{name}: {checker} no longer catches it (tools/planted_bugs.py --find)")
    drawn = draw(program, node_names(found, program), found["trace"])
    drawn = re.sub(r"^", "    ", drawn, flags=re.MULTILINE)
    words = (note.get("options", "").strip("[]"), note["setting"])
    setting = f" ({', '.join(filter(None, words))})" if any(words) else ""
    return (
        f"**`{name}`**: {protocol.json['text']}.\n\nThe reading: {protocol.paper}.\n\n"
        f"Program {note['name']}{setting}: `{note['program']}`. "
        f"{found['kind'].capitalize()}: {found['what']}.\n\n{drawn}"
    )


def drawings(names: Collection[str]) -> str:
    """A drawing for each literal reading."""
    notes, parts = planted_bugs.read_notes(), []
    for name, protocol in planted_bugs.planted().items():
        row = notes.get(name, {})
        checker = "consequence" if "consequence" in row else "verify"
        if name in names and protocol.paper != planted_bugs.ORDINARY and checker in row:
            parts.append(drawing(name, protocol, checker, row[checker]))
    return "\n\n".join(parts)


def moving(protocol: Any, controller: str) -> set[int]:
    """Numbers of the cells with a transition in a controller's first table."""
    cells = protocol.controllers[controller]
    return {
        cells.states.index(cell.state) * len(cells.events) + cells.events.index(cell.event)
        for cell in cells.cells()
        if cell.next
    }


def explored(name: str, protocol: Any, rule: str, most: int) -> tuple[str, ...]:
    """A protocol's row under a rule."""
    from gpucoh.verify.explorer import verify

    found = verify(name, consistency=rule, max_states=most)
    if found.violations:
        raise SystemExit(f"{name}, {rule}: violated")
    cells = ((table, moving(protocol, table), set(cells)) for table, cells in found.cells.items())
    entered = ", ".join(f"{table} {len(seen & all_)} of {len(all_)}" for table, all_, seen in cells)
    done = "all" if found.complete else f"{found.explored:,} of"
    numbers = (f"{found.states:,}", f"{found.transitions:,}", str(found.depth))
    return (f"`{name}`", rule, found.model, *numbers, f"{done} {found.programs:,}", entered)


def states(names: Collection[str], most: int, rules: Collection[str] = ()) -> str:
    """A row for each protocol and rule, or these rules."""
    rows = [
        explored(name, protocol, rule, most)
        for name, protocol in explorable().items()
        if name in names
        for rule in sorted(protocol.models)
        if not rules or rule in rules
    ]
    head = ("protocol", "rule", "model", "states", "transitions", "depth", "programs")
    return table((*head, "cells entered"), rows)


def write(folder: Path, names: Collection[str], most: int) -> None:
    """Write the three pages."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = {
        "planted-bugs": bugs(names),
        "literal-readings": drawings(names),
        "explored-states": states(names, most),
    }
    for page, text in parts.items():
        begin = INTRODUCTIONS[page].format(states=most)
        (folder / f"{page}.md").write_text(f"{begin}\n{text}\n", encoding="utf-8")
        print(folder / f"{page}.md")


#: The examples of docs/verification.md, by part.
EXAMPLES: dict[str, Callable[[], str]] = {
    "planted bug": lambda: bugs([BUG]),
    "literal reading": lambda: drawings([READING]),
    "explored states": lambda: states([PROTOCOL], STATES, [RULE]),
}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("folder", metavar="FOLDER", nargs="?", type=Path)
    parser.add_argument("ids", metavar="ID", nargs="*")
    parser.add_argument("--states", type=int, default=STATES)
    given = parser.parse_args(arguments)
    known = [*planted_bugs.planted(), *explorable()]
    if unknown := [name for name in given.ids if name not in known]:
        raise SystemExit(f"{unknown[0]}: neither a planted bug nor a protocol")
    if given.folder is None:
        generated.rewrite_named(PAGE, EXAMPLES)
    else:
        write(given.folder, given.ids or known, given.states)


if __name__ == "__main__":
    mutants.add()
    main()

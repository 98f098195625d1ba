"""Which checkers catch which planted bug: ``planted.toml`` beside each family's ``planted.c``.

    python tools/planted_bugs.py --find [ID ...]    try the checkers on all planted bugs or these; note what catches
    python tools/planted_bugs.py --check            repeat every noted catch (make proof)

A row of such a file is a planted bug; its members are the checkers that catch it: ``verify`` (program, setting, rule,
options, fields of the machine, steps of the shortest execution), ``consequence`` (the same without invariants: a wrong
value), ``monitors`` (workload, options), ``litmus`` (test, largest number of runs, options), ``fuzz`` (number of
operations, options). A new checker needs a member and a function in CHECKERS and in SEARCHES. ``--find`` explores a
planted bug with the options and fields of its row, tries every built-in litmus test, runs some workloads with monitors,
and tries the random tester where these find nothing. It keeps a note that still catches the bug, and names the bugs
that nothing catches.
"""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mutants
import tomli_w

ROOT = Path(__file__).resolve().parents[1]
#: The lists of planted bugs; the notes of each are beside it.
LISTS = [
    *sorted((ROOT / "csrc" / "protocols").glob("*/planted.c")),
    ROOT / "csrc" / "tests" / "example_planted.c",
]
ORDINARY = "an ordinary mistake"
LITMUS_RUNS = 500  # of each test, in a search
FUZZ_OPERATIONS = 20_000  # a few seconds
WORKLOADS = (
    "bfs",
    "bfs-mask",
    "stn",
    "bh",
    "cl",
    "cc",
    "dlb",
)  # they caught most of the bugs that monitors catch


def notes_of(source: Path) -> dict[str, dict[str, Any]]:
    """What catches the bugs of a list."""
    notes = source.with_suffix(".toml")
    return tomllib.loads(notes.read_text(encoding="utf-8")) if notes.exists() else {}


def read_notes() -> dict[str, dict[str, Any]]:
    return {name: row for source in LISTS for name, row in notes_of(source).items()}


def write_note(name: str, row: dict[str, Any]) -> None:
    """Replace what catches a planted bug."""
    source = next(one for one in LISTS if f'"{name}"' in one.read_text(encoding="utf-8"))
    notes = notes_of(source) | {name: row}
    text = tomli_w.dumps({name: row for name, row in sorted(notes.items()) if row})
    source.with_suffix(".toml").write_text(text, encoding="utf-8")


def planted() -> dict[str, Any]:
    """Every planted bug: id -> Protocol."""
    from gpucoh.device.gpu import protocols

    return {name: protocol for name, protocol in protocols().items() if "!" in name}


def program_of(note: dict[str, Any]) -> Any:
    from gpucoh.verify.programs import parse

    words = [word for word in note.get("setting", "").split(", ") if word]
    program = parse(note["program"], note["name"])
    changes = {word: True for word in words if word != "no evictions"}
    from dataclasses import replace

    evictions = "no evictions" not in words and "tight" not in words
    return replace(program, evictions=evictions, **changes)


# ---- checkers: (id, note) -> the finding, or None


def check_verify(name: str, note: dict[str, Any]) -> dict[str, Any] | None:
    """The first violation of the noted program."""
    from gpucoh.verify.explorer import explore, small_choice
    from gpucoh.verify.oracle import allowed_outcomes

    choice, program = small_choice(name + note.get("options", "")), program_of(note)
    allowed = allowed_outcomes(program, choice.protocol.model(note["rule"]))
    fields = note.get("set", {})
    found = explore(choice, program, consistency=note["rule"], allowed=allowed, fields=fields)
    return found["violations"][0] if found["violations"] else None


def check_consequence(name: str, note: dict[str, Any]) -> dict[str, Any] | None:
    """The first violation of the noted program if the protocol's own invariants are not checked."""
    from gpucoh.verify.explorer import explore, small_choice
    from gpucoh.verify.oracle import allowed_outcomes

    choice, program = small_choice(name + note.get("options", "")), program_of(note)
    allowed = allowed_outcomes(program, choice.protocol.model(note["rule"]))
    found = explore(choice, program, consistency=note["rule"], allowed=allowed, invariants=False)
    return found["violations"][0] if found["violations"] else None


def check_monitors(name: str, note: dict[str, Any]) -> dict[str, Any] | None:
    """A run with check=True that a monitor or the race detector ends."""
    import gpucoh

    try:
        result = gpucoh.run(
            note["workload"],
            protocol=name + note.get("options", ""),
            scale="tiny",
            check=True,
            set=note.get("set", {}),
        )
    except gpucoh.SimulationError as error:
        return {"what": str(error)}
    return None if result.correct else {"what": "wrong result"}


def check_litmus(name: str, note: dict[str, Any]) -> dict[str, Any] | None:
    from gpucoh.litmus import run_test

    result = run_test(note["test"], name + note.get("options", ""), runs=note["runs"])
    why = result.reason or "; ".join(result.forbidden[:1])
    return None if result.ok else {"what": why}


def check_fuzz(name: str, note: dict[str, Any]) -> dict[str, Any] | None:
    """The first failure of the random tester with seed 0."""
    from gpucoh.fuzz import fuzz_many

    (report,) = fuzz_many([name + note.get("options", "")], ops=note["ops"])
    return {"what": report.failures[0]["text"]} if report.failures else None


CHECKERS: dict[str, Callable[[str, dict[str, Any]], dict[str, Any] | None]] = {
    "verify": check_verify,
    "consequence": check_consequence,
    "monitors": check_monitors,
    "litmus": check_litmus,
    "fuzz": check_fuzz,
}


# ---- commands


def first_violation(
    name: str, protocol: Any, invariants: bool, row: dict[str, Any]
) -> dict[str, Any] | None:
    """The explorer's first violation, with the options and fields of the machine that the row has."""
    from gpucoh.verify.explorer import verify

    given = {key: row["verify"][key] for key in ("options", "set") if key in row.get("verify", {})}
    options, fields = given.get("options", ""), given.get("set", {})
    for rule in sorted(protocol.models, key=lambda rule: rule != protocol.default_rule):
        result = verify(name + options, consistency=rule, invariants=invariants, set=fields)
        if result.violations:
            first = result.violations[0]
            return given | {
                "name": first.program.name,
                "program": str(first.program),
                "setting": first.program.setting,
                "rule": rule,
                "kind": first.kind,
                "steps": len(first.trace),
                "states": result.states,
            }
    return None


def find_verify(name: str, protocol: Any, row: dict[str, Any]) -> dict[str, Any] | None:
    return first_violation(name, protocol, True, row)


def find_consequence(name: str, protocol: Any, row: dict[str, Any]) -> dict[str, Any] | None:
    """Of literal readings, the wrong value that a violated invariant causes."""
    if protocol.paper == ORDINARY or row.get("verify", {}).get("kind") != "invariant":
        return None
    return first_violation(name, protocol, False, row)


def find_litmus(name: str, protocol: Any, row: dict[str, Any]) -> dict[str, Any] | None:
    """The first built-in litmus test that catches it."""
    from gpucoh.litmus import builtins

    notes = ({"test": test, "runs": LITMUS_RUNS} for test in builtins())
    return next((note for note in notes if check_litmus(name, note)), None)


def find_monitors(name: str, protocol: Any, row: dict[str, Any]) -> dict[str, Any] | None:
    """The first of some workloads in which a monitor or the race detector catches it."""
    fields = {"dies": protocol.dies, "gpus": protocol.gpus, "page_kib": 4}
    if protocol.gpus == 1:
        del fields["gpus"]
    shared = {"set": fields} if protocol.dies > 1 else {}
    notes = ({"workload": workload} | shared for workload in WORKLOADS)
    return next((note for note in notes if check_monitors(name, note)), None)


def find_fuzz(name: str, protocol: Any, row: dict[str, Any]) -> dict[str, Any] | None:
    """The random tester, where nothing else catches it."""
    note = {"ops": FUZZ_OPERATIONS}
    return note if not row and check_fuzz(name, note) else None


SEARCHES: dict[str, Callable[[str, Any, dict[str, Any]], dict[str, Any] | None]] = {
    "verify": find_verify,
    "consequence": find_consequence,
    "litmus": find_litmus,
    "monitors": find_monitors,
    "fuzz": find_fuzz,
}
# The explorer's shortest execution depends on the tables, so a search replaces what is noted.
REPLACED = ("verify", "consequence")


def found_by(name: str, protocol: Any, row: dict[str, Any]) -> dict[str, Any]:
    """What catches a planted bug: checker -> note. ``row`` is what was noted of it."""
    made: dict[str, Any] = {}
    for checker, search in SEARCHES.items():
        kept = row.get(checker)
        if kept and checker not in REPLACED and CHECKERS[checker](name, kept):
            made[checker] = kept
        elif note := search(name, protocol, row | made):
            made[checker] = note
        elif kept and checker in REPLACED and CHECKERS[checker](name, kept):
            made[checker] = kept
    return made


def find(names: list[str]) -> int:
    """Search and note what catches each planted bug; status 1: nothing catches one."""
    known = planted()
    for unknown in set(names) - set(known):
        print(f"unknown planted bug {unknown!r} (`python tools/mutants.py` lists them)")
        return 2
    nothing, missed = f"nothing catches it (tried: {', '.join(SEARCHES)})", []
    for name in names or known:
        made = found_by(name, known[name], read_notes().get(name, {}))
        caught = "; ".join(f"{checker}: {note}" for checker, note in made.items())
        print(f"{name:<45} {caught or nothing}", flush=True)
        if not made:
            missed.append(name)
        write_note(name, made)
    return 1 if missed else 0


def check() -> int:
    missed = 0
    for name, row in read_notes().items():
        for checker, note in row.items():
            if checker in CHECKERS and not CHECKERS[checker](name, note):
                print(f"{name}: {checker} no longer catches it")
                missed += 1
    for name in planted():
        if not read_notes().get(name):
            print(f"{name}: nothing catches it")
            missed += 1
    print(f"{len(planted())} planted bugs, {missed} catches missed")
    return 1 if missed else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--find", nargs="*", metavar="ID")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    mutants.add()
    status = 0
    if arguments.find is not None:
        status |= find(arguments.find)
    if arguments.check:
        status |= check()
    return status


if __name__ == "__main__":
    raise SystemExit(main())

"""Which tools find the faults of public projects: ``tests/verification/real_bugs.toml`` and ``docs/real-bugs.md``.

    python tools/real_bugs.py --find [THREAD ...]   try the tools on all bugs or these; note what finds them, and when
    python tools/real_bugs.py --docs                write the table of docs/real-bugs.md

A planted bug is given to ``verify``, ``fuzz``, the built-in litmus tests, and workloads with ``--check``. A program is
run under every coherent protocol, and with ``--check``: the other tools look for faults of protocols.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import generated
import mutants
import planted_bugs
import tomli_w

ROOT = Path(__file__).resolve().parents[1]
FACTS = ROOT / "tests" / "verification" / "real_bugs.toml"
PROGRAMS = ROOT / "tests" / "verification" / "faulty_programs.py"
PAGE = ROOT / "docs" / "real-bugs.md"
OPERATIONS = 60_000  # of the random tester
DEADLOCK_AFTER = 200_000  # core cycles
CHECKED_UNDER = "mesi"


def read_facts() -> list[dict[str, Any]]:
    """The bugs, in the page's order."""
    bugs: list[dict[str, Any]] = tomllib.loads(FACTS.read_text(encoding="utf-8"))["bug"]
    return bugs


def programs() -> Any:
    """The module of faulty programs."""
    spec = importlib.util.spec_from_file_location(PROGRAMS.stem, PROGRAMS)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[PROGRAMS.stem] = module  # a workload is found by its module and name
    spec.loader.exec_module(module)
    return module


# ---- planted bugs: name -> what the tool says, or None


def by_verify(name: str) -> str | None:
    protocol = planted_bugs.planted()[name]
    found = planted_bugs.first_violation(name, protocol, True, {})
    return f"{found['kind']} in {found['name']}" if found else None


def by_fuzz(name: str) -> str | None:
    from gpucoh.fuzz import fuzz

    report = fuzz(name, ops=OPERATIONS, shrink=False)
    return "found" if report.failures else None


def by_litmus(name: str) -> str | None:
    found = planted_bugs.find_litmus(name, planted_bugs.planted()[name], {})
    return str(found["test"]) if found else None


def by_check(name: str) -> str | None:
    found = planted_bugs.find_monitors(name, planted_bugs.planted()[name], {})
    return f"`{found['workload']}`" if found else None


# ---- programs


def outcome(program: str, protocol: str, *, mended: bool = False, check: bool | str = False) -> str | None:  # fmt: skip
    """What is wrong with a run of a program, in a word; None: nothing."""
    import gpucoh

    try:
        run = gpucoh.run(
            getattr(programs(), program),
            protocol=protocol,
            scale="tiny",
            params={"mended": int(mended)},
            check=check,
            deadlock_after=DEADLOCK_AFTER,
        )
    except gpucoh.DeadlockError:
        return "hangs"
    except gpucoh.SimulationError as error:
        return "race" if "data race" in str(error) else str(error)
    return None if run.correct else "wrong"


def coherent() -> list[str]:
    """The package's protocols that promise a memory model, without those of libraries and files that are loaded."""
    from gpucoh.device.gpu import protocols
    from gpucoh.device.outside import codes

    loaded = codes()
    return [
        name
        for name, known in protocols().items()
        if known.models[known.default_rule] != "none" and name not in loaded
    ]


def by_run(program: str) -> str | None:
    """The protocols under which a program is wrong."""
    wrong: dict[str, list[str]] = {}
    for protocol in coherent():
        if what := outcome(program, protocol):
            wrong.setdefault(what, []).append(f"`{protocol}`")
    return "; ".join(f"{what} under {', '.join(names)}" for what, names in wrong.items()) or None


def by_race(program: str) -> str | None:
    return outcome(program, CHECKED_UNDER, check=True)


FINDERS: dict[str, dict[str, Callable[[str], str | None]]] = {
    "planted": {"verify": by_verify, "fuzz": by_fuzz, "litmus": by_litmus, "check": by_check},
    "program": {"run": by_run, "check": by_race},
}


def find(wanted: list[str]) -> int:
    """Try the tools and note what they find."""
    bugs = read_facts()
    if unknown := set(wanted) - {bug["thread"] for bug in bugs}:
        print(f"unknown thread {min(unknown)!r}: {FACTS.name} has the known ones")
        return 2
    for bug in bugs:
        if wanted and bug["thread"] not in wanted:
            continue
        for kind, finders in FINDERS.items():
            if kind not in bug:
                continue
            bug["found"] = {}
            for tool, finder in finders.items():
                start = time.perf_counter()
                what = finder(bug[kind])
                seconds = time.perf_counter() - start
                bug["found"][tool] = {"what": what or "", "seconds": round(seconds, 1)}
        print(bug["thread"], bug.get("found", bug.get("missing")), flush=True)
    comments = [
        line for line in FACTS.read_text(encoding="utf-8").splitlines() if line.startswith("#")
    ]
    FACTS.write_text("\n".join(comments) + "\n\n" + tomli_w.dumps({"bug": bugs}), encoding="utf-8")
    return 0


def _cell(note: dict[str, Any] | None) -> str:
    if note is None:
        return ""
    return f"{note['what'] or 'not found'} ({note['seconds']:g} s)"


def table() -> str:
    """The page's table: a row a bug."""
    lines = [
        "| thread | what was wrong | here | run | `--check` | verify | fuzz | litmus |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for bug in read_facts():
        project, number = bug["thread"].split("#")
        link = f"[{bug['thread']}](https://github.com/{project}/issues/{number})"
        here = f"`{bug['planted']}`" if "planted" in bug else bug.get("program", "")
        found = bug.get("found", {})
        cells = [_cell(found.get(tool)) for tool in ("run", "check", "verify", "fuzz", "litmus")]
        if "missing" in bug:
            here, cells = "cannot be expressed: " + bug["missing"], [""] * 5
        lines.append("| " + " | ".join([link, bug["what"], here, *cells]) + " |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--find", nargs="*", metavar="THREAD")
    parser.add_argument("--docs", action="store_true")
    arguments = parser.parse_args()
    mutants.add()
    status = find(arguments.find) if arguments.find is not None else 0
    if arguments.docs:
        generated.rewrite_named(PAGE, {"real bugs": table})
    return status


if __name__ == "__main__":
    raise SystemExit(main())

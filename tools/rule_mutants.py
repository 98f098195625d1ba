"""Break rules of the protocols' tables, one at a time, and see which check finds each.

    python tools/rule_mutants.py --list                  every place, by key
    python tools/rule_mutants.py --number 150 --seed 1   draw, build, check; an interrupted run continues
    python tools/rule_mutants.py --seed 1 --page         write the results to docs/verification/rule-mutants.md

A rule is broken by dropping an action from a cell (or a call of one from another), or by negating a guard
(``tools/rule_places.py``). Rules are drawn by seed, from each protocol in turn. All that are drawn are in one
extension, in which a number chooses one (``tools/switches.py``); every rule has a process of its own. Checks run in
order of their cost (``tools/rule_checks.py``), up to the first that finds the broken rule. ``tools/rule_mutants.toml``
names what is no rule, and gives the reason where a broken rule is equivalent or is not found.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import random
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import mutant_results
import rule_checks
import rule_places
import switches
from rule_places import FOLDER, PROTOCOLS, Place
from switches import QUICK, ROOT
from wrap import wrapped

NOTES = mutant_results.Notes(Path(__file__).with_suffix(".toml"))
PAGE = ROOT / "docs" / "verification" / "rule-mutants.md"
VARIABLE = "GPC_RULE_MUTANT"
CPU_SECONDS = 60  # of one check, before it counts as without end


def places() -> list[Place]:
    """Every place that is a rule."""
    return [place for place in rule_places.enumerate_places() if not NOTES.excludes(place.key)]


# ---- which protocols a file is of


def objects() -> dict[str, Path]:
    """The compiled file of each source of the protocols, by its name below ``csrc/protocols``."""
    folder = QUICK / "libgpucoh_core.a.p"
    names = [str(file.relative_to(PROTOCOLS)) for file in PROTOCOLS.glob("*/*.c")]
    found = {name: folder / f"csrc_protocols_{name.replace('/', '_')}.o" for name in names}
    return {name: path for name, path in found.items() if path.exists()}


def symbols(path: Path) -> tuple[set[str], set[str]]:
    """The symbols that an object defines, and those that it wants."""
    text = subprocess.run(["nm", "-g", str(path)], capture_output=True, text=True, check=True)
    rows = [line.split()[-2:] for line in text.stdout.splitlines()]
    return {name for kind, name in rows if kind != "U"}, {
        name for kind, name in rows if kind == "U"
    }


def protocols_of_files() -> dict[str, list[str]]:
    """The protocols that each file is linked into; no-coh promises nothing."""
    known = {name: symbols(path) for name, path in objects().items()}
    definer = {symbol: name for name, (defined, _) in known.items() for symbol in defined}
    listed = re.findall(r"^GPC_PROTOCOL\((\w+),", (PROTOCOLS / "registry.def").read_text(), re.M)
    out: dict[str, list[str]] = {}
    for symbol in listed:
        reached, left = set(), {definer[f"gpc_protocol_{symbol}"]} - {"baseline/no_coherence.c"}
        while left:
            name = left.pop()
            reached.add(name)
            left |= {definer[one] for one in known[name][1] if one in definer} - reached
        for name in reached:
            out.setdefault(name, []).append(symbol.replace("_", "-"))
    return out


def draw(
    found: Sequence[Place], users: dict[str, list[str]], seed: int, number: int, only: str | None
) -> list[tuple[Place, str]]:
    """``number`` places, from each protocol in turn, with the protocol that each was drawn for."""
    dice = random.Random(seed)
    bags: dict[str, list[Place]] = {}
    for place in found:
        for protocol in users.get(place.file, []):
            bags.setdefault(protocol, []).append(place)
    for bag in bags.values():
        dice.shuffle(bag)
    bags = {name: bag for name, bag in bags.items() if only in (None, name)}
    out: dict[str, tuple[Place, str]] = {}
    while len(out) < number and any(bags.values()):
        for protocol, bag in bags.items():
            while bag and bag[-1].key in out:
                bag.pop()
            if bag and len(out) < number:
                place = bag.pop()
                out[place.key] = place, protocol
    return list(out.values())


# ---- the extension in which a number chooses the broken rule


def build(drawn: Sequence[Place]) -> Path:
    """Build the package with all that were drawn, and the C tests; the package's folder."""
    changed = {}
    for name in {place.file for place in drawn}:
        numbers = {number: place for number, place in enumerate(drawn, 1) if place.file == name}
        text = (PROTOCOLS / name).read_text(encoding="utf-8")
        changed[f"protocols/{name}"] = rule_places.mutated(text, numbers)
    tests = sorted({f"test_{one}" for tests in rule_checks.C_TESTS.values() for one in tests})
    targets = [*tests, switches.extension_name()]
    return switches.Build(FOLDER, changed, VARIABLE, targets).package()


# ---- one broken rule


def child(number: int, place: Place, protocols: Sequence[str], out: int) -> None:
    """Break the rule and check it; every step is a line of JSON. Does not return."""
    import gpucoh._core as core

    library = ctypes.CDLL(core.__file__)
    reached = ctypes.c_int.in_dll(library, "gpc_switch_reached")
    ctypes.c_int.in_dll(library, "gpc_switch").value = number
    os.environ[VARIABLE] = str(number)

    def tell(**facts: Any) -> None:
        os.write(out, json.dumps(facts | {"reached": bool(reached.value)}).encode() + b"\n")

    family = place.file.split("/")[0]
    for check, protocol, run in rule_checks.checks(family, protocols, reached):
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
        tell(check=check, protocol=protocol)
        try:
            found = run()
        except BaseException as error:  # a fault of this tool: no finding
            tell(fault=f"{type(error).__name__}: {error}")
            break
        tell(**{"check": check, "protocol": protocol, "found": str(found)[:300]} if found else {})
        if found and not rule_checks.is_chance(found):  # a check that always finds it may follow
            break
    os._exit(0)


def examine(number: int, place: Place, protocol: str, users: Sequence[str]) -> dict[str, Any]:
    """What finds the broken rule, in a process of its own."""
    order = [protocol, *(one for one in users if one != protocol)]
    read, write = os.pipe()
    process = os.fork()
    if process == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        os.close(read)
        child(number, place, order, write)
    os.close(write)
    with os.fdopen(read) as lines:
        records = [json.loads(line) for line in lines]
    _, status, used = os.wait4(process, 0)
    if records and "fault" in records[-1]:
        raise SystemExit(f"{place.key}: {records[-1]['fault']}")
    begun = [one for one in records if "check" in one]
    last = begun[-1] if begun else {"check": "load", "protocol": protocol}
    row = {"key": place.key, "file": place.file, "line": place.line, "protocol": protocol}
    found = next((one for one in reversed(records) if "found" in one), None)
    if found:
        row |= {"check": found["check"], "under": found["protocol"], "how": found["found"]}
    elif status:
        name = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else "exit"
        how = "does not end" if name == "SIGPROF" else name
        row |= {"check": last["check"], "under": last["protocol"], "how": how}
    reached = any(one["reached"] for one in records) or bool(row.get("check"))
    return row | {"reached": reached, "seconds": round(used.ru_utime + used.ru_stime, 2)}


def results(seed: int) -> Path:
    """The file of a seed's results, a line each."""
    return FOLDER / f"seed-{seed}.jsonl"


def run(drawn: Sequence[tuple[Place, str]], users: dict[str, list[str]], seed: int, hours: float) -> None:  # fmt: skip
    """Examine all that have no result yet, up to the processor time."""
    known, spent = mutant_results.read(results(seed)), 0.0
    sys.path.insert(0, str(build([place for place, _ in drawn])))
    rule_checks.warm()
    for number, (place, protocol) in enumerate(drawn, 1):
        if place.key in known or spent > 3600 * hours:
            continue
        row = examine(number, place, protocol, users[place.file])
        spent += row["seconds"]
        mutant_results.store(results(seed), row)
        found = (
            f"{row['check']}, {row['under']}: {row['how'][:90]}" if "check" in row else "NOT FOUND"
        )
        print(f"{number:>4} {row['seconds']:>6.1f} s  {place.key}\n{'':14}{found}", flush=True)


# ---- the page


def page(rows: Sequence[dict[str, Any]], seed: int) -> str:
    """The page of the results."""
    found, number = NOTES.score(rows)
    minutes = sum(row["seconds"] for row in rows) / 60
    text = f"""# Broken rules

`make rule-mutants SEED={seed} N={len(rows)}` breaks {len(rows)} of the {len(places()):,} rules of the protocols'
tables, one at a time, drawn by seed from each protocol in turn: it drops an action from a cell, or negates a guard.
Checks run in order of their cost, up to the first that finds the broken rule. All took {minutes:.0f} processor
minutes. **{found} of the {number} that are not equivalent are found ({100 * found / number:.1f}%).** A column counts
those that a check was the first to find. `tools/rule_mutants.toml` has the reasons below, and says what counts as no
rule.

"""
    chance = [row for row in rows if rule_checks.is_chance(row.get("how", ""))]
    lines = [*NOTES.table(rows, "protocol", rule_checks.NAMES), ""]
    for title, listed in (*NOTES.sections(rows), ("Found by one seed of five only", chance)):
        lines += NOTES.listed(title, listed)
    return wrapped(text + "\n".join(lines))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="print every place")
    parser.add_argument("--page", action="store_true", help="write the page of the results")
    parser.add_argument("--seed", type=int, default=1, help="draws the rules (1)")
    parser.add_argument("--number", type=int, default=150, help="of rules (150)")
    parser.add_argument("--hours", type=float, default=8.0, help="of processor time, at most (8)")
    parser.add_argument("--protocol", help="rules of this one alone")
    chosen = parser.parse_args()
    found = places()
    if chosen.list:
        print(*(f"{place.file}:{place.line} {place.key}" for place in found), sep="\n")
        return 0
    if not chosen.page:
        FOLDER.mkdir(parents=True, exist_ok=True)
        users = protocols_of_files()
        drawn = draw(found, users, chosen.seed, chosen.number, chosen.protocol)
        run(drawn, users, chosen.seed, chosen.hours)
    rows = list(mutant_results.read(results(chosen.seed)).values())
    status = NOTES.report(rows, "protocol", rule_checks.NAMES)
    if chosen.page:
        PAGE.write_text(page(rows, chosen.seed), encoding="utf-8")
    return status


if __name__ == "__main__":
    raise SystemExit(main())

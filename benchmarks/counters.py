"""Counters of the runs of ``counters.toml``, stored in ``counters.json`` to the last one.

``python benchmarks/counters.py`` compares them with this build's; exit status 1: some differ. ``--store --why TEXT``
stores them again and appends an entry to ``moved.md``: which counters moved, by how much, and why. Counters that are 0
are left out; each list of counters, and each table of a profile or of intervals, is a hash.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tqdm import tqdm

import gpucoh
from gpucoh.cuda.building import build
from gpucoh.cuda.compiler import host_compiler, toolkit
from gpucoh.cuda.programs import run_program
from gpucoh.runs.runner import machine_and_limits

HERE = Path(__file__).parent
RUNS, STORED, MOVED = (HERE / name for name in ("counters.toml", "counters.json", "moved.md"))
EXAMPLES = HERE.parent / "examples" / "cuda"
STORE = "python benchmarks/counters.py --store --why TEXT"
SHOWN = 3

#: What a host says of itself, and what a run is given.
NO_COUNTERS = {
    "wall_s", "cpu_s", "version", "configuration", "consistency", "machine", "model", "options", "params", "protocol",
    "scale", "seed", "set", "workload",
}  # fmt: skip
TABLES = {"profile", "series"}
NAMES = {"class", "file", "files", "line", "texts"}  # no counters: they move without one

Run = dict[str, Any]
Counters = dict[str, dict[str, Any]]  # group -> counter -> value


def runs() -> dict[str, Run]:
    """The runs by name."""
    given = tomllib.loads(RUNS.read_text(encoding="utf-8"))
    common = {key: value for key, value in given.items() if key != "runs"}
    return {entry.pop("name"): common | entry for entry in given["runs"]}


def stored() -> tuple[dict[str, Counters], str]:
    """The stored counters by run, and the version of the CUDA compiler that made those of programs."""
    found = json.loads(STORED.read_text(encoding="utf-8"))
    return found["runs"], found["nvcc"]


def left_out(run: Run, nvcc: str = "") -> str:
    """Why a program cannot run here, or not be compared with one of another CUDA compiler; empty: it can."""
    if "cuda" not in run:
        return ""
    try:
        host_compiler()
        version = toolkit().version
    except gpucoh.ConfigError as error:
        return str(error)
    return f"stored with nvcc {nvcc}, here is {version}" if nvcc not in ("", version) else ""


def measured(run: Run) -> Counters:
    """The counters of a run."""
    if "cuda" in run:
        source = EXAMPLES / run["cuda"]
        machine, budget, deadlock_after = machine_and_limits(run["machine"], {})
        result = run_program(
            build([source], run.get("options", ())), source.name, (), capture="all", machine=machine, budget=budget,
            deadlock_after=deadlock_after, protocol=run["protocol"], consistency=None, seed=run["seed"], check=False,
        ).result  # fmt: skip
    else:
        result = gpucoh.run(**run)
    found: Counters = {}
    for group, value in json.loads(json.dumps(result.to_dict(), default=str)).items():
        if group not in NO_COUNTERS:
            for name, one in _leaves(value, "", 1 if group in TABLES else 9):
                path = (group, name) if name else ("run", group)
                found.setdefault(path[0], {})[path[1]] = one
    return found


def _leaves(value: Any, path: str, depth: int) -> Iterator[tuple[str, Any]]:
    """Counters by path, without those that are 0."""
    if isinstance(value, dict) and depth:
        if value.get("messages") == 0:  # a type of message that nothing sent
            return
        for key in value.keys() - NAMES:
            yield from _leaves(value[key], f"{path}.{key}".lstrip("."), depth - 1)
    elif isinstance(value, dict | list) and value:
        text = json.dumps(_without_names(value), sort_keys=True)
        yield path, "#" + hashlib.sha256(text.encode()).hexdigest()[:12]
    elif value:
        yield path, value


def _without_names(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_names(one) for key, one in value.items() if key not in NAMES}
    return [_without_names(one) for one in value] if isinstance(value, list) else value


def differences(before: Counters, after: Counters) -> Iterator[tuple[str, Any, Any]]:
    """Counter, its value before and after, of all that differ; cycles come first."""
    for group in sorted(before.keys() | after.keys(), key=lambda name: (name != "run", name)):
        one, other = before.get(group, {}), after.get(group, {})
        for name in sorted(one.keys() | other.keys()):
            if one.get(name, 0) != other.get(name, 0):
                yield f"{group}.{name}", one.get(name, 0), other.get(name, 0)


def change(counter: str, before: Any, after: Any) -> str:
    """A moved counter in words."""
    if isinstance(before, bool | str) or isinstance(after, bool | str):
        return f"{counter} {before} to {after}"
    share = f" ({100 * (after / before - 1):+.2f}%)" if before else ""
    return f"{counter} {before:,} to {after:,}{share}"


def report(name: str, before: Counters, after: Counters) -> str:
    """A line on what differs in a run; empty if nothing does."""
    moved = list(differences(before, after))
    words = [change(*one) for one in moved[:SHOWN]]
    words += [f"{len(moved) - SHOWN} more"] if len(moved) > SHOWN else []
    run = runs()[name]
    where = f"`{name}` (`{run['protocol']}` on `{run['machine']}`)"
    return f"{where}: {', '.join(words)}" if words else ""


def reports(before: dict[str, Counters], after: dict[str, Counters]) -> list[str]:
    """A line for each run that differs, and one for all that only one of the two has."""
    both = [report(name, before[name], after[name]) for name in after if name in before]
    lines = [line for line in both if line]
    for what, one, other in (("new", after, before), ("dropped", before, after)):
        if names := [f"`{name}`" for name in one if name not in other]:
            lines.append(f"{what}: {', '.join(names)}")
    return lines


def store(found: dict[str, Counters], nvcc: str, lines: list[str], why: str) -> None:
    """Write the counters, a line for each group of a run, and the entry that says why they moved."""
    texts = []
    for name, groups in found.items():
        inner = ",\n".join(
            f"  {json.dumps(g)}: {json.dumps(groups[g], sort_keys=True)}" for g in sorted(groups)
        )
        texts.append(f"{json.dumps(name)}: {{\n{inner}\n}}")
    STORED.write_text(f'{{"nvcc": "{nvcc}", "runs": {{\n' + ",\n".join(texts) + "\n}}\n")
    text = MOVED.read_text(encoding="utf-8")
    number = 1 + len(re.findall(r"^## ", text, re.MULTILINE))
    entry = "".join(f"- {line}\n" for line in lines)
    MOVED.write_text(f"{text}\n## {number}: {why}\n\n{entry}- `counters.json` is {digest()}\n")


def digest() -> str:
    """The hash of the stored counters, which ends each entry of moved.md."""
    return hashlib.sha256(STORED.read_bytes()).hexdigest()[:16]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--store", action="store_true", help="store the counters again; needs --why"
    )
    parser.add_argument("--why", help="one line for moved.md: what moved the counters")
    given = parser.parse_args()
    if given.store != bool(given.why):
        parser.error(
            "--store and --why TEXT, which says in one line what moved the counters, go together"
        )
    (before, nvcc), found = stored(), {}
    for name, run in tqdm(runs().items(), unit="run", disable=None):
        if reason := left_out(run, "" if given.store else nvcc):
            print(f"{name}: {reason}", file=sys.stderr)
            found |= {name: before[name]} if name in before else {}
        else:
            found[name] = measured(run)
            nvcc = toolkit().version if "cuda" in run else nvcc
    lines = reports(before, found)
    print("\n".join(lines) or f"{len(found)} runs: no counter moved")
    if given.store and lines:
        store(found, nvcc, lines, given.why)
    return int(bool(lines) and not given.store)


if __name__ == "__main__":
    sys.exit(main())

"""The checks that look for a broken rule, the cheapest first; each returns what it found, or nothing."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rule_places import FOLDER
from switches import ROOT

#: C tests of a family, which run in milliseconds.
C_TESTS = {
    "temporal": ("tc", "tc_steps", "timestamps"),
    "relativistic": ("rcc", "timestamps"),
    "denovo": ("denovo",),
}
#: Python tests of a family, beside its explorations and those of latencies.
TESTS = {
    "temporal": ("validation/test_lifetimes.py", "validation/test_timestamps.py"),
    "relativistic": ("verification/test_rcc.py", "validation/test_timestamps.py"),
    "spatiotemporal": ("verification/test_stc.py",),
    "quickrelease": ("verification/test_quickrelease.py", "validation/test_quickrelease.py"),
    "dies": (
        "verification/test_mcm.py",
        "verification/test_flush.py",
        "verification/test_cpelide.py",
        "verification/test_ideal_dies.py",
        "verification/test_hmg.py",
        "verification/test_lrm.py",
    ),
    "invalidation": ("validation/test_recalls.py",),
}
EVERY_FAMILY = ("validation/test_resource_limits.py", "validation/test_closed_form.py")
TEST_SECONDS = 900
Runs = Sequence[tuple[str, dict[str, Any]]]
SMALL = {"l2_kib": 4, "l2_ways": 2, "l1_kib": 4}
SCARCE = SMALL | {"l1_mshrs": 4, "l2_mshrs": 4}
#: Workloads with monitors: name, fields of the machine.
FIRST_RUNS: Runs = (("bfs", {}), ("stn", SMALL), ("bh", {}))
MORE_RUNS: Runs = (
    ("sr", SCARCE),
    ("stn", {}),
    ("bfs-mask", {}),
    ("cl", {}),
    ("cc", SMALL),
    ("dlb", {}),
)
#: Of the protocols that share a broken file and come to its rule in REACHING, how many take the other checks; one those
#: of ALONE.
MOST_PROTOCOLS = 2
REACHING = "verify, 20,000 states"
ALONE = ("C tests", "Python tests", "verify, 500,000 states")
SEEDS = range(1, 6)

Check = Callable[[], Any]


def warm() -> None:
    """Import, and read what every process needs."""
    import gpucoh
    import gpucoh.fuzz
    import gpucoh.verify.explorer
    from gpucoh.litmus import builtins
    from gpucoh.verify.library import shape_tests

    builtins()
    shape_tests()
    gpucoh.run("bfs", protocol="ideal", scale="tiny", check=True)


def c_tests(family: str) -> str | None:
    """The first C test of the family that fails."""
    for name in C_TESTS.get(family, ()):
        done = subprocess.run(
            [str(FOLDER / f"test_{name}")], capture_output=True, text=True, check=False
        )
        if done.returncode:
            lines = [line for line in done.stdout.splitlines() if line.startswith("not ok")]
            return f"{name}: {lines[0] if lines else done.returncode}"
    return None


def verify(name: str, states: int) -> str | None:
    """The first violation of an exploration under each rule."""
    import gpucoh
    from gpucoh.verify import explorer

    for rule in gpucoh.protocols()[name.partition("[")[0]].models:
        found = explorer.verify(name, consistency=rule, max_states=states).violations
        if found:
            return f"{found[0].program}: {found[0].what}"
    return None


def monitors(name: str, runs: Runs) -> str | None:
    """The first workload whose monitors, race detector or result are not as they should be."""
    import gpucoh

    for workload, fields in runs:
        try:
            result = gpucoh.run(
                workload,
                protocol=name,
                scale="tiny",
                check=True,
                set=fields | {"budget": 3_000_000},
            )
        except gpucoh.SimulationError as error:
            return f"{workload}: {error}"
        if not result.correct:
            return f"{workload}: wrong result"
    return None


def litmus(name: str, runs: int) -> str | None:
    """The first built-in litmus test that fails."""
    from gpucoh.litmus import builtins, run_test

    for test in builtins():
        result = run_test(test, name, runs=runs)
        if not result.ok:
            return f"{test}: {result.reason or result.forbidden[:1]}"
    return None


def fuzz(name: str, ops: int, seed: int = 1) -> str | None:
    """The first failure of the random tester."""
    from gpucoh.fuzz import fuzz_many

    reports = fuzz_many([name], ops=ops, seed=seed, shrink=False, every_rule=True)
    return next((report.failures[0]["text"] for report in reports if report.failures), None)


def fuzz_seeds(name: str, ops: int) -> str | None:
    """How many of five seeds find it, and what one finds."""
    found = [fuzz(name, ops, seed) for seed in SEEDS]
    hits = [text for text in found if text]
    return f"{len(hits)} of {len(found)} seeds: {hits[0]}" if hits else None


def is_chance(found: str) -> bool:
    """Whether one seed of several found it alone."""
    return found.startswith("1 of ")


def variations(name: str) -> str | None:
    """Exploration and random programs with the options that the protocol's tests run."""
    import gpucoh

    for varied in gpucoh.protocols()[name].with_variations()[1:]:
        found = verify(varied, 100_000) or fuzz(varied, 10_000) or monitors(varied, FIRST_RUNS)
        if found:
            return f"{varied}: {found}"
    return None


def cells(name: str) -> str | None:
    """The programs of ``tools/cells.py``: a violation, or a cell that nothing enters."""
    import cells as programs

    import gpucoh

    if name not in programs.PROTOCOLS:
        return None
    try:
        left = programs.missed(gpucoh.protocols()[name], programs.entered(name))
    except SystemExit as error:
        return str(error)
    return f"not entered: {left[0]}" if left else None


def tests(family: str, name: str) -> str | None:
    """The first Python test that fails: explorations of the protocol, tests of the family, latencies."""
    files = [f"tests/{file}" for file in (*TESTS.get(family, ()), *EVERY_FAMILY)]
    explored = ["tests/verification/test_explored.py", "-k", name]
    for arguments, products in ((explored, "all"), (files, "")):
        pytest = str(
            Path(sys.executable).with_name("pytest")
        )  # with -m, the tree would precede the package
        command = [pytest, "-q", "-x", "-p", "no:cacheprovider", *arguments]
        environment = os.environ | {"PYTHONPATH": str(FOLDER / "package")}
        environment |= {"PRODUCTS": products} if products else {}
        if products:
            command += ["-m", "not long"]
        try:
            done = subprocess.run(
                command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=TEST_SECONDS
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return "does not end"
        if done.returncode not in (0, 1, 5):  # 5: no test
            raise SystemExit(f"{' '.join(command)}: status {done.returncode}: {done.stdout[-300:]}")
        if done.returncode == 1:
            return next(line for line in done.stdout.splitlines() if line.startswith("FAILED"))
    return None


#: Name of each check, and the check of a family and a protocol, in the order in which they run.
CHECKS: dict[str, Callable[[str, str], str | None]] = {
    "C tests": lambda family, name: c_tests(family),
    "verify, 20,000 states": lambda family, name: verify(name, 20_000),
    "monitors": lambda family, name: monitors(name, FIRST_RUNS),
    "fuzz, 5,000 operations": lambda family, name: fuzz(name, 5_000) and fuzz_seeds(name, 5_000),
    "litmus": lambda family, name: litmus(name, 20),
    "verify, 200,000 states": lambda family, name: verify(name, 200_000),
    "monitors, more workloads": lambda family, name: monitors(name, MORE_RUNS),
    "fuzz, 5 seeds": lambda family, name: fuzz_seeds(name, 20_000),
    "variations": lambda family, name: variations(name),
    "cells": lambda family, name: cells(name),
    "Python tests": tests,
    "verify, 500,000 states": lambda family, name: verify(name, 500_000),
}
NAMES = tuple(CHECKS)


def checks(
    family: str, protocols: Sequence[str], reached: ctypes.c_int
) -> Iterator[tuple[str, str, Check]]:
    """Every check of a broken rule: its name, the protocol, and the check. ``reached`` is set where it runs."""
    chosen = list(protocols)
    reaching: list[str] = []
    for check, run in CHECKS.items():
        if check != REACHING and reaching:
            chosen = reaching
        most = 1 if check in ALONE else len(chosen) if check == REACHING else MOST_PROTOCOLS
        for name in chosen[:most]:
            reached.value = 0
            yield check, name, lambda run=run, name=name: run(family, name)  # type: ignore[misc]
            if check == REACHING and reached.value:
                reaching.append(name)

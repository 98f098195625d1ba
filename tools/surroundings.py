"""Run lock programs as whole processes in many surroundings, and compare all that they count: `make determinism`.

    python tools/surroundings.py [--runs 200] [--program FILE.cu ..] [-- ARGUMENTS ..]

Each time another hash seed, size of the environment, layout of addresses, setting of malloc, processor and load is
drawn. A time runs a CUDA program with a lock, its main included, and a workload with a mutex, each under three
protocols. Exit status 1: a counter or an output differs from the first time's; it is named with the surroundings.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import determinism
from tqdm import tqdm

import gpucoh
from gpucoh.cuda.building import build
from gpucoh.cuda.programs import run_program
from gpucoh.runs.runner import machine_and_limits

ROOT = Path(__file__).resolve().parents[1]
LOCKS = ROOT / "tests" / "unit" / "cuda" / "kernels" / "locks.cu"
WORKLOAD = "spm_g"
PROTOCOLS = ("mesi", "denovo-drf", "gpu-vi")
MALLOC: tuple[dict[str, str], ...] = (
    {},
    {"MALLOC_PERTURB_": "165"},
    {"MALLOC_ARENA_MAX": "1", "MALLOC_TOP_PAD_": "1000000"},
    {"MALLOC_MMAP_THRESHOLD_": "4096"},
)


def once(program: Path, arguments: list[str]) -> dict[str, Any]:
    """What a time of the programs counts, by name."""
    found = {}
    machine, budget, deadlock_after = machine_and_limits("fermi", {})
    try:
        built = build([program])
    except gpucoh.ConfigError as error:  # no compiler
        print(f"{program.name} is left out: {error}", file=sys.stderr)
        built = None
    for protocol in PROTOCOLS:
        result = gpucoh.run(WORKLOAD, protocol=protocol, scale="tiny").to_dict()
        found[f"{WORKLOAD} under {protocol}"] = result
        if built is not None:
            outcome = run_program(
                built, program.name, arguments, capture="all", machine=machine, budget=budget,
                deadlock_after=deadlock_after, protocol=protocol, consistency=None, seed=0, check=False,
            )  # fmt: skip
            texts = {"output": outcome.output.decode(), "messages": outcome.messages.decode()}
            found[f"{program.name} under {protocol}"] = outcome.result.to_dict() | texts
    for result in found.values():
        for name in ("wall_s", "cpu_s"):
            result.pop(name)
    return found


@functools.cache
def can(*words: str) -> bool:
    """Whether a command may be run behind these words: a container can refuse a program that it has."""
    if shutil.which(words[0]) is None:
        return False
    return subprocess.run([*words, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0


def drawn(number: int) -> tuple[list[str], dict[str, str], bool]:
    """The surroundings of a time: words before the command, variables, and whether all processors are busy."""
    draw = random.Random(number)
    fixed, bound = draw.random() < 0.5, draw.random() < 0.5
    words = ["setarch", "-R"] if fixed and can("setarch", "-R") else []
    processor = str(draw.choice(sorted(os.sched_getaffinity(0))))
    if bound and can("taskset", "-c", processor):
        words += ["taskset", "-c", processor]
    given = {"PYTHONHASHSEED": str(number), "PADDING": "x" * draw.randrange(20_000)}
    return words, given | draw.choice(MALLOC), draw.random() < 0.1


@contextlib.contextmanager
def load(is_busy: bool) -> Iterator[None]:
    """A busy process for each processor."""
    command = [sys.executable, "-c", "while True: pass"]
    busy = [subprocess.Popen(command) for _ in range((os.cpu_count() or 1) * is_busy)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def measured(number: int, rest: list[str]) -> dict[str, dict[str, Any]]:
    """What a time in its surroundings counts, each run's counters by path."""
    words, given, is_busy = drawn(number)
    with load(is_busy):
        done = subprocess.run(
            [*words, sys.executable, __file__, "--once", *rest],
            env=os.environ | given, stdout=subprocess.PIPE, text=True, check=True,
        )  # fmt: skip
    return {name: dict(determinism.counters(run)) for name, run in json.loads(done.stdout).items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--program", type=Path, default=LOCKS, help="a CUDA program")
    parser.add_argument("--once", action="store_true", help="print what one time counts")
    parser.add_argument("arguments", nargs="*", help="of the program, behind --")
    given = parser.parse_args()
    if given.once:
        print(json.dumps(once(given.program, given.arguments), default=str))
        return 0
    rest = ["--program", str(given.program.resolve()), "--", *given.arguments]
    first, differ = measured(0, rest), 0
    for number in tqdm(range(1, given.runs), unit="run", disable=None):
        found = measured(number, rest)
        differ += found != first
        for name, run in found.items():
            names = [one for one in first[name] | run if first[name].get(one) != run.get(one)]
            values = ", ".join(
                f"{one}: {first[name].get(one)} and {run.get(one)}" for one in names[:3]
            )
            if names:
                words, variables, is_busy = drawn(number)
                variables["PADDING"] = f"{len(variables['PADDING'])} bytes"
                print(
                    f"time {number}, {words} {variables} busy {is_busy}: {name}: {values}",
                    flush=True,
                )
    print(f"{given.runs} times {len(first)} runs: {differ} differ from the first")
    return int(differ > 0)


if __name__ == "__main__":
    sys.exit(main())

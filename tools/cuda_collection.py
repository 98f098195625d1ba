"""Draw programs from a collection of CUDA programs, run them unmodified, and class what does not end well.

    python tools/cuda_suites.py FOLDER --sample N --seed S [--out FILE]

A collection is a folder of folders, each with a Makefile that has a ``run`` target: sources, options and arguments
are what ``make -n run`` prints. Numbers that are arguments or ``-D`` sizes become small, and after them constants of
the sources, in the steps of :data:`TRIED`, until the program is not too large; it counts as too large if nothing makes
it right. ``cuda_collection.toml`` has what a program needs instead. A program is judged by what it prints of its own
check, else by whether it copies and prints the same under every protocol as under ``no-l1`` with the rule ``sc``. Each
failure has a class, so that the next feature is chosen by numbers. Nothing of a collection is kept.
"""

from __future__ import annotations

import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

from gpucoh.base.errors import Error
from gpucoh.base.processes import Limits
from gpucoh.cuda.building import Built, build
from gpucoh.cuda.module import Module
from gpucoh.cuda.programs import Outcome, run_program
from gpucoh.machines import machine

#: What is tried in turn, with the sources as they are, then from the smallest with each of CONSTANTS: numbers of the
#: arguments become at most the first, the last of several, which is often how often to repeat, the second.
NUMBERS = ((256, 256), (256, 2), (32, 2), (8, 2), (4, 4), (1, 1))
#: Constants of the sources above the first become the second.
CONSTANTS = ((65536, 65536), (4096, 4096), (1024, 256), (256, 64), (64, 16))
LARGER = ((2048, 2048), (1 << 20, 2))  # for programs that launch nothing with small numbers
#: Seconds of a processor that the run of the reference may take when all steps are tried, and when the smallest
#: SMALLEST of those that were too large are tried again; other protocols may take SLOWER times as many.
QUICK, PATIENT, SMALLEST, SLOWER = 20.0, 90.0, 3, 4
_CONSTANT = re.compile(
    r"(^\s*#\s*define\s+\w+\s+|(?<=[\w\])])\s*=\s*|\bconst(?:expr)?\s[\w\s]*[({])([\d\s*<()uUlL]*\d[\d\s*<()uUlL]*?)"
    r"(?=\s*(?:[;,}]|\)\s*;|//|/\*|$))",
    re.MULTILINE,
)
#: The initial value of a record; that of an array is a table and stays.
_LIST = re.compile(r"(\w\s*=\s*\{)([\d\s,]*\d[\d\s,]*)(?=\})")
_BOUND = re.compile(r"(\bfor\s*\([^;]*;[^;]*<=?\s*)(\d+)(?=\s*;)")
KEPT = ("-D", "-l", "-L", "-std", "--std", "--expt", "--extended", "-rdc", "-dc", "-use", "--use")
BUDGET = DEADLOCK_AFTER = 500_000_000  # core cycles of a launch
GIB = 8.0
GIVEN = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
SOURCES = (".cu", ".cuh", ".h", ".hpp", ".c", ".cpp", ".cc", ".cxx")
#: What a program prints of its own check.
BAD = re.compile(r"\b(fail(ed|ure)?|incorrect|mismatch(es)?|error:)\b", re.IGNORECASE)
GOOD = re.compile(
    r"\b(pass(ed)?|success(ful(ly)?)?|correct|verified|ok|(failures|errors|mismatches): *0)\b", re.I
)
_NOTHING = "has an extent of 0"
#: Lines that differ from run to run: times and rates.
TIMES = re.compile(
    r"\b(time|elapsed|sec|bandwidth|throughput|speed|perform|deviation|G?FLOPS?\b|fps\b|GUPS)|/s(ec)?\b|\d ?[mun]?s\b",
    re.I,
)


@dataclass(frozen=True)
class _Limits(Limits):
    """Seconds of a processor, so that other processes decide nothing; by the clock ten times as many."""

    def exceeded(self, process: int, seconds: float) -> tuple[str, str] | None:
        try:
            words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            return None
        used = (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
        return super().exceeded(process, max(used, seconds / 10))


@dataclass
class Recipe:
    """How a program is built and run: what ``make -n run`` says."""

    sources: list[Path] = field(default_factory=list)
    options: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)


@dataclass
class Drawn:
    """A program and what came of it."""

    name: str
    arguments: str = ""
    verdict: str = ""  # right, wrong, or a class of failures
    why: str = ""
    check: str = ""
    kernels: int = 0
    cycles: dict[str, int] = field(default_factory=dict)


def scaled(text: str, largest: int) -> str:
    """An argument or the value of a ``-D``: a number above the largest becomes that."""
    return re.sub(r"(?<![\w.])\d+$", lambda found: str(min(int(found[0]), largest)), text)


def cut(text: str, above: int, value: int) -> str:
    """A source in which constants above a number are another value.

    They are numbers, products or shifts, numbers in the initial value of a record, and ends of loops.
    """

    def smaller(found: re.Match[str]) -> str:
        line = found.string[found.string.rfind("\n", 0, found.start()) + 1 : found.start()]
        if re.search(r"\b(float|double)\b", line):  # no size
            return found[0]
        return found[1] + ",".join(_cut_one(part, above, value) for part in found[2].split(","))

    for pattern in (_CONSTANT, _LIST, _BOUND):
        text = pattern.sub(smaller, text)
    return text


def _cut_one(text: str, above: int, value: int) -> str:
    try:
        number = eval(re.sub(r"[uUlL]", "", text), {"__builtins__": {}})  # digits, * and << alone
    except (SyntaxError, TypeError, MemoryError):
        return text
    return str(value) if above < number < 1 << 32 else text


def recipe(folder: Path, largest: int, last: int) -> Recipe:
    """Read a folder's Makefile, with numbers up to the largest, and the last of several up to another.

    Raises
    ------
    ValueError
        If make refuses it, or it runs no program.
    """
    made = subprocess.run(["make", "-n", "run"], cwd=folder, capture_output=True, text=True, check=False)  # fmt: skip
    found = Recipe()
    for line in made.stdout.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        program = next((k for k, word in enumerate(words) if word.startswith("./")), None)
        if program is not None and "-o" not in words:  # of several that a launcher starts one
            if given := GIVEN["programs"].get(folder.name, {}).get("arguments"):
                found.arguments = shlex.split(given)
                return found
            found.arguments = [scaled(word, largest) for word in words[program + 1 :]]
            numbers = [k for k, word in enumerate(found.arguments) if word.isdecimal()]
            if len(numbers) > 1:
                found.arguments[numbers[-1]] = scaled(found.arguments[numbers[-1]], last)
            return found
        if not words or Path(words[0]).name not in ("nvcc", "g++", "gcc"):
            continue
        place = iter(words[1:])
        for word in place:
            if word == "-o":
                next(place)
            elif word in ("-I", "-D", "-L", "-l", "-x"):
                _option(found, word + next(place), folder, largest)
            elif word.endswith((".cu", ".cpp", ".cc", ".c", ".cxx")):
                if (folder / word) not in found.sources:
                    found.sources.append(folder / word)
            else:
                _option(found, word, folder, largest)
    raise ValueError((made.stderr.strip().splitlines() or ["make run runs no program"])[-1])


def _mpi(found: Recipe) -> list[str]:
    """MPI of the environment (``pip install mpich``), where a program includes it: it runs as one rank."""
    include, library = Path(sys.prefix) / "include", Path(sys.prefix) / "lib"
    uses = any(b"mpi.h" in source.read_bytes() for source in found.sources)
    if not uses or not (include / "mpi.h").is_file():
        return []
    return [f"-I{include}", f"-L{library}", "-lmpi", "-Xlinker", f"-rpath={library}"]


def _option(found: Recipe, word: str, folder: Path, largest: int) -> None:
    """Keep an option that changes what is compiled or linked."""
    if word.startswith("-I"):
        word = f"-I{folder / word[2:]}"
    elif match := re.fullmatch(r"(-D\w+=)(\d+)", word):
        word = match[1] + scaled(match[2], largest)
    elif not word.startswith(KEPT):
        return
    if word not in found.options:
        found.options.append(word)


def classed(message: str) -> str:
    """The class of a failure, and what it names: ``library: cublas``."""
    for one in GIVEN["class"]:
        for pattern in one["patterns"]:
            if match := re.search(pattern, message):
                return f"{one['name']}: {match[1]}" if match.groups() else str(one["name"])
    return "other"


def examine(folder: Path, protocols: Sequence[str]) -> Drawn:
    """Build and run a program of a collection under the protocols, with the first numbers that are not too large."""
    first = _examine(folder, protocols, *NUMBERS[0], QUICK)
    if first.verdict != "size":
        return first
    sources = {
        path: path.read_text(encoding="utf-8", errors="surrogateescape")
        for path in sorted(folder.rglob("*"))
        if path.suffix in SOURCES and path.is_file()
    }
    tried, large = [(recipe(folder, *NUMBERS[0]), 0)], [(*NUMBERS[0], 0, 0)]

    def right(largest: int, last: int, above: int, value: int, seconds: float) -> Drawn | None:
        drawn = _examine(folder, protocols, largest, last, seconds)
        drawn.check += ", source cut" if value else ""
        if drawn.verdict == "size" and _NOTHING not in drawn.why:
            large.append((largest, last, above, value))
        return drawn if drawn.verdict == "right" else None

    uncut = LARGER if _NOTHING in first.why else (*NUMBERS[1:], LARGER[-1])
    for above, value in ((0, 0), *(() if uncut is LARGER else CONSTANTS)):
        if not _cut_all(sources, above, value) and value:
            continue
        for numbers in NUMBERS[::-1] if value else uncut:
            if (now := (recipe(folder, *numbers), value)) in tried:
                continue
            tried.append(now)
            if drawn := right(*numbers, above, value, QUICK):
                return drawn
            if value and large[-1] == (*numbers, above, value):  # so are larger numbers
                break
    smallest = [step for step in reversed(large) if step[:2] not in LARGER][:SMALLEST]
    for *numbers, above, value in smallest:
        _cut_all(sources, above, value)
        if drawn := right(*numbers, above, value, PATIENT):
            return drawn
    return first


def _cut_all(sources: Mapping[Path, str], above: int, value: int) -> bool:
    """Write the sources, cut unless the value is 0; whether one differs."""
    texts = {path: cut(text, above, value) if value else text for path, text in sources.items()}
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8", errors="surrogateescape")
    return texts != sources


def _examine(
    folder: Path, protocols: Sequence[str], largest: int, last: int, seconds: float
) -> Drawn:
    drawn, own = Drawn(folder.name), GIVEN["programs"].get(folder.name, {})
    try:
        found = recipe(folder, largest, last)
        built = build(found.sources, [*found.options, *_mpi(found), *own.get("options", ())])
        for path, name in built.ptx:
            drawn.kernels += len(Module((path.read_text(encoding="utf-8"), name)).kernels)
    except (Error, ValueError, OSError) as error:
        drawn.why = str(error)
        drawn.verdict = classed(drawn.why)
        return drawn
    drawn.arguments = " ".join(found.arguments)
    os.chdir(folder)
    wanted = ""
    for protocol, rule in (("no-l1", "sc"), *((name, None) for name in protocols)):
        limits = _Limits(seconds if rule else SLOWER * seconds, GIB)
        outcome = _outcome(built, found.arguments, protocol, rule, limits)
        text = outcome.output.decode(errors="replace")
        said = f"{text[-300:]} {outcome.messages.decode(errors='replace')[-300:]}"
        drawn.check = "own" if BAD.search(text) or GOOD.search(text) else "reference"
        if outcome.reason:
            drawn.why = f"{protocol}: {outcome.reason} {said}"
            drawn.verdict = classed(drawn.why)
        elif BAD.search(text):
            drawn.verdict, drawn.why = "wrong", f"{protocol}: its own check fails"
            if _NOTHING.encode() in outcome.messages:
                drawn.verdict, drawn.why = "size", outcome.messages.decode(errors="replace")[:300]
        elif not outcome.launches:
            drawn.why = f"{protocol}: it launches no kernel; {said}"
            drawn.verdict = "data" if classed(drawn.why) == "data" else "no launch"
        elif drawn.check == "reference" and wanted not in ("", _printed(outcome)):
            drawn.verdict, drawn.why = "wrong", f"{protocol}: differs from the reference"
            more = _Limits(PATIENT, GIB)
            checked = _outcome(built, found.arguments, protocol, rule, more, check=True)
            if "data race" in checked.reason:
                drawn.verdict, drawn.why = "race", checked.reason
        if drawn.verdict:
            return drawn
        wanted = wanted or _printed(outcome)
        if rule is None:
            drawn.cycles[protocol] = outcome.result.cycles
    drawn.verdict = "right"
    return drawn


def _outcome(
    built: Built,
    arguments: Sequence[str],
    protocol: str,
    rule: str | None,
    limits: Limits,
    *,
    check: bool = False,
) -> Outcome:
    return run_program(
        built, "main", arguments, capture="all", given=b"", limits=limits, protocol=protocol,
        consistency=rule, machine=machine("fermi"), seed=0, check=check, budget=BUDGET, deadlock_after=DEADLOCK_AFTER,
    )  # fmt: skip


def _printed(outcome: Outcome) -> str:
    """What a program prints without times, and the hash of what it copied."""
    lines = outcome.output.decode(errors="replace").splitlines()
    return "\n".join(line for line in lines if not TIMES.search(line)) + str(outcome.result.details)


def draw(root: Path, count: int, seed: int) -> list[Path]:
    """Folders of a collection, drawn without repetition."""
    folders = sorted(path.parent for path in root.glob(GIVEN["makefiles"]))
    return random.Random(seed).sample(folders, min(count, len(folders)))


def examined(folders: Sequence[Path], protocols: Sequence[str], jobs: int = 1) -> Iterator[Drawn]:
    """Examine programs, each in a copy of its folder; several at once, in processes."""
    if jobs == 1:
        yield from map(_in_a_copy, folders, repeat(protocols))
        return
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        yield from pool.map(_in_a_copy, folders, repeat(protocols))


def _in_a_copy(folder: Path, protocols: Sequence[str]) -> Drawn:
    """The copy stands beside links to the other folders."""
    with TemporaryDirectory() as work:
        place = Path(work)
        for other in folder.parent.iterdir():
            if other != folder:
                (place / other.name).symlink_to(other)
        shutil.copytree(folder, place / folder.name)
        before = Path.cwd()
        try:
            return examine(place / folder.name, protocols)
        finally:
            os.chdir(before)


def table(drawn: Sequence[Drawn], protocols: Sequence[str]) -> str:
    """How many programs ended how, and a row a program."""
    counts = Counter(one.verdict for one in drawn)
    lines = [f"- {name}: {number}" for name, number in counts.most_common()]
    lines += [
        "",
        "| program | arguments | kernels | check | "
        + " | ".join(f"`{name}`" for name in protocols)
        + " |",
    ]
    lines.append("|---" * (4 + len(protocols)) + "|")
    for one in drawn:
        cells = [f"{one.cycles[name]:,}" if name in one.cycles else "" for name in protocols]
        if one.verdict != "right":
            cells[0] = f"**{one.verdict}**"
        lines.append(
            "| " + " | ".join([one.name, one.arguments, str(one.kernels), one.check, *cells]) + " |"
        )
    return "\n".join(lines)

"""Run the CUDA programs of public suites under several protocols, and write a page of what came out.

``python tools/cuda_suites.py FOLDER`` takes a folder with clones of gpu-rodinia, heterosync and polybenchGpu; a suite
that is not there is left out. Sources are compiled unmodified; inputs that a repository lacks are made. Nothing of the
suites is kept. ``--out FILE`` writes the page, ``--only TEXT`` chooses programs whose name has the text. With
``--sample N`` FOLDER is a collection of any programs, of which N are drawn (``--seed``): cuda_collection.py.

A program is right if its own check says so, if NumPy computes the same, or, where neither is at hand, if it writes what
it writes under sequential consistency without caches (``no-l1``, rule ``sc``); the page says which.
"""

from __future__ import annotations

import argparse
import fnmatch
import os
import re
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parent))
import cuda_collection
from cuda_inputs import INPUTS, ORACLES

from gpucoh.base.errors import Error
from gpucoh.cuda.building import Built, build
from gpucoh.cuda.compiler import toolkit
from gpucoh.cuda.module import Module
from gpucoh.cuda.programs import Outcome, run_program
from gpucoh.machines import machine

REFERENCE = ("no-l1", "sc")
GIVEN = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
PROTOCOLS: Sequence[str] = GIVEN["protocols"]
BUDGET, DEADLOCK_AFTER = 20_000_000, 2_000_000
#: Of the network, in a second run of a program that exceeds the budget: what starves one warp for ever may be the order
#: of requests, which is the same each time without it.
JITTER = 100


@dataclass(frozen=True)
class Program:
    """A program of a suite; the fields are those of cuda_suites.toml.

    Attributes
    ----------
    folder : str
        Of the suite.
    files : sequence of str
        What it writes that the reference has to equal, besides its output.
    headers : sequence of str
        Headers that its repository lacks and that it needs nothing of: empty ones are made.
    fixed_time : bool
        ``time``, which seeds its random numbers, gives 1.
    fields : mapping
        Fields of the machine.
    """

    folder: str
    name: str
    sources: Sequence[str]
    arguments: str = ""
    options: Sequence[str] = ()
    inputs: str = ""
    oracle: str = ""
    says: str = ""
    lacks: str = ""
    drops: str = r"(?!)"
    skip: str = ""
    files: Sequence[str] = ()
    headers: Sequence[str] = ()
    fixed_time: bool = False
    fields: Mapping[str, int] = field(default_factory=dict)

    @property
    def check(self) -> str:
        """How it is checked, for the page."""
        if self.skip:
            return "-"
        return "NumPy" if self.oracle else "own" if self.says else "reference"

    def verdict(self, text: str, folder: Path) -> str:
        """Why a run's output and files are wrong; empty: they are right, or need a reference."""
        if self.oracle:
            return ORACLES[self.oracle](text, folder)
        if self.says and not re.search(self.says, text):
            return f"the output lacks '{self.says}'"
        return (
            f"the output has '{self.lacks}'" if self.lacks and re.search(self.lacks, text) else ""
        )


# ---- the programs

_BARRIERS = (
    "atomicTreeBarrUniq",
    "atomicTreeBarrUniqLocalExch",
    "lfTreeBarrUniq",
    "lfTreeBarrUniqLocalExch",
)
_MUTEXES = ("spinMutex", "spinMutexEBO", "sleepMutex", "faMutex")
_SEMAPHORES = tuple(f"{kind}{n}" for kind in ("spinSem", "spinSemEBO") for n in (1, 2, 10, 120))
#: Programs of Polybench that launch nothing with fewer than 256 elements, and those that repeat much.
_LARGE, _SMALL = ("correlation", "covariance", "gemver"), ("jacobi2D", "3DConvolution", "adi")


def programs(root: Path) -> Iterator[Program]:
    """The programs of the suites that are there."""
    for given in GIVEN["rodinia"]:
        yield Program("gpu-rodinia/cuda", **given)
    for name in (*_BARRIERS, *_MUTEXES, *_SEMAPHORES):
        yield Program(
            "heterosync/cuda/syncPrims/uvm", name, ["main.cu"], f"{name} 2 15 2", says="PASSED"
        )
    for path in sorted((root / "polybenchGpu/CUDA").glob("*/*.cu")):
        place = str(path.relative_to(root / "polybenchGpu/CUDA"))
        yield Program("polybenchGpu/CUDA", path.stem, [place], says=r"(Percent|misses): 0\s")


def sizes(program: Program, sources: Sequence[Path], folder: Path) -> list[str]:
    """Options that make a program of Polybench small: a header with its sizes."""
    size = 256 if program.name in _LARGE else 32 if program.name in _SMALL else 64
    names: set[str] = {"N"}
    for file in [sources[0], *sources[0].parent.glob("*.cuh")]:
        text = file.read_text(errors="replace")
        names |= set(re.findall(r"^ *# *define ([A-Z]+) +\d+\s*$", text, re.MULTILINE))
    lines = ["#include <cuda.h>", "#include <cuda_runtime.h>"]
    for name in sorted(names):
        if not name.startswith("DIM"):
            lines.append(f"#define {name} {3 if name in ('TSTEPS', 'TMAX') else size}")
    header = folder / "sizes.h"
    header.write_text("\n".join(lines) + "\n")
    return ["-include", str(header)]


# ---- runs


@dataclass
class Row:
    """What came of a program."""

    program: Program
    reason: str = ""  # why it does not compile
    kernels: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)  # kernel -> first reason
    cycles: dict[str, int] = field(default_factory=dict)
    wrong: dict[str, str] = field(default_factory=dict)  # protocol -> why
    starved: set[str] = field(
        default_factory=set
    )  # protocols under which it ends with jitter alone


def made(program: Program, root: Path, folder: Path) -> Built:
    """Compile a program of a suite in root, with the headers that it needs in the folder."""
    sources = [path for pattern in program.sources for path in sorted(root.glob(pattern))]
    options = [option.format(suite=root) for option in program.options]
    for name in program.headers:
        (folder / "headers" / name).parent.mkdir(parents=True)
        (folder / "headers" / name).touch()
        options.append(f"-I{folder / 'headers'}")
    if program.fixed_time:
        (folder / "fixed_time.h").write_text(
            "#include <time.h>\n#define time(seconds) ((time_t) 1)\n"
        )
        options += ["-include", str(folder / "fixed_time.h")]
    if "polybench" in program.folder and sources:
        options += sizes(program, sources, folder)
    return build(sources, options)


def examine(program: Program, root: Path, folder: Path) -> Row:
    """Compile a program, translate its kernels, run it under every protocol."""
    row = Row(program)
    try:
        built = made(program, root, folder)
    except (Error, IndexError) as error:
        row.reason = str(error)
        return row
    translate(row, built)
    if not program.skip and not row.refused:
        run(row, built, folder)
    return row


def translate(row: Row, built: Built) -> None:
    """Translate every kernel."""
    for path, name in built.ptx:
        module = Module((path.read_text(encoding="utf-8"), name))
        for kernel in module.kernels:
            row.kernels.append(f"{name}:{kernel}")
            try:
                module.translation(kernel)
            except Error as error:
                row.refused[kernel] = str(error)


def run(row: Row, built: Built, folder: Path) -> None:
    """Run the program under every protocol, and check it."""
    program = row.program
    if program.inputs:
        INPUTS[program.inputs](folder)
    wanted = ""
    if program.check == "reference":
        wanted = written(program, outcome_of(program, built, *REFERENCE), folder)
    for protocol in PROTOCOLS:
        outcome = outcome_of(program, built, protocol, None)
        if "exceeds its budget" in outcome.failure:
            row.starved.add(protocol)
            outcome = outcome_of(program, built, protocol, None, noc_jitter=JITTER)
        text = outcome.output.decode(errors="replace")
        why = outcome.reason
        if not why and program.check == "reference" and written(program, outcome, folder) != wanted:
            why = "the output differs from the reference's"
        why = why or program.verdict(text, folder)
        if why:
            row.wrong[protocol] = why
        row.cycles[protocol] = outcome.result.cycles


def outcome_of(
    program: Program, built: Built, protocol: str, rule: str | None, **fields: int
) -> Outcome:
    """One run, on a machine with these fields."""
    arguments = program.arguments.split()
    budget = BUDGET * (10 if program.name in _LARGE else 1)
    return run_program(
        built, program.name, arguments, capture="output", protocol=protocol, consistency=rule,
        machine=machine("fermi").replace(**program.fields, **fields), seed=0, check=False, budget=budget,
        deadlock_after=DEADLOCK_AFTER,
    )  # fmt: skip


def written(program: Program, outcome: Outcome, folder: Path) -> str:
    """The output without what differs from run to run, a hash of what was copied to the host, and the files."""
    lines = outcome.output.decode(errors="replace").splitlines()
    text = "\n".join(line for line in lines if not re.search(program.drops, line))
    text += f"\n{outcome.result.details}"
    for pattern in program.files:
        found = sorted(folder.glob(pattern))
        if not found:
            return f"no file {pattern}"
        for path in found:
            text += f"\n{path.name}: {path.read_bytes().hex()}"
            path.unlink()
    return text


# ---- the page


_HEAD = """# CUDA programs of public suites

Rodinia, HeteroSync and Polybench, unmodified. `python tools/cuda_suites.py FOLDER --out docs/cuda-suites.md` takes a
folder with their clones, compiles them, runs them on machine `fermi`, and writes this page. Nothing of them is in this
repository. CUDA's compiler was {version}.
"""
_CHECKS = """
*Check.* own: the program's own. NumPy: the same computed by NumPy. reference: the output is that under `no-l1` with the
rule `sc`, and so are the bytes that it copies from the device; times are left out. Numbers are core cycles of all
launches. gemver and gesummv read memory that they never write, which is zeros here. †: without jitter it exceeds 20
million cycles a launch; the number is that with `noc_jitter = 100` ([why](#what-is-wrong-and-why)).
"""


def page(rows: Sequence[Row], seconds: float) -> str:
    """The page."""
    built = [row for row in rows if not row.reason]
    kernels = {kernel for row in built for kernel in row.kernels}
    refused = {kernel for row in built for kernel in row.refused}
    ran = [row for row in built if row.cycles]
    right = [row for row in ran if not row.wrong]
    translated = len(kernels) - len(refused)
    lines = [
        _HEAD.format(version=toolkit().version),
        f"- {len(built)} of {len(rows)} programs compile. Of their {len(kernels)} kernels {translated} translate.",
        f"- {len(right)} of the {len(ran)} programs that were run are right under all eight protocols.",
        _CHECKS,
        "| suite | program | kernels | check | " + " | ".join(f"`{p}`" for p in PROTOCOLS) + " |",
        "|---|---|---|---|" + "---|" * len(PROTOCOLS),
    ]
    notes = []
    for row in built:
        cells = " | ".join(_cell(row, protocol) for protocol in PROTOCOLS)
        suite, name = row.program.folder.split("/")[0], row.program.name
        lines.append(f"| {suite} | {name} | {len(row.kernels)} | {row.program.check} | {cells} |")
        reasons: dict[str, list[str]] = {}
        for protocol, why in row.wrong.items():
            reasons.setdefault(_short(why), []).append(f"`{protocol}`")
        for why, under in reasons.items():
            notes.append(
                f"- {name}, {'all' if len(under) == len(PROTOCOLS) else ', '.join(under)}: {why}"
            )
        notes += [f"- {name} was not run: {row.program.skip}."] if row.program.skip else []
        notes += [f"- {name}, not translated: {_short(why)}" for why in row.refused.values()]
    lines += ["", "## What is wrong, and why", "", *(notes or ["Nothing."]), *causes(rows)]
    missing = [f"- {row.program.name}: {_short(row.reason)}" for row in rows if row.reason]
    lines += ["", "## What does not compile", "", *(missing or ["Nothing."])]
    print(f"{seconds:.0f} s", file=sys.stderr)
    return "\n".join(lines) + "\n"


def causes(rows: Sequence[Row]) -> Iterator[str]:
    """The causes that are known of programs that are wrong; of others, what the table does not show."""
    for known in GIVEN["causes"]:
        wanted = [row for row in rows if row.wrong or row.starved or known.get("always")]
        if any(fnmatch.fnmatch(row.program.name, known["programs"]) for row in wanted):
            yield f"\n{known['text'].strip()}"


def _cell(row: Row, protocol: str) -> str:
    if protocol in row.wrong:
        return "**wrong**"
    mark = " †" if protocol in row.starved else ""
    return f"{row.cycles[protocol]:,}{mark}" if protocol in row.cycles else "-"


def _short(text: str) -> str:
    """A message without the folders of this machine."""
    plain = re.sub(r"/[\w./+-]*/([\w.+-]+)", r"\1", text)
    return plain if len(plain) <= 220 else f"{plain[:217]}..."


def sample(root: Path, count: int, seed: int, jobs: int, out: Path | None) -> int:
    """Run programs drawn from a collection."""
    drawn = []
    folders = cuda_collection.draw(root, count, seed)
    for one in cuda_collection.examined(folders, PROTOCOLS, jobs):
        print(f"{one.name}: {one.verdict} {_short(one.why)}", flush=True)
        drawn.append(one)
        if out:  # each time: a draw takes hours
            out.write_text(cuda_collection.table(drawn, PROTOCOLS) + "\n", encoding="utf-8")
    if not out:
        print(cuda_collection.table(drawn, PROTOCOLS))
    return 1 if any(one.verdict == "wrong" for one in drawn) else 0


def main() -> int:
    """Run the suites. Exit status 1: a program is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, help="the page")
    parser.add_argument("--only", default="", help="a text that names have")
    parser.add_argument("--sample", type=int, metavar="N", help="draw N programs of a collection")
    parser.add_argument("--seed", type=int, default=0, help="of the draw")
    parser.add_argument("--jobs", type=int, default=1, help="drawn programs at once")
    given = parser.parse_args()
    if given.sample:
        return sample(given.folder.absolute(), given.sample, given.seed, given.jobs, given.out)
    begin, rows = time.perf_counter(), []
    root = given.folder.absolute()
    for program in programs(root):
        if given.only not in program.name or not (root / program.folder).is_dir():
            continue
        with TemporaryDirectory() as work:
            before, own = Path.cwd(), Path(work) / "suite" / "program"
            own.mkdir(parents=True)
            os.chdir(own)  # where programs write; some read ../../data
            row = examine(program, root / program.folder, own)
            os.chdir(before)
        rows.append(row)
        state = (
            row.reason[:150] or "; ".join(f"{p}: {w}"[:200] for p, w in row.wrong.items()) or "well"
        )
        print(f"{program.name}: {len(row.kernels)} kernels, {state}", flush=True)
    text = page(rows, time.perf_counter() - begin)
    if given.out:
        given.out.write_text(text, encoding="utf-8")
    else:
        print(text)
    return 1 if any(row.wrong for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())

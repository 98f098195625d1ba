"""Compare workloads of the suite with the CUDA programs that they port, and write a page of what differs.

``python tools/cuda_ports.py FOLDER`` takes a folder with clones of gpu-rodinia and heterosync. cuda_ports.toml names
the pairs. An original is compiled unmodified, but for its copies between host and device (cuda_ports.c): they bring it
the workload's input, and its results here, so that both compute the same problem and their words are compared. Programs
of HeteroSync check themselves. ``--out FILE`` writes the page; with ``--only ID,..`` it keeps the rows of the others.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray
from wrap import wrapped

from gpucoh.base.errors import Error
from gpucoh.cuda.building import Built, build
from gpucoh.cuda.compiler import toolkit
from gpucoh.cuda.programs import run_program
from gpucoh.device.gpu import GPU
from gpucoh.machines import machine
from gpucoh.results.stats import Stats
from gpucoh.suite import find
from gpucoh.suite.base import compare

BASELINE, COUNTED = "no-l1", "mesi"
PROTOCOLS = (BASELINE, COUNTED, "tc-weak", "denovo-drf", "gpu-hrf")
MACHINE, SCALE, SEED = "fermi", "small", 0
BUDGET, DEADLOCK_AFTER = 50_000_000, 2_000_000
#: Counts that differ by more than this share, and speedups by more than this number, are printed in bold.
CLOSE_COUNT, CLOSE_SPEEDUP = 0.05, 0.05
TABLE, COPIES = Path(__file__).with_suffix(".toml"), Path(__file__).with_suffix(".c")


@dataclass(frozen=True)
class Copy:
    """A copy between host and device of an original, and the workload's array that it has."""

    copy: int
    array: int


@dataclass(frozen=True)
class Pair:
    """A workload and its original; the fields are those of cuda_ports.toml."""

    workload: str
    folder: str
    sources: Sequence[str]
    arguments: str
    name: str = ""
    options: Sequence[str] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    files: str = ""
    given: Sequence[Copy] = ()
    results: Sequence[Copy] = ()
    tolerance: float = 0
    input: bool = False
    says: str = ""
    variant: str = ""
    counted: bool = True
    differs: str = ""

    @property
    def original(self) -> str:
        """What the page calls the original."""
        return self.name or self.folder.split("/")[-1]


def pairs(table: Mapping[str, Any]) -> Iterator[Pair]:
    """The pairs of the table.

    Raises
    ------
    TypeError, ValueError
        If a field is unknown, or a pair has no check.
    """
    for given in table["pair"]:
        copies = {
            name: tuple(Copy(**copy) for copy in given.get(name, ()))
            for name in ("given", "results")
        }
        pair = Pair(**{**given, **copies})
        if bool(pair.says) == bool(pair.results):
            raise ValueError(f"pair {pair.workload}: one of says and results is its check")
        yield pair


# ---- the workload


class Watched:
    """A GPU that keeps the arrays of a workload, and what they had at first."""

    def __init__(self, gpu: GPU) -> None:
        self.gpu = gpu
        self.arrays: list[Any] = []
        self.first: list[NDArray[Any]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.gpu, name)

    def array(self, data: Any, *args: Any, **options: Any) -> Any:
        """An array of the GPU."""
        return self._kept(self.gpu.array(data, *args, **options))

    def zeros(self, *args: Any, **options: Any) -> Any:
        """An array of zeros."""
        return self._kept(self.gpu.zeros(*args, **options))

    def _kept(self, array: Any) -> Any:
        self.arrays.append(array)
        self.first.append(array.numpy().ravel().copy())
        return array


@dataclass
class Side:
    """The runs of a workload or of an original: statistics and faults by protocol."""

    stats: dict[str, Stats] = field(default_factory=dict)
    wrong: dict[str, str] = field(default_factory=dict)

    def speedup(self, protocol: str) -> float:
        """Cycles without L1s over those under a protocol; NaN if one of the runs is missing."""
        runs = self.stats.get(BASELINE), self.stats.get(protocol)
        return runs[0].cycles / runs[1].cycles if runs[0] and runs[1] else float("nan")


@dataclass
class Port:
    """The workload of a pair, ready to run, and the arrays of its run without L1s."""

    pair: Pair
    instance: Any
    side: Side = field(default_factory=Side)
    first: list[NDArray[Any]] = field(default_factory=list)
    last: list[NDArray[Any]] = field(default_factory=list)

    @classmethod
    def of(cls, pair: Pair) -> Port:
        """The workload with its input."""
        instance = find(pair.workload).prepare(SCALE, SEED, dict(pair.parameters))
        return cls(pair, instance)

    def values(self) -> dict[str, Any]:
        """What braces in the original's arguments name."""
        found = {**self.instance.setting.params, "name": self.pair.original}
        if "tiles" in found:
            found["side"] = 16 * found["tiles"]
        if "blocks_per_core" in found:
            found["blocks"] = found["blocks_per_core"] * machine(MACHINE).cores
        return found

    def take(self, input: NDArray[Any]) -> None:
        """Another input in place of the workload's."""
        own = self.instance.input
        self.instance = dataclasses.replace(
            self.instance, input=input.view(own.dtype).reshape(own.shape)
        )

    def run(self, protocol: str) -> None:
        """Run under a protocol."""
        with GPU(MACHINE, protocol, seed=SEED, budget=BUDGET, deadlock_after=DEADLOCK_AFTER) as gpu:
            watched = Watched(gpu)
            try:
                outcome = self.instance.run(watched)
            except Error as error:
                self.side.wrong[protocol] = str(error)
                return
            self.side.stats[protocol] = gpu.stats().of_a_run()
            if not outcome.correct:
                self.side.wrong[protocol] = outcome.where
            if protocol == BASELINE:
                self.first = watched.first
                self.last = [array.numpy().ravel().copy() for array in watched.arrays]


# ---- the original


def write_graph(port: Port) -> None:
    """The graph of ``bfs`` as Rodinia's program reads it."""
    records, columns = port.first[0].reshape(-1, 2), port.first[1]
    lines = [str(len(records)), *(f"{first} {degree}" for first, degree in records), "", "0", ""]
    lines += [str(len(columns)), *(f"{to} 1" for to in columns)]
    Path("graph.txt").write_text("\n".join(lines) + "\n")


def write_zeros(port: Port) -> None:
    """A file with a number for each cell; the values come by copies."""
    Path("zeros.txt").write_text("0\n" * port.first[0].size)


def write_records(port: Port) -> None:
    """Records of 48 characters; the places come by copies."""
    Path("list.txt").write_text("records.txt\n")
    Path("records.txt").write_text(
        (" " * 28 + " 30.0 90.0".ljust(20) + "\n") * (port.first[1].size)
    )


FILES: dict[str, Callable[[Port], None]] = {
    "graph": write_graph,
    "zeros": write_zeros,
    "records": write_records,
}


@dataclass
class Original:
    """The original of a pair, compiled."""

    pair: Pair
    built: Built
    arguments: Sequence[str]
    side: Side = field(default_factory=Side)

    @classmethod
    def of(cls, pair: Pair, root: Path, values: Mapping[str, Any]) -> Original:
        """Compile it."""
        folder = root / pair.folder
        sources = [path for pattern in pair.sources for path in sorted(folder.glob(pattern))]
        options = [option.format(folder=folder) for option in pair.options]
        copies = [] if pair.says else [COPIES]
        if copies:
            options.append("-DcudaMemcpy=ported_copy")
        built = build([*sources, *copies], options)
        return cls(pair, built, pair.arguments.format(**values).split())

    def run(self, protocol: str, last: Sequence[NDArray[Any]]) -> None:
        """Run under a protocol in the working directory, and compare the results with the workload's."""
        for old in Path().glob("out-*.bin"):
            old.unlink()
        outcome = run_program(
            self.built, self.pair.original, self.arguments, capture="output", protocol=protocol, consistency=None,
            machine=machine(MACHINE), seed=SEED, check=False, budget=BUDGET, deadlock_after=DEADLOCK_AFTER,
        )  # fmt: skip
        if not outcome.failure:
            self.side.stats[protocol] = outcome.result.stats
        why = outcome.reason
        text = outcome.output.decode(errors="replace")
        if not why and self.pair.says and self.pair.says not in text:
            why = f"the output lacks '{self.pair.says}'"
        why = why or differences(self.pair, last)
        if why:
            self.side.wrong[protocol] = why


def differences(pair: Pair, last: Sequence[NDArray[Any]]) -> str:
    """Why the results that the original copied to the host differ from the workload's; empty: they do not."""
    for result in pair.results if last else ():
        ours = last[result.array]
        made = sorted(Path().glob("out-*.bin"), key=lambda path: int(path.stem[4:]))
        if not -len(made) <= result.copy < len(made):
            return f"no copy {result.copy} to the host"
        data = made[result.copy].read_bytes()
        if len(data) != ours.nbytes:
            return (
                f"copy {result.copy} has {len(data)} bytes, array {result.array} has {ours.nbytes}"
            )
        theirs = np.frombuffer(data, ours.dtype)
        found = compare(f"array {result.array}", ours, theirs, tolerance=pair.tolerance)
        if not found.correct:
            return f"{found.mismatches} of {ours.size} words differ: {found.where}"
    return ""


# ---- a pair


@dataclass
class Row:
    """What came of a pair."""

    pair: Pair
    ours: Side = field(default_factory=Side)
    theirs: Side = field(default_factory=Side)
    reason: str = ""  # why there is no comparison
    kept: Sequence[str] = ()  # the cells behind its name, of a page written before

    @property
    def cells(self) -> Sequence[str]:
        """The cells behind its name: results, counts, speedups."""
        return self.kept or (results(self), *counts(self), *speedups(self))

    @property
    def name(self) -> tuple[str, str]:
        """The cells of workload and original."""
        return f"`{self.pair.workload}`{self.pair.variant}", self.pair.original


def examine(pair: Pair, root: Path, protocols: Sequence[str] = PROTOCOLS) -> Row:
    """Run both sides of a pair in the working directory."""
    row = Row(pair)
    try:
        port = Port.of(pair)
        original = Original.of(pair, root, port.values())
    except Error as error:
        row.reason = str(error)
        return row
    row.ours, row.theirs = port.side, original.side
    if pair.input:
        original.run(BASELINE, ())
        port.take(np.fromfile("given-0.bin", np.uint8))
    for protocol in protocols:
        port.run(protocol)
    for copy in pair.given:
        port.first[copy.array].tofile(f"in-{copy.copy}.bin")
    if pair.files:
        FILES[pair.files](port)
    for protocol in protocols:
        original.run(protocol, port.last)
    return row


# ---- the page


def page(rows: Sequence[Row], table: Mapping[str, Any]) -> str:
    """The page; the table has its head, and says why workloads have no pair."""
    ran = [row for row in rows if not row.reason]
    fed = [f"`{row.pair.workload}`" for row in ran if row.pair.input]
    inputs = f"{', '.join(fed)} takes the original's input." if fed else ""
    counted = [row for row in ran if row.pair.counted]
    others = [row.name[0] for row in ran if not row.pair.counted]
    uncounted = f" {', '.join(others)} differs on purpose, and is not." if others else ""
    near_counts = [all(map(near, row.cells[2:6])) for row in counted]
    near_speedups = [all(map(near, row.cells[6:])) for row in counted]
    columns = [f"`{protocol}`" for protocol in PROTOCOLS[1:]]
    lines = [
        table["head"].format(
            version=toolkit().version,
            inputs=inputs,
            all=len(counted),
            uncounted=uncounted,
            equal=sum("**" not in row.cells[0] for row in counted),
            memory=sum(near(row.cells[2]) for row in counted),
            counts=sum(near_counts),
            speedups=sum(near_speedups),
            both=sum(a and b for a, b in zip(near_counts, near_speedups, strict=True)),
            percent=round(100 * CLOSE_COUNT),
            near=CLOSE_SPEEDUP,
            baseline=BASELINE,
            counted=COUNTED,
        ),
        "| workload | original | results | instructions | memory | L1 loads | hits | flits | "
        + " | ".join(columns)
        + " |",
        "|---" * (8 + len(columns)) + "|",
    ]
    lines += ["| " + " | ".join((*row.name, *row.cells)) + " |" for row in ran]
    notes = [
        f"**`{row.pair.workload}`**{row.pair.variant}: {row.pair.differs.strip()}"
        for row in ran
        if row.pair.differs
    ]
    lines += ["", "## What differs, and why", "", "\n\n".join(notes or ["Nothing."])]
    absent = [f"**`{row.pair.workload}`**: {row.reason}" for row in rows if row.reason]
    absent += [f"**`{workload}`**: {why.strip()}" for workload, why in table["left_out"].items()]
    if absent:
        lines += ["", "## What is not compared", "", "\n\n".join(absent)]
    return wrapped("\n".join(lines) + "\n")


def results(row: Row) -> str:
    """The cell of results."""
    wrong = [*row.ours.wrong, *row.theirs.wrong]
    if wrong:
        return f"**not under {', '.join(f'`{protocol}`' for protocol in dict.fromkeys(wrong))}**"
    if row.pair.says:
        return "own checks"
    return f"equal within {row.pair.tolerance:g}" if row.pair.tolerance else "equal"


def counts(row: Row) -> list[str]:
    """The cells of counts: instructions, those of memory, L1 loads, hits, flits."""
    found = []
    for protocol, number in (
        (BASELINE, lambda stats: stats.instructions),
        (BASELINE, lambda stats: stats.memory_instructions),
        (COUNTED, lambda stats: stats.l1.loads),
        (COUNTED, lambda stats: stats.l1.load_hits / max(1, stats.l1.loads)),
        (COUNTED, lambda stats: stats.flits()),
    ):
        sides = [side.stats.get(protocol) for side in (row.theirs, row.ours)]
        if None in sides:
            found.append("-")
            continue
        theirs, ours = (number(stats) for stats in sides)
        if isinstance(theirs, float):
            found.append(cell(theirs, ours, CLOSE_COUNT, "{:.0%}"))
        else:
            found.append(cell(theirs, ours, CLOSE_COUNT * max(theirs, ours), "{:,}"))
    return found


def speedups(row: Row) -> list[str]:
    """The cells of speedups."""
    return [
        cell(row.theirs.speedup(protocol), row.ours.speedup(protocol), CLOSE_SPEEDUP, "{:.2f}")
        for protocol in PROTOCOLS[1:]
    ]


def cell(theirs: float, ours: float, close: float, form: str) -> str:
    """Two numbers, bold if they are further apart than ``close``."""
    if theirs != theirs or ours != ours:
        return "-"
    text = f"{form.format(theirs)} / {form.format(ours)}"
    return text if abs(theirs - ours) <= close else f"**{text}**"


def near(text: str) -> bool:
    """Whether a cell has both numbers, and they are near."""
    return text != "-" and "**" not in text


def kept(row: Row, text: str) -> Row:
    """The row as a page has it.

    Raises
    ------
    ValueError
        If the page lacks it.
    """
    for line in text.splitlines():
        cells = [part.strip() for part in line.strip("|").split(" | ")]
        if line.startswith("|") and tuple(cells[:2]) == row.name:
            return dataclasses.replace(row, kept=tuple(cells[2:]))
    raise ValueError(f"the page has no row {' '.join(row.name)}: run it")


def chosen(every: Iterable[Pair], only: str, root: Path) -> Iterator[Pair]:
    """Pairs whose workload is named, and whose suite is there."""
    names = only.split(",") if only else []
    for pair in every:
        if (not names or pair.workload in names) and (root / pair.folder).is_dir():
            yield pair


def main() -> int:
    """Run the pairs. Exit status 1: results differ."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, help="the page")
    parser.add_argument(
        "--only", default="", help="workloads, comma separated; the page keeps the other rows"
    )
    given = parser.parse_args()
    root, rows = given.folder.absolute(), []
    with TABLE.open("rb") as file:
        table = tomllib.load(file)
    before = Path.cwd()
    old = given.out.read_text(encoding="utf-8") if given.only and given.out else ""
    run = list(chosen(pairs(table), given.only, root))
    for pair in pairs(table) if old else run:
        if pair not in run:
            rows.append(kept(Row(pair), old))
            continue
        with TemporaryDirectory() as work:
            os.chdir(work)  # where copies are
            row = examine(pair, root)
            os.chdir(before)
        rows.append(row)
        faults = [f"{p}: {w}" for side in (row.theirs, row.ours) for p, w in side.wrong.items()]
        text = row.reason or " | ".join(row.cells)
        print(f"{pair.workload}: {text} {'; '.join(faults)}", flush=True)
    text = page(rows, table)
    if given.out:
        given.out.write_text(text, encoding="utf-8")
    else:
        print(text)
    return 1 if any(row.theirs.wrong or row.ours.wrong for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())

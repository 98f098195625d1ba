"""Run unmodified kernels with published rates on their GPUs' presets, and write parts of docs/correlation.md.

``python tools/correlation.py FOLDER`` takes a clone of the repository that correlation.toml names, compiles its
program, and runs each kernel on arrays that no cache holds, after the same kernel on others has filled the L2: as many
threads as the machine takes in at least eight turns, and half a million at least, where the original has 2^28 again and
again. Rates go to benchmarks/correlation.csv; ``--page`` writes the page from it alone. ``--set KEY=VALUE``,
``--protocol``, ``--gpu`` and ``--kernel`` measure something else, for a look.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import correlation_kernels as beside
import generated
import numpy as np

from gpucoh.cli.options import pairs
from gpucoh.cuda import Module, RawKernel
from gpucoh.device.gpu import GPU
from gpucoh.machines import Machine, machine

ROOT = Path(__file__).resolve().parent.parent
STORE, PAGE = ROOT / "benchmarks" / "correlation.csv", ROOT / "docs" / "correlation.md"
FIGURE = ROOT / "docs" / "figures" / "correlation.png"
PUBLISHED = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
#: One that agrees with the barrier of every GPU (docs/hardware.md), and the same with another store buffer.
PROTOCOLS = ("gpu-hrf", "gpu-hrf[sb_entry=line]")
HEAD = ("protocol", "gpu", "kernel", "threads", "blocks", "gb_s")
LEAST_TURNS, LEAST_THREADS = 8, 2**19


@dataclass(frozen=True)
class Row:
    """A rate that is published, in GB/s, and what counts as moved: doubles a thread."""

    gpu: str
    kernel: str
    threads: int
    blocks: int
    published: float
    doubles: int


def published() -> Iterator[Row]:
    """All rates of correlation.toml."""
    kernels, doubles = PUBLISHED["source"]["kernels"], PUBLISHED["source"]["arrays"]
    for gpu, of in PUBLISHED["gpu"].items():
        for threads, blocks, *rates in of["rows"]:
            for kernel, rate, moved in zip(kernels, rates, doubles, strict=True):
                yield Row(gpu, kernel, threads, blocks, float(rate), moved)


def threads_of(row: Row, built: Machine) -> int:
    """How many threads run."""
    turn = built.cores * row.blocks * row.threads
    return turn * max(LEAST_TURNS, -(-LEAST_THREADS // turn))


def measured(
    rows: list[Row], kernel: RawKernel, built: Machine, protocol: str
) -> Iterator[tuple[Row, float]]:
    """The rates of rows of one kernel with one number of blocks a core on a machine, in GB/s."""
    most = max(threads_of(row, built) for row in rows)
    words = int(built.partitions * built.l2_kib * 1024) // 8
    before = -(-words // rows[0].doubles // rows[0].threads) * rows[0].threads
    with GPU(built.replace(blocks_per_core=rows[0].blocks), protocol) as gpu:
        arrays, others = (
            [gpu.zeros(count, np.float64) for _ in range(4)] for count in (most, before)
        )

        def cycles(threads: int, count: int, of: list[Any]) -> int:
            begin = gpu.stats().cycles
            gpu.launch(kernel, grid=count // threads, block=threads, args=(*of, count, False))
            return gpu.stats().cycles - begin

        cycles(rows[0].threads, before, others)
        filled = gpu.snapshot()
        for row in rows:
            gpu.restore(filled)
            count = threads_of(row, built)
            seconds = cycles(row.threads, count, arrays) / (1e6 * built.core_mhz)
            yield row, 8 * row.doubles * count / seconds / 1e9


def run(given: argparse.Namespace) -> None:
    """Measure what is asked for, and store it if that is all."""
    module = Module(given.folder / PUBLISHED["source"]["program"], ["-std=c++20"])
    kernels = {
        name: module[symbol]
        for name in PUBLISHED["source"]["kernels"]
        for symbol in module.kernels
        if f"{name}_kernel" in symbol
    }
    changes = {key: float(value) for key, value in pairs("--set", given.set).items()}
    asked = [
        row
        for row in published()
        if given.gpu in (None, row.gpu) and given.kernel in (None, row.kernel)
    ]
    asked.sort(key=lambda row: (row.gpu, row.kernel, row.blocks))
    groups = itertools.groupby(asked, lambda row: (row.gpu, row.kernel, row.blocks))
    kinds = [
        (kernel, machine(gpu).replace(**changes), [*rows]) for (gpu, kernel, _), rows in groups
    ]
    lines = []
    for protocol, (kernel, built, rows) in itertools.product(given.protocol or PROTOCOLS, kinds):
        for row, rate in measured(rows, kernels[kernel], built, protocol):
            lines.append([protocol, row.gpu, row.kernel, row.threads, row.blocks, f"{rate:.1f}"])
            print(*lines[-1], f"{rate / row.published:.3f}", flush=True)
    if given.gpu or given.kernel or given.protocol or changes:
        return
    with STORE.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([HEAD, *lines])
    beside.run(given.folder.absolute())


# ---- the page


def stored(protocol: str) -> list[tuple[Row, float]]:
    """Rows with the rates of the store."""
    with STORE.open(newline="", encoding="utf-8") as file:
        rates = {tuple(line[:5]): float(line[5]) for line in list(csv.reader(file))[1:]}
    return [
        (row, rates[protocol, row.gpu, row.kernel, str(row.threads), str(row.blocks)])
        for row in published()
    ]


def ranks(values: list[float]) -> np.ndarray:
    """Ranks from 0; equal values have the mean of theirs."""
    found = np.asarray(values)
    return np.array([(found < one).sum() + ((found == one).sum() - 1) / 2 for one in found])


def summary(title: str, rows: list[tuple[Row, float]]) -> tuple[str, ...]:
    """A line of the table of errors."""
    errors = np.array([abs(rate / row.published - 1) for row, rate in rows])
    both = [ranks([row.published for row, _ in rows]), ranks([rate for _, rate in rows])]
    return (
        title,
        str(len(rows)),
        f"{np.median(errors):.1%}",
        f"{np.quantile(errors, 0.9):.1%}",
        f"{errors.max():.1%}",
        f"{np.corrcoef(both)[0, 1]:.3f}",
    )


def errors(protocol: str) -> str:
    """The table of errors, by GPU, by kernel and in all."""
    rows = stored(protocol)
    groups: list[Any] = [
        (f"`{gpu}`", [one for one in rows if one[0].gpu == gpu]) for gpu in PUBLISHED["gpu"]
    ]
    groups += [
        (kernel, [one for one in rows if one[0].kernel == kernel])
        for kernel in PUBLISHED["source"]["kernels"]
    ]
    head = (
        *(f"`{protocol}`", "rates", "median error", "90th percentile", "largest"),
        "rank correlation",
    )
    return generated.table(head, [summary(*group) for group in [*groups, ("all", rows)]])


def rates(protocol: str) -> str:
    """The table of rates: published, and simulated as a share of that."""
    kernels = PUBLISHED["source"]["kernels"]
    by_row = itertools.groupby(
        stored(protocol), lambda one: (one[0].gpu, one[0].threads, one[0].blocks)
    )
    lines = [
        (
            f"`{gpu}`",
            str(threads),
            str(blocks),
            *(f"{row.published:,.0f}: {rate / row.published:.2f}" for row, rate in cells),
        )
        for (gpu, threads, blocks), cells in by_row
    ]
    return generated.table(("machine", "threads a block", "blocks a core", *kernels), lines)


def rows_beside(gb_s: bool = True) -> list[tuple[beside.Row, float]]:
    """The rates of the other programs, with those of the store; in GB/s or the unit of their set."""
    found, rows = beside.stored(), []
    for row in beside.published():
        unit = 1.0
        if gb_s and beside.PUBLISHED[row.set]["unit"] != "GB/s":
            unit = machine(row.gpu).core_mhz / 1e3
        rows.append((replace(row, published=unit * row.published), unit * found[beside.key(row)]))
    return rows


def errors_beside() -> str:
    """Their table of errors: by kernel, by GPU, and with the streams."""
    rows = rows_beside()
    by_kernel = {(row.set, row.kernel): f"{row.set}: `{row.kernel}`" for row, _ in rows}
    groups: list[Any] = [
        (title, [one for one in rows if (one[0].set, one[0].kernel) == kernel])
        for kernel, title in by_kernel.items()
    ]
    groups += [
        (f"`{gpu}`", [one for one in rows if one[0].gpu == gpu])
        for gpu in dict.fromkeys(row.gpu for row, _ in rows)
    ]
    groups += [("all of these", rows), ("and the streams", [*rows, *stored(PROTOCOLS[1])])]
    head = (f"`{PROTOCOLS[1]}`", "rates", "median error", "90th percentile", "largest")
    return generated.table((*head, "rank correlation"), [summary(*group) for group in groups])


def rates_beside() -> str:
    """Their rates: published, and simulated as a share of that."""
    by_line = itertools.groupby(
        rows_beside(gb_s=False), lambda one: (one[0].set, one[0].kernel, one[0].gpu)
    )
    lines = [
        (
            f"{name}: `{kernel}`",
            f"`{gpu}`",
            "; ".join(
                f"{row.case:,}: {row.published:,.0f}: {rate / row.published:.2f}"
                for row, rate in cells
            ),
        )
        for (name, kernel, gpu), cells in by_line
    ]
    return generated.table(("kernel", "machine", "case: published: share"), lines)


def draw() -> None:
    """Draw simulated over published rates."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.4, 3.9), layout="constrained")
    panels: list[Any] = [
        (
            protocol,
            {
                gpu: [one for one in stored(protocol) if one[0].gpu == gpu]
                for gpu in PUBLISHED["gpu"]
            },
        )
        for protocol in PROTOCOLS
    ]
    others = rows_beside()
    panels.append(
        (
            "other programs",
            {name: [one for one in others if one[0].set == name] for name in beside.SETS},
        )
    )
    for axes, (title, kinds) in zip(figure.subplots(1, 3), panels, strict=True):
        for (name, rows), mark in zip(kinds.items(), "osD^", strict=True):
            points = [(row.published, rate) for row, rate in rows]
            axes.loglog(*zip(*points, strict=True), mark, ms=4, mfc="none", label=name)
        ends = np.array(axes.get_xlim())
        axes.loglog(ends, ends, "k-", lw=0.8)
        for factor in (0.75, 1.25):
            axes.loglog(ends, factor * ends, "k:", lw=0.6)
        axes.set(xlabel="published, GB/s", title=title)
        axes.legend(frameon=False)
    figure.axes[0].set_ylabel("simulated, GB/s (dotted: 25% more or less)")
    figure.savefig(FIGURE, dpi=160)


PARTS: dict[str, generated.Maker] = {
    "errors 0": lambda: errors(PROTOCOLS[0]),
    "errors 1": lambda: errors(PROTOCOLS[1]),
    "rates": lambda: rates(PROTOCOLS[1]),
    "errors 2": errors_beside,
    "rates 2": rates_beside,
}


def main() -> None:
    """Measure, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--gpu")
    parser.add_argument("--kernel")
    parser.add_argument("--protocol", action="append")
    parser.add_argument("--set", action="append")
    parser.add_argument("--page", action="store_true", help="write the page from the store")
    given = parser.parse_args()
    if given.folder is not None:
        run(given)
    elif not given.page:
        sys.exit("correlation.py: give a folder, or --page")
    if given.page:
        draw()
        generated.rewrite_named(PAGE, PARTS)


if __name__ == "__main__":
    main()

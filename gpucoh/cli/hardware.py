"""The command ``gpucoh hardware``."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from rich.console import Console
from rich.text import Text

from gpucoh.base.files import results_folder
from gpucoh.base.late import LATE_IMPORT
from gpucoh.base.wording import natural
from gpucoh.cli.options import (
    WRONG,
    JobsOption,
    JsonOption,
    ProtocolsOption,
    SeedOption,
    StoreOption,
    lists,
    machine_option,
    one_form,
    print_json,
    stdout_console,
)
from gpucoh.cli.timing import calibrate, judge, recognise_all, refuse
from gpucoh.device.gpu import protocols
from gpucoh.hardware.published import GPUS
from gpucoh.hardware.verdicts import (
    KINDS,
    RUNS,
    STATES,
    Summary,
    Verdict,
    of_families,
    pairs_of,
    summarise,
)
from gpucoh.litmus.hardware import FAMILIES
from gpucoh.litmus.runner import keeping
from gpucoh.machines import machine
from gpucoh.terminal import tables

_SHOWN = 5


def hardware_command(
    protocol: ProtocolsOption = None,
    rule: Annotated[
        str | None,
        typer.Option(
            "-c", "--consistency", help="Consistency rule. Default: each that is supported."
        ),
    ] = None,
    family: Annotated[
        list[str] | None,
        typer.Option("--family", help=f"Families of tests: {', '.join(FAMILIES)}. Default: all."),
    ] = None,
    machine_id: Annotated[
        str | None,
        machine_option(
            "Preset id, or a TOML file. Default: fermi. With --timing: ids of GPUs, comma separated; default: "
            "all that have a published barrier."
        ),
    ] = None,
    states: Annotated[
        int,
        typer.Option("--states", help="Largest number of states of a program's exploration."),
    ] = STATES,
    runs: Annotated[
        int, typer.Option("--runs", help="Runs of a test that no exploration decides.")
    ] = RUNS,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
    store: StoreOption = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Output folder for the figure. Default: no figure."),
    ] = None,
    timing: Annotated[
        bool,
        typer.Option(
            "--timing",
            help="Compare cycles instead of outcomes: microbenchmarks on machines of published latencies.",
        ),
    ] = False,
    measured: Annotated[
        Path | None,
        typer.Option(
            "--measured",
            metavar="FILE",
            help="With --timing: judge by the GPU on which the program of --cuda printed FILE.",
        ),
    ] = None,
    recognise: Annotated[
        bool,
        typer.Option(
            "--self",
            help="With --timing: identify eight protocols, each on a hidden machine near -m (default: a40).",
        ),
    ] = False,
    calibration: Annotated[
        bool,
        typer.Option(
            "--calibration",
            help="With --timing: compare the presets' own microbenchmarks with published ones.",
        ),
    ] = False,
    cuda: Annotated[
        bool,
        typer.Option("--cuda", help="Print the microbenchmarks as a CUDA program, for a GPU."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Compare protocols with GPUs: which outcomes of 726 scoped tests each can show, or their timing.

    For each test, what PTX allows is known, and which of an A100, an H100 and a GH200 showed the weak outcome. Here
    its program is explored exhaustively, with its blocks on cores of their own and together; where more than
    --states states remain, it runs --runs times under varied timing. "forbidden": outcomes shown that PTX forbids.
    "strong": shown, and forbidden by the strengthened PTX alone. "recall": outcomes shown, of those seen on a GPU.
    "excess": outcomes shown that PTX allows and no GPU showed. "never": not in a complete exploration. "unseen": in
    no run.

    Exit status 1: a protocol that promises a memory model shows an outcome that PTX forbids, or work failed.

    Examples:

      gpucoh hardware -p gpu-hrf,mesi --family wrc

      gpucoh hardware --store hardware.parquet --out figures

      gpucoh hardware --timing -p gpu-hrf,mesi -m a40,l40

      gpucoh hardware --cuda > bench.cu
    """
    workers = (os.cpu_count() or 1) if jobs is None else natural("jobs", jobs, smallest=1)
    one_form(("--self", recognise), ("--calibration", calibration), ("--measured", bool(measured)))
    if cuda:
        others: dict[str, object] = {"-p": protocol, "-c": rule, "--family": family}
        others |= {"-m": machine_id, "--store": store, "--out": out, "--timing": timing}
        others |= {"--self": recognise, "--calibration": calibration, "--measured": measured}
        refuse(others | {"--json": as_json}, "--cuda")
        _print_cuda()
        return
    if timing:
        refuse({"-c": rule, "--family": family}, "--timing")
        modes = Modes(recognise, calibration, measured)
        _timing(modes, protocol, machine_id, store, out, seed=seed, jobs=workers, as_json=as_json)
        return
    given = {"--self": recognise, "--calibration": calibration, "--measured": measured}
    refuse(given, "without --timing")
    names = lists(protocol, keeping(rule), keeping(rule))
    pairs = pairs_of(list(dict.fromkeys(names)), rule)
    chosen = of_families(lists(family, FAMILIES, FAMILIES))
    with LATE_IMPORT:
        from gpucoh.hardware.study import study

    verdicts = study(
        pairs, chosen, machine(machine_id or "fermi"), store, states=states, runs=runs, seed=seed,
        jobs=workers, progress=not as_json,
    )  # fmt: skip
    found = summarise(verdicts)
    if out is not None:
        _draw(verdicts, out)
    if as_json:
        print_json({"summaries": [item.to_dict() for item in found],
                    "verdicts": [item.to_dict() for item in verdicts]})  # fmt: skip
    else:
        _print(stdout_console(), found, verdicts)
    if any(_is_wrong(item) for item in found):
        raise typer.Exit(WRONG)


class Modes(NamedTuple):
    """What ``--timing`` does besides its judgement."""

    recognise: bool
    calibration: bool
    measured: Path | None


def _timing(
    modes: Modes,
    protocol: Sequence[str] | None,
    machine_id: str | None,
    store: Path | None,
    out: Path | None,
    *,
    seed: int,
    jobs: int,
    as_json: bool,
) -> None:
    if modes.recognise:
        refuse({"-p": protocol, "--out": out}, "--timing --self")
        recognise_all(machine_id or "a40", store, seed=seed, jobs=jobs, as_json=as_json)
        return
    ids = lists([machine_id] if machine_id else None, (), tuple(GPUS))
    if modes.calibration:
        refuse({"-p": protocol, "--out": out}, "--timing --calibration")
        calibrate(ids, store, seed=seed, jobs=jobs, as_json=as_json)
        return
    names = lists(protocol, (), tuple(protocols()))
    judge(
        list(dict.fromkeys(names)),
        ids,
        modes.measured,
        store,
        out,
        seed=seed,
        jobs=jobs,
        as_json=as_json,
    )


def _print_cuda() -> None:
    with LATE_IMPORT:
        from gpucoh.hardware.measured import source
    sys.stdout.write(source())


def _is_wrong(item: Summary) -> bool:
    promises = item.model != "none"
    return bool(item.kinds["failed"] or (promises and item.kinds["forbidden"]))


def _draw(verdicts: Sequence[Verdict], folder: Path) -> None:
    with LATE_IMPORT:
        from gpucoh.figures.plots import save
        from gpucoh.hardware.figure import draw

    with results_folder(folder):
        save(draw(verdicts), folder, "hardware")


def _print(out: Console, found: Sequence[Summary], verdicts: Sequence[Verdict]) -> None:
    columns = [
        "protocol",
        "rule",
        "promises",
        "forbidden",
        "strong",
        "recall",
        "excess",
        "never",
        "unseen",
    ]
    rows = []
    for item in found:
        kinds = item.kinds
        recall = "-" if item.recall is None else f"{item.recall:.0%}"
        rows.append([item.protocol, item.rule, item.model, kinds["forbidden"], item.strong, recall, kinds["excess"],
                     item.never, item.not_seen])  # fmt: skip
    out.print(tables.plain_table(columns, rows, right=(3, 4, 5, 6, 7, 8)))
    seen = found[0].kinds["explained"] + found[0].kinds["missed"]
    bound = max((item.bound for item in found if item.not_seen), default=None)
    out.print(f"recall: of {seen} outcomes that a GPU showed", highlight=False)
    if bound is not None:
        out.print(f"unseen: in at most {bound:.2%} of runs, with 95% confidence", highlight=False)
    for kind in ("failed", "forbidden"):
        for item in found:
            mine = [
                one for one in verdicts if (one.protocol, one.rule) == (item.protocol, item.rule)
            ]
            _print_some(out, kind, [one for one in mine if one.kind == kind])


def _print_some(out: Console, kind: str, items: Sequence[Verdict]) -> None:
    """The first of some tests of a protocol, if there are any, and where they were found."""
    if items:
        out.print(Text(f"\n{items[0].protocol}, {items[0].rule}: {kind}: {KINDS[kind]}"))
    for item in items[:_SHOWN]:
        how = f"{item.count} of {item.runs} runs" if item.count else item.where
        out.print(Text(f"  {item.test}: {how}"), soft_wrap=True)
    if len(items) > _SHOWN:
        out.print(f"  and {len(items) - _SHOWN} more", highlight=False)

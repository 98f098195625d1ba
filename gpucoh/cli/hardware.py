"""The command ``gpucoh hardware``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

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
    MachineOption,
    ProtocolsOption,
    SeedOption,
    StoreOption,
    lists,
    print_json,
    stdout_console,
)
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
from gpucoh.report import tables

_SHOWN = 5


def register(app: typer.Typer) -> None:
    """Add the command to the program."""

    @app.command("hardware")
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
            typer.Option(
                "--family", help=f"Families of tests: {', '.join(FAMILIES)}. Default: all."
            ),
        ] = None,
        machine_id: MachineOption = "fermi",
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
        as_json: JsonOption = False,
    ) -> None:
        """Compare protocols with GPUs: which outcomes of 726 scoped tests each can show.

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
        """
        names = lists(protocol, keeping(rule), keeping(rule))
        pairs = pairs_of(list(dict.fromkeys(names)), rule)
        chosen = of_families(lists(family, FAMILIES, FAMILIES))
        workers = (os.cpu_count() or 1) if jobs is None else natural("jobs", jobs, smallest=1)
        with LATE_IMPORT:
            from gpucoh.hardware.study import study

        verdicts = study(
            pairs, chosen, machine(machine_id), store, states=states, runs=runs, seed=seed,
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


def _is_wrong(item: Summary) -> bool:
    promises = item.model != "none"
    return bool(item.kinds["failed"] or (promises and item.kinds["forbidden"]))


def _draw(verdicts: Sequence[Verdict], folder: Path) -> None:
    with LATE_IMPORT:
        from gpucoh.hardware.figure import draw
        from gpucoh.report.plots import save

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

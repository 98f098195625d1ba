"""``gpucoh litmus DIR --expected``: a memory model against the stored verdicts of a folder."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import typer
from rich.text import Text

from gpucoh.base.errors import ConfigError
from gpucoh.base.quoting import quoted
from gpucoh.cli.options import BAD_INPUT, WRONG, print_json, stdout_console
from gpucoh.litmus.suites import EXPECTED, Agreement, check_folder, read_expected
from gpucoh.terminal import tables
from gpucoh.terminal.bars import runs_bar


def check_expected(
    names: Sequence[str], model: str | None, others: Sequence[str], as_json: bool
) -> None:
    """Judge, print, and exit with the status that the comparison gives.

    Parameters
    ----------
    names : sequence of str
        The folder.
    model : str, optional
        Memory model; by default PTX.
    others : sequence of str
        Options given that do not go with ``--expected``.
    as_json : bool

    Raises
    ------
    ConfigError
        If it is not one folder, or its verdicts cannot be read.
    """
    if others:
        raise ConfigError(
            f"--expected judges by a memory model and runs nothing: leave {others[0]} out (allowed: --model, --json)"
        )
    if len(names) != 1 or not Path(names[0]).is_dir():
        given = ", ".join(map(quoted, names[:3])) or "nothing"
        raise ConfigError(f"--expected takes one folder, which has {EXPECTED} (given: {given})")
    folder = Path(names[0])
    listed = read_expected(folder / EXPECTED)
    with runs_bar(len(listed), enabled=not as_json) as report:
        found = check_folder(folder, listed, model or "PTX", report)
    if as_json:
        print_json(_as_dict(found))
    else:
        _print(found)
    if found.unsupported and not (found.agree or found.differ):
        name, reason = next(iter(found.unsupported.items()))
        sys.stderr.write(f"gpucoh: no test was judged: {' '.join(f'{name}: {reason}'.split())}\n")
        raise typer.Exit(BAD_INPUT)
    if found.differ or found.missing:
        raise typer.Exit(WRONG)


def _as_dict(found: Agreement) -> dict[str, object]:
    return {
        "model": found.model,
        "agree": found.agree,
        "differ": [
            {"file": name, "expected": int(expected), "found": int(judged)}
            for name, (expected, judged) in found.differ.items()
        ],
        "unsupported": [
            {"file": name, "reason": reason} for name, reason in found.unsupported.items()
        ],
        "missing": found.missing,
        "unlisted": found.unlisted,
    }


def _print(found: Agreement) -> None:
    out = stdout_console()
    rows = [
        [Text(name, overflow="fold"), str(int(expected)), str(int(judged))]
        for name, (expected, judged) in found.differ.items()
    ]
    rows += [[Text(name, overflow="fold"), "", "missing"] for name in found.missing]
    if rows:
        out.print(tables.plain_table(["file", "expected", found.model], rows))
    parts = [
        (len(found.agree), "agree"),
        (len(found.differ), "differ"),
        (len(found.unsupported), "unsupported"),
        (len(found.missing), "missing"),
        (len(found.unlisted), f"without a line in {EXPECTED}"),
    ]
    counts = [f"{count} {what}" for count, what in parts if count or what in ("agree", "differ")]
    out.print(f"{found.model}: {', '.join(counts)}", highlight=False)

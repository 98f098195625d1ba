"""``gpucoh explain``: why one run takes longer than another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from gpucoh.base.errors import ConfigError
from gpucoh.cli.options import App, stdout_console
from gpucoh.results.differences import explain
from gpucoh.results.runs import RunResult


def register(app: App) -> None:
    """Add the command."""

    @app.command("explain")
    def explain_command(
        first: Annotated[
            Path,
            typer.Argument(
                metavar="A", help="File of gpucoh run WORKLOAD -p PROTOCOL --profile --json."
            ),
        ],
        second: Annotated[
            Path, typer.Argument(metavar="B", help="File of the run to compare it with.")
        ],
    ) -> None:
        """Rank the differences of two runs of a workload, by source line and array.

        Examples:

          gpucoh run bh -p tc-weak --profile --json > a.json

          gpucoh run bh -p gpu-vi --profile --json > b.json

          gpucoh explain a.json b.json
        """
        text = explain(read_run(first), read_run(second))
        stdout_console().print(str(text), markup=False, highlight=False, soft_wrap=True)


def read_run(path: Path) -> RunResult:
    """The run in a file that ``gpucoh run --json`` has written.

    Raises
    ------
    ConfigError
        If the file cannot be read, or holds no run.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return RunResult.from_dict(data)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ConfigError(
            f"{path} is not a run: write one with gpucoh run ... --profile --json"
        ) from None
